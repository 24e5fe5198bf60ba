"""Files of judgments as people hold them: spellings, gaps, formats, delimiters, types."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.hostile.case import Answer, Came, Case, Expect
from bench.hostile.counted import Row, base_rows, counted

HEADER = ("item_id", "replication", "verdict")
Cells = Sequence[Sequence[Any]]


# ---- writing ----------------------------------------------------------------------------------


def as_csv(cells: Cells, header: Sequence[str] = HEADER, *, sep: str = ",") -> bytes:
    """Cells as a CSV; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=sep, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(cells)
    return text.getvalue().encode()


def as_tsv(cells: Cells, header: Sequence[str] = HEADER) -> bytes:
    """Cells with tabs between."""
    return as_csv(cells, header, sep="\t")


def as_jsonl(cells: Cells, header: Sequence[str] = HEADER) -> bytes:
    """One object a line."""
    return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in cells).encode()


def as_json(cells: Cells, header: Sequence[str] = HEADER) -> bytes:
    """A list of objects."""
    return json.dumps([dict(zip(header, row, strict=True)) for row in cells]).encode()


def as_parquet(cells: Cells, header: Sequence[str] = HEADER, **types: pa.DataType) -> bytes:
    """A Parquet file, of given types where they are named."""
    columns = list(zip(*cells, strict=True))
    arrays = [pa.array(column, type=types.get(name)) for name, column in zip(header, columns)]  # noqa: B905
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, names=list(header)), sink)
    return sink.getvalue().to_pybytes()


WRITERS: dict[str, Callable[[Cells], bytes]] = {
    "csv": as_csv,
    "tsv": as_tsv,
    "jsonl": as_jsonl,
    "json": as_json,
    "parquet": as_parquet,
}


def reduce_json(name: str, *more: str) -> tuple[str, ...]:
    """The command that prints numbers to be held against a count."""
    return ("reduce", name, "--format", "json", *more)


def cells(rows: Sequence[Row]) -> list[list[Any]]:
    """Rows as cells."""
    return [list(row) for row in rows]


# ---- spellings (what counts as one verdict) ---------------------------------------------------

# Spellings of the two verdicts, used in turn over the replications: one word, many hands.
SPELLINGS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "PASS, pass": (("PASS", "pass"), ("FAIL", "fail")),
    "Pass, PASS, pass": (("Pass", "PASS", "pass"), ("FAIL",)),
    "a blank before": (("PASS", " PASS"), ("FAIL", " FAIL")),
    "a blank behind": (("PASS", "PASS "), ("FAIL", "FAIL ")),
    "a tab behind": (("PASS", "PASS\t"), ("FAIL",)),
    "a line break behind": (("PASS", "PASS\n"), ("FAIL",)),
    "a no-break space behind": (("PASS", "PASS\u00a0"), ("FAIL",)),
    "blanks and case": (("PASS", " pass ", "Pass"), ("FAIL", "fail ")),
    "True, true, TRUE": (("True", "true", "TRUE"), ("False", "false")),
    "yes, Yes, YES": (("yes", "Yes", "YES"), ("no", "No", "NO")),
    "A, a": (("A", "a"), ("B", "b")),
    "1, 1.0": (("1", "1.0"), ("0", "0.0")),
    "1, 1.00, ' 1'": (("1", "1.00", " 1"), ("0",)),
    "2, 2.0, 10": (("2", "2.0"), ("10", "10.0")),
    "accents of one code point and of two": (("r\u00e9ussi", "re\u0301ussi"), ("non",)),
    "umlauts in capitals": (("ungen\u00fcgend", "UNGEN\u00dcGEND"), ("gut", "GUT")),
    "full-width letters": (("PASS", "\uff30\uff21\uff33\uff33"), ("FAIL",)),
    "a zero-width space": (("PASS", "PASS\u200b"), ("FAIL",)),
    "a byte order mark in cells": (("PASS", "\ufeffPASS"), ("FAIL",)),
}
TOGETHER = ("treated as the same verdict",)


def spelled(name: str) -> tuple[list[Row], list[Row]]:
    """The rows that were meant, and as they are written."""
    passed, failed = SPELLINGS[name]
    rows, written = base_rows(), []
    for i, (item, r, verdict) in enumerate(rows):
        words = passed if verdict == "PASS" else failed
        written.append((item, r, words[i % len(words)]))
    return rows, written


