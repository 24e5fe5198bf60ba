"""Panels by their votes, against counting by hand, by enumeration and by permutation."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats.panels.panel import (
    mean_interval,
    panel_floor,
    panel_votes,
    question_means,
    random_panels,
)
from judgerel_ray.stats.panels.search import PanelPrices, search_panels


def credit(votes, right, weights=None):
    """Share of a panel's verdict that is right, by a dictionary."""
    support = {}
    for place, vote in enumerate(votes):
        if vote >= 0:
            support[vote] = support.get(vote, 0) + (1 if weights is None else weights[place])
    most = max(support.values(), default=0)
    if most == 0:
        return 0.0, 0
    winners = [vote for vote, sum_ in support.items() if abs(sum_ - most) < 1e-9]
    return (1 / len(winners) if right in winners else 0.0), len(winners)


tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.tuples(st.lists(st.integers(-1, 3), min_size=n, max_size=n), st.integers(-1, 3)),
        min_size=1, max_size=12,
    )
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(0, 2**31))
def test_votes_are_counted_as_by_hand(table, seed):
    votes, right = [row for row, _ in table], [gold for _, gold in table]
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 0.85, 0.9], (len(votes), len(votes[0])))
    for used in (None, weights):
        found = panel_votes(votes, right, weights_UJ=used)
        rows = [None] * len(votes) if used is None else used
        expected = [credit(*one) for one in zip(votes, right, rows, strict=True)]
        assert found.credit_U == pytest.approx([share for share, _ in expected])
        assert found.n_tied_U.tolist() == [n for _, n in expected]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(tables)
def test_random_panels_are_the_mean_of_all_there_are(table):
    votes, right = np.array([row for row, _ in table]), np.array([gold for _, gold in table])
    found = random_panels(votes, right)
    n = votes.shape[1]
    for size in range(1, n + 1):
        every = [panel_votes(votes[:, c], right).credit_U for c in combinations(range(n), size)]
        assert found[:, size - 1] == pytest.approx(np.mean(every, axis=0))


def test_sums_of_confidences_tie_whatever_their_order():
    found = panel_votes([[0, 0, 0, 1, 1, 1]], [0], weights_UJ=[[0.1, 0.2, 0.3, 0.3, 0.2, 0.1]])
    assert (found.credit_U.tolist(), found.n_tied_U.tolist()) == ([0.5], [2])


def test_the_floor_is_that_of_all_permutations():
    votes = np.array([[0, 0], [0, 1], [1, -1], [-1, -1], [2, 1], [1, 1]])
    right = np.array([0, 1, 1, 2, -1, 0])
    questions = np.array([0, 0, 1, 2, 3, 4])
    gold = np.array([0, 1, 2, -1, 0])  # by question; the first one's units agree on it
    right[:2] = 0
    shuffled = []
    for order in permutations(range(5)):
        credit_U = panel_votes(votes, gold[list(order)][questions]).credit_U
        shuffled.append(question_means(credit_U, questions).mean())
    floor = panel_floor(votes, right, questions)
    assert floor.mean == pytest.approx(np.mean(shuffled))
    assert floor.sd == pytest.approx(np.std(shuffled))


def test_noise_is_told_from_knowledge():
    rng = np.random.default_rng(1)
    right = rng.integers(0, 4, 400)
    noise = rng.integers(0, 4, (400, 3))
    known = np.where(rng.random((400, 3)) < 0.4, right[:, None], noise)
    p = [panel_floor(one, right, np.arange(400)).p for one in (noise, known)]
    assert p[0] > 0.05 > p[1]


def test_a_question_counts_once_however_often_it_was_asked():
    assert question_means([1, 0, 0, 0], [0, 1, 1, 1]).mean() == 0.5


def test_intervals_are_exact_of_single_answers_and_by_question_else():
    exact = mean_interval([1.0] * 431 + [0.0] * 169)
    assert (round(exact.low, 6), round(exact.high, 6)) == (0.680493, 0.754009)
    shares = np.tile([0.5, 0.9, 0.0, 1.0, 0.75, 0.25], 400)
    found = mean_interval(shares)
    half = 1.96 * shares.std(ddof=1) / np.sqrt(shares.size)
    assert (found.low, found.high) == pytest.approx(
        (shares.mean() - half, shares.mean() + half), abs=4e-4
    )
    nearly = mean_interval([1.0] * 430 + [1.0 - 1e-9] + [0.0] * 169)
    assert (nearly.low, nearly.high) == pytest.approx((exact.low, exact.high), abs=1e-6)
    assert mean_interval([0.0, 0.0], is_share=False).undefined == "no_spread"


def test_a_tie_among_right_answers_makes_no_interval_narrow():
    certain = mean_interval([1.0] * 60)
    tied = mean_interval([1.0] * 59 + [0.5])
    assert tied.low < certain.low
    rng, covered = np.random.default_rng(3), 0
    for _ in range(300):
        found = mean_interval(rng.choice([1.0, 0.5, 0.0], p=[0.93, 0.05, 0.02], size=60))
        covered += found.low <= 0.955 <= found.high
    assert covered >= 285  # Student's: 268 in the long run


@pytest.mark.parametrize("values", [[-0.5, 0.0, -1.0, 0.25], [7.0, 12.5, 3.0, 40.0]])
def test_differences_and_costs_are_no_shares(values):
    found = mean_interval(values, is_share=False)
    half = 3.1824463 * np.std(values, ddof=1) / 2
    assert (found.low, found.high) == pytest.approx(
        (np.mean(values) - half, np.mean(values) + half)
    )


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="one right_U a unit"):
        panel_votes([[0, 1]], [0, 1])
    with pytest.raises(ValueError, match="weights_UJ must have shape"):
        panel_votes([[0, 1]], [0], weights_UJ=[[1.0]])
    with pytest.raises(ValueError, match="at least 0"):
        panel_votes([[0, 1]], [0], weights_UJ=[[1.0, -1.0]])


