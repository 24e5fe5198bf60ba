"""Which nodes a sweep's judges need, and whether a cluster's recipe has such node types.

A recipe is what Ray's autoscaler or KubeRay reads: the file says how many GPUs each of its node
types has. An engine is whole on one node, or each stage of its pipeline is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgerel_ray.core import SweepError
from judgerel_ray.core.files import read_bytes
from judgerel_ray.engines import EngineSpec

GPU_OF_KUBERNETES = "nvidia.com/gpu"


def node_needs(specs: Iterable[EngineSpec]) -> Iterator[str]:
    """Tell which node each judge with GPUs needs.

    Examples
    --------
    >>> engine = EngineSpec(name="x", engine="vllm", model="m", gpus=8, pipeline_parallel_size=2)
    >>> list(node_needs([engine]))
    ['x: 2 stages of 4 GPUs, each on one node: needs nodes of 4 GPUs or more']
    """
    for spec in specs:
        if not spec.stages:
            continue
        gpus = _gpus(spec.stages[0])
        if len(spec.stages) > 1:
            stages = f"{len(spec.stages)} stages of {gpus}, each on one node"
            yield f"{spec.name}: {stages}: needs nodes of {gpus} or more"
        else:
            yield f"{spec.name}: {gpus} on one node: needs a node of {gpus} or more"


def check_recipe(specs: Iterable[EngineSpec], path: str) -> dict[str, int]:
    """Refuse a recipe of a cluster none of whose nodes can hold an engine of a sweep.

    Parameters
    ----------
    specs : iterable of EngineSpec
        The engines that are to run on it.
    path : str
        A file of Ray's autoscaler, or of a RayJob, RayCronJob or RayCluster.

    Returns
    -------
    dict of str to int
        GPUs of each node type that the cluster may have.

    Raises
    ------
    SweepError
        If the file describes no cluster, or no node type holds one of the judges.
    """
    types = gpus_of_types(path)
    for spec in specs:
        least = max(spec.stages, default=0)
        if least > max(types.values(), default=0):
            there = ", ".join(f"{name} {gpus}" for name, gpus in types.items()) or "none"
            raise SweepError(
                f"no node type holds judge {spec.name}: expected one of {_gpus(least)} or more, "
                f"got {there}",
                where={"cluster": path},
                hint=f"a node type of {_gpus(least)}, or pipeline_parallel_size of the judge to "
                "cut it into stages on several nodes",
            )
    return types


def gpus_of_types(path: str) -> dict[str, int]:
    """Read how many GPUs each node type of a recipe has, of those it may start any of.

    Raises
    ------
    SweepError
        If it cannot be read, describes no cluster, or leaves the GPUs of a node type unsaid.
    """
    import yaml

    try:
        document = yaml.safe_load(read_bytes(path))
        return dict(_types_of(document, path))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise _no_recipe(path) from error


def _types_of(document: Mapping[str, Any], path: str) -> Iterator[tuple[str, int]]:
    """Names and GPUs of a recipe's node types."""
    if "available_node_types" in document:
        for name, kind in document["available_node_types"].items():
            most = kind.get("max_workers", 0)
            if name != document["head_node_type"] and not most:
                continue
            if "resources" not in kind:
                raise SweepError(
                    f"node type {name} does not say its resources",
                    where={"cluster": path},
                    hint='resources: { "CPU": 16, "GPU": 4 }',
                )
            yield name, int(kind["resources"].get("GPU", 0))
        return
    spec = document["spec"]
    for part in ("jobTemplate", "rayClusterSpec"):
        spec = spec.get(part, spec)
    for group in spec["workerGroupSpecs"]:
        if group.get("maxReplicas", 1):
            containers = group["template"]["spec"]["containers"]
            limits = [one["resources"].get("limits", {}) for one in containers]
            yield group["groupName"], sum(int(one.get(GPU_OF_KUBERNETES, 0)) for one in limits)


def _no_recipe(path: str) -> SweepError:
    """What is said of a file that describes no cluster."""
    return SweepError(
        "no recipe of a cluster: expected available_node_types of Ray's autoscaler, or "
        "workerGroupSpecs of a RayJob, RayCronJob or RayCluster",
        where={"cluster": path},
        hint="one of cluster/, such as cluster/ray-autoscaler-aws.yaml",
    )


def _gpus(n: int) -> str:
    """A number of GPUs, in words."""
    return f"{n} GPU{'s' if n != 1 else ''}"
