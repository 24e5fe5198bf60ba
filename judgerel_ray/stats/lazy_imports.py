"""Names of the room that are loaded when they are first asked for, by their module."""

from __future__ import annotations

DEFERRED: dict[str, tuple[str, ...]] = {
    "agreement.correctness": (
        "CORRECTNESS",
        "correctness_statistic",
    ),
    "agreement.majority": (
        "MajorityVote",
        "drawn_together",
        "majority_vote",
        "supported_shares",
    ),
    "confusion.accuracy_by_label": (
        "inter_rater_accuracy",
        "label_accuracy",
        "rating_deviation",
    ),
    "confusion.baselines": (
        "method_tokens",
        "vote_scores",
    ),
    "confusion.matrix": (
        "LabelEdges",
        "Uncertainty",
        "confusion_uncertainty",
        "label_edges",
    ),
    "confusion.matrix_model": ("cross_fitted_model",),
    "confusion.thresholds": (
        "cross_fitted_labels",
        "search_threshold",
        "threshold_transfer",
        "wagner2024_threshold",
    ),
    "counts.replications": (
        "replications_for",
        "spearman_brown",
    ),
    "generalizability.budget": (
        "BudgetSplit",
        "budget_splits",
    ),
    "generalizability.component": ("VarianceComponent",),
    "generalizability.dstudy": (
        "Dependability",
        "dependability",
        "judgments_for",
    ),
    "generalizability.facet_agreement": (
        "PAIR_COEFFICIENTS",
        "reproducibility",
    ),
    "generalizability.facet_cells": (
        "FacetCells",
        "label_cells",
        "score_cells",
    ),
    "generalizability.order_effects": (
        "ORDER_EFFECTS",
        "first_place",
        "order_effect",
        "position_bias",
    ),
    "generalizability.variance_components": (
        "VarianceComponents",
        "variance_components",
    ),
    "intervals.judge_differences": (
        "benjamini_hochberg",
        "holm",
    ),
    "intervals.mixing": ("posterior_interval",),
    "intervals.paired": (
        "Difference",
        "Estimate",
        "paired_difference",
        "terms_difference",
    ),
    "intervals.precision": (
        "AlphaPrecision",
        "alpha_precision",
    ),
    "intervals.question_statistic": (
        "QuestionStatistic",
        "count_terms",
        "mean_of",
    ),
    "intervals.stopping": (
        "StoppingRule",
        "distribution_interval",
        "mode_is_settled",
        "next_replications",
        "replay",
    ),
    "intervals.vote_limits": (
        "VoteLimits",
        "vote_limits",
    ),
    "panels.panel": (
        "EffectiveJudges",
        "PanelStep",
        "effective_judges",
        "panel_steps",
    ),
    "ratings.correlations": ("correlation",),
    "ratings.inter_scale": (
        "disattenuated_alpha",
        "inter_scale_alpha",
        "inter_scale_interval",
        "inter_scale_terms",
        "scale_rank_correlation",
        "scale_shift",
    ),
    "ratings.ranking": (
        "Ranking",
        "rank_judges",
    ),
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
        "reference_agreement",
        "weighted_scores",
    ),
    "ratings.scale_mapping": (
        "SCALE_MAPPINGS",
        "map_scores",
        "mapping_level",
    ),
    "ratings.scale_noise": (
        "inter_scale_floor",
        "scale_noise_floor",
    ),
    "selective.calibration": (
        "brier_score",
        "calibration_error",
        "reliability_bins",
    ),
    "selective.discrimination": (
        "auroc",
        "cross_fitted_auroc",
    ),
    "selective.equal_acceptance": ("equal_acceptance",),
    "selective.guarantees": (
        "ConformalRule",
        "GuaranteedThreshold",
        "conformal_rule",
        "conformal_sets",
        "learn_then_test",
    ),
    "selective.paired_accuracy": ("mcnemar_exact",),
    "selective.selective": (
        "acceptance_curve",
        "risk_coverage",
    ),
    "verdict_distributions.limits": ("limit_coefficients",),
    "verdict_distributions.rao_blackwell": ("split_variance",),
    "verdict_distributions.tempering": (
        "VerdictBounds",
        "tempered_step",
        "verdict_bounds",
    ),
    "verdict_distributions.token_tree": (
        "TokenTree",
        "remainder_draws",
        "with_draws",
    ),
}
"""Plans, comparisons, uncertainty and scales: coefficients of a file need none of them."""
