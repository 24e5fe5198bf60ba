"""The journey end to end with real vLLM on the CPU, through local Ray and the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import request_key
from judgerel_ray.store import RunDirectory, read_ledger, scan_completions, scan_judgments

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.vllm, pytest.mark.ray]  # `make test` starts an engine here, once

SWEEP = """
name = "{name}"
[[judge]]
name = "judge"
model = "{model}"
gpus = 0
replicas = {replicas}
max_model_len = 2048
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "{items}"
temperatures = {temperatures}
replications = {replications}
max_tokens = 24
early_stop = {early_stop}
[fleet]
lease_seconds = 0.5
"""


def write_sweep(folder: Path, *, items: Path, name: str, **given: object) -> Path:
    """A sweep of the demo's judge over some items."""
    values = {
        "model": ROOT / "judgerel_ray/demo/judge",
        "replicas": 1,
        "temperatures": [1.0, 0.5, 0.0],
        "replications": 12,
        "early_stop": "false",
    }
    file = folder / f"{name}.toml"
    file.write_text(SWEEP.format(name=name, items=items, **{**values, **given}))
    return file


def texts_of(run: Path) -> dict[str, str]:
    found = scan_completions(RunDirectory.open(str(run))).select("key", "text").collect()
    return dict(zip(found["key"], found["text"], strict=True))


