"""Files as spreadsheets and evaluation tools write them, and words and names that look alike."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.hostile.case import Answer, Came, Case, Expect, must_name
from bench.hostile.counted import Row, base_rows, counted
from bench.hostile.tables import (
    HEADER,
    as_csv,
    as_json,
    as_jsonl,
    as_parquet,
    cells,
    read_and_imported,
    reduce_json,
)

ROWS = base_rows()
CELLS = cells(ROWS)
RIGHT = Answer(numbers=counted(ROWS))
MUST_READ = Expect(answers=(RIGHT,), refusal="never")
READ_OR_REFUSED = Expect(answers=(RIGHT,))
MUST_REFUSE = Expect(refusal="must")


def words(passed: Sequence[Any], failed: Sequence[Any]) -> list[Row]:
    """The base rows, with spellings of the two verdicts in turn."""
    return [
        (item, r, (passed if v == "PASS" else failed)[k % len(passed if v == "PASS" else failed)])
        for k, (item, r, v) in enumerate(ROWS)
    ]


# ---- spreadsheets -----------------------------------------------------------------------------


def spreadsheet_cases() -> Iterator[Case]:
    """What Excel, LibreOffice and pandas make of a table."""
    csv = as_csv(CELLS)
    semicolons = as_csv(CELLS, sep=";")
    reason = [[*row, 'line one\nline two, "with" commas'] for row in CELLS]
    errors = [(i, r, None if r == 3 else v) for i, r, v in ROWS]
    dropped = Answer(numbers=counted(errors), messages=("taken as no verdict",))
    contents: dict[str, tuple[bytes, Expect]] = {
        "sep=; first, then semicolons": (b"sep=;\r\n" + semicolons.replace(b"\n", b"\r\n"),
                                         MUST_READ),
        "the index of pandas first": (_indexed(), MUST_READ),
        "line breaks and commas in quoted cells": (
            as_csv(reason, (*HEADER, "reason")), MUST_READ),
        "quotation marks escaped by backslashes": (
            as_csv(reason, (*HEADER, "reason")).replace(b'""', b'\\"'), READ_OR_REFUSED),
        "line ends of two kinds": (csv.replace(b"\n", b"\r\n", 20), MUST_READ),
        "empty lines at the end": (csv + b"\n\n\n", MUST_READ),
        "rows of commas at the end": (csv + b",,\n,,\n", READ_OR_REFUSED),
        "comment lines first": (b"# exported 2026-11-22\n# by hand\n" + csv, READ_OR_REFUSED),
        "a comment line inside": (csv.replace(b"q5,0", b"# note\nq5,0"), READ_OR_REFUSED),
        "the mean in a last line": (csv + b"mean,,0.67\n", MUST_REFUSE),
        "two files pasted together": (csv + csv.replace(b"\nq", b"\np"), MUST_REFUSE),
        "the rows pasted twice": (csv + csv.partition(b"\n")[2], MUST_REFUSE),
        "two encodings": (
            csv.replace(b"FAIL", b"\xe9chec", 3).replace(b"FAIL", "\xe9chec".encode()),
            MUST_REFUSE),
        "errors of formulas as verdicts": (
            as_csv([(i, r, "#REF!" if r == 3 and k % 2 else "#DIV/0!" if r == 3 else v)
                    for k, (i, r, v) in enumerate(ROWS)]), Expect(answers=(dropped,))),
        "long ids as powers of ten": (
            as_csv([("1.23457E+11" if i in ("q1", "q2") else i, r, v) for i, r, v in ROWS]),
            MUST_REFUSE),
        "a merge conflict": (csv.replace(b"q5,0,", b"<<<<<<< HEAD\nq5,0,", 1), MUST_REFUSE),
        "a table of Markdown": (
            b"| item_id | replication | verdict |\n|---|---|---|\n"
            + as_csv(CELLS, sep="|").partition(b"\n")[2], READ_OR_REFUSED),
        "an error page": (b"<!DOCTYPE html>\n<html><title>404</title></html>\n", MUST_REFUSE),
        "a pointer of Git LFS": (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            MUST_REFUSE),
        "SQLite": (b"SQLite format 3\x00\x10\x00" + bytes(100), MUST_REFUSE),
    }  # fmt: skip
    yield from read_and_imported(
        "Spreadsheets", contents, lambda what: what.startswith(("sep=", "errors"))
    )


def _indexed() -> bytes:
    """With the numbers of rows in a column without a name."""
    return as_csv([[k, *row] for k, row in enumerate(CELLS)], ("", *HEADER))


def other_reader_cases() -> Iterator[Case]:
    """The same signs between columns in files of items and of people's ratings."""
    items = b"item_id;question;option_a;option_b\nq1;Is it?;yes;no\nq2;Was it?;yes;no\n"
    wrote, no_ratings = Expect(check=_wrote(2), refusal="never"), must_name("human ratings")
    for what, command, expect in (
        ("items", ("items", "own"), wrote),
        ("items without ratings of people", ("import", "people"), no_ratings),
    ):
        for name, sep in {"semicolons": b";", "tabs": b"\t", "bars": b"|"}.items():
            yield Case(
                family="Spreadsheets",
                what=f"{what} with {name} between",
                commands=((*command, "t.csv", "--out", "o.parquet"),),
                files={"t.csv": items.replace(b";", sep)},
                may_write=("o.parquet",),
                expect=expect,
                fast=name == "semicolons" and what == "items",
            )


