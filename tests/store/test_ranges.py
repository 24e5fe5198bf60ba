from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.store.records import gaps, overlap, union

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=8)


def held(ranges):
    return {r for first, n in ranges for r in range(first, first + n)}


@given(RANGES)
def test_union_holds_the_same_and_no_two_touch(ranges):
    merged = union(ranges)
    assert held(merged) == held(ranges)
    assert all(n > 0 for _, n in merged)
    assert all(sum(one) < after[0] for one, after in pairwise(merged))


@given(RANGES, st.integers(0, 40))
def test_gaps_are_what_is_not_held(ranges, n):
    assert held(gaps(ranges, n)) == set(range(n)) - held(ranges)
    assert gaps(ranges, n) == union(gaps(ranges, n))


@given(RANGES, st.tuples(st.integers(0, 30), st.integers(0, 8)))
def test_overlap_is_what_both_hold(ranges, new):
    assert overlap(ranges, new) == tuple(sorted(held(ranges) & held([new])))
