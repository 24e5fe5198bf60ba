"""Shares of verdicts that finite counts support, and what majority labels from them are worth.

Shape suffixes: U = units, V = distinct values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.majority import majority_probabilities
from judgerel_ray.stats.statistic import Floats


class MajorityVote(NamedTuple):
    """How far majority labels can be depended on.

    Attributes
    ----------
    agreement : float
        Chance that two independent majority votes on the same question agree, mean over questions.
    alpha : float or None
        Krippendorff's nominal alpha of such votes; None where one label is all there is.
    """

    agreement: float
    alpha: float | None


def supported_shares(counts_UV: ArrayLike, *, distances_VV: ArrayLike | None = None) -> Floats:
    r"""Estimate each unit's verdict shares so that they differ no more than the counts support.

    Observed shares of few replications look steadier and further apart than the judge is. They are
    drawn towards the mean of all units by one factor, such that the shares that result show just
    the agreement that pairs of replications show without bias.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    distances_VV : array-like, shape (n_values, n_values), optional
        Squared distances between values; by default 1 between different ones.

    Returns
    -------
    ndarray, shape (n_units taking part, n_values)
        Rows sum to 1. All rows equal the mean where units differ no more than chance.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers.

    Notes
    -----
    With D_o the mean of the units' unbiased disagreements, S the mean disagreement inside the
    observed shares, and E that inside their mean, shares drawn by a factor f show
    ``E - f^2 (E - S)``; f^2 = (E - D_o) / (E - S), at most 1. An approximation: the spread is
    right, the shape of single questions is not known. In simulation majorities from five or more
    replications are right to .004; from two, majorities of 21 seem less stable by up to .07.

    Examples
    --------
    >>> supported_shares([[2, 0], [2, 0], [0, 2], [1, 1]]).round(3).tolist()
    [[0.924, 0.076], [0.924, 0.076], [0.126, 0.874], [0.525, 0.475]]
    """
    counts = checked_counts(counts_UV, function="supported_shares")
    counts = counts[counts.sum(axis=1) >= 2]
    distances = _distances(distances_VV, counts.shape[1])
    m_U = counts.sum(axis=1)
    shares: Floats = counts / m_U[:, None]
    if not len(shares):
        return shares
    inside_U = ((shares @ distances) * shares).sum(axis=1)
    unbiased = float((inside_U * m_U / (m_U - 1)).mean())
    return drawn_together(shares, unbiased, distances_VV=distances)


def drawn_together(
    shares_UV: Floats, disagreement: float, *, distances_VV: ArrayLike | None = None
) -> Floats:
    """Draw shares towards their mean until they show a given disagreement inside units.

    Parameters
    ----------
    shares_UV : ndarray, shape (n_units, n_values)
        Observed shares.
    disagreement : float
        Mean disagreement of two verdicts on one unit, estimated without bias.
    distances_VV : array-like, shape (n_values, n_values), optional
        Squared distances between values; by default 1 between different ones.

    Returns
    -------
    ndarray, shape (n_units, n_values)
        All rows the mean where the disagreement is more than that; as they are where it is less
        than they show.

    Examples
    --------
    >>> drawn_together(np.array([[1.0, 0.0], [0.0, 1.0]]), 0.32).round(3).tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    distances = _distances(distances_VV, shares_UV.shape[1])
    mean_V = shares_UV.mean(axis=0)
    inside = float(((shares_UV @ distances) * shares_UV).sum(axis=1).mean())
    around = float(mean_V @ distances @ mean_V)
    spread = around - inside
    factor = 0.0
    if spread > 1e-15:
        factor = float(np.sqrt(np.clip((around - disagreement) / spread, 0.0, 1.0)))
    drawn: Floats = mean_V + factor * (shares_UV - mean_V)
    return drawn


def majority_vote(shares_UV: ArrayLike, k: int) -> MajorityVote:
    """Compute how far two majority votes of k agree, and the alpha of majority labels.

    Parameters
    ----------
    shares_UV : array-like, shape (n_units, n_values)
        Probability of each verdict, known or from :func:`supported_shares`.
    k : int
        Votes.

    Returns
    -------
    MajorityVote

    Raises
    ------
    ValueError
        If the shares are no probabilities, there are none, or k is below 1.

    Examples
    --------
    .896^2 + .104^2:

    >>> round(majority_vote([[0.8, 0.2], [0.2, 0.8]], 3).agreement, 3)
    0.814
    """
    if k < 1:
        raise ValueError(f"majority_vote: k must be at least 1, got {k}")
    wins = majority_probabilities(_checked_shares(shares_UV, function="majority_vote"), k)
    if not len(wins):
        raise ValueError("majority_vote: shares_UV must have at least one unit")
    agreement = float((wins**2).sum(axis=1).mean())
    chance = float((wins.mean(axis=0) ** 2).sum())
    alpha = 1 - (1 - agreement) / (1 - chance) if 1 - chance > 1e-12 else None
    return MajorityVote(agreement, alpha)


def _distances(distances_VV: ArrayLike | None, n_values: int) -> Floats:
    """Distances given, or 1 between different values."""
    given = 1.0 - np.eye(n_values) if distances_VV is None else distances_VV
    distances: Floats = np.asarray(given, dtype=np.float64)
    if distances.shape != (n_values, n_values):
        raise ValueError(
            f"supported_shares: distances_VV must have shape {(n_values, n_values)}, "
            f"got {distances.shape}"
        )
    return distances


def _checked_shares(shares_UV: ArrayLike, *, function: str) -> Floats:
    """Rows of probabilities."""
    shares: Floats = np.asarray(shares_UV, dtype=np.float64)
    if shares.ndim != 2 or (shares < 0).any() or (np.abs(shares.sum(axis=1) - 1) > 1e-9).any():
        raise ValueError(f"{function}: shares_UV must have rows of probabilities that sum to 1")
    return shares
