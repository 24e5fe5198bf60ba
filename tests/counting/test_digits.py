from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.counting.groups import fast_count
from judgerel_ray.counting.groups.fast_count import digits

NAMES = [f"c{place}" for place in range(7)]


@pytest.mark.slow
@given(
    told=st.lists(
        st.tuples(st.sampled_from(["q", "r"]), st.integers(0, len(NAMES))), min_size=1, max_size=40
    ),
    spare=st.sampled_from([0, 1, 1000, 10**12, 2**62]),
)
@settings(max_examples=60, deadline=None)
def test_digits_count_as_a_sum_of_each_column_does(told, spare):
    columns = {
        name: [kind == place for _, kind in told] for place, name in enumerate(NAMES)
    }  # the last kind is of none of them
    rows = pl.DataFrame({"unit": [unit for unit, _ in told], **columns})
    most = rows.group_by("unit").len()["len"].max() + spare
    packed = digits(NAMES, most)
    units = (
        rows.with_columns(part.packed() for part in packed)
        .group_by("unit")
        .agg(part.total() for part in packed)
    )
    told = [one for part in packed for one in part.unpacked(units[part.sum])]
    units = units.select("unit").with_columns(told)
    plain = rows.group_by("unit").agg(pl.col(NAMES).sum())
    assert units.sort("unit").equals(plain.sort("unit"))


@pytest.mark.parametrize(("most", "n_sums"), [(1, 1), (511, 1), (512, 2), (2**62, 7)])
def test_a_sum_holds_as_many_digits_as_never_run_over(most, n_sums):
    packed = digits(NAMES, most)
    assert len(packed) == n_sums
    for part in packed:
        full = sum(most << part.bits * place for place in range(len(part.names)))
        assert full < 2**63
        if most < 2**32:
            sums = pl.Series([full], dtype=pl.Int64)
            assert [one.item() for one in part.unpacked(sums)] == [most] * len(part.names)


def test_a_unit_with_more_rows_than_its_replications_tell_is_counted_again():
    rows = pl.LazyFrame(
        {"item_id": ["q"] * 9 + ["r"], "replication": [0, 1] * 5, "verdict": ["A"] * 8 + ["B"] * 2}
    )
    kinds = pl.DataFrame({"verdict": ["A", "B"]})
    counts = fast_count.count_few(rows, ["item_id"], kinds).counts.sort("item_id")
    assert counts.select("n", *fast_count.number_columns(kinds)).rows() == [(9, 8, 1), (1, 0, 1)]
