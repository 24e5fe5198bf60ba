"""Systems side by side: joined by question, with their votes, confidences and costs."""

import polars as pl
import pytest

from judgerel_ray.analyses.panels.voters import (
    Price,
    check_voters,
    price_of,
    read_reply_costs,
    read_voters,
)
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.measuring.systems import read_systems


def answers(judge, verdicts, **more):
    """Rows of one judge, question by question."""
    n = len(verdicts)
    told = {"item_id": [f"q{i}" for i in range(n)], "judge": judge, "replication": 0,
            "verdict": list(verdicts), "gold": ["1"] * n, **more}  # fmt: skip
    return pl.DataFrame(told)


def voters(*parts, **choice):
    frame = pl.concat(parts, how="diagonal_relaxed").lazy()
    systems = read_systems(frame)
    found = read_voters(systems, frame, **choice)
    check_voters(found, systems)
    return found


def test_rows_in_another_order_are_joined_by_question():
    one, other = answers("a", ["1", "2", "1"]), answers("b", ["2", "2", "1"])
    [straight] = voters(one, other)
    [turned] = voters(one.reverse(), other.sample(3, shuffle=True, seed=1))
    assert straight.votes_UJ.tolist() == turned.votes_UJ.tolist() == [[0, 1], [1, 1], [0, 0]]
    assert straight.right_U.tolist() == [0, 0, 0]


def test_questions_that_not_all_were_asked_are_dropped_and_told():
    [found] = voters(answers("a", ["1", "2", "1"]), answers("b", ["2", "2"]))
    assert (found.n_questions, found.n_dropped) == (2, 1)


def test_no_verdict_is_a_silent_vote_and_a_failed_request_is_none():
    silent = answers("b", [None, "1", "1"], outcome=["unparsed", "scored", "failed"]).with_columns(
        verdict=pl.Series([None, "1", None], dtype=pl.String)
    )
    [found] = voters(answers("a", ["1", "1", "1"], outcome="scored"), silent)
    assert found.votes_UJ.tolist() == [[0, -1], [0, 0]]
    assert found.n_dropped == 1


def test_replications_pair_up_by_their_number():
    many = pl.concat(
        [answers("a", ["1", "2"]), answers("a", ["2", "2"]).with_columns(replication=1)]
    )
    other = pl.concat(
        [answers("b", ["2", "1"]), answers("b", ["1", "1"]).with_columns(replication=5)]
    )
    [found] = voters(many, other)
    assert found.questions_U.tolist() == [0, 0, 1, 1]
    assert found.votes_UJ.tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]


def test_temperatures_are_panels_of_their_own():
    found = voters(
        *(answers(j, ["1", "1"], temperature=t) for j in ("a", "b") for t in (0.0, 1.0)),
        answers("c", ["1", "2"], temperature=1.0),
    )
    assert [(one.name["temperature"], one.members) for one in found] == [
        (0.0, ("a", "b")), (1.0, ("a", "b", "c")),
    ]  # fmt: skip


def test_confidence_without_a_verdict_is_none():
    mute = answers("b", ["1", None], confidence=[0.4, 0.9])
    [found] = voters(answers("a", ["1", "1"], confidence=[0.8, None]), mute)
    assert found.confidence_UJ[0].tolist() == [0.8, 0.4]
    assert all(one != one for one in found.confidence_UJ[1])  # NaN is no number


THINKING = [
    answers("a", ["1", "2"], role="responder", stage="choose", cost=[1.0, 3.0]),
    answers("b", ["1", "1"], role="responder", stage="choose", cost=4.0),
    answers("a", [None, None], role="responder", stage="select", cost=0.5),
    answers("b", [None, None], role="responder", stage="select", cost=0.25),
    answers("a", ["1", "1"], role="participant", stage="judge", cost=10.0),
    answers("a", ["2", "1"], role="evaluator_only", stage="judge", cost=[20.0, 22.0]),
]


def test_a_judge_costs_the_answers_it_compares_and_a_panel_pays_for_them_once():
    [found] = voters(*THINKING)
    place = {name: j for j, name in enumerate(found.members)}
    of = found.prices.of
    a, b = place["a responder"], place["b responder"]
    among, outside = place["a participant"], place["a evaluator_only"]
    assert (of([a]), of([b])) == (2.5, 4.25)
    assert (of([among]), of([outside])) == (10 + 2.5 + 4.25, 21 + 4.25)
    assert of([a, b, among, outside]) == 10 + 21 + 2.5 + 4.25
    assert found.cost_unit == "cost"
    assert found.spent_UJ[:, a].tolist() == [1.5, 3.5]
    assert found.spent_UJ[:, outside].tolist() == [20 + 4.25, 22 + 4.25]


