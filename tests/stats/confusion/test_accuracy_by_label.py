"""What labels are worth, and how far people agree among themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    clopper_pearson,
    counts_from_ratings,
    inter_rater_accuracy,
    label_accuracy,
    method_tokens,
    percent_agreement,
    rating_deviation,
    vote_scores,
)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20))
def test_labels_divide_what_there_is(rows):
    low, correct = [r[0] for r in rows], [r[1] for r in rows]
    found = label_accuracy(low, correct)
    assert found.low.n + found.high.n == found.all.n == found.share_low.n == len(rows)
    assert found.low.k + found.high.k == found.all.k == sum(correct)
    assert found.share_low.k == found.low.n
    for part in (found.low, found.high, found.all):
        ends = clopper_pearson(part.k, part.n)
        assert (part.low, part.high) == (ends.low, ends.high)
        assert (part.value is None) == (part.n == 0)


@pytest.mark.parametrize(("k", "low"), [(3, 0.29), (5, 0.48), (10, 0.69), (20, 0.83)])
def test_all_right_of_a_few_proves_little(k, low):
    assert round(label_accuracy([True] * k, [True] * k).low.low, 2) == low


def test_deviation_is_in_steps_of_the_scale():
    found = rating_deviation([1, 5, 3, np.nan], [2, 5, 5, 1], [True, True, False, False])
    assert (found.low.value, found.high.value, found.all.value) == (0.5, 2.0, 1.0)
    assert (found.low.n, found.high.n, found.all.n) == (2, 1, 3)
    assert (found.high.low, found.high.high) == (None, None)
    # Deviations 1 and 0: mean .5, error .5, t of one degree of freedom 12.7.
    assert (found.low.low, found.low.high) == (0.0, pytest.approx(0.5 + 12.7062 * 0.5, abs=1e-3))


def test_replications_of_a_question_do_not_narrow_the_deviation():
    given, right = [1.0, 4.0, 3.0, 2.0], [2.0, 4.0, 5.0, 5.0]
    once = rating_deviation(given, right, [True] * 4).all
    clusters = np.repeat(np.arange(4), 3)
    thrice = rating_deviation(
        np.repeat(given, 3), np.repeat(right, 3), [True] * 12, clusters_N=clusters
    ).all
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))


def test_people_among_themselves_is_percent_agreement():
    ratings = [["a", "a", "b"], ["b", "b", None], ["a", "b", None], ["c", None, None]]
    found = inter_rater_accuracy(ratings)
    assert found.value == percent_agreement(counts_from_ratings(ratings).counts_UV).value
    assert (found.name, found.n_units) == ("inter_rater_accuracy", 3)
    assert inter_rater_accuracy([["a", None]]).undefined == "single_replication"


def test_replications_say_how_sure_they_are():
    found = vote_scores([[4, 0], [2, 2], [1, 0]])
    assert found.share_U.tolist() == [1, 0.5, 1]
    assert found.entropy_U[:2] == pytest.approx([0, np.log(2) + 1 / 8])
    assert np.isnan(found.entropy_U[2])


def test_five_options_on_a_long_prompt_cost_a_twentieth_of_the_naive_count():
    found = method_tokens(n_options=5, prompt=1700, assessment=200, suffix=30, reply=8)
    # 1700 + 8 + 5 x 230, against 1708 + 5 x 1900 + 25 x 1930.
    assert (found.confusion, found.confusion_uncached) == (2858, 59458)
    assert found.replications == (2858 - 1700) // 8
    with pytest.raises(ValueError, match="n_options"):
        method_tokens(n_options=1, prompt=1, assessment=1, suffix=1, reply=1)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        label_accuracy([True], [True, False])
    with pytest.raises(ValueError, match="one length"):
        rating_deviation([1], [1, 2], [True])
    with pytest.raises(ValueError, match="confidence"):
        rating_deviation([1], [1], [True], confidence=1.0)


def test_people_on_feedbackqa(recordings):
    import polars as pl

    ratings = pl.read_parquet(recordings / "items/feedbackqa.parquet")["ratings"].to_list()
    found = inter_rater_accuracy(ratings)
    # The validation part; the paper's .48 is of the full set (.477).
    assert found.value == pytest.approx(689 / 1410)
    assert (found.low, found.high) == pytest.approx((0.463, 0.515), abs=1e-3)


def test_experts_on_summeval(recordings):
    import polars as pl

    rows = pl.read_parquet(recordings / "items/summeval_ratings.parquet").cast(
        {"rater_type": pl.String, "doc_id": pl.String}
    )
    items = (
        rows.filter(rater_type="expert")
        .group_by("system", "doc_id", "dimension", maintain_order=True)
        .agg(pl.col("score").cast(pl.Float64))
    )
    found = inter_rater_accuracy(items["score"].to_list(), clusters_U=items["doc_id"].to_numpy())
    assert found.value == pytest.approx(0.60, abs=0.002)  # the paper's table 1
    assert (found.n_units, found.n_raters) == (1920, 3)
