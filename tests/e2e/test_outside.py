"""Runs as people start them from outside: jobs sent to a cluster."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from judgerel_ray import example

pytestmark = [pytest.mark.ray, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SWEEP = f"""
name = "outside"
[[judge]]
name = "uniform"
engine = "simulated"
model = "uniform"
gpus = 0
[[ask]]
protocol = "best_of"
benchmark = "demo"
path = "{ROOT}/judgerel_ray/demo/items.parquet"
temperatures = [1.0, 0.0]
replications = 10
"""
REQUESTS = 16 * 11


@pytest.fixture
def sweep(tmp_path) -> Path:
    file = tmp_path / "outside.toml"
    file.write_text(SWEEP)
    return file


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def submit(source: Path, target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Send a job to a head of its own, as cluster/local.sh does."""
    own = Path(sys.executable).parent
    env = {
        **os.environ,
        "PATH": f"{own}:{os.environ['PATH']}",
        "PORT": str(free_port()),
        "DASHBOARD_PORT": str(free_port()),
        **environment,
    }
    return subprocess.run(
        ["bash", "cluster/local.sh", str(source), str(target)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=env,
        cwd=ROOT,
    )


def test_a_run_is_reduced_by_a_ray_job(tmp_path):
    run = shutil.copytree(example("run"), tmp_path / "run")
    done = submit(run, tmp_path / "report.html", JOB="jobs/reduce.py")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"erratic +best_of, 0 ", done.stdout)
    assert "simulated-steady" in (tmp_path / "report.html").read_text()


@pytest.fixture
def kept_head(tmp_path, wait_until):
    """Ports of a head that the first job starts and leaves; it ends with the test."""
    ports = {"PORT": str(free_port()), "DASHBOARD_PORT": str(free_port())}
    yield {**ports, "KEEP": "1"}
    log = (tmp_path / "sent").read_text()
    head = int(re.search(r"it ends with: kill (\d+)", log)[1])
    os.kill(head, signal.SIGTERM)
    wait_until(lambda: not os.path.exists(f"/proc/{head}"), "the end of the head")


def test_a_sweep_and_a_series_are_sent_as_ray_jobs_and_sent_again_ask_nothing(
    command, sweep, tmp_path, kept_head
):
    from ray.cluster_utils import Cluster

    run = tmp_path / "run"
    done = submit(sweep, run, **kept_head)
    (tmp_path / "sent").write_text(done.stdout)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert f"landed {REQUESTS} of {REQUESTS}" in done.stdout
    status = json.loads(command("status", str(run), "--json").stdout)
    assert (status["landed"], status["owed"]) == (REQUESTS, 0)
    # Another Ray that has begun meanwhile is not where a job of this one runs.
    other = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 0})
    (tmp_path / "where.py").write_text("import os\nprint('runs at', os.environ['RAY_ADDRESS'])\n")
    where = submit(sweep, run, **kept_head, JOB=str(tmp_path / "where.py"))
    other.shutdown()
    assert re.search(rf"^runs at \S+:{kept_head['PORT']}$", where.stdout, re.MULTILINE), where
    again = command("run", str(sweep), "--out", str(run))
    assert again.returncode == 0
    assert "(0 in this session, 0 pending)" in again.stdout

    # The series that ships, beside the demo's items; its out is a folder next to its own.
    shutil.copytree(ROOT / "jobs", tmp_path / "jobs")
    (tmp_path / "judgerel_ray").symlink_to(ROOT / "judgerel_ray")
    series, out = tmp_path / "jobs" / "nightly.toml", tmp_path / "runs" / "nightly"
    address = f"http://127.0.0.1:{kept_head['DASHBOARD_PORT']}"
    job = ["ray", "job", "submit", "--address", address, "--working-dir", ".", "--"]

    def send() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*job, "python", "jobs/refresh.py", str(series)],
            capture_output=True, text=True, timeout=900, check=False, cwd=ROOT,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )  # fmt: skip

    sent = send()
    assert sent.returncode == 0, sent.stdout[-2000:] + sent.stderr[-2000:]
    assert "refresh 1: done" in sent.stdout
    status = json.loads(command("status", f"{out}/refreshes/0001/anchors", "--json").stdout)
    assert (status["landed"], status["owed"]) == (160, 0)
    assert command("refresh", str(series)).stdout == "nothing changed: no request is new\n"
    # A judge that changes behind its name: the job ends with 6, what submits it with 1.
    (anchors,) = (tmp_path / "jobs").glob("anchors__*.toml")
    steady = re.sub(r"(?m)^engine_options.*\n", "", anchors.read_text())
    anchors.write_text(steady.replace('model = "latent"', 'model = "always"'))
    sent = send()
    assert sent.returncode == 1, sent.stdout[-2000:] + sent.stderr[-2000:]
    assert "failed with exit code 6" in sent.stdout + sent.stderr
    assert json.loads((out / "summary.json").read_text())["alarm"] is True
