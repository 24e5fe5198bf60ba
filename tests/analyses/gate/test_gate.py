"""What a gate says of judgments, look by look."""

import json
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree as Xml

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.gate.from_run import gate_by_default
from judgerel_ray.analyses.gate.requirement import requirement, requirements
from judgerel_ray.analyses.gate.show import decisions, more_words, verdict_line
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.counting import snapshot as counting_snapshot
from judgerel_ray.counting.intervals import IntervalChoice
from judgerel_ray.measuring.reliability import ReduceOptions, reduce_judged
from judgerel_ray.stats import COEFFICIENTS, clopper_pearson
from judgerel_ray.stats.agreement.agreement import declaration
from tests.opening import snapshot

# Spellings of verdicts are nothing that a gate does, and most of the time it takes.
gate = partial(judgerel_ray.gate, exact_values=True)


def judged(n_items=30, n_replications=4, steady=0.9, *, seed=0, judge="j", valid=1.0):
    """Judgments of questions with a right answer, each kept with a probability."""
    rng = np.random.default_rng(seed)
    n = n_items * n_replications
    right = np.repeat(rng.choice(["a", "b"], n_items), n_replications)
    other = np.where(right == "a", "b", "a")
    verdict = np.where(rng.random(n) < steady, right, other)
    return pl.DataFrame({
        "judge": judge, "item_id": np.repeat([f"q{one}" for one in range(n_items)], n_replications),
        "replication": np.tile(np.arange(n_replications), n_items), "gold": right,
        "verdict": pl.Series(verdict).to_frame().select(
            pl.when(pl.Series(rng.random(n) < valid)).then(pl.first())
        ).to_series(),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("short", "name"),
    [("alpha", "krippendorff_alpha"), ("agreement", "percent_agreement"), ("kappa", "cohen_kappa")],
)
def test_a_requirement_may_use_the_names_of_the_short_answer(short, name):
    for before, after in (("", "where alpha = 3"), ("drop of ", "against alpha.csv")):
        sign = "<=" if before else ">="
        one = requirement(f"{before}{short} {sign} 0.3 {after}")
        assert (one.name, one.text) == (name, f"{before}{name} {sign} 0.3 {after}")
    with pytest.raises(SweepError, match=r"alpha >= 0\.3"):
        requirement("alpha > 0.3")
    found = gate(judged(n_items=12), require=f"{short} >= 0.3").requirements
    assert found.select("requirement", "coefficient").row(0) == (f"{name} >= 0.3", name)


def test_the_short_answer_of_two_judges_breaks_no_word_and_says_which_way_it_would_go():
    names = ["openai/gpt-4o-2024-11-20-with-a-long-name", "another/mini-2025-01-31-of-long-names"]
    rows = pl.concat([judged(60, 3, judge=names[0]), judged(30, 3, 0.8, judge=names[1], seed=2)])
    rules = ["krippendorff_alpha >= .62", "percent_agreement >= .8", "flip_rate <= .3",
             "valid_rate >= .95"]  # fmt: skip
    found = gate(rows, require=rules)
    text = found.as_text()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    cells = [line.split() for line in lines if line.startswith(("PASS  ", "FAIL  ", "open  "))]
    assert len(cells) == found.requirements.height == 8
    for row, words in zip(found.requirements.to_dicts(), cells, strict=True):
        assert " ".join(words[1:4]) == row["requirement"]
        assert words[0] == row["verdict"].replace("INCONCLUSIVE", "open")
    ways = {
        ("pass" if (row["value"] <= row["limit"]) is row["at_most"] else "fail",
         row["more_questions"])
        for row in found.requirements.to_dicts() if row["verdict"] == "INCONCLUSIVE"
    }  # fmt: skip
    assert {way for way, _ in ways} == {"pass", "fail"}
    joined = " ".join(text.split())
    for way, n in ways:
        assert f"would {way} with {n} more question" in joined
    assert "another order" not in joined


def test_what_is_unknown_is_a_single_row_where_no_column_makes_groups():
    rows = judged(n_items=12, valid=0.9).drop("judge", "gold")
    found = gate(rows).requirements
    assert found.filter(requirement="krippendorff_alpha >= .667").height == 2
    assert found.filter(requirement="reproducibility known").height == 1


@pytest.mark.parametrize(
    ("rule", "verdict", "code"),
    [
        ("percent_agreement >= .3", "PASS", 0),
        ("percent_agreement >= .99", "FAIL", 4),
        ("percent_agreement <= .99", "PASS", 0),
        ("flip_rate <= .01", "FAIL", 4),
        ("accuracy >= .9", "INCONCLUSIVE", 5),
    ],
)
def test_the_whole_confidence_interval_decides(rule, verdict, code):
    found = gate(judged(), require=rule)
    assert (found.verdict, found.exit_code) == (verdict, code)
    low, high, limit = found.requirements.select("low", "high", "limit").row(0)
    met, missed = (high <= limit, low > limit) if "<=" in rule else (low >= limit, high < limit)
    assert (met, missed) == (verdict == "PASS", verdict == "FAIL")


def test_one_failure_fails_all_and_each_group_counts():
    rows = pl.concat([judged(steady=0.97, judge="good"), judged(steady=0.6, judge="bad")])
    found = gate(rows, require=["accuracy >= .85", "valid_rate >= .5"])
    assert found.verdict == "FAIL"
    told = found.requirements.filter(requirement="accuracy >= .85").select("judge", "verdict")
    assert dict(told.rows()) == {"good": "PASS", "bad": "FAIL"}
    assert gate(rows, require="accuracy >= .85 where judge=good").verdict == "PASS"


def test_where_reads_numbers_as_numbers():
    rows = judged().with_columns(temperature=pl.lit(0.7))
    assert gate(rows, require="accuracy >= .5 where temperature=0.70").verdict == "PASS"
    with pytest.raises(SweepError, match=r"no group has temperature '1', expected one of 0\.7"):
        gate(rows, require="accuracy >= .5 where temperature=1")
    with pytest.raises(SweepError, match="names no column of the groups: 'criterion'"):
        gate(rows, require="accuracy >= .5 where criterion=style")


def test_asked_once_is_undecided_with_its_reason():
    found = gate(judged(n_replications=1), require="krippendorff_alpha >= .7")
    assert found.requirements.select("verdict", "reason").row(0) == (
        "INCONCLUSIVE", "single_replication",
    )  # fmt: skip


def test_repeats_at_temperature_0_are_not_the_judge_s():
    rows = judged().with_columns(temperature=pl.lit(0.0))
    found = gate(rows, require=["percent_agreement >= .1", "accuracy >= .1"])
    assert found.requirements["verdict"].to_list() == ["INCONCLUSIVE", "PASS"]


def test_few_verdicts_decide_nothing_of_agreement():
    found = gate(judged(valid=0.3), require=["percent_agreement >= .01", "valid_rate <= .5"])
    missing = found.requirements.filter(requirement="percent_agreement >= .01")
    assert set(missing["verdict"]) == {"INCONCLUSIVE"}
    assert set(missing["reason"]) == {"few_verdicts"}
    assert found.requirements.filter(requirement="valid_rate <= .5")["verdict"].item() == "PASS"


def test_where_all_questions_are_alike_the_interval_is_exact():
    found = gate(judged(n_items=80), require="valid_rate >= .95").requirements
    low, high, verdict = found.select("low", "high", "verdict").row(0)
    assert (low, high, verdict) == (clopper_pearson(80, 80).low, 1.0, "PASS")
    few = gate(judged(n_items=30), require="valid_rate >= .95").requirements
    more = few["more_questions"].item()
    assert clopper_pearson(30 + more, 30 + more).low >= 0.95
    assert clopper_pearson(29 + more, 29 + more).low < 0.95


def test_reproducibility_is_judged_where_it_is_known():
    """A judge that goes by place repeats itself: its repeatability must not pass for it."""
    n = 20
    rows = pl.DataFrame({
        "item_id": np.repeat([f"q{one}" for one in range(n)], 4),
        "option_order": np.tile([0, 0, 1, 1], n), "replication": np.tile([0, 1], 2 * n),
        "label": "A", "verdict": np.tile(["x", "x", "y", "y"], n),
    })  # fmt: skip
    steady = pl.col("item_id").is_in(["q0", "q7"])
    rows = rows.with_columns(
        verdict=pl.when(steady).then(pl.lit("x")).otherwise("verdict"),
        label=pl.when(steady & (pl.col("option_order") == 1))
        .then(pl.lit("B")).otherwise("label"),
    )  # fmt: skip
    found = gate(rows, require="percent_agreement >= .9").requirements
    assert found.select("conditions", "verdict").rows() == [("reproducibility", "FAIL")]


def repeated(verdicts, *, n=80, orders=1, labels=None):
    """Questions each asked twice in every order; verdicts and labels by question and order."""
    rows = [
        {"item_id": f"q{item}", "option_order": order, "replication": replication,
         "verdict": verdicts(item, order), **({"label": labels(item, order)} if labels else {})}
        for item in range(n) for order in range(orders) for replication in range(2)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides={"verdict": pl.String})
    return frame if orders > 1 else frame.drop("option_order")


def by_place(item, order):
    return "xy"[(item + order) % 2]


BY_DEFAULT = {
    # That a judge agrees with itself is all that is known: one that goes by the place does, too.
    "steady": (repeated(lambda item, _: "xy"[item % 2]), "INCONCLUSIVE",
               {"krippendorff_alpha": "PASS", "reproducibility": "INCONCLUSIVE",
                "valid_rate": "PASS"}),
    "steady and right": (judged(60, steady=1.0), "PASS", {"krippendorff_alpha": "PASS"}),
    "steady in both orders": (
        repeated(lambda item, _: "xy"[item % 2], orders=2, labels=lambda i, o: "AB"[(i + o) % 2]),
        "PASS", {},
    ),
    "noise": (judged(60, steady=0.5).drop("gold"), "FAIL", {"krippendorff_alpha": "FAIL"}),
    "right by chance": (judged(60, steady=0.5), "FAIL", {"accuracy": "FAIL"}),
    "steady and wrong": (
        judged(60, steady=1.0).with_columns(gold=pl.lit("a")), "FAIL",
        {"krippendorff_alpha": "PASS", "accuracy": "FAIL"},
    ),
    "constant": (repeated(lambda *_: "pass"), "INCONCLUSIVE", {}),
    "place": (repeated(by_place, orders=2, labels=lambda *_: "A"), "FAIL",
              {"swap_consistency": "FAIL"}),
    "place, one order": (repeated(by_place, labels=lambda *_: "A"), "INCONCLUSIVE", {}),
    "place, unknown": (repeated(lambda *_: "A", orders=2), "INCONCLUSIVE", {}),
    "empty": (repeated(lambda *_: None), "FAIL", {"valid_rate": "FAIL"}),
    "asked once": (judged(60, 1).drop("gold"), "INCONCLUSIVE", {}),
}  # fmt: skip


@pytest.mark.alike(3)
@pytest.mark.parametrize("kind", BY_DEFAULT)
def test_what_holds_where_nothing_is_required(kind):
    rows, verdict, parts = BY_DEFAULT[kind]
    found = gate(rows)
    assert found.verdict == verdict
    told = found.requirements.with_columns(of=pl.col("requirement").str.split(" ").list.first())
    assert {name: told.filter(of=name)["verdict"][0] for name in parts} == parts
    assert ("accuracy" in told["of"]) == ("gold" in rows.columns)


def test_a_requirement_has_its_value_without_missing_verdicts_beside_it():
    found = gate(judged(valid=0.8), require="percent_agreement >= .5")
    counted, left_out = found.requirements.iter_rows(named=True)
    assert [counted["missing"], left_out["missing"]] == ["category", "drop"]
    assert counted["verdict"] != left_out["verdict"] == "PASS"
    for text in (found.as_text(), found.as_markdown()):
        assert "left out: the value without missing verdicts" in " ".join(text.split())
        assert f"PASS {left_out['value']:.3f}" in text
        assert text.count(f"{counted['value']:.3f}") == 1
    alone = gate(judged(), require="valid_rate >= .5").as_text()
    assert not any(word in alone for word in ("missing", "counts", "left out"))


def test_repeatability_alone_passes_only_where_it_is_what_was_required():
    rows = repeated(lambda item, _: "xy"[item % 2])
    found = gate(rows)
    of = ["requirement", "verdict", "reason", "value"]
    alpha, unknown = found.requirements.head(2).select(of).rows()  # the interval itself passed
    assert alpha == ("krippendorff_alpha >= .667", "PASS", None, 1.0)
    assert unknown == ("reproducibility known", "INCONCLUSIVE", "repeatability_alone", None)
    assert (found.verdict, found.exit_code) == ("INCONCLUSIVE", 5)
    assert "ask again in another wording" in found.as_markdown()
    assert gate(rows, require="krippendorff_alpha >= .667").verdict == "PASS"


def test_agreement_of_a_judge_with_a_habit_meets_nothing():
    rows = repeated(by_place, labels=lambda *_: "A")
    found = gate(rows, require=["percent_agreement >= .5", "valid_rate >= .5"]).requirements
    assert found.select("verdict", "reason").rows() == [
        ("INCONCLUSIVE", "one_place"), ("PASS", None),
    ]  # fmt: skip
    constant = gate(repeated(lambda *_: "x"), require="percent_agreement >= .5").requirements
    assert constant["reason"].to_list() == ["one_answer"]


def test_alpha_of_a_judge_that_never_wavers_has_an_exact_interval():
    rows = repeated(lambda item, _: "xy"[item % 2], n=12)
    row = gate(rows, require="krippendorff_alpha >= .667").requirements.row(0, named=True)
    n_each = judgerel_ray.reduce(rows, coefficients="percent_agreement")["n_judgments"][0] // 2
    chance, least = (n_each - 1) / (2 * n_each - 1), clopper_pearson(12, 12).low
    assert row["low"] == pytest.approx(1 - (1 - least) / (1 - chance))
    assert (row["verdict"], row["high"]) == ("INCONCLUSIVE", 1.0)
    more = row["more_questions"]
    again = repeated(lambda item, _: "xy"[item % 2], n=14 + more)  # chance differs a little
    assert gate(again, require="krippendorff_alpha >= .667").verdict == "PASS"


@pytest.mark.slow
def test_the_tolerances_of_a_sweep_are_required():
    opened = snapshot(judgerel_ray.example("run"))
    opened = replace(opened, tolerance={"krippendorff_alpha": 0.1})
    options = ReduceOptions(intervals=IntervalChoice(with_errors=True))
    found = gate_by_default(opened, reduce_judged(opened, options))
    asked = set(found["requirement"])
    assert "krippendorff_alpha >= 0.1" in asked
    assert "krippendorff_alpha >= .667" not in asked


def test_a_drop_is_paired_and_the_baseline_s_less_ours(tmp_path):
    judged(60, steady=0.95).write_parquet(tmp_path / "baseline.parquet")
    judged(60, steady=0.7, seed=0).write_parquet(tmp_path / "worse.parquet")
    rule = f"accuracy <= .02 against {tmp_path}/baseline.parquet"
    worse = gate(tmp_path / "worse.parquet", require=f"drop of {rule}")
    assert worse.verdict == "FAIL"
    ours, theirs = (
        pl.read_parquet(tmp_path / name).select((pl.col("verdict") == pl.col("gold")).mean()).item()
        for name in ("worse.parquet", "baseline.parquet")
    )  # fmt: skip
    row = worse.requirements.row(0, named=True)
    assert row["value"] == pytest.approx(theirs - ours)
    assert row["baseline"] == pytest.approx(theirs)
    better = gate(tmp_path / "baseline.parquet",
                  require=f"drop of accuracy <= .02 against {tmp_path}/worse.parquet")  # fmt: skip
    assert better.verdict == "PASS"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["accuracy", "percent_agreement"])
