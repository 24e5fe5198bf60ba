"""Figures of selection: accuracy against acceptance by role, bands of one system, reliability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.report.plot import Plane, area, axes, curve, dot, figure, segment
from judgerel_ray.report.words import Row, group_label, number

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
        Of :class:`judgerel_ray.reduce.selection.Selection`, of one confidence.
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
        Of :class:`judgerel_ray.reduce.selection.Selection`, of every confidence.

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
        As of :func:`role_figures`.

    Returns
    -------
    list of (str, str)
        The name of each system, and its figure.

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
        Of :class:`judgerel_ray.reduce.selection.Selection`.

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
