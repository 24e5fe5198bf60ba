"""From judgments to a gate's verdict: one look, every requirement in every group."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from judgerel_ray.analyses.advice.from_run import plans_of
from judgerel_ray.analyses.comparison.compared_facets import compared_level_pairs
from judgerel_ray.analyses.comparison.from_run import compare_with_serving
from judgerel_ray.analyses.comparison.show import left_out_words
from judgerel_ray.analyses.gate.requirement import (
    ALPHA,
    OF_A_DROP,
    RIGHT,
    Requirement,
    default_requirements,
)
from judgerel_ray.analyses.gate.standing import (
    AGREEMENT,
    ALONE,
    KNOWN,
    GateLook,
    Verdict,
    needs_a_plan,
    of_requirement,
    with_needs,
)
from judgerel_ray.analyses.gate.tables import Requirements
from judgerel_ray.blocks.result import Writable
from judgerel_ray.core import SweepError, count_of, printable
from judgerel_ray.core.errors import warn_of
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import IntervalChoice
from judgerel_ray.counting.outcomes import failure_lines, outcome_table
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.counting.verdicts.spelling import otherwise_line
from judgerel_ray.measuring.correctness import correctness_by_question
from judgerel_ray.measuring.order_effects import (
    SAME_IN_ANOTHER_ORDER,
    labels_by_default,
)
from judgerel_ray.measuring.reliability import ReduceOptions, failures_of, reduce_judged
from judgerel_ray.stats.agreement.agreement import OF_GOLD
from judgerel_ray.stats.selective.systems import paired_accuracy

EXIT_CODES = {"PASS": 0, "FAIL": 4, "INCONCLUSIVE": 5}
_OF_DIFFERENCE = ("difference", "value_b", "low", "high", "standard_error")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Gated(Writable):
    """What a gate found.

    Attributes
    ----------
    verdict : str
        "FAIL" where any requirement fails in any group, else "INCONCLUSIVE" where any is, else
        "PASS".
    requirements : pl.DataFrame
        As :class:`judgerel_ray.analyses.gate.tables.Requirements`, after the group's columns.
    look : Look
        Which look at these data it was, and the confidence of its intervals.
    notes : tuple of str
        Of every drop, how many questions one side alone has; of every judge some of whose requests
        failed, how many: they count in nothing.
    rests_on : tuple of str
        What numbers of a run rest on, such as how many of its judgments have landed.
    read : tuple of str
        How a file was read.
    """

    shown_by: ClassVar[str] = "judgerel_ray.analyses.gate.show:gate_result"

    verdict: str
    requirements: pl.DataFrame
    look: GateLook
    notes: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 of PASS, 4 of FAIL, 5 of INCONCLUSIVE."""
        return EXIT_CODES[self.verdict]

    def as_junit(self) -> str:
        """Write it as JUnit XML, a test case a requirement and group."""
        return self._result().as_junit()


def columns_of(
    asked: Sequence[Requirement], by: Sequence[str] | None, baseline: str | None = None
) -> tuple[list[str], list[str]]:
    """Columns that tell rows apart, and others that are read: of the judgments, or a baseline."""
    if baseline is None:
        right = any(one.coefficient in OF_GOLD for one in asked)
    else:
        right = any(one.against == baseline and one.name == OF_A_DROP for one in asked)
    return [*(by or ()), *([GOLD] if right else [])], [] if asked else [GOLD]


def gate_options(by: Sequence[str] | None, look: GateLook) -> ReduceOptions:
    """What is measured for a gate: with the standard errors of intervals as wide as a look asks."""
    intervals = IntervalChoice(confidence=look.confidence, with_errors=True)
    return ReduceOptions(by=None if by is None else tuple(by), intervals=intervals)


def gate_by_requirements(
    judged: Snapshot,
    baselines: Mapping[str, Snapshot],
    asked: Sequence[Requirement],
    options: ReduceOptions,
    look: GateLook,
) -> tuple[pl.DataFrame, list[str]]:
    """Judge judgments by requirements, and name what drops leave out.

    `baselines` are those of drops, by the names these give. All are opened with what
    :func:`columns_of` names.
    """
    right = any(one.coefficient in OF_GOLD for one in asked)
    judged = with_gold(judged) if right else judged
    accurate = {one.against for one in asked if one.name == OF_A_DROP}
    others = {name: with_gold(one) if name in accurate else one for name, one in baselines.items()}
    drops, left_out = _drop_requirements(judged, others, asked, options.by, look)
    tables = [*_level_requirements(judged, asked, options), *drops]
    found = _requirements_decided(judged, asked, tables, options, then=look.next_confidence)
    return found, left_out


