"""Intervals: by question, because the replications of one question are no independent evidence.

Shape suffixes: U = units, V = distinct values, C = clusters (questions), T = terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.concentration import effective_questions, n_distinct
from judgerel_ray.stats.ends import ends_less_bias, student_ends
from judgerel_ray.stats.precision import t_quantile
from judgerel_ray.stats.statistic import BLOCK, CountStatistic, Floats, row_sums, term_sums

_SOME = 10_000  # units looked at first
_HELD = 5_000_000  # counts whose terms are held, and not computed again
_FEW = 10
_BIAS = 0.25  # of the standard error: coverage of .95 is then still .94
_REPLICATIONS = 20  # an entropy's bias falls with them, its error with the questions
_MINORITY = 5  # below it coverage falls to .63, from it on it holds (docs/coverage.md)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Two ends, or why there are none.

    Attributes
    ----------
    low, high : float or None
        The ends; both None where `undefined` is set.
    method : str
        How it was made, in words.
    undefined : str or None
        "undefined" where the coefficient is, "too_few_units" below two questions, "no_spread" where
        all questions say the same, "depends_on_one_question" where leaving one out leaves none.
    n_questions : int
        Questions left out in turn, or trials.
    few_informative : bool
        Whether fewer than ten questions show any disagreement, or fewer than ten any agreement; or,
        of a coefficient whose chance the group's own verdicts measure (alpha, Fleiss, ICC), fewer
        than five have another commonest verdict than most questions have. Coverage may then be far
        below its nominal value.
    biased : bool
        Whether the value is off by more than a quarter of its standard error, as leaving questions
        out shows (Fleiss' kappa near chance) or few replications make sure of (entropy).
    n_effective : float or None
        Of scores: among how many questions the variance between them is shared
        (:func:`judgerel_ray.stats.concentration.effective_questions`); below five is few.
    """

    low: float | None = None
    high: float | None = None
    method: str = ""
    undefined: str | None = None
    n_questions: int = 0
    few_informative: bool = False
    biased: bool = False
    n_effective: float | None = None


def jackknife_interval(
    counts_UV: ArrayLike,
    statistic: CountStatistic,
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Compute an interval by leaving one question out at a time, with Student's t.

    For chance-corrected coefficients in (0, 1) the logit scale is used (the standard error divided
    by ``value * (1 - value)``), but only where the plain interval excludes 0: on the logit scale 0
    could never be covered. A share whose plain interval reaches beyond 0 or 1 ends there, its other
    end the outer one of both scales. Fleiss' kappa, where marked biased and the plain interval does
    not exclude 0, has it about the value less that bias, and 0 stays in. `method` says which it is.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1] for shares, at most 1 otherwise; or why there is none.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, there is not one cluster a unit, or the
        confidence is not in (0, 1).

    Notes
    -----
    O(U T) for T terms of a unit. Coverage is near nominal from about 20 questions with even base
    rates, and below it with few questions or a verdict that dominates.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> found = jackknife_interval([[2, 0], [1, 1], [0, 2], [2, 0]], agreement)
    >>> found.low, found.high, found.method
    (0.0, 1.0, 'jackknife-t over 4 questions')
    """
    if not 0 < confidence < 1:
        raise ValueError(
            f"jackknife_interval: confidence must be between 0 and 1, got {confidence!r}"
        )
    counts = statistic.checked(counts_UV, function="jackknife_interval")
    clusters = np.arange(len(counts)) if clusters_U is None else np.asarray(clusters_U)
    if clusters.shape != counts.shape[:1]:
        raise ValueError(
            f"jackknife_interval: clusters_U must have shape ({len(counts)},), got {clusters.shape}"
        )
    counts, clusters = by_cluster(counts, clusters, statistic)
    parts: Iterable[Floats] = cluster_terms(counts, clusters, statistic)
    if 0 < counts.size <= _HELD:
        parts = [*parts]
        total = np.sum([terms.sum(axis=0) for terms in parts], axis=0)
    else:
        total = term_sums(counts, statistic)
    value = float(statistic.value(total))
    if np.isnan(value):
        return Interval(undefined="undefined")
    left_out_C = np.concatenate([statistic.value(total - terms) for terms in parts])
    found = student_interval(
        value, left_out_C, confidence, chance_corrected=statistic.chance_corrected,
        less_bias=statistic.less_bias,
    )  # fmt: skip
    return found if found.undefined else flagged(found, counts, clusters, statistic)


def clopper_pearson(k: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Compute the exact interval of a share, for independent trials: one row a question.

    Parameters
    ----------
    k, n : int
        Successes and trials.
    confidence : float
        Least coverage, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1]; ``undefined`` is "too_few_units" where n is 0.

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not in (0, 1).

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> found = clopper_pearson(431, 600)
    >>> round(found.low, 6), round(found.high, 6)
    (0.680493, 0.754009)
    """
    from scipy.special import betaincinv

    if not 0 <= k <= n:
        raise ValueError(f"clopper_pearson: k must be between 0 and n={n}, got {k}")
    if not 0 < confidence < 1:
        raise ValueError(f"clopper_pearson: confidence must be between 0 and 1, got {confidence!r}")
    if n == 0:
        return Interval(undefined="too_few_units")
    tail = (1 - confidence) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    method = f"Clopper-Pearson over {n} questions"
    return Interval(low=low, high=high, method=method, n_questions=n)


