"""From judgments to advice on what to buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgerel_ray.analyses.advice.advice import Advice, advise_judgments
from judgerel_ray.analyses.advice.plans import UNITS, Budget, Unit
from judgerel_ray.analyses.reliability.reducing import open_judgments, with_gold
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.core.assigned import assigned, number_of
from judgerel_ray.counting.given import Given
from judgerel_ray.counting.places import FacetSize, Populations
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.store import RunDirectory, checked_ledger


def advise_path(
    path: str | Given,
    *,
    targets: Sequence[str] | None = None,
    budget: str | None = None,
    by: Sequence[str] | None = None,
    facet_sizes: Sequence[str] | None = None,
) -> Advice:
    """Advise on a run directory or a file of judgments.

    Effects: reads. Retry: safe, also while a run goes on.

    Parameters
    ----------
    path : str
        Run directory or file.
    targets : sequence of str, optional
        ``NAME=VALUE``, as ``generalizability=0.9``.
    budget : str, optional
        A number of judgments, or ``UNIT=NUMBER`` with tokens or gpu_seconds.
    by : sequence of str, optional
        Columns that make a group.
    facet_sizes : sequence of str, optional
        ``NAME=N``, ``NAME=fixed`` (the levels recorded are all there are) or ``NAME=unlimited``, of
        facets that should not matter. Orders of k options are k! without being told, where k is
        known.

    Raises
    ------
    SweepError
        If a name, number or file is wrong.
    StoreError
        If the path is a folder but no run directory.
    """
    target = None if targets is None else dict(assigned(text, "--target") for text in targets)
    spendable = None if budget is None else _budget(budget)
    judged = open_judgments(path, reads=[GOLD])
    if not judged.verdicts_known:
        refuse_unknown("advise", {"file": str(path)})
    seconds = gpu_seconds(judged.run) if judged.run else None
    sizes = [_facet_size(text) for text in facet_sizes or ()]
    if len(dict(sizes)) < len(sizes):
        raise SweepError(f"--facet-size names a facet twice, got {', '.join(facet_sizes or ())}")
    populations = Populations(
        sizes=dict(sizes),
        n_options=judged.n_options,
        own_orders=judged.run is not None,
    )
    return advise_judgments(
        with_gold(judged).frame, target=target, budget=spendable, costs=seconds, by=by,
        populations=populations,
    )  # fmt: skip


def gpu_seconds(run: RunDirectory) -> dict[str, float]:
    """GPU-seconds of one judgment by judge, of those that ran on GPUs.

    Effects: reads the commits. Retry: safe.
    """
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    gpus = {judge.name: judge.gpus for judge in sweep.judge}
    return {
        judge: totals.seconds * gpus[judge] / totals.rows
        for judge, totals in checked_ledger(run).judges.items()
        if totals.rows and totals.seconds > 0 and gpus.get(judge, 0) > 0
    }


def _budget(text: str) -> Budget:
    """A number of judgments, or UNIT=NUMBER."""
    if "=" not in text:
        return Budget(amount=number_of(text, "--budget"))
    name, amount = assigned(text, "--budget")
    known: Mapping[str, Unit] = {unit: unit for unit in UNITS}
    if name not in known:
        raise SweepError(f"--budget is in {', '.join(UNITS)}, got {name!r}")
    return Budget(amount=amount, unit=known[name])


def _facet_size(text: str) -> tuple[str, FacetSize]:
    """NAME=N, NAME=fixed or NAME=unlimited."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise SweepError(f"--facet-size must be NAME=N, got {text!r}")
    words: Mapping[str, FacetSize] = {"fixed": "fixed", "unlimited": "unlimited"}
    if value in words:
        return name, words[value]
    if not value.isdecimal() or int(value) < 1:
        raise SweepError(
            f"--facet-size must be a whole number from 1 on, fixed or unlimited, got {text!r}"
        )
    return name, int(value)
