"""Terminals, streams, signals; and ids that carry what a terminal or a page would obey."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files

from bench.hostile.case import CONTROL, Answer, Came, Case, Expect
from bench.hostile.counted import base_rows, counted
from bench.hostile.run_directories import SWEEP, items
from bench.hostile.tables import as_csv, as_jsonl, as_parquet, cells, reduce_json

ROWS = base_rows()
RIGHT = Answer(numbers=counted(ROWS))
SHARE = f"{100 * counted(ROWS)['percent_agreement', 'category']:.1f} %"
PAGE_SCRIPT = files("judgerel_ray").joinpath("reporting/tables.js.html").read_text("utf-8")
FILES = {"t.csv": as_csv(cells(ROWS))}
UNICODE = {"u.csv": as_csv([[f"frage-ü-{i}", r, v + "é→日本"] for i, r, v in ROWS])}


def width_cases() -> Iterator[Case]:
    """Widths of a terminal that are none."""
    sweep = {"s.toml": SWEEP.encode(), "items.jsonl": items().encode()}
    for columns in ("0", "1", "2", "10", "20", "-5", "abc", "", "100000", "1e3", "999999999999"):
        yield Case(
            family="Terminals",
            what=f"COLUMNS={columns!r}",
            commands=(("reduce", "t.csv"),),
            files=FILES,
            environment={"COLUMNS": columns},
            expect=Expect(check=_states_share, refusal="never"),
            fast=columns in ("0", "1"),
        )
    for verb, command in {
        "advise": ("advise", "t.csv"),
        "compare": ("compare", "t.csv", "t.csv"),
        "status": ("status", "run"),
        "reduce RUN": ("reduce", "run"),
        "plan": ("plan", "s.toml"),
    }.items():
        for columns in ("0", "1"):
            yield Case(
                family="Terminals",
                what=f"COLUMNS={columns!r} ({verb})",
                commands=(command,),
                files={**FILES, **sweep},
                bases=("run",),
                environment={"COLUMNS": columns},
                expect=Expect(check=_states_something, codes=(0,)),
            )


def encoding_cases() -> Iterator[Case]:
    """A stdout that cannot print every letter, and environments without what is usual."""
    ascii_ = "LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii"
    for verb, command in {
        "reduce": "reduce u.csv",
        "reduce JSON": "reduce u.csv --format json",
        "questions": "questions u.csv",
        "advise": "advise u.csv",
        "report": "report u.csv --out r.html",
        "a refusal": "reduce ü.csv",
        "help": "--help",
        "reduce --help": "reduce --help",
    }.items():
        yield Case(
            family="Terminals",
            what=f"a stdout of ASCII alone ({verb})",
            shell=f"{ascii_} $JUDGEREL {command}",
            files=UNICODE,
            may_write=("r.html",),
            expect=Expect(codes=(0, 2) if verb == "a refusal" else (0,),
                          refusal="must" if verb == "a refusal" else "never"),
            fast=verb == "reduce",
        )  # fmt: skip
    for name, line in {
        "Latin-1": "PYTHONIOENCODING=latin-1",
        "Windows' code page": "PYTHONIOENCODING=cp1252",
        "UTF-16": "PYTHONIOENCODING=utf-16",
        "no locale": "env -u LANG -u LC_ALL PYTHONCOERCECLOCALE=0 PYTHONUTF8=0",
        "no TERM": "env -u TERM",
        "a dumb TERM": "TERM=dumb",
        "an unknown TERM": "TERM=nonsense",
        "forced colours": "FORCE_COLOR=1",
        "no HOME": "env -u HOME",
        "a TMPDIR that is not there": "TMPDIR=/none",
        "a time zone that is none": "TZ=No/Where",
    }.items():
        yield Case(
            family="Terminals",
            what=f"an environment of {name}",
            shell=f"{line} $JUDGEREL reduce u.csv",
            files=UNICODE,
            expect=Expect(refusal="never"),
        )


def closed_stream_cases() -> Iterator[Case]:
    """Streams closed, full or left by their reader; signals while libraries are loaded."""
    run = "$JUDGEREL reduce t.csv"
    streams = {
        "stdout closed": (f"{run} >&-", (0,)),
        "stderr closed": (f"{run} 2>&-", (0,)),
        "stdin closed": (f"{run} <&-", (0,)),
        "all three closed": (f"{run} <&- >&- 2>&-", (0,)),
        "stderr closed, a refusal": ("$JUDGEREL reduce none.csv 2>&-; test $? = 2", (0,)),
        "a reader that has gone": (f"{run} | true; exit ${{PIPESTATUS[0]}}", (0,)),
        "a reader of one line": (f"{run} | head -1; exit ${{PIPESTATUS[0]}}", (0,)),
        "stdout full": (f"{run} > /dev/full", (2,)),
        "stdout and stderr full": (f"{run} > /dev/full 2>&1; test $? != 0", (0,)),
        "a folder that has gone": ("mkdir d; cd d; rmdir ../d; $JUDGEREL reduce ../t.csv", (2, 0)),
        "an interrupt while NumPy is loaded": (_stopped("numpy"), (130,)),
        "an interrupt while Polars is loaded": (_stopped("polars"), (130,)),
        "an interrupt while SciPy is loaded": (_stopped("scipy"), (130, 0)),
        "a termination while Polars is loaded": (_stopped("polars", "TERM"), (143,)),
    }
    for what, (line, codes) in streams.items():
        yield Case(
            family="Terminals",
            what=what,
            shell=line,
            files=FILES,
            expect=Expect(codes=codes, refusal="may"),
            fast=what
            in ("stdout closed", "an interrupt while Polars is loaded", "a reader that has gone"),
        )


def _stopped(library: str, signal: str = "INT") -> str:
    """A line that stops the command as soon as it has a library's code, and ends as it does."""
    return (
        f"$JUDGEREL reduce t.csv & pid=$!; "
        f"until grep -qs {library} /proc/$pid/maps || ! kill -0 $pid; do sleep 0.002; done; "
        f"kill -{signal} $pid; wait $pid; exit $?"
    )


