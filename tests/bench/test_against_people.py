"""A judge that is one more person is not told from people; by the majority it looked better."""

from __future__ import annotations

import numpy as np
import pytest

from bench.against_people import BASES, counted, majority_accuracy, rates
from judgerel_ray.stats.ratings.reference import people_match

RUNS = 400


@pytest.mark.slow
@pytest.mark.parametrize(("base", "n", "people"), [("even", 20, 2), ("skewed", 55, 5)])
def test_one_more_person_is_not_said_to_differ(base, n, people):
    found = rates(BASES[base], n, people, RUNS, 1)
    assert found["differs"] <= 0.05
    assert found["share"] == pytest.approx(found["truth"], abs=0.01)
    assert found["bar"] == pytest.approx(found["truth"], abs=0.01)
    assert min(found["judge"], found["person"]) >= 0.9
    assert found["noise"] <= 0.07


@pytest.mark.slow
def test_the_majoritys_label_has_one_more_person_above_people():
    found = rates(BASES["even"], 200, 2, RUNS, 1)
    assert found["old"] > found["truth"] + 0.1
    assert found["old_above"] > 0.6
    assert found["differs"] <= 0.07


def test_worse_than_a_person_is_told_and_noise_is_called_noise():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.full(4, 0.25), size=200)
    labels = np.array([rng.choice(4, size=4, p=one) for one in p])
    counts = counted(labels[:, 1:], 4)
    half = np.where(rng.random(200) < 0.5, labels[:, 0], rng.integers(0, 4, size=200))
    assert people_match(counts, half).difference.high < 0
    assert people_match(counts, half).floor.p < 0.001
    assert people_match(counts, rng.permutation(labels[:, 0])).floor.p > 0.05


def test_the_old_rule_gives_a_person_of_two_full_marks():
    labels = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    old = majority_accuracy(counted(labels, 2), labels[:, 0])
    assert (old.value, old.n) == (1.0, 2)
    assert people_match(counted(labels, 2), [0] * 4).person.value == 0.5
