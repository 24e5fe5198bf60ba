"""Words that make a reader stumble, and what to write instead."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Mapping
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

NOT_NAMES = {
    "told", "said", "mine", "ours", "theirs", "aside", "led", "given", "strangers", "placeless",
}  # fmt: skip
"""Words that are no part of any name: verbs, pronouns and riddles name nothing."""

NOT_DEFINED = {"own", "asked"}
"""Words that no function and no class has in its name; the first is no name by itself, either."""

MAY_BE_GIVEN = {("judgerel_ray/stats/generalizability/dstudy.py", "given")}
"""The public parameter of ``stats.dependability``: facets that a measurement is given."""

SHARED = {
    "main": "the command, and what ``python -m`` runs in a process of its own",
    "replay": "the verb, and the replay of a stopping rule in ``judgerel_ray.stats``",
    "Row": "a row of a frame, as a mapping that may or may not be written to",
}
"""Public names that more than one module may define."""

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


def parts_of(name: str) -> set[str]:
    """Words of a name: ``_own_cells``, ``OWN_CELLS`` and ``OwnCells`` are of the same two."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def banned_names(path: str, tree: ast.AST) -> list[str]:
    """Variables, parameters, functions and classes of a module that are called by no noun."""
    faults = []
    for node in ast.walk(tree):
        is_defined = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        is_stored = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
        if not (is_defined or is_stored or isinstance(node, ast.arg)):
            continue
        name = next(getattr(node, key) for key in _NAME_KEYS if hasattr(node, key))
        wrong = parts_of(name) & (NOT_NAMES | NOT_DEFINED if is_defined else NOT_NAMES)
        if (wrong or name.strip("_").lower() == "own") and (path, name) not in MAY_BE_GIVEN:
            faults.append(f"{path}:{node.lineno} {name}")
    return faults


def public_names(tree: ast.Module) -> list[tuple[str, str]]:
    """Public functions, classes and type aliases of a module, each with its text."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append((node.name, f"at line {node.lineno}"))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and re.match("[A-Z]+[a-z]", target.id):
                found.append((target.id, ast.unparse(node.value)))
    return [(name, text) for name, text in found if name[0] != "_" and name not in SHARED]


def repeated_names(trees: Mapping[str, ast.Module]) -> list[str]:
    """Public names that modules define differently: aliases of one text are one name."""
    places: dict[str, dict[str, list[str]]] = {}
    for path, tree in trees.items():
        for name, text in public_names(tree):
            key = f"{path} {text}" if text.startswith("at line") else text
            places.setdefault(name, {}).setdefault(key, []).append(path)
    return [
        f"{name}: {', '.join(sorted(path for paths in texts.values() for path in paths))}"
        for name, texts in sorted(places.items())
        if len(texts) > 1
    ]


def test_public_names_are_unique_in_the_package(package):
    faults = repeated_names({module.path: module.tree for module in package})
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("first", "second", "repeats"),
    [
        ("def f(): ...", "class f: ...", True),
        ("class Pair: ...", "Pair = tuple[int, int]", True),
        ("Pair = tuple[int, int]", "Pair = tuple[str, str]", True),
        ("Pair = tuple[int, int]", "Pair = tuple[int, int]", False),
        ("def _f(): ...", "def _f(): ...", False),
        ("def main(): ...", "def main(): ...", False),
        ("LIMIT = 1", "LIMIT = 2", False),
    ],
)
def test_repeated_names_are_found(first, second, repeats):
    assert bool(repeated_names({"a.py": ast.parse(first), "b.py": ast.parse(second)})) == repeats


def test_names_are_nouns(package):
    faults = [fault for module in package for fault in banned_names(module.path, module.tree)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("line", ["own_picked = 1", "n_asked = 2", "level = 1", "fold = 1"])
def test_names_that_are_some_pass(line):
    assert banned_names("m.py", ast.parse(line)) == []


@pytest.mark.parametrize(
    "line",
    [
        "told = 1",
        "def f(said): ...",
        "def _ours(): ...",
        "for mine in a: ...",
        "async def told(): ...",
        "a._said = 1",
        "def told_of(): ...",
        "_MOST_TOLD_OF = 6",
        "class LedRows: ...",
        "own = 1",
        "def own_rows(): ...",
        "class OwnRows: ...",
        "def _asked(): ...",
        "given_N = 1",
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
