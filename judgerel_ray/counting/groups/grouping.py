"""Groups of judgments, and the units of agreement inside them.

A unit is a question as it was asked: the item and every recorded facet that varies inside the
group. Its replications are the raters. Repeats at temperature 0 are never among sampled
replications: a greedy judge asked again says the same, and where it does not, arithmetic came out
otherwise in another batch. That is the serving's noise, and in a group with other temperatures it
would pass for a judge that agrees with itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Literal, get_args

import polars as pl

from judgerel_ray.core import JUDGE_ROLES, Role, SweepError, count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.columns import FACETS, KINDS, is_judge
from judgerel_ray.counting.groups.tally import Tally, tally_judgments
from judgerel_ray.counting.nesting import KIND, PLACES, N, UnitRows

DEFAULT_GROUPS = ("judge", "benchmark", "protocol", "criterion", "scale", "temperature")
BlockChoice = int | Literal["all"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedJudgments:
    """How often each unit received each verdict: all that coefficients of agreement need."""

    nested: UnitRows  # One row a unit, in no order.
    groups: tuple[str, ...]  # Columns that make a group.
    facets: tuple[str, ...]  # Columns that make a unit besides item_id.
    extra: tuple[str, ...] = ()  # Columns kept besides.
    distinct: bool = False  # Whether no unit has two rows.

    def by_protocol(self) -> dict[str | None, UnitRows]:
        """Split the rows by protocol where that makes groups; else all are under None.

        Answers, and what is right or wrong of them, are not of one menu though a file holds both.
        """
        if "protocol" not in self.groups:
            return {None: self.nested}
        parts = parts_by(self.nested.units, ["protocol"])
        return {
            None if name is None else str(name): replace(self.nested, units=part)
            for (name,), part in parts.items()
        }

    @property
    def columns(self) -> list[str]:
        """Columns of units: the groups, item_id, the facets recorded, and others kept."""
        recorded = [name for name in FACETS if name in (*self.groups, *self.facets)]
        return [*dict.fromkeys((*self.groups, "item_id", *recorded, *self.extra))]

    @cached_property
    def by_group(self) -> dict[tuple[object, ...], pl.DataFrame]:
        """Units of each group, in the order of the keys; split once, however many there are."""
        return parts_by(self.nested.units, self.groups)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row a unit and kind: `columns`, verdict, score, outcome, and ``n``, sorted by all."""
        return self.nested.long(self.columns).sort(*self.columns, *KINDS)


def count_judgments(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    block: BlockChoice = 0,
    extra: Sequence[str] = (),
) -> CountedJudgments:
    """Count judgments by group, unit and verdict, in one streaming pass.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"]}
    >>> count_judgments(pl.LazyFrame(rows)).frame.select("item_id", "verdict", "n").rows()
    [('q', 'A', 2)]
    """
    wanted = [*(by or ()), *extra]
    tally = source if isinstance(source, Tally) else tally_judgments(source, extra=wanted)
    groups = None if by is None else _checked_groups(by, tally.columns)
    if not set(wanted) <= set(tally.nested.units.columns):
        tally = tally_judgments(tally.rows, extra=wanted)
    units = _judge_counts_of_block(tally.nested.units, block)
    if units.is_empty():
        found = lines_left_out(tally.nested.units, block)
        raise SweepError(
            ": ".join([f"no judgments: no row of a judge in block {block}", *found]),
            hint="rename the columns role and block if they mean something else" if found else None,
        )
    recorded = [name for name in FACETS if name in units.columns]
    if groups is None:
        groups = _default_groups(units, [name for name in recorded if name not in extra])
    _refuse_mixed(UnitRows(units=units, kinds=tally.nested.kinds), groups)
    others = set(units.columns) - {"item_id", *FACETS, KIND, N, PLACES}
    apart = any(units[name].n_unique() > 1 for name in others)
    # Rows without a role are a judge's, and may be of the units of others that say so.
    apart |= "role" in recorded and tally.nested.units["role"].n_unique() > units["role"].n_unique()
    return CountedJudgments(
        nested=replace(tally.nested, units=units),
        groups=groups,
        facets=tuple(name for name in recorded if name not in groups),
        extra=tuple(extra),
        distinct=not apart,
    )


def parts_by(units: pl.DataFrame, columns: Sequence[str]) -> dict[tuple[object, ...], pl.DataFrame]:
    """Split units by some columns, in the order of their values.

    Examples
    --------
    >>> [*parts_by(pl.DataFrame({"judge": ["b", "a"]}), ["judge"])], [*parts_by(pl.DataFrame(), [])]
    ([('a',), ('b',)], [()])
    """
    if not columns:
        return {(): units}
    keys = units.select(columns).unique().sort(columns).rows()
    if len(keys) == 1:  # nothing to copy
        return {keys[0]: units}
    parts = units.partition_by(columns, as_dict=True)
    return {key: parts[key] for key in keys}


