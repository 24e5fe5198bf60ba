"""Files that are not what their name says: delimiters, formats, places, numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.hostile.case import Answer, Came, Case, Expect, must_name
from bench.hostile.counted import base_rows, counted
from bench.hostile.tables import (
    HEADER,
    as_csv,
    as_json,
    as_jsonl,
    as_parquet,
    as_tsv,
    cells,
    gzipped,
    read_and_imported,
    reduce_json,
)

ROWS = base_rows()
CELLS = cells(ROWS)
RIGHT = Answer(numbers=counted(ROWS))
READ_OR_REFUSED = Expect(answers=(RIGHT,))
MUST_READ = Expect(answers=(RIGHT,), refusal="never")
MUST_REFUSE = Expect(refusal="must")


# ---- delimiters and encodings -----------------------------------------------------------------


def delimiter_cases() -> Iterator[Case]:
    """Other signs between cells, through every verb that reads a table."""
    share = round(100 * RIGHT.numbers["percent_agreement", "category"])
    for word, sep in {"semicolons": ";", "tabs": "\t", "bars": "|"}.items():
        for ending in ("csv", "tsv", "txt"):
            name = f"t.{ending}"
            files = {name: as_csv(CELLS, sep=sep)}
            verbs: dict[str, tuple[tuple[tuple[str, ...], ...], Expect]] = {
                "reduce": ((reduce_json(name),), READ_OR_REFUSED),
                "import, reduce": (
                    (("import", "table", name, "--out", "u.parquet"), reduce_json("u.parquet")),
                    READ_OR_REFUSED,
                ),
                "report": (
                    (("report", name, "--out", "r.html"),),
                    Expect(check=lambda came: None if f"same verdict {share} %" in came.page()
                           else "the page gives another share"),
                ),
            }  # fmt: skip
            for verb, (commands, expect) in verbs.items():
                yield Case(
                    family="Delimiters and encodings",
                    what=f"{word} in a .{ending} ({verb})",
                    commands=commands,
                    files=files,
                    may_write=("u.parquet", "r.html"),
                    expect=expect,
                    fast=verb == "reduce" and ending == "csv",
                )
    text = as_csv(CELLS).decode()
    encodings = {
        "UTF-8 with a byte order mark": (text.encode("utf-8-sig"), MUST_READ),
        "UTF-16": (text.encode("utf-16"), READ_OR_REFUSED),
        "UTF-16, big end first": (text.encode("utf-16-be"), READ_OR_REFUSED),
        "UTF-32": (text.encode("utf-32"), READ_OR_REFUSED),
        "Windows line ends": (text.replace("\n", "\r\n").encode(), MUST_READ),
        "old Macintosh line ends": (text.replace("\n", "\r").encode(), READ_OR_REFUSED),
        "no line end at the end": (text.rstrip("\n").encode(), MUST_READ),
        "blank lines between": (text.replace("\n", "\n\n").encode(), READ_OR_REFUSED),
        "Latin-1 letters": (text.replace("PASS", "bestätigt").encode("latin-1"), READ_OR_REFUSED),
        "a comment line first": (b"# made by hand\n" + text.encode(), READ_OR_REFUSED),
        "a title line first": (b"My judgments\n" + text.encode(), READ_OR_REFUSED),
        "every cell quoted": (_quoted(), MUST_READ),
        "blanks after commas": (text.replace(",", ", ").encode(), READ_OR_REFUSED),
        "blanks around column names": (
            text.replace("item_id,replication", " item_id , replication").encode(),
            READ_OR_REFUSED,
        ),
        "column names in capitals": (
            text.replace("item_id,replication,verdict", "ITEM_ID,Replication,Verdict").encode(),
            READ_OR_REFUSED,
        ),
        "a separator hint of Excel first": (b"sep=,\n" + text.encode(), READ_OR_REFUSED),
        "a null byte in a cell": (text.replace("q3,", "q\x003,").encode(), READ_OR_REFUSED),
        "a null byte in every cell": (text.replace("q", "\x00q").encode(), READ_OR_REFUSED),
    }
    yield from read_and_imported(
        "Delimiters and encodings", encodings, lambda what: what.startswith("U")
    )


def _quoted() -> bytes:
    lines = [HEADER, *CELLS]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines).encode()


# ---- formats ----------------------------------------------------------------------------------


Contents = dict[str, tuple[str, bytes, Expect]]
"""By what is hostile: a file's name, its bytes, and what may come of them."""