def test_cost_is_money_else_tokens_else_requests():
    tokens = {"prompt_tokens": 90, "completion_tokens": [10, 30]}
    whole = answers("a", ["1", "1"], cost=[1.0, 2.0], **tokens)
    assert read_reply_costs(whole.lazy()).unit == "cost"
    holed = whole.with_columns(cost=pl.Series([1.0, None]))
    with pytest.warns(ReadingWarning, match=r"1 of 2 rows has none \(row 2\): .* in tokens$"):
        found = read_reply_costs(holed.lazy())
    assert (found.unit, found.of({"judge": "a"})) == ("tokens", {"": 110.0})
    with pytest.warns(ReadingWarning, match=r"2 of 2 rows have one below 0 \(the first is row 1"):
        assert read_reply_costs(whole.with_columns(-pl.col("cost")).lazy()).unit == "tokens"
    no_cost = whole.with_columns(cost=pl.lit(None, pl.Float64))
    assert read_reply_costs(no_cost.lazy()).unit == "tokens"
    bare = answers("a", ["1", "1"])
    assert (read_reply_costs(bare.lazy()).unit, read_reply_costs(bare.lazy()).of({})) == (
        "requests", {"": 1.0},
    )  # fmt: skip


def test_a_failed_request_hides_no_cost():
    rows = answers("a", ["1", None], cost=[2.0, None], outcome=["scored", "failed"])
    assert read_reply_costs(rows.lazy()).of({"judge": "a"}) == {"": 2.0}


def test_prices_are_of_a_reply_or_of_a_million_tokens():
    rows = answers("a", ["1", "1"], prompt_tokens=1_000_000, completion_tokens=[0, 500_000])
    told = {"a": price_of("0.8,4")}
    assert read_reply_costs(rows.lazy(), prices=told).of({"judge": "a"}) == pytest.approx({"": 1.8})
    assert read_reply_costs(rows.lazy(), prices={"a": Price(reply=0.25)}).of({}) == {"": 0.25}


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({"b": Price(reply=1)}, "no price of 'a'"),
        ({"a": Price(), "c": Price()}, "'c' has a price and no row"),
        ({"a": Price(prompt=1.0)}, "need prompt_tokens and completion_tokens"),
    ],
)
def test_prices_must_be_of_those_who_were_asked(prices, message):
    with pytest.raises(SweepError, match=message):
        read_reply_costs(answers("a", ["1"]).lazy(), prices=prices)


@pytest.mark.parametrize("text", ["", "x", "1,2,3", "-1", "nan"])
def test_a_price_is_one_number_or_two(text):
    with pytest.raises(ValueError, match="A_REPLY"):
        price_of(text)


@pytest.mark.parametrize(
    ("parts", "choice", "message"),
    [
        ([answers("a", ["1"])], {}, "no two systems answered the same questions.*got a"),
        (
            [answers("a", ["1"]), answers("b", ["1"]).with_columns(item_id=pl.lit("other"))],
            {}, "no two systems",
        ),
        ([answers("a", ["1"]), answers("b", ["1"])], {"confidence": "felt"}, "must be one of"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(parts, choice, message):
    with pytest.raises(SweepError, match=message):
        voters(*parts, **choice)


def test_systems_are_told_apart_by_judge():
    rows = answers("a", ["1"]).drop("judge").lazy()
    with pytest.raises(SweepError, match="need a column 'judge'"):
        read_voters(read_systems(rows), rows)


def test_answers_shown_in_several_orders_pair_up_whatever_the_order_of_rows():
    judge = pl.concat(
        [answers("a", ["1", "2"], option_order=0), answers("a", ["2", "2"], option_order=1)]
    )
    other = pl.concat(
        [answers("b", ["2", "1"], option_order=0), answers("b", ["1", "1"], option_order=1)]
    )
    [straight] = voters(judge, other)
    [turned] = voters(other.sample(4, shuffle=True, seed=4), judge.reverse())
    assert straight.votes_UJ.tolist() == turned.votes_UJ.tolist()
    assert straight.votes_UJ.tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]


def test_items_of_one_name_on_two_benchmarks_are_two_questions():
    parts = [
        answers(judge, [gold] * 3, benchmark=place).with_columns(gold=pl.lit(gold))
        for judge, known in (("a", "xy"), ("b", "y"))
        for place, gold in (("x", "1"), ("y", "2"))
        if place in known
    ]
    frame = pl.concat(parts).lazy()
    [found] = read_voters(read_systems(frame, by=["judge"]), frame)
    assert (found.n_questions, found.n_dropped) == (3, 3)
    assert not found.wrong_UJ.any()


def test_where_nothing_was_charged_tokens_tell_the_cost():
    free = answers("a", ["1"], cost=[0.0], prompt_tokens=90, completion_tokens=10)
    with pytest.warns(ReadingWarning, match="column cost is not used, as all are 0: answers"):
        assert read_reply_costs(free.lazy()).unit == "tokens"
    named = read_reply_costs(free.lazy(), prices={"a": Price(reply=0.0)})
    assert (named.unit, named.of({"judge": "a"})) == ("cost", {"": 0.0})
