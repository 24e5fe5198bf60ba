"""When a question has been asked often enough: rules that hold however often one looks.

So do the intervals of a verdict distribution. Coefficients are never computed from stopped counts,
which favour agreement where it came early: they use a first block of fixed size, and the later
draws only settle the verdict.

Shape suffixes: U = questions, R = replications in the order drawn, V = verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_fraction
from judgerel_ray.stats.counts import Floats


def distribution_interval(
    counts_V: ArrayLike, *, delta: float = 0.05, prior: float = 1.0
) -> tuple[Floats, Floats]:
    r"""Bound every verdict's probability at once, however often one looks.

    The distributions p that are kept are those with

    .. math:: \frac{B(a + n)}{B(a)} \Big/ \prod_v p_v^{n_v} < \frac{1}{\delta};

    the ends are the least and the most each p can have among them.

    Parameters
    ----------
    counts_V : array-like of int, shape (n_values,)
        Draws of each verdict that could be drawn.
    delta : float
        Chance that the true distribution is ever outside; in (0, 1).
    prior : float
        Weight a of each verdict in the mixture, above 0.

    Returns
    -------
    low_V, high_V : ndarray of float, shape (n_values,)

    Raises
    ------
    ValueError
        If there is no verdict, the counts are no whole numbers, or an option is out of range.

    References
    ----------
    .. [1] Lindon and Malek (2022), Anytime-Valid Inference for Multinomial Count Data,
       arXiv:2011.03567.

    Examples
    --------
    >>> low, high = distribution_interval([0, 0])
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    >>> low, high = distribution_interval([30, 10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.512, 0.086], [0.914, 0.488])
    """
    counts = checked_draws(counts_V, delta, function="distribution_interval")
    if not prior > 0:
        raise ValueError(f"distribution_interval: prior must be above 0, got {prior!r}")
    low, high = _verdict_interval_ends(tuple(counts.tolist()), delta, prior)
    return low.copy(), high.copy()


@lru_cache(maxsize=100_000)
def _verdict_interval_ends(
    drawn: tuple[float, ...], delta: float, prior: float
) -> tuple[Floats, Floats]:
    """Both ends of every verdict; the same counts come back in every question."""
    from scipy.special import gammaln

    counts = np.array(drawn)
    n, weight = counts.sum(), prior * counts.size
    mixed = (gammaln(counts + prior) - gammaln(prior)).sum() + gammaln(weight) - gammaln(weight + n)
    # Given one share, the likelihood is largest with the others in proportion to their counts.
    rest = n - counts
    others = np.array([_entropy_sum(np.delete(counts, v)) for v in range(counts.size)])
    least = mixed + np.log(delta) - others
    return _likelihood_interval_edge(counts, rest, least, lower=True), _likelihood_interval_edge(
        counts, rest, least, lower=False
    )


def _entropy_sum(counts: Floats) -> float:
    """Sum of n log(n / total)."""
    there = counts[counts > 0]
    return float((there * np.log(there / there.sum())).sum())


def _likelihood_interval_edge(
    counts: Floats, rest: Floats, least: Floats, *, lower: bool
) -> Floats:
    """Where n log p + rest log(1 - p) falls to `least`, below or above its top, by bisection."""
    from scipy.special import xlog1py, xlogy

    n = counts + rest
    top = np.divide(counts, n, out=np.full(counts.size, 0.5), where=n > 0)
    inside, outside = top.copy(), np.full(counts.size, 0.0 if lower else 1.0)
    for _ in range(60):
        middle = (inside + outside) / 2
        kept = xlogy(counts, middle) + xlog1py(rest, -middle) >= least
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return outside


def checked_draws(counts_V: ArrayLike, delta: float, *, function: str) -> Floats:
    """Read the draws of each verdict, refusing what is none."""
    counts = np.asarray(counts_V, dtype=np.float64)
    if counts.ndim != 1 or not counts.size or (counts < 0).any() or (counts % 1 != 0).any():
        raise ValueError(f"{function}: counts_V must hold whole numbers from 0 on")
    check_fraction(function, delta=delta)
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """How many replications a question gets.

    Attributes
    ----------
    delta : float
        Chance allowed, a question, of stopping at another verdict than the judge's most frequent.
    first : int
        Replications asked of every question: the block coefficients are computed from.
    most : int
        Replications no question exceeds.
    step : int
        Replications asked in each round after the first.
    width : float, optional
        Also ask on until the whole distribution is known: until no verdict's interval is wider.
    """

    delta: float = 0.05
    first: int = 5
    most: int = 100
    step: int = 1
    width: float | None = None

    def __post_init__(self) -> None:
        check_fraction("StoppingRule", delta=self.delta)
        if not 1 <= self.first <= self.most or self.step < 1:
            raise ValueError(
                f"StoppingRule: first must be from 1 to most and step at least 1, got "
                f"{self.first}, {self.most} and {self.step}"
            )
        if self.width is not None and not 0 < self.width <= 1:
            raise ValueError(
                f"StoppingRule: width must be above 0 and at most 1, got {self.width!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a rule would have asked of recorded replications."""

    # Shape (n_questions,). Replications it would have used.
    used_U: NDArray[np.intp]  # noqa: N815  a shape, not a case
    # Shape (n_questions,). Verdict it settled on; -1 where there was no stable verdict within the
    # most allowed.
    settled_U: NDArray[np.intp]  # noqa: N815
    # Shape (n_questions,). Whether that is the most frequent verdict of all recorded draws (or tied
    # for it).
    agrees_U: NDArray[np.bool_]  # noqa: N815


