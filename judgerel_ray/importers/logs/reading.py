"""Records of logs, one at a time: lines of JSON, lists, and lists inside one document.

Other readers of this package hold a whole file; logs with prompts and replies have gigabytes. What
a reader of a format makes of each record is a :class:`LogRow`, one judgment.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, TypeAlias, cast

from judgerel_ray.core import JudgeRelError, Outcome, SweepError, count_of, printable
from judgerel_ray.core.files import (
    PACKED,
    Unpacking,
    check_record,
    check_regular,
    read_member,
    reading_errors,
    unpacked_stream,
    unreadable_path,
)
from judgerel_ray.protocols import FreeReading

Path: TypeAlias = tuple[str, ...]
"""Names of fields from the top of a document down."""
_CHUNK = 1 << 20
_NEAR_THE_END = 16  # an error so near the end of what was read may be of its being cut there
_LINES = (".jsonl", ".ndjson")
_ESCAPES = ("\\ud", "\\uD")  # of surrogates, whole pairs too
_CAUSE = 200  # characters of what went wrong
_PROBED = 1000  # values of a document in which lists are looked for
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Progress:
    """How far a log is read."""

    record: object = None  # The last record read, by its number or name.
    # Texts that held half of a surrogate pair, mended.
    halves: set[str] = field(default_factory=set)

    def notes(self) -> Iterator[str]:
        """What is said of how the log was read."""
        if self.halves:
            n = count_of(len(self.halves), "text")
            yield f"{n} with half of a character (a lone surrogate), which stays as its escape"


_PROGRESS: ContextVar[Progress] = ContextVar("progress")


@contextmanager
def refused(path: str, what: str = "a record cannot be read") -> Iterator[Progress]:
    """Turn whatever a reader raises into one line with file, record and cause."""
    progress = Progress()
    _PROGRESS.set(progress)
    try:
        yield progress
    except (JudgeRelError, Warning, ImportError):
        raise
    except Exception as error:
        cause = " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").split())
        where = {"file": path}
        if progress.record is not None:
            where["record"] = printable(str(progress.record))
        raise SweepError(f"{what}: {printable(cause[:_CAUSE])}", where=where) from error


def _log_reading_progress() -> Progress:
    """The progress of the log that is read; one that nobody asks for where no verb reads it."""
    found = _PROGRESS.get(None)
    return Progress() if found is None else found


def parsed_document(content: bytes) -> object:
    r"""Read a whole JSON document, halves of surrogate pairs kept as their escapes."""
    value = json.loads(content.decode("utf-8-sig"))
    return _mended_log_value(value) if rb"\ud" in content or rb"\uD" in content else value


def _mended_log_value(value: object) -> object:
    """A value without lone surrogates, which no file of UTF-8 can hold."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            mended = value.encode("utf-8", "backslashreplace").decode()
            _log_reading_progress().halves.add(mended)
            return mended
        return value
    if isinstance(value, list):
        return [_mended_log_value(one) for one in value]
    if isinstance(value, dict):
        return {_mended_log_value(name): _mended_log_value(one) for name, one in value.items()}
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What stands at the begin of a log, by which its format is known."""

    kind: str
    # Fields of the document, or members of the archive; empty of lists and lines.
    names: frozenset[str]
    # The first value at each path of a document, of a list its first record; by `()` the first
    # record of lists and lines, and the fields of a document, which may be one.
    first: Mapping[Path, object]

    def record(self, *path: str) -> Mapping[str, object]:
        """The first record, of a document at a path; empty where there is none."""
        return mapping(self.first.get(path if self.kind == "document" else ()))


def mapping(value: object) -> Mapping[str, object]:
    """A value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_listed(value: object) -> list[Mapping[str, object]]:
    """Elements of a list, those that are no objects as empty ones; of anything else none."""
    return [mapping(one) for one in value] if isinstance(value, list) else []


