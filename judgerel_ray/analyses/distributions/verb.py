"""``distributions``: what verdict distributions say, view by view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core.verb import check_choices, command_on, flag, verb

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from judgerel_ray.blocks.result import Result

VIEWS = ("limits", "weighted", "settled", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionsRequest:
    """What ``distributions`` is asked for."""

    view: str = field(
        default="limits",
        metadata=flag(
            "which result: limits (coefficients of infinitely many replications), weighted (scores "
            "of ratings, weighted by probabilities), settled (stable verdicts of questions asked "
            "adaptively), reasoning (variance of the reasoning and of the verdict after it)",
            choices=VIEWS,
        ),
    )

    def __post_init__(self) -> None:
        check_choices(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DistributionTables(Shown):
    """One view of a run's verdict distributions.

    Attributes
    ----------
    view : {"limits", "weighted", "settled", "reasoning"}
        Which.
    rows : pl.DataFrame
        limits: one row a group and coefficient. weighted: one row a response and way of asking,
        with its score, certain low and high, and the probability of a reply with a score. settled:
        one row a condition, as :class:`judgerel_ray.tables.Settled`. reasoning: one row a judge,
        benchmark and temperature.
    summary : pl.DataFrame
        What is printed: of weighted and settled one row a group, else `rows`.
    """

    view: str
    rows: pl.DataFrame
    summary: pl.DataFrame


@verb(
    DistributionsRequest,
    examples=("distributions run", "distributions run --view limits"),
    group="Analyse",
    help="limits of infinitely many replications, weighted scores, settled verdicts",
    source="RUN",
    file="rows, of which the summary is printed",
    section="judgerel_ray.analyses.distributions.from_run:settled_on_page",
    probabilities="judgerel_ray.analyses.distributions.from_run:distributions_on_page",
)
def distributions(
    path: str | PathLike[str], request: DistributionsRequest
) -> Result[DistributionTables]:
    """Verdict distributions of a run: limits, weighted scores, settled verdicts, or reasoning.

    Parameters
    ----------
    path : str or path
        A run with asks of ``mode = "exact"``; of view settled one with
        ``replications = { adaptive = ... }``, of reasoning one with ``verdict_logprobs = true``.

    Returns
    -------
    DistributionTables
        The view's ``rows``, and the ``summary`` that is printed.

    Raises
    ------
    SweepError
        If the view is none, or a verdict is not on its scale.
    StoreError
        If the path is no run, or the run has nothing that the view is of.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = distributions(example("run")).rows
    >>> found = found.filter(coefficient="percent_agreement", temperature=1.0)
    >>> [(judge, round(value, 2)) for judge, value in found.select("judge", "value").rows()]
    [('simulated-erratic', 0.63), ('simulated-steady', 0.86)]
    """
    from judgerel_ray.analyses.distributions import from_run, show
    from judgerel_ray.analyses.distributions.short import limits_short
    from judgerel_ray.blocks.blocks import Paragraph
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import open_run, run_notes

    run = open_run(path)
    read, write = {
        "limits": (from_run.run_limits, show.limit_blocks),
        "weighted": (from_run.run_weighted, show.weighted_blocks),
        "settled": (from_run.run_settled, show.settled_blocks),
        "reasoning": (from_run.run_reasoning, show.reasoning_blocks),
    }[request.view]
    read_rows = read(run)
    rows, summary = read_rows if isinstance(read_rows, tuple) else (read_rows, read_rows)
    has_limits, command = request.view == "limits", command_on("reduce", path)
    return Result(
        found=DistributionTables(view=request.view, rows=rows, summary=summary),
        notes=run_notes(run),
        tables=summary,
        full=lambda: write(summary),
        # The other views are a table with a row a group already.
        short=(lambda: limits_short(rows, command)) if has_limits else None,
        legend=lambda: [Paragraph(show.READ_LIMITS)] if has_limits else [],
        rows=rows,
    )
