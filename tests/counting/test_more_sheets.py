"""Kinds of files that people have beside plain tables: read whole, or asked, and never in part."""

from __future__ import annotations

import json
import re
import shlex

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import judgerel_ray
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
    ways = re.findall(r"--(?:column|item-by-row)(?: (?:'[^']*'|[^\s;)]+))?", line)
    assert ways, line
    for way in ways:
        assert main(["reduce", str(path), *shlex.split(way.rstrip(",."))]) == 0, (
            capsys.readouterr().err
        )


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
    ("id,verdict,verdict,verdict", list("abcbba")),
    ("item_id,score,score,score", [1, 2, 3, 2, 2, 1]),
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
    assert "several columns may hold what the judge said" in refused(path, capsys)


@pytest.mark.parametrize("head", ["id,verdict,id,verdict", "id,verdict,model,model"])
def test_columns_of_one_name_that_tell_judgments_apart_are_refused(tmp_path, head, capsys):
    (path := tmp_path / "mine.csv").write_text(f"{head}\nq1,a,q3,b\nq2,b,q4,a\n")
    assert "are both called" in refused(path, capsys)


def test_labels_in_two_columns_of_one_name_are_refused(tmp_path, capsys):
    (tmp_path / "labels.csv").write_text("item_id,label,label\nq1,a,b\n")
    (path := tmp_path / "mine.csv").write_text("id,verdict\nq1,a\nq1,b\n")
    assert main(["gate", str(path), "--labels", str(tmp_path / "labels.csv")]) == 2
    assert "several columns have one name" in capsys.readouterr().err


PAIR = [("q1", "ab", "A"), ("q1", "ba", "B"), ("q2", "ab", "C"), ("q2", "ba", "C"),
        ("q3", "ab", "B"), ("q3", "ba", "B"), ("q4", "ab", "C"), ("q4", "ba", "A")]  # fmt: skip


def paired(path, write):
    lines = [f"{item},{order},{write(word)}" for item, order, word in PAIR]
    path.write_text("\n".join(["question_id,order,winner", *lines]) + "\n")
    return path


def test_brackets_around_a_verdict_are_no_part_of_it(tmp_path):
    (path := tmp_path / "mine.csv").write_text(
        "id,run,verdict,gold\nq1,1,[[A]],A\nq1,2,n/a,A\nq2,1,[[b]],[[B]]\nq2,2,[[B]],[[B]]\n"
    )
    found = tally_file(str(path), reads=["gold"])
    assert set(found.nested.kinds["verdict"]) == {"A", "B", None}
    assert set(found.rows.collect()["gold"]) == {"A", "B"}


def test_a_score_in_two_brackets_is_a_number_and_no_list(tmp_path):
    (path := tmp_path / "mine.csv").write_text(
        "id,run,rating\nq1,1,[[5]]\nq1,2,[[4]]\nq2,1,[[3]]\nq2,2,[[3]]\n"
    )
    assert rows_of(path).sort("item_id", "replication")["score"].to_list() == [5, 4, 3, 3]


def test_a_third_mark_of_two_answers_is_a_tie_where_verdicts_are_said_to_be_places(
    tmp_path, capsys
):
    marked = paired(tmp_path / "marked.csv", "[[{}]]".format)
    line = refused(marked, capsys)
    assert line.endswith("Try: --verdict-names place or --verdict-names option")
    told = paired(tmp_path / "told.csv", {"A": "A", "B": "B", "C": "tie"}.get)
    tables = [judgerel_ray.reduce(str(one), verdict_names="place") for one in (marked, told)]
    assert_frame_equal(*tables)
    bare = paired(tmp_path / "bare.csv", str)  # a letter alone may be a third answer
    assert refused(bare, capsys).endswith("Try: --verdict-names option")
    assert "write tie for the one" in refused(bare, capsys, "--verdict-names", "place")


def test_columns_of_metrics_and_their_versions_are_criteria(tmp_path, capsys):
    head = "inputs,outputs,token_count,my_own/v2/score,toxicity/v1/score,my_own/v2/justification"
    row = "What is {0} and why is it so?,it is,{1},{1},0.{1},as {1}\n"
    rows = "".join(row.format(item, n) for item in ("this", "that") for n in (2, 3))
    (path := tmp_path / "evaluated.csv").write_text(f"{head}\n{rows}")
    found = rows_of(path)
    scores = {
        criterion: sorted(part["score"]) for (criterion,), part in found.group_by("criterion")
    }
    assert scores == {"my_own": [2, 2, 3, 3], "toxicity": [0.2, 0.2, 0.3, 0.3]}
    assert main(["reduce", str(path)]) == 0
    assert "my_own/v2/justification (text, time or cost)" in capsys.readouterr().err
    path.write_text(f"{head}\na,b,2,2,.2,so\nc,d,3,3,.3,no\n")  # too short to be a question's text
    follow(refused(path, capsys), path, capsys)


@pytest.mark.parametrize("table", [
    "id,n_yes,n_no\nq1,3,1\nq2,0,4\n",
    "item_id,judge,pass_count,fail_count\nq1,a,3,1\nq2,b,2,2\n",
    "id,verdict,count\nq1,yes,5\nq1,no,5\nq2,yes,10\n",
])  # fmt: skip
def test_counts_of_replies_are_no_replies(tmp_path, table, capsys):
    (path := tmp_path / "counts.csv").write_text(table)
    line = refused(path, capsys)
    assert "the rows are aggregated" in line
    assert "one row a reply" in line
    follow(line, path, capsys)
    [flag] = re.findall(r"--column '?(count=[^\s']+)", line)
    name, _, place = flag.partition("=")
    found = rows_of(path, **{name: place})
    n = sum(int(cell) for row in table.split("\n")[1:] for cell in row.split(",") if cell.isdigit())
    assert found.height == n
    assert found.select("item_id", "replication").is_unique().all()


