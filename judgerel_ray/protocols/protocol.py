"""What a protocol is: an object that says what its asks hold, ask, and how replies are read.

Defaults are those of a protocol whose judges each give one verdict on the candidate answers of an
item; a protocol overrides what it does otherwise. No other room asks which protocol it has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from judgerel_ray.core import Item, Menu, Message, SweepError
from judgerel_ray.core.traits import Traits
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.prompts import Template, labels_for, menu_for, question_form
from judgerel_ray.protocols.waves.counts import (
    Mark,
    Settings,
    StageCount,
    answer_counts,
    judge_count,
    judgment_marks,
    judgment_rows,
)
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.orders import most_orders
from judgerel_ray.protocols.waves.work import (
    ItemWork,
    answer_names,
    respond_work,
    singly_work,
    verdict_ids,
)


class Protocol:
    """A protocol: its table of the sweep file, its prompts, its waves, its menus, its forms."""

    name: ClassVar[str]
    """What ``protocol`` is in a sweep file and in every table."""
    table: ClassVar[type[AskTable]]
    """Its ``[[ask]]``."""
    traits: ClassVar[Traits] = Traits()
    """What the code that counts its judgments must know."""
    texts: ClassVar[Mapping[str, tuple[str, ...]]]
    """Texts of a template, by question form and stage, with the placeholders each must have."""
    stage_texts: ClassVar[tuple[str, ...]] = ()
    """Those of `texts` that every template has, whatever its items."""
    forms: ClassVar[tuple[str, ...]] = ("best_response", "correctness")
    """Shipped forms of verdict that a template may declare."""
    own_forms: ClassVar[bool] = False
    """Whether a template may declare a form of its own."""
    ties: ClassVar[bool] = False
    """Whether that form may have a tie."""
    template_keys: ClassVar[tuple[str, ...]] = ("form", "verdict")
    """Keys of ``template.toml``."""

    @property
    def templates(self) -> Path:
        """Folder of its shipped templates, beside its code."""
        return Path(sys.modules[type(self).__module__].__file__ or "").parent / "templates"

    # What an ask says.

    def cascade(self, ask: AskTable) -> float | None:
        """Confidence at which a cascade of its responders stops; None where there is none."""
        return None

    def answer_temperature(self, ask: AskTable) -> float | None:
        """Temperature of the models' answers that judges compare."""
        return None

    def thresholds(self, ask: AskTable) -> tuple[float, ...]:
        """Thresholds of uncertainty labels that an ask states."""
        return ()

    def reads_last_token(self, ask: AskTable) -> bool:
        """Whether an option's probability is its last token's, given the others."""
        return False

    def wordings(self, ask: AskTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Criteria and scales that an ask names."""
        return (), ()

    def reads_probabilities(self, ask: AskTable) -> str | None:
        """What of an ask reads probabilities of verdicts in place of replies; None where none."""
        return "mode exact" if ask.mode == "exact" else None

    def prompts_told(self, ask: AskTable, templates: str) -> str:
        """What an ask varies in its prompts, in words."""
        return f"Prompts: {templates}."

    def probabilities_told(self, ask: AskTable, templates: str, heats: str) -> str:
        """As :meth:`prompts_told`, where probabilities are read."""
        return (
            f"{self.name} on {ask.benchmark}: the probability of every verdict at temperature "
            f"{heats}, nothing sampled. {self.subject_told(ask)}Prompts: {templates}."
        )

    def subject_told(self, ask: AskTable) -> str:
        """What is judged, in words; nothing where the protocol's name says it."""
        return ""

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """How many verdicts may be given, by the sizes of items' options; empty where unknown."""
        return {len(ask.responders) + ties} if ask.responders else {n + ties for n in options if n}

    # Waves.

    def answer_waves(self, frame: AskFrame) -> int:
        """Waves that write candidate answers: 0, 1, or 2 where there are dialogues."""
        if self.traits.judges and not frame.responders:
            return 0
        return 2 if frame.has_dialogues else 1

    def judging_waves(self, frame: AskFrame) -> int:
        """Waves that ask judges."""
        return 1 if self.traits.judges else 0

    def later_waves(self, frame: AskFrame) -> tuple[int, ...]:
        """Waves that ask more, or at all, only as what landed before wants it."""
        return () if frame.ask.adaptive is None else (frame.judging_wave,)

    def voices(self, frame: AskFrame, wave: int) -> tuple[Voice, ...]:
        """Who is asked in a wave: responders while answers are written, judges after."""
        judging = not self.traits.judges or wave >= frame.respond_waves
        return frame.judges if judging else frame.responders

    def answering_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork | None:
        """What a responder is asked about one item; None where a wave asks nothing."""
        return respond_work(frame, wave, voice, item, texts)

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork | None:
        """What a judge is asked about one item, given the texts of the waves before."""
        return singly_work(frame, voice, item, texts)

    def prompt(self, template: Template, item: Item, answer: str) -> tuple[Message, ...]:
        """Put one answer to a judge, where each is judged by itself."""
        raise NotImplementedError(f"{type(self).__name__}.prompt")

    def menu(self, frame: AskFrame, item: Item, template: Template) -> Menu:
        """What a judge may say of one answer."""
        labels = self.labels(frame, item)
        return menu_for(template, labels, labels=labels, reader=frame.ask.reader)

    # What is asked, before any prompt is written.

    def counts(
        self, frame: AskFrame, written: dict[Mark, int], judged: dict[Mark, int]
    ) -> Iterator[StageCount]:
        """Requests of every stage, less those that asks before it `written` and `judged`."""
        for wave in range(frame.respond_waves):
            for voice in self.voices(frame, wave):
                yield from answer_counts(frame, wave, voice, written)
        for voice in frame.judges if self.traits.judges else ():
            yield judge_count(frame, voice, judged)

    def shown(self, frame: AskFrame, item: Item) -> Sequence[Mark]:
        """Everything that a template and a temperature put to a judge: here, each answer."""
        return [(name,) for name in answer_names(frame, item)]

    def n_shown(self, frame: AskFrame, item: Item) -> int:
        """How many prompts a template makes of an item."""
        return len(answer_names(frame, item))

    def wording(self, frame: AskFrame, item: Item, template: Template) -> object:
        """The words in which a template puts an item."""
        return template.texts.get(question_form(item))

    def first_texts(self, item: Item) -> tuple[str, ...]:
        """Texts of a template that make the first prompt of an item."""
        return (question_form(item),)

    def labels(self, frame: AskFrame, item: Item) -> tuple[str, ...]:
        """Labels of the verdicts on an item."""
        return labels_for(len(answer_names(frame, item)))

    def verdicts(self, frame: AskFrame, item: Item, template: Template) -> tuple[str, ...]:
        """What a verdict may be recorded as."""
        return verdict_ids(frame, item, template)

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[Mark, str, int, int]]:
        """All that is asked about an item; see :func:`counts.judgment_marks`."""
        return judgment_marks(frame, item)

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[Mark, Settings]]:
        """What rows about an item record, and what else is in their keys."""
        return judgment_rows(frame, item)

    def menus(
        self, frame: AskFrame, template: Template, where: Mapping[str, object]
    ) -> Iterator[tuple[Menu, Mapping[str, object]]]:
        """Every menu by which a template's own form is read, and where it is of."""
        for item in frame.items[:1]:
            yield self.menu(frame, item, template), where

    # What is refused, and remarked, before anything is asked.

    def check_item(self, frame: AskFrame, item: Item, place: Mapping[str, object]) -> None:
        """Refuse an item without the answers that judges need."""
        ask = frame.ask
        ids = {option.option_id for option in item.options}
        unknown = [name for name in frame.recorded if name not in ids]
        if unknown:
            raise SweepError(
                f"responders name neither a judge nor an option of the item: {unknown}, "
                f"its options are {sorted(ids)}",
                where=place,
            )
        if not frame.responders and not ids:
            raise SweepError(
                "the item has no candidate answers",
                where=place,
                hint="name responders that write them, or give the items options",
            )
        n_options = len(frame.responders) or len(frame.recorded) or len(ids)
        self.check_answers(item, n_options, place)
        if ask.option_orders > (most := most_orders(n_options)):
            raise SweepError(
                f"option_orders must be at most {most} for {n_options} options, "
                f"got {ask.option_orders}",
                where=place,
            )

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse an item whose answers cannot be judged."""

    def check(self, frame: AskFrame) -> None:
        """Refuse an ask that its items, judges and wordings do not allow."""

    def check_together(self, frames: Sequence[AskFrame]) -> None:
        """Refuse asks of this protocol that do not go together."""

    def check_options(self, frame: AskFrame) -> None:
        """Refuse options whose probabilities could not be told apart, or read back."""

    def remarks(self, frame: AskFrame) -> Iterator[str]:
        """What a person should know of an ask before running it."""
        yield from ()
