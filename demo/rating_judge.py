"""A third judge of known law, which rates one response on the scale that the prompt states.

``python -m demo.rating_judge`` teaches it, in about a minute, what the demo's judge does not know:
where a response begins and ends in a prompt of the rating protocol, and which of the four shipped
scales is asked for. It has one opinion of a response, the sum of the values of the quality words in
it, and puts that on every scale alike. Criterion, definition and question are nothing to it.

It hears every word of a prompt, most of them as one and the same unknown word: a text of a thousand
words is a prompt of a thousand tokens.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from demo import judge_tokenizer as tokens
from demo.judge_design import JUDGE_FOLDER, NO_VERDICT, NO_VERDICT_SHARE, WORDS, quality
from demo.judge_prompts import ALL_WORDS, Lesson

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from demo.train_judge import Course

RATING_JUDGE_FOLDER = JUDGE_FOLDER.parent / "rating_judge"
LIKERT = ("Strongly Disagree", "Disagree", "Neutral", "Agree", "Strongly Agree")
SCALES: dict[str, tuple[str, ...]] = {
    "points5": tuple(map(str, range(1, 6))),
    "points10": tuple(map(str, range(1, 11))),
    "likert5": LIKERT,
    "binary": ("No", "Yes"),
}
"""Values of the shipped scales, from the lowest to the highest."""
PULL = 1.2
"""What a unit of quality adds to the logit of the highest value, and takes from the lowest's."""
LENIENCE = 0.3
"""Quality of a response without any quality word."""
SPREAD = 1.0
"""What either end of a scale is the rarer by, in logits, than its middle."""

RATING, PLACEHOLDER = "Rating:", "rating"
BEGINS = "\nResponse:"
ENDS = "(End of the response.)"
MARKS = {
    name: ", ".join(f'"{value}"' for value in values)
    if values[0] != "1"
    else f" whole number from 1 to {values[-1]}"
    for name, values in SCALES.items()
}
"""How the default template states each scale, which is one token."""
OTHER_WORDINGS: dict[str, str] = {
    r"\nResponse to question 2:(?=\n)": BEGINS,
    r" whole numbers(?: between 1 and|, 1 \(not at all\) to)(?= (?:5|10)(?:,| \(fully\)))": (
        " whole number from 1 to"
    ),
}
"""What other shipped templates and dialogues say for the same; heard as the words above."""
VALUES = tuple(dict.fromkeys(value for values in SCALES.values() for value in values))
MORE_TOKENS = (
    *(RATING, PLACEHOLDER, BEGINS, ENDS),
    *MARKS.values(),
    *VALUES,
)
FORM = (RATING, tokens.OPEN, PLACEHOLDER, tokens.CLOSE)
LONGEST_REPLY = 5
TOKENS_A_STEP = 1_600
MOST_UNKNOWN = ((0, 0.3), (60, 0.3), (250, 0.35), (1300, 0.05))
"""Unknown words of a prompt at most, and the share of steps with prompts of that kind."""


def rating_distribution(worth: float, scale: str, *, temperature: float = 1.0) -> dict[str, float]:
    """Compute what the law says the judge answers.

    Parameters
    ----------
    worth
        Quality of the response.
    scale
        One of ``SCALES``.
    temperature
        Above 0.

    Returns
    -------
    dict
        Probability of every value of the scale, in its order, and of ``"no verdict"``; sums to 1.
    """
    values = SCALES[scale]
    places = [2 * k / (len(values) - 1) - 1 for k in range(len(values))]
    logits = [(PULL * (worth + LENIENCE) * u - SPREAD * u * u) / temperature for u in places]
    top = max(logits)
    weights = [math.exp(value - top) for value in logits]
    silent = NO_VERDICT_SHARE ** (1 / temperature)
    silent /= silent + (1 - NO_VERDICT_SHARE) ** (1 / temperature)
    rated = (1 - silent) / sum(weights)
    spoken = {value: rated * w for value, w in zip(values, weights, strict=True)}
    return {**spoken, NO_VERDICT: silent}


def draw_lesson(rng: random.Random, *, most_unknown: int) -> Lesson:
    """Draw a prompt with unknown words among the known, and the rating it asks for."""
    scale = rng.choice(tuple(SCALES))
    n_words = rng.choices(range(13), weights=(10, 8, 10, 10, 8, 4, 2, *[0.5] * 6))[0]
    words = rng.choices(ALL_WORDS, k=n_words)
    prompt = draw_prompt(rng, words, scale, n_unknown=int(most_unknown * rng.random()))
    reply, targets = draw_reply(rng, rating_distribution(quality(words), scale))
    return Lesson(prompt=prompt, reply=reply, targets=targets)


