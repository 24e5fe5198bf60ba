"""One common factor by least squares of the covariances (minres), for many matrices at once.

Minimised is the sum over i < j of (s_ij - l_i l_j)^2 with no loading longer than its item's
standard deviation: cyclic sweeps, each exact in one loading (Harman and Jones), then Newton's
method. No inverse of the matrix is needed, so singular matrices and fewer subjects than items are
no obstacle.

Functions of a factor's loadings or uniquenesses have several minima, and the lowest of two is often
not the lowest there is: of six items and three factors two starts miss it in one set of six. So
many functions are minimised at once, each within a box, from many starts.

Shape suffixes: B = matrices or functions, S = starts, N = points (a start of a function), K = items
or coordinates.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats

_FIRST, _STEPS, _HALVINGS = 6, 200, 30
_FLAT, _CONVERGED, _EQUAL = 1e-13, 1e-8, 1e-12
_CELLS = 2_000_000  # entries of all curvature matrices held at once


class Functions(Protocol):
    """Twice differentiable functions, numbered from 0."""

    def at(self, x_NK: Floats, which_N: NDArray[np.intp]) -> tuple[Floats, tuple[Floats, ...]]:
        """Values of the functions `which_N`, and what was computed on the way to them."""

    def slopes(
        self, x_NK: Floats, which_N: NDArray[np.intp], parts: tuple[Floats, ...]
    ) -> tuple[Floats, Floats]:
        """First and second derivatives."""


class Lowest(NamedTuple):
    """The lowest minimum of each function, and whether its slope is flat there."""

    x_BK: Floats  # noqa: N815  a shape, not a case
    value_B: Floats  # noqa: N815
    converged_B: NDArray[np.bool_]  # noqa: N815


def lowest_minima(
    functions: Functions, start_BSK: Floats, low_BK: Floats, high_BK: Floats
) -> Lowest:
    """Minimise every function from all its starts, and keep the lowest.

    Newton's method, steps shortened while they lead uphill: six from every start, then from the
    quarter of the starts that lead lowest until the slope is flat.

    Notes
    -----
    Of 810 matrices of noise, of one and of three groups (6 to 16 items, three factors, 50
    subjects), carrying on from eight of 32 starts missed no minimum that carrying on from all or
    from 120 found; from four after three steps it missed five. `bench/omega_starts.py` counts.
    """
    n_functions, n_starts, width = start_BSK.shape
    size = max(1, _CELLS // (n_starts * width**2))
    parts = [
        _lowest_misfit_solution(functions, start_BSK[some], low_BK[some], high_BK[some], some)
        for begun in range(0, n_functions, size)
        for some in [np.arange(begun, min(begun + size, n_functions))]
    ]
    return Lowest(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _lowest_misfit_solution(
    functions: Functions, start: Floats, low: Floats, high: Floats, some: NDArray[np.intp]
) -> Lowest:
    n, n_starts, width = start.shape
    keep = max(1, n_starts // 4)
    found, value = start, np.zeros((n, n_starts))
    for kept, steps in ((n_starts, _FIRST), (keep, _STEPS)):
        order = np.argsort(value, axis=1, kind="stable")[:, :kept, None]
        points = np.take_along_axis(found, order, axis=1).reshape(-1, width)
        ends = np.repeat(low, kept, axis=0), np.repeat(high, kept, axis=0)
        x, y, flat = _newton_from_every_point(
            functions, points, *ends, np.repeat(some, kept), steps
        )
        found, value = x.reshape(n, kept, width), y.reshape(n, kept)
    # Of minima that are equal the one nearest to 0, so that no order of coordinates decides.
    equal = value <= value.min(axis=1, keepdims=True) + _EQUAL
    best = np.where(equal, (found**2).sum(axis=2), np.inf).argmin(axis=1)
    rows = np.arange(n)
    return Lowest(found[rows, best], value[rows, best], flat.reshape(n, keep)[rows, best])


def _newton_from_every_point(
    functions: Functions, x: Floats, low: Floats, high: Floats, which: NDArray[np.intp], steps: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Newton's method from every point; values, and where the slope is flat at the end."""
    x = np.clip(x, low, high)
    value, parts = functions.at(x, which)
    active = np.arange(len(x))
    for _ in range(steps):
        gradient, curvature, held = _slopes_inside_bounds(
            functions, x, low, high, which, parts, active
        )
        going = np.abs(gradient).max(axis=1) >= _FLAT
        active, gradient, curvature, held = (
            one[going] for one in (active, gradient, curvature, held)
        )
        if not active.size:
            break
        # A coordinate at its end stays there: a row and a column of its own.
        curvature[held] = 0.0
        curvature.swapaxes(1, 2)[held] = 0.0
        point, coordinate = np.nonzero(held)
        curvature[point, coordinate, coordinate] = 1.0
        roots, axes = np.linalg.eigh(curvature)
        # Where the valley curves down or hardly at all, its slope is followed all the same.
        along = np.matmul(axes.swapaxes(1, 2), gradient[:, :, None])
        step = np.matmul(axes, along / np.maximum(np.abs(roots), 1e-4)[:, :, None])[:, :, 0]
        uphill = np.arange(active.size)
        for halving in range(_HALVINGS):
            rows = active[uphill]
            new = np.clip(x[rows] - step[uphill] / 2**halving, low[rows], high[rows])
            tried, new_parts = functions.at(new, which[rows])
            lower = tried < value[rows]
            rows = rows[lower]
            x[rows], value[rows] = new[lower], tried[lower]
            for part, new_part in zip(parts, new_parts, strict=True):
                part[rows] = new_part[lower]
            uphill = uphill[~lower]
            if not uphill.size:
                break
        active = np.delete(active, uphill)
        if not active.size:
            break
    gradient, *_ = _slopes_inside_bounds(functions, x, low, high, which, parts, np.arange(len(x)))
    return x, value, np.abs(gradient).max(axis=1) <= _CONVERGED


