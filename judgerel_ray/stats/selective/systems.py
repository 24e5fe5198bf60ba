"""Two systems on the same questions: whose answers are right more often.

Over all questions (McNemar's exact test, and the difference of shares right), or where each accepts
the same share of them, its surest answers first.

Shape suffixes: N = judgments, Q, C = questions, B = resamples, T = distinct scores, G = shares
accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_fraction, check_one_length, clusters_of
from judgerel_ray.stats.counts import Floats, divide, slices
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.interval import bootstrap_weights
from judgerel_ray.stats.selective.discrimination import checked_scores


def mcnemar_exact(b: int, c: int) -> float:
    """Compute the two-sided p-value of paired verdicts that are right or wrong.

    Questions on which both are right, or both wrong, say nothing about which is better; were they
    equally good, each of the others would favour either by the toss of a coin.

    Parameters
    ----------
    b, c : int
        Questions on which the first alone, and the second alone, is right.

    Returns
    -------
    float
        In (0, 1]; 1 where there is no such question.

    Raises
    ------
    ValueError
        If a number is negative or not whole.

    Notes
    -----
    Join the two by question first: rows in different orders make every pair a false one.

    References
    ----------
    .. [1] McNemar, Q. (1947), doi:10.1007/BF02295996.

    Examples
    --------
    Twice the chance of 1 head or fewer in 8 tosses, (1 + 8) / 256:

    >>> mcnemar_exact(1, 7)
    0.0703125
    """
    from scipy.special import bdtr

    if b < 0 or c < 0 or b % 1 or c % 1:
        raise ValueError(f"mcnemar_exact: expected whole numbers from 0 on, got {b!r} and {c!r}")
    return min(1.0, 2.0 * float(bdtr(min(b, c), b + c, 0.5)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedAccuracy:
    """Accuracy of two systems on the same questions, second minus first."""

    first: float | None  # None without questions.
    second: float | None
    difference: float | None
    low: float | None  # Ends of the interval of the difference; None where it has none.
    high: float | None
    # Questions that both, one alone, or neither got right; None where a question has more than one
    # answer.
    both: int | None
    first_only: int | None
    second_only: int | None
    neither: int | None
    # Exact McNemar's; with several answers a question Student's, of the mean difference.
    p: float | None
    n_questions: int
    method: str  # How interval and p-value were made, in words.


def paired_accuracy(
    first_Q: ArrayLike, second_Q: ArrayLike, *, confidence: float = 0.95
) -> PairedAccuracy:
    """Compare how often two systems are right on the same questions.

    With one answer a question the interval is Wald's with one question added to each kind that
    differs [1]_, which has ends where no answers differ, too; else Student's t.

    Shapes: ``first_Q, second_Q`` (n_questions,).

    References
    ----------
    .. [1] Bonett, D. G. and Price, R. M. (2012), doi:10.3102/1076998611411915.
    """
    first, second = (np.asarray(one, dtype=np.float64) for one in (first_Q, second_Q))
    check_one_length("paired_accuracy", first_Q=first, second_Q=second)
    if not all(((one >= 0) & (one <= 1)).all() for one in (first, second)):
        raise ValueError("paired_accuracy: shares must be in [0, 1]")
    check_fraction("paired_accuracy", confidence=confidence)
    n = first.size
    single = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    counts: tuple[int | None, ...] = (None,) * 4
    if single:
        codes = np.bincount((2 * first + second).astype(int), minlength=4)
        neither, second_only, first_only, both = (int(one) for one in codes)
        counts = (both, first_only, second_only, neither)
        ends = _adjusted_wald(first_only, second_only, n, confidence)
        p: float | None = mcnemar_exact(first_only, second_only)
        method = "exact McNemar; adjusted Wald"
    else:
        *ends, p = _student_test_of_difference(second - first, confidence)
        method = "t over questions"
    return PairedAccuracy(
        first=float(first.mean()) if n else None,
        second=float(second.mean()) if n else None,
        difference=float((second - first).mean()) if n else None,
        low=ends[0] if n else None, high=ends[1] if n else None,
        both=counts[0], first_only=counts[1], second_only=counts[2], neither=counts[3],
        p=p if n else None, n_questions=n, method=method,
    )  # fmt: skip


def _adjusted_wald(
    first_only: int, second_only: int, n: int, confidence: float
) -> list[float | None]:
    """Bonett and Price's ends for the difference of paired shares."""
    from statistics import NormalDist

    up, down = (second_only + 1) / (n + 2), (first_only + 1) / (n + 2)
    error = float(np.sqrt((up + down - (up - down) ** 2) / (n + 2)))
    half = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return [max(-1.0, up - down - half), min(1.0, up - down + half)]


