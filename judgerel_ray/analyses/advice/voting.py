"""Majority votes of a group: how far they agree, how many it takes, and what would tell."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.agreement.majority import majority_vote
from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.intervals.mixing import posterior_shares
from judgerel_ray.stats.intervals.vote_limits import (
    MOST_VALUES,
    VoteLimits,
    expected_limits,
    vote_limits,
)

VOTES = (1, 3, 5, 7, 9, 11, 15, 21, 31, 51)
_REPLICATIONS = (3, 5, 8, 11, 15, 21, 51)  # of designs that may tell more
_TIMES = (2, 4, 8, 16)


class VoteStability(NamedTuple):
    """How often two majorities of so many replications agree, and the alpha of majorities.

    Attributes
    ----------
    agreement : float
        Estimated.
    low, high : float or None
        Its limits: sampling error, and what no number of questions can tell from so few
        replications. None where they are not computed.
    alpha : float or None
        Krippendorff's nominal alpha of majorities.
    """

    agreement: float
    low: float | None
    high: float | None
    alpha: float | None


class Voting:
    """The votes of one group of labels.

    Parameters
    ----------
    counts_UV : ndarray of int, shape (n_units, n_values)
        How often each unit received each verdict.
    clusters_U : ndarray of int, shape (n_units,)
        The question of each unit.

    Examples
    --------
    >>> votes = Voting(np.array([[5, 0]] * 40 + [[0, 5]] * 40), np.arange(80))
    >>> votes.needed(0.95), votes.unreachable(0.999)
    (1, 'not known from 5 replications of 80 questions, nor from 51 of 1280')
    """

    def __init__(self, counts_UV: NDArray[np.int64], clusters_U: NDArray[np.int64]) -> None:
        taking = counts_UV.sum(axis=1) >= 2
        self._counts_UV = counts_UV[taking]
        self._n_questions = np.unique(clusters_U[taking]).size

    @property
    def is_known(self) -> bool:
        """Whether any unit has two replications."""
        return len(self._counts_UV) > 0

    @cached_property
    def _shares(self) -> Floats:
        return posterior_shares(self._counts_UV)

    @cached_property
    def _limits(self) -> VoteLimits | None:
        return vote_limits(self._counts_UV, n_questions=self._n_questions)

    def stability(self, k: int) -> VoteStability:
        """Compute how often two majorities of k agree.

        Examples
        --------
        >>> found = Voting(np.array([[5, 0]] * 40 + [[0, 5]] * 40), np.arange(80)).stability(3)
        >>> round(found.agreement, 2), round(found.low, 2), round(found.high, 2)
        (1.0, 0.98, 1.0)
        """
        vote = majority_vote(self._shares, k)
        if self._limits is None:
            return VoteStability(vote.agreement, None, None, vote.alpha)
        low, high = self._limits.stability(k)
        return VoteStability(
            vote.agreement, min(low, vote.agreement), max(high, vote.agreement), vote.alpha
        )

    def needed(self, wanted: float) -> int | None:
        """Find the fewest votes, up to 51, whose lower limit reaches a stability.

        Examples
        --------
        >>> Voting(np.array([[5, 0]] * 40 + [[3, 2]] * 40), np.arange(80)).needed(0.9) is None
        True
        """
        if self._limits is None or not self._reaches(VOTES[-1], wanted):
            return None
        least, most = -1, len(VOTES) - 1  # more votes agree no less
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (
                (least, middle) if self._reaches(VOTES[middle], wanted) else (middle, most)
            )
        return VOTES[most]

    def unreachable(self, wanted: float) -> str:
        """Say why no number of votes can be promised to reach a stability.

        Examples
        --------
        Two replications of a question tell nothing of longer votes, however many the questions:

        >>> votes = Voting(np.array([[2, 0]] * 80 + [[1, 1]] * 20), np.arange(100))
        >>> votes.unreachable(0.85)
        'not known from 2 replications of 100 questions; 5 replications would tell'
        """
        if self._limits is None:
            return f"not known: more than {MOST_VALUES} different verdicts"
        if self._limits.stability(VOTES[-1]).high < wanted:
            return f"not within {VOTES[-1]} votes"
        m, n = round(float(self._counts_UV.sum(axis=1).mean())), self._n_questions
        known = f"not known from {m} replications of {n} questions"
        designs = [(1, more) for more in _REPLICATIONS if more > m]
        designs += [(times, max(m, more)) for times in _TIMES for more in _REPLICATIONS[-2:]]
        # The largest first: what it does not tell the others do not.
        largest = next((one for one in reversed(designs) if self._tells(one, wanted)[0]), None)
        if largest is None:
            return known
        if not self._tells(largest, wanted)[1]:
            return f"{known}, nor from {largest[1]} of {n * largest[0]}"
        times, more = next(one for one in designs if self._tells(one, wanted)[1])
        return (
            f"{known}; {more} replications{f' of {n * times} questions' * (times > 1)} would tell"
        )

    def _tells(self, design: tuple[int, int], wanted: float) -> tuple[bool, bool]:
        """Whether limits of so many times the questions, asked so often, exist and decide."""
        times, replications = design
        found = expected_limits(
            self._shares, n_questions=self._n_questions * times, n_replications=replications
        )
        if found is None:
            return False, False
        low, high = found.stability(VOTES[-1])
        return True, low >= wanted or high < wanted

    def _reaches(self, k: int, wanted: float) -> bool:
        """Whether the lower limit of k votes does."""
        low = self.stability(k).low
        return low is not None and low >= wanted
