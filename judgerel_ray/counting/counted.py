"""One group of judgments as its coefficients need it, and all groups of them, made in one step.

Shape suffixes: U = units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.core.errors import warn_of
from judgerel_ray.counting.columns import FACETS, N_ANSWERS, NUISANCE, is_judge, outcome_column
from judgerel_ray.counting.groups.grouping import (
    TEMPERATURE,
    BlockChoice,
    CountedJudgments,
    count_judgments,
    greedy_flags,
    sampled,
    units_of,
    varying_facets,
)
from judgerel_ray.counting.groups.matrix import Moments, UnitTable, moments_of, unit_table
from judgerel_ray.counting.groups.tally import Tally, tally_judgments
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.nesting import UnitRows
from judgerel_ray.counting.tie_labels import placed_tally
from judgerel_ray.counting.verdicts.places import (
    Places,
    by_place,
    is_tie,
    labels_need_rows,
    most_declared_options,
    options_shown,
    places_counted,
    possible_orders,
)
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    LABEL,
    SCALE,
    SCORED,
    Missing,
    level_of_scale,
    outcomes_without_verdict,
    scale_names,
    scored_kinds,
    value_of,
    values_on,
)
from judgerel_ray.stats import Level
from judgerel_ray.stats.generalizability.facet_agreement import LaidOut, lay_out_levels

REPLICATION, LETTER = "__replication", "__label"
"""Columns of :func:`read_codes` besides the keys and the outcome."""
_MANY = 100  # groups of which some are looked for that are alike
_MOST_UNITS = 32  # of a group that may be alike another; larger ones hardly ever are
_MOST_KNOWN = 10_000  # groups held for others that are alike
_READ = ("benchmark", "protocol", "scale", "role", TEMPERATURE)
# Columns of groups that coefficients read; others, such as the judge, are names and no more.
_NO_FACETS = ("item_id", "replication", "verdict", "score", "outcome", "label")
_NO_ROWS = UnitRows(units=pl.DataFrame(), kinds=pl.DataFrame())


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """One group: its counted rows and what all its coefficients share."""

    table: UnitTable  # Counts of its units.
    unit: tuple[str, ...]  # Columns that make a unit.
    level: Level  # Level of measurement of its own scale.
    n_categories: int  # Declared options, or distinct values; outcomes without a verdict left out.
    # Outcomes without a verdict (unparsed, refused, ...) that occur anywhere in the file.
    n_outcomes: int
    scores: tuple[float, ...] = ()  # Distinct scores of the file, ascending.
    intervals: IntervalChoice = AUTO
    # Columns of the unit that vary and should not matter to a verdict.
    nuisance: tuple[str, ...] = ()
    # Places an option may stand in: declared options, or as many as were ever named by place.
    n_places: int | None = None
    rows: UnitRows = _NO_ROWS  # Its counts as they are nested, each score by itself.
    # Its scores, where they are too many to count each; the table then counts no single score.
    moments: Moments | None = None
    greedy: Flag | None = None  # What temperature 0 has to do with its replications.
    others: Noted | None = None  # How many of its questions have repeats that judge other answers.
    labels: pl.DataFrame | None = None  # Its rows one by one, where they were read.
    # Its counts by unit and distinct item, where a column of those was named.
    of_items: pl.DataFrame | None = None
    _laid: dict[Missing, LaidOut] = field(default_factory=dict, repr=False)

    def laid_out(self, policy: Missing) -> LaidOut:
        """Lay verdicts as names out once, where nuisance facets vary."""
        if policy not in self._laid and self.table.levels is not None:
            counts = self.table.counts(value_of(policy)).counts_UV
            apart = 1 - np.eye(counts.shape[1])
            self._laid[policy] = lay_out_levels(counts, self.table.levels, distances_VV=apart)
        return self._laid[policy]

    @cached_property
    def n_without(self) -> int:
        """Replies without a verdict."""
        return self.table.n_rows(~SCORED & ~FAILED)

    def n_categories_of(self, policy: Missing) -> int:
        """Categories there are under a policy."""
        return self.n_categories + (self.n_outcomes if policy == "category" else 0)

    @property
    def n_missing(self) -> int:
        """Rows without a verdict, requests that failed included."""
        return self.table.n_rows(~SCORED)

    @cached_property
    def n_judgments(self) -> int:
        """Rows."""
        return int(self.table.counts_UK.sum())

    @cached_property
    def most_of_item(self) -> int:
        """Most judgments of one item, over all levels of nuisance facets."""
        levels, rows_U = self.table.levels, self.table.counts_UK.sum(axis=1)
        if levels is not None:
            rows_U = np.bincount(levels.items_U, rows_U)
        return int(rows_U.max(initial=0))

    @cached_property
    def most_orders(self) -> int:
        """Most orders of the options that one item was asked in, where they are distinguished."""
        levels = self.table.levels
        if levels is None or levels.orders_U is None:
            return 1
        several = int(levels.orders_U.max(initial=0)) + 1
        asked = np.unique(levels.items_U * several + levels.orders_U)
        return int(np.bincount(asked // several).max(initial=0))

    @cached_property
    def sample(self) -> Mapping[str, object]:
        """The sample that all rows of the group rest on, by column."""
        return {
            "unit": " x ".join(self.unit),
            "conditions": None,
            "n_items": self.table.n_items,
            "n_replications": int(self.table.counts_UK.sum(axis=1).max(initial=0)),
            "n_judgments": self.n_judgments,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is declared about judgments."""

    # Verdicts to choose from, by benchmark.
    n_categories: Mapping[str, int] = field(default_factory=dict)
    # Options that are shown in orders, of which a tie is none; by default `n_categories`.
    n_options: Mapping[str, int] | None = None
    # Scales of ratings by name, besides the shipped ones.
    scales: Mapping[str, Scale] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedGroups:
    """Judgments by group: all that coefficients need of them."""

    rows: pl.LazyFrame  # The judgments, for what counts do not tell.
    # Counts of them all; and those of agreement, without what `sampled` leaves out.
    everything: CountedJudgments
    counted: CountedJudgments
    declared: Declared
    nuisance: tuple[str, ...] = ()  # Facets that should not matter to a verdict.
    # What labels say of the options, where questions were asked in several orders.
    places: Places | None = None
    items: str | None = None  # Column whose values are distinct items.
    labels: pl.DataFrame | None = None  # Every row of `counted`, from `read_codes`.
    # From `other_answers`.
    others: Mapping[tuple[object, ...], Noted] = field(default_factory=dict)
    intervals: IntervalChoice = AUTO

    @property
    def keys(self) -> dict[str, pl.DataType]:
        """Columns that make a group, with their types."""
        schema = self.counted.nested.units.schema
        return {name: schema[name] for name in self.counted.groups}

    def groups(self) -> Iterator[tuple[dict[str, object], Group]]:
        """Lay out one group after the other, each with its key, in the order of the keys.

        Of many small groups those in which all counts are equal are one object, laid out once.
        """
        counted, scales = self.counted, self.declared.scales
        nested, names = counted.nested, counted.groups
        placed = self.places.placed if self.places else ()
        n_options = self.declared.n_options
        n_options = self.declared.n_categories if n_options is None else n_options
        menus = {}
        for name, rows in counted.by_protocol().items():
            menus[name] = rows, rows.seen, places_of(rows, placed)
        more_is_read = self.items is not None or self.labels is not None
        alike = {} if more_is_read else alike_groups(counted)
        known: dict[object, Group] = {}
        for values, part in counted.by_group.items():
            key = dict(zip(names, values, strict=True))
            greedy = greedy_flags(key, counted, self.everything)
            same = (alike[values], greedy, self.others.get(values)) if values in alike else None
            if same in known:
                yield key, known[same]
                continue
            facets = varying_facets(part, counted.facets)
            everything, seen, places = menus[part["protocol"][0] if "protocol" in names else None]
            options = most_declared_options(part, n_options)
            n_categories, scores = _counted_group_menu(
                part, everything, seen, self.declared, options
            )
            unit = ("item_id", *facets)
            cluster = ("item_id", *(name for name in facets if name == "benchmark"))
            named_kinds = scored_kinds(nested.kinds, scale_names(part), scales)
            rows = replace(nested, units=part, kinds=named_kinds)
            moments = moments_of(rows, unit=unit)
            apart = tuple(name for name in unit if name in self.nuisance)
            shown = options_shown(self.places) if options is None else options
            table = unit_table(
                moments.rows if moments else rows,
                unit=unit, cluster=cluster, distinct=counted.distinct, nuisance=apart,
                n_orders=possible_orders(shown),
            )  # fmt: skip
            labels = self.labels
            if labels is not None:
                same_key = [pl.col(name).eq_missing(value) for name, value in key.items()]
                labels = labels.filter(pl.lit(True), *same_key)
            kinds = table.kinds  # each with every scale there
            if "scale" in part:
                kinds = kinds.join(part.select("scale").unique(), how="cross")
            scale_level = level_of_scale(kinds, scales)
            group = Group(
                table=table,
                unit=unit,
                level="interval" if moments else scale_level,
                n_categories=n_categories,
                n_outcomes=outcomes_without_verdict(seen),
                scores=scores,
                intervals=self.intervals,
                nuisance=apart,
                n_places=places if options is None else options,
                rows=rows,
                moments=moments,
                greedy=greedy,
                others=self.others.get(values),
                of_items=self._by_item(key, unit),
                labels=labels,
            )
            if same is not None:
                if len(known) >= _MOST_KNOWN:
                    known.clear()
                known[same] = group
            yield key, group

    def _by_item(self, key: Mapping[str, object], unit: Sequence[str]) -> pl.DataFrame | None:
        """Counts by distinct item; temperatures may be such, and 0 is then one of them."""
        if self.items is None:
            return None
        units = units_of(self.everything if self.items == TEMPERATURE else self.counted, key)
        rows = UnitRows(units=units, kinds=self.everything.nested.kinds)
        return rows.long([*dict.fromkeys((*unit, self.items))])


