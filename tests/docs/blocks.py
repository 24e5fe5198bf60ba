"""Blocks of the documentation: what a page shows, taken apart and held against what happens."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from judgerel_ray.cli import main

ROOT = Path(__file__).resolve().parents[2]
# Made by a script that its first lines name, or by `docs/generate.py`.
_PRINTED = {
    "coverage.md",
    "coverage-reproducibility.md",
    "hostile-inputs.md",
    "recorded-pairwise.md",
}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.name not in _PRINTED and page.parent.name != "generated"
    ),
]
_BLOCK = re.compile(r"^```(\w[\w-]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page, and what the page says that it prints."""

    words: tuple[str, ...]
    shown: str

    @property
    def is_judgerel(self) -> bool:
        """Whether it is ours, and can be called here."""
        return self.words[0] == "judgerel"


def blocks(text: str, kind: str) -> list[str]:
    """Blocks of one kind, as they stand."""
    return [body for name, body in _BLOCK.findall(text) if name == kind]


def files(text: str) -> dict[str, str]:
    """Files that a page shows: a block below its name."""
    return dict(_FILE.findall(text))


def commands(text: str) -> list[Command]:
    """Commands of all console blocks, in the page's order."""
    found = []
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            found.append(Command(tuple(shlex.split(line)), shown.strip("\n")))
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether what was printed is what is shown, ``...`` standing for anything."""
    lines = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    pattern = re.escape(shown).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, lines, re.DOTALL) is not None


def called(command: Command) -> str:
    """What a command of ours prints, refusals included."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        main(list(command.words[1:]))
    return out.getvalue()


def python_failures(text: str, name: str) -> str:
    """What goes otherwise than the page's Python blocks show; empty where nothing does."""
    source = "\n".join(block for block in blocks(text, "python") if ">>>" in block)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(source, {}, name, name, 0)
    told = io.StringIO()
    doctest.DocTestRunner(optionflags=flags).run(test, out=told.write)
    return told.getvalue()
