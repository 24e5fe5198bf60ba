"""From a run or a file of answers to what selecting among them is worth, and systems compared.

Confidences of a run that lie beside its judgments: margins, probabilities of verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.analyses.confusion.from_run import run_uncertainty_tables
from judgerel_ray.analyses.selection.selection import Selection, SelectionOptions, selection_tables
from judgerel_ray.analyses.selection.show import selection_sections
from judgerel_ray.analyses.selection.systems_compared import (
    ComparisonOptions,
    SystemComparison,
    compare_systems,
    read_answer_costs,
)
from judgerel_ray.blocks.blocks import Block, Paragraph, Section
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.core.traits import Traits, protocols_where
from judgerel_ray.counting.columns import is_nested, of_protocols
from judgerel_ray.counting.declared import ask_benchmarks, right_verdicts
from judgerel_ray.counting.files.cells import refuse_inside
from judgerel_ray.counting.files.labelled import with_labels
from judgerel_ray.counting.files.source import quote_columns
from judgerel_ray.counting.gold import beside_table, report_unmatched_gold
from judgerel_ray.counting.measured import CHANCES, SPENT, with_numbers
from judgerel_ray.counting.right_answers import (
    GOLD,
    ITEM,
    QUESTION_COLUMNS,
    judges_in_other_words,
    refuse_other_criteria,
)
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.measuring.distributions import verdict_shares, verdicts_with_probabilities
from judgerel_ray.measuring.page_data import PageData
from judgerel_ray.measuring.systems import System, read_systems
from judgerel_ray.store import RunDirectory
from judgerel_ray.store.made_tables import CONFUSIONS, DISTRIBUTIONS, read_distributions


def selection_of(
    judged: Snapshot,
    options: SelectionOptions | None = None,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
) -> Selection:
    """Accuracy, acceptance, ranking and calibration of every system of judgments."""
    items = known_items(judged, gold)
    systems = open_systems(judged, by=by, items=items)
    return selection_tables(systems, options, chance=_selection_by_chance(items))


def systems_of(
    judged: Snapshot,
    options: ComparisonOptions | None = None,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
) -> SystemComparison:
    """Compare the systems of judgments on the questions they share (SweepError without two)."""
    judged = _with_system_costs(judged)
    systems = open_systems(judged, by=by, items=known_items(judged, gold))
    with judged.naming():
        return _systems_at_equal_cost(judged, systems, options or ComparisonOptions())


def _systems_at_equal_cost(
    judged: Snapshot, systems: Sequence[System], options: ComparisonOptions
) -> SystemComparison:
    """Compare systems by what their answers cost, and at the temperature of those compared."""
    options = replace(options, answer_temperature=answer_temperature(judged, options))
    return compare_systems(systems, read_answer_costs(judged.frame, systems), options)


def open_systems(
    judged: Snapshot, *, by: Sequence[str] | None = None, items: pl.DataFrame | None = None
) -> list[System]:
    """Tell the systems of judgments apart, with what is right and every confidence there is."""
    if not judged.verdicts_known:
        refuse_unknown("what is right", judged.where)
    judged = with_numbers(judged, CHANCES)
    frame, gold = judged.frame, items
    if judged.run is None:
        right = _right_answers_to_select(gold)
        columns = frame.collect_schema().names()
        if right is None and GOLD not in columns and "verdict" in columns:
            raise SweepError(
                f"no right answers: expected a column {GOLD!r} with that of every question, got "
                f"{quote_columns(columns)}",
                where=judged.where,
                hint=_WITH_LABELS,
            )
        with judged.naming():
            if right is not None:
                refuse_other_criteria(frame, right)
            found = read_systems(frame, gold=right, by=by)
            _refuse_other_words(found)
        report_unmatched_gold(
            judged, right if right is None else _right_answers_of_systems(right, found)
        )
        return found
    frame = frame.filter(of_protocols(lambda one: one.has_right_option))
    exact = exact_answers(judged.run, frame)
    if exact is not None:
        frame = pl.concat([frame, exact.lazy()], how="diagonal_relaxed")
    right = _right_answers_to_select(gold)
    if right is None or right.is_empty():
        raise SweepError(
            "the items of this run name no right option",
            where={"run": judged.run.url},
            hint=_WITH_LABELS,
        )
    return read_systems(frame, gold=right, by=by, chances=run_chances(judged.run))


def _refuse_other_words(systems: Sequence[System]) -> None:
    """Refuse systems that answer in other words than gold, beside others that do not."""
    answers = [one.rows.select(ITEM, "verdict", GOLD, system=pl.lit(one.label)) for one in systems]
    found = judges_in_other_words(pl.concat(answers).lazy(), ["system"])
    if found.is_empty():
        return
    system, words, gold = found.row(0)
    raise SweepError(
        f"verdict and gold of {system} have no value in common, so nothing could be right: its "
        f"verdicts are {', '.join(map(repr, words[:_MOST_WORDS]))}; gold is "
        f"{', '.join(map(repr, gold[:_MOST_WORDS]))}",
        hint="write gold as the verdict that is right, letter by letter, or leave its rows out",
    )


def _with_system_costs(judged: Snapshot) -> Snapshot:
    """The judgments with what answers took as numbers, where roles tell answers from judges."""
    has_roles = {"role", "judge"} <= set(judged.frame.collect_schema())
    return with_numbers(judged, SPENT) if has_roles else judged


def selection_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's sections on selecting among answers, and on systems compared.

    There are none without stated confidences, or right answers known.
    """
    judged = measured.judged
    columns = judged.frame.collect_schema().names()
    if "confidence" not in columns or (judged.run is None and GOLD not in columns):
        return []
    stated = judged.frame.filter(pl.col("confidence").is_not_null()).head(1).collect()
    items = known_items(judged, None)
    right = _right_answers_to_select(items)
    if stated.is_empty() or (judged.run is not None and (right is None or right.is_empty())):
        return []
    try:
        judged = _with_system_costs(judged)
        systems = open_systems(judged, items=items)
    except SweepError as error:  # a page has more to say than this
        return [Section("Accept or reject", [Paragraph(f"Not told: {error.problem}.")])]
    found = selection_tables(systems, chance=_selection_by_chance(items)).tables()
    several = len(systems) > 1
    compared = (
        _systems_at_equal_cost(judged, systems, ComparisonOptions()).tables() if several else {}
    )
    return selection_sections(found, compared)


