from __future__ import annotations

import json
import math

import pytest

from judgerel_ray.core import DECLINED, EngineError, Menu, Scoring
from judgerel_ray.engines.openai.replies import (
    ReplyTokens,
    completions_of,
    read_answer_body,
    reply_tokens,
    served_logprobs,
)
from judgerel_ray.engines.openai.requests import Request

MENU = Menu(labels=("A", "B", "C"), option_ids=("x", "y", "z"), form="best_response")


def request_of(n: int = 1, chat: bool = True) -> Request:
    return Request(first=4, n=n, seed=100, chat=chat, body={})


def chat_choice(text: str | None = "Best Response: [[A]]", **changes):
    message = {"role": "assistant", "content": text}
    return {"index": 0, "message": message, "finish_reason": "stop", **changes}


def read(make_condition, choices, *, request=None, cuts=False, usage=None, **changes):
    request = request or request_of(len(choices))
    reply = read_answer_body({"choices": choices, "usage": usage}, request)
    condition = make_condition(top_k=0, **changes)
    return completions_of(reply, request, condition, cuts=cuts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "is not a JSON object"),
        ("{}", "0 of 1 replies"),
        ('{"choices": null}', "0 of 1 replies"),
        ('{"choices": [{}, {}]}', "2 of 1 replies"),
        ('{"choices": [{"index": 1}]}', "1 of 1 replies"),
    ],
)
def test_half_an_answer_is_none(text, words):
    with pytest.raises(EngineError, match=words):
        read_answer_body(json.loads(text), request_of())


def test_choices_out_of_order_are_put_in_order(make_condition):
    choices = [chat_choice(f"reply {i}", index=i) for i in (2, 0, 1)]
    found = read(make_condition, choices)
    assert [one.text for one in found] == ["reply 0", "reply 1", "reply 2"]
    assert [(one.replication, one.seed) for one in found] == [(4, 100), (5, 101), (6, 102)]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("stop", "stop"), ("end_turn", "stop"), ("eos", "stop"), ("length", "length")],
)
def test_whole_replies_end_for_a_reason(make_condition, reason, expected):
    assert read(make_condition, [chat_choice(finish_reason=reason)])[0].finish_reason == expected


@pytest.mark.parametrize("reason", [None, "tool_calls", "error", ""])
def test_what_is_not_whole_stays_pending(make_condition, reason):
    (error,) = read(make_condition, [chat_choice(finish_reason=reason)])
    assert isinstance(error, EngineError)
    assert "no whole reply" in str(error)


def test_a_reply_without_text_is_whole_only_where_its_tokens_went_elsewhere(make_condition):
    (error,) = read(make_condition, [chat_choice(None)])
    assert "has no text" in str(error)
    (spent,) = read(make_condition, [chat_choice(None, finish_reason="length")])
    assert (spent.text, spent.finish_reason) == ("", "length")


def test_text_in_parts_is_joined(make_condition):
    parts = [{"type": "text", "text": "Best "}, {"type": "text", "text": "Response"}]
    assert read(make_condition, [chat_choice(parts)])[0].text == "Best Response"


def test_a_declined_reply_keeps_what_was_written(make_condition):
    message = {"content": None, "refusal": "No."}
    (said,) = read(make_condition, [chat_choice(message=message)])
    (silent,) = read(make_condition, [chat_choice(None, finish_reason="content_filter")])
    assert (said.text, said.finish_reason) == ("No.", DECLINED)
    assert (silent.text, silent.finish_reason) == (None, DECLINED)


