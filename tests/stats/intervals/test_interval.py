from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from judgerel_ray.stats import (
    COEFFICIENTS,
    LEVELS,
    clopper_pearson,
    count_statistic,
    jackknife_interval,
    measure,
)
from judgerel_ray.stats.intervals import interval

STATISTICS = [
    *(
        count_statistic(name, n_values=3)
        for name in COEFFICIENTS
        if name != "valid_rate" and not name.startswith("majority")
    ),
    count_statistic("majority_stability_2", n_values=3),
    count_statistic("icc1", n_values=3, values=[1, 2, 5], level="interval"),
    *(
        count_statistic("krippendorff_alpha", n_values=3, values=[1, 2, 5], level=level)
        for level in LEVELS
    ),
]


def table(seed: int = 0, units: int = 24) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.4, 0.3, 0.2], size=units)
    return np.array([rng.multinomial(rng.integers(1, 7), share) for share in shares])


def by_hand(counts, statistic, clusters, confidence=0.95):
    """Leave one question out at a time, computing everything again."""
    value = measure(counts, statistic).value
    taking = clusters[counts.sum(axis=1) >= statistic.min_ratings]
    left = np.array([measure(counts[clusters != c], statistic).value for c in np.unique(taking)])
    n = left.size
    error = math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    half = stdtrit(n - 1, (1 + confidence) / 2) * error
    if statistic.chance_corrected and value - half > 0:
        centre, half = math.log(value / (1 - value)), half / value / (1 - value)
        return 1 / (1 + math.exp(half - centre)), 1 / (1 + math.exp(-half - centre))
    floor = -math.inf if statistic.chance_corrected else 0
    return max(floor, value - half), min(1, value + half)


@pytest.mark.parametrize("cells", [4_000_000, 7])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.estimator)
def test_it_equals_leaving_out_by_hand(statistic, clustered, cells, monkeypatch):
    monkeypatch.setattr(interval, "BLOCK", cells)
    for seed in range(3):
        counts = table(seed)
        clusters = np.arange(24) * 7 % 11 if clustered else np.arange(24)
        found = jackknife_interval(counts, statistic, clusters_U=clusters)
        expected = by_hand(counts, statistic, clusters)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


def test_clusters_may_have_any_names():
    counts, names = table(), np.array([f"q{i // 2}" for i in range(24)])
    alpha = count_statistic("krippendorff_alpha", n_values=3)
    here = jackknife_interval(counts, alpha, clusters_U=names)
    assert here == jackknife_interval(counts, alpha, clusters_U=np.arange(24) // 2)
    assert here != jackknife_interval(counts, alpha)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[3, 0, 0], [3, 0, 0]], "undefined"),
        ([[1, 0, 0], [0, 1, 0]], "undefined"),
        ([[2, 1, 0]], "too_few_units"),
        ([[3, 0, 0], [0, 3, 0], [3, 0, 0], [0, 3, 0]], "no_spread"),
        ([[3, 0, 0], [2, 1, 0]], "depends_on_one_question"),
    ],
)
def test_without_an_interval_it_says_why(counts, reason):
    found = jackknife_interval(counts, STATISTICS[0])
    assert (found.low, found.high, found.undefined) == (None, None, reason)


def test_few_informative_questions_are_flagged():
    agreement = STATISTICS[1]
    steady = [[4, 0, 0]] * 20
    assert jackknife_interval([*steady, *[[3, 1, 0]] * 9], agreement).few_informative
    assert not jackknife_interval([*steady, *[[3, 1, 0]] * 10], agreement).few_informative


def table_with_minority(n: int) -> list[list[int]]:
    """Ninety questions that pass, now and then split, and n that fail."""
    return [[5, 0, 0]] * 60 + [[4, 1, 0]] * 30 + [[1, 4, 0]] * n


@pytest.mark.parametrize("name", ["krippendorff_alpha", "fleiss_kappa", "icc1", "icck"])
def test_a_minority_of_few_questions_is_flagged_where_chance_rests_on_it(name):
    statistic = count_statistic(name, n_values=3)
    assert jackknife_interval(table_with_minority(4), statistic).few_informative
    assert not jackknife_interval(table_with_minority(5), statistic).few_informative
    # Six units, three of them of one question: four questions.
    again = [*table_with_minority(5), [1, 4, 0]]
    questions = np.array([*range(95), 94])
    questions[93] = 94
    found = jackknife_interval(again, statistic, clusters_U=questions)
    assert found.few_informative


