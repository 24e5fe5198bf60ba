"""Marks of 0 and 1, lists in texts, and names that tell judges, metrics and items."""

import json
import re
import shlex

import pytest

from judgerel_ray.cli import main
from judgerel_ray.core.verb import Named
from judgerel_ray.counting.snapshot import Snapshot

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")


def read(path, **columns):
    """Judgments as they were read."""
    with Snapshot.open(str(path), Named(columns=columns)) as judged:
        return judged.frame.collect()


def written(tmp_path, text, name="t.csv"):
    (path := tmp_path / name).write_text(text)
    return path


def flags_for(path, capsys):
    """The flags that a refusal suggests, each of which leads to numbers or to a question."""
    assert main(["reduce", str(path)]) == 2
    found = re.findall(r"--column (?:'[^']*'|[^\s;,]+)", capsys.readouterr().err)
    for flags in found:
        assert main(["reduce", str(path), *shlex.split(flags)]) in (0, 2)
    return found


@pytest.mark.parametrize(
    ("head", "flag"),
    [
        ("left_one,right_one,draw", "count={verdict}"),
        ("good_reply,poor_reply,odd_reply", "count={verdict}_reply"),
        # `pass` alone would join the other two.
        ("pass,fail,unsure", "count={verdict}"),
        ("pass,fail,unsure,cached", "count={verdict}"),
    ],
)
def test_marks_of_which_each_row_has_one_are_offered_as_its_verdict(tmp_path, head, flag, capsys):
    places = [0, 1, 2, 2, 0, 1, 1, 1, 0]
    lines = [f"i{n // 3},{n % 3}," + ",".join(str(int(place == one)) for one in range(3))
             + ",1" * ("cached" in head and n > 2) + ",0" * ("cached" in head and n <= 2)
             for n, place in enumerate(places)]  # fmt: skip
    path = written(tmp_path, "\n".join([f"item,trial,{head}", *lines]))
    assert shlex.split(flags_for(path, capsys)[0])[1] == flag
    words = head.replace("_reply", "").split(",")
    rows = read(path, count=flag.removeprefix("count=")).sort("item_id", "replication")
    assert rows["verdict"].to_list() == [words[place] for place in places]


def test_words_in_names_of_columns_are_never_cut(tmp_path, capsys):
    text = "id,run,good_answer,bad_answer\na,1,1,0\na,2,1,0\nb,1,0,1\nb,2,1,0\n"
    found = flags_for(written(tmp_path, text), capsys)
    assert found
    assert all("}_answer" in one for one in found)


def test_names_in_a_list_beside_a_model_may_be_of_judges(tmp_path, capsys):
    lines = [{"id": n, "model": "llama-3", "scores": [{"name": "gpt-4o", "score": n % 3},
                                                      {"name": "claude-3", "score": 2}]}
             for n in range(6)]  # fmt: skip
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "t.jsonl")
    found = flags_for(path, capsys)
    assert found[:2] == ["--column 'judge=scores.*.name'", "--column responder=model"]
    rows = read(path, judge="scores.*.name", responder="model")
    assert set(rows["judge"]) == {"gpt-4o", "claude-3"}
    assert set(rows["responder"]) == {"llama-3"}


def test_the_value_of_a_metric_is_its_score(tmp_path):
    rows = read(
        written(tmp_path, "item,trial,metric,value\na,1,tone,13\na,2,tone,14\nb,1,tone,7\n")
    )
    assert rows["score"].to_list() == [13, 14, 7]
    assert set(rows["criterion"]) == {"tone"}


@pytest.mark.parametrize(
    "head", ["judge1_verdict,judge2_verdict", "Judge 1 Verdict,Judge 2 Verdict"]
)
def test_judges_by_their_number_are_no_repeats(tmp_path, head):
    rows = read(written(tmp_path, f"id,{head}\na,x,y\nb,x,x\nc,y,x\n"))
    assert rows["judge"].n_unique() == 2
    assert set(rows["replication"]) == {0}


def test_several_values_in_one_text_are_asked_about(tmp_path, capsys):
    path = written(tmp_path, "id,verdict\na,pass|fail|pass\nb,fail|fail|fail\nc,pass|pass|pass\n")
    assert "--column 'verdict=verdict.*'" in flags_for(path, capsys)
    assert read(path, verdict="verdict.*").height == 9
    assert read(path, verdict="verdict").height == 3


