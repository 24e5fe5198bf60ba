"""How well a score tells right judgments from wrong ones.

Shape suffixes: N, M = judgments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.statistic import Floats


def auroc(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute how often a right judgment scores above a wrong one, ties counting half.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; judgments with NaN take no part and are counted as missing.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        In [0, 1], 0.5 where the score tells nothing. The interval is DeLong's with Obuchowski's
        clusters, on the logit scale; none where every pair is ordered alike. ``undefined`` is
        "no_variance" where all are right or all wrong, "no_verdicts" where there are none.

    Raises
    ------
    ValueError
        If the shapes differ or the confidence is not in (0, 1).

    References
    ----------
    .. [1] DeLong et al. (1988), doi:10.2307/2531595; Obuchowski (1997), doi:10.2307/2533958.

    Examples
    --------
    Three of the four pairs are in order:

    >>> auroc([0.9, 0.6, 0.7, 0.2], [True, True, False, False]).value
    0.75
    """
    if not 0 < confidence < 1:
        raise ValueError(f"auroc: confidence must be between 0 and 1, got {confidence!r}")
    scores, correct = checked_scores(scores_N, correct_N, function="auroc")
    clusters = np.arange(scores.size) if clusters_N is None else np.asarray(clusters_N)
    if clusters.shape != scores.shape:
        raise ValueError(f"auroc: clusters_N must have shape {scores.shape}, got {clusters.shape}")
    there = ~np.isnan(scores)
    kept, right = scores[there], correct[there]
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    value: float | None = None
    low = high = None
    if n_right and n_wrong:
        above = _placements(kept[right], kept[~right])
        below = 1 - _placements(kept[~right], kept[right])
        value = float(above.mean())
        places = np.empty(kept.size)
        places[right] = (above - value) / n_right
        places[~right] = (below - value) / n_wrong
        low, high = _logit_ends(value, places, clusters[there], confidence)
    return Coefficient(
        name="auroc",
        value=value,
        low=low,
        high=high,
        undefined=None if value is not None else "no_variance" if there.any() else "no_verdicts",
        estimator="Mann-Whitney, DeLong on the logit scale",
        n_units=kept.size,
        n_raters=1,
        n_ratings=kept.size,
        n_missing=scores.size - kept.size,
    )


def _placements(first_N: Floats, second_M: Floats) -> Floats:
    """Share of the second that each of the first exceeds, ties counting half."""
    ordered = np.sort(second_M)
    below = np.searchsorted(ordered, first_N, side="left")
    upto = np.searchsorted(ordered, first_N, side="right")
    placed: Floats = (below + upto) / (2 * ordered.size)
    return placed


def _logit_ends(
    value: float, places_N: Floats, clusters_N: NDArray[np.generic], confidence: float
) -> tuple[float | None, float | None]:
    """Ends on the logit scale; none where the value or its error has no room."""
    from statistics import NormalDist

    _, number = np.unique(clusters_N, return_inverse=True)
    sums = np.bincount(number, weights=places_N)
    n = sums.size
    error = float(np.sqrt((sums**2).sum() * n / max(1, n - 1)))
    if not 0 < value < 1 or error < 1e-12:
        return None, None
    half = NormalDist().inv_cdf((1 + confidence) / 2) * error / (value * (1 - value))
    centre = np.log(value / (1 - value))
    return float(1 / (1 + np.exp(half - centre))), float(1 / (1 + np.exp(-half - centre)))


def checked_scores(
    scores_N: ArrayLike, correct_N: ArrayLike, *, function: str
) -> tuple[Floats, NDArray[np.bool_]]:
    """Read scores and which judgments are right, refusing two lengths.

    Raises
    ------
    ValueError
        If they are not of one length.

    Examples
    --------
    >>> checked_scores([0.5], [1], function="auroc")[1].tolist()
    [True]
    """
    scores = np.asarray(scores_N, dtype=np.float64)
    correct = np.asarray(correct_N, dtype=bool)
    if scores.ndim != 1 or scores.shape != correct.shape:
        raise ValueError(
            f"{function}: scores_N and correct_N must be of one length, "
            f"got {scores.shape} and {correct.shape}"
        )
    return scores, correct
