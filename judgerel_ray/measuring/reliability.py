"""Judgments to coefficients of every group, and where these stand against tolerances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar
from weakref import WeakKeyDictionary

import polars as pl

from judgerel_ray.blocks.words import cell, group_columns
from judgerel_ray.core import Scale, SweepError, count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.papers import PUBLISHED, find_in_papers
from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.core.verb import check_reachable
from judgerel_ray.counting.counted import Declared, Group, counted_groups
from judgerel_ray.counting.files.labelled import PEOPLE
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.groups.grouping import TEMPERATURE, BlockChoice
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.nesting import N
from judgerel_ray.counting.outcomes import failed_requests
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import holds_names, withheld
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
from judgerel_ray.measuring.serving import SERVING
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


def tolerated(judged: Snapshot, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options, against the tolerances given, or those of the run's own sweep.

    Without coefficients of choice, those that have a tolerance are among them.
    """
    stated = {} if options.tolerance else judged.tolerance
    if (
        options.coefficients is None
        and not options.items
        and not set(stated) <= set(DEFAULT_COEFFICIENTS)
    ):
        more = tuple(name for name in stated if name not in DEFAULT_COEFFICIENTS)
        options = replace(options, coefficients=(*DEFAULT_COEFFICIENTS, *more))
    by_default = options.coefficients is None and not options.items
    if by_default or set(options.coefficients or ()) & set(OF_GOLD):
        judged = with_gold(judged)
    found = reduce_judged(judged, options)
    if options.tolerance:
        return with_tolerance(found, options.tolerance)
    there = set(found["coefficient"])
    stated = {name: value for name, value in stated.items() if name in there}
    return with_tolerance(found, stated) if stated else found


