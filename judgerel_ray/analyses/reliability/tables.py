"""What each column of ``reduce``, ``questions`` and ``serving`` means, and how to read it."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns
from judgerel_ray.measuring.tables import COEFFICIENTS

_TOLERATED = {
    "tolerance": (
        "Least value allowed (of flip_rate the most), null where none is set; the column is "
        "there where any tolerance is."
    ),
    "standing": (
        "meets or fails where the whole confidence interval does, else undecided; null without a "
        "tolerance."
    ),
}

COLUMNS: Columns = {
    "reduce": {
        "": {
            **COEFFICIENTS,
            **_TOLERATED,
        },
    },
    "questions": {
        "": {
            "item_id": "The question.",
            "n_judgments": "Replies counted; with --missing drop those with a verdict alone.",
            "accuracy": (
                "Share of them that are right (0 to 1); null where the right verdict is not known."
            ),
            "low": (
                "Lower end of the exact 95 % interval of the accuracy on this question, were it "
                "asked again; null without one."
            ),
            "high": (
                "Upper end of the exact 95 % interval of the accuracy on this question, were it "
                "asked again; null without one."
            ),
            "percent_agreement": (
                "Share of pairs of replies that agree (0 to 1); null where there is no pair."
            ),
            "agreement_right": (
                "Share of pairs that agree on the right verdict; null where it is not known or "
                "there is no pair."
            ),
            "agreement_wrong": (
                "Share of pairs that agree on a wrong verdict; null where the right one is not "
                "known or there is no pair."
            ),
            "majority_right": (
                "1 where the most frequent verdict is the right one, 0 where not, between where "
                "several tie or the question was asked in several ways; null where the right one "
                "is not known."
            ),
            "undefined": (
                "Codes that say why a number is null or weak (no_gold, single_replication, "
                "no_verdicts, serving_noise, few_verdicts), with semicolons between; null where "
                "none is."
            ),
        },
    },
    "serving": {"": {**COEFFICIENTS, **_TOLERATED}},
}
