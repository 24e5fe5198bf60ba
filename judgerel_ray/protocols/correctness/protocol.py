"""The protocol correctness: whether an answer agrees with the gold one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judgerel_ray.core import Item, Menu, SweepError
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.conditions import ItemWork
from judgerel_ray.protocols.correctness.waves import CORRECTNESS_LABELS, correctness_work
from judgerel_ray.protocols.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.rendering import menu_for
from judgerel_ray.protocols.templates import Template


class Correctness(Protocol):
    """Judges are shown one answer beside the gold one, and say correct or incorrect."""

    name = "correctness"
    table = AskTable
    texts = {
        "question": ("question", "ground_truth", "prediction"),
        "context": ("context", "question", "ground_truth", "prediction"),
        "dialogue": ("question_1", "question_2", "ground_truth", "prediction"),
    }
    own_forms = True
    shows_gold = True
    judges_singly = True

    def judging_work(
        self,
        frame: AskFrame,
        wave: int,
        voice: Voice,
        item: Item,
        texts: Texts,
    ) -> ItemWork:
        """Every answer."""
        return correctness_work(frame, voice, item, texts)

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

    def menus(
        self, frame: AskFrame, template: Template, where: Mapping[str, object]
    ) -> Iterator[tuple[Menu, Mapping[str, object]]]:
        """One menu for all items.

        Yields
        ------
        tuple of (Menu, mapping)
        """
        labels = CORRECTNESS_LABELS
        yield menu_for(template, labels, labels=labels, reader=frame.ask.reader), where

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse an item without gold."""
        if not item.gold:
            raise SweepError(
                "correctness needs a gold answer, the item has none",
                where=place,
                hint="add a gold column, or use best_of",
            )


PROTOCOL = Correctness()