def test_a_judge_that_the_baseline_does_not_have_does_not_pass(tmp_path, name):
    rows = judged(60, steady=0.95).with_columns(judge=pl.lit("old"))
    earlier = judged(60, steady=0.8).with_columns(judge=pl.lit("old"))
    earlier.write_parquet(tmp_path / "baseline.parquet")
    both = pl.concat([rows, rows.with_columns(judge=pl.lit("new"))])
    found = gate(both, require=f"drop of {name} <= .5 against {tmp_path}/baseline.parquet")
    assert found.verdict == "INCONCLUSIVE"
    told = {row["judge"]: (row["verdict"], row["reason"]) for row in found.requirements.to_dicts()}
    assert told == {"old": ("PASS", None), "new": ("INCONCLUSIVE", "no_baseline")}
    assert "the baseline has no judgments of this group" in " ".join(found.as_text().split())
    rule = f"drop of {name} <= .5 where judge=old against {tmp_path}/baseline.parquet"
    assert gate(both, require=rule).verdict == "PASS"


@pytest.mark.slow
def test_a_drop_of_agreement_is_that_of_compare(tmp_path):
    from judgerel_ray import compare

    judged(40, steady=0.97).write_csv(tmp_path / "baseline.csv")
    judged(40, steady=0.8, seed=1).write_csv(tmp_path / "now.csv")
    rule = f"drop of percent_agreement <= .01 against {tmp_path}/baseline.csv"
    row = gate(tmp_path / "now.csv", require=rule).requirements.row(0, named=True)
    expected = compare(tmp_path / "now.csv", tmp_path / "baseline.csv",
                       coefficients="percent_agreement").row(0, named=True)  # fmt: skip
    assert row["value"] == expected["difference"]
    assert row["low"] < expected["low"] < expected["high"] < row["high"]  # one question more
    assert row["verdict"] == "FAIL"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "name", [one for one in COEFFICIENTS if not declaration(one).chance_corrected]
)
def test_the_interval_of_a_share_that_is_alike_on_all_questions_is_exact(name):
    rule = f"{name} <= .5" if declaration(name).less_is_better else f"{name} >= .5"
    row = gate(judged(20, 22, steady=1.0), require=rule).requirements.row(0, named=True)
    exact = clopper_pearson(round(20 * row["value"]), 20)
    assert (row["low"], row["high"], row["verdict"]) == (exact.low, exact.high, "PASS")


