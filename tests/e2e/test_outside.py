"""Runs as people start them from outside: a job sent to a cluster, a run directory in a bucket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import uuid
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


def judgerel(
    *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "judgerel_ray", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, **(env or {})},
        cwd=ROOT,
    )


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
    assert "simulated-erratic, best_of, temperature 0" in done.stdout
    assert "simulated-steady" in (tmp_path / "report.html").read_text()


def test_a_sweep_is_sent_as_a_ray_job_and_sent_again_asks_nothing(sweep, tmp_path):
    run = tmp_path / "run"
    done = submit(sweep, run)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert f"landed {REQUESTS} of {REQUESTS}" in done.stdout
    status = json.loads(judgerel("status", str(run), "--json").stdout)
    assert (status["landed"], status["owed"]) == (REQUESTS, 0)
    again = judgerel("run", str(sweep), "--out", str(run))
    assert again.returncode == 0
    assert "(0 in this session, 0 pending)" in again.stdout


def test_a_run_directory_may_be_a_bucket(sweep):
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    env = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "planted-secret-value",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    try:
        # moto's buckets outlive its servers within a process.
        bucket = f"outside-{uuid.uuid4().hex}"
        make = f"import s3fs; s3fs.S3FileSystem().mkdir('{bucket}')"
        subprocess.run([sys.executable, "-c", make], check=True, env={**os.environ, **env})
        run = f"s3://{bucket}/outside"
        done = judgerel("run", str(sweep), "--out", run, env=env)
        assert done.returncode == 0, done.stderr[-2000:]
        assert f"{REQUESTS} of {REQUESTS} requests landed" in done.stdout
        again = judgerel("run", str(sweep), "--out", run, env=env)
        assert "(0 in this session, 0 pending)" in again.stdout
        assert judgerel("verify", run, env=env).returncode == 0
        reduced = json.loads(judgerel("reduce", run, "--format", "json", env=env).stdout)
        assert {row["n_items"] for row in reduced} == {16}
        read = "import s3fs, sys; fs = s3fs.S3FileSystem(); sys.stdout.buffer.write(b''.join("
        read += f"fs.cat(path) for path in fs.find('{bucket}/outside')))"
        everything = subprocess.run(
            [sys.executable, "-c", read], check=True, capture_output=True, env={**os.environ, **env}
        ).stdout
        assert len(everything) > 1000
        assert b"planted-secret-value" not in everything
    finally:
        server.stop()
