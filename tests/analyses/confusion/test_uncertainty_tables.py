"""Every table of uncertainty tells the same numbers, and no label saw what it is scored on."""

import math

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions
from judgerel_ray.analyses.confusion.tables import PlainScores
from judgerel_ray.stats import clopper_pearson

SCALE = ("1", "2", "3", "4", "5")
JUDGES = (("firm", 0.5), ("swayed", 2.0))
BENCHMARKS = (("grades", SCALE, 60, ("fluency", "relevance")), ("truth", ("yes", "no"), 50, ("x",)))
GROUP = ["judge", "benchmark", "template", "temperature", "mode"]


@pytest.fixture(scope="module")
def tables(confusion_inputs):
    options = UncertaintyOptions(thresholds={"grades": (0.6, 0.8)})
    return confusion_inputs(JUDGES, BENCHMARKS, options=options)


def rows_of(tables, judge, benchmark):
    rows = tables.judgments.filter(judge=judge, benchmark=benchmark)
    assert rows.height
    return rows


def quantities(tables, judge, benchmark, threshold=None):
    rows = tables.worth.filter(judge=judge, benchmark=benchmark)
    kept = rows.filter(pl.col("threshold").eq_missing(pl.lit(threshold, pl.Float64)))
    return {row["quantity"]: row for row in kept.iter_rows(named=True)}


@pytest.mark.slow
def test_labels_at_a_stated_threshold_are_counted_from_u(tables):
    for judge, _ in JUDGES:
        low = []
        rows = rows_of(tables, judge, "grades")
        for row in rows.iter_rows(named=True):
            above = [o for o, u in zip(row["options"], row["u"], strict=True) if u >= 0.6]
            low.append(above == [row["chosen"]])
        right = rows["correct"].to_numpy()
        k, n = int(right[low].sum()), sum(low)
        found = quantities(tables, judge, "grades", 0.6)
        assert (found["accuracy_low"]["k"], found["accuracy_low"]["n"]) == (k, n)
        ends = clopper_pearson(k, n)
        assert found["accuracy_low"]["low"] == pytest.approx(ends.low)
        assert found["accuracy_low"]["high"] == pytest.approx(ends.high)
        assert (found["share_low"]["k"], found["share_low"]["n"]) == (n, rows.height)


@pytest.mark.slow
def test_thresholds_are_reported_only_where_they_are_stated(tables):
    stated = tables.labels.filter(pl.col("kind") == "threshold")
    assert set(stated["benchmark"]) == {"grades"}
    assert set(stated["threshold"]) == {0.6, 0.8}
    assert set(tables.labels.select("kind", "how", "n_folds").rows()) == {
        ("cross-fitted", "cross_fitted", 5),
        ("threshold", "threshold_given", None),
        ("in-sample", "best_in_sample", None),
    }


@pytest.mark.parametrize("kind", ["cross-fitted", "threshold"])
def test_labels_curves_and_quantities_are_the_same_numbers(tables, kind):
    whole = tables.labels.filter(pl.col("criterion").is_null(), pl.col("kind") == kind)
    assert whole.height
    for row in whole.iter_rows(named=True):
        at = row["threshold"]
        told = quantities(tables, row["judge"], row["benchmark"], at)
        for quantity, name in (("accuracy_low", "low"), ("accuracy_high", "high"),
                               ("share_low", "share")):  # fmt: skip
            assert told[quantity]["value"] == row[name]
            assert told[quantity]["low"] == row[f"{name}_from"]
            assert told[quantity]["n"] == row[f"n_{name}"]
        if at is not None:
            drawn = tables.curves.filter(
                judge=row["judge"], benchmark=row["benchmark"], threshold=at
            ).row(0, named=True)
            assert {name: drawn[name] for name in ("low", "high", "share", "all")} == {
                name: row[name] for name in ("low", "high", "share", "all")
            }


