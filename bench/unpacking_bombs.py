"""Peak memory of refusing packed logs that unpack to gigabytes, a process each.

python -m bench.unpacking_bombs --mebibytes 2000
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

MEMORY = """
import sys
from judgerel_ray.cli import main
code = main(sys.argv[1:])
with open("/proc/self/status") as file:  # ru_maxrss has that of the process that forked it, too
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(code, peak // 1024)
"""
_MIB = 1 << 20
_RECORD = (
    b'{"instruction": "i", "generator_1": "a", "generator_2": "b", "preference": 1, '
    b'"annotator": "j", "raw_completion": "' + b"m" * 400 + b'"}\n'
)
BOMBS = {
    "one record of lists": ("log.json.gz", "auto", b'[{"instruction": [', b"[],"),
    "one record of text": ("log.json.gz", "auto", b'[{"instruction": "', b"a"),
    "equal records": ("log.jsonl.gz", "auto", b"", _RECORD),
    "equal rows of a table": ("log.csv.gz", "table", b"item_id,verdict\n", b"q1,A\n"),
    "a member of an archive": ("log.eval", "inspect", b"[", b"[],"),
}
"""File, format, what stands at its begin, and what is repeated."""


def blocks(kind: str, mebibytes: int) -> Iterator[bytes]:
    """What a bomb unpacks to."""
    _, _, begin, unit = BOMBS[kind]
    yield begin
    block = unit * (_MIB // len(unit))
    for _ in range(mebibytes):
        yield block


def write_bomb(kind: str, folder: Path, mebibytes: int) -> Path:
    """Write a bomb; its path."""
    path = folder / BOMBS[kind][0]
    if path.suffix == ".gz":
        with gzip.open(path, "wb") as file:
            for block in blocks(kind, mebibytes):
                file.write(block)
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", '{"eval": {"task": "t"}}')
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as member:
            for block in blocks(kind, mebibytes):
                member.write(block)
    return path


def refusal(kind: str, path: Path) -> tuple[str, int]:
    """What is said of a bomb, and the largest memory in MB of the process that refuses it."""
    verb = ["import", BOMBS[kind][1], str(path), "--out", str(path.with_suffix(".parquet"))]
    found = subprocess.run(
        [sys.executable, "-c", MEMORY, *verb], capture_output=True, text=True, check=True
    )
    code, peak = map(int, found.stdout.split())
    assert code == 2, found.stderr
    return found.stderr, peak


def main() -> None:
    """Print a line a bomb."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=2000)
    asked = parser.parse_args()
    for kind in BOMBS:
        with tempfile.TemporaryDirectory() as folder:
            path = write_bomb(kind, Path(folder), asked.mebibytes)
            said, peak = refusal(kind, path)
            print(f"{kind}: {path.stat().st_size / 1e6:.2f} MB, {peak} MB; {said.strip()}")


if __name__ == "__main__":
    main()
