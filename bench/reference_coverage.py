"""Do intervals of agreement with a reference, and of ranks of judges, cover what is true?

    OMP_NUM_THREADS=1 python -m bench.reference_coverage [--runs 500] [--seed 1]

A judge's replications and the reference are normal with a known correlation, the judge 0.3 standard
deviations too kind; what Spearman's rho, Kendall's tau-b and both ICC are then is known in closed
form. Of ranks: six judges whose accuracies are close, or the same, on questions they share; an
interval covers where it holds one of the ranks its judge may claim, and all of them if all have to.
"""

from __future__ import annotations

import argparse
from math import asin, pi

import numpy as np

from judgerel_ray.stats import rank_judges, reference_agreement
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.ratings.correlations import CORRELATIONS

SHIFT = 0.3
JUDGES = {
    "all the same": (0.7,) * 6,
    "two groups": (0.8, 0.8, 0.8, 0.6, 0.6, 0.6),
    "close": (0.75, 0.73, 0.71, 0.69, 0.67, 0.65),
    "apart": (0.9, 0.8, 0.7, 0.6, 0.5, 0.4),
}


def truth(name: str, correlation: float) -> float:
    """Of two standard normal scores, one of them shifted."""
    return {
        "pearson": correlation,
        "spearman": 6 / pi * asin(correlation / 2),
        "kendall": 2 / pi * asin(correlation),
        "icc_consistency": correlation,
        "icc_agreement": correlation / (1 + SHIFT**2 / 2),
    }[name]


def references(items: int, correlation: float, *, runs: int, seed: int) -> None:
    """Print one row a coefficient: single replications, of which there are three."""
    rng = np.random.default_rng([seed, items, round(100 * correlation)])
    covered = dict.fromkeys(CORRELATIONS, 0)
    width = dict.fromkeys(CORRELATIONS, 0.0)
    for _ in range(runs):
        reference = rng.normal(size=items)
        noise = rng.normal(size=(items, 3)) * np.sqrt(1 - correlation**2)
        scores = correlation * reference[:, None] + noise + SHIFT
        for name in CORRELATIONS:
            single = reference_agreement(scores, reference, coefficient=name).single
            assert single.low is not None
            assert single.high is not None
            covered[name] += single.low <= truth(name, correlation) <= single.high
            width[name] += (single.high - single.low) / runs
    for name in CORRELATIONS:
        print(
            f"| {name} | {items} | {truth(name, correlation):.4f} | {covered[name]} of {runs} | "
            f"{100 * covered[name] / runs:.1f} | {width[name]:.3f} |",
            flush=True,
        )


def ranks(kind: str, questions: int, *, runs: int, seed: int) -> None:
    """Print how often the interval of a rank holds a rank that is true, of each and of all."""
    right = np.array(JUDGES[kind])
    least = 1 + (right > right[:, None] + 1e-9).sum(axis=1)
    most = (right >= right[:, None] - 1e-9).sum(axis=1)
    rng = np.random.default_rng([seed, questions])
    names = [str(j) for j in range(right.size)]
    whole, any_of, every, width = 0, 0, 0, 0.0
    for run in range(runs):
        ease = rng.normal(size=questions)[:, None]  # what makes a question easy is shared
        hits = (ease + rng.normal(size=(questions, right.size))) / np.sqrt(2) < _quantile(right)
        measures = [_mean(column.astype(np.float64)) for column in hits.T]
        found = rank_judges(names, {"accuracy": measures}, n_resamples=500, seed=run).ranks
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        holds = (low <= most) & (high >= least)
        any_of += int(holds.sum())
        every += bool(holds.all())
        whole += int(((low <= least) & (high >= most)).sum())
        width += float((high - low).mean()) / runs
    n = runs * right.size
    print(
        f"| {kind} | {questions} | {100 * any_of / n:.1f} | {100 * whole / n:.1f} | "
        f"{100 * every / runs:.1f} | {width:.2f} |",
        flush=True,
    )


def _quantile(share: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri

    return np.asarray(ndtri(share))


def _mean(hits: np.ndarray) -> QuestionTerms:
    """A mean by question."""
    return QuestionTerms(
        name="accuracy",
        questions_C=np.arange(hits.size),
        terms_CT=np.stack([hits, np.ones(hits.size)], axis=1),
        value=lambda total: total[..., 0] / total[..., 1],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| coefficient | items | truth | covered | % | mean width |")
    print("|---|---|---|---|---|---|")
    for items in (20, 40, 100):
        for correlation in (0.0, 0.5, 0.9):
            references(items, correlation, runs=given.runs, seed=given.seed)
    print("\n| judges | questions | a true rank % | all its true ranks % | all judges % | width |")
    print("|---|---|---|---|---|---|")
    for kind in JUDGES:
        for questions in (50, 200, 1000):
            ranks(kind, questions, runs=given.runs, seed=given.seed)


if __name__ == "__main__":
    main()
