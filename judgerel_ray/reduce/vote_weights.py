"""What votes of a panel count: alike, by stated confidence, or by accuracy elsewhere."""

from __future__ import annotations

import numpy as np

from judgerel_ray.reduce.voters import Voters
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.statistic import Floats

RULES = ("majority", "confidence", "accuracy")
"""How votes count: alike; by the confidence stated; by the log-odds of being right elsewhere."""
N_FOLDS = 5


def rule_weights(voters: Voters, rule: str, *, seed: int = 0) -> Floats | None:
    """Weigh votes by a rule; None where all count alike, or nothing tells some member's weight.

    Stated confidences weigh votes where every member states any: who states none would have no
    vote at all.

    By accuracy, a vote counts the log-odds of its member being right, on the questions of the
    other folds, against one of the other verdicts at random; at least 0.

    Parameters
    ----------
    voters : Voters
        The members.
    rule : str
        One of `RULES`.
    seed : int
        How folds are drawn.

    Returns
    -------
    ndarray of float or None, shape (n_units, n_members)

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.reduce.systems import read_systems
    >>> from judgerel_ray.reduce.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "judge": ["a", "b"], "replication": [0, 0],
    ...         "verdict": ["1", "2"], "gold": ["1", "1"], "confidence": [0.9, 0.4]})
    >>> rule_weights(read_voters(read_systems(rows), rows)[0], "confidence").tolist()
    [[0.9, 0.4]]
    """
    if rule == "majority":
        return None
    if rule == "confidence":
        stated: Floats = np.nan_to_num(voters.confidence_UJ)
        return stated if (stated > 0).any(axis=0).all() else None
    n = voters.n_questions
    if n < 2:
        return None
    folds = min(N_FOLDS, n)
    fold_U = grouped_folds(np.arange(n), n_folds=folds, seed=seed)[voters.questions_U]
    others = max(1, int(max(voters.votes_UJ.max(), voters.right_U.max())))
    weights: Floats = np.empty(voters.votes_UJ.shape)
    for fold in range(folds):
        seen = voters.wrong_UJ[fold_U != fold]
        # Half a question more of either kind: nobody is known to be always right.
        wrong, right = seen.sum(axis=0) + 0.5, len(seen) - seen.sum(axis=0) + 0.5
        weights[fold_U == fold] = np.maximum(0.0, np.log(right * others / wrong))
    return weights
