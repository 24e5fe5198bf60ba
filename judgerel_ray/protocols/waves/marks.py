"""What makes two requests the same, known before any prompt is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judgerel_ray.core import Item
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.prompts.rendering import menu_for, question_form
from judgerel_ray.protocols.replies.verdicts import stop_strings
from judgerel_ray.protocols.waves.frame import AskFrame
from judgerel_ray.protocols.waves.judging import answer_names
from judgerel_ray.protocols.waves.responding import Settings as AnswerSettings
from judgerel_ray.protocols.waves.responding import respond_settings

Mark = tuple[object, ...]
Settings = Mapping[str, object]


def answer_mark(item: Item, stage: str, settings: AnswerSettings) -> Mark:
    """What an answer is asked as; two with one mark are one request, whichever asks want them."""
    texts = settings.template.texts
    wording = {
        "answer": (texts.get(question_form(item)),),
        "turn1": (texts.get("question"),),
        "turn2": (texts.get("question"), texts.get("dialogue")),
    }[stage]
    sampling = (settings.temperature, settings.top_k, settings.top_p, settings.max_tokens)
    return (item.benchmark, item.item_id, stage, *wording, *sampling)


def origin_of(frame: AskFrame, item: Item) -> tuple[Mark, ...]:
    """How the answers that an ask has judged are written."""
    stage = "turn2" if question_form(item) == "dialogue" else "answer"
    return tuple(answer_mark(item, stage, one) for one in respond_settings(frame))


def judgment_marks(frame: AskFrame, item: Item) -> Iterator[tuple[Mark, str, int, int]]:
    """All that an ask has judged of an item, with all that is in its key but the judge.

    Yields
    ------
    tuple
        The mark, the name of the template that words it, and how often it is asked, at least and at
        most.
    """
    ask, protocol = frame.ask, frame.protocol
    shown, labels = protocol.shown(frame, item), protocol.labels(frame, item)
    origin = origin_of(frame, item)
    sampling = (ask.mode, ask.verdict_logprobs, ask.top_k, ask.top_p, ask.max_tokens)
    for template in frame.templates:
        wording = protocol.wording(frame, item, template)
        # Where replies stop is in the key, not what asked for it: a form may have no stop strings.
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


def judgment_rows(frame: AskFrame, item: Item) -> Iterator[tuple[Mark, Settings]]:
    """All that rows of an ask record of an item, and what else is in their keys, by its key.

    Yields
    ------
    tuple of (Mark, mapping)
    """
    ask, shown = frame.ask, frame.protocol.shown(frame, item)
    form, origin = question_form(item), origin_of(frame, item)
    for template in frame.templates:
        settings: dict[str, object] = {
            "max_tokens": ask.max_tokens,
            "early_stop": ask.early_stop,
            "verdict_logprobs": ask.verdict_logprobs,
            "reader": ask.reader,
            "respond": origin,
            "templates": (template.own or template.form, template.texts.get(form)),
        }
        for temperature in frame.temperatures:
            sampling, more = recorded_sampling(ask, temperature)
            mark = (ask.protocol, item.benchmark, item.item_id, template.name, *sampling)
            if frame.protocol.traits.compares:
                # What is asked on, and how far, is told by the same columns. Numbers of orders are
                # of one set of options: with another they say something else.
                menu = frozenset(answer_names(frame, item))
                yield (
                    mark,
                    {
                        "responders": (menu, bool(frame.responders)),
                        "adaptive replications": ask.adaptive,
                    },
                )
            for order in shown:
                yield (*mark, order), settings | more


def recorded_sampling(ask: AskTable, temperature: float) -> tuple[Mark, dict[str, object]]:
    """How a row says that it was sampled, and what of it no row says."""
    if ask.mode == "exact":  # distributions record neither
        return ("exact",), {"top_k": ask.top_k, "exact": ask.exact}
    return (temperature, ask.top_k, ask.top_p), {}
