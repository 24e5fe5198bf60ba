"""Judgments to coefficients of every group, what these rest on, and how they stand to tolerances.

They rest on what landed: requests that failed, and the serving's noise, are told beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar
from weakref import WeakKeyDictionary

import polars as pl

from judgerel_ray.blocks.words import group_columns
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.papers import PUBLISHED, find_in_papers
from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.core.verb import check_reachable
from judgerel_ray.counting.counted import CountedGroups, Declared, Group, counted_groups
from judgerel_ray.counting.files.labelled import PEOPLE
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.groups.grouping import TEMPERATURE, BlockChoice
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.nesting import N
from judgerel_ray.counting.outcomes import failed_requests
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import holds_names, refuse_unknown, withheld
from judgerel_ray.counting.verdicts.places import SHOWN
from judgerel_ray.counting.verdicts.policy import (
    MISSING,
    POLICIES,
    REPEATABILITY,
    REPRODUCIBILITY,
    Missing,
    Row,
    with_flags,
)
from judgerel_ray.measuring.estimates import (
    LEADING,
    bound_rows,
    class_rows,
    continuous_rows,
    error_rows,
    group_rows,
    leading_by_default,
)
from judgerel_ray.measuring.lead_codes import (
    GroupRows,
    LeadCode,
    Replies,
    add_leads,
    leads,
    replies_of,
    steady_within_units,
)
from judgerel_ray.measuring.order_effects import check_order, order_rows, orders_of
from judgerel_ray.measuring.reproducibility import reproducible_rows, several_prompts
from judgerel_ray.measuring.serving import (
    SERVING,
    requested_serving,
    texts_are_gone,
    with_serving,
)
from judgerel_ray.measuring.tables import Coefficients, MeasuredCoefficients
from judgerel_ray.stats import COEFFICIENTS, DEFAULT_COEFFICIENTS, LEVELS, Level
from judgerel_ray.stats.agreement.agreement import CORRECTNESS, KAPPAS, OF_GOLD, declaration
from judgerel_ray.stats.generalizability.order_effects import ORDER_EFFECTS
from judgerel_ray.stats.internal_consistency import CONSISTENCY

_Name = TypeVar("_Name", bound=str)
# What says of replications that they are alike: at temperature 0 that is the server's doing.
_OF_REPEATS = {*COEFFICIENTS, "standard_error", "agreement_right", "agreement_wrong"} - {
    "valid_rate"
}
_MOST_LISTED = 12
_NO_ITEMS = ("item_id", "replication", "block", "verdict", "label", "score", "outcome", "seed")
_PUBLISHED = "schroeder2024_"  # of which one name is several rows
_NO_TEXTS = (
    "texts of the run are gone: repeats at temperature 0 are compared by their verdicts alone; "
    "judgerel verify names the files"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceOptions:
    """What ``reduce`` computes; None is the default of ARCHITECTURE 3.1."""

    by: tuple[str, ...] | None = None
    measurement: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("category", "drop")
    coefficients: tuple[str, ...] | None = None
    block: str = "0"
    items: str | None = None
    nuisance: tuple[str, ...] = ()
    tolerance: Mapping[str, float] | None = None
    intervals: IntervalChoice = AUTO

    def __post_init__(self) -> None:
        if self.block not in ("0", "all"):
            raise SweepError(f"block must be 0 or all, got {self.block!r}")

    @property
    def counted_block(self) -> BlockChoice:
        """The block that counts, or all of them."""
        return "all" if self.block == "all" else 0

    @property
    def extra_keys(self) -> list[str]:
        """Columns that tell rows apart, besides those that make a unit."""
        right = [GOLD] if set(self.coefficients or ()) & set(OF_GOLD) else []
        return [*(self.by or ()), *([self.items] if self.items else []), *self.nuisance, *right]


def as_stated(judged: Snapshot, options: ReduceOptions) -> tuple[Snapshot, ReduceOptions]:
    """Complete what is asked for by what judgments state: right verdicts, and coefficients.

    Without coefficients of choice, those that the run's own sweep has a tolerance for are added.
    """
    stated = {} if options.tolerance else judged.tolerance
    unnamed = options.coefficients is None and not options.items
    if unnamed and (more := tuple(name for name in stated if name not in DEFAULT_COEFFICIENTS)):
        options = replace(options, coefficients=(*DEFAULT_COEFFICIENTS, *more))
        unnamed = False
    if judged.may_know_right and (unnamed or set(options.coefficients or ()) & set(OF_GOLD)):
        judged = with_gold(judged)
    return judged, options


def with_stated_tolerance(
    coefficients: pl.DataFrame, judged: Snapshot, options: ReduceOptions
) -> pl.DataFrame:
    """Judge coefficients by the tolerances given, else by those of the run's own sweep."""
    if options.tolerance:
        return with_tolerance(coefficients, options.tolerance)
    there = set(coefficients["coefficient"])
    stated = {name: value for name, value in judged.tolerance.items() if name in there}
    return with_tolerance(coefficients, stated) if stated else coefficients


