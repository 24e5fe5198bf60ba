"""Every column says what it holds: of tables that are kept, and of all results that are printed."""

from __future__ import annotations

import ast
import importlib
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.distributions.settled import settled_summary
from judgerel_ray.analyses.drift.standing import summary_of
from judgerel_ray.analyses.panels.cascades import CascadeTables
from judgerel_ray.analyses.panels.tables import CascadedShares
from judgerel_ray.cli import main
from judgerel_ray.config.series import Series
from judgerel_ray.core.schema import Schema
from judgerel_ray.core.tables import GroupColumns
from judgerel_ray.core.verb import all_verbs
from judgerel_ray.measuring.distributions import reasoning_table, weighted_summary, weighted_table
from judgerel_ray.reporting.verb import Refreshed
from judgerel_ray.store.series import Refresh

VERBS = all_verbs()


def _is_table(node: ast.AST, tables: set[str]) -> bool:
    if not isinstance(node, ast.ClassDef):
        return False
    bases = {ast.unparse(base) for base in node.bases}
    return bool(bases & ({"dy.Schema"} | tables))


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


ROOT = Path(__file__).resolve().parents[2]
RUN, ROWS, SWEEP = (judgerel_ray.example(n) for n in ("run", "judgments.csv", "sweep.toml"))
IN_ORDER = {"order": ["simulated-erratic", "simulated-steady"], "confidence": "probability"}
FRAMES = [
    ("reduce", RUN, {"tolerance": {"flip_rate": 0.3}}),
    ("questions", RUN, {}),
    ("serving", RUN, {}),
    ("uncertainty", RUN, {}),
    ("distributions", RUN, {}),
    ("select", RUN, {"resamples": 100}),
    ("systems", RUN, {"resamples": 100}),
    ("panels", RUN, {}),
    ("cascade", RUN, IN_ORDER),
    ("scales", RUN, {}),
    ("align", RUN, {"reference": "human"}),
    ("rank", RUN, {}),
    ("advise", ROWS, {}),
    ("compare", ROWS, {"by": "judge"}),
    ("agree", ROWS, {}),
]
"""Verbs whose JSON is their tables, which have columns without rows, too."""
PRINTED = [
    ("plan", SWEEP, "--cluster", str(ROOT / "cluster" / "ray-autoscaler-aws.yaml")),
    ("status", RUN),
    ("doctor", ROWS),
    ("doctor",),
    ("doctor", "log.csv"),
    ("replay", RUN, "--all", "2", "--sweep", SWEEP),
    ("gate", RUN),
]
"""Verbs whose JSON holds more than tables."""
Columns = dict[tuple[str, str], set[str]]
Frames = dict[tuple[str, str], list[pl.DataFrame]]


def answer_of(name: str, source: object, **options: object) -> object:
    """What a verb returns, to the command line and to a program."""
    return VERBS[name].act(source, VERBS[name].options(**options))


def frames_of(found, table: str = "") -> Iterator[tuple[str, pl.DataFrame]]:
    """Tables of a result, by name."""
    tables = found.tables
    yield from ({table: tables} if isinstance(tables, pl.DataFrame) else tables).items()


def of_json(name: str, content: dict) -> Iterator[tuple[tuple[str, str], str]]:
    """Keys of JSON, by verb and table: a list of objects is a table."""
    for key, value in content.items():
        rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
        yield from (((name, key), column) for row in rows for column in row)
        if not rows:
            yield (name, ""), key


def corrected(folder) -> Iterator[object]:
    """Scores corrected by labels, and by what three judges agree on."""
    rows = pl.read_csv(ROWS)
    labels = rows.select("item_id", label=(pl.col("gold") == "a").cast(pl.Int64)).unique()
    labels.write_csv(folder / "labels.csv")
    third = rows.filter(judge="simulated-steady").with_columns(judge=pl.lit("third"))
    path = str(folder / "labels.csv")
    yield answer_of("correct", rows, labels=path, positive="a", width=0.1)
    yield answer_of("correct", pl.concat([rows, third]).drop("gold"), positive="a")


def refreshed() -> dict:
    """What a trigger of a series prints, of a series that was refreshed once."""
    series = Series(name="s", out="o", sweep=({"path": "a", "role": "anchor"},))
    drift = [{"sweep": "a", "judge": "j", "p": None}]
    result = {"state": "done", "since": 1, "drift": drift, "measures": []}
    once = Refresh(number=1, started_at="2026-01-01T00:00:00+00:00", sweeps=(), result=result)
    return Refreshed(state="done", line="", summary=summary_of(series, [once])).as_json()


