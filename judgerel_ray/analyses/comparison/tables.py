"""What ``compare`` prints."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, List, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import Common, FlagColumns, interval_ends


class Comparisons(Schema):
    """One row per pair, coefficient and missing policy."""

    a = String("The one side: a run or file, or the values of the columns compared.")
    b = String("The other side.")
    coefficient = Common.coefficient
    measurement = Common.measurement
    missing = Common.missing
    unit = String(
        "What agreement is about: the question and the facets held fixed, with x between; null in "
        "rows of shared requests."
    )
    conditions = Common.conditions
    value_a = Float64(
        "The coefficient of a on the questions that both have; null in rows of shared requests, "
        "and where undefined says why."
    )
    value_b = Float64("The coefficient of b on the questions that both have; null as value_a.")
    difference = Float64(
        "value_b less value_a; in rows of serving_noise the share of the requests that both sent "
        "whose replies differ; null where undefined says why."
    )
    low, high = interval_ends("the difference")
    p = Float64(
        "Two-sided p-value of no difference, of a swap test by question, below .05 exactly where "
        "the interval leaves out 0; null where it was not made."
    )
    p_holm = Common.p_holm
    p_fdr = Float64(
        "p adjusted for all comparisons of the table by Benjamini and Hochberg (false discovery "
        "rate); null where that is."
    )
    tolerance = Float64("Largest difference that does not matter; null where none is given.")
    p_equivalence = Float64(
        "p-value of a difference of the tolerance or more; small where the sides are equivalent; "
        "null without a tolerance."
    )
    p_equivalence_holm = Float64("p_equivalence adjusted by Holm's method; null where that is.")
    p_beyond = Float64(
        "Two-sided p-value of a difference within the tolerance; small where the difference "
        "matters; null without a tolerance."
    )
    p_beyond_holm = Float64("p_beyond adjusted by Holm's method; null where that is.")
    standing = String(
        "a higher, b higher, equivalent (with a tolerance) or undecided, by adjusted p-values "
        "below .05; null in rows of shared requests."
    )
    n_items = Int64("Questions that both sides have.")
    n_items_a = Int64("Questions of a; null in rows of shared requests.")
    n_items_b = Int64("Questions of b; null in rows of shared requests.")
    n_judgments_a = Int64("Judgments of a; in rows of serving_noise the requests that both sent.")
    n_judgments_b = Int64("Judgments of b; in rows of serving_noise the requests that both sent.")
    weakened = FlagColumns
    flag_sides = List(String(), "For each flag the side that it is of: a or b, null for both.")
    estimator = Common.estimator
    undefined = String(
        "Code that says why there is no difference, or no test of it; null where there is."
    )
    n_differing = Int64(
        "Questions on which the sides differ: the only ones that the test rests on; null in rows "
        "of shared requests."
    )
    few_informative = Bool(
        "true where fewer than ten questions differ, or either side rests on few; null in rows of "
        "shared requests."
    )
    reason = String(
        "Code of why it is undecided (interval_covers_0, interval_crosses_tolerance, "
        "not_after_correction, few_informative_questions, few_verdicts, undefined); else null."
    )
    n_left_out_a = Int64("Questions that a alone was asked; null in rows of shared requests.")
    n_left_out_b = Int64("Questions that b alone was asked; null in rows of shared requests.")


TABLES: SchemasByVerb = {"compare": {"": Comparisons}}
