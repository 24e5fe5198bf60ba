"""Numbers that schroeder2024 printed, by name: from hand-made judgments and from the recordings."""

import re
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.core.papers import PUBLISHED
from judgerel_ray.importers import import_schroeder2024
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.papers import published

FIVE = ("min", "q1", "median", "q3", "max")
IRR = ["schroeder2024_irr", "schroeder2024_irr_never_agrees", "schroeder2024_irr_left_out"]
ACCURACY = ["schroeder2024_accuracy", "schroeder2024_accuracy_monte_carlo"]
JUDGED = pl.LazyFrame(
    # Replication 0: both say B of q, nothing of r. Replication 1: B and C of q, nothing and A of r.
    {
        "judge": ["x"] * 4 + ["y"] * 4,
        "item_id": ["q", "q", "r", "r"] * 2,
        "replication": [0, 1] * 4,
        "verdict": ["B", "B", None, None, "B", "C", None, "A"],
    }
)


def reduced(rows, names, **options):
    found = reduce_judgments(rows, coefficients=names, **options)
    return {row["coefficient"]: row for row in found.iter_rows(named=True)}


def test_agreement_between_judges_is_by_replication_and_rule():
    found = reduced(JUDGED, IRR, by=[])
    five = {name: [found[f"{name}_{one}"]["value"] for one in FIVE] for name in IRR}
    # Replication 0 agrees on 2 of 2 questions, replication 1 on none; none of r is an answer.
    assert five["schroeder2024_irr"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert five["schroeder2024_irr_never_agrees"] == [0.0, 0.125, 0.25, 0.375, 0.5]
    assert five["schroeder2024_irr_left_out"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert all(row["missing"] is None and row["low"] is None for row in found.values())


def test_a_group_of_one_judge_has_no_agreement_between_judges():
    found = reduce_judgments(JUDGED, coefficients=IRR[:1])
    assert found["undefined"].to_list() == ["single_judge"] * 10
    assert found["value"].null_count() == 10


@pytest.mark.parametrize(
    ("verdicts", "names", "undefined"),
    [
        (["7", "8"], ["schroeder2024_irr"], "no_letter_codes"),
        (["A", "B"], ACCURACY, "no_right_and_wrong"),
        (["A", "B"], ["schroeder2024_right_answers"], "no_right_and_wrong"),
        ([None, None], ["schroeder2024_irr_left_out"], "no_pair_of_answers"),
    ],
)
def test_what_cannot_be_told_says_why(verdicts, names, undefined):
    told = {"judge": ["x", "y"], "item_id": ["q"] * 2, "replication": [0] * 2, "verdict": verdicts}
    found = reduced(pl.LazyFrame(told), names, by=[])
    assert {row["undefined"] for row in found.values()} == {undefined}


def test_accuracy_has_an_interval_for_each_of_its_errors():
    told = {
        "item_id": ["q", "q", "r", "r"],
        "replication": [0, 1] * 2,
        "verdict": ["correct", "correct", "incorrect", "correct"],
    }
    found = reduced(pl.LazyFrame(told), ACCURACY)
    by_question, by_replication = (found[name] for name in ACCURACY)
    assert by_question["value"] == by_replication["value"] == 0.75
    # Questions 1 and .5, replications .5 and 1: both standard errors .25, so t of 1 over .25.
    assert (by_question["low"], by_question["high"]) == (0.0, 1.0)
    assert "sampling s.e. (other questions might have been asked) 0.25" in by_question["estimator"]
    assert "Monte-Carlo s.e. (as printed) 0.25" in by_replication["estimator"]
    assert "WARNING: Monte-Carlo error only" in by_replication["estimator"]


def test_a_judge_that_never_wavers_has_no_monte_carlo_error():
    told = {
        "item_id": ["q", "q", "r", "r"],
        "replication": [0, 1] * 2,
        "verdict": ["correct", "correct", "incorrect", "incorrect"],
    }
    found = reduced(pl.LazyFrame(told), ACCURACY)["schroeder2024_accuracy_monte_carlo"]
    assert (found["value"], found["low"], found["high"]) == (0.5, None, None)
    assert "no interval: replications all alike" in found["estimator"]


def test_right_answers_state_their_rule():
    told = pl.LazyFrame(
        {
            "item_id": ["q", "q", "r", "r"],
            "replication": [0] * 4,
            "responder": ["m", "n"] * 2,
            "definition": ["whole words"] * 4,
            "verdict": ["correct", "correct", "incorrect", "incorrect"],
        }
    )
    found = reduced(told, ["schroeder2024_right_answers"])
    values = [found[f"schroeder2024_right_answers_{one}"]["value"] for one in FIVE]
    assert values == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert "no interval" not in found["schroeder2024_right_answers_min"]["estimator"]
    assert (
        found["schroeder2024_right_answers_min"]["estimator"]
        == "verdicts that say correct, by question; rule: whole words"
    )


def test_all_that_was_published_has_its_name():
    written = Path(published.__file__).read_text(encoding="utf-8")
    named = set(re.findall(r'"(schroeder2024_[a-z_]+)"', written))
    assert set(PUBLISHED) == named


@pytest.mark.slow
def test_table_1_of_two_judges(recordings):
    rows = pl.concat(
        import_schroeder2024(str(recordings / f"seed000/judgments_{name}.parquet"))
        for name in ("starling", "llama3")
    ).lazy()
    rows = rows.filter((pl.col("temperature") == 0.25) & (pl.col("benchmark") == "bbh"))
    found = reduced(rows, IRR, by=["benchmark", "temperature"])
    for name in IRR:
        print(name, *(f"{found[f'{name}_{one}']['value']:.3f}" for one in FIVE))
    medians = [found[f"{name}_median"]["value"] for name in IRR]
    # Most of what judges agree on is to give no answer.
    assert medians[1] < medians[0] / 2 < medians[2]


@pytest.mark.slow
def test_table_4_by_both_rules(recordings):
    found = reduce_judgments(
        import_schroeder2024(str(recordings / "seed000")).lazy(),
        coefficients=["schroeder2024_right_answers"],
    )
    five = {
        key: rows["value"].to_list()
        for key, rows in found.group_by("judge", "benchmark", maintain_order=True)
    }
    for key, numbers in five.items():
        print(*key, *numbers)
    assert five == {
        ("as_coded", "bbh"): [0, 0, 0, 1, 2],
        ("as_coded", "squad"): [3, 5, 5, 5, 5],
        ("whole_answer", "bbh"): [0, 0, 1, 2, 5],
        ("whole_answer", "squad"): [0, 1, 3, 4.25, 5],
    }


@pytest.mark.slow
def test_tables_5_and_6(recordings):
    rows = import_schroeder2024(str(recordings / "seed000/head_to_tail_starling.parquet")).lazy()
    found = reduced(rows, [*ACCURACY, "schroeder2024_omega"])
    by_question, by_replication = (found[name] for name in ACCURACY)
    omega = found["schroeder2024_omega"]
    for row in (by_question, by_replication, omega):
        print(row["coefficient"], row["value"], row["low"], row["high"], row["estimator"])
    assert round(by_question["value"], 6) == round(by_replication["value"], 6) == 0.039603
    assert "0.0051" in by_question["estimator"]
    assert "0.00037" in by_replication["estimator"]
    # The paper's intervals are even about the share; below it, ours is (decision 021).
    wide, narrow = (row["value"] - row["low"] for row in (by_question, by_replication))
    assert wide / narrow == pytest.approx(13.7, abs=0.3)
    assert by_question["high"] - by_question["value"] > wide
    assert omega["value"] == pytest.approx(0.9901193738, abs=1e-6)
    assert omega["noise_floor"] == pytest.approx(0.9895, abs=0.001)
