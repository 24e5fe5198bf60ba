"""Two judges, temperatures or runs on the same questions, and what tells them apart.

P-values are corrected for all comparisons made at once; each row says which side is higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from judgerel_ray.analyses.comparison.compared_facets import (
    SIDE,
    SIDES,
    ComparedSides,
    Pair,
    Row,
    compared_level_pairs,
    compared_sides,
    on_shared_levels,
    pairs_inside,
    units_by_side,
)
from judgerel_ray.analyses.comparison.tables import Comparisons
from judgerel_ray.blocks.words import estimator_words
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.tables import as_columns
from judgerel_ray.counting.files.labelled import READ
from judgerel_ray.counting.groups.grouping import varying_facets
from judgerel_ray.counting.groups.matrix import UnitCounts, unit_counts
from judgerel_ray.counting.tie_labels import placed
from judgerel_ray.counting.verdicts.places import (
    ORDER,
    SHOWN,
    by_place,
    is_tie,
    most_declared_options,
    options_shown,
    orders_recorded,
    possible_orders,
)
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    LABEL,
    MISSING,
    REPEATABILITY,
    REPRODUCIBILITY,
    SCORED,
    Missing,
    flag_columns,
    level_of_scale,
    number_of_row,
    outcomes_without_verdict,
    scale_names,
    value_of,
    values_on,
)
from judgerel_ray.counting.verdicts.spelling import nothing_shared, some_names
from judgerel_ray.measuring.correctness import kappa_of_sides
from judgerel_ray.measuring.estimates import OF_NUMBERS
from judgerel_ray.measuring.lead_codes import LeadCode, replies_in
from judgerel_ray.measuring.order_effects import read_places
from judgerel_ray.measuring.reliability import check_gold, possible_values
from judgerel_ray.stats import COEFFICIENTS, CountStatistic, Level, count_statistic
from judgerel_ray.stats.generalizability.facet_agreement import PAIR_COEFFICIENTS, repeats_known
from judgerel_ray.stats.intervals.judge_differences import benjamini_hochberg, holm
from judgerel_ray.stats.intervals.paired import Difference, paired_difference, terms_difference

COMPARED = ("krippendorff_alpha", "percent_agreement")
OF_LABELS = "cohen_kappa"
OF_ORDERS = ("swap_consistency", "position_bias")
"""Coefficients compared where none are named; the second two of sides asked in several orders."""


def compare_judgments(
    frame_a: pl.LazyFrame,
    frame_b: pl.LazyFrame | None = None,
    *,
    by: Sequence[str] | None = None,
    coefficients: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    measurement: Level | None = None,
    tolerance: float | None = None,
    names: tuple[str, str] = ("a", "b"),
    n_categories: Mapping[str, int] | None = None,
    n_options: Mapping[str, int] | None = None,
    scales: Mapping[str, Scale] | None = None,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Compare how far judges agree with themselves, question by question.

    Where a facet that should not matter (the order of the options, the template, the definition)
    varies on both sides, their reproducibility is compared, and not how well each repeats itself
    for the same prompt: a judge that goes by position is never higher for it.

    The interval and ``p`` are of a swap test (:func:`judgerel_ray.stats.terms_difference`), so the
    interval excludes 0 exactly where p is below 0.05. Adjusted p-values are for all tests of the
    table: pairs, coefficients and policies. ``standing`` and ``reason``: see
    :func:`judgerel_ray.analyses.comparison.comparison.with_standings`.

    Examples
    --------
    >>> rows = {"item_id": ["q", "r", "s"] * 4, "judge": ["x"] * 6 + ["y"] * 6,
    ...         "replication": [0, 0, 0, 1, 1, 1] * 2, "verdict": list("ABAABAABBAAB")}
    >>> found = compare_judgments(pl.LazyFrame(rows), by=["judge"],
    ...                           coefficients=["percent_agreement"])
    >>> found.select("a", "b", "value_a", "value_b").row(0)
    ('x', 'y', 1.0, 0.6666666666666666)
    """
    if tolerance is not None and not 0 < tolerance < float("inf"):
        raise SweepError(f"tolerance must be above 0, got {tolerance:g}")
    categories = n_categories or {}
    menus = _Menus(categories, categories if n_options is None else n_options, scales or {})
    sides = [frame_a] if frame_b is None else [frame_a, frame_b]
    frames, shown = _compared_by_places(sides, known=n_options is not None)
    _refuse_names(coefficients or ())
    if unknown := [name for name in missing if name not in MISSING]:
        expected = f"expected one of {', '.join(MISSING)}"
        raise SweepError(f"unknown missing policy {unknown[0]!r}, {expected}")
    policies = [known for name in missing for known in MISSING if known == name]
    right = _label_columns_compared(coefficients, frames)
    if frame_b is None:
        pairs = tuple(pairs_inside(frames[0], by, right))
    else:
        pairs = tuple(compared_level_pairs(frames[0], frames[1], by, names, right))
    matched = [on_shared_levels(pair) for pair in pairs]
    warn_of(dict.fromkeys(note for _, notes in matched for note in notes))
    pairs = tuple(pair for pair, _ in matched)
    if coefficients is None or set(coefficients) - {"valid_rate"}:
        pairs = _measured_alike(pairs)
    if not any(pair.a["item_id"].is_in(pair.b["item_id"].implode()).any() for pair in pairs):
        first = pairs[0]
        where = dict(zip(SIDES, first.names, strict=True))
        raise nothing_shared(first.a["item_id"], first.b["item_id"], where)
    if not {*(COMPARED if coefficients is None else coefficients)} <= _WITHIN:
        warn_of(_on_two_scales(pairs))
    rows = [
        {**pair.key, **row}
        for pair in pairs
        for row in _differences_of_pair(
            pair, coefficients, policies, measurement, tolerance, menus, shown, confidence
        )
    ]
    keys = {name: pairs[0].a.schema[name] for name in pairs[0].key}
    table = Comparisons.frame(rows, keys)
    return with_standings(table, tolerance)


