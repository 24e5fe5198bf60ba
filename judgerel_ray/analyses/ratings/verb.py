"""``scales``, ``align`` and ``rank``: ratings across scales, against a reference, by judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core.verb import BY, Names, Written, command_on, flag, names_of, split_names, verb

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.analyses.ratings.from_run import Ratings
    from judgerel_ray.analyses.ratings.inter_scale import ScaleChoice
    from judgerel_ray.analyses.ratings.judge_ranks import JudgeRanks
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource

_REFERENCE = "a judge; human, the people who rated a run's items; or a .csv or .parquet of scores"
REFERENCE = flag(_REFERENCE, "WHO")
OUTSIDE = flag("a .csv or .parquet of judge, score: ranked beside the rest", "FILE")


def scale_files(scale: Sequence[str | PathLike[str]] | str | PathLike[str]) -> tuple[str, ...]:
    """Files of scales: one or several."""
    several = (scale,) if isinstance(scale, str | PathLike) else scale
    return tuple(fspath(one) for one in several)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOptions(Written):
    """Options of verbs that read ratings on scales."""

    by: Names = field(default=None, metadata=BY)
    scale: Sequence[str | PathLike[str]] | str | PathLike[str] = field(
        default=(),
        metadata=flag("your own scale, a .toml file", "FILE", repeats=True),
    )

    @contextmanager
    def opened(self, source: JudgmentSource) -> Iterator[Ratings]:
        """The ratings, on scales that are declared in the run, in files, or not at all."""
        from judgerel_ray.analyses.ratings.from_run import ratings_of
        from judgerel_ray.counting.snapshot import Snapshot

        by = names_of(self.by)
        with Snapshot.open(source, self, apart=by or ()) as judged:
            yield ratings_of(judged, by=by, scale_files=scale_files(self.scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalesRequest(ScaleOptions):
    """What ``scales`` is asked for."""

    mapping: str | None = field(
        default=None,
        metadata=flag(
            "how scores are mapped to one axis: minmax (default), midrank, fraction, collapse, "
            "binarise",
            "NAME",
        ),
    )
    preset: str | None = field(
        default=None,
        metadata=flag(
            "one comparison with its mapping: lee2025_case1, lee2025_case2, lee2025_case3", "NAME"
        ),
    )
    pairing: str = field(
        default="all",
        metadata=flag("replications of one scale with those of the other: all, first", "HOW"),
    )

    def choice(self) -> ScaleChoice:
        """How scales are compared; SweepError where a name is unknown."""
        from judgerel_ray.analyses.ratings.inter_scale import scale_choice

        return scale_choice(mapping=self.mapping, preset=self.preset, pairing=self.pairing)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScaleTables(Shown):
    """Consistency of ratings.

    Attributes
    ----------
    self_consistency : pl.DataFrame
        One row a group and scale: alpha of replications, in the columns of
        :func:`judgerel_ray.reduce`.
    inter_scale : pl.DataFrame
        One row a group and comparison of scales: agreement across scales, beside what a judge
        without noise reaches.
    """

    self_consistency: pl.DataFrame
    inter_scale: pl.DataFrame


@verb(
    ScalesRequest,
    examples=("scales run", "scales run --format markdown"),
    group="Analyse",
    help="consistency of ratings on each scale and across scales",
    file="inter_scale; as .json all",
    section="judgerel_ray.analyses.ratings.from_run:ratings_on_page",
)
def scales(path: JudgmentSource, request: ScalesRequest) -> Result[ScaleTables]:
    """Consistency of ratings on each scale, and across every pair of scales.

    Parameters
    ----------
    path : str, path or frame
        A run with asks of protocol ``rating``, or a file or frame with a column ``scale``.

    Returns
    -------
    ScaleTables
        ``self_consistency``, one row a group and scale; ``inter_scale``, one row a group and
        comparison.

    Raises
    ------
    SweepError, StoreError
        If the path, a name or a scale is wrong.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = scales(example("run")).inter_scale
    >>> [(judge, round(value, 2)) for judge, value in found.select("judge", "value").rows()]
    [('simulated-erratic', 0.64), ('simulated-steady', 0.92)]
    """
    from judgerel_ray.analyses.ratings.show import scales_blocks, scales_short
    from judgerel_ray.blocks.result import Result

    choice = request.choice()
    with request.opened(path) as ratings:
        self_consistency, across = ratings.self_consistency(), ratings.across(choice)
        found = ScaleTables(self_consistency=self_consistency, inter_scale=across)
        command = command_on("rank", path, request)
        return Result(
            found=found,
            notes=ratings.judged.run_notes,
            tables=found.tables(),
            full=lambda: scales_blocks(self_consistency, across),
            short=lambda: scales_short(self_consistency, across, command),
            rows=across,
            whole_json=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignRequest(ScaleOptions):
    """What ``align`` is asked for."""

    reference: str | PathLike[str] = field(metadata=REFERENCE)
    coefficients: Names = field(
        default=None,
        metadata=flag(
            "coefficients by name: pearson, spearman, kendall, icc_agreement, icc_consistency; "
            "default all",
            "NAME",
            read=split_names,
            repeats=True,
        ),
    )


@verb(
    AlignRequest,
    examples=("align run --reference human", "align run --reference human --coefficient spearman"),
    group="Analyse",
    help="agreement of ratings with a judge, people or a file",
    probabilities="judgerel_ray.analyses.ratings.from_run:alignment_on_page",
)
def align(path: JudgmentSource, request: AlignRequest) -> Result[pl.DataFrame]:
    """Agreement of ratings with a reference, of single replications and of their mean.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`scales`.

    Returns
    -------
    pl.DataFrame
        One row a group, scale and coefficient.

    Raises
    ------
    SweepError, StoreError
        If the path or the reference is wrong.

    Examples
    --------
    With the ratings by a person that the run's items hold, which are invented:

    >>> from judgerel_ray import example
    >>> found = align(example("run"), reference="human", coefficients="pearson")
    >>> found = found.filter(scale="likert5").select("judge", "single").rows()
    >>> [(judge, round(value, 2)) for judge, value in found]
    [('simulated-erratic', 0.61), ('simulated-steady', 0.94)]
    """
    from judgerel_ray.analyses.ratings.show import aligned_short, alignment_blocks
    from judgerel_ray.blocks.result import Result

    with request.opened(path) as ratings:
        found = ratings.aligned(fspath(request.reference), names_of(request.coefficients))
        command = command_on("scales", path, request) if ratings.has_several_scales else None
        return Result(
            found=found,
            notes=ratings.judged.run_notes,
            tables=found,
            full=lambda: alignment_blocks(found),
            short=lambda: aligned_short(found, command),
            rows=found,
            whole_json=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRequest(ScalesRequest):
    """What ``rank`` is asked for."""

    reference: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(f"rank by alignment, too, with {_REFERENCE}", "WHO"),
    )
    outside: str | PathLike[str] | None = field(default=None, metadata=OUTSIDE)


@verb(
    RankRequest,
    examples=("rank run", "rank run --reference human"),
    group="Analyse",
    help="judges ranked by their ratings",
    file="ranks; as .json all",
)
def rank(path: JudgmentSource, request: RankRequest) -> Result[JudgeRanks]:
    """Rank judges by self-consistency, inter-scale consistency, alignment and an outside score.

    A judge that is the reference is not ranked.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`scales`, with ratings of two judges or more.

    Returns
    -------
    JudgeRanks
        ``ranks`` by measure, ``mean_ranks``, and ``agreements``: how far the measures agree.

    Raises
    ------
    SweepError, StoreError
        If the path or a file is wrong, or no two judges rated at one temperature.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> rank(example("run")).mean_ranks.select("judge", "value").rows()
    [('simulated-erratic', 2.0), ('simulated-steady', 1.0)]
    """
    from judgerel_ray.analyses.ratings.show import ranking_blocks, ranks_short
    from judgerel_ray.blocks.result import Result

    choice = request.choice()
    with request.opened(path) as ratings:
        found = ratings.ranked(
            choice,
            reference=None if request.reference is None else fspath(request.reference),
            outside=None if request.outside is None else fspath(request.outside),
        )
        command = command_on("scales", path, request) if ratings.has_several_scales else None
        return Result(
            found=found,
            notes=ratings.judged.run_notes,
            tables=found.tables(),
            full=lambda: ranking_blocks(found),
            short=lambda: ranks_short(found, command),
            rows=found.ranks,
            whole_json=True,
        )
