"""Words that make a reader stumble, and what to write instead."""

from __future__ import annotations

import ast
import re
import tokenize
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        *(
            ROOT / name
            for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "BENCHMARKS.md")
        ),
        *(ROOT / "docs").rglob("*.md"),
    )
)

INSTEAD = {
    r"\bdealt\b|\bdeals\b|\bdealing\b(?! with)|\bdeal\b(?! with)": "permuted, shuffled across",
    r"\bendless": "the limit of infinitely many; any number of; very long",
    r"\bof one mind\b": "agree",
    r"\bwhole intervals\b|\b(?:the|its) whole (?:\S+ % )?interval\b"
    r"|\bjudged by (?:the|its) whole\b": "the whole confidence interval must meet it",
    r"(?<!for line )(?<!for row )\bin lines\b(?! of)": "as text",
    r"\bwhoever\b": "the reader, process or caller that is meant",
    r"\bby the house\b": "judgerel sets it itself",
    r"\bis no (?:JSON|text)\b": "is not",
    r"\bno number is made of\b": "no number uses",
    r"\bcensus": "fast count",
    r"\bow(?:e|es|ing)\b": "pending",
    r"(?<![`\"'.{])\bowed\b(?![=(]| :)": "pending; the key `owed` of JSON keeps its name",
    r"\bfirst first\b": "in asking order",
    r"\btold of\b": "scored on, reported for, said about",
}
"""A pattern of what is not written, and what is."""

NOT_NAMES = {"told", "said", "mine", "ours", "theirs"}
"""Verbs and pronouns that name nothing: a name is a noun."""

_NAME_KEYS = ("arg", "id", "attr", "name")


KEEP_THEIR_NAMES = {"owed"}
"""Names that are public, or keys of JSON."""


def banned(path: str, text: str) -> list[str]:
    """What comments, docstrings, messages and names of a module say that they should not."""
    read = (tokenize.COMMENT, tokenize.STRING, tokenize.NAME)
    read = (*read, *(kind for name in ("FSTRING_MIDDLE",) if (kind := getattr(tokenize, name, 0))))
    return [
        f"{path}:{token.start[0]} {found[0]!r}: {instead}"
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type in read and token.string not in KEEP_THEIR_NAMES
        for pattern, instead in INSTEAD.items()
        if (found := re.search(pattern, token.string.replace("_", " "), re.IGNORECASE))
    ]


def banned_on_a_page(path: str, text: str) -> list[str]:
    """What a page says that it should not, also over the end of a line."""
    flat = text.replace("\n", " ")
    return [
        f"{path}:{text.count(chr(10), 0, found.start()) + 1} {found[0]!r}: {instead}"
        for pattern, instead in INSTEAD.items()
        for found in re.finditer(pattern, flat, re.IGNORECASE)
    ]


def banned_names(path: str, tree: ast.AST) -> list[str]:
    """Variables, parameters and functions of a module that are called by no noun."""
    named = (
        (node.lineno, next(getattr(node, key) for key in _NAME_KEYS if hasattr(node, key)))
        for node in ast.walk(tree)
        if isinstance(node, ast.arg | ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store))
    )
    return [f"{path}:{line} {name}" for line, name in named if name.strip("_") in NOT_NAMES]


def test_names_are_nouns(package):
    faults = [fault for module in package for fault in banned_names(module.path, module.tree)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        "told = 1",
        "def f(said): ...",
        "def _ours(): ...",
        "for mine in a: ...",
        "async def told(): ...",
        "a._said = 1",
    ],
)
def test_names_that_are_none_are_found(line):
    assert len(banned_names("m.py", ast.parse(line))) == 1


def test_nothing_is_said_in_words_that_readers_stumble_over(every_module):
    modules = [module for module in every_module if Path(module.path).name != Path(__file__).name]
    faults = [fault for module in modules for fault in banned(module.path, module.text)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("page", PAGES)
def test_nor_on_a_page(page):
    faults = banned_on_a_page(page, (ROOT / page).read_text("utf-8"))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        "'scores dealt to the items'",
        "# a random deal",
        "'''Coefficients of endless replications.'''",
        "'judged by whole intervals'",
        "'a plan in lines: what is asked'",
        "f'{x} of one mind'",
        "dealt_moments = 1",
        "f'set by the house: {x}'",
        "'the file is no text'",
        "'gone, and no number is made of it'",
        "def _census(): ...",
        "# whoever asks",
        "# the whole interval must meet it",
        "# met by the whole interval",
        "f'Requirements, judged by the whole {percent} interval'",
        "# each by its whole 95 % interval",
        "'the request stays owed'",
        "f'{n} requests are owed'",
        "# it still owes requests",
        "class Owing: ...",
        "# who is asked first first",
        "'chosen on the 1 low of 2 it is told of'",
        "def test_endless_questions(): ...",
    ],
)
def test_they_are_found(line):
    (fault,) = banned("m.py", line + "\n")
    assert fault.startswith("m.py:1 ")


def test_they_are_found_on_a_page_over_the_end_of_a_line():
    (fault,) = banned_on_a_page("p.md", "A page.\nMet by the whole\ninterval.\n")
    assert fault.startswith("p.md:2 ")


@pytest.mark.parametrize(
    "line",
    [
        "# to deal with it",
        "'in lines of their own'",
        "# a whole interval",
        "[a for b in lines]",
        "row['owed'] = judge.owed",
        "'it has ``owed`` and ``problems``'",
        "f(owed=n)",
    ],
)
def test_plain_words_pass(line):
    assert banned("m.py", line + "\n") == []
