"""What a request that failed is taken to have cost its provider."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.config import Limits
from judgerel_ray.engines.openai.boundary import Boundary
from judgerel_ray.engines.openai.channel import (
    LONGEST_WAIT_S,
    Blame,
    Channel,
    Failure,
    RequestFailed,
    connection_failure,
    retry_after,
    status_failure,
    tokens_reported,
    wait_before,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def told(status: int, headers: dict[str, str] | None = None, **error: object):
    return status_failure(status, json.dumps({"error": error}), headers or {}, at=NOW)


@pytest.mark.parametrize(
    ("status", "error", "blame"),
    [
        (429, {"code": "rate_limit_exceeded"}, Blame.LATER),
        (429, {"code": "insufficient_quota"}, Blame.SETTING),
        (502, {}, Blame.LATER),
        (503, {}, Blame.LATER),
        (500, {}, Blame.SERVER),
        (504, {}, Blame.SERVER),
        (529, {}, Blame.SERVER),
        (408, {}, Blame.SERVER),
        (409, {}, Blame.SERVER),
        (401, {"code": "invalid_api_key"}, Blame.SETTING),
        (402, {}, Blame.SETTING),
        (403, {"message": "no access to this model"}, Blame.SETTING),
        (403, {"message": "flagged by moderation"}, Blame.DECLINED),
        (404, {"code": "model_not_found"}, Blame.SETTING),
        (400, {"code": "content_filter"}, Blame.DECLINED),
        (400, {"code": "context_length_exceeded", "param": "messages"}, Blame.PROMPT),
        (400, {"message": "maximum context length is 8", "param": "max_tokens"}, Blame.PROMPT),
        (400, {"code": "unsupported_parameter", "param": "max_tokens"}, Blame.SETTING),
        (400, {"code": "unsupported_value", "param": "temperature"}, Blame.SETTING),
        (400, {"message": "'loc': 'body.stop', 'msg': 'at most 4 items'"}, Blame.SETTING),
        (422, {"message": "[{'loc': ['body', 'seed']}]"}, Blame.SETTING),
        (400, {"message": "invalid character in prompt"}, Blame.PROMPT),
        (413, {}, Blame.PROMPT),
        (418, {}, Blame.UNKNOWN),
    ],
)
def test_every_answer_is_somebodys_fault(status, error, blame):
    assert told(status, **error).blame is blame


@pytest.mark.parametrize("body", ["", "no json", "[]", "{}", '"x"', '{"error": "plain words"}'])
def test_a_body_of_any_kind_is_told_in_one_line(body):
    found = status_failure(500, body + "\n\nand more", {})
    assert found.blame is Blame.SERVER
    assert found.message.startswith("HTTP 500: ")
    assert "\n" not in found.message


def test_waiting_is_asked_for_in_three_ways():
    date = format_datetime(NOW + timedelta(seconds=90), usegmt=True)
    assert retry_after({"retry-after": "7"}) == 7.0
    assert retry_after({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5
    assert retry_after({"retry-after": date}, at=NOW) == 90.0
    assert retry_after({"retry-after": format_datetime(NOW)}, at=NOW + timedelta(1)) == 0.0
    for odd in ("-1", "nan", "inf", "soon", ""):
        assert retry_after({"retry-after": odd}) is None
    assert told(429, {"retry-after": "3"}).wait_s == 3.0
    assert told(400, {"retry-after": "3"}).wait_s is None


@given(key=st.text(), n_tries=st.integers(1, 200), asked=st.none() | st.floats(0, 1e5))
def test_waits_are_bounded_repeat_and_are_never_shorter_than_asked(key, n_tries, asked):
    wait = wait_before(key, n_tries, asked)
    assert wait == wait_before(key, n_tries, asked)
    assert wait >= (asked or 0.2)
    assert wait <= max(LONGEST_WAIT_S, (asked or 0.0) + 1.0)


def test_those_who_were_told_the_same_second_do_not_come_back_together():
    assert len({wait_before(f"k{i}", 1, 5.0) for i in range(50)}) == 50


class Counter:
    """A limiter that lets everything through and keeps what was given back."""

    def __init__(self):
        self.entered, self.left = [], []

    async def enter(self, tokens):
        self.entered.append(tokens)
        return len(self.entered)

    async def leave(self, permit, tokens):
        self.left.append((permit, tokens))

    async def pause(self, seconds):
        raise AssertionError(f"nobody asked for a pause, got {seconds}")


class Answering(Channel):
    """A channel to a server that always says the same."""

    async def _once(self, body):
        return body["answer"]


def spent_on(answer):
    counter = Counter()
    limits = Limits(timeout=1, retries=0, deadline=1)
    channel = Answering(client=None, limits=limits, limiter=counter)
    if isinstance(answer, Failure):
        with pytest.raises(RequestFailed) as failed:
            asyncio.run(channel.send({"answer": answer}, key="k", tokens=90))
        assert failed.value.failure.blame is answer.blame
    else:
        assert asyncio.run(channel.send({"answer": answer}, key="k", tokens=90)) == answer
    assert counter.entered[:1] == [90]
    (permit, spent), *_ = counter.left
    assert permit == 1
    return spent


@pytest.mark.parametrize("blame", [Blame.SERVER, Blame.UNKNOWN])
def test_a_reply_that_may_have_been_made_and_lost_counts_in_full(blame):
    assert spent_on(Failure(blame=blame, message="half a body")) == 90


@pytest.mark.parametrize("blame", [Blame.LATER, Blame.PROMPT, Blame.DECLINED, Blame.SETTING])
def test_a_request_that_was_turned_away_took_no_tokens(blame):
    assert spent_on(Failure(blame=blame, message="no")) == 0


def test_an_answer_counts_what_it_says_it_took():
    assert spent_on({"usage": {"total_tokens": 12}}) == 12
    for odd in (None, 10**30, -1, 1.5, True, "12", [12]):
        assert spent_on({"usage": {"total_tokens": odd}}) == 90
    assert spent_on({}) == spent_on([]) == 90


class OneAtATime(Counter):
    """A limiter of one permit."""

    def __init__(self):
        super().__init__()
        self.free = asyncio.Semaphore(1)

    async def enter(self, tokens):
        await self.free.acquire()
        return await super().enter(tokens)

    async def leave(self, permit, tokens):
        await super().leave(permit, tokens)
        self.free.release()
        await asyncio.sleep(0)  # one that waits goes on before the one that left


def test_what_waited_is_not_sent_to_a_server_that_takes_nothing_more():
    sent = []

    class Refusing(Channel):
        async def _once(self, body):
            sent.append(body["n"])
            await asyncio.sleep(0)
            return Failure(blame=Blame.SETTING, message="no money left")

    async def story():
        limiter = OneAtATime()
        limits = Limits(timeout=1, retries=0, deadline=1)
        channel = Refusing(client=None, limits=limits, limiter=limiter)
        asked = [channel.send({"n": n}, key=str(n), tokens=9) for n in range(3)]
        return await asyncio.gather(*asked, return_exceptions=True), limiter.left

    failures, left = asyncio.run(story())
    assert sent == [0]
    assert [one.failure.message for one in failures] == ["no money left"] * 3
    assert left == [(1, 0), (2, 0), (3, 0)]


def test_tokens_of_an_answer_are_at_most_what_was_asked_for():
    assert tokens_reported({"usage": {"total_tokens": 12}}, 99) == 12
    assert tokens_reported("?", 99) == 99


def test_an_error_on_the_way_to_a_server_is_one_line():
    failure = connection_failure(ConnectionError("reset by  peer"), Boundary())
    assert failure.message == "ConnectionError: reset by peer"
    assert failure.blame.value == "server"
