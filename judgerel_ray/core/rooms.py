"""What a room offers: the names that its ``__init__`` imports as themselves, each said once."""

from __future__ import annotations

import sys
from types import ModuleType


def offer(room: str, *late: str) -> None:
    """Set ``__all__`` of a room: what its ``__init__`` has imported, and what it loads late.

    Examples
    --------
    >>> from judgerel_ray import core
    >>> core.__all__[:2]
    ['Ask', 'CHOSEN']
    """
    names = vars(sys.modules[room])
    public = [
        name
        for name, value in names.items()
        if not (name.startswith("_") or isinstance(value, ModuleType) or value is offer)
    ]
    names["__all__"] = sorted([*public, *late])
