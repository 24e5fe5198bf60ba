"""Records in commits/: their names, fields and seals, to and from JSON.

``commits/session-0001.json`` opens a session, ``commits/s0001-l000123-a1.json`` settles an attempt
of a lease: it is either its commit or its tombstone, whichever was created first. Every record
carries a nonce, so that its writer knows it again, and the digest of its content, so that a torn
or altered one is seen and counts as none.

Replications of a condition are kept as ranges (first, n): sorted, apart, and never empty.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from judgerel_ray.core import TokenCounts, digest
from judgerel_ray.store.digests import Sections, Vouched, chosen

Range = tuple[int, int]
"""``n`` consecutive replications from ``first`` on, as (first, n)."""


def union(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Merge ranges into the fewest that hold the same replications.

    Examples
    --------
    >>> union([(5, 5), (0, 3), (3, 2), (20, 1)])
    ((0, 10), (20, 1))
    """
    merged: list[Range] = []
    for first, n in sorted(ranges):
        if n <= 0:
            continue
        if merged and first <= sum(merged[-1]):
            start, length = merged[-1]
            merged[-1] = (start, max(length, first + n - start))
        else:
            merged.append((first, n))
    return tuple(merged)


def gaps(ranges: Iterable[Range], n: int) -> tuple[Range, ...]:
    """Name the replications of 0 .. n - 1 that are in none of the ranges.

    Examples
    --------
    >>> gaps([(2, 3)], 10)
    ((0, 2), (5, 5))
    """
    missing: list[Range] = []
    start = 0
    for first, length in union(ranges):
        stop = min(first, n)
        if stop > start:
            missing.append((start, stop - start))
        start = max(start, first + length)
    if start < n:
        missing.append((start, n - start))
    return tuple(missing)


def overlap(ranges: Iterable[Range], new: Range) -> tuple[int, ...]:
    """Name the replications of `new` that are in one of the ranges, in order.

    Examples
    --------
    >>> overlap([(0, 3), (8, 10)], (2, 8))
    (2, 8, 9)
    """
    first, n = new
    return tuple(
        replication
        for start, length in union(ranges)
        for replication in range(max(start, first), min(start + length, first + n))
    )


def requests_in(conditions: Mapping[str, Iterable[Range]]) -> Iterator[tuple[str, int]]:
    """Every condition's key with each of its replications.

    Examples
    --------
    >>> list(requests_in({"00": [(0, 2)], "01": [(5, 1)]}))
    [('00', 0), ('00', 1), ('01', 5)]
    """
    for key, ranges in conditions.items():
        for first, n in ranges:
            yield from ((key, replication) for replication in range(first, first + n))


CommitFile = Literal["data_file", "texts_file"]
"""Which of the two files of a commit: its judgments, or their texts."""

FOLDER = "commits"
PROGRESS = "progress.json"
_ATTEMPT = re.compile(r"s(\d{4,})-l(\d{6,})-a(\d+)\.json")
NameOf = Callable[[int], str]
NumberOf = Callable[[str], int | None]
SEAL_KEYS = _SEAL, _NONCE, PLACE = "seal", "nonce", "place"


