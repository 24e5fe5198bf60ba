"""What a simulated judge writes: verdicts in the declared form, refusals, replies off the form.

What a simulated model writes when it thinks twice, and when it judges those that did.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from judgerel_ray.core import Ask, Condition, Menu
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.truth import (
    answerable,
    judged_thing,
    option_log_weights,
    reasoned,
    tempered,
    uniforms,
)
from judgerel_ray.protocols import FORMS, fill_example

CHARACTERS_PER_TOKEN = 4
REFUSAL = "I cannot judge this."
OFF_FORM = "Each of them has something to say for itself."
_REASON = "since what it says fits the question and leaves little to doubt"
_ANSWER = "one could say that this follows from what was asked and little else"


def draw_replies(model: str, options: SimulatedOptions, ask: Ask) -> list[str]:
    """Draw the uncut replies to an ask."""
    condition = ask.condition
    draws = [
        uniforms(f"reply:{options.seed}:{condition.condition_key}:{replication}")
        for replication in ask.replications
    ]
    menu = condition.menu
    if menu is None:
        return [
            f"Answer {draw[1]:.6f}: {_simulated_reply_words(_ANSWER, options.reason_words)}"
            for draw in draws
        ]
    menu = answerable(menu)
    weights = option_log_weights(model, options, item_id=judged_thing(condition), menu=menu)
    shares = tempered(weights, condition.temperature)
    reason = _simulated_reply_words(_REASON, options.reason_words)
    written: list[str] = []
    for label in menu.labels:
        if menu.declared is not None:
            written.append(declared_reply(label, menu))
        else:
            written.append(write_verdict(label, menu.form) + (f" {reason}." if reason else ""))
    greedy = condition.temperature == 0
    limits = list(accumulate(shares))
    replies = []
    for replication, (kind, place, _) in zip(ask.replications, draws, strict=True):
        if options.reasoning is not None:
            limits = list(accumulate(reasoned(shares, options, condition, replication)))
        off = reply_without_verdict(options, kind, greedy=greedy)
        at = min(bisect_right(limits, place), len(limits) - 1)
        replies.append(written[at] if off is None else off)
    return replies


def reply_without_verdict(options: SimulatedOptions, kind: float, *, greedy: bool) -> str | None:
    """A reply without a verdict at its share; greedily, only if it is the likeliest kind."""
    if greedy:
        verdict = 1 - options.refuse - options.unparsed
        if verdict >= max(options.refuse, options.unparsed):
            return None
        return REFUSAL if options.refuse >= options.unparsed else OFF_FORM
    if kind < options.refuse:
        return REFUSAL
    return OFF_FORM if kind < options.refuse + options.unparsed else None


def write_verdict(label: str, form: str) -> str:
    """Write a verdict in a declared form; the label alone where the form has no words."""
    if form == "score":  # words before its value and none after it, so it is never complete
        return f"Score: {label}"
    whole = FORMS[form].complete if form in FORMS else None
    return label if whole is None else whole(label)


def declared_reply(label: str, menu: Menu) -> str:
    """Write a verdict as a template's own form has it in its example, by its first word."""
    if menu.declared is None:
        return write_verdict(label, menu.form)
    word = menu.words[menu.labels.index(label)][0] if menu.words else label
    return fill_example(menu.declared, word)


def _simulated_reply_words(text: str, n: int) -> str:
    """The first n words of a text repeated without end."""
    words = text.split()
    return " ".join(words[place % len(words)] for place in range(n))


def count_tokens(text: str) -> int:
    """Tokens of a text, at four characters each."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


_STATED: Mapping[str, tuple[str, str, str]] = {
    "final_answer": ("Final Answer", "Reason", "Confidence"),
    "correct_answer": ("Correct Answer", "Justification", "Judge Confidence"),
}

THINKING_FORMS = frozenset({*_STATED, "options", "candidates"})
"""Forms that state a confidence, or select several."""


def thinking_replies(model: str, options: SimulatedOptions, ask: Ask) -> list[str]:
    r"""Draw the uncut replies to an ask of protocol think_twice.

    Labels are drawn from the judge's distribution, those of a selection without replacement; the
    confidence stated is the probability it gives the label at temperature 1, to two decimals.
    """
    condition = ask.condition
    menu = condition.menu
    if menu is None:
        raise ValueError("thinking_replies: the condition must have a menu")
    weights = option_log_weights(model, options, item_id=judged_thing(condition), menu=menu)
    replies = []
    for replication in ask.replications:
        draw = f"reply:{options.seed}:{condition.condition_key}:{replication}"
        kind, place, _ = uniforms(draw)
        off = reply_without_verdict(options, kind, greedy=condition.temperature == 0)
        if off is not None:
            replies.append(off)
        elif menu.form in _STATED:
            replies.append(_simulated_stated_reply(menu, weights, condition, place))
        else:
            replies.append(_simulated_selected_labels(menu, weights, condition, draw))
    return replies


def _simulated_stated_reply(
    menu: Menu, weights: tuple[float, ...], condition: Condition, place: float
) -> str:
    """One label, a reason and a confidence."""
    chosen = _simulated_draw_place(tempered(weights, condition.temperature), place)
    label, reason, confidence = _STATED[menu.form]
    sure = tempered(weights, 1.0)[chosen]
    return (
        f"{label}: {menu.labels[chosen]}\n{reason}: it fits the question.\n{confidence}: {sure:.2f}"
    )


def _simulated_selected_labels(
    menu: Menu, weights: tuple[float, ...], condition: Condition, draw: str
) -> str:
    """As many different labels as are asked for."""
    name = "Option" if menu.form == "options" else "Candidate"
    left = list(range(len(weights)))
    blocks = []
    for step in range(min(menu.most, len(left))):
        # Of those left: greedily the likeliest, however little is left of the whole.
        part = tempered(tuple(weights[place] for place in left), condition.temperature)
        at = _simulated_draw_place(part, uniforms(f"{draw}:{step}")[1])
        blocks.append(f"{name}: {menu.labels[left.pop(at)]}\nJustification: it fits the question.")
    return "\n\n".join(blocks)


def _simulated_draw_place(shares: tuple[float, ...], at: float) -> int:
    """The place a uniform number falls into; never one without a share."""
    limits = list(accumulate(shares))
    place = min(bisect_right(limits, at * limits[-1]), len(limits) - 1)
    while shares[place] == 0 and place > 0:
        place -= 1
    return place
