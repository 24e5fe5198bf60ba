"""Items go to actors unwritten, and are what the driver would have written."""

import asyncio
import json
import pickle
from types import SimpleNamespace

import pytest

from judgerel_ray.asking.run.pending import Pending, Unwriting
from judgerel_ray.core import request_key
from judgerel_ray.design import build_wave, voices_of
from judgerel_ray.engines import prompt_fit
from judgerel_ray.fleet import JudgeSpec, Unwritten, WorkQueue
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.fleet.lease import Lease, item_of, split_leased_ask, write_asks
from judgerel_ray.fleet.pool import sum_units
from judgerel_ray.store import RunDirectory, begin_session, leave_token, read_ledger
from judgerel_ray.store.ledger import JudgeTotals, Ledger, TokenCounts

ITEMS = [
    json.dumps(
        {
            "item_id": f"q{i}",
            "question": f"Larger {i}? {'or ' * i}",
            "gold": "one",
            "options": ["one", "two", "three", "four"][: 3 + i % 2],
            **({"turns": ["Larger?", "And newer?"]} if i % 3 == 0 else {}),
        }
    )
    for i in range(8)
]
PROTOCOLS = {
    "best_of": "temperatures = [1.0, 0.0]\nreplications = 9\noption_orders = 2",
    "exact": 'mode = "exact"',
    "correctness": "replications = 3",
    "confusion": "",
    "rating": 'criteria = ["helpfulness", "logicality"]\nscales = ["likert5", "binary"]',
    "respond": "replications = 5\ntemperatures = [1.0, 0.5]",
    "think_twice": "replications = 2",
}


def ledger(landed):
    rows = sum(n for ranges in landed.values() for _, n in ranges)
    totals = JudgeTotals(rows=rows, outcomes={}, tokens=TokenCounts(), seconds=0.0)
    judges = {"j": totals} if rows else {}
    return Ledger(session=1, commits=(), landed=landed, judges=judges, duplicates={})


def pending(resolved, *, landed=None, request_size=4, fit=None):
    asked = tuple((frame, voices_of(frame, 0)[0]) for frame in resolved.frames)
    landed = ledger(landed or {})
    return Pending(asked=asked, wave=0, texts={}, ledger=landed, request_size=request_size, fit=fit)


def sent(one):
    one.count()
    return [part for parts in one.asks(SimpleNamespace(land=print)) for part in parts]


def requests(parts):
    return sorted(
        (request_key(part.condition.condition_key, r), part.condition.seed_base + r)
        for part in parts
        for r in part.replications
    )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_an_actor_writes_is_what_the_driver_would_have(sweep, name):
    protocol = "best_of" if name == "exact" else name
    judges = [("j", ""), ("k", "")] if name == "think_twice" else [("j", "")]
    alone = name in ("confusion", "think_twice")  # which take no dialogue
    items = [item for item in ITEMS if not (alone and "turns" in item)]
    resolved = sweep(judges=judges, protocol=protocol, asks=[PROTOCOLS[name]], items=items)
    (frame,) = resolved.frames
    voice = voices_of(frame, 0)[0]
    writing = Unwriting(frame, voice, 4, None)
    for work in build_wave(frame, 0, voice, {}):
        item = next(item for item in frame.items if item.item_id == work.item_id)
        there = pickle.loads(pickle.dumps(writing.of(item)))
        asks = tuple(piece for ask in work.asks for piece in split_leased_ask(ask, 4))
        assert there.write() == asks
        assert (there.n, there.n_pieces) == (sum(ask.n for ask in asks), len(asks))
        assert there.units == pytest.approx(sum_units(asks), rel=0.3)
        assert item_of(there) == item_of(asks[0])


@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 32])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_item_of_which_a_pilot_asks_is_written_without_that(sweep, size, place):
    [frame] = sweep(asks=[PROTOCOLS["best_of"]], items=ITEMS).frames
    voice = voices_of(frame, 0)[0]
    for work in build_wave(frame, 0, voice, {}):
        item = next(item for item in frame.items if item.item_id == work.item_id)
        begun = work.asks[place]  # at temperature 0, every second, it is asked once
        there = pickle.loads(pickle.dumps(Unwriting(frame, voice, size, None).of(item, begun)))
        asks = there.write()
        assert (there.n, there.n_pieces) == (sum(ask.n for ask in asks), len(asks))
        every = [piece for ask in work.asks for piece in split_leased_ask(ask, size)]
        key = request_key(begun.condition.condition_key, begun.first)
        assert requests(asks) == [one for one in requests(every) if one[0] != key]