def test_criteria_add_up_to_all(tables):
    for _, part in tables.labels.group_by(*GROUP, "how", "threshold"):
        whole = part.filter(pl.col("criterion").is_null())
        several = part.filter(pl.col("criterion").is_not_null())
        assert several.height == (2 if part["benchmark"][0] == "grades" else 0)
        for name in ("k_all", "n_all", "k_low", "n_low", "k_share"):
            assert several.is_empty() or several[name].sum() == whole[name].sum()


def test_the_best_threshold_here_is_marked_and_has_no_interval(tables):
    in_sample = tables.worth.filter(pl.col("quantity").str.starts_with("wagner2024"))
    assert set(in_sample["quantity"]) == {
        "wagner2024_threshold", "wagner2024_accuracy_low", "wagner2024_accuracy_high",
        "wagner2024_share_low",
    }  # fmt: skip
    assert in_sample["estimator"].str.starts_with("optimistic").all()
    assert in_sample["low"].is_null().all()
    drawn = tables.labels.filter(kind="in-sample")
    assert drawn["low_from"].is_null().all()
    assert drawn["all_from"].is_not_null().all()
    for row in in_sample.filter(quantity="wagner2024_accuracy_low").iter_rows(named=True):
        curve = tables.curves.filter(judge=row["judge"], benchmark=row["benchmark"])
        assert row["value"] == curve["low"].max()


def test_two_options_are_symmetric_about_one_half(tables):
    """Arithmetic, not the judge: columns sum to 1, so t and 1 - t label alike."""
    curve = tables.curves.filter(judge="firm", benchmark="truth").sort("threshold")
    assert curve["n_low"].to_list() == curve["n_low"].to_list()[::-1]
    assert curve["k_low"].to_list() == curve["k_low"].to_list()[::-1]


def test_deviation_is_of_scales_and_in_steps(tables):
    rows = rows_of(tables, "firm", "grades")
    steps = (rows["chosen"].cast(pl.Float64) - rows["right"].cast(pl.Float64)).abs()
    found = quantities(tables, "firm", "grades")
    assert found["deviation"]["value"] == pytest.approx(steps.mean())
    assert found["deviation_low"]["n"] + found["deviation_high"]["n"] == rows.height
    n = [found[f"deviation_{name}"]["n"] for name in ("low", "high")]
    parts = [found[f"deviation_{name}"]["value"] for name in ("low", "high")]
    assert np.average(parts, weights=n) == pytest.approx(steps.mean())
    assert "deviation" not in quantities(tables, "firm", "truth")


def test_words_are_a_scale_where_the_benchmark_says_so(confusion_inputs):
    words = ("good", "fair", "bad")
    plain = confusion_inputs(JUDGES[:1], (("b", words, 30, ("x",)),))
    assert "deviation" not in set(plain.worth["quantity"])
    options = UncertaintyOptions(scales={"b": ("bad", "fair", "good")})
    scaled = confusion_inputs(JUDGES[:1], (("b", words, 30, ("x",)),), options=options)
    step = {"good": 2, "fair": 1, "bad": 0}
    rows = scaled.judgments.iter_rows(named=True)
    mean = np.mean([abs(step[row["chosen"]] - step[row["right"]]) for row in rows])
    told = {row["quantity"]: row["value"] for row in scaled.worth.iter_rows(named=True)}
    assert told["deviation"] == pytest.approx(mean)


@pytest.mark.slow
def test_sets_hold_the_right_option_about_as_often_as_asked(confusion_inputs):
    options = UncertaintyOptions(error=0.2)
    found = confusion_inputs(JUDGES[:1], (("b", SCALE, 400, ("x",)),), options=options)
    told = {row["quantity"]: row for row in found.worth.iter_rows(named=True)}
    assert told["conformal_coverage"]["low"] < 0.85
    assert told["conformal_coverage"]["high"] > 0.8
    assert 1 <= told["conformal_size"]["value"] < 5
    assert "miss <= 0.2" in told["conformal_size"]["estimator"]


