"""What an ask asks, known before any prompt is written: its marks, and how many requests it makes.

A mark is all that makes two requests the same but the judge. Asks are held against each other by
their marks, and what several of them share is asked and counted once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judgerel_ray.core import Item
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.prompts import menu_for, question_form
from judgerel_ray.protocols.replies.verdicts import stop_strings
from judgerel_ray.protocols.waves.frame import (
    AskFrame,
    FrameKey,
    SettingsMapping,
    StageCount,
    Voice,
    answer_names,
)
from judgerel_ray.protocols.waves.work import AnswerSettings as AnswerSettings
from judgerel_ray.protocols.waves.work import respond_settings


def answer_mark(item: Item, stage: str, settings: AnswerSettings) -> FrameKey:
    """What an answer is asked as; two with one mark are one request, whichever asks want them."""
    texts = settings.template.texts
    wording = {
        "answer": (texts.get(question_form(item)),),
        "turn1": (texts.get("question"),),
        "turn2": (texts.get("question"), texts.get("dialogue")),
    }[stage]
    sampling = (settings.temperature, settings.top_k, settings.top_p, settings.max_tokens)
    return (item.benchmark, item.item_id, stage, *wording, *sampling)


def origin_of(frame: AskFrame, item: Item) -> tuple[FrameKey, ...]:
    """How the answers that an ask has judged are written."""
    stage = "turn2" if question_form(item) == "dialogue" else "answer"
    return tuple(answer_mark(item, stage, one) for one in respond_settings(frame))


def judgment_marks(frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
    """All that an ask has judged of an item, with all that is in its key but the judge."""
    ask, protocol = frame.ask, frame.protocol
    shown, labels = protocol.shown(frame, item), protocol.labels(frame, item)
    origin = origin_of(frame, item)
    sampling = (ask.mode, ask.verdict_logprobs, ask.top_k, ask.top_p, ask.max_tokens)
    for template in frame.templates:
        wording = protocol.wording(frame, item, template)
        # Where replies stop is in the key, not what asked for it: a form may have no stop strings.
        menu = menu_for(template, labels, labels=labels, reader=ask.reader, texts=labels)
        if template.declared is not None:  # what options are called, and a tie
            wording = (wording, menu.words)
        stop = stop_strings(menu) if ask.early_stop else ()
        what = (ask.protocol, item.benchmark, item.item_id, wording, stop, *origin)
        for order in shown:
            for temperature in frame.temperatures:
                mark = (*what, order, temperature, *sampling)
                least, most = frame.replications(temperature), frame.most_replications(temperature)
                yield mark, template.name, least, most


def judgment_rows(frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
    """All that rows of an ask record of an item, and what else is in their keys, by its key."""
    ask, shown = frame.ask, frame.protocol.shown(frame, item)
    form, origin = question_form(item), origin_of(frame, item)
    for template in frame.templates:
        settings: dict[str, object] = {
            "max_tokens": ask.max_tokens,
            "early_stop": ask.early_stop,
            "verdict_logprobs": ask.verdict_logprobs,
            "reader": ask.reader,
            "respond": origin,
            "templates": (template.declared or template.form, template.texts.get(form)),
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


def recorded_sampling(ask: AskTable, temperature: float) -> tuple[FrameKey, dict[str, object]]:
    """How a row says that it was sampled, and what of it no row says."""
    if ask.mode == "exact":  # distributions record neither
        return ("exact",), {"top_k": ask.top_k, "exact": ask.exact}
    return (temperature, ask.top_k, ask.top_p), {}


def count_stages(frames: Sequence[AskFrame]) -> tuple[StageCount, ...]:
    """Conditions and requests of every stage of the asks of a sweep.

    Answers that several asks share are asked once, and counted with the first of them; so are
    judgments in an order that two order seeds draw alike. Conditions
    of a second turn are counted one for each first turn, as their prompts differ.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = tuple(Option(option_id=x, text=x) for x in "abc")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p", replications=100,
    ...                temperatures=(1.0, 0.75, 0.5, 0.25, 0.0))
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("best_of", "default"),))
    >>> [count.requests for count in count_stages([frame])]
    [401]
    """
    counts: list[StageCount] = []
    written: dict[FrameKey, int] = {}
    judged: dict[FrameKey, int] = {}
    for frame in frames:
        counts += frame.protocol.counts(frame, written, judged)
    return tuple(counts)


@dataclass(slots=True)
class _Tally:
    """Counts of one stage while they are added up."""

    items: set[str] = field(default_factory=set)
    conditions: int = 0
    requests: int = 0
    requests_at_most: int = 0


def answer_counts(
    frame: AskFrame, wave: int, voice: Voice, written: dict[FrameKey, int]
) -> Iterator[StageCount]:
    """Count what a wave adds to the answers that `written` counts by mark."""
    tallies: dict[str, _Tally] = {}
    every = tuple(respond_settings(frame))
    for item in frame.items:
        dialogue = question_form(item) == "dialogue"
        if wave == 1 and not dialogue:
            continue
        stage = "turn2" if wave == 1 else "turn1" if dialogue else "answer"
        for settings in every:
            mark = (voice.name, *answer_mark(item, stage, settings))
            before = written.get(mark, 0)
            if settings.n <= before:
                continue
            written[mark] = settings.n
            tally = tallies.setdefault(stage, _Tally())
            tally.items.add(item.item_id)
            tally.requests += settings.n - before
            tally.conditions += settings.n - before if wave == 1 else before == 0
    for stage, tally in tallies.items():
        yield StageCount(
            ask=frame.index,
            judge=voice.name,
            role="responder",
            stage=stage,
            wave=wave,
            items=len(tally.items),
            conditions=tally.conditions,
            requests=tally.requests,
            requests_at_most=tally.requests,
        )


def judge_count(frame: AskFrame, voice: Voice, judged: dict[FrameKey, int]) -> StageCount:
    """Count what the judges' stage adds to the judgments that `judged` counts by mark."""
    ask = frame.ask
    tally = _Tally()
    per_prompt = sum(frame.replications(temperature) for temperature in frame.temperatures)
    at_most = sum(frame.most_replications(temperature) for temperature in frame.temperatures)
    n_templates, n_temperatures = len(frame.templates), len(frame.temperatures)
    for item in frame.items:
        if (item.benchmark, item.item_id) in frame.order_draws:
            _add_shared(tally, frame, voice, item, judged)
            continue
        shown = frame.protocol.n_shown(frame, item)
        tally.items.add(item.item_id)
        tally.conditions += shown * n_templates * n_temperatures
        tally.requests += shown * n_templates * per_prompt
        tally.requests_at_most += shown * n_templates * at_most
    return StageCount(
        ask=frame.index,
        judge=voice.name,
        role="scorer" if ask.mode == "exact" else "judge",
        stage="exact" if ask.mode == "exact" else "judge",
        wave=frame.respond_waves,
        items=len(tally.items),
        conditions=tally.conditions,
        requests=tally.requests,
        requests_at_most=tally.requests_at_most,
    )


def _add_shared(
    tally: _Tally, frame: AskFrame, voice: Voice, item: Item, judged: dict[FrameKey, int]
) -> None:
    """Count an item whose orders another ask draws too: what coincides is asked once."""
    for mark, _, n, at_most in judgment_marks(frame, item):
        named = (voice.name, *mark)
        before = judged.get(named, 0)
        if n > before:
            judged[named] = n
            tally.items.add(item.item_id)
            tally.conditions += before == 0
            tally.requests += n - before
            # Asks that may share an order have one rule: beyond it nothing is added later.
            tally.requests_at_most += at_most - before
