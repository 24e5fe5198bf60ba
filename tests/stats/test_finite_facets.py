"""Facets of a known number of levels, and intervals where few levels are drawn from more."""

from itertools import combinations, product

import numpy as np
import pytest

from judgerel_ray.stats.generalizability.component import (
    all_levels_interval,
    few_draws_interval,
    finite_form,
    left_as_error,
    of_one_level,
)
from judgerel_ray.stats.generalizability.dstudy import dependability, judgments_for
from judgerel_ray.stats.generalizability.facet_cells import (
    label_cells,
    margin,
    score_cells,
)
from judgerel_ray.stats.generalizability.fixed_sums import equations, mean_square
from judgerel_ray.stats.generalizability.variance_components import variance_components


def scored(scores, **levels):
    """Cells of single scores: one row a judgment."""
    scores = np.asarray(scores, dtype=float).ravel()
    return score_cells(np.ones(scores.size), scores, scores**2, levels)


def crossed(*shape):
    """Codes of a crossed design, one array a facet."""
    return dict(zip("qotr", (axis.ravel() for axis in np.indices(shape)), strict=False))


@pytest.fixture(scope="module")
def textbook():
    """Components 4.5, 1/3, -1/6 and 4/3, by hand in test_variance_components."""
    scores = [1, 3, 2, 4, 5, 5, 8, 6, 2, 2, 3, 1]
    return scored(scores, q=np.repeat([0, 1, 2], 4), o=np.tile([0, 0, 1, 1], 3))


def test_a_question_owns_its_share_of_what_all_orders_do_to_it(textbook):
    found = variance_components(textbook, object_="q", sizes={"o": 2})
    values = [found.value(*facets) for facets in (["q"], ["o"], ["q", "o"], [])]
    np.testing.assert_allclose(values, [4.5 - 1 / 12, 1 / 3, -1 / 6, 4 / 3], atol=1e-12)
    # One judgment: 53/12 + 1/6 - 1/12 + 4/3 = 35/6, as in 4.5 + 1/3 - 1/6 + 4/3 = 6 less what
    # half of the order effect (1/6) is the same in both orders together.
    shares = [one.share for one in found.components]
    np.testing.assert_allclose(shares, np.array([53, 2, -1, 16]) / 70, atol=1e-12)
    assert "finite: o of 2 levels" in found.estimator


def test_both_orders_leave_no_error_of_theirs(textbook):
    found = variance_components(textbook, object_="q", sizes={"o": 2})
    both = dependability(found, n_judgments=4, n_levels={"o": 2})
    assert both.relative_error == both.absolute_error == pytest.approx(1 / 3)
    one = dependability(found, n_judgments=4)
    assert one.absolute_error == pytest.approx(1 / 3 + (1 / 3) / 2)
    with pytest.raises(ValueError, match="n_levels must be at most"):
        dependability(found, n_judgments=4, n_levels={"o": 3})


@pytest.mark.parametrize(("size", "k"), [(2, 1), (3, 2), (6, 4), (6, 6)])
def test_levels_drawn_without_replacement_leave_what_all_draws_leave(size, k):
    """All choices of k of N levels, of effects that add up to 0 over all N."""
    effects = np.random.default_rng(size).normal(size=size)
    effects -= effects.mean()
    squares = np.mean([effects[list(drawn)].mean() ** 2 for drawn in combinations(range(size), k)])
    component = (effects**2).sum() / (size - 1)
    left = left_as_error(("o",), 12, {"o": k}, {"o": size})
    assert squares == pytest.approx(component * left, abs=1e-12)


def test_crossed_levels_leave_what_all_crossed_draws_leave():
    """Interactions of 3 x 4 levels, of which 2 x 3 are drawn: all choices of both."""
    effects = np.random.default_rng(1).normal(size=(3, 4))
    effects -= effects.mean(0) + effects.mean(1)[:, None] - effects.mean()
    drawn = product(combinations(range(3), 2), combinations(range(4), 3))
    squares = np.mean([effects[np.ix_(*one)].mean() ** 2 for one in drawn])
    component = (effects**2).sum() / 6
    left = left_as_error(("o", "t"), 6, {"o": 2, "t": 3}, {"o": 3, "t": 4})
    assert squares == pytest.approx(component * left, abs=1e-12)
    # A new t each time, of infinitely many: the draws of o are independent.
    assert left_as_error(("o", "t"), 6, {"o": 2, "t": 6}, {"o": 2}) == pytest.approx(0.5 / 6)
    assert of_one_level(("q", "o", "t"), {"o": 2, "t": 3}) == pytest.approx(1 / 3)


