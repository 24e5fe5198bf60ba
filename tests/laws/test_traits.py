"""What a coefficient states of itself, held against brute force over small tables.

Code acts on these traits (bounds over missing verdicts, the side of a tolerance, the kind of an
interval, flags): a coefficient that states one wrongly must fail here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from judgerel_ray.measuring.estimates import class_statistic
from judgerel_ray.stats import COEFFICIENTS, count_statistic, measure
from judgerel_ray.stats.agreement.completions import (
    RATIOS,
    completed_range,
    extremes,
    mean_range,
)
from judgerel_ray.stats.counts import CountStatistic, count_vectors

NAMES = sorted(COEFFICIENTS)
K = 3
# Of replies with and without a verdict: its two columns are no verdicts.
OF_REPLIES = {"valid_rate"}
# What they are of depends on how often a question was asked: all of m alike, the mean of m.
OF_M = {"total_agreement", "icck", "valid_rate"}


def statistic_of(name: str, width: int = K) -> CountStatistic:
    return count_statistic(name, n_values=width, n_categories=width)


def tables(n_units: int, m: int, width: int = K) -> Iterator[np.ndarray]:
    """Every table of so many units with m verdicts each."""
    rows = [row for row in product(range(m + 1), repeat=width) if sum(row) == m]
    for found in product(rows, repeat=n_units):
        yield np.array(found)


def value(statistic: CountStatistic, table: np.ndarray) -> float | None:
    found = measure(table, statistic).value
    return None if found is None or math.isnan(found) else found


def brute_range(
    statistic: CountStatistic, seen: np.ndarray, missing: np.ndarray
) -> tuple[float, float] | None:
    """Least and greatest value over every way to fill in every unit."""
    ways = [[row + way for way in count_vectors(int(n), len(row))]
            for row, n in zip(seen, missing, strict=True)]  # fmt: skip
    values = [value(statistic, np.array(filled)) for filled in product(*ways)]
    known = [one for one in values if one is not None]
    return (min(known), max(known)) if known else None


def stated_range(statistic: CountStatistic, seen: np.ndarray, missing: np.ndarray):
    """The range that its traits lead to, and whether its ends are said to be reached."""
    if statistic.monotone:
        known = [value(statistic, case) for case in extremes(seen, missing)]
        return None if None in known else (min(known), max(known), True)
    if statistic.name in RATIOS:
        found = completed_range(statistic.name, seen, missing)
        return None if found.low is None else (found.low, found.high, found.exact)
    if statistic.name.startswith("majority_stability"):
        found = mean_range(statistic, seen, missing)
        return None if found[0] is None else found
    return None


def range_faults(statistic: CountStatistic, seed: int = 5, n: int = 60) -> list[str]:
    """Tables on which the stated range is not that of brute force."""
    draw, faults = np.random.default_rng(seed), []
    most = 3 if statistic.name.startswith("majority") else 2
    for _ in range(n):
        seen = draw.integers(0, most + 1, (int(draw.integers(1, 4)), K))
        missing = draw.integers(0, 3, len(seen))
        stated, brute = (
            stated_range(statistic, seen, missing),
            brute_range(statistic, seen, missing),
        )
        if stated is None or brute is None:
            continue
        low, high, exact = stated
        wide = low <= brute[0] + 1e-9 and high >= brute[1] - 1e-9
        tight = math.isclose(low, brute[0], abs_tol=1e-9) and math.isclose(
            high, brute[1], abs_tol=1e-9
        )
        if not wide or (exact and not tight):
            faults.append(f"{seen.tolist()} + {missing.tolist()}: {stated}, brute {brute}")
    return faults


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_REPLIES])
def test_worst_and_best_case_are_those_of_every_way_to_fill_in(name):
    assert range_faults(statistic_of(name)) == []


def first_less_second() -> CountStatistic:
    """The mean share of a unit's first verdict less that of its second: it is not monotone."""

    def terms(counts):
        rated = counts.sum(axis=-1)
        shares = np.where(rated > 1, (counts[..., 0] - counts[..., 1]) / np.maximum(rated, 1), 0.0)
        return np.stack([(rated > 1).astype(float), shares], axis=-1)

    def ratio(sums):
        return np.where(sums[..., 0] > 0, sums[..., 1] / np.maximum(sums[..., 0], 1), np.nan)

    return CountStatistic(
        name="first_less_second", estimator="mean difference", terms=terms, value=ratio,
        chance_corrected=False, monotone=True,
    )  # fmt: skip


def test_a_coefficient_that_is_wrongly_called_monotone_is_found():
    assert range_faults(first_less_second())


def side_faults(statistic: CountStatistic) -> list[str]:
    """Tables that are better than units of one verdict each, by the stated side."""
    sign = -1.0 if statistic.less_is_better else 1.0
    m = 2 * int(statistic.name.rpartition("_")[2]) if statistic.name[-1].isdigit() and (
        statistic.name.startswith("majority")
    ) else 3  # fmt: skip
    if m > 6:
        return []  # the same coefficient with another number
    everything = [(value(statistic, table), table) for table in tables(2, m)]
    perfect = [one for one, table in everything if one is not None and (table.max(1) == m).all()]
    best = max(sign * one for one in perfect)
    return [f"{table.tolist()}: {one}" for one, table in everything
            if one is not None and sign * one > best + 1e-9]  # fmt: skip


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_REPLIES])
def test_no_table_is_better_than_units_of_one_verdict(name):
    statistic = statistic_of(name)
    assert side_faults(statistic) == []
    other = replace(statistic, less_is_better=not statistic.less_is_better)
    assert side_faults(other) or name in ("majority_stability_5", "majority_stability_11")


