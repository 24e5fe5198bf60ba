"""Verification: a run directory checked end to end against its own records and its own plan.

Every file is held to the digests of its record, and the rows to what the run was begun to ask.
"""

from __future__ import annotations

import io
import json
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

import polars as pl

from judgerel_ray.core import StoreError, request_key
from judgerel_ray.store.digests import UNREADABLE, sha256
from judgerel_ray.store.failures import altered_errors
from judgerel_ray.store.files import Disk
from judgerel_ray.store.generations import (
    READINGS,
    generation_name,
    newer_readings,
    parse_generation,
)
from judgerel_ray.store.ledger import CommitsLook, Ledger, build_ledger, look_at_commits
from judgerel_ray.store.losses import part_commits
from judgerel_ray.store.manifest import SWEEP_KEY, read_manifest
from judgerel_ray.store.packs import is_whole_file, parse_pack
from judgerel_ray.store.parts import expected_keys
from judgerel_ray.store.records import (
    FOLDER,
    PROGRESS,
    CommitRecord,
    parse_attempt,
    parse_end,
    read_at_end,
    read_attempt,
    session_name,
    unseal,
)
from judgerel_ray.store.rundir import RunDirectory
from judgerel_ray.store.sessions import TOKEN, live_session

_GROUP = ("judge", "judge_fingerprint", "role", "stage")
_ITEM = ("benchmark", "item_id")


