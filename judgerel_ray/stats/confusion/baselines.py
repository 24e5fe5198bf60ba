"""What the uncertainty label is held against: plain votes, at what they cost, and a fitted model.

The model rests on the whole confusion matrix and says whether the judgment is right, and which
option is. Both are one ridge logistic regression over options (conditional logit); whether a
judgment is right has the two options "wrong", whose features are 0, and "right".

Shape suffixes: U, N = items, V = distinct verdicts, O = options, F = features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.agreement.certainty import entropy_terms
from judgerel_ray.stats.confusion.matrix import Uncertainty, checked_confusion, scaled_columns
from judgerel_ray.stats.counts import Floats, checked_counts, divide, row_means
from judgerel_ray.stats.folds import grouped_folds


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteScores:
    """How sure a judge is by its own replications."""

    # Shape (n_items,). Share of the most frequent verdict; NaN without replications.
    share_U: Floats  # noqa: N815  a shape, not a case
    # Shape (n_items,). Entropy of the verdicts in nats, Miller and Madow's; NaN below two
    # replications.
    entropy_U: Floats  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodTokens:
    """Tokens a method computes for one item, the prompt's shared parts once."""

    confusion: int  # The judge's own verdict, an assessment an option, and a pass over each.
    confusion_uncached: int  # The same as n squared prompts, none of them sharing anything.
    replication: int  # Each replication after the prompt: what it generates.
    # Replications that cost no more than the confusion matrix, the first one's prompt included.
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


_STEPS = 50
_LEAST_SHARE = 1e-6  # logs of probabilities below it tell of rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixModelScores:
    """Predictions for judgments by a model that never saw them."""

    # Shape (n_items,). Probability that the judge's own choice is right; NaN where the matrix says
    # nothing.
    correct_N: Floats  # noqa: N815  a shape, not a case
    # Shape (n_items,). Most probable option; -1 where the matrix says nothing.
    option_N: NDArray[np.intp]  # noqa: N815
    # Shape (n_items,). Its probability; NaN likewise.
    option_share_N: Floats  # noqa: N815
    # Shape (n_items,). Fold of each item.
    fold_N: NDArray[np.intp]  # noqa: N815


def cross_fitted_model(
    confusions: Sequence[ArrayLike],
    uncertainties: Sequence[Uncertainty],
    right_N: ArrayLike,
    *,
    groups_N: ArrayLike | None = None,
    n_folds: int = 5,
    seed: int = 0,
    ridge: float = 1.0,
) -> MatrixModelScores:
    """Predict correctness and the right option from matrices, each item by the other folds.

    Parameters
    ----------
    confusions : sequence of array-like, each of shape (n_options, n_assessments)
        One matrix an item; items may differ in their number of options.
    uncertainties : sequence of Uncertainty
        Their scores, with the judge's own choice in ``chosen``.
    right_N : array-like of int, shape (n_items,)
        Row of the right option of each item.
    groups_N : array-like, shape (n_items,), optional
        Items of one group stay in one fold; by default each is its own.
    n_folds, seed : int
        Folds (at least 2, at most the groups), and how they are drawn.
    ridge : float
        Penalty on squared weights of standardised features, above 0; the intercept is free.

    Returns
    -------
    MatrixModelScores
        Items whose scores are undefined are left out of every fit. A judge without a choice of its
        own counts as wrong.

    Raises
    ------
    ValueError
        If the lengths differ, `ridge` is not above 0, or there are too few groups.

    References
    ----------
    .. [1] Wagner et al. (2024), arXiv:2410.11594, section 7, proposes such a model.

    Examples
    --------
    >>> from judgerel_ray.stats import confusion_uncertainty
    >>> sure, torn = [[0.9, 0.8], [0.1, 0.2]], [[0.9, 0.1], [0.1, 0.9]]
    >>> matrices = [sure, torn] * 20
    >>> scores = [confusion_uncertainty(one, chosen=0) for one in matrices]
    >>> found = cross_fitted_model(matrices, scores, [0, 1] * 20)
    >>> bool(found.correct_N[0] > 0.9), bool(found.correct_N[1] < 0.1), int(found.option_N[0])
    (True, True, 0)
    """
    right = np.asarray(right_N)
    if not len(confusions) == len(uncertainties) == right.size or right.ndim != 1:
        raise ValueError("cross_fitted_model: all arguments must be of one length")
    if not ridge > 0:
        raise ValueError(f"cross_fitted_model: ridge must be above 0, got {ridge!r}")
    groups = np.arange(right.size) if groups_N is None else np.asarray(groups_N)
    fold_N = grouped_folds(groups, n_folds=n_folds, seed=seed)
    known = np.array([one.undefined is None for one in uncertainties])
    judged = np.array([-1 if one.chosen is None else one.chosen for one in uncertainties])
    features = [
        option_features(confusion, one) if one.undefined is None else np.zeros((0, 0))
        for confusion, one in zip(confusions, uncertainties, strict=True)
    ]
    features_NF = np.array([correctness_features(one) for one in uncertainties])
    correct_N = np.full(right.size, np.nan)
    option_N = np.full(right.size, -1, dtype=np.intp)
    share_N = np.full(right.size, np.nan)
    for fold in range(n_folds):
        fit, use = known & (fold_N != fold), known & (fold_N == fold)
        if not fit.any() or not use.any():
            continue
        mean, sd = features_NF[fit].mean(axis=0), features_NF[fit].std(axis=0)
        scaled = np.where(sd > 1e-12, (features_NF - mean) / np.where(sd > 1e-12, sd, 1.0), 0.0)
        lone = np.concatenate([np.ones((right.size, 1)), scaled], axis=1)
        pair = np.stack([np.zeros_like(lone), lone], axis=1)
        is_right = (judged == right).astype(np.intp)
        weights = conditional_logit(pair[fit], is_right[fit], ridge=ridge, free=1)
        correct_N[use] = _softmax_option_chances(pair[use], weights)[:, 1]
        padded = _features_padded_with_nan([features[i] for i in np.flatnonzero(known)])
        place = np.cumsum(known) - 1
        spread = np.nanstd(padded[place[fit]], axis=(0, 1))
        padded = padded / np.where(spread > 1e-12, spread, 1.0)
        weights = conditional_logit(padded[place[fit]], right[fit], ridge=ridge, free=0)
        chances = _softmax_option_chances(padded[place[use]], weights)
        option_N[use] = chances.argmax(axis=1)
        share_N[use] = chances.max(axis=1)
    return MatrixModelScores(
        correct_N=correct_N, option_N=option_N, option_share_N=share_N, fold_N=fold_N
    )


