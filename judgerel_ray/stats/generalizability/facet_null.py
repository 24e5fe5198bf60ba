"""The noise floor of reproducibility: verdicts permuted over items, nuisance facets kept.

Verdicts are permuted among the units of one level, so whatever a judge does by position alone it
does in every permutation too: only what the item says is broken.

Shape suffixes: U = units, V = distinct values, I = items, B = permutations, S = strata (levels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.counts import Floats, batches, run_sums
from judgerel_ray.stats.generalizability.facet_agreement import (
    FIXED,
    CrossedUnits,
    FacetLevels,
    LaidOut,
    PairCoefficient,
    coefficient_of,
    item_terms,
    lay_out_levels,
    level_features,
    mean_distance,
)
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor, floor_of

LABELS = 5_000_000
"""Verdicts permuted in all, where the fewest permutations do not need more."""
FEWEST, MOST = 199, 999
DENSE = 50_000
"""Judgments above which mean and spread come from closed forms."""
_CELLS = 2_000_000  # counts held at once
_SHARED = 0.5  # of the items: a level that fewer share is no stratum


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetTarget:
    """A coefficient whose floor is asked for."""

    name: PairCoefficient
    n_categories: int | None = None


def facet_floors(
    units: ArrayLike | LaidOut,
    levels: FacetLevels,
    targets: Sequence[FacetTarget],
    *,
    distances_VV: Floats | None = None,
    seed: int = 0,
) -> tuple[NoiseFloor, ...]:
    """Compute the nulls of reproducibilities from the same permutations.

    Shapes: ``units`` (n_units, n_values).

    Notes
    -----
    Of orders that are a sample of the possible ones, all judgments of an item in an order move
    together. Levels that few items share (orders drawn item by item) are numbered inside each item,
    and the first, second, ... of them are the strata. Above 50,000 judgments, and for scores that
    are known by their sums alone, mean and spread are those of all permutations in closed form, and
    p is normal; below, 199 to 999 permutations are computed.
    """
    laid = lay_out_levels(units, levels, distances_VV=distances_VV)
    if not laid.crossed.starts_I.size:
        return tuple(NOTHING for _ in targets)
    strata = _permutation_strata(laid.crossed)
    if laid.counted and laid.units_UF.sum() <= DENSE:
        return _permuted_facet_floors(laid, strata, targets, seed)
    total, shape = laid.terms_IT.sum(axis=-2), _distance_moments(laid, strata)
    return tuple(_floor_of_moments(one, total, laid.form_FF, *shape) for one in targets)


def facet_chance(laid: LaidOut) -> float:
    """Give how often two judgments of an item agree over all permutations of its floor.

    Examples
    --------
    >>> levels = FacetLevels(items_U=np.repeat(np.arange(4), 2), levels_U=np.tile([0, 1], 4))
    >>> counts = [[1, 0], [1, 0], [0, 1], [0, 1]] * 2
    >>> facet_chance(lay_out_levels(counts, levels, distances_VV=1 - np.eye(2)))
    0.5
    """
    return 1 - _distance_moments(laid, _permutation_strata(laid.crossed))[0]


def _permutation_strata(units: CrossedUnits) -> NDArray[np.intp]:
    """The stratum of each unit: its level where most items share it, else its place in the item."""
    levels = units.levels.levels_U
    _, number, size = np.unique(levels, return_inverse=True, return_counts=True)
    if size.min() >= _SHARED * units.starts_I.size:
        return number.astype(np.intp)
    n_levels = np.diff(units.starts_I, append=levels.size)
    return np.arange(levels.size) - np.repeat(units.starts_I, n_levels)


def _permuted_facet_floors(
    laid: LaidOut, strata_U: NDArray[np.intp], targets: Sequence[FacetTarget], seed: int
) -> tuple[NoiseFloor, ...]:
    """The nulls from random permutations inside each stratum."""
    units, form_VV, total = laid.crossed, laid.form_FF, laid.terms_IT.sum(axis=-2)
    n_units, n_values = laid.units_UF.shape
    whole = laid.units_UF.astype(np.int64)
    n_ratings = int(whole.sum())
    n_permutations = int(min(MOST, max(FEWEST, LABELS // max(1, n_ratings))))
    block = max(1, min(n_permutations, _CELLS // (n_units * n_values), LABELS // n_ratings))
    rng = np.random.default_rng(seed)
    nulls: list[list[Floats]] = [[] for _ in targets]
    # Orders that each question has drawn for itself stay with what the judge made of them: a judge
    # that goes by position repeats itself in one order whatever the item is.
    of_units = _sampled_orders(units)
    parts = [np.flatnonzero(strata_U == stratum) for stratum in np.unique(strata_U)]
    for n in batches(n_permutations, 1, block):
        tables = np.zeros((n, n_units * n_values))
        for stratum in parts:
            rows = whole[stratum]
            if of_units:
                units_B = np.broadcast_to(np.arange(stratum.size), (n, stratum.size))
                drawn = rng.permuted(units_B, axis=1)
                tables.reshape(n, n_units, n_values)[:, stratum] = rows[drawn]
                continue
            values = np.repeat(np.arange(n_values), rows.sum(axis=0))
            place = np.repeat(stratum * n_values, rows.sum(axis=1))
            shuffled = rng.permuted(np.broadcast_to(values, (n, values.size)), axis=1)
            cell = shuffled + place + np.arange(n)[:, None] * (n_units * n_values)
            tables += np.bincount(cell.ravel(), minlength=tables.size).reshape(tables.shape)
        terms = item_terms(
            *level_features(tables.reshape(n, n_units, n_values), form_VV), units, form_VV
        )
        sums = terms.sum(axis=-2)
        distance = mean_distance(sums)
        for null, one in zip(nulls, targets, strict=True):
            null.append(coefficient_of(one.name, distance, sums, form_VV, one.n_categories))
    kind = NullMethod.LEVEL_PERMUTATIONS
    floors = []
    distance = mean_distance(total)
    for null, one in zip(nulls, targets, strict=True):
        value = float(coefficient_of(one.name, distance, total, form_VV, one.n_categories))
        floors.append(floor_of(value, np.concatenate(null), kind))
    return tuple(floors)


def _sampled_orders(units: CrossedUnits) -> bool:
    """Whether items were asked in some of the orders that are possible, and not in all."""
    levels = units.levels
    possible = levels.n_orders or 0.0
    if levels.orders_U is None or not isfinite(possible):
        return False
    pairs = np.unique(np.stack([levels.items_U, levels.orders_U]), axis=1).shape[1]
    return bool(pairs < possible * units.starts_I.size)


def _distance_moments(laid: LaidOut, strata_U: NDArray[np.intp]) -> tuple[float, float]:
    """Mean and standard deviation of the mean distance over all permutations.

    What verdicts have in common with their stratum is fixed; what is left of the distance between
    two of them is uncorrelated over pairs, so variances add up.
    """
    m_U, form_FF, counted = laid.n_ratings_U, laid.form_FF, laid.counted
    n_strata = int(strata_U.max()) + 1
    n_S = np.bincount(strata_U, m_U, n_strata)
    sums = [np.bincount(strata_U, column, n_strata) for column in laid.units_UF.T]
    mean_SF = np.stack(sums, axis=1) / n_S[:, None]
    apart_SS = mean_SF @ form_FF @ mean_SF.T
    # Of two judgments, and never of one with itself.
    itself_S = mean_SF @ np.diagonal(form_FF) if counted else np.zeros(n_strata)
    pooled_S = (np.diagonal(apart_SS) * n_S - itself_S) / np.maximum(n_S - 1, 1)
    if counted:
        spread_SS = _facet_distance_variance(mean_SF, form_FF)
    else:
        # (x - y)^2 less what each of the two says is -2 (x - mean) (y - mean').
        variance_S = mean_SF[:, 2] - mean_SF[:, 1] ** 2
        spread_SS = 4 * variance_S[:, None] * variance_S
    scaled_IC = _class_scale(laid)
    within_U = _within_weights(laid, scaled_IC)
    within_S = np.bincount(strata_U, within_U, n_strata)
    first_SS, second_SS = _pair_weights(laid, strata_U, scaled_IC)
    mean = float((first_SS * apart_SS).sum() + (within_S * pooled_S).sum())
    twice_U = m_U * (m_U - 1)
    within_variance = np.divide(2 * within_U**2, twice_U, out=np.zeros_like(m_U), where=twice_U > 0)
    variance = float((second_SS * spread_SS).sum())
    variance += float((within_variance * spread_SS[strata_U, strata_U]).sum())
    return mean, float(np.sqrt(variance))


def _facet_distance_variance(shares_SV: Floats, form_VV: Floats) -> Floats:
    """Variance of a distance of two judgments beyond what each alone says, by strata."""
    spread = np.empty((len(shares_SV), len(shares_SV)))
    for i, p in enumerate(shares_SV):
        for j, q in enumerate(shares_SV):
            centred = form_VV - (form_VV @ q)[:, None] - (p @ form_VV)[None, :] + p @ form_VV @ q
            spread[i, j] = p @ centred**2 @ q
    return spread


def _class_scale(laid: LaidOut) -> Floats:
    """What a pair class weighs in the mean distance, by item: (n_items, 3)."""
    whole_C = laid.crossed.weights_IC.sum(axis=0)
    there_IC = laid.terms_IT[:, 3:FIXED:3]  # weights of the classes that have pairs
    there_C = there_IC.sum(axis=0)
    seen = there_C > 0
    share_C = np.where(seen, whole_C, 0.0) / whole_C[seen].sum()
    scale_C = np.divide(share_C, there_C, out=np.zeros(3), where=seen)
    scaled_IC: Floats = there_IC * scale_C
    return scaled_IC


def _within_weights(laid: LaidOut, scaled_IC: Floats) -> Floats:
    """What pairs of a unit's own judgments weigh in the mean distance."""
    starts, repeated = laid.crossed.starts_I, (laid.n_ratings_U > 1).astype(np.float64)
    n_levels = np.diff(starts, append=repeated.size)
    n_repeated = run_sums(repeated, starts)
    scaled = scaled_IC[:, 0]
    each = np.divide(scaled, n_repeated, out=np.zeros_like(scaled), where=n_repeated > 0)
    return np.repeat(each, n_levels) * repeated


