"""What is fitted on matrices and told of others: a small model, and sets of options.

Shape suffixes: N = judgments, O = options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.analyses.confusion.groups import FOLDS, JudgedGroup, scale_steps
from judgerel_ray.analyses.confusion.uncertainty import ScoredMatrix, UncertaintyOptions
from judgerel_ray.counting.verdicts.policy import quantity_row
from judgerel_ray.stats import (
    conformal_rule,
    conformal_sets,
    cross_fitted_auroc,
    cross_fitted_model,
)
from judgerel_ray.stats.counts.folds import grouped_folds
from judgerel_ray.stats.intervals.shares import clustered_share

_FEW = 4 * FOLDS


def model_quantities(
    group: JudgedGroup, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """What a small model on the matrices' features is worth, each judgment by the other folds.

    Yields
    ------
    dict
        ``accuracy_by_model`` (of the option it prefers) and ``auroc_model`` (of its probability
        that the judge's own verdict is right: how often a right judgment has the larger one than a
        wrong one of its fold).
    """
    estimator = f"logit on the matrix's features, cross-fitted in {FOLDS} folds"
    names = ("accuracy_by_model", "auroc_model")
    if len(group.judged) < _FEW or not group.has_folds:
        for name in names:
            yield quantity_row(
                name, n=len(group.judged), estimator=estimator, undefined="too_few_judgments"
            )
        return
    right_N = _right(group.judged)
    found = cross_fitted_model(
        [one.matrix_OA for one in group.judged],
        [one.scores for one in group.judged],
        right_N,
        groups_N=group.text_N,
        n_folds=FOLDS,
        seed=options.seed,
    )
    chosen = found.option_N == right_N
    share = clustered_share(chosen, clusters_N=group.text_N)
    yield quantity_row(names[0], share, estimator=estimator)
    ranking = cross_fitted_auroc(
        found.correct_N, group.correct_N, fold_N=found.fold_N, clusters_N=group.text_N
    )
    yield quantity_row(
        names[1],
        ranking,
        n=ranking.n_ratings,
        estimator=f"{estimator}; {ranking.estimator}",
        undefined=ranking.undefined,
    )


def set_quantities(group: JudgedGroup, options: UncertaintyOptions) -> Iterator[dict[str, object]]:
    """What sets of options hold, each calibrated on the other folds.

    Yields
    ------
    dict
        ``conformal_coverage`` (sets that hold the right option; at least 1 - error is aimed at) and
        ``conformal_size`` (mean number of options in a set).
    """
    estimator = f"sets of u that miss <= {options.error:g}, cross-fitted in {FOLDS} folds"
    there = np.array([bool(one.scores.u_O) for one in group.judged], dtype=bool)
    kept = [one for one in group.judged if one.scores.u_O]
    text_N = group.text_N[there]
    if len(kept) < _FEW or np.unique(text_N).size < FOLDS:
        for name in ("conformal_coverage", "conformal_size"):
            yield quantity_row(
                name, n=len(kept), estimator=estimator, undefined="too_few_judgments"
            )
        return
    shares_NO, there_NO = _padded(kept)
    right_N = _right(kept)
    fold_N = grouped_folds(text_N, n_folds=FOLDS, seed=options.seed)
    inside_NO = np.zeros_like(there_NO)
    ordered = _is_scale(kept, options.scales.get(group.benchmark))
    for fold in range(FOLDS):
        tested_N = fold_N == fold
        rule = conformal_rule(
            shares_NO[~tested_N],
            right_N[~tested_N],
            error=options.error,
            ordered=ordered,
            clusters_N=text_N[~tested_N],
            seed=options.seed,
        )
        inside_NO[tested_N] = conformal_sets(shares_NO[tested_N], rule) & there_NO[tested_N]
    held = inside_NO[np.arange(len(kept)), right_N]
    share = clustered_share(held, clusters_N=text_N)
    yield quantity_row("conformal_coverage", share, estimator=estimator)
    size = float(inside_NO.sum(axis=1).mean())
    yield quantity_row("conformal_size", value=size, n=len(kept), estimator=estimator)


def _right(matrices: Sequence[ScoredMatrix]) -> NDArray[np.intp]:
    """Rows of the right options."""
    return np.array([one.right for one in matrices], dtype=np.intp)


def _is_scale(matrices: Sequence[ScoredMatrix], scale: Sequence[str] | None) -> bool:
    """Whether all have the same options, and in the order of a scale: sets are then intervals."""
    names = matrices[0].options
    steps = scale_steps(names, scale)
    rising = np.diff([steps.get(name, np.nan) for name in names])
    in_order = bool((rising > 0).all() or (rising < 0).all())
    return in_order and all(one.options == names for one in matrices)


def _padded(matrices: Sequence[ScoredMatrix]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """U of every option, and which options there are: items may differ in their number."""
    most = max(len(one.scores.u_O) for one in matrices)
    shares, there = np.zeros((len(matrices), most)), np.zeros((len(matrices), most), dtype=bool)
    for n, one in enumerate(matrices):
        shares[n, : len(one.scores.u_O)] = one.scores.u_O
        there[n, : len(one.scores.u_O)] = True
    return shares, there
