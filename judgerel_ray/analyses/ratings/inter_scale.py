"""Inter-scale consistency of judges: every pair of scales, and all together, in every group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import cast, get_args

import polars as pl

from judgerel_ray.analyses.ratings.tables import ScaleComparisons
from judgerel_ray.blocks.words import estimator_words
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.tables import value_columns
from judgerel_ray.counting.groups.rated import RatedGroup, scale_ends
from judgerel_ray.counting.verdicts.policy import Row, flag_columns, floor_columns, method_columns
from judgerel_ray.stats import (
    SCALE_CASES,
    SCALE_MAPPINGS,
    QuantisationCeiling,
    ScaleRatings,
    disattenuated_alpha,
    inter_scale_alpha,
    inter_scale_interval,
    mapping_level,
    quantisation_ceiling,
    scale_rank_correlation,
    scale_ratings,
    scale_shift,
)
from judgerel_ray.stats.intervals.question_statistic import whole
from judgerel_ray.stats.ratings.inter_scale import self_consistency_terms
from judgerel_ray.stats.ratings.rated_scales import Pairing
from judgerel_ray.stats.ratings.scale_mapping import MappingError, ScaleLevel, ScaleMapping, Tie
from judgerel_ray.stats.ratings.scale_noise import inter_scale_floor

BETWEEN = " / "
"""What stands between the names of scales that are compared."""
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
TO_POINTS, TO_TENTHS = "uniform_to_points", "uniform_to_points_and_tenths"
"""``ceiling_of``: a latent score, uniform on the range, goes to the nearest point of each scale, of
one of decimals to the nearest tenth."""
_DECIMALS = 0.1  # a scale of decimals is met at its tenths by a judge without noise


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleChoice:
    """What scales are compared, and how."""

    mapping: ScaleMapping = "minmax"  # How scores come onto one axis.
    level: ScaleLevel = "interval"  # Level of measurement there.
    # All replications of one scale with all of the other; or the first of each.
    pairing: Pairing = "all"
    tie: Tie = ">mid"  # What the middle of a scale is once binarised.
    # The one comparison wanted; by default every pair, and all together.
    scales: tuple[str, ...] = ()


def scale_choice(
    *, mapping: str | None = None, preset: str | None = None, pairing: str = "all"
) -> ScaleChoice:
    """Check how scales are to be compared.

    Examples
    --------
    >>> scale_choice(preset="lee2025_case3").scales, scale_choice(mapping="collapse").level
    (('binary', 'points10'), 'ordinal')
    """
    if pairing not in PAIRINGS:
        raise SweepError(f"pairing must be one of {', '.join(PAIRINGS)}, got {pairing!r}")
    if preset is not None:
        case = SCALE_CASES.get(preset)
        if case is None:
            raise SweepError(f"preset must be one of {', '.join(SCALE_CASES)}, got {preset!r}")
        if mapping is not None:
            raise SweepError(
                f"preset {preset} maps by {case.mapping}, got mapping {mapping!r} beside it",
                hint="leave one of them out",
            )
        return ScaleChoice(
            mapping=case.mapping,
            level=case.level,
            tie=case.tie,
            scales=case.scales,
            pairing=pairing,
        )
    if mapping is not None and mapping not in SCALE_MAPPINGS:
        raise SweepError(f"mapping must be one of {', '.join(SCALE_MAPPINGS)}, got {mapping!r}")
    named = cast(ScaleMapping, mapping or "minmax")
    return ScaleChoice(mapping=named, level=mapping_level(named), pairing=pairing)


def compared_scales(names: Sequence[str], choice: ScaleChoice) -> list[tuple[str, ...]]:
    """List what is compared: the scales of a preset where all are there, or every pair and all.

    Examples
    --------
    >>> compared_scales(["binary", "points5", "points10"], ScaleChoice())[-2:]
    [('points5', 'points10'), ('binary', 'points5', 'points10')]
    """
    if choice.scales:
        return [choice.scales] if set(choice.scales) <= set(names) else []
    pairs: list[tuple[str, ...]] = list(combinations(names, 2))
    return [*pairs, tuple(names)] if len(names) > 2 else pairs


def group_ratings(group: RatedGroup, names: Sequence[str], choice: ScaleChoice) -> ScaleRatings:
    """Bring a group's scores on some scales onto one axis.

    Examples
    --------
    See ``tests/analyses/ratings/test_inter_scale.py``.
    """
    if choice.mapping == "collapse" and any(group.scales[name].decimals for name in names):
        raise MappingError("group_ratings", Flag.SCALE_OF_DECIMALS)
    return scale_ratings(
        [group.scores[name] for name in names],
        ranges=[scale_ends(group.scales[name]) for name in names],
        mapping=choice.mapping,
        level=choice.level,
        tie=choice.tie,
        pairing=choice.pairing,
        questions_N=group.questions_N,
    )


def inter_scale_table(groups: Sequence[RatedGroup], choice: ScaleChoice) -> pl.DataFrame:
    """Compute inter-scale consistency of every group.

    Of more than two scales only the value, its floor and the ceiling are there. ``undefined`` is
    "does_not_apply" where the scales do not allow the mapping; ``flags`` say why.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
    >>> told = {"item_id": list("qrs") * 2, "scale": ["points5"] * 3 + ["points10"] * 3,
    ...         "replication": [0] * 6, "score": [1, 2, 5, 1, 4, 10]}
    >>> found = inter_scale_table(rated_groups(*rated_rows(pl.LazyFrame(told))), ScaleChoice())
    >>> found.select("scales", "mapping", pl.col("value", "ceiling").round(4)).rows()
    [('points5 / points10', 'minmax', 0.9945, 0.9648)]
    """
    found = [
        {**group.key, **row}
        for group in groups
        for names in compared_scales(list(group.scales), choice)
        for row in [_inter_scale_row(group, names, choice)]
    ]
    if not found:
        there = sorted({name for group in groups for name in group.scales})
        wanted = f"{BETWEEN.join(choice.scales)}" if choice.scales else "two scales or more"
        raise SweepError(
            f"to compare scales takes {wanted}, got ratings on {', '.join(there)}",
            hint="judgerel reduce for self-consistency on each",
        )
    keys = pl.DataFrame([dict(group.key) for group in groups], infer_schema_length=None)
    return ScaleComparisons.frame(found, keys.schema)


def _inter_scale_row(group: RatedGroup, names: tuple[str, ...], choice: ScaleChoice) -> Row:
    """One comparison of one group."""
    empty: Row = dict.fromkeys(ScaleComparisons.columns)
    empty |= {
        "scales": BETWEEN.join(names),
        "n_scales": len(names),
        "mapping": choice.mapping,
        "level": choice.level,
        "pairing": choice.pairing,
        "tie": choice.tie if choice.mapping == "binarise" else None,
    }
    ceiling = _inter_scale_ceiling(tuple(group.scales[name] for name in names), choice)
    if isinstance(ceiling, QuantisationCeiling):
        tenths = any(group.scales[name].decimals for name in names)
        empty |= {"ceiling": ceiling.value, "ceiling_of": TO_TENTHS if tenths else TO_POINTS}
    try:
        ratings = group_ratings(group, names, choice)
        alpha = inter_scale_alpha(ratings)
    except MappingError as error:
        # Of all pairs some may not allow what others do.
        empty |= flag_columns([error.noted])
        return {**empty, "estimator": estimator_words(empty), "undefined": "does_not_apply"}
    interval, floor = inter_scale_interval(ratings), inter_scale_floor(ratings)
    taking = ratings.n_scales() >= 2
    made = method_columns(alpha.estimator, interval, floor)
    return {
        **empty,
        "value": alpha.value,
        "low": interval.low,
        "high": interval.high,
        **floor_columns(floor if alpha.value is not None else None),
        **(_inter_scale_pair_columns(group, names, choice, ratings) if len(names) == 2 else {}),
        "n_items": len(set(ratings.questions_N[taking].tolist())),
        "n_units": alpha.n_units,
        "n_replications": max(one.shape[1] for one in ratings.scores),
        **made,
        "estimator": estimator_words(made),
        "undefined": alpha.undefined,
    }


def _inter_scale_pair_columns(
    group: RatedGroup, names: tuple[str, ...], choice: ScaleChoice, ratings: ScaleRatings
) -> Row:
    """What only two scales have."""
    whole_ratings = ratings
    if choice.pairing != "all":  # how steady a scale is takes all its replications
        whole_ratings = group_ratings(group, names, replace(choice, pairing="all"))
    consistencies = [whole(self_consistency_terms(whole_ratings, place)) for place in (0, 1)]
    return {
        **value_columns("disattenuated", disattenuated_alpha(whole_ratings)),
        **value_columns("shift", scale_shift(ratings)),
        **value_columns("rank_correlation", scale_rank_correlation(ratings)),
        "own_first": consistencies[0] if consistencies[0] == consistencies[0] else None,
        "own_second": consistencies[1] if consistencies[1] == consistencies[1] else None,
    }


@lru_cache(maxsize=256)
def _inter_scale_ceiling(
    scales: tuple[Scale, ...], choice: ScaleChoice
) -> QuantisationCeiling | None:
    """What a judge without noise reaches; None where the scales do not allow the mapping."""
    if choice.mapping == "collapse" and any(scale.decimals for scale in scales):
        return None
    try:
        return quantisation_ceiling(
            [scale_ends(scale) for scale in scales],
            mapping=choice.mapping,
            level=choice.level,
            tie=choice.tie,
            steps=[_DECIMALS if scale.decimals else 1.0 for scale in scales],
        )
    except ValueError:
        return None