def test_what_would_decide_decides():
    """Alpha of 24 questions is open; of as many more as are asked for it is decided."""
    rows = judged(24, 4, steady=0.93)
    row = gate(rows, require="krippendorff_alpha >= .6").requirements.row(0, named=True)
    assert row["verdict"] == "INCONCLUSIVE"
    assert row["more_questions"] > 0
    assert row["more_replications"] is None or row["more_replications"] > 0
    times = -(-row["more_questions"] // 24) + 1
    again = [rows.with_columns(pl.col("item_id") + f"-{k}") for k in range(times)]
    side = "PASS" if row["value"] > 0.6 else "FAIL"
    assert gate(pl.concat(again), require="krippendorff_alpha >= .6").verdict == side


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("alpha > .7", "a requirement is"),
        ("krippendorff_alpha >= seven", "must be a finite number, got 'seven'"),
        ("krippendorff_alpha >= 70", "must be at most 1"),
        ("accuracy >= -5", r"limit of accuracy must be at least 0, .*got -5.*Try: -0\.05, if -5 %"),
        ("krippendorff_alpha >= -1.5", "must be at least -1"),
        (
            "drop of accuracy <= 2 against x.csv",
            r"a drop of accuracy must be at most 1.*Try: 0\.02",
        ),
        ("drop of valid_rate <= 1.5 against x.csv", "must be at most 1"),
        ("drop of krippendorff_alpha <= 2.5 against x.csv", "must be at most 2"),
        ("drop of flip_rate >= -5 against x.csv", r"must be at least -1.*Try: -0\.05, if -5 %"),
        ("valid_rate >= 99.5 % where judge=j", "percentage .*>= 0.995 where judge=j"),
        ("drop of accuracy <= .02", "a drop needs a baseline"),
        ("accuracy <= .02 against x.csv", "a drop needs a baseline"),
        ("accuracy >= .5 where judge", "where is written COL=VALUE"),
        (
            "krippendorf_alpha >= .7",
            "unknown coefficient 'krippendorf_alpha'.*: krippendorff_alpha",
        ),
        ("FLIP_RATE <= .1", "unknown coefficient.*Try: flip_rate"),
        ("accuracy >= .5 where judge=J", "no group has judge 'J', expected one of j"),
        ("cronbach_alpha >= .7", "cronbach_alpha is not gated"),
        ("drop of majority_accuracy <= .1 against x.csv", "a drop of majority_accuracy"),
    ],
)
def test_a_wrong_requirement_is_refused(rule, says):
    with pytest.raises(SweepError, match=says):
        gate(judged(), require=rule)


