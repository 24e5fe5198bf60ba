"""Do 95 % intervals cover, and is noise called noise? Simulated judges of known coefficients.

    python -m bench.coverage_of_intervals [--runs 2000] [--seed 1] [--out docs/coverage.md]
                                          [--whole build/lists/coverage.md] [--cells FILE]

Each cell draws Dirichlet-multinomial judgments (bench/judges_of_known_truth.py) and computes the
shipped ``jackknife_interval`` of each coefficient, of all tables at once; of the first 50 the
shipped function itself is asked, and the run stops where it says anything else. A cell has its own
random stream, so cells may be computed in any order; with --cells they are kept in a file and taken
from there, so that a run that was cut off goes on. Most of the time goes into the noise floors, of
half as many runs: about a quarter of an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.coverage_page import page
from bench.judges_of_known_truth import ALPHAS, BASES, QUESTIONS, REPLICATIONS, Judge
from bench.noise_is_called_noise import Called, experiments
from bench.simulated_coverage import Coverage, cell
from bench.whole_list import LISTS, write_page


def cells(*, runs: int, seed: int, kept: Path) -> tuple[list[Coverage], list[Called]]:
    """Compute what `kept` lacks, line by line, and read all of it."""
    keys = (
        {json.loads(line)["key"] for line in kept.read_text().splitlines()}
        if kept.exists()
        else set()
    )
    with kept.open("a") as file:
        for key, covered, noise in _computed(keys, runs=runs, seed=seed):
            record = {
                "key": key,
                "coverage": [asdict(one) for one in covered],
                "noise": [asdict(one) for one in noise],
            }
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(key, flush=True)
    records = [json.loads(line) for line in kept.read_text().splitlines()]
    return (
        [Coverage(**one) for record in records for one in record["coverage"]],
        [Called(**one) for record in records for one in record["noise"]],
    )


def _computed(
    keys: set[str], *, runs: int, seed: int
) -> Iterator[tuple[str, Sequence[Coverage], Sequence[Called]]]:
    """Cells that are not there yet, then the other experiments with noise."""
    for base in BASES:
        for questions in QUESTIONS:
            for replications in REPLICATIONS:
                for alpha in ALPHAS:
                    key = f"{seed} {runs} {base} {questions} {replications} {alpha}"
                    if key not in keys:
                        judge = Judge(base=base, alpha=alpha)
                        covered, noise = cell(judge, questions, replications, runs=runs, seed=seed)
                        yield key, covered, noise
    for name, experiment in experiments(runs // 2, seed):
        key = f"{seed} {runs} {name}"
        if key not in keys:
            yield key, [], experiment()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="simulated judges a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage.md"))
    parser.add_argument("--whole", type=Path, default=LISTS / "coverage.md", help="every row")
    parser.add_argument("--cells", type=Path, help="keep cells here, and take them from here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.cells or Path(folder, "cells.jsonl")
        covered, noise = cells(runs=given.runs, seed=given.seed, kept=kept)
    text = page(covered, noise, runs=given.runs, seed=given.seed)
    write_page(given.out, given.whole, text)


if __name__ == "__main__":
    main()
