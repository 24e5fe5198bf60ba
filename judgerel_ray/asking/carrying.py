"""Copies what earlier runs of a sweep landed into a new run, so that it is not asked again.

A commit of which all is wanted goes over with the files it has: not a byte is decoded, and on one
file system their bytes are stored once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain

import polars as pl
from rich.console import Console

from judgerel_ray.asking.earlier_runs import (
    Earlier,
    Left,
    Search,
    Wanted,
    earlier_of,
    paid_again,
)
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.run.lost import agree_to_losses, stray_commits
from judgerel_ray.asking.run.opening import prepare_run
from judgerel_ray.core import FileGone, StoreError, TokenCounts
from judgerel_ray.design import AskFrame, Texts, planned_asks
from judgerel_ray.store import (
    CommitRecord,
    Losses,
    Range,
    RunDirectory,
    begin_session,
    end_session,
    land,
    land_files,
    read_manifest,
    reading,
    scan_completions,
    scan_judgments,
)
from judgerel_ray.store.generations import reader_of
from judgerel_ray.store.ledger import build_ledger
from judgerel_ray.store.parts import expected_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """How many rows went into a run, and what of earlier runs is damaged, a line each.

    ``left`` is what earlier runs hold that the run does not want; None where it lacks what it does.
    """

    n_rows: int = 0
    lacking: tuple[str, ...] = ()
    left: Left | None = None


def carry_landed(
    resolved: Resolved, out: str, earlier: Earlier, *, console: Console | None = None
) -> Carried:
    """Land in a run what it plans and earlier runs hold, in a session of its own.

    Keys are of what is asked, so a row of an earlier run is the row that asking again would give,
    but for what a model that is served elsewhere would do by now. Tokens and seconds stay with the
    run that spent them.

    A file of an earlier run that is damaged is said, and what it held stays open: a run before it
    may hold that, too, and else it is asked again. Judgments of which only the texts are lost, and
    that no run holds with theirs, go over without: their verdicts count.

    What the run itself has lost is told on the console, as where it is gone on with.

    Effects: makes the run directory, lands rows. Retry: safe, carries what is not there yet.
    """
    wanted = Wanted.of(planned_asks(resolved.frames, earlier.texts, at_most=True))
    # Replications between those that two asks of a condition ask are closed as if they were there.
    is_plain = bool(wanted.is_open.all())
    search = Search(runs=earlier.runs, wanted=wanted)
    commits = search.commits()
    first = next((one for one in commits if wanted.has_open(one[1])), None)
    if first is None:
        return Carried(left=search.left if is_plain else None)
    plan = plan_resolved(resolved)
    run = prepare_run(resolved, plan, out, None)
    console = console or Console(stderr=True)

    def agree(losses: Losses) -> None:
        """Refuse only what no other run holds: the rest is carried below."""
        if losses.damaged or losses.unfounded:
            every = earlier_of(resolved, (*earlier.runs, run))
            losses = paid_again(losses, resolved.frames, every)
        agree_to_losses(run, console, losses)

    session = begin_session(run, strays=partial(stray_commits, run, resolved, plan), agree=agree)
    number, n_rows, lease = session.number, 0, 0
    lacking: list[str] = []
    reader = reader_of(read_manifest(run))
    manifests: dict[str, Mapping[str, object]] = {}
    planned = cache(lambda: _planned_parents(resolved.frames, earlier.texts))
    without_texts: list[tuple[RunDirectory, CommitRecord]] = []

    def again() -> Iterator[tuple[RunDirectory, CommitRecord, bool]]:
        """What is to go over; last what no run holds with its texts."""
        yield from ((*one, True) for one in chain([first], commits))
        yield from ((*one, False) for one in without_texts)

    try:
        for commit in session.ledger.commits:
            wanted.close(commit.conditions)
        del session  # what a run that is gone on with holds is not looked at again
        for source, commit, has_texts in again():
            if not wanted.n_open:
                break
            conditions = wanted.take(commit)
            if conditions:
                lease += 1
                try:
                    if source.url not in manifests:
                        manifests[source.url] = read_manifest(source)
                    engine = _facts(source, commit, manifests[source.url], reader)
                    rows = _carry(
                        source, commit, conditions, run, number, lease, engine, planned,
                        has_texts=has_texts,
                    )  # fmt: skip
                except _TextsLostError as error:
                    wanted.reopen(conditions)
                    search.damaged.add(source.url)
                    without_texts.append((source, commit))
                    # What is gone is told by whatever goes on with the run.
                    lacking += [] if error.is_gone else [str(error)]
                except _DamagedError as error:
                    wanted.reopen(conditions)
                    search.damaged.add(source.url)
                    lacking.append(str(error))
                else:
                    n_rows += rows
    finally:
        end_session(run, number)
    left = search.left if is_plain and not lacking and not without_texts else None
    return Carried(n_rows=n_rows, lacking=tuple(lacking), left=left)


class _DamagedError(Exception):
    """What a commit of an earlier run landed cannot be read any more."""


class _TextsLostError(Exception):
    """Texts that only explain judgments cannot be read any more."""

    def __init__(self, error: StoreError) -> None:
        super().__init__(f"carried without texts: {error.sentence}")
        self.is_gone = isinstance(error, FileGone)


def _facts(
    source: RunDirectory, commit: CommitRecord, manifest: Mapping[str, object], reader: str
) -> dict[str, object]:
    """What served a commit, whence it is carried, and by which reader, where not by the run's own.

    Rows go over as they were read: to ask them again for that would cost what asking costs.
    """
    facts = {**commit.engine, "carried_from": f"{source.url}/{commit.name}"}
    facts.pop("reader_version", None)
    read_by = reader_of(manifest, commit.engine)
    return facts if read_by == reader else {**facts, "reader_version": read_by}


def _carry(
    source: RunDirectory,
    commit: CommitRecord,
    conditions: Mapping[str, tuple[Range, ...]],
    run: RunDirectory,
    session: int,
    lease: int,
    engine: Mapping[str, object],
    planned: Callable[[], frozenset[str]],
    *,
    has_texts: bool,
) -> int:
    """Land rows of a commit in another run: with its files if it is all of them.

    Of a part, answers that nothing planned stands on are no parents: the run may not hold them.
    """
    is_whole = conditions == commit.conditions
    if is_whole and land_files(
        run, source, commit, session=session, lease=lease, engine=engine, has_texts=has_texts
    ):
        return commit.rows
    only = build_ledger(0, [commit])
    chosen = pl.col("key").is_in(expected_keys(conditions))
    try:
        with reading(source.url):
            rows = scan_judgments(source, ledger=only).filter(chosen).collect()
    except StoreError as error:
        raise _DamagedError(f"not carried: {error.sentence}") from error
    texts: pl.DataFrame | CommitRecord = commit
    if has_texts:
        try:
            with reading(source.url):
                texts = scan_completions(source, ledger=only).filter(chosen).collect()
        except StoreError as error:
            if commit.holds_answers:
                raise _DamagedError(f"not carried: {error.sentence}") from error
            raise _TextsLostError(error) from error
    parents = commit.parents
    if not is_whole:
        parents = tuple(key for key in parents if key in planned())
    landed = land(
        run,
        session=session,
        lease=lease,
        attempt=commit.attempt,
        judge=commit.judge,
        judgments=rows,
        completions=texts,
        conditions=conditions,
        tokens=TokenCounts(),
        seconds=0.0,
        engine=engine,
        parents=parents,
    )
    return rows.height if landed else 0


def _planned_parents(frames: Sequence[AskFrame], texts: Texts) -> frozenset[str]:
    """Keys of all answers that planned prompts hold."""
    return frozenset(key for ask in planned_asks(frames, texts) for key in ask.condition.parents)
