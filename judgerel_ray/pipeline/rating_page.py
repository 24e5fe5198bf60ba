"""What a page says of ratings."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.pipeline.reducing import Judged
from judgerel_ray.pipeline.scales import PEOPLE, Ratings
from judgerel_ray.reduce.alignment import reference_scores
from judgerel_ray.reduce.inter_scale import ScaleChoice, compared_scales, scale_choice
from judgerel_ray.reduce.judge_ranks import JudgeRanks
from judgerel_ray.reduce.rated import RatedGroup
from judgerel_ray.reduce.scales import SCALE, known_scale, scale_names
from judgerel_ray.report import Rated

_NOTHING = pl.DataFrame()
_ALIGNED = ("pearson", "spearman", "kendall", "icc_agreement")


def ratings_of(
    judged: Judged, *, reference: str | None = None, outside: str | None = None
) -> Rated | None:
    """What a page says of ratings; None where nothing was rated on a scale whose ends are known.

    Without a reference people are it, where the items of a run have their scores.

    Raises
    ------
    SweepError
        If there is no such reference, nothing was rated for it, or the file is none.
    """
    if not _is_known(judged):
        if reference or outside:
            raise SweepError("--reference and --outside are of ratings, and there are none")
        return None
    ratings = Ratings(judged=judged)
    people = ratings.people() if reference is None else None
    if reference is None and people is not None and _has_reference(ratings.groups, people):
        reference = PEOPLE
    choices = [ScaleChoice(), scale_choice(preset="lee2025_case3")]
    frames = [
        ratings.across(choice)
        for choice in choices
        if any(compared_scales(list(group.scales), choice) for group in ratings.groups)
    ]
    ranked = JudgeRanks(ranks=_NOTHING, mean_ranks=_NOTHING, agreements=_NOTHING)
    if outside is not None or _can_rank(ratings.groups, reference):
        ranked = ratings.ranked(ScaleChoice(), reference=reference, outside=outside)
    return Rated(
        own=ratings.own(),
        across=pl.concat(frames) if frames else _NOTHING,
        aligned=_NOTHING if reference is None else ratings.aligned(reference, _ALIGNED),
        ranks=ranked.ranks,
        mean_ranks=ranked.mean_ranks,
        agreements=ranked.agreements,
    )


def _is_known(judged: Judged) -> bool:
    """Whether judgments name scales, and the ends of all of them are known."""
    if SCALE not in judged.frame.collect_schema():
        return False
    names = scale_names(judged.frame.select(SCALE).unique().collect())
    return bool(names) and all(known_scale(name, judged.scales) for name in names)


def _has_reference(groups: Sequence[RatedGroup], reference: pl.DataFrame) -> bool:
    """Whether any rating has a reference."""
    return not reference.is_empty() and any(
        bool((reference_scores(group, scale, reference) >= float("-inf")).any())
        for group in groups
        for scale in group.scales
    )


def _can_rank(groups: Sequence[RatedGroup], reference: str | None) -> bool:
    """Whether two judges rated at one temperature."""
    asked: dict[object, set[object]] = {}
    for group in groups:
        judge = group.key.get("judge")
        if judge is not None and judge != reference:
            asked.setdefault(group.key.get("temperature"), set()).add(judge)
    return any(len(judges) > 1 for judges in asked.values())
