from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from judgerel_ray.core.codes import NullMethod
from judgerel_ray.stats import (
    COEFFICIENTS,
    count_statistic,
    measure,
    moment_statistic,
    noise_floor,
    noise_floors,
)
from judgerel_ray.stats.null import noise

WITHOUT = {"valid_rate", "icck", "majority_stability_5", "majority_stability_11"}
NAMES = [name for name in COEFFICIENTS if name not in WITHOUT]


def statistics(n_values: int):
    return [count_statistic(name, n_values=n_values) for name in NAMES]


def test_it_is_the_null_one_can_enumerate():
    # AABB permuted over two units of two: both agree in 1 of 3, none in 2 of 3.
    agreement = count_statistic("percent_agreement", n_values=2)
    floor = noise_floor([[2, 0], [0, 2]], agreement, n_permutations=9999)
    assert floor.mean == pytest.approx(1 / 3, abs=0.02)
    assert floor.sd == pytest.approx(np.sqrt(2) / 3, abs=0.02)
    # The data are the most extreme of the null, which a third of all permutations equal.
    assert floor.p == pytest.approx(1 / 3, abs=0.02)
    assert floor.n_permutations == 9999


def test_equal_seeds_give_equal_floors_in_any_order_of_units_and_values():
    counts = np.random.default_rng(5).multinomial(4, [0.5, 0.3, 0.2], size=9)
    first = noise_floors(counts, statistics(3))
    assert noise_floors(counts, statistics(3)) == first
    for other in noise_floors(counts[::-1, [2, 0, 1]], statistics(3)), first:
        assert [floor.p for floor in other] == [floor.p for floor in first]
        assert [floor.mean for floor in other] == pytest.approx([f.mean for f in first])
    assert noise_floors(counts, statistics(3), seed=1) != first


def test_together_or_alone_they_are_the_same():
    counts = np.random.default_rng(6).multinomial(4, [0.5, 0.5], size=9)
    counts[0] = [1, 0]  # a unit that only AC1 counts
    together = noise_floors(counts, statistics(2))
    assert [noise_floor(counts, statistic) for statistic in statistics(2)] == list(together)


def test_systematic_disagreement_is_no_noise():
    # Two replies that always differ: alpha is negative, beyond all permutations.
    alpha = count_statistic("krippendorff_alpha", n_values=2)
    floor = noise_floor([[1, 1]] * 20, alpha)
    assert measure([[1, 1]] * 20, alpha).value < -0.9
    assert floor.p == 0.001


def test_the_undefined_has_no_floor():
    floor = noise_floor([[1, 0], [0, 1]], count_statistic("krippendorff_alpha", n_values=2))
    assert (floor.mean, floor.sd, floor.p, floor.n_permutations) == (None, None, None, 0)


@pytest.mark.slow
def test_more_ratings_than_are_shuffled_have_the_same_null(monkeypatch):
    counts = np.random.default_rng(7).multinomial(6, [0.6, 0.3, 0.1], size=2000)
    numbers = [
        count_statistic(name, n_values=3, values=[1, 2, 5], level=level)
        for name, level in (
            ("krippendorff_alpha", "ordinal"),
            ("krippendorff_alpha", "interval"),
            ("krippendorff_alpha", "ratio"),
            ("icc1", "interval"),
        )
    ]
    asked = [*statistics(3), *numbers]
    whole = noise_floors(counts, asked, n_permutations=400)
    monkeypatch.setattr(noise, "LABELS", 199 * 3000)
    closed = noise_floors(counts, asked, n_permutations=400)
    for statistic, a, b in zip(asked, whole, closed, strict=True):
        assert b.method == "all reassignments in closed form, two-sided", statistic.name
        # Monte-Carlo errors of the permutations: sd / 20 (14 of majorities), 3.5 % (5) of the sd.
        assert b.sd == pytest.approx(a.sd, rel=0.2)
        assert b.mean == pytest.approx(a.mean, abs=0.25 * a.sd)
        assert b.p == pytest.approx(a.p, abs=0.12)


