"""Comparisons as people read them, and how rows of numbers with intervals are written as text."""

from __future__ import annotations

import polars as pl

from judgerel_ray.analyses.comparison.short import compared_short
from judgerel_ray.blocks.blocks import Block, Laid
from judgerel_ray.blocks.columns import wrapped
from judgerel_ray.blocks.result import Result
from judgerel_ray.blocks.text_sections import (
    Columns,
    plain,
    remarks_beside_lead,
    section_text,
    short_p,
    with_interval,
)
from judgerel_ray.blocks.words import (
    coefficient_name,
    noted,
)
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.lead_codes import LeadCode
from judgerel_ray.measuring.serving import SharedRequests, with_shared
from judgerel_ray.measuring.show_serving import shared_blocks

_MOST_SIDES = 6


def compared_result(
    found: pl.DataFrame,
    shared: SharedRequests | None,
    first: Snapshot,
    second: Snapshot | None,
    command: str | None = None,
) -> Result[pl.DataFrame]:
    """Paired differences, and requests shared, as every format is made of them.

    `command` says what to do next.
    """
    sides = [first] if second is None else [first, second]
    names = (first.name, second.name if second else first.name)
    rows = with_shared(found, shared, names)

    def blocks() -> list[Block]:
        below = [] if shared is None else shared_blocks(shared.rows, shared.settings, names)
        return [Laid(comparison_text(found)), *below]

    def short() -> list[Block]:
        return compared_short(found, shared, left_out_words(found), command)

    notes = [
        f"{one.name}: {note}" if second is not None else note
        for one in sides
        for note in one.run_notes
    ]
    return Result(
        found=rows,
        tables=rows,
        full=blocks,
        short=short,
        notes=tuple(notes),
        legend=lambda: [Laid(wrapped(_COMPARISON_NOTE))],
    )


def comparison_text(comparisons: pl.DataFrame) -> str:
    """Write comparisons as aligned text.

    Examples
    --------
    >>> from judgerel_ray.analyses.comparison.comparison import compare_judgments
    >>> rows = {"item_id": ["q", "r", "s"] * 4, "judge": ["x"] * 6 + ["y"] * 6,
    ...         "replication": [0, 0, 0, 1, 1, 1] * 2, "verdict": list("ABAABAABBAAB")}
    >>> found = compare_judgments(pl.LazyFrame(rows), by=["judge"],
    ...                           coefficients=["percent_agreement"])
    >>> print(comparison_text(found).splitlines()[0])
    difference (b − a) on shared questions
    """
    text = section_text(
        comparisons, "difference (b − a) on shared questions", _COMPARISON, _COMPARISON_NOTE
    )
    compared = set(comparisons["conditions"].drop_nulls())
    text = f"{text}\n{wrapped(_UNASKED)}" if compared == {"repeatability"} else text
    left_out = left_out_words(comparisons)
    text = f"{text}\n{wrapped(left_out)}" if left_out else text
    few = _compared_few(comparisons)
    return f"{wrapped(few)}\n\n{text}" if few else text


def _compared_few(comparisons: pl.DataFrame) -> str:
    """Say of which comparisons nothing is said, for the same reason."""
    rows = comparisons.filter(reason=LeadCode.FEW_VERDICTS.value)
    sides = dict.fromkeys(
        f"{numbers[0]:,.0f} of {numbers[1]:,.0f} replies hold a verdict ({row[side]})"
        for row in rows.iter_rows(named=True)
        for (flag, numbers), side in zip(noted(row), row["flag_sides"], strict=True)
        if flag is Flag.FEW_VERDICTS
    )
    if not sides:
        return ""
    return f"{'; '.join(sides)}: nothing is said of which side agrees more."


def left_out_words(comparisons: pl.DataFrame, why: str = "was not asked them") -> str:
    """Say how many questions are compared nowhere, as one side alone was asked them.

    Examples
    --------
    >>> sides = {"a": ["new"], "b": ["old"], "n_left_out_a": [0], "n_left_out_b": [3]}
    >>> left_out_words(pl.DataFrame(sides))
    'Questions left out, as the other side was not asked them: 3 of old.'
    """
    numbers = comparisons.select("a", "b", "n_left_out_a", "n_left_out_b").unique(
        maintain_order=True
    )
    sides = [
        f"{n:,} of {name}"
        for a, b, n_a, n_b in numbers.iter_rows()
        for name, n in ((a, n_a), (b, n_b))
        if n
    ]
    if not sides:
        return ""
    some = ", ".join(sides[:_MOST_SIDES]) + (", ..." if len(sides) > _MOST_SIDES else "")
    return f"Questions left out, as the other side {why}: {some}."


_UNASKED = (
    "Only repeats of the same prompt are compared. To compare reproducibility, ask both sides in "
    "several orders (option_orders = 2) or with several templates."
)
_COMPARED = {
    "reproducibility": "own order and wording (reproducibility)",
    "repeatability": "same prompt (repeatability)",
}
_MISSING = {"category": "counts as a verdict", "drop": "left out"}
_COMPARISON_NOTE = """\
p: how often a and b, exchanged within questions at random, differ as much; the 95 % interval of
b - a excludes 0 where p < 0.05. Holm and FDR correct p for all tests of this table; one is higher
where Holm's is < 0.05. within, beyond: p of lying inside the tolerance, and outside it, by Holm.
few informative questions: fewer than 10 differ between a and b, or one side rests on few."""
_COMPARISON: Columns = {
    "a": plain("a"),
    "b": plain("b"),
    "coefficient": lambda row: coefficient_name({**row, "measurement": None}),
    "two judgments": lambda row: _COMPARED.get(str(row["conditions"]), "as named"),
    "no verdict": lambda row: _MISSING.get(str(row["missing"]), "-"),
    "value a": plain("value_a"),
    "value b": plain("value_b"),
    "b - a [95 %]": with_interval("difference", "low", "high"),
    "p": short_p("p"),
    "Holm": short_p("p_holm"),
    "FDR": short_p("p_fdr"),
    "within": short_p("p_equivalence_holm"),
    "beyond": short_p("p_beyond_holm"),
    "standing": plain("standing"),
    "questions": plain("n_items"),
    "remark": lambda row: "; ".join(remarks_beside_lead(row)),
}