def as_list(value: object) -> list[object]:
    """A list, or the one value as a list; of nothing none."""
    return value if isinstance(value, list) else [] if value is None else [value]


def records(path: str, at: Path = ()) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Read the records of a log, of a document those of its list `at`, numbered from 1."""
    with _opened_log_cursor(path) as (kind, cursor):
        if kind == "list":
            found = cursor.elements()
        elif kind == "document" and at:
            found = (value for where, value, inside in cursor.walk(2) if inside and where == at)
        else:
            found = cursor.lines()
        progress = _log_reading_progress()
        for number, value in enumerate(found, start=1):
            progress.record = number
            yield number, mapping(value)
        cursor.end()


def values(path: str, *, depth: int = 2, elements: Path = ()) -> Iterator[tuple[Path, object]]:
    """Read the single values of a document with their paths; none of a file that is a list.

    Of its lists, those at the path `elements` alone are read, an element at a time.
    """
    with _opened_log_cursor(path) as (kind, cursor):
        if kind == "document":
            for where, one, inside in cursor.walk(depth):
                if not inside or where == elements:
                    yield where, one
            cursor.end()


def sight(path: str) -> Sight:
    """Look at the begin of a log."""
    if is_zip(path):
        with zipped(path) as archive:
            return Sight(kind="zip", names=frozenset(archive.namelist()), first={})
    with _opened_log_cursor(path) as (kind, cursor):
        if kind != "document":
            one = next(cursor.lines() if kind == "lines" else cursor.elements(), None)
            return Sight(kind=kind, names=frozenset(), first={(): one})
        whole: dict[str, object] = {}
        first: dict[Path, object] = {}
        for where, value, inside in islice(cursor.walk(2), _PROBED):
            first.setdefault(where, value)
            if len(where) == 1:
                whole[where[0]] = [] if inside else value
            else:
                whole[where[0]] = {**mapping(whole.get(where[0])), where[1]: value}
        return Sight(kind=kind, names=frozenset(whole), first={**first, (): whole})


def is_zip(path: str) -> bool:
    """Tell archives by their first bytes."""
    with _unpacked_log_bytes(path) as file:
        return file.read(4) == b"PK\x03\x04"


@contextmanager
def zipped(path: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive."""
    with _unpacked_log_bytes(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive
        except (zipfile.BadZipFile, EOFError) as error:
            raise SweepError(
                f"the archive is cut off or damaged: {error}", where={"file": path}
            ) from error


def member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, unpacking: Unpacking
) -> object:
    """A document of JSON in an archive."""
    place = {"file": f"{path}:{info.filename}"}
    _log_reading_progress().record = info.filename
    try:
        content = read_member(archive, info, unpacking)
    except ValueError as error:
        raise SweepError(f"a member is damaged: {error}", where=place) from error
    try:
        return parsed_document(content)
    except (ValueError, RecursionError) as error:
        raise SweepError(f"not JSON: {error}", where=place) from error


@contextmanager
def _unpacked_log_bytes(path: str) -> Iterator[IO[bytes]]:
    """A file's bytes, unpacked."""
    import fsspec

    check_regular(path)
    try:
        with fsspec.open(path, "rb") as file:
            yield unpacked_stream(file, PurePosixPath(path).suffix, {"file": path})
    except IsADirectoryError as error:
        raise SweepError("expected a file, got a folder", where={"path": path}) from error
    except FileNotFoundError as error:
        raise SweepError("no such file", where={"file": path}) from error
    except SweepError:
        raise
    except EOFError as error:
        raise unreadable_path(path, error) from error
    except reading_errors() as error:
        raise unreadable_path(path, error) from error


