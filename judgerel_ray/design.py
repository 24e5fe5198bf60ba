"""What a sweep asks: its asks checked against each other, then turned into conditions wave by wave.

A wave is a round of requests whose prompts can be written at once. The first waves write candidate
answers where responders are named (one, or two for dialogues), the last asks the judges; confusion
asks them twice, for assessments and for what they make of them, and think_twice first has its
models answer in two steps. All of it is built lazily, one item at a time: a sweep of a million
conditions needs the memory of one item. How often each condition is asked may depend on the
replications before (:func:`goal_of`), and on nothing else, so a run that is killed and goes on
decides the same.

Before anything is asked, asks are refused that name two items alike, ask something twice, or differ
in what no recorded column tells apart: their judgments would be pooled. A form of verdict that a
template declares for itself must be read back from its own example, with every word it may hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import combinations

from judgerel_ray.core import Ask, FormSpec, Item, Menu, SweepError, printable
from judgerel_ray.protocols import (
    TIE,
    Reading,
    Template,
    counted_mention,
    fill_example,
    mention_of,
    read_words,
    refuse_clashes,
)
from judgerel_ray.protocols.replies.thoughts import split_thought
from judgerel_ray.protocols.waves.counts import count_stages
from judgerel_ray.protocols.waves.frame import (
    AskFrame,
    CutText,
    FrameKey,
    ItemWork,
    SettingsMapping,
    StageCount,
    Texts,
    Voice,
    answer_names,
    check_items,
    is_shared,
    shared_items,
    verdict_ids,
    voices_of,
)
from judgerel_ray.protocols.waves.orders import option_orders
from judgerel_ray.stats.intervals.stopping import StoppingRule, more_replications

__all__ = [
    "AskFrame",
    "CutText",
    "Goal",
    "ItemWork",
    "StageCount",
    "Texts",
    "Voice",
    "answer_names",
    "build_wave",
    "check_asks",
    "check_declared_forms",
    "check_items",
    "count_stages",
    "goal_of",
    "is_shared",
    "option_orders",
    "planned_asks",
    "shared_items",
    "verdict_ids",
    "voices_of",
    "with_shared_orders",
]


def check_asks(frames: Sequence[AskFrame]) -> None:
    """Refuse asks that name different items alike, or whose judgments could not be told apart.

    Two asks may share items, and the answers that responders write to them. Judgments they would
    share are a mistake: they would be asked once and counted twice. Only best_of asks with order
    seeds of their own may draw some orders alike; those are asked and counted once, with the first.
    Judgments that differ in what no row records (max_tokens, early_stop, the reader, the
    responders) would be pooled as replications of each other. Two templates of one ask that put
    some of its items in the same words would ask those twice.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols.waves.frame import Voice
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> frames = [AskFrame(index=i, ask=ask_table(protocol="respond", benchmark="b", path="p"),
    ...                    items=(item,), judges=(Voice(name="m", fingerprint="0"),),
    ...                    templates=(load_template("respond", "default"),)) for i in range(2)]
    >>> check_asks(frames)
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: ask[0] and ask[1] ask the same of judge m ...
    """
    _refuse_clashing_items(frames)
    for protocol in dict.fromkeys(frame.protocol for frame in frames):
        protocol.check_together([frame for frame in frames if frame.protocol is protocol])
    _refuse_equal_wordings(frames)
    _refuse_asking_twice(frames)
    refuse_pooled(frames)


def _refuse_clashing_items(frames: Sequence[AskFrame]) -> None:
    """One name, one item; but for gold, which correctness shows as it stands in the file."""
    seen: dict[str, dict[str, Item]] = defaultdict(dict)
    parts = [one.name for one in fields(Item)]

    @cache  # only where items differ: a name beside every item would cost more than most need
    def held(index: int) -> frozenset[int]:
        return frozenset(map(id, frames[index].items))

    for frame in frames if len(frames) > 1 else ():
        for item in frame.items:
            known = seen[item.benchmark].setdefault(item.item_id, item)
            if known == item:
                continue
            first = next(one for i, one in enumerate(frames) if id(known) in held(i))
            shown = first.protocol.traits.shows_gold or frame.protocol.traits.shows_gold
            differ = [one for one in parts if getattr(item, one) != getattr(known, one)]
            if differ != ["gold"] or not shown:
                raise SweepError(
                    f"ask[{first.index}] and ask[{frame.index}] have different items of one name: "
                    f"{' and '.join(differ)} {'differs' if len(differ) == 1 else 'differ'}",
                    where={"benchmark": item.benchmark, "item": item.item_id},
                    hint="give the asks different benchmark names",
                )


def _refuse_equal_wordings(frames: Sequence[AskFrame]) -> None:
    """No two templates of an ask that put items to its judges in the same words."""
    for frame in (frame for frame in frames if frame.protocol.traits.judges):
        first_of = {frame.protocol.first_texts(item): item for item in reversed(frame.items)}
        for forms, item in first_of.items():
            for one, two in combinations(frame.templates, 2):
                if all(one.texts.get(form) == two.texts.get(form) for form in forms):
                    raise SweepError(
                        f"templates {one.name} and {two.name} put the same words to items of the "
                        f"form {forms[0]}: they would be asked once and counted twice",
                        where={"ask": frame.index, "item": item.item_id},
                        hint=f"another {forms[-1]}.txt, or an ask of its own for those items",
                    )


def with_shared_orders(frames: Sequence[AskFrame]) -> tuple[AskFrame, ...]:
    """The frames, each knowing how else its items' options are drawn in the sweep.

    Asks with order seeds of their own number their orders together: where two draws coincide the
    judgments are one, and where they differ their ``option_order`` does.

    Examples
    --------
    >>> with_shared_orders([])
    ()
    """
    drawn: dict[tuple[str, str], dict[int, int]] = {}
    comparing = [frame for frame in frames if frame.protocol.traits.compares]
    if len({frame.ask.order_seed for frame in comparing}) > 1:
        for frame in comparing:
            for item in frame.items:
                seeds = drawn.setdefault((item.benchmark, item.item_id), {})
                seed, n_orders = frame.ask.order_seed, frame.ask.option_orders
                seeds[seed] = max(n_orders, seeds.get(seed, 0))
    shared = {name: tuple(sorted(seeds.items())) for name, seeds in drawn.items() if len(seeds) > 1}
    return tuple(
        replace(
            frame,
            order_draws={
                name: shared[name]
                for item in (frame.items if shared else ())
                if (name := (item.benchmark, item.item_id)) in shared
            },
        )
        for frame in frames
    )


def _refuse_asking_twice(frames: Sequence[AskFrame]) -> None:
    """No judgment that two asks would both make, but for orders that two seeds draw alike."""
    shared = shared_items(frames)
    seen: dict[FrameKey, tuple[AskFrame, str]] = {}
    for frame in frames:
        coinciding: dict[str, tuple[AskFrame, Item]] = {}
        fresh: set[str] = set()
        for item in frame.items:
            if not is_shared(item, shared):
                fresh.update(voice.name for voice in frame.judges)
                continue  # the usual case, and the only one of a large sweep
            for mark, template, *_ in frame.protocol.marks(frame, item):
                for voice in frame.judges:
                    first, known = seen.setdefault((voice.name, *mark), (frame, template))
                    if first is frame:
                        fresh.add(voice.name)
                    elif _asks_may_coincide(first, frame) and known == template:
                        coinciding.setdefault(voice.name, (first, item))
                    else:
                        raise _duplicate_request(first, frame, voice.name, item)
        for name, (first, item) in coinciding.items():
            if name not in fresh:  # every order drawn is one of an ask before
                raise _duplicate_request(first, frame, name, item)


def _asks_may_coincide(first: AskFrame, second: AskFrame) -> bool:
    """Whether two asks draw orders of their own, so that some may be alike by chance.

    Nothing but the options of best_of is shown in an order, and one condition has one rule by which
    it is asked on.
    """
    one, two = first.ask, second.ask
    alike = first.protocol is second.protocol and first.protocol.traits.compares
    return alike and one.order_seed != two.order_seed and one.adaptive == two.adaptive


def _duplicate_request(first: AskFrame, second: AskFrame, judge: str, item: Item) -> SweepError:
    """Two asks that make the same requests."""
    return SweepError(
        f"ask[{first.index}] and ask[{second.index}] ask the same of judge {judge}",
        where={"benchmark": item.benchmark, "item": item.item_id},
        hint="merge the two asks",
    )


def refuse_pooled(frames: Sequence[AskFrame]) -> None:
    """Refuse asks of one item that differ only in what rows of judgments do not record.

    Their rows would count as replications of one condition, each replication number twice.

    Examples
    --------
    >>> refuse_pooled([])
    """
    shared = shared_items(frames)
    seen: dict[FrameKey, tuple[AskFrame, SettingsMapping]] = {}
    for frame in frames:
        for item in frame.items:
            if not is_shared(item, shared):
                continue
            for mark, settings in frame.protocol.rows(frame, item):
                for voice in frame.judges:
                    first, known = seen.setdefault((voice.name, *mark), (frame, settings))
                    if known != settings:
                        raise _pooling_error(first, frame, voice.name, item, (known, settings))


def _pooling_error(
    first: AskFrame,
    second: AskFrame,
    judge: str,
    item: Item,
    settings: tuple[SettingsMapping, SettingsMapping],
) -> SweepError:
    """Two asks whose rows are alike."""
    one, two = settings
    differing = [key for key in two if one[key] != two[key]]
    shown = [
        f"{key} ({_ask_setting_in_toml(one[key])} and {_ask_setting_in_toml(two[key])})"
        if key in ("max_tokens", "early_stop", "reader", "verdict_logprobs")
        else key
        for key in differing
    ]
    return SweepError(
        f"judgments of ask[{first.index}] and ask[{second.index}] by judge {judge} would be "
        f"pooled: they differ only in {', '.join(shown)}, which their rows do not record",
        where={"benchmark": item.benchmark, "item": item.item_id},
        hint="make them two sweeps with a run directory each",
    )


def _ask_setting_in_toml(value: object) -> str:
    """A value with the words of TOML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class _VerdictWord:
    """One word in the verdict's place, and the label it stands for; None for a refusal."""

    word: str
    label: str | None
    menu: Menu


