"""What makes two requests the same, known before any prompt is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgerel_ray.core import Item
from judgerel_ray.design.frame import AskFrame
from judgerel_ray.design.judging import answer_names
from judgerel_ray.design.orders import order_names
from judgerel_ray.design.responding import Settings, respond_settings
from judgerel_ray.protocols import question_form

Mark = tuple[object, ...]


def answer_mark(item: Item, stage: str, settings: Settings) -> Mark:
    """What an answer is asked as; two with one mark are one request, whoever wants them."""
    texts = settings.template.texts
    wording = {
        "answer": (texts.get(question_form(item)),),
        "turn1": (texts.get("question"),),
        "turn2": (texts.get("question"), texts.get("dialogue")),
    }[stage]
    sampling = (settings.temperature, settings.top_k, settings.top_p, settings.max_tokens)
    return (item.benchmark, item.item_id, stage, *wording, *sampling)


def judgment_marks(frame: AskFrame, item: Item) -> Iterator[tuple[Mark, int]]:
    """All that an ask has judged of an item, with all that is in its key but the judge.

    Yields
    ------
    tuple
        The mark, and how often it is asked.
    """
    ask, form = frame.ask, question_form(item)
    names = answer_names(frame, item)
    if ask.protocol == "best_of":
        shown: Sequence[Mark] = order_names(
            item, names, n_orders=ask.option_orders, seed=ask.order_seed
        )
    else:
        shown = [(name,) for name in names]
    stage = "turn2" if form == "dialogue" else "answer"
    origin = [answer_mark(item, stage, one) for one in respond_settings(frame)]
    sampling = (ask.top_k, ask.top_p, ask.max_tokens, ask.early_stop)
    for template in frame.templates:
        wording: object = template.texts.get(form)
        if ask.protocol == "confusion":
            wording = (tuple(sorted(template.texts.items())), ask.option_labels)
        what = (ask.protocol, item.benchmark, item.item_id, wording, *origin)
        for order in shown:
            for temperature in ask.temperatures:
                yield (*what, order, temperature, *sampling), frame.replications(temperature)
