"""Agreement with a reference: one replication, the mean of all, and what averaging gains."""

from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import correlation, reference_agreement, weighted_scores
from judgerel_ray.stats.intervals.question_statistic import whole
from judgerel_ray.stats.ratings.correlations import CORRELATIONS


def drawn(items: int = 60, replications: int = 4):
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, size=items).astype(float)
    return np.clip(truth[:, None] + rng.integers(-2, 3, size=(items, replications)), 1, 5), truth


@pytest.mark.parametrize("name", CORRELATIONS)
def test_single_is_the_mean_over_replications_and_averaged_that_of_the_mean(name):
    scores, truth = drawn()
    found = reference_agreement(scores, truth, coefficient=name)
    rows = np.arange(60)
    each = [whole(correlation(name, column, truth, rows)) for column in scores.T]
    averaged = whole(correlation(name, scores.mean(axis=1), truth, rows))
    assert found.single.value == pytest.approx(np.mean(each), abs=1e-12)
    assert found.averaged.value == pytest.approx(averaged, abs=1e-12)
    assert found.gain.value == pytest.approx(averaged - np.mean(each), abs=1e-12)
    assert found.gain.low < found.gain.value < found.gain.high
    assert found.gain.p < 0.05
    for one in (found.single, found.averaged):
        assert -1 < one.low < one.value < one.high < 1
        assert (one.n_units, one.n_questions, one.unit) == (60, 60, "dimensionless")
    assert found.single.estimator.endswith("of single replications with the reference")
    assert found.averaged.estimator.endswith("of the mean of 4 with the reference")
    assert (found.coefficient, found.n_averaged) == (name, 4.0)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", CORRELATIONS)
def test_its_intervals_leave_questions_out(name):
    scores, truth = drawn(items=24, replications=2)
    questions = np.repeat(np.arange(12), 2)
    found = reference_agreement(scores, truth, coefficient=name, questions_N=questions)
    left = []
    for q in range(12):
        rest = reference_agreement(scores[questions != q], truth[questions != q], coefficient=name)
        left.append((rest.single.value, rest.averaged.value))
    single, averaged = np.array(left).T
    error = np.sqrt(11 / 12 * ((averaged - single - (averaged - single).mean()) ** 2).sum())
    assert found.gain.standard_error == pytest.approx(error, rel=1e-9)
    half = 2.200985 * np.sqrt(11 / 12 * ((single - single.mean()) ** 2).sum())
    z = np.arctanh(found.single.value)
    reach = half / (1 - found.single.value**2)
    assert found.single.low == pytest.approx(np.tanh(z - reach), abs=1e-5)
    assert found.single.high == pytest.approx(np.tanh(z + reach), abs=1e-5)


def test_missing_scores_leave_a_replication_and_missing_items_are_none():
    scores, truth = drawn()
    scores[:10, 2:] = np.nan
    scores[10], truth[11] = np.nan, np.nan
    found = reference_agreement(scores, truth)
    taking = np.delete(np.arange(60), [10, 11])
    weights, each = [], []
    for column in scores[taking].T:
        there = ~np.isnan(column)
        weights.append(there.sum())
        each.append(np.corrcoef(column[there], truth[taking][there])[0, 1])
    assert found.single.value == pytest.approx(np.average(each, weights=weights), abs=1e-12)
    assert found.single.n_units == 58
    assert found.averaged.estimator == "Pearson's r of the mean of 2 to 4 with the reference"
    assert found.n_averaged == pytest.approx((10 * 2 + 48 * 4) / 58)


def test_a_replication_of_two_items_counts_nothing():
    scores, truth = drawn(replications=2)
    third = np.full((60, 1), np.nan)
    third[:2] = 3
    found = reference_agreement(np.hstack([scores, third]), truth)
    assert found.single.value == reference_agreement(scores, truth).single.value


def test_peoples_ratings_are_averaged():
    scores, truth = drawn()
    people = np.stack([truth - 1, truth + 1, np.where(truth > 2, truth, np.nan)], axis=1)
    expected = reference_agreement(scores, truth, coefficient="icc_agreement")
    found = reference_agreement(scores, people, coefficient="icc_agreement")
    assert found.single.value == pytest.approx(expected.single.value, abs=1e-12)


def test_one_replication_gains_nothing_by_averaging():
    scores, truth = drawn(replications=1)
    found = reference_agreement(scores[:, 0], truth)
    assert found.single.value == found.averaged.value
    assert (found.gain.value, found.gain.undefined) == (None, "single_replication")


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize(
    ("scores", "truth", "reason"),
    [
        (np.empty((0, 2)), [], "too_few_units"),
        ([[np.nan, np.nan]] * 5, [1, 2, 3, 4, 5], "too_few_units"),
        ([[1, 2], [2, 3]], [1, 2], "too_few_units"),
        ([[3, 3]] * 5, [3] * 5, "no_variance"),
    ],
)
def test_degenerate_scores_never_raise(name, scores, truth, reason):
    found = reference_agreement(scores, truth, coefficient=name)
    for one in (found.single, found.averaged):
        assert (one.value, one.low, one.undefined) == (None, None, reason)
    assert found.gain.value is None


def test_perfect_agreement_has_a_value_and_no_interval():
    found = reference_agreement(np.arange(9.0), np.arange(9.0)).single
    assert found.value == pytest.approx(1)
    assert (found.low, found.no_interval, found.undefined) == (None, "no_spread", None)


def test_expected_scores_are_what_infinitely_many_samples_would_mean():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(5), size=200)
    values = np.arange(1, 6)
    found = weighted_scores(shares, values)
    drawn_scores = np.stack([rng.choice(values, size=4000, p=row) for row in shares[:20]])
    assert found.scores_N[:20] == pytest.approx(drawn_scores.mean(axis=1), abs=0.1)
    assert found.mass_N == pytest.approx(np.ones(200))
    # Against a reference it is better than any finite mean.
    reference = shares @ values + rng.normal(scale=0.3, size=200)
    sampled = np.stack([rng.choice(values, size=5, p=row) for row in shares])
    agreement = reference_agreement(sampled, reference)
    expected = reference_agreement(found.scores_N, reference).single.value
    assert agreement.single.value < agreement.averaged.value < expected


def test_too_little_on_the_scale_is_no_score():
    found = weighted_scores([[0.1, 0.1], [0.5, np.nan], [0, 0]], [0, 1], least_mass=0.5)
    assert np.isnan(found.scores_N).tolist() == [True, False, True]
    assert found.scores_N[1] == 0.0


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: reference_agreement([1, 2], [1]), "same items"),
        (lambda: reference_agreement([1], [1], questions_N=[1, 2]), "same items"),
        (lambda: reference_agreement([1], [1], coefficient="r"), "one of pearson"),
        (lambda: reference_agreement([1], [1], confidence=1.0), "confidence"),
        (lambda: reference_agreement([np.inf], [1]), "finite"),
        (lambda: reference_agreement([[[1]]], [1]), "shape"),
        (lambda: weighted_scores([[0.5, 0.5]], [1]), "one value a column"),
        (lambda: weighted_scores([[0.7, 0.7]], [1, 2]), "sum up to 1"),
        (lambda: weighted_scores([[-0.1, 0.7]], [1, 2]), "from 0 on"),
        (lambda: weighted_scores([[0.1, 0.7]], [1, np.nan]), "finite"),
    ],
)
def test_mistakes_are_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()
