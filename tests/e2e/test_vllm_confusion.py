"""Confusion with a real engine: what columns cost beside the naive way, by its counters."""

import json

import polars as pl
import pytest

from judgerel_ray.benchmarks import load_items
from judgerel_ray.cli import main
from judgerel_ray.pipeline.confusing import read_confusions
from judgerel_ray.store import RunDirectory, read_ledger, scan_completions, scan_judgments
from judgerel_ray.tables import items_to_frame

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

N_OPTIONS = 5
WORDS = "the best response is the one that answers the question "


def write_sweep(folder, model, *, benchmark, items):
    file = folder / "s.toml"
    file.write_text(
        f'name = "s"\n[[judge]]\nname = "tiny"\nengine = "vllm"\nmodel = "{model}"\ngpus = 0\n'
        f'[[ask]]\nprotocol = "confusion"\nbenchmark = "{benchmark}"\npath = "{items}"\n'
        "max_tokens = 24\n"
    )
    return file


@pytest.fixture
def made_up(tiny_model, tmp_path):
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
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    return write_sweep(tmp_path, tiny_model, benchmark="criterion", items="items.jsonl")


@pytest.fixture
def recorded(tiny_model, tmp_path, recordings):
    """Two summaries of two articles, to be rated from 1 to 5; a character is about a token."""
    items = {}
    for item in load_items("summeval", str(recordings / "items")):
        if 1100 <= len(item.context) < 1400:
            items.setdefault(item.item_id.split(":")[1], item)
    two = list(items.values())[:2]
    assert {len(item.options) for item in two} == {N_OPTIONS}
    items_to_frame(two).write_parquet(tmp_path / "items.parquet")
    return write_sweep(tmp_path, tiny_model, benchmark="summeval", items="items.parquet")


def test_paper_asks_every_pair_with_its_option_inserted_and_reads_the_same(made_up, tmp_path):
    sweep = made_up
    paper = sweep.with_name("paper.toml")
    paper.write_text(sweep.read_text() + 'mode = "paper"\n')
    tables, scored = {}, {}
    for mode, file in (("columns", sweep), ("paper", paper)):
        out = tmp_path / mode
        assert main(["run", str(file), "--out", str(out)]) == 0
        run = RunDirectory.open(str(out))
        tables[mode] = read_confusions(run)
        rows = scan_judgments(run).filter(pl.col("role") == "scorer")
        read = scan_completions(run).select("key", "logprobs")
        scored[mode] = rows.join(read, on="key").collect()
        tokens = read_ledger(run).judges["tiny"].tokens
        sent = scored[mode].filter(pl.col("outcome").ne_missing("failed"))
        print(
            f"{mode}: {scored[mode].height} requests read the matrices, {sent.height} sent; "
            f"{tokens.prompt} prompt tokens asked for, {tokens.prompt - tokens.cached} computed"
        )
    lost = {m: rows.filter(pl.col("outcome") == "failed").height for m, rows in scored.items()}
    assert scored["columns"].height == 2 * N_OPTIONS
    assert scored["paper"].height == 2 * N_OPTIONS**2
    assert lost["paper"] == N_OPTIONS * lost["columns"]
    # Each of n^2 requests reads the one option that stands in its prompt, and no other.
    sent = scored["paper"].filter(pl.col("outcome").ne_missing("failed"))
    labels = sent["logprobs"].list.eval(pl.element().struct.field("token")).to_list()
    assert {tuple(one) for one in labels} == {(label,) for label in "ABCDE"}
    both = tables["columns"].join(
        tables["paper"], on=["item_id", "assessment_option", "verdict_option"], validate="1:1"
    )
    assert both.height == 2 * N_OPTIONS**2
    assert both["probability"].null_count() == both["probability_right"].null_count() < both.height
    assert (both["probability"] - both["probability_right"]).abs().max() < 1e-5


@pytest.mark.parametrize("text", ["made_up", "recorded"])
def test_columns_compute_an_eighth_of_the_naive_prompts(text, request, tmp_path, capsys):
    sweep, out = request.getfixturevalue(text), tmp_path / "run"
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
    assert unargued.str.contains("no assessment for").all()
    # What every assessment paired with every option would cost, each prompt computed alone.
    naive = scored["prompt_tokens"].sum() * N_OPTIONS
    assert scored["prompt_tokens"].min() > 1000
    computed = tokens["prompt"] - tokens["cached"]
    print(
        f"{text}: columns computed {computed} prompt tokens, the naive way {naive}: "
        f"{computed / naive:.4f}; prompts {scored['prompt_tokens'].min()} to "
        f"{scored['prompt_tokens'].max()}"
    )
    assert computed <= naive / 8
    # What each landed row tells of itself adds up to what the engine counted.
    told = rows.filter(pl.col("prompt_tokens").is_not_null())
    assert told["cached_tokens"].null_count() == 0
    assert (told["prompt_tokens"] - told["cached_tokens"]).sum() == computed
    table = read_confusions(run)
    assert table.height == 2 * N_OPTIONS**2
    assert table["probability"].null_count() == unargued.len() * N_OPTIONS
    assert table["probability"].drop_nulls().is_between(0, 1).all()
