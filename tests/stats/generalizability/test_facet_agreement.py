"""Reproducibility: against pairs counted one by one, judges of known truth, and its null."""

import numpy as np
import pytest

from judgerel_ray.stats import gwet_ac1, icc1, krippendorff_alpha
from judgerel_ray.stats.generalizability import facet_agreement
from judgerel_ray.stats.generalizability.facet_agreement import (
    PAIR_COEFFICIENTS,
    FacetLevels,
    FacetTarget,
    crossed_ratings,
    facet_floors,
    lay_out_levels,
    left_out_values,
    reproducibility,
    reproducibility_terms,
)
from judgerel_ray.stats.intervals.interval import student_interval


def crossed(n_items: int, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Items and levels of units, all crossed."""
    return np.repeat(np.arange(n_items), n_levels), np.tile(np.arange(n_levels), n_items)


def by_hand(counts, items, distances, same_order=None, orders=None):
    """Mean distance inside items, between two judgments of any two, and of two items, by pairs.

    Judgments are enumerated; a level weighs 1 / L, of two judgments of one unit the same is never
    taken twice. With `same_order` two orders are drawn equal with that chance.
    """
    inside, centres, own = [], [], 0.0
    for item in np.unique(items):
        units = np.flatnonzero(items == item)
        shares = counts[units] / counts[units].sum(axis=1, keepdims=True)
        sums, weights = {"same": 0.0, "other": 0.0}, {"same": 0, "other": 0}
        for a in range(units.size):
            for b in range(units.size):
                kind = "same" if orders is None or orders[units[a]] == orders[units[b]] else "other"
                if a == b:
                    n, m = counts[units[a]], counts[units[a]].sum()
                    d = (n[:, None] * n * distances).sum() / (m * (m - 1))
                else:
                    d = shares[a] @ distances @ shares[b]
                sums[kind] += d
                weights[kind] += 1
        if same_order is None:
            inside.append(sum(sums.values()) / sum(weights.values()))
        else:
            mean = {kind: sums[kind] / weights[kind] for kind in sums}
            inside.append(same_order * mean["same"] + (1 - same_order) * mean["other"])
        centres.append(shares.mean(axis=0))
        own += (1 / counts[units].sum(axis=1)).sum() / units.size**2
    centre, n = np.mean(centres, axis=0), len(inside)
    apart = [a @ distances @ b for i, a in enumerate(centres) for b in centres[:i]]
    return np.mean(inside), centre @ distances @ centre, np.mean(apart), (n - own) / (n**2 - own)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_counted_one_by_one(seed):
    rng = np.random.default_rng(seed)
    items, levels = crossed(12, 3)
    counts = np.array([rng.multinomial(rng.integers(2, 6), [0.5, 0.3, 0.2]) for _ in items])
    inside, drawn, apart, own = by_hand(counts, items, 1 - np.eye(3))
    expected = own * inside + (1 - own) * apart  # as many pairs of one item as Krippendorff has

    def value(name):
        return reproducibility(name, counts, items, levels).value

    assert value("percent_agreement") == pytest.approx(1 - inside, abs=1e-12)
    assert value("flip_rate") == pytest.approx(inside, abs=1e-12)
    assert value("krippendorff_alpha") == pytest.approx(1 - inside / expected, abs=1e-12)
    assert value("fleiss_kappa") == pytest.approx(1 - inside / drawn, abs=1e-12)
    assert value("brennan_prediger") == pytest.approx(1 - inside / (1 - 1 / 3), abs=1e-12)


def test_orders_that_are_a_sample_of_the_possible_ones_seldom_meet():
    rng = np.random.default_rng(5)
    items, levels = crossed(9, 4)
    counts = rng.multinomial(3, [0.4, 0.3, 0.3], size=items.size)
    orders = levels // 2
    facets = FacetLevels(items_U=items, levels_U=levels, orders_U=orders, n_orders=6)
    found = reproducibility_terms("flip_rate", counts, facets, distances_VV=1 - np.eye(3))
    expected, *_ = by_hand(counts, items, 1 - np.eye(3), same_order=1 / 6, orders=orders)
    assert float(found.at(np.ones((1, 9)))[0]) == pytest.approx(expected, abs=1e-12)


def test_scores_by_their_sums_are_scores_counted():
    rng = np.random.default_rng(6)
    items, levels = crossed(15, 2)
    counts, values = rng.integers(1, 4, size=(30, 5)), np.array([1.0, 2.0, 4.0, 5.0, 9.0])
    facets = FacetLevels(items_U=items, levels_U=levels)
    sums = np.stack([counts.sum(axis=1), counts @ values, counts @ values**2], axis=1)
    apart = (values[:, None] - values) ** 2
    for name in ("krippendorff_alpha", "icc1"):
        by_count = reproducibility_terms(name, counts, facets, distances_VV=apart)
        by_sums = reproducibility_terms(name, sums, facets)
        ones = np.ones((1, 15))
        assert by_sums.at(ones)[0] == pytest.approx(by_count.at(ones)[0], abs=1e-9)


@pytest.mark.slow
def test_levels_that_do_nothing_leave_repeatability():
    """Law: units cut at random into two levels show what the whole units do, in the mean."""
    rng = np.random.default_rng(7)
    items, levels = crossed(40, 2)
    apart = []
    for _ in range(200):
        p = rng.dirichlet([0.5, 0.5, 0.5], size=40)
        counts = rng.multinomial(4, np.repeat(p, 2, axis=0))
        whole = counts.reshape(40, 2, 3).sum(axis=1)
        apart.append(
            [
                reproducibility("krippendorff_alpha", counts, items, levels).value
                - krippendorff_alpha(whole).value,
                reproducibility("icc1", counts, items, levels).value - icc1(whole).value,
                reproducibility("gwet_ac1", counts, items, levels).value - gwet_ac1(whole).value,
            ]
        )
    error = np.std(apart, axis=0) / np.sqrt(200)
    assert (np.abs(np.mean(apart, axis=0)) < 4 * error + 0.002).all()


def test_levels_all_alike_leave_krippendorff():
    """Of one judgment a level, all pairs of an item weigh alike: Krippendorff's own alpha."""
    rng = np.random.default_rng(9)
    items, levels = crossed(30, 3)
    verdicts = rng.integers(0, 3, items.size)
    found = reproducibility("krippendorff_alpha", np.eye(3)[verdicts].astype(int), items, levels)
    whole = np.eye(3)[verdicts].reshape(30, 3, 3).sum(axis=1).astype(int)
    assert found.value == pytest.approx(krippendorff_alpha(whole).value, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 20])
