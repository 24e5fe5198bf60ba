"""Laws every coefficient of counts keeps, each coefficient saying which apply to it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import (
    COEFFICIENTS,
    LEVELS,
    count_statistic,
    counts_from_ratings,
    jackknife_interval,
    krippendorff_alpha,
    measure,
    noise_floor,
)

# What each law says of a coefficient, besides those that all of them keep:
#   relabelling  other names of the verdicts change nothing
#   perfect      where each question has one verdict, and not all the same, it is 1
#   single       where each question was asked once it has no value: "single_replication"
#   unpaired     a question asked once changes nothing beside others asked more often
#   no_variance  where all verdicts are the same one it has no value: "no_variance"
#   noise        its noise floor tells verdicts at random from those of a judge
#   signed       it is 0 where verdicts are random, and its interval holds 0 there
_AGREEMENT = {"relabelling", "single", "unpaired", "noise"}
LAWS: dict[str, set[str]] = {
    "krippendorff_alpha": _AGREEMENT | {"perfect", "no_variance", "signed"},
    "fleiss_kappa": _AGREEMENT | {"perfect", "no_variance", "signed"},
    "gwet_ac1": (_AGREEMENT - {"unpaired"}) | {"perfect"},  # one rating tells AC1 about chance
    "brennan_prediger": _AGREEMENT | {"perfect"},
    "percent_agreement": _AGREEMENT | {"perfect"},
    "flip_rate": _AGREEMENT,
    "valid_rate": set(),
    "entropy_agreement": _AGREEMENT | {"perfect"},
    "total_agreement": _AGREEMENT | {"perfect"},
    "icc1": _AGREEMENT | {"perfect", "no_variance", "signed"},
    # The mean of many has a null without bounds where questions are few: no floor, no coverage.
    "icck": (_AGREEMENT - {"noise"}) | {"perfect", "no_variance"},
    "majority_stability_3": _AGREEMENT | {"perfect"},
    "majority_stability_5": _AGREEMENT | {"perfect"},
    "majority_stability_11": _AGREEMENT | {"perfect"},
}
NAMES = sorted(COEFFICIENTS)


def having(law: str) -> list[str]:
    return [name for name in NAMES if law in LAWS.get(name, ())]


@st.composite
def ratings(draw: st.DrawFn, *, n_values: int = 4) -> list[list[int | None]]:
    """Two to six units, two to five replications, gaps anywhere."""
    n_raters = draw(st.integers(2, 5))
    one = st.none() | st.integers(1, n_values)
    unit = st.lists(one, min_size=n_raters, max_size=n_raters)
    return draw(st.lists(unit, min_size=2, max_size=6))


@st.composite
def counts(draw: st.DrawFn, *, n_values: int = 2) -> np.ndarray:
    # Now and then enough for two majorities of eleven.
    most = draw(st.sampled_from([4, 4, 14]))
    row = st.lists(st.integers(0, most), min_size=n_values, max_size=n_values)
    return np.array(draw(st.lists(row, min_size=2, max_size=6)))


def value(name: str, table: np.ndarray) -> float | None:
    return COEFFICIENTS[name](table).value


def test_every_coefficient_declares_its_laws():
    assert set(LAWS) == set(COEFFICIENTS)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
@given(table=counts(), order=st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_of_units_does_not_matter(name, table, order):
    shuffled = table.tolist()
    order.shuffle(shuffled)
    here, there = value(name, table), value(name, np.array(shuffled))
    # icck is without bound: of few units its digits are lost to a difference near 0.
    assert there == (None if here is None else pytest.approx(here, abs=1e-12, rel=1e-11))


@pytest.mark.slow
@given(table=ratings(), order=st.randoms(use_true_random=False))
def test_the_order_of_raters_does_not_matter(table, order):
    assume(any(r is not None for unit in table for r in unit))
    shuffled = [order.sample(unit, len(unit)) for unit in table]
    here, there = counts_from_ratings(table), counts_from_ratings(shuffled)
    assert here.values == there.values
    assert np.array_equal(here.counts_UV, there.counts_UV)


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", having("relabelling"))
@given(table=counts(n_values=4), columns=st.permutations(range(4)))
@settings(max_examples=50)
def test_relabelling_does_not_matter(name, table, columns):
    assert value(name, table[:, columns]) == pytest.approx(value(name, table), abs=1e-12)


@given(
    table=counts(n_values=4),
    scale=st.floats(0.1, 10),
    shift=st.floats(-5, 5),
)
def test_interval_alpha_is_blind_to_unit_and_origin(table, scale, shift):
    numbers = np.array([1.0, 2.0, 4.0, 5.0])
    here = krippendorff_alpha(table, values=numbers, level="interval").value
    there = krippendorff_alpha(table, values=scale * numbers + shift, level="interval").value
    assert there == pytest.approx(here, abs=1e-9)


@pytest.mark.slow
@given(table=counts(n_values=4))
def test_ordinal_alpha_sees_only_the_order(table):
    words = krippendorff_alpha(table, values=["no", "hardly", "rather", "yes"], level="ordinal")
    numbers = krippendorff_alpha(table, values=[1, 2, 10, 11], level="ordinal")
    backwards = krippendorff_alpha(table[:, ::-1], values=[11, 10, 2, 1], level="ordinal")
    assert numbers.value == pytest.approx(words.value, abs=1e-12)
    assert backwards.value == pytest.approx(words.value, abs=1e-12)


@given(table=counts(n_values=2))
def test_two_values_make_all_levels_one(table):
    nominal = krippendorff_alpha(table).value
    for level in LEVELS:
        found = krippendorff_alpha(table, values=[0, 1], level=level).value
        assert found == pytest.approx(nominal, abs=1e-9)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
@given(table=counts())
@settings(max_examples=50)
def test_a_value_is_finite_and_at_most_one_or_says_why_not(name, table):
    found = COEFFICIENTS[name](table)
    if found.value is None:
        assert found.undefined in {
            "no_verdicts", "single_replication", "too_few_replications", "too_few_units",
            "no_variance",
        }  # fmt: skip
    else:
        assert np.isfinite(found.value)
        assert found.value <= 1 + 1e-12


@pytest.mark.parametrize("name", having("perfect"))
def test_perfect_agreement_is_one(name):
    assert value(name, np.array([[22, 0], [0, 22], [22, 0]])) == 1


@pytest.mark.parametrize("name", having("no_variance"))
def test_one_value_is_no_evidence(name):
    found = COEFFICIENTS[name](np.array([[3, 0], [3, 0]]))
    assert (found.value, found.undefined) == (None, "no_variance")


@pytest.mark.parametrize("name", having("single"))
def test_one_replication_is_no_evidence(name):
    found = COEFFICIENTS[name](np.array([[1, 0], [0, 1]]))
    assert (found.value, found.undefined, found.n_units) == (None, "single_replication", 0)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
@given(table=counts())
@settings(max_examples=50)
def test_a_unit_without_ratings_changes_nothing(name, table):
    assert COEFFICIENTS[name](np.vstack([table, [[0, 0]]])) == COEFFICIENTS[name](table)


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", having("unpaired"))
@given(table=counts())
@settings(max_examples=50)
def test_a_unit_without_a_pair_changes_nothing(name, table):
    assume((table.sum(axis=1) > 1).any())
    assert COEFFICIENTS[name](np.vstack([table, [[0, 1]]])) == COEFFICIENTS[name](table)


def noise(seed: int, name: str = "") -> np.ndarray:
    """Verdicts that do not depend on their question, one of them dominating."""
    m = {"majority_stability_5": 10, "majority_stability_11": 22}.get(name, 6)
    return np.random.default_rng(seed).multinomial(m, [0.7, 0.2, 0.1], size=15)


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", having("noise"))
def test_noise_is_not_above_its_floor(name):
    statistic = count_statistic(name, n_values=3)
    floors = [noise_floor(noise(seed, name), statistic, n_permutations=99) for seed in range(40)]
    # A right p is at most .05 in 2 of 40 cases on average; above 6 once in 300 tries.
    assert sum(floor.p <= 0.05 for floor in floors) <= 6
    values = [measure(noise(seed, name), statistic).value for seed in range(40)]
    far = [abs(v - f.mean) / f.sd for v, f in zip(values, floors, strict=True)]
    assert max(far) < 5


@pytest.mark.parametrize("name", having("signed"))
def test_the_interval_of_noise_covers_chance(name):
    statistic = count_statistic(name, n_values=3)
    intervals = [jackknife_interval(noise(seed), statistic) for seed in range(100)]
    missed = sum(not found.low <= 0 <= found.high for found in intervals)
    assert missed <= 12


@pytest.mark.parametrize("name", having("noise"))
def test_a_judge_that_knows_its_mind_is_told_from_noise(name):
    table = 4 * np.array([[5, 1], [0, 6], [6, 0], [1, 5], [6, 0], [0, 6]])
    assert noise_floor(table, count_statistic(name, n_values=2)).p < 0.01


@pytest.mark.alike(4)
@pytest.mark.parametrize("level", LEVELS)
@given(table=ratings())
@settings(max_examples=50 if settings.get_current_profile_name() == "quick" else 500)
def test_alpha_equals_an_independent_implementation(level, table):
    krippendorff = pytest.importorskip("krippendorff", reason="extra [legacy] is not installed")
    found, values = counts_from_ratings(table)
    mine = krippendorff_alpha(found, values=values, level=level)
    pairable = found[found.sum(axis=1) >= 2]
    if (pairable.sum(axis=0) > 0).sum() < 2:
        assert mine.value is None
        return
    theirs = krippendorff.alpha(value_counts=found, value_domain=values, level_of_measurement=level)
    assert mine.value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.alike(2)
@pytest.mark.parametrize("level", LEVELS)
@given(table=counts(n_values=4))
@settings(max_examples=50)
def test_alpha_equals_its_definition_in_fractions(level, table):
    exact = alpha_in_fractions(table.tolist(), [1, 2, 4, 5], level)
    found = krippendorff_alpha(table, values=[1, 2, 4, 5], level=level).value
    assert found == (None if exact is None else pytest.approx(float(exact), abs=1e-12))


def alpha_in_fractions(table: list[list[int]], values: list[int], level: str) -> Fraction | None:
    """Alpha as it is written: coincidences, margins, squared differences."""
    units = [row for row in table if sum(row) >= 2]
    places = range(len(values))
    o = [
        [sum(Fraction(r[c] * (r[k] - (c == k)), sum(r) - 1) for r in units) for k in places]
        for c in places
    ]
    margin = [sum(row) for row in o]

    def distance(c: int, k: int) -> Fraction:
        if level == "nominal":
            return Fraction(c != k)
        if level == "interval":
            return Fraction(values[c] - values[k]) ** 2
        if level == "ratio":
            return Fraction(values[c] - values[k], values[c] + values[k]) ** 2
        low, high = min(c, k), max(c, k)
        return (sum(margin[low : high + 1]) - (margin[c] + margin[k]) / Fraction(2)) ** 2

    expected = sum(margin[c] * margin[k] * distance(c, k) for c in places for k in places)
    observed = sum(o[c][k] * distance(c, k) for c in places for k in places)
    return 1 - (sum(margin) - 1) * observed / expected if expected else None
