"""A cluster that starts empty: nodes of several sizes join while judges wait, and one is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.fleet import placement
from judgerel_ray.store import RunDirectory, read_errors, read_ledger, scan_judgments, verify_run

pytestmark = [pytest.mark.ray, pytest.mark.slow]
PATIENCE_S = 900.0


@pytest.fixture
def head(cluster: Any) -> Any:
    """A cluster whose only node has no GPU."""
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node)
    cluster.wait_for_nodes(timeout=PATIENCE_S)  # until the head knows that those are gone
    return cluster


def judge(name: str, gpus: int) -> dict[str, Any]:
    return {"name": name, "gpus": gpus, "replicas": 1, "engine_options": {"tokens_per_s": 2000}}


@pytest.fixture
def follow(outside: Callable[..., None]) -> Callable[..., None]:
    """Follow a script while a run goes on, as an autoscaler and a cloud would.

    A script yields what it waits for, a function of the pools and of rows landed; it goes on once
    that is true. Ray starts nodes in the main thread alone, so the fleet's own loop drives it.
    """

    def give(script: Iterator[Callable[..., bool]]) -> None:
        awaited = [next(script)]

        def look(pools: Any, board: Any) -> bool:
            landed = {name: one.landed for name, one in board.judges.items()}
            while awaited[0] is not None and awaited[0](pools, landed):
                awaited[0] = next(script, None)
            return True

        outside(may_send=look)

    return give


def test_judges_of_one_two_and_four_gpus_end_on_a_cluster_that_starts_empty(
    head, follow, write_sweep, tmp_path: Path
):
    """Engines come whole onto nodes as these join, and a node lost in mid-batch loses nothing."""
    path = write_sweep(
        [judge("four", 4), judge("one", 1), judge("two", 2)], n_items=20, replications=40
    )
    order: list[str] = []

    def script() -> Iterator[Callable[..., bool]]:
        yield lambda pools, _: bool(pools["four"].slots)
        order.append("four waits")
        head.add_node(num_cpus=1, num_gpus=1, wait=False)
        yield lambda _, landed: landed["one"] > 0
        order.append("one works")
        doomed = head.add_node(num_cpus=1, num_gpus=2, wait=False)
        yield lambda pools, landed: landed["two"] > 0 and pools["two"].at_work
        order.append("two works")
        head.remove_node(doomed, allow_graceful=False)
        head.add_node(num_cpus=1, num_gpus=4, wait=False)
        yield lambda _, landed: landed["four"] > 0
        order.append("four works")

    follow(script())
    out = str(tmp_path / "run")
    summary = run_sweep(read_sweep(str(path)), out=out, address=head.address)
    assert order == ["four waits", "one works", "two works", "four works"]
    assert (summary.owed, summary.failed, summary.problems) == (0, 0, {})
    directory = RunDirectory.open(out)
    assert [one for one in verify_run(directory) if one.level == "error"] == []
    assert read_errors(directory).is_empty()
    keys = scan_judgments(directory).collect()["key"]
    assert keys.n_unique() == keys.len() == 3 * 20 * (40 + 1)
    sizes = {"one": 1, "two": 2, "four": 4}
    commits = read_ledger(directory).commits
    for one in commits:
        devices = one.engine["visible_devices"].split(",")
        assert len(set(devices)) == sizes[one.judge]  # one process sees them all: one node
    engines = {judge: {c.engine["pid"] for c in commits if c.judge == judge} for judge in sizes}
    assert {judge: len(pids) for judge, pids in engines.items()} == {"one": 1, "two": 2, "four": 1}


def test_an_engine_made_for_a_large_node_is_made_again_over_the_small_ones_that_came(
    head, follow, write_sweep, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(placement, "SPREAD_AFTER_S", 0.0)
    path = write_sweep([judge("two", 2)], n_items=4, replications=5)

    def script() -> Iterator[Callable[..., bool]]:
        yield lambda pools, _: bool(pools["two"].slots)
        for _ in range(2):
            head.add_node(num_cpus=1, num_gpus=1, wait=False)
        yield lambda pools, _: any(slot.ready for slot in pools["two"].slots.values())

    follow(script())
    summary = run_sweep(read_sweep(str(path)), out=str(tmp_path / "run"), address=head.address)
    assert (summary.owed, summary.failed, summary.problems) == (0, 0, {})


def test_nodes_that_die_under_an_engine_coming_up_cost_nothing_but_time(
    head, follow, write_sweep, tmp_path: Path
):
    """Each takes the engine along before it ever ran; the judge gets the next that joins."""
    path = write_sweep([judge("two", 2)], n_items=4, replications=5)
    lost: list[str] = []

    def script() -> Iterator[Callable[..., bool]]:
        yield lambda pools, _: bool(pools["two"].slots)
        for _ in range(2):
            node = head.add_node(num_cpus=1, num_gpus=2, wait=True)
            head.remove_node(node, allow_graceful=False)
            seen = len(lost) + 1
            yield lambda pools, _, seen=seen: pools["two"].start_node_losses == seen
            lost.append(str(node.node_id))
        head.add_node(num_cpus=1, num_gpus=2, wait=False)
        yield lambda _, landed: landed["two"] > 0

    follow(script())
    summary = run_sweep(read_sweep(str(path)), out=str(tmp_path / "run"), address=head.address)
    assert (summary.owed, summary.failed, summary.problems) == (0, 0, {})
    assert len(lost) == 2
