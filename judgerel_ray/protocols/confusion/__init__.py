"""The protocol confusion: how probable every option is after an assessment for each.

A judge is asked in two waves: for its own verdict and an assessment that argues for each option,
then for the probabilities of the options after each assessment, which make one confusion matrix.
Prompts put the item first, so that every stage shares it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

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
from judgerel_ray.protocols.ask import (
    AskTable,
    Number,
    Replications,
    Temperature,
    TokenCount,
    checked_names,
)
from judgerel_ray.protocols.prompts import (
    Template,
    fill,
    item_placeholders,
    labels_for,
    question_form,
)
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.replies.forms import FORMS, answer_frame
from judgerel_ray.protocols.replies.verdicts import read_assessment, read_verdict
from judgerel_ray.protocols.waves.frame import (
    Asked,
    AskFrame,
    FrameKey,
    StageCount,
    Texts,
    Voice,
)
from judgerel_ray.protocols.waves.work import blank_condition, keyed_condition


def render_verdict(template: Template, item: Item, labels: Sequence[str]) -> tuple[Message, ...]:
    """Prompt for the judge's own verdict.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> yes, no = (Option(option_id=one, text=one) for one in ("Yes", "No"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=(yes, no))
    >>> prompt = render_verdict(load_template("confusion", "default"), item, ("A", "B"))
    >>> "- [B]: No" in prompt[0].content
    True
    """
    return (_stage_prompt_message(template, item, labels, "verdict"),)


def render_assessment(
    template: Template, item: Item, labels: Sequence[str], place: int
) -> tuple[Message, ...]:
    """Prompt for an assessment biased towards the option at a place; else as for a verdict."""
    option = f"[{labels[place]}]: {item.options[place].text}"
    return (_stage_prompt_message(template, item, labels, "assessment", option=option),)


def render_confused(
    template: Template, item: Item, labels: Sequence[str], assessment: str
) -> tuple[Message, ...]:
    """Conversation in which an assessment stands as the judge's own turn, and a verdict is due."""
    return (
        _stage_prompt_message(template, item, labels, "neutral"),
        Message(role="assistant", content=assessment),
        Message(role="user", content=template.text("choice")),
    )


def render_together(
    template: Template,
    item: Item,
    labels: Sequence[str],
    assessments: Sequence[tuple[str, str]],
) -> tuple[Message, ...]:
    """Prompt that holds all assessments at once, each after the label it argues for."""
    shown = "\n\n".join(f"For [{label}]:\n{text.strip()}" for label, text in assessments)
    return (_stage_prompt_message(template, item, labels, "single", assessments=shown),)


def _stage_prompt_message(
    template: Template, item: Item, labels: Sequence[str], stage: str, **values: str
) -> Message:
    """The item, then what a stage asks, as one user message."""
    lines = "\n".join(
        f"- [{label}]: {option.text}" for label, option in zip(labels, item.options, strict=True)
    )
    asked = fill(template.text(question_form(item)), {**item_placeholders(item), "options": lines})
    return Message(role="user", content=f"{asked}\n\n{fill(template.text(stage), values)}")


Threshold = Annotated[Number, Field(gt=0, lt=1)]
"""One that neither labels all nor nothing."""


class ConfusionAsk(AskTable):
    """An ``[[ask]]`` of confusion: judges argue for every option, and probabilities are read."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("exact", "verdict_logprobs", "early_stop", "option_orders", "respond"), ""
        ),
        "responders": "it judges what the items hold",
    }

    protocol: Literal["confusion"]
    """How sure a judge is of a verdict."""
    mode: Literal["columns", "paper", "single"] = "columns"
    """What is read after the assessments: a column of the matrix each (columns), every cell by
    itself as in the paper (paper), or one row after all of them (single)."""
    temperatures: tuple[Temperature, ...] = (0.0,)
    """Sampling temperatures of verdicts and assessments."""
    replications: Replications = 1
    """One: an item has one matrix."""
    max_tokens: TokenCount = 256
    """New tokens at most."""
    option_labels: Literal["letters", "ids"] = "letters"
    """What the options are called: A, B, ... or their own ids."""
    option_probability: Literal["whole", "last_token"] = "whole"
    """What is taken for an option's: all its tokens', or its last's given the others."""
    thresholds: Annotated[tuple[Threshold, ...], AfterValidator(checked_names)] = ()
    """Of the uncertainty labels, reported beside the ones that are searched."""

    @field_validator("mode", mode="before")
    @classmethod
    def _default(cls, value: object) -> object:
        """Take the mode of other protocols for the default."""
        return "columns" if value == "sample" else value

    @model_validator(mode="after")
    def _makes_one(self) -> Self:
        """Refuse to make a matrix again."""
        if self.most_replications > 1 or self.repeat_greedy > 1:
            raise ValueError("protocol confusion makes one matrix: replications must be left out")
        return self


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
            self.frame.ask,
            protocol="confusion",
            stage=stage,
            role=STAGE_ROLES[stage],
            template=self.template,
        )
        return replace(
            blank,
            menu=self.menu,
            temperature=self.temperature,
            max_tokens=1 if stage == "probabilities" else blank.max_tokens,
            criterion=next((one.criterion for one in self.item.ratings if one.criterion), None),
        )

    def first_wave(self) -> Iterator[Ask]:
        """The judge's own verdict, and an assessment for each option."""
        shown = render_verdict(self.template, self.item, self.menu.labels)
        yield _one_prompt_replication(self.condition("verdict"), shown)
        for place in range(len(self.menu.labels)):
            yield Ask(condition=self._assessed(place), first=0, n=1)

    def second_wave(self, written: Sequence[Assessment]) -> Asked:
        """The requests that read the matrix, each with the reason why it can never be sent."""
        start, close = answer_frame(self.menu.form)
        endings = scored_texts(self.menu.labels, close)
        columns = Scoring(kind="options", start=start, continuations=endings)
        blank = self.condition("probabilities")
        if self.frame.ask.mode == "single":
            never = next((one.why for one in written if one.why), None)
            parents = tuple(one.key for one in written)
            condition = replace(blank, scoring=columns)
            shown = [(one.label, one.text or "") for one in written]
            prompt = render_together(self.template, self.item, self.menu.labels, shown)
            yield _one_prompt_replication(condition, prompt, parents=parents), never
            return
        kinds = [columns]
        if self.frame.ask.mode == "paper":
            kinds = [replace(columns, kind="inserted", continuations=(end,)) for end in endings]
        for one in written:
            text = one.text or ""
            prompt = render_confused(self.template, self.item, self.menu.labels, text)
            for scoring in kinds:
                condition = replace(blank, argued=one.option_id, scoring=scoring)
                yield _one_prompt_replication(condition, prompt, parents=(one.key,)), one.why

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


