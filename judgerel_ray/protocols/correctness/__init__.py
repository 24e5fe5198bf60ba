"""The protocol correctness: whether an answer agrees with the gold one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from judgerel_ray.core import Item, Message, SweepError
from judgerel_ray.protocols.ask import AskTable, TokenCount
from judgerel_ray.protocols.prompts import Template, render_correctness
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.waves.frame import AskFrame

CORRECTNESS_LABELS = ("correct", "incorrect")


class CorrectnessAsk(AskTable):
    """An ``[[ask]]`` of correctness: judges say whether an answer agrees with the gold one."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("verdict_logprobs", "early_stop", "option_orders"), ""),
    }
    adapts: ClassVar[bool] = True

    protocol: Literal["correctness"]
    """Whether an answer is right."""
    mode: Literal["sample", "exact"] = "sample"
    """How verdicts are had: sampled replies, or the probabilities of all replies."""
    max_tokens: TokenCount = 16
    """New tokens at most."""


class Correctness(Protocol):
    """Judges are shown one answer beside the gold one, and say correct or incorrect."""

    name = "correctness"
    table: ClassVar[type[AskTable]] = CorrectnessAsk
    texts = {
        "question": ("question", "ground_truth", "prediction"),
        "context": ("context", "question", "ground_truth", "prediction"),
        "dialogue": ("question_1", "question_2", "ground_truth", "prediction"),
    }
    declared_forms = True

    def prompt(self, template: Template, item: Item, answer: str) -> tuple[Message, ...]:
        """An answer beside the gold one."""
        return render_correctness(template, item, answer)

    def labels(self, frame: AskFrame, item: Item) -> tuple[str, ...]:
        """Of any item the two words."""
        return CORRECTNESS_LABELS

    def verdicts(
        self,
        frame: AskFrame,
        item: Item,
        template: Template,
    ) -> tuple[str, ...]:
        """The two words."""
        return CORRECTNESS_LABELS

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """Two, whatever the options."""
        return {len(CORRECTNESS_LABELS)}

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse an item without gold."""
        if not item.gold:
            raise SweepError(
                "correctness needs a gold answer, the item has none",
                where=place,
                hint="add a gold column, or use best_of",
            )


PROTOCOL = Correctness()
