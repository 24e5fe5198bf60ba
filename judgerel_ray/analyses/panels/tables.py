"""Panels of systems by their votes: what they get right, which to buy, what the next one adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from judgerel_ray.analyses.panels.voters import N_FOLDS, RULES, Voters, accuracy_row, rule_weights
from judgerel_ray.core.meanings import Columns, shared_meanings
from judgerel_ray.counting.verdicts.policy import Row
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.panels.panel import (
    effective_judges,
    panel_floor,
    panel_votes,
    question_means,
    random_panels,
)
from judgerel_ray.stats.panels.search import (
    MOST_SEARCHED,
    BestPanel,
    Panel,
    PanelSearch,
    search_panels,
)
from judgerel_ray.stats.selective.systems import paired_accuracy

_NOISE_ABOVE = 0.05
_MEMBERS = {
    "member": pl.String(), "n_items": pl.Int64(), "accuracy": pl.Float64(), "low": pl.Float64(),
    "high": pl.Float64(), "valid": pl.Float64(), "cost": pl.Float64(), "cost_unit": pl.String(),
}  # fmt: skip
_PANELS = {
    "rule": pl.String(), "n_members": pl.Int64(), "n_items": pl.Int64(), "accuracy": pl.Float64(),
    "low": pl.Float64(), "high": pl.Float64(), "noise_floor": pl.Float64(),
    "noise_floor_sd": pl.Float64(), "p_noise": pl.Float64(), "noise": pl.Boolean(),
    "tied": pl.Float64(), "silent": pl.Float64(), "cost": pl.Float64(), "cost_unit": pl.String(),
    "gain": pl.Float64(), "gain_low": pl.Float64(), "gain_high": pl.Float64(),
    "n_dropped": pl.Int64(),
}  # fmt: skip
_BEST = {
    "chosen_by": pl.String(), "limit": pl.Float64(), "members": pl.String(),
    "n_members": pl.Int64(), "cost": pl.Float64(), "cost_unit": pl.String(),
    "in_sample": pl.Float64(), "accuracy": pl.Float64(), "low": pl.Float64(),
    "high": pl.Float64(), "gain": pl.Float64(), "gain_low": pl.Float64(),
    "gain_high": pl.Float64(), "n_alike": pl.Int64(), "n_folds": pl.Int64(),
    "n_panels": pl.Int64(), "exhaustive": pl.Boolean(),
}  # fmt: skip
_NEXT = {
    "n_members": pl.Int64(), "accuracy": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
    "gain": pl.Float64(), "gain_low": pl.Float64(), "gain_high": pl.Float64(),
}  # fmt: skip
_WORTH = {
    "n_members": pl.Int64(), "effective": pl.Float64(), "effective_low": pl.Float64(),
    "effective_high": pl.Float64(), "most": pl.Float64(), "error_correlation": pl.Float64(),
    "n_items": pl.Int64(), "undefined": pl.String(),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTables:
    """What judges are worth as panels; every table starts with the columns of the groups.

    Attributes
    ----------
    members : pl.DataFrame
        Each system alone: accuracy (of all questions; no verdict is wrong) with its interval,
        ``valid`` (share with a verdict), mean ``cost`` a question.
    panels : pl.DataFrame
        All members together, a row a rule (majority, confidence, accuracy): ``tied`` and
        ``silent`` are the shares of questions drawn by lot and without any vote; ``gain`` over
        the best single member, which the other folds chose; floor: verdicts permuted at random.
    best : pl.DataFrame
        The best panel of each size, and at each cost: ``in_sample`` where it was chosen,
        ``accuracy`` where other folds chose (``n_alike`` of ``n_folds`` chose the same).
    next : pl.DataFrame
        One row a size: panels drawn at random from the members, and what one more member adds.
    worth : pl.DataFrame
        One row a group: how many members with independent errors they are worth.
    """

    members: pl.DataFrame
    panels: pl.DataFrame
    best: pl.DataFrame
    next: pl.DataFrame
    worth: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Give all tables by name.

        Examples
        --------
        >>> list(panel_tables([]).tables())
        ['members', 'panels', 'best', 'next', 'worth']
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}


def panel_tables(groups: Sequence[Voters], *, seed: int = 0) -> PanelTables:
    """Lay out what panels of each group are worth.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> from judgerel_ray.analyses.panels.voters import read_voters
    >>> rows = pl.LazyFrame({"item_id": [*"qrst"] * 3, "judge": [*"aaaabbbbcccc"],
    ...         "replication": [0] * 12, "verdict": [*"112212221112"], "gold": [*"1122"] * 3})
    >>> found = panel_tables(read_voters(read_systems(rows), rows))
    >>> found.panels.select("rule", "accuracy", "tied").row(0)
    ('majority', 1.0, 0.0)
    >>> found.next["accuracy"].round(3).to_list()
    [0.833, 0.833, 1.0]
    """
    keys = list(dict.fromkeys(name for voters in groups for name in voters.name))
    rows: dict[str, list[Row]] = {"members": [], "panels": [], "best": [], "next": [], "worth": []}
    for voters in groups:
        found = _searched(voters, seed)
        single = _single(found)
        for name, made in (
            ("members", _member_rows(voters)),
            ("panels", _rule_rows(voters, single, seed)),
            ("best", _best_rows(voters, found, single)),
            ("next", _next_rows(voters)),
            ("worth", _worth_rows(voters)),
        ):
            rows[name] += [{**voters.name, **row} for row in made]
    schemas: dict[str, Mapping[str, pl.DataType]] = {
        "members": _MEMBERS, "panels": _PANELS, "best": _BEST, "next": _NEXT, "worth": _WORTH,
    }  # fmt: skip
    return PanelTables(
        **{
            name: pl.DataFrame(
                rows[name],
                schema=[*keys, *schema],
                schema_overrides=schema,
                infer_schema_length=None,
            )
            for name, schema in schemas.items()
        }
    )


def _searched(voters: Voters, seed: int) -> PanelSearch | None:
    """Best panels by size and by cost; None of a single question."""
    if voters.n_questions < 2:
        return None
    sizes = range(1, min(len(voters.members), MOST_SEARCHED) + 1)
    same = voters.cost_unit == "requests" and len(set(map(voters.prices.of, _singles(voters)))) == 1
    return search_panels(
        voters.votes_UJ,
        voters.right_U,
        voters.questions_U,
        voters.prices,
        budgets=() if same else None,  # where all cost alike, sizes say it all
        sizes=sizes,
        n_folds=N_FOLDS,
        seed=seed,
    )


def _singles(voters: Voters) -> list[Panel]:
    """Panels of one member."""
    return [(j,) for j in range(len(voters.members))]


def _single(found: PanelSearch | None) -> Floats | None:
    """Share right of each question by the single member that the other folds chose."""
    if found is None:
        return None
    return next(one.credit_Q for one in found.best if one.size == 1)


def _member_rows(voters: Voters) -> Iterator[Row]:
    """Each member alone."""
    for j, member in enumerate(voters.members):
        right_Q = question_means(1.0 - voters.wrong_UJ[:, j], voters.questions_U)
        valid_Q = question_means(voters.votes_UJ[:, j] >= 0, voters.questions_U)
        yield {
            "member": member, "n_items": voters.n_questions, **accuracy_row(right_Q),
            "valid": float(valid_Q.mean()), "cost": voters.prices.of([j]),
            "cost_unit": voters.cost_unit,
        }  # fmt: skip


def _rule_rows(voters: Voters, single: Floats | None, seed: int) -> Iterator[Row]:
    """All members together, by each rule."""
    questions = voters.questions_U
    everyone = range(len(voters.members))
    more = float(question_means(voters.more_UJ.sum(axis=1), questions).mean())
    for rule in RULES:
        weights = rule_weights(voters, rule, seed=seed)
        if weights is None and rule != "majority":
            continue
        found = panel_votes(voters.votes_UJ, voters.right_U, weights_UJ=weights)
        floor = panel_floor(voters.votes_UJ, voters.right_U, questions, weights_UJ=weights)
        credit_Q = question_means(found.credit_U, questions)
        yield {
            "rule": rule, "n_members": len(voters.members), "n_items": voters.n_questions,
            **accuracy_row(credit_Q), "noise_floor": floor.mean, "noise_floor_sd": floor.sd,
            "p_noise": floor.p, "noise": None if floor.p is None else floor.p > _NOISE_ABOVE,
            "tied": float(question_means(found.n_tied_U > 1, questions).mean()),
            "silent": float(question_means(found.n_tied_U == 0, questions).mean()),
            "cost": voters.prices.of(everyone) + (more if rule == "confidence" else 0.0),
            "cost_unit": voters.cost_unit, **_gain(credit_Q, single), "n_dropped": voters.n_dropped,
        }  # fmt: skip


def _best_rows(voters: Voters, found: PanelSearch | None, single: Floats | None) -> Iterator[Row]:
    """Best panels, with what they are worth where they were not chosen."""
    if found is None:
        return
    for one in sorted(found.best, key=lambda one: one.size is None):
        if not one.members:
            continue
        yield {
            **_chosen(one, voters),
            "cost_unit": voters.cost_unit,
            **accuracy_row(one.credit_Q),
            **_gain(one.credit_Q, single),
            "n_folds": found.n_folds,
            "n_panels": found.n_panels,
            "exhaustive": found.is_exhaustive,
        }


def _chosen(one: BestPanel, voters: Voters) -> Row:
    """What a panel was chosen by, and who is in it."""
    return {
        "chosen_by": "cost" if one.size is None else "size",
        "limit": one.budget if one.size is None else float(one.size),
        "members": " + ".join(voters.members[j] for j in one.members),
        "n_members": len(one.members),
        "cost": one.cost,
        "in_sample": one.in_sample,
        "n_alike": one.n_alike,
    }


def _next_rows(voters: Voters) -> Iterator[Row]:
    """Panels drawn at random, by size."""
    credit_UK = random_panels(voters.votes_UJ, voters.right_U)
    before: Floats | None = None
    for size, credit_U in enumerate(credit_UK.T, start=1):
        credit_Q = question_means(credit_U, voters.questions_U)
        yield {"n_members": size, **accuracy_row(credit_Q), **_gain(credit_Q, before)}
        before = credit_Q


def _worth_rows(voters: Voters) -> Iterator[Row]:
    """How many members with independent errors."""
    n_Q = np.bincount(voters.questions_U)
    errors_QJ = np.stack(
        [question_means(one, voters.questions_U) for one in voters.wrong_UJ.T], axis=1
    )
    within_QJ = errors_QJ * (1 - errors_QJ)  # of answers that are right or wrong
    found = effective_judges(errors_QJ, within_NJ=within_QJ if n_Q.max() > 1 else None)
    yield {
        "n_members": found.n_judges, "effective": found.value, "effective_low": found.low,
        "effective_high": found.high, "most": found.most,
        "error_correlation": found.correlation, "n_items": found.n_questions,
        "undefined": found.undefined,
    }  # fmt: skip


def _gain(credit_Q: Floats, single: Floats | None) -> Row:
    """What is gained over something else on the same questions."""
    if single is None:
        return {"gain": None, "gain_low": None, "gain_high": None}
    if single is credit_Q:
        return {"gain": 0.0, "gain_low": None, "gain_high": None}
    found = paired_accuracy(single, credit_Q)
    return {"gain": found.difference, "gain_low": found.low, "gain_high": found.high}


_ENDS = {
    "low": (
        "Lower end of the 95 % interval of the accuracy, over questions; null where there is none."
    ),
    "high": (
        "Upper end of the 95 % interval of the accuracy, over questions; null where there is none."
    ),
}
_GAIN = {
    "gain": (
        "Accuracy less that of the best single member, which other folds chose, on the same "
        "questions; null of a single question."
    ),
    "gain_low": "Lower end of the 95 % interval of the gain; null where there is none.",
    "gain_high": "Upper end of the 95 % interval of the gain; null where there is none.",
}

_ACCURACY = {
    "accuracy": (
        "Share of the questions answered rightly, no verdict counted as wrong and a tie by its "
        "share (0 to 1)."
    ),
    **_ENDS,
}

COLUMNS: Columns = {
    "panels": {
        "members": {
            "member": "The system: a judge, and its role where there are several.",
            "n_items": "Questions that all members answered.",
            **_ACCURACY,
            "valid": "Share of its answers with a verdict (0 to 1).",
            "cost": "Mean cost of one question, in cost_unit.",
            **shared_meanings("cost_unit"),
        },
        "panels": {
            "rule": (
                "What a vote counts: majority (all alike), confidence (by confidence) or "
                "accuracy (by accuracy on other questions)."
            ),
            "n_members": "Members that vote.",
            "n_items": "Questions that all members answered.",
            **_ACCURACY,
            **shared_meanings("noise_floor", "noise_floor_sd", "p_noise", "noise"),
            "tied": "Share of the questions whose votes tie, so that the verdict is drawn by lot.",
            "silent": "Share of the questions without any vote.",
            "cost": "Mean cost of one question to all members, in cost_unit.",
            **shared_meanings("cost_unit"),
            **_GAIN,
            "n_dropped": "Questions left out because not all members were asked.",
        },
        "best": {
            "chosen_by": (
                "size: the best panel of so many members; cost: the best that costs no more."
            ),
            "limit": "That size, or that cost of one question.",
            "members": "The panel chosen on all questions, names with + between.",
            "n_members": "Members of it.",
            "cost": "Mean cost of one question, in cost_unit.",
            **shared_meanings("cost_unit"),
            "in_sample": "Its accuracy on the questions that it was chosen by: optimistic.",
            "accuracy": (
                "Accuracy of the panels that the other folds chose, each on questions it was not "
                "chosen by (0 to 1)."
            ),
            **_ENDS,
            **_GAIN,
            "n_alike": "Folds that chose the same panel as all questions do.",
            "n_folds": "Folds.",
            "n_panels": "Panels looked at.",
            "exhaustive": "true where these are all panels that there are.",
        },
        "next": {
            "n_members": "Members of panels drawn at random.",
            **_ACCURACY,
            "gain": (
                "Accuracy less that of random panels with one member fewer; null for the first."
            ),
            "gain_low": "Lower end of the 95 % interval of the gain; null for the first.",
            "gain_high": "Upper end of the 95 % interval of the gain; null for the first.",
        },
        "worth": {
            "n_members": "Members whose errors vary.",
            **shared_meanings("effective", "effective_low", "effective_high"),
            "most": (
                "What infinitely many members of this kind would be worth; null where there is "
                "no limit."
            ),
            **shared_meanings("error_correlation"),
            "n_items": "Questions that all of them answered.",
            "undefined": (
                "Code that says why there is no effective (too_few_judges, too_few_units, "
                "no_bound); null where there is one."
            ),
        },
    },
    "cascade": {
        "stages": {
            "stage": "Place in asking order, from 1.",
            "member": "Who is asked there; person where nobody measured it.",
            "n_items": "Questions that all members answered.",
            "cost": "Mean cost of asking it one question, in cost_unit.",
            **shared_meanings("cost_unit"),
            "accuracy": (
                "Share of all questions that it answers rightly by itself; of a person as assumed."
            ),
            "low": (
                "Lower end of the 95 % interval of the accuracy, over questions; null of a person."
            ),
            "high": (
                "Upper end of the 95 % interval of the accuracy, over questions; null of a person."
            ),
            "confident": "Share of its answers that state a confidence; null of a person.",
        },
        "curve": {
            "budget": "What one question may cost on average, in cost_unit.",
            **shared_meanings("cost_unit"),
            "cost": "What one question cost, with thresholds that other questions chose.",
            "cost_low": (
                "Lower end of the 95 % interval of the cost, over questions; null where there is "
                "none."
            ),
            "cost_high": (
                "Upper end of the 95 % interval of the cost, over questions; null where there is "
                "none."
            ),
            "accuracy": (
                "Share of the questions answered rightly, with thresholds that other questions "
                "chose (0 to 1)."
            ),
            **_ENDS,
            "answered": (
                "Share of the questions that each stage answers, in asking order, with commas "
                "between."
            ),
            "thresholds": (
                "Confidence from which each stage but the last answers, chosen on all questions: "
                "-inf always, inf never."
            ),
            "in_sample": (
                "Accuracy with these thresholds on the questions that chose them: optimistic."
            ),
            "in_sample_cost": "Cost with these thresholds on the questions that chose them.",
            "n_alike": "Folds that chose the same thresholds.",
            "n_folds": "Folds.",
            "random": "Accuracy were as many questions passed on at each stage at random.",
            "over_random": "accuracy less random.",
            "over_random_low": (
                "Lower end of the 95 % interval of over_random; null where both answer alike."
            ),
            "over_random_high": (
                "Upper end of the 95 % interval of over_random; null where both answer alike."
            ),
            "alone": (
                "The best single member for the same money, x K where it is the majority of K of "
                "its replications; null where the money buys none."
            ),
            "alone_accuracy": "Its accuracy, chosen on other questions than those it is tried on.",
            "alone_cost": "Its cost of one question.",
            "over_alone": "accuracy less alone_accuracy.",
            "over_alone_low": (
                "Lower end of the 95 % interval of over_alone; null where both answer alike."
            ),
            "over_alone_high": (
                "Upper end of the 95 % interval of over_alone; null where both answer alike."
            ),
            "n_items": "Questions that all members answered.",
        },
        "cascaded": {
            "asked": "A model of the cascade, a person (what was left to one), or all of it.",
            "threshold": "Confidence from which an answer counted.",
            "n_questions": "Different questions put to it.",
            "n_asked": "Questions times replications put to it.",
            "n_answered": "Those of them that it answered.",
            "answered": "Share that it answered (0 to 1); null of a person.",
            "answered_low": "Lower end of the 95 % interval of answered; null where there is none.",
            "answered_high": (
                "Upper end of the 95 % interval of answered; null where there is none."
            ),
            "n_right": "Right answers, where the right one is known.",
            "accuracy": (
                "Share right of the answers to questions whose right answer is known; null "
                "without any."
            ),
            "low": "Lower end of the 95 % interval of the accuracy; null where there is none.",
            "high": "Upper end of the 95 % interval of the accuracy; null where there is none.",
            "interval": "How the interval of the accuracy was made, in words.",
            "noise_floor": (
                "Accuracy that the same answers would have on average with the right answers "
                "shuffled across questions; null below two questions."
            ),
            **shared_meanings("noise_floor_sd", "p_noise", "noise"),
            "spent": (
                "What it took, by question put to the cascade, in unit; null where replies do "
                "not say."
            ),
            "unit": (
                "cost (money) where every reply has one, else tokens; null where neither is known."
            ),
        },
    },
}
"""What each column means, and how to read it: of each verb, by table."""
