"""Do intervals of corrected pass rates hold what they say, and how narrow are they?

Draws verdicts and labels of judges with known sensitivity and specificity, over a grid, and counts
how often each interval of `judgerel_ray.stats.correction` covers the true pass rate, then the true
difference of two systems. Every cell has as many draws. Cells below 0.93 are printed, with the
share of draws in which an interval is given: Rogan-Gladen's is not of judges who tell nothing, nor
of few labels of a kind. Then label budgets: the labels asked for, and the width that they give.

    python -m bench.correction_coverage [--draws 800] [--seed 1] [--named]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.correction import prediction_powered as ppi
from judgerel_ray.stats.correction.misclassification import (
    CorrectedRate,
    rogan_gladen,
    rogan_gladen_difference,
)

Floats = NDArray[np.float64]
Z = 1.959964
WANTED = 0.93
OURS = ("PPI++", "Rogan-Gladen, no least", "Rogan-Gladen")
ENOUGH = 0.1  # share of draws with an interval, below which a cell tells no coverage


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


def drawn(
    cell: Cell, rng: np.random.Generator, other: Cell | None = None
) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """What is true of each unit, what the judge says of it, its question, and its system.

    Units of a question share one coin with probability one half each, for the truth and for the
    judge's error, so that their correlation is a quarter; those of the `other` system, too. Half of
    a judge's errors are its own at every replication, half come with the unit.
    """
    systems = [cell] if other is None else [cell, other]
    n_questions, size = cell.n_units // cell.per_cluster, cell.per_cluster * len(systems)
    question = np.repeat(np.arange(n_questions), size)
    system = np.tile(np.repeat(np.arange(len(systems)), cell.per_cluster), n_questions)
    n = question.size

    def coins() -> Floats:
        common = rng.random(n_questions)[question]
        return np.where(rng.random(n) < 0.5, common, rng.random(n)) if size > 1 else common

    def of_system(name: str) -> Floats:
        return np.array([getattr(one, name) for one in systems])[system]

    true = coins() < of_system("prevalence")
    chance = np.where(true, of_system("sensitivity"), 1 - of_system("specificity"))
    judged = coins() < chance
    if cell.replications > 1:
        own = rng.random((cell.replications, n)) < chance
        kept = rng.random((cell.replications, n)) < 0.5
        judged = np.where(kept, own, judged).mean(axis=0)
    return true.astype(float), judged.astype(float), question, system


def intervals(cell: Cell, rng: np.random.Generator) -> Iterator[tuple[str, float, float]]:
    """Intervals of one draw, by name; NaN where none is given."""
    true, judged, question, _ = drawn(cell, rng)
    some = chosen(cell, question, rng)
    labels, seen, others = true[some], judged[some], judged[~some]
    mean, half = labels.mean(), Z * labels.std() / sqrt(labels.size)
    yield "labels alone, normal", mean - half, mean + half
    mean, half = judged.mean(), Z * judged.std() / sqrt(judged.size)
    yield "judge alone, normal", mean - half, mean + half
    by = {"clusters_N": question[some], "clusters_M": question[~some]}
    found = ppi.ppi_mean(labels, seen, others, **by, is_share=True)
    yield "PPI++", *ends(found)
    plain = ppi.ppi_mean(labels, seen, others)
    if plain.value is None:
        yield "PPI++, normal (ppi-python)", mean, mean
    else:
        half = Z * plain.standard_error
        yield "PPI++, normal (ppi-python)", plain.value - half, plain.value + half
    by = {"clusters_N": question[some], "clusters_M": question}
    rate = rogan_gladen(labels, seen, judged, **by)
    free = rogan_gladen(labels, seen, judged, **by, least=0) if is_withheld(rate) else rate
    yield "Rogan-Gladen, no least", *ends(free)
    yield "Rogan-Gladen", *ends(rate)


def differences(
    cells: tuple[Cell, Cell], rng: np.random.Generator
) -> Iterator[tuple[str, float, float]]:
    """Intervals of the difference of two systems in one draw, labelled for the same questions."""
    true, judged, question, system = drawn(cells[0], rng, cells[1])
    some = chosen(cells[0], question, rng)
    gap = np.bincount(question, np.where(system == 0, judged, -judged)) / cells[0].per_cluster
    half = Z * gap.std(ddof=1) / sqrt(gap.size)
    yield "judge alone, normal", gap.mean() - half, gap.mean() + half
    means, rates, free = [], [], []
    for place in (0, 1):
        of, a, b = system == place, some & (system == place), ~some & (system == place)
        means.append(
            ppi.ppi_mean(true[a], judged[a], judged[b], is_share=True,
                         clusters_N=question[a], clusters_M=question[b])
        )  # fmt: skip
        by = {"clusters_N": question[a], "clusters_M": question[of]}
        rates.append(rogan_gladen(true[a], judged[a], judged[of], **by))
        free.append(
            rogan_gladen(true[a], judged[a], judged[of], **by, least=0)
            if is_withheld(rates[-1]) else rates[-1]
        )  # fmt: skip
    yield "PPI++", *ends(ppi.ppi_difference(*means))
    yield "Rogan-Gladen, no least", *ends(rogan_gladen_difference(*free))
    yield "Rogan-Gladen", *ends(rogan_gladen_difference(*rates))


def chosen(cell: Cell, question: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Units of the questions drawn to be labelled."""
    is_drawn = np.arange(question[-1] + 1) < max(2, cell.n_labels // cell.per_cluster)
    return rng.permutation(is_drawn)[question]


def is_withheld(rate: CorrectedRate) -> bool:
    """Whether only the least number of labels of a kind keeps a rate back."""
    return rate.undefined == "too_few_labels"


def ends(found: ppi.PpiMean | CorrectedRate) -> tuple[float, float]:
    """Both ends; NaN where there are none."""
    return (np.nan, np.nan) if found.low is None or found.high is None else (found.low, found.high)


def coverage(
    cell: Cell | tuple[Cell, Cell], draws: int, rng: np.random.Generator
) -> dict[str, tuple[float, ...]]:
    """Share covered of the intervals given, mean width, and share given; by name."""
    found = defaultdict(list)
    for _ in range(draws):
        each = intervals(cell, rng) if isinstance(cell, Cell) else differences(cell, rng)
        for name, low, high in each:
            found[name].append((low, high))
    truth = cell.prevalence if isinstance(cell, Cell) else cell[0].prevalence - cell[1].prevalence
    rows = {}
    for name, pairs in found.items():
        low, high = np.array(pairs).T
        given = ~np.isnan(low)
        covers = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        n = int(given.sum())
        rows[name] = (
            covers[given].mean() if n else np.nan, (high - low)[given].mean() if n else np.nan,
            given.mean(),
        )  # fmt: skip
    return rows


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


def pairs() -> list[tuple[Cell, Cell]]:
    """Two systems each: one better, one that the judge favours, few that pass, few that fail."""
    rates = [
        ((0.6, 0.9, 0.7), (0.5, 0.9, 0.7)), ((0.6, 0.9, 0.7), (0.6, 0.95, 0.5)),
        ((0.3, 0.9, 0.9), (0.2, 0.9, 0.9)), ((0.95, 0.99, 0.9), (0.9, 0.99, 0.9)),
    ]  # fmt: skip
    kinds = product(rates, (50, 100, 400), ((1, 1), (4, 1), (1, 5)))
    return [
        (
            Cell(prevalence=p, sensitivity=s, specificity=t, n_labels=n, per_cluster=c,
                 replications=r),
            Cell(prevalence=q, sensitivity=u, specificity=v, n_labels=n, per_cluster=c,
                 replications=r),
        )
        for ((p, s, t), (q, u, v)), n, (c, r) in kinds
    ]  # fmt: skip


def budget(cell: Cell, width: float, draws: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Labels asked for a width after a pilot; the width that so many gave, and how often below it.

    Labels are drawn anew after the pilot: a budget that holds for the pilot alone is of no use.
    """
    needed, widths, covers = [], [], []

    def found(n: int) -> ppi.PpiMean:
        true, judged, question, _ = drawn(cell, rng)
        some = chosen(replace(cell, n_labels=n), question, rng)
        return ppi.ppi_mean(true[some], judged[some], judged[~some], is_share=True,
                            clusters_N=question[some], clusters_M=question[~some])  # fmt: skip

    for _ in range(draws):
        n = ppi.labels_for_width(found(cell.n_labels), width, most=cell.n_units)
        if n is None:
            continue
        low, high = ends(found(n))
        needed.append(n)
        widths.append(high - low)
        covers.append(low <= cell.prevalence <= high)
    within = np.array(widths) <= 1.1 * width
    return tuple(float(np.mean(one)) for one in (needed, widths, within, covers))


def told(cells: Sequence[Cell | tuple[Cell, Cell]], draws: int, rng: np.random.Generator) -> None:
    """Print coverage over cells, and those that cover too little."""
    found = [coverage(cell, draws, rng) for cell in cells]
    for name in found[0]:
        known = np.array([one[name] for one in found])
        enough = known[known[:, 2] >= ENOUGH]
        below = int((enough[:, 0] < WANTED).sum())
        print(
            f"  {name:28} least {enough[:, 0].min():.3f}, mean {enough[:, 0].mean():.3f}, {below} "
            f"of {len(enough)} cells below; given in {known[:, 2].mean():.3f} of draws"
        )
    for cell, one in zip(cells, found, strict=True):
        for name in OURS:
            covered, width, given = one[name]
            if covered < WANTED and given >= ENOUGH:
                print(
                    f"  {name} covers {covered:.3f}, given {given:.2f}, width {width:.2f}: {cell}"
                )


def main() -> None:
    """Print the named case, label budgets, the grid, and differences of two systems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--named", action="store_true", help="the named case and budgets alone")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    named = Cell(prevalence=0.6, sensitivity=0.9, specificity=0.7, n_labels=100, n_units=2000)
    print("2,000 judged, 100 labels, prevalence .6, sensitivity .9, specificity .7:")
    for name, (covered, width, _) in coverage(named, asked.draws * 5, rng).items():
        print(f"  {name:28} covers {covered:.3f}, width {width:.3f}")
    print("label budgets after a pilot of 100 labels, of 3,000 units:")
    wide = replace(named, n_units=3000)
    for cell in (wide, replace(wide, per_cluster=4), replace(wide, replications=5),
                 replace(wide, prevalence=0.9)):  # fmt: skip
        for width in (0.15, 0.1):
            needed, reached, within, covered = budget(cell, width, asked.draws, rng)
            print(
                f"  width {width}: {needed:.0f} labels gave {reached:.3f}, at most a tenth more in "
                f"{within:.2f} of draws, covering {covered:.3f}: {cell}"
            )
    if asked.named:
        return
    cells, two = grid(), pairs()
    print(f"{len(cells)} cells of {asked.draws} draws:")
    told(cells, asked.draws, rng)
    print(f"{len(two)} cells of the difference of two systems, {asked.draws} draws:")
    told(two, asked.draws, rng)


if __name__ == "__main__":
    main()
