"""Numbers: coefficients of agreement, their intervals and their noise floors.

Arrays in, frozen values out; imports NumPy and SciPy only, and knows no frames, files or logs.
Degenerate data never raise: what has no value says why. Statistics never round.

Examples
--------
>>> from judgerel_ray.stats import counts_from_ratings, krippendorff_alpha
>>> counts, values = counts_from_ratings([["A", "A"], ["B", "B"], ["A", "B"]])
>>> round(krippendorff_alpha(counts).value, 3)
0.444
"""

from judgerel_ray.stats.agreement import (
    COEFFICIENTS,
    brennan_prediger,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    percent_agreement,
    valid_rate,
)
from judgerel_ray.stats.catalogue import count_statistic
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.counts import Counts, counts_from_ratings
from judgerel_ray.stats.interval import Interval, clopper_pearson, jackknife_interval
from judgerel_ray.stats.krippendorff import LEVELS, Level, krippendorff_alpha
from judgerel_ray.stats.noise import NoiseFloor, noise_floor, noise_floors
from judgerel_ray.stats.statistic import CountStatistic, measure

__all__ = [
    "COEFFICIENTS",
    "LEVELS",
    "Coefficient",
    "CountStatistic",
    "Counts",
    "Interval",
    "Level",
    "NoiseFloor",
    "brennan_prediger",
    "clopper_pearson",
    "count_statistic",
    "counts_from_ratings",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac1",
    "jackknife_interval",
    "krippendorff_alpha",
    "measure",
    "noise_floor",
    "noise_floors",
    "percent_agreement",
    "valid_rate",
]
