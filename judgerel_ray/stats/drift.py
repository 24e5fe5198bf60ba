"""Whether a judge drifts: new replications against earlier ones, and an alarm over many refreshes.

Where a judge does not change, replications of a condition are exchangeable: given all verdicts of
it, old and new, every choice of which are the new ones is equally likely. So the p-value of each
refresh is exact whatever the verdicts are distributed like, and however few there are. Where all of
them are alike every choice ties with every other, and the p-value is the draw that breaks ties: a
bettor who waited for the first other verdict would choose by what came when to begin, and would
begin at the one refresh whose p-value is bound to be small.

A bettor who stakes on small p-values multiplies the capital by something of mean 1 each time, so it
ever reaches 1 / level with a chance of at most level (Ville's inequality), however often one looks
and whenever one stops. A bettor who begins before the change has lost most of the capital by then.
So the capital is divided: a share of it waits for each refresh and is bet from there on.

Shape suffixes: U = conditions (a question as it is asked), V = distinct verdicts,
B = permutations, T = refreshes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_fraction
from judgerel_ray.stats.counts import batches, drawn_counts

PERMUTATIONS = 9_999
"""Rearrangements that the verdicts are held against; p is no smaller than about 1 in so many."""
LEAST_PERMUTATIONS = 999
WORK = 30_000_000
"""Draws in all, above which there are fewer permutations."""
_AT_A_TIME = 4_000_000

CountArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchangeability:
    """Outcome of a test that new verdicts are exchangeable with old ones."""

    # Uniform on (0, 1) where they are; None where no condition has verdicts of both times, and no
    # bet is placed.
    p: float | None
    # Conditions with verdicts of both times that are not all alike; where there is none, p is a
    # draw and says nothing of the judge.
    n_informative: int
    n_permutations: int  # Rearrangements drawn.


def exchangeability(
    old_UV: CountArray,
    new_UV: CountArray,
    *,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Exchangeability:
    """Test whether new verdicts come from where the old ones came from, condition by condition.

    What is held against rearrangements is the most unusual of three sums: how far verdicts of each
    condition moved (any change of the judge), how far all moved together (a habit of a label or
    place, a shift of ratings), and how far they moved towards or away from what is usual in their
    condition (a colder or hotter judge).

    References
    ----------
    .. [1] Vovk, Gammerman, Shafer (2022), Algorithmic Learning in a Random World, 2nd edition,
       chapter 8, DOI 10.1007/978-3-031-06649-8.

    Examples
    --------
    Ten questions that were always passed are now always failed:

    >>> old, new = np.tile([8, 0], (10, 1)), np.tile([0, 4], (10, 1))
    >>> exchangeability(old, new, rng=np.random.default_rng(1)).p < 0.001
    True
    """
    from scipy.stats import rankdata  # half a second, which nobody else of the room needs

    if old_UV.shape != new_UV.shape:
        raise ValueError(
            f"exchangeability: new_UV must have the shape of old_UV, {old_UV.shape}, "
            f"got {new_UV.shape}"
        )
    pooled = old_UV + new_UV
    of_both = (old_UV.sum(axis=1) > 0) & (new_UV.sum(axis=1) > 0)
    informative = of_both & ((pooled > 0).sum(axis=1) > 1)
    n_informative = int(informative.sum())
    if not n_informative:
        # All rearrangements tie, and the draw among ties is all of p.
        p_of_ties = float(rng.uniform()) if of_both.any() else None
        return Exchangeability(p=p_of_ties, n_informative=0, n_permutations=0)
    kept = pooled[informative].any(axis=0)
    pooled_UV, seen_UV = pooled[informative][:, kept], new_UV[informative][:, kept]
    n_draws = int(np.clip(WORK // pooled_UV.size, LEAST_PERMUTATIONS, PERMUTATIONS))
    n_draws = min(permutations, n_draws)
    n_new_U = seen_UV.sum(axis=1)
    moved = _sums_of_moves(pooled_UV, n_new_U)
    sums = [moved(seen_UV[None])]
    sums += [
        moved(drawn_counts(pooled_UV, n_new_U, size, rng))
        for size in batches(n_draws, pooled_UV.size, _AT_A_TIME)
    ]
    # Each sum by its rank: their nulls have tails of other kinds.
    ranks = rankdata(-np.round(np.concatenate(sums), 9), axis=0, method="max")
    # The best rank decides; of several that are best in some sum, how unusual the others are.
    others = np.log(ranks).sum(axis=1) / (ranks.shape[1] * np.log(n_draws + 2))
    least = np.round(ranks.min(axis=1) + others, 9)
    further, ties = (least[1:] < least[0]).sum(), (least[1:] == least[0]).sum()
    p = (further + rng.uniform() * (ties + 1)) / (n_draws + 1)
    return Exchangeability(p=float(p), n_informative=n_informative, n_permutations=n_draws)


def _sums_of_moves(
    pooled_UV: CountArray, n_new_U: CountArray
) -> Callable[[CountArray], NDArray[np.float64]]:
    """How far new verdicts lie from what is expected of them, given the verdicts of both times."""
    n_U = pooled_UV.sum(axis=1)
    share_UV = pooled_UV / n_U[:, None]
    left_U = n_new_U * (n_U - n_new_U) / np.maximum(n_U - 1, 1)
    spread_V = (share_UV * (1 - share_UV) * left_U[:, None]).sum(axis=0)
    expected_UV = share_UV * n_new_U[:, None]

    def sums(new_BUV: CountArray) -> NDArray[np.float64]:
        """Sum moves within conditions, of all together, and towards the usual; shape (B, 3)."""
        away = new_BUV - expected_UV
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(expected_UV > 0, away**2 / expected_UV, 0.0)
            together = np.where(spread_V > 0, away.sum(axis=1) ** 2 / spread_V, 0.0)
        usual = (away * share_UV).sum(axis=(1, 2)) ** 2
        return np.stack([each.sum(axis=(1, 2)), together.sum(axis=1), usual], axis=1)

    return sums


STAKE = 0.6
"""Share of what has been put into play that each bet risks."""
_SHARES_IN_ALL = 2.10974280123689  # of 1 / (n ln(n)^2) over n = 2, 3, ...: OEIS A115563


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEvidence:
    """Where the capital stands after some refreshes."""

    # What 1 has become: how much likelier a change at some refresh is than none, by the bets
    # placed.
    capital: float
    highest: float
    is_alarm: bool  # Whether that reached 1 / level.
    since: int | None  # Index of the refresh at which it did first.


def payoff(p: ArrayLike) -> NDArray[np.float64]:
    r"""What a stake of 1 on small p pays.

    The mixture of all powers, which has mean 1 where p is uniform and needs no tuning:

    .. math:: F(p) = \int_0^1 \kappa p^{\kappa - 1} d\kappa = (1 - p + p \ln p) / (p \ln^2 p)

    References
    ----------
    .. [1] Vovk, Wang (2021), E-values: calibration, combination and applications, The Annals of
       Statistics 49(3), DOI 10.1214/20-AOS2020.
    """
    values = np.asarray(p, dtype=np.float64)
    near_1 = values > 1 - 1e-4  # where both sides of the fraction vanish
    inside = np.where(near_1, 0.5, np.maximum(values, 1e-300))
    log = np.log(inside)
    found = (1 - inside + inside * log) / (inside * log**2)
    return np.where(near_1, 0.5 + (1 - values) / 6, found)


def capital_path(p_T: Iterable[float | None]) -> Iterator[float]:
    r"""Bet against "nothing changed": the capital after each refresh, from 1, as it is asked for.

    A share of the capital is put into play at each bet, the k-th :math:`w_k \propto 1 / ((k + 1)
    \ln^2 (k + 1))`, all shares together 1. So a change after a year of quiet nights is seen about
    as soon as one after a month.
    """
    in_play, waiting, k = 0.0, 1.0, 0
    for p in p_T:
        if p is not None:
            k += 1
            share = 1 / ((k + 1) * np.log(k + 1) ** 2) / _SHARES_IN_ALL
            waiting -= share
            in_play = (in_play + share) * (1 - STAKE + STAKE * payoff(p).item())
        yield float(in_play + waiting)


def first_alarm(capital_T: Iterable[float], level_T: Iterable[float | None]) -> int | None:
    """Find the first refresh whose capital reaches 1 / level, each by a level of its own.

    Where nothing changes there is one with a chance of at most the largest of the levels.
    """
    reached = (
        level is not None and capital >= 1 / level
        for capital, level in zip(capital_T, level_T, strict=False)
    )
    return next((index for index, is_reached in enumerate(reached) if is_reached), None)


def drift_evidence(p_T: Sequence[float | None], *, level: float = 0.05) -> DriftEvidence:
    """Bet against "nothing changed" through some refreshes, and say where that leads.

    References
    ----------
    .. [1] Ramdas, Gruenwald, Vovk, Shafer (2023), Game-theoretic statistics and safe anytime-valid
       inference, Statistical Science 38(4), DOI 10.1214/23-STS894.

    Examples
    --------
    >>> drift_evidence([0.4, 0.7, 0.00005]).is_alarm, drift_evidence([0.4, 0.7, 0.05]).is_alarm
    (True, False)
    """
    check_fraction("drift_evidence", level=level)
    path = list(capital_path(p_T))
    since = first_alarm(path, repeat(level))
    return DriftEvidence(
        capital=path[-1] if path else 1.0,
        highest=max(path, default=1.0),
        is_alarm=since is not None,
        since=since,
    )