def mode_is_settled(counts_V: ArrayLike, *, delta: float = 0.05) -> bool:
    """Tell whether the most frequent verdict so far may be taken for the judge's own.

    Each other verdict is compared with the leader: they are settled once the prior-posterior ratio
    of an even chance, the Beta(n + 1, n' + 1) density at one half, is at most delta / (K - 1).

    Parameters
    ----------
    counts_V : array-like of int, shape (n_values,)
        Draws of each of the K verdicts that could be drawn, "no verdict" among them.
    delta : float
        Chance allowed that a wrong verdict is ever taken, however often one looks; in (0, 1).

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If there is no verdict, the counts are no whole numbers, or delta is out of range.

    References
    ----------
    .. [1] Jain et al. (2022), PAC Mode Estimation using PPR Martingale Confidence Sequences,
       arXiv:2109.05047.

    Examples
    --------
    Of seven verdicts, eleven draws of one settle it and ten do not:

    >>> [mode_is_settled([n, 0, 0, 0, 0, 0, 0]) for n in (10, 11)]
    [False, True]
    """
    counts = checked_draws(counts_V, delta, function="mode_is_settled")
    return bool(_leader_beyond_all(counts[None], delta)[0])


def least_settling(n_verdicts: int, delta: float = 0.05) -> int:
    """Tell how many draws settle a verdict that is always drawn: the fewest any question needs."""
    n = 1
    while not mode_is_settled([n, *[0] * (n_verdicts - 1)], delta=delta):
        n += 1
    return n


def next_replications(counts_V: ArrayLike, rule: StoppingRule) -> int:
    """Tell how many replications a question gets next; 0 stops it.

    Parameters
    ----------
    counts_V : array-like of int, shape (n_values,)
        Draws of each verdict that could be drawn, "no verdict" among them.
    rule : StoppingRule

    Raises
    ------
    ValueError
        If there is no verdict or the counts are no whole numbers.

    Examples
    --------
    >>> rule = StoppingRule(first=5, most=100, step=5)
    >>> next_replications([0, 0, 0], rule), next_replications([3, 1, 1], rule)
    (5, 5)
    >>> next_replications([9, 0, 0], rule)
    0
    """
    counts = checked_draws(counts_V, rule.delta, function="next_replications")
    return more_replications([int(count) for count in counts], rule)


