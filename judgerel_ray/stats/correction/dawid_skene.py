"""Pass rates and accuracies of several judges without any label (Dawid and Skene).

Shape suffixes: N = items, J = judges, V = values, P = distinct patterns of votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.panels.panel import effective_judges

_EPS = 1e-10
_MOST_STEPS = 5000
_NEAR = 1e-4  # of resamples and simulations: far below what they differ by
_LEAST_JUDGES = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DawidSkene:
    """What judges agree on, if they err independently."""

    # Shape (n_values,). Share of items whose true value each is.
    rates_V: Floats  # noqa: N815
    # Shape (n_values,). Percentile intervals over resampled clusters; NaN without resamples.
    low_V: Floats  # noqa: N815
    high_V: Floats  # noqa: N815
    # Shape (n_judges, n_values, n_values). Chance that a judge says a value (second axis) where a
    # value is true (third axis).
    errors_JVV: Floats  # noqa: N815
    # Independent judges that these are worth, by their errors against the likeliest values; and
    # what it would be were errors independent as the model has it.
    effective: float | None = None
    effective_null: float | None = None
    effective_null_sd: float | None = None
    # Share of such simulations in which the judges are worth as few, or fewer.
    p_correlated: float | None = None


def dawid_skene(
    votes_NJV: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    resamples: int = 200,
    seed: int = 0,
) -> DawidSkene:
    """Estimate shares of true values, and judges' errors, from verdicts alone.

    Notes
    -----
    Expectation-maximisation from majority votes, until nothing moves by 1e-12 (by 1e-4 in
    resamples). It takes errors of judges to be independent given the truth: where they are not,
    agreement on an error looks like truth, and the interval does not know it.

    References
    ----------
    .. [1] Dawid, A. P. and Skene, A. M. (1979), doi:10.2307/2346806.
    """
    votes: Floats = np.asarray(votes_NJV, np.float64)
    if votes.ndim != 3 or votes.shape[1] < _LEAST_JUDGES or votes.shape[2] < 2:
        raise ValueError(
            "dawid_skene: votes_NJV must have 3 dimensions, at least 3 judges and 2 values, got "
            f"shape {votes.shape}"
        )
    patterns, place_N, n_P = _patterns(votes)
    rates, errors, posterior = _likeliest_error_rates(patterns, n_P)
    low = high = np.full(rates.size, np.nan)
    worth: tuple[float | None, ...] = (None, None, None, None)
    if resamples:
        rng = np.random.default_rng(seed)
        drawn = _resampled_error_rates(patterns, place_N, posterior, clusters_N, resamples, rng)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        worth = _independent_judges_worth(
            votes, posterior[place_N], rates, errors, resamples // 2, rng
        )
    return DawidSkene(
        rates_V=rates, low_V=low, high_V=high, errors_JVV=errors, effective=worth[0],
        effective_null=worth[1], effective_null_sd=worth[2], p_correlated=worth[3],
    )  # fmt: skip


def _patterns(votes: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
    """Distinct patterns of votes, which of them each item has, and how often each occurs."""
    rows, place_N, n_P = np.unique(
        votes.reshape(len(votes), -1), axis=0, return_inverse=True, return_counts=True
    )
    return rows.reshape(-1, *votes.shape[1:]), place_N.ravel(), n_P.astype(np.float64)


def _likeliest_error_rates(
    patterns: Floats, n_P: Floats, start_PV: Floats | None = None, *, near: float = 1e-12
) -> tuple[Floats, Floats, Floats]:
    """Rates (V), errors (J, V said, V true) and posteriors (P, V) of votes (P, J, V)."""
    n_patterns, n_judges, n_values = patterns.shape
    posterior = _vote_shares_of_patterns(patterns) if start_PV is None else start_PV
    flat = patterns.reshape(n_patterns, -1)
    for _ in range(_MOST_STEPS):
        weighted = posterior * n_P[:, None]
        rates = np.maximum(weighted.sum(axis=0) / n_P.sum(), _EPS)
        errors = np.maximum((flat.T @ weighted).reshape(n_judges, n_values, n_values), _EPS)
        errors /= errors.sum(axis=1, keepdims=True)
        score = np.log(rates) + flat @ np.log(errors).reshape(-1, n_values)
        score = np.exp(score - score.max(axis=1, keepdims=True))
        before, posterior = posterior, score / score.sum(axis=1, keepdims=True)
        if np.abs(posterior - before).max() < near:
            break
    rates = (posterior * n_P[:, None]).sum(axis=0) / n_P.sum()
    return rates, errors, posterior


def _vote_shares_of_patterns(patterns: Floats) -> Floats:
    """Shares of votes (P, V); all values alike where nobody voted."""
    votes = patterns.sum(axis=1)
    total = votes.sum(axis=1, keepdims=True)
    alike = np.full_like(votes, 1 / votes.shape[1])
    shares: Floats = np.divide(votes, total, out=alike, where=total > 0)
    return shares


def _resampled_error_rates(
    patterns: Floats,
    place_N: np.ndarray,
    start_PV: Floats,
    clusters_N: ArrayLike | None,
    resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Rates (resamples, V) of clusters drawn with replacement."""
    clusters = np.arange(place_N.size) if clusters_N is None else np.asarray(clusters_N)
    _, code = np.unique(clusters, return_inverse=True)
    n_clusters = int(code.max()) + 1
    found = []
    for _ in range(resamples):
        times = np.bincount(rng.integers(n_clusters, size=n_clusters), minlength=n_clusters)
        n_P: Floats = np.zeros(len(patterns))
        np.add.at(n_P, place_N, times[code])
        found.append(_likeliest_error_rates(patterns, n_P, start_PV, near=_NEAR)[0])
    return np.array(found)


def _independent_judges_worth(
    votes: Floats,
    posterior: Floats,
    rates: Floats,
    errors: Floats,
    simulations: int,
    rng: np.random.Generator,
) -> tuple[float | None, float | None, float | None, float | None]:
    """How many independent judges these are worth; that of independent errors, its sd, and p."""

    def effective(seen: Floats, true: np.ndarray) -> float | None:
        wrong = 1 - np.take_along_axis(seen, true[:, None, None], axis=2)[..., 0]
        return effective_judges(wrong).value

    complete = votes.sum(axis=2).min(axis=1) > 0
    observed = effective(votes[complete], posterior[complete].argmax(axis=1))
    if observed is None or not simulations:
        return observed, None, None, None
    n, n_judges, n_values = votes[complete].shape
    null = []
    for _ in range(simulations):
        true = rng.choice(n_values, size=n, p=rates / rates.sum())
        above = rng.random((n, n_judges, 1)) > np.cumsum(errors, axis=1)[:, :, true].transpose(
            2, 0, 1
        )
        seen = np.eye(n_values)[np.minimum(above.sum(axis=2), n_values - 1)]
        patterns, place, n_P = _patterns(seen)
        likely = _likeliest_error_rates(patterns, n_P, near=_NEAR)[2]
        one = effective(seen, likely[place].argmax(axis=1))
        null += [] if one is None else [one]
    if not null:
        return observed, None, None, None
    drawn = np.array(null)
    p = (1 + int((drawn <= observed).sum())) / (1 + drawn.size)
    return observed, float(drawn.mean()), float(drawn.std()), p
