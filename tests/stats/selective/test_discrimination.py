"""AUROC against all pairs, how often its interval holds the truth, cross-fitted, and by chance."""

from __future__ import annotations

from itertools import permutations, product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgerel_ray.stats import auroc, confusion_uncertainty, cross_fitted_auroc, cross_fitted_model
from judgerel_ray.stats.selective.discrimination import accuracy_floor, few_answers, ranking_floor


def test_pairs_across_folds_do_not_count():
    told, right, fold = [0.9, 0.6, 0.5, 0.1], [1, 0, 1, 0], [0, 0, 1, 1]
    assert auroc(told, right).value < 1
    assert cross_fitted_auroc(told, right, fold_N=fold).value == 1.0


def test_the_value_is_the_share_of_pairs_counted_one_by_one():
    rng = np.random.default_rng(3)
    told, right, fold = rng.integers(4, size=40), rng.random(40) < 0.4, rng.integers(5, size=40)
    pairs = [
        (told[i] > told[j]) + (told[i] == told[j]) / 2
        for i, j in product(range(40), repeat=2)
        if right[i] and not right[j] and fold[i] == fold[j]
    ]
    assert cross_fitted_auroc(told, right, fold_N=fold).value == pytest.approx(np.mean(pairs))


def test_a_fold_of_one_kind_adds_nothing_and_none_but_such_is_undefined():
    told, right = [0.9, 0.1, 0.5, 0.6], [1, 0, 1, 1]
    assert cross_fitted_auroc(told, right, fold_N=[0, 0, 1, 1]).value == 1.0
    assert cross_fitted_auroc([0.9, 0.6, 0.5, 0.1], right, fold_N=[1, 0, 0, 1]).value == 0.0
    assert cross_fitted_auroc(told, right, fold_N=[0, 1, 0, 0]).undefined == "no_variance"
    assert cross_fitted_auroc([np.nan], [1], fold_N=[0]).undefined == "no_verdicts"


def test_a_question_judged_twice_is_not_two_questions():
    rng = np.random.default_rng(0)
    right = rng.random(60) < 0.5
    told, fold = right + 2 * rng.normal(size=60), np.arange(60) % 5
    once = cross_fitted_auroc(told, right, fold_N=fold)
    twice = [np.tile(one, 2) for one in (told, right, fold, np.arange(60))]
    same = cross_fitted_auroc(twice[0], twice[1], fold_N=twice[2], clusters_N=twice[3])
    assert same.value == pytest.approx(once.value)
    assert same.high - same.low >= 0.95 * (once.high - once.low)


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"confidence": 1.0}, "between 0 and 1"), ({"fold_N": [0]}, "fold_N must have shape"),
     ({"clusters_N": [0]}, "clusters_N must have shape")],
)  # fmt: skip
def test_wrong_arguments_are_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        cross_fitted_auroc([0.1, 0.2], [1, 0], **({"fold_N": [0, 0]} | changed))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "accuracy", "n_options"), [(60, 0.5, 2), (100, 1 / 3, 3)])
def test_a_model_of_noise_is_worth_one_half_and_the_interval_holds_it(n, accuracy, n_options):
    rng = np.random.default_rng(n)
    values, outside = [], 0
    for run in range(300):
        matrices = [rng.dirichlet(np.ones(n_options) * 2, size=n_options).T for _ in range(n)]
        chosen = rng.integers(n_options, size=n)
        off = rng.integers(1, n_options, size=n)
        right = np.where(rng.random(n) < accuracy, chosen, (chosen + off) % n_options)
        scores = [
            confusion_uncertainty(matrix, chosen=int(own))
            for matrix, own in zip(matrices, chosen, strict=True)
        ]
        found = cross_fitted_model(matrices, scores, right, seed=run)
        worth = cross_fitted_auroc(found.correct_N, chosen == right, fold_N=found.fold_N)
        values.append(worth.value)
        outside += not worth.low <= 0.5 <= worth.high
    assert np.mean(values) == pytest.approx(0.5, abs=3 * np.std(values) / np.sqrt(300))
    assert 0.005 <= outside / 300 <= 0.08


tables = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(-1, 2)),
    min_size=2,
    max_size=6,
)


def replies(counts):
    """The replies behind counts, and one without a verdict."""
    question, verdict = (np.repeat(one.ravel(), counts.ravel()) for one in np.indices(counts.shape))
    return np.append(verdict, -1), np.append(question, 0)


