"""Many tests at once: p-values adjusted for how many there are.

Shape suffixes: M = comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats


def holm(p_M: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that any false finding among them stays rare (Holm's step-down).

    Parameters
    ----------
    p_M : sequence of float or None
        One p-value a comparison; None is no test and stays None.

    Returns
    -------
    tuple of float or None
        In the same order.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    .. [1] Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    3 x .01, then 2 x .03, then at least that:

    >>> holm([0.03, 0.01, None, 0.04])
    (0.06, 0.03, None, 0.06)
    """
    p, order = _ordered(p_M, function="holm")
    n = p.size
    adjusted = np.maximum.accumulate(p[order] * (n - np.arange(n)))
    return _given_back(p_M, adjusted, order)


def benjamini_hochberg(p_M: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that few of the findings are false (Benjamini and Hochberg's step-up).

    Parameters
    ----------
    p_M : sequence of float or None
        One p-value a comparison; None is no test and stays None.

    Returns
    -------
    tuple of float or None
        In the same order.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    .04, then min(.04, 3/2 x .03), then min(.04, 3 x .01):

    >>> benjamini_hochberg([0.03, 0.01, None, 0.04])
    (0.04, 0.03, None, 0.04)
    """
    p, order = _ordered(p_M, function="benjamini_hochberg")
    n = p.size
    scaled = p[order] * (n / np.arange(1, n + 1))
    return _given_back(p_M, np.minimum.accumulate(scaled[::-1])[::-1], order)


def _ordered(p_M: Sequence[float | None], *, function: str) -> tuple[Floats, NDArray[np.intp]]:
    """The p-values there are, and their order from the smallest."""
    p = np.array([one for one in p_M if one is not None], dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{function}: p_M must be between 0 and 1, got {list(p_M)!r}")
    return p, np.argsort(p, kind="stable")


def _given_back(
    p_M: Sequence[float | None], adjusted: Floats, order: NDArray[np.intp]
) -> tuple[float | None, ...]:
    """Adjusted values, at most 1, where the p-values stood."""
    placed = np.empty(adjusted.size)
    placed[order] = np.minimum(adjusted, 1.0)
    values = iter(placed.tolist())
    return tuple(None if one is None else next(values) for one in p_M)
