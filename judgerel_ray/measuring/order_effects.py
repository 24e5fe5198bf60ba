"""What the order of the options does to verdicts, and where verdicts fall among the places.

Order effects need questions asked in several orders; the share of verdicts that each place (or each
answer, where no places are known) gets needs none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import FACETS, is_judge
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.groups.matrix import unit_counts
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.nesting import PLACES, UnitRows
from judgerel_ray.counting.verdicts.places import ORDER, SHOWN, Places, first_of, places_in
from judgerel_ray.counting.verdicts.policy import (
    MISSING,
    NOISE_ABOVE,
    Missing,
    Row,
    method_columns,
    value_of,
)
from judgerel_ray.stats import Coefficient, Interval, NoiseFloor
from judgerel_ray.stats.generalizability.facet_agreement import (
    FacetTarget,
    facet_floors,
    lay_out_levels,
    reproducibility_terms,
)
from judgerel_ray.stats.generalizability.order_effects import (
    ORDER_EFFECTS,
    first_place,
    order_effect,
    position_bias,
    swap_layout,
    swapped,
)
from judgerel_ray.stats.intervals.interval import student_interval

BY_DEFAULT = ("swap_consistency", "place_consistency", "position_bias", "first_place")
"""Coefficients that lead where a group was asked in several orders, in the order of reading."""
SAME_IN_ANOTHER_ORDER = BY_DEFAULT[:2]
"""How often verdicts in another order name the same option, and the same place."""
_OF_PLACES = BY_DEFAULT[1:]


def read_places(source: pl.LazyFrame | Tally, columns: Sequence[str]) -> Places | None:
    """Read the places of judgments whose questions were asked in several orders.

    Examples
    --------
    >>> read_places(pl.LazyFrame({"item_id": ["q"], "verdict": ["A"]}), ["item_id", "verdict"])
    """
    if not labels_by_default(source, columns):
        return None
    return places_in(source.rows if isinstance(source, Tally) else source, columns)


def labels_by_default(source: pl.LazyFrame | Tally, columns: Sequence[str]) -> list[str]:
    """Name the column of labels where questions were asked in several orders.

    Counting by label reads one more column, so it is left out where there is nothing to learn.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "option_order": [0, 1], "label": ["A", "A"]})
    >>> labels_by_default(rows, ["label", "option_order"])
    ['label']
    >>> labels_by_default(rows.head(1), ["label", "option_order"])
    []
    """
    if not {SHOWN, ORDER} <= set(columns):
        return []
    if isinstance(source, Tally):
        several = source.nested.units[ORDER].n_unique() > 1
    else:
        ends = source.select(low=pl.col(ORDER).min(), high=pl.col(ORDER).max())
        low, high = ends.collect(engine="streaming").row(0)
        several = low != high
    return [SHOWN] if several else []


def orders_of(group: Group) -> tuple[str, ...]:
    """Name the coefficients of orders that lead where a group was asked in several.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q"], "verdict": ["A"], "n": [2]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict"])
    >>> orders_of(Group(table=unit_table(nested, unit=["item_id"], cluster=["item_id"]),
    ...                 unit=("item_id",), level="nominal", n_categories=2,
    ...                 n_outcomes=0))
    ()
    """
    if ORDER not in group.unit:
        return ()
    return BY_DEFAULT[:1] if group.rows.places is None else BY_DEFAULT


def check_order(names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse coefficients of orders whose columns are not there.

    Examples
    --------
    >>> check_order(["position_bias"], ["label", "option_order"])
    """
    asked = [name for name in names if name in ORDER_EFFECTS]
    wanted = [ORDER] if asked else []
    placed = [name for name in asked if name in _OF_PLACES]
    wanted += [SHOWN] if placed else []
    for name in wanted:
        if name not in columns:
            of_places = name == SHOWN
            raise SweepError(
                f"{(placed if of_places else asked)[0]} needs the column {name}, got "
                f"{', '.join(columns)}",
                hint="a column label with the place where the chosen option stood (A, B); or "
                "--verdict-names place, if that is what verdict holds"
                if of_places
                else "number the orders in which options were shown: 0, 1, 2; a sweep asks them "
                "with option_orders = 2 or more",
            )


