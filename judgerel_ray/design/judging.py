"""What judges are asked: which answer is best, or whether an answer is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judgerel_ray.core import Ask, Condition, Item, Menu, Message, Option, Scoring
from judgerel_ray.design.conditions import ItemWork, blank_condition, keyed_condition
from judgerel_ray.design.frame import AskFrame, Texts, Voice
from judgerel_ray.design.orders import option_orders, order_numbers
from judgerel_ray.design.responding import Answer, respond_settings, written_answer
from judgerel_ray.protocols import (
    TIE,
    Template,
    answer_frame,
    labels_for,
    menu_for,
    render_best_of,
    render_correctness,
    stop_strings,
)

CORRECTNESS_LABELS = ("correct", "incorrect")


def best_of_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """Which of the candidate answers is best: template x order x temperature."""
    ask = frame.ask
    answers = {name: judged_answer(frame, item, name, texts) for name in answer_names(frame, item)}
    landed = {name: answer for name, answer in answers.items() if answer is not None}
    if len(landed) < len(answers):
        n_conditions = len(frame.templates) * ask.option_orders
        n_blocked = n_conditions * _per_condition(frame)
        return ItemWork(judge=voice.name, item_id=item.item_id, asks=(), n_blocked=n_blocked)
    lost = [name for name, answer in landed.items() if answer.text is None]
    # Sorted, for who stands first in the sweep file is not part of what is asked.
    parents = tuple(sorted(answer.key for answer in landed.values() if answer.key))
    options = tuple(
        Option(option_id=name, text=answer.text or "") for name, answer in landed.items()
    )
    orders = option_orders(
        replace(item, options=options), n_orders=ask.option_orders, seed=ask.order_seed
    )
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


def correctness_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """Is this answer right, given the gold one: answer x template x temperature."""
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for name in answer_names(frame, item):
        answer = judged_answer(frame, item, name, texts)
        if answer is None:
            n_blocked += len(frame.templates) * _per_condition(frame)
            continue
        for template in frame.templates:
            menu = menu_for(
                template, CORRECTNESS_LABELS, labels=CORRECTNESS_LABELS, reader=frame.ask.reader
            )
            blank = blank_condition(
                voice, item, protocol="correctness", stage="judge", role="judge", template=template
            )
            blank = replace(blank, menu=menu, responder=name)
            text = answer.text
            prompt = render_correctness(template, item, text or "")
            parents = (answer.key,) if answer.key else ()
            made = over_temperatures(frame, blank, prompt, parents)
            if text is None:
                impossible += [(each, f"no answer of {name}") for each in made]
            else:
                asks += made
    return ItemWork(
        judge=voice.name,
        item_id=item.item_id,
        asks=tuple(asks),
        impossible=tuple(impossible),
        n_blocked=n_blocked,
    )


def best_of_menu(frame: AskFrame, template: Template, shown: Sequence[Option]) -> Menu:
    """Say what may be answered: one of the answers shown, or a tie where the template declares one.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.protocols import load_template
    >>> ask = AskTable(protocol="best_of", benchmark="b", path="p")
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


def verdict_ids(frame: AskFrame, item: Item, template: Template) -> tuple[str, ...]:
    """Name what a verdict of best_of may be: an answer, or a tie where the template declares one.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?",
    ...             options=(Option(option_id="x", text="1"), Option(option_id="y", text="2")))
    >>> ask = AskTable(protocol="best_of", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=())
    >>> verdict_ids(frame, item, load_template("best_of", "default"))
    ('x', 'y')
    """
    names = answer_names(frame, item)
    return (*names, TIE) if template.own is not None and template.own.ties else names


def answer_names(frame: AskFrame, item: Item) -> tuple[str, ...]:
    """Whose answers are judged, by option id.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?",
    ...             options=(Option(option_id="x", text="1"), Option(option_id="y", text="2")))
    >>> ask = AskTable(protocol="best_of", benchmark="b", path="p")
    >>> answer_names(AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=()), item)
    ('x', 'y')
    """
    if frame.responders:
        return tuple(voice.name for voice in frame.responders)
    return frame.recorded or tuple(option.option_id for option in item.options)


def _per_condition(frame: AskFrame) -> int:
    """Requests over all temperatures for one template and order."""
    return sum(frame.replications(temperature) for temperature in frame.temperatures)


def judged_answer(frame: AskFrame, item: Item, name: str, texts: Texts) -> Answer | None:
    """One candidate answer: recorded with the item, or landed by a responder."""
    if not frame.responders:
        text = next(option.text for option in item.options if option.option_id == name)
        return Answer(key="", text=text)
    voice = next(voice for voice in frame.responders if voice.name == name)
    settings = next(respond_settings(frame))
    return written_answer(voice, item, settings, texts)


def over_temperatures(
    frame: AskFrame, blank: Condition, prompt: tuple[Message, ...], parents: tuple[str, ...]
) -> list[Ask]:
    """One ask for each temperature; all of them share the prompt."""
    ask = frame.ask
    if ask.mode == "exact":
        return [_explored(frame, blank, prompt, parents)]
    stop = stop_strings(blank.menu) if ask.early_stop and blank.menu is not None else ()
    made = []
    for temperature in frame.temperatures:
        condition = replace(
            blank,
            temperature=temperature,
            top_k=ask.top_k,
            top_p=ask.top_p,
            max_tokens=ask.max_tokens,
            stop=stop,
            scoring=Scoring(kind="verdict") if ask.verdict_logprobs else None,
        )
        keyed = keyed_condition(condition, prompt, parents=parents)
        made.append(Ask(condition=keyed, first=0, n=frame.replications(temperature)))
    return made


def _explored(
    frame: AskFrame, blank: Condition, prompt: tuple[Message, ...], parents: tuple[str, ...]
) -> Ask:
    """The one request that finds the verdict's distribution at every temperature."""
    ask, exact = frame.ask, frame.ask.exact
    if exact is None or blank.menu is None:
        raise ValueError("_explored: the ask must be of mode exact")
    scoring = Scoring(
        kind="tree",
        start=answer_frame(blank.menu.form)[0] if exact.forced else "",
        temperatures=ask.temperatures,
        undecided=exact.undecided,
        passes=exact.passes,
        draws=exact.draws,
    )
    condition = replace(
        blank,
        stage="exact",
        role="scorer",
        temperature=1.0,
        top_k=ask.top_k,
        top_p=ask.top_p,
        max_tokens=ask.max_tokens,
        scoring=scoring,
    )
    return Ask(condition=keyed_condition(condition, prompt, parents=parents), first=0, n=1)
