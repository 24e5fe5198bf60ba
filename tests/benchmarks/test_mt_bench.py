import json

import polars as pl
import pytest

from judgerel_ray.benchmarks import load_mt_bench
from judgerel_ray.core import Option, SweepError

QUESTIONS = [
    {"question_id": 81, "category": "math", "turns": ["Is 7 prime?", "And 8?"]},
    {"question_id": 82, "category": "math", "turns": ["1+1?", "2+2?"], "reference": ["2", "4"]},
    {"question_id": 83, "category": "stem", "turns": ["Why?", "How?"], "reference": ["so", ""]},
]


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def answered(question_id, model, *turns):
    return {
        "question_id": question_id,
        "answer_id": "x",
        "model_id": model,
        "choices": [{"index": 0, "turns": list(turns)}],
        "tstamp": 1.0,
    }


def upstream_folder(folder):
    lines(folder / "question.jsonl", QUESTIONS)
    (folder / "model_answer").mkdir()
    for model in ("zeta", "alpha"):
        rows = [answered(q, model, f"{model} one", f"{model} {q}") for q in (81, 82)]
        lines(folder / "model_answer" / f"{model}.jsonl", rows)
    return str(folder)


def test_questions_alone(tmp_path):
    items = load_mt_bench(lines(tmp_path / "question.jsonl", QUESTIONS))
    assert [item.item_id for item in items] == ["mtb:81", "mtb:82", "mtb:83"]
    assert [item.gold for item in items] == [None, "4", None]
    assert items[0].question == "Is 7 prime?"
    assert items[0].turns == ("Is 7 prime?", "And 8?")
    assert items[0].options == ()


def test_upstream_folder_gives_final_turns_of_answered_questions(tmp_path):
    items = load_mt_bench(upstream_folder(tmp_path))
    assert [item.item_id for item in items] == ["mtb:81", "mtb:82"]
    assert items[1].options == (
        Option(option_id="alpha", text="alpha 82"),
        Option(option_id="zeta", text="zeta 82"),
    )


def test_answers_as_file_folder_and_table(tmp_path):
    expected = load_mt_bench(upstream_folder(tmp_path))
    questions = str(tmp_path / "question.jsonl")
    assert load_mt_bench(questions, str(tmp_path / "model_answer")) == expected
    table = [
        {"question_id": q, "model": m, "answer_turn1": None, "answer_turn2": f"{m} {q}"}
        for m in ("zeta", "alpha")
        for q in (81, 82)
    ]
    pl.DataFrame(table).write_parquet(tmp_path / "a.parquet")
    assert load_mt_bench(questions, str(tmp_path / "a.parquet")) == expected
    one = load_mt_bench(questions, str(tmp_path / "model_answer" / "zeta.jsonl"))
    assert [option.option_id for option in one[0].options] == ["zeta"]


def test_sampled_list_is_named_by_category(tmp_path):
    file = tmp_path / "mt_bench_sampled_q.json"
    file.write_text(json.dumps([{"category": "math", "turns": ["a?", "b?"]}]))
    assert load_mt_bench(str(file))[0].item_id == "mtb:math"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question_id": 1, "category": "c"}, "missing column turns"),
        ({"question_id": 1, "category": "c", "turn": ["a"]}, "rename 'turn' to 'turns'"),
        ({"question_id": 1, "category": "c", "turns": []}, "turns must be a list"),
        ({"question_id": 1, "category": "c", "turns": ["a", " "]}, "turns must be a list"),
        ({"question_id": 1, "category": "c", "turns": ["a", 2]}, "turns[1] must be text"),
        ({"question_id": True, "category": "c", "turns": ["a"]}, "got true or false"),
        ({"question_id": 81, "category": "c", "turns": ["a"]}, "'mtb:81' stands twice"),
        ({"question_id": 1, "answer_turn1": "x"}, "the questions are missing"),
    ],
)
def test_malformed_questions(tmp_path, row, said):
    with pytest.raises(SweepError) as caught:
        load_mt_bench(lines(tmp_path / "question.jsonl", [*QUESTIONS, row]))
    assert said in str(caught.value)
    assert "question.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (answered(81, "m", "only one"), "expected answers to 2 turns, got 1"),
        ({**answered(81, "m", "a", "b"), "choices": []}, "choices is empty"),
        ({"question_id": 81, "choices": [{"turns": ["a", "b"]}]}, "missing column model_id"),
        ({"question_id": 81, "model": "m", "answer_turn1": "a"}, "missing column answer_turn2"),
        (answered(999, "m", "a", "b"), "none of 1 answered questions"),
    ],
)
def test_malformed_answers(tmp_path, row, said):
    questions = lines(tmp_path / "question.jsonl", QUESTIONS)
    with pytest.raises(SweepError, match=r"answers\.jsonl") as caught:
        load_mt_bench(questions, lines(tmp_path / "answers.jsonl", [row]))
    assert said in str(caught.value)


def test_a_model_answers_once(tmp_path):
    folder = tmp_path / "mt"
    folder.mkdir()
    upstream_folder(folder)
    lines(folder / "model_answer" / "copy.jsonl", [answered(81, "zeta", "a", "b")])
    with pytest.raises(SweepError, match="'zeta' answers the same question twice"):
        load_mt_bench(str(folder))


def test_folder_without_questions(tmp_path):
    with pytest.raises(SweepError, match=r"expected one question.jsonl, got 0"):
        load_mt_bench(str(tmp_path))
    questions = lines(tmp_path / "question.jsonl", QUESTIONS)
    (tmp_path / "model_answer").mkdir()
    with pytest.raises(SweepError, match=r"expected <model>.jsonl files"):
        load_mt_bench(questions, str(tmp_path / "model_answer"))
