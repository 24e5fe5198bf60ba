"""judgerel reduce on files made by hand: what people see, and what stands to a tolerance."""

import json
import re

import polars as pl
import pytest

from judgerel_ray.cli import main

TWELVE = """item_id,judge,replication,verdict,gold
q1,j,0,A,A
q1,j,1,A,A
q1,j,2,A,A
q2,j,0,B,B
q2,j,1,B,B
q2,j,2,A,B
q3,j,0,B,A
q3,j,1,B,A
q3,j,2,B,A
q4,j,0,A,B
q4,j,1,,B
q4,j,2,B,B
"""


@pytest.fixture
def twelve(tmp_path):
    path = tmp_path / "twelve.csv"
    path.write_text(TWELVE)
    return str(path)


def told(capsys, *arguments, verb="reduce"):
    assert main([verb, *arguments]) == 0
    return capsys.readouterr().out


def rows(capsys, *arguments, verb="reduce"):
    return json.loads(told(capsys, *arguments, "--format", "json", verb=verb))


def test_twelve_rows_print_a_table(twelve, capsys):
    out = told(capsys, twelve, "--full")
    assert out.startswith("judge: j\nunit: item_id\n")
    # Under "left out": A A A, B B A, B B B, A B; pairs agree 3/3, 1/3, 3/3, 0/1.
    assert "0.583" in out
    for word in ("Krippendorff's alpha", "agreement", "Gwet's AC1", "flip rate", "valid"):
        assert word in out
    assert not re.search(r"\bnan\b", out.lower())


def test_tolerances_are_judged_by_the_interval(twelve, capsys):
    asked = ["--coefficient", "valid_rate,flip_rate", "--missing", "drop"]
    asked += ["--tolerance", "valid_rate=0.2", "--tolerance", "flip_rate=0.5"]
    out = told(capsys, twelve, *asked)
    table = out[out.index("The whole confidence interval decides, never the point:") :]
    assert "0.2        meets" in table
    assert "0.5        undecided" in table
    found = {row["coefficient"]: row for row in rows(capsys, twelve, *asked)}
    # The point, .417, is below .5; the interval is not.
    assert found["flip_rate"]["value"] < 0.5 < found["flip_rate"]["high"]
    assert (found["flip_rate"]["tolerance"], found["flip_rate"]["standing"]) == (0.5, "undecided")
    assert found["valid_rate"]["standing"] == "meets"


