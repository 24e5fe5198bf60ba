"""What each column of ``select`` and ``systems`` means, and how to read it."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns, shared_meanings

_PAIRED = {
    "n_questions": "Questions that both were asked.",
    "both": "Questions that both got right; null where answers are not each right or wrong.",
    "first_only": "Questions that the first alone got right; null where both is.",
    "second_only": "Questions that the second alone got right; null where both is.",
    "neither": "Questions that neither got right; null where both is.",
    "first_accuracy": "Share of these questions that the first got right (0 to 1).",
    "second_accuracy": "Share of these questions that the second got right (0 to 1).",
    "difference": (
        "Accuracy of the second less that of the first; above 0 where the second is better."
    ),
    "low": "Lower end of the 95 % interval of the difference; null where there is none.",
    "high": "Upper end of the 95 % interval of the difference; null where there is none.",
    "p": (
        "Two-sided p-value of no difference: exact McNemar's, or Student's where answers are not "
        "each right or wrong."
    ),
    **shared_meanings("p_holm"),
    "n_comparisons": "Comparisons that p_holm is adjusted for.",
    "method": "How interval and p-value were made.",
    "confidence": (
        "By which confidence answers are accepted in the columns of errors; null where the two "
        "have none in common."
    ),
    "reach": "Largest share of the answers that both can accept; null without a confidence.",
    "error_difference": (
        "Share wrong of the second less that of the first, at the same share accepted, averaged "
        "over these shares; below 0 the second is better; null without a confidence."
    ),
    "error_low": "Lower end of the 95 % interval of error_difference; null where there is none.",
    "error_high": "Upper end of the 95 % interval of error_difference; null where there is none.",
    "error_p": "Two-sided p-value of no difference of errors; null where there is none.",
    "error_p_holm": "error_p adjusted by Holm's method for n_comparisons; null where that is.",
    "undefined": (
        "Code that says why nothing is compared (no_common_questions, no_model_alone, "
        "several_answer_temperatures); null where it is."
    ),
}

COLUMNS: Columns = {
    "select": {
        "systems": {
            "system": "The system in words: the judge, and what tells it from the others.",
            "n_questions": "Questions with a right answer that it was asked.",
            "n_answers": "Its answers to them, those without a readable verdict included.",
            "n_unread": "Answers without a readable verdict; they count as wrong.",
            "n_without_gold": "Answers left out because nobody knows what is right.",
            "n_right": "Right answers.",
            "accuracy": (
                "Share of the answers that are right, unread ones counted as wrong (0 to 1)."
            ),
            "low": "Lower end of the 95 % interval of the accuracy; null where there is none.",
            "high": "Upper end of the 95 % interval of the accuracy; null where there is none.",
            "interval": "How the interval of the accuracy was made.",
            "accuracy_read": (
                "Share right of the answers with a readable verdict; null where there are none."
            ),
            "read_low": (
                "Lower end of the 95 % interval of accuracy_read; null where there is none."
            ),
            "read_high": (
                "Upper end of the 95 % interval of accuracy_read; null where there is none."
            ),
            "chance": (
                "Accuracy of guessing, the mean of 1 by the number of options; null where that "
                "number is not known of every question."
            ),
            "noise_floor": (
                "Accuracy that the same answers would have on average with the right answers "
                "shuffled across questions; null below two questions."
            ),
            **shared_meanings("noise_floor_sd", "p_noise", "noise", "confidence"),
            "n_rejected": (
                "Answers without that confidence or without a verdict: no threshold accepts them."
            ),
            "n_distinct": (
                "Different values of the confidence that occur; null without a confidence."
            ),
            "auroc": (
                "How often a right answer has more confidence than a wrong one, ties counting "
                "half (1 perfect, .5 says nothing); null where undefined says why."
            ),
            "auroc_low": "Lower end of the 95 % interval of auroc; null where there is none.",
            "auroc_high": "Upper end of the 95 % interval of auroc; null where there is none.",
            "auroc_floor_sd": (
                "Standard deviation of auroc about .5 by chance; null without an auroc, and "
                "where all confidences tie."
            ),
            "auroc_p_noise": (
                "Two-sided p-value of auroc: how often chance lies as far from .5; null without "
                "an auroc, and where all confidences tie."
            ),
            "auroc_noise": (
                "true where auroc_p_noise is above .05, so that the ranking cannot be told from "
                "chance; null without an auroc_p_noise."
            ),
            "aurc": (
                "Area under the risk-coverage curve: the share wrong among the surest answers, "
                "averaged over all shares accepted (0 to 1, less is better); null without a "
                "confidence."
            ),
            "aurc_low": (
                "Lower end of the 95 % interval of aurc; null where all answers are right, or "
                "all wrong."
            ),
            "aurc_high": (
                "Upper end of the 95 % interval of aurc; null where all answers are right, or "
                "all wrong."
            ),
            "aurc_floor": (
                "The area of a confidence that says nothing: the share wrong among answers that "
                "have one; null without a confidence."
            ),
            "aurc_excess": (
                "aurc less that of a confidence that ranks every wrong answer last; 0 is "
                "perfect; null without a confidence."
            ),
            "few": (
                "few_wrong or few_right where fewer than ten questions have such an answer, so "
                "that the ranking rests on few; else null."
            ),
            "mean_confidence": (
                "Mean confidence of the answers that have one (0 to 1); null without a confidence."
            ),
            "accuracy_confident": (
                "Share right of these answers; below mean_confidence the system is "
                "overconfident; null without a confidence."
            ),
            "ece": (
                "Expected calibration error over bins of equal width: how far accuracy lies from "
                "mean confidence (0 to 1, less is better; read it beside its floor); null "
                "without a confidence."
            ),
            "ece_floor": (
                "What ece would be of calibrated confidence with as many answers; never 0; null "
                "without a confidence."
            ),
            "ece_p": (
                "Chance of an ece this large or larger if confidence were calibrated; null "
                "without a confidence."
            ),
            "ece_mass": (
                "The same error over bins of about equally many answers; null without a confidence."
            ),
            "ece_mass_floor": (
                "What ece_mass would be of calibrated confidence; null without a confidence."
            ),
            "ece_mass_p": (
                "Chance of an ece_mass this large or larger if confidence were calibrated; null "
                "without a confidence."
            ),
            "n_bins": "Bins asked for; null without a confidence.",
            "brier": (
                "Brier score: mean squared distance of confidence from 1 (right) or 0 (wrong); "
                "less is better; null without a confidence."
            ),
            "brier_low": "Lower end of the 95 % interval of brier; null where there is none.",
            "brier_high": "Upper end of the 95 % interval of brier; null where there is none.",
            "brier_floor": (
                "Brier score of the same confidences shuffled across the answers; null without a "
                "confidence."
            ),
            "undefined": (
                "Code that says why there is no auroc (no_confidence, no_variance, no_verdicts); "
                "null where there is one."
            ),
        },
        "acceptance": {
            "system": "The system in words, as in systems.",
            **shared_meanings("confidence"),
            "threshold": (
                "Confidence from which answers are accepted; values that occur, at most 50."
            ),
            "acceptance": "Share of all answers that are accepted (0 to 1).",
            **shared_meanings("n_accepted", "n_errors"),
            "n_answers": "All answers.",
            "error": "Share wrong of the accepted (0 to 1).",
            "low": (
                "Lower end of the 95 % interval of the error at this threshold by itself; null "
                "where there is none."
            ),
            "high": (
                "Upper end of the 95 % interval of the error at this threshold by itself; null "
                "where there is none."
            ),
            "band_low": (
                "Lower end of the error that holds at all thresholds together (95 %); null where "
                "there is none."
            ),
            "band_high": (
                "Upper end of the error that holds at all thresholds together (95 %); null where "
                "there is none."
            ),
            "accuracy": "1 less the error.",
            "interval": "How the interval at one threshold was made.",
            "band": (
                "How the ends that hold together were made: bonferroni (exact ends of each "
                "threshold, less error each) or dkw (one half width for all)."
            ),
            "band_thresholds": "Thresholds that the band holds at.",
            "band_off": (
                "Half width of the dkw band, as a share of all answers; null of bonferroni."
            ),
        },
        "reliability": {
            "system": "The system in words, as in systems.",
            **shared_meanings("confidence"),
            "binning": (
                "width: bins of equal steps of confidence; mass: bins of about equally many "
                "answers."
            ),
            "bin": "Place of the bin, 0 for the least confidence; empty bins are left out.",
            "from": "Least confidence in the bin.",
            "to": "Largest confidence in the bin.",
            "mean_confidence": "Mean confidence in the bin.",
            "n": "Answers in the bin.",
            "n_right": "Right answers in the bin.",
            "accuracy": (
                "Share right of them; below mean_confidence the system is overconfident there."
            ),
            "low": "Lower end of the 95 % interval of the accuracy; null where there is none.",
            "high": "Upper end of the 95 % interval of the accuracy; null where there is none.",
        },
        "guarantees": {
            "system": "The system in words, as in systems.",
            **shared_meanings("confidence"),
            "risk": "Share wrong among the accepted that is to be kept, as asked for.",
            "delta": "Chance that the guarantee fails, as asked for.",
            "threshold": (
                "Confidence from which to accept, learnt on one part of the questions; null "
                "where none can be promised."
            ),
            "n_calibration": "Answers that the threshold was learnt on, one a question.",
            "n_calibration_accepted": (
                "Those of them that the threshold accepts; null without a threshold."
            ),
            "n_calibration_errors": "Wrong ones among these; null without a threshold.",
            "n_heldout": "Answers to the other questions, on which the threshold was tried.",
            "n_accepted": "Those of them that the threshold accepts; null without a threshold.",
            "acceptance": (
                "Share of the held-out answers that are accepted; null without a threshold."
            ),
            "n_errors": "Wrong ones among the accepted; null without a threshold.",
            "error": "Share wrong of the accepted held-out answers; null where none are.",
            "low": "Lower end of the 95 % interval of the error; null where there is none.",
            "high": "Upper end of the 95 % interval of the error; null where there is none.",
            "split": (
                "How the questions were split in two; half_of_questions draws half of them by seed."
            ),
            "seed": "Seed that drew the halves.",
            "undefined": (
                "Code that says why there is no threshold (too_few_judgments, risk_too_high); "
                "null where there is one."
            ),
        },
    },
    "systems": {
        "pairs": {
            "first": "The one system in words.",
            "second": "The other system in words.",
            "answer": "Which answer counts of a question asked several times: first or majority.",
            **_PAIRED,
        },
        "equal_acceptance": {
            "first": "The one system in words.",
            "second": "The other system in words.",
            **shared_meanings("confidence"),
            "acceptance": "Share of the answers that both accept, the surest first.",
            "first_error": "Share wrong of what the first accepts.",
            "second_error": "Share wrong of what the second accepts.",
            "difference": "second_error less first_error; below 0 where the second errs less.",
            "low": "Lower end of the 95 % interval of the difference; null where there is none.",
            "high": "Upper end of the 95 % interval of the difference; null where there is none.",
        },
        "matched_cost": {
            "first": (
                "The model alone that the judge is held against, the best of n_candidates on "
                "these questions; null where undefined says why."
            ),
            "baseline": (
                "single: that model asked once; votes: its majority of as many replies as the "
                "judge's cost buys."
            ),
            "second": "The judge that compares others' answers, in words.",
            "unit": "What costs are counted in: cost (money), tokens or requests.",
            "first_cost": "Mean cost of one question by the first.",
            "second_cost": (
                "Mean cost of one question by the second, the answers it compares included."
            ),
            "n_compared": "Answers that the judge compares.",
            "votes": (
                "Replies a question that the majority is of, in the mean; fewer than "
                "votes_wanted where no more were asked for."
            ),
            "votes_wanted": "Replies that cost no more than the judge.",
            "n_candidates": "Models alone that the best was chosen from.",
            **_PAIRED,
        },
        "self_preference": {
            "answer": "Which answer counts of a question asked several times: first or majority.",
            "n_questions": (
                "Questions that the judge was asked in both roles; null without the role "
                "evaluator_only."
            ),
            "participant": "Its accuracy where its own answer is among those it compares.",
            "evaluator_only": "Its accuracy where its own answer is not shown.",
            "difference": "participant less evaluator_only.",
            "low": "Lower end of the 95 % interval of the difference; null where there is none.",
            "high": "Upper end of the 95 % interval of the difference; null where there is none.",
            "p": "Two-sided p-value of no difference of the accuracies.",
            "n_disputed": (
                "Questions on which the models disagree, which it answered itself, and of which "
                "the other judges judged any: the columns below are of these."
            ),
            "own_picked": "How often it picks the answer that it gave itself (0 to 1).",
            "own_picked_by_others": (
                "How often the other participants, who saw the same answers, pick that one."
            ),
            "own_difference": (
                "own_picked less own_picked_by_others; opinions differ, so by itself it shows no "
                "preference."
            ),
            "own_low": (
                "Lower end of the 95 % interval of own_difference; null where there is none."
            ),
            "own_high": (
                "Upper end of the 95 % interval of own_difference; null where there is none."
            ),
            "own_p": "Two-sided p-value of own_difference.",
            "n_own_wrong": "Those questions on which its own answer is wrong.",
            "own_wrong_picked": "own_picked where its own answer is wrong.",
            "own_wrong_picked_by_others": "own_picked_by_others where its own answer is wrong.",
            "own_wrong_difference": "own_difference where its own answer is wrong.",
            "own_wrong_low": (
                "Lower end of the 95 % interval of own_wrong_difference; null where there is none."
            ),
            "own_wrong_high": (
                "Upper end of the 95 % interval of own_wrong_difference; null where there is none."
            ),
            "own_wrong_p": "Two-sided p-value of own_wrong_difference.",
            "n_self": "Disputed questions that it was asked as evaluator_only, too.",
            "self_picked": "How often it picks its own answer there as participant.",
            "self_picked_as_evaluator": (
                "How often it picks that option as evaluator_only, where it is not shown its "
                "answer."
            ),
            "self_difference": (
                "self_picked less self_picked_as_evaluator: above 0 where showing it its own "
                "answer makes it pick it more."
            ),
            "self_low": (
                "Lower end of the 95 % interval of self_difference; null where there is none."
            ),
            "self_high": (
                "Upper end of the 95 % interval of self_difference; null where there is none."
            ),
            "self_noise_sd": (
                "Standard deviation of self_difference about 0, were the two roles exchanged at "
                "random."
            ),
            "self_p": "Two-sided p-value of self_difference.",
            "self_p_holm": "self_p adjusted by Holm's method over n_judges.",
            "n_self_wrong": "Those questions on which its own answer is wrong.",
            "self_wrong_picked": "self_picked where its own answer is wrong.",
            "self_wrong_picked_as_evaluator": (
                "self_picked_as_evaluator where its own answer is wrong."
            ),
            "self_wrong_difference": "self_difference where its own answer is wrong.",
            "self_wrong_low": (
                "Lower end of the 95 % interval of self_wrong_difference; null where there is none."
            ),
            "self_wrong_high": (
                "Upper end of the 95 % interval of self_wrong_difference; null where there is none."
            ),
            "self_wrong_noise_sd": "self_noise_sd where its own answer is wrong.",
            "self_wrong_p": "Two-sided p-value of self_wrong_difference.",
            "self_wrong_p_holm": "self_wrong_p adjusted by Holm's method over the judges.",
            "favours_p_holm": (
                "The larger of self_p and own_p (1 unless both differences are above 0), "
                "adjusted by Holm's method over the judges."
            ),
            "n_judges": "Rows with a self_p, for which p-values are adjusted.",
            "finding": (
                "favours_its_own, option_was_shown, avoids_its_own or not_distinguishable; null "
                "where it cannot be told."
            ),
            "undefined": (
                "Code of what is lacking (no_evaluator_only, no_other_judge, no_own_answer, "
                "several_answer_temperatures); null where nothing is."
            ),
        },
    },
}