def test_lists_as_long_as_the_list_that_is_read_tell_its_elements_apart(tmp_path, capsys):
    lines = [{"id": n, "votes": ["x", "y", "x"], "who": ["a", "b", "c"]} for n in range(4)]
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "t.jsonl")
    assert "--column 'judge=who.*'" in flags_for(path, capsys)
    assert set(read(path, judge="who.*")["judge"]) == {"a", "b", "c"}


def test_ids_and_names_of_nested_records_are_theirs(tmp_path):
    lines = [{"example": {"id": f"e{n // 2}"}, "evaluation": {"verdict": "ab"[n % 2]},
              "meta": {"run": n % 2, "judge": {"name": "gpt-4o"}}} for n in range(6)]  # fmt: skip
    rows = read(written(tmp_path, "\n".join(map(json.dumps, lines)), "t.jsonl"))
    assert rows["item_id"].to_list() == [f"e{n // 2}" for n in range(6)]
    assert set(rows["judge"]) == {"gpt-4o"}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"judge": {"pass": True, "reason": "so"}}, "judge.pass as verdict"),
        ({"judge": {"verdict": "x", "model": "gpt-4o"}}, "judge.model as judge"),
        ({"row": {"id": "e1"}, "verdict": "x"}, "row.id as item_id"),
        ({"verdict": "x", "model": {"id": "m", "name": "M"}}, "id as item_id"),
    ],
)
def test_an_object_is_looked_into_for_what_its_names_say(tmp_path, record, said):
    lines = [{**({} if "row" in record else {"id": one}), "run": run, **record}
             for one in "pq" for run in (0, 1)]  # fmt: skip
    path = written(tmp_path, "\n".join(map(json.dumps, lines)), "t.jsonl")
    with Snapshot.open(str(path), Named()) as judged:
        assert said in " ".join(judged.notes)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # A column an item; a column that nothing names beside a verdict that nothing names.
        ("judge,item_0,item_1,item_2,item_3\ng,x,y,x,x\nc,y,x,y,x\n", "verdict=item_{item_id}"),
        ("Domanda,Giudizio\nUno,si\nUno,no\nDue,si\nDue,si\nTre,no\n", "item_id=Domanda"),
        ("id,run,label\na,1,rude|odd\nb,1,odd|rude\na,2,odd|odd\n", "verdict=label.*"),
    ],
)
def test_a_sheet_that_no_list_of_names_knows_is_asked_with_a_flag_that_works(
    tmp_path, text, first, capsys
):
    path = written(tmp_path, text)
    assert shlex.split(flags_for(path, capsys)[0])[1] == first


def test_an_outcome_in_other_words_is_a_verdict_or_left_out(tmp_path):
    rows = read(written(tmp_path, "id,run,outcome\na,1,pass\na,2,fail\nb,1,pass\nb,2,pass\n"))
    assert rows["verdict"].to_list() == ["pass", "fail", "pass", "pass"]
    text = "id,run,score,outcome\na,1,3,pass\na,2,4,fail\nb,1,2,fail\nb,2,2,fail\n"
    assert read(written(tmp_path, text))["score"].to_list() == [3, 4, 2, 2]


def test_an_x_in_one_of_several_columns_is_a_mark(tmp_path, capsys):
    path = written(tmp_path, "id,run,A,B,C\na,1,x,,\na,2,,x,\nb,1,,,x\nb,2,x,,\n")
    assert flags_for(path, capsys)[0] == "--column 'count={verdict}'"
    assert read(path, count="{verdict}")["verdict"].to_list() == ["A", "B", "C", "A"]


def test_records_below_one_key_of_a_document_are_read_and_the_rest_is_said(tmp_path, capsys):
    keyed = {f"q{n}": {"verdicts": ["x", "y"]} for n in range(3)}
    path = written(tmp_path, json.dumps({"meta": {"by": "me"}, "found": keyed}), "t.json")
    assert flags_for(path, capsys) == ["--column item_id=entry"]
    assert read(path, item_id="entry").height == 6


@pytest.mark.parametrize("answers", ["oopp", "opqr"])
def test_an_id_of_the_row_is_the_item_only_where_each_has_an_answer_of_its_own(
    tmp_path, answers, capsys
):
    cells = zip("1234", "uuvv", answers, "xyxx", strict=True)
    path = written(tmp_path, "record_id,input,output,verdict\n" + "\n".join(map(",".join, cells)))
    if answers == "oopp":
        assert flags_for(path, capsys)[0] == "--column item_id=input"
    else:
        assert read(path)["item_id"].to_list() == [*"1234"]