def spelling_cases() -> Iterator[Case]:
    """Spellings, by format and by verb."""
    for name in SPELLINGS:
        rows, written = spelled(name)
        meant = Answer(numbers=counted(rows), messages=TOGETHER)
        for ending, write in WRITERS.items():
            yield Case(
                family="Spellings of one verdict",
                what=f"{name} (.{ending})",
                commands=(reduce_json(f"t.{ending}"),),
                files={f"t.{ending}": write(cells(written))},
                expect=Expect(answers=(meant,), refusal=refused_or("never", ending)),
                fast=ending in ("csv", "parquet") and name in ("PASS, pass", "1, 1.0"),
            )
        yield from _spelled_verbs(name, written, rows, meant)


def refused_or(otherwise: str, ending: str) -> str:
    """Formats that may be refused, in one true line."""
    return "may" if ending in ("tsv", "json") else otherwise


def _spelled_verbs(name: str, written: list[Row], rows: list[Row], meant: Answer) -> Iterator[Case]:
    """The same file through other verbs."""
    files = {"t.csv": as_csv(cells(written))}
    share = round(100 * counted(rows)["percent_agreement", "category"])
    exact = Answer(numbers=counted(written))
    yield Case(
        family="Spellings of one verdict",
        what=f"{name} (--exact-values)",
        commands=(reduce_json("t.csv", "--exact-values"),),
        files=files,
        expect=Expect(answers=(exact,), refusal="never"),
        fast=name == "PASS, pass",
    )
    yield Case(
        family="Spellings of one verdict",
        what=f"{name} (import table, then reduce)",
        commands=(("import", "table", "t.csv", "--out", "u.parquet"), reduce_json("u.parquet")),
        files=files,
        may_write=("u.parquet",),
        expect=Expect(answers=(meant,), refusal="never"),
    )
    yield Case(
        family="Spellings of one verdict",
        what=f"{name} (report)",
        commands=(("report", "t.csv", "--out", "r.html"),),
        files=files,
        may_write=("r.html",),
        expect=Expect(check=page_share(share), refusal="never"),
        fast=name == "PASS, pass",
    )
    yield Case(
        family="Spellings of one verdict",
        what=f"{name} (compare with itself in clean spelling)",
        commands=(("compare", "t.csv", "clean.csv", "--format", "json"),),
        files={**files, "clean.csv": as_csv(_clean_words(name, rows))},
        expect=Expect(check=no_difference, refusal="may"),
    )
    yield Case(
        family="Spellings of one verdict",
        what=f"{name} (questions)",
        commands=(("questions", "t.csv", "--format", "json"),),
        files=files,
        expect=Expect(check=by_question(rows), refusal="never"),
    )


def _clean_words(name: str, rows: list[Row]) -> Cells:
    """The meant rows in the first spelling of every word."""
    passed, failed = SPELLINGS[name]
    return [[item, r, (passed if v == "PASS" else failed)[0]] for item, r, v in rows]


def page_share(share: int) -> Callable[[Came], str | None]:
    """The page's sentence on agreement states the share that was counted."""

    def check(came: Came) -> str | None:
        page = came.page()
        sentence = f"same verdict {share} %"
        return None if sentence in page else f"the page does not say {sentence!r}"

    return check


def no_difference(came: Came) -> str | None:
    """Two spellings of one file do not differ."""
    found = {row["coefficient"]: row["difference"] for row in came.rows()}
    wrong = {name: value for name, value in found.items() if value not in (0, 0.0, None)}
    return f"differs from itself: {wrong}" if wrong else None


def by_question(rows: Sequence[Row]) -> Callable[[Came], str | None]:
    """Every question has the agreement that was counted."""

    def check(came: Came) -> str | None:
        for row in came.rows():
            of_item = [one for one in rows if one[0] == row["item_id"]]
            want = counted(of_item)["percent_agreement", "category"]
            if abs(row["percent_agreement"] - want) > 1e-9:
                return f"{row['item_id']}: {row['percent_agreement']}, counted {want}"
        return None

    return check


# ---- what stands for no verdict ---------------------------------------------------------------

NO_VERDICT = ("NaN", "nan", "NAN", "N/A", "n/a", "NA", "null", "NULL", "None", "none", "", "  ",
              "#N/A", " NaN ", "<NA>")  # fmt: skip


def lacking_rows() -> list[Row]:
    """The base rows, every fifth without a verdict."""
    return [(i, r, None if k % 5 == 0 else v) for k, (i, r, v) in enumerate(base_rows())]


