"""How matrices are read is the user's to choose, by words that are checked."""

import pytest

from judgerel_ray.analyses.confusion.matrices import (
    RULES,
    UncertaintyOptions,
    uncertainty_options,
)
from judgerel_ray.core import SweepError


def test_without_a_word_the_text_of_the_paper_holds():
    assert uncertainty_options() == UncertaintyOptions()
    found = UncertaintyOptions()
    assert (found.own_choice_required, found.normalised, found.strict) == (True, False, False)


def test_each_rule_changes_one_thing():
    field = {"normalised": "normalised", "formula": "own_choice_required", "exceeding": "strict"}
    assert set(field) == set(RULES)
    plain = uncertainty_options()
    for rule in RULES:
        found = uncertainty_options(rule=rule)
        changed = {n for n in field.values() if getattr(found, n) != getattr(plain, n)}
        assert changed == {field[rule]}
    everything = uncertainty_options(threshold=0.7, rule=RULES, risk=0.2, delta=0.05)
    assert (everything.threshold, everything.risk, everything.delta) == (0.7, 0.2, 0.05)
    assert (everything.normalised, everything.own_choice_required, everything.strict) == (
        True, False, True
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"threshold": 0.0}, "threshold must be above 0 and at most 1, got 0.0"),
        ({"threshold": 1.5}, "threshold must be above 0"),
        ({"risk": 1.0}, "risk must be between 0 and 1, got 1.0"),
        ({"delta": 0.0}, "delta must be between 0 and 1, got 0.0"),
        ({"rule": ["formula", "formla"]}, "rule must be of normalised, formula, exceeding, got"),
    ],
)
def test_mistakes_are_one_line(asked, message):
    with pytest.raises(SweepError, match=message):
        uncertainty_options(**asked)
