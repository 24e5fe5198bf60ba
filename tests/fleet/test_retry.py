from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.fleet import Fate, History, decide


@given(failures=st.integers(0, 20), losses=st.integers(0, 5), most=st.integers(1, 10))
def test_nothing_is_asked_without_end(failures, losses, most):
    fate = decide(History(failures=failures, losses=losses), max_attempts=most)
    assert (fate is Fate.RECORD) == (failures >= most or losses >= 2)
    if fate is not Fate.RECORD:
        assert (fate is Fate.ALONE) == (losses == 1)


def test_one_attempt_means_one():
    assert decide(History(failures=1), max_attempts=1) is Fate.RECORD
    assert decide(History(failures=0), max_attempts=1) is Fate.AGAIN
