"""A second judge of known law, which reasons before its verdict.

``python -m demo.reasoning_judge`` teaches it, in about a minute, what the demo's judge does not
know. Asked for its reasons first, it says which answer is ahead and how far ("The second answer is
clearly ahead."), and then gives its verdict. The answer it names is drawn by what the options are
worth, how far by the toss of a coin, and the verdict leans towards the answer named: a little where
that is slightly ahead, a lot where it is clearly so. So its verdicts vary with the reasoning, and
after one and the same reasoning as well, each by a law that is known. Asked for the verdict first,
it follows the law of the demo's judge.

Unlike that judge it hears every word of a prompt, most of them as one and the same unknown word: a
text of a thousand words is a prompt of a thousand tokens.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from demo import judge_tokenizer as tokens
from demo.judge_design import (
    JUDGE_FOLDER,
    LETTERS,
    NO_VERDICT_SHARE,
    design_distribution,
    design_record,
    quality,
)
from demo.judge_prompts import FORM, Lesson, draw_options, draw_reply, wrapped

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from demo.train_judge import Course

REASONING_JUDGE_FOLDER = JUDGE_FOLDER.parent / "reasoning_judge"
TEMPLATE = "reason_first"
PLACES = dict(zip(LETTERS, ("first", "second", "third", "fourth", "fifth", "sixth"), strict=True))
LEAN_TEMPERATURE = 1.5
"""The option named is drawn as a verdict of the demo's judge at this temperature."""
PULL: dict[str, float] = {" slightly": 0.5, " clearly": 2.5}
"""What being named adds to an option's logit; each is said half of the time."""

ASKED = "reasons first"
BEGIN, ANSWER, AHEAD = "The", " answer is", " ahead.\n"
NAMES = {letter: f" {place}" for letter, place in PLACES.items()}
MORE_TOKENS = (ASKED, BEGIN, ANSWER, AHEAD, *NAMES.values(), *PULL)
LONGEST_REPLY = 11
TOKENS_A_STEP = 2_500
MOST_UNKNOWN = ((0, 0.2), (60, 0.45), (250, 0.25), (1300, 0.1))
"""Unknown words of a prompt at most, and the share of steps with prompts of that kind."""


def lean_distribution(verdict: Mapping[str, float]) -> dict[str, float]:
    """Compute how often each option is named, from the law of the verdict without reasoning."""
    worth = {x: verdict[x] ** (1 / LEAN_TEMPERATURE) for x in LETTERS if x in verdict}
    total = sum(worth.values())
    return {x: w / total for x, w in worth.items()}


def verdict_after(qualities: list[float], named: str, strength: str) -> dict[str, float]:
    """Compute the law of the verdict's letter after a reasoning, at temperature 1."""
    pulled = [
        worth + PULL[strength] * (letter == named)
        for letter, worth in zip(LETTERS, qualities, strict=False)
    ]
    law = design_distribution(pulled)
    return {x: p / (1 - NO_VERDICT_SHARE) for x, p in law.items() if x in LETTERS}


def draw_lesson(rng: random.Random, *, most_unknown: int) -> Lesson:
    """Draw a prompt with unknown words among the known, and the reply it asks for."""
    options = draw_options(rng)
    qualities = [quality(words) for words in options]
    prompt = wrapped(rng, options, asked=(ASKED,) if rng.random() < 0.6 else ())
    if ASKED in prompt:
        reply, targets = draw_reasoned_reply(rng, qualities)
    else:
        reply, targets = draw_reply(rng, design_distribution(qualities))
    n_unknown = int(most_unknown * rng.random())
    return Lesson(prompt=among_unknown(rng, prompt, n_unknown), reply=reply, targets=targets)


