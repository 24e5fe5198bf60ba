"""Ray: joining or starting a cluster, what it has room for, and making judge actors on it.

What a machine has for a cluster of its own, and which keys nodes have, is checked before any start.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from judgerel_ray.core import (
    EngineError,
    EngineLost,
    EngineStartError,
    JudgeRelError,
    SweepError,
    count_of,
)
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.openai.engine import check_key
from judgerel_ray.engines.vllm.arguments import engine_environment
from judgerel_ray.fleet.address import HINT, probe_cluster, wanted_address
from judgerel_ray.fleet.engine_log import explain_death, short_notices
from judgerel_ray.fleet.judge_actor import JudgeActor, JudgeSpec

# Settings of the engine's own that a driver may set and that actors on other nodes must see too.
# Secrets (HF_TOKEN and the like) are not passed: they would stand in the job's description.
PASSED_PREFIXES = ("VLLM_", "HF_HOME", "HF_HUB_", "JUDGEREL_", "TRANSFORMERS_OFFLINE", "NCCL_")
SECRET_MARKS = ("TOKEN", "KEY", "SECRET", "PASSWORD", "ACCESS", "CREDENTIAL")
OF_ONE_HOST = frozenset({"VLLM_HOST_IP", "VLLM_PORT", "VLLM_DP_MASTER_IP", "VLLM_DP_MASTER_PORT"})
NEVER_RAN = "The actor never ran"
LOOK_S = 60.0  # for a node to say which variables it lacks
MAX_CONCURRENCY = 64  # leases, recalls and pings of one actor on its event loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a cluster has: totals, and the GPUs of each node that has any.

    ``largest_type`` is how many GPUs the largest node has that its autoscaler may add, where it
    has one that says so.
    """

    cpus: float
    gpus: float
    nodes: tuple[int, ...] = ()
    largest_type: int = 0

    @property
    def gpus_of_largest_node(self) -> int:
        """The most GPUs that one engine can have without spreading over nodes."""
        return max(self.nodes, default=0)

    def layout(self, engine: EngineSpec, *, spread: bool) -> tuple[int, ...]:
        """GPUs that an engine takes of a node at a time: whole, in its stages, or one by one.

        One that fits on the largest node stays whole. A larger one is laid out in the stages of
        its pipeline; without a pipeline it waits for a larger node, unless it may be `spread`.

        Examples
        --------
        >>> room = Capacity(cpus=8, gpus=6, nodes=(3, 3))
        >>> engine = EngineSpec(name="j", engine="vllm", model="m", gpus=4)
        >>> room.layout(engine, spread=False), room.layout(engine, spread=True)
        ((4,), (1, 1, 1, 1))
        >>> room.layout(replace(engine, pipeline_parallel_size=2), spread=False)
        (2, 2)
        """
        if not engine.gpus:
            return ()
        if not self.nodes or engine.gpus <= self.gpus_of_largest_node:
            return (engine.gpus,)
        if engine.pipeline_parallel_size > 1:
            return engine.stages
        return (1,) * engine.gpus if spread else (engine.gpus,)

    def holds(self, pieces: Collection[int]) -> bool:
        """Whether pieces of so many GPUs each fit side by side, each whole on one node."""
        left = list(self.nodes)
        for size in sorted(pieces, reverse=True):
            # Largest first into the fullest node that takes it: no choice is better where sizes
            # divide one another, as 1, 2, 4 and 8 do.
            place = min(
                (at for at, n in enumerate(left) if n >= size), key=left.__getitem__, default=None
            )
            if place is None:
                return False
            left[place] -= size
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorHandle:
    """A judge actor and the placement group that holds its GPUs, where there is one."""

    actor: Any
    group: Any = None
    placed: Any = None
    """Comes back once the actor is on a node."""


@contextmanager
def connected(address: str | None) -> Iterator[bool]:
    """Join the cluster at `address`, or start one here; leave it at the end.

    Without an address the environment's ``RAY_ADDRESS`` counts (a submitted job has it), and
    without that a cluster is started on this machine and ends with the block. A process that is
    already connected stays so.

    Effects: what a driver that was killed still asked of the autoscaler of a cluster is taken
    back, for Ray itself never forgets it. (Ray keeps one such demand a cluster: of two runs on
    one, the later one's counts.)

    Yields
    ------
    bool
        Whether the cluster is this machine alone and cannot grow.

    Raises
    ------
    SweepError
        If it is no address.
    EngineStartError
        If no cluster answers.
    """
    import ray

    if ray.is_initialized():
        yield _is_started_here()
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    wanted = wanted_address(address)
    probe_cluster(address)
    try:
        _join_ray_cluster(wanted)
        if wanted:
            demand([])
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        ray.shutdown()
        raise _no_ray_cluster_error(error, wanted) from error
    try:
        with terminated_as_interrupted(), short_notices():
            yield not wanted
    finally:
        ray.shutdown()