@contextmanager
def _opened_log_cursor(path: str) -> Iterator[tuple[str, _Cursor]]:
    """A cursor at the begin of a file, and how records lie in it."""
    with _unpacked_log_bytes(path) as file:
        cursor = _Cursor(TextIOWrapper(file, "utf-8-sig"), path)
        begins = cursor.peek()
        if not begins:
            raise SweepError("the file is empty", where={"file": path})
        if begins not in "[{":
            raise SweepError(
                f"expected records of JSON, got {cursor.text[:40].strip()!r}",
                where={"file": path},
                hint="a table of judgments: judgerel import table",
            )
        name = path
        for packed in PACKED:
            name = name.removesuffix(packed)
        lines = begins == "{" and (name.endswith(_LINES) or cursor.has_lines())
        yield "lines" if lines else "list" if begins == "[" else "document", cursor


class _Cursor:
    """A place in a text of JSON that is read as far as is needed."""

    def __init__(self, file: TextIOWrapper, path: str) -> None:
        self._file = file
        self._path = path
        self._ended = False
        self._at = 0
        self._seen = 0
        self.text = ""

    def peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            while self._at < len(self.text):
                if not (one := self.text[self._at]).isspace():
                    return one
                self._at += 1
            if not self._more():
                return ""

    def has_lines(self) -> bool:
        """Whether another object begins behind the first."""
        try:
            _, end = _DECODER.raw_decode(self.text, self._at)
        except (ValueError, RecursionError):
            return False
        return self.text[end:].lstrip().startswith("{")

    def lines(self) -> Iterator[object]:
        """Every value, one behind the other."""
        while self.peek():
            yield self._value()

    def elements(self) -> Iterator[object]:
        """Every element of the list that begins here."""
        self._take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            if self.peek() == "]":
                self._at += 1
                return
            self._take(",")

    def walk(self, depth: int, path: Path = ()) -> Iterator[tuple[Path, object, bool]]:
        """Values of the object that begins here: path, value, whether it is of a list there."""
        self._take("{")
        while self.peek() != "}":
            name = self._value()
            if not isinstance(name, str):
                raise self._wrong("a name of a field was expected")
            self._take(":")
            here = (*path, name)
            begins = self.peek()
            if begins == "[":
                yield from ((here, value, True) for value in self.elements())
            elif begins == "{" and len(here) < depth:
                yield from self.walk(depth, here)
            else:
                yield here, self._value(), False
            if self.peek() != "}":
                self._take(",")
        self._at += 1

    def end(self) -> None:
        """Refuse what stands behind the list or document: a second one would be lost."""
        if self.peek():
            raise self._wrong("more stands behind its end")

    def _take(self, sign: str) -> None:
        """Go behind a sign that must be there."""
        if self.peek() != sign:
            raise self._wrong(f"{sign!r} was expected")
        self._at += 1

    def _value(self) -> object:
        """The value that begins here."""
        if not self.peek():
            raise self._wrong("")
        self._seen += 1
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self._at)
            except RecursionError as error:
                raise self._wrong("it is nested too deep") from error
            except json.JSONDecodeError as error:
                cut = "Unterminated" in error.msg or error.pos > len(self.text) - _NEAR_THE_END
                if not cut or not self._more():
                    raise self._wrong("" if cut else error.msg) from error
                continue
            except ValueError as error:  # a number of thousands of digits
                raise self._wrong(str(error)) from error
            # A number may go on in what is not read yet.
            if end == len(self.text) and not self._ended and self._more():
                continue
            suspect = any(self.text.find(sign, self._at, end) >= 0 for sign in _ESCAPES)
            self._at = end
            return _mended_log_value(value) if suspect else value

    def _more(self) -> bool:
        """Read on, at least as much as is held; false at the end."""
        if self._ended:
            return False
        rest = self.text[self._at :]
        # As long as the record may be when this is read.
        check_record(cast("IO[bytes]", self._file.buffer), 2 * len(rest))
        try:
            new = self._file.read(max(_CHUNK, len(rest)))
        except UnicodeDecodeError as error:
            raise SweepError(
                f"it is no UTF-8 text: {error.reason}",
                where={"file": self._path, "value": self._seen},
            ) from error
        self._ended = not new
        self.text, self._at = rest + new, 0
        return bool(new)

    def _wrong(self, problem: str) -> SweepError:
        """The refusal of what stands here."""
        where = {"file": self._path, "value": self._seen}
        if problem and self.peek():
            return SweepError(f"not JSON: {problem}", where=where)
        return SweepError(
            "the file is cut off: it ends within a record", where=where, hint="write it again"
        )