def _student_test_of_difference(difference_Q: Floats, confidence: float) -> list[float | None]:
    """Ends and two-sided p-value of a mean difference; nothing where questions do not differ."""
    from scipy.special import stdtr

    n = difference_Q.size
    if n < 2 or np.ptp(difference_Q) < 1e-12:
        return [None, None, None]
    mean, error = float(difference_Q.mean()), float(difference_Q.std(ddof=1) / np.sqrt(n))
    half = t_quantile(n - 1, confidence) * error
    p = 2 * float(stdtr(n - 1, -abs(mean) / error))
    return [max(-1.0, mean - half), min(1.0, mean + half), p]


_CELLS = 4_000_000  # weights held at once: 32 MB
REACHED = 1e-9
"""How far a share may exceed what can be accepted, for rounding alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemAnswers:
    """Answers of one system: the surer, the sooner accepted."""

    # NaN is never accepted.
    scores_N: Floats  # noqa: N815  a shape, not a case
    correct_N: NDArray[np.bool_]  # noqa: N815
    # The question of each; by these two systems are joined.
    questions_N: NDArray[np.generic]  # noqa: N815


def checked_answers(
    scores_N: ArrayLike, correct_N: ArrayLike, questions_N: ArrayLike | None = None
) -> SystemAnswers:
    """Take answers of a system."""
    scores, correct = checked_scores(scores_N, correct_N, function="checked_answers")
    questions = clusters_of(
        questions_N, scores.size, function="checked_answers", argument="questions_N"
    )
    return SystemAnswers(scores_N=scores, correct_N=correct, questions_N=questions)


class OrderedAnswers:
    """Answers to common questions, the surest first, summed for any weights of the questions.

    Attributes
    ----------
    reach : float
        Share of the answers that can be accepted: those with a score.
    """

    def __init__(self, one: SystemAnswers, common: NDArray[np.generic]) -> None:
        kept = np.isin(one.questions_N, common)
        question = np.searchsorted(common, one.questions_N[kept])
        scores, wrong = one.scores_N[kept], ~one.correct_N[kept]
        self._rows_C = np.bincount(question, minlength=common.size).astype(np.float64)
        there = np.flatnonzero(~np.isnan(scores))
        order = there[np.argsort(-scores[there], kind="stable")]
        self._question, self._wrong = question[order], wrong[order].astype(np.float64)
        self._last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
        self.reach = order.size / scores.size if scores.size else 0.0

    def questions_with(self, *, wrong: bool) -> NDArray[np.intp]:
        """Give the places of the questions that have a wrong, or a right, answer with a score."""
        return np.unique(self._question[(self._wrong > 0) == wrong])

    def _steps(self, weights_BC: Floats) -> tuple[Floats, Floats]:
        """Accepted and wrong ones up to each distinct score, from 0 on, (B, T + 1)."""
        parts = []
        for some in slices(len(weights_BC), self._question.size, _CELLS):
            weight = weights_BC[some][:, self._question]
            sums = [np.cumsum(one, axis=1)[:, self._last] for one in (weight, weight * self._wrong)]
            parts.append(np.pad(sums, ((0, 0), (0, 0), (1, 0))))
        accepted, errors = np.concatenate(parts, axis=1)
        return accepted, errors

    def errors(self, weights_BC: Floats, grid_G: Floats) -> Floats:
        """Compute the share wrong where each share is accepted; NaN out of reach, (B, G)."""
        accepted, errors = self._steps(weights_BC)
        everything = weights_BC @ self._rows_C
        found = np.full((len(weights_BC), grid_G.size), np.nan)
        row = np.arange(len(weights_BC))
        for place, share in enumerate(grid_G):
            wanted = share * everything
            after = (accepted < (wanted - REACHED)[:, None]).sum(axis=1)
            inside = (after < accepted.shape[1]) & (wanted > 0)
            after = np.clip(after, 1, accepted.shape[1] - 1)
            before = after - 1
            width = accepted[row, after] - accepted[row, before]
            part = (wanted - accepted[row, before]) / np.where(width > 0, width, 1.0)
            step = errors[row, after] - errors[row, before]
            wrong = errors[row, before] + part * step
            found[inside, place] = (wrong / np.where(wanted > 0, wanted, 1.0))[inside]
        return found


SHARES: tuple[float, ...] = tuple(round(0.05 * step, 2) for step in range(1, 21))
"""Shares of all questions accepted at which systems are compared unless others are asked for."""
_MOST_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualAcceptance:
    """Errors of two systems at the same share accepted, second minus first.

    References
    ----------
    .. [1] Hesterberg, T. (2015), What teachers should know about the bootstrap,
       doi:10.1080/00031305.2015.1089789.
    """

    # Shares of all answers that both can accept.
    acceptance_G: Floats  # noqa: N815
    # Share wrong among the accepted of each, and the difference.
    first_G: Floats  # noqa: N815
    second_G: Floats  # noqa: N815
    value_G: Floats  # noqa: N815
    # Percentile interval of the difference, questions drawn anew, widened for few of them that
    # either system got wrong (or right, if fewer) [1]_; NaN where there is none, or nothing varies.
    low_G: Floats  # noqa: N815
    high_G: Floats  # noqa: N815
    # Mean difference over those shares that have an interval, its own, and its two-sided p-value:
    # twice the share of resamples on the other side of 0; where none of them is, Student's by their
    # spread.
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    p: float | None
    n_questions: int  # Questions that both were asked.
    # "no_common_questions", "nothing_accepted" where the two have no share in common.
    undefined: str | None = None


def equal_acceptance(
    first: SystemAnswers,
    second: SystemAnswers,
    *,
    shares: Sequence[float] = SHARES,
    n_resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> EqualAcceptance:
    """Compare two systems where each accepts the same share of its answers, the surest first.

    The two are joined by question, whatever the order of their rows, and a question is drawn for
    both at once. A share that falls inside a tie takes of the tied answers at random, which is an
    operating point one can have: the expected error is given.

    Parameters
    ----------
    first, second : SystemAnswers
        From :func:`.checked_answers`; questions that only one of them was asked are left out.
    shares : sequence of float
        Shares accepted of all answers, in (0, 1].
    n_resamples : int
        At least 1.
    confidence : float
        Of the intervals, in (0, 1).
    seed : int
        Of the draws; equal seeds give equal digits.

    Returns
    -------
    EqualAcceptance

    Raises
    ------
    ValueError
        If a choice is out of range.

    Examples
    --------
    >>> from judgerel_ray.stats.selective.systems import checked_answers
    >>> surer = checked_answers([0.9, 0.8, 0.2, 0.1], [True, True, False, False], list("abcd"))
    >>> other = checked_answers([0.9, 0.8, 0.2, 0.1], [True, True, False, False], list("dcba"))
    >>> found = equal_acceptance(surer, other, shares=[0.5, 1.0])
    >>> found.first_G.tolist(), found.second_G.tolist(), found.mean
    ([0.0, 0.5], [0.0, 0.5], 0.0)
    """
    if not 0 < confidence < 1 or n_resamples < 1 or not all(0 < one <= 1 for one in shares):
        raise ValueError(
            "equal_acceptance: confidence must be in (0, 1), n_resamples at least 1 and shares in "
            f"(0, 1], got {confidence!r}, {n_resamples!r} and {list(shares)!r}"
        )
    common = np.intersect1d(first.questions_N, second.questions_N)
    sides = [OrderedAnswers(one, common) for one in (first, second)]
    reach = min(side.reach for side in sides)
    grid = np.array([one for one in sorted(set(shares)) if one <= reach + REACHED])
    if not common.size or not grid.size:
        why = "nothing_accepted" if common.size else "no_common_questions"
        nothing = np.zeros(0)
        return EqualAcceptance(
            acceptance_G=nothing, first_G=nothing, second_G=nothing, value_G=nothing,
            low_G=nothing, high_G=nothing, mean=None, mean_low=None, mean_high=None, p=None,
            n_questions=common.size, undefined=why,
        )  # fmt: skip
    whole = np.ones((1, common.size))
    first_G, second_G = (side.errors(whole, grid)[0] for side in sides)
    weights = bootstrap_weights(common.size, n_resamples=n_resamples, seed=seed)
    drawn_BG = np.concatenate(
        [sides[1].errors(weight, grid) - sides[0].errors(weight, grid) for weight in weights]
    )
    n_deciding = _n_deciding_questions(sides)
    low_G, high_G = _bootstrap_percentile_ends(drawn_BG, confidence, n_deciding)
    # At the very end of the reach half of the resamples have nothing to say.
    known = ~np.isnan(low_G)
    if not known.any():
        known[:] = True
    there_BG = ~np.isnan(drawn_BG[:, known])
    sums_B = np.nansum(drawn_BG[:, known], axis=1)
    means_B = divide(sums_B, there_BG.sum(axis=1))
    (mean_low,), (mean_high,) = _varying_bootstrap_ends(
        *_bootstrap_percentile_ends(means_B[:, None], confidence, n_deciding)
    )
    low_G, high_G = _varying_bootstrap_ends(low_G, high_G)
    value = second_G - first_G
    return EqualAcceptance(
        acceptance_G=grid, first_G=first_G, second_G=second_G, value_G=value, low_G=low_G,
        high_G=high_G, mean=float(value[known].mean()),
        mean_low=None if np.isnan(mean_low) else float(mean_low),
        mean_high=None if np.isnan(mean_high) else float(mean_high),
        p=_bootstrap_p_value(means_B, n_deciding), n_questions=common.size,
    )  # fmt: skip


def _n_deciding_questions(sides: Sequence[OrderedAnswers]) -> int:
    """One more than the questions with a wrong answer of either, or with a right one if fewer."""
    wrong, right = (
        np.unique(np.concatenate([side.questions_with(wrong=kind) for side in sides])).size
        for kind in (True, False)
    )
    return 1 + min(wrong, right)


def _bootstrap_percentile_ends(
    drawn_BG: Floats, confidence: float, n: int
) -> tuple[Floats, Floats]:
    """Percentiles by column; NaN where more than one in twenty resamples have no value.

    Resamples of n questions spread as n - 1 would, and have no t: percentiles further out make up
    for both.
    """
    from scipy.special import ndtr

    low, high = np.full((2, drawn_BG.shape[1]), np.nan)
    if n < 2:
        return low, high
    tail = float(ndtr(-np.sqrt(n / (n - 1)) * t_quantile(n - 1, confidence)))
    known = (~np.isnan(drawn_BG)).mean(axis=0) >= 1 - _MOST_UNDEFINED
    if known.any():
        low[known], high[known] = np.nanquantile(drawn_BG[:, known], [tail, 1 - tail], axis=0)
    return low, high


def _varying_bootstrap_ends(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends that are apart: resamples in which nothing varies prove nothing."""
    flat = high - low < 1e-12
    return np.where(flat, np.nan, low), np.where(flat, np.nan, high)


def _bootstrap_p_value(values_B: Floats, n: int) -> float | None:
    """Twice the smaller share of resamples at or beyond 0, as the ends have it."""
    from scipy.special import stdtr

    values = values_B[~np.isnan(values_B)]
    if n < 2 or not values.size or float(np.ptp(values)) < 1e-12:
        return None
    smaller = min(int((values <= 0).sum()), int((values >= 0).sum()))
    if not smaller:
        # Counts end at 1 of all resamples, which no family of comparisons survives: the tail is
        # Student's from there on.
        far = stdtr(n - 1, -abs(values.mean()) / values.std() * np.sqrt((n - 1) / n))
        return min(2 * float(far), _two_sided_share(1 / (1 + values.size), n))
    share = min(0.5, (1 + smaller) / (1 + int(values.size)))
    return _two_sided_share(share, n)


def _two_sided_share(share: float, n: int) -> float:
    """Twice a share of resamples, as wide as few questions make it."""
    from scipy.special import ndtri, stdtr

    return min(1.0, 2 * float(stdtr(n - 1, ndtri(share) * np.sqrt((n - 1) / n))))
