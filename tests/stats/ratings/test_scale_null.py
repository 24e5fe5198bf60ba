"""Moments of agreement between scales over all permutations: every one enumerated, and sampled."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

from judgerel_ray.stats import inter_scale_floor, scale_ratings
from judgerel_ray.stats.ratings import scale_noise
from judgerel_ray.stats.ratings.scale_noise import permuted_products


def every_permutation(vectors, blocks):
    """The sum of products of every permutation of all scales but the first."""
    moves = []
    for orders in product(*(permutations(range(len(block))) for block in blocks)):
        place = np.arange(len(vectors[0]))
        for block, order in zip(blocks, orders, strict=True):
            place[block] = block[list(order)]
        moves.append(place)
    found = []
    for chosen in product(moves, repeat=len(vectors) - 1):
        permuted = [
            vectors[0],
            *(one[place] for one, place in zip(vectors[1:], chosen, strict=True)),
        ]
        found.append(sum((x * y).sum() for x, y in combinations(permuted, 2)))
    return np.array(found)


@pytest.mark.parametrize(
    ("n_scales", "sizes", "width"),
    [(2, (5,), 1), (2, (4,), 3), (2, (3, 2), 2), (3, (4,), 2), (3, (2, 3), 1), (2, (1, 3), 1)],
)
def test_moments_are_those_of_every_permutation(n_scales, sizes, width):
    rng = np.random.default_rng([n_scales, width, *sizes])
    blocks, start = [], 0
    for items, n_questions in enumerate(sizes, start=1):
        end = start + items * n_questions
        blocks.append(np.arange(start, end).reshape(n_questions, items))
        start = end
    vectors = [rng.exponential(size=(start, width)) for _ in range(n_scales)]
    null = every_permutation(vectors, blocks)
    apart = null - null.mean()
    found = permuted_products(vectors, blocks)
    assert found.mean == pytest.approx(null.mean())
    assert found.variance == pytest.approx((apart**2).mean())
    assert found.third == pytest.approx((apart**3).mean())
    assert found.fourth >= (apart**4).mean() - 3 * (apart**2).mean() ** 2


def rated(n_scales, level, seed, *, agreeing):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(700, 1))
    said = [
        np.rint(4 * np.clip(agreeing * latent + rng.uniform(size=(700, 3)) * (1 - agreeing), 0, 1))
        for _ in range(n_scales)
    ]
    questions = np.arange(700) // 2
    return scale_ratings(said, ranges=[(0, 4)] * n_scales, level=level, questions_N=questions)


@pytest.mark.alike(3)
@pytest.mark.parametrize(("n_scales", "level"), [(2, "interval"), (2, "ordinal"), (4, "interval")])
def test_what_permuting_would_show_of_many_units_is_not_permuted(monkeypatch, n_scales, level):
    ratings = rated(n_scales, level, 5, agreeing=0.05)
    closed = inter_scale_floor(ratings)
    monkeypatch.setattr(scale_noise, "DENSE_UNITS", 10**9)
    permuted = inter_scale_floor(ratings, n_permutations=3000)
    assert (closed.n_permutations, permuted.n_permutations) == (0, 3000)
    assert closed.method == "all reassignments in closed form, two-sided"
    assert closed.sd == pytest.approx(permuted.sd, rel=0.06)
    assert closed.mean == pytest.approx(permuted.mean, abs=0.08 * permuted.sd)
    assert closed.p == pytest.approx(permuted.p, abs=0.06)


@pytest.mark.slow
def test_noise_of_many_units_is_called_noise():
    p = [inter_scale_floor(rated(3, "interval", n, agreeing=0.0)).p for n in range(200)]
    # A twentieth of 200 is 10, its standard deviation 3; half of 200 is 100, and 7.
    assert 1 <= sum(one <= 0.05 for one in p) <= 21
    assert 75 <= sum(one <= 0.5 for one in p) <= 125


def test_units_that_lack_a_scale_are_permuted():
    ratings = rated(2, "interval", 5, agreeing=0.5)
    scores = [one.copy() for one in ratings.scores]
    scores[1][3] = np.nan
    three = [*scores, scores[0]]
    lacking = scale_ratings(three, ranges=[(0, 4)] * 3, questions_N=ratings.questions_N)
    assert inter_scale_floor(lacking).n_permutations == 999
