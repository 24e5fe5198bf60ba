"""What a simulated judge writes: verdicts in the declared form, refusals, replies off the form."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate

from judgerel_ray.core import Ask, Menu
from judgerel_ray.engines.simulated_options import SimulatedOptions
from judgerel_ray.engines.truth import (
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
    """Draw the uncut replies to an ask.

    Parameters
    ----------
    model : str
        Name of the distribution.
    options : SimulatedOptions
        Its parameters.
    ask : Ask
        Replications of one condition.

    Returns
    -------
    list of str
        One for each replication, in order.

    Raises
    ------
    RequestRefused
        If the menu lacks what the parameters name.

    Examples
    --------
    >>> from judgerel_ray.core import Condition, Menu, Message
    >>> condition = Condition(
    ...     condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="i", protocol="best_of", stage="judge", role="judge",
    ...     prompt=(Message(role="user", content="?"),), template="default", temperature=0.0,
    ...     top_k=50, top_p=1.0, max_tokens=8,
    ...     menu=Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"))
    >>> draw_replies("uniform", SimulatedOptions(), Ask(condition=condition, first=0, n=1))
    ['Best Response: [[A]]']
    """
    condition = ask.condition
    draws = [
        uniforms(f"reply:{options.seed}:{condition.condition_key}:{replication}")
        for replication in ask.replications
    ]
    menu = condition.menu
    if menu is None:
        return [f"Answer {draw[1]:.6f}: {_words(_ANSWER, options.reason_words)}" for draw in draws]
    menu = answerable(menu)
    weights = option_log_weights(model, options, item_id=judged_thing(condition), menu=menu)
    shares = tempered(weights, condition.temperature)
    reason = _words(_REASON, options.reason_words)
    replies = []
    for replication, (kind, place, _) in zip(ask.replications, draws, strict=True):
        limits = list(accumulate(reasoned(shares, options, condition, replication)))
        off = reply_without_verdict(options, kind, greedy=condition.temperature == 0)
        if off is None:
            label = menu.labels[min(bisect_right(limits, place), len(limits) - 1)]
            if menu.own is not None:
                off = own_reply(label, menu)
            else:
                off = write_verdict(label, menu.form) + (f" {reason}." if reason else "")
        replies.append(off)
    return replies


def reply_without_verdict(options: SimulatedOptions, kind: float, *, greedy: bool) -> str | None:
    """A reply without a verdict at its share; greedily, only if it is the likeliest kind.

    Examples
    --------
    >>> reply_without_verdict(SimulatedOptions(refuse=0.2), 0.1, greedy=False)
    'I cannot judge this.'
    """
    if greedy:
        verdict = 1 - options.refuse - options.unparsed
        if verdict >= max(options.refuse, options.unparsed):
            return None
        return REFUSAL if options.refuse >= options.unparsed else OFF_FORM
    if kind < options.refuse:
        return REFUSAL
    return OFF_FORM if kind < options.refuse + options.unparsed else None


def write_verdict(label: str, form: str) -> str:
    """Write a verdict in a declared form; the label alone where the form has no words.

    Examples
    --------
    >>> write_verdict("B", "best_response"), write_verdict("4", "score")
    ('Best Response: [[B]]', 'Score: 4')
    """
    if form == "score":  # words before its value and none after it, so it is never complete
        return f"Score: {label}"
    whole = FORMS[form].complete if form in FORMS else None
    return label if whole is None else whole(label)


def own_reply(label: str, menu: Menu) -> str:
    """Write a verdict as a template's own form has it in its example, by its first word.

    Examples
    --------
    >>> from judgerel_ray.core import OwnForm
    >>> own = OwnForm(pattern="Answer: (?P<verdict>.)", example="So? Answer: {verdict}")
    >>> own_reply("B", Menu(labels=("A", "B"), option_ids=("x", "y"), form="own", own=own,
    ...                     words=(("1", "one"), ("2", "two"))))
    'So? Answer: 2'
    """
    if menu.own is None:
        return write_verdict(label, menu.form)
    word = menu.words[menu.labels.index(label)][0] if menu.words else label
    return fill_example(menu.own, word)


def _words(text: str, n: int) -> str:
    """The first n words of a text repeated without end."""
    words = text.split()
    return " ".join(words[place % len(words)] for place in range(n))


def cut_after(text: str, stop: tuple[str, ...]) -> str:
    """Cut a text after the stop string that ends first, keeping it.

    Examples
    --------
    >>> cut_after("Best Response: [[A]] since", ("]]",))
    'Best Response: [[A]]'
    """
    ends = [text.find(mark) + len(mark) for mark in stop if mark in text]
    return text[: min(ends)] if ends else text


def count_tokens(text: str) -> int:
    """Tokens of a text, at four characters each.

    Examples
    --------
    >>> count_tokens("hello")
    2
    """
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
