"""No room asks which protocol it has: each asks the protocol."""

from __future__ import annotations

import ast

from judgerel_ray.core.traits import SHIPPED

COMPARING = {"eq", "eq_missing", "get", "is_in", "ne", "ne_missing"}


def _names(node: ast.expr, constants: dict[str, set[str]] | None = None) -> set[str]:
    """Texts that an operand of a comparison holds, also by the name of a module's constant."""
    known = constants or {}
    found = set().union(
        *(known.get(one.id, set()) for one in ast.walk(node) if isinstance(one, ast.Name))
    )
    return found | {
        one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def _constants(tree: ast.Module) -> dict[str, set[str]]:
    """Texts that the constants of a module hold, by their names."""
    return {
        target.id: _names(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def _is_protocol(node: ast.expr) -> bool:
    """Whether an operand is a protocol by its name: ``ask.protocol``, ``pl.col("protocol")``."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr == "protocol")
        or (isinstance(one, ast.Name) and one.id == "protocol")
        for one in ast.walk(node)
    ) or "protocol" in _names(node)


def compared_protocols(modules) -> list[str]:
    found = []
    for module in modules:
        if module.room == "protocols":
            continue
        constants = _constants(module.tree)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Compare):
                operands = [node.left, *node.comparators]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in COMPARING:
                operands = [node.func, *node.args]
            else:
                continue
            named = any(_names(one, constants) & set(SHIPPED) for one in operands)
            if named and any(_is_protocol(one) for one in operands):
                found.append(f"{module.path}:{node.lineno}")
    return found


def test_no_other_room_compares_protocols(package):
    faults = compared_protocols(package)
    assert not faults, "\n".join(faults)


def test_compared_protocols_are_found(planted):
    text = (
        'CHOOSING = ("best_of", "confusion")\n'
        'a = ask.protocol == "rating"\nb = protocol in ("best_of", "respond")\n'
        'c = pl.col("protocol").eq_missing("think_twice")\nd = pl.col("protocol") != "confusion"\n'
        'e = {"correctness": 2}.get(ask.protocol)\n'
        'f = pl.col("protocol").is_in(CHOOSING)\n'
        'f = menu.form == "rating"\ng = protocol_named(ask.protocol).judges\n'
    )
    place = "judgerel_ray/store/planted.py"
    assert sorted(set(compared_protocols([planted(text)]))) == [f"{place}:{n}" for n in range(2, 8)]
    assert compared_protocols([planted(text, "judgerel_ray/protocols/x.py")]) == []
