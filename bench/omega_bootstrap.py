"""Omega of resamples: all at once, against one fit after another of other packages.

    python bench/omega_bootstrap.py [--items 10] [--subjects 200] [--resamples 2000] [--fits 20]

Anchors, a few fits each: factor_analyzer's one-factor minres, and reliabilipy's omega (three
factors by factor_analyzer and Schmid-Leiman: another and dearer fit; left out where it is not
installed). The package: one factor by minres of every resample, drawing included; and one
three-factor fit with Schmid-Leiman. All take turns; prints time a fit and ratios.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from datetime import datetime

import numpy as np
from factor_analyzer import FactorAnalyzer

from judgerel_ray.stats import omega_bootstrap, omega_from_correlation
from judgerel_ray.stats.internal_consistency.schmid_leiman import omegas_from_correlations

AT_ONCE = 100  # as many as an interval or a floor fits together


def made(subjects: int, items: int) -> np.ndarray:
    """Three groups of items under one general factor."""
    rng = np.random.default_rng(0)
    group = np.arange(items) % 3
    shared = rng.normal(size=(subjects, 1)) + 0.7 * rng.normal(size=(subjects, 3))[:, group]
    return shared + rng.normal(size=(subjects, items))


def seconds(act: Callable[[np.ndarray], object], scores: np.ndarray) -> float:
    begun = time.perf_counter()
    act(scores)
    return time.perf_counter() - begun


def one_factor(scores: np.ndarray) -> None:
    FactorAnalyzer(1, rotation=None, method="minres").fit(scores)


def three_factors(scores: np.ndarray) -> None:
    omega_from_correlation(np.corrcoef(scores.T))


def three_factors_at_once(scores: np.ndarray) -> None:
    drawn = np.random.default_rng(2).integers(0, len(scores), (AT_ONCE, len(scores)))
    omegas_from_correlations(np.array([np.corrcoef(scores[rows].T) for rows in drawn]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=10)
    parser.add_argument("--subjects", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--fits", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)
    scores = made(given.subjects, given.items)

    def at_once(scores: np.ndarray) -> None:
        omega_bootstrap(scores, n_resamples=given.resamples)

    acts: dict[str, Callable[[np.ndarray], object]] = {
        f"judgerel, one factor, {given.resamples} at once": at_once,
        "factor_analyzer, one factor": one_factor,
        "judgerel, three factors, one by one": three_factors,
        f"judgerel, three factors, {AT_ONCE} at once": three_factors_at_once,
    }
    try:
        from reliabilipy import reliability_analysis
    except ImportError:
        print("reliabilipy is not installed")
    else:

        def reliabilipy(scores: np.ndarray) -> None:
            import pandas as pd

            reliability_analysis(raw_dataset=pd.DataFrame(scores), is_corr_matrix=False).fit()

        acts["reliabilipy, three factors"] = reliabilipy
    at_once_name, *_ = acts
    rng = np.random.default_rng(1)
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(given.fits + 1):
        resample = scores[rng.integers(0, len(scores), len(scores))]
        for name, act in acts.items():
            n = {
                at_once_name: given.resamples,
                f"judgerel, three factors, {AT_ONCE} at once": AT_ONCE,
            }.get(name, 1)
            taken[name].append(seconds(act, resample) / n)
    print(f"{datetime.now():%Y-%m-%d}: {given.subjects} subjects x {given.items} items, us a fit")
    for name, times in taken.items():
        # The first of each is a rehearsal.
        medians = [statistics.median(rows[1:]) for rows in (times, taken[at_once_name])]
        least = [min(rows[1:]) for rows in (times, taken[at_once_name])]
        print(
            f"{name:34} median {1e6 * medians[0]:8.1f} = {medians[0] / medians[1]:5.0f} x, "
            f"least {1e6 * least[0]:8.1f} = {least[0] / least[1]:5.0f} x"
        )


if __name__ == "__main__":
    main()
