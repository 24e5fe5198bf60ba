"""Names of judges and groups as narrow tables hold them: shorter, and still told apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from judgerel_ray.core.text import cut_text

LEAST_NAME = 12
"""Characters that a name always may have."""
_DIGEST = 10  # characters that the mark of a cut name takes
_LEAST_OF_DIGEST = 4  # of a name that is left beside it, half at its beginning
_SHARES = (0.5, 0.75, 1.0, 0.25, 0.0)
"""How much of a name that is cut may be its beginning, in the order tried."""


def fitted_names(names: Sequence[str], room: int) -> list[str]:
    """Shorten names that are longer than the room, as long as they still tell groups apart.

    First the words that all begin with go, then what stands before the last slash (whose model it
    is), then the middle.

    Examples
    --------
    >>> fitted_names(["openai/gpt-4o", "openai/gpt-4o-mini"], 12)
    ['gpt-4o', 'gpt-4o-mini']
    >>> fitted_names(["simulated-erratic", "simulated-steady"], 10)
    ['..erratic', '..steady']
    >>> fitted_names(["meta/Llama-3.1-8B-Instruct", "qwen/Qwen2.5-7B"], 16)
    ['Llama-3..nstruct', 'Qwen2.5-7B']
    """
    room = max(LEAST_NAME, room)
    ways: tuple[Callable[[str], str], ...] = (
        *(partial(_without, n=n) for n in _shared_words(names)),
        lambda name: name.rpartition("/")[2],
    )
    kept = [*names]
    for way in ways:
        if max(map(len, kept), default=0) <= room:
            return kept
        shorter = [*map(way, names)]
        is_shorter = sum(map(len, shorter)) < sum(map(len, kept))
        if is_shorter and len({*shorter}) == len({*names}) and all(shorter):
            kept = shorter
    for share in _SHARES:
        cut = [name if len(name) <= room else _cut(name, room, share) for name in kept]
        if len({*cut}) == len({*names}):
            return cut
    # They differ in the middle alone: a digest tells them apart, and takes of the room.
    rest = max(_LEAST_OF_DIGEST, (room - _DIGEST) * 4 // 3)
    return [name if len(name) <= room else cut_text(name, rest) for name in kept]


def _without(name: str, n: int) -> str:
    """A name without the words that all begin with; what a vendor is called is no loss."""
    return f"{'' if name[n - 1] == '/' else '..'}{name[n:]}"


def _shared_words(names: Sequence[str]) -> list[int]:
    """How long the beginnings are that all names share, word by word."""
    first, last = min(names, default=""), max(names, default="")
    shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    return [found.end() for found in re.finditer(r"[-/_: ]", first[:shared])]


def _cut(name: str, room: int, share: float) -> str:
    """A name without its middle, of which that share is its beginning."""
    n_first = round(share * (room - 2))
    return f"{name[:n_first]}..{name[len(name) - (room - 2 - n_first) :]}"
