"""Inter-scale alpha: Krippendorff's with one replication, pairs across scales with more."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import (
    SCALE_CASES,
    inter_scale_alpha,
    inter_scale_interval,
    inter_scale_terms,
    map_scores,
    scale_ratings,
)

LEVELS = ("nominal", "ordinal", "interval")
FIVE, TEN = (1.0, 5.0), (1.0, 10.0)
seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, *, scales: int = 2, items: int = 25, replications: int = 3, gaps: float = 0.0):
    rng = np.random.default_rng(seed)
    latent = rng.integers(1, 6, size=(items, 1))
    tables = []
    for _ in range(scales):
        table = np.clip(latent + rng.integers(-1, 2, size=(items, replications)), 1, 5) * 1.0
        table[rng.random(table.shape) < gaps] = np.nan
        tables.append(table)
    return tables


def by_hand(tables, level: str) -> float:
    """The definition, pair by pair and weight by weight."""
    present = [[row[~np.isnan(row)] for row in rows] for rows in zip(*tables, strict=True)]
    units = [[cell for cell in cells if cell.size] for cells in present]
    units = [cells for cells in units if len(cells) >= 2]
    pooled = [(x, 1 / cell.size) for cells in units for cell in cells for x in cell]
    n = sum(weight for _, weight in pooled)

    ranks = {x: sum(w * ((y < x) + (y == x) / 2) for y, w in pooled) for x, _ in pooled}

    def apart(x: float, y: float) -> float:
        if level == "nominal":
            return float(x != y)
        return (ranks[x] - ranks[y]) ** 2 if level == "ordinal" else (x - y) ** 2

    observed = (
        sum(
            2 * np.mean([[apart(x, y) for x in one] for y in two]) / (len(cells) - 1)
            for cells in units
            for one, two in combinations(cells, 2)
        )
        / n
    )
    expected = sum(v * w * apart(x, y) for x, v in pooled for y, w in pooled) / (n * (n - 1))
    return 1 - observed / expected


@pytest.mark.parametrize("level", LEVELS)
@given(seed=seeds, scales=st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_with_one_replication_it_is_krippendorffs_alpha(level, seed, scales):
    krippendorff = pytest.importorskip("krippendorff")
    tables = [one[:, 0] for one in drawn(seed, scales=scales, replications=1, gaps=0.2)]
    found = inter_scale_alpha(scale_ratings(tables, ranges=[FIVE] * scales, level=level))
    mapped = (np.stack(tables) - 1) / 4
    expected = krippendorff.alpha(reliability_data=mapped, level_of_measurement=level)
    assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_scales_of_different_ranges_are_krippendorffs_of_mapped_scores(level):
    krippendorff = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(3)
    ten = rng.integers(1, 11, size=60)
    five = np.clip(np.ceil(ten / 2) + rng.integers(-1, 2, size=60), 1, 5)
    found = inter_scale_alpha(scale_ratings([five, ten], ranges=[FIVE, TEN], level=level))
    mapped = np.stack([(five - 1) / 4, (ten - 1) / 9])
    expected = krippendorff.alpha(reliability_data=mapped, level_of_measurement=level)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.estimator == f"{level} alpha of 2 scales, minmax, all replications paired"


@pytest.mark.alike(3)
@pytest.mark.parametrize("level", LEVELS)
@given(seed=seeds, scales=st.integers(2, 3))
@settings(max_examples=8, deadline=None)
def test_with_replications_it_is_its_definition(level, seed, scales):
    tables = drawn(seed, scales=scales, items=12, gaps=0.3)
    found = inter_scale_alpha(scale_ratings(tables, ranges=[FIVE] * scales, level=level))
    assert found.value == pytest.approx(by_hand(tables, level), abs=1e-9)


@pytest.mark.slow
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_midranks_are_ranks_among_the_items_on_both_scales(seed):
    one, two = drawn(seed, gaps=0.2)
    both = ~(np.isnan(one).all(axis=1) | np.isnan(two).all(axis=1))
    found = inter_scale_alpha(scale_ratings([one, two], ranges=[FIVE] * 2, mapping="midrank"))
    ranked = [map_scores(x[both], "midrank", lowest=1, highest=5) for x in (one, two)]
    assert found.value == pytest.approx(by_hand(ranked, "interval"), abs=1e-9)


@pytest.mark.parametrize("mapping", ["minmax", "midrank", "fraction", "collapse", "binarise"])
def test_leaving_a_question_out_is_computing_without_it(mapping):
    tables = drawn(5, items=20, gaps=0.2)
    questions = np.repeat(np.arange(8), 3)[:20]
    settings = {"ranges": [FIVE, TEN], "mapping": mapping}
    terms = inter_scale_terms(scale_ratings(tables, questions_N=questions, **settings))
    for question, value in zip(terms.questions_C, terms.left_out(), strict=True):
        rest = [one[questions != question] for one in tables]
        assert value == pytest.approx(
            inter_scale_alpha(scale_ratings(rest, **settings)).value, abs=1e-9
        )


def test_first_samples_are_the_first_columns():
    tables = drawn(6, gaps=0.2)
    first = scale_ratings(tables, ranges=[FIVE] * 2, pairing="first")
    found = inter_scale_alpha(first)
    columns = scale_ratings([one[:, 0] for one in tables], ranges=[FIVE] * 2)
    assert found.value == inter_scale_alpha(columns).value
    assert found.estimator == "interval alpha of 2 scales, minmax, first samples"


def test_counts_are_items_and_scales():
    tables = [[[1, 2], [3, np.nan]], [[1], [np.nan]], [[2], [4]]]
    found = inter_scale_alpha(scale_ratings(tables, ranges=[FIVE] * 3))
    assert (found.name, found.n_units, found.n_raters) == ("inter_scale_alpha", 2, 3)
    assert (found.n_ratings, found.n_missing, found.undefined) == (5, 1, None)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ([[], []], "no_verdicts"),
        ([[np.nan], [np.nan]], "no_verdicts"),
        ([[1, np.nan], [np.nan, 2]], "single_scale"),
        ([[5, 5], [10, 10]], "no_variance"),
        ([[1], [1]], "no_variance"),
    ],
)
@pytest.mark.parametrize("mapping", ["minmax", "midrank", "collapse", "binarise"])
def test_what_has_no_value_says_why(tables, reason, mapping):
    ratings = scale_ratings(tables, ranges=[FIVE, TEN], mapping=mapping)
    found = inter_scale_alpha(ratings)
    assert (found.value, found.undefined) == (None, reason)
    assert inter_scale_interval(ratings).undefined == "undefined"


def test_an_interval_tells_its_questions_and_is_flagged_where_few_carry_it():
    tables = drawn(7, items=60)
    whole = inter_scale_interval(scale_ratings(tables, ranges=[FIVE] * 2))
    assert whole.low < inter_scale_alpha(scale_ratings(tables, ranges=[FIVE] * 2)).value
    assert (whole.n_questions, whole.few_informative, whole.undefined) == (60, False, None)
    grouped = scale_ratings(tables, ranges=[FIVE] * 2, questions_N=np.arange(60) // 2)
    assert inter_scale_interval(grouped).n_questions == 30
    usual = np.full(60, 3.0)
    usual[:4] = 5
    rare = inter_scale_interval(scale_ratings([usual, np.roll(usual, 1)], ranges=[FIVE] * 2))
    assert rare.few_informative
    assert inter_scale_interval(scale_ratings([[1, 5], [1, 5]], ranges=[FIVE] * 2)).undefined in (
        "no_spread",
        "depends_on_one_question",
    )


def test_the_papers_cases_state_every_choice():
    assert [(one.scales, one.mapping, one.level) for one in SCALE_CASES.values()] == [
        (("points5", "points10"), "minmax", "interval"),
        (("points5", "likert5"), "minmax", "interval"),
        (("binary", "points10"), "binarise", "nominal"),
    ]
    assert all(one.tie == ">mid" for one in SCALE_CASES.values())


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: scale_ratings([[1]], ranges=[FIVE]), "two scales or more"),
        (lambda: scale_ratings([[1], [1]], ranges=[FIVE]), "two scales or more"),
        (lambda: scale_ratings([[1], [1, 2]], ranges=[FIVE] * 2), "same items"),
        (lambda: scale_ratings([[1], [1]], ranges=[FIVE] * 2, questions_N=[1, 2]), "same items"),
        (lambda: scale_ratings([[1], [6]], ranges=[FIVE] * 2), "within"),
        (lambda: scale_ratings([[[[1]]], [1]], ranges=[FIVE] * 2), "shape"),
        (lambda: scale_ratings([[1], [1]], ranges=[FIVE] * 2, pairing="last"), "pairing"),
        (lambda: scale_ratings([[1], [1]], ranges=[FIVE] * 2, mapping="x"), "mapping"),
        (
            lambda: inter_scale_interval(
                scale_ratings([[1], [1]], ranges=[FIVE] * 2), confidence=1
            ),
            "confidence",
        ),
    ],
)
def test_what_is_no_comparison_is_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()


def test_too_many_ranks_are_refused():
    scores = np.random.default_rng(0).random((2, 400)) * 4 + 1
    ratings = scale_ratings(scores, ranges=[FIVE] * 2, level="ordinal")
    with pytest.raises(ValueError, match="too many to rank"):
        inter_scale_alpha(ratings)
