"""Size, names, words: what a reader meets before any code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from judgerel_ray import stats

MODULE_LINES = 800
FUNCTION_LINES = 80
FORBIDDEN_NAMES = {"util", "helper", "common", "base", "misc", "manager"}
# Effects have no doctest that is cheap and true; the front door shows what it opens.
WITHOUT_EXAMPLES = {"__init__", "__main__", "cli", "asking", "fleet", "engines"}

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(tree: ast.AST) -> Iterator[FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, FunctionDef))


def _docstring_lines(node: FunctionDef) -> int:
    """Lines its docstring takes: a well told contract does not make a function long."""
    if ast.get_docstring(node, clean=False) is None:
        return 0
    first = node.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1


def _public(body: Iterable[ast.stmt]) -> Iterator[FunctionDef | ast.ClassDef]:
    """Public functions and classes, and the public methods of public classes."""
    for node in body:
        if isinstance(node, FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body)


def long_modules(modules) -> list[str]:
    lengths = {module.path: len(module.text.splitlines()) for module in modules}
    return [f"{path}: {n} lines" for path, n in lengths.items() if n > MODULE_LINES]


def long_functions(modules) -> list[str]:
    return [
        f"{module.path}:{node.lineno} {node.name}: {n} lines"
        for module in modules
        for node in _functions(module.tree)
        if (n := (node.end_lineno or 0) - node.lineno + 1 - _docstring_lines(node)) > FUNCTION_LINES
    ]


def empty_names(modules) -> list[str]:
    return [
        module.path
        for module in modules
        for part in module.path.removesuffix(".py").split("/")
        if part.removesuffix("s") in FORBIDDEN_NAMES
    ]


def undocumented(modules) -> list[str]:
    return [
        f"{module.path}:{node.lineno} {node.name}"
        for module in modules
        for node in _public(module.tree.body)
        if ast.get_docstring(node) is None
    ]


def _exports(modules) -> dict[str, set[str]]:
    """What each room's ``__init__`` offers: its ``__all__``, and what is imported ``as`` itself."""
    offered: dict[str, set[str]] = {}
    for module in modules:
        names = offered.setdefault(module.room, set())
        for node in ast.walk(module.tree) if module.path.endswith("/__init__.py") else ():
            listed = isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
            if listed and ast.unparse(node.targets[0]) == "__all__":
                names.update(ast.literal_eval(node.value))
            if isinstance(node, ast.ImportFrom):
                names.update(one.name for one in node.names if one.name == one.asname)
    return offered


def without_example(modules) -> list[str]:
    offered = _exports(modules)
    return [
        f"{module.path}:{node.lineno} {node.name}"
        for module in modules
        if module.room not in WITHOUT_EXAMPLES
        for node in module.tree.body
        if isinstance(node, FunctionDef) and node.name in offered.get(module.room, ())
        if "Examples\n-----" not in (ast.get_docstring(node) or "")
    ]


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"})
        for kind in caught
    )


# Logs of others hold anything, and clients of file systems raise anything: one boundary each makes
# one line of it.
BOUNDARIES = ["judgerel_ray/core/files.py", "judgerel_ray/importers/logs/reading.py"]


def broad_excepts(modules) -> list[str]:
    return [
        f"{module.path}:{node.lineno}"
        for module in modules
        if module.room != "fleet"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    ]


def test_there_is_a_package_to_read(package):
    assert len(package) > 5


def test_modules_are_short(every_module):
    faults = long_modules(every_module)
    assert not faults, "\n".join(faults)


def test_functions_are_short(every_module):
    faults = long_functions(every_module)
    assert not faults, "\n".join(faults)


def test_no_module_is_named_after_nothing(every_module):
    faults = empty_names(every_module)
    assert not faults, "\n".join(faults)


def test_public_names_say_what_they_are(package):
    faults = undocumented(package)
    assert not faults, "\n".join(faults)


def test_what_a_room_offers_shows_an_example(package):
    faults = without_example(package)
    assert not faults, "\n".join(faults)


def test_only_the_fleet_and_two_boundaries_catch_everything(package):
    faults = broad_excepts(package)
    assert sorted(one.rpartition(":")[0] for one in faults) == BOUNDARIES, "\n".join(faults)


def test_a_long_module_and_a_long_function_are_found(planted):
    body = "\n".join(f"    x{i} = {i}" for i in range(MODULE_LINES))
    module = planted(f'def long():\n    """Say.\n\n    More.\n    """\n{body}\n')
    assert long_modules([module]) == ["judgerel_ray/store/planted.py: 805 lines"]
    assert long_functions([module]) == ["judgerel_ray/store/planted.py:1 long: 801 lines"]


def test_a_docstring_does_not_make_a_function_long(planted):
    text = "\n".join(["    line"] * FUNCTION_LINES)
    assert long_functions([planted(f'def told():\n    """Say.\n\n{text}\n    """\n')]) == []


def test_empty_names_are_found_in_files_and_folders(planted):
    paths = ["judgerel_ray/store/utils.py", "tests/helper/test_x.py", "judgerel_ray/core/key.py"]
    assert empty_names([planted("", path) for path in paths]) == paths[:2]


def test_missing_docstrings_and_examples_are_found(planted):
    module = planted("class A:\n    def f(self): ...\n    def _g(self): ...\ndef h(): ...\n")
    room = planted("__all__ = ['A', 'h']\n", "judgerel_ray/store/__init__.py")
    place = "judgerel_ray/store/planted.py"
    assert undocumented([module]) == [f"{place}:1 A", f"{place}:2 f", f"{place}:4 h"]
    assert without_example([room, module]) == [f"{place}:4 h"]
    room = planted("from x import h as h\n", "judgerel_ray/store/__init__.py")
    assert without_example([room, module]) == [f"{place}:4 h"]


def test_statistics_that_are_loaded_late_are_those_that_types_know(package):
    assert sorted(_exports(package)["stats"]) == stats.__all__


def test_broad_excepts_are_found_outside_the_fleet(planted):
    text = "\n".join(
        f"try: pass\nexcept{what}: pass"
        for what in ("", " Exception", " (OSError, BaseException)", " OSError")
    )
    place = "judgerel_ray/store/planted.py"
    assert broad_excepts([planted(text)]) == [f"{place}:2", f"{place}:4", f"{place}:6"]
    assert broad_excepts([planted(text, "judgerel_ray/fleet/planted.py")]) == []
