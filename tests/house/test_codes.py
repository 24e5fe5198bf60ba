"""No room reads the sentence on how a number was made: codes stand in columns beside it.

Nor does a room of analyses read any other text of a result, or what an error says, but where it is
shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from pathlib import PurePosixPath

import pytest

from judgerel_ray.tables import Judgments

SENTENCE = "estimator"
READING = {
    "contains", "endswith", "ends_with", "extract", "extract_all", "find", "findall", "finditer",
    "fullmatch", "match", "partition", "removeprefix", "removesuffix", "replace", "rpartition",
    "rsplit", "search", "split", "startswith", "starts_with", "strip_prefix", "strip_suffix", "sub",
}  # fmt: skip


def _holds_it(node: ast.expr) -> bool:
    """Whether an expression holds the sentence: ``row["estimator"]``, ``col("estimator")``."""
    return any(isinstance(one, ast.Constant) and one.value == SENTENCE for one in ast.walk(node))


def parsed_sentences(modules) -> list[str]:
    found = []
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
                # A name among columns is not a text that is read.
                read = [one for one in node.comparators if not isinstance(one, ast.Attribute)]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in READING:
                read = [node.func, *node.args]
            else:
                continue
            if any(map(_holds_it, read)):
                found.append(f"{module.path}:{node.lineno}")
    return found


def test_no_room_parses_the_sentence_on_how_a_number_was_made(package):
    faults = parsed_sentences(package)
    assert not faults, "\n".join(faults)


def test_parsed_sentences_are_found(planted):
    text = (
        'a = "noise" in row["estimator"]\nb = str(row["estimator"]).split("; ")\n'
        'c = re.search("over [0-9]+", str(row.get("estimator")))\n'
        'd = pl.col("estimator").str.contains("few")\n'
        'e = {**row, "estimator": words}\nf = str(row["estimator"] or "")\n'
    )
    place = "judgerel_ray/blocks/planted.py"
    assert parsed_sentences([planted(text, place)]) == [f"{place}:{n}" for n in (1, 2, 3, 4)]


SHOWING = ("show", "sections", "headlines")
"""How modules of analyses begin that say things in words."""
SAYING = {"explanation", "reason", "remark"}
"""Functions that make sentences, beside those whose names end in ``_words``."""
PLAIN = {"cast", "str"}
NAMES = {"coefficient"}
"""Names of a contract, and no sentences: those of one family begin alike."""


def text_columns(modules) -> set[str]:
    """Columns of results that hold text; people's own, of judgments, are read as they need it."""
    found = {
        ast.unparse(node.targets[0])
        for module in modules
        if re.fullmatch(r"judgerel_ray/(analyses/\w+|measuring|core)/tables\.py", module.path)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("String(")
    }
    return found - {*Judgments.column_names(), *NAMES}


def _column(node: ast.expr) -> object:
    """The name in ``row["x"]``, ``row.get("x")``, ``pl.col("x")``; None elsewhere."""
    named = None
    if isinstance(node, ast.Subscript):
        named = node.slice
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("get", "col"):
        named = next(iter(node.args), None)
    return named.value if isinstance(named, ast.Constant) else None


def _is_text(node: ast.expr, columns: Set[str], names: Set[str]) -> bool:
    """Whether an expression is text of a result or of an error, or one of some names."""
    if _column(node) in columns:
        return True
    parts: list[ast.expr] = []
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        if node.attr == "problem":  # of an error
            return True
        parts = [node.value] if node.attr == "str" else []
    elif isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.Subscript):
        parts = [node.value]
    elif isinstance(node, ast.Call):
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in SAYING or (called.endswith("_words") and not called.startswith("_")):
            return True
        if called in PLAIN:
            parts = node.args
        elif isinstance(node.func, ast.Attribute):
            parts = [node.func.value]
    return any(_is_text(one, columns, names) for one in parts)


def _given(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What a statement or a loop names, and the value that it names so."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def _names_of_text(function: ast.AST, columns: Set[str]) -> set[str]:
    """Names that a function gives to text of results, and to errors, whose text says what is wrong.

    Of several names at once that a value is taken apart into, all.
    """
    found = {node.name for node in ast.walk(function)
             if isinstance(node, ast.ExceptHandler) and node.name}  # fmt: skip
    while True:
        more = {
            one.id
            for node in ast.walk(function)
            for target, value in _given(node)
            if _is_text(value, columns, found)
            for one in ast.walk(target)
            if isinstance(one, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _read_in(node: ast.AST) -> list[ast.expr]:
    """The texts that an expression looks into."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        # A code among several is no part of a text.
        words = isinstance(node.left, ast.JoinedStr | ast.Constant)
        return node.comparators if words else []
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in READING:
        return [node.func.value, *node.args]
    return []


def parsed_texts(modules, columns: Set[str]) -> list[str]:
    found = []
    for module in modules:
        place = PurePosixPath(module.path)
        if not module.path.startswith("judgerel_ray/analyses/") or place.stem.startswith(SHOWING):
            continue
        for function in ast.walk(module.tree):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            names = _names_of_text(function, columns)
            found += [
                f"{module.path}:{node.lineno}"
                for node in ast.walk(function)
                if any(_is_text(one, columns, names) for one in _read_in(node))
            ]
    return sorted({*found})


def test_columns_of_results_that_hold_text_are_known(package):
    assert {"band", "estimator", "how", "lead", "split", "unreachable"} <= text_columns(package)


def test_no_analysis_parses_text_of_a_result_but_where_it_is_shown(package):
    faults = parsed_texts(package, text_columns(package))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        'unknown = "not known" in str(row["unreachable"])',
        'names = [str(one).partition(" ")[0] for one in table["band"]]',
        'words = no_interval_words(code, n=n)\n    return words.startswith("no interval")',
        'reason = error.problem.removeprefix("cannot be read: ")',
        'try:\n        f()\n    except E as error:\n        a = str(error).partition(": ")[2]',
        'code, _, answer = str(row.get("lead")).partition(":")',
        'code = pl.col("lead").str.split(":").list.first()',
        'lead = row["lead"] or ""\n    parts = cast(str, lead)\n    return parts.split(":")',
        'found = re.search("over [0-9]+", row["band"])',
        'for one in table["how"]:\n        print(one.endswith("folds"))',
    ],
)
def test_parsed_texts_are_found(planted, line):
    columns = {"unreachable", "band", "lead", "how"}
    text = f"def f(row, table, error):\n    {line}\n"
    for name, faults in (("from_run", 1), ("show", 0), ("show_systems", 0)):
        module = planted(text, f"judgerel_ray/analyses/gate/{name}.py")
        assert len(parsed_texts([module], columns)) == faults


def test_codes_that_are_compared_are_no_parsed_texts(planted):
    text = (
        'def f(row, table):\n    a = row["lead"] in ("noise", "agreement")\n'
        '    b = pl.col("lead") == "noise"\n    c = row["lead"] if row else None\n'
        '    d = row["item_id"].partition("-")\n    e = pl.col("lead").is_in(["noise"])\n'
        '    g = pl.col("flags").list.contains("noise")\n    h = "lead" in table.columns\n'
    )
    assert not parsed_texts([planted(text, "judgerel_ray/analyses/gate/from_run.py")], {"lead"})
