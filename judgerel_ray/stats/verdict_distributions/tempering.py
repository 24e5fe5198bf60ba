"""Verdict distributions at every temperature from raw log-probabilities: no sampling.

An engine gives the log-probabilities of the most probable next tokens before any temperature. Each
token is tempered and the list cut to the top k first; only then are the tokens that spell one
verdict summed. What the list leaves out is bounded, not ignored.

Where the verdict comes after other tokens, every prefix has a probability at each temperature. The
most probable undecided ones are asked for their next tokens, branches whose verdict cannot change
are closed, and what is left undecided bounds every verdict. Only the caller asks an engine: this is
pure bookkeeping.

Shape suffixes: K = listed tokens, T = temperatures, V = verdicts and, last, "no verdict".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import Floats, divide

NO_VERDICT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperedStep:
    """Probabilities of the next token at each temperature, between bounds."""

    # Of each listed token; equal where the list holds all that can be sampled.
    low_TK: Floats  # noqa: N815  a shape, not a case
    high_TK: Floats  # noqa: N815
    # Most probability that tokens beyond the list may have together.
    rest_T: Floats  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictBounds:
    """Probability of each verdict at each temperature, between certain bounds.

    Attributes
    ----------
    temperatures : tuple of float
    low_TV, high_TV : ndarray of float, shape (n_temperatures, n_verdicts + 1)
        The last column is "no verdict".
    """

    temperatures: tuple[float, ...]
    low_TV: Floats  # noqa: N815
    high_TV: Floats  # noqa: N815

    @property
    def undecided_T(self) -> Floats:  # noqa: N802
        """Probability that is not settled, by temperature."""
        undecided: Floats = np.maximum(0.0, 1 - self.low_TV.sum(axis=1))
        return undecided

    @property
    def probability_TV(self) -> Floats:  # noqa: N802
        """Best guess, of sum 1: the undecided shared in proportion to the settled.

        NaN at a temperature where nothing is settled.
        """
        settled = self.low_TV.sum(axis=1, keepdims=True)
        return divide(self.low_TV, np.broadcast_to(settled, self.low_TV.shape))


def tempered_step(
    logprobs_K: ArrayLike,
    temperatures: Sequence[float],
    *,
    top_k: int = 0,
    n_vocabulary: int | None = None,
) -> TemperedStep:
    r"""Temper the most probable next tokens.

    .. math:: p_T(k) = e^{l_k / T} / \sum_j e^{l_j / T}

    over the `top_k` most probable tokens. At temperature 0 the most probable token has it all;
    ties share it.

    Parameters
    ----------
    logprobs_K : array-like of float, shape (n_tokens,)
        Natural logs, before any temperature, of the most probable tokens, in any order; no token
        left out is more probable than one listed.
    temperatures : sequence of float
        From 0 on.
    top_k : int
        Tokens that can be sampled; 0 is all. Tokens tied with the k-th are kept, as engines do:
        list a few more than k, for a tie beyond the list cannot be seen.
    n_vocabulary : int, optional
        Tokens there are at all. Without it, temperatures above 1 need `top_k` tokens listed, for
        any number of unlikely tokens could have any mass there.

    Returns
    -------
    TemperedStep
        Exact where as many tokens as `top_k` (or as the vocabulary) are listed.

    Raises
    ------
    ValueError
        If nothing is listed, a value is no log-probability, or a temperature is out of range or
        cannot be bounded.

    Examples
    --------
    >>> import math
    >>> step = tempered_step([math.log(0.8), math.log(0.2)], [1.0, 0.5, 0.0], n_vocabulary=2)
    >>> step.low_TK.round(4).tolist()
    [[0.8, 0.2], [0.9412, 0.0588], [1.0, 0.0]]
    """
    logprobs = _checked_logprobs(logprobs_K, temperatures)
    masses = np.exp(logprobs)
    n_more = None if n_vocabulary is None else max(0, n_vocabulary - logprobs.size)
    beyond = max(0.0, 1 - float(masses.sum())) if n_more != 0 else 0.0
    kept = np.ones(logprobs.size, dtype=bool)
    capped = top_k > 0 and (n_more is None or top_k < logprobs.size + n_more)
    if capped and logprobs.size >= top_k:
        kept = logprobs >= np.partition(logprobs, -top_k)[-top_k]
        beyond, n_more = 0.0, 0
    low = np.zeros((len(temperatures), logprobs.size))
    high, rest = np.zeros_like(low), np.zeros(len(temperatures))
    for t, temperature in enumerate(temperatures):
        if temperature == 0:
            first = logprobs == logprobs.max()
            unseen = _unseen_ties(beyond, logprobs, n_more)
            low[t], high[t] = first / (first.sum() + unseen), first / first.sum()
            rest[t] = unseen / (first.sum() + unseen)
            continue
        scaled = np.where(kept, np.exp((logprobs - logprobs.max()) / temperature), 0.0)
        least, most = _tempered_tail_sum(beyond, logprobs, temperature, n_more, capped=capped)
        low[t], high[t] = scaled / (scaled.sum() + most), scaled / (scaled.sum() + least)
        rest[t] = most / (scaled.sum() + most)
    return TemperedStep(low_TK=low, high_TK=high, rest_T=rest)


def verdict_bounds(
    logprobs_K: ArrayLike,
    verdict_K: ArrayLike,
    temperatures: Sequence[float],
    *,
    n_verdicts: int,
    top_k: int = 0,
    n_vocabulary: int | None = None,
) -> VerdictBounds:
    """Compute the verdict distribution where one token decides, from one pass.

    Parameters
    ----------
    logprobs_K : array-like of float, shape (n_tokens,)
        As for :func:`tempered_step`.
    verdict_K : array-like of int, shape (n_tokens,)
        Verdict each token spells, from 0 on; -1 spells none. Several tokens may spell one.
    temperatures : sequence of float
        From 0 on.
    n_verdicts : int
        Verdicts there are, at least 1.
    top_k, n_vocabulary
        As for :func:`tempered_step`.

    Returns
    -------
    VerdictBounds
        Tokens beyond the list may spell anything, so all of them widen every bound.

    Raises
    ------
    ValueError
        As :func:`tempered_step`, and if `verdict_K` is of another length or out of range.

    Examples
    --------
    "A" and " A" spell the first verdict. Each is tempered before they are summed: at T = 0.5,
    (.3^2 + .3^2) / (.3^2 + .3^2 + .4^2), and not .6^2 / (.6^2 + .4^2).

    >>> import numpy as np
    >>> found = verdict_bounds(np.log([0.3, 0.3, 0.4]), [0, 0, 1], [1.0, 0.5], n_verdicts=2,
    ...                        n_vocabulary=3)
    >>> found.low_TV.round(4).tolist()
    [[0.6, 0.4, 0.0], [0.5294, 0.4706, 0.0]]
    """
    verdict = np.asarray(verdict_K)
    if verdict.shape != np.shape(logprobs_K) or not np.issubdtype(verdict.dtype, np.integer):
        raise ValueError(
            f"verdict_bounds: verdict_K must hold a whole number a token, got {verdict!r}"
        )
    if n_verdicts < 1 or ((verdict < NO_VERDICT) | (verdict >= n_verdicts)).any():
        raise ValueError(f"verdict_bounds: verdict_K must be from -1 to {n_verdicts - 1}")
    step = tempered_step(logprobs_K, temperatures, top_k=top_k, n_vocabulary=n_vocabulary)
    spells = (verdict[:, None] % (n_verdicts + 1)) == np.arange(n_verdicts + 1)
    low_TV = step.low_TK @ spells
    return closed_bounds(temperatures, low_TV, step.high_TK @ spells + step.rest_T[:, None])


def closed_bounds(
    temperatures: Sequence[float], low_TV: Floats, high_TV: Floats | None = None
) -> VerdictBounds:
    """Make bounds of what is settled: no verdict can have more than the others leave."""
    settled = low_TV.sum(axis=1, keepdims=True)
    left = np.maximum(low_TV, np.minimum(1.0, 1 - settled + low_TV))
    high = left if high_TV is None else np.maximum(low_TV, np.minimum(left, high_TV))
    return VerdictBounds(temperatures=tuple(temperatures), low_TV=low_TV, high_TV=high)


def _unseen_ties(beyond: float, logprobs_K: Floats, n_more: int | None) -> float:
    """Most unlisted tokens that may tie for the first: none unless all listed do."""
    if beyond <= 0 or logprobs_K.min() < logprobs_K.max():
        return 0.0
    most = float(np.floor(beyond / np.exp(logprobs_K.max()) + 1e-12))
    return most if n_more is None else min(most, float(n_more))


def _tempered_tail_sum(
    beyond: float, logprobs_K: Floats, temperature: float, n_more: int | None, *, capped: bool
) -> tuple[float, float]:
    """Least and most of the sum of q^(1/T) over unlisted tokens, in units of the largest's.

    Each q is at most the smallest listed probability and all of them sum to `beyond`. The sum is
    convex in q below temperature 1 and concave above it, so one end has few large tokens, the
    other has all of them equal. Where `top_k` cuts inside the tail, part of it may be cut off
    (and how much stays is not counted: any number of tokens may tie with the k-th).
    """
    if beyond <= 0 or n_more == 0:
        return 0.0, 0.0
    largest, unit = np.exp(logprobs_K.min()), np.exp(logprobs_K.max())
    if largest == 0:
        return 0.0, 0.0
    power = 1 / temperature
    full = np.floor(beyond / largest + 1e-12)
    if n_more is not None and full >= n_more:
        return (0.0 if capped else n_more) * (largest / unit) ** power, float(
            n_more * (largest / unit) ** power
        )
    left = max(0.0, beyond - full * largest)
    packed = float(full * (largest / unit) ** power + (left / unit) ** power)
    spread = np.inf if n_more is None else float(n_more * (beyond / n_more / unit) ** power)
    if temperature <= 1:
        return 0.0 if capped or n_more is None else min(spread, packed), packed
    if not np.isfinite(spread):
        raise ValueError(
            "tempered_step: temperatures above 1 need n_vocabulary, or top_k tokens listed, "
            f"got {temperature!r}"
        )
    return 0.0 if capped else packed, spread


def _checked_logprobs(logprobs_K: ArrayLike, temperatures: Sequence[float]) -> NDArray[np.float64]:
    """The log-probabilities, refusing what are none."""
    logprobs = np.asarray(logprobs_K, dtype=np.float64)
    if logprobs.ndim != 1 or not logprobs.size:
        raise ValueError(f"tempered_step: logprobs_K must list tokens, got shape {logprobs.shape}")
    # Engines add up to one with an error of single precision.
    if np.isnan(logprobs).any() or np.exp(logprobs).sum() > 1 + 1e-3:
        raise ValueError("tempered_step: logprobs_K must be natural logs of probabilities")
    if logprobs.max() == -np.inf:
        raise ValueError("tempered_step: logprobs_K must hold a token that can be sampled")
    if not all(0 <= temperature < np.inf for temperature in temperatures):
        raise ValueError(f"tempered_step: temperatures must be from 0 on, got {temperatures!r}")
    return logprobs


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
