"""What columns mean that several results have: said once, and how to read them.

Every analysis says in its ``tables.py`` what each column of its results means (``COLUMNS``). The
reference page of the documentation is made of these texts; nothing else imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Columns: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Of each verb, of each of its tables ("" where it prints one list, or beside its tables), what
each column means."""

GROUPS: Mapping[str, str] = {
    "judge": "Name of the judge.",
    "benchmark": "Where the questions come from; null where the file does not say.",
    "protocol": "What was asked of the judge: best_of, correctness, rating, ...",
    "criterion": "Criterion judged by; null where there is none.",
    "definition": "Length of the criterion's definition that was shown; null where there is none.",
    "scale": "Name of the rating scale; null where there is none.",
    "temperature": "Sampling temperature; 0 is greedy.",
    "template": "Name of the prompt template.",
    "role": (
        "judge; responder where a model answers alone; participant or evaluator_only where a "
        "judge compares what models chose, its own answer among them or not."
    ),
    "mode": (
        "How the probabilities of a confusion matrix were read: columns (one pass an "
        "assessment), paper (one prompt a pair) or single (all assessments in one prompt)."
    ),
}
"""Columns that groups are made of, and that tell tables' rows apart."""

_SHARED: Mapping[str, str] = {
    "coefficient": "Name of the coefficient.",
    "low": "Lower end of the 95 % interval; null where there is none.",
    "high": "Upper end of the 95 % interval; null where there is none.",
    "noise_floor": (
        "What the value would be by chance: its mean with the verdicts shuffled across the "
        "questions; null where it has no floor."
    ),
    "noise_floor_sd": (
        "Standard deviation of that chance distribution; null where there is no floor."
    ),
    "p_noise": (
        "Two-sided p-value: how often chance lies at least as far from the noise floor as the "
        "value; null where that is not known."
    ),
    "noise": (
        "true where p_noise is above .05, so that the value cannot be told from chance; null "
        "without a p_noise."
    ),
    "difference": (
        "Second less first, in the unit of the values; above 0 where the second is higher."
    ),
    "p_holm": (
        "The p-value adjusted by Holm's method for all comparisons of the table; null where that "
        "is."
    ),
    "undefined": "Code that says why there is no value; null where nothing is lacking.",
    "measurement": (
        "Level of measurement: nominal (verdicts as names), ordinal, interval or ratio (as "
        "numbers)."
    ),
    "missing": (
        "What a reply without a verdict counts as: category (a verdict of its own), drop (left "
        "out) or bounds (any verdict)."
    ),
    "conditions": (
        "repeatability (the same prompt again) or reproducibility (facets that should not "
        "matter, such as the order of the options, drawn at random for each judgment); null "
        "where neither is meant."
    ),
    "unit": "What agreement is about: the question and the facets held fixed, with x between.",
    "statistic": "Which estimate it is, in words.",
    "interval_method": (
        "Code of how the interval was made (jackknife_logit, posterior, clopper_pearson, ...); "
        "null where there is none."
    ),
    "no_interval": (
        "Code that says why there is no interval; null where there is one, or no value to have one."
    ),
    "n_compared": (
        "Questions that value and interval rest on; null where no interval is by question, "
        "unless all questions come out alike."
    ),
    "n_resamples": "Bootstrap resamples drawn; null where none were.",
    "null_method": (
        "Code of how the noise floor was made (random_reassignments, closed_form, ...); null "
        "where there is none."
    ),
    "n_permutations": "Permutations drawn for the noise floor; null where none were.",
    "flags": (
        "Codes of what weakens the value, such as few_informative_questions or serving_noise; "
        "empty where nothing does."
    ),
    "flag_numbers": (
        "For each flag the numbers that belong to it, in the order in which its words name them."
    ),
    "estimator": "How the number was made and what weakens it, in words.",
    "cost_unit": "What costs are counted in: cost (money), tokens (read and written) or requests.",
    "judgments": "Cost in judgments.",
    "tokens": (
        "Cost in tokens, those of a prompt counted once for its replications; null where they "
        "were not measured."
    ),
    "gpu_seconds": "Cost in seconds of GPU time; null where they were not measured.",
    "confidence": (
        "Which confidence ranks the answers: stated, agreement, support, margin or probability; "
        "null where there is none."
    ),
    "n_accepted": "Answers accepted.",
    "n_errors": "Wrong answers among the accepted.",
    "effective": "Independent members that would do as well; null where undefined says why.",
    "effective_low": "Lower end of the 95 % interval of effective; null where there is none.",
    "effective_high": "Upper end of the 95 % interval of effective; null where there is none.",
    "error_correlation": (
        "Mean correlation of the errors of two members (-1 to 1); null where it cannot be told."
    ),
}


def shared_meanings(*names: str) -> dict[str, str]:
    """Say what columns mean that have one meaning in several tables."""
    return {name: _SHARED[name] for name in names}
