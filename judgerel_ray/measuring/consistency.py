"""Internal consistency: distinct items (templates, criteria, judges, scales) of one measure.

Subjects are the questions, a score is the mean of its replications. Replications are no items: they
are interchangeable, and icc1 and icck are what omega and alpha would be of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core.codes import ALIKE, IDENTICAL, Flag, Noted
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.verdicts.policy import SCORED, Row, floor_columns, method_columns
from judgerel_ray.stats import (
    Interval,
    Omega,
    column_noise_floor,
    cronbach_alpha,
    item_bootstrap,
    item_interval,
    mcdonald_omega,
    omega_hierarchical,
)
from judgerel_ray.stats.internal_consistency import CONSISTENCY, DistinctItemCoefficient

_BLOCKS = 100  # fits of omega_hierarchical for one interval: some seconds
_EMPTY = ("value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise", "noise")
ItemEstimate = tuple[float | None, str | None, str, list[Noted]]  # and why none, estimate, flags


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemScores:
    """Scores of subjects on distinct items."""

    # Shape (n_subjects, n_items). Means over replications; NaN where there is none.
    scores_NK: NDArray[np.float64]  # noqa: N815  a shape, not a case
    # Shape (n_subjects,). The question of each subject.
    clusters_N: NDArray[np.int64]  # noqa: N815
    subject: tuple[str, ...]  # Columns that make a subject.
    column: str  # The column whose values are the items.
    n_unscored: int = 0  # Judgments without a score.


def item_scores(rows: pl.DataFrame, items: str, *, facets: Sequence[str]) -> ItemScores | None:
    """Lay the scores of one group out, one row a subject and one column an item.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q", "q", "r"], "template": ["x", "x", "y", "x"],
    ...                      "score": [1.0, 3.0, 5.0, 4.0], "outcome": ["scored"] * 4,
    ...                      "n": [1, 1, 2, 1]})
    >>> item_scores(rows, "template", facets=["template"]).scores_NK.tolist()
    [[2.0, 5.0], [4.0, nan]]
    """
    scored = rows.filter(SCORED)
    if scored["score"].null_count() or scored.is_empty():
        return None
    n_items = rows[items].n_unique()
    apart = [
        name
        for name in facets
        if name != items and rows.select(pl.struct(items, name).n_unique()).item() > n_items
    ]
    subject = ["item_id", *apart]
    # In a fixed order, so that no digit depends on that of the rows.
    cells = (
        scored.sort(*subject, items, "score")
        .group_by(*subject, items, maintain_order=True)
        .agg((pl.col("score") * pl.col("n")).sum() / pl.col("n").sum())
    )
    subjects = rows.select(subject).unique().sort(subject).with_row_index("__subject")
    columns = rows.select(items).unique().sort(items).with_row_index("__item")
    placed = cells.join(subjects, on=subject, nulls_equal=True)
    placed = placed.join(columns, on=items, nulls_equal=True)
    scores = np.full((subjects.height, columns.height), np.nan)
    scores[placed["__subject"].to_numpy(), placed["__item"].to_numpy()] = placed["score"].to_numpy()
    cluster = ["item_id", *(name for name in apart if name == "benchmark")]
    clusters = subjects.select(pl.struct(cluster).rank("dense")).to_series()
    return ItemScores(
        scores_NK=scores,
        clusters_N=clusters.to_numpy().astype(np.int64) - 1,
        subject=tuple(subject),
        column=items,
        n_unscored=int(rows["n"].sum()) - int(scored["n"].sum()),
    )


def consistency_rows(
    found: ItemScores | None,
    names: Sequence[str],
    basis: Row,
    intervals: IntervalChoice = AUTO,
) -> Iterator[Row]:
    """Compute coefficients of distinct items of one group.

    Subjects without a score on some item are left out (``missing`` is "drop" where there are
    any); omegas are of correlations, with the model's denominator.

    Examples
    --------
    >>> scores = np.array([[1.0, 1], [2, 3], [3, 3], [5, 4]])
    >>> found = ItemScores(scores_NK=scores, clusters_N=np.arange(4), subject=("item_id",),
    ...                    column="template")
    >>> row = next(consistency_rows(found, ["cronbach_alpha"], {}))
    >>> round(row["value"], 3), row["undefined"]
    (0.92, None)
    """
    for name in (name for name in CONSISTENCY if name in names):
        row: Row = {
            "undefined": "no_scores",
            **method_columns("no scores"),
            **dict.fromkeys(_EMPTY),
        }
        if found is not None:
            row |= _measured_consistency_row(found, name, intervals)
        n_missing = found.n_unscored if found else basis.get("n_judgments")
        yield {
            **basis,
            "coefficient": name,
            "measurement": "interval",
            "missing": "drop" if n_missing else "category",
            "n_categories": None,
            "n_missing": n_missing,
            **row,
        }


def _measured_consistency_row(
    found: ItemScores, name: DistinctItemCoefficient, intervals: IntervalChoice
) -> Row:
    """Value, interval and floor of one coefficient."""
    value, why, words, noted = _MEASURES[name](found.scores_NK)
    words += f"; items are the values of {found.column}"
    n_partial = int(np.isnan(found.scores_NK).any(axis=1).sum())
    if n_partial:
        noted.insert(0, (Flag.SUBJECTS_LEFT_OUT, (n_partial, len(found.scores_NK))))
    interval, floor = Interval(undefined="undefined"), None
    if value is not None:
        interval = _measured_omega_interval(name, found, intervals)
        n_questions = int(found.clusters_N.max(initial=-1)) + 1
        if interval.n_questions < n_questions and not interval.undefined:
            noted.append((Flag.IN_BLOCKS, (n_questions,)))
        floor = column_noise_floor(found.scores_NK, name, matrix=_consistency_matrix_kind(name))
    return {
        "value": value,
        "low": interval.low,
        "high": interval.high,
        **floor_columns(floor),
        "unit": " x ".join(found.subject),
        **method_columns(
            words,
            interval,
            floor,
            noted=noted,
            alike=IDENTICAL if value and value > 1 - 1e-9 else ALIKE,
        ),
        "undefined": why,
    }


def _measured_cronbach_alpha(scores_NK: NDArray[np.float64]) -> ItemEstimate:
    """Raw alpha."""
    found = cronbach_alpha(scores_NK)
    omega = mcdonald_omega(scores_NK, matrix="covariance").value
    beside = "" if omega is None else f"; raw omega of the same covariances {omega:.3f}"
    return found.value, found.undefined, found.estimator + beside, []


def _measured_one_factor_omega(scores_NK: NDArray[np.float64]) -> ItemEstimate:
    """Omega of one factor."""
    found = mcdonald_omega(scores_NK)
    return found.value, found.undefined, *_omega_estimator_in_words(found)


def _measured_hierarchical_omega(scores_NK: NDArray[np.float64]) -> ItemEstimate:
    """Omega of the general factor."""
    found = omega_hierarchical(scores_NK)
    why = found.undefined or (None if found.hierarchical is not None else "not_identified")
    words, noted = _omega_estimator_in_words(found)
    # One solution gives both, and names itself by the first.
    return found.hierarchical, why, words.replace("omega total", "omega hierarchical", 1), noted


def _omega_estimator_in_words(found: Omega) -> tuple[str, list[Noted]]:
    """The estimator, alpha of the same matrix, and what is wrong with the solution."""
    parts = [found.estimator]
    if found.alpha is not None:
        parts.append(f"standardized alpha of the same correlations {found.alpha:.3f}")
    noted = list(found.flags)
    if found.heywood:
        noted.append((Flag.HEYWOOD, () if found.improper is None else (found.improper,)))
    return "; ".join(parts), noted


def _measured_omega_interval(
    name: DistinctItemCoefficient, found: ItemScores, choice: IntervalChoice
) -> Interval:
    """By drawing questions anew, or by leaving out one, or a block where each fit takes long."""
    if choice.method == "bootstrap":
        return item_bootstrap(
            found.scores_NK,
            name,
            matrix=_consistency_matrix_kind(name),
            clusters_N=found.clusters_N,
            n_resamples=choice.n_resamples,
            seed=choice.seed,
        )
    clusters = found.clusters_N
    if name == "omega_hierarchical":
        clusters = clusters % _BLOCKS
    return item_interval(
        found.scores_NK, name, matrix=_consistency_matrix_kind(name), clusters_N=clusters
    )


def _consistency_matrix_kind(name: DistinctItemCoefficient) -> Literal["correlation", "covariance"]:
    """Alpha is of raw scores, omega of correlations."""
    return "covariance" if name == "cronbach_alpha" else "correlation"


_MEASURES: Mapping[DistinctItemCoefficient, Callable[[NDArray[np.float64]], ItemEstimate]] = {
    "cronbach_alpha": _measured_cronbach_alpha,
    "mcdonald_omega": _measured_one_factor_omega,
    "omega_hierarchical": _measured_hierarchical_omega,
}
