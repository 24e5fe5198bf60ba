"""What a cascade did, against counts made by hand."""

import polars as pl
import pytest

from judgerel_ray.analyses.panels.cascades import A_PERSON, WHOLE, cascaded_table
from judgerel_ray.analyses.panels.tables import CascadedShares

GOLD = pl.DataFrame(
    {"benchmark": ["b"] * 4, "item_id": list("pqrs"), "gold": ["1", "2", "3", None]}
)


def reply(item, judge, verdict, confidence, *, r=0, stage="choose", tokens=(10, 5), cost=None):
    return {
        "benchmark": "b", "template": "t", "temperature": 1.0, "item_id": item, "judge": judge,
        "stage": stage, "replication": r, "verdict": verdict, "confidence": confidence,
        "prompt_tokens": tokens[0], "completion_tokens": tokens[1], "cost": cost,
    }  # fmt: skip


def told(*rows, order=("s", "m"), threshold=0.5):
    frame = pl.DataFrame(rows, schema_overrides={"cost": pl.Float64}, infer_schema_length=None)
    table = cascaded_table(frame, GOLD, order=order, threshold=threshold)
    return {row["asked"]: row for row in table.to_dicts()}


ROWS = (
    reply("p", "s", "1", 0.9), reply("p", "s", None, None, stage="select"),
    reply("q", "s", "2", 0.4), reply("r", "s", None, None), reply("s", "s", "1", 0.5),
    reply("q", "m", "1", 0.8), reply("r", "m", "3", 0.2),
)  # fmt: skip


def test_counts_are_those_of_the_answers_that_counted():
    found = told(*ROWS)
    assert list(found) == ["s", "m", A_PERSON, WHOLE]
    seen = {
        name: (row["n_asked"], row["n_answered"], row["n_right"]) for name, row in found.items()
    }
    # The answer to s counts as answered; nobody knows whether it is right.
    assert seen == {"s": (4, 2, 1), "m": (2, 1, 0), A_PERSON: (1, 0, 0), WHOLE: (4, 3, 1)}
    assert found["s"]["accuracy"] == 1.0
    assert found[WHOLE]["accuracy"] == 0.5
    assert found[WHOLE]["answered"] == 0.75


def test_what_was_spent_is_of_a_mean_question_put_to_the_cascade():
    found = told(*ROWS)
    assert found["s"]["spent"] == pytest.approx(15 * 5 / 4)
    assert found["m"]["spent"] == pytest.approx(15 * 2 / 4)
    assert found[WHOLE]["spent"] == pytest.approx(found["s"]["spent"] + found["m"]["spent"])
    assert found[WHOLE]["unit"] == "tokens"
    priced = told(*(row | {"cost": 2.0} for row in ROWS))
    assert (priced[WHOLE]["spent"], priced[WHOLE]["unit"]) == (3.5, "cost")
    silent = told(*(row | {"prompt_tokens": None} for row in ROWS))
    assert (silent[WHOLE]["spent"], silent[WHOLE]["unit"]) == (None, None)


def test_the_order_of_rows_is_nothing_and_replications_are_of_one_question():
    again = [row | {"replication": 1} for row in ROWS]
    found = told(*ROWS, *again)
    assert found == told(*reversed([*ROWS, *again]))
    assert found[WHOLE]["n_questions"] == 4
    assert found[WHOLE]["n_asked"] == 8
    assert found["s"]["interval"] == "by 1 questions"
    # Asked twice, questions are no more than they were.
    assert found[WHOLE]["answered_low"] <= told(*ROWS)[WHOLE]["answered_low"]


def test_a_cascade_that_nobody_answered_has_no_accuracy():
    found = told(reply("p", "s", "1", 0.1), reply("p", "m", "1", None))
    assert found[WHOLE]["accuracy"] is None
    assert found[A_PERSON]["n_asked"] == 1
    assert set(found[WHOLE]) == set(CascadedShares.columns)


def test_answers_shuffled_across_questions_are_the_floor():
    found = told(reply("p", "s", "1", 0.9), reply("q", "s", "2", 0.9), reply("r", "s", "3", 0.9))
    assert found["s"]["accuracy"] == 1.0
    assert found["s"]["noise_floor"] == pytest.approx(1 / 3)


def test_a_step_that_was_never_sent_costs_nothing_and_hides_no_cost():
    unsent = reply("s", "m", None, None, tokens=(None, 0))
    found = told(*ROWS, unsent)
    assert found[WHOLE]["unit"] == "tokens"
    assert found["m"]["spent"] == pytest.approx(15 * 2 / 4)
    priced = told(*(row | {"cost": 2.0} for row in ROWS), unsent)
    assert (priced[WHOLE]["spent"], priced[WHOLE]["unit"]) == (3.5, "cost")
