"""What verdicts follow, against pairs counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from judgerel_ray.measuring.order_effects import places_named_by_verdicts


def asked(rows: list[tuple[str, int, str, str]], **columns) -> pl.LazyFrame:
    names = ["item_id", "option_order", "verdict", "label"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(**{k: pl.lit(v) for k, v in columns.items()}).lazy()


def test_shares_are_means_over_questions_with_t_intervals():
    rows = [("q", 0, "x", "A"), ("q", 0, "x", "A"), ("r", 0, "x", "A"), ("r", 0, "y", "B")]
    row = places_named_by_verdicts(asked(rows)).row(0, named=True)
    assert (row["n_verdicts"], row["n_questions"], row["n_orders"]) == (4, 2, 1)
    assert row["is_place"] is True
    # Shares of A are 1 and 1/2: mean 3/4, s.e. 1/4, t(1) = 12.7062.
    assert [one["label"] for one in row["shares"]] == ["A", "B"]
    assert row["shares"][0]["share"] == pytest.approx(0.75)
    assert row["shares"][0]["half"] == pytest.approx(12.7062 / 4, rel=1e-5)


def test_only_verdicts_of_judges_in_the_first_block_count():
    rows = [("q", 0, "x", "A")] * 4
    frame = asked(rows).collect().with_columns(
        role=pl.Series(["judge", "responder", "judge", "judge"]),
        block=pl.Series([0, 0, 1, 0]),
        outcome=pl.Series(["scored", None, "scored", "unparsed"]),
    )  # fmt: skip
    assert places_named_by_verdicts(frame.lazy())["n_verdicts"].to_list() == [1]


def test_menus_are_known_where_all_rows_have_the_same():
    menus = {"best_of": {"b": 5, "c": 3}}
    told = {"protocol": "best_of", "benchmark": "b"}
    one = asked([("q", 0, "x", "A")], **told)
    other = asked([("q", 0, "x", "A")], **{**told, "benchmark": "c"})
    both = pl.concat([one, other])
    assert places_named_by_verdicts(one, menus=menus)["n_options"].to_list() == [5]
    assert places_named_by_verdicts(both, menus=menus)["n_options"].to_list() == [None]
    by = places_named_by_verdicts(both, by=["benchmark"], menus=menus)
    assert by.select("benchmark", "n_options").rows() == [("b", 5), ("c", 3)]
    assert places_named_by_verdicts(one)["n_options"].to_list() == [None]


def test_without_labels_the_answers_stand_and_are_no_places():
    frame = pl.LazyFrame({"item_id": ["q", "r"], "score": [1.0, 2.0]})
    row = places_named_by_verdicts(frame).row(0, named=True)
    assert row["is_place"] is False
    assert [one["label"] for one in row["shares"]] == ["1.0", "2.0"]


def test_a_group_that_is_null_keeps_its_numbers():
    frame = asked([("q", 0, "x", "A"), ("q", 1, "x", "B")]).with_columns(
        judge=pl.lit(None, pl.String)
    )
    row = places_named_by_verdicts(frame, by=["judge"]).row(0, named=True)
    assert (row["judge"], row["n_verdicts"], row["n_orders"]) == (None, 2, 2)
