"""Accuracy beside reliability: by group and by question, whatever is missing."""

import polars as pl
import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.measuring.correctness import correctness_by_question
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats.agreement.agreement import CORRECTNESS

TOLD = {
    "judge": ["j"] * 8,
    "item_id": ["q"] * 4 + ["r"] * 4,
    "replication": [0, 1, 2, 3] * 2,
    "verdict": ["A", "A", "B", None, "B", "B", "B", "B"],
    "gold": ["A"] * 4 + ["C"] * 4,
}


def values(rows, **options):
    found = reduce_judgments(pl.LazyFrame(rows), coefficients=CORRECTNESS, **options)
    return {(row["coefficient"], row["missing"]): row for row in found.iter_rows(named=True)}


def test_no_verdict_is_wrong_or_left_out():
    found = values(TOLD)
    value = {key: row["value"] for key, row in found.items()}
    assert value["accuracy", "category"] == 2 / 8
    assert value["accuracy", "drop"] == 2 / 7
    # q: of 6 pairs 1 is right and none agrees on wrong; of 3 pairs 1. r is steady and wrong.
    assert value["agreement_right", "category"] == pytest.approx(1 / 12)
    assert value["agreement_right", "drop"] == pytest.approx(1 / 6)
    assert value["agreement_wrong", "drop"] == pytest.approx(1 / 2)
    assert value["majority_accuracy", "drop"] == 1 / 2
    assert found["accuracy", "drop"]["n_missing"] == 1
    assert all(row["noise_floor"] is None for row in found.values())


def test_right_and_wrong_agreement_sum_to_agreement():
    names = [*CORRECTNESS[2:], "percent_agreement"]
    found = reduce_judgments(pl.LazyFrame(TOLD), coefficients=names, missing=["drop"])
    value = dict(found.select("coefficient", "value").rows())
    total = value["agreement_right"] + value["agreement_wrong"]
    assert total == pytest.approx(value["percent_agreement"])


def test_every_question_has_its_row():
    found = correctness_by_question(pl.LazyFrame(TOLD), missing="drop")
    q, r = found.iter_rows(named=True)
    assert (q["item_id"], q["n_judgments"], q["accuracy"]) == ("q", 3, pytest.approx(2 / 3))
    # Two of three: the exact interval of Clopper and Pearson.
    assert (q["low"], q["high"]) == (
        pytest.approx(0.0943, abs=1e-4),
        pytest.approx(0.9916, abs=1e-4),
    )
    assert (r["accuracy"], r["agreement_wrong"], r["majority_right"]) == (0.0, 1.0, 0.0)
    assert found["undefined"].to_list() == [None, None]


def test_silence_is_said_beside_the_agreement_of_a_question():
    verdicts = ["A", None, None, None, "B", "B", None, None]
    found = correctness_by_question(pl.LazyFrame({**TOLD, "verdict": verdicts}))
    assert found["undefined"].to_list() == ["few_verdicts", None]
    rows = {**TOLD, "verdict": [None] * 8}
    unknown = pl.LazyFrame({name: value for name, value in rows.items() if name != "gold"})
    unknown = unknown.with_columns(pl.col("verdict").cast(pl.String))
    assert correctness_by_question(unknown)["undefined"].to_list() == ["no_gold; few_verdicts"] * 2
    assert set(correctness_by_question(unknown, missing="drop")["undefined"]) == {"no_verdicts"}


def test_questions_without_gold_keep_their_agreement():
    rows = {**TOLD, "gold": [None] * 4 + ["C"] * 4}
    q, r = correctness_by_question(pl.LazyFrame(rows)).iter_rows(named=True)
    assert (q["accuracy"], q["low"], q["agreement_right"]) == (None, None, None)
    assert (q["undefined"], q["percent_agreement"]) == ("no_gold", pytest.approx(1 / 6))
    assert (r["undefined"], r["accuracy"]) == (None, 0.0)
    bare = correctness_by_question(pl.LazyFrame({k: v for k, v in TOLD.items() if k != "gold"}))
    assert bare["undefined"].to_list() == ["no_gold"] * 2
    assert values(rows)["accuracy", "drop"]["value"] == 0.0


def test_no_gold_at_all_says_so_and_no_column_is_refused():
    found = values({**TOLD, "gold": pl.Series([None] * 8, dtype=pl.String)})
    assert {row["undefined"] for row in found.values()} == {"no_gold"}
    with pytest.raises(SweepError, match="expected a column 'gold'"):
        values({k: v for k, v in TOLD.items() if k != "gold"})


def test_scores_are_right_by_number():
    rows = {"item_id": ["q"] * 2, "replication": [0, 1], "score": [4.0, 3.0], "gold": ["4", "4"]}
    assert values(rows)["accuracy", "category"]["value"] == 0.5


def test_the_order_of_rows_does_not_matter():
    frame = pl.DataFrame(TOLD)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    one, other = (correctness_by_question(rows.lazy()) for rows in (frame, shuffled))
    assert one.equals(other)
