"""Do intervals of corrected pass rates hold what they say, and how narrow are they?

Draws verdicts and labels of judges with known sensitivity and specificity, over a grid, and counts
how often each interval of `judgerel_ray.stats.correction` covers the true pass rate. Cells below
0.93 are drawn again, more often, and printed, with the share of draws in which an interval is
given: Rogan-Gladen's is not of judges who tell nothing.

    python -m bench.correction_coverage [--draws 400] [--seed 1] [--named]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.correction.misclassification import rogan_gladen
from judgerel_ray.stats.correction.prediction_powered import labels_for_width, ppi_mean

Floats = NDArray[np.float64]
Z = 1.959964
WANTED = 0.93
OURS = ("PPI++", "Rogan-Gladen")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One kind of data: `per_cluster` units share a question, and half of their chances."""

    prevalence: float
    sensitivity: float
    specificity: float
    n_labels: int
    n_units: int = 1000
    per_cluster: int = 1
    replications: int = 1


def drawn(cell: Cell, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """What is true of each unit, what the judge says of it, and its question.

    Units of a question share one coin with probability one half each, for the truth and for the
    judge's error, so that their correlation is a quarter. Half of a judge's errors are its own at
    every replication, half come with the unit.
    """
    n, size = cell.n_units, cell.per_cluster
    question = np.repeat(np.arange(-(-n // size)), size)[:n]

    def coins() -> Floats:
        common = rng.random(question[-1] + 1)[question]
        return np.where(rng.random(n) < 0.5, common, rng.random(n)) if size > 1 else common

    true = coins() < cell.prevalence
    chance = np.where(true, cell.sensitivity, 1 - cell.specificity)
    if cell.replications == 1:
        return true.astype(float), (coins() < chance).astype(float), question
    with_unit = coins() < chance
    own = rng.random((cell.replications, n)) < chance
    kept = rng.random((cell.replications, n)) < 0.5
    return true.astype(float), np.where(kept, own, with_unit).mean(axis=0), question


def intervals(cell: Cell, rng: np.random.Generator) -> Iterator[tuple[str, float, float]]:
    """Intervals of one draw, by name; NaN where none is given."""
    true, judged, question = drawn(cell, rng)
    questions = rng.permutation(question[-1] + 1)
    some = np.isin(question, questions[: max(2, cell.n_labels // cell.per_cluster)])
    labels, seen, others = true[some], judged[some], judged[~some]
    mean, half = labels.mean(), Z * labels.std() / sqrt(labels.size)
    yield "labels alone, normal", mean - half, mean + half
    mean, half = judged.mean(), Z * judged.std() / sqrt(judged.size)
    yield "judge alone, normal", mean - half, mean + half
    found = ppi_mean(labels, seen, others, clusters_N=question[some], clusters_M=question[~some],
                     is_share=True)  # fmt: skip
    yield "PPI++", found.low or 0.0, found.high or 0.0
    plain = ppi_mean(labels, seen, others)
    if plain.value is None:
        yield "PPI++, normal (ppi-python)", mean, mean
    else:
        half = Z * plain.standard_error
        yield "PPI++, normal (ppi-python)", plain.value - half, plain.value + half
    rate = rogan_gladen(labels, seen, judged, clusters_N=question[some], clusters_M=question)
    low, high = (np.nan, np.nan) if rate.low is None or rate.high is None else (rate.low, rate.high)
    yield "Rogan-Gladen", low, high


def coverage(cell: Cell, draws: int, rng: np.random.Generator) -> dict[str, tuple[float, ...]]:
    """Share covered of the intervals given, mean width, and share given; by name."""
    ends = defaultdict(list)
    for _ in range(draws):
        for name, low, high in intervals(cell, rng):
            ends[name].append((low, high))
    told = {}
    for name, pairs in ends.items():
        low, high = np.array(pairs).T
        given = ~np.isnan(low)
        covers = (low <= cell.prevalence) & (cell.prevalence <= high)
        n = int(given.sum())
        told[name] = (
            covers[given].mean() if n else np.nan, (high - low)[given].mean() if n else np.nan,
            given.mean(),
        )  # fmt: skip
    return told


def checked(cell: Cell, draws: int, rng: np.random.Generator) -> dict[str, tuple[float, ...]]:
    """The same; of eight times the draws where an interval of ours seems to cover too little."""
    found = coverage(cell, draws, rng)
    low = any(found[name][0] < WANTED for name in OURS)
    return coverage(cell, 8 * draws, rng) if low else found


def grid() -> list[Cell]:
    """All cells: every prevalence, sensitivity, specificity; then clusters and replications."""
    rates = list(product((0.05, 0.3, 0.6, 0.95), (0.6, 0.9, 0.99), (0.7, 0.9, 0.99)))
    cells = [
        Cell(prevalence=p, sensitivity=a, specificity=b, n_labels=n)
        for (p, a, b), n in product(rates, (50, 100, 400))
    ]
    few = [(0.05, 0.9, 0.9), (0.3, 0.9, 0.7), (0.6, 0.9, 0.7), (0.95, 0.99, 0.9)]
    cells += [
        Cell(prevalence=p, sensitivity=a, specificity=b, n_labels=n, per_cluster=c, replications=r)
        for (p, a, b), n, c, r in product(few, (100, 400), (1, 4), (1, 5)) if (c, r) != (1, 1)
    ]  # fmt: skip
    return cells


def budget(rng: np.random.Generator, draws: int) -> tuple[float, float, float]:
    """Labels asked for a width of .1, the mean width they gave, and how often it covered."""
    cell = Cell(prevalence=0.6, sensitivity=0.9, specificity=0.7, n_labels=100, n_units=3000)
    needed, widths, covers = [], [], []
    for _ in range(draws):
        true, judged, _ = drawn(cell, rng)
        pilot = ppi_mean(true[:100], judged[:100], judged[100:], is_share=True)
        n = labels_for_width(pilot, 0.1, most=3000) or 3000
        true, judged, _ = drawn(cell, rng)
        found = ppi_mean(true[:n], judged[:n], judged[n:], is_share=True)
        low, high = found.low or 0.0, found.high or 0.0
        needed.append(n)
        widths.append(high - low)
        covers.append(low <= cell.prevalence <= high)
    return float(np.mean(needed)), float(np.mean(widths)), float(np.mean(covers))


def main() -> None:
    """Print the named case, the grid, and the label budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--named", action="store_true", help="the named case alone")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    named = Cell(prevalence=0.6, sensitivity=0.9, specificity=0.7, n_labels=100, n_units=2000)
    print("2,000 judged, 100 labels, prevalence .6, sensitivity .9, specificity .7:")
    for name, (covered, width, _) in coverage(named, asked.draws * 5, rng).items():
        print(f"  {name:28} covers {covered:.3f}, width {width:.3f}")
    needed, width, covered = budget(rng, asked.draws)
    print(
        f"label budget for width .1: {needed:.0f} labels gave {width:.3f}, covering {covered:.3f}"
    )
    if asked.named:
        return
    cells = grid()
    found = [checked(cell, asked.draws, rng) for cell in cells]
    print(f"{len(cells)} cells of {asked.draws} draws; those below {WANTED} drawn again, 8 times:")
    for name in found[0]:
        covered = np.array([one[name][0] for one in found])
        known = covered[~np.isnan(covered)]
        below = int((known < WANTED).sum())
        print(f"  {name:28} least {known.min():.3f}, mean {known.mean():.3f}, {below} below")
    for cell, one in zip(cells, found, strict=True):
        for name in OURS:
            covered, width, given = one[name]
            if covered < WANTED:
                print(
                    f"  {name} covers {covered:.3f}, given {given:.2f}, width {width:.2f}: {cell}"
                )


if __name__ == "__main__":
    main()
