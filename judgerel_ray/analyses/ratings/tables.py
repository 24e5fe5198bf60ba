"""What each column of ``scales``, ``align`` and ``rank`` means, and how to read it."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns, shared_meanings
from judgerel_ray.measuring.tables import COEFFICIENTS

COLUMNS: Columns = {
    "scales": {
        "self_consistency": COEFFICIENTS,
        "inter_scale": {
            "scales": "The scales compared, names with / between.",
            "n_scales": "How many they are.",
            "value": (
                "Inter-scale alpha: agreement of the ratings of the same things on these scales "
                "(1 perfect, 0 chance); null where undefined says why."
            ),
            **shared_meanings("low", "high"),
            "noise_floor": (
                "The alpha by chance: its mean where scores are shuffled; null where it has no "
                "floor."
            ),
            **shared_meanings("noise_floor_sd", "p_noise", "noise"),
            "ceiling": (
                "What a judge without noise reaches, as scales of different points never fit; "
                "null where the scales do not allow the mapping."
            ),
            "disattenuated": (
                "The alpha divided by what the scales' own consistency leaves of it at most; a "
                "heuristic that may exceed 1; null of more than two scales, and where it has no "
                "value."
            ),
            "disattenuated_low": (
                "Lower end of the 95 % interval of disattenuated; null where there is none."
            ),
            "disattenuated_high": (
                "Upper end of the 95 % interval of disattenuated; null where there is none."
            ),
            "shift": (
                "How much higher the same things come out on the second scale, on the common "
                "axis; null of more than two scales, and of midranks."
            ),
            "shift_low": "Lower end of the 95 % interval of the shift; null where there is none.",
            "shift_high": "Upper end of the 95 % interval of the shift; null where there is none.",
            "rank_correlation": (
                "Spearman's rho of mean scores on two scales, before any mapping (-1 to 1); null "
                "of more than two scales."
            ),
            "rank_correlation_low": (
                "Lower end of the 95 % interval of rank_correlation; null where there is none."
            ),
            "rank_correlation_high": (
                "Upper end of the 95 % interval of rank_correlation; null where there is none."
            ),
            "own_first": (
                "Self-consistency (alpha of replications) on the first scale, on the common "
                "axis; null where it was rated once."
            ),
            "own_second": (
                "Self-consistency on the second scale, on the common axis; null where it was "
                "rated once."
            ),
            "n_items": "Questions rated on two of the scales or more.",
            "n_units": (
                "Things rated on two of the scales or more: the question, its response and how "
                "it was asked."
            ),
            "n_replications": "Most ratings of one thing on one scale.",
            "mapping": (
                "How scores come onto one axis: minmax, midrank, fraction, collapse or binarise."
            ),
            "level": "Level of measurement there: nominal, ordinal or interval.",
            "pairing": "all replications of one scale with all of the other, or the first of each.",
            "tie": "What the middle of a scale counts as once binarised, >mid or >=mid; else null.",
            "ceiling_of": (
                "What the ceiling is of: a latent score, uniform, that both scales round "
                "(uniform_to_points; with tenths on continuous ones uniform_to_points_and_tenths); "
                "null where there is none."
            ),
            **shared_meanings(
                "statistic", "interval_method", "no_interval", "n_compared", "n_resamples"
            ),
            **shared_meanings(
                "null_method", "n_permutations", "flags", "flag_numbers", "estimator"
            ),
            **shared_meanings("undefined"),
        },
    },
    "align": {
        "": {
            "coefficient": "pearson, spearman, kendall, icc_agreement or icc_consistency.",
            "single": (
                "Agreement of one replication with the reference, the mean over replications (at "
                "most 1); null where undefined says why."
            ),
            "single_low": "Lower end of the 95 % interval of single; null where there is none.",
            "single_high": "Upper end of the 95 % interval of single; null where there is none.",
            "averaged": (
                "Agreement of the mean of a thing's replications with the reference; null where "
                "undefined says why."
            ),
            "averaged_low": "Lower end of the 95 % interval of averaged; null where there is none.",
            "averaged_high": (
                "Upper end of the 95 % interval of averaged; null where there is none."
            ),
            "gain": "averaged less single: what averaging buys; null where either is.",
            "gain_low": "Lower end of the 95 % interval of the gain; null where there is none.",
            "gain_high": "Upper end of the 95 % interval of the gain; null where there is none.",
            "p_gain": "Two-sided p-value of no gain; null where it was not tested.",
            "n_averaged": "Replications that were averaged, in the mean over things.",
            "weighted": (
                "Agreement of probability-weighted scores with the reference; null where a run "
                "has no distributions."
            ),
            "weighted_low": "Lower end of the 95 % interval of weighted; null where there is none.",
            "weighted_high": (
                "Upper end of the 95 % interval of weighted; null where there is none."
            ),
            "n_weighted": "Weighted scores compared; null where there are none.",
            "n_items": "Questions with a reference.",
            "n_units": "Things compared: the question, its response and how it was asked.",
            "reference": "Whom the ratings are held against.",
            **shared_meanings("statistic", "no_interval", "flags", "flag_numbers", "estimator"),
            "undefined": (
                "Code that says why numbers of sampled ratings are null (not_sampled, "
                "reference_off_scale, no_variance, ...); null where nothing is lacking."
            ),
        },
    },
    "rank": {
        "ranks": {
            "measure": (
                "What the judges are ranked by: self_consistency, inter_scale, alignment or "
                "outside."
            ),
            "value": (
                "The measure, the mean over cells that all ranked judges have; null where "
                "undefined says why."
            ),
            "rank": (
                "Rank by it, 1 the best; equal judges share the mean of their places; null "
                "without a value."
            ),
            "low": (
                "Best rank that the judge may have, by tests of all pairs; null where it is not "
                "known."
            ),
            "high": (
                "Worst rank that the judge may have, by tests of all pairs; null where it is not "
                "known."
            ),
            "p_best": (
                "Share of resamples of the questions in which it is best; null where it is not "
                "known."
            ),
            "n_questions": "Questions that its value rests on.",
            "few": "true where fewer than ten questions decide a comparison with another judge.",
            "undefined": (
                "Code that says what is lacking (fixed_score of a number that came without "
                "questions, too_few_units, ...); null where nothing is."
            ),
            "n_cells": (
                "Cells (a benchmark, criterion, definition, and scale or pair of scales) that "
                "all ranked judges have; null of an outside score."
            ),
            "n_left_out": "Cells that some ranked judge lacks; null of an outside score.",
        },
        "mean_ranks": {
            "value": (
                "Mean rank over the measures by which all ranked judges have one, 1 the best; "
                "null where there is none."
            ),
            "low": (
                "2.5 % quantile of the mean rank over resamples of the questions; null where few "
                "questions decide, and where there is none."
            ),
            "high": (
                "97.5 % quantile of the mean rank over resamples of the questions; null where few "
                "questions decide, and where there is none."
            ),
            "p_best": (
                "Share of resamples in which its mean rank is the least; null where it is not "
                "known."
            ),
        },
        "agreements": {
            "first": "The one measure.",
            "second": "The other measure.",
            "tau": (
                "Kendall's tau-b of the judges' values by the two measures (-1 to 1); null where "
                "one ranks nobody."
            ),
            "low": (
                "2.5 % quantile of tau over resamples of the questions; null of two judges, "
                "where few questions decide and no resample differs, and where there is none."
            ),
            "high": (
                "97.5 % quantile of tau over resamples of the questions; null of two judges, "
                "where few questions decide and no resample differs, and where there is none."
            ),
            "n_judges": "Judges that have both.",
        },
    },
}
