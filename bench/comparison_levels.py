"""Two judges of known alpha: how often does ``compare`` tell them apart, wrongly and rightly?

    OMP_NUM_THREADS=1 python -m bench.comparison_levels [--part same|shared|unequal]
                                           [--runs 1000] [--seed 1] [--borrowed 2]

Dirichlet-multinomial judges. ``same``: both of one law, each question drawn anew for each (alpha .5
and .5; for the power .3 and .6). ``shared``: both with the very same chances on each question.
``unequal``: equal alpha at unequal base rates (for the power .3 and .6, the first base rates with
either). "before": delete-one-question jackknife with Student's t; "now": the shipped
``paired_difference``, with 499 random exchanges in place of 9,999 (p = (1 + k) / (1 + draws) is as
right, only coarser). False alarms and power are shares of the tables that have a p, in %; "higher"
is the share of all tables in which either alpha or agreement is called higher after Holm, as
``compare`` does by default. Coverage is that of 95 % intervals of the difference of alpha, where
there is one, in the tables of the power. Monte-Carlo standard error at 5 %: 0.7 points.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats import CountStatistic, count_statistic, holm, paired_difference
from judgerel_ray.stats.intervals import judge_differences
from judgerel_ray.stats.intervals.ends import t_quantile

BASES = {
    "50/50": (0.5, 0.5),
    "90/10": (0.9, 0.1),
    "97/3": (0.97, 0.03),
    "five": (0.2,) * 5,
    "five skewed": (0.7, 0.15, 0.08, 0.05, 0.02),
}
QUESTIONS = (20, 55, 200)
REPLICATIONS = (2, 5)
PARTS = {
    "same": [(one, one) for one in ("50/50", "90/10", "97/3", "five")],
    "shared": [(one, one) for one in ("50/50", "90/10", "97/3", "five")],
    "unequal": [
        ("50/50", "90/10"),
        ("50/50", "97/3"),
        ("90/10", "97/3"),
        ("five", "five skewed"),
    ],
}
DRAWS = 499
LEVEL = 0.05
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """How often a pair of judges is distinguished, in shares of the tables that have a p."""

    without: float  # tables without a p now
    before: float
    now: float
    higher: float  # of all tables: alpha or agreement, after Holm
    covered_before: float
    covered: float
    width_before: float  # medians
    width: float
    flagged: float


def tables(
    bases: tuple[str, str], alphas: tuple[float, float], questions: int, replications: int,
    *, shared: bool, runs: int, rng: np.random.Generator,
) -> list[Floats]:  # fmt: skip
    """Verdicts of both judges, shape (runs, questions, categories)."""
    size, chances = (runs, questions), []
    for base, alpha in zip(bases, alphas, strict=True):
        chances.append(rng.dirichlet((1 / alpha - 1) * np.array(BASES[base]), size))
    if shared:
        chances[1] = chances[0]
    return [rng.multinomial(replications, one).astype(np.float64) for one in chances]


def jackknife(first: Floats, second: Floats, statistic: CountStatistic) -> tuple[Floats, Floats]:
    """Differences and their errors by leaving questions out, of many tables at once."""
    values, left_out = [], []
    for one in (first, second):
        terms = statistic.terms(one)
        values.append(statistic.value(terms.sum(axis=1)))
        left_out.append(statistic.value(terms.sum(axis=1, keepdims=True) - terms))
    apart = left_out[1] - left_out[0]
    questions = first.shape[1]
    squares = ((apart - apart.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return values[1] - values[0], np.sqrt((questions - 1) / questions * squares)


def levels(first: Floats, second: Floats, truth: float) -> Levels:
    """Compare each pair of tables both ways."""
    alpha, agreement = (
        count_statistic(name, n_values=first.shape[2])
        for name in ("krippendorff_alpha", "percent_agreement")
    )
    value, error = jackknife(first, second, alpha)
    reach = t_quantile(first.shape[1] - 1, 1 - LEVEL) * error
    given = ~np.isnan(value) & (error > 1e-9)
    found, higher = [], 0
    for one, two in zip(first, second, strict=True):
        both = [paired_difference(one, two, of, draws=DRAWS) for of in (alpha, agreement)]
        found.append(both[0])
        higher += any(p is not None and p < LEVEL for p in holm([each.p for each in both]))
    tested = [one for one in found if one.p is not None]
    ends = [(one.low, one.high) for one in tested if one.low is not None and one.high is not None]
    return Levels(
        without=1 - len(tested) / len(found),
        before=float((np.abs(value) > reach)[given].mean()),
        now=_share([one.p is not None and one.p < LEVEL for one in tested]),
        higher=higher / len(found),
        covered_before=float((np.abs(value - truth) <= reach)[given].mean()),
        covered=_share([low <= truth <= high for low, high in ends]),
        width_before=float(np.median(2 * reach[given])),
        width=float(np.median([high - low for low, high in ends])) if ends else float("nan"),
        flagged=_share([one.few_informative for one in tested]),
    )


def _share(marks: list[bool]) -> float:
    return sum(marks) / len(marks) if marks else float("nan")


def cell(
    part: str, bases: tuple[str, str], questions: int, replications: int, *, runs: int, seed: int
) -> tuple[Levels, Levels]:
    """Judges of equal alpha, and of .3 and .6."""
    place = [list(BASES).index(base) for base in bases]
    rng = np.random.default_rng([seed, list(PARTS).index(part), *place, questions, replications])
    found = []
    for alphas in ((0.5, 0.5), (0.3, 0.6)):
        shared = part == "shared" and alphas[0] == alphas[1]
        both = tables(bases, alphas, questions, replications, shared=shared, runs=runs, rng=rng)
        found.append(levels(both[0], both[1], alphas[1] - alphas[0]))
    return found[0], found[1]


def row(name: str, questions: int, replications: int, equal: Levels, apart: Levels) -> str:
    """Lay one cell out."""
    percent = [
        100 * one
        for one in (
            equal.without, equal.flagged, equal.before, equal.now, equal.higher,
            apart.before, apart.now, apart.covered_before, apart.covered,
        )
    ]  # fmt: skip
    shown = [f"{one:.1f}" for one in percent]
    widths = f"{apart.width_before:.2f} | {apart.width:.2f}"
    return f"| {name} | {questions} x {replications} | {' | '.join(shown)} | {widths} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="one of the three; by default all")
    parser.add_argument("--runs", type=int, default=1000, help="pairs of judges a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--borrowed", type=float, default=judge_differences.BORROWED,
        help="questions of the other side in each side's error",
    )  # fmt: skip
    given = parser.parse_args()
    judge_differences.BORROWED = given.borrowed
    for part in [given.part] if given.part else PARTS:
        print(
            f"\n{part}\n\n| base rates | questions x replications | no p | flagged | "
            "false alarms before | now | higher | power before | now | coverage before | now | "
            f"median width before | now |\n|{' --- |' * 13}"
        )
        for bases in PARTS[part]:
            for questions in QUESTIONS:
                for replications in REPLICATIONS:
                    equal, apart = cell(
                        part, bases, questions, replications, runs=given.runs, seed=given.seed
                    )
                    name = " and ".join(dict.fromkeys(bases))
                    print(row(name, questions, replications, equal, apart), flush=True)


if __name__ == "__main__":
    main()
