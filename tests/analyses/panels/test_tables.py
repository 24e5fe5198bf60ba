"""Panels of systems, against counting by hand and on the recorded predictions of MMLU-Pro."""

import os
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.panels.panels import panel_tables
from judgerel_ray.analyses.panels.voters import read_voters, rule_weights
from judgerel_ray.measuring.systems import read_systems

RECORDED = Path(os.environ.get("JUDGEREL_DATA", "/nonexistent"), "seed004")


def drawn(skills, *, n=200, seed=0, confident=True, options=4):
    """Judges that know so many answers and guess the others, and say how sure they are."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, options, n)
    parts = []
    for j, skill in enumerate(skills):
        knows = rng.random(n) < skill
        said = np.where(knows, gold, rng.integers(0, options, n))
        sure = np.round(np.where(knows, 0.8, 0.5) + 0.15 * rng.random(n), 2)
        parts.append(
            pl.DataFrame(
                {"item_id": [f"q{i}" for i in range(n)], "judge": f"j{j}", "replication": 0,
                 "verdict": said.astype(str), "gold": gold.astype(str),
                 "confidence": sure if confident else None}
            )
        )  # fmt: skip
    return pl.concat(parts).lazy()


def read(frame, **choice):
    return read_voters(read_systems(frame), frame, **choice)


def by_question(frame):
    """Verdicts and confidences by question and judge, and gold."""
    rows = frame.collect().to_dicts()
    gold = {row["item_id"]: row["gold"] for row in rows}
    said = {(row["item_id"], row["judge"]): row for row in rows}
    return gold, said


def vote(gold, said, judges, weight=lambda _: 1.0):
    """Mean share right of a panel's verdict, by a counter."""
    total = 0.0
    for item, right in gold.items():
        counts = Counter()
        for judge in judges:
            row = said[item, judge]
            if row["verdict"] is not None:
                counts[row["verdict"]] += weight(row)
        top = max(counts.values(), default=0)
        winners = [name for name, count in counts.items() if top > 0 and count > top - 1e-9]
        total += (right in winners) / max(1, len(winners))
    return total / len(gold)


def test_every_table_is_that_of_counting_by_hand():
    frame = drawn([0.3, 0.5, 0.6], n=80, seed=3)
    gold, said = by_question(frame)
    judges = ["j0", "j1", "j2"]
    found = panel_tables(read(frame))
    alone = [vote(gold, said, [judge]) for judge in judges]
    assert found.members["accuracy"].to_list() == pytest.approx(alone)
    rules = dict(found.panels.select("rule", "accuracy").iter_rows())
    assert rules["majority"] == pytest.approx(vote(gold, said, judges))
    confident = vote(gold, said, judges, lambda row: row["confidence"])
    assert rules["confidence"] == pytest.approx(confident)
    for size in (1, 2, 3):
        every = [vote(gold, said, some) for some in combinations(judges, size)]
        row = found.next.row(size - 1, named=True)
        assert row["accuracy"] == pytest.approx(np.mean(every))
        best = found.best.filter(pl.col("limit") == size).row(0, named=True)
        assert best["in_sample"] == pytest.approx(max(every))
    steps = found.next["accuracy"].to_list()
    assert found.next["gain"].to_list()[1:] == pytest.approx(np.diff(steps))


def test_the_order_of_rows_and_judges_changes_nothing():
    frame = drawn([0.3, 0.5, 0.6], n=40, seed=5)
    turned = frame.collect().sample(fraction=1.0, shuffle=True, seed=2).lazy()
    for one, other in zip(
        panel_tables(read(frame)).tables().values(),
        panel_tables(read(turned)).tables().values(),
        strict=True,
    ):
        assert one.equals(other)


def test_weights_by_accuracy_never_see_the_question_they_weigh():
    frame = drawn([0.2, 0.9], n=50, seed=7)
    [voters] = read(frame)
    weights = rule_weights(voters, "accuracy")
    turned = voters.votes_UJ.copy()
    turned[0] = (turned[0] + 1) % 4  # the first question's own answers
    changed = rule_weights(_with_votes(voters, turned), "accuracy")
    assert weights[0].tolist() == changed[0].tolist()
    assert (weights != changed).any()
    assert (weights[:, 1] > weights[:, 0]).all()


def _with_votes(voters, votes):
    from dataclasses import replace

    return replace(voters, votes_UJ=votes)


def test_without_confidences_votes_count_alike_or_by_accuracy():
    found = panel_tables(read(drawn([0.3, 0.5], n=30, confident=False)))
    assert found.panels["rule"].to_list() == ["majority", "accuracy"]


def test_a_member_that_states_no_confidence_keeps_its_vote():
    frame = drawn([0.9, 0.3, 0.3])
    mute = frame.with_columns(confidence=pl.when(pl.col("judge") != "j0").then("confidence"))
    assert "confidence" in panel_tables(read(frame)).panels["rule"].to_list()
    assert panel_tables(read(mute)).panels["rule"].to_list() == ["majority", "accuracy"]


