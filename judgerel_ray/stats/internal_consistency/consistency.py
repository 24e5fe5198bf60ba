"""Coefficients of distinct items from many covariance matrices at once, by name.

Intervals need the values of thousands of resamples of the subjects: one matrix product gives the
moments of all, and one fit the omega of all. The noise floor permutes each item's scores over the
subjects.

Shape suffixes: N = subjects, K = items, B = matrices, C = clusters (questions), P = products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.arguments import (
    check_at_least_1,
    check_choice,
    check_fraction,
    clusters_of,
    scores_of,
)
from judgerel_ray.stats.counts import Floats, QuestionTerms, divide
from judgerel_ray.stats.internal_consistency.minres import one_factor_minres, two_item_loadings
from judgerel_ray.stats.internal_consistency.schmid_leiman import omegas_from_correlations
from judgerel_ray.stats.internal_consistency.scores import Matrix
from judgerel_ray.stats.intervals.interval import (
    BootstrapMethod,
    Interval,
    between,
    bootstrap_weights,
    check_resampling,
    resampled_interval,
    student_interval,
)
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor, floor_of

ItemCoefficient = Literal["cronbach_alpha", "mcdonald_omega", "omega_total", "omega_hierarchical"]
_CELLS = 4_000_000


def item_values(name: ItemCoefficient, covariances_BKK: Floats, *, matrix: Matrix) -> Floats:
    """Compute a coefficient of distinct items of many covariance matrices; NaN where there is none.

    Parameters
    ----------
    name : {"cronbach_alpha", "mcdonald_omega", "omega_total", "omega_hierarchical"}
        Alpha and omega (one factor by minres) of `matrix`; the last two by Schmid and Leiman with
        three factors, of correlations.
    covariances_BKK : ndarray of float, shape (n_matrices, n_items, n_items)
        With positive diagonals.
    matrix : {"correlation", "covariance"}
        What is analysed.

    Raises
    ------
    ValueError
        If `name` is none of these four.

    Examples
    --------
    >>> item_values("cronbach_alpha", np.array([[[1.0, 0.5], [0.5, 1.0]]]),
    ...             matrix="covariance").round(6).tolist()
    [0.666667]
    """
    check_choice("item_values", _VALUES, name=name)
    return _VALUES[name](covariances_BKK, matrix)


def item_interval(
    scores_NK: ArrayLike,
    name: ItemCoefficient,
    *,
    matrix: Matrix = "correlation",
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Compute an interval of a coefficient of distinct items by leaving out one question at a time.

    With Student's t, and on the logit scale where the plain interval excludes 0, as
    :func:`judgerel_ray.stats.jackknife_interval`.

    Parameters
    ----------
    scores_NK : array-like of float, shape (n_subjects, n_items)
        One row a subject (a question), one column a distinct item. Subjects with a missing score
        are left out, and so are items that do not vary.
    name : {"cronbach_alpha", "mcdonald_omega", "omega_total", "omega_hierarchical"}
        The coefficient, as for :func:`item_values`.
    matrix : {"correlation", "covariance"}
        What is analysed.
    clusters_N : array-like, shape (n_subjects,), optional
        The question of each subject, where several rows are of one; left out together.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        Or why there is none: "too_few_subjects" where only two are complete, or as of
        :func:`judgerel_ray.stats.jackknife_interval`.

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite, there is not one cluster a subject, or
        a choice is unknown.

    Notes
    -----
    Deterministic. Leaving out is a subtraction from sums of products; all fits run together, those
    by Schmid and Leiman in about a hundredth of a second each.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(60, 1)) + rng.normal(size=(60, 5))
    >>> found = item_interval(scores, "cronbach_alpha")
    >>> found.low < 5 / 6 < found.high, found.method
    (True, 'jackknife-t over 60 questions, logit scale')
    """
    check_fraction("item_interval", confidence=confidence)
    known = _item_terms(scores_NK, name, matrix, clusters_N, function="item_interval")
    if isinstance(known, str):
        return Interval(undefined=known)
    terms, value = known
    if np.isnan(value):
        return Interval(undefined="undefined")
    n = terms.questions_C.size
    if n < 3:
        return Interval(undefined="too_few_units", n_questions=n)
    found = student_interval(  # alpha of items that go against one another has no least value
        value, terms.left_out(), confidence, chance_corrected=True, least=-np.inf
    )
    return replace(found, n_questions=n)


