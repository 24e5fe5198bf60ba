"""A tree of tokens: the verdict distribution where the verdict comes after other tokens.

Every prefix has a probability at each temperature. The most probable undecided ones are asked for
their next tokens, branches whose verdict cannot change are closed, and what is left undecided
bounds every verdict. Only the caller asks an engine: this is pure bookkeeping.

Shape suffixes: K = listed tokens, T = temperatures, V = verdicts and, last, "no verdict".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.verdict_distributions.tempering import (
    NO_VERDICT,
    VerdictBounds,
    closed_bounds,
    tempered_step,
)

Prefix = tuple[int, ...]
Decide = Callable[[Prefix, bool], int | None]


@dataclass(slots=True, kw_only=True)
class TokenTree:
    """What is known of one prompt's replies so far.

    Parameters
    ----------
    temperatures : sequence of float
        From 0 on.
    n_verdicts : int
        Verdicts there are, at least 1.
    decide : callable
        ``decide(prefix, ended)`` gives the verdict (from 0 on) that no continuation can change, -1
        where none can come any more, or None while it is open; ``ended`` says that nothing follows.
        An ended prefix that it leaves open has no verdict.
    max_tokens : int
        Longest reply, at least 1.
    end_tokens : frozenset of int
        Tokens after which nothing follows.
    top_k : int
        Tokens that can be sampled at each step; 0 is all.
    n_vocabulary : int, optional
        Tokens there are; see :func:`judgerel_ray.stats.tempered_step`.
    tolerance : float
        Undecided probability that is little enough, at each temperature.

    Examples
    --------
    Token 9 opens, then 0 or 1 is the verdict; anything else leaves it open. Each step lists all:

    >>> tree = TokenTree(temperatures=[1.0, 0.0], n_verdicts=2, max_tokens=2, n_vocabulary=3,
    ...     decide=lambda prefix, ended: prefix[1] if len(prefix) == 2 and prefix[1] < 2 else None)
    >>> while asked := tree.pending(8):
    ...     for prefix in asked:
    ...         tree.tell(prefix, [0, 1, 9], np.log([0.2, 0.1, 0.7]))
    >>> tree.bounds().low_TV.round(6).tolist()
    [[0.2, 0.1, 0.7], [0.0, 0.0, 1.0]]
    """

    temperatures: Sequence[float]
    n_verdicts: int
    decide: Decide
    max_tokens: int
    end_tokens: frozenset[int] = frozenset()
    top_k: int = 0
    n_vocabulary: int | None = None
    tolerance: float = 1e-6
    n_asked: int = field(default=0, init=False)
    _rows: dict[Prefix, int] = field(default_factory=dict, init=False)
    _prefixes: list[Prefix] = field(default_factory=list, init=False)
    _low_PT: Floats = field(init=False)  # noqa: N815  a shape, not a case
    _high_PT: Floats = field(init=False)  # noqa: N815
    _low_TV: Floats = field(init=False)  # noqa: N815
    _slack_TV: Floats = field(init=False)  # noqa: N815
    _lost_T: Floats = field(init=False)  # noqa: N815

    def __post_init__(self) -> None:
        if self.n_verdicts < 1 or self.max_tokens < 1 or not len(self.temperatures):
            raise ValueError(
                "TokenTree: n_verdicts and max_tokens must be at least 1, and a temperature there"
            )
        n_temperatures = len(self.temperatures)
        self._low_PT = np.ones((1, n_temperatures))
        self._high_PT = np.ones((1, n_temperatures))
        self._prefixes, self._rows = [()], {(): 0}
        self._low_TV = np.zeros((n_temperatures, self.n_verdicts + 1))
        self._slack_TV = np.zeros_like(self._low_TV)
        self._lost_T = np.zeros(n_temperatures)

    def pending(self, n: int) -> list[Prefix]:
        """Give the prefixes to ask next: the most probable, where it is still needed.

        Parameters
        ----------
        n : int
            Prefixes at most.

        Returns
        -------
        list of tuple of int
            Tokens after the prompt; empty once every temperature is decided to the tolerance or
            nothing can be asked any more. Prefixes that may all stay open are left out. Asking
            changes nothing before :meth:`tell`.
        """
        short = self.undecided_T > self.tolerance
        if not short.any():
            return []
        mass_PT = self._high_PT[: len(self._prefixes), short]
        # Of equal masses the first placed, so that a run is repeatable.
        best = np.argsort(-mass_PT.max(axis=1), kind="stable")
        # What stays open where a prefix and all after it are not asked.
        left_PT = np.cumsum(mass_PT[best][::-1], axis=0)[::-1]
        n_due = int((left_PT > self.tolerance - self._lost_T[short]).any(axis=1).sum())
        return [self._prefixes[row] for row in best[: min(n, max(1, n_due))] if mass_PT[row].any()]

    def tell(self, prefix: Prefix, tokens_K: Sequence[int], logprobs_K: ArrayLike) -> None:
        """Take in the next tokens of a prefix.

        Parameters
        ----------
        prefix : tuple of int
            One that is open.
        tokens_K : sequence of int
            The most probable next tokens, each once.
        logprobs_K : array-like of float, shape (n_tokens,)
            Their log-probabilities, before any temperature.

        Raises
        ------
        ValueError
            If the prefix is not open, or the tokens do not fit their log-probabilities.
        """
        row = self._rows.get(prefix)
        if row is None:
            raise ValueError(f"TokenTree: prefix must be open, got {prefix!r}")
        step = tempered_step(
            logprobs_K, self.temperatures, top_k=self.top_k, n_vocabulary=self.n_vocabulary
        )
        if len(set(tokens_K)) != len(tokens_K) or len(tokens_K) != step.low_TK.shape[1]:
            raise ValueError("TokenTree: tokens_K must be distinct, one a log-probability")
        low_TK = self._low_PT[row][:, None] * step.low_TK
        high_TK = self._high_PT[row][:, None] * step.high_TK
        reached = np.flatnonzero(high_TK.any(axis=0))
        children = [(*prefix, int(tokens_K[k])) for k in reached]
        verdicts = [self._verdict(child) for child in children]
        self._lost_T += self._high_PT[row] * step.rest_T
        self.n_asked += 1
        del self._rows[prefix]
        self._low_PT[row] = self._high_PT[row] = 0.0
        left = []
        for n, (k, verdict) in enumerate(zip(reached, verdicts, strict=True)):
            if verdict is None:
                left.append(n)
                continue
            self._low_TV[:, verdict] += low_TK[:, k]
            self._slack_TV[:, verdict] += high_TK[:, k] - low_TK[:, k]
        open_K = reached[left]
        self._leave_open([children[n] for n in left], low_TK[:, open_K], high_TK[:, open_K])

    @property
    def undecided_T(self) -> Floats:  # noqa: N802
        """Probability that is not settled, by temperature; what lists left out is part of it."""
        undecided: Floats = np.maximum(0.0, 1 - self._low_TV.sum(axis=1))
        return undecided

    def bounds(self) -> VerdictBounds:
        """Give certain bounds on every verdict's probability, at every temperature."""
        still = self._lost_T + self._high_PT[: len(self._prefixes)].sum(axis=0)
        high_TV = self._low_TV + self._slack_TV + still[:, None]
        return closed_bounds(tuple(self.temperatures), self._low_TV.copy(), high_TV)

    def remainder(self, temperature: int) -> tuple[tuple[Prefix, ...], Floats]:
        """Give the open prefixes and their probabilities at one temperature (its index).

        Raises
        ------
        ValueError
            If lists left out more than rounding there: no prefix leads to what they left out.
        """
        if self._lost_T[temperature] > 1e-9:
            raise ValueError(
                "TokenTree: the undecided rest can be drawn only where lists are whole, got "
                f"{self._lost_T[temperature]!r} beyond them"
            )
        masses = self._high_PT[: len(self._prefixes), temperature]
        kept = np.flatnonzero(masses > 0)
        return tuple(self._prefixes[row] for row in kept), masses[kept]

    def _verdict(self, prefix: Prefix) -> int | None:
        """The verdict a prefix has for good; None while it is open."""
        ended = len(prefix) >= self.max_tokens or prefix[-1] in self.end_tokens
        verdict = self.decide(prefix, ended)
        if verdict is None:
            return NO_VERDICT if ended else None
        if not NO_VERDICT <= verdict < self.n_verdicts:
            raise ValueError(f"TokenTree: decide must give a verdict, -1 or None, got {verdict!r}")
        return verdict

    def _leave_open(self, prefixes: list[Prefix], low_TP: Floats, high_TP: Floats) -> None:
        """Place prefixes in rows after those there are."""
        start, stop = len(self._prefixes), len(self._prefixes) + len(prefixes)
        if stop > len(self._low_PT):  # doubled, so that placing is cheap on average
            more = ((0, stop), (0, 0))
            self._low_PT, self._high_PT = np.pad(self._low_PT, more), np.pad(self._high_PT, more)
        self._low_PT[start:stop], self._high_PT[start:stop] = low_TP.T, high_TP.T
        self._rows.update(zip(prefixes, range(start, stop), strict=True))
        self._prefixes += prefixes