def format_cases() -> Iterator[Case]:
    """Endings and contents that do not go together, compression, folders, broken files."""
    for what, (name, content, expect) in (
        _containers() | _without_rows() | _broken_files() | _odd_layouts()
    ).items():
        for verb, commands in {
            "reduce": (reduce_json(name),),
            "import": (("import", "table", name, "--out", "u.parquet"), reduce_json("u.parquet")),
        }.items():
            yield Case(
                family="Formats",
                what=f"{what} ({verb})",
                commands=commands,
                files={name: content},
                may_write=("u.parquet",),
                expect=expect,
                fast=verb == "reduce" and what in ("a .csv.gz", "a column verdict twice",
                                                   "a .jsonl with a line of prose", "no header"),
            )  # fmt: skip
    yield from _places()


def _containers() -> Contents:
    """Names, compression and contents that do not go together."""
    csv, parquet, jsonl = as_csv(CELLS), as_parquet(CELLS), as_jsonl(CELLS)
    return {
        "a .tsv": ("t.tsv", as_tsv(CELLS), READ_OR_REFUSED),
        "a .json list": ("t.json", as_json(CELLS), READ_OR_REFUSED),
        "a .json of lines": ("t.json", jsonl, READ_OR_REFUSED),
        "a list in a .jsonl": ("t.jsonl", as_json(CELLS), READ_OR_REFUSED),
        "a .json of columns": ("t.json", _columns(), READ_OR_REFUSED),
        "a .json of one object": ("t.json", b'{"results": []}', MUST_REFUSE),
        "a .csv.gz": ("t.csv.gz", gzipped(csv), READ_OR_REFUSED),
        "a .jsonl.gz": ("t.jsonl.gz", gzipped(jsonl), READ_OR_REFUSED),
        "a .gz of nobody knows what": ("t.gz", gzipped(csv), READ_OR_REFUSED),
        "a .csv that is compressed": ("t.csv", gzipped(csv), READ_OR_REFUSED),
        "a .gz that is not compressed": ("t.csv.gz", csv, READ_OR_REFUSED),
        "a .gz cut in half": ("t.csv.gz", gzipped(csv)[:60], MUST_REFUSE),
        "Parquet in a .csv": ("t.csv", parquet, READ_OR_REFUSED),
        "CSV in a .parquet": ("t.parquet", csv, READ_OR_REFUSED),
        "JSON lines in a .csv": ("t.csv", jsonl, READ_OR_REFUSED),
        "CSV in a .jsonl": ("t.jsonl", csv, READ_OR_REFUSED),
        "Parquet in a .jsonl": ("t.jsonl", parquet, READ_OR_REFUSED),
        "no ending": ("judgments", csv, READ_OR_REFUSED),
        "an ending in capitals": ("t.CSV", csv, READ_OR_REFUSED),
        "an Excel file": ("t.xlsx", b"PK\x03\x04" + b"\0" * 200, MUST_REFUSE),
        "a PDF in a .csv": ("t.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", MUST_REFUSE),
        "a PNG in a .parquet": ("t.parquet", b"\x89PNG\r\n\x1a\n" + b"\0" * 90, MUST_REFUSE),
    }  # fmt: skip


def _without_rows() -> Contents:
    """Files that hold no judgment."""
    return {
        "an empty .csv": ("t.csv", b"", MUST_REFUSE),
        "an empty .parquet": ("t.parquet", b"", MUST_REFUSE),
        "an empty .jsonl": ("t.jsonl", b"", MUST_REFUSE),
        "a .csv of a header": ("t.csv", as_csv([]), MUST_REFUSE),
        "a .csv of line breaks": ("t.csv", b"\n\n\n", MUST_REFUSE),
        "a .csv of one null byte": ("t.csv", b"\0", MUST_REFUSE),
        "a .jsonl of blank lines": ("t.jsonl", b"\n\n", MUST_REFUSE),
        "a .jsonl of numbers": ("t.jsonl", b"1\n2\n", MUST_REFUSE),
        "a .jsonl of nulls": ("t.jsonl", b"null\nnull\n", MUST_REFUSE),
        "a .jsonl of empty objects": ("t.jsonl", b"{}\n{}\n", MUST_REFUSE),
        "a .parquet of no rows": ("t.parquet", _no_rows(), MUST_REFUSE),
    }


