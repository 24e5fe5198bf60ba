"""What the order of the options does to a verdict, where questions are asked in several orders.

Shape suffixes: U = units (a question in one order), V = distinct values, Q = questions, L = labels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats.arguments import clusters_of
from judgerel_ray.stats.counts import (
    Coefficient,
    Floats,
    QuestionTerms,
    batches,
    checked_counts,
    coefficient_of_units,
    divide,
    row_sums,
    run_sums,
    stack_terms,
)
from judgerel_ray.stats.generalizability.facet_agreement import (
    FIXED,
    FacetLevels,
    LaidOut,
    reproducibility_terms,
)
from judgerel_ray.stats.intervals.interval import (
    Interval,
    coefficient_with_interval,
    student_interval,
)

ORDER_EFFECTS = (
    "swap_consistency", "place_consistency", "position_bias", "first_place", "order_effect",
)  # fmt: skip
"""Coefficients of this page."""
_PERMUTATIONS = 9_999
_CELLS = 20_000_000  # shares permuted in all; beyond, the chi-square limit tells p


def swap_terms(
    counts_UV: ArrayLike, questions_U: NDArray[np.int64], orders_U: NDArray[np.int64],
    *, clusters_U: NDArray[np.int64] | None = None,
) -> QuestionTerms:  # fmt: skip
    """Lay swap consistency out by question: pairs of judgments in different orders that agree."""
    n_values = np.shape(counts_UV)[1]
    found = reproducibility_terms(
        "percent_agreement",
        counts_UV,
        swapped(questions_U, orders_U),
        distances_VV=1 - np.eye(n_values),
        clusters_U=clusters_U,
    )
    return replace(found, name="swap_consistency", weights_C=None)


def swapped(questions_U: NDArray[np.int64], orders_U: NDArray[np.int64]) -> FacetLevels:
    """Levels of which no two judgments share theirs: every pair is of two orders."""
    return FacetLevels(
        items_U=questions_U, levels_U=orders_U, orders_U=orders_U, n_orders=float("inf")
    )


def swap_layout(laid: LaidOut) -> LaidOut:
    """Turn units laid out for reproducibility into pairs of two orders, nothing else varying."""
    crossed = laid.crossed
    last = slice(FIXED - 3, FIXED)  # the pairs of two orders: weight, weight where known, distance
    terms_IT = laid.terms_IT.copy(order="K")
    terms_IT[:, 2:FIXED] = 0.0
    terms_IT[:, last] = laid.terms_IT[:, last] / laid.terms_IT[:, FIXED - 3 : FIXED - 2]
    weights_IC = np.zeros_like(crossed.weights_IC)
    weights_IC[:, -1] = 1.0
    levels = swapped(crossed.levels.items_U, crossed.levels.levels_U)
    return replace(
        laid, terms_IT=terms_IT, crossed=replace(crossed, levels=levels, weights_IC=weights_IC)
    )


def order_effect(
    counts_UV: ArrayLike, questions_U: ArrayLike, *, confidence: float = 0.95
) -> Coefficient:
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
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        With its interval over questions (t, on the logit scale where the plain one excludes 0), at
        most 1. ``undefined`` is "orders_not_crossed" where no question has two orders,
        "single_replication" where none has two verdicts in the same order as well.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, or `questions_U` has not one entry a unit.

    Examples
    --------
    The first question is always answered by position, the second never:

    >>> found = order_effect([[2, 0], [0, 2], [2, 0], [2, 0]], [0, 0, 1, 1])
    >>> found.value, found.n_units
    (0.5, 2)
    """
    counts = checked_counts(counts_UV, function="order_effect")
    if questions_U is None:
        raise ValueError("order_effect: questions_U must name the question of each unit, got None")
    questions = clusters_of(
        questions_U, len(counts), function="order_effect", argument="questions_U"
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
    words = "agreement in the same order less agreement across orders, mean over questions"
    value = None if why else total / n
    return _order_effect_coefficient(
        "order_effect", words, value, why, left_out, m_Q[taking], confidence
    )


def position_bias(
    labels_QL: ArrayLike, questions_Q: ArrayLike | None = None, *, confidence: float = 0.95
) -> Coefficient:
    r"""Compute how far verdicts go by where an option stands.

    With the shares s of the labels (first option, second, ...) on each question, orders drawn at
    random, and L labels,

    .. math:: \left(\frac{\sum_{q \ne r} s_q \cdot s_r}{Q (Q - 1)} - \frac1L\right) / (1 - 1/L)

    is 1 where every verdict names the same position, and 0 in expectation where position does not
    matter, however clear the preferences among the options are.

    Parameters
    ----------
    labels_QL : array-like of int, shape (n_questions, n_labels)
        How often verdicts on each question named each label, over all orders or in each. Every
        label on the menu has a column.
    questions_Q : array-like, shape (n_questions,), optional
        The question of each row, where a row is a question in one order; its orders weigh the same.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        With its jackknife interval over questions, and ``p_noise``: the share of permutations of
        the labels inside each question that come as far above 0. ``undefined`` is "no_verdicts",
        "too_few_units" below two questions, or "no_variance" with one label.

    Raises
    ------
    ValueError
        If `labels_QL` is no table of whole numbers.

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
    n_labels = counts.shape[1]
    terms = position_terms(counts, questions_Q=questions_Q)
    n = len(terms.terms_CT)
    why = "no_verdicts" if n == 0 else "too_few_units" if n < 2 else None
    why = why or ("no_variance" if n_labels < 2 else None)
    value, left_out, p, sd, how = None, np.empty(0), None, None, None
    words = "verdicts by position, products over pairs of questions"
    if why is None:
        value = float(terms.value(terms.terms_CT.sum(axis=0)))
        p, sd, how = _position_test(terms.terms_CT[:, 2:])
    if why is None and n > 2:
        left_out = terms.left_out()
    m_Q = _ratings_of(counts, questions_Q)
    found = _order_effect_coefficient("position_bias", words, value, why, left_out, m_Q, confidence)
    if p is None:
        return found
    drawn = _PERMUTATIONS if how is NullMethod.PLACE_PERMUTATIONS else 0
    return replace(
        found, noise_floor=0.0, noise_floor_sd=sd, p_noise=p, null_method=how, n_permutations=drawn
    )


def first_place(
    labels_QL: ArrayLike, questions_Q: ArrayLike | None = None, *, first: int | None = 0,
    confidence: float = 0.95,
) -> Coefficient:  # fmt: skip
    """Compute the share of verdicts that name the first place, mean over questions.

    Parameters
    ----------
    labels_QL, questions_Q
        As of :func:`position_bias`.
    first : int or None
        The column of the first place; None where it is not known which that is.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        In [0, 1], with its jackknife interval over questions; ``noise_floor`` is 1/L, where places
        do not matter and every option is shown first as often as elsewhere. ``undefined`` is
        "no_verdicts", or "first_place_unknown".

    Raises
    ------
    ValueError
        As of :func:`position_bias`.

    Examples
    --------
    >>> found = first_place([[3, 0], [3, 0], [0, 3], [3, 0]])
    >>> found.value, found.noise_floor
    (0.75, 0.5)
    """
    terms = position_terms(labels_QL, questions_Q=questions_Q)
    shares_QL = terms.terms_CT[:, 2:]
    n, n_labels = shares_QL.shape
    why = "no_verdicts" if n == 0 else "first_place_unknown" if first is None else None
    value, left_out = None, np.empty(0)
    if why is None and first is not None:
        share_Q = shares_QL[:, first]
        value = float(share_Q.mean())
        left_out = (share_Q.sum() - share_Q) / (n - 1) if n > 1 else share_Q
    words = "share of verdicts that name the first place, mean over questions"
    m_Q = _ratings_of(labels_QL, questions_Q)
    found = _order_effect_coefficient(
        "first_place", words, value, why, left_out, m_Q, confidence, chance_corrected=False
    )
    return found if value is None else replace(found, noise_floor=1 / n_labels)


def position_terms(labels_QL: ArrayLike, *, questions_Q: ArrayLike | None = None) -> QuestionTerms:
    """Lay position bias out by question: [1, sum of squared shares, shares of the labels]."""
    counts = checked_counts(labels_QL, function="position_bias")
    kept = row_sums(counts) > 0
    counts = np.asfortranarray(counts[kept])  # each column in one piece
    n_labels = counts.shape[1]
    names = np.arange(kept.size) if questions_Q is None else np.asarray(questions_Q)
    order, starts = _order_of_equal_names(names[kept])
    shares: Floats = run_sums((counts / row_sums(counts)[:, None])[order], starts, axis=-2)
    shares = shares / np.diff(starts, append=len(counts))[:, None]
    terms = stack_terms(np.ones(len(shares)), row_sums(shares**2), *shares.T)

    def value(total: Floats) -> Floats:
        """The mean product over pairs of questions, 0 at chance and 1 at most."""
        n, chance = total[..., 0], 1 / max(n_labels, 1)
        both = row_sums(total[..., 2:] ** 2) - total[..., 1]
        if n_labels < 2:
            return np.full(n.shape, np.nan)
        standardised: Floats = (divide(both, n * (n - 1)) - chance) / (1 - chance)
        return standardised

    return QuestionTerms(
        name="position_bias", questions_C=names[kept][order][starts], terms_CT=terms, value=value
    )


def _order_of_equal_names(names: NDArray[Any]) -> tuple[NDArray[np.intp] | slice, NDArray[np.intp]]:
    """Give an order in which equal names follow each other, and where each of them starts."""
    order: NDArray[np.intp] | slice = slice(None)
    if np.less(names[1:], names[:-1]).any():
        order = np.argsort(names, kind="stable")
        names = names[order]
    return order, np.flatnonzero(np.concatenate([[True], names[1:] != names[:-1]])[: names.size])


def _position_test(shares_QL: Floats) -> tuple[float, float, NullMethod]:
    """P that places do not matter, spread of the value then, and how both were found.

    Where they do not, the labels of each question may be permuted: its shares are as likely in any
    other order of the places.
    """
    n, n_labels = shares_QL.shape
    free = shares_QL - 1 / n_labels
    spread = (free**2).sum()
    scale = n * (n - 1) * (1 - 1 / n_labels)
    # Of two questions the product is 0 in the mean, its square v_q v_r / (L - 1).
    v_Q = row_sums(free**2)
    sd = float(np.sqrt(2 * (spread**2 - (v_Q**2).sum()) / (n_labels - 1)) / scale)
    length = float((free.sum(axis=0) ** 2).sum())
    if spread < 1e-12:
        return 1.0, 0.0, NullMethod.PLACES_ALIKE
    if n * n_labels * _PERMUTATIONS > _CELLS:
        from scipy.special import chdtrc

        p = float(chdtrc(n_labels - 1, length * (n_labels - 1) / spread))
        return p, sd, NullMethod.PLACES_CLOSED_FORM
    rng, reached = np.random.default_rng(0), 0
    for m in batches(_PERMUTATIONS, n * n_labels, 2_000_000):
        drawn = rng.permuted(np.broadcast_to(free, (m, n, n_labels)), axis=-1).sum(axis=1)
        reached += int((row_sums(drawn**2) >= length - 1e-9).sum())
    p = (1 + reached) / (1 + _PERMUTATIONS)
    return p, sd, NullMethod.PLACE_PERMUTATIONS


def _ratings_of(labels_QL: ArrayLike, questions_Q: ArrayLike | None) -> Floats:
    """How many verdicts each question has, those without any left out."""
    m_U: Floats = row_sums(np.asarray(labels_QL, dtype=np.float64))
    if questions_Q is not None:
        order, starts = _order_of_equal_names(np.asarray(questions_Q))
        m_U = run_sums(m_U[order], starts)
    return m_U[m_U > 0]


def _order_effect_coefficient(
    name: str, words: str, value: float | None, why: str | None, left_out_Q: Floats, m_Q: Floats,
    confidence: float, *, chance_corrected: bool = True,
) -> Coefficient:  # fmt: skip
    """A coefficient with its interval over questions."""
    ends = Interval(undefined="undefined")
    if value is not None:
        ends = student_interval(value, left_out_Q, confidence, chance_corrected=chance_corrected)
    return coefficient_with_interval(
        coefficient_of_units(name, words, m_Q, value=value, undefined=why), ends
    )
