"""Every score of a judgment beside every other: what it is on average, and how well it ranks.

Shape suffixes: N = judgments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.uncertainty_groups import JudgedGroup
from judgerel_ray.reduce.uncertainty_worth import group_schema
from judgerel_ray.stats import auroc, risk_coverage
from judgerel_ray.stats.discrimination import few_answers
from judgerel_ray.stats.precision import t_quantile

MATRIX_SCORES = {
    "margin": 1,
    "signed_margin": 1,
    "largest_u": 1,
    "worst_case": 1,
    "entropy": -1,
    "suggestibility": -1,
    "dobrushin": -1,
    "mutual_information": -1,
}
"""Scores of a matrix, with 1 where higher is surer."""
_COLUMNS: dict[str, pl.DataType] = {
    "score": pl.String(),
    "surer": pl.String(),
    "mean": pl.Float64(),
    "mean_low": pl.Float64(),
    "mean_high": pl.Float64(),
    "auroc": pl.Float64(),
    "auroc_low": pl.Float64(),
    "auroc_high": pl.Float64(),
    "aurc": pl.Float64(),
    "aurc_low": pl.Float64(),
    "aurc_high": pl.Float64(),
    "few": pl.String(),
    "n": pl.Int64(),
    "tokens": pl.Float64(),
    "undefined": pl.String(),
}
_BASELINE: dict[str, pl.DataType] = {
    "judge": pl.String(),
    "benchmark": pl.String(),
    "item_id": pl.String(),
    "score": pl.String(),
    "higher_is_surer": pl.Boolean(),
    "verdict": pl.String(),
    "value": pl.Float64(),
    "tokens": pl.Float64(),
}


def no_baselines() -> pl.DataFrame:
    """Give the table of plain scores that holds none.

    One row a judge, benchmark, item_id, ``score`` and ``verdict``: the ``value`` the score has for
    that verdict (null where it is the same for all), whether ``higher_is_surer``, and the
    ``tokens`` it took for the item.

    Examples
    --------
    >>> no_baselines().height
    0
    """
    return pl.DataFrame(schema=_BASELINE)


def score_table(
    groups: Sequence[JudgedGroup],
    baselines: pl.DataFrame | None = None,
    tokens: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Lay out every score of a judgment: its mean, and how well it tells right from wrong.

    Parameters
    ----------
    groups : sequence of JudgedGroup
        From :func:`judgerel_ray.reduce.uncertainty_groups.judged_groups`.
    baselines : DataFrame, optional
        Plain scores of the same judgments, as of :func:`no_baselines`.
    tokens : DataFrame, optional
        judge, benchmark, item_id and ``tokens`` that its matrix took.

    Returns
    -------
    DataFrame
        One row a group and ``score``: ``mean`` with its interval over questions (entropies and
        mutual information in nats, all else in [-1, 1]), ``auroc`` and ``aurc`` with theirs, of the
        score turned so that ``surer`` is better, over ``n`` judgments that have it, ``few``
        ("few_wrong" or "few_right") where fewer than ten texts have such a judgment, and
        ``tokens`` an item (computed for its prompts and generated).

    Examples
    --------
    >>> score_table([]).height
    0
    """
    found = [
        {**group.name, **row}
        for group in groups
        if group.judged
        for row in _scores(group, baselines, tokens)
    ]
    return pl.DataFrame(found, schema={**group_schema(), **_COLUMNS})


def _scores(
    group: JudgedGroup, baselines: pl.DataFrame | None, tokens: pl.DataFrame | None
) -> Iterator[dict[str, object]]:
    """Every score of one group."""
    cost = None if tokens is None else _mean_tokens(_mine(group, tokens))
    for name, sign in MATRIX_SCORES.items():
        values = np.array([_value(one.scores, name) for one in group.judged], dtype=np.float64)
        yield _row(name, values, sign, group, cost)
    if baselines is None:
        return
    mine = _mine(group, baselines)
    for name in mine["score"].unique(maintain_order=True).to_list():
        rows = mine.filter(pl.col("score") == name)
        known = {
            (row["item_id"], row["verdict"]): row["value"] for row in rows.iter_rows(named=True)
        }
        asked = {item for item, _ in known}
        values = np.array([_plain(one.row, known, asked) for one in group.judged], dtype=np.float64)
        sign = 1 if rows["higher_is_surer"][0] else -1
        yield _row(name, values, sign, group, _mean_tokens(rows))


def _value(scores: object, name: str) -> float:
    """A score of a matrix; NaN where it is not there."""
    if name == "largest_u":
        shares = getattr(scores, "u_O", ())
        return float(max(shares, default=np.nan))
    value = getattr(scores, name)
    return np.nan if value is None else float(value)


def _plain(
    row: Mapping[str, object], known: Mapping[tuple[object, object], float], asked: Set[object]
) -> float:
    """A plain score of a judgment: of its item, or of its verdict; NaN where it was not asked."""
    item = row["item_id"]
    if item not in asked:
        return np.nan
    return known.get((item, None), known.get((item, row["chosen"]), 0.0))


def _mine(group: JudgedGroup, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the group's judge and benchmark, on the items it judged."""
    items = [one.row["item_id"] for one in group.judged]
    return rows.filter(
        pl.col("judge") == group.name["judge"],
        pl.col("benchmark") == group.benchmark,
        pl.col("item_id").is_in(items),
    )


def _mean_tokens(rows: pl.DataFrame) -> float | None:
    """Tokens an item."""
    one = rows.unique("item_id")["tokens"].drop_nulls().to_list()
    return float(np.mean(one)) if one else None


def _row(
    name: str,
    values_N: NDArray[np.float64],
    sign: int,
    group: JudgedGroup,
    tokens: float | None,
) -> dict[str, object]:
    """One score."""
    there = values_N[~np.isnan(values_N)]
    correct_N, text_N = group.correct_N, group.text_N
    ranking = auroc(sign * values_N, correct_N, clusters_N=text_N)
    curve = risk_coverage(sign * values_N, correct_N, clusters_N=text_N)
    mean = float(there.mean()) if there.size else None
    low, high = _ends(there, text_N[~np.isnan(values_N)])
    return {
        "score": name,
        "surer": "higher" if sign > 0 else "lower",
        "mean": mean,
        "mean_low": low,
        "mean_high": high,
        "auroc": ranking.value,
        "auroc_low": ranking.low,
        "auroc_high": ranking.high,
        "aurc": curve.aurc,
        "aurc_low": curve.low,
        "aurc_high": curve.high,
        "few": few_answers(values_N, correct_N, text_N),
        "n": int(there.size),
        "tokens": tokens,
        "undefined": ranking.undefined,
    }


def _ends(values_N: NDArray[np.float64], text_N: NDArray[np.intp]) -> tuple[float | None, ...]:
    """Ends of the t interval of a mean, texts being what is independent."""
    place = np.unique(text_N, return_inverse=True)[1]
    n_texts = int(place.max()) + 1 if place.size else 0
    if n_texts < 2:
        return None, None
    sums, counts = np.bincount(place, weights=values_N), np.bincount(place)
    left_out = (sums.sum() - sums) / (counts.sum() - counts)
    error = float(np.sqrt((n_texts - 1) / n_texts * ((left_out - left_out.mean()) ** 2).sum()))
    half = t_quantile(n_texts - 1, 0.95) * error
    mean = float(values_N.mean())
    return mean - half, mean + half
