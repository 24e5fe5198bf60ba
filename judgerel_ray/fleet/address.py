"""Addresses of Ray clusters: which one is meant, and whether a cluster answers there.

Ray itself tries a dead address for ten minutes, and can be stopped by nothing but its end.
"""

from __future__ import annotations

import os
import re

from judgerel_ray.core import EngineStartError, SweepError

PROBE_S = 10.0
CLIENT_PORT = 10001
LARGEST_PORT = 65535
_PORT = re.compile(r":\d+$", re.ASCII)
# What gRPC says of a place where no Ray of ours is; any other answer is a Ray's.
_SILENCES = {
    "UNAVAILABLE": "nobody listens there",
    "DEADLINE_EXCEEDED": f"no answer within {PROBE_S:.0f} s",
    "UNIMPLEMENTED": "who listens there is not Ray, or not at this port",
    "UNAUTHENTICATED": "it knows another token than ours",
    "PERMISSION_DENIED": "it knows another token than ours",
}
HINT = "start one (cluster/local.sh), check the address, RAY_AUTH_MODE=token and its token"


def wanted_address(address: str | None) -> str | None:
    """The cluster meant: the one given, else the environment's; None means one of our own."""
    if address is not None and not address.strip():
        raise SweepError("--address is empty", hint="leave it out for a cluster of this machine")
    wanted = address or os.environ.get("RAY_ADDRESS") or "local"
    return None if wanted == "local" else wanted


def probe_cluster(address: str | None) -> None:
    """Make sure that a Ray cluster answers, where one is meant that should be there already.

    Effects: one connection, closed again. Takes at most about ten seconds.
    """
    wanted = wanted_address(address)
    place = None if wanted is None else _cluster_host_and_port(wanted)
    if place is None:
        return
    problem = _cluster_address_problem(place, is_client=str(wanted).startswith("ray://"))
    if problem is not None:
        raise EngineStartError(
            f"no Ray cluster answers at {place}: {problem}",
            where={"address": str(wanted)},
            hint=HINT,
        )


def _cluster_host_and_port(wanted: str) -> str | None:
    """``HOST:PORT`` of an address; None where another package's scheme says it in its own way."""
    scheme, marked, rest = wanted.rpartition("://")
    if wanted == "auto":
        return _running_here()
    if marked and scheme not in {"ray", "http", "https"}:
        return None
    rest = rest.partition("?")[0].rstrip("/")
    if scheme == "ray" and not _PORT.search(rest):
        rest = f"{rest}:{CLIENT_PORT}"
    host, _, port = rest.rpartition(":")
    if scheme not in {"", "ray"} or not host or not _PORT.search(rest) or int(port) > LARGEST_PORT:
        raise SweepError(
            f"a Ray address must be HOST:PORT, ray://HOST:PORT, auto or local, got {wanted!r}",
            hint="unset RAY_ADDRESS, or name the head" if scheme.startswith("http") else None,
        )
    return rest


def _running_here() -> str:
    """Address of the cluster that runs on this machine, as Ray finds it."""
    from ray._private.services import canonicalize_bootstrap_address

    try:
        found = canonicalize_bootstrap_address("auto")
    except (ConnectionError, ValueError, OSError) as error:
        raise EngineStartError(
            f"no Ray cluster: {error}", where={"address": "auto"}, hint=HINT
        ) from error
    if found is None:
        raise EngineStartError(
            "no Ray cluster runs on this machine", where={"address": "auto"}, hint=HINT
        )
    return str(found)


def _cluster_address_problem(place: str, *, is_client: bool) -> str | None:
    """Why no Ray that takes us can be there; None where one answers."""
    import grpc  # type: ignore[import-untyped]
    from ray._private.grpc_utils import init_grpc_channel
    from ray.core.generated import (
        gcs_service_pb2,
        gcs_service_pb2_grpc,
        ray_client_pb2,
        ray_client_pb2_grpc,
    )

    try:
        channel = init_grpc_channel(place, options=(("grpc.enable_http_proxy", 0),))
    except (RuntimeError, ValueError, OSError) as error:  # a token or certificate that is not there
        return str(error)
    ping = ray_client_pb2.ClusterInfoType.PING
    try:
        if is_client:
            asked = ray_client_pb2.ClusterInfoRequest(type=ping)
            ray_client_pb2_grpc.RayletDriverStub(channel).ClusterInfo(asked, timeout=PROBE_S)
        else:
            alive = gcs_service_pb2.CheckAliveRequest()
            gcs_service_pb2_grpc.NodeInfoGcsServiceStub(channel).CheckAlive(alive, timeout=PROBE_S)
    except grpc.RpcError as error:
        return _SILENCES.get(error.code().name)
    finally:
        channel.close()
    return None
