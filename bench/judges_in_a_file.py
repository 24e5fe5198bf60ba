"""The judgments that the README and the first tutorial measure: two simulated judges in a CSV.

    python -m bench.judges_in_a_file [--seed 1] [--out docs/data/two-judges.csv]

Both judge 60 pairs of answers, four times in each order. ``first`` names the answer shown first in
97 of 100 judgments, whatever the answers; ``reader`` draws from a distribution of each pair's own.
`bench.judges_of_known_order` says what is true of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from bench.judges_of_known_order import OrderedJudge

PAIRS, TIMES = 60, 4
JUDGES = {
    "first": OrderedJudge(base="50/50", bias=0.94, alpha=0.0),
    "reader": OrderedJudge(base="50/50", bias=0.0, alpha=0.734),
}
HEAD = ("judge", "item_id", "option_order", "replication", "verdict", "label")


def rows(seed: int) -> list[tuple[str, str, int, int, str, str]]:
    """Every judgment: the option chosen and the place where it stood."""
    rng = np.random.default_rng(seed)
    found = []
    for name, judge in JUDGES.items():
        (counts,) = judge.counts(questions=PAIRS, replications=TIMES, runs=1, rng=rng)
        for unit, drawn in enumerate(counts):
            pair, order = divmod(unit, 2)
            options = rng.permutation(np.repeat([0, 1], drawn))
            for time, option in enumerate(options.tolist()):
                place = "AB"[option if order == 0 else 1 - option]
                found.append((name, f"q{pair:02}", order, time, "xy"[option], place))
    return found


def written(seed: int) -> str:
    """The file as text."""
    return "\n".join(",".join(map(str, row)) for row in (HEAD, *rows(seed))) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/data/two-judges.csv"))
    given = parser.parse_args()
    given.out.write_text(written(given.seed))


if __name__ == "__main__":
    main()
