from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.config import Prices
from judgerel_ray.core import CUT_IN_THOUGHT, Completion, Menu, request_key
from judgerel_ray.fleet import landed_rows, landing, never_sent
from judgerel_ray.fleet.landing import failure_rows, read_by_condition
from judgerel_ray.tables import Completions, Errors, Judgments

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def completion(ask, replication, text="Best Response: [[A]]", **changes) -> Completion:
    greedy = ask.condition.temperature == 0
    values = {
        "key": request_key(ask.condition.condition_key, replication),
        "replication": replication,
        "seed": None if greedy else ask.condition.seed_base + replication,
        "text": text,
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "cached_tokens": 4,
        "completion_tokens": 5,
    }
    return Completion(**{**values, **changes})


def land(*answered, prices=None, attempt=1):
    return landed_rows(answered, attempt=attempt, prices=prices, landed_at=NOW)


@pytest.mark.parametrize(
    ("option_ids", "label", "verdict"),
    [(("x", "y", "z"), "B", "y"), (("z", "y", "x"), "A", "z"), (("y", "z", "x"), "C", "x")],
)
def test_a_verdict_is_the_option_that_stood_where_the_label_says(
    asking, option_ids, label, verdict
):
    menu = Menu(labels=("A", "B", "C"), option_ids=option_ids, form="best_response")
    ask = asking.ask(menu=menu, option_order=3)
    row = land((ask, [completion(ask, 0, f"Best Response: [[{label}]]")])).judgments.row(
        0, named=True
    )
    assert (row["label"], row["verdict"], row["outcome"]) == (label, verdict, "scored")
    assert row["option_order"] == 3