def _slopes_inside_bounds(
    functions: Functions,
    x: Floats,
    low: Floats,
    high: Floats,
    which: NDArray[np.intp],
    parts: tuple[Floats, ...],
    rows: NDArray[np.intp],
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Slopes of some points, 0 along coordinates that their box holds, and which those are."""
    at = x[rows]
    gradient, curvature = functions.slopes(at, which[rows], tuple(one[rows] for one in parts))
    held = ((at <= low[rows]) & (gradient > 0)) | ((at >= high[rows]) & (gradient < 0))
    return np.where(held, 0.0, gradient), curvature, held


_SWEEPS, _MORE_SWEEPS, _MINRES_STEPS = 60, 12, 60
_CLOSE, _DONE, _MINRES_CONVERGED = 1e-4, 1e-14, 1e-8
_RUNAWAY = 1e3  # a loading this many standard deviations long has no minimum to reach
_BEYOND = 1e-8  # of a variance: how far a uniqueness below 0 is no rounding


class OneFactor(NamedTuple):
    """Loadings of one factor, one row a matrix, and whether each is at a minimum."""

    # Shape (n_matrices, n_items). Of the admissible solution: no loading longer than its item's
    # standard deviation.
    loadings_BK: Floats  # noqa: N815  a shape, not a case
    # Shape (n_matrices,). Whether they are at a minimum.
    converged_B: NDArray[np.bool_]  # noqa: N815
    # Shape (n_matrices,). Whether that minimum is at the bound only because the bound is there:
    # without it a uniqueness would be negative, or there would be no minimum.
    heywood_B: NDArray[np.bool_]  # noqa: N815


def one_factor_minres(matrices_BKK: Floats) -> OneFactor:
    """Fit one factor to covariance or correlation matrices.

    Notes
    -----
    Starts at ``sum_j s_ij / sqrt(sum_ij s_ij)``, i and j different. Where that leads to a proper
    minimum with no negative loading, it is taken: among 1,131 matrices of 3 to 10 items, 120 other
    starts found a lower one in two, both of noise. Elsewhere it is the lowest minimum within the
    bounds that is reached from there and from every item's own covariances, that item's loading at
    its bound. Time O(B K^2) a sweep, O(B K^3) a Newton step, of which three to eight are usual.

    References
    ----------
    .. [1] Harman, H. H. and Jones, W. H. (1966), doi:10.1007/BF02289468.
    """
    offdiagonal, bound, unit_B = _scaled_covariances(matrices_BKK)
    rows_BK = offdiagonal.sum(axis=2)
    total_B = rows_BK.sum(axis=1)
    usable = total_B > 0
    loadings = np.full(rows_BK.shape, np.nan)
    converged, heywood = np.zeros((2, len(rows_BK)), dtype=bool)
    if usable.any():
        start = rows_BK[usable] / np.sqrt(total_B[usable, None])
        fit = _admissible_loadings(offdiagonal[usable], start, bound[usable])
        loadings[usable], converged[usable], heywood[usable] = fit
    return OneFactor(loadings * unit_B[:, None], converged, heywood)


def two_item_loadings(matrices_BKK: Floats) -> Floats:
    """Give two items equal loadings, or as equal as their standard deviations admit.

    NaN where the covariance is not above 0.
    """
    shared_B = np.where(matrices_BKK[:, 0, 1] > 0, matrices_BKK[:, 0, 1], np.nan)
    spread_BK = np.sqrt(np.diagonal(matrices_BKK, axis1=1, axis2=2))
    shorter_BK = np.minimum(np.sqrt(shared_B)[:, None], spread_BK)
    # The product of both loadings is the covariance: one shorter makes the other longer.
    kept_BK = spread_BK <= spread_BK[:, ::-1]
    return np.where(kept_BK, shorter_BK, shared_B[:, None] / shorter_BK[:, ::-1])


def improper_minres(matrix_KK: Floats, loadings_K: Floats) -> Floats | None:
    """Fit one factor whose uniquenesses may be negative, from the loadings of a Heywood case.

    Shape (n_items,). None where the bound is all that keeps a loading from growing without end.

    Examples
    --------
    l_1^2 = .8 x .8 / .5 = 1.28:

    >>> matrix = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    >>> within = one_factor_minres(matrix[None])
    >>> improper_minres(matrix, within.loadings_BK[0]).round(4).tolist()
    [1.1314, 0.7071, 0.7071]
    """
    offdiagonal, bound, unit_B = _scaled_covariances(matrix_KK[None])
    loadings, converged = _free_minimum(offdiagonal, loadings_K[None] / unit_B)
    found: Floats = loadings[0] * unit_B[0]
    return found if converged[0] and _has_negative_uniqueness(loadings, bound)[0] else None


def _scaled_covariances(matrices: Floats) -> tuple[Floats, Floats, Floats]:
    """Covariances without their diagonals, bounds and units: then all tolerances are relative."""
    spread = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    unit = spread.max(axis=1, initial=0.0)
    offdiagonal = (matrices / unit[:, None, None] ** 2) * (1 - np.eye(matrices.shape[-1]))
    return offdiagonal, spread / unit[:, None], unit


def _admissible_loadings(offdiagonal: Floats, start: Floats, bound: Floats) -> OneFactor:
    """The free solution where it is proper beyond doubt, the lowest within the bounds elsewhere."""
    loadings, converged = _free_minimum(offdiagonal, start)
    heywood = np.zeros(len(start), dtype=bool)
    doubtful = ~converged | _has_negative_uniqueness(loadings, bound) | (loadings < 0).any(axis=1)
    if doubtful.any():
        left, ends = offdiagonal[doubtful], bound[doubtful]
        parts = left / ends[:, :, None]
        items = np.arange(start.shape[1])
        parts[:, items, items] = ends
        starts = np.concatenate([start[doubtful, None], parts], axis=1)
        starts = np.clip(starts, -ends[:, None], ends[:, None])
        found = lowest_minima(OneFactorMisfit(left), starts, -ends, ends)
        loadings[doubtful] = _loadings_of_positive_sum(found.x_BK)
        converged[doubtful] = found.converged_B
        # Held at its end by a slope that leads on: the minimum lies beyond.
        outward: Floats = -_gradient_of_misfit(left, found.x_BK) * np.sign(found.x_BK)
        outward[np.abs(found.x_BK) < ends] = 0.0
        heywood[np.flatnonzero(doubtful)[outward.max(axis=1) > _MINRES_CONVERGED]] = True
    return OneFactor(loadings, converged, heywood)


def _has_negative_uniqueness(loadings: Floats, bound: Floats) -> NDArray[np.bool_]:
    """Whether any uniqueness is negative."""
    excess: Floats = (loadings**2 - bound**2 * (1 + _BEYOND)).max(axis=1)
    return excess > 0


class OneFactorMisfit:
    """A quarter of the squared residuals off the diagonal, as functions of the loadings."""

    def __init__(self, offdiagonal_BKK: Floats) -> None:
        self.offdiagonal_BKK = offdiagonal_BKK

    def at(self, x_NK: Floats, which_N: NDArray[np.intp]) -> tuple[Floats, tuple[Floats, ...]]:
        """Misfits; nothing is kept."""
        return _misfit_of_loadings(self.offdiagonal_BKK[which_N], x_NK) / 4, ()

    def slopes(
        self, x_NK: Floats, which_N: NDArray[np.intp], parts: tuple[Floats, ...]
    ) -> tuple[Floats, Floats]:
        """In closed form."""
        del parts
        offdiagonal = self.offdiagonal_BKK[which_N]
        return _gradient_of_misfit(offdiagonal, x_NK), _curvature_of_misfit(offdiagonal, x_NK)


def _sweep_over_loadings(offdiagonal: Floats, loadings: Floats) -> float:
    """Set each loading in turn to its best value, in place; the largest change is returned."""
    before = loadings.copy()
    squares = _products_over_items(loadings, loadings)
    for i in range(loadings.shape[1]):
        parts = loadings[:, i].copy()
        others = squares - parts**2
        cross = _products_over_items(offdiagonal[:, i], loadings)
        new = np.divide(cross, others, out=parts.copy(), where=others > 1e-12)
        loadings[:, i] = new
        squares = others + new**2
    return float(np.abs(loadings - before).max(initial=0.0))


def _free_minimum(offdiagonal: Floats, loadings: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Sweeps until close, then Newton's method; a step that leads uphill becomes more sweeps."""
    loadings = loadings.copy()
    for _ in range(_SWEEPS):
        if _sweep_over_loadings(offdiagonal, loadings) < _CLOSE:
            break
    active = np.arange(len(loadings))
    for _ in range(_MINRES_STEPS):
        here, parts = loadings[active], offdiagonal[active]
        gradient = _gradient_of_misfit(parts, here)
        done = np.abs(gradient).max(axis=1) <= _DONE
        runaway = np.abs(here).max(axis=1) > _RUNAWAY
        active, here, parts = (part[~(done | runaway)] for part in (active, here, parts))
        if not active.size:
            break
        new = here - _newton_step(parts, here)
        uphill = ~(
            _misfit_of_loadings(parts, new)
            <= _misfit_of_loadings(parts, here) * (1 + 1e-12) + 1e-28
        )
        if uphill.any():
            swept = here[uphill]
            for _ in range(_MORE_SWEEPS):
                _sweep_over_loadings(parts[uphill], swept)
            new[uphill] = swept
        loadings[active] = new
    small = np.abs(_gradient_of_misfit(offdiagonal, loadings)).max(axis=1) <= _MINRES_CONVERGED
    return _loadings_of_positive_sum(loadings), small & (np.abs(loadings).max(axis=1) <= _RUNAWAY)


def _gradient_of_misfit(offdiagonal: Floats, loadings: Floats) -> Floats:
    """l_i (s - l_i^2) - sum_j r_ij l_j, s the sum of squares: half the slope of the misfit."""
    squares = _products_over_items(loadings, loadings)[:, None]
    cross = np.matmul(offdiagonal, loadings[:, :, None])[:, :, 0]
    gradient: Floats = loadings * (squares - loadings**2) - cross
    return gradient


def _newton_step(offdiagonal: Floats, loadings: Floats) -> Floats:
    """H^-1 g."""
    hessian = _curvature_of_misfit(offdiagonal, loadings)
    gradient = _gradient_of_misfit(offdiagonal, loadings)
    try:
        step = np.asarray(np.linalg.solve(hessian, gradient[:, :, None]), dtype=np.float64)[:, :, 0]
    except np.linalg.LinAlgError:
        inverse = np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)
        step = (inverse @ gradient[:, :, None])[:, :, 0]
    return step


