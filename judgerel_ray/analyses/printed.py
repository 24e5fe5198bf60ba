"""What a verb's result looks like where it is printed: tables, text, and the rows of its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Printed:
    """A result as it is printed.

    Attributes
    ----------
    tables : DataFrame or mapping of str to DataFrame
        What ``--format json`` prints: a list of rows, or an object of such lists.
    text : callable
        What ``--format table`` prints.
    rows : DataFrame
        What ``--out FILE`` holds: the chief table.
    whole_json : bool
        Whether a file of JSON holds all tables.
    """

    tables: pl.DataFrame | Mapping[str, pl.DataFrame]
    text: Callable[[], str]
    rows: pl.DataFrame
    whole_json: bool = False
