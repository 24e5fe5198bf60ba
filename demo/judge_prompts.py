"""Random prompts for training, as the token sequences real prompts shrink to.

The tokenizer drops all text but marks and quality words, so what a template renders differs from
another template only in where the marks of the form stand and how the messages are wrapped. Both
vary here, and so do the number of options, the number of words each, and stray words outside the
options, so the judge also follows the form on texts it was not made for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from demo import judge_tokenizer as tokens
from demo.judge_design import (
    GOOD_WORDS,
    LETTERS,
    NO_VERDICT_SHARE,
    SHORT_REASON_SHARE,
    WORDS,
    design_distribution,
    quality,
)

FORM = (tokens.BEST, tokens.RESPONSE, tokens.OPEN, tokens.PLACEHOLDER, tokens.CLOSE)
ALL_WORDS = tuple(WORDS)
GOOD = tuple(GOOD_WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One prompt with the reply it gets, and what each token of the reply should have been.

    ``targets[i]`` is the designed distribution over tokens of ``reply[i]``.
    """

    prompt: tuple[str, ...]
    reply: tuple[str, ...]
    targets: tuple[dict[str, float], ...]


def draw_lesson(rng: random.Random) -> Lesson:
    """Draw a prompt, its designed distributions and one reply from them."""
    options = draw_options(rng)
    reply, targets = draw_reply(rng, design_distribution([quality(words) for words in options]))
    return Lesson(prompt=wrapped(rng, options), reply=reply, targets=targets)


def draw_options(rng: random.Random) -> list[list[str]]:
    """Draw the quality words of two to six options: mostly 2 to 5 words, at times none or six."""
    n_options = rng.choices((2, 3, 4, 5, 6), weights=(1, 1, 1, 7, 1))[0]
    is_foreign = rng.random() < 0.15  # texts that are not about this vocabulary at all
    weights = (12, 4, 1, 0, 0, 0, 0) if is_foreign else (2, 3, 6, 9, 6, 3, 1)
    words = rng.choices(range(7), weights=weights, k=n_options)
    return [rng.choices(ALL_WORDS, k=count) for count in words]


def _shown(options: list[list[str]]) -> list[str]:
    """Lay options out as their marks and words."""
    shown = []
    for letter, words in zip(LETTERS, options, strict=False):
        shown.append(tokens.MARKS[letter])
        shown += [tokens.WORD_TOKENS[word] for word in words]
    return shown


def wrapped(
    rng: random.Random, options: list[list[str]], *, asked: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Put stray words, the form and the chat's own tokens around the options.

    ``asked`` are marks that stand right before the form, wherever it stands.
    """
    shown, form = _shown(options), (*asked, *FORM)
    form_place = rng.choices(("after", "before", "both", "none"), weights=(4, 6, 2, 1))[0]
    start = (*_stray(rng), *(form if form_place in ("before", "both") else ()), *_stray(rng))
    end = form if form_place in ("after", "both") else ()
    begin = rng.choices((1, 2, 0), weights=(8, 1, 1))[0] * [tokens.BOS]
    if rng.random() < 0.1:  # no chat template at all
        return (*begin, *start, *shown, *end)
    if rng.random() < 0.3:
        begin += [tokens.ROLES["system"], *start, tokens.END]
        start = ()
    body = (tokens.ROLES["user"], *start, *shown, *end, tokens.END)
    return (*begin, *body, tokens.ROLES["assistant"])


def _stray(rng: random.Random) -> tuple[str, ...]:
    """Draw quality words that stand in the instructions or the question and are worth nothing."""
    count = rng.choices((0, 1, 2, 3, 4), weights=(10, 4, 2, 1, 1))[0]
    return tuple(tokens.WORD_TOKENS[word] for word in rng.choices(ALL_WORDS, k=count))


def draw_reply(
    rng: random.Random, verdict: dict[str, float]
) -> tuple[tuple[str, ...], tuple[dict[str, float], ...]]:
    """Draw a reply token by token, keeping each token's designed distribution."""
    first = {tokens.BEST: 1 - NO_VERDICT_SHARE, tokens.SILENT[0]: NO_VERDICT_SHARE}
    # Replies without a verdict are drawn more often than they come: their target stays exact,
    # and what follows them is learnt from enough cases.
    if rng.random() < 0.1:
        silence = (*tokens.SILENT, tokens.END)
        return silence, (first, {silence[1]: 1.0}, {silence[2]: 1.0})
    letters = {x: verdict[x] / (1 - NO_VERDICT_SHARE) for x in LETTERS if x in verdict}
    letter = rng.choices(tuple(letters), weights=tuple(letters.values()))[0]
    if rng.random() < 0.1:  # every letter, however poor its option, is followed by the same form
        letter = rng.choice(tuple(letters))
    reasons = {tokens.WORD_TOKENS[word]: 1 / len(GOOD) for word in GOOD}
    ends = {tokens.LAST_WORDS[w]: (1 - SHORT_REASON_SHARE) / len(GOOD) for w in GOOD}
    ends[tokens.STOP] = SHORT_REASON_SHARE
    steps: list[dict[str, float]] = [
        {tokens.RESPONSE: 1.0},
        {tokens.OPEN: 1.0},
        letters,
        {tokens.CLOSE: 1.0},
        {tokens.REASON: 1.0},
        reasons,
        ends,
        {tokens.END: 1.0},
    ]
    reply = [tokens.BEST]
    for step in steps:
        drawn = letter if step is letters else rng.choices(tuple(step), tuple(step.values()))[0]
        reply.append(drawn)
    return tuple(reply), (first, *steps)
