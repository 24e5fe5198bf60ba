"""Several common factors by minres, and their oblique rotation.

Shape suffixes: K = items, F = factors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

LEAST_UNIQUENESS = 0.005
_STEPS, _TURNS, _FLAT = 200, 5000, 1e-10


class Factors(NamedTuple):
    """Unrotated loadings, whether a minimum was reached, and uniquenesses at their bound."""

    loadings_KF: Floats  # noqa: N815  a shape, not a case
    converged: bool
    at_bound_K: NDArray[np.bool_]  # noqa: N815


class Oblique(NamedTuple):
    """A rotated pattern, the correlations of its factors, and whether a minimum was reached."""

    pattern_KF: Floats  # noqa: N815
    correlations_FF: Floats  # noqa: N815
    converged: bool


def minres_factors(correlations_KK: Floats, *, n_factors: int) -> Factors | None:
    """Fit several factors by least squares of the correlations.

    Minimised over the uniquenesses is half the sum of squares of the eigenvalues of R - Psi after
    the first `n_factors`, which is the misfit off the diagonal with the best loadings put in.
    Uniquenesses are kept at .005 or above, as R's psych does, and it is said where they lie there.
    Of the minima reached from two starts (a half, and what the other items do not explain) the
    lower is taken.

    Parameters
    ----------
    correlations_KK : ndarray of float, shape (n_items, n_items)
        A correlation matrix; it may be singular.
    n_factors : int
        At least 1, fewer than items.

    Returns
    -------
    Factors or None
        None where R - Psi has fewer than `n_factors` positive eigenvalues.

    Examples
    --------
    >>> matrix = np.outer([0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.7, 0.6])
    >>> np.fill_diagonal(matrix, 1.0)
    >>> np.abs(minres_factors(matrix, n_factors=1).loadings_KF).round(6).tolist()
    [[0.9], [0.8], [0.7], [0.6]]
    """
    fits = [
        _minimised(start, correlations_KK, n_factors)
        for start in (np.full(len(correlations_KK), 0.5), _unexplained(correlations_KK))
    ]
    psi, converged = min(fits, key=lambda fit: _misfit(fit[0], correlations_KK, n_factors))
    roots, vectors = np.linalg.eigh(correlations_KK - np.diag(psi))
    if roots[-n_factors] <= 0:
        return None
    order = slice(None, -n_factors - 1, -1)
    return Factors(
        vectors[:, order] * np.sqrt(roots[order]), converged, psi <= LEAST_UNIQUENESS * (1 + 1e-9)
    )


def _unexplained(matrix: Floats) -> Floats:
    """1 - squared multiple correlations, where the matrix has an inverse; a half otherwise."""
    roots = np.linalg.eigvalsh(matrix)
    if roots[0] <= 1e-8 * roots[-1]:
        return np.full(len(matrix), 0.5)
    unexplained: Floats = np.clip(1 / np.diagonal(np.linalg.inv(matrix)), LEAST_UNIQUENESS, 1.0)
    return unexplained


def _misfit(psi: Floats, matrix: Floats, n_factors: int) -> float:
    """Half the squares of the smaller eigenvalues of R - Psi."""
    small = np.linalg.eigvalsh(matrix - np.diag(psi))[:-n_factors]
    return float(small @ small) / 2


def _slopes(psi: Floats, matrix: Floats, n_factors: int) -> tuple[Floats, Floats]:
    """First and second derivatives of the misfit, by perturbation of the eigenvalues."""
    roots, vectors = np.linalg.eigh(matrix - np.diag(psi))
    small, large = roots[:-n_factors], roots[-n_factors:]
    minor, major = vectors[:, :-n_factors], vectors[:, -n_factors:]
    # Between small roots all terms sum to the square of the projector.
    curvature: Floats = (minor @ minor.T) ** 2
    for root, vector in zip(large, major.T, strict=True):
        weights = 2 * small / np.minimum(small - root, -1e-12)
        curvature += ((minor * weights) @ minor.T) * np.outer(vector, vector)
    return -(minor**2) @ small, curvature


def _held(psi: Floats, gradient: Floats) -> NDArray[np.bool_]:
    """Which uniquenesses their bounds keep from moving on."""
    low, high = psi <= LEAST_UNIQUENESS, psi >= 1.0
    held: NDArray[np.bool_] = (low & (gradient > 0)) | (high & (gradient < 0))
    return held


def _minimised(psi: Floats, matrix: Floats, n_factors: int) -> tuple[Floats, bool]:
    """Newton's method within the bounds, steps halved while they lead uphill."""
    value = _misfit(psi, matrix, n_factors)
    for _ in range(_STEPS):
        gradient, curvature = _slopes(psi, matrix, n_factors)
        free = ~_held(psi, gradient)
        if np.abs(gradient[free]).max(initial=0.0) < 1e-13:
            break
        curve, axes = np.linalg.eigh(curvature[np.ix_(free, free)])
        # Where the valley curves down or hardly at all, its slope is followed all the same.
        step = np.zeros_like(psi)
        step[free] = axes @ ((gradient[free] @ axes) / np.maximum(np.abs(curve), 1e-4))
        for halving in range(30):
            new = np.clip(psi - step / 2**halving, LEAST_UNIQUENESS, 1.0)
            found = _misfit(new, matrix, n_factors)
            if found < value:
                break
        else:
            break
        psi, value = new, found
    gradient = _slopes(psi, matrix, n_factors)[0]
    return psi, bool(np.abs(gradient[~_held(psi, gradient)]).max(initial=0.0) < 1e-6)


