"""How far apart certain bounds are, and which questions they settle."""

import json

import pytest

from judgerel_ray.measuring.distributions import (
    distribution_table,
    limit_table,
    width_table,
)


def engine_says(item, low, high, temperature=1.0):
    place = {"judge": "j", "benchmark": "b", "item_id": item, "template": "t", "criterion": None,
             "option_order": 0}  # fmt: skip
    text = {"temperatures": [temperature], "verdicts": ["x", "y", None], "low": [low],
            "high": [high], "estimate": None}  # fmt: skip
    return place, json.dumps(text)


def test_widths_and_what_is_open_are_told_in_probability():
    table = distribution_table(
        [
            engine_says("clear", [0.6, 0.2, 0.1], [0.7, 0.3, 0.2]),
            engine_says("open", [0.4, 0.3, 0.0], [0.7, 0.6, 0.3]),
        ]
    )
    row = width_table(table).row(0, named=True)
    assert row["mean_width"] == pytest.approx(0.2)
    assert row["largest_width"] == pytest.approx(0.3)
    assert row["mean_open"] == pytest.approx(0.2)
    assert row["largest_open"] == pytest.approx(0.3)
    # x has 0.6 at least and no other more than 0.3; of the other question y may still win.
    assert (row["n_questions"], row["n_settled"]) == (2, 1)


def test_temperatures_stand_apart():
    table = distribution_table(
        [
            engine_says("q", [0.5, 0.3, 0.1], [0.6, 0.4, 0.2]),
            engine_says("q", [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.0),
        ]
    )
    widths = width_table(table)
    assert widths["temperature"].to_list() == [0.0, 1.0]
    assert widths["largest_width"].to_list() == pytest.approx([0.0, 0.1])
    assert widths["n_settled"].to_list() == [1, 1]


def test_answers_of_several_responders_stand_apart():
    found = []
    for responder, right in (("a", 0.9), ("b", 0.2)):
        place, text = engine_says("q", [right, 1 - right, 0.0], [right, 1 - right, 0.0])
        found.append(({**place, "option_order": None, "responder": responder}, text))
    table = distribution_table(found)
    assert table.height == 6
    agreement = (
        limit_table(table, majorities=()).filter(coefficient="percent_agreement").row(0, named=True)
    )
    assert agreement["value"] == pytest.approx((0.82 + 0.68) / 2)
    assert agreement["n_items"] == 1
