"""Refresh a series as a Ray job.

    ray job submit --working-dir . -- python jobs/refresh.py SERIES.toml

The driver runs on the head without a GPU and joins the cluster that started it. The ``out`` of the
series must be seen by every node: a shared folder or a bucket (s3://...). Submit the same line as
often as a schedule likes: one refresh runs at a time, and asks only what is new. The job's exit
code is that of ``judgerel refresh``: 6 where a judge is called drifted. ``ray job submit`` itself
ends with 1 for every job that failed, and prints the job's code (``failed with exit code 6``);
``summary.json`` of the series has ``"alarm": true``.
"""

from __future__ import annotations

import os
import sys

from judgerel_ray.cli import main

USAGE = "usage: python jobs/refresh.py SERIES.toml"
MISTAKE = 2


def submit() -> int:
    """Refresh the series on the cluster that this job is on."""
    if len(sys.argv) != 2:
        print(USAGE, file=sys.stderr)
        return MISTAKE
    return main(["refresh", sys.argv[1], "--address", os.environ.get("RAY_ADDRESS", "auto")])


if __name__ == "__main__":
    sys.exit(submit())
