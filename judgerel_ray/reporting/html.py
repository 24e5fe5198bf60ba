"""One self-contained page: what was asked, what came back, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.analyses.correction.show import correction_blocks
from judgerel_ray.analyses.correction.tables import CorrectionTables
from judgerel_ray.analyses.distributions.show import settled_blocks
from judgerel_ray.analyses.reliability.figures import alpha_charts
from judgerel_ray.analyses.reliability.headlines import WARNINGS, cautions, group_leads
from judgerel_ray.analyses.reliability.page import (
    Questions,
    answer_section,
    coefficient_section,
    headline_table,
    outcome_section,
    place_section,
    unstable_section,
)
from judgerel_ray.analyses.reliability.show import failure_lines
from judgerel_ray.analyses.serving.show import serving_blocks
from judgerel_ray.blocks.blocks import Block, Facts, Figures, Lines, Paragraph, Section
from judgerel_ray.blocks.columns import in_order
from judgerel_ray.blocks.html import rendered_page
from judgerel_ray.blocks.words import group_columns
from judgerel_ray.reporting.chances import Probabilities, probability_lead, probability_sections
from judgerel_ray.reporting.first_screen import UNSTABLE, first_screen
from judgerel_ray.reporting.replies import Replies, reply_blocks
from judgerel_ray.reporting.standing import no_verdicts, unfinished_notice

_FOOTER = (
    "Intervals are 95 %, by question. The noise floor shuffles a group's own verdicts across its "
    "questions; a coefficient as far from the floor as more than 5 % of such shuffles is "
    "not distinguishable from noise."
)
_HOW_TO_READ = (
    "Same verdict: how often two judgments of an item agree. Where orders of the options, "
    "templates or definitions vary, each judgment has its own, drawn at random "
    "(reproducibility), and same prompt again says how often the judge repeats itself; elsewhere "
    "only the same prompt was asked again. By chance: how often they would agree if this judge's "
    "verdicts were shuffled across the questions. Alpha puts that chance at 0 and perfect "
    "agreement at 1; ± is the standard deviation of its noise floor. No number here says that a "
    "verdict is right: a judge can be steadily wrong."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What reducers found in judgments that hold verdicts, all with the same groups.

    Attributes
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.analyses.reliability.reliability.reduce_judgments`.
    outcomes : pl.DataFrame
        From :func:`judgerel_ray.counting.outcomes.outcome_table`.
    unstable : pl.DataFrame
        From :func:`judgerel_ray.analyses.reliability.questions.least_stable`.
    positions : pl.DataFrame, optional
        From :func:`judgerel_ray.analyses.reliability.order_effects.verdict_positions`.
    settled : pl.DataFrame, optional
        From :func:`.settled_summary`, with groups of its own.
    failures : pl.DataFrame, optional
        From :func:`judgerel_ray.counting.outcomes.failed_requests`.
    serving : pl.DataFrame, optional
        From :func:`judgerel_ray.analyses.serving.noise.serving_noise`.
    sections : sequence of Block
        Of the other analyses, as their verbs name them.
    requirements : pl.DataFrame, optional
        From :func:`judgerel_ray.analyses.gate.from_run.gate_by_default`: the first screen.
    corrected : CorrectionTables, optional
        Scores corrected by what people said of some items.
    replies : mapping of tuple to DataFrame, optional
        What was replied to the least stable questions, by the columns of `unstable` before
        ``agreement``.
    """

    coefficients: pl.DataFrame
    outcomes: pl.DataFrame
    unstable: pl.DataFrame
    positions: pl.DataFrame | None = None
    settled: pl.DataFrame | None = None
    failures: pl.DataFrame | None = None
    serving: pl.DataFrame | None = None
    sections: Sequence[Block] = ()
    requirements: pl.DataFrame | None = None
    corrected: CorrectionTables | None = None
    replies: Replies | None = None


