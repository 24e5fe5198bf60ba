"""Thinking twice: a model selects the likeliest options, then chooses one of them.

Two waves, one conversation, asked at every temperature and replication, so that single models are
measured as the judges are that compare their answers, see
:mod:`judgerel_ray.protocols.think_twice.comparing`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from judgerel_ray.core import Ask, Condition, Item, Menu, Role, request_key
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.correctness_form import read_confidence
from judgerel_ray.protocols.replies.verdicts import read_verdict
from judgerel_ray.protocols.think_twice.prompts import read_selection, render_choose, render_select
from judgerel_ray.protocols.think_twice.table import ThinkTwiceAsk
from judgerel_ray.protocols.waves.conditions import ItemWork, blank_condition, keyed_condition
from judgerel_ray.protocols.waves.frame import AskFrame, CutText, Texts, Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What a model answered: keys and texts of both steps.

    A text is None where it can never be had.
    """

    keys: tuple[str, str]
    selected: str | None
    chosen: str | None

    @property
    def is_there(self) -> bool:
        """Whether there is anything to show of it."""
        return bool((self.selected or "").strip() and (self.chosen or "").strip())


def thinking_work(frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """What one model is asked about one item in an even wave (first step) or an odd (second).

    In a cascade every model has two waves of its own, and what goes on to it is a later block: it
    depends on what those before it said.
    """
    level, step = divmod(wave, 2)
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for template in frame.templates:
        for temperature in frame.temperatures:
            n = frame.replications(temperature)
            select = _select(frame, voice, item, template, temperature)
            if wave == 0:
                asks.append(Ask(condition=select, first=0, n=n))
                continue
            for r in range(n):
                if level and not _goes_on(frame, level, item, template, temperature, r, texts):
                    continue
                if step == 0:
                    asks.append(Ask(condition=select, first=r, n=1))
                    continue
                key = request_key(select.condition_key, r)
                if key not in texts:
                    n_blocked += 1
                    continue
                choose = _choose(frame, voice, item, template, temperature, key, texts[key])
                ask = Ask(condition=choose, first=r, n=1)
                if choose.prompt:
                    asks.append(ask)
                else:
                    impossible.append((ask, "its first step has no text"))
    return ItemWork.of(voice, item, asks, impossible, n_blocked)


def _goes_on(
    frame: AskFrame,
    level: int,
    item: Item,
    template: Template,
    temperature: float,
    replication: int,
    texts: Texts,
) -> bool:
    """Whether every model before `level` answered, and none was sure enough."""
    for voice in frame.responders[:level]:
        select = _select(frame, voice, item, template, temperature)
        first = request_key(select.condition_key, replication)
        if first not in texts:
            return False
        choose = _choose(frame, voice, item, template, temperature, first, texts[first])
        second = request_key(choose.condition_key, replication)
        if second not in texts or _is_sure(frame, choose.menu, texts[second]):
            return False
    return True


def _is_sure(frame: AskFrame, menu: Menu | None, text: str | None) -> bool:
    """Whether an answer can be read, and is stated with the confidence a cascade asks for."""
    threshold = ThinkTwiceAsk.of(frame.ask).cascade
    if text is None or menu is None or threshold is None:
        return False
    end = "length" if isinstance(text, CutText) else "stop"  # as its row was read
    if read_verdict(text, finish_reason=end, menu=menu).label is None:
        return False
    stated = read_confidence(text, finish_reason=end, form=menu.form, reader=menu.reader)
    return stated is not None and stated >= threshold


def landed_thought(
    frame: AskFrame, voice: Voice, item: Item, template: Template, texts: Texts
) -> Thought | None:
    """A model's replication 0 at the temperature compared; None while it has not landed.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols import load_template
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=())
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> landed_thought(frame, Voice(name="m", fingerprint="0"), item,
    ...                load_template("think_twice", "default"), {}) is None
    True
    """
    temperature = ThinkTwiceAsk.of(frame.ask).answer_temperature or 0.0
    select = _select(frame, voice, item, template, temperature)
    first = request_key(select.condition_key, 0)
    if first not in texts:
        return None
    choose = _choose(frame, voice, item, template, temperature, first, texts[first])
    second = request_key(choose.condition_key, 0)
    if second not in texts:
        return None
    return Thought(keys=(first, second), selected=texts[first], chosen=texts[second])


def _select(
    frame: AskFrame, voice: Voice, item: Item, template: Template, temperature: float
) -> Condition:
    """The condition of a model's first step."""
    blank = blank_step(frame, voice, item, template, stage="select", role="responder")
    most = ThinkTwiceAsk.of(frame.ask).candidates
    blank = replace(blank, temperature=temperature, menu=_selecting(item, most))
    return keyed_condition(blank, render_select(template, item, most=most))


def _choose(
    frame: AskFrame,
    voice: Voice,
    item: Item,
    template: Template,
    temperature: float,
    parent: str,
    selected: str | None,
) -> Condition:
    """The condition of the second step; without a prompt where the first has no text."""
    blank = blank_step(frame, voice, item, template, stage="choose", role="responder")
    most = ThinkTwiceAsk.of(frame.ask).candidates
    offered = _selecting(item, most)
    end = "length" if isinstance(selected, CutText) else "stop"  # as its row was read
    read = read_selection(selected, finish_reason=end, menu=offered)
    kept = read.labels or offered.labels
    menu = Menu(
        labels=kept,
        option_ids=tuple(offered.option_ids[offered.labels.index(label)] for label in kept),
        form="final_answer",
        reader=frame.ask.reader,
    )
    blank = replace(blank, temperature=temperature, menu=menu)
    if selected is None or not selected.strip():
        return keyed_condition(blank, (), parents=(parent,))
    prompt = render_choose(template, item, most=most, selected=selected)
    return keyed_condition(blank, prompt, parents=(parent,))


def _selecting(item: Item, most: int) -> Menu:
    """The menu of a selection: the item's options by number, or as many candidates as are asked."""
    if item.options:
        return Menu(
            labels=tuple(str(place) for place in range(len(item.options))),
            option_ids=tuple(option.option_id for option in item.options),
            form="options",
            most=most,
        )
    numbers = tuple(str(place) for place in range(1, most + 1))
    return Menu(labels=numbers, option_ids=numbers, form="candidates", most=most)


def blank_step(
    frame: AskFrame, voice: Voice, item: Item, template: Template, *, stage: str, role: Role
) -> Condition:
    """A condition of think_twice with everything but its menu, temperature and prompt.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols import load_template
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=())
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> blank_step(frame, Voice(name="m", fingerprint="0"), item,
    ...            load_template("think_twice", "default"), stage="judge",
    ...            role="participant").max_tokens
    512
    """
    blank = blank_condition(
        voice, item, protocol="think_twice", stage=stage, role=role, template=template
    )
    ask = frame.ask
    names = [one.name for one in frame.responders]
    block = int(ThinkTwiceAsk.of(ask).cascade is not None and voice.name in names[1:])
    return replace(blank, top_k=ask.top_k, top_p=ask.top_p, max_tokens=ask.max_tokens, block=block)
