"""Which nodes a sweep's judges need, and whether a cluster's recipe has such node types.

A recipe is what Ray's autoscaler or KubeRay reads: the file says how many GPUs each of its node
types has, and how many nodes of it may run. An engine is whole on one node, or each stage of its
pipeline is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.core.files import read_bytes
from judgerel_ray.engines import EngineSpec

GPU_OF_KUBERNETES = "nvidia.com/gpu"
OF_RAY = 2  # workers that Ray's autoscaler takes where a file says no number
UNCAPPED = 2**31 - 1  # what KubeRay takes where a group says no maxReplicas


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeType:
    """A kind of node: its GPUs, how many may join, and how many run anyway (the head)."""

    gpus: int
    joining: int
    standing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a cluster may grow to: its node types by name, and how many nodes may join in all."""

    path: str
    types: Mapping[str, NodeType]
    joining: int = UNCAPPED

    def nodes_for(self, stages: tuple[int, ...]) -> tuple[dict[str, int], int]:
        """Choose nodes for the stages of one engine, each whole on one node.

        The smallest node type of which enough may run is chosen, else several, largest first.

        Examples
        --------
        >>> types = {"small": NodeType(gpus=4, joining=8), "large": NodeType(gpus=8, joining=2)}
        >>> recipe = Recipe(path="c.yaml", types=types)
        >>> recipe.nodes_for((4,)), recipe.nodes_for((8, 8)), recipe.nodes_for((8, 8, 8))
        (({'small': 1}, 1), ({'large': 2}, 2), ({'large': 2}, 2))
        >>> recipe.nodes_for((4,) * 10)
        ({'large': 2, 'small': 6}, 10)
        """
        each, wanted = stages[0], len(stages)
        fitting = {name: kind for name, kind in self.types.items() if kind.gpus >= each}
        for name in sorted(fitting, key=lambda name: fitting[name].gpus):
            kind = fitting[name]
            n = ceil(wanted / (kind.gpus // each))
            if n <= kind.standing + min(kind.joining, self.joining):
                return {name: n}, wanted
        chosen: dict[str, int] = {}
        held, joining = 0, self.joining
        for name in sorted(fitting, key=lambda n: (-fitting[n].standing, -fitting[n].gpus)):
            kind = fitting[name]
            holds = kind.gpus // each
            n = min(kind.standing + min(kind.joining, joining), ceil((wanted - held) / holds))
            if n:
                chosen[name] = n
                held, joining = held + n * holds, joining - max(0, n - kind.standing)
        return chosen, min(held, wanted)


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


def nodes_of_judges(specs: Iterable[EngineSpec], path: str) -> dict[str, dict[str, int]]:
    """Find which nodes of a cluster hold each judge of a sweep; refuse one that cannot hold all.

    Judges need not fit beside one another: one waits until another is done.
    """
    recipe = read_recipe(path)
    return {spec.name: _nodes_of(spec, recipe) if spec.stages else {} for spec in specs}


def _nodes_of(spec: EngineSpec, recipe: Recipe) -> dict[str, int]:
    """Nodes that hold one judge with GPUs, or a refusal that says what is there."""
    each, wanted = spec.stages[0], len(spec.stages)
    types, where = recipe.types, {"cluster": recipe.path}
    if each > max((kind.gpus for kind in types.values()), default=0):
        there = ", ".join(f"{name} {kind.gpus}" for name, kind in types.items()) or "none"
        raise SweepError(
            f"no node type holds judge {spec.name}: expected one of {_gpus(each)} or more, "
            f"got {there}",
            where=where,
            hint=f"a node type of {_gpus(each)}, or pipeline_parallel_size of the judge to "
            "cut it into stages on several nodes",
        )
    nodes, held = recipe.nodes_for(spec.stages)
    if held < wanted:
        there = ", ".join(f"{n} of {name}" for name, n in nodes.items()) or "no node"
        raise SweepError(
            f"too few nodes for judge {spec.name}: expected room for "
            f"{count_of(wanted, 'stage')} of {_gpus(each)}, each on one node, got room for {held} "
            f"({there} at most)",
            where=where,
            hint=f"max_workers or maxReplicas for more nodes of {_gpus(each)}, or a type of more",
        )
    return nodes


def read_recipe(path: str) -> Recipe:
    """Read which nodes a cluster may have: those node types of which any may run."""
    import yaml

    try:
        document = yaml.safe_load(read_bytes(path))
        if "available_node_types" in document:
            most = int(document.get("max_workers", OF_RAY))
            return Recipe(path=path, types=dict(_types_of_ray(document, path, most)), joining=most)
        return Recipe(path=path, types=dict(_types_of_kuberay(document)))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise SweepError(
            "no recipe of a cluster: expected available_node_types of Ray's autoscaler, or "
            "workerGroupSpecs of a RayJob, RayCronJob or RayCluster",
            where={"cluster": path},
            hint="one of cluster/, such as cluster/ray-autoscaler-aws.yaml",
        ) from error


def _types_of_ray(
    document: Mapping[str, Any], path: str, most: int
) -> Iterator[tuple[str, NodeType]]:
    """Node types of a file of Ray's autoscaler; a type that says no number may fill the cluster."""
    for name, kind in document["available_node_types"].items():
        is_head = name == document["head_node_type"]
        joining = int(kind.get("max_workers", 0 if is_head else most))
        if not joining and not is_head:
            continue
        if "resources" not in kind:
            raise SweepError(
                f"node type {name} does not say its resources",
                where={"cluster": path},
                hint='resources: { "CPU": 16, "GPU": 4 }',
            )
        gpus = int(kind["resources"].get("GPU", 0))
        yield name, NodeType(gpus=gpus, joining=joining, standing=int(is_head))


def _types_of_kuberay(document: Mapping[str, Any]) -> Iterator[tuple[str, NodeType]]:
    """Node types of a RayJob, RayCronJob or RayCluster."""
    spec = document["spec"]
    for part in ("jobTemplate", "rayClusterSpec"):
        spec = spec.get(part, spec)
    for group in spec["workerGroupSpecs"]:
        joining = int(group.get("maxReplicas", UNCAPPED)) * int(group.get("numOfHosts", 1))
        if joining:
            containers = group["template"]["spec"]["containers"]
            limits = [one["resources"].get("limits", {}) for one in containers]
            gpus = sum(int(one.get(GPU_OF_KUBERNETES, 0)) for one in limits)
            yield group["groupName"], NodeType(gpus=gpus, joining=joining)


def _gpus(n: int) -> str:
    """A number of GPUs, in words."""
    return f"{n} GPU{'s' if n != 1 else ''}"
