"""From a run or a file of ratings to numbers across scales, against a reference, and to ranks.

The verbs ask for one of these at a time; a page asks for all that the ratings can give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.analyses.ratings.alignment import (
    alignment_table,
    human_reference,
    judge_reference,
    mean_reference,
    reference_scores,
)
from judgerel_ray.analyses.ratings.inter_scale import (
    ScaleChoice,
    compared_scales,
    inter_scale_table,
    scale_choice,
)
from judgerel_ray.analyses.ratings.judge_ranks import JudgeRanks, rank_table
from judgerel_ray.analyses.ratings.show import Rated, alignment_section, rating_sections
from judgerel_ray.blocks.blocks import Block
from judgerel_ray.core import Scale, SweepError, count_of
from judgerel_ray.core.errors import warn_of
from judgerel_ray.counting.columns import is_judge, is_no_value
from judgerel_ray.counting.files.delimited import kind_of
from judgerel_ray.counting.files.source import TABLES
from judgerel_ray.counting.gold import beside_table
from judgerel_ray.counting.groups.rated import RatedGroup, group_names, rated_groups, rated_rows
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdicts.policy import (
    REPEATABILITY,
    SCALE,
    known_scale,
    reading_order,
    scale_names,
)
from judgerel_ray.counting.verdicts.spelling import nothing_shared, otherwise_line
from judgerel_ray.measuring.distributions import weighted_groups, weighted_table
from judgerel_ray.measuring.page_data import PageData
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.store.made_tables import DISTRIBUTIONS, read_distributions

if TYPE_CHECKING:
    from judgerel_ray.store import RunDirectory


PEOPLE = "human"
"""Names the human ratings of a run's items as the reference."""
_SHOWN = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """Ratings of a run or a file, read once for all tables of them."""

    judged: Snapshot
    by: tuple[str, ...] | None = None  # Columns that make a group, in place of the default ones.
    # Scales besides the shipped ones and those of the run.
    declared: Mapping[str, Scale] = field(default_factory=dict)

    @cached_property
    def rows(self) -> tuple[pl.DataFrame, dict[str, Scale]]:
        """The ratings, and their scales."""
        with self.judged.naming():
            return rated_rows(self.judged.frame, by=self.by or (), scales=self._scales)

    @cached_property
    def groups(self) -> list[RatedGroup]:
        """The ratings, by group and scale."""
        return rated_groups(*self.rows, by=self.by)

    @property
    def has_several_scales(self) -> bool:
        """Whether ratings are on two scales, which can be compared."""
        return self.scored[SCALE].n_unique() > 1

    @cached_property
    def sampled(self) -> bool:
        """Whether any rating was sampled."""
        columns = self.judged.frame.collect_schema().names()
        if SCALE not in columns:
            return False
        rated = self.judged.frame.filter(is_judge(columns), pl.col(SCALE).is_not_null())
        return not rated.select(SCALE).head(1).collect().is_empty()

    @cached_property
    def weighted(self) -> pl.DataFrame:
        """Scores weighted by their probabilities; none where a run has no distributions."""
        run = self.judged.run
        if run is None or not run.exists(DISTRIBUTIONS):
            return weighted_table(pl.DataFrame(schema={SCALE: pl.String}))
        return weighted_table(read_distributions(run), scales=self._scales)

    @cached_property
    def expected(self) -> list[RatedGroup]:
        """Those scores, by group and scale."""
        return weighted_groups(self.weighted, by=self.by, scales=self._scales)

    @cached_property
    def scored(self) -> pl.DataFrame:
        """Rows with scores: the ratings, and weighted scores of judges that sampled none."""
        weighted = self.weighted.drop("low", "high", "mass")
        if not self.sampled and not weighted.is_empty():
            return weighted
        rows = self.rows[0]
        if weighted.is_empty():
            return rows
        others = weighted.filter(~pl.col("judge").is_in(rows["judge"].unique().to_list()))
        return pl.concat([rows, others], how="diagonal_relaxed")

    @property
    def _scales(self) -> dict[str, Scale]:
        """Scales besides the shipped ones."""
        return {**self.judged.scales, **self.declared}

    def self_consistency(self) -> pl.DataFrame:
        """Self-consistency on each scale, at its own level."""
        rows, scales = self.rows
        names = [*group_names(rows, self.by), SCALE]
        found = reduce_judgments(
            rows.lazy(),
            by=names,
            missing=("drop",),
            coefficients=["krippendorff_alpha"],
            scales=scales,
        ).filter(conditions=REPEATABILITY)  # the same prompt again, as the paper has it
        return found.sort(reading_order(names, tuple(scales)))

    def across(self, choice: ScaleChoice) -> pl.DataFrame:
        """Inter-scale consistency."""
        return inter_scale_table(self.groups, choice)

    def aligned(self, reference: str, coefficients: Sequence[str] | None = None) -> pl.DataFrame:
        """Alignment with a reference, also of scores weighted by their probabilities."""
        return alignment_table(
            self.groups if self.sampled or not self.expected else [],
            self.reference(reference),
            name=reference,
            coefficients=coefficients,
            weighted=self.expected,
        )

    def ranked(
        self, choice: ScaleChoice, *, reference: str | None = None, outside: str | None = None
    ) -> JudgeRanks:
        """Judges, ranked."""
        return rank_table(
            self.groups,
            choice,
            reference=None if reference is None else self.reference(reference),
            name=reference or "",
            outside=None if outside is None else outside_scores(outside),
        )

    def reference(self, name: str) -> pl.DataFrame:
        """Find a reference: a judge of that name, people, or a file."""
        rows = self.scored
        if "judge" in rows.columns and name in rows["judge"].unique().to_list():
            return judge_reference(rows, name)
        if kind_of(name)[0] in TABLES:
            found = _read_rating_table(name, needed=("item_id", "score"), flag="--reference")
            typed = found.with_columns(pl.col("score").cast(pl.Float64))
            warn_of(_unmatched_references(rows["item_id"], typed["item_id"], name))
            _refuse_reference_twins(rows, typed, name)
            return mean_reference(typed)
        if name != PEOPLE or self.judged.run is None:
            return judge_reference(rows, name)
        found = self.people()
        if found.is_empty():
            raise SweepError(
                "the items of this run have no human ratings in numbers of one response each",
                where={"run": self.judged.run.url},
            )
        return found

    def people(self) -> pl.DataFrame:
        """Mean human scores of the items of a run."""
        run: RunDirectory | None = self.judged.run
        if run is None:
            return pl.DataFrame()
        items = pl.read_parquet(run.read_bytes("items.parquet"))
        return human_reference(items, self.scored)