def _curvature_of_misfit(offdiagonal: Floats, loadings: Floats) -> Floats:
    """H_ii = s - l_i^2, H_ij = 2 l_i l_j - r_ij."""
    hessian: Floats = 2 * loadings[:, :, None] * loadings[:, None, :] - offdiagonal
    items = np.arange(loadings.shape[1])
    squares = _products_over_items(loadings, loadings)[:, None]
    # A trace on the diagonal keeps a flat valley solvable and moves no minimum.
    hessian[:, items, items] = squares - loadings**2 + 1e-12
    return hessian


def _misfit_of_loadings(offdiagonal: Floats, loadings: Floats) -> Floats:
    """Sum of squared residuals off the diagonal."""
    residual = offdiagonal - loadings[:, :, None] * loadings[:, None, :]
    items = np.arange(loadings.shape[1])
    residual[:, items, items] = 0.0
    misfit: Floats = np.einsum("bij,bij->b", residual, residual)
    return misfit


def _products_over_items(a_BK: Floats, b_BK: Floats) -> Floats:
    """Sums over items; a third of the time that ``sum`` takes along a short axis."""
    products: Floats = np.einsum("bk,bk->b", a_BK, b_BK)
    return products


def _loadings_of_positive_sum(loadings: Floats) -> Floats:
    """The factor turned so that its loadings sum to no less than 0."""
    turned: Floats = loadings * np.where(loadings.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return turned