@pytest.mark.parametrize("name", ["percent_agreement", "gwet_ac1", "brennan_prediger"])
def test_a_minority_does_not_matter_where_chance_does_not_rest_on_it(name):
    statistic = count_statistic(name, n_values=3)
    assert not jackknife_interval(table_with_minority(0), statistic).few_informative


@pytest.mark.parametrize("columns", [[0, 1], [1, 0]])
def test_which_verdict_is_the_minority_does_not_matter(columns):
    # Eleven of each: a tie makes neither a minority of none.
    counts = np.array([[4, 1]] * 11 + [[1, 4]] * 11)[:, columns]
    assert not jackknife_interval(counts, count_statistic("icc1", n_values=2)).few_informative


def test_confidence_widens():
    counts = table()
    ends = [jackknife_interval(counts, STATISTICS[0], confidence=c) for c in (0.5, 0.9, 0.99)]
    assert ends[0].low > ends[1].low > ends[2].low
    assert ends[0].high < ends[1].high < ends[2].high


@pytest.mark.parametrize("arguments", [{"confidence": 1.0}, {"clusters_U": [1, 2]}])
def test_it_refuses(arguments):
    with pytest.raises(ValueError, match="jackknife_interval: "):
        jackknife_interval(table(), STATISTICS[0], **arguments)


def test_clopper_pearson_at_the_edges():
    # Nothing in n: the upper end solves (1 - p)^n = .025.
    none, every = clopper_pearson(0, 10), clopper_pearson(10, 10)
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert (every.low, every.high) == (pytest.approx(0.025**0.1), 1.0)
    assert clopper_pearson(0, 0).undefined == "too_few_units"


@pytest.mark.parametrize(("k", "n", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (1, 2, 0.0)])
def test_clopper_pearson_refuses(k, n, confidence):
    with pytest.raises(ValueError, match="clopper_pearson: "):
        clopper_pearson(k, n, confidence=confidence)


def at_chance(questions: int, replications: int, seed: int = 5) -> np.ndarray:
    """Verdicts of a judge that does not look at the question."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(replications, [0.2] * 5, size=questions)


@pytest.mark.parametrize(
    ("name", "questions", "least", "most"),
    [("fleiss_kappa", 20, 32, 40), ("fleiss_kappa", 100, 0, 0), ("krippendorff_alpha", 20, 0, 0)],
)
def test_a_value_that_few_ratings_bias_is_marked(name, questions, least, most):
    statistic = count_statistic(name, n_values=5)
    tables = [at_chance(questions, 20, seed) for seed in range(40)]
    assert least <= sum(jackknife_interval(one, statistic).biased for one in tables) <= most


def test_entropy_of_few_replications_is_marked():
    entropy = count_statistic("entropy_agreement", n_values=5)
    assert jackknife_interval(at_chance(20, 5), entropy).biased
    assert jackknife_interval(at_chance(100, 20), entropy).biased
    assert not jackknife_interval(at_chance(20, 100), entropy).biased


@pytest.mark.parametrize(("level", "few"), [("interval", False), ("ordinal", False),
                                            ("nominal", True)])  # fmt: skip
def test_scores_that_are_seldom_the_same_lack_no_information_where_distances_count(level, few):
    counts = np.zeros((30, 60))
    for place in range(30):
        counts[place, [2 * place, 2 * place + 1]] = 1 + (place < 5), place >= 5
    values = np.arange(60.0)
    statistic = count_statistic("krippendorff_alpha", n_values=60, values=values, level=level)
    found = jackknife_interval(counts, statistic)
    assert found.few_informative == few


@pytest.mark.parametrize("name", ["gwet_ac1", "brennan_prediger", "krippendorff_alpha", "icc1"])
def test_no_low_end_is_below_what_agreement_beyond_chance_can_be(name):
    found = jackknife_interval([[3, 1], [0, 4], [4, 0]], count_statistic(name, n_values=2))
    assert found.low is not None
    assert found.low >= -1


def test_an_interval_about_a_value_less_its_bias_holds_the_value():
    found = interval.student_interval(
        -0.5, np.array([-0.26, -0.25]), 0.95, chance_corrected=True, less_bias=True
    )
    assert found.high == -0.5
    assert found.method.endswith("extended to the value")
