"""Single confusion matrices worth looking at, and how full matrices are by number of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.uncertainty import ScoredMatrix

EMPTY = 0.01  # a cell below it is taken for empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A matrix, and what it was picked for."""

    why: str
    matrix: ScoredMatrix

    def cells(self) -> list[Mapping[str, object]]:
        """Lay out the cells: ``option``, ``argued``, ``probability``, and ``scaled``, by column."""
        matrix = self.matrix.matrix_OA
        totals = matrix.sum(axis=0)
        return [
            {
                "option": option,
                "argued": argued,
                "probability": None if np.isnan(p) else float(p),
                "scaled": float(p / totals[a]) if totals[a] > 0 else None,
            }
            for o, option in enumerate(self.matrix.options)
            for a, argued in enumerate(self.matrix.argued)
            for p in [matrix[o, a]]
        ]


def picked_matrices(matrices: Sequence[ScoredMatrix], *, most: int = 4) -> tuple[Picked, ...]:
    """Pick, of each judge, the most certain, the most torn and the most confidently wrong matrix.

    Parameters
    ----------
    matrices : sequence of ScoredMatrix
        In any order.
    most : int
        Judges of whom any are picked: the first by name.

    Returns
    -------
    tuple of Picked
        At most three a judge. Certain is the largest margin, torn the least distance between the
        two largest u, wrong the largest margin among verdicts that are not the right option; ties
        go to the first by benchmark and item. A matrix is picked for one thing only.

    Examples
    --------
    >>> picked_matrices([])
    ()
    """
    found: list[Picked] = []
    whole = sorted((one for one in matrices if one.scores.u_O), key=_name)
    for judge in sorted({str(one.row["judge"]) for one in whole})[:most]:
        mine = [one for one in whole if one.row["judge"] == judge]
        taken: list[ScoredMatrix] = []
        for why, pool, worth in _KINDS:
            left = [one for one in mine if not any(one is other for other in taken) and pool(one)]
            if left:
                best = max(left, key=worth)
                taken.append(best)
                found.append(Picked(why=why, matrix=best))
    return tuple(found)


def _name(one: ScoredMatrix) -> tuple[str, ...]:
    """What a matrix is sorted by."""
    return tuple(str(one.row[name]) for name in ("judge", "benchmark", "item_id", "template"))


def _margin(one: ScoredMatrix) -> float:
    """How sure."""
    return one.scores.margin or 0.0


def _closeness(one: ScoredMatrix) -> float:
    """How near the two largest u are, the nearer the higher."""
    first, second = sorted(one.scores.u_O, reverse=True)[:2]
    return second - first


_KINDS: tuple[
    tuple[str, Callable[[ScoredMatrix], bool], Callable[[ScoredMatrix], float]], ...
] = (
    ("most certain", lambda one: one.row["correct"] is not False, _margin),
    ("most torn", lambda _: True, _closeness),
    ("most confidently wrong", lambda one: one.row["correct"] is False and _margin(one) > 0,
     _margin),
)  # fmt: skip


def sparsity_table(matrices: Sequence[ScoredMatrix]) -> pl.DataFrame:
    """Tell by number of options how far probability follows what was argued.

    Parameters
    ----------
    matrices : sequence of ScoredMatrix
        Those with one assessment an option count.

    Returns
    -------
    DataFrame
        One row a judge and number of options: ``n_matrices``, mean probability of the option
        argued for (``argued``) and of each other option (``other``), the probability of even odds
        (``even``), and the share of cells off the diagonal below 0.01 (``empty``). Columns that are
        not there do not count.

    Examples
    --------
    >>> sparsity_table([]).height
    0
    """
    found: dict[tuple[str, int], list[NDArray[np.float64]]] = {}
    for one in matrices:
        n = len(one.matrix_OA)
        if one.matrix_OA.shape == (n, n) and n > 1 and one.scores.u_O:
            found.setdefault((str(one.row["judge"]), n), []).append(one.matrix_OA)
    rows = [dict(_filled(judge, n, members)) for (judge, n), members in sorted(found.items())]
    numbers = {name: pl.Float64() for name in ("argued", "other", "even", "empty")}
    schema = {
        "judge": pl.String(),
        "n_options": pl.Int64(),
        "n_matrices": pl.Int64(),
        **numbers,
    }
    return pl.DataFrame(rows, schema=schema)


def _filled(
    judge: str, n: int, members: Sequence[NDArray[np.float64]]
) -> Iterator[tuple[str, object]]:
    """One judge and number of options."""
    cells = np.array(members)
    diagonal = np.eye(n, dtype=bool)
    off = cells[:, ~diagonal]
    off = off[~np.isnan(off)]
    yield "judge", judge
    yield "n_options", n
    yield "n_matrices", len(members)
    yield "argued", float(np.nanmean(cells[:, diagonal]))
    yield "other", float(off.mean())
    yield "even", 1 / n
    yield "empty", float((off < EMPTY).mean())