def alike(n):
    return PanelPrices(needs_JP=np.eye(n, dtype=bool), prices_P=np.ones(n))


def brute_best(votes, right, prices, budget, among):
    """The best panel within a budget on some questions, the cheapest of equals."""
    n = votes.shape[1]
    panels = [c for size in range(1, n + 1) for c in combinations(range(n), size)]
    score = {
        panel: panel_votes(votes[among][:, panel], right[among]).credit_U.mean()
        for panel in panels
        if prices.of(panel) <= budget + 1e-9
    }
    top = max(score.values())
    best = [panel for panel, value in score.items() if value > top - 1e-9]
    return min(best, key=lambda panel: (prices.of(panel), len(panel), panel)), top


def test_the_search_is_that_of_every_panel_and_its_worth_that_of_other_folds():
    rng = np.random.default_rng(3)
    right = rng.integers(0, 3, 60)
    votes = np.where(
        rng.random((60, 4)) < [0.4, 0.5, 0.55, 0.6], right[:, None], rng.integers(-1, 3, (60, 4))
    )
    # The last two share what they pay 2 for.
    needs = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=bool)
    prices = PanelPrices(needs_JP=needs, prices_P=np.array([1.0, 1.5, 0.5, 2.0]))
    found = search_panels(votes, right, np.arange(60), prices, budgets=[1, 2, 3, 5], n_folds=4)
    from judgerel_ray.stats.folds import grouped_folds

    fold = grouped_folds(np.arange(60), n_folds=4, seed=0)
    assert found.n_panels == 15
    assert found.is_exhaustive
    for one in found.best:
        panel, score = brute_best(votes, right, prices, one.budget, np.arange(60))
        assert (one.members, one.in_sample) == (panel, pytest.approx(score))
        for k in range(4):
            other, _ = brute_best(votes, right, prices, one.budget, fold != k)
            mine = panel_votes(votes[:, other], right).credit_U[fold == k]
            assert one.credit_Q[fold == k] == pytest.approx(mine)
    assert prices.of([2, 3]) == 2.5


def test_budgets_by_default_are_where_more_money_buys_more():
    rng = np.random.default_rng(5)
    right = rng.integers(0, 3, 200)
    votes = np.where(rng.random((200, 3)) < 0.55, right[:, None], rng.integers(0, 3, (200, 3)))
    found = search_panels(votes, right, np.arange(200), alike(3))
    accuracy = [one.in_sample for one in found.best]
    assert accuracy == sorted(accuracy)
    assert len(set(accuracy)) == len(accuracy)
    assert [one.budget for one in found.best] == [1.0, 3.0]


def test_choosing_among_equals_looks_better_than_it_is():
    rng = np.random.default_rng(7)
    gains, honest = [], []
    for _ in range(40):
        right = rng.integers(0, 4, 40)
        votes = np.where(rng.random((40, 6)) < 0.5, right[:, None], rng.integers(0, 4, (40, 6)))
        [one] = search_panels(votes, right, np.arange(40), alike(6), budgets=(), sizes=[1]).best
        gains.append(one.in_sample)
        honest.append(one.credit_Q.mean())
    truth = 0.5 + 0.5 / 4
    assert np.mean(gains) > truth + 0.04
    assert abs(np.mean(honest) - truth) < 3 * np.std(honest) / np.sqrt(40)


def test_of_many_judges_panels_of_the_best_ten_are_searched():
    rng = np.random.default_rng(11)
    right = rng.integers(0, 3, 50)
    skill = np.r_[np.full(10, 0.8), 0.0, 0.0]
    votes = np.where(rng.random((50, 12)) < skill, right[:, None], 3)
    prices = PanelPrices(needs_JP=np.eye(12, dtype=bool), prices_P=np.r_[np.ones(10), 0.1, 0.1])
    found = search_panels(votes, right, np.arange(50), prices, budgets=[0.1, 3], n_folds=2)
    assert (found.n_panels, found.is_exhaustive) == (1023 + 2, False)
    assert found.best[0].members in ((10,), (11,))
    assert found.best[1].in_sample > 0.8


def test_a_budget_that_buys_nothing_buys_nothing():
    found = search_panels([[0], [1]], [0, 0], [0, 1], alike(1), budgets=[0.5], n_folds=2)
    assert (found.best[0].members, found.best[0].in_sample) == ((), None)
    with pytest.raises(ValueError, match="needs 2 questions"):
        search_panels([[0]], [0], [0], alike(1))


def test_the_floor_of_names_that_no_two_questions_share_is_small_and_quick():
    n = 20_000
    right = np.arange(n)
    votes = np.column_stack([right, right + 1, np.where(right % 2, right, right + 2)])
    floor = panel_floor(votes, right, np.arange(n))
    assert floor.mean == pytest.approx(1 / n, rel=0.1)
    assert floor.p < 0.05


def test_silence_at_random_is_no_vote_of_the_floor():
    floor = panel_floor([[-1], [0], [0], [1]], [0, 0, 1, -1], [0, 1, 2, 3])
    shuffled = [
        question_means(panel_votes([[-1], [0], [0], [1]], list(order)).credit_U, range(4)).mean()
        for order in permutations([0, 0, 1, -1])
    ]
    assert floor.mean == pytest.approx(np.mean(shuffled))
    assert floor.sd == pytest.approx(np.std(shuffled))
