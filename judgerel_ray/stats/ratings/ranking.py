"""Ranking judges by several measures, with how sure the ranks are.

Measures are resampled by question: intervals of ranks hold with ties, and each judge has a chance
to be the best.

Shape suffixes: J = judges, K = judges they are compared with, C = clusters (questions),
B = resamples.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.interval import bootstrap_weights, check_resampling
from judgerel_ray.stats.intervals.judge_differences import holm, judge_difference
from judgerel_ray.stats.intervals.question_statistic import QuestionStatistic, Remembered, whole

EQUAL = 1e-9
"""Values of judges that differ by less are a tie."""
MOST_UNDEFINED = 0.05
"""Share of resamples without a value above which there is no interval."""
_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The rank of one judge by one measure."""

    judge: str
    measure: str
    value: float | None = None
    rank: float | None = None  # 1 is best; equal judges share the mean of their places.
    # Ranks the judge may have: 1 and one more for each judge that is surely better, and the number
    # of judges less those that are surely worse.
    low: int | None = None
    high: int | None = None
    p_best: float | None = None  # Share of resamples in which it is best; equal judges share it.
    n_questions: int = 0  # Questions its value rests on.
    # Whether it has an interval and fewer than ten questions decide a comparison with another
    # judge.
    few: bool = False
    # "undefined" where the measure has no value; "fixed_score" of a number that came without
    # questions, whose rank stands without an interval; "undefined_resamples", "too_few_units".
    undefined: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRank:
    """The mean rank of one judge over the measures by which all ranked judges have one."""

    judge: str
    value: float | None  # 1 is best by all measures.
    # Quantiles over resamples. Resampled ranks are drawn to the middle where judges are close. None
    # where by any of the measures few questions decide (`few`): resamples of these are too alike.
    low: float | None = None
    high: float | None = None
    # Share of resamples in which its mean rank is the least; equal judges share it.
    p_best: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureColumn:
    """One measure of all judges: its values, and the same of resamples."""

    name: str
    sign: float  # 1 where more is better, else -1.
    # Shape (n_judges,). NaN where there is none.
    value_J: Floats  # noqa: N815
    # Shape (n_resamples, n_judges). The same of questions drawn anew.
    resampled_BJ: Floats  # noqa: N815
    # Shape (n_judges,). Questions each value rests on.
    n_questions_J: NDArray[np.intp]  # noqa: N815
    # Shape (n_judges,). Which values are numbers without questions.
    fixed_J: NDArray[np.bool_]  # noqa: N815
    # Shape (n_judges, n_judges). Of no difference of two judges, by themselves; NaN where that
    # cannot be told.
    p_JJ: Floats  # noqa: N815
    # Shape (n_judges, n_judges). Where few questions decide the difference.
    few_JJ: NDArray[np.bool_]  # noqa: N815


def ranks_by_measure(judges: Sequence[str], column: MeasureColumn, confidence: float) -> list[Rank]:
    """Rank the judges by one measure."""
    better_J = column.sign * column.value_J
    rank_J = _judge_ranks_with_ties(better_J[None])[0]
    reason_J, usable_J, few_J = _standing(column)
    resampled = column.sign * column.resampled_BJ
    whole_B = ~np.isnan(resampled[:, usable_J]).any(axis=1)
    low_J, high_J = _rank_ends(better_J, column.p_JJ, usable_J, confidence)
    best_J = None
    if usable_J.any() and (usable_J | np.isnan(better_J)).all():
        best_J = _share_of_first_ranks(
            _judge_ranks_with_ties(np.where(usable_J, resampled[whole_B], np.nan))
        )
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
                few=bool(few_J[j]),
                undefined=reason_J[j],
            )
        )
    return found


