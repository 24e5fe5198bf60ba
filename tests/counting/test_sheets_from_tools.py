"""Sheets as pivot tables, spreadsheets and tools write them: read whole, or led on."""

import io
import json
import re
import shlex
from contextlib import suppress
from pathlib import Path

import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.counting.files.understood import with_its_sheet
from judgerel_ray.counting.files.workbook import chosen_sheets
from judgerel_ray.counting.judgments import tally_file

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
FENCE = "```"
TABLES = Path(__file__).parents[1] / "cases/sheets/tables"
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


def one_step(path, capsys) -> list[int]:
    """Exit codes of the commands that a refusal suggests."""
    flag = r"--column (?:'[^']*'|[^\s;,)]+(?:,[^\s;,)]+)*)"
    ways = re.findall(rf"{flag}(?: {flag})*", refused(path, capsys))
    return [main(["reduce", str(path), *shlex.split(way)]) for way in ways]


@pytest.mark.parametrize(("name", "where"), [
    ("judge_of_0_and_1.csv", "column llm_judge holds verdicts, and names nobody"),
    ("judge_of_ratings.csv", "column judge holds verdicts, and names nobody"),
    ("thousands.csv", "write 1330, as --column"),
    ("metrics_in_lists.jsonl", "metrics.*.success and metrics.*.score"),
    ("judge-files", "--column judge=file, where each is of a judge"),
])  # fmt: skip
def test_what_is_asked_takes_one_command(name, where, capsys):
    path = TABLES / name
    assert where in refused(path, capsys)
    assert not any(one_step(path, capsys))


def test_a_sample_beside_an_attempt_is_asked_about_in_one_step(capsys):
    path = TABLES / "sample_attempt.csv"
    assert one_step(path, capsys)[-1] == 0
    found = tally_file(str(path), stated={"replication": "sample,attempt"})
    assert found.rows.collect()["replication"].unique().sort().to_list() == [0, 1, 2, 3]


def test_raters_that_are_numbers_are_judges(tmp_path):
    rows = [f"{item},{run},{rater},x" for item in "pq" for run in (0, 1) for rater in (1, 2, 3)]
    (path := tmp_path / "a.csv").write_text("\n".join(["id,run,rater,verdict", *rows]))
    assert tally_file(str(path)).rows.collect()["judge"].unique().sort().to_list() == list("123")


@pytest.mark.parametrize("facet", ["criterion", "template", "option_order", "model", "wording"])
@pytest.mark.parametrize("raters", ["231", "01"])
def test_raters_that_are_numbers_are_judges_beside_what_else_is_judged_by(tmp_path, facet, raters):
    some = {"p": raters[:2], "q": raters[-2:], "r": raters[:2]}
    rows = [f"{item},{rater},{of},{1 + (n + place) % 5}"
            for place, (item, by) in enumerate(some.items())
            for n, rater in enumerate(by) for of in "xyz"[: 2 + place % 2]]  # fmt: skip
    (path := tmp_path / "a.csv").write_text("\n".join([f"id,rater,{facet},score", *rows]))
    stated = {"wording": {"template": facet}, "model": {"responder": facet}}.get(facet, {})
    found = tally_file(str(path), stated=stated).rows.collect()
    assert sorted(found["judge"].unique()) == sorted(raters)


@pytest.mark.parametrize("value", ["score", "verdict"])
def test_raters_0_and_1_are_judges_where_each_repeat_has_both(tmp_path, value):
    rows = [f"{item},{run},{rater},{1 + run}" for item in "pq" for run in (0, 1) for rater in (0, 1)
            for _ in "ab"[: 1 + (item == "q")]]  # fmt: skip
    once = list(dict.fromkeys(rows))
    (path := tmp_path / "a.csv").write_text("\n".join([f"id,run,rater,{value}", *once]))
    assert tally_file(str(path)).rows.collect()["judge"].unique().sort().to_list() == ["0", "1"]