def unequal(rng, sizes, rates):
    return np.array([rng.multinomial(m, rates) for m in sizes])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        ([10] * 11_000, (0.5, 0.3, 0.2)),
        ([2] * 5_000 + [40] * 5_000, (0.7, 0.2, 0.1)),
        ([3] * 20_000 + [8] * 6_000, (0.9, 0.1)),
        ([10] * 290 + [10_500] * 10, (0.5, 0.3, 0.2)),
    ],
)
def test_noise_of_many_ratings_is_called_noise(sizes, rates):
    rng = np.random.default_rng([len(sizes), len(rates)])
    names = ("krippendorff_alpha", "percent_agreement", "gwet_ac1", "icc1", "entropy_agreement")
    asked = [count_statistic(name, n_values=len(rates)) for name in (*names, "total_agreement")]
    called = np.mean(
        [
            [
                floor.p > 0.05
                for floor in noise_floors(unequal(rng, sizes, rates), asked, n_permutations=199)
            ]
            for _ in range(100)
        ],
        axis=0,
    )
    # .95 less 3.3 standard errors of 100 runs: of 24 comparisons, one in a hundred times any fails
    # by chance. Not all of them is more than caution.
    assert called.min() >= 0.878
    assert called.max() < 1


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[5] * 1_200, [4, 5] * 600, [*range(2, 13)] * 75])
def test_what_permuting_would_show_of_thousands_is_not_permuted(monkeypatch, sizes):
    counts = unequal(np.random.default_rng(4), sizes, (0.3, 0.3, 0.2, 0.2))
    asked = [
        count_statistic(name, n_values=4, values=[1, 2, 3, 4], level=level)
        for name, level in (
            ("krippendorff_alpha", "interval"),
            ("krippendorff_alpha", "ordinal"),
            ("krippendorff_alpha", "nominal"),
            ("percent_agreement", "nominal"),
            ("gwet_ac1", "nominal"),
        )
    ]
    closed = noise_floors(counts, asked, n_permutations=400)
    monkeypatch.setattr(noise, "DENSE", 10**9)
    permuted = noise_floors(counts, asked, n_permutations=400)
    for a, b in zip(closed, permuted, strict=True):
        assert (a.n_permutations, b.n_permutations) == (0, 400)
        assert a.method == "all reassignments in closed form, two-sided"
        assert a.sd == pytest.approx(b.sd, rel=0.15)
        assert a.mean == pytest.approx(b.mean, abs=0.2 * b.sd)
        assert a.p == pytest.approx(b.p, abs=0.1)
    # A rare verdict is what moments do not settle.
    rare = noise_floors([[5, 0]] * 1_200 + [[4, 1]] * 12, asked_of_two())
    assert rare[0].n_permutations == 999


def asked_of_two():
    return [count_statistic("krippendorff_alpha", n_values=2)]


@pytest.mark.slow
def test_a_rare_verdict_is_permuted_however_many_ratings_there_are():
    # 100 of 200,000: two in one unit in 1 of 40 permutations, which no normal distribution knows.
    counts = np.tile([2, 0], (100_000, 1))
    counts[:98] = [1, 1]
    counts[98] = [0, 2]
    alpha = count_statistic("krippendorff_alpha", n_values=2)
    (floor,) = noise_floors(counts, [alpha])
    assert floor.method == "999 random reassignments, two-sided"
    assert 0.01 <= floor.p <= 0.045


