"""Tables that a run writes when it ends; the one place where asking calls analyses.

What each analysis makes of landed rows is a pure function of its own; here it is handed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product

import polars as pl

from judgerel_ray.analyses.confusion.matrices import Scored, confusion_table
from judgerel_ray.analyses.distributions.settled import settled_row
from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.run.pending import landed_texts
from judgerel_ray.asking.run.rounds import (
    CONDITION_COLUMNS,
    ItemPlace,
    LandedReplications,
    landed_verdicts,
)
from judgerel_ray.core import request_key
from judgerel_ray.design import (
    AskFrame,
    answer_names,
    build_wave,
    goal_of,
)
from judgerel_ray.measuring.distributions import PLACE, distribution_table
from judgerel_ray.store import Ledger, RunDirectory, scan_completions, scan_judgments, write_vouched
from judgerel_ray.store.made_tables import CONFUSIONS, DISTRIBUTIONS, SETTLED
from judgerel_ray.tables import Settled

REPLY_COLUMNS = (
    "protocol", "benchmark", "item_id", "template", "temperature", "top_k", "top_p", "responder",
)  # fmt: skip
ORDER = ("judge", *REPLY_COLUMNS, "option_order")


def write_distributions(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> int | None:
    """Lay out the verdict distributions of a run from what landed of it.

    Effects: replaces one file, made of what landed and of nothing else. Retry: safe.
    """
    if not any(frame.ask.mode == "exact" for frame in resolved.frames):
        return None
    asked = (pl.col("stage") == "exact") & pl.col("outcome").is_null()
    places = scan_judgments(run, ledger=ledger).filter(asked).select("key", *PLACE)
    texts = scan_completions(run, columns=("key", "text"), ledger=ledger)
    rows = places.join(texts, on="key", how="inner").sort(*PLACE, nulls_last=True).collect()
    found = [(row, row["text"]) for row in rows.iter_rows(named=True) if row["text"]]
    table = distribution_table(found)
    return _write(run, DISTRIBUTIONS, table)


def write_settled(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> int | None:
    """Lay out what adaptive replication found, from what landed and from nothing else.

    Effects: replaces one file. Retry: safe.
    """
    frames = [frame for frame in resolved.frames if frame.ask.adaptive is not None]
    if not frames:
        return None
    rows: list[dict[str, object]] = []
    for judge in dict.fromkeys(voice.name for frame in frames for voice in frame.judges):
        frames_of_judge = [
            frame for frame in frames if judge in {voice.name for voice in frame.judges}
        ]
        rows += settled_rows(judge, frames_of_judge, landed_verdicts(run, ledger, judge))
    empty = Settled.create_empty()
    table = pl.DataFrame(rows, schema=empty.schema) if rows else empty
    return _write(run, SETTLED, table.sort(*ORDER, nulls_last=True))


def settled_rows(
    judge: str, frames: Sequence[AskFrame], landed: Mapping[ItemPlace, LandedReplications]
) -> Iterator[dict[str, object]]:
    """What was found of every condition of a judge that landed anything."""
    asked = _adaptive_asks(frames)
    for place, found in landed.items():
        values = dict(zip(CONDITION_COLUMNS, place, strict=True))
        frame, options = asked.get(tuple(values[key] for key in REPLY_COLUMNS), (None, ()))
        if frame is None:
            continue  # of an ask that repeats a fixed number of times
        rule = frame.stopping(float(str(values["temperature"])))
        if rule is None:
            continue
        goal = goal_of(found.codes(options), len(options) + 1, rule)
        yield {
            "judge": judge,
            **{key: values[key] for key in CONDITION_COLUMNS if key in Settled.column_names()},
            **settled_row(
                goal.seen,
                options,
                rule=rule,
                is_open=not goal.is_reached,
                has_failed=found.has_failed,
            ),
        }


def _adaptive_asks(frames: Sequence[AskFrame]) -> dict[ItemPlace, tuple[AskFrame, tuple[str, ...]]]:
    """Which adaptive ask a condition is of, and its verdicts, by what its rows record.

    Asks that these columns do not tell apart have one menu and one rule, or they are refused.
    """
    found: dict[ItemPlace, tuple[AskFrame, tuple[str, ...]]] = {}
    for frame in frames:
        ask = frame.ask
        for item in frame.items:
            judged: tuple[str | None, ...] = (None,)
            if frame.protocol.traits.judges_singly:
                judged = answer_names(frame, item)
            name = (ask.protocol, item.benchmark, item.item_id)
            for template, temperature, responder in product(
                frame.templates, frame.temperatures, judged
            ):
                sampling = (temperature, ask.top_k, ask.top_p)
                options = frame.protocol.verdicts(frame, item, template)
                found[*name, template.name, *sampling, responder] = (frame, options)
    return found


def write_confusions(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> int | None:
    """Lay out the matrices of a run from what landed of it.

    Effects: replaces one file, made of what landed and of nothing else. Retry: safe.
    """
    frames = [frame for frame in resolved.frames if frame.protocol.traits.makes_matrices]
    if not frames:
        return None
    texts = landed_texts(run, ledger)
    landed = _landed_reads(run, ledger)
    tables = []
    for frame in frames:
        scored = []
        for voice in frame.judges:
            for work in build_wave(frame, frame.n_waves - 1, voice, texts):
                for ask in work.every:
                    key = request_key(ask.condition.condition_key, 0)
                    if key in landed:
                        read = landed[key] or []
                        one = Scored(condition=ask.condition, mode=frame.ask.mode, read=read)
                        scored.append(one)
        tables.append(
            confusion_table(scored, last_token=frame.protocol.reads_last_token(frame.ask))
        )
    return _write(run, CONFUSIONS, pl.concat(tables))


def _write(run: RunDirectory, name: str, table: pl.DataFrame) -> int:
    """Write a table that the manifest vouches for; how many rows it has."""
    data = BytesIO()
    table.write_parquet(data)
    write_vouched(run, name, data.getvalue())
    return table.height


def _landed_reads(run: RunDirectory, ledger: Ledger) -> dict[str, list[dict[str, object]] | None]:
    """Log-probabilities that landed, by key; None where a request could never be sent."""
    keys = scan_judgments(run, columns=("key", "role"), ledger=ledger)
    keys = keys.filter(pl.col("role") == "scorer").select("key")
    reads = scan_completions(run, columns=("key", "logprobs"), ledger=ledger)
    frame = keys.join(reads, on="key", how="left").collect()
    return dict(zip(frame["key"], frame["logprobs"].to_list(), strict=True))