def _states_share(came: Came) -> str | None:
    """The number is there, however narrow the terminal."""
    plain = re.sub(r"\s+", "", came.stdout)
    return None if SHARE.replace(" ", "") in plain else "the share of agreement is not printed"


def _states_something(came: Came) -> str | None:
    """An exit of 0 is no silence."""
    return None if len(came.stdout.strip()) > 50 else "prints nothing, and ends with 0"


PAYLOADS = {
    "an escape sequence that clears the screen": "q\x1b[2J\x1b[H",
    "an escape sequence that sets the title": "q\x1b]0;owned\x07",
    "an escape of eight bits": "q\x9b31m",
    "a bell": "q\x07",
    "backspaces": "q\b\b\b\bPASS",
    "a carriage return": "q\rgood",
    "a line break": "q\nagreement 100 %",
    "a delete character": "q\x7f",
    "a null character": "q\x00x",
    "right-to-left override": "q\u202e%001",
    "isolates of direction": "q\u2066abc\u2069",
    "a script element": "<script>alert(1)</script>",
    "an image with a handler": "<img src=x onerror=alert(1)>",
    "the end of a style": "</style><script>alert(1)</script>",
    "the end of a comment": "--><script>alert(1)</script><!--",
    "an attribute's end": '" onmouseover="alert(1)',
    "a single quote": "' onmouseover='alert(1)",
    "an entity": "&lt;b&gt; &amp; &#60;",
    "Rich's markup": "[bold red]q[/bold red]",
    "Rich's broken markup": "[/]q[/nonsense]",
    "a template's braces": "{{ 7 * 7 }} {% raw %}",
    "a format's braces": "{0} {x!r} %s %(x)s",
    "a spreadsheet's formula": "=cmd|' /C calc'!A0",
    "a way up": "../../../../etc/passwd",
    "commas and quotes": 'q,"x",',
    "a thousand emoji": "\U0001f600" * 1000,
    "combining marks": "q" + "\u0301" * 200,
    "a hundred thousand letters": "q" * 100_000,
    "blanks alone": "   ",
    "a lone surrogate": "q\\ud800",
}