def check_declared_forms(frame: AskFrame) -> None:
    """Refuse forms that are not read back from their own examples, and what they do not allow.

    Every word that may stand in the verdict's place is put there and read: of every number of
    options that items have, and of every item where options go by their texts.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> check_declared_forms(AskFrame(index=0, ask=ask, items=(), templates=(), judges=())) is None
    True
    """
    for template in frame.templates:
        if template.declared is None:
            continue
        where: dict[str, object] = {"ask": frame.index, "template": template.name}
        _refuse_settings(frame, template, where)
        possible = [
            one
            for menu, place in frame.protocol.menus(frame, template, where)
            for one in _possible_words(menu, place)
        ]
        texts = [fill_example(template.declared, one.word) for one in possible]
        spoken = [split_thought(text).reply.strip() for text in texts]
        for one, text, words in zip(
            possible, texts, read_words(spoken, template.declared), strict=True
        ):
            mentions = [mention for each in words if (mention := mention_of(each, one.menu))]
            reading = counted_mention(mentions, one.menu, True)
            stands_for = one.label if reading is None else reading.label
            if reading is None or stands_for != one.label:
                raise _not_read_back(template, one, text, words, reading, where)


def _refuse_settings(frame: AskFrame, template: Template, where: dict[str, object]) -> None:
    """Refuse settings that need the words of a shipped form."""
    ask = frame.ask
    if ask.reader == "schroeder2024":
        raise SweepError(
            f"reader schroeder2024 reads letters and words, template {template.name} declares a "
            "form of its own",
            where=where,
            hint='reader = "first", "last" or "unanimous"',
        )
    for key in ("early_stop", "verdict_logprobs"):
        if getattr(ask, key):
            raise SweepError(
                f"{key} needs a form whose words end at the label, template {template.name} "
                "declares a form of its own, which what follows may still change",
                where=where,
                hint=f"{key} = false",
            )