def draw_reasoned_reply(
    rng: random.Random, qualities: list[float]
) -> tuple[tuple[str, ...], tuple[dict[str, float], ...]]:
    """Draw a reply that reasons first, keeping each token's designed distribution."""
    law = design_distribution(qualities)
    leans = lean_distribution(law)
    first = {BEGIN: 1 - NO_VERDICT_SHARE, tokens.SILENT[0]: NO_VERDICT_SHARE}
    if rng.random() < 0.1:  # more often than it comes, as in the demo's lessons
        silence = (*tokens.SILENT, tokens.END)
        return silence, (first, {silence[1]: 1.0}, {silence[2]: 1.0})
    # Every name and letter is followed by the same form, however poor its option.
    named = _drawn(rng, leans if rng.random() < 0.8 else dict.fromkeys(leans, 1.0))
    strength = rng.choice(tuple(PULL))
    letters = verdict_after(qualities, named, strength)
    letter = _drawn(rng, letters if rng.random() < 0.8 else dict.fromkeys(letters, 1.0))
    words = (BEGIN, NAMES[named], ANSWER, strength, AHEAD, tokens.BEST, tokens.RESPONSE)
    reply = (*words, tokens.OPEN, letter, tokens.CLOSE, tokens.END)
    laws = {
        0: first,
        1: {NAMES[x]: p for x, p in leans.items()},
        3: dict.fromkeys(PULL, 1 / len(PULL)),
        8: letters,
    }
    return reply, tuple(laws.get(place, {token: 1.0}) for place, token in enumerate(reply))


def _drawn(rng: random.Random, shares: Mapping[str, float]) -> str:
    """One of them, by their shares."""
    return rng.choices(tuple(shares), tuple(shares.values()))[0]


def among_unknown(rng: random.Random, prompt: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Spread unknown words over a prompt, in runs of any length, but never into the form."""
    forms = set(pairwise(FORM))
    gaps = [place for place, pair in enumerate(pairwise(prompt), start=1) if pair not in forms]
    weights = [rng.expovariate(1.0) ** 2 for _ in gaps]
    counts = dict.fromkeys(gaps, 0)
    for gap in rng.choices(gaps, weights, k=n):
        counts[gap] += 1
    words = []
    for place, token in enumerate(prompt):
        words += [tokens.UNK] * counts.get(place, 0)
        words.append(token)
    return tuple(words)


def draw_batch(rng: random.Random) -> list[Lesson]:
    """Draw the lessons of one step: many short prompts, or fewer long ones."""
    most = rng.choices([most for most, _ in MOST_UNKNOWN], [share for _, share in MOST_UNKNOWN])[0]
    n = max(4, TOKENS_A_STEP // (most + 60))
    return [draw_lesson(rng, most_unknown=most) for _ in range(n)]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Build the tokenizer of the demo's judge, with the words of a reasoning and unknown words."""
    places, strengths = "|".join(PLACES.values()), "|".join(map(str.strip, PULL))
    rest = rf"answer is (?:{strengths}) ahead\."
    patterns = [
        ASKED,
        rf"The(?= (?:{places}) {rest})",
        rf"(?<=The) (?:{places})(?= {rest})",
        rf" answer is(?= (?:{strengths}) ahead\.)",
        rf"(?<=answer is) (?:{strengths})(?= ahead\.)",
        rf"(?<={strengths}) ahead\.\n",
        r"[ \n]?(?!Best Response:|reasons first)[A-Za-z0-9][^\s\[\]]*",
    ]
    return tokens.build_tokenizer(MORE_TOKENS, patterns)


def record() -> dict[str, object]:
    """Lay the law out as the JSON that is shipped beside the weights."""
    return {
        **design_record(),
        "reasoning_rule": f"where the prompt says {ASKED!r}, an option is named ahead of the "
        "verdict; without it the law above holds",
        "named": "softmax((quality + bias) / lean_temperature) over the options shown",
        "lean_temperature": LEAN_TEMPERATURE,
        "verdict": "softmax(quality + bias + pull), pull for the option named alone",
        "pull": {strength.strip(): pull for strength, pull in PULL.items()},
    }


def course() -> Course:
    """Make the course it is taught by."""
    from demo.train_judge import Course

    return Course(
        vocabulary=tokens.vocabulary(MORE_TOKENS), tokenizer=build_tokenizer, design=record,
        batch=draw_batch, reply_tokens=LONGEST_REPLY,
        decisive=(tokens.OPEN, BEGIN),
        steps=750,
        peak_learning_rate=2e-3,
        verdict_weight=4.0,
        begins_as=JUDGE_FOLDER,
    )  # fmt: skip


if __name__ == "__main__":
    from demo.train_judge import teach

    teach(course(), REASONING_JUDGE_FOLDER)
