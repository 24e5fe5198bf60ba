import polars as pl
import pytest

from judgerel_ray import compare
from judgerel_ray.core import SweepError


def test_more_pairs_than_are_compared_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr("judgerel_ray.analyses.comparison.compared_facets._MOST_PAIRS", 5)
    rows = pl.DataFrame(
        {"judge": [*"abcd"], "item_id": ["q"] * 4, "replication": [0] * 4, "verdict": ["A"] * 4}
    )
    with pytest.raises(SweepError, match=r"4 values of judge make 6 pairs, at most 5 are compared"):
        compare(rows, by="judge")
