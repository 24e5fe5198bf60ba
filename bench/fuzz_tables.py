"""Whatever table is given: one line of refusal, or the numbers that plain counting gives.

    OMP_NUM_THREADS=1 python -m bench.fuzz_tables [--tables 10_000] [--seed 1]

Hypothesis makes small tables (words as people write them, types, nulls, spellings, objects and
lists, duplicates, ragged rows) in sixteen forms: files of all kinds, and frames. The oracle reads
the table that was made, not the file: it knows what every cell was meant to be, cleans it by rules
written out here once more, and counts pairs in plain Python. Prints how many tables gave the
numbers that were counted, how many were refused in one line, and what anything else was; ends with
1 if there is any.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import math
import sys
import tempfile
import time
import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import judgerel_ray
from judgerel_ray.core import SweepError

EQUAL, REFUSED, OTHER = "equal to the plain count", "refused in one line", "ANYTHING ELSE"
PRINTED_EVERY = 1000
Rows = list[dict[str, Any]]
Table = tuple[Rows, str, str | None]
"""Rows of a table, how it is written, and what is wrong with it."""
NONE = {"", "nan", "n/a", "na", "null", "none", "<na>", "#n/a"}
WORDS = [
    "PASS",
    "pass",
    " PASS",
    "Pass ",
    "FAIL",
    "fail",
    "1",
    "1.0",
    "1 ",
    "01",
    "0",
    "-0",
    "true",
    "True",
    "tie",
    "N/A",
    "None",
    "nan",
    "NULL",
    "",
    "  ",
    "-",
    "caf\u00e9",
    "cafe\u0301",
    "a;b",
    "a,b",
    'say "x"',
    "two\nlines",
    "[[A]]",
    "{A}",
    "1e1",
    "10",
    "\u00a0A",
    "a\tb",
    "x|y",
]
"""Words as people write them, and what breaks readers."""
NESTED = [{"pass": True}, ["A", "B"], '{"pass": true}', "['A']", "{}", "[1]"]
OTHERS = [True, False, 1, 0, 2, 1.0, 0.5, float("nan"), None, 10**20, -1]
FORMS = ["csv", "tsv", "semicolon", "bar", "utf16", "bom", "crlf", "csv.gz", "jsonl", "json",
         "object", "jsonl.gz", "parquet", "frame", "lazy", "arrow"]  # fmt: skip
TYPED = {"parquet", "frame", "lazy", "arrow"}
"""Forms whose columns have one type each."""

cells = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS[:8]),
    st.sampled_from(OTHERS),
    st.text(
        st.characters(codec="utf-8", exclude_characters="\x00\r\x1c\x1d\x1e\x1f\u200b\u2060\ufeff"),
        max_size=4,
    ),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Rows of a table, with the columns it has and how it is written."""
    n_items, n_replications = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["words", "mixed", "bool", "int", "float", "nested", "text"]))
    values = {
        "words": st.sampled_from(WORDS[:12]),
        "mixed": cells,
        "bool": st.sampled_from([True, False, None]),
        "int": st.sampled_from([0, 1, 2, None]),
        "float": st.sampled_from([0.0, 1.0, 1.5, float("nan"), None]),
        "nested": st.one_of(st.sampled_from(NESTED), cells),
        "text": st.sampled_from(WORDS),
    }[kind]
    rows = [
        {"item_id": f"q{item}", "replication": replication, "verdict": draw(values)}
        for item in range(n_items)
        for replication in range(draw(st.integers(1, n_replications)))
    ]
    fault = draw(st.sampled_from([None] * 6 + ["twice", "no item", "half", "header", "ragged"]))
    if fault == "twice":
        rows.append(dict(rows[0]))
    elif fault == "no item":
        rows[-1]["item_id"] = None
    elif fault == "half":
        rows[-1]["replication"] = 0.5
    if draw(st.booleans()):  # beside what is read
        for row in rows:
            row["note"] = draw(cells)
    return rows, draw(st.sampled_from(FORMS)), fault