def id_cases() -> Iterator[Case]:
    """Ids, judges, benchmarks and verdicts that carry orders."""
    for what, payload in PAYLOADS.items():
        for column in ("item_id", "judge", "verdict", "benchmark"):
            header, table = _carrying(column, payload)
            same = payload.strip() == ""
            expect = Expect(
                answers=(RIGHT,), refusal="may" if same or "null" in what or "lone" in what
                or len(payload) > 50_000 else "never",
            )  # fmt: skip
            content = as_jsonl(table, header)
            if "lone" in what:
                content = content.replace(b"\\\\ud800", b"\\ud800")
            yield Case(
                family="Ids that carry orders",
                what=f"{what} as {column} (JSON)",
                commands=(reduce_json("t.jsonl"),),
                files={"t.jsonl": content},
                expect=expect,
                fast=column == "judge" and what == "a script element",
            )
            if column == "benchmark" or "lone" in what:
                continue
            page_too = column != "verdict"
            for verb, commands in {
                "terminal": (("questions" if column == "item_id" else "reduce", "t.jsonl"),),
                "page": (("report", "t.jsonl", "--out", "r.html"),),
            }.items():
                if verb == "page" and not page_too:
                    continue
                yield Case(
                    family="Ids that carry orders",
                    what=f"{what} as {column} ({verb})",
                    commands=commands,
                    files={"t.jsonl": content},
                    may_write=("r.html",),
                    expect=Expect(check=_inert),
                    fast=column == "judge" and "clears" in what,
                )
    parquet = as_parquet([[i, r, v, "\x1b[2J"] for i, r, v in ROWS], ("item_id", "replication",
                         "verdict", "judge"))  # fmt: skip
    yield Case(
        family="Ids that carry orders",
        what="an escape sequence as judge (Parquet, terminal)",
        commands=(("reduce", "t.parquet"),),
        files={"t.parquet": parquet},
        expect=Expect(check=_inert),
    )
    for what, name in {
        "an escape sequence": "t\x1b[2J.csv", "a script element": "<script>.csv",
        "a line break": "t\n.csv", "blanks": "my judgments.csv", "a dash first": "./-t.csv",
        "an emoji": "\U0001f600.csv", "a percent sign": "t%20.csv", "a question mark": "t?.csv",
    }.items():  # fmt: skip
        for verb, commands in {
            "terminal": (("reduce", name),),
            "page": (("report", name, "--out", "r.html"),),
            "a refusal": (("reduce", name + "x"),),
        }.items():
            yield Case(
                family="Ids that carry orders",
                what=f"a file's name with {what} ({verb})",
                commands=commands,
                files={name: as_csv(cells(ROWS))},
                may_write=("r.html",),
                expect=Expect(check=_inert, refusal="must" if verb == "a refusal" else "never"),
            )


def _carrying(column: str, payload: str) -> tuple[tuple[str, ...], list[list[object]]]:
    """The base table with the payload in a column."""
    header = ("item_id", "replication", "verdict", "judge", "benchmark")
    table: list[list[object]] = []
    for i, r, v in ROWS:
        row: list[object] = [i, r, v, "j", "b"]
        if column == "item_id":
            row[0] = payload + i
        elif column == "verdict":
            row[2] = payload + str(v)
        else:
            row[header.index(column)] = payload
        table.append(row)
    return header, table


class _Live(HTMLParser):
    """Collects what a browser would run of a page, but the script that every page has."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.script = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        handlers = [name for name, _ in attrs if name.startswith("on")]
        given = tag == "script" and bool(attrs)
        if handlers or given or tag in ("img", "iframe", "object", "embed", "b"):
            self.found.append(f"<{tag} {' '.join(handlers)}>")
        self.script = ""

    def handle_data(self, data: str) -> None:
        self.script += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self.script != PAGE_SCRIPT:
            self.found.append(f"<script>{self.script[:80]}")


def live_markup(page: str) -> list[str]:
    """Elements and handlers on a page that no page of the package has."""
    parser = _Live()
    parser.feed(page)
    return parser.found if parser.cdata_elem is None else [*parser.found, "<script> without end"]


def _inert(came: Came) -> str | None:
    """Nothing that a terminal or a browser would obey."""
    if found := CONTROL.search(re.sub(r"[\n\t]", "", came.stdout + came.stderr)):
        return f"defect|control character {found[0]!r} on the terminal"
    if not (came.folder / "r.html").exists():
        return None
    page = (came.folder / "r.html").read_text(encoding="utf-8")
    if found := CONTROL.search(re.sub(r"[\n\t]", "", page)):
        return f"defect|control character {found[0]!r} on the page"
    found = live_markup(page)
    return f"live markup on the page: {found[0]}" if found else None


def stream_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from width_cases()
    yield from encoding_cases()
    yield from closed_stream_cases()
    yield from id_cases()
