from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import TokenCounts
from judgerel_ray.store.records import (
    CommitRecord,
    attempt_name,
    commit_content,
    parse_attempt,
    parse_session,
    read_attempt,
    read_session,
    seal,
    sealed_run,
    session_name,
    unseal,
)

RECORD = CommitRecord(
    session=2,
    lease=5,
    attempt=3,
    judge="meta/ö",
    data_file="data/x",
    texts_file="texts/x",
    data_sha256="00",
    texts_sha256="11",
    data_bytes=7,
    rows=4,
    conditions={"aa": ((0, 3), (9, 1))},
    outcomes={"scored": 4},
    tokens=TokenCounts(prompt=3, cached=2, generated=1),
    seconds=0.1,
    engine={"version": "1", "gpus": 1, "names": ["a"]},
    written_at="2026-01-01T00:00:00+00:00",
    texts_bytes=8,
    parents=("bb",),
    n_answers=1,
    data_sections={"": ((0, 4, 1),), "key": ((4, 3, 2),)},
    texts_sections={"": ((0, 8, 3),)},
)
PLACE, RUN = f"commits/{RECORD.name}", "00ff"


def test_a_commit_comes_back_whole():
    assert read_attempt(RECORD.name, seal(commit_content(RECORD), PLACE, RUN), RUN) == RECORD


@given(st.integers(0, 10**6), st.integers(0, 10**8), st.integers(0, 10**3))
def test_names_come_back(session, lease, attempt):
    assert parse_attempt(attempt_name(session, lease, attempt)) == (session, lease, attempt)
    assert parse_session(session_name(session)) == session


@pytest.mark.parametrize(
    "name",
    ["s0001-l000001-a1.json.tmp", ".s0001-l000001-a1.json.ab.tmp", "s1-l1-a1.json",
     "s0001-l0000001-a1.json", "session-0001.ended", "token", ""],
)  # fmt: skip
def test_other_names_are_none(name):
    assert parse_attempt(name) is None
    assert parse_session(name) is None


def test_a_record_cut_anywhere_is_none():
    whole = seal(commit_content(RECORD), PLACE, RUN)
    assert [n for n in range(len(whole)) if unseal(whole[:n], PLACE, RUN) is not None] == []
    assert unseal(whole, PLACE, RUN) is not None


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_an_altered_byte_is_seen(place, byte):
    whole = bytearray(seal(commit_content(RECORD), PLACE, RUN))
    place %= len(whole)
    before = json.loads(bytes(whole))
    whole[place] = byte
    found = unseal(bytes(whole), PLACE, RUN)
    assert found is None or json.loads(bytes(whole)) == before


@pytest.mark.parametrize(
    "data", [None, b"", b"null", b"[]", b"3", b"{}", b"\xff\xfe\x00", b"\0" * 9]
)
def test_what_is_no_record_is_none(data):
    assert unseal(data, PLACE, RUN) is None


def test_a_record_under_another_name_or_in_another_run_is_none():
    data = seal(commit_content(RECORD), PLACE, RUN)
    assert read_attempt(attempt_name(2, 5, 4), data, RUN) is None
    assert read_attempt(RECORD.name, data, "another") is None
    session = seal({"kind": "session", "number": 1, "accepted": []}, "commits/session-0001.json")
    assert read_session(session_name(2), session, "") is None
    assert sealed_run(data, PLACE) == RUN
    assert sealed_run(data, "manifest.json") is None


def test_two_seals_of_one_content_differ():
    assert seal({"a": 1}, PLACE) != seal({"a": 1}, PLACE)