@pytest.mark.parametrize(
    "rule",
    [
        "krippendorff_alpha >= -.2", "drop of krippendorff_alpha <= 1.5 against x.csv",
        "drop of position_bias >= -1.5 against x.csv", "standard_error <= 3",
        "drop of accuracy <= -.02 against x.csv",
    ],
)  # fmt: skip
def test_a_limit_that_values_can_be_beyond_is_taken(rule):
    assert requirement(rule).text == rule


def test_rules_stand_in_a_file(tmp_path):
    rules = tmp_path / "gate.toml"
    rules.write_text("[gate]\nrequire = ['valid_rate >= .5']\n")
    assert gate(judged(), rules=rules).verdict == "PASS"
    assert [one.text for one in requirements(["flip_rate <= .5"], str(rules))] == [
        "flip_rate <= .5", "valid_rate >= .5",
    ]  # fmt: skip
    for text, says in (
        ("", "has no table"), ("[gate]\nneed = []", "got need"), ("[gate]\nrequire = 3", "a list"),
        ("[gate", "cannot be read"),
    ):  # fmt: skip
        rules.write_text(text)
        with pytest.raises(SweepError, match=says):
            gate(judged(), rules=rules)
    rules.write_text("\ufeff[gate]\nrequire = ['valid_rate >= .5']\n", encoding="utf-8")
    assert gate(judged(), rules=rules).verdict == "PASS"
    rules.write_text("[gate]\nrequire = []\n")
    with pytest.raises(SweepError, match="requires nothing"):
        gate(judged(), rules=rules)
    with pytest.raises(SweepError, match="given twice"):
        gate(judged(), require=["valid_rate >= .5", "valid_rate  >= .5"])


