"""The base install reads, measures and reports; what it lacks is named with its extra."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from judgerel_ray import example

ROOT = Path(__file__).parents[2]
_BLOCKER = """
from importlib.machinery import PathFinder
found = PathFinder.find_spec
def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {extras!r} else found(name, path, target)
PathFinder.find_spec = find_spec
"""
_EXTRAS = (
    "ray", "openai", "pyarrow", "vllm", "torch", "transformers", "altair", "vl_convert", "s3fs",
    "krippendorff", "factor_analyzer", "sklearn",
)  # fmt: skip


@pytest.fixture
def base(tmp_path):
    """The command in an interpreter that has the base packages only."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(_BLOCKER.format(extras=_EXTRAS))
    paths = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])

    def act(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "judgerel_ray", *arguments],
            env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return act


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
        "Try: pip install 'judgerel_ray[run]', or make setup in a checkout\n"
    )


@pytest.mark.slow
def test_the_wheel_alone_measures_a_file(tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    made = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    source = tmp_path / "source"  # for a build leaves files where it is done
    shutil.copytree(
        ROOT / "judgerel_ray", source / "judgerel_ray", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    subprocess.run(made, cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare/bin/python"
    held = ("-c", str(ROOT / "requirements/cpu.txt"))
    install = [*pip, "--python", str(python), "install", "-q", *held, str(wheel)]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if "Could not find a version" in installed.stderr:
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    (tmp_path / "results.csv").write_bytes(Path(example("judgments.csv")).read_bytes())
    for arguments in (["--help"], ["reduce", "results.csv"]):
        done = subprocess.run(
            [tmp_path / "bare/bin/judgerel", *arguments], cwd=tmp_path, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    absent = subprocess.run([python, "-c", "import ray"], capture_output=True, check=False)
    assert absent.returncode != 0
