"""Sections of the page on answers that are right or wrong: accept or reject, systems compared.

Figures of selection: accuracy against acceptance by role, bands of one system, reliability.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from judgerel_ray.blocks.markup import Column, counts, folded, paragraph, section, table
from judgerel_ray.blocks.plot import Plane, area, axes, curve, dot, figure, legend, segment
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


def role_figures(acceptance: pl.DataFrame, names: Sequence[str]) -> list[str]:
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
    plane = _plane(acceptance)  # one for all, so that judges can be compared by eye
    told = [name for name in setting if name == "judge" or acceptance[name].n_unique() > 1]
    return [
        _role_figure(part, plane, group_label(part.row(0, named=True), told))
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


def _role_figure(part: pl.DataFrame, plane: Plane, label: str) -> str:
    """One judge in its roles."""
    shapes = [*axes(plane, across="share accepted, surest first", xs=_QUARTERS, ys=_ys(plane))]
    said = []
    for (system,), mine in part.group_by("system", maintain_order=True):
        rows = mine.sort("acceptance").to_dicts()
        role = str(rows[0].get("role", "judge"))
        kind, name = LINES.get(role, LINES["judge"])
        shapes.append(curve(plane, kind, _steps(rows)))
        shapes += _bars(plane, rows, str(system))
        said.append(f"{name}: {_told(rows)}")
    title = f"Accuracy against share accepted, {label}"
    return figure(plane, shapes, label=title, told="; ".join(said), caption=label or "all answers")


def confidence_figures(acceptance: pl.DataFrame) -> list[tuple[str, str]]:
    """Draw one system's accuracy against the share accepted, a line a confidence.

    Parameters
    ----------
    acceptance : pl.DataFrame
        Of :class:`judgerel_ray.analyses.selection.selection.Selection`, of every confidence.

    Returns
    -------
    list of (str, str)
        The name of each system with two confidences or more, and its figure.

    Examples
    --------
    >>> confidence_figures(pl.DataFrame())
    []
    """
    if acceptance.is_empty():
        return []
    found = []
    plane = _plane(acceptance)
    for (system,), part in acceptance.group_by("system", maintain_order=True):
        if part["confidence"].n_unique() < 2:
            continue
        shapes = [*axes(plane, across="share accepted, surest first", xs=_QUARTERS, ys=_ys(plane))]
        said = []
        for (kind,), mine in part.group_by("confidence", maintain_order=True):
            rows = mine.sort("acceptance").to_dicts()
            shapes.append(curve(plane, CONFIDENCE_LINES[str(kind)][0], _steps(rows)))
            said.append(f"{kind}: {_told(rows)}")
        title = f"Accuracy against share accepted by confidence, {system}"
        drawn = figure(plane, shapes, label=title, told="; ".join(said), caption=str(system))
        found.append((str(system), drawn))
    return found


def band_figures(acceptance: pl.DataFrame) -> list[tuple[str, str]]:
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
        plane, rows = _plane(part), part.sort("acceptance").to_dicts()
        shapes = [
            *axes(plane, across="share accepted, surest first", xs=_QUARTERS, ys=_ys(plane)),
            area(plane, _turned(rows, "band_low", "band_high")),
            area(plane, _turned(rows, "low", "high")),
            curve(plane, "line", _steps(rows)),
        ]
        label = f"{system}, {kind}"
        told = f"{_told(rows)}; band: {rows[0]['band']}"
        title = f"Accuracy against share accepted, {label}"
        found.append((label, figure(plane, shapes, label=title, told=told, caption=label)))
    return found


def reliability_figures(reliability: pl.DataFrame) -> list[tuple[str, str]]:
    """Draw accuracy against stated confidence, in bins of equal mass.

    Parameters
    ----------
    reliability : pl.DataFrame
        Of :class:`judgerel_ray.analyses.selection.selection.Selection`.

    Returns
    -------
    list of (str, str)
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
        plane, said = Plane(), []
        shapes = [*axes(plane, across="confidence", xs=_QUARTERS, ys=_QUARTERS)]
        shapes.append(segment("baseline", plane.x(0), plane.y(0), plane.x(1), plane.y(1)))
        for row in part.to_dicts():
            x = plane.x(cast(float, row["mean_confidence"]))
            if row["low"] is not None:
                ends = [plane.y(cast(float, row[end])) for end in ("low", "high")]
                shapes.append(segment("interval", x, ends[0], x, ends[1]))
            said.append(
                f"at {number(row['mean_confidence'], 2)}: {row['n_right']} of {row['n']} right"
            )
            shapes.append(dot("point", x, plane.y(cast(float, row["accuracy"])), said[-1]))
        label = f"{system}, {kind}"
        title = f"Accuracy against confidence, {label}"
        found.append(
            (label, figure(plane, shapes, label=title, told="; ".join(said), caption=label))
        )
    return found


def _plane(part: pl.DataFrame) -> Plane:
    """A figure up to 1 from a quarter that leaves room below all points, not all intervals."""
    room = cast(float, part["accuracy"].min()) - 0.1
    start = max((q for q in _QUARTERS[:-1] if q <= room), default=0.0)
    return Plane(width=420, height=280, y_from=start)


def _ys(plane: Plane) -> list[float]:
    """Marks of the vertical axis."""
    if plane.y_from < 0.5:
        return [q for q in _QUARTERS if q >= plane.y_from]
    return [round(0.1 * tenth, 1) for tenth in range(1, 11) if 0.1 * tenth >= plane.y_from - 1e-9]


def _steps(rows: Sequence[Row]) -> list[tuple[float, float | None]]:
    """A line of steps through the operating points, from the strictest threshold on."""
    points: list[tuple[float, float | None]] = []
    for row in rows:
        x, y = cast(float, row["acceptance"]), cast(float, row["accuracy"])
        if points:
            points.append((x, points[-1][1]))
        points.append((x, y))
    return points


def _bars(plane: Plane, rows: Sequence[Row], system: str) -> Iterator[str]:
    """Operating points with their intervals, where there are not too many to see."""
    for row in rows[:: max(1, -(-len(rows) // _MOST_BARS))]:
        x, y = plane.x(cast(float, row["acceptance"])), plane.y(cast(float, row["accuracy"]))
        if row["low"] is not None:
            ends = [plane.y(1 - cast(float, row[end])) for end in ("low", "high")]
            yield segment("whisker", x, ends[0], x, ends[1])
        said = f"{system}: {row['n_accepted']} of {row['n_answers']}, {number(row['accuracy'])}"
        yield dot("speck", x, y, said)


def _turned(
    rows: Sequence[Row], low: str, high: str
) -> list[tuple[float, float | None, float | None]]:
    """Ends of accuracy from those of error, in steps as the line."""
    found: list[tuple[float, float | None, float | None]] = []
    for row in rows:
        x = cast(float, row["acceptance"])
        ends = (row[high], row[low])
        turned = tuple(1 - cast(float, end) if end is not None else None for end in ends)
        if found:
            found.append((x, found[-1][1], found[-1][2]))
        found.append((x, turned[0], turned[1]))
    return found


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
        "Accuracy if every answer is accepted; by chance: the same answers shuffled across "
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
