"""``correct``: labels beside judgments, and what is said of the score they correct."""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.correction.show import correction_blocks
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError


@cache
def judged(n=300, replications=2, *, responder=None, prevalence=0.6, seed=0):
    """Verdicts of a judge with sensitivity .9 and specificity .7, and what is true."""
    rng = np.random.default_rng(seed)
    true = rng.random(n) < prevalence
    names = [f"q{i:03}" for i in range(n)]
    rows = [
        {"judge": "j", "item_id": name, "replication": r, "responder": responder,
         "verdict": "pass" if rng.random() < (0.9 if is_so else 0.3) else "fail"}
        for name, is_so in zip(names, true, strict=True) for r in range(replications)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides={"responder": pl.String})
    truth = pl.DataFrame({"item_id": names, "responder": responder, "label": true.astype(int)},
                         schema_overrides={"responder": pl.String})  # fmt: skip
    return frame if responder else frame.drop("responder"), (
        truth if responder else truth.drop("responder")
    )


@pytest.fixture
def labels(tmp_path):
    def written(frame, name="labels.csv"):
        frame.write_csv(tmp_path / name)
        return str(tmp_path / name)

    return written


def one(found, estimate="ppi"):
    (row,) = found.estimates.filter(estimate=estimate).to_dicts()
    return row


def test_rate_is_corrected_and_says_what_it_rests_on(labels):
    frame, truth = judged()
    found = judgerel_ray.correct(frame, labels=labels(truth.head(100)), width=0.14)
    rate = truth["label"].mean()
    ppi, alone, bare = (one(found, name) for name in ("ppi", "judge_alone", "labels_alone"))
    assert ppi["low"] < rate < ppi["high"]
    assert one(found, "rogan_gladen")["low"] < rate < one(found, "rogan_gladen")["high"]
    assert ppi["high"] - ppi["low"] < bare["high"] - bare["low"]
    assert alone["value"] > ppi["value"]
    assert (ppi["measure"], ppi["n_units"], ppi["n_labels"], ppi["n_judgments"]) == (
        "rate", 300, 100, 600
    )  # fmt: skip
    assert 0 < ppi["replication_share"] < 1
    assert ppi["flags"] == []
    tpr, tnr = found.rates.to_dicts()
    assert tpr["low"] < 0.9 < tpr["high"]
    assert tnr["low"] < 0.7 < tnr["high"]
    (budget,) = found.budget.to_dicts()
    assert 100 < budget["needed"] < budget["needed_without_judge"]


def test_words_of_labels_need_not_be_those_of_verdicts(labels):
    frame, truth = judged()
    said = truth.head(80)
    yes = said.with_columns(label=pl.when(pl.col("label") == 1).then(pl.lit("YES ")).otherwise(
        pl.lit("no")))  # fmt: skip
    plain = judgerel_ray.correct(frame, labels=labels(said))
    assert judgerel_ray.correct(frame, labels=labels(yes, "yes.csv")).estimates.equals(
        plain.estimates
    )


@pytest.mark.slow
def test_a_verdict_of_choice_passes(labels):
    frame, truth = judged()
    word = {"pass": "A", "fail": "B"}
    letters = frame.with_columns(pl.col("verdict").replace_strict(word))
    plain = judgerel_ray.correct(frame, labels=labels(truth.head(80)))
    found = judgerel_ray.correct(letters, labels=labels(truth.head(80)), positive="a")
    assert found.estimates.equals(plain.estimates)
    with pytest.raises(SweepError, match=r"which verdict passes.*'A', 'B'"):
        judgerel_ray.correct(letters, labels=labels(truth.head(80)))
    with pytest.raises(SweepError, match="--positive C"):
        judgerel_ray.correct(letters, labels=labels(truth.head(80)), positive="C")


def test_labels_in_the_words_of_verdicts_mean_what_these_do(labels):
    frame, truth = judged()
    plain = judgerel_ray.correct(frame, labels=labels(truth.head(80)))
    faulty = {"pass": "no", "fail": "yes"}  # is there a fault?
    frame = frame.with_columns(pl.col("verdict").replace_strict(faulty))
    said = truth.head(80).with_columns(label=pl.when(pl.col("label") == 1).then(pl.lit("No"))
                                       .otherwise(pl.lit("Yes")))  # fmt: skip
    found = judgerel_ray.correct(frame, labels=labels(said, "said.csv"), positive="no")
    assert found.estimates.equals(plain.estimates)