def _label_columns_compared(
    coefficients: Sequence[str] | None, frames: Sequence[pl.LazyFrame]
) -> list[str]:
    """Columns of what is right, where a coefficient needs them; each side must have them."""
    if OF_LABELS not in (coefficients or ()):
        return []
    each = [one.collect_schema().names() for one in frames]
    for columns in each:
        check_gold([OF_LABELS], columns)
    return [name for name in READ if all(name in columns for columns in each)]


def _measured_alike(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Leave pairs out of which one side has verdicts alone and the other scores alone.

    Each agrees with itself on another scale: nothing is the difference of the two.
    """
    apart = {id(pair): one for pair in pairs if (one := _verdicts_and_scores(pair))}
    if apart and len(apart) == len(pairs):
        of_verdicts, of_scores = next(iter(apart.values()))
        raise SweepError(
            "expected verdicts on both sides, or scores on both, got verdicts and no score in "
            f"{of_verdicts}, scores and no verdict in {of_scores}",
            where=dict(zip(SIDES, pairs[0].names, strict=True)),
            hint="where both rate in numbers, call both columns score (judgerel import table FILE "
            "--column score=verdict --out RATINGS.parquet)",
        )
    warn_of(
        f"{of_verdicts} and {of_scores} are not compared: verdicts alone here, scores alone there"
        for of_verdicts, of_scores in apart.values()
    )
    return tuple(pair for pair in pairs if id(pair) not in apart)


def _verdicts_and_scores(pair: Pair) -> tuple[str, str] | None:
    """The side that has verdicts and no score, and the one that has scores and no verdict."""
    held = []
    for side in (pair.a, pair.b):
        scored = side.filter(SCORED)
        held.append([name for name in ("verdict", "score") if name in scored.columns
                     and scored[name].count()])  # fmt: skip
    sides = dict(zip(map(tuple, held), pair.names, strict=True))
    if sides.keys() != {("verdict",), ("score",)}:
        return None
    return sides[("verdict",)], sides[("score",)]


_WITHIN = {"percent_agreement", "flip_rate", "valid_rate", "total_agreement", *OF_ORDERS}
"""Coefficients computed within each question: chance takes no pair across questions."""
_FAR = 8  # times the other side's highest score: no lenient judge of one scale is so far
_MOST_PAIRS = 3  # told


def _on_two_scales(pairs: Sequence[Pair]) -> Iterator[str]:
    """Say in a line of which pairs one side's values are none of the other's scale.

    Exchanged, the sides of one question then stand among values of the other scale.
    """
    apart = [words for pair in pairs if (words := _values_apart(pair)) is not None]
    if not apart:
        return
    more = f"; and {len(apart) - _MOST_PAIRS} more pairs" if len(apart) > _MOST_PAIRS else ""
    yield (
        f"compared on two scales? {'; '.join(apart[:_MOST_PAIRS])}{more}; the test exchanges the "
        "sides of questions, so p and interval of alpha, ICC and kappas hold only if both answer "
        "in the same values: write them alike, or compare percent_agreement alone"
    )


def _values_apart(pair: Pair) -> str | None:
    """What either side answers in, where that is no one scale."""
    if len(names := {scale_names(side) for side in (pair.a, pair.b)}) == 1 and any(names):
        return None  # both say that they are on it
    for name, describe in (("score", _compared_score_ranges), ("verdict", _compared_verdict_words)):
        values = [
            side.filter(SCORED)[name].drop_nulls().unique().sort()
            for side in (pair.a, pair.b)
            if name in side.columns
        ]
        if len(values) == _PAIR and all(map(len, values)):
            each = describe(*values) if sum(map(len, values)) > _PAIR else None
            if each is None:
                return None
            return " and ".join(map(" has ".join, zip(pair.names, each, strict=True)))
    return None


def _compared_score_ranges(a: pl.Series, b: pl.Series) -> tuple[str, str] | None:
    """Where two sorted lists of scores lie, where these are probably two scales."""
    (low_a, high_a), (low_b, high_b) = ((float(one[0]), float(one[-1])) for one in (a, b))
    far = max(high_a, high_b) >= _FAR * min(high_a, high_b) > 0
    if not far or min(a.len(), b.len()) <= _PAIR:  # two scores are no scale to tell from another
        return None
    return f"scores from {low_a:g} to {high_a:g}", f"scores from {low_b:g} to {high_b:g}"


def _compared_verdict_words(a: pl.Series, b: pl.Series) -> tuple[str, str] | None:
    """Some of two lists of verdicts that have none in common."""
    if a.is_in(b.implode()).any():
        return None
    return f"verdicts {some_names(a)}", f"verdicts {some_names(b)}"


@dataclass(frozen=True, slots=True)
class _Menus:
    """Verdicts declared of each benchmark, options alone, of which a tie is none, and scales."""

    categories: Mapping[str, int]
    options: Mapping[str, int]
    scales: Mapping[str, Scale]


def _refuse_names(names: Sequence[str]) -> None:
    """Refuse coefficients that are not compared, before anything is counted."""
    for name in names:
        k = name.removeprefix("majority_stability_")
        numbered = k != name and k.isdecimal() and int(k)
        if numbered or name in (*COEFFICIENTS, *OF_ORDERS, OF_LABELS):
            continue
        known = [one for one in COEFFICIENTS if not one.startswith("majority_stability_")]
        raise SweepError(
            f"cannot compare {name!r}: compared are {', '.join((*known, *OF_ORDERS, OF_LABELS))}, "
            "majority_stability_k of any k",
            where={"coefficient": name},
            hint="judgerel systems compares accuracy" if name == "accuracy" else None,
        )


def _compared_by_places(
    frames: Sequence[pl.LazyFrame], *, known: bool
) -> tuple[Sequence[pl.LazyFrame], int | None]:
    """Verdicts by the place chosen where items have their own options, and how many those are."""
    if not known:  # else labels were read where options were declared
        read = [placed(one) for one in frames]
        warn_of(dict.fromkeys(note for one in read for note in one.notes))
        frames = [one.rows for one in read]
    found = [read_places(one, one.collect_schema().names()) for one in frames]
    several = [one for one in found if one is not None]
    pairs = [one for one in several if len(one.labels) == len(one.orders) == _PAIR]
    if len(pairs) == len(frames) and any(one.item_menus for one in pairs):
        frames = [by_place(one, of) for one, of in zip(frames, pairs, strict=True)]
    shown = max((options_shown(one) or 0 for one in several), default=0)
    return frames, shown or None


def _differences_of_pair(
    pair: Pair, named: Sequence[str] | None, policies: Sequence[Missing],
    measurement: Level | None, tolerance: float | None, declared: _Menus, shown: int | None,
    confidence: float,
) -> Iterator[Row]:  # fmt: skip
    """The rows of one pair."""
    both = pl.concat(
        [pair.a.with_columns(__side=pl.lit(0)), pair.b.with_columns(__side=pl.lit(1))],
        how="diagonal_relaxed",
    )
    level = measurement or level_of_scale(both, declared.scales)
    facets = [one for one in both.columns if one not in _NOT_FACETS]
    options = most_declared_options(both, declared.options)
    # What is one thing on either side (the judges compared) tells no unit apart.
    varying = {
        name
        for side in (0, 1)
        for name in varying_facets(both.filter(pl.col(SIDE) == side), facets)
    }
    unit = (SIDE, "item_id", *(name for name in facets if name in varying))
    sides = compared_sides(both, unit, possible_orders(shown if options is None else options))
    ordered = sides is not None and ORDER in sides.nuisance
    orders: list[tuple[Noted, str | None]] = []
    if sides is not None and ordered:
        most = _most_orders_compared(both, unit)
        orders = [(one, None) for one in orders_recorded(most, sides.n_orders)]
    names = [*(COMPARED if named is None else named)]
    if named is None and ordered:
        names += [OF_ORDERS[0], *(OF_ORDERS[1:] if SHOWN in both.columns else ())]
    any_without = not both.filter(~SCORED & ~FAILED).is_empty()
    counted_as = policies if any_without else ("category",)
    asked_in = (asked_a, asked_b), asked_both = _question_counts_compared(both, unit)
    replies = [replies_in(side) for side in (pair.a, pair.b)]
    few = LeadCode.FEW_VERDICTS.value if any(one.are_few for one in replies) else None
    lacking = [(one.flag, side) for one, side in zip(replies, SIDES, strict=True) if one.flag]
    for name, policy, at in _coefficients_to_compare(names, counted_as, level, untrue=any_without):
        reproduced = sides is not None and name in PAIR_COEFFICIENTS
        asked = _Comparison(both, unit, name, policy, at, tolerance, declared, confidence)
        if reproduced or name in OF_ORDERS:
            found, (n_sides, n_items) = _difference_over_facets(asked, sides), asked_in
        elif name == OF_LABELS:
            found, n_sides, n_items = _difference_of_label_kappa(asked)
        else:
            found, n_sides, n_items = _coefficient_difference(asked)
        if at != "nominal" and any_without and policy == "category":
            found = Difference(name=name, undefined="category_needs_nominal", n_questions=0)
        kind = REPEATABILITY if name in COEFFICIENTS and name != "valid_rate" else None
        weak = [*(lacking if name != "valid_rate" else ()), *(orders if reproduced else ())]
        yield {
            **_difference_row(pair, asked, _possible_difference_ends(found, name), n_items, weak),
            "unit": " x ".join(sides.held if sides and reproduced else unit[1:]),
            "conditions": REPRODUCIBILITY if reproduced else kind,
            "n_items_a": n_sides[0], "n_items_b": n_sides[1],
            "reason": None if name == "valid_rate" else few,
            "n_left_out_a": asked_a - asked_both, "n_left_out_b": asked_b - asked_both,
        }  # fmt: skip


def _coefficients_to_compare(
    names: Sequence[str], policies: Sequence[Missing], level: Level, *, untrue: bool
) -> Iterator[tuple[str, Missing, Level]]:
    """Coefficients to be compared, each with its policy and its level.

    No reply without a score is a score of its own: where there are some (`untrue`), a coefficient
    of scores has the other policy alone, if that is asked for.
    """
    for policy in policies:
        for name in names:
            of_scores = name in (*OF_NUMBERS, OF_LABELS) and level != "nominal"
            if of_scores and untrue and policy == "category" and "drop" in policies:
                continue
            if name in ("valid_rate", "position_bias") and policy != policies[0]:
                continue  # the same whatever stands for a verdict that is not there
            # Of numbers there is one analysis of variance, whatever alpha makes of their order.
            at = (level if name == COMPARED[0] else "interval") if of_scores else "nominal"
            yield name, policy, at


def _difference_row(
    pair: Pair, asked: _Comparison, found: Difference, n_items: int,
    weak: Sequence[tuple[Noted, str | None]],
) -> Row:  # fmt: skip
    """One coefficient's difference as columns; what all tests together decide is left empty."""
    n_a, n_b = (int(side["n"].sum()) for side in (pair.a, pair.b))
    return {
        "coefficient": asked.name, "measurement": asked.level, "missing": asked.policy,
        **as_columns(found, "low", "high", "p", "p_equivalence", "p_beyond", "undefined",
                     "n_differing", "few_informative", value_a="first", value_b="second",
                     difference="value"),
        "tolerance": asked.tolerance, "n_items": n_items, "n_judgments_a": n_a,
        "n_judgments_b": n_b, **_how_difference_was_tested(pair, found, n_items, weak),
    }  # fmt: skip


def _most_orders_compared(both: pl.DataFrame, unit: Sequence[str]) -> int:
    """Most orders of the options that one question of a side was asked in."""
    question = [name for name in unit if name in (SIDE, "item_id", "benchmark")]
    found = both.select(*question, ORDER).unique().group_by(question).len()["len"].max()
    return int(str(found or 0))


def _how_difference_was_tested(
    pair: Pair, found: Difference, n_items: int, lacking: Sequence[tuple[Noted, str | None]]
) -> Row:
    """The two sides, how their difference was tested, and what weakens it, as columns."""
    few: Noted = (Flag.FEW_INFORMATIVE, ())
    noted = [*([(few, None)] if found.few_informative else []), *pair.greedy, *lacking]
    tested = f"; {found.method}" if found.method else ""
    row: Row = {
        "a": pair.names[0], "b": pair.names[1], **flag_columns([one for one, _ in noted]),
        "flag_sides": [side for _, side in noted],
        "statistic": f"paired swap test over {n_items} common questions{tested}",
    }  # fmt: skip
    return {**row, "estimator": estimator_words(row)}


class _Comparison(NamedTuple):
    """One coefficient to be compared, of the judgments of both sides."""

    both: pl.DataFrame
    unit: Sequence[str]
    name: str
    policy: Missing
    level: Level
    tolerance: float | None
    declared: _Menus
    confidence: float


def _difference_over_facets(asked: _Comparison, sides: ComparedSides | None) -> Difference:
    """A difference of what rests on judgments at several levels of nuisance facets."""
    both, _, name, policy, level, tolerance, declared, confidence = asked
    if sides is None or (name in OF_ORDERS and ORDER not in sides.nuisance):
        return Difference(name=name, undefined="orders_not_crossed", n_questions=0)
    if name == "position_bias" and SHOWN not in both.columns:
        raise SweepError("position_bias needs the column label", where={"coefficient": name})
    value = value_of(policy) if level == "nominal" else number_of_row()
    categories = _compared_categories(both, policy, declared)
    if name == "swap_consistency":
        first, second = sides.of_swaps(value)
    elif name == "position_bias":
        first, second = sides.of_places(most_declared_options(both, declared.options) or 2)
    else:
        chosen = next(one for one in PAIR_COEFFICIENTS if one == name)
        first, second = sides.of_coefficient(chosen, value, level, categories)
    if not np.intersect1d(first.questions_C, second.questions_C).size:
        return Difference(name=name, undefined="facets_not_crossed")
    asked_again = {repeats_known(one.terms_CT.sum(axis=0)) for one in (first, second)}
    if name in PAIR_COEFFICIENTS and len(asked_again) > 1:
        # Judgments at different levels alone agree otherwise than any two do.
        return Difference(name=name, undefined="repeats_on_one_side")
    return terms_difference(first, second, margin=tolerance, confidence=confidence)


def _difference_of_label_kappa(asked: _Comparison) -> tuple[Difference, tuple[int, int], int]:
    """The difference of both sides' kappa with the labels, each question weighing 1."""
    sides = [asked.both.filter(pl.col(SIDE) == side).drop(SIDE) for side in (0, 1)]
    first, second = kappa_of_sides(sides[0], sides[1], asked.unit, asked.policy, asked.level)
    found = terms_difference(first, second, margin=asked.tolerance, confidence=asked.confidence)
    in_a, in_b = (one.questions_C.size for one in (first, second))
    return found, (in_a, in_b), np.intersect1d(first.questions_C, second.questions_C).size


def _question_counts_compared(
    both: pl.DataFrame, unit: Sequence[str]
) -> tuple[tuple[int, int], int]:
    """Questions of a, of b, and of both."""
    question = [name for name in unit if name in ("item_id", "benchmark")]
    in_a, in_b = (both.filter(pl.col(SIDE) == side).select(question).unique() for side in (0, 1))
    common = in_a.join(in_b, on=question, how="semi", nulls_equal=True).height
    return (in_a.height, in_b.height), common


def _coefficient_difference(asked: _Comparison) -> tuple[Difference, tuple[int, int], int]:
    """One coefficient's difference, and questions of a, of b, and of both."""
    both, unit, name, policy, level, tolerance, declared, confidence = asked
    cluster = ("item_id", *(one for one in unit if one == "benchmark"))
    value = value_of(policy) if level == "nominal" else number_of_row()
    if name == "valid_rate":
        value = pl.when(SCORED).then(0.0).when(~FAILED).then(1.0)
    found = unit_counts(both, value, unit=unit, cluster=cluster)
    n_first = units_by_side(both, unit)[0].size
    first, second = slice(None, n_first), slice(n_first, None)
    counts = found.counts_UV
    if name == "valid_rate":
        counts = np.zeros((len(counts), 2), dtype=np.int64)
        counts[:, [int(one) for one in found.values]] = found.counts_UV
    difference = paired_difference(
        counts[first],
        counts[second],
        _compared_statistic(name, found, level, _compared_categories(both, policy, declared)),
        first_clusters_U=found.clusters_U[first],
        second_clusters_U=found.clusters_U[second],
        margin=tolerance,
        confidence=confidence,
    )
    in_a, in_b = (np.unique(found.clusters_U[half]) for half in (first, second))
    n_common = np.intersect1d(in_a, in_b).size
    once = any(
        len(counts[half]) and counts[half].sum(axis=1).max() <= 1 for half in (first, second)
    )
    if difference.undefined == "no_common_questions" and n_common and once:
        # There are common questions; one side has no two replications of any to compare.
        difference = replace(difference, undefined="single_replication")
    return difference, (in_a.size, in_b.size), n_common


def _compared_statistic(
    name: str, found: UnitCounts, level: Level, n_categories: int
) -> CountStatistic:
    """The coefficient, taken apart; one that counts cannot give is refused."""
    values = np.asarray(found.values, dtype=np.float64) if level != "nominal" else None
    n_values = 2 if name == "valid_rate" else len(found.values)
    try:
        return count_statistic(
            name, n_values=n_values, values=values, level=level, n_categories=n_categories
        )
    except ValueError as error:
        raise SweepError(
            f"cannot compare {name!r}: {error}", where={"coefficient": name}
        ) from error


_PAIR = 2
_NOT_FACETS = (SIDE, "item_id", "verdict", "score", "outcome", "n", "judge_fingerprint", SHOWN,
               *READ)  # fmt: skip


def _compared_categories(both: pl.DataFrame, policy: Missing, declared: _Menus) -> int:
    """Options on the menu, and each outcome without a verdict where that is a value."""
    scored = both.filter(SCORED)
    distinct = _distinct_compared_values(scored)
    sizes = declared.categories, declared.options
    menu, shown = (most_declared_options(both, one) for one in sizes)
    if names := scale_names(both):
        menu = max((values_on(names, declared.scales) or (0, ()))[0], distinct)
    elif menu is None:
        tied = scored.select(is_tie().any()).item() if "verdict" in both.columns else False
        menu = distinct if shown is None else max(distinct, shown + bool(tied))
    return max(1, menu + (outcomes_without_verdict(both) if policy == "category" else 0))


def _distinct_compared_values(scored: pl.DataFrame) -> int:
    """How many values rows have; a score alone is no further one if a verdict stands beside it."""
    if not {"verdict", "score"} <= set(scored.columns):
        return int(scored.select(LABEL.n_unique()).item())
    named, alone = pl.col("verdict").is_not_null(), pl.col("verdict").is_null()
    beside = scored.filter(named)["score"].unique().implode()
    further = scored.filter(alone & ~pl.col("score").is_in(beside))
    return int(scored.filter(named)["verdict"].n_unique() + further["score"].n_unique())


def _possible_difference_ends(found: Difference, name: str) -> Difference:
    """End the interval where no difference can be larger: of shares at 1, of the others at 2."""
    least, most = possible_values(name)
    if found.low is None or found.high is None:
        return found
    most -= least
    return replace(found, low=max(found.low, -most), high=min(found.high, most))


SIGNIFICANT = 0.05


def with_standings(table: pl.DataFrame, tolerance: float | None) -> pl.DataFrame:
    """Correct p-values for all tests of a table, and say where each difference stands.

    With ``p_holm, p_fdr, p_equivalence_holm, p_beyond_holm``. ``standing`` without a tolerance: "a
    higher" or "b higher" where p_holm is below 0.05, else "undecided". With one, "equivalent" where
    p_equivalence_holm is (for one test: the whole 90 % confidence interval lies within it), "a
    higher" or "b higher" where p_beyond_holm is (the whole 95 % confidence interval lies beyond
    it), else "undecided": over all tests any false "equivalent" has a chance of at most 5 %, and so
    has any false "higher". ``reason``, of what is undecided: "few_verdicts" where it is given
    (fewer than half of a side's replies hold a verdict), "undefined" where there is no value or no
    test, "not_after_correction" where this test alone would tell, then "few_informative_questions",
    else "interval_covers_0" or "interval_crosses_tolerance".

    Examples
    --------
    >>> row = {"difference": 0.1, "low": -0.1, "high": 0.3, "p": 0.3, "p_equivalence": None,
    ...        "p_beyond": None, "few_informative": False, "p_holm": None, "p_fdr": None,
    ...        "p_equivalence_holm": None, "p_beyond_holm": None, "standing": None, "reason": None}
    >>> schema = {name: pl.Boolean() if name == "few_informative" else pl.Float64() for name in row}
    >>> schema |= {"standing": pl.String(), "reason": pl.String()}
    >>> with_standings(pl.DataFrame([row], schema=schema), None).select("standing", "reason").row(0)
    ('undecided', 'interval_covers_0')
    """
    rows = table.to_dicts()
    for p, corrected, correct in (
        ("p", "p_holm", holm),
        ("p", "p_fdr", benjamini_hochberg),
        ("p_equivalence", "p_equivalence_holm", holm),
        ("p_beyond", "p_beyond_holm", holm),
    ):
        for row, one in zip(rows, correct([row[p] for row in rows]), strict=True):
            row[corrected] = one
    for row in rows:
        few = row["reason"]  # known before any test
        row["standing"] = "undecided" if few else _what_difference_comes_to(row, tolerance)
        if row["standing"] == "undecided":
            row["reason"] = few or _why_difference_is_open(row, tolerance)
    return pl.DataFrame(rows, schema=table.schema, orient="row")


def _what_difference_comes_to(row: Row, tolerance: float | None) -> str:
    """What a difference comes to, by p-values corrected for all tests."""
    difference = row["difference"]
    if not isinstance(difference, float):
        return "undecided"
    if tolerance is not None and _difference_test_tells(row["p_equivalence_holm"]):
        return "equivalent"
    if _difference_test_tells(row["p_holm" if tolerance is None else "p_beyond_holm"]):
        return "b higher" if difference > 0 else "a higher"
    return "undecided"


def _why_difference_is_open(row: Row, tolerance: float | None) -> str:
    """Why neither side is called higher, nor both equivalent."""
    if row["difference"] is None or row["p"] is None:
        return "undefined"
    alone = ("p",) if tolerance is None else ("p_equivalence", "p_beyond")
    if any(_difference_test_tells(row[p]) for p in alone):
        return "not_after_correction"
    if row["few_informative"]:
        return "few_informative_questions"
    return "interval_covers_0" if tolerance is None else "interval_crosses_tolerance"


def _difference_test_tells(p: object) -> bool:
    """Whether a test was made and tells."""
    return isinstance(p, float) and p < SIGNIFICANT
