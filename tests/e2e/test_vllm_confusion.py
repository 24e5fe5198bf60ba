"""Confusion with a real engine: what columns cost beside the naive way, by its counters."""

import json

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.pipeline.confusing import read_confusions
from judgerel_ray.store import RunDirectory, scan_judgments

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

N_OPTIONS = 5
WORDS = "the best response is the one that answers the question "


@pytest.fixture(scope="module")
def sweep(tiny_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vllm_confusion")
    items = [
        {
            "item_id": f"q{i}",
            "criterion": "fit",
            "question": "Which answer fits best?",
            "text": f"{i} {WORDS * 80}",
            "options": [f"answer {n} of {i}" for n in range(N_OPTIONS)],
        }
        for i in range(2)
    ]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    file = folder / "s.toml"
    file.write_text(
        f'name = "s"\n[[judge]]\nname = "tiny"\nengine = "vllm"\nmodel = "{tiny_model}"\ngpus = 0\n'
        '[[ask]]\nprotocol = "confusion"\nbenchmark = "criterion"\npath = "items.jsonl"\n'
        "max_tokens = 24\n"
    )
    return file


def test_columns_compute_an_eighth_of_the_naive_prompts(sweep, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["run", str(sweep), "--out", str(out)]) == 0
    capsys.readouterr()
    assert main(["status", str(out), "--json"]) == 0
    tokens = json.loads(capsys.readouterr().out)["judges"][0]["tokens"]
    run = RunDirectory.open(str(out))
    rows = scan_judgments(run).collect()
    scored = rows.filter(pl.col("role") == "scorer")
    # A random model may end before it said anything: that column is told, and costs nothing.
    unargued = scored.filter(pl.col("outcome") == "failed")["finish_reason"]
    assert scored.height == 2 * N_OPTIONS
    assert unargued.len() < N_OPTIONS
    assert unargued.str.contains("no assessment for answer").all()
    # What every assessment paired with every option would cost, each prompt computed alone.
    naive = scored["prompt_tokens"].sum() * N_OPTIONS
    assert scored["prompt_tokens"].min() > 1000
    computed = tokens["prompt"] - tokens["cached"]
    print(
        f"columns computed {computed} prompt tokens, the naive way {naive}: {computed / naive:.4f}"
    )
    assert computed <= naive / 8
    table = read_confusions(run)
    assert table.height == 2 * N_OPTIONS**2
    assert table["probability"].null_count() == unargued.len() * N_OPTIONS
    assert table["probability"].drop_nulls().is_between(0, 1).all()
