"""What a wave asks one model about one item: candidate answers, and judgments of them.

A prompt and its settings make a condition, whose key and seed follow from what is asked. An answer
takes one turn, or a second one from each first turn that has landed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product

from judgerel_ray.core import (
    Ask,
    Condition,
    Item,
    Message,
    Role,
    Scoring,
    digest,
    request_key,
    seed_base,
)
from judgerel_ray.protocols.ask import AskTable, RespondSettings
from judgerel_ray.protocols.prompts import Template, question_form, render_respond
from judgerel_ray.protocols.replies.forms import answer_frame
from judgerel_ray.protocols.replies.verdicts import stop_strings
from judgerel_ray.protocols.waves.frame import Asked, AskFrame, Texts, Voice


def blank_condition(
    voice: Voice,
    item: Item,
    sampling: AskTable | RespondSettings,
    *,
    protocol: str,
    stage: str,
    role: Role,
    template: Template,
) -> Condition:
    """A condition of this item with everything but its prompt and temperature.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> blank_condition(Voice(name="m", fingerprint="0"), item, RespondSettings(),
    ...                 protocol="respond", stage="answer", role="responder",
    ...                 template=load_template("respond", "default")).responder
    'm'
    """
    return Condition(
        condition_key="",
        seed_base=1,
        judge=voice.name,
        judge_fingerprint=voice.fingerprint,
        benchmark=item.benchmark,
        item_id=item.item_id,
        protocol=protocol,
        stage=stage,
        role=role,
        prompt=(),
        template=template.name,
        temperature=1.0,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        responder=voice.name if role == "responder" else None,
    )


def judging_condition(frame: AskFrame, voice: Voice, item: Item, template: Template) -> Condition:
    """A judge's condition, likewise."""
    ask = frame.ask
    return blank_condition(
        voice, item, ask, protocol=ask.protocol, stage="judge", role="judge", template=template
    )


def keyed_condition(
    condition: Condition, prompt: tuple[Message, ...], *, parents: tuple[str, ...] = ()
) -> Condition:
    """The condition with its prompt, and the key and seed that follow from what is asked.

    The facets that only name things (template, reader) are not in the key; what the judge reads,
    who judges, and what each label stands for are. The seed follows from the same content without
    the stop strings: an early stop gives the verdicts of whole replies.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> blank = blank_condition(
    ...     Voice(name="m", fingerprint="0"), item, RespondSettings(), protocol="respond",
    ...     stage="answer", role="responder", template=load_template("respond", "default"))
    >>> one = keyed_condition(blank, (Message(role="user", content="a"),))
    >>> two = keyed_condition(blank, (Message(role="user", content="b"),))
    >>> one.condition_key == two.condition_key
    False
    """
    content: dict[str, object] = {
        "judge": [condition.judge, condition.judge_fingerprint],
        "item": [condition.benchmark, condition.item_id],
        "protocol": condition.protocol,
        "stage": condition.stage,
        "prompt": [[message.role, message.content] for message in prompt],
        # Two options may hold the same text: then the order shows only here.
        "options": list(condition.menu.option_ids) if condition.menu else [],
        "responder": condition.responder,
        "parents": list(parents),
    }
    if condition.role in ("participant", "evaluator_only"):
        # Where a model's answer is lost, two roles or orders may show the same ones.
        content["role"] = [condition.role, condition.option_order]
    sampling = [condition.temperature, condition.top_k, condition.top_p, condition.max_tokens]
    # Where a reply stops changes what is asked, but not how it begins: with one seed the verdict
    # is the same, so stop strings are in the key and not in the seed.
    # So is what is read beside it.
    seeding = key = digest({**content, "sampling": [*sampling, []]})
    if condition.scoring is not None:
        content["scoring"] = asdict(condition.scoring)
    if condition.scoring is not None or condition.stop:
        key = digest({**content, "sampling": [*sampling, list(condition.stop)]})
    seed = seed_base(seeding)
    return replace(condition, prompt=prompt, condition_key=key, seed_base=seed, parents=parents)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSettings:
    """How an answer is written, and how often."""

    template: Template
    temperature: float
    sampling: AskTable | RespondSettings
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A landed candidate answer: its key ("" where recorded with the item) and text.

    The text is None where the answer can never be had.
    """

    key: str
    text: str | None

    @property
    def parents(self) -> tuple[str, ...]:
        """Keys of the requests that a judgment of it rests on."""
        return (self.key,) if self.key else ()

    def never(self, name: str) -> str | None:
        """Why it can never be judged; None where it can."""
        return f"no answer of {name}" if self.text is None else None


def respond_settings(frame: AskFrame) -> Iterator[AnswerSettings]:
    """Every way in which this ask has answers written."""
    ask = frame.ask
    if not frame.protocol.traits.judges:
        for template, temperature in product(frame.templates, ask.temperatures):
            n = frame.replications(temperature)
            yield AnswerSettings(template=template, temperature=temperature, sampling=ask, n=n)
    elif (respond := frame.respond) is not None and frame.respond_template is not None:
        yield AnswerSettings(
            template=frame.respond_template,
            temperature=respond.temperature,
            sampling=respond,
            n=1,
        )


def first_turns(frame: AskFrame, voice: Voice, item: Item) -> Asked:
    """What a responder is asked first about an item."""
    for settings in respond_settings(frame):
        yield Ask(condition=first_turn(voice, item, settings), first=0, n=settings.n), None


def second_turns(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> Asked:
    """What a responder is asked after each first turn that has landed."""
    for settings in respond_settings(frame):
        first = first_turn(voice, item, settings)
        for r in range(settings.n):
            key = request_key(first.condition_key, r)
            if key in texts:
                text = texts[key]
                never = "its first turn failed" if text is None else None
                second = second_turn(voice, item, settings, key, text)
                yield Ask(condition=second, first=r, n=1), never


def first_turn(voice: Voice, item: Item, settings: AnswerSettings) -> Condition:
    """The condition of an answer, or of the first turn of a dialogue."""
    stage = "turn1" if question_form(item) == "dialogue" else "answer"
    prompt = render_respond(settings.template, item, turn=1)
    return keyed_condition(_responder_prompt_condition(voice, item, stage, settings), prompt)


def second_turn(
    voice: Voice, item: Item, settings: AnswerSettings, parent: str, first_response: str | None
) -> Condition:
    """The condition of the second turn, given the first turn's key and text."""
    blank = _responder_prompt_condition(voice, item, "turn2", settings)
    if first_response is None:
        return keyed_condition(blank, (), parents=(parent,))
    prompt = render_respond(settings.template, item, turn=2, first_response=first_response)
    return keyed_condition(blank, prompt, parents=(parent,))


