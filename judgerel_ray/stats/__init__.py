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
    brennan_prediger,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    percent_agreement,
    valid_rate,
)
from judgerel_ray.stats.bootstrap import bootstrap_interval
from judgerel_ray.stats.catalogue import count_statistic
from judgerel_ray.stats.certainty import entropy_agreement, total_agreement
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.coefficients import COEFFICIENTS, DEFAULT_COEFFICIENTS
from judgerel_ray.stats.column_noise import column_noise_floor
from judgerel_ray.stats.consistency import item_interval, item_values
from judgerel_ray.stats.counts import Counts, counts_from_ratings
from judgerel_ray.stats.interval import Interval, clopper_pearson, jackknife_interval
from judgerel_ray.stats.intraclass import icc, icc1, icc_from_moments, icck
from judgerel_ray.stats.krippendorff import LEVELS, Level, krippendorff_alpha
from judgerel_ray.stats.majority import majority_probabilities, majority_stability
from judgerel_ray.stats.moments import moment_floor, moment_statistic, moments_from_scores
from judgerel_ray.stats.noise import NoiseFloor, noise_floor, noise_floors
from judgerel_ray.stats.omega import Omega, mcdonald_omega
from judgerel_ray.stats.omega_bootstrap import OmegaResamples, omega_bootstrap
from judgerel_ray.stats.schmid_leiman import omega_from_correlation, omega_hierarchical
from judgerel_ray.stats.scores import cronbach_alpha
from judgerel_ray.stats.statistic import CountStatistic, measure

__all__ = [
    "COEFFICIENTS",
    "DEFAULT_COEFFICIENTS",
    "LEVELS",
    "Coefficient",
    "CountStatistic",
    "Counts",
    "Interval",
    "Level",
    "NoiseFloor",
    "Omega",
    "OmegaResamples",
    "bootstrap_interval",
    "brennan_prediger",
    "clopper_pearson",
    "column_noise_floor",
    "count_statistic",
    "counts_from_ratings",
    "cronbach_alpha",
    "entropy_agreement",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac1",
    "icc",
    "icc1",
    "icc_from_moments",
    "icck",
    "item_interval",
    "item_values",
    "jackknife_interval",
    "krippendorff_alpha",
    "majority_probabilities",
    "majority_stability",
    "mcdonald_omega",
    "measure",
    "moment_floor",
    "moment_statistic",
    "moments_from_scores",
    "noise_floor",
    "noise_floors",
    "omega_bootstrap",
    "omega_from_correlation",
    "omega_hierarchical",
    "percent_agreement",
    "total_agreement",
    "valid_rate",
]