def answer_temperature(judged: Snapshot, options: ComparisonOptions) -> float | None:
    """Temperature of the answers that judges of a run compared; None where nothing says it."""
    if options.answer_temperature is not None or judged.run is None:
        return options.answer_temperature
    sweep = parse_sweep(judged.run.read_text("sweep.toml"), source=judged.run.address("sweep.toml"))
    stated = (ask.kind.answer_temperature(ask) for ask in sweep.ask)
    asked = {temperature for temperature in stated if temperature is not None}
    return asked.pop() if len(asked) == 1 else None


def known_items(judged: Snapshot, gold: str | None) -> pl.DataFrame | None:
    """The items, with what is right: of a file that is given, else of the run.

    Gold of a run that is no verdict, but a reference answer, is null.
    """
    if gold is not None:
        found = _gold_file(gold)
        spelled = judged.tally.spellings if judged.tally else None
        found = found if spelled is None else found.with_columns(spelled.compared(GOLD))
        _refuse_two(found, gold)
        return found
    if judged.run is None:
        return None
    items = pl.read_parquet(judged.run.read_bytes("items.parquet"))
    if judged.labels is not None:
        return with_labels(items.lazy(), judged.labels).collect()
    right = right_verdicts(judged.run, items).select("benchmark", ITEM, GOLD)
    return items.drop(GOLD).join(right, on=["benchmark", ITEM], how="left", maintain_order="left")


