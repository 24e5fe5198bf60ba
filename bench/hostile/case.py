"""One hostile case: what is given, what may come of it, and the judgment of what came.

An oracle knows the answer without the package: numbers are counted in plain Python on the table
that was meant (:mod:`bench.hostile.counted`), and every input file is digested before and after.
A case ends in one of these ways:

refused      exit 2 with one line of a person's length that names what is wrong, nothing written
answered     the numbers of one of the answers the case allows, and the messages it needs
silent wrong an answer that is none of these, or an input that is no longer what it was
defect       traceback, hang, another exit code, a refusal of several lines or of a library's words
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONGEST_REFUSAL = 400
LIBRARIES = re.compile(
    r"Error:|Exception\b|PanicException|ComputeError|pyo3_runtime|polars\.|pyarrow\.|\bserde\b"
    r"|Traceback|thread '.*' panicked|<class |object at 0x"
)
TRACEBACK = re.compile(r"Traceback \(most recent call last\)|panicked at|Segmentation fault")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Numbers = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What came of a case; `code` is None where it had to be ended at its deadline."""

    code: int | None
    stdout: str
    stderr: str
    folder: Path
    changed: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def shown(self) -> str:
        """What a person reads, line breaks aside."""
        return " ".join(f"{self.stdout} {self.stderr}".split())

    def page(self, name: str = "r.html") -> str:
        """The text of a page without its markup, its styles and its scripts."""
        text = (self.folder / name).read_text(encoding="utf-8")
        text = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", " ", text)
        return " ".join(re.sub(r"<[^>]*>", " ", text).split())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `--format json`, after whatever lines stand before them."""
        start = re.search(r"(?m)^[\[{]", self.stdout)
        found = json.loads(self.stdout[start.start() :] if start else "")
        return found if isinstance(found, list) else [found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Numbers that are right if the `messages` (patterns) stand beside them."""

    numbers: Numbers
    messages: tuple[str, ...] = ()


