"""Whether a judge favours its own answer: what showing it changes, and how often it is picked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from judgerel_ray.reduce.systems import QUESTION, System
from judgerel_ray.reduce.systems_answers import joined_accuracy, one_answer
from judgerel_ray.reduce.systems_cost import JUDGING
from judgerel_ray.reduce.systems_paired import ComparisonOptions
from judgerel_ray.stats.paired_accuracy import PairedAccuracy, paired_accuracy

_F, _I, _S = pl.Float64(), pl.Int64(), pl.String()
PREFERENCE_COLUMNS: dict[str, pl.DataType] = {
    "benchmark": _S, "judge": _S, "temperature": _F, "template": _S, "answer": _S,
    "n_questions": _I, "participant": _F, "evaluator_only": _F, "difference": _F, "low": _F,
    "high": _F, "p": _F, "n_disputed": _I, "own_picked": _F, "own_picked_by_others": _F,
    "own_difference": _F, "own_low": _F, "own_high": _F, "own_p": _F, "n_own_wrong": _I,
    "own_wrong_picked": _F, "own_wrong_picked_by_others": _F, "own_wrong_difference": _F,
    "own_wrong_low": _F, "own_wrong_high": _F, "own_wrong_p": _F, "undefined": _S,
}  # fmt: skip
"""Columns of a judge; ``own`` is its answer as a model alone."""
_SETTING = ("benchmark", "template")


def preference_table(
    systems: Sequence[System], options: ComparisonOptions | None = None
) -> pl.DataFrame:
    """Tell how far each judge prefers its own answer.

    Parameters
    ----------
    systems : sequence of System
        From :func:`judgerel_ray.reduce.systems.read_systems`.
    options : ComparisonOptions, optional
        How they are compared.

    Returns
    -------
    DataFrame
        One row a judge and temperature that has both roles: ``difference`` is the accuracy as
        participant less that as evaluator_only, on the questions of both. ``own_picked`` is how
        often the participant picks its own answer where the models disagree, and
        ``own_picked_by_others`` how often the other participants, who saw the very same answers
        and may favour theirs, pick that one, on the same questions; ``own_wrong_`` the same where
        that answer is wrong. ``undefined`` says why nothing is known of picks.

    Examples
    --------
    >>> preference_table([]).height
    0
    """
    options = options or ComparisonOptions()
    judges = [one for one in systems if one.name.get("role") in JUDGING]
    rows = []
    for participant in judges:
        if participant.name["role"] != "participant":
            continue
        name = {**participant.name, "role": "evaluator_only"}
        other = next((one for one in judges if dict(one.name) == name), None)
        if other is None:
            continue
        mine = one_answer(participant.rows, options.answer)
        found = joined_accuracy(one_answer(other.rows, options.answer), mine)
        rows.append(
            {
                **{key: participant.name.get(key) for key in ("benchmark", "judge", "template")},
                "temperature": participant.name.get("temperature"),
                "answer": options.answer,
                "n_questions": found.n_questions,
                "participant": found.second,
                "evaluator_only": found.first,
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "p": found.p,
                **_picks(participant, mine, systems, judges, options),
            }
        )
    return pl.DataFrame(rows, schema=PREFERENCE_COLUMNS)


def _picks(
    participant: System,
    mine: pl.DataFrame,
    systems: Sequence[System],
    judges: Sequence[System],
    options: ComparisonOptions,
) -> dict[str, object]:
    """How often its own answer is picked, by itself and by others."""
    shown = _shown_answers(participant, systems, options)
    if shown is None:
        return {"undefined": "several_answer_temperatures"}
    own = str(participant.name.get("judge"))
    if own not in shown.columns or shown.width < 3:
        return {"undefined": "no_own_answer"}
    models = [name for name in shown.columns if name not in (QUESTION, "__gold")]
    differ = pl.concat_list(models).list.drop_nulls().list.n_unique() > 1
    disputed = shown.filter(differ & pl.col(own).is_not_null())
    picked = _picked(mine, disputed, own)
    others = [
        _picked(one_answer(one.rows, options.answer), disputed, own)
        for one in judges
        if one.name.get("judge") != own
        and _same_setting(one, participant)
        # Evaluators see fewer answers, and would pick each of them more often by chance.
        and one.name["role"] == "participant"
    ]
    found: dict[str, object] = {"n_disputed": disputed.height}
    if not others:
        return found | {"own_picked": _mean(picked["own"]), "undefined": "no_other_judge"}
    by_others = pl.concat(others).group_by(QUESTION).agg(others=pl.col("own").mean())
    both = picked.join(by_others, on=QUESTION).join(
        disputed.select(QUESTION, own, "__gold"), on=QUESTION
    )
    wrong = both.filter(pl.col(own) != pl.col("__gold"))
    found |= {"n_disputed": both.height, "n_own_wrong": wrong.height}
    return found | _columns("own", both) | _columns("own_wrong", wrong)


def _columns(name: str, both: pl.DataFrame) -> dict[str, object]:
    """One comparison of how often the own answer is picked."""
    found: PairedAccuracy = paired_accuracy(
        both["others"].cast(pl.Float64).to_numpy(), both["own"].cast(pl.Float64).to_numpy()
    )
    return {
        f"{name}_picked": found.second,
        f"{name}_picked_by_others": found.first,
        f"{name}_difference": found.difference,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        f"{name}_p": found.p,
    }


def _shown_answers(
    judge: System, systems: Sequence[System], options: ComparisonOptions
) -> pl.DataFrame | None:
    """The answers that judges compared, a column a model; None where it cannot be told which."""
    alone = [
        one
        for one in systems
        if one.name.get("role") == "responder"
        and _same_place(one, judge)
        and options.answer_temperature in (None, one.name.get("temperature"))
    ]
    models = [str(one.name.get("judge")) for one in alone]
    if len(set(models)) < len(models):
        return None
    gold = judge.rows.select(QUESTION, __gold="gold").unique(QUESTION)
    for model, one in zip(models, alone, strict=True):
        first = one_answer(one.rows, "first").select(QUESTION, pl.col("verdict").alias(model))
        gold = gold.join(first, on=QUESTION, how="left")
    return gold


def _picked(answers: pl.DataFrame, disputed: pl.DataFrame, own: str) -> pl.DataFrame:
    """Whether each disputed question's answer is the model's own; judges may name the model."""
    asked = answers.join(disputed.select(QUESTION, __own=own), on=QUESTION)
    said = (pl.col("verdict") == pl.col("__own")) | (pl.col("verdict") == pl.lit(own))
    return asked.select(QUESTION, own=said.fill_null(False)).sort(QUESTION)


def _same_place(one: System, other: System) -> bool:
    """Whether two systems were asked on one benchmark with one template."""
    return all(one.name.get(name) == other.name.get(name) for name in _SETTING)


def _same_setting(one: System, other: System) -> bool:
    """Whether two judges were asked alike."""
    return _same_place(one, other) and one.name.get("temperature") == other.name.get("temperature")


def _mean(values: pl.Series) -> float | None:
    """A mean; None of nothing."""
    return float(np.mean(values.to_numpy())) if values.len() else None
