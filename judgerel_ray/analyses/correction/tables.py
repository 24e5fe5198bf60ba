"""What ``correct`` prints."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, List, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import Common, EndColumns, GroupColumns, interval_ends


class CorrectedScores(Schema):
    """One row per group and estimate."""

    estimate = String(
        "judge_alone (as judged), labels_alone (labels alone), ppi (both, by PPI++) or "
        "rogan_gladen (both, by the judge's error rates)."
    )
    measure = String("rate (share that passes, 0 to 1) or mean (of scores).")
    value = Float64("The estimate; null where undefined says why.")
    ends = EndColumns
    weight = Float64("How far PPI++ follows the judge (0 to 1); null of other estimates.")
    replication_share = Float64(
        "Share of the variance that replications of one prompt differ by; null of other estimates, "
        "and where prompts were asked once."
    )
    n_units = Int64("Things judged.")
    n_questions = Int64("Questions that they are of.")
    n_judgments = Int64("Judgments of them.")
    n_labels = Int64("Things that people labelled.")
    n_unmatched = Int64("Labels of nothing that was judged.")
    undefined = Common.undefined
    flags = List(
        String(),
        "Codes of what weakens the estimates: few_labels, transport, unmatched_labels, "
        "raters_disagree; empty where nothing does.",
    )


class JudgeErrorRates(Schema):
    """How often the judge passes what people pass, and fails what they fail."""

    rate = String(
        "tpr: how often the judge passes what people pass; tnr: how often it fails what they fail."
    )
    value = Float64("That share (0 to 1); null where undefined says why.")
    ends = EndColumns
    n_labels = Float64("Labels that it rests on; a fraction where people or replications disagree.")
    undefined = Common.undefined


class LabelTransport(Schema):
    """What the judge says of labelled things, and of the others."""

    labelled = Float64(
        "What the judge says of labelled things: its mean there; null where there are none."
    )
    unlabelled = Float64("What the judge says of the others; null where there are none.")
    difference = Float64("labelled less unlabelled.")
    low, high = interval_ends("the difference")
    differs = Bool(
        "true where the interval leaves out 0, so that labels are not of things like the others."
    )
    undefined = String("all_labelled where there are no others; else null.")


class CorrectedDifferences(Schema):
    """Corrected differences, paired by question.

    The groups differ in one column that labels have.
    """

    differing = String("Column in which the two groups differ.")
    a = String("Its value of the one group.")
    b = String("Its value of the other group.")
    estimate = String("ppi or rogan_gladen, as in estimates.")
    value = Float64("Corrected score of a less that of b; null where undefined says why.")
    ends = EndColumns
    judge_alone = Float64("The same difference without correction.")
    n_labels = Int64("Labels that it rests on.")
    n_questions = Int64("Questions that it rests on.")
    undefined = Common.undefined


class LabelNeeds(Schema):
    """Labels needed for the interval of PPI++ to be as narrow as asked for, and without the judge.

    Empty unless asked for.
    """

    width = Float64("Width of the interval that is wanted, from end to end.")
    width_now = Float64("Width of that of PPI++ now; null where there is none.")
    n_labels = Int64("Labels there are.")
    needed = Int64("Labels that it takes; null where labelling everything would not do.")
    needed_without_judge = Int64(
        "Labels that it would take without the judge; null where labelling everything would not do."
    )
    undefined = Common.undefined


class AgreedScores(Schema):
    """Without labels: the pass rate that several judges agree on if they err independently.

    Empty otherwise.
    """

    value = Float64(
        "Pass rate by what the judges agree on, if they err independently (0 to 1); null where "
        "undefined says why."
    )
    ends = EndColumns
    mean_of_judges = Float64("Pass rate without correction: the mean over judges.")
    n_judges = Int64("Judges.")
    n_units = Int64("Things judged.")
    n_questions = Int64("Questions that they are of.")
    effective = Float64(
        "Independent judges that these are worth by their errors; null where it cannot be told."
    )
    effective_null = Float64("What that would be if errors were independent.")
    effective_null_sd = Float64("Standard deviation of effective_null.")
    p_correlated = Float64(
        "Chance of an effective this small if errors were independent; small where they are not, "
        "so that the value misleads."
    )
    undefined = Common.undefined


class AgreedJudges(Schema):
    """Without labels: one row per judge, how often it is right by what they agree on.

    Empty otherwise.
    """

    judge = GroupColumns.judge
    judge_alone = Float64("Pass rate of this judge (0 to 1).")
    tpr = Float64("How often it passes what the judges together pass (0 to 1).")
    tnr = Float64("How often it fails what the judges together fail (0 to 1).")


TABLES: SchemasByVerb = {
    "correct": {
        "estimates": CorrectedScores,
        "rates": JudgeErrorRates,
        "transport": LabelTransport,
        "differences": CorrectedDifferences,
        "budget": LabelNeeds,
        "agreed": AgreedScores,
        "judges": AgreedJudges,
    },
}