def oblimin(loadings_KF: Floats) -> Oblique:
    """Rotate loadings to a simple pattern with correlated factors.

    Minimised is the sum over items and pairs of factors of the product of squared loadings
    (oblimin with gamma 0, quartimin), without row normalisation, by gradient projection: steps
    along the slope of the rotation, columns scaled back to length 1, halved while they lead uphill.
    Starts close to the unrotated axes; there may be other minima.

    Parameters
    ----------
    loadings_KF : ndarray of float, shape (n_items, n_factors)
        Unrotated loadings.

    Returns
    -------
    Oblique
        Columns signed so that they sum to no less than 0.

    References
    ----------
    .. [1] Jennrich, R. I. (2002), doi:10.1007/BF02294706.

    Examples
    --------
    >>> simple = np.array([[0.8, 0.0], [0.7, 0.0], [0.0, 0.6], [0.0, 0.9]])
    >>> turned = simple @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> (oblimin(turned).pattern_KF ** 2).max(axis=0).round(4).tolist()
    [0.64, 0.81]
    """
    n_factors = loadings_KF.shape[1]
    # A little off the unrotated axes: of symmetrical loadings those are a saddle.
    turn = np.eye(n_factors) + 0.01 * np.triu(np.ones((n_factors, n_factors)), 1)
    turn = turn / np.sqrt((turn**2).sum(axis=0))
    pattern, value, slope = _complexity(loadings_KF, turn)
    stride, converged = 1.0, False
    for _ in range(_TURNS):
        tangent = slope - turn * (turn * slope).sum(axis=0)
        length = float((tangent**2).sum())
        converged = length < _FLAT**2
        if converged:
            break
        stride *= 2
        for _ in range(60):
            new = turn - stride * tangent
            new = new / np.sqrt((new**2).sum(axis=0))
            tried = _complexity(loadings_KF, new)
            if tried[1] < value - 0.5 * stride * length:
                break
            stride /= 2
        else:
            # No step improves what rounding lets one see.
            converged = length < 1e-12
            break
        turn, (pattern, value, slope) = new, tried
    sign = np.where(pattern.sum(axis=0) < 0, -1.0, 1.0)
    return Oblique(pattern * sign, (turn.T @ turn) * np.outer(sign, sign), converged)


def _complexity(loadings: Floats, turn: Floats) -> tuple[Floats, float, Floats]:
    """The pattern A (T')^-1, its complexity sum l_if^2 l_ig^2 / 4 (f, g different), and dQ/dT."""
    inverse = np.linalg.inv(turn)
    pattern = loadings @ inverse.T
    squares = pattern**2
    others = squares.sum(axis=1, keepdims=True) - squares
    own = pattern * others
    return pattern, float((squares * others).sum()) / 4, -(pattern.T @ own @ inverse).T
