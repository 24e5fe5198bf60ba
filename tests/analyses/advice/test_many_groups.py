"""Groups that are alike are planned once, and each has the advice that it has alone."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from judgerel_ray.analyses.advice import advice, panel_worth
from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.advice.show import advice_text
from judgerel_ray.counting import counted
from tests.analyses.reliability.test_many_groups import judgments


def twice(rows: pl.DataFrame) -> pl.LazyFrame:
    """The same of as many judges again, between the others."""
    return pl.concat([rows, rows.with_columns(pl.col("judge") + "again")]).sort("judge").lazy()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(panel_worth, "_LARGEST_PANEL", 3)
    monkeypatch.setattr(counted, "_MANY", 1)


COLUMNS = {
    "temperature": lambda rng, n: rng.choice([0.0, 1.0], n // 8).repeat(8),
    "label": lambda rng, n: rng.choice(["A", "B"], n),
    "prompt_tokens": lambda rng, n: rng.integers(1, 3, n),
    "score": lambda rng, n: rng.integers(1, 4, n),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, *COLUMNS])
def test_alike_or_not_each_group_has_its_advice(name, monkeypatch):
    rows = judgments(2, **{one: COLUMNS[one] for one in [name] if one})
    if name == "prompt_tokens":
        rows = rows.with_columns(completion_tokens=1)
    frame = twice(rows.drop("verdict") if name == "score" else rows)
    together = advise_judgments(frame).tables()
    monkeypatch.setattr(counted, "_MANY", 10_000)
    one_by_one = advise_judgments(frame).tables()
    for table, found in together.items():
        assert_frame_equal(found, one_by_one[table], check_exact=True)
    assert together["components"]["judge"].n_unique() == 4


@pytest.mark.slow
def test_groups_that_are_alike_are_planned_once(monkeypatch):
    planned, plain = [], advice.make_plan

    def plan(group, costs):
        planned.append(group.key["judge"])
        return plain(group, costs)

    monkeypatch.setattr(advice, "make_plan", plan)
    same = judgments(1)
    costly = {"prompt_tokens": 5, "completion_tokens": 1}
    rows = [
        same.with_columns(judge=pl.lit(name), **{one: pl.lit(n) for one, n in cost.items()})
        for name, cost in (("a", costly), ("b", costly), ("c", costly | {"prompt_tokens": 6}))
    ]
    found = advise_judgments(pl.concat(rows).lazy())
    assert planned == ["a", "c"]
    tokens = found.splits.group_by("judge", maintain_order=True).agg(pl.col("tokens").first())
    assert tokens["judge"].to_list() == ["a", "b", "c"]
    a, b, c = tokens["tokens"]
    assert a == b < c


@pytest.mark.slow
def test_a_text_shows_the_first_groups_and_says_how_many_follow(monkeypatch):
    monkeypatch.setattr("judgerel_ray.analyses.advice.show._MOST_SHOWN", 3)
    tables = advise_judgments(judgments(5).lazy()).tables()
    text = advice_text(tables)
    assert "j2" in text
    assert "j3" not in text
    assert text.endswith("\n\n2 more groups not shown: --format json has them all")
    monkeypatch.setattr("judgerel_ray.analyses.advice.show._MOST_SHOWN", 5)
    assert "not shown" not in advice_text(tables)
