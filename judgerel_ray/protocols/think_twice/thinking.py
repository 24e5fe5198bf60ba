"""Thinking twice: keys of its asks, the two steps of models, and the comparisons of judges.

In one conversation a model selects the likeliest options, then chooses one of them. Both steps are
asked at every temperature and replication, so that single models are measured as the judges are
that compare their answers. What judges compare is each model's replication 0 at one temperature,
the same for all of them: only so are a judge's replications those of one question. Prompts put the
item first, so that both steps and every judge share it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from judgerel_ray.core import Ask, Condition, Item, Menu, Message, Role, SweepError, request_key
from judgerel_ray.protocols.ask import (
    AskTable,
    Number,
    Temperature,
    TokenCount,
    Whole,
    checked_names,
)
from judgerel_ray.protocols.prompts import Template, fill, item_placeholders, question_form
from judgerel_ray.protocols.replies.correctness_form import read_confidence
from judgerel_ray.protocols.replies.verdicts import read_selection, read_verdict
from judgerel_ray.protocols.waves.frame import Asked, AskFrame, Texts, Voice, finish_reason_of
from judgerel_ray.protocols.waves.orders import order_names
from judgerel_ray.protocols.waves.work import blank_condition, keyed_condition

JudgeRole = Literal["participant", "evaluator_only"]


class ThinkTwiceAsk(AskTable):
    """An ``[[ask]]`` of think_twice: models answer in two steps, judges compare the answers."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("verdict_logprobs", "early_stop"), ""),
        "mode": "it samples replies",
        "exact": "it samples replies",
        "respond": "its models answer as they judge",
        "answers": "its models answer",
    }

    protocol: Literal["think_twice"]
    """Which of the models' answers is right."""
    max_tokens: TokenCount = 512
    """New tokens at most."""
    candidates: Whole = Field(default=2, ge=1, le=100)
    """How many options a model selects, or answers it writes, before it thinks twice."""
    roles: Annotated[tuple[JudgeRole, ...], AfterValidator(checked_names)] = ()
    """What judges compare: answers with their own among them (participant), or the others'
    (evaluator_only); default both."""
    answer_temperature: Temperature | None = None
    """Temperature of the answers that judges compare; default the first."""
    cascade: Number | None = Field(default=None, gt=0, le=1)
    """Nobody judges: a question goes on to the next of `responders`, in the order named, only where
    the confidence of the one before falls short of this; after the last, to a person."""

    @model_validator(mode="after")
    def _can_be_compared(self) -> Self:
        """Refuse what two steps and a comparison have no place for."""
        if self.reader == "schroeder2024":
            raise ValueError("reader schroeder2024 reads letters and words, no numbers")
        if self.answer_temperature not in (None, *self.temperatures):
            raise ValueError(
                f"answer_temperature must be one of the temperatures {list(self.temperatures)}, "
                f"got {self.answer_temperature}"
            )
        if self.cascade is not None:
            self._goes_on()
        elif not self.roles:
            object.__setattr__(self, "roles", ("participant", "evaluator_only"))
        if self.answer_temperature is None:
            object.__setattr__(self, "answer_temperature", self.temperatures[0])
        return self

    def _goes_on(self) -> None:
        """Refuse a cascade that has judges, or nobody to go on to."""
        for key in ("roles", "judges", "answer_temperature"):
            if getattr(self, key):
                raise ValueError(f"cascade has no judges: leave out {key}")
        if len(self.responders) < 2 or self.option_orders > 1:
            raise ValueError(
                "cascade needs at least 2 responders, in the order in which they are asked, and no "
                f"option_orders, got {list(self.responders)} and {self.option_orders}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What a model answered: keys and texts of both steps.

    A text is None where it can never be had.
    """

    keys: tuple[str, str]
    selected: str | None
    chosen: str | None
    menu: Menu

    @property
    def is_there(self) -> bool:
        """Whether there is anything to show of it."""
        return bool((self.selected or "").strip() and (self.chosen or "").strip())

    def is_sure(self, threshold: float) -> bool:
        """Whether the answer can be read, and is stated with at least this confidence."""
        text, menu, end = self.chosen, self.menu, finish_reason_of(self.chosen)
        if text is None or read_verdict(text, finish_reason=end, menu=menu).label is None:
            return False
        stated = read_confidence(text, finish_reason=end, form=menu.form, reader=menu.reader)
        return stated is not None and stated >= threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinker:
    """A model that thinks twice about an item, in the words of a template at a temperature."""

    frame: AskFrame
    voice: Voice
    item: Item
    template: Template
    temperature: float

    def select(self) -> Condition:
        """The condition of the first step."""
        most = ThinkTwiceAsk.of(self.frame.ask).candidates
        prompt = render_select(self.template, self.item, most=most)
        return keyed_condition(self._blank("select", _selecting_step_menu(self.item, most)), prompt)

    def choose(self, parent: str, selected: str | None) -> Condition:
        """The condition of the second step; without a prompt where the first has no text."""
        most = ThinkTwiceAsk.of(self.frame.ask).candidates
        offered = _selecting_step_menu(self.item, most)
        end = finish_reason_of(selected)
        read = read_selection(selected, finish_reason=end, menu=offered)
        kept = read.labels or offered.labels
        ids = tuple(offered.option_ids[offered.labels.index(label)] for label in kept)
        reader = self.frame.ask.reader
        menu = Menu(labels=kept, option_ids=ids, form="final_answer", reader=reader)
        prompt: tuple[Message, ...] = ()
        if selected is not None and selected.strip():
            prompt = render_choose(self.template, self.item, most=most, selected=selected)
        return keyed_condition(self._blank("choose", menu), prompt, parents=(parent,))

    def thought(self, replication: int, texts: Texts) -> Thought | None:
        """What it answered; None while that has not landed."""
        first = request_key(self.select().condition_key, replication)
        if first not in texts:
            return None
        choose = self.choose(first, texts[first])
        second = request_key(choose.condition_key, replication)
        if second not in texts or choose.menu is None:
            return None
        return Thought(
            keys=(first, second), selected=texts[first], chosen=texts[second], menu=choose.menu
        )

    def is_reached(self, level: int, replication: int, texts: Texts) -> bool:
        """Whether every model before `level` answered, and none was sure enough."""
        threshold = ThinkTwiceAsk.of(self.frame.ask).cascade
        for voice in self.frame.responders[:level]:
            thought = replace(self, voice=voice).thought(replication, texts)
            if thought is None or (threshold is not None and thought.is_sure(threshold)):
                return False
        return True

    def _blank(self, stage: str, menu: Menu) -> Condition:
        blank = blank_step(
            self.frame, self.voice, self.item, self.template, stage=stage, role="responder"
        )
        return replace(blank, temperature=self.temperature, menu=menu)


def thinking_work(frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts) -> Asked:
    """What one model is asked about one item in an even wave (first step) or an odd (second).

    In a cascade every model has two waves of its own, and what goes on to it is a later block: it
    depends on what those before it said.
    """
    level, step = divmod(wave, 2)
    for template, temperature in product(frame.templates, frame.temperatures):
        thinker = Thinker(
            frame=frame, voice=voice, item=item, template=template, temperature=temperature
        )
        select, n = thinker.select(), frame.replications(temperature)
        if wave == 0:
            yield Ask(condition=select, first=0, n=n), None
            continue
        for r in range(n):
            if level and not thinker.is_reached(level, r, texts):
                continue
            if step == 0:
                yield Ask(condition=select, first=r, n=1), None
            elif (key := request_key(select.condition_key, r)) in texts:
                choose = thinker.choose(key, texts[key])
                never = None if choose.prompt else "its first step has no text"
                yield Ask(condition=choose, first=r, n=1), never


def _selecting_step_menu(item: Item, most: int) -> Menu:
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
    """A condition of think_twice with everything but its menu, temperature and prompt."""
    ask = frame.ask
    blank = blank_condition(
        voice, item, ask, protocol="think_twice", stage=stage, role=role, template=template
    )
    names = [one.name for one in frame.responders]
    block = int(ThinkTwiceAsk.of(ask).cascade is not None and voice.name in names[1:])
    return replace(blank, block=block)


def comparing_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> Asked:
    """What a judge is asked: role x template x order x temperature."""
    answered_at = ThinkTwiceAsk.of(frame.ask).answer_temperature or 0.0
    for role, template in product(comparing_roles(frame, voice), frame.templates):
        others = compared(frame, voice, role)
        thoughts = {
            one.name: Thinker(
                frame=frame, voice=one, item=item, template=template, temperature=answered_at
            ).thought(0, texts)
            for one in others
        }
        known = {name: thought for name, thought in thoughts.items() if thought is not None}
        if len(known) < len(thoughts):
            continue
        never = _reason_never_prompted(voice, role, known)
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
            blank = replace(
                blank, option_order=order, menu=_think_twice_menu(frame, item, tuple(shown))
            )
            answers = [(known[n].selected or "", known[n].chosen or "") for n in shown]
            prompt = () if never else render_compare(template, item, answers)
            for temperature in frame.temperatures:
                condition = keyed_condition(
                    replace(blank, temperature=temperature), prompt, parents=parents
                )
                n = frame.replications(temperature)
                yield Ask(condition=condition, first=0, n=n), never


def _reason_never_prompted(voice: Voice, role: Role, known: dict[str, Thought]) -> str | None:
    """Why a comparison can never be asked for; None where it can."""
    if role == "participant" and not known[voice.name].is_there:
        return "no answer of its own"
    if not any(thought.is_there for thought in known.values()):
        return f"no answer of {', '.join(known)}"
    return None


def comparing_roles(frame: AskFrame, voice: Voice) -> tuple[Role, ...]:
    """In which roles a judge compares; one that answered nothing only evaluates.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="think_twice", benchmark="b", path="p")
    >>> one, two = (Voice(name=name, fingerprint="0") for name in "ab")
    >>> frame = AskFrame(index=0, ask=ask, items=(), templates=(), judges=(one, two),
    ...                  responders=(one,))
    >>> comparing_roles(frame, two)
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
    name = voice.name if role == "evaluator_only" else None
    return tuple(one for one in frame.responders if one.name != name)