@pytest.mark.slow
def test_the_demo_lands_every_planned_request_once(demo_run, demo_sweep, capsys):
    rows = scan_judgments(RunDirectory.open(str(demo_run))).collect()
    capsys.readouterr()
    assert main(["plan", str(demo_sweep)]) == 0
    assert "5,760 requests" in capsys.readouterr().out
    plan = json.loads((demo_run / "plan.json").read_text())
    planned = plan["requests"]
    assert rows.height == planned == 2 * 60 * 2 * 2 * 3 * 4
    assert rows["key"].n_unique() == planned
    cells = rows.group_by("judge", "template", "temperature", "option_order", "item_id").len()
    assert cells.height == planned / 4
    assert set(cells["len"]) == {4}
    assert rows.filter(pl.col("outcome") == "scored").height >= 0.95 * planned
    assert main(["verify", str(demo_run)]) == 0
    capsys.readouterr()
    assert main(["status", str(demo_run), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["landed"], status["owed"], status["failed"]) == (planned, 0, 0)
    assert status["tokens"]["generated"] == rows["completion_tokens"].sum()
    assert status["tokens"]["prompt"] == rows["prompt_tokens"].sum()
    size = sum(file.stat().st_size for file in demo_run.rglob("*") if file.is_file())
    assert 0.7 * size < plan["disk_bytes"] < 1.6 * size
    assert {judge["tokens_are"] for judge in plan["judges"]} == {"counted"}
    assert sum(judge["prompt"] for judge in plan["judges"]) == status["tokens"]["prompt"]


@pytest.mark.slow
def test_a_second_run_asks_nothing_and_starts_no_engine(demo_run, demo_sweep, capsys, outside):
    commits = read_ledger(RunDirectory.open(str(demo_run))).commit_names
    outside(make_actor=lambda *_, **__: pytest.fail("an engine"))
    assert main(["run", str(demo_sweep), "--out", str(demo_run)]) == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out
    assert read_ledger(RunDirectory.open(str(demo_run))).commit_names == commits


@pytest.mark.slow
def test_the_intervals_hold_the_truth_of_the_weights(demo_run):
    from demo.pair_judges import known_truths, measured

    found, truths = measured(str(demo_run)), known_truths()
    assert found.keys() == truths.keys()
    outside = {
        (*group, name): (row["low"], truth, row["high"])
        for group, each in truths.items()
        for name, truth in each.items()
        for row in [found[group][name]]
        if not row["low"] <= truth <= row["high"]
    }
    assert outside == {}


@pytest.mark.slow
def test_the_demo_shows_whom_to_trust(demo_run, tmp_path):
    """By repeats alone the judge that reads nothing is the better one."""
    from demo.pair_judges import TEMPERATURES, measured

    found = measured(str(demo_run))
    for temperature in TEMPERATURES:
        honest, first = found["honest", temperature], found["first", temperature]
        assert first["reproducibility"]["noise"]
        assert not honest["reproducibility"]["noise"]
        assert first["repeatability"]["value"] > honest["repeatability"]["value"] - 0.05
    page = tmp_path / "report.html"
    assert main(["report", str(demo_run), "--out", str(page)]) == 0
    assert "Rely on honest. Do not rely on first." in page.read_text()


@pytest.mark.slow
def test_the_readme_shows_the_demo(demo_run, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    ((landed, shown),) = re.findall(
        r"\$ make demo\n\.\.\.\n(.*?)\n\.\.\.\n(.*?)\n\.\.\.\n```", page, re.DOTALL
    )
    n = json.loads((demo_run / "plan.json").read_text())["requests"]
    assert landed == f"{n} of {n} requests landed in ...runs/demo ({n} in this session, 0 pending)"
    capsys.readouterr()
    assert main(["reduce", str(demo_run)]) == 0
    printed = capsys.readouterr().out.replace(str(demo_run), "runs/demo")
    assert shown.splitlines() == [line.rstrip() for line in printed.strip().splitlines()]


@pytest.mark.slow
def test_coefficients_agree_with_the_truth_of_the_weights(questions_run):
    from demo.against_truth import LIMIT, compare

    comparisons, divergences = compare(str(questions_run))
    assert {row.temperature for row in comparisons} == {1.0, 0.75, 0.5}
    assert {row.coefficient: row.z for row in comparisons if abs(row.z) > LIMIT} == {}
    assert divergences[1.0] < 0.02


@pytest.mark.slow
def test_two_engines_answer_each_key_as_one_does(questions_run, questions_again, n_again):
    # The same judge and questions again: the same keys, whatever the sweep.
    commits = read_ledger(RunDirectory.open(str(questions_again))).commits
    assert len({commit.engine["pid"] for commit in commits}) == 2
    expected = texts_of(questions_run)
    found = {key: text for key, text in texts_of(questions_again).items() if key in expected}
    assert len(found) == 16 * (3 * n_again + 1)
    assert found == {key: expected[key] for key in found}
    engine_of = {
        key: commit.engine["pid"]
        for commit in commits
        for key in commit.conditions
        if request_key(key, 0) in expected
    }
    assert len(engine_of) == 16 * 4
    assert len(set(engine_of.values())) == 2
    # Different keys are different draws: at temperature 1 an item's replications are not one text.
    rows = scan_judgments(RunDirectory.open(str(questions_run)))
    is_hot = (pl.col("temperature") == 1.0) & (pl.col("replication") < n_again)
    hot = rows.filter(is_hot).select("key", "item_id").collect()
    texts_of_item: dict[str, set[str]] = {}
    for key, item in hot.iter_rows():
        texts_of_item.setdefault(item, set()).add(found[key])
    assert min(len(texts) for texts in texts_of_item.values()) > 1


@pytest.mark.slow
def test_an_early_stop_gives_the_verdicts_of_whole_replies(questions_run, questions_again, n_again):
    """Replies ended at their verdict: same seeds, CPU in float32, same verdicts."""
    cell = ["item_id", "temperature", "replication"]
    whole, early = (
        scan_judgments(RunDirectory.open(str(run))).filter(template=name).collect().sort(cell)
        for run, name in ((questions_run, "default"), (questions_again, "early"))
    )
    whole = whole.filter(pl.col("replication") < n_again)
    assert whole.height == early.height == 16 * (3 * n_again + 1)
    assert not set(whole["key"]) & set(early["key"])
    assert whole["seed"].equals(early["seed"])
    assert whole["verdict"].equals(early["verdict"])
    assert early["completion_tokens"].sum() < 0.75 * whole["completion_tokens"].sum()


@pytest.mark.usefixtures("ray_local")
def test_a_cold_question_computes_its_prompt_once(run_lean, tmp_path, capsys):
    """ENGINE 6.1: P + (G - 1) tails, where a tail is what follows the last full block."""
    quality = ("accurate", "clear", "vague", "wrong")
    options = [
        {"option_id": f"m{i}", "text": " ".join(quality[(i + j) % 4] for j in range(80))}
        for i in range(5)
    ]
    items = tmp_path / "long.jsonl"
    items.write_text(
        json.dumps({"item_id": "long", "question": "Which is best?", "options": options}) + "\n"
    )
    sweep = write_sweep(
        tmp_path, items=items, name="cold", temperatures=[1.0], replications=50, early_stop="true"
    )
    assert run_lean(sweep, tmp_path / "cold") == 0
    capsys.readouterr()
    assert main(["status", str(tmp_path / "cold"), "--json"]) == 0
    tokens = json.loads(capsys.readouterr().out)["tokens"]
    prompt = tokens["prompt"] // 50
    assert tokens["prompt"] == 50 * prompt
    assert prompt > 400
    block = read_ledger(RunDirectory.open(str(tmp_path / "cold"))).commits[0].engine["block_size"]
    tail = prompt - block * ((prompt - 1) // block)
    assert tokens["computed"] == pytest.approx(prompt + 49 * tail, rel=0.05)
