"""Swap test for the difference between two judges; exact when few questions are informative.

If it does not matter which of two judges gave which verdicts of a question, exchanging the two
inside a question changes nothing but chance. What a measure does over all such exchanges is then
its exact null distribution (the swap test). Where many questions decide, Student's t says the same.
Of many tests at once, p-values are adjusted for how many there are (Holm; Benjamini and Hochberg).

Shape suffixes: C = common questions, T = terms, R = distinct rows of terms, G = kinds of questions
(pairs of rows that differ), S = exchanges, J = terms that are no copy of another, P = parts,
M = comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats, QuestionTerms
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.question_statistic import (
    Combined,
    QuestionStatistic,
    Remembered,
    whole,
)

BORROWED = 2.0
"""Pseudo-questions added to each side's variance, as in Agresti and Coull's interval."""
_STEP = 1e-3
ValueOfTerms = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionKinds:
    """Questions by what they add: each kind has two rows of terms, one on either side."""

    # Shape (n_kinds, n_terms). The two rows of each kind of questions in which the sides differ.
    low_GT: Floats  # noqa: N815  a shape, not a case
    high_GT: Floats  # noqa: N815
    # Shape (n_kinds,). Questions of each kind.
    n_G: NDArray[np.int64]  # noqa: N815
    # Shape (n_kinds,). Those of them in which the first side has the low row.
    held_G: Floats  # noqa: N815
    # Rows that both sides share, and in how many questions.
    same_RT: Floats  # noqa: N815
    n_R: Floats  # noqa: N815
    # Terms that are not 0 everywhere, those that are each other's copies together.
    copies_J: tuple[NDArray[np.intp], ...]  # noqa: N815
    # A thousandth of the largest of them.
    steps_J: Floats  # noqa: N815

    @property
    def width(self) -> int:
        """Numbers of one exchange that are held at once."""
        return max(1, len(self.n_G), len(self.n_R), len(self.low_GT.T))

    @property
    def cost(self) -> float:
        """What one exchange takes, in units of 5 to 8 nanoseconds."""
        n_terms, n_rows = len(self.low_GT.T), 2 * len(self.n_G) + len(self.n_R)
        return 4.0 * n_terms * len(self.copies_J) + n_rows * (len(self.copies_J) + 2.0)

    def differences(self, value: ValueOfTerms, held_SG: Floats) -> tuple[Floats, Floats]:
        """Give differences and their errors, the low row on the first side in so many questions."""
        high_SG = self.n_G - held_SG
        (first_S, first_SJ), (second_S, second_SJ) = self._sides(value, held_SG)
        low_JG, high_JG, same_JR = self._columns
        # What a question moves each side by, where it is and where it is not.
        first_low, first_high = first_SJ @ low_JG, first_SJ @ high_JG
        second_low, second_high = second_SJ @ low_JG, second_SJ @ high_JG
        crossed_S = _row_sums_of_products(held_SG, first_high**2 + second_low**2)
        crossed_S += _row_sums_of_products(high_SG, first_low**2 + second_high**2)
        crossed_S += ((first_SJ @ same_JR) ** 2 + (second_SJ @ same_JR) ** 2) @ self.n_R
        second_high -= first_low
        second_low -= first_high
        same_SR = (second_SJ - first_SJ) @ same_JR
        total_S = _row_sums_of_products(held_SG, second_high)
        total_S += _row_sums_of_products(high_SG, second_low)
        total_S += same_SR @ self.n_R
        squares_S = _row_sums_of_products(held_SG, second_high**2)
        squares_S += _row_sums_of_products(high_SG, second_low**2)
        squares_S += same_SR**2 @ self.n_R
        n = float(self.n_G.sum() + self.n_R.sum())
        variance_S = np.maximum(0.0, squares_S - total_S**2 / n) * n / max(1.0, n - 1)
        return second_S - first_S, np.sqrt(variance_S + BORROWED / n * crossed_S)

    def effective(self, value: ValueOfTerms) -> float:
        """Count the questions whose exchange matters, less where some matter more than others."""
        (_, first_SJ), (_, second_SJ) = self._sides(value, self.held_G[None])
        low_JG, high_JG, _ = self._columns
        squares_G = ((first_SJ + second_SJ) @ (high_JG - low_JG))[0] ** 2
        fourth = float(self.n_G @ squares_G**2)
        return float(self.n_G @ squares_G) ** 2 / fourth if fourth > 0 else 0.0

    @property
    def _columns(self) -> tuple[Floats, Floats, Floats]:
        """The low, high and same rows, a line for each term that is no copy."""
        one_J = np.array([copies[0] for copies in self.copies_J], dtype=np.intp)
        return self.low_GT[:, one_J].T, self.high_GT[:, one_J].T, self.same_RT[:, one_J].T

    def _sides(
        self, value: ValueOfTerms, held_SG: Floats
    ) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Values (S,) and slopes (S, J) of either side."""
        high_SG, same_T = self.n_G - held_SG, self.n_R @ self.same_RT
        first_ST = same_T + held_SG @ self.low_GT + high_SG @ self.high_GT
        second_ST = same_T + held_SG @ self.high_GT + high_SG @ self.low_GT
        return self._slopes(value, first_ST), self._slopes(value, second_ST)

    def _slopes(self, value: ValueOfTerms, sums_ST: Floats) -> tuple[Floats, Floats]:
        """Values (S,), and what each term moves them by (S, J)."""
        values_S = value(sums_ST)
        slopes_SJ = np.empty((len(sums_ST), len(self.copies_J)))
        for j, (copies, step) in enumerate(zip(self.copies_J, self.steps_J, strict=True)):
            shift_T = np.zeros(sums_ST.shape[1])
            shift_T[copies] = step
            more_S, less_S = value(sums_ST + shift_T), value(sums_ST - shift_T)
            slope_S = (more_S - less_S) / (2 * step)
            slopes_SJ[:, j] = np.where(np.isnan(slope_S), (more_S - values_S) / step, slope_S)
        return values_S, slopes_SJ


