"""What ``gate --format json`` holds."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, Json, List, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import Common


class GateAnswer(Schema):
    """What stands beside the table of requirements."""

    verdict = String(
        "FAIL where any requirement fails in any group, else INCONCLUSIVE where any is, else PASS."
    )
    exit_code = Int64("0 of PASS, 4 of FAIL, 5 of INCONCLUSIVE.")
    look = Json(
        "Which look at these data it was: number, confidence of its intervals, ledger, whether "
        "nothing was new (again), n_judgments."
    )
    notes = List(String(), "What failed or was left out, and counts in nothing, a line each.")
    read = List(String(), "How a file was read: what was taken for what, a line each.")


class Requirements(Schema):
    """One row per requirement, group and missing policy.

    The value with its interval and its limit, why nothing is decided, and what would decide.
    """

    requirement = String("The requirement as it was written.")
    verdict = String(
        "PASS where the whole confidence interval meets it, FAIL where all of it misses it, else "
        "INCONCLUSIVE."
    )
    coefficient = Common.coefficient
    missing = Common.missing
    conditions = Common.conditions
    value = Float64(
        "The coefficient; of a drop the baseline's less this one's, on the questions both have; "
        "null where there is none."
    )
    low = Float64(
        "Lower end of the interval, at the confidence of the look (95 % without a ledger); null "
        "where there is none."
    )
    high = Float64(
        "Upper end of the interval, at the confidence of the look (95 % without a ledger); null "
        "where there is none."
    )
    at_most = Bool(
        "true where the value may be at most the limit, false where it must be at least that."
    )
    limit = Float64("What the whole confidence interval must keep.")
    baseline = Float64("Of a drop the baseline's own value; else null.")
    reason = String(
        "Code of why nothing is decided, such as interval_crosses_limit or few_verdicts; null "
        "where it is."
    )
    more_questions = Int64(
        "Further questions that would decide, should the value stay; null where it is decided, "
        "there is no interval, or 100,000 in all are not enough."
    )
    more_replications = Int64(
        "Further replications of the same questions that would decide, should the value stay; null "
        "where it is decided, not known, or no number is enough."
    )
    n_items = Int64("Questions of the group; of a drop those that both have.")
    n_compared = Int64(
        "Questions that the interval is over: asked twice, or with a right verdict; null where "
        "there is no interval by question, unless all questions come out alike."
    )
    n_replications = Int64("Largest number of judgments of one unit; null of a drop.")
    n_judgments = Int64("Judgments of the group.")
    flags = List(String(), "Codes of what weakens the value; empty or null where nothing does.")


TABLES: SchemasByVerb = {"gate": {"": GateAnswer, "requirements": Requirements}}