@pytest.fixture(scope="module")
def frames(tmp_path_factory) -> Frames:
    """All tables that verbs print as JSON, on the shipped examples."""
    found: Frames = {}
    folder = tmp_path_factory.mktemp("results")

    def add(verb: str, result: object, view: str = "") -> None:
        for table, frame in frames_of(result, view):
            found.setdefault((verb, table), []).append(frame)

    with warnings.catch_warnings(action="ignore"):  # that a tiny run holds little
        for name, path, options in FRAMES:
            view = "limits" if name == "distributions" else ""
            add(name, answer_of(name, path, **options), view)
        for one in corrected(folder):
            add("correct", one)
    asked = {"judge": "j", "item_id": "q", "state": "settled", "replications": 9, "most": 20}
    settled = settled_summary(pl.DataFrame([asked]), by=["judge"])
    texts = {name: pl.String for name in ("judge", "benchmark")}
    reasoned = reasoning_table(pl.DataFrame(schema={**texts, "temperature": pl.Float64}))
    weighted = weighted_summary(weighted_table(pl.DataFrame(schema={"scale": pl.String})))
    views = {"settled": settled, "reasoning": reasoned, "weighted": weighted}
    found |= {("distributions", view): [table] for view, table in views.items()}
    for one, rows in CascadeTables(cascaded=CascadedShares.frame()).tables().items():
        found.setdefault(("cascade", one), []).append(rows)
    found["serving", ""] += found["reduce", ""]  # where a run has tolerances
    return found


@pytest.fixture(scope="module")
def results(frames) -> Columns:
    """The columns of these tables, and of what a series prints."""
    found = {place: {name for one in many for name in one.columns}
             for place, many in frames.items()}  # fmt: skip
    for place, column in of_json("refresh", refreshed()):
        found.setdefault(place, set()).add(column)
    return found


@pytest.fixture
def printed(results, capsys, tmp_path, monkeypatch) -> Columns:
    """The same with what verbs print that is more than tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("some,thing\n1,2\n")  # whose columns say nothing
    for name, *arguments in PRINTED:
        main([name, *arguments, *(["--format", "json"] if name == "gate" else ["--json"])])
        for place, column in of_json(name, json.loads(capsys.readouterr().out)):
            results.setdefault(place, set()).add(column)
    return results


def schemas() -> dict[tuple[str, str], type[Schema]]:
    """The schemas of all results, by verb and table."""
    found = {}
    for name, verb in VERBS.items():
        if verb.prints:
            module = f"{verb.act.__module__.rpartition('.')[0]}.tables"
            tables = importlib.import_module(module).TABLES[name]
            found |= {(name, table): schema for table, schema in tables.items()}
    return found


def described() -> dict[tuple[str, str], dict[str, str]]:
    """What is said of columns, by verb and table."""
    return {place: dict(schema.descriptions) for place, schema in schemas().items()}


def not_described(there: Columns, said: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    """Columns that nothing is said of."""
    return sorted(
        f"{verb} {table}.{column}: not described"
        for (verb, table), columns in there.items()
        for column in columns - {*said.get((verb, table), {}), *GroupColumns.columns}
    )


def stale(there: Columns, said: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    """Columns that something is said of, and no table has."""
    every = set().union(*there.values())
    return sorted(
        f"{verb} {table}.{column}: no such column"
        for (verb, table), columns in said.items()
        for column in columns.keys() - there.get((verb, table), set())
    ) + sorted(f"{name}: makes no group" for name in GroupColumns.columns.keys() - every)


def test_every_column_of_every_result_is_described(printed):
    assert {verb for verb, _ in printed} == {name for name, verb in VERBS.items() if verb.prints}
    assert not (faults := not_described(printed, described())), "\n".join(faults)
    assert not (faults := stale(printed, described())), "\n".join(faults)


def test_every_table_has_the_columns_of_its_schema_behind_those_of_groups(frames):
    for (verb, table), found in frames.items():
        schema = schemas()[verb, table]
        for frame in found:
            kinds = {name: kind for name, kind in schema.dtypes.items() if name in frame.columns}
            if frame.width:  # an analysis may give only some of its tables
                assert [*frame.schema.items()][-len(kinds) :] == [*kinds.items()], (verb, table)
            if kinds == schema.dtypes:
                schema.dataframely().validate(frame)


def every_schema(root: type[Schema] = Schema) -> Iterator[type[Schema]]:
    for one in root.__subclasses__():
        yield from (one, *every_schema(one))


def test_a_description_is_a_sentence_on_one_line():
    schemas()  # which loads them
    faults = [
        f"{schema.__name__}.{column}: {text!r}"
        for schema in every_schema()
        for column, text in schema.descriptions.items()
        if "\n" in text or not text.endswith(".")
    ]
    assert not faults, "\n".join(faults)


def test_columns_that_are_not_described_or_gone_are_found():
    there = {("select", "systems"): {"judge", "accuracy", "new"}}
    said = {("select", "systems"): {"accuracy": "Right.", "gone": "Was."}}
    assert not_described(there, said) == ["select systems.new: not described"]
    assert stale(there, said)[0] == "select systems.gone: no such column"
