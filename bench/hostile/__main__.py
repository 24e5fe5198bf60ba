"""Run hostile inputs, and make the page of them.

python -m bench.hostile --out docs/hostile-inputs.md      # all, two to five minutes on 2 cores
python -m bench.hostile --only Targets                    # of one family, failures printed
python -m bench.hostile --fast                            # the few that the tests run
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.hostile.case import Case, Result


def all_cases(bases: Path) -> Iterator[Case]:
    """Every case, in the order of the page; `bases` holds the run directories they copy."""
    from bench.hostile.careless import careless_cases
    from bench.hostile.flags import flag_and_frame_cases
    from bench.hostile.formats import format_and_number_cases
    from bench.hostile.nesting import nested_cases
    from bench.hostile.runs import run_cases as damaged_cases
    from bench.hostile.streams import stream_cases
    from bench.hostile.sweeps import sweep_cases
    from bench.hostile.tables import table_cases
    from bench.hostile.targets import target_cases

    yield from table_cases()
    yield from format_and_number_cases()
    yield from nested_cases()
    yield from careless_cases()
    yield from target_cases()
    yield from damaged_cases(bases)
    yield from sweep_cases()
    yield from flag_and_frame_cases()
    yield from stream_cases()


def imported_once() -> None:
    """Import what verbs import, for every case's process to have it."""
    warnings.simplefilter("ignore")
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import scipy.stats  # noqa: F401

    import judgerel_ray.analyses.selection.from_run
    import judgerel_ray.config
    import judgerel_ray.importers
    import judgerel_ray.measuring.reliability
    import judgerel_ray.reporting.pages  # noqa: F401


def main() -> int:
    """Run, print failures and counts, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="the page, in short")
    parser.add_argument("--whole", type=Path, help="the page with a row a case")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--fast", action="store_true", help="the cases of the tests")
    parser.add_argument("--results", type=Path, help="all results as JSON lines")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--bases", type=Path, help="where run directories lie, or are to be made")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hostile-bases-") as made:
        bases = parsed.bases or Path(made)
        from bench.hostile.run_directories import make_bases

        make_bases(bases)
        cases = chosen(all_cases(bases), parsed.only, fast=parsed.fast)
        imported_once()
        from bench.hostile.runner import run_cases

        results = []
        for result in run_cases(cases, bases=bases, jobs=parsed.jobs):
            results.append(result)
            if not result.good:
                print(f"{result.kind.upper()}  {result.case.key}: {result.why}", flush=True)
    place = {case.key: i for i, case in enumerate(cases)}
    results.sort(key=lambda result: place[result.case.key])
    print_counts(results)
    if parsed.results:
        parsed.results.write_text("".join(map(_as_line, results)), encoding="utf-8")
    from bench.hostile.page import page_of, summary_of

    for path, written in ((parsed.out, summary_of), (parsed.whole, page_of)):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(results), encoding="utf-8")
    return int(not all(result.good for result in results))


def chosen(cases: Iterator[Case], only: str, *, fast: bool) -> list[Case]:
    """The cases asked for; no two have one name."""
    found = [case for case in cases if only in case.key and (case.fast or not fast)]
    doubled = [name for name, n in Counter(case.key for case in found).items() if n > 1]
    if doubled:
        sys.exit(f"cases of one name: {doubled}")
    return found


def _as_line(result: Result) -> str:
    row = {"family": result.case.family, "what": result.case.what, "kind": result.kind,
            "why": result.why, "code": result.came.code}  # fmt: skip
    return json.dumps(row) + "\n"


def print_counts(results: list[Result]) -> None:
    """Counts by what came of the cases."""
    kinds = Counter(result.kind for result in results)
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())), f"of {len(results)}")


if __name__ == "__main__":
    sys.exit(main())
