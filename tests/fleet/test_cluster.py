from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import EngineError, EngineLost, EngineStartError
from judgerel_ray.fleet.cluster import (
    ActorHandle,
    Capacity,
    connected,
    demand,
    is_placed,
    passed_environment,
    result_of,
)
from judgerel_ray.fleet.retry import is_loss_of_node

SECRETS = ["HF_TOKEN", "HF_HUB_TOKEN", "VLLM_API_KEY", "JUDGEREL_PASSWORD", "VLLM_AWS_SECRET"]
SETTINGS = ["HF_HOME", "HF_HUB_OFFLINE", "VLLM_CPU_KVCACHE_SPACE", "NCCL_DEBUG", "JUDGEREL_X"]


@pytest.mark.parametrize("name", [*SECRETS, "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "PATH"])
def test_secrets_and_what_is_not_ours_stay_here(monkeypatch, name):
    monkeypatch.setenv(name, "value")
    assert name not in passed_environment()


@pytest.mark.parametrize("name", SETTINGS)
def test_engine_settings_go_along(monkeypatch, name):
    monkeypatch.setenv(name, "value")
    assert passed_environment()[name] == "value"


def room(*nodes: int) -> Capacity:
    return Capacity(cpus=1.0, gpus=float(sum(nodes)), nodes=nodes)


@pytest.mark.parametrize(
    ("nodes", "engines", "fits"),
    [
        ((4,), [1, 1, 1, 1], True),
        ((4,), [1, 1, 1, 1, 1], False),
        ((3, 3), [2, 2, 2], False),
        ((3, 3), [2, 2, 1, 1], True),
        ((1, 1, 1, 1), [2], False),
        ((1, 1, 1, 1), [1, 1], True),  # spread, or in stages
        ((2, 2), [4], False),
        ((2, 2), [2, 2], True),
        ((2, 2), [3, 1], False),
        ((8, 1), [8, 1], True),
        ((8, 1), [1, 8], True),
        ((), [1], False),
        ((), [], True),
        ((2,), [0, 0, 0], True),
    ],
)
def test_engines_fit_only_whole_on_a_node(nodes, engines, fits):
    assert room(*nodes).holds(engines) is fits


@given(
    nodes=st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=5),
    engines=st.lists(st.sampled_from([1, 2, 4, 8]), max_size=8),
)
def test_packing_is_exact_where_sizes_divide_one_another(nodes, engines):
    def possible(left: list[int], rest: list[int]) -> bool:
        if not rest:
            return True
        for at in {n: i for i, n in enumerate(left)}.values():
            if left[at] >= rest[0]:
                left[at] -= rest[0]
                found = possible(left, rest[1:])
                left[at] += rest[0]
                if found:
                    return True
        return False

    assert room(*nodes).holds(engines) is possible(list(nodes), sorted(engines, reverse=True))


def test_a_dead_address_is_no_cluster_and_leaves_ray_unconnected(monkeypatch):
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray would try for ten minutes"))
    with (
        pytest.raises(EngineStartError, match="no Ray cluster answers"),
        connected("127.0.0.1:9"),
    ):
        pytest.fail("there is no cluster")


@pytest.mark.parametrize("address", [None, "127.0.0.1:6379"])
def test_a_node_that_is_slow_to_start_is_no_cluster(monkeypatch, address):
    import ray

    def init(**_):
        raise Exception("The current node timed out during startup. This could happen because")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_worker_niceness", "0")  # what is set is taken back
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    ended: list[bool] = []
    monkeypatch.setattr(ray, "shutdown", lambda: ended.append(True))  # not that of other tests
    monkeypatch.setattr("judgerel_ray.fleet.cluster.probe_cluster", lambda _: None)
    with (
        pytest.raises(EngineStartError, match="no Ray cluster: The current node timed out") as told,
        connected(address),
    ):
        pytest.fail("there is no cluster")
    assert told.value.where == {"address": address or "local"}
    assert ended == [True]


def test_an_actor_that_went_with_its_node_before_it_ran_is_a_loss_of_that_node(monkeypatch):
    import ray
    from ray.core.generated.common_pb2 import ActorDiedErrorContext

    died = (
        "The actor died because its node has died. Node Id: 1f\n\tthe actor's node was terminated"
    )
    context = ActorDiedErrorContext(
        error_message=died, class_name="JudgeActor", never_started=True, actor_id=b"0" * 16
    )

    def get(_):
        raise ray.exceptions.ActorDiedError(context)

    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "wait", lambda calls, **_: (calls, []))
    lost = result_of("a call")
    assert isinstance(lost, EngineLost)
    assert is_loss_of_node(str(lost))
    assert not is_placed(ActorHandle(actor=None, placed="its first call"))


@pytest.mark.parametrize("name", ["ObjectLostError", "OwnerDiedError", "ObjectFetchTimedOutError"])
def test_a_result_that_was_lost_is_not_the_loss_of_an_engine(monkeypatch, name):
    import ray

    def get(_):
        raise getattr(ray.exceptions, name)("2f", None, "")

    monkeypatch.setattr(ray, "get", get)
    error = result_of("a call")
    assert isinstance(error, EngineError)
    assert not isinstance(error, EngineLost)
    assert str(error) == f"its result was lost with an object store: {name}"


@pytest.mark.slow
@pytest.mark.ray
def test_a_cluster_of_ones_own_cannot_grow(ray_local):
    assert ray_local.is_initialized()
    with connected(None) as local:
        assert local is True
    assert ray_local.is_initialized()


@pytest.fixture
def head(ray_apart):
    """A cluster of one node that this process did not start by itself and is not connected to."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield cluster
    ray_apart.shutdown()
    cluster.shutdown()


def demanded():
    """What the autoscaler of the cluster is asked for."""
    from ray.experimental.internal_kv import _internal_kv_get

    return _internal_kv_get(b"autoscaler_resource_request")


@pytest.mark.ray
@pytest.mark.slow
def test_a_head_joined_may_grow_and_forgets_what_a_killed_driver_asked_for(ray_apart, head):
    ray_apart.init(address=head.address, logging_level="error", log_to_driver=False)
    demand([{"CPU": 99}])
    assert demanded() == b'[{"CPU": 99}]'
    with connected(None) as local:  # joined before: it has one node, and may have more soon
        assert local is False
    ray_apart.shutdown()
    with connected(head.address) as local:
        assert local is False
        assert demanded() == b"[]"
    assert not ray_apart.is_initialized()
