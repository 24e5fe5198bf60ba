"""Keys of an ask of rating."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, model_validator

from judgerel_ray.protocols.ask import AskTable, Names, Tokens, checked_names
from judgerel_ray.protocols.criteria import DefinitionLength

Lengths = Annotated[tuple[DefinitionLength, ...], AfterValidator(checked_names)]


class RatingAsk(AskTable):
    """An ``[[ask]]`` of rating: judges rate responses by criteria on scales."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("verdict_logprobs", "option_orders"), ""),
    }

    protocol: Literal["rating"]
    """How good a response is."""
    mode: Literal["sample", "exact"] = "sample"
    """How verdicts are had: sampled replies, or the probabilities of all replies."""
    max_tokens: Tokens = 64
    """New tokens at most."""
    criteria: Names = ()
    """What responses are rated by: names of shipped criteria, or files; several are crossed."""
    definitions: Lengths = ("short",)
    """How much of each criterion's definition is put: none, short or long; crossed."""
    scales: Names = ("points5",)
    """What ratings are on: names of shipped scales, or files; crossed."""

    @model_validator(mode="after")
    def _can_be_rated(self) -> Self:
        """Refuse what a rating has no place for."""
        if not self.criteria:
            raise ValueError("protocol rating needs criteria: what responses are rated by")
        if self.reader == "schroeder2024":
            raise ValueError("reader schroeder2024 reads letters and words, no ratings")
        for key in ("definitions", "scales"):  # an empty list is one that is left out
            default = type(self).model_fields[key].default
            object.__setattr__(self, key, getattr(self, key) or default)
        return self
