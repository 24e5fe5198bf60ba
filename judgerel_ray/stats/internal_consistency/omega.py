"""McDonald's omega: the share of the variance of a sum of distinct items that a factor explains.

The one common factor is fitted by minres or by maximum likelihood.

Shape suffixes: N = subjects, K = items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.stats.arguments import check_choice
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.internal_consistency.minres import (
    improper_minres,
    one_factor_minres,
    two_item_loadings,
)
from judgerel_ray.stats.internal_consistency.scores import (
    Matrix,
    MissingScores,
    alpha_of,
    dropped,
    item_covariances,
    unsound,
)

LEAST_UNIQUENESS = 0.005  # of an item's variance; the likelihood has no maximum at 0
_STEPS, _CONVERGED = 500, 1e-9


class LikelihoodFit(NamedTuple):
    """One factor, whether the maximum was reached, and which uniquenesses are at their bound."""

    loadings_K: Floats  # noqa: N815  a shape, not a case
    uniquenesses_K: Floats  # noqa: N815
    converged: bool
    at_bound_K: NDArray[np.bool_]  # noqa: N815


def one_factor_likelihood(
    matrix_KK: Floats, start_K: Floats, errors_KK: Floats | None = None
) -> LikelihoodFit:
    """Fit one factor by maximum likelihood to a covariance or correlation matrix.

    Minimised is log |Sigma| + tr(S Sigma^-1), Sigma = l l' + diag(psi) + the error covariances
    given. Uniquenesses are kept at .005 of an item's variance or above, and it is said where they
    lie there.

    Notes
    -----
    Fisher's scoring with step halving; the fit is equivariant in the scale of each item.

    References
    ----------
    .. [1] Joreskog, K. G. (1967), doi:10.1007/BF02289658.
    """
    scale = np.sqrt(np.diagonal(matrix_KK))
    matrix = matrix_KK / np.outer(scale, scale)
    fixed = np.zeros_like(matrix) if errors_KK is None else errors_KK / np.outer(scale, scale)
    fixed = fixed - np.diag(np.diagonal(fixed))
    loadings = np.clip(start_K / scale, -0.95, 0.95)
    theta = np.concatenate([loadings, 1 - loadings**2])
    value = _deviance(theta, matrix, fixed)
    if not np.isfinite(value):  # the errors given leave no room for that start
        theta[: len(scale)] *= 0.1
        theta[len(scale) :] = 1.0
        value = _deviance(theta, matrix, fixed)
    converged = False
    for _ in range(_STEPS):
        gradient, information = _deviance_derivatives(theta, matrix, fixed)
        bound = np.concatenate(
            [np.zeros(len(scale), bool), theta[len(scale) :] <= LEAST_UNIQUENESS]
        )
        free = ~(bound & (gradient > 0))
        converged = bool(np.abs(gradient[free]).max(initial=0.0) < _CONVERGED)
        if converged or not np.isfinite(value):
            break
        step = np.zeros_like(theta)
        step[free] = np.linalg.lstsq(information[np.ix_(free, free)], gradient[free], rcond=1e-14)[
            0
        ]
        theta, value, moved = _downhill_step(theta, step, value, matrix, fixed)
        if not moved:
            converged = bool(np.abs(gradient[free]).max(initial=0.0) < 1e-6)
            break
    sign = -1.0 if theta[: len(scale)].sum() < 0 else 1.0
    loadings, uniquenesses = theta[: len(scale)] * sign, theta[len(scale) :]
    return LikelihoodFit(
        loadings * scale,
        uniquenesses * scale**2,
        converged,
        uniquenesses <= LEAST_UNIQUENESS * (1 + 1e-9),
    )


def _downhill_step(
    theta: Floats, step: Floats, value: float, matrix: Floats, fixed: Floats
) -> tuple[Floats, float, bool]:
    """The first of the halved steps that does not lead uphill, within the bounds."""
    n_items = len(matrix)
    for halving in range(40):
        new = theta - step / 2**halving
        new[n_items:] = np.maximum(new[n_items:], LEAST_UNIQUENESS)
        found = _deviance(new, matrix, fixed)
        # Level to the last digits is no way uphill: the slope is known better than the height.
        if found <= value + 1e-14 * abs(value) and not np.array_equal(new, theta):
            return new, found, True
    return theta, value, False


def _covariance_of_factor(theta: Floats, fixed: Floats) -> Floats:
    """L l' + diag(psi) + fixed."""
    n_items = len(fixed)
    return np.outer(theta[:n_items], theta[:n_items]) + np.diag(theta[n_items:]) + fixed


