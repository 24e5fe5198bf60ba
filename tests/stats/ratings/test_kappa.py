"""Cohen's kappa against other programs, by hand, and under what must not change it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import cohen_kappa
from judgerel_ray.stats.ratings.kappa import (
    kappa_floor,
    kappa_interval,
    kappa_undefined,
    label_agreement,
    label_cells_table,
    people_agreement,
    pooled_alpha,
)

WEIGHTS = (None, "linear", "quadratic")


def drawn(seed: int, n_items: int, n_values: int, m: int, right: float = 0.6):
    """Labels, verdicts and items of judges asked m times."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.integers(n_values, size=n_items), m)
    guesses = rng.integers(n_values, size=labels.size)
    verdicts = np.where(rng.random(labels.size) < right, labels, guesses)
    return labels, verdicts, np.repeat(np.arange(n_items), m)


def by_hand(labels, verdicts, weight, n_values: int, kind: str | None) -> float:
    """1 less weighted disagreement over what the margins give, cell by cell."""
    cells = np.zeros((n_values, n_values))
    np.add.at(cells, (labels, verdicts), weight)
    apart = np.abs(np.subtract.outer(np.arange(n_values), np.arange(n_values))).astype(float)
    apart = {None: apart > 0, "linear": apart, "quadratic": apart**2}[kind]
    chance = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
    return 1 - (apart * cells).sum() / (apart * chance).sum()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("n_values", [2, 3, 5])
def test_kappa_is_that_of_the_weighted_table(n_values, m, weights):
    labels, verdicts, items = drawn(n_values * 10 + m, 40, n_values, m)
    found = cohen_kappa(labels, verdicts, items_N=items, weights=weights)
    expected = by_hand(labels, verdicts, 1 / m, n_values, weights)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert (found.n_units, found.n_raters, found.n_ratings) == (40, m, 40 * m)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("m", [1, 3])
def test_kappa_is_that_of_scikit_learn_with_one_over_m(m, weights):
    metrics = pytest.importorskip("sklearn.metrics", reason="extra [legacy] is not installed")
    labels, verdicts, items = drawn(m, 50, 4, m)
    expected = metrics.cohen_kappa_score(
        labels,
        verdicts,
        weights=weights,
        labels=range(4),
        sample_weight=np.full(labels.size, 1 / m),
    )
    found = cohen_kappa(labels, verdicts, items_N=items, weights=weights)
    assert found.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("weights", "level"), [(None, "nominal"), ("quadratic", "interval")])
def test_alpha_of_one_verdict_each_is_that_of_krippendorff(weights, level):
    krippendorff = pytest.importorskip("krippendorff", reason="extra [legacy] is not installed")
    a, b, _ = drawn(7, 45, 4, 1)
    found = pooled_alpha(label_agreement(a, b, weights=weights))
    expected = krippendorff.alpha(np.array([a, b]), level_of_measurement=level)
    assert found.value == pytest.approx(expected, abs=1e-12)
    interval = kappa_interval(found)
    assert interval.low < found.value < interval.high


def test_people_agree_as_alpha_says_but_for_its_finite_sample():
    krippendorff = pytest.importorskip("krippendorff", reason="extra [legacy] is not installed")
    labels, _, items = drawn(3, 40, 3, 1)
    people = np.stack([drawn(seed, 40, 3, 1)[0] for seed in (3, 3, 5)])
    people[1] = np.where(np.arange(40) % 4, labels, people[2])
    kappa = people_agreement(people.T.ravel(), np.repeat(items, 3)).value
    alpha = krippendorff.alpha(people, level_of_measurement="nominal")
    assert 1 - (1 - kappa) * (people.size - 1) / people.size == pytest.approx(alpha, abs=1e-12)


def test_people_of_unequal_number_weigh_by_item():
    # q: 2 of 6 ordered pairs agree; r: both. Labels: (2/3 + 0) / 2 = 1/3 and 2/3.
    found = people_agreement([0, 0, 1, 1, 1], ["q", "q", "q", "r", "r"])
    assert found.value == pytest.approx((2 / 3 - 5 / 9) / (4 / 9), abs=1e-12)
    alone = people_agreement([0, 1], ["q", "r"])
    assert kappa_undefined(alone) == "no_verdicts"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 4), st.integers(1, 4))
def test_what_changes_nothing_changes_nothing(seed, n_items, n_values, m):
    labels, verdicts, items = drawn(seed, n_items, n_values, m)
    found = label_agreement(labels, verdicts, items_N=items)
    rng = np.random.default_rng(seed)
    names = rng.permutation(n_values)
    order = rng.permutation(labels.size)
    same = [
        label_agreement(names[labels], names[verdicts], items_N=items),
        label_agreement(labels[order], verdicts[order], items_N=items[order]),
        label_agreement(np.repeat(labels, 3), np.repeat(verdicts, 3), items_N=np.repeat(items, 3)),
        label_agreement(labels, verdicts, items_N=items, n_N=np.full(labels.size, 3)),
        label_agreement(verdicts, labels, items_N=items),
    ]
    ends = kappa_interval(found)
    for other in same:
        assert other.value == pytest.approx(found.value, abs=1e-12, nan_ok=True)
        again = kappa_interval(other)
        assert again.undefined == ends.undefined
        if ends.low is not None:
            assert (again.low, again.high) == pytest.approx((ends.low, ends.high), abs=1e-9)
            assert -1 <= ends.low <= found.value <= ends.high <= 1
    assert np.isnan(found.value) or found.value <= 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-5, 5), st.floats(0.1, 10))
