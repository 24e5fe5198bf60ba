"""Ratings on a local cluster: a judge of one opinion, asked on several scales."""

import json

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import Menu
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.truth import option_log_weights
from judgerel_ray.protocols import load_scale, scale_labels, score_of
from judgerel_ray.store import RunDirectory, scan_judgments

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_without_ray")]

SWEEP = """
name = "ratings"
[[judge]]
name = "one"
engine = "simulated"
model = "latent"
gpus = 0
engine_options = { noise = 0.12, unparsed = 0.1 }
[[ask]]
protocol = "rating"
benchmark = "mine"
path = "items.jsonl"
criteria = ["helpfulness"]
definitions = ["short"]
scales = ["points5", "points10", "likert5", "binary", "percent.toml"]
replications = 5
"""
N = 60


def opinion(thing, scale="points5", noise=0.12):
    """Mean rating of the judge in the limit of infinitely many replications."""
    scale = load_scale(scale)
    labels = scale_labels(scale)
    menu = Menu(labels=labels, option_ids=labels, form="rating", scale=scale)
    options = SimulatedOptions(noise=noise)
    p = np.exp(option_log_weights("latent", options, item_id=thing, menu=menu))
    return p @ np.array([score_of(label, scale) for label in labels])


def people_of(thing):
    """Two people who think much as the judge does, each wrong in a way of their own."""
    errors = np.random.default_rng([ord(one) for one in thing]).normal(scale=0.6, size=2)
    return [float(one) for one in np.clip(np.rint(opinion(thing) + errors), 1, 5)]


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """A finished run of one judge, sixty items of two responses, five scales."""
    folder = tmp_path_factory.mktemp("ratings")
    items = [
        {
            "item_id": f"q{i}",
            "question": f"Question {i}?",
            "options": [{"option_id": one, "text": f"{one} on {i}"} for one in ("good", "bad")],
            "ratings": [
                {"rater": f"{n}", "criterion": "helpfulness", "score": score, "responder": one}
                for one in ("good", "bad")
                for n, score in enumerate(people_of(f"q{i}:{one}:helpfulness"))
            ],
        }
        for i in range(N)
    ]
    (folder / "items.jsonl").write_text("\n".join(json.dumps(item) for item in items))
    (folder / "percent.toml").write_text('level = "interval"\nlowest = 0\nhighest = 100\n')
    (folder / "s.toml").write_text(SWEEP)
    assert main(["run", str(folder / "s.toml"), "--out", str(folder / "run")]) == 0
    return folder


@pytest.fixture(scope="module")
def page(ratings):
    """The page of that run; made once."""
    out = ratings / "page.html"
    assert main(["report", str(ratings / "run"), "--out", str(out)]) == 0
    return out.read_text("utf-8")


def rows(ratings):
    return scan_judgments(RunDirectory.open(str(ratings / "run"))).collect()