def test_interactions_of_all_levels_belong_to_what_is_left_of_them():
    facets = [("q",), ("o",), ("t",), ("q", "o"), ("q", "t"), ("q", "o", "t"), ()]
    form = finite_form(facets, {"o": 2, "t": 3})
    np.testing.assert_allclose(form[0], [1, 0, 0, 1 / 2, 1 / 3, 1 / 6, 0])
    np.testing.assert_allclose(form[3], [0, 0, 0, 1, 0, 1 / 3, 0])
    np.testing.assert_array_equal(form[-1], np.eye(7)[-1])


@pytest.mark.slow
def test_components_of_all_orders_are_recovered_though_their_covariance_is_negative():
    """Questions that go by the place more than by content: 200 sets of 30 x 2 x 2."""
    rng = np.random.default_rng(3)
    levels = crossed(30, 2, 2)
    estimates = []
    for _ in range(200):
        content, place = rng.normal(0, 0.5, 30), rng.normal(0, 2.0, 30)
        effects = content[:, None] + place[:, None] * np.array([1, -1])
        scores = effects[..., None] + rng.normal(size=(30, 2, 2))
        cells = scored(scores, **{name: levels[name] for name in "qo"})
        plain = variance_components(cells, object_="q").value("q")
        finite = variance_components(cells, object_="q", sizes={"o": 2})
        estimates.append([plain, finite.value("q"), finite.value("q", "o")])
    mean, error = np.mean(estimates, 0), np.std(estimates, 0) / 200**0.5
    # Variances of the place +-2: 4 each, over N - 1 = 1 twice that; the covariance is .25 - 4.
    assert (np.abs(mean - [0.25 - 4, 0.25, 8]) < 3 * error).all()


def test_components_of_six_orders_are_recovered_from_three_of_each_question():
    """Each question draws three of its six orders: 100 sets of 60 x 3 x 2."""
    rng = np.random.default_rng(6)
    q, o, _ = crossed(60, 3, 2).values()
    estimates = []
    for _ in range(100):
        place = rng.normal(0, 1.2, (60, 6))
        place -= place.mean(axis=1, keepdims=True)
        effects = rng.normal(0, 0.6, (60, 1)) + rng.permuted(place, axis=1)[:, :3]
        scores = effects[..., None] + rng.normal(size=(60, 3, 2))
        cells = scored(scores, q=q, o=o)
        found = variance_components(cells, object_="q", sizes={"o": 6}, nested=["o"])
        estimates.append([found.value("q"), found.value("q", "o"), found.value()])
    mean, error = np.mean(estimates, 0), np.std(estimates, 0) / 100**0.5
    assert (np.abs(mean - [0.36, 1.44, 1]) < 3 * error).all()
    assert (error < 0.03).all()


def test_a_need_is_found_where_orders_drawn_anew_would_never_do():
    rng = np.random.default_rng(5)
    content, place = rng.normal(0, 1, 2000), rng.choice([-1.5, 1.5], 2000)
    effects = content[:, None] + place[:, None] * np.array([1, -1])
    scores = effects[..., None] + rng.normal(0, 2, (2000, 2, 2))
    q, o, _ = crossed(2000, 2, 2).values()
    cells = scored(scores, q=q, o=o)
    assert judgments_for(variance_components(cells, object_="q"), 0.9, apart=["o"]) is None
    finite = variance_components(cells, object_="q", sizes={"o": 2})
    needed = judgments_for(finite, 0.9, n_levels={"o": 2})
    assert needed == pytest.approx(9 * 4 / 1, rel=0.15)
    assert judgments_for(finite, 0.9) is None  # one order, whichever it is


def few_drawn(rng, questions, levels, main):
    """Pass or fail; levels shift all questions by N(0, main^2) logits."""
    logits = rng.normal(0, 1.5, (questions, 1)) + rng.normal(0, main, levels)
    passed = rng.binomial(3, 1 / (1 + np.exp(-logits))).ravel()
    q, o = crossed(questions, levels).values()
    return label_cells(np.stack([passed, 3 - passed], 1), {"q": q, "o": o})