def test_what_needs_folds_says_so_where_there_are_too_few(confusion_inputs):
    found = confusion_inputs(JUDGES[:1], (("b", SCALE, 4, ("x",)),))
    told = {row["quantity"]: row for row in found.worth.iter_rows(named=True)}
    for name in ("accuracy_low", "accuracy_by_model", "conformal_coverage"):
        assert told[name]["value"] is None
        assert told[name]["undefined"] == "too_few_judgments"
    assert found.transfer.is_empty()
    assert told["accuracy"]["n"] == 4


def test_thresholds_are_carried_across_judges_benchmarks_and_criteria(tables):
    told = tables.transfer.group_by("across", "within", maintain_order=True).len().rows()
    assert told == [
        ("benchmark", "firm", 4), ("benchmark", "swayed", 4),
        ("judge", "grades", 4), ("judge", "truth", 4),
        ("criterion", "firm, grades", 4), ("criterion", "swayed, grades", 4),
    ]  # fmt: skip
    for row in tables.transfer.iter_rows(named=True):
        assert row["cross_fitted"] == (row["source"] == row["target"])
        assert (row["threshold"] is None) == row["cross_fitted"]
    fitted = tables.transfer.filter(across="judge", within="grades", source="firm", target="firm")
    assert (
        fitted["accuracy_low"][0] == quantities(tables, "firm", "grades")["accuracy_low"]["value"]
    )


@pytest.mark.slow
def test_a_carried_threshold_is_chosen_where_the_row_says(tables):
    row = tables.transfer.filter(
        across="judge", within="truth", source="firm", target="swayed"
    ).row(0, named=True)
    rows = rows_of(tables, "firm", "truth")
    there = rows_of(tables, "swayed", "truth")

    def low(frame, t):
        tops = [sorted(u)[-2:] for u in frame["u"]]
        own = (frame["chosen"] == frame["chosen_by_matrix"]).fill_null(value=False)
        return np.array([a < t <= b and ok for (a, b), ok in zip(tops, own, strict=True)])

    def separation(t):
        marked, right = low(rows, t), rows["correct"].to_numpy()
        return marked[right].mean() - marked[~right].mean()

    best = max(separation(t) for t in np.round(np.arange(0.01, 1, 0.01), 2))
    assert separation(row["threshold"]) == pytest.approx(best)
    marked = low(there, row["threshold"])
    assert (row["n_low"], row["n"]) == (marked.sum(), there.height)
    assert row["accuracy_low"] == pytest.approx(there["correct"].to_numpy()[marked].mean())


def test_scores_stand_side_by_side(tables):
    score = tables.scores.filter(judge="firm", benchmark="grades", score="margin").row(
        0, named=True
    )
    told = quantities(tables, "firm", "grades")
    assert (score["auroc"], score["aurc"]) == (told["auroc"]["value"], told["aurc"]["value"])
    ends = told["aurc"]["low"], told["aurc"]["high"]
    assert (score["aurc_low"], score["aurc_high"]) == ends
    said = str(told["auroc"]["estimator"])
    assert said == "margin" if score["few"] is None else said.startswith("margin; few ")
    means = rows_of(tables, "firm", "grades").select("margin", "entropy", "dobrushin").mean().row(0)
    shown = tables.scores.filter(judge="firm", benchmark="grades")
    for name, mean in zip(("margin", "entropy", "dobrushin"), means, strict=True):
        row = shown.filter(score=name).row(0, named=True)
        assert row["mean"] == pytest.approx(mean)
        assert row["mean_low"] < row["mean"] < row["mean_high"]
    turned = dict(shown.select("score", "surer").iter_rows())
    assert turned["worst_case"] == "higher"
    assert turned["suggestibility"] == turned["entropy"] == "lower"
    pulls = (
        tables.scores.filter(score="suggestibility").group_by("judge").agg(pl.col("mean").mean())
    )
    assert dict(pulls.iter_rows())["swayed"] > dict(pulls.iter_rows())["firm"]


