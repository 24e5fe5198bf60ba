"""Cascades: how answers are passed on, what one would cost, what one did that ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from judgerel_ray.analyses.panels.tables import CascadeCurve, CascadedShares, Stages
from judgerel_ray.analyses.panels.voters import N_FOLDS, Voters, accuracy_row, gain_row
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import CHOSEN, SweepError
from judgerel_ray.core.tables import as_columns, value_columns
from judgerel_ray.counting.verdicts.policy import Row, floor_columns
from judgerel_ray.measuring.systems import answers_floor
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.shares import clustered_share
from judgerel_ray.stats.panels.cascade import CascadePoint, CascadeStages, best_cascades
from judgerel_ray.stats.panels.panel import mean_interval, question_means
from judgerel_ray.stats.panels.search import best_affordable, vote_methods

PERSON = "person"
"""The last stage, where someone is asked whom no judgments are of."""
MOST_STAGES = 6
"""Stages at most: thresholds of more would be too coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeChoice:
    """How answers are passed on."""

    # Members, in asking order; empty: all of them by mean cost, or the models alone where judges of
    # their answers are among them.
    order: tuple[str, ...] = field(default=())
    # What asking a person costs, in the unit of the other costs; by default nobody is.
    person_cost: float | None = None
    # How often that person is right: an assumption, never measured here.
    person_accuracy: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.person_cost is not None and not 0 <= self.person_cost < float("inf"):
            raise SweepError(f"a person's cost must be at least 0, got {self.person_cost:g}")
        if not 0 <= self.person_accuracy <= 1:
            raise SweepError(
                f"a person's accuracy must be between 0 and 1, got {self.person_accuracy:g}"
            )
        if len(set(self.order)) < len(self.order):
            raise SweepError(f"the order names a member twice: {', '.join(self.order)}")


N_BUDGETS = 10
"""Points of the curve."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CascadeTables(Shown):
    """What cascades buy; every table starts with the columns of the groups.

    Attributes
    ----------
    stages, curve : pl.DataFrame
        As :mod:`judgerel_ray.analyses.panels.tables` says.
    cascaded : pl.DataFrame, optional
        In place of the other two, where a run asked a cascade.
    """

    stages: pl.DataFrame = field(default_factory=pl.DataFrame)
    curve: pl.DataFrame = field(default_factory=pl.DataFrame)
    cascaded: pl.DataFrame | None = None

    def tables(self) -> dict[str, pl.DataFrame]:
        """Give the tables that there are by name.

        Examples
        --------
        >>> list(CascadeTables().tables()), list(CascadeTables(cascaded=pl.DataFrame()).tables())
        (['stages', 'curve'], ['cascaded'])
        """
        if self.cascaded is not None:
            return {"cascaded": self.cascaded}
        return {"stages": self.stages, "curve": self.curve}


def cascade_tables(groups: Sequence[Voters], choice: CascadeChoice | None = None) -> CascadeTables:
    """Lay out what cascades of each group buy.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> from judgerel_ray.analyses.panels.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": [*"qrst"] * 2, "judge": ["a"] * 4 + ["b"] * 4,
    ...     "replication": [0] * 8, "verdict": [*"11221122"], "gold": [*"12211122"],
    ...     "confidence": [0.9, 0.5, 0.9, 0.5] + [None] * 4, "cost": [1.0] * 4 + [9.0] * 4})
    >>> found = cascade_tables(read_voters(read_systems(rows), rows))
    >>> found.stages["member"].to_list(), found.curve["budget"].to_list()[::9]
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
        order = _cascade_asking_order(voters, choice)
        stages += [{**voters.name, **row} for row in _stage_rows(voters, order, choice)]
        if voters.n_questions > 1:
            curve += [{**voters.name, **row} for row in _curve_rows(voters, order, choice)]
    return CascadeTables(stages=Stages.frame(stages, keys), curve=CascadeCurve.frame(curve, keys))


def orders_itself(voters: Voters) -> bool:
    """Whether costs tell who is asked first, and confidences when to pass on.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> from judgerel_ray.analyses.panels.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "judge": ["a", "b"], "replication": [0, 0],
    ...     "verdict": ["1", "2"], "gold": ["1", "1"], "confidence": [0.9, None]})
    >>> orders_itself(read_voters(read_systems(rows), rows)[0])
    False
    """
    places = _cascade_members_by_cost(voters)
    costs = {voters.prices.of([j]) for j in places}
    return (
        2 <= len(costs) == len(places) <= MOST_STAGES
        and not np.isnan(voters.confidence_UJ[:, places[:-1]]).all(axis=0).any()
    )