def _gold_file(path: str) -> pl.DataFrame:
    """A table of right answers; SweepError where it is none."""
    where = {"file": path}
    found = beside_table(path, "--gold")
    lacking = [name for name in (ITEM, GOLD) if name not in found.columns]
    if lacking:
        raise SweepError(
            f"--gold needs columns {ITEM}, {GOLD}, got {', '.join(found.columns)}",
            where=where,
            hint=f"name the column of the question {ITEM}, and that of the right verdict {GOLD}",
        )
    for name in (ITEM, GOLD):
        if is_nested(found.schema[name]):
            refuse_inside(found[name], name=name, where=where)
    return found.cast({ITEM: pl.String, GOLD: pl.String})


def _refuse_two(items: pl.DataFrame, file: str) -> None:
    """Refuse a table that gives an item two right answers."""
    keys = [name for name in QUESTION_COLUMNS if name in items.columns]
    found = items.drop_nulls(GOLD).group_by(keys).agg(pl.col(GOLD).unique().sort())
    twice = found.filter(pl.col(GOLD).list.len() > 1).sort(keys)
    if twice.height:
        first = twice.row(0, named=True)
        raise SweepError(
            f"an item has two right answers: {' and '.join(map(repr, first[GOLD][:2]))}",
            where={"file": file, ITEM: first[ITEM]},
            hint="leave one row of each item, with a column benchmark where several share a name",
        )


def _right_answers_to_select(items: pl.DataFrame | None) -> pl.DataFrame | None:
    """What is right of each item."""
    if items is None:
        return None
    keys = [name for name in QUESTION_COLUMNS if name in items.columns]
    return items.select(*keys, GOLD).drop_nulls(GOLD)


def _right_answers_of_systems(right: pl.DataFrame, systems: Sequence[System]) -> pl.DataFrame:
    """What is right of items that any system answered."""
    keys = [name for name in QUESTION_COLUMNS if name in right.columns]
    keys = [name for name in keys if all(name in one.rows.columns for one in systems)]
    asked = pl.concat(one.rows.select(keys) for one in systems).unique()
    return right.join(asked, on=keys, how="semi")


def _selection_by_chance(items: pl.DataFrame | None) -> dict[tuple[object, str], float]:
    """One by the number of options, by benchmark and item."""
    if items is None or not isinstance(items.schema.get("options"), pl.List):
        return {}
    rows = items.filter(pl.col("options").list.len() > 0)
    benchmark = rows["benchmark"] if "benchmark" in rows.columns else [None] * rows.height
    sizes = rows["options"].list.len()
    return {
        (name, item): 1 / size
        for name, item, size in zip(benchmark, rows[ITEM], sizes, strict=True)
    }


_WITH_LABELS = "--labels FILE: a table of item_id and label (--gold FILE: of item_id and gold)"
_MOST_WORDS = 8  # words told where gold is in others
_PLACE = ("judge", "benchmark", "item_id", "template", "option_order", "temperature")


def run_chances(run: RunDirectory) -> list[pl.DataFrame]:
    """Tables of ``margin`` and ``probability`` of a run's verdicts; none where it has none."""
    found = [_margins_to_select_by(run)] if run.exists(CONFUSIONS) else []
    if run.exists(DISTRIBUTIONS):
        found.append(_selection_probabilities(run))
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    if any(ask.verdict_logprobs for ask in sweep.ask):  # texts are read for nothing less
        found.append(_read_at_verdicts(run))
    return found


