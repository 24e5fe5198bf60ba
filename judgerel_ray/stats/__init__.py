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

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from judgerel_ray.stats.agreement.agreement import (
    COEFFICIENTS,
    DEFAULT_COEFFICIENTS,
    brennan_prediger,
    count_statistic,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    percent_agreement,
    valid_rate,
)
from judgerel_ray.stats.agreement.certainty import entropy_agreement, total_agreement
from judgerel_ray.stats.agreement.intraclass import (
    icc,
    icc1,
    icc_from_moments,
    icck,
    moment_statistic,
    moments_from_scores,
)
from judgerel_ray.stats.agreement.krippendorff import LEVELS, Level, krippendorff_alpha
from judgerel_ray.stats.agreement.majority import majority_probabilities, majority_stability
from judgerel_ray.stats.counts.counts import Coefficient, Counts, counts_from_ratings
from judgerel_ray.stats.counts.statistic import CountStatistic, measure
from judgerel_ray.stats.internal_consistency.consistency import (
    column_noise_floor,
    item_bootstrap,
    item_interval,
    item_values,
)
from judgerel_ray.stats.internal_consistency.omega import Omega, mcdonald_omega
from judgerel_ray.stats.internal_consistency.omega_bootstrap import OmegaResamples, omega_bootstrap
from judgerel_ray.stats.internal_consistency.schmid_leiman import (
    omega_from_correlation,
    omega_hierarchical,
)
from judgerel_ray.stats.internal_consistency.scores import cronbach_alpha
from judgerel_ray.stats.intervals.bootstrap import bootstrap_interval
from judgerel_ray.stats.intervals.interval import Interval, jackknife_interval
from judgerel_ray.stats.intervals.shares import clopper_pearson
from judgerel_ray.stats.lazy_imports import DEFERRED
from judgerel_ray.stats.null.noise import NoiseFloor, noise_floor, noise_floors
from judgerel_ray.stats.null.score_noise import score_floor

if TYPE_CHECKING:  # named here, loaded when first used: coefficients of a file need none of them
    from judgerel_ray.stats.agreement.correctness import CORRECTNESS, correctness_statistic
    from judgerel_ray.stats.agreement.majority import (
        MajorityVote,
        drawn_together,
        majority_vote,
        supported_shares,
    )
    from judgerel_ray.stats.confusion.accuracy_by_label import (
        inter_rater_accuracy,
        label_accuracy,
        rating_deviation,
    )
    from judgerel_ray.stats.confusion.baselines import method_tokens, vote_scores
    from judgerel_ray.stats.confusion.matrix import (
        LabelEdges,
        Uncertainty,
        confusion_uncertainty,
        label_edges,
    )
    from judgerel_ray.stats.confusion.matrix_model import cross_fitted_model
    from judgerel_ray.stats.confusion.thresholds import (
        cross_fitted_labels,
        search_threshold,
        threshold_transfer,
        wagner2024_threshold,
    )
    from judgerel_ray.stats.counts.replications import replications_for, spearman_brown
    from judgerel_ray.stats.generalizability.budget import BudgetSplit, budget_splits
    from judgerel_ray.stats.generalizability.component import VarianceComponent
    from judgerel_ray.stats.generalizability.dstudy import (
        Dependability,
        dependability,
        judgments_for,
    )
    from judgerel_ray.stats.generalizability.facet_agreement import (
        PAIR_COEFFICIENTS,
        reproducibility,
    )
    from judgerel_ray.stats.generalizability.facet_cells import FacetCells, label_cells, score_cells
    from judgerel_ray.stats.generalizability.order_effects import (
        ORDER_EFFECTS,
        first_place,
        order_effect,
        position_bias,
    )
    from judgerel_ray.stats.generalizability.variance_components import (
        VarianceComponents,
        variance_components,
    )
    from judgerel_ray.stats.intervals.judge_differences import benjamini_hochberg, holm
    from judgerel_ray.stats.intervals.mixing import posterior_interval
    from judgerel_ray.stats.intervals.paired import (
        Difference,
        Estimate,
        paired_difference,
        terms_difference,
    )
    from judgerel_ray.stats.intervals.precision import AlphaPrecision, alpha_precision
    from judgerel_ray.stats.intervals.question_statistic import (
        QuestionStatistic,
        count_terms,
        mean_of,
    )
    from judgerel_ray.stats.intervals.stopping import (
        StoppingRule,
        distribution_interval,
        mode_is_settled,
        next_replications,
        replay,
    )
    from judgerel_ray.stats.intervals.vote_limits import VoteLimits, vote_limits
    from judgerel_ray.stats.panels.panel import (
        EffectiveJudges,
        PanelStep,
        effective_judges,
        panel_steps,
    )
    from judgerel_ray.stats.ratings.correlations import correlation
    from judgerel_ray.stats.ratings.inter_scale import (
        disattenuated_alpha,
        inter_scale_alpha,
        inter_scale_interval,
        inter_scale_terms,
        scale_rank_correlation,
        scale_shift,
    )
    from judgerel_ray.stats.ratings.ranking import Ranking, rank_judges
    from judgerel_ray.stats.ratings.rated_scales import (
        SCALE_CASES,
        QuantisationCeiling,
        ScaleCase,
        ScaleRatings,
        quantisation_ceiling,
        scale_ratings,
    )
    from judgerel_ray.stats.ratings.reference import (
        ReferenceAgreement,
        reference_agreement,
        weighted_scores,
    )
    from judgerel_ray.stats.ratings.scale_mapping import SCALE_MAPPINGS, map_scores, mapping_level
    from judgerel_ray.stats.ratings.scale_noise import inter_scale_floor, scale_noise_floor
    from judgerel_ray.stats.selective.calibration import (
        brier_score,
        calibration_error,
        reliability_bins,
    )
    from judgerel_ray.stats.selective.discrimination import auroc, cross_fitted_auroc
    from judgerel_ray.stats.selective.equal_acceptance import equal_acceptance
    from judgerel_ray.stats.selective.guarantees import (
        ConformalRule,
        GuaranteedThreshold,
        conformal_rule,
        conformal_sets,
        learn_then_test,
    )
    from judgerel_ray.stats.selective.paired_accuracy import mcnemar_exact
    from judgerel_ray.stats.selective.selective import acceptance_curve, risk_coverage
    from judgerel_ray.stats.verdict_distributions.limits import limit_coefficients
    from judgerel_ray.stats.verdict_distributions.rao_blackwell import split_variance
    from judgerel_ray.stats.verdict_distributions.tempering import (
        VerdictBounds,
        tempered_step,
        verdict_bounds,
    )
    from judgerel_ray.stats.verdict_distributions.token_tree import (
        TokenTree,
        remainder_draws,
        with_draws,
    )

