"""Mentions: the places where a reply states a verdict, and labels in the menu's spelling."""

from __future__ import annotations

from dataclasses import dataclass, field
from unicodedata import category


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a reply states a verdict.

    ``labels`` are the labels as the menu spells them, or as written where they are not on it;
    several, where one statement names several. ``complete`` says that the whole declared form
    is there, so an engine that stops at it would have stopped here. ``also`` are labels that a
    complete statement goes on with, "[[A]] or [[B]]": an early stop would never have seen them, so
    only a policy that reads whole replies may count them. ``refuses`` says that the word is one by
    which the judge declines.
    """

    labels: tuple[str, ...]
    complete: bool = False
    also: tuple[str, ...] = ()
    refuses: bool = field(default=False, repr=False)


def on_menu(written: str, labels: tuple[str, ...]) -> str | None:
    """Spell a written label as the menu does.

    Returns
    -------
    str or None
        The label of the menu, by its exact spelling first and by any case otherwise; None where
        the menu has no such label.

    Examples
    --------
    >>> on_menu("good", ("Good", "Bad")), on_menu("fair", ("Good", "Bad"))
    ('Good', None)
    """
    if written in labels:
        return written
    folded = written.casefold()
    return next((label for label in labels if label.casefold() == folded), None)


def is_mark(text: str, place: int) -> bool:
    """Whether a vowel sign, a tone or another mark stands at a place, so that a letter goes on.

    Examples
    --------
    >>> is_mark("e\u0301", 1), is_mark("es", 1), is_mark("e", 1)
    (True, False, False)
    """
    return place < len(text) and category(text[place]).startswith("M")


def without_marks(text: str) -> str:
    """Leave out the marks on letters.

    Examples
    --------
    >>> without_marks("e\u0301t")
    'et'
    """
    return "".join(letter for letter in text if not category(letter).startswith("M"))
