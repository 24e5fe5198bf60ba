"""Confusion from a sweep file to the uncertainty of judgments, with judges of known truth."""

import json
import math

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.confusion.from_run import run_uncertainty_tables
from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions
from judgerel_ray.cli import main
from judgerel_ray.core import Menu
from judgerel_ray.counting.snapshot import open_run
from judgerel_ray.engines import EngineSpec
from judgerel_ray.store import RunDirectory, scan_judgments
from judgerel_ray.store.made_tables import read_confusions
from tests.truth import true_distribution

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

OPTIONS = ("yes", "no", "partly")
N_ITEMS = 30
JUDGE = {"seed": 3, "concentration": 2.0}


def write(folder, *, ask="", judge=None, n_items=N_ITEMS):
    folder.mkdir(exist_ok=True)
    lines = [
        json.dumps(
            {
                "item_id": f"q{i}",
                "criterion": "fit",
                "question": "Does it fit?",
                "text": f"Text {i}.",
                "options": list(OPTIONS),
                "gold": OPTIONS[i % 3],
            }
        )
        for i in range(n_items)
    ]
    (folder / "items.jsonl").write_text("\n".join(lines))
    options = ", ".join(f"{k} = {json.dumps(v)}" for k, v in (judge or JUDGE).items())
    file = folder / "s.toml"
    file.write_text(
        'name = "s"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
        f"engine_options = {{ {options} }}\n"
        f'[[ask]]\nprotocol = "confusion"\nbenchmark = "criterion"\npath = "items.jsonl"\n{ask}\n'
    )
    return str(file)


def run(file, out):
    assert main(["run", file, "--out", str(out)]) == 0
    return RunDirectory.open(str(out))


def matrix(table, item):
    cells = table.filter(pl.col("item_id") == item)
    return {
        (row["verdict_option"], row["assessment_option"]): row["probability"]
        for row in cells.iter_rows(named=True)
    }


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    folder = tmp_path_factory.mktemp("confusion")
    judge = {**JUDGE, "suggestibility": 1.5}
    return run(write(folder, judge=judge), folder / "run")


def test_cells_are_the_truth_moved_by_what_was_argued(columns):
    table = read_confusions(columns)
    assert table.height == N_ITEMS * 9
    menu = Menu(labels=("A", "B", "C"), option_ids=OPTIONS, form="best_response")
    spec = EngineSpec(name="j", engine="simulated", model="dirichlet", engine_options=JUDGE)
    for item in ("q0", "q7"):
        true = true_distribution(spec, item_id=item, menu=menu)
        for argued in range(3):
            moved = [p * math.exp(1.5 * (place == argued)) for place, p in enumerate(true)]
            for place, weight in enumerate(moved):
                found = matrix(table, item)[OPTIONS[place], OPTIONS[argued]]
                assert found == pytest.approx(weight / sum(moved), abs=1e-6)


def test_three_stages_land_once_each(columns):
    rows = scan_judgments(columns).collect()
    stages = dict(rows.group_by("stage").len().iter_rows())
    assert stages == {
        "verdict": N_ITEMS, "assessment": 3 * N_ITEMS, "probabilities": 3 * N_ITEMS
    }  # fmt: skip
    assert rows["key"].n_unique() == rows.height
    roles = dict(rows.select("stage", "role").unique().iter_rows())
    assert roles == {"verdict": "judge", "assessment": "assessor", "probabilities": "scorer"}


def test_a_second_run_asks_nothing_and_the_plan_said_how_much(columns, capsys):
    folder = columns.url.removesuffix("/run")
    assert main(["plan", f"{folder}/s.toml"]) == 0
    assert f"{7 * N_ITEMS:,} requests" in capsys.readouterr().out
    assert main(["run", f"{folder}/s.toml", "--out", columns.url]) == 0
    assert "0 in this session" in capsys.readouterr().out