def _join_ray_cluster(wanted: str | None) -> None:
    """Connect this process to the cluster that is wanted, or start one here."""
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if wanted:
            ray.init(address=wanted, **quiet)
            return
        # Ray lowers its workers' priority by 15; here they are the work, not its background.
        os.environ.setdefault("RAY_worker_niceness", "0")
        ray.init(address="local", include_dashboard=False, **quiet)
    except Exception as error:  # a bare one is raised where a node is slow to start
        ray.shutdown()
        raise _no_ray_cluster_error(error, wanted) from error


def _no_ray_cluster_error(error: Exception, wanted: str | None) -> EngineStartError:
    """What is said where Ray does not start, or its cluster cannot be joined."""
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return EngineStartError(
        f"no Ray cluster: {first}", where={"address": wanted or "local"}, hint=HINT
    )


def _is_started_here() -> bool:
    """Whether the cluster that this process is connected to is one that it started.

    One that was there may grow, whatever it has now; one of a process's own has no autoscaler.
    """
    from ray._private import worker

    node = worker._global_node
    return node is not None and bool(node.is_head())


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM (a scheduler's or a job's stop) end engines and session as Ctrl-C does.

    Ray's own handler prints a stack trace and leaves at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)


def capacity() -> Capacity:
    """What the cluster has now; it may grow.

    Effects: asks the cluster's head.
    """
    import ray

    total = ray.cluster_resources()
    gpus = (node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node.get("Alive"))
    return Capacity(
        cpus=float(total.get("CPU", 0.0)),
        gpus=float(total.get("GPU", 0.0)),
        nodes=tuple(int(n) for n in gpus if n),
        largest_type=_gpus_of_largest_type(),
    )


def _gpus_of_largest_type() -> int:
    """The most GPUs of a node that the cluster's autoscaler may add, 0 where it says nothing."""
    from ray._private.state import state
    from ray.util.client import ray as client

    config = None if client.is_connected() else state.get_cluster_config()
    groups = () if config is None else config.node_group_configs
    return max((int(g.resources.get("GPU", 0)) for g in groups if g.max_count), default=0)


def in_use() -> Capacity:
    """CPUs and GPUs that are taken, as the cluster's head knows by now; it lags a little behind.

    Effects: asks the cluster's head.
    """
    import ray

    total, free = ray.cluster_resources(), ray.available_resources()
    return Capacity(
        cpus=float(total.get("CPU", 0.0) - free.get("CPU", 0.0)),
        gpus=float(total.get("GPU", 0.0) - free.get("GPU", 0.0)),
    )


def demand(bundles: list[dict[str, int]]) -> None:
    """Tell an autoscaler what the cluster should have room for; without one nothing happens.

    Effects: replaces what this run, or any other, asked for before; an empty list takes it back.
    """
    import ray
    from ray.autoscaler.sdk import request_resources
    from ray.util.client import ray as client

    if client.is_connected():  # a ray:// address: only a process of the cluster can say it
        ray.get(ray.remote(num_cpus=0)(request_resources).remote(bundles=bundles))
        return
    request_resources(bundles=bundles)


def make_actor(
    spec: JudgeSpec, *, name: str, pieces: Sequence[int], judge: type[JudgeActor] = JudgeActor
) -> ActorHandle:
    """Make one judge actor, pinned to its GPUs by Ray.

    An engine in one piece is one actor that holds all of its GPUs, which Ray grants on one node or
    not at all (executor ``mp`` for several: no nested placement, and its death frees all of them).
    Only one in several pieces gets a placement group, of one GPU a bundle as vLLM wants it, and
    Ray's executor.

    Effects: asks the cluster for resources; returns before they are granted.
    Retry: safe; each call makes a new actor.
    """
    gpus = spec.engine.gpus
    executor = "uni" if gpus <= 1 else "mp"
    options: dict[str, Any] = {
        # Restarts are the scheduler's: it must see every death to fence and to find poison.
        "max_restarts": 0,
        "max_task_retries": 0,
        "max_concurrency": MAX_CONCURRENCY,
        "num_gpus": gpus,
        "num_cpus": spec.engine.cpus,
        "name": name,
        "runtime_env": {"env_vars": passed_environment() | engine_environment(spec.engine)},
    }
    group = None
    if len(pieces) > 1:
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        executor = "ray"
        group = placement_group([{"GPU": 1, "CPU": 1}] * gpus, strategy="PACK")
        options["num_gpus"] = 0
        options["scheduling_strategy"] = PlacementGroupSchedulingStrategy(
            placement_group=group, placement_group_capture_child_tasks=True
        )
    pinned = replace(spec, engine=replace(spec.engine, executor=executor))
    actor = _remote_actor_class(judge).options(**options).remote(pinned)  # type: ignore[arg-type]
    return ActorHandle(actor=actor, group=group, placed=actor.__ray_ready__.remote())


def is_placed(handle: ActorHandle) -> bool:
    """Whether an actor is on a node, where it may still load its model; else it waits for one.

    One that went with its node before it ran is on none: its other calls say what became of it.

    Effects: asks Ray, and does not wait.
    """
    import ray

    seen = ray.wait([handle.placed], timeout=0)[0]
    return bool(seen) and not isinstance(result_of(handle.placed), Exception)


