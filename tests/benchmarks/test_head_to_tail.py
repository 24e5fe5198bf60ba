import json

import pytest

from judgerel_ray.benchmarks import load_head_to_tail
from judgerel_ray.core import SweepError


def upstream(**entries):
    document = {"head": [], "torso": [], "tail": [], **entries}
    return json.dumps(document)


def entry(question, answer):
    return [{"title": "entity"}, "mag-paper-0", question, answer]


def write(path, text):
    path.write_text(text)
    return str(path)


TABLE = (
    "source,popularity,template,question,answer\n"
    "mag,head,t,Who?,Ann\nmag,head,t,When?,1999\nmag,tail,t,Where?,Rome\n"
)
RESPONSES = (
    "response_model,source,question,response\n"
    "v,mag,Who?,Ann\nf,mag,Who?,\nv,mag,When?,2001\nv,dblp,Which?,none\n"
)


def test_upstream_json_with_text_number_and_list(tmp_path):
    text = upstream(
        head=[entry("Who?", ["Ann", "Bob"]), entry("When?", 1999)], tail=[entry("Where?", "Rome")]
    )
    items = load_head_to_tail(write(tmp_path / "head_to_tail_mag.json", text))
    assert [item.item_id for item in items] == [
        "htt:mag:head:0",
        "htt:mag:head:1",
        "htt:mag:tail:0",
    ]
    assert [item.gold for item in items] == ["['Ann', 'Bob']", "1999", "Rome"]
    assert {item.category for item in items} == {"mag:head", "mag:tail"}


def test_folder_of_sources(tmp_path):
    for source in ("mag", "dblp"):
        write(tmp_path / f"head_to_tail_{source}.json", upstream(head=[entry("Who?", "Ann")]))
    nested = {"v": {"mag": [{"question": "Who?", "response": "Ann", "ground_truth": "Ann"}]}}
    write(tmp_path / "application_responses.json", json.dumps(nested))
    (item,) = load_head_to_tail(str(tmp_path))
    assert item.category == "mag:head"
    assert [(o.option_id, o.text) for o in item.options] == [("v", "Ann")]


def test_table_and_responses(tmp_path):
    questions = write(tmp_path / "head_to_tail_questions.csv", TABLE)
    assert len(load_head_to_tail(questions)) == 3
    answers = write(tmp_path / "head_to_tail_responses.csv", RESPONSES)
    items = load_head_to_tail(questions, answers)
    assert [item.item_id for item in items] == ["htt:mag:head:0", "htt:mag:head:1"]
    assert [(o.option_id, o.text) for o in items[0].options] == [("f", ""), ("v", "Ann")]
    assert load_head_to_tail(str(tmp_path)) == items


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("mag.json", upstream(), "the file's name must say its source"),
        ("head_to_tail_mag.json", "[]", "expected an object of head, torso and tail"),
        ("head_to_tail_mag.json", '{"head": []}', "missing columns torso, tail"),
        ("head_to_tail_mag.json", upstream(), "no items found"),
        ("head_to_tail_mag.json", upstream(head=[["e", "t", "q?"]]), "got a list of 3"),
        ("head_to_tail_mag.json", upstream(head=[{"q": 1}]), "got an object"),
        ("head_to_tail_mag.json", upstream(tail=[entry("q?", None)]), "answer must be text"),
        ("head_to_tail_mag.json", upstream(tail=[entry("q?", ["a", 1])]), "answer[1] must be text"),
        ("h.csv", TABLE.replace("popularity", "Popularity"), "rename 'Popularity' to 'popularity'"),
        ("h.csv", TABLE.replace("tail", "middle"), "got 'middle'"),
    ],
)
def test_malformed_questions(tmp_path, name, text, said):
    with pytest.raises(SweepError) as caught:
        load_head_to_tail(write(tmp_path / name, text))
    assert said in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("v,mag,Who?,a\nv,mag,Who?,b\n", "'v' answers the same question twice"),
        ("v,dblp,Who?,a\n", "none of 0 answered questions"),
        ("v,mag,Who?,a\nv,mag,Whose?,b\n", "response to a question that mag does not have"),
    ],
)
def test_malformed_responses(tmp_path, rows, said):
    questions = write(tmp_path / "h.csv", TABLE)
    header = RESPONSES.splitlines()[0]
    with pytest.raises(SweepError, match=r"r\.csv") as caught:
        load_head_to_tail(questions, write(tmp_path / "r.csv", f"{header}\n{rows}"))
    assert said in str(caught.value)


def test_folder_must_be_of_one_kind(tmp_path):
    with pytest.raises(SweepError, match="got none"):
        load_head_to_tail(str(tmp_path))
    write(tmp_path / "head_to_tail_questions.csv", TABLE)
    write(tmp_path / "head_to_tail_mag.json", upstream())
    with pytest.raises(SweepError, match="or one table"):
        load_head_to_tail(str(tmp_path))
