"""No test asserts the clock: on a busy machine it would fail for its neighbours' load.

What must come is waited for (fixture ``wait_until``); only what hangs exceeds the bound.
"""

from __future__ import annotations

import ast

CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}


def _reads_a_clock(node: ast.AST) -> bool:
    """Whether an expression calls a clock: ``time.monotonic()``, ``loop.time()``."""
    for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        if name.removesuffix("_ns") in CLOCKS:
            return True
    return False


def clock_asserts(modules) -> list[str]:
    found = []
    for module in modules:
        assigned = (node for node in ast.walk(module.tree) if isinstance(node, ast.Assign))
        times = {
            ast.unparse(target)
            for node in assigned
            if _reads_a_clock(node.value)
            for target in node.targets
        }
        for node in (one for one in ast.walk(module.tree) if isinstance(one, ast.Assert)):
            names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
            if names & times or _reads_a_clock(node.test):
                found.append(f"{module.path}:{node.lineno}")
    return found


def test_no_test_asserts_the_clock(every_module):
    faults = clock_asserts(one for one in every_module if one.path.startswith("tests/"))
    assert not faults, "\n".join(faults)


def test_asserts_of_the_clock_are_found(planted):
    text = (
        "began = time.perf_counter()\nassert time.perf_counter() - began < 1\n"
        "took = loop.time() - began\nassert took < 3\nassert monotonic_ns() < 5\n"
        "assert clock.now < 3\nassert all(one.time for one in seen)\n"
    )
    module = planted(text, "tests/planted.py")
    assert clock_asserts([module]) == [f"tests/planted.py:{line}" for line in (2, 4, 5)]
