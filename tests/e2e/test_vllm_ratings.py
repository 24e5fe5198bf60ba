"""The paper's grid of ratings from a real engine: the ready sweep's own asks, on a few items."""

import csv
import json
import math
import os
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.protocols import load_criterion, load_scale, load_template, scale_labels, score_of
from judgerel_ray.protocols.rating import render_rating
from judgerel_ray.store import RunDirectory, scan_judgments
from judgerel_ray.store.made_tables import read_distributions
from judgerel_ray.tables import frame_to_items

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
CHANGED = ("definitions", "scales", "replications", "top_k", "early_stop")
TEMPERATURES = (1.0, 0.5)
OTHERWISE = 5e-3  # of ratings the judge writes in another way than it was taught
FORCED = ("points10", "likert5")
N_EXPLORED = N_RESPONSES["helpfulness"] * len(SCALES) + N_RESPONSES["harmlessness"] * len(FORCED)
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


def explored(ask, *, scales, definition):
    """An ask whose ratings are computed in place of drawn ones."""
    kept = [line for line in ask.splitlines() if line.partition("=")[0].strip() not in CHANGED]
    told = [f"scales = {json.dumps(scales)}", f'definitions = ["{definition}"]',
            f"temperatures = {list(TEMPERATURES)}", 'mode = "exact"', ""]  # fmt: skip
    return "\n".join([*kept, *told])


@pytest.fixture(scope="module")
def grid(run_lean, tmp_path_factory):
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
    # The judge knows nothing of the paper's prompt: the default template alone.
    asks = re.sub(r"(?m)^templates = .*\n", "", READY.read_text()).split("[[ask]]")[1:]
    drawn = [ask for ask in asks if "judges =" not in ask]
    computed = [
        explored(drawn[1], scales=SCALES, definition="short"),
        explored(drawn[0], scales=FORCED, definition="none") + "exact = { forced = true }\n",
    ]
    sweep = "[[ask]]".join(("", *drawn, *computed))
    judge = (
        'name = "grid"\n[[judge]]\nname = "rates"\ngpus = 0\nmax_model_len = 4096\n'
        f'model = "{ROOT}/judgerel_ray/demo/rating_judge"\n'
    )
    (folder / "s.toml").write_text(judge + small(sweep, files))
    assert run_lean(folder / "s.toml", folder / "run") == 0
    return folder / "run"


@pytest.fixture(scope="module")
def ratings(grid):
    return scan_judgments(RunDirectory.open(str(grid))).filter(pl.col("stage") == "judge").collect()


def test_every_planned_rating_of_the_grid_lands_once(grid, ratings, capsys):
    expected = sum(N_RESPONSES.values()) * 3 * len(SCALES) * K
    assert json.loads((grid / "plan.json").read_text())["requests"] == expected + N_EXPLORED
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


def written_in_form(judge, prompt, scale, *, temperature):
    """Probability of each rating in the form that was taught, from the weights."""
    from demo.judge_truth import ReplyTree, next_tokens

    class Paths(ReplyTree):
        def share(self, path):
            self._look_at(path[:n] for n in range(len(path)))
            steps = (
                dict(next_tokens(self._logits[path[:n]], temperature=temperature, top_k=50))
                for n in range(len(path))
            )
            return math.prod(step.get(path[n], 0.0) for n, step in enumerate(steps))

    tree, encode = Paths(judge, prompt), judge.tokenizer.encode
    return {
        label: tree.share(tuple(encode(f"Rating: [[{label}]]", add_special_tokens=False)))
        for label in scale_labels(scale)
    }


def prompts_of(judge, grid, criterion, definition):
    """Prompts of a response by item, responder and scale, in the judge's chat template."""
    items = frame_to_items(
        pl.read_parquet(RunDirectory.open(str(grid)).read_bytes("items.parquet"))
    )
    benchmark = {"helpfulness": "lima", "harmlessness": "hh_rlhf"}[criterion]
    for item in (item for item in items if item.benchmark.startswith(benchmark)):
        for option in item.options:
            for name in SCALES:
                [message] = render_rating(
                    load_template("rating", "default"), item, option.text,
                    criterion=load_criterion(criterion), definition=definition,
                    scale=load_scale(name),
                )  # fmt: skip
                chat = [{"role": message.role, "content": message.content}]
                text = judge.tokenizer.apply_chat_template(
                    chat, add_generation_prompt=True, tokenize=False
                )
                yield (item.item_id, option.option_id, name), text