def _matrices_per_template(frame: AskFrame, voice: Voice, item: Item) -> Iterator[Scene]:
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


def _one_prompt_replication(
    condition: Condition, prompt: tuple[Message, ...], *, parents: tuple[str, ...] = ()
) -> Ask:
    """One replication of a condition."""
    return Ask(condition=keyed_condition(condition, prompt, parents=parents), first=0, n=1)


def check_options(frame: AskFrame, item: Item) -> None:
    """Refuse options that look alike to a judge, or that its verdict could not name."""
    where = {"ask": frame.index, "benchmark": frame.ask.benchmark, "item": item.item_id}
    for template in frame.templates:
        menu = confusion_menu(frame, item, template)
        seen: dict[str, str] = {}
        texts = menu.labels
        if ConfusionAsk.of(frame.ask).option_labels != "ids":
            # A label of letters tells nothing of an option but its text.
            texts = tuple(" ".join(option.text.split()) for option in item.options)
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


def _is_read_back(label: str, menu: Menu) -> bool:
    """Whether the declared form, filled in with a label, is that label's verdict."""
    complete = FORMS[menu.form].complete if menu.form in FORMS else None
    if complete is None:
        return True  # such a form is refused with its template
    return read_verdict(complete(label), finish_reason="stop", menu=menu).label == label


class Confusion(Protocol):
    """Judges give a verdict and argue for every option; then probabilities are read."""

    name = "confusion"
    table: ClassVar[type[AskTable]] = ConfusionAsk
    texts = {
        "question": ("question", "options"),
        "context": ("context", "question", "options"),
        "verdict": (),
        "assessment": ("option",),
        "neutral": (),
        "choice": (),
        "single": ("assessments",),
    }
    stage_texts = ("verdict", "assessment", "neutral", "choice", "single")

    def thresholds(self, ask: AskTable) -> tuple[float, ...]:
        """As the ask states them."""
        return ConfusionAsk.of(ask).thresholds

    def reads_last_token(self, ask: AskTable) -> bool:
        """As the ask says."""
        return ConfusionAsk.of(ask).option_probability == "last_token"

    def reads_probabilities(self, ask: AskTable) -> str:
        """In every mode."""
        return "protocol confusion"

    def probability_words(self, ask: AskTable, templates: str, heats: str) -> str:
        """What is read, and how."""
        return (
            f"confusion on {ask.benchmark}: the judge's own verdict, an assessment for every "
            f"option, and the probability of every option after each (mode {ask.mode}, texts at "
            f"temperature {heats}). Prompts: {templates}."
        )

    def judging_waves(self, frame: AskFrame) -> int:
        """Assessments, then what they make of the verdict."""
        return 2

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> Asked:
        """A matrix, in two waves."""
        for scene in _matrices_per_template(frame, voice, item):
            if wave == frame.respond_waves:
                yield from ((ask, None) for ask in scene.first_wave())
            elif (written := scene.assessments(texts)) is not None:
                yield from scene.second_wave(written)

    def counts(
        self, frame: AskFrame, written: dict[FrameKey, int], judged: dict[FrameKey, int]
    ) -> Iterator[StageCount]:
        """Three stages of every judge: a verdict, an assessment for each option, the matrix."""
        n_prompts = len(frame.templates) * len(frame.temperatures)
        n_options = sum(len(item.options) for item in frame.items)
        n_cells = sum(n_scored(frame, item) for item in frame.items)
        stages = (
            ("verdict", len(frame.items)),
            ("assessment", n_options),
            ("probabilities", n_cells),
        )
        for voice, (place, (stage, n)) in product(frame.judges, enumerate(stages)):
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

    def wording(self, frame: AskFrame, item: Item, template: Template) -> object:
        """All of a template's texts: every stage has one."""
        return tuple(sorted(template.texts.items())), ConfusionAsk.of(frame.ask).option_labels

    def check_answers(self, item: Item, n_options: int, place: Mapping[str, object]) -> None:
        """Refuse an item whose options an assessment cannot be written for."""
        if n_options < 2:
            raise SweepError(
                f"confusion needs at least 2 options, got {n_options}",
                where=place,
                hint="nothing can be confused with the only option there is",
            )
        if item.turns:
            raise SweepError(
                "confusion judges a question with its options, the item is a dialogue",
                where=place,
                hint="give the turns as the item's context",
            )

    def check_options(self, frame: AskFrame) -> None:
        """Refuse options that look alike."""
        for item in frame.items:
            check_options(frame, item)


PROTOCOL = Confusion()
