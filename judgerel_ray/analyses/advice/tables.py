"""What ``advise`` prints."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, List, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import Common, FlagColumns, WorthColumns, interval_ends


class Components(Schema):
    """Variance components: what is the question's, and what is error.

    Repeats at temperature 0 are the serving's noise: they have this table alone, and ``flags``
    say so.
    """

    component = String(
        "The effect: one facet, or several with x between; residual is what replications differ "
        "by; null in a row that has no estimate at all."
    )
    part = String(
        "wanted (the question's, and what belongs to it), error (what should not matter) or chosen "
        "(facets that stay as they are); null without an estimate."
    )
    estimate = Float64(
        "Variance of the effect: of scores in squared points, of names of the shares of verdicts; "
        "below 0 where there is less of it than chance would give; null where undefined says why."
    )
    share = Float64(
        "Share of the variance of one judgment; null where that variance is not above 0."
    )
    low, high = interval_ends("the estimate")
    no_interval = String(
        "too_few_levels where a facet that is drawn from more has two levels in the data; else "
        "null."
    )
    n_levels = Int64(
        "Levels of the effect in the data; of the residual, judgments; null without an estimate."
    )
    levels_of = Int64(
        "How many levels the facet has in all, where that is known; null where they are unlimited, "
        "and of several facets."
    )
    negative = Bool(
        "true where the estimate is below 0; it counts as 0 in all that is planned; null without "
        "an estimate."
    )
    n_items = Int64("Questions that it rests on.")
    n_judgments = Int64("Judgments that it rests on.")
    weakened = FlagColumns
    estimator = Common.estimator
    undefined = String(
        "Why there is no estimate, such as no_variance or the effect that it cannot be told from; "
        "null where there is one."
    )


class Designs(Schema):
    """What the mean, and the majority, of 1, 2, 3, 5, ... judgments is worth.

    With replications of the same prompts, and where prompts vary with judgments spread over
    their levels, new ones each time or equally many at each of a known number.
    """

    design = String(
        "replications (the same prompt again) or apart (judgments spread over the levels of facets "
        "that should not matter); null where undefined says why."
    )
    facets = String(
        "Facets that judgments are spread over, with commas between; null of replications."
    )
    levels = List(
        Int64(),
        "How many levels of each of these facets are used, in their order; null of replications.",
    )
    levels_of = List(
        Int64(),
        "How many levels each of them has in all, null where unlimited; null of replications.",
    )
    n_judgments = Int64(
        "Judgments of one question that are averaged, or vote; null where undefined says why."
    )
    generalizability = Float64(
        "How well the mean of so many judgments compares questions: the share of its variance that "
        "is the questions' own (0 to 1); null where undefined says why."
    )
    low, high = interval_ends("generalizability")
    no_interval = String(
        "too_few_levels where a facet that is drawn from more has two levels in the data; else "
        "null."
    )
    dependability = Float64(
        "The same for the value of one question by itself (0 to 1); never above generalizability; "
        "null where undefined says why."
    )
    repeatability = Float64(
        "generalizability of the mean where this very prompt is all that counts; null of apart."
    )
    repeatability_low, repeatability_high = interval_ends("repeatability")
    majority_stability = Float64(
        "Chance that two majorities of so many replications agree; null of scores, of apart, and "
        "where nothing was asked twice."
    )
    majority_low = Float64("Lower limit of majority_stability; null where it is not computed.")
    majority_high = Float64("Upper limit of majority_stability; null where it is not computed.")
    majority_alpha = Float64(
        "Krippendorff's alpha of such majorities; null where majority_stability is, or it has no "
        "value."
    )
    undefined = Common.undefined


class Needs(Schema):
    """What each target takes, by lever, with its cost."""

    target = String(
        "What is aimed at: generalizability, dependability, majority_stability or interval_width "
        "(of Krippendorff's alpha)."
    )
    wanted = Float64("The aim.")
    now = Float64("What the judgments there are come to; null where it is not known.")
    standing = String(
        "meets, fails or undecided, by the interval of now; null of interval_width, and where "
        "there is none."
    )
    lever = String(
        "What more is bought: replications (of the same prompts), apart (judgments spread over "
        "facets) or questions; null where nothing can be told."
    )
    facets = String(
        "Facets that judgments are spread over, with commas between; null of other levers."
    )
    levels = List(
        Int64(),
        "How many levels of each of these facets are used, in their order; null of other levers, "
        "and where the target is out of reach.",
    )
    levels_of = List(
        Int64(),
        "How many levels each of them has in all, null where unlimited; null of other levers.",
    )
    needed = Float64(
        "Judgments of each question that it takes, as a fraction; of questions their number; null "
        "where the target is out of reach."
    )
    needed_whole = Int64("The same, as it can be bought; null where the target is out of reach.")
    needed_cautious = Int64(
        "The same where the low end of the interval, and not the estimate, must reach the target; "
        "null where none does, and of interval_width."
    )
    unreachable = String(
        "Code that says why no number reaches the target (error_stays, questions_alike, "
        "levels_asked_once, too_few_questions, too_many_questions, ...), or why none is known "
        "(known_from_more, not_known, ...); null where one does."
    )
    error_of = String("Facets whose error stays, with commas between; null of other reasons.")
    n_replications = Int64("Replications there are, where the reason is what they tell; else null.")
    n_questions = Int64("Questions there are, where the reason is what they tell; else null.")
    design_replications = Int64(
        "Replications of the design that would tell, or would not; else null."
    )
    design_questions = Int64("Questions of that design; else null.")
    judgments = Float64(
        "Judgments in all that needed_whole takes; null where the target is out of reach."
    )
    tokens = Float64(
        "The same in tokens, those of a prompt counted once for its replications; null where they "
        "were not measured."
    )
    gpu_seconds = Float64("The same in seconds of GPU time; null where they were not measured.")
    conditions = Common.conditions


class Splits(Schema):
    """Ways to split a budget between questions and replications."""

    n_items = Int64("Questions that this split asks.")
    n_replications = Int64("Replications of each.")
    standard_error = Float64("Standard error of Krippendorff's alpha that is to be expected.")
    width = Float64("Width of its 95 % interval, from end to end.")
    best = Bool("true where no other split of the budget has a narrower interval.")
    judgments = Common.judgments
    tokens = Common.tokens
    gpu_seconds = Common.gpu_seconds
    conditions = Common.conditions


class PanelSizes(Schema):
    """Judges as a panel; empty where there is one."""

    n_judges = Int64("Size of the panel.")
    agreement = Float64(
        "Chance that the majorities of two such panels agree, each judge judging once; null of "
        "scores."
    )
    gain = Float64("What the last judge adds to the agreement; null for the first, and of scores.")
    judges = Int64("Judges that there are.")
    worth = WorthColumns
    error_correlation = Common.error_correlation
    n_items = Int64("Questions with a verdict.")
    undefined = String(
        "Code that says why there is no effective (no_gold, too_few_judges, too_few_units, "
        "no_bound); null where there is one."
    )


TABLES: SchemasByVerb = {
    "advise": {
        "components": Components,
        "designs": Designs,
        "needs": Needs,
        "splits": Splits,
        "panel": PanelSizes,
    }
}
