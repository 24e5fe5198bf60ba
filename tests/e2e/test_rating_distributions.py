"""Probability-weighted ratings on a local cluster: a judge of known law, drawn and computed."""

import json

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import Menu
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.truth import option_log_weights, tempered
from judgerel_ray.protocols import load_scale, scale_labels, scale_values
from judgerel_ray.stats import krippendorff_alpha

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

N, K = 30, 40
NOISE = {"noise": 0.3, "unparsed": 0.1}
SCALES = ("points5", "likert5", "binary", "percent")
ASK = """
[[ask]]
protocol = "rating"
benchmark = "mine"
path = "items.jsonl"
criteria = ["helpfulness"]
definitions = ["none", "short"]
scales = ["points5", "likert5", "binary", "percent.toml"]
temperatures = [1.0, 0.5]
"""
JUDGE = (
    'name = "ratings"\n[[judge]]\nname = "one"\nengine = "simulated"\nmodel = "latent"\ngpus = 0\n'
    "engine_options = { noise = 0.3, unparsed = 0.1 }\n"
)


def write(folder, asks):
    rng = np.random.default_rng(9)
    items = [
        {"item_id": f"q{i:02}", "question": f"Question {i}?",
         "options": [{"option_id": one, "text": f"{one} on {i}"} for one in ("good", "bad")],
         "ratings": [{"rater": "a", "responder": one, "score": float(rng.integers(1, 6))}
                     for one in ("good", "bad")]}
        for i in range(N)
    ]  # fmt: skip
    (folder / "items.jsonl").write_text("\n".join(json.dumps(item) for item in items))
    (folder / "percent.toml").write_text('level = "interval"\nlowest = 0\nhighest = 100\n')
    (folder / "s.toml").write_text(JUDGE + asks)
    return str(folder / "s.toml")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A run whose ratings were drawn and computed."""
    folder = tmp_path_factory.mktemp("both")
    drawn = ASK.replace("[1.0, 0.5]", "[1.0]") + f"replications = {K}\n"
    file = write(folder, drawn + ASK + 'mode = "exact"\n')
    assert main(["run", file, "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """A run whose ratings were computed and none was drawn."""
    folder = tmp_path_factory.mktemp("explored")
    file = write(folder, ASK)
    assert main(["exact", file, "--out", str(folder / "run")]) == 0
    return folder / "run"


def law(item, responder, scale, temperature):
    """The judge's distribution over the values of a scale, where it gives one."""
    labels = scale_labels(scale)
    menu = Menu(labels=labels, option_ids=labels, form="rating", scale=scale)
    thing = f"{item}:{responder}:helpfulness"
    options = SimulatedOptions(**NOISE)
    return np.array(
        tempered(option_log_weights("latent", options, item_id=thing, menu=menu), temperature)
    )


def test_every_score_is_the_mean_of_the_judges_law(both):
    found = judgerel_ray.distributions(both, view="weighted").rows
    assert found.height == N * 2 * 2 * len(SCALES) * 2
    for row in found.filter(pl.col("scale") != "percent").iter_rows(named=True):
        scale = load_scale(row["scale"])
        p = law(row["item_id"], row["responder"], scale, row["temperature"])
        assert row["score"] == pytest.approx(p @ np.array(scale_values(scale)), abs=1e-9)
        assert row["low"] - 1e-9 <= row["score"] <= row["high"] + 1e-9
        assert row["mass"] == pytest.approx(0.9)


def test_averages_of_draws_tend_to_the_weighted_score(both):
    aligned = judgerel_ray.align(both, reference="human", coefficients=["pearson", "spearman"])
    warm = aligned.filter(temperature=1.0)
    assert warm["n_weighted"].unique().to_list() == [2 * N]
    for row in warm.iter_rows(named=True):
        # 36 draws or so of each: averages are near, single ones are noise.
        assert row["averaged"] == pytest.approx(row["weighted"], abs=0.08)
        assert abs(row["single"]) < abs(row["weighted"]) + 0.08
        assert row["weighted_low"] < row["weighted"] < row["weighted_high"]
    cold = aligned.filter(temperature=0.5)
    assert set(cold["undefined"]) == {"not_sampled"}
    assert cold["weighted"].null_count() == 0


def test_limits_are_those_of_infinitely_many_draws_at_the_level_of_the_scale(both):
    limits = judgerel_ray.distributions(both).rows.filter(
        coefficient="krippendorff_alpha", temperature=1.0
    )
    rng = np.random.default_rng(2)
    for name, level in (("points5", "interval"), ("likert5", "ordinal"), ("binary", "nominal")):
        scale = load_scale(name)
        laws = [law(f"q{i:02}", one, scale, 1.0) for i in range(N) for one in ("good", "bad")]
        counts = np.array([rng.multinomial(3000, p / p.sum()) for p in laws])
        drawn = krippendorff_alpha(counts, values=np.array(scale_values(scale)), level=level).value
        for row in limits.filter(scale=name).iter_rows(named=True):
            assert row["measurement"] == level
            if level == "nominal":  # silence is a category there, the same of all
                assert row["value"] < drawn
            else:
                assert row["value"] == pytest.approx(drawn, abs=0.02)
    assert limits["n_items"].unique().to_list() == [N]
    assert limits.height == 2 * len(SCALES)


def test_what_was_only_computed_is_aligned_and_told_on_the_page(explored, tmp_path, capsys):
    aligned = judgerel_ray.align(explored, reference="human")
    alike = aligned.filter(~pl.col("coefficient").str.starts_with("icc"))
    assert set(alike["undefined"]) == {"not_sampled"}
    assert alike["weighted"].null_count() == 0
    capsys.readouterr()
    assert main(["align", "--full", str(explored), "--reference", "human"]) == 0
    assert "undefined: not sampled" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert main(["report", str(explored), "--out", str(page)]) == 0
    said = " ".join(page.read_text("utf-8").split())
    assert "rated by helpfulness (definition: none, short) on points5, likert5, binary" in said
    for heading in (
        "Infinitely many replications",
        "Probability-weighted scores",
        "Alignment with human",
    ):
        assert f"<h2>{heading}</h2>" in said


def test_scores_are_printed_and_written(explored, tmp_path, capsys):
    capsys.readouterr()
    out = tmp_path / "scores.parquet"
    assert main(["distributions", str(explored), "--view", "weighted", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Probability-weighted scores" in printed
    assert pl.read_parquet(out).equals(judgerel_ray.distributions(explored, view="weighted").rows)
    assert main(["distributions", str(explored), "--view", "weighted", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 2 * len(SCALES) * 2
    assert {row["n_responses"] for row in rows} == {2 * N}
    assert main(["scales", str(explored)]) == 2
    assert "no rating to compare" in capsys.readouterr().err
