"""Numbers: coefficients of agreement, their intervals and their noise floors.

Arrays in, frozen values out; imports NumPy, SciPy and `core` only, and knows no frames, files or
logs.
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

from judgerel_ray.stats.agreement.agreement import (
    COEFFICIENTS,
    CORRECTNESS,
    DEFAULT_COEFFICIENTS,
    brennan_prediger,
    correctness_statistic,
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
from judgerel_ray.stats.agreement.majority import (
    MajorityVote,
    majority_probabilities,
    majority_stability,
    majority_vote,
)
from judgerel_ray.stats.counts import (
    Coefficient,
    Counts,
    CountStatistic,
    counts_from_ratings,
    measure,
)
from judgerel_ray.stats.internal_consistency.consistency import (
    OmegaResamples,
    column_noise_floor,
    item_bootstrap,
    item_interval,
    item_values,
    omega_bootstrap,
)
from judgerel_ray.stats.internal_consistency.omega import Omega, mcdonald_omega
from judgerel_ray.stats.internal_consistency.schmid_leiman import (
    omega_from_correlation,
    omega_hierarchical,
)
from judgerel_ray.stats.internal_consistency.scores import cronbach_alpha
from judgerel_ray.stats.intervals.interval import Interval, bootstrap_interval, jackknife_interval
from judgerel_ray.stats.intervals.shares import clopper_pearson
from judgerel_ray.stats.null.noise import NoiseFloor, noise_floor, noise_floors, score_floor

if TYPE_CHECKING:  # named here, loaded when first used: coefficients of a file need none of them
    from judgerel_ray.stats.confusion.baselines import (
        cross_fitted_model,
        method_tokens,
        vote_scores,
    )
    from judgerel_ray.stats.confusion.labels import (
        cross_fitted_labels,
        label_accuracy,
        rating_deviation,
        search_threshold,
        threshold_transfer,
        wagner2024_threshold,
    )
    from judgerel_ray.stats.confusion.matrix import (
        LabelEdges,
        Uncertainty,
        confusion_uncertainty,
        label_edges,
    )
    from judgerel_ray.stats.generalizability.component import VarianceComponent
    from judgerel_ray.stats.generalizability.dstudy import (
        BudgetSplit,
        Dependability,
        budget_splits,
        dependability,
        judgments_for,
        replications_for,
        spearman_brown,
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
    from judgerel_ray.stats.intervals.mixing import (
        drawn_together,
        posterior_interval,
        supported_shares,
    )
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
    from judgerel_ray.stats.ratings.kappa import cohen_kappa
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
        inter_rater_accuracy,
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
    from judgerel_ray.stats.selective.guarantees import (
        ConformalRule,
        GuaranteedThreshold,
        conformal_rule,
        conformal_sets,
        learn_then_test,
    )
    from judgerel_ray.stats.selective.selective import acceptance_curve, risk_coverage
    from judgerel_ray.stats.selective.systems import equal_acceptance, mcnemar_exact
    from judgerel_ray.stats.verdict_distributions.limits import limit_coefficients, split_variance
    from judgerel_ray.stats.verdict_distributions.tempering import (
        TokenTree,
        VerdictBounds,
        remainder_draws,
        tempered_step,
        verdict_bounds,
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
    "cohen_kappa",
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

_LAZY: dict[str, tuple[str, ...]] = {
    "confusion.baselines": ("cross_fitted_model", "method_tokens", "vote_scores"),
    "confusion.labels": (
        "cross_fitted_labels",
        "label_accuracy",
        "rating_deviation",
        "search_threshold",
        "threshold_transfer",
        "wagner2024_threshold",
    ),
    "confusion.matrix": ("LabelEdges", "Uncertainty", "confusion_uncertainty", "label_edges"),
    "generalizability.component": ("VarianceComponent",),
    "generalizability.dstudy": (
        "BudgetSplit",
        "Dependability",
        "budget_splits",
        "dependability",
        "judgments_for",
        "replications_for",
        "spearman_brown",
    ),
    "generalizability.facet_agreement": ("PAIR_COEFFICIENTS", "reproducibility"),
    "generalizability.facet_cells": ("FacetCells", "label_cells", "score_cells"),
    "generalizability.order_effects": (
        "ORDER_EFFECTS",
        "first_place",
        "order_effect",
        "position_bias",
    ),
    "generalizability.variance_components": ("VarianceComponents", "variance_components"),
    "intervals.judge_differences": ("benjamini_hochberg", "holm"),
    "intervals.mixing": ("drawn_together", "posterior_interval", "supported_shares"),
    "intervals.paired": ("Difference", "Estimate", "paired_difference", "terms_difference"),
    "intervals.precision": ("AlphaPrecision", "alpha_precision"),
    "intervals.question_statistic": ("QuestionStatistic", "count_terms", "mean_of"),
    "intervals.stopping": (
        "StoppingRule",
        "distribution_interval",
        "mode_is_settled",
        "next_replications",
        "replay",
    ),
    "intervals.vote_limits": ("VoteLimits", "vote_limits"),
    "panels.panel": ("EffectiveJudges", "PanelStep", "effective_judges", "panel_steps"),
    "ratings.correlations": ("correlation",),
    "ratings.inter_scale": (
        "disattenuated_alpha",
        "inter_scale_alpha",
        "inter_scale_interval",
        "inter_scale_terms",
        "scale_rank_correlation",
        "scale_shift",
    ),
    "ratings.kappa": ("cohen_kappa",),
    "ratings.ranking": ("Ranking", "rank_judges"),
    "ratings.rated_scales": (
        "QuantisationCeiling",
        "SCALE_CASES",
        "ScaleCase",
        "ScaleRatings",
        "quantisation_ceiling",
        "scale_ratings",
    ),
    "ratings.reference": (
        "ReferenceAgreement",
        "inter_rater_accuracy",
        "reference_agreement",
        "weighted_scores",
    ),
    "ratings.scale_mapping": ("SCALE_MAPPINGS", "map_scores", "mapping_level"),
    "ratings.scale_noise": ("inter_scale_floor", "scale_noise_floor"),
    "selective.calibration": ("brier_score", "calibration_error", "reliability_bins"),
    "selective.discrimination": ("auroc", "cross_fitted_auroc"),
    "selective.guarantees": (
        "ConformalRule",
        "GuaranteedThreshold",
        "conformal_rule",
        "conformal_sets",
        "learn_then_test",
    ),
    "selective.selective": ("acceptance_curve", "risk_coverage"),
    "selective.systems": ("equal_acceptance", "mcnemar_exact"),
    "verdict_distributions.limits": ("limit_coefficients", "split_variance"),
    "verdict_distributions.tempering": (
        "TokenTree",
        "VerdictBounds",
        "remainder_draws",
        "tempered_step",
        "verdict_bounds",
        "with_draws",
    ),
}
"""Plans, comparisons, uncertainty and scales: coefficients of a file need none of them."""


def __getattr__(name: str) -> object:
    """Load a name when it is first used."""
    for module, names in _LAZY.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
