"""A responder's part is lost, the driver that asks it again is killed, and another goes on."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.store import (
    RunDirectory,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)

pytestmark = [pytest.mark.ray, pytest.mark.slow]

N_ITEMS = 30
ITEMS = [f'{{"item_id": "q{i}", "question": "Larger {i}?"}}' for i in range(N_ITEMS)]
ASK = 'responders = ["x", "y"]\nreplications = 20\ntemperatures = [1.0]'
SLOW = "engine_options = { tokens_per_s = 400 }"


def test_no_judgment_stays_on_a_text_that_is_gone(sweep, driver_of, ray_local, wait_until):
    resolved = sweep(judges=[("j", SLOW), ("x", ""), ("y", "")], asks=[ASK], items=ITEMS)
    driver = driver_of(resolved)
    # Words that the responder, once it is asked for real, does not say again.
    driver.go("words of the first time")
    driver.check_whole()
    for part in sorted(Path(driver.out, "data", "judge=x").iterdir())[:6]:
        part.unlink()

    address = ray_local.get_runtime_context().gcs_address
    file = Path(driver.out).parent / "one" / "s.toml"
    command = [sys.executable, "-m", "judgerel_ray", "run", str(file), "--out", driver.out]
    process = subprocess.Popen(
        [*command, "--address", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
    )
    run = RunDirectory.open(driver.out)
    try:
        wait_until(lambda: process.poll() is not None or judged_now(run) > 0, "judgments")
        assert process.poll() is None, process.communicate()
        assert judged_now(run) < 6 * 20
    finally:
        process.send_signal(signal.SIGKILL)
        _, told = process.communicate()
    assert "lost: the files of 6 commits are gone, cut or altered" in told
    assert "dropped: 6 commits with rows on answers that the run does not hold" in told
    assert not [found for found in verify_run(run) if found.level == "error"]

    summary = run_sweep(
        resolved.sweep, out=driver.out, address=None, console=Console(file=io.StringIO())
    )
    assert (summary.owed, summary.landed) == (0, driver.plan.requests)
    driver.check_whole()
    texts = scan_completions(run).collect().join(scan_judgments(run).collect(), on="key")
    answers = texts.filter(texts["judge"] == "x")["text"]
    assert answers.str.starts_with("words of the first time").sum() == N_ITEMS - 6


def judged_now(run):
    """Judgments that landed in the second session."""
    ledger = read_ledger(run)
    return sum(one.rows for one in ledger.commits if (one.session, one.judge) == (2, "j"))
