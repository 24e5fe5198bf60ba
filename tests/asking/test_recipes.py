"""Which nodes a sweep needs, and recipes of clusters checked against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgerel_ray.asking.plan.recipes import check_recipe, gpus_of_types, node_needs
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


@pytest.mark.parametrize("recipe", SIZES)
def test_recipes_of_clusters_have_nodes_of_one_four_and_eight_gpus(recipe):
    path = str(CLUSTER / recipe)
    assert {1, 4, 8} <= set(gpus_of_types(path).values())
    check_recipe([engine(0), engine(1), engine(2), engine(4), engine(8), engine(16, 2)], path)
    with pytest.raises(SweepError, match="no node type holds judge x: expected one of 16 GPUs or"):
        check_recipe([engine(16)], path)


def test_node_types_of_which_none_may_start_hold_nothing(tmp_path):
    text = (CLUSTER / "ray-autoscaler-aws.yaml").read_text()
    path = tmp_path / "c.yaml"
    path.write_text(text.replace("max_workers: 2", "max_workers: 0"))
    assert 8 not in gpus_of_types(str(path)).values()
    path.write_text(text.replace('resources: { "CPU": 192, "GPU": 8 }', "labels: {}"))
    with pytest.raises(SweepError, match="node type gpu8 does not say its resources"):
        gpus_of_types(str(path))


@pytest.mark.parametrize(
    "text", ["a: [", "- 1", "kind: Pod\nspec: {}\n", "available_node_types: 3\n"]
)
def test_what_describes_no_cluster_is_refused(tmp_path, text):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(SweepError, match="no recipe of a cluster"):
        gpus_of_types(str(path))


def test_a_plan_says_what_nodes_it_needs_and_refuses_a_cluster_without(tmp_path, capsys):
    (tmp_path / "items.csv").write_text("item_id,question,option_x,option_y\nq,Which?,a,b\n")
    sweep = tmp_path / "s.toml"
    sweep.write_text(
        'name = "s"\n[[judge]]\nname = "big"\nengine = "simulated"\nmodel = "uniform"\n'
        'gpus = 4\n[[ask]]\nprotocol = "best_of"\nbenchmark = "mine"\npath = "items.csv"\n'
    )
    recipe = CLUSTER / "ray-autoscaler-aws.yaml"
    assert main(["plan", str(sweep), "--cluster", str(recipe)]) == 0
    assert "note: big: 4 GPUs on one node: needs a node of 4 GPUs" in capsys.readouterr().out
    small = tmp_path / "small.yaml"
    text = recipe.read_text()
    small.write_text(text.replace('"GPU": 4', '"GPU": 1').replace('"GPU": 8', '"GPU": 2'))
    assert main(["plan", str(sweep), "--cluster", str(small)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "expected one of 4 GPUs or more, got head 0, gpu1 1, gpu4 1, gpu8 2" in said.err
