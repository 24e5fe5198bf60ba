"""Ids, judges and verdicts as long as a book are shown by their ends, and stay apart."""

import json
import re

import polars as pl
import pytest

from judgerel_ray.cli import main

ITEMS = ["q" * 100_000 + f"{n}" + "q" * 50_000 for n in range(8)]
JUDGES = ["j" * 100_000 + "1", "j" * 100_000 + "2"]
SAID = ["V" * 100_000, "many words " * 10_000]
# Both judges as a table cuts them, or as a sentence does, by a digest of the name; or the best of
# them with its accuracy, by the ends of its name, where the others are not named.
MARKS = (
    re.compile(r"\bj+\.\.j+1\b.*\bj+\.\.j+2\b", re.DOTALL),
    re.compile(r"\.\.\.\S*~[0-9a-f]{6}"),
    re.compile(r"\bj+\.\.j*[12]\s+\d+ % \("),
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
    unwrapped = re.sub(r"(?<=[.j])\n +(?=[.j])", "", out)  # a long name goes on in the next line
    assert any(mark.search(unwrapped) for mark in MARKS)


def judged_by(names, tmp_path_factory, name):
    """Two of three replies right, of every judge on twelve questions; with the right verdicts."""
    rows = [
        {"item_id": f"q{n}", "replication": replication, "judge": judge, "gold": "ab"[n % 2],
         "verdict": "ab"[(n + (n * 7 + replication * 3 + place) % 3 // 2) % 2]}
        for n in range(12) for place, judge in enumerate(names) for replication in range(3)
    ]  # fmt: skip
    file = tmp_path_factory.mktemp(name) / "rows.parquet"
    pl.DataFrame(rows).write_parquet(file)
    return str(file)


@pytest.fixture(scope="module")
def of_fourteen(tmp_path_factory):
    """Fourteen judges whose names have forty characters, told apart at the beginning."""
    return judged_by([f"judge-{k:02}-" + "x" * 31 for k in range(14)], tmp_path_factory, "fourteen")


VERBS = [
    ["reduce"], ["questions"], ["gate"], ["agree"], ["select"], ["panels"], ["systems"], ["advise"],
    ["compare", "--by", "judge"], ["doctor"],
]  # fmt: skip
"""Every verb that takes a file of judgments with right verdicts alone."""
SLOW = ("panels", "advise")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "words",
    [pytest.param(one, marks=[pytest.mark.slow] * (one[0] in SLOW), id=one[0]) for one in VERBS],
)
@pytest.mark.parametrize("file", ["path", "of_fourteen"])
def test_no_line_of_a_short_form_is_wider_than_a_terminal(words, file, request, capsys):
    verb, *more = words
    source = request.getfixturevalue(file)
    assert main([verb, source, *more]) in (0, 4, 5)
    text = capsys.readouterr().out.replace(source, "FILE")
    assert max(map(len, text.splitlines())) <= 80


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
