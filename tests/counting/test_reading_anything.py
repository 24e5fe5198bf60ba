"""Any table is counted as by hand or refused in one line: a few of ``bench/fuzz_tables.py``."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from bench.fuzz_tables import EQUAL, OTHER, REFUSED, counted, difference, outcome, tables, word


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_any_table_is_counted_as_by_hand_or_refused(table):
    with tempfile.TemporaryDirectory() as folder:
        kind, why = outcome(table, Path(folder))
    assert kind in (EQUAL, REFUSED), why


@pytest.mark.slow
def test_other_numbers_and_wrong_refusals_are_found(tmp_path):
    rows = [{"item_id": "q", "replication": n, "verdict": word} for n, word in enumerate("AAB")]
    assert outcome((rows, "csv", None), tmp_path) == (EQUAL, "")
    assert outcome(([*rows, rows[0]], "csv", "twice"), tmp_path) == (EQUAL, "")  # a copy
    assert outcome(([*rows, rows[0] | {"verdict": "B"}], "csv", "twice"), tmp_path)[0] == REFUSED
    assert outcome(([*rows, rows[0]], "csv", None), tmp_path)[0] == OTHER
    expected = counted(rows, ["A", "A", "B"])
    found = pl.DataFrame(
        {"coefficient": ["percent_agreement", "valid_rate"], "missing": ["category"] * 2,
         "value": [1 / 3, 1.0], "n_items": [1, 1], "n_judgments": [3, 3]}
    )  # fmt: skip
    assert difference(found, expected) == ""
    wrong = found.with_columns(n_judgments=pl.lit(4))
    assert difference(wrong, expected) == "n_judgments is 4, counted 3"
    assert (
        difference(found, {**expected, "drop": None}) == "drop is 0.3333333333333333, counted None"
    )


def test_the_oracle_tells_what_it_should():
    rows = [{"item_id": "q"}] * 4
    found = counted(rows, ["PASS", " pass", "1.0", "N/A"])
    assert (found["category"], found["drop"], found["valid"]) == (1 / 6, 1 / 3, 0.75)
    assert (found["n_items"], found["n_judgments"]) == (1, 4)
    different = ["PASS", "FAIL", "1", "01", "0", "true"]
    assert all(word(a) != word(b) for a, b in itertools.combinations(different, 2))
