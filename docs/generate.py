"""What the documentation takes from the code: verbs, the sweep file, benchmarks, columns, the API.

    python -m docs.generate

writes ``docs/generated/`` (not kept in git) and ``judgerel_ray/config/sweep.schema.json``, the JSON
Schema that editors check sweep files by (kept, and held current by ``tests/docs``).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from numpydoc.docscrape import NumpyDocString

import judgerel_ray.benchmarks as benchmarks
from judgerel_ray.benchmarks import LOADERS
from judgerel_ray.cli.parsing import commands
from judgerel_ray.config import Sweep
from judgerel_ray.core.schema import Schema, tables_of
from judgerel_ray.core.tables import GroupColumns
from judgerel_ray.core.verb import Verb, all_verbs, flag_of, result_type
from judgerel_ray.protocols.ask import SweepTable

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "judgerel_ray" / "config" / "sweep.schema.json"
PAGES = ROOT / "docs" / "generated"
API = ("judgerel_ray", "judgerel_ray.stats", "judgerel_ray.papers")
INTERNAL = ("folder", "text")  # where a sweep came from: never a key of the file

Spec = dict[str, Any]


def tables(root: type[SweepTable] = SweepTable) -> dict[str, type[SweepTable]]:
    """Every table of the sweep file by the name of its class."""
    found = {}
    for one in root.__subclasses__():
        found |= {one.__name__: one} | tables(one)
    return found


def key_texts(table: type[SweepTable]) -> dict[str, str]:
    """What each key of a table means: the text below it in the class."""
    found = {}
    for one in reversed([kind for kind in table.__mro__ if issubclass(kind, SweepTable)]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(tree, ast.ClassDef)
        for node, after in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr):
                assert isinstance(node.target, ast.Name)
                text = ast.literal_eval(after.value)
                found[node.target.id] = " ".join(text.split())
    return found


def first_paragraph(documented: object) -> str:
    """First paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


def schema() -> Spec:
    """JSON Schema of the sweep file, with what each key means."""
    whole = Sweep.current().model_json_schema()
    for key in INTERNAL:
        whole["properties"].pop(key, None)
    known = tables()
    for spec in (whole, *whole["$defs"].values()):
        table = known.get(spec.get("title", ""))
        if table is None:
            continue
        spec["description"] = first_paragraph(table)
        texts = key_texts(table)
        for key, value in spec["properties"].items():
            value.pop("title", None)
            if key in texts:
                value["description"] = texts[key]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "judgerel sweep file",
        **{key: value for key, value in whole.items() if key != "title"},
    }


