"""Asks of a sweep against each other: one name is one item, and nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import combinations

from judgerel_ray.core import Item, SweepError
from judgerel_ray.design.frame import AskFrame
from judgerel_ray.design.marks import Mark, answer_mark, judgment_marks
from judgerel_ray.design.pooling import refuse_pooled
from judgerel_ray.design.responding import respond_settings
from judgerel_ray.protocols import question_form


def check_asks(frames: Sequence[AskFrame]) -> None:
    """Refuse asks that name different items alike, or whose judgments could not be told apart.

    Two asks may share items, and the answers that responders write to them. Judgments they would
    share are a mistake: they would be asked once and counted twice. Only best_of asks with order
    seeds of their own may draw some orders alike; those are asked and counted once, with the first.
    Judgments that differ in what no row records (max_tokens, early_stop, the reader, the
    responders) would be pooled as replications of each other. Two templates of one ask that put
    some of its items in the same words would ask those twice.

    Raises
    ------
    SweepError
        Naming both asks and the item.

    Examples
    --------
    >>> from judgerel_ray.config import AskTable
    >>> from judgerel_ray.design.frame import Voice
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> frames = [AskFrame(index=i, ask=AskTable(protocol="respond", benchmark="b", path="p"),
    ...                    items=(item,), judges=(Voice(name="m", fingerprint="0"),),
    ...                    templates=(load_template("respond", "default"),)) for i in range(2)]
    >>> check_asks(frames)
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: ask[0] and ask[1] ask the same of judge m ...
    """
    _refuse_clashing_items(frames)
    _refuse_thinking_again(frames)
    _refuse_equal_wordings(frames)
    _refuse_asking_twice(frames)
    refuse_pooled(frames)


def _refuse_clashing_items(frames: Sequence[AskFrame]) -> None:
    """One name, one item; but for gold, which correctness shows as it stands in the file."""
    seen: dict[tuple[str, str], tuple[AskFrame, Item]] = {}
    parts = [one.name for one in fields(Item)]
    for frame in frames:
        for item in frame.items:
            first, known = seen.setdefault((item.benchmark, item.item_id), (frame, item))
            if known == item:
                continue
            shown = "correctness" in (first.ask.protocol, frame.ask.protocol)
            differ = [one for one in parts if getattr(item, one) != getattr(known, one)]
            if differ != ["gold"] or not shown:
                raise SweepError(
                    f"ask[{first.index}] and ask[{frame.index}] have different items of one name: "
                    f"{' and '.join(differ)} {'differs' if len(differ) == 1 else 'differ'}",
                    where={"benchmark": item.benchmark, "item": item.item_id},
                    hint="give the asks different benchmark names",
                )


def _refuse_thinking_again(frames: Sequence[AskFrame]) -> None:
    """One think_twice ask an item: rows do not say how many were selected, or who was compared.

    And one a benchmark where one is a cascade: rows do not say who was to be asked next.
    """
    seen: dict[tuple[str, str], int] = {}
    asked: dict[str, AskFrame] = {}
    for frame in (frame for frame in frames if frame.ask.protocol == "think_twice"):
        for item in frame.items:
            other = asked.setdefault(item.benchmark, frame)
            is_cascade = frame.ask.cascade is not None or other.ask.cascade is not None
            if other is not frame and is_cascade:
                raise SweepError(
                    f"ask[{other.index}] and ask[{frame.index}] think twice about one benchmark, "
                    "one as a cascade: what the cascade did could not be told",
                    where={"benchmark": item.benchmark},
                    hint="another benchmark name, or two sweeps with a run directory each",
                )
            first = seen.setdefault((item.benchmark, item.item_id), frame.index)
            if first != frame.index:
                raise SweepError(
                    f"ask[{first}] and ask[{frame.index}] both think twice about one item: their "
                    "rows could not be told apart",
                    where={"benchmark": item.benchmark, "item": item.item_id},
                    hint="merge the asks, or make them two sweeps with a run directory each",
                )


def _refuse_equal_wordings(frames: Sequence[AskFrame]) -> None:
    """No two templates of an ask that put items to its judges in the same words."""
    for frame in (frame for frame in frames if frame.ask.protocol != "respond"):
        first_of = {_put_in(frame, item): item for item in reversed(frame.items)}
        for forms, item in first_of.items():
            for one, two in combinations(frame.templates, 2):
                if all(one.texts.get(form) == two.texts.get(form) for form in forms):
                    raise SweepError(
                        f"templates {one.name} and {two.name} put the same words to items of the "
                        f"form {forms[0]}: they would be asked once and counted twice",
                        where={"ask": frame.index, "item": item.item_id},
                        hint=f"another {forms[-1]}.txt, or an ask of its own for those items",
                    )


def _put_in(frame: AskFrame, item: Item) -> tuple[str, ...]:
    """Texts of a template that make the first prompt of an item."""
    form = question_form(item)
    if frame.ask.protocol != "think_twice":
        return (form,)
    return (form, "select") if item.options else (f"open_{form}", "open_select")


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
    for frame in frames:
        if frame.ask.protocol == "best_of":
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
                for item in frame.items
                if (name := (item.benchmark, item.item_id)) in shared
            },
        )
        for frame in frames
    )


def _refuse_asking_twice(frames: Sequence[AskFrame]) -> None:
    """No judgment that two asks would both make, but for orders that two seeds draw alike."""
    asked_about = Counter((item.benchmark, item.item_id) for f in frames for item in f.items)
    seen: dict[Mark, tuple[AskFrame, str]] = {}
    for frame in (frame for frame in frames if frame.ask.protocol != "think_twice"):
        coinciding: dict[str, tuple[AskFrame, Item]] = {}
        fresh: set[str] = set()
        for item in frame.items:
            if asked_about[item.benchmark, item.item_id] == 1:
                fresh.update(voice.name for voice in frame.judges)
                continue  # the usual case, and the only one of a large sweep
            for mark, template in _request_marks(frame, item):
                for voice in frame.judges:
                    first, known = seen.setdefault((voice.name, *mark), (frame, template))
                    if first is frame:
                        fresh.add(voice.name)
                    elif _may_coincide(first, frame) and known == template:
                        coinciding.setdefault(voice.name, (first, item))
                    else:
                        raise _asked_twice(first, frame, voice.name, item)
        for name, (first, item) in coinciding.items():
            if name not in fresh:  # every order drawn is one of an ask before
                raise _asked_twice(first, frame, name, item)


def _may_coincide(first: AskFrame, second: AskFrame) -> bool:
    """Whether two asks draw orders of their own, so that some may be alike by chance.

    Nothing but the options of best_of is shown in an order, and one condition has one rule by which
    it is asked on.
    """
    one, two = first.ask, second.ask
    protocols = {one.protocol, two.protocol}
    own_orders = protocols == {"best_of"} and one.order_seed != two.order_seed
    return own_orders and one.adaptive == two.adaptive


def _asked_twice(first: AskFrame, second: AskFrame, judge: str, item: Item) -> SweepError:
    """Two asks that make the same requests."""
    return SweepError(
        f"ask[{first.index}] and ask[{second.index}] ask the same of judge {judge}",
        where={"benchmark": item.benchmark, "item": item.item_id},
        hint="merge the two asks",
    )


def _request_marks(frame: AskFrame, item: Item) -> Iterator[tuple[Mark, str]]:
    """Everything an ask asks about an item: all that is in its key but the judge, the template."""
    if frame.ask.protocol != "respond":
        yield from ((mark, template) for mark, template, *_ in judgment_marks(frame, item))
        return
    stage = "turn1" if question_form(item) == "dialogue" else "answer"
    for settings in respond_settings(frame):
        yield ("respond", *answer_mark(item, stage, settings)), settings.template.name
