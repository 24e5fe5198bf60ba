"""One common factor by least squares of the covariances (minres), for many matrices at once.

Minimised is the sum over i < j of (s_ij - l_i l_j)^2: cyclic sweeps, each exact in one loading
(Harman and Jones), then Newton's method. No inverse of the matrix is needed, so singular matrices
and fewer subjects than items are no obstacle.

Shape suffixes: B = matrices, K = items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

_SWEEPS, _MORE_SWEEPS, _BOUNDED_SWEEPS, _STEPS = 60, 12, 20_000, 60
_CLOSE, _DONE, _CONVERGED = 1e-4, 1e-14, 1e-8
_RUNAWAY = 1e3  # a loading this many standard deviations long has no minimum to reach


class OneFactor(NamedTuple):
    """Loadings of one factor, one row a matrix, and whether each is at a minimum."""

    loadings_BK: Floats  # noqa: N815  a shape, not a case
    converged_B: NDArray[np.bool_]  # noqa: N815


def one_factor_minres(matrices_BKK: Floats, *, bounded: bool = False) -> OneFactor:
    """Fit one factor to covariance or correlation matrices.

    Parameters
    ----------
    matrices_BKK : ndarray of float, shape (n_matrices, n_items, n_items)
        Symmetric, with positive diagonals; three items or more.
    bounded : bool
        Whether uniquenesses may not be negative: no loading is longer than its item's standard
        deviation.

    Returns
    -------
    OneFactor
        Loadings of shape (n_matrices, n_items), signed so that their sum is not negative; NaN where
        the covariances do not sum to more than 0. Not converged where no minimum was reached.

    Notes
    -----
    Starts at ``sum_j s_ij / sqrt(sum_ij s_ij)``, i and j different. Time O(B K^2) a sweep, O(B K^3)
    a Newton step, of which three to eight are usual.

    References
    ----------
    .. [1] Harman, H. H. and Jones, W. H. (1966), doi:10.1007/BF02289468.

    Examples
    --------
    Three items have one exact solution, l_1 = sqrt(r12 r13 / r23):

    >>> found = one_factor_minres(np.array([[[1.0, 0.72, 0.63], [0.72, 1, 0.56], [0.63, 0.56, 1]]]))
    >>> found.loadings_BK.round(6).tolist(), found.converged_B.tolist()
    ([[0.9, 0.8, 0.7]], [True])
    """
    spread_BK = np.sqrt(np.diagonal(matrices_BKK, axis1=1, axis2=2))
    # In units of each matrix's largest standard deviation all tolerances are relative.
    unit_B = spread_BK.max(axis=1, initial=0.0)
    n_items = matrices_BKK.shape[-1]
    offdiagonal = (matrices_BKK / unit_B[:, None, None] ** 2) * (1 - np.eye(n_items))
    rows_BK = offdiagonal.sum(axis=2)
    total_B = rows_BK.sum(axis=1)
    usable = total_B > 0
    loadings = np.full(rows_BK.shape, np.nan)
    converged = np.zeros(len(rows_BK), dtype=bool)
    if usable.any():
        start = rows_BK[usable] / np.sqrt(total_B[usable, None])
        bound = (spread_BK / unit_B[:, None])[usable]
        fit = _bounded if bounded else _free
        loadings[usable], converged[usable] = fit(offdiagonal[usable], start, bound)
    return OneFactor(loadings * unit_B[:, None], converged)


def _sweep(offdiagonal: Floats, loadings: Floats) -> float:
    """Set each loading in turn to its best value, in place; the largest change is returned."""
    before = loadings.copy()
    squares = _products(loadings, loadings)
    for i in range(loadings.shape[1]):
        own = loadings[:, i].copy()
        others = squares - own**2
        cross = _products(offdiagonal[:, i], loadings)
        new = np.divide(cross, others, out=own.copy(), where=others > 1e-12)
        loadings[:, i] = new
        squares = others + new**2
    return float(np.abs(loadings - before).max(initial=0.0))


def _bounded(
    offdiagonal: Floats, loadings: Floats, bound: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Sweeps alone, every loading kept within its bound."""
    loadings = np.clip(loadings, -bound, bound)
    for _ in range(_BOUNDED_SWEEPS):
        before = loadings.copy()
        for i in range(loadings.shape[1]):
            others = (loadings**2).sum(axis=1) - loadings[:, i] ** 2
            cross = (offdiagonal[:, i] * loadings).sum(axis=1)
            new = np.divide(cross, others, out=loadings[:, i].copy(), where=others > 1e-12)
            loadings[:, i] = np.clip(new, -bound[:, i], bound[:, i])
        change = np.abs(loadings - before).max(axis=1)
        if (change < 1e-13).all():
            break
    return _signed(loadings), change < 1e-9


