"""Coefficients as functions of sums over units: one form for values, intervals and noise floors.

A coefficient of counts is computed in two steps: every unit gives a few terms, and the value
follows from the sums of the terms. So leaving one question out is a subtraction, and a thousand
reassignments of the verdicts are one array; nothing is computed twice, and nothing is resampled.

Shape suffixes: U = units, V = distinct values, T = terms; ``...`` = any leading batch axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.counts import checked_counts

Floats = NDArray[np.float64]


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
        computed on the logit scale); otherwise it is a share, and its interval stays in [0, 1].
    """

    name: str
    estimator: str
    terms: Callable[[Floats], Floats]
    value: Callable[[Floats], Floats]
    min_ratings: int = 2
    chance_corrected: bool = True

    def takes_part(self, counts_UV: Floats) -> NDArray[np.bool_]:
        """Mark the units that take part, shape (U,)."""
        enough: NDArray[np.bool_] = counts_UV.sum(axis=-1) >= self.min_ratings
        return enough


def measure(counts_UV: ArrayLike, statistic: CountStatistic) -> Coefficient:
    """Compute one coefficient: its value, or the reason why there is none.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic
        The coefficient, taken apart.

    Returns
    -------
    Coefficient
        ``undefined`` is "no_verdicts" where there are no ratings, "single_replication" where no
        unit has two, and "no_variance" where one value is all there is and chance cannot be told.

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
    counts = checked_counts(counts_UV, function=statistic.name)
    most = int(counts.sum(axis=1).max(initial=0))
    counts = counts[statistic.takes_part(counts)]
    value = float(statistic.value(statistic.terms(counts).sum(axis=-2)))
    n_ratings = counts.sum(axis=1)
    # Units with one rating may shape what chance is (AC1); only pairs are agreement.
    basis = n_ratings[n_ratings >= 2] if statistic.chance_corrected else n_ratings
    n_raters = int(basis.max(initial=0))
    undefined = None
    if np.isnan(value):
        undefined = {0: "no_verdicts", 1: "single_replication"}.get(most, "no_variance")
    return Coefficient(
        name=statistic.name,
        value=None if undefined else value,
        undefined=undefined,
        estimator=statistic.estimator,
        n_units=basis.size,
        n_raters=n_raters,
        n_ratings=int(basis.sum()),
        n_missing=basis.size * n_raters - int(basis.sum()),
    )


def divide(over: Floats, under: Floats) -> Floats:
    """Divide, giving NaN where `under` is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    quotient: Floats = np.full(np.shape(over), np.nan)
    np.divide(over, under, out=quotient, where=under != 0)
    return quotient
