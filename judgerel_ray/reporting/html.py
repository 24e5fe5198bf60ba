"""One self-contained page: what was asked, what came back, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import polars as pl

from judgerel_ray.analyses.correction.show import correction_blocks
from judgerel_ray.analyses.correction.tables import CorrectionTables
from judgerel_ray.analyses.reliability.headlines import WARNINGS, cautions, group_leads
from judgerel_ray.analyses.reliability.sections import Measured, answer_section
from judgerel_ray.analyses.reliability.show import failure_lines
from judgerel_ray.analyses.reliability.unstable import Questions
from judgerel_ray.blocks.blocks import PLACES, Block, Facts, Lines, Paragraph, Place, Section
from judgerel_ray.blocks.html import rendered_page
from judgerel_ray.reporting.chances import Probabilities, probability_lead, probability_sections
from judgerel_ray.reporting.first_screen import first_screen
from judgerel_ray.reporting.standing import no_verdicts, unfinished_notice

_FOOTER = (
    "Intervals are 95 %, by question. The noise floor shuffles a group's own verdicts across its "
    "questions; a coefficient as far from the floor as more than 5 % of such shuffles is "
    "not distinguishable from noise."
)


def render_report(
    measured: Measured | None,
    *,
    title: str,
    asked: Sequence[tuple[str, str]] = (),
    standing: Mapping[str, object] | None = None,
    answers: pl.DataFrame | None = None,
    absent: str = "",
    probabilities: Probabilities | None = None,
    sections: Sequence[Block] = (),
    requirements: pl.DataFrame | None = None,
    corrected: CorrectionTables | None = None,
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
    sections : sequence of Block
        What the verbs' own functions make of `measured`.
    requirements : pl.DataFrame, optional
        From :func:`judgerel_ray.analyses.gate.from_run.gate_by_default`: the first screen.
    corrected : CorrectionTables, optional
        Scores corrected by what people said of some items.
    questions : mapping of (str, str) to str, optional
        Texts of questions by benchmark and item_id, to name questions among `probabilities`.

    Returns
    -------
    str
        A whole HTML document; every name in it is escaped.

    Examples
    --------
    >>> from judgerel_ray.analyses.reliability.from_run import Judged
    >>> from judgerel_ray.analyses.reliability.sections import measured_of, reliability_on_page
    >>> rows = pl.LazyFrame({"item_id": ["<b>", "<b>"], "replication": [0, 1],
    ...                      "verdict": ["A", "B"]})
    >>> found = measured_of(Judged(frame=rows), None)
    >>> sections = reliability_on_page(found, None)
    >>> page = render_report(found, title="Two replies", sections=sections)
    >>> "<b>" in page, "&lt;b&gt;" in page
    (False, True)
    """
    placed = {place: [one for one in sections if _place(one) == place] for place in PLACES}
    lead = [
        *(_lead(measured.in_order(), requirements, corrected) if measured else ()),
        *probability_lead(probabilities),
    ]
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
                    *placed.pop("first"),
                    *_corrected(corrected),
                    *([Section("What was asked", [Facts(asked)])] if asked else ()),
                    *probability_sections(probabilities, questions),
                    *chain.from_iterable(placed.values()),
                    Section("Candidate answers", answer_section(answers)),
                ],
            ),
        ],
        footer=_FOOTER if measured else "",
    )


def _place(block: Block) -> Place:
    """Where a block stands."""
    return block.place if isinstance(block, Section) else "analyses"


def _corrected(tables: CorrectionTables | None) -> list[Block]:
    """Scores corrected by labels, where people labelled some items."""
    shown = tables and {name: one for name, one in tables.tables().items() if one.width}
    return [Section("Scores without the judge's errors", correction_blocks(shown))] if shown else []


def _folded(block: Block) -> Block:
    """A section under its heading alone, until somebody opens it."""
    return replace(block, is_folded=True) if isinstance(block, Section) else block


def _lead(
    measured: Measured, requirements: pl.DataFrame | None, corrected: CorrectionTables | None
) -> list[Block]:
    """What a reader should know first: may they decide, and what makes that worth less."""
    lines = [
        *failure_lines(measured.failures, measured.outcomes),
        *cautions(measured.coefficients),
    ]
    found: list[Block] = []
    if requirements is not None:
        found += first_screen(
            requirements, measured.coefficients, measured.unstable,
            corrected=None if corrected is None else corrected.estimates,
            questions=measured.questions,
        )  # fmt: skip
    found += [Lines(lines, "cautions")] if lines else []
    leads = group_leads(measured.coefficients)
    if len(leads) == 1 and leads[0][0].code not in WARNINGS:
        found.append(Paragraph(leads[0][1], "lead"))
    return found
