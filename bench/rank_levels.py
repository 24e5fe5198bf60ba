"""How often is a judge wrongly placed among equals, and how many that differ are distinguished?

    OMP_NUM_THREADS=1 python -m bench.rank_levels [--runs 150] [--seed 1] [--only SUBSTRING]

Five judges answer the same questions. Measures: the mean of one pass or fail a question;
Krippendorff's alpha of m passes or fails a question, whose chance of a pass is beta distributed
about the base rate with the alpha of the row, drawn once for all judges (shared) or for each (own);
Pearson's r of scores with a reference; alpha across two scales. "Wrongly placed": the 95 % interval
of a rank excludes ranks that are true (all of them: equal judges), in percent of the judges that
have an interval; beside it the share of runs with any such judge, and of judges flagged as resting
on few questions. Power: judges of means .9 to .5, or alphas .1 to .9; the share of ordered pairs
distinguished. Before: the largest of all resampled studentised differences. The error of a share of
judges is about sqrt(2.5) times that of independent ones: 1.3 points at 5 % of 5 x 150.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from judgerel_ray.stats import (
    correlation,
    count_statistic,
    count_terms,
    inter_scale_terms,
    rank_judges,
    scale_ratings,
)
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.intervals.interval import bootstrap_weights
from judgerel_ray.stats.intervals.question_statistic import QuestionStatistic, whole
from judgerel_ray.stats.ratings.ranking import Rank

Floats = NDArray[np.float64]
JUDGES = tuple("abcde")
MEANS, ALPHAS = (0.9, 0.8, 0.7, 0.6, 0.5), (0.1, 0.3, 0.5, 0.7, 0.9)
RESAMPLES = 500
ALPHA = count_statistic("krippendorff_alpha", n_values=2)
LAWS = {
    "mean": (0.5, True, 1),
    "alpha, shared": (0.5, True, 5),
    "alpha, own": (0.5, False, 5),
    "alpha, own, m = 2": (0.5, False, 2),
    "alpha, shared, 90/10": (0.9, True, 5),
    "alpha, own, 90/10": (0.9, False, 5),
    "alpha, own, 90/10, m = 2": (0.9, False, 2),
    "alpha, shared, 97/3": (0.97, True, 5),
    "alpha, own, 97/3": (0.97, False, 5),
    "Pearson's r": (0.5, True, 1),
    "across scales": (0.5, True, 1),
}


def measures(
    rng: np.random.Generator, law: str, n: int, levels: Sequence[float]
) -> list[QuestionStatistic]:
    """One measure of each judge on the same n questions, the levels as its truth."""
    base, shared, m = LAWS[law]
    if law == "mean":
        noise = rng.normal(size=(n, 1)) + rng.normal(size=(n, len(levels)))
        return [_mean(one) for one in (noise / np.sqrt(2) < ndtri(np.array(levels))).T]
    if law.startswith("alpha"):
        ranks = np.broadcast_to(rng.random((n, 1 if shared else len(levels))), (n, len(levels)))
        shape = (1 - np.array(levels)) / np.array(levels)
        chance = betaincinv(base * shape, (1 - base) * shape, ranks)
        passes = rng.binomial(m, chance)
        return [count_terms(np.stack([one, m - one], axis=1), ALPHA) for one in passes.T]
    truth, found = rng.normal(size=n), list[QuestionStatistic]()
    for level in levels:
        scores = level * truth[:, None] + np.sqrt(1 - level**2) * rng.normal(size=(n, 2))
        if law == "Pearson's r":
            found.append(correlation("pearson", scores[:, 0], truth, np.arange(n)))
        else:
            rated = [np.clip(np.rint(3 + one), 1, 5) for one in scores.T]
            found.append(inter_scale_terms(scale_ratings(rated, ranges=[(1, 5)] * 2)))
    return found


def _mean(hits: NDArray[np.bool_]) -> QuestionTerms:
    """A mean by question."""
    return QuestionTerms(
        name="mean",
        questions_C=np.arange(hits.size),
        terms_CT=np.stack([hits, np.ones(hits.size)], axis=1).astype(np.float64),
        value=lambda total: total[..., 0] / total[..., 1],
    )


def resampled_ends(found: Sequence[QuestionStatistic], n: int, seed: int) -> list[Rank]:
    """Ranks as they were: by the largest of all resampled studentised differences."""
    value = np.array([whole(one) for one in found])
    every = np.arange(n)
    drawn = np.concatenate(
        [
            np.stack(
                [one.at(weights[:, np.searchsorted(every, one.questions_C)]) for one in found],
                axis=1,
            )
            for weights in bootstrap_weights(n, n_resamples=RESAMPLES, seed=seed)
        ]
    )
    usable = ~np.isnan(value) & (np.isnan(drawn).mean(axis=0) <= 0.05)
    drawn = drawn[~np.isnan(drawn[:, usable]).any(axis=1)]
    n_valued, ranks = int((~np.isnan(value)).sum()), []
    for j, judge in enumerate(JUDGES):
        others = np.flatnonzero(usable & (np.arange(value.size) != j))
        if not usable[j] or not others.size:
            ranks.append(Rank(judge=judge, measure="m"))
            continue
        ahead = value[others] - value[j]
        spread = drawn[:, others] - drawn[:, [j]]
        sure = np.maximum(spread.std(axis=0), 1e-9)
        reach = max(1.0, np.quantile(np.abs((spread - ahead) / sure).max(axis=1), 0.95)) * sure
        low, high = 1 + int((ahead > reach).sum()), n_valued - int((ahead < -reach).sum())
        ranks.append(Rank(judge=judge, measure="m", value=value[j], low=low, high=high))
    return ranks


def cell(law: str, n: int, *, runs: int, seed: int, power: bool) -> str:
    """One row: of equal judges, or of judges that differ."""
    rng = np.random.default_rng([seed, n, list(LAWS).index(law), power])
    truth = (MEANS if law == "mean" else ALPHAS) if power else (0.7 if law == "mean" else 0.5,) * 5
    placed, anyone, flagged, given = np.zeros(2), np.zeros(2), 0, np.zeros(2)
    for run in range(runs):
        found = measures(rng, law, n, truth)
        now = rank_judges(JUDGES, {"m": found}, n_resamples=RESAMPLES, seed=run).ranks
        n_valued = sum(one.value is not None for one in now)
        for place, ranks in enumerate((resampled_ends(found, n, run), now)):
            bounded = [one for one in ranks if one.low is not None and one.high is not None]
            away = [one.low - 1 + n_valued - one.high for one in bounded]  # type: ignore[operator]
            placed[place] += sum(away) if power else np.count_nonzero(away)
            anyone[place] += any(away)
            given[place] += len(bounded) * (n_valued - 1 if power else 1)
        flagged += sum(one.few for one in now if one.low is not None)
    shares = 100 * placed / np.maximum(given, 1)
    if power:
        return f"| {law} | {n} | {shares[0]:.0f} | {shares[1]:.0f} |"
    before, after = (
        f"{share:.1f} ({100 * some / runs:.0f})" for share, some in zip(shares, anyone, strict=True)
    )
    none = 100 - 100 * given[1] / runs / 5
    return f"| {law} | {n} | {before} | {after} | {100 * flagged / given[1]:.0f} | {none:.0f} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="laws with this in their name")
    given = parser.parse_args()
    laws = [law for law in LAWS if given.only in law]
    print("| five equal judges | questions | wrongly placed before % (any) | as shipped | "
          "flagged % | no interval % |\n|---|---|---|---|---|---|")  # fmt: skip
    for law in laws:
        for n in (20, 55, 200, 500):
            print(cell(law, n, runs=given.runs, seed=given.seed, power=False), flush=True)
    print("\n| judges that differ | questions | distinguished before % | as shipped % |")
    print("|---|---|---|---|")
    for law in laws:
        for n in (20, 55, 200):
            print(cell(law, n, runs=given.runs // 3, seed=given.seed, power=True), flush=True)


if __name__ == "__main__":
    main()