def as_text(value: Any) -> str | None:
    """A cell as text, as CSV has it; None of nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(value)


def uniform(values: Sequence[Any]) -> bool:
    """Whether a column of one type holds them without change."""
    kinds = {type(value) for value in values if value is not None}
    big = any(isinstance(value, int) and abs(value) >= 2**63 for value in values)
    return len(kinds) <= 1 and not kinds & {dict, list} and not big


def write(rows: Rows, form: str, fault: str | None, folder: Path) -> tuple[Any, list[Any]]:
    """The table in a form, what `reduce` is given, and what the verdicts have become."""
    names = list(rows[0])
    meant = [row["verdict"] for row in rows]
    if form in TYPED:
        columns = {}
        for name in names:
            values = [row[name] for row in rows]
            if not uniform(values):  # one type for all: text
                values = [as_text(value) for value in values]
            columns[name] = values
            meant = values if name == "verdict" else meant
        frame = pl.DataFrame(columns)
        if form == "parquet":
            frame.write_parquet(folder / "a.parquet")
        made = {"frame": frame, "lazy": frame.lazy(), "arrow": frame.to_arrow(),
                "parquet": str(folder / "a.parquet")}  # fmt: skip
        return made[form], meant
    if form.startswith("json") or form == "object":
        path = folder / f"a.{'json' if form == 'object' else form}"
        text = "\n".join(json.dumps(row) for row in rows)
        if form in ("json", "object"):
            text = json.dumps(rows if form == "json" else {"n": 1, "rows": rows})
        path.write_bytes(gzip.compress(text.encode()) if form.endswith("gz") else text.encode())
        return str(path), meant
    sign = {"tsv": "\t", "semicolon": ";", "bar": "|"}.get(form, ",")
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=sign, lineterminator="\r\n" if form == "crlf" else "\n")
    writer.writerow([*names, "verdict"] if fault == "header" else names)
    for number, row in enumerate(rows):
        fields = [as_text(row[name]) or "" for name in names]
        fields += ["x"] if fault == "header" or (fault == "ragged" and number == 0) else []
        writer.writerow(fields)
    codec = {"utf16": "utf-16", "bom": "utf-8-sig"}.get(form, "utf-8")
    path = folder / ("a.tsv" if form == "tsv" else "a.csv.gz" if form == "csv.gz" else "a.csv")
    content = stream.getvalue().encode(codec)
    path.write_bytes(gzip.compress(content) if form == "csv.gz" else content)
    return str(path), [as_text(value) for value in meant]


def is_nested(value: Any) -> bool:
    """Whether a verdict is an object or a list, or text that holds one."""
    if isinstance(value, dict | list):
        return True
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(value), dict | list)
    except ValueError:
        return value in ("['A']",)


def word(value: Any) -> str | None:
    """What all spellings of a verdict have in common; None of no verdict."""
    text = as_text(value)
    if text is None:
        return None
    text = " ".join(unicodedata.normalize("NFKC", text).strip().lower().split())
    if text in NONE:
        return None
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    whole = text.lstrip("+-").partition(".")[0].partition("e")[0]
    plain = whole.isascii() and len(text) <= 15 and text.isascii() and "_" not in text
    coded = len(whole) > 1 and whole.startswith("0")
    return f"n{number.normalize() + 0}" if number.is_finite() and plain and not coded else text


def counted(rows: Rows, verdicts: Sequence[Any]) -> dict[str, float | None]:
    """Percent agreement with and without replies that hold no verdict, and the counts."""
    units = defaultdict(list)
    words = [word(verdict) for verdict in verdicts]
    truths = {"n1": "true", "n0": "false"}
    # Beside true and false alone, 1 and 0 are these.
    if {*words} - {None} <= {*truths, *truths.values()} and {*words} & {*truths.values()}:
        words = [truths.get(one or "", one) for one in words]
    for row, one in zip(rows, words, strict=True):
        units[row["item_id"]].append(one)

    def agreement(groups: Iterable[list[str | None]]) -> float | None:
        shares = []
        for group in groups:
            n = len(group)
            if n > 1:
                alike = sum(k * (k - 1) for k in Counter(group).values())
                shares.append(alike / (n * (n - 1)))
        return sum(shares) / len(shares) if shares else None

    replies = [value for group in units.values() for value in group]
    return {
        "category": agreement(units.values()),
        "drop": agreement([[one for one in group if one is not None] for group in units.values()]),
        "valid": sum(one is not None for one in replies) / len(replies),
        "n_items": len(units),
        "n_judgments": len(replies),
    }


def outcome(table: Table, folder: Path) -> tuple[str, str]:
    """What came of one table: EQUAL, REFUSED or OTHER, and what is wrong with the last."""
    rows, form, fault = table
    made, verdicts = write(rows, form, fault, folder)
    delimited = form in ("csv", "tsv", "semicolon", "bar", "utf16", "bom", "crlf", "csv.gz")
    is_copy = fault == "twice" and (_cells(rows[0], delimited) == _cells(rows[-1], delimited))
    wrong = fault in ("no item", "half") or (fault == "twice" and not is_copy)
    wrong = wrong or (fault in ("header", "ragged") and delimited)
    wrong = bool(wrong or any(map(is_nested, verdicts)))
    if is_copy:  # counts once
        rows, verdicts = rows[:-1], verdicts[:-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", judgerel_ray.ReadingWarning)
            found = judgerel_ray.reduce(made, coefficients=["percent_agreement", "valid_rate"])
    except SweepError as error:
        is_right = wrong and "\n" not in str(error)
        return (REFUSED, "") if is_right else (OTHER, f"refused: {error}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  panics of libraries are no Exception
        return OTHER, f"{type(error).__name__}: {error}"
    if wrong:
        return OTHER, f"answered in spite of {fault or 'a nested verdict'}"
    differs = difference(found, counted(rows, verdicts))
    return (OTHER, differs) if differs else (EQUAL, "")


def _cells(row: Mapping[str, Any], delimited: bool) -> list[str | None]:
    """What a row says, as text; nothing is an empty text in a delimited file alone."""
    return [as_text(value) or ("" if delimited else as_text(value)) for value in row.values()]


def difference(found: pl.DataFrame, expected: Mapping[str, float | None]) -> str:
    """The first number that is not the one counted; empty where all are."""
    rows = {(row["coefficient"], row["missing"]): row for row in found.to_dicts()}
    category = rows["percent_agreement", "category"]
    numbers = [
        ("category", category["value"]),
        ("drop", rows.get(("percent_agreement", "drop"), category)["value"]),
        ("valid", rows["valid_rate", "category"]["value"]),
        *((name, row[name]) for row in rows.values() for name in ("n_items", "n_judgments")),
    ]
    for name, got in numbers:
        want = expected[name]
        if (got is None) != (want is None) or (want is not None and not math.isclose(got, want)):
            return f"{name} is {got}, counted {want}"
    return ""


def fuzz(n: int, number: int) -> tuple[Counter[str], list[str]]:
    """What came of n tables, and what is none of what may be, each with its table."""
    counts, began = Counter[str](), time.monotonic()
    wrong: list[str] = []

    @seed(number)
    @settings(
        max_examples=n, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(tables())
    def try_one(table: Table) -> None:
        with tempfile.TemporaryDirectory() as folder:
            kind, why = outcome(table, Path(folder))
        counts[kind] += 1
        if kind == OTHER:
            wrong.append(f"{why}: {table}")
        if counts.total() % PRINTED_EVERY == 0:
            print(f"{time.monotonic() - began:.0f} s: {line_of(counts)}", file=sys.stderr)

    try_one()
    return counts, wrong


def line_of(counts: Counter[str]) -> str:
    """Counts in a line."""
    kinds = ", ".join(f"{kind} {counts[kind]:,}" for kind in (EQUAL, REFUSED, OTHER))
    return f"{counts.total():,} tables: {kinds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    counts, wrong = fuzz(asked.tables, asked.seed)
    print(line_of(counts))
    for line in wrong[:20]:
        print(line)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