def item_bootstrap(
    scores_NK: ArrayLike,
    name: ItemCoefficient,
    *,
    matrix: Matrix = "correlation",
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Compute the percentile interval of a coefficient of distinct items, questions drawn anew.

    Parameters
    ----------
    scores_NK, name, matrix, clusters_N, confidence
        As for :func:`item_interval`.
    n_resamples : int
        Resamples, at least 1.
    seed : int
        Seed of the draws; equal seeds give equal draws on any machine.

    Returns
    -------
    Interval
        Or why there is none: "undefined_resamples" where more than one in twenty have no value.

    Raises
    ------
    ValueError
        As :func:`item_interval`, or if there is no resample.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(60, 1)) + rng.normal(size=(60, 5))
    >>> found = item_bootstrap(scores, "cronbach_alpha", n_resamples=200)
    >>> found.low < 5 / 6 < found.high, found.method
    (True, 'percentile bootstrap, 200 resamples of 60 questions')
    """
    check_resampling(confidence, n_resamples, "percentile", function="item_bootstrap")
    known = _item_terms(scores_NK, name, matrix, clusters_N, function="item_bootstrap")
    if isinstance(known, str):
        return Interval(undefined=known)
    terms, value = known
    n = terms.questions_C.size
    found = resampled_interval(
        value, terms.at, n, n_resamples=n_resamples, seed=seed, confidence=confidence, fewest=3
    )
    return replace(found, n_questions=n)


def _item_terms(
    scores_NK: ArrayLike, name: ItemCoefficient, matrix: Matrix, clusters_N: ArrayLike | None,
    *, function: str,
) -> tuple[QuestionTerms, float] | str:  # fmt: skip
    """A coefficient by question and its value of all, or why there is no interval."""
    check_choice(function, _VALUES, name=name)
    scores, clusters = varying_scores(scores_NK, clusters_N, function=function)
    if scores.shape[1] < 2:
        return "undefined"
    if len(scores) < 3:
        return "too_few_subjects"
    products_CP = summed_products(scores, clusters)
    covariances_1KK = covariances_of(products_CP.sum(axis=0)[None])
    terms = QuestionTerms(
        name=name, questions_C=np.arange(len(products_CP)), terms_CT=products_CP,
        value=lambda sums_BP: _values_or_nan(name, covariances_of(sums_BP), matrix),
    )  # fmt: skip
    return terms, float(item_values(name, covariances_1KK, matrix=matrix)[0])


def _values_or_nan(name: ItemCoefficient, covariances: Floats, matrix: Matrix) -> Floats:
    """Values, NaN where leaving a question out leaves an item that does not vary."""
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    usable = (variances > 1e-12 * variances.max(axis=1, keepdims=True)).all(axis=1)
    values = np.full(len(covariances), np.nan)
    if usable.any():
        values[usable] = item_values(name, covariances[usable], matrix=matrix)
    return values


def _correlation_matrices(covariances_BKK: Floats) -> Floats:
    """Correlations, with ones on the diagonals."""
    spread = np.sqrt(np.diagonal(covariances_BKK, axis1=1, axis2=2))
    correlations: Floats = covariances_BKK / (spread[:, :, None] * spread[:, None, :])
    items = np.arange(spread.shape[1])
    correlations[:, items, items] = 1.0
    return correlations


def _cronbach_alphas(covariances: Floats, matrix: Matrix) -> Floats:
    """Cronbach's alpha of each matrix."""
    matrices = _correlation_matrices(covariances) if matrix == "correlation" else covariances
    p = matrices.shape[1]
    total, trace = matrices.sum(axis=(1, 2)), np.trace(matrices, axis1=1, axis2=2)
    total = np.where(total > 1e-12 * trace, total, 0.0)
    alphas: Floats = p / (p - 1) * (1 - divide(trace, total))
    return alphas


def _of_three_factors(covariances: Floats, *, hierarchical: bool) -> Floats:
    """Omega total or hierarchical of each matrix."""
    found = omegas_from_correlations(_correlation_matrices(covariances))
    return np.array([one.hierarchical if hierarchical else one.value for one in found], np.float64)


_VALUES: Mapping[str, Callable[[Floats, Matrix], Floats]] = {
    "cronbach_alpha": _cronbach_alphas,
    "mcdonald_omega": lambda some, matrix: omega_values(some, matrix=matrix)[0],
    "omega_total": lambda some, _: _of_three_factors(some, hierarchical=False),
    "omega_hierarchical": lambda some, _: _of_three_factors(some, hierarchical=True),
}


# Permutations made for each that is to have a value.
_MOST = {"cronbach_alpha": 1, "mcdonald_omega": 8}
_MOST_FITS = 2  # some hundredths of a second each


