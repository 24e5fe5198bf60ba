"""Cascades from landed rows: the cheapest first, the next one only where confidence falls short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.analyses.panels.cascade_choice import MOST_STAGES, PERSON, CascadeChoice
from judgerel_ray.analyses.panels.voters import Voters
from judgerel_ray.core import SweepError
from judgerel_ray.counting.policy import Row
from judgerel_ray.stats.counts.statistic import Floats
from judgerel_ray.stats.panels.affordable import best_affordable, vote_methods
from judgerel_ray.stats.panels.cascade import CascadePoint, CascadeStages, best_cascades
from judgerel_ray.stats.panels.votes import mean_interval, question_means
from judgerel_ray.stats.selective.paired_accuracy import paired_accuracy

N_FOLDS = 5
_F, _S, _I = pl.Float64(), pl.String(), pl.Int64()
_STAGES = {
    "stage": _I, "member": _S, "n_items": _I, "cost": _F, "cost_unit": _S, "accuracy": _F,
    "low": _F, "high": _F, "confident": _F,
}  # fmt: skip
_CURVE = {
    "budget": _F, "cost_unit": _S, "cost": _F, "cost_low": _F, "cost_high": _F, "accuracy": _F,
    "low": _F, "high": _F, "answered": _S, "thresholds": _S, "in_sample": _F,
    "in_sample_cost": _F, "n_alike": _I, "n_folds": _I, "random": _F, "over_random": _F,
    "over_random_low": _F, "over_random_high": _F, "alone": _S, "alone_accuracy": _F,
    "alone_cost": _F, "over_alone": _F, "over_alone_low": _F, "over_alone_high": _F,
    "n_items": _I,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeTables:
    """What is said of cascades; both tables start with the columns of the groups.

    Attributes
    ----------
    stages : pl.DataFrame
        Who is asked, in order: accuracy of each on all questions, ``cost`` of a question,
        ``confident``: share of answers that state a confidence.
    curve : pl.DataFrame
        A row a budget. ``accuracy`` and ``cost`` are of thresholds that other folds chose, with
        intervals by question; ``in_sample`` and ``thresholds`` of those that all questions chose.
        ``answered`` is the share each stage answers. ``random``: as many passed on at each stage,
        whoever is sure. ``alone``: the best member for that money, its majority of so many
        replications, chosen on other folds, too.
    cascaded : pl.DataFrame, optional
        As of :func:`.cascaded_table`, in place of the other two: what a cascade that was asked did.
    """

    stages: pl.DataFrame
    curve: pl.DataFrame
    cascaded: pl.DataFrame | None = None

    def tables(self) -> dict[str, pl.DataFrame]:
        """Give the tables that there are by name.

        Examples
        --------
        >>> list(CascadeTables(stages=pl.DataFrame(), curve=pl.DataFrame()).tables())
        ['stages', 'curve']
        """
        if self.cascaded is not None:
            return {"cascaded": self.cascaded}
        return {"stages": self.stages, "curve": self.curve}


def told_cascade(cascaded: pl.DataFrame) -> CascadeTables:
    """What a cascade that was asked did, as a result that tries no other.

    Examples
    --------
    >>> list(told_cascade(pl.DataFrame()).tables())
    ['cascaded']
    """
    return CascadeTables(stages=pl.DataFrame(), curve=pl.DataFrame(), cascaded=cascaded)


def cascade_tables(groups: Sequence[Voters], choice: CascadeChoice | None = None) -> CascadeTables:
    """Lay out what cascades of each group buy.

    Parameters
    ----------
    groups : sequence of Voters
        From :func:`judgerel_ray.analyses.panels.voters.read_voters`.
    choice : CascadeChoice, optional
        How answers are passed on.

    Returns
    -------
    CascadeTables

    Raises
    ------
    SweepError
        If the order names nobody, cannot be told by costs, or a member that may pass on states
        no confidence.

    Examples
    --------
    >>> from judgerel_ray.analyses.selection.systems import read_systems
    >>> from judgerel_ray.analyses.panels.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": [*"qrst"] * 2, "judge": ["a"] * 4 + ["b"] * 4,
    ...     "replication": [0] * 8, "verdict": [*"11221122"], "gold": [*"12211122"],
    ...     "confidence": [0.9, 0.5, 0.9, 0.5] + [None] * 4, "cost": [1.0] * 4 + [9.0] * 4})
    >>> found = cascade_tables(read_voters(read_systems(rows), rows), CascadeChoice(n_budgets=2))
    >>> found.stages["member"].to_list(), found.curve["budget"].to_list()
    (['a', 'b'], [1.0, 10.0])
    """
    choice = choice or CascadeChoice()
    fitting = [one for one in groups if set(choice.order) <= set(one.members)]
    if not fitting:
        known = sorted({member for one in groups for member in one.members})
        raise SweepError(
            f"the order names {', '.join(choice.order)}, expected members of one group, got "
            f"{', '.join(known)}"
        )
    keys = list(dict.fromkeys(name for voters in fitting for name in voters.name))
    stages: list[Row] = []
    curve: list[Row] = []
    for voters in fitting:
        order = _order(voters, choice)
        stages += [{**voters.name, **row} for row in _stage_rows(voters, order, choice)]
        if voters.n_questions > 1:
            curve += [{**voters.name, **row} for row in _curve_rows(voters, order, choice)]
    return CascadeTables(stages=_frame(stages, keys, _STAGES), curve=_frame(curve, keys, _CURVE))


def _frame(
    rows: Sequence[Row], keys: Sequence[str], schema: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    """Rows with the columns of the groups first."""
    return pl.DataFrame(
        rows, schema=[*keys, *schema], schema_overrides=schema, infer_schema_length=None
    )


def orders_itself(voters: Voters) -> bool:
    """Whether costs tell who is asked first, and confidences when to pass on.

    Examples
    --------
    >>> from judgerel_ray.analyses.selection.systems import read_systems
    >>> from judgerel_ray.analyses.panels.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "judge": ["a", "b"], "replication": [0, 0],
    ...     "verdict": ["1", "2"], "gold": ["1", "1"], "confidence": [0.9, None]})
    >>> orders_itself(read_voters(read_systems(rows), rows)[0])
    False
    """
    places = _by_cost(voters)
    costs = {voters.prices.of([j]) for j in places}
    return (
        2 <= len(costs) == len(places) <= MOST_STAGES
        and not np.isnan(voters.confidence_UJ[:, places[:-1]]).all(axis=0).any()
    )


def _by_cost(voters: Voters) -> list[int]:
    """Members, the cheapest first: models alone, where judges of their answers are among them."""
    return sorted(voters.alone_J, key=lambda j: (voters.prices.of([j]), j))


def _order(voters: Voters, choice: CascadeChoice) -> list[int]:
    """Who is asked, first first."""
    places = [voters.members.index(name) for name in choice.order]
    if not places:
        places = _by_cost(voters)
        if len({voters.prices.of([j]) for j in places}) < len(places):
            names = ", ".join(voters.members[j] for j in places)
            raise SweepError(
                "costs do not tell who should be asked first: members cost alike",
                where={"members": names, "unit": voters.cost_unit},
                hint="--order A,B names it; --price NAME=... says what replies cost",
            )
    people = 0 if choice.person_cost is None else 1
    if not 2 <= len(places) + people <= MOST_STAGES:
        raise SweepError(
            f"a cascade has 2 to {MOST_STAGES} stages, got {len(places) + people}",
            hint="--order A,B names fewer",
        )
    for j in places if people else places[:-1]:
        if np.isnan(voters.confidence_UJ[:, j]).all():
            raise SweepError(
                f"{voters.members[j]} states no confidence, so nothing says when to pass on",
                hint="put it last, or leave it out of the order",
            )
    return places


def _stages(voters: Voters, order: Sequence[int], choice: CascadeChoice) -> CascadeStages:
    """Confidence, right answers and costs of everyone asked, the person last."""
    confidence = voters.confidence_UJ[:, order]
    right, spent = 1.0 - voters.wrong_UJ[:, order], voters.spent_UJ[:, order]
    asked = order if choice.person_cost is not None else order[:-1]  # the last is sure enough
    spent[:, : len(asked)] += voters.more_UJ[:, asked]
    if choice.person_cost is not None:
        n = len(right)
        confidence = np.column_stack([confidence, np.ones(n)])
        right = np.column_stack([right, np.full(n, choice.person_accuracy)])
        spent = np.column_stack([spent, np.full(n, choice.person_cost)])
    return CascadeStages(
        confidence_UL=confidence, right_UL=right, spent_UL=spent, questions_U=voters.questions_U
    )


def _names(voters: Voters, order: Sequence[int], choice: CascadeChoice) -> list[str]:
    """Who is asked, by name."""
    people = [] if choice.person_cost is None else [PERSON]
    return [*(voters.members[j] for j in order), *people]


def _stage_rows(voters: Voters, order: Sequence[int], choice: CascadeChoice) -> Iterator[Row]:
    """Everyone asked, alone on all questions."""
    stages = _stages(voters, order, choice)
    for place, name in enumerate(_names(voters, order, choice)):
        right_Q = question_means(stages.right_UL[:, place], voters.questions_U)
        known = place < len(order)  # nobody measured the person
        ends = mean_interval(right_Q)
        stated_Q = question_means(~np.isnan(stages.confidence_UL[:, place]), voters.questions_U)
        yield {
            "stage": place + 1, "member": name, "n_items": voters.n_questions,
            "cost": float(question_means(stages.spent_UL[:, place], voters.questions_U).mean()),
            "cost_unit": voters.cost_unit, "accuracy": float(right_Q.mean()),
            "low": ends.low if known else None, "high": ends.high if known else None,
            "confident": float(stated_Q.mean()) if known else None,
        }  # fmt: skip


def _curve_rows(voters: Voters, order: Sequence[int], choice: CascadeChoice) -> Iterator[Row]:
    """The best cascade at each budget, beside what it is held against."""
    stages = _stages(voters, order, choice)
    spent_L = [question_means(one, voters.questions_U).mean() for one in stages.spent_UL.T]
    budgets = np.linspace(spent_L[0], sum(spent_L), choice.n_budgets)
    names, methods, costs = _methods(voters, order)
    for point in best_cascades(stages, budgets.tolist(), n_folds=N_FOLDS, seed=choice.seed):
        # Held against what the cascade really cost, where that is more than it was to cost.
        money = max(point.budget, float(point.spent_Q.mean()))
        alone = best_affordable(methods, costs, money, n_folds=N_FOLDS, seed=choice.seed)
        spent = mean_interval(point.spent_Q, is_share=False)
        yield {
            "budget": point.budget, "cost_unit": voters.cost_unit, "n_items": voters.n_questions,
            "cost": float(point.spent_Q.mean()), "cost_low": spent.low, "cost_high": spent.high,
            **_estimate(point.right_Q), **_chosen(point), "random": float(point.random_Q.mean()),
            **_over(point.right_Q, point.random_Q, "over_random"),
            "alone": None if alone.place is None else names[alone.place],
            "alone_accuracy": None if alone.place is None else float(alone.right_Q.mean()),
            "alone_cost": None if alone.place is None else alone.cost,
            **(_over(point.right_Q, alone.right_Q, "over_alone") if alone.place is not None
               else {}),
        }  # fmt: skip


def _methods(voters: Voters, order: Sequence[int]) -> tuple[list[str], Floats, Floats]:
    """Each member by itself, outvoting itself where it was asked again: names, right, costs."""
    questions = voters.questions_U
    n_units = np.bincount(questions)
    least = int(n_units.min())
    starts = np.concatenate([[0], np.cumsum(n_units)[:-1]])
    units_QR = starts[:, None] + np.arange(least)
    names: list[str] = []
    right: list[Floats] = []
    costs: list[float] = []
    for j in order:
        price = voters.prices.of([j])
        found = vote_methods(voters.votes_UJ[units_QR, j], voters.right_U[starts])
        for k, right_Q in enumerate(found, start=1):
            names.append(f"{voters.members[j]} x {k}" if k > 1 else voters.members[j])
            right.append(right_Q)
            costs.append(k * price)
    return names, np.stack(right), np.array(costs)


def _chosen(point: CascadePoint) -> Row:
    """What was chosen on all questions, and how often other folds agree."""
    return {
        "answered": ", ".join(f"{share:.3f}" for share in point.answered_L),
        "thresholds": ", ".join(f"{one:g}" for one in point.thresholds),
        "in_sample": point.in_sample,
        "in_sample_cost": point.in_sample_cost,
        "n_alike": point.n_alike,
        "n_folds": min(N_FOLDS, point.right_Q.size),
    }


def _estimate(right_Q: Floats) -> Row:
    """An accuracy with its interval."""
    ends = mean_interval(right_Q)
    return {"accuracy": float(right_Q.mean()), "low": ends.low, "high": ends.high}


def _over(right_Q: Floats, other_Q: Floats, name: str) -> Row:
    """What is gained over something else on the same questions."""
    if np.array_equal(right_Q, other_Q):  # the same answers by another name: nothing to estimate
        return {name: 0.0, f"{name}_low": None, f"{name}_high": None}
    found = paired_accuracy(other_Q, right_Q)
    return {name: found.difference, f"{name}_low": found.low, f"{name}_high": found.high}
