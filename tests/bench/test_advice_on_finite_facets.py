from __future__ import annotations

import numpy as np
import pytest

from bench.advice_on_finite_facets import LEVELS, PAIRS, Levels, covered, recommended


@pytest.mark.slow
@pytest.mark.parametrize("judge", PAIRS[1:3], ids=lambda judge: judge.name)
def test_the_median_advice_is_within_a_tenth_of_the_true_need(judge):
    found = recommended(judge, runs=15, seed=3)
    assert np.nanmedian(found.after) == pytest.approx(judge.need(), rel=0.1)
    assert (found.whole % 2 == 0).all()  # half in each order
    # Orders drawn anew each time need nearly twice as many, or are out of reach.
    assert np.nanmedian(np.nan_to_num(found.before, nan=np.inf)) > 1.5 * judge.need()


@pytest.mark.slow
def test_truths_are_those_of_many_questions_and_levels():
    law = Levels(name="drawn", main=0.8, crossed=0.5, known=False)
    rng = np.random.default_rng(1)
    found = law.draw(600, 300, 2, rng)
    values = [one.value for one in found.components]
    assert values == pytest.approx(list(law.truth(300)[:4]), rel=0.25)
    known = Levels(name="known", main=0.8, crossed=0.5, known=True)
    found = known.draw(20_000, 3, 2, rng)
    values = [one.value for one in found.components]
    assert values == pytest.approx(list(known.truth(3)[:4]), rel=0.12)


def test_intervals_of_few_drawn_levels_cover_and_by_questions_alone_do_not():
    before, after, given = covered(LEVELS[-1], questions=50, levels=4, runs=40, seed=2)
    assert (given == 40).all()
    assert (after >= 0.84).all()  # .95 less three Monte-Carlo standard errors
    assert before[1] < 0.7
    _, after, given = covered(LEVELS[-1], questions=50, levels=2, runs=5, seed=2)
    assert (given == 0).all()
    assert np.isnan(after).all()
