"""Scores whose differences few questions carry: is it said, and do the intervals cover?

    python -m bench.few_questions [--runs 1000] [--seed 1] [--out docs/coverage.md]

Simulated judges of continuous scores: question means of variance ICC from a law (normal; uniform;
one question in ten low, alike otherwise or nearly so; exponential; log-normal), replications normal
about them with variance 1 - ICC. Writes for ICC(1), by law, number of questions and replications:
how many of the 95 % intervals hold the truth; how many were flagged before (fewer than five
effective questions) and are flagged now (or fewer than fifteen, on one side of the others); and the
coverage of those with and without the new flag.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.coverage_page import table
from bench.whole_list import LISTS, write_section
from judgerel_ray.stats import Interval, jackknife_interval
from judgerel_ray.stats.agreement.intraclass import moment_statistic, moments_from_scores
from judgerel_ray.stats.intervals.ends import FEWEST_CARRYING

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


def row(
    law: str, *, questions: int, replications: int, icc: float, runs: int, seed: int
) -> list[object]:
    """One cell."""
    found = [
        drawn(law, questions=questions, replications=replications, icc=icc, seed=1000 * run + seed)
        for run in range(runs)
    ]
    given = [one for one in found if one.low is not None and one.high is not None]
    covered = np.array([(one.low or 0) <= icc <= (one.high or 0) for one in given])
    before = np.array([(one.n_effective or np.inf) < FEWEST_CARRYING for one in given])
    now = np.array([one.few_informative or one.carried_by_few for one in given])

    def share(held: NDArray[np.bool_]) -> str:
        return f"{100 * held.mean():.1f}" if held.size else "-"

    return [
        law, icc, f"{questions} x {replications}", share(covered), share(before), share(now),
        share(covered[now]), share(covered[~now]),
    ]  # fmt: skip


TITLE = "Scores: does it rest on few questions?"
NOTE = """\
Made by `python -m bench.few_questions --runs {runs} --seed {seed}`. Judges of scores: means of
questions of variance ICC from a law, replications normal about them. Intervals are those of ICC(1).
*Before*: fewer than five effective questions (the variance between questions is shared as among so
many). *Flagged*: those, or fewer than fifteen that lie on one side of the others: the skewness of
the means of questions is beyond 1.645 of its standard error under normal scores. One question in
ten that is low is then told in nearly every sample that has one, where replications are five and
the ICC is .5 or more. Of 20 questions, one sample in eight has none and looks like any other: there
the interval fails, and no rule on the sample could say so."""
HEAD = [
    "law", "ICC", "questions x replications", "covered %", "flagged before %", "flagged %",
    "covered if flagged %", "covered if not %",
]  # fmt: skip
CELLS = [(20, 2), (20, 5), (30, 5), (55, 5), (200, 5)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage.md"))
    parser.add_argument("--whole", type=Path, default=LISTS / "coverage.md", help="every row")
    given = parser.parse_args()
    rows = [
        row(
            law, questions=questions, replications=replications, icc=icc,
            runs=given.runs, seed=given.seed,
        )
        for questions, replications in CELLS
        for law in LAWS
        for icc in ((0.2, ICC, 0.8) if (questions, replications) == (20, 5) else (ICC,))
    ]  # fmt: skip
    note = NOTE.format(runs=given.runs, seed=given.seed)
    write_section(given.out, given.whole, TITLE, f"{note}\n\n{table(HEAD, rows)}")


if __name__ == "__main__":
    main()