def more_replications(counts: Sequence[int], rule: StoppingRule) -> int:
    """As :func:`next_replications`, of counts that are known to be some."""
    n = sum(counts)
    if n < rule.first:
        return rule.first - n
    first, second, *_ = *sorted(counts, reverse=True), 0
    enough = len(counts) == 1 or _pair_settles(first, second, len(counts), rule.delta)
    enough = enough and _intervals_are_narrow(np.asarray(counts, dtype=np.float64), rule)
    return 0 if enough or n >= rule.most else min(rule.step, rule.most - n)


@lru_cache(maxsize=100_000)
def _pair_settles(first: int, second: int, n_verdicts: int, delta: float) -> bool:
    """Whether a leader is told from its runner-up; the same pairs come back in every question."""
    return bool(
        _leader_beyond_all(np.array([[first, second] + [0] * (n_verdicts - 2)], float), delta)[0]
    )


def replay(draws_UR: ArrayLike, n_values: int, rule: StoppingRule) -> Replay:
    """Replay a rule on recorded replications, in the order they were drawn.

    Parameters
    ----------
    draws_UR : array-like of int, shape (n_questions, n_replications)
        Verdict of each draw, from 0 to `n_values` - 1.
    n_values : int
        Verdicts that could be drawn.
    rule : StoppingRule
        Its ``most`` may not exceed the recorded replications.

    Returns
    -------
    Replay

    Raises
    ------
    ValueError
        If the draws are no table of verdicts, or too few for the rule.

    Examples
    --------
    >>> import numpy as np
    >>> found = replay(np.zeros((1, 20), dtype=int), 2, StoppingRule(most=20))
    >>> found.used_U.tolist(), found.settled_U.tolist(), found.agrees_U.tolist()
    ([8], [0], [True])
    """
    draws = np.asarray(draws_UR)
    if draws.ndim != 2 or not np.issubdtype(draws.dtype, np.integer):
        raise ValueError("replay: draws_UR must be a table of whole numbers")
    if draws.shape[1] < rule.most or ((draws < 0) | (draws >= n_values)).any():
        raise ValueError(
            f"replay: draws_UR must hold {rule.most} verdicts or more a question, from 0 to "
            f"{n_values - 1}, got shape {draws.shape}"
        )
    chosen = draws[..., None] == np.arange(n_values)
    used = np.full(len(draws), rule.most, dtype=np.intp)
    settled = np.full(len(draws), -1, dtype=np.intp)
    asking = np.arange(len(draws))
    for n in [*range(rule.first, rule.most, rule.step), rule.most]:
        counts = chosen[asking, :n].sum(axis=1).astype(np.float64)
        is_settled = _leader_beyond_all(counts, rule.delta)
        known = is_settled & np.array(
            [_intervals_are_narrow(row, rule) for row in counts], dtype=bool
        )
        settled[asking[is_settled]] = counts[is_settled].argmax(axis=1)
        used[asking[known]] = n
        asking = asking[~known]
    whole = chosen.sum(axis=1)
    agrees = (settled >= 0) & (whole[np.arange(len(draws)), settled] == whole.max(axis=1))
    return Replay(used_U=used, settled_U=settled, agrees_U=agrees)


def _intervals_are_narrow(counts_V: Floats, rule: StoppingRule) -> bool:
    """Whether every verdict's interval is as narrow as the rule wants."""
    if rule.width is None:
        return True
    low, high = distribution_interval(counts_V, delta=rule.delta)
    return bool((high - low).max() <= rule.width)


def _leader_beyond_all(counts_UV: Floats, delta: float) -> NDArray[np.bool_]:
    """Whether each row's leader can be told from all others."""
    from scipy.special import gammaln

    if counts_UV.shape[1] == 1:
        return np.ones(len(counts_UV), dtype=bool)
    ordered = np.sort(counts_UV, axis=1)
    # The runner-up is the hardest to tell from the leader: the others follow.
    first, second = ordered[:, -1], ordered[:, -2]
    both = first + second
    log_density = gammaln(both + 2) - gammaln(first + 1) - gammaln(second + 1) - both * np.log(2.0)
    is_settled: NDArray[np.bool_] = log_density <= np.log(delta / (counts_UV.shape[1] - 1))
    return is_settled
