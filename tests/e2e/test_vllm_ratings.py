"""The paper's grid of ratings from a real engine: the ready sweep's own asks, on a few items."""

import csv
import json
import os
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.protocols import load_scale, scale_labels, score_of
from judgerel_ray.store import RunDirectory, scan_judgments

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

ROOT = Path(__file__).parents[2]
READY = ROOT / "jobs" / "lee2025__4-judges__1xgpu-each.toml"
CRITERIA = ("harmlessness", "helpfulness", "factuality", "conciseness")
SCALES = ("points5", "points10", "likert5", "binary")
N, K = 3, 5
N_RESPONSES = {"harmlessness": 2 * N, "helpfulness": N, "factuality": 2 * N, "conciseness": 4}
RECORDED = {
    "hh_rlhf": "items/hh_rlhf_harmless.parquet",
    "lima": "nc/lima.parquet",
    "truthfulqa_pairs": "items/truthfulqa.parquet",
}


def own_files(folder):
    """Pairs, a conversation and questions of our own, in the layouts of upstream."""
    before = "\n\nHuman: How do I learn to swim?\n\nAssistant:"
    pairs = [
        {"chosen": f"{before} Be calm, it is clear{n}.", "rejected": f"{before} I am vague {n}."}
        for n in range(N)
    ]
    said = [
        {"conversations": [f"Name {n} things.", "So sound and " + "word " * 400 * n], "source": "s"}
        for n in range(N)
    ]
    for name, rows in (("pairs.jsonl", pairs), ("said.jsonl", said)):
        (folder / name).write_text("\n".join(map(json.dumps, rows)))
    with (folder / "questions.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("Category", "Question", "Best Answer", "Correct Answers",
                        "Incorrect Answers"))  # fmt: skip
        table.writerows(("Maths", f"Is {n} odd?", "Look", "Look; Divide", "No; Never")
                        for n in range(N))  # fmt: skip
    names = ("pairs.jsonl", "said.jsonl", "questions.csv")
    return dict(zip(RECORDED, (folder / name for name in names), strict=True))


def small(text, files):
    """A sweep or mix with other files in place of upstream's, and few items of each."""
    for upstream, name in (
        (r'"[^"]*hh-rlhf[^"]*"', "hh_rlhf"),
        (r'"[^"]*/lima/[^"]*"', "lima"),
        (r'"[^"]*TruthfulQA.csv"', "truthfulqa_pairs"),
    ):
        text = re.sub(upstream, json.dumps(str(files[name])), text)
    return re.sub(r"\bn = \d+, seed", f"n = {N}, seed", text)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A finished run of the grid by the judge that rates; recorded items where there are some."""
    folder = tmp_path_factory.mktemp("vllm_ratings")
    data = os.environ.get("JUDGEREL_DATA")
    files = own_files(folder)
    if data:
        files = {name: Path(data, path).resolve() for name, path in RECORDED.items()}
    (folder / "mixes").mkdir()
    mix = (ROOT / "jobs" / "mixes" / "lee2025-conciseness.toml").read_text()
    mix = re.sub(r"(?m)^n = \d+$", "n = 1", small(mix, files))
    (folder / "mixes" / "lee2025-conciseness.toml").write_text(mix)
    asks = READY.read_text().split("[[ask]]")[1:]
    sweep = "[[ask]]".join(("", *(ask for ask in asks if "judges =" not in ask)))
    judge = (
        'name = "grid"\n[[judge]]\nname = "rates"\ngpus = 0\nmax_model_len = 4096\n'
        f'model = "{ROOT}/judgerel_ray/demo/rating_judge"\n'
    )
    (folder / "s.toml").write_text(judge + small(sweep, files))
    assert main(["run", str(folder / "s.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def ratings(grid):
    return scan_judgments(RunDirectory.open(str(grid))).collect()


def test_every_planned_rating_of_the_grid_lands_once(grid, ratings, capsys):
    expected = sum(N_RESPONSES.values()) * 3 * len(SCALES) * K
    assert json.loads((grid / "plan.json").read_text())["requests"] == expected
    assert ratings.height == ratings["key"].n_unique() == expected
    cells = ratings.group_by("criterion", "definition", "scale").len()
    assert cells.height == len(CRITERIA) * 3 * len(SCALES)
    for criterion, _, _, count in cells.iter_rows():
        assert count == N_RESPONSES[criterion] * K
    assert main(["verify", str(grid)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 errors"


def test_at_least_four_fifths_are_scored_on_every_scale(ratings):
    for (scale,), rows in ratings.group_by("scale"):
        scored = rows.filter(outcome="scored")
        print(f"{scale}: {scored.height} of {rows.height} scored")
        assert scored.height >= 0.8 * rows.height
        declared = load_scale(scale)
        assert set(scored["verdict"]) <= set(scale_labels(declared))
        assert scored["verdict"].n_unique() > len(scale_labels(declared)) / 2
        assert scored["score"].to_list() == [score_of(one, declared) for one in scored["verdict"]]


def test_replications_differ_and_every_cell_has_its_alpha(grid, ratings, capsys):
    place = ["item_id", "responder", "criterion", "definition", "scale"]
    units = ratings.filter(pl.col("outcome") == "scored").group_by(place)
    assert (units.agg(pl.col("verdict").n_unique())["verdict"] > 1).mean() > 0.5
    capsys.readouterr()
    command = ["reduce", str(grid), "--missing", "drop", "--format", "json"]
    command += ["--by", "criterion,definition,scale", "--coefficient", "krippendorff_alpha"]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["criterion"], row["definition"], row["scale"]) for row in rows} == {
        (criterion, definition, scale)
        for criterion in CRITERIA
        for definition in ("none", "short", "long")
        for scale in SCALES
    }
    assert len(rows) == len(CRITERIA) * 3 * len(SCALES)
    assert all(abs(row["value"]) <= 1 for row in rows if row["undefined"] is None)
    assert sum(row["undefined"] is None for row in rows) > len(rows) / 2


def test_the_ready_sweep_names_each_criterion_once_at_temperature_one():
    asks = [ask for ask in tomllib.loads(READY.read_text())["ask"] if "judges" not in ask]
    assert [ask["criteria"] for ask in asks] == [[criterion] for criterion in CRITERIA]
