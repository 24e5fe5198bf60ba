"""Several common factors by minres, and their oblique rotation.

Shape suffixes: B = matrices, N = points, K = items, F = factors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.box_newton import lowest_minima
from judgerel_ray.stats.statistic import Floats

LEAST_UNIQUENESS = 0.005
_TURNS, _HALVINGS, _FLAT = 5000, 60, 1e-10
_STARTS, _UNIQUENESSES = (8, 32), 320  # fewest and most starts; uniquenesses in all of them


class Factors(NamedTuple):
    """Unrotated loadings, whether a minimum was reached, and the uniquenesses there."""

    loadings_BKF: Floats  # noqa: N815  a shape, not a case
    converged_B: NDArray[np.bool_]  # noqa: N815
    uniquenesses_BK: Floats  # noqa: N815

    @property
    def at_bound_BK(self) -> NDArray[np.bool_]:  # noqa: N802
        """Which uniquenesses lie at their bound."""
        at_bound: NDArray[np.bool_] = self.uniquenesses_BK <= LEAST_UNIQUENESS * (1 + 1e-9)
        return at_bound


class Oblique(NamedTuple):
    """Rotated patterns, the correlations of their factors, and whether a minimum was reached."""

    pattern_BKF: Floats  # noqa: N815
    correlations_BFF: Floats  # noqa: N815
    converged_B: NDArray[np.bool_]  # noqa: N815


def minres_factors(correlations_BKK: Floats, *, n_factors: int) -> Factors:
    """Fit several factors by least squares of the correlations, of many matrices at once.

    Minimised over the uniquenesses is half the sum of squares of the eigenvalues of R - Psi after
    the first `n_factors`, which is the misfit off the diagonal with the best loadings put in.
    Uniquenesses are kept at .005 or above, as R's psych does, and it is said where they lie there.
    The lowest minimum is taken that is reached from many starts: uniquenesses of a half, what the
    other items do not explain (psych's only start), and points all over the box.

    Parameters
    ----------
    correlations_BKK : ndarray of float, shape (n_matrices, n_items, n_items)
        Correlation matrices; they may be singular.
    n_factors : int
        At least 1, fewer than items.

    Returns
    -------
    Factors
        Loadings of shape (n_matrices, n_items, n_factors); NaN where R - Psi has fewer than
        `n_factors` positive eigenvalues.

    Notes
    -----
    32 starts up to ten items, where minima are many, down to eight from 40 on: 0.2 ms a matrix and
    start with ten items.

    Examples
    --------
    >>> matrix = np.outer([0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.7, 0.6])
    >>> np.fill_diagonal(matrix, 1.0)
    >>> np.abs(minres_factors(matrix[None], n_factors=1).loadings_BKF[0]).round(6).tolist()
    [[0.9], [0.8], [0.7], [0.6]]
    """
    n, n_items = correlations_BKK.shape[:2]
    least = np.full((n, n_items), LEAST_UNIQUENESS)
    found = lowest_minima(
        Misfit(correlations_BKK, n_factors),
        _starts(correlations_BKK),
        least,
        np.ones_like(least),
    )
    roots, vectors = _shared(correlations_BKK, found.x_BK)
    last = slice(None, -n_factors - 1, -1)
    top = np.where(roots[:, -n_factors, None] > 0, roots[:, last], np.nan)
    return Factors(
        vectors[:, :, last] * np.sqrt(top)[:, None, :],
        found.converged_B,
        found.x_BK,
    )


class Misfit:
    """Half the squares of the smaller eigenvalues of R - Psi, as functions of the uniquenesses."""

    def __init__(self, matrices_BKK: Floats, n_factors: int) -> None:
        self.matrices_BKK, self.n_factors = matrices_BKK, n_factors

    def at(self, x_NK: Floats, which_N: NDArray[np.intp]) -> tuple[Floats, tuple[Floats, ...]]:
        """Misfits, with the eigenvalues and eigenvectors."""
        roots, vectors = _shared(self.matrices_BKK[which_N], x_NK)
        small = roots[:, : -self.n_factors]
        return np.einsum("ns,ns->n", small, small) / 2, (roots, vectors)

    def slopes(
        self, x_NK: Floats, which_N: NDArray[np.intp], parts: tuple[Floats, ...]
    ) -> tuple[Floats, Floats]:
        """By perturbation of the eigenvalues."""
        del x_NK, which_N  # all is in the eigenvalues
        roots, vectors = parts
        small, minor = roots[:, : -self.n_factors], vectors[:, :, : -self.n_factors]
        # Between small roots all terms sum to the square of the projector.
        curvature: Floats = np.matmul(minor, minor.swapaxes(1, 2)) ** 2
        for place in range(1, self.n_factors + 1):
            weights = 2 * small / np.minimum(small - roots[:, -place, None], -1e-12)
            vector = vectors[:, :, -place]
            turned = np.matmul(minor * weights[:, None, :], minor.swapaxes(1, 2))
            curvature += turned * vector[:, :, None] * vector[:, None, :]
        return -np.einsum("nks,ns->nk", minor**2, small), curvature


def _shared(matrices_NKK: Floats, psi_NK: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and eigenvectors of R - Psi."""
    shared = matrices_NKK.copy()
    items = np.arange(psi_NK.shape[1])
    shared[:, items, items] -= psi_NK
    return np.linalg.eigh(shared)


def _starts(matrices_BKK: Floats) -> Floats:
    """A half, what other items do not explain, and points all over, the same for all matrices."""
    n, n_items = matrices_BKK.shape[:2]
    n_starts = int(np.clip(_UNIQUENESSES // n_items, *_STARTS))
    points = np.random.default_rng(0).uniform(LEAST_UNIQUENESS, 1.0, (n_starts - 2, n_items))
    starts = np.empty((n, n_starts, n_items))
    starts[:, 0], starts[:, 1] = 0.5, _unexplained(matrices_BKK)
    # Items by how much they share, so that their order in the matrix makes no difference.
    order = np.argsort((matrices_BKK**2).sum(axis=2), axis=1)
    place = np.broadcast_to(order[:, None, :], (n, n_starts - 2, n_items))
    np.put_along_axis(starts[:, 2:], place, np.broadcast_to(points, place.shape), axis=2)
    return starts


def _unexplained(matrices_BKK: Floats) -> Floats:
    """1 - squared multiple correlations, where the matrix has an inverse; a half otherwise."""
    roots = np.linalg.eigvalsh(matrices_BKK)
    sound = roots[:, 0] > 1e-8 * roots[:, -1]
    unexplained: Floats = np.full(matrices_BKK.shape[:2], 0.5)
    inverse = np.linalg.inv(matrices_BKK[sound])
    unexplained[sound] = 1 / np.diagonal(inverse, axis1=1, axis2=2)
    return np.clip(unexplained, LEAST_UNIQUENESS, 1.0)


def oblimin(loadings_BKF: Floats) -> Oblique:
    """Rotate loadings to a simple pattern with correlated factors, of many matrices at once.

    Minimised is the sum over items and pairs of factors of the product of squared loadings
    (oblimin with gamma 0, quartimin), without row normalisation, by gradient projection: steps
    along the slope of the rotation, columns scaled back to length 1, halved while they lead uphill.
    It starts close to the unrotated axes: of 310 sets of 6 to 12 items none of 20 other starts led
    lower.

    Parameters
    ----------
    loadings_BKF : ndarray of float, shape (n_matrices, n_items, n_factors)
        Unrotated loadings, finite.

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
    >>> (oblimin(turned[None]).pattern_BKF[0] ** 2).max(axis=0).round(4).tolist()
    [0.64, 0.81]
    """
    n, _, n_factors = loadings_BKF.shape
    # A little off the unrotated axes: of symmetrical loadings those are a saddle.
    near = np.eye(n_factors) + 0.01 * np.triu(np.ones((n_factors, n_factors)), 1)
    turn = np.repeat((near / np.sqrt((near**2).sum(axis=0)))[None], n, axis=0)
    pattern, value, slope = _complexity(loadings_BKF, turn)
    stride, converged = np.ones(n), np.zeros(n, dtype=bool)
    active = np.arange(n)
    for _ in range(_TURNS):
        here, down = turn[active], slope[active]
        tangent = down - here * (here * down).sum(axis=1, keepdims=True)
        length = np.einsum("nfg,nfg->n", tangent, tangent)
        flat = length < _FLAT**2
        converged[active[flat]] = True
        active, here, tangent, length = (one[~flat] for one in (active, here, tangent, length))
        if not active.size:
            break
        stride[active] *= 2
        uphill = np.arange(active.size)
        for _ in range(_HALVINGS):
            rows = active[uphill]
            new = here[uphill] - stride[rows, None, None] * tangent[uphill]
            new = new / np.sqrt((new**2).sum(axis=1, keepdims=True))
            tried = _complexity(loadings_BKF[rows], new)
            lower = tried[1] < value[rows] - 0.5 * stride[rows] * length[uphill]
            rows = rows[lower]
            turn[rows] = new[lower]
            pattern[rows], value[rows], slope[rows] = (one[lower] for one in tried)
            uphill = uphill[~lower]
            if not uphill.size:
                break
            stride[active[uphill]] /= 2
        # No step improves what rounding lets one see.
        converged[active[uphill]] = length[uphill] < 1e-12
        active = np.delete(active, uphill)
    sign = np.where(pattern.sum(axis=1) < 0, -1.0, 1.0)
    correlations = np.matmul(turn.swapaxes(1, 2), turn) * sign[:, :, None] * sign[:, None, :]
    return Oblique(pattern * sign[:, None, :], correlations, converged)


def _complexity(loadings: Floats, turn: Floats) -> tuple[Floats, Floats, Floats]:
    """The pattern A (T')^-1, its complexity sum l_if^2 l_ig^2 / 4 (f, g different), and dQ/dT."""
    inverse = np.linalg.inv(turn)
    pattern: Floats = np.matmul(loadings, inverse.swapaxes(1, 2))
    squares = pattern**2
    others = squares.sum(axis=2, keepdims=True) - squares
    slope = np.matmul(np.matmul(pattern.swapaxes(1, 2), pattern * others), inverse)
    return pattern, np.einsum("nkf,nkf->n", squares, others) / 4, -slope.swapaxes(1, 2)
