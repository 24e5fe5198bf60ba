"""Landed rows of earlier refreshes that a new run plans, too: copied, and not asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.run.lost import stray_commits
from judgerel_ray.asking.run.opening import open_run
from judgerel_ray.asking.run.pending import landed_texts, owed_parts
from judgerel_ray.core import Ask, TokenCounts, request_key
from judgerel_ray.design import AskFrame, Texts, build_wave, voices_of
from judgerel_ray.store import (
    CommitRecord,
    Ledger,
    Range,
    RunDirectory,
    begin_session,
    end_session,
    land,
    read_whole_ledger,
    reading,
    scan_completions,
    scan_judgments,
)
from judgerel_ray.store.ledger import build_ledger
from judgerel_ray.store.ranges import overlap, union


def planned_asks(
    frames: Sequence[AskFrame], texts: Texts, *, at_most: bool = False
) -> Iterator[Ask]:
    """Everything asked in all waves that these landed texts allow.

    What can never be sent is among it: it lands as failed. Of adaptive asks it is the first block,
    or with `at_most` all that they may ask.
    """
    for frame in frames:
        for wave in range(frame.n_waves):
            grows = at_most and frame.ask.adaptive is not None and wave == frame.judging_wave
            for voice in voices_of(frame, wave):
                for work in build_wave(frame, wave, voice, texts):
                    for ask in (*work.asks, *(ask for ask, _ in work.impossible)):
                        most = frame.most_replications(ask.condition.temperature)
                        yield replace(ask, n=most) if grows else ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """What landed in several runs together: their ledgers, and texts that later prompts hold."""

    runs: tuple[tuple[RunDirectory, Ledger], ...]
    together: Ledger
    texts: Mapping[str, str | None]

    def is_pending(self, frames: Sequence[AskFrame]) -> bool:
        """Whether anything that is asked has landed in none of them."""
        asks = planned_asks(frames, self.texts)
        return any(owed_parts(ask, self.together) for ask in asks)


def landed_in(runs: Sequence[RunDirectory], *, with_texts: bool) -> Landed:
    """Look at what landed in several runs.

    Effects: reads. Cost: one look at the records of each run; texts of answers where wanted.
    """
    looks = tuple((run, read_whole_ledger(run)) for run in runs)
    commits = [commit for _, ledger in looks for commit in ledger.commits]
    texts: dict[str, str | None] = {}
    for run, ledger in looks if with_texts else ():
        texts |= landed_texts(run, ledger)
    return Landed(runs=looks, together=build_ledger(0, commits), texts=texts)


def carry_landed(resolved: Resolved, out: str, earlier: Landed) -> int:
    """Copy into a run what it plans and earlier runs hold, in a session of its own.

    Keys are of what is asked, so a row of an earlier run is the row that asking again would give,
    but for what a model that is served elsewhere would do by now. Tokens and seconds stay with the
    run that spent them.

    Effects: makes the run directory, lands rows. Retry: safe, copies what is not there yet.

    Returns
    -------
    int
        Rows copied.
    """
    wanted: dict[str, tuple[str, tuple[Range, ...]]] = {}
    for ask in planned_asks(resolved.frames, earlier.texts, at_most=True):
        key, judge = ask.condition.condition_key, ask.condition.judge
        known = wanted.get(key, (judge, ()))[1]
        wanted[key] = (judge, union((*known, (ask.first, ask.n))))
    landed = earlier.together.landed
    if not any(
        overlap(landed.get(key, ()), one) for key, (_, asked) in wanted.items() for one in asked
    ):
        return 0
    plan = plan_resolved(resolved)
    run = open_run(resolved, plan, out, None)
    session = begin_session(run, strays=lambda ledger: stray_commits(run, resolved, plan, ledger))
    n_rows = 0
    try:
        held = {key: set(_numbers(ranges)) for key, ranges in session.ledger.landed.items()}
        lease = 0
        for source, ledger in reversed(earlier.runs):
            for commit in ledger.commits:
                conditions = _taken(commit, wanted, held)
                if conditions:
                    lease += 1
                    n_rows += _copy(source, ledger, commit, conditions, run, session.number, lease)
    finally:
        end_session(run, session.number)
    return n_rows


def _taken(
    commit: CommitRecord,
    wanted: Mapping[str, tuple[str, tuple[Range, ...]]],
    held: dict[str, set[int]],
) -> dict[str, tuple[Range, ...]]:
    """What of a commit is wanted and not held yet; `held` is added to."""
    found: dict[str, tuple[Range, ...]] = {}
    for key, ranges in commit.conditions.items():
        judge, asked = wanted.get(key, ("", ()))
        if judge != commit.judge:
            continue
        there = held.setdefault(key, set())
        fresh = {n for one in ranges for n in overlap(asked, one)} - there
        if fresh:
            there |= fresh
            found[key] = union([(n, 1) for n in fresh])
    return found


def _copy(
    source: RunDirectory,
    ledger: Ledger,
    commit: CommitRecord,
    conditions: Mapping[str, tuple[Range, ...]],
    run: RunDirectory,
    session: int,
    lease: int,
) -> int:
    """Land some rows of a commit in another run."""
    keys = [request_key(key, n) for key, ranges in conditions.items() for n in _numbers(ranges)]
    only = build_ledger(ledger.session, [commit])
    chosen = pl.col("key").is_in(keys)
    with reading(source.url):
        rows = scan_judgments(source, ledger=only).filter(chosen).collect()
        texts = scan_completions(source, ledger=only).filter(chosen).collect()
    land(
        run,
        session=session,
        lease=lease,
        attempt=1,
        judge=commit.judge,
        judgments=rows.with_columns(attempt=pl.lit(1, dtype=rows.schema["attempt"])),
        completions=texts,
        conditions=conditions,
        tokens=TokenCounts(),
        seconds=0.0,
        engine={**commit.engine, "carried_from": f"{source.url}/{commit.name}"},
        parents=commit.parents,
    )
    return rows.height


def _numbers(ranges: Sequence[Range]) -> Iterator[int]:
    """The replications of ranges."""
    return (n for first, count in ranges for n in range(first, first + count))
