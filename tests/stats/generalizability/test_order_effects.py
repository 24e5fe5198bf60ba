"""Order effects: against counting pairs by hand, and without bias where order does nothing."""

from itertools import combinations

import numpy as np
import pytest

from judgerel_ray.stats.generalizability.facet_agreement import (
    FacetLevels,
    FacetTarget,
    facet_floors,
    lay_out_levels,
    reproducibility_terms,
)
from judgerel_ray.stats.generalizability.order_effects import (
    order_effect,
    position_bias,
    swap_layout,
    swap_terms,
    swapped,
)


def test_order_effect_is_the_loss_counted_by_hand():
    rng = np.random.default_rng(1)
    counts = rng.multinomial(4, [0.5, 0.3, 0.2], size=12)
    questions = np.repeat(np.arange(4), 3)
    lost = []
    for question in range(4):
        verdicts = [
            (unit, value)
            for unit in np.flatnonzero(questions == question)
            for value, n in enumerate(counts[unit])
            for _ in range(n)
        ]
        pairs = list(combinations(verdicts, 2))
        same = [a[1] == b[1] for a, b in pairs if a[0] == b[0]]
        other = [a[1] == b[1] for a, b in pairs if a[0] != b[0]]
        lost.append(np.mean(same) - np.mean(other))
    found = order_effect(counts, questions)
    assert found.value == pytest.approx(np.mean(lost))
    # A plain mean of questions: its jackknife is the t interval of the mean.
    half = 3.182446305 * np.std(lost, ddof=1) / 2
    assert found.value - half < 0  # so not on the logit scale
    assert (found.low, found.high) == (
        pytest.approx(np.mean(lost) - half),
        pytest.approx(np.mean(lost) + half),
    )
    assert (found.n_units, found.n_ratings, found.n_missing) == (4, 48, 0)


def shares(rng, n_questions, n_labels):
    """Clear preferences among options, shown in random orders."""
    preferred = rng.dirichlet([0.3] * n_labels, size=n_questions)
    return np.array([rng.permutation(row) for row in preferred])


@pytest.mark.slow
def test_both_are_without_bias_where_order_does_nothing():
    rng = np.random.default_rng(2)
    biases, losses, covered = [], [], []
    for _ in range(150):
        p = shares(rng, 30, 4)
        found = position_bias(rng.multinomial(6, p))
        biases.append(found.value)
        covered.append(found.low <= 0 <= found.high)
        halves = rng.multinomial(3, np.repeat(p, 2, axis=0))
        losses.append(order_effect(halves, np.repeat(np.arange(30), 2)).value)
    assert abs(np.mean(biases)) < 3 * np.std(biases) / np.sqrt(150)
    assert abs(np.mean(losses)) < 3 * np.std(losses) / np.sqrt(150)
    assert np.mean(covered) > 0.9


@pytest.mark.parametrize(
    ("counts", "questions", "undefined"),
    [
        ([[2, 0], [0, 2]], [0, 1], "orders_not_crossed"),
        ([[1, 0], [0, 1]], [0, 0], "single_replication"),
        (np.zeros((0, 2), int), [], "orders_not_crossed"),
    ],
)
def test_what_has_no_order_effect_says_why(counts, questions, undefined):
    found = order_effect(counts, np.array(questions, dtype=np.int64))
    assert (found.value, found.low, found.undefined) == (None, None, undefined)


@pytest.mark.parametrize(
    ("labels", "undefined"),
    [
        (np.zeros((0, 2), int), "no_verdicts"),
        ([[0, 0]], "no_verdicts"),
        ([[2, 1]], "too_few_units"),
        ([[2], [1]], "no_variance"),
    ],
)
def test_what_has_no_position_bias_says_why(labels, undefined):
    found = position_bias(labels)
    assert (found.value, found.low, found.undefined) == (None, None, undefined)


def test_two_questions_have_a_value_and_no_interval():
    found = position_bias([[2, 0], [2, 0]])
    assert (found.value, found.low) == (1.0, None)
    assert found.no_interval == "too_few_units"


def test_questions_of_another_length_are_refused():
    with pytest.raises(ValueError, match="questions_U must have shape"):
        order_effect([[1, 0]], [0, 1])


@pytest.mark.parametrize("n_orders", [None, 2.0, 6.0])
@pytest.mark.parametrize("most", [3, 900])
def test_swaps_of_a_layout_are_those_of_the_counts(n_orders, most):
    rng = np.random.default_rng(7)
    counts = rng.integers(0, most, size=(90, 3)) * rng.integers(0, 2, size=(90, 1))
    items, orders = np.arange(90) // 3, np.arange(90) % 3
    levels = FacetLevels(items_U=items, levels_U=orders, orders_U=orders, n_orders=n_orders)
    laid = lay_out_levels(counts, levels, distances_VV=1 - np.eye(3))
    swaps = swap_layout(laid)
    found = reproducibility_terms("percent_agreement", swaps, levels)
    expected = swap_terms(counts, items, orders)
    assert np.array_equal(found.questions_C, expected.questions_C)
    weights = rng.integers(0, 3, size=(4, found.questions_C.size)).astype(float)
    np.testing.assert_allclose(found.at(weights), expected.at(weights), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.left_out(), expected.left_out(), rtol=0, atol=1e-12)
    wanted = [FacetTarget(name="percent_agreement")]
    ours = facet_floors(swaps, levels, wanted)[0]
    theirs = facet_floors(counts, swapped(items, orders), wanted, distances_VV=1 - np.eye(3))[0]
    np.testing.assert_allclose((ours.mean, ours.sd, ours.p), (theirs.mean, theirs.sd, theirs.p))