@given(tables)
def test_the_floor_of_accuracy_is_that_of_all_permutations(rows):
    counts = np.array([row[:3] for row in rows])
    gold = np.array([row[3] for row in rows])
    n = int(counts.sum()) + 1
    shuffled = [
        sum(counts[q, gold[r]] for q, r in enumerate(order) if gold[r] >= 0) / n
        for order in permutations(range(len(rows)))
    ]
    found = accuracy_floor(*replies(counts), np.where(gold < 0, 7, gold))
    assert found.mean == pytest.approx(np.mean(shuffled))
    assert found.sd == pytest.approx(np.std(shuffled), abs=1e-9)


@given(tables)
def test_any_coding_of_verdicts_gives_the_same_floor(rows):
    counts, gold = np.array([row[:3] for row in rows]), np.array([row[3] for row in rows])
    verdicts, questions = replies(counts)
    found = accuracy_floor(verdicts, questions, gold)
    again = accuracy_floor(np.where(verdicts < 0, -1, verdicts * 10**9), questions, gold * 10**9)
    assert (again.mean, again.sd, again.p) == (found.mean, found.sd, found.p)


def test_a_judge_that_says_one_thing_is_right_by_chance():
    gold = np.array([0] * 70 + [1] * 30)
    found = accuracy_floor(np.zeros(100), np.arange(100), gold)
    assert (found.mean, found.sd) == pytest.approx((0.7, 0.0))
    assert found.p is None
    informed = accuracy_floor(gold, np.arange(100), gold)
    assert informed.p < 1e-6


def test_chance_is_called_chance():
    rng = np.random.default_rng(8)
    p = []
    for _ in range(300):
        verdicts, gold = rng.integers(0, 4, size=(2, 80))
        p.append(accuracy_floor(verdicts, np.arange(80), gold).p)
    # 5 % of 300 is 15, with a spread of 4; half a step makes the test a little shy.
    assert 3 <= sum(one < 0.05 for one in p) <= 27


def test_the_floor_of_ranking_is_that_of_all_permutations():
    scores, right = [0.9, 0.9, 0.5, 0.3, 0.2], [1, 0, 1, 0, 0]
    values = []
    for order in permutations(scores):
        pairs = [
            (a > b) + (a == b) / 2
            for a, x in zip(order, right, strict=True)
            for b, y in zip(order, right, strict=True)
            if x and not y
        ]
        values.append(np.mean(pairs))
    found = ranking_floor([*scores, np.nan], [*right, 1])
    assert found.mean == pytest.approx(np.mean(values)) == 0.5
    assert found.sd == pytest.approx(np.std(values))


@pytest.mark.parametrize("replications", [1, 4])
def test_noise_is_no_ranking_however_often_it_is_asked(replications):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(200):
        scores, right = rng.random(60), rng.random(60) < 0.6
        found.append(
            ranking_floor(
                np.repeat(scores, replications),
                np.repeat(right, replications),
                clusters_N=np.repeat(np.arange(60), replications),
            )
        )
    assert 3 <= sum(one.p < 0.05 for one in found) <= 20


def test_what_has_no_floor_has_none():
    assert accuracy_floor([0], [0], [0]).mean is None
    assert ranking_floor([0.5, 0.6], [1, 1]).mean is None
    assert ranking_floor([0.5, 0.5], [1, 0]).mean is None


def test_mistakes_in_floors_are_named():
    with pytest.raises(ValueError, match="questions_N must name one of 2"):
        accuracy_floor([0, 1], [0, 2], [0, 1])
    with pytest.raises(ValueError, match="clusters_N"):
        ranking_floor([0.5, 0.6], [1, 0], clusters_N=[1])


scored = st.lists(
    st.tuples(st.sampled_from([0.1, 0.4, 0.5, 0.9]), st.booleans()), min_size=2, max_size=14
)


@given(scored)
def test_it_is_the_share_of_pairs_in_order(rows):
    right = [s for s, c in rows if c]
    wrong = [s for s, c in rows if not c]
    assume(right and wrong)
    pairs = [(a > b) + (a == b) / 2 for a in right for b in wrong]
    found = auroc([s for s, _ in rows], [c for _, c in rows])
    assert found.value == pytest.approx(np.mean(pairs))
    turned = auroc([-s for s, _ in rows], [c for _, c in rows])
    assert turned.value == pytest.approx(1 - found.value)
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_what_cannot_be_said_says_why():
    assert auroc([0.5, 0.6], [True, True]).undefined == "no_variance"
    assert auroc([], []).undefined == "no_verdicts"
    missing = auroc([0.9, 0.1, float("nan")], [True, False, True])
    assert (missing.value, missing.n_missing) == (1, 1)
    alone = auroc([0.9, 0.1], [True, False], clusters_N=[7, 7])
    assert (alone.value, alone.low, alone.high) == (1, None, None)


