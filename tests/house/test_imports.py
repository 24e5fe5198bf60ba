"""Who may import what from outside. Who may import whom inside is import-linter's."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

HEAVY = ("ray", "vllm", "torch", "transformers", "s3fs", "scipy.stats")
LAZY = ("ray", "vllm", "torch", "polars", "pyarrow", "scipy", "transformers")
OWNERS = {
    "ray": "judgerel_ray/fleet/",
    "vllm": "judgerel_ray/engines/vllm/engine.py",
    "torch": "judgerel_ray/engines/vllm/engine.py",
    "krippendorff": "judgerel_ray/papers/",
    "factor_analyzer": "judgerel_ray/papers/",
}
NOT_NUMBERS = ("polars", "pyarrow", "dataframely", "pathlib", "os", "logging", "pandas", "fsspec")


def _imported(node: ast.AST) -> list[str]:
    """Dotted names one statement imports; ``from a import b`` may mean the module ``a.b``."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _is(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _at_import_time(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported; type checkers' imports do not."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _at_import_time(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            yield from _at_import_time(node.body)
            yield from _at_import_time(getattr(node, "orelse", []))


def trespasses(modules) -> list[str]:
    return [
        f"{module.path}:{node.lineno} imports {package}"
        for module in modules
        for node in ast.walk(module.tree)
        for package, owner in OWNERS.items()
        if not module.path.startswith(owner) and any(_is(name, package) for name in _imported(node))
    ]


def heavy_at_the_top(modules) -> list[str]:
    return [
        f"{module.path}:{node.lineno} imports {package}"
        for module in modules
        for node in _at_import_time(module.tree.body)
        for package in HEAVY
        if any(_is(name, package) for name in _imported(node))
    ]


def effects_in_statistics(modules) -> list[str]:
    return [
        f"{module.path}:{node.lineno} imports {package}"
        for module in modules
        if module.room == "stats"
        for node in ast.walk(module.tree)
        for package in NOT_NUMBERS
        if any(_is(name, package) for name in _imported(node))
    ]


def test_each_heavy_library_has_one_owner(package):
    faults = trespasses(package)
    assert not faults, "\n".join(faults)


def test_heavy_libraries_are_imported_where_they_are_used(package):
    faults = heavy_at_the_top(package)
    assert not faults, "\n".join(faults)


def test_statistics_see_arrays_alone(package):
    faults = effects_in_statistics(package)
    assert not faults, "\n".join(faults)


def test_importing_the_package_is_light():
    code = f"import sys, judgerel_ray; print([m for m in {LAZY} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_trespasses_are_found(planted):
    text = "def f():\n    import ray.data\n    from torch import nn\n    import raylike\n"
    place = "judgerel_ray/store/planted.py"
    assert trespasses([planted(text)]) == [f"{place}:2 imports ray", f"{place}:3 imports torch"]
    assert trespasses([planted("import ray", "judgerel_ray/fleet/x.py")]) == []


def test_heavy_imports_at_the_top_are_found(planted):
    text = (
        "from scipy import stats\nimport scipy\n"
        "if TYPE_CHECKING:\n    import ray\nelse:\n    import vllm\n"
    )
    place = "judgerel_ray/store/planted.py"
    assert heavy_at_the_top([planted(text)]) == [
        f"{place}:1 imports scipy.stats",
        f"{place}:6 imports vllm",
    ]


def test_effects_in_statistics_are_found(planted):
    module = planted("import os.path\nimport ossify\n", "judgerel_ray/stats/x.py")
    assert effects_in_statistics([module]) == ["judgerel_ray/stats/x.py:1 imports os"]
