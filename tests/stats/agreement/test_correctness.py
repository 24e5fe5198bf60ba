"""Right and wrong agreement against counting pairs by hand."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic, measure
from judgerel_ray.stats.agreement.agreement import CORRECTNESS, correctness_statistic

TABLES = st.lists(
    st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6
).filter(lambda rows: any(sum(row) >= 2 for row in rows))


def by_hand(table, keep):
    """Mean over units of the share of pairs that `keep`."""
    shares = []
    for row in table:
        labels = [value for value, n in enumerate(row) for _ in range(n)]
        pairs = [keep(a, b) for a, b in combinations(labels, 2)]
        if pairs:
            shares.append(np.mean(pairs))
    return np.mean(shares)


@given(TABLES)
def test_pairs_are_counted_as_by_hand_and_sum_to_agreement(table):
    right, wrong = (measure(table, correctness_statistic(name)).value for name in CORRECTNESS[2:])
    assert right == pytest.approx(by_hand(table, lambda a, b: a == b == 0))
    assert wrong == pytest.approx(by_hand(table, lambda a, b: a == b != 0))
    agreement = measure(table, count_statistic("percent_agreement", n_values=3)).value
    assert right + wrong == pytest.approx(agreement)


@given(TABLES)
def test_accuracies_are_those_of_the_verdicts_and_of_the_majorities(table):
    accuracy, majority = (measure(table, correctness_statistic(n)).value for n in CORRECTNESS[:2])
    assert accuracy == pytest.approx(sum(row[0] for row in table) / sum(map(sum, table)))
    rows = [row for row in table if sum(row)]
    parts = [(row[0] == max(row)) / row.count(max(row)) for row in rows]
    assert majority == pytest.approx(np.mean(parts))


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        correctness_statistic("precision")
