"""What ``agree`` prints."""

from __future__ import annotations

from judgerel_ray.core.schema import Float64, Int64, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import Common, interval_ends
from judgerel_ray.measuring.tables import LabelledJudges


class Classes(Schema):
    """One row per group, missing policy and label."""

    missing = Common.missing
    label = String("The label; none of its rows is of a reply without a verdict.")
    label_share = Float64("Share of the labels that are it, each question weighing 1 (0 to 1).")
    verdict_share = Float64("Share of the judge's verdicts that are it, on the same questions.")
    recall = Float64(
        "Share of its questions that the judge gave it: of a positive class the rate of true "
        "positives, of a negative one that of true negatives; null where no question has it."
    )
    recall_low, recall_high = interval_ends("recall")
    precision = Float64(
        "Share of the judge's verdicts of it that are right; null where the judge never gave it."
    )
    precision_low, precision_high = interval_ends("precision")
    n_items = Int64("Questions with this label.")


class JudgePairs(Schema):
    """One row per pair of judges and missing policy."""

    judge_a = String("The one judge.")
    judge_b = String("The other judge.")
    missing = Common.missing
    measurement = String(
        "nominal, or interval where both give ratings: kappa has quadratic weights then, and alpha "
        "squared distances."
    )
    n_items = Int64("Questions that both judged; each weighs 1, shared among its verdicts.")
    cohen_kappa = Float64("Cohen's kappa of the two; null where undefined says why.")
    kappa_low, kappa_high = interval_ends("kappa")
    p_noise = Float64(
        "Two-sided p-value of kappa with one judge's questions shuffled; null where undefined."
    )
    krippendorff_alpha = Float64("Krippendorff's alpha of the two; null as kappa.")
    alpha_low, alpha_high = interval_ends("alpha")
    percent_agreement = Float64("Chance that a verdict of each on one question agree (0 to 1).")
    undefined = Common.undefined


TABLES: SchemasByVerb = {
    "agree": {"labels": LabelledJudges, "classes": Classes, "pairs": JudgePairs}
}