@pytest.mark.slow
def test_shares_of_people_who_pass_count_beside_a_verdict_of_choice(labels):
    frame, truth = judged()
    shares = truth.head(80).with_columns(pl.col("label").cast(pl.Float64).replace({1.0: 0.75}))
    plain = judgerel_ray.correct(frame, labels=labels(shares))
    letters = frame.with_columns(pl.col("verdict").replace_strict({"pass": "A", "fail": "B"}))
    found = judgerel_ray.correct(letters, labels=labels(shares), positive="A")
    assert found.estimates.equals(plain.estimates)
    mixed = shares.with_columns(label=pl.Series(["A", "1", *["B"] * 78]))
    with pytest.raises(SweepError, match=r"must say pass or fail .or 'A'., got '1' of item 'q001'"):
        judgerel_ray.correct(letters, labels=labels(mixed, "mixed.csv"), positive="A")


@pytest.mark.slow
def test_a_column_gold_counts_as_labels_do(labels):
    frame, truth = judged()
    words = pl.col("label").replace_strict({1: "pass", 0: "fail"}, return_dtype=pl.String)
    said = truth.head(80).with_columns(words)
    by_file = judgerel_ray.correct(frame, labels=labels(said))
    beside = frame.join(said.rename({"label": "gold"}), on="item_id", how="left")
    for rows, positive in ((beside, None), (beside, "pass")):
        found = judgerel_ray.correct(rows, positive=positive)
        assert found.estimates.equals(by_file.estimates)
    with pytest.raises(SweepError, match="--width needs --labels, or a column gold"):
        judgerel_ray.correct(frame, width=0.1)


@pytest.mark.slow
def test_what_a_reference_says_is_no_label():
    frame, _ = judged()
    alone = judgerel_ray.correct(several := pl.concat(
        [frame.with_columns(judge=pl.lit(name)) for name in ("a", "b", "c")]
    ))  # fmt: skip
    referred = several.with_columns(gold=pl.format("The answer to {}.", "item_id"))
    with pytest.warns(ReadingWarning, match="gold matches no verdict"):
        found = judgerel_ray.correct(referred)
    assert found.agreed.equals(alone.agreed)
    assert found.estimates.is_empty()


def test_verdicts_that_say_neither_are_told_from_those_that_do(labels):
    frame, truth = judged()
    frame = frame.with_columns(verdict=pl.col("verdict").replace({"fail": "Fail."}))
    with pytest.raises(SweepError, match=r"which verdict passes\? 'Fail\.' says neither") as error:
        judgerel_ray.correct(frame, labels=labels(truth.head(80)))
    assert "--positive VERDICT" in str(error.value)


def test_either_of_two_verdicts_may_be_the_one_that_passes():
    frame = pl.DataFrame(
        {"item_id": ["q", "r"], "judge": "j", "replication": 0, "verdict": ["不通过", "so so"]}
    )
    with pytest.raises(SweepError) as error:
        judgerel_ray.correct(frame)
    assert error.value.hint == "--positive 'so so' or --positive '不通过'"


@pytest.mark.slow
def test_labels_in_words_that_no_verdict_has_are_not_counted_as_fails(labels):
    frame, truth = judged()
    words = {1: "acceptable", 0: "unacceptable"}
    said = truth.head(80).with_columns(pl.col("label").replace_strict(words))
    path = labels(said)
    for positive in (None, "pass", "fail"):
        with pytest.raises(SweepError, match=r"must say pass or fail.*acceptable") as error:
            judgerel_ray.correct(frame, labels=path, positive=positive)
        assert "in the labels write pass or fail, or a verdict (fail, pass)" in str(error.value)
        assert "--positive" not in str(error.value)
    with pytest.raises(SweepError, match="Try: --positive pass"):
        judgerel_ray.correct(frame, labels=path, positive="acceptable")
    half = labels(said.with_columns(pl.col("label").replace("unacceptable", "fail")), "half.csv")
    with pytest.raises(SweepError, match="got 'acceptable'"):
        judgerel_ray.correct(frame, labels=half, positive="pass")


