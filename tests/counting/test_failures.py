import polars as pl
import pytest

from judgerel_ray.counting.groups.tally import tally_judgments
from judgerel_ray.counting.outcomes import NOT_SENT, UNKNOWN, failed_requests

ROWS = {
    "judge": ["a", "a", "a", "b", "b"],
    "item_id": ["q", "q", "r", "q", "r"],
    "verdict": ["x", None, None, None, "y"],
    "outcome": ["scored", "failed", "failed", "failed", "scored"],
    "finish_reason": [
        "stop", "refused: prompt_too_long: 9 > 8", "refused: prompt_too_long: 9 > 8",
        "refused: no answer of m", "stop",
    ],
}  # fmt: skip


def found(rows, groups=()):
    return failed_requests(pl.LazyFrame(rows), list(groups)).rows()


@pytest.mark.parametrize("groups", [(), ("judge",)])
@pytest.mark.parametrize("outcomes", [True, False])
@pytest.mark.parametrize("tallied", [True, False])
def test_where_nothing_failed_nothing_is_counted(groups, outcomes, tallied):
    rows = {"judge": ["a", "a"], "item_id": ["q", "q"], "verdict": ["x", "y"]}
    if outcomes:
        rows["outcome"] = ["scored", "scored"]
    source = pl.LazyFrame(rows)
    failed = failed_requests(tally_judgments(source) if tallied else source, list(groups))
    assert failed.rows() == []


def test_failures_are_counted_by_group_and_reason():
    assert found(ROWS) == [("prompt_too_long", 2), (NOT_SENT, 1)]
    assert found(ROWS, ["judge"]) == [("a", "prompt_too_long", 2), ("b", NOT_SENT, 1)]


def test_without_a_column_of_reasons_there_is_none():
    rows = {name: values for name, values in ROWS.items() if name != "finish_reason"}
    assert found(rows) == [(UNKNOWN, 3)]
    assert found(rows, ["judge"]) == [("a", UNKNOWN, 2), ("b", UNKNOWN, 1)]