__all__ = [
    "COEFFICIENTS",
    "CORRECTNESS",
    "DEFAULT_COEFFICIENTS",
    "LEVELS",
    "ORDER_EFFECTS",
    "PAIR_COEFFICIENTS",
    "SCALE_CASES",
    "SCALE_MAPPINGS",
    "AlphaPrecision",
    "BudgetSplit",
    "Coefficient",
    "ConformalRule",
    "CountStatistic",
    "Counts",
    "Dependability",
    "Difference",
    "EffectiveJudges",
    "Estimate",
    "FacetCells",
    "GuaranteedThreshold",
    "Interval",
    "LabelEdges",
    "Level",
    "MajorityVote",
    "NoiseFloor",
    "Omega",
    "OmegaResamples",
    "PanelStep",
    "QuantisationCeiling",
    "QuestionStatistic",
    "Ranking",
    "ReferenceAgreement",
    "ScaleCase",
    "ScaleRatings",
    "StoppingRule",
    "TokenTree",
    "Uncertainty",
    "VarianceComponent",
    "VarianceComponents",
    "VerdictBounds",
    "VoteLimits",
    "acceptance_curve",
    "alpha_precision",
    "auroc",
    "benjamini_hochberg",
    "bootstrap_interval",
    "brennan_prediger",
    "brier_score",
    "budget_splits",
    "calibration_error",
    "clopper_pearson",
    "column_noise_floor",
    "conformal_rule",
    "conformal_sets",
    "confusion_uncertainty",
    "correctness_statistic",
    "correlation",
    "count_statistic",
    "count_terms",
    "counts_from_ratings",
    "cronbach_alpha",
    "cross_fitted_auroc",
    "cross_fitted_labels",
    "cross_fitted_model",
    "dependability",
    "disattenuated_alpha",
    "distribution_interval",
    "drawn_together",
    "effective_judges",
    "entropy_agreement",
    "equal_acceptance",
    "first_place",
    "fleiss_kappa",
    "flip_rate",
    "gwet_ac1",
    "holm",
    "icc",
    "icc1",
    "icc_from_moments",
    "icck",
    "inter_rater_accuracy",
    "inter_scale_alpha",
    "inter_scale_floor",
    "inter_scale_interval",
    "inter_scale_terms",
    "item_bootstrap",
    "item_interval",
    "item_values",
    "jackknife_interval",
    "judgments_for",
    "krippendorff_alpha",
    "label_accuracy",
    "label_cells",
    "label_edges",
    "learn_then_test",
    "limit_coefficients",
    "majority_probabilities",
    "majority_stability",
    "majority_vote",
    "map_scores",
    "mapping_level",
    "mcdonald_omega",
    "mcnemar_exact",
    "mean_of",
    "measure",
    "method_tokens",
    "mode_is_settled",
    "moment_statistic",
    "moments_from_scores",
    "next_replications",
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
    "posterior_interval",
    "quantisation_ceiling",
    "rank_judges",
    "rating_deviation",
    "reference_agreement",
    "reliability_bins",
    "remainder_draws",
    "replay",
    "replications_for",
    "reproducibility",
    "risk_coverage",
    "scale_noise_floor",
    "scale_rank_correlation",
    "scale_ratings",
    "scale_shift",
    "score_cells",
    "score_floor",
    "search_threshold",
    "spearman_brown",
    "split_variance",
    "supported_shares",
    "tempered_step",
    "terms_difference",
    "threshold_transfer",
    "total_agreement",
    "valid_rate",
    "variance_components",
    "verdict_bounds",
    "vote_limits",
    "vote_scores",
    "wagner2024_threshold",
    "weighted_scores",
    "with_draws",
]


def __getattr__(name: str) -> object:
    """Load a name of plans, comparisons and uncertainty when it is first asked for."""
    for module, names in DEFERRED.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Room(ModuleType):
    """The room, whose functions stay functions when a module of the same name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        # Python binds every imported submodule to its parent, and would hide the function.
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room