def test_equal_replies_to_a_condition_are_read_once(asking, monkeypatch):
    seen = []

    def read(condition, text, finish_reason):
        seen.append((condition.item_id, text, finish_reason))
        return read_by_condition(condition, text, finish_reason)

    monkeypatch.setattr(landing, "read_by_condition", read)
    one, other = asking.ask(item="q1", n=5), asking.ask(item="q2", n=2)
    said = ["Best Response: [[A]]", "Best Response: [[B]]", "no", "Best Response: [[A]]", "no"]
    rows = land(
        (one, [completion(one, r, text) for r, text in enumerate(said)]),
        (other, [completion(other, r, said[r], finish_reason="length") for r in range(2)]),
    ).judgments
    assert len(seen) == len(set(seen)) == 5
    assert rows["label"].to_list() == ["A", "B", None, "A", None, "A", "B"]
    assert rows["item_id"].to_list() == ["q1"] * 5 + ["q2"] * 2
    assert rows["replication"].to_list() == [0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize(
    ("text", "finish_reason", "outcome"),
    [
        ("Best Response: [[A]]", "stop", "scored"),
        ("I would rather not.", "stop", "unparsed"),
        ("Well, let me think about", "length", "truncated"),
        ("Best Response: [[Q]]", "stop", "off_menu"),
    ],
)
def test_a_reply_without_a_verdict_has_an_outcome(asking, text, finish_reason, outcome):
    ask = asking.ask()
    row = land((ask, [completion(ask, 0, text, finish_reason=finish_reason)])).judgments.row(
        0, named=True
    )
    assert row["outcome"] == outcome
    assert (row["verdict"] is None) == (outcome != "scored")


def test_what_was_never_sent_lands_as_failed_without_text(asking):
    ask = asking.ask(n=3, first=2)
    rows = land((ask, never_sent(ask, "prompt_too_long: 9 > 8")))
    assert rows.judgments["outcome"].to_list() == ["failed"] * 3
    assert rows.judgments["verdict"].null_count() == 3
    assert rows.judgments["finish_reason"].to_list() == ["refused: prompt_too_long: 9 > 8"] * 3
    assert rows.completions["text"].null_count() == 3
    assert rows.judgments["replication"].to_list() == [2, 3, 4]
    assert rows.judgments["seed"].to_list() == [1002, 1003, 1004]


def test_a_responders_answer_has_no_outcome_and_no_verdict(asking):
    ask = asking.ask(role="responder", menu=None, responder="r")
    row = land((ask, [completion(ask, 0, "Because.")])).judgments.row(0, named=True)
    assert (row["outcome"], row["verdict"], row["label"]) == (None, None, None)
    refused = land((ask, never_sent(ask, "why"))).judgments.row(0, named=True)
    assert refused["outcome"] == "failed"


@pytest.mark.slow
@given(
    first=st.integers(0, 40),
    n=st.integers(1, 12),
    temperature=st.sampled_from([0.0, 0.5, 1.0]),
    item=st.sampled_from(["q1", "q2"]),
)
def test_rows_hold_to_the_rules_of_their_tables(asking, first, n, temperature, item):
    ask = asking.ask(item, first=first, n=n, temperature=temperature)
    other = asking.ask("other", n=1)
    rows = land(
        (ask, [completion(ask, r) for r in ask.replications]), (other, [completion(other, 0)])
    )
    Judgments.validate(rows.judgments)
    Completions.validate(rows.completions)
    assert rows.judgments["key"].to_list() == rows.completions["key"].to_list()
    assert rows.judgments["key"].to_list()[:n] == [
        request_key(ask.condition.condition_key, r) for r in ask.replications
    ]


@pytest.mark.parametrize("replications", [[0, 1], [0, 1, 2, 3], [0, 2, 1], [0, 0, 2], []])
def test_completions_that_are_not_those_asked_never_land(asking, replications):
    ask = asking.ask(n=3)
    with pytest.raises(ValueError, match=r"must be replications \[0, 1, 2\]"):
        land((ask, [completion(ask, r) for r in replications]))


def test_cost_is_by_token_and_absent_without_prices(asking):
    ask = asking.ask(n=2)
    both = [completion(ask, 0), completion(ask, 1)]
    priced = land((ask, both), prices=Prices(prompt=2.0, completion=6.0)).judgments
    assert priced["cost"].to_list() == pytest.approx([(10 * 2.0 + 5 * 6.0) / 1e6] * 2)
    assert land((ask, both)).judgments["cost"].null_count() == 2
    never = land((ask, never_sent(ask, "x")), prices=Prices(prompt=2.0)).judgments
    assert never["cost"].null_count() == 2


def test_failures_are_a_row_for_each_replication(asking):
    rows = failure_rows(
        [asking.ask("q1", first=3, n=2), asking.ask("q2")],
        lease="s0001-l000001",
        attempt=2,
        kind="deadline",
        message="late\nsecond line " + "x" * 900,
        failed_at=NOW,
    )
    Errors.validate(rows)
    assert rows["replication"].to_list() == [3, 4, 0]
    assert rows["item_id"].to_list() == ["q1", "q1", "q2"]
    assert set(rows["message"]) == {"late"}
    assert rows["key"].n_unique() == 3


def test_a_failure_may_have_no_words_and_keeps_only_so_many(asking):
    def message(text: str) -> str:
        rows = failure_rows(
            [asking.ask()], lease="", attempt=1, kind="k", message=text, failed_at=NOW
        )
        return rows["message"][0]

    assert message("  \n ") == ""
    assert len(message("y" * 2000)) == 500


def test_what_was_counted_of_a_refused_request_is_kept_and_costs_nothing(asking):
    ask = asking.ask(n=2)
    refused = never_sent(ask, "prompt_too_long", {"prompt_tokens": 61})
    rows = land((ask, refused), prices=Prices(prompt=1.0, completion=1.0)).judgments
    assert (rows["prompt_tokens"].to_list(), rows["cost"].null_count()) == ([61, 61], 2)
    assert [each.prompt_tokens for each in never_sent(ask, "no answer of y")] == [None, None]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Final Answer: 3\nReason: it fits.\nConfidence: 85%", ("z", "3", 0.85, "scored")),
        ("Final Answer: 3\nReason: it fits.\nConfidence: high", ("z", "3", None, "scored")),
        ("Final Answer: 7\nConfidence: 0.9", (None, None, None, "off_menu")),
        ("It may be 3.\nConfidence: 0.9", (None, None, None, "unparsed")),
    ],
)
def test_a_model_alone_gives_a_verdict_with_its_confidence(asking, text, read):
    menu = Menu(labels=("1", "3"), option_ids=("y", "z"), form="final_answer")
    ask = asking.ask(menu=menu, protocol="think_twice", stage="choose", role="responder")
    rows = land((ask, [completion(ask, 0, text)])).judgments
    row = rows.row(0, named=True)
    assert (row["verdict"], row["label"], row["confidence"], row["outcome"]) == read
    Judgments.validate(rows)