def _wrote(n: int) -> Callable[[Came], str | None]:
    def check(came: Came) -> str | None:
        got = pq.read_table(came.folder / "o.parquet").num_rows
        if got != n:
            return f"wrote {got} rows, counted {n}"
        return None if "read with" in came.stderr else "defect|does not say how it was read"

    return check


def column_type_cases() -> Iterator[Case]:
    """Ids and numbers of every type that Parquet and JSON have."""
    day = datetime.date(2026, 1, 1)
    first = 2**53
    ids: dict[str, Callable[[int], Any]] = {
        "decimals": lambda n: decimal.Decimal(n),
        "dates": lambda n: day + datetime.timedelta(days=n),
        "times with a zone": lambda n: datetime.datetime(2026, 1, 1 + n, tzinfo=datetime.UTC),
        "bytes": lambda n: f"q{n}".encode(),
        "floats": float,
        "whole numbers beyond 2^53": lambda n: first + n,
    }
    for what, made in ids.items():
        rows = [[made(int(i[1:])), r, v] for i, r, v in ROWS]
        yield _typed(f"ids are {what} (.parquet)", "t.parquet", as_parquet(rows), MUST_READ)
    for what, start in {"2^53": first, "2^63": 2**63 - 6, "2^64": 2**64}.items():
        rows = [[start + int(i[1:]), r, v] for i, r, v in ROWS]
        for name, content in {"t.jsonl": as_jsonl(rows), "t.json": as_json(rows)}.items():
            yield _typed(f"ids are numbers from {what} on ({name[1:]})", name, content, MUST_READ)
    mixed = [[int(i[1:]) if r % 2 else i[1:], r, v] for i, r, v in ROWS]
    yield _typed("ids are numbers and texts (.jsonl)", "t.jsonl", as_jsonl(mixed), MUST_READ)
    temperatures = {
        "0.7, 0.70, 7e-1, .7 (.csv)": ("t.csv", as_csv, ("0.7", "0.70", "7e-1", ".7")),
        "0.7 as number and as text (.jsonl)": ("t.jsonl", as_jsonl, (0.7, "0.7")),
        "texts 0.7 and 0.70 (.parquet)": ("t.parquet", as_parquet, ("0.7", "0.70")),
    }
    for what, (name, write, given) in temperatures.items():
        rows = [[*row, given[k % len(given)]] for k, row in enumerate(CELLS)]
        content = write(rows, (*HEADER, "temperature"))  # type: ignore[operator]
        yield _typed(f"temperatures are {what}", name, content, MUST_READ)
    for what, start in {"2^53": first, "2^63": 2**63 - 8}.items():
        rows = [[i, start + r, v] for i, r, v in ROWS]
        for name, content in {
            "t.parquet": as_parquet(rows), "t.csv": as_csv(rows), "t.jsonl": as_jsonl(rows)
        }.items():  # fmt: skip
            yield _typed(f"replications from {what} on ({name[1:]})", name, content, MUST_REFUSE)
    rows = [[i, bool(r), v] for i, r, v in ROWS if r < 2]
    for name, content in {"t.parquet": as_parquet(rows), "t.jsonl": as_jsonl(rows)}.items():
        yield _typed(f"replications true and false ({name[1:]})", name, content, MUST_REFUSE)
    maps = as_parquet([[i, r, [("v", v)]] for i, r, v in CELLS],
                      verdict=pa.map_(pa.string(), pa.string()))  # fmt: skip
    yield _typed("verdicts are maps (.parquet)", "t.parquet", maps, MUST_REFUSE)


