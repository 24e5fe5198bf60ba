"""The alarm keeps its level however often one looks, and sees what changed."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from bench.drift_alarm import DRIFTS, GREEDY_DRIFTS, LEVEL, alarm_at
from judgerel_ray.analyses.drift.compute import CONDITION, judge_drift
from judgerel_ray.stats.drift import (
    STAKE,
    capital_path,
    drift_evidence,
    exchangeability,
    first_alarm,
    payoff,
)


def test_a_bet_on_a_uniform_p_is_fair():
    # In x = -ln p, where the payoff's long tail is 1 / x^2.
    found, _ = quad(lambda x: float(payoff(np.exp(-x)) * np.exp(-x)), 0, 600, limit=400)
    assert found + 1 / 600 == pytest.approx(1, abs=1e-4)
    ps = np.linspace(0.001, 1, 500)
    assert (np.diff(payoff(ps)) <= 1e-6).all()


@pytest.mark.slow
def test_p_is_uniform_where_nothing_changed():
    rng = np.random.default_rng(7)
    shares = rng.dirichlet([1, 1, 1], 8)
    ps = [
        exchangeability(
            rng.multinomial(5, shares), rng.multinomial(3, shares), rng=rng, permutations=99
        ).p
        for _ in range(400)
    ]
    assert kstest(ps, "uniform").pvalue > 0.01


def test_verdicts_that_are_all_alike_give_a_draw():
    same = np.array([[4, 0], [0, 4]])
    found = [exchangeability(same, same, rng=np.random.default_rng(n)) for n in range(400)]
    assert kstest([one.p for one in found], "uniform").pvalue > 0.01
    assert {one.n_informative for one in found} == {0}
    # The same judgments give the same one.
    assert exchangeability(same, same, rng=np.random.default_rng(0)) == found[0]


def test_verdicts_without_earlier_ones_place_no_bet():
    # The first question is new, the second is asked no more.
    old, new = np.array([[0, 0], [4, 1]]), np.array([[3, 1], [0, 0]])
    found = exchangeability(old, new, rng=np.random.default_rng(0))
    assert (found.p, found.n_informative) == (None, 0)
    assert drift_evidence([None, None]).capital == 1.0


@pytest.mark.slow
def test_the_first_other_reply_of_a_steady_judge_is_no_alarm():
    """Its p is at most 1 / looks: a bettor who waits for it stakes all at the one sure moment."""
    always, other = np.array([[1, 0]]), np.array([[0, 1]])
    for seed in range(4):
        rng = np.random.default_rng(seed)
        ps = [exchangeability(n * always, always, rng=rng).p for n in range(5000)]
        last = exchangeability(5000 * always, other, rng=rng)
        assert last.n_informative == 1
        assert last.p < 1 / 2500
        assert not drift_evidence([*ps, last.p]).is_alarm


@pytest.mark.parametrize("drift", GREEDY_DRIFTS)
def test_a_judge_at_temperature_0_that_changes_after_a_quiet_year_is_seen(drift):
    found = alarm_at(
        np.random.default_rng(2), questions=100, replications=1, refreshes=8, permutations=1999,
        drift=drift, quiet=365, is_greedy=True,
    )  # fmt: skip
    assert found is not None
    assert found >= 365


def test_the_capital_of_one_pass_is_that_of_each_refresh():
    rng = np.random.default_rng(4)
    ps = [None if rng.random() < 0.2 else float(rng.beta(0.7, 1)) for _ in range(60)]
    path = list(capital_path(ps))
    each = [drift_evidence(ps[: n + 1]) for n in range(len(ps))]
    assert path == [one.capital for one in each]
    assert [max(path[: n + 1]) for n in range(len(ps))] == [one.highest for one in each]
    # By hand, as the capital is defined.
    in_play, waiting, bets = 0.0, 1.0, [p for p in ps if p is not None]
    for k, p in enumerate(bets, 2):
        share = 1 / (k * np.log(k) ** 2) / 2.10974280123689
        waiting -= share
        in_play = (in_play + share) * (1 - STAKE + STAKE * float(payoff(p)))
    assert path[-1] == pytest.approx(in_play + waiting)


def test_each_refresh_is_held_to_its_own_level():
    capital = [1.0, 25.0, 30.0, 41.0]
    assert first_alarm(capital, [0.05] * 4) == 1
    assert first_alarm(capital, [None, None, 0.05, 0.05]) == 2
    assert first_alarm(capital, [None, 0.025, 0.025, 0.025]) == 3
    assert first_alarm(capital, [0.05, 0.02, 0.02, 0.02]) is None


@pytest.mark.slow
def test_drift_free_series_keep_the_level():
    rng = np.random.default_rng(3)
    alarms = [
        alarm_at(rng, questions=6, replications=3, refreshes=15, permutations=199) is not None
        for _ in range(60)
    ]
    assert np.mean(alarms) <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / 60)


@pytest.mark.alike(2)
@pytest.mark.parametrize("drift", DRIFTS)
def test_a_planted_drift_is_seen(drift):
    rng = np.random.default_rng(11)
    found = alarm_at(
        rng, questions=100, replications=8, refreshes=6, permutations=1999, drift=drift, quiet=10
    )
    assert found is not None
    assert found >= 10


def delays(rng, quiet):
    """Refreshes until a judge is called drifted, whose p-values have been small since `quiet`."""
    found = [
        drift_evidence([*rng.uniform(size=quiet), *rng.beta(0.2, 1, size=60)]).since
        for _ in range(60)
    ]
    return np.median([one - quiet + 1 for one in found if one is not None and one >= quiet])


@pytest.mark.slow
def test_a_change_is_seen_after_a_year_as_after_a_month():
    rng = np.random.default_rng(5)
    assert delays(rng, 730) <= 2 * delays(rng, 30)


@pytest.mark.slow
def test_capital_has_mean_one_where_nothing_changes():
    # Of p-values that are whole tenths, with a payoff whose mean over them is taken out.
    ps = np.arange(1, 11) / 10
    fair = payoff(ps).mean()
    capital = [drift_evidence([one, None, other]).capital for one in ps for other in ps]
    first, second = (1 / ((k + 1) * np.log(k + 1) ** 2) / 2.10974280123689 for k in (1, 2))
    grown = 1 - STAKE + STAKE * fair
    expected = (first * grown + second) * grown + 1 - first - second
    assert np.mean(capital) == pytest.approx(expected)
    shares = [1 / ((k + 1) * np.log(k + 1) ** 2) for k in range(1, 10**6)]
    assert sum(shares) + 1 / np.log(10**6) == pytest.approx(2.10974280123689, abs=1e-5)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="must have the shape of old_UV"):
        exchangeability(np.ones((2, 2), int), np.ones((3, 2), int), rng=np.random.default_rng(0))


@pytest.mark.parametrize("heat", [0.3, 0.5])
def test_a_setting_that_another_ask_has_too_is_a_change_of_the_first(heat):
    def asked(benchmark, temperature, says_x):
        return [
            {**dict.fromkeys(CONDITION), "judge": "j", "benchmark": benchmark, "item_id": f"q{n}",
             "temperature": temperature, "replication": r, "value": "x" if r < says_x else "y"}
            for n in range(12) for r in range(10)
        ]  # fmt: skip

    steady = asked("b", 0.5, 5)
    old = pl.DataFrame([*asked("a", 1.0, 9), *steady], infer_schema_length=None)
    new = pl.DataFrame([*asked("a", heat, 1), *steady], infer_schema_length=None)
    (found,) = judge_drift(old, new, name="s")
    assert found["p"] < 1e-3
    assert found["n_informative"] == 24