def schema_text() -> str:
    """The schema as its file holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _references(spec: Any) -> Iterator[str]:
    """Tables that a key may hold."""
    if isinstance(spec, dict):
        if "$ref" in spec:
            yield spec["$ref"].rpartition("/")[2]
        for key, value in spec.items():
            if key != "discriminator":
                yield from _references(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from _references(value)


def kind(spec: Spec) -> str:
    """What may stand at a key, in words."""
    if "enum" in spec:
        return ", ".join(f"`{value}`" for value in spec["enum"])
    if "const" in spec:
        return f"`{spec['const']}`"
    if "$ref" in spec:
        return "any value" if spec["$ref"].endswith("JsonValue") else "table"
    several = spec.get("anyOf") or spec.get("oneOf")
    if several:
        return " or ".join(dict.fromkeys(kind(one) for one in several if one != {"type": "null"}))
    if spec.get("type") == "array":
        inner = kind(spec["items"])
        return "one or more tables" if inner == "table" else f"list of {inner}"
    word = {"integer": "whole number", "boolean": "true or false", "string": "text"}.get(
        spec.get("type", ""), spec.get("type", "any value")
    )
    word = "table" if word == "object" else word
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {spec[key]:,}" for key, sign in signs.items() if key in spec]
    return f"{word} {', '.join(limits)}" if limits else word


def _rows(spec: Spec) -> Iterator[str]:
    """Keys of one table as rows."""
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for key, value in spec["properties"].items():
        given = value.get("default")
        if key in spec.get("required", ()):
            default = "**required**"
        elif given in (None, [], "", {}) or isinstance(given, dict):
            default = ""
        else:
            default = f"`{json.dumps(given)}`"
        meaning = value.get("description", "").replace("|", "\\|")
        yield f"| `{key}` | {kind(value)} | {default} | {meaning} |"


def sweep_page() -> str:
    """Reference of the sweep file."""
    whole = schema()
    lines = [
        "# The sweep file", "",
        "TOML. Keys that are not listed here are refused, with the closest key that exists. "
        "A key whose default is empty may be left out; where its default depends on the protocol, "
        "its meaning says how. `judgerel plan SWEEP.toml` prints the file with every default "
        "filled in.", "",
        "Editors that check TOML by a schema (Even Better TOML, taplo) take it from the first line "
        "of the file:", "",
        "```toml", "#:schema path/to/judgerel_ray/config/sweep.schema.json", "```", "",
        "The schema is installed with the package: {download}`sweep.schema.json "
        "<../../judgerel_ray/config/sweep.schema.json>`. It knows keys, kinds and limits; which "
        "keys go together, `judgerel plan` says.", "",
        "## Top level", "", *_rows(whole),
    ]  # fmt: skip
    seen: set[str] = set()
    waiting = [(f"{key}", value) for key, value in whole["properties"].items()]
    while waiting:
        path, value = waiting.pop(0)
        brackets = "[[{}]]" if value.get("type") == "array" else "[{}]"
        named = [name for name in dict.fromkeys(_references(value)) if name not in seen]
        names = [name for name in named if "properties" in whole["$defs"][name]]
        for name in names:
            seen.add(name)
            spec = whole["$defs"][name]
            more = f": {name}" if len(names) > 1 else ""
            lines += ["", f"## `{brackets.format(path)}`{more}", ""]
            lines += [spec.get("description", ""), "", *_rows(spec)]
            waiting += [(f"{path}.{key}", inner) for key, inner in spec["properties"].items()]
    return "\n".join(lines) + "\n"


def verbs_page() -> str:
    """Reference of the command line, verb by verb."""
    lines = [
        "# The command line", "",
        "Exit codes of every verb: 0 done; 1 some requests failed and are recorded (run again), or "
        "`verify` found errors; 2 your mistake, told in one line; 3 the cluster or an engine "
        "failed; 130 stopped by Ctrl-C.", "",
        "`judgerel --install-completion bash` (or `zsh`, `fish`) has verbs, flags and their "
        "choices completed in new shells; `--completion` prints the script. "
        "`judgerel --examples FOLDER` copies the files that the examples below are of.", "",
    ]  # fmt: skip
    for name, command in commands().items():
        context = click.Context(command, info_name=f"judgerel {name}")
        usage = command.get_usage(context).removeprefix("usage: ").rstrip()
        verb = all_verbs()[name]
        told = {one.name: one for one in fields(verb.options)}
        lines += [f"## judgerel {name}", "", f"{verb.help[0].upper()}{verb.help[1:]}.", ""]
        lines += ["```text", usage, "```", "", "| argument | default | meaning |", "|---|---|---|"]
        for one in command.params:
            if one.name == "help":
                continue
            meaning = getattr(one, "help", None) or ""
            if isinstance(one, click.Argument):
                shown = str(one.metavar)
                if one.name in told:
                    meaning = flag_of(told[one.name]).help
            elif isinstance(one.type, click.Choice):
                shown = f"{one.opts[0]} {{{','.join(one.type.choices)}}}"
            else:
                shown = one.opts[0] if one.is_flag else f"{one.opts[0]} {one.metavar}"
            given = re.search(r" \(default ([^)]*)\)$", meaning)
            default = f"`{given[1]}`" if given else ""
            if one.required and not isinstance(one, click.Argument):
                default = "**required**"
            meaning = meaning[: given.start()] if given else meaning
            meaning = " ".join(meaning.split()).replace("|", "\\|")
            lines.append(f"| `{shown}` | {default} | {meaning} |")
        lines += ["", "```sh", *(f"judgerel {line}" for line in verb.examples), "```"]
        if verb.prints:
            place = f"columns.md#judgerel-{name}"
            lines += ["", f"Its JSON: [columns of judgerel {name}]({place})."]
        lines.append("")
    return "\n".join(lines)


def result_of(verb: Verb) -> type | None:
    """The class of a verb's result; None where it is a table of Polars or a plain value."""
    name = result_type(verb.act.__annotations__["return"])
    if not name.isidentifier():  # pl.DataFrame
        return None
    module = inspect.getmodule(verb.act)
    assert module is not None
    for node in ast.walk(ast.parse(inspect.getsource(module))):  # most are imported for types alone
        if isinstance(node, ast.ImportFrom) and name in {one.name for one in node.names}:
            module = importlib.import_module(str(node.module))
    found = getattr(module, name, None)
    return found if inspect.isclass(found) else None


def results() -> list[type]:
    """The classes of all verbs' results, by name."""
    found = {one for verb in all_verbs().values() if (one := result_of(verb)) is not None}
    return sorted(found, key=lambda one: one.__name__)


def described(documented: object, section: str) -> dict[str, str]:
    """What a docstring's section says of each of its entries, as Markdown on one line."""
    entries = NumpyDocString(inspect.getdoc(documented) or "")[section]
    return {name.strip(): _marked(one.desc) for one in entries for name in one.name.split(",")}


def _marked(lines: Sequence[str]) -> str:
    """Lines of a docstring as Markdown on one line."""
    text = re.sub(r":\w+:`[~.]?([\w.]+)`", r"`\1`", " ".join(" ".join(lines).split()))
    return text.replace("``", "`")


def _meanings(table: type[Schema]) -> Iterator[str]:
    """Columns as rows."""
    yield "| column | meaning |"
    yield "|---|---|"
    for name, meaning in table.descriptions.items():
        yield f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |"


