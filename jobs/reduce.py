"""Reduce a run on the cluster's head, where the run directory is near, and write the report.

    ray job submit --working-dir . -- python jobs/reduce.py RUN report.html

Needs no GPU and no Ray beyond the job itself; works while a sweep goes on.
"""

from __future__ import annotations

import sys

from judgerel_ray.cli import main

USAGE = "usage: python jobs/reduce.py RUN report.html"
MISTAKE = 2


def submit() -> int:
    """Print the coefficients and write the report."""
    if len(sys.argv) != 3:
        print(USAGE, file=sys.stderr)
        return MISTAKE
    run, report = sys.argv[1:]
    return main(["reduce", run]) or main(["report", run, "--out", report, "--force"])


if __name__ == "__main__":
    sys.exit(submit())
