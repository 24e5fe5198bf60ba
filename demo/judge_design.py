"""The law the demo's judge is trained to follow, stated once.

A question shows up to six options. The quality of an option is the sum of the values of the
quality words in its text; the verdict is drawn from softmax(quality + position bias) over the
options shown, and a fixed share of replies gives no verdict at all, which is decided at the
first token of the reply. A temperature is applied to each token by itself, so the share without
a verdict and the letters are tempered separately.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

JUDGE_FOLDER = Path(__file__).resolve().parent.parent / "judgerel_ray" / "demo" / "judge"
ITEMS_FILE = JUDGE_FOLDER.parent / "items.parquet"
NO_VERDICT = "no verdict"

GOOD_WORDS: dict[str, float] = {
    "accurate": 1.3,
    "precise": 1.1,
    "sound": 0.9,
    "thorough": 0.8,
    "clear": 0.7,
    "helpful": 0.6,
    "careful": 0.5,
    "sensible": 0.4,
    "concise": 0.3,
    "tidy": 0.2,
}
BAD_WORDS: dict[str, float] = {
    "wrong": -1.4,
    "misleading": -1.2,
    "broken": -1.0,
    "muddled": -0.9,
    "sloppy": -0.8,
    "doubtful": -0.7,
    "vague": -0.6,
    "shallow": -0.4,
    "wordy": -0.3,
    "dull": -0.2,
}
WORDS: dict[str, float] = {**GOOD_WORDS, **BAD_WORDS}
BIAS: dict[str, float] = {"A": 0.4, "B": 0.1, "C": 0.0, "D": -0.1, "E": -0.2, "F": -0.3}
LETTERS: tuple[str, ...] = tuple(BIAS)
NO_VERDICT_SHARE = 0.06
SHORT_REASON_SHARE = 0.5
"""Share of reasons that name one word ("It is clear.") and not two ("It is clear and sound.")."""


def quality(words: Sequence[str]) -> float:
    """Add up the values of an option's quality words; no word at all is worth 0."""
    return sum(WORDS[word] for word in words)


def design_distribution(
    qualities: Sequence[float], *, temperature: float = 1.0
) -> dict[str, float]:
    """Compute what the law says the judge answers.

    Parameters
    ----------
    qualities
        Quality of each option in the order shown, 2 to 6 of them.
    temperature
        Above 0.

    Returns
    -------
    dict
        Probability of every letter shown and of ``"no verdict"``; sums to 1.
    """
    letters = LETTERS[: len(qualities)]
    logits = [(q + BIAS[x]) / temperature for q, x in zip(qualities, letters, strict=True)]
    top = max(logits)
    weights = [math.exp(value - top) for value in logits]
    silent = NO_VERDICT_SHARE ** (1 / temperature)
    silent /= silent + (1 - NO_VERDICT_SHARE) ** (1 / temperature)
    spoken = {x: (1 - silent) * w / sum(weights) for x, w in zip(letters, weights, strict=True)}
    return {**spoken, NO_VERDICT: silent}


def kl_divergence(
    truth: Mapping[str, float], other: Mapping[str, float], *, floor: float = 0.0
) -> float:
    """Kullback-Leibler divergence of ``other`` from ``truth`` in nats; inf where it has a hole.

    Probabilities of ``other`` below ``floor`` count as ``floor``.
    """
    total = 0.0
    for outcome, p in truth.items():
        if p > 0:
            q = max(other.get(outcome, 0.0), floor)
            total += p * math.log(p / q) if q > 0 else math.inf
    return total


def design_record() -> dict[str, object]:
    """Lay the law out as the JSON that is shipped beside the weights."""
    return {
        "law": "verdict ~ softmax((quality + bias) / T) over the options shown; quality of an "
        "option = sum of the values of its quality words, each as often as it occurs",
        "word_rule": "a quality word counts in lower case, whole, and after a space",
        "words": WORDS,
        "bias": BIAS,
        "no_verdict_share": NO_VERDICT_SHARE,
        "no_verdict_rule": "decided at the first token of the reply, tempered by itself",
        "max_options": len(LETTERS),
    }
