"""Keys of an ask of best_of."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from judgerel_ray.protocols.ask import MOST_EXACT_TOP_K, AskTable


class BestOfAsk(AskTable):
    """An ``[[ask]]`` of best_of: judges name the best of several answers."""

    adapts: ClassVar[bool] = True

    protocol: Literal["best_of"]
    """Which answer is best."""
    mode: Literal["sample", "exact"] = "sample"
    """How verdicts are had: sampled replies, or the probabilities of all replies."""

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        """Refuse to read probabilities where a verdict has no place of its own."""
        if not self.verdict_logprobs:
            return self
        if self.mode != "sample":
            raise ValueError(f"verdict_logprobs needs mode sample, got {self.mode}")
        if self.reader != "first":
            raise ValueError(f'verdict_logprobs needs reader = "first", got {self.reader!r}')
        if self.top_p != 1 or self.top_k > MOST_EXACT_TOP_K:
            raise ValueError(
                f"verdict_logprobs needs top_p = 1 and top_k = 0 or at most {MOST_EXACT_TOP_K}, "
                f"got {self.top_p} and {self.top_k}"
            )
        return self
