"""Comparing: judges read what models selected and chose, and say which answer is right.

What they compare is each model's replication 0 at one temperature, the same for all of them: only
so are a judge's replications those of one question. A judge that answered itself compares with its
own answer among the others' (participant) and without it (evaluator_only).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgerel_ray.core import Ask, Item, Menu, Role, SweepError
from judgerel_ray.protocols.think_twice.prompts import render_compare
from judgerel_ray.protocols.think_twice.steps import Thought, blank_step, landed_thought
from judgerel_ray.protocols.think_twice.table import ThinkTwiceAsk
from judgerel_ray.protocols.waves.conditions import ItemWork, keyed_condition
from judgerel_ray.protocols.waves.counts import StageCount
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice, voices_of
from judgerel_ray.protocols.waves.orders import most_orders, order_names


def comparing_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """What a judge is asked: role x template x order x temperature."""
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for role, template in ((r, t) for r in roles_of(frame, voice) for t in frame.templates):
        others = compared(frame, voice, role)
        thoughts = {one.name: landed_thought(frame, one, item, template, texts) for one in others}
        known = {name: thought for name, thought in thoughts.items() if thought is not None}
        if len(known) < len(thoughts):
            each = sum(frame.replications(temperature) for temperature in frame.temperatures)
            n_blocked += frame.ask.option_orders * each
            continue
        never = _never(voice, role, known)
        parents = tuple(sorted(key for thought in known.values() for key in thought.keys))
        for order, names in enumerate(
            order_names(
                item,
                tuple(known),
                n_orders=frame.ask.option_orders,
                seed=frame.ask.order_seed,
            )
        ):
            shown = [name for name in names if known[name].is_there]
            blank = blank_step(frame, voice, item, template, stage="judge", role=role)
            blank = replace(blank, option_order=order, menu=_menu(frame, item, tuple(shown)))
            answers = [(known[n].selected or "", known[n].chosen or "") for n in shown]
            prompt = () if never else render_compare(template, item, answers)
            for temperature in frame.temperatures:
                condition = keyed_condition(
                    replace(blank, temperature=temperature), prompt, parents=parents
                )
                ask = Ask(condition=condition, first=0, n=frame.replications(temperature))
                if never:
                    impossible.append((ask, never))
                else:
                    asks.append(ask)
    return ItemWork.of(voice, item, asks, impossible, n_blocked)


def _never(voice: Voice, role: Role, known: dict[str, Thought]) -> str | None:
    """Why a comparison can never be asked for; None where it can."""
    if role == "participant" and not known[voice.name].is_there:
        return "no answer of its own"
    if not any(thought.is_there for thought in known.values()):
        return f"no answer of {', '.join(known)}"
    return None


def roles_of(frame: AskFrame, voice: Voice) -> tuple[Role, ...]:
    """In which roles a judge compares; one that answered nothing only evaluates.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p")
    >>> one, two = (Voice(name=name, fingerprint="0") for name in "ab")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=(one, two),
    ...                  responders=(one,))
    >>> roles_of(frame, two)
    ('evaluator_only',)
    """
    answers = voice.name in {one.name for one in frame.responders}
    roles: list[Role] = []
    for role in ThinkTwiceAsk.of(frame.ask).roles:
        if role == "participant" and answers:
            roles.append("participant")
        if role == "evaluator_only" and compared(frame, voice, role):
            roles.append("evaluator_only")
    return tuple(roles)


def compared(frame: AskFrame, voice: Voice, role: Role) -> tuple[Voice, ...]:
    """Whose answers a judge compares in a role.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p")
    >>> one, two = (Voice(name=name, fingerprint="0") for name in "ab")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=(one,),
    ...                  responders=(one, two))
    >>> [voice.name for voice in compared(frame, one, "evaluator_only")]
    ['b']
    """
    own = voice.name if role == "evaluator_only" else None
    return tuple(one for one in frame.responders if one.name != own)


def check_thinking(frame: AskFrame) -> None:
    """Refuse items and judges that nothing could be selected from, or compared by.

    Raises
    ------
    SweepError
        Naming the item or judge and what it lacks.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p")
    >>> check_thinking(AskFrame(index=0, ask=ask, items=(), templates=(), judges=()))
    """
    where, own = {"ask": frame.index, "benchmark": frame.ask.benchmark}, ThinkTwiceAsk.of(frame.ask)
    for item in frame.items:
        place = {**where, "item": item.item_id}
        if item.turns:
            raise SweepError(
                "think_twice puts one question, the item is a dialogue",
                where=place,
                hint="give the turns as the item's context",
            )
        n_options = len(item.options)
        if n_options == 1 or 0 < n_options < own.candidates:
            raise SweepError(
                f"think_twice selects {own.candidates} of at least 2 options, got {n_options}",
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
        roles = roles_of(frame, voice)
        if not roles:
            raise SweepError(
                f"nobody's answers are left to compare, roles are {', '.join(own.roles)}",
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


def _menu(frame: AskFrame, item: Item, shown: tuple[str, ...]) -> Menu:
    """What a judge may answer: an option, or for an open question one of the models shown."""
    ids = tuple(option.option_id for option in item.options) or shown
    return Menu(
        labels=tuple(str(place) for place in range(len(ids))),
        option_ids=ids,
        form="correct_answer",
        reader=frame.ask.reader,
    )


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
        yield from ((role, conditions) for role in roles_of(frame, voice))
    elif wave % 2 == 0:
        yield "responder", shown * len(frame.temperatures)
    else:
        yield "responder", shown * sum(frame.replications(t) for t in frame.temperatures)


def thinking_counts(frame: AskFrame) -> Iterator[StageCount]:
    """Count the stages: both steps of every model, and the comparisons.

    In a cascade only the first model is asked whatever is answered.

    Yields
    ------
    StageCount
    """
    n_items = len(frame.items)
    n_each = sum(frame.replications(temperature) for temperature in frame.temperatures)
    for wave in range(frame.n_waves):
        stage = "judge" if wave >= frame.respond_waves else ("select", "choose")[wave % 2]
        for voice in voices_of(frame, wave):
            for role, n in n_conditions(frame, voice, wave):
                # Prompts of the second step are one for each reply to the first.
                requests = n if stage == "choose" else n // len(frame.temperatures) * n_each
                later = ThinkTwiceAsk.of(frame.ask).cascade is not None and wave > 1
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


def refuse_thinking_again(frames: Sequence[AskFrame]) -> None:
    """Refuse two asks of an item: rows do not say how many were selected, or who was compared.

    And of a benchmark where one is a cascade: rows do not say who was to be asked next.

    Raises
    ------
    SweepError
        Naming both asks.
    """
    seen: dict[tuple[str, str], int] = {}
    asked: dict[str, AskFrame] = {}
    for frame in frames:
        for item in frame.items:
            other = asked.setdefault(item.benchmark, frame)
            is_cascade = (
                ThinkTwiceAsk.of(frame.ask).cascade is not None
                or ThinkTwiceAsk.of(other.ask).cascade is not None
            )
            if other is not frame and is_cascade:
                raise SweepError(
                    f"ask[{other.index}] and ask[{frame.index}] think twice about one benchmark, "
                    "one as a cascade: what the cascade did could not be told",
                    where={"benchmark": item.benchmark},
                    hint="another benchmark name, or two sweeps with a run directory each",
                )
            first = seen.setdefault((item.benchmark, item.item_id), frame.index)
            if first != frame.index:
                raise SweepError(
                    f"ask[{first}] and ask[{frame.index}] both think twice about one item: their "
                    "rows could not be told apart",
                    where={"benchmark": item.benchmark, "item": item.item_id},
                    hint="merge the asks, or make them two sweeps with a run directory each",
                )
