"""Variance components against hand-made analyses of variance, expected mean squares and truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats.generalizability.facet_cells import (
    label_cells,
    margin,
    score_cells,
)
from judgerel_ray.stats.generalizability.fixed_sums import equations
from judgerel_ray.stats.generalizability.variance_components import variance_components


def scored(scores, **levels):
    """Cells of single scores: one row a judgment, so cells may repeat."""
    scores = np.asarray(scores, dtype=float)
    return score_cells(np.ones(scores.size), scores, scores**2, levels)


def test_a_balanced_crossed_design_is_the_textbooks_analysis_of_variance():
    # Three questions, two orders, two replications; cell means 2 3 / 5 7 / 2 2, grand mean 3.5.
    # SSq = 4 (1 + 6.25 + 2.25) = 38, MSq = 19; SSo = 6 (.25 + .25) = 3 = MSo;
    # SSqo = 2 (4 x .25) = 2, MSqo = 1; SSr = 2 + 2 + 0 + 2 + 0 + 2 = 8, MSr = 8 / 6 = 4/3.
    # var_r = 4/3, var_qo = (1 - 4/3) / 2 = -1/6, var_o = (3 - 1) / 6 = 1/3, var_q = (19 - 1) / 4.
    scores = [1, 3, 2, 4, 5, 5, 8, 6, 2, 2, 3, 1]
    cells = scored(scores, question=np.repeat([0, 1, 2], 4), order=np.tile([0, 0, 1, 1], 3))
    found = variance_components(cells, object_="question")
    assert [one.name for one in found.components] == [
        "question",
        "order",
        "question x order",
        "residual",
    ]
    values = [one.value for one in found.components]
    np.testing.assert_allclose(values, [4.5, 1 / 3, -1 / 6, 4 / 3], atol=1e-12)
    assert [one.negative for one in found.components] == [False, False, True, False]
    assert [one.n_levels for one in found.components] == [3, 2, 6, 12]
    shares = [one.share for one in found.components]
    np.testing.assert_allclose(shares, np.array(values) / 6, atol=1e-12)  # 4.5 + 1/3 - 1/6 + 4/3
    assert found.value("order", "question") == pytest.approx(-1 / 6)
    assert (found.n_questions, found.n_judgments, found.confounded) == (3, 12, {})
    assert found.undefined is None


def test_the_one_hot_version_is_ginis_analysis_of_variance():
    # Unbalanced: MSW = sum (m - sum n^2 / m) / (n - Q), MSB from SST = n - sum c^2 / n,
    # m0 = (n - sum m^2 / n) / (Q - 1), var_q = (MSB - MSW) / m0.
    counts = np.array([[3, 1, 0], [0, 2, 0], [1, 1, 3], [4, 0, 0]])
    m, n, c = counts.sum(1), counts.sum(), counts.sum(0)
    within = (m - (counts**2).sum(1) / m).sum()
    msw, msb = within / (n - 4), (n - (c**2).sum() / n - within) / 3
    m0 = (n - (m**2).sum() / n) / 3
    found = variance_components(label_cells(counts, {"q": list("abcd")}), object_="q")
    assert found.value("q") == pytest.approx((msb - msw) / m0)
    assert found.value() == pytest.approx(msw)
    assert found.estimator.startswith("one-hot (Gini)")


def test_relabelling_and_adding_a_constant_change_nothing():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (12, 3)) + np.eye(3, dtype=int)[0]
    levels = {"q": np.repeat(np.arange(6), 2), "o": np.tile([0, 1], 6)}
    plain = variance_components(label_cells(counts, levels), object_="q")
    swapped = variance_components(label_cells(counts[:, [2, 0, 1]], levels), object_="q")
    scores = rng.normal(size=12)
    near = variance_components(scored(scores, **levels), object_="q")
    far = variance_components(scored(scores + 1e5, **levels), object_="q")
    for one, two, tolerance in ((plain, swapped, 1e-12), (near, far, 1e-4)):
        values = [component.value for component in one.components]
        np.testing.assert_allclose(values, [c.value for c in two.components], atol=tolerance)


def unbalanced(seed):
    """A three-facet design with holes and uneven replication: one row a judgment."""
    rng = np.random.default_rng(seed)
    grid = np.array(np.meshgrid(np.arange(5), np.arange(3), np.arange(2))).reshape(3, -1).T
    rows = np.repeat(grid, rng.integers(0, 4, len(grid)), axis=0)
    return dict(zip(("q", "o", "t"), rows.T, strict=True))


@given(st.integers(0, 10_000))
def test_expected_sums_of_squares_are_those_of_brute_force(seed):
    levels = unbalanced(seed)
    n = len(levels["q"])
    cells = scored(np.zeros(n), **levels)
    terms = [("q",), ("o",), ("q", "o"), ("q", "o", "t")]
    margins = [margin(cells, term, object_="q") for term in terms]
    groups = np.unique(levels["q"], return_inverse=True)[1]
    none = margin(cells, (), object_="q")
    found = equations(cells, margins, none, groups, groups.max() + 1)[0][-1] * n
    designs = [np.eye(one.n_levels)[one.levels_C] for one in margins]
    designs += [np.eye(n), np.ones((n, 1))]
    # E y'Py = tr(P Z Z') for every effect of variance 1, with P the projection on the row's cells,
    # of deviations from the mean of all but for the mean itself.
    inside = np.eye(n) - 1 / n
    for row, left in enumerate(designs):
        projection = left @ np.diag(1 / left.sum(0)) @ left.T
        if row < len(designs) - 1:
            projection = inside @ projection @ inside
        for column, right in enumerate(designs):
            expected = np.trace(projection @ right @ right.T)
            assert found[row, column] == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 1_000))
def test_leaving_a_question_out_is_computing_without_it(seed):
    levels = unbalanced(seed)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=len(levels["q"]))
    terms = [("q",), ("o",), ("q", "o")]
    whole = variance_components(scored(scores, **levels), object_="q", terms=terms)
    order = np.random.default_rng(0).permutation(whole.n_questions)
    questions = np.unique(levels["q"])
    for q, row in zip(questions, order, strict=True):
        kept = levels["q"] != q
        less = {name: column[kept] for name, column in levels.items()}
        part = variance_components(scored(scores[kept], **less), object_="q", terms=terms)
        if len(part.components) == len(whole.components) and np.isfinite(whole.left_out_GP[row, 0]):
            values = [one.value for one in part.components]
            np.testing.assert_allclose(whole.left_out_GP[row], values, atol=1e-8)
    assert whole.left_out_GP.shape == (whole.n_questions, len(whole.components))


@pytest.mark.slow
def test_known_components_are_recovered():
    # 200 sets of 12 questions x 3 orders x 2 templates, 0 to 3 replications; truth 1, .3, .5, .8.
    rng = np.random.default_rng(7)
    truth = {("q",): 1.0, ("o",): 0.3, ("q", "o"): 0.5, (): 0.8}
    estimates = []
    for _ in range(200):
        grid = np.array(np.meshgrid(np.arange(12), np.arange(3))).reshape(2, -1).T
        q, o = np.repeat(grid, rng.integers(0, 4, len(grid)), axis=0).T
        scores = (
            rng.normal(0, 1, 12)[q]
            + rng.normal(0, 0.3**0.5, 3)[o]
            + rng.normal(0, 0.5**0.5, (12, 3))[q, o]
            + rng.normal(0, 0.8**0.5, q.size)
        )
        found = variance_components(scored(scores, q=q, o=o), object_="q")
        estimates.append([found.value(*facets) for facets in truth])
    mean, error = np.mean(estimates, 0), np.std(estimates, 0) / 200**0.5
    assert (np.abs(mean - list(truth.values())) < 3 * error).all()
    assert (error < 0.08).all()


@pytest.mark.slow
def test_gini_components_of_a_dirichlet_judge_are_recovered():
    # Shares Dirichlet(s pi): the question's part of Gini's variance is 1 / (1 + s).
    rng = np.random.default_rng(3)
    s, pi = 1.0, np.array([0.5, 0.3, 0.2])
    shares = []
    for _ in range(200):
        counts = [
            rng.multinomial(m, p)
            for m, p in zip([2, 3, 5] * 10, rng.dirichlet(s * pi, 30), strict=True)
        ]
        found = variance_components(label_cells(counts, {"q": np.arange(30)}), object_="q")
        shares.append([found.value("q"), found.value()])
    mean, error = np.mean(shares, 0), np.std(shares, 0) / 200**0.5
    gini = 1 - (pi**2).sum()
    assert (np.abs(mean - gini / 2) < 3 * error).all()


def test_what_a_design_cannot_tell_apart_is_said():
    # Every question in one order only, once each; the judge and its fingerprint go together.
    levels = {"q": [0, 0, 1, 1], "judge": [0, 1, 0, 1], "print": [7, 9, 7, 9], "t": [0, 0, 0, 0]}
    found = variance_components(scored([1.0, 2.0, 5.0, 3.0], **levels), object_="q")
    assert [one.name for one in found.components] == ["q", "judge", "residual"]
    assert found.confounded["print"] == "judge"
    assert found.confounded["q x judge"] == "residual"


def test_a_nested_facet_has_no_effect_of_its_own():
    # Responses of one question each: nesting shows in the codes.
    levels = {"q": [0, 0, 0, 0, 1, 1, 1, 1], "r": [0, 0, 1, 1, 2, 2, 3, 3]}
    found = variance_components(scored([1, 2, 3, 4, 7, 7, 5, 4], **levels), object_="q")
    assert [one.name for one in found.components] == ["q", "r", "residual"]
    # Cell means 1.5 3.5 / 7 4.5: MSr = .5 + .5 + 0 + .5 = 1.5 / 4; MSqr = (2 + 3.125 x 2) / 2.
    assert found.value() == pytest.approx(0.375)
    assert found.value("r") == pytest.approx((2 * (2 + 3.125) / 2 - 0.375) / 2)


@pytest.mark.parametrize(
    ("scores", "questions", "why"),
    [([], [], "no_verdicts"), ([1, 2], [0, 0], "too_few_units"), ([3, 3], [0, 1], "no_variance")],
)
def test_degenerate_data_say_why(scores, questions, why):
    found = variance_components(scored(scores, q=questions), object_="q")
    assert (found.undefined, found.components) == (why, ())


@pytest.mark.slow
def test_intervals_cover_the_question_component():
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(200):
        q = np.repeat(np.arange(40), 3)
        scores = rng.normal(0, 1, 40)[q] + rng.normal(0, 1, q.size)
        one = variance_components(scored(scores, q=q), object_="q").components[0]
        covered += one.low <= 1 <= one.high
    assert covered >= 180  # nominal .95; 200 x (.95 - 3 x .0154)


def test_many_questions_are_left_out_by_fixed_groups():
    rng = np.random.default_rng(5)
    q = np.repeat(np.arange(1000), 2)
    scores = rng.normal(0, 1, 1000)[q] + rng.normal(0, 1, q.size)
    found = variance_components(scored(scores, q=q), object_="q")
    again = variance_components(scored(scores, q=q), object_="q")
    assert found.left_out_GP.shape == (200, 2)
    assert np.array_equal(found.left_out_GP, again.left_out_GP)
    # Var of MSB/2 - MSW/2 over 1000 pairs: se about sqrt(2 / 1000) x sqrt(3^2 + 1) / 2 = .07.
    one = found.components[0]
    assert (one.high - one.low) / 2 / 1.972 == pytest.approx(0.0707, rel=0.25)


def test_mistakes_are_refused():
    cells = scored([1.0, 2.0], q=[0, 1])
    with pytest.raises(ValueError, match="object_ must be one of"):
        variance_components(cells, object_="question")
    with pytest.raises(ValueError, match="terms must be distinct sets"):
        variance_components(cells, object_="q", terms=[("q",), ("q",)])
    with pytest.raises(ValueError, match="confidence"):
        variance_components(cells, object_="q", confidence=1.0)
    with pytest.raises(ValueError, match="levels of 'q' must have shape"):
        scored([1.0, 2.0], q=[0])
    with pytest.raises(ValueError, match="whole numbers"):
        label_cells([[0.5]], {})
    with pytest.raises(ValueError, match="facets must be those of"):
        variance_components(scored([1, 2, 3, 4], q=[0, 0, 1, 1]), object_="q").value("o")


def unbalanced_thirds(i):
    """Replications of a question at each of three temperatures, a third of the cells empty."""
    return [(4, 0, 0), (0, 0, 4), (2, 2, 2)][i % 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "replications",
    [lambda i: (8, 1, 1) if i % 2 else (1, 1, 8), unbalanced_thirds],
    ids=["uneven", "cells missing"],
)
def test_fixed_facets_leave_components_unbiased_however_unbalanced(replications):
    # Temperatures add -1, 0, 1 and no chance: variance 1. Truth: question 1, interaction .25, 1.
    rng = np.random.default_rng(5)
    q, t = np.array(
        [(i, j) for i in range(24) for j in range(3) for _ in range(replications(i)[j])]
    ).T
    estimates = []
    for _ in range(150):
        scores = rng.normal(0, 1, 24)[q] + (t - 1.0) + rng.normal(0, 0.5, (24, 3))[q, t]
        cells = scored(scores + rng.normal(size=q.size), q=q, t=t)
        found = variance_components(cells, object_="q", fixed=["t"])
        estimates.append([found.value(*facets) for facets in (("q",), ("t",), ("q", "t"), ())])
    mean, error = np.mean(estimates, 0), np.std(estimates, 0) / 150**0.5
    assert (np.abs(mean - [1, 1, 0.25, 1]) < 3 * error).all()
    assert (error < 0.08).all()


def test_on_balanced_data_fixed_facets_change_nothing_but_the_words():
    rng = np.random.default_rng(2)
    q, t, o = np.array(np.meshgrid(np.arange(6), np.arange(3), np.arange(2))).reshape(3, -1)
    levels = {"q": np.repeat(q, 2), "t": np.repeat(t, 2), "o": np.repeat(o, 2)}
    cells = scored(rng.normal(size=72), **levels)
    plain = variance_components(cells, object_="q")
    within = variance_components(cells, object_="q", fixed=["t"])
    assert [one.name for one in within.components] == [one.name for one in plain.components]
    for one, two in zip(plain.components, within.components, strict=True):
        for name in ("value", "low", "high"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-9)
    assert plain.estimator == "analysis of variance, Henderson's method I, all facets random"
    assert "t fixed" in within.estimator


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_expected_sums_of_squares_with_fixed_facets_are_those_of_brute_force(seed):
    levels = unbalanced(seed)
    n = len(levels["q"])
    scores = np.random.default_rng(seed).normal(size=n)
    cells = scored(scores, **levels)
    terms = [("q",), ("o",), ("t",), ("q", "t"), ("o", "t"), ("q", "o", "t")]
    margins = [margin(cells, term, object_="q") for term in terms]
    fixed = margin(cells, ("t",), object_="q")
    groups = np.unique(levels["q"], return_inverse=True)[1]
    coefficients, squares = equations(cells, margins, fixed, groups, groups.max() + 1)
    for group in (*range(groups.max() + 1), -1):
        kept = groups != group
        y, x = scores[kept] - scores.mean(), np.eye(fixed.n_levels)[fixed.levels_C[kept]]
        x = x[:, x.any(axis=0)]
        inside = np.eye(kept.sum()) - x @ np.diag(1 / x.sum(0)) @ x.T
        means = np.diag(1 / x.sum(0)) @ x.T
        designs = [np.eye(one.n_levels)[one.levels_C[kept]] for one in margins]
        designs = [one[:, one.any(axis=0)] for one in designs] + [np.eye(kept.sum())]
        for row, left in enumerate(designs):
            form = inside @ left @ np.diag(1 / left.sum(0)) @ left.T @ inside / kept.sum()
            if row == 2:  # the fixed facet itself: its means, each of weight one
                form = means.T @ means / len(means)
            for column, right in enumerate(designs):
                expected = np.trace(form @ right @ right.T) * (column != 2 or row == 2)
                assert coefficients[group, row, column] == pytest.approx(expected, abs=1e-9)
            assert squares[group, row] == pytest.approx(y @ form @ y, abs=1e-9)


def test_what_goes_with_a_fixed_facet_is_confounded_with_it():
    t = np.tile([0, 1], 6)
    levels = {"q": np.repeat([0, 1, 2], 4), "template": t, "t": t}
    found = variance_components(scored(np.arange(12.0) ** 2, **levels), object_="q", fixed=["t"])
    assert found.confounded["template"] == "t"
    assert ("t",) in [one.facets for one in found.components]
    # Each judgment at a temperature of its own: nothing is left without them, and none is fixed.
    alone = {"q": [0, 0, 1, 1], "t": [0, 1, 2, 3]}
    found = variance_components(scored([1, 2, 4, 7], **alone), object_="q", fixed=["t"])
    assert "all facets random" in found.estimator
    with pytest.raises(ValueError, match="fixed must be facets"):
        variance_components(scored([1, 2], q=[0, 1]), object_="q", fixed=["q"])
