"""The recipes of cluster/: each says its command and its cost, and is valid for its reader."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

from judgerel_ray.config.series import load_series

CLUSTER = Path(__file__).resolve().parents[2] / "cluster"
# JSON has no comments to open with; the dashboard is tested beside what it shows.
RECIPES = sorted(path for path in CLUSTER.iterdir() if path.is_file() and path.suffix != ".json")
SHELL = [path for path in RECIPES if path.suffix in {".sh", ".sbatch"}]
SCRIPTS = [*CLUSTER.parent.glob("jobs/*.sh"), CLUSTER.parent / ".ci/run"]
SCRIPTS += CLUSTER.parent.glob(".github/actions/**/*.sh")
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


@pytest.mark.parametrize("script", [*SHELL, *SCRIPTS], ids=_name)
def test_shellcheck_finds_nothing(script):
    shellcheck = Path(sys.executable).parent / "shellcheck"
    checked = subprocess.run([shellcheck, script], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.parametrize("recipe", AUTOSCALERS, ids=_name)
def test_autoscalers_keep_rays_schema(recipe):
    (folder,) = importlib.util.find_spec("ray").submodule_search_locations
    schema = json.loads((Path(folder) / "autoscaler" / "ray-schema.json").read_text())
    jsonschema.validate(_load(recipe.name), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**_load(recipe.name), "idle_timeout": 5}, schema)


@pytest.mark.parametrize("recipe", AUTOSCALERS, ids=_name)
def test_workers_of_autoscalers_are_spot_nodes_and_fit_under_the_cap(recipe):
    config = _load(recipe.name)
    for name, kind in config["available_node_types"].items():
        if name == config["head_node_type"]:
            continue
        node = kind["node_config"]
        is_spot = node.get("InstanceMarketOptions") == {"MarketType": "spot"}
        assert is_spot or {"preemptible": True} in node.get("scheduling", ())
        assert (kind["min_workers"], kind["max_workers"] <= config["max_workers"]) == (0, True)


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
    head, groups = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    assert (document["apiVersion"], document["kind"]) == ("ray.io/v1", kind)
    assert job["entrypoint"].startswith("python jobs/")
    assert job["shutdownAfterJobFinishes"] is True
    assert cluster["rayVersion"] == ray_version
    assert cluster["authOptions"] == {"mode": "token"}
    assert head["rayStartParams"] == {"num-cpus": "0"}
    for group in groups:
        (worker,) = group["template"]["spec"]["containers"]
        assert int(worker["resources"]["limits"]["nvidia.com/gpu"]) >= 1
        assert worker["resources"]["requests"] == worker["resources"]["limits"]


@pytest.fixture(scope="module")
def kinds() -> dict:
    """Schemas of Kubernetes' kinds that recipes are of; the file says from where."""
    return json.loads((Path(__file__).parent / "kuberay-1.7.0.json").read_text())


@pytest.mark.parametrize("recipe", ["kuberay-rayjob.yaml", "raycronjob.yaml"])
def test_ray_jobs_keep_the_schema_of_kuberay(recipe, kinds):
    # An unknown field, concurrencyPolicy say, is dropped without a word by the API server.
    document = _load(recipe)
    schema = kinds[document["kind"]]
    jsonschema.validate(document, schema)
    unknown = {**document, "spec": {**document["spec"], "concurrencyPolicy": "Forbid"}}
    with pytest.raises(jsonschema.ValidationError, match="concurrencyPolicy"):
        jsonschema.validate(unknown, schema)


def test_a_series_has_the_nodes_of_a_sweep():
    job, series = _load("kuberay-rayjob.yaml")["spec"], _load("raycronjob.yaml")["spec"]
    of_job, of_series = (
        one["rayClusterSpec"]["workerGroupSpecs"] for one in (job, series["jobTemplate"])
    )
    assert of_series == of_job