def test_plain_scores_count_what_was_asked(confusion_inputs):
    said = [
        {"judge": "firm", "benchmark": "b", "item_id": f"b-{i}", "score": "share",
         "higher_is_surer": True, "verdict": "yes", "value": 0.75, "tokens": 40.0}
        for i in range(12)
    ]  # fmt: skip
    said += [{**row, "score": "nats", "higher_is_surer": False, "verdict": None} for row in said]
    more = {"of_replications": 9, "drawn_at": 0.5, "value": 0.25}
    said += [{**row, **more} for row in said if row["score"] == "share"]
    tokens = pl.DataFrame({"judge": ["firm"], "benchmark": ["b"], "item_id": ["b-0"],
                           "tokens": [90.0]})  # fmt: skip
    found = confusion_inputs(
        JUDGES[:1], (("b", ("yes", "no"), 20, ("x",)),),
        baselines=pl.DataFrame(said, schema=PlainScores.dtypes), tokens=tokens,
    )  # fmt: skip
    rows = found.scores.rows(named=True)
    shown = {row["score"]: row for row in rows if row["of_replications"] is None}
    chosen = found.judgments.filter(pl.col("item_id").is_in([f"b-{i}" for i in range(12)]))[
        "chosen"
    ]
    # A verdict that no replication gave has a share of 0; items that were not asked have none.
    assert shown["share"]["mean"] == pytest.approx(0.75 * (chosen == "yes").mean())
    assert shown["share"]["n"] == shown["nats"]["n"] == 12
    [again] = [row for row in rows if row["of_replications"] is not None]
    assert (again["score"], again["of_replications"], again["drawn_at"]) == ("share", 9, 0.5)
    assert again["mean"] == pytest.approx(0.25 * (chosen == "yes").mean())
    assert (shown["share"]["tokens"], shown["margin"]["tokens"]) == (40.0, 90.0)
    assert (shown["share"]["surer"], shown["nats"]["surer"]) == ("higher", "lower")


def test_the_surest_are_wrong_as_often_as_they_are(tables):
    rows = rows_of(tables, "firm", "grades").sort("margin", descending=True)
    for row in tables.acceptance.filter(judge="firm", benchmark="grades").iter_rows(named=True):
        taken = rows.filter(pl.col("margin") >= row["margin"])
        assert (row["n_accepted"], row["n_errors"]) == (taken.height, (~taken["correct"]).sum())
        assert row["low"] <= row["error"] <= row["high"]
    told = quantities(tables, "firm", "grades")["error_of_surest_50"]
    assert 0.5 <= told["n"] / rows.height < 0.6
    assert told["k"] == (~rows["correct"].head(told["n"])).sum()


def test_intervals_of_mean_scores_end_where_no_score_goes_further():
    """Two texts tell little, but not that a probability is below 0."""
    scores = judgerel_ray.uncertainty(judgerel_ray.example("run")).scores
    told = {row["score"]: row for row in scores.iter_rows(named=True) if row["n"]}
    two = math.log(2)
    for score, low, high in (
        ("margin", 0, 1), ("largest_u", 0, 1), ("probability_of_verdict", 0, 1),
        ("share_of_replications", 0, 1), ("entropy", 0, two),
    ):  # fmt: skip
        row = told[score]
        assert row["mean_low"] == low or row["mean_low"] > 0, score
        assert row["mean_high"] == pytest.approx(high), score
    row = told["entropy_of_replications"]
    assert row["mean_low"] == 0
    assert row["mean"] < row["mean_high"] < math.log(3) + 0.5 + 1e-9
    assert -1 < told["signed_margin"]["mean_low"] < 0
    assert told["signed_margin"]["mean_high"] == 1


def test_a_score_that_no_judgment_has_is_no_lack_of_verdicts():
    """Mode single reads all assessments at once: none stand apart to be compared."""
    scores = judgerel_ray.uncertainty(judgerel_ray.example("run")).scores
    told = {row["score"]: row for row in scores.iter_rows(named=True)}
    for score in ("suggestibility", "dobrushin", "mutual_information"):
        assert (told[score]["n"], told[score]["undefined"]) == (0, "score_not_computed")
    assert told["margin"]["undefined"] is None
