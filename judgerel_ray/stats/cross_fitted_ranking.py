"""How well a cross-fitted score tells right judgments from wrong ones.

Shape suffixes: N = judgments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.discrimination import checked_scores, with_few
from judgerel_ray.stats.ends import logit_ends
from judgerel_ray.stats.precision import t_quantile
from judgerel_ray.stats.statistic import Floats


def cross_fitted_auroc(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    fold_N: ArrayLike,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """Compute how often a right judgment scores above a wrong one of its own fold.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer, each told by a model fitted on the other folds; judgments with NaN take no
        part and are counted as missing.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    fold_N : array-like, shape (n_judgments,)
        The fold of each judgment. A model that never saw a fold rich in right judgments expects
        fewer of them, so that pairs across folds are in order less often than they should be: they
        do not count.
    clusters_N : array-like, shape (n_judgments,), optional
        The question of each judgment; by default each is its own. A question lies in one fold.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        In [0, 1], 0.5 where the score tells nothing. The interval is Student's on the logit scale,
        from the spread over questions of their pairs inside folds, times what Nadeau and Bengio add
        for models that share most of what they were fitted on; none where every pair is ordered
        alike. ``estimator`` ends on "few wrong answers" or "few right answers" as that of
        :func:`judgerel_ray.stats.auroc`. ``undefined`` is "no_variance" where no fold has right and
        wrong judgments, "no_verdicts" where there are none.

    Raises
    ------
    ValueError
        If the shapes differ or the confidence is not in (0, 1).

    References
    ----------
    .. [1] DeLong et al. (1988), doi:10.2307/2531595; Nadeau and Bengio (2003),
       doi:10.1023/A:1024068626366.

    Examples
    --------
    In each fold the pair is in order; across folds 0.6 of a wrong one exceeds 0.5 of a right one:

    >>> cross_fitted_auroc([0.9, 0.6, 0.5, 0.1], [1, 0, 1, 0], fold_N=[0, 0, 1, 1]).value
    1.0
    """
    name = "cross_fitted_auroc"
    if not 0 < confidence < 1:
        raise ValueError(f"{name}: confidence must be between 0 and 1, got {confidence!r}")
    scores, correct = checked_scores(scores_N, correct_N, function=name)
    folds = np.asarray(fold_N)
    clusters = np.arange(scores.size) if clusters_N is None else np.asarray(clusters_N)
    for said, given in (("fold_N", folds), ("clusters_N", clusters)):
        if given.shape != scores.shape:
            raise ValueError(f"{name}: {said} must have shape {scores.shape}, got {given.shape}")
    there = ~np.isnan(scores)
    found = _inside(scores[there], correct[there], folds[there], clusters[there])
    value = low = high = None
    if found is not None:
        value, error, n_questions, n_folds = found
        if 0 < value < 1 and error > 1e-12 and n_questions > 1:
            half = t_quantile(n_questions - 1, confidence) * error * _shared(n_folds)
            low, high = logit_ends(value, half)
    return Coefficient(
        name="auroc",
        value=value,
        low=low,
        high=high,
        undefined=None if value is not None else "no_variance" if there.any() else "no_verdicts",
        estimator=with_few(
            "pairs inside folds, Nadeau-Bengio t on the logit scale",
            scores,
            correct,
            clusters,
        ),
        n_units=int(there.sum()),
        n_raters=1,
        n_ratings=int(there.sum()),
        n_missing=int((~there).sum()),
    )


def _inside(
    scores_N: Floats,
    correct_N: NDArray[np.bool_],
    fold_N: NDArray[np.generic],
    clusters_N: NDArray[np.generic],
) -> tuple[float, float, int, int] | None:
    """Share of pairs in order, its error, and the questions and folds of them; None of no pair."""
    number_N = np.unique(clusters_N, return_inverse=True)[1].reshape(-1)
    above_N, pairs_N = np.zeros(scores_N.size), np.zeros(scores_N.size)
    n_above = n_tied = 0
    for fold in np.unique(fold_N):
        right, wrong = (np.flatnonzero((fold_N == fold) & kind) for kind in (correct_N, ~correct_N))
        under, tied = _ordered(scores_N[right], scores_N[wrong])
        above_N[right], pairs_N[right] = under + tied / 2, wrong.size
        over, also = _ordered(scores_N[wrong], scores_N[right])
        above_N[wrong], pairs_N[wrong] = right.size - over - also / 2, right.size
        n_above, n_tied = n_above + int(under.sum()), n_tied + int(tied.sum())
    n_pairs = float(pairs_N.sum()) / 2
    if not n_pairs:
        return None
    value = (n_above + n_tied / 2) / n_pairs
    summed = float((np.bincount(number_N, weights=above_N - value * pairs_N) ** 2).sum())
    # Every pair is in the sums of two questions: without its own square once, few pairs a fold
    # would look twice as uncertain as they are. Half is what remains if they were all alone.
    alone = n_above * (1 - value) ** 2 + n_tied * (0.5 - value) ** 2
    alone += (n_pairs - n_above - n_tied) * value**2
    error = float(np.sqrt(max(summed - alone, summed / 2))) / n_pairs
    paired = pairs_N > 0
    return value, error, np.unique(number_N[paired]).size, np.unique(fold_N[paired]).size


def _ordered(first_N: Floats, second_N: Floats) -> tuple[Floats, Floats]:
    """How many of the second each of the first exceeds, and how many it ties with."""
    ordered = np.sort(second_N)
    below = np.searchsorted(ordered, first_N, side="left").astype(np.float64)
    return below, np.searchsorted(ordered, first_N, side="right") - below


def _shared(n_folds: int) -> float:
    """Factor on the error of a mean over folds whose models share what they were fitted on."""
    return float(np.sqrt(1 + n_folds / (n_folds - 1))) if n_folds > 1 else 1.0
