"""Paired differences by brute force, their coverage, and corrections for many of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import count_statistic, krippendorff_alpha
from judgerel_ray.stats.intervals.judge_differences import benjamini_hochberg, holm
from judgerel_ray.stats.intervals.paired import paired_difference

ALPHA = count_statistic("krippendorff_alpha", n_values=3)
AGREEMENT = count_statistic("percent_agreement", n_values=3)


def dirichlet_counts(rng, alpha, n, m, pi):
    s = 1 / alpha - 1
    return np.array([rng.multinomial(m, p) for p in rng.dirichlet(s * pi, n)])


def brute_force(a, b, clusters, value):
    """Every exchange by itself: difference, and error by weighing each question a little more."""
    names = np.unique(clusters)
    n = len(names)

    def difference(one, two):
        return value(two) - value(one)

    def moved(table, added):
        """What each question of `added` moves the value of `table` by."""
        step = 1e-4
        return np.array(
            [
                (value(table, added, q, step) - value(table, added, q, -step)) / (2 * step)
                for q in names
            ]
        )

    found = []
    for swapped in product((False, True), repeat=n):
        side = np.isin(clusters, names[np.array(swapped)])[:, None]
        one, two = np.where(side, b, a), np.where(side, a, b)
        own = moved(two, two) - moved(one, one)
        crossed = moved(two, one) ** 2 + moved(one, two) ** 2
        error = np.sqrt(n / (n - 1) * ((own - own.mean()) ** 2).sum() + 2 / n * crossed.sum())
        found.append((difference(one, two), error))
    return np.array(found)


def plain_alpha(clusters):
    """Nominal alpha of questions, one of another table weighing so much on top."""

    def value(table, added=None, question=None, weight=0.0):
        units = [(1.0, row) for row in table]
        if added is not None:
            units += [
                (weight, row) for row, of in zip(added, clusters, strict=True) if of == question
            ]
        total = sum(w * row for w, row in units)
        n = total.sum()
        apart = sum(w * (row.sum() ** 2 - (row**2).sum()) / (row.sum() - 1) for w, row in units)
        return 1 - (n - 1) * apart / (n**2 - (total**2).sum())

    return value


@pytest.mark.slow
@pytest.mark.parametrize("units", [1, 2])
def test_all_exchanges_by_brute_force(units):
    rng = np.random.default_rng(4)
    a = rng.multinomial(4, [0.5, 0.3, 0.2], 8).astype(float)
    b = rng.multinomial(6, [0.2, 0.2, 0.6], 8).astype(float)
    clusters = np.repeat(np.arange(8 // units), units)
    found = paired_difference(a, b, ALPHA, first_clusters_U=clusters, second_clusters_U=clusters)
    differences, errors = brute_force(a, b, clusters, plain_alpha(clusters)).T
    assert found.value == pytest.approx(krippendorff_alpha(b).value - krippendorff_alpha(a).value)
    assert found.value == pytest.approx(differences[0])
    assert found.standard_error == pytest.approx(errors[0], rel=1e-4)
    apart = np.sort(np.abs(differences / errors))
    assert found.p == pytest.approx(np.mean(apart >= abs(differences[0] / errors[0]) - 1e-6))
    assert found.method == f"all 2^{8 // units} exchanges"
    # The furthest that 5 % of 256 exchanges reach; of 16 none is so rare, and t stands.
    reach = errors[0] * (apart[-13] if units == 1 else max(apart[-1], 3.182446))
    assert (found.low, found.high) == pytest.approx(
        (found.value - reach, found.value + reach), rel=1e-3
    )
    assert (found.name, found.n_questions, found.undefined) == (
        "krippendorff_alpha",
        len(set(clusters)),
        None,
    )
    assert (found.p_equivalence, found.margin) == (None, None)


def test_questions_of_one_side_only_are_left_out():
    a = [[2, 0, 0], [1, 1, 0], [0, 2, 0], [0, 1, 1]]
    b = [[0, 2, 0], [2, 0, 0], [1, 0, 1]]
    whole = paired_difference(
        a, b, AGREEMENT, first_clusters_U=[10, 20, 30, 40], second_clusters_U=[30, 10, 99]
    )
    alone = paired_difference([a[0], a[2]], [b[1], b[0]], AGREEMENT)
    assert whole == alone
    assert whole.n_questions == 2
    # One rating is no pair, so the question takes part in neither.
    single = paired_difference([[2, 0, 0], [1, 0, 0]], [[2, 0, 0], [2, 0, 0]], AGREEMENT)
    assert single.n_questions == 1


@pytest.mark.slow
def test_intervals_cover_the_difference_and_pairing_narrows_them():
    # Shares of b are those of a drawn together: difference of alpha from the shares themselves.
    rng = np.random.default_rng(6)
    pi = np.full(3, 1 / 3)
    covered, narrower = 0, 0
    for _ in range(200):
        shares = rng.dirichlet(pi, 30)
        a = np.array([rng.multinomial(5, p) for p in shares])
        b = np.array([rng.multinomial(5, p) for p in shares])
        found = paired_difference(a, b, ALPHA)
        apart = paired_difference(a, rng.permutation(b), ALPHA)
        covered += found.low <= 0 <= found.high
        narrower += found.standard_error < apart.standard_error
    assert covered >= 180  # nominal 190; three Monte-Carlo s.e. are 9
    assert narrower > 130


@pytest.mark.slow
def test_a_true_difference_is_covered():
    rng = np.random.default_rng(9)
    pi = np.full(3, 1 / 3)
    covered = 0
    for _ in range(200):
        a, b = (dirichlet_counts(rng, alpha, 40, 5, pi) for alpha in (0.5, 0.7))
        found = paired_difference(a, b, ALPHA)
        covered += found.low <= 0.2 <= found.high
    assert covered >= 180


def test_equivalence_is_two_one_sided_tests():
    rng = np.random.default_rng(3)
    a = dirichlet_counts(rng, 0.6, 200, 10, np.full(3, 1 / 3))
    wide = paired_difference(a, a[:, [1, 0, 2]], ALPHA, margin=0.1)
    # Relabelled verdicts are the same judge: no spread around no difference.
    assert (wide.value, wide.undefined, wide.p, wide.p_equivalence) == (
        0.0,
        "no_spread",
        None,
        None,
    )
    b = a.copy()
    b[:3] = rng.permutation(b[:3], axis=1) + 1
    near = paired_difference(a, b, ALPHA, margin=0.1)
    assert near.p_equivalence < 0.05
    ninety = paired_difference(a, b, ALPHA, confidence=0.9)
    assert ninety.low > -0.1
    assert ninety.high < 0.1
    strict = paired_difference(a, b, ALPHA, margin=abs(near.value) / 2)
    assert strict.p_equivalence > 0.5


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ([[1, 0, 0]], [[1, 0, 0]], "no_common_questions"),
        ([[2, 0, 0], [2, 0, 0]], [[1, 1, 0], [0, 2, 0]], "undefined_first"),
        ([[1, 1, 0], [0, 2, 0]], [[2, 0, 0], [2, 0, 0]], "undefined_second"),
        ([[1, 1, 0]], [[1, 1, 0]], "too_few_units"),
        ([[2, 0, 0], [0, 2, 0]], [[2, 0, 0], [1, 1, 0]], "depends_on_one_question"),
    ],
)
def test_degenerate_pairs_say_why(a, b, why):
    found = paired_difference(a, b, ALPHA)
    assert found.undefined == why
    assert found.low is found.high is found.p is None


@given(st.lists(st.floats(0, 1) | st.none(), max_size=12))
def test_corrections_keep_order_and_what_is_missing(p):
    for correct in (holm, benjamini_hochberg):
        adjusted = correct(p)
        assert [one is None for one in adjusted] == [one is None for one in p]
        pairs = sorted((raw, new) for raw, new in zip(p, adjusted, strict=True) if raw is not None)
        assert all(raw <= new <= 1 for raw, new in pairs)
        assert [new for _, new in pairs] == sorted(new for _, new in pairs)
    for by_holm, by_fdr in zip(holm(p), benjamini_hochberg(p), strict=True):
        assert by_holm is None or by_fdr <= by_holm + 1e-12


def test_corrections_by_hand():
    # Sorted .005 .01 .03 .04; Holm 4 x .005, 3 x .01, 2 x .03, max(.06, .04);
    # Benjamini-Hochberg 4/1 x .005, 4/2 x .01, min(4/3 x .03, .04), .04.
    p = [0.01, 0.04, 0.005, 0.03]
    assert holm(p) == pytest.approx((0.03, 0.06, 0.02, 0.06))
    assert benjamini_hochberg(p) == pytest.approx((0.02, 0.04, 0.02, 0.04))


def test_mistakes_are_refused():
    good = [[2, 0, 0], [1, 1, 0]]
    with pytest.raises(ValueError, match="same columns"):
        paired_difference(good, [[2, 0], [1, 1]], ALPHA)
    with pytest.raises(ValueError, match="clusters must have shape"):
        paired_difference(good, good, ALPHA, first_clusters_U=[1])
    with pytest.raises(ValueError, match="margin must be above 0"):
        paired_difference(good, good, ALPHA, margin=0)
    with pytest.raises(ValueError, match="confidence"):
        paired_difference(good, good, ALPHA, confidence=0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.5])
