"""What a sweep will be able to say of its judges, what not, and what it would cost to know it.

An order, a wording or a repeat that is not asked for leaves a question open that no analysis can
answer afterwards. What one change costs is counted as if it were the only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgerel_ray.core import count_of
from judgerel_ray.design import AskFrame, StageCount
from judgerel_ray.protocols import shipped_templates

REPLICATIONS = 5
"""How often a prompt should be asked, where it is asked once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether a sweep can answer a question, why, and what a change would cost where it cannot."""

    ask: int
    question: str
    is_known: bool
    because: str
    change: str | None = None
    requests: int | None = None


def answers_of(frames: Sequence[AskFrame], counts: Sequence[StageCount]) -> tuple[Answer, ...]:
    """Say of each ask that has verdicts what they will show.

    Examples
    --------
    >>> answers_of([], [])
    ()
    """
    return tuple(
        answer
        for frame in frames
        if frame.protocol.traits.judges and not frame.protocol.traits.makes_matrices
        for answer in _of_ask(
            frame, [c for c in counts if c.ask == frame.index and c.wave == frame.n_waves - 1]
        )
    )


def _of_ask(frame: AskFrame, judged: Sequence[StageCount]) -> Iterator[Answer]:
    """What one ask will show; `judged` counts its verdicts."""
    requests = sum(count.requests for count in judged)
    yield _repeatability(frame, sum(count.conditions for count in judged))
    orders = frame.ask.option_orders
    if frame.protocol.traits.compares:
        yield Answer(
            ask=frame.index,
            question="position bias",
            is_known=orders > 1,
            because="one order" if orders == 1 else f"{orders} orders of the options",
            change="option_orders = 2",
            requests=requests,
        )
    names = frame.ask.templates
    others = [one for one in shipped_templates(frame.protocol) if one not in names]
    other = "paraphrase" if "paraphrase" in others else "FOLDER"
    yield Answer(
        ask=frame.index,
        question="the effect of wording",
        is_known=len(names) > 1,
        because="one template" if len(names) == 1 else f"{len(names)} templates",
        change=f'templates = ["{names[0]}", "{other}"]',
        requests=requests,
    )
    yield from _against_people(frame)


def _repeatability(frame: AskFrame, conditions: int) -> Answer:
    """Whether the same prompt is asked again."""
    ask = frame.ask
    warm = sum(temperature > 0 for temperature in ask.temperatures)
    n, change = ask.first_replications, f"replications = {REPLICATIONS}"
    more = conditions * warm // len(ask.temperatures) * (REPLICATIONS - 1)
    if not warm:
        n, more = ask.repeat_greedy, conditions * (REPLICATIONS - 1)
        change = f"repeat_greedy = {REPLICATIONS}"
    exact, known = ask.mode == "exact", n > 1
    because = "one replication" if warm else "temperature 0 is asked once"
    if exact or known:
        because = f"every prompt is asked {n} times"
        because = "the probability of every verdict is read" if exact else because
    return Answer(
        ask=frame.index,
        question="repeatability",
        is_known=exact or known,
        because=because,
        change=change,
        requests=more,
    )


def _against_people(frame: AskFrame) -> Iterator[Answer]:
    """Whether anybody says which verdicts are right."""
    traits, items = frame.protocol.traits, frame.items
    if frame.responders or frame.protocol.traits.models_answer:
        return
    rated = sum(bool(item.ratings) for item in items)
    gold = sum(item.gold is not None for item in items)
    n, what = (gold, "gold") if traits.has_right_option else (rated, "ratings by people")
    label = "gold" if traits.has_right_option else "label by a person"
    yield Answer(
        ask=frame.index,
        question="accuracy",
        is_known=n > 0,
        because=f"{what} of {n} of {count_of(len(items), 'item')}" if n else f"no {label}",
        change="a column gold, or --labels FILE when you measure,"
        if traits.has_right_option
        else "--labels FILE when you measure",
        requests=0,
    )


def answer_lines(answers: Sequence[Answer]) -> list[str]:
    """Answers as lines: what will be known in one, then each question that stays open.

    Asks are named where they differ.

    Examples
    --------
    >>> one = Answer(ask=0, question="position bias", is_known=False, because="one order",
    ...              change="option_orders = 2", requests=400)
    >>> answer_lines([one])
    ['one order: position bias stays unknown; option_orders = 2 costs 400 more requests']
    """
    known: dict[str, list[Answer]] = {}
    unknown: dict[tuple[str, str, str | None], list[Answer]] = {}
    for one in answers:
        if one.is_known:
            known.setdefault(one.question, []).append(one)
        else:
            unknown.setdefault((one.question, one.because, one.change), []).append(one)
    shown = []
    for question, same in known.items():
        why = same[0].because if len({one.because for one in same}) == 1 else ""
        why = ": ".join(filter(None, (_asks(same, answers), why)))
        shown.append(f"{question}{f' ({why})' * bool(why)}")
    lines = [f"it will show {', '.join(shown)}"] if shown else []
    for (question, because, change), same in unknown.items():
        n = sum(one.requests or 0 for one in same)
        cost = f"costs {count_of(n, 'more request')}" if n else "costs no request"
        line = f"{because}: {question} stays unknown; {change} {cost}"
        lines.append(": ".join(filter(None, (_asks(same, answers), line))))
    return lines


def _asks(some: Sequence[Answer], answers: Sequence[Answer]) -> str:
    """The asks that some answers are of; empty where others have no such question."""
    asks = {one.ask for one in some}
    if asks == {one.ask for one in answers if one.question == some[0].question}:
        return ""
    return ", ".join(f"ask[{ask}]" for ask in sorted(asks))
