"""The cause of a failed start is found in the log of the process that failed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from judgerel_ray.fleet.engine_log import (
    error_log_tail,
    last_error_line,
    loss_line,
    notice_line,
    short_notices,
)

LOG = """
(EngineCore pid=1) ERROR Traceback (most recent call last):
(EngineCore pid=1) ERROR   File "x.py", line 1, in y
(EngineCore pid=1) ERROR ValueError: No available memory for the cache blocks.
Traceback (most recent call last):
RuntimeError: Engine core initialization failed. See root cause above.
"""


def test_the_cause_and_not_its_echo_is_named():
    assert last_error_line(LOG) == "ValueError: No available memory for the cache blocks."
    assert last_error_line("RuntimeError: Engine core initialization failed.").startswith("Runtime")
    assert last_error_line("all is well") is None


@pytest.mark.slow
def test_a_process_reads_the_end_of_its_own_log(tmp_path):
    code = "import sys; from judgerel_ray.fleet.engine_log import error_log_tail\n"
    code += "sys.stderr.write('KeyError: lost'); sys.stderr.flush(); print(error_log_tail())"
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-c", code], stderr=log, stdout=subprocess.PIPE, text=True, check=True
        )
    assert "KeyError: lost" in done.stdout


@pytest.mark.slow
def test_a_pipe_is_left_alone():
    code = "from judgerel_ray.fleet.engine_log import error_log_tail; print(repr(error_log_tail()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "''"
    assert isinstance(error_log_tail(), str)


# As Ray 2.60 tells a driver of a worker that is gone, and of its actor's calls.
CAUSES = (
    "Worker unexpectedly exits with a connection error code 2. End of file. Some common causes "
    "include: (1) the process was killed by the OOM killer due to high memory usage, (2) ray stop "
    "--force was called, or (3) the worker crashed unexpectedly due to SIGSEGV or another "
    "unexpected error. If the process was killed by the kernel OOM killer (verifiable by checking "
    "for OOM in dmesg of the OOMing node), consider enabling resource isolation."
)
NOTICE = (
    "A worker died or was killed while executing a task by an unexpected system error. To "
    "troubleshoot the problem, check the logs for the dead worker. Lease ID: 00000000eeb5 Worker "
    "ID: 4b7e14f9 Node ID: 294ecedd Worker IP address: 10.0.0.1 Worker port: 45063 Worker PID: "
    "15723 Worker exit type: SYSTEM_ERROR Worker exit detail: " + CAUSES
)
DIED = (
    "ActorDiedError: The actor is dead because its worker process has died. Worker exit type: "
    "SYSTEM_ERROR Worker exit detail: " + CAUSES
)


def test_a_death_is_one_short_line_with_judge_and_log():
    assert loss_line("llama", DIED, log="n1:/tmp/w.err") == (
        "llama: an engine died: Worker unexpectedly exits with a connection error code 2. End of "
        "file. Its log: n1:/tmp/w.err"
    )
    assert len(loss_line("llama", "x" * 5_000, log=None)) < 300
    assert "\n" not in loss_line("llama", "one\ntwo", log=None)


def test_what_ray_prints_of_a_death_is_left_out_and_the_rest_is_short(monkeypatch):
    worker = pytest.importorskip("ray._private.worker")
    printed = []

    def told(data, ignore_prefix):
        printed.append((data["pid"], data["lines"], ignore_prefix))

    monkeypatch.setattr(worker, "print_to_stdstream", told)
    said = ["node lost " + "x" * 900, "two\nlines"]
    with short_notices():
        for pid, lines in (("raylet", [NOTICE]), ("raylet", said), ("autoscaler", [NOTICE])):
            notice = {"lines": lines, "pid": pid, "is_err": False}
            worker.print_to_stdstream(notice, ignore_prefix=False)
    assert worker.print_to_stdstream is told
    assert [pid for pid, _, _ in printed] == ["raylet", "autoscaler"]
    assert [len(line) for line in printed[0][1]] == [203, 9]
    assert printed[1][1] == [NOTICE]  # not of an engine
    assert notice_line("two\nlines") == "two lines"
