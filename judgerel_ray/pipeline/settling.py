"""What adaptive replication found: written when a run ends, and summed up for reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product

import polars as pl

from judgerel_ray.core import StoreError
from judgerel_ray.design import CORRECTNESS_LABELS, AskFrame, answer_names, goal_of, verdict_ids
from judgerel_ray.pipeline.made_tables import read_made
from judgerel_ray.pipeline.resolve import Resolved
from judgerel_ray.pipeline.rounds import TOLD_APART, Landed, Place, landed_verdicts
from judgerel_ray.reduce.settled import settled_row, settled_summary
from judgerel_ray.store import Ledger, RunDirectory, write_own
from judgerel_ray.tables import Settled

SETTLED = "settled/settled.parquet"
GROUP = ("judge", "benchmark", "protocol", "temperature")
ASKED = (
    "protocol", "benchmark", "item_id", "template", "temperature", "top_k", "top_p", "responder",
)  # fmt: skip
ORDER = ("judge", *ASKED, "option_order")


def write_settled(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> int | None:
    """Lay out what adaptive replication found, from what landed and from nothing else.

    Effects: replaces one file. Retry: safe.

    Returns
    -------
    int or None
        Rows written; None where no ask is adaptive.
    """
    frames = [frame for frame in resolved.frames if frame.ask.adaptive is not None]
    if not frames:
        return None
    rows: list[dict[str, object]] = []
    for judge in dict.fromkeys(voice.name for frame in frames for voice in frame.judges):
        mine = [frame for frame in frames if judge in {voice.name for voice in frame.judges}]
        rows += settled_rows(judge, mine, landed_verdicts(run, ledger, judge))
    empty = Settled.create_empty()
    table = pl.DataFrame(rows, schema=empty.schema) if rows else empty
    data = BytesIO()
    table.sort(*ORDER, nulls_last=True).write_parquet(data)
    write_own(run, SETTLED, data.getvalue())
    return table.height


def read_settled(run: RunDirectory) -> pl.DataFrame:
    """What adaptive replication found in a run; StoreError where it asked nothing so."""
    nothing = StoreError(
        "the run asked nothing adaptively",
        where={"run": run.url},
        hint="replications = { adaptive = 0.05, first = 5, max = 100 } in an [[ask]]",
    )
    return read_made(
        run, SETTLED, Settled, asked=lambda ask: ask.adaptive is not None, nothing=nothing
    )


def run_settled(path: str, *, by: Sequence[str] = GROUP) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What adaptive replication found in a run: every condition, and groups of them.

    Returns
    -------
    tuple of DataFrame
        The settled table, and as :func:`judgerel_ray.reduce.settled.settled_summary`.

    Raises
    ------
    StoreError
        If the path is no run, or nothing of it was asked adaptively.
    """
    table = read_settled(RunDirectory.open(path))
    return table, settled_summary(table, by=by)


def settled_of(run: RunDirectory | None) -> pl.DataFrame | None:
    """What adaptive replication found in groups; None of a file, or where nothing was asked so."""
    if run is None or not run.exists(SETTLED):
        return None
    return settled_summary(read_settled(run), by=GROUP)


def settled_rows(
    judge: str, frames: Sequence[AskFrame], landed: Mapping[Place, Landed]
) -> Iterator[dict[str, object]]:
    """What was found of every condition of a judge that landed anything."""
    asked = _asked(frames)
    for place, found in landed.items():
        told = dict(zip(TOLD_APART, place, strict=True))
        frame, options = asked.get(tuple(told[key] for key in ASKED), (None, ()))
        if frame is None:
            continue  # of an ask that repeats a fixed number of times
        rule = frame.stopping(float(str(told["temperature"])))
        if rule is None:
            continue
        goal = goal_of(found.codes(options), len(options) + 1, rule)
        yield {
            "judge": judge,
            **{key: told[key] for key in TOLD_APART if key in Settled.column_names()},
            **settled_row(
                goal.seen,
                options,
                rule=rule,
                is_open=not goal.is_reached,
                has_failed=found.has_failed,
            ),
        }


def _asked(frames: Sequence[AskFrame]) -> dict[Place, tuple[AskFrame, tuple[str, ...]]]:
    """Which adaptive ask a condition is of, and its verdicts, by what its rows record.

    Asks that these columns do not tell apart have one menu and one rule, or they are refused.
    """
    found: dict[Place, tuple[AskFrame, tuple[str, ...]]] = {}
    for frame in frames:
        ask = frame.ask
        for item in frame.items:
            judged: tuple[str | None, ...] = (None,)
            if ask.protocol == "correctness":
                judged = answer_names(frame, item)
            name = (ask.protocol, item.benchmark, item.item_id)
            for template, temperature, responder in product(
                frame.templates, frame.temperatures, judged
            ):
                sampling = (temperature, ask.top_k, ask.top_p)
                options = CORRECTNESS_LABELS if responder else verdict_ids(frame, item, template)
                found[*name, template.name, *sampling, responder] = (frame, options)
    return found