def test_raters_0_and_1_in_lists_are_judges(tmp_path):
    votes = [{"judge": 0, "verdict": "A"}, {"judge": 1, "verdict": "B"}]
    (path := tmp_path / "a.jsonl").write_text(
        "".join(json.dumps({"id": item, "votes": votes}) + "\n" for item in "pq")
    )
    assert judgments(path, "judge", "item_id") == [("0", "p"), ("0", "q"), ("1", "p"), ("1", "q")]


@pytest.mark.parametrize(
    "head", ["id,run,criterion,llm_judge,score", "id,run,model,llm_judge,score"]
)
def test_a_judge_of_0_and_1_is_a_verdict_beside_what_else_is_judged_by(tmp_path, head, capsys):
    rows = [f"{item},{run},{of},{(place + run) % 2},{1 + run}" for place, item in enumerate("pqr")
            for run in (0, 1) for of in "xy"]  # fmt: skip
    (path := tmp_path / "a.csv").write_text("\n".join([head, *rows]))
    assert "column llm_judge holds verdicts" in refused(path, capsys)
    assert not any(one_step(path, capsys))


@pytest.mark.parametrize(("several", "name", "value"), [
    ("scores", "name", "value"), ("scores", "name", "score"), ("evaluations", "name", "score"),
    ("ratings", "name", "rating"), ("results", "key", "score"), ("votes", "name", "verdict"),
])  # fmt: skip
def test_names_in_lists_of_scores_are_asked_about_in_one_step(
    tmp_path, several, name, value, capsys
):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(
        json.dumps({"id": item, several: [{name: "faithfulness", value: 1 + place},
                                          {name: "relevancy", value: 2}]}) + "\n"
        for place, item in enumerate("pqr")
    ))  # fmt: skip
    place = f"{several}.*.{name}"
    assert f"differ in column {place}, not read" in refused(path, capsys)
    assert not any(one_step(path, capsys))
    rows = tally_file(str(path), stated={"criterion": place}).rows.collect()
    assert rows["criterion"].to_list() == ["faithfulness", "relevancy"] * 3
    assert rows["replication"].to_list() == [0] * 6


@pytest.mark.parametrize(("names", "runs", "is_said"), [
    (["tone", "depth"], [1, 2], False), (["tone", "tone"], [0, 1, 2, 3], True),
])  # fmt: skip
def test_elements_of_lists_are_called_repeats_where_they_are(tmp_path, names, runs, is_said):
    (path := tmp_path / "a.jsonl").write_text("".join(
        json.dumps({"id": item, "run": run, "metrics": [
            {"name": one, "score": run + place} for place, one in enumerate(names)]}) + "\n"
        for item in "pq" for run in (1, 2)
    ))  # fmt: skip
    found = tally_file(str(path))
    assert any("element of a list is a repeat" in line for line in found.notes) == is_said
    assert found.rows.collect()["replication"].unique().sort().to_list() == runs


@pytest.mark.parametrize(("head", "rows", "verdicts"), [
    ("id,run,is_pass,is_fail", ["p,0,1,0", "p,1,0,1", "q,0,0,1"], ["pass", "fail", "fail"]),
    ("id,run,A_wins,B_wins,tie", ["p,0,1,0,0", "p,1,0,0,1", "q,0,0,1,0"],
     ["A_wins", "tie", "B_wins"]),
    ("id,run,correct,incorrect", ["p,0,True,False", "p,1,False,True"], ["correct", "incorrect"]),
])  # fmt: skip
def test_columns_of_0_and_1_are_one_verdict(tmp_path, head, rows, verdicts):
    (path := tmp_path / "a.csv").write_text("\n".join([head, *rows]) + "\n")
    found = tally_file(str(path))
    assert found.rows.collect()["verdict"].to_list() == verdicts
    assert any("read each row as often as" in line for line in found.notes)


@pytest.mark.parametrize("text", [
    "id,run,is_pass,is_fail\np,0,1,0\np,1,1,1\nq,0,0,1\n",  # a row with both
    "id,run,pass,fail,verdict\np,0,1,0,A\np,1,0,1,B\nq,0,0,1,B\n",  # beside a verdict
    "id,run,gpt_pass,claude_pass\np,0,1,0\np,1,0,1\nq,0,0,1\n",  # two judges, never alike
])  # fmt: skip
def test_columns_of_0_and_1_that_may_be_else_are_no_one_verdict(tmp_path, text):
    (path := tmp_path / "a.csv").write_text(text)
    with suppress(SweepError):
        assert not any("as often as" in line for line in tally_file(str(path)).notes)


