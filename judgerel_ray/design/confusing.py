"""Confusion: the judge's own verdict, an assessment for each option, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judgerel_ray.core import Ask, Condition, Item, Menu, Message, Role, Scoring, request_key
from judgerel_ray.design.conditions import ItemWork, blank_condition, keyed_condition
from judgerel_ray.design.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols import (
    Template,
    answer_frame,
    labels_for,
    read_assessment,
    render_assessment,
    render_confused,
    render_together,
    render_verdict,
)

STAGE_ROLES: Mapping[str, Role] = {
    "verdict": "judge",
    "assessment": "assessor",
    "probabilities": "scorer",
}
"""Stage -> who answers it; the last one is a wave of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What a judge wrote for an option.

    ``text`` is None where it cannot be used, for the reason ``absent``.
    """

    option_id: str
    label: str
    key: str
    text: str | None
    absent: str | None = None


def confusion_menu(frame: AskFrame, item: Item, template: Template) -> Menu:
    """The options as a confusion ask shows them: in the item's own order, for scales have one.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = (Option(option_id="yes", text="Yes"), Option(option_id="no", text="No"))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> ask = AskTable(protocol="confusion", benchmark="b", path="p", option_labels="ids")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=())
    >>> confusion_menu(frame, item, load_template("confusion", "default")).labels
    ('yes', 'no')
    """
    ids = tuple(option.option_id for option in item.options)
    labels = ids if frame.ask.option_labels == "ids" else labels_for(len(ids))
    return Menu(labels=labels, option_ids=ids, form=template.form or "", reader=frame.ask.reader)


def confusion_work(
    frame: AskFrame, voice: Voice, item: Item, texts: Texts, *, scores: bool
) -> ItemWork:
    """What a confusion ask asks about one item in its first wave, or in its second (`scores`)."""
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for template in frame.templates:
        menu = confusion_menu(frame, item, template)
        for temperature in frame.ask.temperatures:
            if not scores:
                asks += _first_wave(frame, voice, item, template, menu, temperature)
                continue
            written = _assessments(frame, voice, item, template, menu, temperature, texts)
            if written is None:
                n_blocked += n_scored(frame, item)
                continue
            for ask, reason in _scored(frame, voice, item, template, menu, temperature, written):
                if reason is None:
                    asks.append(ask)
                else:
                    impossible.append((ask, reason))
    return ItemWork(
        judge=voice.name,
        item_id=item.item_id,
        asks=tuple(asks),
        impossible=tuple(impossible),
        n_blocked=n_blocked,
    )


def n_scored(frame: AskFrame, item: Item) -> int:
    """Requests that read one matrix of an item.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.core import Option
    >>> options = tuple(Option(option_id=x, text=x) for x in "abc")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> def count(mode):
    ...     ask = AskTable(protocol="confusion", benchmark="b", path="p", mode=mode)
    ...     return n_scored(AskFrame(index=0, ask=ask, items=(), templates=(), judges=()), item)
    >>> [count(mode) for mode in ("columns", "paper", "single")]
    [3, 9, 1]
    """
    n = len(item.options)
    return {"columns": n, "paper": n * n, "single": 1}[frame.ask.mode]


def _first_wave(
    frame: AskFrame,
    voice: Voice,
    item: Item,
    template: Template,
    menu: Menu,
    temperature: float,
) -> Iterator[Ask]:
    """The judge's own verdict, and an assessment for each option."""
    own = _blank(frame, voice, item, template, temperature, stage="verdict")
    prompt = render_verdict(template, item, item.options, menu.labels)
    yield _once(replace(own, menu=menu), prompt)
    for place in range(len(menu.labels)):
        condition = _assessment(frame, voice, item, template, menu, temperature, place)
        yield Ask(condition=condition, first=0, n=1)


def _assessment(
    frame: AskFrame,
    voice: Voice,
    item: Item,
    template: Template,
    menu: Menu,
    temperature: float,
    place: int,
) -> Condition:
    """The condition of the assessment for the option at a place."""
    blank = _blank(frame, voice, item, template, temperature, stage="assessment")
    prompt = render_assessment(template, item, item.options, menu.labels, place)
    argued = menu.option_ids[place]
    return keyed_condition(replace(blank, menu=menu, argued=argued), prompt)


