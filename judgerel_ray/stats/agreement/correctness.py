"""Right and steady: agreement taken apart into agreeing on what is right and on what is wrong.

Shape suffixes: U = units, V = distinct values, the right one first.
"""

from __future__ import annotations

import numpy as np

from judgerel_ray.stats.agreement.agreement import pair_terms
from judgerel_ray.stats.counts import (
    CountStatistic,
    Floats,
    divide,
    row_sums,
    side_by_side,
)

CORRECTNESS = ("accuracy", "majority_accuracy", "agreement_right", "agreement_wrong")
"""Coefficients of verdicts that can be right or wrong."""


def correctness_statistic(name: str) -> CountStatistic:
    """Take a coefficient of right and wrong verdicts apart, by name.

    Parameters
    ----------
    name : {"accuracy", "majority_accuracy", "agreement_right", "agreement_wrong"}
        The share of verdicts that are right; of units whose most frequent verdict is right (ties
        shared); the chance that two verdicts on a unit agree and are right; and that they agree and
        are wrong. The last two sum to percent agreement, which says nothing of which it is.

    Returns
    -------
    CountStatistic
        Of counts whose *first* column is each unit's right value; the others only need to tell
        wrong values of a unit apart.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    Twice right and once wrong; twice wrong alike. Pairs: 1 of 3 right, 1 of 1 wrong.

    >>> from judgerel_ray.stats import measure
    >>> counts = [[2, 1, 0], [0, 0, 2]]
    >>> [round(measure(counts, correctness_statistic(name)).value, 3) for name in CORRECTNESS]
    [0.4, 0.5, 0.167, 0.5]
    """
    if name not in CORRECTNESS:
        raise ValueError(f"correctness_statistic: name must be one of {CORRECTNESS}, got {name!r}")
    terms = {
        "accuracy": _right_terms,
        "majority_accuracy": _majority_terms,
        "agreement_right": _right_pairs,
        "agreement_wrong": _wrong_pairs,
    }
    words = {
        "accuracy": "share of verdicts that are right",
        "majority_accuracy": "share of units whose most frequent verdict is right, ties shared",
        "agreement_right": "share of pairs that agree and are right, mean over units",
        "agreement_wrong": "share of pairs that agree and are wrong, mean over units",
    }
    return CountStatistic(
        name=name,
        estimator=words[name],
        terms=terms[name],
        value=lambda total: divide(total[..., 1], total[..., 0]),
        min_ratings=2 if name.startswith("agreement") else 1,
        chance_corrected=False,
        has_floor=False,
    )


def _right_terms(counts_UV: Floats) -> Floats:
    """[verdicts, right ones]."""
    return side_by_side(row_sums(counts_UV), counts_UV[..., 0])


def _majority_terms(counts_UV: Floats) -> Floats:
    """[1, the right value's part in being the most frequent]."""
    most = counts_UV.max(axis=-1, initial=0.0)
    n_most = row_sums((counts_UV == most[..., None]).astype(np.float64))
    right = (counts_UV[..., 0] == most) & (most > 0)
    return side_by_side(np.ones_like(most), right / np.maximum(n_most, 1.0))


def _right_pairs(counts_UV: Floats) -> Floats:
    """[1, share of pairs that are both right]."""
    m, right = row_sums(counts_UV), counts_UV[..., 0]
    return side_by_side(np.ones_like(m), right * (right - 1) / np.maximum(m * (m - 1), 1.0))


def _wrong_pairs(counts_UV: Floats) -> Floats:
    """[1, share of pairs that agree less that of pairs that are both right]."""
    agreeing = pair_terms(counts_UV)
    right = _right_pairs(counts_UV)
    return side_by_side(right[..., 0], agreeing[..., 1] - right[..., 1])