def missing_cases() -> Iterator[Case]:
    """Words for nothing are no verdict."""
    rows = lacking_rows()
    answer = Answer(numbers=counted(rows))
    for word in NO_VERDICT:
        written = [(i, r, word if v is None else v) for i, r, v in rows]
        for ending in ("csv", "jsonl", "parquet"):
            yield Case(
                family="No verdict",
                what=f"{word!r} (.{ending})",
                commands=(reduce_json(f"t.{ending}"),),
                files={f"t.{ending}": WRITERS[ending](cells(written))},
                expect=Expect(answers=(answer,), refusal="never"),
                fast=ending == "csv" and word in ("NaN", "N/A", "none"),
            )
    mixed = [(i, r, NO_VERDICT[k % 10] if v is None else v) for k, (i, r, v) in enumerate(rows)]
    for ending in WRITERS:
        yield Case(
            family="No verdict",
            what=f"ten words for nothing mixed (.{ending})",
            commands=(reduce_json(f"t.{ending}"),),
            files={f"t.{ending}": WRITERS[ending](cells(mixed))},
            expect=Expect(answers=(answer,), refusal=refused_or("never", ending)),
        )
    yield from _null_types(rows, answer)


def _null_types(rows: Sequence[Row], answer: Answer) -> Iterator[Case]:
    """Nulls of types."""
    words = {"PASS": 1.0, "FAIL": 0.0}
    floats = [[i, r, float("nan") if v is None else words[v]] for i, r, v in rows]
    nulls = [[i, r, None if v is None else words[v]] for i, r, v in rows]
    tables = {
        "a float NaN in Parquet": as_parquet(floats),
        "a float null in Parquet": as_parquet(nulls),
        "half-precision floats": as_parquet(floats, verdict=pa.float32()),
        "a dictionary column": as_parquet(
            cells(rows), verdict=pa.dictionary(pa.int32(), pa.string())
        ),
        "a large string column": as_parquet(cells(rows), verdict=pa.large_string()),
        "a string view column": as_parquet(cells(rows), verdict=pa.string_view()),
        "a Boolean column": as_parquet(
            [[i, r, None if v is None else v == "PASS"] for i, r, v in rows]
        ),
        "an integer column": as_parquet(
            [[i, r, None if v is None else int(words[v])] for i, r, v in rows]
        ),
        "a decimal column": as_parquet(nulls, verdict=pa.float64()),
    }
    for what, content in tables.items():
        yield Case(
            family="No verdict",
            what=what,
            commands=(reduce_json("t.parquet"),),
            files={"t.parquet": content},
            expect=Expect(answers=(answer,), refusal="never"),
            fast="NaN" in what,
        )


# ---- few verdicts: what leads -----------------------------------------------------------------