def ratings_of(
    judged: Snapshot, *, by: Sequence[str] | None = None, scale_files: Sequence[str] = ()
) -> Ratings:
    """The ratings of judgments with a column ``scale``, those of `scale_files` declared beside."""
    columns = None if by is None else tuple(by)
    return Ratings(judged=judged, by=columns, declared=_scales_of(scale_files))


def _unmatched_references(rated: pl.Series, referred: pl.Series, file: str) -> Iterator[str]:
    """Say which references are of nothing rated, and refuse a file none of which is."""
    known, named = (one.cast(pl.String).drop_nulls().unique().sort() for one in (rated, referred))
    alone = named.filter(~named.is_in(known.implode()))
    if len(named) and len(alone) == len(named):
        raise nothing_shared(known, named, {"b": file})
    if len(alone):
        some = ", ".join(map(repr, alone.head(_SHOWN))) + ", ..." * (len(alone) > _SHOWN)
        n_lacking = len(known) - (len(named) - len(alone))
        yield (
            f"references of {len(alone):,} of {count_of(len(named), 'item')} are of nothing rated, "
            f"left out: {some}; {count_of(n_lacking, 'rated item')} without a reference"
        )
        if line := otherwise_line(known, named):
            yield line


def _refuse_reference_twins(rated: pl.DataFrame, referred: pl.DataFrame, file: str) -> None:
    """Refuse references of items that are rated for several things, which no column names.

    One reference for several criteria may be meant, as a score of quality in all is: it is said.
    """
    known = rated.with_columns(pl.col("item_id").cast(pl.String)).join(
        referred.select(pl.col("item_id").cast(pl.String)).unique(), on="item_id", how="semi"
    )
    for name in ("benchmark", "responder", "criterion"):
        named = name in referred.columns and referred[name].null_count() < referred.height
        if name not in known.columns or named:
            continue
        of = known.group_by("item_id").agg(pl.col(name).drop_nulls().unique().sort())
        several = of.filter(pl.col(name).list.len() > 1).sort("item_id")
        if several.is_empty():
            continue
        item, things = several.row(0)
        shown = ", ".join(map(str, things[:_SHOWN]))
        if name == "criterion":
            warn_of([
                f"{file} names no criterion: its scores are held against ratings by every "
                f"criterion of an item ({shown}); a column criterion says which they are of"
            ])  # fmt: skip
        else:
            raise SweepError(
                f"--reference must say which {name} its scores are of: item {item!r} was rated "
                f"for {shown}",
                where={"file": file},
                hint=f"a column {name} in the reference",
            )


def outside_scores(path: str) -> dict[str, float]:
    """Scores of judges from elsewhere: a file with columns judge and score."""
    found = _read_rating_table(path, needed=("judge", "score"), flag="--outside")
    if found["judge"].is_duplicated().any():
        raise SweepError("a judge may have one score from outside", where={"file": path})
    typed = found.select(pl.col("judge").cast(pl.String), pl.col("score").cast(pl.Float64))
    return dict(typed.drop_nulls().iter_rows())


