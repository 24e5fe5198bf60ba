from __future__ import annotations

from math import comb

import numpy as np
import pytest

from judgerel_ray.stats.null.noise import cheapest, margins_of, permuted

COUNTS = np.array([[0.0, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 1.0]])
WAYS = ("verdicts", "units", "minority")


def tables(way: str, n: int, counts: np.ndarray = COUNTS):
    rng = np.random.default_rng(0)
    return list(permuted(margins_of(counts), n, way, rng, width=3))


@pytest.mark.parametrize("way", WAYS)
def test_permutations_keep_the_margins(way):
    for one in tables(way, 50):
        for table in one.tables_BRV:
            numbers = np.ones(len(table)) if one.numbers_R is None else one.numbers_R
            assert numbers @ table == pytest.approx(COUNTS.sum(axis=0))
            sizes = np.repeat(table.sum(axis=1), numbers.astype(int))
            assert sorted(sizes.tolist()) == [1, 3, 4]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_permutes_alike(way):
    # Two units of two and three, two verdicts of five: both in the smaller one in 1 of 10.
    counts = np.array([[1.0, 1.0], [2.0, 1.0]])
    met = 0.0
    for one in tables(way, 4000, counts):
        rows = one.tables_BRV
        met += float(((rows[..., 1] == 2) & (rows[..., 0] == 0)).sum())
    assert met / 4000 == pytest.approx(1 / comb(5, 2), abs=0.02)


def test_the_way_is_the_cheapest():
    few_units, rare = np.full((20, 3), 1e6), np.tile([50.0, 0.0], (10_000, 1))
    rare[:9] = [49.0, 1.0]
    assert cheapest(margins_of(few_units))[0] == "units"
    assert cheapest(margins_of(rare))[0] == "minority"
    # So many units are drawn for few permutations at once, one call each.
    assert cheapest(margins_of(np.full((200_000, 3), 33.0)))[0] == "verdicts"
    assert cheapest(margins_of(np.tile([1.0, 1.0], (100, 1))))[0] == "verdicts"
