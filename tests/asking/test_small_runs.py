"""Which runs need no Ray."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from judgerel_ray.asking.run.running import _unreachable_run_servers
from judgerel_ray.asking.small_runs import MOST_REQUESTS, needs_ray
from judgerel_ray.asking.verb import wanted_cluster
from judgerel_ray.engines import EngineSpec

SIMULATED = EngineSpec(name="s", engine="simulated", model="uniform")
SERVED = EngineSpec(name="a", engine="openai", model="m", base_url="http://localhost:1/v1")
DYING = {"dies_on": 3}


def test_small_runs_of_judges_behind_an_api_and_simulated_ones_need_none():
    assert needs_ray([SIMULATED, SERVED], MOST_REQUESTS) is None
    assert needs_ray([], 0) is None


@pytest.mark.parametrize(
    ("spec", "n", "reason"),
    [
        (SERVED, MOST_REQUESTS + 1, "more than 20,000 requests"),
        (replace(SIMULATED, gpus=1), 1, "judge s runs on hardware of its own"),
        (replace(SIMULATED, engine="vllm"), 1, "judge s runs on hardware of its own"),
        (replace(SIMULATED, engine_options=DYING), 1, "judge s is told to end its process"),
        (replace(SIMULATED, engine_options={"poison": "q"}), 1, "judge s is told to end its"),
    ],
)
def test_others_are_asked_on_ray_and_the_plan_says_why(spec, n, reason):
    assert str(needs_ray([SERVED, spec], n)).startswith(reason)


def test_an_engine_that_only_says_it_died_needs_none():
    assert needs_ray([replace(SIMULATED, engine_options={**DYING, "dies": "raise"})], 1) is None


def test_ray_is_asked_for_by_its_flag_or_by_an_address(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert wanted_cluster(None, ray=False) is None
    assert wanted_cluster(None, ray=True) == "local"
    assert wanted_cluster("h:1", ray=True) == wanted_cluster("h:1", ray=False) == "h:1"
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert wanted_cluster(None, ray=True) == "head:6379"


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ("replications = 2", "runs in one process, without Ray (up to 20,000 requests"),
        ("replications = 9000", "runs on Ray: more than 20,000 requests"),
    ],
)
def test_a_plan_says_where_a_sweep_runs(sweep, more, note):
    from judgerel_ray.asking.plan.planning import plan_resolved

    notes = [one for one in plan_resolved(sweep(asks=(more,))).notes if one.startswith("runs ")]
    assert len(notes) == 1
    assert notes[0].startswith(note)


def test_a_server_that_is_not_there_is_named_at_once(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    one, other = _unreachable_run_servers([SIMULATED, SERVED, replace(SERVED, name="b")])
    assert one.startswith("judge a: no connection to http://localhost:1/v1 (Connection refused)")
    assert "Try: start the server" in one
    assert other == one.replace("judge a", "judge b")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        assert not list(_unreachable_run_servers([replace(SERVED, base_url=url)]))
    # Through a proxy only asking tells.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert not list(_unreachable_run_servers([replace(SERVED, base_url="http://h.example/v1")]))
