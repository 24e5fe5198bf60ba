"""How often two replies that should be the same differ, with an interval at any number of them.

Shape suffixes: U = units (what was asked more than once), V = distinct values, Q = questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.arguments import check_fraction, clusters_of
from judgerel_ray.stats.counts import Floats, checked_counts
from judgerel_ray.stats.intervals.interval import Interval, student_interval
from judgerel_ray.stats.intervals.shares import clopper_pearson

_HALVINGS = 200
_FEW = 10  # questions that differ, or agree, below which Student's interval is not to be trusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """How often replies to one request differ."""

    # Share of pairs of replies of a unit that differ, averaged over units; None where no unit has
    # two replies.
    pairs: float | None
    pairs_interval: Interval  # Of `pairs`, over questions; always there where `pairs` is.
    questions: float | None  # Share of questions in which any two replies of a unit differ.
    questions_interval: Interval
    # Units with two replies or more, their questions, and those of these in which any differ.
    n_units: int
    n_questions: int
    n_differing: int
    n_replies: int  # Replies of these units.


def differing_replies(
    counts_UV: ArrayLike, *, clusters_U: ArrayLike | None = None, confidence: float = 0.95
) -> Differing:
    """Compute how often replies to one request differ.

    ``pairs`` is the flip rate of :func:`judgerel_ray.stats.flip_rate`. Its interval is Student's
    over questions where ten of them differ and ten agree, else :func:`bounded_mean_interval`, which
    needs no spread: where none differ it is 0 with an interval. That of the questions is Clopper
    and Pearson's.

    Examples
    --------
    Of three pairs two differ in the first unit, none in the second:

    >>> found = differing_replies([[2, 1], [3, 0]])
    >>> round(found.pairs, 6), found.questions, found.n_differing
    (0.333333, 0.5, 1)
    """
    counts = checked_counts(counts_UV, function="differing_replies")
    clusters = clusters_of(clusters_U, len(counts), function="differing_replies")
    replies_U = counts.sum(axis=1)
    taking = replies_U > 1
    counts, clusters, replies_U = counts[taking], clusters[taking], replies_U[taking]
    alike_U = (counts * (counts - 1)).sum(axis=1) / (replies_U * (replies_U - 1))
    _, number, n_Q = np.unique(clusters, return_inverse=True, return_counts=True)
    sums_Q = np.bincount(number, weights=1 - alike_U, minlength=n_Q.size).astype(np.float64)
    # By whole numbers: a share of pairs that is 1 but for rounding would count as a difference.
    any_Q = np.bincount(number, weights=counts.max(axis=1, initial=0) < replies_U) > 0
    return _mean_with_question_errors(
        sums_Q, n_Q.astype(np.float64), any_Q, int(replies_U.sum()), confidence=confidence
    )


def differing_requests(
    differing_Q: ArrayLike, asked_Q: ArrayLike, *, confidence: float = 0.95
) -> Differing:
    """Compute how often the two replies to requests that were asked twice differ."""
    k_Q, n_Q = (np.asarray(one, dtype=np.float64).reshape(-1) for one in (differing_Q, asked_Q))
    if k_Q.shape != n_Q.shape or not ((k_Q >= 0) & (k_Q <= n_Q)).all():
        raise ValueError(
            "differing_requests: expected 0 <= differing_Q <= asked_Q, one of each a question"
        )
    k_Q, n_Q = k_Q[n_Q > 0], n_Q[n_Q > 0]
    return _mean_with_question_errors(k_Q, n_Q, k_Q > 0, 2 * int(n_Q.sum()), confidence=confidence)


def _mean_with_question_errors(
    sums_Q: Floats, n_Q: Floats, any_Q: NDArray[np.bool_], n_replies: int, *, confidence: float
) -> Differing:
    """The mean over units and what it rests on, from sums over the units of each question."""
    n, k = n_Q.size, int(any_Q.sum())
    ends = clopper_pearson(k, n, confidence=confidence)
    found = Differing(
        pairs=None, pairs_interval=Interval(undefined="undefined"), questions=k / n if n else None,
        questions_interval=ends, n_units=int(n_Q.sum()), n_questions=n, n_differing=k,
        n_replies=n_replies,
    )  # fmt: skip
    if not n:
        return found
    total, units = float(sums_Q.sum()), float(n_Q.sum())
    value = min(1.0, max(0.0, total / units))
    agreeing = int((sums_Q < n_Q * (1 - 1e-12)).sum())
    interval = Interval(undefined="too_few_units")
    if min(k, agreeing) >= _FEW:
        left_out_Q = (total - sums_Q) / (units - n_Q)
        interval = student_interval(
            value, left_out_Q, confidence, chance_corrected=False, weights_C=n_Q
        )
    if interval.undefined:
        # Questions with more units weigh more: as many questions of equal weight say as much.
        equal = units**2 / float((n_Q**2).sum())
        interval = bounded_mean_interval(value, equal, confidence=confidence)
    return replace(found, pairs=value, pairs_interval=interval)


def bounded_mean_interval(mean: float, n: float, *, confidence: float = 0.95) -> Interval:
    r"""Compute an interval of the mean of independent numbers in [0, 1], whatever their spread.

    The ends are where Chernoff's bound on the tail reaches half of what may be missed:

    .. math:: n \, KL(\bar x, p) = \ln(2 / (1 - c))

    References
    ----------
    .. [1] Hoeffding, W. (1963), doi:10.1080/01621459.1963.10500830, theorem 1.
    """
    from scipy.special import rel_entr

    if not 0 <= mean <= 1:
        raise ValueError(f"bounded_mean_interval: mean must be between 0 and 1, got {mean!r}")
    if not n > 0:
        raise ValueError(f"bounded_mean_interval: n must be above 0, got {n!r}")
    check_fraction("bounded_mean_interval", confidence=confidence)
    most = math.log(2 / (1 - confidence)) / n

    def near(p: float) -> bool:
        return bool(rel_entr(mean, p) + rel_entr(1 - mean, 1 - p) <= most)

    low = 0.0 if mean == 0 else _last_number_that_holds(near, mean, 0.0)
    high = 1.0 if mean == 1 else _last_number_that_holds(near, mean, 1.0)
    kind = IntervalMethod.CHERNOFF_HOEFFDING
    return Interval(low=low, high=high, kind=kind, n_questions=round(n))


def _last_number_that_holds(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last number from `inside` towards `outside` for which something holds."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
