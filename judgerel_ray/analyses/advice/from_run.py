"""From judgments to advice on what to buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgerel_ray.analyses.advice.advice import Advice, advise_judgments, read_by_place
from judgerel_ray.analyses.advice.facets import FacetSize, Populations, facet_groups
from judgerel_ray.analyses.advice.plans import UNITS, Budget, Costs, GroupPlan, Unit, make_plan
from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.verb import by_name, read_number
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.measured import TOKENS, with_numbers
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import refuse_unknown

if TYPE_CHECKING:
    from judgerel_ray.store import RunDirectory

_MOST_DIGITS = 18  # as whole numbers of a column have


def advice_of(
    judged: Snapshot,
    *,
    targets: Mapping[str, float] | Sequence[str] | None = None,
    budget: float | str | Mapping[str, float] | None = None,
    by: Sequence[str] | None = None,
    facet_sizes: Mapping[str, int | str] | Sequence[str] | None = None,
    nested: Sequence[str] = (),
) -> Advice:
    """Advise on judgments, opened with their gold."""
    target = by_name(targets, "--target", read_number)
    spendable = None if budget is None else _advice_budget_of_text(budget)
    if not judged.verdicts_known:
        refuse_unknown("advise", judged.where)
    judged = with_numbers(judged, TOKENS)
    seconds = gpu_seconds(judged.run) if judged.run else None
    populations = Populations(
        sizes=by_name(facet_sizes, "--facet-size", _facet_size, form="NAME=N") or {},
        n_options=judged.n_options,
        own_orders=judged.run is not None,
    )
    return advise_judgments(
        with_gold(judged).frame, target=target, budget=spendable, costs=seconds, by=by,
        nested=nested, populations=populations,
    )  # fmt: skip


def plans_of(
    judged: Snapshot, *, by: Sequence[str] | None = None
) -> dict[tuple[object, ...], GroupPlan]:
    """Plans of the groups of judgments, by the values of their columns, without costs.

    Groups that have nothing to plan are left out: repeats of temperature 0, and those of whose
    replies few hold a verdict.
    """
    known = Populations(n_options=judged.n_options, own_orders=judged.run is not None)
    groups = facet_groups(read_by_place(judged.frame, known), by=by, populations=known)
    return {
        tuple(group.key.values()): make_plan(group, Costs())
        for group in groups
        if group.greedy != Flag.SERVING_NOISE and not group.replies.are_few
    }


def gpu_seconds(run: RunDirectory) -> dict[str, float]:
    """GPU-seconds of one judgment by judge, of those that ran on GPUs.

    Effects: reads the commits. Retry: safe.
    """
    from judgerel_ray.config import parse_sweep
    from judgerel_ray.store import checked_ledger

    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    gpus = {judge.name: judge.gpus for judge in sweep.judge}
    return {
        judge: totals.seconds * gpus[judge] / totals.rows
        for judge, totals in checked_ledger(run).judges.items()
        if totals.rows and totals.seconds > 0 and gpus.get(judge, 0) > 0
    }


def _advice_budget_of_text(text: float | str | Mapping[str, float]) -> Budget:
    """A number of judgments, or of another unit."""
    named = isinstance(text, Mapping) or "=" in str(text)
    amounts: Any = text if named else {"judgments": text}
    found = by_name(amounts, "--budget", read_number, form="N or UNIT=N") or {}
    known: Mapping[str, Unit] = {unit: unit for unit in UNITS}
    if set(found) - set(known) or len(found) != 1:
        raise SweepError(f"--budget is in {', '.join(UNITS)}, got {', '.join(found) or 'none'}")
    ((name, amount),) = found.items()
    return Budget(amount=amount, unit=known[name])


def _facet_size(value: object) -> FacetSize:
    """A whole number from 1 on, fixed or unlimited."""
    text = str(value).strip()
    words: Mapping[str, FacetSize] = {"fixed": "fixed", "unlimited": "unlimited"}
    if text in words:
        return words[text]
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise ValueError("a whole number from 1 on, fixed or unlimited")
    return int(text)
