"""What makes two requests the same, known before any prompt is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from judgerel_ray.core import Item
from judgerel_ray.design.frame import AskFrame
from judgerel_ray.design.judging import CORRECTNESS_LABELS, answer_names
from judgerel_ray.design.orders import order_names
from judgerel_ray.design.rating import facets_of
from judgerel_ray.design.responding import Settings, respond_settings
from judgerel_ray.protocols import labels_for, menu_for, question_form, stop_strings

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


def judgment_marks(frame: AskFrame, item: Item) -> Iterator[tuple[Mark, str, int, int]]:
    """All that an ask has judged of an item, with all that is in its key but the judge.

    Yields
    ------
    tuple
        The mark, the name of the template that words it, and how often it is asked, at least and at
        most.
    """
    ask, form = frame.ask, question_form(item)
    names = answer_names(frame, item)
    if ask.protocol == "best_of":
        shown: Sequence[Mark] = order_names(
            item, names, n_orders=ask.option_orders, seed=ask.order_seed
        )
    else:
        shown = [(name,) for name in names]
    if ask.protocol == "rating":
        yield from _rating_marks(frame, item, names)
        return
    stage = "turn2" if form == "dialogue" else "answer"
    origin = [answer_mark(item, stage, one) for one in respond_settings(frame)]
    sampling = (ask.mode, ask.verdict_logprobs, ask.top_k, ask.top_p, ask.max_tokens)
    for template in frame.templates:
        wording: object = template.texts.get(form)
        if ask.protocol == "confusion":
            wording = (tuple(sorted(template.texts.items())), ask.option_labels)
        # Where replies stop is in the key, not what asked for it: a form may have no stop strings.
        labels = CORRECTNESS_LABELS if ask.protocol == "correctness" else labels_for(len(names))
        menu = menu_for(template, labels, labels=labels, reader=ask.reader, texts=labels)
        if template.own is not None:  # what options are called, and a tie
            wording = (wording, menu.words)
        stop = stop_strings(menu) if ask.early_stop else ()
        what = (ask.protocol, item.benchmark, item.item_id, wording, stop, *origin)
        for order in shown:
            for temperature in frame.temperatures:
                mark = (*what, order, temperature, *sampling)
                least, most = frame.replications(temperature), frame.most_replications(temperature)
                yield mark, template.name, least, most


def _rating_marks(
    frame: AskFrame, item: Item, names: Sequence[str]
) -> Iterator[tuple[Mark, str, int, int]]:
    """As :func:`judgment_marks`, of ratings: what is crossed is in their words."""
    ask = frame.ask
    stage = "turn2" if question_form(item) == "dialogue" else "answer"
    origin = [answer_mark(item, stage, one) for one in respond_settings(frame)]
    sampling = (ask.mode, ask.top_k, ask.top_p, ask.max_tokens)
    for name, facet, temperature in product(names, facets_of(frame), frame.temperatures):
        what = (ask.protocol, item.benchmark, item.item_id, name, *facet.wording, *origin)
        least, most = frame.replications(temperature), frame.most_replications(temperature)
        yield (*what, temperature, *sampling), facet.template.name, least, most