def test_counts_that_are_not_told_are_not_made_up(make_condition):
    (silent,) = read(make_condition, [chat_choice()])
    assert (silent.prompt_tokens, silent.cached_tokens, silent.completion_tokens) == (None,) * 3
    odd = {"prompt_tokens": -1, "completion_tokens": True, "prompt_tokens_details": "?"}
    (strange,) = read(make_condition, [chat_choice()], usage=odd)
    assert (strange.prompt_tokens, strange.completion_tokens) == (None, None)
    told = {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    (known,) = read(make_condition, [chat_choice()], usage=told)
    assert (known.prompt_tokens, known.cached_tokens, known.completion_tokens) == (9, 4, 3)


def test_of_several_replies_each_has_the_tokens_the_server_lists(make_condition):
    choices = [chat_choice(index=i, token_ids=list(range(i + 1))) for i in range(3)]
    found = read(make_condition, choices, usage={"prompt_tokens": 9, "completion_tokens": 6})
    assert [one.completion_tokens for one in found] == [1, 2, 3]


def test_a_reply_is_cut_behind_the_first_stop_string(make_condition):
    choice = chat_choice("Best Response: [[B]] as [[A]] lacks it", finish_reason="length")
    stop = ("Best Response: [[A]]", "Best Response: [[B]]")
    (cut,) = read(make_condition, [choice], cuts=True, stop=stop)
    assert (cut.text, cut.finish_reason) == ("Best Response: [[B]]", "stop")
    (kept,) = read(make_condition, [choice], cuts=False, stop=stop)
    assert kept.finish_reason == "length"


def listing(*pairs):
    return [{"token": token, "logprob": value, "bytes": None} for token, value in pairs]


def step(token, *pairs, **more):
    return {"token": token, "logprob": -0.1, "top_logprobs": listing(*pairs), **more}


def test_the_next_tokens_at_the_verdict_say_which_it_could_have_been(make_condition):
    steps = [
        step("Best Response: [["),
        step("B", ("B", -0.2), ("A", -1.9), ("?", -4.0)),
        step("]]"),
        step("</s>"),
    ]
    choice = chat_choice("Best Response: [[B]]", logprobs={"content": steps})
    scoring = Scoring(kind="verdict")
    (found,) = read(make_condition, [choice], scoring=scoring, menu=MENU)
    assert [(one.token, one.continuation, one.rank) for one in found.logprobs] == [
        ("B", 1, 1),
        ("A", 0, 2),
        ("?", None, 3),
    ]
    assert math.isclose(found.logprobs[1].logprob, -1.9)


def test_tokens_that_split_a_letter_are_joined_by_their_bytes():
    text = "« Best Response: [[C]]"
    first, second = text.encode()[:1], text.encode()[1:2]
    steps = [
        step("\ufffd", bytes=list(first)),
        step("\ufffd", bytes=list(second)),
        step(" Best Response: [["),
        step("C", ("C", -0.3), ("A", -1.5)),
        step("]]"),
    ]
    tokens = reply_tokens({"logprobs": {"content": steps}})
    found = served_logprobs(text, tokens, MENU)
    assert [one.continuation for one in found] == [2, 0]


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        {"tokens": ["x"]},
        {"content": [step("Best Response: [[")]},
        {"content": [step("something"), step(" else")]},
    ],
)
def test_lists_that_do_not_spell_the_reply_say_nothing(told):
    tokens = reply_tokens({"logprobs": told})
    assert served_logprobs("Best Response: [[B]]", tokens, MENU) == ()


def test_a_reply_without_a_verdict_has_no_place_for_one():
    tokens = ReplyTokens(tokens=(b"who", b" knows"), listings=((), ()))
    assert served_logprobs("who knows", tokens, MENU) == ()


@pytest.mark.parametrize(
    ("message", "text", "thought"),
    [
        ({"content": "[[A]]", "reasoning_content": "[[B]]?"}, "[[A]]", "[[B]]?"),
        ({"content": "[[A]]", "reasoning": "[[B]]?"}, "[[A]]", "[[B]]?"),
        ({"content": "\n[[B]]?\n[[A]]", "reasoning_content": "[[B]]?\n"}, "\n[[A]]", "[[B]]?\n"),
        ({"content": None, "reasoning_content": "[[B]]?"}, "", "[[B]]?"),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "[[B]]?"}]},
                         {"type": "text", "text": "[[A]]"}]},
            "[[A]]", "[[B]]?",
        ),
        ({"content": [{"type": "thinking", "thinking": "[[B]]?"}, {"text": "[[A]]"}]},
         "[[A]]", "[[B]]?"),
        ({"content": "[[A]]", "reasoning_content": " "}, "[[A]]", None),
    ],
)  # fmt: skip
def test_what_a_server_says_apart_of_a_thought_is_no_reply(make_condition, message, text, thought):
    (found,) = read(make_condition, [{"index": 0, "message": message, "finish_reason": "stop"}])
    assert (found.text, found.thought) == (text, thought)