def test_nodes_of_the_ray_job_share_the_models_and_say_where(kinds):
    groups = _load("kuberay-rayjob.yaml")["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    claim = _load("model-cache.yaml")
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    jsonschema.validate(claim["spec"], kinds["PersistentVolumeClaimSpec"])
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    for group in groups:
        pod = group["template"]["spec"]
        (worker,) = pod["containers"]
        (models,) = (volume for volume in pod["volumes"] if volume["name"] == "models")
        (mount,) = (one for one in worker["volumeMounts"] if one["name"] == "models")
        assert models["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert {"name": "HF_HOME", "value": mount["mountPath"]} in worker["env"]


def test_the_pod_of_the_plain_cron_job_is_one_of_kubernetes(kinds):
    # Kubernetes 1.31, batch/v1: what a CronJob and its Job may say, of which a pod is described.
    job = _load("plain-cronjob.yaml")["spec"]
    assert set(job) <= {
        "schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend",
        "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
    }  # fmt: skip
    assert set(job["jobTemplate"]["spec"]) <= {
        "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "selector",
        "template", "ttlSecondsAfterFinished", "completionMode", "suspend", "podFailurePolicy",
    }  # fmt: skip
    pod = job["jobTemplate"]["spec"]["template"]["spec"]
    jsonschema.validate(pod, kinds["PodSpec"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**pod, "restart": "Never"}, kinds["PodSpec"])


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


@pytest.mark.parametrize("recipe", ["raycronjob.yaml", "plain-cronjob.yaml"])
def test_recipes_of_a_series_send_one_that_ships_to_a_bucket(recipe, root, tmp_path):
    text = (CLUSTER / recipe).read_text()
    (name,) = re.findall(r"s\|SERIES\|(\w+)\|g", text)
    assert f"jobs/{name}.toml" in text.replace("jobs/SERIES.toml", "")
    shipped = root / "jobs" / f"{name}.toml"
    (command,) = re.findall(r"^#     (sed -i .*? jobs/\w+\.toml)", text, re.MULTILINE)
    shutil.copytree(root / "jobs", tmp_path / "jobs")
    subprocess.run(["bash", "-c", command], check=True, cwd=tmp_path)
    series = load_series(tmp_path / "jobs" / shipped.name)
    assert series.url == f"s3://my-bucket/{name}"
    assert series.sweep == load_series(shipped).sweep


def test_the_line_of_a_crontab_names_a_series_that_ships(root):
    for page in (CLUSTER / "plain-cronjob.yaml", root / "docs" / "refresh.md"):
        line = re.search(r"17 3 \* \* \* .* refresh (\S+?\.toml)", page.read_text())
        assert load_series(root / line[1]).name == "nightly"


SENT = (
    "jobs/refresh.py",
    "cluster/raycronjob.yaml",
    "cluster/plain-cronjob.yaml",
    "docs/refresh.md",
)


@pytest.mark.parametrize("name", SENT)
def test_what_sends_a_series_says_how_an_alarm_ends_it(name, root):
    text = re.sub(r"\n#?\s*", " ", (root / name).read_text())
    assert re.search(r"`ray job submit`.{0,30} ends with 1 for every job that failed", text)
    assert "failed with exit code 6" in text
    assert '"alarm": true' in text


def test_the_container_installs_what_the_environment_of_a_gpu_does(root):
    """Its install lines are those of `make setup`, held to the same pinned lists."""
    lines = (CLUSTER / "Containerfile").read_text().splitlines()
    installs = [line for line in lines if line.startswith("RUN pip install")]
    lists = r"-c requirements/gpu\.txt -c requirements/house\.txt"
    assert all(re.search(lists, line) for line in installs)
    makefile = (root / "Makefile").read_text()
    assert re.search(rf"{lists} -e '\.\[vllm,\$\(EXTRAS\)\]'", makefile)
    of_gpu, of_cpu = (
        re.findall(pin, text, re.MULTILINE)
        for pin, text in (
            (r"^vllm==(\S+)$", (root / "requirements" / "gpu.txt").read_text()),
            (r"\bvllm-cpu==(\S+)$", makefile),
        )
    )
    assert (of_gpu, len(of_gpu)) == (of_cpu, 1)  # the vLLM that the tests run
    (project_line,) = (line for line in installs if "'.[" in line)
    extras = set(re.search(r"'\.\[(.*)\]'", project_line)[1].split(","))
    known = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert extras <= set(known["optional-dependencies"])
    pinned = (root / "requirements" / "house.txt").read_text().lower()
    for asked in known["dependencies"]:
        name = re.match(r"[a-z0-9_-]+", asked)[0]
        in_lists = pinned + (root / "requirements" / "cpu.txt").read_text().lower()
        assert re.search(rf"^{name}==", in_lists, re.MULTILINE), name


def test_images_are_of_this_version_and_of_the_ray_pinned(project, ray_version):
    texts = {path.name: path.read_text() for path in RECIPES}
    images = {tag for text in texts.values() for tag in re.findall(r"/judgerel:(\S+)", text)}
    assert images == {project["version"]}
    assert f"FROM rayproject/ray:{ray_version}-" in texts["Containerfile"]
    asked = project["optional-dependencies"]["vllm"][-1]
    assert f"'{asked}'" in texts["Containerfile"]