def column_noise_floor(
    scores_NK: ArrayLike,
    name: ItemCoefficient,
    *,
    matrix: Matrix = "correlation",
    n_permutations: int | None = None,
    seed: int = 0,
) -> NoiseFloor:
    """Compute the null of a coefficient of distinct items.

    Every item keeps its own scores, and no two items have anything to do with one another.

    Parameters
    ----------
    scores_NK, name, matrix
        As of :func:`item_interval`.
    n_permutations : int, optional
        Permutations with a value, at least 1; 999 by default, 99 for the last two.
    seed : int
        Seed of the permutations.

    Returns
    -------
    NoiseFloor
        Over the permutations that have a value; `n_undefined` says how many have none. Nothing
        where the coefficient itself has none.

    Raises
    ------
    ValueError
        If the name is unknown, the scores are not two-dimensional, or `n_permutations` is below 1.

    Notes
    -----
    Omega has no value where the covariances sum to no more than 0, and omega hierarchical where
    those of its factors do, which is half of all noise each: as many more are made, up to eight
    times `n_permutations` (twice, of the last two). The p compares data that have a value with the
    noise that has one, so that no more than one in twenty of these are called anything else, and
    fewer of all noise. Were permutations without a value counted as further from the floor, p would
    be about 0.5 for the best of judges; as nearer, one in ten of noise with a value would pass for
    more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> floor = column_noise_floor(rng.normal(size=(50, 4)), "cronbach_alpha")
    >>> abs(floor.mean) < 0.2, floor.p > 0.05
    (True, True)
    """
    check_choice("column_noise_floor", _VALUES, name=name)
    if n_permutations is None:
        n_permutations = 999 if name in ("cronbach_alpha", "mcdonald_omega") else 99
    check_at_least_1("column_noise_floor", n_permutations=n_permutations)
    scores, _ = varying_scores(scores_NK, None, function="column_noise_floor")
    value = float("nan")
    if len(scores) >= 3 and scores.shape[1] >= 2:
        value = float(item_values(name, _covariance_matrices(scores[None]), matrix=matrix)[0])
    if np.isnan(value):
        return NOTHING
    rng = np.random.default_rng(seed)
    batch = max(1, min(n_permutations, _CELLS // scores.size))
    most = n_permutations * _MOST.get(name, _MOST_FITS)
    null = np.empty(0)
    while (~np.isnan(null)).sum() < n_permutations and null.size < most:
        size = min(batch, most - null.size)
        shuffled = rng.permuted(np.broadcast_to(scores, (size, *scores.shape)), axis=1)
        null = np.append(null, item_values(name, _covariance_matrices(shuffled), matrix=matrix))
    valid = np.flatnonzero(~np.isnan(null))[:n_permutations]
    # Those after the last one wanted are not counted.
    n_drawn = int(valid[-1]) + 1 if valid.size == n_permutations else null.size
    found = floor_of(value, null[valid], NullMethod.ITEM_PERMUTATIONS)
    return replace(found, n_undefined=n_drawn - valid.size)


def _covariance_matrices(scores_BNK: Floats) -> Floats:
    centred = scores_BNK - scores_BNK.mean(axis=1, keepdims=True)
    covariances: Floats = np.matmul(centred.swapaxes(1, 2), centred) / (scores_BNK.shape[1] - 1)
    return covariances


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OmegaResamples:
    """Omega of many resamples of subjects.

    Attributes
    ----------
    values_B : ndarray of float, shape (n_resamples,)
        Omega of each resample, with the model's denominator; NaN where there is none.
    interval : Interval
        Of omega.
    n_undefined, n_heywood : int
        Resamples without a value, and those where a bound keeps a uniqueness from being negative.
    """

    values_B: Floats  # noqa: N815  a shape, not a case
    interval: Interval
    n_undefined: int
    n_heywood: int


def omega_bootstrap(
    scores_NK: ArrayLike,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    matrix: Matrix = "correlation",
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
    method: BootstrapMethod = "percentile",
) -> OmegaResamples:
    """Compute an interval of omega (one factor by minres) by drawing subjects anew.

    Parameters
    ----------
    scores_NK : array-like of float, shape (n_subjects, n_items)
        One row a subject (a question), one column a distinct item. Subjects with a missing score
        are left out, and so are items that do not vary.
    n_resamples : int
        Resamples, at least 1.
    seed : int
        Seed of the draws; equal seeds give equal draws on any machine.
    matrix : {"correlation", "covariance"}
        What is analysed.
    clusters_N : array-like, shape (n_subjects,), optional
        The question of each subject, where several rows are of one; drawn together.
    confidence : float
        Coverage asked for, in (0, 1).
    method : {"percentile", "basic"}
        Quantiles of the resamples, or those reflected at the value.

    Returns
    -------
    OmegaResamples

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite, there is not one cluster a subject, or
        a choice is out of range.

    Notes
    -----
    The moments of all resamples are one matrix product, and all fits run together: 2,000 resamples
    of 10 items take some hundredths of a second.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(60, 1)) + rng.normal(size=(60, 5))
    >>> found = omega_bootstrap(scores, n_resamples=500)
    >>> found.interval.low < 5 / 6 < found.interval.high, found.n_undefined
    (True, 0)
    """
    check_resampling(confidence, n_resamples, method, function="omega_bootstrap")
    check_choice("omega_bootstrap", ("correlation", "covariance"), matrix=matrix)
    interval = Interval(undefined="undefined")
    known = _item_terms(scores_NK, "mcdonald_omega", matrix, clusters_N, function="omega_bootstrap")
    if isinstance(known, str):
        return OmegaResamples(values_B=np.empty(0), interval=interval, n_undefined=0, n_heywood=0)
    terms, value = known
    n = terms.questions_C.size
    found = [
        omega_values(covariances_of(weight @ terms.terms_CT), matrix=matrix)
        for weight in bootstrap_weights(n, n_resamples=n_resamples, seed=seed)
    ]
    values_B = np.concatenate([values for values, _ in found])
    if not np.isnan(value):
        interval = between(value, values_B, confidence, method, n)
    return OmegaResamples(
        values_B=values_B,
        interval=interval,
        n_undefined=int(np.isnan(values_B).sum()),
        n_heywood=int(sum(heywood.sum() for _, heywood in found)),
    )


def omega_values(covariances_BKK: Floats, *, matrix: Matrix) -> tuple[Floats, NDArray[np.bool_]]:
    """Compute omega of many covariance matrices, one factor by minres, model denominator.

    NaN where an item does not vary or the covariances sum to no more than 0; and where a bound
    keeps a uniqueness from being negative.
    """
    variances_BK = np.diagonal(covariances_BKK, axis1=1, axis2=2)
    usable = (variances_BK > 1e-12 * variances_BK.max(axis=1, keepdims=True)).all(axis=1)
    values, heywood = np.full(len(usable), np.nan), np.zeros(len(usable), dtype=bool)
    matrices, variances = covariances_BKK[usable], variances_BK[usable]
    if matrix == "correlation":
        matrices, variances = _correlation_matrices(matrices), np.ones_like(variances)
    if matrices.shape[1] == 2:
        loadings = two_item_loadings(matrices)
    else:
        fit = one_factor_minres(matrices)
        loadings = np.where(fit.converged_B[:, None], fit.loadings_BK, np.nan)
        heywood[usable] = fit.heywood_B
    unique = variances - loadings**2
    explained = loadings.sum(axis=1) ** 2
    total = explained + unique.sum(axis=1)
    values[usable] = np.divide(explained, total, out=np.full(len(total), np.nan), where=total > 0)
    return values, heywood


def varying_scores(
    scores_NK: ArrayLike, clusters_N: ArrayLike | None, *, function: str
) -> tuple[Floats, NDArray[np.intp]]:
    """Keep the complete subjects and the items that vary, questions numbered from 0 on."""
    scores = scores_of(scores_NK, function=function, argument="scores_NK")
    clusters = clusters_of(clusters_N, len(scores), function=function, argument="clusters_N")
    complete = ~np.isnan(scores).any(axis=1)
    scores, clusters = scores[complete], clusters[complete]
    varies = np.ptp(scores, axis=0) > 0 if len(scores) else np.zeros(scores.shape[1], dtype=bool)
    return scores[:, varies], np.unique(clusters, return_inverse=True)[1]


def summed_products(scores: Floats, clusters: NDArray[np.intp]) -> Floats:
    """Sum [1, x_i, x_i x_j (i <= j)] by question, x about the means of all."""
    centred = scores - scores.mean(axis=0)
    upper = np.triu_indices(scores.shape[1])
    parts = [np.ones((len(scores), 1)), centred, centred[:, upper[0]] * centred[:, upper[1]]]
    moments = np.concatenate(parts, axis=1)
    products = np.zeros((clusters.max() + 1, moments.shape[1]))
    np.add.at(products, clusters, moments)
    return products


def covariances_of(products_BP: Floats) -> Floats:
    """Compute covariances (over n) from sums of products."""
    n_items = int((np.sqrt(9 + 8 * (products_BP.shape[1] - 1)) - 3) / 2 + 0.5)
    upper = np.triu_indices(n_items)
    mean = products_BP[:, 1 : n_items + 1] / products_BP[:, :1]
    covariances = np.empty((len(products_BP), n_items, n_items))
    covariances[:, upper[0], upper[1]] = products_BP[:, n_items + 1 :] / products_BP[:, :1]
    covariances[:, upper[1], upper[0]] = covariances[:, upper[0], upper[1]]
    return covariances - mean[:, :, None] * mean[:, None, :]
