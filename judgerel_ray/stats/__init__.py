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

from importlib import import_module
from typing import TYPE_CHECKING

from judgerel_ray.stats.agreement import (
    brennan_prediger,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    percent_agreement,
    valid_rate,
)
from judgerel_ray.stats.catalogue import count_statistic
from judgerel_ray.stats.certainty import entropy_agreement, total_agreement
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.coefficients import COEFFICIENTS, DEFAULT_COEFFICIENTS
from judgerel_ray.stats.column_noise import column_noise_floor
from judgerel_ray.stats.consistency import item_interval, item_values
from judgerel_ray.stats.counts import Counts, counts_from_ratings
from judgerel_ray.stats.inference import bootstrap_interval, jackknife_interval, noise_floor
from judgerel_ray.stats.interval import Interval, clopper_pearson
from judgerel_ray.stats.intraclass import icc, icc1, icc_from_moments, icck
from judgerel_ray.stats.krippendorff import LEVELS, Level, krippendorff_alpha
from judgerel_ray.stats.majority import majority_probabilities, majority_stability
from judgerel_ray.stats.moments import moment_floor, moment_statistic, moments_from_scores
from judgerel_ray.stats.noise import NoiseFloor, noise_floors
from judgerel_ray.stats.omega import Omega, mcdonald_omega
from judgerel_ray.stats.omega_bootstrap import OmegaResamples, omega_bootstrap
from judgerel_ray.stats.schmid_leiman import omega_from_correlation, omega_hierarchical
from judgerel_ray.stats.scores import cronbach_alpha
from judgerel_ray.stats.statistic import CountStatistic, measure

if TYPE_CHECKING:  # named here, loaded when first used: coefficients of a file need none of them
    from judgerel_ray.stats.budget import BudgetSplit, budget_splits
    from judgerel_ray.stats.correctness import CORRECTNESS, correctness_statistic
    from judgerel_ray.stats.dstudy import Dependability, dependability, judgments_for
    from judgerel_ray.stats.facet_cells import FacetCells, label_cells, score_cells
    from judgerel_ray.stats.mcnemar import mcnemar_exact
    from judgerel_ray.stats.order_effects import ORDER_EFFECTS, order_effect, position_bias
    from judgerel_ray.stats.paired import Difference, benjamini_hochberg, holm, paired_difference
    from judgerel_ray.stats.panel import EffectiveJudges, PanelStep, effective_judges, panel_steps
    from judgerel_ray.stats.precision import AlphaPrecision, alpha_precision
    from judgerel_ray.stats.replications import replications_for, spearman_brown
    from judgerel_ray.stats.variance_components import (
        VarianceComponent,
        VarianceComponents,
        variance_components,
    )
    from judgerel_ray.stats.verdict_shares import (
        MajorityVote,
        drawn_together,
        majority_vote,
        supported_shares,
    )

__all__ = [
    "COEFFICIENTS",
    "CORRECTNESS",
    "DEFAULT_COEFFICIENTS",
    "LEVELS",
    "ORDER_EFFECTS",
    "AlphaPrecision",
    "BudgetSplit",
    "Coefficient",
    "CountStatistic",
    "Counts",
    "Dependability",
    "Difference",
    "EffectiveJudges",
    "FacetCells",
    "Interval",
    "Level",
    "MajorityVote",
    "NoiseFloor",
    "Omega",
    "OmegaResamples",
    "PanelStep",
    "VarianceComponent",
    "VarianceComponents",
    "alpha_precision",
    "benjamini_hochberg",
    "bootstrap_interval",
    "brennan_prediger",
    "budget_splits",
    "clopper_pearson",
    "column_noise_floor",
    "correctness_statistic",
    "count_statistic",
    "counts_from_ratings",
    "cronbach_alpha",
    "dependability",
    "drawn_together",
    "effective_judges",
    "entropy_agreement",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac1",
    "holm",
    "icc",
    "icc1",
    "icc_from_moments",
    "icck",
    "item_interval",
    "item_values",
    "jackknife_interval",
    "judgments_for",
    "krippendorff_alpha",
    "label_cells",
    "majority_probabilities",
    "majority_stability",
    "majority_vote",
    "mcdonald_omega",
    "mcnemar_exact",
    "measure",
    "moment_floor",
    "moment_statistic",
    "moments_from_scores",
    "noise_floor",
    "noise_floors",
    "omega_bootstrap",
    "omega_from_correlation",
    "omega_hierarchical",
    "order_effect",
    "paired_difference",
    "panel_steps",
    "percent_agreement",
    "position_bias",
    "replications_for",
    "score_cells",
    "spearman_brown",
    "supported_shares",
    "total_agreement",
    "valid_rate",
    "variance_components",
]
_LATER = {
    "budget": ("BudgetSplit", "budget_splits"),
    "correctness": ("CORRECTNESS", "correctness_statistic"),
    "dstudy": ("Dependability", "dependability", "judgments_for"),
    "facet_cells": ("FacetCells", "label_cells", "score_cells"),
    "mcnemar": ("mcnemar_exact",),
    "order_effects": ("ORDER_EFFECTS", "order_effect", "position_bias"),
    "paired": ("Difference", "benjamini_hochberg", "holm", "paired_difference"),
    "panel": ("EffectiveJudges", "PanelStep", "effective_judges", "panel_steps"),
    "precision": ("AlphaPrecision", "alpha_precision"),
    "replications": ("replications_for", "spearman_brown"),
    "variance_components": ("VarianceComponent", "VarianceComponents", "variance_components"),
    "verdict_shares": ("MajorityVote", "drawn_together", "majority_vote", "supported_shares"),
}


def __getattr__(name: str) -> object:
    """Load a name of plans and comparisons when it is first asked for."""
    for module, names in _LATER.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