def _typed(what: str, name: str, content: bytes, expect: Expect) -> Case:
    return Case(
        family="Types of columns",
        what=what,
        commands=(reduce_json(name),),
        files={name: content},
        expect=expect,
        fast="2^53 on (.jsonl)" in what,
    )


# ---- words and names that look alike ----------------------------------------------------------

ALIKE: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "Yes, Yes.": (("Yes", "Yes."), ("No",)),
    "A, **A**": (("A", "**A**"), ("B", "**B**")),
    "A, (A), [[A]]": (("A", "(A)", "[[A]]"), ("B",)),
    "A, 'A' in quotation marks": (("A", '"A"'), ("B",)),
    "true, t": (("true", "t"), ("false", "f")),
    "true, 1": (("true", "1"), ("false", "0")),
    "50%, 50 %": (("50%", "50 %"), ("0%",)),
    "1.5, 1,5": (("1.5", "1,5"), ("0",)),
    "1, 01": (("1", "01"), ("0",)),
    "gro\u00df, GROSS": (("gro\u00df", "GROSS"), ("klein",)),
    "iyi, \u0130yi": (("iyi", "\u0130yi"), ("k\u00f6t\u00fc",)),
}


def look_alike_cases() -> Iterator[Case]:
    """Verdicts and names that a person reads as one: counted apart, and named."""
    for what, (passed, failed) in ALIKE.items():
        rows = words(passed, failed)
        comma = "1,5" in passed
        line = "a comma makes a number a word" if comma else "look alike"
        answer = Answer(numbers=counted(rows), messages=(line,))
        for name, write in {"t.csv": as_csv, "t.jsonl": as_jsonl}.items():
            yield Case(
                family="Words and names that look alike",
                what=f"verdicts {what} ({name[1:]})",
                commands=(reduce_json(name),),
                files={name: write(cells(rows))},
                expect=Expect(answers=(answer,), refusal="never"),
                fast=name == "t.csv" and what in ("Yes, Yes.", "1.5, 1,5"),
            )
    for word in ("-", "?", "undefined", "ERROR", "n.a.", "missing", "NaT"):
        rows = [(i, r, word if k % 5 == 0 else v) for k, (i, r, v) in enumerate(ROWS)]
        answer = Answer(numbers=counted(rows), messages=("counted as verdicts",))
        yield Case(
            family="Words and names that look alike",
            what=f"{word!r} may be no verdict",
            commands=(reduce_json("t.csv"),),
            files={"t.csv": as_csv(cells(rows))},
            expect=Expect(answers=(answer,), refusal="never"),
        )
    yield from _names_cases()