@pytest.mark.parametrize("role", ["participant", "evaluator_only"])
def test_a_judge_of_answers_states_its_own_confidence(asking, role):
    menu = Menu(labels=("0", "1"), option_ids=("y", "z"), form="correct_answer")
    ask = asking.ask(menu=menu, protocol="think_twice", stage="judge", role=role)
    text = "Model 0: Confidence: 0.1\nCorrect Answer: 1\nJudge Confidence: 0.75"
    rows = land((ask, [completion(ask, 0, text)])).judgments
    row = rows.row(0, named=True)
    assert (row["role"], row["verdict"], row["confidence"]) == (role, "z", 0.75)
    Judgments.validate(rows)


@pytest.mark.parametrize(
    ("text", "label", "outcome"),
    [
        ("Option: 0\nJustification: x\n\nOption: 1\nJustification: y", "0,1", None),
        ("Option: 5", None, "off_menu"),
        ("Both.", None, "unparsed"),
    ],
)
def test_a_selection_is_no_verdict(asking, text, label, outcome):
    menu = Menu(labels=("0", "1"), option_ids=("y", "z"), form="options", most=2)
    ask = asking.ask(menu=menu, protocol="think_twice", stage="select", role="responder")
    rows = land((ask, [completion(ask, 0, text)])).judgments
    row = rows.row(0, named=True)
    assert (row["verdict"], row["label"], row["outcome"]) == (None, label, outcome)
    Judgments.validate(rows)


def test_thoughts_are_kept_beside_replies(asking):
    ask = asking.ask(n=5, menu=Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"))
    came = [
        ("<think>[[B]]?</think>\n\nBest Response: [[A]]", "stop", None),
        ("Best Response: [[A]]", "stop", "It shows its </think> tag. Best Response: [[B]]"),
        ("<think>Best Response: [[B]]", "length", None),
        ("", "length", "Best Response: [[B]]"),
        ("Best Response: [[A]]", "stop", None),
    ]
    rows = land(
        (
            ask,
            [
                completion(ask, r, text, finish_reason=reason, thought=thought)
                for r, (text, reason, thought) in enumerate(came)
            ],
        )
    )
    kept = rows.completions.select("text", "thought").rows()
    assert kept == [
        ("Best Response: [[A]]", "<think>[[B]]?</think>\n\n"),
        ("Best Response: [[A]]", "It shows its </think> tag. Best Response: [[B]]"),
        ("", "<think>Best Response: [[B]]"),
        ("", "Best Response: [[B]]"),
        ("Best Response: [[A]]", None),
    ]
    read = rows.judgments.select("outcome", "finish_reason").rows()
    cut = ("truncated", CUT_IN_THOUGHT)
    assert read == [("scored", "stop"), ("scored", "stop"), cut, cut, ("scored", "stop")]
    # What is kept is read as what came.
    for (text, reason, _), (reply, _), (outcome, ended) in zip(came, kept, read, strict=True):
        read_again = read_by_condition(ask.condition, reply, ended)
        assert read_again == read_by_condition(ask.condition, text, reason)
        assert read_again.outcome == outcome
