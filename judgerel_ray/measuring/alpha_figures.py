"""Alpha against temperature: points, intervals, and the band that noise would fill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.charts import in_two
from judgerel_ray.blocks.columns import in_order
from judgerel_ray.blocks.words import Row, cell, estimate, group_columns, group_label, number
from judgerel_ray.counting.verdicts.policy import REPRODUCIBILITY
from judgerel_ray.measuring.lead_codes import first_of_groups

_BAND = 1.96  # standard deviations on either side: where 95 % of noise falls
_ALPHAS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
_ROW, _TALL = 20.0, 32.0  # height of a line in a figure, and where a name has two
MOST_LINES = 24
"""Groups that a figure of groups has room for."""
_ALONE = 0.025  # of the axis on either side, so that a lone temperature's band can be seen


def alpha_charts(coefficients: pl.DataFrame) -> tuple[Figure, ...]:
    """Draw alpha against temperature, one figure a judge, benchmark and what else makes a group.

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
    start, hottest = max(-1.0, min(0.0, _lowest_alpha_drawn(alphas))), max(1.0, hottest)
    varying = [name for name in rest if name == "judge" or alphas[name].n_unique() > 1]
    return tuple(_alpha_figure_of_part(part, varying, start, hottest) for part in parts)


def floor_figure(coefficients: pl.DataFrame) -> list[Figure]:
    """Draw what leads of alpha in every group, with its noise floor: one figure, a line a group.

    There is none where alpha is defined nowhere, and the first `MOST_LINES` groups are drawn where
    there are more.

    Examples
    --------
    >>> floor_figure(pl.DataFrame({"coefficient": ["valid_rate"]}))
    []
    """
    columns = [*group_columns(coefficients)]
    firsts = first_of_groups(coefficients, "krippendorff_alpha")
    if firsts.is_empty():
        return []
    rows = firsts.filter(pl.col("value").is_not_null()).to_dicts()
    if not rows:
        return []
    varying = [name for name in columns if name == "judge" or firsts[name].n_unique() > 1]
    known = {row["conditions"] for row in rows}
    what = known.pop().capitalize() if len(known) == 1 else "Agreement"
    lines = [
        (_alpha_figure_line_name(row, varying, several=bool(known)), row)
        for row in rows[:MOST_LINES]
    ]
    left = len(rows) - len(lines)
    label = f"the first {len(lines)} of {len(rows)} groups" if left else "every judge"
    return [row_figure(lines, title=f"{what} (alpha) and its noise floor", label=label)]


def _alpha_figure_line_name(row: Row, columns: Sequence[str], *, several: bool) -> str:
    """What a line is called; and what is compared, where that differs."""
    label = group_label(row, columns) or "all judgments"
    return f"{label} ({row['conditions']})" if several else label


def _lowest_alpha_drawn(alphas: pl.DataFrame) -> float:
    """The lowest number drawn."""
    floor = pl.col("noise_floor") - _BAND * pl.col("noise_floor_sd")
    return float(alphas.select(pl.min_horizontal("value", "low", floor).min()).item())


def _alpha_figure_of_part(
    part: pl.DataFrame, rest: Sequence[str], start: float, hottest: float
) -> Figure:
    """One figure with its caption and, for those who cannot see it, its numbers in words."""
    rows = part.to_dicts()
    texts = [f"temperature {cell(row['temperature'])}: {estimate(row)}" for row in rows]
    drawn = part.select(
        *("temperature", "value", "low", "high", "noise"), label=pl.Series(texts, dtype=pl.String)
    ).rename({"value": "alpha"})
    label = group_label(rows[0], rest) or "all judgments"
    return Figure(
        title=f"Alpha against temperature, {label}",
        description="; ".join(texts),
        caption=label,
        x=Axis(title="temperature", end=hottest, values=drawn["temperature"].to_list()),
        y=Axis(
            title="alpha", start=start, values=[a for a in _ALPHAS if a >= start], grid=True
        ),
        marks=[
            Mark(shape="area", style="band", data=_band(part, hottest), x="temperature",
                 y="noise_low", y2="noise_high"),
            Mark(shape="line", style="join", data=drawn, x="temperature", y="alpha"),
            Mark(shape="rule", style="interval", data=drawn, x="temperature", y="low", y2="high"),
            Mark(shape="point", style="point", data=drawn, x="temperature", y="alpha",
                 label="label", hollow="noise"),
        ],
    )  # fmt: skip


