"""All that confusion matrices say of a run's judgments, every table from the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.analyses.confusion.curves import acceptance_table, label_table, threshold_curves
from judgerel_ray.analyses.confusion.groups import judged_groups, transfer_table
from judgerel_ray.analyses.confusion.matched_people import matched_table
from judgerel_ray.analyses.confusion.matrices import Picked, picked_matrices, sparsity_table
from judgerel_ray.analyses.confusion.uncertainty import (
    ScoredMatrix,
    UncertaintyOptions,
    matrix_rows,
    scored_matrices,
)
from judgerel_ray.analyses.confusion.worth import score_table, uncertainty_summary
from judgerel_ray.counting.people import people_table


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyTables:
    """What is printed and drawn of uncertainty.

    Attributes
    ----------
    judgments : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.uncertainty.matrix_rows`.
    worth : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.worth.uncertainty_summary`.
    scores : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.worth.score_table`.
    labels : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.label_table`.
    transfer : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.groups.transfer_table`.
    people : pl.DataFrame
        From :func:`judgerel_ray.counting.people.people_table`.
    against_people : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.matched_people.matched_table`.
    curves : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.threshold_curves`.
    acceptance : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.curves.acceptance_table`.
    sparsity : pl.DataFrame
        From :func:`judgerel_ray.analyses.confusion.matrices.sparsity_table`.
    picked : tuple of Picked
        From :func:`judgerel_ray.analyses.confusion.matrices.picked_matrices`.
    """

    judgments: pl.DataFrame
    worth: pl.DataFrame
    scores: pl.DataFrame
    labels: pl.DataFrame
    transfer: pl.DataFrame
    people: pl.DataFrame
    against_people: pl.DataFrame
    curves: pl.DataFrame
    acceptance: pl.DataFrame
    sparsity: pl.DataFrame
    picked: tuple[Picked, ...]

    def printed(self) -> dict[str, pl.DataFrame]:
        """Tables that are printed, by name."""
        names = ("worth", "scores", "labels", "transfer", "people", "against_people")
        return {name: getattr(self, name) for name in names}


def uncertainty_tables(
    confusions: pl.DataFrame,
    verdicts: pl.DataFrame,
    right: pl.DataFrame,
    items: pl.DataFrame,
    *,
    baselines: pl.DataFrame | None = None,
    tokens: pl.DataFrame | None = None,
    options: UncertaintyOptions | None = None,
) -> UncertaintyTables:
    """Compute all that confusion matrices say.

    Parameters
    ----------
    confusions, verdicts, right
        As for :func:`judgerel_ray.analyses.confusion.uncertainty.scored_matrices`.
    items : DataFrame
        Of :class:`judgerel_ray.tables.Items`, for what people said.
    baselines, tokens : DataFrame, optional
        As for :func:`judgerel_ray.analyses.confusion.worth.score_table`.
    options : UncertaintyOptions, optional
        How matrices are read.

    Returns
    -------
    UncertaintyTables

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.matrices import confusion_table
    >>> from judgerel_ray.tables import items_to_frame
    >>> found = uncertainty_tables(confusion_table([]), pl.DataFrame(), pl.DataFrame(),
    ...                            items_to_frame([]))
    >>> found.worth.height
    0
    """
    options = options or UncertaintyOptions()
    matrices: Sequence[ScoredMatrix] = tuple(scored_matrices(confusions, verdicts, right, options))
    groups = judged_groups(matrices, options)
    judged = {str(one.row["item_id"]) for one in matrices}
    rated = items.filter(pl.col("item_id").is_in(judged))
    return UncertaintyTables(
        judgments=matrix_rows(matrices),
        worth=uncertainty_summary(groups, options),
        scores=score_table(groups, baselines, tokens),
        labels=label_table(groups, options),
        transfer=transfer_table(groups, options),
        people=people_table(rated, _about(right)),
        against_people=matched_table(groups, rated, options),
        curves=threshold_curves(groups),
        acceptance=acceptance_table(groups),
        sparsity=sparsity_table(matrices),
        picked=picked_matrices(matrices),
    )


def _about(right: pl.DataFrame) -> pl.DataFrame | None:
    """What items are about, where it is told."""
    return right if "text" in right.columns else None
