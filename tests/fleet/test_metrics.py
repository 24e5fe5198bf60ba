"""Numbers over time: what is told, what the dashboard asks for, and what Ray exports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.request import urlopen

import pytest

from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.core import TokenCounts
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgeSpec
from judgerel_ray.fleet.settlement import counts_of
from judgerel_ray.fleet.telemetry import COUNTERS, GAUGES, record
from judgerel_ray.store import JudgeTotals

EXPORTED = {*(f"ray_{name}_total" for name in COUNTERS), *(f"ray_{name}" for name in GAUGES)}


def test_the_dashboard_shows_every_metric_that_is_told_and_no_other():
    text = (Path(__file__).parents[2] / "cluster" / "grafana-dashboard.json").read_text()
    dashboard = json.loads(text)
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [one["query"]["query"] for one in dashboard["templating"]["list"][1:]]
    assert set(re.findall(r"ray_\w+", " ".join(queries))) == EXPORTED


def test_what_is_no_metric_is_not_told():
    for value in (0.0, 1.0):
        with pytest.raises(KeyError):
            record("judgerel_moods", "a", value)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.usefixtures("ray_apart")
def test_a_cluster_exports_what_a_run_told(
    ray_started, outside, write_sweep, tmp_path: Path, wait_until
):
    ray = ray_started(_system_config={"metrics_report_interval_ms": 1000})
    [node] = ray.nodes()
    url = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"

    def value(name: str) -> float | None:
        with urlopen(url) as reply:
            lines = reply.read().decode().splitlines()
        told = [line for line in lines if line.startswith(f"{name}{{") and 'judge="a"' in line]
        return sum(float(line.split()[-1]) for line in told) if told else None

    seen: list[float] = []

    def may_send(_pools, board) -> bool:
        """Whether leases may go out: an actor lives until its own metric was seen."""
        if board.judges["a"].landed and not seen:
            seen.extend(
                found for found in [value("ray_judgerel_leases_at_work")] if found is not None
            )
        return not board.judges["a"].landed or bool(seen)

    outside(may_send=may_send)
    judge = {"name": "a", "replicas": 1, "prices": {"prompt": 3.0, "completion": 9.0}}
    path = write_sweep([judge], n_items=4, replications=300, temperatures=(1.0,))
    out = str(tmp_path / "run")
    summary = run_sweep(read_sweep(str(path)), out=out)
    assert (summary.owed, len(seen)) == (0, 1)
    wait_until(lambda: value("ray_judgerel_judgments_total") == summary.landed, "all judgments")
    wait_until(lambda: value("ray_judgerel_cost_total"), "the cost")
    assert value("ray_judgerel_queue_depth") is not None
    progress = json.loads(Path(out, "progress.json").read_text())["judges"]["a"]
    generated = value("ray_judgerel_generated_tokens_total")
    assert generated == progress["tokens"]["generated"]


def test_cached_tokens_of_a_lease_are_counted():
    tokens = TokenCounts(prompt=100, cached=60, generated=5)
    made = JudgeTotals(rows=3, outcomes={}, tokens=tokens, seconds=0.5)
    engine = EngineSpec(name="j", engine="simulated", model="uniform", gpus=2)
    spec = JudgeSpec(engine=engine, run=None, session=1, visibility_token="")
    counted = counts_of(made, spec)
    assert (counted["judgerel_cached_tokens"], counted["judgerel_gpu_seconds"]) == (60, 1.0)
