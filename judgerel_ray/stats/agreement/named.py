"""A coefficient of counts, however it is given: taken apart, by name, or as its function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.agreement import count_statistic
from judgerel_ray.stats.agreement.krippendorff import Level, Values
from judgerel_ray.stats.counts.counts import Coefficient
from judgerel_ray.stats.counts.statistic import CountStatistic

Statistic = CountStatistic | str | Callable[..., Coefficient]
"""A coefficient of counts: taken apart, by name, or as the function that gives it."""


def named_statistic(
    statistic: Statistic,
    counts_UV: ArrayLike,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> CountStatistic:
    """Give a coefficient as sums over units, by name or function where one is given.

    Parameters
    ----------
    statistic : CountStatistic, str or callable
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`; or its name; or the
        function of counts that gives it, such as :func:`judgerel_ray.stats.krippendorff_alpha`,
        also with options bound by :func:`functools.partial`.
    counts_UV : array-like of int, shape (n_units, n_values)
        The counts it is wanted of.
    values, level, n_categories
        As of :func:`judgerel_ray.stats.count_statistic`; of a name or a function alone.

    Raises
    ------
    ValueError
        If the name is unknown, or options come with a CountStatistic.

    Examples
    --------
    >>> named_statistic("percent_agreement", [[2, 0], [1, 1]]).name
    'percent_agreement'
    """
    asked: dict[str, object] = {"values": values, "level": level, "n_categories": n_categories}
    if isinstance(statistic, CountStatistic):
        if asked != {"values": None, "level": "nominal", "n_categories": None}:
            raise ValueError(
                f"{statistic.name}: values, level and n_categories go with a name or a function, "
                "not with a CountStatistic"
            )
        return statistic
    name, bound = _name_and_options(statistic)
    asked |= {key: one for key, one in bound.items() if key in asked}
    shape = np.shape(counts_UV)
    if len(shape) != 2:
        raise ValueError(f"{name}: counts_UV must have 2 dimensions, got {len(shape)}")
    return count_statistic(name, n_values=shape[1], **asked)  # type: ignore[arg-type]


def _name_and_options(
    statistic: str | Callable[..., Coefficient],
) -> tuple[str, dict[str, object]]:
    """The name of a coefficient, and the options bound to its function."""
    if isinstance(statistic, str):
        return statistic, {}
    bound: dict[str, object] = {}
    while isinstance(statistic, partial):
        bound = {**statistic.keywords, **bound}
        statistic = statistic.func
    name = getattr(statistic, "__name__", None)
    if not callable(statistic) or not isinstance(name, str):
        raise ValueError(
            f"statistic must be a name, a function of counts or a CountStatistic, got {statistic!r}"
        )
    if name == "majority_stability":
        return f"{name}_{bound.get('k')}", bound
    return name, bound
