"""What an ask asks, known before any prompt is written: its marks, and how many requests it makes.

A mark is all that makes two requests the same but the judge. Asks are held against each other by
their marks, and what several of them share is asked and counted once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judgerel_ray.core import Item
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.prompts import question_form
from judgerel_ray.protocols.waves.frame import AskFrame, FrameKey, StageCount, Voice
from judgerel_ray.protocols.waves.work import AnswerSettings as AnswerSettings
from judgerel_ray.protocols.waves.work import respond_settings


def answer_mark(item: Item, stage: str, settings: AnswerSettings) -> FrameKey:
    """What an answer is asked as; two with one mark are one request, whichever asks want them."""
    texts = settings.template.texts
    wording = {
        "answer": (texts.get(question_form(item)),),
        "turn1": (texts.get("question"),),
        "turn2": (texts.get("question"), texts.get("dialogue")),
    }[stage]
    how = settings.sampling
    sampling = (settings.temperature, how.top_k, how.top_p, how.max_tokens)
    return (item.benchmark, item.item_id, stage, *wording, *sampling)


def origin_of(frame: AskFrame, item: Item) -> tuple[FrameKey, ...]:
    """How the answers that an ask has judged are written."""
    stage = "turn2" if question_form(item) == "dialogue" else "answer"
    return tuple(answer_mark(item, stage, one) for one in respond_settings(frame))


def recorded_sampling(ask: AskTable, temperature: float) -> tuple[FrameKey, dict[str, object]]:
    """How a row says that it was sampled, and what of it no row says."""
    if ask.mode == "exact":  # distributions record neither
        return ("exact",), {"top_k": ask.top_k, "exact": ask.exact}
    return (temperature, ask.top_k, ask.top_p), {}


def count_stages(frames: Sequence[AskFrame]) -> tuple[StageCount, ...]:
    """Conditions and requests of every stage of the asks of a sweep.

    Answers that several asks share are asked once, and counted with the first of them; so are
    judgments in an order that two order seeds draw alike. Conditions
    of a second turn are counted one for each first turn, as their prompts differ.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Option
    >>> from judgerel_ray.protocols import load_template
    >>> options = tuple(Option(option_id=x, text=x) for x in "abc")
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p", replications=100,
    ...                temperatures=(1.0, 0.75, 0.5, 0.25, 0.0))
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("best_of", "default"),))
    >>> [count.requests for count in count_stages([frame])]
    [401]
    """
    counts: list[StageCount] = []
    written: dict[FrameKey, int] = {}
    judged: dict[FrameKey, int] = {}
    for frame in frames:
        counts += frame.protocol.counts(frame, written, judged)
    return tuple(counts)


@dataclass(slots=True)
class _Tally:
    """Counts of one stage while they are added up."""

    items: set[str] = field(default_factory=set)
    conditions: int = 0
    requests: int = 0
    requests_at_most: int = 0

    def stage(self, frame: AskFrame, voice: Voice, wave: int, role: str, stage: str) -> StageCount:
        """Give them as what a stage of an ask makes of a judge."""
        return StageCount(
            ask=frame.index,
            judge=voice.name,
            role=role,
            stage=stage,
            wave=wave,
            items=len(self.items),
            conditions=self.conditions,
            requests=self.requests,
            requests_at_most=self.requests_at_most,
        )


def answer_counts(
    frame: AskFrame, wave: int, voice: Voice, written: dict[FrameKey, int]
) -> Iterator[StageCount]:
    """Count what a wave adds to the answers that `written` counts by mark."""
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
        tally.requests_at_most = tally.requests
        yield tally.stage(frame, voice, wave, "responder", stage)


def judge_count(frame: AskFrame, voice: Voice, judged: dict[FrameKey, int]) -> StageCount:
    """Count what the judges' stage adds to the judgments that `judged` counts by mark."""
    tally = _Tally()
    per_prompt = sum(frame.replications(temperature) for temperature in frame.temperatures)
    at_most = sum(frame.most_replications(temperature) for temperature in frame.temperatures)
    n_templates, n_temperatures = len(frame.templates), len(frame.temperatures)
    for item in frame.items:
        if (item.benchmark, item.item_id) in frame.order_draws:
            _add_shared(tally, frame, voice, item, judged)
            continue
        shown = frame.protocol.n_shown(frame, item)
        tally.items.add(item.item_id)
        tally.conditions += shown * n_templates * n_temperatures
        tally.requests += shown * n_templates * per_prompt
        tally.requests_at_most += shown * n_templates * at_most
    role, stage = ("scorer", "exact") if frame.ask.mode == "exact" else ("judge", "judge")
    return tally.stage(frame, voice, frame.respond_waves, role, stage)


def _add_shared(
    tally: _Tally, frame: AskFrame, voice: Voice, item: Item, judged: dict[FrameKey, int]
) -> None:
    """Count an item whose orders another ask draws too: what coincides is asked once."""
    for mark, _, n, at_most in frame.protocol.marks(frame, item):
        named = (voice.name, *mark)
        before = judged.get(named, 0)
        if n > before:
            judged[named] = n
            tally.items.add(item.item_id)
            tally.conditions += before == 0
            tally.requests += n - before
            # Asks that may share an order have one rule: beyond it nothing is added later.
            tally.requests_at_most += at_most - before
