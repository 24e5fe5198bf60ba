from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.core import SweepError
from judgerel_ray.reduce import census
from judgerel_ray.reduce.judgments import tally_file
from judgerel_ray.reduce.tally import Tally

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
        patch.setattr(census, "_FEW", 0)
        many = tally_file(file)
    assert counted(few, UNIT) == counted(many, UNIT)
    assert sum(row[-1] for row in counted(few, UNIT)) == frame.height


@pytest.mark.parametrize("looked_at", [1, 5])
def test_a_kind_that_was_not_seen_at_first_is_counted(looked_at, tmp_path, monkeypatch):
    monkeypatch.setattr(census, "_LOOKED_AT", looked_at)
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
