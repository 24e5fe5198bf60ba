"""What a protocol is: an object that says what its asks hold, ask, and how replies are read.

Defaults are those of a protocol whose judges each give one verdict on the candidate answers of an
item; a protocol overrides what it does otherwise. No other room asks which protocol it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from judgerel_ray.core import Condition, Item, Message
from judgerel_ray.protocols.prompts import menu_for, question_form
from judgerel_ray.protocols.replies.verdicts import stop_strings
from judgerel_ray.protocols.waves.counts import (
    answer_counts,
    judge_count,
    origin_of,
    recorded_sampling,
)
from judgerel_ray.protocols.waves.frame import (
    Asked,
    AskFrame,
    FrameKey,
    SettingsMapping,
    StageCount,
    Texts,
    Voice,
    Waves,
    answer_names,
)
from judgerel_ray.protocols.waves.work import (
    candidate_answer_to_judge,
    first_turns,
    judging_condition,
    over_temperatures,
    second_turns,
)


class Protocol(Waves):
    """A protocol: its table of the sweep file, its prompts, its waves, its menus, its forms."""

    def answering_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked | None:
        """A first turn in wave 0, in wave 1 the second turn of a dialogue."""
        if wave == 0:
            return first_turns(frame, voice, item)
        return second_turns(frame, voice, item, texts) if item.turns else None

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked:
        """Each answer by itself, as its protocol puts it: answer x template x temperature."""
        for name in answer_names(frame, item):
            answer = candidate_answer_to_judge(frame, item, name, texts)
            if answer is None:
                continue
            for blank, prompt in self.put(frame, voice, item, answer.text or ""):
                blank = replace(blank, responder=name)
                for ask in over_temperatures(frame, blank, prompt, answer.parents):
                    yield ask, answer.never(name)

    def put(
        self, frame: AskFrame, voice: Voice, item: Item, answer: str
    ) -> Iterator[tuple[Condition, tuple[Message, ...]]]:
        """Every way of putting one answer to a judge: its condition, and its prompt."""
        for template in frame.templates:
            blank = judging_condition(frame, voice, item, template)
            menu = self.menu(frame, item, template)
            yield replace(blank, menu=menu), self.prompt(template, item, answer)

    def counts(
        self, frame: AskFrame, written: dict[FrameKey, int], judged: dict[FrameKey, int]
    ) -> Iterator[StageCount]:
        """Requests of every stage, less those that asks before it `written` and `judged`."""
        for wave in range(frame.respond_waves):
            for voice in self.voices(frame, wave):
                yield from answer_counts(frame, wave, voice, written)
        for voice in frame.judges if self.traits.judges else ():
            yield judge_count(frame, voice, judged)

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
        """All that an ask has judged of an item, with all that is in its key but the judge."""
        ask = frame.ask
        shown, labels = self.shown(frame, item), self.labels(frame, item)
        origin = origin_of(frame, item)
        sampling = (ask.mode, ask.verdict_logprobs, ask.top_k, ask.top_p, ask.max_tokens)
        for template in frame.templates:
            wording = self.wording(frame, item, template)
            # Where replies stop is in the key, not what asked for it: a form may have no stop
            # strings.
            menu = menu_for(template, labels, labels=labels, reader=ask.reader, texts=labels)
            if template.declared is not None:  # what options are called, and a tie
                wording = (wording, menu.words)
            stop = stop_strings(menu) if ask.early_stop else ()
            what = (ask.protocol, item.benchmark, item.item_id, wording, stop, *origin)
            for order in shown:
                for temperature in frame.temperatures:
                    least = frame.replications(temperature)
                    most = frame.most_replications(temperature)
                    yield (*what, order, temperature, *sampling), template.name, least, most

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
        """All that rows of an ask record of an item, and what else is in their keys, by its key."""
        ask, shown = frame.ask, self.shown(frame, item)
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
                if self.traits.compares:
                    # What is asked on, and how far, is told by the same columns. Numbers of orders
                    # are of one set of options: with another they say something else.
                    menu = frozenset(answer_names(frame, item))
                    shared: dict[str, object] = {
                        "responders": (menu, bool(frame.responders)),
                        "adaptive replications": ask.adaptive,
                    }
                    yield mark, shared
                for order in shown:
                    yield (*mark, order), settings | more
