"""Floors in closed form of coefficients that sum one term over units, against permutations."""

import numpy as np
import pytest

from judgerel_ray.stats import count_statistic
from judgerel_ray.stats.null.closed_null import unit_floor
from judgerel_ray.stats.null.noise import choose_way, margins_of, permuted

# Units of few ratings are enumerated, those of many are drawn: then next to all of the term follows
# from the totals of the values, and what is left must not drown in the noise of the draws.
SHAPES = [
    ([0.8, 0.1, 0.06, 0.04], [(200, 550)]),
    ([0.5, 0.3, 0.2], [(20, 6_000)]),
    ([0.7, 0.1, 0.1, 0.05, 0.05], [(400, 40), (500, 8), (50, 300)]),
    ([0.25] * 4, [(300, 30)]),
    ([0.9, 0.1], [(800, 12)]),
]


def sums(part, statistic):
    """Sums of the terms of some permutations over units."""
    terms = statistic.terms(part.tables_BRV)
    numbers = np.ones(terms.shape[-2]) if part.numbers_R is None else part.numbers_R
    return np.einsum("brt,r->bt", terms, numbers)


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize(("p_V", "shape"), SHAPES)
def test_the_spread_is_that_of_permutations(p_V, shape, k):
    rng = np.random.default_rng(8)
    counts = np.vstack([rng.multinomial(m, p_V, size=n) for n, m in shape]).astype(np.float64)
    counts = counts[counts.sum(axis=1) >= 2 * k]
    statistic = count_statistic(f"majority_stability_{k}", n_values=len(p_V))
    found = unit_floor(counts, statistic)
    margins = margins_of(counts)
    parts = permuted(margins, 600, choose_way(margins)[0], rng, width=2)
    shuffled = np.concatenate([statistic.value(sums(part, statistic)) for part in parts])
    # 600 permutations know a spread to 3 % (1 standard error), and a mean to sd / 24.
    assert found.sd == pytest.approx(shuffled.std(ddof=1), rel=0.15)
    assert abs(found.mean - shuffled.mean()) < 5 * shuffled.std(ddof=1) / np.sqrt(shuffled.size)