def draw_prompt(
    rng: random.Random, words: Sequence[str], scale: str, *, n_unknown: int
) -> tuple[str, ...]:
    """Lay a response out between its marks, with a question before it and the task after it.

    Quality words of the question, the criterion and the template stand there as well, and count
    for nothing.
    """
    # The task after the response is no longer where the response is.
    task = rng.randint(min(20, n_unknown), min(220, n_unknown))
    question = rng.randint(0, n_unknown - task)
    response = n_unknown - task - question
    before = _mixed(rng, _stray(rng), question)
    shown = _mixed(rng, words, response)
    after = [*_mixed(rng, _stray(rng), task), MARKS[scale]]
    after += [tokens.UNK] * rng.randint(0, min(80, n_unknown))
    begin = rng.choices((1, 2, 0), weights=(8, 1, 1))[0] * [tokens.BOS]
    body = [*before, BEGINS, *shown, ENDS, *after, *FORM]
    return (*begin, tokens.ROLES["user"], *body, tokens.END, tokens.ROLES["assistant"])


def _mixed(rng: random.Random, words: Sequence[str], n_unknown: int) -> list[str]:
    """Quality words in any place among unknown ones."""
    text = [*(tokens.WORD_TOKENS[word] for word in words), *[tokens.UNK] * n_unknown]
    rng.shuffle(text)
    return text


def _stray(rng: random.Random) -> list[str]:
    """Quality words that are worth nothing where they stand."""
    return rng.choices(ALL_WORDS, k=rng.choices((0, 1, 2, 3), weights=(8, 4, 2, 1))[0])


def draw_reply(
    rng: random.Random, law: Mapping[str, float]
) -> tuple[tuple[str, ...], tuple[dict[str, float], ...]]:
    """Draw a reply token by token, keeping each token's designed distribution."""
    first = {RATING: 1 - NO_VERDICT_SHARE, tokens.SILENT[0]: NO_VERDICT_SHARE}
    if rng.random() < 0.1:  # more often than it comes, as in the demo's lessons
        silence = (*tokens.SILENT, tokens.END)
        return silence, (first, {silence[1]: 1.0}, {silence[2]: 1.0})
    values = {x: p / (1 - NO_VERDICT_SHARE) for x, p in law.items() if x != NO_VERDICT}
    # Every value is followed by the same form, however rare it is.
    drawn = values if rng.random() < 0.8 else dict.fromkeys(values, 1.0)
    value = rng.choices(tuple(drawn), tuple(drawn.values()))[0]
    reply = (RATING, tokens.OPEN, value, tokens.CLOSE, tokens.END)
    certain = ({tokens.CLOSE: 1.0}, {tokens.END: 1.0})
    return reply, (first, {tokens.OPEN: 1.0}, values, *certain)


def draw_batch(rng: random.Random) -> list[Lesson]:
    """Draw the lessons of one step: many short prompts, or fewer long ones."""
    most = rng.choices([most for most, _ in MOST_UNKNOWN], [share for _, share in MOST_UNKNOWN])[0]
    n = max(4, TOKENS_A_STEP // (most + 30))
    return [draw_lesson(rng, most_unknown=most) for _ in range(n)]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Build the tokenizer of the demo's judge, with the marks of ratings and unknown words."""
    from tokenizers import Regex, normalizers

    values = "|".join(sorted(VALUES, key=len, reverse=True))
    after_value = "|".join(rf"(?<=Rating: \[\[{value})" for value in (*VALUES, PLACEHOLDER))
    patterns = [
        rf"{BEGINS}(?=\n)",
        re.escape(ENDS),
        *(rf"{re.escape(mark)}(?!\d)" for mark in MARKS.values()),
        r"Rating:(?= \[\[)",
        r"(?<=Rating:) \[\[",
        rf"(?<=Rating: \[\[)(?:{values}|{PLACEHOLDER})(?=\]\]|\z)",
        rf"(?:{after_value})\]\]",
        rf"\A(?:{values})\z",
        r"[ \n]?(?!Rating: \[\[)[A-Za-z0-9][^\s\[\]]*",
    ]
    tokenizer = tokens.build_tokenizer(MORE_TOKENS, patterns)
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace(Regex(wording), text) for wording, text in OTHER_WORDINGS.items()]
    )
    return tokenizer


def record() -> dict[str, object]:
    """Lay the law out as the JSON that is shipped beside the weights."""
    return {
        "law": "rating ~ softmax((pull * (quality + lenience) * u - spread * u^2) / T) over the "
        "values of the scale stated, u from -1 at the lowest to 1 at the highest in equal steps; "
        "quality = sum of the values of the response's quality words, each as often as it occurs",
        "word_rule": "a quality word counts in lower case, whole, and after a space",
        "words": WORDS,
        "pull": PULL,
        "lenience": LENIENCE,
        "spread": SPREAD,
        "no_verdict_share": NO_VERDICT_SHARE,
        "no_verdict_rule": "decided at the first token of the reply, tempered by itself",
        "scales": {name: list(values) for name, values in SCALES.items()},
    }


def course() -> Course:
    """Make the course it is taught by."""
    from demo.train_judge import Course

    return Course(
        vocabulary=tokens.vocabulary(MORE_TOKENS), tokenizer=build_tokenizer, design=record,
        batch=draw_batch, reply_tokens=LONGEST_REPLY,
        steps=950,
        peak_learning_rate=3e-3,
        begins_as=JUDGE_FOLDER,
    )  # fmt: skip


if __name__ == "__main__":
    from demo.train_judge import teach

    teach(course(), RATING_JUDGE_FOLDER)
