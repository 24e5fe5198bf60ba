"""Judges whose preference is known: none, what is shown, and a planted one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from bench.self_preference import LAWS, judgments, shares, tables
from judgerel_ray.analyses.selection.systems_compared import (
    ALIKE,
    FAVOURS,
    SHOWN,
    preference_table,
)
from judgerel_ray.measuring.systems import read_systems


@pytest.mark.slow
def test_judges_that_read_no_answer_are_not_said_to_favour_theirs():
    found = shares(tables("opinion", 60, 40, 1))
    # Against the others, shared opinion passes for preference in every table.
    assert found["against_others"] > 0.9
    assert found["picked"] > found["by_others"] + 0.3
    assert found["picked"] == pytest.approx(found["as_evaluator"], abs=0.02)
    assert found["two_sided"] <= 0.07
    assert found["found"] <= 0.05


def test_a_planted_preference_is_found_and_as_large_as_it_is():
    found = tables("loyal .4", 200, 6, 1)
    every = pl.concat(found)
    # With chance .4 its own, else as evaluator: .4 of what it would not have picked anyway.
    truth = LAWS["loyal .4"][1] * (1 - every["self_picked_as_evaluator"].mean())
    assert every["self_difference"].mean() == pytest.approx(truth, abs=0.02)
    assert ((every["self_low"] < truth) & (truth < every["self_high"])).mean() >= 0.9
    assert (every["finding"] == FAVOURS).mean() > 0.8
    assert every["self_wrong_difference"].mean() > 0.1


def test_picking_what_is_shown_is_not_called_favouring_ones_own():
    every = pl.concat(tables("shown", 200, 6, 1))
    assert (every["self_p_holm"] < 0.01).all()  # evaluators are not shown that option
    assert (every["finding"] == SHOWN).sum() >= 17


def test_the_sign_flips_are_of_questions_and_the_noise_is_theirs():
    rows = judgments(np.random.default_rng(5), 80, shown=0.0, loyal=0.2)
    found = preference_table(read_systems(rows.lazy())).row(0, named=True)
    wide = rows.filter(pl.col("judge") == "ada").pivot("role", index="item_id", values="verdict")
    answers = rows.filter(pl.col("role") == "responder")
    apart = answers.group_by("item_id").agg(pl.col("verdict").n_unique() > 1)
    wide = wide.join(apart.filter("verdict"), on="item_id")
    own = wide["responder"]
    gained = (wide["participant"] == own).cast(int) - (wide["evaluator_only"] == own).cast(int)
    rng = np.random.default_rng(0)
    flips = rng.choice([-1, 1], size=(40_000, gained.len())) @ gained.to_numpy()
    assert found["n_self"] == gained.len()
    assert found["self_difference"] == pytest.approx(gained.mean())
    assert found["self_noise_sd"] == pytest.approx(flips.std() / gained.len(), rel=0.02)
    p = (np.abs(flips) >= abs(gained.sum())).mean()
    assert found["self_p"] == pytest.approx(p, abs=0.01)


def test_without_the_evaluator_self_preference_is_unknown():
    rows = judgments(np.random.default_rng(5), 60, shown=0.0, loyal=0.0)
    found = preference_table(read_systems(rows.filter(pl.col("role") != "evaluator_only").lazy()))
    assert found.height == 3
    assert found["undefined"].unique().to_list() == ["no_evaluator_only"]
    unknown = found.select("finding", "self_difference", "self_p", "self_p_holm", "difference")
    assert unknown.null_count().row(0) == (3,) * 5
    assert (found["own_picked"] > found["own_picked_by_others"]).all()  # told, and of no judgment


def test_holm_is_over_the_judges():
    rows = judgments(np.random.default_rng(7), 200, shown=0.0, loyal=0.0)
    loyal = judgments(np.random.default_rng(7), 200, shown=0.0, loyal=0.9)
    mixed = pl.concat(
        [rows.filter(pl.col("judge") != "ada"), loyal.filter(pl.col("judge") == "ada")]
    )
    found = preference_table(read_systems(mixed.lazy()))
    assert found["n_judges"].to_list() == [3, 3, 3]
    assert found["self_p_holm"][0] == pytest.approx(3 * found["self_p"][0])
    assert found["finding"].to_list() == [FAVOURS, ALIKE, ALIKE]
