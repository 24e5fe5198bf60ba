"""Right verdicts beside judgments: a run's own, a file's column ``gold``, a table that is named."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.errors import Unreadable, warn_of
from judgerel_ray.counting.columns import is_judge, of_protocols
from judgerel_ray.counting.declared import right_verdicts
from judgerel_ray.counting.files.labelled import with_labels
from judgerel_ray.counting.files.source import one_column_a_name, read_source, readable
from judgerel_ray.counting.right_answers import (
    GOLD,
    WHOSE,
    UnmatchedGold,
    contradicting,
    find_unmatched_gold,
    judges_in_other_words,
    judgments_with_gold,
    other_words_line,
)
from judgerel_ray.counting.snapshot import Snapshot


def with_gold(judged: Snapshot) -> Snapshot:
    """The judgments, with the right option of each item where a run knows it."""
    if not judged.may_know_right:
        return judged
    if judged.run is None:
        unmatched = report_unmatched_gold(judged)
        if unmatched is None or unmatched.n_rows < unmatched.of_rows:
            return _without_strange_gold(judged)
        unknown = judged.frame.with_columns(pl.lit(None, pl.String).alias(GOLD))
        return replace(judged, frame=unknown, tally=None)
    right = judged.labels
    if right is None:
        items = pl.read_parquet(judged.run.read_bytes("items.parquet"))
        right = right_verdicts(judged.run, items).select("benchmark", "item_id", "gold")
    if right.is_empty():
        return judged
    is_meant = of_protocols(lambda one: one.has_right_option)
    if judged.labels is not None:  # may be right of any protocol; of a scale a number alone
        word = pl.col(GOLD).cast(pl.Float64, strict=False).is_null()
        is_meant = ~(of_protocols(lambda one: one.on_scales) & word).fill_null(False)
    labelled = with_labels(judged.frame, right)
    known = labelled.with_columns(pl.when(is_meant).then(GOLD).alias(GOLD))
    return replace(judged, frame=known)


def _without_strange_gold(judged: Snapshot) -> Snapshot:
    """The judgments of a file, without gold of judges none of whose words it is, said in a line."""
    columns = judged.frame.collect_schema().names()
    whose = [name for name in WHOSE if name in columns]
    if not whose:
        return judged
    rows = judged.frame.filter(is_judge(columns))
    counts = None if judged.tally is None else judged.tally.nested
    if counts is not None and GOLD in counts.units.columns:
        units = counts.units.filter(is_judge(counts.units.columns))
        rows = replace(counts, units=units).long([*whose, "item_id", GOLD]).lazy()
    found = judges_in_other_words(rows, whose)
    if found.is_empty():
        return judged
    warn_of([other_words_line(found, whose)])
    marked = judged.frame.join(
        found.lazy().select(*whose, pl.lit(True).alias("__own")),
        on=whose, how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    known = marked.with_columns(pl.when(pl.col("__own").is_null()).then(GOLD).alias(GOLD))
    return replace(judged, frame=known.drop("__own"), tally=None)


def report_unmatched_gold(
    judged: Snapshot, gold: pl.DataFrame | None = None
) -> UnmatchedGold | None:
    """Tell what of gold, of a table or of the judgments' own, is no verdict, and say so in a line.

    So is gold of the judgments' own said that differs between the rows of one question.
    """
    counts = None if judged.tally is None else judged.tally.nested
    asked = judgments_with_gold(judged.frame, counts) if gold is None else gold.with_columns(n=1)
    if counts is not None:
        kinds = counts.kinds
    else:
        there = judged.frame.collect_schema()
        answers = [name for name in ("verdict", "score") if name in there]
        kinds = judged.frame.select(answers).unique().collect(engine="streaming")
    found = find_unmatched_gold(asked.group_by(GOLD).agg(pl.col("n").sum()), kinds)
    differing = contradicting(asked) if gold is None else None
    lines = [found and found.line(), differing]
    warn_of(line for line in lines if line and line not in judged.notes)
    return found


def beside_table(path: str, flag: str) -> pl.DataFrame:
    """A table that a flag names beside the judgments, read as they are."""
    try:
        source = one_column_a_name(read_source(path))
        warn_of(source.notes)
        with readable(source.where):
            return source.rows.collect()
    except SweepError as error:
        reason = error.reason if isinstance(error, Unreadable) else error.problem
        problem = f"{flag} cannot be read: {reason}"
        raise SweepError(problem, where=error.where, hint=error.hint) from error