def mean_ranks(
    judges: Sequence[str], columns: Sequence[MeasureColumn], confidence: float
) -> tuple[MeanRank, ...]:
    """Average each judge's ranks over the measures by which all ranked judges have one."""
    bare = tuple(MeanRank(judge=judge, value=None) for judge in judges)
    there_J = counted_judges(columns)
    complete = [one for one in columns if not np.isnan(one.value_J[there_J]).any()]
    if not there_J.any() or not complete:
        return bare
    values = [_judge_ranks_with_ties(one.sign * one.value_J[None, there_J])[0] for one in complete]
    value_J = np.mean(values, axis=0)
    drawn = [one.sign * one.resampled_BJ[:, there_J] for one in complete]
    whole_B = ~np.any([np.isnan(one).any(axis=1) for one in drawn], axis=0)
    fixed = all(one.fixed_J[there_J].all() for one in complete)
    low_J = high_J = best_J = np.full(value_J.size, np.nan)
    if not fixed and whole_B.mean() >= 1 - MOST_UNDEFINED:
        mean_BJ = np.mean([_judge_ranks_with_ties(one[whole_B]) for one in drawn], axis=0)
        tail = (1 - confidence) / 2
        few_J = np.any([_standing(one)[2][there_J] for one in complete], axis=0)
        ends = np.quantile(mean_BJ, [tail, 1 - tail], axis=0)
        low_J, high_J = np.where(few_J, np.nan, ends)
        best_J = _share_of_first_ranks(mean_BJ)
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
    """Tell which judges are ranked by any measure that rests on questions, or by any at all."""
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


def _standing(
    column: MeasureColumn,
) -> tuple[list[str | None], NDArray[np.bool_], NDArray[np.bool_]]:
    """Why ranks have no interval, whose have one, and whom of these few questions tell apart."""
    reason_J = [_why_no_interval(column, j) for j in range(column.value_J.size)]
    usable_J = np.array([reason is None for reason in reason_J], dtype=bool)
    return reason_J, usable_J, usable_J & column.few_JJ[:, usable_J].any(axis=1)


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


def _judge_ranks_with_ties(better_BJ: Floats) -> Floats:
    """Places from 1 on, the greatest first, equals sharing theirs; NaN has none."""
    ahead = better_BJ[:, None, :] - better_BJ[:, :, None]
    with_none = np.where(np.isnan(ahead), -np.inf, ahead)
    places = 0.5 + (with_none > EQUAL).sum(axis=2) + (np.abs(with_none) <= EQUAL).sum(axis=2) / 2
    return np.where(np.isnan(better_BJ), np.nan, places)


def _share_of_first_ranks(places_BJ: Floats) -> Floats:
    """Share of resamples in which each is first, equals sharing it."""
    first_BJ = places_BJ <= np.nanmin(places_BJ, axis=1, keepdims=True) + EQUAL
    share: Floats = (first_BJ / first_BJ.sum(axis=1, keepdims=True)).mean(axis=0)
    return share