def test_accuracy_stands_beside_agreement_by_group_and_by_question(twelve, capsys):
    names = "accuracy,agreement_right,agreement_wrong,percent_agreement"
    value = {
        row["coefficient"]: row["value"]
        for row in rows(capsys, twelve, "--coefficient", names, "--missing", "drop")
    }
    assert value["accuracy"] == pytest.approx(6 / 11)
    assert value["agreement_right"] + value["agreement_wrong"] == pytest.approx(
        value["percent_agreement"]
    )
    questions = rows(capsys, twelve, "--missing", "drop", verb="questions")
    assert [row["accuracy"] for row in questions] == [1, pytest.approx(2 / 3), 0, 0.5]
    assert [row["agreement_wrong"] for row in questions] == [0, 0, 1, 0]
    assert questions[2]["high"] == pytest.approx(0.7076, abs=1e-4)
    out = told(capsys, twelve, "--full", verb="questions")
    assert out.splitlines()[0].split()[:3] == ["judge", "item_id", "judgments"]
    assert len(out.splitlines()) == 5 + 2  # what agreement is of
    assert "same prompt (repeatability)" in out


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tolerance", "alpha=0.6"], "tolerance for 'alpha', expected one of"),
        (["--tolerance", "flip_rate"], "--tolerance must be NAME=VALUE"),
        (["--tolerance", "flip_rate=low"], "--tolerance must be a number"),
        (["--coefficient", "order_effect"], "needs the column option_order"),
    ],
)
def test_a_mistake_is_one_line(twelve, capsys, arguments, said):
    assert main(["reduce", twelve, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


# Every degenerate input of the statistics page, C4 and beside it: rows, call, coefficient, reason.
def csv(*lines, head="item_id,replication,verdict"):
    return "\n".join([head, *lines]) + "\n"


SCORES = "item_id,template,replication,score"


def scores(items):
    """Scores by template, one row a question."""
    table = [(f"q{i},{name},0,{v}") for name, given in items.items() for i, v in enumerate(given)]
    return csv(*table, head=SCORES)


ITEMS = {
    "constant": {"a": "012301", "b": "012412", "c": "023140", "d": "333333"},
    "all constant": {"a": "3333", "b": "3333", "c": "3333"},
    "opposed": {"a": "01234", "b": "43210"},
    "one reversed": {"a": "012345", "b": "113446", "c": "554210"},
    "two": {"a": "01234", "b": "02244"},
    "one negative": {
        "a": "01234567",
        "b": "01243657",
        "c": "10325476",
        "d": "34433445",
        "e": "54454343",
    },
    "wild": {"a": "012345", "b": "112445", "c": "531245"},
    "few subjects": {
        name: given
        for name, given in zip("abcdef", ("013", "024", "113", "014", "123", "033"), strict=True)
    },
    "too few for three factors": {"a": "012345", "b": "112445", "c": "531245"},
    "one subject": {"a": "1", "b": "2", "c": "4"},
}
GAPS = csv("q,a,0,1", "q,b,0,", "r,a,0,", "r,b,0,3", head=SCORES)
BY_TEMPLATE = ["--items", "template"]
DEGENERATE = {
    "one value": (csv("q,0,A", "q,1,A", "r,0,A", "r,1,A"), [], "krippendorff_alpha", "no variance"),
    "asked once": (csv("q,0,A", "r,0,B"), [], "krippendorff_alpha", "single replication"),
    "no verdicts": (csv("q,0,", "q,1,"), ["--missing", "drop"], "flip_rate", "no verdicts"),
    "one question": (csv("q,0,A", "q,1,B"), [], "percent_agreement", "too few units"),
    "always alike": (csv("q,0,A", "q,1,A", "r,0,B", "r,1,B", "s,0,A", "s,1,A", "t,0,B", "t,1,B"),
                     [], "gwet_ac1", "all 4 questions are unanimous"),
    "few for majorities": (csv("q,0,A", "q,1,A", "r,0,B", "r,1,A"), [], "majority_stability_3",
                           "too few replications"),
    "one question, icc": (csv("q,0,A", "q,1,B"), [], "icc1", "too few units"),
    "no scores": (csv("q,0,A", "q,1,B", "r,0,A", "r,1,B"), ["--measurement", "interval"],
                  "krippendorff_alpha", "no scores"),
    "no complete subject": (GAPS, BY_TEMPLATE, "cronbach_alpha", "too few"),
}  # fmt: skip
DISTINCT = {
    "constant": ("mcdonald_omega", "constant"),
    "all constant": ("cronbach_alpha", "no variance"),
    "opposed": ("mcdonald_omega", "non positive covariances"),
    "one reversed": ("mcdonald_omega", "non positive covariances"),
    "one negative": ("mcdonald_omega", "negative"),
    "two": ("mcdonald_omega", "two items: equal loadings assumed"),
    "wild": ("mcdonald_omega", "Heywood case"),
    "few subjects": ("mcdonald_omega", "Heywood case"),
    "too few for three factors": ("omega_hierarchical", "too few items"),
    "one subject": ("cronbach_alpha", "too few"),
}
DEGENERATE |= {
    name: (scores(ITEMS[name]), BY_TEMPLATE, *expected) for name, expected in DISTINCT.items()
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_input_prints_its_reason(tmp_path, capsys, name):
    content, arguments, coefficient, reason = DEGENERATE[name]
    path = tmp_path / "degenerate.csv"
    path.write_text(content)
    asked = [str(path), "--coefficient", coefficient, *arguments]
    both = told(capsys, *asked, "--format", "json,table")
    [row, *_], end = json.JSONDecoder().raw_decode(both)
    if row["undefined"]:
        assert (row["value"], row["low"], row["high"]) == (None, None, None)
    said = f"{row['undefined'] or ''}; {row['estimator']}".replace("_", " ")
    assert reason in said
    assert reason.casefold() in both[end:].replace("\n", " ").casefold()


@pytest.mark.slow
def test_questions_are_drawn_anew_by_a_seed(twelve, tmp_path, capsys):
    asked = ["--coefficient", "percent_agreement,accuracy,valid_rate", "--missing", "drop"]
    asked += ["--interval", "bootstrap", "--resamples", "500"]
    found = rows(capsys, twelve, *asked, "--seed", "7")
    head, *lines = TWELVE.splitlines()
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join([head, *lines[::-1]]))
    assert rows(capsys, str(turned), *asked, "--seed", "7") == found
    assert rows(capsys, twelve, *asked, "--seed", "8") != found
    for row in found:
        assert "percentile bootstrap, 500 resamples of 4 questions" in row["estimator"]
        assert (row["interval_method"], row["n_resamples"]) == ("percentile_bootstrap", 500)
        assert row["low"] <= row["value"] <= row["high"]
    plain = rows(capsys, twelve, *asked[:4])
    assert [row["value"] for row in plain] == [row["value"] for row in found]
    assert all("jackknife-t" in row["estimator"] for row in plain)
    assert {row["n_resamples"] for row in plain} == {None}


def test_codes_stand_in_every_format(twelve, tmp_path, capsys):
    found = rows(capsys, twelve, "--coefficient", "percent_agreement")
    assert {row["n_compared"] for row in found} == {4}
    assert any("few_informative_questions" in row["flags"] for row in found)
    for ending in ("csv", "parquet"):
        target = tmp_path / f"found.{ending}"
        assert (
            main(["reduce", twelve, "--coefficient", "percent_agreement", "--out", str(target)])
            == 0
        )
        read = pl.read_csv(target) if ending == "csv" else pl.read_parquet(target)
        for row, told in zip(read.to_dicts(), found, strict=True):
            for name in ("flags", "flag_numbers"):
                value = json.loads(row[name]) if ending == "csv" else row[name]
                assert value == told[name]
            assert row["interval_method"] == told["interval_method"]


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (
            ["--interval", "bayes"],
            "must be one of auto, jackknife, posterior, bootstrap, got 'bayes'",
        ),
        (["--seed", "1"], "resamples and seed are of the bootstrap alone. Try: --interval"),
        (["--interval", "bootstrap", "--resamples", "9"], "resamples must be at least 40, got 9"),
        (["--interval", "bootstrap", "--seed", "-1"], "seed must be at least 0, got -1"),
    ],
)
def test_a_wrong_choice_of_interval_is_one_line(twelve, capsys, flags, line):
    assert main(["reduce", twelve, *flags]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert line in err
