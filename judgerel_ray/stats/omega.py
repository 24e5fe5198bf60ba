"""McDonald's omega: the share of the variance of a sum of distinct items that a factor explains.

Shape suffixes: N = subjects, K = items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.likelihood import one_factor_likelihood
from judgerel_ray.stats.minres import one_factor_minres
from judgerel_ray.stats.scores import Matrix, MissingScores, alpha_of, dropped, item_scores
from judgerel_ray.stats.statistic import Floats

Estimator = Literal["minres", "ml"]
HEYWOOD = 1e-8  # how far below 0, as a share of its item's variance, a uniqueness is no rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Omega:
    """Omega, the factor solution it comes from, and what is wrong with it.

    Nothing is clipped, turned or made absolute in silence: an improper solution is flagged, with
    the value of the proper one nearest to it beside.

    Attributes
    ----------
    value : float or None
        Omega with the model's denominator (of a Schmid-Leiman solution: omega total).
    undefined : str or None
        Why there is no value: "no_variance", "too_few_items", "too_few_subjects",
        "non_positive_covariances" (the covariances sum to no more than 0), "non_positive_total",
        "singular" (for maximum likelihood), "too_few_factors", "not_converged".
    observed : float or None
        Omega with the observed variance of the sum as its denominator.
    bounded : float or None
        Where `heywood` is set: the value with no uniqueness below 0.
    hierarchical, hierarchical_bounded, limit : float or None
        Of a Schmid-Leiman solution: omega of the general factor, the same with no second-order
        loading above 1 where one is, and omega of the general factor in an endless test.
    alpha : float or None
        Cronbach's alpha of the same matrix.
    loadings : tuple of float
        On the (general) factor, one an item kept; empty where there is no solution.
    group_loadings : tuple of tuple of float
        Of a Schmid-Leiman solution: on the group factors, one row an item.
    factor_correlations : tuple of tuple of float
        Between the oblique factors.
    uniquenesses : tuple of float
        Variance of each item that no factor explains.
    kept, dropped, flipped : tuple of int
        Columns the loadings are of; constant columns left out; items turned round (R's psych does,
        by the sign of the general loading) before the sums were taken.
    heywood : bool
        Whether a uniqueness is negative or at its bound, or a loading on a factor's factor above 1.
    converged : bool
        Whether a minimum was reached.
    estimator : str
        Matrix, method and denominator, in words.
    notes : tuple of str
        What else a reader must know.
    n_subjects, n_missing : int
        Subjects used (0 for a matrix), and scores missing.

    Raises
    ------
    ValueError
        If both or neither of `value` and `undefined` are set.
    """

    value: float | None
    estimator: str
    undefined: str | None = None
    observed: float | None = None
    bounded: float | None = None
    hierarchical: float | None = None
    hierarchical_bounded: float | None = None
    limit: float | None = None
    alpha: float | None = None
    loadings: tuple[float, ...] = ()
    group_loadings: tuple[tuple[float, ...], ...] = ()
    factor_correlations: tuple[tuple[float, ...], ...] = ()
    uniquenesses: tuple[float, ...] = ()
    kept: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    flipped: tuple[int, ...] = ()
    heywood: bool = False
    converged: bool = False
    notes: tuple[str, ...] = ()
    n_subjects: int = 0
    n_missing: int = 0

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None):
            raise ValueError(
                f"Omega: exactly one of value and undefined must be set, "
                f"got {self.value!r} and {self.undefined!r}"
            )


def mcdonald_omega(
    scores_NK: ArrayLike,
    *,
    estimator: Estimator = "minres",
    matrix: Matrix = "correlation",
    error_covariances: ArrayLike | None = None,
    missing: MissingScores = "listwise",
) -> Omega:
    r"""Compute omega of the sum of distinct items by a model of one factor.

    .. math:: \omega = \frac{(\sum_i \lambda_i)^2}
              {(\sum_i \lambda_i)^2 + \sum_i \theta_{ii} + 2 \sum_{i<j} \theta_{ij}}

    Parameters
    ----------
    scores_NK : array-like of float, shape (n_subjects, n_items)
        One row a subject (a question), one column a distinct item (template, criterion, judge, ...;
        never a replication). NaN is missing. Items that do not vary are dropped and reported.
    estimator : {"minres", "ml"}
        Least squares of the covariances, or maximum likelihood. Minres depends on the matrix.
    matrix : {"correlation", "covariance"}
        What is analysed, and hence whether the sum is of standardised scores.
    error_covariances : array-like of float, shape (n_items, n_items), optional
        Covariances of errors, in the units of the matrix, taken as known: no part of what the
        factor explains, and part of the denominator. Symmetric; the diagonal is not used.
    missing : {"listwise", "pairwise"}
        Use complete subjects, or all pairs there are.

    Returns
    -------
    Omega
        ``value`` with the model's denominator, ``observed`` with that of the matrix. Two items are
        not identified: equal loadings are assumed, and ``notes`` says so.

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite, the error covariances do not fit, or a
        choice is unknown.

    References
    ----------
    .. [1] McDonald, R. P. (1999). Test theory: A unified treatment.

    Examples
    --------
    Two items correlated .5: 2 x .5 / (1 + .5).

    >>> found = mcdonald_omega([[0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 0], [1, 1]])
    >>> round(found.value, 6), found.notes
    (0.666667, ('two items: equal loadings assumed',))
    """
    if estimator not in ("minres", "ml"):
        raise ValueError(f"mcdonald_omega: estimator must be minres or ml, got {estimator!r}")
    if matrix not in ("correlation", "covariance"):
        raise ValueError(
            f"mcdonald_omega: matrix must be correlation or covariance, got {matrix!r}"
        )
    found = item_scores(scores_NK, missing=missing, function="mcdonald_omega")
    errors = _checked_errors(error_covariances, np.shape(scores_NK)[1])[
        np.ix_(found.kept, found.kept)
    ]
    analysed = found.correlation_KK if matrix == "correlation" else found.covariance_KK
    notes = (*dropped(found), *_unsound(analysed))
    undefined = None
    if found.n_subjects < 3:
        undefined = "too_few_subjects"
    elif len(found.kept) < 2:
        undefined = "too_few_items" if found.kept else "no_variance"
    elif estimator == "ml" and found.n_subjects <= len(found.kept):
        undefined = "too_few_subjects"
    words = f"one factor by {estimator} of {matrix}s, {missing}; denominator of the model"
    if undefined:
        omega = Omega(value=None, undefined=undefined, estimator=words)
    else:
        omega = one_factor_omega(analysed, estimator=estimator, errors_KK=errors, words=words)
    return replace(
        omega, alpha=alpha_of(analysed), kept=found.kept, dropped=found.constant,
        notes=(*notes, *omega.notes), n_subjects=found.n_subjects, n_missing=found.n_missing,
    )  # fmt: skip


def one_factor_omega(
    matrix_KK: Floats, *, estimator: Estimator, errors_KK: Floats, words: str
) -> Omega:
    """Compute omega of a covariance or correlation matrix of two items or more.

    Examples
    --------
    >>> matrix = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> found = one_factor_omega(matrix, estimator="minres", errors_KK=np.zeros((2, 2)), words="")
    >>> round(found.value, 6)
    0.666667
    """
    shared = matrix_KK - errors_KK
    off = float(shared.sum() - np.trace(shared))
    if not off > 0:
        return Omega(value=None, undefined="non_positive_covariances", estimator=words)
    if len(matrix_KK) == 2:
        loadings = np.full(2, np.sqrt(off / 2))
        note = ("two items: equal loadings assumed",)
        return _filled(matrix_KK, loadings, None, errors_KK, words, converged=True, notes=note)
    free = one_factor_minres(shared[None])
    if estimator == "ml":
        return _by_likelihood(matrix_KK, free.loadings_BK[0], errors_KK, words)
    converged = bool(free.converged_B[0])
    return _filled(matrix_KK, free.loadings_BK[0], None, errors_KK, words, converged=converged)


def _by_likelihood(matrix: Floats, start: Floats, errors: Floats, words: str) -> Omega:
    """Omega by maximum likelihood."""
    roots = np.linalg.eigvalsh(matrix)
    if roots[0] <= 1e-10 * roots[-1]:
        return Omega(value=None, undefined="singular", estimator=words)
    fit = one_factor_likelihood(matrix, start, errors)
    notes = ("uniqueness at its bound, .005 of the variance",) if fit.at_bound_K.any() else ()
    omega = _filled(
        matrix, fit.loadings_K, fit.uniquenesses_K, errors, words,
        converged=fit.converged, notes=notes,
    )  # fmt: skip
    at_bound = bool(fit.at_bound_K.any())
    return replace(omega, heywood=at_bound, bounded=omega.value if at_bound else None)


def _filled(
    matrix: Floats,
    loadings: Floats,
    uniquenesses: Floats | None,
    errors: Floats,
    words: str,
    *,
    converged: bool,
    notes: tuple[str, ...] = (),
) -> Omega:
    """Omega of a solution, and of the proper one nearest to it where it is improper."""
    variances = np.diagonal(matrix)
    own = variances - loadings**2 if uniquenesses is None else uniquenesses
    heywood = bool((own < -HEYWOOD * variances).any())
    value = model_omega(loadings, own, errors)
    total = float(matrix.sum())
    observed = float(loadings.sum() ** 2 / total) if total > 0 else None
    bounded = None
    if heywood and uniquenesses is None:
        proper = one_factor_minres(
            (matrix - errors + np.diag(np.diagonal(errors)))[None], bounded=True
        )
        if proper.converged_B[0]:
            within = proper.loadings_BK[0]
            bounded = model_omega(within, variances - within**2, errors)
    if (loadings < 0).any():
        notes = (*notes, f"negative loadings: {', '.join(map(str, np.flatnonzero(loadings < 0)))}")
    undefined = None if converged else "not_converged"
    if undefined is None and value is None:
        undefined = "non_positive_total"
    return Omega(
        value=None if undefined else value, undefined=undefined, estimator=words,
        observed=observed if converged else None, bounded=bounded,
        loadings=tuple(loadings.tolist()), uniquenesses=tuple(own.tolist()),
        heywood=heywood, converged=converged, notes=notes,
    )  # fmt: skip


def model_omega(loadings_K: Floats, uniquenesses_K: Floats, errors_KK: Floats) -> float | None:
    """Compute omega with the model's denominator; None where that is not above 0.

    Examples
    --------
    >>> model_omega(np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.zeros((2, 2)))
    0.6666666666666666
    """
    explained = float(loadings_K.sum() ** 2)
    total = explained + float(uniquenesses_K.sum()) + float(errors_KK.sum())
    return explained / total if total > 0 else None


def _checked_errors(error_covariances: ArrayLike | None, n_items: int) -> Floats:
    """Error covariances with an empty diagonal."""
    if error_covariances is None:
        return np.zeros((n_items, n_items))
    errors = np.array(error_covariances, dtype=np.float64)
    if errors.shape != (n_items, n_items) or not np.isfinite(errors).all():
        raise ValueError(
            f"mcdonald_omega: error_covariances must be finite, of shape ({n_items}, {n_items})"
        )
    if not np.allclose(errors, errors.T, rtol=1e-9, atol=1e-12):
        raise ValueError("mcdonald_omega: error_covariances must be symmetric")
    np.fill_diagonal(errors, 0.0)
    return errors


def _unsound(matrix: Floats) -> tuple[str, ...]:
    """A note where pairs of items make no covariance matrix."""
    if len(matrix) and np.linalg.eigvalsh(matrix)[0] < -1e-9 * np.trace(matrix):
        return ("matrix not positive semidefinite (pairs of items rest on different subjects)",)
    return ()