Measured = QuestionStatistic | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAgreement:
    """How far two measures rank the judges alike."""

    first: str
    second: str
    tau: float | None  # Kendall's tau-b of the judges' values; None where one measure ranks nobody.
    # Quantiles over resamples of the questions: the judges are the ones there are. None of two
    # judges, whose tau is 1 or -1 whatever is drawn, and where few questions decide and no resample
    # differs.
    low: float | None = None
    high: float | None = None
    n_judges: int = 0  # Judges that have both.


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Ranks by measure, mean ranks, and the agreement of the measures.

    Attributes
    ----------
    ranks : tuple of Rank
        By measure, and within it in the order of the judges.
    mean_ranks : tuple of MeanRank
        In the order of the judges.
    agreements : tuple of RankAgreement
        One a pair of measures.
    method : str
        How the uncertainty was computed, in words.
    """

    ranks: tuple[Rank, ...]
    mean_ranks: tuple[MeanRank, ...]
    agreements: tuple[RankAgreement, ...]
    method: str


def rank_judges(
    judges: Sequence[str],
    measures: Mapping[str, Sequence[Measured]],
    *,
    smaller_is_better: Collection[str] = (),
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Ranking:
    """Rank judges by each of several measures, and say how sure that is.

    Questions are drawn anew with replacement, once for all: judges and measures that share a
    question share its luck, so that a hard question does not count as a difference of judges.

    Parameters
    ----------
    judges : sequence of str
        Their names.
    measures : mapping of str to sequence of QuestionStatistic, float or None
        What each measure says of each judge, in their order: a number by question
        (:func:`judgerel_ray.stats.count_terms`, :func:`judgerel_ray.stats.inter_scale_terms`,
        :func:`judgerel_ray.stats.correlation`, or :func:`judgerel_ray.stats.mean_of` several), a
        number that is known without questions (a published score), or None.
    smaller_is_better : collection of str
        Measures of which less is better.
    confidence : float
        Of the intervals, in (0, 1).
    n_resamples : int
        Resamples, at least 1.
    seed : int
        Seed of the draws.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If a measure has not one entry a judge, a name is unknown or doubled, or a choice is out of
        range.

    Notes
    -----
    Resampled ranks cover too little where judges are close [1]_. So the interval of a rank counts
    the judges that are surely better or worse [2]_: those from which this one differs by
    :func:`.judge_difference`, adjusted by Holm's step-down for
    their number. Resampled differences did not do: where few questions decide, as with coefficients
    of verdicts that are mostly the same, they are too alike (``bench/rank_levels.py``).

    References
    ----------
    .. [1] Xie, M., Singh, K. and Zhang, C.-H. (2009), Confidence intervals for population ranks in
       the presence of ties and near ties, JASA 104.
    .. [2] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024), Inference for ranks,
       Review of Economic Studies 91.

    Examples
    --------
    >>> from judgerel_ray.stats import count_statistic, count_terms
    >>> agreement = count_statistic("percent_agreement", n_values=2)
    >>> steady = count_terms([[2, 0], [0, 2]] * 20, agreement)
    >>> unsteady = count_terms([[1, 1], [0, 2]] * 20, agreement)
    >>> found = rank_judges(["a", "b"], {"agreement": [unsteady, steady], "outside": [7.1, 6.3]})
    >>> [(one.rank, one.low, one.high, one.p_best) for one in found.ranks]
    [(2.0, 2, 2, 0.0), (1.0, 1, 1, 1.0), (1.0, None, None, None), (2.0, None, None, None)]
    >>> found.agreements[0].tau
    -1.0
    """
    check_resampling(confidence, n_resamples, "percentile", function="rank_judges")
    _check_ranked_judges(judges, measures, smaller_is_better)
    drawn = [one for row in measures.values() for one in row if _rank_rests_on_questions(one)]
    every = np.unique(np.concatenate([one.questions_C for one in drawn])) if drawn else np.empty(0)
    columns = []
    for name, row in measures.items():
        sizes = [one.questions_C.size if _rank_rests_on_questions(one) else 0 for one in row]
        value_J = np.array([_rank_value_or_nan(one) for one in row])
        column = MeasureColumn(
            name=name,
            sign=-1.0 if name in smaller_is_better else 1.0,
            value_J=value_J,
            resampled_BJ=np.tile(value_J, (n_resamples, 1)),
            n_questions_J=np.array(sizes),
            fixed_J=np.array([isinstance(one, int | float) for one in row]),
            p_JJ=np.full((len(judges), len(judges)), np.nan),
            few_JJ=np.zeros((len(judges), len(judges)), dtype=bool),
        )
        _pairwise_judge_tests(column, row)
        columns.append(column)
    start = 0
    for weights_BC in bootstrap_weights(max(1, every.size), n_resamples=n_resamples, seed=seed):
        for column in columns:
            for j, one in enumerate(measures[column.name]):
                if _rank_rests_on_questions(one):
                    place = np.searchsorted(every, one.questions_C)
                    stop = start + len(weights_BC)
                    column.resampled_BJ[start:stop, j] = one.at(weights_BC[:, place])
        start += len(weights_BC)
    return Ranking(
        ranks=tuple(
            one for column in columns for one in ranks_by_measure(judges, column, confidence)
        ),
        mean_ranks=mean_ranks(judges, columns, confidence),
        agreements=tuple(rank_agreement(*pair, confidence) for pair in combinations(columns, 2)),
        method=f"{n_resamples} resamples of {every.size} questions, drawn together for all; "
        "ranks by tests of pairs, Holm",
    )


def _pairwise_judge_tests(column: MeasureColumn, row: Sequence[Measured]) -> None:
    """Test every pair of judges that have a value by questions."""
    able = {
        j: Remembered(of=one)
        for j, one in enumerate(row)
        if _rank_rests_on_questions(one) and not np.isnan(column.value_J[j])
    }
    for first, second in combinations(able, 2):
        found = judge_difference(able[first], able[second])
        for pair in ((first, second), (second, first)):
            column.p_JJ[pair] = np.nan if found.p is None else found.p
            column.few_JJ[pair] = found.few


def rank_agreement(first: MeasureColumn, second: MeasureColumn, confidence: float) -> RankAgreement:
    """Compute Kendall's tau-b of the judges by two measures."""
    both_J = ~(np.isnan(first.value_J) | np.isnan(second.value_J))
    signs = first.sign * second.sign
    tau = float(_kendall_tau(first.value_J[None, both_J], signs * second.value_J[None, both_J])[0])
    bare = RankAgreement(
        first=first.name,
        second=second.name,
        tau=None if np.isnan(tau) else tau,
        n_judges=int(both_J.sum()),
    )
    if bare.tau is None or bare.n_judges <= _PAIR:
        return bare
    tau_B = _kendall_tau(first.resampled_BJ[:, both_J], signs * second.resampled_BJ[:, both_J])
    valid = ~np.isnan(tau_B)
    drawn = not (first.fixed_J[both_J].all() and second.fixed_J[both_J].all())
    if not drawn or valid.mean() < 1 - MOST_UNDEFINED:
        return bare
    few = any(_standing(one)[2][both_J].any() for one in (first, second))
    if few and np.ptp(tau_B[valid]) <= EQUAL:
        return bare
    tail = (1 - confidence) / 2
    low, high = np.quantile(tau_B[valid], [tail, 1 - tail])
    return replace(bare, low=float(low), high=float(high))


