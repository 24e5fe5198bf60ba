"""Judges ranked by self-consistency, inter-scale consistency, alignment and a score from outside.

A judge's figure is the mean over cells (a benchmark, criterion, definition, and scale or pair of
scales) in which every judge has a value: judges are never compared on different cells. A judge that
has a value in none of them is left out, and not in the way of the others.

What judges are ranked by: measures of one group of ratings, laid out by question.

Where two judges' measures rest on the same table of values, one may stand in for the other in any
question, and :func:`.judge_difference` exchanges them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import polars as pl

from judgerel_ray.analyses.ratings.alignment import reference_scores
from judgerel_ray.analyses.ratings.inter_scale import ScaleChoice, compared_scales, group_ratings
from judgerel_ray.analyses.ratings.tables import MeanRanks, MeasureAgreements, Ranks
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups.rated import RatedGroup
from judgerel_ray.counting.verdicts.policy import Row
from judgerel_ray.stats import (
    QuestionStatistic,
    correlation,
    count_statistic,
    count_terms,
    inter_scale_terms,
    mean_of,
    rank_judges,
)
from judgerel_ray.stats.agreement.krippendorff import Level
from judgerel_ray.stats.counts import CountStatistic, Floats, row_means
from judgerel_ray.stats.intervals.question_statistic import whole

GroupMeasure = Callable[[RatedGroup], Mapping[Hashable, QuestionStatistic]]
_MOST_VALUES = 200  # of a scale that judges share a table of: more would be mostly empty


def self_consistency_by_question(
    group: RatedGroup,
    scale: str,
    *,
    values: Floats | None = None,
    alpha: CountStatistic | None = None,
) -> QuestionStatistic:
    """Lay self-consistency on one scale out by question, at the scale's own level.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
    >>> from judgerel_ray.stats.intervals.question_statistic import whole
    >>> told = {"item_id": list("qqrr"), "scale": ["points5"] * 4, "replication": [0, 1] * 2,
    ...         "score": [1, 1, 5, 5]}
    >>> [group] = rated_groups(*rated_rows(pl.LazyFrame(told)))
    >>> whole(self_consistency_by_question(group, "points5"))
    1.0
    """
    scores = group.scores[scale]
    there = ~np.isnan(scores)
    if values is None:
        values = np.unique(scores[there])
    counts = np.zeros((len(scores), values.size), dtype=np.int64)
    np.add.at(counts, (np.nonzero(there)[0], np.searchsorted(values, scores[there])), 1)
    return count_terms(
        counts,
        alpha or _alpha_of_ratings(values, group.scales[scale].level),
        questions_U=group.questions_N,
    )


def self_consistency_measure(groups: Sequence[RatedGroup]) -> GroupMeasure:
    """Measure self-consistency on each scale, from one table of values for all judges.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
    >>> told = {"item_id": list("qqrr") * 2, "scale": ["points5"] * 8, "judge": ["a", "b"] * 4,
    ...         "replication": [0, 0, 1, 1] * 2, "score": [1, 1, 1, 2, 5, 5, 5, 4]}
    >>> groups = rated_groups(*rated_rows(pl.LazyFrame(told)), by=["judge"])
    >>> first, second = (self_consistency_measure(groups)(group)["points5"] for group in groups)
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
        scale: (one, _alpha_of_ratings(one, levels[scale]))
        for scale, one in values.items()
        if one.size <= _MOST_VALUES
    }

    def measure(group: RatedGroup) -> Mapping[Hashable, QuestionStatistic]:
        found: dict[Hashable, QuestionStatistic] = {}
        for scale in group.scales:
            table, alpha = shared.get(scale, (None, None))
            found[scale] = self_consistency_by_question(group, scale, values=table, alpha=alpha)
        return found

    return measure


def _alpha_of_ratings(values: Floats, level: Level) -> CountStatistic:
    """Krippendorff's alpha of these values."""
    return count_statistic("krippendorff_alpha", n_values=values.size, values=values, level=level)