def test_labels_that_say_neither_are_named_where_they_count_as_not_passed(labels):
    frame, truth = judged()
    words = {1: "pass", 0: "unsure"}
    said = labels(truth.head(80).with_columns(pl.col("label").replace_strict(words)))
    n = int((truth.head(80)["label"] == 0).sum())
    with pytest.warns(ReadingWarning, match=f"{n} labels of 80 say 'unsure', which no verdict"):
        found = judgerel_ray.correct(frame, labels=said, positive="pass")
    assert one(found, "labels_alone")["value"] == 1 - n / 80


def scored(*scores):
    """Judgments of 60 items with these scores in turn, and labels of 20 of them."""
    names = [f"q{i:02}" for i in range(60)]
    frame = pl.DataFrame(
        {"item_id": names, "score": [float(scores[i % len(scores)]) for i in range(60)]}
    )
    frame = frame.with_columns(replication=0)
    return frame, lambda *said: pl.DataFrame(
        {"item_id": names[:20], "label": [float(said[i % len(said)]) for i in range(20)]}
    )


@pytest.mark.parametrize(
    ("scores", "said", "spans"),
    [
        ((2, 9, 8), (0, 1), "labels are from 0 to 1, scores from 2 to 9"),
        ((2, 9, 8), (0.25, 1), "labels are from 0.25 to 1, scores from 2 to 9"),
        ((0.2, 0.9), (20, 90), "labels are from 20 to 90, scores from 0.2 to 0.9"),
    ],
)
def test_labels_of_another_scale_than_scores_are_refused(labels, scores, said, spans):
    frame, labelled = scored(*scores)
    with pytest.raises(SweepError, match=f"must be on one scale: {spans} .file=.*Try: in both"):
        judgerel_ray.correct(frame, labels=labels(labelled(*said)))


@pytest.mark.parametrize(
    ("scores", "said"),
    [((4, 5), (1, 2)), ((4.5, 5), (1, 1)), ((1, 7, 9), (0, 1)), ((7, 9), (70, 90))],
)
def test_labels_that_may_be_of_another_scale_are_named(labels, scores, said):
    frame, labelled = scored(*scores)
    with pytest.warns(ReadingWarning, match="only if both are on one scale"):
        judgerel_ray.correct(frame, labels=labels(labelled(*said)))


@pytest.mark.parametrize(
    ("scores", "said"),
    [((2.5, 3.5), (1, 5)), ((2, 4, 5), (1, 3)), ((0, 1, 0.5), (0, 1)), ((0, 1, 2), (0, 1))],
)
def test_labels_on_the_scale_of_scores_pass_without_a_word(labels, scores, said, recwarn):
    frame, labelled = scored(*scores)
    judgerel_ray.correct(frame, labels=labels(labelled(*said)))
    assert not [one for one in recwarn if one.category is ReadingWarning]


@pytest.mark.slow
def test_who_labels_an_item_twice_is_one_rater(labels):
    frame, truth = judged()
    ann = truth.head(80).with_columns(rater=pl.lit("ann"))
    bob = ann.with_columns(label=1 - pl.col("label"), rater=pl.lit("bob"))
    once, twice = labels(pl.concat([ann, bob])), labels(pl.concat([ann, ann, bob]), "twice.csv")
    plain = judgerel_ray.correct(frame, labels=once)
    assert one(plain, "labels_alone")["value"] == 0.5
    assert judgerel_ray.correct(frame, labels=twice).estimates.equals(plain.estimates)


def test_own_noise_is_between_replications_of_one_prompt(labels):
    frame, truth = judged(300, 2)
    steady = pl.concat([
        frame.filter(replication=0).with_columns(template=pl.lit(name), replication=r)
        for name in "AB" for r in (0, 1)
    ])  # fmt: skip
    steady = steady.with_columns(
        verdict=pl.when(template="B").then(pl.lit("pass")).otherwise("verdict")
    )
    found = judgerel_ray.correct(steady, labels=labels(truth.head(100)))
    assert one(found)["replication_share"] == 0
    assert one(judgerel_ray.correct(steady.filter(replication=0), labels=labels(truth.head(100))))[
        "replication_share"
    ] is None  # fmt: skip


