"""Confusion with a real engine: what columns cost beside the naive way, by its counters."""

import json
import os
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.benchmarks import load_items
from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments
from judgerel_ray.store.made_tables import read_confusions
from judgerel_ray.tables import items_to_frame

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

N_OPTIONS = 5
WORDS = "the best response is the one that answers the question "
COSTED = ("made_up", "recorded")
PAIR = ("columns", "paper")
"""The same texts under two names, so that one engine reads their matrices both ways."""


def texts(name, *, word):
    """Two texts that share no beginning with those of another word."""
    return [
        {
            "item_id": f"q{i}",
            "benchmark": name,
            "criterion": "fit",
            "question": "Which answer fits best?",
            "text": f"{word} {i} {WORDS * 80}",
            "options": [f"answer {n} of {i}" for n in range(N_OPTIONS)],
        }
        for i in range(2)
    ]


def summaries(folder):
    """Two summaries of two articles, to be rated from 1 to 5; a character is about a token."""
    items = {}
    for item in load_items("summeval", str(Path(folder, "items"))):
        if 1100 <= len(item.context) < 1400:
            items.setdefault(item.item_id.split(":")[1], item)
    two = list(items.values())[:2]
    assert {len(item.options) for item in two} == {N_OPTIONS}
    return items_to_frame(two).with_columns(benchmark=pl.lit("recorded"))


@pytest.fixture(scope="module")
def read(tiny_model, run_lean, tmp_path_factory):
    """A finished run of one engine; recorded texts, too, where the machine has some."""
    folder = tmp_path_factory.mktemp("vllm_confusion")
    words = {"made_up": "first", **dict.fromkeys(PAIR, "second")}
    for name, word in words.items():
        lines = map(json.dumps, texts(name, word=word))
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    files = [("criterion", f"{name}.jsonl", name) for name in words]
    if data := os.environ.get("JUDGEREL_DATA"):
        summaries(data).write_parquet(folder / "recorded.parquet")
        files.append(("summeval", "recorded.parquet", "recorded"))
    asks = "".join(
        f'[[ask]]\nprotocol = "confusion"\nbenchmark = "{loader}"\npath = "{file}"\n'
        f'max_tokens = 24\nmode = "{"paper" if name == "paper" else "columns"}"\n'
        for loader, file, name in files
    )
    (folder / "s.toml").write_text(
        f'name = "s"\n[[judge]]\nname = "tiny"\nengine = "vllm"\nmodel = "{tiny_model}"\n'
        f"gpus = 0\n{asks}"
    )
    assert run_lean(folder / "s.toml", folder / "run") == 0
    return folder / "run"


def judged(read, name):
    """Rows and the matrices of some texts."""
    run = RunDirectory.open(str(read))
    rows = scan_judgments(run).filter(pl.col("benchmark") == name)
    logprobs = scan_completions(run).select("key", "logprobs")
    table = read_confusions(run).filter(pl.col("benchmark") == name)
    return rows.join(logprobs, on="key", how="left").collect(), table


def test_paper_asks_every_pair_with_its_option_inserted_and_reads_the_same(read):
    tables, scored = {}, {}
    for mode in PAIR:
        rows, tables[mode] = judged(read, mode)
        scored[mode] = rows.filter(pl.col("role") == "scorer")
        sent = scored[mode].filter(pl.col("outcome").ne_missing("failed"))
        print(f"{mode}: {scored[mode].height} requests read the matrices, {sent.height} sent")
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


@pytest.mark.parametrize("text", COSTED)
def test_columns_compute_an_eighth_of_the_naive_prompts(text, read, request):
    if text == "recorded":
        request.getfixturevalue("recordings")
    rows, table = judged(read, text)
    scored = rows.filter(pl.col("role") == "scorer")
    # A random model may end before it said anything: that column is told, and costs nothing.
    unargued = scored.filter(pl.col("outcome") == "failed")["finish_reason"]
    assert scored.height == 2 * N_OPTIONS
    assert unargued.len() < N_OPTIONS
    assert unargued.str.contains("no assessment for").all()
    # What every assessment paired with every option would cost, each prompt computed alone.
    naive = scored["prompt_tokens"].sum() * N_OPTIONS
    assert scored["prompt_tokens"].min() > 1000
    told = rows.filter(pl.col("prompt_tokens").is_not_null())
    assert told["cached_tokens"].null_count() == 0
    computed = (told["prompt_tokens"] - told["cached_tokens"]).sum()
    print(
        f"{text}: columns computed {computed} prompt tokens, the naive way {naive}: "
        f"{computed / naive:.4f}; prompts {scored['prompt_tokens'].min()} to "
        f"{scored['prompt_tokens'].max()}"
    )
    assert computed <= naive / 8
    assert table.height == 2 * N_OPTIONS**2
    assert table["probability"].null_count() == unargued.len() * N_OPTIONS
    assert table["probability"].drop_nulls().is_between(0, 1).all()


def test_what_rows_tell_of_their_tokens_is_what_the_engine_counted(read, capsys):
    capsys.readouterr()
    assert main(["status", str(read), "--json"]) == 0
    tokens = json.loads(capsys.readouterr().out)["judges"][0]["tokens"]
    rows = scan_judgments(RunDirectory.open(str(read))).collect()
    told = rows.filter(pl.col("prompt_tokens").is_not_null())
    assert told["cached_tokens"].null_count() == 0
    computed = (told["prompt_tokens"] - told["cached_tokens"]).sum()
    # The option that stands in each of paper's prompts is one token, and no part of the question.
    inserted = told.filter(pl.col("benchmark") == "paper", pl.col("role") == "scorer").height
    assert computed + inserted == tokens["prompt"] - tokens["cached"]