def test_what_is_printed_is_parsed_back():
    rows = judged(judge="a|b<script>`x`\ufffe]]>\n::error::$x$ &lt;@me")
    found = gate(rows, require=["percent_agreement >= .99", "accuracy >= .9"])
    told = json.loads(found.as_json())
    assert (told["verdict"], told["exit_code"], len(told["requirements"])) == ("FAIL", 4, 2)
    suite = Xml.fromstring(found.as_junit())
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == (
        "2", "1", "1",
    )  # fmt: skip
    lines = found.as_markdown().splitlines()
    assert lines[0] == "### Judge gate: FAIL: 1 missed, 1 open, of 2"
    cells = {line.replace("\\|", "").count("|") for line in lines if line.startswith("|")}
    assert len(cells) == 1
    told = found.as_markdown()
    assert not any(acts in told for acts in ("<script>", "\n::", " &lt;", "n::error::$", "]]>"))


def test_text_of_a_requirement_survives_its_spaces():
    found = requirement(
        "  drop of  accuracy<=.02 where judge = a b , criterion=c against my file.csv "
    )
    assert (found.name, found.limit, found.against) == ("accuracy", 0.02, "my file.csv")
    assert dict(found.where) == {"judge": "a b", "criterion": "c"}


def test_an_interval_that_ends_at_a_bound_needs_no_fewer_questions():
    """Of a flip rate that ends at 0 the way down is no measure of how wide the interval is."""
    rows = judged(8, 4, steady=0.9)
    row = gate(rows, require="flip_rate >= .01").requirements.row(0, named=True)
    assert (row["verdict"], row["low"]) == ("INCONCLUSIVE", 0.0)
    assert row["more_questions"] > 2


def test_a_value_of_where_may_hold_commas():
    asked = requirement("flip_rate <= .1 where judge=a, big (v2), temperature=1")
    assert dict(asked.where) == {"judge": "a, big (v2)", "temperature": "1"}


