"""What ``uncertainty`` prints, and what the page shows besides."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, List, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import (
    Common,
    EndColumns,
    FlagColumns,
    FloorSpread,
    GroupColumns,
    interval_ends,
)


class JudgmentWorth(Schema):
    """One row per group and quantity.

    Accuracy by label, how well the margin ranks right before wrong, what a threshold
    guarantees.
    """

    n_matrices = Int64("Confusion matrices of the group.")
    quantity = String(
        "What is told: accuracy, accuracy_low and accuracy_high (by label), share_low, auroc, "
        "aurc, conformal_coverage, ..."
    )
    threshold = Float64(
        "Threshold of the labels that it is about; null where each fold has its own, and of all "
        "else."
    )
    value = Float64(
        "The number; a share is from 0 to 1, a deviation in steps of the scale; null where "
        "undefined says why."
    )
    ends = EndColumns
    k = Int64("Successes, where it is a share; else null.")
    n = Int64(
        "Judgments that it rests on, of which k are successes where it is a share; null of a "
        "threshold."
    )
    estimator = Common.estimator
    undefined = Common.undefined
    weakened = FlagColumns


class ScoreWorth(Schema):
    """One row per group and score: its mean, and how well it tells right from wrong judgments."""

    score = String(
        "The score of a judgment: margin, entropy, largest_u, ..., or a plain baseline: "
        "share_of_replications, entropy_of_replications, probability_of_verdict."
    )
    of_replications = Int64(
        "Replications that a baseline is made of, each judgment's; null of other scores."
    )
    drawn_at = Float64("Temperature of these replications; null of other scores.")
    surer = String("higher where a larger score is surer, lower where a smaller one is.")
    mean = Float64(
        "Mean of the score over the judgments (entropies and mutual information in nats; "
        "signed_margin and suggestibility from -1 to 1, all else from 0 to 1); null where no "
        "judgment has it."
    )
    mean_low = Float64(
        "Lower end of the 95 % interval of the mean, at least what a score can be; null where all "
        "judgments are of one text."
    )
    mean_high = Float64(
        "Upper end of the 95 % interval of the mean, at most what a score can be; null where all "
        "judgments are of one text."
    )
    auroc = Float64(
        "How often a right judgment is surer than a wrong one, ties counting half (1 perfect, .5 "
        "says nothing); null where undefined says why."
    )
    auroc_low, auroc_high = interval_ends("auroc")
    aurc = Float64(
        "Share wrong among the surest judgments, averaged over all shares accepted (0 to 1, less "
        "is better); null where no judgment has the score."
    )
    aurc_low, aurc_high = interval_ends("aurc", "where all are right, or all wrong")
    few = String(
        "few_wrong or few_right where fewer than ten texts have such a judgment; else null."
    )
    n = Int64("Judgments that have the score.")
    tokens = Float64(
        "Mean number of tokens that the score takes for an item, computed and generated; null "
        "where that is not known."
    )
    undefined = String(
        "Code that says why there is no auroc (no_variance; score_not_computed where no judgment "
        "has the score); null where there is one."
    )


class LabelColumns(Schema):
    """Accuracy under each label, and the share of low uncertainty."""

    k_all = Int64("Right judgments.")
    n_all = Int64("Judgments.")
    all = Float64("Share right of all judgments (0 to 1).")
    all_from, all_to = interval_ends("all")
    k_low = Int64("Right judgments of low uncertainty.")
    n_low = Int64("Judgments of low uncertainty.")
    low = Float64(
        "Share right of the judgments of low uncertainty (0 to 1); null where there are none."
    )
    low_from, low_to = interval_ends("low", "in-sample")
    k_high = Int64("Right judgments of high uncertainty.")
    n_high = Int64("Judgments of high uncertainty.")
    high = Float64(
        "Share right of the judgments of high uncertainty (0 to 1); null where there are none."
    )
    high_from, high_to = interval_ends("high", "in-sample")
    k_share = Int64("Judgments of low uncertainty.")
    n_share = Int64("Judgments.")
    share = Float64("Share of the judgments that are of low uncertainty (0 to 1).")
    share_from, share_to = interval_ends("share", "in-sample")


class LabelledShares(Schema):
    """One row per group, way of labelling and criterion.

    Accuracy under each label, and the share of low uncertainty.
    """

    kind = String(
        "How labels of low and high uncertainty were given: threshold (stated), cross-fitted (by "
        "thresholds of other folds) or in-sample (optimistic)."
    )
    threshold = Float64("The threshold; null where each fold has its own.")
    how = String(
        "How the labels were chosen: threshold_given, cross_fitted (each by a threshold of the "
        "other folds) or best_in_sample (optimistic: by the threshold that looks best on the same "
        "judgments)."
    )
    n_folds = Int64("Folds of a cross_fitted threshold; else null.")
    criterion = String("The criterion that the row is of; null for all together.")
    shares = LabelColumns


class ThresholdTransfers(Schema):
    """One row per pair of benchmarks, judges or criteria.

    A threshold chosen on the one, used on the other.
    """

    across = String("The column in which source and target differ: benchmark, judge or criterion.")
    within = String("What source and target have in common.")
    source = String("Where the threshold was chosen.")
    target = String("Where it is used.")
    threshold = Float64(
        "The threshold; null where source and target are one, labelled by cross-fitting."
    )
    cross_fitted = Bool("true where every judgment is labelled by a threshold of other folds.")
    n = Int64("Judgments of the target.")
    n_low = Int64("Those of low uncertainty.")
    accuracy_low = Float64("Share right of these (0 to 1); null where there are none.")
    low, high = interval_ends("accuracy_low")
    share_low = Float64("Share of the target's judgments that are of low uncertainty (0 to 1).")
    share_low_low, share_low_high = interval_ends("share_low")
    undefined = Common.undefined


class PeopleAgreement(Schema):
    """One row per benchmark, criterion and kind of people: how often two of them agree."""

    benchmark = GroupColumns.benchmark
    criterion = String("The criterion that the row is of; null for all together.")
    raters = String("Kind of people, where raters are named kind:name; else null.")
    value = Float64(
        "How often two people who rate the same give the same rating: the mean over items of the "
        "share of pairs that agree (0 to 1)."
    )
    ends = EndColumns
    n_items = Int64("Items with two ratings or more.")
    n_ratings = Int64("Ratings of these.")
    undefined = Common.undefined


class PeopleMatches(Schema):
    """One row per group, kind of people, criterion and label.

    How often the judge gives the label of a person, beside a person held out.
    """

    raters = String("Kind of people, where raters are named kind:name; else null.")
    criterion = String("The criterion that the row is of; null for all together.")
    label = String("all judgments, or those of low or of high uncertainty.")
    judge_share = Float64(
        "How often the judge gives the label of a person, the mean over items of the share of "
        "their people (0 to 1)."
    )
    judge_low, judge_high = interval_ends("judge_share")
    person_share = Float64("The same of each person against the item's other people.")
    person_low, person_high = interval_ends("person_share")
    difference = Float64(
        "judge_share less person_share, on the same items; above 0 the judge is nearer to people "
        "than they are to each other."
    )
    difference_low, difference_high = interval_ends("the difference")
    noise_floor = Float64(
        "judge_share with the judge's labels shuffled across items; null where it has no floor."
    )
    floor = FloorSpread
    person_floor = Float64("person_share with people's labels shuffled across items.")
    n_items = Int64("Items of two people or more that take part.")
    n_ratings = Int64("Ratings of these.")
    n_split = Int64("Those of the items without a single most frequent label.")
    n_single = Int64("Items of one person, which take no part.")
    undefined = Common.undefined


class ThresholdCurve(Schema):
    """One row per group and threshold from .01 to .99."""

    threshold = Float64("Threshold that u must reach, .01 to .99.")
    shares = LabelColumns


class MarginAcceptance(Schema):
    """One row per group and margin: the share wrong among judgments that reach it."""

    margin = Float64("Least margin of the judgments accepted.")
    accepted = Float64("Share of judgments that reach it (0 to 1).")
    n_accepted = Int64("Judgments accepted.")
    n_errors = Int64("Wrong ones among them.")
    error = Float64("Share wrong of the accepted (0 to 1).")
    low = Float64("Lower end of the 95 % interval of error at this margin by itself.")
    high = Float64("Upper end of the 95 % interval of error at this margin by itself.")


class MatrixRows(Schema):
    """One row per confusion matrix, after the columns that name it.

    The option chosen, the right one, the label and every score.
    """

    options = List(String(), "Ids of the options.")
    u = List(Float64(), "Mean probability of each option over the assessments.")
    chosen = String("Id of the option that the judge chose by itself; null where it is not known.")
    chosen_by_matrix = String("Option of the largest u; null where two tie.")
    label = String("low or high uncertainty; null without a threshold.")
    margin = Float64(
        "Largest u less the second largest; 0 where the judge must choose that and does not."
    )
    signed_margin = Float64("u of the option chosen less the largest other.")
    entropy = Float64("Entropy of u scaled to sum 1, in nats.")
    worst_case = Float64("Least probability of the option chosen over the assessments.")
    suggestibility = Float64(
        "Mean probability of an option under its own assessment less that under the others'."
    )
    dobrushin = Float64(
        "Largest total variation between two assessments; 0 where arguing changes nothing."
    )
    mutual_information = Float64(
        "Mutual information of the assessment shown and the option, in nats."
    )
    n_missing = Int64("Assessments that are not there.")
    right = String("Id of the right option; null where nobody knows it.")
    correct = Bool("Whether the verdict is right; null where nobody knows.")
    correct_by_matrix = Bool("Whether chosen_by_matrix is right; null where nobody knows.")
    undefined = Common.undefined


class ArguedShares(Schema):
    """One row per judge and number of options: how far probability follows what was argued."""

    judge = GroupColumns.judge
    n_options = Int64("Number of options.")
    n_matrices = Int64("Confusion matrices.")
    argued = Float64("Mean probability of the option argued for.")
    other = Float64("Mean probability of each other option.")
    even = Float64("Probability of even odds.")
    empty = Float64("Share of cells off the diagonal below .01.")


class PlainScores(Schema):
    """One row per judge, question, score and verdict, of scores that took no matrix."""

    judge = GroupColumns.judge
    benchmark = GroupColumns.benchmark
    item_id = String("The question.")
    score = ScoreWorth.score
    of_replications = ScoreWorth.of_replications
    drawn_at = ScoreWorth.drawn_at
    higher_is_surer = Bool("Whether a larger score is surer.")
    verdict = String("The verdict that value is of; null where it is the same for all.")
    value = Float64("The score.")
    tokens = Float64("Tokens that it took for the item, computed and generated.")


TABLES: SchemasByVerb = {
    "uncertainty": {
        "worth": JudgmentWorth,
        "scores": ScoreWorth,
        "labels": LabelledShares,
        "transfer": ThresholdTransfers,
        "people": PeopleAgreement,
        "against_people": PeopleMatches,
    },
}
