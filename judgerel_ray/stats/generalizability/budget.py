"""How best to split a budget between questions and replications.

One replication more of a question already asked costs its reply alone, since the prompt is computed
once; one question more costs both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgerel_ray.stats.intervals.precision import MOST_QUESTIONS, AlphaPrecision, t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSplit:
    """One way to spend a budget.

    Attributes
    ----------
    n_questions, n_replications : int
        Questions, and replications of each.
    cost : float
        What it comes to, at most the budget.
    standard_error, width : float
        Of alpha, and of its interval from end to end.
    best : bool
        Whether no other split of the budget, given or not, has a narrower interval.
    """

    n_questions: int
    n_replications: int
    cost: float
    standard_error: float
    width: float
    best: bool = False


def budget_splits(
    precision: AlphaPrecision,
    budget: float,
    *,
    per_question: float = 0.0,
    per_judgment: float = 1.0,
    replications: Sequence[int] = (2, 3, 4, 5, 8, 10, 20, 50, 100),
    most_questions: int | None = None,
    confidence: float = 0.95,
) -> tuple[BudgetSplit, ...]:
    """Compare ways to spend a budget on questions and on replications.

    Parameters
    ----------
    precision : AlphaPrecision
        From :func:`alpha_precision`.
    budget : float
        What may be spent, in the unit of the costs, above 0.
    per_question, per_judgment : float
        Cost of asking a question at all (its prompt, computed once) and of each replication (its
        reply); the latter above 0.
    replications : sequence of int
        Numbers of replications to compare, each at least 2; the best of all is added.
    most_questions : int, optional
        Questions there are; by default as many as one likes.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    tuple of BudgetSplit
        By replications, those that afford two questions or more; the one with the narrowest
        interval of all numbers of replications is among them, and marked.

    Raises
    ------
    ValueError
        If a cost or the budget is out of its range.

    Examples
    --------
    >>> planned = AlphaPrecision(alpha=0.5, between=0.06, first=0.06, second=0.2)
    >>> [(s.n_questions, s.n_replications, s.best) for s in budget_splits(planned, 600)][:3]
    [(300, 2, False), (200, 3, True), (150, 4, False)]
    """
    if not (budget > 0 and per_question >= 0 and per_judgment > 0):
        raise ValueError(
            f"budget_splits: expected budget > 0, per_question >= 0 and per_judgment > 0, "
            f"got {budget!r}, {per_question!r}, {per_judgment!r}"
        )
    most = most_questions or MOST_QUESTIONS

    def questions(m: int) -> int:
        return int(min(budget // (per_question + m * per_judgment), most))

    best = _best(precision, budget, per_question, per_judgment, most, confidence)
    splits = []
    for m in sorted({*replications, *([] if best is None else [best])}):
        n = questions(m)
        if n < 2:
            continue
        error = precision.standard_error(n_questions=n, n_replications=m)
        splits.append(
            BudgetSplit(
                n_questions=n,
                n_replications=m,
                cost=n * (per_question + m * per_judgment),
                standard_error=error,
                width=2 * t_quantile(n - 1, confidence) * error,
                best=m == best,
            )
        )
    return tuple(splits)


def _best(
    precision: AlphaPrecision,
    budget: float,
    per_question: float,
    per_judgment: float,
    most: int,
    confidence: float,
) -> int | None:
    """The replications of the narrowest interval; None where no two questions are afforded.

    More replications of as many questions only help: so of many replications, only the largest
    number for each number of questions is tried, of which there are few.
    """
    from scipy.special import stdtrit

    root = math.isqrt(int(budget / per_judgment)) + 2
    afforded = np.array([*range(2, root + 1), most], dtype=np.float64)
    many = np.floor((budget / afforded - per_question) / per_judgment)
    # What division rounds up or down is tried, too.
    tried = np.unique(np.concatenate([np.arange(2, root + 1), many - 1, many, many + 1]))
    m = tried[tried >= 2]
    n = np.minimum(budget // (per_question + m * per_judgment), most)
    m, n = m[n >= 2], n[n >= 2]
    if not m.size:
        return None
    inside = (4 * (m - 2) * precision.first + 2 * precision.second) / (m * (m - 1))
    width = stdtrit(n - 1, (1 + confidence) / 2) * np.sqrt((precision.between + inside) / n)
    return int(m[np.argmin(width)])
