"""Ranking judges by several measures, with how sure the ranks are.

Shape suffixes: J = judges, C = clusters (questions), B = resamples.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeGuard

import numpy as np

from judgerel_ray.stats.bootstrap import bootstrap_weights, check_choices
from judgerel_ray.stats.judge_differences import judge_difference
from judgerel_ray.stats.question_statistic import QuestionStatistic, Remembered, whole
from judgerel_ray.stats.rank_intervals import (
    EQUAL,
    MOST_UNDEFINED,
    MeanRank,
    MeasureColumn,
    Rank,
    mean_ranks,
    ranks_by_measure,
)
from judgerel_ray.stats.statistic import Floats

Measured = QuestionStatistic | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAgreement:
    """How far two measures rank the judges alike.

    Attributes
    ----------
    first, second : str
        The measures.
    tau : float or None
        Kendall's tau-b of the judges' values; None where one measure ranks nobody.
    low, high : float or None
        Quantiles over resamples of the questions: the judges are the ones there are.
    n_judges : int
        Judges that have both.
    """

    first: str
    second: str
    tau: float | None
    low: float | None = None
    high: float | None = None
    n_judges: int = 0


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
    :func:`judgerel_ray.stats.judge_differences.judge_difference`, adjusted by Holm's step-down for
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
    check_choices(confidence, n_resamples, "percentile", function="rank_judges")
    _check(judges, measures, smaller_is_better)
    drawn = [one for row in measures.values() for one in row if _is_drawn(one)]
    every = np.unique(np.concatenate([one.questions_C for one in drawn])) if drawn else np.empty(0)
    columns = [
        MeasureColumn(
            name=name,
            sign=-1.0 if name in smaller_is_better else 1.0,
            value_J=np.array([whole(one) if _is_drawn(one) else _number(one) for one in row]),
            resampled_BJ=np.empty((n_resamples, len(judges))),
            n_questions_J=np.array([one.questions_C.size if _is_drawn(one) else 0 for one in row]),
            fixed_J=np.array([one is not None and not _is_drawn(one) for one in row]),
            p_JJ=np.full((len(judges), len(judges)), np.nan),
            few_JJ=np.zeros((len(judges), len(judges)), dtype=bool),
        )
        for name, row in measures.items()
    ]
    for column in columns:
        column.resampled_BJ[:] = column.value_J
        _compare(column, measures[column.name])
    start = 0
    for weights_BC in bootstrap_weights(max(1, every.size), n_resamples=n_resamples, seed=seed):
        for column in columns:
            for j, one in enumerate(measures[column.name]):
                if _is_drawn(one):
                    mine = np.searchsorted(every, one.questions_C)
                    stop = start + len(weights_BC)
                    column.resampled_BJ[start:stop, j] = one.at(weights_BC[:, mine])
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


def _compare(column: MeasureColumn, row: Sequence[Measured]) -> None:
    """Test every pair of judges that have a value by questions."""
    able = {
        j: Remembered(of=one)
        for j, one in enumerate(row)
        if _is_drawn(one) and not np.isnan(column.value_J[j])
    }
    for first, second in combinations(able, 2):
        found = judge_difference(able[first], able[second])
        for pair in ((first, second), (second, first)):
            column.p_JJ[pair] = np.nan if found.p is None else found.p
            column.few_JJ[pair] = found.few


def rank_agreement(first: MeasureColumn, second: MeasureColumn, confidence: float) -> RankAgreement:
    """Compute Kendall's tau-b of the judges by two measures.

    Examples
    --------
    >>> columns = [MeasureColumn(name=name, sign=sign, value_J=np.array([0.1, 0.9]),
    ...                          resampled_BJ=np.array([[0.1, 0.9]]), fixed_J=np.zeros(2, bool),
    ...                          n_questions_J=np.ones(2, int), p_JJ=np.ones((2, 2)),
    ...                          few_JJ=np.ones((2, 2), bool))
    ...            for name, sign in (("one", 1.0), ("two", -1.0))]
    >>> rank_agreement(*columns, 0.95).tau
    -1.0
    """
    both_J = ~(np.isnan(first.value_J) | np.isnan(second.value_J))
    signs = first.sign * second.sign
    tau = float(_tau(first.value_J[None, both_J], signs * second.value_J[None, both_J])[0])
    bare = RankAgreement(
        first=first.name,
        second=second.name,
        tau=None if np.isnan(tau) else tau,
        n_judges=int(both_J.sum()),
    )
    if bare.tau is None:
        return bare
    tau_B = _tau(first.resampled_BJ[:, both_J], signs * second.resampled_BJ[:, both_J])
    given = ~np.isnan(tau_B)
    drawn = not (first.fixed_J[both_J].all() and second.fixed_J[both_J].all())
    if not drawn or given.mean() < 1 - MOST_UNDEFINED:
        return bare
    tail = (1 - confidence) / 2
    low, high = np.quantile(tau_B[given], [tail, 1 - tail])
    return replace(bare, low=float(low), high=float(high))


def _is_drawn(measured: Measured) -> TypeGuard[QuestionStatistic]:
    """Whether a number rests on questions."""
    return measured is not None and not isinstance(measured, int | float)


def _number(measured: Measured) -> float:
    """A number without questions, NaN where there is none."""
    return float(measured) if isinstance(measured, int | float) else float("nan")


def _check(
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


def _tau(one_BJ: Floats, two_BJ: Floats) -> Floats:
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