def alike_groups(counted: CountedJudgments) -> dict[tuple[object, ...], str]:
    """Give of small groups all that coefficients read, as text: where it is equal, so are they.

    Items are their places among the group's own, since no number depends on their names. None
    where groups are few.

    Examples
    --------
    >>> rows = {"judge": [str(i // 2) for i in range(200)], "item_id": ["q", "r"] * 100,
    ...         "replication": [0] * 200, "verdict": ["A"] * 199 + ["B"]}
    >>> found = alike_groups(count_judgments(pl.LazyFrame(rows)))
    >>> len(found), len(set(found.values()))
    (100, 2)
    """
    if len(counted.by_group) < _MANY:
        return {}
    names, units = list(counted.groups), counted.nested.units
    by = list(dict.fromkeys((*names, "item_id", *counted.facets, *counted.extra)))
    small = units.filter(pl.len().over(names) <= _MOST_UNITS).sort(by)
    read = [name for name in units.columns if name not in names or name in _READ]
    text = pl.struct(read).struct.json_encode()
    small = small.with_columns(pl.col("item_id").rank("dense").over(names))
    found = small.group_by(names, maintain_order=True).agg(text.alias("__text").str.join("\n"))
    return {tuple(values): text for *values, text in found.iter_rows()}


def counted_groups(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    block: BlockChoice = 0,
    extra: Sequence[str] = (),
    items: str | None = None,
    nuisance: Sequence[str] | None = None,
    one_by_one: bool = False,
    declared: Declared | None = None,
    intervals: IntervalChoice = AUTO,
) -> CountedGroups:
    """Make all that coefficients need of judgments: their groups, counted.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q"], "judge": ["a", "b"], "verdict": ["A", "B"]}
    >>> [(key, one.table.n_items) for key, one in counted_groups(pl.LazyFrame(rows)).groups()]
    [({'judge': 'a'}, 1), ({'judge': 'b'}, 1)]
    """
    declared = declared or Declared()
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    checked_nuisance(nuisance, by or (), columns)
    more_nuisance = [name for name in dict.fromkeys(nuisance or ()) if name not in FACETS]
    extra = [*extra, *more_nuisance]
    apart = [*(by or ()), *extra]
    if isinstance(source, pl.LazyFrame):
        source = tally_judgments(source, extra=apart)
        # Where options are declared, labels were read before.
        if declared.n_options is None and labels_need_rows(source.nested):
            source, notes = placed_tally(source, extra=apart)
            warn_of(notes)
    places = places_counted(source.nested, source.rows)
    if places and places.item_menus:
        source = tally_judgments(by_place(source.rows, places), extra=apart)
    everything = count_judgments(source, by=by, block=block, extra=extra)
    everything = replace(everything, facets=(*everything.facets, *more_nuisance))
    should_not_matter = checked_nuisance(nuisance, everything.groups, columns)
    counted = sampled(everything)
    if items in counted.groups:
        raise SweepError(f"{items} cannot be both items and a group", where={"items": items})
    labels = None
    if one_by_one:
        unit = [*counted.groups, "item_id", *counted.facets]
        labels = read_codes(source.rows, columns, keys=unit, block=block)
        if counted is not everything:
            labels = labels.join(counted.nested.units, on=unit, how="semi", nulls_equal=True)
    return CountedGroups(
        rows=source.rows,
        everything=everything,
        counted=counted,
        declared=declared,
        nuisance=should_not_matter,
        places=places,
        items=items,
        labels=labels,
        others=other_answers(source.rows, columns, counted.groups),
        intervals=intervals,
    )


