"""The noise floor: what a coefficient shows when no verdict depends on its question.

The null deals the group's own verdicts to its units at random; every unit keeps its number of
verdicts and every value its total, so a coefficient that is high only because of its design
(few questions, one dominating verdict) is seen to be.

Shape suffixes: U = units, V = distinct values, B = batch of reassignments, R = rows, T = terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.closed_null import SETTLED_SKEWNESS, ClosedNull
from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.deals import Margins, Way, cheapest, deal, margins_of
from judgerel_ray.stats.pair_null import pair_floor
from judgerel_ray.stats.statistic import CountStatistic, Floats, term_sums
from judgerel_ray.stats.unit_null import unit_floor

LABELS = 20_000_000
"""Verdicts dealt in all: about a second."""
MOST_LABELS = 600_000_000
"""Verdicts dealt in all where moments do not tell the p: a minute or two."""
FEWEST = 199
"""Deals that are made at least where any are."""
DENSE = 5_000
"""Ratings above which the moments of pairs tell what dealing would, where the null is settled."""
_RARE = 0.05  # share of all but the most frequent verdict below which draws may not tell


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """The null of one coefficient.

    Attributes
    ----------
    mean, sd : float or None
        Of the coefficient under the null; None where the coefficient is undefined or has no floor.
    p : float or None
        Share of the null at least as far from its mean as the value, on either side, the data
        themselves counted in: ``(1 + k) / (1 + n_permutations)``. None with a mean where dealing is
        too dear and moments do not tell it.
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


NOTHING = NoiseFloor(mean=None, sd=None, p=None, n_permutations=0, method="")
"""What has no floor."""


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
    most; above 20 million verdicts dealt, fewer (not below 199) of all. Above 5 thousand ratings of
    coefficients that rest on pairs of ratings
    (:func:`judgerel_ray.stats.pair_null.pair_floor`), above 100 thousand of others
    (:func:`judgerel_ray.stats.unit_null.unit_floor`), mean and spread over all reassignments come
    from closed forms, and `p` from them and the skewness
    (:class:`judgerel_ray.stats.closed_null.ClosedNull`). Where the skewness is above 0.1 or the
    excess kurtosis above 0.3 (a few units or a rare verdict decide), or may not be known, the
    verdicts are dealt after all, above 100 thousand ratings 199 times, up to 600 million of them
    (three million ratings; more by the cheaper ways of :mod:`judgerel_ray.stats.deals`): a minute
    or two. Beyond that there is a p up to a skewness of 0.5 and a kurtosis of 1, and none above.
    The result says which.

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
        raise ValueError(
            "noise_floor: statistics must be of counts; of scores there is score_floor"
        )
    floors = {i: NOTHING for i, statistic in enumerate(statistics) if not statistic.has_floor}
    # Coefficients that count the same units share their reassignments.
    masks = {i: s.takes_part(counts) for i, s in enumerate(statistics) if i not in floors}
    for mask in {mask.tobytes(): mask for mask in masks.values()}.values():
        mine = [i for i, other in masks.items() if np.array_equal(other, mask)]
        taking = counts if mask.all() else counts[mask]
        found = _floors(taking, [statistics[i] for i in mine], n_permutations, seed)
        floors.update(zip(mine, found, strict=True))
    return tuple(floors[i] for i in range(len(statistics)))


def _floors(
    counts: Floats, statistics: list[CountStatistic], n_permutations: int, seed: int
) -> list[NoiseFloor]:
    """The nulls of coefficients that count all these units."""
    found: dict[int, NoiseFloor] = {}
    n, margins = counts.sum(), margins_of(counts)
    many = n > LABELS // FEWEST
    for place, statistic in enumerate(statistics if n > DENSE else ()):
        null = pair_floor(counts, statistic)
        if null is None and many:
            null = unit_floor(counts, statistic, seed=seed)
        if null is not None and (
            _settled(null, statistic, margins) or (many and not affordable(cheapest(margins)[1]))
        ):
            found[place] = closed_floor(null)
    left = [place for place in range(len(statistics)) if place not in found]
    if left:
        dealt = _dealt_floors(counts, [statistics[i] for i in left], n_permutations, seed)
        found.update(zip(left, dealt, strict=True))
    return [found[place] for place in range(len(statistics))]


