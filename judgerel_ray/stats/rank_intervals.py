"""Ranks of judges by resampled measures: intervals that hold with ties, and chances to be best.

Shape suffixes: J = judges, K = judges they are compared with, B = resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.multiple_tests import holm
from judgerel_ray.stats.statistic import Floats

EQUAL = 1e-9
"""Values of judges that differ by less are a tie."""
MOST_UNDEFINED = 0.05
"""Share of resamples without a value above which there is no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The rank of one judge by one measure.

    Attributes
    ----------
    judge, measure : str
        Of whom, by what.
    value : float or None
        The measure.
    rank : float or None
        1 is best; equal judges share the mean of their places.
    low, high : int or None
        Ranks the judge may have: 1 and one more for each judge that is surely better, and the
        number of judges less those that are surely worse.
    p_best : float or None
        Share of resamples in which it is best; equal judges share it.
    n_questions : int
        Questions its value rests on.
    few : bool
        Whether it has an interval and fewer than ten questions decide a comparison with another
        judge.
    undefined : str or None
        "undefined" where the measure has no value; "fixed_score" of a number that came without
        questions, whose rank stands without an interval; "undefined_resamples", "too_few_units".
    """

    judge: str
    measure: str
    value: float | None = None
    rank: float | None = None
    low: int | None = None
    high: int | None = None
    p_best: float | None = None
    n_questions: int = 0
    few: bool = False
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRank:
    """The mean rank of one judge over the measures by which all ranked judges have one.

    Attributes
    ----------
    judge : str
        Of whom.
    value : float or None
        1 is best by all measures.
    low, high : float or None
        Quantiles over resamples. Resampled ranks are drawn to the middle where judges are close.
    p_best : float or None
        Share of resamples in which its mean rank is the least; equal judges share it.
    """

    judge: str
    value: float | None
    low: float | None = None
    high: float | None = None
    p_best: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureColumn:
    """One measure of all judges: its values, and the same of resamples.

    Attributes
    ----------
    name : str
        The measure.
    sign : float
        1 where more is better, else -1.
    value_J : ndarray of float, shape (n_judges,)
        NaN where there is none.
    resampled_BJ : ndarray of float, shape (n_resamples, n_judges)
        The same of questions drawn anew.
    n_questions_J : ndarray of int, shape (n_judges,)
        Questions each value rests on.
    fixed_J : ndarray of bool, shape (n_judges,)
        Which values are numbers without questions.
    p_JJ : ndarray of float, shape (n_judges, n_judges)
        Of no difference of two judges, by themselves; NaN where that cannot be told.
    few_JJ : ndarray of bool, shape (n_judges, n_judges)
        Where few questions decide the difference.
    """

    name: str
    sign: float
    value_J: Floats  # noqa: N815
    resampled_BJ: Floats  # noqa: N815
    n_questions_J: NDArray[np.intp]  # noqa: N815
    fixed_J: NDArray[np.bool_]  # noqa: N815
    p_JJ: Floats  # noqa: N815
    few_JJ: NDArray[np.bool_]  # noqa: N815


def ranks_by_measure(judges: Sequence[str], column: MeasureColumn, confidence: float) -> list[Rank]:
    """Rank the judges by one measure.

    Examples
    --------
    >>> column = MeasureColumn(name="m", sign=1.0, value_J=np.array([0.1, 0.9]),
    ...                        resampled_BJ=np.array([[0.1, 0.9], [0.2, 0.8]]),
    ...                        n_questions_J=np.array([9, 9]), fixed_J=np.array([False, False]),
    ...                        p_JJ=np.full((2, 2), 0.01), few_JJ=np.full((2, 2), True))
    >>> [(one.rank, one.low, one.high) for one in ranks_by_measure(["a", "b"], column, 0.95)]
    [(2.0, 2, 2), (1.0, 1, 1)]
    """
    better_J = column.sign * column.value_J
    rank_J = _places(better_J[None])[0]
    reason_J = [_why_no_interval(column, j) for j in range(len(judges))]
    usable_J = np.array([reason is None for reason in reason_J], dtype=bool)
    resampled = column.sign * column.resampled_BJ
    whole_B = ~np.isnan(resampled[:, usable_J]).any(axis=1)
    low_J, high_J = _rank_ends(better_J, column.p_JJ, usable_J, confidence)
    best_J = None
    if usable_J.any() and (usable_J | np.isnan(better_J)).all():
        best_J = _best(_places(np.where(usable_J, resampled[whole_B], np.nan)))
    found = []
    for j, judge in enumerate(judges):
        none = np.isnan(better_J[j])
        found.append(
            Rank(
                judge=judge,
                measure=column.name,
                value=None if none else float(column.value_J[j]),
                rank=None if none else float(rank_J[j]),
                low=int(low_J[j]) if usable_J[j] else None,
                high=int(high_J[j]) if usable_J[j] else None,
                p_best=None if best_J is None or not usable_J[j] else float(best_J[j]),
                n_questions=int(column.n_questions_J[j]),
                few=bool(usable_J[j] and column.few_JJ[j, usable_J].any()),
                undefined=reason_J[j],
            )
        )
    return found


def mean_ranks(
    judges: Sequence[str], columns: Sequence[MeasureColumn], confidence: float
) -> tuple[MeanRank, ...]:
    """Average each judge's ranks over the measures by which all ranked judges have one.

    Examples
    --------
    >>> column = MeasureColumn(name="m", sign=-1.0, value_J=np.array([0.1, 0.9]),
    ...                        resampled_BJ=np.array([[0.1, 0.9], [0.2, 0.8]]),
    ...                        n_questions_J=np.array([9, 9]), fixed_J=np.array([False, False]),
    ...                        p_JJ=np.full((2, 2), 0.01), few_JJ=np.full((2, 2), True))
    >>> [(one.value, one.p_best) for one in mean_ranks(["a", "b"], [column], 0.95)]
    [(1.0, 1.0), (2.0, 0.0)]
    """
    bare = tuple(MeanRank(judge=judge, value=None) for judge in judges)
    there_J = counted_judges(columns)
    complete = [one for one in columns if not np.isnan(one.value_J[there_J]).any()]
    if not there_J.any() or not complete:
        return bare
    values = [_places(one.sign * one.value_J[None, there_J])[0] for one in complete]
    value_J = np.mean(values, axis=0)
    drawn = [one.sign * one.resampled_BJ[:, there_J] for one in complete]
    whole_B = ~np.any([np.isnan(one).any(axis=1) for one in drawn], axis=0)
    fixed = all(one.fixed_J[there_J].all() for one in complete)
    low_J = high_J = best_J = np.full(value_J.size, np.nan)
    if not fixed and whole_B.mean() >= 1 - MOST_UNDEFINED:
        mean_BJ = np.mean([_places(one[whole_B]) for one in drawn], axis=0)
        tail = (1 - confidence) / 2
        low_J, high_J = np.quantile(mean_BJ, [tail, 1 - tail], axis=0)
        best_J = _best(mean_BJ)
    found = list(bare)
    for place, j in enumerate(np.flatnonzero(there_J)):
        value, *others = (
            None if np.isnan(one[place]) else float(one[place])
            for one in (value_J, low_J, high_J, best_J)
        )
        low, high, best = others
        found[j] = MeanRank(judge=judges[j], value=value, low=low, high=high, p_best=best)
    return tuple(found)


def counted_judges(columns: Sequence[MeasureColumn]) -> NDArray[np.bool_]:
    """Tell which judges are ranked by any measure that rests on questions, or by any at all.

    Examples
    --------
    >>> column = MeasureColumn(name="m", sign=1.0, value_J=np.array([0.1, np.nan]),
    ...                        resampled_BJ=np.array([[0.1, np.nan]]),
    ...                        n_questions_J=np.ones(2, int), fixed_J=np.zeros(2, bool),
    ...                        p_JJ=np.ones((2, 2)), few_JJ=np.full((2, 2), True))
    >>> counted_judges([column]).tolist()
    [True, False]
    """
    measured = [~np.isnan(one.value_J) & (one.fixed_J == 0) for one in columns]
    if not np.any(measured):
        measured = [~np.isnan(one.value_J) for one in columns]
    found: NDArray[np.bool_] = np.any(measured, axis=0)
    return found


def _why_no_interval(column: MeasureColumn, j: int) -> str | None:
    """Why a judge's rank has no interval."""
    if np.isnan(column.value_J[j]):
        return "undefined"
    if column.fixed_J[j]:
        return "fixed_score"
    if column.n_questions_J[j] < 2:
        return "too_few_units"
    many = np.isnan(column.resampled_BJ[:, j]).mean() > MOST_UNDEFINED
    return "undefined_resamples" if many else None


