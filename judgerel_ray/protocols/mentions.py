"""Mentions: the places where a reply states a verdict, and labels in the menu's spelling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a reply states a verdict.

    ``labels`` are the labels as the menu spells them, or as written where they are not on it;
    several, where one statement names several. ``complete`` says that the whole declared form
    is there, so an engine that stops at it would have stopped here. ``also`` are labels that a
    complete statement goes on with, "[[A]] or [[B]]": an early stop would never have seen them, so
    only a policy that reads whole replies may count them.
    """

    labels: tuple[str, ...]
    complete: bool = False
    also: tuple[str, ...] = ()


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
