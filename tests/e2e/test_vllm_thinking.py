"""Three tempers of one real model think twice and judge each other, over questions with options."""

import json
import os
import random
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, scan_judgments

pytestmark = [pytest.mark.ray, pytest.mark.vllm, pytest.mark.slow]

JUDGE = Path(__file__).parents[2] / "judgerel_ray" / "demo" / "thinking_judge"
TEMPERS = {
    "plain": "true",
    "careful": f'"{JUDGE}/careful.jinja"',
    "hasty": f'"{JUDGE}/hasty.jinja"',
}
N, M, TEMPERATURES, ORDERS = 12, 3, (1.0, 0.5), 2
EACH = N * M * len(TEMPERATURES) * len(TEMPERS)
PLANNED = {
    ("select", "responder"): EACH,
    ("choose", "responder"): EACH,
    ("judge", "participant"): ORDERS * EACH,
    ("judge", "evaluator_only"): ORDERS * EACH,
}


def own_questions(folder):
    """Questions of our own whose right option is told by the demo's words of quality."""
    draw = random.Random(4)
    rows = []
    for n in range(N):
        n_options = 2 + n % 9
        right = draw.randrange(n_options)
        texts = [f"It is vague, as is part {k} of {n}." for k in range(n_options)]
        texts[right] = f"It is accurate and so sound that {n} follows."
        rows.append({"item_id": f"q{n}", "question": f"What of {n}?", "options": texts,
                     "answer_from_0": right})  # fmt: skip
    (folder / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "multiple_choice", folder / "own.jsonl"


def questions(folder):
    """Recorded ones where there are some."""
    data = os.environ.get("JUDGEREL_DATA")
    if not data:
        return own_questions(folder)
    recorded = Path(data, "seed004", "monolithic_claude.parquet")
    pl.read_parquet(recorded)[:N].write_parquet(folder / "some.parquet")
    return "bergman2025", folder / "some.parquet"


def write_sweep(folder, benchmark, path, *, more=""):
    """A sweep of the three tempers, of one set of weights."""
    judges = "".join(
        f'[[judge]]\nname = "{name}"\nmodel = "{JUDGE}"\nchat_template = {template}\n'
        "gpus = 0\nreplicas = 1\nmax_model_len = 2048\n"
        for name, template in TEMPERS.items()
    )
    ask = (
        f'[[ask]]\nprotocol = "think_twice"\nbenchmark = "{benchmark}"\npath = "{path}"\n'
        f"temperatures = {list(TEMPERATURES)}\nreplications = {M}\nmax_tokens = 64\n"
        f"option_orders = {ORDERS}\n{more}\n"
    )
    file = folder / "s.toml"
    file.write_text(f'name = "thinking"\n{judges}{ask}')
    return file


@pytest.fixture(scope="module")
def three_cpus():
    """A cluster on which three engines of the CPU are up at once, whatever cores there are."""
    import ray

    ray.shutdown()
    options = {"num_gpus": 0, "log_to_driver": False, "include_dashboard": False}
    ray.init(address="local", num_cpus=len(TEMPERS), **options)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def run(three_cpus, run_lean, tmp_path_factory):  # noqa: ARG001  the cluster must be up
    """The sweep and its finished run."""
    folder = tmp_path_factory.mktemp("vllm_thinking")
    file = write_sweep(folder, *questions(folder))
    assert run_lean(file, folder / "run") == 0
    return file, folder / "run"


@pytest.fixture(scope="module")
def rows(run):
    return scan_judgments(RunDirectory.open(str(run[1]))).collect()


def test_every_planned_request_of_every_stage_lands_once(run, rows, capsys):
    file, out = run
    assert json.loads((out / "plan.json").read_text())["requests"] == sum(PLANNED.values())
    assert rows.height == rows["key"].n_unique() == sum(PLANNED.values())
    found = rows.group_by("stage", "role").len().rows()
    assert {(stage, role): count for stage, role, count in found} == PLANNED
    capsys.readouterr()
    assert main(["verify", str(out)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 errors"
    assert main(["run", str(file), "--out", str(out)]) == 0
    assert "0 in this session" in capsys.readouterr().out
    assert scan_judgments(RunDirectory.open(str(out))).collect().height == rows.height


def test_at_least_four_fifths_of_every_stage_can_be_read(rows):
    readable = pl.col("outcome").is_null() | (pl.col("outcome") == "scored")
    shares = rows.group_by("stage", "role", "judge").agg(readable.mean().alias("share"))
    for stage, role, judge, share in shares.sort("stage", "role", "judge").rows():
        print(f"{stage} {role} {judge}: {share:.3f}")
    assert shares.height == 4 * len(TEMPERS)
    assert shares["share"].min() >= 0.8
    selected = rows.filter(pl.col("stage") == "select", pl.col("outcome").is_null())
    assert selected["label"].str.count_matches(",").mean() > 0.5
    assert rows.filter(stage="choose", outcome="scored")["verdict"].n_unique() > 5


def test_confidences_are_read_and_both_orders_are_there(rows):
    scored = rows.filter(outcome="scored")
    assert scored["confidence"].is_not_null().mean() > 0.8
    assert scored["confidence"].drop_nulls().is_between(0, 1).all()
    assert scored["confidence"].n_unique() > 3
    judged = rows.filter(stage="judge")
    assert set(judged["option_order"]) == set(range(ORDERS))
    counts = judged.group_by("item_id", "judge", "role", "option_order", "temperature").len()
    assert counts["len"].unique().to_list() == [M]


def test_judges_mostly_follow_an_answer_that_was_shown(rows):
    """An answer shown is a model's first replication at the first temperature."""
    shown = rows.filter(stage="choose", replication=0, temperature=TEMPERATURES[0])
    shown = shown.group_by("item_id").agg(pl.col("verdict").drop_nulls().alias("shown"))
    judged = rows.filter(stage="judge", outcome="scored").join(shown, on="item_id")
    follows = judged.select(pl.col("shown").list.contains(pl.col("verdict"))).to_series()
    assert follows.mean() > 0.6