def _names_cases() -> Iterator[Case]:
    """Ids and judges are never merged; what differs in spelling alone is named."""
    ids: dict[str, Callable[[str, int], str]] = {
        "1 and 1.0": lambda i, r: i[1:] if r % 2 else f"{i[1:]}.0",
        "q1 and Q1": lambda i, r: i if r % 2 else i.upper(),
        "q1 and q1 with a blank": lambda i, r: i if r % 2 else f"{i} ",
    }
    for what, named in ids.items():
        rows = [(named(i, r), r, v) for i, r, v in ROWS]
        for name, write in {"t.csv": as_csv, "t.jsonl": as_jsonl}.items():
            answer = Answer(numbers=counted(rows), messages=("spelling alone",))
            yield Case(
                family="Words and names that look alike",
                what=f"ids {what} ({name[1:]})",
                commands=(reduce_json(name),),
                files={name: write(cells(rows))},
                expect=Expect(answers=(answer,)),
                fast=name == "t.csv" and what == "1 and 1.0",
            )
    judges = [[*row, ("gpt-4", "GPT-4 ")[row[1] % 2]] for row in CELLS]
    yield Case(
        family="Words and names that look alike",
        what="judges gpt-4 and GPT-4 with a blank",
        commands=(reduce_json("t.csv"),),
        files={"t.csv": as_csv(judges, (*HEADER, "judge"))},
        expect=Expect(check=_names_both("spelling alone")),
    )
    criteria = [[*row, ("help", "Help ")[row[1] % 2]] for row in CELLS]
    yield Case(
        family="Words and names that look alike",
        what="criteria help and Help with a blank",
        commands=(reduce_json("t.csv"),),
        files={"t.csv": as_csv(criteria, (*HEADER, "criterion"))},
        expect=Expect(check=_names_both("spelling alone")),
    )
    lines = {"block": (1, "24 rows"), "role": ("Judge", "read 'Judge' as judge")}
    for column, (value, line) in lines.items():
        some = [[*row, value if row[1] % 2 else ""] for row in CELLS]
        yield Case(
            family="Words and names that look alike",
            what=f"a {column} of another meaning in half the rows",
            commands=(reduce_json("t.csv"),),
            files={"t.csv": as_csv(some, (*HEADER, column))},
            expect=Expect(check=_names_both(line)),
        )
    other = as_csv([[i[1:] + ".0", r, v] for i, r, v in ROWS])
    some = as_csv([[i.upper() if int(i[1:]) < 4 else i, r, v] for i, r, v in ROWS])
    plain = as_csv([[i[1:], r, v] for i, r, v in ROWS])
    yield Case(
        family="Words and names that look alike",
        what="compare where one side has 1, the other 1.0",
        commands=(("compare", "a.csv", "b.csv"),),
        files={"a.csv": plain, "b.csv": other},
        expect=Expect(refusal="must", names=("item_id", r"'0\.0'")),
        fast=True,
    )
    two = as_csv([[*row, "xy"[row[1] % 2]] for row in CELLS], (*HEADER, "judge"))
    yield Case(
        family="Words and names that look alike",
        what="compare where one side has two judges, the other names none",
        commands=(("compare", "a.csv", "b.csv"),),
        files={"a.csv": as_csv(CELLS), "b.csv": two},
        expect=must_name("judge"),
        fast=True,
    )
    yield Case(
        family="Words and names that look alike",
        what="compare where some ids differ in case",
        commands=(("compare", "a.csv", "b.csv", "--format", "json"),),
        files={"a.csv": as_csv(CELLS), "b.csv": some},
        expect=Expect(check=_left_out(4), refusal="never"),
        fast=True,
    )


def _names_both(line: str) -> Callable[[Came], str | None]:
    def check(came: Came) -> str | None:
        return None if line in came.stderr else f"does not say {line!r}"

    return check


def _left_out(n: int) -> Callable[[Came], str | None]:
    """Compared are the questions of both sides; how many are left out is said."""

    def check(came: Came) -> str | None:
        rows = came.rows()
        counts = {(row["n_left_out_a"], row["n_left_out_b"], row["n_items"]) for row in rows}
        if counts != {(n, n, 12 - n)}:
            return f"left out and compared: {sorted(counts)}, counted {n}, {n}, {12 - n}"
        return None if "spelling alone" in came.stderr else "does not say which are left out"

    return check