def gate_failure_remarks(judged: Snapshot, found: pl.DataFrame) -> tuple[str, ...]:
    """Say of every judge how many of its requests failed: a valid rate is of the others."""
    by = [name for name in found.columns if name == "judge"]
    failures = failures_of(judged, found.select(*by, "coefficient"))
    if failures is None or failures.is_empty():
        return ()
    return tuple(failure_lines(failures, outcome_table(judged.source)))


def gate_by_default(
    judged: Snapshot,
    coefficients: pl.DataFrame,
    options: ReduceOptions | None = None,
    *,
    then: float | None = None,
) -> pl.DataFrame:
    """Judge judgments by what holds where nothing is required (:func:`.default_requirements`).

    What judgments cannot tell is not required: the right verdict where nobody knows it, another
    order of the options where none was asked. Where neither is known, that a judge agrees with
    itself does not pass: one that goes by the place of an option does, too. Ratings are held
    against labels by kappa at their level of measurement, other verdicts by accuracy.
    """
    options = options or ReduceOptions(intervals=IntervalChoice(with_errors=True))
    confidence = options.intervals.confidence
    asked = default_requirements(judged.tolerance)
    groups = coefficients.columns[: coefficients.columns.index("coefficient")]
    right = _right_verdicts(judged, replace(options, coefficients=RIGHT))
    of = {}
    if right is not None:
        right = _by_their_kind(right, groups, kept=judged.tolerance)
        of = dict.fromkeys(RIGHT, right)
    tables = [
        of_requirement(one, table, groups, confidence)
        for one in asked
        for table in [of.get(one.name, coefficients)]
        if one.name in table["coefficient"]
    ]
    found = _requirements_decided(judged, asked, tables, options, then=then or confidence)
    return _with_the_unknown(found, groups)


def _by_their_kind(
    right: pl.DataFrame, groups: Sequence[str], *, kept: Container[str]
) -> pl.DataFrame:
    """Rows of kappa of ratings alone, and of accuracy where there is none of those.

    What a sweep requires itself is `kept` of all.
    """
    weighted = (pl.col("coefficient") == "cohen_kappa") & (pl.col("measurement") != "nominal")
    rated = weighted.any().over(groups or [pl.lit(0)])
    wanted = pl.when(rated).then(weighted).otherwise(pl.col("coefficient") == OF_A_DROP)
    return right.filter(
        wanted | pl.col("coefficient").is_in([name for name in RIGHT if name in kept])
    )


