"""Asks of a sweep against each other: one name is one item, and nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from judgerel_ray.core import Item, SweepError
from judgerel_ray.design.counting import Mark, answer_mark
from judgerel_ray.design.frame import AskFrame
from judgerel_ray.design.judging import answer_names
from judgerel_ray.design.orders import order_names
from judgerel_ray.design.responding import respond_settings
from judgerel_ray.protocols import question_form


def check_asks(frames: Sequence[AskFrame]) -> None:
    """Refuse asks that name different items alike, or that would make the same requests.

    Two asks may share items, and the answers that responders write to them. Judgments they would
    share are a mistake: they would be asked once and counted twice.

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
    _refuse_asking_twice(frames)


def _refuse_clashing_items(frames: Sequence[AskFrame]) -> None:
    """One name, one item."""
    seen: dict[tuple[str, str], tuple[int, Item]] = {}
    for frame in frames:
        for item in frame.items:
            name = (item.benchmark, item.item_id)
            first = seen.setdefault(name, (frame.index, item))
            if first[1] != item:
                raise SweepError(
                    f"ask[{first[0]}] and ask[{frame.index}] have different items of one name",
                    where={"benchmark": item.benchmark, "item": item.item_id},
                    hint="give the asks different benchmark names",
                )


def _refuse_asking_twice(frames: Sequence[AskFrame]) -> None:
    """No judgment that two asks would both make."""
    asked_about = Counter((item.benchmark, item.item_id) for f in frames for item in f.items)
    seen: dict[Mark, int] = {}
    for frame in frames:
        for item in frame.items:
            if asked_about[item.benchmark, item.item_id] == 1:
                continue  # the usual case, and the only one of a large sweep
            for mark in _request_marks(frame, item):
                for voice in frame.judges:
                    first = seen.setdefault((voice.name, *mark), frame.index)
                    if first != frame.index:
                        raise SweepError(
                            f"ask[{first}] and ask[{frame.index}] ask the same of judge "
                            f"{voice.name}",
                            where={"benchmark": item.benchmark, "item": item.item_id},
                            hint="merge the two asks",
                        )


def _request_marks(frame: AskFrame, item: Item) -> Iterator[Mark]:
    """Everything an ask asks about an item, each with all that is in its key but the judge."""
    ask, form = frame.ask, question_form(item)
    if ask.protocol == "respond":
        stage = "turn1" if form == "dialogue" else "answer"
        for settings in respond_settings(frame):
            yield ("respond", *answer_mark(item, stage, settings))
        return
    names = answer_names(frame, item)
    if ask.protocol == "best_of":
        shown: Sequence[Mark] = order_names(
            item, names, n_orders=ask.option_orders, seed=ask.order_seed
        )
    else:
        shown = [(name,) for name in names]
    stage = "turn2" if form == "dialogue" else "answer"
    origin = [answer_mark(item, stage, one) for one in respond_settings(frame)]
    sampling = (ask.top_k, ask.top_p, ask.max_tokens, ask.early_stop)
    for template in frame.templates:
        for order in shown:
            for temperature in ask.temperatures:
                wording = template.texts.get(form)
                what = (ask.protocol, item.benchmark, item.item_id, wording, *origin)
                yield (*what, order, temperature, *sampling)
