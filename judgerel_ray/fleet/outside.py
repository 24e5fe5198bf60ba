"""What a fleet does outside itself: the cluster's actors, the clock, and the store's fences."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgerel_ray import store
from judgerel_ray.fleet import cluster, pool, telemetry
from judgerel_ray.fleet.board import Board
from judgerel_ray.fleet.cluster import ActorHandle, Capacity
from judgerel_ray.fleet.limiting import Providers
from judgerel_ray.fleet.pool import JudgePool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """The world of a fleet, as functions: a test gives its own in place of some or all of them.

    Parameters
    ----------
    capacity, in_use : callables
        What the cluster has, and what of it is taken.
    demand : callable
        Tells an autoscaler what is wanted.
    make_actor, kill_actor, is_placed : callables
        Begin and end a judge's actor, and whether it is on a node yet.
    finished : callable
        Calls of actors that have ended, once one has or some seconds are over.
    result_of : callable
        What such a call returned, or the error it ended with.
    providers : callable
        Makes what keeps the limits of judges behind an API.
    now, sleep : callables
        The clock, in seconds from any beginning.
    close_lease, record_errors, is_superseded : callables
        The store's fences.
    record : callable
        Called with every number of a judge, by the name of its metric.
    span : callable
        Called with every engine that came up and every lease that ended, and how long each took.
    may_send : callable
        The gate: asked with the judges and their board before leases are sent. While it says
        False, nothing more is sent, and what is at work goes on.
    """

    capacity: Callable[[], Capacity] = cluster.capacity
    in_use: Callable[[], Capacity] = cluster.in_use
    demand: Callable[[list[dict[str, int]]], None] = cluster.demand
    make_actor: Callable[..., ActorHandle] = cluster.make_actor
    kill_actor: Callable[[ActorHandle], None] = cluster.kill_actor
    is_placed: Callable[[ActorHandle], bool] = cluster.is_placed
    finished: Callable[[Sequence[Any], float], Sequence[Any]] = cluster.finished
    result_of: Callable[[Any], object] = cluster.result_of
    providers: Callable[[], Providers] = Providers
    now: Callable[[], float] = pool.now
    sleep: Callable[[float], None] = time.sleep
    close_lease: Callable[..., store.CommitRecord | None] = store.close_lease
    record_errors: Callable[..., object] = store.record_errors
    is_superseded: Callable[[store.RunDirectory, int], bool] = store.is_superseded
    record: Callable[[str, str, float], None] = telemetry.record
    span: Callable[..., None] = telemetry.note
    may_send: Callable[[Mapping[str, JudgePool], Board], bool] = lambda _pools, _board: True
