"""Sections of the page on answers that are right or wrong: accept or reject, systems compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.report.markup import Column, counts, paragraph, section, table
from judgerel_ray.report.panel_text import costing, unit_words
from judgerel_ray.report.plot import legend
from judgerel_ray.report.preference import preference_page
from judgerel_ray.report.selection_charts import (
    CONFIDENCE_LINES,
    LINES,
    band_figures,
    confidence_figures,
    reliability_figures,
    role_figures,
)
from judgerel_ray.report.selection_text import (
    FEW,
    RANKING_HEADS,
    accuracy_cells,
    ends_of,
    ranking_cells,
)
from judgerel_ray.report.uncertainty_tables import folded
from judgerel_ray.report.words import Row, interval, number, p_value, reason

_MOST_ROWS = 12  # of a table that is not folded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selected:
    """What a page says of selection.

    Attributes
    ----------
    selection : mapping of str to DataFrame
        Tables of :class:`judgerel_ray.reduce.selection.Selection`.
    comparison : mapping of str to DataFrame
        Tables of :class:`judgerel_ray.reduce.systems_compared.SystemComparison`; empty where there
        are no two systems.
    names : tuple of str
        Columns that make a system.
    refused : str, optional
        Why there is nothing to select among.
    """

    selection: Mapping[str, pl.DataFrame]
    comparison: Mapping[str, pl.DataFrame]
    names: tuple[str, ...]
    refused: str | None = None


def selection_sections(selected: Selected | None) -> list[str]:
    """Write the sections; none where nothing was selected.

    Examples
    --------
    >>> selection_sections(None)
    []
    """
    if selected is None:
        return []
    if selected.refused is not None:
        return [section("Accept or reject", paragraph(f"Not told: {selected.refused}."))]
    return [
        section("Accept or reject", _curves(selected) + _systems(selected.selection["systems"])),
        section("Confidence", _confidence(selected.selection)),
        section("Systems compared", _compared(selected.comparison)),
        section("Self-preference", preference_page(selected.comparison)),
    ]


def _curves(selected: Selected) -> str:
    """Accuracy against acceptance, by role."""
    acceptance = selected.selection["acceptance"]
    if acceptance.is_empty():
        return ""
    kind = acceptance["confidence"][0]
    shown = acceptance.filter(pl.col("confidence") == kind)
    roles = set(shown["role"]) if "role" in shown.columns else {"judge"}
    entries = [LINES[role] for role in LINES if role in roles]
    told = paragraph(
        f"Answers are accepted from the surest down ({kind} confidence); the line is the share "
        "right among those accepted. Steps: only thresholds that occur are operating points. Bars "
        "are 95 % intervals at each point by itself. A reply without a verdict or a confidence is "
        "never accepted, and counts among all."
    )
    figures = role_figures(shown, selected.names)
    single = _charts(drawn for _, drawn in band_figures(shown))
    bands = folded("Intervals and joint bands, system by system", single)
    return told + legend(entries) + _charts(figures) + bands


def _systems(systems: pl.DataFrame) -> str:
    """Accuracy of every system."""
    rows = systems.unique("system", keep="first", maintain_order=True).to_dicts()
    cells = [accuracy_cells(row) for row in rows]
    heads = ("right", "accuracy", "95 %", "by chance", "unread")
    return table(
        "Accuracy if every answer is accepted; by chance: the same answers dealt to other "
        "questions",
        [
            Column(head="system", cells=[str(row["system"]) for row in rows]),
            *_numbers(heads, cells),
        ],
        cards=True,
    )


def _confidence(tables: Mapping[str, pl.DataFrame]) -> str:
    """How confidences rank, whether they mean what they say, and thresholds with a guarantee."""
    rows = tables["systems"].filter(pl.col("confidence").is_not_null()).to_dicts()
    if not rows:
        return ""
    told = paragraph(
        "AUROC: how often a right answer is surer than a wrong one; AURC: mean share wrong over "
        "all shares of what is not rejected, beside that of a confidence of no use. ECE in "
        f"{rows[0]['n_bins']} bins of equal width, beside what calibrated confidence would show."
        + (f" {FEW}" if any(row["few"] for row in rows) else "")
    )
    columns = [
        Column(head="system", cells=[str(row["system"]) for row in rows]),
        Column(head="confidence", cells=[str(row["confidence"]) for row in rows]),
        *_numbers(RANKING_HEADS, [ranking_cells(row) for row in rows]),
    ]
    diagrams = [drawn for _, drawn in reliability_figures(tables["reliability"])]
    drawn = folded("Reliability diagrams, bins of equal mass", _charts(diagrams))
    whole = _long("Confidence of every system", columns)
    return told + _axes(tables["acceptance"]) + whole + drawn + _proven(tables)


def _axes(acceptance: pl.DataFrame) -> str:
    """Every confidence of a system on the same axes."""
    figures = confidence_figures(acceptance)
    if not figures:
        return ""
    kinds = set(acceptance["confidence"])
    entries = [CONFIDENCE_LINES[kind] for kind in CONFIDENCE_LINES if kind in kinds]
    return legend(entries) + _charts(one for _, one in figures)


def _proven(tables: Mapping[str, pl.DataFrame]) -> str:
    """Thresholds with a guarantee."""
    rows = tables["guarantees"].to_dicts()
    if not rows:
        return ""
    columns = [
        Column(head="system", cells=[str(row["system"]) for row in rows]),
        Column(head="confidence", cells=[str(row["confidence"]) for row in rows]),
        Column(
            head="accept from",
            cells=[
                number(row["threshold"], 2) if row["undefined"] is None
                else f"none: {reason(row['undefined'])}"
                for row in rows
            ],
        ),
        counts("held out", [row["n_heldout"] for row in rows]),
        counts("accepted", [row["n_accepted"] for row in rows]),
        Column(
            head="wrong of them", cells=[number(row["error"]) for row in rows],
            small=[interval(row) for row in rows], is_number=True,
        ),
    ]  # fmt: skip
    caption = (
        f"Threshold whose share wrong exceeds {rows[0]['risk']:g} with a chance of at most "
        f"{rows[0]['delta']:g}, learnt on {rows[0]['split']}, tried on the other half"
        + (": each system by itself, not the best of them" if len(rows) > 1 else "")
    )
    return _long(caption, columns)


def _compared(tables: Mapping[str, pl.DataFrame]) -> str:
    """Pairs, and judges against the same cost."""
    if not tables or tables["pairs"].is_empty():
        return ""
    rows = tables["pairs"].to_dicts()
    told = paragraph(
        "Joined by question, the first reply to each. p is exact McNemar's on the questions that "
        f"one alone got right; Holm's adjustment is over these {rows[0]['n_comparisons']} "
        "comparisons. The best of several systems looks better than it is on the questions it was "
        "picked by."
    )
    columns = [
        Column(head="first", cells=[str(row["first"]) for row in rows]),
        Column(head="second", cells=[str(row["second"]) for row in rows]),
        counts("questions", [row["n_questions"] for row in rows]),
        counts("first only", [row["first_only"] for row in rows]),
        counts("second only", [row["second_only"] for row in rows]),
        _difference("second - first", rows, "difference", interval),
        Column(head="p, Holm", cells=[p_value(row["p_holm"]) for row in rows], is_number=True),
        _difference(
            "wrong at equal acceptance", rows, "error_difference",
            lambda row: ends_of(row, "error"),
        ),
    ]  # fmt: skip
    pairs = folded("All pairs", table("Systems two by two", columns, cards=True))
    return told + _matched(tables["matched_cost"].to_dicts()) + pairs


def _matched(rows: Sequence[Row]) -> str:
    """Judges against the same cost."""
    known = [row for row in rows if row["difference"] is not None]
    if not known:
        return ""
    replies = [
        f"{row['votes']} of {row['votes_wanted']}" if row["baseline"] == "votes" else "1"
        for row in known
    ]
    columns = [
        Column(head="judge", cells=[str(row["second"]) for row in known]),
        Column(head="against", cells=[str(row["first"]) for row in known]),
        Column(head="its replies, had of wanted", cells=replies, is_number=True),
        Column(
            head=f"{unit_words(known[0])}, its and the judge's",
            cells=[f"{costing(r['first_cost'])}, {costing(r['second_cost'])}" for r in known],
            is_number=True,
        ),
        _difference("judge - baseline", known, "difference", interval),
        Column(head="p, Holm", cells=[p_value(row["p_holm"]) for row in known], is_number=True),
    ]
    told = paragraph(
        "A judge of others' answers pays for them, too. For as much, the best model alone could "
        "be asked again and outvote itself; it is the best on these very questions, which favours "
        "it."
    )
    return told + table("The same cost spent on a single model", columns, cards=True)


def _difference(head: str, rows: Sequence[Row], name: str, ends: Callable[[Row], str]) -> Column:
    """A column of differences with their intervals."""
    return Column(
        head=head, cells=[number(row[name]) for row in rows],
        small=[ends(row) for row in rows], is_number=True,
    )  # fmt: skip


def _charts(figures: Iterable[str]) -> str:
    """Figures side by side."""
    return f'<div class="charts">{"".join(figures)}</div>'


def _long(caption: str, columns: Sequence[Column]) -> str:
    """A table, folded where it is long."""
    whole = table(caption, columns, cards=True)
    return folded(caption, whole) if len(columns[0].cells) > _MOST_ROWS else whole


def _numbers(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Column]:
    """Columns of cells that lie in rows; an interval stands small beside its number."""
    columns = list(zip(*cells, strict=True))
    return [
        Column(
            head=head,
            cells=columns[place],
            small=columns[place + 1] if heads[place + 1 : place + 2] == ("95 %",) else (),
            is_number=True,
        )
        for place, head in enumerate(heads)
        if head != "95 %"
    ]