def checked_nuisance(
    nuisance: Sequence[str] | None, groups: Sequence[str], columns: Sequence[str]
) -> tuple[str, ...]:
    """Name the facets that should not matter to a verdict; a chosen one must be recorded.

    Examples
    --------
    >>> checked_nuisance(None, ["template"], ["template", "option_order"])
    ('option_order', 'definition')
    >>> checked_nuisance(["criterion"], [], ["criterion", "option_order"])
    ('option_order', 'template', 'definition', 'criterion')
    """
    chosen = nuisance or ()
    for name in chosen:
        if name not in columns or name in _NO_FACETS:
            raise SweepError(
                f"no facet {name!r} to treat as a nuisance, got columns {', '.join(columns)}",
                where={"nuisance": ",".join(chosen)},
            )
        if name in groups:
            raise SweepError(
                f"{name} cannot be both a nuisance facet and a column that makes groups",
                where={"nuisance": ",".join(chosen)},
            )
    return tuple(name for name in dict.fromkeys((*NUISANCE, *chosen)) if name not in groups)


def _counted_group_menu(
    part: pl.DataFrame,
    everything: UnitRows,
    seen: pl.DataFrame,
    declared: Declared,
    n_options: int | None,
) -> tuple[int, tuple[float, ...]]:
    """How many verdicts a group had to choose from, and the scores of them that are known."""
    names = scale_names(part)
    if names:
        # What others rated on this scale could have been said here, too; what is on others, not.
        units = everything.units.filter(pl.col(SCALE).cast(pl.String).is_in(names))
        seen = UnitRows(units=units, kinds=everything.kinds).seen
    scored = seen.filter(SCORED)
    distinct: int = scored.select(LABEL.n_unique()).item()
    scores = scored["score"].drop_nulls().unique().to_list()
    if names:
        n_on_scales, on_scales = values_on(names, declared.scales) or (0, ())
        return max(n_on_scales, distinct), tuple(sorted({*scores, *on_scales}))
    options = most_declared_options(part, declared.n_categories)
    if options is None and n_options is not None:
        tied = scored.select(is_tie().any()).item()
        options = max(distinct, n_options + bool(tied))
    return distinct if options is None else options, tuple(sorted(scores))


