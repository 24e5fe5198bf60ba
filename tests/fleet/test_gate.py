from __future__ import annotations

import asyncio
import random

from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.fleet.gate import AskLoad, TokenGate

NAMES = 1000  # sizes are multiples of it, with the name of who asks added
TOKENS, SEQUENCES = 100 * NAMES, 6


async def turns(n: int = 5) -> None:
    """Let every task that can run do so."""
    for _ in range(n):
        await asyncio.sleep(0)


def load_of(tokens: int, sequences: int) -> AskLoad:
    """Return what an ask of so many tokens lays upon an engine, a third of them its prompt."""
    return AskLoad(prompt=tokens // 3, new=tokens - tokens // 3, sequences=sequences)


class ToldGate(TokenGate):
    """A gate that notes in which order it lets in; who is let in may get to run a step later."""

    def __init__(self, *, tokens: int, sequences: int) -> None:
        super().__init__(tokens=tokens, sequences=sequences)
        self.let_in: list[int] = []

    def _count(self, load: AskLoad, sign: int) -> None:
        super()._count(load, sign)
        if sign == 1:
            self.let_in.append((load.prompt + load.new) % NAMES)


class Crowd:
    """Tasks at a gate, and what is inside by our own account."""

    def __init__(self) -> None:
        self.gate = ToldGate(tokens=TOKENS, sequences=SEQUENCES)
        self.inside: dict[int, tuple[int, int]] = {}
        self.entered: list[int] = []
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.worst: list[str] = []

    def arrive(self, name: int, tokens: int, sequences: int) -> None:
        self.tasks[name] = asyncio.ensure_future(self._visit(name, tokens, sequences))

    async def _visit(self, name: int, tokens: int, sequences: int) -> None:
        await self.gate.enter(load_of(tokens, sequences))
        self.inside[name] = (tokens, sequences)
        self.entered.append(name)
        self._check()

    def leave(self, name: int) -> None:
        tokens, sequences = self.inside.pop(name)
        self.gate.leave(load_of(tokens, sequences))

    def _check(self) -> None:
        tokens = sum(size[0] for size in self.inside.values())
        sequences = sum(size[1] for size in self.inside.values())
        if len(self.inside) > 1 and (tokens > TOKENS or sequences > SEQUENCES):
            self.worst.append(f"{tokens} tokens, {sequences} sequences inside")


@given(seed=st.integers(0, 100_000))
def test_bounds_and_order_hold_and_cancelling_leaks_nothing(seed):
    draw = random.Random(seed)

    async def play() -> tuple[Crowd, list[int]]:
        crowd = Crowd()
        for name in range(40):
            for _ in range(draw.randint(0, 3)):
                step = draw.random()
                if step < 0.5 and crowd.inside:
                    crowd.leave(draw.choice(list(crowd.inside)))
                elif step < 0.8:
                    waiting = [t for n, t in crowd.tasks.items() if not t.done()]
                    for task in draw.sample(waiting, min(len(waiting), draw.randint(0, 3))):
                        task.cancel()
                else:
                    await turns(draw.randint(0, 3))
            size = draw.choice([1, 20, 50, 150]) * NAMES + name
            crowd.arrive(name, size, draw.choice([1, 2, 5, 9]))
        for _ in range(len(crowd.tasks)):  # each round lets in one at least, unless it is stuck
            await turns()
            for name in list(crowd.inside):
                crowd.leave(name)
        assert all(task.done() for task in crowd.tasks.values())
        order = list(crowd.gate.let_in)
        # A gate that leaked would not let these two in side by side.
        for name in list(crowd.inside):
            crowd.leave(name)
        await asyncio.wait_for(crowd.gate.enter(load_of(TOKENS - 1, SEQUENCES - 1)), 5)
        await asyncio.wait_for(crowd.gate.enter(load_of(1, 1)), 5)
        return crowd, order

    crowd, order = asyncio.run(play())
    assert crowd.worst == []
    assert order == sorted(order)
    for task in crowd.tasks.values():
        assert task.cancelled() or task.exception() is None


def test_one_too_large_is_let_in_alone():
    async def play() -> tuple[list[int], list[int]]:
        crowd = Crowd()
        crowd.arrive(0, 10, 1)
        crowd.arrive(1, 1000, 50)
        crowd.arrive(2, 10, 1)
        await turns()
        before = list(crowd.entered)
        crowd.leave(0)
        await turns()
        alone = list(crowd.inside)
        crowd.leave(1)
        await turns()
        assert list(crowd.inside) == [2]
        return before, alone

    before, alone = asyncio.run(play())
    assert before == [0]
    assert alone == [1]


def test_one_cancelled_while_another_leaves_does_no_harm():
    async def play() -> list[int]:
        crowd = Crowd()
        for name in range(3):
            crowd.arrive(name, TOKENS, 1)
        await turns()
        crowd.tasks[1].cancel()
        crowd.leave(0)  # wakes the queue before the cancelled one has run
        await turns()
        return crowd.entered

    assert asyncio.run(play()) == [0, 2]


def test_one_cancelled_after_it_was_let_in_gives_its_room_back():
    async def play() -> list[int]:
        crowd = Crowd()
        for name in range(3):
            crowd.arrive(name, TOKENS, 1)
        await turns()
        crowd.leave(0)  # 1 has its turn, but has not run yet
        crowd.tasks[1].cancel()
        await turns()
        return crowd.entered

    assert asyncio.run(play()) == [0, 2]


def test_a_cancelled_one_at_the_head_does_not_hold_up_those_behind_that_fit():
    async def play() -> list[int]:
        crowd = Crowd()
        crowd.arrive(0, 50, 1)
        crowd.arrive(1, TOKENS, 1)
        crowd.arrive(2, 50, 1)
        await turns()
        crowd.tasks[1].cancel()
        await turns()
        return crowd.entered

    assert asyncio.run(play()) == [0, 2]


def test_replies_shorter_than_they_may_be_make_room_for_those_that_wait():
    """New tokens count in full until replies have told what share of them they take."""
    asks = [AskLoad(prompt=10, new=100, sequences=1) for _ in range(20)]

    async def play() -> list[int]:
        gate = TokenGate(tokens=220, sequences=100)
        inside = 0

        async def visit(load: AskLoad) -> None:
            nonlocal inside
            await gate.enter(load)
            inside += 1

        visits = [asyncio.ensure_future(visit(load)) for load in asks]
        await turns()
        counts = [inside]
        for taken in (10, 190):  # a tenth of what they may take; then all but as much
            gate.learn(allowed=100 if taken == 10 else 300, taken=taken)
            gate.leave(asks[0])
            await turns()
            counts.append(inside)
        for waits in visits:
            waits.cancel()
        return counts

    # 220 = 2 x (10 + 100); 11 x (10 + .1 x 100); then half of 100 each: nobody more.
    assert asyncio.run(play()) == [2, 12, 12]