def test_serving_noise_is_said_in_a_sentence():
    rows = pl.DataFrame({
        "item_id": [f"q{i // 3}" for i in range(90)], "replication": [i % 3 for i in range(90)],
        "temperature": [0.0] * 90, "verdict": ["x" if i % 7 else "y" for i in range(90)],
    })  # fmt: skip
    found = gate(rows, require="flip_rate <= .1")
    assert found.requirements["reason"].to_list() == ["serving_noise"]
    for text in (found.as_text(), found.as_markdown()):
        assert "how steady the server is, not how" in " ".join(text.split())


def drop_of(name, rows, earlier, limit, folder):
    """The one row of a drop against judgments put into a file."""
    earlier.write_parquet(folder / "baseline.parquet")
    rule = f"drop of {name} <= {limit} against {folder}/baseline.parquet"
    return gate(rows, require=rule).requirements.row(0, named=True)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", ["accuracy", "percent_agreement", "valid_rate"])
def test_a_drop_where_no_question_differs_has_an_exact_interval(tmp_path, name):
    rows = judged(60, steady=0.95)
    most = clopper_pearson(0, 60).high
    row = drop_of(name, rows, rows, 0.06, tmp_path)
    assert (row["verdict"], row["low"], row["high"]) == ("PASS", -most, most)
    row = drop_of(name, rows, rows, 0.02, tmp_path)
    assert (row["verdict"], row["reason"]) == ("INCONCLUSIVE", "interval_crosses_limit")
    more = row["more_questions"]
    assert clopper_pearson(0, 60 + more).high <= 0.02 < clopper_pearson(0, 59 + more).high


def test_a_drop_on_few_questions_is_not_called_small(tmp_path):
    """One question of 40 wavers: Student's t ends at .019, and three in forty may be lost."""
    earlier = judged(40, steady=1.0)
    wavers = (pl.col("item_id") == "q3") & (pl.col("replication") == 0)
    other = pl.when(pl.col("gold") == "a").then(pl.lit("b")).otherwise(pl.lit("a"))
    rows = earlier.with_columns(verdict=pl.when(wavers).then(other).otherwise("verdict"))
    row = drop_of("accuracy", rows, earlier, 0.05, tmp_path)
    assert row["value"] == pytest.approx(0.25 / 40)
    assert row["verdict"] == "INCONCLUSIVE"
    assert row["high"] > 0.05


def test_a_class_that_a_judge_never_names_does_not_pass_for_it():
    other = judged(60, judge="k").with_columns(pl.col("verdict").replace({"a": "c"}))
    found = gate(pl.concat([judged(60), other]), require="class_agreement:a >= .3")
    told = {row["judge"]: (row["verdict"], row["reason"]) for row in found.requirements.to_dicts()}
    assert told == {"j": ("PASS", None), "k": ("INCONCLUSIVE", "never_given")}
    assert "names this verdict" in found.as_text()


def test_more_questions_are_those_that_count():
    """Of 60 questions three have a right verdict: three more decide, and not one."""
    known = pl.when(pl.col("item_id").is_in(["q1", "q2", "q3"])).then("gold")
    rows = judged(60, steady=1.0).with_columns(gold=known)
    row = gate(rows, require="accuracy >= .5").requirements.row(0, named=True)
    assert (row["n_items"], row["n_compared"], row["more_questions"]) == (60, 3, 3)
    assert clopper_pearson(6, 6).low >= 0.5 > clopper_pearson(5, 5).low
    text = " ".join(gate(rows, require="accuracy >= .5").as_text().split())
    assert "3 more questions like the 3 counted" in text
    twice = judged(60, steady=0.8).filter((pl.col("replication") == 0) | pl.col("item_id").is_in(
        [f"q{one}" for one in range(12)]))  # fmt: skip
    rules = ["flip_rate <= .5", "flip_rate <= .3"]
    for few, many in zip(
        gate(twice.filter(pl.len().over("item_id") > 1), require=rules).requirements.to_dicts(),
        gate(twice, require=rules).requirements.to_dicts(),
        strict=True,
    ):
        assert few["more_questions"] == many["more_questions"]


def test_of_one_question_no_advice_is_given_that_does_not_hold(tmp_path):
    rows = judged(20, steady=1.0)
    others = pl.col("item_id") != "q0"
    earlier = rows.with_columns(
        item_id=pl.when(others).then(pl.col("item_id") + "x").otherwise("item_id")
    )
    row = drop_of("accuracy", rows, earlier, 0.02, tmp_path)
    assert (row["n_compared"], row["more_questions"]) == (1, None)
    assert more_words(row) == "more than one question"


def test_signs_may_be_those_of_print_and_a_mistake_is_mended_in_the_hint():
    asked = requirement("flip_rate \u2264 .5 where judge=\u2264 1")
    assert (asked.at_most, dict(asked.where)) == (True, {"judge": "\u2264 1"})
    assert not requirement("valid_rate\u2265.5").at_most
    for text, meant in (
        ("flip_rate < .1", "flip_rate <= .1"), ("valid_rate => .1", "valid_rate >= .1"),
        ("valid_rate == .1", "krippendorff_alpha >= .667"),
    ):  # fmt: skip
        with pytest.raises(SweepError) as error:
            requirement(text)
        assert error.value.hint == repr(meant)


