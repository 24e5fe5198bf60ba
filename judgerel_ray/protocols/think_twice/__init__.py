"""The protocol think_twice: models answer in two steps, and judge each other's answers.

A judge that answered itself compares with its own answer among the others' (participant) and
without it (evaluator_only). What is refused and counted is said here; what is asked, in
:mod:`~judgerel_ray.protocols.think_twice.thinking`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from judgerel_ray.core import Item, Role, SweepError
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.think_twice.thinking import (
    ThinkTwiceAsk,
    compared,
    comparing_roles,
    comparing_work,
    thinking_work,
)
from judgerel_ray.protocols.waves.frame import (
    Asked,
    AskFrame,
    FrameKey,
    SettingsMapping,
    StageCount,
    Texts,
    Voice,
)
from judgerel_ray.protocols.waves.orders import most_orders


def n_conditions(frame: AskFrame, voice: Voice, wave: int) -> Iterator[tuple[Role, int]]:
    """How many conditions a wave makes of each item, by role; the second step's by first steps.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p", temperatures=(1.0, 0.0))
    >>> one, two = (Voice(name=name, fingerprint="0") for name in "ab")
    >>> from judgerel_ray.protocols import load_template
    >>> frame = AskFrame(index=0, ask=ask, items=(), judges=(one,), responders=(one, two),
    ...                  templates=(load_template("think_twice", "default"),))
    >>> [tuple(n_conditions(frame, one, wave)) for wave in range(3)]
    [(('responder', 2),), (('responder', 6),), (('participant', 2), ('evaluator_only', 2))]
    """
    shown = len(frame.templates)
    if wave >= frame.respond_waves:
        conditions = shown * frame.ask.option_orders * len(frame.temperatures)
        yield from ((role, conditions) for role in comparing_roles(frame, voice))
    elif wave % 2 == 0:
        yield "responder", shown * len(frame.temperatures)
    else:
        yield "responder", shown * sum(frame.replications(t) for t in frame.temperatures)


class ThinkTwice(Protocol):
    """Models select options and choose one; judges compare, or a cascade goes on to the next."""

    name = "think_twice"
    table: ClassVar[type[AskTable]] = ThinkTwiceAsk
    texts = {
        "question": ("question", "options"),
        "context": ("context", "question", "options"),
        "open_question": ("question",),
        "open_context": ("context", "question"),
        "select": ("candidates",),
        "choose": (),
        "compare": ("answers",),
        "open_select": ("candidates",),
        "open_choose": (),
        "open_compare": ("answers",),
    }
    stage_texts = tuple(name for name in texts if name not in ("question", "context"))
    forms = ("correct_answer",)

    def cascade(self, ask: AskTable) -> float | None:
        """As the ask says."""
        return ThinkTwiceAsk.of(ask).cascade

    def answer_temperature(self, ask: AskTable) -> float | None:
        """As the ask says."""
        return ThinkTwiceAsk.of(ask).answer_temperature

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """Options; an open question has judges choose among models, fewer in one role."""
        return {n + ties for n in options if n}

    def answer_waves(self, frame: AskFrame) -> int:
        """Two steps; of a cascade two for each model."""
        return 2 if self.cascade(frame.ask) is None else 2 * len(frame.responders)

    def judging_waves(self, frame: AskFrame) -> int:
        """Nobody judges a cascade."""
        return 1 if self.cascade(frame.ask) is None else 0

    def later_waves(self, frame: AskFrame) -> tuple[int, ...]:
        """Of a cascade all after the first model's."""
        return () if self.cascade(frame.ask) is None else tuple(range(2, frame.n_waves))

    def voices(self, frame: AskFrame, wave: int) -> tuple[Voice, ...]:
        """Of a cascade one model after another."""
        if self.cascade(frame.ask) is not None:
            return (frame.responders[wave // 2],)
        return super().voices(frame, wave)

    def answering_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked:
        """A step of a model."""
        return thinking_work(frame, wave, voice, item, texts)

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked:
        """A comparison of what models answered."""
        return comparing_work(frame, voice, item, texts)

    def counts(
        self, frame: AskFrame, written: dict[FrameKey, int], judged: dict[FrameKey, int]
    ) -> Iterator[StageCount]:
        """Both steps of every model, and the comparisons; nothing is shared with another ask.

        In a cascade only the first model is asked whatever is answered.
        """
        n_items = len(frame.items)
        n_each = sum(frame.replications(temperature) for temperature in frame.temperatures)
        for wave in range(frame.n_waves):
            stage = "judge" if wave >= frame.respond_waves else ("select", "choose")[wave % 2]
            for voice in self.voices(frame, wave):
                for role, n in n_conditions(frame, voice, wave):
                    # Prompts of the second step are one for each reply to the first.
                    requests = n if stage == "choose" else n // len(frame.temperatures) * n_each
                    later = wave in frame.later_waves
                    yield StageCount(
                        ask=frame.index,
                        judge=voice.name,
                        role=role,
                        stage=stage,
                        wave=wave,
                        items=n_items,
                        conditions=n * n_items,
                        requests=0 if later else requests * n_items,
                        requests_at_most=requests * n_items,
                    )

    def first_texts(self, item: Item) -> tuple[str, ...]:
        """The question, and what the first step asks of it."""
        (form,) = super().first_texts(item)
        return (form, "select") if item.options else (f"open_{form}", "open_select")

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
        """None: an item is asked about by one ask alone."""
        return iter(())

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
        """None, likewise."""
        return iter(())

    def check_item(self, frame: AskFrame, item: Item, place: Mapping[str, object]) -> None:
        """Nothing yet: see :meth:`check`."""

    def check(self, frame: AskFrame) -> None:
        """Refuse items and judges that nothing could be selected from, or compared by."""
        where = {"ask": frame.index, "benchmark": frame.ask.benchmark}
        settings = ThinkTwiceAsk.of(frame.ask)
        for item in frame.items:
            place = {**where, "item": item.item_id}
            if item.turns:
                raise SweepError(
                    "think_twice puts one question, the item is a dialogue",
                    where=place,
                    hint="give the turns as the item's context",
                )
            n_options = len(item.options)
            if n_options == 1 or 0 < n_options < settings.candidates:
                raise SweepError(
                    f"think_twice selects {settings.candidates} of at least 2 options, got "
                    f"{n_options}",
                    where=place,
                    hint="fewer candidates; or no options at all, for an open question",
                )
            if item.gold is not None and n_options:
                ids = [option.option_id for option in item.options]
                if item.gold not in ids:
                    raise SweepError(
                        f"gold must be the id of an option, {', '.join(ids)}, got {item.gold!r}",
                        where=place,
                    )
        for voice in frame.judges:
            roles = comparing_roles(frame, voice)
            if not roles:
                raise SweepError(
                    f"nobody's answers are left to compare, roles are {', '.join(settings.roles)}",
                    where={**where, "judge": voice.name},
                    hint="name a second responder, or another role",
                )
            for role in roles:
                most = most_orders(len(compared(frame, voice, role)))
                if frame.ask.option_orders > most:
                    raise SweepError(
                        f"option_orders must be at most {most} for {role}, "
                        f"got {frame.ask.option_orders}",
                        where={**where, "judge": voice.name},
                    )

    def check_together(self, frames: Sequence[AskFrame]) -> None:
        """Refuse two asks of an item: rows do not say how many were selected, or who was compared.

        And of a benchmark where one is a cascade: rows do not say who was to be asked next.
        """
        seen: dict[tuple[str, str], int] = {}
        asked: dict[str, AskFrame] = {}
        for frame in frames:
            for item in frame.items:
                other = asked.setdefault(item.benchmark, frame)
                cascades = [self.cascade(one.ask) is not None for one in (frame, other)]
                if other is not frame and any(cascades):
                    raise SweepError(
                        f"ask[{other.index}] and ask[{frame.index}] think twice about one "
                        "benchmark, one as a cascade: what the cascade did could not be told",
                        where={"benchmark": item.benchmark},
                        hint="another benchmark name, or two sweeps with a run directory each",
                    )
                first = seen.setdefault((item.benchmark, item.item_id), frame.index)
                if first != frame.index:
                    raise SweepError(
                        f"ask[{first}] and ask[{frame.index}] both think twice about one item: "
                        "their rows could not be told apart",
                        where={"benchmark": item.benchmark, "item": item.item_id},
                        hint="merge the asks, or make them two sweeps with a run directory each",
                    )

    def remarks(self, frame: AskFrame) -> Iterator[str]:
        """That counts of a cascade depend on answers."""
        if self.cascade(frame.ask) is not None:
            lead, *rest = (voice.name for voice in frame.responders)
            yield (
                f"ask[{frame.index}]: a cascade, so counts are of {lead}, and of "
                f"{', '.join(rest)} at most; their rows are of block 1, for which questions they "
                "are asked depends on what was answered"
            )


PROTOCOL = ThinkTwice()
