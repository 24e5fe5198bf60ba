"""Best of: which of the candidate answers is best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judgerel_ray.core import Ask, Item, Menu, Option, SweepError
from judgerel_ray.protocols.prompts.rendering import labels_for, menu_for, render_best_of
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.own_forms import TIE
from judgerel_ray.protocols.waves.conditions import ItemWork, blank_condition
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.judging import (
    answer_names,
    judged_answer,
    over_temperatures,
    per_condition,
)
from judgerel_ray.protocols.waves.orders import option_orders, order_numbers


def best_of_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """Which of the candidate answers is best: template x order x temperature."""
    ask = frame.ask
    answers = {name: judged_answer(frame, item, name, texts) for name in answer_names(frame, item)}
    landed = {name: answer for name, answer in answers.items() if answer is not None}
    if len(landed) < len(answers):
        n_conditions = len(frame.templates) * ask.option_orders
        n_blocked = n_conditions * per_condition(frame)
        return ItemWork(judge=voice.name, item_id=item.item_id, asks=(), n_blocked=n_blocked)
    lost = [name for name, answer in landed.items() if answer.text is None]
    # Sorted, for who stands first in the sweep file is not part of what is asked.
    parents = tuple(sorted(answer.key for answer in landed.values() if answer.key))
    options = tuple(
        Option(option_id=name, text=answer.text or "") for name, answer in landed.items()
    )
    orders = option_orders(item, n_orders=ask.option_orders, seed=ask.order_seed, options=options)
    numbers = order_numbers(
        item,
        tuple(answers),
        n_orders=ask.option_orders,
        seed=ask.order_seed,
        draws=frame.order_draws.get((item.benchmark, item.item_id), ()),
    )
    asks: list[Ask] = []
    for template in frame.templates:
        for order, shown in zip(numbers, orders, strict=True):
            menu = best_of_menu(frame, template, shown)
            blank = blank_condition(
                voice, item, protocol="best_of", stage="judge", role="judge", template=template
            )
            blank = replace(blank, menu=menu, option_order=order)
            # Written even where an answer is lost: its key must differ by template all the same.
            prompt = render_best_of(template, item, shown)
            asks += over_temperatures(frame, blank, prompt, parents)
    if lost:
        reason = f"no answer of {', '.join(lost)}"
        never = tuple((each, reason) for each in asks)
        return ItemWork(judge=voice.name, item_id=item.item_id, asks=(), impossible=never)
    return ItemWork(judge=voice.name, item_id=item.item_id, asks=tuple(asks))


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


def sayable_menus(
    frame: AskFrame, template: Template, where: Mapping[str, object]
) -> Iterator[tuple[Menu, Mapping[str, object]]]:
    """Every menu of options: one a number of them, or an item where they go by their texts.

    Yields
    ------
    tuple of (Menu, mapping)
        The menu, and where it is of.

    Raises
    ------
    SweepError
        If options go by texts that are yet to be written, or one is called as a tie is recorded.
    """
    reader, own = frame.ask.reader, template.own
    by_text = own is not None and own.naming == "texts"
    if by_text and frame.responders:
        raise SweepError(
            'options = "texts" needs options that items hold, their texts are yet to be written',
            where=where,
            hint='options = "letters"',
        )
    seen: set[int] = set()
    for item in frame.items:
        names = answer_names(frame, item)
        here = {**where, "benchmark": item.benchmark, "item": item.item_id}
        if own is not None and own.ties and TIE in {name.casefold() for name in names}:
            raise SweepError(f"a tie is recorded as {TIE!r}, which is an option's id", where=here)
        if by_text:
            shown = [option for option in item.options if option.option_id in names]
            yield best_of_menu(frame, template, shown), here
        elif len(names) not in seen:
            seen.add(len(names))
            yield menu_for(template, names, labels=labels_for(len(names)), reader=reader), here
