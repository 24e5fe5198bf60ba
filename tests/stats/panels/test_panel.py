"""Panels whose errors go together, simulated."""

import numpy as np
import pytest

from judgerel_ray.stats.panels import panel
from judgerel_ray.stats.panels.panel import effective_judges, panel_steps


def errors(rng, correlation, n_questions, n_judges):
    shared = rng.normal(size=(n_questions, 1)) * correlation**0.5
    return shared + rng.normal(size=(n_questions, n_judges)) * (1 - correlation) ** 0.5


def test_six_judges_of_correlated_errors_are_two():
    # 6 / (1 + 5 x .42) = 1.935
    rng = np.random.default_rng(1)
    covered, values = 0, []
    for _ in range(200):
        found = effective_judges(errors(rng, 0.42, 100, 6))
        covered += found.low <= 6 / 3.1 <= found.high
        values.append(found.correlation)
    assert np.mean(values) == pytest.approx(0.42, abs=0.02)
    assert covered >= 180
    assert found.value == pytest.approx(6 / (1 + 5 * found.correlation))
    assert found.most == pytest.approx(1 / found.correlation)
    assert (found.n_judges, found.n_questions, found.undefined) == (6, 100, None)


def test_the_correlation_is_the_mean_of_all_pairs():
    rng = np.random.default_rng(2)
    table = errors(rng, 0.3, 30, 4)
    pairs = np.corrcoef(table.T)[np.triu_indices(4, 1)]
    found = effective_judges(table)
    assert found.correlation == pytest.approx(pairs.mean())
    left = [np.corrcoef(np.delete(table, i, 0).T)[np.triu_indices(4, 1)].mean() for i in range(30)]
    error = np.sqrt(29 / 30 * ((left - np.mean(left)) ** 2).sum())
    high = pairs.mean() + 2.045230 * error
    assert found.low == pytest.approx(4 / (1 + 3 * high), rel=1e-5)


@pytest.mark.parametrize("n_questions", [3, 5])
def test_more_judges_than_questions_correlate_as_their_pairs_do(n_questions):
    rng = np.random.default_rng(3)
    table, within = rng.random((n_questions, 7)), rng.random((n_questions, 7))
    correlation, left_out = panel._judge_error_correlations(table, within)
    for found, rows in (
        (correlation, np.arange(n_questions)),
        *((one, np.delete(np.arange(n_questions), q)) for q, one in enumerate(left_out)),
    ):
        variance = table[rows].var(axis=0) + within[rows].mean(axis=0)
        pairs = np.cov(table[rows].T, ddof=0) / np.sqrt(np.outer(variance, variance))
        assert found == pytest.approx(pairs[np.triu_indices(7, 1)].mean())


def test_very_many_judges_are_no_table_of_pairs():
    found = effective_judges(np.repeat([[0.0], [1.0], [1.0]], 50_000, axis=1))
    assert (found.n_judges, found.value) == (50_000, pytest.approx(1.0))


def test_gaps_and_judges_that_never_err_are_left_out():
    table = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [np.nan, 1, 0]]
    found = effective_judges(table)
    assert (found.n_judges, found.n_questions) == (2, 4)
    assert found.correlation == pytest.approx(0)
    assert found.value == pytest.approx(2)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([[1, 0]], "too_few_units"),
        ([[1, 0], [1, 1]], "too_few_judges"),
        ([[0, 1], [1, 0], [0, 1]], "no_bound"),
    ],
)
def test_degenerate_panels_say_why(table, why):
    found = effective_judges(table)
    assert (found.undefined, found.value) == (why, None)


def test_what_the_next_judge_adds_is_what_a_larger_panel_shows():
    # Verdict shares of the population of judges, known: five judges seen, seven predicted.
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(3, 0.5), 4000)
    seen = np.array([rng.choice(3, 5, p=p) for p in shares])
    steps = panel_steps(np.eye(3)[seen], most=7)
    assert [step.n_judges for step in steps] == list(range(1, 8))
    votes = [rng.multinomial(7, p) for p in shares], [rng.multinomial(7, p) for p in shares]
    winners = [np.argmax(np.array(one) + rng.random((4000, 3)) * 1e-3, axis=1) for one in votes]
    assert steps[-1].agreement == pytest.approx((winners[0] == winners[1]).mean(), abs=0.025)
    assert steps[0].gain is None
    assert steps[2].gain == pytest.approx(steps[2].agreement - steps[1].agreement)
    assert steps[2].gain > steps[6].gain > 0


def test_judgments_repeated_by_a_judge_are_no_further_judges():
    # A judge of ten replications says what one of one says of other judges, only steadier.
    rng = np.random.default_rng(4)
    judges = rng.dirichlet([4.0, 1.0], (3000, 3))
    once = np.array([[rng.multinomial(1, p) for p in row] for row in judges])
    often = np.array([[rng.multinomial(10, p) for p in row] for row in judges])
    few, many = panel_steps(once, most=3), panel_steps(often, most=3)
    for one, other in zip(few, many, strict=True):
        assert one.agreement == pytest.approx(other.agreement, abs=0.02)
    # Two judgments of different judges: sum of squared mean shares, .8^2 + .2^2.
    assert many[0].agreement == pytest.approx(0.68, abs=0.01)


def test_means_of_several_judgments_tell_the_correlation_of_single_ones():
    rng = np.random.default_rng(5)
    hard = rng.random(4000) < 0.3
    wrong = np.where(hard[:, None], 0.6, 0.1) * np.ones((1, 3))
    single = (rng.random(wrong.shape) < wrong).astype(float)
    share = rng.binomial(8, wrong) / 8
    one = effective_judges(single)
    means = effective_judges(share, within_NJ=share * (1 - share))
    assert means.correlation == pytest.approx(one.correlation, abs=0.03)
    assert effective_judges(share).correlation > means.correlation + 0.2


def test_nobody_is_no_panel():
    assert panel_steps([[[1, 0]], [[0, 1]]], most=3) == ()
    with pytest.raises(ValueError, match="most must be at least 1"):
        panel_steps([[[2, 0]]], most=0)
    with pytest.raises(ValueError, match="2 dimensions"):
        effective_judges([1.0])
    with pytest.raises(ValueError, match="within_NJ must have shape"):
        effective_judges([[1.0, 0.0]], within_NJ=[[1.0]])
    with pytest.raises(ValueError, match="3 dimensions"):
        panel_steps([[2, 0]], most=3)
    with pytest.raises(ValueError, match="confidence"):
        effective_judges([[1.0, 0.0]], confidence=2)
