"""A cluster of several nodes that come and go, with GPUs that are only counted."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import pytest

from judgerel_ray.store import read_errors

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture
def nodes(cluster: Any) -> Any:
    """The cluster with two nodes of two GPUs each."""
    while len(cluster.worker_nodes) < 2:
        cluster.add_node(num_cpus=2, num_gpus=2, wait=False)
    cluster.wait_for_nodes()
    return cluster


class Meanwhile(threading.Thread):
    """Do something once so many rows of so many engines have landed; no lease is sent meanwhile."""

    def __init__(self, sweep, hold_leases, act, *, rows: int, engines: int = 1) -> None:
        super().__init__(daemon=True)
        self.sweep, self.rows, self.engines, self.act = sweep, rows, engines, act
        self.did: object = None
        hold_leases(self._is_held)
        self.start()

    def run(self) -> None:
        self.sweep.wait_for(self.rows)
        while len({one.engine["pid"] for one in self.sweep.commits}) < self.engines:
            time.sleep(0.1)
        self.did = self.act() or True

    def _is_held(self, pools, board) -> bool:
        ready = sum(slot.ready for slot in pools["a"].slots.values())
        if not self.did and ready < self.engines:
            return True  # nobody begins before all are up
        return board.judges["a"].landed >= self.rows and not self.did


def lose_a_node(cluster: Any) -> str:
    node = sorted(cluster.worker_nodes, key=lambda node: node.node_id)[0]
    cluster.remove_node(node, allow_graceful=False)
    return str(node.node_id)


def test_a_node_that_is_lost_costs_nothing_but_time(sweep, undisturbed, nodes, hold_leases):
    one = sweep(n_items=60, replications=60, replicas=4, gpus=1, speed=1500)
    act = partial(lose_a_node, nodes)
    lost = Meanwhile(one, hold_leases, act, rows=one.asked // 4, engines=4)
    summary = one.run(nodes.address)
    lost.join()
    assert lost.did
    assert read_errors(one.directory).is_empty()  # nobody is to blame for a node
    assert (summary.owed, summary.problems) == (0, {})
    seen = {(c.engine["pid"], c.engine["visible_devices"]) for c in one.commits}
    assert len(seen) >= 4
    one.check_whole()
    undisturbed(one)


def test_stages_of_an_engine_larger_than_any_node_get_a_placement_group_over_several(
    sweep, nodes, hold_leases
):
    from ray.util import placement_group_table

    one = sweep(n_items=10, replications=30, replicas=1, gpus=4, speed=500)
    staged = one.file.read_text().replace("gpus = 4", "gpus = 4\npipeline_parallel_size = 2")
    one.file.write_text(staged)
    seen = Meanwhile(one, hold_leases, placement_group_table, rows=30)
    summary = one.run(nodes.address)
    seen.join()
    assert (summary.owed, summary.problems) == (0, {})
    one.check_whole()
    [group] = [g for g in seen.did.values() if g["state"] == "CREATED"]
    assert list(group["bundles"].values()) == [{"CPU": 1.0, "GPU": 1.0}] * 4
    assert len(set(group["bundles_to_node_id"].values())) == 2
