"""Figures of selection: accuracy against acceptance by role, bands of one system, reliability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.words import Row, group_label, number

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
    varying = [name for name in setting if name == "judge" or acceptance[name].n_unique() > 1]
    return [
        _role_figure(part, start, group_label(part.row(0, named=True), varying))
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
    drawn: set[str] = set()
    for part in judged.partition_by(list(setting), maintain_order=True):
        same = alone.join(part.select(setting).unique(), on=setting, how="semi", nulls_equal=True)
        if same.is_empty() and without_heat:
            here = part.select(without_heat).unique()
            same = alone.join(here, on=without_heat, how="semi", nulls_equal=True)
        drawn |= set(same["system"])
        yield pl.concat([part, same])
    rest = alone.filter(~pl.col("system").is_in(sorted(drawn)))
    yield from rest.partition_by(list(setting), maintain_order=True)


def _role_figure(part: pl.DataFrame, start: float, label: str) -> Figure:
    """One judge in its roles."""
    marks: list[Mark] = []
    texts = []
    for (system,), of_system in part.group_by("system", maintain_order=True):
        rows = of_system.sort("acceptance")
        role = str(rows["role"][0]) if "role" in rows.columns else "judge"
        style, name = LINES.get(role, LINES["judge"])
        marks += [_step(rows, style), *_bars(rows, str(system))]
        texts.append(f"{name}: {_points_text(rows.to_dicts())}")
    caption = f"{label or 'all answers'}, {part['confidence'][0]} confidence"
    return _acceptance_figure(f", {label}", "; ".join(texts), marks, start, caption)


def _acceptance_figure(
    of: str, description: str, marks: Sequence[Mark], start: float, caption: str
) -> Figure:
    """Accuracy against the share accepted."""
    return Figure(
        title=f"Accuracy against share accepted{of}",
        description=description,
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
        marks, texts = [], []
        for (kind,), of_kind in part.group_by("confidence", maintain_order=True):
            rows = of_kind.sort("acceptance")
            marks.append(_step(rows, CONFIDENCE_LINES[str(kind)][0]))
            texts.append(f"{kind}: {_points_text(rows.to_dicts())}")
        name, of = str(system), f" by confidence, {system}"
        found.append((name, _acceptance_figure(of, "; ".join(texts), marks, start, name)))
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
        description = f"{_points_text(rows.to_dicts())}; band: {rows['band'][0]}"
        found.append(
            (label, _acceptance_figure(f", {label}", description, marks, _start(part), label))
        )
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
        texts = [
            f"at {number(row['mean_confidence'], 2)}: {row['n_right']} of {row['n']} right"
            for row in part.to_dicts()
        ]
        rows = part.with_columns(label=pl.Series(texts, dtype=pl.String))
        even = pl.DataFrame({"confidence": [0.0, 1.0], "accuracy": [0.0, 1.0]})
        label = f"{system}, {kind}"
        figure = Figure(
            title=f"Accuracy against confidence, {label}",
            description="; ".join(texts),
            caption=label,
            x=Axis(title="confidence", values=_QUARTERS),
            y=Axis(title="accuracy", values=_QUARTERS, grid=True),
            marks=[
                Mark(shape="line", style="baseline", data=even, x="confidence", y="accuracy"),
                Mark(shape="rule", style="interval", data=rows, x="mean_confidence", y="low",
                     y2="high"),
                Mark(shape="point", style="point", data=rows, x="mean_confidence", y="accuracy",
                     label="label"),
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
    texts = [
        f"{system}: {row['n_accepted']} of {row['n_answers']}, {number(row['accuracy'])}"
        for row in some.iter_rows(named=True)
    ]
    some = some.with_columns(
        (1 - pl.col("low", "high")).name.keep(), label=pl.Series(texts, dtype=pl.String)
    )
    return [
        Mark(shape="rule", style="whisker", data=some, x="acceptance", y="low", y2="high"),
        Mark(shape="point", style="speck", data=some, x="acceptance", y="accuracy", label="label"),
    ]


def _points_text(rows: Sequence[Row]) -> str:
    """A few operating points in words."""
    return ", ".join(
        f"of the surest {number(row['acceptance'], 2)} right {number(row['accuracy'])}"
        for row in rows[:: max(1, len(rows) // 5)]
    )
