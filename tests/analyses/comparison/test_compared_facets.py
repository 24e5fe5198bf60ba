"""Comparisons of judges asked in several orders: reproducibility, and never mere repetition."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.core import ReadingWarning, SweepError


def asked(name, choose, *, items=80, orders=2, replications=4, seed=0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        likes = choose(rng)
        for order in range(orders):
            for replication in range(replications):
                first = rng.random() < likes(order)
                verdict = "xy"[(not first) ^ order]
                rows.append((name, f"q{item}", order, replication, verdict, "AB"[not first]))
    columns = ["judge", "item_id", "option_order", "replication", "verdict", "label"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def by_place(_rng):
    return lambda _order: 0.97


def by_content(rng):
    share = rng.beta(0.2, 0.2)  # alpha 1 / (1 + .4) = .714
    return lambda order: 1 - share if order else share


def compared(a: pl.DataFrame, b: pl.DataFrame, **options) -> dict[str, dict]:
    found = compare_judgments(pl.concat([a, b]).lazy(), by=["judge"], **options)
    return {row["coefficient"]: row for row in found.to_dicts()}


@pytest.mark.slow
def test_a_judge_of_position_is_not_higher_for_repeating_itself():
    rows = compared(asked("content", by_content), asked("place", by_place))
    alpha = rows["krippendorff_alpha"]
    assert (alpha["unit"], alpha["conditions"]) == ("item_id", "reproducibility")
    assert alpha["standing"] == "a higher"
    assert alpha["value_a"] > 0.6 > 0.05 > alpha["value_b"]
    assert {name: row["standing"] for name, row in rows.items()} == {
        "krippendorff_alpha": "a higher",
        "percent_agreement": "a higher",
        "swap_consistency": "a higher",
        "position_bias": "b higher",
    }


def test_asked_in_one_order_alone_the_same_prompt_is_compared():
    rows = compared(asked("content", by_content, orders=1), asked("place", by_place, orders=1))
    assert {row["conditions"] for row in rows.values()} == {"repeatability"}
    assert set(rows) == {"krippendorff_alpha", "percent_agreement"}


def test_one_side_in_one_order_leaves_repeatability():
    one = asked("place", by_place).filter(pl.col("option_order") == 0)
    with pytest.warns(ReadingWarning, match="option_order 0 alone, the only one that both"):
        rows = compared(asked("content", by_content), one)
    assert rows["krippendorff_alpha"]["conditions"] == "repeatability"


@pytest.mark.filterwarnings("ignore::judgerel_ray.core.ReadingWarning")
def test_a_side_asked_in_one_order_more_is_no_other_judge():
    """Its verdicts have another chance agreement over two orders: alpha was 'higher' by that."""
    both = asked("j", lambda _rng: lambda _order: 0.75)
    rows = compared(both, both.filter(pl.col("option_order") == 0).with_columns(judge=pl.lit("k")))
    alpha = rows["krippendorff_alpha"]
    assert (alpha["value_a"], alpha["standing"]) == (alpha["value_b"], "undecided")


@pytest.mark.slow
def test_two_judges_of_one_law_are_seldom_told_apart():
    called = []
    for seed in range(60):
        sides = [
            asked(name, by_content, items=25, replications=2, seed=2 * seed + number)
            for number, name in enumerate("ab")
        ]
        rows = compared(*sides, coefficients=["krippendorff_alpha"])
        called.append(rows["krippendorff_alpha"]["p"] < 0.05)
    assert np.mean(called) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_what_was_not_crossed_has_its_reason():
    frame = pl.concat([asked("content", by_content, orders=1), asked("place", by_place, orders=1)])
    found = compare_judgments(frame.lazy(), by=["judge"], coefficients=["swap_consistency"])
    assert found["undefined"].to_list() == ["orders_not_crossed"]


def test_position_bias_needs_labels():
    frame = pl.concat([asked("content", by_content), asked("place", by_place)]).drop("label")
    with pytest.raises(SweepError, match="position_bias needs the column label"):
        compare_judgments(frame.lazy(), by=["judge"], coefficients=["position_bias"])