def exact_answers(run: RunDirectory, sampled: pl.LazyFrame) -> pl.DataFrame | None:
    """The most probable verdict of every question asked exactly and not sampled, as an answer.

    Ties go to the option named first in the alphabet, which is no better than another.
    """
    if not run.exists(DISTRIBUTIONS):
        return None
    best = (
        _selection_option_shares(run)
        .sort(*_PLACE, "verdict", nulls_last=True)
        .sort("probability", descending=True, maintain_order=True)
        .unique(_PLACE, keep="first", maintain_order=True)
    )
    names = ["judge", "benchmark", "template", "temperature"]
    asked = sampled.filter(of_protocols(lambda one: one.compares)).select(names).unique().collect()
    asked = asked.cast({name: best.schema[name] for name in names})
    answers = best.join(asked, on=names, how="anti").select(*_PLACE, "verdict", "protocol")
    scored = pl.when(pl.col("verdict").is_not_null()).then(pl.lit("scored"))
    return answers.with_columns(
        role=pl.lit("judge"),
        stage=pl.lit("exact"),
        replication=pl.lit(0, pl.Int32),
        outcome=scored.otherwise(pl.lit("unparsed")),
    )


def _margins_to_select_by(run: RunDirectory) -> pl.DataFrame:
    """The margin of every matrix, of the mode named first where there are several."""
    rows = run_uncertainty_tables(run).judgments.sort("mode", nulls_last=True)
    names = ["judge", "benchmark", "item_id", "template", "temperature"]
    one = rows.unique(names, keep="first", maintain_order=True)
    asked = _requests_where(run, lambda one: one.makes_matrices)
    return one.select(*names, "margin").join(asked, on="benchmark")


def _selection_probabilities(run: RunDirectory) -> pl.DataFrame:
    """The probability of each verdict, as its distribution has it."""
    rows = _selection_option_shares(run).filter(pl.col("verdict").is_not_null())
    at_most = pl.col("probability").clip(0, 1)
    return rows.select(*_PLACE, "verdict", "protocol", probability=at_most)


def _selection_option_shares(run: RunDirectory) -> pl.DataFrame:
    """Distributions over the options of items, each with its protocol, which no table of them has.

    One answer judged by itself is right or wrong, or rated: no option.
    """
    alone = pl.col("criterion").is_not_null() | pl.col("responder").is_not_null()
    asked = _requests_where(run, lambda one: one.compares)
    return read_distributions(run).filter(~alone).join(asked, on="benchmark")


def _requests_where(run: RunDirectory, holds: Callable[[Traits], bool]) -> pl.DataFrame:
    """The protocols of a run that something holds of, by benchmark."""
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    items = pl.read_parquet(run.read_bytes("items.parquet"), columns=["benchmark"])
    named = protocols_where(holds)
    asked = {
        (benchmark, ask.protocol)
        for index, ask in enumerate(sweep.ask)
        if ask.protocol in named
        for benchmark in ask_benchmarks(sweep, index, items)
    }
    return pl.DataFrame(
        sorted(asked), schema={"benchmark": pl.String, "protocol": pl.String}, orient="row"
    )


def _read_at_verdicts(run: RunDirectory) -> pl.DataFrame:
    """The probability of each sampled verdict, read at its place in the reply."""
    named = (*_PLACE, "protocol", "replication")
    rows = (
        verdicts_with_probabilities(run, (*named, "top_k", "verdict"))
        .filter(pl.col("verdict", "place").is_not_null(), pl.col("logprobs").list.len() > 0)
        .collect()
    )
    found = pl.Series("probability", list(_selection_at_verdict(rows)), dtype=pl.Float64)
    return rows.select(*named, found)


def _selection_at_verdict(rows: pl.DataFrame) -> Iterator[float]:
    """The probability of the verdict drawn; of a greedy reply that at temperature 1."""
    for row in rows.iter_rows(named=True):
        most = max((one["continuation"] or 0 for one in row["logprobs"]), default=0)
        shares = verdict_shares(
            row["logprobs"],
            place=row["place"],
            temperature=row["temperature"] or 1.0,
            top_k=row["top_k"],
            n=max(row["place"], most) + 1,
        )
        yield float(shares[row["place"]])