def _broken_files() -> Contents:
    """Files cut, or with a line or some bytes that are no data."""
    parquet, jsonl = as_parquet(CELLS), as_jsonl(CELLS)
    half = len(parquet) // 2
    broken = jsonl.splitlines(keepends=True)
    return {
        "a .jsonl cut in its last line": ("t.jsonl", jsonl[:-10], _line(48)),
        "a .jsonl with a line of prose": (
            "t.jsonl", b"".join([*broken[:6], b"oops\n", *broken[6:]]), _line(7)),
        "a .jsonl with a comma too many": (
            "t.jsonl", b"".join([*broken[:3], b'{"item_id": "q",}\n', *broken[3:]]), _line(4)),
        "a .jsonl with single quotes": (
            "t.jsonl", jsonl.replace(b'"', b"'"), _line(1)),
        "a .jsonl with NaN": (
            "t.jsonl", jsonl.replace(b'"FAIL"', b"NaN"), Expect(answers=(_without("FAIL"),))),
        "a .jsonl with null": (
            "t.jsonl", jsonl.replace(b'"FAIL"', b"null"), Expect(answers=(_without("FAIL"),))),
        "a .parquet cut in half": ("t.parquet", parquet[:half], MUST_REFUSE),
        "a .parquet without its end": ("t.parquet", parquet[:-4], MUST_REFUSE),
        "a .parquet with its middle zeroed": (
            "t.parquet", parquet[:40] + bytes(80) + parquet[120:], MUST_REFUSE),
    }  # fmt: skip


def _odd_layouts() -> Contents:
    """Rows and columns that are no table of one header."""
    csv, jsonl = as_csv(CELLS), as_jsonl(CELLS)
    return {
        "a row with a cell too many": (
            "t.csv", csv.replace(b"q5,2,", b"q5,2,x,"), MUST_REFUSE),
        "a row with a cell too few": (
            "t.csv", csv.replace(b"q5,2,PASS", b"q5,2"), Expect(answers=(_without_row("q5", 2),))),
        "a comma at the end of every line": (
            "t.csv", csv.replace(b"\n", b",\n"), READ_OR_REFUSED),
        "an open quote": ("t.csv", csv.replace(b"q5,2,", b'q5,2,"', 1), _line(24)),
        "an open quote in the header": ("t.csv", b'"' + csv, _line(1)),
        "a quote in the middle of a field": (
            "t.csv", csv.replace(b"q5,2,PASS", b'q5,2,"PA"SS'), _line(24)),
        "colons between columns": ("t.csv", csv.replace(b",", b":"), must_name("':'")),
        "carets between columns": ("t.csv", csv.replace(b",", b"^"), must_name(r"'\^'")),
        "blanks between columns": ("t.csv", csv.replace(b",", b"  "), must_name("' '")),
        "a column verdict twice": (
            "t.csv", _twice("verdict"), MUST_REFUSE),
        "a column item_id twice": ("t.csv", _twice("item_id"), MUST_REFUSE),
        "a column verdict, and Verdict": (
            "t.csv", _twice("Verdict"), READ_OR_REFUSED),
        "a key twice in JSON lines": (
            "t.jsonl", jsonl.replace(b'"verdict"', b'"verdict": "X", "verdict"'), MUST_REFUSE),
        "a column without a name": ("t.csv", _twice(""), READ_OR_REFUSED),
        "two thousand columns": ("t.csv", _wide(2000), READ_OR_REFUSED),
        "a cell of a million characters": (
            "t.csv", csv.replace(b"q5,", b"q" * 1_000_000 + b","), READ_OR_REFUSED),
        "a column name of 5,000 characters": (
            "t.csv", csv.replace(b"verdict", b"v" * 5000), MUST_REFUSE),
        "the columns of another table": ("t.csv", b"a,b,c\n1,2,3\n", MUST_REFUSE),
        "numbers as column names": ("t.csv", b"0,1,2\nq1,0,A\nq1,1,A\n", MUST_REFUSE),
        "no header": ("t.csv", csv.partition(b"\n")[2], MUST_REFUSE),
        "the header again in the middle": (
            "t.csv", csv.replace(b"q6,0,", b"item_id,replication,verdict\nq6,0,"), MUST_REFUSE),
        "a line of totals at the end": ("t.csv", csv + b"total,,\n", MUST_REFUSE),
        "a line of totals that fits": ("t.csv", csv + b"TOTAL,0,67 %\n", Expect(answers=(
            Answer(numbers=counted([*ROWS, ("TOTAL", 0, "67 %")]), messages=("counted as quest",)),
        ))),
    }  # fmt: skip


