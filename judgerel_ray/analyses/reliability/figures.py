"""Alpha against temperature: points, intervals, and the band that noise would fill."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.ordering import in_order
from judgerel_ray.blocks.words import cell, estimate, group_columns, group_label
from judgerel_ray.counting.verdicts.policy import REPRODUCIBILITY

_BAND = 1.96  # standard deviations on either side: where 95 % of noise falls
_ALPHAS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
_ALONE = 0.025  # of the axis on either side, so that a lone temperature's band can be seen


def alpha_charts(coefficients: pl.DataFrame) -> tuple[Figure, ...]:
    """Draw alpha against temperature, one figure a judge, benchmark and what else makes a group.

    Parameters
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.analyses.reliability.reliability.reduce_judgments`.

    Returns
    -------
    tuple of Figure
        None where alpha is not defined at two temperatures at least.

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
    start, hottest = max(-1.0, min(0.0, _least(alphas))), max(1.0, hottest)
    varying = [name for name in rest if name == "judge" or alphas[name].n_unique() > 1]
    return tuple(_figure(part, varying, start, hottest) for part in parts)


def _least(alphas: pl.DataFrame) -> float:
    """The lowest number drawn."""
    floor = pl.col("noise_floor") - _BAND * pl.col("noise_floor_sd")
    return float(alphas.select(pl.min_horizontal("value", "low", floor).min()).item())


def _figure(part: pl.DataFrame, rest: Sequence[str], start: float, hottest: float) -> Figure:
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