def _refuse_mixed(nested: UnitRows, groups: Sequence[str]) -> None:
    """Refuse groups in which some rows have a verdict and others a score alone.

    Counted together, scores would be verdicts of their own that agree with no other.
    """
    kinds = nested.kinds
    if not {"verdict", "score"} <= set(kinds.columns):
        return
    of_score = (pl.col("verdict").is_null() & pl.col("score").is_not_null()).alias("score")
    scored = kinds.select(pl.col("verdict").is_not_null().alias("verdict"), of_score)
    if not (scored["verdict"].any() and scored["score"].any()):
        return
    counts = nested.units.select(*groups, KIND, N).explode(KIND, N)
    kind = counts[KIND]
    rows = counts.with_columns(
        __all=pl.lit(0),
        __verdict=pl.when(scored["verdict"][kind]).then(pl.col(N)).otherwise(0),
        __score=pl.when(scored["score"][kind]).then(pl.col(N)).otherwise(0),
    )
    mixed = rows.group_by("__all", *groups).agg(pl.col("__verdict", "__score").sum())
    mixed = mixed.filter(pl.col("__verdict") > 0, pl.col("__score") > 0).sort(groups or "__all")
    if not mixed.is_empty():
        first = mixed.row(0, named=True)
        n_verdicts = first["__verdict"]
        raise SweepError(
            f"{count_of(n_verdicts, 'row')} {'has' if n_verdicts == 1 else 'have'} a verdict and "
            f"{first['__score']:,} only a score; one coefficient cannot count both",
            where={name: first[name] for name in groups if first[name] is not None},
            hint="give every row a verdict, or every row only a score; or separate them with --by "
            "COLUMN",
        )


def varying_facets(group: pl.DataFrame, facets: Sequence[str]) -> tuple[str, ...]:
    """Name the facets that take more than one value, null being one.

    Examples
    --------
    >>> varying_facets(pl.DataFrame({"template": ["a", "b"], "stage": ["x", "x"]}),
    ...                ["template", "stage"])
    ('template',)
    """
    return tuple(name for name in facets if group[name].n_unique() > 1)


def _judge_counts_of_block(counts: pl.DataFrame, block: BlockChoice) -> pl.DataFrame:
    """Counts of judges (a file without roles has no others), of one block."""
    if "role" in counts.columns:
        counts = counts.filter(is_judge(counts.columns)).with_columns(
            pl.col("role").fill_null("judge")
        )
    if "block" in counts.columns and block != "all":
        counts = counts.filter(pl.col("block").fill_null(0) == block)
    return counts


def lines_left_out(units: pl.DataFrame, block: BlockChoice = 0) -> tuple[str, ...]:
    """Say which rows no coefficient counts: those of other blocks, and of others than judges.

    Examples
    --------
    >>> units = pl.DataFrame({"role": ["judge", "Judge"], "block": [1, 0], "n": [[2], [1]]})
    >>> for line in lines_left_out(units):
    ...     print(line)
    1 row whose role is 'Judge' left out: a judge's is judge, participant, evaluator_only or none
    2 rows outside block 0 left out; reduce --block all counts them
    """
    lines = []
    if "role" in units.columns:
        # Answers and probabilities that judges rest on are no judgments, and meant to be none.
        known = pl.col("role").is_in(get_args(Role))
        others = units.filter(~is_judge(units.columns), ~known)
        if others.height:
            roles = ", ".join(map(repr, others["role"].unique().sort().to_list()))
            judges = ", ".join(JUDGE_ROLES)
            lines.append(
                f"{_n_rows(others)} whose role is {roles} left out: a judge's is {judges} or none"
            )
    if "block" in units.columns and block != "all":
        others = units.filter(pl.col("block").fill_null(0) != block)
        if others.height:
            lines.append(
                f"{_n_rows(others)} outside block {block} left out; reduce --block all counts them"
            )
    return tuple(lines)


def _n_rows(units: pl.DataFrame) -> str:
    """How many rows were counted in units, in words."""
    return count_of(int(units[N].list.sum().sum()), "row")


def _default_groups(counts: pl.DataFrame, recorded: Sequence[str]) -> tuple[str, ...]:
    """The default columns that hold any value, and roles where there are several."""
    names = list(DEFAULT_GROUPS)
    if "role" in recorded and counts["role"].n_unique() > 1:
        # A model alone and a judge of others' answers are not one system (decision 010).
        names.insert(names.index("protocol") + 1, "role")
    candidates = [name for name in names if name in recorded]
    return tuple(name for name in candidates if counts[name].null_count() < counts.height)


