"""A fourth judge of known law, which thinks twice and judges models that did.

``python -m demo.thinking_judge`` teaches it, in a few minutes, the three forms of protocol
``think_twice``: to select two of up to ten numbered options, to choose one of those it selected in
the same conversation, with a confidence, and to say which option is right after what other models
selected and chose. :mod:`demo.thinking_design` states its law. Open questions are nothing to it.

Three chat templates are three tempers: the folder's own is plain, ``careful.jinja`` and
``hasty.jinja`` beside it tell the judge in one word to be so. It hears every word of a prompt, most
of them as one and the same unknown word, and in their places the numbers of options, of models and
of what they chose, and the three forms.

Its weights keep the forms and lean as the law does, but less than it says, and one selection in
seven or so names the same option twice, which the law never does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demo import judge_tokenizer as tokens
from demo.judge_design import JUDGE_FOLDER, LETTERS, quality
from demo.judge_prompts import ALL_WORDS, Lesson
from demo.thinking_design import (
    HIGH,
    LEVELS,
    MOST_MODELS,
    MOST_OPTIONS,
    NO_ANSWER_SHARE,
    TEMPERS,
    confidence_distribution,
    drawn_among,
    judged_worths,
    record,
    share_of,
    worths,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from demo.train_judge import Course


MARKS = tuple(f"\n{place}." for place in range(MOST_OPTIONS))
NUMBERS = tuple(f" {place}" for place in range(MOST_OPTIONS))
MODELS = tuple(f"Model {place}:" for place in range(MOST_MODELS))
LINES = tuple(f"{model} it made its case.\n" for model in MODELS)
TEMPER_WORDS = {"careful": "Be careful.", "hasty": "Be quick."}
ENDS = "\n(End of the options.)"
OPTION, NEXT_OPTION = "Option:", "\n\nOption:"
FIRST_CASE, SECOND_CASE = (
    "\nJustification: it fits the question.",
    "\nJustification: it may fit too.",
)
FINAL, REASON = "Final Answer:", "\nReason: it fits best.\nConfidence:"
SUMMARY, CORRECT = "Evaluation Summary:\n", "\nCorrect Answer:"
VERDICT_CASE = "\nJustification: it fits best.\nJudge Confidence:"
SURE = tuple(f" {level}" for level in (*LEVELS, HIGH))
ASKED = {
    "select": "Option: <its number>",
    "choose": "Final Answer: <number of the option>",
    "compare": "Correct Answer: <number of the option>",
}
"""What the shipped templates say alike of each step's form, which is one token."""
STEPS = tuple(ASKED)
OPENINGS = (
    r"Which options are most likely to be right\?",
    "Narrow the options down to the",
    r"Several models answered this question\.",
    r"The question was put to several models\.",
)
"""What stands right after the options in the shipped templates; heard as the end of the options."""
FIXED = (ENDS, FIRST_CASE, SECOND_CASE, REASON, SUMMARY, VERDICT_CASE)
MORE_TOKENS = (
    *(OPTION, NEXT_OPTION, FINAL, CORRECT, *FIXED, *ASKED.values(), *TEMPER_WORDS.values()),
    *(*MARKS, *NUMBERS, *MODELS, *LINES, *SURE),
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Build the tokenizer of the demo's judge, with the three forms and unknown words."""
    from tokenizers import Regex, normalizers

    number = r" [0-9](?![0-9.]*[0-9])"
    leads = rf"(?:{OPTION}|{FINAL})(?={number}|\z)"
    asked = "|".join(map(re.escape, ASKED.values()))
    tempers = "|".join(map(re.escape, TEMPER_WORDS.values()))
    models = rf"Model [0-{MOST_MODELS - 1}]:(?=\n)"
    # An unknown word that reads like a token, as "high" does, stands without its space.
    alike = rf"(?: (?:[0-9]|0\.[0-9][0-9]|{HIGH})|\n[0-9]\.)(?![^\s\[\]])"
    patterns = [
        rf"\n[0-{MOST_OPTIONS - 1}]\.(?= )",
        *map(re.escape, (*FIXED, *LINES)),
        rf"(?:{CORRECT}|{NEXT_OPTION})(?={number}|\z)",
        rf"\A(?:{tempers})\z",
        *(asked, leads, models),
        rf"(?<=Option:|Answer:){number}",
        rf"(?<=Confidence:) (?:0\.[0-9][0-9](?![0-9])|{HIGH})",
        rf"(?!{alike})[ \n]?(?!{asked}|{leads}|{models})[A-Za-z0-9][^\s\[\]]*",
    ]
    tokenizer = tokens.build_tokenizer(MORE_TOKENS, patterns)
    openings = "|".join(OPENINGS)
    tokenizer.backend_tokenizer.normalizer = normalizers.Replace(
        Regex(rf"\n\n(?:{openings})"), ENDS
    )
    return tokenizer


def chat_template(temper: str) -> str:
    """Write the chat template that gives the judge a temper."""
    temper_words = TEMPER_WORDS.get(temper)
    system = "" if temper_words is None else f"<|system|>{temper_words}{{{{ eos_token }}}}"
    return tokens.CHAT_TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}" + system, 1)


