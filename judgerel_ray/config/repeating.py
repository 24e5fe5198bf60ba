"""How often a condition is asked: a number, or as often as its verdict needs."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Discriminator, Field, Tag, model_validator

from judgerel_ray.config.table import Number, Table, Whole

MOST_REPLICATIONS = 100_000
NUMBER, TABLE = "a whole number", "a table"


class AdaptiveReplications(Table):
    """Ask every question a first time alike, then go on where its verdict is not settled.

    Examples
    --------
    >>> AdaptiveReplications(adaptive=0.05).max
    100
    """

    adaptive: Number = Field(gt=0, lt=1)
    """Chance allowed, a question, of settling on another verdict than the judge's most frequent."""
    first: Whole = Field(default=5, ge=2, le=MOST_REPLICATIONS)
    """Replications of every question: the block that coefficients are computed from."""
    max: Whole = Field(default=100, ge=2, le=MOST_REPLICATIONS)
    """Replications that no question exceeds."""
    step: Whole = Field(default=5, ge=1, le=MOST_REPLICATIONS)
    """Replications of each later round."""
    width: Number | None = Field(default=None, gt=0, le=1)
    """Also ask on until no verdict's interval is wider."""

    @model_validator(mode="after")
    def _holds_the_first(self) -> Self:
        """Refuse a bound below the first block."""
        if self.max < self.first:
            raise ValueError(f"max must be at least first, {self.first}, got {self.max}")
        return self


def _kind(value: object) -> str:
    """Which of the two a value is meant to be."""
    return TABLE if isinstance(value, dict | AdaptiveReplications) else NUMBER


Replications = Annotated[
    Annotated[Whole, Field(ge=0, le=MOST_REPLICATIONS), Tag(NUMBER)]
    | Annotated[AdaptiveReplications, Tag(TABLE)],
    Discriminator(_kind),
]