def remainder_draws(
    prefixes: Sequence[Prefix], masses_P: ArrayLike, n: int, *, seed: int
) -> tuple[Prefix, ...]:
    """Draw open prefixes in proportion to their probability, evenly spread over them.

    One uniform number places all draws (systematic sampling): each prefix is drawn as often as its
    share says, give or take one, and exactly so on average.

    Parameters
    ----------
    prefixes : sequence of tuple of int
    masses_P : array-like of float
        Their probabilities, from :meth:`TokenTree.remainder`.
    n : int
        Draws, at least 1.
    seed : int

    Returns
    -------
    tuple of tuple of int
        One prefix a draw; the engine goes on from each once.

    Raises
    ------
    ValueError
        If there is nothing to draw from, or `n` is below 1.

    Examples
    --------
    >>> remainder_draws([(1,), (2,)], [0.03, 0.01], 4, seed=0)
    ((1,), (1,), (1,), (2,))
    """
    masses = np.asarray(masses_P, dtype=np.float64)
    if n < 1 or not masses.size or masses.size != len(prefixes) or not masses.sum() > 0:
        raise ValueError("remainder_draws: n must be at least 1 and a prefix must have probability")
    ends = np.cumsum(masses / masses.sum())
    points = (np.arange(n) + np.random.default_rng(seed).random()) / n
    places = np.minimum(np.searchsorted(ends, points, side="right"), len(prefixes) - 1)
    return tuple(prefixes[place] for place in places)


