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


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """Whether an ask can answer a question, why, and what a change would cost where it cannot."""

    ask: int
    question: str
    is_known: bool
    because: str
    change: str
    requests: int


def answers_of(frames: Sequence[AskFrame], counts: Sequence[StageCount]) -> tuple[KnownAnswer, ...]:
    """Say of each ask that has verdicts what they will show.

    Examples
    --------
    >>> answers_of([], [])
    ()
    """
    return tuple(
        KnownAnswer(frame.index, *answer)
        for frame in frames
        if frame.protocol.traits.judges and not frame.protocol.traits.makes_matrices
        for answer in _planned_answers_of_ask(frame, [c for c in counts if c.ask == frame.index])
    )


def _planned_answers_of_ask(
    frame: AskFrame, counts: Sequence[StageCount]
) -> Iterator[tuple[str, bool, str, str, int]]:
    """What one ask will show."""
    ask, traits, items = frame.ask, frame.protocol.traits, frame.items
    judged = [count for count in counts if count.wave == frame.n_waves - 1]
    requests, conditions = (
        sum(getattr(count, name) for count in judged) for name in ("requests", "conditions")
    )
    warm = sum(temperature > 0 for temperature in ask.temperatures)
    n, key = ask.first_replications, "replications"
    if ask.mode == "exact":
        n, because = 2, "the probability of every verdict is read"
    elif not warm:
        n, key, warm = ask.repeat_greedy, "repeat_greedy", len(ask.temperatures)
        because = f"temperature 0 is asked {n} times" if n > 1 else "temperature 0 is asked once"
    else:
        because = f"every prompt is asked {n} times" if n > 1 else "one replication"
    more = conditions * warm // len(ask.temperatures) * (REPLICATIONS - 1)
    yield "repeatability", n > 1, because, f"{key} = {REPLICATIONS}", more
    if traits.compares:
        n = ask.option_orders
        because = "one order" if n == 1 else f"{n} orders of the options"
        yield "position bias", n > 1, because, "option_orders = 2", requests
    n, first = len(ask.templates), ask.templates[0]
    paraphrased = "paraphrase" in {*shipped_templates(frame.protocol)} - {first}
    change = f'templates = ["{first}", "{"paraphrase" if paraphrased else "FOLDER"}"]'
    because = "one template" if n == 1 else f"{n} templates"
    yield "the effect of wording", n > 1, because, change, requests
    if frame.responders or traits.models_answer:
        return
    what, none = "ratings by people", "no label by a person"
    change = "--labels FILE when you measure"
    n = sum(bool(item.ratings) for item in items)
    if traits.has_right_option:
        n, what, none = sum(item.gold is not None for item in items), "gold", "no gold"
        change = f"a column gold, or {change},"
    because = f"{what} of {n:,} of {count_of(len(items), 'item')}" if n else none
    yield "accuracy", n > 0, because, change, 0


def answer_lines(answers: Sequence[KnownAnswer]) -> list[str]:
    """Answers as lines: what will be known in one, then each question that stays open.

    Asks are named where they differ.

    Examples
    --------
    >>> cost = "option_orders = 2", 400
    >>> answer_lines([KnownAnswer(0, "position bias", False, "one order", *cost)])
    ['one order: position bias stays unknown; option_orders = 2 costs 400 more requests']
    """
    known: dict[str, list[KnownAnswer]] = {}
    unknown: dict[tuple[str, str, str], list[KnownAnswer]] = {}
    for one in answers:
        if one.is_known:
            known.setdefault(one.question, []).append(one)
        else:
            unknown.setdefault((one.question, one.because, one.change), []).append(one)
    shown = []
    for question, same in known.items():
        why = same[0].because if len({one.because for one in same}) == 1 else ""
        why = ": ".join(filter(None, (_asks_of_planned_answers(same, answers), why)))
        shown.append(f"{question} ({why})" if why else question)
    lines = [f"it will show {', '.join(shown)}"] if shown else []
    for (question, because, change), same in unknown.items():
        n = sum(one.requests for one in same)
        cost = f"costs {count_of(n, 'more request')}" if n else "costs no request"
        line = f"{because}: {question} stays unknown; {change} {cost}"
        lines.append(": ".join(filter(None, (_asks_of_planned_answers(same, answers), line))))
    return lines


def _asks_of_planned_answers(some: Sequence[KnownAnswer], answers: Sequence[KnownAnswer]) -> str:
    """The asks that some answers are of; empty where others have no such question."""
    asks = {one.ask for one in some}
    if asks == {one.ask for one in answers if one.question == some[0].question}:
        return ""
    return ", ".join(f"ask[{ask}]" for ask in sorted(asks))
