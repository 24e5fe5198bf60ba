"""What ``select`` and ``systems`` print."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import Common, FloorSpread, GroupColumns, interval_ends


class SystemConfidences(Schema):
    """One row per system and confidence: accuracy beside chance, ranking, calibration."""

    system = String("The system in words: the judge, and what tells it from the others.")
    n_questions = Int64("Questions with a right answer that it was asked.")
    n_answers = Int64("Its answers to them, those without a readable verdict included.")
    n_unread = Int64("Answers without a readable verdict; they count as wrong.")
    n_without_gold = Int64("Answers left out because nobody knows what is right.")
    n_right = Int64("Right answers.")
    accuracy = Float64(
        "Share of the answers that are right, unread ones counted as wrong (0 to 1)."
    )
    low, high = interval_ends("the accuracy")
    interval = String("How the interval of the accuracy was made.")
    accuracy_read = Float64(
        "Share right of the answers with a readable verdict; null where there are none."
    )
    read_low, read_high = interval_ends("accuracy_read")
    chance = Float64(
        "Accuracy of guessing, the mean of 1 by the number of options; null where that number is "
        "not known of every question."
    )
    noise_floor = Float64(
        "Accuracy that the same answers would have on average with the right answers shuffled "
        "across questions; null below two questions."
    )
    floor = FloorSpread
    confidence = Common.confidence
    n_rejected = Int64(
        "Answers without that confidence or without a verdict: no threshold accepts them."
    )
    n_distinct = Int64("Different values of the confidence that occur; null without a confidence.")
    auroc = Float64(
        "How often a right answer has more confidence than a wrong one, ties counting half (1 "
        "perfect, .5 says nothing); null where undefined says why."
    )
    auroc_low, auroc_high = interval_ends("auroc")
    auroc_floor_sd = Float64(
        "Standard deviation of auroc about .5 by chance; null without an auroc, and where all "
        "confidences tie."
    )
    auroc_p_noise = Float64(
        "Two-sided p-value of auroc: how often chance lies as far from .5; null without an auroc, "
        "and where all confidences tie."
    )
    auroc_noise = Bool(
        "true where auroc_p_noise is above .05, so that the ranking cannot be told from chance; "
        "null without an auroc_p_noise."
    )
    aurc = Float64(
        "Area under the risk-coverage curve: the share wrong among the surest answers, averaged "
        "over all shares accepted (0 to 1, less is better); null without a confidence."
    )
    aurc_low, aurc_high = interval_ends("aurc", "where all answers are right, or all wrong")
    aurc_floor = Float64(
        "The area of a confidence that says nothing: the share wrong among answers that have one; "
        "null without a confidence."
    )
    aurc_excess = Float64(
        "aurc less that of a confidence that ranks every wrong answer last; 0 is perfect; null "
        "without a confidence."
    )
    few = String(
        "few_wrong or few_right where fewer than ten questions have such an answer, so that the "
        "ranking rests on few; else null."
    )
    mean_confidence = Float64(
        "Mean confidence of the answers that have one (0 to 1); null without a confidence."
    )
    accuracy_confident = Float64(
        "Share right of these answers; below mean_confidence the system is overconfident; null "
        "without a confidence."
    )
    ece = Float64(
        "Expected calibration error over bins of equal width: how far accuracy lies from mean "
        "confidence (0 to 1, less is better; read it beside its floor); null without a confidence."
    )
    ece_floor = Float64(
        "What ece would be of calibrated confidence with as many answers; never 0; null without a "
        "confidence."
    )
    ece_p = Float64(
        "Chance of an ece this large or larger if confidence were calibrated; null without a "
        "confidence."
    )
    ece_mass = Float64(
        "The same error over bins of about equally many answers; null without a confidence."
    )
    ece_mass_floor = Float64(
        "What ece_mass would be of calibrated confidence; null without a confidence."
    )
    ece_mass_p = Float64(
        "Chance of an ece_mass this large or larger if confidence were calibrated; null without a "
        "confidence."
    )
    n_bins = Int64("Bins asked for; null without a confidence.")
    brier = Float64(
        "Brier score: mean squared distance of confidence from 1 (right) or 0 (wrong); less is "
        "better; null without a confidence."
    )
    brier_low, brier_high = interval_ends("brier")
    brier_floor = Float64(
        "Brier score of the same confidences shuffled across the answers; null without a "
        "confidence."
    )
    undefined = String(
        "Code that says why there is no auroc (no_confidence, no_variance, no_verdicts); null "
        "where there is one."
    )


class Acceptances(Schema):
    """One row per system, confidence and threshold: error and accuracy of what it accepts."""

    system = String("The system in words, as in systems.")
    confidence = Common.confidence
    threshold = Float64(
        "Confidence from which answers are accepted; values that occur, at most 50."
    )
    acceptance = Float64("Share of all answers that are accepted (0 to 1).")
    n_accepted = Common.n_accepted
    n_errors = Common.n_errors
    n_answers = Int64("All answers.")
    error = Float64("Share wrong of the accepted (0 to 1).")
    low, high = interval_ends("the error at this threshold by itself")
    band_low = Float64(
        "Lower end of the error that holds at all thresholds together (95 %); null where there is "
        "none."
    )
    band_high = Float64(
        "Upper end of the error that holds at all thresholds together (95 %); null where there is "
        "none."
    )
    accuracy = Float64("1 less the error.")
    interval = String("How the interval at one threshold was made.")
    band = String(
        "How the ends that hold together were made: bonferroni (exact ends of each threshold, less "
        "error each) or dkw (one half width for all)."
    )
    band_thresholds = Int64("Thresholds that the band holds at.")
    band_off = Float64("Half width of the dkw band, as a share of all answers; null of bonferroni.")


class ConfidenceBins(Schema):
    """One row per system, confidence and bin of it: accuracy by confidence."""

    system = String("The system in words, as in systems.")
    confidence = Common.confidence
    binning = String(
        "width: bins of equal steps of confidence; mass: bins of about equally many answers."
    )
    bin = Int64("Place of the bin, 0 for the least confidence; empty bins are left out.")
    from_ = Float64("Least confidence in the bin.", alias="from")
    to = Float64("Largest confidence in the bin.")
    mean_confidence = Float64("Mean confidence in the bin.")
    n = Int64("Answers in the bin.")
    n_right = Int64("Right answers in the bin.")
    accuracy = Float64(
        "Share right of them; below mean_confidence the system is overconfident there."
    )
    low, high = interval_ends("the accuracy")


class Guarantees(Schema):
    """One row per system and confidence.

    A threshold with a bound on the risk, and what it did on questions held out.
    """

    system = String("The system in words, as in systems.")
    confidence = Common.confidence
    risk = Float64("Share wrong among the accepted that is to be kept, as asked for.")
    delta = Float64("Chance that the guarantee fails, as asked for.")
    threshold = Float64(
        "Confidence from which to accept, learnt on one part of the questions; null where none can "
        "be promised."
    )
    n_calibration = Int64("Answers that the threshold was learnt on, one a question.")
    n_calibration_accepted = Int64(
        "Those of them that the threshold accepts; null without a threshold."
    )
    n_calibration_errors = Int64("Wrong ones among these; null without a threshold.")
    n_heldout = Int64("Answers to the other questions, on which the threshold was tried.")
    n_accepted = Int64("Those of them that the threshold accepts; null without a threshold.")
    acceptance = Float64(
        "Share of the held-out answers that are accepted; null without a threshold."
    )
    n_errors = Int64("Wrong ones among the accepted; null without a threshold.")
    error = Float64("Share wrong of the accepted held-out answers; null where none are.")
    low, high = interval_ends("the error")
    split = String(
        "How the questions were split in two; half_of_questions draws half of them by seed."
    )
    seed = Int64("Seed that drew the halves.")
    undefined = String(
        "Code that says why there is no threshold (too_few_judgments, risk_too_high); null where "
        "there is one."
    )


class PairedColumns(Schema):
    """Two systems on the questions that both were asked."""

    n_questions = Int64("Questions that both were asked.")
    both = Int64("Questions that both got right; null where answers are not each right or wrong.")
    first_only = Int64("Questions that the first alone got right; null where both is.")
    second_only = Int64("Questions that the second alone got right; null where both is.")
    neither = Int64("Questions that neither got right; null where both is.")
    first_accuracy = Float64("Share of these questions that the first got right (0 to 1).")
    second_accuracy = Float64("Share of these questions that the second got right (0 to 1).")
    difference = Float64(
        "Accuracy of the second less that of the first; above 0 where the second is better."
    )
    low, high = interval_ends("the difference")
    p = Float64(
        "Two-sided p-value of no difference: exact McNemar's, or Student's where answers are not "
        "each right or wrong."
    )
    p_holm = Common.p_holm
    n_comparisons = Int64("Comparisons that p_holm is adjusted for.")
    method = String("How interval and p-value were made.")
    confidence = String(
        "By which confidence answers are accepted in the columns of errors; null where the two "
        "have none in common."
    )
    reach = Float64("Largest share of the answers that both can accept; null without a confidence.")
    error_difference = Float64(
        "Share wrong of the second less that of the first, at the same share accepted, averaged "
        "over these shares; below 0 the second is better; null without a confidence."
    )
    error_low, error_high = interval_ends("error_difference")
    error_p = Float64("Two-sided p-value of no difference of errors; null where there is none.")
    error_p_holm = Float64(
        "error_p adjusted by Holm's method for n_comparisons; null where that is."
    )
    undefined = String(
        "Code that says why nothing is compared (no_common_questions, no_model_alone, "
        "several_answer_temperatures); null where it is."
    )


class SystemPairs(Schema):
    """One row per pair of systems.

    Questions right by both, one or neither, and the difference of their accuracy.
    """

    benchmark = GroupColumns.benchmark
    first = String("The one system in words.")
    second = String("The other system in words.")
    answer = String("Which answer counts of a question asked several times: first or majority.")
    paired = PairedColumns


class EqualAcceptances(Schema):
    """One row per pair and share accepted, in tenths: their errors where both accept that share."""

    benchmark = GroupColumns.benchmark
    first = String("The one system in words.")
    second = String("The other system in words.")
    confidence = Common.confidence
    acceptance = Float64("Share of the answers that both accept, the surest first.")
    first_error = Float64("Share wrong of what the first accepts.")
    second_error = Float64("Share wrong of what the second accepts.")
    difference = Float64("second_error less first_error; below 0 where the second errs less.")
    low, high = interval_ends("the difference")


class MatchedCosts(Schema):
    """Two rows per judge that compares others' answers.

    Against the best model alone, and against that model's majority for the same cost. The best
    is chosen on these very questions, which favours it.
    """

    benchmark = GroupColumns.benchmark
    first = String(
        "The model alone that the judge is held against, the best of n_candidates on these "
        "questions; null where undefined says why."
    )
    baseline = String(
        "single: that model asked once; votes: its majority of as many replies as the judge's cost "
        "buys."
    )
    second = String("The judge that compares others' answers, in words.")
    unit = String("What costs are counted in: cost (money), tokens or requests.")
    first_cost = Float64("Mean cost of one question by the first.")
    second_cost = Float64(
        "Mean cost of one question by the second, the answers it compares included."
    )
    n_compared = Int64("Answers that the judge compares.")
    votes = Int64(
        "Replies a question that the majority is of, in the mean; fewer than votes_wanted where no "
        "more were asked for."
    )
    votes_wanted = Int64("Replies that cost no more than the judge.")
    n_candidates = Int64("Models alone that the best was chosen from.")
    paired = PairedColumns


class SelfPreferences(Schema):
    """One row per judge and temperature: how far it prefers its own answer.

    The control is the same model where that answer is not shown to it. ``own`` is its answer as
    a model alone, against the other participants; ``self`` that answer against the same model
    as evaluator_only.
    """

    benchmark = GroupColumns.benchmark
    judge = GroupColumns.judge
    temperature = GroupColumns.temperature
    template = GroupColumns.template
    answer = String("Which answer counts of a question asked several times: first or majority.")
    n_questions = Int64(
        "Questions that the judge was asked in both roles; null without the role evaluator_only."
    )
    participant = Float64("Its accuracy where its own answer is among those it compares.")
    evaluator_only = Float64("Its accuracy where its own answer is not shown.")
    difference = Float64("participant less evaluator_only.")
    low, high = interval_ends("the difference")
    p = Float64("Two-sided p-value of no difference of the accuracies.")
    n_disputed = Int64(
        "Questions on which the models disagree, which it answered itself, and of which the other "
        "judges judged any: the columns below are of these."
    )
    own_picked = Float64("How often it picks the answer that it gave itself (0 to 1).")
    own_picked_by_others = Float64(
        "How often the other participants, who saw the same answers, pick that one."
    )
    own_difference = Float64(
        "own_picked less own_picked_by_others; opinions differ, so by itself it shows no "
        "preference."
    )
    own_low, own_high = interval_ends("own_difference")
    own_p = Float64("Two-sided p-value of own_difference.")
    n_own_wrong = Int64("Those questions on which its own answer is wrong.")
    own_wrong_picked = Float64("own_picked where its own answer is wrong.")
    own_wrong_picked_by_others = Float64("own_picked_by_others where its own answer is wrong.")
    own_wrong_difference = Float64("own_difference where its own answer is wrong.")
    own_wrong_low, own_wrong_high = interval_ends("own_wrong_difference")
    own_wrong_p = Float64("Two-sided p-value of own_wrong_difference.")
    n_self = Int64("Disputed questions that it was asked as evaluator_only, too.")
    self_picked = Float64("How often it picks its own answer there as participant.")
    self_picked_as_evaluator = Float64(
        "How often it picks that option as evaluator_only, where it is not shown its answer."
    )
    self_difference = Float64(
        "self_picked less self_picked_as_evaluator: above 0 where showing it its own answer makes "
        "it pick it more."
    )
    self_low, self_high = interval_ends("self_difference")
    self_noise_sd = Float64(
        "Standard deviation of self_difference about 0, were the two roles exchanged at random."
    )
    self_p = Float64("Two-sided p-value of self_difference.")
    self_p_holm = Float64("self_p adjusted by Holm's method over n_judges.")
    n_self_wrong = Int64("Those questions on which its own answer is wrong.")
    self_wrong_picked = Float64("self_picked where its own answer is wrong.")
    self_wrong_picked_as_evaluator = Float64(
        "self_picked_as_evaluator where its own answer is wrong."
    )
    self_wrong_difference = Float64("self_difference where its own answer is wrong.")
    self_wrong_low, self_wrong_high = interval_ends("self_wrong_difference")
    self_wrong_noise_sd = Float64("self_noise_sd where its own answer is wrong.")
    self_wrong_p = Float64("Two-sided p-value of self_wrong_difference.")
    self_wrong_p_holm = Float64("self_wrong_p adjusted by Holm's method over the judges.")
    favours_p_holm = Float64(
        "The larger of self_p and own_p (1 unless both differences are above 0), adjusted by "
        "Holm's method over the judges."
    )
    n_judges = Int64("Rows with a self_p, for which p-values are adjusted.")
    finding = String(
        "favours_its_own, option_was_shown, avoids_its_own or not_distinguishable; null where it "
        "cannot be told."
    )
    undefined = String(
        "Code of what is lacking (no_evaluator_only, no_other_judge, no_own_answer, "
        "several_answer_temperatures); null where nothing is."
    )


TABLES: SchemasByVerb = {
    "select": {
        "systems": SystemConfidences,
        "acceptance": Acceptances,
        "reliability": ConfidenceBins,
        "guarantees": Guarantees,
    },
    "systems": {
        "pairs": SystemPairs,
        "equal_acceptance": EqualAcceptances,
        "matched_cost": MatchedCosts,
        "self_preference": SelfPreferences,
    },
}
