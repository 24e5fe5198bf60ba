"""Scores whose differences few questions carry: is it said, and do the intervals cover?

    OMP_NUM_THREADS=1 python -m bench.few_questions [--runs 1000] [--seed 1]

Simulated judges of continuous scores: question means of variance ICC from a law (normal; uniform;
one question in ten low, alike otherwise or nearly so; exponential; log-normal), replications normal
about them with variance 1 - ICC. Prints for ICC(1), by law, number of questions and replications:
how many of the 95 % intervals hold the truth; how many were flagged before (fewer than ten
questions whose replications differ) and are flagged now (few questions carry the differences); and
the coverage of those with and without the new flag.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats import Interval, jackknife_interval
from judgerel_ray.stats.agreement.intraclass import moment_statistic, moments_from_scores
from judgerel_ray.stats.intervals.precision import FEWEST_CARRYING

Floats = NDArray[np.float64]
TENTH = 0.1
ICC = 0.5


def tenth_low(rng: np.random.Generator, n: int, *, spread: float = 0.0) -> Floats:
    """One question in ten low, the rest normal with this share of the variance; variance 1."""
    low = (rng.random(n) < TENTH) / np.sqrt(TENTH * (1 - TENTH))
    return np.asarray(np.sqrt(spread) * rng.normal(size=n) - np.sqrt(1 - spread) * low)


LAWS: Mapping[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
    "one in ten low": tenth_low,
    "one in ten low, others vary": lambda rng, n: tenth_low(rng, n, spread=0.1),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal": lambda rng, n: rng.lognormal(size=n) / np.sqrt(np.e * (np.e - 1)),
}


def drawn(law: str, *, questions: int, replications: int, icc: float, seed: int) -> Interval:
    """The shipped interval of one simulated judge."""
    rng = np.random.default_rng([seed, questions, replications, round(100 * icc)])
    means = np.sqrt(icc) * LAWS[law](rng, questions)
    noise = rng.normal(size=(questions, replications))
    scores = means[:, None] + np.sqrt(1 - icc) * noise
    return jackknife_interval(moments_from_scores(scores), moment_statistic("icc1"))


def row(law: str, *, questions: int, replications: int, icc: float, runs: int, seed: int) -> str:
    """One cell."""
    found = [
        drawn(law, questions=questions, replications=replications, icc=icc, seed=1000 * run + seed)
        for run in range(runs)
    ]
    given = [one for one in found if one.low is not None and one.high is not None]
    covered = np.array([(one.low or 0) <= icc <= (one.high or 0) for one in given])
    before = np.array([one.few_informative for one in given])
    now = before | np.array([(one.n_effective or np.inf) < FEWEST_CARRYING for one in given])

    def share(held: NDArray[np.bool_]) -> str:
        return f"{100 * held.mean():.1f}" if held.size else "-"

    return (
        f"| {law} | {icc} | {questions} x {replications} | {share(covered)} | {share(before)} | "
        f"{share(now)} | {share(covered[now])} | {share(covered[~now])} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        "| law | ICC | questions x replications | covered % | flagged before % | flagged % | "
        "covered if flagged % | covered if not % |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for questions, replications in ((20, 2), (20, 5), (55, 5), (200, 5)):
        for law in LAWS:
            for icc in (0.2, ICC, 0.8) if (questions, replications) == (20, 5) else (ICC,):
                print(
                    row(
                        law, questions=questions, replications=replications, icc=icc,
                        runs=given.runs, seed=given.seed,
                    ),
                    flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
