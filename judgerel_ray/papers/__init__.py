"""Published procedures and files that papers released: for comparison with what is printed there.

Estimators under their names, as their authors computed them, never for a judge: `schroeder2024`
gives a high "reliability" to independent noise, which is why its noise floor stands beside it.

Examples
--------
>>> from judgerel_ray.papers import verbal_band
>>> verbal_band(0.62, 0.74).band is None
True
"""

from judgerel_ray.papers.estimator import (
    CONFLICTING,
    LETTERS,
    NON_RESPONSE,
    WARNING,
    PermutationNull,
    Schroeder2024,
    Schroeder2024Noise,
    codes_from_verdicts,
    independence_alpha,
    schroeder2024,
    schroeder2024_noise_floor,
)
from judgerel_ray.papers.summaries import (
    BANDS,
    AccuracyEstimate,
    AnsweredQuestion,
    FiveNumbers,
    InterRaterSpread,
    ResponseAccuracy,
    VerbalBand,
    five_numbers,
    head_to_tail_accuracy,
    inter_rater_spread,
    response_accuracy,
    verbal_band,
)

__all__ = [
    "BANDS",
    "CONFLICTING",
    "LETTERS",
    "NON_RESPONSE",
    "WARNING",
    "AccuracyEstimate",
    "AnsweredQuestion",
    "FiveNumbers",
    "InterRaterSpread",
    "PermutationNull",
    "ResponseAccuracy",
    "Schroeder2024",
    "Schroeder2024Noise",
    "VerbalBand",
    "codes_from_verdicts",
    "five_numbers",
    "head_to_tail_accuracy",
    "independence_alpha",
    "inter_rater_spread",
    "response_accuracy",
    "schroeder2024",
    "schroeder2024_noise_floor",
    "verbal_band",
]
