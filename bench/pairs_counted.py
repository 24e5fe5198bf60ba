"""Kendall's and Spearman's delete-one values by counting, against tables of all pairs, in one run.

    python bench/pairs_counted.py [--items 1000 2000 5000] [--rounds 3]

What one coefficient of `judgerel align` takes: five replications and their mean
against a reference, two items a question, each without every question. The plain way, which
judgerel_ray had before, lays the signs of all pairs out by blocks (Kendall) or ranks all items
for every question (Spearman), and does it twice, for the interval and for the gain. Both ways
must give the same numbers. Prints seconds, the least of the rounds taking turns, and the ratio.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from judgerel_ray.stats import reference_agreement
from judgerel_ray.stats.ratings.correlations import correlation

K = 5
CELLS = 2_000_000


def scores(items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of K replications on five points, a reference of five raters, and questions."""
    rng = np.random.default_rng(items)
    truth = rng.uniform(1, 5, size=items)
    rated, people = (
        np.clip(np.rint(truth[:, None] + rng.normal(size=(items, K))), 1, 5) for _ in range(2)
    )
    return rated, people.mean(axis=1), np.arange(items) // 2


def kendall(first: np.ndarray, second: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Tau-b without each question, from the signs of all pairs."""
    n, questions = first.size, int(number.max()) + 1
    total, touching, within = np.zeros(3), np.zeros((3, questions)), np.zeros((3, questions))
    step = max(1, CELLS // n)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        one, two = (np.sign(x[rows, None] - x) for x in (first, second))
        same = number[rows, None] == number
        for i, signs in enumerate((one * two, one**2, two**2)):
            sums = signs.sum(axis=1)
            total[i] += sums.sum()
            touching[i] += np.bincount(number[rows], weights=sums, minlength=questions)
            inside = (signs * same).sum(axis=1)
            within[i] += np.bincount(number[rows], weights=inside, minlength=questions)
    across, by_first, by_second = total[:, None] - 2 * touching + within
    return across / np.sqrt(by_first * by_second)


def spearman(first: np.ndarray, second: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Rho without each question, from ranks by a weight for every question and item."""
    ranks = correlation("spearman", first, second, number)
    return ranks.at(1.0 - np.eye(ranks.questions_C.size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 2_000, 5_000])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for items in asked.items:
        rated, reference, questions = scores(items)
        columns = [*rated.T, rated.mean(axis=1)]
        for name, plain in (("kendall", kendall), ("spearman", spearman)):
            seconds: dict[str, list[float]] = {"plain": [], "counted": []}
            for _ in range(asked.rounds):
                began = time.perf_counter()
                for _ in range(2):
                    left = [plain(column, reference, questions) for column in columns]
                seconds["plain"].append(time.perf_counter() - began)
                began = time.perf_counter()
                reference_agreement(rated, reference, coefficient=name, questions_N=questions)
                seconds["counted"].append(time.perf_counter() - began)
            differs = max(
                np.abs(correlation(name, column, reference, questions).left_out() - one).max()
                for column, one in zip(columns, left, strict=True)
            )
            slow, fast = (min(taken) for taken in seconds.values())
            print(
                f"{items:,} items, {name}: plain {slow:.2f} s, counted {fast:.3f} s, "
                f"{slow / fast:.0f} times; largest difference {differs:.1e}"
            )


if __name__ == "__main__":
    main()
