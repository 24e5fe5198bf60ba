"""A judge and a person held out, by one measure: against brute force, and where truth is known."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from judgerel_ray.stats import inter_rater_accuracy
from judgerel_ray.stats.ratings.reference import _exchange_variance, people_match

COUNTS = np.array([[2, 1, 0], [1, 1, 0], [0, 0, 3], [1, 1, 1], [0, 2, 0], [1, 0, 0]])
VERDICTS = np.array([0, 2, 2, 1, -1, 0])


def by_hand(counts, verdicts):
    """The judge's share, item by item."""
    shares = [0 if v < 0 else row[v] / row.sum() for row, v in zip(counts, verdicts, strict=True)]
    return float(np.mean(shares))


def test_shares_are_those_of_people_one_by_one():
    found = people_match(COUNTS, VERDICTS)
    assert (found.n_items, found.n_ratings, found.n_single, found.n_split) == (5, 13, 1, 2)
    assert found.judge.value == pytest.approx((2 / 3 + 0 + 1 + 1 / 3 + 0) / 5)
    labels = [[v for v, n in enumerate(row) for _ in range(n)] for row in COUNTS[:5]]
    held_out = [
        np.mean([np.mean([a == b for j, b in enumerate(row) if j != i]) for i, a in enumerate(row)])
        for row in labels
    ]
    assert found.person.value == pytest.approx(np.mean(held_out))
    assert found.difference.value == pytest.approx(found.judge.value - found.person.value)


def test_a_person_held_out_is_how_often_two_agree():
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.3, 0.3], size=60)
    labels = [[v for v, n in enumerate(row) for _ in range(n)] for row in counts]
    texts = np.arange(60) // 3
    pairs = inter_rater_accuracy(labels, clusters_U=texts)
    person = people_match(counts, np.zeros(60, dtype=int), clusters_U=texts).person
    assert (person.value, person.low, person.high) == pytest.approx(
        (pairs.value, pairs.low, pairs.high)
    )


def test_the_floor_is_that_of_all_orders_of_the_judges_labels():
    counts, verdicts = COUNTS[:5], VERDICTS[:5]
    every = [by_hand(counts, np.array(order)) for order in permutations(verdicts)]
    floor = people_match(counts, verdicts).floor
    assert floor.mean == pytest.approx(np.mean(every))
    assert floor.sd == pytest.approx(np.std(every))
    labels = np.repeat([0, 1, 2], counts.sum(axis=0))
    pairs = [a == b for (i, a), (j, b) in product(enumerate(labels), repeat=2) if i != j]
    assert people_match(counts, verdicts).person_floor == pytest.approx(np.mean(pairs))


def test_a_judge_with_one_label_is_noise_whatever_it_matches():
    found = people_match([[3, 0], [2, 1], [0, 3]], [0, 0, 0])
    assert found.judge.value == pytest.approx(found.floor.mean)
    assert (found.floor.sd, found.floor.p) == (0.0, 1.0)


def test_exchanging_judge_and_person_has_mean_0_and_the_variance_told():
    counts = COUNTS[:5].astype(float)
    told = _exchange_variance(counts, VERDICTS[:5])
    for row, verdict, variance in zip(counts, VERDICTS[:5], told, strict=True):
        people = [v for v, n in enumerate(row) for _ in range(int(n))]
        every = [*people, verdict if verdict >= 0 else "none"]
        found = []
        for j, one in enumerate(every):
            others = every[:j] + every[j + 1 :]
            pairs = [a == b for (i, a), (k, b) in product(enumerate(others), repeat=2) if i != k]
            found.append(np.mean([other == one for other in others]) - np.mean(pairs))
        assert np.mean(found) == pytest.approx(0, abs=1e-12)
        assert np.var(found) == pytest.approx(variance)


def test_items_on_which_people_split_count_like_others():
    split = people_match([[1, 1]] * 6, [0, 1, 0, 1, 0, 1])
    assert (split.judge.value, split.person.value, split.n_split) == (0.5, 0.0, 6)
    assert split.n_items == 6


def test_items_of_one_text_are_one_piece_of_evidence():
    rng = np.random.default_rng(1)
    base = rng.multinomial(3, [0.5, 0.5], size=20)
    verdicts = rng.integers(0, 2, size=20)
    alone = people_match(base, verdicts)
    counts, said, texts = (np.repeat(one, 4, axis=0) for one in (base, verdicts, np.arange(20)))
    often = people_match(counts, said, clusters_U=texts)
    for name in ("judge", "person"):
        one, other = getattr(alone, name), getattr(often, name)
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
    # Four times as many independent items would halve it.
    assert often.difference.standard_error > 0.7 * alone.difference.standard_error
    # The labels of a text go together: no more evidence against noise than of the texts once.
    assert often.floor.sd == pytest.approx(alone.floor.sd, rel=0.4)


def test_without_two_people_there_is_nothing_to_hold_out():
    found = people_match([[1, 0], [0, 1]], [0, 0])
    assert found.judge.undefined == found.difference.undefined == "no_item_of_several_people"
    assert (found.judge.value, found.floor.mean, found.n_single) == (None, None, 2)


@pytest.mark.parametrize(
    ("counts", "verdicts", "clusters"),
    [([[1, 1]], [2], None), ([[1, 1]], [-2], None), ([[1, 1]], [0, 0], None),
     ([[1, 1]], [0], [0, 1]), ([1, 1], [0, 0], None)],
)  # fmt: skip
def test_mistakes_are_refused(counts, verdicts, clusters):
    with pytest.raises(ValueError):
        people_match(counts, verdicts, clusters_U=clusters)
