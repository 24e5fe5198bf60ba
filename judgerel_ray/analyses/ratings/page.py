"""What a page says of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.analyses.distributions.weighted import weighted_summary
from judgerel_ray.analyses.ratings.alignment import reference_scores
from judgerel_ray.analyses.ratings.from_run import PEOPLE, Ratings
from judgerel_ray.analyses.ratings.inter_scale import ScaleChoice, compared_scales, scale_choice
from judgerel_ray.analyses.ratings.judge_ranks import JudgeRanks
from judgerel_ray.analyses.ratings.show import Rated, rating_sections
from judgerel_ray.analyses.reliability.reducing import Judged
from judgerel_ray.blocks.blocks import Block
from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups.rated import RatedGroup
from judgerel_ray.counting.verdicts.scales import SCALE, known_scale, scale_names

_NOTHING = pl.DataFrame()
_ALIGNED = ("pearson", "spearman", "kendall", "icc_agreement")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingOptions:
    """What of ratings a page is asked for, as ``reduce`` has it.

    Attributes
    ----------
    reference : str, optional
        A judge, ``human``, a file; by default people, where the items of a run have their scores.
    outside : str, optional
        A file of scores of judges from elsewhere.
    choice : ScaleChoice, optional
        How scales are compared; by default by min-max, and by the paper's third case.
    scale_files : tuple of str
        Scales of one's own.
    """

    reference: str | None = None
    outside: str | None = None
    choice: ScaleChoice | None = None
    scale_files: tuple[str, ...] = ()


def rating_options(
    *, reference: str | None = None, outside: str | None = None, mapping: str | None = None,
    preset: str | None = None, pairing: str = "all", scale: Sequence[str] | None = None,
) -> RatingOptions:  # fmt: skip
    """Check what a page is asked for.

    Raises
    ------
    SweepError
        If a name is unknown, or a mapping is given beside a preset.

    Examples
    --------
    >>> rating_options(mapping="midrank").choice.mapping, rating_options().choice
    ('midrank', None)
    """
    choice = None
    if (mapping, preset, pairing) != (None, None, "all"):
        choice = scale_choice(mapping=mapping, preset=preset, pairing=pairing)
    return RatingOptions(
        reference=reference, outside=outside, choice=choice, scale_files=tuple(scale or ())
    )


def with_scales(judged: Judged, options: RatingOptions) -> Judged:
    """Add scales of one's own to those of a run.

    Raises
    ------
    SweepError
        If a file is none, or judgments name no scale.
    """
    if not options.scale_files:
        return judged
    if not _names(judged):
        raise SweepError("--scale is of ratings, and there are none")
    from judgerel_ray.protocols.replies.scales import load_scale

    declared = {scale.name: scale for scale in map(load_scale, options.scale_files)}
    return replace(judged, scales={**judged.scales, **declared})


def unknown_scales(judged: Judged) -> list[tuple[str, str]]:
    """Say which scales a page has nothing of, because nobody told where they end."""
    unknown = [name for name in _names(judged) if known_scale(name, judged.scales) is None]
    if not unknown:
        return []
    files = " ".join(f"--scale {name}.toml" for name in unknown)
    message = (
        f"nothing tells the ends of {', '.join(unknown)}, so no section compares scales: {files}"
    )
    return [("ratings", message)]


def ratings_on_page(judged: Judged, options: RatingOptions) -> list[Block]:
    """Make the page's sections on ratings; none where nothing was rated.

    Raises
    ------
    SweepError
        If there is no such reference, nothing was rated for it, a file is none, or there are not
        the scales to compare that are asked for.
    """
    return rating_sections(_rated(judged, options))


def _rated(judged: Judged, options: RatingOptions) -> Rated | None:
    """What a page says of ratings; None where no scale with known ends was rated on."""
    reference, outside, choice = options.reference, options.outside, options.choice
    names = _names(judged)
    if not names and (reference or outside or choice):
        flags = "--reference and --outside" if choice is None else "--mapping, --preset, --pairing"
        raise SweepError(f"{flags} are of ratings, and there are none")
    if not names or (options == RatingOptions() and unknown_scales(judged)):
        return None
    ratings = Ratings(judged=judged)
    if not ratings.sampled:
        if outside or choice:
            raise SweepError("judges are ranked, and scales compared, by ratings that are sampled")
        return None
    people = ratings.people() if reference is None else None
    if reference is None and people is not None and _has_reference(ratings.groups, people):
        reference = PEOPLE
    choices = [ScaleChoice(), scale_choice(preset="lee2025_case3")] if choice is None else [choice]
    frames = [
        ratings.across(one)
        for one in choices
        if choice or any(compared_scales(list(group.scales), one) for group in ratings.groups)
    ]
    ranked = JudgeRanks(ranks=_NOTHING, mean_ranks=_NOTHING, agreements=_NOTHING)
    if outside is not None or _can_rank(ratings.groups, reference):
        ranked = ratings.ranked(choices[0], reference=reference, outside=outside)
    return Rated(
        own=ratings.own(),
        across=pl.concat(frames) if frames else _NOTHING,
        aligned=_NOTHING if reference is None else ratings.aligned(reference, _ALIGNED),
        ranks=ranked.ranks,
        mean_ranks=ranked.mean_ranks,
        agreements=ranked.agreements,
    )


def weighted_ratings(
    judged: Judged, options: RatingOptions
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Scores of responses by the distributions of ratings; their alignment where none was sampled.

    Raises
    ------
    SweepError
        If there is no such reference, or nothing was rated for it.
    """
    ratings = Ratings(judged=judged)
    if ratings.weighted.is_empty():
        return None
    aligned, reference = _NOTHING, options.reference
    if not ratings.sampled:
        if reference is None and _has_reference(ratings.expected, ratings.people()):
            reference = PEOPLE
        if reference is not None:
            aligned = ratings.aligned(reference, _ALIGNED)
    return weighted_summary(ratings.weighted), aligned


def _names(judged: Judged) -> tuple[str, ...]:
    """Names of the scales that judgments are on."""
    if SCALE not in judged.frame.collect_schema():
        return ()
    return scale_names(judged.frame.select(SCALE).unique().collect())


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