def test_a_fresh_run_writes_no_prompt_of_what_it_sends(sweep):
    asks = ["temperatures = [1.0, 0.0]\nreplications = 6"]
    resolved = sweep(asks=asks, items=ITEMS)
    parts = sent(pending(resolved))
    assert {type(part) for part in parts} == {Unwritten}
    plain = sent(pending(resolved, request_size=None))
    assert requests(write_asks(parts)) == requests(plain)


def test_only_items_of_which_nothing_landed_go_unwritten(sweep):
    resolved = sweep(asks=["temperatures = [1.0, 0.0]\nreplications = 6"], items=ITEMS)
    every = sent(pending(resolved, request_size=None))
    whole = {ask.condition.condition_key: ((0, 9),) for ask in every[:4]}
    partly = {every[4].condition.condition_key: ((2, 3),)}
    parts = sent(pending(resolved, landed=whole | partly))
    unwritten = [part.item.item_id for part in parts if isinstance(part, Unwritten)]
    assert unwritten == [f"q{i}" for i in range(3, 8)]
    left = {ask.condition.item_id for ask in parts if not isinstance(ask, Unwritten)}
    assert left == {"q2"}
    done = {request_key(key, r) for key in whole for r in range(6)}
    done |= {request_key(key, r) for key in partly for r in (2, 3, 4)}
    assert requests(write_asks(parts)) == [one for one in requests(every) if one[0] not in done]


def test_items_of_two_asks_are_written_here_as_they_may_share_requests(sweep):
    asks = ["replications = 2", "order_seed = 3\nreplications = 6"]
    resolved = sweep(asks=asks, items=ITEMS)
    parts = sent(pending(resolved))
    assert not any(isinstance(part, Unwritten) for part in parts)
    keys = [key for key, _ in requests(parts)]
    assert len(keys) == len(set(keys))


def test_an_item_too_long_for_the_context_is_written_here(sweep):
    resolved = sweep(
        judges=[("j", "max_model_len = 2000")],
        asks=["max_tokens = 8"],
        items=[*ITEMS[1:2], ITEMS[5].replace("Larger", "Larger " * 400)],
    )
    parts = sent(pending(resolved, fit=prompt_fit(resolved.specs["j"])))
    assert [type(part).__name__ for part in parts] == ["Unwritten", "Ask"]


def test_an_item_with_more_than_a_lease_holds_is_shared_out(sweep):
    resolved = sweep(asks=["replications = 40"], items=ITEMS[:1])
    (item,) = sent(pending(resolved))
    queue = WorkQueue(source=iter([(item,)]), request_size=4)
    first = queue.take("a", item.units // 2)
    rest = queue.take("b", 10 * item.units)
    assert not any(isinstance(one, Unwritten) for one in (*first, *rest))
    assert first
    assert rest
    assert requests([*first, *rest]) == requests(item.write())
    whole = WorkQueue(source=iter([(item,)]), request_size=4)
    assert whole.take("a", item.units) == (item,)
    assert whole.is_empty


def test_an_actor_lands_an_unwritten_lease(sweep, tmp_path):
    resolved = sweep(asks=["replications = 5"], items=ITEMS)
    work = tuple(sent(pending(resolved)))
    run = RunDirectory.create(str(tmp_path / "run"))
    spec = JudgeSpec(
        engine=resolved.specs["j"],
        run=run,
        session=begin_session(run).number,
        visibility_token=leave_token(run),
    )

    async def story():
        actor = JudgeActor(spec)
        await actor.start()
        lease = Lease(lease=1, attempt=1, judge="j", asks=work)
        receipt = await actor.run(pickle.loads(pickle.dumps(lease)))
        assert (receipt.rows, receipt.landed) == (lease.n_requests, True)
        assert lease.n_pieces == len(lease.written())

    asyncio.run(story())
    landed = read_ledger(run).landed
    asks = write_asks(work)
    keys = {ask.condition.condition_key for ask in asks}
    assert set(landed) == keys
    assert all(landed[key] == ((0, 5),) for key in keys)
