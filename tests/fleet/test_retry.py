from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.fleet.retry import AskHistory, Fate, decide, is_loss_of_node


@given(
    history=st.builds(
        AskHistory,
        failures=st.integers(0, 20),
        losses=st.integers(0, 20),
        suspected=st.booleans(),
        convicted=st.booleans(),
    ),
    most=st.integers(1, 10),
)
def test_only_convicts_and_what_failed_too_often_are_not_asked_again(history, most):
    fate = decide(history, max_attempts=most)
    assert (fate is Fate.RECORD) == (history.failures >= most or history.convicted)
    if fate is not Fate.RECORD:
        assert (fate is Fate.APART) == history.suspected


def test_one_attempt_means_one():
    assert decide(AskHistory(failures=1), max_attempts=1) is Fate.RECORD
    assert decide(AskHistory(failures=0), max_attempts=1) is Fate.AGAIN


@pytest.mark.parametrize(
    "told",
    [
        "ActorUnavailableError: The actor 8d is unavailable: RpcError: RPC error: Socket closed "
        "rpc_code: 14. The task may or may not have been executed on the actor.",
        "ActorDiedError: The actor died because its node has died. Node Id: 1f",
        "ActorDiedError: the actor's node was terminated unexpectedly: health check failed",
        "ActorDiedError: the actor's node was preempted: spot",
    ],
)
def test_what_ray_says_of_lost_nodes_is_known(told):
    assert is_loss_of_node(told)


@pytest.mark.parametrize(
    "told",
    [
        "ActorDiedError: The actor is dead because its worker process has died. Worker exit type: "
        "SYSTEM_ERROR Worker exit detail: connection error code 2. End of file.",
        "engine died: EngineDeadError",
        "a lease was not answered by its deadline",
    ],
)
def test_engines_that_died_themselves_are_no_lost_nodes(told):
    assert not is_loss_of_node(told)
