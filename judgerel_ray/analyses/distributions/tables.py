"""What each column of ``distributions`` means, and how to read it; a table a view."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns, shared_meanings

COLUMNS: Columns = {
    "distributions": {
        "limits": {
            **shared_meanings("coefficient", "measurement"),
            "value": (
                "The coefficient in the limit of infinitely many replications; null where "
                "undefined says why."
            ),
            **shared_meanings("low", "high"),
            "n_items": "Questions.",
            "n_categories": 'Verdicts there are, "no verdict" among them where it occurs.',
            "undecided": "The largest probability that was left open of any question (0 to 1).",
            **shared_meanings("estimator"),
            "undefined": (
                "Code that says why there is no value, such as temperature_0 (nothing is drawn "
                "there); null where there is one."
            ),
        },
        "weighted": {
            "n_items": "Questions with a score.",
            "n_responses": "Responses with a score, each way of asking counted.",
            "mean": (
                "Mean of the probability-weighted scores, in points of the scale; null where "
                "there are none."
            ),
            "least": "The least of them.",
            "greatest": "The greatest of them.",
            "mass": "Mean probability of a reply with a score (0 to 1).",
            "width": "Mean width of the certain bounds of a score, in points of the scale.",
            "largest_width": "The largest width of them.",
        },
        "settled": {
            "conditions": (
                "Prompts that were asked until they were settled, or as often as was allowed."
            ),
            "settled": "Those with a stable verdict.",
            "no_verdict": "Those of which it is settled that most replies hold no verdict.",
            "unstable": "Those without a stable verdict within the most replications allowed.",
            "failed": "Those that can never be asked.",
            "open": "Those of which more replications are still to be asked.",
            "replications": "Replications asked in all.",
            "used": (
                "Of conditions asked to the end, replications as a share of the most there could "
                "have been; null where there are none."
            ),
            "settled_share": (
                "Share of conditions asked to the end that have a stable verdict (0 to 1); null "
                "where there are none."
            ),
            "low": "Lower end of the 95 % interval of settled_share; null where there is none.",
            "high": "Upper end of the 95 % interval of settled_share; null where there is none.",
            "estimator": "How that interval was made, in words.",
        },
        "reasoning": {
            "agreement": "Chance that two replications agree (0 to 1).",
            "reasoning": (
                "Share that the reasonings vary by; with agreement and verdict it sums to 1."
            ),
            "verdict": "Share that verdicts drawn after the same reasoning vary by.",
            "ratio": "Reasonings needed, as a share of verdicts drawn, for the same error.",
            "ratio_low": (
                "Lower end of the 95 % interval of the ratio, over questions; null where there "
                "is none."
            ),
            "ratio_high": (
                "Upper end of the 95 % interval of the ratio, over questions; null where there "
                "is none."
            ),
            "largest_shift": (
                "Largest difference, over questions and verdicts, between the mean distribution "
                "and the share of verdicts drawn."
            ),
            "n_questions": "Questions.",
            "n_replications": "Replies, of all questions.",
        },
    },
}
