"""All that is compared between systems: pairs, equal acceptance, matched cost, self-preference.

At matched cost judges are held against the same money spent on a single model: a judge of others'
answers pays for its own reply and for every answer it compares, and for as much the best single
model could be asked again and outvote itself. Self-preference is whether a judge favours its own
answer: what showing it changes, and how often it is picked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import sqrt

import polars as pl

from judgerel_ray.analyses.selection.tables import (
    EqualAcceptances,
    MatchedCosts,
    SelfPreferences,
    SystemPairs,
)
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import CHOSEN, Outcome, SweepError
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.tables import as_columns
from judgerel_ray.counting.intervals import check_resamples
from judgerel_ray.counting.measured import SPENT, cost_unit, unused_line
from judgerel_ray.counting.right_answers import ITEM
from judgerel_ray.measuring.systems import (
    ANSWER_RULES,
    CONFIDENCES,
    QUESTION,
    AnswerRule,
    System,
    joined_accuracy,
    most_accurate,
    one_answer,
)
from judgerel_ray.stats.intervals.judge_differences import holm
from judgerel_ray.stats.selective.systems import (
    SHARES,
    EqualAcceptance,
    PairedAccuracy,
    checked_answers,
    equal_acceptance,
    paired_accuracy,
)

_ROLES = ("responder", "judge", "participant", "evaluator_only")
_BY_SHARE = {
    "acceptance": "acceptance_G", "first_error": "first_G", "second_error": "second_G",
    "difference": "value_G", "low": "low_G", "high": "high_G",
}  # fmt: skip
_SHOWN = tuple(round(0.1 * step, 1) for step in range(1, 11))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared.

    ``answer`` of a question asked several times: its first reply, or the majority. ``confidence``
    by which answers are accepted (None: the first that both have), ``resamples`` and ``seed`` of
    the bootstrap. ``answer_temperature``: of the answers that judges compared, where models
    answered at several.
    """

    answer: AnswerRule = "first"
    confidence: str | None = None
    resamples: int = 2000
    seed: int = 0
    answer_temperature: float | None = None

    def __post_init__(self) -> None:
        if self.answer not in ANSWER_RULES:
            raise SweepError(f"answer must be of {', '.join(ANSWER_RULES)}, got {self.answer!r}")
        if self.confidence is not None and self.confidence not in CONFIDENCES:
            raise SweepError(
                f"confidence must be of {', '.join(CONFIDENCES)}, got {self.confidence!r}"
            )
        check_resamples(self.resamples)