def test_a_judge_of_position_is_at_zero_in_the_mean(m):
    """Law: the share of pairs of one item is not read as signal, however few the questions are."""
    rng = np.random.default_rng(10)
    items, levels = crossed(12, 2)
    values = []
    for _ in range(300):
        counts = rng.multinomial(m, np.tile([[0.97, 0.03], [0.03, 0.97]], (12, 1)))
        values.append(reproducibility("krippendorff_alpha", counts, items, levels).value)
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(300)


@pytest.mark.parametrize("name", PAIR_COEFFICIENTS)
def test_a_judge_of_pure_position_reproduces_nothing(name):
    items, levels = crossed(50, 2)
    counts = np.tile([[4, 0], [0, 4]], (50, 1))
    facets = FacetLevels(items_U=items, levels_U=levels)
    (floor,) = facet_floors(
        counts, facets, [FacetTarget(name=name, n_categories=2)], distances_VV=1 - np.eye(2)
    )
    value = reproducibility(name, counts, items, levels, n_categories=2).value
    assert value == pytest.approx(floor.mean, abs=1e-12)
    assert floor.p == 1.0
    chance = 0.5 if name in ("percent_agreement", "flip_rate") else 0.0
    assert value == pytest.approx(chance, abs=1e-12)
    assert krippendorff_alpha(counts).value == 1.0  # and repeats itself


@pytest.mark.slow
@pytest.mark.parametrize("uneven", [False, True])
def test_closed_null_is_what_permutations_show(uneven, monkeypatch):
    rng = np.random.default_rng(8)
    items, levels = crossed(150, 3)
    base = rng.dirichlet([1.5, 1.5, 1.5], size=3)
    m = rng.integers(1, 5, size=items.size) if uneven else np.full(items.size, 3)
    counts = np.array([rng.multinomial(n, base[level]) for n, level in zip(m, levels, strict=True)])
    facets = FacetLevels(items_U=items, levels_U=levels)
    wanted = [FacetTarget(name=name, n_categories=3) for name in PAIR_COEFFICIENTS]
    drawn = facet_floors(counts, facets, wanted, distances_VV=1 - np.eye(3))
    monkeypatch.setattr(facet_agreement, "DENSE", 0)
    closed = facet_floors(counts, facets, wanted, distances_VV=1 - np.eye(3))
    for one, other in zip(drawn, closed, strict=True):
        assert other.mean == pytest.approx(one.mean, abs=0.25 * one.sd)
        assert other.sd == pytest.approx(one.sd, rel=0.12)
        assert "closed form" in other.method


