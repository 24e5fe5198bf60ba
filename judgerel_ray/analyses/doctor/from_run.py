"""From judgments to what they support: what columns are taken for, and what is in the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.analyses.doctor.diagnosis import (
    Diagnosis,
    Doubt,
    Judging,
    Lack,
    Proposal,
    Question,
    Support,
    TakenFor,
    Use,
)
from judgerel_ray.blocks.words import group_label
from judgerel_ray.counting.columns import FACETS, NUISANCE, is_judge
from judgerel_ray.counting.files.understood import DOCTOR, ColumnsMissing
from judgerel_ray.counting.groups.grouping import DEFAULT_GROUPS
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdicts.places import ORDER, SHOWN
from judgerel_ray.counting.verdicts.policy import LABEL, SCORED
from judgerel_ray.measuring.lead_codes import LeadCode, lead_parts
from judgerel_ray.measuring.reliability import ReduceOptions, reduce_judged

_ROLES = {
    "item_id": Use.ITEM, "replication": Use.REPEAT, "block": Use.BLOCK,
    "verdict": Use.VERDICT, "score": Use.SCORE, "outcome": Use.OUTCOME, SHOWN: Use.PLACE,
    GOLD: Use.GOLD, "confidence": Use.CONFIDENCE, "key": Use.KEY, "seed": Use.SEED,
    "n_options": Use.N_OPTIONS, "n_answers": Use.N_ANSWERS, "options": Use.OPTIONS,
    "prompt_tokens": Use.COST, "completion_tokens": Use.COST, "cached_tokens": Use.COST,
    "cost": Use.COST, "finish_reason": Use.END, "attempt": Use.ATTEMPT,
    "landed_at": Use.LANDED,
}  # fmt: skip
_DOUBTS: dict[str, Doubt] = {
    LeadCode.FEW_VERDICTS: Doubt.UNREADABLE,
    LeadCode.ONE_ANSWER: Doubt.ONE_ANSWER,
    LeadCode.ONE_PLACE: Doubt.ONE_PLACE,
}
_PAIR = 2
_FEW_ITEMS = 20
_LABELS = 60
_NEARLY_ALL = 0.95


def diagnose(judged: Snapshot) -> Diagnosis:
    """Say what judgments support that were opened with gold and confidence."""
    schema = judged.frame.collect_schema()
    options = ReduceOptions(coefficients=("percent_agreement", "valid_rate"))
    found = reduce_judged(judged, options)
    lacking = {"verdict": pl.String(), "score": pl.Float64()}
    rows = judged.frame.filter(is_judge(schema.names())).with_columns(
        pl.lit(None, kind).alias(name) for name, kind in lacking.items() if name not in schema
    )
    present = schema.names() if judged.tally is None else judged.tally.columns
    return Diagnosis(
        columns=tuple(_doctor_column_findings(judged, present)),
        judges=tuple(_doctor_judge_findings(found, rows)),
        supports=tuple(_doctor_support_findings(judged, rows, schema.names())),
        notes=judged.notes,
    )


def mapping_for(error: ColumnsMissing) -> Diagnosis:
    """What is known of a file whose columns have other names, and what must be said of the rest."""
    if "file" not in error.where:
        raise error  # of a frame nobody writes a file
    meaning = error.meaning
    ways: dict[str, tuple[str, ...]] = {}
    for role, place in meaning.ways:
        ways[role] = (*ways.get(role, ()), place)
    # Of a verdict and a score that may be read, a map has one.
    either = dict([*ways.items()][:1]) or dict(meaning.open)
    lacking = tuple("verdict" if " or " in one else one for one in meaning.lacking)
    return Diagnosis(
        proposal=Proposal(
            meant={role: place for role, place in meaning.columns.items() if role != place},
            open=either,
            lacking=tuple(one for one in lacking if not (ways and one == "verdict")),
            free=tuple(meaning.unused),
            flags=(error.hint or "").removesuffix(DOCTOR),
        ),
        notes=(error.problem,),
    )


def _doctor_column_findings(judged: Snapshot, names: Sequence[str]) -> Iterator[TakenFor]:
    """What each column is taken for."""
    flat = [name for name, kind in judged.frame.collect_schema().items() if not kind.is_nested()]
    facts = judged.frame.select(
        *(pl.col(name).drop_nulls().n_unique().alias(f"n_{name}") for name in flat),
        *(pl.col(name).null_count().alias(f"empty_{name}") for name in flat),
    ).collect(engine="streaming").row(0, named=True)  # fmt: skip
    for name in names:
        role = _ROLES.get(name)
        if name in NUISANCE:
            role = Use.NUISANCE
        elif name in DEFAULT_GROUPS:
            role = Use.GROUP
        elif name in FACETS:
            role = Use.FACET
        yield TakenFor(
            column=name, role=role, n_values=int(facts.get(f"n_{name}", 0)),
            n_empty=int(facts.get(f"empty_{name}", 0)),
        )  # fmt: skip


def _doctor_judge_findings(found: pl.DataFrame, rows: pl.LazyFrame) -> Iterator[Judging]:
    """Every group, and why it may be no judging at all."""
    groups = found.columns[: found.columns.index("coefficient")]
    scored = rows.filter(SCORED).group_by(*groups, LABEL.alias("__value")).agg(n=pl.len())
    counted = scored.collect(engine="streaming")
    by_group = counted.partition_by(groups, as_dict=True) if groups else {(): counted}
    for row in found.filter(coefficient="valid_rate").iter_rows(named=True):
        present = by_group.get(tuple(row[name] for name in groups), counted.clear())
        judging = Judging(
            group=group_label(row, [name for name in groups if row[name] is not None]),
            n_items=row["n_items"],
            n_judgments=row["n_judgments"],
            valid_rate=row["value"],
        )
        yield _doctor_doubt_finding(judging, row["lead"], present)


def _doctor_doubt_finding(judging: Judging, lead: object, values: pl.DataFrame) -> Judging:
    """A group that may be no judging at all: constant, unreadable, or a value in place of none."""
    code, answer = lead_parts(lead)
    if code in _DOUBTS:
        return replace(judging, why=_DOUBTS[code], answer=answer or None)
    n = int(values["n"].sum())
    if n and values.height > 1 and (most := int(str(values["n"].max()))) >= _NEARLY_ALL * n:
        answer = str(values.filter(pl.col("n") == most)["__value"][0])
        nearly = Doubt.NEARLY_ONE_ANSWER
        return replace(judging, why=nearly, answer=answer, n_answer=most, n_verdicts=n)
    return judging


def _doctor_support_findings(
    judged: Snapshot, rows: pl.LazyFrame, names: list[str]
) -> Iterator[Support]:
    """What can be asked of the judgments, and what is in the way."""
    facets = [name for name in FACETS if name in names]
    asked = rows.filter(SCORED).group_by("item_id", *facets).agg(n=pl.len())
    units = asked.collect(engine="streaming")
    n_items = units["item_id"].n_unique()
    n_labels = min(_LABELS, n_items)
    most = int(str(units["n"].max() or 0))
    gold = rows.filter(pl.col(GOLD).is_not_null()).select(pl.col("item_id").n_unique()) \
        if GOLD in names else None  # fmt: skip
    n_gold = int(gold.collect().item()) if gold is not None else 0
    again = units.filter(pl.col("n") >= _PAIR)["item_id"].n_unique()
    yield Support(
        asks=Question.REPEATS, verb="reduce", lacks=() if again else (Lack.REPEATS, Lack.LABELS),
        counts={"n_items": n_items, "n_repeated": again, "most": most, "n_labels": n_labels}
        | ({"n_right": n_gold} if n_gold else {}),
    )  # fmt: skip
    few = n_items < _FEW_ITEMS
    yield Support(
        asks=Question.INTERVALS, verb="gate", lacks=(Lack.ITEMS,) if few else (),
        counts={"n_items": n_items, "n_more": max(0, _FEW_ITEMS - n_items)},
    )  # fmt: skip
    for name in NUISANCE:
        yield _doctor_facet_finding(units, name)
    orders = ORDER in names and units[ORDER].drop_nulls().n_unique() > 1
    of_position = ((Lack.ORDERS, orders), (Lack.PLACES, SHOWN in names))
    yield Support(
        asks=Question.POSITION, verb="reduce",
        lacks=tuple(lack for lack, is_there in of_position if not is_there),
    )  # fmt: skip
    known = n_gold > 0 or (gold is None and judged.run is not None)
    right = {} if gold is None else {"n_right": n_gold}
    yield Support(
        # Scores are right or wrong, too, but nothing is kept or handed on by them.
        asks=Question.RIGHT, verb="select" if "verdict" in names else "reduce",
        lacks=() if known else (Lack.LABELS,), counts={**right, "n_labels": n_labels},
    )  # fmt: skip
    judges = units.group_by("item_id").agg(pl.col("judge").drop_nulls().n_unique()) \
        if "judge" in names else None  # fmt: skip
    several = units["judge"].drop_nulls().n_unique() if "judge" in names else 1
    n_shared = 0 if judges is None else judges.filter(pl.col("judge") >= _PAIR).height
    of_panel = ((Lack.JUDGES, n_shared > 0), (Lack.LABELS, known))
    yield Support(
        asks=Question.PANEL, verb="panels",
        lacks=tuple(lack for lack, is_there in of_panel if not is_there),
        counts={"n_judges": several, "n_shared": n_shared, "n_labels": n_labels},
    )  # fmt: skip


def _doctor_facet_finding(units: pl.DataFrame, name: str) -> Support:
    """Whether a facet that should not matter was varied inside items."""
    crossed = 0
    if name in units.columns:
        levels = units.group_by("item_id").agg(pl.col(name).drop_nulls().n_unique())
        crossed = levels.filter(pl.col(name) >= _PAIR).height
    return Support(
        asks=Question.FACET, verb="reduce", facet=name, counts={"n_crossed": crossed},
        lacks=() if crossed else (Lack.LEVELS,),
    )  # fmt: skip
