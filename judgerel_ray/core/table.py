"""What every table of the sweep file is: frozen, closed to unknown keys, and strict about kinds."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict

NAME = r"^[A-Za-z0-9][A-Za-z0-9._:+-]*$"

# TOML tells 1, "1" and true apart, and so does the sweep: a quoted number is a mistake.
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=NAME, max_length=120)]


class Table(BaseModel):
    """A table of the sweep file: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False
    )
