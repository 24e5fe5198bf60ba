"""Panels of judges: which verdict wins a vote, how often it is right, and what the panel is worth.

A panel's worth is the number of independent judges whose votes are right as often; what each
further judge adds is exact: the mean over all panels that can be drawn from those there are.

Shape suffixes: N, U = questions (a question, asked once), J = judges, Q = questions, K = sizes of
panel (1 to J), V = distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import comb, erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod, NullMethod
from judgerel_ray.stats.agreement.majority import majority_vote
from judgerel_ray.stats.arguments import check_at_least_1, check_fraction, check_shape
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.generalizability.component import component_interval
from judgerel_ray.stats.intervals.ends import t_quantile, trial_ends
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.intervals.mixing import drawn_together
from judgerel_ray.stats.intervals.shares import clopper_pearson
from judgerel_ray.stats.null.closed_null import shuffled_right
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor

Ints = NDArray[np.int64]
_NONE = 1e-9
_EQUAL = 1e-9  # sums of confidences, added in another order
_NO_VARIANCE = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelVotes:
    """What a panel says of each unit."""

    # Shape (n_units,). Chance that its verdict is right, verdicts that tie being drawn by lot: 1 /
    # ties, or 0.
    credit_U: Floats  # noqa: N815  a shape, not a case
    # Shape (n_units,). Verdicts with the most support: 1 where there is no tie, 0 where nobody
    # supports any.
    n_tied_U: Ints  # noqa: N815


def panel_votes(
    votes_UJ: ArrayLike, right_U: ArrayLike, *, weights_UJ: ArrayLike | None = None
) -> PanelVotes:
    """Count a panel's votes, unit by unit.

    Examples
    --------
    Two against one, a tie, and nobody:

    >>> found = panel_votes([[0, 0, 1], [0, 1, -1], [-1, -1, -1]], [0, 1, 0])
    >>> found.credit_U.tolist(), found.n_tied_U.tolist()
    ([1.0, 0.5, 0.0], [1, 2, 0])
    """
    votes, right = checked_votes(votes_UJ, right_U, function="panel_votes")
    weights = np.ones(votes.shape) if weights_UJ is None else np.asarray(weights_UJ, np.float64)
    check_shape("panel_votes", votes.shape, weights_UJ=weights)
    weights = np.where(votes >= 0, np.nan_to_num(weights), 0.0)
    if (weights < 0).any():
        raise ValueError("panel_votes: weights_UJ must be at least 0")
    wins, n_tied_U = _judges_with_most_support(votes, weights)
    found = (wins & (votes == right[:, None])).any(axis=1)
    return PanelVotes(credit_U=found / np.maximum(1, n_tied_U), n_tied_U=n_tied_U)


def first_places(votes_UJ: Ints) -> Ints:
    """Give each vote the place of the first judge of the unit who cast the same.

    Verdicts may have any names and be any number; of a unit they are no more than its judges.
    """
    first: Ints = np.full(votes_UJ.shape, -1, dtype=np.int64)
    for j in range(votes_UJ.shape[1]):
        first[(first < 0) & (votes_UJ == votes_UJ[:, [j]])] = j
    return first


def _judges_with_most_support(votes: Ints, weights: Floats) -> tuple[NDArray[np.bool_], Ints]:
    """The judges whose verdict has the most support (units, judges), and how many verdicts tie."""
    support, alike = np.zeros(votes.shape), np.zeros(votes.shape)
    for other in range(votes.shape[1]):
        same = (votes == votes[:, [other]]) & (votes >= 0)
        support += same * weights[:, [other]]
        alike += same
    most = support.max(axis=1, initial=0.0)
    wins = (support >= most[:, None] - _EQUAL) & (votes >= 0) & (most > 0)[:, None]
    n_tied = np.divide(wins, alike, out=np.zeros(votes.shape), where=wins).sum(axis=1)
    return wins, np.rint(n_tied).astype(np.int64)


def question_means(values_U: ArrayLike, questions_U: ArrayLike) -> Floats:
    """Average what was seen of each question, so that every question counts once.

    Shape (n_questions,).
    """
    questions = np.asarray(questions_U)
    return np.bincount(questions, np.asarray(values_U)) / np.bincount(questions)


def mean_interval(
    values_Q: ArrayLike, *, is_share: bool = True, confidence: float = 0.95
) -> Interval:
    """Compute the interval of a mean over questions."""
    values: Floats = np.asarray(values_Q, dtype=np.float64)
    n = values.size
    if is_share and n:
        if np.isin(values, (0.0, 1.0)).all():
            return clopper_pearson(int(values.sum()), n, confidence=confidence)
        return _share_interval(values, confidence)
    if n < 2:
        return Interval(undefined="too_few_units", n_questions=n)
    mean, half = float(values.mean()), float(values.std(ddof=1)) / sqrt(n)
    half *= t_quantile(n - 1, confidence)
    if half < _NONE:
        return Interval(undefined="no_spread", n_questions=n)
    return Interval(
        low=mean - half, high=mean + half, kind=IntervalMethod.T_QUESTIONS, n_questions=n
    )


def _share_interval(values: Floats, confidence: float) -> Interval:
    """Clopper and Pearson's ends for as many coins as vary like these shares.

    One question more that is all right and one all wrong stand for what few questions hide.
    """
    n, p = values.size, float(values.mean())
    seen = np.append(values, [0.0, 1.0])
    worth = n * float(seen.mean() * (1 - seen.mean()) / seen.var())
    low, high = trial_ends(p * worth, worth, confidence)
    return Interval(low=low, high=high, kind=IntervalMethod.BINOMIAL_BY_QUESTION, n_questions=n)


def panel_floor(
    votes_UJ: ArrayLike,
    right_U: ArrayLike,
    questions_U: ArrayLike,
    *,
    weights_UJ: ArrayLike | None = None,
) -> NoiseFloor:
    r"""Compute what a panel's accuracy would be, were its verdicts permuted at random.

    All verdicts on one question go together to another question's right answer; mean and
    variance of such a permutation are known in closed form.

    Notes
    -----
    Of a sum :math:`\sum_q a_{q \pi(q)}` over a random permutation :math:`\pi` the mean is
    :math:`n \bar a` and the variance :math:`\sum d_{qr}^2 / (n - 1)`, d being a less the means of
    its row and column [1]_.

    References
    ----------
    .. [1] Hoeffding, W. (1951), A combinatorial central limit theorem.
    """
    votes, right = checked_votes(votes_UJ, right_U, function="panel_floor")
    questions = np.asarray(questions_U)
    n = int(questions.max()) + 1 if questions.size else 0
    if n < 2:
        return NOTHING
    weights = np.ones(votes.shape) if weights_UJ is None else np.asarray(weights_UJ, np.float64)
    gold = np.full(n, -1)
    gold[questions] = right
    q_E, value_E, share_E = _panel_verdicts(
        votes, questions, np.where(votes >= 0, np.nan_to_num(weights), 0)
    )
    known = np.unique(gold[gold >= 0])
    kept_E = np.isin(value_E, known)
    n_right, mean, sd = shuffled_right(
        q_E[kept_E], np.searchsorted(known, value_E[kept_E]), share_E[kept_E],
        np.where(gold >= 0, np.searchsorted(known, gold), -1),
    )  # fmt: skip
    p = erfc(abs(n_right - mean) / sd / sqrt(2)) if sd > 0 else 1.0
    kind = NullMethod.VERDICTS_CLOSED_FORM
    return NoiseFloor(mean=mean / n, sd=sd / n, p=p, kind=kind)


def _panel_verdicts(votes: Ints, questions: Ints, weights: Floats) -> tuple[Ints, Ints, Floats]:
    """What a panel says of each question: question, value, and the share of its units it wins."""
    wins, n_tied = _judges_with_most_support(votes, weights)
    once = wins & (first_places(votes) == np.arange(votes.shape[1]))
    unit_E, judge_E = np.nonzero(once)
    n_units = np.bincount(questions)
    share = 1.0 / n_tied[unit_E] / n_units[questions[unit_E]]
    pairs = np.stack([questions[unit_E], votes[unit_E, judge_E]], axis=1)
    found, place = np.unique(pairs, axis=0, return_inverse=True)
    summed: Floats = np.bincount(place.ravel(), share, minlength=len(found)).astype(np.float64)
    return found[:, 0], found[:, 1], summed


def checked_votes(votes_UJ: ArrayLike, right_U: ArrayLike, *, function: str) -> tuple[Ints, Ints]:
    """Give votes and right verdicts their types."""
    votes: Ints = np.asarray(votes_UJ, dtype=np.int64)
    right: Ints = np.asarray(right_U, dtype=np.int64)
    if votes.ndim != 2 or right.shape != votes.shape[:1]:
        raise ValueError(
            f"{function}: expected votes_UJ in 2 dimensions and one right_U a unit, got shapes "
            f"{votes.shape} and {right.shape}"
        )
    return votes, right


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveJudges:
    """What a panel is worth.

    Attributes
    ----------
    n_judges : int
        Judges whose errors vary.
    n_questions : int
        Questions that all of them judged.
    correlation : float or None
        Mean correlation of the errors of two judges.
    value : float or None
        Independent judges that would do as well: J / (1 + (J - 1) correlation); None where
        `undefined` is set.
    low, high : float or None
        Its interval, by leaving questions out.
    most : float or None
        What infinitely many judges of this kind would be worth: 1 / correlation; None at or
        below 0.
    undefined : str or None
        "too_few_judges", "too_few_units", or "no_bound": errors so opposed that they cancel.
    """

    n_judges: int
    n_questions: int
    correlation: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    most: float | None = None
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelStep:
    """A panel of some size.

    Attributes
    ----------
    n_judges : int
        Its size.
    agreement : float
        Chance that the majorities of two such panels of other judges of this kind agree.
    gain : float or None
        What the last judge added to it; None for the first.
    """

    n_judges: int
    agreement: float
    gain: float | None


def effective_judges(
    errors_NJ: ArrayLike, *, within_NJ: ArrayLike | None = None, confidence: float = 0.95
) -> EffectiveJudges:
    r"""Compute how many independent judges a panel is worth.

    .. math:: n_{eff} = J / (1 + (J - 1) \bar\rho)

    Parameters
    ----------
    errors_NJ : array-like of float, shape (n_questions, n_judges)
        Errors of each judge on each question: score less the true one, or 1 where the verdict is
        wrong. Means of several judgments will do, with `within_NJ`. Rows with NaN are left out, and
        so are judges that never vary.
    within_NJ : array-like of float, shape (n_questions, n_judges), optional
        Variance of the judgments behind each mean, so that it is single judgments whose
        correlation is told; by default 0.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    EffectiveJudges

    Raises
    ------
    ValueError
        If `errors_NJ` is not two-dimensional, `within_NJ` is of another shape, or the confidence
        is not in (0, 1).

    Examples
    --------
    Two judges that always err together are one:

    >>> effective_judges([[1, 1], [0, 0], [1, 1], [0, 0]]).value
    1.0
    """
    errors: Floats = np.asarray(errors_NJ, dtype=np.float64)
    if errors.ndim != 2:
        raise ValueError(f"effective_judges: errors_NJ must have 2 dimensions, got {errors.ndim}")
    check_fraction("effective_judges", confidence=confidence)
    within = np.zeros_like(errors) if within_NJ is None else np.asarray(within_NJ, np.float64)
    check_shape("effective_judges", errors.shape, within_NJ=within)
    rows = ~np.isnan(errors).any(axis=1)
    errors, within = errors[rows], within[rows]
    if len(errors):
        judges = (np.ptp(errors, axis=0) > 0) | (within > 0).any(axis=0)
        errors, within = errors[:, judges], within[:, judges]
    n, n_judges = errors.shape
    bare = EffectiveJudges(n_judges=n_judges, n_questions=n)
    if n < 2 or n_judges < 2:
        return replace(bare, undefined="too_few_units" if n < 2 else "too_few_judges")
    correlation, left_out_N = _judge_error_correlations(errors, within)
    worth = 1 + (n_judges - 1) * correlation
    if worth < 1e-9:
        return replace(bare, correlation=correlation, undefined="no_bound")
    low, high = component_interval(correlation, [(left_out_N, 1.0)], confidence=confidence)
    return replace(
        bare,
        correlation=correlation,
        value=n_judges / worth,
        low=None if high is None else _panel_worth_bound(n_judges, min(1.0, high)),
        high=_panel_worth_bound(n_judges, low),
        most=1 / correlation if correlation > 0 else None,
    )


def panel_steps(counts_UJV: ArrayLike, *, most: int) -> tuple[PanelStep, ...]:
    """Compute what each further judge adds to the agreement of majority verdicts.

    Every judge of a panel judges once. Judges count as drawn from one kind: those of the counts,
    and others like them.

    Parameters
    ----------
    counts_UJV : array-like of int, shape (n_units, n_judges, n_values)
        How often each judge gave each value to each question.
    most : int
        Largest panel.

    Returns
    -------
    tuple of PanelStep
        Panels of 1, 2, ... `most`; empty where no question has two judges. Ties are split evenly,
        so a second judge adds nothing: what counts is the next odd size.

    Raises
    ------
    ValueError
        If the counts have not three dimensions or are negative, or `most` is below 1.

    Notes
    -----
    The agreement of one judgment with one of another judge is unbiased; larger panels follow from
    shares drawn together until they show it, as in :func:`supported_shares`.

    Examples
    --------
    >>> steps = panel_steps([[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]], most=3)
    >>> [round(step.agreement, 3) for step in steps]
    [0.667, 0.667, 0.76]
    """
    check_at_least_1("panel_steps", most=most)
    counts: Floats = np.asarray(counts_UJV, dtype=np.float64)
    if counts.ndim != 3 or (counts < 0).any():
        raise ValueError("panel_steps: counts_UJV must be counts in 3 dimensions")
    m_UJ = counts.sum(axis=2)
    shares_UJV = np.divide(
        counts, m_UJ[..., None], out=np.zeros_like(counts), where=m_UJ[..., None] > 0
    )
    n_U = (m_UJ > 0).sum(axis=1)
    shares_UJV, n_U = shares_UJV[n_U >= 2], n_U[n_U >= 2].astype(np.float64)
    if not n_U.size:
        return ()
    sums_UV = shares_UJV.sum(axis=1)
    pairs_U = (sums_UV**2).sum(axis=1) - (shares_UJV**2).sum(axis=(1, 2))
    disagreement = float(1 - (pairs_U / (n_U * (n_U - 1))).mean())
    shares = drawn_together(sums_UV / n_U[:, None], disagreement)
    agreements = [majority_vote(shares, k).agreement for k in range(1, most + 1)]
    gains = [None, *(after - before for before, after in pairwise(agreements))]
    return tuple(
        PanelStep(n_judges=k, agreement=agreement, gain=gain)
        for k, (agreement, gain) in enumerate(zip(agreements, gains, strict=True), start=1)
    )


def _judge_error_correlations(errors: Floats, within: Floats) -> tuple[float, Floats]:
    """Mean correlation of the errors of two judges, and that without each question.

    Pairs of judges may be more than memory holds: their sum is the square of a sum.
    """
    n, n_judges = errors.shape
    centred = errors - errors.mean(axis=0)
    # One row a question that is left out, and last none.
    out, out_within = (np.vstack([one, np.zeros(n_judges)]) for one in (centred, within))
    left = np.append(np.full(n, n - 1.0), n)[:, None]
    variances = ((centred**2).sum(axis=0) - out**2) / left - (out / left) ** 2
    variance = variances + (within.sum(axis=0) - out_within) / left
    scale = 1 / np.sqrt(np.where(variance > _NO_VARIANCE, variance, np.nan))
    root = np.linalg.qr(centred).R  # its squares are those of the errors, in fewer rows
    sums = ((scale @ root.T) ** 2).sum(axis=1) - (scale * out).sum(axis=1) ** 2
    pairs = sums / left[:, 0] - (scale * out / left).sum(axis=1) ** 2
    means = (pairs - (variances * scale**2).sum(axis=1)) / (n_judges * (n_judges - 1))
    return float(means[-1]), means[:-1]


def _panel_worth_bound(n_judges: int, correlation: float | None) -> float | None:
    """J / (1 + (J - 1) rho); None where there is no bound."""
    if correlation is None or 1 + (n_judges - 1) * correlation < 1e-9:
        return None
    return n_judges / (1 + (n_judges - 1) * correlation)


def random_panels(votes_UJ: ArrayLike, right_U: ArrayLike) -> Floats:
    """Compute how often the majority of panels of each size is right, over all panels there are.

    Shape (n_units, n_judges). Column k - 1: mean over all panels of k judges; verdicts that tie are
    drawn by lot.

    Notes
    -----
    No panel is drawn: a panel's votes are hypergeometric, and how many verdicts tie is counted by
    a generating function, once for each pattern of counts.
    """
    votes, right = checked_votes(votes_UJ, right_U, function="random_panels")
    n_judges = votes.shape[1]
    first = np.where(votes >= 0, first_places(votes), -1)
    counts = np.stack([(first == j).sum(axis=1) for j in range(n_judges)], axis=1)
    is_right = (votes == right[:, None]) & (right >= 0)[:, None]
    # The right verdict's votes, then those of all others, the most first: units alike in these
    # are alike in all.
    place = np.where(is_right, first, -1).max(axis=1, initial=-1)
    known = np.flatnonzero(place >= 0)
    counts[known, place[known]] = 0
    others = -np.sort(-counts, axis=1)
    patterns = np.column_stack([is_right.sum(axis=1), others])
    distinct, pattern_U = np.unique(patterns, axis=0, return_inverse=True)
    shares = [
        _right_shares(int(row[0]), tuple(int(n) for n in row[:0:-1] if n), n_judges)
        for row in distinct
    ]
    return np.array(shares).reshape(-1, n_judges)[pattern_U.ravel()]


@lru_cache(maxsize=4096)
def _right_shares(n_right: int, others: tuple[int, ...], n_judges: int) -> tuple[float, ...]:
    """Shares right of panels of 1, 2, ... judges, of whom so many give each verdict."""
    silent = n_judges - n_right - sum(others)
    ways = [0.0] * n_judges
    for g in range(1, n_right + 1):
        for votes, ties, count in _outvoting_ways(others, g):
            for absent in range(silent + 1):
                size = g + votes + absent
                many = comb(n_right, g) * count * comb(silent, absent)
                ways[size - 1] += many / (1 + ties)
    return tuple(way / comb(n_judges, size) for size, way in enumerate(ways, start=1))


@lru_cache(maxsize=65536)
def _outvoting_ways(others: tuple[int, ...], g: int) -> tuple[tuple[int, int, int], ...]:
    """Ways in which no other verdict gets more than `g` votes: votes, ties with it, count."""
    found: dict[tuple[int, int], int] = {(0, 0): 1}
    for n in others:
        grown: dict[tuple[int, int], int] = {}
        for (votes, ties), count in found.items():
            for x in range(min(n, g) + 1):
                key = (votes + x, ties + (x == g))
                grown[key] = grown.get(key, 0) + count * comb(n, x)
        found = grown
    return tuple((votes, ties, count) for (votes, ties), count in found.items())
