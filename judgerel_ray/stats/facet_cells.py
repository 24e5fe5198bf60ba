"""Cells of a design: how often each combination of facets was judged, and the sums of its verdicts.

All that variance components need. Sums are kept about the mean of all judgments, which changes no
component and keeps rounding small.

Shape suffixes: C = cells (combinations of facet levels), V = values (1 for scores).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.statistic import Floats

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetCells:
    """Judgments summed by cell.

    Attributes
    ----------
    levels : mapping of str to ndarray of int, shape (n_cells,)
        Level of every facet, as codes from 0.
    n_C : ndarray, shape (n_cells,)
        Judgments of each cell, at least one.
    sums_CV : ndarray, shape (n_cells, n_values)
        Sums of the verdicts (of their indicators, one column a value) about their mean.
    squares_C : ndarray, shape (n_cells,)
        Sums of their squares about their mean, over the values.
    kind : {"labels", "scores"}
        Whether verdicts are names (their indicators are analysed, and components are shares of
        Gini's variance) or numbers.
    """

    levels: Mapping[str, Codes]
    n_C: Floats  # noqa: N815  a shape, not a case
    sums_CV: Floats  # noqa: N815
    squares_C: Floats  # noqa: N815
    kind: Literal["labels", "scores"]


def label_cells(counts_CV: ArrayLike, levels: Mapping[str, ArrayLike]) -> FacetCells:
    """Lay out verdicts that are names.

    Parameters
    ----------
    counts_CV : array-like of int, shape (n_cells, n_values)
        How often each cell received each value.
    levels : mapping of str to array-like, shape (n_cells,)
        Level of every facet in each cell; anything that can be sorted.

    Returns
    -------
    FacetCells
        Without the cells that hold no judgment.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or a facet has not one level a cell.

    Examples
    --------
    >>> cells = label_cells([[2, 0], [1, 1]], {"question": ["q", "r"]})
    >>> cells.n_C.tolist(), cells.sums_CV.tolist(), cells.squares_C.tolist()
    ([2.0, 2.0], [[0.5, -0.5], [-0.5, 0.5]], [0.25, 1.25])
    """
    counts = checked_counts(counts_CV, function="label_cells")
    kept = counts.sum(axis=1) > 0
    counts, n_C = counts[kept], counts[kept].sum(axis=1)
    n = n_C.sum()
    share_V = counts.sum(axis=0) / n if n else np.zeros(counts.shape[1])
    return FacetCells(
        levels=_codes(levels, kept, function="label_cells"),
        n_C=n_C,
        sums_CV=counts - n_C[:, None] * share_V,
        # Sum over judgments of |indicator - share|^2 = 1 - 2 share of the value + |share|^2.
        squares_C=n_C * (1 + (share_V**2).sum()) - 2 * counts @ share_V,
        kind="labels",
    )


def score_cells(
    n_C: ArrayLike, sums_C: ArrayLike, squares_C: ArrayLike, levels: Mapping[str, ArrayLike]
) -> FacetCells:
    """Lay out verdicts that are numbers, from how many, their sum, and the sum of their squares.

    Parameters
    ----------
    n_C, sums_C, squares_C : array-like, shape (n_cells,)
        Judgments of each cell, the sum of their scores, and that of their squares.
    levels : mapping of str to array-like, shape (n_cells,)
        Level of every facet in each cell; anything that can be sorted.

    Returns
    -------
    FacetCells
        Without the cells that hold no judgment.

    Raises
    ------
    ValueError
        If the shapes differ, or a sum is not finite.

    Examples
    --------
    Scores 1, 3 and 5, 5; their mean is 3.5:

    >>> cells = score_cells([2, 2], [4, 10], [10, 50], {"question": ["q", "r"]})
    >>> cells.sums_CV.tolist(), cells.squares_C.tolist()
    ([[-3.0], [3.0]], [6.5, 4.5])
    """
    n, sums, squares = (np.asarray(x, dtype=np.float64) for x in (n_C, sums_C, squares_C))
    if n.ndim != 1 or n.shape != sums.shape or n.shape != squares.shape:
        raise ValueError(
            f"score_cells: n_C, sums_C and squares_C must have one length, "
            f"got shapes {n.shape}, {sums.shape}, {squares.shape}"
        )
    if not (np.isfinite(sums).all() and np.isfinite(squares).all() and (n >= 0).all()):
        raise ValueError("score_cells: sums must be finite, and counts from 0 on")
    kept = n > 0
    n, sums, squares = n[kept], sums[kept], squares[kept]
    mean = sums.sum() / n.sum() if n.size else 0.0
    return FacetCells(
        levels=_codes(levels, kept, function="score_cells"),
        n_C=n,
        sums_CV=(sums - n * mean)[:, None],
        squares_C=squares - 2 * mean * sums + n * mean**2,
        kind="scores",
    )


def _codes(
    levels: Mapping[str, ArrayLike], kept: NDArray[np.bool_], *, function: str
) -> dict[str, Codes]:
    """Levels as codes from 0, in sorted order, of the cells kept."""
    codes = {}
    for name, given in levels.items():
        column = np.asarray(given)
        if column.shape != kept.shape:
            raise ValueError(
                f"{function}: levels of {name!r} must have shape {kept.shape}, got {column.shape}"
            )
        codes[name] = np.unique(column[kept], return_inverse=True)[1].astype(np.int64)
    return codes
