"""Whatever table is given: one line of refusal, or the numbers that plain counting gives.

The oracle reads the table that was made, not the file: it knows what every cell was meant to be,
cleans it by rules written out here once more, and counts pairs in plain Python.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import math
import tempfile
import unicodedata
import warnings
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import judgerel_ray
from judgerel_ray.core import SweepError

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
def tables(draw):
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


def as_text(value):
    """A cell as text, as CSV has it; None of nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(value)


def uniform(values):
    """Whether a column of one type holds them without change."""
    kinds = {type(value) for value in values if value is not None}
    big = any(isinstance(value, int) and abs(value) >= 2**63 for value in values)
    return len(kinds) <= 1 and not kinds & {dict, list} and not big


def write(rows, form, fault, folder):
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


def is_nested(value):
    """Whether a verdict is an object or a list, or text that holds one."""
    if isinstance(value, dict | list):
        return True
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(value), dict | list)
    except ValueError:
        return value in ("['A']",)


def word(value):
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


def counted(rows, verdicts):
    """Percent agreement with and without replies that hold no verdict, and the counts."""
    units = defaultdict(list)
    for row, verdict in zip(rows, verdicts, strict=True):
        units[row["item_id"]].append(word(verdict))

    def agreement(groups):
        shares = []
        for group in groups:
            n = len(group)
            if n > 1:
                alike = sum(k * (k - 1) for k in Counter(group).values())
                shares.append(alike / (n * (n - 1)))
        return sum(shares) / len(shares) if shares else None

    said = [value for group in units.values() for value in group]
    return {
        "category": agreement(units.values()),
        "drop": agreement([[one for one in group if one is not None] for group in units.values()]),
        "valid": sum(one is not None for one in said) / len(said),
        "n_items": len(units),
        "n_judgments": len(said),
    }


def holds(table, folder):
    """Check one table; return whether it was read."""
    rows, form, fault = table
    made, verdicts = write(rows, form, fault, folder)
    delimited = form in ("csv", "tsv", "semicolon", "bar", "utf16", "bom", "crlf", "csv.gz")
    wrong = fault in ("twice", "no item", "half") or (fault and delimited)
    wrong = wrong or any(map(is_nested, verdicts))
    refused = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", judgerel_ray.ReadingWarning)
            found = judgerel_ray.reduce(made, coefficients=["percent_agreement", "valid_rate"])
    except SweepError as error:
        refused = error
    if refused is not None:
        assert "\n" not in str(refused), refused
        assert wrong, refused
        return False
    assert not wrong, (fault, verdicts)
    expected = counted(rows, verdicts)
    by_policy = {(row["coefficient"], row["missing"]): row for row in found.to_dicts()}
    category = by_policy["percent_agreement", "category"]
    drop = by_policy.get(("percent_agreement", "drop"), category)
    for row, policy in ((category, "category"), (drop, "drop")):
        assert row["value"] == pytest.approx(expected[policy]), (policy, verdicts)
    assert by_policy["valid_rate", "category"]["value"] == pytest.approx(expected["valid"])
    assert {row["n_items"] for row in found.to_dicts()} == {expected["n_items"]}
    assert {row["n_judgments"] for row in found.to_dicts()} == {expected["n_judgments"]}
    return True


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_any_table_is_counted_as_by_hand_or_refused(table):
    with tempfile.TemporaryDirectory() as folder:
        holds(table, Path(folder))


def test_the_oracle_tells_what_it_should():
    rows = [{"item_id": "q"}] * 4
    found = counted(rows, ["PASS", " pass", "1.0", "N/A"])
    assert (found["category"], found["drop"], found["valid"]) == (1 / 6, 1 / 3, 0.75)
    assert (found["n_items"], found["n_judgments"]) == (1, 4)
    different = ["PASS", "FAIL", "1", "01", "0", "true"]
    assert all(word(a) != word(b) for a, b in itertools.combinations(different, 2))
