"""Words that make a reader stumble, and what to write instead."""

from __future__ import annotations

import ast
import re
import tokenize
from io import StringIO

import pytest

INSTEAD = {
    r"\bdealt\b|\bdeals\b|\bdealing\b(?! with)|\bdeal\b(?! with)": "permuted, shuffled across",
    r"\bendless": "the limit of infinitely many; any number of; very long",
    r"\bof one mind\b": "agree",
    r"\bwhole intervals\b": "the whole confidence interval must meet it",
    r"(?<!for line )(?<!for row )\bin lines\b(?! of)": "as text",
    r"\bwhoever\b": "the reader, process or caller that is meant",
    r"\bby the house\b": "judgerel sets it itself",
    r"\bis no (?:JSON|text)\b": "is not",
    r"\bno number is made of\b": "no number uses",
    r"\bcensus": "fast count",
}
"""A pattern of what is not written, and what is."""

NOT_NAMES = {"told", "said", "mine", "ours", "theirs"}
"""Verbs and pronouns that name nothing: a name is a noun."""

_NAME_KEYS = ("arg", "id", "attr", "name")


def banned(path: str, text: str) -> list[str]:
    """What comments, docstrings, messages and names of a module say that they should not."""
    read = (tokenize.COMMENT, tokenize.STRING, tokenize.NAME)
    read = (*read, *(kind for name in ("FSTRING_MIDDLE",) if (kind := getattr(tokenize, name, 0))))
    return [
        f"{path}:{token.start[0]} {found[0]!r}: {instead}"
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type in read
        for pattern, instead in INSTEAD.items()
        if (found := re.search(pattern, token.string.replace("_", " "), re.IGNORECASE))
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


def test_nothing_is_said_in_words_that_readers_stumble_over(package):
    faults = [fault for module in package for fault in banned(module.path, module.text)]
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
    ],
)
def test_they_are_found(line):
    (fault,) = banned("m.py", line + "\n")
    assert fault.startswith("m.py:1 ")


@pytest.mark.parametrize(
    "line",
    ["# to deal with it", "'in lines of their own'", "# a whole interval", "[a for b in lines]"],
)
def test_plain_words_pass(line):
    assert banned("m.py", line + "\n") == []
