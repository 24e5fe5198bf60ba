"""Keys of an ask of think_twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from judgerel_ray.core.table import Number, Whole
from judgerel_ray.protocols.ask import (
    AskTable,
    Tokens,
    checked_count,
    checked_names,
    plain_temperature,
)

JudgeRole = Literal["participant", "evaluator_only"]


class ThinkTwiceAsk(AskTable):
    """An ``[[ask]]`` of think_twice: models answer in two steps, judges compare the answers."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("verdict_logprobs", "early_stop"), ""),
        "mode": "it samples replies",
        "exact": "it samples replies",
        "respond": "its models answer as they judge",
        "answers": "its models answer",
    }

    protocol: Literal["think_twice"]
    """Which of the models' answers is right."""
    max_tokens: Tokens = 512
    """New tokens at most."""
    candidates: Annotated[Whole, Field(ge=0, le=100), AfterValidator(checked_count)] = 2
    """How many options a model selects, or answers it writes, before it thinks twice."""
    roles: Annotated[tuple[JudgeRole, ...], AfterValidator(checked_names)] = ()
    """What judges compare: answers with their own among them (participant), or the others'
    (evaluator_only); default both."""
    answer_temperature: Number | None = None
    """Temperature of the answers that judges compare; default the first."""
    cascade: Number | None = Field(default=None, gt=0, le=1)
    """Nobody judges: a question goes on to the next of `responders`, in the order named, only where
    the confidence of the one before falls short of this; after the last, to a person."""

    @field_validator("answer_temperature")
    @classmethod
    def _plain(cls, value: float | None) -> float | None:
        """Map machine epsilon to 0."""
        return None if value is None else plain_temperature(value)

    @model_validator(mode="after")
    def _can_be_compared(self) -> Self:
        """Refuse what two steps and a comparison have no place for."""
        if self.reader == "schroeder2024":
            raise ValueError("reader schroeder2024 reads letters and words, no numbers")
        if self.answer_temperature not in (None, *self.temperatures):
            raise ValueError(
                f"answer_temperature must be one of the temperatures {list(self.temperatures)}, "
                f"got {self.answer_temperature}"
            )
        if self.cascade is not None:
            self._goes_on()
        elif not self.roles:
            object.__setattr__(self, "roles", ("participant", "evaluator_only"))
        if self.answer_temperature is None:
            object.__setattr__(self, "answer_temperature", self.temperatures[0])
        return self

    def _goes_on(self) -> None:
        """Refuse a cascade that has judges, or nobody to go on to."""
        for key in ("roles", "judges", "answer_temperature"):
            if getattr(self, key):
                raise ValueError(f"cascade has no judges: leave out {key}")
        if len(self.responders) < 2 or self.option_orders > 1:
            raise ValueError(
                "cascade needs at least 2 responders, in the order in which they are asked, and no "
                f"option_orders, got {list(self.responders)} and {self.option_orders}"
            )
