"""Does the interval of Cohen's kappa cover what is true, of few labels and of rare classes?

    OMP_NUM_THREADS=1 python -m bench.kappa_coverage [--draws 4000] [--seed 1] [--labels 60 20 200]

Items are drawn from a stated law of labels and verdicts, whose kappa is known exactly: two classes
at 90/10 and at 50/50 with judges by their rates of true positives and true negatives (from nearly
perfect to noise), three classes, five-point ratings, and judges asked four times whose verdicts on
an item hang together (beta-binomial). Beside the interval that is printed stands the jackknife
alone, as other coefficients have it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom, binom

from judgerel_ray.stats.intervals.ends import jackknife_error, student_ends, t_quantile
from judgerel_ray.stats.ratings.kappa import (
    LabelAgreement,
    Weights,
    kappa_interval,
    label_agreement,
)

Floats = NDArray[np.float64]


class Law(NamedTuple):
    """Kinds of items (a label and its verdicts), and how often each is drawn."""

    kinds: list[tuple[int, tuple[int, ...]]]
    probability: Floats
    weights: Weights | None = None


def two_classes(rare: float, tpr: float, tnr: float, m: int = 1, apart: float = 0.0) -> Law:
    """Pass and fail (1, the rare one), judged m times; `apart` 0 is independent verdicts."""
    kinds, probability = [], []
    for label, share in ((1, rare), (0, 1 - rare)):
        p = tpr if label else 1 - tnr
        for k in range(m + 1):
            if apart and 0 < p < 1:
                a, b = p * (1 - apart) / apart, (1 - p) * (1 - apart) / apart
                chance = betabinom.pmf(k, m, a, b)
            else:
                chance = binom.pmf(k, m, p)
            kinds.append((label, (1,) * k + (0,) * (m - k)))
            probability.append(share * float(chance))
    return Law(kinds, np.array(probability))


def table(cells: Floats, weights: Weights | None = None) -> Law:
    """Labels by verdicts, judged once."""
    kinds = [(i, (j,)) for i in range(len(cells)) for j in range(len(cells))]
    return Law(kinds, cells.ravel() / cells.sum(), weights)


def laws() -> dict[str, Law]:
    """Every law by its name."""
    rates = (
        (0.99, 0.99), (0.97, 0.995), (0.9, 1.0), (1.0, 0.95), (0.95, 0.95), (0.9, 0.98),
        (0.8, 0.95), (0.6, 0.98), (0.5, 1.0), (0.3, 0.99), (0.3, 0.95), (0.3, 0.9), (0.2, 0.9),
        (0.5, 0.8), (0.7, 0.7), (0.5, 0.5), (0.1, 0.9), (0.02, 0.98), (0.2, 0.3), (0.0, 0.9),
    )  # fmt: skip
    found = {f"90/10, {tpr:g} and {tnr:g}": two_classes(0.1, tpr, tnr) for tpr, tnr in rates}
    for tpr, tnr in ((0.99, 0.99), (0.9, 0.98), (0.8, 0.9), (0.3, 0.9), (0.1, 0.9)):
        found[f"90/10, {tpr:g} and {tnr:g}, 4 verdicts"] = two_classes(0.1, tpr, tnr, 4, 0.5)
    for rate in (0.99, 0.95, 0.8, 0.5):
        found[f"50/50, {rate:g} and {rate:g}"] = two_classes(0.5, rate, rate)
    three = np.array([[0.94, 0.03, 0.03], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]])
    found["80/10/10"] = table(np.array([0.8, 0.1, 0.1])[:, None] * three)
    found["80/10/10, noise"] = table(np.outer([0.8, 0.1, 0.1], [0.8, 0.1, 0.1]))
    points = np.arange(5)
    for name, shares in (("skewed", (0.9, 0.04, 0.03, 0.02, 0.01)), ("5 points", (1, 2, 4, 2, 1))):
        for words, steep in (("close", 1.5), ("loose", 0.15)):
            errors = np.exp(-steep * (points[:, None] - points) ** 2)
            errors /= errors.sum(axis=1, keepdims=True)
            cells = np.array(shares)[:, None] * errors
            found[f"ratings, {name}, {words}"] = table(cells, "quadratic")
    return found


def pairs(law: Law, counts: NDArray[np.int64]) -> LabelAgreement:
    """So many items of each kind."""
    labels, verdicts, items, n_items = [], [], [], 0
    for (label, each), n in zip(law.kinds, counts.tolist(), strict=True):
        labels += [label] * (n * len(each))
        verdicts += each * n
        items.append(np.repeat(np.arange(n_items, n_items + n), len(each)))
        n_items += n
    return label_agreement(
        labels, np.array(verdicts), items_N=np.concatenate(items), weights=law.weights
    )


def truth(law: Law) -> float:
    """Kappa of the law, by items as numerous as its probabilities say."""
    size = 10**6
    terms = pairs(law, np.ones(len(law.kinds), dtype=np.int64)).terms
    return float(terms.at(law.probability[None] * size)[0])


def alone(found: LabelAgreement) -> tuple[float, float] | None:
    """The jackknife by itself."""
    left_out = found.terms.left_out()
    if np.isnan(left_out).any() or (error := jackknife_error(left_out)) < 1e-9:
        return None
    return student_ends(found.value, t_quantile(left_out.size - 1, 0.95) * error)[:2]


def covered(law: Law, n: int, *, draws: int, seed: int) -> Iterator[tuple[float, ...]]:
    """Of each draw: covered, truth below, truth above, width; covered by the jackknife alone."""
    rng = np.random.default_rng([seed, n, len(law.kinds)])
    value = truth(law)
    drawn, times = np.unique(
        rng.multinomial(n, law.probability / law.probability.sum(), size=draws),
        axis=0, return_counts=True,
    )  # fmt: skip
    for counts, often in zip(drawn, times.tolist(), strict=True):
        found = pairs(law, counts)
        if np.isnan(found.value):
            continue
        ends, other = kappa_interval(found), alone(found)
        low, high = (np.nan, np.nan) if ends.low is None else (ends.low, ends.high)
        held = low <= value + 1e-9 and value - 1e-9 <= high
        plain = np.nan if other is None else other[0] <= value <= other[1]
        for _ in range(often):
            yield float(held), float(low > value), float(high < value), high - low, float(plain)


def main() -> None:
    """Print a row a law and number of labels, and the lowest coverage of each number."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--labels", type=int, nargs="+", default=[60, 20, 200])
    asked = parser.parse_args()
    print(
        "| law (rates of true positives and negatives) | labels | kappa | covered | "
        "truth below | truth above | width | jackknife alone | no interval |"
    )
    for n in asked.labels:
        least: list[tuple[float, str]] = []
        for name, law in laws().items():
            rows = np.array([*covered(law, n, draws=asked.draws, seed=asked.seed)])
            held, below, above, width, plain = np.nanmean(rows, axis=0)
            least.append((held, name))
            print(
                f"| {name} | {n} | {truth(law):.3f} | {held:.3f} | {below:.3f} | {above:.3f} | "
                f"{width:.2f} | {plain:.3f} | {np.isnan(rows[:, 3]).mean():.3f} |",
                flush=True,
            )
        print(f"lowest of {n} labels: {min(least)[0]:.3f} ({min(least)[1]})", flush=True)


if __name__ == "__main__":
    main()
