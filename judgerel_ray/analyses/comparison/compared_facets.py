"""Two sides whose nuisance facets vary: what is compared of them is reproducibility.

Which groups of judgments are compared with which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.counting.columns import NUISANCE
from judgerel_ray.counting.groups.grouping import (
    DEFAULT_GROUPS,
    CountedJudgments,
    count_judgments,
    greedy_flags,
    parts_by,
    sampled,
    varying_facets,
)
from judgerel_ray.counting.groups.matrix import unit_counts
from judgerel_ray.counting.verdicts.places import ORDER, place
from judgerel_ray.counting.verdicts.policy import SCORED
from judgerel_ray.measuring.order_effects import labels_by_default
from judgerel_ray.measuring.reproducibility import level_distances
from judgerel_ray.stats import Level
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.generalizability.facet_agreement import (
    FacetLevels,
    PairCoefficient,
    reproducibility_terms,
)
from judgerel_ray.stats.generalizability.order_effects import position_terms, swap_terms

SIDE = "__side"
SIDES = ("a", "b")
"""Sides of a comparison, by the columns that name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSides:
    """Counted judgments of two sides; the column ``__side`` says of which a row is."""

    rows: pl.DataFrame  # Counted judgments of both, with the number of rows in `n`.
    unit: tuple[str, ...]  # Columns that make a unit, the side first.
    nuisance: tuple[str, ...]  # Of them, those that should not matter and vary in either side.
    n_orders: float | None = None  # How many orders of the options are possible, where it is known.

    @property
    def held(self) -> tuple[str, ...]:
        """Columns of what agreement is about: the item and facets that matter."""
        return tuple(name for name in self.unit if name not in (SIDE, *self.nuisance))

    @property
    def cluster(self) -> tuple[str, ...]:
        """Columns of a question, which is left out or exchanged as one."""
        return tuple(name for name in self.held if name in ("item_id", "benchmark"))

    def _numbers(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """A number for each unit by some of its columns, the same on both sides."""
        found = unit_counts(self.rows, pl.lit(0), unit=self.unit, cluster=columns)
        return found.clusters_U

    def of_coefficient(
        self, name: PairCoefficient, value: pl.Expr, level: Level, n_categories: int
    ) -> list[QuestionTerms]:
        """Reproducibility of both sides, by question."""
        found = unit_counts(self.rows, value, unit=self.unit, cluster=self.cluster)
        known = self.n_orders is not None and ORDER in self.nuisance
        facets = FacetLevels(
            items_U=self._numbers(self.held),
            levels_U=self._numbers(self.nuisance),
            orders_U=self._numbers([ORDER]) if known else None,
            n_orders=self.n_orders if known else None,
        )
        numbers = np.asarray(found.values, dtype=np.float64) if level != "nominal" else None
        distances = level_distances(found.counts_UV, numbers, level, facets)
        return [
            reproducibility_terms(
                name,
                found.counts_UV[half],
                facets.of_units(half),
                distances_VV=distances,
                n_categories=n_categories,
                clusters_U=found.clusters_U[half],
            )
            for half in units_by_side(self.rows, self.unit)
        ]

    def of_swaps(self, value: pl.Expr) -> list[QuestionTerms]:
        """Swap consistency of both sides, by question."""
        found = unit_counts(self.rows, value, unit=self.unit, cluster=self.cluster)
        kept = [name for name in self.unit if name not in (SIDE, ORDER)]
        questions, orders = self._numbers(kept), self._numbers([ORDER])
        return [
            swap_terms(
                found.counts_UV[half],
                questions[half],
                orders[half],
                clusters_U=found.clusters_U[half],
            )
            for half in units_by_side(self.rows, self.unit)
        ]

    def of_places(self, n_places: int) -> list[QuestionTerms]:
        """Position bias of both sides, by question."""
        unit = (SIDE, *self.cluster, ORDER)
        shown = pl.when(SCORED).then(place())
        found = unit_counts(self.rows, shown, unit=unit, cluster=self.cluster)
        spare = max(0, n_places - found.counts_UV.shape[1])
        labels = np.pad(found.counts_UV, ((0, 0), (0, spare)))
        return [
            position_terms(labels[half], questions_Q=found.clusters_U[half])
            for half in units_by_side(self.rows, unit)
        ]


def units_by_side(
    rows: pl.DataFrame, unit: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the units of the first side, and of the second: the side is what sorts them first."""
    sides = rows.select(unit).unique()[SIDE]
    n_first = int((sides == 0).sum())
    return np.arange(n_first), np.arange(n_first, sides.len())


def on_shared_levels(pair: Pair) -> tuple[Pair, tuple[str, ...]]:
    """Leave out what one side alone was asked of an order, template or definition.

    A habit of place counts as signal in one order, and the verdicts of several orders have another
    chance agreement than those of one: a side that was asked in more is compared on what both have.

    pair:

    notes: What was left out, a line each.

    Examples
    --------
    >>> a = pl.DataFrame({"item_id": ["q", "q"], "option_order": [0, 1], "n": [3, 3]})
    >>> found, notes = on_shared_levels(Pair(key={}, a=a, b=a.head(1), names=("a", "b")))
    >>> found.a.height, notes
    (1, ('a and b are compared in option_order 0 alone, the only one that both were asked in',))
    """
    notes = []
    for name in NUISANCE:
        if name not in pair.a.columns or name not in pair.b.columns:
            continue
        levels_a, levels_b = (set(one[name].drop_nulls()) for one in (pair.a, pair.b))
        shared = levels_a & levels_b
        if len(shared) == 1 and (len(levels_a) > 1) != (len(levels_b) > 1):
            (level,) = shared
            pair = replace(pair, a=pair.a.filter(pl.col(name) == level),
                           b=pair.b.filter(pl.col(name) == level))  # fmt: skip
            notes.append(
                f"{pair.names[0]} and {pair.names[1]} are compared in {name} {level} alone, the "
                "only one that both were asked in"
            )
    return pair, tuple(notes)


def compared_sides(
    both: pl.DataFrame, unit: Sequence[str], n_orders: float | None
) -> ComparedSides | None:
    """Find what should not matter and varies inside either of two sides alike.

    None where nothing varies on both: then the same prompt again is all that both have.

    Examples
    --------
    >>> rows = pl.DataFrame({"__side": [0, 0, 1, 1], "item_id": ["q"] * 4, "n": [1] * 4,
    ...                      "template": ["s", "t"] * 2})
    >>> compared_sides(rows, ["__side", "item_id", "template"], None).nuisance
    ('template',)
    """
    recorded = [name for name in NUISANCE if name in unit]
    varying = [varying_facets(both.filter(pl.col(SIDE) == side), recorded) for side in (0, 1)]
    # One that varies on one side alone is held there: its levels are units of their own.
    shared = tuple(name for name in varying[0] if name in varying[1])
    if not shared:
        return None
    return ComparedSides(rows=both, unit=tuple(unit), nuisance=shared, n_orders=n_orders)


Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two groups of counted judgments that are compared, and what tells them apart."""

    key: Row
    a: pl.DataFrame
    b: pl.DataFrame
    names: tuple[str, str]
    greedy: tuple[tuple[Noted, str | None], ...] = ()
    """What temperature 0 has to do with the replications of either, if anything."""


def pairs_inside(
    frame: pl.LazyFrame, by: Sequence[str] | None, right: Sequence[str] = ()
) -> Iterator[Pair]:
    """Find all pairs of values of some columns, the other default groups being equal.

    Columns of what is `right` are counted apart, where they are asked for.

    Examples
    --------
    >>> rows = {"item_id": ["q"] * 3, "judge": ["x", "y", "z"], "verdict": ["A"] * 3}
    >>> [pair.names for pair in pairs_inside(pl.LazyFrame(rows), ["judge"])]
    [('x', 'y'), ('x', 'z'), ('y', 'z')]
    """
    if not by:
        raise SweepError(
            "one set of judgments: expected the column whose values are compared", hint="--by judge"
        )
    columns = frame.collect_schema().names()
    wanted = (*DEFAULT_GROUPS, "role")
    default = [name for name in wanted if name in columns and name not in by]
    extra = [*labels_by_default(frame, columns), *right]
    everything = count_judgments(frame, by=[*default, *by], extra=extra)
    counted = sampled(everything)
    shared = tuple(
        name
        for name in default
        if counted.frame[name].null_count() < counted.frame.height
        and (name != "role" or counted.frame[name].n_unique() > 1)
    )
    _refuse_many_pairs(counted.frame, shared, by)
    found = False
    for key, part in _compared_frame_parts(counted.frame, shared):
        sides = [
            (_compared_side_name(side), rows, greedy_flags({**key, **side}, counted, everything))
            for side, rows in _compared_frame_parts(part, tuple(by))
        ]
        for (name_a, a, greedy_a), (name_b, b, greedy_b) in combinations(sides, 2):
            found = True
            greedy = _greedy_notes(greedy_a, greedy_b)
            yield Pair(key=key, a=a, b=b, names=(name_a, name_b), greedy=greedy)
    if not found:
        raise SweepError(
            f"nothing to compare: {', '.join(by)} has one value wherever "
            f"{', '.join(shared) or 'the rest'} is equal",
            where={"by": ",".join(by)},
        )


_MOST_PAIRS = 20_000  # compared one by one: minutes


def _refuse_many_pairs(frame: pl.DataFrame, shared: Sequence[str], by: Sequence[str]) -> None:
    """Refuse what would take hours, before any pair is compared."""
    sides = frame.select(*shared, *by).unique()
    numbers = sides.group_by(shared).len()["len"] if shared else pl.Series([sides.height])
    n_pairs = sum(n * (n - 1) // 2 for n in numbers.to_list())
    if n_pairs > _MOST_PAIRS:
        most = max(numbers.to_list())
        raise SweepError(
            f"{most:,} values of {', '.join(by)} make {n_pairs:,} pairs, at most {_MOST_PAIRS:,} "
            "are compared",
            where={"by": ",".join(by)},
            hint="keep the rows of those you would compare, or compare by another column",
        )


def compared_level_pairs(
    frame_a: pl.LazyFrame,
    frame_b: pl.LazyFrame,
    by: Sequence[str] | None,
    names: tuple[str, str],
    right: Sequence[str] = (),
) -> Iterator[Pair]:
    """Find groups of two frames that are equal in the columns compared on, as :func:`pairs_inside`.

    Examples
    --------
    >>> ours = pl.LazyFrame({"item_id": ["q"], "judge": ["x"], "verdict": ["A"]})
    >>> theirs = pl.LazyFrame({"item_id": ["q"], "judge": ["y"], "verdict": ["A"]})
    >>> [pair.key for pair in compared_level_pairs(ours, theirs, None, ("old", "new"))]
    [{}]
    """
    extra = [
        name
        for name in labels_by_default(frame_a, frame_a.collect_schema().names())
        if name in labels_by_default(frame_b, frame_b.collect_schema().names())
    ]
    all_a, all_b = (
        count_judgments(one, by=by, extra=[*extra, *right]) for one in (frame_a, frame_b)
    )
    if by is None:
        all_a, all_b = (
            _compared_by_role(all_a, all_b, frame_a),
            _compared_by_role(all_b, all_a, frame_b),
        )
    a, b = sampled(all_a), sampled(all_b)
    if by is None:
        _refuse_pooled(a, b, names)
    shared = tuple(by) if by is not None else _compared_shared_groups(a, b)
    others = {tuple(key.values()): rows for key, rows in _compared_frame_parts(b.frame, shared)}
    found = False
    for key, rows in _compared_frame_parts(a.frame, shared):
        if tuple(key.values()) in others:
            found = True
            greedy = _greedy_notes(greedy_flags(key, a, all_a), greedy_flags(key, b, all_b))
            yield Pair(key=key, a=rows, b=others[tuple(key.values())], names=names, greedy=greedy)
    if not found:
        raise SweepError(
            f"nothing to compare: no group of {', '.join(shared)} is in both",
            where=_compared_frames_in_error(names),
        )


def _compared_by_role(
    one_side: CountedJudgments, other: CountedJudgments, frame: pl.LazyFrame
) -> CountedJudgments:
    """Tell roles apart where the other side has several of them, though this one has one."""
    if "role" not in other.groups or "role" in one_side.groups or "role" not in one_side.columns:
        return one_side
    return count_judgments(frame, by=[*one_side.groups, "role"], extra=one_side.extra)


def _greedy_notes(a: Flag | None, b: Flag | None) -> tuple[tuple[Noted, str | None], ...]:
    """What temperature 0 has to do with two sides, each with its side where they differ."""
    if a == b:
        return (((a, ()), None),) if a else ()
    return tuple(((flag, ()), side) for flag, side in zip((a, b), SIDES, strict=True) if flag)


def _refuse_pooled(a: CountedJudgments, b: CountedJudgments, names: tuple[str, str]) -> None:
    """Refuse a side of several judges (criteria, ...) beside one that names none (SweepError)."""
    for one, other, name, lacking in ((a, b, *names), (b, a, *names[::-1])):
        for column in one.groups:
            values = set(one.frame[column].to_list())
            if column not in other.groups and len(values) > 1:
                raise SweepError(
                    f"{column} has several values in {name}, got {_listed(values)}, and none in "
                    f"{lacking}",
                    where=_compared_frames_in_error(names),
                    hint=f"compare files of one {column} each, or give both the column",
                )


def _compared_shared_groups(a: CountedJudgments, b: CountedJudgments) -> tuple[str, ...]:
    """Default groups of which both have a value; one that differs must have one value in each."""
    shared = []
    for name in a.groups:
        if name not in b.groups:
            continue
        values_a, values_b = (set(one.frame[name].unique().to_list()) for one in (a, b))
        if values_a & values_b:
            shared.append(name)
        elif len(values_a) > 1 or len(values_b) > 1:
            raise SweepError(
                f"{name} differs between the two and has several values, got "
                f"{_listed(values_a)} and {_listed(values_b)}",
                hint=f"compare files of one {name} each; or put both files into one folder: "
                f"judgerel compare FOLDER --by {name}",
            )
    return tuple(shared)


def _compared_frame_parts(
    frame: pl.DataFrame, columns: tuple[str, ...]
) -> Iterator[tuple[Row, pl.DataFrame]]:
    """The parts of a frame by some columns, in order."""
    for key, part in parts_by(frame, columns).items():
        yield dict(zip(columns, key, strict=True)), part


def _compared_side_name(side: Row) -> str:
    """A side by its values."""
    return ", ".join(_compared_value_in_words(value) for value in side.values())


def _compared_value_in_words(value: object) -> str:
    """A value as people write it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: set[object]) -> str:
    """A few values by name."""
    return ", ".join(sorted(_compared_value_in_words(value) for value in values)[:5])


def _compared_frames_in_error(names: tuple[str, str]) -> dict[str, object]:
    """Where an error about two frames lies."""
    return {"a": names[0], "b": names[1]}
