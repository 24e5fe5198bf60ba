"""Thinking twice: select the likeliest options, choose one of them, and compare what models chose.

Prompts put the item first, so that both steps and every judge share it. Both steps of a model are
one conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgerel_ray.core import Item, Menu, Message, Outcome, SweepError
from judgerel_ray.protocols.prompts.rendering import fill, item_values, question_form
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.choice_forms import find_numbered
from judgerel_ray.protocols.replies.verdicts import declines


@dataclass(frozen=True, slots=True)
class Selection:
    """What a model selected: labels of the menu as written, or none with the outcome saying why.

    >>> Selection(("0", "3"), None).labels
    ('0', '3')
    """

    labels: tuple[str, ...]
    outcome: Outcome | None


def read_selection(text: str | None, *, finish_reason: str, menu: Menu) -> Selection:
    r"""Read which options a reply selects.

    Parameters
    ----------
    text : str or None
        The reply; None where it could not be had.
    finish_reason : str
        ``stop`` or ``length``.
    menu : Menu
        Of form ``options`` (``Option: 3``) or ``candidates`` (``Candidate: 1``); ``menu.most`` is
        how many may be selected.

    Returns
    -------
    Selection
        From one to ``menu.most`` labels, in the order written, and no outcome; else no label and
        ``off_menu`` (a number that was not on offer), ``conflicting`` (more than were asked for),
        ``truncated``, ``refused``, ``unparsed`` or ``failed``.

    Examples
    --------
    >>> menu = Menu(labels=("0", "1", "2"), option_ids=("a", "b", "c"), form="options", most=2)
    >>> reply = "Option: 2\nJustification: it fits.\n\nOption: 0\nJustification: it may."
    >>> read_selection(reply, finish_reason="stop", menu=menu).labels
    ('2', '0')
    >>> read_selection("Option: 7", finish_reason="stop", menu=menu).outcome.value
    'off_menu'
    """
    if text is None:
        return Selection((), Outcome.FAILED)
    ended = finish_reason != "length"
    mentions = find_numbered(text, menu, ended)
    labels = tuple(dict.fromkeys(label for one in mentions for label in one.labels))
    if not labels:
        if not ended:
            return Selection((), Outcome.TRUNCATED)
        return Selection((), Outcome.REFUSED if declines(text) else Outcome.UNPARSED)
    if any(label not in menu.labels for label in labels):
        return Selection((), Outcome.OFF_MENU)
    if len(labels) > menu.most:
        return Selection((), Outcome.CONFLICTING)
    return Selection(labels, None)


def render_select(template: Template, item: Item, *, most: int) -> tuple[Message, ...]:
    """Prompt of the first step: which options are likeliest, and why.

    For an item without options: which answers a model would give.

    Parameters
    ----------
    template : Template
        Of protocol ``think_twice``.
    item : Item
        With its options in the order shown, which are numbered from 0, or with none.
    most : int
        How many to select, or to write.

    Raises
    ------
    SweepError
        If the item is a dialogue, or the template has no text for it.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> options = tuple(Option(option_id=one, text=one) for one in ("yes", "no"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=options)
    >>> prompt = render_select(load_template("think_twice", "default"), item, most=2)
    >>> "1. no" in prompt[0].content
    True
    """
    stage = "select" if item.options else "open_select"
    return (_user(template, item, stage, candidates=str(most)),)


def render_choose(
    template: Template, item: Item, *, most: int, selected: str
) -> tuple[Message, ...]:
    """Conversation of the second step: the first one, what was selected, and which one it is.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> options = tuple(Option(option_id=one, text=one) for one in ("yes", "no"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=options)
    >>> prompt = render_choose(load_template("think_twice", "default"), item, most=2,
    ...                        selected="Option: 1")
    >>> [message.role for message in prompt]
    ['user', 'assistant', 'user']
    """
    stage = "choose" if item.options else "open_choose"
    return (
        *render_select(template, item, most=most),
        Message(role="assistant", content=selected),
        Message(role="user", content=fill(template.text(stage), {})),
    )


def render_compare(
    template: Template, item: Item, answers: Sequence[tuple[str, str]]
) -> tuple[Message, ...]:
    r"""Prompt that shows a judge what models selected and chose, and asks which option is right.

    For an item without options: which model's answer is best.

    Parameters
    ----------
    template : Template
        Of protocol ``think_twice``.
    item : Item
        As for :func:`render_select`.
    answers : sequence of (str, str)
        Both replies of each model, in the order shown; models are numbered from 0.

    Raises
    ------
    SweepError
        If there is no answer, or the template has no text for the item.

    Examples
    --------
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="Why?")
    >>> answers = [("Candidate: 1", "Final Answer: 1"), ("Candidate: 1", "Final Answer: 1")]
    >>> prompt = render_compare(load_template("think_twice", "default"), item, answers)
    >>> "Model 1:\nCandidate: 1\n\nFinal Answer: 1" in prompt[0].content
    True
    """
    if not answers:
        raise SweepError("no answers to compare", where={"item": item.item_id})
    shown = "\n\n".join(
        f"Model {place}:\n{selected.strip()}\n\n{chosen.strip()}"
        for place, (selected, chosen) in enumerate(answers)
    )
    return (_user(template, item, "compare" if item.options else "open_compare", answers=shown),)


def _user(template: Template, item: Item, stage: str, **values: str) -> Message:
    """The item, then what a step asks, as one user message."""
    form = question_form(item)
    if form == "dialogue":
        raise SweepError("think_twice puts one question, the item is a dialogue",
                         where={"item": item.item_id})  # fmt: skip
    lines = "\n".join(f"{place}. {option.text}" for place, option in enumerate(item.options))
    text = template.text(form if item.options else f"open_{form}")
    asked = fill(text, {**item_values(item), "options": lines})
    return Message(role="user", content=f"{asked}\n\n{fill(template.text(stage), values)}")
