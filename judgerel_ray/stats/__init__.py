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

from typing import TYPE_CHECKING

from judgerel_ray.core.rooms import offer

if TYPE_CHECKING:
    from judgerel_ray.stats.agreement.agreement import COEFFICIENTS as COEFFICIENTS
    from judgerel_ray.stats.agreement.agreement import CORRECTNESS as CORRECTNESS
    from judgerel_ray.stats.agreement.agreement import DEFAULT_COEFFICIENTS as DEFAULT_COEFFICIENTS
    from judgerel_ray.stats.agreement.agreement import brennan_prediger as brennan_prediger
    from judgerel_ray.stats.agreement.agreement import (
        correctness_statistic as correctness_statistic,
    )
    from judgerel_ray.stats.agreement.agreement import count_statistic as count_statistic
    from judgerel_ray.stats.agreement.agreement import fleiss_kappa as fleiss_kappa
    from judgerel_ray.stats.agreement.agreement import flip_rate as flip_rate
    from judgerel_ray.stats.agreement.agreement import gwet_ac1 as gwet_ac1
    from judgerel_ray.stats.agreement.agreement import percent_agreement as percent_agreement
    from judgerel_ray.stats.agreement.agreement import valid_rate as valid_rate
    from judgerel_ray.stats.agreement.certainty import entropy_agreement as entropy_agreement
    from judgerel_ray.stats.agreement.certainty import total_agreement as total_agreement
    from judgerel_ray.stats.agreement.intraclass import icc as icc
    from judgerel_ray.stats.agreement.intraclass import icc1 as icc1
    from judgerel_ray.stats.agreement.intraclass import icc_from_moments as icc_from_moments
    from judgerel_ray.stats.agreement.intraclass import icck as icck
    from judgerel_ray.stats.agreement.intraclass import moment_statistic as moment_statistic
    from judgerel_ray.stats.agreement.intraclass import moments_from_scores as moments_from_scores
    from judgerel_ray.stats.agreement.krippendorff import LEVELS as LEVELS
    from judgerel_ray.stats.agreement.krippendorff import Level as Level
    from judgerel_ray.stats.agreement.krippendorff import krippendorff_alpha as krippendorff_alpha
    from judgerel_ray.stats.agreement.majority import MajorityVote as MajorityVote
    from judgerel_ray.stats.agreement.majority import (
        majority_probabilities as majority_probabilities,
    )
    from judgerel_ray.stats.agreement.majority import majority_stability as majority_stability
    from judgerel_ray.stats.agreement.majority import majority_vote as majority_vote
    from judgerel_ray.stats.confusion.baselines import cross_fitted_model as cross_fitted_model
    from judgerel_ray.stats.confusion.baselines import method_tokens as method_tokens
    from judgerel_ray.stats.confusion.baselines import vote_scores as vote_scores
    from judgerel_ray.stats.confusion.labels import cross_fitted_labels as cross_fitted_labels
    from judgerel_ray.stats.confusion.labels import label_accuracy as label_accuracy
    from judgerel_ray.stats.confusion.labels import rating_deviation as rating_deviation
    from judgerel_ray.stats.confusion.labels import search_threshold as search_threshold
    from judgerel_ray.stats.confusion.labels import threshold_transfer as threshold_transfer
    from judgerel_ray.stats.confusion.labels import wagner2024_threshold as wagner2024_threshold
    from judgerel_ray.stats.confusion.matrix import LabelEdges as LabelEdges
    from judgerel_ray.stats.confusion.matrix import Uncertainty as Uncertainty
    from judgerel_ray.stats.confusion.matrix import confusion_uncertainty as confusion_uncertainty
    from judgerel_ray.stats.confusion.matrix import label_edges as label_edges
    from judgerel_ray.stats.counts import Coefficient as Coefficient
    from judgerel_ray.stats.counts import Counts as Counts
    from judgerel_ray.stats.counts import CountStatistic as CountStatistic
    from judgerel_ray.stats.counts import counts_from_ratings as counts_from_ratings
    from judgerel_ray.stats.counts import measure as measure
    from judgerel_ray.stats.generalizability.component import VarianceComponent as VarianceComponent
    from judgerel_ray.stats.generalizability.dstudy import BudgetSplit as BudgetSplit
    from judgerel_ray.stats.generalizability.dstudy import Dependability as Dependability
    from judgerel_ray.stats.generalizability.dstudy import budget_splits as budget_splits
    from judgerel_ray.stats.generalizability.dstudy import dependability as dependability
    from judgerel_ray.stats.generalizability.dstudy import judgments_for as judgments_for
    from judgerel_ray.stats.generalizability.dstudy import replications_for as replications_for
    from judgerel_ray.stats.generalizability.dstudy import spearman_brown as spearman_brown
    from judgerel_ray.stats.generalizability.facet_agreement import (
        PAIR_COEFFICIENTS as PAIR_COEFFICIENTS,
    )
    from judgerel_ray.stats.generalizability.facet_agreement import (
        reproducibility as reproducibility,
    )
    from judgerel_ray.stats.generalizability.facet_cells import FacetCells as FacetCells
    from judgerel_ray.stats.generalizability.facet_cells import label_cells as label_cells
    from judgerel_ray.stats.generalizability.facet_cells import score_cells as score_cells
    from judgerel_ray.stats.generalizability.order_effects import ORDER_EFFECTS as ORDER_EFFECTS
    from judgerel_ray.stats.generalizability.order_effects import first_place as first_place
    from judgerel_ray.stats.generalizability.order_effects import order_effect as order_effect
    from judgerel_ray.stats.generalizability.order_effects import position_bias as position_bias
    from judgerel_ray.stats.generalizability.variance_components import (
        VarianceComponents as VarianceComponents,
    )
    from judgerel_ray.stats.generalizability.variance_components import (
        variance_components as variance_components,
    )
    from judgerel_ray.stats.internal_consistency.consistency import OmegaResamples as OmegaResamples
    from judgerel_ray.stats.internal_consistency.consistency import (
        column_noise_floor as column_noise_floor,
    )
    from judgerel_ray.stats.internal_consistency.consistency import item_bootstrap as item_bootstrap
    from judgerel_ray.stats.internal_consistency.consistency import item_interval as item_interval
    from judgerel_ray.stats.internal_consistency.consistency import item_values as item_values
    from judgerel_ray.stats.internal_consistency.consistency import (
        omega_bootstrap as omega_bootstrap,
    )
    from judgerel_ray.stats.internal_consistency.omega import Omega as Omega
    from judgerel_ray.stats.internal_consistency.omega import mcdonald_omega as mcdonald_omega
    from judgerel_ray.stats.internal_consistency.schmid_leiman import (
        omega_from_correlation as omega_from_correlation,
    )
    from judgerel_ray.stats.internal_consistency.schmid_leiman import (
        omega_hierarchical as omega_hierarchical,
    )
    from judgerel_ray.stats.internal_consistency.scores import cronbach_alpha as cronbach_alpha
    from judgerel_ray.stats.intervals.interval import Interval as Interval
    from judgerel_ray.stats.intervals.interval import bootstrap_interval as bootstrap_interval
    from judgerel_ray.stats.intervals.interval import jackknife_interval as jackknife_interval
    from judgerel_ray.stats.intervals.judge_differences import (
        benjamini_hochberg as benjamini_hochberg,
    )
    from judgerel_ray.stats.intervals.judge_differences import holm as holm
    from judgerel_ray.stats.intervals.mixing import drawn_together as drawn_together
    from judgerel_ray.stats.intervals.mixing import posterior_interval as posterior_interval
    from judgerel_ray.stats.intervals.mixing import supported_shares as supported_shares
    from judgerel_ray.stats.intervals.paired import Difference as Difference
    from judgerel_ray.stats.intervals.paired import Estimate as Estimate
    from judgerel_ray.stats.intervals.paired import paired_difference as paired_difference
    from judgerel_ray.stats.intervals.paired import terms_difference as terms_difference
    from judgerel_ray.stats.intervals.precision import AlphaPrecision as AlphaPrecision
    from judgerel_ray.stats.intervals.precision import alpha_precision as alpha_precision
    from judgerel_ray.stats.intervals.question_statistic import (
        QuestionStatistic as QuestionStatistic,
    )
    from judgerel_ray.stats.intervals.question_statistic import count_terms as count_terms
    from judgerel_ray.stats.intervals.question_statistic import mean_of as mean_of
    from judgerel_ray.stats.intervals.shares import clopper_pearson as clopper_pearson
    from judgerel_ray.stats.intervals.stopping import StoppingRule as StoppingRule
    from judgerel_ray.stats.intervals.stopping import distribution_interval as distribution_interval
    from judgerel_ray.stats.intervals.stopping import mode_is_settled as mode_is_settled
    from judgerel_ray.stats.intervals.stopping import next_replications as next_replications
    from judgerel_ray.stats.intervals.stopping import replay as replay
    from judgerel_ray.stats.intervals.vote_limits import VoteLimits as VoteLimits
    from judgerel_ray.stats.intervals.vote_limits import vote_limits as vote_limits
    from judgerel_ray.stats.null.noise import NoiseFloor as NoiseFloor
    from judgerel_ray.stats.null.noise import noise_floor as noise_floor
    from judgerel_ray.stats.null.noise import noise_floors as noise_floors
    from judgerel_ray.stats.null.score_noise import score_floor as score_floor
    from judgerel_ray.stats.panels.panel import EffectiveJudges as EffectiveJudges
    from judgerel_ray.stats.panels.panel import PanelStep as PanelStep
    from judgerel_ray.stats.panels.panel import effective_judges as effective_judges
    from judgerel_ray.stats.panels.panel import panel_steps as panel_steps
    from judgerel_ray.stats.ratings.correlations import correlation as correlation
    from judgerel_ray.stats.ratings.inter_scale import disattenuated_alpha as disattenuated_alpha
    from judgerel_ray.stats.ratings.inter_scale import inter_scale_alpha as inter_scale_alpha
    from judgerel_ray.stats.ratings.inter_scale import inter_scale_interval as inter_scale_interval
    from judgerel_ray.stats.ratings.inter_scale import inter_scale_terms as inter_scale_terms
    from judgerel_ray.stats.ratings.inter_scale import (
        scale_rank_correlation as scale_rank_correlation,
    )
    from judgerel_ray.stats.ratings.inter_scale import scale_shift as scale_shift
    from judgerel_ray.stats.ratings.kappa import cohen_kappa as cohen_kappa
    from judgerel_ray.stats.ratings.ranking import Ranking as Ranking
    from judgerel_ray.stats.ratings.ranking import rank_judges as rank_judges
    from judgerel_ray.stats.ratings.rated_scales import SCALE_CASES as SCALE_CASES
    from judgerel_ray.stats.ratings.rated_scales import QuantisationCeiling as QuantisationCeiling
    from judgerel_ray.stats.ratings.rated_scales import ScaleCase as ScaleCase
    from judgerel_ray.stats.ratings.rated_scales import ScaleRatings as ScaleRatings
    from judgerel_ray.stats.ratings.rated_scales import quantisation_ceiling as quantisation_ceiling
    from judgerel_ray.stats.ratings.rated_scales import scale_ratings as scale_ratings
    from judgerel_ray.stats.ratings.reference import ReferenceAgreement as ReferenceAgreement
    from judgerel_ray.stats.ratings.reference import inter_rater_accuracy as inter_rater_accuracy
    from judgerel_ray.stats.ratings.reference import reference_agreement as reference_agreement
    from judgerel_ray.stats.ratings.reference import weighted_scores as weighted_scores
    from judgerel_ray.stats.ratings.scale_mapping import SCALE_MAPPINGS as SCALE_MAPPINGS
    from judgerel_ray.stats.ratings.scale_mapping import map_scores as map_scores
    from judgerel_ray.stats.ratings.scale_mapping import mapping_level as mapping_level
    from judgerel_ray.stats.ratings.scale_noise import inter_scale_floor as inter_scale_floor
    from judgerel_ray.stats.ratings.scale_noise import scale_noise_floor as scale_noise_floor
    from judgerel_ray.stats.selective.calibration import brier_score as brier_score
    from judgerel_ray.stats.selective.calibration import calibration_error as calibration_error
    from judgerel_ray.stats.selective.calibration import reliability_bins as reliability_bins
    from judgerel_ray.stats.selective.discrimination import auroc as auroc
    from judgerel_ray.stats.selective.discrimination import cross_fitted_auroc as cross_fitted_auroc
    from judgerel_ray.stats.selective.guarantees import ConformalRule as ConformalRule
    from judgerel_ray.stats.selective.guarantees import GuaranteedThreshold as GuaranteedThreshold
    from judgerel_ray.stats.selective.guarantees import conformal_rule as conformal_rule
    from judgerel_ray.stats.selective.guarantees import conformal_sets as conformal_sets
    from judgerel_ray.stats.selective.guarantees import learn_then_test as learn_then_test
    from judgerel_ray.stats.selective.selective import acceptance_curve as acceptance_curve
    from judgerel_ray.stats.selective.selective import risk_coverage as risk_coverage
    from judgerel_ray.stats.selective.systems import equal_acceptance as equal_acceptance
    from judgerel_ray.stats.selective.systems import mcnemar_exact as mcnemar_exact
    from judgerel_ray.stats.verdict_distributions.limits import (
        limit_coefficients as limit_coefficients,
    )
    from judgerel_ray.stats.verdict_distributions.limits import split_variance as split_variance
    from judgerel_ray.stats.verdict_distributions.tempering import TokenTree as TokenTree
    from judgerel_ray.stats.verdict_distributions.tempering import VerdictBounds as VerdictBounds
    from judgerel_ray.stats.verdict_distributions.tempering import (
        remainder_draws as remainder_draws,
    )
    from judgerel_ray.stats.verdict_distributions.tempering import tempered_step as tempered_step
    from judgerel_ray.stats.verdict_distributions.tempering import verdict_bounds as verdict_bounds
    from judgerel_ray.stats.verdict_distributions.tempering import with_draws as with_draws

__getattr__ = offer(__name__)