def order_rows(group: Group, names: Sequence[str], missing: Sequence[Missing]) -> Iterator[Row]:
    """Compute order effects of one group.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": ["q"] * 4 + ["r"] * 4, "replication": [0, 1] * 4,
    ...         "option_order": [0, 0, 1, 1] * 2, "label": ["A"] * 8,
    ...         "verdict": ["x", "x", "y", "y"] * 2}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["order_effect", "position_bias"])
    >>> found.select("coefficient", "value").rows()
    [('order_effect', 1.0), ('position_bias', 1.0)]
    """
    rows, apart = group.rows, [name for name in group.unit if name != ORDER]
    policies: Sequence[Missing] = missing if group.n_without else MISSING[:1]
    verdicts: Missing = "drop" if group.n_without else "category"
    if "swap_consistency" in names:
        for policy in policies:
            counts, unit = None, group.unit
            if group.moments:  # each score is a value of its own
                counted = rows.long(unit)
                counts = unit_counts(counted, value_of(policy), unit=unit, cluster=unit).counts_UV
            yield _swap_row(group, policy, counts)
    if "place_consistency" in names:
        stood = group.table.places_UP
        if stood is None:
            stood = np.zeros((group.table.clusters_U.size, 1), dtype=np.int64)
        yield _swap_row(group, verdicts, stood, of_places=True)
    if "order_effect" in names:
        for policy in policies:
            counted = rows.long(group.unit)
            found = unit_counts(counted, value_of(policy), unit=group.unit, cluster=apart)
            effect = order_effect(
                found.counts_UV, found.clusters_U, confidence=group.intervals.confidence
            )
            yield _order_effect_row(group, policy, effect)
    placed = [name for name in names if name in ("position_bias", "first_place")]
    if placed:
        labels, questions = _labels_by_order(group)
        first = first_of(_named_places(rows)) if rows.places and labels.size else 0
        for name in placed:
            bias = name == "position_bias"
            at = group.intervals.confidence
            shown = position_bias(labels, questions, confidence=at) if bias else first_place(
                labels, questions, first=first, confidence=at
            )  # fmt: skip
            yield _order_effect_row(group, verdicts, shown, crossed=ORDER in group.unit)


def _named_places(rows: UnitRows) -> list[str]:
    """Places that a verdict of these rows names: the columns of their table, in its order."""
    numbers_UP = rows.units[PLACES].explode().to_numpy().reshape(rows.units.height, -1)
    named_P = numbers_UP.sum(axis=0) > 0
    return [place for place, named in zip(rows.places or (), named_P, strict=True) if named]


def _labels_by_order(group: Group) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """How often each question named each place in each order, and the questions.

    Each order weighs the same: one asked more often would pass for a place preferred.
    """
    table, levels = group.table, group.table.levels
    if table.places_UP is None or levels is None or levels.orders_U is None:
        return np.zeros((0, 2), dtype=np.int64), None
    several = np.int64(levels.orders_U.max() + 1)
    asked, cell = table.clusters_U * several + levels.orders_U, None
    if (np.diff(asked) <= 0).any():  # else every unit is a question in one order, and sorted
        asked, cell = np.unique(asked, return_inverse=True)
    # Positions that nothing ever named are on the menu all the same.
    n_places = max(table.places_UP.shape[1], group.n_places or 0)
    labels = np.zeros((asked.size, n_places), np.int64, order="F")
    for place, number_U in enumerate(table.places_UP.T):
        together = number_U if cell is None else np.bincount(cell, number_U, asked.size)
        labels[:, place] = together
    return labels, asked // several