def pair_tables(
    systems: Sequence[System], options: ComparisonOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare systems two by two.

    Exact McNemar with Holm's adjustment, and the mean difference of error over the shares accepted
    that both reach, with the interval of questions drawn anew for both at once.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> rows = pl.LazyFrame({"judge": ["a", "a", "b", "b"], "item_id": ["q", "r", "r", "q"],
    ...                      "verdict": ["1", "1", "2", "1"], "gold": ["1", "2", "2", "1"]})
    >>> pairs, _ = pair_tables(read_systems(rows), ComparisonOptions())
    >>> pairs.select("first", "second", "both", "second_only", "difference").row(0)
    ('a', 'b', 1, 1, 0.5)
    """
    pairs = list(system_pairs(systems))
    if not pairs:
        raise SweepError(
            "there are no two systems to compare",
            where={"systems": "; ".join(one.label for one in systems)},
            hint="a column judge that tells systems apart, or --by COLS that do",
        )
    rows: list[dict[str, object]] = []
    shares: list[dict[str, object]] = []
    for first, second in pairs:
        names = {
            "benchmark": _benchmark_of_system(first),
            "first": first.label,
            "second": second.label,
        }
        accuracy = joined_accuracy(
            one_answer(first.rows, options.answer), one_answer(second.rows, options.answer)
        )
        kind = _shared_confidence(first, second, options)
        equal = None if kind is None else _systems_equally_accepted(first, second, kind, options)
        columns = {**accuracy_columns(accuracy), **error_columns(equal, kind)}
        rows.append({**names, **columns, "answer": options.answer})
        if equal is not None:
            shares += [{**names, "confidence": kind, **one} for one in share_rows(equal)]
    return SystemPairs.frame(with_holm(rows)), EqualAcceptances.frame(shares)


def system_pairs(systems: Sequence[System]) -> Iterator[tuple[System, System]]:
    """Name the pairs of systems on one benchmark, models alone before judges of them.

    Examples
    --------
    >>> list(system_pairs([]))
    []
    """
    for benchmark in sorted({str(_benchmark_of_system(one)) for one in systems}):
        of_benchmark = (one for one in systems if str(_benchmark_of_system(one)) == benchmark)
        yield from combinations(sorted(of_benchmark, key=_system_sort_rank), 2)


def accuracy_columns(found: PairedAccuracy) -> dict[str, object]:
    """Lay out a paired accuracy.

    Examples
    --------
    >>> from judgerel_ray.stats.selective.systems import paired_accuracy
    >>> accuracy_columns(paired_accuracy([1], [1]))["n_questions"]
    1
    """
    columns = asdict(found)
    return {
        "first_accuracy": columns.pop("first"),
        "second_accuracy": columns.pop("second"),
        **columns,
        "undefined": None if found.n_questions else "no_common_questions",
    }


def error_columns(equal: EqualAcceptance | None, kind: str | None) -> dict[str, object]:
    """Lay out the mean difference of error at equal acceptance.

    Examples
    --------
    >>> error_columns(None, None)
    {'confidence': None}
    """
    if equal is None:
        return {"confidence": kind}
    return {
        "confidence": kind,
        "reach": float(equal.acceptance_G.max()) if equal.acceptance_G.size else None,
        **as_columns(equal, error_difference="mean", error_low="mean_low", error_high="mean_high"),
        "error_p": equal.p,
    }


def share_rows(equal: EqualAcceptance) -> Iterator[dict[str, object]]:
    """Lay out errors at every tenth accepted.

    Examples
    --------
    See :func:`pair_tables`.
    """
    rows = pl.DataFrame(as_columns(equal, **_BY_SHARE)).fill_nan(None)
    yield from (row for row in rows.iter_rows(named=True) if row["acceptance"] in _SHOWN)


def with_holm(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Adjust the p-values of a family of comparisons.

    Examples
    --------
    >>> [one["p_holm"] for one in with_holm([{"p": 0.01}, {"p": 0.03}])]
    [0.02, 0.03]
    """
    columns = [[row.get(name) for row in rows] for name in ("p", "error_p")]
    adjusted = [
        holm([one if isinstance(one, float) else None for one in column]) for column in columns
    ]
    return [
        {**row, "p_holm": p, "error_p_holm": q, "n_comparisons": len(rows)}
        for row, p, q in zip(rows, *adjusted, strict=True)
    ]


def _systems_equally_accepted(
    first: System, second: System, kind: str, options: ComparisonOptions
) -> EqualAcceptance:
    """Errors of two systems at equal acceptance."""
    sides = [
        checked_answers(one.scores_N(kind), one.right_N, one.items_N) for one in (first, second)
    ]
    return equal_acceptance(*sides, shares=SHARES, n_resamples=options.resamples, seed=options.seed)


def _shared_confidence(first: System, second: System, options: ComparisonOptions) -> str | None:
    """The confidence by which both can accept."""
    wanted = [options.confidence] if options.confidence else CONFIDENCES
    both = set(first.confidences) & set(second.confidences)
    return next((name for name in wanted if name in both), None)


def _benchmark_of_system(system: System) -> object:
    """The benchmark of a system, where files name one."""
    return system.name.get("benchmark")


def _system_sort_rank(system: System) -> int:
    """Models alone first, then judges."""
    role = system.name.get("role")
    return _ROLES.index(str(role)) if role in _ROLES else len(_ROLES)


JUDGING = ("participant", "evaluator_only")
"""Roles of judges that compare what models answered."""
_ALONE = ("benchmark", "judge", "temperature", "template")
_ROUNDING = 1e-9  # three times 0.1 buys three replies


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SystemComparison(Shown):
    """Systems compared on the questions they share.

    Attributes
    ----------
    pairs, equal_acceptance, matched_cost, self_preference : pl.DataFrame
        As :mod:`judgerel_ray.analyses.selection.tables` says.
    """

    pairs: pl.DataFrame
    equal_acceptance: pl.DataFrame
    matched_cost: pl.DataFrame
    self_preference: pl.DataFrame


def compare_systems(
    systems: Sequence[System], spending: AnswerCosts, options: ComparisonOptions | None = None
) -> SystemComparison:
    """Compare systems in every way there is.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
    >>> rows = pl.LazyFrame({"judge": ["a", "a", "b", "b"], "item_id": ["q", "r", "r", "q"],
    ...                      "verdict": ["1", "1", "2", "1"], "gold": ["1", "2", "2", "1"]})
    >>> found = compare_systems(read_systems(rows), AnswerCosts(unit="requests"))
    >>> found.pairs["p"].to_list(), found.matched_cost.height
    ([1.0], 0)
    """
    options = options or ComparisonOptions()
    pairs, shares = pair_tables(systems, options)
    return SystemComparison(
        pairs=pairs,
        equal_acceptance=shares,
        matched_cost=matched_cost_table(systems, spending, options),
        self_preference=preference_table(systems, options),
    )


FAVOURS, SHOWN, AVOIDS, ALIKE = (
    "favours_its_own", "option_was_shown", "avoids_its_own", "not_distinguishable"
)  # fmt: skip
"""What is found of a judge: see :func:`preference_table`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCosts:
    """What answers cost, by model and by judge, in one unit."""

    # "cost" (money) where every row has one, else "tokens" (prompts and replies, cached or not),
    # else "requests".
    unit: str
    # Of one answer of a model alone, its selection too, by benchmark, judge, temperature and
    # template.
    alone: Mapping[tuple[object, ...], float] = field(default_factory=dict)
    # Of one reply of a judge, by the label of its system.
    judging: Mapping[str, float] = field(default_factory=dict)


def read_answer_costs(judgments: pl.LazyFrame, systems: Sequence[System]) -> AnswerCosts:
    """Read what answers cost.

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["a", "a"], "role": ["responder"] * 2, "item_id": ["q"] * 2,
    ...                      "stage": ["select", "choose"], "prompt_tokens": [10, 20],
    ...                      "completion_tokens": [3, 2]})
    >>> found = read_answer_costs(rows, [])
    >>> found.unit, list(found.alone.values())
    ('tokens', [35.0])
    """
    columns = judgments.collect_schema().names()
    if not {"role", "judge"} <= set(columns):
        return AnswerCosts(unit="requests")
    asked = pl.col("role").is_in(["responder", *JUDGING])
    if "outcome" in columns:
        asked &= pl.col("outcome").fill_null("") != Outcome.FAILED.value
    if "block" in columns:
        asked &= pl.col("block").fill_null(0) == 0
    names = [name for name in (*_ALONE, ITEM, "replication", "role", "stage") if name in columns]
    spent = [name for name in SPENT if name in columns]
    rows = judgments.filter(asked).select(*names, *spent).cast({"judge": pl.String}).collect()
    unit, price = cost_unit(rows.lazy())
    if unit != "cost" and (line := unused_line(judgments, asked, unit)):
        warn_of([line])
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
    judging = {
        one.label: float(one.rows.select(price.mean()).item())
        for one in systems
        if one.name.get("role") in JUDGING
    }
    return AnswerCosts(unit=unit, alone=means, judging=judging)


def matched_cost_table(
    systems: Sequence[System], spending: AnswerCosts, options: ComparisonOptions
) -> pl.DataFrame:
    """Hold every judge of others' answers against the best model alone, for the same cost.

    Two rows a judge: ``baseline`` "single", the best model alone, asked once; and "votes", the best
    model's majority of as many replies as cost no more than the judge with the answers it compares
    (``votes_wanted``; ``votes`` is fewer where no more were asked for). Both are the best of
    ``n_candidates`` on these very questions, which favours them: a judge that wins wins in spite of
    it. ``undefined`` says where costs cannot be told.

    Examples
    --------
    >>> matched_cost_table([], AnswerCosts(unit="tokens"), ComparisonOptions()).height
    0
    """
    rows = [
        row
        for judge in systems
        if judge.name.get("role") in JUDGING
        for row in _judge_against_systems(
            judge, _systems_before_judge(judge, systems, options), spending, options
        )
    ]
    return MatchedCosts.frame(with_holm(rows))


def _systems_before_judge(
    judge: System, systems: Sequence[System], options: ComparisonOptions
) -> list[System]:
    """The models alone whose answers could stand before this judge."""
    return [
        one
        for one in systems
        if one.name.get("role") == "responder"
        and _systems_in_same_place(one, judge)
        and options.answer_temperature in (None, one.name.get("temperature"))
    ]


def _judge_against_systems(
    judge: System, pool: Sequence[System], spending: AnswerCosts, options: ComparisonOptions
) -> Iterator[dict[str, object]]:
    """One judge against both baselines."""
    judge_name = judge.name.get("judge")
    is_shown = [
        one
        for one in pool
        if judge.name["role"] == "participant" or one.name.get("judge") != judge_name
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
    total = spending.judging[judge.label] + sum(
        _system_answer_cost(one, spending) for one in is_shown
    )
    for baseline in ("single", "votes"):
        wanted = {
            id(one): 1 if baseline == "single" else _system_replies_for_money(one, total, spending)
            for one in pool
        }
        answers = [
            one_answer(one.rows, "first" if wanted[id(one)] == 1 else "majority", k=wanted[id(one)])
            for one in pool
        ]
        place = most_accurate(answers, judge.rows)
        best, answer = pool[place], answers[place]
        used = float(answer["n_votes"].mean() or 0.0)  # type: ignore[arg-type]
        yield {
            **row,
            "baseline": baseline,
            "first": best.label,
            "first_cost": used * _system_answer_cost(best, spending),
            "second_cost": total,
            "votes": round(used),
            "votes_wanted": wanted[id(best)],
            **_system_against_answer(answer, judge, options),
        }


def _system_replies_for_money(one: System, total: float, spending: AnswerCosts) -> int:
    """How many replies of a model that money buys; of one that costs nothing, all there are."""
    price = _system_answer_cost(one, spending)
    if price <= 0:
        return int(one.rows.group_by(QUESTION).len()["len"].max() or 1)  # type: ignore[arg-type]
    return max(1, int(total / price * (1 + _ROUNDING)))


def _system_against_answer(
    answer: pl.DataFrame, judge: System, options: ComparisonOptions
) -> dict[str, object]:
    """A judge against one answer a question, all accepted and at equal acceptance."""
    accuracy = accuracy_columns(joined_accuracy(answer, one_answer(judge.rows, options.answer)))
    if not judge.rows["stated"].count() or not answer["sure"].count():
        return accuracy
    equal = equal_acceptance(
        checked_answers(
            answer["sure"].cast(pl.Float64).to_numpy(),
            answer["right"].to_numpy(),
            answer[QUESTION].to_numpy(),
        ),
        checked_answers(judge.scores_N("stated"), judge.right_N, judge.items_N),
        n_resamples=options.resamples,
        seed=options.seed,
    )
    return accuracy | error_columns(equal, "stated")


def _system_answer_cost(one: System, spending: AnswerCosts) -> float:
    """What one answer of a model alone costs; a request where nothing else is known."""
    return spending.alone.get(tuple(one.name.get(name) for name in _ALONE), 1.0)


_LEVEL = 0.05
_SETTING = ("benchmark", "template")
_Row = dict[str, object]


def preference_table(
    systems: Sequence[System], options: ComparisonOptions | None = None
) -> pl.DataFrame:
    """Tell how far each judge prefers its own answer.

    A model that picks its own answer may do so for holding the same opinion still, without a look
    at whose it is. The control is the same model as evaluator_only, on the same questions: it has
    that opinion, and is not shown its answer. Only questions on which the models disagree count.

    One row a participant and temperature: - ``difference``: its accuracy less that as
    evaluator_only, on the questions of both; - ``self_difference``: how often it picks the option
    that it answered itself (``self_picked``) less how often it does as evaluator_only, on
    ``n_self`` questions, with 95 % interval, exact p of the two roles exchanged within questions
    (sign flips; McNemar's), ``self_noise_sd`` (spread of the difference under those exchanges,
    about 0) and Holm's adjustment over the ``n_judges`` rows that have one; ``self_wrong_`` the
    same where that answer is wrong; - ``own_difference``: ``own_picked`` less how often the other
    participants, who saw the very same answers, pick that one. Opinions of models differ, so by
    itself this says nothing of preference; but an option that is shown is picked more often by
    anyone, and evaluators are not shown it. ``own_wrong_`` the same where that answer is wrong; -
    ``finding``: "favours_its_own" where both differences lie above 0 (``favours_p_holm``: the
    larger of the two p, by Holm's over judges), "option_was_shown" where only ``self_difference``
    does, so that others who saw it may pick it as often, "avoids_its_own" where it lies below 0,
    else "not_distinguishable" from opinion. ``undefined`` says what is lacking: without the role
    evaluator_only ("no_evaluator_only") self-preference is unknown.

    Examples
    --------
    >>> preference_table([]).height
    0
    """
    options = options or ComparisonOptions()
    judges = [one for one in systems if one.name.get("role") in JUDGING]
    rows: list[_Row] = []
    for participant in judges:
        if participant.name["role"] != "participant":
            continue
        name = {**participant.name, "role": "evaluator_only"}
        other = next((one for one in judges if dict(one.name) == name), None)
        answers = one_answer(participant.rows, options.answer)
        alone = None if other is None else one_answer(other.rows, options.answer)
        row: _Row = {
            **{key: participant.name.get(key) for key in _ALONE},
            "answer": options.answer,
        }
        if alone is not None:
            found = joined_accuracy(alone, answers)
            row |= as_columns(found, "n_questions", "difference", "low", "high", "p",
                              participant="second", evaluator_only="first")  # fmt: skip
        rows.append(row | _self_chosen_answers(participant, answers, alone, systems, options))
    return SelfPreferences.frame(_self_selection_findings(rows))


def _self_chosen_answers(
    participant: System,
    answers: pl.DataFrame,
    alone: pl.DataFrame | None,
    systems: Sequence[System],
    options: ComparisonOptions,
) -> _Row:
    """How often its own answer is picked: by itself, by itself as evaluator, and by others."""
    shown = _system_answers_shown(participant, systems, options)
    if shown is None:
        return {"undefined": "several_answer_temperatures"}
    judge_name = str(participant.name.get("judge"))
    if judge_name not in shown.columns or shown.width < 3:
        return {"undefined": "no_own_answer"}
    models = [name for name in shown.columns if name not in (QUESTION, "__gold")]
    differ = pl.concat_list(models).list.drop_nulls().list.n_unique() > 1
    disputed = shown.filter(differ & pl.col(judge_name).is_not_null())
    picked = _is_self_selected(answers, disputed, judge_name)
    found: _Row = {"n_disputed": disputed.height, "own_picked": picked["own"].mean()}
    if alone is not None:
        as_evaluator = _is_self_selected(alone, disputed, judge_name).select(
            QUESTION, control="own"
        )
        found |= _self_selection_columns(
            "self", "as_evaluator", picked, as_evaluator, disputed, judge_name
        )
    others = [
        _is_self_selected(one_answer(one.rows, options.answer), disputed, judge_name)
        for one in systems
        if one.name.get("judge") != judge_name
        and _same_setting(one, participant)
        # Evaluators see fewer answers, and would pick each of them more often by chance.
        and one.name.get("role") == "participant"
    ]
    if others:
        by_others = pl.concat(others).group_by(QUESTION).agg(control=pl.col("own").mean())
        against = _self_selection_columns(
            "own", "by_others", picked, by_others, disputed, judge_name
        )
        found |= against | {"n_disputed": against["n_own"]}
    found.pop("n_own", None)
    lacking = "no_evaluator_only" if alone is None else None if others else "no_other_judge"
    return found | {"undefined": lacking}


def _self_selection_columns(
    name: str,
    control: str,
    picked: pl.DataFrame,
    of_control: pl.DataFrame,
    disputed: pl.DataFrame,
    judge_name: str,
) -> _Row:
    """How often the own answer is picked, against a control: of all, and where it is wrong."""
    both = picked.join(of_control, on=QUESTION).join(
        disputed.select(QUESTION, judge_name, "__gold"), on=QUESTION
    )
    wrong = both.filter(pl.col(judge_name) != pl.col("__gold"))
    row: _Row = {}
    for one, part in ((name, both), (f"{name}_wrong", wrong)):
        found: PairedAccuracy = paired_accuracy(
            part["control"].cast(pl.Float64).to_numpy(), part["own"].cast(pl.Float64).to_numpy()
        )
        row |= as_columns(found, **{
            f"n_{one}": "n_questions", f"{one}_picked": "second",
            f"{one}_picked_{control}": "first",
            **{f"{one}_{name_of}": name_of for name_of in ("difference", "low", "high", "p")},
        })  # fmt: skip
        if name == "self" and found.first_only is not None and found.second_only is not None:
            apart = found.first_only + found.second_only
            row[f"{one}_noise_sd"] = sqrt(apart) / found.n_questions if found.n_questions else None
    return row


def _self_selection_findings(rows: Sequence[_Row]) -> list[_Row]:
    """Adjust for the number of judges, and say what is found."""
    larger = [_self_selection_p_value(row) for row in rows]
    columns = [
        [_system_row_number(row, name) for row in rows] for name in ("self_p", "self_wrong_p")
    ]
    n_judges = sum(p is not None for p in columns[0])
    adjusted = zip(*(holm(one) for one in (*columns, larger)), strict=True)
    return [
        {
            **row, "self_p_holm": p, "self_wrong_p_holm": q, "favours_p_holm": both,
            "n_judges": n_judges, "finding": _self_selection_finding(row, p, both),
        }
        for row, (p, q, both) in zip(rows, adjusted, strict=True)
    ]  # fmt: skip


def _self_selection_p_value(row: _Row) -> float | None:
    """The p of picking its own more often than by opinion and than others who saw it; 1 if not."""
    p = [_system_row_number(row, name) for name in ("self_p", "own_p")]
    sizes = [_system_row_number(row, name) for name in ("self_difference", "own_difference")]
    if any(one is None for one in sizes):
        return None
    if any(one is None for one in p) or any((one or 0.0) <= 0 for one in sizes):
        return 1.0
    return max(one for one in p if one is not None)


def _self_selection_finding(row: _Row, p: float | None, both: float | None) -> str | None:
    """What is found of a judge; None where it cannot be told."""
    difference = _system_row_number(row, "self_difference")
    if p is None or difference is None:
        return None
    if p > _LEVEL:
        return ALIKE
    if difference < 0:
        return AVOIDS
    return FAVOURS if both is not None and both <= _LEVEL else SHOWN


def _system_row_number(row: _Row, name: str) -> float | None:
    """A number of a row, where there is one."""
    value = row.get(name)
    return value if isinstance(value, float) else None


def _system_answers_shown(
    judge: System, systems: Sequence[System], options: ComparisonOptions
) -> pl.DataFrame | None:
    """The answers that judges compared, a column a model; None where it cannot be told which."""
    alone = _systems_before_judge(judge, systems, options)
    models = [str(one.name.get("judge")) for one in alone]
    if len(set(models)) < len(models):
        return None
    gold = judge.rows.select(QUESTION, __gold="gold").unique(QUESTION)
    for model, one in zip(models, alone, strict=True):
        first = one_answer(one.rows, "first").select(QUESTION, pl.col("verdict").alias(model))
        gold = gold.join(first, on=QUESTION, how="left")
    return gold


def _is_self_selected(
    answers: pl.DataFrame, disputed: pl.DataFrame, judge_name: str
) -> pl.DataFrame:
    """Whether each disputed question's answer is the model's own; judges may name the model."""
    asked = answers.join(disputed.select(QUESTION, __own=judge_name), on=QUESTION)
    picks_own = (pl.col("verdict") == pl.col("__own")) | (pl.col("verdict") == pl.lit(judge_name))
    return asked.select(QUESTION, own=picks_own.fill_null(False)).sort(QUESTION)


def _systems_in_same_place(one: System, other: System) -> bool:
    """Whether two systems were asked on one benchmark with one template."""
    return all(one.name.get(name) == other.name.get(name) for name in _SETTING)


def _same_setting(one: System, other: System) -> bool:
    """Whether two judges were asked alike."""
    return _systems_in_same_place(one, other) and one.name.get("temperature") == other.name.get(
        "temperature"
    )
