"""Whether two judges differ by a measure that rests on questions, however few decide it.

Of many such tests at once, p-values are adjusted for how many there are (Holm; Benjamini and
Hochberg).

Shape suffixes: C = clusters (questions), T = terms, P = parts, M = comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.question_statistic import (
    Combined,
    QuestionStatistic,
    QuestionTerms,
    Remembered,
    whole,
)
from judgerel_ray.stats.intervals.swap_test import swap_test

EXCHANGES = 1_999
"""Exchanges of two judges drawn: those of many judges are many pairs."""
FEW_DECIDING = 10
"""Degrees of freedom, or questions that differ, below which a comparison rests on few."""
_MANY = 400  # questions: from here on Student's t holds, whatever dominates (bench/rank_levels.py)
_PLAIN = 0.2  # a p of Student's above it is not worth exchanges: nothing is sure by it
_FAR, _ENOUGH = 1e-6, 50  # nor is one below this, of so many degrees of freedom
_NONE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDifference:
    """A comparison of two judges.

    Attributes
    ----------
    p : float or None
        Two-sided; None where leaving one question out leaves a judge without a value.
    few : bool
        Whether fewer than ten questions decide it.
    degrees : float
        Of freedom of Student's t.
    """

    p: float | None
    few: bool
    degrees: float = 0.0


def judge_difference(first: QuestionStatistic, second: QuestionStatistic) -> JudgeDifference:
    """Test whether two judges differ by a measure.

    Parameters
    ----------
    first, second : QuestionStatistic
        The measure of either; both must have a value.

    Returns
    -------
    JudgeDifference

    Notes
    -----
    Student's t of the pseudo-values that leaving questions out gives. Its degrees of freedom follow
    from their kurtosis, by Satterthwaite's rule: 2 n / (kurtosis - 1), at most n - 1, which is
    about twice the number of questions that decide where few do. Where up to 400 questions have
    coefficients whose terms have one layout (:class:`QuestionTerms`) and this p is neither large
    nor beyond doubt, the judges are exchanged inside questions instead
    (:func:`judgerel_ray.stats.intervals.swap_test.swap_test`).

    Examples
    --------
    >>> def mean(numbers):
    ...     return QuestionTerms(name="mean", questions_C=np.arange(len(numbers)),
    ...                          terms_CT=np.stack([numbers, np.ones(len(numbers))], axis=1),
    ...                          value=lambda total: total[..., 0] / total[..., 1])
    >>> found = judge_difference(mean([1.0, 2, 3, 4]), mean([2.0, 4, 4, 6]))
    >>> round(found.p, 4), found.few
    (0.0138, True)
    """
    questions = np.union1d(first.questions_C, second.questions_C)
    plain = _by_pseudo_values(first, second, questions.size)
    settled = plain.p is not None and (
        plain.p > _PLAIN or (plain.p < _FAR and plain.degrees >= _ENOUGH)
    )
    if settled or questions.size > _MANY:
        return plain
    exchangeable = _exchangeable(first, second, questions)
    if exchangeable is None or np.array_equal(*exchangeable[:2]):
        return plain
    test = swap_test(*exchangeable, draws=EXCHANGES)
    if test.distances_S is None:
        return plain
    few = plain.few or test.n_differing < FEW_DECIDING
    return replace(plain, p=test.p(test.value), few=few)


def _by_pseudo_values(
    first: QuestionStatistic, second: QuestionStatistic, n: int
) -> JudgeDifference:
    """Student's t of pseudo-values, with the degrees of freedom that their kurtosis leaves."""
    from scipy.special import stdtr

    apart = Combined(name="difference", parts=(first, second), combine=_second_less_first)
    difference = whole(apart)
    pseudo_C = (n - 1) * (difference - apart.left_out())
    if n < 2 or np.isnan(pseudo_C).any():
        return JudgeDifference(p=None, few=True)
    squares_C = (pseudo_C - pseudo_C.mean()) ** 2
    error = float(np.sqrt(squares_C.sum() / (n - 1) / n))
    if error < _NONE:
        # All questions say the same: as sure as that many tosses of a coin.
        p = 0.5 ** (n - 1) if abs(difference) > _NONE else 1.0
        return JudgeDifference(p=p, few=n <= FEW_DECIDING, degrees=n - 1.0)
    excess = float(n * (squares_C**2).sum() / squares_C.sum() ** 2) - 1
    degrees = min(n - 1.0, 2 * n / excess) if excess > _NONE else n - 1.0
    p = 2 * float(stdtr(degrees, -abs(difference) / error))
    return JudgeDifference(p=p, few=degrees < FEW_DECIDING, degrees=degrees)


