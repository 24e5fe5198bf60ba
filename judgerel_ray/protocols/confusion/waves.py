"""Confusion: the judge's own verdict, an assessment for each option, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judgerel_ray.core import (
    Ask,
    Condition,
    Item,
    Menu,
    Message,
    Role,
    Scoring,
    SweepError,
    request_key,
)
from judgerel_ray.protocols.confusion.prompts import (
    read_assessment,
    render_assessment,
    render_confused,
    render_together,
    render_verdict,
)
from judgerel_ray.protocols.confusion.table import ConfusionAsk
from judgerel_ray.protocols.prompts.rendering import labels_for
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.forms import FORMS, answer_frame
from judgerel_ray.protocols.replies.verdicts import read_verdict
from judgerel_ray.protocols.waves.conditions import ItemWork, blank_condition, keyed_condition
from judgerel_ray.protocols.waves.counts import StageCount
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice

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

    @property
    def why(self) -> str | None:
        """Why its column stays empty; None where it does not."""
        return f"no assessment for {self.option_id}: {self.absent}" if self.absent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One matrix to be: a judge, an item, the words it is asked in, and a temperature."""

    frame: AskFrame
    voice: Voice
    item: Item
    template: Template
    menu: Menu
    temperature: float

    def condition(self, stage: str) -> Condition:
        """A condition of a stage, without its prompt."""
        blank = blank_condition(
            self.voice,
            self.item,
            protocol="confusion",
            stage=stage,
            role=STAGE_ROLES[stage],
            template=self.template,
        )
        ask = self.frame.ask
        return replace(
            blank,
            menu=self.menu,
            temperature=self.temperature,
            top_k=ask.top_k,
            top_p=ask.top_p,
            max_tokens=1 if stage == "probabilities" else ask.max_tokens,
            criterion=next((one.criterion for one in self.item.ratings if one.criterion), None),
        )

    def first_wave(self) -> Iterator[Ask]:
        """The judge's own verdict, and an assessment for each option.

        Yields
        ------
        Ask
        """
        own = render_verdict(self.template, self.item, self.menu.labels)
        yield _once(self.condition("verdict"), own)
        for place in range(len(self.menu.labels)):
            yield Ask(condition=self._assessed(place), first=0, n=1)

    def second_wave(self, written: Sequence[Assessment]) -> Iterator[tuple[Ask, str | None]]:
        """The requests that read the matrix, each with the reason why it can never be sent.

        Yields
        ------
        tuple of (Ask, str or None)
        """
        start, close = answer_frame(self.menu.form)
        endings = scored_texts(self.menu.labels, close)
        columns = Scoring(kind="options", start=start, continuations=endings)
        blank = self.condition("probabilities")
        if self.frame.ask.mode == "single":
            never = next((one.why for one in written if one.why), None)
            parents = tuple(one.key for one in written)
            condition = replace(blank, scoring=columns)
            yield _once(condition, self._together(written), parents=parents), never
            return
        kinds = [columns]
        if self.frame.ask.mode == "paper":
            kinds = [replace(columns, kind="inserted", continuations=(end,)) for end in endings]
        for one in written:
            prompt = self._confused(one)
            for scoring in kinds:
                condition = replace(blank, argued=one.option_id, scoring=scoring)
                yield _once(condition, prompt, parents=(one.key,)), one.why

    def assessments(self, texts: Texts) -> list[Assessment] | None:
        """All that was written, or None while one has not landed."""
        found = []
        for place, option_id in enumerate(self.menu.option_ids):
            key = request_key(self._assessed(place).condition_key, 0)
            if key not in texts:
                return None
            absent = read_assessment(texts[key])
            found.append(
                Assessment(
                    option_id=option_id,
                    label=self.menu.labels[place],
                    key=key,
                    text=None if absent else texts[key],
                    absent=absent.value if absent else None,
                )
            )
        return found

    def _assessed(self, place: int) -> Condition:
        """The condition of the assessment for the option at a place."""
        prompt = render_assessment(self.template, self.item, self.menu.labels, place)
        argued = self.menu.option_ids[place]
        return keyed_condition(replace(self.condition("assessment"), argued=argued), prompt)

    def _confused(self, one: Assessment) -> tuple[Message, ...]:
        """The prompt in which an assessment is the judge's own turn."""
        return render_confused(self.template, self.item, self.menu.labels, one.text or "")

    def _together(self, written: Sequence[Assessment]) -> tuple[Message, ...]:
        """The prompt that holds all assessments."""
        shown = [(one.label, one.text or "") for one in written]
        return render_together(self.template, self.item, self.menu.labels, shown)