def test_answers_that_are_all_in_order_have_an_exact_end():
    # Three wrong below 40 right: three pairs without a question in common, all in order.
    found = auroc([0.2] * 3 + [0.8] * 40, [False] * 3 + [True] * 40)
    assert (found.value, found.low, found.high) == (1, pytest.approx(0.025 ** (1 / 3)), 1)
    turned = auroc([0.8] * 3 + [0.2] * 40, [False] * 3 + [True] * 40)
    assert (turned.value, turned.low, turned.high) == (0, 0, pytest.approx(1 - 0.025 ** (1 / 3)))


def test_one_wrong_answer_says_next_to_nothing():
    found = auroc([0.5, *np.linspace(0, 1, 200)], [False] + [True] * 200)
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx((0, 1), abs=0.01)
    assert found.estimator.endswith("few wrong answers (1 question)")


def test_a_ranking_that_rests_on_few_answers_says_so():
    scores, questions = np.arange(60.0), np.arange(60)
    for n_wrong, few in ((0, "few_wrong"), (9, "few_wrong"), (10, None), (51, "few_right")):
        assert few_answers(scores, questions >= n_wrong, questions) == few
    # Ten wrong judgments of five questions rest on five, and one without a score on none.
    assert few_answers(scores, questions >= 10, questions // 2) == "few_wrong"
    scores[0] = np.nan
    assert few_answers(scores, questions >= 10, questions) == "few_wrong"
    assert few_answers(np.full(60, np.nan), questions > 5, questions) is None
    told = auroc(scores, questions >= 10).estimator
    assert told == "Mann-Whitney, DeLong's t on the logit scale; few wrong answers (9 questions)"


@pytest.mark.alike(3)
@pytest.mark.parametrize("edges", [None, np.array([0.4, 0.8, 1.4, 1.9, 2.7])])
@pytest.mark.parametrize("n_wrong", [2, 5, 9])
def test_few_wrong_answers_are_covered(n_wrong, edges):
    rng = np.random.default_rng(n_wrong)
    right = np.arange(200) >= n_wrong
    scores = rng.normal(size=(400, 200)) + 1.66 * right  # AUROC .88
    truth = NormalDist().cdf(1.66 / np.sqrt(2))
    if edges is not None:  # six stated confidences
        scores = np.digitize(scores, edges)
        below, above = (np.diff([0, *map(NormalDist(shift).cdf, edges), 1]) for shift in (0, 1.66))
        truth = float(above @ (np.cumsum(below) - below / 2))
    ends = [auroc(row, right) for row in scores]
    held = np.mean([one.low <= truth <= one.high for one in ends])
    # The normal quantile, and no allowance for few, covered .51 to .89 here.
    assert held >= 0.94 - 2 * 0.011


def test_doubling_every_question_gives_no_certainty():
    rng = np.random.default_rng(4)
    scores, right = rng.random(80), rng.random(80) < 0.6
    once = auroc(scores, right)
    twice = auroc(np.tile(scores, 2), np.tile(right, 2), clusters_N=np.tile(np.arange(80), 2))
    assert twice.value == pytest.approx(once.value)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


@pytest.mark.slow
def test_coverage_of_the_interval():
    rng = np.random.default_rng(11)
    truth = NormalDist().cdf(1 / np.sqrt(2))
    held = 0
    for _ in range(600):
        right = rng.random(120) < 0.6
        found = auroc(rng.normal(size=120) + right, right)
        held += found.low <= truth <= found.high
    # Binomial error of a true 95 % over 600 runs is 0.9 %.
    assert 0.93 <= held / 600 <= 0.975


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="one length"):
        auroc([0.5], [True, False])
    with pytest.raises(ValueError, match="clusters_N"):
        auroc([0.5, 0.1], [True, False], clusters_N=[1])
    with pytest.raises(ValueError, match="confidence"):
        auroc([0.5, 0.1], [True, False], confidence=0.0)


def test_stated_confidence_of_a_recorded_judge(recordings):
    import polars as pl

    judged = pl.read_parquet(recordings / "seed004/monolithic_claude.parquet")
    right = (judged["selected_option"] == judged["correct_answer"]).fill_null(False)
    found = auroc(judged["confidence"].fill_null(float("nan")).to_numpy(), right.to_numpy())
    assert found.value == pytest.approx(0.606, abs=5e-4)
    assert (found.low, found.high) == pytest.approx((0.563, 0.652), abs=0.004)
