"""The numbers behind the letters."""

import numpy as np
import pytest

from judgerel_ray.core import OUTCOMES
from judgerel_ray.papers import codes_from_verdicts


def test_letters_are_numbered_in_either_case():
    codes = codes_from_verdicts([*"ABCDEabcde"], ["scored"] * 10)
    assert codes.tolist() == [1, 2, 3, 4, 5] * 2


def test_only_conflicts_and_failures_stand_apart_from_silence():
    outcomes = [outcome for outcome in OUTCOMES if outcome != "scored"]
    codes = dict(zip(outcomes, codes_from_verdicts([None] * len(outcomes), outcomes), strict=True))
    assert codes.pop("conflicting") == 7
    assert np.isnan(codes.pop("failed"))
    assert set(codes.values()) == {6.0}


def test_whatever_is_not_correct_is_incorrect():
    outcomes = ["scored", "scored", "unparsed", "conflicting", "failed"]
    labels = ["Correct", "incorrect", None, None, None]
    codes = codes_from_verdicts(labels, outcomes, coding="correctness")
    assert codes[:4].tolist() == [1, 0, 0, 0]
    assert np.isnan(codes[4])


@pytest.mark.parametrize(
    ("labels", "outcomes", "said"),
    [
        (["F"], ["scored"], "letters codes A, B, C, D, E only, got 'F'"),
        ([None], ["scored"], "got None"),
        (["A"], ["done"], "unknown outcome 'done'"),
        (["A"], [], "shorter"),
    ],
)
def test_what_has_no_code_is_refused(labels, outcomes, said):
    with pytest.raises(ValueError, match=said):
        codes_from_verdicts(labels, outcomes)