def render_report(
    measured: Measured | None,
    *,
    title: str,
    asked: Sequence[tuple[str, str]] = (),
    standing: Mapping[str, object] | None = None,
    answers: pl.DataFrame | None = None,
    absent: str = "",
    probabilities: Probabilities | None = None,
    questions: Questions | None = None,
) -> str:
    """Write the report as one HTML page that asks nothing of any network and runs no script.

    Parameters
    ----------
    measured : Measured, optional
        What was found; None where there are no verdicts.
    title : str
        Name of the sweep or file.
    asked : sequence of (name, value)
        What was asked, as the reader should see it: sweep, judges, requests asked and owed.
    standing : mapping, optional
        How a run stands, as of :func:`~judgerel_ray.reporting.standing.unfinished_notice`.
    answers : pl.DataFrame, optional
        Candidate answers that landed, as of :func:`.answer_section`.
    absent : str
        Why there are no verdicts, where there are none.
    probabilities : Probabilities, optional
        What the run's confusion matrices and verdict distributions say.
    questions : mapping of (str, str) to str, optional
        Texts of questions by benchmark and item_id: where single questions are shown, these name
        them.

    Returns
    -------
    str
        A whole HTML document; every name in it is escaped.

    Examples
    --------
    >>> from judgerel_ray.analyses.reliability.reliability import reduce_judgments
    >>> from judgerel_ray.analyses.reliability.questions import least_stable
    >>> from judgerel_ray.counting.outcomes import outcome_table
    >>> rows = pl.LazyFrame({"item_id": ["<b>", "<b>"], "replication": [0, 1],
    ...                      "verdict": ["A", "B"]})
    >>> found = Measured(coefficients=reduce_judgments(rows), outcomes=outcome_table(rows),
    ...                  unstable=least_stable(rows))
    >>> page = render_report(found, title="Two replies")
    >>> "<b>" in page, "&lt;b&gt;" in page
    (False, True)
    """
    measured = _ordered(measured) if measured else None
    lead = [*(_lead(measured, questions) if measured else ()), *probability_lead(probabilities)]
    return rendered_page(
        "reporting/page.html",
        script="reporting/tables.js.html",
        title=title,
        notice=unfinished_notice(standing) if standing else [],
        blocks=[
            *(lead or no_verdicts(absent)),
            *map(
                _folded,
                [
                    *(_steadiness(measured) if measured else ()),
                    *([Section("What was asked", [Facts(asked)])] if asked else ()),
                    *probability_sections(probabilities, questions),
                    *(_measured(measured, questions) if measured else ()),
                    Section("Candidate answers", answer_section(answers)),
                ],
            ),
        ],
        footer=_FOOTER if measured else "",
    )


def _folded(block: Block) -> Block:
    """A section under its heading alone, until somebody opens it."""
    return replace(block, is_folded=True) if isinstance(block, Section) else block


def _lead(measured: Measured, questions: Questions | None) -> list[Block]:
    """What a reader should know first: may they decide, and what makes that worth less."""
    lines = [
        *failure_lines(measured.failures, measured.outcomes),
        *cautions(measured.coefficients),
    ]
    found: list[Block] = []
    if measured.requirements is not None:
        tables = measured.corrected
        found += first_screen(
            measured.requirements, measured.coefficients, measured.unstable,
            corrected=None if tables is None else tables.estimates, questions=questions,
        )  # fmt: skip
    found += [Lines(lines, "cautions")] if lines else []
    leads = group_leads(measured.coefficients)
    if len(leads) == 1 and leads[0][0].code not in WARNINGS:
        found.append(Paragraph(leads[0][1], "lead"))
    return found


def _steadiness(measured: Measured) -> list[Block]:
    """How often two judgments of an item agree."""
    table = headline_table(measured.coefficients)
    how = [*table, Paragraph(_HOW_TO_READ, "soft")] if table else []
    labelled = measured.corrected
    shown = labelled and {name: one for name, one in labelled.tables().items() if one.width}
    return [
        Section("Agreement with itself", how),
        Section("Scores without the judge's errors", correction_blocks(shown) if shown else []),
    ]


def _ordered(measured: Measured) -> Measured:
    """The frames that lists are made of, by their groups: 2 before 10, each scale together."""
    groups = group_columns(measured.coefficients)
    unstable = measured.unstable
    units = unstable.columns[: unstable.columns.index("agreement")]
    positions = measured.positions
    return replace(
        measured,
        coefficients=in_order(measured.coefficients, groups),
        outcomes=in_order(measured.outcomes, groups),
        positions=None if positions is None else in_order(positions, groups),
        unstable=in_order(unstable, ["agreement", *units]),
    )


def _measured(measured: Measured, questions: Questions | None) -> list[Block]:
    """Sections on verdicts."""
    coefficients = measured.coefficients
    groups = group_columns(coefficients)
    return [
        Section("What came back", outcome_section(measured.outcomes)),
        *measured.sections,
        Section("Alpha against temperature", _charts(coefficients)),
        Section("Serving noise", serving_blocks(measured.serving)),
        Section("Stable verdicts", _settled(measured.settled)),
        Section("Where the verdicts fall", place_section(measured.positions)),
        Section("All coefficients", coefficient_section(coefficients)),
        Section(
            UNSTABLE,
            [
                *unstable_section(measured.unstable, groups, questions),
                *reply_blocks(measured.replies or {}, measured.unstable, questions),
            ],
        ),
    ]


def _settled(summary: pl.DataFrame | None) -> list[Block]:
    """What was asked on until it was settled, where anything was."""
    return [] if summary is None or summary.is_empty() else settled_blocks(summary)


def _charts(coefficients: pl.DataFrame) -> list[Block]:
    """Alpha against temperature, where there are temperatures."""
    figures = alpha_charts(coefficients)
    if not figures:
        return []
    intro = (
        "1 is perfect agreement of a judge with itself, asked the same prompt again; 0 is what "
        "chance gives. The band is where 95 % of noise falls; hollow points are not "
        "distinguishable from it. Bars are 95 % intervals."
    )
    return [Paragraph(intro), Figures(figures)]