def _think_twice_menu(frame: AskFrame, item: Item, shown: tuple[str, ...]) -> Menu:
    """What a judge may answer: an option, or for an open question one of the models shown."""
    ids = tuple(option.option_id for option in item.options) or shown
    return Menu(
        labels=tuple(str(place) for place in range(len(ids))),
        option_ids=ids,
        form="correct_answer",
        reader=frame.ask.reader,
    )


def render_select(template: Template, item: Item, *, most: int) -> tuple[Message, ...]:
    """Prompt of the first step: which options are likeliest, and why.

    For an item without options: which answers a model would give.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = tuple(Option(option_id=one, text=one) for one in ("yes", "no"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=options)
    >>> prompt = render_select(load_template("think_twice", "default"), item, most=2)
    >>> "1. no" in prompt[0].content
    True
    """
    stage = "select" if item.options else "open_select"
    return (_think_twice_prompt_message(template, item, stage, candidates=str(most)),)


def render_choose(
    template: Template, item: Item, *, most: int, selected: str
) -> tuple[Message, ...]:
    """Conversation of the second step: the first one, what was selected, and which one it is.

    Examples
    --------
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = tuple(Option(option_id=one, text=one) for one in ("yes", "no"))
    >>> item = Item(item_id="1", benchmark="b", category="c", question="So?", options=options)
    >>> prompt = render_choose(load_template("think_twice", "default"), item, most=2,
    ...                        selected="Option: 1")
    >>> [message.role for message in prompt]
    ['user', 'assistant', 'user']
    """
    stage = "choose" if item.options else "open_choose"
    return (
        *render_select(template, item, most=most),
        Message(role="assistant", content=selected),
        Message(role="user", content=fill(template.text(stage), {})),
    )