def _checked_groups(by: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """The columns asked for, each of which must be there."""
    for name in by:
        if name not in columns:
            near = get_close_matches(name, columns, n=1)
            raise SweepError(
                f"no column {name!r} to group by, got columns {', '.join(columns)}",
                where={"by": ",".join(by)},
                hint=f"--by {near[0]}" if near else None,
            )
        if name in ("item_id", "replication", "verdict", "score", "outcome"):
            raise SweepError(
                f"cannot group by {name!r}: it is part of what agreement is measured on",
                where={"by": ",".join(by)},
            )
    return tuple(dict.fromkeys(by))


TEMPERATURE = "temperature"


def without_greedy_repeats(units: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """Leave temperature 0 out of groups that sampled, too, where it was asked more than once.

    Examples
    --------
    >>> units = pl.DataFrame({"item_id": ["q", "q"], "temperature": [0.0, 1.0], "n": [[8], [8]]})
    >>> without_greedy_repeats(units, [])["temperature"].to_list()
    [1.0]
    >>> without_greedy_repeats(units, ["temperature"]).height
    2
    """
    if TEMPERATURE not in units.columns or TEMPERATURE in groups:
        return units
    greedy = (pl.col(TEMPERATURE) == 0).fill_null(False)
    cold = units.filter(greedy)
    if cold.is_empty() or cold.height == units.height:
        return units
    unit = [name for name in ("item_id", *FACETS, *groups) if name in units.columns]
    asked = cold.group_by(list(dict.fromkeys(unit))).agg(pl.col(N).list.sum().sum())
    repeated = asked.filter(pl.col(N) > 1)
    if repeated.is_empty():
        return units
    if not groups:
        return units.filter(~greedy)
    sampled = units.filter(~greedy).select(groups).unique()
    pooled = repeated.select(groups).unique().join(sampled, on=groups, nulls_equal=True)
    kept = cold.join(pooled, on=groups, how="anti", nulls_equal=True)
    return pl.concat([units.filter(~greedy), kept])


def sampled(counted: CountedJudgments) -> CountedJudgments:
    """Counts for agreement: by :func:`without_greedy_repeats`.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.grouping import count_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 4, "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0, 0.0, 1.0, 1.0], "verdict": ["A", "A", "A", "B"]})
    >>> sampled(count_judgments(rows, by=[])).frame["temperature"].unique().to_list()
    [1.0]
    """
    units = without_greedy_repeats(counted.nested.units, counted.groups)
    if units.height == counted.nested.units.height:
        return counted
    return replace(counted, nested=replace(counted.nested, units=units))


def greedy_flags(
    key: Mapping[str, object], counted: CountedJudgments, everything: CountedJudgments
) -> Flag | None:
    """Flag what temperature 0 has to do with the replications of a group, if anything.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.grouping import count_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 4, "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0, 0.0, 1.0, 1.0], "verdict": ["A", "A", "A", "B"]})
    >>> apart, pooled = (count_judgments(rows, by=by) for by in (["temperature"], []))
    >>> greedy_flags({"temperature": 0.0}, apart, apart), greedy_flags({}, apart, apart)
    (<Flag.SERVING_NOISE: 'serving_noise'>, None)
    >>> greedy_flags({}, sampled(pooled), pooled)
    <Flag.GREEDY_LEFT_OUT: 'temperature_0_left_out'>
    """
    if counted is everything and (
        key.get(TEMPERATURE, 0) != 0 or TEMPERATURE not in counted.nested.units.columns
    ):
        return None
    units = units_of(counted, key)
    if units.height < units_of(everything, key).height:
        return Flag.GREEDY_LEFT_OUT
    if TEMPERATURE not in units.columns or not (units[TEMPERATURE] == 0).fill_null(False).all():
        return None
    return Flag.SERVING_NOISE if (units[N].list.sum() > 1).any() else None


def units_of(counted: CountedJudgments, key: Mapping[str, object]) -> pl.DataFrame:
    """Units of one group.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.grouping import count_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "judge": ["x", None], "verdict": ["A", "B"]})
    >>> units_of(count_judgments(rows, by=["judge"]), {"judge": None})["item_id"].to_list()
    ['r']
    """
    if (
        tuple(key) == counted.groups
        and (found := counted.by_group.get(tuple(key.values()))) is not None
    ):
        return found
    same = [pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items()]
    return counted.nested.units.filter(pl.lit(True), *same)
