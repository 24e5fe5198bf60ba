"""Every bench says what it does, whatever the machine has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.reduce_at_scale_run import write_run
from judgerel_ray.store import RunDirectory, verify_run
from judgerel_ray.store.status import read_status

ROOT = Path(__file__).parents[2]
# Those that failed before they had read their arguments, and one that reads recordings.
NAMES = ["reduce_at_scale_run", "recorded_uncertainty", "recorded_pairwise"]


def run(name, *arguments):
    """A bench as a module, on a machine without recordings."""
    environment = {key: value for key, value in os.environ.items() if key != "JUDGEREL_DATA"}
    return subprocess.run(
        [sys.executable, "-m", f"bench.{name}", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", NAMES)
def test_help_is_had_without_recordings(name):
    found = run(name, "--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert "usage:" in found.stdout


@pytest.mark.slow
def test_missing_recordings_are_one_line():
    found = run("recorded_uncertainty")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "JUDGEREL_DATA must name the folder of recordings, got ''\n"


def test_a_run_made_for_scale_is_whole(tmp_path):
    write_run(tmp_path / "run", questions=6, replications=10, per_part=20)
    assert verify_run(RunDirectory.open(str(tmp_path / "run"))) == []
    status = read_status(str(tmp_path / "run"))
    assert (status.state, [one.landed for one in status.judges]) == ("done", [60])
