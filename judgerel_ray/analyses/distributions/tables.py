"""What ``distributions`` prints, a table a view."""

from __future__ import annotations

from judgerel_ray.core.schema import Float64, Int64, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import interval_ends
from judgerel_ray.measuring.tables import LimitCoefficients, ReasoningShares


class WeightedMeans(Schema):
    """One row per group of probability-weighted scores."""

    n_items = Int64("Questions with a score.")
    n_responses = Int64("Responses with a score, each way of asking counted.")
    mean = Float64(
        "Mean of the probability-weighted scores, in points of the scale; null where there are "
        "none."
    )
    least = Float64("The least of them.")
    greatest = Float64("The greatest of them.")
    mass = Float64("Mean probability of a reply with a score (0 to 1).")
    width = Float64("Mean width of the certain bounds of a score, in points of the scale.")
    largest_width = Float64("The largest width of them.")


class SettledCounts(Schema):
    """One row per group of conditions that were asked adaptively."""

    conditions = Int64(
        "Prompts that were asked until they were settled, or as often as was allowed."
    )
    settled = Int64("Those with a stable verdict.")
    no_verdict = Int64("Those of which it is settled that most replies hold no verdict.")
    unstable = Int64("Those without a stable verdict within the most replications allowed.")
    failed = Int64("Those that can never be asked.")
    open = Int64("Those of which more replications are still to be asked.")
    replications = Int64("Replications asked in all.")
    used = Float64(
        "Of conditions asked to the end, replications as a share of the most there could have "
        "been; null where there are none."
    )
    settled_share = Float64(
        "Share of conditions asked to the end that have a stable verdict (0 to 1); null where "
        "there are none."
    )
    low, high = interval_ends("settled_share")
    estimator = String("How that interval was made, in words.")


TABLES: SchemasByVerb = {
    "distributions": {
        "limits": LimitCoefficients,
        "weighted": WeightedMeans,
        "settled": SettledCounts,
        "reasoning": ReasoningShares,
    },
}
