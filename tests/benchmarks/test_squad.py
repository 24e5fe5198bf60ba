import json
import random

import pytest

from judgerel_ray.benchmarks import load_squad
from judgerel_ray.core import SweepError


def article(title, *questions, context="Snow is white. Coal is black."):
    return {"title": title, "paragraphs": [{"context": context, "qas": list(questions)}]}


def asked(name, *answers, **more):
    texts = [{"text": text, "answer_start": 0} for text in answers]
    return {"id": name, "question": f"What of {name}?", "answers": texts, **more}


def write(path, data):
    path.write_text(json.dumps(data))
    return str(path)


def test_v1_keeps_the_first_answer(tmp_path):
    data = {
        "version": "1.1",
        "data": [article("Snow", asked("q1", "Snow", "snow"), asked("q2", "a"))],
    }
    one, two = load_squad(write(tmp_path / "dev-v1.1.json", data))
    assert (one.item_id, one.category, one.gold) == ("squad:q1", "Snow", "Snow")
    assert one.context == "Snow is white. Coal is black."
    assert two.item_id == "squad:q2"


def test_v2_unanswerable_has_no_gold(tmp_path):
    questions = (
        asked("q1", "Snow", is_impossible=False),
        asked("q2", is_impossible=True, plausible_answers=[{"text": "x", "answer_start": 0}]),
    )
    data = {"version": "v2.0", "data": [article("Snow", *questions)]}
    assert [item.gold for item in load_squad(write(tmp_path / "v2.json", data))] == ["Snow", None]


def test_flat_records_of_every_answer_form(tmp_path):
    rows = [
        {"id": "a", "title": "T", "answers": {"text": ["one", "two"], "answer_start": [0, 0]}},
        {"id": "b", "answers": [{"text": "one"}]},
        {"id": "c", "answers": ["one"]},
        {"id": "d", "answer": "one"},
        {"id": "e", "answers": {"text": [], "answer_start": []}},
        {"id": "f", "answers": []},
    ]
    rows = [{"context": "c", "question": "q?", **row} for row in rows]
    items = load_squad(write(tmp_path / "flat.json", rows))
    assert [item.gold for item in items] == ["one"] * 4 + [None] * 2
    assert [item.category for item in items] == ["T"] + ["all"] * 5
    assert load_squad(write(tmp_path / "hub.json", {"version": "1", "data": rows})) == items
    csv_file = tmp_path / "flat.csv"
    csv_file.write_text('id,context,question,answers\na,c,q?,"[""one""]"\nb,c,q?,\n')
    assert [item.gold for item in load_squad(str(csv_file))] == ["one", None]


def test_records_without_id_are_named_by_content(tmp_path):
    rows = [{"context": f"c{i}", "question": "q?", "answer": "a"} for i in range(9)]
    items = load_squad(write(tmp_path / "a.json", rows))
    random.Random(1).shuffle(rows)
    assert set(load_squad(write(tmp_path / "b.json", rows))) == set(items)
    with pytest.raises(SweepError, match="stands twice"):
        load_squad(write(tmp_path / "c.json", rows + rows[:1]))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"version": "1"}, "missing column data"),
        ({"data": [{"paragraphs": []}]}, "missing field title"),
        ({"data": [{"title": "t", "paragraphs": [{"qas": []}]}]}, "missing field context"),
        ({"data": [article("t", {"question": "q?", "answers": []})]}, "missing field id"),
        ({"data": [article("t", {"id": "i", "question": "q?"})]}, "missing field answer"),
        ({"data": [article("t", asked("i", "x", is_impossible="maybe"))]}, "is_impossible must be"),
        ({"data": [article("t", asked("i"), asked("i"))]}, "squad:i' stands twice"),
        ([{"context": "c", "question": "q?", "answers": 3}], "answers must be a list of texts"),
        ([{"context": "c", "question": "q?", "answers": [{"txt": "a"}]}], "answers[0]"),
        ([{"context": None, "question": "q?", "answer": "a"}], "context must be text, got null"),
        ("text", "expected a list of objects"),
    ],
)
def test_malformed(tmp_path, data, said):
    with pytest.raises(SweepError) as caught:
        load_squad(write(tmp_path / "squad.json", data))
    assert said in str(caught.value)
    assert "squad.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_error_names_the_path_inside_the_document(tmp_path):
    data = {
        "data": [article("t", asked("a")), article("u", asked("b"), {"id": "c", "answers": []})]
    }
    with pytest.raises(SweepError, match=r"entry=data\[1\]\.paragraphs\[0\]\.qas\[1\]"):
        load_squad(write(tmp_path / "squad.json", data))
