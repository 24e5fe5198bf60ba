"""Independent noise through every coefficient that has a floor: how often is it called noise?

Right is 95 % of runs: p is above .05 as often as chance would have it. Each experiment draws data
in which nothing depends on its question (or, of the published estimator, no question on another),
and asks the shipped functions for p. The deals are 99 instead of the shipped 999, and 19 where each
is a factor analysis: p = (1 + k) / (1 + deals) is exactly as right, only coarser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.judges_of_known_truth import BASES, TRUTHS, Judge
from judgerel_ray.stats import (
    CountStatistic,
    column_noise_floor,
    count_statistic,
    moment_floor,
    moments_from_scores,
    noise_floors,
)
from judgerel_ray.stats.consistency import ItemCoefficient
from judgerel_ray.stats.scores import Matrix

DEALS = 99
FITS = 19
LEVEL = 0.05
MANY = (2000, 60)  # questions x replications: above this many ratings floors are in closed form
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
    tables: NDArray[np.int64], statistics: Sequence[CountStatistic], data: str
) -> list[Called]:
    """Coefficients of the same tables (runs, questions, categories), from the same deals."""
    floors = [
        noise_floors(table, statistics, n_permutations=DEALS, seed=run)
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
        ("continuous scores", _scores, runs // DEAR),
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
    """So many judgments that the floor is in closed form, or of a subset of questions."""
    questions, replications = MANY
    for place, (base, rates) in enumerate(BASES.items()):
        statistics = [count_statistic(name, n_values=len(rates)) for name in TRUTHS]
        tables = _noise(base, questions, replications, runs, [seed, 3, place])
        yield of_counts(tables, statistics, f"{base}, {questions:,} x {replications}")


def _scores(runs: int, seed: int) -> Iterator[list[Called]]:
    """ICC(1) of continuous scores."""
    for skewed in (False, True):
        for questions, replications in ((8, 2), (8, 20), (27, 5), (100, 5)):
            rng = np.random.default_rng([seed, 4, skewed, questions, replications])
            size = (runs, questions, replications)
            scores = rng.exponential(size=size) if skewed else rng.normal(size=size)
            ps = [moment_floor(moments_from_scores(one)).p for one in scores]
            kind = "exponential" if skewed else "normal"
            yield [called("icc1 (scores)", f"{kind}, {questions} x {replications}", ps)]


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
                    column_noise_floor(one, name, matrix=matrix, n_permutations=DEALS, seed=run).p
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
    from judgerel_ray.legacy import schroeder2024_noise_floor

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