@pytest.mark.slow
def test_intervals_hold_where_four_levels_are_drawn():
    """Of main effects of sd 1.5: leaving out questions alone covers .20, .55 and .75 of these."""
    rng = np.random.default_rng(8)
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    weight = weight / weight.sum()
    p = 1 / (1 + np.exp(-1.5 * (node[:, None] + node)))
    mean = weight @ p @ weight
    own = float((p @ weight) ** 2 @ weight - mean**2)  # of questions, and likewise of levels
    repeats = float(weight @ (p * (1 - p)) @ weight)
    crossed_ = float(weight @ p**2 @ weight) - mean**2 - 2 * own
    truth = [2 * own, 2 * own, own / (own + crossed_ + repeats)]
    covered = np.zeros(3)
    for _ in range(100):
        found = variance_components(few_drawn(rng, 100, 4, 1.5), object_="q")
        one = dependability(found)
        ends = [(c.low, c.high) for c in found.components[:2]] + [(one.low, one.high)]
        covered += [low <= true <= high for (low, high), true in zip(ends, truth, strict=True)]
    assert (covered >= 87).all()  # nominal 95; 100 x (.95 - 3.7 x .0218)


def test_two_levels_drawn_from_more_give_no_interval_and_say_so():
    rng = np.random.default_rng(1)
    cells = few_drawn(rng, 50, 2, 0.5)
    found = variance_components(cells, object_="q")
    assert found.few_levels == ("o",)
    assert {(one.low, one.high) for one in found.components} == {(None, None)}
    one = dependability(found)
    assert (one.low, one.high, one.no_interval) == (None, None, "too_few_levels")
    known = variance_components(cells, object_="q", sizes={"o": 2})
    assert known.few_levels == ()
    assert None not in [end for one in known.components for end in (one.low, one.high)]
    assert dependability(known).no_interval is None
    nested = variance_components(cells, object_="q", nested=["o"])
    assert nested.few_levels == () != found.few_levels


def test_orders_without_an_effect_have_an_interval_that_holds_none():
    """Leaving out questions moves the square of a difference near 0 too little."""
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(100):
        found = variance_components(few_drawn(rng, 60, 2, 0.0), object_="q", sizes={"o": 2})
        low, high = found.components[1].low, found.components[1].high
        assert 0 <= low <= high
        covered += low == 0
    assert covered >= 90


def test_ends_of_intervals_are_those_of_their_distributions():
    # Chi-squared quantiles at 2: .0506 and 7.378.
    low, high = few_draws_interval(0.5, 1.0, 2, confidence=0.95)
    assert (low, high) == (
        pytest.approx(2 / 7.3778 - 0.5, 1e-4),
        pytest.approx(2 / 0.050636 - 0.5, 1e-3),
    )
    # A difference of 10 standard errors: (10 -+ 1.96)^2 / 1 less nothing, as a noncentrality.
    low, high = all_levels_interval(99.0, 100.0, 1, confidence=0.95)
    assert (low, high) == (pytest.approx(8.04**2, 1e-3), pytest.approx(11.96**2, 1e-3))
    # And so far away that only the normal law is left: 2 sqrt(1 x 1e6) x 1.96.
    low, high = all_levels_interval(1e6, 1e6 + 1, 1, confidence=0.95)
    assert high - low == pytest.approx(4 * 1.95996 * 1e3, 1e-3)
    assert all_levels_interval(1.0, 1.0, 1, confidence=0.95) is None


def test_sizes_that_cannot_be_are_refused(textbook):
    with pytest.raises(ValueError, match="o has 2 levels in the data, got a size of 1"):
        variance_components(textbook, object_="q", sizes={"o": 1})
    for name in ("q", "t"):
        with pytest.raises(ValueError, match="sizes must be of"):
            variance_components(textbook, object_="q", sizes={name: 5})
    with pytest.raises(ValueError, match="sizes must be of"):
        variance_components(textbook, object_="q", sizes={"o": 2}, fixed=["o"])


def test_a_mean_square_is_in_units_of_its_component():
    # Two orders that differ by 2, on both of two questions: their means vary by 2.
    levels = {"q": [0, 0, 1, 1], "o": [0, 1, 0, 1]}
    cells = score_cells([1] * 4, [0, 2, 0, 2], [0, 4, 0, 4], levels)
    margins = [margin(cells, (name,), object_="q") for name in "qo"]
    none = margin(cells, (), object_="q")
    both = equations(cells, margins, none, np.zeros(4, dtype=np.int64), 1)
    assert mean_square(("o",), margins, both[0][-1], both[1][-1], fixed=()) == pytest.approx(2.0)
