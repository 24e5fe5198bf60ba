"""Do the intervals of ratings cover what is true of a judge whose latent score and noise are known?

    OMP_NUM_THREADS=1 python -m bench.rating_coverage [--runs 500] [--seed 1] [--items 40 100 1000]

A simulated judge (bench/rating_truths.py) is asked about each item five times on all four scales;
the shipped functions give their intervals; truths are integrals, not simulations. Prints one row a
noise, number of items and number: the truth, how many of the runs covered it, how wide it was, and
in how many runs the interval was flagged as resting on few questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

import numpy as np

from bench.rating_truths import (
    SCALES,
    Floats,
    RatingJudge,
    case,
    consistency,
    disattenuated,
    pearson,
    shift,
)
from judgerel_ray.stats import (
    SCALE_CASES,
    Estimate,
    Interval,
    count_statistic,
    counts_from_ratings,
    disattenuated_alpha,
    inter_scale_interval,
    jackknife_interval,
    reference_agreement,
    scale_ratings,
    scale_shift,
)
from judgerel_ray.stats.agreement.krippendorff import alpha_statistic

REPLICATIONS = 5
NOISES = (0.05, 0.15, 0.3)
Told = tuple[float | None, float | None, bool]


def of(found: Interval | Estimate) -> Told:
    """Ends and flag."""
    few = found.few_informative if isinstance(found, Interval) else found.few_questions
    return found.low, found.high, few


def own_interval(scores: Floats, name: str) -> Interval:
    """The interval of a scale's own consistency, as `reduce` makes it."""
    counts, values = counts_from_ratings(scores)
    level = SCALES[name].level
    if len(values) < 2:
        return Interval(undefined="undefined")
    if level == "nominal":
        return jackknife_interval(counts, count_statistic("krippendorff_alpha", n_values=2))
    return jackknife_interval(
        counts, alpha_statistic(n_values=len(values), values=values, level=level)
    )


def intervals_of(scores: Mapping[str, Floats], latent: Floats) -> Iterator[tuple[str, Told]]:
    """Every interval of one run, by name."""
    for name, one in scores.items():
        yield f"alpha {name}", of(own_interval(one, name))
    for name, chosen in SCALE_CASES.items():
        ratings = scale_ratings(
            [scores[one] for one in chosen.scales],
            ranges=[(SCALES[one].lowest, SCALES[one].highest) for one in chosen.scales],
            mapping=chosen.mapping, level=chosen.level, tie=chosen.tie,
        )  # fmt: skip
        yield f"inter-scale {name}", of(inter_scale_interval(ratings))
        yield f"disattenuated {name}", of(disattenuated_alpha(ratings))
        if name == "lee2025_case2":
            yield f"shift {name}", of(scale_shift(ratings))
    found = reference_agreement(scores["points5"], latent)
    yield "pearson of one, points5", of(found.single)
    yield "pearson of five, points5", of(found.averaged)
    yield "pearson gain, points5", (found.gain.low, found.gain.high, False)


def truths(judge: RatingJudge) -> dict[str, float]:
    """What is true of infinitely many items, by the same names."""
    one, five = (pearson(judge, SCALES["points5"], averaged=k) for k in (1, REPLICATIONS))
    return {
        **{f"alpha {name}": consistency(judge, scale) for name, scale in SCALES.items()},
        **{f"inter-scale {name}": case(judge, name) for name in SCALE_CASES},
        **{f"disattenuated {name}": disattenuated(judge, name) for name in SCALE_CASES},
        "shift lee2025_case2": shift(judge, SCALES["points5"], SCALES["likert5"]),
        "pearson of one, points5": one,
        "pearson of five, points5": five,
        "pearson gain, points5": five - one,
    }


def cell(noise: float, items: int, *, runs: int, seed: int) -> Iterator[str]:
    """Rows of one noise and number of items."""
    judge = RatingJudge(noise=noise)
    rng = np.random.default_rng([seed, items, round(1000 * noise)])
    every: dict[str, list[Told]] = {}
    for _ in range(runs):
        latent = rng.uniform(size=items)
        scores = {
            name: judge.replies(latent, scale, replications=REPLICATIONS, rng=rng)
            for name, scale in SCALES.items()
        }
        for name, ends in intervals_of(scores, latent):
            every.setdefault(name, []).append(ends)
    for name, truth in truths(judge).items():
        given = [(low, high, few) for low, high, few in every[name] if low is not None]
        covered = sum(low <= truth <= high for low, high, _ in given)
        width = float(np.mean([high - low for low, high, _ in given])) if given else float("nan")
        flagged = sum(few for *_, few in given)
        yield (
            f"| {noise} | {items} | {name} | {truth:.4f} | {covered} of {len(given)} | "
            f"{100 * covered / max(1, len(given)):.1f} | {width:.3f} | {flagged} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--items", type=int, nargs="+", default=[40, 100, 1000])
    given = parser.parse_args()
    print("| noise | items | number | truth | covered | % | mean width | flagged |")
    print("|---|---|---|---|---|---|---|---|")
    for noise in NOISES:
        for items in given.items:
            for row in cell(noise, items, runs=given.runs, seed=given.seed):
                print(row, flush=True)


if __name__ == "__main__":
    main()