def _rank_rests_on_questions(measured: Measured) -> TypeGuard[QuestionStatistic]:
    """Whether a number rests on questions."""
    return measured is not None and not isinstance(measured, int | float)


def _rank_value_or_nan(measured: Measured) -> float:
    """The number itself, or of all its questions; NaN where there is none."""
    if _rank_rests_on_questions(measured):
        return whole(measured)
    return float(measured) if isinstance(measured, int | float) else float("nan")


def _check_ranked_judges(
    judges: Sequence[str], measures: Mapping[str, Sequence[Measured]], smaller: Collection[str]
) -> None:
    """Refuse names and rows that do not fit (ValueError)."""
    if len(set(judges)) != len(judges):
        raise ValueError(f"rank_judges: judges must have different names, got {list(judges)!r}")
    for name, row in measures.items():
        if len(row) != len(judges):
            raise ValueError(
                f"rank_judges: {name} must have one entry a judge ({len(judges)}), got {len(row)}"
            )
    unknown = sorted(set(smaller) - set(measures))
    if unknown:
        raise ValueError(
            f"rank_judges: smaller_is_better must name measures ({', '.join(measures)}), got "
            f"{unknown[0]!r}"
        )


def _kendall_tau(one_BJ: Floats, two_BJ: Floats) -> Floats:
    """Kendall's tau-b of each row; NaN where one of both ranks nobody."""
    signs = []
    for values in (one_BJ, two_BJ):
        apart = values[:, None, :] - values[:, :, None]
        signs.append(np.where(np.abs(apart) <= EQUAL, 0.0, np.sign(apart)))
    across, one, two = ((signs[i] * signs[j]).sum(axis=(1, 2)) for i, j in ((0, 1), (0, 0), (1, 1)))
    under = np.sqrt(one * two)
    tau = np.full(under.shape, np.nan)
    np.divide(across, under, out=tau, where=under > 0)
    return tau