def _free(
    offdiagonal: Floats, loadings: Floats, _bound: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Sweeps until close, then Newton's method; a step that leads uphill becomes more sweeps."""
    loadings = loadings.copy()
    for _ in range(_SWEEPS):
        if _sweep(offdiagonal, loadings) < _CLOSE:
            break
    active = np.arange(len(loadings))
    for _ in range(_STEPS):
        here, own = loadings[active], offdiagonal[active]
        gradient = _gradient(own, here)
        done = np.abs(gradient).max(axis=1) <= _DONE
        runaway = np.abs(here).max(axis=1) > _RUNAWAY
        active, here, own = (part[~(done | runaway)] for part in (active, here, own))
        if not active.size:
            break
        new = here - _newton_step(own, here)
        uphill = ~(_misfit(own, new) <= _misfit(own, here) * (1 + 1e-12) + 1e-28)
        if uphill.any():
            swept = here[uphill]
            for _ in range(_MORE_SWEEPS):
                _sweep(own[uphill], swept)
            new[uphill] = swept
        loadings[active] = new
    small = np.abs(_gradient(offdiagonal, loadings)).max(axis=1) <= _CONVERGED
    return _signed(loadings), small & (np.abs(loadings).max(axis=1) <= _RUNAWAY)


def _gradient(offdiagonal: Floats, loadings: Floats) -> Floats:
    """l_i (s - l_i^2) - sum_j r_ij l_j, s the sum of squares: half the slope of the misfit."""
    squares = _products(loadings, loadings)[:, None]
    cross = np.matmul(offdiagonal, loadings[:, :, None])[:, :, 0]
    gradient: Floats = loadings * (squares - loadings**2) - cross
    return gradient


def _newton_step(offdiagonal: Floats, loadings: Floats) -> Floats:
    """H^-1 g, H_ii = s - l_i^2, H_ij = 2 l_i l_j - r_ij."""
    hessian = 2 * loadings[:, :, None] * loadings[:, None, :] - offdiagonal
    items = np.arange(loadings.shape[1])
    squares = _products(loadings, loadings)[:, None]
    # A trace on the diagonal keeps a flat valley solvable and moves no minimum.
    hessian[:, items, items] = squares - loadings**2 + 1e-12
    gradient = _gradient(offdiagonal, loadings)
    try:
        step = np.asarray(np.linalg.solve(hessian, gradient[:, :, None]), dtype=np.float64)[:, :, 0]
    except np.linalg.LinAlgError:
        inverse = np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)
        step = (inverse @ gradient[:, :, None])[:, :, 0]
    return step


def _misfit(offdiagonal: Floats, loadings: Floats) -> Floats:
    """Sum of squared residuals off the diagonal."""
    residual = offdiagonal - loadings[:, :, None] * loadings[:, None, :]
    items = np.arange(loadings.shape[1])
    residual[:, items, items] = 0.0
    misfit: Floats = np.einsum("bij,bij->b", residual, residual)
    return misfit


def _products(a_BK: Floats, b_BK: Floats) -> Floats:
    """Sums over items; a third of the time that ``sum`` takes along a short axis."""
    products: Floats = np.einsum("bk,bk->b", a_BK, b_BK)
    return products


def _signed(loadings: Floats) -> Floats:
    """The factor turned so that its loadings sum to no less than 0."""
    turned: Floats = loadings * np.where(loadings.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return turned
