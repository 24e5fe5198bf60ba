"""How verdict distributions vary over questions, estimated without assuming a form.

Each question has a distribution over the verdicts, drawn from an unknown mixing distribution. Its
posterior under a Dirichlet process prior is sampled: questions are assigned to atoms, then atoms
and weights are drawn given the assignments. Questions with the same counts are assigned by one
multinomial draw, so the cost depends on how many different rows of counts there are, not on how
many questions. Where values have no names, they are sorted from the most frequent on. The interval
of nominal alpha follows from the posterior. Where only the spread over questions matters, observed
shares drawn towards their mean by one factor are enough, and cheaper.

Shape suffixes: U = units, V = distinct values, D = distinct rows of counts, B = tables, J = atoms
or distributions, M = concentrations, S = different counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.arguments import check_fraction, check_shape
from judgerel_ray.stats.counts import (
    CountStatistic,
    Floats,
    checked_counts,
    drawn_counts,
    term_sums,
)
from judgerel_ray.stats.intervals.interval import Interval
from judgerel_ray.stats.null.noise import noise_floor

Ints = NDArray[np.int64]
_ATOMS = 20
_BASE = 0.4
"""Concentration of the base measure, Dirichlet with equal shares: most mass near one verdict. With
1 the alpha .8 of 20 questions asked twice was missed in a quarter of simulated tables."""
_CONCENTRATIONS = np.array([1.0, 3.0, 10.0])  # of the process, each as likely: from few to many
CHAINS, _DROPPED, KEPT = 4, 40, 100
"""Chains of a table, and draws of each; 40 more are dropped."""
MOST_CELLS = 20_000
"""Distinct rows times values above which there is no posterior: about ten seconds."""
TINY = 1e-300
_SHARES = 400  # equal weights that stand for the posterior mean


def mixing_states(
    rows_DV: Ints, numbers_BD: Ints, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Draw from the posterior of the mixing distribution, for many tables at once.

    tuple of ndarray: Weights of the atoms, shape (n_tables, n_atoms), and the atoms, shape
    (n_tables, n_atoms, n_values). The first 40 draws are dropped already; neighbouring draws are
    correlated.

    Notes
    -----
    Twenty atoms with Dirichlet(M / 20) weights, a finite form of the process with total weight M
    [1]_; M is 1, 3 or 10, drawn along.

    References
    ----------
    .. [1] Ishwaran, H. and James, L. F. (2001), Gibbs sampling methods for stick-breaking priors,
       doi:10.1198/016214501750332758.
    """
    from scipy.special import gammaln

    rows, (n_tables, _), n_values = rows_DV.astype(np.float64), numbers_BD.shape, rows_DV.shape[1]
    base, sizes_B1 = _BASE / n_values, numbers_BD.sum(axis=1, keepdims=True)
    atoms = _dirichlet_draws(np.full((n_tables, _ATOMS, n_values), base), rng)
    weights = np.full((n_tables, _ATOMS), 1 / _ATOMS)
    prior_BM = gammaln(_CONCENTRATIONS) - gammaln(sizes_B1 + _CONCENTRATIONS)
    prior_BM = prior_BM - _ATOMS * gammaln(_CONCENTRATIONS / _ATOMS)
    for step in range(_DROPPED + KEPT):
        log_BJD = np.log(np.maximum(atoms, 1e-12)) @ rows.T + np.log(weights + TINY)[..., None]
        chance_BDJ = np.moveaxis(np.exp(log_BJD - log_BJD.max(axis=1, keepdims=True)), 1, 2)
        chance_BDJ = chance_BDJ / chance_BDJ.sum(axis=2, keepdims=True)
        assigned_BDJ = rng.multinomial(numbers_BD, chance_BDJ)
        in_atom_BJ = assigned_BDJ.sum(axis=1)
        log_BM = prior_BM + gammaln(in_atom_BJ[..., None] + _CONCENTRATIONS / _ATOMS).sum(axis=1)
        chosen = (log_BM + rng.gumbel(size=log_BM.shape)).argmax(axis=1)  # drawn by its posterior
        atoms = _dirichlet_draws(np.moveaxis(assigned_BDJ, 1, 2) @ rows + base, rng)
        weights = _dirichlet_draws(in_atom_BJ + _CONCENTRATIONS[chosen][:, None] / _ATOMS, rng)
        if step >= _DROPPED:
            yield weights, atoms


