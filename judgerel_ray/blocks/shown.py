"""What a Python program is given shows itself: the short answer at a prompt and in a notebook."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from judgerel_ray.blocks.result import Result


class Shown:
    """Something that a verb found, which prints as the verb's short answer.

    Copies, and what comes back from a pickle, print as any dataclass does.
    """

    __slots__ = ("_shown",)

    def __repr__(self) -> str:
        result: Result[Any] | None = getattr(self, "_shown", None)
        if result is not None:
            return result.as_text()
        parts = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str | None:
        """The same in a notebook."""
        result: Result[Any] | None = getattr(self, "_shown", None)
        return None if result is None else result.as_html()


class ShownFrame(pl.DataFrame):
    """A table of Polars that prints as the short answer; what is made of it prints as a table.

    Examples
    --------
    >>> frame = ShownFrame({"judge": ["a", "b"]})
    >>> isinstance(frame, pl.DataFrame), frame.filter(judge="a").height
    (True, 1)
    """

    def __repr__(self) -> str:
        result: Result[Any] | None = self.__dict__.get("_shown")
        if result is None:
            return super().__str__()
        size = f"polars.DataFrame of {self.height:,} rows and {self.width} columns"
        return f"{result.as_text()}\n\n({size}: .columns names them)"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self, **how: Any) -> str:
        """The same in a notebook, above the table."""
        result: Result[Any] | None = self.__dict__.get("_shown")
        table: str = super()._repr_html_(**how)
        return table if result is None else f"{result.as_html()}{table}"


def shown_as(found: Any, result: Result[Any]) -> Any:
    """Let what was found print as its result; what is no table and no result stays as it is."""
    if isinstance(found, Shown):
        object.__setattr__(found, "_shown", result)
    elif type(found) is pl.DataFrame:
        found = ShownFrame(found)
        found.__dict__["_shown"] = result
    return found
