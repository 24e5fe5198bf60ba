"""Do the intervals of selection cover what is true of answers whose law is known?

    OMP_NUM_THREADS=1 python -m bench.selection_coverage [--runs 400] [--seed 1] [--questions 50]

Two systems answer the same questions, once or four times each, and state one of six confidences. A
question is as hard for both: its replications, and the two, are right together more often than by
chance. The shipped functions give their intervals; truths are sums over the law. Prints one row a
size and number: how often the truth was covered and how wide it was; then how often pure noise,
and calibrated confidence, were called something else at .05, and how often a guarantee was broken.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats import auroc, learn_then_test, risk_coverage
from judgerel_ray.stats.intervals.shares import clustered_share
from judgerel_ray.stats.selective.calibration import brier_score, calibration_error
from judgerel_ray.stats.selective.discrimination import accuracy_floor, ranking_floor
from judgerel_ray.stats.selective.selective import accepted_errors
from judgerel_ray.stats.selective.systems import (
    checked_answers,
    equal_acceptance,
    paired_accuracy,
)

Floats = NDArray[np.float64]
LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
OFTEN = np.array([0.1, 0.1, 0.2, 0.2, 0.25, 0.15])
ACCURACY = (
    np.array([0.35, 0.45, 0.55, 0.65, 0.75, 0.85]),
    np.array([0.45, 0.5, 0.6, 0.75, 0.85, 0.95]),
)
SPREAD = 0.25  # how far questions of one confidence differ in how hard they are
RESAMPLES = 400
RISK, DELTA = 0.25, 0.1
Told = tuple[float | None, float | None, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers of one system."""

    scores: Floats
    right: NDArray[np.bool_]
    questions: NDArray[np.intp]


def drawn(rng: np.random.Generator, n: int, m: int) -> tuple[Answers, Answers]:
    """Two systems on n questions, m replications each; a question's confidence is one."""
    questions = np.repeat(np.arange(n), m)
    easier = rng.choice([-1.0, 1.0], size=n) * SPREAD
    sides = []
    for accuracy in ACCURACY:
        level = rng.choice(LEVELS.size, size=n, p=OFTEN)
        # Half of the questions are easier, half harder: the mean is that of the level.
        room = np.minimum(accuracy[level], 1 - accuracy[level])
        chance = accuracy[level] + easier * np.minimum(1.0, room / SPREAD)
        right = rng.random(n * m) < chance[questions]
        sides.append(Answers(scores=LEVELS[level][questions], right=right, questions=questions))
    return sides[0], sides[1]


def risks(accuracy: Floats) -> tuple[Floats, Floats]:
    """Share accepted and share wrong, at each level downwards."""
    often, wrong = OFTEN[::-1], (OFTEN * (1 - accuracy))[::-1]
    return np.cumsum(often), np.cumsum(wrong) / np.cumsum(often)


def risk_at(accuracy: Floats, share: float) -> float:
    """Share wrong of a share accepted, ties taken at random."""
    accepted, risk = risks(accuracy)
    whole = np.interp(share, np.append(0, accepted), np.append(0, accepted * risk))
    return float(whole / share)


def truths() -> dict[str, float]:
    """What is true of infinitely many questions."""
    first, second = ACCURACY
    right, wrong = OFTEN * first, OFTEN * (1 - first)
    above = np.array([right[k] * (wrong[:k].sum() + wrong[k] / 2) for k in range(LEVELS.size)])
    grid = (np.arange(200_000) + 0.5) / 200_000
    shares = [round(0.05 * k, 2) for k in range(1, 21)]
    return {
        "accuracy": float(right.sum()),
        "error from .8": float(risks(first)[1][2]),
        "AUROC": float(above.sum() / right.sum() / wrong.sum()),
        "AURC": float(np.mean([risk_at(first, c) for c in grid[::50]])),
        "Brier": float((OFTEN * (first * (1 - LEVELS) ** 2 + (1 - first) * LEVELS**2)).sum()),
        "accuracy, second - first": float((OFTEN * (second - first)).sum()),
        "error at half accepted, second - first": risk_at(second, 0.5) - risk_at(first, 0.5),
        "mean error, second - first": float(
            np.mean([risk_at(second, c) - risk_at(first, c) for c in shares])
        ),
    }


