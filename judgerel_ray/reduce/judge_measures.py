"""What judges are ranked by: measures of one group of ratings, laid out by question.

Where two judges' measures rest on the same table of values, one may stand in for the other in any
question, and :func:`judgerel_ray.stats.judge_differences.judge_difference` exchanges them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import polars as pl

from judgerel_ray.reduce.alignment import reference_scores
from judgerel_ray.reduce.inter_scale import ScaleChoice, compared_scales, group_ratings
from judgerel_ray.reduce.rated import RatedGroup
from judgerel_ray.stats import (
    QuestionStatistic,
    correlation,
    count_statistic,
    count_terms,
    inter_scale_terms,
)
from judgerel_ray.stats.krippendorff import Level
from judgerel_ray.stats.statistic import CountStatistic, Floats

Measure = Callable[[RatedGroup], Mapping[Hashable, QuestionStatistic]]
_MOST_VALUES = 200  # of a scale that judges share a table of: more would be mostly empty


def own_consistency(
    group: RatedGroup,
    scale: str,
    *,
    values: Floats | None = None,
    alpha: CountStatistic | None = None,
) -> QuestionStatistic:
    """Lay self-consistency on one scale out by question, at the scale's own level.

    Parameters
    ----------
    group : RatedGroup
        Of one judge.
    scale : str
        One of its scales.
    values : ndarray of float, optional
        Scores that occur, ascending; by default the group's.
    alpha : CountStatistic, optional
        Krippendorff's alpha of those values: where it is the same object for two judges, one may
        stand in for the other.

    Examples
    --------
    >>> from judgerel_ray.reduce.rated import rated_groups, rated_rows
    >>> from judgerel_ray.stats.question_statistic import whole
    >>> told = {"item_id": list("qqrr"), "scale": ["points5"] * 4, "replication": [0, 1] * 2,
    ...         "score": [1, 1, 5, 5]}
    >>> [group] = rated_groups(*rated_rows(pl.LazyFrame(told)))
    >>> whole(own_consistency(group, "points5"))
    1.0
    """
    scores = group.scores[scale]
    there = ~np.isnan(scores)
    if values is None:
        values = np.unique(scores[there])
    counts = np.zeros((len(scores), values.size), dtype=np.int64)
    np.add.at(counts, (np.nonzero(there)[0], np.searchsorted(values, scores[there])), 1)
    return count_terms(
        counts, alpha or _alpha(values, group.scales[scale].level), questions_U=group.questions_N
    )


def own_measure(groups: Sequence[RatedGroup]) -> Measure:
    """Measure self-consistency on each scale, from one table of values for all judges.

    Examples
    --------
    >>> from judgerel_ray.reduce.rated import rated_groups, rated_rows
    >>> told = {"item_id": list("qqrr") * 2, "scale": ["points5"] * 8, "judge": ["a", "b"] * 4,
    ...         "replication": [0, 0, 1, 1] * 2, "score": [1, 1, 1, 2, 5, 5, 5, 4]}
    >>> groups = rated_groups(*rated_rows(pl.LazyFrame(told)), by=["judge"])
    >>> first, second = (own_measure(groups)(group)["points5"] for group in groups)
    >>> first.terms_CT.shape == second.terms_CT.shape
    True
    """
    scores: dict[str, list[Floats]] = {}
    for group in groups:
        for scale, found in group.scores.items():
            scores.setdefault(scale, []).append(np.unique(found[~np.isnan(found)]))
    values = {scale: np.unique(np.concatenate(found)) for scale, found in scores.items()}
    levels = {scale: one.level for group in groups for scale, one in group.scales.items()}
    shared = {
        scale: (one, _alpha(one, levels[scale]))
        for scale, one in values.items()
        if one.size <= _MOST_VALUES
    }

    def measure(group: RatedGroup) -> Mapping[Hashable, QuestionStatistic]:
        found: dict[Hashable, QuestionStatistic] = {}
        for scale in group.scales:
            table, alpha = shared.get(scale, (None, None))
            found[scale] = own_consistency(group, scale, values=table, alpha=alpha)
        return found

    return measure


def _alpha(values: Floats, level: Level) -> CountStatistic:
    """Krippendorff's alpha of these values."""
    return count_statistic("krippendorff_alpha", n_values=values.size, values=values, level=level)


def across_measure(choice: ScaleChoice) -> Measure:
    """Measure inter-scale consistency of each comparison: of all scales it repeats the pairs.

    Examples
    --------
    >>> from judgerel_ray.reduce.rated import rated_groups, rated_rows
    >>> from judgerel_ray.stats.question_statistic import whole
    >>> told = {"item_id": list("qrqr"), "scale": ["points5"] * 2 + ["likert5"] * 2,
    ...         "score": [1, 5, 0, 4]}
    >>> [group] = rated_groups(*rated_rows(pl.LazyFrame(told)))
    >>> [whole(one) for one in across_measure(ScaleChoice())(group).values()]
    [1.0]
    """

    def measure(group: RatedGroup) -> Mapping[Hashable, QuestionStatistic]:
        found: dict[Hashable, QuestionStatistic] = {}
        for names in compared_scales(list(group.scales), choice):
            if len(names) > 2 and not choice.scales:
                continue
            try:
                found[names] = inter_scale_terms(group_ratings(group, names, choice))
            except ValueError:  # these scales do not allow the mapping, whoever the judge is
                continue
        return found

    return measure


def aligned_measure(reference: pl.DataFrame) -> Measure:
    """Measure Pearson's r of mean scores with the reference on each scale.

    Examples
    --------
    See ``tests/reduce/test_judge_ranks.py``.
    """

    def measure(group: RatedGroup) -> Mapping[Hashable, QuestionStatistic]:
        found: dict[Hashable, QuestionStatistic] = {}
        for scale, scores in group.scores.items():
            truth_N = reference_scores(group, scale, reference)
            both = ~(np.isnan(truth_N) | np.isnan(scores).all(axis=1))
            mean_N = _means(scores[both])
            found[scale] = correlation("pearson", mean_N, truth_N[both], group.questions_N[both])
        return found

    return measure


def _means(scores: Floats) -> Floats:
    """Mean score of each unit; every one has some."""
    there = ~np.isnan(scores)
    means: Floats = np.where(there, scores, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return means
