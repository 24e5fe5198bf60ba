"""What each column of ``advise`` means, and how to read it."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns, shared_meanings

_COSTS = {
    **shared_meanings("judgments", "tokens", "gpu_seconds"),
}

COLUMNS: Columns = {
    "advise": {
        "components": {
            "component": (
                "The effect: one facet, or several with x between; residual is what replications "
                "differ by; null in a row that has no estimate at all."
            ),
            "part": (
                "wanted (the question's, and what belongs to it), error (what should not matter) "
                "or chosen (facets that stay as they are); null without an estimate."
            ),
            "estimate": (
                "Variance of the effect: of scores in squared points, of names of the shares of "
                "verdicts; below 0 where there is less of it than chance would give; null where "
                "undefined says why."
            ),
            "share": (
                "Share of the variance of one judgment; null where that variance is not above 0."
            ),
            "low": "Lower end of the 95 % interval of the estimate; null where there is none.",
            "high": "Upper end of the 95 % interval of the estimate; null where there is none.",
            "no_interval": (
                "too_few_levels where a facet that is drawn from more has two levels in the "
                "data; else null."
            ),
            "n_levels": (
                "Levels of the effect in the data; of the residual, judgments; null without an "
                "estimate."
            ),
            "levels_of": (
                "How many levels the facet has in all, where that is known; null where they are "
                "unlimited, and of several facets."
            ),
            "negative": (
                "true where the estimate is below 0; it counts as 0 in all that is planned; null "
                "without an estimate."
            ),
            "n_items": "Questions that it rests on.",
            "n_judgments": "Judgments that it rests on.",
            **shared_meanings("flags", "flag_numbers", "estimator"),
            "undefined": (
                "Why there is no estimate, such as no_variance or the effect that it cannot be "
                "told from; null where there is one."
            ),
        },
        "designs": {
            "design": (
                "replications (the same prompt again) or apart (judgments spread over the levels "
                "of facets that should not matter); null where undefined says why."
            ),
            "facets": (
                "Facets that judgments are spread over, with commas between; null of replications."
            ),
            "levels": (
                "How many levels of each of these facets are used, in their order; null of "
                "replications."
            ),
            "levels_of": (
                "How many levels each of them has in all, null where unlimited; null of "
                "replications."
            ),
            "n_judgments": (
                "Judgments of one question that are averaged, or vote; null where undefined says "
                "why."
            ),
            "generalizability": (
                "How well the mean of so many judgments compares questions: the share of its "
                "variance that is the questions' own (0 to 1); null where undefined says why."
            ),
            "low": "Lower end of the 95 % interval of generalizability; null where there is none.",
            "high": "Upper end of the 95 % interval of generalizability; null where there is none.",
            "no_interval": (
                "too_few_levels where a facet that is drawn from more has two levels in the "
                "data; else null."
            ),
            "dependability": (
                "The same for the value of one question by itself (0 to 1); never above "
                "generalizability; null where undefined says why."
            ),
            "repeatability": (
                "generalizability of the mean where this very prompt is all that counts; null of "
                "apart."
            ),
            "repeatability_low": (
                "Lower end of the 95 % interval of repeatability; null where there is none."
            ),
            "repeatability_high": (
                "Upper end of the 95 % interval of repeatability; null where there is none."
            ),
            "majority_stability": (
                "Chance that two majorities of so many replications agree; null of scores, of "
                "apart, and where nothing was asked twice."
            ),
            "majority_low": "Lower limit of majority_stability; null where it is not computed.",
            "majority_high": "Upper limit of majority_stability; null where it is not computed.",
            "majority_alpha": (
                "Krippendorff's alpha of such majorities; null where majority_stability is, or "
                "it has no value."
            ),
            **shared_meanings("undefined"),
        },
        "needs": {
            "target": (
                "What is aimed at: generalizability, dependability, majority_stability or "
                "interval_width (of Krippendorff's alpha)."
            ),
            "wanted": "The aim.",
            "now": "What the judgments there are come to; null where it is not known.",
            "standing": (
                "meets, fails or undecided, by the interval of now; null of interval_width, and "
                "where there is none."
            ),
            "lever": (
                "What more is bought: replications (of the same prompts), apart (judgments "
                "spread over facets) or questions; null where nothing can be told."
            ),
            "facets": (
                "Facets that judgments are spread over, with commas between; null of other levers."
            ),
            "levels": (
                "How many levels of each of these facets are used, in their order; null of other "
                "levers, and where the target is out of reach."
            ),
            "levels_of": (
                "How many levels each of them has in all, null where unlimited; null of other "
                "levers."
            ),
            "needed": (
                "Judgments of each question that it takes, as a fraction; of questions their "
                "number; null where the target is out of reach."
            ),
            "needed_whole": "The same, as it can be bought; null where the target is out of reach.",
            "needed_cautious": (
                "The same where the low end of the interval, and not the estimate, must reach "
                "the target; null where none does, and of interval_width."
            ),
            "unreachable": (
                "Code that says why no number reaches the target (error_stays, questions_alike, "
                "levels_asked_once, too_few_questions, too_many_questions, ...), or why none is "
                "known (known_from_more, not_known, ...); null where one does."
            ),
            "error_of": "Facets whose error stays, with commas between; null of other reasons.",
            "n_replications": (
                "Replications there are, where the reason is what they tell; else null."
            ),
            "n_questions": "Questions there are, where the reason is what they tell; else null.",
            "design_replications": (
                "Replications of the design that would tell, or would not; else null."
            ),
            "design_questions": "Questions of that design; else null.",
            "judgments": (
                "Judgments in all that needed_whole takes; null where the target is out of reach."
            ),
            "tokens": (
                "The same in tokens, those of a prompt counted once for its replications; null "
                "where they were not measured."
            ),
            "gpu_seconds": "The same in seconds of GPU time; null where they were not measured.",
            **shared_meanings("conditions"),
        },
        "splits": {
            "n_items": "Questions that this split asks.",
            "n_replications": "Replications of each.",
            "standard_error": "Standard error of Krippendorff's alpha that is to be expected.",
            "width": "Width of its 95 % interval, from end to end.",
            "best": "true where no other split of the budget has a narrower interval.",
            **_COSTS,
            **shared_meanings("conditions"),
        },
        "panel": {
            "n_judges": "Size of the panel.",
            "agreement": (
                "Chance that the majorities of two such panels agree, each judge judging once; "
                "null of scores."
            ),
            "gain": "What the last judge adds to the agreement; null for the first, and of scores.",
            "judges": "Judges that there are.",
            **shared_meanings("effective", "effective_low", "effective_high", "error_correlation"),
            "n_items": "Questions with a verdict.",
            "undefined": (
                "Code that says why there is no effective (no_gold, too_few_judges, "
                "too_few_units, no_bound); null where there is one."
            ),
        },
    },
}
