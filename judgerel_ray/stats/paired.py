"""Two judges, temperatures or runs on the same questions: the difference of a coefficient.

Shape suffixes: U = units, V = distinct values, C = clusters (questions), M = comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.statistic import CountStatistic, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired difference, second minus first.

    Attributes
    ----------
    name : str
        Name of the coefficient.
    first, second : float or None
        Its values on the common questions.
    value : float or None
        Second minus first; None where `undefined` is set.
    standard_error, low, high : float or None
        By leaving questions out, with Student's t.
    p : float or None
        Two-sided, of no difference.
    p_equivalence : float or None
        Of a difference of `margin` or more either way (two one-sided tests); small is equivalent.
    p_beyond : float or None
        Of a difference of at most `margin`, two-sided: below 0.05 where the whole 95 % interval
        lies beyond it.
    margin : float or None
        Largest difference that does not matter.
    n_questions : int
        Common questions that take part.
    undefined : str or None
        "no_common_questions", "undefined_first", "undefined_second", "too_few_units",
        "depends_on_one_question"; "no_spread" where a value stands without interval and p, since
        all questions say the same.
    """

    name: str
    first: float | None = None
    second: float | None = None
    value: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_equivalence: float | None = None
    p_beyond: float | None = None
    margin: float | None = None
    n_questions: int = 0
    undefined: str | None = None


def paired_difference(
    first_UV: ArrayLike,
    second_UV: ArrayLike,
    statistic: CountStatistic,
    *,
    first_clusters_U: ArrayLike | None = None,
    second_clusters_U: ArrayLike | None = None,
    margin: float | None = None,
    confidence: float = 0.95,
) -> Difference:
    """Compare a coefficient of two sets of counts on their common questions.

    One question is left out of both at a time, so that what makes a question hard for either does
    not count as evidence of a difference.

    Parameters
    ----------
    first_UV, second_UV : array-like of int, shapes (n_units, n_values)
        How often each unit received each value; the columns mean the same in both.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    first_clusters_U, second_clusters_U : array-like, shapes (n_units,), optional
        The question of each unit, by one coding; by default the row. Questions that take part in
        only one of the two are left out.
    margin : float, optional
        Largest difference that does not matter, above 0; asks whether the two are equivalent.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Difference
        Or why there is none.

    Raises
    ------
    ValueError
        If the counts are no tables of whole numbers with the same columns, there is not one
        cluster a unit, the margin is not above 0, or the confidence is not in (0, 1).

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> first = [[2, 0], [1, 1], [0, 2], [1, 1]]
    >>> found = paired_difference(first, [[2, 0], [2, 0], [0, 2], [1, 1]], agreement)
    >>> found.first, found.second, found.value, round(found.p, 3)
    (0.5, 0.75, 0.25, 0.391)
    """
    name = "paired_difference"
    if not 0 < confidence < 1:
        raise ValueError(f"{name}: confidence must be between 0 and 1, got {confidence!r}")
    if margin is not None and not margin > 0:
        raise ValueError(f"{name}: margin must be above 0, got {margin!r}")
    first, first_clusters = _taking_part(first_UV, first_clusters_U, statistic)
    second, second_clusters = _taking_part(second_UV, second_clusters_U, statistic)
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{name}: counts must have the same columns, got {first.shape[1]}, {second.shape[1]}"
        )
    common = np.intersect1d(first_clusters, second_clusters)
    if not common.size:
        return Difference(name=statistic.name, margin=margin, undefined="no_common_questions")
    terms = [
        _cluster_terms(counts, clusters, common, statistic)
        for counts, clusters in ((first, first_clusters), (second, second_clusters))
    ]
    values = [float(statistic.value(one.sum(axis=0))) for one in terms]
    for value, side in zip(values, ("first", "second"), strict=True):
        if np.isnan(value):
            undefined = f"undefined_{side}"
            return Difference(
                name=statistic.name, margin=margin, undefined=undefined, n_questions=common.size
            )
    left_out_C = [statistic.value(one.sum(axis=0) - one) for one in terms]
    return _student(statistic.name, values, left_out_C[1] - left_out_C[0], margin, confidence)


