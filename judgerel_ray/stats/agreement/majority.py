"""Majority votes: how often two juries of k replications give the same verdict.

How often two disjoint samples of k of a unit's ratings have one majority is a ratio of coefficients
of polynomials in x and y: a value rated n times gives a and b of its ratings to the two samples in
C(n, a) C(n - a, b) ways, marked x^a y^b. What is asked is the coefficient of x^k y^k where one
value is on top of both samples, so for every pair of winning counts c and d the polynomials of the
values are multiplied, cut at x^(k-c) y^(k-d).

For many rows it is faster to draw 2 k and split them: the probability is a mean over what the 2 k
may be, s = (s_1 ... s_V) with hypergeometric weights, and what two halves of s do is the same for
every row of counts. All that is left of a row is a bilinear form in the weights of half of its
values and those of the others: a matrix product. In both, all terms are positive: nothing cancels.

Shape suffixes: U = units, V = distinct values, N = rows, A, B = ratings given to the two samples,
S = ratings of a value drawn, L, R = vectors of counts of the left and the right half of the values;
``...`` = any leading batch axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb, e, factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_at_least_1
from judgerel_ray.stats.counts import (
    Coefficient,
    CountStatistic,
    Floats,
    PermutedTerm,
    count_vectors,
    divide,
    measure,
    slices,
)


def majority_stability(values_UV: ArrayLike, k: int, *, known: bool = False) -> Coefficient:
    r"""Compute how often the majority of k replications is that of k others.

    With known verdict distributions, :math:`\sum_v P(v; k)^2` averaged over units, exactly. From
    counts, the unbiased estimate of the same: the probability that two disjoint random samples of
    k, drawn from the unit's ratings without replacement, have one majority. A tie of t + 1 values
    gives each of them the 1 / (t + 1)th part of the vote.

    Parameters
    ----------
    values_UV : array-like, shape (n_units, n_values)
        How often each unit received each value; units with fewer than 2 k ratings take no part.
        With `known`, the probability of each value; a row with NaN takes no part.
    k : int
        Replications that vote, at least 1; with 1 it is percent agreement.
    known : bool
        Whether the rows are known distributions.

    Returns
    -------
    Coefficient
        In [0, 1]. ``undefined`` is "no_verdicts", "single_replication", or "too_few_replications"
        where no unit has 2 k ratings.

    Raises
    ------
    ValueError
        If k is below 1, the counts are no table of whole numbers, or the rows no distributions.

    Notes
    -----
    From counts, the squared share of majorities among all samples would be too high (the two
    samples overlap), and plugging in observed shares more so. Time O(k^2) for a distinct row and
    value, times what the ties need.

    Examples
    --------
    Three to one: two disjoint single draws agree in half of all pairs; two pairs of draws always
    pit AA against AB, a tie, so one half again:

    >>> majority_stability([[3, 1]], 1).value
    0.5
    >>> majority_stability([[3, 1]], 2).value
    0.5

    P(A wins of 3) = .9^3 + 3 x .9^2 x .1 = .972, so .972^2 + .028^2:

    >>> round(majority_stability([[0.9, 0.1]], 3, known=True).value, 6)
    0.945568
    """
    check_at_least_1("majority_stability", k=k)
    if not known:
        return measure(values_UV, majority_statistic(k))
    shares, _ = checked_distributions(values_UV, function="majority_stability")
    n_units = len(shares)
    value = float((majority_probabilities(shares, k) ** 2).sum(axis=1).mean()) if n_units else None
    return Coefficient(
        name=f"majority_stability_{k}",
        value=value,
        undefined=None if n_units else "no_verdicts",
        estimator=f"majorities of {k}, exact from distributions",
        n_units=n_units,
    )


def majority_statistic(k: int) -> CountStatistic:
    """Take :func:`majority_stability` of counts apart."""
    return CountStatistic(
        name=f"majority_stability_{k}",
        estimator=f"two disjoint samples of {k}, unbiased",
        terms=lambda counts: _majority_stability_terms(counts, k),
        value=lambda total: divide(total[..., 1], total[..., 0]),
        min_ratings=2 * k,
        chance_corrected=False,
        most_permutations=199,
        permuted=PermutedTerm(mean=lambda sizes_S, totals_V: _permuted_mean(sizes_S, totals_V, k)),
        pooled=True,
    )


def majority_probabilities(shares_UV: Floats, k: int) -> Floats:
    """Compute the probability that each value wins a vote of k, ties shared evenly.

    Parameters
    ----------
    shares_UV : ndarray of float, shape (n_units, n_values)
        Probability of each value.
    k : int
        Votes, at least 1.

    Returns
    -------
    ndarray of float, shape (n_units, n_values)
        Rows sum to 1.

    Examples
    --------
    Two votes: AA .36, BB .16, the rest ties:

    >>> majority_probabilities(np.array([[0.6, 0.4]]), 2).round(6).tolist()
    [[0.6, 0.4]]
    """
    n_units, n_values = shares_UV.shape
    wins = np.zeros((n_units, n_values))
    order = np.arange(k + 1)
    powers, scale = _powers_over_factorials(shares_UV, k)
    for c in range(-(-k // max(n_values, 1)), k + 1):
        for z, weight in tie_nodes(c, k):
            # Others get c at most; those that get c too tie, and the vote is shared.
            others = powers[..., : c + 1] * np.where(order[: c + 1] == c, z, 1.0)
            one = np.zeros((n_units, k - c + 1))
            one[:, 0] = 1.0
            # Of all values but one: those before it, and those after.
            after = [one]
            for u in range(n_values - 1, 0, -1):
                after.append(_cut_polynomial_product(after[-1], others[:, u]))
            before = one
            for v in range(n_values):
                rest = np.einsum("nj,nj->n", before, after[n_values - 1 - v][:, ::-1])
                wins[:, v] += weight * powers[:, v, c] * rest
                before = _cut_polynomial_product(before, others[:, v])
    return wins * scale


def _powers_over_factorials(shares_UV: Floats, k: int) -> tuple[Floats, float]:
    """Powers 0 .. k of each share over their factorials, and what turns products into chances.

    Of large k they are scaled: as chances of Poisson counts with mean k, which neither overflow nor
    vanish.
    """
    order = np.arange(k + 1)
    if k <= _SMALL_VOTE:
        powers = shares_UV[..., None] ** order / np.array([float(factorial(j)) for j in order])
        return powers, float(factorial(k))
    from scipy.special import gammaln, xlogy

    means = k * shares_UV[..., None]
    logs = xlogy(order, means) - means - gammaln(order + 1)
    return np.exp(logs), float(np.exp(k - k * np.log(k) + gammaln(k + 1)))


def _cut_polynomial_product(left_NI: Floats, right_NJ: Floats) -> Floats:
    """Product of polynomials, cut at the degree of the first."""
    product = left_NI * right_NJ[:, :1]
    for j in range(1, min(left_NI.shape[1], right_NJ.shape[1])):
        product[:, j:] += left_NI[:, :-j] * right_NJ[:, j : j + 1]
    return product


def _majority_stability_terms(counts: Floats, k: int) -> Floats:
    """[has 2 k ratings, how often two disjoint samples of k agree]."""
    enough = counts.sum(axis=-1) >= 2 * k
    agreement = np.zeros(enough.shape)
    agreement[enough] = pooled_agreement(counts[enough], k)
    return np.stack([enough.astype(np.float64), agreement], axis=-1)


def _permuted_mean(sizes_S: NDArray[np.int64], totals_V: NDArray[np.int64], k: int) -> Floats:
    """The mean over all permutations: two samples of a unit are then two samples of everything."""
    of_all = pooled_agreement(totals_V[None].astype(np.float64), k)
    return np.repeat(of_all, sizes_S.size)


def checked_distributions(
    values_UV: ArrayLike, *, function: str
) -> tuple[Floats, NDArray[np.bool_]]:
    """Read the rows without NaN, each a distribution, and mark which they are (ValueError)."""
    shares = np.asarray(values_UV, dtype=np.float64)
    if shares.ndim != 2:
        raise ValueError(f"{function}: distributions_UV must have 2 dimensions, got {shares.ndim}")
    there_U = np.asarray(~np.isnan(shares).any(axis=1))
    kept = shares[there_U]
    if (kept < 0).any() or (np.abs(kept.sum(axis=1) - 1) > 1e-6).any():
        raise ValueError(f"{function}: distributions_UV must hold rows that sum to 1")
    return kept, there_U


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


def majority_vote(shares_UV: ArrayLike, k: int) -> MajorityVote:
    """Compute how far two majority votes of k agree, and the alpha of majority labels.

    Parameters
    ----------
    shares_UV : array-like, shape (n_units, n_values)
        Probability of each verdict, known or from
        :func:`judgerel_ray.stats.supported_shares`.
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
    check_at_least_1("majority_vote", k=k)
    shares: Floats = np.asarray(shares_UV, dtype=np.float64)
    if shares.ndim != 2 or (shares < 0).any() or (np.abs(shares.sum(axis=1) - 1) > 1e-9).any():
        raise ValueError("majority_vote: shares_UV must have rows of probabilities that sum to 1")
    wins = majority_probabilities(shares, k)
    if not len(wins):
        raise ValueError("majority_vote: shares_UV must have at least one unit")
    agreement = float((wins**2).sum(axis=1).mean())
    chance = float((wins.mean(axis=0) ** 2).sum())
    alpha = 1 - (1 - agreement) / (1 - chance) if 1 - chance > 1e-12 else None
    return MajorityVote(agreement, alpha)


