"""The protocol best_of: which of several answers is best.

A prompt shows all answers to an item in one order; orders, templates and temperatures are crossed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from judgerel_ray.core import Item, Menu, Option, SweepError
from judgerel_ray.protocols.ask import MOST_EXACT_TOP_K, AskTable
from judgerel_ray.protocols.prompts import Template, labels_for, menu_for, render_best_of
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.replies.declared_forms import TIE
from judgerel_ray.protocols.waves.frame import (
    Asked,
    AskFrame,
    FrameKey,
    Texts,
    Voice,
    answer_names,
)
from judgerel_ray.protocols.waves.orders import option_orders, order_names, order_numbers
from judgerel_ray.protocols.waves.work import (
    candidate_answer_to_judge,
    judging_condition,
    over_temperatures,
)


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


def best_of_menu(frame: AskFrame, template: Template, shown: Sequence[Option]) -> Menu:
    """Say what may be answered: one of the answers shown, or a tie where the template declares one.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols import load_template
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=())
    >>> shown = [Option(option_id=one, text=one) for one in ("y", "x")]
    >>> best_of_menu(frame, load_template("best_of", "default"), shown).option_ids
    ('y', 'x')
    """
    return menu_for(
        template,
        tuple(option.option_id for option in shown),
        labels=labels_for(len(shown)),
        reader=frame.ask.reader,
        texts=tuple(option.text for option in shown),
    )


class BestOf(Protocol):
    """Judges are shown all answers in an order, and name one by its label."""

    name = "best_of"
    table: ClassVar[type[AskTable]] = BestOfAsk
    texts = {
        "question": ("question", "responses"),
        "context": ("context", "question", "responses"),
        "dialogue": ("question_1", "question_2", "responses"),
    }
    declared_forms = ties = True

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked:
        """Which of the candidate answers is best: template x order x temperature."""
        ask = frame.ask
        answers = {
            name: candidate_answer_to_judge(frame, item, name, texts)
            for name in answer_names(frame, item)
        }
        landed = {name: answer for name, answer in answers.items() if answer is not None}
        if len(landed) < len(answers):
            return
        lost = [name for name, answer in landed.items() if answer.text is None]
        # Sorted, for who stands first in the sweep file is not part of what is asked.
        parents = tuple(sorted(answer.key for answer in landed.values() if answer.key))
        options = tuple(
            Option(option_id=name, text=answer.text or "") for name, answer in landed.items()
        )
        orders = option_orders(
            item, n_orders=ask.option_orders, seed=ask.order_seed, options=options
        )
        numbers = order_numbers(
            item,
            tuple(answers),
            n_orders=ask.option_orders,
            seed=ask.order_seed,
            draws=frame.order_draws.get((item.benchmark, item.item_id), ()),
        )
        never = f"no answer of {', '.join(lost)}" if lost else None
        for template in frame.templates:
            for order, shown in zip(numbers, orders, strict=True):
                menu = best_of_menu(frame, template, shown)
                blank = judging_condition(frame, voice, item, template)
                blank = replace(blank, menu=menu, option_order=order)
                # Written where an answer is lost, too: its key must differ by template.
                prompt = render_best_of(template, item, shown)
                for one in over_temperatures(frame, blank, prompt, parents):
                    yield one, never

    def shown(self, frame: AskFrame, item: Item) -> Sequence[FrameKey]:
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
        reader, declared = frame.ask.reader, template.declared
        by_text = declared is not None and declared.naming == "texts"
        if by_text and frame.responders:
            raise SweepError(
                'options = "texts" needs options that items hold, their texts are yet to be '
                "written",
                where=where,
                hint='options = "letters"',
            )
        seen: set[int] = set()
        for item in frame.items:
            names = answer_names(frame, item)
            here = {**where, "benchmark": item.benchmark, "item": item.item_id}
            if (
                declared is not None
                and declared.ties
                and TIE in {name.casefold() for name in names}
            ):
                raise SweepError(
                    f"a tie is recorded as {TIE!r}, which is an option's id", where=here
                )
            if by_text:
                shown = [option for option in item.options if option.option_id in names]
                yield best_of_menu(frame, template, shown), here
            elif len(names) not in seen:
                seen.add(len(names))
                yield menu_for(template, names, labels=labels_for(len(names)), reader=reader), here

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
        first = all(one.verdict_first and one.declared is None for one in frame.templates)
        if first and frame.ask.reader == "first" and not frame.ask.early_stop:
            yield (
                f"ask[{frame.index}]: early_stop = true would end replies at their verdict: the "
                "same seeds, hence the same verdicts wherever an engine repeats itself (CPU in "
                "float32; elsewhere the same distribution), and no explanations"
            )

    def prompt_words(self, ask: AskTable, templates: str) -> str:
        """Prompts and orders."""
        if ask.option_orders > 1:
            return f"Prompts: {templates} in {ask.option_orders} orders of the options."
        same = "same prompt, same order" if len(ask.templates) == 1 else "same order"
        return (
            f"Prompts: {templates}, 1 order of the options: every repeat has the {same}, so this "
            "page cannot show what another order would change."
        )


PROTOCOL = BestOf()