def holm(p_M: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that any false finding among them stays rare (Holm's step-down).

    Parameters
    ----------
    p_M : sequence of float or None
        One p-value a comparison; None is no test and stays None.

    Returns
    -------
    tuple of float or None
        In the same order.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    .. [1] Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    3 x .01, then 2 x .03, then at least that:

    >>> holm([0.03, 0.01, None, 0.04])
    (0.06, 0.03, None, 0.06)
    """
    p, order = _ordered(p_M, function="holm")
    n = p.size
    adjusted = np.maximum.accumulate(p[order] * (n - np.arange(n)))
    return _given_back(p_M, adjusted, order)


def benjamini_hochberg(p_M: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that few of the findings are false (Benjamini and Hochberg's step-up).

    Parameters
    ----------
    p_M : sequence of float or None
        One p-value a comparison; None is no test and stays None.

    Returns
    -------
    tuple of float or None
        In the same order.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    .04, then min(.04, 3/2 x .03), then min(.04, 3 x .01):

    >>> benjamini_hochberg([0.03, 0.01, None, 0.04])
    (0.04, 0.03, None, 0.04)
    """
    p, order = _ordered(p_M, function="benjamini_hochberg")
    n = p.size
    scaled = p[order] * (n / np.arange(1, n + 1))
    return _given_back(p_M, np.minimum.accumulate(scaled[::-1])[::-1], order)


def _taking_part(
    counts_UV: ArrayLike, clusters_U: ArrayLike | None, statistic: CountStatistic
) -> tuple[Floats, NDArray[np.generic]]:
    """The units that take part, and their questions."""
    counts = checked_counts(counts_UV, function="paired_difference")
    clusters = np.arange(len(counts)) if clusters_U is None else np.asarray(clusters_U)
    if clusters.shape != counts.shape[:1]:
        raise ValueError(
            f"paired_difference: clusters must have shape ({len(counts)},), got {clusters.shape}"
        )
    taking = statistic.takes_part(counts)
    return counts[taking], clusters[taking]


def _cluster_terms(
    counts: Floats,
    clusters: NDArray[np.generic],
    common: NDArray[np.generic],
    statistic: CountStatistic,
) -> Floats:
    """Terms summed by common question, (C, T)."""
    shared = np.isin(clusters, common)
    terms = statistic.terms(counts[shared])
    summed: Floats = np.zeros((common.size, terms.shape[-1]))
    np.add.at(summed, np.searchsorted(common, clusters[shared]), terms)
    return summed


def _student(
    name: str, values: Sequence[float], left_out_C: Floats, margin: float | None, confidence: float
) -> Difference:
    """The difference with its t interval, test, and test of equivalence."""
    from scipy.special import stdtr, stdtrit

    n, (first, second) = left_out_C.size, values
    value = second - first
    known = Difference(
        name=name, first=first, second=second, value=value, margin=margin, n_questions=n
    )
    undefined = None
    if n < 2:
        undefined = "too_few_units"
    elif np.isnan(left_out_C).any():
        undefined = "depends_on_one_question"
    error = float(np.sqrt((n - 1) / n * ((left_out_C - left_out_C.mean()) ** 2).sum()))
    if undefined is None and error < 1e-9:
        undefined = "no_spread"
    if undefined:
        return _without_interval(known, undefined)
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    within = beyond = None
    if margin is not None:
        within = float(stdtr(n - 1, (abs(value) - margin) / error))
        beyond = min(1.0, float(2 * stdtr(n - 1, (margin - abs(value)) / error)))
    return Difference(
        name=name, first=first, second=second, value=value, margin=margin, n_questions=n,
        standard_error=error, low=value - half, high=value + half,
        p=float(2 * stdtr(n - 1, -abs(value) / error)), p_equivalence=within, p_beyond=beyond,
    )  # fmt: skip


def _without_interval(known: Difference, undefined: str) -> Difference:
    """The values as they are, and why there is nothing around them."""
    return Difference(
        name=known.name, first=known.first, second=known.second, value=known.value,
        margin=known.margin, n_questions=known.n_questions, undefined=undefined,
    )  # fmt: skip


def _ordered(p_M: Sequence[float | None], *, function: str) -> tuple[Floats, NDArray[np.intp]]:
    """The p-values there are, and their order from the smallest."""
    p = np.array([one for one in p_M if one is not None], dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{function}: p_M must be between 0 and 1, got {list(p_M)!r}")
    return p, np.argsort(p, kind="stable")


def _given_back(
    p_M: Sequence[float | None], adjusted: Floats, order: NDArray[np.intp]
) -> tuple[float | None, ...]:
    """Adjusted values, at most 1, where the p-values stood."""
    placed = np.empty(adjusted.size)
    placed[order] = np.minimum(adjusted, 1.0)
    values = iter(placed.tolist())
    return tuple(None if one is None else next(values) for one in p_M)
