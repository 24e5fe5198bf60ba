"""The Brier score: how far confidence is from what happened.

Shape suffixes: N = judgments, C = clusters (questions).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.calibration import stated_confidences
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.precision import t_quantile
from judgerel_ray.stats.statistic import Floats


def brier_score(
    confidences_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute the mean squared distance of confidence from what happened.

    Parameters
    ----------
    confidences_N, correct_N, clusters_N
        As for :func:`judgerel_ray.stats.calibration.reliability_bins`.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        In [0, 1], lower is better, with a t interval over questions. Its noise floor is that of the
        same confidences dealt to other judgments at random. ``undefined`` is "no_verdicts" without
        judgments that have a confidence.

    Raises
    ------
    ValueError
        As for :func:`judgerel_ray.stats.calibration.reliability_bins`.

    Examples
    --------
    (0.1^2 + 0.6^2) / 2; dealt the other way round it is (0.9^2 + 0.4^2) / 2:

    >>> found = brier_score([0.9, 0.6], [True, False])
    >>> round(found.value, 3), round(found.noise_floor, 3)
    (0.185, 0.335)
    """
    stated, right, clusters = stated_confidences(
        confidences_N, correct_N, clusters_N, "brier_score"
    )
    if not 0 < confidence < 1:
        raise ValueError(f"brier_score: confidence must be between 0 and 1, got {confidence!r}")
    n, n_all = stated.size, np.size(correct_N)
    if not n:
        return Coefficient(
            name="brier_score", undefined="no_verdicts", estimator="mean of squares", n_units=0,
            n_raters=0, n_ratings=0, n_missing=n_all,
        )  # fmt: skip
    squares = (stated - right) ** 2
    value = float(squares.mean())
    sums_C = np.bincount(clusters, weights=squares).astype(np.float64)
    counts_C = np.bincount(clusters)
    low, high = _ratio_ends(sums_C, counts_C, confidence)
    paired = stated.sum() * right.sum() / n  # of all deals, on average
    floor = float(((stated**2).sum() - 2 * paired + right.sum()) / n)
    return Coefficient(
        name="brier_score", value=value, low=low, high=high, noise_floor=floor,
        estimator="mean of squares, t over questions", n_units=int(counts_C.size),
        n_raters=int(counts_C.max()), n_ratings=n, n_missing=n_all - n,
    )  # fmt: skip


def _ratio_ends(
    sums_C: Floats, counts_C: NDArray[np.generic], confidence: float
) -> tuple[float | None, float | None]:
    """Ends of the t interval of a mean, questions being what is independent."""
    n = sums_C.size
    if n < 2:
        return None, None
    left_out = (sums_C.sum() - sums_C) / (counts_C.sum() - counts_C)
    error = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    if error < 1e-12:
        return None, None
    value, half = float(sums_C.sum() / counts_C.sum()), t_quantile(n - 1, confidence) * error
    return max(0.0, value - half), min(1.0, value + half)
