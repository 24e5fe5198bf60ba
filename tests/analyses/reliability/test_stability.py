from __future__ import annotations

import polars as pl
import pytest

from judgerel_ray.measuring.unstable import least_stable

FRAME = pl.DataFrame(
    {
        "judge": ["a"] * 10,
        "item_id": ["calm"] * 3 + ["torn"] * 4 + ["once"] + ["mute"] * 2,
        "replication": [0, 1, 2, 0, 1, 2, 3, 0, 0, 1],
        "verdict": ["A", "A", "A", "A", "B", "B", None, "A", "A", None],
    }
)


def test_the_least_stable_come_first_with_their_verdicts():
    found = least_stable(FRAME.lazy())
    assert found["item_id"].to_list() == ["mute", "torn", "calm"]
    torn = found.row(1, named=True)
    assert (torn["agreement"], torn["n_replications"], torn["judge"]) == (1 / 6, 4, "a")
    assert [(v["value"], v["share"]) for v in torn["verdicts"]] == [
        ("B", 0.5),
        ("(unparsed)", 0.25),
        ("A", 0.25),
    ]


def test_the_order_of_rows_does_not_matter():
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=3)
    assert least_stable(shuffled.lazy()).equals(least_stable(FRAME.lazy()))


def test_it_lists_no_more_than_asked():
    assert least_stable(FRAME.lazy(), n=1)["item_id"].to_list() == ["mute"]


def test_ratings_are_listed_apart_by_their_spread():
    """Of 4 and 5 no pair agrees, and they are nearer than 1, 1 and 5."""
    ratings = pl.DataFrame({
        "judge": ["r"] * 7,
        "item_id": ["near"] * 2 + ["far"] * 3 + ["same"] * 2,
        "replication": [0, 1, 0, 1, 2, 0, 1],
        "score": [4.0, 5.0, 1.0, 1.0, 5.0, 3.0, 3.0],
    })  # fmt: skip
    found = least_stable(pl.concat([FRAME, ratings], how="diagonal").lazy())
    assert found["item_id"].to_list() == ["mute", "torn", "calm", "far", "near", "same"]
    assert found["rated"].to_list() == [False] * 3 + [True] * 3
    assert found["spread"].to_list() == [None] * 3 + [
        pytest.approx((16 / 3) ** 0.5), pytest.approx(0.5**0.5), 0.0
    ]  # fmt: skip
    assert found["agreement"].to_list()[3:] == [pytest.approx(1 / 3), 0.0, 1.0]