def _cascade_members_by_cost(voters: Voters) -> list[int]:
    """Members, the cheapest first: models alone, where judges of their answers are among them."""
    return sorted(voters.alone_J, key=lambda j: (voters.prices.of([j]), j))


def _cascade_asking_order(voters: Voters, choice: CascadeChoice) -> list[int]:
    """Places of the members in asking order."""
    places = [voters.members.index(name) for name in choice.order]
    if not places:
        places = _cascade_members_by_cost(voters)
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


def _cascade_stages(voters: Voters, order: Sequence[int], choice: CascadeChoice) -> CascadeStages:
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


def _stage_rows(voters: Voters, order: Sequence[int], choice: CascadeChoice) -> Iterator[Row]:
    """Everyone asked, alone on all questions."""
    stages = _cascade_stages(voters, order, choice)
    people = [] if choice.person_cost is None else [PERSON]
    for place, name in enumerate([*(voters.members[j] for j in order), *people]):
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
    stages = _cascade_stages(voters, order, choice)
    spent_L = [question_means(one, voters.questions_U).mean() for one in stages.spent_UL.T]
    budgets = np.linspace(spent_L[0], sum(spent_L), N_BUDGETS)
    names, methods, costs = _cascade_single_members(voters, order)
    for point in best_cascades(stages, budgets.tolist(), n_folds=N_FOLDS, seed=choice.seed):
        # Held against what the cascade really cost, where that is more than it was to cost.
        money = max(point.budget, float(point.spent_Q.mean()))
        alone = best_affordable(methods, costs, money, n_folds=N_FOLDS, seed=choice.seed)
        spent = mean_interval(point.spent_Q, is_share=False)
        row: Row = {
            "budget": point.budget, "cost_unit": voters.cost_unit, "n_items": voters.n_questions,
            "cost": float(point.spent_Q.mean()), "cost_low": spent.low, "cost_high": spent.high,
            **accuracy_row(point.right_Q), **_chosen(point), "random": float(point.random_Q.mean()),
            **_cascade_gain(point.right_Q, point.random_Q, "over_random"),
        }  # fmt: skip
        if alone.place is not None:
            row |= {
                "alone": names[alone.place],
                "alone_accuracy": float(alone.right_Q.mean()),
                "alone_cost": alone.cost,
                **_cascade_gain(point.right_Q, alone.right_Q, "over_alone"),
            }
        yield row


def _cascade_single_members(
    voters: Voters, order: Sequence[int]
) -> tuple[list[str], Floats, Floats]:
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
        **as_columns(point, "in_sample", "in_sample_cost", "n_alike"),
        "n_folds": min(N_FOLDS, point.right_Q.size),
    }


def _cascade_gain(right_Q: Floats, other_Q: Floats, name: str) -> Row:
    """What is gained over something else on the same questions."""
    # The same answers by another name: nothing to estimate.
    return gain_row(right_Q, right_Q if np.array_equal(right_Q, other_Q) else other_Q, name)


GROUP = ("benchmark", "template", "temperature")
"""Columns that tell cascades apart."""
A_PERSON = "a person"
WHOLE = "all of it"
_SPENT = ("cost", "prompt_tokens", "completion_tokens")


