"""The recipes of cluster/: each says its command and its cost, and is valid for its reader."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

CLUSTER = Path(__file__).resolve().parents[2] / "cluster"
RECIPES = sorted(path for path in CLUSTER.iterdir() if path.is_file())
SHELL = [path for path in RECIPES if path.suffix in {".sh", ".sbatch"}]
AUTOSCALERS = [path for path in RECIPES if path.name.startswith("ray-autoscaler-")]


def _load(name: str) -> dict:
    return yaml.safe_load((CLUSTER / name).read_text())


def _name(path: Path) -> str:
    return path.name


@pytest.fixture(scope="module")
def project(root) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def ray_version(project) -> str:
    run = project["optional-dependencies"]["run"]
    (pin,) = (line for line in run if line.startswith("ray["))
    return pin.partition("==")[2]


def test_every_way_to_a_cluster_is_there():
    names = {path.name for path in RECIPES}
    assert names >= {
        "local.sh",
        "slurm.sbatch",
        "kuberay-rayjob.yaml",
        "raycronjob.yaml",
        "plain-cronjob.yaml",
        "ray-autoscaler-aws.yaml",
        "ray-autoscaler-gcp.yaml",
        "Containerfile",
    }


@pytest.mark.parametrize("recipe", RECIPES, ids=_name)
def test_a_recipe_opens_with_its_command_and_its_cost(recipe):
    lines = recipe.read_text().splitlines()
    lines = lines[1:] if lines[0].startswith("#!") else lines
    opening = "\n".join(lines[: next(i for i, line in enumerate(lines) if line[:1] != "#")])
    assert f"cluster/{recipe.name}" in opening
    assert "\n# Cost" in opening


@pytest.mark.parametrize("recipe", SHELL, ids=_name)
def test_shell_recipes_parse(recipe):
    checked = subprocess.run(["bash", "-n", recipe], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("recipe", AUTOSCALERS, ids=_name)
def test_autoscalers_keep_rays_schema(recipe):
    (folder,) = importlib.util.find_spec("ray").submodule_search_locations
    schema = json.loads((Path(folder) / "autoscaler" / "ray-schema.json").read_text())
    jsonschema.validate(_load(recipe.name), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**_load(recipe.name), "idle_timeout": 5}, schema)


@pytest.mark.parametrize("recipe", AUTOSCALERS, ids=_name)
def test_autoscalers_guard_the_cluster_and_keep_judges_off_the_head(recipe):
    config = _load(recipe.name)
    head = config["available_node_types"][config["head_node_type"]]
    assert "--env RAY_AUTH_MODE=token" in config["docker"]["run_options"]
    assert list(config["file_mounts"].values()) == ["~/.ray/auth_token"]
    assert head["resources"] == {"CPU": 0}


@pytest.mark.parametrize(
    ("recipe", "kind", "path"),
    [
        ("kuberay-rayjob.yaml", "RayJob", ()),
        ("raycronjob.yaml", "RayCronJob", ("jobTemplate",)),
    ],
)
def test_ray_jobs_bring_a_guarded_cluster_and_take_it_down(recipe, kind, path, ray_version):
    document = _load(recipe)
    job = document["spec"]
    for part in path:
        job = job[part]
    cluster = job["rayClusterSpec"]
    head, (workers,) = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    (worker,) = workers["template"]["spec"]["containers"]
    assert (document["apiVersion"], document["kind"]) == ("ray.io/v1", kind)
    assert job["entrypoint"].startswith("python jobs/")
    assert job["shutdownAfterJobFinishes"] is True
    assert cluster["rayVersion"] == ray_version
    assert cluster["authOptions"] == {"mode": "token"}
    assert head["rayStartParams"] == {"num-cpus": "0"}
    assert worker["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_a_ray_cron_job_has_only_the_fields_it_knows():
    # An unknown field, concurrencyPolicy say, is dropped without a word by the API server.
    assert set(_load("raycronjob.yaml")["spec"]) <= {
        "schedule",
        "timeZone",
        "suspend",
        "jobTemplate",
    }


def test_the_plain_cron_job_runs_one_sweep_at_a_time_with_the_token():
    document = _load("plain-cronjob.yaml")
    pod = document["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (document["apiVersion"], document["kind"]) == ("batch/v1", "CronJob")
    assert document["spec"]["concurrencyPolicy"] == "Forbid"
    assert pod["restartPolicy"] == "Never"
    assert {"RAY_API_SERVER_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"} == {
        variable["name"] for variable in container["env"]
    }


def test_images_are_of_this_version_and_of_the_ray_pinned(project, ray_version):
    texts = {path.name: path.read_text() for path in RECIPES}
    images = {tag for text in texts.values() for tag in re.findall(r"/judgerel:(\S+)", text)}
    assert images == {project["version"]}
    assert f"FROM rayproject/ray:{ray_version}-" in texts["Containerfile"]
    asked = project["optional-dependencies"]["vllm"][-1]
    assert f"'{asked}'" in texts["Containerfile"]