def test_mean_scores_are_corrected_and_have_no_rates(labels):
    rng = np.random.default_rng(2)
    true = rng.normal(5, 2, 400)
    frame = pl.DataFrame({"item_id": [f"q{i}" for i in range(400)], "replication": 0,
                          "score": true + 1 + rng.normal(0, 0.5, 400)})  # fmt: skip
    said = pl.DataFrame({"item_id": [f"q{i}" for i in range(60)], "score": true[:60]})
    found = judgerel_ray.correct(frame, labels=labels(said))
    ppi = one(found)
    assert ppi["measure"] == "mean"
    assert ppi["low"] < true.mean() < ppi["high"] < one(found, "judge_alone")["low"]
    for wrong in ("nan", "inf", "2,5"):
        number = pl.col("score").cast(pl.String)
        bad = said.with_columns(pl.when(item_id="q3").then(pl.lit(wrong)).otherwise(number)
                                .alias("score"))  # fmt: skip
        with pytest.raises(SweepError, match=f"must say a number, as judged, got '{wrong}'"):
            judgerel_ray.correct(frame, labels=labels(bad, "bad.csv"))
    assert found.rates.is_empty()
    assert "rogan_gladen" not in found.estimates["estimate"].to_list()


def test_systems_of_one_judge_are_compared_by_question(labels):
    parts = [judged(responder=name, prevalence=p, seed=s)
             for name, p, s in (("old", 0.5, 1), ("new", 0.8, 2))]  # fmt: skip
    frame, truth = (pl.concat(one) for one in zip(*parts, strict=True))
    file = labels(truth.filter(pl.col("item_id") < "q120"))
    found = judgerel_ray.correct(frame, labels=file, by=["judge", "responder"])
    row, by_rates = found.differences.to_dicts()
    assert (row["estimate"], by_rates["estimate"]) == ("ppi", "rogan_gladen")
    means = dict(truth.group_by("responder").agg(pl.col("label").mean()).rows())
    assert (row["judge"], row["differing"], row["a"], row["b"]) == ("j", "responder", "new", "old")
    for one_row in (row, by_rates):
        assert one_row["low"] < means["new"] - means["old"] < one_row["high"]
    assert abs(row["judge_alone"]) < abs(row["value"])  # errors shrink what the judge alone says
    assert row["n_labels"] == by_rates["n_labels"] == 240
    of = found.estimates.filter(estimate="rogan_gladen")
    rates = dict(of.select("responder", "value").rows())
    assert by_rates["value"] == rates["new"] - rates["old"]
    with pytest.raises(SweepError, match="labels must say which responder"):
        judgerel_ray.correct(
            frame, labels=labels(truth.drop("responder").unique("item_id"), "x.csv")
        )


@pytest.mark.slow
def test_labels_drawn_with_known_probabilities_count_by_them(labels):
    frame, truth = judged(1200, 1)
    passed = frame.filter(verdict="pass")["item_id"].implode()
    p = pl.when(pl.col("item_id").is_in(passed)).then(0.6).otherwise(0.1)
    drawn = truth.with_columns(probability=p).filter(
        pl.Series(np.random.default_rng(4).random(1200)) < pl.col("probability")
    )
    found = judgerel_ray.correct(frame, labels=labels(drawn))
    ppi, rate = one(found), truth["label"].mean()
    assert ppi["low"] < rate < ppi["high"]
    assert abs(one(found, "labels_alone")["value"] - rate) < 0.08 < drawn["label"].mean() - rate
    assert not found.transport["differs"].item()
    careless = judgerel_ray.correct(frame, labels=labels(drawn.drop("probability"), "c.csv"))
    assert one(careless)["flags"] == ["transport"]


def test_what_weakens_a_score_is_a_code_and_said(labels):
    frame, truth = judged()
    more = pl.DataFrame({"item_id": ["q000", "other"], "label": [1 - truth["label"][0], 1]})
    said = pl.concat([truth.head(20), more], how="vertical_relaxed")
    found = judgerel_ray.correct(frame, labels=labels(said))
    assert one(found)["flags"] == ["few_labels", "unmatched_labels", "raters_disagree"]
    assert one(found)["n_unmatched"] == 1
    text = printed(correction_blocks(found.tables()))
    assert text.startswith("j: pass rate 0.")
    assert "1 label of nothing that was judged" in text.replace("\n", " ")


