"""Values by name: real types of a program and texts of a command line, read by one parser."""

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.panels.voters import Price, price_of
from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import by_name, read_number

ROWS = pl.DataFrame(
    {
        "judge": ["a", "a", "b", "b"],
        "item_id": ["q", "r"] * 2,
        "replication": [0] * 4,
        "verdict": ["A", "B", "A", "A"],
        "gold": ["A", "B"] * 2,
        "prompt_tokens": [1000] * 4,
        "completion_tokens": [10] * 4,
    }
)


@pytest.mark.parametrize("given", [{"a": 0.5}, {"a": "0.5"}, ["a=0.5"], ("a =0.5",), "a=0.5"])
def test_a_mapping_and_texts_are_the_same(given):
    assert by_name(given, "--x", read_number) == {"a": 0.5}


def test_nothing_stays_nothing():
    assert by_name(None, "--x", read_number) is None
    assert by_name({}, "--x", read_number) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a"], "--x must be NAME=VALUE, each name once, got 'a'"),
        (["a="], "got 'a='"),
        (["=1"], "got '=1'"),
        (["a=1", "a=2"], "each name once, got 'a=2'"),
        (["a=much"], "--x must be a number, got 'much'"),
        ({"a": "nan"}, "--x must be a number, got 'nan'"),
        ({"a": True}, "--x must be a number, got True"),
        ({"a": [1]}, r"--x must be a number, got \[1\]"),
    ],
)
def test_what_means_nothing_is_refused(given, said):
    with pytest.raises(SweepError, match=said):
        by_name(given, "--x", read_number)


def test_the_last_sign_cuts_where_names_hold_some():
    assert by_name(["x=1=0.2"], "--price", price_of, cut=str.rpartition) == {
        "x=1": Price(reply=0.2)
    }


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "prices", [{"a": (2, 4), "b": [1, 0]}, {"a": "2,4", "b": "1,0"}, ["a=2,4", "b=1,0"]]
)
def test_prices_are_pairs_or_texts(prices):
    told = {"a": Price(prompt=2, completion=4), "b": Price(prompt=1, completion=0)}
    found, same = (judgerel_ray.panels(ROWS, prices=one) for one in (prices, told))
    assert found.members.equals(same.members)


def test_a_price_below_0_is_refused_in_python_too():
    with pytest.raises(SweepError, match="--price must be A_REPLY, or PROMPT,COMPLETION"):
        judgerel_ray.panels(ROWS, prices={"a": -1.0, "b": 1.0})


def test_a_tolerance_given_twice_is_refused():
    with pytest.raises(SweepError, match="--tolerance must be NAME=VALUE, each name once"):
        judgerel_ray.reduce(ROWS, tolerance=["valid_rate=0.5", "valid_rate=0.6"])


@pytest.mark.slow
def test_a_budget_is_a_number_a_text_or_a_mapping():
    rows = {"item_id": list("qqrrss"), "replication": [0, 1] * 3, "verdict": list("AABBAB")}
    budgets = (100, "100", {"judgments": 100}, "judgments=100")
    first, *others = (judgerel_ray.advise(pl.DataFrame(rows), budget=one).splits for one in budgets)
    assert first.height
    assert all(one.equals(first) for one in others)
    with pytest.raises(SweepError, match="--budget is in judgments, tokens, gpu_seconds"):
        judgerel_ray.advise(ROWS, budget={"euros": 5})
    with pytest.raises(SweepError, match="--budget must be a number, got ''"):
        judgerel_ray.advise(ROWS, budget="")


@pytest.mark.alike(3)
@pytest.mark.parametrize("size", ["9" * 5000, 0, True, "some", 1.5])
def test_the_size_of_a_facet_is_a_whole_number_or_a_word(size):
    with pytest.raises(SweepError, match="must be a whole number from 1 on, fixed or unlimited"):
        judgerel_ray.advise(ROWS, facet_sizes={"judge": size})


def test_columns_that_are_joined_are_a_tuple_or_a_text(tmp_path):
    log, out = tmp_path / "log.csv", tmp_path / "judgments.parquet"
    log.write_text("set,n,s1,s2\na,1,A,B\na,2,A,A\n")
    for columns in ({"item_id": ("set", "n")}, {"item_id": "set,n"}, ["item_id=set,n"]):
        judgerel_ray.import_judgments("table", log, out=out, columns=columns, repeats="s?")
        assert set(pl.read_parquet(out)["item_id"]) == {"a:1", "a:2"}
