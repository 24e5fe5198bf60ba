"""Columns and tables of text: what is left out, what is said once, what is wrapped."""

from __future__ import annotations

import polars as pl

from judgerel_ray.blocks.blocks import (
    Column,
    Notes,
    Section,
    Span,
    Table,
    counts,
    estimates,
    key_columns,
    row_columns,
)
from judgerel_ray.blocks.columns import (
    plain_table,
    shared,
    table_within,
    varying_groups,
    wrapped,
)


def test_a_column_that_never_changes_goes_into_the_caption():
    columns = [Column(head="n", cells=["1", "2"]), Column(head="x", cells=["y", "y"])]
    assert Table("Two", columns).compact().caption == "Two (x: y)"


def test_columns_are_made_of_rows():
    assert key_columns([{"top_p": 0.5}], ["top_p"])[0].cells == ["0.5"]
    assert counts("n", [1000, None]).cells == ["1,000", "-"]
    rows = [{"share": 0.5, "low": 0.25, "high": 0.75}]
    accuracy = estimates("accuracy [95 %]", rows, "share")
    assert (accuracy.cells, accuracy.small) == (["0.500"], ["[0.250, 0.750]"])
    cells = row_columns(["who", "n"], [["a", "1"]], words=["who"])
    assert [one.is_number for one in cells] == [False, True]


def test_notes_are_numbered_as_they_are_first_used():
    notes = Notes()
    assert [notes.number(text) for text in ("a", "b", "a")] == [1, 2, 1]
    assert notes.texts == ["a", "b"]


def test_sections_are_linked_by_their_titles():
    assert Section("What came back", []).anchor == "what-came-back"
    assert Span("What came back", "section").anchor == "what-came-back"


def test_columns_are_aligned():
    expected = ["judge  value", "j      1"]
    assert plain_table(["judge", "value"], [["j", "1"]]).splitlines() == expected
    assert table_within(["judge", "value"], [["j", "1"]], ["judge"]).splitlines() == expected


def test_a_table_that_is_too_wide_names_its_judge_above():
    found = table_within(["judge", "what"], [["j", "word " * 20]], ["judge"]).splitlines()
    assert found[:2] == ["what", "judge j:"]
    assert max(map(len, found)) <= 80


def test_what_all_rows_share_is_said_once():
    rows = pl.DataFrame({"judge": ["a", "a"], "scale": ["x", "y"], "v": [1, 2]})
    assert varying_groups(rows, "v") == ["scale"]
    assert shared(rows, "v").strip() == "judge a"


def test_long_texts_are_wrapped():
    assert len(wrapped("word " * 30).splitlines()) == 2
