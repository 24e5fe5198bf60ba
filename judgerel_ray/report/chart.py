"""Alpha against temperature as inline SVG: points, intervals, and the band noise would fill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import polars as pl

from judgerel_ray.reduce.estimates import REPRODUCIBILITY
from judgerel_ray.report.ordering import in_order
from judgerel_ray.report.words import (
    Row,
    cell,
    escape,
    estimate,
    group_columns,
    group_label,
    number,
)

_WIDTH, _HEIGHT = 320, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 14, 12, 40
_LABEL_WIDTH = 24.0  # of a temperature such as 0.75, in the figure's units
_BAND = 1.96  # standard deviations on either side: where 95 % of noise falls


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """From temperature and alpha to places in the figure."""

    low: float
    hottest: float

    def x(self, temperature: object) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * cast(float, temperature) / self.hottest

    def y(self, alpha: object) -> float:
        inside = max(self.low, cast(float, alpha))
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - inside) / (1 - self.low)


def alpha_charts(coefficients: pl.DataFrame) -> tuple[str, ...]:
    """Draw alpha against temperature, one figure a judge, benchmark and what else makes a group.

    Parameters
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.reduce.reduce_judgments`.

    Returns
    -------
    tuple of str
        HTML figures; none where alpha is not defined at two temperatures at least.

    Examples
    --------
    >>> alpha_charts(pl.DataFrame({"coefficient": ["valid_rate"]}))
    ()
    """
    columns = group_columns(coefficients)
    if "temperature" not in columns:
        return ()
    rest = [name for name in columns if name != "temperature"]
    of_orders = pl.lit(False)  # whether orders or templates are compared, and not repeats
    if "conditions" in coefficients.columns:
        of_orders = (pl.col("conditions") == REPRODUCIBILITY).fill_null(False)
    alphas = coefficients.filter(
        # Of temperature 0 asked more than once it is the server's, no point of a judge's curve.
        (pl.col("temperature") != 0) | (pl.col("n_replications") < 2) | of_orders,
        pl.col("coefficient") == "krippendorff_alpha",
        pl.col("value").is_not_null(),
        pl.col("temperature").is_not_null(),
    )
    if alphas["temperature"].n_unique() < 2:
        return ()
    # One level and one policy a figure: the first that has a value.
    keys = [*rest, "temperature"]
    alphas = in_order(alphas.unique(keys, keep="first", maintain_order=True), keys)
    parts = alphas.partition_by(rest, maintain_order=True) if rest else [alphas]
    hottest = float(alphas.select(pl.col("temperature").max()).item())
    scale = _Scale(low=max(-1.0, min(0.0, _least(alphas))), hottest=max(1.0, hottest))
    told = [name for name in rest if name == "judge" or alphas[name].n_unique() > 1]
    return tuple(_figure(part.to_dicts(), told, scale) for part in parts)


def _least(alphas: pl.DataFrame) -> float:
    """The lowest number drawn."""
    floor = pl.col("noise_floor") - _BAND * pl.col("noise_floor_sd")
    return float(alphas.select(pl.min_horizontal("value", "low", floor).min()).item())


def _figure(rows: Sequence[Row], rest: Sequence[str], scale: _Scale) -> str:
    """One figure with its caption and, for those who cannot see it, its numbers in words."""
    label = group_label(rows[0], rest) or "all judgments"
    told = "; ".join(f"temperature {cell(row['temperature'])}: {estimate(row)}" for row in rows)
    shapes = [*_axes(rows, scale), *_band(rows, scale), *_marks(rows, scale)]
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(f"Alpha against temperature, {label}. {told}")}">'
        f"{''.join(shapes)}</svg><figcaption>{escape(label)}</figcaption></figure>"
    )


def _axes(rows: Sequence[Row], scale: _Scale) -> Iterator[str]:
    """Lines at quarters of alpha, and the temperatures asked."""
    right = _WIDTH - _RIGHT
    for alpha in (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0):
        if alpha >= scale.low:
            y = scale.y(alpha)
            kind = "zero" if alpha == 0 else "grid"
            yield f'<line class="{kind}" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield _text(_LEFT - 9, y + 4, number(alpha, 2), "end")
    written = -_LABEL_WIDTH
    for row in rows:
        # 0.5 and 1 lie on each other where 10 was asked too: the second has its point alone.
        x = scale.x(row["temperature"])
        if x - written >= _LABEL_WIDTH:
            yield _text(x, _HEIGHT - 22, cell(row["temperature"]), "middle")
            written = x
    yield _text((_LEFT + right) / 2, _HEIGHT - 5, "temperature", "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    """A label."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _band(rows: Sequence[Row], scale: _Scale) -> Iterator[str]:
    """Where alpha would fall if verdicts did not depend on the question."""
    floors = [
        (scale.x(row["temperature"]), cast(float, row["noise_floor"]), _BAND * cast(float, sd))
        for row in rows
        if (sd := row["noise_floor_sd"]) is not None
    ]
    # A lone temperature still needs a band one can see.
    edges = [(x - 6, *rest) for x, *rest in floors[:1]] + floors
    edges += [(x + 6, *rest) for x, *rest in floors[-1:]]
    upper = [f"{x:.1f},{scale.y(mean + half) - 1:.1f}" for x, mean, half in edges]
    lower = [f"{x:.1f},{scale.y(mean - half) + 1:.1f}" for x, mean, half in reversed(edges)]
    if floors:
        yield f'<polygon class="band" points="{" ".join(upper + lower)}"/>'


def _marks(rows: Sequence[Row], scale: _Scale) -> Iterator[str]:
    """Points, hollow where they are noise, joined by a line, with their intervals."""
    points = [(scale.x(row["temperature"]), scale.y(row["value"])) for row in rows]
    for (x1, y1), (x2, y2) in pairwise(points):
        yield f'<line class="join" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
    for (x, y), row in zip(points, rows, strict=True):
        if row["low"] is not None:
            ends = f'y1="{scale.y(row["low"]):.1f}" y2="{scale.y(row["high"]):.1f}"'
            yield f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" {ends}/>'
        kind = "noise" if row["noise"] else "point"
        said = escape(f"temperature {cell(row['temperature'])}: {estimate(row)}")
        place = f'cx="{x:.1f}" cy="{y:.1f}" r="4"'
        yield f'<circle class="{kind}" {place}><title>{said}</title></circle>'
