"""What became of a reply: the closed set of outcomes."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """Why a judgment has, or has not, a verdict.

    >>> Outcome("scored") is Outcome.SCORED
    True
    """

    SCORED = "scored"
    """A verdict on the menu was read."""
    UNPARSED = "unparsed"
    """A whole reply, and no verdict in the declared form."""
    CONFLICTING = "conflicting"
    """Several different verdicts, under a policy that does not choose among them."""
    OFF_MENU = "off_menu"
    """A verdict in the declared form that was not on offer."""
    REFUSED = "refused"
    """The judge declined to judge."""
    TRUNCATED = "truncated"
    """The reply was cut off before any verdict."""
    FAILED = "failed"
    """The request can never succeed (prompt too long, refused by validation); never a category."""


DECLINED = "content_filter"
"""Finish reason of a reply that was declined outside its text, by the provider or the model."""

OUTCOMES: tuple[str, ...] = tuple(outcome.value for outcome in Outcome)
