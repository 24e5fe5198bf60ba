"""What the order of the options does to a verdict, where questions are asked in several orders.

Shape suffixes: U = units (a question in one order), V = distinct values, Q = questions, L = labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.counts import checked_counts
from judgerel_ray.stats.interval import Interval, student_interval
from judgerel_ray.stats.statistic import Floats, row_sums

ORDER_EFFECTS = ("order_effect", "position_bias")
"""Coefficients of this page."""


def order_effect(counts_UV: ArrayLike, questions_U: ArrayLike) -> Coefficient:
    """Compute how much agreement is lost when the order of the options changes.

    The chance that two verdicts on a question agree when it was asked in the same order, less that
    when it was asked in another: unbiased, 0 in expectation where order does nothing.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each question in one order received each value (what the option is, not where it
        stood).
    questions_U : array-like, shape (n_units,)
        The question of each unit.

    Returns
    -------
    Coefficient
        With its interval over questions (t, on the logit scale where the plain one excludes 0), at
        most 1. ``undefined`` is "orders_not_crossed" where no question has two orders,
        "single_replication" where none has two verdicts in the same order as well.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or there is not one question a unit.

    Examples
    --------
    The first question is always answered by position, the second never:

    >>> found = order_effect([[2, 0], [0, 2], [2, 0], [2, 0]], [0, 0, 1, 1])
    >>> found.value, found.n_units
    (0.5, 2)
    """
    counts = checked_counts(counts_UV, function="order_effect")
    questions = np.asarray(questions_U)
    if questions.shape != counts.shape[:1]:
        raise ValueError(
            f"order_effect: questions_U must have shape ({len(counts)},), got {questions.shape}"
        )
    kept = row_sums(counts) > 0
    counts, questions = counts[kept], questions[kept]
    number = np.unique(questions, return_inverse=True)[1]
    n_questions = int(number.max(initial=-1)) + 1
    pooled_QV = np.zeros((n_questions, counts.shape[1]))
    np.add.at(pooled_QV, number, counts)
    m_U, m_Q = row_sums(counts), row_sums(pooled_QV)
    squares_U = row_sums(counts**2)
    same_pairs = np.bincount(number, m_U * (m_U - 1), n_questions)
    same_agree = np.bincount(number, squares_U - m_U, n_questions)
    other_pairs = m_Q**2 - np.bincount(number, m_U**2, n_questions)
    other_agree = row_sums(pooled_QV**2) - np.bincount(number, squares_U, n_questions)
    crossed = other_pairs > 0
    taking = crossed & (same_pairs > 0)
    lost_Q = same_agree[taking] / same_pairs[taking] - other_agree[taking] / other_pairs[taking]
    why = None if taking.any() else "single_replication" if crossed.any() else "orders_not_crossed"
    total = float(lost_Q.sum())
    n = lost_Q.size
    left_out = (total - lost_Q) / (n - 1) if n > 1 else lost_Q
    return _told(
        "order_effect",
        "agreement in the same order less agreement across orders, mean over questions",
        None if why else total / n,
        why,
        left_out,
        m_Q[taking],
    )


def position_bias(labels_QL: ArrayLike) -> Coefficient:
    r"""Compute how far verdicts go by where an option stands.

    With the shares s of the labels (first option, second, ...) on each question, orders drawn at
    random, and L labels,

    .. math:: \left(\frac{\sum_{q \ne r} s_q \cdot s_r}{Q (Q - 1)} - \frac1L\right) / (1 - 1/L)

    is 1 where every verdict names the same position, and 0 in expectation where position does not
    matter, however clear the preferences among the options are.

    Parameters
    ----------
    labels_QL : array-like of int, shape (n_questions, n_labels)
        How often verdicts on each question named each label, over all orders. Every label on the
        menu has a column.

    Returns
    -------
    Coefficient
        With its jackknife interval over questions. ``undefined`` is "no_verdicts", "too_few_units"
        below two questions, or "no_variance" with one label.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers.

    Notes
    -----
    Means nothing where all questions show their options in one and the same order: position and
    option are then one thing.

    Examples
    --------
    >>> position_bias([[3, 0], [3, 0], [3, 0]]).value
    1.0
    >>> round(position_bias([[3, 0], [0, 3], [3, 0], [0, 3]]).value, 3)
    -0.333
    """
    counts = checked_counts(labels_QL, function="position_bias")
    counts = counts[row_sums(counts) > 0]
    n, n_labels = counts.shape
    shares: Floats = counts / row_sums(counts)[:, None]
    squares = row_sums(shares**2)
    total_L = shares.sum(axis=0)
    why = "no_verdicts" if n == 0 else "too_few_units" if n < 2 else None
    why = why or ("no_variance" if n_labels < 2 else None)
    value, left_out = None, np.empty(0)
    if why is None:
        value = float(_standardised(total_L @ total_L, squares.sum(), n, n_labels))
    if why is None and n > 2:
        left_L = total_L - shares
        left_out = _standardised(row_sums(left_L**2), squares.sum() - squares, n - 1, n_labels)
    words = "verdicts by position, products over pairs of questions"
    return _told("position_bias", words, value, why, left_out, row_sums(counts))


def _standardised(both: Floats, own: Floats, n: int, n_labels: int) -> Floats:
    """The mean product over pairs of questions, 0 at chance and 1 at most."""
    chance = 1 / n_labels
    standardised: Floats = ((both - own) / (n * (n - 1)) - chance) / (1 - chance)
    return standardised


def _told(
    name: str, words: str, value: float | None, why: str | None, left_out_Q: Floats, m_Q: Floats
) -> Coefficient:
    """A coefficient with its interval over questions."""
    interval = Interval(undefined="undefined")
    if value is not None:
        interval = student_interval(value, left_out_Q, 0.95, chance_corrected=True)
    if interval.undefined not in (None, "undefined"):
        words += f"; no interval: {interval.undefined.replace('_', ' ')}"
    elif interval.method:
        words += f"; {interval.method}"
    n_ratings, most = int(m_Q.sum()), int(m_Q.max(initial=0))
    return Coefficient(
        name=name,
        estimator=words,
        value=value,
        low=interval.low,
        high=interval.high,
        undefined=why,
        n_units=m_Q.size,
        n_raters=most,
        n_ratings=n_ratings,
        n_missing=m_Q.size * most - n_ratings,
    )
