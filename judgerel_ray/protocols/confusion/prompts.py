"""Confusion prompts: the item first, so that every stage shares it, then what the stage asks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judgerel_ray.core import Item, Message, Outcome
from judgerel_ray.protocols.prompts.rendering import fill, item_values, question_form
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.verdicts import CANNOT, declines

_ARGUING = re.compile(
    r"[\s*_\"'“#>]*(?:(?:sorry|unfortunately|apologies|i\s+apologi[sz]e|my\s+apologies"
    r"|i['’]m\s+(?:\w+\s+)?sorry|i\s+am\s+(?:\w+\s+)?sorry)\s*[,.:;—–-]*\s*(?:but\s+)?"
    rf"|as\s+an?\s+(?:ai|artificial|(?:large\s+)?language)\b[^.\n]{{0,60}}?,?\s*)?{CANNOT}"
    r"(?:\s+to)?(?:\s+in\s+good\s+(?:conscience|faith)|\s+\w+ly)?(?:\s+to)?"
    r"\s+(?:argue|assert|claim|make|write|produce|present|support|defend|justify|endorse|advocate"
    r"|agree|say|state|help|do|provide|give)\b",
    re.IGNORECASE,
)


def read_assessment(text: str | None) -> Outcome | None:
    """Tell why a text is no assessment; None where it is one.

    An assessment cut at its token limit is one: it argues as far as it goes.

    Parameters
    ----------
    text : str or None
        What the judge wrote; None where it could not be asked.

    Returns
    -------
    Outcome or None
        ``refused`` where the judge will not argue the option, ``unparsed`` where it wrote nothing,
        ``failed`` without a text.

    Examples
    --------
    >>> read_assessment("The reply answers what was asked.") is None
    True
    >>> read_assessment("I cannot in good conscience argue for this.").value
    'refused'
    """
    if text is None:
        return Outcome.FAILED
    if not text.strip():
        return Outcome.UNPARSED
    return Outcome.REFUSED if declines(text) or _ARGUING.match(text) else None


def render_verdict(template: Template, item: Item, labels: Sequence[str]) -> tuple[Message, ...]:
    """Prompt for the judge's own verdict.

    Parameters
    ----------
    template : Template
        Of protocol ``confusion``.
    item : Item
        What is judged, with its options in the order shown.
    labels : sequence of str
        One an option.

    Returns
    -------
    tuple of Message
        One user message.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> yes, no = (Option(option_id=one, text=one) for one in ("Yes", "No"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=(yes, no))
    >>> prompt = render_verdict(load_template("confusion", "default"), item, ("A", "B"))
    >>> "- [B]: No" in prompt[0].content
    True
    """
    return (_user(template, item, labels, "verdict"),)


def render_assessment(
    template: Template, item: Item, labels: Sequence[str], place: int
) -> tuple[Message, ...]:
    """Prompt for an assessment biased towards the option at a place; else as for a verdict.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> yes, no = (Option(option_id=one, text=one) for one in ("Yes", "No"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=(yes, no))
    >>> prompt = render_assessment(load_template("confusion", "default"), item, ("A", "B"), 1)
    >>> "[B]: No" in prompt[0].content
    True
    """
    option = f"[{labels[place]}]: {item.options[place].text}"
    return (_user(template, item, labels, "assessment", option=option),)


def render_confused(
    template: Template, item: Item, labels: Sequence[str], assessment: str
) -> tuple[Message, ...]:
    """Conversation in which an assessment stands as the judge's own turn, and a verdict is due.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> yes, no = (Option(option_id=one, text=one) for one in ("Yes", "No"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=(yes, no))
    >>> template = load_template("confusion", "default")
    >>> prompt = render_confused(template, item, ("A", "B"), "It surely is.")
    >>> [message.role for message in prompt]
    ['user', 'assistant', 'user']
    """
    return (
        _user(template, item, labels, "neutral"),
        Message(role="assistant", content=assessment),
        Message(role="user", content=template.text("choice")),
    )


def render_together(
    template: Template,
    item: Item,
    labels: Sequence[str],
    assessments: Sequence[tuple[str, str]],
) -> tuple[Message, ...]:
    r"""Prompt that holds all assessments at once, each after the label it argues for.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols.prompts.templates import load_template
    >>> yes, no = (Option(option_id=one, text=one) for one in ("Yes", "No"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=(yes, no))
    >>> template = load_template("confusion", "default")
    >>> prompt = render_together(template, item, ("A", "B"), [("A", "It is."), ("B", "No.")])
    >>> "For [B]:\nNo." in prompt[0].content
    True
    """
    shown = "\n\n".join(f"For [{label}]:\n{text.strip()}" for label, text in assessments)
    return (_user(template, item, labels, "single", assessments=shown),)


def _user(
    template: Template, item: Item, labels: Sequence[str], stage: str, **values: str
) -> Message:
    """The item, then what a stage asks, as one user message."""
    lines = "\n".join(
        f"- [{label}]: {option.text}" for label, option in zip(labels, item.options, strict=True)
    )
    asked = fill(template.text(question_form(item)), {**item_values(item), "options": lines})
    return Message(role="user", content=f"{asked}\n\n{fill(template.text(stage), values)}")
