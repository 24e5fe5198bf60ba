import gzip
import json

import pytest

from judgerel_ray.benchmarks import load_bbh
from judgerel_ray.core import SweepError


def task_file(*pairs):
    return json.dumps({"canary": "c", "examples": [{"input": i, "target": t} for i, t in pairs]})


def test_folder_of_tasks(tmp_path):
    (tmp_path / "sums.json").write_text(task_file(("1+1", "2"), ("1+2", "3")))
    (tmp_path / "logic.json").write_text(task_file(("not True", "False")))
    (tmp_path / "README.md").write_text("not a task")
    items = load_bbh(str(tmp_path))
    assert [item.item_id for item in items] == ["bbh:logic:0", "bbh:sums:0", "bbh:sums:1"]
    assert {item.benchmark for item in items} == {"bbh"}
    assert (items[2].question, items[2].gold, items[2].category) == ("1+2", "3", "sums")
    assert items[2].options == ()


def test_one_task_file_compressed(tmp_path):
    file = tmp_path / "sums.json.gz"
    file.write_bytes(gzip.compress(task_file(("1+1", "2")).encode()))
    assert load_bbh(str(file))[0].item_id == "bbh:sums:0"


def test_lines_without_a_task_take_the_name_of_their_file(tmp_path):
    file = tmp_path / "sums.jsonl"
    file.write_text('{"input": "1+1", "target": "2"}\n{"input": "1+2", "target": "3"}\n')
    assert [item.item_id for item in load_bbh(str(file))] == ["bbh:sums:0", "bbh:sums:1"]


def test_flat_list_counts_within_the_category(tmp_path):
    file = tmp_path / "any.json"
    rows = [("a", "x", "1"), ("b", "y", "2"), ("a", "z", "3")]
    keys = ("category", "input", "target")
    file.write_text(json.dumps([dict(zip(keys, row, strict=True)) for row in rows]))
    assert [item.item_id for item in load_bbh(str(file))] == ["bbh:a:0", "bbh:b:0", "bbh:a:1"]


def test_table_with_its_own_index(tmp_path):
    file = tmp_path / "bbh.csv"
    file.write_text("task,item,input,target\nsums,7,1+1,2\n")
    assert load_bbh(str(file))[0].item_id == "bbh:sums:7"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.json", '{"canary": "c"}', "missing column examples"),
        ("t.json", '{"examples": {}}', "examples must be a list"),
        ("t.json", '{"examples": [3]}', "expected an object, got number 3"),
        ("t.json", '{"examples": []}', "no items found"),
        ("t.json", '{"examples": [{"input": "a"}]}', "missing field target"),
        ("t.json", '{"examples": [{"input": " ", "target": "b"}]}', "is empty"),
        (
            "t.json",
            '{"examples": [{"input": "a", "target": 2}]}',
            "target must be text, got number",
        ),
        ("t.csv", "task,inputs,target\na,b,c\n", "rename 'inputs' to 'input'"),
        ("t.csv", "input,target\nb,c\n", "missing column task"),
        ("t.csv", "task,item,input,target\nt,x,b,c\n", "item must be a whole number"),
        ("t.csv", "task,item,input,target\nt,0,b,c\nt,0,d,e\n", "stands twice"),
    ],
)
def test_malformed(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(SweepError) as caught:
        load_bbh(str(tmp_path / name))
    line = str(caught.value)
    assert said in line
    assert str(tmp_path) in line
    assert "\n" not in line


def test_folder_without_tasks_points_one_deeper(tmp_path):
    (tmp_path / "bbh").mkdir()
    with pytest.raises(SweepError, match=r"found none .*Try: .*/bbh"):
        load_bbh(str(tmp_path))
