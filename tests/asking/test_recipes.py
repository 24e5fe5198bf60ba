"""Which nodes a sweep needs, and recipes of clusters checked against it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgerel_ray.asking.plan.recipes import node_needs, nodes_of_judges, read_recipe
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec

CLUSTER = Path(__file__).resolve().parents[2] / "cluster"
SIZES = [
    "ray-autoscaler-aws.yaml",
    "ray-autoscaler-gcp.yaml",
    "kuberay-rayjob.yaml",
    "raycronjob.yaml",
]


def engine(gpus: int, stages: int = 1) -> EngineSpec:
    return EngineSpec(name="x", engine="vllm", model="m", gpus=gpus, pipeline_parallel_size=stages)


def test_needs_are_of_the_node_that_holds_an_engine_or_a_stage():
    assert list(node_needs([engine(0), engine(1), engine(4), engine(16, 2)])) == [
        "x: 1 GPU on one node: needs a node of 1 GPU or more",
        "x: 4 GPUs on one node: needs a node of 4 GPUs or more",
        "x: 2 stages of 8 GPUs, each on one node: needs nodes of 8 GPUs or more",
    ]


def gpus_of_types(path: str) -> set[int]:
    return {kind.gpus for kind in read_recipe(path).types.values()}


@pytest.mark.parametrize("recipe", SIZES)
def test_recipes_of_clusters_have_nodes_of_one_four_and_eight_gpus(recipe):
    path = str(CLUSTER / recipe)
    assert {1, 4, 8} <= gpus_of_types(path)
    assert [
        nodes_of_judges([one], path)["x"]
        for one in (engine(0), engine(1), engine(2), engine(4), engine(8), engine(16, 2))
    ] == [{}, {"gpu1": 1}, {"gpu4": 1}, {"gpu4": 1}, {"gpu8": 1}, {"gpu8": 2}]
    with pytest.raises(SweepError, match="no node type holds judge x: expected one of 16 GPUs or"):
        nodes_of_judges([engine(16)], path)


@pytest.mark.parametrize("recipe", SIZES)
def test_stages_need_as_many_nodes_as_may_run(recipe):
    path = str(CLUSTER / recipe)
    with pytest.raises(SweepError) as told:
        nodes_of_judges([engine(4), engine(32, 4)], path)
    assert str(told.value) == (
        "too few nodes for judge x: expected room for 4 stages of 8 GPUs, each on one node, got "
        f"room for 2 (2 of gpu8 at most) [cluster={path}]. Try: max_workers or maxReplicas for "
        "more nodes of 8 GPUs, or a type of more"
    )


def ray_file(folder: Path, head: int, most: str, **types: str) -> str:
    """A file of Ray's autoscaler, with types as "GPUs" or "GPUs, max_workers"."""
    kinds = {"head": {"resources": {"GPU": head}}}
    for name, said in types.items():
        gpus, *cap = (int(n) for n in said.split(","))
        kinds[name] = {"resources": {"GPU": gpus}, **({"max_workers": cap[0]} if cap else {})}
    path = folder / "c.yaml"
    path.write_text(f"{most}\nhead_node_type: head\navailable_node_types: {json.dumps(kinds)}\n")
    return str(path)


@pytest.mark.parametrize(
    ("head", "most", "types", "wanted", "nodes"),
    [
        (0, "max_workers: 8", {"a": "8, 4"}, engine(32, 4), {"a": 4}),
        (0, "max_workers: 3", {"a": "8, 4"}, engine(32, 4), None),  # the cluster's own cap
        (0, "max_workers: 4", {"a": "8"}, engine(32, 4), {"a": 4}),  # none of the type's own
        (0, "max_workers: 3", {"a": "8"}, engine(32, 4), None),
        (0, "", {"a": "8"}, engine(16, 2), {"a": 2}),  # two workers, as Ray has it
        (0, "", {"a": "8"}, engine(32, 4), None),
        (8, "max_workers: 3", {"a": "8"}, engine(32, 4), {"head": 1, "a": 3}),  # it runs anyway
        (0, "max_workers: 2", {"a": "16, 2"}, engine(32, 4), {"a": 2}),  # two stages on each
        (0, "max_workers: 9", {"a": "8, 2", "b": "16, 1"}, engine(32, 4), {"b": 1, "a": 2}),
        (0, "max_workers: 2", {"a": "8, 2", "b": "16, 1"}, engine(32, 4), None),
        (0, "max_workers: 9", {"b": "16, 9", "a": "8, 9"}, engine(32, 4), {"a": 4}),
        (0, "max_workers: 9", {"a": "8, 3"}, engine(24, 2), None),  # of 12 GPUs each
        (0, "max_workers: 0", {"a": "8, 3"}, engine(8), None),
    ],
)
def test_stages_are_laid_on_nodes_under_the_caps(tmp_path, head, most, types, wanted, nodes):
    path = ray_file(tmp_path, head, most, **types)
    if nodes is None:
        with pytest.raises(SweepError, match="judge x: expected"):
            nodes_of_judges([wanted], path)
    else:
        assert nodes_of_judges([wanted], path) == {"x": nodes}


