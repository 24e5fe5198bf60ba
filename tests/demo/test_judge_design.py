"""The law by itself: hand-checked values."""

from __future__ import annotations

import math

import pytest

from demo.judge_design import NO_VERDICT, design_distribution, kl_divergence, quality


def test_quality_adds_words_as_often_as_they_occur() -> None:
    assert quality([]) == 0
    assert quality(["clear", "clear", "wrong"]) == pytest.approx(0.7 + 0.7 - 1.4)


def test_two_equal_options_differ_by_position_only() -> None:
    law = design_distribution([1.0, 1.0])
    assert law["A"] / law["B"] == pytest.approx(math.exp(0.4 - 0.1))
    assert law[NO_VERDICT] == pytest.approx(0.06)


@pytest.mark.parametrize("temperature", [2.0, 1.0, 0.5, 0.25])
def test_letters_and_silence_are_tempered_apart(temperature) -> None:
    law = design_distribution([0.3, 1.2, -0.4], temperature=temperature)
    assert sum(law.values()) == pytest.approx(1)
    # 0.06/0.94 odds and e^((1.2 + 0.1) - (0.3 + 0.4)) odds, each to the power 1/T
    assert law[NO_VERDICT] / (1 - law[NO_VERDICT]) == pytest.approx((6 / 94) ** (1 / temperature))
    assert law["B"] / law["A"] == pytest.approx(math.exp(0.6 / temperature))


def test_divergence_is_zero_of_itself_and_infinite_at_a_hole() -> None:
    law = design_distribution([0.0, 1.0])
    assert kl_divergence(law, law) == 0
    assert kl_divergence(law, {"A": 1.0}) == math.inf
    assert kl_divergence({"A": 1.0}, {"A": 0.5, "B": 0.5}) == pytest.approx(math.log(2))
