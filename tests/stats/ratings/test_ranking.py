"""Ranks of judges: ties, what is sure, and what came without questions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import kendalltau

from judgerel_ray import stats
from judgerel_ray.stats import rank_judges
from judgerel_ray.stats.intervals.question_statistic import mean_terms

mean = partial(mean_terms, "mean")


def drawn(*accuracies: float, questions: int = 200, seed: int = 0):
    rng = np.random.default_rng(seed)
    return [mean(rng.random(questions) < one) for one in accuracies]


def test_judges_that_are_apart_have_sure_ranks():
    found = rank_judges(["a", "b", "c"], {"m": drawn(0.5, 0.95, 0.1)})
    assert [(one.rank, one.low, one.high) for one in found.ranks] == [
        (2, 2, 2),
        (1, 1, 1),
        (3, 3, 3),
    ]
    assert [one.p_best for one in found.ranks] == [0, 1, 0]
    assert all(one.undefined is None and one.n_questions == 200 for one in found.ranks)
    assert [one.value for one in found.mean_ranks] == [2, 1, 3]
    assert found.method == (
        "2000 resamples of 200 questions, drawn together for all; ranks by tests of pairs, Holm"
    )


def test_less_can_be_better():
    measures = {"cost": drawn(0.5, 0.95, 0.1)}
    found = rank_judges(["a", "b", "c"], measures, smaller_is_better={"cost"})
    assert [one.rank for one in found.ranks] == [2, 3, 1]
    assert found.mean_ranks[2].p_best == 1


def test_equal_judges_share_their_places_and_are_never_sure():
    one = drawn(0.7)[0]
    found = rank_judges(["a", "b", "c"], {"m": [one, one, drawn(0.1)[0]]})
    assert [(r.rank, r.low, r.high, r.p_best) for r in found.ranks] == [
        (1.5, 1, 2, 0.5),
        (1.5, 1, 2, 0.5),
        (3.0, 3, 3, 0.0),
    ]
    assert [r.value for r in found.mean_ranks] == [1.5, 1.5, 3.0]


def test_judges_that_are_close_may_have_many_ranks():
    found = rank_judges(list("abcd"), {"m": drawn(0.7, 0.7, 0.7, 0.7, questions=60)})
    assert all(one.low == 1 and one.high == 4 for one in found.ranks)
    assert sum(one.p_best for one in found.ranks) == pytest.approx(1)


def test_shared_questions_share_their_luck():
    rng = np.random.default_rng(2)
    ease = rng.normal(scale=5, size=80)
    # Always a little better, on questions that differ much.
    better, worse = ease + 0.3 + rng.normal(scale=0.1, size=80), ease
    together = rank_judges(["a", "b"], {"m": [mean(better), mean(worse)]})
    apart = rank_judges(["a", "b"], {"m": [mean(better), mean(worse, np.arange(80) + 80)]})
    assert [(one.low, one.high) for one in together.ranks] == [(1, 1), (2, 2)]
    assert [(one.low, one.high) for one in apart.ranks] == [(1, 2), (1, 2)]


def test_scores_without_questions_rank_without_an_interval():
    found = rank_judges(["a", "b", "c"], {"m": drawn(0.5, 0.9, 0.1), "outside": [8.4, 7.0, None]})
    outside = found.ranks[3:]
    assert [(one.rank, one.low, one.p_best, one.undefined) for one in outside] == [
        (1.0, None, None, "fixed_score"),
        (2.0, None, None, "fixed_score"),
        (None, None, None, "undefined"),
    ]
    agreement = found.agreements[0]
    assert (agreement.first, agreement.second, agreement.tau, agreement.n_judges) == (
        "m", "outside", -1.0, 2,
    )  # fmt: skip
    assert agreement.low is agreement.high is None  # of two judges tau is always 1 or -1
    # Mean ranks are over measures by which all have one.
    assert [one.value for one in found.mean_ranks] == [2, 1, 3]


def test_a_score_without_questions_among_others_is_no_sure_neighbour():
    found = rank_judges(["a", "b", "c"], {"m": [*drawn(0.9, 0.2), 0.5]})
    assert [(one.rank, one.low, one.high) for one in found.ranks] == [
        (1.0, 1, 2),
        (3.0, 2, 3),
        (2.0, None, None),
    ]
    assert all(one.p_best is None for one in found.ranks)


def test_mean_ranks_and_agreement_of_measures():
    rng = np.random.default_rng(3)
    values = rng.random((5, 2))
    measures = {name: list(column) for name, column in zip("xy", values.T, strict=True)}
    found = rank_judges(list("abcde"), measures)
    assert found.agreements[0].tau == pytest.approx(kendalltau(*values.T)[0])
    ranks = np.array([one.rank for one in found.ranks]).reshape(2, 5)
    assert [one.value for one in found.mean_ranks] == pytest.approx(ranks.mean(axis=0))
    assert all(one.low is None for one in found.mean_ranks)
    tied = rank_judges(["a", "b"], {"x": [1.0, 1.0], "y": drawn(0.1, 0.9)})
    assert tied.agreements[0].tau is None
    assert tied.mean_ranks[1].low <= tied.mean_ranks[1].value <= tied.mean_ranks[1].high


def test_few_questions_give_mean_ranks_and_tau_no_ends():
    """Each of four questions says the same, so no resample differs: that is no knowledge."""
    ease = np.arange(4) / 10
    clear = {name: [mean(ease + k) for k in (0, 1, 2)] for name in "xy"}
    found = rank_judges(["a", "b", "c"], clear)
    assert all(one.few for one in found.ranks)
    assert [one.value for one in found.mean_ranks] == [3, 2, 1]
    assert all(one.low is one.high is None for one in found.mean_ranks)
    assert (found.agreements[0].tau, found.agreements[0].low) == (1, None)
    rng = np.random.default_rng(5)
    many = {name: [mean(rng.normal(3 * k, size=60)) for k in (0, 1, 2)] for name in "xy"}
    found = rank_judges(["a", "b", "c"], many)
    assert not any(one.few for one in found.ranks)
    assert [(one.low, one.high) for one in found.mean_ranks] == [(3, 3), (2, 2), (1, 1)]
    assert (found.agreements[0].low, found.agreements[0].high) == (1, 1)


def test_every_kind_of_measure_takes_part():
    rng = np.random.default_rng(4)
    measures: dict[str, list] = {"self": [], "scales": [], "aligned": []}
    alpha = stats.count_statistic("krippendorff_alpha", n_values=5)
    truth = rng.integers(1, 6, size=40).astype(float)
    for noise in (0.3, 1.0, 3.0):
        five, ten = (
            np.clip(
                np.rint(truth[:, None] * k + rng.normal(scale=noise * k, size=(40, 4))), 1, 5 * k
            )
            for k in (1, 2)
        )
        counts = np.stack([(five == v).sum(axis=1) for v in range(1, 6)], axis=1)
        rated = stats.scale_ratings([five, ten], ranges=[(1, 5), (1, 10)])
        aligned = [
            stats.correlation(name, five.mean(axis=1), truth, np.arange(40))
            for name in ("pearson", "spearman", "kendall")
        ]
        measures["self"].append(stats.count_terms(counts, alpha))
        measures["scales"].append(stats.inter_scale_terms(rated))
        measures["aligned"].append(stats.mean_of("aligned", aligned))
    found = rank_judges(["steady", "fair", "wild"], measures, n_resamples=200)
    assert [one.rank for one in found.ranks] == [1, 2, 3] * 3
    assert all(one.low <= one.rank <= one.high for one in found.ranks)
    assert [one.tau for one in found.agreements] == [1, 1, 1]


def test_resamples_without_a_value_are_told(hangs_on_one_question):
    other = drawn(0.5, questions=30)[0]
    found = rank_judges(["a", "b"], {"m": [hangs_on_one_question, other]})
    assert [one.undefined for one in found.ranks] == ["undefined_resamples", None]
    assert [(one.rank, one.low) for one in found.ranks] == [(1.0, None), (2.0, 1)]
    assert found.mean_ranks[0].low is None


@pytest.mark.parametrize(
    "measures",
    [{}, {"m": [None, None]}, {"m": [mean([]), mean([])]}, {"m": [mean([1]), mean([0])]}],
)
def test_degenerate_measures_never_raise(measures):
    found = rank_judges(["a", "b"], measures, n_resamples=50)
    assert len(found.ranks) == 2 * len(measures)
    assert all(one.undefined is not None and one.low is None for one in found.ranks)
    assert len(found.mean_ranks) == 2


def test_nobody_is_ranked_without_judges():
    found = rank_judges([], {"m": []}, n_resamples=10)
    assert (found.ranks, found.mean_ranks) == ((), ())
    alone = rank_judges(["a"], {"m": drawn(0.5)}, n_resamples=10).ranks[0]
    assert (alone.rank, alone.low, alone.high, alone.p_best) == (1.0, 1, 1, 1.0)


def test_the_same_seed_gives_the_same():
    measures = {"m": drawn(0.6, 0.65, questions=40)}
    assert rank_judges(["a", "b"], measures, seed=3) == rank_judges(["a", "b"], measures, seed=3)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: rank_judges(["a", "a"], {}), "different names"),
        (lambda: rank_judges(["a"], {"m": [1.0, 2.0]}), "one entry a judge"),
        (lambda: rank_judges(["a"], {"m": [1.0]}, smaller_is_better={"x"}), "name measures"),
        (lambda: rank_judges(["a"], {"m": [1.0]}, n_resamples=0), "n_resamples"),
        (lambda: rank_judges(["a"], {"m": [1.0]}, confidence=0), "confidence"),
    ],
)
def test_mistakes_are_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()
