"""Systems compared: joined by question whatever the order, costs by hand, a preference planted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.selection.systems_compared import (
    ComparisonOptions,
    compare_systems,
    pair_tables,
    read_answer_costs,
)
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.measuring.systems import one_answer, read_systems
from judgerel_ray.stats import holm, mcnemar_exact

FEW = ComparisonOptions(resamples=40)


def _compared(rows, options=FEW):
    systems = read_systems(rows.lazy())
    return compare_systems(systems, read_answer_costs(rows.lazy(), systems), options)


def _pair(verdicts, other, *, shuffled=False):
    """Two judges on the same questions; the second's rows may lie in another order."""
    names = [f"q{n}" for n in range(len(verdicts))]
    order = np.random.default_rng(0).permutation(len(verdicts)) if shuffled else range(len(other))
    return pl.DataFrame(
        {
            "judge": ["a"] * len(verdicts) + ["b"] * len(other),
            "item_id": names + [names[n] for n in order],
            "verdict": [str(v) for v in verdicts] + [str(other[n]) for n in order],
            "confidence": [0.5 + 0.4 * v for v in verdicts] + [0.5 + 0.4 * other[n] for n in order],
            "gold": ["1"] * (len(verdicts) + len(other)),
        }
    )


def test_pairs_are_joined_by_question_never_by_row():
    rng = np.random.default_rng(4)
    first = rng.integers(0, 2, 80).tolist()
    second = [1 if n % 9 == 0 else v for n, v in enumerate(first)]
    plain, _ = pair_tables(read_systems(_pair(first, second).lazy()), FEW)
    mixed, _ = pair_tables(read_systems(_pair(first, second, shuffled=True).lazy()), FEW)
    assert plain.equals(mixed)
    row = plain.row(0, named=True)
    gained = sum(b > a for a, b in zip(first, second, strict=True))
    assert (row["first_only"], row["second_only"]) == (0, gained)
    assert row["p"] == mcnemar_exact(0, gained)


@pytest.mark.slow
def test_all_tables_are_the_same_of_rows_in_any_order(thinking):
    rows = thinking(50)
    plain, mixed = _compared(rows), _compared(rows.sample(fraction=1, shuffle=True, seed=1))
    for name, table in plain.tables().items():
        assert table.equals(mixed.tables()[name]), name


@pytest.mark.slow
def test_only_questions_of_both_are_compared(thinking):
    rows = thinking(40).filter((pl.col("judge") != "bob") | (pl.col("item_id") < "q2"))
    found = _compared(rows).pairs
    common = rows.filter(pl.col("judge") == "bob")["item_id"].n_unique()
    of_bob = found.filter(pl.col("first").str.contains("bob"), pl.col("second").str.contains("ada"))
    assert 0 < common < 40
    assert of_bob["n_questions"].unique().to_list() == [common]


@pytest.mark.slow
def test_holm_is_over_all_pairs(thinking):
    found = _compared(thinking(60)).pairs
    assert found["n_comparisons"].unique().to_list() == [36]
    assert found["p_holm"].to_list() == list(holm(found["p"].to_list()))


def test_errors_at_equal_acceptance_are_those_of_the_surest():
    pairs, shares = pair_tables(read_systems(_pair([1] * 6 + [0] * 4, [1] * 9 + [0]).lazy()), FEW)
    told = shares.select("acceptance", "first_error", "second_error")
    assert told.filter(pl.col("acceptance") == 0.5).row(0) == (0.5, 0.0, 0.0)
    assert told.filter(pl.col("acceptance") == 0.8).row(0) == pytest.approx((0.8, 0.25, 0.0))
    assert told.filter(pl.col("acceptance") == 1.0).row(0) == pytest.approx((1.0, 0.4, 0.1))
    assert pairs["error_difference"].item() < 0


