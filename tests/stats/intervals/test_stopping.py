"""Stopping rules: against exact arithmetic, by simulation, and replayed on recordings."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import (
    StoppingRule,
    distribution_interval,
    mode_is_settled,
    next_replications,
    percent_agreement,
    replay,
)
from judgerel_ray.stats.intervals.stopping import least_settling

counts = st.lists(st.integers(0, 30), min_size=2, max_size=7)


@pytest.mark.parametrize(("k", "n"), [(2, 8), (3, 9), (5, 10), (7, 11)])
def test_unanimous_draws_settle_after_eight_to_eleven(k, n):
    assert not mode_is_settled([n - 1] + [0] * (k - 1))
    assert mode_is_settled([n] + [0] * (k - 1))


@given(counts)
def test_every_other_verdict_is_compared_exactly(drawn):
    # Beta(1/2; a + 1, b + 1) = (a + b + 1) C(a + b, a) / 2^(a + b), against delta / (K - 1).
    leader = int(np.argmax(drawn))
    allowed = Fraction(1, 20 * (len(drawn) - 1))
    told = [
        Fraction((drawn[leader] + n + 1) * comb(drawn[leader] + n, n), 2 ** (drawn[leader] + n))
        <= allowed
        for other, n in enumerate(drawn)
        if other != leader
    ]
    assert mode_is_settled(drawn) == all(told)


@given(counts)
def test_ties_are_never_settled_and_one_verdict_always_is(drawn):
    assert not mode_is_settled([*drawn, max(drawn)])
    assert mode_is_settled([max(drawn)])


@pytest.mark.slow
def test_a_wrong_verdict_is_settled_on_as_rarely_as_promised():
    rng = np.random.default_rng(1)
    p = np.array([0.5, 0.3, 0.2])
    draws = (rng.random((600, 300, 1)) > p.cumsum()[:-1]).sum(axis=2)
    found = replay(draws, 3, StoppingRule(delta=0.1, first=1, most=300))
    wrong = (found.settled_U > 0).mean()
    assert wrong <= 0.1
    assert (found.settled_U == 0).mean() > 0.2


@pytest.mark.slow
@given(counts, st.floats(0.01, 0.5))
def test_the_interval_is_the_edge_of_the_kept_distributions(drawn, delta):
    from scipy.special import gammaln

    drawn = np.array(drawn, dtype=float)
    low, high = distribution_interval(drawn, delta=delta)
    n, k = drawn.sum(), drawn.size
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    assert ((low <= drawn / max(n, 1)) & (drawn / max(n, 1) <= high)).all()
    mixed = gammaln(drawn + 1).sum() + gammaln(k) - gammaln(k + n)
    for v in range(k):
        rest = np.delete(drawn, v)
        others = rest / rest.sum() if rest.sum() else np.full(k - 1, 1 / (k - 1))
        for end in (low[v], high[v]):
            if 0 < end < 1:
                p = np.insert(others * (1 - end), v, end)
                likelihood = (drawn[drawn > 0] * np.log(p[drawn > 0])).sum()
                assert mixed - likelihood == pytest.approx(-np.log(delta), abs=1e-6)


@pytest.mark.slow
def test_the_interval_is_never_left_as_often_as_promised():
    rng = np.random.default_rng(3)
    p = np.array([0.6, 0.3, 0.1])
    left = 0
    for _ in range(60):
        drawn = np.zeros(3)
        for _ in range(20):  # a look after every third draw
            drawn += rng.multinomial(3, p)
            low, high = distribution_interval(drawn, delta=0.1)
            if ((p < low) | (p > high)).any():
                left += 1
                break
    assert left / 60 <= 0.1


@given(counts, st.integers(1, 20), st.integers(1, 9), st.integers(20, 60))
def test_rounds_add_up_and_end(drawn, first, step, most):
    rule = StoppingRule(first=first, step=step, most=most)
    more = next_replications(drawn, rule)
    n = sum(drawn)
    assert more >= 0
    if n < first:
        assert more == first - n
    elif n >= most or mode_is_settled(drawn):
        assert more == 0
    else:
        assert 1 <= more <= step
        assert n + more <= most


def test_a_width_asks_on_until_the_distribution_is_known():
    mode, whole = StoppingRule(most=1000), StoppingRule(most=1000, width=0.2)
    drawn = np.array([30, 5])
    assert next_replications(drawn, mode) == 0
    assert next_replications(drawn, whole) == 1
    assert next_replications(drawn * 20, whole) == 0


def test_coin_flips_have_no_stable_verdict():
    draws = np.tile([0, 1], 50)[None]
    found = replay(draws, 2, StoppingRule())
    assert (found.used_U[0], found.settled_U[0], bool(found.agrees_U[0])) == (100, -1, False)


@pytest.mark.slow
def test_the_first_block_is_unbiased_and_stopped_counts_are_not():
    rng = np.random.default_rng(12)
    p = np.array([0.6, 0.4])
    draws = (rng.random((3000, 60)) > p[0]).astype(int)
    rule = StoppingRule(first=5, most=60)
    found = replay(draws, 2, rule)
    stopped = [
        np.bincount(row[:n], minlength=2) for row, n in zip(draws, found.used_U, strict=True)
    ]
    block = [np.bincount(row[: rule.first], minlength=2) for row in draws]
    truth = float((p**2).sum())
    error = 0.006  # of one mean over 3,000 questions
    assert percent_agreement(block).value == pytest.approx(truth, abs=3 * error)
    assert percent_agreement(stopped).value > truth + 0.012


@pytest.mark.parametrize(
    "options",
    [{"delta": 0.0}, {"first": 0}, {"first": 9, "most": 5}, {"step": 0}, {"width": 0.0}],
)
def test_rules_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match="StoppingRule"):
        StoppingRule(**options)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="counts_V"):
        mode_is_settled([])
    with pytest.raises(ValueError, match="counts_V"):
        distribution_interval([-1, 2])
    with pytest.raises(ValueError, match="delta"):
        mode_is_settled([1, 2], delta=1.0)
    with pytest.raises(ValueError, match="prior"):
        distribution_interval([1, 2], prior=0.0)
    with pytest.raises(ValueError, match="draws_UR"):
        replay([[0, 1]], 2, StoppingRule(first=1, most=5))
    with pytest.raises(ValueError, match="table"):
        replay([0.5], 2, StoppingRule(first=1, most=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shares", "undecided"),
    [
        # Share of the 100 replications used, and of questions without a stable verdict, by
        # temperature 0, .25, .5, .75, 1.
        ("llama3", (0.110, 0.242, 0.345, 0.519, 0.574), (0.0, 0.091, 0.164, 0.327, 0.327)),
        ("starling", (0.110, 0.405, 0.529, 0.597, 0.572), (0.0, 0.255, 0.400, 0.436, 0.382)),
    ],
)
def test_recorded_judges_replayed(recordings, name, shares, undecided):
    from judgerel_ray.importers import import_schroeder2024

    judged = import_schroeder2024(str(recordings / f"seed000/judgments_{name}.parquet"))
    codes = dict(zip("ABCDE", range(5), strict=True)) | {"unparsed": 5, "conflicting": 6}
    for temperature, share, open_share in zip(
        (0.0, 0.25, 0.5, 0.75, 1.0), shares, undecided, strict=True
    ):
        rows = judged.filter(temperature=temperature).sort("item_id", "replication")
        draws = np.array(
            [codes[verdict or outcome] for verdict, outcome in rows["verdict", "outcome"].rows()]
        ).reshape(-1, 100)
        found = replay(draws, 7, StoppingRule())
        settled = found.settled_U >= 0
        assert found.used_U.sum() / draws.size == pytest.approx(share, abs=5e-4)
        assert (~settled).mean() == pytest.approx(open_share, abs=5e-4)
        # What is settled is the verdict that all hundred draws give most often.
        assert found.agrees_U[settled].all()


def test_more_verdicts_take_more_draws_alike():
    assert [least_settling(n_verdicts) for n_verdicts in (2, 3, 5, 7)] == [8, 9, 10, 11]