def test_replicas_of_kuberay_may_have_several_hosts(tmp_path):
    path = tmp_path / "c.yaml"
    text = (CLUSTER / "kuberay-rayjob.yaml").read_text()
    path.write_text(text.replace("maxReplicas: 2", "maxReplicas: 2\n        numOfHosts: 2"))
    assert nodes_of_judges([engine(32, 4)], str(path)) == {"x": {"gpu8": 4}}
    path.write_text(text.replace("        maxReplicas: 2\n", ""))
    assert nodes_of_judges([engine(80, 10)], str(path)) == {"x": {"gpu8": 10}}


def test_node_types_of_which_none_may_start_hold_nothing(tmp_path):
    text = (CLUSTER / "ray-autoscaler-aws.yaml").read_text()
    path = tmp_path / "c.yaml"
    path.write_text(text.replace("max_workers: 2", "max_workers: 0"))
    assert 8 not in gpus_of_types(str(path))
    path.write_text(text.replace('resources: { "CPU": 192, "GPU": 8 }', "labels: {}"))
    with pytest.raises(SweepError, match="node type gpu8 does not say its resources"):
        read_recipe(str(path))


@pytest.mark.parametrize(
    "text", ["a: [", "- 1", "kind: Pod\nspec: {}\n", "available_node_types: 3\n"]
)
def test_what_describes_no_cluster_is_refused(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(SweepError, match="no recipe of a cluster"):
        read_recipe(str(path))


SWEEP = """name = "s"
[[judge]]
name = "big"
engine = "simulated"
model = "uniform"
gpus = 4
[[judge]]
name = "small"
engine = "simulated"
model = "uniform"
gpus = 0
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.csv"
"""


@pytest.fixture
def sweep(tmp_path) -> Path:
    (tmp_path / "items.csv").write_text("item_id,question,option_x,option_y\nq,Which?,a,b\n")
    file = tmp_path / "s.toml"
    file.write_text(SWEEP)
    return file


def test_a_plan_says_which_nodes_hold_each_judge(sweep, capsys):
    recipe = str(CLUSTER / "ray-autoscaler-aws.yaml")
    assert main(["plan", str(sweep), "--cluster", recipe]) == 0
    said = capsys.readouterr().out
    assert "note: big: 4 GPUs on one node: needs a node of 4 GPUs" in said
    assert "\njudge big: gpu4\njudge small: any node (no GPU)\n" in said
    sweep.write_text(SWEEP.replace("gpus = 4", "gpus = 16\npipeline_parallel_size = 2"))
    assert main(["plan", str(sweep), "--cluster", recipe]) == 0
    assert "\njudge big: gpu8 x 2\n" in capsys.readouterr().out
    assert main(["plan", str(sweep), "--cluster", recipe, "--json"]) == 0
    judges = json.loads(capsys.readouterr().out)["judges"]
    assert [one["node_types"] for one in judges] == [{"gpu8": 2}, {}]
    assert main(["plan", str(sweep), "--json"]) == 0
    assert "node_types" not in capsys.readouterr().out


def test_a_plan_refuses_a_cluster_that_cannot_hold_a_judge(sweep, tmp_path, capsys):
    text = (CLUSTER / "ray-autoscaler-aws.yaml").read_text()
    small = tmp_path / "small.yaml"
    small.write_text(text.replace('"GPU": 4', '"GPU": 1').replace('"GPU": 8', '"GPU": 2'))
    assert main(["plan", str(sweep), "--cluster", str(small)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "expected one of 4 GPUs or more, got head 0, gpu1 1, gpu4 1, gpu8 2" in said.err
    sweep.write_text(SWEEP.replace("gpus = 4", "gpus = 8\npipeline_parallel_size = 4"))
    assert main(["plan", str(sweep), "--cluster", str(small)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "expected room for 4 stages of 2 GPUs, each on one node, got room for 2" in said.err
