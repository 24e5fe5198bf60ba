"""What an answer costs, and judges held against the same money spent on a single model.

A judge of others' answers pays for its own reply and for every answer it compares. For as much, the
best single model could be asked again and outvote itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from judgerel_ray.analyses.selection.systems import (
    QUESTION,
    SPENT,
    System,
    joined_accuracy,
    most_accurate,
    one_answer,
)
from judgerel_ray.analyses.selection.systems_paired import (
    ComparisonOptions,
    accuracy_columns,
    error_columns,
    with_holm,
)
from judgerel_ray.core import CHOSEN, Outcome
from judgerel_ray.counting.right_answers import ITEM
from judgerel_ray.stats.selective.systems import answered, equal_acceptance

JUDGING = ("participant", "evaluator_only")
"""Roles of judges that compare what models answered."""
_ALONE = ("benchmark", "judge", "temperature", "template")
_ROUNDING = 1e-9  # three times 0.1 buys three replies
_F, _I, _S = pl.Float64(), pl.Int64(), pl.String()
MATCHED_COLUMNS: dict[str, pl.DataType] = {
    "benchmark": _S, "first": _S, "baseline": _S, "second": _S, "unit": _S, "first_cost": _F,
    "second_cost": _F, "n_compared": _I, "votes": _I, "votes_wanted": _I, "n_candidates": _I,
    "n_questions": _I, "both": _I, "first_only": _I, "second_only": _I, "neither": _I,
    "first_accuracy": _F, "second_accuracy": _F, "difference": _F, "low": _F, "high": _F,
    "p": _F, "p_holm": _F, "n_comparisons": _I, "method": _S, "confidence": _S, "reach": _F,
    "error_difference": _F, "error_low": _F, "error_high": _F, "error_p": _F,
    "error_p_holm": _F, "undefined": _S,
}  # fmt: skip
"""Columns of a judge (second) against a baseline (first); costs are of one question."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spending:
    """What answers cost, by model and by judge, in one unit.

    Attributes
    ----------
    unit : str
        "cost" (money) where every row has one, else "tokens" (prompts and replies, cached or not),
        else "requests".
    alone : mapping
        Of one answer of a model alone, its selection too, by benchmark, judge, temperature and
        template.
    judging : mapping
        Of one reply of a judge, by the label of its system.
    """

    unit: str
    alone: Mapping[tuple[object, ...], float] = field(default_factory=dict)
    judging: Mapping[str, float] = field(default_factory=dict)


def read_spending(judgments: pl.LazyFrame, systems: Sequence[System]) -> Spending:
    """Read what answers cost.

    Parameters
    ----------
    judgments : LazyFrame
        As of :func:`.read_systems`, with the rows of selections.
    systems : sequence of System
        Their systems.

    Returns
    -------
    Spending

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["a", "a"], "role": ["responder"] * 2, "item_id": ["q"] * 2,
    ...                      "stage": ["select", "choose"], "prompt_tokens": [10, 20],
    ...                      "completion_tokens": [3, 2]})
    >>> found = read_spending(rows, [])
    >>> found.unit, list(found.alone.values())
    ('tokens', [35.0])
    """
    columns = judgments.collect_schema().names()
    if not {"role", "judge"} <= set(columns):
        return Spending(unit="requests")
    frame = judgments
    if "outcome" in columns:
        frame = frame.filter(pl.col("outcome").fill_null("") != Outcome.FAILED.value)
    if "block" in columns:
        frame = frame.filter(pl.col("block").fill_null(0) == 0)
    asked = pl.col("role").is_in(["responder", *JUDGING])
    names = [name for name in (*_ALONE, ITEM, "replication", "role", "stage") if name in columns]
    spent = [name for name in SPENT if name in columns]
    rows = frame.filter(asked).select(*names, *spent).cast({"judge": pl.String}).collect()
    unit, price = _unit(rows)
    rows = rows.with_columns(spent=price)
    alone = rows.filter(pl.col("role") == "responder")
    if "stage" in columns:
        alone = alone.filter(pl.col("stage").is_in(["select", CHOSEN]))
    by = [name for name in _ALONE if name in columns]
    answer = [name for name in (*by, ITEM, "replication") if name in columns]
    each = (
        alone.group_by(answer).agg(pl.col("spent").sum()).group_by(by).agg(pl.col("spent").mean())
    )
    means = {
        tuple(row.get(name) for name in _ALONE): float(row["spent"])
        for row in each.iter_rows(named=True)
    }
    return Spending(unit=unit, alone=means, judging=_judging(systems, unit))


def matched_table(
    systems: Sequence[System], spending: Spending, options: ComparisonOptions | None = None
) -> pl.DataFrame:
    """Hold every judge of others' answers against the best model alone, for the same cost.

    Parameters
    ----------
    systems : sequence of System
        All of them.
    spending : Spending
        From :func:`read_spending`.
    options : ComparisonOptions, optional
        How they are compared.

    Returns
    -------
    DataFrame
        Two rows a judge: ``baseline`` "single", the best model alone, asked once; and "votes", the
        best model's majority of as many replies as cost no more than the judge with the answers it
        compares (``votes_wanted``; ``votes`` is fewer where no more were asked for). Both are the
        best of ``n_candidates`` on these very questions, which favours them: a judge that wins
        wins in spite of it. ``undefined`` says where costs cannot be told.

    Examples
    --------
    >>> matched_table([], Spending(unit="tokens")).height
    0
    """
    options = options or ComparisonOptions()
    rows: list[dict[str, object]] = []
    for judge in systems:
        if judge.name.get("role") not in JUDGING:
            continue
        pool = _compared(judge, systems, options)
        rows += _against(judge, pool, spending, options)
    return pl.DataFrame(with_holm(rows), schema=MATCHED_COLUMNS)


