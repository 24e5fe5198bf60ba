"""Ids, judges and verdicts as long as a book are shown by their ends, and stay apart."""

import json
import re

import polars as pl
import pytest

from judgerel_ray.cli import main

ITEMS = ["q" * 100_000 + f"{n}" + "q" * 50_000 for n in range(8)]
JUDGES = ["j" * 100_000 + "1", "j" * 100_000 + "2"]
SAID = ["V" * 100_000, "many words " * 10_000]
# Both judges as a table cuts them, or as a sentence does, by a digest of the name.
MARKS = (
    re.compile(r"\bj+\.\.j+1\b.*\bj+\.\.j+2\b", re.DOTALL),
    re.compile(r"\.\.\.\S*~[0-9a-f]{6}"),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rows = [
        {"item_id": item, "replication": replication, "judge": judge, "gold": SAID[0],
         "verdict": SAID[(n + replication * (n % 3 == 0)) % 2]}
        for n, item in enumerate(ITEMS) for judge in JUDGES for replication in range(3)
    ]  # fmt: skip
    file = tmp_path_factory.mktemp("very_long") / "rows.parquet"
    pl.DataFrame(rows).write_parquet(file)
    return str(file)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "arguments",
    [
        ["reduce", "{}"],
        ["questions", "{}"],
        ["reduce", "{}", "--coefficient", "accuracy"],
        *(
            pytest.param(given, marks=pytest.mark.slow)
            for given in (
                ["reduce", "{}", "--by", "judge"],
                ["compare", "{}", "--by", "judge"],
                *([verb, "{}"] for verb in ("select", "panels", "systems", "advise")),
            )
        ),
    ],
)
def test_no_line_is_longer_than_a_reader_takes(path, capsys, arguments):
    assert main([one.format(path) for one in arguments]) == 0
    out, err = capsys.readouterr()
    lines = (out + err).splitlines()
    assert max(map(len, lines)) < 700
    assert len(lines) < 300
    assert any(mark.search(out) for mark in MARKS)


@pytest.mark.slow
def test_names_that_differ_in_the_middle_stay_apart(path, capsys):
    assert main(["questions", "--full", path]) == 0
    _, *rows, _, _ = capsys.readouterr().out.splitlines()  # two lines say what agreement is of
    assert len({tuple(row.split()[:2]) for row in rows}) == len(ITEMS) * len(JUDGES)


@pytest.mark.slow
def test_json_and_tables_have_them_in_full(path, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert main(["questions", path, "--format", "json", "--out", str(out)]) == 0
    assert {row["item_id"] for row in json.loads(capsys.readouterr().out)} == set(ITEMS)
    assert set(pl.read_csv(out)["item_id"]) == set(ITEMS)
