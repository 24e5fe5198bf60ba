"""Sheets as pivot tables, spreadsheets and tools write them: read whole, or led on."""

import json
import re
import shlex

import pytest

from judgerel_ray.cli import main
from judgerel_ray.counting.files.understood import with_its_sheet
from judgerel_ray.counting.files.workbook import chosen_sheets
from judgerel_ray.counting.judgments import tally_file

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
FENCE = "```"
JUDGES = [("claude-3", "q1", 0, "no"), ("claude-3", "q1", 1, "no"), ("gpt-4o", "q1", 0, "yes"),
          ("gpt-4o", "q1", 1, "no")]  # fmt: skip
RUNS = [("q1", 0, "yes"), ("q1", 1, "no"), ("q2", 0, "no"), ("q2", 1, "no")]


def judgments(path, *names):
    rows = tally_file(str(path)).rows.collect()
    return sorted(rows.select(*names).rows())


def refused(path, capsys, *flags) -> str:
    assert main(["reduce", str(path), *flags]) == 2
    return capsys.readouterr().err.strip()


def first_way(line) -> list[str]:
    """The first flags of a refusal that go together."""
    flag = r"--column (?:'[^']*'|[^\s;,)]+)"
    found = re.search(rf"Try: ({flag}(?: {flag})*)", line)
    assert found, line
    return shlex.split(found[1])


@pytest.mark.parametrize("text", [
    ",gpt-4o,,claude-3,\nid,run0,run1,run0,run1\nq1,yes,no,no,no\n",
    ";gpt-4o;gpt-4o;claude-3;claude-3\nrun;0;1;0;1\nid;;;;\nq1;yes;no;no;no\n",
])  # fmt: skip
def test_names_over_several_lines_are_joined(tmp_path, text):
    (path := tmp_path / "pivot.csv").write_text(text)
    assert judgments(path, "judge", "item_id", "replication", "verdict") == JUDGES


@pytest.mark.parametrize("text", [
    ",gpt-4o,o3\nq1,pass,pass\nq2,pass,fail\n",  # judgments, and no second line of names
    ",gpt-4o,,o3,\nid,a,b,a,c\nq1,pass,pass,pass,pass\n",  # not alike below each
    ",alpha,,beta,\nid,x,y,x,y\nq1,pass,pass,pass,pass\n",  # nothing says what x is
])  # fmt: skip
def test_lines_that_may_hold_judgments_are_no_names(tmp_path, text, capsys):
    (path := tmp_path / "pivot.csv").write_text(text)
    assert "put together" not in refused(path, capsys)


@pytest.mark.parametrize(("name", "text"), [
    ("a.csv", "# judge: gpt-4o, temperature=1\n# May\nid,run,verdict\nq1,0,yes\nq1,1,no\n"
              "q2,0,no\nq2,1,no\n"),
    ("a.csv", "id,run,verdict\nq1,0,yes\n,1,no\nq1 Total,,1\nq2,0,no\n,1,no\nTotal q2,,0\n"
              "Grand Total,,1\n"),
    ("a.jsonl", '{"meta": {"judge": "x"}}\n' + "".join(
        json.dumps(dict(zip(("id", "run", "verdict"), row, strict=True))) + "\n" for row in RUNS)),
])  # fmt: skip
def test_what_stands_above_and_between_judgments_is_left_out(tmp_path, name, text, capsys):
    (path := tmp_path / name).write_text(text)
    assert judgments(path, "item_id", "replication", "verdict") == RUNS
    assert main(["reduce", str(path)]) == 0
    assert "left out" in capsys.readouterr().err


def test_an_item_that_only_looks_like_a_sum_stays(tmp_path):
    (path := tmp_path / "a.csv").write_text("id,run,verdict\nq1,0,a\nNet total,0,b\nq2,0,b\n")
    assert len(judgments(path, "item_id")) == 3