CASES = [f"case_{n}" for n in range(3)]


@pytest.mark.parametrize("inside", [
    lambda: {"runs": [{"verdict": one, "reason": "so"} for one in WORDS]},
    lambda: [{"run": n, "verdict": one} for n, one in enumerate(WORDS)],
    lambda: [*WORDS],
])  # fmt: skip
def test_a_document_of_cases_is_all_of_them(tmp_path, inside, capsys):
    (path := tmp_path / "log.json").write_text(json.dumps({case: inside() for case in CASES}))
    found = rows_of(path).sort("item_id", "replication")
    assert found.select("item_id", "verdict").rows() == [(c, w) for c in CASES for w in WORDS]
    assert main(["reduce", str(path)]) == 0
    assert "read the keys of the document as item_id" in capsys.readouterr().err


@pytest.mark.parametrize("document", [
    {"gpt-4o": [{"id": "q1", "verdict": "a"}] * 2, "claude-3": [{"id": "q2", "verdict": "b"}] * 2},
    {"this": {"verdict": "a"}, "that": {"verdict": "b"}}, {"this": ["a", "b"], "that": ["b", "b"]},
    {case: {"runs": ["a", "b"]} for case in CASES},
    [{"id": "q1", "judges": {"a": {"scores": {"x": 1, "y": 2}}, "b": {"scores": {"x": 2}}}},
     {"id": "q2", "judges": {"a": {"scores": {"x": 2, "y": 2}}, "b": {"scores": {"x": 1}}}}],
])  # fmt: skip
def test_keys_that_may_tell_several_things_are_asked(tmp_path, document, capsys):
    (path := tmp_path / "log.json").write_text(json.dumps(document))
    follow(refused(path, capsys), path, capsys)


def test_columns_by_row_numbers_are_columns_and_no_records(tmp_path, capsys):
    (path := tmp_path / "log.json").write_text(
        json.dumps({"id": {"0": "q1", "1": "q2"}, "verdict": {"0": "a", "1": "b"}})
    )
    assert rows_of(path).select("item_id", "verdict").rows() == [("q1", "a"), ("q2", "b")]
    path.write_text(json.dumps({"mine": {"0": "q1", "1": "q2"}, "other": {"0": "a", "1": "b"}}))
    assert "expected a list of records" in refused(path, capsys)


def test_scores_of_known_criteria_below_judges_are_read(tmp_path):
    judges = {name: {"scores": {"clarity": n, "depth": n + 1}, "comment": "so"}
              for n, name in enumerate(("gpt-4o", "claude-3"), start=1)}  # fmt: skip
    (path := tmp_path / "log.jsonl").write_text(json.dumps({"id": "q1", "judges": judges}) + "\n")
    found = rows_of(path).select("judge", "criterion", "score")
    assert set(found.rows()) == {("gpt-4o", "clarity", 1), ("gpt-4o", "depth", 2),
                                 ("claude-3", "clarity", 2), ("claude-3", "depth", 3)}  # fmt: skip


PROMPTFOO = {
    "cells": "city,[gpt-4o] Where is {{city}}?,[claude-3] Where is {{city}}?\n"
    'Rome,"[PASS] (1.00)\n\nItaly\n\nPass Reason: ok",[FAIL] (0.00) Spain\n'
    "Oslo,[ERROR] timeout,[PASS] (1.00) Norway\n",
    "beside": "city,[gpt-4o] Where?,Status,Score,Named Scores,Grader Reason,Comment,"
    "[claude-3] Where?,Status,Score,Named Scores,Grader Reason,Comment\n"
    "Rome,Italy,PASS,1.00,,ok,,Spain,FAIL,0.00,,no,\n"
    "Oslo,,ERROR,0.00,,,,Norway,PASS,1.00,,ok,\n",
}


@pytest.mark.parametrize("form", PROMPTFOO)
def test_answers_that_promptfoo_graded_are_judgments_of_who_answered(tmp_path, form, capsys):
    (path := tmp_path / "out.csv").write_text(PROMPTFOO[form])
    found = rows_of(path).select("item_id", "responder", "verdict", "outcome")
    assert set(found.rows()) == {
        ("Rome", "gpt-4o", "pass", "scored"), ("Rome", "claude-3", "fail", "scored"),
        ("Oslo", "gpt-4o", None, "failed"), ("Oslo", "claude-3", "pass", "scored"),
    }  # fmt: skip
    assert main(["reduce", str(path)]) == 0
    assert "city as item_id; who answered as responder" in capsys.readouterr().err


def test_prompts_that_were_answered_tell_answers_apart_and_repeats_stay(tmp_path):
    head = "city,[gpt-4o] long,[gpt-4o] short\n"
    rows = "Rome,[PASS] a,[FAIL] b\nRome,[FAIL] a,[PASS]\n"
    (path := tmp_path / "out.csv").write_text(head + rows)
    found = rows_of(path).sort("responder", "replication")
    assert set(found["responder"]) == {"[gpt-4o] long", "[gpt-4o] short"}
    assert found["verdict"].to_list() == ["pass", "fail", "fail", "pass"]


def test_a_column_in_brackets_that_says_no_verdict_is_no_export_of_promptfoo(tmp_path, capsys):
    rows = "q1,[PASS] x,so\nq2,[FAIL] x,no\n"
    (path := tmp_path / "out.csv").write_text(f"id,[gpt-4o] a,[claude-3] a\n{rows}")
    assert "column missing: verdict or score" in refused(path, capsys)