# ---- logs of evaluation tools -----------------------------------------------------------------


def inspect_log() -> bytes:
    """A log of Inspect: samples with an epoch, a score's value beside the answer scored."""
    samples = [
        {"id": i, "epoch": r + 1, "input": "?", "target": "A",
         "scores": {"graded": {"value": "C" if v == "PASS" else "I", "answer": f"text {r}"}}}
        for i, r, v in ROWS
    ]  # fmt: skip
    return json.dumps({"version": 2, "status": "success", "samples": samples}).encode()


def promptfoo_document() -> bytes:
    """A document of promptfoo: results inside results, the provider's id beside."""
    rows = [
        {"testIdx": int(i[1:]), "repeatIndex": r, "provider": {"id": "openai:gpt"},
         "success": v == "PASS", "gradingResult": {"pass": v == "PASS", "reason": f"{i} {r}"}}
        for i, r, v in ROWS
    ]  # fmt: skip
    return json.dumps({"evalId": "e", "results": {"version": 3, "results": rows}}).encode()


def harness_samples() -> bytes:
    """Samples of lm-evaluation-harness: no number of the repeat, lists of replies."""
    rows = [{"doc_id": int(i[1:]), "target": "A", "filtered_resps": [v], "exact_match": 1.0}
            for i, _, v in ROWS]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def deepeval_document() -> bytes:
    """A document of DeepEval: two lists of records."""
    tests = [{"name": i, "metricsData": [{"score": 0.8, "success": v == "PASS"}]}
             for i, r, v in ROWS if r == 0]  # fmt: skip
    scores = [{"metric": "G-Eval", "scores": [0.1, 0.2]}]
    return json.dumps({"testCases": tests, "metricsScores": scores}).encode()


def tool_cases() -> Iterator[Case]:
    """They are read by what their columns mean, or refused with a command that works."""
    logs: dict[str, tuple[str, bytes, tuple[str, ...], tuple[str, ...]]] = {
        "Inspect": ("t.json", inspect_log(), (),
                    ("item_id=id", "replication=epoch", "verdict=scores.graded.value")),
        "promptfoo": ("t.json", promptfoo_document(), (r"item_id=testIdx",),
                      ("item_id=testIdx", "replication=repeatIndex", "verdict=gradingResult.pass")),
        "lm-evaluation-harness": ("t.jsonl", harness_samples(), ("replication: 0, 1, 2",), ()),
        "DeepEval": ("t.json", deepeval_document(), ("a log of deepeval", "import auto"), ()),
        "a summary in a last line": (
            "t.jsonl", as_jsonl(CELLS) + b'{"summary": {"agreement": 0.9}}\n', (), ()),
    }  # fmt: skip
    for what, (name, content, names, columns) in logs.items():
        for verb, commands in {
            "reduce": (reduce_json(name),),
            "import": (
                ("import", "table", name, "--out", "u.parquet"),
                reduce_json("u.parquet"),
            ),
        }.items():
            yield Case(
                family="Logs of evaluation tools",
                what=f"{what} as it is ({verb})",
                commands=commands,
                files={name: content},
                may_write=("u.parquet",),
                expect=READ_OR_REFUSED
                if what == "Inspect"
                else Expect(refusal="must", names=names if verb == "reduce" else ()),
                fast=what == "Inspect",
            )
        if columns:
            flags = [part for one in columns for part in ("--column", one)]
            yield Case(
                family="Logs of evaluation tools",
                what=f"{what}, its columns named",
                commands=(("import", "table", name, *flags, "--out", "u.parquet"),
                          reduce_json("u.parquet")),
                files={name: content},
                may_write=("u.parquet",),
                expect=MUST_READ,
                fast=True,
            )  # fmt: skip


def careless_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from spreadsheet_cases()
    yield from other_reader_cases()
    yield from column_type_cases()
    yield from look_alike_cases()
    yield from tool_cases()