def _swap_row(
    group: Group,
    policy: Missing,
    counts: NDArray[np.int64] | None = None,
    *,
    of_places: bool = False,
) -> Row:
    """Pairs of judgments in two orders that name the same option, or the same place.

    Of the group's table, or of other counts of its units: of single scores, or of places.
    """
    table, levels = group.table, group.table.levels
    what = "place" if of_places else "option"
    words = f"share of pairs of judgments in two orders with the same {what}, mean over questions"
    none = Coefficient(
        name="place_consistency" if of_places else "swap_consistency",
        undefined="orders_not_crossed", estimator=words,
        n_units=0, n_raters=0, n_ratings=0, n_missing=0,
    )  # fmt: skip
    if levels is None or levels.orders_U is None or table.turned_U is None:
        return _order_effect_row(group, policy, none, crossed=False)
    if counts is None and table.turned_U is levels.items_U:
        laid = swap_layout(group.laid_out(policy))
        n_ratings = int(table.counts(value_of(policy)).counts_UV.sum())
    else:
        if counts is None:
            counts = table.counts(value_of(policy)).counts_UV
        n_ratings = int(counts.sum())
        apart = 1 - np.eye(counts.shape[1])
        laid = lay_out_levels(counts, swapped(table.turned_U, levels.orders_U), distances_VV=apart)
    terms = reproducibility_terms("percent_agreement", laid, levels, clusters_U=table.clusters_U)
    if not terms.questions_C.size:
        return _order_effect_row(group, policy, none)
    share = float(terms.value(terms.terms_CT.sum(axis=0)))
    interval = student_interval(
        share, terms.left_out(), group.intervals.confidence, chance_corrected=False,
        weights_C=terms.weights_C,
    )  # fmt: skip
    estimated = replace(
        none, value=share, undefined=None, low=interval.low, high=interval.high,
        n_ratings=n_ratings, n_units=terms.questions_C.size,
    )  # fmt: skip
    if of_places:  # shuffled over the questions, verdicts that go by place still do
        return _order_effect_row(group, policy, estimated) | method_columns(words, interval)
    floor = facet_floors(laid, levels, [FacetTarget(name="percent_agreement")])[0]
    estimated = replace(
        estimated, noise_floor=floor.mean, noise_floor_sd=floor.sd, p_noise=floor.p,
    )  # fmt: skip
    return _order_effect_row(group, policy, estimated) | method_columns(words, interval, floor)


def _order_effect_row(
    group: Group, policy: Missing, found: Coefficient, *, crossed: bool = True
) -> Row:
    """One row of the result."""
    interval = Interval(
        kind=found.interval_method, undefined=found.no_interval, n_questions=found.n_units,
        standard_error=found.standard_error,
    )  # fmt: skip
    floor = NoiseFloor(
        mean=None, sd=None, p=None, n_permutations=found.n_permutations, kind=found.null_method
    )
    return {
        "coefficient": found.name,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "noise_floor": found.noise_floor,
        "noise_floor_sd": found.noise_floor_sd,
        "p_noise": found.p_noise,
        "noise": None if found.p_noise is None else found.p_noise > NOISE_ABOVE,
        "measurement": "nominal",
        "missing": policy,
        "n_categories": None,
        "n_missing": group.n_judgments - found.n_ratings,
        **method_columns(found.estimator, interval, floor),
        "undefined": found.undefined if crossed else "orders_not_crossed",
        **group.sample,
    }


_N = pl.col("n")


def places_named_by_verdicts(
    frame: pl.LazyFrame,
    *,
    by: Sequence[str] = (),
    menus: Mapping[str, Mapping[str, int]] | None = None,
) -> pl.DataFrame:
    """Count the places that verdicts name, or the answers where no places are known.

    One row a group with any verdict: its columns; ``n_verdicts``, ``n_questions`` and ``n_orders``
    (orders of the options one question was shown in, at most); ``n_options`` of the menu, null
    where not declared; ``is_place``: whether labels and verdicts differ, so that a label is a place
    and not an answer; ``shares``, a list of (label, share, half), the mean over questions and half
    its 95 % interval, null where there is none.

    Examples
    --------
    One question in two orders, and the judge says A to both:

    >>> rows = {"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["x", "y"],
    ...         "label": ["A", "A"]}
    >>> found = places_named_by_verdicts(pl.LazyFrame(rows))
    >>> found.select("is_place", "shares").row(0)
    (True, [{'label': 'A', 'share': 1.0, 'half': None}])
    """
    columns = frame.collect_schema().names()
    groups = [name for name in by if name in columns]
    counts = _label_counts(frame, columns, groups)
    unit = [*groups, "item_id"]
    question = counts.group_by(unit).agg(
        _N.sum().alias("__of"), pl.col(ORDER).n_unique().alias("__orders")
    )
    basis = counts.group_by(groups or pl.lit(0).alias("__all")).agg(
        n_verdicts=_N.sum().cast(pl.Int64),
        n_questions=pl.col("item_id").n_unique().cast(pl.Int64),
        is_place=(pl.col("label") != pl.col("verdict")).any(),
        **_order_effect_menu_size(counts, menus or {}),
    )
    basis = basis if groups else basis.drop("__all")
    orders = _order_effects_by_group(
        question, groups, n_orders=pl.col("__orders").max().cast(pl.Int64)
    )
    found = _order_effects_joined(basis, orders, groups)
    found = _order_effects_joined(
        found, _order_effect_label_shares(counts, question, groups), groups
    )
    found = found.filter(pl.col("n_verdicts") > 0)
    return found.sort(groups) if groups else found


