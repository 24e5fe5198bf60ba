from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bench.judges_of_known_truth import BASES, TRUTHS, Judge, total_agreement
from judgerel_ray.stats import count_statistic, measure


def test_base_rates_are_distributions():
    assert all(math.isclose(sum(rates), 1) for rates in BASES.values())


@pytest.mark.alike(3)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.8])
@pytest.mark.parametrize("name", TRUTHS)
def test_of_many_questions_a_coefficient_is_what_is_said(name, base, alpha):
    judge, m = Judge(base=base, alpha=alpha), 30
    rng = np.random.default_rng(3)
    table = judge.counts(questions=20_000, replications=m, runs=1, rng=rng)[0]
    found = measure(table, count_statistic(name, n_values=judge.rates.size))
    # Largest standard error here, of alpha .2 at (.9, .1): about .006.
    assert found.value == pytest.approx(TRUTHS[name](judge, m), abs=0.02)


def test_pairs_that_agree_are_two_draws_that_agree():
    for base, alpha in product(BASES, (0.0, 0.2, 0.5, 0.8)):
        judge = Judge(base=base, alpha=alpha)
        assert total_agreement(judge, 2) == pytest.approx(judge.agreement, abs=1e-12)


def test_three_draws_of_polyas_urn():
    # s = 1, pi = 9/10 and 1/10: (9/10)(19/10)(29/10) / (1 * 2 * 3) and likewise.
    exact = sum(p * (p + 1) * (p + 2) / 6 for p in (Fraction(9, 10), Fraction(1, 10)))
    assert total_agreement(Judge(base="pass/fail", alpha=0.5), 3) == pytest.approx(float(exact))


def test_noise_has_one_distribution_for_all_questions():
    judge = Judge(base="skewed", alpha=0.0)
    rng = np.random.default_rng(1)
    table = judge.counts(questions=5000, replications=4, runs=2, rng=rng)
    assert table.shape == (2, 5000, 5)
    assert (table.sum(axis=2) == 4).all()
    assert table.mean(axis=(0, 1)) / 4 == pytest.approx(judge.rates, abs=0.01)