def _second_less_first(values_PB: Floats) -> Floats:
    """Difference of two parts."""
    difference: Floats = values_PB[1] - values_PB[0]
    return difference


def _exchangeable(
    first: QuestionStatistic, second: QuestionStatistic, questions_C: NDArray[np.generic]
) -> tuple[Floats, Floats, _Joint] | None:
    """Terms of both judges by common question and what is computed of them, if they may change."""
    parts, others = _terms_of(first), _terms_of(second)
    if not parts or len(parts) != len(others):
        return None
    if any(
        one.layout is None or one.layout is not other.layout
        for one, other in zip(parts, others, strict=True)
    ):
        return None
    sides = []
    for terms in (parts, others):
        rows_CT = []
        for part in terms:
            filled_CT = np.zeros((questions_C.size, part.terms_CT.shape[1]))
            filled_CT[np.searchsorted(questions_C, part.questions_C)] = part.terms_CT
            rows_CT.append(filled_CT)
        sides.append(np.concatenate(rows_CT, axis=1))
    return sides[0], sides[1], _Joint(parts)


def _terms_of(one: QuestionStatistic) -> Sequence[QuestionTerms]:
    """The parts of a mean, or what is its own part; none where it is no sum of terms."""
    if isinstance(one, Remembered):
        return _terms_of(one.of)
    if isinstance(one, QuestionTerms):
        return (one,)
    if not isinstance(one, Combined) or not one.is_mean:
        return ()
    found = [part for part in one.parts if isinstance(part, QuestionTerms)]
    return found if len(found) == len(one.parts) else ()


class _Joint:
    """The mean of several coefficients of terms that lie side by side."""

    def __init__(self, parts: Sequence[QuestionTerms]) -> None:
        self._parts = parts
        self._ends = np.cumsum([part.terms_CT.shape[1] for part in parts])

    def __call__(self, totals: Floats) -> Floats:
        """Sums of terms (..., T) to values (...)."""
        starts = np.append(0, self._ends[:-1])
        values = [
            part.value(totals[..., start:end])
            for part, start, end in zip(self._parts, starts, self._ends, strict=True)
        ]
        mean: Floats = np.mean(values, axis=0)
        return mean


def holm(p_M: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that any false finding among them stays rare (Holm's step-down).

    Parameters
    ----------
    p_M : sequence of float or None
        One p-value a comparison; None is no test and stays None.

    Returns
    -------
    tuple of float or None
        In the same order.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    .. [1] Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    3 x .01, then 2 x .03, then at least that:

    >>> holm([0.03, 0.01, None, 0.04])
    (0.06, 0.03, None, 0.06)
    """
    p, order = _ordered(p_M, function="holm")
    n = p.size
    adjusted = np.maximum.accumulate(p[order] * (n - np.arange(n)))
    return _given_back(p_M, adjusted, order)


def benjamini_hochberg(p_M: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that few of the findings are false (Benjamini and Hochberg's step-up).

    Parameters, result and errors are those of :func:`holm`.

    References
    ----------
    .. [1] Benjamini, Y. and Hochberg, Y. (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    .04, then min(.04, 3/2 x .03), then min(.04, 3 x .01):

    >>> benjamini_hochberg([0.03, 0.01, None, 0.04])
    (0.04, 0.03, None, 0.04)
    """
    p, order = _ordered(p_M, function="benjamini_hochberg")
    n = p.size
    scaled = p[order] * (n / np.arange(1, n + 1))
    return _given_back(p_M, np.minimum.accumulate(scaled[::-1])[::-1], order)


def _ordered(p_M: Sequence[float | None], *, function: str) -> tuple[Floats, NDArray[np.intp]]:
    """The p-values there are, and their order from the smallest."""
    p = np.array([one for one in p_M if one is not None], dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{function}: p_M must be between 0 and 1, got {list(p_M)!r}")
    return p, np.argsort(p, kind="stable")


def _given_back(
    p_M: Sequence[float | None], adjusted: Floats, order: NDArray[np.intp]
) -> tuple[float | None, ...]:
    """Adjusted values, at most 1, where the p-values stood."""
    placed = np.empty(adjusted.size)
    placed[order] = np.minimum(adjusted, 1.0)
    values = iter(placed.tolist())
    return tuple(None if one is None else next(values) for one in p_M)
