"""Kinds of files that people have beside plain tables: read whole, or asked, and never in part."""

from __future__ import annotations

import json
import re
import shlex

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.counting.judgments import tally_file

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
FENCE = "```"
WORDS = ["pass", "fail", "pass"]


def rows_of(path, **stated) -> pl.DataFrame:
    """The judgments that a file is read as."""
    return tally_file(str(path), stated=stated or None).rows.collect()


def refused(path, capsys, *flags) -> str:
    """The one line with which a file is refused."""
    assert main(["reduce", str(path), *flags]) == 2
    return capsys.readouterr().err.strip()


def follow(line, path, capsys) -> None:
    """Every flag that a line suggests leads to numbers by itself."""
    ways = re.findall(r"--(?:column|item-by-row)(?: (?:'[^']*'|[^\s;,)]+))?", line)
    assert ways, line
    for way in ways:
        assert main(["reduce", str(path), *shlex.split(way)]) == 0, capsys.readouterr().err


def fenced(record, between="\n") -> str:
    return f"{FENCE}json{between}{json.dumps(record)}{between}{FENCE}"


@pytest.mark.parametrize("write", [
    lambda one: json.dumps(fenced(one)), lambda one: fenced(one, " "), fenced,
])  # fmt: skip
def test_replies_in_code_fences_are_the_records_inside_them(tmp_path, write):
    path = tmp_path / "fence.jsonl"
    records = [{"id": "q1", "run": n, "verdict": word} for n, word in enumerate(WORDS)]
    path.write_text("\n".join(map(write, records)) + "\n")
    assert rows_of(path)["verdict"].to_list() == WORDS


def test_the_text_of_a_reply_beside_a_custom_id_is_no_log_of_a_batch(tmp_path, capsys):
    path = tmp_path / "fence.jsonl"
    lines = [{"custom_id": f"q{n % 2}", "response": fenced({"verdict": word})}
             for n, word in enumerate([*WORDS, "fail"])]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    follow(refused(path, capsys), path, capsys)


def test_text_between_code_fences_is_refused(tmp_path, capsys):
    path = tmp_path / "fence.jsonl"
    path.write_text(f"{fenced({'id': 'q1', 'verdict': 'a'})}\nSo a.\n")
    assert "line 1 is not JSON" in refused(path, capsys)


@pytest.mark.parametrize(("head", "cells"), [
    ("id,verdict,verdict,verdict", list("abcbba")), ("item_id,score,score,score", [1, 2, 3, 2, 2, 1]),
])  # fmt: skip
def test_columns_of_one_name_are_repeats_each(tmp_path, head, cells, capsys):
    first, second = (",".join(map(str, one)) for one in (cells[:3], cells[3:]))
    (path := tmp_path / "mine.csv").write_text(f"{head}\nq1,{first}\nq2,{second}\n")
    name = head.rpartition(",")[2]
    assert rows_of(path).sort("item_id", "replication")[name].to_list() == cells
    assert main(["reduce", str(path)]) == 0
    assert f"numbered: {name}.1, {name}.2" in capsys.readouterr().err


def test_of_two_columns_of_one_name_beside_a_replication_none_is_taken_alone(tmp_path, capsys):
    rows = "q1,0,a,b\nq1,1,a,a\nq2,0,b,b\nq2,1,b,a\n"
    (path := tmp_path / "mine.csv").write_text(f"item_id,replication,verdict,verdict\n{rows}")
    assert "columns 3 and 4 are both called" in refused(path, capsys)
    path.write_text(f"item_id,replication,verdict,verdict.1\n{rows}")  # as pandas writes them
    follow(refused(path, capsys), path, capsys)


@pytest.mark.parametrize("head", ["id,verdict,id,verdict", "id,verdict,model,model"])
def test_columns_of_one_name_that_tell_judgments_apart_are_refused(tmp_path, head, capsys):
    (path := tmp_path / "mine.csv").write_text(f"{head}\nq1,a,q3,b\nq2,b,q4,a\n")
    assert "are both called" in refused(path, capsys)


def test_labels_in_two_columns_of_one_name_are_refused(tmp_path, capsys):
    (tmp_path / "labels.csv").write_text("item_id,label,label\nq1,a,b\n")
    (path := tmp_path / "mine.csv").write_text("id,verdict\nq1,a\nq1,b\n")
    assert main(["gate", str(path), "--labels", str(tmp_path / "labels.csv")]) == 2
    assert "several columns have one name" in capsys.readouterr().err