def test_bounds_of_ratings_hold_what_the_weights_say(grid):
    from demo.judge_truth import load_judge
    from demo.rating_judge import RATING_JUDGE_FOLDER

    judge = load_judge(RATING_JUDGE_FOLDER)
    run = RunDirectory.open(str(grid))
    table = read_distributions(run).filter(criterion="helpfulness")
    rows = {
        (row["item_id"], row["responder"], row["scale"], row["temperature"], row["verdict"]): row
        for row in table.iter_rows(named=True)
    }
    assert table.select("item_id", "responder").unique().height == N_RESPONSES["helpfulness"]
    prompts = sorted(prompts_of(judge, grid, "helpfulness", "short"), key=lambda one: len(one[1]))
    for (item, responder, name), prompt in prompts[: 2 * len(SCALES)]:
        for temperature in TEMPERATURES:
            true = written_in_form(judge, prompt, load_scale(name), temperature=temperature)
            assert sum(true.values()) > 0.85
            for label, share in true.items():
                row = rows[item, responder, name, temperature, label]
                assert row["low"] - OTHERWISE <= share <= row["high"] + 1e-5
    # Both labels that begin alike have probability of their own.
    tens = table.filter(scale="points10", temperature=1.0)
    for verdict in ("1", "10"):
        assert tens.filter(verdict=verdict)["low"].min() > 0


def test_a_forced_form_takes_silence_away_and_leaves_the_odds(grid):
    from demo.judge_truth import load_judge
    from demo.rating_judge import RATING_JUDGE_FOLDER

    judge = load_judge(RATING_JUDGE_FOLDER)
    table = read_distributions(RunDirectory.open(str(grid))).filter(criterion="harmlessness")
    assert set(table["scale"]) == set(FORCED)
    assert table.filter(pl.col("verdict").is_null())["probability"].max() < 0.02
    prompts = sorted(prompts_of(judge, grid, "harmlessness", "none"), key=lambda one: len(one[1]))
    few = [(place, prompt) for place, prompt in prompts if place[2] in FORCED][:4]
    for (item, responder, name), prompt in few:
        true = written_in_form(judge, prompt, load_scale(name), temperature=1.0)
        rows = table.filter(item_id=item, responder=responder, scale=name, temperature=1.0)
        bounds = {row["verdict"]: (row["low"], row["high"]) for row in rows.to_dicts()}
        for label, share in true.items():
            low, high = bounds[label]
            assert low - OTHERWISE <= share / sum(true.values()) <= high + OTHERWISE


def test_weighted_scores_are_what_draws_average_to(grid, ratings):
    weighted = judgerel_ray.distributions(grid, view="weighted").rows
    assert weighted.height == N_EXPLORED * len(TEMPERATURES)
    assert (weighted["low"] <= weighted["score"] + 1e-9).all()
    assert (weighted["score"] <= weighted["high"] + 1e-9).all()
    assert (weighted["high"] - weighted["low"]).max() < 0.1
    units = ["item_id", "responder", "scale"]
    drawn = (
        ratings.filter(criterion="helpfulness", outcome="scored")
        .group_by(units)
        .agg(mean=pl.col("score").mean(), n=pl.len())
    )
    both = drawn.join(weighted.filter(temperature=1.0, criterion="helpfulness"), on=units)
    ends = pl.col("scale").replace_strict({"points5": 4, "points10": 9, "likert5": 4, "binary": 1})
    apart = both.select((pl.col("mean") - pl.col("score")) / ends).to_series()
    assert both.height == N_RESPONSES["helpfulness"] * len(SCALES)
    # Fifteen draws or so of each, of a standard deviation of a third of the scale at most.
    assert abs(apart.mean()) < 5 * 0.35 / float(both["n"].sum()) ** 0.5
