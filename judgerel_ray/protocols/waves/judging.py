"""What judging waves share: whose answers are judged, and a prompt at every temperature."""

from __future__ import annotations

from dataclasses import replace

from judgerel_ray.core import Ask, Condition, Item, Message, Scoring
from judgerel_ray.protocols.prompts.templates import Template
from judgerel_ray.protocols.replies.forms import answer_frame
from judgerel_ray.protocols.replies.own_forms import TIE
from judgerel_ray.protocols.replies.verdicts import stop_strings
from judgerel_ray.protocols.waves.conditions import ItemWork, blank_condition, keyed_condition
from judgerel_ray.protocols.waves.frame import AskFrame, Texts, Voice
from judgerel_ray.protocols.waves.responding import Answer, respond_settings, written_answer


def verdict_ids(frame: AskFrame, item: Item, template: Template) -> tuple[str, ...]:
    """Name what a verdict of best_of may be: an answer, or a tie where the template declares one.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols import load_template
    >>> from judgerel_ray.core import Option
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?",
    ...             options=(Option(option_id="x", text="1"), Option(option_id="y", text="2")))
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=())
    >>> verdict_ids(frame, item, load_template("best_of", "default"))
    ('x', 'y')
    """
    names = answer_names(frame, item)
    return (*names, TIE) if template.own is not None and template.own.ties else names


def answer_names(frame: AskFrame, item: Item) -> tuple[str, ...]:
    """Whose answers are judged, by option id.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Option
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?",
    ...             options=(Option(option_id="x", text="1"), Option(option_id="y", text="2")))
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> answer_names(AskFrame(index=0, ask=ask, items=(item,), templates=(), judges=()), item)
    ('x', 'y')
    """
    if frame.responders:
        return tuple(voice.name for voice in frame.responders)
    return frame.recorded or tuple(option.option_id for option in item.options)


def per_condition(frame: AskFrame) -> int:
    """How many requests one template and order makes, over all temperatures."""
    return sum(frame.replications(temperature) for temperature in frame.temperatures)


def judged_answer(frame: AskFrame, item: Item, name: str, texts: Texts) -> Answer | None:
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
        return [_explored(frame, blank, prompt, parents)]
    stop = stop_strings(blank.menu) if ask.early_stop and blank.menu is not None else ()
    made = []
    for temperature in frame.temperatures:
        condition = replace(
            blank,
            temperature=temperature,
            top_k=ask.top_k,
            top_p=ask.top_p,
            max_tokens=ask.max_tokens,
            stop=stop,
            scoring=Scoring(kind="verdict") if ask.verdict_logprobs else None,
        )
        keyed = keyed_condition(condition, prompt, parents=parents)
        n = frame.replications(temperature)
        made.append(Ask(condition=keyed, first=frame.first, n=n))
    return made


def _explored(
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
    condition = replace(
        blank,
        stage="exact",
        role="scorer",
        temperature=1.0,
        top_k=ask.top_k,
        top_p=ask.top_p,
        max_tokens=ask.max_tokens,
        scoring=scoring,
    )
    return Ask(condition=keyed_condition(condition, prompt, parents=parents), first=0, n=1)


def singly_work(frame: AskFrame, voice: Voice, item: Item, texts: Texts) -> ItemWork:
    """Each answer by itself, as its protocol puts it: answer x template x temperature."""
    asks: list[Ask] = []
    impossible: list[tuple[Ask, str]] = []
    n_blocked = 0
    protocol = frame.protocol
    for name in answer_names(frame, item):
        answer = judged_answer(frame, item, name, texts)
        if answer is None:
            n_blocked += len(frame.templates) * per_condition(frame)
            continue
        for template in frame.templates:
            menu = protocol.menu(frame, item, template)
            blank = blank_condition(
                voice,
                item,
                protocol=frame.ask.protocol,
                stage="judge",
                role="judge",
                template=template,
            )
            blank = replace(blank, menu=menu, responder=name)
            text = answer.text
            prompt = protocol.prompt(template, item, text or "")
            parents = (answer.key,) if answer.key else ()
            made = over_temperatures(frame, blank, prompt, parents)
            if text is None:
                impossible += [(each, f"no answer of {name}") for each in made]
            else:
                asks += made
    return ItemWork(
        judge=voice.name,
        item_id=item.item_id,
        asks=tuple(asks),
        impossible=tuple(impossible),
        n_blocked=n_blocked,
    )
