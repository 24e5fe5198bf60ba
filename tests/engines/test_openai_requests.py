from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest

from judgerel_ray.core import Ask, Message, ProviderName, RequestRefused, Scoring, SweepError
from judgerel_ray.engines import EngineSpec, judge_fingerprint
from judgerel_ray.engines.openai.requests import (
    PROVIDERS,
    OpenAIOptions,
    openai_options,
    requests_of,
    tokens_at_most,
)

VLLM = OpenAIOptions(server="vllm", top_k=True)
PLAIN = OpenAIOptions()
NEWER = ("openai", "azure", "anthropic")
"""Providers with models that refuse temperature or top_p, even where they are 1."""


def spec_of(**options) -> EngineSpec:
    return EngineSpec(
        name="j", engine="openai", model="m", base_url="http://h/v1", engine_options=options
    )


def bodies(condition, *, n=1, chat=True, options=PLAIN):
    made = requests_of(
        Ask(condition=condition, first=0, n=n), model="m", chat=chat, options=options
    )
    return [one.body for one in made]


def test_a_plain_server_is_sent_only_what_the_api_has_words_for(make_condition):
    (body,) = bodies(make_condition(top_k=0, stop=("x",)))
    assert set(body) == {"model", "messages", "temperature", "top_p", "max_tokens", "seed"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_is_sent_what_it_takes(make_condition, provider):
    options = openai_options(replace(spec_of(), provider=provider))
    (body,) = bodies(make_condition(top_k=0, temperature=1.0), options=options)
    ones = {"temperature", "top_p"} - (set(body))
    assert ones == ({"temperature", "top_p"} if provider in NEWER else set())
    limit = "max_completion_tokens" if provider in ("openai", "azure") else "max_tokens"
    assert limit in body
    assert ("seed" in body) == (provider != "anthropic")
    assert ("top_k" in body) == (provider == "vllm")
    # What was written is sent to every provider, and what is declared wins.
    (body,) = bodies(make_condition(top_k=0, temperature=0.5, top_p=0.9), options=options)
    assert (body["temperature"], body["top_p"]) == (0.5, 0.9)
    declared = openai_options(replace(spec_of(seed=True, ones=True), provider=provider))
    assert declared.seed
    assert declared.ones


def test_every_provider_that_a_sweep_may_name_is_known():
    assert tuple(PROVIDERS) == get_args(ProviderName)


def test_a_vllm_server_is_left_no_default(make_condition):
    (body,) = bodies(make_condition(stop=("x", "y")), options=VLLM)
    assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (50, 0.0, 1.0)
    assert (body["stop"], body["include_stop_str_in_output"]) == (["x", "y"], True)
    (many,) = bodies(make_condition(stop=tuple("abcde")), options=VLLM)
    assert "stop" not in many  # its server takes four


def test_greedy_is_asked_without_a_seed_and_one_by_one(make_condition):
    options = OpenAIOptions(n=True)
    made = bodies(make_condition(top_k=0, temperature=0.0), n=3, options=options)
    assert len(made) == 3
    assert not any("seed" in body or "n" in body for body in made)


def test_a_server_without_seeds_is_sent_none_and_the_rows_keep_theirs(make_condition):
    condition = make_condition(top_k=0)
    made = requests_of(
        Ask(condition=condition, first=2, n=2),
        model="m",
        chat=True,
        options=OpenAIOptions(seed=False),
    )
    assert [one.seed for one in made] == [condition.seed_base + 2, condition.seed_base + 3]
    assert not any("seed" in one.body for one in made)


def test_the_limit_of_new_tokens_has_the_name_that_is_declared(make_condition):
    options = OpenAIOptions(token_limit="max_completion_tokens")
    (chat,) = bodies(make_condition(top_k=0), options=options)
    (plain,) = bodies(make_condition(top_k=0), chat=False, options=options)
    assert (chat["max_completion_tokens"], "max_tokens" in chat) == (40, False)
    assert plain["max_tokens"] == 40


def test_extra_body_is_sent_and_never_replaces_what_is_asked(make_condition):
    extra = {"reasoning_effort": "low"}
    (body,) = bodies(make_condition(top_k=0), options=OpenAIOptions(extra_body=extra))
    assert body["reasoning_effort"] == "low"
    assert body["model"] == "m"


def test_log_probabilities_are_asked_for_as_each_endpoint_says_it(make_condition):
    condition = make_condition(top_k=0, scoring=Scoring(kind="verdict"))
    (chat,) = bodies(condition)
    (plain,) = bodies(condition, chat=False, options=OpenAIOptions(logprobs=5))
    assert (chat["logprobs"], chat["top_logprobs"]) == (True, 20)
    assert plain["logprobs"] == 5


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({}, OpenAIOptions(), "top_k: the server is not declared to take it, got 50"),
        ({"top_k": 0, "scoring": Scoring(kind="tree")}, VLLM, "no_logprobs"),
        ({"top_k": 0, "scoring": Scoring(kind="verdict")}, OpenAIOptions(logprobs=0), "no_logprob"),
        ({"temperature": 0.005}, VLLM, "temperature_too_small"),
    ],
)
def test_what_a_server_would_answer_otherwise_is_refused(make_condition, changes, options, words):
    with pytest.raises(RequestRefused, match=words):
        bodies(make_condition(**changes), options=options)


