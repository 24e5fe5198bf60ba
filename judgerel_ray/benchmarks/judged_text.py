"""Items that put one question about one text: what a confusion matrix is asked about.

Such an item has the criterion's question as ``question``, the text under judgment as ``context``,
what may be answered as ``options`` and people's answers, as option ids, as ``ratings``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from judgerel_ray.benchmarks.record import Record, shown_names
from judgerel_ray.core import HumanRating, Option

_HEADING = r"[A-Z][A-Za-z ]{0,30}:\n"
_BEGINS = re.compile(_HEADING)

YES_NO = (Option(option_id="yes", text="Yes"), Option(option_id="no", text="No"))


def numbered_options(texts: Iterable[str] | Mapping[int, str]) -> tuple[Option, ...]:
    """Name options by their number on the scale, from 1 on.

    Examples
    --------
    >>> [option.option_id for option in numbered_options(["poor", "fair", "good"])]
    ['1', '2', '3']
    """
    numbers = texts.items() if isinstance(texts, Mapping) else enumerate(texts, start=1)
    return tuple(Option(option_id=str(number), text=text) for number, text in numbers)


def under_headings(**parts: str | None) -> str:
    r"""Set texts under each other, each below its name.

    Examples
    --------
    >>> under_headings(Question="Why?", Passage=None, Answer="So.")
    'Question:\nWhy?\n\nAnswer:\nSo.'
    """
    return "\n\n".join(
        f"{name.replace('_', ' ')}:\n{text.strip()}" for name, text in parts.items() if text
    )


def first_part(context: str) -> str:
    r"""Give what stands under the first heading of :func:`under_headings`, or all where none is.

    It is what the text under judgment is about: answers to one question, or summaries of one
    article, have it in common.

    Examples
    --------
    >>> first_part(under_headings(Question="Why?", Passage=None, Answer="So."))
    'Question:\nWhy?'
    >>> first_part("Sure, at noon.")
    'Sure, at noon.'
    """
    return (
        re.split(rf"\n\n{_HEADING}", context, maxsplit=1)[0] if _BEGINS.match(context) else context
    )


def rating_by(
    rater: str, option_id: str, options: Iterable[Option], record: Record, *, criterion: str | None
) -> HumanRating:
    """Check a person's answer against what could be answered.

    The score is the option's number where it is one.

    Raises
    ------
    SweepError
        If the answer was not on offer.
    """
    known = [option.option_id for option in options]
    if option_id not in known:
        raise record.wrong(f"rating {option_id!r} is none of the options {shown_names(known)}")
    score = float(option_id) if option_id.isdecimal() else None
    return HumanRating(rater=rater, criterion=criterion, score=score, label=option_id)
