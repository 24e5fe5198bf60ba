"""The protocol best_of: which of several answers is best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from judgerel_ray.core import Item, Menu, SweepError
from judgerel_ray.core.traits import SHIPPED
from judgerel_ray.protocols.ask import MOST_EXACT_TOP_K, AskTable
from judgerel_ray.protocols.best_of.waves import best_of_work, sayable_menus
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.waves.conditions import ItemWork
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.judging import answer_names
from judgerel_ray.protocols.waves.marks import Mark
from judgerel_ray.protocols.waves.orders import order_names


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


class BestOf(Protocol):
    """Judges are shown all answers in an order, and name one by its label."""

    name = "best_of"
    table = BestOfAsk
    traits = SHIPPED["best_of"]
    texts = {
        "question": ("question", "responses"),
        "context": ("context", "question", "responses"),
        "dialogue": ("question_1", "question_2", "responses"),
    }
    own_forms = ties = True

    def judging_work(
        self,
        frame: AskFrame,
        wave: int,
        voice: Voice,
        item: Item,
        texts: Texts,
    ) -> ItemWork:
        """Every order of the answers."""
        return best_of_work(frame, voice, item, texts)

    def shown(self, frame: AskFrame, item: Item) -> Sequence[Mark]:
        """Orders of the answers."""
        ask, names = frame.ask, answer_names(frame, item)
        return order_names(item, names, n_orders=ask.option_orders, seed=ask.order_seed)

    def n_shown(self, frame: AskFrame, item: Item) -> int:
        """As many as orders are asked for."""
        return frame.ask.option_orders

    def menus(
        self, frame: AskFrame, template: Template, where: Mapping[str, object]
    ) -> Iterator[tuple[Menu, Mapping[str, object]]]:
        """Of the options."""
        return sayable_menus(frame, template, where)

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse a single answer."""
        if n_options < 2:
            raise SweepError(
                f"best_of needs at least 2 options, got {n_options}",
                where=place,
                hint="use protocol correctness for single answers",
            )

    def remarks(self, frame: AskFrame) -> Iterator[str]:
        """That replies could end at their verdict."""
        first = all(one.verdict_first and one.own is None for one in frame.templates)
        if first and frame.ask.reader == "first" and not frame.ask.early_stop:
            yield (
                f"ask[{frame.index}]: early_stop = true would end replies at their verdict: the "
                "same seeds, hence the same verdicts wherever an engine repeats itself (CPU in "
                "float32; elsewhere the same distribution), and no explanations"
            )

    def prompts_told(self, ask: AskTable, templates: str) -> str:
        """Prompts and orders."""
        if ask.option_orders > 1:
            return f"Prompts: {templates} in {ask.option_orders} orders of the options."
        same = "same prompt, same order" if len(ask.templates) == 1 else "same order"
        return (
            f"Prompts: {templates}, 1 order of the options: every repeat has the {same}, so this "
            "page cannot show what another order would change."
        )


PROTOCOL = BestOf()
