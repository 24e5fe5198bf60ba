"""Sections of the page on answers that are right or wrong: accept or reject, systems compared.

Figures of selection: accuracy against acceptance by role, bands of one system, reliability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from judgerel_ray.analyses.selection.show import (
    FEW,
    RANKING_HEADS,
    accuracy_cells,
    preference_page,
    ranking_cells,
)
from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Figures,
    Folded,
    Mark,
    Paragraph,
    Section,
    Table,
    counts,
)
from judgerel_ray.blocks.words import (
    Row,
    costing,
    ends_of,
    group_label,
    interval,
    number,
    p_value,
    reason,
    unit_words,
)

LINES = {
    "responder": ("other", "alone"),
    "participant": ("share", "as judge, its own answer among those compared"),
    "evaluator_only": ("line", "as judge of the others' answers only"),
    "judge": ("line", "as judge"),
}
"""The line of each role, and what it is called."""
CONFIDENCE_LINES = {
    "stated": ("line", "as stated"),
    "support": ("share", "other replications that say the same"),
    "agreement": ("other", "agreement of the other replications"),
    "margin": ("baseline", "margin of the confusion matrix"),
    "probability": ("people", "probability of the verdict"),
}
"""The line of each confidence, and what it is called."""
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_NOT_SETTING = ("role", "system", "confidence")
_MOST_BARS = 20


def role_figures(acceptance: pl.DataFrame, names: Sequence[str]) -> list[Figure]:
    """Draw accuracy against the share accepted: a figure a judge, a line a role.

    Lines are steps: between two thresholds that occur lies no operating point. A model that was
    asked alone at one temperature only stands in every figure of its judge.

    Parameters
    ----------
    acceptance : pl.DataFrame
        Of :class:`judgerel_ray.analyses.selection.selection.Selection`, of one confidence.
    names : sequence of str
        Columns that make a system.

    Examples
    --------
    >>> role_figures(pl.DataFrame(), [])
    []
    """
    if acceptance.is_empty():
        return []
    setting = [name for name in names if name not in _NOT_SETTING]
    start = _start(acceptance)  # one for all, so that judges can be compared by eye
    told = [name for name in setting if name == "judge" or acceptance[name].n_unique() > 1]
    return [
        _role_figure(part, start, group_label(part.row(0, named=True), told))
        for part in _figure_parts(acceptance, setting)
    ]


def _figure_parts(acceptance: pl.DataFrame, setting: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The rows of each figure."""
    if not setting or "role" not in acceptance.columns:
        yield from acceptance.partition_by("system", maintain_order=True)
        return
    alone = acceptance.filter(pl.col("role") == "responder")
    judged = acceptance.filter(pl.col("role") != "responder")
    without_heat = [name for name in setting if name != "temperature"]
    told: set[str] = set()
    for part in judged.partition_by(list(setting), maintain_order=True):
        same = alone.join(part.select(setting).unique(), on=setting, how="semi", nulls_equal=True)
        if same.is_empty() and without_heat:
            here = part.select(without_heat).unique()
            same = alone.join(here, on=without_heat, how="semi", nulls_equal=True)
        told |= set(same["system"])
        yield pl.concat([part, same])
    rest = alone.filter(~pl.col("system").is_in(sorted(told)))
    yield from rest.partition_by(list(setting), maintain_order=True)


def _role_figure(part: pl.DataFrame, start: float, label: str) -> Figure:
    """One judge in its roles."""
    marks: list[Mark] = []
    said = []
    for (system,), mine in part.group_by("system", maintain_order=True):
        rows = mine.sort("acceptance")
        role = str(rows["role"][0]) if "role" in rows.columns else "judge"
        style, name = LINES.get(role, LINES["judge"])
        marks += [_step(rows, style), *_bars(rows, str(system))]
        said.append(f"{name}: {_told(rows.to_dicts())}")
    return _acceptance_figure(f", {label}", "; ".join(said), marks, start, label or "all answers")


def _acceptance_figure(
    of: str, told: str, marks: Sequence[Mark], start: float, caption: str
) -> Figure:
    """Accuracy against the share accepted."""
    return Figure(
        title=f"Accuracy against share accepted{of}",
        told=told,
        caption=caption,
        x=Axis(title="share accepted, surest first", values=_QUARTERS),
        y=Axis(title="accuracy", start=start, values=_ys(start), grid=True),
        marks=marks,
        width=362,
        height=228,
    )


def _step(rows: pl.DataFrame, style: str) -> Mark:
    """A line of steps through the operating points, from the strictest threshold on."""
    return Mark(shape="step", style=style, data=rows, x="acceptance", y="accuracy")


