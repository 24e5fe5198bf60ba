"""No room reads the sentence on how a number was made: codes stand in columns beside it."""

from __future__ import annotations

import ast

SENTENCE = "estimator"
READING = {
    "contains", "endswith", "ends_with", "extract", "find", "findall", "fullmatch", "match",
    "partition", "replace", "rpartition", "search", "split", "startswith", "starts_with", "sub",
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
