from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from judgerel_ray.core import EngineStartError, SweepError
from judgerel_ray.fleet import address
from judgerel_ray.fleet.address import probe_cluster, wanted_address


@pytest.fixture(scope="module")
def closed_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.fixture
def stranger() -> Iterator[socket.socket]:
    """Somebody who listens, takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.mark.parametrize(
    "wrong",
    ["nonsense", ":6379", "h:", "h:x", "h:99999", "ray://", "http://127.0.0.1:8265", "https://h:1"],
)
def test_what_is_no_address_is_the_callers_mistake(wrong):
    with pytest.raises(SweepError, match="must be HOST:PORT"):
        probe_cluster(wrong)


@pytest.mark.parametrize("empty", ["", " "])
def test_an_unset_shell_variable_does_not_start_a_cluster_here(empty):
    with pytest.raises(SweepError, match="--address is empty"):
        wanted_address(empty)


def test_the_address_given_comes_before_the_environment(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "elsewhere:1")
    assert wanted_address("node7:6379") == "node7:6379"
    assert wanted_address("local") is None
    assert wanted_address(None) == "elsewhere:1"
    monkeypatch.setenv("RAY_ADDRESS", "")
    assert wanted_address(None) is None


@pytest.mark.parametrize("shape", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "nothing.invalid:{}"])
@pytest.mark.parametrize("by_environment", [False, True])
def test_a_dead_cluster_is_told_at_once(monkeypatch, closed_port, shape, by_environment):
    dead = shape.format(closed_port)
    if by_environment:
        monkeypatch.setenv("RAY_ADDRESS", dead)
    monkeypatch.setattr(address, "PROBE_S", 3600.0)  # who waited for an answer would not return
    with pytest.raises(
        EngineStartError, match=r"no Ray cluster answers at .*nobody listens"
    ) as told:
        probe_cluster(None if by_environment else dead)
    assert told.value.where["address"] == dead


def test_who_never_answers_is_waited_for_a_while_only(monkeypatch, stranger):
    monkeypatch.setattr(address, "PROBE_S", 0.2)
    with pytest.raises(EngineStartError, match=r"no answer|nobody listens"):
        probe_cluster(f"127.0.0.1:{stranger.getsockname()[1]}")


def test_who_speaks_something_else_is_no_ray(stranger):
    def answer() -> None:
        accepted, _ = stranger.accept()
        with accepted:
            accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(EngineStartError, match="no Ray cluster answers"):
        probe_cluster(f"127.0.0.1:{stranger.getsockname()[1]}")
    thread.join()


@pytest.mark.parametrize(("found", "error"), [(None, "runs on this machine"), ("127.0.0.1:{}", "")])
def test_auto_without_a_cluster_or_with_a_dead_one_is_told(monkeypatch, closed_port, found, error):
    from ray._private import services

    left = found and found.format(closed_port)  # what a head that was killed leaves behind
    monkeypatch.setattr(services, "canonicalize_bootstrap_address", lambda _: left)
    with pytest.raises(EngineStartError, match=f"no Ray cluster {error}"):
        probe_cluster("auto")


@pytest.mark.slow
@pytest.mark.ray
def test_a_cluster_that_is_there_answers(ray_local):
    place = ray_local.get_runtime_context().gcs_address
    assert place.rpartition(":")[2].isdecimal()
    probe_cluster(place)
    with pytest.raises(EngineStartError, match="not at this port"):
        probe_cluster(f"ray://{place}")