def correctness_features(uncertainty: Uncertainty) -> tuple[float, ...]:
    """Lay out what may tell whether the judge's own choice is right; 0 where a score is absent."""
    one = uncertainty
    scores = (one.margin, one.signed_margin, max(one.u_O, default=None), one.entropy)
    agreed = float(one.chosen is not None and one.chosen == one.chosen_by_matrix)
    others = (one.worst_case, one.suggestibility, one.dobrushin, agreed)
    return tuple(0.0 if score is None else float(score) for score in (*scores, *others))


def option_features(confusion_OA: ArrayLike, uncertainty: Uncertainty) -> Floats:
    """Lay out what may tell which option is right, shape (n_options, 6).

    Log of the mean probability, log of the least, the largest, under its own assessment, without
    it, and whether the judge chose it by itself.
    """
    confusion = checked_confusion(confusion_OA, function="option_features")
    used = scaled_columns(confusion) if uncertainty.normalised else confusion
    n = len(used)
    right_share, rest = np.zeros(n), np.zeros(n)
    if used.shape == (n, n):
        diagonal = np.eye(n, dtype=bool)
        right_share = np.nan_to_num(used[diagonal])
        rest = row_means(np.where(diagonal, np.nan, used))
    there = used[:, ~np.isnan(used).any(axis=0)]
    chosen = np.arange(n) == (-1 if uncertainty.chosen is None else uncertainty.chosen)
    columns = (
        np.log(np.maximum(there.mean(axis=1), _LEAST_SHARE)),
        np.log(np.maximum(there.min(axis=1), _LEAST_SHARE)),
        there.max(axis=1), right_share, rest, chosen.astype(np.float64),
    )  # fmt: skip
    return np.stack(columns, axis=1)


def conditional_logit(
    features_NOF: Floats, right_N: NDArray[np.integer], *, ridge: float, free: int
) -> Floats:
    """Fit weights by Newton's method; options of NaN features are not on offer.

    Shape (n_features,).
    """
    n, _, n_features = features_NOF.shape
    penalty = np.where(np.arange(n_features) < free, 1e-6, ridge)
    weights = np.zeros(n_features)
    filled = np.nan_to_num(features_NOF)
    right_share = filled[np.arange(n), right_N]
    for _ in range(_STEPS):
        chances = _softmax_option_chances(features_NOF, weights)
        mean = np.einsum("no,nof->nf", chances, filled)
        slope = (right_share - mean).sum(axis=0) - penalty * weights
        bend = np.einsum("no,nof,nog->fg", chances, filled, filled) - mean.T @ mean
        step = np.linalg.solve(bend + np.diag(penalty), slope)
        # Far from the top Newton overshoots; a bounded step of a concave loss gets there.
        weights = weights + step / max(1.0, float(np.abs(step).max()) / 4.0)
        if np.abs(step).max() < 1e-10:
            break
    return weights


def _softmax_option_chances(features_NOF: Floats, weights_F: Floats) -> Floats:
    """Softmax of weighted features over the options on offer."""
    from scipy.special import softmax

    worth = np.where(np.isnan(features_NOF).any(axis=2), -np.inf, features_NOF @ weights_F)
    chances: Floats = softmax(worth, axis=1)
    return chances


def _features_padded_with_nan(features: Sequence[Floats]) -> Floats:
    """Items of fewer options filled up with NaN."""
    most = max(len(one) for one in features)
    padded = np.full((len(features), most, features[0].shape[1]), np.nan)
    for i, one in enumerate(features):
        padded[i, : len(one)] = one
    return padded
