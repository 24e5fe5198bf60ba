"""Independent noise through every coefficient that has a floor: how often is it called noise?

    python -m bench.noise_is_called_noise [--runs 1000] [--seed 1] [--part NAME ...]

Right is 95 % of runs: p is above .05 as often as chance would have it. Each experiment draws data
in which nothing depends on its question (or, of the published estimator, no question on another),
and asks the shipped functions for p. Permutations are 99 instead of the shipped 999, and 19 where
each is a factor analysis: p = (1 + k) / (1 + permutations) is exactly as right, only coarser.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.judges_of_known_truth import BASES, TRUTHS, Judge
from judgerel_ray.stats import (
    CountStatistic,
    column_noise_floor,
    count_statistic,
    noise_floors,
    score_floor,
)
from judgerel_ray.stats.internal_consistency.consistency import ItemCoefficient
from judgerel_ray.stats.internal_consistency.scores import Matrix

PERMUTATIONS = 99
FITS = 19
LEVEL = 0.05
MANY = (2000, 60)  # questions x replications: so many ratings that units are drawn, not verdicts
FEW_LARGE = {  # questions by their replications, some of which have nearly all
    "290 x 10 and 10 x 10,500": {10: 290, 10_500: 10},
    "1,000 x 2 and 200 x 550": {2: 1000, 550: 200},
}
LARGE = {  # 200,000 ratings and more: floors are in closed form
    "20,000 x 10": {10: 20_000},
    "60,000 x 2 and 2,000 x 40": {2: 60_000, 40: 2000},
    "25,000 x 2 and 25,000 x 40": {2: 25_000, 40: 25_000},
}
RARE = ("100,000 x 2", {2: 100_000}, (0.9995, 0.0005))  # of a rare verdict, permuted again
UNEQUAL = {"35 x 2 and 5 x 100": {2: 35, 100: 5}, "80 x 3 and 20 x 20": {3: 80, 20: 20}}
TAILS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal (sd 2)": lambda rng, n: rng.lognormal(sigma=2.0, size=n),
}
DEAR = 2  # of experiments that cost more one run in two, in four, in eight
BY_MINRES: tuple[ItemCoefficient, ...] = ("cronbach_alpha", "mcdonald_omega")
BY_SCHMID_LEIMAN: tuple[ItemCoefficient, ...] = ("omega_total", "omega_hierarchical")
MATRICES: tuple[Matrix, ...] = ("covariance", "correlation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """How often noise was called noise, where there was a p at all."""

    coefficient: str
    data: str
    runs: int
    with_p: int
    noise: int


def called(coefficient: str, data: str, ps: Sequence[float | None]) -> Called:
    """Sum up the p of all runs."""
    given = [p for p in ps if p is not None]
    return Called(
        coefficient=coefficient,
        data=data,
        runs=len(ps),
        with_p=len(given),
        noise=sum(p > LEVEL for p in given),
    )


def of_counts(
    tables: Iterable[NDArray[np.int64]], statistics: Sequence[CountStatistic], data: str
) -> list[Called]:
    """Coefficients of the same tables (questions, categories), from the same permutations."""
    floors = [
        noise_floors(table, statistics, n_permutations=PERMUTATIONS, seed=run)
        for run, table in enumerate(tables)
    ]
    return [
        called(_label(statistic), data, [floor[place].p for floor in floors])
        for place, statistic in enumerate(statistics)
    ]


def experiments(runs: int, seed: int) -> Iterator[tuple[str, Callable[[], list[Called]]]]:
    """Name everything but the cells of the coverage table, with what computes it."""
    parts = (
        ("numbers", _levels, runs),
        ("majorities", _majorities, runs // DEAR**2),
        ("many judgments", _many, runs // DEAR**3),
        ("200,000 judgments", _large, runs // DEAR**3),
        ("continuous scores", _scores, runs // DEAR),
        ("200,000 continuous scores", _large_scores, runs // DEAR**5),
        ("distinct items", _items, runs),
        ("published estimator", _published, runs // DEAR**2),
    )
    for name, part, some in parts:
        yield name, partial(_all, part, some, seed)


def _all(part: Callable[[int, int], Iterator[list[Called]]], runs: int, seed: int) -> list[Called]:
    return [one for rows in part(runs, seed) for one in rows]


def _label(statistic: CountStatistic) -> str:
    """The name, and the level of measurement where there are several."""
    levels = {"krippendorff_alpha", "icc1"}
    return f"{statistic.name} ({statistic.estimator})" if statistic.name in levels else (
        statistic.name
    )  # fmt: skip


def _noise(
    base: str, questions: int, replications: int, runs: int, key: list[int]
) -> NDArray[np.int64]:
    rng = np.random.default_rng(key)
    judge = Judge(base=base, alpha=0.0)
    return judge.counts(questions=questions, replications=replications, runs=runs, rng=rng)


def _levels(runs: int, seed: int) -> Iterator[list[Called]]:
    """Alpha and ICC(1) of verdicts as numbers."""
    for place, base in enumerate(BASES):
        values = list(range(1, len(BASES[base]) + 1))
        statistics = [
            *(
                count_statistic(
                    "krippendorff_alpha", n_values=len(values), values=values, level=level
                )
                for level in ("ordinal", "interval", "ratio")
            ),
            count_statistic("icc1", n_values=len(values), values=values, level="interval"),
        ]
        for replications in (5, 20):
            tables = _noise(base, 27, replications, runs, [seed, 1, place, replications])
            yield of_counts(tables, statistics, f"{base}, 27 x {replications}")


def _majorities(runs: int, seed: int) -> Iterator[list[Called]]:
    """Majorities of 3, 5 and 11: 22 replications are the fewest that hold two of 11."""
    for place, (base, rates) in enumerate(BASES.items()):
        statistics = [
            count_statistic(f"majority_stability_{k}", n_values=len(rates)) for k in (3, 5, 11)
        ]
        tables = _noise(base, 27, 22, runs, [seed, 2, place])
        yield of_counts(tables, statistics, f"{base}, 27 x 22")


def _many(runs: int, seed: int) -> Iterator[list[Called]]:
    """Many judgments, few questions: their tables are drawn one question after the other."""
    questions, replications = MANY
    for place, (base, rates) in enumerate(BASES.items()):
        statistics = [count_statistic(name, n_values=len(rates)) for name in TRUTHS]
        tables = _noise(base, questions, replications, runs, [seed, 3, place])
        yield of_counts(tables, statistics, f"{base}, {questions:,} x {replications}")


def _sizes(questions: dict[int, int]) -> NDArray[np.int64]:
    """Replications of each question."""
    return np.repeat(list(questions), list(questions.values()))


def _drawn(
    rates: Sequence[float], questions: dict[int, int], runs: int, key: list[int]
) -> Iterator[NDArray[np.int64]]:
    """Tables one by one: all at once would be some hundred megabytes."""
    rng = np.random.default_rng(key)
    for _ in range(runs):
        yield rng.multinomial(_sizes(questions), rates)


def _large(runs: int, seed: int) -> Iterator[list[Called]]:
    """More judgments than are permuted, of questions alike and of questions that are not."""
    for place, (base, rates) in enumerate(BASES.items()):
        names = [*TRUTHS, "majority_stability_3"]
        values = list(range(1, len(rates) + 1))
        statistics = [count_statistic(name, n_values=len(rates)) for name in names]
        statistics += [
            count_statistic(name, n_values=len(rates), values=values, level=level)
            for name, level in (("krippendorff_alpha", "ordinal"), ("icc1", "interval"))
        ]
        for other, (data, questions) in enumerate({**LARGE, **FEW_LARGE}.items()):
            tables = _drawn(rates, questions, runs, [seed, 7, place, other])
            yield of_counts(tables, statistics, f"{base}, {data}")
    data, questions, rates = RARE
    statistics = [count_statistic(name, n_values=len(rates)) for name in TRUTHS]
    yield of_counts(_drawn(rates, questions, runs, [seed, 8]), statistics, f"rare fail, {data}")


def _scores(runs: int, seed: int) -> Iterator[list[Called]]:
    """ICC(1) and alpha of continuous scores, of questions alike and of questions that are not."""
    shapes = {
        f"{questions} x {replications}": {replications: questions}
        for questions, replications in ((8, 2), (8, 20), (27, 5), (100, 5))
    }
    yield from _of_scores({**shapes, **UNEQUAL}, runs, [seed, 4])


def _large_scores(runs: int, seed: int) -> Iterator[list[Called]]:
    """More scores than are permuted where their moments tell enough."""
    yield from _of_scores(LARGE, runs, [seed, 9])


def _of_scores(
    shapes: dict[str, dict[int, int]], runs: int, key: list[int]
) -> Iterator[list[Called]]:
    for place, (kind, draw) in enumerate(TAILS.items()):
        for other, (data, questions) in enumerate(shapes.items()):
            sizes = _sizes(questions)
            unit = np.repeat(np.arange(sizes.size), sizes)
            for name in ("icc1", "krippendorff_alpha"):
                rng = np.random.default_rng([*key, place, other])
                ps = [
                    score_floor(
                        draw(rng, unit.size), unit, name, n_permutations=PERMUTATIONS, seed=run
                    ).p
                    for run in range(runs)
                ]
                yield [called(f"{name} (scores)", f"{kind}, {data}", ps)]


def _items(runs: int, seed: int) -> Iterator[list[Called]]:
    """Nine distinct items that have nothing to do with one another."""
    for subjects, likert in ((27, False), (100, True)):
        rng = np.random.default_rng([seed, 5, subjects])
        size = (runs, subjects, 9)
        if likert:
            scores = rng.choice(5, p=BASES["skewed"], size=size).astype(float)
        else:
            scores = rng.normal(size=size)
        data = f"{'skewed Likert' if likert else 'normal'}, {subjects} subjects x 9 items"
        for name in BY_MINRES:
            for matrix in MATRICES:
                some = scores if name == "cronbach_alpha" else scores[: runs // DEAR**2]
                ps = [
                    column_noise_floor(
                        one, name, matrix=matrix, n_permutations=PERMUTATIONS, seed=run
                    ).p
                    for run, one in enumerate(some)
                ]
                yield [called(f"{name} ({matrix})", data, ps)]
        name = BY_SCHMID_LEIMAN[likert]
        ps = [
            column_noise_floor(one, name, n_permutations=FITS, seed=run).p
            for run, one in enumerate(scores[: runs // DEAR**2])
        ]
        yield [called(name, data, ps)]


def _published(runs: int, seed: int) -> Iterator[list[Called]]:
    """The published estimator: questions that share nothing, 100 replications of each."""
    from judgerel_ray.papers import schroeder2024_noise_floor

    for base, questions in (("uniform", 8), ("skewed", 8), ("uniform", 20)):
        rng = np.random.default_rng([seed, 6, questions, len(base)])
        rates = np.array(BASES[base])
        floors = [
            schroeder2024_noise_floor(
                rng.choice(rates.size, p=rates, size=(100, questions)) + 1.0,
                n_permutations=FITS,
                seed=run,
            )
            for run in range(runs)
        ]
        data = f"{base}, {questions} x 100"
        yield [
            called("schroeder2024_alpha", data, [floor.alpha.p for floor in floors]),
            called("schroeder2024_omega", data, [floor.omega.p for floor in floors]),
        ]


def main() -> None:
    """Print what the parts asked for say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="experiments of the cheapest kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", action="append", help="of these alone, e.g. 'many judgments'")
    given = parser.parse_args()
    for name, experiment in experiments(given.runs, given.seed):
        if given.part and name not in given.part:
            continue
        found = experiment()
        for one in found:
            print(f"{one.noise / max(1, one.with_p):6.1%} of {one.with_p:4}  "
                  f"{one.coefficient}, {one.data}")  # fmt: skip
        with_p, noise = sum(one.with_p for one in found), sum(one.noise for one in found)
        least = min(one.noise / max(1, one.with_p) for one in found)
        print(f"{name}: {noise / with_p:.1%} of {with_p}, least {least:.1%}", flush=True)


if __name__ == "__main__":
    main()
