from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.engines.openai.failures import (
    LONGEST_WAIT_S,
    Blame,
    retry_after,
    status_failure,
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
