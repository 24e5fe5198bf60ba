"""Counts of verdicts, and coefficients as functions of sums over units.

A table of counts says how often each unit received each value. A coefficient is computed of it in
two steps, the same for values, intervals and noise floors: every unit gives a few terms, and the
value follows from the sums of the terms. So leaving one question out is a subtraction, and a
thousand reassignments of the verdicts are one array; nothing is computed twice, nothing resampled.

Shape suffixes: U = units, R = raters (replications), V = distinct values, T = terms; ``...`` = any
leading batch axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod, NullMethod

Floats = NDArray[np.float64]
BLOCK = 1 << 17
"""Terms computed at once: 1 MB, which stays in a core's cache and takes a quarter of the time."""

_SHORT = 8  # stretches that are added slice by slice


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
    seen = [_rating_as_python_value(rating) for rating in ratings.ravel()[present]]
    named = _rating_values_sorted(set(seen)) if values is None else values
    columns = tuple(_rating_as_python_value(value) for value in named)
    place = {value: column for column, value in enumerate(columns)}
    if len(place) < len(columns):
        raise ValueError(f"counts_from_ratings: values must be distinct, got {columns!r}")
    unknown = set(seen) - place.keys()
    if unknown:
        raise ValueError(
            f"counts_from_ratings: ratings_UR must hold values of {columns!r}, got {unknown!r}"
        )
    units = np.repeat(np.arange(ratings.shape[0]), ratings.shape[1])[present]
    counts = np.zeros((ratings.shape[0], len(columns)), dtype=np.int64)
    np.add.at(counts, (units, [place[value] for value in seen]), 1)
    return Counts(counts, columns)


def checked_counts(counts_UV: ArrayLike, *, function: str) -> NDArray[np.float64]:
    """Read a table of counts as floats, refusing what is none."""
    table = np.asarray(counts_UV)
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2:
        raise ValueError(f"{function}: counts_UV must have 2 dimensions, got {counts.ndim}")
    if np.issubdtype(table.dtype, np.integer) and counts.min(initial=0) >= 0:
        return counts
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts % 1 == 0).all()):
        raise ValueError(f"{function}: counts_UV must hold whole numbers from 0 on")
    return counts


def _rating_as_python_value(rating: object) -> object:
    """The Python value of a NumPy scalar, anything else as it is."""
    return rating.item() if isinstance(rating, np.generic) else rating


def _rating_values_sorted(values: set[object]) -> tuple[object, ...]:
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
    parts = []
    for first in range(total + 1):
        rest = count_vectors(total - first, n_values - 1)
        parts.append(np.hstack([np.full((len(rest), 1), first), rest]))
    return np.vstack(parts)


