"""What each column of a table of coefficients means, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping

from judgerel_ray.core.meanings import shared_meanings

COEFFICIENTS: Mapping[str, str] = {
    **shared_meanings("coefficient"),
    "value": "The coefficient; null where undefined says why, and in rows of bounds.",
    "low": (
        "Lower end of the 95 % interval, null where there is none; in rows of bounds the worst "
        "case of the missing verdicts."
    ),
    "high": (
        "Upper end of the 95 % interval, null where there is none; in rows of bounds the best "
        "case of the missing verdicts."
    ),
    **shared_meanings(
        "noise_floor", "noise_floor_sd", "p_noise", "noise", "measurement", "missing"
    ),
    "n_categories": (
        "Verdicts there are to choose from, where the coefficient depends on their number; else "
        "null."
    ),
    **shared_meanings("unit", "conditions"),
    "n_items": "Questions of the group; of serving noise those asked more than once.",
    "n_replications": "Largest number of judgments of one unit.",
    "n_judgments": "Judgments of the group, those without a verdict included.",
    "n_missing": (
        "Judgments that the value leaves out: failed requests, by policy replies without a "
        "verdict, and of accuracy those whose right verdict is not known."
    ),
    **shared_meanings("statistic", "interval_method", "no_interval", "n_compared", "n_resamples"),
    **shared_meanings(
        "null_method", "n_permutations", "flags", "flag_numbers", "estimator", "undefined"
    ),
    "lead": (
        "What to know first of the group, the same in all its rows: agreement, noise, "
        "few_verdicts, one_answer:VERDICT, ...; null where no coefficient that leads was asked "
        "for."
    ),
}
"""Columns of every table of coefficients."""
