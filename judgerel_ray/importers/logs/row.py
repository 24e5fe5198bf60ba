"""One judgment of a log, and what a reader of a format is."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from judgerel_ray.core import Outcome
from judgerel_ray.importers.logs.reading import Sight

PEOPLE = "people"
"""The judge of rows that hold what people said."""
UNNAMED = "unnamed"
"""The judge of logs that do not name theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One judgment.

    Attributes
    ----------
    item_id : str
        What is judged; rows alike in this and in all facets are replications, in their order.
    judge, criterion, responder, benchmark, definition, temperature, option_order : optional
        As columns of judgments; `definition` names the prompt where a judge has several.
    verdict, score, outcome, label, gold, n_options : optional
        What was said; without outcome a row that holds neither verdict nor score is unparsed.
    answer, question, reply, prompt, reference, context : str, optional
        Texts: what was judged, of what, what the judge wrote and was asked, and what it was given
        to compare with (a target or rubric) and to read. They land in no column.
    """

    item_id: str
    judge: str = UNNAMED
    criterion: str | None = None
    responder: str | None = None
    benchmark: str | None = None
    definition: str | None = None
    temperature: float | None = None
    option_order: int | None = None
    verdict: str | None = None
    score: float | None = None
    outcome: Outcome | None = None
    label: str | None = None
    gold: str | None = None
    n_options: int | None = None
    answer: str | None = None
    question: str | None = None
    reply: str | None = None
    prompt: str | None = None
    reference: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFormat:
    """One format: how it is known, and how it is read.

    Attributes
    ----------
    known : callable
        Whether the begin of a file is of this format.
    read : callable
        From a path to its judgments.
    asks_again : str
        What a replication may ask again beside the judge, as the tool calls it; empty where its
        answers are fixed.
    """

    known: Callable[[Sight], bool]
    read: Callable[[str], Iterator[Row]]
    asks_again: str = ""


def number(value: object) -> float | None:
    """A finite number, of text too; None of anything else.

    Examples
    --------
    >>> number("4"), number(True), number(float("nan")), number("good")
    (4.0, 1.0, None, None)
    """
    if not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def text(value: object) -> str | None:
    """A value as text: JSON of objects and lists; None of nothing.

    Examples
    --------
    >>> text("a"), text(7), text({"b": 1}), text(None)
    ('a', '7', '{"b": 1}', None)
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def conversation(value: object) -> str | None:
    r"""Messages as one text: contents with a blank line between; anything else as :func:`text`.

    Roles are named where several messages are of more than one role.

    Examples
    --------
    >>> conversation([{"role": "user", "content": [{"type": "text", "text": "Why?"}]}])
    'Why?'
    >>> conversation([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}])
    'user: Hi\n\nassistant: Ho'
    """
    if not isinstance(value, list) or not value or not all(_is_message(one) for one in value):
        return text(value)
    parts = [(one.get("role"), _content(one["content"])) for one in value]
    several = len({role for role, _ in parts if role != "system"}) > 1
    return "\n\n".join(f"{role}: {content}" if several else content for role, content in parts)


def _is_message(value: object) -> bool:
    """Whether a value is a message of a conversation."""
    return isinstance(value, dict) and "content" in value


def _content(value: object) -> str:
    """The text of a message, whose content may be in parts."""
    if isinstance(value, list):
        texts = [one.get("text") if isinstance(one, dict) else one for one in value]
        return "\n".join(one for one in texts if isinstance(one, str))
    return text(value) or ""


def passed(value: object) -> str | None:
    """A truth value as a verdict.

    Examples
    --------
    >>> passed(True), passed(False), passed(None)
    ('pass', 'fail', None)
    """
    return None if not isinstance(value, bool) else "pass" if value else "fail"


def named_by(content: object) -> str:
    """A short name of content that has none: the same of equal content.

    Examples
    --------
    >>> named_by({"a": 1, "b": 2}) == named_by({"b": 2, "a": 1}), len(named_by("x"))
    (True, 12)
    """
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(canonical.encode(errors="surrogatepass")).hexdigest()[:12]