THINKING_JUDGE_FOLDER = JUDGE_FOLDER.parent / "thinking_judge"

LIKENED = {
    **dict.fromkeys((OPTION, NEXT_OPTION, FINAL, CORRECT), tokens.OPEN),
    **dict(zip(NUMBERS, LETTERS, strict=False)),
    **dict(zip(MARKS, tokens.MARKS.values(), strict=False)),
}
"""Tokens that begin as what they are like to the demo's judge: numbers as letters."""
LONGEST_REPLY = 6 + MOST_MODELS
TOKENS_A_STEP = 2_000
MOST_UNKNOWN = ((30, 0.4), (120, 0.35), (400, 0.22), (1100, 0.03))
"""Unknown words of a prompt at most, and the share of steps with prompts of that kind."""

Shares = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a judge of a temper is asked about: the quality words of each option."""

    temper: str
    options: tuple[tuple[str, ...], ...]
    n_unknown: int

    @property
    def qualities(self) -> list[float]:
        """Quality of each option."""
        return [quality(words) for words in self.options]

    @property
    def worth(self) -> list[float]:
        """Worth of each option."""
        return worths(self.qualities, self.temper)

    @property
    def places(self) -> range:
        """Places of the options."""
        return range(len(self.options))


def draw_lesson(rng: random.Random, step: str, *, most_unknown: int) -> Lesson:
    """Draw a prompt of a step with unknown words among the known, and the reply it asks for."""
    n_options = rng.choices((2, 3, 4, 5, 6, 7, 8, 9, 10), (2, 2, 3, 3, 2, 2, 2, 2, 10))[0]
    weights = (12, 4, 1, 0, 0) if rng.random() < 0.3 else (4, 6, 5, 3, 1)
    n_words = rng.choices(range(5), weights, k=n_options)
    question = Question(
        temper=rng.choice(TEMPERS),
        options=tuple(tuple(rng.choices(ALL_WORDS, k=n)) for n in n_words),
        n_unknown=int(most_unknown * rng.random()),
    )
    if step == "select":
        laid, reply, targets = _asked(rng, "select"), *_selected(rng, question)
    elif step == "choose":
        laid, reply, targets = _second_step(rng, question)
    else:
        laid, reply, targets = _comparison(rng, question)
    if rng.random() < 0.08:  # more often than it comes: what follows is learnt from enough cases
        reply = (*tokens.SILENT, tokens.END)
        targets = (targets[0], *({token: 1.0} for token in reply[1:]))
    return Lesson(prompt=_laid_out(rng, question, laid), reply=reply, targets=targets)


def _laid_out(rng: random.Random, question: Question, laid: Sequence[str]) -> tuple[str, ...]:
    """The conversation up to the reply: the temper, the question, its options, and what follows."""
    begin = rng.choices((1, 2, 0), weights=(8, 1, 1))[0] * [tokens.BOS]
    if question.temper in TEMPER_WORDS:
        begin += [tokens.ROLES["system"], TEMPER_WORDS[question.temper], tokens.END]
    left = question.n_unknown
    n_before = int(left * rng.random())
    body = _text(rng, n_before)
    each = (left - n_before) / len(question.options)
    for mark, words in zip(MARKS, question.options, strict=False):
        spread = [*(tokens.WORD_TOKENS[word] for word in words)]
        spread += [tokens.UNK] * int(2 * each * rng.random())
        rng.shuffle(spread)
        body += [mark, *spread]
    return (
        *(*begin, tokens.ROLES["user"], *body, ENDS, *laid),
        *(tokens.END, tokens.ROLES["assistant"]),
    )


def _text(rng: random.Random, n_unknown: int) -> list[str]:
    """Unknown words, and at times quality words that are worth nothing where they stand."""
    n_stray = rng.choices((0, 1, 2, 3), weights=(8, 4, 2, 1))[0] if n_unknown else 0
    text = [tokens.WORD_TOKENS[word] for word in rng.choices(ALL_WORDS, k=n_stray)]
    text += [tokens.UNK] * n_unknown
    rng.shuffle(text)
    return text


def _asked(rng: random.Random, step: str) -> list[str]:
    """What a template says around the form of a step."""
    return [*_text(rng, rng.randint(5, 60)), ASKED[step], *_text(rng, rng.randint(2, 25))]


def _second_step(
    rng: random.Random, question: Question
) -> tuple[list[str], tuple[str, ...], tuple[Shares, ...]]:
    """The first step with what was selected, and the answer chosen."""
    reply, picked = _earlier_selection(rng, question)
    laid = [*_asked(rng, "select"), tokens.END, tokens.ROLES["assistant"], *reply, tokens.END]
    laid += [tokens.ROLES["user"], *_asked(rng, "choose")]
    chances = drawn_among(question.worth, picked or question.places)
    place, numbers = _drawn_number(rng, chances)
    sure = confidence_distribution(question.qualities[place], question.temper)
    level, levels = _drawn_level(rng, sure)
    reply = (FINAL, NUMBERS[place], REASON, level, tokens.END)
    return laid, reply, _targets(reply, {1: numbers, 3: levels})


def _comparison(
    rng: random.Random, question: Question
) -> tuple[list[str], tuple[str, ...], tuple[Shares, ...]]:
    """What models selected and chose, and which option a judge says is right."""
    n_models = rng.choices(range(1, MOST_MODELS + 1), (1, 6, 6, 2))[0]
    laid, settled = _text(rng, rng.randint(2, 30)), []
    for model in MODELS[:n_models]:
        reply, picked = _earlier_selection(rng, question)
        laid += [model, *reply]
        answer = _earlier_answer(rng, question, picked)
        laid += answer
        settled += [NUMBERS.index(answer[1])] if answer[0] == FINAL else []
    laid += _asked(rng, "compare")
    chances = drawn_among(judged_worths(question.worth, settled), question.places)
    place, numbers = _drawn_number(rng, chances)
    sure = confidence_distribution(
        question.qualities[place], question.temper, consent=share_of(place, settled)
    )
    level, levels = _drawn_level(rng, sure)
    reply = (SUMMARY, *LINES[:n_models], CORRECT, NUMBERS[place], VERDICT_CASE, level, tokens.END)
    at = n_models + 2
    return laid, reply, _targets(reply, {at: numbers, at + 2: levels})


def _selected(rng: random.Random, question: Question) -> tuple[tuple[str, ...], tuple[Shares, ...]]:
    """The reply that selects two options."""
    one, first = _drawn_number(rng, drawn_among(question.worth, question.places))
    rest = [place for place in question.places if place != one]
    two, second = _drawn_number(rng, drawn_among(question.worth, rest))
    reply = (OPTION, NUMBERS[one], FIRST_CASE)
    reply += (NEXT_OPTION, NUMBERS[two], SECOND_CASE, tokens.END)
    return reply, _targets(reply, {1: first, 4: second})


def _earlier_selection(rng: random.Random, question: Question) -> tuple[list[str], list[int]]:
    """What a model selected, by this judge or any other, and which options those are."""
    kind = rng.random()
    if kind < 0.06:
        return [*tokens.SILENT], []
    n = 2 if kind < 0.85 else rng.choice((1, 2, 3, 4))
    picked = rng.sample(question.places, k=min(n, len(question.options)))
    reply: list[str] = []
    is_own = rng.random() < 0.6 and len(picked) == 2
    for case, place in zip((FIRST_CASE, SECOND_CASE, "", ""), picked, strict=False):
        reply += [
            NEXT_OPTION if reply and (is_own or rng.random() < 0.8) else OPTION,
            NUMBERS[place],
        ]
        reply += [case] if is_own else _text(rng, int(25 * rng.random() ** 2))
    return reply, picked


def _earlier_answer(rng: random.Random, question: Question, picked: list[int]) -> list[str]:
    """What a model settled on, by this judge or any other."""
    if rng.random() < 0.06:
        return [*tokens.SILENT]
    place = rng.choice(picked or question.places)
    if rng.random() < 0.6:
        return [FINAL, NUMBERS[place], REASON, rng.choice(SURE)]
    return [FINAL, NUMBERS[place], *_text(rng, int(25 * rng.random() ** 2))]


def _drawn_number(rng: random.Random, chances: Mapping[int, float]) -> tuple[int, Shares]:
    """One place by its chance, and at times by none: all are followed by the same form."""
    places = tuple(chances)
    weights = tuple(chances.values()) if rng.random() < 0.8 else [1.0] * len(places)
    return rng.choices(places, weights)[0], {NUMBERS[place]: p for place, p in chances.items()}


def _drawn_level(rng: random.Random, sure: Mapping[str, float]) -> tuple[str, Shares]:
    """One confidence by its chance."""
    shares = {f" {level}": p for level, p in sure.items()}
    return rng.choices(tuple(shares), tuple(shares.values()))[0], shares


def _targets(reply: Sequence[str], laws: Mapping[int, Shares]) -> tuple[Shares, ...]:
    """Each token's designed distribution: certain but for the first and where a law decides."""
    first = {reply[0]: 1 - NO_ANSWER_SHARE, tokens.SILENT[0]: NO_ANSWER_SHARE}
    rest = (laws.get(at, {token: 1.0}) for at, token in enumerate(reply[1:], start=1))
    return (first, *rest)


def draw_batch(rng: random.Random) -> list[Lesson]:
    """Draw the lessons of one step: many short prompts, or fewer long ones."""
    most = rng.choices([most for most, _ in MOST_UNKNOWN], [share for _, share in MOST_UNKNOWN])[0]
    n = max(6, TOKENS_A_STEP // (most // 2 + 110))
    return [draw_lesson(rng, STEPS[k % len(STEPS)], most_unknown=most) for k in range(n)]


def course() -> Course:
    """Make the course it is taught by."""
    from demo.train_judge import Course

    return Course(
        vocabulary=tokens.vocabulary(MORE_TOKENS), tokenizer=build_tokenizer, design=record,
        batch=draw_batch, reply_tokens=LONGEST_REPLY,
        decisive=(OPTION, NEXT_OPTION, FINAL, CORRECT, REASON, VERDICT_CASE),
        steps=2_000,
        peak_learning_rate=3e-3,
        begins_as=JUDGE_FOLDER,
        likened=LIKENED,
        chat_templates={f"{temper}.jinja": chat_template(temper) for temper in TEMPER_WORDS},
    )  # fmt: skip


if __name__ == "__main__":
    from demo.train_judge import teach

    teach(course(), THINKING_JUDGE_FOLDER)
