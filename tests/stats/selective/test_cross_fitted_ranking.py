"""Scores told by the other folds: pairs count inside folds only, and noise is worth one half."""

from itertools import product

import numpy as np
import pytest

from judgerel_ray.stats import auroc, confusion_uncertainty, cross_fitted_auroc, cross_fitted_model


def test_pairs_across_folds_do_not_count():
    told, right, fold = [0.9, 0.6, 0.5, 0.1], [1, 0, 1, 0], [0, 0, 1, 1]
    assert auroc(told, right).value < 1
    assert cross_fitted_auroc(told, right, fold_N=fold).value == 1.0


def test_the_value_is_the_share_of_pairs_counted_one_by_one():
    rng = np.random.default_rng(3)
    told, right, fold = rng.integers(4, size=40), rng.random(40) < 0.4, rng.integers(5, size=40)
    pairs = [
        (told[i] > told[j]) + (told[i] == told[j]) / 2
        for i, j in product(range(40), repeat=2)
        if right[i] and not right[j] and fold[i] == fold[j]
    ]
    assert cross_fitted_auroc(told, right, fold_N=fold).value == pytest.approx(np.mean(pairs))


def test_a_fold_of_one_kind_adds_nothing_and_none_but_such_is_undefined():
    told, right = [0.9, 0.1, 0.5, 0.6], [1, 0, 1, 1]
    assert cross_fitted_auroc(told, right, fold_N=[0, 0, 1, 1]).value == 1.0
    assert cross_fitted_auroc([0.9, 0.6, 0.5, 0.1], right, fold_N=[1, 0, 0, 1]).value == 0.0
    assert cross_fitted_auroc(told, right, fold_N=[0, 1, 0, 0]).undefined == "no_variance"
    assert cross_fitted_auroc([np.nan], [1], fold_N=[0]).undefined == "no_verdicts"


def test_a_question_judged_twice_is_not_two_questions():
    rng = np.random.default_rng(0)
    right = rng.random(60) < 0.5
    told, fold = right + 2 * rng.normal(size=60), np.arange(60) % 5
    once = cross_fitted_auroc(told, right, fold_N=fold)
    twice = [np.tile(one, 2) for one in (told, right, fold, np.arange(60))]
    same = cross_fitted_auroc(twice[0], twice[1], fold_N=twice[2], clusters_N=twice[3])
    assert same.value == pytest.approx(once.value)
    assert same.high - same.low >= 0.95 * (once.high - once.low)


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"confidence": 1.0}, "between 0 and 1"), ({"fold_N": [0]}, "fold_N must have shape"),
     ({"clusters_N": [0]}, "clusters_N must have shape")],
)  # fmt: skip
def test_wrong_arguments_are_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        cross_fitted_auroc([0.1, 0.2], [1, 0], **({"fold_N": [0, 0]} | changed))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "accuracy", "n_options"), [(60, 0.5, 2), (100, 1 / 3, 3)])
def test_a_model_of_noise_is_worth_one_half_and_the_interval_holds_it(n, accuracy, n_options):
    rng = np.random.default_rng(n)
    values, outside = [], 0
    for run in range(300):
        matrices = [rng.dirichlet(np.ones(n_options) * 2, size=n_options).T for _ in range(n)]
        chosen = rng.integers(n_options, size=n)
        off = rng.integers(1, n_options, size=n)
        right = np.where(rng.random(n) < accuracy, chosen, (chosen + off) % n_options)
        scores = [
            confusion_uncertainty(matrix, chosen=int(own))
            for matrix, own in zip(matrices, chosen, strict=True)
        ]
        found = cross_fitted_model(matrices, scores, right, seed=run)
        worth = cross_fitted_auroc(found.correct_N, chosen == right, fold_N=found.fold_N)
        values.append(worth.value)
        outside += not worth.low <= 0.5 <= worth.high
    assert np.mean(values) == pytest.approx(0.5, abs=3 * np.std(values) / np.sqrt(300))
    assert 0.005 <= outside / 300 <= 0.08
