from __future__ import annotations

import math

import numpy as np
import pytest

from judgerel_ray.stats import entropy_agreement, total_agreement


def test_entropy_and_its_fields():
    found = entropy_agreement([[3, 1], [2, 0], [1, 0]], n_categories=4)
    plain = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert found.value == pytest.approx(1 - (plain + 1 / 8) / 2 / math.log(4))
    assert (found.n_units, found.n_raters, found.n_ratings, found.n_missing) == (2, 4, 6, 2)


def test_the_correction_takes_most_of_the_bias():
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    truth = 1 + (shares * np.log(shares)).sum() / np.log(4)
    counts = np.random.default_rng(0).multinomial(20, shares, size=4000)
    observed = counts / 20
    plain = 1 + (observed * np.log(np.where(observed > 0, observed, 1))).sum() / 4000 / np.log(4)
    corrected = entropy_agreement(counts).value
    assert abs(plain - truth) > 0.04
    assert abs(corrected - truth) < 0.01


def test_it_is_not_cut_at_zero():
    # log 2 + 1/4 is more than log 2.
    assert entropy_agreement([[1, 1]]).value == pytest.approx(-0.25 / math.log(2))


def test_total_agreement_falls_with_replications():
    shares = [0.9, 0.1]
    few, many = (np.random.default_rng(1).multinomial(m, shares, size=2000) for m in (2, 10))
    assert total_agreement(few).value == pytest.approx(0.82, abs=0.03)
    assert total_agreement(many).value == pytest.approx(0.9**10, abs=0.03)


@pytest.mark.parametrize("coefficient", [entropy_agreement, total_agreement])
def test_categories_below_one_are_refused(coefficient):
    with pytest.raises(ValueError, match="n_categories"):
        coefficient([[1, 1]], n_categories=0)