def across_measure(choice: ScaleChoice) -> GroupMeasure:
    """Measure inter-scale consistency of each comparison: of all scales it repeats the pairs.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
    >>> from judgerel_ray.stats.intervals.question_statistic import whole
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
            except ValueError:  # these scales do not allow the mapping for any judge
                continue
        return found

    return measure


def aligned_measure(reference: pl.DataFrame) -> GroupMeasure:
    """Measure Pearson's r of mean scores with the reference on each scale.

    Examples
    --------
    See ``tests/analyses/ratings/test_judge_ranks.py``.
    """

    def measure(group: RatedGroup) -> Mapping[Hashable, QuestionStatistic]:
        found: dict[Hashable, QuestionStatistic] = {}
        for scale, scores in group.scores.items():
            truth_N = reference_scores(group, scale, reference)
            both = ~(np.isnan(truth_N) | np.isnan(scores).all(axis=1))
            mean_N = row_means(scores[both])
            found[scale] = correlation("pearson", mean_N, truth_N[both], group.questions_N[both])
        return found

    return measure


SELF, ACROSS, ALIGNED, OUTSIDE = "self_consistency", "inter_scale", "alignment", "outside"
_LEAST = 2  # judges that can be ranked
Cells = Mapping[str, Mapping[Hashable, QuestionStatistic]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgeRanks(Shown):
    """Ranks at every temperature.

    Attributes
    ----------
    ranks, mean_ranks, agreements : pl.DataFrame
        As :mod:`judgerel_ray.analyses.ratings.tables` says.
    """

    ranks: pl.DataFrame = field(default_factory=Ranks.frame)
    mean_ranks: pl.DataFrame = field(default_factory=MeanRanks.frame)
    agreements: pl.DataFrame = field(default_factory=MeasureAgreements.frame)


def rank_table(
    groups: Sequence[RatedGroup],
    choice: ScaleChoice,
    *,
    reference: pl.DataFrame | None = None,
    name: str = "",
    outside: Mapping[str, float] | None = None,
) -> JudgeRanks:
    """Rank judges, at every temperature by itself.

    Examples
    --------
    See ``tests/analyses/ratings/test_judge_ranks.py``.
    """
    if not groups or "judge" not in groups[0].key:
        raise SweepError("to rank judges takes a column judge, and groups by it")
    candidates = [group for group in groups if group.key["judge"] != name or reference is None]
    asked = sorted({str(group.key["judge"]) for group in candidates})
    if outside is not None and not set(asked) & set(outside):
        raise SweepError(
            f"no judge that rated has a score from outside, rated have {', '.join(asked)}, scores "
            f"are of {', '.join(sorted(outside)) or 'nobody'}",
            hint="names of judges as the sweep has them",
        )
    heats = list(dict.fromkeys(group.key.get("temperature") for group in candidates))
    rows: tuple[list[Row], list[Row], list[Row]] = ([], [], [])
    for heat in heats:
        there = [group for group in candidates if group.key.get("temperature") == heat]
        judges = list(dict.fromkeys(str(group.key["judge"]) for group in there))
        if len(judges) < _LEAST:
            continue
        cells = {
            SELF: _rank_measure_by_cell(there, self_consistency_measure(there)),
            ACROSS: _rank_measure_by_cell(there, across_measure(choice)),
        }
        if reference is not None:
            cells[ALIGNED] = _rank_measure_by_cell(there, aligned_measure(reference))
        _judge_rank_rows(heat, judges, cells, outside, rows)
    if not rows[0]:
        raise SweepError("to rank judges takes two of them, rated at the same temperature")
    heat, judge = {"temperature": pl.Float64()}, {"judge": pl.String()}
    return JudgeRanks(
        ranks=Ranks.frame(rows[0], heat),
        mean_ranks=MeanRanks.frame(rows[1], {**heat, **judge}),
        agreements=MeasureAgreements.frame(rows[2], heat),
    )


def _judge_rank_rows(
    heat: object,
    judges: Sequence[str],
    cells: Mapping[str, Cells],
    outside: Mapping[str, float] | None,
    rows: tuple[list[Row], list[Row], list[Row]],
) -> None:
    """Rank the judges of one temperature."""
    measures: dict[str, Sequence[QuestionStatistic | float | None]] = {}
    counted: dict[str, tuple[int | None, int | None]] = {OUTSIDE: (None, None)}
    for measure, by_judge in cells.items():
        every = list(dict.fromkeys(key for one in by_judge.values() for key in one))
        valued = {
            judge: {key for key, one in by_judge.get(judge, {}).items() if not np.isnan(whole(one))}
            for judge in judges
        }
        # A judge without any value, as one that always says the same, has no rank by this measure;
        # it takes nothing from the others.
        able = [judge for judge in judges if valued[judge]]
        usable = [key for key in every if able and all(key in valued[judge] for judge in able)]
        counted[measure] = len(usable), len(every) - len(usable)
        measures[measure] = [
            mean_of(measure, [by_judge[judge][key] for key in usable])
            if usable and judge in able
            else None
            for judge in judges
        ]
    if outside is not None:
        measures[OUTSIDE] = [outside.get(judge) for judge in judges]
    found = rank_judges(judges, measures)
    at: Row = {"temperature": heat}
    for rank in found.ranks:
        n_cells, n_left_out = counted[rank.measure]
        rows[0].append({**at, **asdict(rank), "n_cells": n_cells, "n_left_out": n_left_out})
    rows[1].extend({**at, **asdict(one)} for one in found.mean_ranks)
    rows[2].extend({**at, **asdict(one)} for one in found.agreements)


def _rank_measure_by_cell(groups: Sequence[RatedGroup], measure: GroupMeasure) -> Cells:
    """What a measure says of each judge in each cell."""
    found: dict[str, dict[Hashable, QuestionStatistic]] = {}
    for group in groups:
        cell = tuple(
            (name, value)
            for name, value in group.key.items()
            if name not in ("judge", "temperature")
        )
        by_cell = found.setdefault(str(group.key["judge"]), {})
        for what, one in measure(group).items():
            by_cell[cell, what] = one
    return found