def _possible_words(menu: Menu, where: Mapping[str, object]) -> list[_VerdictWord]:
    """Every word that may stand in the verdict's place."""
    declared = menu.declared or FormSpec(example="")
    if menu.scale is not None:
        possible = [_VerdictWord(label, label, menu) for label in menu.labels]
    else:
        places = [f"option {place}" for place in range(1, len(menu.labels) + 1)]
        if declared.ties:
            places[-1] = "a tie"
        refuse_clashes((*menu.words, declared.refusals), (*places, "a refusal"), where)
        pairs = zip(menu.words, menu.labels, strict=True)
        possible = [_VerdictWord(word, label, menu) for words, label in pairs for word in words]
    return possible + [_VerdictWord(word, None, menu) for word in declared.refusals]


def _not_read_back(
    template: Template,
    one: _VerdictWord,
    text: str,
    words: list[tuple[str, ...]],
    reading: Reading | None,
    where: dict[str, object],
) -> SweepError:
    """A form that does not read what it declares."""
    declared = template.declared or FormSpec(example="")
    if reading is None:
        read = "nothing"
    else:
        read = " then ".join(repr(" and ".join(each)) for each in words)
        read += f", which is {reading.label or reading.outcome.value}"
    expected = {None: "a refusal", TIE: "a tie"}.get(one.label, f"label {one.label}")
    return SweepError(
        f"the form of template {template.name} cannot be read back from its own example: with "
        f"{one.word!r} for {expected}, {form_text(declared)} reads {read} from {_short(text)!r}",
        where=where,
        hint="a pattern that holds the example's own words, or another example",
    )


