"""Run a sweep as a Ray job.

    ray job submit --working-dir . -- python jobs/sweep.py jobs/SWEEP.toml RUN [FLAGS]

FLAGS are those of ``judgerel run``, such as --unreadable-ok.
The driver runs on the head without a GPU and joins the cluster that started it; engines run where
GPUs are. RUN must be seen by every node: a shared folder or a bucket (s3://...). Submit the same
line again to go on with what is pending. The job's exit code is that of ``judgerel run``; ``ray job
submit`` itself ends with 1 for every job that failed, and prints the job's code.
"""

from __future__ import annotations

import os
import sys

from judgerel_ray.cli import main

USAGE = "usage: python jobs/sweep.py SWEEP.toml RUN [FLAGS of judgerel run]"
MISTAKE = 2


def submit() -> int:
    """Run the sweep on the cluster that this job is on."""
    if len(sys.argv) < 3:
        print(USAGE, file=sys.stderr)
        return MISTAKE
    sweep, run, *flags = sys.argv[1:]
    address = os.environ.get("RAY_ADDRESS", "auto")
    return main(["run", sweep, "--out", run, "--address", address, *flags])


if __name__ == "__main__":
    sys.exit(submit())
