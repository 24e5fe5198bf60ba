"""Plain scores to hold a confusion matrix against, at what they cost.

Shape suffixes: U = items, V = distinct verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.agreement.certainty import entropy_terms
from judgerel_ray.stats.counts.counts import checked_counts
from judgerel_ray.stats.counts.statistic import Floats, divide


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteScores:
    """How sure a judge is by its own replications.

    Attributes
    ----------
    share_U : ndarray of float, shape (n_items,)
        Share of the most frequent verdict; NaN without replications.
    entropy_U : ndarray of float, shape (n_items,)
        Entropy of the verdicts in nats, Miller and Madow's; NaN below two replications.
    """

    share_U: Floats  # noqa: N815  a shape, not a case
    entropy_U: Floats  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodTokens:
    """Tokens a method computes for one item, the prompt's shared parts once.

    Attributes
    ----------
    confusion : int
        The judge's own verdict, an assessment an option, and a pass over each.
    confusion_uncached : int
        The same as n squared prompts, none of them sharing anything.
    replication : int
        Each replication after the prompt: what it generates.
    replications : int
        Replications that cost no more than the confusion matrix, the first one's prompt included.
    """

    confusion: int
    confusion_uncached: int
    replication: int
    replications: int


def vote_scores(counts_UV: ArrayLike) -> VoteScores:
    """Score each item by how far its replications agree.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_items, n_values)
        How often each verdict was given; of as many replications as the comparison may cost.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers.

    Examples
    --------
    >>> vote_scores([[3, 1], [0, 0]]).share_U.tolist()
    [0.75, nan]
    """
    counts = checked_counts(counts_UV, function="vote_scores")
    m = counts.sum(axis=1)
    entropy = entropy_terms(counts)[:, 1]
    return VoteScores(
        share_U=divide(counts.max(axis=1, initial=0.0), m),
        entropy_U=np.where(m >= 2, entropy, np.nan),
    )


def method_tokens(
    *, n_options: int, prompt: int, assessment: int, suffix: int, reply: int
) -> MethodTokens:
    """Count what a confusion matrix costs, and how many replications it would have bought.

    Parameters
    ----------
    n_options : int
        Options of the item, at least 2.
    prompt, assessment, suffix, reply : int
        Tokens of the item's prompt, of one assessment, of what is said after it to ask for the
        verdict, and of one whole reply with a verdict.

    Returns
    -------
    MethodTokens

    Raises
    ------
    ValueError
        If there are fewer than two options, or a number is below 1.

    Examples
    --------
    >>> found = method_tokens(n_options=5, prompt=1700, assessment=200, suffix=30, reply=50)
    >>> found.confusion, found.confusion_uncached, found.replications
    (2900, 59500, 24)
    """
    if n_options < 2 or min(prompt, assessment, suffix, reply) < 1:
        raise ValueError(
            "method_tokens: n_options must be at least 2 and token counts at least 1, "
            f"got {n_options}, {prompt}, {assessment}, {suffix}, {reply}"
        )
    confusion = prompt + reply + n_options * (assessment + suffix)
    uncached = (
        prompt + reply + n_options * (prompt + assessment)
        + n_options**2 * (prompt + assessment + suffix)
    )  # fmt: skip
    return MethodTokens(
        confusion=confusion,
        confusion_uncached=uncached,
        replication=reply,
        replications=(confusion - prompt) // reply,
    )
