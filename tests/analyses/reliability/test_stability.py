from __future__ import annotations

import polars as pl

from judgerel_ray.analyses.reliability.unstable import least_stable

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