@pytest.mark.slow
def test_what_moments_do_not_tell_is_permuted_or_has_no_p(monkeypatch):
    # One in 10,000 got 999: interval alpha is skewed, nominal agreement is not.
    rng = np.random.default_rng(4)
    counts = rng.multinomial(5, [*[0.19998] * 5, 0.0001], size=4000)
    asked = [
        count_statistic(
            "krippendorff_alpha", n_values=6, values=[*range(5), 999], level="interval"
        ),
        count_statistic("icc1", n_values=6, values=[*range(5), 999], level="interval"),
        count_statistic("percent_agreement", n_values=6),
    ]
    monkeypatch.setattr(noise, "LABELS", 199)
    alpha, icc, agreement = noise_floors(counts, asked)
    permuted = "199 random reassignments, two-sided"
    assert (alpha.method, icc.method) == (permuted, permuted)
    assert agreement.method == "all reassignments in closed form, two-sided"
    monkeypatch.setattr(noise, "MOST_LABELS", 0)
    for floor in noise_floors(counts, asked[:2]):
        assert (floor.p, floor.n_permutations) == (None, 0)
        assert floor.method.endswith("; no p: too skewed to tell it, too many to permute")
        assert floor.sd > 0


def test_a_few_units_of_very_many_ratings_are_permuted():
    rng = np.random.default_rng(3)
    counts = rng.multinomial(1_000_000, [0.5, 0.3, 0.2], size=12)
    for floor in noise_floors(counts, statistics(3)[:4]):
        assert floor.n_permutations == 999
        assert floor.p > 0.001


def test_the_mean_of_many_has_no_floor():
    icck = count_statistic("icck", n_values=2)
    assert noise_floor([[4, 1], [2, 3], [0, 5]], icck).p is None


def test_dear_coefficients_are_permuted_less_often():
    counts = np.random.default_rng(8).multinomial(6, [0.5, 0.5], size=12)
    names = ("majority_stability_3", "percent_agreement")
    dear, cheap = noise_floors(counts, [count_statistic(name, n_values=2) for name in names])
    assert (dear.n_permutations, cheap.n_permutations) == (199, 999)
    # Shuffled, two samples of three are one random sample of six from all verdicts.
    pooled = measure([counts.sum(axis=0)], count_statistic("majority_stability_3", n_values=2))
    assert dear.mean == pytest.approx(pooled.value, abs=5 * dear.sd / np.sqrt(199))


def test_moments_are_refused():
    with pytest.raises(ValueError, match="of scores there is score_floor"):
        noise_floor([[2, 1]], moment_statistic("icc1"))


def test_fewer_than_one_permutation_is_refused():
    with pytest.raises(ValueError, match="n_permutations must be at least 1"):
        noise_floor([[1, 1]], statistics(2)[0], n_permutations=0)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("name", "n_units"),
    [
        *product(["total_agreement", "entropy_agreement", "gwet_ac1"], [7, 1000]),
        pytest.param("gwet_ac1", 4001, marks=pytest.mark.slow),
    ],
)
def test_one_value_alone_is_permuted_once_and_gives_the_same_floor(monkeypatch, name, n_units):
    """Fifteen thousand questions that never differ were permuted hundreds of times, for nothing."""
    counts = np.zeros((n_units, 3))
    counts[:, 1] = 2
    counts[: n_units // 2, 1] = 3
    statistic = count_statistic(name, n_values=3)
    margins = noise.margins_of(counts)
    n = max(199, min(999, noise.LABELS // margins.n))
    permuted = noise.permuted
    drawn = permuted(margins, n, "units", np.random.default_rng(0), width=9)
    null = [statistic.value(statistic.terms(one.tables_BRV).sum(axis=-2)) for one in drawn]
    value = float(statistic.value(statistic.terms(counts).sum(axis=0)))
    expected = noise.floor_of(value, np.concatenate(null), NullMethod.REASSIGNMENTS)
    made = []

    def counted(*arguments, **options):
        for tables in permuted(*arguments, **options):
            made.append(len(tables.tables_BRV))
            yield tables

    monkeypatch.setattr(noise, "permuted", counted)
    monkeypatch.setattr(noise, "DENSE", 10**9)  # no closed form in place of it
    assert noise.noise_floors(counts, [statistic])[0] == expected
    assert made == [1]
