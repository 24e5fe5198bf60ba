"""What a room offers: the names that its ``__init__`` imports as themselves, each said once."""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from judgerel_ray.core.papers import find_in_papers

_LATE = re.compile(r"^    from (\S+) import [(\s]*(\w+) as \2\b", re.MULTILINE)
"""An import that only type checkers make, ``from home import name as name``."""


def offer(room: str, *of_papers: str) -> Callable[[str], object]:
    """Set ``__all__`` of a room, and give its ``__getattr__``, which loads names when first used.

    A room offers what its ``__init__`` imports as itself, at once or under ``TYPE_CHECKING``, and
    what the room ``papers`` has for it. Only with names of the latter two need it assign its
    ``__getattr__``.

    Examples
    --------
    >>> from judgerel_ray import core
    >>> core.__all__[:2]
    ['Ask', 'CHOSEN']
    """
    names = vars(sys.modules[room])
    late: dict[str, str] = {}
    if "TYPE_CHECKING" in names:
        source = (pkgutil.get_data(room, "__init__.py") or b"").decode()
        late = {name: home for home, name in _LATE.findall(source)}
    at_once = {
        name
        for name, value in names.items()
        if not (name.startswith("_") or isinstance(value, ModuleType) or value is offer)
    }
    names["__all__"] = sorted({*at_once, *late, *of_papers} - {"TYPE_CHECKING"})

    def load(name: str) -> object:
        if name in of_papers:
            names[name] = find_in_papers(name)
        elif name in late:
            names[name] = getattr(import_module(late[name]), name)
        else:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return names[name]

    return load
