"""``advise``: how many replications, questions and judges a target takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import (
    BY,
    Labelled,
    Names,
    comma_names,
    command_on,
    flag,
    names_of,
    verb,
)

if TYPE_CHECKING:
    from judgerel_ray.analyses.advice.advice import Advice
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviseRequest(Labelled):
    """What ``advise`` is asked for."""

    by: Names = field(default=None, metadata=BY)
    targets: Mapping[str, float] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "a coefficient to reach, as generalizability=0.9", "NAME=VALUE",
            repeats=True,
        ),
    )  # fmt: skip
    budget: float | str | Mapping[str, float] | None = field(
        default=None, metadata=flag("budget in judgments, or tokens=N, gpu_seconds=N", "N")
    )
    facet_sizes: Mapping[str, int | str] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "levels of a facet that should not matter; or fixed (those recorded), unlimited; "
            "orders of k options are k! without being given",
            "NAME=N",
            repeats=True,
        ),
    )
    nested: Names = field(
        default=None,
        metadata=flag(
            "columns whose values belong to one question each, as its answers do "
            "(responder of a log judged again)", "COLS", read=comma_names,
        ),
    )  # fmt: skip


@verb(
    AdviseRequest,
    examples=("advise judgments.csv", "advise judgments.csv --target generalizability=0.8"),
    group="Decide",
    help="how many more replications, questions or judges a target needs",
    prints="format",
)
def advise(path: JudgmentSource, request: AdviseRequest) -> Result[Advice]:
    """Advise on what more judgments, prompts, questions and judges would buy.

    Returns
    -------
    Advice
        ``components`` of variance; ``designs``: what the mean and the majority of k judgments are
        worth; ``needs``: what each target takes; ``splits`` of a budget; ``panel`` of judges.

    Raises
    ------
    SweepError, StoreError
        If a name, a number or the path is wrong.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = advise(example("judgments.csv"), targets={"generalizability": 0.9})
    >>> found.needs.select("judge", "lever", "needed_whole").rows()
    [('simulated-erratic', 'replications', 32), ('simulated-steady', 'replications', 6)]
    """
    from judgerel_ray.analyses.advice.from_run import advice_of
    from judgerel_ray.analyses.advice.short import HEADS_NOTE, advised_short
    from judgerel_ray.analyses.advice.show import advice_text
    from judgerel_ray.blocks.blocks import Laid
    from judgerel_ray.blocks.columns import wrapped
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.right_answers import GOLD
    from judgerel_ray.counting.snapshot import Snapshot

    with Snapshot.open(path, request, columns=[GOLD]) as judged:
        found = advice_of(
            judged, targets=request.targets, budget=request.budget, by=names_of(request.by),
            facet_sizes=request.facet_sizes, nested=names_of(request.nested) or (),
        )  # fmt: skip
        has_options = bool(judged.n_options) or "option_order" in judged.frame.collect_schema()
        notes = judged.run_notes
    tables, command = found.tables(), command_on("gate", path, request)
    return Result(
        found=found,
        notes=notes,
        tables=tables,
        full=lambda: [Laid(advice_text(tables))],
        short=lambda: advised_short(
            tables, command, has_budget=request.budget is not None, has_options=has_options
        ),
        legend=lambda: [Laid(wrapped(HEADS_NOTE))],
        rows=found.needs,
    )
