"""Decision studies against the formulas by hand, and against data that were averaged."""

import numpy as np
import pytest

from judgerel_ray.stats.generalizability.component import component_share_interval
from judgerel_ray.stats.generalizability.dstudy import (
    dependability,
    judgments_for,
    replications_for,
    spearman_brown,
)
from judgerel_ray.stats.generalizability.facet_cells import label_cells, score_cells
from judgerel_ray.stats.generalizability.variance_components import variance_components


def scored(scores, **levels):
    scores = np.asarray(scores, dtype=float)
    return score_cells(np.ones(scores.size), scores, scores**2, levels)


@pytest.fixture(scope="module")
def crossed():
    """The textbook data of test_variance_components with a steadier first question.

    Cell means 2 3 / 5 8 / 2 2, grand mean 22/6; SSq = 4 (q means 2.5 6.5 2) etc. are checked there.
    """
    scores = [2, 2, 3, 3, 5, 5, 8, 8, 2, 2, 3, 1]
    cells = scored(scores, question=np.repeat([0, 1, 2], 4), order=np.tile([0, 0, 1, 1], 3))
    return variance_components(cells, object_="question")


def test_errors_are_divided_by_what_they_are_averaged_over(crossed):
    q, o = crossed.value("question"), crossed.value("order")
    qo, r = crossed.value("question", "order"), crossed.value()
    assert min(q, o, qo, r) > 0
    one = dependability(crossed, n_judgments=6, n_levels={"order": 2})
    assert one.universe == pytest.approx(q)
    assert one.relative_error == pytest.approx(qo / 2 + r / 6)
    assert one.absolute_error == pytest.approx(qo / 2 + r / 6 + o / 2)
    assert one.generalizability == pytest.approx(q / (q + qo / 2 + r / 6))
    assert one.dependability == pytest.approx(q / (q + qo / 2 + r / 6 + o / 2))
    assert (one.n_judgments, one.set_to_zero) == (6, ())


def test_a_facet_that_stays_leaves_its_error(crossed):
    q, qo, r = (crossed.value(*f) for f in (("question",), ("question", "order"), ()))
    stays = dependability(crossed, n_judgments=10_000)
    assert stays.generalizability == pytest.approx(q / (q + qo + r / 10_000))
    assert judgments_for(crossed, 0.99) is None
    needed = judgments_for(crossed, 0.99, apart=["order"])
    assert needed == pytest.approx(99 * (qo + r) / q)
    absolute = judgments_for(crossed, 0.99, apart=["order"], absolute=True)
    assert absolute == pytest.approx(99 * (qo + r + crossed.value("order")) / q)


def test_a_chosen_facet_is_no_error(crossed):
    q, qo, r = (crossed.value(*f) for f in (("question",), ("question", "order"), ()))
    one = dependability(crossed, fixed=["order"])
    assert one.universe == pytest.approx(q + qo)
    assert one.relative_error == one.absolute_error == pytest.approx(r)


def test_inside_questions_only_responses_count():
    # Question and response: components 4 and 1, residual .25 by construction of the fractions.
    levels = {"question": [0, 0, 0, 0, 1, 1, 1, 1], "response": [0, 0, 1, 1, 0, 0, 1, 1]}
    terms = [("question",), ("question", "response")]
    found = variance_components(
        scored([1, 2, 3, 4, 8, 8, 5, 4], **levels), object_="question", terms=terms
    )
    own = {"question", "response"}
    inside = dependability(found, objects=own, given={"question"})
    w, e = found.value("question", "response"), found.value()
    assert inside.generalizability == pytest.approx(w / (w + e))
    whole = dependability(found, objects=own)
    assert whole.universe == pytest.approx(w + max(0, found.value("question")))


def test_negative_components_count_as_nothing_and_are_named():
    scores = [1, 3, 2, 4, 5, 5, 8, 6, 2, 2, 3, 1]  # question x order is -1/6
    cells = scored(scores, question=np.repeat([0, 1, 2], 4), order=np.tile([0, 0, 1, 1], 3))
    one = dependability(variance_components(cells, object_="question"))
    assert one.set_to_zero == ("question x order",)
    assert one.relative_error == pytest.approx(4 / 3)
    assert one.generalizability == pytest.approx(4.5 / (4.5 + 4 / 3))


@pytest.mark.slow
def test_the_interval_covers_the_reliability_of_one_judgment():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        counts = [rng.multinomial(4, p) for p in rng.dirichlet(np.full(4, 0.25), 40)]
        found = variance_components(label_cells(counts, {"q": np.arange(40)}), object_="q")
        one = dependability(found)
        covered += one.low <= 0.5 <= one.high  # 1 / (1 + s), s = 1
    assert covered >= 180


def test_spearman_brown_and_back():
    assert spearman_brown(0.43, 1) == pytest.approx(0.43)
    printed = {3: 0.694, 5: 0.791, 11: 0.893, 21: 0.941}
    # Of .4304, the unrounded value behind the printed .430.
    assert {k: round(spearman_brown(0.4304, k), 3) for k in printed} == printed
    for k, value in printed.items():
        assert replications_for(0.4304, value) in (k, k + 1)
        assert replications_for(0.4304, spearman_brown(0.4304, k)) == k
    # .95 / .05 x (1 - G) / G of the within-question G of a small judge, .579 / (.579 + .203).
    small = 0.579 / (0.579 + 0.203)
    assert replications_for(small, 0.95) == 7
    assert replications_for(small, 0.99) == 35
    assert replications_for(0.958, 0.95) == 1
    assert replications_for(1.0, 0.95) == 1
    assert replications_for(-0.1, 0.95) is None


def test_mistakes_are_refused(crossed):
    with pytest.raises(ValueError, match="facets must be of"):
        dependability(crossed, n_levels={"template": 2})
    with pytest.raises(ValueError, match="at least 1"):
        dependability(crossed, n_judgments=0)
    with pytest.raises(ValueError, match="must have components"):
        dependability(variance_components(scored([], q=[]), object_="q"))
    with pytest.raises(ValueError, match="target must be between 0 and 1"):
        judgments_for(crossed, 1.0)
    with pytest.raises(ValueError, match="target must be between 0 and 1"):
        replications_for(0.5, 0.0)
    with pytest.raises(ValueError, match="at most 1"):
        replications_for(1.1, 0.5)
    with pytest.raises(ValueError, match="k above 0"):
        spearman_brown(0.5, 0)


def test_an_interval_near_one_that_one_question_widens_has_ends():
    """One question holds all error: on the logit scale its weight is beyond what exp can take."""
    left_out = 1 / (1 + np.r_[0.5, np.zeros(11)])
    assert component_share_interval(1 / 1.0001, [(left_out, 1.0)], confidence=0.95) == (0.0, 1.0)
