"""``panels`` and ``cascade``: what systems are worth together, by votes and by cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import Names, by_name, comma_names, command_on, flag, names_of, verb
from judgerel_ray.measuring.answered import KINDS, Answered

if TYPE_CHECKING:
    from judgerel_ray.analyses.panels.cascades import CascadeTables
    from judgerel_ray.analyses.panels.panels import PanelTables
    from judgerel_ray.analyses.panels.voters import Price
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelsRequest(Answered):
    """What ``panels`` is asked for."""

    prices: Mapping[str, float | tuple[float, float] | Price] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "by judge: of a reply, or PROMPT,COMPLETION of a million tokens; default the rows' own "
            "cost, else their tokens, else requests",
            "NAME=...",
            repeats=True,
        ),
    )
    confidence: str = field(
        default="stated", metadata=flag(f"how answers are weighted: {KINDS}", "NAME")
    )
    seed: int = field(default=0, metadata=flag("how folds are drawn", "S"))

    @property
    def priced(self) -> dict[str, Price] | None:
        """Prices as reducers have them."""
        from judgerel_ray.analyses.panels.voters import PRICE, price_of

        form = f"NAME={PRICE}"
        return by_name(self.prices, "--price", price_of, form=form, cut=str.rpartition)


@verb(
    PanelsRequest,
    examples=(
        "panels judgments.csv",
        "panels run --price simulated-steady=2 --price simulated-erratic=1",
    ),
    group="Analyse",
    help="judges together: majorities, best panels, what the next one adds",
    file="best",
    section="judgerel_ray.analyses.panels.from_run:panels_on_page",
)
def panels(path: JudgmentSource, request: PanelsRequest) -> Result[PanelTables]:
    """Tell what judges are worth as a panel, which to buy, and what the next one adds.

    Members are judges, in a role where there are several, of one benchmark, temperature and
    template, joined by question; `by` names other columns that tell panels apart.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`judgerel_ray.select`.

    Returns
    -------
    PanelTables
        ``members`` alone; ``panels``: all together by each rule (majority, by confidence, by
        accuracy elsewhere); ``best``: the best panel of each size and cost, in sample and held
        out; ``next``: random panels of each size with the gain of one more; ``worth``: how many
        independent members they are worth.

    Raises
    ------
    SweepError, StoreError
        As of :func:`judgerel_ray.select`; or if no two systems share a question.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> panels(example("judgments.csv")).members.select("member", "accuracy").rows()
    [('simulated-erratic', 0.65625), ('simulated-steady', 0.875)]
    """
    from judgerel_ray.analyses.panels.from_run import open_voters
    from judgerel_ray.analyses.panels.panels import panel_tables
    from judgerel_ray.analyses.panels.short import panels_short
    from judgerel_ray.analyses.panels.show import READ_BEST, READ_NEXT, READ_PANELS, panel_blocks
    from judgerel_ray.blocks.blocks import Paragraph
    from judgerel_ray.blocks.result import Result

    with request.opened(path) as judged:
        voters = open_voters(
            judged, by=names_of(request.by), gold=request.gold_file, prices=request.priced,
            confidence=request.confidence,
        )  # fmt: skip
        found = panel_tables(voters, seed=request.seed)
        notes = judged.run_notes
    tables, command = found.tables(), command_on("systems", path, request)
    return Result(
        found=found,
        notes=notes,
        tables=tables,
        full=lambda: panel_blocks(tables),
        short=lambda: panels_short(tables, command),
        legend=lambda: [Paragraph(f"{READ_PANELS} {READ_BEST} {READ_NEXT}")],
        rows=found.best,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeRequest(PanelsRequest):
    """What ``cascade`` is asked for."""

    confidence: str = field(
        default="stated",
        metadata=flag(
            f"what says how sure a member is; where it falls short the next is asked: {KINDS}",
            "NAME",
        ),
    )
    order: Names = field(
        default=(),
        metadata=flag("members in asking order; default all, by mean cost", "A,B",
                      read=comma_names),
    )  # fmt: skip
    person_cost: float | None = field(
        default=None,
        metadata=flag("cost of asking a person last, in the unit of the other costs", "COST"),
    )
    person_accuracy: float = field(
        default=1.0, metadata=flag("how often that person is right: assumed, not measured", "A")
    )


@verb(
    CascadeRequest,
    examples=(
        "cascade run --order simulated-erratic,simulated-steady --confidence probability",
        "cascade run --order simulated-erratic,simulated-steady --confidence probability "
        "--person-cost 5 --person-accuracy 0.95",
    ),
    group="Analyse",
    help="cost and accuracy of asking a second judge when the first is unsure",
    file="curve; of a cascade run cascaded",
)
def cascade(path: JudgmentSource, request: CascadeRequest) -> Result[CascadeTables]:
    """Tell what it buys to ask the next model, or a person, only where confidence falls short.

    Of a run whose sweep asked a cascade it tells what that did, unless an order is given.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`judgerel_ray.select`, or a run that asked a cascade.

    Returns
    -------
    CascadeTables
        ``stages``: everyone asked, alone; ``curve``: accuracy against cost, with thresholds chosen
        on other questions than accuracy is measured on, beside passing on at random and the best
        member alone for the same money. Of a run that asked one, ``cascaded``: who answered how
        much, how well, and at what cost.

    Raises
    ------
    SweepError, StoreError
        As of :func:`panels`; or if nothing says who is asked first or when to pass on.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> asked_in_order = ["simulated-erratic", "simulated-steady"]
    >>> found = cascade(example("run"), order=asked_in_order, confidence="probability")
    >>> found.stages.select("temperature", "member", "accuracy").rows()[-2:]
    [(1.0, 'simulated-erratic', 0.65625), (1.0, 'simulated-steady', 0.875)]
    """
    from judgerel_ray.analyses.panels import short, show
    from judgerel_ray.analyses.panels.cascades import CascadeChoice, CascadeTables
    from judgerel_ray.analyses.panels.from_run import cascade_of, cascaded_of
    from judgerel_ray.blocks.blocks import Paragraph
    from judgerel_ray.blocks.result import Result

    order = names_of(request.order) or ()
    choice = CascadeChoice(
        order=order, person_cost=request.person_cost, person_accuracy=request.person_accuracy,
        seed=request.seed,
    )  # fmt: skip
    with request.opened(path) as judged:
        did = None if order else cascaded_of(judged)
        found = CascadeTables(cascaded=did) if did is not None else cascade_of(
            judged, choice, by=names_of(request.by), gold=request.gold_file, prices=request.priced,
            confidence=request.confidence,
        )  # fmt: skip
        notes = judged.run_notes
    tables, command = found.tables(), command_on("panels", path, request)
    if did is not None:
        return Result(
            found=found,
            notes=notes,
            tables=tables,
            full=lambda: show.cascaded_blocks(did),
            short=lambda: short.cascaded_short(did, command),
            legend=lambda: [Paragraph(show.READ_CASCADED)],
            rows=did,
        )
    return Result(
        found=found,
        notes=notes,
        tables=tables,
        full=lambda: show.cascade_blocks(tables),
        short=lambda: short.cascade_short(tables, command),
        legend=lambda: [Paragraph(show.READ_CASCADE)],
        rows=found.curve,
    )
