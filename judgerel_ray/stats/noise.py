"""The noise floor: what a coefficient shows when no verdict depends on its question.

The null deals the group's own verdicts to its units at random; every unit keeps its number of
verdicts and every value its total, so a coefficient that is high only because of its design
(few questions, one dominating verdict) is seen to be.

Shape suffixes: U = units, V = distinct values, N = ratings, B = batch of reassignments, T = terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.pair_null import pair_floor
from judgerel_ray.stats.statistic import CountStatistic, Floats, term_sums

_CELLS = 2_000_000  # numbers held at once in a batch
_LABELS = 20_000_000  # verdicts dealt in all: about a second
_FEWEST = 199
_FEWEST_UNITS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """The null of one coefficient.

    Attributes
    ----------
    mean, sd : float or None
        Of the coefficient under the null; None where the coefficient is undefined or has no floor.
    p : float or None
        Share of the null at least as far from its mean as the value, on either side, the data
        themselves counted in: ``(1 + k) / (1 + n_permutations)``.
    n_permutations : int
        Reassignments computed.
    method : str
        How it was made, in words.
    """

    mean: float | None
    sd: float | None
    p: float | None
    n_permutations: int
    method: str


def noise_floor(
    counts_UV: ArrayLike, statistic: CountStatistic, *, n_permutations: int = 999, seed: int = 0
) -> NoiseFloor:
    """Compute the null of one coefficient; see :func:`noise_floors`.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    n_permutations : int
        Reassignments asked for, at least 1.
    seed : int
        Seed of the reassignments.

    Returns
    -------
    NoiseFloor

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_permutations` is below 1.

    Examples
    --------
    A judge that always answers the same agrees with itself no more than its answers force it to:

    >>> from judgerel_ray.stats import count_statistic
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> floor = noise_floor([[5, 0], [5, 0]], agreement)
    >>> floor.mean, floor.sd, floor.p
    (1.0, 0.0, 1.0)
    """
    return noise_floors(counts_UV, [statistic], n_permutations=n_permutations, seed=seed)[0]


def noise_floors(
    counts_UV: ArrayLike,
    statistics: Sequence[CountStatistic],
    *,
    n_permutations: int = 999,
    seed: int = 0,
) -> tuple[NoiseFloor, ...]:
    """Compute the nulls of several coefficients from the same reassignments.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistics : sequence of CountStatistic
        The coefficients.
    n_permutations : int
        Reassignments asked for, at least 1.
    seed : int
        Seed of the reassignments; the order of units does not matter.

    Returns
    -------
    tuple of NoiseFloor
        One a coefficient, in their order.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `n_permutations` is below 1.

    Notes
    -----
    Row counts and value totals fixed, the tables are multivariate hypergeometric. Cost is bounded:
    of coefficients whose terms are dear (majority stability) 199 reassignments are computed at
    most; above 20 million verdicts dealt, fewer (not below 199) of all; above 100 thousand ratings
    of more than 200 units, `p` comes from the normal distribution, and mean and spread are exact
    (:func:`judgerel_ray.stats.pair_null.pair_floor`; to first order where mean shares of units that
    differ in their number of ratings enter, as in AC1) or, for coefficients that rest on more than
    agreeing pairs, of a random subset of units with verdicts in the same proportions, the spread
    scaled by the square root of the share of units. The result says which.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> names = ("krippendorff_alpha", "percent_agreement")
    >>> statistics = [count_statistic(name, n_values=2) for name in names]
    >>> alpha, agreement = noise_floors([[4, 0], [0, 4], [4, 0], [0, 4], [4, 0]], statistics)
    >>> abs(alpha.mean) < 0.05, alpha.p, abs(agreement.mean - 0.5) < 0.05
    (True, 0.001, True)
    """
    if n_permutations < 1:
        raise ValueError(f"noise_floor: n_permutations must be at least 1, got {n_permutations}")
    counts = checked_counts(counts_UV, function="noise_floor")
    if any(statistic.of_moments for statistic in statistics):
        raise ValueError("noise_floor: statistics must be of counts; moments have moment_floor")
    nothing = NoiseFloor(mean=None, sd=None, p=None, n_permutations=0, method="")
    floors = {i: nothing for i, statistic in enumerate(statistics) if not statistic.has_floor}
    # Coefficients that count the same units share their reassignments.
    masks = {i: s.takes_part(counts) for i, s in enumerate(statistics) if i not in floors}
    for mask in {mask.tobytes(): mask for mask in masks.values()}.values():
        mine = [i for i, other in masks.items() if np.array_equal(other, mask)]
        taking = counts if mask.all() else counts[mask]
        if not _affordable_whole(taking):
            closed = {i: _closed(taking, statistics[i]) for i in mine}
            floors.update({i: floor for i, floor in closed.items() if floor})
            mine = [i for i in mine if i not in floors]
        if mine:
            found = _floors(taking, [statistics[i] for i in mine], n_permutations, seed)
            floors.update(zip(mine, found, strict=True))
    return tuple(floors[i] for i in range(len(statistics)))


def _floors(
    counts: Floats, statistics: list[CountStatistic], n_permutations: int, seed: int
) -> list[NoiseFloor]:
    """The nulls of coefficients that count all these units."""
    values = [float(s.value(term_sums(counts, s))) for s in statistics]
    if all(np.isnan(values)):
        nothing = NoiseFloor(mean=None, sd=None, p=None, n_permutations=0, method="")
        return [nothing] * len(statistics)
    rng = np.random.default_rng(seed)
    # Sorted margins: neither the order of units nor that of the values may matter to the seed.
    sizes_U = np.sort(counts.sum(axis=1).astype(np.int64))
    columns = np.argsort(counts.sum(axis=0), kind="stable")
    totals_V = counts.sum(axis=0).astype(np.int64)[columns]
    subset_U = _affordable(sizes_U, rng)
    n = int(sizes_U[subset_U].sum())
    n_permutations = min(n_permutations, max(_FEWEST, _LABELS // n))
    nulls: list[list[Floats]] = [[] for _ in statistics]
    width = max(statistic.terms(counts[:0]).shape[-1] for statistic in statistics)
    batch = max(1, _CELLS // max(n, subset_U.size * width))
    hand_V = _proportional(totals_V, n)
    for table_BUV in _deal(sizes_U[subset_U], hand_V, n_permutations, batch, rng):
        original_BUV = np.empty_like(table_BUV)
        original_BUV[..., columns] = table_BUV
        for null, statistic, value in zip(nulls, statistics, values, strict=True):
            most = n_permutations if statistic.most_deals is None else statistic.most_deals
            left = 0 if np.isnan(value) else most - sum(part.size for part in null)
            null.append(statistic.value(statistic.terms(original_BUV[:left]).sum(axis=-2)))
    scale = sqrt(subset_U.size / sizes_U.size)
    return [
        _summary(value, np.concatenate(null), scale)
        for value, null in zip(values, nulls, strict=True)
    ]


def _closed(counts: Floats, statistic: CountStatistic) -> NoiseFloor | None:
    """The null in closed form, where there is one."""
    found = pair_floor(counts, statistic)
    if found is None:
        return None
    mean, sd, p = found
    return NoiseFloor(
        mean=mean,
        sd=sd,
        p=p,
        n_permutations=0,
        method="all reassignments in closed form, two-sided",
    )


def _affordable_whole(counts: NDArray[np.number]) -> bool:
    """Whether all ratings can be dealt 199 times."""
    return counts.sum() <= _LABELS // _FEWEST or len(counts) <= _FEWEST_UNITS


def _affordable(sizes_U: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.intp]:
    """All units, or a random subset of them where the ratings are too many to deal 199 times."""
    if _affordable_whole(sizes_U):
        return np.arange(sizes_U.size)
    shuffled = rng.permutation(sizes_U.size)
    fit = int(np.searchsorted(np.cumsum(sizes_U[shuffled]), _LABELS // _FEWEST))
    return np.sort(shuffled[: max(_FEWEST_UNITS, fit)])


def _proportional(totals_V: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Totals in the same proportions that sum to n, no value lost; those given where they do."""
    share_V = totals_V * (n / totals_V.sum())
    hand_V: NDArray[np.int64] = np.maximum(np.floor(share_V).astype(np.int64), totals_V > 0)
    # What rounding leaves over goes to, or comes from, the most frequent value.
    hand_V[np.argmax(totals_V)] += n - hand_V.sum()
    return hand_V


def _deal(
    sizes_U: NDArray[np.int64],
    totals_V: NDArray[np.int64],
    n_permutations: int,
    batch: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """Random tables (B, U, V) with these row counts and value totals."""
    n_values = totals_V.size
    unit_N = np.repeat(np.arange(sizes_U.size), sizes_U)
    labels_N = np.repeat(np.arange(n_values), totals_V)
    for start in range(0, n_permutations, batch):
        size = min(batch, n_permutations - start)
        labels_BN = rng.permuted(np.tile(labels_N, (size, 1)), axis=1)
        cell = (np.arange(size)[:, None] * sizes_U.size + unit_N) * n_values + labels_BN
        table = np.bincount(cell.ravel(), minlength=size * sizes_U.size * n_values)
        yield table.reshape(size, sizes_U.size, n_values).astype(np.float64)


def floor_of(value: float, null: Floats, method: str) -> NoiseFloor:
    """Sum up a null: its mean and spread, and the share at least as far from the mean as the value.

    Examples
    --------
    >>> floor_of(2.0, np.array([-1.0, 0.0, 1.0]), "by hand").p
    0.25
    """
    if np.isnan(value) or not null.size:
        return NoiseFloor(mean=None, sd=None, p=None, n_permutations=0, method="")
    mean, sd = float(null.mean()), float(null.std(ddof=1)) if null.size > 1 else 0.0
    # Equal up to rounding is as extreme.
    extreme = int((np.abs(null - mean) >= abs(value - mean) - 1e-9).sum())
    p = (1 + extreme) / (1 + null.size)
    if sd < 1e-12:
        mean, sd = round(mean, 12), 0.0
    return NoiseFloor(mean=mean, sd=sd, p=p, n_permutations=null.size, method=method)


def _summary(value: float, null: Floats, scale: float) -> NoiseFloor:
    """The floor from a null; `scale` is 1 where all units were dealt to."""
    floor = floor_of(value, null, f"{null.size} random reassignments, two-sided")
    if scale == 1 or floor.mean is None or floor.sd is None:
        return floor
    sd, far = floor.sd * scale, abs(value - floor.mean)
    p = erfc(far / sd / sqrt(2)) if sd > 0 else float(far <= 1e-9)
    return replace(floor, sd=sd, p=p, method=f"{floor.method}, of a subset of units")