def _label_counts(
    frame: pl.LazyFrame, columns: Sequence[str], groups: Sequence[str]
) -> pl.DataFrame:
    """How often each question, as it was asked, got each verdict under each label."""
    text = [pl.col(name).cast(pl.String) for name in ("verdict", "score") if name in columns]
    answer = pl.coalesce(text) if text else pl.lit(None, pl.String)
    label = pl.coalesce(pl.col("label").cast(pl.String), answer) if "label" in columns else answer
    order = pl.col(ORDER) if ORDER in columns else pl.lit(0)
    facets = [name for name in FACETS if name in columns and name != ORDER]
    kept = [*dict.fromkeys([*groups, "item_id", *facets])]
    rows = frame.filter(is_judge(columns))
    if "block" in columns:
        rows = rows.filter(pl.col("block").fill_null(0) == 0)
    if "outcome" in columns:
        rows = rows.filter(pl.col("outcome").cast(pl.String).fill_null("scored") == "scored")
    answered = rows.select(
        *kept, order.fill_null(0).alias(ORDER), verdict=answer, label=label
    ).filter(pl.col("verdict").is_not_null())
    counted = answered.group_by([*kept, ORDER, "verdict", "label"]).agg(n=pl.len().cast(pl.Float64))
    # Sums of floats depend on their order in the last digit: pages must not.
    return counted.collect(engine="streaming").sort([*kept, ORDER, "verdict", "label"])


def _order_effect_menu_size(
    counts: pl.DataFrame, menus: Mapping[str, Mapping[str, int]]
) -> Mapping[str, pl.Expr]:
    """The number of options declared for all rows of a group alike."""
    size = pl.lit(None, pl.Int64)
    if {"protocol", "benchmark"} <= set(counts.columns):
        for protocol, menu in menus.items():
            for benchmark, n in menu.items():
                of_menu = (pl.col("protocol") == protocol) & (pl.col("benchmark") == benchmark)
                size = pl.when(of_menu).then(pl.lit(n, pl.Int64)).otherwise(size)
    alike = (size.n_unique() == 1) if menus else pl.lit(True)
    return {"n_options": pl.when(alike).then(size.first())}


def _order_effect_label_shares(
    counts: pl.DataFrame, question: pl.DataFrame, groups: Sequence[str]
) -> pl.DataFrame:
    """Shares of labels: means over questions, each with half its interval."""
    unit = [*groups, "item_id"]
    labels = counts.select(*groups, "label").unique()
    seen = counts.group_by([*unit, "label"]).agg(_N.sum())
    whole = (
        _order_effects_joined(question, labels, groups)
        .join(seen, on=[*unit, "label"], how="left", nulls_equal=True)
        .with_columns(share=_N.fill_null(0.0) / pl.col("__of"))
        .sort([*unit, "label"])
    )
    by_label = whole.group_by([*groups, "label"]).agg(
        share=pl.col("share").mean(), half=_half_label_share_interval("share")
    )
    one = pl.struct("label", "share", "half")
    return _order_effects_by_group(by_label.sort([*groups, "label"]), groups, shares=one.implode())


def _half_label_share_interval(name: str) -> pl.Expr:
    """Half the 95 % t interval of a mean over questions; null where they do not differ."""
    from scipy.special import stdtrit

    def half(values: pl.Series) -> float | None:
        n, spread = len(values), values.std()
        if n < 2 or not isinstance(spread, float) or spread < 1e-12:
            return None
        wide: float = spread * float(stdtrit(n - 1, 0.975)) / math.sqrt(n)
        return wide

    return pl.col(name).implode().map_elements(half, return_dtype=pl.Float64).first()


def _order_effects_by_group(
    frame: pl.DataFrame, groups: Sequence[str], **made: pl.Expr
) -> pl.DataFrame:
    """Aggregate by group, of which there may be one that has no columns."""
    if groups:
        return frame.group_by(groups, maintain_order=True).agg(**made)
    return frame.select(**made)


def _order_effects_joined(
    left: pl.DataFrame, right: pl.DataFrame, groups: Sequence[str]
) -> pl.DataFrame:
    """Join by group, null being a value."""
    if groups:
        return left.join(right, on=groups, how="left", nulls_equal=True)
    return left.join(right, how="cross")