def _unit(rows: pl.DataFrame) -> tuple[str, pl.Expr]:
    """What cost is counted in, and the cost of a row."""
    # Where nothing was charged for, money tells nothing apart.
    whole = "cost" in rows.columns and rows.height and not rows["cost"].null_count()
    if whole and rows["cost"].cast(pl.Float64).sum() > 0:
        return "cost", pl.col("cost").cast(pl.Float64)
    tokens = ("prompt_tokens", "completion_tokens")
    if all(name in rows.columns and not rows[name].null_count() for name in tokens):
        return "tokens", pl.sum_horizontal(*tokens).cast(pl.Float64)
    return "requests", pl.lit(1.0)


def _judging(systems: Sequence[System], unit: str) -> dict[str, float]:
    """Mean cost of a reply of each judge."""
    found = {}
    for system in systems:
        if system.name.get("role") in JUDGING:
            price = {
                "cost": pl.col("cost"),
                "tokens": pl.sum_horizontal("prompt_tokens", "completion_tokens"),
                "requests": pl.lit(1.0),
            }[unit]
            spent = system.rows.select(price.cast(pl.Float64).mean()).item()
            found[system.label] = float(spent)
    return found


def _compared(judge: System, systems: Sequence[System], options: ComparisonOptions) -> list[System]:
    """The models alone whose answers could stand before this judge."""
    alone = [
        one
        for one in systems
        if one.name.get("role") == "responder"
        and all(one.name.get(name) == judge.name.get(name) for name in ("benchmark", "template"))
    ]
    if options.answer_temperature is not None:
        return [one for one in alone if one.name.get("temperature") == options.answer_temperature]
    return alone


def _against(
    judge: System, pool: Sequence[System], spending: Spending, options: ComparisonOptions
) -> Iterator[dict[str, object]]:
    """One judge against both baselines."""
    own = judge.name.get("judge")
    is_shown = [
        one
        for one in pool
        if judge.name["role"] == "participant" or one.name.get("judge") != own
    ]  # fmt: skip
    models = [one.name.get("judge") for one in is_shown]
    row: dict[str, object] = {
        "benchmark": judge.name.get("benchmark"),
        "second": judge.label,
        "unit": spending.unit,
        "n_candidates": len(pool),
        "n_compared": len(is_shown),
    }
    why = None
    if not pool:
        why = "no_model_alone"
    elif len(set(models)) < len(models):
        why = "several_answer_temperatures"
    if why is not None:
        for baseline in ("single", "votes"):
            yield {**row, "baseline": baseline, "undefined": why}
        return
    total = spending.judging[judge.label] + sum(_cost(one, spending) for one in is_shown)
    for baseline in ("single", "votes"):
        wanted = {
            id(one): 1 if baseline == "single" else _affordable(one, total, spending)
            for one in pool
        }
        answers = [_votes(one, wanted[id(one)]) for one in pool]
        place = most_accurate(answers, judge.rows)
        best, answer = pool[place], answers[place]
        used = float(answer["n_votes"].mean() or 0.0)  # type: ignore[arg-type]
        yield {
            **row,
            "baseline": baseline,
            "first": best.label,
            "first_cost": used * _cost(best, spending),
            "second_cost": total,
            "votes": round(used),
            "votes_wanted": wanted[id(best)],
            **_compare(answer, judge, options),
        }


def _affordable(one: System, total: float, spending: Spending) -> int:
    """How many replies of a model that money buys; of one that costs nothing, all there are."""
    price = _cost(one, spending)
    if price <= 0:
        return int(one.rows.group_by(QUESTION).len()["len"].max() or 1)  # type: ignore[arg-type]
    return max(1, int(total / price * (1 + _ROUNDING)))


def _votes(one: System, k: int) -> pl.DataFrame:
    """The answers of a model asked k times, or once."""
    if k == 1:
        return one_answer(one.rows, "first")
    return one_answer(one.rows, "majority", k=k)


def _compare(answer: pl.DataFrame, judge: System, options: ComparisonOptions) -> dict[str, object]:
    """A judge against one answer a question, all accepted and at equal acceptance."""
    accuracy = accuracy_columns(joined_accuracy(answer, one_answer(judge.rows, options.answer)))
    if not judge.rows["stated"].count() or not answer["sure"].count():
        return accuracy
    equal = equal_acceptance(
        answered(
            answer["sure"].cast(pl.Float64).to_numpy(),
            answer["right"].to_numpy(),
            answer[QUESTION].to_numpy(),
        ),
        answered(judge.scores_N("stated"), judge.right_N, judge.items_N),
        n_resamples=options.resamples,
        seed=options.seed,
    )
    return accuracy | error_columns(equal, "stated")


def _cost(one: System, spending: Spending) -> float:
    """What one answer of a model alone costs; a request where nothing else is known."""
    return spending.alone.get(tuple(one.name.get(name) for name in _ALONE), 1.0)