def _band(part: pl.DataFrame, hottest: float) -> pl.DataFrame:
    """Where alpha would fall if verdicts did not depend on the question."""
    half = _BAND * pl.col("noise_floor_sd")
    found = part.select(
        "temperature",
        noise_low=pl.col("noise_floor") - half,
        noise_high=pl.col("noise_floor") + half,
    ).drop_nulls()
    around = pl.col("temperature") + pl.lit(_ALONE * hottest)
    before = pl.col("temperature") - pl.lit(_ALONE * hottest)
    return pl.concat(
        [found.head(1).with_columns(before), found, found.tail(1).with_columns(around)]
    )


def row_figure(lines: Sequence[tuple[str, Row]], *, title: str, label: str) -> Figure:
    """Draw alpha a line each: its interval, the band of noise, and the ceiling where there is.

    Examples
    --------
    >>> row = {"value": 0.7, "low": 0.6, "high": 0.8, "noise_floor": 0.0, "noise_floor_sd": 0.05,
    ...        "noise": False, "undefined": None}
    >>> row_figure([("calm", row)], title="Alpha", label="all").description
    'calm: 0.700 [0.600, 0.800]'
    """
    start = max(-1.0, min(0.0, *(_lowest_alpha_on_line(row) for _, row in lines)))
    drawn = _row_frame(lines)
    floors = drawn.drop_nulls("noise_low")
    return Figure(
        title=f"{title}, {label}",
        description="; ".join(f"{name}: {_value_text(row)}" for name, row in lines),
        caption=label,
        x=Axis(title="alpha", start=start, values=[q for q in _ALPHAS if q >= start], grid=True),
        y=Axis(start=len(lines), end=0, shown=False),
        width=206,
        height=len(lines) * (_TALL if any(len(in_two(name)) > 1 for name, _ in lines) else _ROW),
        marks=[
            Mark(shape="text", style="name_before", data=drawn, y="row", label="name"),
            *(
                Mark(shape="bar", style="band", data=floors, x="noise_low", x2="noise_high",
                     y="row")
                for _ in floors.head(1).rows()
            ),
            Mark(shape="rule", style="stated", data=drawn, x="ceiling", y="above", y2="below"),
            Mark(shape="rule", style="interval", data=drawn, x="low", x2="high", y="row"),
            Mark(shape="point", style="point", data=drawn, x="alpha", y="row", label="label",
                 hollow="noise"),
        ],
    )  # fmt: skip


def _row_frame(lines: Sequence[tuple[str, Row]]) -> pl.DataFrame:
    """What stands on each line."""
    numbers = ("row", "above", "below", "alpha", "low", "high", "ceiling", "noise_low",
               "noise_high")  # fmt: skip
    kinds = dict.fromkeys(numbers, pl.Float64())
    words = {"name": pl.String(), "label": pl.String(), "noise": pl.Boolean()}
    rows = []
    for place, (name, row) in enumerate(lines):
        floor, half = (
            _alpha_row_number(row, "noise_floor", 0.0),
            _BAND * _alpha_row_number(row, "noise_floor_sd", 0.0),
        )
        ends = [None, None] if row["noise_floor"] is None else [floor - half, floor + half]
        rows.append(
            {
                "row": place + 0.5, "above": place + 0.1, "below": place + 0.9,
                "alpha": row["value"], "low": row["low"], "high": row["high"],
                "ceiling": row.get("ceiling"), "noise_low": ends[0], "noise_high": ends[1],
                "name": name, "label": f"{name}: {_value_text(row)}", "noise": bool(row["noise"]),
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema={**kinds, **words})


def _lowest_alpha_on_line(row: Row) -> float:
    """The lowest number drawn on a line."""
    floor = _alpha_row_number(row, "noise_floor", 0.0) - _BAND * _alpha_row_number(
        row, "noise_floor_sd", 0.0
    )
    return min(_alpha_row_number(row, "low", 0.0), _alpha_row_number(row, "value", 0.0), floor)


def _value_text(row: Row) -> str:
    """A value with its interval, and its ceiling where there is one."""
    ceiling = row.get("ceiling")
    return estimate(row) + ("" if ceiling is None else f", ceiling {number(ceiling)}")


def _alpha_row_number(row: Row, name: str, otherwise: float) -> float:
    """A number of a row, or another where there is none."""
    value = row[name]
    return otherwise if value is None else cast(float, value)