def confusion_menu(frame: AskFrame, item: Item, template: Template) -> Menu:
    """The options as a confusion ask shows them: in the item's own order, for scales have one.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = (Option(option_id="yes", text="Yes"), Option(option_id="no", text="No"))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> ask = ask_table(protocol="confusion", benchmark="b", path="p", option_labels="ids")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=())
    >>> confusion_menu(frame, item, load_template("confusion", "default")).labels
    ('yes', 'no')
    """
    ids = tuple(option.option_id for option in item.options)
    labels = ids if ConfusionAsk.of(frame.ask).option_labels == "ids" else labels_for(len(ids))
    return Menu(labels=labels, option_ids=ids, form=template.form or "", reader=frame.ask.reader)


def confusion_work(
    frame: AskFrame, voice: Voice, item: Item, texts: Texts, *, scores: bool
) -> ItemWork:
    """What a confusion ask asks about one item in its first wave, or in its second (`scores`)."""
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    for scene in _scenes(frame, voice, item):
        if not scores:
            asks += scene.first_wave()
            continue
        written = scene.assessments(texts)
        if written is None:
            n_blocked += n_scored(frame, item)
            continue
        for ask, never in scene.second_wave(written):
            if never is None:
                asks.append(ask)
            else:
                impossible.append((ask, never))
    return ItemWork.of(voice, item, asks, impossible, n_blocked)


def _scenes(frame: AskFrame, voice: Voice, item: Item) -> Iterator[Scene]:
    """Every matrix of an item: template x temperature."""
    for template in frame.templates:
        menu = confusion_menu(frame, item, template)
        for temperature in frame.ask.temperatures:
            yield Scene(
                frame=frame, voice=voice, item=item, template=template, menu=menu,
                temperature=temperature,
            )  # fmt: skip


def n_scored(frame: AskFrame, item: Item) -> int:
    """Requests that read one matrix of an item.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Option
    >>> options = tuple(Option(option_id=x, text=x) for x in "abc")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> def count(mode):
    ...     ask = ask_table(protocol="confusion", benchmark="b", path="p", mode=mode)
    ...     return n_scored(AskFrame(index=0, ask=ask, items=(), templates=(), judges=()), item)
    >>> [count(mode) for mode in ("columns", "paper", "single")]
    [3, 9, 1]
    """
    n = len(item.options)
    return {"columns": n, "paper": n * n, "single": 1}[frame.ask.mode]


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


def _once(
    condition: Condition, prompt: tuple[Message, ...], *, parents: tuple[str, ...] = ()
) -> Ask:
    """One replication of a condition."""
    return Ask(condition=keyed_condition(condition, prompt, parents=parents), first=0, n=1)


def confusion_counts(frame: AskFrame, voice: Voice) -> Iterator[StageCount]:
    """Count the three stages: a verdict, an assessment for each option, and the matrix.

    Yields
    ------
    StageCount
    """
    n_prompts = len(frame.templates) * len(frame.temperatures)
    n_options = sum(len(item.options) for item in frame.items)
    n_cells = sum(n_scored(frame, item) for item in frame.items)
    stages = (("verdict", len(frame.items)), ("assessment", n_options), ("probabilities", n_cells))
    for place, (stage, n) in enumerate(stages):
        yield StageCount(
            ask=frame.index,
            judge=voice.name,
            role=STAGE_ROLES[stage],
            stage=stage,
            wave=frame.respond_waves + place // 2,
            items=len(frame.items),
            conditions=n * n_prompts,
            requests=n * n_prompts,
            requests_at_most=n * n_prompts,
        )


def check_options(frame: AskFrame, item: Item) -> None:
    """Refuse options that look alike to a judge, or that its verdict could not name.

    Raises
    ------
    SweepError
        Naming both, or the label.
    """
    where = {"ask": frame.index, "benchmark": frame.ask.benchmark, "item": item.item_id}
    for template in frame.templates:
        menu = confusion_menu(frame, item, template)
        seen: dict[str, str] = {}
        # A label of letters tells nothing of an option but its text.
        texts = menu.labels if ConfusionAsk.of(frame.ask).option_labels == "ids" else _texts(item)
        for option_id, text in zip(menu.option_ids, texts, strict=True):
            other = seen.setdefault(text, option_id)
            if other != option_id:
                raise SweepError(
                    f"confusion needs options that differ, {other!r} and {option_id!r} both read "
                    f"{text!r}",
                    where=where,
                    hint='give them texts of their own, or option_labels = "ids"',
                )
        for label in menu.labels:
            if not _is_read_back(label, menu):
                raise SweepError(
                    f"the label {label!r} cannot be read back from a reply that names it",
                    where=where,
                    hint='option_labels = "letters", or ids without brackets, line breaks and '
                    "blanks at their ends",
                )


def _texts(item: Item) -> tuple[str, ...]:
    """What a judge reads of each option."""
    return tuple(" ".join(option.text.split()) for option in item.options)


def _is_read_back(label: str, menu: Menu) -> bool:
    """Whether the declared form, filled in with a label, is that label's verdict."""
    complete = FORMS[menu.form].complete if menu.form in FORMS else None
    if complete is None:
        return True  # such a form is refused with its template
    return read_verdict(complete(label), finish_reason="stop", menu=menu).label == label
