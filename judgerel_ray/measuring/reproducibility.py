"""Reproducibility of one group: agreement about an item, nuisance facets drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.verdicts.places import orders_recorded
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    NEEDS_NOMINAL,
    REPRODUCIBILITY,
    SCORED,
    Missing,
    Row,
    floor_columns,
    method_columns,
    number_of_row,
    value_of,
    with_flags,
)
from judgerel_ray.measuring.estimates import measured_row, positive_interval
from judgerel_ray.stats import Interval, Level, NoiseFloor, count_statistic, measure, noise_floors
from judgerel_ray.stats.agreement.agreement import declaration
from judgerel_ray.stats.agreement.krippendorff import alpha_statistic
from judgerel_ray.stats.counts import Floats, QuestionTerms
from judgerel_ray.stats.generalizability.facet_agreement import (
    MOMENT_FORM,
    PAIR_COEFFICIENTS,
    FacetLevels,
    FacetTarget,
    PairCoefficient,
    crossed_units,
    facet_chance,
    facet_floors,
    lay_out_levels,
    left_out_values,
    mean_distance,
    pair_value,
    repeats_known,
    reproducibility_terms,
)
from judgerel_ray.stats.intervals.interval import (
    EXACT,
    between,
    bootstrap_weights,
    exact_where_alike,
    flagged,
    student_interval,
)

_OF_SCORES = ("krippendorff_alpha", "icc1")
_WITH_CATEGORIES = ("gwet_ac1", "brennan_prediger")
_ALIKE = 1e-12


def reproducible_rows(
    group: Group, coefficients: Sequence[str], missing: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:  # fmt: skip
    """Compute the reproducibility of one group, where nuisance facets vary in it.

    Parameters are those of :func:`judgerel_ray.measuring.estimates.group_rows`;
    coefficients that compare no two judgments have no row.

    Rows have the columns of `Coefficients`, with ``conditions`` "reproducibility". ``undefined`` is
    "facets_not_crossed" where no item was asked at two levels of its nuisance facets, and of
    coefficients of more than two judgments "levels_unequal" where levels were asked unequally
    often.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": ["q", "q", "r", "r"] * 2, "replication": [0] * 4 + [1] * 4,
    ...         "option_order": [0, 1, 0, 1] * 2, "verdict": ["x", "y", "x", "y"] * 2}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["percent_agreement"])
    >>> found.select("value", "unit", "conditions").rows()
    [(0.5, 'item_id', 'reproducibility'), (1.0, 'item_id x option_order', 'repeatability')]
    """
    facets = group.table.levels
    moments_U3 = None if group.moments is None else group.moments.moments_U3
    if facets is None or not group.nuisance:
        return
    named = [name for name in PAIR_COEFFICIENTS if name in coefficients]
    policies: Sequence[Missing] = missing if group.n_without else ("category",)
    chosen = levels or (group.level,)
    for policy in policies:
        for level in dict.fromkeys(("nominal", *chosen)):
            pair_names = [
                name
                for name in named
                if (level in chosen if name in _OF_SCORES else level == "nominal")
            ]
            # Of numbers there is one analysis of variance, whatever alpha makes of their order.
            if level in ("ordinal", "ratio"):
                pair_names = [name for name in pair_names if name != "icc1"]
                if "icc1" in named and "interval" not in chosen:
                    yield from _reproducibility_rows_at_level(
                        group, facets, policy, ["icc1"], "interval", moments_U3
                    )
            yield from _reproducibility_rows_at_level(
                group, facets, policy, pair_names, level, moments_U3
            )
        if moments_U3 is None:
            # Those of more than two judgments are also of an item at all its levels.
            others = [one for one in coefficients if (of := declaration(one)) and of.pooled]
            yield from _pooled_rows(group, facets, policy, others)
    if "class_agreement" in coefficients and moments_U3 is None:
        yield from _class_rows(group, facets)
    if "standard_error" in coefficients:
        last: Missing = "drop" if group.n_without else "category"
        yield from _reproducibility_rows_at_level(
            group, facets, last, ["standard_error"], "interval", moments_U3
        )


def several_prompts(group: Group) -> bool:
    """Tell whether any item was asked at two levels of its nuisance facets, by the judgments alone.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.counting.counted import Declared, counted_groups
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["x", "y"]})
    >>> [several_prompts(group) for _, group in counted_groups(rows).groups()]
    [True]
    """
    levels = group.table.levels
    if levels is None or not group.nuisance:
        return False
    answered = group.table.kinds.select(~FAILED).to_series().fill_null(True).to_numpy()
    n_ratings_U = group.table.counts_UK[:, answered].sum(axis=1)
    return bool(crossed_units(levels, n_ratings_U).starts_I.size)


def _class_rows(group: Group, facets: FacetLevels) -> Iterator[Row]:
    """Agreement on each class, replies without a verdict left out."""
    found = group.table.counts(value_of("drop"))
    policy: Missing = "drop" if group.n_without else "category"
    one = FacetTarget(name="class_agreement")
    for place, value in enumerate(found.values):
        chosen = np.zeros((len(found.values), len(found.values)))
        chosen[place, place] = 1.0
        laid = lay_out_levels(found.counts_UV, facets, distances_VV=chosen)
        floor = facet_floors(laid, facets, [one])[0]
        terms = reproducibility_terms(one.name, laid, facets, clusters_U=group.table.clusters_U)
        pooled = _reproducibility_counts(group, terms, found.counts_UV)
        row = _reproducibility_row(group, terms, pooled, one, floor, None, "nominal")
        name = f"class_agreement:{str(value).removeprefix('=')}"
        n_counted = int(found.counts_UV.sum())
        yield _completed_reproducibility_row(
            group, {**row, "coefficient": name}, policy, "nominal", None, n_counted
        )


def _pooled_rows(
    group: Group, facets: FacetLevels, policy: Missing, names: Sequence[str]
) -> Iterator[Row]:
    """Coefficients of more than two judgments: of all that an item has, at all its levels."""
    if not names:
        return
    found = group.table.counts(value_of(policy))
    m_U = found.counts_UV.sum(axis=1)
    n_levels = np.bincount(facets.items_U, m_U > 0)
    n_items = n_levels.size
    first = np.full(n_items, 0)
    np.maximum.at(first, facets.items_U, m_U)
    asked = m_U > 0
    even = bool((m_U[asked] == first[facets.items_U[asked]]).all())
    several = n_levels > 1
    pooled = np.zeros((n_items, found.counts_UV.shape[1]), dtype=np.int64)
    np.add.at(pooled, facets.items_U, found.counts_UV)
    owners = np.zeros(n_items, dtype=np.int64)
    owners[facets.items_U] = group.table.clusters_U
    pooled, owners = pooled[several], owners[several]
    why = None if several.any() else "facets_not_crossed"
    why = why or (None if even else "levels_unequal")
    categories = group.n_categories_of(policy)
    statistics = [
        count_statistic(name, n_values=pooled.shape[1], n_categories=max(1, categories))
        for name in names
    ]
    for statistic, floor in zip(statistics, noise_floors(pooled, statistics), strict=True):
        if why:
            row = _reproducibility_without_value(statistic.name, statistic.estimator, why)
        else:
            words = f"{statistic.estimator}, of all judgments of an item over its levels"
            value = replace(measure(pooled, statistic), estimator=words)
            row = measured_row(value, group.intervals.interval(pooled, statistic, owners), floor)
        printed = categories if statistic.name == "entropy_agreement" else None
        yield _completed_reproducibility_row(group, row, policy, "nominal", printed, int(m_U.sum()))


def _completed_reproducibility_row(
    group: Group,
    row: Row,
    policy: Missing,
    level: Level,
    n_categories: int | None,
    n_counted: int,
) -> Row:
    """A row with what all rows of reproducibility say."""
    levels = group.table.levels
    n_orders = None if levels is None or levels.orders_U is None else levels.n_orders
    lacking = [] if row["value"] is None else orders_recorded(group.most_orders, n_orders)
    return {
        **with_flags(row, lacking),
        **group.sample,
        "unit": " x ".join(name for name in group.unit if name not in group.nuisance),
        "conditions": REPRODUCIBILITY,
        "measurement": level,
        "missing": policy,
        "n_categories": n_categories,
        "n_replications": group.most_of_item,
        "n_missing": group.n_judgments - n_counted,
    }


def _reproducibility_rows_at_level(
    group: Group,
    facets: FacetLevels,
    policy: Missing,
    names: Sequence[PairCoefficient],
    level: Level,
    moments_U3: NDArray[np.float64] | None,
) -> Iterator[Row]:
    """The rows of one policy and level."""
    if not names:
        return
    categories = group.n_categories_of(policy)
    wanted = [FacetTarget(name=name, n_categories=max(1, categories)) for name in names]
    why = _why_not_reproducibility(group, policy, level, moments_U3)
    units: NDArray[np.generic]
    if why or moments_U3 is not None:
        units = np.zeros((0, 3)) if moments_U3 is None else moments_U3
        distances, values = None, None
        counted = 0 if moments_U3 is None else int(moments_U3[:, 0].sum())
    else:
        found = group.table.counts(value_of(policy) if level == "nominal" else number_of_row())
        units, counted = found.counts_UV, int(found.counts_UV.sum())
        values = np.asarray(found.values, dtype=np.float64) if level != "nominal" else None
        distances = level_distances(found.counts_UV, values, level, facets)
    floors: Sequence[NoiseFloor | None] = [None] * len(names)
    terms: QuestionTerms | None = None
    pooled = None
    chance: float | None = None
    left_out: Sequence[Floats | None] = [None] * len(names)
    if not why:
        by_name = level == "nominal"
        laid = (
            group.laid_out(policy)
            if by_name
            else lay_out_levels(units, facets, distances_VV=distances)
        )
        floors = facet_floors(laid, facets, wanted)
        terms = reproducibility_terms(names[0], laid, facets, clusters_U=group.table.clusters_U)
        pooled = _reproducibility_counts(group, terms, units) if distances is not None else None
        several = [(one.name, one.n_categories) for one in wanted]
        left_out = left_out_values(terms.terms_CT, several, laid.form_FF)
        apart = mean_distance(terms.terms_CT.sum(axis=0)) if by_name else 1.0
        chance = facet_chance(laid) if apart < _ALIKE else None
    for one, floor, without in zip(wanted, floors, left_out, strict=True):
        if terms is not None:
            form = MOMENT_FORM if distances is None else distances
            value = pair_value(one.name, form, one.n_categories)
            terms = replace(terms, name=one.name, value=value)
        row = _reproducibility_row(group, terms, pooled, one, floor, why, level, without, chance)
        printed = categories if one.name in _WITH_CATEGORIES else None
        yield _completed_reproducibility_row(group, row, policy, level, printed, counted)


def _why_not_reproducibility(
    group: Group, policy: Missing, level: Level, moments_U3: NDArray[np.float64] | None
) -> str | None:
    """Why these data have no such coefficient at all."""
    if level == "nominal":
        return "continuous_scores" if moments_U3 is not None else None
    if policy == "category" and group.n_without:
        return NEEDS_NOMINAL
    if moments_U3 is not None:
        return None if level == "interval" else "continuous_scores"
    scored = group.table.kinds.filter(SCORED)
    return "no_scores" if scored["score"].null_count() else None


def level_distances(
    counts_UV: NDArray[np.int64],
    values: NDArray[np.float64] | None,
    level: Level,
    facets: FacetLevels,
) -> NDArray[np.float64]:
    """Tell how far values lie apart, by the level of measurement.

    Examples
    --------
    >>> facets = FacetLevels(items_U=np.array([0]), levels_U=np.array([0]))
    >>> level_distances(np.array([[1, 1]]), np.array([1.0, 3.0]), "interval", facets).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    n_values = counts_UV.shape[1]
    if level == "nominal" or values is None:
        return np.asarray(1 - np.eye(n_values))
    if level == "interval":
        return np.asarray((values[:, None] - values) ** 2)
    statistic = alpha_statistic(n_values=n_values, values=values, level=level)
    if level == "ordinal" and statistic.at_totals is not None:
        # Midranks of verdicts that weigh as in the coefficient: items alike, levels alike.
        m_U = counts_UV.sum(axis=1)
        several = np.bincount(facets.items_U, m_U > 0)[facets.items_U] > 1
        shares = counts_UV / np.maximum(m_U, 1)[:, None] * (several & (m_U > 0))[:, None]
        n_levels = np.bincount(facets.items_U, m_U > 0)[facets.items_U]
        totals = (shares / np.maximum(n_levels, 1)[:, None]).sum(axis=0)
        statistic = statistic.at_totals(totals)
    pairs = statistic.pairs
    if pairs is None or pairs.distances_VV is None:
        raise ValueError(f"reproducibility: no distances at level {level!r}")
    scale = pairs.distances_VV.max(initial=0.0)
    return pairs.distances_VV / scale if scale > 0 else pairs.distances_VV


