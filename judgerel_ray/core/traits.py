"""Traits of protocols: what the code that counts judgments must know of their protocol.

They are apart from the protocols, so that reading a file of judgments loads nothing that asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What holds of a protocol's judgments, whatever its ask says."""

    judges: bool = True  # Verdicts are asked for, and not answers only.
    models_answer: bool = False  # Its judges are the models whose answers they compare.
    # Verdicts are options of the items, of which gold says which is right.
    has_right_option: bool = False
    # Judges are shown the gold of an item, so that it is part of what is asked.
    shows_gold: bool = False
    judges_singly: bool = False  # Each answer is judged by itself, and not all of an item together.
    on_scales: bool = False  # Verdicts are values of a scale.
    makes_matrices: bool = False  # A run lays out confusion matrices.
    compares: bool = False  # Judges are shown all answers, in drawn orders, and name one.


SHIPPED = {
    "respond": Traits(judges=False),
    "best_of": Traits(has_right_option=True, compares=True),
    "correctness": Traits(shows_gold=True, judges_singly=True),
    "confusion": Traits(has_right_option=True, makes_matrices=True),
    "rating": Traits(judges_singly=True, on_scales=True),
    "think_twice": Traits(models_answer=True, has_right_option=True),
}
"""Protocols that ship, each a folder of the room ``protocols``."""

_known = dict(SHIPPED)


def protocols_where(holds: Callable[[Traits], bool]) -> tuple[str, ...]:
    """Name the protocols that something holds of."""
    return tuple(name for name, one in _known.items() if holds(one))


def add_traits(name: str, traits: Traits) -> None:
    """Make the traits of a protocol known that does not ship."""
    _known[name] = traits
