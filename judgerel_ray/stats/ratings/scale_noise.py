"""The noise floor of agreement between two scales: one scale's scores permuted over the items.

What permuting changes is a sum over questions of products of what they have on two scales. Of one
pair of scales its first three moments over all permutations are exact; pairs of three scales are
uncorrelated, and only the three pairs of a triangle have a third moment of their own.

Shape suffixes: N = items, Q = questions, V = distinct values, B = permutations, G = parts of a
vector, D = numbers of a question on one scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.agreement.krippendorff import Level, alpha_statistic
from judgerel_ray.stats.arguments import check_at_least_1
from judgerel_ray.stats.counts import Floats, batches
from judgerel_ray.stats.intervals.question_statistic import whole
from judgerel_ray.stats.null.closed_null import ClosedNull
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor, closed_floor, floor_of
from judgerel_ray.stats.ratings.inter_scale import inter_scale_terms
from judgerel_ray.stats.ratings.rated_scales import ScaleRatings

_WIDEST = 24  # numbers of a question, whose third powers are held


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedProducts:
    """Moments of the sum, over items and pairs of scales, of the products across scales."""

    mean: float  # Mean and central moments over all permutations.
    variance: float
    third: float
    # The fourth cumulant, at most about: what terms of one question alone would make.
    fourth: float


def permuted_products(
    vectors: list[Floats], blocks: list[NDArray[np.intp]]
) -> PermutedProducts | None:
    """Compute the moments over all permutations of every scale's vectors over the questions.

    Shapes: ``vectors`` (n_items, n_numbers), ``blocks`` (n_questions, n_items_of_each).

    Examples
    --------
    Two questions: what they have on the second scale stays, or is swapped.

    >>> two = [np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]])]
    >>> found = permuted_products(two, [np.array([[0], [1]])])
    >>> found.mean, found.variance
    (1.5, 2.25)
    """
    width = max(block.shape[1] for block in blocks) * vectors[0].shape[1]
    if width > _WIDEST:
        return None
    mean = variance = third = 0.0
    fourths = np.zeros(len(vectors) * (len(vectors) - 1) // 2)
    for block in blocks:
        rows = [one[block].reshape(len(block), -1) for one in vectors]
        n = len(block)
        mean += n * sum(float(x.mean(axis=0) @ y.mean(axis=0)) for x, y in combinations(rows, 2))
        if n < 2:
            continue
        centred = [one - one.mean(axis=0) for one in rows]
        squares = [one.T @ one for one in centred]
        variance += sum(float((x * y).sum()) for x, y in combinations(squares, 2)) / (n - 1)
        fours = [float(((one**2).sum(axis=1) ** 2).sum()) for one in centred]
        fourths += np.array([x * y for x, y in combinations(fours, 2)]) / n
        triples = sum(float(np.trace(x @ y @ z)) for x, y, z in combinations(squares, 3))
        third += 6 * triples / (n - 1) ** 2
        if n > 2:
            cubes = [np.einsum("qa,qb,qc->abc", one, one, one, optimize=True) for one in centred]
            pairs = sum(float((x * y).sum()) for x, y in combinations(cubes, 2))
            third += n / (n - 1) / (n - 2) * pairs
    fourth = float((fourths**0.5).sum()) ** 2
    return PermutedProducts(mean=mean, variance=variance, third=third, fourth=fourth)


_CELLS = 2_000_000  # scores held at once
_MOST_VALUES = 2000  # whose distances are held as a table
DENSE_UNITS = 500
"""Units above which moments tell what permuting would, where the null is settled."""


def scale_noise_floor(
    first_N: ArrayLike,
    second_N: ArrayLike,
    *,
    level: Level = "interval",
    n_permutations: int = 999,
    seed: int = 0,
) -> NoiseFloor:
    """Compute the null of Krippendorff's alpha of the scores that items got on two scales.

    Each scale keeps its own scores, and what an item got on one tells nothing of what it got on the
    other. So a judge that uses two scales differently has a floor below 0, and is not blamed twice.

    Parameters
    ----------
    first_N, second_N : array-like of float, shape (n_items,)
        One score an item and scale, both mapped to one axis; NaN is missing, and leaves the item
        out.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement.
    n_permutations : int
        Permutations, at least 1.
    seed : int
        Seed of the permutations; the order of items does not matter.

    Returns
    -------
    NoiseFloor
        Nothing where alpha is undefined.

    Raises
    ------
    ValueError
        If the scores are not of the same items, there are too many different ones, or
        `n_permutations` is below 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> five = rng.integers(1, 6, size=40)
    >>> agreeing = np.clip(five + rng.integers(-1, 2, size=40), 1, 5)
    >>> floor = scale_noise_floor(five, agreeing, level="ordinal")
    >>> abs(floor.mean) < 0.1, floor.p
    (True, 0.001)
    """
    check_at_least_1("scale_noise_floor", n_permutations=n_permutations)
    first, second = (np.asarray(one, dtype=np.float64) for one in (first_N, second_N))
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"scale_noise_floor: both scales must have one score an item, got {first.shape} and "
            f"{second.shape}"
        )
    there = ~(np.isnan(first) | np.isnan(second))
    first, second = first[there], second[there]
    values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    if values.size > _MOST_VALUES:
        raise ValueError(
            f"scale_noise_floor: {values.size} different scores are too many, round them to "
            f"{_MOST_VALUES} or fewer"
        )
    if values.size < 2:
        return NOTHING
    fixed = np.lexsort((second, first))
    first_place, second_place = place[: first.size][fixed], place[first.size :][fixed]
    totals_V = np.bincount(place, minlength=values.size).astype(np.float64)
    distances_VV = _alpha_value_distances(values, totals_V, level)
    # Both scales together keep their scores, so all that changes is how far pairs are apart.
    factor = 2 * (totals_V.sum() - 1) / (totals_V @ distances_VV @ totals_V)
    rng = np.random.default_rng(seed)
    null = []
    for size in batches(n_permutations, first.size, _CELLS):
        permuted_BN = rng.permuted(np.tile(second_place, (size, 1)), axis=1)
        null.append(1 - factor * distances_VV[first_place, permuted_BN].sum(axis=1))
    value = 1 - factor * float(distances_VV[first_place, second_place].sum())
    return floor_of(value, np.concatenate(null), NullMethod.ONE_SCALE_PERMUTATIONS)


def inter_scale_floor(
    ratings: ScaleRatings, *, n_permutations: int = 999, seed: int = 0
) -> NoiseFloor:
    """Compute the null of inter-scale alpha, of any number of scales and replications.

    The scores of every scale but the first are permuted over the questions, each scale by itself;
    there is no floor where alpha is undefined. Replications of an item stay together, and so do the
    items of a question; a question only gets scores of one with as many items, of which the same
    have a score on the scale.

    Parameters
    ----------
    ratings : ScaleRatings
        From :func:`judgerel_ray.stats.scale_ratings`.
    n_permutations : int
        Permutations, at least 1.
    seed : int
        Seed of the permutations; the order of questions does not matter.

    Raises
    ------
    ValueError
        If `n_permutations` is below 1, or there are too many different scores for the level.

    Notes
    -----
    Of more than 500 units that all have scores on all scales, mean and spread over all permutations
    come from closed forms (:func:`.permuted_products`) and so does `p`, where the null
    is settled by them (:class:`judgerel_ray.stats.null.closed_null.ClosedNull`).

    Examples
    --------
    >>> from judgerel_ray.stats import scale_ratings
    >>> rng = np.random.default_rng(0)
    >>> ten = rng.integers(1, 11, size=(40, 3))
    >>> five = np.clip(np.ceil(ten / 2) + rng.integers(-1, 2, size=(40, 3)), 1, 5)
    >>> floor = inter_scale_floor(scale_ratings([five, ten], ranges=[(1, 5), (1, 10)]))
    >>> abs(floor.mean) < 0.1, floor.p
    (True, 0.001)
    """
    check_at_least_1("inter_scale_floor", n_permutations=n_permutations)
    terms = inter_scale_terms(ratings)
    value, total_T = whole(terms), terms.terms_CT.sum(axis=0)
    if np.isnan(value):
        return NOTHING
    taking = ratings.n_scales() >= 2
    number = np.unique(ratings.questions_N[taking], return_inverse=True)[1]
    order = _items_sorted_by_scores([one[taking] for one in ratings.shares], number)
    shares = [one[taking][order] for one in ratings.shares]
    vectors = ratings.axis.vectors(shares, total_T)
    there = np.stack([one.sum(axis=1) > 0 for one in shares], axis=1)
    weight_N = 2.0 / (there.sum(axis=1) - 1)
    groups = [_exchangeable_questions(there[:, j], number[order]) for j in range(1, len(shares))]
    slope, products = float(ratings.axis.slope(total_T)), _products_across_scales(vectors, weight_N)
    if len(weight_N) > DENSE_UNITS and there.all():
        null = _closed_null(value, slope, products, vectors, groups[0])
        if null is not None and null.settled:
            return closed_floor(null)
    rng = np.random.default_rng(seed)
    # Every scale keeps its scores, so all that changes is which of them meet.
    nulls = np.empty(n_permutations)
    for place in range(n_permutations):
        moved = _permuted_scale_scores(vectors[1:], groups, rng)
        nulls[place] = _products_across_scales([vectors[0], *moved], weight_N)
    return floor_of(value, value + slope * (nulls - products), NullMethod.SCALE_PERMUTATIONS)


def _closed_null(
    value: float, slope: float, products: float, vectors: list[Floats],
    alike: list[NDArray[np.intp]],
) -> ClosedNull | None:  # fmt: skip
    """The null of units that have scores on all scales, by its moments."""
    found = permuted_products(vectors, alike)
    if found is None or not found.variance > 0:
        return None
    # Of each unit a pair of scales counts twice, weighted by 2 / (scales - 1).
    factor = 4 * slope / (len(vectors) - 1)
    return ClosedNull(
        value=value,
        mean=value + factor * found.mean - slope * products,
        sd=abs(factor) * found.variance**0.5,
        skewness=float(np.sign(factor)) * found.third / found.variance**1.5,
        kurtosis=found.fourth / found.variance**2,
    )


def _products_across_scales(vectors: list[Floats], weight_N: Floats) -> float:
    """Weighted sum over items of the products across scales."""
    total = np.sum(vectors, axis=0)
    products = np.einsum("ng,ng->n", total, total)
    for one in vectors:
        products -= np.einsum("ng,ng->n", one, one)
    return float(products @ weight_N)


def _items_sorted_by_scores(shares: list[Floats], number: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order of the items, questions sorted by their scores: their own order may not matter."""
    order = np.argsort(number, kind="stable")
    rows = np.concatenate(shares, axis=1)[order].round(9)
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))
    blocks = np.split(np.arange(order.size), starts[1:])
    blocks.sort(key=lambda block: (block.size, rows[block].tolist()))
    sorted_N: NDArray[np.intp] = order[np.concatenate(blocks)]
    return sorted_N


