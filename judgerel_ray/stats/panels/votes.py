"""Votes of a panel: which verdict wins, how often it is right, and how often it would be by chance.

Shape suffixes: U = units (a question, asked once), J = judges, Q = questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod, NullMethod
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.intervals.precision import t_quantile
from judgerel_ray.stats.intervals.shares import clopper_pearson
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor

Ints = NDArray[np.int64]
_NONE = 1e-9
_EQUAL = 1e-9  # sums of confidences, added in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelVotes:
    """What a panel says of each unit.

    Attributes
    ----------
    credit_U : ndarray of float, shape (n_units,)
        Chance that its verdict is right, verdicts that tie being drawn by lot: 1 / ties, or 0.
    n_tied_U : ndarray of int, shape (n_units,)
        Verdicts with the most support: 1 where there is no tie, 0 where nobody supports any.
    """

    credit_U: Floats  # noqa: N815  a shape, not a case
    n_tied_U: Ints  # noqa: N815


def panel_votes(
    votes_UJ: ArrayLike, right_U: ArrayLike, *, weights_UJ: ArrayLike | None = None
) -> PanelVotes:
    """Count a panel's votes, unit by unit.

    Parameters
    ----------
    votes_UJ : array-like of int, shape (n_units, n_judges)
        Code of each judge's verdict; negative for none, which supports nothing.
    right_U : array-like of int, shape (n_units,)
        Code of the right verdict; negative where no verdict of any judge is.
    weights_UJ : array-like of float, shape (n_units, n_judges), optional
        What a vote counts, at least 0: a stated confidence, say; NaN counts 0. By default 1.

    Returns
    -------
    PanelVotes

    Raises
    ------
    ValueError
        If shapes differ or a weight is negative.

    Examples
    --------
    Two against one, a tie, and nobody:

    >>> found = panel_votes([[0, 0, 1], [0, 1, -1], [-1, -1, -1]], [0, 1, 0])
    >>> found.credit_U.tolist(), found.n_tied_U.tolist()
    ([1.0, 0.5, 0.0], [1, 2, 0])
    """
    votes, right = checked_votes(votes_UJ, right_U, function="panel_votes")
    weights = np.ones(votes.shape) if weights_UJ is None else np.asarray(weights_UJ, np.float64)
    if weights.shape != votes.shape:
        raise ValueError(
            f"panel_votes: weights_UJ must have shape {votes.shape}, got {weights.shape}"
        )
    weights = np.where(votes >= 0, np.nan_to_num(weights), 0.0)
    if (weights < 0).any():
        raise ValueError("panel_votes: weights_UJ must be at least 0")
    wins, n_tied_U = _winners(votes, weights)
    found = (wins & (votes == right[:, None])).any(axis=1)
    return PanelVotes(credit_U=found / np.maximum(1, n_tied_U), n_tied_U=n_tied_U)


def first_places(votes_UJ: Ints) -> Ints:
    """Give each vote the place of the first judge of the unit who cast the same.

    Verdicts may have any names and be any number; of a unit they are no more than its judges.

    Examples
    --------
    >>> first_places(np.array([[7, 3, 7], [-1, 5, -1]])).tolist()
    [[0, 1, 0], [0, 1, 0]]
    """
    first: Ints = np.full(votes_UJ.shape, -1, dtype=np.int64)
    for j in range(votes_UJ.shape[1]):
        first[(first < 0) & (votes_UJ == votes_UJ[:, [j]])] = j
    return first


def _winners(votes: Ints, weights: Floats) -> tuple[NDArray[np.bool_], Ints]:
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

    Parameters
    ----------
    values_U : array-like of float, shape (n_units,)
        Values.
    questions_U : array-like of int, shape (n_units,)
        The question of each unit, from 0 on.

    Returns
    -------
    ndarray of float, shape (n_questions,)

    Examples
    --------
    >>> question_means([1.0, 0.0, 1.0], [0, 0, 1]).tolist()
    [0.5, 1.0]
    """
    questions = np.asarray(questions_U)
    means: Floats = np.bincount(questions, np.asarray(values_U)) / np.bincount(questions)
    return means


