"""Limits of majority stability over every mixing distribution that fits the counts.

How often two majority votes of k agree is a mean over questions of a function of their verdict
distributions. From m replications of each question only the first m moments of the mixing
distribution can be known, so for more votes the mean is known only within limits, however many
questions there are. They are found here together with the sampling error: the smallest and largest
mean over all mixing distributions whose likelihood is at least a twentieth of the greatest.

The order of values matters neither to the mean nor here: counts and distributions are sorted.

Shape suffixes: U = units, V = distinct values, D = distinct rows of counts, J = distributions.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.majority import majority_probabilities
from judgerel_ray.stats.counts import Floats, checked_counts
from judgerel_ray.stats.intervals.mixing import (
    partitions,
    sorted_distributions,
    sorted_likelihood,
    sorted_rows,
    thinned,
)

MOST_VALUES = 8
"""Different verdicts in a group above which no limits are computed: likelihoods sum over orders."""
FOLD = 20.0
"""Likelihoods within this factor fit: of none in n questions it is the exact 95 % limit, 3 / n."""
_MOST_ROWS = 60  # different sorted rows
_MOST_RATINGS = 100  # of a question: the distributions tried lie too far apart for more
_FEWER = (30, 20, 15, 10, 8, 5, 3)  # ratings of a question that are kept where rows are more
_EXACT = 1e-3  # of limits
_STARTS = (-2.0, -0.7, 0.0, 0.7, 2.0)
_TINY = 1e-300


class StabilityLimits(NamedTuple):
    """Two ends of what a quantity may be.

    Attributes
    ----------
    low, high : float
        At a likelihood of a twentieth of the greatest: they hold the truth in 95 % of cases or
        more.
    """

    low: float
    high: float


class VoteLimits:
    """The mixing distributions that fit a table of counts.

    Parameters
    ----------
    rows_DV : ndarray of float, shape (n_rows, n_values)
        Distinct rows of counts, each sorted from the most frequent value on.
    numbers_D : ndarray of float, shape (n_rows,)
        How many questions have each; expected numbers need not be whole.

    Examples
    --------
    Of 200 questions asked five times 160 are unanimous and 40 split as coins do. Two in ten coin
    flips agree by chance in half of all votes, of any number:

    >>> rows = np.array([[5.0, 0.0], [4.0, 1.0], [3.0, 2.0]])
    >>> fits = VoteLimits(rows, np.array([160 + 40 / 16, 40 * 5 / 16, 40 * 10 / 16]))
    >>> [round(end, 2) for end in fits.stability(11)]
    [0.86, 0.98]
    """

    def __init__(self, rows_DV: Floats, numbers_D: Floats) -> None:
        self._atoms_JV = sorted_distributions(rows_DV.shape[1])
        likelihood = sorted_likelihood(rows_DV, self._atoms_JV)
        self._likelihood_DJ = likelihood / likelihood.max(axis=1, keepdims=True)
        self._n = float(numbers_D.sum())
        self._share_D = numbers_D / self._n
        self._found: dict[int, StabilityLimits] = {}

    def stability(self, k: int) -> StabilityLimits:
        """Compute the limits of how often two majority votes of k agree.

        Examples
        --------
        From two replications nothing is known of longer votes but that they agree at least as often
        as single replications, which may be in 3 of 30 questions less than always:

        >>> fits = VoteLimits(np.array([[2.0, 0.0]]), np.array([30.0]))
        >>> [round(end, 2) for end in fits.stability(5)]
        [0.9, 1.0]
        """
        if k not in self._found:
            agreement_J = _agreement_of_atoms(self._atoms_JV.shape[1], k)
            self._found[k] = StabilityLimits(
                self._end(agreement_J, 1.0), self._end(agreement_J, -1.0)
            )
        return self._found[k]

    @cached_property
    def _best(self) -> Floats:
        """Weights of the greatest likelihood, by Newton steps (Wang 2007, constrained Newton)."""
        from scipy.optimize import nnls

        likelihood, share = self._likelihood_DJ, self._share_D
        n_atoms, root, heavy = likelihood.shape[1], np.sqrt(share)[:, None], 1e3
        weights: Floats = np.full(n_atoms, 1 / n_atoms)
        for _ in range(100):
            ratio_DJ = likelihood / (likelihood @ weights)[:, None]
            gradient = share @ ratio_DJ
            if (gradient.max() - 1) * self._n < 0.01:  # of the log-likelihood, at most
                break
            # The quadratic model, its weights from 0 on; a heavy row has them sum to 1.
            rows = np.vstack([ratio_DJ * root, np.full(n_atoms, heavy)])
            target, _ = nnls(rows, np.append(2 * root[:, 0], heavy), maxiter=50 * n_atoms)
            step = target / target.sum() - weights
            now, slope, t = self._log(likelihood @ weights), float(gradient @ step), 1.0
            # A step that makes an observed row impossible is none, whatever it gains elsewhere.
            while t > 1e-6 and (
                (probable := likelihood @ (weights + t * step)).min() <= _TINY
                or self._log(probable) < now + t * slope / 3
            ):
                t /= 2
            weights = weights + t * step
        return weights

    @cached_property
    def _tangents(self) -> list[Floats]:
        """Probabilities of rows at which the logarithm is replaced by its tangent, for all ends."""
        reach_D = np.sqrt(2 * log(FOLD) / np.maximum(self._share_D * self._n, 2 * log(FOLD)))
        best_D = self._likelihood_DJ @ self._best
        return [best_D * np.exp(start * reach_D) for start in _STARTS]

    def _log(self, probability_D: Floats) -> float:
        """Mean log-likelihood of a question."""
        return float(self._share_D @ np.log(np.maximum(probability_D, _TINY)))

    def _end(self, agreement_J: Floats, sign: float) -> float:
        """The least mean (sign 1) or the greatest (-1): linear programs that close in from outside.

        The variables are weights, probabilities of rows, and upper bounds of their logarithms.
        """
        from scipy.optimize import linprog

        (n_rows, n_atoms), share = self._likelihood_DJ.shape, self._share_D
        best_D = self._likelihood_DJ @ self._best
        least = self._log(best_D) - log(FOLD) / self._n
        cost = np.concatenate([sign * agreement_J, np.zeros(2 * n_rows)])
        none, one = np.zeros((n_rows, n_rows)), np.eye(n_rows)
        probable = np.hstack([self._likelihood_DJ, -one, none])
        equal = np.vstack([probable, np.append(np.ones(n_atoms), np.zeros(2 * n_rows))])
        outer = -np.inf
        for _ in range(25):
            below = [np.concatenate([np.zeros(n_atoms + n_rows), -share])]
            below += [
                np.hstack([np.zeros((n_rows, n_atoms)), -one / x, one]) for x in self._tangents
            ]
            found = linprog(
                cost, A_ub=np.vstack(below),
                b_ub=np.concatenate([[-least], *(np.log(x) - 1 for x in self._tangents)]),
                A_eq=equal, b_eq=np.append(np.zeros(n_rows), 1.0),
                bounds=[(0, None)] * (n_atoms + n_rows) + [(None, None)] * n_rows,
            )  # fmt: skip
            if found.x is None:
                break  # what was found before holds: every program is wider than the truth
            outer, weights = float(found.fun), found.x[:n_atoms]
            here_D = self._likelihood_DJ @ weights
            inside = self._inside(best_D, here_D, least)
            if (1 - inside) * float(cost[:n_atoms] @ (self._best - weights)) < _EXACT:
                break
            self._tangents.append(np.maximum(here_D, 1e-3 * best_D))
        return float(np.clip(sign * outer, 0.0, 1.0)) if np.isfinite(outer) else (1 - sign) / 2

    def _inside(self, best_D: Floats, here_D: Floats, least: float) -> float:
        """How far from the best towards here distributions fit, up to 1."""
        low, high = 0.0, 1.0
        if self._log(here_D) >= least:
            return 1.0
        for _ in range(30):
            middle = (low + high) / 2
            fits = self._log(best_D + middle * (here_D - best_D)) >= least
            low, high = (middle, high) if fits else (low, middle)
        return low


@lru_cache(maxsize=64)
def _agreement_of_atoms(n_values: int, k: int) -> Floats:
    """How often two votes of k agree under each sorted distribution: the same for all counts."""
    agreement_J: Floats = (majority_probabilities(sorted_distributions(n_values), k) ** 2).sum(
        axis=1
    )
    return agreement_J


def vote_limits(counts_UV: ArrayLike, *, n_questions: int | None = None) -> VoteLimits | None:
    """Find the mixing distributions that fit counts.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; numbers of ratings may differ, and a unit with
        fewer than two takes no part.
    n_questions : int, optional
        Questions the units belong to, where one has several: they count as so many, the least that
        units of one question may be worth. By default each unit is a question.

    Returns
    -------
    VoteLimits or None
        None where there are no units with two ratings, or more than eight different values.

    Raises
    ------
    ValueError
        If `counts_UV` is no table of whole numbers.

    Notes
    -----
    Of a unit with more than 100 ratings 100 are drawn at random (seed 0). Where sorted rows of
    counts are more than 60, so many ratings of each unit are drawn that they are not: 30 at most.
    Distributions are 65 of two values and, of three values
    and more, all fractions of a number such that there are about 150. Some 10 linear programs an
    end, of a few hundred variables, however many units there are.

    Examples
    --------
    >>> found = vote_limits([[5, 0]] * 20 + [[0, 5]] * 20)
    >>> [round(end, 2) for end in found.stability(3)]
    [0.96, 1.0]
    """
    counts = checked_counts(counts_UV, function="vote_limits")
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts) or counts.any(axis=0).sum() > MOST_VALUES:
        return None
    rows, numbers = sorted_rows(thinned(counts, _MOST_RATINGS))
    for most in _FEWER:
        if len(rows) <= _MOST_ROWS:
            break
        rows, numbers = sorted_rows(thinned(counts, most))
    worth = 1.0 if n_questions is None else min(1.0, n_questions / len(counts))
    return VoteLimits(rows, numbers * worth)


def expected_limits(
    shares_UV: Floats, *, n_questions: float, n_replications: int
) -> VoteLimits | None:
    """Find what would fit if other questions like these were asked so often."""
    shares = -np.sort(-shares_UV, axis=1)
    shares = shares[:, : max(2, int((shares > 0).any(axis=0).sum()))]
    if shares.shape[1] > MOST_VALUES:
        return None
    rows = np.array(partitions(n_replications, shares.shape[1]), dtype=np.float64)
    if len(rows) > _MOST_ROWS:
        return None
    from scipy.special import gammaln

    ways = gammaln(n_replications + 1) - gammaln(rows + 1).sum(axis=1)
    chance_D = sorted_likelihood(rows, shares).mean(axis=1) * np.exp(ways)
    # Equal counts were summed over as if they could be told apart.
    alike = [np.unique(row, return_counts=True)[1] for row in rows]
    chance_D /= [np.exp(gammaln(same + 1).sum()) for same in alike]
    seen = chance_D > 1e-9
    return VoteLimits(rows[seen], n_questions * chance_D[seen])