def _with_the_unknown(found: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """A row of its own below alpha's where neither reproducibility nor the right verdict is known.

    It is open: so the default never passes a judge that is only known to repeat itself.
    """
    gold_known = pl.col("coefficient").is_in(RIGHT).any().over(groups or [pl.lit(0)])
    kept = [*groups, "n_items", "n_judgments"]
    unknown = found.filter(
        (pl.col("requirement") == ALPHA)
        & (pl.col("conditions") == REPEATABILITY).fill_null(False)
        & ~gold_known
    )
    unknown = unknown.unique(groups, maintain_order=True) if groups else unknown.head(1)
    rows = unknown.with_columns(
        pl.col(name) if name in kept else pl.lit(None, dtype).alias(name)
        for name, dtype in found.schema.items()
    ).with_columns(
        requirement=pl.lit(KNOWN), coefficient=pl.lit(REPRODUCIBILITY),
        conditions=pl.lit(REPRODUCIBILITY), verdict=pl.lit(Verdict.INCONCLUSIVE.value),
        reason=pl.lit(ALONE), missing=pl.lit("category"),
    )  # fmt: skip
    of_alpha = pl.col("requirement") == ALPHA
    return pl.concat([found.filter(of_alpha), rows, found.filter(~of_alpha)])


def _right_verdicts(judged: Snapshot, options: ReduceOptions) -> pl.DataFrame | None:
    """How often the groups are right whose right verdicts are known; None where none is."""
    if not judged.may_know_right:
        return None
    judged = with_gold(judged)
    frame = judged.frame
    if not judged.verdicts_known or GOLD not in frame.collect_schema():
        return None
    known = frame.filter(is_judge(frame.collect_schema().names()), pl.col(GOLD).is_not_null())
    if known.head(1).collect().is_empty():
        return None
    return reduce_judged(judged, options).filter(pl.col("value").is_not_null())


def _requirements_decided(
    judged: Snapshot,
    asked: Sequence[Requirement],
    tables: Sequence[pl.DataFrame],
    options: ReduceOptions,
    *,
    then: float,
) -> pl.DataFrame:
    """Requirements in their order, with what would decide those that are open."""
    found = pl.concat(tables, how="diagonal_relaxed")
    groups = Requirements.groups(found)
    planned = found.filter(needs_a_plan()).height and judged.verdicts_known
    plans = plans_of(judged, by=options.by) if planned else {}
    place = found["requirement"].map_elements(
        [one.text for one in asked].index, return_dtype=pl.Int64
    )
    found = with_needs(
        found.with_columns(place.alias("__place")), groups, plans,
        confidence=options.intervals.confidence, then=then,
    )  # fmt: skip
    return found.sort("__place", maintain_order=True).select(*groups, *Requirements.columns)


def _level_requirements(
    judged: Snapshot, asked: Sequence[Requirement], options: ReduceOptions
) -> list[pl.DataFrame]:
    """Requirements of coefficients themselves."""
    wanted = [one for one in asked if one.against is None]
    if not wanted:
        return []
    plain = dict.fromkeys(one.coefficient for one in wanted)
    options = replace(
        options, coefficients=(*plain, *_gate_lead_coefficients(judged, besides=plain))
    )
    table = reduce_judged(judged, options)
    groups = table.columns[: table.columns.index("coefficient")]
    confidence = options.intervals.confidence
    return [
        of_requirement(one, _in_every_group(table, groups, one.name), groups, confidence)
        for one in wanted
    ]


def _gate_lead_coefficients(judged: Snapshot, *, besides: Container[str] = ()) -> tuple[str, ...]:
    """Coefficients that tell what leads each group, and so whether its judge has a habit.

    Whether it follows the place is told by both shares of verdicts that another order leaves alike;
    the noise floor of agreement is also the chance that alpha is above.
    """
    source = judged.source
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    names = [AGREEMENT, *(SAME_IN_ANOTHER_ORDER if labels_by_default(source, columns) else ())]
    return tuple(name for name in names if name not in besides)


def _in_every_group(table: pl.DataFrame, groups: Sequence[str], name: str) -> pl.DataFrame:
    """A table with a row of a coefficient in every group: none passes where it has no value."""
    there = table.filter(coefficient=name)
    if there.is_empty() or not groups:
        return table
    lacking = (
        table.select(groups)
        .unique(maintain_order=True)
        .join(there, on=groups, how="anti", nulls_equal=True)
    )
    rows = lacking.with_columns(
        coefficient=pl.lit(name), missing=pl.lit("category"), measurement=pl.lit("nominal"),
        undefined=pl.lit("never_given"),
    )  # fmt: skip
    return pl.concat([table, rows], how="diagonal_relaxed")


def _drop_requirements(
    judged: Snapshot,
    baselines: Mapping[str, Snapshot],
    asked: Sequence[Requirement],
    by: Sequence[str] | None,
    look: GateLook,
) -> tuple[list[pl.DataFrame], list[str]]:
    """Requirements of differences to a baseline, on the questions that both have.

    Beside them, which questions are on one side alone: a verdict of the rest is not of those.
    """
    found, notes = [], []
    for one in asked:
        if one.against is None:
            continue
        baseline = baselines[one.against]
        if one.name == OF_A_DROP:
            table = _accuracy_drop(judged, baseline, by, look.confidence, one)
            left_out = left_out_words(table, "has no right verdict of them")
        else:
            table, _ = compare_with_serving(
                judged, baseline, by=by, coefficients=[one.coefficient], serving=False,
                confidence=look.confidence,
            )  # fmt: skip
            left_out = left_out_words(table)
        if left_out:
            notes.append(f"{one.text}: {left_out[0].lower()}{left_out[1:].rstrip('.')}")
        groups = table.columns[: table.columns.index("a")]
        leading = ReduceOptions(by=tuple(groups), coefficients=_gate_lead_coefficients(judged))
        plain = reduce_judged(judged, leading)
        leads = plain.select(*groups, "lead").unique(maintain_order=True)
        table = table.join(leads, on=groups, how="left", nulls_equal=True) if groups else (
            table.with_columns(lead=pl.lit(leads["lead"].first(), pl.String))
        )  # fmt: skip
        lacking = _gate_groups_unpaired(table, groups, judged.frame, one)
        whole = pl.concat([table, lacking], how="diagonal_relaxed")
        found.append(of_requirement(one, whole, groups, look.confidence))
    return found, notes


def _gate_groups_unpaired(
    table: pl.DataFrame, groups: Sequence[str], here: pl.LazyFrame, asked: Requirement
) -> pl.DataFrame:
    """Rows of groups that the baseline does not have: none of them passes unseen."""
    if not groups:
        return table.clear()
    judges = here.filter(is_judge(here.collect_schema().names()))
    plain = judges.select(pl.col(name).cast(table.schema[name]) for name in groups).unique()
    alone = plain.collect().join(table, on=groups, how="anti", nulls_equal=True).sort(groups)
    return alone.with_columns(
        coefficient=pl.lit(asked.name), missing=pl.lit("category"), undefined=pl.lit("no_baseline")
    )


def _check_gold(frames: Sequence[pl.LazyFrame], asked: Requirement, names: tuple[str, str]) -> None:
    """Refuse right verdicts of one question that differ between the sides (SweepError)."""
    alike = pl.col(GOLD).cast(pl.String).str.strip_chars().str.to_lowercase()
    keys = [
        one.filter(pl.col(GOLD).is_not_null()).group_by("item_id")
        .agg(alike.n_unique().alias("n"), alike.first(), pl.col(GOLD).first().alias("written"))
        .filter(pl.col("n") == 1)
        for one in frames
        if GOLD in one.collect_schema()
    ]  # fmt: skip
    if len(keys) < len(frames):
        return
    other = keys[0].join(keys[1], on="item_id", suffix="_b").filter(
        pl.col(GOLD) != pl.col(f"{GOLD}_b")
    ).sort("item_id").collect()  # fmt: skip
    if other.height:
        item, here, there = other.select("item_id", "written", "written_b").row(0)
        raise SweepError(
            f"right verdicts differ between the two sides in {count_of(other.height, 'question')} "
            f"({printable(str(item))}: {here!r} and {there!r})",
            where={"require": asked.text, "a": names[0], "b": names[1]},
            hint="the same column gold in both",
        )


def _gate_standard_error(of_questions: pl.Series) -> float | None:
    """Of the mean of questions; None below two."""
    spread = of_questions.std()
    return spread / len(of_questions) ** 0.5 if isinstance(spread, float) else None


def _accuracy_drop(
    here: Snapshot,
    baseline: Snapshot,
    by: Sequence[str] | None,
    confidence: float,
    asked: Requirement,
) -> pl.DataFrame:
    """The baseline's accuracy less this one's, question by question, as rows of a comparison."""
    both = [here, baseline]
    frames = [one.frame for one in both]
    names = (here.name, baseline.name)
    _check_gold(frames, asked, names)
    pairs = [*compared_level_pairs(frames[0], frames[1], by, names)]
    shared = list(pairs[0].key)
    tables = [correctness_by_question(one.source, by=shared) for one in both]
    rows = []
    for pair in pairs:
        same = [pl.col(name).eq_missing(pl.lit(value)) for name, value in pair.key.items()]
        sides = [
            table.filter(*same, pl.col("accuracy").is_not_null()).select("item_id", "accuracy",
                                                                         "n_judgments")
            for table in tables
        ]  # fmt: skip
        joined = sides[0].join(sides[1], on="item_id", suffix="_b")
        difference = paired_accuracy(
            joined["accuracy"].to_numpy(), joined["accuracy_b"].to_numpy(), confidence=confidence
        )
        rows.append({
            **pair.key, "a": names[0], "b": names[1], "coefficient": asked.name,
            "missing": "category", "measurement": "nominal", "conditions": None,
            "difference": difference.difference, "value_b": difference.second,
            "low": difference.low, "high": difference.high, "n_items": joined.height,
            "n_judgments_a": int(joined["n_judgments"].sum()), "reason": None,
            "n_left_out_a": sides[0].height - joined.height,
            "n_left_out_b": sides[1].height - joined.height,
            "standard_error": _gate_standard_error(joined["accuracy_b"] - joined["accuracy"]),
            "undefined": None if joined.height else "no_gold",
        })  # fmt: skip
    items = [table["item_id"] for table in tables]
    if line := otherwise_line(*items):
        warn_of([line])
    if not any(row["n_items"] for row in rows):
        raise SweepError(
            "no question with a right verdict is on both sides",
            where={"require": asked.text, "a": names[0], "b": names[1]},
        )
    kinds = {name: pl.Float64() for name in _OF_DIFFERENCE}
    texts = {name: pl.String() for name in ("conditions", "reason", "undefined")}
    keys = {name: pairs[0].a.schema[name] for name in shared}
    order = [*shared, *(name for name in rows[0] if name not in shared)]
    return pl.DataFrame(rows, schema_overrides={**keys, **kinds, **texts}).select(order)
