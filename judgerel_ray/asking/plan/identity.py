"""The identity of a run: a digest of its asks, its items, and some of its keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from heapq import nsmallest
from itertools import islice
from operator import attrgetter

from judgerel_ray.core import HumanRating, Item, Option, digest, listing_digest
from judgerel_ray.design import AskFrame, build_wave, voices_of
from judgerel_ray.protocols.ask import ONCE_OF_ALL

KEYED_ITEMS = 4
# Of an ask: what these name goes into its identity by content, wherever it lies.
LOCATED_KEYS = frozenset(
    {
        "path",
        "answers",
        "gold_is",
        "sample",
        "judges",
        "responders",
        "templates",
        "criteria",
        "scales",
    }
)
# What these say is of what lands, and asks nothing.
REPORTING_KEYS = frozenset({"readable", "thresholds"})

_ITEM_FIELDS = tuple(field.name for field in fields(Item))
_NESTED = {
    "options": tuple(field.name for field in fields(Option)),
    "ratings": tuple(field.name for field in fields(HumanRating)),
}


def first_keys(frames: tuple[AskFrame, ...]) -> str:
    """Digest of some of the keys: a release that renders or hashes otherwise is another sweep.

    Without it a run begun by another version would ask everything again beside what has landed.
    """
    keys = [
        ask.condition.condition_key
        for frame in frames
        for voice in voices_of(frame, 0)
        for work in islice(build_wave(_sorted_items(frame), 0, voice, {}), KEYED_ITEMS)
        for ask in work.every
    ]
    return digest({"keys": sorted(keys)})


def _sorted_items(frame: AskFrame) -> AskFrame:
    """The frame with its first items by name, whatever the order of the file."""
    items = nsmallest(KEYED_ITEMS, frame.items, key=attrgetter("benchmark", "item_id"))
    return replace(frame, items=tuple(items))


def ask_identity(frame: AskFrame) -> dict[str, object]:
    """What an ask asks, by content: whatever the order and the place of what it names."""
    ask = frame.ask
    plain = {
        key: value
        for key, value in {**ONCE_OF_ALL, **ask.model_dump(mode="json")}.items()
        if key not in LOCATED_KEYS | REPORTING_KEYS
    }
    if ask.respond is not None:
        plain["respond"] = ask.respond.model_dump(mode="json", exclude={"template"})
    return {
        **plain,
        "temperatures": sorted(ask.temperatures),
        "items": items_digest(frame),
        "n_items": len(frame.items),
        "judges": sorted(voice.name for voice in frame.judges),
        **({"first_replication": frame.first} if frame.first else {}),
        "responders": _plan_identity_responders(frame),
        "criteria": {
            one.name: digest({"question": one.question, "told": dict(one.definitions)})
            for one in frame.criteria
        },
        # In full: reducers read from a run what its own scales are.
        "scales": {one.name: {**asdict(one), "labels": list(one.labels)} for one in frame.scales},
        "templates": {template.name: template.sha for template in frame.templates},
        **_plan_identity_forms(frame),
        "respond_template": frame.respond_template.sha if frame.respond_template else None,
    }


def items_digest(frame: AskFrame, gold: Mapping[str, str] | None = None) -> str:
    """Digest of the items of an ask; with other `gold` for some, by item_id."""
    if gold:
        written = (replace(item, gold=gold.get(item.item_id, item.gold)) for item in frame.items)
        return digest_of_items(written)
    return digest_of_items(frame.items)


def digest_of_items(items: Iterable[Item]) -> str:
    """Digest of items in whatever order.

    Examples
    --------
    >>> one, two = (Item(item_id=x, benchmark="b", category="c", question="?") for x in "ab")
    >>> digest_of_items([one, two]) == digest_of_items([two, one])
    True
    """
    # By one name and then the other: a key of both would be a tuple for every item.
    ordered = sorted(items, key=attrgetter("item_id"))
    ordered.sort(key=attrgetter("benchmark"))
    return listing_digest("items", map(_plan_identity_item_content, ordered))


def shows_gold(frame: AskFrame) -> bool:
    """Whether judges of an ask are shown the gold of its items, so that it is part of its keys."""
    return frame.protocol.traits.shows_gold


def _plan_identity_forms(frame: AskFrame) -> dict[str, object]:
    """Forms that templates declare for themselves, in full: how replies were read, and any tie."""
    declared = {
        one.name: asdict(one.declared) for one in frame.templates if one.declared is not None
    }
    return {"forms": json.loads(json.dumps(declared))} if declared else {}


def _plan_identity_responders(frame: AskFrame) -> list[str]:
    """Who answers, in the order asked where that matters."""
    names = [voice.name for voice in frame.responders] or list(frame.recorded)
    return names if frame.protocol.cascade(frame.ask) is not None else sorted(names)


def _plan_identity_item_content(item: Item) -> dict[str, object]:
    """An item as plain content: as ``dataclasses.asdict``, which copies every value first."""
    content = {name: getattr(item, name) for name in _ITEM_FIELDS}
    for name, inner in _NESTED.items():
        content[name] = [{key: getattr(one, key) for key in inner} for one in content[name]]
    for rating in content["ratings"]:
        if rating["responder"] is None:
            del rating["responder"]  # nothing is said by it: the item is what it was
    return content