def _settled(null: ClosedNull, statistic: CountStatistic, margins: Margins) -> bool:
    """Whether the moments tell the p; those of single terms may rest on draws of what is rare."""
    exact = statistic.pairs is not None or margins.minority >= _RARE * margins.n
    return exact and null.settled


def affordable(cost: int) -> bool:
    """Whether the fewest deals are cheap enough, each costing so many verdicts.

    Examples
    --------
    >>> affordable(1_000_000), affordable(20_000_000)
    (True, False)
    """
    return cost * FEWEST <= MOST_LABELS


def _dealt_floors(
    counts: Floats, statistics: list[CountStatistic], n_permutations: int, seed: int
) -> list[NoiseFloor]:
    """The nulls from random deals."""
    values = [float(s.value(term_sums(counts, s))) for s in statistics]
    if all(np.isnan(values)):
        return [NOTHING] * len(statistics)
    # Sorted margins: neither the order of units nor that of the values may matter to the seed.
    margins = margins_of(counts)
    way: Way = "verdicts"
    cost = margins.n
    if cost > LABELS // FEWEST:
        way, cost = cheapest(margins)
    n_permutations = min(n_permutations, max(FEWEST, LABELS // max(1, cost)))
    nulls: list[list[Floats]] = [[] for _ in statistics]
    width = max(statistic.terms(counts[:0]).shape[-1] for statistic in statistics)
    rng = np.random.default_rng(seed)
    for dealt in deal(margins, n_permutations, way, rng, width=width):
        for null, statistic, value in zip(nulls, statistics, values, strict=True):
            most = n_permutations if statistic.most_deals is None else statistic.most_deals
            left = 0 if np.isnan(value) else most - sum(part.size for part in null)
            terms_BRT = statistic.terms(dealt.tables_BRV[: max(0, left)])
            if dealt.numbers_R is None:
                sums_BT = terms_BRT.sum(axis=-2)
            else:
                sums_BT = np.einsum("brt,r->bt", terms_BRT, dealt.numbers_R)
            null.append(statistic.value(sums_BT))
    return [
        floor_of(value, found, f"{found.size} random reassignments, two-sided")
        for value, found in zip(values, map(np.concatenate, nulls), strict=True)
    ]


def closed_floor(null: ClosedNull) -> NoiseFloor:
    """Write a null that is known by its moments as a floor.

    Examples
    --------
    >>> closed_floor(ClosedNull(value=0.0, mean=0.0, sd=0.1, skewness=0.0)).p
    1.0
    >>> heavy = closed_floor(ClosedNull(value=0.0, mean=0.0, sd=0.1, skewness=3.0))
    >>> heavy.p, heavy.method
    (None, 'all reassignments in closed form; no p: too skewed to tell it, too many to deal')
    """
    method = "all reassignments in closed form"
    if not null.tells_p:
        method += "; no p: too skewed to tell it, too many to deal"
    elif abs(null.skewness) > SETTLED_SKEWNESS:
        method += ", skewed, two-sided"
    else:
        method += ", two-sided"
    return NoiseFloor(
        mean=null.mean,
        sd=null.sd,
        p=null.p if null.tells_p else None,
        n_permutations=0,
        method=method,
    )


def floor_of(value: float, null: Floats, method: str) -> NoiseFloor:
    """Sum up a null: its mean and spread, and the share at least as far from the mean as the value.

    Examples
    --------
    >>> floor_of(2.0, np.array([-1.0, 0.0, 1.0]), "by hand").p
    0.25
    """
    if np.isnan(value) or not null.size:
        return NOTHING
    mean, sd = float(null.mean()), float(null.std(ddof=1)) if null.size > 1 else 0.0
    # Equal up to rounding is as extreme.
    extreme = int((np.abs(null - mean) >= abs(value - mean) - 1e-9).sum())
    p = (1 + extreme) / (1 + null.size)
    if sd < 1e-12:
        mean, sd = round(mean, 12), 0.0
    return NoiseFloor(mean=mean, sd=sd, p=p, n_permutations=null.size, method=method)
