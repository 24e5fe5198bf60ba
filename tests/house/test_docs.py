"""What pages and docstrings name is there: files, flags, Python names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from judgerel_ray.cli.parsing import commands

# Flags of other programs, which pages tell people to use.
OTHERS = {"--working-dir", "--generate", "--head", "--temp-dir"}
_MADE = re.compile(r"^`([\w./-]+)`:$", re.MULTILINE)
FILE = re.compile(r"(?<![\w./-])(?:[\w-]+/)+[\w-]+\.py\b")
SCRIPT = re.compile(r"(?<![\w./-])bench(?:(?:/\w+)+\.py\b|(?:\.\w+)+)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_ROW = re.compile(r"^\| \d{4}-\d\d-\d\d \|.*", re.MULTILINE)
NAME = re.compile(r":(?:func|class|meth|data|mod|exc):`~?(judgerel_ray[\w.]+)`")


def pages(root: Path) -> dict[str, str]:
    """Pages on what is, by name; the changelog and the log of the bench tell of what was."""
    found = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    found = [page for page in found if "generated" not in page.parts]
    return {page.relative_to(root).as_posix(): page.read_text(encoding="utf-8") for page in found}


def missing_files(root: Path, texts: dict[str, str]) -> list[str]:
    """Python files that a page names with their folder, from the root or the package, or shows."""
    return [
        f"{page}: {name}"
        for page, text in texts.items()
        for name in sorted(set(FILE.findall(text)) - set(_MADE.findall(text)))
        if not any((place / name).is_file() for place in (root, root / "judgerel_ray"))
    ]


def missing_scripts(root: Path, texts: dict[str, str]) -> list[str]:
    """Scripts of the bench that are not there, unless their row says they went or is by hand."""
    rows = [
        (page, n, row)
        for page, text in texts.items()
        for n, row in enumerate(text.splitlines(), 1)
        if "script since removed" not in row and "by hand" not in row
    ]
    return [
        f"{page}:{n}: {name}"
        for page, n, row in rows
        for name in sorted(set(SCRIPT.findall(row)))
        for place in [root / name.removesuffix(".py").replace(".", "/")]
        if not (place.with_suffix(".py").is_file() or (place / "__main__.py").is_file())
    ]


def measured(root: Path) -> dict[str, str]:
    """The eight answers, and the log of measurements that they are taken from."""
    found = [root / "BENCHMARKS.md", *(root / "bench" / "log").glob("*.md")]
    return {page.relative_to(root).as_posix(): page.read_text("utf-8") for page in found}


def unrecorded(page: str, log: Iterable[str]) -> list[str]:
    """What the eight answers lack: a command, a row of a day they name that has it, a bad side."""
    rows = [row for text in log for row in _ROW.findall(text)]
    answers = f"\n{page}".split("\n## ")[1:]
    faults = [] if len(answers) == 8 else [f"{len(answers)} answers"]
    for answer in answers:
        title = answer.partition("\n")[0]
        named = re.findall(r"`((?:python|make) [^`]+)`", " ".join(answer.split()))
        days = re.findall(r"\b\d{4}-\d\d-\d\d\b", answer)
        known = [row for row in rows if row[2:12] in days]
        faults += [] if named else [f"{title}: no command"]
        faults += [f"{title}: {one}" for one in named if not any(one in row for row in known)]
        faults += [] if "Unflattering:" in answer else [f"{title}: nothing unflattering"]
    return faults


def unknown_flags(known: set[str], texts: dict[str, str]) -> list[str]:
    """Flags that a page names and no program of ours has."""
    return [
        f"{page}: {flag}"
        for page, text in texts.items()
        for flag in sorted(set(FLAG.findall(text)) - known)
    ]


def flags_of(modules) -> set[str]:
    """Flags of every verb, and those that scripts add to their parsers."""
    verbs = {flag for command in commands().values() for one in command.params for flag in one.opts}
    added = {
        one.value
        for module in modules
        if module.room == "cli" or not module.path.startswith(("judgerel_ray/", "tests/"))
        for one in ast.walk(module.tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and FLAG.match(one.value)
    }
    return verbs | added


def _defined(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (one.asname or one.name for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def unresolved(package, modules) -> list[str]:
    """Python names that docstrings of `modules` refer to in full and `package` does not have."""
    known = {module.path.removesuffix(".py").removesuffix("/__init__"): module
             for module in package}  # fmt: skip
    faults = []
    for module in modules:
        for name in sorted(set(NAME.findall(module.text))):
            parts = name.split(".")
            home = next(n for n in range(len(parts), 0, -1) if "/".join(parts[:n]) in known)
            there = set(_defined(known["/".join(parts[:home])].tree))
            if home < len(parts) and parts[home] not in there:
                faults.append(f"{module.path}: {name}")
    return faults


def test_files_that_pages_name_are_there(root):
    faults = missing_files(root, pages(root))
    assert not faults, "\n".join(faults)


def test_scripts_of_the_bench_that_pages_name_are_there(root):
    faults = missing_scripts(root, pages(root) | measured(root))
    assert not faults, "\n".join(faults)


def test_eight_answers_are_taken_from_rows_of_the_log(root):
    texts = measured(root)
    faults = unrecorded(texts.pop("BENCHMARKS.md"), texts.values())
    assert not faults, "\n".join(faults)


def test_every_month_of_the_log_is_linked_and_holds_its_own_rows(root):
    texts = measured(root)
    page = texts.pop("BENCHMARKS.md")
    assert texts
    for name, text in texts.items():
        assert f"]({name})" in page
        assert {row[2:9] for row in _ROW.findall(text)} == {Path(name).stem}


def test_answers_without_a_row_are_found():
    log = ["| 2026-11-02 | c | `make chaos` at 1a | r |\n| 2026-11-03 | c | `make test` | r |"]
    good = "".join(f"## {n}.\n`make chaos`, 2026-11-02\nUnflattering: x\n" for n in range(8))
    assert unrecorded(good, log) == []
    other = good.replace("make chaos", "make test", 1)
    assert unrecorded(other, log) == ["0.: make test"]
    assert unrecorded(good.replace("Unflattering: x", "", 1), log) == ["0.: nothing unflattering"]
    assert unrecorded(good.replace("`make chaos`", "by hand", 1), log) == ["0.: no command"]
    assert unrecorded(good.partition("## 7.")[0], log) == ["7 answers"]


def test_flags_that_pages_name_are_there(root, every_module):
    faults = unknown_flags(flags_of(every_module) | OTHERS, pages(root))
    assert not faults, "\n".join(faults)


def test_names_that_docstrings_refer_to_are_there(package):
    faults = unresolved(package, package)
    assert not faults, "\n".join(faults)


def test_names_of_nothing_are_found(root, planted, package, every_module):
    text = "`core/key.py`, `core/keys.py`, `bench/gone.py`; `--coefficient`, `--coeff`"
    assert missing_files(root, {"p": text}) == ["p: bench/gone.py", "p: core/keys.py"]
    assert unknown_flags(flags_of(every_module), {"p": text}) == ["p: --coeff"]
    rows = (
        "| `python bench/gone.py --runs 2` | `python -m bench.gone` |\n"
        "| `python -m bench.hostile` | `bench/hostile/page.py` | `bench.peers --arms raw` |\n"
        "| `bench/gone.py` (script since removed) |\n| with `bench.gone`, by hand |"
    )
    assert missing_scripts(root, {"p": rows}) == ["p:1: bench.gone", "p:1: bench/gone.py"]
    module = planted('"""As of :func:`judgerel_ray.core.key.no_such`, :mod:`judgerel_ray.core`."""')
    assert unresolved(package, [module]) == [f"{module.path}: judgerel_ray.core.key.no_such"]
