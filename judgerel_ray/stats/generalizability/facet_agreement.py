"""Reproducibility: agreement about an item when what should not matter is drawn anew.

A nuisance facet (the order of the options, the template) is one that should not matter to a
verdict. Repeatability asks the same prompt again; reproducibility compares two judgments of one
item whose nuisance facets are drawn at random and independently of each other (ISO 5725). A judge
that goes by position repeats itself perfectly and reproduces nothing. Units are laid out by item
once, for a coefficient and its noise floor; what an item adds to a coefficient is a row of terms.

For the noise floor verdicts are permuted among the units of one level, so whatever a judge does by
position alone it does in every permutation too: only what the item says is broken.

Shape suffixes: U = units (an item at one level of its nuisance facets), V = distinct values,
F = features of a unit, I = items, C = classes of pairs, T = terms, B = permutations, S = strata
(levels); ``...`` = any leading batch axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import erfc, isfinite, sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.agreement import correct_for_chance
from judgerel_ray.stats.arguments import check_choice, check_shape
from judgerel_ray.stats.counts import (
    BLOCK,
    Coefficient,
    Floats,
    QuestionTerms,
    batches,
    checked_counts,
    coefficient_of_units,
    divide,
    row_sums,
    run_sums,
    slices,
    stack_terms,
)
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor, floor_of

_CLASSES = 3  # pairs: same level; same order at another level; another order
FIXED = 2 + 3 * _CLASSES
"""Terms of an item before its features."""
LABELS = 5_000_000
"""Verdicts permuted in all, where the fewest permutations do not need more."""
FEWEST, MOST = 199, 999
DENSE = 50_000
"""Judgments above which mean and spread come from closed forms."""
_CELLS = 2_000_000  # counts held at once
_SHARED = 0.5  # of the items: a level that fewer share is no stratum


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FacetLevels:
    """At which level of its nuisance facets each unit was asked."""

    # Shape (n_units,). The item each unit is of.
    items_U: NDArray[np.int64]  # noqa: N815  a shape, not a case
    # Shape (n_units,). Its level: one number for each combination of nuisance facets.
    levels_U: NDArray[np.int64]  # noqa: N815
    # Shape (n_units,). The order of the options, where more orders are possible than were asked.
    orders_U: NDArray[np.int64] | None = None  # noqa: N815
    # How many orders are possible; by default those recorded are all there are.
    n_orders: float | None = None

    @property
    def alone(self) -> bool:
        """Whether the order is all that is varied: no two levels share one."""
        return self.orders_U is self.levels_U

    def of_units(self, kept_U: NDArray[np.generic] | slice) -> FacetLevels:
        """Keep some units, by index, by a mask or in a row, in that order."""
        levels = self.levels_U[kept_U]
        orders = levels if self.alone else None if self.orders_U is None else self.orders_U[kept_U]
        return FacetLevels(
            items_U=self.items_U[kept_U],
            levels_U=levels,
            orders_U=orders,
            n_orders=self.n_orders,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossedUnits:
    """Units of the items that were asked at two levels or more, sorted by item."""

    # Shape (n_items,). First unit of each item.
    starts_I: NDArray[np.intp]  # noqa: N815
    levels: FacetLevels  # Their levels.
    # Which of the units given they are.
    kept_U: NDArray[np.intp]  # noqa: N815
    # Shape (n_items, 3). Chance that two judgments of the item are of one level, of one order at
    # two levels, and of two orders.
    weights_IC: Floats  # noqa: N815

    def parts(self, n_items: int) -> Iterator[tuple[slice, slice, CrossedUnits]]:
        """Take so many items at a time: which they are, their units, and how those are crossed."""
        ends_I = np.append(self.starts_I[1:], self.kept_U.size)
        for first in range(0, self.starts_I.size, n_items):
            chosen = slice(first, first + n_items)
            units = slice(int(self.starts_I[first]), int(ends_I[chosen][-1]))
            some = CrossedUnits(
                starts_I=self.starts_I[chosen] - units.start,
                levels=self.levels.of_units(units),
                kept_U=self.kept_U[units],
                weights_IC=self.weights_IC[chosen],
            )
            yield chosen, units, some


def crossed_units(levels: FacetLevels, n_ratings_U: ArrayLike) -> CrossedUnits:
    """Find the items asked at two levels or more, and how their pairs of judgments weigh.

    Levels are drawn independently among those recorded for the item, each weighing the same. Of
    orders that are a sample of the possible ones, two judgments share theirs with the chance of
    one in `n_orders`.
    """
    rated = np.flatnonzero(np.asarray(n_ratings_U) > 0)
    order = rated[np.lexsort((levels.levels_U[rated], levels.items_U[rated]))]
    items = levels.items_U[order]
    first = np.flatnonzero(np.diff(items, prepend=-1)) if items.size else np.empty(0, np.intp)
    n_levels = np.diff(first, append=items.size)
    several_U = np.repeat(n_levels > 1, n_levels)
    order, n_levels = order[several_U], n_levels[n_levels > 1]
    starts = np.concatenate([[0], np.cumsum(n_levels)[:-1]]).astype(np.intp)[: n_levels.size]
    crossed = levels.of_units(order)
    n = n_levels.astype(np.float64)
    if crossed.orders_U is None or crossed.n_orders is None:
        zero = np.zeros_like(n)
        weights = stack_terms(1 / n, zero, 1 - 1 / n)
        return CrossedUnits(starts_I=starts, levels=crossed, kept_U=order, weights_IC=weights)
    same_order, n_orders_I = n, n
    if not crossed.alone:
        row = np.repeat(np.arange(n.size), n_levels)
        _, cell, size = np.unique(
            row * (crossed.orders_U.max(initial=0) + 1) + crossed.orders_U,
            return_inverse=True, return_counts=True,
        )  # fmt: skip
        # Ordered pairs of levels of one order.
        same_order = np.bincount(row, size[cell], n.size).astype(np.float64)
        n_orders_I = np.bincount(row, 1 / size[cell], n.size).astype(np.float64)
    share = same_order / n**2
    partial = n_orders_I < crossed.n_orders
    share = np.where(partial, 1 / crossed.n_orders, share)
    same_level = share * n / same_order
    weights = stack_terms(same_level, share - same_level, 1 - share)
    return CrossedUnits(starts_I=starts, levels=crossed, kept_U=order, weights_IC=weights)


def level_features(counts: Floats, distances_VV: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares (..., U, V), mean distance of two of a unit's own judgments (..., U), and numbers."""
    m = row_sums(counts)
    # No judgment is compared with itself.
    itself = formed(counts, distances_VV) - counts @ np.diagonal(distances_VV)
    within = np.divide(itself, m * (m - 1), out=np.zeros_like(m), where=m > 1)
    return counts / np.maximum(m, 1)[..., None], within, m