def drawn_counts(
    counts_UV: NDArray[np.int64], n_U: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw so many of each unit's ratings without replacement, `size` times; shape (size, U, V)."""
    drawn = np.zeros((size, *counts_UV.shape), dtype=np.int64)
    wanted = np.broadcast_to(n_U, (size, len(n_U))).copy()
    left_U = counts_UV.sum(axis=1)
    for value in range(counts_UV.shape[1] - 1):
        good = counts_UV[:, value]
        left_U = left_U - good
        drawn[:, :, value] = rng.hypergeometric(good, left_U, wanted)
        wanted -= drawn[:, :, value]
    drawn[:, :, -1] = wanted
    return drawn


def refuse_few_categories(name: str, counts_UV: ArrayLike, n_categories: int | None) -> None:
    """Refuse fewer declared categories than values that occur (ValueError)."""
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
    interval_method, standard_error, no_interval, null_method, n_permutations
        How interval and noise floor were made where a function fills them, or why not.

    Raises
    ------
    ValueError
        If both or neither of `value` and `undefined` are set, or a number is not finite.

    Examples
    --------
    >>> Coefficient(name="percent_agreement", undefined="single_replication", estimator="pairs",
    ...             n_units=0).value is None
    True
    """

    name: str
    estimator: str
    n_units: int
    n_raters: int = 0
    n_ratings: int = 0
    n_missing: int = 0
    value: float | None = None
    low: float | None = None
    high: float | None = None
    noise_floor: float | None = None
    noise_floor_sd: float | None = None
    p_noise: float | None = None
    undefined: str | None = None
    interval_method: IntervalMethod | None = None
    standard_error: float | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeingPairs:
    """Where agreeing pairs enter a coefficient that permuting verdicts changes in nothing else."""

    place: int  # Index of the term they are part of.
    # What each ordered agreeing pair of a unit with m ratings (at least 2) adds to that term.
    weight: Callable[[int], Fraction]
    # Index of the first of the terms n_qv / m_q, one a value, where these enter it, too: permuting
    # changes their sums where units differ in their number of ratings.
    shares: int | None = None
    # Shape (n_values, n_values). What a pair of these values counts, where it is not 1 for equal
    # ones and 0 for others.
    distances_VV: Floats | None = None  # noqa: N815  a shape, not a case


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedTerm:
    """The one term of a coefficient that permuting verdicts at random changes."""

    # Numbers of ratings (S,), ascending, and totals of the values (V,), to the exact mean of the
    # term over all permutations, for a unit of each size (S,).
    mean: Callable[[NDArray[np.int64], NDArray[np.int64]], Floats]
    place: int = 1
    indicator: bool = False  # Whether it tells units whose verdicts agree (1) from others (0).


@dataclass(frozen=True, slots=True, kw_only=True)
class CountStatistic:
    """A coefficient of counts, taken apart.

    Attributes
    ----------
    name : str
        Name of the coefficient.
    estimator : str
        Which estimator, in words.
    terms : callable
        Counts (..., U, V) to terms (..., U, T).
    value : callable
        Sums of terms over units (..., T) to values (...); NaN where there is none.
    min_ratings : int
        Units with fewer ratings take no part.
    chance_corrected : bool
        Whether 0 is chance agreement (then the value may be negative, and its interval may be
        computed on the logit scale); otherwise it is a share, a mean of what lies in [0, 1], and
        its interval stays there. The first term of a share is how much a unit weighs in it.
    is_nominal_alpha : bool
        Whether it is 1 - (disagreement inside questions) / (that of all), of labels, but for what
        vanishes in large tables.
    min_units : int
        With fewer units taking part there is no value ("too_few_units").
    has_floor : bool
        Whether permuting the verdicts at random tells anything about it.
    most_permutations : int, optional
        Random permutations computed at most for its floor, where its terms are dear.
    of_moments : bool
        Whether its terms are of (number, sum, sum of squares) of each unit's scores, shape (U, 3),
        and not of counts.
    pairs : AgreeingPairs, optional
        Where agreeing pairs enter it, if it rests on nothing else.
    permuted : PermutedTerm, optional
        What permuting changes, if that is one term that is no sum over pairs.
    at_totals : callable, optional
        Totals of the values (V,) to the same coefficient of tables with these totals, in fewer
        terms.
    rests_on_minority : bool
        Whether chance is measured by the group's own verdicts, so that where one verdict dominates
        the few questions that go another way decide it.
    needs_replications : bool
        Whether few replications bias it, however many the questions.
    less_bias : bool
        Whether its bias is of the size of the sample alone, so that leaving questions out tells
        it: where it is large near chance, the interval is about the value less it.
    pooled : bool
        Whether it makes sense of all judgments of an item together, those in other orders and
        wordings among them: that is its reproducibility. If not, and it compares no two judgments
        either (``PAIR_COEFFICIENTS``), it is of one prompt alone: no gate passes on it where an
        item was asked in several.
    monotone : bool
        Whether it only falls, or only rises, as the verdicts of a unit spread: its worst and best
        case over missing verdicts are then those of two tables.
    less_is_better : bool
        Whether a tolerance on it is the most allowed, and a rise of it a loss.
    """

    name: str
    estimator: str
    terms: Callable[[Floats], Floats]
    value: Callable[[Floats], Floats]
    min_ratings: int = 2
    chance_corrected: bool = True
    is_nominal_alpha: bool = False
    min_units: int = 1
    has_floor: bool = True
    most_permutations: int | None = None
    of_moments: bool = False
    pairs: AgreeingPairs | None = None
    permuted: PermutedTerm | None = None
    at_totals: Callable[[Floats], CountStatistic] | None = None
    rests_on_minority: bool = False
    needs_replications: bool = False
    less_bias: bool = False
    pooled: bool = False
    monotone: bool = False
    less_is_better: bool = False

    def checked(self, units: ArrayLike, *, function: str) -> Floats:
        """Read the counts or moments it is of, refusing what is none (ValueError)."""
        if not self.of_moments:
            return checked_counts(units, function=function)
        moments = np.asarray(units, dtype=np.float64)
        if moments.ndim != 2 or moments.shape[1] != 3:
            raise ValueError(f"{function}: moments_U3 must have shape (n, 3), got {moments.shape}")
        n, total, squares = moments.T
        # Cauchy and Schwarz: no numbers have these sums otherwise, but for rounding.
        possible = n * squares >= total**2 * (1 - 1e-9)
        if not (np.isfinite(moments).all() and (n >= 0).all() and (n % 1 == 0).all()):
            raise ValueError(f"{function}: moments_U3 must be finite, with whole numbers of scores")
        if not possible.all():
            raise ValueError(f"{function}: moments_U3 must hold number, sum and sum of squares")
        return moments

    def n_ratings(self, units: Floats) -> Floats:
        """Count the ratings of each unit, shape (..., U)."""
        return units[..., 0] if self.of_moments else row_sums(units)

    def takes_part(self, units: Floats) -> NDArray[np.bool_]:
        """Mark the units that take part, shape (..., U)."""
        return self.n_ratings(units) >= self.min_ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class CountTable:
    """Counts of units, checked and summed once for several coefficients and their floors."""

    # Shape (n_units, n_values). How often each unit received each value; or what else a statistic
    # is of.
    counts_UV: Floats  # noqa: N815  a shape, not a case
    _sums: dict[tuple[Callable[[Floats], Floats], int], Floats] = field(
        default_factory=dict, repr=False
    )

    @classmethod
    def of(
        cls, units: ArrayLike | CountTable, statistic: CountStatistic, *, function: str
    ) -> CountTable:
        """Check units as a statistic asks (ValueError), unless that was done."""
        if isinstance(units, CountTable):
            return units
        return cls(counts_UV=statistic.checked(units, function=function))

    def total(self, statistic: CountStatistic) -> Floats:
        """Sum the terms of the units that take part."""
        key = statistic.terms, statistic.min_ratings
        if key not in self._sums:
            taking = statistic.takes_part(self.counts_UV)
            units = self.counts_UV if taking.all() else self.counts_UV[taking]
            self._sums[key] = term_sums(units, statistic)
        return self._sums[key]


def measure(counts_UV: ArrayLike | CountTable, statistic: CountStatistic) -> Coefficient:
    """Compute one coefficient: its value, or the reason why there is none.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values), or CountTable
        How often each unit received each value; or what else the statistic is of.
    statistic : CountStatistic
        The coefficient, taken apart.

    Returns
    -------
    Coefficient
        ``undefined`` is "no_verdicts" where there are no ratings, "single_replication" where no
        unit has two, "too_few_replications" where none has as many as the coefficient needs,
        "too_few_units" where too few units have them, and "no_variance" where one value is all
        there is and chance cannot be told (for icck also where all units have the same mean).

    Raises
    ------
    ValueError
        If `counts_UV` is no table of whole numbers from 0 on.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> measure([[2, 0], [1, 1]], count_statistic("percent_agreement", n_values=2)).value
    0.5
    """
    table = CountTable.of(counts_UV, statistic, function=statistic.name)
    n_ratings = statistic.n_ratings(table.counts_UV)
    most = int(n_ratings.max(initial=0))
    n_ratings = n_ratings[n_ratings >= statistic.min_ratings]
    value = float(statistic.value(table.total(statistic)))
    # Units with one rating may shape what chance is (AC1); only pairs are agreement.
    basis = n_ratings[n_ratings >= 2] if statistic.chance_corrected else n_ratings
    undefined = _undefined_reason(statistic, most, n_ratings.size) if np.isnan(value) else None
    return coefficient_of_units(
        statistic.name, statistic.estimator, basis, value=value, undefined=undefined
    )


def coefficient_of_units(
    name: str, estimator: str, n_ratings_U: NDArray[np.number], *, value: float | None,
    undefined: str | None,
) -> Coefficient:  # fmt: skip
    """Give a coefficient with the numbers of units that have so many ratings each."""
    n_ratings, n_raters = int(n_ratings_U.sum()), int(n_ratings_U.max(initial=0))
    return Coefficient(
        name=name,
        value=None if undefined else value,
        undefined=undefined,
        estimator=estimator,
        n_units=n_ratings_U.size,
        n_raters=n_raters,
        n_ratings=n_ratings,
        n_missing=n_ratings_U.size * n_raters - n_ratings,
    )


def _undefined_reason(statistic: CountStatistic, most: int, n_units: int) -> str:
    """Why a coefficient has no value, `most` being the most ratings any unit has."""
    if most < 2:
        return ("no_verdicts", "single_replication")[most]
    if most < statistic.min_ratings:
        return "too_few_replications"
    return "too_few_units" if n_units < statistic.min_units else "no_variance"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionTerms:
    """A number that follows from sums of terms over questions."""

    name: str
    # Shape (n_questions,). The questions by name, each once.
    questions_C: NDArray[np.generic]  # noqa: N815  a shape, not a case
    # Shape (n_questions, n_terms). What each question adds.
    terms_CT: Floats  # noqa: N815
    # Sums of terms (..., T) to values (...); NaN where there is none.
    value: Callable[[Floats], Floats]
    # What gave the terms their meaning: where it is the same object, the terms of a question may
    # stand in for those of another judge. None where they may not.
    layout: object = None
    # Shape (n_questions,). How much each weighs in what is a mean over them.
    weights_C: Floats | None = None  # noqa: N815

    def at(self, weights_BC: Floats) -> Floats:
        """Compute the value with these weights of the questions."""
        return self.value(weights_BC @ self.terms_CT)

    def left_out(self) -> Floats:
        """Compute the value without each question in turn."""
        total_T = self.terms_CT.sum(axis=0)
        some = slices(len(self.terms_CT), total_T.size)
        parts = [self.value(total_T - self.terms_CT[part]) for part in some]
        return np.concatenate(parts) if parts else np.empty(0)


def term_sums(units_UV: Floats, statistic: CountStatistic) -> Floats:
    """Sum terms over units, shape (T,)."""
    width = max(1, statistic.terms(units_UV[:0]).shape[-1])
    step = max(1, BLOCK // width)
    if len(units_UV) <= step:
        whole: Floats = statistic.terms(units_UV).sum(axis=0)
        return whole
    starts = range(0, len(units_UV), step)
    sums: Floats = np.sum(
        [statistic.terms(units_UV[start : start + step]).sum(axis=0) for start in starts], axis=0
    )
    return sums


def slices(n: int, width: int, cells: int = BLOCK) -> Iterator[slice]:
    """Part n rows of some width into slices that hold so many cells at most."""
    most = max(1, cells // max(1, width))
    return (slice(start, min(start + most, n)) for start in range(0, n, most))


def batches(n: int, width: int, cells: int) -> Iterator[int]:
    """Sizes of the parts of :func:`slices`: of draws, which need no places."""
    return (part.stop - part.start for part in slices(n, width, cells))


def row_sums(units: Floats) -> Floats:
    """Sum over the last axis: several times faster than ``sum`` where that is short."""
    sums: Floats = np.einsum("...v->...", units)
    return sums


def run_sums(values: Floats, starts: NDArray[np.intp], axis: int = -1) -> Floats:
    """Sum consecutive stretches along an axis, each from its start to the next.

    Short ones of one length are added slice by slice, in a tenth of the time that `reduceat` takes.

    Examples
    --------
    >>> run_sums(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 2])).tolist()
    [3.0, 7.0]
    """
    along = np.moveaxis(values, axis, 0)
    if not starts.size:
        return np.moveaxis(along[:0], 0, axis)
    length = max(1, len(along) // starts.size)
    even = len(along) % length == 0 and np.array_equal(starts, np.arange(0, len(along), length))
    if length > _SHORT or not even:
        return np.add.reduceat(values, starts, axis=axis)
    sums: Floats = along[::length].copy(order="K")
    for place in range(1, length):
        sums += along[place::length]
    return np.moveaxis(sums, 0, axis)


def stack_terms(*columns: Floats) -> Floats:
    """Lay terms out along a last axis, each of them in one piece.

    Sums over a short last axis, and of each term, are then ten times faster.
    """
    return np.moveaxis(np.stack(columns), 0, -1)


def divide(over: Floats, under: Floats) -> Floats:
    """Divide, giving NaN where `under` is 0."""
    quotient: Floats = np.full_like(over, np.nan, dtype=np.float64)  # keeps its layout
    np.divide(over, under, out=quotient, where=under != 0)
    return quotient


def row_means(table: Floats) -> Floats:
    """Average what each row holds, NaN left out; 0 where it holds nothing."""
    there = ~np.isnan(table)
    means: Floats = np.where(there, table, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return means
