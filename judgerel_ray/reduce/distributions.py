"""From what engines found of verdicts to the distributions table, and how certain it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.scales import SCALE
from judgerel_ray.tables import LATER_COLUMNS, Distributions

PLACE = ("judge", "benchmark", "item_id", "template", "criterion", "option_order", *LATER_COLUMNS)
"""Columns that tell one prompt's distributions from another's."""
GROUP = ("judge", "benchmark", "temperature")
RATED = ("criterion", "definition", SCALE)
"""Columns that make groups of ratings, too."""
_NOISE = 1e-6


def distribution_table(found: Sequence[tuple[Mapping[str, object], str]]) -> pl.DataFrame:
    """Lay out verdict distributions, one verdict at one temperature a row.

    Parameters
    ----------
    found : sequence of (mapping, str)
        Columns of `PLACE` of each prompt (those that are not there are null), and what an engine
        found (the text of its completion; see ``engines.verdict_tree``).

    Returns
    -------
    DataFrame
        Of :class:`judgerel_ray.tables.Distributions`, in the order given.

    Examples
    --------
    >>> place = dict(judge="j", benchmark="b", item_id="q", template="t", criterion=None,
    ...              option_order=0)
    >>> text = json.dumps({"temperatures": [1.0], "verdicts": ["x", None], "low": [[0.75, 0.15]],
    ...                    "high": [[0.8, 0.2]], "estimate": None})
    >>> distribution_table([(place, text)])["probability"].round(4).to_list()
    [0.8, 0.2]
    """
    rows = []
    for place, text in found:
        content = json.loads(text)
        low_TV, high_TV = np.array(content["low"]), np.array(content["high"])
        for t, temperature in enumerate(content["temperatures"]):
            drawn = None if content["estimate"] is None else np.array(content["estimate"][t])
            guess = _guess(low_TV[t], high_TV[t], drawn)
            for v, verdict in enumerate(content["verdicts"]):
                rows.append(
                    {
                        **{name: place.get(name) for name in PLACE},
                        "temperature": temperature,
                        "verdict": verdict,
                        "probability": float(guess[v]),
                        "low": float(low_TV[t, v]),
                        "high": float(high_TV[t, v]),
                    }
                )
    frame = pl.DataFrame(rows, schema=Distributions.create_empty().schema)
    return Distributions.validate(frame)


def _guess(
    low_V: NDArray[np.float64], high_V: NDArray[np.float64], drawn_V: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """A distribution within the bounds: as drawn, else what is open shared as what is settled."""
    settled = low_V.sum()
    open_ = max(0.0, 1.0 - settled)
    if drawn_V is not None and not np.isnan(drawn_V).any():
        near = drawn_V
    else:
        near = low_V / settled if settled > 0 else high_V / high_V.sum()
    near = np.clip(near, low_V, high_V)
    # Clipping may leave a rest: it goes where there is room.
    for _ in range(low_V.size):
        rest = 1.0 - near.sum()
        room = (high_V - near) if rest > 0 else (near - low_V)
        if abs(rest) < _NOISE * 1e-3 or room.sum() <= 0 or open_ == 0:
            break
        near = np.clip(near + rest * room / room.sum(), low_V, high_V)
    guess: NDArray[np.float64] = near / near.sum()
    return guess


def distribution_groups(distributions: pl.DataFrame) -> tuple[str, ...]:
    """Name the columns of groups: judge, benchmark, what tells ratings apart, and temperature.

    Examples
    --------
    >>> distribution_groups(pl.DataFrame({"scale": ["points5"], "criterion": [None]}))
    ('judge', 'benchmark', 'scale', 'temperature')
    """
    rated = [
        name
        for name in RATED
        if name in distributions.columns and distributions[name].null_count() < distributions.height
    ]
    return (*GROUP[:-1], *rated, GROUP[-1])


def width_table(distributions: pl.DataFrame, *, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Tell how far apart the certain bounds on verdict probabilities are.

    Parameters
    ----------
    distributions : DataFrame
        Of :class:`judgerel_ray.tables.Distributions`.
    by : sequence of str, optional
        Columns of the groups; by default those of :func:`distribution_groups`.

    Returns
    -------
    DataFrame
        One row a group, in probability: ``mean_width`` and ``largest_width`` of a verdict's bounds,
        ``mean_open`` and ``largest_open`` (what is left open of a prompt), over ``n_questions``, of
        which in ``n_settled`` no verdict but one can be the most probable, however the rest falls.

    Examples
    --------
    >>> width_table(distribution_table([])).height
    0
    """
    by = distribution_groups(distributions) if by is None else by
    units = [name for name in (*PLACE, "temperature") if name not in by]
    width = pl.col("high") - pl.col("low")
    best = pl.col("low").arg_max()
    others = pl.col("high").gather(pl.int_range(pl.len()).filter(pl.int_range(pl.len()) != best))
    prompts = distributions.group_by(*by, *units, maintain_order=True).agg(
        mean_width=width.mean(),
        largest_width=width.max(),
        open=(1 - pl.col("low").sum()).clip(lower_bound=0.0),
        settled=(pl.col("low").max() > others.max()).fill_null(value=True),
    )
    return (
        prompts.group_by(*by, maintain_order=True)
        .agg(
            n_questions=pl.col("item_id").n_unique().cast(pl.Int64),
            mean_width=pl.col("mean_width").mean(),
            largest_width=pl.col("largest_width").max(),
            mean_open=pl.col("open").mean(),
            largest_open=pl.col("open").max(),
            n_settled=pl.col("item_id").filter(pl.col("settled")).n_unique().cast(pl.Int64),
        )
        .sort(*by, maintain_order=True)
    )