def reduce_judged(judged: Snapshot, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options: of each protocol by itself, where menus differ."""
    apart = options.by is None or "protocol" in options.by
    tables = []
    for one in judged.by_menu() if apart else [judged]:
        declared = Declared(
            n_categories=one.n_categories, n_options=one.n_options, scales=one.scales
        )
        chosen, groups = _groups_of_chosen(one.source, options, declared, options.counted_block)
        tables.append(_measured_groups(groups, options, chosen, one.verdicts_known))
    return pl.concat(tables, how="diagonal_relaxed") if len(tables) > 1 else tables[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """Coefficients; of the same groups, failed requests by reason, and the serving's noise."""

    coefficients: pl.DataFrame
    failures: pl.DataFrame | None  # None where none failed.
    serving: pl.DataFrame | None  # None where no temperature is recorded, or it was not asked for.
    caution: str | None = None  # What makes the numbers other than they seem.

    @property
    def rows(self) -> pl.DataFrame:
        """Coefficients, and below them the rows of the serving's noise."""
        if self.serving is None:
            return self.coefficients
        return with_serving(self.coefficients, self.serving)


def reduced(judged: Snapshot, coefficients: pl.DataFrame, options: ReduceOptions) -> Reduced:
    """Coefficients with what their reader must know of the judgments."""
    failures = failures_of(judged, coefficients, options)
    serving, named = None, options.coefficients
    # Without temperatures there is no noise to see; who names it is told so.
    if {*SERVING} & {*named} if named else TEMPERATURE in judged.frame.collect_schema():
        serving = requested_serving(judged, coefficients, named, block=options.counted_block)
    caution = _of_later_blocks(judged) if options.block == "all" else None
    if judged.run and named is None and serving is not None and texts_are_gone(serving):
        caution = "; ".join(filter(None, [caution, _NO_TEXTS]))
    return Reduced(coefficients=coefficients, failures=failures, serving=serving, caution=caution)


def _of_later_blocks(judged: Snapshot) -> str | None:
    """Say that replications were asked because earlier ones disagreed, where any were."""
    if "block" not in judged.frame.collect_schema().names():
        return None
    n_later = judged.frame.filter(pl.col("block") > 0).select(pl.len()).collect().item()
    if not n_later:
        return None
    return (
        f"{n_later:,} of these replications are of later blocks, asked where earlier ones "
        "disagreed: agreement and Fleiss' kappa come out too high, Krippendorff's alpha, which "
        "weighs a question by its replications, too low; --block 0 leaves them out"
    )


def questions_of(judged: Snapshot, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Accuracy and agreement of every question of judgments opened with their gold."""
    from judgerel_ray.measuring.correctness import correctness_by_question

    options = options or ReduceOptions()
    drawn = options.intervals != AUTO
    if options.coefficients or options.tolerance or options.items or options.nuisance or drawn:
        raise SweepError(
            "questions have columns and intervals of their own",
            hint="leave out coefficients, items, tolerance and interval",
        )
    missing: Missing = "category" if "category" in options.missing else "drop"
    if not judged.verdicts_known and GOLD in judged.frame.collect_schema().names():
        refuse_unknown("accuracy", judged.where)
    return correctness_by_question(
        with_gold(judged).source, by=options.by, missing=missing, block=options.counted_block
    )


def reduce_judgments(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    measurement: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    coefficients: Sequence[str] | None = None,
    block: BlockChoice = 0,
    n_categories: Mapping[str, int] | None = None,
    items: str | None = None,
    nuisance: Sequence[str] | None = None,
    intervals: IntervalChoice = AUTO,
    scales: Mapping[str, Scale] | None = None,
    verdicts_known: bool = True,
    n_options: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Compute how far each judge agrees with itself.

    Where a facet that should not matter to a verdict varies in a group (the order of the options,
    the template, the definition, and what `nuisance` names), agreement is given twice.
    Reproducibility leads: two judgments of an item, the facets of each drawn at random among those
    recorded. Repeatability follows: the same prompt again.

    One row a group, coefficient, level and missing policy: the group's columns, then those of
    `Coefficients`. Never NaN: no number is null, and ``undefined`` or ``no_interval`` says why.
    ``lead`` is what a reader of the group should know first, in all its rows: see
    :func:`judgerel_ray.measuring.lead_codes.lead_code`.

    Notes
    -----
    One streaming pass makes counts; everything after is in proportion to questions times verdicts.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(rows), coefficients=["percent_agreement"])
    >>> found.select("coefficient", "value", "unit").rows()
    [('percent_agreement', 0.5, 'item_id')]
    """
    options = ReduceOptions(
        by=None if by is None else tuple(by),
        measurement=None if measurement is None else tuple(measurement),
        missing=tuple(missing),
        coefficients=None if coefficients is None else tuple(coefficients),
        items=items,
        nuisance=tuple(nuisance or ()),
        intervals=intervals,
    )
    declared = Declared(n_categories=n_categories or {}, n_options=n_options, scales=scales or {})
    chosen, groups = _groups_of_chosen(source, options, declared, block)
    return _measured_groups(groups, options, chosen, verdicts_known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """What is computed of every group, each name known, in the order of the known ones."""

    names: tuple[str, ...]
    policies: tuple[Missing, ...]
    levels: tuple[Level, ...] | None
    right: tuple[str, ...]  # Coefficients of labelled judgments, where they are there by default.
    labelled: bool  # Whether labels say where the chosen option stood.


def _groups_of_chosen(
    source: pl.LazyFrame | Tally, options: ReduceOptions, declared: Declared, block: BlockChoice
) -> tuple[_Chosen, CountedGroups]:
    """What the options ask for, and the judgments counted by group as it needs them.

    SweepError where a name is unknown or a column is not there.
    """
    items, coefficients = options.items, options.coefficients
    # Names of serving noise choose no coefficient: its rows are added where the texts are read.
    known = (
        *COEFFICIENTS, *LEADING, *OF_GOLD, *ORDER_EFFECTS, *CONSISTENCY, *PUBLISHED, *SERVING
    )  # fmt: skip
    by_default = (*DEFAULT_COEFFICIENTS, *(CONSISTENCY if items else ()))
    names = _known_coefficient_names(
        by_default if coefficients is None else coefficients, known, "coefficient"
    )
    policies = _known_coefficient_names(options.missing, POLICIES, "missing policy")
    levels = (
        None
        if options.measurement is None
        else _known_coefficient_names(options.measurement, LEVELS, "measurement")
    )
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    _check_items(items, names, columns)
    there = coefficients is None and not items and GOLD in columns
    right = ("accuracy", "cohen_kappa", *(["people_kappa"] if PEOPLE in columns else ())) * there
    extra = [*([items] if items else []), *check_gold((*names, *right), columns)]
    check_order(names, columns)
    one_by_one = bool(set(names) & set(PUBLISHED))
    if one_by_one and "replication" not in columns:
        raise SweepError("the published estimator needs the column replication")
    groups = counted_groups(
        source, by=options.by, block=block, extra=extra, items=items, nuisance=options.nuisance,
        one_by_one=one_by_one, declared=declared, intervals=options.intervals,
    )  # fmt: skip
    labelled = SHOWN in columns and groups.counted.nested.places is None
    return _Chosen(
        names=names, policies=policies, levels=levels, right=right, labelled=labelled
    ), groups


def _measured_groups(
    found: CountedGroups, options: ReduceOptions, chosen: _Chosen, verdicts_known: bool
) -> pl.DataFrame:
    """The rows of all groups, with what leads each; equal groups are computed once."""
    unnamed, levels = options.coefficients is None, chosen.levels
    counting = [policy for policy in chosen.policies if policy != "bounds"]
    measured: list[GroupRows] = []
    computed: WeakKeyDictionary[Group, GroupRows] = WeakKeyDictionary()
    hint, n_groups = fewer_groups(found.counted.groups), len(found.counted.by_group)
    for key, group in under_way(found.groups(), of=n_groups, what="groups", hint=hint):
        if group in computed:
            measured.append(replace(computed[group], key=key))
            continue
        more = leading_by_default(group) if unnamed and not options.items else ()
        wanted, single = [*dict.fromkeys((*chosen.names, *more))], group.moments is None
        agreement = [name for name in wanted if name in COEFFICIENTS]
        of_pairs = [name for name in wanted if name in (*COEFFICIENTS, *LEADING)]
        reproduced = [*reproducible_rows(group, of_pairs, counting, levels)]
        # What no item was asked about leads nothing.
        crossed = any(row["undefined"] != "facets_not_crossed" for row in reproduced)
        counted = agreement if single else [name for name in agreement if name == "valid_rate"]
        repeated = [
            *continuous_rows(group, agreement, counting, levels),
            *group_rows(group, coefficients=counted, missing=counting, levels=levels),
            *(class_rows(group) if "class_agreement" in wanted and single else ()),
            *(error_rows(group) if "standard_error" in wanted else ()),
        ]
        repeated = _within_one_prompt(repeated, {row["coefficient"] for row in reproduced}, group)
        rows = [*reproduced, *repeated] if crossed else [*repeated, *reproduced]
        if "bounds" in chosen.policies:
            rows += bound_rows(group, agreement, levels=levels, counted=single)
        if right := [name for name in (*chosen.names, *chosen.right) if name in OF_GOLD]:
            rows += _rows_of_gold(group, right, counting, levels, by_default=bool(chosen.right))
        order = [*chosen.names, *(orders_of(group) if unnamed else ())]
        if order := [name for name in order if name in ORDER_EFFECTS]:
            rows += order_rows(group, order, counting)
        if distinct := [name for name in chosen.names if name in CONSISTENCY]:
            rows += _of_items(group, str(options.items), distinct)
        if group.labels is not None:
            published = [name for name in chosen.names if name in PUBLISHED]
            rows += find_in_papers("published_rows")(group, group.labels, published)
        replies = replies_of(group)
        rows = [_reported_row(row, group, options.items, replies) for row in rows]
        if not verdicts_known and holds_names(group.rows.seen):
            rows = [withheld(row, group.nuisance) for row in rows]
        steady = single and steady_within_units(group)
        computed[group] = GroupRows(key=key, rows=rows, replies=replies, steady=steady)
        measured.append(computed[group])
    table = MeasuredCoefficients if options.intervals.with_errors else Coefficients
    schema = {**found.keys, **table.dtypes}
    return add_leads(measured, found.rows, labelled=chosen.labelled, schema=schema)


def _within_one_prompt(rows: Sequence[Row], known: Set[object], group: Group) -> list[Row]:
    """Rows of one group, flagged where several prompts were asked of which they compare none."""
    if not several_prompts(group):
        return [*rows]
    return [
        with_flags(row, [(Flag.WITHIN_PROMPT, ())])
        if row["conditions"] == REPEATABILITY
        and row["coefficient"] not in known
        and row["value"] is not None
        else row
        for row in rows
    ]


def _reported_row(row: Row, group: Group, items: str | None, replies: Replies) -> Row:
    """A row with its flags: temperature 0, replies without a verdict, repeats of other answers."""
    name, greedy, other = str(row["coefficient"]), group.greedy, group.others
    if replies.flag and name != "valid_rate" and row["missing"] in MISSING:
        row = with_flags(row, [replies.flag])
    of_repeats = (
        name in _OF_REPEATS or name.startswith("class_agreement") or name.startswith(_PUBLISHED)
    )
    if other and of_repeats and row["value"] is not None:
        row = with_flags(row, [other])
    of_repeats = of_repeats and row["conditions"] != REPRODUCIBILITY
    all_of_it = items == TEMPERATURE and name in CONSISTENCY
    is_flagged = of_repeats if greedy == Flag.SERVING_NOISE else not all_of_it
    return with_flags(row, [(greedy, ())]) if greedy and is_flagged else row


def _of_items(group: Group, items: str, names: Sequence[str]) -> Iterator[Row]:
    """Coefficients of distinct items."""
    if group.of_items is None:
        return
    from judgerel_ray.measuring.consistency import consistency_rows, item_scores

    scores = item_scores(group.of_items, items, facets=group.unit[1:])
    sample = dict(group.sample)
    if items == TEMPERATURE:
        sample["n_judgments"] = int(group.of_items[N].sum())
    yield from consistency_rows(scores, names, sample, group.intervals)


def _rows_of_gold(
    group: Group,
    names: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level] | None,
    *,
    by_default: bool,
) -> Iterator[Row]:
    """Coefficients that need to know what is right; by default where a group knows it."""
    from judgerel_ray.measuring.correctness import correctness_rows, kappa_rows

    extra = [name for name in (GOLD, PEOPLE) if name in group.rows.units.columns]
    rows = group.rows.long([*dict.fromkeys((*group.unit, *extra))])
    if by_default and rows[GOLD].null_count() == rows.height:
        return
    right = [name for name in names if name in CORRECTNESS]
    yield from correctness_rows(group, rows, right, missing)
    kappas = [name for name in names if name in KAPPAS]
    yield from kappa_rows(group, rows, kappas, missing, levels)


def _check_items(items: str | None, names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse coefficients of items without items, and items that are none."""
    wanted = [name for name in names if name in CONSISTENCY]
    if items is None:
        if wanted:
            raise SweepError(
                f"{wanted[0]} needs distinct items, expected the column whose values they are",
                hint="--items template; of replications, --coefficient icc1",
            )
        return
    if items in _NO_ITEMS:
        raise SweepError(
            f"{items} is no column of distinct items: replications of a question are "
            "interchangeable",
            hint="--coefficient icc1, which is what omega would be of them",
        )
    if items not in columns:
        raise SweepError(f"no column {items!r} of items, got {', '.join(columns)}")


def check_gold(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Name the column of right verdicts where it is needed; refuse where it is not there."""
    wanted = [name for name in names if name in OF_GOLD]
    if wanted and GOLD not in columns:
        raise SweepError(
            f"{wanted[0]} needs the right verdict of every question, expected a column {GOLD!r}, "
            f"got {', '.join(columns)}"
        )
    return [name for name in (GOLD, PEOPLE) if name in columns] if wanted else []


def _known_coefficient_names(
    names: Sequence[str], known: Sequence[_Name], what: str
) -> tuple[_Name, ...]:
    """The names in the order they are known in; each must be known, and there must be one."""
    if not names:
        raise SweepError(f"no {what} given, expected some of {_first_coefficient_names(known)}")
    for name in names:
        if name not in known:
            plain = name.lower()
            parts = [one for one in known if plain in one.split("_")]
            near = parts or get_close_matches(plain, known, n=3)
            raise SweepError(
                f"unknown {what} {name!r}, expected one of {_first_coefficient_names(known)}",
                hint=" or ".join(map(str, near)) or None,
            )
    return tuple(name for name in known if name in names)


def _first_coefficient_names(names: Sequence[str]) -> str:
    """The first of many names: a line is read to its end."""
    return ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")


MEETS, FAILS, UNDECIDED = "meets", "fails", "undecided"
AT_MOST = tuple(
    name for name in COEFFICIENTS if (of := declaration(name)) is not None and of.less_is_better
)
"""Coefficients of which less is better; a tolerance on any other is the least allowed."""
_SHARES = (
    *(name for name in COEFFICIENTS if (of := declaration(name)) and not of.chance_corrected),
    *CORRECTNESS, "swap_consistency", "place_consistency", "first_place",
)  # fmt: skip


def with_tolerance(coefficients: pl.DataFrame, tolerance: Mapping[str, float]) -> pl.DataFrame:
    """Judge coefficients against tolerances.

    With two columns more: ``tolerance``, null where none is set, and ``standing``: "meets" where
    the whole confidence interval does, "fails" where none of it does, else "undecided"; also
    undecided without an interval, and of agreement where fewer than half of the replies hold a
    verdict. Null of repeats at temperature 0, which are not sampled, and of repeatability where
    reproducibility is known.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["krippendorff_alpha", "flip_rate"],
    ...                      "low": [0.55, 0.01], "high": [0.9, 0.04]})
    >>> judged = with_tolerance(rows, {"krippendorff_alpha": 0.667, "flip_rate": 0.05})
    >>> judged["standing"].to_list()
    ['undecided', 'meets']
    """
    known = coefficients["coefficient"].unique().to_list()
    for name, value in tolerance.items():
        if coefficients.height and name not in known:
            raise SweepError(f"tolerance for {name!r}, expected one of {', '.join(sorted(known))}")
        check_reachable(name, value)
    limit = pl.col("coefficient").replace_strict(
        list(tolerance), list(tolerance.values()), default=None, return_dtype=pl.Float64
    )
    if "flags" in coefficients.columns:
        # What is asked of a judge's sampling is not met by a server that repeats itself.
        sampling = ~pl.col("flags").list.contains(Flag.SERVING_NOISE.value)
        limit = pl.when(sampling.fill_null(True)).then(limit)
    limit = pl.when(leads(coefficients)).then(limit)
    standings = standing(coefficients, limit, at_most=pl.col("coefficient").is_in(AT_MOST))
    return coefficients.with_columns(limit.alias("tolerance"), standings.alias("standing"))


def standing(coefficients: pl.DataFrame, limit: pl.Expr, *, at_most: pl.Expr) -> pl.Expr:
    """Say where the whole confidence interval of each row lies.

    "meets" where the whole confidence interval does, "fails" where none of it does, else
    "undecided", as of agreement where fewer than half of the replies hold a verdict.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["valid_rate"], "low": [0.9], "high": [0.94]})
    >>> rows.select(standing(rows, pl.lit(0.95), at_most=pl.lit(False))).item()
    'fails'
    """
    good = pl.when(at_most).then(pl.col("high") <= limit).otherwise(pl.col("low") >= limit)
    bad = pl.when(at_most).then(pl.col("low") > limit).otherwise(pl.col("high") < limit)
    if "lead" in coefficients.columns:
        few = (pl.col("lead") == LeadCode.FEW_VERDICTS.value).fill_null(False)
        has_verdicts = ~few | (pl.col("coefficient") == "valid_rate")
        good, bad = good & has_verdicts, bad & has_verdicts
    return (
        pl.when(limit.is_null()).then(None)
        .when(good.fill_null(False)).then(pl.lit(MEETS))
        .when(bad.fill_null(False)).then(pl.lit(FAILS))
        .otherwise(pl.lit(UNDECIDED))
    )  # fmt: skip


def is_share(name: str) -> bool:
    """Tell a coefficient that is a mean, over questions, of what lies between 0 and 1.

    Examples
    --------
    >>> [is_share(name) for name in ("flip_rate", "accuracy", "icc1")]
    [True, True, False]
    """
    return name in _SHARES or name.startswith(("class_agreement", "majority_stability"))


def possible_values(name: str) -> tuple[float, float]:
    """Give the least and the most that a coefficient can be: of shares 0 and 1, else -1 and 1.

    Examples
    --------
    >>> possible_values("flip_rate"), possible_values("krippendorff_alpha")
    ((0.0, 1.0), (-1.0, 1.0))
    """
    return (0.0 if is_share(name) else -1.0), 1.0


def failures_of(
    judged: Snapshot, coefficients: pl.DataFrame, options: ReduceOptions | None = None
) -> pl.DataFrame | None:
    """Failed requests of the groups that coefficients have, by reason; None where none failed."""
    block = options.counted_block if options else 0
    source = judged.source
    if isinstance(source, Tally) and not source.any_failed:
        return None
    if judged.run is not None:
        from judgerel_ray.counting.outcomes import failed_rows
        from judgerel_ray.store import checked_ledger

        rows = failed_rows(judged.run, checked_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, group_columns(coefficients), block=block)
