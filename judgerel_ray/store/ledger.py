"""The ledger: what landed, read from the commit records that count.

A record counts if the newest session accepted it when it opened, or if it belongs to the newest
session itself. What an older session writes later (a driver cut off from the world, an actor that
outlived it) is never read.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Self

import polars as pl

from judgerel_ray.core import StoreError, TokenCounts, request_key
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.generations import as_read, older_files, read_generations
from judgerel_ray.store.packs import packed_records
from judgerel_ray.store.records import (
    FOLDER,
    AttemptId,
    CommitRecord,
    Range,
    SessionRecord,
    end_name,
    gaps,
    overlap,
    parse_attempt,
    parse_end,
    parse_session,
    read_at_end,
    read_attempt,
    read_session,
    sealed_run,
    session_name,
    union,
)
from judgerel_ray.store.rundir import MANIFEST, RunDirectory
from judgerel_ray.tables import count_outcomes

_BATCH = 256  # records whose bytes are held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTotals:
    """What landed of one judge: rows, outcomes, tokens, and seconds of engine time.

    ``rows`` and ``outcomes`` count every request once, ``outcomes`` only rows that have one; a
    responder's answers have none. ``tokens``, ``seconds`` and ``thoughts`` are what engines spent
    and wrote, on rows that an earlier commit holds, too.
    """

    rows: int
    outcomes: Mapping[str, int]
    tokens: TokenCounts
    seconds: float
    thoughts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What landed in a run, as of one look at its commits.

    Attributes
    ----------
    session : int
        Newest session; 0 before the first.
    commits : tuple of CommitRecord
        Those that count, by session, lease, attempt.
    landed : mapping
        Condition key to its landed replications, as sorted ranges (first, n).
    judges : mapping
        Judge to its totals.
    duplicates : mapping
        Name of a commit to the (condition key, replication) pairs in it that an earlier commit
        also holds; readers drop them. Empty unless a file system broke its promises.
    broken : tuple of str
        Names of records that are torn, altered or gone; they count as none, their rows are pending.
    """

    session: int
    commits: tuple[CommitRecord, ...]
    landed: Mapping[str, tuple[Range, ...]]
    judges: Mapping[str, JudgeTotals]
    duplicates: Mapping[str, tuple[tuple[str, int], ...]]
    broken: tuple[str, ...] = ()

    def owed(self, condition_key: str, n: int) -> tuple[Range, ...]:
        """Name the replications 0 .. n - 1 of a condition that have not landed, as ranges.

        Examples
        --------
        >>> build_ledger(0, []).owed("00", 100)
        ((0, 100),)
        """
        return gaps(self.landed.get(condition_key, ()), n)

    @property
    def commit_names(self) -> tuple[str, ...]:
        """File names of the commits that count."""
        return tuple(record.name for record in self.commits)

    @property
    def rows(self) -> Mapping[str, int]:
        """Rows landed, by judge."""
        return {judge: totals.rows for judge, totals in self.judges.items()}

    @property
    def n_rows(self) -> int:
        """Rows landed, of all judges."""
        return sum(totals.rows for totals in self.judges.values())

    @property
    def tokens(self) -> TokenCounts:
        """Tokens computed, of all judges."""
        return sum((totals.tokens for totals in self.judges.values()), TokenCounts())


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedRun(RunDirectory):
    """A run directory as of one look at its records: whatever scans it looks no more."""

    ledger: Ledger = field(repr=False, compare=False)

    @classmethod
    def of(cls, run: RunDirectory, ledger: Ledger) -> Self:
        """A run with what a look at it found."""
        known = {one.name: getattr(run, one.name) for one in fields(RunDirectory)}
        return cls(**known, ledger=ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitsLook:
    """One look at commits/: the newest session, the records that count, and what is broken.

    ``names`` are of the files there, and of records that packs hold. ``late`` are records of older
    sessions that the newest one did not accept. ``commits`` are as the newest generation read them;
    ``older`` has the files of all readings, and their digests.
    """

    session: SessionRecord | None
    names: tuple[str, ...]
    commits: tuple[CommitRecord, ...]
    broken: tuple[str, ...]
    late: tuple[str, ...]
    older: Mapping[str, str] = field(default_factory=dict)


def read_ledger(run: RunDirectory, *, since: Ledger | None = None) -> Ledger:
    """Read what landed.

    Parameters
    ----------
    run : RunDirectory
        The run; it may be written to meanwhile.
    since : Ledger, optional
        An earlier look of the same session: its records are not read again, as none ever changes.

    Returns
    -------
    Ledger
        Everything landed before the call, and possibly some of what lands during it.

    Raises
    ------
    StoreError
        If the directory cannot be read.

    Examples
    --------
    >>> read_ledger(RunDirectory.create("memory://doctest-ledger")).n_rows
    0

    Notes
    -----
    Effects: none. Cost: one listing, two reads for each pack, and one small read for each record
    that no pack holds, many at a time.
    """
    look = look_at_commits(run, known=() if since is None else since.commits)
    number = look.session.number if look.session else 0
    return build_ledger(number, look.commits, broken=look.broken, run=run)


def look_at_commits(
    run: RunDirectory,
    *,
    known: Iterable[CommitRecord] = (),
    as_landed: bool = False,
    packed: bool = True,
) -> CommitsLook:
    """Read the records that count, but for those `known`, and name those that do not.

    With `as_landed` they are as they landed, whatever generations read since. Unless `packed`, the
    file of each record is read, and packs are left alone.
    """
    names = run.names(FOLDER)
    session, broken_sessions = newest_session(run, names)
    if session is None:
        late = tuple(name for name in names if parse_attempt(name))
        return CommitsLook(session=None, names=names, commits=(), broken=broken_sessions, late=late)
    counting, late_names = set(session.accepted), []
    for name in names:
        place = parse_attempt(name)
        if place is not None and place.session == session.number:
            counting.add(name)
        elif place is not None and name not in counting:
            late_names.append(name)
    # What is gone of a session that ended is seen by what it had then.
    counting.update(_ended_with(run, session.number, names))
    commits = [record for record in known if record.name in counting]
    fresh = counting.difference(record.name for record in commits)
    held = packed_records(run, names, fresh) if packed else {}
    single = sorted(fresh.difference(held))
    read: dict[str, CommitRecord | AttemptId | None] = {}
    identity = run.identity
    for start in range(0, len(single), _BATCH):
        batch = single[start : start + _BATCH]
        data = run.files.read_many(f"{FOLDER}/{name}" for name in batch)
        read |= {name: read_attempt(name, data.get(f"{FOLDER}/{name}"), identity) for name in batch}
    broken = [name for name, record in read.items() if record is None]
    both = (*held.values(), *read.values())
    landed = [record for record in both if isinstance(record, CommitRecord)]
    generations, broken_generations = read_generations(run, names)
    newest = generations[-1] if generations and not as_landed else None
    commits += [as_read(newest, record) for record in landed]
    return CommitsLook(
        session=session,
        names=tuple(sorted({*names, *held})),
        commits=tuple(sorted(commits, key=lambda record: record.order)),
        broken=broken_sessions + tuple(broken) + broken_generations,
        late=tuple(late_names),
        older=older_files(generations, landed) if generations else {},
    )


def build_ledger(
    session: int,
    commits: Iterable[CommitRecord],
    *,
    broken: tuple[str, ...] = (),
    run: RunDirectory | None = None,
) -> Ledger:
    """Add commits up; the first by session, lease, attempt holds a replication claimed twice.

    Outcomes of a commit that is claimed in part are counted in its file, where the run is given.

    Examples
    --------
    >>> build_ledger(1, []).session
    1
    """
    ordered = tuple(sorted(commits, key=lambda record: record.order))
    landed: dict[str, tuple[Range, ...]] = {}
    duplicates: dict[str, tuple[tuple[str, int], ...]] = {}
    for record in ordered:
        twice: list[tuple[str, int]] = []
        for key, ranges in record.conditions.items():
            there = landed.get(key, ())
            if there:
                twice += [(key, place) for one in ranges for place in overlap(there, one)]
            merged = union((*there, *ranges))
            landed[key] = ranges if merged == ranges else merged  # one object, not two alike
        if twice:
            duplicates[record.name] = tuple(twice)
    return Ledger(
        session=session,
        commits=ordered,
        landed=landed,
        judges=_ledger_totals_by_judge(ordered, duplicates, run),
        duplicates=duplicates,
        broken=broken,
    )


def newest_session(
    run: RunDirectory, names: Iterable[str]
) -> tuple[SessionRecord | None, tuple[str, ...]]:
    """Read the newest session whose record holds, and name the broken ones above it."""
    broken: list[str] = []
    of_another = ""
    numbers = {name: number for name in names if (number := parse_session(name)) is not None}
    for name in sorted(numbers, key=lambda one: numbers[one], reverse=True):
        data = run.files.find(f"{FOLDER}/{name}")
        record = read_session(name, data, run.identity)
        if record is not None:
            broken += _gone_sessions(names, numbers.values(), record.number)
            return record, tuple(broken)
        broken.append(name)
        if sealed_run(data, f"{FOLDER}/{name}") is not None:
            of_another = name
    if of_another:
        raise StoreError(
            f"{MANIFEST} and {FOLDER}/{of_another} are of two runs",
            where={"path": run.address(MANIFEST), "record": run.address(f"{FOLDER}/{of_another}")},
            hint="put back whichever was copied over the run's own",
        )
    return None, (*broken, *_gone_sessions(names, numbers.values(), 0))


def _gone_sessions(names: Iterable[str], there: Collection[int], newest: int) -> list[str]:
    """Records of sessions after the newest that are gone: what they left shows that they were."""
    attempts = (place.session for name in names if (place := parse_attempt(name)))
    ends = (number for name in names if (number := parse_end(name)) is not None)
    later = {number for number in (*attempts, *ends) if number > newest}
    return [session_name(number) for number in sorted(later.difference(there))]


def _ended_with(run: RunDirectory, session: int, names: Collection[str]) -> tuple[str, ...]:
    """Names of the records that a session had when it ended, as far as it said so."""
    name = end_name(session)
    if name not in names:
        return ()
    return read_at_end(name, run.files.find(f"{FOLDER}/{name}"), "records", run.identity)


def _ledger_totals_by_judge(
    commits: Iterable[CommitRecord],
    duplicates: Mapping[str, tuple[tuple[str, int], ...]],
    run: RunDirectory | None,
) -> dict[str, JudgeTotals]:
    """Sum rows, outcomes, tokens and seconds by judge."""
    grouped: dict[str, list[CommitRecord]] = {}
    for record in commits:
        grouped.setdefault(record.judge, []).append(record)
    return {
        judge: JudgeTotals(
            rows=sum(record.rows - len(duplicates.get(record.name, ())) for record in records),
            outcomes=summed_counts(
                _commit_outcomes_not_held(record, duplicates.get(record.name, ()), run)
                for record in records
            ),
            tokens=sum((record.tokens for record in records), TokenCounts()),
            seconds=sum(record.seconds for record in records),
            thoughts=summed_counts(record.thoughts for record in records),
        )
        for judge, records in sorted(grouped.items())
    }


def _commit_outcomes_not_held(
    record: CommitRecord, twice: tuple[tuple[str, int], ...], run: RunDirectory | None
) -> Mapping[str, int]:
    """Outcomes of a commit's rows that no earlier commit holds."""
    if not twice:
        return record.outcomes
    if len(twice) == record.rows or run is None:
        return {} if len(twice) == record.rows else record.outcomes
    dropped = [request_key(key, replication) for key, replication in twice]
    data = run.files.find(record.data_file) or b""
    if sha256(data) != record.data_sha256:
        return {}  # it is damaged, and its rows are no longer counted by the next session
    rows = pl.read_parquet(io.BytesIO(data), columns=["key", "role", "stage", "outcome"])
    return count_outcomes(rows.filter(~pl.col("key").is_in(dropped)))


def summed_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add counts up by name, sorted."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))