def test_a_judge_that_always_says_the_same_adds_nothing_to_labels(labels):
    frame, truth = judged()
    found = judgerel_ray.correct(frame.with_columns(verdict=1), labels=labels(truth.head(60)))
    text = printed(correction_blocks(found.tables()))
    assert one(found)["weight"] == 0
    assert "the judge adds nothing to the labels" in text.replace("\n", " ")


def test_replies_without_a_verdict_do_not_pass(labels):
    frame, truth = judged()
    silent = frame.with_columns(
        verdict=pl.when(pl.col("item_id") > "q270").then(None).otherwise("verdict")
    )
    found = judgerel_ray.correct(silent, labels=labels(truth.sample(150, seed=1)))
    assert one(found)["n_units"] == 300
    assert one(found)["low"] < truth["label"].mean() < one(found)["high"]


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"item": ["q000"], "label": [1]}, "--labels needs columns item_id and label"),
        ({"item_id": ["q000"], "label": [""]}, "holds no label: 1 row, none with a label"),
        ({"item_id": [], "label": []}, "holds no label: 0 rows, none with a label"),
        ({"item_id": ["q000"], "label": ["maybe"]}, "a label must say pass or fail.*'maybe'"),
        ({"item_id": ["Q0"], "label": [1]}, "no label is of a judged item.*'Q0'.*'q000'"),
        ({"item_id": ["q000"], "label": [1], "probability": [0.0]}, "probability must be above 0"),
        (
            {"item_id": ["q000"] * 2, "label": [1, 1], "probability": [0.5, 0.4]},
            "must have one probability",
        ),
        ({"item_id": ["q000"], "label": [1], "probability": ["0,3"]}, "got 0,3 of.*with a point"),
        ({"item_id": ["q000"], "label": [1], "probability": [float("nan")]}, "got NaN of"),
        (
            {"item_id": ["q000", "q001"], "label": [1, 1], "probability": [0.5, None]},
            "in every row, got nothing of item 'q001'",
        ),
        (
            {"item_id": ["q000"] * 2, "label": [1, 0], "responder": ["new", "old"]},
            "judgments must say which responder.*'q000' has labels for new, old",
        ),
    ],
)
def test_labels_that_mean_nothing_are_refused_in_one_line(labels, said, message):
    with pytest.raises(SweepError, match=message):
        judgerel_ray.correct(judged()[0], labels=labels(pl.DataFrame(said)))


