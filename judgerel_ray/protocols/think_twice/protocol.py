"""The protocol think_twice: models answer in two steps, and judge each other's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judgerel_ray.core import Item
from judgerel_ray.core.traits import SHIPPED
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.think_twice.comparing import (
    check_thinking,
    comparing_work,
    refuse_thinking_again,
    thinking_counts,
)
from judgerel_ray.protocols.think_twice.steps import thinking_work
from judgerel_ray.protocols.think_twice.table import ThinkTwiceAsk
from judgerel_ray.protocols.waves.conditions import ItemWork
from judgerel_ray.protocols.waves.counts import StageCount
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.marks import Mark, Settings


class ThinkTwice(Protocol):
    """Models select options and choose one; judges compare, or a cascade goes on to the next."""

    name = "think_twice"
    table = ThinkTwiceAsk
    traits = SHIPPED["think_twice"]
    texts = {
        "question": ("question", "options"),
        "context": ("context", "question", "options"),
        "open_question": ("question",),
        "open_context": ("context", "question"),
        "select": ("candidates",),
        "choose": (),
        "compare": ("answers",),
        "open_select": ("candidates",),
        "open_choose": (),
        "open_compare": ("answers",),
    }
    stage_texts = tuple(name for name in texts if name not in ("question", "context"))
    forms = ("correct_answer",)

    def cascade(self, ask: AskTable) -> float | None:
        """As the ask says."""
        return ThinkTwiceAsk.of(ask).cascade

    def answer_temperature(self, ask: AskTable) -> float | None:
        """As the ask says."""
        return ThinkTwiceAsk.of(ask).answer_temperature

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """Options; an open question has judges choose among models, fewer in one role."""
        return {n + ties for n in options if n}

    def answer_waves(self, frame: AskFrame) -> int:
        """Two steps; of a cascade two for each model."""
        return 2 if self.cascade(frame.ask) is None else 2 * len(frame.responders)

    def judging_waves(self, frame: AskFrame) -> int:
        """Nobody judges a cascade."""
        return 1 if self.cascade(frame.ask) is None else 0

    def later_waves(self, frame: AskFrame) -> tuple[int, ...]:
        """Of a cascade all after the first model's."""
        return () if self.cascade(frame.ask) is None else tuple(range(2, frame.n_waves))

    def voices(self, frame: AskFrame, wave: int) -> tuple[Voice, ...]:
        """Of a cascade one model after another."""
        if self.cascade(frame.ask) is not None:
            return (frame.responders[wave // 2],)
        return super().voices(frame, wave)

    def answering_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork:
        """A step of a model."""
        return thinking_work(frame, wave, voice, item, texts)

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork:
        """A comparison of what models answered."""
        return comparing_work(frame, voice, item, texts)

    def counts(
        self,
        frame: AskFrame,
        written: dict[Mark, int],
        judged: dict[Mark, int],
    ) -> Iterator[StageCount]:
        """Steps and comparisons: nothing is shared with another ask."""
        return thinking_counts(frame)

    def first_texts(self, item: Item) -> tuple[str, ...]:
        """The question, and what the first step asks of it."""
        (form,) = super().first_texts(item)
        return (form, "select") if item.options else (f"open_{form}", "open_select")

    def marks(
        self,
        frame: AskFrame,
        item: Item,
    ) -> Iterator[tuple[Mark, str, int, int]]:
        """None: an item is asked about by one ask alone."""
        return iter(())

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[Mark, Settings]]:
        """None, likewise."""
        return iter(())

    def check_item(self, frame: AskFrame, item: Item, place: Mapping[str, object]) -> None:
        """Nothing yet: see :meth:`check`."""

    def check(self, frame: AskFrame) -> None:
        """Refuse items and judges that nothing could be selected from, or compared by."""
        check_thinking(frame)

    def check_together(self, frames: Sequence[AskFrame]) -> None:
        """Refuse to think about one item in two asks."""
        refuse_thinking_again(frames)

    def remarks(self, frame: AskFrame) -> Iterator[str]:
        """That counts of a cascade depend on answers."""
        if self.cascade(frame.ask) is not None:
            lead, *rest = (voice.name for voice in frame.responders)
            yield (
                f"ask[{frame.index}]: a cascade, so counts are of {lead}, and of "
                f"{', '.join(rest)} at most; their rows are of block 1, for which questions they "
                "are asked depends on what was answered"
            )


PROTOCOL = ThinkTwice()
