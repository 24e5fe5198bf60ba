"""What of a wave is pending is counted without being built twice."""

import pytest

from judgerel_ray.asking.run import pending as pending_module
from judgerel_ray.asking.run.pending import Pending
from judgerel_ray.core import request_key
from judgerel_ray.design import build_wave, count_stages, voices_of
from judgerel_ray.store.ledger import JudgeTotals, Ledger, TokenCounts

ITEMS = [
    f'{{"item_id": "q{i}", "question": "Larger {i}?", "options": ["one", "two"]'
    + (', "turns": ["Larger?", "And newer?"]' if i % 3 == 0 else "")
    + "}"
    for i in range(9)
]


class Nobody:
    """Lands nothing."""

    def __init__(self):
        self.never = []

    def add(self, ask, reason):
        self.never.append((ask, reason))

    def land(self):
        """Nothing waits."""


@pytest.fixture
def built(monkeypatch):
    """Names of the items built, each time one is."""
    names = []

    def counted(*given, **named):
        for work in build_wave(*given, **named):
            names.append(work.item_id)
            yield work

    monkeypatch.setattr(pending_module, "build_wave", counted)
    return names


def ledger(landed):
    rows = sum(n for ranges in landed.values() for _, n in ranges)
    totals = JudgeTotals(rows=rows, outcomes={}, tokens=TokenCounts(), seconds=0.0)
    return Ledger(
        session=1,
        commits=(),
        landed=landed,
        judges={"j": totals} if rows else {},
        duplicates={},
    )


def pending(resolved, *, wave=0, landed=None, texts=None, judge="j"):
    asked = tuple(
        (frame, voice)
        for frame in resolved.frames
        if wave < frame.n_waves
        for voice in voices_of(frame, wave)
        if voice.name == judge
    )
    return Pending(asked=asked, wave=wave, texts=texts or {}, ledger=ledger(landed or {}))


def sent(one):
    return [part for parts in one.asks(Nobody()) for part in parts]


def requests(parts):
    return [
        request_key(part.condition.condition_key, r) for part in parts for r in part.replications
    ]


ASKS = ["temperatures = [1.0, 0.0]\nreplications = 4", "order_seed = 3\nreplications = 6"]


def test_a_fresh_wave_is_counted_without_being_built(sweep, built):
    one = pending(sweep(asks=ASKS, items=ITEMS))
    count = one.count()
    assert built == []
    keys = requests(sent(one))
    assert count == len(keys) == len(set(keys))
    assert len(built) == 2 * len(ITEMS)


def test_only_items_with_pending_requests_are_built_again(sweep, built):
    resolved = sweep(asks=ASKS, items=ITEMS)
    every = sent(pending(resolved))
    whole = {f"q{i}" for i in range(5)}
    landed: dict[str, tuple[tuple[int, int], ...]] = {}
    for part in every:
        if part.condition.item_id in whole:
            end = max((n for _, n in landed.get(part.condition.condition_key, ())), default=0)
            landed[part.condition.condition_key] = ((0, max(end, part.first + part.n)),)
    built.clear()
    one = pending(resolved, landed=landed)
    count = one.count()
    assert len(built) == 2 * len(ITEMS)
    built.clear()
    keys = requests(sent(one))
    done = {request_key(key, r) for key, ((_, n),) in landed.items() for r in range(n)}
    assert set(keys) == set(requests(every)) - done
    assert count == len(keys)
    assert set(built) == {f"q{i}" for i in range(5, 9)}


def test_a_wave_on_landed_answers_is_counted_as_it_is_asked(sweep, built):
    resolved = sweep(
        judges=[(name, "") for name in "jxy"],
        asks=['responders = ["x", "y"]\ntemperatures = [1.0, 0.0]\nreplications = 4'],
        items=ITEMS,
    )
    texts: dict[str, str | None] = {}
    for wave in (0, 1):
        keys = [
            key
            for name in "xy"
            for key in requests(sent(pending(resolved, wave=wave, texts=texts, judge=name)))
        ]
        texts |= dict.fromkeys(keys, "an answer")
    planned = sum(one.requests for one in count_stages(resolved.frames) if one.judge == "j")
    built.clear()
    one = pending(resolved, wave=2, texts=texts)
    assert (one.count(), built) == (planned, [])
    assert len(requests(sent(one))) == planned
    # One answer is missing: its item is blocked, which only building shows.
    del texts[keys[0]]
    assert 0 < pending(resolved, wave=2, texts=texts).count() < planned
