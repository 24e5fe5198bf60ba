"""How verdict distributions vary over questions, estimated without assuming a form.

Each question has a distribution over the verdicts, drawn from an unknown mixing distribution. Its
posterior under a Dirichlet process prior is sampled: questions are assigned to atoms, then atoms
and weights are drawn given the assignments. Questions with the same counts are assigned by one
multinomial draw, so the cost depends on how many different rows of counts there are, not on how
many questions.

Shape suffixes: U = units, V = distinct values, D = distinct rows of counts, B = tables, J = atoms,
M = concentrations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.statistic import Floats

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


def mixing_states(
    rows_DV: Ints, numbers_BD: Ints, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Draw from the posterior of the mixing distribution, for many tables at once.

    Parameters
    ----------
    rows_DV : ndarray of int, shape (n_rows, n_values)
        Distinct rows of counts; their sums may differ.
    numbers_BD : ndarray of int, shape (n_tables, n_rows)
        How many questions of each table have each row.
    rng : numpy.random.Generator
        Source of the draws.

    Yields
    ------
    tuple of ndarray
        Weights of the atoms, shape (n_tables, n_atoms), and the atoms, shape (n_tables, n_atoms,
        n_values). The first 40 draws are dropped already; neighbouring draws are correlated.

    Notes
    -----
    Twenty atoms with Dirichlet(M / 20) weights, a finite form of the process with total weight M
    [1]_; M is 1, 3 or 10, drawn along.

    References
    ----------
    .. [1] Ishwaran, H. and James, L. F. (2001), Gibbs sampling methods for stick-breaking priors,
       doi:10.1198/016214501750332758.

    Examples
    --------
    Nine of ten questions unanimous, half of them each way, asked twenty times:

    >>> rows, numbers = np.array([[20, 0], [0, 20], [10, 10]]), np.array([[45, 45, 10]])
    >>> states = list(mixing_states(rows, numbers, np.random.default_rng(0)))
    >>> disagreement = [(w * 2 * atoms[..., 0] * atoms[..., 1]).sum() for w, atoms in states]
    >>> round(float(np.mean(disagreement)), 2)
    0.06
    """
    from scipy.special import gammaln

    rows, (n_tables, _), n_values = rows_DV.astype(np.float64), numbers_BD.shape, rows_DV.shape[1]
    base, sizes_B1 = _BASE / n_values, numbers_BD.sum(axis=1, keepdims=True)
    atoms = _dirichlet(np.full((n_tables, _ATOMS, n_values), base), rng)
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
        atoms = _dirichlet(np.moveaxis(assigned_BDJ, 1, 2) @ rows + base, rng)
        weights = _dirichlet(in_atom_BJ + _CONCENTRATIONS[chosen][:, None] / _ATOMS, rng)
        if step >= _DROPPED:
            yield weights, atoms


def posterior_shares(counts_UV: ArrayLike, *, n_shares: int = 400, seed: int = 0) -> Floats:
    """Estimate the verdict distributions of questions like these, as a table of equal weights.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    n_shares : int
        Distributions wanted.
    seed : int
        Seed of the draws.

    Returns
    -------
    ndarray of float, shape (n_shares, n_values that occur)
        Evenly spread over the posterior mean of the mixing distribution, values from the most
        frequent on; no rows where no unit takes part. Unlike observed shares they differ no more
        than the questions do, and unlike shares drawn together by one factor they keep questions of
        two kinds apart.

    Examples
    --------
    >>> shares = posterior_shares([[5, 0]] * 40 + [[0, 5]] * 40 + [[3, 2]] * 20)
    >>> shares.shape, round(float((shares.max(axis=1) > 0.9).mean()), 1)
    ((400, 2), 0.8)
    """
    counts = checked_counts(counts_UV, function="posterior_shares")
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return np.zeros((0, counts.shape[1]))
    rows, numbers = distinct_rows(counts)
    step = -(-rows.size // MOST_CELLS)  # of many thousand different rows some are enough
    chains = np.repeat(numbers[None, ::step], CHAINS, axis=0)
    states = list(mixing_states(rows[::step], chains, np.random.default_rng(seed)))[::10]
    weights = np.concatenate([weights.ravel() for weights, _ in states])
    atoms = np.concatenate([atoms.reshape(-1, rows.shape[1]) for _, atoms in states])
    order = np.lexsort(atoms.T)
    reached = np.cumsum(weights[order])
    places = (np.arange(n_shares) + 0.5) / n_shares * reached[-1]
    shares: Floats = atoms[order][np.searchsorted(reached, places)]
    return shares


def distinct_rows(counts_UV: Floats) -> tuple[Ints, Ints]:
    """List the different rows of counts, and how often each occurs.

    Columns are put in an order that does not depend on theirs, from the most frequent value on.

    Examples
    --------
    >>> rows, numbers = distinct_rows(np.array([[0.0, 2.0], [1.0, 1.0], [0.0, 2.0]]))
    >>> rows.tolist(), numbers.tolist()
    ([[1, 1], [2, 0]], [1, 2])
    """
    counts: Ints = counts_UV.astype(np.int64)
    counts = counts[:, counts.any(axis=0)]
    order = np.lexsort([-(counts_UV[:, counts_UV.any(axis=0)] ** p).sum(axis=0) for p in (3, 2, 1)])
    counts = counts[:, order]
    radix = int(counts.max(initial=0)) + 1
    if radix ** counts.shape[1] < 2**62:  # one number a row: sorted ten times faster
        key = counts @ (radix ** np.arange(counts.shape[1] - 1, -1, -1, dtype=np.int64))
        _, first, numbers = np.unique(key, return_index=True, return_counts=True)
        return counts[first], numbers.astype(np.int64)
    rows, numbers = np.unique(counts, axis=0, return_counts=True)
    return rows, numbers.astype(np.int64)


def _dirichlet(concentrations: Floats, rng: np.random.Generator) -> Floats:
    """Draws along the last axis; those of tiny concentrations do not vanish altogether."""
    drawn = rng.standard_gamma(concentrations) + TINY
    shares: Floats = drawn / drawn.sum(axis=-1, keepdims=True)
    return shares
