"""How often a pilot stops a judge by the share of its replies that can be read, and after how many.

    OMP_NUM_THREADS=1 python -m bench.pilot_stop [--runs 10000] [--cells 1 4] [--seed 1]

Replies of 800 questions are readable independently, at the share of the row, and cells (templates
at temperatures) take turns. Every run makes the looks of a sweep with the sweep's own rule. Prints,
per number of cells and share, in how many runs the judge is stopped, the median and the most
questions paid where it is, and how many it pays on average. The error of a share is half a point.
"""

from __future__ import annotations

import argparse

import numpy as np

from judgerel_ray.asking.run.readability import LOOKS, pilot_looks, shortfall_of

SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.0)
WANTED = 0.2


def questions_paid(replies: list[bool], n_cells: int) -> int | None:
    """Questions after which a judge with these replies is stopped; None where it never is."""
    cells = [place % n_cells for place in range(len(replies))]
    for look in pilot_looks(len(replies)):
        if shortfall_of(replies[:look], cells[:look], share=WANTED) is not None:
            return look
    return None


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--cells", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    print("cells  share  stopped %  median  most  paid on average")
    for n_cells in asked.cells:
        for share in SHARES:
            drawn = rng.random((asked.runs, LOOKS[-1])) < share
            paid = [questions_paid(replies.tolist(), n_cells) for replies in drawn]
            stopped = [n for n in paid if n is not None]
            middle = f"{np.median(stopped):6.0f}  {max(stopped):4d}" if stopped else "     -     -"
            mean = np.mean([LOOKS[-1] if n is None else n for n in paid])
            print(
                f"{n_cells:5d}  {share:5.2f}  {100 * len(stopped) / asked.runs:9.2f}  {middle}  "
                f"{mean:15.1f}"
            )


if __name__ == "__main__":
    main()
