"""Leftovers: files of judgments that no record of the newest session names, and what is in them.

A writer that dies between its files and its record leaves a pair of them behind. Where many are
left, nobody died so often: their records are gone, and they are all that tells how much landed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from judgerel_ray.store.digests import UNREADABLE
from judgerel_ray.store.ledger import Look
from judgerel_ray.store.records import AttemptId, parse_attempt
from judgerel_ray.store.rundir import RunDirectory

_PART = re.compile(r"part-s(\d+)-l(\d+)-a(\d+)-[0-9a-f]+\.parquet")
_OPENED = 32
"""Files opened to count rows; the rest are taken to be alike, byte for byte."""


def parse_part(name: str) -> AttemptId | None:
    """Read whose part a file is, by its name; None if it is none.

    Examples
    --------
    >>> parse_part("data/judge=j/part-s0001-l000002-a1-00ff00ff.parquet")
    AttemptId(session=1, lease=2, attempt=1)
    """
    match = _PART.fullmatch(name.rpartition("/")[2])
    return AttemptId(*(int(part) for part in match.groups())) if match else None


def torn_parts(look: Look, sizes: Mapping[str, int]) -> dict[str, int]:
    """Files whose records are torn, or were accepted and are gone, with their bytes.

    Examples
    --------
    >>> torn_parts(Look(session=None, names=(), commits=(), broken=(), late=()), {})
    {}
    """
    torn = {parse_attempt(name) for name in look.broken} - {None}
    return {name: size for name, size in sizes.items() if torn and parse_part(name) in torn}


def unnamed_parts(look: Look, sizes: Mapping[str, int]) -> dict[str, int]:
    """Files of the newest session or a later one that no record names, with their bytes.

    One file a lease; none of leases that landed in another attempt, of attempts that were closed,
    or of torn records, and none that an earlier session left: the newest one went on without.

    Examples
    --------
    >>> unnamed_parts(Look(session=None, names=(), commits=(), broken=(), late=()), {})
    {}
    """
    newest = look.session.number if look.session else 0
    landed = {(one.session, one.lease) for one in look.commits}
    # What is late by number of session belongs to one whose own record is gone.
    known = {parse_attempt(name) for name in set(look.names).difference(look.late)}
    known |= {parse_attempt(name) for name in look.broken}
    found: dict[tuple[int, int], str] = {}
    for name in sizes:
        place = parse_part(name)
        if place is None or place.session < newest or place in known:
            continue
        if (place.session, place.lease) not in landed:
            found.setdefault((place.session, place.lease), name)
    return {name: sizes[name] for name in found.values()}


def count_rows(run: RunDirectory, parts: Mapping[str, int]) -> int:
    """Count the rows in files of these sizes; of many, a few are opened and stand for the rest.

    Examples
    --------
    >>> count_rows(RunDirectory.create("memory://doctest-rows"), {})
    0
    """
    opened = _spread(sorted(parts))
    rows = bytes_ = 0
    for name, data in run.files.read_many(opened).items():
        try:
            rows += pl.read_parquet(io.BytesIO(data), columns=["key"]).height
        except UNREADABLE:
            continue
        bytes_ += parts[name]
    if len(opened) == len(parts) or not bytes_:
        return rows
    return round(rows * sum(parts.values()) / bytes_)


def newest_part(names: Iterable[str]) -> int:
    """Highest number of a session among files; 0 where there is none.

    Examples
    --------
    >>> newest_part(["data/judge=j/part-s0003-l000002-a1-00ff00ff.parquet", "data/else"])
    3
    """
    return max((place.session for name in names if (place := parse_part(name))), default=0)


def _spread(names: Sequence[str]) -> Sequence[str]:
    """At most as many names as are opened, evenly spread."""
    step = -(-len(names) // _OPENED) or 1
    return names[::step]
