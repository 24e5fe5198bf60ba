"""Packs: attempt records of a session that ended in one file, so that later looks read few files.

``commits/session-0001.pack`` is a sealed header, and after it the bytes of records, compressed. The
header names the session by the nonce of its record, so that a pack of another run is none of this
one, and holds the SHA-256 of what follows. A record never changes once it is created, and the file
of each stays: a pack that is gone, torn or altered costs the reads that it would have saved.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from judgerel_ray.core import StoreError
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.records import (
    FOLDER,
    AttemptId,
    CommitRecord,
    is_whole_record,
    numbered_names,
    parse_attempt,
    read_attempt,
    seal,
    session_name,
    unseal,
)
from judgerel_ray.store.rundir import RunDirectory

MIN_RECORDS = 64
"""Records that make a pack worth its write: fewer are two rounds of parallel reads of a bucket."""
_BATCH = 256  # records held at a time while a pack is written
_LEVEL = 1  # of gzip: digests, most of a record, hardly get smaller at higher ones
_HEADER_END = b"\n}\n"


pack_name, parse_pack = numbered_names("session-", ".pack")  # of a session


def packed_records(
    run: RunDirectory, names: Iterable[str], wanted: Collection[str]
) -> dict[str, CommitRecord | AttemptId]:
    """Read what packs hold of some records, by name; those that are not whole are left out.

    Examples
    --------
    >>> packed_records(RunDirectory.create("memory://doctest-packed"), (), ())
    {}
    """
    found: dict[str, CommitRecord | AttemptId] = {}
    left, identity = set(wanted), run.identity
    for number in sorted(number for name in names if (number := parse_pack(name))):
        # A pack has no record of a session later than its own.
        if not any(one.session <= number for name in left if (one := parse_attempt(name))):
            continue
        for name, data in _commit_pack_entries(run, number):
            if name in left and (record := read_attempt(name, data, identity)) is not None:
                found[name] = record
                left.discard(name)
    return found


def leave_pack(
    run: RunDirectory, session: int, names: Collection[str], counting: Collection[str]
) -> bool:
    """Pack the records that count and that no earlier pack holds, if they are many.

    Records that are gone and that an earlier pack holds are created again.

    Examples
    --------
    >>> leave_pack(RunDirectory.create("memory://doctest-leave-pack"), 1, (), ())
    False

    Notes
    -----
    Effects: at most one file in commits/, whole or not at all, and records that were gone. Retry:
    safe. Cost: every record that is not packed yet is read once.
    """
    there, left = set(names), set(counting)
    for number in sorted(number for name in names if (number := parse_pack(name))):
        for name, data in _commit_pack_entries(run, number) if number != session else ():
            if name in left:
                left.discard(name)
                if name not in there:
                    run.create_exclusive(f"{FOLDER}/{name}", data)
    opened_by = f"{FOLDER}/{session_name(session)}"
    opening = None
    if len(left) >= MIN_RECORDS:
        opening = unseal(run.files.find(opened_by), opened_by, run.identity)
    if opening is None:
        return False
    body, ordered = io.BytesIO(), sorted(left)
    with gzip.GzipFile(fileobj=body, mode="wb", compresslevel=_LEVEL, mtime=0) as file:
        for start in range(0, len(ordered), _BATCH):
            places = [f"{FOLDER}/{name}" for name in ordered[start : start + _BATCH]]
            for place, data in run.files.read_many(places).items():
                file.write(f"{place.removeprefix(f'{FOLDER}/')} {len(data)}\n".encode())
                file.write(data)
    packed = body.getvalue()
    header = {"kind": "pack", "number": session, "session": opening["nonce"]}
    place = f"{FOLDER}/{pack_name(session)}"
    sealed = seal({**header, "sha256": sha256(packed)}, place, run.identity)
    run.write_bytes(place, sealed + packed)
    return True


def is_whole_file(name: str, files: Mapping[str, bytes], run: str) -> bool:
    """Whether a file in commits/ holds what was written, given the files beside it by name.

    Examples
    --------
    >>> files = {"session-0001.json": seal({}, "commits/session-0001.json"), "a.pack": b""}
    >>> [is_whole_file("session-0001.json", files, run) for run in ("", "1")]
    [True, False]
    """
    number = parse_pack(name)
    if number is None:
        return is_whole_record(name, files[name], run)
    return _commit_pack_body(number, files[name], files.get(session_name(number)), run) is not None


def _commit_pack_entries(run: RunDirectory, number: int) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the records in a pack; none of one that is gone, torn or altered."""
    data = opening = None
    # What else lies in the store may be readable; if it is not, the records' own reader says so.
    with suppress(StoreError):
        data = run.files.find(f"{FOLDER}/{pack_name(number)}")
        opening = run.files.find(f"{FOLDER}/{session_name(number)}")
    body = _commit_pack_body(number, data, opening, run.identity)
    if body is None:
        return
    with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
        while line := file.readline():
            name, _, size = line.decode().partition(" ")
            yield name, file.read(int(size))


def _commit_pack_body(
    number: int, data: bytes | None, opening: bytes | None, run: str
) -> bytes | None:
    """What follows the header of a pack; None where it is not whole, or of another session."""
    head, end, body = (data or b"").partition(_HEADER_END)
    header = unseal(head + end, f"{FOLDER}/{pack_name(number)}", run)
    session = unseal(opening, f"{FOLDER}/{session_name(number)}", run)
    if header is None or session is None:
        return None
    stated = tuple(header.get(key) for key in ("kind", "number", "session", "sha256"))
    return body if stated == ("pack", number, session["nonce"], sha256(body)) else None
