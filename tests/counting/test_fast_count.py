from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.core import SweepError
from judgerel_ray.counting.groups import fast_count
from judgerel_ray.counting.groups import tally as tallying
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.judgments import tally_file

UNIT = ["judge", "item_id", "temperature"]


def counted(tally: Tally, names: list[str]) -> list[tuple[object, ...]]:
    """Counts by unit and kind."""
    return tally.nested.long(names).sort(pl.all()).rows()


ROW = st.fixed_dictionaries(
    {
        "judge": st.sampled_from(["a", "b"]),
        "item_id": st.sampled_from(["q", "r", "s"]),
        "temperature": st.sampled_from([0.5, 1.0]),
        "verdict": st.sampled_from(["A", "B", "", None]),
        "score": st.sampled_from([1.0, 2.0, None]),
    }
)


@pytest.mark.slow
@given(rows=st.lists(ROW, min_size=1, max_size=12), first=st.integers(0, 1))
@settings(max_examples=40, deadline=None)
def test_few_kinds_are_counted_as_many_are(rows, first, tmp_path_factory):
    frame = pl.DataFrame(
        rows,
        schema={
            "judge": pl.String,
            "item_id": pl.String,
            "temperature": pl.Float64,
            "verdict": pl.String,
            "score": pl.Float64,
        },
    )
    number = pl.int_range(pl.len(), dtype=pl.Int32).over(UNIT) + first
    frame = frame.with_columns(number.alias("replication"))
    file = str(tmp_path_factory.mktemp("few") / "judgments.parquet")
    frame.write_parquet(file)
    few = tally_file(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_count, "FEW", 0)
        many = tally_file(file)
    assert counted(few, UNIT) == counted(many, UNIT)
    assert sum(row[-1] for row in counted(few, UNIT)) == frame.height


@pytest.mark.parametrize("next_replies", [1, 5])
def test_a_kind_that_was_not_seen_at_first_is_counted(next_replies, tmp_path, monkeypatch):
    monkeypatch.setattr(fast_count, "_PROBED", next_replies)
    verdicts = ["A"] * 5 + ["B", None]
    frame = pl.DataFrame({"item_id": "q", "replication": range(7), "verdict": verdicts})
    frame.write_parquet(tmp_path / "judgments.parquet")
    tally = tally_file(str(tmp_path / "judgments.parquet"))
    assert counted(tally, ["item_id"]) == [
        ("q", None, None, "unparsed", 1),
        ("q", "A", None, "scored", 5),
        ("q", "B", None, "scored", 1),
    ]


def test_ids_that_are_one_when_they_are_read_are_counted_as_one(tmp_path):
    temperature = pl.Series([0.1, 0.1 + 1e-9], dtype=pl.Float64).cast(pl.Float32)
    frame = pl.DataFrame(
        {
            "item_id": [7, 7, 7, 7],
            "template": ["", None, "", None],
            "temperature": [temperature[0], temperature[1]] * 2,
            "replication": [0, 1, 2, 3],
            "verdict": ["A", "B", "A", "A"],
        },
        schema_overrides={"temperature": pl.Float32},
    )
    frame.write_parquet(tmp_path / "judgments.parquet")
    tally = tally_file(str(tmp_path / "judgments.parquet"))
    assert counted(tally, ["item_id", "template", "temperature"]) == [
        ("7", None, 0.1, "A", None, "scored", 3),
        ("7", None, 0.1, "B", None, "scored", 1),
    ]


@pytest.mark.parametrize(
    ("replications", "wrong"),
    [([0, 1, 2], False), ([1, 2, 3], False), ([5, 300, 7], False), ([1, 1, 2], True)],
)
def test_replications_that_are_no_range_are_looked_at_again(replications, wrong, tmp_path):
    frame = pl.DataFrame({"item_id": "q", "replication": replications, "verdict": ["A", "B", "A"]})
    frame.write_parquet(tmp_path / "judgments.parquet")
    file = str(tmp_path / "judgments.parquet")
    if wrong:
        with pytest.raises(SweepError, match="the same replication of the same question"):
            tally_file(file)
    else:
        assert counted(tally_file(file), ["item_id"]) == [
            ("q", "A", None, "scored", 2),
            ("q", "B", None, "scored", 1),
        ]


def test_more_kinds_than_a_few_are_counted(tmp_path):
    scores = [float(n) for n in range(40)]
    frame = pl.DataFrame({"item_id": "q", "replication": range(40), "score": scores})
    frame.write_parquet(tmp_path / "judgments.parquet")
    rows = counted(tally_file(str(tmp_path / "judgments.parquet")), ["item_id"])
    assert [row[2] for row in rows] == scores
    assert {row[-1] for row in rows} == {1}