def moment_features(moments: Floats) -> tuple[Floats, Floats, Floats]:
    """[1, mean, mean square] (..., U, 3), mean squared distance of a unit's own scores, numbers."""
    m, total, squares = np.moveaxis(moments, -1, 0)
    mean, square = divide(total, m), divide(squares, m)
    spread = np.maximum(square - mean**2, 0.0) * m
    within = np.divide(2 * spread, m - 1, out=np.zeros_like(m), where=m > 1)
    return stack_terms(np.ones_like(mean), mean, square), within, m


MOMENT_FORM = np.array([[0.0, 0.0, 1.0], [0.0, -2.0, 0.0], [1.0, 0.0, 0.0]])
"""(x - y)^2 as a bilinear form of [1, x, x^2]."""


def item_terms(
    features: Floats, within: Floats, n_ratings: Floats, units: CrossedUnits, form_FF: Floats
) -> Floats:
    """Lay out what each item adds, shape (..., I, T).

    [1, sum of squared weights of its judgments, of each class of pairs (its weight, its weight
    where there is such a pair, that times the mean distance), features' mean, their form].
    """
    starts, levels = units.starts_I, units.levels
    n_levels = np.diff(starts, append=levels.items_U.size).astype(np.float64)
    repeated = (n_ratings > 1).astype(np.float64)
    n_repeated = run_sums(repeated, starts)
    same_level = divide(run_sums(within * repeated, starts), n_repeated)
    total = run_sums(features, starts, axis=-2)
    itself = formed(features, form_FF)
    of_all, of_level = formed(total, form_FF), run_sums(itself, starts)
    if levels.orders_U is None or levels.n_orders is None or levels.alone:
        pairs_order, of_order = n_levels, of_level
    else:
        row = np.repeat(np.arange(n_levels.size), n_levels.astype(np.intp))
        cells = np.unique(
            row * (levels.orders_U.max(initial=0) + 1) + levels.orders_U, return_inverse=True
        )[1]
        n_cells = int(cells.max(initial=-1)) + 1
        turned = np.argsort(cells, kind="stable")
        begins = np.flatnonzero(np.diff(cells[turned], prepend=-1))
        sums = np.add.reduceat(features[..., turned, :], begins, axis=-2)
        size = np.bincount(cells, minlength=n_cells).astype(np.float64)
        item_of_cell = np.zeros(n_cells, dtype=np.intp)
        item_of_cell[cells] = row
        begin = np.flatnonzero(np.diff(item_of_cell, prepend=-1))
        pairs_order = np.add.reduceat(size**2, begin)
        of_order = np.add.reduceat(formed(sums, form_FF), begin, axis=-1)
    other_level = divide(of_order - of_level, np.broadcast_to(pairs_order - n_levels, of_all.shape))
    apart = n_levels**2 - pairs_order
    other_order = divide(of_all - of_order, np.broadcast_to(apart, of_all.shape))
    columns = [np.ones_like(of_all), run_sums(1 / n_ratings, starts) / n_levels**2]
    for place, mean in enumerate((same_level, other_level, other_order)):
        weight = np.broadcast_to(units.weights_IC[:, place], of_all.shape)
        there = ~np.isnan(mean)
        columns += [weight, weight * there, np.where(there, weight * np.nan_to_num(mean), 0.0)]
    centre = total / n_levels[:, None]
    return stack_terms(*columns, *np.moveaxis(centre, -1, 0), formed(centre, form_FF))