def test_weighted_kappa_keeps_to_affine_maps_of_the_scale(seed, shift, unit):
    labels, verdicts, items = drawn(seed, 20, 5, 2)
    for weights in ("linear", "quadratic"):
        one, other = (
            label_agreement(f(labels), f(verdicts), items_N=items, weights=weights)
            for f in (lambda x: x, lambda x: shift + unit * x)
        )
        assert other.value == pytest.approx(one.value, abs=1e-9)


def test_one_item_asked_often_weighs_as_much_as_one_asked_once():
    once = cohen_kappa(["a", "b", "a"], ["a", "b", "b"], items_N=[0, 1, 2])
    often = cohen_kappa(["a"] * 5 + ["b", "a"], ["a"] * 5 + ["b", "b"], items_N=[0] * 5 + [1, 2])
    assert often.value == pytest.approx(once.value, abs=1e-12)
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=1e-12)


@pytest.mark.slow
def test_shuffled_labels_have_kappa_0_in_the_mean_and_the_spread_that_is_said():
    labels, verdicts, items = drawn(11, 30, 3, 2)
    for weights in WEIGHTS:
        floor = kappa_floor(label_agreement(labels, verdicts, items_N=items, weights=weights))
        rng, one = np.random.default_rng(0), labels[::2]
        null = [
            label_agreement(
                np.repeat(rng.permutation(one), 2), verdicts, items_N=items, weights=weights
            ).value
            for _ in range(3000)
        ]
        assert floor.mean == 0
        assert np.mean(null) == pytest.approx(0, abs=4 * floor.sd / np.sqrt(3000))
        assert floor.sd == pytest.approx(np.std(null), rel=0.06)
        assert floor.p == pytest.approx(0.001)


@pytest.mark.slow
def test_the_normal_p_of_many_items_is_near_that_of_shuffles():
    labels, verdicts, items = drawn(2, 12_000, 2, 1, right=0.015)
    floor = kappa_floor(label_agreement(labels, verdicts, items_N=items))
    assert floor.n_permutations == 0
    few = kappa_floor(label_agreement(labels[:9000], verdicts[:9000], items_N=items[:9000]))
    assert few.n_permutations == 999
    assert 0.001 <= few.p <= 1


@pytest.mark.parametrize(
    ("labels", "verdicts", "why"),
    [([], [], "no_verdicts"), ([1, 1], [1, 1], "no_variance"), ([1, 1], [0, 0], None)],
)
def test_why_there_is_no_kappa(labels, verdicts, why):
    found = cohen_kappa(labels, verdicts)
    assert found.undefined == why
    assert (found.value is None) is (why is not None)
    assert found.low is None or why is None


def test_missing_pairs_take_no_part():
    found = cohen_kappa(["a", None, "b", "a"], ["a", "a", float("nan"), "b"])
    assert found.n_ratings == 2
    assert found.value == pytest.approx(0.0)


def test_what_is_refused():
    with pytest.raises(ValueError, match="one shape"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(ValueError, match="must be numbers"):
        cohen_kappa(["a", "b"], ["a", "b"], weights="linear")


def test_a_perfect_judge_of_few_rare_labels_is_not_shown_to_be_perfect():
    labels = np.array([1] * 6 + [0] * 54)
    found = kappa_interval(label_agreement(labels, labels))
    # As many of as many: 1 - (1 - .9404) / (1 - .82); no wider than that.
    assert found.low == pytest.approx(1 - (1 - 0.94036) / 0.18, abs=1e-4)
    assert found.high == 1
    one_wrong = labels.copy()
    one_wrong[0] = 0
    assert kappa_interval(label_agreement(labels, one_wrong)).low < found.low


def test_a_judge_of_one_answer_has_kappa_0_and_an_interval_about_it():
    labels = np.array([1] * 6 + [0] * 54)
    found = label_agreement(labels, np.zeros(60))
    interval = kappa_interval(found)
    assert found.value == 0
    assert interval.low <= 0 < interval.high
    assert kappa_floor(found).p == 1


def test_the_table_by_class_holds_each_item_once():
    cells = label_cells_table([1, 1, 0, 0], [1, 0, 0, 0], 2, items_N=[5, 5, 6, 7])
    assert cells.tolist() == [[2.0, 0.0], [0.5, 0.5]]


@pytest.mark.alike(2)
@pytest.mark.parametrize(("tpr", "tnr"), [(0.1, 0.9), (0.3, 0.9), (0.95, 0.95), (0.99, 0.99)])
def test_the_interval_covers_at_60_labels_and_90_to_10(tpr, tnr):
    rng = np.random.default_rng(5)
    p = np.array([0.1 * tpr, 0.1 * (1 - tpr), 0.9 * (1 - tnr), 0.9 * tnr])
    g = np.array([1, 1, 0, 0])
    v = np.array([1, 0, 1, 0])
    truth = float(label_agreement(g, v).terms.at(60 * p[None])[0])
    held = []
    for counts in rng.multinomial(60, p, size=600):
        found = kappa_interval(label_agreement(np.repeat(g, counts), np.repeat(v, counts)))
        if found.undefined != "undefined":
            held.append(found.low <= truth + 1e-9 and truth - 1e-9 <= found.high)
    assert np.mean(held) > 0.93