def test_a_drop_that_a_worse_judge_meets_is_refused(tmp_path):
    for text, says in (
        ("drop of flip_rate <= .02 against x.csv", "less flip_rate is better"),
        ("drop of accuracy >= .02 against x.csv", "at least 0.02 is a loss"),
    ):
        with pytest.raises(SweepError, match=says):
            requirement(text)
    judged(60, steady=0.95).write_parquet(tmp_path / "baseline.parquet")
    rule = f"drop of flip_rate >= -.02 against {tmp_path}/baseline.parquet"
    assert gate(judged(60, steady=0.7), require=rule).verdict == "FAIL"
    assert "asks for more" in gate(judged(), require="flip_rate >= .01").as_text()
    assert "asks for more" not in gate(judged(), require="flip_rate <= .01").as_text()


@pytest.mark.slow
def test_a_drop_of_agreement_of_a_judge_with_a_habit_meets_nothing(tmp_path):
    """A judge of one answer agrees with itself more than the baseline."""
    constant = judged(60).with_columns(verdict=pl.lit("a"))
    row = drop_of("percent_agreement", constant, judged(60), 0.02, tmp_path)
    assert (row["verdict"], row["reason"]) == ("INCONCLUSIVE", "one_answer")
    assert row["high"] < 0.02
    assert drop_of("valid_rate", constant, judged(60), 0.07, tmp_path)["verdict"] == "PASS"
    both = pl.concat([constant, judged(60, judge="k")])
    earlier = pl.concat([judged(60, steady=0.8), judged(60, steady=0.6, judge="k")])
    earlier.write_parquet(tmp_path / "baseline.parquet")
    rule = f"drop of percent_agreement <= .02 against {tmp_path}/baseline.parquet"
    told = gate(both, require=rule).requirements.select("judge", "verdict").rows()
    assert sorted(told) == [("j", "INCONCLUSIVE"), ("k", "PASS")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["percent_agreement", "icck"])
def test_a_drop_of_a_judge_that_follows_the_place_meets_nothing(name, tmp_path):
    """Which place it names is told by the verdicts, whatever the drop is of."""

    def slips(item, order):
        return item % 10 == order == 0

    place = repeated(
        lambda item, order: by_place(item, order + slips(item, order)), orders=2,
        labels=lambda item, order: "AB"[slips(item, order)],
    )  # fmt: skip
    reader = repeated(
        lambda item, _: "xy"[item % 2],
        orders=2,
        labels=lambda item, order: "AB"[(item + order) % 2],
    )
    assert drop_of(name, place, place, 0.9, tmp_path)["reason"] == "follows_place"
    assert drop_of(name, reader, reader, 0.9, tmp_path)["reason"] != "follows_place"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "why"),
    [("accuracy", "has no right verdict of them"), ("valid_rate", "was not asked them")],
)
def test_a_drop_says_which_questions_one_side_alone_has(name, why, tmp_path):
    rows = judged(30)
    earlier = rows.filter(~pl.col("item_id").is_in(["q3", "q7"])).with_columns(
        pl.col("item_id").replace("q9", "Q9")
    )
    earlier.write_parquet(tmp_path / "baseline.parquet")
    rule = f"drop of {name} <= .5 against {tmp_path}/baseline.parquet"
    with pytest.warns(ReadingWarning, match="differs in spelling alone.*'q9' and 'Q9'"):
        found = gate(rows, require=rule)
    counts = f"3 of the frame given, 1 of {tmp_path}/baseline.parquet"
    assert found.notes == (f"{rule}: questions left out, as the other side {why}: {counts}",)
    assert json.loads(found.as_json())["notes"] == [*found.notes]
    assert "questions left out" in " ".join(found.as_text().split())
    rows.write_parquet(tmp_path / "baseline.parquet")
    assert gate(rows, require=rule).notes == ()


def test_a_drop_of_accuracy_against_another_key_is_refused(tmp_path):
    rows = judged(30)
    turned = pl.col("gold").replace({"a": "b", "b": "a"})
    other = rows.with_columns(
        gold=pl.when(pl.col("item_id") == "q7").then(turned).otherwise("gold")
    )
    with pytest.raises(SweepError, match=r"differ between the two sides in 1 question \(q7: "):
        drop_of("accuracy", rows, other, 0.02, tmp_path)
    upper = rows.with_columns(pl.col("gold", "verdict").str.to_uppercase())
    assert drop_of("accuracy", rows, upper, 0.2, tmp_path)["verdict"] == "PASS"


def test_repeats_of_other_answers_are_not_called_the_same_prompt():
    for n_answers, of in ((4, "agreement of other answers"), (1, "agreement of the same prompt")):
        found = gate(judged().with_columns(n_answers=pl.lit(n_answers)),
                     require="percent_agreement >= .3")  # fmt: skip
        [decision] = decisions(found.requirements)
        line = "".join(span.text for span in verdict_line(decision, ["judge"]).spans)
        assert of in line
        assert ("its repeats judge other answers" in found.as_text()) == (n_answers > 1)
        assert json.loads(found.as_json())["requirements"][0]["flags"] is not None