def _read_rating_table(path: str, *, needed: Sequence[str], flag: str) -> pl.DataFrame:
    """A table of a few columns; SweepError where it is not one."""
    where = {"file": path}
    found = beside_table(path, flag)
    lacking = [name for name in needed if name not in found.columns]
    if lacking:
        raise SweepError(
            f"{flag} needs columns {', '.join(needed)}, got {', '.join(found.columns)}",
            where=where,
            hint=f"name one column {lacking[0]}",
        )
    kind = found.schema["score"]
    if kind == pl.String:  # text files have nothing else
        number = pl.col("score").str.strip_chars().cast(pl.Float64, strict=False)
        no_number = number.is_null() & ~is_no_value(pl.col("score")).fill_null(True)
        if not found.filter(no_number).is_empty():
            raise SweepError(f"{flag} needs numbers in column score", where=where)
        found = found.with_columns(number.fill_nan(None))
    elif not kind.is_numeric():
        raise SweepError(f"{flag} needs numbers in column score", where=where)
    if found["score"].cast(pl.Float64).is_infinite().any():
        raise SweepError(f"{flag} needs finite numbers in column score", where=where)
    return found


_NOTHING = pl.DataFrame()
_ALIGNED = ("pearson", "spearman", "kendall", "icc_agreement")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingOptions:
    """What of ratings a page is asked for, as ``reduce`` has it."""

    # A judge, `human`, a file; by default people, where the items of a run have their scores.
    reference: str | None = None
    outside: str | None = None  # A file of scores of judges from elsewhere.
    # How scales are compared; by default by min-max, and by the paper's third case.
    choice: ScaleChoice | None = None
    scale_files: tuple[str, ...] = ()  # Scales of one's own.


def rating_options(
    *, reference: str | None = None, outside: str | None = None, mapping: str | None = None,
    preset: str | None = None, pairing: str = "all", scale: Sequence[str] | None = None,
) -> RatingOptions:  # fmt: skip
    """Check what a page is asked for.

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


def with_scales(judged: Snapshot, options: RatingOptions) -> Snapshot:
    """Add scales of one's own to those of a run."""
    if not options.scale_files:
        return judged
    if not _scale_names_rated_on(judged):
        raise SweepError("--scale is of ratings, and there are none")
    return replace(judged, scales={**judged.scales, **_scales_of(options.scale_files)})


def _scales_of(files: Sequence[str]) -> dict[str, Scale]:
    """Scales of one's own, by name."""
    from judgerel_ray.protocols.replies.scales import load_scale

    return {scale.name: scale for scale in map(load_scale, files)}


def unknown_scales(judged: Snapshot) -> list[tuple[str, str]]:
    """Say which scales a page has nothing of, because nobody told where they end."""
    unknown = [
        name for name in _scale_names_rated_on(judged) if known_scale(name, judged.scales) is None
    ]
    if not unknown:
        return []
    files = " ".join(f"--scale {name}.toml" for name in unknown)
    message = (
        f"nothing tells the ends of {', '.join(unknown)}, so no section compares scales: {files}"
    )
    return [("ratings", message)]


def ratings_on_page(measured: PageData, options: RatingOptions) -> list[Block]:
    """Make the page's sections on ratings; none where nothing was rated."""
    return rating_sections(_ratings_for_page(measured.judged, options))


def _ratings_for_page(judged: Snapshot, options: RatingOptions) -> Rated | None:
    """What a page says of ratings; None where no scale with known ends was rated on."""
    reference, outside, choice = options.reference, options.outside, options.choice
    names = _scale_names_rated_on(judged)
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
    ranked = JudgeRanks()
    if outside is not None or _can_rank_judges(ratings.groups, reference):
        ranked = ratings.ranked(choices[0], reference=reference, outside=outside)
    return Rated(
        self_consistency=ratings.self_consistency(),
        across=pl.concat(frames) if frames else _NOTHING,
        aligned=_NOTHING if reference is None else ratings.aligned(reference, _ALIGNED),
        ranked=ranked,
    )


def alignment_on_page(judged: Snapshot, _questions: object, options: RatingOptions) -> list[Block]:
    """Make the page's section on alignment by probabilities, where no rating was sampled."""
    ratings, reference = Ratings(judged=judged), options.reference
    if ratings.weighted.is_empty() or ratings.sampled:
        return []
    if reference is None and _has_reference(ratings.expected, ratings.people()):
        reference = PEOPLE
    return [] if reference is None else alignment_section(ratings.aligned(reference, _ALIGNED))


def _scale_names_rated_on(judged: Snapshot) -> tuple[str, ...]:
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


def _can_rank_judges(groups: Sequence[RatedGroup], reference: str | None) -> bool:
    """Whether two judges rated at one temperature."""
    asked: dict[object, set[object]] = {}
    for group in groups:
        judge = group.key.get("judge")
        if judge is not None and judge != reference:
            asked.setdefault(group.key.get("temperature"), set()).add(judge)
    return any(len(judges) > 1 for judges in asked.values())
