"""Counts: how often each unit received each value. The sufficient statistic of agreement.

A coefficient of them is a value: what it is, what it rests on, or why there is none.

Shape suffixes: U = units, R = raters (replications), V = distinct values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod, NullMethod


class Counts(NamedTuple):
    """A table of counts and the value each column stands for."""

    counts_UV: NDArray[np.int64]  # noqa: N815  a shape, not a case
    values: tuple[object, ...]


def counts_from_ratings(
    ratings_UR: ArrayLike | Sequence[Sequence[object]], *, values: Sequence[object] | None = None
) -> Counts:
    """Count the values each unit received.

    Parameters
    ----------
    ratings_UR : array-like, shape (n_units, n_raters)
        One row a unit, one column a rater; numbers or strings. NaN or None is a missing rating.
    values : sequence, optional
        The values of the columns, in that order; by default those that occur, sorted.

    Returns
    -------
    Counts
        ``counts_UV`` of shape (n_units, n_values), and ``values``.

    Raises
    ------
    ValueError
        If the ratings are not two-dimensional, are of kinds that cannot be ordered while `values`
        is not given, or hold a value that `values` lacks, or `values` repeats one.

    Examples
    --------
    >>> counts, values = counts_from_ratings([["A", "A", "B"], ["B", None, "B"]])
    >>> values, counts.tolist()
    (('A', 'B'), [[2, 1], [0, 2]])
    """
    ratings = np.asarray(ratings_UR, dtype=object)
    if ratings.ndim != 2:
        raise ValueError(
            f"counts_from_ratings: ratings_UR must have 2 dimensions, got {ratings.ndim}"
        )
    # NaN is the one value that differs from itself.
    present = np.array([r is not None and r == r for r in ratings.ravel()], dtype=bool)
    seen = [_plain(rating) for rating in ratings.ravel()[present]]
    columns = _sorted(set(seen)) if values is None else tuple(_plain(value) for value in values)
    place = {value: column for column, value in enumerate(columns)}
    if len(place) < len(columns):
        raise ValueError(f"counts_from_ratings: values must be distinct, got {columns!r}")
    strangers = set(seen) - place.keys()
    if strangers:
        raise ValueError(
            f"counts_from_ratings: ratings_UR must hold values of {columns!r}, got {strangers!r}"
        )
    units = np.repeat(np.arange(ratings.shape[0]), ratings.shape[1])[present]
    counts = np.zeros((ratings.shape[0], len(columns)), dtype=np.int64)
    np.add.at(counts, (units, [place[value] for value in seen]), 1)
    return Counts(counts, columns)


def checked_counts(counts_UV: ArrayLike, *, function: str) -> NDArray[np.float64]:
    """Read a table of counts as floats, refusing what is none.

    Raises
    ------
    ValueError
        If it is not two-dimensional or not made of whole numbers from 0 on.

    Examples
    --------
    >>> checked_counts([[2, 1]], function="percent_agreement").shape
    (1, 2)
    """
    given = np.asarray(counts_UV)
    counts = np.asarray(given, dtype=np.float64)
    if counts.ndim != 2:
        raise ValueError(f"{function}: counts_UV must have 2 dimensions, got {counts.ndim}")
    if np.issubdtype(given.dtype, np.integer) and counts.min(initial=0) >= 0:
        return counts
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts % 1 == 0).all()):
        raise ValueError(f"{function}: counts_UV must hold whole numbers from 0 on")
    return counts


def _plain(rating: object) -> object:
    """The Python value of a NumPy scalar, anything else as it is."""
    return rating.item() if isinstance(rating, np.generic) else rating


def _sorted(values: set[object]) -> tuple[object, ...]:
    """The values in their natural order."""
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError as error:
        raise ValueError(
            f"counts_from_ratings: ratings_UR must hold values of one kind, got {values!r}"
        ) from error


def count_vectors(total: int, n_values: int) -> NDArray[np.int64]:
    """List all vectors of whole numbers that sum to a total, shape (vectors, n_values).

    Examples
    --------
    >>> count_vectors(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if n_values == 0:
        return np.zeros((int(total == 0), 0), dtype=np.int64)
    if n_values == 1:
        return np.array([[total]], dtype=np.int64)
    return np.vstack(
        [
            np.hstack([np.full((len(rest), 1), first), rest])
            for first in range(total + 1)
            for rest in [count_vectors(total - first, n_values - 1)]
        ]
    )


def refuse_few_categories(name: str, counts_UV: ArrayLike, n_categories: int | None) -> None:
    """Refuse fewer declared categories than values that occur (ValueError).

    Examples
    --------
    >>> refuse_few_categories("gwet_ac1", [[2, 1, 0]], 2)
    >>> refuse_few_categories("gwet_ac1", [[2, 1, 1]], 2)
    Traceback (most recent call last):
    ...
    ValueError: gwet_ac1: n_categories is 2, but 3 different values occur
    """
    if n_categories is None or np.ndim(counts_UV) != 2:
        return
    occurring = int((np.asarray(counts_UV, dtype=np.float64) > 0).any(axis=0).sum())
    if 1 <= n_categories < occurring:
        raise ValueError(
            f"{name}: n_categories is {n_categories}, but {occurring} different values occur"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient of one group of judgments.

    Exactly one of `value` and `undefined` is set: no coefficient is ever NaN, and none is 1 or 0
    for want of data. Statistics fill the value and the counts; reducers fill the interval and the
    noise floor with :func:`judgerel_ray.stats.jackknife_interval` and
    :func:`judgerel_ray.stats.noise_floor`.

    Attributes
    ----------
    name : str
        Name of the coefficient, as in ``COEFFICIENTS``.
    value : float or None
        Dimensionless.
    low, high : float or None
        Ends of the interval.
    noise_floor, noise_floor_sd, p_noise : float or None
        Mean and standard deviation under the null of the coefficient, and the share of that null
        at least as extreme as `value`.
    n_units : int
        Units that take part (for agreement: those with two ratings or more).
    n_raters : int
        Most ratings of any unit that takes part.
    n_ratings : int
        Ratings of the units that take part.
    n_missing : int
        Ratings missing among them: ``n_units * n_raters - n_ratings``.
    estimator : str
        Which estimator, in words.
    undefined : str or None
        Why there is no value.
    interval_method, no_interval, null_method, n_permutations
        How interval and noise floor were made where a function fills them, or why not.

    Raises
    ------
    ValueError
        If both or neither of `value` and `undefined` are set, or a number is not finite.

    Examples
    --------
    >>> Coefficient(name="percent_agreement", undefined="single_replication", estimator="pairs",
    ...             n_units=0, n_raters=0, n_ratings=0, n_missing=0).value is None
    True
    """

    name: str
    estimator: str
    n_units: int
    n_raters: int
    n_ratings: int
    n_missing: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    noise_floor: float | None = None
    noise_floor_sd: float | None = None
    p_noise: float | None = None
    undefined: str | None = None
    interval_method: IntervalMethod | None = None
    no_interval: str | None = None
    null_method: NullMethod | None = None
    n_permutations: int = 0

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None):
            raise ValueError(
                f"Coefficient: exactly one of value and undefined must be set, "
                f"got {self.value!r} and {self.undefined!r}"
            )
        numbers = (self.value, self.low, self.high, self.noise_floor, self.noise_floor_sd)
        if not all(math.isfinite(number) for number in (*numbers, self.p_noise) if number):
            raise ValueError(f"Coefficient: numbers must be finite, got {self!r}")