def _exchangeable_questions(
    there_N: NDArray[np.bool_], number: NDArray[np.intp]
) -> list[NDArray[np.intp]]:
    """Questions that may swap their scores on one scale, each as (questions, items of each)."""
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    found: dict[bytes, list[NDArray[np.intp]]] = {}
    for block in np.split(np.arange(number.size), starts[1:]):
        if there_N[block].any():
            found.setdefault(there_N[block].tobytes(), []).append(block)
    return [np.stack(blocks) for blocks in found.values()]


def _permuted_scale_scores(
    vectors: list[Floats], groups: list[list[NDArray[np.intp]]], rng: np.random.Generator
) -> list[Floats]:
    """Each scale's scores at other questions."""
    permuted = []
    for vector, alike in zip(vectors, groups, strict=True):
        moved = np.zeros_like(vector)
        for block in alike:
            moved[block] = vector[rng.permutation(block)]
        permuted.append(moved)
    return permuted


def _alpha_value_distances(values_V: Floats, totals_V: Floats, level: Level) -> Floats:
    """Distances between the values, as alpha takes them."""
    statistic = alpha_statistic(n_values=values_V.size, values=values_V, level=level)
    if statistic.at_totals is not None:
        statistic = statistic.at_totals(totals_V)
    if statistic.pairs is None or statistic.pairs.distances_VV is None:
        return 1.0 - np.eye(values_V.size)
    return statistic.pairs.distances_VV