@cache
def _remote_actor_class(judge: type[JudgeActor]) -> Any:
    """The actor class, one for all actors: each new one would be taken apart and sent out anew."""
    import ray

    return ray.remote(judge)


def kill_actor(handle: ActorHandle) -> None:
    """End an actor at once and free its GPUs.

    Effects: the process is killed; its engine's children follow it.
    """
    import ray

    ray.kill(handle.actor, no_restart=True)
    if handle.group is not None:
        from ray.util.placement_group import remove_placement_group

        remove_placement_group(handle.group)


def finished(references: Sequence[Any], wait_s: float) -> Sequence[Any]:
    """All calls that have ended, once one has, or none after `wait_s` seconds.

    Effects: waits.
    """
    import ray

    calls = list(references)
    one, _ = ray.wait(calls, num_returns=1, timeout=wait_s)
    return ray.wait(calls, num_returns=len(calls), timeout=0)[0] if one else []


def result_of(reference: Any) -> object:
    """What a call returned, or the error it ended with: the one place that catches everything.

    An error of the house comes back as itself, any other that the call raised as an EngineError;
    an actor that is gone, in whatever way, as EngineLost. A call that ended, and whose result went
    with the object store that held it, says nothing of its actor: it is an EngineError.
    """
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, JudgeRelError):
            return cause
        return EngineError(f"{type(cause).__name__}: {cause}")
    except ray.exceptions.ObjectLostError as error:
        return EngineError(f"its result was lost with an object store: {type(error).__name__}")
    except Exception as error:  # noqa: BLE001  every way an actor can be gone is settled the same
        # Ray says first that an actor died and last of what, but for one that it never got to run.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        lines = [line for line in lines if not line.startswith(NEVER_RAN)] or lines
        last = explain_death(lines[-1]) if lines else "no reason given"
        return EngineLost(f"{type(error).__name__}: {last}")


def passed_environment() -> dict[str, str]:
    """Engine settings of this process that actors must share, secrets left out."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(PASSED_PREFIXES)
        and name not in OF_ONE_HOST
        and not any(mark in name for mark in SECRET_MARKS)
    }


def gpus_here() -> int:
    """GPUs that a cluster started on this machine will count, as Ray detects them.

    Effects: asks the accelerators' drivers.
    """
    from ray._private.accelerators import get_accelerator_manager_for_resource

    manager = get_accelerator_manager_for_resource("GPU")
    if manager is None:
        return 0
    n = int(manager.get_current_node_num_accelerators())
    visible = manager.get_current_process_visible_accelerator_ids()
    return n if visible is None else min(n, len(visible))


def check_gpus(wanted: Mapping[str, int], address: str | None) -> None:
    """Refuse a run whose every judge needs more GPUs than this machine has.

    Beside a judge that can be asked the others are given up by themselves, as any judge whose
    engine cannot start. Another cluster may grow, and one that this process is connected to is what
    it is: there the judges wait.
    """
    if not any(wanted.values()) or wanted_address(address) is not None or is_connected():
        return
    here = gpus_here()
    short = {name: n for name, n in wanted.items() if n > here}
    if len(short) == len(wanted):
        name, most = max(short.items(), key=lambda pair: pair[1])
        others = f" (and {count_of(len(short) - 1, 'more judge')})" if len(short) > 1 else ""
        raise SweepError(
            f"judge needs {count_of(most, 'GPU')}, this machine has {here}{others}",
            where={"judge": name},
            hint="gpus = 0 for the CPU, or --address of a cluster",
        )


def check_judge_keys(specs: Sequence[EngineSpec], address: str | None) -> None:
    """Refuse a run on this machine alone whose judges' keys are not in the environment.

    Actors of another cluster have an environment of their own, and look there when they start.
    """
    if wanted_address(address) is None:
        for spec in specs:
            if spec.engine == "openai":
                check_key(spec, os.environ)


def check_keys_there(specs: Sequence[EngineSpec]) -> None:
    """Refuse a run whose judges' keys the cluster's nodes lack, before any judge is asked.

    One node is looked at, where actors might run; each looks for itself again when it starts.

    Effects: runs a small task where a judge has a key. Cost: a second or two.
    """
    keyed = [spec for spec in specs if spec.engine == "openai" and spec.api_key_env]
    if not keyed:
        return
    import ray

    task = ray.remote(num_cpus=0)(unset_variables)
    try:
        unset = ray.get(task.remote([spec.api_key_env for spec in keyed]), timeout=LOOK_S)
    except ray.exceptions.GetTimeoutError:  # no node yet, where a cluster grows
        return
    for spec in keyed:
        check_key(spec, {} if spec.api_key_env in unset else {str(spec.api_key_env): "set"})


def unset_variables(names: Sequence[str]) -> list[str]:
    """Name those environment variables of this process that are not set, or hold nothing.

    Examples
    --------
    >>> unset_variables(["PATH", "NO_SUCH_VARIABLE"])
    ['NO_SUCH_VARIABLE']
    """
    return [name for name in names if not os.environ.get(name, "").strip()]


def is_connected() -> bool:
    """Whether this process is on a cluster already."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())