def posterior_shares(counts_UV: ArrayLike) -> Floats:
    """Estimate the verdict distributions of questions like these, as a table of equal weights.

    Shape (n_shares, n_values that occur). Evenly spread over the posterior mean of the mixing
    distribution, values from the most frequent on; no rows where no unit takes part. Unlike
    observed shares they differ no more than the questions do, and unlike shares drawn together by
    one factor they keep questions of two kinds apart.
    """
    counts = checked_counts(counts_UV, function="posterior_shares")
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return np.zeros((0, counts.shape[1]))
    rows, numbers = distinct_rows(counts)
    step = -(-rows.size // MOST_CELLS)  # of many thousand different rows some are enough
    chains = np.repeat(numbers[None, ::step], CHAINS, axis=0)
    states = list(mixing_states(rows[::step], chains, np.random.default_rng(0)))[::10]
    weights = np.concatenate([weights.ravel() for weights, _ in states])
    atoms = np.concatenate([atoms.reshape(-1, rows.shape[1]) for _, atoms in states])
    order = np.lexsort(atoms.T)
    reached = np.cumsum(weights[order])
    places = (np.arange(_SHARES) + 0.5) / _SHARES * reached[-1]
    shares: Floats = atoms[order][np.searchsorted(reached, places)]
    return shares


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
    distances = _distances_or_nominal(distances_VV, counts.shape[1])
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
    distances = _distances_or_nominal(distances_VV, shares_UV.shape[1])
    mean_V = shares_UV.mean(axis=0)
    inside = float(((shares_UV @ distances) * shares_UV).sum(axis=1).mean())
    around = float(mean_V @ distances @ mean_V)
    spread = around - inside
    factor = 0.0
    if spread > 1e-15:
        factor = float(np.sqrt(np.clip((around - disagreement) / spread, 0.0, 1.0)))
    drawn: Floats = mean_V + factor * (shares_UV - mean_V)
    return drawn


def _distances_or_nominal(distances_VV: ArrayLike | None, n_values: int) -> Floats:
    """Distances given, or 1 between different values."""
    matrix = 1.0 - np.eye(n_values) if distances_VV is None else distances_VV
    distances: Floats = np.asarray(matrix, dtype=np.float64)
    check_shape("supported_shares", (n_values, n_values), distances_VV=distances)
    return distances


def distinct_rows(counts_UV: Floats) -> tuple[Ints, Ints]:
    """List the different rows of counts, and how often each occurs.

    Columns are put in an order that does not depend on theirs, from the most frequent value on.
    """
    counts: Ints = counts_UV.astype(np.int64)
    counts = counts[:, counts.any(axis=0)]
    there = counts_UV[:, counts_UV.any(axis=0)]
    squares = there * there
    order = np.lexsort([-one.sum(axis=0) for one in (squares * there, squares, there)])
    counts = counts[:, order]
    radix = int(counts.max(initial=0)) + 1
    if radix ** counts.shape[1] < 2**62:  # one number a row: sorted ten times faster
        key = counts @ (radix ** np.arange(counts.shape[1] - 1, -1, -1, dtype=np.int64))
        _, first, numbers = np.unique(key, return_index=True, return_counts=True)
        return counts[first], numbers.astype(np.int64)
    rows, numbers = np.unique(counts, axis=0, return_counts=True)
    return rows, numbers.astype(np.int64)


def _dirichlet_draws(concentrations: Floats, rng: np.random.Generator) -> Floats:
    """Draws along the last axis; those of tiny concentrations do not vanish altogether."""
    drawn = rng.standard_gamma(concentrations) + TINY
    shares: Floats = drawn / drawn.sum(axis=-1, keepdims=True)
    return shares


PARTITIONS = 150
"""Distributions of three and more values, at most, besides those of two."""


def sorted_likelihood(rows_DV: Floats, shares_JV: Floats) -> Floats:
    """Sum, over all ways to give the counts of a row to the values, what each is likely.

    Up to a factor of the row, shape (n_rows, n_distributions).

    Examples
    --------
    Both ways of .9 x .9 x .1, and of .5 x .5 x .5:

    >>> rows, shares = np.array([[2.0, 1.0]]), np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> sorted_likelihood(rows, shares).round(6).tolist()
    [[0.09, 0.25]]
    """
    n_values = rows_DV.shape[1]
    seen, index = np.unique(rows_DV, return_inverse=True)
    index_DV = index.reshape(rows_DV.shape)
    power_VJS = np.moveaxis(shares_JV, 1, 0)[..., None] ** seen
    # The permanent of a matrix, by the sets of values that have got a count: nothing cancels.
    sums = {0: np.ones((len(rows_DV), len(shares_JV)))}
    for place in range(n_values):
        longer: dict[int, Floats] = {}
        for taken, found_DJ in sums.items():
            for v in range(n_values):
                if not taken >> v & 1:
                    more_DJ = found_DJ * power_VJS[v].T[index_DV[:, place]]
                    key = taken | 1 << v
                    longer[key] = longer[key] + more_DJ if key in longer else more_DJ
        sums = longer
    return sums[(1 << n_values) - 1]


def sorted_rows(counts: Floats) -> tuple[Floats, Floats]:
    """List distinct rows, sorted from the most frequent value on, and how often each occurs."""
    ordered = -np.sort(-counts, axis=1)
    rows, numbers = distinct_rows(ordered)
    rows = -np.sort(-rows, axis=1)
    if rows.shape[1] < 2:
        rows = np.hstack([rows, np.zeros_like(rows)])
    return rows.astype(np.float64), numbers.astype(np.float64)


def thinned(counts: Floats, most: int) -> Floats:
    """Draw at most so many ratings of each unit at random; the order of units does not matter."""
    rng = np.random.default_rng(0)
    rows = -np.sort(-counts.astype(np.int64), axis=1)
    rows = rows[np.lexsort(rows.T)]
    kept = drawn_counts(rows, np.minimum(rows.sum(axis=1), most), 1, rng)[0]
    found: Floats = kept.astype(np.float64)
    return found


@lru_cache(maxsize=8)
def sorted_distributions(n_values: int) -> Floats:
    """List sorted distributions, finer towards unanimity: (n_distributions, n_values)."""
    top = np.sin(np.linspace(np.pi / 4, np.pi / 2, 65)) ** 2
    two = np.zeros((top.size, n_values))
    two[:, 0], two[:, 1] = top, 1 - top
    if n_values == 2:
        return two
    parts = 1
    while len(partitions(parts + 1, n_values)) <= PARTITIONS:
        parts += 1
    more = np.array(partitions(parts, n_values), dtype=np.float64) / parts
    return np.unique(np.vstack([two, more]).round(12), axis=0)


def partitions(n: int, n_parts: int, most: int | None = None) -> list[list[int]]:
    """List all ways to write n as a sum of so many parts, the largest first."""
    most = n if most is None else min(n, most)
    if n_parts == 1:
        return [[n]] if n <= most else []
    return [
        [first, *rest]
        for first in range(most, -1, -1)
        if first * n_parts >= n
        for rest in partitions(n - first, n_parts - 1, first)
    ]


_NOISE = 0.05
_EXTENDED = {
    IntervalMethod.POSTERIOR: IntervalMethod.POSTERIOR_EXTENDED,
    IntervalMethod.POSTERIOR_WITH_0: IntervalMethod.POSTERIOR_WITH_0_EXTENDED,
}


def alpha_draws(rows_DV: Ints, numbers_BD: Ints) -> Floats:
    """Draw nominal alpha of infinitely many questions from its posterior.

    Shape (n_draws, n_tables). Each in [0, 1]: 400 draws of a table, from four chains.
    """
    n_tables = len(numbers_BD)
    found = []
    chains = np.repeat(numbers_BD, CHAINS, axis=0)
    for weights, atoms in mixing_states(rows_DV, chains, np.random.default_rng(0)):
        mean = np.einsum("bj,bjv->bv", weights, atoms)
        within = 1 - np.einsum("bj,bjv,bjv->b", weights, atoms, atoms)
        chance = 1 - (mean**2).sum(axis=1)
        found.append(1 - within / np.maximum(chance, TINY))
    draws = np.clip(np.array(found), 0.0, 1.0).reshape(KEPT, n_tables, CHAINS)
    return np.moveaxis(draws, 1, 2).reshape(-1, n_tables)


def posterior_interval(
    counts_UV: ArrayLike,
    statistic: CountStatistic,
    *,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
    p_noise: float | None = None,
) -> Interval | None:
    """Compute the interval of a nominal alpha from the posterior of the mixing distribution.

    For Krippendorff's nominal alpha, Fleiss' kappa and icc1 of labels, which are one quantity for
    infinitely many questions. It covers where one verdict dominates or questions are few, and
    :func:`judgerel_ray.stats.jackknife_interval` does not.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; numbers of ratings may differ.
    statistic : CountStatistic
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).
    p_noise : float, optional
        The p of noise, if it is known; computed otherwise. Above .05 the interval includes 0, which
        a posterior never does.

    Returns
    -------
    Interval or None
        Within [-1, 1], the value in it: an end that falls short of the value is moved to it, and
        `method` says so. None where this posterior does not apply: another coefficient, questions
        with several units, or more different counts than it is meant for.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or the confidence is not in (0, 1).

    Notes
    -----
    Deterministic, and the same whatever the order of units and values. The draws of a table are
    kept for the next coefficient.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic
    >>> counts = [[5, 0]] * 17 + [[3, 2], [1, 4], [0, 5]]
    >>> found = posterior_interval(counts, count_statistic("krippendorff_alpha", n_values=2))
    >>> round(found.low, 1), round(found.high, 1), found.method
    (0.4, 0.9, 'Dirichlet process posterior over 20 questions')
    """
    check_fraction("posterior_interval", confidence=confidence)
    if not statistic.is_nominal_alpha:
        return None
    counts = statistic.checked(counts_UV, function="posterior_interval")
    taking = statistic.takes_part(counts)
    if clusters_U is not None:
        clusters = np.asarray(clusters_U)[taking]
        is_rising = bool((clusters[1:] > clusters[:-1]).all())  # then no two are equal
        if not is_rising and np.unique(clusters).size < clusters.size:
            return None
    counts = counts[taking]
    value = float(statistic.value(term_sums(counts, statistic)))
    if np.isnan(value):
        return Interval(undefined="undefined")
    rows_DV, numbers_D = distinct_rows(counts)
    if rows_DV.size > MOST_CELLS:
        return None
    draws = _alpha_of(rows_DV.tobytes(), rows_DV.shape[1], numbers_D.tobytes())
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
    kind = IntervalMethod.POSTERIOR
    if low > 0 and p_noise is None:
        p_noise = noise_floor(counts, statistic, n_permutations=199).p
    if low > 0 and (p_noise is None or p_noise > _NOISE):  # the verdicts may be noise
        low, kind = 0.0, IntervalMethod.POSTERIOR_WITH_0
    if not low <= value <= high:
        low, high, kind = min(low, value), max(high, value), _EXTENDED[kind]
    return Interval(low=low, high=high, kind=kind, n_questions=len(counts))


@lru_cache(maxsize=8)
def _alpha_of(rows: bytes, n_values: int, numbers: bytes) -> Floats:
    """The draws of one table: alpha, kappa and icc1 of a group share them."""
    rows_DV = np.frombuffer(rows, dtype=np.int64).reshape(-1, n_values)
    return alpha_draws(rows_DV, np.frombuffer(numbers, dtype=np.int64)[None])[:, 0]