@pytest.mark.slow
def test_noise_is_called_noise_though_position_is_not():
    """p under a null with position bias: at most 5 % below .05, with Monte-Carlo error."""
    rng = np.random.default_rng(9)
    items, levels = crossed(30, 2)
    facets, found = FacetLevels(items_U=items, levels_U=levels), []
    for _ in range(200):
        counts = rng.multinomial(3, [[0.8, 0.2] if level else [0.3, 0.7] for level in levels])
        (floor,) = facet_floors(
            counts, facets, [FacetTarget(name="krippendorff_alpha")], distances_VV=1 - np.eye(2)
        )
        found.append(floor.p)
    assert np.mean(np.array(found) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.slow
def test_intervals_cover_a_truth_that_order_halves():
    """Half of what a judge says of an item it says by content, half by position."""
    rng = np.random.default_rng(10)
    items, levels = crossed(60, 2)
    covered = []
    for _ in range(300):
        content = rng.integers(0, 2, size=60)
        p = 0.5 * (content[items] == 0) + 0.5 * (levels == 0)
        counts = rng.binomial(4, p)[:, None] * [1, -1] + [0, 4]
        terms = reproducibility_terms(
            "krippendorff_alpha", counts, FacetLevels(items_U=items, levels_U=levels),
            distances_VV=1 - np.eye(2),
        )  # fmt: skip
        value = float(terms.at(np.ones((1, 60)))[0])
        interval = student_interval(value, terms.left_out(), 0.95, chance_corrected=True)
        # Mean share of the first option: .75 or .25 by content; 1 - 2 (.375) over 1 - .5.
        covered.append(interval.low <= 0.25 <= interval.high)
    assert np.mean(covered) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize(
    ("counts", "items", "undefined"),
    [
        ([[2, 0], [0, 2]], [0, 1], "facets_not_crossed"),
        ([[2, 0], [2, 0]], [0, 0], "no_variance"),
        (np.zeros((0, 2), int), [], "facets_not_crossed"),
    ],
)
def test_what_has_no_reproducibility_says_why(counts, items, undefined):
    levels = np.arange(len(items))
    items = np.array(items, dtype=np.int64)
    found = reproducibility("krippendorff_alpha", counts, items, levels)
    assert (found.value, found.undefined) == (None, undefined)


def test_a_wrong_name_is_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        reproducibility("icck", [[1, 1]], [0], [0])


@pytest.mark.parametrize("n_levels", [2, 3, None])
def test_items_laid_out_in_parts_have_the_terms_of_all_at_once(n_levels, monkeypatch):
    rng = np.random.default_rng(3)
    n_items = 41
    sizes = np.full(n_items, n_levels) if n_levels else rng.integers(1, 4, n_items)
    items = np.repeat(np.arange(n_items), sizes)
    levels = FacetLevels(
        items_U=items,
        levels_U=np.arange(items.size) - np.repeat(np.cumsum(sizes) - sizes, sizes),
        orders_U=rng.integers(0, 2, items.size),
        n_orders=6.0,
    )
    counts = rng.integers(0, 4, (items.size, 3))
    moments = np.stack([counts.sum(axis=1), counts @ [1, 2, 3], counts @ [1, 4, 9]], axis=1)
    apart = 1 - np.eye(3)
    whole = [lay_out_levels(counts, levels, distances_VV=apart), lay_out_levels(moments, levels)]
    monkeypatch.setattr(facet_agreement, "BLOCK", 100)
    parts = [lay_out_levels(counts, levels, distances_VV=apart), lay_out_levels(moments, levels)]
    assert whole[0].terms_IT.shape[0] > 20
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.terms_IT, other.terms_IT, rtol=0, atol=1e-13)


def test_ratings_count_where_an_item_has_two_levels():
    levels = FacetLevels(items_U=np.array([0, 0, 1]), levels_U=np.array([0, 1, 0]))
    assert crossed_ratings(np.array([2.0, 3.0, 2.0]), levels).tolist() == [5]


def test_values_without_each_question_are_those_of_the_others():
    counts, levels = (
        [[3, 1], [1, 3], [4, 0], [2, 2]],
        FacetLevels(items_U=np.array([0, 0, 1, 1]), levels_U=np.array([0, 1, 0, 1])),
    )
    apart_VV = 1 - np.eye(2)
    laid = lay_out_levels(counts, levels, distances_VV=apart_VV)
    terms = reproducibility_terms("flip_rate", counts, levels, distances_VV=apart_VV)
    [found] = left_out_values(terms.terms_CT, [("flip_rate", None)], laid.form_FF)
    assert found == pytest.approx(terms.left_out(), abs=1e-12)