def test_paper_asks_every_pair_and_gets_the_same_matrix(columns, tmp_path):
    file = write(tmp_path, ask='mode = "paper"', judge={**JUDGE, "suggestibility": 1.5})
    paper = run(file, tmp_path / "paper")
    scored = scan_judgments(paper).filter(pl.col("role") == "scorer").collect()
    assert scored.height == 9 * N_ITEMS
    both = read_confusions(columns).join(
        read_confusions(paper),
        on=["item_id", "assessment_option", "verdict_option"],
        validate="1:1",
    )
    assert both.height == 9 * N_ITEMS
    assert (both["probability"] - both["probability_right"]).abs().max() < 1e-9


def test_single_asks_once_an_item(tmp_path):
    one = run(write(tmp_path, ask='mode = "single"', n_items=4), tmp_path / "one")
    table = read_confusions(one)
    assert table["assessment_option"].is_null().all()
    assert table.height == 4 * 3
    assert scan_judgments(one).filter(pl.col("role") == "scorer").collect().height == 4


def test_an_option_nobody_argues_is_a_column_that_is_not_there(tmp_path):
    judge = {**JUDGE, "refuse": 0.4}
    found = run(write(tmp_path, ask="temperatures = [1.0]", judge=judge), tmp_path / "run")
    rows = scan_judgments(found).collect()
    refused = rows.filter((pl.col("role") == "assessor") & (pl.col("outcome") == "refused"))
    assert 0 < refused.height < 3 * N_ITEMS
    failed = rows.filter((pl.col("role") == "scorer") & (pl.col("outcome") == "failed"))
    assert failed.height == refused.height
    assert failed["finish_reason"].str.contains("no assessment for").all()
    table = read_confusions(found)
    assert table["probability"].null_count() == 3 * refused.height
    scores = run_uncertainty_tables(open_run(found.url)).judgments
    assert scores["n_missing"].sum() == refused.height


def test_labels_and_their_worth(columns, capsys):
    told = run_uncertainty_tables(open_run(columns.url), UncertaintyOptions(threshold=0.6))
    scores, worth = told.judgments, told.worth
    assert scores.height == N_ITEMS
    for row in scores.iter_rows(named=True):
        above = [option for option, u in zip(row["options"], row["u"], strict=True) if u >= 0.6]
        expected = "low" if above == [row["chosen"]] else "high"
        assert row["label"] == expected
        assert row["correct"] == (row["chosen"] == row["right"])
    values = {row["quantity"]: row for row in worth.iter_rows(named=True)}
    n_right = int(scores["correct"].sum())
    assert (values["accuracy"]["k"], values["accuracy"]["n"]) == (n_right, N_ITEMS)
    assert "optimistic" in values["wagner2024_threshold"]["estimator"]
    assert values["auroc"]["n"] == N_ITEMS
    assert judgerel_ray.uncertainty(columns.url, threshold=0.6).judgments.equals(scores)
    assert main(["uncertainty", "--full", columns.url, "--threshold", "0.6"]) == 0
    printed = capsys.readouterr().out
    assert f"{n_right} of {N_ITEMS}" in printed
    assert "optimistic" in printed


def test_rules_are_chosen_by_word(columns, capsys):
    scores = judgerel_ray.uncertainty(columns.url).judgments
    row = scores.filter(pl.col("chosen") == pl.col("chosen_by_matrix")).row(0, named=True)
    largest = max(row["u"])

    def label(rule):
        found = judgerel_ray.uncertainty(columns.url, threshold=largest, rule=rule).judgments
        return found.filter(pl.col("item_id") == row["item_id"])["label"].item()

    assert (label(()), label("formula"), label("exceeding")) == ("low", "low", "high")
    words = ["--threshold", "0.4", "--rule", "formula,exceeding", "--risk", "0.3"]
    assert main(["uncertainty", "--full", columns.url, *words]) == 0
    assert "wrong <= 0.3 but for chance 0.1" in capsys.readouterr().out
    assert main(["uncertainty", columns.url, "--rule", "paper"]) == 2
    assert "rule must be of normalised, formula, exceeding" in capsys.readouterr().err
