"""Units of one group as cells of a design, and the effects that they may show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.policy import SCORED, number_of_row
from judgerel_ray.stats.facet_cells import FacetCells, score_cells

_QUESTION = "item_id"
_MOST_VALUES = 40


def stepped_score(part: pl.DataFrame) -> pl.Expr:
    """Give the score of a row, rounded to forty steps where it takes more values.

    Examples
    --------
    >>> rows = {"score": [1.0, 2.0], "verdict": [None, None], "outcome": ["scored"] * 2}
    >>> part = pl.DataFrame(rows)
    >>> part.select(stepped_score(part)).to_series().to_list()
    [1.0, 2.0]
    """
    scores = part.filter(SCORED)["score"].drop_nulls()
    if scores.n_unique() <= _MOST_VALUES:
        return number_of_row()
    low, high = float(scores.to_numpy().min()), float(scores.to_numpy().max())
    step = (high - low) / (_MOST_VALUES - 1)
    stepped: pl.Expr = ((number_of_row() - low) / step).round() * step + low
    return stepped


def scored_cells(
    part: pl.DataFrame,
    unit: Sequence[str],
    levels: dict[str, NDArray[np.int64]],
) -> FacetCells:
    """Sum the scores of each unit, in the order of the units.

    Examples
    --------
    >>> part = pl.DataFrame({"item_id": ["q"], "score": [2.0], "n": [3], "outcome": ["scored"]})
    >>> scored_cells(part, ["item_id"], {"item_id": np.array([0])}).n_C.tolist()
    [3.0]
    """
    score, n = number_of_row(), pl.col("n").cast(pl.Float64)
    valid = pl.when(score.is_not_null()).then(n).otherwise(0.0)
    sums = part.sort([*unit, "score"]).group_by(unit, maintain_order=True).agg(
        n=valid.sum(), sums=(n * score).sum(), squares=(n * score**2).sum()
    )  # fmt: skip
    n_C, sums_C, squares_C = (sums[name].to_numpy() for name in ("n", "sums", "squares"))
    return score_cells(n_C, sums_C, squares_C, levels)


def facet_levels(
    part: pl.DataFrame, unit: Sequence[str], facets: Sequence[str]
) -> dict[str, NDArray[np.int64]]:
    """Code every facet's level in each unit, null being one.

    Examples
    --------
    >>> part = pl.DataFrame({"item_id": ["q", "q"], "template": ["b", "a"]})
    >>> facet_levels(part, ["item_id", "template"], ["template"])["template"].tolist()
    [0, 1]
    """
    units = part.select(unit).unique().sort(unit)
    codes = {}
    for name in facets:
        known = units.select(name).unique().sort(name).with_row_index("__level")
        joined = units.join(known, on=name, nulls_equal=True, maintain_order="left")
        codes[name] = joined["__level"].to_numpy().astype(np.int64)
    return codes


def crossed_terms(facets: Sequence[str], nested: Sequence[str]) -> list[tuple[str, ...]]:
    """List effects up to three facets, nested ones only together with the question.

    Examples
    --------
    >>> crossed_terms(["responder"], ["responder"])
    [('item_id',), ('item_id', 'responder')]
    """
    names = (_QUESTION, *facets)
    terms: list[tuple[str, ...]] = [(a,) for a in names]
    terms += [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    terms += [(_QUESTION, b, c) for i, b in enumerate(names[1:], 2) for c in names[i:]]
    return [term for term in terms if _QUESTION in term or not set(term) & set(nested)]