def _reproducibility_counts(
    group: Group, terms: QuestionTerms, units: NDArray[np.generic]
) -> NDArray[np.float64]:
    """How often each question that takes part received each value, over all its levels."""
    n = len(terms.terms_CT)
    if not n:
        return np.zeros((0, units.shape[1]))
    owner = np.minimum(np.searchsorted(terms.questions_C, group.table.clusters_U), n - 1)
    in_table = terms.questions_C[owner] == group.table.clusters_U
    columns = [
        np.bincount(owner[in_table], column[in_table], n).astype(np.float64) for column in units.T
    ]
    return np.stack(columns, axis=1)


def _reproducibility_row(
    group: Group,
    terms: QuestionTerms | None,
    pooled_CV: NDArray[np.float64] | None,
    one: FacetTarget,
    floor: NoiseFloor | None,
    why: str | None,
    level: Level,
    left_out: Floats | None = None,
    chance: float | None = None,
) -> Row:
    """One coefficient with its interval and its floor."""
    words = f"{level} alpha" if one.name == "krippendorff_alpha" else one.name.replace("_", " ")
    facets = " and ".join(group.nuisance).replace("_", " ")
    words += f", {facets} drawn at random for each of two judgments"
    if why or terms is None:
        return _reproducibility_without_value(one.name, words, why)
    if not terms.questions_C.size:
        return _reproducibility_without_value(one.name, words, "facets_not_crossed")
    total = terms.terms_CT.sum(axis=0)
    value = float(terms.value(total))
    if np.isnan(value):
        return _reproducibility_without_value(one.name, words, "no_variance")
    once: list[Noted] = [] if repeats_known(total) else [(Flag.NO_REPEATS, ())]
    interval = _reproducibility_interval(group, terms, value, pooled_CV, one, left_out, chance)
    return {
        "coefficient": one.name,
        "value": value,
        "low": interval.low,
        "high": interval.high,
        **floor_columns(floor),
        **method_columns(words, interval, floor, noted=once),
        "undefined": None,
    }