def _pair_weights(
    laid: LaidOut, strata_U: NDArray[np.intp], scaled_IC: Floats
) -> tuple[Floats, Floats]:
    """Weights of pairs between units by strata, and those squared (S, S)."""
    starts, levels, m_U = laid.crossed.starts_I, laid.crossed.levels, laid.n_ratings_U
    n_strata = int(strata_U.max()) + 1
    n_levels = np.diff(starts, append=m_U.size)
    row_U = np.repeat(np.arange(starts.size), n_levels)
    # Ordered pairs of levels of each class, by which an item's weight is shared out.
    orders = levels.orders_U if levels.n_orders is not None else None
    number = np.zeros((starts.size, 2))
    pairs: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]] = []
    for apart in range(1, int(n_levels.max(initial=1))):
        left = np.flatnonzero(row_U[:-apart] == row_U[apart:])
        right = left + apart
        same = np.zeros(left.size, bool) if orders is None else orders[left] == orders[right]
        pairs.append((left, right, same))
        for kind, chosen in enumerate((same, ~same)):
            number[:, kind] += 2 * np.bincount(row_U[left[chosen]], minlength=starts.size)
    each = np.divide(scaled_IC[:, 1:], number, out=np.zeros_like(number), where=number > 0)
    first, second = np.zeros((n_strata, n_strata)), np.zeros((n_strata, n_strata))
    for left, right, same in pairs:
        weight = np.where(same, each[row_U[left], 0], each[row_U[left], 1])
        place = strata_U[left] * n_strata + strata_U[right]
        square = (2 * weight) ** 2 / (m_U[left] * m_U[right])
        first += np.bincount(place, 2 * weight, n_strata**2).reshape(first.shape)
        second += np.bincount(place, square, n_strata**2).reshape(first.shape)
    return first, second


def _floor_of_moments(
    one: FacetTarget, total: Floats, form_FF: Floats, mean: float, sd: float
) -> NoiseFloor:
    """A floor from the mean and spread of the mean distance."""
    distance = mean_distance(total)
    value = float(coefficient_of(one.name, distance, total, form_FF, one.n_categories))
    if np.isnan(value):
        return NOTHING
    centre, beside = (
        float(coefficient_of(one.name, np.asarray(at), total, form_FF, one.n_categories))
        for at in (mean, mean + sd)
    )
    spread = abs(beside - centre)
    if spread < 1e-12:
        spread, p = 0.0, 1.0 if abs(value - centre) < 1e-9 else 0.0
    else:
        p = erfc(abs(value - centre) / spread / sqrt(2))
    return NoiseFloor(mean=centre, sd=spread, p=p, kind=NullMethod.LEVELS_CLOSED_FORM)
