"""A table of Polars that prints as the short answer."""

from __future__ import annotations

from typing import Any

import polars as pl


class ShownFrame(pl.DataFrame):
    """A table of Polars that prints as the short answer; what is made of it prints as a table.

    Examples
    --------
    >>> frame = ShownFrame({"judge": ["a", "b"]})
    >>> isinstance(frame, pl.DataFrame), frame.filter(judge="a").height
    (True, 1)
    """

    def __repr__(self) -> str:
        result: Any = self.__dict__.get("_shown")
        if result is None:
            return super().__str__()
        size = f"polars.DataFrame of {self.height:,} rows and {self.width} columns"
        return f"{result.as_text()}\n\n({size}: .columns names them)"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self, **how: Any) -> str:
        """The same in a notebook, above the table."""
        result: Any = self.__dict__.get("_shown")
        table: str = super()._repr_html_(**how)
        return table if result is None else f"{result.as_html()}{table}"
