from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic
from judgerel_ray.stats.null import noise
from judgerel_ray.stats.null.noise import choose_way, margins_of, noise_floors, permuted

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


@pytest.mark.alike(3)
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
    assert choose_way(margins_of(few_units))[0] == "units"
    assert choose_way(margins_of(rare))[0] == "minority"
    # So many units are drawn for few permutations at once, one call each.
    assert choose_way(margins_of(np.full((200_000, 3), 33.0)))[0] == "verdicts"
    assert choose_way(margins_of(np.tile([1.0, 1.0], (100, 1))))[0] == "verdicts"


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 6), min_size=3, max_size=12),
    n_values=st.integers(20, 60),
    seed=st.integers(0, 2**20),
)
def test_runs_give_the_floors_that_tables_give(sizes, n_values, seed):
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.full(n_values, 0.1))
    counts = np.array([rng.multinomial(m, rates) for m in sizes])
    names = (
        "krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "flip_rate",
        "brennan_prediger", "entropy_agreement", "total_agreement", "majority_stability_2",
    )  # fmt: skip
    asked = [count_statistic(name, n_values=n_values) for name in names]
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for bound in (0, np.inf):  # always by runs, always by tables
            patch.setattr(noise, "_EMPTY", bound)
            found.append(noise_floors(counts, asked, n_permutations=60, seed=seed))
    for runs, tables in zip(*found, strict=True):
        assert runs.n_permutations == tables.n_permutations
        for name in ("mean", "sd", "p"):
            value, expected = getattr(runs, name), getattr(tables, name)
            assert (value is None) == (expected is None)
            assert value is None or value == pytest.approx(expected, abs=1e-12)


def test_many_values_take_no_tables(monkeypatch):
    monkeypatch.setattr(noise, "permuted", None)
    counts = np.zeros((60, 240), dtype=int)
    counts[np.repeat(np.arange(60), 4), np.arange(240)] = 1
    alpha = count_statistic("krippendorff_alpha", n_values=240)
    assert noise_floors(counts, [alpha])[0].n_permutations == 999
