"""What a message tells to try works: the flag or the command as it is printed, over all sheets."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest

from judgerel_ray.cli import main
from tests.laws.test_layouts import KINDS, MORE, layout, truth, write

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
SHEETS = Path(__file__).parents[1] / "cases/sheets"
FILES = sorted(path for path in SHEETS.rglob("*.*") if path.is_file())
FLAG = re.compile(r"--(?:column|verdict-names|repeats) (?:'[^']*'|[^\s;)]+)|--leading-word")
COMMAND = re.compile(r"judgerel (import auto \S+ --out \S+)")
TO_FILL_IN = ("COLUMN", "NAME", "FILE")


def said(arguments, capsys) -> tuple[int, str]:
    code = main(arguments)
    return code, capsys.readouterr().err


def ways(text: str) -> list[str]:
    """Flags that a message names, those aside in which a name is to be filled in."""
    named = [one.rstrip(",.") for one in FLAG.findall(text)]
    found = [one for one in named if not any(word in one for word in TO_FILL_IN)]
    return list(dict.fromkeys(found))


def dead_ends(arguments, capsys, steps: int = 3) -> list[str]:
    """Suggestions that lead to no numbers, and to no other questions that do."""
    _, err = said(arguments, capsys)
    found = []
    for way in ways(err):
        followed = [*arguments, *shlex.split(way)]
        code, then = said(followed, capsys)
        is_asked = code == 2 and steps > 1 and ways(then) and then != err
        if code and not (is_asked and not dead_ends(followed, capsys, steps - 1)):
            found.append(f"{shlex.join(followed)}: {then.strip().splitlines()[-1]}")
    commands = COMMAND.findall(err)
    return found + [one for one in commands if said(shlex.split(one), capsys)[0]]


@pytest.mark.alike(8)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_suggestion_about_a_sheet_works(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not dead_ends(["reduce", str(path)], capsys)


@pytest.mark.parametrize(("seeds", "kinds"), [
    (range(20), KINDS), (range(10_000, 10_020), MORE),
    pytest.param(range(20, 400), KINDS, marks=pytest.mark.slow),
    pytest.param(range(10_020, 10_400), MORE, marks=pytest.mark.slow),
])  # fmt: skip
def test_every_suggestion_about_a_layout_works(seeds, kinds, capsys, tmp_path):
    found = []
    for seed in seeds:
        draw = random.Random(seed)
        files = write(layout(draw, truth(draw), kinds)[1], tmp_path)
        found += [f"{seed}: {one}" for one in dead_ends(["reduce", str(files)], capsys)]
    assert not found, "\n".join(found)
