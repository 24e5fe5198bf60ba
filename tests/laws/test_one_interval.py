"""One number has one interval: what a gate judges by is what `reduce` prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.measuring.lead_codes import leads
from judgerel_ray.stats import COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import OF_GOLD
from judgerel_ray.stats.generalizability.order_effects import ORDER_EFFECTS

TWO_JUDGES = Path(__file__).parents[2] / "docs/data/two-judges.csv"
IN_ORDERS = (*COEFFICIENTS, *OF_GOLD, *ORDER_EFFECTS)
ALONE = ("krippendorff_alpha", "valid_rate")
"""Coefficients that are asked for alone, too: nothing else of a call moves their interval."""


def judgments(
    share, *, items: int = 40, repeats: int = 4, orders: int = 1, lost: float = 0.0, uneven=False
) -> pl.DataFrame:
    """Judgments of two judges; `share` gives the share of x on each item, `lost` has no verdict."""
    rng = np.random.default_rng(7)
    rows = [
        (judge, f"q{item}", order, replication, rng.random() < share(item), rng.random() < lost)
        for judge in ("one", "other")
        for item in range(items)
        for order in range(orders)
        for replication in range(int(rng.integers(1, 2 * repeats)) if uneven else repeats)
    ]
    schema = ["judge", "item_id", "option_order", "replication", "x", "lost"]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    verdict = pl.when(~pl.col("lost")).then(pl.when("x").then(pl.lit("x")).otherwise(pl.lit("y")))
    first = pl.col("x") == (pl.col("option_order") == 0)
    place = pl.when(~pl.col("lost")).then(pl.when(first).then(pl.lit("A")).otherwise(pl.lit("B")))
    of_orders = {"label": place} if orders > 1 else {}
    return frame.with_columns(verdict=verdict, gold=pl.lit("x"), **of_orders).drop(
        "x", "lost", *(() if orders > 1 else ("option_order",))
    )


FILES = {
    "two judges": str(TWO_JUDGES),
    "shipped": judgerel_ray.example("judgments.csv"),
    "near unanimous": judgments(lambda item: 0.5 if item < 2 else item % 2),
    "unanimous": judgments(lambda item: item % 2),
    "unanimous in orders": judgments(lambda item: item % 2, orders=2),
    "unanimous, unevenly asked": judgments(lambda item: item < 30, uneven=True),
    "one verdict": judgments(lambda _: 1),
    "few questions": judgments(lambda item: (item + 1) / 7, items=6, orders=2),
    "uneven": judgments(lambda item: 0.1 + item % 2 * 0.8, orders=2, uneven=True, lost=0.1),
    "one reply each": judgments(lambda item: item % 3 / 2, repeats=1, lost=0.1),
    "all valid": judgments(lambda item: 0.3 + item % 5 / 10, items=60),
}


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", FILES)
def test_gate_and_reduce_print_one_interval(name):
    source = FILES[name]
    columns = (pl.read_csv(source) if isinstance(source, str) else source).columns
    lacking = {*(() if "gold" in columns else OF_GOLD),
               *(() if "label" in columns else ORDER_EFFECTS)}  # fmt: skip
    names = [one for one in IN_ORDERS if one not in lacking]
    rules = [f"{one} >= 0" for one in names]
    gated = judgerel_ray.gate(source, require=rules, exact_values=True).requirements
    for chosen in (names, *ALONE):
        table = judgerel_ray.reduce(source, coefficients=chosen, exact_values=True)
        both = gated.join(
            table.filter(leads(table), pl.col("missing") != "bounds"),
            on=["judge", "coefficient", "missing", "value", "conditions"], nulls_equal=True,
            suffix="_printed",
        )  # fmt: skip
        assert set(both["coefficient"]) == set(table["coefficient"])
        for end in ("low", "high"):
            apart = (pl.col(end) - pl.col(f"{end}_printed")).abs().fill_null(0) > 1e-12
            known = pl.col(end).is_null() != pl.col(f"{end}_printed").is_null()
            assert both.filter(apart | known).is_empty()


def test_what_gate_and_reduce_printed_differently_is_one():
    found = judgerel_ray.gate(
        str(TWO_JUDGES), require=["swap_consistency >= .75", "valid_rate >= .9"]
    )
    ends = found.requirements.filter(judge="first").select("low", "high").rows()
    assert [[round(end, 3) for end in one] for one in ends] == [[0.021, 0.087], [0.94, 1.0]]
