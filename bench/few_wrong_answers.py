"""Do the intervals of AUROC and AURC cover the truth where few answers are wrong?

    OMP_NUM_THREADS=1 python -m bench.few_wrong_answers [--runs 500] [--seed 1]

Answers state one of six confidences, cut from two normal distributions whose distance sets the
AUROC; the number of wrong answers is random about the one of the row. With four replications a
question's answers share its confidence, and all errors fall on every other question. Prints, per
row and number, how often its interval covers the truth, its mean width, and in how many runs there
is none: before (the normal quantile of DeLong's error with one sample size for both kinds of
answers; percentiles of resampled areas), and as shipped. Runs without a wrong answer have neither
number and are left out. The binomial error of a true 95 % is 1 point over 500 runs.
"""

from __future__ import annotations

import argparse
import sys
from statistics import NormalDist
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, ndtr, stdtrit

from judgerel_ray.stats import auroc, risk_coverage
from judgerel_ray.stats.selective.systems import checked_answers, equal_acceptance

Floats = NDArray[np.float64]
Ends = tuple[float | None, float | None]
CUTS = np.array([-1.28, -0.84, -0.25, 0.25, 1.04])
WRONG = ((50, 2), (50, 5), (50, 9), (50, 18), (200, 5), (200, 9), (200, 18), (200, 60))
RESAMPLES = 400


def law(area: float, error: float) -> tuple[Floats, Floats]:
    """Share of right and of wrong answers at each confidence, upwards; both together sum to 1."""
    apart = NormalDist().inv_cdf(area) * 2**0.5
    cuts = CUTS + apart
    wrong, right = (np.diff([0.0, *ndtr(cuts - mean), 1.0]) for mean in (0.0, apart))
    return right * (1 - error), wrong * error


def truths(right: Floats, wrong: Floats) -> tuple[float, float]:
    """AUROC and AURC of infinitely many answers."""
    ranked = float(right @ (np.cumsum(wrong) - wrong / 2) / right.sum() / wrong.sum())
    accepted, errors = (np.cumsum(one[::-1]) for one in (right + wrong, wrong))
    share = (np.arange(200_000) + 0.5) / 200_000
    risk = np.interp(share, np.append(0, accepted), np.append(0, errors)) / share
    return ranked, float(risk.mean())


def drawn(
    rng: np.random.Generator, right: Floats, wrong: Floats, n: int, m: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Confidences of n questions, and which of their m answers each are right, (n, m)."""
    level = rng.choice(right.size, size=n, p=right + wrong)
    chance = (wrong / (right + wrong))[level]
    if m > 1:  # a question is wrong twice as often as others of its confidence, or never
        spread = np.minimum(chance, 1 - chance)
        chance = chance + spread * rng.choice([-1.0, 1.0], size=n)
    return level, rng.random((n, m)) >= chance[:, None]


def normal_ends(levels: NDArray[np.intp], is_right: NDArray[np.bool_], m: int) -> Ends:
    """DeLong's error as one sum over questions, and the normal quantile."""
    x, y = (np.bincount(levels[kind], minlength=6) for kind in (is_right, ~is_right))
    n_right, n_wrong = x.sum(), y.sum()
    above = (np.cumsum(y) - y / 2) / n_wrong
    below = 1 - (np.cumsum(x) - x / 2) / n_right
    value = float(x @ above / n_right)
    places = np.where(is_right, (above - value)[levels] / n_right, 0.0)
    places += np.where(is_right, 0.0, (below - value)[levels] / n_wrong)
    sums = places.reshape(-1, m).sum(axis=1)
    error = float(np.sqrt((sums**2).sum() * sums.size / (sums.size - 1)))
    if not 0 < value < 1 or error < 1e-12:
        return None, None
    reach, centre = 1.959964 * error / (value * (1 - value)), np.log(value / (1 - value))
    low, high = (float(1 / (1 + np.exp(-centre - one))) for one in (-reach, reach))
    return low, high


def percentile_ends(
    rng: np.random.Generator, levels: NDArray[np.intp], is_right: NDArray[np.bool_], m: int
) -> Ends:
    """Percentiles of the areas of resampled questions, further out for few of them."""
    n = levels.size // m
    cells = np.zeros((2, n, 6))
    question = np.arange(levels.size) // m
    np.add.at(cells[0], (question, 5 - levels), 1.0)
    np.add.at(cells[1], (question, 5 - levels), ~is_right)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    at, wrong = weights @ cells[0], weights @ cells[1]
    upto, errors = np.cumsum(at, axis=1), np.cumsum(wrong, axis=1)
    pace = wrong / np.where(at > 0, at, 1)
    harmonic = digamma(upto + 1) - digamma(upto - at + 1)
    areas = ((errors - wrong - pace * (upto - at)) * harmonic + wrong).sum(axis=1) / upto[:, -1]
    tail = float(ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.975)))
    low, high = np.quantile(areas, [tail, 1 - tail])
    return (None, None) if high - low < 1e-12 else (float(low), float(high))


