"""Right answers of a table: joined by benchmark and item, refused where a name may mean two."""

from __future__ import annotations

import polars as pl
import pytest

import judgerel_ray.counting.right_answers as right_answers
from judgerel_ray.core import SweepError
from judgerel_ray.counting.right_answers import (
    UnmatchedGold,
    find_unmatched_gold,
    refuse_unmatched_gold,
    with_right,
)

ROWS = pl.DataFrame(
    {"benchmark": ["x", "x", "y"], "item_id": ["q", "r", "q"], "verdict": ["1", "2", "2"]}
)


def test_items_of_one_name_have_the_right_answer_of_their_benchmark():
    gold = pl.DataFrame({"benchmark": ["y", "x"], "item_id": ["q", "q"], "gold": ["2", "1"]})
    assert with_right(ROWS, gold)["right"].to_list() == [True, False, True]


def test_gold_without_benchmark_is_refused_where_a_name_means_two_items():
    gold = pl.DataFrame({"item_id": ["q", "r"], "gold": ["1", "2"]})
    with pytest.raises(
        SweepError, match=r"several benchmarks share an item_id.*item_id=q.*benchmark"
    ):
        with_right(ROWS, gold)
    known = with_right(ROWS, gold.filter(pl.col("item_id") == "r"))
    assert known["gold"].to_list() == [None, "2", None]


def test_answers_without_benchmark_are_refused_where_gold_differs_between_them():
    gold = pl.DataFrame({"benchmark": ["x", "y"], "item_id": ["q", "q"], "gold": ["1", "2"]})
    rows = ROWS.drop("benchmark").head(2)
    with pytest.raises(SweepError, match=r"several right answers.*item_id=q"):
        with_right(rows, gold)
    same = gold.with_columns(gold=pl.lit("1"))
    assert with_right(rows, same)["right"].to_list() == [True, False]


def test_gold_that_is_null_is_none():
    gold = pl.DataFrame({"item_id": ["r", "r"], "gold": [None, "2"]})
    assert with_right(ROWS, gold)["right"].to_list() == [False, True, False]
    assert with_right(ROWS, gold).height == ROWS.height


def test_gold_of_other_items_is_not_called_null():
    rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "B"]})
    gold = pl.DataFrame({"item_id": ["q ", "r "], "gold": ["A", "B"]})
    with pytest.raises(
        SweepError, match=r"no right answer of a judged item.*'q', 'r'; gold is of 'q ', 'r '"
    ):
        with_right(rows, gold)


def test_letters_drawn_alike_are_told_by_their_code_points():
    cyrillic = "\u0410"
    gold = pl.DataFrame({"gold": ["A", cyrillic], "n": [3, 1]})
    found = find_unmatched_gold(gold, pl.DataFrame({"verdict": ["A", "B"]}))
    assert found is not None
    assert found.line().endswith(r"'\u0410'; verdicts are 'A', 'B'")
    with pytest.raises(SweepError, match=r"verdicts are 'A'; gold is '\\u0410'"):
        refuse_unmatched_gold(pl.DataFrame({"verdict": ["A"], "gold": [cyrillic]}))


def test_gold_that_is_free_text_is_told_by_few_of_its_texts(monkeypatch):
    verdicts = ("A", "B")
    gold = tuple(f"answer {number:06}" for number in range(50_000))
    compared = []
    known = right_answers.distinct_words
    monkeypatch.setattr(
        right_answers, "distinct_words",
        lambda words, **how: compared.append(len(words)) or known(words, **how),
    )  # fmt: skip
    line = UnmatchedGold(len(gold), len(gold) + 1, gold, verdicts).line()
    assert max(compared) < 50  # of each text with each, of 50,000, took minutes
    assert "'answer 000007', ...; verdicts are 'A', 'B'" in line
    assert "000008" not in line


def test_a_word_shown_of_many_has_its_code_points_where_one_left_out_looks_like_it():
    latin = tuple(f"z\u0430{number}" for number in range(9))  # a Cyrillic letter in each
    line = UnmatchedGold(10, 11, (*latin, "z\u03b10"), ("A",)).line()
    assert line.count("\\u") == 2  # z\u03b10 and z\u04300, of the eight that are shown
    alone = UnmatchedGold(9, 10, latin, ("za8",)).line()
    assert "'z\u04300'" in alone  # nothing looks like it
    assert alone.endswith("verdicts are 'za8'")
    assert r"\u0430" not in alone  # the ninth, which is alike, is not told
