"""Values a reader can check by hand, and every field of the result."""

from __future__ import annotations

import pytest

from judgerel_ray import stats
from judgerel_ray.stats import (
    COEFFICIENTS,
    Coefficient,
    brennan_prediger,
    count_statistic,
    counts_from_ratings,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    valid_rate,
)

# Three units, values A and B: AAB, BB-, A-- (the last has no pair).
# A_q: 1/3, 1. D_q: (9 - 5) / 2 = 2, 0. Pairable: n = 5, c = (2, 3).
TABLE = [[2, 1], [0, 2], [1, 0]]


def test_percent_agreement_and_all_its_fields():
    assert percent_agreement(TABLE) == Coefficient(
        name="percent_agreement",
        value=(1 / 3 + 1) / 2,
        estimator="share of agreeing pairs, mean over units",
        n_units=2,
        n_raters=3,
        n_ratings=5,
        n_missing=1,
    )


def test_alpha():
    # De = (25 - 13) / 20 = 0.6, Do = 2 / 5.
    assert krippendorff_alpha(TABLE).value == pytest.approx(1 - 0.4 / 0.6)


def test_fleiss():
    # Pe = (4 + 9) / 25.
    assert fleiss_kappa(TABLE).value == pytest.approx((2 / 3 - 13 / 25) / (12 / 25))


def test_ac1_learns_chance_from_single_ratings_too():
    # pi_A = (2/3 + 0 + 1) / 3 = 5/9, Pe = 2 x 5/9 x 4/9 = 40/81.
    found = gwet_ac1(TABLE)
    assert found.value == pytest.approx((2 / 3 - 40 / 81) / (41 / 81))
    assert (found.n_units, found.n_ratings) == (2, 5)


@pytest.mark.parametrize(("k", "expected"), [(None, 1 / 3), (4, 5 / 9)])
def test_brennan_prediger(k, expected):
    assert brennan_prediger(TABLE, n_categories=k).value == pytest.approx(expected)


def test_declared_categories_change_ac1():
    assert gwet_ac1(TABLE, n_categories=3).value == pytest.approx((2 / 3 - 20 / 81) / (1 - 20 / 81))


@pytest.mark.parametrize("coefficient", [gwet_ac1, brennan_prediger])
def test_one_category_is_no_variance(coefficient):
    assert coefficient([[2], [2]]).undefined == "no_variance"


def test_valid_rate_is_pooled_over_replies():
    found = valid_rate([[3, 1], [0, 4], [1, 0]])
    assert found.value == pytest.approx(4 / 9)
    assert (found.n_units, found.n_ratings) == (3, 9)


def test_agreement_is_one_where_alpha_is_undefined():
    assert percent_agreement([[3, 0], [3, 0]]).value == 1.0
    assert krippendorff_alpha([[3, 0], [3, 0]]).undefined == "no_variance"


def test_published_example_with_gaps():
    # Krippendorff (2011), four observers, twelve units, one without a pair.
    rows = [
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
    ]
    raters = [[None if mark == "-" else int(mark) for mark in row.split()] for row in rows]
    counts, values = counts_from_ratings([list(unit) for unit in zip(*raters, strict=True)])
    printed = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    for level, expected in printed.items():
        assert round(krippendorff_alpha(counts, values=values, level=level).value, 3) == expected


@pytest.mark.parametrize("name", sorted(COEFFICIENTS))
@pytest.mark.parametrize("table", [[1, 2], [[-1, 2]], [[0.5, 1]], [[float("nan"), 1]]])
def test_counts_that_are_none_are_refused(name, table):
    with pytest.raises(ValueError):
        COEFFICIENTS[name](table)


@pytest.mark.parametrize(
    "arguments",
    [
        {"level": "cardinal"},
        {"level": "interval"},
        {"level": "interval", "values": ["a", "b"]},
        {"level": "interval", "values": [1]},
        {"level": "interval", "values": [1, float("nan")]},
        {"level": "ratio", "values": [-1, 1]},
    ],
)
def test_alpha_refuses(arguments):
    with pytest.raises(ValueError, match="krippendorff_alpha: "):
        krippendorff_alpha([[2, 0], [1, 1]], **arguments)


def test_unknown_names_and_categories_are_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        count_statistic("kappa", n_values=2)
    with pytest.raises(ValueError, match="n_categories must be at least 1"):
        brennan_prediger([[1, 1]], n_categories=0)


@pytest.mark.parametrize("name", sorted(COEFFICIENTS))
def test_nothing_at_all_says_so(name):
    found = COEFFICIENTS[name]([[0, 0]])
    assert (found.value, found.undefined, found.n_raters) == (None, "no_verdicts", 0)


@pytest.mark.parametrize("name", ["gwet_ac1", "brennan_prediger", "entropy_agreement"])
def test_fewer_categories_than_values_that_occur_are_refused(name):
    coefficient = getattr(stats, name)
    with pytest.raises(
        ValueError, match=f"{name}: n_categories is 2, but 3 different values occur"
    ):
        coefficient([[2, 1, 1], [0, 3, 1], [4, 0, 0]], n_categories=2)
    # A column that nothing is in is no value.
    assert coefficient([[2, 1, 0], [0, 3, 0], [4, 0, 0]], n_categories=2).value is not None
