"""The model on the matrix: right where the truth is known, silent where nothing is."""

from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import auroc, confusion_uncertainty, cross_fitted_model
from judgerel_ray.stats.confusion.baselines import conditional_logit


def judge(n: int, seed: int, n_options: int = 4):
    """A judge that leans to the right option by as much as it is sure, and yields to arguments."""
    rng = np.random.default_rng(seed)
    matrices, right, chosen = [], rng.integers(0, n_options, n), []
    for answer in right:
        sure, yields = rng.exponential(1.5), rng.exponential(1.0)
        worth = rng.normal(size=n_options) + sure * (np.arange(n_options) == answer)
        lifted = worth[:, None] + yields * np.eye(n_options)
        lifted += rng.normal(scale=0.3, size=lifted.shape)
        matrices.append(np.exp(lifted) / np.exp(lifted).sum(axis=0))
        chosen.append(int((worth + rng.normal(scale=0.5, size=n_options)).argmax()))
    scores = [confusion_uncertainty(m, chosen=c) for m, c in zip(matrices, chosen, strict=True)]
    return matrices, scores, right, np.array(chosen)


@pytest.mark.slow
def test_it_ranks_judgments_and_mends_some():
    matrices, scores, right, chosen = judge(500, 1)
    found = cross_fitted_model(matrices, scores, right, seed=3)
    correct = chosen == right
    assert auroc(found.correct_N, correct).low > 0.6
    assert (found.option_N == right).mean() >= correct.mean() - 0.01
    # What it says is about as frequent as it says.
    assert found.correct_N.mean() == pytest.approx(correct.mean(), abs=0.02)
    assert found.option_share_N.mean() == pytest.approx((found.option_N == right).mean(), abs=0.05)


def test_labels_that_mean_nothing_are_not_learned():
    matrices, scores, _, chosen = judge(400, 2)
    right = np.random.default_rng(9).integers(0, 4, 400)
    found = cross_fitted_model(matrices, scores, right, seed=1)
    # Held-out predictions of noise err a little below one half, as fold means do.
    assert auroc(found.correct_N, chosen == right).value == pytest.approx(0.5, abs=0.08)


def test_a_fold_does_not_see_its_own_labels():
    matrices, scores, right, _ = judge(60, 4)
    first = cross_fitted_model(matrices, scores, right, n_folds=3, seed=2)
    inside = first.fold_N == 0
    changed = np.where(inside, (right + 1) % 4, right)
    second = cross_fitted_model(matrices, scores, changed, n_folds=3, seed=2)
    assert (first.correct_N[inside] == second.correct_N[inside]).all()
    assert (first.option_N[inside] == second.option_N[inside]).all()


def test_items_of_different_menus_and_of_none():
    matrices, scores, right, _ = judge(40, 5)
    three, scores_3, right_3, _ = judge(40, 6, n_options=3)
    lone = [[1.0]]
    found = cross_fitted_model(
        [*matrices, *three, lone],
        [*scores, *scores_3, confusion_uncertainty(lone, chosen=0)],
        [*right, *right_3, 0],
        seed=0,
    )
    assert found.option_N[:80].min() >= 0
    assert found.option_N[40:80].max() <= 2
    assert (found.option_N[-1], np.isnan(found.correct_N[-1])) == (-1, True)


def test_weights_are_where_the_slope_is_nil():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3, 2))
    right = rng.integers(0, 3, 50)
    weights = conditional_logit(x, right, ridge=0.7, free=0)

    def loss(w):
        worth = x @ w
        chosen = worth[np.arange(50), right]
        return (np.log(np.exp(worth).sum(axis=1)) - chosen).sum() + 0.35 * (w**2).sum()

    for step in 1e-4 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert loss(weights + step) > loss(weights)


def test_mistakes_are_named():
    matrices, scores, right, _ = judge(10, 7)
    with pytest.raises(ValueError, match="one length"):
        cross_fitted_model(matrices, scores, right[:5])
    with pytest.raises(ValueError, match="ridge"):
        cross_fitted_model(matrices, scores, right, ridge=0.0)
    with pytest.raises(ValueError, match="n_folds"):
        cross_fitted_model(matrices, scores, right, n_folds=11)