def with_draws(bounds: VerdictBounds, temperature: int, verdicts_N: ArrayLike) -> Floats:
    """Add what draws from the undecided rest say to what is settled: unbiased.

    Parameters
    ----------
    bounds : VerdictBounds
    temperature : int
        Index of the temperature the rest was drawn at.
    verdicts_N : array-like of int, shape (n_draws,)
        Verdict of each draw; -1 is none.

    Returns
    -------
    ndarray of float, shape (n_verdicts + 1,)

    Raises
    ------
    ValueError
        If there are no draws, or one is no verdict.

    Examples
    --------
    >>> bounds = closed_bounds([1.0], np.array([[0.6, 0.2, 0.0]]))
    >>> with_draws(bounds, 0, [0, 1, 1, -1]).round(6).tolist()
    [0.65, 0.3, 0.05]
    """
    low_V = bounds.low_TV[temperature]
    verdicts = np.asarray(verdicts_N, dtype=np.int64)
    if not verdicts.size or verdicts.min() < NO_VERDICT or verdicts.max() >= low_V.size - 1:
        raise ValueError("with_draws: verdicts_N must hold verdicts, -1 being none")
    share_V = np.bincount(verdicts % low_V.size, minlength=low_V.size) / verdicts.size
    found: Floats = low_V + bounds.undecided_T[temperature] * share_V
    return found
