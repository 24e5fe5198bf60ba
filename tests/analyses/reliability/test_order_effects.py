"""Order effects from judgments: crossed orders, one order, and no labels."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.measuring.reliability import reduce_judgments

NAMES = ["order_effect", "position_bias"]


def judged(pick, *, n_items=12, orders=2):
    """Two options x and y, shown as A and B in the order drawn or the other way round."""
    rows = []
    for item in range(n_items):
        for order in range(orders):
            shown = {"A": "x", "B": "y"} if (item + order) % 2 else {"A": "y", "B": "x"}
            for replication in range(4):
                label = pick(item, shown, replication)
                rows.append((f"q{item:02}", order, replication, label, shown.get(label)))
    names = ["item_id", "option_order", "replication", "label", "verdict"]
    return pl.LazyFrame(rows, schema=names, orient="row")


def values(rows, **options):
    found = reduce_judgments(rows, coefficients=NAMES, **options)
    return {row["coefficient"]: row for row in found.iter_rows(named=True)}


def test_a_judge_that_goes_by_position_is_caught():
    found = values(judged(lambda *_: "A"))
    assert [found[name]["value"] for name in NAMES] == [1.0, 1.0]


def test_a_judge_that_goes_by_the_option_is_not():
    found = values(judged(lambda _item, shown, _: min(shown, key=lambda k: shown[k])))
    assert found["order_effect"]["value"] == 0.0
    # Shown first as often as last, so each question's shares are a half and a half.
    assert found["position_bias"]["value"] == pytest.approx(0.0, abs=1e-12)


def test_coefficients_of_counts_stay_what_they_are_beside_them():
    rows = judged(lambda item, _, r: "A" if (item + r) % 3 else "B")
    alone = reduce_judgments(rows, coefficients=["krippendorff_alpha"])
    beside = reduce_judgments(rows, coefficients=["krippendorff_alpha", *NAMES])
    assert beside.filter(coefficient="krippendorff_alpha").equals(alone)


def test_one_order_says_so():
    found = values(judged(lambda *_: "A", orders=1))
    assert {row["undefined"] for row in found.values()} == {"orders_not_crossed"}


def test_replies_without_a_verdict_count_under_their_policy():
    rows = judged(lambda _item, _, r: None if r == 0 else "A")
    found = reduce_judgments(rows, coefficients=NAMES)
    assert found.select("coefficient", "missing", "n_missing").rows() == [
        ("order_effect", "category", 0),
        ("order_effect", "drop", 24),
        ("position_bias", "drop", 24),
    ]


@pytest.mark.parametrize("column", ["option_order", "label"])
def test_a_column_that_is_not_there_is_one_line(column):
    with pytest.raises(SweepError, match=f"needs the column {column}"):
        values(judged(lambda *_: "A").drop(column))


def test_a_tie_is_no_place():
    """Verdicts without a label take part in no chance: of two places a fair judge is at 0."""
    rng = np.random.default_rng(3)
    rows = []
    for item in range(40):
        better = rng.choice(["first", "second", "tie"], p=[0.4, 0.4, 0.2])
        for order in range(2):
            place = {"first": "AB"[order], "second": "BA"[order], "tie": None}[better]
            rows.append(
                {"judge": "ties", "item_id": f"{item}", "replication": 0, "option_order": order,
                 "verdict": better, "label": place}
            )  # fmt: skip
            other = better if better != "tie" else "first"
            place = {"first": "AB"[order], "second": "BA"[order]}[other]
            rows.append({**rows[-1], "judge": "none", "verdict": other, "label": place})
    found = reduce_judgments(
        pl.LazyFrame(rows, schema_overrides={"label": pl.String}), coefficients=["position_bias"]
    )
    assert found["value"].to_list() == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found["p_noise"].min() > 0.5


def test_first_places_of_groups_with_places_of_their_own():
    told = [
        {"item_id": f"q{item}", "replication": 0, "option_order": order, "template": template,
         "label": names[(item + order) % 2], "verdict": "xy"[item % 2]}
        for template, names in (("letters", "AB"), ("numbers", "12"))
        for item in range(6)
        for order in (0, 1)
    ]  # fmt: skip
    found = reduce_judgments(
        pl.LazyFrame(told), by=["template"], coefficients=["first_place"]
    ).filter(coefficient="first_place")
    assert found["value"].to_list() == [0.5, 0.5]
