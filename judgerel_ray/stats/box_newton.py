"""The lowest minimum of many functions at once, each within a box, from many starts.

Functions of a factor's loadings or uniquenesses have several minima, and the lowest of two is often
not the lowest there is: of six items and three factors two starts miss it in one set of six.

Shape suffixes: B = functions, S = starts, N = points (a start of a function), K = coordinates.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

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

    Parameters
    ----------
    functions : Functions
        The functions.
    start_BSK : ndarray of float, shape (n_functions, n_starts, n_coordinates)
        Points within the box.
    low_BK, high_BK : ndarray of float, shape (n_functions, n_coordinates)
        Ends of the box.

    Returns
    -------
    Lowest

    Notes
    -----
    Of 810 matrices of noise, of one and of three groups (6 to 16 items, three factors, 50
    subjects), carrying on from eight of 32 starts missed no minimum that carrying on from all or
    from 120 found; from four after three steps it missed five. `bench/omega_starts.py` counts.
    """
    n_functions, n_starts, width = start_BSK.shape
    size = max(1, _CELLS // (n_starts * width**2))
    parts = [
        _lowest(functions, start_BSK[some], low_BK[some], high_BK[some], some)
        for begun in range(0, n_functions, size)
        for some in [np.arange(begun, min(begun + size, n_functions))]
    ]
    return Lowest(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _lowest(
    functions: Functions, start: Floats, low: Floats, high: Floats, some: NDArray[np.intp]
) -> Lowest:
    """The lowest minima of some functions."""
    n, n_starts, width = start.shape
    keep = max(1, n_starts // 4)
    found, value = start, np.zeros((n, n_starts))
    for kept, steps in ((n_starts, _FIRST), (keep, _STEPS)):
        order = np.argsort(value, axis=1, kind="stable")[:, :kept, None]
        points = np.take_along_axis(found, order, axis=1).reshape(-1, width)
        ends = np.repeat(low, kept, axis=0), np.repeat(high, kept, axis=0)
        x, y, flat = _newton(functions, points, *ends, np.repeat(some, kept), steps)
        found, value = x.reshape(n, kept, width), y.reshape(n, kept)
    # Of minima that are equal the one nearest to 0, so that no order of coordinates decides.
    equal = value <= value.min(axis=1, keepdims=True) + _EQUAL
    best = np.where(equal, (found**2).sum(axis=2), np.inf).argmin(axis=1)
    rows = np.arange(n)
    return Lowest(found[rows, best], value[rows, best], flat.reshape(n, keep)[rows, best])


def _newton(
    functions: Functions, x: Floats, low: Floats, high: Floats, which: NDArray[np.intp], steps: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Newton's method from every point; values, and where the slope is flat at the end."""
    x = np.clip(x, low, high)
    value, parts = functions.at(x, which)
    active = np.arange(len(x))
    for _ in range(steps):
        gradient, curvature, held = _slopes(functions, x, low, high, which, parts, active)
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
            for mine, theirs in zip(parts, new_parts, strict=True):
                mine[rows] = theirs[lower]
            uphill = uphill[~lower]
            if not uphill.size:
                break
        active = np.delete(active, uphill)
        if not active.size:
            break
    gradient, *_ = _slopes(functions, x, low, high, which, parts, np.arange(len(x)))
    return x, value, np.abs(gradient).max(axis=1) <= _CONVERGED


def _slopes(
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