Check = Callable[[Came], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What may come of a case.

    Attributes
    ----------
    refusal : str
        "must", "may" or "never": whether exit 2 is right.
    names : tuple of str
        What a refusal must mention.
    codes : tuple of int
        Exit codes of an answer.
    answers : tuple of Answer
        The numbers that are right, any one of them; empty where none are looked at.
    untrue : tuple of str
        Patterns that no answer may show, on the terminal or on the page ``r.html``.
    check : callable, optional
        More about an answer: what is wrong with its numbers, or None.
    harmless : bool
        Whether an answer in place of a demanded refusal gives no wrong number to anyone.
    """

    refusal: str = "may"
    names: tuple[str, ...] = ()
    codes: tuple[int, ...] = (0,)
    answers: tuple[Answer, ...] = ()
    untrue: tuple[str, ...] = ()
    check: Check | None = None
    harmless: bool = False


def must_name(word: str) -> Expect:
    """A refusal that mentions what is wrong."""
    return Expect(refusal="must", names=(word,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is given to the command line.

    Attributes
    ----------
    family, what : str
        Where it belongs on the page, and what is hostile about it.
    commands : tuple of tuple of str
        Arguments of ``judgerel``, one after the other while they end with 0; ``("python", SOURCE)``
        runs a piece of Python instead.
    shell : str, optional
        Instead of `commands`, a line for a shell in which ``$JUDGEREL`` is the command: where the
        process itself matters.
    files : mapping of str to bytes
        Files in the case's folder.
    bases : tuple of str
        Run directories copied into it.
    before : callable, optional
        What is done to the folder then.
    environment : mapping of str to str
        Variables of the case alone.
    may_write : tuple of str
        Files that an answer may make or change.
    expect : Expect
    fast : bool
        Whether it is of the few that the tests run.
    """

    family: str
    what: str
    commands: tuple[tuple[str, ...], ...] = ()
    shell: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    before: Callable[[Path], None] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    may_write: tuple[str, ...] = ()
    expect: Expect = field(default_factory=Expect)
    fast: bool = False

    @property
    def key(self) -> str:
        """Its name among all."""
        return f"{self.family} / {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A case judged: `kind` is refused, answered, silent wrong or defect."""

    case: Case
    came: Came
    kind: str
    why: str

    @property
    def good(self) -> bool:
        """Whether it went as it may."""
        return self.kind in ("refused", "answered")


def judged(case: Case, came: Came) -> Result:
    """Hold what came of a case against its oracle."""
    expect = case.expect

    def result(kind: str, why: str) -> Result:
        return Result(case=case, came=came, kind=kind, why=why)

    lost = [name for name in came.changed if name not in case.may_write]
    if lost:
        return result("silent wrong", f"input changed: {', '.join(lost)}")
    if came.code is None:
        return result("defect", "hangs until its deadline")
    if found := TRACEBACK.search(came.stderr + came.stdout):
        return result("defect", f"traceback: {_last_line(came.stderr) or found[0]}")
    if came.code == 2:
        fault = _refusal_fault(case, came)
        return result("defect", fault) if fault else result("refused", refusal_of(came))
    if came.code not in expect.codes:
        return result("defect", f"exit {came.code}: {_last_line(came.stderr)}")
    if expect.refusal == "must":
        kind = "defect" if expect.harmless else "silent wrong"
        return result(kind, f"answered, must be refused: {_summary(came)}")
    return result(*_answer_kind(case, came))


def _answer_kind(case: Case, came: Came) -> tuple[str, str]:
    """Judge an answer."""
    expect = case.expect
    extra = [name for name in came.made if name not in case.may_write]
    if extra:
        return "defect", f"writes what nobody asked for: {', '.join(extra)}"
    pages = [came.page()] if (came.folder / "r.html").exists() else []
    for pattern in expect.untrue:
        if any(found := re.search(pattern, text) for text in (came.shown, *pages)):
            return "silent wrong", f"says {found[0]!r}"
    if expect.check is not None and (wrong := expect.check(came)):
        kind, _, why = wrong.rpartition("|")
        return kind or "silent wrong", why
    if not expect.answers:
        return "answered", _summary(came)
    try:
        rows = came.rows()
    except ValueError:
        return "defect", f"no JSON on stdout: {came.stdout[:80]!r}"
    misses = [numbers_fault(rows, answer.numbers) for answer in expect.answers]
    fits = [one for one, miss in zip(expect.answers, misses, strict=True) if miss is None]
    if not fits:
        return "silent wrong", str(misses[0])
    texts = (came.shown, *pages)
    for answer in fits:
        if all(any(re.search(one, text) for text in texts) for one in answer.messages):
            return "answered", _summary(came)
    return "defect", f"right, but does not say {fits[0].messages[0]!r}"


def numbers_fault(rows: list[dict[str, Any]], numbers: Numbers) -> str | None:
    """Say which number of an answer differs from the independent count."""
    for (name, missing), expected in numbers.items():
        found = [
            row
            for row in rows
            if row.get("coefficient") == name
            and row.get("missing") in (missing, None)
            and row.get("conditions") in ("repeatability", None)
        ]
        if name.startswith("n_"):
            found = [row for row in rows if row.get(name) is not None]
        if not found:
            return f"no {name} ({missing})"
        for row in found:
            got = row[name] if name.startswith("n_") else row["value"]
            same = (got is None) == math.isnan(expected)
            if not same or (got is not None and abs(float(got) - expected) > 1e-9):
                return f"{name} ({missing}) is {_number(got)}, counted {_number(expected)}"
    return None


def _number(value: float | None) -> str:
    """A number of a remark."""
    return "null" if value is None else f"{value:.4g}"


def refusal_of(came: Came) -> str:
    """The line of a refusal, without the folder of the case."""
    line = came.stderr.strip().removeprefix("judgerel: ")
    return line.replace(f"{came.folder}/", "").replace(str(came.folder), ".")


def _refusal_fault(case: Case, came: Came) -> str | None:
    """What is wrong with a refusal; of several commands the first may have printed and written."""
    expect, several = case.expect, len(case.commands) > 1
    left = [name for name in came.made if not (several and name in case.may_write)]
    line = refusal_of(came)
    lines = came.stderr.strip().splitlines()
    rules = [
        (expect.refusal == "never", "refused, must be answered: " + line[:200]),
        (len(lines) != 1, f"refusal of {len(lines)} lines: {lines[-1:]}"),
        (not came.stderr.startswith("judgerel: "), f"no line of the command: {line[:120]}"),
        (len(line) > LONGEST_REFUSAL, f"refusal of {len(line)} characters: {line[:120]}"),
        (bool(LIBRARIES.search(line)), f"a library's words: {line[:200]}"),
        (bool(CONTROL.search(came.stderr.rstrip("\n"))), f"control characters: {line[:120]!r}"),
        (
            bool(came.stdout.strip()) and not several,
            f"refused after it printed: {came.stdout[:80]!r}",
        ),
        (bool(left), f"refused, and left {', '.join(left)}"),
    ]
    rules += [
        (not re.search(name, line), f"refusal does not name {name}: {line[:200]}")
        for name in expect.names
    ]
    return next((why for broken, why in rules if broken), None)


def _last_line(text: str) -> str:
    """The last line of a text."""
    lines = text.strip().splitlines()
    return lines[-1].strip()[:160] if lines else ""


def _first_line(text: str) -> str:
    """The first line of a text; last ones hold rates and times."""
    lines = text.strip().splitlines()
    return lines[0].strip()[:160] if lines else ""


def _summary(came: Came) -> str:
    """What an answer says, in some words: its numbers, and the messages beside them."""
    try:
        numbers = _numbers_shown(came.rows())
    except ValueError:
        text = " ".join(came.stdout.split())
        share = re.search(r"gives the same verdict [^.;]*?%", text)
        numbers = share[0] if share else _first_line(came.stdout)
    messages = [
        line.removeprefix("judgerel: ")
        for line in came.stderr.splitlines()
        if line.startswith("judgerel: ")
    ]
    line = "; ".join([numbers, *messages]) if numbers else "; ".join(messages)
    return line.replace(f"{came.folder}/", "").replace(str(came.folder), ".")


def _numbers_shown(rows: list[dict[str, Any]]) -> str:
    """The first number of a JSON answer that a reader knows."""
    for row in rows:
        if row.get("coefficient") == "percent_agreement" and row.get("value") is not None:
            return f"agreement {row['value']:.3f}, {row.get('n_items')} questions"
    first = rows[0] if rows else {}
    for name in ("requests", "landed", "difference"):
        if first.get(name) is not None:
            return f"{name} {first[name]:g}"
    return f"{len(rows)} row{'s' * (len(rows) != 1)} of JSON"
