"""The probability of recorded verdicts: what it is worth, by judge."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgerel_ray.stats import LabelEdges, auroc, cross_fitted_labels, label_accuracy


@pytest.mark.parametrize(
    ("judge", "accuracy", "value", "ends"),
    [
        # The published baselines of these two judges are .39 and .32.
        # By DeLong's variance and t; with the normal quantile .400 and .473 (.3996, .4727).
        ("llama-3-8b-instruct", 0.369, 0.436, (0.3995, 0.4728)),
        ("mixtral-8x7b-instruct-v01", 0.332, 0.557, (0.519, 0.595)),
    ],
)
def test_feedback_collection(recordings, judge, accuracy, value, ends):
    rows = pl.read_parquet(recordings / "seed001/evalassist_feedback_collection.parquet").filter(
        judge=judge
    )
    correct = (rows["option"] == rows["correct_option"]).to_numpy()
    found = auroc(rows["certainty"].to_numpy(), correct)
    assert correct.mean() == pytest.approx(accuracy)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert (found.low, found.high) == pytest.approx(ends, abs=5e-4)


def test_a_judge_whose_certainty_tells(recordings):
    rows = pl.read_parquet(recordings / "seed001/evalassist_judgebench.parquet").filter(
        pl.col("judge").cast(pl.String) == "GPT-4o",
        pl.col("dataset").cast(pl.String) == "toxic_chat_test",
    )
    correct = (rows["option"].cast(float) == rows["correct_option"].cast(float)).to_numpy()
    certainty = rows["certainty"].to_numpy()
    edges = LabelEdges(
        above_N=np.zeros(certainty.size),
        upto_N=certainty,
        allowed_N=np.ones(certainty.size, dtype=bool),
    )
    low = cross_fitted_labels(edges, correct, groups_N=rows["item"].to_numpy(), seed=1).low_N
    found = label_accuracy(low, correct, clusters_N=rows["item"].to_numpy())
    assert found.low.low > found.all.value > found.high.high
    assert (found.low.value, found.low.n) == (pytest.approx(0.951, abs=1e-3), 699)
    assert found.all.value == pytest.approx(0.856)
    # 500 texts are each judged by two criteria: 1,000 judgments are not 1,000 trials.
    assert (found.all.n_questions, found.all.n) == (500, 1000)
    alone = label_accuracy(low, correct).all
    assert found.all.low < alone.low < alone.high < found.all.high
    means = rows.with_columns(correct=correct).group_by("item").agg(pl.col("correct").mean())
    error = means["correct"].std() / 500**0.5
    assert (found.all.high - found.all.low) / 2 == pytest.approx(1.965 * error, rel=0.05)
