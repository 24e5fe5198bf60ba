"""Verdict distributions at every temperature from raw log-probabilities: no sampling.

An engine gives the log-probabilities of the most probable next tokens before any temperature. Each
token is tempered and the list cut to the top k first; only then are the tokens that spell one
verdict summed. What the list leaves out is bounded, not ignored.

Shape suffixes: K = listed tokens, T = temperatures, V = verdicts and, last, "no verdict".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts.statistic import Floats, divide

NO_VERDICT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperedStep:
    """Probabilities of the next token at each temperature, between bounds.

    Attributes
    ----------
    low_TK, high_TK : ndarray of float
        Of each listed token; equal where the list holds all that can be sampled.
    rest_T : ndarray of float
        Most probability that tokens beyond the list may have together.
    """

    low_TK: Floats  # noqa: N815  a shape, not a case
    high_TK: Floats  # noqa: N815
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
    logprobs = _checked(logprobs_K, temperatures)
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
        least, most = _tail(beyond, logprobs, temperature, n_more, capped=capped)
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
    """Make bounds of what is settled: no verdict can have more than the others leave.

    Examples
    --------
    >>> closed_bounds([1.0], np.array([[0.5, 0.3, 0.1]])).high_TV.round(2).tolist()
    [[0.6, 0.4, 0.2]]
    """
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


def _tail(
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


def _checked(logprobs_K: ArrayLike, temperatures: Sequence[float]) -> NDArray[np.float64]:
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