def test_the_majority_is_of_replies_and_ties_go_to_the_first():
    rows = pl.DataFrame(
        {
            "question": [1] * 4 + [2] * 3,
            "replication": [3, 0, 1, 2, 0, 1, 2],
            "verdict": ["1", "2", "1", "2", None, None, "3"],
            "gold": ["1"] * 4 + ["3"] * 3,
            "stated": [0.5] * 7,
        }
    )
    found = one_answer(rows, "majority")
    assert found.select("verdict", "right", "sure", "n_votes").rows() == [
        ("2", False, 0.5, 4),
        ("3", True, pytest.approx(1 / 3), 3),
    ]
    three = one_answer(rows, "majority", k=3)
    assert three.select("verdict", "sure").row(0) == ("2", pytest.approx(2 / 3))
    assert one_answer(rows, "first")["verdict"].to_list() == ["2", None]


@pytest.mark.slow
def test_what_a_judge_costs_is_its_reply_and_the_answers_it_compares(thinking):
    rows = thinking(30, replications=5)
    found = _compared(rows).matched_cost
    assert found["unit"].unique().to_list() == ["tokens"]
    # A model alone: 120 to select, 180 to choose; a judge's reply: 440.
    costs = {"participant": 440 + 3 * 300, "evaluator_only": 440 + 2 * 300}
    for role, cost in costs.items():
        mine = found.filter(pl.col("second").str.contains(role))
        assert mine["second_cost"].to_list() == pytest.approx([cost] * 6)
        votes = mine.filter(pl.col("baseline") == "votes")
        assert votes["votes_wanted"].unique().to_list() == [cost // 300]
        assert (votes["first_cost"] <= cost).all()
        single = mine.filter(pl.col("baseline") == "single")
        assert single["first_cost"].to_list() == pytest.approx([300.0] * 3)


@pytest.mark.slow
def test_votes_are_no_more_than_were_asked_for(thinking):
    found = _compared(thinking(30, replications=2)).matched_cost
    votes = found.filter(pl.col("baseline") == "votes")
    assert votes["votes"].unique().to_list() == [2]
    assert (votes["votes_wanted"] > 2).all()


@pytest.mark.slow
def test_money_goes_before_tokens_and_tokens_before_requests(thinking):
    rows = thinking(10)
    priced = rows.with_columns(cost=pl.col("completion_tokens") * 0.01)
    assert _compared(priced).matched_cost["unit"][0] == "cost"
    asked = _compared(thinking(10, tokens=False)).matched_cost
    assert asked["unit"][0] == "requests"
    # Two requests an answer; a participant adds one to six.
    participant = asked.filter(pl.col("second").str.contains("participant"))
    assert participant["second_cost"].unique().to_list() == [7.0]


@pytest.mark.slow
def test_answers_at_several_temperatures_leave_costs_untold(thinking):
    rows = thinking(20, temperatures=(0.0, 0.7))
    untold = _compared(rows)
    assert set(untold.matched_cost["undefined"]) == {"several_answer_temperatures"}
    assert set(untold.self_preference["undefined"]) == {"several_answer_temperatures"}
    told = _compared(rows, ComparisonOptions(resamples=40, answer_temperature=0.7))
    assert told.matched_cost["undefined"].is_null().all()
    assert told.self_preference["n_disputed"].min() > 0


@pytest.mark.slow
def test_a_planted_preference_is_found_and_none_where_there_is_none(thinking):
    loyal = _compared(thinking(300, seed=2, replications=1, loyal=0.8)).self_preference
    assert (loyal["own_low"] > 0.1).all()
    assert (loyal["own_wrong_difference"] > 0.2).all()
    fair = _compared(thinking(300, seed=2, replications=1)).self_preference
    assert (fair["own_difference"].abs() < 0.1).all()
    # Evaluators are not shown it, and these judges pick among what they are shown.
    assert set(loyal["finding"]) == {"favours_its_own"}
    assert set(fair["finding"]) == {"option_was_shown"}
    row = fair.row(0, named=True)
    assert row["difference"] == pytest.approx(row["participant"] - row["evaluator_only"])


def test_only_disputed_questions_tell_of_preference():
    def row(judge, role, verdict, item):
        stage = "choose" if role == "responder" else "judge"
        return {"judge": judge, "role": role, "stage": stage, "item_id": item, "replication": 0,
                "verdict": verdict, "outcome": "scored", "gold": "1"}  # fmt: skip

    rows = [row(m, "responder", "1", "same") for m in "ab"]
    rows += [row("a", "responder", "2", "apart"), row("b", "responder", "1", "apart")]
    for role in ("participant", "evaluator_only"):
        for judge, picked in (("a", "2"), ("b", "1")):
            rows += [row(judge, role, "1", "same"), row(judge, role, picked, "apart")]
    found = _compared(pl.DataFrame(rows)).self_preference.filter(pl.col("judge") == "a")
    told = found.select("n_disputed", "own_picked", "own_picked_by_others", "n_own_wrong")
    assert told.rows() == [(1, 1.0, 0.0, 1)]
    as_evaluator = found.select("n_self", "self_picked", "self_picked_as_evaluator", "finding")
    assert as_evaluator.rows() == [(1, 1.0, 1.0, "not_distinguishable")]


def test_mistakes_are_named():
    one = pl.DataFrame({"item_id": ["q"], "verdict": ["1"], "gold": ["1"], "judge": ["a"]})
    with pytest.raises(SweepError, match="no two systems"):
        _compared(one)
    for choice in ({"answer": "last"}, {"confidence": "x"}, {"resamples": 0}):
        with pytest.raises(SweepError):
            ComparisonOptions(**choice)


def _charged(rows, ada, others):
    """The rows with what a reply cost."""
    return rows.with_columns(
        cost=pl.when(pl.col("judge") == "ada").then(pl.lit(ada)).otherwise(pl.lit(others))
    )


@pytest.mark.slow
def test_a_model_for_nothing_has_all_its_votes(thinking):
    found = _compared(_charged(thinking(30, replications=3), 0.0, 1.0)).matched_cost
    votes = found.filter(pl.col("baseline") == "votes", pl.col("first").str.contains("ada"))
    assert votes.height > 0
    assert votes.select("votes", "votes_wanted", "first_cost").unique().rows() == [(3, 3, 0.0)]


@pytest.mark.slow
def test_where_nothing_was_charged_tokens_are_compared(thinking):
    rows = thinking(30)
    with pytest.warns(ReadingWarning, match="column cost is not used, as all are 0"):
        free = _compared(_charged(rows, 0.0, 0.0)).matched_cost
    assert free.equals(_compared(rows).matched_cost)
    assert free["unit"].unique().to_list() == ["tokens"]


def test_one_cost_that_is_lacking_is_named():
    rows = _pair([1, 0], [1, 1]).with_columns(role=pl.lit("responder"))
    rows = rows.with_columns(cost=pl.Series([1.0] * (rows.height - 1) + [None]))
    says = rf"1 of {rows.height} rows has none \(row {rows.height}\): .* in requests"
    with pytest.warns(ReadingWarning, match=says):
        assert read_answer_costs(rows.lazy(), []).unit == "requests"


def test_a_column_of_costs_that_holds_none_tells_nothing():
    rows = _pair([1, 0], [1, 1]).with_columns(role=pl.lit("judge"), cost=pl.lit(None, pl.String))
    assert read_answer_costs(rows.lazy(), read_systems(rows.lazy())).unit == "requests"


@pytest.mark.slow
def test_money_that_buys_seven_replies_exactly_buys_seven(thinking):
    stage = pl.col("stage")
    price = pl.when(stage == "select").then(0.0).when(stage == "choose").then(0.1).otherwise(0.5)
    found = _compared(thinking(30).with_columns(cost=price)).matched_cost.filter(
        pl.col("baseline") == "votes", pl.col("second").str.contains("evaluator_only")
    )
    assert int((0.5 + 0.1 + 0.1) / 0.1) == 6
    assert found["votes_wanted"].unique().to_list() == [7]
