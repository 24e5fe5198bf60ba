"""The protocol respond: answers only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from judgerel_ray.core import Item
from judgerel_ray.protocols.ask import AskTable, Replications, Temperature
from judgerel_ray.protocols.prompts import question_form
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.waves.counts import answer_mark
from judgerel_ray.protocols.waves.frame import AskFrame, FrameKey, SettingsMapping
from judgerel_ray.protocols.waves.work import respond_settings


class RespondAsk(AskTable):
    """An ``[[ask]]`` of respond: its judges answer, and nobody judges."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("mode", "exact", "verdict_logprobs", "early_stop", "option_orders", "respond"), ""
        ),
        "readable": "its replies hold no verdict",
        "responders": "its judges answer, name them in judges",
    }

    protocol: Literal["respond"]
    """Answers only."""
    temperatures: tuple[Temperature, ...] = (0.75,)
    """Sampling temperatures."""
    replications: Replications = 1
    """How often each question is asked."""


class Respond(Protocol):
    """Its judges answer questions; nobody judges what they wrote."""

    name = "respond"
    table: ClassVar[type[AskTable]] = RespondAsk
    texts = {
        "question": ("question",),
        "context": ("context", "question"),
        "dialogue": ("question_1", "response_1", "question_2"),
    }

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
        """Answers, one way after another."""
        stage = "turn1" if question_form(item) == "dialogue" else "answer"
        for one in respond_settings(frame):
            yield (self.name, *answer_mark(item, stage, one)), one.template.name, one.n, one.n

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
        """None: answers that asks share are one."""
        return iter(())

    def check_item(self, frame: AskFrame, item: Item, place: Mapping[str, object]) -> None:
        """Nothing: any question can be answered."""


PROTOCOL = Respond()