def columns_page() -> str:
    """Reference of results: every column of every table, verb by verb."""
    lines = [
        "# Columns of results", "",
        "What each verb prints as JSON, and what the Python functions return. Shares, chances and "
        "p-values are from 0 to 1, intervals cover 95 % unless a column says otherwise. A number "
        "is never NaN: what has none is null, and another column says why. Codes are told in words "
        "by the tables on the terminal and by the page of `judgerel report`.", "",
        "## Columns of groups", "",
        "They come first in most tables, those that hold any value; columns that `--by` names "
        "stand in their place.", "", *_meanings(GroupColumns), "",
    ]  # fmt: skip
    for name in commands():
        verb = all_verbs()[name]
        if not verb.prints:
            continue
        made, result = described(verb.act, "Returns"), result_of(verb)
        lines += [f"## judgerel {name}", "", *made.values(), ""]
        if result is not None:
            lines += [f"In Python: {{py:class}}`~{result.__module__}.{result.__qualname__}`.", ""]
        for table, schema in tables_of(verb).items():
            if table:
                lines += [f"### `{table}`", "", _marked([inspect.getdoc(schema) or ""]), ""]
            lines += [*_meanings(schema), ""]
    return "\n".join(lines)


def benchmarks_page() -> str:
    """Reference of the benchmarks whose own files are read, by the docstrings of their loaders."""
    lines = [
        "# Benchmarks", "",
        "An `[[ask]]` whose `benchmark` is one of these names has the files at its `path` read as "
        "their authors publish them, and so does `judgerel items NAME PATH --out FILE.parquet`. "
        "Any other name is given to the [items of a plain file](../items.md). A path is a file or "
        "a folder, local or any fsspec URL, and its files may be packed (.gz, .bz2, .xz, .zst).",
        "",
    ]  # fmt: skip
    for name in LOADERS:
        loader = getattr(benchmarks, f"load_{name}", LOADERS[name])  # those of papers by their name
        what = first_paragraph(loader).removeprefix("Read ")
        lines += [f"## `{name}`", "", _marked([what[0].upper() + what[1:]]), ""]
        for key, meaning in described(loader, "Parameters").items():
            lines += [f"**`{key}`**: {meaning}", ""]
        for items in described(loader, "Returns").values():
            lines += [f"**Items**: {items}", ""]
        notes = _marked(NumpyDocString(inspect.getdoc(loader) or "")["Notes"])
        lines += [notes, ""] if notes else []
    return "\n".join(lines).replace("`load_", "`")  # of another benchmark: by its name


def api_page(name: str) -> str:
    """Reference of a module's public names, under the folder that each is defined in."""
    module = importlib.import_module(name)
    places: dict[str, list[str]] = {}
    for public in module.__all__:
        value = getattr(module, public)
        if public.startswith("__"):
            continue
        home = getattr(value, "__module__", "") or ""
        inside = home.removeprefix(f"{name}.").partition(".")[0] if name.endswith("stats") else ""
        constant = not (inspect.isclass(value) or inspect.isfunction(value))
        places.setdefault("Constants" if constant else inside, []).append(public)
    title = f"{name}: {first_paragraph(module).partition(':')[2].strip() or 'the front door'}"
    if name == "judgerel_ray":
        title = "judgerel_ray: one function for every verb"
    lines = [title, "=" * len(title), "", f".. module:: {name}", ""]
    for place in sorted(places, key=lambda one: (one == "Constants", one)):
        if place:
            heading = place.replace("_", " ").capitalize()
            lines += [heading, "-" * len(heading), ""]
        for public in sorted(places[place], key=str.lower):
            value = getattr(module, public)
            if place == "Constants":
                names = value if isinstance(value, dict | tuple | frozenset | set) else ()
                listed = ", ".join(f"``{one}``" for one in names if isinstance(one, str))
                lines += [f".. data:: {public}", ""]
                lines += [f"   {listed}", ""] if listed else []
            elif inspect.isclass(value):
                lines += [f".. autoclass:: {public}", "   :members:", ""]
            else:
                lines += [f".. autofunction:: {public}", ""]
    if name == "judgerel_ray":
        lines += ["Results", "-------", "", "What functions return that is no plain table.", ""]
        for one in results():
            lines += [f".. autoclass:: {one.__module__}.{one.__qualname__}", "   :members:", ""]
    return "\n".join(lines)


def main() -> None:
    """Write the pages and the schema."""
    PAGES.mkdir(exist_ok=True)
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    (PAGES / "sweep-file.md").write_text(sweep_page(), encoding="utf-8")
    (PAGES / "verbs.md").write_text(verbs_page(), encoding="utf-8")
    (PAGES / "columns.md").write_text(columns_page(), encoding="utf-8")
    (PAGES / "benchmarks.md").write_text(benchmarks_page(), encoding="utf-8")
    for name in API:
        page = PAGES / f"api-{name.rpartition('.')[2]}.rst"
        page.write_text(api_page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