def confidence_figures(acceptance: pl.DataFrame) -> list[tuple[str, Figure]]:
    """Draw one system's accuracy against the share accepted, a line a confidence.

    Parameters
    ----------
    acceptance : pl.DataFrame
        Of :class:`judgerel_ray.analyses.selection.selection.Selection`, of every confidence.

    Returns
    -------
    list of (str, Figure)
        The name of each system with two confidences or more, and its figure.

    Examples
    --------
    >>> confidence_figures(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    found = []
    start = _start(acceptance)
    for (system,), part in acceptance.group_by("system", maintain_order=True):
        if part["confidence"].n_unique() < 2:
            continue
        marks, said = [], []
        for (kind,), mine in part.group_by("confidence", maintain_order=True):
            rows = mine.sort("acceptance")
            marks.append(_step(rows, CONFIDENCE_LINES[str(kind)][0]))
            said.append(f"{kind}: {_told(rows.to_dicts())}")
        name, of = str(system), f" by confidence, {system}"
        found.append((name, _acceptance_figure(of, "; ".join(said), marks, start, name)))
    return found


def band_figures(acceptance: pl.DataFrame) -> list[tuple[str, Figure]]:
    """Draw one system's accuracy against the share accepted, with intervals and the joint band.

    Parameters
    ----------
    acceptance : pl.DataFrame
        As of :func:`role_figures`, also what is returned.

    Examples
    --------
    >>> band_figures(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    found = []
    for (system, kind), part in acceptance.group_by("system", "confidence", maintain_order=True):
        rows = part.sort("acceptance")
        # Of error, turned round.
        ends = rows.with_columns((1 - pl.col("band_low", "band_high", "low", "high")).name.keep())
        marks = [
            *(
                Mark(shape="step_area", style="area", data=ends, x="acceptance", y=low, y2=high)
                for low, high in (("band_low", "band_high"), ("low", "high"))
            ),
            _step(rows, "line"),
        ]
        label = f"{system}, {kind}"
        told = f"{_told(rows.to_dicts())}; band: {rows['band'][0]}"
        found.append((label, _acceptance_figure(f", {label}", told, marks, _start(part), label)))
    return found


def reliability_figures(reliability: pl.DataFrame) -> list[tuple[str, Figure]]:
    """Draw accuracy against stated confidence, in bins of equal mass.

    Parameters
    ----------
    reliability : pl.DataFrame
        Of :class:`judgerel_ray.analyses.selection.selection.Selection`.

    Returns
    -------
    list of (str, Figure)
        The name of each system, and its figure.

    Examples
    --------
    >>> reliability_figures(pl.DataFrame())
    []
    """
    if reliability.is_empty():
        return []
    found = []
    shown = reliability.filter(pl.col("binning") == "mass")
    for (system, kind), part in shown.group_by("system", "confidence", maintain_order=True):
        said = [
            f"at {number(row['mean_confidence'], 2)}: {row['n_right']} of {row['n']} right"
            for row in part.to_dicts()
        ]
        rows = part.with_columns(told=pl.Series(said, dtype=pl.String))
        even = pl.DataFrame({"confidence": [0.0, 1.0], "accuracy": [0.0, 1.0]})
        label = f"{system}, {kind}"
        figure = Figure(
            title=f"Accuracy against confidence, {label}",
            told="; ".join(said),
            caption=label,
            x=Axis(title="confidence", values=_QUARTERS),
            y=Axis(title="accuracy", values=_QUARTERS, grid=True),
            marks=[
                Mark(shape="line", style="baseline", data=even, x="confidence", y="accuracy"),
                Mark(shape="rule", style="interval", data=rows, x="mean_confidence", y="low",
                     y2="high"),
                Mark(shape="point", style="point", data=rows, x="mean_confidence", y="accuracy",
                     told="told"),
            ],
        )  # fmt: skip
        found.append((label, figure))
    return found


def _start(part: pl.DataFrame) -> float:
    """Where a figure begins: a quarter that leaves room below all points, not all intervals."""
    room = cast(float, part["accuracy"].min()) - 0.1
    return max((q for q in _QUARTERS[:-1] if q <= room), default=0.0)


def _ys(start: float) -> list[float]:
    """Marks of the vertical axis."""
    if start < 0.5:
        return [q for q in _QUARTERS if q >= start]
    return [round(0.1 * tenth, 1) for tenth in range(1, 11) if 0.1 * tenth >= start - 1e-9]


def _bars(rows: pl.DataFrame, system: str) -> list[Mark]:
    """Operating points with their intervals, where there are not too many to see."""
    some = rows.gather_every(max(1, -(-rows.height // _MOST_BARS)))
    said = [
        f"{system}: {row['n_accepted']} of {row['n_answers']}, {number(row['accuracy'])}"
        for row in some.iter_rows(named=True)
    ]
    some = some.with_columns(
        (1 - pl.col("low", "high")).name.keep(), told=pl.Series(said, dtype=pl.String)
    )
    return [
        Mark(shape="rule", style="whisker", data=some, x="acceptance", y="low", y2="high"),
        Mark(shape="point", style="speck", data=some, x="acceptance", y="accuracy", told="told"),
    ]


def _told(rows: Sequence[Row]) -> str:
    """A few operating points in words."""
    return ", ".join(
        f"of the surest {number(row['acceptance'], 2)} right {number(row['accuracy'])}"
        for row in rows[:: max(1, len(rows) // 5)]
    )


_MOST_ROWS = 12  # of a table that is not folded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selected:
    """What a page says of selection.

    Attributes
    ----------
    selection : mapping of str to DataFrame
        Tables of :class:`judgerel_ray.analyses.selection.selection.Selection`.
    comparison : mapping of str to DataFrame
        Tables of :class:`.SystemComparison`; empty where there
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


def selection_sections(selected: Selected | None) -> list[Block]:
    """Write the sections; none where nothing was selected.

    Examples
    --------
    >>> selection_sections(None)
    []
    """
    if selected is None:
        return []
    if selected.refused is not None:
        return [Section("Accept or reject", [Paragraph(f"Not told: {selected.refused}.")])]
    return [
        Section(
            "Accept or reject",
            [*_curves(selected), _systems(selected.selection["systems"])],
        ),
        Section("Confidence", _confidence(selected.selection)),
        Section("Systems compared", _compared(selected.comparison)),
        Section("Self-preference", preference_page(selected.comparison)),
    ]


def _curves(selected: Selected) -> list[Block]:
    """Accuracy against acceptance, by role."""
    acceptance = selected.selection["acceptance"]
    if acceptance.is_empty():
        return []
    kind = acceptance["confidence"][0]
    shown = acceptance.filter(pl.col("confidence") == kind)
    roles = set(shown["role"]) if "role" in shown.columns else {"judge"}
    entries = [LINES[role] for role in LINES if role in roles]
    told = Paragraph(
        f"Answers are accepted from the surest down ({kind} confidence); the line is the share "
        "right among those accepted. Steps: only thresholds that occur are operating points. Bars "
        "are 95 % intervals at each point by itself. A reply without a verdict or a confidence is "
        "never accepted, and counts among all."
    )
    figures = role_figures(shown, selected.names)
    single = Figures([drawn for _, drawn in band_figures(shown)])
    bands = Folded("Intervals and joint bands, system by system", [single])
    return [told, Figures(figures, entries), bands]


def _systems(systems: pl.DataFrame) -> Table:
    """Accuracy of every system."""
    rows = systems.unique("system", keep="first", maintain_order=True).to_dicts()
    cells = [accuracy_cells(row) for row in rows]
    heads = ("right", "accuracy", "95 %", "by chance", "unread")
    return Table(
        "Accuracy if every answer is accepted; by chance: the same answers shuffled across "
        "questions",
        [
            Column(head="system", cells=[str(row["system"]) for row in rows]),
            *_numbers(heads, cells),
        ],
        cards=True,
    )


def _confidence(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """How confidences rank, whether they mean what they say, and thresholds with a guarantee."""
    rows = tables["systems"].filter(pl.col("confidence").is_not_null()).to_dicts()
    if not rows:
        return []
    told = Paragraph(
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
    drawn = Folded("Reliability diagrams, bins of equal mass", [Figures(diagrams)])
    whole = _long("Confidence of every system", columns)
    return [told, *_axes(tables["acceptance"]), whole, drawn, *_proven(tables)]


def _axes(acceptance: pl.DataFrame) -> list[Block]:
    """Every confidence of a system on the same axes."""
    figures = confidence_figures(acceptance)
    if not figures:
        return []
    kinds = set(acceptance["confidence"])
    entries = [CONFIDENCE_LINES[kind] for kind in CONFIDENCE_LINES if kind in kinds]
    return [Figures([one for _, one in figures], entries)]


def _proven(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Thresholds with a guarantee."""
    rows = tables["guarantees"].to_dicts()
    if not rows:
        return []
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
    return [_long(caption, columns)]


def _compared(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Pairs, and judges against the same cost."""
    if not tables or tables["pairs"].is_empty():
        return []
    rows = tables["pairs"].to_dicts()
    told = Paragraph(
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
    pairs = Folded("All pairs", [Table("Systems two by two", columns, cards=True)])
    return [told, *_matched(tables["matched_cost"].to_dicts()), pairs]


def _matched(rows: Sequence[Row]) -> list[Block]:
    """Judges against the same cost."""
    known = [row for row in rows if row["difference"] is not None]
    if not known:
        return []
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
    told = Paragraph(
        "A judge of others' answers pays for them, too. For as much, the best model alone could "
        "be asked again and outvote itself; it is the best on these very questions, which favours "
        "it."
    )
    return [told, Table("The same cost spent on a single model", columns, cards=True)]


def _difference(head: str, rows: Sequence[Row], name: str, ends: Callable[[Row], str]) -> Column:
    """A column of differences with their intervals."""
    return Column(
        head=head, cells=[number(row[name]) for row in rows],
        small=[ends(row) for row in rows], is_number=True,
    )  # fmt: skip


def _long(caption: str, columns: Sequence[Column]) -> Block:
    """A table, folded where it is long."""
    whole = Table(caption, columns, cards=True)
    return Folded(caption, [whole]) if len(columns[0].cells) > _MOST_ROWS else whole


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
