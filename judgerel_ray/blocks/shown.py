"""Results show themselves: the short answer at a Python prompt and in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl


class ShortAnswer(Protocol):
    """What a verb found, as text: :class:`judgerel_ray.blocks.result.Result`."""

    def as_text(self) -> str:
        """Lay it out for a terminal."""

    def as_html(self) -> str:
        """Write it for a notebook."""


class Shown:
    """Something that a verb found, which prints as the verb's short answer.

    Copies, and what comes back from a pickle, print as any dataclass does.
    """

    __slots__ = ("_shown",)

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Give its tables by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        result: ShortAnswer | None = getattr(self, "_shown", None)
        if result is not None:
            return result.as_text()
        parts = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str | None:
        """The same in a notebook."""
        result: ShortAnswer | None = getattr(self, "_shown", None)
        return None if result is None else result.as_html()


def shown_as(found: Any, result: ShortAnswer) -> Any:
    """Let what was found print as its result; what is no table and no result stays as it is."""
    if isinstance(found, Shown):
        object.__setattr__(found, "_shown", result)
        return found
    polars = sys.modules.get("polars")  # where it is not loaded, nothing is one of its tables
    if polars is None or type(found) is not polars.DataFrame:
        return found
    from judgerel_ray.blocks.shown_frame import ShownFrame

    frame = ShownFrame(found)
    frame.__dict__["_shown"] = result
    return frame
