"""A null known by its moments: how likely a value as far from its mean is.

With mean, spread and skewness the distribution of Pearson's third type is fixed: the normal where
there is no skewness, a shifted gamma otherwise. Sums over units of what random permutations give
them are close to it, those of a few dominating units (chi-square) and of rare events, too. Where a
few ratings dominate (heavy tails) they are not, and no few moments tell the distribution: what may
be read off them is bounded here.

Coefficients that sum one term over units have such a null: the mean of the term over all
permutations is exact, and its spread is that of independent units less what the totals of the
values explain, for given these permuting leaves nothing else in common. So has the number of right
verdicts where the right answers are shuffled over the questions.

Shape suffixes: U = units, V = distinct values, S = sizes of units, B = tables a unit may get,
Q = questions, M = cells of a question and a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb, erfc, floor, sqrt

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import CountStatistic, Floats, PermutedTerm, count_vectors, term_sums

_SYMMETRIC = 0.01  # skewness below which the normal is as good
_SETTLED = 1e-12
SETTLED_SKEWNESS = 0.1
"""Up to here a null is as good as known by its moments, if its kurtosis is small, too."""
_SETTLED_KURTOSIS = 0.3
_UNLIKE_POISSON = 0.05  # by how much variance and mean of rare events may differ
_MOST_SKEWNESS, _MOST_KURTOSIS = 0.5, 1.0  # beyond, moments tell no p


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedNull:
    """Moments of a coefficient over all permutations."""

    value: float
    mean: float
    sd: float
    skewness: float
    # Distance of neighbouring values where the null has few; 0 where they are dense.
    step: float = 0.0
    kurtosis: float = 0.0  # Excess kurtosis of the null, at most about.

    @property
    def settled(self) -> bool:
        """Whether permuting would add nothing."""
        return self._rare or (
            abs(self.skewness) <= SETTLED_SKEWNESS and self.kurtosis <= _SETTLED_KURTOSIS
        )

    @property
    def tells_p(self) -> bool:
        """Whether a p may be read off the moments, if permuting is too dear.

        Of rare events alone (steps, as often as their spread says) that is so however skewed.
        """
        return self._rare or (
            abs(self.skewness) <= _MOST_SKEWNESS and self.kurtosis <= _MOST_KURTOSIS
        )

    @property
    def _rare(self) -> bool:
        """Whether these are rare events that come one by one: variance and mean are the same."""
        if not self.step > 0 or self.skewness <= SETTLED_SKEWNESS:
            return False
        return abs(self.sd**2 / (self.mean * self.step) - 1) <= _UNLIKE_POISSON

    @property
    def p(self) -> float:
        """Share of the null at least as far from its mean as the value, on either side."""
        far = abs(self.value - self.mean)
        if not self.sd >= _SETTLED and not self._rare:
            return float(far <= max(1e-9, self.step / 2))
        if self._rare:
            return _poisson_tail_chance(self.mean / self.step, far / self.step)
        z = max(0.0, far - self.step / 2) / self.sd
        return min(
            1.0, _pearson_tail_chance(z, self.skewness) + _pearson_tail_chance(z, -self.skewness)
        )


def _poisson_tail_chance(rate: float, far: float) -> float:
    """P(|X - rate| >= far) of a Poisson variable."""
    from scipy.special import pdtr, pdtrc

    above, below = ceil(rate + far - 1e-6), floor(rate - far + 1e-6)
    p = (pdtrc(above - 1, rate) if above > 0 else 1.0) + (pdtr(below, rate) if below >= 0 else 0.0)
    return min(1.0, float(p))


def _pearson_tail_chance(z: float, skewness: float) -> float:
    """P(X >= z) of a Pearson III variable with mean 0, sd 1 and this skewness, z from 0 on."""
    if abs(skewness) < _SYMMETRIC:
        return erfc(z / sqrt(2)) / 2
    from scipy.special import gammainc, gammaincc

    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, shape + z * sqrt(shape)))
    return float(gammainc(shape, max(0.0, shape - z * sqrt(shape))))


_DRAWS = 20_000  # what units may get is enumerated up to here, and drawn above
_FEWEST_DRAWS = 200


def unit_floor(counts_UV: Floats, statistic: CountStatistic, *, seed: int = 0) -> ClosedNull | None:
    """Compute the moments of a coefficient over all permutations.

    Notes
    -----
    The relative error of the spread is of the order of 1 / n, and 0.5 % where it rests on draws.
    """
    term = statistic.permuted
    total_T = term_sums(counts_UV, statistic)
    value = float(statistic.value(total_T))
    if term is None or np.isnan(value):
        return None
    sizes_U = counts_UV.sum(axis=1).astype(np.int64)
    # Ascending totals: the order of the values must not matter to the draws.
    totals_V = np.sort(counts_UV.sum(axis=0).astype(np.int64))
    sizes_S, numbers_S = np.unique(sizes_U, return_counts=True)
    mean = float(numbers_S @ term.mean(sizes_S, totals_V))
    variance, third, fourth = _cumulants_of_term_sum(
        sizes_S, numbers_S, totals_V, statistic, term, seed
    )
    sd = sqrt(variance)
    null = np.repeat(total_T[None], 3, axis=0)
    null[:, term.place] = mean + np.array([0.0, 1.0, -1.0]) * max(sd, 1.0)
    centre, above, below = statistic.value(null).tolist()
    slope = (above - below) / (2 * max(sd, 1.0))
    skewness = third / sd**3 if sd > 0 else 0.0
    return ClosedNull(
        value=value,
        mean=centre,
        sd=abs(slope) * sd,
        skewness=float(np.sign(slope)) * skewness,
        step=abs(slope) if term.indicator else 0.0,
        kurtosis=fourth / variance**2 if variance > 0 else 0.0,
    )


def _cumulants_of_term_sum(
    sizes_S: NDArray[np.int64],
    numbers_S: NDArray[np.int64],
    totals_V: NDArray[np.int64],
    statistic: CountStatistic,
    term: PermutedTerm,
    seed: int,
) -> tuple[float, float, float]:
    """Variance, third central moment and fourth cumulant of the sum of the term."""
    totals_V = totals_V[totals_V > 0]
    p_V = totals_V / totals_V.sum()
    draws_S = np.maximum(_FEWEST_DRAWS, _DRAWS * numbers_S // numbers_S.sum())
    rng = np.random.default_rng(seed)
    laws = []
    for k, m, draws in zip(*(one.tolist() for one in (numbers_S, sizes_S, draws_S)), strict=True):
        within_VV = m * (np.diag(p_V) - np.outer(p_V, p_V))
        if term.indicator:
            laws.append((k, *_terms_of_unanimous_units(m, p_V), within_VV))
            continue
        tables_BV, chance_B, is_drawn = _rating_tables_with_chances(m, p_V, draws, rng)
        g_B = statistic.terms(tables_BV.astype(np.float64))[..., term.place]
        off_BV = tables_BV - chance_B @ tables_BV
        if is_drawn:
            # What counts explain of the term must be told from the very draws it is taken out of:
            # of units with many ratings hardly anything is left, and would be lost in their noise.
            within_VV = (off_BV.T * chance_B) @ off_BV
        laws.append((k, off_BV, g_B - chance_B @ g_B, chance_B, within_VV))
    # Regress the sum on the totals, which no permutation changes.
    cross_V = np.sum([k * ((chance * g) @ off) for k, off, g, chance, _ in laws], axis=0)
    slope_V = np.linalg.lstsq(sum(k * within for k, *_, within in laws), cross_V, rcond=None)[0]
    variance = float(sum(k * (chance @ g**2) for k, _, g, chance, _ in laws) - cross_V @ slope_V)
    rest = [(k, g - off @ slope_V, chance) for k, off, g, chance, _ in laws]
    third = float(sum(k * (chance @ g**3) for k, g, chance in rest))
    fourth = float(sum(k * (chance @ g**4 - 3 * (chance @ g**2) ** 2) for k, g, chance in rest))
    return max(0.0, variance), third, fourth


def _terms_of_unanimous_units(m: int, p_V: Floats) -> tuple[Floats, Floats, Floats]:
    """What a unit gets if all its verdicts agree, and on average if not; 1 or 0; their chances."""
    chance_V = p_V**m
    other = 1 - chance_V.sum()
    off_VV = m * (np.eye(p_V.size) - p_V)
    off_rest = -(chance_V @ off_VV) / other if other > 0 else 0 * p_V
    chance_B = np.append(chance_V, other)
    g_B = np.append(np.ones(p_V.size), 0.0) - chance_V.sum()
    return np.vstack([off_VV, off_rest]), g_B, chance_B


def _rating_tables_with_chances(
    m: int, p_V: Floats, draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats, bool]:
    """Tables that m ratings make, with their chances: all, or as many as are drawn; which."""
    if comb(m + p_V.size - 1, p_V.size - 1) > draws:
        return rng.multinomial(m, p_V, size=draws), np.full(draws, 1 / draws), True
    tables_BV = count_vectors(m, p_V.size)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])
    log_chance_B = log_factorial[m] - log_factorial[tables_BV].sum(axis=1) + tables_BV @ np.log(p_V)
    return tables_BV, np.exp(log_chance_B), False


def shuffled_right(
    question_M: NDArray[np.integer],
    verdict_M: NDArray[np.integer],
    weight_M: NDArray[np.generic],
    gold_Q: NDArray[np.integer],
) -> tuple[float, float, float]:
    """Sum the weights of right verdicts, with mean and spread over shuffles of the right answers.

    The M cells of a question and a verdict are those that are not empty, each once, verdicts as
    codes from 0 on. A right answer below 0 is no verdict's.
    """
    n, weight = gold_Q.size, weight_M.astype(np.float64)
    n_names = 1 + max(int(gold_Q.max()), int(verdict_M.max(initial=0)))
    answers_V = np.bincount(gold_Q[gold_Q >= 0], minlength=n_names).astype(np.float64)
    row_Q = np.bincount(question_M, weights=weight * answers_V[verdict_M], minlength=n) / n
    column_V = np.bincount(verdict_M, weights=weight, minlength=n_names) / n
    mean = float(row_Q.sum())
    # Squared interactions are those of cells less those of rows and columns: empty cells need none.
    squares = float((weight**2 * answers_V[verdict_M]).sum()) + mean**2
    rest = squares - n * float((row_Q**2).sum() + (column_V**2 * answers_V).sum())
    sd = float(np.sqrt(rest / (n - 1))) if rest > 1e-12 * squares else 0.0
    return float(weight[verdict_M == gold_Q[question_M]].sum()), mean, sd
