"""Panels of systems by their votes: what they get right, which to buy, what the next one adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.analyses.panels.tables import TABLES
from judgerel_ray.analyses.panels.voters import (
    N_FOLDS,
    RULES,
    Voters,
    accuracy_row,
    gain_row,
    rule_weights,
)
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core.tables import as_columns, value_columns
from judgerel_ray.counting.verdicts.policy import Row, floor_columns
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
    PanelSearch,
    search_panels,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PanelTables(Shown):
    """What judges are worth as panels; every table starts with the columns of the groups.

    Attributes
    ----------
    members, panels, best, next, worth : pl.DataFrame
        As :mod:`judgerel_ray.analyses.panels.tables` says.
    """

    members: pl.DataFrame
    panels: pl.DataFrame
    best: pl.DataFrame
    next: pl.DataFrame
    worth: pl.DataFrame


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
    rows: dict[str, list[Row]] = {name: [] for name in TABLES["panels"]}
    for voters in groups:
        found = _searched_panels(voters, seed)
        singles = (one.credit_Q for one in found.best if one.size == 1) if found else ()
        single = next(iter(singles), None)
        for name, made in (
            ("members", _member_rows(voters)),
            ("panels", _rule_rows(voters, single, seed)),
            ("best", _best_rows(voters, found, single)),
            ("next", _next_rows(voters)),
            ("worth", _worth_rows(voters)),
        ):
            rows[name] += [{**voters.name, **row} for row in made]
    return PanelTables(
        **{name: schema.frame(rows[name], keys) for name, schema in TABLES["panels"].items()}
    )


def _searched_panels(voters: Voters, seed: int) -> PanelSearch | None:
    """Best panels by size and by cost; None of a single question."""
    if voters.n_questions < 2:
        return None
    sizes = range(1, min(len(voters.members), MOST_SEARCHED) + 1)
    costs = {voters.prices.of([j]) for j in range(len(voters.members))}
    same = voters.cost_unit == "requests" and len(costs) == 1
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
            **accuracy_row(credit_Q), **floor_columns(floor),
            "tied": float(question_means(found.n_tied_U > 1, questions).mean()),
            "silent": float(question_means(found.n_tied_U == 0, questions).mean()),
            "cost": voters.prices.of(everyone) + (more if rule == "confidence" else 0.0),
            "cost_unit": voters.cost_unit, "n_dropped": voters.n_dropped,
            **gain_row(credit_Q, single),
        }  # fmt: skip


def _best_rows(voters: Voters, found: PanelSearch | None, single: Floats | None) -> Iterator[Row]:
    """Best panels, with what they are worth where they were not chosen."""
    if found is None:
        return
    for one in sorted(found.best, key=lambda one: one.size is None):
        if not one.members:
            continue
        yield {
            "chosen_by": "cost" if one.size is None else "size",
            "limit": one.budget if one.size is None else float(one.size),
            "members": " + ".join(voters.members[j] for j in one.members),
            "n_members": len(one.members),
            "cost_unit": voters.cost_unit,
            **as_columns(one, "cost", "in_sample", "n_alike"),
            **accuracy_row(one.credit_Q),
            **gain_row(one.credit_Q, single),
            **as_columns(found, "n_folds", "n_panels", exhaustive="is_exhaustive"),
        }


def _next_rows(voters: Voters) -> Iterator[Row]:
    """Panels drawn at random, by size."""
    credit_UK = random_panels(voters.votes_UJ, voters.right_U)
    before: Floats | None = None
    for size, credit_U in enumerate(credit_UK.T, start=1):
        credit_Q = question_means(credit_U, voters.questions_U)
        yield {"n_members": size, **accuracy_row(credit_Q), **gain_row(credit_Q, before)}
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
        **value_columns("effective", found),
        **as_columns(found, "most", "undefined", n_members="n_judges", n_items="n_questions"),
        "error_correlation": found.correlation,
    }
