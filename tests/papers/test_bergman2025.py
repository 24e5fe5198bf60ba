"""Results of models that think twice and of their judges, as they were released."""

import os
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.importers import import_bergman2025, read_foreign_judgments
from judgerel_ray.measuring.correctness import correctness_by_question
from judgerel_ray.stats import auroc, clopper_pearson

RECORDED = Path(os.environ.get("JUDGEREL_DATA", "/nonexistent"), "seed004")
OPTIONS = "0. oak\n1. apple\n2. fir"
ALONE = {"first_prompt": "?", "first_response": "Option: 1", "second_response": "Final Answer: 1"}
JUDGED = {"model_responses": "...", "judge_prompt": "?", "judge_response": "Correct Answer: 1"}
OWN = {"judge_original_response": "Final Answer: 1", "judge_original_option_selected": "1"}
NAMES = {
    "responder": ("monolithic_lab_lab_m-1", ALONE),
    "participant": ("judge_participant_mode_lab_lab_m-1", {**JUDGED, **OWN}),
    "evaluator_only": ("judge_evaluator_only_mode_lab_lab_m-1", JUDGED),
}


def rows(texts, *, ids=(70, 71, 72), chosen=("1", "2", "0"), sure=("0.9", "0.85", "")):
    return pl.DataFrame(
        [
            {"": str(name), "question_id": str(name), "question": f"Which {name}?",
             "options": OPTIONS, "category": "biology", "correct_answer": "1", **texts,
             "selected_option": option, "reason": "so", "confidence": confidence}
            for name, option, confidence in zip(ids, chosen, sure, strict=True)
        ]
    )  # fmt: skip


def write(tmp_path, frame, name="monolithic_lab_lab_m-1.csv"):
    path = tmp_path / name
    frame.write_csv(path) if name.endswith(".csv") else frame.write_parquet(path)
    return str(path)


def answers(path, **given):
    """The rows of verdicts."""
    return import_bergman2025(path, **given).filter(pl.col("stage") != "select")


