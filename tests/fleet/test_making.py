"""How an engine is laid out on a cluster: whole on one node, or spread where none is so large."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgeSpec, cluster
from judgerel_ray.fleet.cluster import Capacity, make_actor
from judgerel_ray.store import RunDirectory


@pytest.fixture
def layout(monkeypatch, run_here: RunDirectory):
    """What Ray is asked for: executor, GPUs and CPUs of the actor, bundles of its group."""
    from ray.util import placement_group, scheduling_strategies

    asked: dict[str, Any] = {}

    def group_of(bundles, *, strategy):
        asked["bundles"], asked["strategy"] = bundles, strategy
        return "group"

    def options(**given):
        asked["options"] = given
        actor = SimpleNamespace(__ray_ready__=SimpleNamespace(remote=lambda: "ready"))
        return SimpleNamespace(remote=lambda spec: asked.setdefault("spec", spec) and actor)

    monkeypatch.setattr(
        cluster, "_remote_actor_class", lambda _judge: SimpleNamespace(options=options)
    )
    # The package has a function of the same name as the module.
    module = sys.modules[placement_group.__module__]
    monkeypatch.setattr(module, "placement_group", group_of)
    monkeypatch.setattr(
        scheduling_strategies, "PlacementGroupSchedulingStrategy", lambda **given: given
    )

    def make(gpus: int, *nodes: int, **keys: Any) -> tuple[Any, ...]:
        asked.clear()
        spec = JudgeSpec(
            engine=EngineSpec(name="j", engine="simulated", model="uniform", gpus=gpus, **keys),
            run=run_here,
            session=1,
            visibility_token="x",
        )
        room = Capacity(cpus=4.0, gpus=float(sum(nodes)), nodes=nodes)
        pieces = room.layout(spec.engine, spread=True)
        handle = make_actor(spec, name="n", pieces=pieces)
        given = asked["options"]
        assert handle.placed == "ready"
        assert (handle.group is None) == ("bundles" not in asked)
        if handle.group is not None:
            strategy = given["scheduling_strategy"]
            assert strategy["placement_group"] == "group"
            assert strategy["placement_group_capture_child_tasks"] is True
            assert asked["strategy"] == "PACK"
        assert (given["max_restarts"], given["max_task_retries"]) == (0, 0)
        executor = asked["spec"].engine.executor
        return executor, given["num_gpus"], given["num_cpus"], asked.get("bundles")

    make.asked = asked
    return make


@pytest.mark.parametrize(
    ("gpus", "nodes", "expected"),
    [
        (0, (), ("uni", 0, 1)),
        (1, (4,), ("uni", 1, 0)),
        (4, (4, 4), ("mp", 4, 0)),
        (2, (1, 8), ("mp", 2, 0)),  # one node is large enough
        # The driver's node, or the whole cluster, has no GPU yet: a node that is large enough may
        # come, while a group of single GPUs would be spread over small ones for good.
        (1, (), ("uni", 1, 0)),
        (4, (), ("mp", 4, 0)),
    ],
)
def test_an_engine_that_fits_on_a_node_is_one_actor_with_all_its_gpus(
    layout, gpus, nodes, expected
):
    assert layout(gpus, *nodes) == (*expected, None)


@pytest.mark.parametrize(("gpus", "nodes"), [(8, (4, 4)), (2, (1, 1)), (16, (8, 8, 8))])
def test_an_engine_larger_than_every_node_is_spread_in_single_gpus(layout, gpus, nodes):
    executor, actor_gpus, actor_cpus, bundles = layout(gpus, *nodes)
    assert (executor, actor_gpus, actor_cpus) == ("ray", 0, 0)
    assert bundles == [{"GPU": 1, "CPU": 1}] * gpus


@pytest.mark.parametrize(
    ("nodes", "whole"), [((4,), False), ((2, 2), False), ((8,), True), ((), True)]
)
def test_stages_of_a_pipeline_are_laid_out_where_no_node_holds_all_of_it(layout, nodes, whole):
    found = layout(8, *nodes, pipeline_parallel_size=4)
    spread = ("ray", 0, 0, [{"GPU": 1, "CPU": 1}] * 8)
    assert found == (("mp", 8, 0, None) if whole else spread)


@pytest.mark.parametrize("nodes", [(4,), (1, 1)])
def test_an_actor_is_born_with_the_variables_its_judge_asks_for(layout, nodes, monkeypatch):
    monkeypatch.delenv("VLLM_BATCH_INVARIANT", raising=False)
    monkeypatch.setenv("VLLM_X", "y")
    layout(2, *nodes, batch_invariant=True)
    variables = layout.asked["options"]["runtime_env"]["env_vars"]
    assert (variables["VLLM_BATCH_INVARIANT"], variables["VLLM_X"]) == ("1", "y")
    layout(2, *nodes)
    assert "VLLM_BATCH_INVARIANT" not in layout.asked["options"]["runtime_env"]["env_vars"]
