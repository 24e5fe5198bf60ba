"""Every column of every table says what it holds."""

from __future__ import annotations

import ast


def _is_table(node: ast.AST, tables: set[str]) -> bool:
    if not isinstance(node, ast.ClassDef):
        return False
    bases = {ast.unparse(base) for base in node.bases}
    return bool(bases & ({"dy.Schema", "Schema"} | tables))


def undocumented_columns(modules) -> list[str]:
    tables: set[str] = set()
    missing = []
    for module in modules:
        for table in (node for node in ast.walk(module.tree) if _is_table(node, tables)):
            tables.add(table.name)
            for node, after in zip(table.body, [*table.body[1:], None], strict=True):
                if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                    continue
                if not isinstance(after, ast.Expr) or not isinstance(after.value, ast.Constant):
                    missing.append(f"{table.name}.{ast.unparse(node.targets[0])}")
    return missing


def test_every_column_is_documented(package):
    faults = undocumented_columns(package)
    assert not faults, "\n".join(faults)


def test_undocumented_columns_are_found(planted):
    text = (
        'class A(dy.Schema):\n    """A."""\n    x = dy.String()\n    """X."""\n'
        "    y = dy.String()\n"
        "class B(A):\n    z = dy.Int32()\n    w = dy.Int32()\n"
        "class C:\n    v = dy.Int32()\n"
    )
    assert undocumented_columns([planted(text)]) == ["A.y", "B.z", "B.w"]