def reduce_judged(judged: Snapshot, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options: of each protocol by itself, where menus differ."""
    apart = options.by is None or "protocol" in options.by
    found = []
    for one in judged.by_menu() if apart else [judged]:
        table = reduce_judgments(
            one.source,
            by=options.by,
            measurement=options.measurement,
            missing=options.missing,
            coefficients=options.coefficients,
            block=options.counted_block,
            n_categories=one.n_categories,
            items=options.items,
            nuisance=options.nuisance,
            intervals=options.intervals,
            scales=one.scales,
            verdicts_known=one.verdicts_known,
            n_options=one.n_options,
        )
        found.append(table)
    return pl.concat(found, how="diagonal_relaxed") if len(found) > 1 else found[0]


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
    # Names of serving noise choose no coefficient: its rows are added where the texts are read.
    known = (
        *COEFFICIENTS, *LEADING, *OF_GOLD, *ORDER_EFFECTS, *CONSISTENCY, *PUBLISHED, *SERVING
    )  # fmt: skip
    by_default = (*DEFAULT_COEFFICIENTS, *(CONSISTENCY if items else ()))
    chosen = _known_coefficient_names(
        by_default if coefficients is None else coefficients, known, "coefficient"
    )
    policies = _known_coefficient_names(missing, POLICIES, "missing policy")
    levels = (
        None
        if measurement is None
        else _known_coefficient_names(measurement, LEVELS, "measurement")
    )
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    _check_items(items, chosen, columns)
    right = _labels_known(coefficients, items, columns)
    extra = [*([items] if items else []), *check_gold((*chosen, *right), columns)]
    check_order(chosen, columns)
    one_by_one = bool(set(chosen) & set(PUBLISHED))
    if one_by_one and "replication" not in columns:
        raise SweepError("the published estimator needs the column replication")
    declared = Declared(n_categories=n_categories or {}, n_options=n_options, scales=scales or {})
    found = counted_groups(
        source, by=by, block=block, extra=extra, items=items, nuisance=nuisance,
        one_by_one=one_by_one, declared=declared, intervals=intervals,
    )  # fmt: skip
    unnamed = coefficients is None
    found_in: list[GroupRows] = []
    computed: WeakKeyDictionary[Group, GroupRows] = WeakKeyDictionary()
    hint, n_groups = fewer_groups(found.counted.groups), len(found.counted.by_group)
    counting = [policy for policy in policies if policy != "bounds"]
    for key, group in under_way(found.groups(), of=n_groups, what="groups", hint=hint):
        if group in computed:
            found_in.append(replace(computed[group], key=key))
            continue
        more = leading_by_default(group) if unnamed and not items else ()
        rows = [*_agreement_rows(group, [*dict.fromkeys((*chosen, *more))], policies, levels)]
        wanted = (*chosen, *(orders_of(group) if unnamed else ()))
        rows += _of_more_than_counts(group, wanted, counting, levels, by_default=right)
        if distinct := [name for name in chosen if name in CONSISTENCY]:
            rows += _of_items(group, str(items), distinct)
        if group.labels is not None:
            published = [name for name in chosen if name in PUBLISHED]
            rows += find_in_papers("published_rows")(group, group.labels, published)
        replies = replies_of(group)
        rows = [_reported_row(row, group, items, replies) for row in rows]
        if not verdicts_known and holds_names(group.rows.seen()):
            rows = [withheld(row, group.nuisance) for row in rows]
        steady = group.moments is None and steady_within_units(group)
        computed[group] = GroupRows(key=key, rows=rows, replies=replies, steady=steady)
        found_in.append(computed[group])
    labelled = SHOWN in columns and found.counted.nested.places is None
    table = MeasuredCoefficients if intervals.with_errors else Coefficients
    schema = {**found.keys, **table.dtypes}
    return add_leads(found_in, found.rows, labelled=labelled, schema=schema)


def _agreement_rows(
    group: Group,
    wanted: Sequence[str],
    policies: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:
    """Agreement of one group: reproducibility first where it is known, then repeatability."""
    asked = [name for name in wanted if name in COEFFICIENTS]
    counting, single = [one for one in policies if one != "bounds"], group.moments is None
    of_pairs = [name for name in wanted if name in (*COEFFICIENTS, *LEADING)]
    reproduced = [*reproducible_rows(group, of_pairs, counting, levels)]
    # What no item was asked about leads nothing.
    crossed = any(row["undefined"] != "facets_not_crossed" for row in reproduced)
    yield from reproduced if crossed else ()
    counted = asked if single else [name for name in asked if name == "valid_rate"]
    repeated = [
        *continuous_rows(group, asked, counting, levels),
        *group_rows(group, coefficients=counted, missing=counting, levels=levels),
        *(class_rows(group) if "class_agreement" in wanted and single else ()),
        *(error_rows(group) if "standard_error" in wanted else ()),
    ]
    yield from _within_one_prompt(repeated, {row["coefficient"] for row in reproduced}, group)
    yield from () if crossed else reproduced
    if "bounds" in policies:
        yield from bound_rows(group, asked, levels=levels, counted=single)


def _within_one_prompt(rows: Sequence[Row], known: Set[object], group: Group) -> Iterator[Row]:
    """Rows of one group, flagged where several prompts were asked of which they compare none."""
    several = several_prompts(group)
    for row in rows:
        alone = row["conditions"] == REPEATABILITY and row["coefficient"] not in known
        is_flagged = several and alone and row["value"] is not None
        yield with_flags(row, [(Flag.WITHIN_PROMPT, ())]) if is_flagged else row


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


def _labels_known(
    coefficients: Sequence[str] | None, items: str | None, columns: Sequence[str]
) -> tuple[str, ...]:
    """Coefficients of labelled judgments that are there by default."""
    there = coefficients is None and not items and GOLD in columns
    return ("accuracy", "cohen_kappa", *(["people_kappa"] if PEOPLE in columns else ())) * there


def _of_more_than_counts(
    group: Group,
    chosen: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level] | None,
    *,
    by_default: Sequence[str],
) -> Iterator[Row]:
    """Coefficients that need to know what is right, or where options stood."""
    if names := [name for name in (*chosen, *by_default) if name in OF_GOLD]:
        from judgerel_ray.measuring.correctness import correctness_rows, kappa_rows

        extra = [name for name in (GOLD, PEOPLE) if name in group.rows.units.columns]
        rows = group.rows.long([*dict.fromkeys((*group.unit, *extra))])
        if not by_default or rows[GOLD].null_count() < rows.height:
            right = [name for name in names if name in CORRECTNESS]
            yield from correctness_rows(group, rows, right, missing)
            kappas = [name for name in names if name in KAPPAS]
            yield from kappa_rows(group, rows, kappas, missing, levels)
    if order := [name for name in chosen if name in ORDER_EFFECTS]:
        yield from order_rows(group, order, missing)


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


_OTHER_SHARES = (*CORRECTNESS, "swap_consistency", "place_consistency", "first_place")
MEETS, FAILS, UNDECIDED = "meets", "fails", "undecided"
AT_MOST = tuple(
    name for name in COEFFICIENTS if (of := declaration(name)) is not None and of.less_is_better
)
"""Coefficients of which less is better; a tolerance on any other is the least allowed."""


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
    declared = declaration(name)
    if declared is None:
        return name in _OTHER_SHARES or name.startswith("class_agreement")
    return not declared.chance_corrected


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
) -> pl.DataFrame:
    """Failed requests of the groups that coefficients have, by reason."""
    block = options.counted_block if options else 0
    source = judged.source
    if judged.run is not None:
        from judgerel_ray.counting.outcomes import failed_rows
        from judgerel_ray.store import checked_ledger

        rows = failed_rows(judged.run, checked_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, group_columns(coefficients), block=block)


def failed_by_group(
    failures: pl.DataFrame | None, columns: Sequence[str]
) -> dict[tuple[str, ...], dict[str, int]]:
    """Counts of failed requests by reason, of every group that has any, by its values as written.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": ["j"], "reason": ["prompt_too_long"], "n": [8]})
    >>> failed_by_group(rows, ["judge"])
    {('j',): {'prompt_too_long': 8}}
    """
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for row in failures.to_dicts() if failures is not None else ():
        group = found.setdefault(tuple(cell(row[name]) for name in columns), {})
        group[row["reason"]] = group.get(row["reason"], 0) + row["n"]
    return found


def failures_in_words(reasons: Mapping[str, int], *, of: int | None = None) -> str:
    """Say how many requests failed, `of` how many, and why.

    Examples
    --------
    >>> failures_in_words({"prompt_too_long": 8}), failures_in_words({"a": 1, "b": 1}, of=3)
    ('8 requests failed (prompt_too_long)', '2 of 3 requests failed (1 a, 1 b)')
    """
    n = sum(reasons.values())
    parts = [f"{many:,} {name}" if len(reasons) > 1 else name for name, many in reasons.items()]
    whole = f"{n:,} of {of:,} requests" if of else count_of(n, "request")
    return f"{whole} failed ({', '.join(parts)})"


def failure_lines(failures: pl.DataFrame | None, outcomes: pl.DataFrame) -> Iterator[str]:
    """Say of every judge how many of its requests failed: no number rests on them.

    Examples
    --------
    >>> failed = pl.DataFrame({"judge": ["j"], "reason": ["prompt_too_long"], "n": [8]})
    >>> list(failure_lines(failed, pl.DataFrame({"judge": ["j"], "n_landed": [16]})))
    ['j: 8 of 16 requests failed (prompt_too_long); every number rests on 8 replies.']
    """
    by = ["judge"] if "judge" in outcomes.columns else []
    landed: dict[tuple[str, ...], int] = {}
    for row in outcomes.to_dicts():
        who = tuple(cell(row[name]) for name in by)
        landed[who] = landed.get(who, 0) + row["n_landed"]
    for who, reasons in failed_by_group(failures, by).items():
        n = landed[who]
        yield (
            f"{f'{who[0]}: ' if by else ''}{failures_in_words(reasons, of=n)}; every number rests "
            "on "
            f"{count_of(n - sum(reasons.values()), 'reply', 'replies')}."
        )