def _deviance(theta: Floats, matrix: Floats, fixed: Floats) -> float:
    """Log |Sigma| + tr(S Sigma^-1), infinite where Sigma is not positive definite."""
    sigma = _covariance_of_factor(theta, fixed)
    try:
        root = np.linalg.cholesky(sigma)
    except np.linalg.LinAlgError:
        return np.inf
    return float(2 * np.log(np.diagonal(root)).sum() + np.trace(np.linalg.solve(sigma, matrix)))


def _deviance_derivatives(theta: Floats, matrix: Floats, fixed: Floats) -> tuple[Floats, Floats]:
    """Gradient of the deviance and its expected second derivatives, tr(V S_a V S_b)."""
    n_items = len(matrix)
    loadings = theta[:n_items]
    inverse = np.linalg.inv(_covariance_of_factor(theta, fixed))
    weighted = inverse - inverse @ matrix @ inverse
    gradient = np.concatenate([2 * weighted @ loadings, np.diagonal(weighted)])
    pulled = inverse @ loadings
    parts = 2 * (np.outer(pulled, pulled) + inverse * (loadings @ pulled))
    cross = 2 * inverse * pulled[None, :]
    information = np.block([[parts, cross], [cross.T, inverse**2]])
    return gradient, information


Estimator = Literal["minres", "ml"]
_KIND = {"correlation": "standardized", "covariance": "raw"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Omega:
    """Omega, the factor solution it comes from, and what is wrong with it.

    Values are of an admissible solution: no loading above its item's standard deviation, no
    negative uniqueness. Where the data ask for one (a Heywood case) that is flagged, and the value
    of the improper solution stands beside.

    Attributes
    ----------
    value : float or None
        Omega with the model's denominator (of a Schmid-Leiman solution: omega total).
    undefined : str or None
        Why there is no value: "no_variance", "too_few_items", "too_few_subjects",
        "non_positive_covariances" (the covariances sum to no more than 0), "non_positive_total",
        "singular" (for maximum likelihood), "too_few_factors", "not_converged",
        "no_common_subjects" (pairwise: some two items have no two subjects in common on which both
        vary).
    observed : float or None
        Omega with the observed variance of the sum as its denominator.
    improper, improper_loadings : float or None, tuple of float
        Where `heywood` is set: omega (of a Schmid-Leiman solution, that of the general factor) and
        loadings of the solution without the bound; None and empty where it has no minimum.
    hierarchical, limit : float or None
        Of a Schmid-Leiman solution: omega of the general factor, and the same of an
        infinitely long test.
    alpha : float or None
        Cronbach's alpha of the same matrix: standardized of correlations, raw of covariances.
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
        Whether a bound keeps a uniqueness from being negative (or, with several factors or maximum
        likelihood, below .005), or a loading on a factor's factor from being above 1.
    converged : bool
        Whether a minimum was reached.
    estimator : str
        Raw or standardized, method, matrix and denominator, in words.
    flags : tuple
        What else a reader must know, each a `Flag` with its numbers; ``notes`` says it in words.
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
    improper: float | None = None
    hierarchical: float | None = None
    limit: float | None = None
    alpha: float | None = None
    loadings: tuple[float, ...] = ()
    improper_loadings: tuple[float, ...] = ()
    group_loadings: tuple[tuple[float, ...], ...] = ()
    factor_correlations: tuple[tuple[float, ...], ...] = ()
    uniquenesses: tuple[float, ...] = ()
    kept: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    flipped: tuple[int, ...] = ()
    heywood: bool = False
    converged: bool = False
    flags: tuple[Noted, ...] = ()
    n_subjects: int = 0
    n_missing: int = 0

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None):
            raise ValueError(
                f"Omega: exactly one of value and undefined must be set, "
                f"got {self.value!r} and {self.undefined!r}"
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """What else a reader must know, in words."""
        return tuple(flag.note(numbers) for flag, numbers in self.flags)

    @property
    def bounded(self) -> float | None:
        """The value where it is that of a Heywood case kept admissible; None elsewhere."""
        return self.value if self.heywood else None


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
        Use complete subjects, or for each pair of items those that have both, with their standard
        deviations (as R's ``cor(use = "pairwise")``).

    Returns
    -------
    Omega
        ``value`` with the model's denominator, ``observed`` with that of the matrix. Two items are
        not identified: loadings as equal as is admissible are assumed, and ``notes`` says so.

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
    check_choice("mcdonald_omega", ("minres", "ml"), estimator=estimator)
    check_choice("mcdonald_omega", ("correlation", "covariance"), matrix=matrix)
    found = item_covariances(scores_NK, missing=missing, function="mcdonald_omega")
    errors = _checked_errors(error_covariances, np.shape(scores_NK)[1])[
        np.ix_(found.kept, found.kept)
    ]
    analysed = found.correlation_KK if matrix == "correlation" else found.covariance_KK
    notes = (*dropped(found), *unsound(analysed))
    undefined = "no_common_subjects" if np.isnan(analysed).any() else None
    if found.n_subjects < 3:
        undefined = "too_few_subjects"
    elif len(found.kept) < 2:
        undefined = "too_few_items" if found.kept else "no_variance"
    elif estimator == "ml" and found.n_subjects <= len(found.kept):
        undefined = "too_few_subjects"
    words = f"{_KIND[matrix]} omega of one factor by {estimator} of {matrix}s, {missing}"
    words += "; denominator of the model"
    if undefined:
        omega = Omega(value=None, undefined=undefined, estimator=words)
    else:
        omega = one_factor_omega(analysed, estimator=estimator, errors_KK=errors, words=words)
    return replace(
        omega, alpha=alpha_of(analysed), kept=found.kept, dropped=found.constant,
        flags=(*notes, *omega.flags), n_subjects=found.n_subjects, n_missing=found.n_missing,
    )  # fmt: skip


def one_factor_omega(
    matrix_KK: Floats, *, estimator: Estimator, errors_KK: Floats, words: str
) -> Omega:
    """Compute omega of a covariance or correlation matrix of two items or more."""
    shared = matrix_KK - errors_KK
    off = float(shared.sum() - np.trace(shared))
    if not off > 0:
        return Omega(value=None, undefined="non_positive_covariances", estimator=words)
    if len(matrix_KK) == 2:
        loadings = two_item_loadings(shared[None])[0]
        note: tuple[Noted, ...] = ((Flag.EQUAL_LOADINGS, ()),)
        return _omega_of_solution(
            matrix_KK, loadings, None, errors_KK, words, converged=True, notes=note
        )
    fit = one_factor_minres(shared[None])
    if estimator == "ml":
        return _omega_by_likelihood(matrix_KK, fit.loadings_BK[0], errors_KK, words)
    loadings, converged = fit.loadings_BK[0], bool(fit.converged_B[0])
    omega = _omega_of_solution(matrix_KK, loadings, None, errors_KK, words, converged=converged)
    if not fit.heywood_B[0]:
        return omega
    beyond = improper_minres(shared, loadings)
    if beyond is None:
        return replace(omega, heywood=True)
    improper = model_omega(beyond, np.diagonal(matrix_KK) - beyond**2, errors_KK)
    return replace(omega, heywood=True, improper=improper, improper_loadings=tuple(beyond.tolist()))


def _omega_by_likelihood(matrix: Floats, start: Floats, errors: Floats, words: str) -> Omega:
    """Omega by maximum likelihood."""
    roots = np.linalg.eigvalsh(matrix)
    if roots[0] <= 1e-10 * roots[-1]:
        return Omega(value=None, undefined="singular", estimator=words)
    fit = one_factor_likelihood(matrix, start, errors)
    notes: tuple[Noted, ...] = ((Flag.AT_BOUND, ()),) if fit.at_bound_K.any() else ()
    omega = _omega_of_solution(
        matrix, fit.loadings_K, fit.uniquenesses_K, errors, words,
        converged=fit.converged, notes=notes,
    )  # fmt: skip
    return replace(omega, heywood=bool(fit.at_bound_K.any()))


def _omega_of_solution(
    matrix: Floats,
    loadings: Floats,
    uniquenesses: Floats | None,
    errors: Floats,
    words: str,
    *,
    converged: bool,
    notes: tuple[Noted, ...] = (),
) -> Omega:
    """Omega of an admissible solution."""
    variances = np.diagonal(matrix)
    parts = variances - loadings**2 if uniquenesses is None else uniquenesses
    value = model_omega(loadings, parts, errors)
    total = float(matrix.sum())
    observed = float(loadings.sum() ** 2 / total) if total > 0 else None
    if (loadings < 0).any():
        negative = tuple(np.flatnonzero(loadings < 0).astype(float).tolist())
        notes = (*notes, (Flag.NEGATIVE_LOADINGS, negative))
    undefined = None if converged else "not_converged"
    if undefined is None and value is None:
        undefined = "non_positive_total"
    return Omega(
        value=None if undefined else value, undefined=undefined, estimator=words,
        observed=observed if converged else None,
        loadings=tuple(loadings.tolist()), uniquenesses=tuple(parts.tolist()),
        converged=converged, flags=notes,
    )  # fmt: skip


def model_omega(loadings_K: Floats, uniquenesses_K: Floats, errors_KK: Floats) -> float | None:
    """Compute omega with the model's denominator; None where that is not above 0."""
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