def test_a_table_of_markdown_is_read_by_its_name_and_piped(monkeypatch, capsys):
    path = TABLES / "table.md"
    assert judgments(path, "item_id", "replication")[:2] == [("q1", 0), ("q1", 1)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert main(["reduce", "-"]) == 0
    out, err = capsys.readouterr()
    assert "24 replies" in out
    assert "read as a table of Markdown" in err


def test_files_of_a_judge_each_are_told_apart_by_their_names(capsys):
    path = str(TABLES / "judge-files")
    assert main(["reduce", path, "--column", "judge=file"]) == 0
    assert "gpt-4o" in capsys.readouterr().out
    alike = tally_file(path, stated={"judge": "file"}).rows.collect()
    assert sorted(alike["judge"].unique()) == ["claude-3", "gpt-4o"]


@pytest.mark.parametrize(("cells", "scores"), [
    (['"1,234,567"', '"1,200"', "950"], [1234567, 1200, 950]), (['"2,450.25"', "1"], [2450.25, 1]),
])  # fmt: skip
def test_commas_between_thousands_are_read_where_they_can_be_nothing_else(tmp_path, cells, scores):
    rows = [f"q,{run},{cell}" for run, cell in enumerate(cells)]
    (path := tmp_path / "a.csv").write_text("\n".join(["id,run,score", *rows]))
    found = tally_file(str(path))
    assert found.rows.collect()["score"].to_list() == scores
    assert any("commas between thousands" in line for line in found.notes)


def test_parts_between_commas_are_joined_and_of_other_groups_the_first_is_taken(tmp_path):
    (path := tmp_path / "a.csv").write_text('id,run,points\nq,0,"1,250"\nq,1,900\n')
    stated = {"score": "points:^([^,]+),?([^,]*)$"}
    assert tally_file(str(path), stated=stated).rows.collect()["score"].to_list() == [1250, 900]
    (path := tmp_path / "b.csv").write_text("id,run,reply\nq,0,A (better)\nq,1,A (worse)\n")
    read = tally_file(str(path), stated={"verdict": r"reply:^(A|B) \((better|worse)\)"})
    assert read.rows.collect()["verdict"].to_list() == ["A", "A"]


MARKDOWN = "id | run | verdict\n--- | --- | ---\nq | 0 | A\nq | 1 | B\n"


@pytest.mark.parametrize("text", [MARKDOWN, f"# Judgments\n\n{MARKDOWN}\nAs above.\n"])
def test_a_table_of_markdown_needs_no_outer_bars_and_ends_with_its_rows(tmp_path, text):
    (path := tmp_path / "a.md").write_text(text)
    assert tally_file(str(path)).rows.collect()["verdict"].to_list() == ["A", "B"]


def test_two_tables_of_markdown_are_refused(tmp_path):
    (path := tmp_path / "a.md").write_text(f"{MARKDOWN}\n## Summary\n\n{MARKDOWN}")
    with pytest.raises(SweepError, match="2 tables, the second from line 8 on"):
        tally_file(str(path))


def test_a_column_file_of_the_tables_is_not_written_over(tmp_path):
    for name in ("gpt", "claude"):
        (tmp_path / f"{name}.csv").write_text(f"id,run,verdict,file\n{name},0,A,x\n{name},0,B,y\n")
    read = tally_file(str(tmp_path), stated={"judge": "file"})
    assert {*read.rows.collect()["judge"]} == {"x", "y"}


def test_repeats_are_said_where_there_are_some(tmp_path):
    for text, is_said in (("p,A\nq,B\n", False), ("p,A\np,B\n", True)):
        (path := tmp_path / "a.csv").write_text("id,verdict\n" + text)
        assert (
            any("rows alike as repeats" in line for line in tally_file(str(path)).notes) == is_said
        )