def written_answer(
    voice: Voice, item: Item, settings: AnswerSettings, texts: Texts
) -> Answer | None:
    """A responder's final text on an item, or None while it has not landed."""
    key = request_key(first_turn(voice, item, settings).condition_key, 0)
    if key not in texts:
        return None
    text = texts[key]
    if question_form(item) != "dialogue":
        return Answer(key=key, text=text)
    final = second_turn(voice, item, settings, key, text)
    final_key = request_key(final.condition_key, 0)
    if final_key not in texts:
        return None
    return Answer(key=final_key, text=texts[final_key])


def _responder_prompt_condition(
    voice: Voice, item: Item, stage: str, settings: AnswerSettings
) -> Condition:
    """A responder's condition: protocol respond for every judge, so that asks share answers."""
    blank = blank_condition(
        voice,
        item,
        settings.sampling,
        protocol="respond",
        stage=stage,
        role="responder",
        template=settings.template,
    )
    return replace(blank, temperature=settings.temperature)


def candidate_answer_to_judge(
    frame: AskFrame, item: Item, name: str, texts: Texts
) -> Answer | None:
    """One candidate answer: recorded with the item, or landed by a responder."""
    if not frame.responders:
        text = next(option.text for option in item.options if option.option_id == name)
        return Answer(key="", text=text)
    voice = next(voice for voice in frame.responders if voice.name == name)
    settings = next(respond_settings(frame))
    return written_answer(voice, item, settings, texts)


def over_temperatures(
    frame: AskFrame, blank: Condition, prompt: tuple[Message, ...], parents: tuple[str, ...]
) -> list[Ask]:
    """One ask for each temperature; all of them share the prompt."""
    ask = frame.ask
    if ask.mode == "exact":
        return [_explored_prompt_request(frame, blank, prompt, parents)]
    stop = stop_strings(blank.menu) if ask.early_stop and blank.menu is not None else ()
    made = []
    for temperature in frame.temperatures:
        condition = replace(
            blank,
            temperature=temperature,
            stop=stop,
            scoring=Scoring(kind="verdict") if ask.verdict_logprobs else None,
        )
        keyed = keyed_condition(condition, prompt, parents=parents)
        n = frame.replications(temperature)
        made.append(Ask(condition=keyed, first=frame.first, n=n))
    return made


def _explored_prompt_request(
    frame: AskFrame, blank: Condition, prompt: tuple[Message, ...], parents: tuple[str, ...]
) -> Ask:
    """The one request that finds the verdict's distribution at every temperature."""
    ask, exact = frame.ask, frame.ask.exact
    if exact is None or blank.menu is None:
        raise ValueError("_explored: the ask must be of mode exact")
    scoring = Scoring(
        kind="tree",
        start=answer_frame(blank.menu.form)[0] if exact.forced else "",
        temperatures=ask.temperatures,
        undecided=exact.undecided,
        passes=exact.passes,
        draws=exact.draws,
    )
    condition = replace(blank, stage="exact", role="scorer", temperature=1.0, scoring=scoring)
    return Ask(condition=keyed_condition(condition, prompt, parents=parents), first=0, n=1)
