"""How many requests asks make, exactly and before any prompt is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judgerel_ray.core import Item
from judgerel_ray.design.comparing import n_conditions
from judgerel_ray.design.confusing import STAGE_ROLES, n_scored
from judgerel_ray.design.frame import AskFrame, Voice, voices_of
from judgerel_ray.design.judging import answer_names
from judgerel_ray.design.marks import Mark, answer_mark, judgment_marks
from judgerel_ray.design.responding import respond_settings
from judgerel_ray.protocols import question_form


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCount:
    """How many requests a stage of an ask makes of one judge; known before anything is asked.

    ``requests`` are made whatever is answered; adaptive replication goes up to
    ``requests_at_most``.
    """

    ask: int
    judge: str
    role: str
    stage: str
    wave: int
    items: int
    conditions: int
    requests: int
    requests_at_most: int


def count_stages(frames: Sequence[AskFrame]) -> tuple[StageCount, ...]:
    """Conditions and requests of every stage of the asks of a sweep.

    Answers that several asks share are asked once, and counted with the first of them; so are
    judgments in an order that two order seeds draw alike. Conditions
    of a second turn are counted one for each first turn, as their prompts differ.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = tuple(Option(option_id=x, text=x) for x in "abc")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> ask = AskTable(protocol="best_of", benchmark="b", path="p", replications=100,
    ...                temperatures=(1.0, 0.75, 0.5, 0.25, 0.0))
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("best_of", "default"),))
    >>> [count.requests for count in count_stages([frame])]
    [401]
    """
    counts: list[StageCount] = []
    written: dict[Mark, int] = {}
    judged: dict[Mark, int] = {}
    for frame in frames:
        if frame.ask.protocol == "think_twice":
            counts += _thinking_counts(frame)
            continue
        for wave in range(frame.respond_waves):
            for voice in voices_of(frame, wave):
                counts += _answer_counts(frame, wave, voice, written)
        if frame.ask.protocol == "confusion":
            counts += [count for voice in frame.judges for count in _confusion_counts(frame, voice)]
        elif frame.ask.protocol != "respond":
            counts += [_judge_count(frame, voice, judged) for voice in frame.judges]
    return tuple(counts)


@dataclass(slots=True)
class _Tally:
    """Counts of one stage while they are added up."""

    items: set[str] = field(default_factory=set)
    conditions: int = 0
    requests: int = 0
    requests_at_most: int = 0


def _answer_counts(
    frame: AskFrame, wave: int, voice: Voice, written: dict[Mark, int]
) -> Iterator[StageCount]:
    """What a wave adds to the answers that `written` counts by mark."""
    tallies: dict[str, _Tally] = {}
    every = tuple(respond_settings(frame))
    for item in frame.items:
        dialogue = question_form(item) == "dialogue"
        if wave == 1 and not dialogue:
            continue
        stage = "turn2" if wave == 1 else "turn1" if dialogue else "answer"
        for settings in every:
            mark = (voice.name, *answer_mark(item, stage, settings))
            before = written.get(mark, 0)
            if settings.n <= before:
                continue
            written[mark] = settings.n
            tally = tallies.setdefault(stage, _Tally())
            tally.items.add(item.item_id)
            tally.requests += settings.n - before
            tally.conditions += settings.n - before if wave == 1 else before == 0
    for stage, tally in tallies.items():
        yield StageCount(
            ask=frame.index,
            judge=voice.name,
            role="responder",
            stage=stage,
            wave=wave,
            items=len(tally.items),
            conditions=tally.conditions,
            requests=tally.requests,
            requests_at_most=tally.requests,
        )


def _confusion_counts(frame: AskFrame, voice: Voice) -> Iterator[StageCount]:
    """The three stages of confusion: a verdict, an assessment for each option, and the matrix."""
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


def _thinking_counts(frame: AskFrame) -> Iterator[StageCount]:
    """The stages of thinking twice: both steps of every model, and the comparisons.

    In a cascade only the first model is asked whatever is answered.
    """
    n_items = len(frame.items)
    n_each = sum(frame.replications(temperature) for temperature in frame.temperatures)
    for wave in range(frame.n_waves):
        stage = "judge" if wave >= frame.respond_waves else ("select", "choose")[wave % 2]
        for voice in voices_of(frame, wave):
            for role, n in n_conditions(frame, voice, wave):
                # Prompts of the second step are one for each reply to the first.
                requests = n if stage == "choose" else n // len(frame.temperatures) * n_each
                later = frame.ask.cascade is not None and wave > 1
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


def _judge_count(frame: AskFrame, voice: Voice, judged: dict[Mark, int]) -> StageCount:
    """What the judges' stage adds to the judgments that `judged` counts by mark."""
    ask = frame.ask
    tally = _Tally()
    per_prompt = sum(frame.replications(temperature) for temperature in frame.temperatures)
    at_most = sum(frame.most_replications(temperature) for temperature in frame.temperatures)
    n_templates, n_temperatures = len(frame.templates), len(frame.temperatures)
    rated = 1
    if ask.protocol == "rating":
        rated = len(frame.criteria) * len(ask.definitions) * len(frame.scales)
    for item in frame.items:
        if (item.benchmark, item.item_id) in frame.order_draws:
            _add_shared(tally, frame, voice, item, judged)
            continue
        shown = ask.option_orders
        if ask.protocol != "best_of":
            shown = len(answer_names(frame, item)) * rated
        tally.items.add(item.item_id)
        tally.conditions += shown * n_templates * n_temperatures
        tally.requests += shown * n_templates * per_prompt
        tally.requests_at_most += shown * n_templates * at_most
    return StageCount(
        ask=frame.index,
        judge=voice.name,
        role="scorer" if ask.mode == "exact" else "judge",
        stage="exact" if ask.mode == "exact" else "judge",
        wave=frame.respond_waves,
        items=len(tally.items),
        conditions=tally.conditions,
        requests=tally.requests,
        requests_at_most=tally.requests_at_most,
    )


def _add_shared(
    tally: _Tally, frame: AskFrame, voice: Voice, item: Item, judged: dict[Mark, int]
) -> None:
    """Count an item whose orders another ask draws too: what coincides is asked once."""
    for mark, _, n, at_most in judgment_marks(frame, item):
        named = (voice.name, *mark)
        before = judged.get(named, 0)
        if n > before:
            judged[named] = n
            tally.items.add(item.item_id)
            tally.conditions += before == 0
            tally.requests += n - before
            # Asks that may share an order have one rule: beyond it nothing is added later.
            tally.requests_at_most += at_most - before
