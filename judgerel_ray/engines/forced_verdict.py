"""The verdict right behind a form that is taken for said."""

from __future__ import annotations

import re

from judgerel_ray.core import Menu
from judgerel_ray.protocols import answer_frame, read_verdict
from judgerel_ray.protocols.rating_start import may_be_rating

NO_VERDICT = -1
_UNFINISHED = "\ufffd"  # stands for a character of which not all bytes have come
_MOST_CHARACTERS = 80  # of a rating between brackets
_ENDED = re.compile(r"(?<=[^\s*_`\"'\\])\s*?\n|\\?\]")


def verdict_behind(text: str, *, menu: Menu, start: str, finish_reason: str | None) -> int | None:
    """Read the verdict right behind a form: its place on the menu, -1 for none, None while open.

    Parameters
    ----------
    text : str
        What follows the form so far.
    menu : Menu
        The labels on offer; with a scale a rating is read, as replies are: "four" is a 4, "4.5"
        none of whole numbers, and "1" stays open while it may be the start of another number.
    start : str
        The form up to its label.
    finish_reason : str or None
        Of a reply that ends here.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> start = "Best Response: [["
    >>> [verdict_behind(text, menu=menu, start=start, finish_reason=None)
    ...  for text in ("", "B", "Neither")]
    [None, 1, -1]
    """
    if menu.scale is not None:
        return _rating_behind(text, menu, start, finish_reason)
    written, ended = text.strip(), finish_reason is not None
    if not ended and not all(label.isascii() for label in menu.labels):
        written = written.rstrip(_UNFINISHED)
    possible = [n for n, label in enumerate(menu.labels) if label.startswith(written)]
    if written in menu.labels:
        place = menu.labels.index(written)
        return place if ended or possible == [place] else None
    if possible and not ended:
        return None
    begun = [n for n, label in enumerate(menu.labels) if written.startswith(label)]
    if not begun or ended:
        return NO_VERDICT
    place = max(begun, key=lambda n: len(menu.labels[n]))
    rest = written[len(menu.labels[place]) :]
    # What goes on as a word is another word; brackets and the like end the label.
    return NO_VERDICT if rest[0].isalnum() else place


def _rating_behind(text: str, menu: Menu, start: str, finish_reason: str | None) -> int | None:
    """The rating between brackets: by the reader once they close, the line or the reply ends."""
    scale, end = menu.scale, _ENDED.search(text)
    if scale is None:
        return NO_VERDICT
    inside = text[: end.start()] if end else text
    if "[" in inside:  # another form begins before this one ends
        return NO_VERDICT
    if end is None and finish_reason is None:
        inside = inside.rstrip(_UNFINISHED)
        is_open = len(inside) <= _MOST_CHARACTERS and may_be_rating(inside, scale)
        return None if is_open else NO_VERDICT
    closed = end is not None and text[end.end() - 1] == "]"
    said = start + inside + (answer_frame(menu.form)[1] if closed else "")
    ending = "stop" if end else finish_reason or "stop"
    label = read_verdict(said, finish_reason=ending, menu=menu).label
    return NO_VERDICT if label is None else menu.labels.index(label)