def _reproducibility_without_value(name: str, words: str, why: str | None) -> Row:
    """A coefficient that has no value, and why."""
    ends = dict.fromkeys(("value", "low", "high"))
    made = {**floor_columns(None), **method_columns(words)}
    return {"coefficient": name, **ends, **made, "undefined": why}


def _reproducibility_interval(
    group: Group,
    terms: QuestionTerms,
    value: float,
    pooled_CV: NDArray[np.float64] | None,
    one: FacetTarget,
    left_out: Floats | None,
    chance: float | None,
) -> Interval:
    """The interval by question, with what weakens it."""
    n = len(terms.terms_CT)
    if one.name == "standard_error":
        return positive_interval(terms, value, confidence=group.intervals.confidence)
    like = "percent_agreement" if one.name == "class_agreement" else one.name
    statistic = count_statistic(like, n_values=1 if pooled_CV is None else pooled_CV.shape[1])
    choice = group.intervals
    if choice.method == "bootstrap":
        if n < 2:
            return Interval(undefined="too_few_units", n_questions=n)
        draws = bootstrap_weights(n, n_resamples=choice.n_resamples, seed=choice.seed)
        values = np.concatenate([terms.at(weights) for weights in draws])
        found = between(value, values, choice.confidence, "percentile", n)
    else:
        without = terms.left_out() if left_out is None else left_out
        found = student_interval(
            value, without, choice.confidence, chance_corrected=statistic.chance_corrected,
            less_bias=statistic.less_bias, weights_C=terms.weights_C,
        )  # fmt: skip
        if statistic.is_nominal_alpha and chance is not None:
            found = exact_where_alike(
                found, value, choice.confidence, terms.weights_C, chance=chance
            )
    if found.undefined or pooled_CV is None or found.kind in EXACT:
        return found
    return flagged(found, pooled_CV, np.arange(n), statistic)