def test_no_count_is_given_that_nobody_would_ask():
    """The value is so near the limit that millions of questions would be named."""
    rows = judged(40, 4, steady=0.8)
    value = gate(rows, require="flip_rate <= .9").requirements["value"].item()
    row = gate(rows, require=f"flip_rate <= {value + 1e-5}").requirements.row(0, named=True)
    assert (row["verdict"], row["more_questions"]) == ("INCONCLUSIVE", None)
    assert more_words(row) == "more than 100,000 questions"


@pytest.mark.slow
def test_more_replications_decide_about_as_often_as_not():
    rng = np.random.default_rng(7)
    decided = []
    while len(decided) < 30:
        verdicts = rng.random((30, 64)) < rng.beta(1, 1, (30, 1))
        rows = pl.DataFrame({
            "item_id": np.repeat([f"q{one}" for one in range(30)], 64),
            "replication": np.tile(np.arange(64), 30), "verdict": np.where(verdicts.ravel(), *"ab"),
        })  # fmt: skip
        few = rows.filter(pl.col("replication") < 3)
        more = gate(few, require="krippendorff_alpha >= .2").requirements["more_replications"][0]
        if more and more <= 61:
            rows = rows.filter(pl.col("replication") < 3 + more)
            decided.append(gate(rows, require="krippendorff_alpha >= .2").verdict)
    assert 0.4 <= np.mean([one != "INCONCLUSIVE" for one in decided]) <= 0.8


def test_requests_that_failed_are_said_beside_a_valid_rate_that_leaves_them_out():
    lost = pl.col("replication") < 2
    rows = judged(60).with_columns(
        outcome=pl.when(lost).then(pl.lit("failed")).otherwise(pl.lit("scored")),
        verdict=pl.when(~lost).then("verdict"),
    )
    found = gate(rows, require="valid_rate >= .9")
    assert found.verdict == "PASS"
    [note] = found.notes
    assert note.startswith("j: 120 of 240 requests failed")
    assert json.loads(found.as_json())["notes"] == [note]
    for text in (found.as_text(), found.as_markdown().replace("\\", ""), found.as_junit()):
        assert "120 of 240 requests failed" in " ".join(text.split())
    assert gate(judged(), require="valid_rate >= .9").notes == ()


@pytest.mark.slow
def test_every_file_is_opened_once_and_its_notes_come_once(tmp_path, monkeypatch, recwarn):
    """Several drops against one baseline read it as little as one does."""
    now, earlier = (judged(40, steady=steady) for steady in (0.95, 0.97))
    now.with_columns(pl.col("verdict").str.to_lowercase()).write_csv(tmp_path / "now.csv")
    earlier.write_csv(tmp_path / "earlier.csv")
    opened: list[str] = []
    tally_file = counting_snapshot.tally_file

    def counted(path, **how):
        opened.append(path)
        return tally_file(path, **how)

    monkeypatch.setattr(counting_snapshot, "tally_file", counted)
    names = ("percent_agreement", "krippendorff_alpha", "accuracy", "valid_rate")
    rules = [f"drop of {name} <= .5 against {tmp_path}/earlier.csv" for name in names]
    found = judgerel_ray.gate(tmp_path / "now.csv", require=["valid_rate >= .5", *rules])
    assert found.requirements.height == 5
    assert sorted(opened) == [str(tmp_path / "earlier.csv"), str(tmp_path / "now.csv")]
    notes = [str(one.message) for one in recwarn]
    assert len(notes) == len(set(notes))


def test_ratings_are_held_against_labels_by_weighted_kappa_by_default():
    """A point beside the label is no error as large as four, so accuracy is not what they miss."""
    rng = np.random.default_rng(4)
    latent = rng.uniform(size=60)
    rows = [
        {"judge": "j", "item_id": f"q{n}", "replication": k, "gold": round(1 + 4 * one),
         "score": float(np.clip(np.rint(1 + 4 * one + 0.35 * rng.normal()), 1, 5))}
        for n, one in enumerate(latent) for k in range(3)
    ]  # fmt: skip
    found = gate(pl.DataFrame(rows)).requirements
    known = dict(found.select("coefficient", "verdict").rows())
    assert "accuracy" not in known
    assert known["cohen_kappa"] == "PASS"
    kappa = found.row(by_predicate=pl.col("coefficient") == "cohen_kappa", named=True)
    assert kappa["requirement"] == "cohen_kappa >= .7"
    assert "reproducibility known" not in set(found["requirement"])  # right verdicts are known
    right = judgerel_ray.reduce(pl.DataFrame(rows), coefficients="accuracy")["value"].item()
    assert right < 0.8  # which the default for other verdicts would miss
    verdicts = gate(judged(n_items=12)).requirements["coefficient"].to_list()
    assert "accuracy" in verdicts
    assert "cohen_kappa" not in verdicts
