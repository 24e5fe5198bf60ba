"""The numbers of docs/recorded-pairwise.md, a few of them by pairs counted one by one.

Nothing of the estimators is used here: verdicts are read from the recordings and compared in loops.
"""

from __future__ import annotations

import importlib.util
import os
from collections import defaultdict
from itertools import combinations, product
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(os.environ.get("JUDGEREL_DATA", "/nonexistent"))
PAGE = ROOT / "docs" / "recorded-pairwise.md"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("JUDGEREL_DATA" not in os.environ, reason="JUDGEREL_DATA names none"),
]


def mt_bench(judge):
    """Verdicts of one judge by pair and order, and the places named by question."""
    rows = pl.read_parquet(RECORDED / "seed003/pairwise_3reps_mtbench.parquet").to_dicts()
    said, places = defaultdict(lambda: ([], [])), defaultdict(list)
    for row in rows:
        if row["judge"] != judge or row["extracted"] is None:
            continue
        question, first, second = row["cmp_index"].split(";")
        named = {"A": first, "B": second, "C": "tie"}[row["extracted"]]
        option = "other" if named not in ("tie", "vicuna-13b-v1.3") else named
        said[question, *sorted((first, second))][first > second].append(option)
        if row["extracted"] != "C":
            places[question, first > second].append(row["extracted"])
    return said, places


def pilot(judge, regime):
    """The same of the LLMBar pilot."""
    rows = pl.read_parquet(RECORDED / "seed003/llmbar_context_pilot_responses.parquet").to_dicts()
    said, places = defaultdict(lambda: ([], [])), defaultdict(list)
    for row in rows:
        if (row["judge"], row["regime"]) != (judge, regime) or row["parsed_label"] is None:
            continue
        option = row["parsed_label"] if not row["swap"] else "21"[int(row["parsed_label"]) - 1]
        said[row["item_id"]][row["swap"]].append(option)
        places[row["item_id"], row["swap"]].append(row["parsed_label"])
    return said, places


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def repeatability(said):
    """Krippendorff's alpha: a pair in one order is a unit."""
    units = [unit for orders in said.values() for unit in orders if len(unit) > 1]
    n = sum(map(len, units))
    within = sum(2 * sum(a != b for a, b in combinations(u, 2)) / (len(u) - 1) for u in units) / n
    everything = [one for unit in units for one in unit]
    apart = 2 * sum(a != b for a, b in combinations(everything, 2)) / (n * (n - 1))
    return 1 - within / apart


def swap_consistency(said):
    """Pairs of judgments in two orders, every pair of answers weighing the same."""
    crossed = [orders for orders in said.values() if all(orders)]
    return mean(mean(a == b for a, b in product(*orders)) for orders in crossed)


def reproducibility(said):
    """Two judgments of a pair: in the same order half of the time, else one in each."""
    crossed = [orders for orders in said.values() if all(orders)]
    repeated = [[unit for unit in orders if len(unit) > 1] for orders in crossed]
    same = mean(
        mean(mean(a != b for a, b in combinations(unit, 2)) for unit in units)
        for units in repeated
        if units
    )
    inside = 0.5 * same + 0.5 * (1 - swap_consistency(said))
    options = {one for orders in crossed for unit in orders for one in unit}
    shares = [
        {one: mean(unit.count(one) / len(unit) for unit in orders) for one in options}
        for orders in crossed
    ]
    of_two = mean(1 - sum(p[one] * q[one] for one in options) for p, q in combinations(shares, 2))
    # Of pairs of any two judgments, so many are of one pair of answers.
    n, own = len(crossed), sum(1 / len(unit) / 4 for orders in crossed for unit in orders)
    weight = (n - own) / (n**2 - own)
    return 1 - inside / (weight * inside + (1 - weight) * of_two)


def position_bias(places):
    """Products of a place's shares over pairs of questions, less chance; orders weigh alike."""
    orders = defaultdict(list)
    for (question, _), named in places.items():
        orders[question].append(mean(one in "A1" for one in named))
    first = [mean(shares) for shares in orders.values()]
    alike = mean(a * b + (1 - a) * (1 - b) for a, b in combinations(first, 2))
    return (alike - 0.5) / 0.5


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("pairs", ROOT / "bench/recorded_pairwise.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_recordings_give(bench):
    assert PAGE.read_text() == bench.page(RECORDED)


@pytest.mark.parametrize(
    ("judge", "read", "values"),
    [
        ("claude-3-opus-20240229", mt_bench, (0.744, 0.566, 0.777, 0.027)),
        ("gpt-4-0613", mt_bench, (0.876, 0.813, 0.872, -0.002)),
        ("claude-haiku-4-5, batched", pilot, (0.816, 0.039, 0.130, 0.756)),
        ("llama3.2:3b, fresh", pilot, (0.373, 0.211, 0.523, 0.049)),
    ],
)
def test_pairs_counted_one_by_one(bench, judge, read, values):
    said, places = read(*judge.split(", "))
    counted = (
        repeatability(said), reproducibility(said), swap_consistency(said), position_bias(places)
    )  # fmt: skip
    assert counted == pytest.approx(values, abs=5e-4)
    name = "MT-Bench pairs" if read is mt_bench else "LLMBar, context pilot"
    rows = bench.table_of(bench.RECORDINGS[name][0](RECORDED)).filter(judge=judge)

    def shown(coefficient, conditions=None):
        mine = rows.filter(coefficient=coefficient)
        return (mine.filter(conditions=conditions) if conditions else mine)["value"].item()

    reduced = (
        shown("krippendorff_alpha", "repeatability"),
        shown("krippendorff_alpha", "reproducibility"),
        shown("swap_consistency"), shown("position_bias"),
    )  # fmt: skip
    assert reduced == pytest.approx(counted, abs=1e-9)