def by_cluster(
    counts: Floats, clusters: NDArray[np.generic], statistic: CountStatistic
) -> tuple[Floats, NDArray[np.intp]]:
    """Sort the units that take part by their cluster, clusters numbered from 0 on.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> units, clusters = by_cluster(np.array([[2.0, 0], [0, 2], [1, 0]]), np.array([7, 3, 3]),
    ...                              agreement)
    >>> units.tolist(), clusters.tolist()
    ([[0.0, 2.0], [2.0, 0.0]], [0, 1])
    """
    taking = statistic.takes_part(counts)
    if not taking.all():
        counts, clusters = np.asfortranarray(counts[taking]), clusters[taking]
    if np.issubdtype(clusters.dtype, np.integer) and len(counts):
        further = np.diff(clusters)
        if (further >= 0).all():
            return counts, np.concatenate([[0], np.cumsum(further > 0)])
    number = np.unique(clusters, return_inverse=True)[1]
    order = np.argsort(number, kind="stable")
    return counts[order], number[order]


def cluster_terms(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> Iterator[Floats]:
    """Sum terms by cluster, (clusters of a chunk, T) at a time; units are sorted by cluster.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> [terms.tolist() for terms in cluster_terms(np.array([[2.0, 0], [1, 1]]), np.array([0, 0]),
    ...                                            agreement)]
    [[[2.0, 1.0]]]
    """
    width = max(1, statistic.terms(counts[:0]).shape[-1])
    if clusters.size and clusters[-1] == len(clusters) - 1:  # one unit a question
        step = max(1, BLOCK // width)
        for start in range(0, len(counts), step):
            yield statistic.terms(counts[start : start + step])
        return
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    chunk = np.cumsum(np.diff(starts, append=len(clusters))) * width // BLOCK
    for index in np.unique(chunk):
        mine = starts[chunk == index]
        after = np.searchsorted(starts, mine[-1], side="right")
        stop = starts[after] if after < starts.size else len(clusters)
        yield np.add.reduceat(statistic.terms(counts[mine[0] : stop]), mine - mine[0], axis=0)


def student_interval(
    value: float, left_out_C: Floats, confidence: float, *, chance_corrected: bool,
    less_bias: bool = False,
) -> Interval:  # fmt: skip
    """Compute the t interval from delete-one values, on the logit scale where that may be.

    With `less_bias` it is about the value less its bias where that is large and 0 is near.

    Examples
    --------
    >>> found = student_interval(0.1, np.array([0.0, 0.1, 0.2]), 0.95, chance_corrected=True)
    >>> round(found.low, 3), round(found.high, 3)
    (-0.397, 0.597)
    """
    n = left_out_C.size
    if n < 2:
        return Interval(undefined="too_few_units", n_questions=n)
    if np.isnan(left_out_C).any():
        return Interval(undefined="depends_on_one_question", n_questions=n)
    error = float(np.sqrt((n - 1) / n * ((left_out_C - left_out_C.mean()) ** 2).sum()))
    half = t_quantile(n - 1, confidence) * error
    if half < 1e-9:
        return Interval(undefined="no_spread", n_questions=n)
    bias = float((n - 1) * (left_out_C.mean() - value))
    biased = abs(bias) > _BIAS * error
    if biased and less_bias and value - half <= 0:
        low, high, words = ends_less_bias(value, half, bias)
    else:
        low, high, words = student_ends(value, half, chance_corrected=chance_corrected)
    words = f"jackknife-t over {n} questions{words}"
    return Interval(low=low, high=high, method=words, n_questions=n, biased=biased)


def flagged(
    found: Interval, counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> Interval:
    """Mark an interval that few questions carry, or that few replications move.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> flagged(Interval(), np.array([[1.0, 1.0]]), np.array([0]), agreement).few_informative
    True
    """
    if statistic.needs_replications:
        unsteady = np.median(row_sums(counts)) < max(_REPLICATIONS, n_distinct(clusters))
        found = replace(found, biased=found.biased or bool(unsteady))
    found = replace(found, n_effective=effective_questions(counts, clusters, statistic))
    # Questions are but added: where some of them are enough, so are all.
    few = _rests_on_few(counts[:_SOME], clusters[:_SOME], statistic)
    if few and len(counts) > _SOME:
        few = _rests_on_few(counts, clusters, statistic)
    return replace(found, few_informative=few)


def _rests_on_few(counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic) -> bool:
    """Whether few questions tell agreement from disagreement, or have a verdict of the minority."""
    if statistic.of_moments:  # scores have no agreement to lack
        m, total, squares = counts.T
        return n_distinct(clusters[m * squares > total**2 * (1 + 1e-9)]) < _FEW
    most = counts.max(axis=1, initial=0.0)
    disagreeing = n_distinct(clusters[most < row_sums(counts)])
    agreeing = n_distinct(clusters[most > 1])
    # Where distances count, scores that are never the same may yet be near.
    of_distances = statistic.at_totals is not None or (
        statistic.pairs is not None and statistic.pairs.distances_VV is not None
    )
    informative = disagreeing if of_distances else min(disagreeing, agreeing)
    if informative >= _FEW and statistic.rests_on_minority:
        elsewhere_UV = counts < most[:, None]  # another verdict is commoner in this unit
        minority = min(n_distinct(clusters[elsewhere_U]) for elsewhere_U in elsewhere_UV.T)
        return minority < _MINORITY
    return informative < _FEW
