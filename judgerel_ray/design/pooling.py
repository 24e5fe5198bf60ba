"""Asks whose judgments no recorded column would tell apart: reducers would pool them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from judgerel_ray.core import Item, SweepError
from judgerel_ray.design.frame import AskFrame
from judgerel_ray.design.judging import answer_names
from judgerel_ray.design.marks import Mark, answer_mark
from judgerel_ray.design.orders import order_names
from judgerel_ray.design.rating import facets_of
from judgerel_ray.design.responding import respond_settings
from judgerel_ray.protocols import question_form

Settings = Mapping[str, object]


def refuse_pooled(frames: Sequence[AskFrame]) -> None:
    """Refuse asks of one item that differ only in what rows of judgments do not record.

    Their rows would count as replications of one condition, each replication number twice.

    Raises
    ------
    SweepError
        Naming both asks, the judge and the keys that differ.

    Examples
    --------
    >>> refuse_pooled([])
    """
    asked_about = Counter((item.benchmark, item.item_id) for f in frames for item in f.items)
    seen: dict[Mark, tuple[AskFrame, Settings]] = {}
    for frame in (one for one in frames if one.ask.protocol not in ("respond", "think_twice")):
        for item in frame.items:
            if asked_about[item.benchmark, item.item_id] == 1:
                continue
            for mark, settings in _rows(frame, item):
                for voice in frame.judges:
                    first, known = seen.setdefault((voice.name, *mark), (frame, settings))
                    if known != settings:
                        raise _pooled(first, frame, voice.name, item, (known, settings))


def _rows(frame: AskFrame, item: Item) -> Iterator[tuple[Mark, Settings]]:
    """All that rows of an ask record of an item, and what else is in their keys, by its key."""
    ask, form = frame.ask, question_form(item)
    names = answer_names(frame, item)
    orders: Sequence[object] = [(name,) for name in names]
    menu: object = None
    if ask.protocol == "best_of":
        # Numbers of orders are of one set of options: with another they say something else.
        menu = frozenset(names)
        orders = order_names(item, names, n_orders=ask.option_orders, seed=ask.order_seed)
    if ask.protocol == "rating":
        yield from _rating_rows(frame, item, names)
        return
    stage = "turn2" if form == "dialogue" else "answer"
    written = tuple(answer_mark(item, stage, one) for one in respond_settings(frame))
    for template in frame.templates:
        settings: dict[str, object] = {
            "max_tokens": ask.max_tokens,
            "early_stop": ask.early_stop,
            "verdict_logprobs": ask.verdict_logprobs,
            "reader": ask.reader,
            "respond": written,
            "templates": (template.own or template.form, template.texts.get(form)),
        }
        for temperature in frame.temperatures:
            sampling: tuple[object, ...] = (temperature, ask.top_k, ask.top_p)
            if ask.mode == "exact":  # distributions record neither
                sampling = ("exact",)
                settings |= {"top_k": ask.top_k, "exact": ask.exact}
            mark = (ask.protocol, item.benchmark, item.item_id, template.name, *sampling)
            if menu is not None:
                # What is asked on, and how far, is told by the same columns.
                yield (
                    mark,
                    {
                        "responders": (menu, bool(frame.responders)),
                        "adaptive replications": ask.adaptive,
                    },
                )
            for order in orders:
                yield (*mark, order), settings


def _rating_rows(
    frame: AskFrame, item: Item, names: Sequence[str]
) -> Iterator[tuple[Mark, Settings]]:
    """As :func:`_rows`, of ratings."""
    ask = frame.ask
    stage = "turn2" if question_form(item) == "dialogue" else "answer"
    written = tuple(answer_mark(item, stage, one) for one in respond_settings(frame))
    for facet, temperature in product(facets_of(frame), frame.temperatures):
        question, told, scale, texts = facet.wording
        settings: dict[str, object] = {
            "max_tokens": ask.max_tokens,
            "reader": ask.reader,
            "respond": written,
            "criteria": (question, told),
            "scales": scale,
            "templates": (facet.template.own or facet.template.form, texts),
        }
        sampling: tuple[object, ...] = (temperature, ask.top_k, ask.top_p)
        if ask.mode == "exact":  # distributions record neither
            sampling = ("exact",)
            settings |= {"top_k": ask.top_k, "exact": ask.exact}
        for name in names:
            mark = (ask.protocol, item.benchmark, item.item_id, name, *facet.names, *sampling)
            yield mark, settings


def _pooled(
    first: AskFrame, second: AskFrame, judge: str, item: Item, settings: tuple[Settings, Settings]
) -> SweepError:
    """Two asks whose rows are alike."""
    one, two = settings
    differing = [key for key in two if one[key] != two[key]]
    shown = [
        f"{key} ({_shown(one[key])} and {_shown(two[key])})"
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


def _shown(value: object) -> str:
    """A value with the words of TOML."""
    return str(value).lower() if isinstance(value, bool) else str(value)
