"""AUROC: against all pairs, and how often its interval holds the truth."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgerel_ray.stats import auroc
from judgerel_ray.stats.selective.discrimination import few_answers

scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.booleans()), min_size=2, max_size=14
)


@given(scored)
def test_it_is_the_share_of_pairs_in_order(rows):
    right = [s for s, c in rows if c]
    wrong = [s for s, c in rows if not c]
    assume(right and wrong)
    pairs = [(a > b) + (a == b) / 2 for a in right for b in wrong]
    found = auroc([s for s, _ in rows], [c for _, c in rows])
    assert found.value == pytest.approx(np.mean(pairs))
    turned = auroc([-s for s, _ in rows], [c for _, c in rows])
    assert turned.value == pytest.approx(1 - found.value)
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_what_cannot_be_said_says_why():
    assert auroc([0.5, 0.6], [True, True]).undefined == "no_variance"
    assert auroc([], []).undefined == "no_verdicts"
    missing = auroc([0.9, 0.1, float("nan")], [True, False, True])
    assert (missing.value, missing.n_missing) == (1, 1)
    alone = auroc([0.9, 0.1], [True, False], clusters_N=[7, 7])
    assert (alone.value, alone.low, alone.high) == (1, None, None)


def test_answers_that_are_all_in_order_have_an_exact_end():
    # Three wrong below 40 right: three pairs without a question in common, all in order.
    found = auroc([0.2] * 3 + [0.8] * 40, [False] * 3 + [True] * 40)
    assert (found.value, found.low, found.high) == (1, pytest.approx(0.025 ** (1 / 3)), 1)
    turned = auroc([0.8] * 3 + [0.2] * 40, [False] * 3 + [True] * 40)
    assert (turned.value, turned.low, turned.high) == (0, 0, pytest.approx(1 - 0.025 ** (1 / 3)))


def test_one_wrong_answer_says_next_to_nothing():
    found = auroc([0.5, *np.linspace(0, 1, 200)], [False] + [True] * 200)
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx((0, 1), abs=0.01)
    assert found.estimator.endswith("few wrong answers (1 question)")


def test_a_ranking_that_rests_on_few_answers_says_so():
    scores, questions = np.arange(60.0), np.arange(60)
    for n_wrong, few in ((0, "few_wrong"), (9, "few_wrong"), (10, None), (51, "few_right")):
        assert few_answers(scores, questions >= n_wrong, questions) == few
    # Ten wrong judgments of five questions rest on five, and one without a score on none.
    assert few_answers(scores, questions >= 10, questions // 2) == "few_wrong"
    scores[0] = np.nan
    assert few_answers(scores, questions >= 10, questions) == "few_wrong"
    assert few_answers(np.full(60, np.nan), questions > 5, questions) is None
    told = auroc(scores, questions >= 10).estimator
    assert told == "Mann-Whitney, DeLong's t on the logit scale; few wrong answers (9 questions)"


@pytest.mark.parametrize("edges", [None, np.array([0.4, 0.8, 1.4, 1.9, 2.7])])
@pytest.mark.parametrize("n_wrong", [2, 5, 9])
def test_few_wrong_answers_are_covered(n_wrong, edges):
    rng = np.random.default_rng(n_wrong)
    right = np.arange(200) >= n_wrong
    scores = rng.normal(size=(400, 200)) + 1.66 * right  # AUROC .88
    truth = NormalDist().cdf(1.66 / np.sqrt(2))
    if edges is not None:  # six stated confidences
        scores = np.digitize(scores, edges)
        below, above = (np.diff([0, *map(NormalDist(shift).cdf, edges), 1]) for shift in (0, 1.66))
        truth = float(above @ (np.cumsum(below) - below / 2))
    ends = [auroc(row, right) for row in scores]
    held = np.mean([one.low <= truth <= one.high for one in ends])
    # The normal quantile, and no allowance for few, covered .51 to .89 here.
    assert held >= 0.94 - 2 * 0.011


def test_doubling_every_question_gives_no_certainty():
    rng = np.random.default_rng(4)
    scores, right = rng.random(80), rng.random(80) < 0.6
    once = auroc(scores, right)
    twice = auroc(np.tile(scores, 2), np.tile(right, 2), clusters_N=np.tile(np.arange(80), 2))
    assert twice.value == pytest.approx(once.value)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


@pytest.mark.slow
def test_coverage_of_the_interval():
    rng = np.random.default_rng(11)
    truth = NormalDist().cdf(1 / np.sqrt(2))
    held = 0
    for _ in range(600):
        right = rng.random(120) < 0.6
        found = auroc(rng.normal(size=120) + right, right)
        held += found.low <= truth <= found.high
    # Binomial error of a true 95 % over 600 runs is 0.9 %.
    assert 0.93 <= held / 600 <= 0.975


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        auroc([0.5], [True, False])
    with pytest.raises(ValueError, match="clusters_N"):
        auroc([0.5, 0.1], [True, False], clusters_N=[1])
    with pytest.raises(ValueError, match="confidence"):
        auroc([0.5, 0.1], [True, False], confidence=0.0)


def test_stated_confidence_of_a_recorded_judge(recordings):
    import polars as pl

    judged = pl.read_parquet(recordings / "seed004/monolithic_claude.parquet")
    right = (judged["selected_option"] == judged["correct_answer"]).fill_null(False)
    found = auroc(judged["confidence"].fill_null(float("nan")).to_numpy(), right.to_numpy())
    assert found.value == pytest.approx(0.606, abs=5e-4)
    assert (found.low, found.high) == pytest.approx((0.563, 0.652), abs=0.004)
