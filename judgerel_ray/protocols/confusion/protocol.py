"""The protocol confusion: how probable every option is after an assessment for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judgerel_ray.core import Item, SweepError
from judgerel_ray.core.traits import SHIPPED
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.confusion.table import ConfusionAsk
from judgerel_ray.protocols.confusion.waves import check_options, confusion_counts, confusion_work
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.waves.conditions import ItemWork
from judgerel_ray.protocols.waves.counts import StageCount
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.marks import Mark


class Confusion(Protocol):
    """Judges give a verdict and argue for every option; then probabilities are read."""

    name = "confusion"
    table = ConfusionAsk
    traits = SHIPPED["confusion"]
    texts = {
        "question": ("question", "options"),
        "context": ("context", "question", "options"),
        "verdict": (),
        "assessment": ("option",),
        "neutral": (),
        "choice": (),
        "single": ("assessments",),
    }
    stage_texts = ("verdict", "assessment", "neutral", "choice", "single")

    def thresholds(self, ask: AskTable) -> tuple[float, ...]:
        """As the ask states them."""
        return ConfusionAsk.of(ask).thresholds

    def reads_last_token(self, ask: AskTable) -> bool:
        """As the ask says."""
        return ConfusionAsk.of(ask).option_probability == "last_token"

    def reads_probabilities(self, ask: AskTable) -> str:
        """In every mode."""
        return "protocol confusion"

    def probabilities_told(self, ask: AskTable, templates: str, heats: str) -> str:
        """What is read, and how."""
        return (
            f"confusion on {ask.benchmark}: the judge's own verdict, an assessment for every "
            f"option, and the probability of every option after each (mode {ask.mode}, texts at "
            f"temperature {heats}). Prompts: {templates}."
        )

    def judging_waves(self, frame: AskFrame) -> int:
        """Assessments, then what they make of the verdict."""
        return 2

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork:
        """A matrix, in two waves."""
        return confusion_work(frame, voice, item, texts, scores=wave > frame.respond_waves)

    def counts(
        self,
        frame: AskFrame,
        written: dict[Mark, int],
        judged: dict[Mark, int],
    ) -> Iterator[StageCount]:
        """Three stages of every judge."""
        for voice in frame.judges:
            yield from confusion_counts(frame, voice)

    def wording(self, frame: AskFrame, item: Item, template: Template) -> object:
        """All of a template's texts: every stage has one."""
        return tuple(sorted(template.texts.items())), ConfusionAsk.of(frame.ask).option_labels

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse an item whose options an assessment cannot be written for."""
        if n_options < 2:
            raise SweepError(
                f"confusion needs at least 2 options, got {n_options}",
                where=place,
                hint="nothing can be confused with the only option there is",
            )
        if item.turns:
            raise SweepError(
                "confusion judges a question with its options, the item is a dialogue",
                where=place,
                hint="give the turns as the item's context",
            )

    def check_options(self, frame: AskFrame) -> None:
        """Refuse options that look alike."""
        for item in frame.items:
            check_options(frame, item)


PROTOCOL = Confusion()