def _line(number: int) -> Expect:
    """A refusal that names the line at fault."""
    return Expect(refusal="must", names=(rf"\b(line|row)\b\D{{0,3}}{number}\b",))


def _without(word: str) -> Answer:
    return Answer(numbers=counted([(i, r, None if v == word else v) for i, r, v in ROWS]))


def _without_row(item: str, number: int) -> Answer:
    return Answer(
        numbers=counted([(i, r, None if (i, r) == (item, number) else v) for i, r, v in ROWS])
    )


def _columns() -> bytes:
    return json.dumps({name: [row[k] for row in CELLS] for k, name in enumerate(HEADER)}).encode()


def _no_rows() -> bytes:
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    schema = pa.schema([("item_id", pa.string()), ("replication", pa.int64()),
                        ("verdict", pa.string())])  # fmt: skip
    pq.write_table(schema.empty_table(), sink)
    return sink.getvalue().to_pybytes()


def _twice(name: str) -> bytes:
    """One more column, whose values are others."""
    rows = [[*row, "FAIL" if k % 3 else "PASS"] for k, row in enumerate(CELLS)]
    return as_csv(rows, (*HEADER, name))


def _wide(n: int) -> bytes:
    return as_csv([[*row, *range(n)] for row in CELLS], (*HEADER, *(f"c{i}" for i in range(n))))


def _places() -> Iterator[Case]:
    """Folders, links, pipes and devices in place of a file."""
    parquet = as_parquet(CELLS)
    half = len(CELLS) // 2
    parts = {"d/a.parquet": as_parquet(CELLS[:half]), "d/b.parquet": as_parquet(CELLS[half:])}
    places: dict[str, tuple[dict[str, bytes], Callable[[Path], None] | None, str, Expect]] = {
        "a folder of Parquet": (parts, None, "d", READ_OR_REFUSED),
        "a folder of Parquet and a README": (
            {**parts, "d/README.md": b"hello"}, None, "d", READ_OR_REFUSED),
        "a folder judge=a of a file that says judge b": (
            {"d/judge=a/t.csv": as_csv([[*row, "b"] for row in CELLS], (*HEADER, "judge"))},
            None, "d", must_name("judge=a")),
        "a pattern of Parquet": (parts, None, "d/*.parquet", READ_OR_REFUSED),
        "a pattern that nothing fits": (parts, None, "d/*.csv", MUST_REFUSE),
        "an empty folder": ({}, lambda f: (f / "d").mkdir(), "d", MUST_REFUSE),
        "a folder named like a file": ({}, lambda f: (f / "d.parquet").mkdir(), "d.parquet",
                                       MUST_REFUSE),
        "a file with a star in its name": ({"t*.parquet": parquet}, None, "t*.parquet", MUST_READ),
        "a file with brackets in its name": ({"t[1].csv": as_csv(CELLS)}, None, "t[1].csv",
                                             MUST_READ),
        "a link to a file": ({"t.csv": as_csv(CELLS)},
                             lambda f: (f / "l.csv").symlink_to("t.csv"), "l.csv", MUST_READ),
        "a link to nothing": ({}, lambda f: (f / "l.csv").symlink_to("gone.csv"), "l.csv",
                              MUST_REFUSE),
        "a link to itself": ({}, lambda f: (f / "l.csv").symlink_to("l.csv"), "l.csv", MUST_REFUSE),
        "a pipe that nobody writes to": ({}, lambda f: os.mkfifo(f / "p.csv"), "p.csv",
                                         MUST_REFUSE),
        "/dev/null": ({}, None, "/dev/null", MUST_REFUSE),
        "/dev/zero": ({}, None, "/dev/zero", MUST_REFUSE),
        "/dev/zero named .csv": ({}, lambda f: (f / "z.csv").symlink_to("/dev/zero"), "z.csv",
                                 MUST_REFUSE),
        "an empty name": ({}, None, "", MUST_REFUSE),
        "a name of 5,000 characters": ({}, None, "t" * 5000 + ".csv", MUST_REFUSE),
        "a name with a null byte": ({}, None, "t\0.csv", MUST_REFUSE),
        "a dash for stdin": ({}, None, "-", MUST_REFUSE),
        "the folder it stands in": ({"t.csv": as_csv(CELLS)}, None, ".", READ_OR_REFUSED),
        "an address that is none": ({}, None, "nosuch://x/y.csv", MUST_REFUSE),
        "an address without a server": ({}, None, "http://127.0.0.1:9/t.csv", MUST_REFUSE),
        "a bucket that is not there": ({}, None, "memory://none/t.parquet", MUST_REFUSE),
        "a file:// address of nothing": ({}, None, "file:///none/t.parquet", MUST_REFUSE),
    }  # fmt: skip
    for what, (files, before, path, expect) in places.items():
        for verb, commands in {
            "reduce": (reduce_json(path),),
            "report": (("report", path, "--out", "r.html"),),
            "advise": (("advise", path),),
        }.items():
            if verb != "reduce" and expect.refusal != "must":
                continue
            yield Case(
                family="Places of a file",
                what=f"{what} ({verb})",
                commands=commands,
                files=files,
                before=before,
                expect=expect,
                fast=verb == "reduce" and "pipe" in what,
            )