@pytest.mark.parametrize(("encoding", "word"), [("cp1252", "Prüfung"), ("gb18030", "通过")])
def test_a_file_of_another_encoding_is_refused_with_the_command(tmp_path, encoding, word, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes(f"id,run,verdict\nq1,0,{word}\n".encode(encoding))
    line = refused(path, capsys)
    assert f"iconv -f {encoding.upper()} -t UTF-8 {path} > utf8.csv" in line


@pytest.mark.parametrize(("head", "rows", "way"), [
    ("Statement ID,Round,Response", ["S1,1,agree", "S1,2,disagree", "S2,1,agree", "S2,2,agree"],
     ["--column", "item_id=Statement ID", "--column", "verdict=Response"]),
    ("id,trial,raw_verdict,verdict_clean", ["q1,0,Yes.,yes", "q1,1,No.,no", "q2,0,No.,no"],
     ["--column", "verdict=raw_verdict"]),
    ("id,alice,gpt_1,gpt_2", ["q1,a,a,b", "q2,b,b,b", "q3,a,b,a"],
     ["--column", "verdict=gpt_{replication}"]),
    ("id,t0_run1,t0_run2,t1_run1,t1_run2", ["q1,a,a,b,a", "q2,b,b,a,b", "q3,a,a,b,a"],
     ["--column", "verdict=t{temperature}_run{replication}"]),
    ("id,evaluator,run,llm_judge", ["q1,x,0,pass", "q1,x,1,fail", "q2,x,0,pass", "q2,x,1,pass"],
     ["--column", "verdict=llm_judge"]),
    ("id,run,judge,score", ["q1,0,pass,1", "q1,1,fail,0", "q2,0,pass,1"],
     ["--column", "verdict=judge"]),
    ("id,run,answer,logprob", ["q1,0,A,-.1", "q1,1,B,-.2", "q2,0,A,-.3"],
     ["--column", "verdict=answer"]),
])  # fmt: skip
def test_the_first_flags_of_a_refusal_are_those_that_fit(tmp_path, head, rows, way, capsys):
    (path := tmp_path / "mine.csv").write_text("\n".join([head, *rows]) + "\n")
    assert first_way(refused(path, capsys)) == way
    assert main(["reduce", str(path), *way]) == 0


def test_temperatures_beside_each_other_are_conditions_and_no_repeats(tmp_path):
    (path := tmp_path / "mine.csv").write_text("id,t0_run1,t0_run2,t1_run1,t1_run2\nq1,a,b,c,d\n")
    found = tally_file(str(path), stated={"verdict": "t{temperature}_run{replication}"})
    rows = found.rows.collect().select("temperature", "replication", "verdict").rows()
    assert sorted(rows) == [(0, 1, "a"), (0, 2, "b"), (1, 1, "c"), (1, 2, "d")]


def test_a_judge_that_is_an_object_and_a_seed_are_read(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(
        json.dumps({"sample_id": item, "seed": seed, "verdict": word,
                    "judge": {"model": "gpt-4o", "temperature": 1}}) + "\n"
        for item, seed, word in RUNS
    ))  # fmt: skip
    assert judgments(path, "judge", "item_id", "replication", "verdict") == [
        ("gpt-4o", *row) for row in RUNS
    ]  # fmt: skip


def test_a_score_beside_the_verdict_that_is_read_below_judges_is_said(tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    judges = {"gpt-4o": {"verdict": "pass", "score": 4}, "o3": {"verdict": "fail", "score": 1}}
    path.write_text("".join(json.dumps({"id": item, "judges": judges}) + "\n" for item in "pq"))
    assert main(["reduce", str(path)]) == 0
    line = capsys.readouterr().err
    assert "score beside it is not: --column 'score=judges.{judge}.score' reads it" in line
    assert main(["reduce", str(path), "--column", "score=judges.{judge}.score"]) == 0


def test_replies_in_code_fences_are_said(tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    record = dict(zip(("id", "run", "verdict"), RUNS[0], strict=True))
    path.write_text(json.dumps(f"{FENCE}json\n{json.dumps(record)}\n{FENCE}") + "\n")
    assert main(["reduce", str(path)]) == 0
    assert "code fences of 1 reply" in capsys.readouterr().err


def test_names_of_sheets_may_hold_commas():
    sheets = {"GPT, strict": b"a", "o3, strict": b"b", "o3": b"c"}
    assert [*chosen_sheets(sheets, "GPT, strict,o3, strict", {})] == ["GPT, strict", "o3, strict"]
    assert [*chosen_sheets(sheets, "o3,GPT, strict", {})] == ["o3", "GPT, strict"]
    assert with_its_sheet("log.csv") == "log.csv"


@pytest.mark.parametrize("cell", ["-1", "1.5", "many", ""])
def test_what_is_no_number_of_replies_is_refused(tmp_path, cell, capsys):
    (path := tmp_path / "mine.csv").write_text(f"id,n_yes,n_no\nq1,2,3\nq2,{cell},1\n")
    assert "whole numbers" in refused(path, capsys, "--column", "count=n_{verdict}")
    assert "no column is like" in refused(path, capsys, "--column", "count=votes_{verdict}")