def test_a_reply_with_a_verdict_is_better_than_one_without():
    statistic = statistic_of("valid_rate", 2)
    assert not statistic.less_is_better
    assert value(statistic, np.array([[3, 1]])) > value(statistic, np.array([[2, 2]]))


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_share_stays_between_0_and_1_and_only_a_share_does(name):
    width = 2 if name in OF_REPLIES else K
    statistic = statistic_of(name, width)
    m = 6 if name == "majority_stability_3" else 3
    found = [one for table in tables(2, m, width) if (one := value(statistic, table)) is not None]
    is_share = all(-1e-12 <= one <= 1 + 1e-12 for one in found)
    assert found or name.startswith("majority")
    assert is_share != statistic.chance_corrected or not found


def expected(statistic: CountStatistic, m: int, shares: np.ndarray) -> float:
    """Its value over very many questions with these shares of verdicts, each asked m times."""
    rows = [np.array(row) for row in product(range(m + 1), repeat=K) if sum(row) == m]
    total = sum(
        math.factorial(m)
        / math.prod(math.factorial(int(n)) for n in row)
        * np.prod(share**row)
        * statistic.terms(row[None].astype(float))[0]
        for share in shares
        for row in rows
    )
    return float(statistic.value(np.asarray(total) * 1e7))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_M])
def test_few_replications_bias_just_those_that_say_so(name):
    statistic = statistic_of(name)
    least = 2 * int(name.rpartition("_")[2]) if name.startswith("majority") else 2
    if least > 6:
        pytest.skip("the same coefficient with another number")
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.98, 0.01, 0.01]])
    found = [expected(statistic, m, shares) for m in (least, least + 1, least + 2)]
    is_biased = max(found) - min(found) > 1e-4
    assert is_biased == statistic.needs_replications


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_REPLIES])
def test_one_question_of_many_moves_just_those_that_rest_on_a_minority(name):
    statistic = statistic_of(name, 2)
    m = 22 if name.startswith("majority") else 4
    alike = np.tile([m, 0], (200, 1))
    other = value(statistic, np.vstack([alike, [0, m]]))
    split = value(statistic, np.vstack([alike, [m // 2, m - m // 2]]))
    assert (abs(other - split) > 0.2) == statistic.rests_on_minority


def test_ordinal_alpha_at_known_totals_is_the_same():
    statistic = count_statistic("krippendorff_alpha", n_values=K, level="ordinal")
    assert statistic.at_totals is not None
    for table in tables(2, 3):
        paired = table.sum(axis=0).astype(float)
        found = value(statistic.at_totals(paired), table)
        assert found == pytest.approx(value(statistic, table), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_fewer_units_than_it_needs_give_no_value(name):
    statistic = statistic_of(name)
    table = np.tile([[12, 10, 0]], (statistic.min_units - 1, 1))
    if statistic.min_units > 1:
        assert value(statistic, table) is None
        assert value(statistic, np.vstack([table, [[0, 11, 11]]])) is not None


def weight_faults(statistic: CountStatistic) -> list[str]:
    """Tables in which a share is no mean of [0, 1] that weighs units by its first term."""
    rng, faults = np.random.default_rng(11), []
    for _ in range(40):
        counts = rng.integers(0, 9, size=(5, K)).astype(float)
        counts = counts[statistic.takes_part(counts)]
        alone = np.array([statistic.value(row) for row in statistic.terms(counts)])
        weights = statistic.terms(counts)[:, 0]
        there = ~np.isnan(alone)
        if not there.any() or weights[there].sum() == 0:
            continue
        mean = (weights * np.nan_to_num(alone))[there].sum() / weights[there].sum()
        whole = float(statistic.value(statistic.terms(counts).sum(axis=0)))
        if not np.isclose(mean, whole) or not 0 <= alone[there].min() <= alone[there].max() <= 1:
            faults.append(f"{counts.tolist()}: {whole} is no mean {mean} of units")
    return faults


SHARES = [
    *(one for one in map(statistic_of, NAMES) if not one.chance_corrected),
    statistic_of("majority_stability_2"),
    *(class_statistic(f"class {place}", place, K) for place in range(K)),
]


@pytest.mark.alike(3)
@pytest.mark.parametrize("share", SHARES, ids=lambda one: one.name)
def test_the_first_term_of_a_share_is_what_a_unit_weighs(share):
    assert not weight_faults(share)


def test_a_share_whose_first_term_is_another_is_found():
    share = statistic_of("valid_rate")
    turned = replace(
        share, terms=lambda counts: share.terms(counts)[..., ::-1],
        value=lambda total: share.value(total[..., ::-1]),
    )  # fmt: skip
    assert weight_faults(turned)


def alpha_fault(statistic: CountStatistic) -> float:
    """How far it is from 1 less disagreement over that by chance, in large tables."""
    rng, most = np.random.default_rng(12), 0.0
    for _ in range(20):
        counts = rng.multinomial(6, rng.dirichlet(np.ones(K)), size=8).astype(float)
        shares = counts / 6
        apart = 1 - (counts * (counts - 1)).sum(axis=1).mean() / 30
        by_chance = 1 - (shares.mean(axis=0) ** 2).sum()
        found = value(statistic, np.tile(counts, (4000, 1)))
        most = max(most, abs(1 - apart / by_chance - (found or 0.0)))
    return most


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_REPLIES])
def test_a_nominal_alpha_says_so_and_only_it_does(name):
    statistic = statistic_of(name)
    assert (alpha_fault(statistic) < 1e-3) == statistic.is_nominal_alpha
    scores = np.arange(1.0, K + 1) ** 2
    if name in ("krippendorff_alpha", "icc1"):
        of_scores = count_statistic(name, n_values=K, values=scores, level="interval")
        assert not of_scores.is_nominal_alpha
