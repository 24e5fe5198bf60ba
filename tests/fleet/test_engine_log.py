"""The cause of a failed start is found in the log of the process that failed."""

from __future__ import annotations

import subprocess
import sys

from judgerel_ray.fleet.engine_log import last_error_line, own_log_tail

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


def test_a_process_reads_the_end_of_its_own_log(tmp_path):
    code = "import sys; from judgerel_ray.fleet.engine_log import own_log_tail\n"
    code += "sys.stderr.write('KeyError: lost'); sys.stderr.flush(); print(own_log_tail())"
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-c", code], stderr=log, stdout=subprocess.PIPE, text=True, check=True
        )
    assert "KeyError: lost" in done.stdout


def test_a_pipe_is_left_alone():
    code = "from judgerel_ray.fleet.engine_log import own_log_tail; print(repr(own_log_tail()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "''"
    assert isinstance(own_log_tail(), str)
