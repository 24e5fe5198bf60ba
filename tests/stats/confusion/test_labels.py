"""The uncertainty label: what it is worth, and what a search for its thresholds promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    LabelEdges,
    clopper_pearson,
    confusion_uncertainty,
    counts_from_ratings,
    cross_fitted_labels,
    inter_rater_accuracy,
    label_accuracy,
    label_edges,
    method_tokens,
    percent_agreement,
    rating_deviation,
    search_threshold,
    threshold_transfer,
    vote_scores,
    wagner2024_threshold,
)
from judgerel_ray.stats.folds import grouped_folds


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


def test_mistakes_in_accuracy_are_named():
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


@pytest.mark.slow
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