@pytest.mark.parametrize("text", ["plain words", "żółć " * 5, "評価" * 10, "🙂" * 4])
def test_tokens_are_bounded_by_bytes(make_condition, text):
    prompt = (Message(role="system", content="s"), Message(role="user", content=text))
    condition = make_condition(top_k=0, prompt=prompt)
    (made,) = requests_of(
        Ask(condition=condition, first=0, n=1), model="m", chat=True, options=OpenAIOptions()
    )
    assert tokens_at_most(made) == 1 + len(text.encode()) + 2 * 16 + 40
    assert json.dumps(made.body)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sever": "vllm"}, "sever is not a key of a judge of engine openai .* Try: server"),
        ({"min_p": 0.1}, "min_p is not a key .* Try: extra_body = { ... }, which is sent as it"),
        ({"server": "tgi"}, "server must be one of .openai. or .vllm."),
        ({"n": 1}, "n must be true or false"),
        ({"logprobs": True}, "logprobs must be a whole number"),
        ({"logprobs": -1}, "logprobs must be at least 0, got -1"),
        ({"provider": ""}, "provider must be a text"),
        ({"extra_body": [1]}, "extra_body must be a table"),
        ({"extra_body": {"seed": 1}}, "extra_body must not set 'seed'"),
        ({"extra_body": {"api_key": "sk-1"}}, "must not hold secrets, got 'api_key'"),
        ({"extra_body": {"x": [{"access_token": "sk-1"}]}}, "secrets, got 'access_token'"),
        ({"token_limit": "tokens"}, "one of .max_tokens. or .max_completion_tokens."),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(SweepError, match=words) as caught:
        openai_options(spec_of(**options))
    assert "sk-1" not in str(caught.value)


def test_who_the_judge_is_follows_from_its_server_and_name_alone():
    one = judge_fingerprint(spec_of()).digest
    assert one == judge_fingerprint(spec_of(n=True, top_k=True)).digest
    assert one != judge_fingerprint(spec_of(extra_body={"reasoning_effort": "low"})).digest
    moved = EngineSpec(name="j", engine="openai", model="m", base_url="http://other/v1")
    assert one != judge_fingerprint(moved).digest
    named = [
        EngineSpec(
            name="j",
            engine="openai",
            model="m",
            base_url=url,
            engine_options={"provider": "ours"},
        )
        for url in ("http://one/v1", "http://two/v1")
    ]
    assert judge_fingerprint(named[0]).digest == judge_fingerprint(named[1]).digest