def _rank_ends(
    better_J: Floats, p_JJ: Floats, usable_J: NDArray[np.bool_], confidence: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """1 + judges surely better, and judges less those surely worse."""
    n = int((~np.isnan(better_J)).sum())
    low_J, high_J = np.ones(better_J.size, dtype=np.intp), np.full(better_J.size, n, dtype=np.intp)
    for j in np.flatnonzero(usable_J):
        others = np.flatnonzero(usable_J & (np.arange(better_J.size) != j))
        adjusted = holm([None if np.isnan(p) else float(p) for p in p_JJ[j, others]])
        # Rounded: one less the confidence is no more than p where both are .05.
        for k, p in zip(others, adjusted, strict=True):
            if p is not None and p <= round(1 - confidence, 12):
                low_J[j] += better_J[k] > better_J[j] + EQUAL
                high_J[j] -= better_J[k] < better_J[j] - EQUAL
    return low_J, high_J


def _places(better_BJ: Floats) -> Floats:
    """Places from 1 on, the greatest first, equals sharing theirs; NaN has none."""
    ahead = better_BJ[:, None, :] - better_BJ[:, :, None]
    with_none = np.where(np.isnan(ahead), -np.inf, ahead)
    places = 0.5 + (with_none > EQUAL).sum(axis=2) + (np.abs(with_none) <= EQUAL).sum(axis=2) / 2
    return np.where(np.isnan(better_BJ), np.nan, places)


def _best(places_BJ: Floats) -> Floats:
    """Share of resamples in which each is first, equals sharing it."""
    first_BJ = places_BJ <= np.nanmin(places_BJ, axis=1, keepdims=True) + EQUAL
    share: Floats = (first_BJ / first_BJ.sum(axis=1, keepdims=True)).mean(axis=0)
    return share