def test_command_prints_json_and_words(tmp_path, labels, capsys):
    frame, truth = judged()
    frame.write_csv(tmp_path / "judged.csv")
    file = labels(truth.head(100))
    arguments = ["correct", str(tmp_path / "judged.csv"), "--labels", file]
    assert main([*arguments, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert [row["estimate"] for row in tables["estimates"]] == [
        "judge_alone", "labels_alone", "ppi", "rogan_gladen"
    ]  # fmt: skip
    assert main([*arguments, "--full"]) == 0
    assert capsys.readouterr().out.startswith("j: pass rate 0.")
    assert main([*arguments, "--width", "0"]) == 2
    assert main([*arguments, "--out", file]) == 2
    assert "would destroy it" in capsys.readouterr().err


def without_labels():
    """Six judges right of 85 %, independently."""
    rng = np.random.default_rng(5)
    true = rng.random(400) < 0.8
    wrong = rng.random((400, 6)) < 0.15
    return pl.DataFrame(
        [
            {"judge": f"j{j}", "item_id": f"q{i}", "replication": 0,
             "verdict": "yes" if true[i] ^ wrong[i, j] else "no"}
            for i in range(400) for j in range(6)
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def agreed():
    return judgerel_ray.correct(without_labels())


@pytest.mark.slow
def test_without_labels_judges_are_held_against_each_other(agreed):
    (row,) = agreed.agreed.to_dicts()
    assert row["low"] < 0.8 < row["high"]
    assert row["mean_of_judges"] < row["low"]
    assert row["p_correlated"] > 0.05
    assert agreed.judges.filter(judge="j3")["tpr"].item() == pytest.approx(0.85, abs=0.05)
    text = printed(correction_blocks(agreed.tables()))
    assert "err independently" in text
    assert "do not rely" not in text


@pytest.mark.slow
def test_judges_that_share_errors_are_not_relied_on(agreed):
    shared = {"agreed": agreed.agreed.with_columns(p_correlated=0.01), "judges": agreed.judges}
    assert "do not rely on this rate" in printed(correction_blocks(shared)).replace("\n", " ")


def test_two_judges_and_scores_tell_nothing_without_labels():
    two = without_labels().filter(pl.col("judge").is_in(["j0", "j1"]))
    assert judgerel_ray.correct(two).agreed["undefined"].item() == "too_few_judges"
    scores = two.with_columns(score=pl.int_range(pl.len()).cast(float)).drop("verdict")
    with pytest.raises(SweepError, match="only pass rates"):
        judgerel_ray.correct(scores)
    with pytest.raises(SweepError, match="expected a column judge"):
        judgerel_ray.correct(two.filter(judge="j0").drop("judge"))
    with pytest.raises(SweepError, match="--width needs --labels"):
        judgerel_ray.correct(two, width=0.1)


@pytest.mark.slow
def test_labels_of_people_that_were_imported_are_the_same(labels, tmp_path):
    frame, truth = judged()
    said = truth.head(80).with_columns(
        rater=pl.lit("ann"), label=pl.when(pl.col("label") == 1).then(pl.lit("pass")).otherwise(
            pl.lit("fail"))
    )  # fmt: skip
    file, out = labels(said), tmp_path / "people.parquet"
    assert judgerel_ray.import_judgments("people", file, out=out) == 80
    plain, imported = (judgerel_ray.correct(frame, labels=one) for one in (file, out))
    assert imported.estimates.equals(plain.estimates)


def test_a_group_without_labels_says_so_and_others_are_corrected(labels):
    frame, truth = judged()
    both = pl.concat([frame.with_columns(benchmark=pl.lit(name)) for name in "ab"])
    file = labels(truth.head(80).with_columns(benchmark=pl.lit("a")))
    found = judgerel_ray.correct(both, labels=file, width=0.2)
    of = {row["benchmark"]: row for row in found.estimates.filter(estimate="ppi").to_dicts()}
    assert (of["b"]["undefined"], of["b"]["value"], of["b"]["n_labels"]) == (
        "too_few_labels", None, 0
    )  # fmt: skip
    assert of["a"]["low"] < truth["label"].mean() < of["a"]["high"]
    text = printed(correction_blocks(found.tables()))
    assert "the pass rate cannot be corrected: too few labels" in text.replace("\n", " ")


def test_a_width_that_no_labels_reach_is_said(labels):
    frame, truth = judged()
    found = judgerel_ray.correct(frame, labels=labels(truth.head(80)), width=0.01)
    text = printed(correction_blocks(found.tables()))
    assert found.budget["needed"].to_list() == [None]
    assert "Where no number is given, labelling everything would not do" in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("column", ["benchmark", "criterion"])
def test_labels_say_of_which_of_several_things_of_one_name_they_are(labels, column):
    (frame_x, truth), (frame_y, _) = judged(60), judged(60, seed=1)
    x, y = (pl.lit(name).alias(column) for name in "xy")
    frame = pl.concat([frame_x.with_columns(x), frame_y.with_columns(y)])
    with pytest.raises(SweepError, match=f"say which {column} they are of: item 'q000'"):
        judgerel_ray.correct(frame, labels=labels(truth))

    def labelled(frame, truth):
        found = judgerel_ray.correct(frame, labels=labels(truth)).estimates
        return found.filter(estimate="labels_alone").drop_nulls("value")[column].to_list()

    assert labelled(frame, truth.with_columns(x)) == ["x"]
    early = pl.col("item_id") < "q030"
    of_x_alone = frame.filter((pl.col(column) == "x") | ~early)
    assert labelled(of_x_alone, truth.filter(early)) == ["x"]
