"""Judges that cannot be read, on a cluster: stopped, gone on with, killed meanwhile."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import judgerel_ray
from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.cli import main
from judgerel_ray.core import UnfinishedRunWarning
from judgerel_ray.store import RunDirectory, read_ledger, scan_judgments, verify_run

pytestmark = pytest.mark.ray

ITEM = '{{"item_id": "q{0}", "question": "Larger {0}?", "options": ["one", "two"], "gold": "A"}}'
ITEMS = [ITEM.format(i) for i in range(120)]


@pytest.mark.slow
def test_a_judge_that_cannot_be_read_is_stopped_and_the_other_goes_on(sweep, ray_local, capsys):
    assert ray_local.is_initialized()
    share = "engine_options = {{ unparsed = {} }}".format
    judges = [("bad", share(1.0)), ("poor", share(0.7))]
    resolved = sweep(judges=judges, asks=["replications = 5"], items=ITEMS)
    file = Path(resolved.sweep.folder, "s.toml")
    out = file.parent / "run"
    assert main(["run", str(file), "--out", str(out)]) == 1
    printed, told = capsys.readouterr()
    assert "650 of 1200 requests landed" in printed
    assert (
        "judgerel: stopped after 50 questions: 0 of 50 replies of judge bad (ask[0], best_of) hold "
        'a verdict that can be read. One reply: "Each of them has something to say for itself."; '
        'the reader wants "Best Response: [[A]]". Try: another template or form in a new --out, or '
        "--unreadable-ok to go on\n"
    ) in told
    assert "judgerel: 550 requests are pending. Try: what is said above, then run again" in told
    assert main(["status", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["owed"]) == ("incomplete", 550)
    bad, poor = found["judges"]
    assert bad["error"].startswith("stopped after 50 questions: 0 of 50 replies of judge bad")
    assert bad["error"].endswith("; --unreadable-ok goes on")
    assert (bad["outcomes"], poor["error"], poor["owed"]) == ({"unparsed": 50}, None, 0)

    with pytest.warns(UnfinishedRunWarning, match="has 550 pending requests; stopped after 50"):
        assert judgerel_ray.run(file, out=out).height == 650
    assert main(["run", str(file), "--out", str(out), "--unreadable-ok"]) == 0
    assert "1200 of 1200 requests landed" in capsys.readouterr().out
    assert [one for one in verify_run(RunDirectory.open(str(out))) if one.level == "error"] == []


@pytest.mark.slow
def test_a_pilot_that_is_killed_goes_on(sweep, ray_local, wait_until):
    slow = "engine_options = { unparsed = 1.0, tokens_per_s = 60 }"
    asks = ["replications = 5\nmax_tokens = 900"]
    resolved = sweep(judges=[("j", slow)], asks=asks, items=ITEMS)
    file = Path(resolved.sweep.folder, "s.toml")
    out = str(file.parent / "run")
    command = [sys.executable, "-m", "judgerel_ray", "run", str(file), "--out", out]
    address = ray_local.get_runtime_context().gcs_address
    process = subprocess.Popen(
        [*command, "--address", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
    )
    run = RunDirectory(url=out)
    try:
        wait_until(lambda: process.poll() is not None or _landed(run) > 0, "replies")
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _landed(run) <= 50
    ended = run_sweep(resolved.sweep, out=out, console=Console(file=io.StringIO()))
    assert (ended.landed, ended.owed) == (50, 550)
    assert [stop.problem[:26] for stop in ended.stops] == ["stopped after 50 questions"]
    rows = scan_judgments(run).collect()
    assert rows["key"].n_unique() == rows["item_id"].n_unique() == rows.height == 50


def _landed(run):
    """Replies that landed by now."""
    return read_ledger(run).n_rows if run.is_run() else 0