def places_of(rows: UnitRows, placed: Sequence[str]) -> int | None:
    """Count places that options stood in, where labels were counted; a tie stands in none.

    Examples
    --------
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q"] * 3, "n": [2, 1, 1], "verdict": ["x", "y", "tie"],
    ...                      "outcome": ["scored"] * 3, "score": [None] * 3})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> units = nested.units.with_columns(__places=pl.lit([3]))
    >>> places_of(replace(nested, units=units, places=("A",)), ["x", "y"])
    2
    """
    if rows.places is None:
        return None
    n_labels = rows.by_place().seen.height
    named = SCORED & pl.col("verdict").is_in(placed)
    if rows.seen.filter(named)["verdict"].n_unique() <= n_labels:
        return n_labels
    # Of one question, since others may have options of their own.
    options = rows.long(["item_id"]).filter(named).group_by("item_id")
    most = options.agg(pl.col("verdict").n_unique())["verdict"].max()
    return max(int(str(most or 0)), n_labels)


def read_codes(
    rows: pl.LazyFrame, columns: Sequence[str], *, keys: Sequence[str], block: BlockChoice
) -> pl.DataFrame:
    """Read what the published estimator needs of every row: counts do not tell it.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"], "replication": [0], "verdict": ["B"]})
    >>> read_codes(rows, ["item_id", "replication", "verdict"], keys=["item_id"], block=0).rows()
    [('q', {'block': None, 'replication': 0}, 'B', 'scored')]
    """
    rows = rows.filter(is_judge(columns))
    in_block = pl.lit(None, pl.Int64)
    if "block" in columns:
        in_block = pl.col("block").cast(pl.Int64)
        if block != "all":
            rows = rows.filter(pl.col("block").fill_null(0) == block)
    shown = [pl.col(name).cast(pl.String) for name in ("label", "verdict") if name in columns]
    return rows.select(
        *keys,
        pl.struct(in_block.alias("block"), "replication").alias(REPLICATION),
        pl.coalesce(*shown, pl.lit(None, pl.String)).alias(LETTER),
        outcome_column(columns).alias("outcome"),
    ).collect(engine="streaming")


def other_answers(
    rows: pl.LazyFrame, columns: Sequence[str], groups: Sequence[str]
) -> dict[tuple[object, ...], Noted]:
    """Find groups whose repeats judge other answers of the same question, as ``n_answers`` says.

    What differs between such repeats may be the answers, and not the judge.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r"], "n_answers": [2, 2, 1]})
    >>> other_answers(rows, ["item_id", "n_answers"], [])
    {(): (<Flag.OTHER_ANSWERS: 'repeats_of_other_answers'>, (1, 2))}
    """
    if N_ANSWERS not in columns:
        return {}
    item, several = pl.col("item_id"), pl.col(N_ANSWERS).cast(pl.Float64, strict=False) > 1
    counts = [item.filter(several).n_unique().alias("n"), item.n_unique().alias("of")]
    rows = rows.filter(is_judge(columns))
    counted = rows.group_by(groups).agg(counts) if groups else rows.select(counts)
    found = counted.collect(engine="streaming").rows()
    return {tuple(key): (Flag.OTHER_ANSWERS, (n, of)) for *key, n, of in found if n}