class AttemptId(NamedTuple):
    """One try of one lease of one session; orders by session, lease, attempt."""

    session: int
    lease: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """What one attempt landed.

    ``data_file`` and ``texts_file`` are names in the run directory; ``conditions`` has the ranges
    (first, n) of replications landed for every condition key; ``outcomes`` counts the verdicts by
    what became of them, and what failed; ``tokens`` is what the engine's counters moved by,
    ``seconds`` the engine time it took; ``thoughts`` counts replies that came with a thought, whole
    or cut off inside it; ``written_at`` is ISO 8601 in UTC; ``parents`` are the keys of the
    answers that the prompts hold, ``n_answers`` is how many rows are such answers themselves, and
    the sections are digests of the two files by column.
    """

    session: int
    lease: int
    attempt: int
    judge: str
    data_file: str
    texts_file: str
    data_sha256: str
    texts_sha256: str
    data_bytes: int
    rows: int
    conditions: Mapping[str, tuple[Range, ...]]
    outcomes: Mapping[str, int]
    tokens: TokenCounts
    seconds: float
    engine: Mapping[str, object]
    written_at: str
    texts_bytes: int
    parents: tuple[str, ...]
    n_answers: int
    data_sections: Sections
    texts_sections: Sections
    thoughts: Mapping[str, int] = field(default_factory=dict)

    def vouched(self, file: CommitFile, columns: Collection[str] | None = None) -> Vouched:
        """What is known of the bytes of some columns of a file; of all where it is None."""
        sections = self.data_sections if file == "data_file" else self.texts_sections
        return Vouched(getattr(self, file), chosen(sections, columns))

    @property
    def holds_answers(self) -> bool:
        """Whether some rows are what later work is made of: answers, assessments, probabilities."""
        return self.n_answers > 0

    def is_whole(self, file: CommitFile, size: int | None) -> bool:
        """Whether a file of this size, None for one that is not there, can be what landed."""
        return size == (self.data_bytes if file == "data_file" else self.texts_bytes)

    @property
    def order(self) -> AttemptId:
        """The attempt; the lower one wins where two claim a replication."""
        return AttemptId(self.session, self.lease, self.attempt)

    @property
    def name(self) -> str:
        """Name of the record's file in commits/."""
        return attempt_name(self.session, self.lease, self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """Who opened a session, and the commits of earlier sessions that count from then on."""

    number: int
    accepted: tuple[str, ...]
    host: str
    boot: str
    pid: int
    pid_started: str
    started_at: str


def attempt_name(session: int, lease: int, attempt: int) -> str:
    """File name of an attempt's record.

    Examples
    --------
    >>> attempt_name(1, 123, 1)
    's0001-l000123-a1.json'
    """
    return f"s{session:04d}-l{lease:06d}-a{attempt}.json"


def numbered_names(before: str, after: str) -> tuple[NameOf, NumberOf]:
    """Two functions: the file name of a number, and the number of a name, None of any other name.

    Examples
    --------
    >>> name_of, number_of = numbered_names("session-", ".json")
    >>> name_of(1), number_of("session-0001.json"), number_of("session-1.json.tmp")
    ('session-0001.json', 1, None)
    """
    pattern = re.compile(rf"{re.escape(before)}(\d{{4,}}){re.escape(after)}")

    def name_of(number: int) -> str:
        return f"{before}{number:04d}{after}"

    def number_of(name: str) -> int | None:
        match = pattern.fullmatch(name)
        return int(match.group(1)) if match else None

    return name_of, number_of


session_name, parse_session = numbered_names("session-", ".json")  # of its record
end_name, parse_end = numbered_names("session-", ".ended")  # of the mark that it has ended


def parse_attempt(name: str) -> AttemptId | None:
    """Read an attempt's file name; None if it is none.

    Examples
    --------
    >>> parse_attempt("s0001-l000123-a1.json")
    AttemptId(session=1, lease=123, attempt=1)
    """
    match = _ATTEMPT.fullmatch(name)
    if match is None:
        return None
    found = AttemptId(*(int(part) for part in match.groups()))
    return found if attempt_name(*found) == name else None


def seal(content: Mapping[str, object], name: str, run: str = "") -> bytes:
    """Lay a record out as JSON with a nonce, its place and the digest of the rest.

    Examples
    --------
    >>> data = seal({"a": 1}, "commits/one.json", run="00ff")
    >>> unseal(data, "commits/one.json", "00ff")["a"]
    1
    >>> unseal(data, "commits/two.json", "00ff") is unseal(data, "commits/one.json", "11") is None
    True
    """
    whole = {**content, _NONCE: secrets.token_hex(8), PLACE: f"{run}/{name}"}
    return (json.dumps({**whole, _SEAL: digest(whole)}, indent=1) + "\n").encode()


def unseal(data: bytes | None, name: str, run: str = "") -> dict[str, Any] | None:
    """Read a sealed record; None if it is missing, torn, altered, or another file's or run's.

    Examples
    --------
    >>> unseal(seal({"a": 1}, "one.json")[:-9], "one.json") is None
    True
    """
    content = json_object(data)
    if content is None:
        return None
    try:
        stated = content.pop(_SEAL, None)
        is_whole = (data or b"").endswith(b"\n") and stated == digest(content)
        return content if is_whole and content.pop(PLACE, None) == f"{run}/{name}" else None
    except (ValueError, RecursionError):
        return None


def json_object(data: bytes | None) -> dict[str, Any] | None:
    """The JSON object that a file holds; None where it holds anything else, or is not there.

    Examples
    --------
    >>> json_object(b'{"a": 1}'), json_object(b"[1]"), json_object(b'{"a"')
    ({'a': 1}, None, None)
    """
    try:
        content = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def sealed_run(data: bytes | None, name: str) -> str | None:
    """The run for which a record of this name was sealed; None where its seal does not hold.

    Examples
    --------
    >>> sealed_run(seal({}, "one.json", run="00ff"), "one.json"), sealed_run(b"{}", "one.json")
    ('00ff', None)
    """
    place = (json_object(data) or {}).get(PLACE)
    run = place.partition("/")[0] if isinstance(place, str) else ""
    return None if unseal(data, name, run) is None else run


def commit_content(record: CommitRecord) -> dict[str, object]:
    """Lay a commit out as plain content."""
    return {
        "kind": "commit",
        **{name: getattr(record, name) for name in _PLAIN},
        "parents": list(record.parents),
        "conditions": {key: [list(one) for one in made] for key, made in record.conditions.items()},
        "outcomes": dict(record.outcomes),
        "thoughts": dict(record.thoughts),
        "data_sections": plain_sections(record.data_sections),
        "texts_sections": plain_sections(record.texts_sections),
        "engine": dict(record.engine),
        "tokens": asdict(record.tokens),
    }


def read_attempt(name: str, data: bytes | None, run: str) -> CommitRecord | AttemptId | None:
    """Read an attempt's record; None if it is missing, torn, altered, or another file's or run's.

    Of an attempt that was closed before it landed, and never can, there is no more than its name.

    Of this and the readers below, `name` is that in commits/, and `run` the run's identity.
    """
    content = unseal(data, f"{FOLDER}/{name}", run)
    place = parse_attempt(name)
    if content is None or place is None:
        return None
    return place if content["kind"] == "tombstone" else _commit_from_sealed_record(content)


def read_session(name: str, data: bytes | None, run: str) -> SessionRecord | None:
    """Read a session's record; None as of :func:`read_attempt`."""
    content = unseal(data, f"{FOLDER}/{name}", run)
    if content is None:
        return None
    plain = {key: value for key, value in content.items() if key not in ("kind", "nonce")}
    return SessionRecord(**{**plain, "accepted": tuple(content["accepted"])})


def read_at_end(
    name: str, data: bytes | None, what: Literal["records", "broken", "beside"], run: str
) -> tuple[str, ...]:
    """Names that a session left in the mark of its end; none where that is altered, or no mark.

    Of the records that it had, of those that it knew to be torn, altered or gone, or of files of
    failures and progress.
    """
    content = unseal(data, f"{FOLDER}/{name}", run) if parse_end(name) is not None else None
    return () if content is None else tuple(content[what])


def is_whole_record(name: str, data: bytes, run: str) -> bool:
    """Whether a file in commits/ holds what was written, as far as it is a record of any kind.

    Examples
    --------
    >>> is_whole_record("session-0001.json", b"{}", ""), is_whole_record("notes.txt", b"", "")
    (False, True)
    """
    parsers = (parse_attempt, parse_session, parse_end)
    is_record = any(parse(name) is not None for parse in parsers)
    is_record |= name.startswith("generation-") and name.endswith(".json")
    return not is_record or unseal(data, f"{FOLDER}/{name}", run) is not None


_PLAIN = tuple(one.name for one in fields(CommitRecord) if one.type in ("int", "str", "float"))


def _commit_from_sealed_record(content: Mapping[str, Any]) -> CommitRecord:
    """Build a commit from content whose seal held, which vouches for the types."""
    return CommitRecord(
        **{name: content[name] for name in (*_PLAIN, "outcomes", "thoughts", "engine")},
        conditions={
            key: _one_of_each(tuple((first, n) for first, n in made))
            for key, made in content["conditions"].items()
        },
        tokens=TokenCounts(**content["tokens"]),
        parents=tuple(content["parents"]),
        data_sections=sections(content["data_sections"]),
        texts_sections=sections(content["texts_sections"]),
    )


@lru_cache(maxsize=1_024)
def _one_of_each(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """The same ranges: most conditions of a run have landed alike, and share one object."""
    return ranges


def plain_sections(digests: Sections) -> dict[str, list[int]]:
    """Digests of a file as JSON holds them: the numbers of a column's sections in one list.

    Examples
    --------
    >>> plain_sections({"key": ((0, 4, 7), (4, 8, 9))})
    {'key': [0, 4, 7, 4, 8, 9]}
    """
    return {column: [n for one in found for n in one] for column, found in digests.items()}


def sections(plain: Mapping[str, Sequence[int]]) -> Sections:
    """Digests of a file, by column, of what :func:`plain_sections` laid out.

    Examples
    --------
    >>> sections({"key": [0, 4, 7, 4, 8, 9]})
    {'key': ((0, 4, 7), (4, 8, 9))}
    """
    return {
        column: tuple(zip(*[iter(numbers)] * 3, strict=True)) for column, numbers in plain.items()
    }
