"""Nominal alpha against the package `krippendorff`, on the same counts in the same process.

    python bench/against_krippendorff.py [--units 200_000] [--rounds 5]

Anchor: `krippendorff.alpha(value_counts=...)`, the value alone. The package twice: the value alone,
and with interval and noise floor. Rounds take turns; prints medians, ratios and the largest
difference of the values at every level of measurement.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import datetime

import krippendorff
import numpy as np

from judgerel_ray.stats import (
    LEVELS,
    count_statistic,
    jackknife_interval,
    krippendorff_alpha,
    noise_floor,
)

VALUES = (1, 2, 3, 4, 5)


def made(units: int, replications: int) -> np.ndarray:
    """Dirichlet-multinomial counts, alpha 1/3."""
    rng = np.random.default_rng(0)
    return rng.multinomial(replications, rng.dirichlet(np.full(5, 0.4), size=units))


def seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=200_000)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    counts = made(given.units, given.replications)
    statistic = count_statistic("krippendorff_alpha", n_values=5)

    def reference_alpha(level: str) -> float:
        return krippendorff.alpha(
            value_counts=counts, value_domain=VALUES, level_of_measurement=level
        )

    def whole() -> None:
        krippendorff_alpha(counts)
        jackknife_interval(counts, statistic)
        noise_floor(counts, statistic)

    acts: dict[str, Callable[[], object]] = {
        "krippendorff": lambda: reference_alpha("nominal"),
        "judgerel, value": lambda: krippendorff_alpha(counts),
        "judgerel, with interval and floor": whole,
    }
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(given.rounds):
        for name, act in acts.items():
            taken[name].append(seconds(act))
    anchor = statistics.median(taken["krippendorff"])
    print(f"{datetime.now():%Y-%m-%d}: {given.units:,} units x {given.replications}, 5 values")
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:30} {1000 * median:8.1f} ms  {anchor / median:6.1f} x")
    far = max(
        abs(krippendorff_alpha(counts, values=VALUES, level=level).value - reference_alpha(level))
        for level in LEVELS
    )
    print(f"largest difference at {', '.join(LEVELS)}: {far:.1e}")


if __name__ == "__main__":
    main()
