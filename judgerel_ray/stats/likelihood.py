"""One common factor by maximum likelihood.

Shape suffix: K = items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

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

    Parameters
    ----------
    matrix_KK : ndarray of float, shape (n_items, n_items)
        Positive definite.
    start_K : ndarray of float, shape (n_items,)
        Loadings to start from.
    errors_KK : ndarray of float, shape (n_items, n_items), optional
        Error covariances, held fixed; the diagonal is not used.

    Returns
    -------
    LikelihoodFit

    Notes
    -----
    Fisher's scoring with step halving; the fit is equivariant in the scale of each item.

    References
    ----------
    .. [1] Joreskog, K. G. (1967), doi:10.1007/BF02289658.

    Examples
    --------
    >>> matrix = np.outer([0.9, 0.8, 0.7], [0.9, 0.8, 0.7])
    >>> np.fill_diagonal(matrix, 1.0)
    >>> fit = one_factor_likelihood(matrix, np.array([0.8, 0.8, 0.8]))
    >>> fit.loadings_K.round(6).tolist(), fit.converged
    ([0.9, 0.8, 0.7], True)
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
        gradient, information = _slope(theta, matrix, fixed)
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
        theta, value, moved = _downhill(theta, step, value, matrix, fixed)
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


def _downhill(
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


def _sigma(theta: Floats, fixed: Floats) -> Floats:
    """L l' + diag(psi) + fixed."""
    n_items = len(fixed)
    sigma: Floats = np.outer(theta[:n_items], theta[:n_items]) + np.diag(theta[n_items:]) + fixed
    return sigma


def _deviance(theta: Floats, matrix: Floats, fixed: Floats) -> float:
    """Log |Sigma| + tr(S Sigma^-1), infinite where Sigma is not positive definite."""
    sigma = _sigma(theta, fixed)
    try:
        root = np.linalg.cholesky(sigma)
    except np.linalg.LinAlgError:
        return np.inf
    return float(2 * np.log(np.diagonal(root)).sum() + np.trace(np.linalg.solve(sigma, matrix)))


def _slope(theta: Floats, matrix: Floats, fixed: Floats) -> tuple[Floats, Floats]:
    """Gradient of the deviance and its expected second derivatives, tr(V S_a V S_b)."""
    n_items = len(matrix)
    loadings = theta[:n_items]
    inverse = np.linalg.inv(_sigma(theta, fixed))
    weighted = inverse - inverse @ matrix @ inverse
    gradient = np.concatenate([2 * weighted @ loadings, np.diagonal(weighted)])
    pulled = inverse @ loadings
    own = 2 * (np.outer(pulled, pulled) + inverse * (loadings @ pulled))
    cross = 2 * inverse * pulled[None, :]
    information = np.block([[own, cross], [cross.T, inverse**2]])
    return gradient, information
