"""How fast a run went, from commits that say when they were written and how long they took."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import TokenCounts
from judgerel_ray.store import CommitRecord
from judgerel_ray.store.status import Pace, average_pace

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def commit(end_s: float, seconds: float, *, rows: int = 10, generated: int = 100) -> CommitRecord:
    return CommitRecord(
        session=1,
        lease=1,
        attempt=1,
        judge="j",
        data_file="d",
        texts_file="t",
        data_sha256="",
        texts_sha256="",
        data_bytes=0,
        rows=rows,
        conditions={},
        outcomes={},
        tokens=TokenCounts(generated=generated),
        seconds=seconds,
        engine={},
        written_at=(BEGIN + timedelta(seconds=end_s)).isoformat(),
        texts_bytes=0,
        parents=(),
        n_answers=0,
        data_sections={},
        texts_sections={},
    )


def test_leases_one_after_another_add_up():
    assert average_pace([commit(5, 5), commit(10, 5)]) == Pace(requests_per_s=2, tokens_per_s=20)


def test_engines_side_by_side_count_together():
    side_by_side = [commit(5, 5), commit(5, 5), commit(6, 3)]
    assert average_pace(side_by_side) == Pace(requests_per_s=5, tokens_per_s=50)


def test_time_between_sessions_does_not_count():
    assert average_pace([commit(5, 5), commit(5000, 5)]).requests_per_s == pytest.approx(2)


def test_rows_no_engine_made_say_nothing_about_engines():
    assert average_pace([commit(1, 0, rows=9000)]) == Pace(requests_per_s=None, tokens_per_s=None)
    assert average_pace([commit(5, 5), commit(1, 0, rows=9000)]).requests_per_s == pytest.approx(2)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=20))
def test_time_covered_is_that_in_which_any_engine_worked(spans):
    seconds = {at for end, length in spans for at in range(end - length, end)}
    pace = average_pace(commit(end, length, rows=1) for end, length in spans)
    assert pace.requests_per_s == pytest.approx(len(spans) / len(seconds))
