"""Thresholds: what a search promises, and what its labels are worth on other data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    LabelEdges,
    confusion_uncertainty,
    cross_fitted_labels,
    label_accuracy,
    label_edges,
    search_threshold,
    threshold_transfer,
    wagner2024_threshold,
)
from judgerel_ray.stats.counts.folds import grouped_folds


def judged(n: int, seed: int, *, informative: bool = True):
    """Matrices of two options, and whether each judgment is right."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(0.5, 1, n)
    right = rng.random(n) < (u if informative else 0.6)
    edges = LabelEdges(above_N=1 - u, upto_N=u, allowed_N=np.ones(n, dtype=bool))
    return edges, right


CELLS = st.sampled_from([0.25, 0.5, 0.75]) | st.floats(0.01, 0.99)


@given(st.lists(CELLS, min_size=4, max_size=4), CELLS, st.booleans(), st.booleans())
def test_edges_say_the_same_as_the_label(cells, threshold, required, strict):
    matrix = np.array(cells).reshape(2, 2)
    chosen = 1
    label = confusion_uncertainty(
        matrix, threshold=threshold, chosen=chosen, own_choice_required=required, strict=strict
    ).label
    score = confusion_uncertainty(matrix, chosen=chosen)
    edges = label_edges([score], own_choice_required=required, strict=strict)
    for each in (edges, edges.take(np.array([0]))):
        assert bool(each.low(threshold)[0]) == (label == "low")


def test_a_search_keeps_to_exceeding_where_the_label_does():
    scores = [confusion_uncertainty([[u, u], [1 - u, 1 - u]], chosen=0) for u in (0.75, 0.75, 0.6)]
    reaching = search_threshold(label_edges(scores), [1, 1, 0], grid=(0.75,))
    assert (reaching.threshold, reaching.n_low) == (0.75, 2)
    exceeding = search_threshold(label_edges(scores, strict=True), [1, 1, 0], grid=(0.75,))
    assert (exceeding.threshold, exceeding.n_low) == (None, 0)


def test_undefined_matrices_are_never_low():
    edges = label_edges([confusion_uncertainty([[1.0]], chosen=0)])
    assert not edges.low(0.5).any()


def test_the_search_is_the_best_of_its_grid():
    edges, right = judged(60, 1)
    grid = (0.55, 0.65, 0.75, 0.85, 0.95)
    found = search_threshold(edges, right, objective="gap", grid=grid)
    gaps = {}
    for threshold in grid:
        low = edges.low(threshold)
        if low.any() and not low.all():
            gaps[threshold] = right[low].mean() - right[~low].mean()
    assert found.threshold == max(gaps, key=gaps.get)
    assert found.accuracy_low - found.accuracy_high == pytest.approx(max(gaps.values()))


def test_no_threshold_labels_enough():
    edges = LabelEdges(above_N=np.full(3, 0.4), upto_N=np.full(3, 0.6), allowed_N=np.zeros(3, bool))
    found = search_threshold(edges, [1, 0, 1], objective="accuracy_low")
    assert (found.threshold, found.undefined) == (None, "no_low")
    assert not cross_fitted_labels(edges, [1, 0, 1], n_folds=3, objective="gap").low_N.any()


def test_a_least_share_forbids_the_lucky_few():
    edges, right = judged(200, 2)
    searched = wagner2024_threshold(edges, right)
    fair = search_threshold(edges, right, objective="accuracy_low", least_share=0.3)
    assert searched.share_low < 0.3 <= fair.share_low
    assert searched.accuracy_low >= fair.accuracy_low


def test_cross_fitted_labels_never_saw_what_they_label():
    edges, right = judged(40, 3)
    groups = np.arange(40) // 2
    found = cross_fitted_labels(edges, right, groups_N=groups, n_folds=4, seed=5)
    assert (found.fold_N[::2] == found.fold_N[1::2]).all()
    for fold, threshold in enumerate(found.thresholds):
        inside = found.fold_N == fold
        again = search_threshold(edges.take(~inside), right[~inside])
        assert again.threshold == threshold
        flipped = right.copy()
        flipped[inside] = ~flipped[inside]
        other = cross_fitted_labels(edges, flipped, groups_N=groups, n_folds=4, seed=5)
        assert other.thresholds[fold] == threshold


def test_in_sample_accuracy_is_optimistic_and_cross_fitted_is_not():
    # Labels that know nothing: whatever is low is right in 60 % of the cases.
    in_sample, fair, n_low = [], 0, 0
    for seed in range(25):
        edges, right = judged(60, 100 + seed, informative=False)
        found = wagner2024_threshold(edges, right)
        in_sample.append(found.accuracy_low)
        low = cross_fitted_labels(edges, right, objective="accuracy_low", seed=seed).low_N
        fair, n_low = fair + int(right[low].sum()), n_low + int(low.sum())
    assert np.mean(in_sample) > 0.75
    assert fair / n_low == pytest.approx(0.6, abs=0.08)


def test_transfer_names_every_pair_and_cross_fits_the_diagonal():
    data = {"a": judged(50, 7), "b": judged(60, 8)}
    rows = threshold_transfer(data, seed=1)
    assert [(row.source, row.target) for row in rows] == [
        ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"),
    ]  # fmt: skip
    assert [row.cross_fitted for row in rows] == [True, False, False, True]
    edges, right = data["b"]
    low = edges.low(search_threshold(*data["a"]).threshold)
    known = label_accuracy(low, right)
    assert (rows[1].n_low, rows[1].n_correct_low) == (known.low.n, known.low.k)
    assert rows[1].n_correct_high == known.high.k


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "best"}, "objective"),
        ({"grid": ()}, "grid"),
        ({"grid": (0.0,)}, "grid"),
        ({"least_share": 1.0}, "least_share"),
    ],
)
def test_mistakes_are_named(options, message):
    edges, right = judged(10, 9)
    with pytest.raises(ValueError, match=message):
        search_threshold(edges, right, **options)
    with pytest.raises(ValueError, match="shape"):
        search_threshold(edges, right[:5])


@given(st.lists(st.integers(0, 6), min_size=4, max_size=40), st.integers(2, 4), st.integers(0, 99))
def test_folds_keep_groups_together_and_are_even(groups, n_folds, seed):
    n_groups = len(set(groups))
    if n_groups < n_folds:
        with pytest.raises(ValueError, match="n_folds"):
            grouped_folds(groups, n_folds=n_folds, seed=seed)
        return
    folds = grouped_folds(groups, n_folds=n_folds, seed=seed)
    of_group = {group: {int(f) for f in folds[np.array(groups) == group]} for group in set(groups)}
    assert all(len(inside) == 1 for inside in of_group.values())
    sizes = np.bincount([next(iter(inside)) for inside in of_group.values()], minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