PEOPLE = "people"
"""The judge of rows that hold what people said."""
UNNAMED = "unnamed"
"""The judge of logs that do not name theirs."""
NOBODY = ""
"""The judge of rows that hold an answer which no model and no person judged: no judgments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One judgment, or an answer that has none (`NOBODY`)."""

    # What is judged; rows alike in this and in all facets are replications, in their order.
    item_id: str
    # As columns of judgments; `definition` names the prompt where a judge has several.
    judge: str = UNNAMED
    criterion: str | None = None
    responder: str | None = None
    benchmark: str | None = None
    definition: str | None = None
    temperature: float | None = None
    option_order: int | None = None
    # What was said, and the denominator of a score such as 4/5; without outcome a row that holds
    # neither verdict nor score is unparsed.
    verdict: str | None = None
    score: float | None = None
    out_of: float | None = None
    outcome: Outcome | None = None
    label: str | None = None
    gold: str | None = None
    n_options: int | None = None
    # Texts: what was judged, of what, what the judge wrote and was asked, and what it was given to
    # compare with (a target or rubric) and to read. They land in no column.
    answer: str | None = None
    question: str | None = None
    reply: str | None = None
    prompt: str | None = None
    reference: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """One format: how it is known, and how it is read."""

    known: Callable[[Sight], bool]  # Whether the begin of a file is of this format.
    # From a path to its judgments, and to the answers that have none.
    read: Callable[[str], Iterator[LogRow]]
    # What a replication may ask again beside the judge, as the tool calls it; empty where its
    # answers are fixed.
    asks_again: str = ""


def having(*names: str, inside: Path = ()) -> Callable[[Sight], bool]:
    """Know a log by fields of its first record, of a document of what it holds at a path."""
    return lambda seen: {*names} <= seen.record(*inside).keys()


def finite_number(value: object) -> float | None:
    """A finite number, of text too; None of anything else."""
    if not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def text(value: object) -> str | None:
    """A value as text: JSON of objects and lists; None of nothing."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def conversation(value: object) -> str | None:
    r"""Messages as one text: contents with a blank line between; anything else as :func:`text`.

    Roles are named where several messages are of more than one role.
    """
    if (
        not isinstance(value, list)
        or not value
        or not all(_is_logged_message(one) for one in value)
    ):
        return text(value)
    parts = [(one.get("role"), _logged_message_text(one["content"])) for one in value]
    several = len({role for role, _ in parts if role != "system"}) > 1
    return "\n\n".join(f"{role}: {content}" if several else content for role, content in parts)


def _is_logged_message(value: object) -> bool:
    """Whether a value is a message of a conversation."""
    return isinstance(value, dict) and "content" in value


def _logged_message_text(value: object) -> str:
    """The text of a message, whose content may be in parts."""
    if isinstance(value, list):
        texts = [one.get("text") if isinstance(one, dict) else one for one in value]
        return "\n".join(one for one in texts if isinstance(one, str))
    return text(value) or ""


def unless_scored(read: FreeReading) -> Outcome | None:
    """Outcome of a reply without a verdict; None where it has one."""
    return None if read.outcome is Outcome.SCORED else read.outcome


def passed(value: object) -> str | None:
    """A truth value as a verdict."""
    return None if not isinstance(value, bool) else "pass" if value else "fail"


def named_by(content: object) -> str:
    """A short name of content that has none: the same of equal content."""
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(canonical.encode(errors="surrogatepass")).hexdigest()[:12]
