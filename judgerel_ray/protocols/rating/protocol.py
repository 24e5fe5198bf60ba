"""The protocol rating: how good a response is, by a criterion and on a scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judgerel_ray.core import Item, Menu
from judgerel_ray.core.traits import SHIPPED
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.rating.table import RatingAsk
from judgerel_ray.protocols.rating.waves import (
    check_facets,
    facets_of,
    rating_marks,
    rating_rows,
    rating_work,
    scale_menus,
)
from judgerel_ray.protocols.waves.conditions import ItemWork
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.judging import answer_names
from judgerel_ray.protocols.waves.marks import Mark, Settings


class Rating(Protocol):
    """Judges are shown one response; criteria, definitions, scales and templates are crossed."""

    name = "rating"
    table = RatingAsk
    traits = SHIPPED["rating"]
    texts = {
        "question": ("question", "response", "criterion", "scale"),
        "context": ("context", "question", "response", "criterion", "scale"),
        "dialogue": ("question_1", "question_2", "response", "criterion", "scale"),
        "defined": ("criterion", "definition"),
        "numbers": ("lowest", "highest"),
        "decimals": ("lowest", "highest"),
        "words": ("labels",),
    }
    stage_texts = ("defined", "numbers", "decimals", "words")
    forms = ("rating", "score")
    own_forms = True
    template_keys = ("form", "verdict", "criterion")

    def wordings(self, ask: AskTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Criteria and scales."""
        own = RatingAsk.of(ask)
        return own.criteria, own.scales

    def judging_work(
        self,
        frame: AskFrame,
        wave: int,
        voice: Voice,
        item: Item,
        texts: Texts,
    ) -> ItemWork:
        """Every response, in every way."""
        return rating_work(frame, voice, item, texts)

    def n_shown(self, frame: AskFrame, item: Item) -> int:
        """A template puts every response by every criterion, definition and scale."""
        n_facets = len(tuple(facets_of(frame))) // len(frame.templates)
        return len(answer_names(frame, item)) * n_facets

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[Mark, str, int, int]]:
        """With all that is crossed."""
        return rating_marks(frame, item)

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[Mark, Settings]]:
        """With all that is crossed."""
        return rating_rows(frame, item)

    def menus(
        self, frame: AskFrame, template: Template, where: Mapping[str, object]
    ) -> Iterator[tuple[Menu, Mapping[str, object]]]:
        """One a scale."""
        return scale_menus(frame, template, where)

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """Unknown here: what may be rated is the scale's, whatever the responses are called."""
        return set()

    def check(self, frame: AskFrame) -> None:
        """Refuse two names for one wording."""
        check_facets(frame)

    def prompts_told(self, ask: AskTable, templates: str) -> str:
        """What is rated, and the prompts."""
        return f"{self.subject_told(ask)}Prompts: {templates}."

    def subject_told(self, ask: AskTable) -> str:
        """What responses are rated by, and on."""
        own = RatingAsk.of(ask)
        by, lengths, on = map(", ".join, (own.criteria, own.definitions, own.scales))
        return f"Responses are rated by {by} (definition: {lengths}) on {on}. "


PROTOCOL = Rating()
