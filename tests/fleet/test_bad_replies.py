"""Servers that misbehave: no key in any file, every key once, no good reply asked twice."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import re
import ssl
import sys
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.config import Limits
from judgerel_ray.core import Completion, EngineError, Scoring, SweepError, digest
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.openai import channel
from judgerel_ray.engines.openai.boundary import Boundary
from judgerel_ray.engines.openai.replies import completions_of, read_answer_body
from judgerel_ray.engines.openai.requests import OpenAIOptions, requests_of
from judgerel_ray.fleet import JudgeSpec, judge_actor, landed_rows
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.landing import failure_rows
from judgerel_ray.fleet.lease import GrowingAsk, Lease, Receipt
from judgerel_ray.stats.intervals.stopping import StoppingRule
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    encode_rows,
    leave_token,
    record_errors,
    scan_completions,
    scan_judgments,
    verify_run,
)


def _faults():
    """The module of the server, whose modes are parameters here."""
    name = "judgerel_fault_server"
    if name not in sys.modules:
        file = Path(__file__).parents[1] / "fault_server.py"
        spec = importlib.util.spec_from_file_location(name, file)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


FAULTS = _faults()
CERTIFICATES = cache(ssl.create_default_context)
KEY = "sk-planted/9dK2+mQ7vTz41Xw8Rb3Lp"
# Of errors that Python raises where nobody looked at a value first.
DEFECT = re.compile(r"(Type|Value|Key|Index|Attribute|Unicode\w*|Overflow|Recursion|Runtime)Error")
PATIENT = Limits(timeout=60.0, deadline=300.0, retries=0)


def spellings_of(part: str) -> set[bytes]:
    """A part of the key as it may stand in a file, in six encodings."""
    found = {part, part.lower(), part.upper(), quote(quote(part, safe=""), safe="")}
    found |= {quote(part, safe=""), json.dumps(part)[1:-1], part.encode().hex()}
    found |= {part.replace("/", "\\/"), "".join(f"\\u{ord(one):04x}" for one in part)}
    found |= {"".join(f"%{ord(one):02x}" for one in part)}
    found |= {repr(one)[1:-1] for one in found}  # as it is printed
    for offset in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            whole = encode(b"\0" * offset + part.encode()).decode()
            found.add(whole[-(-8 * offset // 6) : 8 * (offset + len(part)) // 6])
    return {one.encode() for one in found}


# Any stretch of 18 holds one of these.
NEEDLES = {one for at in range(0, len(KEY) - 11, 6) for one in spellings_of(KEY[at : at + 12])}


def files_with_key(folder: Path) -> list[str]:
    """Files that hold the key, tables read as the text that is in them."""
    holding = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".parquet":
                frame = pl.read_parquet(path)
                content += repr(frame.to_dicts()).encode()
            holding += [path.name] if any(one in content for one in NEEDLES) else []
    return holding


@pytest.fixture
def actor_of(run_here, monkeypatch):
    """A judge actor of a server, in this process, with a real run directory."""
    monkeypatch.setenv("A_KEY", KEY)
    monkeypatch.setattr(channel, "FIRST_WAIT_S", 0.001)
    # What every start loads anew, and nothing here is about: certificates, and writers.
    monkeypatch.setattr(ssl, "create_default_context", CERTIFICATES)
    monkeypatch.setattr(judge_actor, "load_writers", lambda: None)
    token = leave_token(run_here)

    def make(server: Any, *, limits: Limits = PATIENT, **options: Any) -> JudgeActor:
        engine = EngineSpec(
            name="j",
            engine="openai",
            model="tiny",
            base_url=server.url,
            api_key_env="A_KEY",
            limits=limits,
            engine_options=options,
        )
        return JudgeActor(JudgeSpec(engine=engine, run=run_here, session=1, visibility_token=token))

    return make


@pytest.fixture(scope="module")
def servers():
    """A server that misbehaves, and another to which it may redirect."""
    with FAULTS.FaultServer() as other, FAULTS.FaultServer(elsewhere=other.url) as server:
        yield server, other


@pytest.fixture
def asks_of(asking):
    """Asks of as many items, three replications each, with log-probabilities."""

    def make(n_items: int, **changes: Any):
        return [
            asking.ask(
                f"q{i}",
                n=3,
                condition_key=digest({"item": i}),
                top_k=0,
                max_tokens=40,
                scoring=Scoring(kind="verdict"),
                **changes,
            )
            for i in range(n_items)
        ]

    return make


def run_lease(run: RunDirectory, actor: JudgeActor, asks, attempt: int) -> Receipt:
    """Answer asks as the fleet does; what failed is written to errors/."""

    async def story() -> Receipt:
        await actor.start()
        try:
            return await actor.run(Lease(lease=1, attempt=attempt, judge="j", asks=tuple(asks)))
        finally:
            await actor.stop()

    receipt = asyncio.run(story())
    for failed in receipt.failed:
        rows = failure_rows(
            [failed.ask],
            lease="s0001-l000001",
            attempt=attempt,
            kind=failed.kind,
            message=failed.message,
            failed_at=datetime.now(UTC),
        )
        record_errors(run, session=1, judge="j", rows=rows)
    return receipt


def n_good(server) -> Counter[str]:
    """How often each request was answered well."""
    return Counter(seen.key for seen in server.asked if seen.fault is None)


@pytest.mark.alike(6)
@pytest.mark.parametrize("mode", FAULTS.MODES)
def test_a_mode_costs_the_reply_that_it_is_of_and_leaves_no_key(
    mode, servers, actor_of, asks_of, run_here, monkeypatch
):
    server, other = servers
    begin_session(run_here)
    asks = asks_of(1 if mode in FAULTS.SLOW else 3)
    bad = asks[0].condition
    bad_replication = 1
    server.seen.clear()
    other.seen.clear()
    monkeypatch.setattr(server, "mode", mode)
    monkeypatch.setattr(
        server,
        "picks",
        lambda body: (
            bad.item_id in body["messages"][-1]["content"]
            and body["seed"] == bad.seed_base + bad_replication
        ),
    )
    limits = PATIENT
    if mode in FAULTS.SLOW:  # only what never comes is waited for, and not long
        limits = PATIENT.model_copy(update={"timeout": 0.3})
        asks = [replace(asks[0], first=bad_replication, n=1)]
    n_asked = sum(ask.n for ask in asks)
    first = run_lease(run_here, actor_of(server, limits=limits), asks, 1)
    assert first.landed
    assert first.rows + sum(one.ask.n for one in first.failed) == n_asked
    assert (first.mistake is not None) == (mode in FAULTS.SETTINGS)
    assert {one.kind for one in first.failed} <= {"request"}
    assert not [one for one in first.failed if DEFECT.search(one.message)]
    if first.mistake is None:  # else nothing more was sent
        assert {(one.ask.condition, one.ask.first, one.ask.n) for one in first.failed} <= {
            (bad, bad_replication, 1)
        }
    if first.failed:
        if mode not in FAULTS.LISTS:
            monkeypatch.setattr(server, "mode", None)
        pending = [one.ask for one in first.failed]
        second = run_lease(run_here, actor_of(server), pending, 2)
        assert (second.rows, second.failed) == (sum(ask.n for ask in pending), ())
    keys = scan_judgments(run_here).collect()["key"]
    assert keys.len() == keys.n_unique() == n_asked
    assert max(n_good(server).values(), default=1) == 1  # no good reply was asked again
    assert other.seen == []  # and none was asked of another server
    assert files_with_key(Path(run_here.url)) == []
    assert not [one for one in NEEDLES if one in repr(first).encode()]
    texts = scan_completions(run_here).collect()
    for one in texts["logprobs"].explode().drop_nulls():
        assert math.isfinite(one["logprob"])
    assert verify_run(run_here) == []


def test_there_are_at_least_fifty_five_modes_and_the_search_finds_a_key(tmp_path):
    assert len(FAULTS.MODES) >= 55
    for name, spell in FAULTS.SPELLINGS.items():
        file = tmp_path / f"{name}.parquet"
        pl.DataFrame({"text": [f"see {spell(KEY)}"]}).write_parquet(file)
        assert files_with_key(tmp_path) == [file.name]
        file.unlink()


CUTS = st.integers(12, len(KEY)).map(lambda n: KEY[:n])
ODD = st.one_of(
    st.sampled_from(
        ["\ud800", "half \udfff of one", 2**33, 10**30, 10**400, -1, None, math.nan, math.inf,
         -math.inf, True, 1.5, "7", "", "stop", [], {}, [KEY], {KEY: KEY}, [1, None], 0],
    ),
    CUTS,
    st.builds(lambda spell, part: spell(part), st.sampled_from([*FAULTS.SPELLINGS.values()]), CUTS),
)  # fmt: skip
CHAT = ("choices.0.message", "choices.0.message.content", "choices.0.message.refusal",
        "choices.0.message.reasoning", "choices.0.message.reasoning_content",
        "choices.0.logprobs.content", "choices.0.logprobs.content.1",
        *(f"choices.0.logprobs.content.1.{name}" for name in ("token", "logprob", "bytes")),
        *(f"choices.0.logprobs.content.1.top_logprobs{name}"
          for name in ("", ".0", ".0.token", ".0.logprob", ".0.bytes")))  # fmt: skip
PLAIN = ("choices.0.text", "choices.0.logprobs.tokens", "choices.0.logprobs.tokens.1",
         "choices.0.logprobs.top_logprobs", "choices.0.logprobs.top_logprobs.1",
         "choices.0.logprobs.top_logprobs.1.A")  # fmt: skip
BOTH = ("id", "choices", "choices.0", "choices.0.index", "choices.0.finish_reason",
        "choices.0.logprobs", "choices.0.token_ids", "system_fingerprint", "error", "usage",
        *(f"usage.{name}" for name in ("prompt_tokens", "completion_tokens", "total_tokens",
          "prompt_tokens_details", "prompt_tokens_details.cached_tokens")))  # fmt: skip


def changed(content: Any, path: str, value: Any) -> None:
    """Put a value somewhere into an answer; nothing happens where another change took the place."""
    *outer, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    try:
        for name in outer:
            content = content[name]
        content[last] = deepcopy(value)  # which a later change may reach into
    except (TypeError, LookupError):
        return


@pytest.mark.slow
@settings(max_examples=80)
@given(data=st.data(), chat=st.booleans(), n=st.integers(1, 2))
def test_whatever_a_field_holds_a_reply_lands_in_its_domain_or_fails_alone(
    data, chat, n, scored_ask
):
    ask = replace(scored_ask, n=n)
    options = OpenAIOptions(n=True, seed=True)
    (request,) = requests_of(ask, model="tiny", chat=chat, options=options)
    content = FAULTS.FaultServer().content_of(request.body, None)
    paths = st.sampled_from(BOTH + (CHAT if chat else PLAIN))
    for path, value in data.draw(st.lists(st.tuples(paths, ODD), min_size=1, max_size=3)):
        changed(content, path, value)
    boundary = Boundary(KEY)
    body = boundary.document(json.dumps(content))
    try:
        reply = read_answer_body(body, request)
    except EngineError as error:
        found, text = (), str(error)
    else:
        cleaned = boundary.clean
        found = completions_of(reply, request, ask.condition, cuts=True, clean=cleaned)
        assert len(found) == n
        text = repr((found, reply.backend, reply.usage))
        counts = (reply.usage.prompt, reply.usage.cached, reply.usage.completion)
        assert all(one is None or 0 <= one < 2**31 for one in counts)
    assert not [one for one in NEEDLES if one in text.encode()]
    answered = [
        (replace(ask, first=one.replication, n=1), (one,))
        for one in found
        if isinstance(one, Completion)
    ]
    if n == 2 and len(found) == 2:  # only the first of two was changed
        assert isinstance(found[1], Completion)
    rows = landed_rows(answered, attempt=1, prices=None, landed_at=datetime.now(UTC))
    ranges = {ask.condition.condition_key: [(ask.first, 1) for ask, _ in answered]}
    encode_rows(rows.judgments, rows.completions, "j", 1, ranges if answered else {})
    for one in rows.completions["logprobs"].explode().drop_nulls():
        assert math.isfinite(one["logprob"])


@pytest.fixture(scope="module")
def scored_ask(asking):
    """An ask of one condition with log-probabilities."""
    return asking.ask(
        "q0", condition_key=digest({"item": 0}), top_k=0, scoring=Scoring(kind="verdict")
    )


def test_of_several_replies_in_one_request_only_the_bad_one_is_pending(
    servers, actor_of, asks_of, run_here, monkeypatch
):
    server, _ = servers
    begin_session(run_here)
    ask = replace(asks_of(1)[0], n=4)
    server.seen.clear()
    monkeypatch.setattr(server, "mode", "finish_null")  # of the first of them
    monkeypatch.setattr(server, "picks", lambda _: True)
    receipt = run_lease(run_here, actor_of(server, n=True), [ask], 1)
    assert len(server.asked) == 1
    assert receipt.rows == 3
    assert [(one.ask.first, one.ask.n, one.kind) for one in receipt.failed] == [(0, 1, "request")]
    assert "no whole reply" in receipt.failed[0].message


def test_a_block_of_which_a_reply_failed_keeps_the_others_and_does_not_grow(
    servers, actor_of, asks_of, run_here, monkeypatch
):
    server, _ = servers
    begin_session(run_here)
    rule = StoppingRule(delta=0.05, first=3, most=23, step=4)
    condition = asks_of(1)[0].condition
    server.seen.clear()
    monkeypatch.setattr(server, "mode", "choices_none")
    monkeypatch.setattr(server, "picks", lambda body: body["seed"] == condition.seed_base + 1)
    growing = GrowingAsk(condition=condition, first=0, n=3, rule=rule)
    receipt = run_lease(run_here, actor_of(server), [growing], 1)
    assert (receipt.rows, len(server.asked)) == (2, 3)
    assert [(one.ask.first, one.ask.n) for one in receipt.failed] == [(1, 1)]


def test_a_redirect_to_another_server_ends_the_judge_by_name(
    servers, actor_of, asks_of, run_here, monkeypatch
):
    server, other = servers
    begin_session(run_here)
    other.seen.clear()
    monkeypatch.setattr(server, "mode", "redirect_other")
    monkeypatch.setattr(server, "picks", lambda _: True)
    receipt = run_lease(run_here, actor_of(server), asks_of(1), 1)
    there = other.url.removesuffix("/v1")
    assert f"redirects to {there}, which is not the server in base_url" in str(receipt.mistake)
    assert receipt.rows == 0
    assert other.seen == []
    monkeypatch.setattr(server, "mode", "models_redirect_other")
    with pytest.raises(SweepError, match=f"redirects to {there}"):
        run_lease(run_here, actor_of(server), asks_of(1), 2)