_SMALL_VOTE = 170  # the factorial of more is no double
_BATCH = 512  # rows multiplied at once: the polynomials of a batch stay in a processor's cache
Top = tuple[int, float, float]  # a winning count, and a node and a weight of its ties


def disjoint_agreement(counts_NV: Floats, k: int) -> Floats:
    """Compute how often two disjoint random samples of k ratings have the same majority.

    Shape (n_rows,).
    """
    if not len(counts_NV):
        return np.zeros(0)
    # The order of values does not matter, so sorted rows repeat; rare values leave columns of 0.
    ordered = -np.sort(-counts_NV.astype(np.int64), axis=1)
    rows_NV, back = np.unique(ordered, axis=0, return_inverse=True)
    found = np.empty(len(rows_NV))
    for some in slices(len(rows_NV), 1, _BATCH):
        batch = rows_NV[some]
        found[some] = _majority_agreement_of_rows(batch[:, (batch > 0).any(axis=0)], k)
    return found[back.reshape(-1)]


@lru_cache(maxsize=1024)
def tie_nodes(c: int, k: int) -> tuple[tuple[float, float], ...]:
    """Give nodes z and weights w with sum w z^t = 1 / (t + 1) for all ties t possible at c of k.

    Gauss and Legendre's rule on [0, 1], exact for polynomials: 1 / (t + 1) is the integral of z^t.

    Examples
    --------
    >>> [(round(z, 12), round(w, 12)) for z, w in tie_nodes(2, 3)]
    [(0.5, 1.0)]
    """
    nodes, weights = np.polynomial.legendre.leggauss((k // c - 1) // 2 + 1)
    return tuple(zip(((nodes + 1) / 2).tolist(), (weights / 2).tolist(), strict=True))


def _majority_agreement_of_rows(rows_NV: NDArray[np.int64], k: int) -> Floats:
    """The agreement of a batch of rows, their values from the most frequent on."""
    seen, index_NV = np.unique(rows_NV, return_inverse=True)
    index_VN = index_NV.reshape(rows_NV.shape).T
    ways_VABN = np.moveaxis(_ways_of_two_samples(seen, k)[:, :, index_VN], 2, 0)
    largest_V = rows_NV.max(axis=0)
    total = np.zeros(len(rows_NV))
    for left, right, weight in _winning_count_pairs(k, rows_NV.shape[1]):
        total += weight * _ways_one_value_tops(ways_VABN, largest_V, k, left, right)
    return total / [float(comb(m, k) * comb(m - k, k)) for m in rows_NV.sum(axis=1).tolist()]


def _winning_count_pairs(k: int, n_values: int) -> Iterator[tuple[Top, Top, float]]:
    """Pairs of winning counts with their weights; the samples are alike, so each pair but once."""
    tops = [(c, *node) for c in range(-(-k // n_values), k + 1) for node in tie_nodes(c, k)]
    for i, left in enumerate(tops):
        for j, right in enumerate(tops[: i + 1]):
            yield left, right, left[2] * right[2] * (1 if i == j else 2)


def _ways_of_two_samples(seen_C: NDArray[np.int64], k: int) -> Floats:
    """C(n, a) C(n - a, b) for a, b = 0 ... k and every count n, shape (k + 1, k + 1, counts)."""
    ways = np.zeros((k + 1, k + 1, len(seen_C)))
    ways[0, 0] = 1.0
    n = seen_C.astype(np.float64)
    for a in range(k + 1):
        if a:
            ways[a, 0] = ways[a - 1, 0] * np.maximum(n - a + 1, 0) / a
        for b in range(1, k + 1):
            ways[a, b] = ways[a, b - 1] * np.maximum(n - a - b + 1, 0) / b
    return ways


def _ways_one_value_tops(
    ways_VABN: Floats, largest_V: NDArray[np.int64], k: int, left: Top, right: Top
) -> Floats:
    """Ways to draw two samples that one value tops, c times in the first and d in the second."""
    (c, y, _), (d, z, _) = left, right
    shape = (k - c + 1, k - d + 1)
    # What a value that does not win may get: a tie at c or d is marked by its node.
    cut_VABN = ways_VABN[:, : min(c + 1, shape[0]), : min(d + 1, shape[1])].copy()
    cut_VABN[:, c:] *= y
    cut_VABN[:, :, d:] *= z
    win_VN = ways_VABN[:, c, d]
    none_yet = np.zeros((*shape, ways_VABN.shape[-1]))
    none_yet[0, 0] = 1.0
    one_won = np.zeros_like(none_yet)
    for cut, win, largest in zip(cut_VABN[:-1], win_VN[:-1], largest_V[:-1].tolist(), strict=True):
        one_won = _cut_product(one_won, cut, largest)
        one_won += none_yet * win
        none_yet = _cut_product(none_yet, cut, largest)
    # Of the last product only the highest coefficient counts.
    last = cut_VABN[-1]
    high = one_won[::-1, ::-1][: last.shape[0], : last.shape[1]]
    found: Floats = (high * last).sum(axis=(0, 1)) + none_yet[-1, -1] * win_VN[-1]
    return found


def _cut_product(left_IJN: Floats, right_ABN: Floats, largest: int) -> Floats:
    """Product of polynomials, cut at the degrees of the first; a + b is at most `largest`."""
    product = left_IJN.copy()  # the coefficient of x^0 y^0 is 1
    n_i, n_j, _ = left_IJN.shape
    for a in range(right_ABN.shape[0]):
        for b in range(min(right_ABN.shape[1], largest - a + 1)):
            if a or b:
                product[a:, b:] += left_IJN[: n_i - a, : n_j - b] * right_ABN[a, b]
    return product


_MOST_TABLES = 400_000  # what 2 k ratings of so many values may be; 3 MB
_FEWEST_ROWS = 300  # there are about as many sorted tables, whose halves come first
_LARGEST_K = 400  # weights stay within the range of numbers
_CELLS = 2_000_000  # weights held at once


def pooled_agreement(counts_NV: Floats, k: int) -> Floats:
    """Compute what :func:`.disjoint_agreement` does, up to rounding, for many rows."""
    if not len(counts_NV):
        return np.zeros(0)
    # The order of values does not matter, so sorted rows repeat.
    ordered = -np.sort(-counts_NV.astype(np.int64), axis=1)
    rows_NV, back = np.unique(ordered, axis=0, return_inverse=True)
    n_values_N = (rows_NV > 0).sum(axis=1)
    found = np.empty(len(rows_NV))
    for n_values in np.unique(n_values_N).tolist():
        same_width = n_values_N == n_values
        rows = rows_NV[same_width, :n_values]
        few_tables = comb(2 * k + n_values - 1, n_values - 1) <= _MOST_TABLES
        if few_tables and k <= _LARGEST_K and len(rows) >= _FEWEST_ROWS:
            found[same_width] = _pooled_majority_agreement(rows, k)
        else:
            found[same_width] = disjoint_agreement(rows.astype(np.float64), k)
    return found[back.reshape(-1)]


def _pooled_majority_agreement(rows_NV: NDArray[np.int64], k: int) -> Floats:
    """The agreement of rows without zeros."""
    n_values = rows_NV.shape[1]
    n_left = n_values // 2
    blocks = _halves_of_sampled_ratings(k, n_values)
    width = sum(left.shape[0] + right.shape[0] for left, right, _ in blocks)
    found = np.empty(len(rows_NV))
    for some in slices(len(rows_NV), width, _CELLS):
        weights_VSN = _binomial_count_weights(rows_NV[some].T, k)
        total = np.zeros(weights_VSN.shape[-1])
        for left_LV, right_RV, agreement_RL in blocks:
            of_left_LN = _products_of_count_weights(weights_VSN[:n_left], left_LV)
            of_right_RN = _products_of_count_weights(weights_VSN[n_left:-1], right_RV)
            total += ((agreement_RL @ of_left_LN) * of_right_RN).sum(axis=0)
        found[some] = total / weights_VSN[-1, -1]
    return found


def _binomial_count_weights(rows_VN: NDArray[np.int64], k: int) -> Floats:
    """C(n, s) of every count and, last, of its row's sum, times a power of s that cancels."""
    sums_N = rows_VN.sum(axis=0)
    n_VN = np.vstack([rows_VN, sums_N]).astype(np.float64)
    weights = np.ones((len(n_VN), 2 * k + 1, n_VN.shape[1]))
    for s in range(1, 2 * k + 1):
        # 2 k / e makes up for (2 k)!, which would be too large for a number.
        factor = np.maximum(n_VN - (s - 1), 0) / sums_N * (2 * k / e / s)
        weights[:, s] = weights[:, s - 1] * factor
    return weights


def _products_of_count_weights(weights_VSN: Floats, drawn_LV: NDArray[np.int64]) -> Floats:
    """Weights of vectors of counts: products over their values."""
    product = np.ones((len(drawn_LV), weights_VSN.shape[-1]))
    for weights_SN, drawn_L in zip(weights_VSN, drawn_LV.T, strict=True):
        product *= weights_SN[drawn_L]
    return product


@lru_cache(maxsize=32)
def _halves_of_sampled_ratings(
    k: int, n_values: int
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64], Floats], ...]:
    """What 2 k ratings may be, by how many are of the left values, and what their halves do."""
    n_left = n_values // 2
    blocks = []
    for t in range(2 * k + 1):
        left_LV, right_RV = count_vectors(t, n_left), count_vectors(2 * k - t, n_values - n_left)
        if len(left_LV):
            blocks.append((left_LV, right_RV))
    tables = [
        np.hstack([np.tile(left, (len(right), 1)), np.repeat(right, len(left), axis=0)])
        for left, right in blocks
    ]
    agreement = disjoint_agreement(np.vstack(tables).astype(np.float64), k)
    parts = np.split(agreement, np.cumsum([len(left) * len(right) for left, right in blocks])[:-1])
    return tuple(
        (left, right, part.reshape(len(right), len(left)))
        for (left, right), part in zip(blocks, parts, strict=True)
    )
