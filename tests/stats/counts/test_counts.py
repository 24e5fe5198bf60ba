from __future__ import annotations

import numpy as np
import pytest

from judgerel_ray.stats import counts_from_ratings


def test_numbers_with_gaps():
    counts, values = counts_from_ratings(np.array([[1, 2, np.nan], [2, 2, 1], [np.nan] * 3]))
    assert values == (1.0, 2.0)
    assert counts.tolist() == [[1, 1], [1, 2], [0, 0]]


def test_declared_values_keep_their_order_and_their_empty_columns():
    counts, values = counts_from_ratings([["yes", "no"]], values=["no", "perhaps", "yes"])
    assert values == ("no", "perhaps", "yes")
    assert counts.tolist() == [[1, 0, 1]]


def test_nothing_rated_has_no_values():
    counts, values = counts_from_ratings([[None, None]])
    assert values == ()
    assert counts.shape == (1, 0)


@pytest.mark.parametrize(
    ("ratings", "values"),
    [
        (["A", "B"], None),
        ([["A", "B"]], ["A"]),
        ([["A", 1]], None),
        ([["A", "A"]], ["A", "A"]),
    ],
)
def test_it_refuses(ratings, values):
    with pytest.raises(ValueError, match=r"counts_from_ratings: .* must"):
        counts_from_ratings(ratings, values=values)
