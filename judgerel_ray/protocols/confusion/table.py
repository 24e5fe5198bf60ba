"""Keys of an ask of confusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, field_validator, model_validator

from judgerel_ray.core.table import Number
from judgerel_ray.protocols.ask import AskTable, Often, Tokens


def checked_thresholds(values: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse thresholds that label all or nothing, and repeats.

    Raises
    ------
    ValueError
        If a threshold is not between 0 and 1, or two are one.

    Examples
    --------
    >>> checked_thresholds((0.6, 0.8))
    (0.6, 0.8)
    """
    for value in values:
        if not 0 < value < 1:
            raise ValueError(f"must be above 0 and below 1, got {value:g}")
    if len(set(values)) < len(values):
        raise ValueError(f"must all differ, got {list(values)}")
    return values


Thresholds = Annotated[tuple[Number, ...], AfterValidator(checked_thresholds)]
"""Thresholds in (0, 1), each once."""


class ConfusionAsk(AskTable):
    """An ``[[ask]]`` of confusion: judges argue for every option, and probabilities are read."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("exact", "verdict_logprobs", "early_stop", "option_orders", "respond"), ""
        ),
        "responders": "it judges what the items hold",
    }

    protocol: Literal["confusion"]
    """How sure a judge is of a verdict."""
    mode: Literal["columns", "paper", "single"] = "columns"
    """What is read after the assessments: a column of the matrix each (columns), every cell by
    itself as in the paper (paper), or one row after all of them (single)."""
    temperatures: tuple[Number, ...] = (0.0,)
    """Sampling temperatures of verdicts and assessments."""
    replications: Often = 1
    """One: an item has one matrix."""
    max_tokens: Tokens = 256
    """New tokens at most."""
    option_labels: Literal["letters", "ids"] = "letters"
    """What the options are called: A, B, ... or their own ids."""
    option_probability: Literal["whole", "last_token"] = "whole"
    """What is taken for an option's: all its tokens', or its last's given the others."""
    thresholds: Thresholds = ()
    """Of the uncertainty labels, reported beside the ones that are searched."""

    @field_validator("mode", mode="before")
    @classmethod
    def _default(cls, value: object) -> object:
        """Take the mode of other protocols for the default."""
        return "columns" if value == "sample" else value

    @model_validator(mode="after")
    def _makes_one(self) -> Self:
        """Refuse to make a matrix again."""
        if self.most_replications > 1 or self.repeat_greedy > 1:
            raise ValueError("protocol confusion makes one matrix: replications must be left out")
        return self
