"""The swap test: how far two sides differ if those of each question are exchanged at random.

If it does not matter which of two judges gave which verdicts of a question, exchanging the two
inside a question changes nothing but chance. What a coefficient does over all such exchanges is
then its exact null distribution, however few questions there are and whatever dominates them.

Shape suffixes: C = common questions, T = terms, G = kinds of questions, S = exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite

import numpy as np

from judgerel_ray.stats.precision import t_quantile
from judgerel_ray.stats.question_kinds import QuestionKinds, Value, question_kinds
from judgerel_ray.stats.statistic import Floats

DRAWS = 9_999
_FIRST = (999, 4_999)  # draws before it is known whether more are worth it: where dear, and else
_SETTLED = 0.1  # a p above it is not worth more draws: they change no verdict
_MANY = 200  # questions that matter alike: from here on Student's t says the same
_NORMAL = 2.575829  # what the furthest 1 % of a normal variable exceed
_COST = 4e8  # about three seconds of one core
_BLOCK = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwapTest:
    """A difference, its error, and how far the sides differ over exchanges.

    Attributes
    ----------
    value : float
        Second minus first.
    error : float
        Its standard error.
    n_differing : int
        Questions whose exchange changes anything: those in which the sides differ.
    method : str
        Where the reference distribution is from, in words.
    degrees : int
        Of Student's t: questions less one.
    distances_S : ndarray of float, optional
        Differences over exchanges, each in its own error and without its sign, ascending; None
        where Student's t stands for them.
    tails_S : ndarray of float, optional
        The probability of a distance at least as large.
    scale : float, optional
        Of random exchanges: how much farther the furthest 1 % are than a normal variable's, at
        least 1. Beyond all draws the probability is Hoeffding's 2 exp(-d^2 / 2) for a sum of
        random signs in its own errors, at distances d less that much: small enough for the
        correction of many tests, never below what the exact test would give for a sum.
    """

    value: float
    error: float
    n_differing: int
    method: str
    degrees: int
    distances_S: Floats | None = None  # noqa: N815  a shape, not a case
    tails_S: Floats | None = None  # noqa: N815
    scale: float | None = None

    def p(self, difference: float) -> float:
        """Give the probability of a difference at least as large, either way.

        Examples
        --------
        >>> found = SwapTest(value=0.5, error=0.25, n_differing=9, method="", degrees=10)
        >>> round(found.p(0.5), 4)
        0.0734
        """
        distance = float(_distances(np.array(difference), np.array(self.error)))
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

        Examples
        --------
        >>> found = SwapTest(value=0.5, error=0.25, n_differing=9, method="", degrees=10)
        >>> round(found.reach(0.95), 4)
        0.557
        """
        student = t_quantile(self.degrees, confidence)
        if self.distances_S is None or self.tails_S is None:
            return student * self.error
        usual = np.flatnonzero(self.tails_S >= round(1 - confidence, 12))
        furthest = float(self.distances_S[usual[-1]])
        if usual.size == self.tails_S.size and isfinite(furthest):
            furthest = max(furthest, student)  # no exchange is rare enough to tell
        return furthest * self.error


def swap_test(first_CT: Floats, second_CT: Floats, value: Value, *, draws: int = DRAWS) -> SwapTest:
    r"""Compare a function of sums of terms between two sides of the same questions.

    The difference is studentised [1]_, so that two sides of equal value that differ otherwise (one
    passes half of the answers, the other nine in ten) are told apart no more often than chance
    would have it. Its error is the root of

    .. math:: \frac{n}{n - 1} \sum_q (i_q - \bar i)^2 + \frac{2}{n} \sum_q c_q^2

    with i_q what question q moves the difference by, and c_q^2 what it would move each side by if
    it were on the other. The second part is that of two questions of the other side added to each:
    a side whose few informative questions happen to be alike shows no error of its own.

    Parameters
    ----------
    first_CT, second_CT : ndarray of float, shape (n_questions, n_terms)
        What each question adds to either side, the same questions in the same order.
    value : callable
        Sums of terms (..., T) to values (...); NaN where there is none.
    draws : int
        Random exchanges at most, at least 1.

    Returns
    -------
    SwapTest
        Over all exchanges where they are no more than the draws. Exchanges that leave a side
        without a value count as the furthest apart.

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
    if most < min(draws, _FIRST[0]) or kinds.effective(value) > _MANY:
        return observed
    if np.log(kinds.n_G + 1).sum() <= np.log(most + 1) + 1e-9:
        distances_S, weights_S = _of_all(kinds, value)
        scale = None
        method = f"all 2^{n_differing} exchanges"
    else:
        distances_S = _of_random(kinds, value, float(_distances(difference, error)[0]), most)
        weights_S = np.full(distances_S.size, 1 / distances_S.size)
        scale = max(1.0, float(np.quantile(distances_S, 0.99, method="lower")) / _NORMAL)
        method = f"{distances_S.size - 1:,} random exchanges"
    distances_S, place_S = np.unique(distances_S, return_inverse=True)
    tails_S = np.cumsum(np.bincount(place_S, weights_S)[::-1])[::-1]
    return SwapTest(
        value=observed.value, error=observed.error, n_differing=n_differing, method=method,
        degrees=observed.degrees, distances_S=distances_S,
        # A probability that sums to a share of exchanges is that share.
        tails_S=np.minimum(1.0, np.round(tails_S, 12)),
        scale=scale,
    )  # fmt: skip


def _of_all(kinds: QuestionKinds, value: Value) -> tuple[Floats, Floats]:
    """Distances of all exchanges, as many of each kind as there are, and their probabilities."""
    from scipy.special import gammaln

    held_SG = np.stack(
        np.meshgrid(*(np.arange(n + 1.0) for n in kinds.n_G), indexing="ij"), axis=-1
    ).reshape(-1, kinds.n_G.size)
    ways_S = gammaln(kinds.n_G + 1) - gammaln(held_SG + 1) - gammaln(kinds.n_G - held_SG + 1)
    weights_S = np.exp(ways_S.sum(axis=1) - kinds.n_G.sum() * np.log(2))
    parts = np.array_split(held_SG, 1 + held_SG.size // _BLOCK)
    distances = [_distances(*kinds.differences(value, part)) for part in parts]
    return np.concatenate(distances), weights_S / weights_S.sum()


def _of_random(kinds: QuestionKinds, value: Value, observed: float, draws: int) -> Floats:
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
            found.append(_distances(*kinds.differences(value, held_SG)))
        if sum(np.count_nonzero(part >= observed) for part in found) > _SETTLED * (first + 1):
            break
    return np.concatenate(found)


def _distances(difference_S: Floats, error_S: Floats) -> Floats:
    """Differences in errors, without their sign; infinite where a side has no value."""
    size_S = np.abs(difference_S)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio_S = size_S / error_S
    # Rounded, so that what is equal but for the order of its sums is equal.
    known_S = np.where(size_S < 1e-12, 0.0, np.round(ratio_S, 9))
    return np.where(np.isnan(known_S), np.inf, known_S)
