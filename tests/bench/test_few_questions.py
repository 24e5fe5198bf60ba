"""How often scores are said to rest on few questions, as bench/few_questions.py counts it."""

import numpy as np
import pytest

from bench.few_questions import drawn


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("law", "questions", "least", "most"),
    [
        ("normal", 20, 0, 0.3),
        ("uniform", 20, 0, 0.1),
        ("one in ten low", 20, 0.75, 1),  # one sample in eight has none
        ("normal", 30, 0, 0.2),
        ("one in ten low", 30, 0.85, 1),
        ("normal", 55, 0, 0.15),
    ],
)
def test_flags(law, questions, least, most):
    # Of 400 runs 14, 3, 90, 9, 97 and 3 %; by effective questions alone 6, 0, 72, 1, 55 and 0.
    found = [
        drawn(law, questions=questions, replications=5, icc=0.5, seed=1000 * run + 1)
        for run in range(80)
    ]
    assert not any(one.few_informative for one in found)
    assert least <= np.mean([one.carried_by_few for one in found]) <= most