FindingKind = Literal[
    "missing_file",
    "wrong_sha256",
    "unreadable_file",
    "wrong_rows",
    "wrong_keys",
    "wrong_judge",
    "texts_differ",
    "duplicate_rows",
    "unfounded",
    "unplanned_rows",
    "broken_record",
    "missing_records",
    "late_record",
    "orphan",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something verification found. A ``note`` is harmless, an ``error`` is not."""

    level: Literal["error", "note"]
    kind: FindingKind
    name: str
    message: str


def _fault(kind: FindingKind, name: str, message: str) -> Finding:
    """A finding that is an error."""
    return Finding(level="error", kind=kind, name=name, message=message)


def _remark(kind: FindingKind, name: str, message: str) -> Finding:
    """A finding that is a note."""
    return Finding(level="note", kind=kind, name=name, message=message)


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows of a run by who was asked what, and the items they are about; filled file by file."""

    groups: Counter[tuple[str, ...]] = field(default_factory=Counter)
    items: dict[tuple[str, ...], str] = field(default_factory=dict)

    def add(self, name: str, rows: pl.DataFrame, dropped: Collection[str]) -> None:
        """Count the rows of a file, but for those whose keys are dropped."""
        if not {"key", *_GROUP, *_ITEM}.issubset(rows.columns):
            return
        if dropped:
            rows = rows.filter(~pl.col("key").is_in(list(dropped)))
        for *group, n in rows.group_by(_GROUP).len().iter_rows():
            self.groups[tuple(str(one) for one in group)] += int(n)
        for item in rows.select(_ITEM).unique().iter_rows():
            self.items.setdefault(tuple(str(one) for one in item), name)


def unplanned(run: RunDirectory, counts: RowCounts) -> Iterator[Finding]:
    """Name the rows that the run's plan does not have.

    Finding: An error for every stage with more rows than the plan has requests, for rows of judges
    that are not the run's, and for items that are not; nothing of a run without a sweep.

    Examples
    --------
    >>> list(unplanned(RunDirectory.create("memory://doctest-unplanned"), RowCounts()))
    []
    """
    manifest = read_manifest(run)
    if SWEEP_KEY not in manifest:
        return
    prints = manifest.get("fingerprints")
    if isinstance(prints, Mapping):
        for (judge, fingerprint, *_), n in sorted(counts.groups.items()):
            if judge not in prints:
                yield _fault("unplanned_rows", "data", f"{n} rows of a judge {judge!r}, no such")
            elif prints[judge] != fingerprint:
                yield _fault(
                    "unplanned_rows",
                    "data",
                    f"{n} rows of another judge {judge!r}: expected fingerprint "
                    f"{prints[judge]}, got {fingerprint}",
                )
    yield from _too_many(_planned_requests_in_store(run), counts)
    yield from _foreign_items(_items_in_store(run), counts)


def _too_many(planned: Mapping[tuple[str, ...], int], counts: RowCounts) -> Iterator[Finding]:
    """Stages with more rows than the plan has requests."""
    if not planned:
        return
    landed: Counter[tuple[str, ...]] = Counter()
    for (judge, _, role, stage), n in counts.groups.items():
        landed[judge, role, stage] += n
    for group, n in sorted(landed.items()):
        most = planned.get(group, 0)
        if n > most:
            judge, role, stage = group
            where = stage if stage == role else f"{role}, {stage}"
            yield _fault(
                "unplanned_rows",
                "data",
                f"{n} rows of {judge} ({where}), {n - most} more than the plan has; "
                "judgerel run drops those that no plan has",
            )


def _foreign_items(items: Collection[tuple[str, ...]], counts: RowCounts) -> Iterator[Finding]:
    """Items that are not the run's."""
    foreign: Sequence[tuple[str, ...]] = sorted(set(counts.items).difference(items))
    if items and foreign:
        benchmark, item = foreign[0]
        yield _fault(
            "unplanned_rows",
            counts.items[foreign[0]],
            f"rows about an item that is not the run's: {benchmark} {item}"
            + (f", and {len(foreign) - 1} more such items" if len(foreign) > 1 else ""),
        )


def _planned_requests_in_store(run: RunDirectory) -> dict[tuple[str, ...], int]:
    """Requests by judge, role and stage; none where the plan cannot be read (told elsewhere)."""
    planned: Counter[tuple[str, ...]] = Counter()
    try:
        for one in json.loads(run.read_text("plan.json"))["stages"]:
            most = one.get("requests_at_most", one["requests"])
            planned[one["judge"], one["role"], one["stage"]] += int(most)
    except (StoreError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return dict(planned)


def _items_in_store(run: RunDirectory) -> set[tuple[str, ...]]:
    """The run's items by benchmark and name; none where they are gone or altered, as others tell.

    Altered bytes are not decoded: Polars may print a panic, or end the process.
    """
    try:
        frame = pl.read_parquet(io.BytesIO(run.read_bytes("items.parquet")), columns=list(_ITEM))
    except (StoreError, *UNREADABLE):
        return set()
    return {tuple(str(one) for one in row) for row in frame.select(_ITEM).iter_rows()}


@dataclass(frozen=True, slots=True, kw_only=True)
class NotingDisk(Disk):
    """Files under one folder, of which no single one ends the reading of the others.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     disk = NotingDisk(root=folder)
    ...     os.mkdir(f"{folder}/a")
    ...     disk.read_many(["a", "b"]), disk.unread
    ({'a': b''}, {'a': 'Is a directory; remove it, or put a copy of the file in its place'})
    """

    # What was asked for and could not be read, and the FIFOs, sockets, devices and links in a
    # circle that `sizes` came upon, by name: why, and what to try.
    unread: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """As of a disk, but empty where what is there cannot be read."""
        data = self._content(name)
        return Disk.read(self, name) if data is None else data

    def _content(self, name: str) -> bytes | None:
        try:
            return Disk._content(self, name)
        except StoreError as error:
            return b"" if self._note(name, error) else None

    def _size(self, name: str) -> int | None:
        with suppress(StoreError):
            return Disk._size(self, name)
        return None

    def names(self, folder: str = "") -> tuple[str, ...]:
        """As of a disk, but none where the folder cannot be read."""
        try:
            return Disk.names(self, folder)
        except StoreError as error:
            self._note(folder or ".", error)
            return ()

    def sizes(self, folder: str) -> dict[str, int]:
        """As of a disk, without what cannot be read."""
        found: dict[str, int] = {}

        def note(error: OSError) -> None:
            self._note(self._name(str(error.filename)), error)

        for here, _, names in os.walk(self.address(folder), onerror=note):
            for name in (self._name(os.path.join(here, one)) for one in names):
                try:
                    size = Disk._size(self, name)
                    if not size:
                        Disk._content(self, name)  # says what it is
                    if size is not None:
                        found[name] = size
                except StoreError as error:
                    self._note(name, error)
        return dict(sorted(found.items()))

    def _name(self, path: str) -> str:
        """Name of what lies at a path."""
        return os.path.relpath(path, self.root)

    def _note(self, name: str, error: StoreError | OSError) -> bool:
        """Note why something cannot be read, unless it is missing; tell whether it was noted."""
        cause = error.__cause__ if isinstance(error, StoreError) else error
        if isinstance(cause, FileNotFoundError | NotADirectoryError):
            return False
        why = (isinstance(cause, OSError) and cause.strerror) or str(cause)
        hint = error.hint if isinstance(error, StoreError) else None
        self.unread[name] = f"{why}; {hint or 'make it readable'}"
        return True


def verify_run(run: RunDirectory) -> list[Finding]:
    """Check a run directory end to end.

    Parameters
    ----------
    run : RunDirectory
        What is checked; nothing in it is changed.

    Returns
    -------
    list of Finding
        Errors: the run's own sweep, plan or items, or a table that it made, missing or other than
        the manifest vouches for; a committed file missing, altered, or with other rows or keys
        than its record says; texts that do not match judgments; a request held twice; rows that
        stand on answers the run does not hold, or that its plan does not have; a record torn or
        altered, and records that are gone, as the end of their session or files without them
        tell; a file of failures or of progress altered or gone, or a record that counts no longer
        altered; what cannot be read, or is no file (a FIFO). Notes: files no commit names, records
        that came too late to count, and altered ones that a later session went on without. Empty
        if all is well.

    Raises
    ------
    StoreError
        If the directory cannot be read at all, as where its manifest is gone.

    Examples
    --------
    >>> verify_run(RunDirectory.create("memory://doctest-verify"))
    []

    Notes
    -----
    Effects: none. Cost: reads every file once, one commit's pair at a time; holds all keys.
    """
    if not run.is_local:
        return _store_file_findings(run)
    disk = NotingDisk(root=run.url)
    found = _store_file_findings(run.read_through(disk))
    disk.sizes("")  # what nothing asks for, too
    unread = [_fault("unreadable_file", *one) for one in sorted(disk.unread.items())]
    return unread + [one for one in found if one.name not in disk.unread]


def _store_file_findings(run: RunDirectory) -> list[Finding]:
    """What :func:`verify_run` finds in files that can be read."""
    look = look_at_commits(run)
    ledger = build_ledger(look.session.number if look.session else 0, look.commits)
    findings = list(_verify_commit_records(run, look, ledger))
    keys: list[pl.Series] = []
    counts = RowCounts()
    for commit in ledger.commits:
        twice = ledger.duplicates.get(commit.name, ())
        dropped = {request_key(key, replication) for key, replication in twice}
        judgments: list[pl.DataFrame] = []
        findings.extend(_verify_commit_parts(run, commit, judgments))
        for rows in judgments:
            keys.append(rows["key"])
            counts.add(commit.data_file, rows, dropped)
    findings.extend(_repeated_keys_in_parts(keys, ledger))
    findings.extend(unplanned(run, counts))
    findings.extend(_verify_replaced_parts(run, look))
    findings.extend(_orphaned_store_files(run, look))
    findings.extend(_run_files(run))
    findings.extend(_notes_of_progress(run, look))
    return findings


def _verify_commit_records(
    run: RunDirectory, look: CommitsLook, ledger: Ledger
) -> Iterator[Finding]:
    """Check the records themselves."""
    for name in look.broken:
        here = "torn or altered" if name in look.names else "gone"
        yield _fault(
            "broken_record", f"{FOLDER}/{name}", f"the record is {here}; it counts as none"
        )
    yield from _verify_packed_commits(run, look)
    late = run.files.read_many(f"{FOLDER}/{name}" for name in look.late)
    for name in look.late:
        if isinstance(read_attempt(name, late.get(f"{FOLDER}/{name}"), run.identity), CommitRecord):
            yield _remark("late_record", f"{FOLDER}/{name}", "not accepted by the newest session")
    losses = part_commits(run, look)[1].counted(run)
    if FOLDER in losses.folders:
        yield _fault(
            "missing_records",
            FOLDER,
            "judgments have landed, and the records of sessions that say which count are gone: "
            "none counts",
        )
    # A driver at work has files whose records it is about to write.
    elif losses.has_gone_records and not live_session(run):
        yield _fault(
            "missing_records",
            FOLDER,
            f"{len(losses.unnamed)} files of the newest session have no record, about "
            f"{losses.n_unnamed} rows: more than a driver leaves that is killed",
        )
    for one in losses.unfounded:
        yield _fault(
            "unfounded",
            f"{FOLDER}/{one.name}",
            f"{one.rows} rows, some on answers the run does not hold; judgerel run drops them",
        )
    for name, twice in ledger.duplicates.items():
        yield _fault(
            "duplicate_rows",
            f"{FOLDER}/{name}",
            f"{len(twice)} requests that an earlier commit holds; readers drop them",
        )


def _verify_packed_commits(run: RunDirectory, look: CommitsLook) -> Iterator[Finding]:
    """Check the file of each record where packs were read in its place."""
    if not any(parse_pack(name) for name in look.names):
        return
    single = look_at_commits(run, packed=False)
    for name in sorted(set(single.broken).difference(look.broken)):
        here = "torn or altered; remove it" if name in single.names else "gone"
        yield _fault(
            "broken_record",
            f"{FOLDER}/{name}",
            f"the record is {here}; a pack holds it, so that its rows count and none is asked "
            "again, and the next run puts it back",
        )
    commits = {one.name: one for one in single.commits}
    for one in look.commits:
        if commits.get(one.name, one) != one:
            other = "not the record that a pack holds, which is the one that counts"
            yield _fault("broken_record", f"{FOLDER}/{one.name}", other)


def _verify_commit_parts(
    run: RunDirectory, commit: CommitRecord, judgments: list[pl.DataFrame]
) -> Iterator[Finding]:
    """Check a commit's two files; the judgments that can be read are added to `judgments`."""
    frames = []
    there = run.files.read_many((commit.data_file, commit.texts_file))
    for name, expected in (
        (commit.data_file, commit.data_sha256),
        (commit.texts_file, commit.texts_sha256),
    ):
        data = there.get(name)
        if data is None:
            yield _fault("missing_file", name, f"named by {commit.name}, not there")
            continue
        if sha256(data) != expected:
            # What is in it is nobody's any more, and decoding it may end the process.
            yield _fault("wrong_sha256", name, f"not the bytes {commit.name} vouches for")
            continue
        frame = pl.read_parquet(io.BytesIO(data))
        if frame.height != commit.rows:
            yield _fault("wrong_rows", name, f"expected {commit.rows} rows, got {frame.height}")
        frames.append((name, frame))
    for name, frame in frames:
        yield from _verify_part_contents(name, frame, commit)
    if frames and frames[0][0] == commit.data_file and "key" in frames[0][1].columns:
        judgments.append(frames[0][1])


def _verify_part_contents(
    name: str, frame: pl.DataFrame, commit: CommitRecord
) -> Iterator[Finding]:
    """Check the keys, and of judgments the judge."""
    is_data = name == commit.data_file
    expected = set(expected_keys(commit.conditions))
    found = set(frame["key"]) if "key" in frame.columns else set()
    if found != expected:
        yield _fault(
            "wrong_keys" if is_data else "texts_differ",
            name,
            f"{len(expected - found)} keys of the record's ranges are missing, "
            f"{len(found - expected)} are none of theirs",
        )
    if is_data and "judge" in frame.columns and (frame["judge"] != commit.judge).any():
        yield _fault("wrong_judge", name, f"rows of other judges than {commit.judge!r}")


def _repeated_keys_in_parts(keys: list[pl.Series], ledger: Ledger) -> Iterator[Finding]:
    """Count requests held more than once in the files, beyond those already named."""
    if not keys:
        return
    together = pl.concat(keys)
    n_extra = together.len() - together.n_unique()
    n_known = sum(len(twice) for twice in ledger.duplicates.values())
    if n_extra > n_known:
        yield _fault("duplicate_rows", "data", f"{n_extra - n_known} keys occur more than once")


def _verify_replaced_parts(run: RunDirectory, look: CommitsLook) -> Iterator[Finding]:
    """Check files of judgments that a later reading of the texts replaced."""
    counting = {one.data_file for one in look.commits}
    for name, expected in look.older.items():
        if name in counting:
            continue
        data = run.files.find(name)
        unused = "a later reading replaced it, and no number uses it"
        if name.startswith(f"{READINGS}/"):
            record = generation_name(int(PurePosixPath(name).name.split("-")[0]))
            unused += f"; remove {FOLDER}/{record} to forget that reading"
        if data is None:
            yield _fault("missing_file", name, f"not there; {unused}")
        elif sha256(data) != expected:
            yield _fault("wrong_sha256", name, f"not the bytes that were written; {unused}")


_NEWER = (
    "newer than every reading: a rejudge was killed, or its record is gone; judgerel rejudge reads "
    "the texts again"
)


def _orphaned_store_files(run: RunDirectory, look: CommitsLook) -> Iterator[Finding]:
    """Name the files no commit that counts names, and leftovers of writers that died."""
    named = {name for one in look.commits for name in (one.data_file, one.texts_file)}
    named.update(look.older)
    newer = newer_readings(run)
    for folder in ("data", "texts", READINGS):
        for name in run.files.sizes(folder):
            if name not in named:
                why = "no commit names it; readers do not see it"
                yield _remark("orphan", name, _NEWER if name in newer else why)
    for name in look.names:
        if name.endswith(".tmp") and parse_attempt(name) is None:
            yield _remark("orphan", f"{FOLDER}/{name}", "left by a writer that died")


def _run_files(run: RunDirectory) -> Iterator[Finding]:
    """Check what a run is begun with, and the tables it made; without a sweep it has none yet."""
    if SWEEP_KEY not in read_manifest(run):
        return
    known = run.file_digests()
    for name in sorted({*_READERS, *known}):
        data = run.files.find(name)
        if data is None:
            yield _fault("missing_file", name, "not there; the next run writes it again")
            continue
        if name in known and sha256(data) not in known[name]:
            yield _fault(
                "wrong_sha256",
                name,
                "differs from its checksum in the manifest; the next run writes it again",
            )
            continue
        try:
            _READERS.get(name, _read_stored_parquet_part)(data)
        except (ValueError, RecursionError, *UNREADABLE) as error:
            first = str(error).split("\n")[0]
            yield _fault("unreadable_file", name, f"{first}; the next run writes it again")


def _notes_of_progress(run: RunDirectory, look: CommitsLook) -> Iterator[Finding]:
    """Check what no number rests on: failures, progress, and records that count no longer."""
    for name in altered_errors(run):
        yield _fault(
            "wrong_sha256", name, "differs from the checksum in its name; it holds notes only"
        )
    data = run.files.find(PROGRESS)
    if data is not None and unseal(data, PROGRESS, run.identity) is None:
        yield _fault("wrong_sha256", PROGRESS, "torn or altered; the next run writes it again")
    token = run.files.find(TOKEN)
    if token is not None and unseal(token, TOKEN, run.identity) is None:
        yield _fault("broken_record", TOKEN, "torn or altered; the next run writes a new one")
    yield from _verify_uncounted_commits(run, look)


def _verify_uncounted_commits(run: RunDirectory, look: CommitsLook) -> Iterator[Finding]:
    """Check the records that count no longer, and the marks of sessions that ended."""
    newest = look.session.number if look.session else 0
    counting = {*look.broken, *(one.name for one in look.commits)}
    # Closed attempts of the newest session count as well.
    counting.update(n for n in look.names if (at := parse_attempt(n)) and at.session == newest)
    names = [name for name in look.names if name not in counting]
    found = run.files.read_many(f"{FOLDER}/{name}" for name in names)
    records = {place.removeprefix(f"{FOLDER}/"): data for place, data in found.items()}
    identity = run.identity
    known: dict[str, int] = {}
    for name, data in records.items():
        known |= dict.fromkeys(read_at_end(name, data, "broken", identity), parse_end(name) or 0)
    ends = [(number, name) for name in records if (number := parse_end(name))]
    last = max(ends, default=(0, ""))[1]
    beside = read_at_end(last, records[last], "beside", run.identity) if last else ()
    there = run.files.sizes_of(beside)
    for place in beside:
        if place not in there:
            gone = "missing; no number uses it, and the next run goes on without it"
            yield _fault("missing_file", place, gone)
    last_read = max((parse_generation(name) or 0 for name in look.names), default=0)
    for name in map(generation_name, range(1, last_read)):
        if name not in look.names:
            gone = "gone; a later reading counts, and no number uses it"
            yield _remark("missing_file", f"{FOLDER}/{name}", gone)
    for ended in filter(None, map(parse_end, look.names)):
        name = session_name(ended)
        if ended < newest and name not in look.names:
            finding = _remark if name in known else _fault
            gone = "gone; it no longer counts, and no number uses it"
            yield finding("missing_file", f"{FOLDER}/{name}", gone)
    for name in records:
        place = f"{FOLDER}/{name}"
        if is_whole_file(name, records, identity):
            continue
        if name in known:
            went_on = f"torn or altered; session {known[name]} went on without it"
            yield _remark("broken_record", place, went_on)
        elif parse_end(name) == newest:
            yield _fault("broken_record", place, "torn or altered: what landed is not counted")
        else:
            why = "its records are read one by one" if parse_pack(name) else "it no longer counts"
            yield _fault(
                "broken_record",
                place,
                f"torn or altered; {why}, and no number uses it; the next run records that it goes "
                "on without it",
            )


def _read_stored_parquet_part(data: bytes) -> object:
    """Read a Parquet file."""
    return pl.read_parquet(io.BytesIO(data))


_READERS: dict[str, Callable[[bytes], object]] = {
    "sweep.toml": lambda data: tomllib.loads(data.decode()),
    "plan.json": json.loads,
    "items.parquet": _read_stored_parquet_part,
}
