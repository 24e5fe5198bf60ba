"""Judges against labels, label by label, and against each other, by verb, file and gate."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.__main__ import main
from judgerel_ray.blocks.blocks import Heat
from judgerel_ray.core import SweepError
from judgerel_ray.measuring.correctness import labelled_judges
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats.ratings.kappa import label_agreement

ITEMS = [f"q{n:02}" for n in range(30)]
GOLD = {item: "fail" if n % 5 == 0 else "pass" for n, item in enumerate(ITEMS)}


def judgments(judges=("a", "b", "c"), repeats: int = 2, lost: float = 0.0, gold: bool = True):
    """Judges that are right less and less often; some replies hold no verdict."""
    rng = np.random.default_rng(4)
    rows = []
    for place, judge in enumerate(judges):
        for item in ITEMS:
            for replication in range(repeats):
                right = rng.random() < 0.95 - 0.15 * place
                other = "pass" if GOLD[item] == "fail" else "fail"
                verdict = None if rng.random() < lost else GOLD[item] if right else other
                rows.append((judge, item, replication, verdict, GOLD[item]))
    frame = pl.DataFrame(
        rows, schema=["judge", "item_id", "replication", "verdict", "gold"], orient="row"
    )
    return frame if gold else frame.drop("gold")


def ratings(judges=("a", "b"), scale: str | None = None) -> pl.DataFrame:
    rng = np.random.default_rng(9)
    rows = [
        (judge, item, 0, float(np.clip(n % 5 + rng.integers(-1, 2), 0, 4)), str(n % 5))
        for judge in judges
        for n, item in enumerate(ITEMS)
    ]
    frame = pl.DataFrame(
        rows, schema=["judge", "item_id", "replication", "score", "gold"], orient="row"
    )
    return frame if scale is None else frame.with_columns(scale=pl.lit(scale))


def kappa_of(rows: pl.DataFrame) -> float:
    """Each item 1, shared among its verdicts, cell by cell; no verdict is one of its own."""
    cells: dict[tuple[str, str], float] = {}
    for part in rows.partition_by("item_id"):
        for label, verdict in part.select("gold", pl.col("verdict").fill_null("?")).rows():
            cells[label, verdict] = cells.get((label, verdict), 0) + 1 / part.height
    names = {name for pair in cells for name in pair}
    n = sum(cells.values())
    same = sum(cells.get((name, name), 0) for name in names) / n
    chance = (
        sum(
            sum(v for (g, _), v in cells.items() if g == name)
            * sum(v for (_, w), v in cells.items() if w == name)
            for name in names
        )
        / n**2
    )
    return (same - chance) / (1 - chance)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_reduce_gives_kappa_where_labels_are_known(lost):
    rows = judgments(lost=lost)
    found = judgerel_ray.reduce(rows).filter(coefficient="cohen_kappa")
    assert found.height == (3 if lost == 0 else 6)
    for row in found.iter_rows(named=True):
        part = rows.filter(judge=row["judge"])
        part = part if row["missing"] == "category" else part.drop_nulls("verdict")
        assert row["value"] == pytest.approx(kappa_of(part), abs=1e-12)
        assert row["low"] < row["value"] < row["high"]
        assert (row["noise_floor"], row["measurement"], row["unit"]) == (0.0, "nominal", "item_id")
        assert row["n_missing"] == rows.filter(judge=row["judge"]).height - part.height
        assert row["n_compared"] == part["item_id"].n_unique()
    assert (
        judgerel_ray.reduce(rows.drop("gold"))
        .filter(pl.col("coefficient").is_in(["accuracy", "cohen_kappa"]))
        .is_empty()
    )


def test_a_named_coefficient_needs_labels_and_gives_why_it_has_none():
    with pytest.raises(SweepError, match="cohen_kappa needs the right verdict"):
        judgerel_ray.reduce(judgments(gold=False), coefficients="cohen_kappa")
    none = judgments().with_columns(gold=pl.lit(None, pl.String))
    found = reduce_judgments(none.lazy(), coefficients=["cohen_kappa"])
    assert found["undefined"].unique().to_list() == ["no_gold"]
    one = judgments(("a",)).with_columns(gold=pl.lit("pass"), verdict=pl.lit("pass"))
    found = reduce_judgments(one.lazy(), coefficients=["cohen_kappa"])
    assert found.select("value", "low", "undefined").row(0) == (None, None, "no_variance")


@pytest.mark.parametrize(("scale", "level"), [("likert5", "ordinal"), (None, "interval")])
def test_ratings_have_quadratic_weights(scale, level):
    rows = ratings(scale=scale)
    found = judgerel_ray.reduce(rows, coefficients="cohen_kappa")
    assert found["measurement"].unique().to_list() == [level]
    first = rows.filter(judge="a")
    expected = label_agreement(
        first["gold"].cast(float).to_numpy(), first["score"].to_numpy(), weights="quadratic"
    )
    assert found.filter(judge="a")["value"].item() == pytest.approx(expected.value, abs=1e-12)
    nominal = judgerel_ray.reduce(rows, coefficients="cohen_kappa", measurement="nominal")
    expected = label_agreement(first["gold"].cast(float).to_numpy(), first["score"].to_numpy())
    assert nominal.filter(judge="a")["value"].item() == pytest.approx(expected.value, abs=1e-12)


def test_a_reply_without_a_rating_has_no_place_on_the_scale():
    rows = ratings().with_columns(
        score=pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("score"))
    )
    found = judgerel_ray.reduce(rows, coefficients="cohen_kappa").filter(judge="a")
    known = dict(found.select("missing", "undefined").rows())
    assert known == {"category": "category_needs_nominal", "drop": None}


def test_scores_of_many_values_have_kappa_by_their_numbers():
    rng = np.random.default_rng(1)
    true = rng.normal(size=400)
    rows = pl.DataFrame({
        "item_id": [str(n) for n in range(400)], "replication": 0,
        "score": true + rng.normal(size=400), "gold": [repr(float(x)) for x in true],
    })  # fmt: skip
    found = reduce_judgments(rows.lazy(), coefficients=["cohen_kappa"]).row(0, named=True)
    x, y = true, rows["score"].to_numpy()
    apart = ((x - y) ** 2).mean()
    chance = ((x[:, None] - y) ** 2).mean()
    assert found["value"] == pytest.approx(1 - apart / chance, abs=1e-12)


@pytest.fixture
def people(tmp_path):
    """Three people, the third of whom passes every other failure; they spell as they like."""
    rows = [
        (item, person, "pass" if person == "eve" and n % 2 == 0 else GOLD[item].upper())
        for n, item in enumerate(ITEMS)
        for person in ("ann", "bob", "eve")
    ]
    path = tmp_path / "labels.csv"
    pl.DataFrame(rows, schema=["item_id", "rater", "label"], orient="row").write_csv(path)
    return path


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_labels_of_several_people_are_the_ceiling(people):
    rows = judgments(gold=False)
    found = judgerel_ray.reduce(rows, labels=people)
    value = {
        (judge, name): number
        for judge, name, number in found.select("judge", "coefficient", "value").rows()
    }
    accuracy = (
        rows.filter(judge="a")
        .with_columns(gold=pl.col("item_id").replace_strict(GOLD))
        .select((pl.col("verdict") == pl.col("gold")).mean())
        .item()
    )
    assert value["a", "accuracy"] == pytest.approx(accuracy)  # by the commonest label
    # Three of six failures are one person's passes: of six ordered pairs two agree there.
    same = (27 + 3 * 2 / 6) / 30
    fails = (6 - 3 / 3) / 30
    ceiling = (same - (1 - 2 * fails * (1 - fails))) / (2 * fails * (1 - fails))
    assert value["a", "people_kappa"] == pytest.approx(ceiling, abs=1e-12)
    assert value["b", "people_kappa"] == value["a", "people_kappa"]
    table = labelled_judges(found)
    assert table["judge"].to_list() == ["a", "b", "c"]
    assert table["n_items"].to_list() == [30] * 3
    assert table.row(0, named=True)["people_kappa"] == value["a", "people_kappa"]


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_a_judge_that_answers_as_a_person_reaches_the_ceiling_in_the_mean(tmp_path):
    rng = np.random.default_rng(0)
    items = [str(n) for n in range(1500)]
    fails = rng.beta(0.5, 1.5, size=1500)
    answers = np.where(rng.random((1500, 4)) < fails[:, None], "fail", "pass")
    labels = [(item, who, answers[n, who]) for n, item in enumerate(items) for who in range(3)]
    path = tmp_path / "labels.csv"
    pl.DataFrame(labels, schema=["item_id", "rater", "label"], orient="row").write_csv(path)
    rows = pl.DataFrame({"item_id": items, "replication": 0, "verdict": answers[:, 3]})
    found = judgerel_ray.reduce(rows, labels=path, coefficients=["cohen_kappa", "people_kappa"])
    judge, person = found["value"]
    assert judge == pytest.approx(person, abs=0.06)


def test_two_labels_of_one_rater_are_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item_id,rater,label\nq00,ann,pass\nq00,ann,fail\nq01,bob,pass\n")
    with pytest.raises(SweepError, match="two labels of one rater"):
        judgerel_ray.reduce(judgments(gold=False), labels=path)
    path.write_text("item_id,label\nq00,pass\nq00,fail\n")
    with pytest.raises(SweepError, match="column rater"):
        judgerel_ray.reduce(judgments(gold=False), labels=path)


def test_a_gate_requires_kappa():
    rows = judgments(repeats=3)
    found = judgerel_ray.gate(rows, require="cohen_kappa >= .2").requirements
    printed = judgerel_ray.reduce(rows, coefficients="cohen_kappa")
    assert found["low"].to_list() == printed["low"].to_list()
    assert found.filter(judge="a")["verdict"].item() == "PASS"
    with pytest.raises(SweepError, match="a drop of cohen_kappa is not computed"):
        judgerel_ray.gate(rows, require="drop of cohen_kappa <= .1 against x.csv")
    with pytest.raises(SweepError, match="at most 1"):
        judgerel_ray.gate(rows, require="cohen_kappa >= 60")


def test_agree_lays_out_labels_classes_and_pairs():
    rows = judgments(lost=0.1)
    found = judgerel_ray.agree(rows, missing="drop")
    assert found.labels.select("judge", "missing").rows() == [(one, "drop") for one in "abc"]
    fail = found.classes.filter(judge="a", label="fail").row(0, named=True)
    mine = rows.filter(judge="a").drop_nulls("verdict")
    by_item = mine.group_by("item_id", "gold").agg(fails=(pl.col("verdict") == "fail").mean())
    given, missed = by_item.filter(gold="fail"), by_item.filter(gold="pass")
    assert fail["n_items"] == given.height
    assert fail["recall"] == pytest.approx(given["fails"].mean())
    hits, wrong = given["fails"].sum(), missed["fails"].sum()
    assert fail["precision"] == pytest.approx(hits / (hits + wrong))
    assert fail["recall_low"] <= fail["recall"] <= fail["recall_high"]
    assert fail["label_share"] == pytest.approx(given.height / by_item.height)
    assert [tuple(one) for one in found.pairs.select("judge_a", "judge_b").rows()] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip


def test_a_pair_of_judges_is_that_of_other_programs():
    krippendorff = pytest.importorskip("krippendorff", reason="extra [legacy] is not installed")
    rows = judgments(("a", "b"), repeats=1, gold=False)
    pair = judgerel_ray.agree(rows).pairs.row(0, named=True)
    sides = [rows.filter(judge=one)["verdict"].to_list() for one in ("a", "b")]
    codes = np.array([[float(one == "pass") for one in side] for side in sides])
    alpha = krippendorff.alpha(codes, level_of_measurement="nominal")
    assert pair["krippendorff_alpha"] == pytest.approx(alpha, abs=1e-12)
    assert pair["cohen_kappa"] == pytest.approx(label_agreement(*codes).value, abs=1e-12)
    assert pair["percent_agreement"] == pytest.approx((codes[0] == codes[1]).mean())
    of_ratings = judgerel_ray.agree(ratings().drop("gold")).pairs.row(0, named=True)
    scores = [ratings().filter(judge=one)["score"].to_numpy() for one in ("a", "b")]
    alpha = krippendorff.alpha(np.array(scores), level_of_measurement="interval")
    assert of_ratings["measurement"] == "interval"
    assert of_ratings["krippendorff_alpha"] == pytest.approx(alpha, abs=1e-12)


def test_pairs_rest_on_shared_questions_alone():
    rows = judgments(("a", "b"), gold=False)
    fewer = rows.filter((pl.col("judge") == "a") | pl.col("item_id").is_in(ITEMS[:12]))
    assert judgerel_ray.agree(fewer).pairs["n_items"].to_list() == [12]
    with pytest.raises(SweepError, match="nothing to agree with"):
        judgerel_ray.agree(judgments(("a",), gold=False))


@pytest.mark.slow
def test_three_judges_are_a_matrix_on_terminal_and_page(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    judgments().write_csv(path)
    assert main(["agree", str(path), "--full"]) == 0
    text = capsys.readouterr().out
    assert "Cohen's kappa between judges" in text
    assert main(["agree", str(path), "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert list(tables) == ["labels", "classes", "pairs"]
    assert len(tables["pairs"]) == 3
    page = tmp_path / "page.html"
    judgerel_ray.report(path, out=page)
    html = page.read_text()
    assert "Agreement with labels and between judges" in html
    assert "Cohen&#39;s kappa between judges" in html or "Cohen's kappa between judges" in html


def test_the_matrix_is_as_the_pairs():
    from judgerel_ray.analyses.agreement.show import agreement_blocks

    found = judgerel_ray.agree(judgments())
    [heat] = [one for one in agreement_blocks(found.tables()) if isinstance(one, Heat)]
    kappa = found.pairs.filter(judge_a="a", judge_b="c")["cohen_kappa"].item()
    cells = {name: [tint.text for tint in tints] for name, _, tints in heat.rows}
    assert cells["a"][2] == cells["c"][0] == f"{kappa:.2f}"
    assert cells["a"][0] == "-"


@pytest.mark.slow
def test_two_judges_kappas_are_compared_by_question():
    rows = judgments(("a", "c"), repeats=3, lost=0.1)
    found = judgerel_ray.compare(rows, by="judge", coefficients="cohen_kappa")
    printed = judgerel_ray.reduce(rows, coefficients="cohen_kappa")
    for row in found.iter_rows(named=True):
        values = dict(printed.filter(missing=row["missing"]).select("judge", "value").rows())
        assert (row["value_a"], row["value_b"]) == pytest.approx((values["a"], values["c"]))
        assert row["difference"] == pytest.approx(row["value_b"] - row["value_a"])
        assert row["low"] <= row["difference"] <= row["high"]
        assert (row["p"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
    same = judgerel_ray.compare(
        rows.filter(judge="a"), rows.filter(judge="a"), coefficients="cohen_kappa"
    )
    assert same["difference"].to_list() == [0.0, 0.0]
    with pytest.raises(SweepError, match="cohen_kappa needs the right verdict"):
        judgerel_ray.compare(rows.drop("gold"), by="judge", coefficients="cohen_kappa")


def test_ratings_are_compared_by_weighted_kappa():
    rows = ratings()
    found = judgerel_ray.compare(rows, by="judge", coefficients="cohen_kappa").row(0, named=True)
    printed = judgerel_ray.reduce(rows, coefficients="cohen_kappa")["value"].to_list()
    assert [found["value_a"], found["value_b"]] == pytest.approx(printed)
    assert found["measurement"] == "interval"
