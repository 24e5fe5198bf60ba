"""How many votes until the majority agrees with itself: what is promised, and is it so?

    python -m bench.majority_advice [--runs 150] [--seed 1] [--out docs/coverage.md]

Simulated judges of two verdicts whose majority stability is known for every number of votes. Of
each table: what `judgerel advise` promises for a stability of .95, whether its limits hold the
truth, and what was promised from shares drawn together by one factor, as it was before
(`supported_shares`, up to 51 votes). About ten minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bench.coverage_page import table
from bench.whole_list import LISTS, write_section
from judgerel_ray.analyses.advice.panel_worth import VOTES, Voting
from judgerel_ray.stats import majority_vote, supported_shares

TITLE = "Majority stability: what is promised"
WANTED = 0.95
DESIGNS = ((55, 2), (55, 5), (200, 5), (200, 20), (1000, 20))
LIMITED = (3, 11, 51)
Floats = NDArray[np.float64]
NOTE = """\
Made by `python -m bench.majority_advice --runs {runs} --seed {seed}`, printed as it is: {runs}
simulated judges a cell. Asked is how many votes, up to 51, make a majority that another one of as
many votes agrees with in 95 % of questions. A promise is false where the truth at the promised
number is below .95; "never" is false where 51 votes reach it. *Before*: verdict shares drawn
together by one factor, the promise by the estimate. *Now*: the promise by the lower limit over all
mixing distributions that fit the counts (`stats.intervals.vote_limits`), "never" by the upper,
and "not known" between them. The last columns are how often those limits hold the truth, with their
mean width.

From two replications longer votes cannot be told from what single replications say, however many
the questions, and nothing is promised: that is right, and costs answers that a guess would have got
right. Where the truth is about .95 (alpha .6, 31 votes), no design answers."""


def mixture(rng: np.random.Generator, n: int) -> Floats:
    """80 % of questions unanimous, half each way, and 20 % coin flips."""
    return np.where(rng.random(n) < 0.8, (rng.random(n) < 0.5).astype(np.float64), 0.5)


def beta(alpha: float) -> Callable[[np.random.Generator, int], Floats]:
    """Base rates 50/50 at this alpha."""
    s = (1 - alpha) / alpha / 2
    return lambda rng, n: rng.beta(s, s, n)


def middles(alpha: float) -> Floats:
    """Two thousand quantiles of the same."""
    s = (1 - alpha) / alpha / 2
    return np.asarray(betaincinv(s, s, (np.arange(2000) + 0.5) / 2000))


LAWS: Mapping[str, tuple[Callable[[np.random.Generator, int], Floats], Floats]] = {
    "80 % unanimous, 20 % coin flips": (mixture, np.repeat([0.0, 1.0, 0.5], [4, 4, 2])),
    "alpha .6": (beta(0.6), middles(0.6)),
    "alpha .8": (beta(0.8), middles(0.8)),
    "alpha .95": (beta(0.95), middles(0.95)),
}


def two(shares: Floats) -> Floats:
    return np.stack([shares, 1 - shares], axis=-1)


def before(counts: NDArray[np.int64]) -> int | None:
    """The number of votes promised by the estimate."""
    shares = supported_shares(counts)
    return next((k for k in VOTES if majority_vote(shares, k).agreement >= WANTED), None)


def cell(law: str, questions: int, replications: int, *, runs: int, seed: int) -> list[object]:
    """One row of the table."""
    draw, whole = LAWS[law]
    truth = {k: majority_vote(two(whole), k).agreement for k in VOTES}
    reached = next((k for k in VOTES if truth[k] >= WANTED - 1e-9), None)
    rng = np.random.default_rng([seed, list(LAWS).index(law), questions, replications])
    old = np.zeros(2, dtype=int)
    new = np.zeros(4, dtype=int)
    held, width = np.zeros(len(LIMITED), dtype=int), np.zeros(len(LIMITED))
    for _ in range(runs):
        heads = rng.binomial(replications, draw(rng, questions))
        counts = np.stack([heads, replications - heads], axis=-1)
        promised = before(counts)
        old += (promised is not None and truth[promised] < WANTED - 1e-9,
                promised is None and reached is not None)  # fmt: skip
        votes = Voting(counts, np.arange(questions))
        promised, never = votes.needed(WANTED), False
        if promised is None:
            never = (votes.stability(VOTES[-1]).high or 1.0) < WANTED
        false = promised is not None and truth[promised] < WANTED - 1e-9
        new += (false, promised is not None and not false, never and reached is not None,
                promised is None and not never)  # fmt: skip
        for place, k in enumerate(LIMITED):
            found = votes.stability(k)
            held[place] += (found.low or 0) - 1e-9 <= truth[k] <= (found.high or 1) + 1e-9
            width[place] += (found.high or 1) - (found.low or 0)
    percent = [f"{100 * n / runs:.0f}" for n in (*old, *new, *held)]
    limits = [f"{percent[6 + i]}, {width[i] / runs:.2f}" for i in range(len(LIMITED))]
    return [law, f"{truth[VOTES[-1]]:.3f}", reached or "never", questions, replications,
            *percent[:6], *limits]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=150, help="simulated judges a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage.md"))
    parser.add_argument("--whole", type=Path, default=LISTS / "coverage.md", help="every row")
    given = parser.parse_args()
    rows = []
    for law in LAWS:
        for questions, replications in DESIGNS:
            rows.append(cell(law, questions, replications, runs=given.runs, seed=given.seed))
            print(*rows[-1], sep=" | ", flush=True)
    head = ["judge", "truth at 51", "votes needed", "questions", "replications",
            "before: false promise, %", "before: false never, %", "now: false promise, %",
            "right promise, %", "false never, %", "not known, %",
            *(f"limits of {k}: hold %, width" for k in LIMITED)]  # fmt: skip
    note = NOTE.format(runs=given.runs, seed=given.seed)
    write_section(given.out, given.whole, TITLE, f"{note}\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