def test_every_rating_lands_with_what_it_is_on(ratings, capsys):
    found = rows(ratings)
    assert found.height == N * 2 * 5 * 5
    assert found["key"].is_unique().all()
    assert found["criterion"].unique().to_list() == ["helpfulness"]
    assert set(found["scale"]) == {"points5", "points10", "likert5", "binary", "percent"}
    scored = found.filter(outcome="scored")
    assert 0.85 < scored.height / found.height < 0.95
    assert (scored["verdict"] == scored["label"]).all()
    scales = {name: load_scale(name) for name in ("points5", "points10", "likert5", "binary")}
    for name, scale in scales.items():
        mine = scored.filter(scale=name)
        assert mine["score"].to_list() == [score_of(one, scale) for one in mine["verdict"]]
    others = found.filter(pl.col("outcome") != "scored")
    assert others["score"].null_count() == others["verdict"].null_count() == others.height
    assert main(["verify", str(ratings / "run")]) == 0
    capsys.readouterr()
    assert main(["status", str(ratings / "run"), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["asked"] == status["landed"] == found.height


def truth(scale):
    """Krippendorff's interval alpha of infinitely many items like these and replications."""
    labels = scale_labels(scale)
    menu = Menu(labels=labels, option_ids=labels, form="rating", scale=scale)
    values = np.array([score_of(label, scale) for label in labels])
    options = SimulatedOptions(noise=0.12)
    means, variances = [], []
    for i in range(N):
        for responder in ("good", "bad"):
            thing = f"q{i}:{responder}:helpfulness"
            p = np.exp(option_log_weights("latent", options, item_id=thing, menu=menu))
            means.append(p @ values)
            variances.append(p @ values**2 - means[-1] ** 2)
    within = np.mean(variances)
    return 1 - within / (within + np.var(means))


def test_self_consistency_is_that_of_the_judges_law(ratings, capsys):
    capsys.readouterr()
    command = ["reduce", str(ratings / "run"), "--measurement", "interval", "--missing", "drop"]
    assert main([*command, "--coefficient", "krippendorff_alpha", "--format", "json"]) == 0
    found = {row["scale"]: row for row in json.loads(capsys.readouterr().out)}
    for name in ("points5", "points10", "likert5", "binary"):
        row = found[name]
        error = (row["high"] - row["low"]) / (2 * 1.96)
        assert abs(row["value"] - truth(load_scale(name))) < 4 * error, name
        assert row["p_noise"] < 0.05
    assert found["percent"]["n_categories"] in (101, None)


def test_each_scale_is_reduced_at_its_own_level(ratings, capsys):
    capsys.readouterr()
    command = ["reduce", str(ratings / "run"), "--missing", "drop", "--format", "json"]
    assert main([*command, "--coefficient", "krippendorff_alpha"]) == 0
    levels = {row["scale"]: row["measurement"] for row in json.loads(capsys.readouterr().out)}
    expected = {"points5": "interval", "points10": "interval", "likert5": "ordinal"}
    assert levels == {**expected, "binary": "nominal", "percent": "interval"}


def law(scale):
    """Mean and variance of what the judge says of each response, on 0 to 1."""
    labels = scale_labels(scale)
    menu = Menu(labels=labels, option_ids=labels, form="rating", scale=scale)
    values = np.array([score_of(label, scale) for label in labels])
    values = (values - values[0]) / (values[-1] - values[0])
    options = SimulatedOptions(noise=0.12)
    things = [f"q{i}:{one}:helpfulness" for i in range(N) for one in ("good", "bad")]
    p = np.exp([option_log_weights("latent", options, item_id=one, menu=menu) for one in things])
    return p @ values, p @ values**2 - (p @ values) ** 2


def test_inter_scale_consistency_is_that_of_the_judges_law(ratings):
    tables = judgerel_ray.scales(ratings / "run")
    own, across = tables.self_consistency, tables.inter_scale
    assert own.height == 5
    assert across.height == 11  # ten pairs, and all five
    for row in across.filter(n_scales=2).iter_rows(named=True):
        names = row["scales"].split(" / ")
        if "percent" in names:
            continue
        (x, var_x), (y, var_y) = (law(load_scale(name)) for name in names)
        observed = np.mean((x - y) ** 2 + var_x + var_y)
        pooled = np.concatenate([x, y])
        spread = np.mean([var_x, var_y]) + pooled.var()
        truth = 1 - observed / (2 * spread)
        assert row["low"] < truth < row["high"], names
        assert row["p_noise"] < 0.05
        assert row["n_items"] == N
    aligned = judgerel_ray.align(ratings / "run", reference=percent_scores(ratings))
    pearson = aligned.filter(coefficient="pearson", scale="points10")
    assert pearson["averaged"][0] > pearson["single"][0] > 0.5


def percent_scores(ratings):
    """A table of the judge's own mean scores on another scale, as if they were people's."""
    told = rows(ratings).filter(scale="percent").group_by("item_id", "responder")
    path = ratings / "people.parquet"
    told.agg(pl.col("score").mean()).write_parquet(path)
    return path


def test_the_page_says_what_was_rated(page):
    said = " ".join(page.split())
    assert "rated by helpfulness (definition: short) on points5, points10, likert5, binary" in said
    assert "<h2>Consistency across scales</h2>" in said
    assert "ceiling of a judge without noise" in said


def by_hand(found, scale, people):
    """Pearson's r of single replications and of their mean with what people said."""
    scored = found.filter(scale=scale, outcome="scored")
    things = [f"{item}:{who}" for item, who in scored.select("item_id", "responder").iter_rows()]
    told = scored.select("replication", "score").with_columns(
        people=pl.Series([people[thing] for thing in things]), thing=pl.Series(things)
    )
    single = told.group_by("replication").agg(
        pl.len(), r=pl.corr(pl.col("score"), pl.col("people"))
    )
    mean = told.group_by("thing").agg(pl.col("score", "people").mean())
    return (
        float(np.average(single["r"], weights=single["len"])),
        mean.select(pl.corr("score", "people")).item(),
    )


def test_people_who_rated_each_of_two_responses_are_a_reference(ratings, page, capsys):
    run = str(ratings / "run")
    capsys.readouterr()
    assert main(["align", run, "--reference", "human", "--format", "json"]) == 0
    found = {
        row["scale"]: row
        for row in json.loads(capsys.readouterr().out)
        if row["coefficient"] == "pearson"
    }
    people = {
        f"q{i}:{one}": np.mean(people_of(f"q{i}:{one}:helpfulness"))
        for i in range(N)
        for one in ("good", "bad")
    }
    judged = rows(ratings)
    for scale in ("points5", "points10", "likert5", "binary", "percent"):
        row = found[scale]
        single, averaged = by_hand(judged, scale, people)
        assert (row["single"], row["averaged"]) == pytest.approx((single, averaged), abs=1e-9)
        assert (row["n_items"], row["n_units"], row["reference"]) == (N, 2 * N, "human")
    mean = [opinion(f"{thing}:helpfulness") for thing in people]
    limit = np.corrcoef(mean, list(people.values()))[0, 1]
    row = found["points5"]
    assert row["averaged"] > row["single"]
    assert row["averaged_low"] < limit < row["averaged_high"] + 0.05
    assert "<h2>Alignment with human</h2>" in page


CRITERIA = ("coherence", "consistency", "fluency", "relevance")
SUMMARIES = """
name = "summaries"
[[judge]]
name = "one"
engine = "simulated"
model = "latent"
gpus = 0
engine_options = { noise = 0.12 }
[[ask]]
protocol = "rating"
benchmark = "summeval_summaries"
path = "summeval.jsonl"
criteria = ["coherence.toml", "fluency.toml"]
definitions = ["none"]
scales = ["points5"]
replications = 4
"""


def test_summaries_that_experts_rated_end_to_end(tmp_path, capsys):
    lines, people = [], {}
    for article in range(12):
        for system in ("M0", "M1"):
            item = f"summeval:cnn-{article}:{system}"
            marks = {one: [int(x) for x in people_of(f"{item}:{system}:{one}")] for one in CRITERIA}
            people |= {f"{item}:{one}": np.mean(said) for one, said in marks.items()}
            lines.append(
                {
                    "id": f"cnn-{article}", "model_id": system, "decoded": f"{system}: it rained.",
                    "text": f"On day {article} rain fell.", "turker_annotations": [],
                    "expert_annotations": [
                        {one: said[n] for one, said in marks.items()} for n in range(2)
                    ],
                }
            )  # fmt: skip
    (tmp_path / "summeval.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for criterion in ("coherence", "fluency"):
        (tmp_path / f"{criterion}.toml").write_text(
            f'question = "What of the {criterion}?"\n[definitions]\nshort = "It."\nlong = "It all."'
        )
    (tmp_path / "s.toml").write_text(SUMMARIES)
    run = str(tmp_path / "run")
    assert main(["run", str(tmp_path / "s.toml"), "--out", run]) == 0
    capsys.readouterr()
    assert main(["align", run, "--reference", "human", "--format", "json"]) == 0
    found = {
        row["criterion"]: row
        for row in json.loads(capsys.readouterr().out)
        if row["coefficient"] == "pearson"
    }
    assert set(found) == {"coherence", "fluency"}
    judged = scan_judgments(RunDirectory.open(run)).collect()
    assert judged.height == 24 * 2 * 4
    for criterion, row in found.items():
        mine = judged.filter(criterion=criterion)
        said = {
            f"{item}:{who}": people[f"{item}:{criterion}"]
            for item, who in mine.select("item_id", "responder").unique().iter_rows()
        }
        expected = by_hand(mine, "points5", said)
        assert (row["single"], row["averaged"]) == pytest.approx(expected, abs=1e-9)
        assert row["averaged"] > 0.5
        assert row["n_units"] == 24
