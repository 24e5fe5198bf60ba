"""How often scores are said to rest on few questions, as bench/few_questions.py counts it."""

import numpy as np
import pytest

from bench.few_questions import drawn
from judgerel_ray.stats.intervals.precision import FEWEST_CARRYING


@pytest.mark.parametrize(
    ("law", "least", "most"),
    [("normal", 0, 0.15), ("uniform", 0, 0.05), ("one in ten low", 0.5, 1)],
)
def test_flags(law, least, most):
    # Of 1,000 runs 6, 0 and 72 %.
    found = [
        drawn(law, questions=20, replications=5, icc=0.5, seed=1000 * run + 1) for run in range(80)
    ]
    assert not any(one.few_informative for one in found)
    flagged = np.mean([(one.n_effective or np.inf) < FEWEST_CARRYING for one in found])
    assert least <= flagged <= most