def mean_interval(
    values_Q: ArrayLike, *, is_share: bool = True, confidence: float = 0.95
) -> Interval:
    """Compute the interval of a mean over questions.

    Parameters
    ----------
    values_Q : array-like of float, shape (n_questions,)
        Shares right of questions, or differences of them.
    is_share : bool
        Whether they are shares, hence within [0, 1]: exact where all are 0 or 1, else that of as
        many coins as vary alike. Else Student's t, which misses means near 0 and 1 too often.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval

    Examples
    --------
    >>> found = mean_interval([1.0] * 356 + [0.0] * 244)
    >>> round(found.low, 5), round(found.high, 5)
    (0.55282, 0.63293)
    >>> mean_interval([0.2], is_share=False).undefined
    'too_few_units'
    """
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
    from scipy.special import betaincinv

    n, p = values.size, float(values.mean())
    seen = np.append(values, [0.0, 1.0])
    worth = n * float(seen.mean() * (1 - seen.mean()) / seen.var())
    k, tail = p * worth, (1 - confidence) / 2
    low = 0.0 if p <= 0 else float(betaincinv(k, worth - k + 1, tail))
    high = 1.0 if p >= 1 else float(betaincinv(k + 1, worth - k, 1 - tail))
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

    Parameters
    ----------
    votes_UJ, right_U
        As for :func:`panel_votes`; codes mean the same for every question.
    questions_U : array-like of int, shape (n_units,)
        The question of each unit, from 0 on.
    weights_UJ : array-like of float, shape (n_units, n_judges), optional
        As for :func:`panel_votes`.

    Returns
    -------
    NoiseFloor
        Its p-value is a normal one, on both sides.

    Notes
    -----
    Of a sum :math:`\sum_q a_{q \pi(q)}` over a random permutation :math:`\pi` the mean is
    :math:`n \bar a` and the variance :math:`\sum d_{qr}^2 / (n - 1)`, d being a less the means of
    its row and column [1]_.

    References
    ----------
    .. [1] Hoeffding, W. (1951), A combinatorial central limit theorem.

    Examples
    --------
    >>> found = panel_floor([[0], [0], [1], [1]], [0, 0, 1, 1], [0, 1, 2, 3])
    >>> found.mean, round(found.sd, 4)
    (0.5, 0.2887)
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
    # Of the right answers, each value's part: what a verdict permuted onto a question would hit.
    known, count = np.unique(gold[gold >= 0], return_counts=True)
    place_E = np.searchsorted(known, value_E).clip(max=max(0, known.size - 1))
    is_known = (known[place_E] == value_E) if known.size else np.zeros(value_E.size, dtype=bool)
    q_E, place_E, share_E = q_E[is_known], place_E[is_known], share_E[is_known]
    part_V = count / n
    row_Q = np.bincount(q_E, share_E * part_V[place_E], minlength=n)
    column_V = np.bincount(place_E, share_E, minlength=known.size) / n
    mean = float(row_Q.mean())
    squares = n * float((share_E**2 * part_V[place_E]).sum()) - n * float((row_Q**2).sum())
    squares += n**2 * mean**2 - n**2 * float(column_V**2 @ part_V)
    sd = sqrt(max(0.0, squares) / (n - 1)) / n
    value = float(share_E[known[place_E] == gold[q_E]].sum()) / n
    p = erfc(abs(value - mean) / sd / sqrt(2)) if sd > 0 else 1.0
    kind = NullMethod.VERDICTS_CLOSED_FORM
    return NoiseFloor(mean=mean, sd=sd, p=p, n_permutations=0, kind=kind)


def _panel_verdicts(votes: Ints, questions: Ints, weights: Floats) -> tuple[Ints, Ints, Floats]:
    """What a panel says of each question: question, value, and the share of its units it wins."""
    wins, n_tied = _winners(votes, weights)
    once = wins & (first_places(votes) == np.arange(votes.shape[1]))
    unit_E, judge_E = np.nonzero(once)
    n_units = np.bincount(questions)
    share = 1.0 / n_tied[unit_E] / n_units[questions[unit_E]]
    pairs = np.stack([questions[unit_E], votes[unit_E, judge_E]], axis=1)
    found, place = np.unique(pairs, axis=0, return_inverse=True)
    summed: Floats = np.bincount(place.ravel(), share, minlength=len(found)).astype(np.float64)
    return found[:, 0], found[:, 1], summed


def checked_votes(votes_UJ: ArrayLike, right_U: ArrayLike, *, function: str) -> tuple[Ints, Ints]:
    """Give votes and right verdicts their types.

    Raises
    ------
    ValueError
        If the votes have not two dimensions, or there is not one right verdict a unit.

    Examples
    --------
    >>> checked_votes([[0, 1]], [1], function="panel_votes")[0].shape
    (1, 2)
    """
    votes: Ints = np.asarray(votes_UJ, dtype=np.int64)
    right: Ints = np.asarray(right_U, dtype=np.int64)
    if votes.ndim != 2 or right.shape != votes.shape[:1]:
        raise ValueError(
            f"{function}: expected votes_UJ in 2 dimensions and one right_U a unit, got shapes "
            f"{votes.shape} and {right.shape}"
        )
    return votes, right