def form_text(declared: FormSpec) -> str:
    """Write where a form has its word, in one line.

    Examples
    --------
    >>> form_text(FormSpec(example="", path=("scores", 0, "winner")))
    "json 'scores[0].winner'"
    """
    if declared.pattern:
        return f"pattern '{printable(declared.pattern)}'"
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in declared.path]
    return f"json {''.join(steps).removeprefix('.')!r}"


def _short(text: str, most: int = 200) -> str:
    """A text, cut in the middle where it is long."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def build_wave(
    frame: AskFrame,
    wave: int,
    voice: Voice,
    texts: Texts,
    *,
    only: Container[str] | None = None,
) -> Iterator[ItemWork]:
    """Everything one wave of an ask asks one judge, item by item.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.core import Item
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p", replications=3)
    >>> me = Voice(name="m", fingerprint="0")
    >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
    ...                  templates=(load_template("respond", "default"),))
    >>> [ask.n for work in build_wave(frame, 0, me, {}) for ask in work.asks]
    [3]
    """
    # Asked once: the number of waves reads every item.
    answers, protocol = wave < frame.respond_waves, frame.protocol
    work_of = protocol.answering_work if answers else protocol.judging_work
    for item in frame.items:
        if only is not None and item.item_id not in only:
            continue
        asked = work_of(frame, wave, voice, item, texts)
        if asked is not None:
            yield ItemWork.of(voice, item, asked)


def planned_asks(
    frames: Sequence[AskFrame], texts: Texts, *, at_most: bool = False
) -> Iterator[Ask]:
    """All that asks make, wave by wave, as far as `texts` hold the answers that prompts need.

    Judgments of adaptive asks have the replications of their first round, or, `at_most`, all that
    they may come to.

    Examples
    --------
    >>> list(planned_asks([], {}))
    []
    """
    for frame in frames:
        for wave in range(frame.n_waves):
            grows = at_most and frame.ask.adaptive is not None and wave == frame.judging_wave
            for voice in voices_of(frame, wave):
                for work in build_wave(frame, wave, voice, texts):
                    for ask in work.every:
                        most = frame.most_replications(ask.condition.temperature)
                        yield replace(ask, n=most) if grows else ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How far a condition is asked for now."""

    n: int  # Replications 0 .. n - 1 are asked for.
    # Which block the last of them are: 0 for the first, 1 for the round after it, and so on.
    block: int
    is_reached: bool  # Whether all of them have landed; then no more are wanted.
    # Verdicts at the last look that was whole, by code; all 0 before the first.
    seen: tuple[int, ...] = ()


def goal_of(landed: Mapping[int, int], n_verdicts: int, rule: StoppingRule) -> Goal:
    """Tell how far a condition is asked for, given what landed of it.

    Examples
    --------
    >>> rule = StoppingRule(first=5, most=100, step=5)
    >>> goal_of({0: 1, 1: 1}, 3, rule)
    Goal(n=5, block=0, is_reached=False, seen=(0, 0, 0))
    >>> goal_of(dict.fromkeys(range(6), 1), 3, rule)
    Goal(n=10, block=1, is_reached=False, seen=(0, 5, 0))
    >>> goal_of(dict.fromkeys(range(10), 1), 3, rule)
    Goal(n=10, block=1, is_reached=True, seen=(0, 10, 0))
    """
    counts = [0] * n_verdicts
    whole = tuple(counts)
    n, block, seen = rule.first, 0, 0
    while True:
        while seen < n and seen in landed:
            code = landed[seen]
            if not 0 <= code < n_verdicts:
                raise ValueError(f"goal_of: verdicts are 0 to {n_verdicts - 1}, got {code}")
            counts[code] += 1
            seen += 1
        if seen < n:
            return Goal(n=n, block=block, is_reached=False, seen=whole)
        whole = tuple(counts)
        more = more_replications(counts, rule)
        if not more:
            return Goal(n=n, block=block, is_reached=True, seen=whole)
        n, block = n + more, block + 1
