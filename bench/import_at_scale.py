"""Seconds and peak memory of importing a log of promptfoo that is larger than it may take.

python -m bench.import_at_scale --megabytes 220
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
import warnings
from pathlib import Path

import polars as pl

from judgerel_ray.core import ReadingWarning
from judgerel_ray.importers.verb import import_judgments

_REASON = "The answer follows from the text, and nothing in it speaks against that. " * 12


def write_log(path: Path, megabytes: int) -> int:
    """One document with results until it has so many megabytes; how many results."""
    n = 0
    with path.open("w") as file:
        file.write('{"evalId": "e", "results": {"version": 3, "prompts": [], "results": [')
        while file.tell() < megabytes * 1e6:
            assertion = {"type": "llm-rubric", "value": "is right", "provider": "g"}
            passes = n % 3 > 0
            graded = {"assertion": assertion, "pass": passes, "score": passes, "reason": _REASON}
            record = {
                "promptIdx": 0, "testIdx": n, "vars": {"question": f"{n // 5}: {_REASON}"},
                "provider": {"id": "m"}, "response": {"output": f"answer {n} {_REASON}"},
                "gradingResult": {"pass": passes, "componentResults": [graded]},
            }  # fmt: skip
            file.write((", " if n else "") + json.dumps(record))
            n += 1
        file.write("]}}")
    return n


def main() -> None:
    """Print a line of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=220)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ReadingWarning)
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder, "output.json"), Path(folder, "judgments.parquet")
        n = write_log(log, asked.megabytes)
        begun = time.perf_counter()
        written = import_judgments("auto", [str(log)], out=str(out))
        seconds = time.perf_counter() - begun
        rows = pl.read_parquet(out)
        assert written == rows.height == n
        assert rows["replication"].max() == 4
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{log.stat().st_size / 1e6:.0f} MB, {n} judgments: {seconds:.1f} s, {peak:.0f} MB")


if __name__ == "__main__":
    main()
