"""The base install reads, measures and reports; what it lacks is named with its extra."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import venv
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from judgerel_ray import example
from tests.docs.blocks import commands, files, matches

ROOT = Path(__file__).parents[2]
_BLOCKER = """
from importlib.machinery import PathFinder
found = PathFinder.find_spec
def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {extras!r} else found(name, path, target)
PathFinder.find_spec = find_spec
"""
_TUTORIAL = ("from-a-csv.md", "gate.md", "correcting.md", "importing.md")
_IN_ONE_PROCESS = """
import contextlib, importlib.util, io, json, sys
from judgerel_ray.cli import main
assert not any(map(importlib.util.find_spec, ("ray", "pyarrow", "vllm")))
done = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        done.append((main(words), out, err))
print(json.dumps([(code, out.getvalue(), err.getvalue()) for code, out, err in done]))
"""
_EXTRAS = (
    "ray", "openai", "pyarrow", "vllm", "torch", "transformers", "altair", "vl_convert", "s3fs",
    "krippendorff", "factor_analyzer", "sklearn",
)  # fmt: skip


@pytest.fixture
def base(command, tmp_path):
    """The command in an interpreter that has the base packages only."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(_BLOCKER.format(extras=_EXTRAS))
    paths = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    return partial(command, env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("reduce", example("judgments.csv")),
        ("reduce", example("run")),
        ("questions", example("judgments.csv")),
        ("report", example("judgments.csv"), "--out", "page.html"),
        ("import", "table", example("judgments.csv"), "--column", "item_id=judge,item_id",
         "--out", "judgments.parquet"),
    ],
    ids=lambda one: " ".join(map(str, one[:2])),
)  # fmt: skip
def test_the_base_install_measures(base, arguments):
    done = base(*arguments)
    assert done.returncode == 0, done.stderr


def test_a_verb_that_needs_an_extra_names_it_in_one_line(base):
    done = base("run", str(ROOT / "jobs/demo__tiny-judge__cpu.toml"), "--out", "run")
    assert done.returncode == 2
    assert done.stderr == (
        "judgerel: a package is missing: ray. "
        "Try: pip install '.[run]' in a checkout of judgerel_ray, or make setup there\n"
    )


SWEEP = """
name = "small"
[[judge]]
name = "served"
engine = "openai"
model = "tiny"
base_url = "{url}"
[[judge]]
name = "simulated"
engine = "simulated"
model = "uniform"
gpus = 0
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.jsonl"
top_k = 0
replications = 2
"""


@pytest.fixture
def api(command, tmp_path):
    """The command in an interpreter that has the extra `api` beside the base packages."""
    others = {*_EXTRAS, "aiohttp", "yaml", "psutil", "msgpack", "jsonschema"}
    lacking = others - {"openai", "pyarrow"}
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(_BLOCKER.format(extras=tuple(lacking)))
    paths = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    environment = {name: text for name, text in os.environ.items() if name != "RAY_ADDRESS"}
    return partial(command, env={**environment, "PYTHONPATH": paths}, cwd=tmp_path)


@pytest.mark.slow
def test_judges_behind_an_api_are_asked_without_ray(api, fault_server, tmp_path):
    items = [json.dumps({"item_id": f"q{i}", "question": "Which?", "options": ["this", "that"]})
             for i in range(5)]  # fmt: skip
    (tmp_path / "items.jsonl").write_text("\n".join(items))
    with fault_server() as server:
        (tmp_path / "s.toml").write_text(SWEEP.format(url=server.url))
        planned = api("plan", "s.toml")
        done = api("run", "s.toml", "--out", "run")
        again = api("run", "s.toml", "--out", "run")
    assert "runs in one process, without Ray" in planned.stdout
    assert done.returncode == again.returncode == 0, done.stderr
    assert "20 of 20 requests landed in " in done.stdout
    assert "(20 in this session, 0 pending)" in done.stdout
    assert "(0 in this session, 0 pending)" in again.stdout
    assert len(server.asked) == 10
    assert api("reduce", "run").returncode == 0
    lacking = api("run", "s.toml", "--out", "other", "--ray")
    assert lacking.returncode == 2
    assert "a package is missing: ray. Try: pip install '.[run]' in" in lacking.stderr
    assert lacking.stderr.count("\n") == 1
    assert not (tmp_path / "other").exists()


@pytest.fixture
def source(tmp_path):
    """A copy of what the package is built of, for a build leaves files where it is done."""
    folder = tmp_path / "source"
    for name in ("judgerel_ray", "requirements"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def test_make_builds_the_wheel_without_the_environment(source):
    shutil.copy(ROOT / "Makefile", source)
    told = subprocess.run(
        ["make", "-n", "wheel"], cwd=source, capture_output=True, text=True, check=True
    ).stdout
    assert " wheel -q --no-deps " in told
    assert "torch" not in told
    assert "requirements/" not in told


@pytest.mark.slow
def test_the_wheel_alone_measures_a_file(source, tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    made = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    subprocess.run(made, cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare/bin/python"
    held = ("-c", str(ROOT / "requirements/cpu.txt"))
    # Of what is installed a small part is imported: that is compiled as it is.
    install = [*pip, "--python", str(python), "install", "-q", "--no-compile", *held, str(wheel)]
    begun = time.monotonic()
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begun
    if "Could not find a version" in installed.stderr:
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    (measure,) = (one for one in jobs["installed"]["steps"] if one.get("name") == "Measure")
    ran = subprocess.run(
        ["bash", "-ec", measure["run"]],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "alpha: agreement with itself" in ran.stdout
    shutil.copytree(ROOT / "docs/data", tmp_path / "docs/data")
    told = []
    for page in _TUTORIAL:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        told += [one for one in commands(text) if one.is_judgerel]
        for name, content in files(text).items():
            (tmp_path / name).write_text(content)
    assert len(told) >= 10
    done = subprocess.run(
        [python, "-c", _IN_ONE_PROCESS], input=json.dumps([one.words[1:] for one in told]),
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for one, (code, out, err) in zip(told, json.loads(done.stdout), strict=True):
        is_refused = one.shown.startswith("judgerel:")
        assert matches(one.shown, err if is_refused else out), (one.words, out, err)
        assert code == {"gate": 2 if is_refused else 4}.get(one.words[1], 0), (one.words, err)
    size = sum(one.stat().st_size for one in (tmp_path / "bare").rglob("*") if one.is_file())
    print(f"installed in {seconds:.0f} s, {size / 2**20:.0f} MiB; {len(told)} commands ran")


@pytest.mark.slow
def test_the_install_lines_of_the_container_find_what_they_pin(source, tmp_path):
    """In an environment of its own; what the packages need in turn is not looked for."""
    venv.create(tmp_path / "bare", with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(tmp_path / "bare/bin/python")]
    recipe = (ROOT / "cluster/Containerfile").read_text(encoding="utf-8")
    lines = re.findall(r"^RUN pip (install .*)$", recipe, re.MULTILINE)

    def tried(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*pip, *shlex.split(line), "--dry-run", "--no-deps"],
            cwd=source, capture_output=True, text=True, check=False,
        )  # fmt: skip

    found = []
    for line in lines:
        done = tried(line)
        if done.returncode and tried("install vllm").returncode:
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stderr
        found += re.findall(r"^Would install (.*)$", done.stdout, re.MULTILINE)
    (pinned,) = re.findall(r"^vllm==(\S+)$", (ROOT / "requirements/gpu.txt").read_text(), re.M)
    assert found == [f"vllm-{pinned}", f"judgerel_ray-{version('judgerel_ray')}"]
