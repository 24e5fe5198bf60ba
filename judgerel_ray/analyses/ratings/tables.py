"""What ``scales``, ``align`` and ``rank`` print."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import (
    Common,
    EndColumns,
    FlagColumns,
    FloorSpread,
    GroupColumns,
    MethodColumns,
    interval_ends,
)
from judgerel_ray.measuring.tables import Coefficients


class ScaleComparisons(Schema):
    """One row per group and comparison of scales.

    Agreement across scales, beside what a judge without noise reaches.
    """

    scales = String("The scales compared, names with / between.")
    n_scales = Int64("How many they are.")
    value = Float64(
        "Inter-scale alpha: agreement of the ratings of the same things on these scales (1 "
        "perfect, 0 chance); null where undefined says why."
    )
    ends = EndColumns
    noise_floor = Float64(
        "The alpha by chance: its mean where scores are shuffled; null where it has no floor."
    )
    floor = FloorSpread
    ceiling = Float64(
        "What a judge without noise reaches, as scales of different points never fit; null where "
        "the scales do not allow the mapping."
    )
    disattenuated = Float64(
        "The alpha divided by what the scales' own consistency leaves of it at most; a heuristic "
        "that may exceed 1; null of more than two scales, and where it has no value."
    )
    disattenuated_low, disattenuated_high = interval_ends("disattenuated")
    shift = Float64(
        "How much higher the same things come out on the second scale, on the common axis; null of "
        "more than two scales, and of midranks."
    )
    shift_low, shift_high = interval_ends("the shift")
    rank_correlation = Float64(
        "Spearman's rho of mean scores on two scales, before any mapping (-1 to 1); null of more "
        "than two scales."
    )
    rank_correlation_low, rank_correlation_high = interval_ends("rank_correlation")
    own_first = Float64(
        "Self-consistency (alpha of replications) on the first scale, on the common axis; null "
        "where it was rated once."
    )
    own_second = Float64(
        "Self-consistency on the second scale, on the common axis; null where it was rated once."
    )
    n_items = Int64("Questions rated on two of the scales or more.")
    n_units = Int64(
        "Things rated on two of the scales or more: the question, its response and how it was "
        "asked."
    )
    n_replications = Int64("Most ratings of one thing on one scale.")
    mapping = String(
        "How scores come onto one axis: minmax, midrank, fraction, collapse or binarise."
    )
    level = String("Level of measurement there: nominal, ordinal or interval.")
    pairing = String("all replications of one scale with all of the other, or the first of each.")
    tie = String("What the middle of a scale counts as once binarised, >mid or >=mid; else null.")
    ceiling_of = String(
        "What the ceiling is of: a latent score, uniform, that both scales round "
        "(uniform_to_points; with tenths on continuous ones uniform_to_points_and_tenths); null "
        "where there is none."
    )
    method = MethodColumns
    estimator = Common.estimator
    undefined = Common.undefined


class Alignments(Schema):
    """One row per group, scale and coefficient."""

    coefficient = String("pearson, spearman, kendall, icc_agreement or icc_consistency.")
    single = Float64(
        "Agreement of one replication with the reference, the mean over replications (at most 1); "
        "null where undefined says why."
    )
    single_low, single_high = interval_ends("single")
    averaged = Float64(
        "Agreement of the mean of a thing's replications with the reference; null where undefined "
        "says why."
    )
    averaged_low, averaged_high = interval_ends("averaged")
    gain = Float64("averaged less single: what averaging buys; null where either is.")
    gain_low, gain_high = interval_ends("the gain")
    p_gain = Float64("Two-sided p-value of no gain; null where it was not tested.")
    n_averaged = Float64("Replications that were averaged, in the mean over things.")
    weighted = Float64(
        "Agreement of probability-weighted scores with the reference; null where a run has no "
        "distributions."
    )
    weighted_low, weighted_high = interval_ends("weighted")
    n_weighted = Int64("Weighted scores compared; null where there are none.")
    n_items = Int64("Questions with a reference.")
    n_units = Int64("Things compared: the question, its response and how it was asked.")
    reference = String("Whom the ratings are held against.")
    statistic = MethodColumns.statistic
    no_interval = MethodColumns.no_interval
    weakened = FlagColumns
    estimator = Common.estimator
    undefined = String(
        "Code that says why numbers of sampled ratings are null (not_sampled, reference_off_scale, "
        "no_variance, ...); null where nothing is lacking."
    )


class Ranks(Schema):
    """One row per temperature, measure and judge.

    The measure, and the judge's rank by it with the ranks that it may have.
    """

    measure = String(
        "What the judges are ranked by: self_consistency, inter_scale, alignment or outside."
    )
    judge = GroupColumns.judge
    value = Float64(
        "The measure, the mean over cells that all ranked judges have; null where undefined says "
        "why."
    )
    rank = Float64(
        "Rank by it, 1 the best; equal judges share the mean of their places; null without a value."
    )
    low = Float64(
        "Best rank that the judge may have, by tests of all pairs; null where it is not known."
    )
    high = Float64(
        "Worst rank that the judge may have, by tests of all pairs; null where it is not known."
    )
    p_best = Float64(
        "Share of resamples of the questions in which it is best; null where it is not known."
    )
    n_questions = Int64("Questions that its value rests on.")
    few = Bool("true where fewer than ten questions decide a comparison with another judge.")
    undefined = String(
        "Code that says what is lacking (fixed_score of a number that came without questions, "
        "too_few_units, ...); null where nothing is."
    )
    n_cells = Int64(
        "Cells (a benchmark, criterion, definition, and scale or pair of scales) that all ranked "
        "judges have; null of an outside score."
    )
    n_left_out = Int64("Cells that some ranked judge lacks; null of an outside score.")


class MeanRanks(Schema):
    """One row per temperature and judge: the mean rank over the measures."""

    value = Float64(
        "Mean rank over the measures by which all ranked judges have one, 1 the best; null where "
        "there is none."
    )
    low = Float64(
        "2.5 % quantile of the mean rank over resamples of the questions; null where few questions "
        "decide, and where there is none."
    )
    high = Float64(
        "97.5 % quantile of the mean rank over resamples of the questions; null where few "
        "questions decide, and where there is none."
    )
    p_best = Float64(
        "Share of resamples in which its mean rank is the least; null where it is not known."
    )


class MeasureAgreements(Schema):
    """One row per temperature and pair of measures: how far they rank the judges alike."""

    first = String("The one measure.")
    second = String("The other measure.")
    tau = Float64(
        "Kendall's tau-b of the judges' values by the two measures (-1 to 1); null where one ranks "
        "nobody."
    )
    low = Float64(
        "2.5 % quantile of tau over resamples of the questions; null of two judges, where few "
        "questions decide and no resample differs, and where there is none."
    )
    high = Float64(
        "97.5 % quantile of tau over resamples of the questions; null of two judges, where few "
        "questions decide and no resample differs, and where there is none."
    )
    n_judges = Int64("Judges that have both.")


TABLES: SchemasByVerb = {
    "scales": {"self_consistency": Coefficients, "inter_scale": ScaleComparisons},
    "align": {"": Alignments},
    "rank": {"ranks": Ranks, "mean_ranks": MeanRanks, "agreements": MeasureAgreements},
}
