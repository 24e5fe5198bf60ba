"""Judges of a small run in the driver's own process: their actors without Ray.

All share one event loop, in a thread beside the driver's. An actor is of the class that Ray would
run, and a call of it gives a future where Ray gives a reference: no other part of a fleet can tell
them apart. They hold no GPU, and have the driver's environment, memory and end.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Thread
from types import SimpleNamespace

from judgerel_ray.config import Limits
from judgerel_ray.core import EngineError, EngineLost, JudgeRelError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.openai.limits import SharedLimits
from judgerel_ray.fleet.cluster import ActorHandle, Capacity, terminated_as_interrupted
from judgerel_ray.fleet.judge_actor import JudgeActor, JudgeSpec
from judgerel_ray.fleet.limiting import Provider, Providers
from judgerel_ray.fleet.outside import Outside

CALLS = ("start", "run", "ping", "recall", "stop")
ROOM = Capacity(cpus=math.inf, gpus=0.0)  # they take turns on one loop: more of them cost nothing


@contextmanager
def in_process(
    outside: Outside, *, judge: Callable[[JudgeSpec], JudgeActor] = JudgeActor
) -> Iterator[Outside]:
    """Ask judges in this process: as `outside`, but for where actors are.

    Effects: a thread; SIGTERM ends the block as Ctrl-C does. Work that an actor has begun to land
    when the block ends is landed.
    """
    runner, stopping = asyncio.Runner(loop_factory=asyncio.new_event_loop), asyncio.Event()
    loop = runner.get_loop()

    def serve() -> None:
        with runner:
            runner.run(stopping.wait())

    thread = Thread(target=serve, name="judges", daemon=True)
    thread.start()
    try:
        with terminated_as_interrupted():
            yield replace(
                outside,
                capacity=lambda: ROOM,
                in_use=lambda: Capacity(cpus=0.0, gpus=0.0),
                demand=lambda _: None,
                make_actor=partial(judge_here, loop, judge),
                kill_actor=lambda handle: handle.actor.end(),
                is_placed=lambda _: True,
                finished=ended_calls,
                result_of=call_result,
                providers=partial(ProvidersHere, loop),
                record=lambda *_: None,
            )
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()


def judge_here(
    loop: asyncio.AbstractEventLoop,
    judge: Callable[[JudgeSpec], JudgeActor],
    spec: JudgeSpec,
    **_: object,
) -> ActorHandle:
    """Make one judge actor on a loop; its name and pieces are nothing here.

    Retry: safe; each call makes a new actor.
    """
    calls: set[Future[object]] = set()
    made: list[JudgeActor] = []

    async def act(name: str, *arguments: object) -> object:
        if not made:
            made.append(judge(replace(spec, in_process=True)))
        return await getattr(made[0], name)(*arguments)

    def begin(name: str, *arguments: object) -> Future[object]:
        call = asyncio.run_coroutine_threadsafe(act(name, *arguments), loop)
        calls.add(call)
        call.add_done_callback(calls.discard)
        return call

    def end() -> None:
        for call in list(calls):
            call.cancel()
        begin("stop")  # what its engine still holds, where nobody asked it to stop

    methods = {name: SimpleNamespace(remote=partial(begin, name)) for name in CALLS}
    return ActorHandle(actor=SimpleNamespace(**methods, end=end))


def ended_calls(calls: Sequence[Future[object]], wait_s: float) -> Sequence[Future[object]]:
    """All calls that have ended, once one has, or none after `wait_s` seconds.

    Effects: waits.
    """
    return list(wait(calls, timeout=wait_s, return_when=FIRST_COMPLETED).done)


def call_result(call: Future[object]) -> object:
    """What a call returned, or the error it ended with, named as a cluster names it."""
    try:
        return call.result(timeout=0)
    except JudgeRelError as error:
        return error
    except CancelledError:
        return EngineLost("its actor was ended")
    except Exception as error:  # noqa: BLE001  an actor's defect is settled as on a cluster
        return EngineError(f"{type(error).__name__}: {error}")


class ProvidersHere(Providers):
    """The limits of the providers that a run asks, kept on the loop of its judges."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop

    def _joined(self, provider: Provider, limits: Limits) -> SharedLimits:  # noqa: ARG002
        """The limits of a provider, which nobody else shares."""
        return SharedLimits(limits)

    def release(self, spec: EngineSpec, holder: str) -> None:
        """Take back what a judge actor that was ended held."""
        limits = self._actors.get((spec.base_url, spec.api_key_env))
        if limits is not None:
            asyncio.run_coroutine_threadsafe(limits.release(holder), self._loop)

    def close(self) -> None:
        """Forget them."""
        self._actors.clear()