def formed(features: Floats, form_FF: Floats) -> Floats:
    """Compute f' form f over the last axis."""
    if np.array_equal(form_FF, 1 - np.eye(len(form_FF))):  # all pairs but those of equal values
        apart: Floats = row_sums(features) ** 2 - np.einsum("...f,...f->...", features, features)
        return apart
    formed: Floats = np.einsum("...f,...f->...", features @ form_FF, features)
    return formed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaidOut:
    """Units of crossed items with all that coefficients and their floors are computed from."""

    crossed: CrossedUnits  # The units that take part, by item.
    # Their counts, or number, sum and sum of squares of their scores.
    units_UF: Floats  # noqa: N815  a shape, not a case
    n_ratings_U: Floats  # noqa: N815
    # Distances of values, or `MOMENT_FORM`.
    form_FF: Floats  # noqa: N815
    # Shape (n_items, n_terms). As of `item_terms`.
    terms_IT: Floats  # noqa: N815
    counted: bool


def lay_out_levels(
    units: ArrayLike | LaidOut, levels: FacetLevels, *, distances_VV: Floats | None = None
) -> LaidOut:
    """Lay units out once for several coefficients and their floors."""
    if isinstance(units, LaidOut):
        return units
    if distances_VV is None:
        array, form = np.asarray(units, dtype=np.float64), MOMENT_FORM
        n_U = array[:, 0]
    else:
        array = checked_counts(units, function="reproducibility")
        form, n_U = distances_VV, row_sums(array)
    check_shape("reproducibility", n_U.shape, items_U=levels.items_U, levels_U=levels.levels_U)
    crossed = crossed_units(levels, n_U)
    kept_UF = np.asfortranarray(array[crossed.kept_U])  # each column in one piece
    terms_IT = np.empty((crossed.starts_I.size, FIXED + len(form) + 1), order="F")
    for items, of_items, some in crossed.parts(max(1, BLOCK // (FIXED + 4 * len(form)))):
        few_UF = kept_UF[of_items]
        found = moment_features(few_UF) if distances_VV is None else level_features(few_UF, form)
        terms_IT[items] = item_terms(*found, some, form)
    return LaidOut(
        crossed=crossed, units_UF=kept_UF, n_ratings_U=n_U[crossed.kept_U], form_FF=form,
        terms_IT=terms_IT, counted=distances_VV is not None,
    )  # fmt: skip


PairCoefficient = Literal[
    "krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "brennan_prediger",
    "flip_rate", "icc1", "class_agreement", "standard_error",
]  # fmt: skip
PAIR_COEFFICIENTS: tuple[PairCoefficient, ...] = get_args(PairCoefficient)[:7]
"""Coefficients that compare two judgments, and so have a reproducibility."""


def mean_distance(total: Floats) -> Floats:
    """Compute the mean distance of two judgments of an item from sums of :func:`item_terms`.

    Where no item has any pair of a class (no prompt was asked twice), the other classes tell it.
    """
    weight = total[..., 2:FIXED:3]
    mean = divide(total[..., 4:FIXED:3], total[..., 3:FIXED:3])
    there = ~np.isnan(mean)
    return divide(row_sums(weight * np.nan_to_num(mean) * there), row_sums(weight * there))


def pair_value(
    name: PairCoefficient, form_FF: Floats, n_categories: int | None = None
) -> Callable[[Floats], Floats]:
    """Give the function from sums of terms to the coefficient."""
    return lambda total: coefficient_of(name, mean_distance(total), total, form_FF, n_categories)


def coefficient_of(
    name: PairCoefficient,
    distance: Floats,
    total: Floats,
    form_FF: Floats,
    n_categories: int | None = None,
) -> Floats:
    """Compute a coefficient from the mean distance inside items and the sums of all terms.

    class_agreement is that on the value whose form is 1 (the mean distance is then the share of
    pairs that both name it); standard_error is that of one rating, in points.
    """
    if name == "flip_rate":
        return distance
    if name == "percent_agreement":
        return 1 - distance
    if name == "standard_error":
        # Two ratings of an item differ by twice the variance of one.
        return np.asarray(np.sqrt(distance / 2))
    n = total[..., 0]
    mean = divide(total[..., FIXED:-1], np.broadcast_to(n[..., None], total[..., FIXED:-1].shape))
    if name == "class_agreement":
        return divide(distance, mean[..., int(np.argmax(np.diagonal(form_FF)))])
    drawn = formed(mean, form_FF)  # two judgments of any items, the same one with itself counted
    if name in ("krippendorff_alpha", "icc1"):
        between = divide(n**2 * drawn - total[..., -1], n * (n - 1))  # of two items
        if name == "icc1":
            return 1 - _facet_distance_ratio(distance, between)
        # One judgment is no pair with itself: Krippendorff's n (n - 1), of pairs of one item those
        # whose levels are drawn as everywhere else, or a judge of position would be above 0.
        itself = divide(n - total[..., 1], n**2 - total[..., 1])
        return 1 - _facet_distance_ratio(
            distance, np.where(n > 1, itself * distance + (1 - itself) * between, distance)
        )
    if name == "fleiss_kappa":
        return 1 - _facet_distance_ratio(distance, drawn)
    categories = mean.shape[-1] if n_categories is None else n_categories
    if categories < 2:
        return np.full(distance.shape, np.nan)
    if name == "gwet_ac1":
        return correct_for_chance(1 - distance, row_sums(mean * (1 - mean)) / (categories - 1))
    return correct_for_chance(1 - distance, np.full(distance.shape, 1 / categories))


def _facet_distance_ratio(distance: Floats, expected: Floats) -> Floats:
    """A ratio, NaN where nothing differs anywhere but for rounding."""
    return divide(distance, np.where(np.abs(expected) < 1e-12, 0.0, expected))


def reproducibility_terms(
    name: PairCoefficient,
    units: ArrayLike | LaidOut,
    levels: FacetLevels,
    *,
    distances_VV: Floats | None = None,
    n_categories: int | None = None,
    clusters_U: NDArray[np.int64] | None = None,
) -> QuestionTerms:
    """Lay a coefficient's reproducibility out by question.

    Shapes: ``units`` (n_units, n_values), ``distances_VV`` (n_values, n_values), ``clusters_U``
    (n_units,).
    """
    check_choice("reproducibility", get_args(PairCoefficient), name=name)
    laid = lay_out_levels(units, levels, distances_VV=distances_VV)
    crossed, terms_IT = laid.crossed, laid.terms_IT
    owners = levels.items_U if clusters_U is None else clusters_U
    owners_I = owners[crossed.kept_U[crossed.starts_I]]
    questions = owners_I
    if (np.diff(owners_I) <= 0).any():
        questions, place = np.unique(owners_I, return_inverse=True)
        together = np.zeros((questions.size, terms_IT.shape[1]))
        np.add.at(together, place, terms_IT)
        terms_IT = together
    # A class is agreed on by its judgments: a question without any weighs nothing.
    weight = FIXED + int(np.argmax(np.diagonal(laid.form_FF))) if name == "class_agreement" else 0
    return QuestionTerms(
        name=name, questions_C=questions, terms_CT=terms_IT,
        value=pair_value(name, laid.form_FF, n_categories),
        weights_C=terms_IT[:, weight],
    )  # fmt: skip


def left_out_values(
    terms_CT: Floats, wanted: Sequence[tuple[PairCoefficient, int | None]], form_FF: Floats
) -> list[Floats]:
    """Compute several coefficients without each question in turn, from the same distances."""
    total_T = terms_CT.sum(axis=0)
    parts: list[list[Floats]] = [[np.empty(0)] for _ in wanted]
    for some in slices(len(terms_CT), total_T.size):
        rest = total_T - terms_CT[some]
        distance = mean_distance(rest)
        for part, (name, n_categories) in zip(parts, wanted, strict=True):
            part.append(coefficient_of(name, distance, rest, form_FF, n_categories))
    return [np.concatenate(part) for part in parts]


def repeats_known(total: Floats) -> bool:
    """Whether any item was asked the same prompt twice, from sums of terms."""
    return bool(total[..., 3] > 0)


def reproducibility(
    name: PairCoefficient,
    counts_UV: ArrayLike,
    items_U: ArrayLike,
    levels_U: ArrayLike,
    *,
    n_categories: int | None = None,
) -> Coefficient:
    """Compute agreement about an item between two judgments whose nuisance facets differ at random.

    Two judgments of one item are drawn with independent levels, each of the levels recorded for it
    weighing the same however often it was asked; items weigh the same.

    Parameters
    ----------
    name : str
        One of `PAIR_COEFFICIENTS`, of verdicts as names.
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit, an item at one level, received each value.
    items_U, levels_U : array-like of int, shape (n_units,)
        The item of each unit, and its level of the nuisance facets.
    n_categories : int, optional
        Declared categories, of gwet_ac1 and brennan_prediger.

    Returns
    -------
    Coefficient
        ``undefined`` is "facets_not_crossed" where no item has verdicts at two levels, or
        "no_variance" where one value is all there is and chance cannot be told.

    Raises
    ------
    ValueError
        If the name is unknown or shapes do not fit.

    References
    ----------
    .. [1] ISO 5725-1:2023, Accuracy (trueness and precision) of measurement methods and results.

    Examples
    --------
    The same option in both orders, and always the first one shown:

    >>> reads = reproducibility("krippendorff_alpha", [[4, 0], [4, 0], [0, 4], [0, 4]],
    ...                         [0, 0, 1, 1], [0, 1, 0, 1])
    >>> by_place = reproducibility("krippendorff_alpha", [[4, 0], [0, 4], [4, 0], [0, 4]],
    ...                            [0, 0, 1, 1], [0, 1, 0, 1])
    >>> reads.value, by_place.value
    (1.0, 0.0)
    """
    levels = FacetLevels(items_U=np.asarray(items_U), levels_U=np.asarray(levels_U))
    counts = checked_counts(counts_UV, function="reproducibility")
    terms = reproducibility_terms(
        name, counts, levels, distances_VV=1 - np.eye(counts.shape[1]), n_categories=n_categories
    )
    total = terms.terms_CT.sum(axis=0)
    value = float(terms.value(total)) if terms.questions_C.size else float("nan")
    undefined = None
    if np.isnan(value):
        undefined = "no_variance" if terms.questions_C.size else "facets_not_crossed"
    return coefficient_of_units(
        name, f"{name} of two judgments whose nuisance facets are drawn at random",
        crossed_ratings(row_sums(counts), levels), value=value, undefined=undefined,
    )  # fmt: skip


def crossed_ratings(n_ratings_U: Floats, levels: FacetLevels) -> Floats:
    """Count the judgments of each item that was asked at two levels or more."""
    units = crossed_units(levels, n_ratings_U)
    return run_sums(np.asarray(n_ratings_U)[units.kept_U], units.starts_I)


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
