"""A real server that speaks OpenAI's API, `vllm serve` on the CPU, asked by the openai engine.

One server is started for all tests; the last of them to run kills it and starts it again.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.cli import main
from judgerel_ray.config import Limits, Sweep, parse_sweep, read_sweep
from judgerel_ray.core import Ask, Condition
from judgerel_ray.design import build_wave
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.engines.openai.engine import OpenAIEngine
from judgerel_ray.engines.sizing import prompt_counter
from judgerel_ray.protocols import read_verdict
from judgerel_ray.store import RunDirectory, read_ledger, scan_completions, scan_judgments

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "judgerel_ray/demo/judge"
ITEMS = ROOT / "judgerel_ray/demo/items.parquet"
UP_WITHIN_S = 900.0
SWEEP = """
name = "served"
[[judge]]
name = "{name}"
{judge}
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{items}"
temperatures = {temperatures}
replications = {replications}
max_tokens = 24
verdict_logprobs = {logprobs}
early_stop = {early_stop}
[fleet]
lease_seconds = 0.5
"""


class Server:
    """`vllm serve` of the demo's judge on a port of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it is up some time later."""
        options = {
            "--model": JUDGE, "--served-model-name": "tiny", "--host": "127.0.0.1",
            "--port": self.port, "--dtype": "float32", "--max-model-len": 2048,
            "--max-num-batched-tokens": 8192, "--max-num-seqs": 256, "--block-size": 32,
        }  # fmt: skip
        told = [str(word) for pair in options.items() for word in pair]
        own = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *told,
                 "--enforce-eager", "--no-enable-chunked-prefill"],
                env=os.environ | own, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < until:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/models", timeout=5):
                return
            time.sleep(0.5)
        pytest.fail(f"the server did not come up: {self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        """Kill it with its children, as a node's death would."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("server"))
    made.start()
    made.wait()
    yield made
    made.kill()


def sweep_text(judge: str, **given: object) -> str:
    values = {
        "name": "judge",
        "items": ITEMS,
        "temperatures": [0.0],
        "replications": 4,
        "logprobs": "false",
        "early_stop": "false",
        **given,
    }
    return SWEEP.format(judge=judge, **values)


def served_judge(server: Server, more: str = "") -> str:
    return (
        f'engine = "openai"\nmodel = "tiny"\nbase_url = "{server.url}"\n'
        f'engine_options = {{ server = "vllm", provider = "tiny"{more} }}\n'
    )


HERE = f'engine = "vllm"\nmodel = "{JUDGE}"\ngpus = 0\nmax_model_len = 2048\n'


def asks_of(text: str) -> tuple[EngineSpec, list[Ask]]:
    """What a sweep of one ask asks its judge in its first wave."""
    return first_wave(parse_sweep(text))


def first_wave(sweep: Sweep, place: int = 0) -> tuple[EngineSpec, list[Ask]]:
    """What one of a sweep's asks asks its judge first."""
    resolved = resolve(sweep)
    frame = resolved.frames[place]
    (voice,) = frame.judges
    works = build_wave(frame, 0, voice, {})
    return resolved.specs[voice.name], [ask for work in works for ask in work.asks]


def answered(spec: EngineSpec, asks: list[Ask]):
    """Every completion, in the order of the asks."""

    async def work():
        engine = make_engine(spec)
        await engine.start()
        try:
            found = await asyncio.gather(
                *(engine.complete(engine.prepare(ask.condition), ask) for ask in asks)
            )
        finally:
            await engine.stop()
        return [one for each in found for one in each]

    return asyncio.run(work())


def test_texts_and_log_probabilities_are_those_of_the_engine_in_process(server, demo_again):
    run = RunDirectory.open(str(demo_again))
    # Seeds hash the judge: the same asks, so the same.
    _, asks = first_wave(read_sweep(str(demo_again.parent / "s.toml")), place=2)
    spec, _ = asks_of(sweep_text(served_judge(server), logprobs="true"))
    found = answered(spec, asks)
    assert sum(one.seed is None for one in found) == 16
    assert len(found) == 16 * 5
    rows = scan_judgments(run).filter(template="letters").join(scan_completions(run), on="key")
    in_process = {row["key"]: row for row in rows.collect().iter_rows(named=True)}
    assert len(in_process) == len(found)
    compared = 0
    for served in found:
        here = in_process[served.key]
        for name in ("seed", "text", "prompt_tokens", "completion_tokens"):
            assert getattr(served, name) == here[name], name
        read = here["logprobs"] or []
        assert bool(served.logprobs) == bool(read)
        theirs = {(one.token, one.continuation): one.logprob for one in served.logprobs}
        ours = {(one["token"], one["continuation"]): one["logprob"] for one in read}
        assert len(theirs) <= 20
        for name, logprob in theirs.items():
            assert name in ours
            assert logprob == pytest.approx(ours[name], abs=1e-3)
            compared += 1
    assert compared >= 200


def test_plain_text_has_the_tokens_that_the_engine_in_process_would_give_it(server):
    plain = "chat_template = false\n"
    told = {"temperatures": [0.0], "logprobs": "true"}
    here, _ = asks_of(sweep_text(HERE + plain, **told))
    count, how = prompt_counter(here)
    spec, asks = asks_of(sweep_text(served_judge(server) + plain, **told))
    found = answered(spec, asks)
    assert how == "counted"
    assert [one.prompt_tokens for one in found] == [count(ask.condition.prompt) for ask in asks]
    placed = [one for one in found if one.logprobs]
    for one in placed:
        # Greedily the verdict is the most probable next token at its place.
        verdict = read_verdict(one.text, finish_reason="stop", menu=asks[0].condition.menu)
        first = one.logprobs[0]
        assert asks[0].condition.menu.labels[first.continuation] == verdict.label
        assert sum(math.exp(each.logprob) for each in one.logprobs) <= 1 + 1e-6
    chat, more = asks_of(sweep_text(served_judge(server), **told))
    assert [one.text for one in answered(chat, more)] != [one.text for one in found]


def test_seeded_replies_are_the_same_in_one_request_and_in_many(server):
    warm = {"temperatures": [1.0], "replications": 6}
    spec, asks = asks_of(sweep_text(served_judge(server), **warm))
    together, _ = asks_of(sweep_text(served_judge(server, ", n = true"), **warm))
    one_by_one = answered(spec, asks[:6])
    at_once = answered(together, asks[:6])
    assert [one.text for one in one_by_one] == [one.text for one in at_once]
    assert [one.seed for one in one_by_one] == [one.seed for one in at_once]
    assert [one.completion_tokens for one in one_by_one] == [
        one.completion_tokens for one in at_once
    ]


def first_four(condition: Condition) -> Condition:
    return replace(condition, stop=condition.stop[:4])


def test_a_reply_stopped_by_the_server_is_the_one_that_is_cut_here(server):
    early = {"temperatures": [1.0], "early_stop": "true", "replications": 3}
    spec, asks = asks_of(sweep_text(served_judge(server), **early))
    plain = EngineSpec(
        name="j", engine="openai", model="tiny", base_url=server.url,
        engine_options={"top_k": True},
    )  # fmt: skip
    # A server takes four stop strings; menus of five are cut here.
    asks = [replace(ask, condition=first_four(ask.condition)) for ask in asks]
    stopped, cut = answered(spec, asks), answered(plain, asks)
    assert any(one.text.endswith("]]") for one in stopped)
    assert [one.text for one in stopped] == [one.text for one in cut]
    spent = [sum(one.completion_tokens for one in each) for each in (stopped, cut)]
    assert spent[0] < spent[1]


def test_a_server_says_how_its_template_ends_a_prompt(server):
    asked = {"messages": [{"role": "user", "content": "?"}], "return_token_strs": True}
    request = urllib.request.Request(
        f"{server.url.removesuffix('/v1')}/tokenize",
        data=json.dumps({"model": "tiny", **asked}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert json.load(answer)["token_strs"][-1] == "<|assistant|>"
    spec = EngineSpec(
        name="j", engine="openai", model="tiny", base_url=server.url,
        engine_options={"server": "vllm"},
    )  # fmt: skip
    engine = make_engine(spec)

    async def look():
        facts = await engine.start()
        await engine.stop()
        return facts.stops

    assert asyncio.run(look()).startswith("sent")  # it opens no thought


def test_two_hundred_requests_are_at_the_server_at_once(server):
    limits = Limits(concurrency=200)
    spec = EngineSpec(
        name="j", engine="openai", model="tiny", base_url=server.url, limits=limits,
        engine_options={"server": "vllm"},
    )  # fmt: skip
    _, asks = asks_of(sweep_text(served_judge(server), temperatures=[1.0], replications=32))
    peak = 0

    async def work():
        nonlocal peak
        engine = make_engine(spec)
        assert isinstance(engine, OpenAIEngine)
        await engine.start()
        tasks = [
            asyncio.ensure_future(engine.complete(engine.prepare(ask.condition), ask))
            for ask in asks
        ]
        while not all(task.done() for task in tasks):
            peak = max(peak, len(engine.limiter._held))
            await asyncio.sleep(0.02)
        await engine.stop()
        return [one for task in tasks for one in task.result()]

    found = asyncio.run(work())
    assert peak == 200
    assert len(found) == sum(ask.n for ask in asks) >= 400
    assert {one.finish_reason for one in found} <= {"stop", "length"}
    assert len({one.key for one in found}) == len(found)


def rows_of(run: Path) -> pl.DataFrame:
    where = RunDirectory(url=str(run))
    ledger = read_ledger(where)
    texts = scan_completions(where, ledger=ledger).select("key", "text")
    return scan_judgments(where, ledger=ledger).join(texts, on="key").collect()


@pytest.mark.ray
def test_a_server_killed_and_restarted_in_a_sweep_loses_and_repeats_nothing(
    server,
    ray_local,  # noqa: ARG001  the cluster must be up
    tmp_path,
):
    file, run = tmp_path / "sweep.toml", tmp_path / "run"
    given = {"temperatures": [1.0, 0.0], "replications": 30}
    patient = "limits = { concurrency = 64, timeout = 600, deadline = 1800 }\n"
    file.write_text(sweep_text(served_judge(server) + patient, **given))
    codes: list[int] = []
    running = threading.Thread(
        target=lambda: codes.append(main(["run", str(file), "--out", str(run)]))
    )
    running.start()
    landed = 0
    while landed < 100:
        assert running.is_alive()
        time.sleep(0.1)
        with suppress(Exception):
            landed = rows_of(run).height
    server.kill()
    before = rows_of(run)
    time.sleep(5.0)
    server.start()
    running.join(1500)
    assert codes == [0]
    after = rows_of(run)
    assert before.height < after.height == 16 * 30 + 16
    assert after["key"].n_unique() == after.height
    kept = after.join(before.select("key"), on="key", how="semi").sort("key")
    assert kept.equals(before.sort("key"))  # what had landed was not asked again
    totals = read_ledger(RunDirectory(url=str(run))).judges["judge"]
    # Every reply that the server gave is a row: none was paid for twice. At which attempt is the
    # machine's business: one too busy to answer in time has a lease asked again.
    assert totals.tokens.generated == after["completion_tokens"].sum()
