"""A sweep that needs GPUs, on a machine of which the cluster would be made."""

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import cluster
from judgerel_ray.fleet.cluster import check_gpus, check_judge_keys, gpus_here


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No cluster around, and one GPU."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(cluster, "is_connected", lambda: False)
    monkeypatch.setattr(cluster, "gpus_here", lambda: 1)


def test_what_the_machine_has_not_is_refused_in_one_line():
    check_gpus({"a": 1, "b": 0}, None)
    check_gpus({}, None)
    with pytest.raises(SweepError, match=r"judge needs 2 GPUs, this machine has 1 \[judge=b\]"):
        check_gpus({"b": 2}, "local")
    with pytest.raises(SweepError, match=r"has 1 \(and 1 more judge\) \[judge=c\]"):
        check_gpus({"a": 2, "c": 4}, None)


def test_a_key_is_looked_for_here_only_where_actors_run_here(monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    spec = EngineSpec(
        name="j", engine="openai", model="m", base_url="http://h/v1", api_key_env="SOME_KEY"
    )
    assert check_judge_keys([spec], "head:6379") is None
    with pytest.raises(SweepError, match="environment variable SOME_KEY is not set"):
        check_judge_keys([spec], None)
    monkeypatch.setenv("SOME_KEY", " ")
    with pytest.raises(SweepError, match="SOME_KEY is not set"):
        check_judge_keys([spec], None)
    monkeypatch.setenv("SOME_KEY", "k")
    assert check_judge_keys([spec], None) is None


def test_a_judge_that_can_be_asked_is_asked_whatever_another_needs():
    check_gpus({"a": 0, "b": 2}, "local")


@pytest.mark.parametrize("where", ["address", "environment", "connected"])
def test_a_cluster_may_have_them_or_grow(monkeypatch, where):
    if where == "environment":
        monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    if where == "connected":
        monkeypatch.setattr(cluster, "is_connected", lambda: True)
    assert check_gpus({"a": 8}, "head:6379" if where == "address" else None) is None


@pytest.mark.parametrize(("visible", "n"), [(None, 4), ("0,2", 2), ("", 0), ("NoDevFiles", 0)])
def test_gpus_are_counted_as_ray_counts_them(monkeypatch, visible, n):
    from ray._private.accelerators import NvidiaGPUAcceleratorManager

    manager = NvidiaGPUAcceleratorManager
    monkeypatch.setattr(manager, "get_current_node_num_accelerators", staticmethod(lambda: 4))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr("ray._private.accelerators.get_accelerator_manager_for_resource",
                        lambda _: manager)  # fmt: skip
    assert gpus_here() == n
