"""The law of the judge that thinks twice, stated once, and the tokens it is stated in.

An option is worth the sum of the values of its quality words plus a lean to its place, which is the
judge's temper's: a careful one leans nowhere, a plain one a little to the first options, a hasty
one a lot. Tempers are chat templates, so one set of weights is three judges. Every choice is drawn
from softmax(worth) over what may be chosen:

- of two options selected the first is drawn among all, the second among the others;
- the final answer is drawn among the options selected;
- a judge of others draws among all, and each option gains by the share of the models shown that
  settled on it.

The confidence leans to the high end by the quality of the option chosen, by the temper, and where
others are judged by how many settled on that option. It is no calibrated probability and the judge
knows nothing: where no quality word stands, its answers are the lean of its temper and chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from demo.judge_design import WORDS

NO_ANSWER_SHARE = 0.03
"""Replies of any step that answer nothing, decided at their first token."""
HIGH_SHARE = 0.03
"""Confidences that are a word and no number, ``high``: no reader can read them."""
LEAN = {"careful": 0.0, "plain": -0.08, "hasty": -0.3}
"""What a place further down adds to an option's worth, by temper."""
BOLDNESS = {"careful": -0.4, "plain": 0.2, "hasty": 0.8}
"""What a temper adds to the quality that a confidence goes by."""
TEMPERS = tuple(LEAN)
VOTE = 7.0
"""What an option gains if all models shown settled on it."""
CONSENT = 2.0
"""What a judge's boldness gains if all did, above none."""
PULL, SPREAD = 1.2, 1.0
LEVELS = ("0.40", "0.55", "0.70", "0.85", "0.95")
HIGH = "high"
MOST_OPTIONS = 10
MOST_MODELS = 4


def worths(qualities: Sequence[float], temper: str) -> list[float]:
    """Compute what each option is worth to a judge of a temper, in the order shown."""
    return [quality + LEAN[temper] * place for place, quality in enumerate(qualities)]


def drawn_among(worth: Sequence[float], places: Sequence[int]) -> dict[int, float]:
    """Compute softmax(worth) over some of the places."""
    top = max(worth[place] for place in places)
    weights = {place: math.exp(worth[place] - top) for place in places}
    total = sum(weights.values())
    return {place: weight / total for place, weight in weights.items()}


def judged_worths(worth: Sequence[float], settled: Sequence[int]) -> list[float]:
    """Add to each option what the final answers of the models shown add to it."""
    return [w + VOTE * share_of(place, settled) for place, w in enumerate(worth)]


def share_of(place: int, settled: Sequence[int]) -> float:
    """Share of final answers that are this option; 0 where there is none."""
    return settled.count(place) / len(settled) if settled else 0.0


def confidence_distribution(
    quality: float, temper: str, *, consent: float | None = None
) -> dict[str, float]:
    """Compute what the law says of a confidence.

    Parameters
    ----------
    quality
        Of the option chosen.
    temper
        One of ``TEMPERS``.
    consent
        Share of the models judged that settled on it; None where the judge answers alone.

    Returns
    -------
    dict
        Probability of every level and of ``"high"``; sums to 1.
    """
    bold = quality + BOLDNESS[temper] + (0.0 if consent is None else CONSENT * (consent - 0.5))
    places = [2 * k / (len(LEVELS) - 1) - 1 for k in range(len(LEVELS))]
    weights = [math.exp(PULL * bold * u - SPREAD * u * u) for u in places]
    stated = (1 - HIGH_SHARE) / sum(weights)
    levels = {level: stated * w for level, w in zip(LEVELS, weights, strict=True)}
    return {**levels, HIGH: HIGH_SHARE}


def record() -> Mapping[str, object]:
    """Lay the law out as the JSON that is shipped beside the weights."""
    return {
        "law": "worth = quality + lean * place from 0; select: two options without replacement, "
        "each ~ softmax(worth) of those left; choose ~ softmax(worth) of those selected; "
        "compare ~ softmax(worth + vote * share of the final answers shown that are the option)",
        "confidence": "softmax(pull * bold * u - spread * u^2) over the levels, u from -1 to 1 in "
        "equal steps; bold = quality of the option chosen + boldness, of a judge of others + "
        "consent * (share of final answers that are the option - 1/2)",
        "word_rule": "a quality word counts in lower case, whole, and after a space, between the "
        "number of an option and the next one or the end of the options",
        "words": WORDS,
        "lean": LEAN,
        "boldness": BOLDNESS,
        "vote": VOTE,
        "consent": CONSENT,
        "pull": PULL,
        "spread": SPREAD,
        "levels": list(LEVELS),
        "high_share": HIGH_SHARE,
        "no_answer_share": NO_ANSWER_SHARE,
        "no_answer_rule": "decided at the first token of the reply; each token is tempered alone",
    }