def render_compare(
    template: Template, item: Item, answers: Sequence[tuple[str, str]]
) -> tuple[Message, ...]:
    r"""Prompt that shows a judge what models selected and chose, and asks which option is right.

    For an item without options: which model's answer is best.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="Why?")
    >>> answers = [("Candidate: 1", "Final Answer: 1"), ("Candidate: 1", "Final Answer: 1")]
    >>> prompt = render_compare(load_template("think_twice", "default"), item, answers)
    >>> "Model 1:\nCandidate: 1\n\nFinal Answer: 1" in prompt[0].content
    True
    """
    if not answers:
        raise SweepError("no answers to compare", where={"item": item.item_id})
    shown = "\n\n".join(
        f"Model {place}:\n{selected.strip()}\n\n{chosen.strip()}"
        for place, (selected, chosen) in enumerate(answers)
    )
    return (
        _think_twice_prompt_message(
            template, item, "compare" if item.options else "open_compare", answers=shown
        ),
    )


def _think_twice_prompt_message(
    template: Template, item: Item, stage: str, **values: str
) -> Message:
    """The item, then what a step asks, as one user message."""
    form = question_form(item)
    if form == "dialogue":
        raise SweepError("think_twice puts one question, the item is a dialogue",
                         where={"item": item.item_id})  # fmt: skip
    lines = "\n".join(f"{place}. {option.text}" for place, option in enumerate(item.options))
    text = template.text(form if item.options else f"open_{form}")
    asked = fill(text, {**item_placeholders(item), "options": lines})
    return Message(role="user", content=f"{asked}\n\n{fill(template.text(stage), values)}")