def intervals_of(first: Answers, second: Answers, m: int, seed: int) -> Iterator[tuple[str, Told]]:
    """Every interval of one run."""
    truth = truths()
    clusters = first.questions
    share = clustered_share(first.right, clusters_N=clusters)
    yield "accuracy", (share.low, share.high, truth["accuracy"])
    wrong = clustered_share(
        ~first.right[first.scores >= 0.8], clusters_N=clusters[first.scores >= 0.8]
    )
    yield "error from .8", (wrong.low, wrong.high, truth["error from .8"])
    ranking = auroc(first.scores, first.right, clusters_N=clusters)
    yield "AUROC", (ranking.low, ranking.high, truth["AUROC"])
    area = risk_coverage(first.scores, first.right, clusters_N=clusters)
    yield "AURC", (area.low, area.high, truth["AURC"])
    brier = brier_score(first.scores, first.right, clusters_N=clusters)
    yield "Brier", (brier.low, brier.high, truth["Brier"])
    means = [np.bincount(one.questions, weights=one.right) / m for one in (first, second)]
    pair = paired_accuracy(*means)
    yield "accuracy, second - first", (pair.low, pair.high, truth["accuracy, second - first"])
    equal = equal_acceptance(
        *(checked_answers(one.scores, one.right, one.questions) for one in (first, second)),
        n_resamples=RESAMPLES, seed=seed,
    )  # fmt: skip
    half = int(np.argmin(np.abs(equal.acceptance_G - 0.5)))
    name = "error at half accepted, second - first"
    yield name, (float(equal.low_G[half]), float(equal.high_G[half]), truth[name])
    name = "mean error, second - first"
    yield name, (equal.mean_low, equal.mean_high, truth[name])


def bands(first: Answers) -> Iterator[tuple[str, bool, float]]:
    """Whether each band holds at all thresholds together, and how wide it is at half accepted."""
    true = dict(zip(LEVELS[::-1].tolist(), risks(ACCURACY[0])[1].tolist(), strict=True))
    singles = np.unique(first.questions).size == first.questions.size
    for band in ("bonferroni", "dkw") if singles else ("bonferroni",):
        found = accepted_errors(
            first.scores, first.right, clusters_N=first.questions,
            band="dkw" if band == "dkw" else "bonferroni",
        )  # fmt: skip
        risk = np.array([true[one] for one in found.thresholds_T.tolist()])
        holds = bool(((found.band_low_T <= risk) & (risk <= found.band_high_T)).all())
        half = int(np.argmin(np.abs(found.acceptance_T - 0.5)))
        yield band, holds, float(found.band_high_T[half] - found.band_low_T[half])


def broken(first: Answers) -> bool | None:
    """Whether a guaranteed threshold has more than its risk; None where none was found."""
    found = learn_then_test(
        first.scores, first.right, risk=RISK, delta=DELTA, clusters_N=first.questions
    )
    if found.threshold is None:
        return None
    place = int(np.searchsorted(LEVELS, found.threshold))
    return float(risks(ACCURACY[0])[1][LEVELS.size - 1 - place]) > RISK


def false_alarms(rng: np.random.Generator, n: int, m: int) -> tuple[bool, bool, bool]:
    """Whether noise was called accuracy, noise a ranking, and calibrated confidence not so."""
    gold, verdicts = rng.integers(0, 4, size=(2, n))
    questions = np.repeat(np.arange(n), m)
    # A question's replications give one verdict, or any other.
    kept = rng.random(n * m) < 0.6
    given = np.where(kept, verdicts[questions], rng.integers(0, 4, n * m))
    accuracy = accuracy_floor(given, questions, gold)
    scores = rng.choice(LEVELS, size=n)[questions]
    right = (rng.random(n) < 0.6)[questions] ^ (rng.random(n * m) < 0.2)
    ranking = ranking_floor(scores, right, clusters_N=questions)
    calibrated = rng.random(n)[questions] < scores
    error = calibration_error(scores, calibrated, clusters_N=questions)
    return tuple(p is not None and p < 0.05 for p in (accuracy.p, ranking.p, error.p))  # type: ignore[return-value]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, nargs="+", default=[50, 200, 600])
    parsed = parser.parse_args()
    for n in parsed.questions:
        for m in (1, 4):
            rng = np.random.default_rng((parsed.seed, n, m))
            held: dict[str, list[bool]] = {}
            width: dict[str, list[float]] = {}
            guarantees, alarms = [], []
            for run in range(parsed.runs):
                first, second = drawn(rng, n, m)
                for name, (low, high, truth) in intervals_of(first, second, m, run):
                    if low is not None and high is not None:
                        held.setdefault(name, []).append(low <= truth <= high)
                        width.setdefault(name, []).append(high - low)
                for band, holds, wide in bands(first):
                    held.setdefault(f"band, {band}", []).append(holds)
                    width.setdefault(f"band, {band}", []).append(wide)
                guarantees.append(broken(first))
                alarms.append(false_alarms(rng, n, m))
            print(f"{n} questions, {m} replications, {parsed.runs} runs")
            for name, hits in held.items():
                coverage_text = f"{100 * np.mean(hits):5.1f} %  width {np.mean(width[name]):.3f}"
                lost = parsed.runs - len(hits)
                print(f"  {name:40s} {coverage_text}" + (f"  none in {lost}" if lost else ""))
            found = [one for one in guarantees if one is not None]
            print(f"  guarantee broken {100 * sum(found) / parsed.runs:.1f} % of runs, "
                  f"found in {len(found)}")  # fmt: skip
            names = ("accuracy", "ranking", "calibrated")
            rates = 100 * np.mean(np.array(alarms, dtype=float), axis=0)
            rates_text = ", ".join(f"{a} {r:.1f} %" for a, r in zip(names, rates, strict=True))
            print(f"  called otherwise at .05: {rates_text}")


if __name__ == "__main__":
    main()
