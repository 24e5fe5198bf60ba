"""The journey end to end with real vLLM on a CUDA device, through local Ray."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, read_ledger, scan_completions, scan_judgments

ROOT = Path(__file__).resolve().parents[2]

REPLICATIONS = 400
TEMPERATURES = (1.0, 0.5)
LIMIT = 4.0  # Monte-Carlo standard errors
SWEEP = f"""
name = "gpu"
[[judge]]
name = "tiny-judge"
engine = "vllm"
model = "{ROOT}/judgerel_ray/demo/judge"
gpus = 1
replicas = 1
max_model_len = 1024
engine_options = {{ gpu_memory_utilization = 0.4, num_gpu_blocks_override = 8192 }}
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{ROOT}/judgerel_ray/demo/items.parquet"
temperatures = [1.0, 0.5, 0.0]
replications = {REPLICATIONS}
top_k = 50
max_tokens = 24
"""

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.vllm,
    pytest.mark.ray,
    pytest.mark.slow,
    # What vLLM, torch and the driver warn of differs from machine to machine.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def gpu_ray(cuda) -> Iterator[None]:  # noqa: ARG001  skips first
    """A local Ray with the machine's own GPUs; the shared one, without any, is put away."""
    import ray

    ray.shutdown()
    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def run(gpu_ray, tmp_path_factory) -> Path:  # noqa: ARG001  the cluster must be up
    """One sweep, landed."""
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "sweep.toml").write_text(SWEEP)
    assert main(["run", str(folder / "sweep.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_every_planned_request_lands_once(run, capsys):
    rows = scan_judgments(RunDirectory.open(str(run))).collect()
    planned = json.loads((run / "plan.json").read_text())["requests"]
    assert rows.height == planned == 16 * (2 * REPLICATIONS + 1)
    assert rows["key"].n_unique() == planned
    assert main(["verify", str(run)]) == 0
    capsys.readouterr()
    assert main(["status", str(run), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["landed"], status["owed"], status["failed"]) == (planned, 0, 0)
    assert status["judges"][0]["requests_per_s"] > 0


def test_its_engine_saw_one_device_and_used_it(run):
    engines = [commit.engine for commit in read_ledger(RunDirectory.open(str(run))).commits]
    seen = {engine["visible_devices"] for engine in engines}
    assert len(seen) == 1
    [devices] = seen
    assert devices
    assert "," not in str(devices)
    assert {engine["device"] for engine in engines} == {"cuda"}
    assert {engine["dtype"] for engine in engines} <= {"bfloat16", "float16"}


def test_replications_are_draws_of_their_own(run):
    directory = RunDirectory.open(str(run))
    keys = scan_judgments(directory).filter(pl.col("temperature") == 1.0).select("key", "item_id")
    texts = scan_completions(directory).select("key", "text")
    distinct = keys.join(texts, on="key").group_by("item_id").agg(pl.col("text").n_unique())
    assert distinct.collect()["text"].min() > 20


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_verdicts_come_as_often_as_the_weights_say(run, temperature):
    """Every option of every question, against transformers in float32 on the CPU.

    Two replications are allowed beside the limit, because rare verdicts come in whole numbers.
    """
    from demo.against_truth import asked_in
    from demo.judge_design import NO_VERDICT

    rows = scan_judgments(RunDirectory.open(str(run)))
    rows = rows.filter(pl.col("temperature") == temperature)
    told = rows.select(
        "item_id",
        verdict=pl.when(pl.col("outcome") == "scored")
        .then(pl.col("verdict"))
        .when(pl.col("outcome") == "off_menu")
        .then(pl.lit("off the menu"))
        .otherwise(pl.lit(NO_VERDICT)),
    )
    counts = {
        (item, verdict): n
        for item, verdict, n in told.group_by("item_id", "verdict").len().collect().iter_rows()
    }
    asked = asked_in(str(run))
    assert len(asked) == 16
    far = {}
    for one in asked:
        truth = one.options(one.letters(temperature))
        found = {verdict: n for (item, verdict), n in counts.items() if item == one.item.item_id}
        assert sum(found.values()) == REPLICATIONS
        for verdict in truth.keys() | found.keys():
            p, n = truth.get(verdict, 0.0), found.get(verdict, 0)
            allowed = LIMIT * math.sqrt(REPLICATIONS * p * (1 - min(p, 1.0))) + 2
            if abs(n - REPLICATIONS * p) > allowed:
                far[one.item.item_id, verdict] = (n / REPLICATIONS, p)
    assert far == {}


def test_coefficients_agree_with_the_truth_of_the_weights(run):
    from demo.against_truth import compare

    comparisons, _ = compare(str(run))
    assert {row.temperature for row in comparisons} == set(TEMPERATURES)
    assert {row.coefficient: row.z for row in comparisons if abs(row.z) > LIMIT} == {}


def test_a_second_run_asks_nothing(run, capsys):
    assert main(["run", str(run.parent / "sweep.toml"), "--out", str(run)]) == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out