def cell(area: float, n: int, wrong: int, m: int, *, runs: int, seed: int) -> str:
    """One row of the table."""
    rng = np.random.default_rng([seed, round(1000 * area), n, wrong, m])
    shares = law(area, wrong / n)
    truth = truths(*shares)
    found: dict[str, list[tuple[Ends, float]]] = {}
    questions, n_wrong = np.repeat(np.arange(n), m), []
    for _ in range(runs):
        level, right = drawn(rng, *shares, n, m)
        level, right = np.repeat(level, m), right.ravel()
        if right.all():
            continue
        n_wrong.append(int((~right).sum()))
        now = auroc(level, right, clusters_N=questions)
        curve = risk_coverage(level, right, clusters_N=questions)
        for name, ends, true in (
            ("auroc before", normal_ends(level, right, m), truth[0]),
            ("auroc", (now.low, now.high), truth[0]),
            ("aurc before", percentile_ends(rng, level, right, m), truth[1]),
            ("aurc", (curve.low, curve.high), truth[1]),
        ):
            found.setdefault(name, []).append((ends, true))
    cells = [f"{n} x {m}", f"{np.mean(n_wrong):.0f}", f"{truth[0]:.2f}", f"{truth[1]:.3f}"]
    for pairs in found.values():
        known = [(*ends, true) for ends, true in pairs if ends[0] is not None]
        low, high, true = np.array(known, dtype=float).T
        held, lost = 100 * ((low <= true) & (true <= high)).mean(), len(pairs) - len(known)
        cells.append(f"{held:.1f}, {(high - low).mean():.3f}" + (f", none {lost}" if lost else ""))
    return f"| {' | '.join(cells)} |"


def alarms(area: float, n: int, wrong: int, *, runs: int, seed: int) -> str:
    """One row of the table of two systems of one law."""
    rng = np.random.default_rng([seed, round(1000 * area), n, wrong])
    shares = law(area, wrong / n)
    found = np.zeros(2)
    for run in range(runs):
        sides = [
            checked_answers(level, right.ravel())
            for level, right in (drawn(rng, *shares, n, 1) for _ in range(2))
        ]
        with patch.object(sys.modules[equal_acceptance.__module__], "_n_deciding", return_value=n):
            before = equal_acceptance(*sides, n_resamples=RESAMPLES, seed=run)
        now = equal_acceptance(*sides, n_resamples=RESAMPLES, seed=run)
        found += [one.p is not None and one.p < 0.05 for one in (before, now)]
    shares = " | ".join(f"{100 * one / runs:.1f}" for one in found)
    return f"| {n} | {wrong} | {area:.2f} | {shares} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| questions x replications | wrong | AUROC | AURC | AUROC before: covered %, width |"
          " AUROC | AURC before | AURC |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for m, cells in ((1, WRONG), (4, ((50, 2), (50, 9), (200, 5), (200, 18)))):
        for area in (0.6, 0.75, 0.9):
            for n, wrong in cells:
                row = cell(area, n, wrong, m, runs=given.runs, seed=given.seed)
                print(row, flush=True)
    print("\n| questions | wrong of each | AUROC | distinguished before % | as shipped % |")
    print("|---|---|---|---|---|")
    for area in (0.6, 0.9):
        for n, wrong in WRONG[:-1]:
            print(alarms(area, n, wrong, runs=given.runs, seed=given.seed), flush=True)


if __name__ == "__main__":
    main()