@pytest.mark.parametrize("role", NAMES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_each_file_says_whose_answers_it_holds(tmp_path, role, kind):
    name, texts = NAMES[role]
    whole = read_foreign_judgments("bergman2025", write(tmp_path, rows(texts), f"{name}.{kind}"))
    found = whole.filter(pl.col("stage") != "select")
    selected = whole.filter(pl.col("stage") == "select")
    assert selected.height == (3 if role == "responder" else 0)
    own = "m-1" if role == "responder" else None
    stage = "choose" if role == "responder" else "judge"
    assert found.select("judge", "role", "stage", "responder", "protocol").unique().rows() == [
        ("m-1", role, stage, own, "think_twice")
    ]
    assert found.select("item_id", "verdict", "label", "confidence", "outcome", "gold").rows() == [
        ("mmlu_pro:70", "1", "1", 0.9, "scored", "1"),
        ("mmlu_pro:71", "2", "2", 0.85, "scored", "1"),
        ("mmlu_pro:72", "0", "0", None, "scored", "1"),
    ]


def test_numbers_of_a_frame_with_holes(tmp_path):
    frame = rows(ALONE).with_columns(
        selected_option=pl.Series([1.0, float("nan"), 3.0]),
        confidence=pl.Series([0.5, 0.5, float("nan")]),
        question_id=pl.Series([70, 71, 72]),
    )
    found = answers(write(tmp_path, frame, "monolithic_claude.parquet"))
    assert found["judge"].unique().to_list() == ["claude"]
    assert found.select("verdict", "label", "confidence", "outcome").rows() == [
        ("1", "1", 0.5, "scored"), (None, None, None, "unparsed"), (None, "3", None, "off_menu"),
    ]  # fmt: skip


def test_a_number_that_was_not_on_offer_has_no_confidence(tmp_path):
    frame = rows(ALONE).with_columns(
        selected_option=pl.Series([1, 1, 3]), confidence=pl.Series([0.5, 0.5, 0.9])
    )
    found = answers(write(tmp_path, frame, "monolithic_claude.parquet"))
    assert found.select("label", "confidence", "outcome").row(2) == ("3", None, "off_menu")


def test_files_in_another_order_are_joined_by_question(tmp_path):
    one = write(tmp_path, rows(ALONE, ids=(70, 71, 72)))
    other = write(
        tmp_path, rows(ALONE, ids=(72, 70, 71), chosen=("0", "1", "2")), "monolithic_n.csv"
    )
    out = str(tmp_path / "both.parquet")
    assert main(["import", "bergman2025", one, other, "--out", out]) == 0
    both = tally_file(out).rows.collect()
    assert both.height == 12
    verdicts = both.filter(pl.col("stage") == "choose").pivot(
        "judge", index="item_id", values="verdict"
    )
    assert verdicts["m-1"].to_list() == verdicts["n"].to_list()


def test_name_and_role_may_be_stated(tmp_path, capsys):
    path = write(tmp_path, rows(JUDGED), "mine.csv")
    out = str(tmp_path / "out.parquet")
    assert main(["import", "bergman2025", path, "--out", out]) == 2
    assert "--role participant or --role evaluator_only" in capsys.readouterr().err
    flags = ["--role", "participant", "--judge", "claude"]
    assert main(["import", "bergman2025", path, "--out", out, *flags]) == 0
    assert pl.read_parquet(out).select("judge", "role").row(0) == ("claude", "participant")


@pytest.mark.parametrize(
    ("frame", "given", "message"),
    [
        (rows(ALONE), {"role": "participant"}, "the role is responder .* got 'participant'"),
        (rows({**JUDGED, **OWN}), {"role": "evaluator_only"}, "the role is participant"),
        (rows(ALONE), {"role": "juror"}, "role must be one of responder, participant"),
        (rows(JUDGED), {}, "neither columns nor name say"),
        (rows({**ALONE, **JUDGED}), {}, "or judge_response .* got both"),
        (rows({}), {}, "got neither"),
        (rows(ALONE).drop("confidence"), {}, "missing column confidence"),
        (rows(ALONE, ids=(70, 70, 71)), {}, "'mmlu_pro:70' stands twice"),
        (rows(ALONE, chosen=("x", "1", "1")), {}, "selected_option must be a number, got text 'x'"),
        (rows(ALONE, chosen=("1.5", "1", "1")), {}, "an option's number, got 1.5"),
        (rows(ALONE, sure=("85", "1", "1")), {}, "between 0 and 1, got 85"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, frame, given, message):
    path = write(tmp_path, frame)
    with pytest.raises(SweepError, match=message) as caught:
        import_bergman2025(path, **given)
    assert "\n" not in str(caught.value)


def test_whose_answers_they_are_must_be_known(tmp_path):
    with pytest.raises(SweepError, match="Try: --judge NAME"):
        import_bergman2025(write(tmp_path, rows(ALONE), "results.csv"))
    with pytest.raises(SweepError, match=r"of bergman2025, not of table.*--value judge=NAME"):
        read_foreign_judgments("table", "t.csv", judge="j")
    with pytest.raises(SweepError, match=r"expected .csv or .parquet, got .json"):
        import_bergman2025("results.json")


def test_what_was_selected_is_read_and_what_cannot_be_says_why(tmp_path):
    frame = rows(ALONE).with_columns(
        first_response=pl.Series(
            ["Option: 2\nJustification: so.\n\nOption: 0\nJustification: or so.", "Option: 7",
             "I would rather not say."]
        )
    )  # fmt: skip
    found = import_bergman2025(write(tmp_path, frame)).filter(pl.col("stage") == "select")
    assert found.select("verdict", "label", "outcome").rows() == [
        (None, "2,0", None), (None, None, "off_menu"), (None, None, "unparsed"),
    ]  # fmt: skip


def test_replies_may_be_read_again(tmp_path):
    texts = pl.Series(
        ["Final Answer: 0\nReason: so.\nConfidence: 0.7", "Final Answer: 8.9\nConfidence: 0.85",
         "Final Answer: 12\nConfidence: 0.9"]
    )  # fmt: skip
    alone = write(tmp_path, rows(ALONE).with_columns(second_response=texts))
    kept = answers(alone).select("verdict", "confidence", "outcome").rows()
    assert kept == [("1", 0.9, "scored"), ("2", 0.85, "scored"), ("0", None, "scored")]
    out = str(tmp_path / "again.parquet")
    assert main(["import", "bergman2025", alone, "--out", out, "--reread"]) == 0
    again = pl.read_parquet(out).filter(pl.col("stage") == "choose")
    assert again.select("verdict", "confidence", "outcome").rows() == [
        ("0", 0.7, "scored"), (None, None, "unparsed"), (None, None, "off_menu"),
    ]  # fmt: skip
    judged = rows(JUDGED).with_columns(
        judge_response=pl.lit("Evaluation Summary: -\nCorrect Answer: 2\nJudge Confidence: 0.5")
    )
    path = write(tmp_path, judged, "judge_evaluator_only_mode_m.csv")
    assert import_bergman2025(path, reread=True).select("verdict", "confidence").row(0) == (
        "2", 0.5,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif("JUDGEREL_DATA" not in os.environ, reason="JUDGEREL_DATA names no recordings")
def test_the_recorded_file_gives_the_published_accuracy():
    path = str(RECORDED / "monolithic_claude.parquet")
    found = answers(path)
    right = found["verdict"] == found["gold"]
    assert (found.height, int(right.sum())) == (600, 356)
    interval = clopper_pearson(356, 600)
    assert (round(interval.low, 5), round(interval.high, 5)) == (0.55282, 0.63293)
    told = auroc(found["confidence"].to_numpy(), right.to_numpy())
    assert round(told.value, 3) == 0.606
    assert correctness_by_question(found.lazy()).height == 600
    # One recorded reply is not the one that the recorded answer was read in.
    again = answers(path, reread=True)
    differs = again.filter(again["verdict"].ne_missing(found["verdict"]))
    assert differs.select("item_id", "outcome").rows() == [("mmlu_pro:10328", "unparsed")]
    selected = import_bergman2025(path).filter(pl.col("stage") == "select")
    assert selected["outcome"].null_count() == 598