def test_a_panel_that_gains_nothing_has_an_interval_and_the_single_best_has_none():
    frame = drawn([0.6], n=40)
    twins = pl.concat([frame.with_columns(judge=pl.lit(name)) for name in "ab"])
    found = panel_tables(read(twins))
    [row] = found.panels.filter(pl.col("rule") == "majority").to_dicts()
    assert row["gain"] == 0.0
    assert row["gain_low"] < 0 < row["gain_high"]
    [single] = found.best.filter(pl.col("limit") == 1, pl.col("chosen_by") == "size").to_dicts()
    assert (single["gain"], single["gain_low"]) == (0.0, None)


def test_panels_of_noise_are_not_told_from_noise():
    found = panel_tables(read(drawn([0.0, 0.0, 0.0], n=200, seed=11)))
    assert found.panels["noise"].to_list() == [True] * 3
    told = panel_tables(read(drawn([0.5, 0.5, 0.5], n=200, seed=11)))
    assert told.panels["noise"].to_list() == [False] * 3


def test_judges_that_err_together_are_worth_few():
    one = drawn([0.5], n=300, seed=13).collect()
    clones = pl.concat([one.with_columns(judge=pl.lit(name)) for name in "abc"]).lazy()
    worth = panel_tables(read(clones)).worth.row(0, named=True)
    assert (worth["effective"], worth["error_correlation"]) == pytest.approx((1.0, 1.0))
    apart = panel_tables(read(drawn([0.5, 0.5, 0.5], n=300, seed=13))).worth.row(0, named=True)
    assert apart["effective"] > 1.8


def test_costs_make_panels_to_choose_from():
    frame = drawn([0.5, 0.55, 0.6], n=120, seed=17).collect()
    cost = pl.col("judge").replace_strict(
        {"j0": 1.0, "j1": 2.0, "j2": 9.0}, return_dtype=pl.Float64
    )
    best = panel_tables(read(frame.with_columns(cost=cost).lazy())).best
    bought = best.filter(pl.col("chosen_by") == "cost")
    assert bought["cost"].to_list() == sorted(bought["cost"].to_list())
    assert (bought["cost"] <= bought["limit"] + 1e-9).all()
    assert bought["in_sample"].is_sorted()
    assert bought["cost"][0] == 1.0


def test_a_single_question_has_no_held_out_one():
    rows = pl.LazyFrame({"item_id": ["q", "q"], "judge": ["a", "b"], "replication": [0, 0],
                         "verdict": ["1", "2"], "gold": ["1", "1"]})  # fmt: skip
    found = panel_tables(read(rows))
    assert found.best.is_empty()
    assert found.panels.select("accuracy", "gain", "noise").row(0) == (0.5, None, None)
    assert found.worth["undefined"].to_list() == ["too_few_units"]


@pytest.mark.slow
@pytest.mark.skipif("JUDGEREL_DATA" not in os.environ, reason="JUDGEREL_DATA names no recordings")
def test_fourteen_models_on_mmlu_pro():
    wide = pl.read_parquet(RECORDED / "mmlu_pro_predictions.parquet").cast(pl.String)
    models = wide.columns[3:]
    long = wide.unpivot(models, index=["question_id", "answer"], variable_name="judge",
                        value_name="verdict")  # fmt: skip
    frame = long.rename({"question_id": "item_id", "answer": "gold"}).with_columns(
        replication=pl.lit(0), benchmark=pl.lit("mmlu_pro")
    )
    found = panel_tables(read(frame.lazy()))
    rows = wide.rows(named=True)
    alone = {name: sum(row[name] == row["answer"] for row in rows) / len(rows) for name in models}
    assert dict(found.members.select("member", "accuracy").iter_rows()) == pytest.approx(alone)
    whole = 0.0
    for row in rows:
        counts = Counter(row[name] for name in models if row[name] is not None)
        top = max(counts.values(), default=0)
        winners = [letter for letter, n in counts.items() if n == top]
        whole += (row["answer"] in winners) / max(1, len(winners))
    majority = found.panels.row(0, named=True)
    assert majority["accuracy"] == pytest.approx(whole / len(rows))
    # One model is better than all fourteen together, and than the best panel of any size.
    best = max(alone, key=alone.get)
    assert best == "gemini-1.5-pro-002"
    assert majority["gain_high"] < -0.1
    held_out = dict(found.best.select("limit", "accuracy").iter_rows())
    assert held_out[1.0] == pytest.approx(alone[best])
    assert max(held_out.values()) == held_out[1.0]
    assert found.best["exhaustive"].to_list() == [False] * found.best.height
    errors = np.array([[row[name] != row["answer"] for name in models] for row in rows], float)
    r = np.corrcoef(errors.T)
    mean = (r.sum() - 14) / (14 * 13)
    worth = found.worth.row(0, named=True)
    assert worth["effective"] == pytest.approx(14 / (1 + 13 * mean))
    assert worth["effective_low"] < worth["effective"] < worth["effective_high"]
    assert found.next["accuracy"][0] == pytest.approx(np.mean(list(alone.values())))
    assert found.next["accuracy"][13] == pytest.approx(whole / len(rows))