def cascaded_table(
    rows: pl.DataFrame, gold: pl.DataFrame, *, order: Sequence[str], threshold: float
) -> pl.DataFrame:
    """Tell what each model of a cascade was asked, what it answered, and what that was worth.

    Intervals are by question; the noise floor is of the same answers shuffled across questions.

    Examples
    --------
    >>> rows = pl.DataFrame({
    ...     "benchmark": ["b"] * 3, "template": ["t"] * 3, "temperature": [0.0] * 3,
    ...     "item_id": ["q", "r", "r"], "judge": ["s", "s", "l"], "stage": ["choose"] * 3,
    ...     "replication": [0] * 3, "verdict": ["1", "2", "2"], "confidence": [0.9, 0.3, 0.8],
    ...     "prompt_tokens": [10] * 3, "completion_tokens": [5] * 3})
    >>> gold = pl.DataFrame({"benchmark": ["b"] * 2, "item_id": ["q", "r"], "gold": ["1", "3"]})
    >>> cascaded_table(rows, gold, order=["s", "l"], threshold=0.5).select(
    ...     "asked", "n_asked", "n_answered", "n_right", "spent").rows()
    [('s', 2, 1, 1, 15.0), ('l', 1, 1, 0, 7.5), ('a person', 0, 0, 0, 0.0), \
('all of it', 2, 2, 1, 22.5)]
    """
    found: list[dict[str, object]] = []
    if "completion_tokens" in rows.columns:
        # A step that could not be asked was never sent: it cost nothing, though nothing says so.
        unsent = (pl.col("completion_tokens") == 0).fill_null(False)
        costs = [name for name in _SPENT if name in rows.columns]
        rows = rows.with_columns(
            pl.when(unsent).then(pl.col(name).fill_null(0)).otherwise(name).alias(name)
            for name in costs
        )
    there = [name for name in _SPENT if name in rows.columns and not rows[name].null_count()]
    unit = "cost" if "cost" in there else "tokens" if len(there) == 2 else None
    spent = {
        "cost": pl.col("cost"),
        "tokens": pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in _SPENT[1:]),
        None: pl.lit(None, dtype=pl.Float64),
    }[unit]
    known = rows.with_columns(spent=spent).join(
        gold.select("benchmark", "item_id", pl.col("gold").cast(pl.String)),
        on=["benchmark", "item_id"],
        how="left",
        maintain_order="left",
    )
    for key, group in known.sort(GROUP, maintain_order=True).group_by(GROUP, maintain_order=True):
        named = dict(zip(GROUP, key, strict=True))
        shared = {**named, "threshold": threshold, "unit": unit}
        found += [{**shared, **row} for row in _cascade_rows(group, order, threshold)]
    return CascadedShares.frame(found)


def _cascade_rows(
    group: pl.DataFrame, order: Sequence[str], threshold: float
) -> Iterator[dict[str, object]]:
    """One cascade, model by model, and all of it."""
    sure = (pl.col("confidence") >= threshold) & pl.col("verdict").is_not_null()
    chosen = group.filter(pl.col("stage") == CHOSEN).with_columns(sure=sure.fill_null(False))
    put = chosen.filter(pl.col("judge") == order[0])
    says_cost = put.height > 0 and group["spent"].null_count() < group.height

    def row(who: str, asked: pl.DataFrame, decided: pl.DataFrame, paid: pl.DataFrame) -> Row:
        spent = float(paid["spent"].sum()) / put.height if says_cost else None
        return {"asked": who, **_cascade_counts(asked, decided), "spent": spent}

    answers = []
    for name in order:
        asked = chosen.filter(pl.col("judge") == name)
        answers.append(asked.filter("sure"))
        yield row(name, asked, answers[-1], group.filter(pl.col("judge") == name))
    decided, place = pl.concat(answers), ["item_id", "replication"]
    left = put.join(decided, on=place, how="anti", maintain_order="left")
    nobody_knows = left.with_columns(sure=pl.lit(None, pl.Boolean))
    yield row(A_PERSON, nobody_knows, left.clear(), group.clear())
    answered = decided.select(place).unique().with_columns(sure=True)
    whole = put.drop("sure").join(answered, on=place, how="left", maintain_order="left")
    yield row(WHOLE, whole.with_columns(pl.col("sure").fill_null(False)), decided, group)


def _cascade_counts(asked: pl.DataFrame, decided: pl.DataFrame) -> dict[str, object]:
    """Counts, the share answered (``sure``, null of a person), and how much of it is right."""
    measured = asked.drop_nulls("sure")
    answered = clustered_share(
        measured["sure"].to_numpy(), clusters_N=measured["item_id"].to_numpy()
    )
    known = decided.filter(pl.col("gold").is_not_null())
    right = (known["verdict"] == known["gold"]).to_numpy()
    worth = clustered_share(right, clusters_N=known["item_id"].to_numpy())
    floor = answers_floor(known, known["item_id"].to_numpy().astype(np.str_))
    return {
        "n_questions": asked["item_id"].n_unique(),
        "n_asked": asked.height,
        "n_answered": decided.height,
        **value_columns("answered", answered),
        **as_columns(worth, n_right="k", accuracy="value", interval="method"),
        **(as_columns(worth, "low", "high") if worth.n else {}),
        **floor_columns(floor),
    }