def few_verdict_cases() -> Iterator[Case]:
    """Replies without verdicts are not praised: the first sentence is about them."""
    for valid in (0, 1, 2, 5, 10, 20):
        rows = [(i, r, v if k % 48 < 48 * valid // 100 else None)
                for k, (i, r, v) in enumerate(base_rows())]  # fmt: skip
        share = sum(v is not None for *_, v in rows) / len(rows)
        for verb in ("reduce", "report"):
            commands = {
                "reduce": (("reduce", "t.csv"),),
                "report": (("report", "t.csv", "--out", "r.html"),),
            }[verb]
            yield Case(
                family="Few replies with a verdict",
                what=f"{valid} % of replies have one ({verb})",
                commands=commands,
                files={"t.csv": as_csv(cells(rows))},
                may_write=("r.html",),
                expect=Expect(check=leads_with_validity(share), refusal="may"),
                fast=valid in (0, 10),
            )
        yield Case(
            family="Few replies with a verdict",
            what=f"{valid} % of replies have one (JSON)",
            commands=(reduce_json("t.csv"),),
            files={"t.csv": as_csv(cells(rows))},
            expect=Expect(answers=(Answer(numbers=counted(rows)),), refusal="may"),
        )


def leads_with_validity(share: float) -> Callable[[Came], str | None]:
    """No sentence on agreement stands before one that says how few replies have a verdict."""
    percent = {f"{100 * share:.0f} %", f"{100 * share:.1f} %", f"{round(100 * share)} %"}
    few = [*percent, "no reply", "none of", "No reply", "None of", "without a verdict"]

    def check(came: Came) -> str | None:
        text = came.page() if (came.folder / "r.html").exists() else " ".join(came.stdout.split())
        praise = text.find("gives the same verdict")
        validity = min((at for word in few if (at := text.find(word)) >= 0), default=len(text))
        if 0 <= praise < validity:
            return f"leads with {text[praise : praise + 40]!r}"
        return None

    return check


# ---- places and options -----------------------------------------------------------------------


def place_cases() -> Iterator[Case]:
    """A file with orders whose verdicts may name an option or a place."""
    rows = [
        (f"q{i}", r, order, "A" if (i + r) % 4 else "B")
        for i in range(12)
        for order in (0, 1)
        for r in range(3)
    ]
    header = ("item_id", "replication", "option_order", "verdict")
    untrue = (r"[Ss]ame option,? \d+ %.{0,60}[Ss]ame place,? \d+ %", r"[Ff]ollows the place")
    same = sum(
        rows_of(rows, i, 0, a) == rows_of(rows, i, 1, b)
        for i in range(12) for a in range(3) for b in range(3)
    ) / (12 * 9)  # fmt: skip
    named = {
        "option": Expect(check=swap_share(same), refusal="never"),
        "place": Expect(check=swap_share(1 - same), refusal="never"),
    }
    for verb, more in (("reduce", ()), ("report", ("--out", "r.html"))):
        yield Case(
            family="What a verdict names",
            what=f"orders without a label ({verb})",
            commands=((verb, "t.csv", *more),),
            files={"t.csv": as_csv(rows, header)},
            may_write=("r.html",),
            expect=Expect(untrue=untrue),
            fast=True,
        )
    for names, expect in named.items():
        yield Case(
            family="What a verdict names",
            what=f"orders without a label, --verdict-names {names}",
            commands=(reduce_json("t.csv", "--verdict-names", names),),
            files={"t.csv": as_csv(rows, header)},
            expect=expect,
            fast=True,
        )
    plain = base_rows()
    nothing = Answer(numbers=counted(plain), messages=("changes nothing",))
    yield Case(
        family="What a verdict names",
        what="no orders, --verdict-names place",
        commands=(reduce_json("t.csv", "--verdict-names", "place"),),
        files={"t.csv": as_csv(cells(plain))},
        expect=Expect(answers=(nothing,)),
        fast=True,
    )
    yield Case(
        family="What a verdict names",
        what="orders without a label, --verdict-names nonsense",
        commands=(reduce_json("t.csv", "--verdict-names", "nonsense"),),
        files={"t.csv": as_csv(rows, header)},
        expect=Expect(refusal="must"),
    )
    yield Case(
        family="What a verdict names",
        what="orders without a label (JSON holds no swap consistency)",
        commands=(reduce_json("t.csv"),),
        files={"t.csv": as_csv(rows, header)},
        expect=Expect(check=no_swap),
    )


def rows_of(rows: Sequence[tuple[str, int, int, str]], item: int, order: int, r: int) -> str:
    """One verdict."""
    return next(v for i, n, o, v in rows if (i, n, o) == (f"q{item}", r, order))


def swap_share(share: float) -> Callable[[Came], str | None]:
    """Swap consistency is the share of pairs in two orders with the same option."""

    def check(came: Came) -> str | None:
        found = [r["value"] for r in came.rows() if r["coefficient"] == "swap_consistency"]
        if not found:
            return "defect|no swap_consistency"
        return None if abs(found[0] - share) < 1e-9 else f"{found[0]:.4f}, counted {share:.4f}"

    return check


def no_swap(came: Came) -> str | None:
    """Nobody said whether verdicts name options or places."""
    names = {
        row["coefficient"]: row["value"]
        for row in came.rows()
        if row["coefficient"] in ("swap_consistency", "position_bias") and row["value"] is not None
    }
    return f"states {names}" if names else None


def table_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from spelling_cases()
    yield from missing_cases()
    yield from few_verdict_cases()
    yield from place_cases()


def gzipped(content: bytes) -> bytes:
    """Compressed, without a time in it."""
    return gzip.compress(content, mtime=0)


def read_and_imported(
    family: str,
    contents: Mapping[str, tuple[bytes, Expect]],
    is_fast: Callable[[str], bool],
) -> Iterator[Case]:
    """A table reduced as it is, and reduced once it is imported."""
    imported = (("import", "table", "t.csv", "--out", "u.parquet"), reduce_json("u.parquet"))
    for what, (content, expect) in contents.items():
        for verb, commands in {"reduce": (reduce_json("t.csv"),), "import": imported}.items():
            # What was taken for no verdict is said where verdicts are counted.
            yield Case(
                family=family,
                what=f"{what} ({verb})",
                commands=commands,
                files={"t.csv": content},
                may_write=("u.parquet",),
                expect=expect,
                fast=verb == "reduce" and is_fast(what),
            )
