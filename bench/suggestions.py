"""What a message tells to try works: the flag or the command as it is printed.

    OMP_NUM_THREADS=1 python -m bench.suggestions [--layouts 1_000] [--first 100_000]

Layouts of ``bench/layouts.py`` are reduced, and every flag and command that a message names is
tried as it is printed, three steps deep. Prints which suggestions led to no numbers; ends with 1 if
there is any. 600 layouts of other seeds and all sheets of ``tests/cases/sheets`` are tried by
``tests/laws/test_suggestions.py``.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from bench.layouts import KINDS, MORE, TOLD, layout, truth, write
from judgerel_ray.cli import main as judgerel

FLAG = re.compile(r"--(?:column|verdict-names|repeats) (?:'[^']*'|[^\s;)]+)|--leading-word")
COMMAND = re.compile(r"judgerel (import auto \S+ --out \S+)")
TO_FILL_IN = ("COLUMN", "NAME", "FILE")


def said(arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code of a command and what it wrote as errors."""
    errors = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(errors):
        code = judgerel([*arguments])
    return code, errors.getvalue()


def ways(text: str) -> list[str]:
    """Flags that a message names, those aside in which a name is to be filled in."""
    named = [one.rstrip(",.") for one in FLAG.findall(text)]
    found = [one for one in named if not any(word in one for word in TO_FILL_IN)]
    return list(dict.fromkeys(found))


def dead_ends(arguments: Sequence[str], steps: int = 3) -> list[str]:
    """Suggestions that lead to no numbers, and to no other questions that do."""
    _, err = said(arguments)
    found = []
    for way in ways(err):
        followed = [*arguments, *shlex.split(way)]
        code, then = said(followed)
        is_asked = code == 2 and steps > 1 and ways(then) and then != err
        if code and not (is_asked and not dead_ends(followed, steps - 1)):
            found.append(f"{shlex.join(followed)}: {then.strip().splitlines()[-1]}")
    commands = COMMAND.findall(err)
    return found + [one for one in commands if said(shlex.split(one))[0]]


def dead_ends_of_layouts(
    seeds: Iterable[int], folder: Path, kinds: tuple[str, ...] = KINDS
) -> list[str]:
    """Dead ends of messages about layouts, each with its seed."""
    found = []
    for seed in seeds:
        draw = random.Random(seed)
        files = write(layout(draw, truth(draw), kinds)[1], folder)
        found += [f"{seed}: {one}" for one in dead_ends(["reduce", files])]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layouts", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=100_000, help="the first seed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    third, found = given.layouts // 3, []
    with tempfile.TemporaryDirectory() as folder:
        for n, kinds in enumerate((KINDS, MORE, TOLD)):
            seeds = range(given.first + n * third, given.first + (n + 1) * third)
            found += dead_ends_of_layouts(seeds, Path(folder), kinds)
    print(f"{given.layouts:,} layouts: {len(found):,} suggestions lead to no numbers")
    print("\n".join(found[:20]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
