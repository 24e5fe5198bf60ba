"""Whether every verb still says what it said: record once, then hold later code against it.

    python -m bench.unchanged record DIR [--demo] [--missing]  # DIR/inputs once, and DIR/recorded
    python -m bench.unchanged compare DIR [--only report,sampled] [--kept] [--most 60]

Inputs are recordings (JUDGEREL_DATA) as imported, runs of every protocol by simulated judges and,
with ``--demo``, the demo's with real vLLM; they stay as they are, so that later code reads the same
bytes. ``compare`` prints every difference that `spelling.EXPECTED` does not explain and exits 1
where there is one: numbers apart by more than 1e-9 of their size, fields and rows missing or new,
words of a table, exit codes; of terminal texts and pages, numbers lost or gained. Names that
changed are mapped in `spelling`. ``--kept`` leaves out the sweeps, which a local Ray asks anew.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Read when libraries are imported. One thread: sums are then of the same order everywhere.
os.environ.update(
    OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1", COLUMNS="100", NO_COLOR="1", TERM="dumb",
    RAY_USAGE_STATS_ENABLED="0", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1",
    VLLM_LOGGING_LEVEL="ERROR", VLLM_NO_USAGE_STATS="1", DO_NOT_TRACK="1",
)  # fmt: skip
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))

from bench.unchanged.cases import Case, all_cases
from bench.unchanged.differ import Found, lines_of
from bench.unchanged.running import run_case, show_progress
from bench.unchanged.spelling import VIEWS


def main() -> int:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("act", choices=("record", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="cases whose names hold these words")
    parser.add_argument("--demo", action="store_true", help="make the demo's run, too (real vLLM)")
    parser.add_argument("--missing", action="store_true", help="record what has no record yet")
    parser.add_argument("--kept", action="store_true", help="ask no sweep anew")
    parser.add_argument("--most", type=int, default=60, help="kinds of differences to print")
    parser.add_argument("--slowest", type=int, default=0, help="cases to print with their CPU time")
    given = parser.parse_args()
    folder = given.folder.resolve()
    inputs, recorded = folder / "inputs", folder / "recorded"
    words = [word for word in given.only.split(",") if word]
    cases = [
        case for case in all_cases()
        if all(word in case.name for word in words) and not (given.kept and is_asked(case))
    ]  # fmt: skip
    if given.act == "record":
        from bench.unchanged.inputs import make_inputs

        with local_ray():
            make_inputs(inputs, demo=given.demo)
    if not inputs.is_dir():
        sys.exit(f"{inputs} is not there: record first")
    cases = [case for case in cases if all(is_there(path, inputs) for path in case.paths)]
    if given.missing:
        cases = [case for case in cases if not (recorded / f"{case.name}.json").exists()]
    found, seconds = Found(), {}
    for case, answer, took in answers(cases, inputs):
        seconds[case.name] = took
        file = recorded / f"{case.name}.json"
        if given.act == "record":
            recorded.mkdir(exist_ok=True)
            file.write_text(json.dumps(answer, indent=1), encoding="utf-8")
        elif file.exists():
            found.add(json.loads(file.read_text("utf-8")), answer)
        else:
            print(f"not recorded: {case.name}")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[: given.slowest]:
        print(f"{seconds[name]:6.2f} s  {name}")
    print(f"{len(cases):,} cases, {sum(seconds.values()):.0f} s of this process")
    if given.act == "record":
        return 0
    if not (given.only or given.kept):
        for name in sorted({file.stem for file in recorded.glob("*.json")} - seconds.keys()):
            print(f"recorded, and asked no more: {name}")
    for line in lines_of(found, given.most):
        print(line)
    return int(bool(found.unexplained))


def is_asked(case: Case) -> bool:
    """Whether judges are asked for it."""
    return VIEWS[case.view].form == "run"


def is_there(path: str, inputs: Path) -> bool:
    """Whether an input is: the demo's run and the recordings may be left out."""
    return "/" not in path or (inputs / path).exists()


def answers(cases: list[Case], inputs: Path) -> Iterator[tuple[Case, dict[str, object], float]]:
    """What every case says, and its seconds; Ray starts before the first that needs it."""
    os.chdir(inputs)
    with tempfile.TemporaryDirectory(prefix="unchanged-") as temporary:
        asked = [case for case in cases if is_asked(case)]
        for group in ([case for case in cases if not is_asked(case)], asked):
            with local_ray(needed=group is asked and bool(asked)):
                for place, case in enumerate(group):
                    show_progress(place, len(group), case.name)
                    began = time.process_time()  # of others' load nothing
                    answer = run_case(case, inputs, Path(temporary) / "out")
                    yield case, answer, time.process_time() - began
        shutil.rmtree(Path(temporary) / "out", ignore_errors=True)


@contextmanager
def local_ray(*, needed: bool = True) -> Iterator[None]:
    """A Ray of this process, that all sweeps share."""
    if not needed:
        yield
        return
    import ray

    quiet = {"log_to_driver": False, "include_dashboard": False}
    ray.init(address="local", num_cpus=2, num_gpus=0, logging_level="ERROR", **quiet)
    try:
        yield
    finally:
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