def test_rows_of_a_late_kind_alone_are_counted_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fast_count, "_PROBED", 5)
    counted = []
    plain = fast_count.count_rows

    def count_rows(frame, *rest):
        found = plain(frame, *rest)
        counted.append(int(found["n"].sum()))
        return found

    monkeypatch.setattr(fast_count, "count_rows", count_rows)
    frame = pl.DataFrame(
        {
            "item_id": ["q"] * 8 + ["r"] * 4,
            "template": [None] * 4 + ["t"] * 8,
            "replication": [*range(4), *range(4), *range(4)],
            "verdict": ["A"] * 6 + ["B", None, "A", "A", "B", "C"],
        }
    )
    frame.write_parquet(tmp_path / "judgments.parquet")
    tally = tally_file(str(tmp_path / "judgments.parquet"))
    assert counted == [12, 4]
    assert counted_by_unit(tally) == {
        ("q", None, "A"): 4,
        ("q", "t", "A"): 2,
        ("q", "t", "B"): 1,
        ("q", "t", None): 1,
        ("r", "t", "A"): 2,
        ("r", "t", "B"): 1,
        ("r", "t", "C"): 1,
    }


def counted_by_unit(tally: Tally) -> dict[tuple[object, ...], int]:
    """Counts by item, template and verdict."""
    return {
        (item, template, verdict): n
        for item, template, verdict, _, _, n in counted(tally, ["item_id", "template"])
    }


@pytest.mark.parametrize("first", [0, 1, 7])
def test_replications_in_a_row_are_shown_distinct_by_one_count(first, tmp_path, monkeypatch):
    frame = pl.DataFrame(
        {
            "item_id": ["q"] * 3 + ["r"] * 2,
            "replication": [first, first + 2, first + 1, first, first + 1],
            "verdict": ["A", "B", "A", "A", "B"],
        }
    )
    frame.write_parquet(tmp_path / "judgments.parquet")

    def refuse(*_: object) -> None:
        raise AssertionError("rows were counted again")

    monkeypatch.setattr(tallying, "count_rows", refuse)
    tally = tally_file(str(tmp_path / "judgments.parquet"))
    assert sum(row[-1] for row in counted(tally, ["item_id"])) == 5


@pytest.mark.parametrize("replications", [[1, 1, 3], [-1, 0, 1], [2, 2]])
def test_replications_that_are_no_row_of_numbers_are_looked_at(replications, tmp_path):
    verdicts = ["A", "B", "A"][: len(replications)]
    frame = pl.DataFrame({"item_id": "q", "replication": replications, "verdict": verdicts})
    frame.write_parquet(tmp_path / "judgments.parquet")
    with pytest.raises(SweepError, match="replication"):
        tally_file(str(tmp_path / "judgments.parquet"))


SHOWN = st.fixed_dictionaries(
    {
        "item_id": st.sampled_from(["q", "r"]),
        "option_order": st.sampled_from([0, 1]),
        "verdict": st.sampled_from(["x", "y", "tie", "", None]),
        "label": st.sampled_from(["A", " B", "Tie", "", None]),
    }
)


@pytest.mark.slow
@given(rows=st.lists(SHOWN, min_size=1, max_size=14), next_replies=st.sampled_from([1, 3, 99]))
@settings(max_examples=60, deadline=None)
def test_places_are_counted_in_the_same_pass(rows, next_replies, tmp_path_factory):
    kinds = dict.fromkeys(["item_id", "verdict", "label"], pl.String) | {"option_order": pl.Int64}
    frame = pl.DataFrame(rows, schema=kinds)
    unit = ["item_id", "option_order"]
    frame = frame.with_columns(pl.int_range(pl.len()).over(unit).alias("replication"))
    file = str(tmp_path_factory.mktemp("places") / "judgments.parquet")
    frame.write_parquet(file)
    expected = Counter(
        (row["item_id"], row["option_order"], row["label"].strip())
        for row in rows
        if row["verdict"] and row["label"] in ("A", " B")
    )
    several = frame["option_order"].n_unique() > 1
    for most in (0, 12):  # many kinds, and few
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast_count, "FEW", most)
            patch.setattr(fast_count, "_PROBED", next_replies)
            nested = tally_file(file).nested
        assert (nested.places is not None) == several
        if nested.places:
            found = nested.by_place().long(unit).rows()
            assert {row[:3]: row[3] for row in found} == expected
            assert nested.long(unit)["n"].sum() == frame.height


@pytest.mark.parametrize("most", [0, 12])
def test_places_are_counted_where_labels_tell_rows_apart(most, tmp_path, monkeypatch):
    monkeypatch.setattr(fast_count, "FEW", most)
    monkeypatch.setattr(fast_count, "_PROBED", 3)
    rows = {
        "item_id": ["q", "q", "q", "r"] * 2,
        "replication": range(8),
        "option_order": [0, 0, 1, 1] * 2,
        "verdict": ["x", "y", "x", "new"] * 2,
        "label": ["A", "B", "B", "C"] * 2,
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "judgments.parquet")
    tally = tally_file(str(tmp_path / "judgments.parquet"), extra=["label"])
    assert sorted(tally.nested.by_place().long(["item_id", "option_order"]).rows()) == [
        ("q", 0, "A", 2),
        ("q", 0, "B", 2),
        ("q", 1, "B", 2),
        ("r", 1, "C", 2),
    ]
    assert sorted(counted(tally, ["item_id", "label", "option_order"])) == [
        ("q", "A", 0, "x", None, "scored", 2),
        ("q", "B", 0, "y", None, "scored", 2),
        ("q", "B", 1, "x", None, "scored", 2),
        ("r", "C", 1, "new", None, "scored", 2),
    ]