def _assessments(
    frame: AskFrame,
    voice: Voice,
    item: Item,
    template: Template,
    menu: Menu,
    temperature: float,
    texts: Texts,
) -> list[Assessment] | None:
    """All assessments of an item, or None while one has not landed."""
    found = []
    for place, option_id in enumerate(menu.option_ids):
        condition = _assessment(frame, voice, item, template, menu, temperature, place)
        key = request_key(condition.condition_key, 0)
        if key not in texts:
            return None
        text = texts[key]
        absent = read_assessment(text)
        found.append(
            Assessment(
                option_id=option_id,
                label=menu.labels[place],
                key=key,
                text=None if absent else text,
                absent=absent.value if absent else None,
            )
        )
    return found


def _scored(
    frame: AskFrame,
    voice: Voice,
    item: Item,
    template: Template,
    menu: Menu,
    temperature: float,
    written: Sequence[Assessment],
) -> Iterator[tuple[Ask, str | None]]:
    """The requests that read one matrix, each with the reason why it can never be sent."""
    start, close = answer_frame(menu.form)
    endings = scored_texts(menu.labels, close)
    blank = replace(
        _blank(frame, voice, item, template, temperature, stage="probabilities"), menu=menu
    )
    labels = menu.labels
    if frame.ask.mode == "single":
        absent = [one for one in written if one.text is None]
        shown = [(one.label, one.text or "") for one in written]
        prompt = render_together(template, item, item.options, labels, shown)
        scoring = Scoring(kind="options", start=start, continuations=endings)
        parents = tuple(one.key for one in written)
        ask = _once(replace(blank, scoring=scoring), prompt, parents=parents)
        yield ask, _why(absent[0]) if absent else None
        return
    for one in written:
        prompt = render_confused(template, item, item.options, labels, one.text or "")
        argued = replace(blank, argued=one.option_id)
        if frame.ask.mode == "columns":
            kinds = [Scoring(kind="options", start=start, continuations=endings)]
        else:
            kinds = [
                Scoring(kind="inserted", start=start, continuations=(ending,)) for ending in endings
            ]
        for scoring in kinds:
            ask = _once(replace(argued, scoring=scoring), prompt, parents=(one.key,))
            yield ask, None if one.text is not None else _why(one)


def scored_texts(labels: Sequence[str], close: str) -> tuple[str, ...]:
    """What is scored for each label: the label, and where one begins another also its end.

    Without the end, the probability of "1" would hold that of "10".

    Examples
    --------
    >>> scored_texts(("A", "B"), "]]"), scored_texts(("1", "10"), "]]")
    (('A', 'B'), ('1]]', '10]]'))
    """
    nested = any(one != other and other.startswith(one) for one in labels for other in labels)
    return tuple(f"{label}{close}" for label in labels) if nested else tuple(labels)


def _why(assessment: Assessment) -> str:
    """Why a column stays empty."""
    return f"no assessment for {assessment.option_id}: {assessment.absent}"


def _blank(
    frame: AskFrame,
    voice: Voice,
    item: Item,
    template: Template,
    temperature: float,
    *,
    stage: str,
) -> Condition:
    """A condition of a stage, without prompt and menu."""
    blank = blank_condition(
        voice,
        item,
        protocol="confusion",
        stage=stage,
        role=STAGE_ROLES[stage],
        template=template,
    )
    ask = frame.ask
    return replace(
        blank,
        temperature=temperature,
        top_k=ask.top_k,
        top_p=ask.top_p,
        max_tokens=1 if stage == "probabilities" else ask.max_tokens,
        criterion=next((one.criterion for one in item.ratings if one.criterion), None),
    )


def _once(
    condition: Condition, prompt: tuple[Message, ...], *, parents: tuple[str, ...] = ()
) -> Ask:
    """One replication of a condition."""
    return Ask(condition=keyed_condition(condition, prompt, parents=parents), first=0, n=1)
