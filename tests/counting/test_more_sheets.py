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
