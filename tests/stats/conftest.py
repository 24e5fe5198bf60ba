"""Laid-out measures that tests of several rooms of statistics need."""

from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats.counts import QuestionTerms, divide


@pytest.fixture
def hangs_on_one_question() -> QuestionTerms:
    """The mean among those of 30 questions that are marked, of which there is one."""
    marked = np.zeros(30)
    marked[0] = 1.0
    return QuestionTerms(
        name="m", questions_C=np.arange(30), terms_CT=np.stack([marked, marked], axis=1),
        value=lambda total: divide(total[..., 0], total[..., 1]),
    )  # fmt: skip