def _row_sums_of_products(left_SG: Floats, right_SG: Floats) -> Floats:
    """Sums of products, a row each."""
    summed: Floats = np.einsum("sg,sg->s", left_SG, right_SG)
    return summed


def question_kinds(first_CT: Floats, second_CT: Floats) -> QuestionKinds:
    """Sort questions by what they add to either side."""
    n = len(first_CT)
    rows_RT, row_C = _distinct_rows_of_terms(np.concatenate([first_CT, second_CT]))
    first_C, second_C = row_C[:n], row_C[n:]
    differs_C = first_C != second_C
    low_C, high_C = np.minimum(first_C, second_C), np.maximum(first_C, second_C)
    pairs_G, kind_C, n_G = np.unique(
        (low_C * len(rows_RT) + high_C)[differs_C], return_inverse=True, return_counts=True
    )
    held_C = (first_C == low_C)[differs_C].astype(np.float64)
    same_R, n_R = np.unique(first_C[~differs_C], return_counts=True)
    columns: dict[bytes, list[int]] = {}
    for term, column_R in enumerate(rows_RT.T):
        if column_R.any():
            columns.setdefault(column_R.tobytes(), []).append(term)
    copies_J = tuple(np.array(copies) for copies in columns.values())
    return QuestionKinds(
        low_GT=rows_RT[pairs_G // len(rows_RT)],
        high_GT=rows_RT[pairs_G % len(rows_RT)],
        n_G=n_G.astype(np.int64),
        held_G=np.bincount(kind_C, held_C, minlength=n_G.size).astype(np.float64),
        same_RT=rows_RT[same_R],
        n_R=n_R.astype(np.float64),
        copies_J=copies_J,
        steps_J=np.array([_STEP * np.abs(rows_RT[:, copies[0]]).max() for copies in copies_J]),
    )


def _distinct_rows_of_terms(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Distinct rows, in an order of their own, and which of them each is."""
    # By one number a row, ten times faster than by comparing rows.
    weights_T = np.random.default_rng(1).uniform(1, 2, (rows.shape[1],))
    key = np.zeros(len(rows))
    for place, weight in enumerate(weights_T):  # so that equal rows have the same roundings
        key += rows[:, place] * weight
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    found = rows[first]
    if not np.array_equal(found[number], rows):
        found, number = np.unique(rows, axis=0, return_inverse=True)
    return found, number.ravel()


DRAWS = 9_999
_FIRST = (999, 4_999)  # draws before it is known whether more are worth it: where dear, and else
_SETTLED = 0.1  # a p above it is not worth more draws: they change no verdict
_MANY_ALIKE = 200  # questions that matter alike: from here on Student's t says the same
_NORMAL = 2.575829  # what the furthest 1 % of a normal variable exceed
_COST = 4e8  # about three seconds of one core
_BLOCK = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwapTest:
    """A difference, its error, and how far the sides differ over exchanges."""

    value: float  # Second minus first.
    error: float
    n_differing: int  # Questions whose exchange changes anything: those in which the sides differ.
    method: str  # Where the reference distribution is from, in words.
    degrees: int  # Of Student's t: questions less one.
    # Differences over exchanges, each in its own error and without its sign, ascending; None where
    # Student's t stands for them.
    distances_S: Floats | None = None  # noqa: N815  a shape, not a case
    # The probability of a distance at least as large.
    tails_S: Floats | None = None  # noqa: N815
    # Of random exchanges: how much farther the furthest 1 % are than a normal variable's, at least
    # 1. Beyond all draws the probability is Hoeffding's 2 exp(-d^2 / 2) for a sum of random signs
    # in its own errors, at distances d less that much: small enough for the correction of many
    # tests, never below what the exact test would give for a sum.
    scale: float | None = None

    def p(self, difference: float) -> float:
        """Give the probability of a difference at least as large, either way."""
        distance = float(_differences_in_errors(np.array(difference), np.array(self.error)))
        from scipy.special import stdtr

        student = 2 * float(stdtr(self.degrees, -distance))
        if self.distances_S is None or self.tails_S is None:
            return student
        furthest = self.tails_S.size - 1
        place = min(furthest, int(np.searchsorted(self.distances_S, distance)))
        tail = float(self.tails_S[place])
        if self.scale is not None and place == furthest and isfinite(distance):
            return min(tail, 2 * exp(-((distance / self.scale) ** 2) / 2))
        # Only a distance that is not of an exchange can be beyond them all: one to a margin.
        return min(tail, student) if distance > self.distances_S[-1] else tail

    def reach(self, confidence: float) -> float:
        """Give half the width of an interval that excludes 0 exactly where p < 1 - confidence.

        Infinite where too many exchanges leave a side without a value.
        """
        student = t_quantile(self.degrees, confidence)
        if self.distances_S is None or self.tails_S is None:
            return student * self.error
        usual = np.flatnonzero(self.tails_S >= round(1 - confidence, 12))
        furthest = float(self.distances_S[usual[-1]])
        if usual.size == self.tails_S.size and isfinite(furthest):
            furthest = max(furthest, student)  # no exchange is rare enough to tell
        return furthest * self.error


def swap_test(
    first_CT: Floats, second_CT: Floats, value: ValueOfTerms, *, draws: int = DRAWS
) -> SwapTest:
    r"""Compare a function of sums of terms between two sides of the same questions.

    The difference is studentised [1]_, so that two sides of equal value that differ otherwise (one
    passes half of the answers, the other nine in ten) are told apart no more often than chance
    would have it. Its error is the root of

    .. math:: \frac{n}{n - 1} \sum_q (i_q - \bar i)^2 + \frac{2}{n} \sum_q c_q^2

    with i_q what question q moves the difference by, and c_q^2 what it would move each side by if
    it were on the other. The second part is that of two questions of the other side added to each:
    a side whose few informative questions happen to be alike shows no error of its own.

    Over all exchanges where they are no more than the draws. Exchanges that leave a side without a
    value count as the furthest apart.

    Notes
    -----
    Questions of one kind are exchanged together, by a binomial draw: the time goes with the kinds
    of questions, not with their number. Where more than 200 questions matter alike, and where the
    terms are so many that exchanges are dear (ordinal alpha of more than 20 values), Student's t
    stands for them. Draws have a fixed seed; neither the order of the questions nor that of the
    sides changes p. 4,999 are made (999 at least where they are dear), and the rest where p may be
    below 0.1. Influences are differences of `value` for a thousandth of the largest question.

    References
    ----------
    .. [1] Chung, E. and Romano, J. P. (2013), doi:10.1214/13-AOS1090.

    Examples
    --------
    Six questions, each higher on the second side; of 2^6 exchanges two are as far apart.

    >>> first = np.array([[0.0, 1], [1, 1], [2, 1], [3, 1], [4, 1], [5, 1]])
    >>> second = first + np.array([3.0, 0])
    >>> found = swap_test(first, second, lambda t: t[..., 0] / t[..., 1])
    >>> found.value, found.p(found.value), found.method
    (3.0, 0.03125, 'all 2^6 exchanges')
    """
    kinds = question_kinds(first_CT, second_CT)
    n_differing = int(kinds.n_G.sum())
    difference, error = kinds.differences(value, kinds.held_G[None])
    observed = SwapTest(
        value=float(difference[0]), error=float(error[0]), n_differing=n_differing,
        method="Student's t", degrees=len(first_CT) - 1,
    )  # fmt: skip
    most = min(draws, int(_COST / kinds.cost))
    if most < min(draws, _FIRST[0]) or kinds.effective(value) > _MANY_ALIKE:
        return observed
    if np.log(kinds.n_G + 1).sum() <= np.log(most + 1) + 1e-9:
        distances_S, weights_S = _of_all(kinds, value)
        scale = None
        method = f"all 2^{n_differing} exchanges"
    else:
        distances_S = _of_random(
            kinds, value, float(_differences_in_errors(difference, error)[0]), most
        )
        weights_S = np.full(distances_S.size, 1 / distances_S.size)
        scale = max(1.0, float(np.quantile(distances_S, 0.99, method="lower")) / _NORMAL)
        method = f"{distances_S.size - 1:,} random exchanges"
    distances_S, place_S = np.unique(distances_S, return_inverse=True)
    tails_S = np.cumsum(np.bincount(place_S, weights_S)[::-1])[::-1]
    return replace(
        observed, method=method, distances_S=distances_S, scale=scale,
        # A probability that sums to a share of exchanges is that share.
        tails_S=np.minimum(1.0, np.round(tails_S, 12)),
    )  # fmt: skip


def _of_all(kinds: QuestionKinds, value: ValueOfTerms) -> tuple[Floats, Floats]:
    """Distances of all exchanges, as many of each kind as there are, and their probabilities."""
    from scipy.special import gammaln

    held_SG = np.stack(
        np.meshgrid(*(np.arange(n + 1.0) for n in kinds.n_G), indexing="ij"), axis=-1
    ).reshape(-1, kinds.n_G.size)
    ways_S = gammaln(kinds.n_G + 1) - gammaln(held_SG + 1) - gammaln(kinds.n_G - held_SG + 1)
    weights_S = np.exp(ways_S.sum(axis=1) - kinds.n_G.sum() * np.log(2))
    parts = np.array_split(held_SG, 1 + held_SG.size // _BLOCK)
    distances = [_differences_in_errors(*kinds.differences(value, part)) for part in parts]
    return np.concatenate(distances), weights_S / weights_S.sum()


def _of_random(kinds: QuestionKinds, value: ValueOfTerms, observed: float, draws: int) -> Floats:
    """Distances of random exchanges, and what was observed."""
    rng, step = np.random.default_rng(0), max(1, _BLOCK // kinds.width)
    many_G = kinds.n_G > 1
    found = [np.array([observed])]
    first = min(draws, max(_FIRST[0], min(_FIRST[1], int(_COST / 4 / kinds.cost))))
    for drawn in (first, draws - first):
        for start in range(0, drawn, step):
            size = (min(step, drawn - start), kinds.n_G.size)
            held_SG = rng.integers(0, 2, size, dtype=np.int8).astype(np.float64)
            held_SG[:, many_G] = rng.binomial(kinds.n_G[many_G], 0.5, (size[0], many_G.sum()))
            found.append(_differences_in_errors(*kinds.differences(value, held_SG)))
        if sum(np.count_nonzero(part >= observed) for part in found) > _SETTLED * (first + 1):
            break
    return np.concatenate(found)


def _differences_in_errors(difference_S: Floats, error_S: Floats) -> Floats:
    """Differences in errors, without their sign; infinite where a side has no value."""
    size_S = np.abs(difference_S)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio_S = size_S / error_S
    # Rounded, so that what is equal but for the order of its sums is equal.
    known_S = np.where(size_S < 1e-12, 0.0, np.round(ratio_S, 9))
    return np.where(np.isnan(known_S), np.inf, known_S)


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
    """A comparison of two judges."""

    # Two-sided; None where leaving one question out leaves a judge without a value.
    p: float | None
    few: bool  # Whether fewer than ten questions decide it.
    degrees: float = 0.0


def judge_difference(first: QuestionStatistic, second: QuestionStatistic) -> JudgeDifference:
    """Test whether two judges differ by a measure.

    Notes
    -----
    Student's t of the pseudo-values that leaving questions out gives. Its degrees of freedom follow
    from their kurtosis, by Satterthwaite's rule: 2 n / (kurtosis - 1), at most n - 1, which is
    about twice the number of questions that decide where few do. Where up to 400 questions have
    coefficients whose terms have one layout (:class:`QuestionTerms`) and this p is neither large
    nor beyond doubt, the judges are exchanged inside questions instead
    (:func:`swap_test`).
    """
    questions = np.union1d(first.questions_C, second.questions_C)
    plain = _by_pseudo_values(first, second, questions.size)
    settled = plain.p is not None and (
        plain.p > _PLAIN or (plain.p < _FAR and plain.degrees >= _ENOUGH)
    )
    if settled or questions.size > _MANY:
        return plain
    exchangeable = _exchangeable_judge_terms(first, second, questions)
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

    apart = Combined(
        name="difference", parts=(first, second), combine=lambda both_PB: both_PB[1] - both_PB[0]
    )
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


def _exchangeable_judge_terms(
    first: QuestionStatistic, second: QuestionStatistic, questions_C: NDArray[np.generic]
) -> tuple[Floats, Floats, ValueOfTerms] | None:
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
    return sides[0], sides[1], _joint_mean(parts)


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


def _joint_mean(parts: Sequence[QuestionTerms]) -> ValueOfTerms:
    """The mean of several coefficients of terms that lie side by side."""
    ends = np.cumsum([part.terms_CT.shape[1] for part in parts])[:-1]

    def mean(totals: Floats) -> Floats:
        beside = np.split(totals, ends, axis=-1)
        values = [part.value(some) for part, some in zip(parts, beside, strict=True)]
        return np.asarray(np.mean(values, axis=0))

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
    p = _p_values(p_M, function="holm")
    n, order = p.size, np.argsort(p, kind="stable")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * (n - np.arange(n))), 1.0)
    return _adjusted_p_values(p_M, adjusted)


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
    p = _p_values(p_M, function="benjamini_hochberg")
    if p.size < 2:
        return _adjusted_p_values(p_M, p)  # nothing to adjust
    from scipy.stats import false_discovery_control  # a second, where several tests need it

    return _adjusted_p_values(p_M, false_discovery_control(p))


def _p_values(p_M: Sequence[float | None], *, function: str) -> Floats:
    p = np.array([one for one in p_M if one is not None], dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{function}: p_M must be between 0 and 1, got {list(p_M)!r}")
    return p


def _adjusted_p_values(p_M: Sequence[float | None], adjusted: Floats) -> tuple[float | None, ...]:
    """Adjusted values where the p-values stood."""
    values = iter(adjusted.tolist())
    return tuple(None if one is None else next(values) for one in p_M)