# ---- numbers ----------------------------------------------------------------------------------


def number_cases() -> Iterator[Case]:
    """Numbers as people and programs write them, in columns of numbers."""
    wild = ("-1", "0.5", "1e400", "inf", "-inf", "0x1", "1,5", "1 000", "one", "9" * 20,
            "--", "1;2", "\u0661", "1e3000", "1_0", "TRUE", "2026-11-22")  # fmt: skip
    for column in ("replication", "temperature", "score", "option_order"):
        for value in wild:
            header = HEADER if column in HEADER else (*HEADER, column)
            where = header.index(column)
            rows = []
            for k, row in enumerate(CELLS):
                whole: list[Any] = [*row, "0.5"][: len(header)]
                if column == "option_order":
                    whole[-1] = "0"
                if k == 17:
                    whole[where] = value
                rows.append(whole)
            yield Case(
                family="Numbers",
                what=f"{column} {value!r} in one row",
                commands=(reduce_json("t.csv"),),
                files={"t.csv": as_csv(rows, header)},
                expect=Expect(check=_number_read(column, value), names=(column,)),
                fast=column == "replication" and value in ("-1", "one"),
            )
    for value in wild:
        rows = [[*row, "PASS", value if k == 17 else "0.5"] for k, row in enumerate(CELLS)]
        fits = value == "0.5"
        yield Case(
            family="Numbers",
            what=f"confidence {value!r} in one row",
            commands=(("select", "t.csv", "--format", "json"),),
            files={"t.csv": as_csv(rows, (*HEADER, "gold", "confidence"))},
            expect=Expect(refusal="never") if fits else must_name("confidence"),
        )
    repeated = {
        "the same row twice": [*CELLS, CELLS[5]],
        "the same replication with another verdict": [*CELLS, ["q1", 1, "OTHER"]],
        "all replications 0": [[i, 0, v] for i, _, v in CELLS],
        "replications as floats": [[i, float(r), v] for i, r, v in CELLS],
        "no item_id in one row": [*CELLS, ["", 9, "PASS"]],
        "no replication in one row": [*CELLS, ["q1", "", "PASS"]],
        "blanks around ids": [[f" {i} " if r % 2 else i, r, v] for i, r, v in CELLS],
        "replications from 100 on": [[i, r + 100, v] for i, r, v in CELLS],
    }
    for what, rows in repeated.items():
        # Of rows equal in every column, the replication among them, one is read, which is said.
        fits = what in ("replications as floats", "replications from 100 on", "blanks around ids",
                        "the same row twice")  # fmt: skip
        for name, content in {"t.csv": as_csv(rows), "t.jsonl": as_jsonl(rows)}.items():
            yield Case(
                family="Numbers",
                what=f"{what} ({name[1:]})",
                commands=(reduce_json(name),),
                files={name: content},
                expect=READ_OR_REFUSED if fits else MUST_REFUSE,
                fast=what.startswith("the same") and name == "t.csv",
            )


def _number_read(column: str, value: str) -> Callable[[Came], str | None]:
    """A number that Python reads as another than 0.5 makes another unit, never none."""

    def check(came: Came) -> str | None:
        try:
            read = float(value)
        except ValueError:
            return f"takes {value!r} for a {column}"
        if read in (float("inf"), float("-inf")):
            return f"takes {value!r} for a {column}"
        n = max(row.get("n_judgments") or 0 for row in came.rows())
        total = sum({json.dumps({k: row.get(k) for k in ("temperature",)}): row["n_judgments"] or 0
                     for row in came.rows()}.values())  # fmt: skip
        return None if max(n, total) >= 47 else f"counts {n} of 48 judgments"

    return check


def format_and_number_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from delimiter_cases()
    yield from format_cases()
    yield from number_cases()
