"""Groups that are alike are computed once, and each has the numbers that it has alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from judgerel_ray.analyses.reliability.show import coefficients_text
from judgerel_ray.cli import main
from judgerel_ray.core import progress
from judgerel_ray.counting import counted
from judgerel_ray.measuring import reliability
from judgerel_ray.measuring.reliability import reduce_judgments


def judgments(n_judges: int, seed: int = 0, **columns) -> pl.DataFrame:
    """Judgments of judges with two items each, whose names differ, twice in two orders."""
    rng, n = np.random.default_rng(seed), n_judges * 8
    rows = pl.DataFrame({
        "judge": [f"j{i // 8}" for i in range(n)],
        "item_id": [f"q{i // 8 % 5}-{i // 4 % 2}" for i in range(n)],
        "option_order": [i // 2 % 2 for i in range(n)],
        "replication": [i % 2 for i in range(n)],
        "verdict": rng.choice(["A", "B", None], n, p=[0.6, 0.3, 0.1]).tolist(),
    })  # fmt: skip
    return rows.with_columns(pl.Series(name, values(rng, n)) for name, values in columns.items())


def temperatures(rng, n):
    return rng.choice([0.0, 1.0], n // 8).repeat(8)


def labels(rng, n):
    return rng.choice(["A", "B"], n)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [{}, {"temperature": temperatures}, {"label": labels}])
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_alike_or_not_each_group_has_its_numbers(columns, seed):
    some = judgments(4, seed, **columns)
    rows = pl.concat([some, some.with_columns(pl.col("judge") + "again")]).lazy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "_MANY", 1)
        together = reduce_judgments(rows)
        patch.setattr(counted, "_MANY", 10_000)
        one_by_one = reduce_judgments(rows)
    assert_frame_equal(together, one_by_one, check_exact=True)


def test_groups_that_are_alike_are_one_object(monkeypatch):
    monkeypatch.setattr(counted, "_MANY", 1)
    rows = pl.concat([judgments(1).with_columns(judge=pl.lit(name)) for name in "abc"])
    found = counted.counted_groups(rows.lazy())
    assert len({id(group) for _, group in found.groups()}) == 1
    assert [key["judge"] for key, _ in found.groups()] == ["a", "b", "c"]


def test_no_group_is_looked_for_among_all_others(monkeypatch):
    # What looks for the units of one group by reading those of all is quadratic in the groups.
    found = counted.counted_groups(judgments(30).lazy())
    split = found.counted.by_group
    monkeypatch.setattr(pl.DataFrame, "partition_by", None)
    assert found.counted.by_group is split
    assert len([*found.groups()]) == 30


def test_a_text_shows_the_first_groups_and_says_how_many_follow(monkeypatch):
    monkeypatch.setattr("judgerel_ray.analyses.reliability.show._MOST_SHOWN", 3)
    found = reduce_judgments(judgments(5).lazy(), coefficients=["percent_agreement"])
    text = coefficients_text(found)
    assert "j2" in text
    assert "j3" not in text
    assert "2 more groups not shown: --out FILE or --format json has them all" in text


def test_long_work_says_how_far_it_is(monkeypatch, tmp_path, capsys):
    judgments(3).write_parquet(tmp_path / "x.parquet")
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "THEN", 0.0)
    assert main(["reduce", str(tmp_path / "x.parquet"), "--format", "json"]) == 0
    assert "judgerel: 1 of 3 groups, about " in capsys.readouterr().err


def test_a_program_hears_nothing_of_long_work(monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST", 0.0)
    reliability.reduce_judgments(judgments(3).lazy())
    assert capsys.readouterr() == ("", "")
