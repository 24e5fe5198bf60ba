"""The engine that asks a server, against one that fails by plan over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import warnings

import pytest

from judgerel_ray.config import Limits
from judgerel_ray.core import (
    CUT_IN_THOUGHT,
    DECLINED,
    Ask,
    EngineError,
    EngineStartError,
    Menu,
    RequestRefused,
    SweepError,
    TokenCounts,
)
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.engines.openai import engine as openai_engine
from judgerel_ray.engines.openai import limits as openai_limits
from judgerel_ray.engines.openai.engine import OpenAIEngine
from judgerel_ray.engines.openai.replies import Reply, Usage, completions_of
from judgerel_ray.engines.openai.requests import OpenAIOptions, requests_of
from judgerel_ray.fleet.landing import read_by_condition, without_thought
from judgerel_ray.protocols import stop_strings
from tests.fault_server import LABELS

# Only what hangs takes as long: a true answer of a busy machine is never late.
PATIENT = {"timeout": 60.0, "deadline": 300.0, "retries": 4}


def spec_of(server, *, limits=None, **changes) -> EngineSpec:
    options = changes.pop("engine_options", {})
    return EngineSpec(
        name="j",
        engine="openai",
        model="tiny",
        base_url=server.url,
        limits=Limits(**{**PATIENT, **(limits or {})}),
        engine_options=options,
        **changes,
    )


def asked(spec: EngineSpec, *asks: Ask, fails: bool = False):
    """Answer asks side by side with one engine; errors stand where answers failed."""

    async def work():
        engine = make_engine(spec)
        assert isinstance(engine, OpenAIEngine)
        await engine.start()
        try:
            found = await asyncio.gather(
                *(engine.complete(engine.prepare(ask.condition), ask) for ask in asks),
                return_exceptions=True,
            )
            return engine, found
        finally:
            await engine.stop()

    engine, found = asyncio.run(work())
    if not fails:
        for one in found:
            if isinstance(one, BaseException):
                raise one
    return engine, found


@pytest.fixture
def ask_of(make_condition):
    def make(text="Which is best?", *, n=1, first=0, **changes):
        condition = make_condition(text, **{"top_k": 0, **changes})
        return Ask(condition=condition, first=first, n=n)

    return make


def test_every_replication_is_asked_with_its_own_seed_and_comes_back_in_order(fault_server, ask_of):
    ask = ask_of(n=20, first=3)
    with fault_server() as server:
        engine, (found,) = asked(spec_of(server), ask)
    base = ask.condition.seed_base
    assert [one.replication for one in found] == list(range(3, 23))
    assert [one.seed for one in found] == [base + r for r in range(3, 23)]
    assert sorted(seen.body["seed"] for seen in server.asked) == [base + r for r in range(3, 23)]
    assert len({one.text for one in found}) == 3
    first = found[0]
    assert (first.finish_reason, first.completion_tokens) == ("stop", 12)
    assert first.cached_tokens == first.prompt_tokens // 2
    prompt = sum(one.prompt_tokens for one in found)
    cached = sum(one.cached_tokens for one in found)
    assert engine.counters() == TokenCounts(prompt=prompt, cached=cached, generated=20 * 12)
    body = server.asked[0].body
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("tiny", 40, 1.0)
    assert "top_k" not in body
    assert body["messages"] == [{"role": "user", "content": "Which is best?"}]


def test_several_replications_in_one_request_are_those_of_as_many_requests(fault_server, ask_of):
    ask = ask_of(n=9, first=2)
    with fault_server() as server:
        _, (alone,) = asked(spec_of(server), ask)
        n_alone = len(server.asked)
        _, (together,) = asked(spec_of(server, engine_options={"n": True}), ask)
    assert (n_alone, len(server.asked)) == (9, 10)
    assert [one.text for one in alone] == [one.text for one in together]
    assert [one.seed for one in alone] == [one.seed for one in together]
    # Usage tells the sum of their tokens, and so of no one of them.
    assert {one.completion_tokens for one in together} == {None}


def test_plain_text_goes_to_the_plain_endpoint(fault_server, ask_of):
    with fault_server() as server:
        _, (found,) = asked(spec_of(server, chat_template=False), ask_of(temperature=0.0))
    body = server.asked[0].body
    assert body["prompt"] == "Which is best?"
    assert "seed" not in body
    assert "messages" not in body
    assert found[0].seed is None
    assert found[0].text.startswith("Best Response: [[")


def test_a_reply_is_cut_behind_its_verdict_as_an_engine_that_stops_there_would(
    fault_server, ask_of
):
    stop = tuple(f"Best Response: [[{label}]]" for label in "ABC")
    with fault_server() as server:
        _, (whole,) = asked(spec_of(server), ask_of(n=8))
        _, (cut,) = asked(spec_of(server), ask_of(n=8, stop=stop))
    assert all("stop" not in seen.body for seen in server.asked)
    assert all(one.text in stop for one in cut)
    assert {one.finish_reason for one in cut} == {"stop"}
    assert all(len(one.text) > 20 for one in whole)


def test_what_is_told_to_wait_waits_and_lands(fault_server, ask_of):
    with fault_server(shares={"429": 0.4}, retry_after="0.3") as server:
        _, (found,) = asked(spec_of(server), ask_of(n=12))
    assert len(found) == 12
    refused = [seen for seen in server.asked if seen.fault == "429"]
    assert refused
    for seen in refused:
        later = [one.at for one in server.asked if one.key == seen.key and one.at > seen.at]
        assert min(later) - seen.at >= 0.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_under_every_fault_a_request_lands_or_fails(fault_server, ask_of, seed):
    faults = ("429", "503", "500", "half", "hang", "json", "empty", "usage", "filter", "400")
    asks = [ask_of(f"Which, for item {i}?") for i in range(60)]
    limits = {"timeout": 8.0, "deadline": 40.0, "retries": 2, "concurrency": 60}
    with fault_server(shares=dict.fromkeys(faults, 0.06), seed=seed) as server:
        _, found = asked(spec_of(server, limits=limits), *asks, fails=True)
    last = {}
    for seen in server.asked:
        last[seen.body["messages"][0]["content"]] = seen.fault
    kinds = set()
    for ask, one in zip(asks, found, strict=True):
        fault = last[ask.condition.prompt[0].content]
        kinds.add(fault)
        if fault == "400":
            assert isinstance(one, RequestRefused)
        elif fault in (None, "usage", "filter"):
            (completion,) = one
            assert completion.finish_reason == (DECLINED if fault == "filter" else "stop")
            assert (completion.completion_tokens is None) == (fault == "usage")
        else:
            assert type(one) is EngineError
    assert {None, "400", "json", "usage"} <= kinds


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("500", EngineError, "HTTP 500"),
        ("half", EngineError, "after 3 tries; limits: retries = 2"),
        ("hang", EngineError, "no answer in 0.2 s"),
        ("json", EngineError, "is not JSON"),
        ("empty", EngineError, "gave 0 of 1 replies"),
        ("400", RequestRefused, "maximum context length"),
        ("parameter", SweepError, "temperature is not taken"),
        ("quota", SweepError, "no money left"),
    ],
)
def test_each_failure_is_told_by_whose_fault_it_is(fault_server, ask_of, fault, kind, words):
    # What hangs is given up soon; what is answered may take a busy machine its time.
    limits = {"timeout": 0.2 if fault == "hang" else 60.0, "deadline": 300.0, "retries": 2}
    with fault_server(shares={fault: 1.0}) as server:
        _, (error,) = asked(spec_of(server, limits=limits), ask_of(), fails=True)
    assert type(error) is kind
    assert words in str(error)
    assert "\n" not in str(error)
    assert len(server.asked) == (3 if fault in ("500", "half", "hang") else 1)


@pytest.mark.parametrize("fault", ["filter", "refusal", "policy"])
def test_what_is_declined_outside_the_text_is_a_reply(fault_server, ask_of, fault):
    with fault_server(shares={fault: 1.0}) as server:
        _, (found,) = asked(spec_of(server), ask_of(n=2))
    assert [one.finish_reason for one in found] == [DECLINED, DECLINED]
    assert {one.text for one in found} == {"I will not judge this." if fault == "refusal" else None}
    assert len(server.asked) == 2


def test_a_server_that_takes_nothing_of_a_judge_is_not_asked_on(fault_server, ask_of):
    async def work(spec, ask):
        engine = make_engine(spec)
        await engine.start()
        for _ in range(5):
            with pytest.raises(SweepError, match="takes nothing of this judge"):
                await engine.complete(engine.prepare(ask.condition), ask)
        await engine.stop()

    with fault_server(shares={"parameter": 1.0}) as server:
        asyncio.run(work(spec_of(server), ask_of()))
    assert len(server.asked) == 1


@pytest.mark.slow
def test_a_server_that_goes_away_and_comes_back_costs_nothing_but_time(fault_server, ask_of):
    limits = {"timeout": 60.0, "deadline": 300.0, "retries": 1, "concurrency": 8}

    async def work(first, ask):
        engine = make_engine(spec_of(first, limits=limits))
        await engine.start()
        answering = asyncio.ensure_future(engine.complete(engine.prepare(ask.condition), ask))
        while len(first.asked) < 10:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(first.__exit__)
        await asyncio.sleep(1.0)
        second = fault_server(port=first.port)
        await asyncio.to_thread(second.__enter__)
        found = await answering
        await engine.stop()
        await asyncio.to_thread(second.__exit__)
        return found, second

    first = fault_server(seconds=0.1)
    first.__enter__()
    found, second = asyncio.run(work(first, ask_of(n=40)))
    assert [one.replication for one in found] == list(range(40))
    answered = [s for s in first.asked if s.tokens] + second.asked
    assert len({seen.key for seen in answered}) == 40
    assert len(answered) == 40  # what was answered before was not asked again


@pytest.mark.slow
def test_limits_hold_at_the_server_in_every_window(fault_server, ask_of, monkeypatch):
    # Windows so long that how late a busy machine tells of what arrived moves nothing.
    monkeypatch.setattr(openai_limits, "WINDOW_S", 4.0)
    monkeypatch.setattr(openai_limits, "ARRIVAL_S", 2.0)
    limits = {"concurrency": 5, "requests_per_minute": 20}
    with fault_server(seconds=0.05, shares={"429": 0.1}, retry_after="0") as server:
        _, (found,) = asked(spec_of(server, limits=limits), ask_of(n=40))
    assert len(found) == 40
    assert server.most_here == 5
    assert 15 <= server.most_within(4.0) <= 20


@pytest.mark.slow
def test_tokens_of_a_minute_hold_at_the_server(fault_server, ask_of, monkeypatch):
    monkeypatch.setattr(openai_limits, "WINDOW_S", 4.0)
    limits = {"concurrency": 50, "tokens_per_minute": 400}
    with fault_server(seconds=0.02) as server:
        _, (found,) = asked(spec_of(server, limits=limits), ask_of("w" * 80, n=24))
    assert len(found) == 24
    # 32 tokens each in truth: bounds that are too high only delay.
    assert 200 <= server.most_tokens_within(4.0) <= 400


def test_a_missing_variable_is_one_line_before_anything_is_asked(fault_server, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    with (
        fault_server() as server,
        pytest.raises(SweepError, match="environment variable A_KEY is not set"),
    ):
        asked(spec_of(server, api_key_env="A_KEY"))
    assert server.asked == []


def test_a_missing_key_of_a_provider_is_one_line_that_names_the_variable(fault_server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with fault_server() as server:
        spec = spec_of(server, provider="openai", api_key_env="OPENAI_API_KEY")
        with pytest.raises(SweepError) as caught:
            asked(spec)
    line = str(caught.value)
    assert "OPENAI_API_KEY is not set, which holds the key of provider openai" in line
    assert "\n" not in line


def test_a_judge_of_a_provider_is_asked_with_its_words_and_key(fault_server, ask_of, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-77")
    with fault_server(key="sk-planted-77") as server:
        spec = spec_of(server, provider="openai", api_key_env="OPENAI_API_KEY")
        _, [found] = asked(spec, ask_of(n=2, temperature=1.0))
    assert len(found) == 2
    assert {frozenset(seen.body) for seen in server.asked} == {
        frozenset({"model", "messages", "max_completion_tokens", "seed"})
    }


def test_a_list_without_the_judge_is_not_asked_for(fault_server, ask_of):
    with fault_server(model="another") as server:
        with pytest.raises(SweepError, match=r"no model 'tiny', .*Try: one of these"):
            asked(spec_of(server), ask_of(n=1))
        _, [found] = asked(spec_of(server, provider="azure"), ask_of(n=1))
        assert len(found) == 1
    with fault_server(model="tiny:latest") as server:
        asked(spec_of(server), ask_of(n=1))


def test_a_key_is_sent_and_never_said(fault_server, ask_of, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-planted-77")
    shares = {"500": 0.3, "400": 0.3, "parameter": 0.3}
    asks = [ask_of(f"item {i}") for i in range(12)]
    limits = {"retries": 0}
    with fault_server(key="sk-planted-77", says="sk-planted-77", shares=shares) as server:
        engine, found = asked(
            spec_of(server, api_key_env="A_KEY", limits=limits), *asks, fails=True
        )
    assert {seen.authorization for seen in server.asked} == {"Bearer sk-planted-77"}
    errors = [one for one in found if isinstance(one, BaseException)]
    assert errors
    assert not [error for error in errors if "planted" in repr(error) + str(error)]
    assert "planted" not in repr(engine) + repr(vars(engine))


def test_a_wrong_key_is_told_without_the_key(fault_server, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-planted-77")
    with (
        fault_server(key="another") as server,
        pytest.raises(SweepError, match="does not take the key in environment variable A_KEY") as e,
    ):
        asked(spec_of(server, api_key_env="A_KEY"))
    assert "planted" not in str(e.value)
    with fault_server(key="another") as server, pytest.raises(SweepError, match="wants a key"):
        asked(spec_of(server))


def test_a_model_that_is_not_served_is_told_with_those_that_are(fault_server):
    with (
        fault_server(model="tinny") as server,
        pytest.raises(SweepError, match=r"no model 'tiny', it has tinny .* did you mean tinny"),
    ):
        asked(spec_of(server))


def test_nobody_at_home_is_an_engine_that_did_not_start(fault_server, monkeypatch):
    monkeypatch.setattr(openai_engine, "PATIENCE_S", 0.2)
    server = fault_server()
    server.port = 9  # discard: nothing answers there
    with pytest.raises(EngineStartError, match=r"no server answers: .*127\.0\.0\.1:9/v1"):
        asked(spec_of(server))


def test_what_the_server_is_goes_into_its_facts(fault_server):
    async def started(spec):
        engine = make_engine(spec)
        facts = await engine.start()
        assert engine.is_alive()
        await engine.stop()
        await engine.stop()
        assert not engine.is_alive()
        return facts

    with fault_server() as server:
        facts = asyncio.run(started(spec_of(server, engine_options={"seed": False})))
    assert facts.seeds == "not sent: the server is declared to have none"
    assert facts.stops == "replies are cut here"
    assert facts.engine_version.endswith("server of tests")
    assert facts.device_name == server.url


def test_what_a_server_says_is_behind_a_name_is_kept(fault_server, ask_of):
    with fault_server() as server:
        engine, _ = asked(spec_of(server), ask_of(n=3))
    assert engine.backends == {"fp-1"}


@pytest.mark.slow
def test_the_server_of_tests_closes_who_came_while_it_stopped(fault_server):
    """On a busy machine clients that gave up are accepted last of all: no transport may be lost."""
    go = threading.Event()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with fault_server() as server:
            server._loop.call_soon_threadsafe(go.wait)
            server._loop.call_soon_threadsafe(server._stopping.set)
            late = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
            go.set()
        for one in late:
            one.close()
        gc.collect()
    assert [str(one.message) for one in told] == []


@pytest.mark.alike(3)
@pytest.mark.parametrize("thinks", ["tags", "opened", "field"])
@pytest.mark.parametrize("server_kind", ["vllm", "openai"])
def test_no_verdict_comes_from_a_thought_of_a_server(fault_server, ask_of, thinks, server_kind):
    menu = Menu(labels=tuple(LABELS), option_ids=tuple(LABELS), form="best_response")
    stop = stop_strings(menu)
    assert len(stop) <= 4
    with fault_server(thinks=thinks) as server:
        spec = spec_of(server, engine_options={"server": server_kind})
        ask = ask_of(n=6, menu=menu, stop=stop, max_tokens=400)
        cut = ask_of(n=6, menu=menu, stop=stop, max_tokens=12)
        if server_kind == "openai" and thinks == "opened":
            cut = ask  # a reply cut off in a thought that nothing marks is like any other
        _, (whole, short) = asked(spec, ask, cut)
        _, (again,) = asked(spec, ask)
        # Requests of both asks arrive in any order: those that are not cut off by their length.
        wholly = [one for one in server.asked if 400 in one.body.values()][:6]
        says = [server.content_of({**one.body, "max_tokens": 400, "stop": []}, None)
                for one in wholly]  # fmt: skip
    known = {one["choices"][0]["message"]["content"].rpartition("[[")[2][0] for one in says}
    for found in (whole, again):
        labels = [
            read_by_condition(ask.condition, one.text, one.finish_reason).label for one in found
        ]
        assert set(labels) == known
        # early_stop ends the reply at its verdict, at the server or here.
        assert {without_thought(one, ask.condition).text for one in found} == {
            f"Best Response: [[{label}]]" for label in known
        }
    kept = [without_thought(one, ask.condition) for one in whole]
    assert all("[[" in (one.thought or "") for one in kept)
    if cut is not ask:
        for one in (without_thought(one, cut.condition) for one in short):
            assert (one.text, one.finish_reason) == ("", CUT_IN_THOUGHT)
            read = read_by_condition(cut.condition, one.text, one.finish_reason)
            assert read.outcome == "truncated"


def test_a_closing_mark_costs_no_reply_that_was_spoken_without_one(fault_server, ask_of):
    menu = Menu(labels=tuple(LABELS), option_ids=tuple(LABELS), form="best_response")
    ask = ask_of(n=12, menu=menu, stop=stop_strings(menu), max_tokens=400)
    with fault_server(thinks="some") as server:
        spec = spec_of(server, engine_options={"server": "openai"})
        _, found = asked(spec, ask, ask)
        says = [server.content_of(one.body, None)["choices"] for one in server.asked]
    known = [one["message"]["content"].rpartition("[[")[2][0] for each in says for one in each]
    labels = [read_by_condition(ask.condition, one.text, one.finish_reason).label
              for each in found for one in each]  # fmt: skip
    assert len(set(known)) > 1
    assert labels[:12] == labels[12:]
    assert sorted(labels) == sorted(known)  # as many replies as were asked for, none asked again


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_a_reply_cut_in_a_thought_that_its_prompt_opened_is_marked(ask_of, reason):
    menu = Menu(labels=tuple(LABELS), option_ids=tuple(LABELS), form="best_response")
    ask = ask_of(n=1, menu=menu, stop=stop_strings(menu), max_tokens=400)
    [request] = requests_of(ask, model="m", chat=True, options=OpenAIOptions())
    text = f"First I think Best Response: [[{LABELS[0]}]] but then"
    choice = {"index": 0, "finish_reason": reason, "message": {"content": text}}
    [found] = completions_of(
        Reply(choices=(choice,), usage=Usage(), backend=None), request, ask.condition,
        cuts=True, opened_if_cut="<think>",
    )  # fmt: skip
    kept = without_thought(found, ask.condition)
    assert (kept.text, kept.finish_reason) == ("", CUT_IN_THOUGHT)
