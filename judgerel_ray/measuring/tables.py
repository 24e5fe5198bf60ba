"""What is measured of groups: coefficients, questions, limits, reasoning, shared requests."""

from __future__ import annotations

from judgerel_ray.core.schema import Float64, Int64, Schema, String
from judgerel_ray.core.tables import (
    Common,
    EndColumns,
    FloorColumns,
    GroupColumns,
    MethodColumns,
    interval_ends,
)


class Coefficients(Schema):
    """One row per group, coefficient, level and missing policy."""

    coefficient = Common.coefficient
    value = Float64("The coefficient; null where undefined says why, and in rows of bounds.")
    low = Float64(
        "Lower end of the 95 % interval, null where there is none; in rows of bounds the worst "
        "case of the missing verdicts."
    )
    high = Float64(
        "Upper end of the 95 % interval, null where there is none; in rows of bounds the best case "
        "of the missing verdicts."
    )
    floor = FloorColumns
    measurement = Common.measurement
    missing = Common.missing
    n_categories = Int64(
        "Verdicts there are to choose from, where the coefficient depends on their number; else "
        "null."
    )
    unit = Common.unit
    conditions = Common.conditions
    n_items = Int64("Questions of the group; of serving noise those asked more than once.")
    n_replications = Int64("Largest number of judgments of one unit.")
    n_judgments = Int64("Judgments of the group, those without a verdict included.")
    n_missing = Int64(
        "Judgments that the value leaves out: failed requests, by policy replies without a "
        "verdict, and of accuracy those whose right verdict is not known."
    )
    method = MethodColumns
    estimator = Common.estimator
    undefined = Common.undefined
    lead = String(
        "What to know first of the group, the same in all its rows: agreement, noise, "
        "few_verdicts, one_answer:VERDICT, ...; null where no coefficient that leads was asked "
        "for."
    )


class MeasuredCoefficients(Coefficients):
    """The same, with what an interval of another confidence is made of; not printed."""

    standard_error = Float64("Standard error that the interval was laid with; null of others.")


class Questions(Schema):
    """One row per question."""

    item_id = String("The question.")
    n_judgments = Int64("Replies counted; with --missing drop those with a verdict alone.")
    accuracy = Float64(
        "Share of them that are right (0 to 1); null where the right verdict is not known."
    )
    low = Float64(
        "Lower end of the exact 95 % interval of the accuracy on this question, were it asked "
        "again; null without one."
    )
    high = Float64(
        "Upper end of the exact 95 % interval of the accuracy on this question, were it asked "
        "again; null without one."
    )
    percent_agreement = Float64(
        "Share of pairs of replies that agree (0 to 1); null where there is no pair."
    )
    agreement_right = Float64(
        "Share of pairs that agree on the right verdict; null where it is not known or there is no "
        "pair."
    )
    agreement_wrong = Float64(
        "Share of pairs that agree on a wrong verdict; null where the right one is not known or "
        "there is no pair."
    )
    majority_right = Float64(
        "1 where the most frequent verdict is the right one, 0 where not, between where several "
        "tie or the question was asked in several ways; null where the right one is not known."
    )
    undefined = String(
        "Codes that say why a number is null or weak (no_gold, single_replication, no_verdicts, "
        "serving_noise, few_verdicts), with semicolons between; null where none is."
    )


class LimitCoefficients(Schema):
    """One row per group and coefficient, in the limit of infinitely many replications."""

    coefficient = Common.coefficient
    measurement = Common.measurement
    value = Float64(
        "The coefficient in the limit of infinitely many replications; null where undefined says "
        "why."
    )
    ends = EndColumns
    n_items = Int64("Questions.")
    n_categories = Int64('Verdicts there are, "no verdict" among them where it occurs.')
    undecided = Float64("The largest probability that was left open of any question (0 to 1).")
    estimator = Common.estimator
    undefined = String(
        "Code that says why there is no value, such as temperature_0 (nothing is drawn there); "
        "null where there is one."
    )


class ReasoningShares(Schema):
    """One row per judge, benchmark and temperature."""

    judge = GroupColumns.judge
    benchmark = GroupColumns.benchmark
    temperature = GroupColumns.temperature
    agreement = Float64("Chance that two replications agree (0 to 1).")
    reasoning = Float64(
        "Share that the reasonings vary by; with agreement and verdict it sums to 1."
    )
    verdict = Float64("Share that verdicts drawn after the same reasoning vary by.")
    ratio = Float64("Reasonings needed, as a share of verdicts drawn, for the same error.")
    ratio_low, ratio_high = interval_ends("the ratio, over questions")
    largest_shift = Float64(
        "Largest difference, over questions and verdicts, between the mean distribution and the "
        "share of verdicts drawn."
    )
    n_questions = Int64("Questions.")
    n_replications = Int64("Replies, of all questions.")


class RequestsDiffering(Schema):
    """Requests of both sides: one row per judge, temperature, matching, and what is compared."""

    judge = GroupColumns.judge
    temperature = GroupColumns.temperature
    matched = String("How requests were found to be the same: key, or prompt (and replication).")
    n_requests = Int64("Requests that both sides sent.")
    n_items = Int64("Questions that these are about.")
    what = String("What is compared: verdicts or texts.")
    n_differing = Int64("Requests whose replies differ.")
    value = Float64("Share of them (0 to 1).")
    ends = EndColumns
    n_items_differing = Int64("Questions with such a request.")
    estimator = Common.estimator


class LabelledJudges(Schema):
    """One row per group and missing policy: verdicts held against labels."""

    missing = Common.missing
    measurement = Common.measurement
    n_items = Int64("Questions with a label and a verdict.")
    accuracy = Float64(
        "Share of verdicts that are right, of several people's labels by the commonest (0 to 1); "
        "null where none can be."
    )
    accuracy_low, accuracy_high = interval_ends("the accuracy")
    cohen_kappa = Float64(
        "Cohen's kappa of verdicts and labels, each question weighing 1; null where undefined says "
        "why."
    )
    kappa_low, kappa_high = interval_ends("kappa")
    noise_floor = Float64("Its mean with the labels shuffled across questions; null without one.")
    p_noise = Float64("Two-sided p-value of that; null where it is not known.")
    people_kappa = Float64(
        "Kappa of two people who labelled the same question, which a judge that is as good as a "
        "person would have; null where no question has two people's labels."
    )
    people_low, people_high = interval_ends("people's kappa")
    undefined = Common.undefined