def test_people_by_their_address_are_asked_about(tmp_path, capsys):
    text = "Email Address,Answer 1 score,Answer 2 score\na@x.org,3,4\nb@x.org,2,4\nc@x.org,2,5\n"
    path = written(tmp_path, text)
    flags = ["--column", "score=Answer {item_id} score"]
    assert main(["reduce", str(path), *flags]) == 2
    assert "'judge=Email Address'" in capsys.readouterr().err


def test_names_over_two_lines_may_be_of_any_language(tmp_path):
    head = ";GPT-4o;;Claude 3.5;\nPrompt-Nr.;Lauf 1;Lauf 2;Lauf 1;Lauf 2\n"
    rows = read(written(tmp_path, f"{head}1;3;4;3;3\n2;4;4;2;1\n"))
    assert set(rows["judge"]) == {"GPT-4o", "Claude 3.5"}


@pytest.mark.parametrize("empty", ["", '""'])
def test_judges_of_merged_cells_are_filled_down_in_each_item(tmp_path, empty):
    lines = [f"{one if n == 0 else empty},{judge if run == 1 else empty},{run},{'xy'[run % 2]}"
             for one in "pq" for n, (judge, run) in enumerate(
                 (judge, run) for judge in ("gpt", "claude") for run in (1, 2))]  # fmt: skip
    rows = read(written(tmp_path, "\n".join(["question,judge,run,verdict", *lines])))
    assert rows.group_by("item_id", "judge").len()["len"].to_list() == [2] * 4
    assert rows["judge"].null_count() == 0


@pytest.mark.parametrize("number", ["run", "note"])
def test_a_judge_that_is_named_once_in_each_item_is_one(tmp_path, number):
    lines = [f"{one},{'gpt' if run == 1 else ''},{run},{'xy'[run % 2]}"
             for one in "pqr" for run in (1, 2, 3)]  # fmt: skip
    path = written(tmp_path, "\n".join([f"item,judge,{number},verdict", *lines]))
    rows = read(path, **({} if number == "run" else {"note": "note"}))
    assert set(rows["judge"]) == {"gpt"}


def test_a_judge_without_a_name_is_another_where_it_has_replications_of_its_own(tmp_path):
    lines = [f"{one},{judge},{run},{'xy'[run % 2]}"
             for one in "pqr" for judge in ("gpt", "") for run in (1, 2)]  # fmt: skip
    rows = read(written(tmp_path, "\n".join(["item,judge,run,verdict", *lines])))
    assert set(rows["judge"]) == {"gpt", None}


def test_a_text_that_begins_with_a_verdict_is_offered_by_its_first_word(tmp_path, capsys):
    lines = [f"q{n // 3},{n % 3},{('Yes', 'No')[n % 4 == 0]} (0.{n:02})" for n in range(30)]
    path = written(tmp_path, "\n".join(["id,iteration,answer", *lines]))
    assert flags_for(path, capsys) == [r"--column 'verdict=answer:^\W*(\w+)'"]
    assert set(read(path, verdict=r"answer:^\W*(\w+)")["verdict"]) == {"Yes", "No"}


def test_a_sample_beside_an_attempt_may_be_the_item(tmp_path, capsys):
    path = written(tmp_path, "sample,attempt,score\ns0,1,3\ns0,2,4\ns1,1,2\ns1,2,2\n")
    assert flags_for(path, capsys) == ["--column item_id=sample", "--column item_id=attempt"]


def test_traditional_characters_and_numbers_behind_a_name_are_known(tmp_path):
    rows = read(
        written(tmp_path, "題目編號,Run No.,判定\n1,1,通過\n1,2,通過\n2,1,不通過\n2,2,通過\n")
    )
    assert rows["replication"].to_list() == [1, 2, 1, 2]


def test_the_keys_of_a_document_are_items_where_its_records_are_repeats(tmp_path):
    document = {f"q{n}": [{"run": run, "verdict": "ab"[run]} for run in (0, 1)] for n in range(3)}
    rows = read(written(tmp_path, json.dumps(document), "t.json"))
    assert set(rows["item_id"]) == {"q0", "q1", "q2"}


def test_rows_counted_as_repeats_are_said_in_large_files_too(tmp_path):
    lines = [f"q{n},{'pass' if n % 3 else 'fail'}" for n in range(11_000)] * 2
    path = written(tmp_path, "\n".join(["qid,verdict", *lines]))
    with Snapshot.open(str(path), Named()) as judged:
        assert "rows alike as repeats" in " ".join(judged.notes)
