import json

import polars as pl
import pytest

from judgerel_ray.benchmarks import load_schroeder2024
from judgerel_ray.core import SweepError

SQUAD = "Context: It is five.\n Question: What is it?\n Answer:"
RELEASED = {
    "bbh:navigate": {
        "type": "bbh",
        "prompt": "Do you return?",
        "model_responses": {"z/m2": "Yes", "a/m1": ""},
    },
    "mtb:coding": {
        "type": "mtb",
        "prompt": ["Write it.", "Now in red."],
        "model_responses": {"z/m2": "one", "a/m1": "two"},
    },
    "squad:56e": {
        "type": "squad",
        "prompt": SQUAD,
        "model_responses": {"z/m2": "5", "a/m1": "five"},
    },
}


def released(path, **changes):
    path.write_text(json.dumps({**RELEASED, **changes}))
    return str(path)


def rows():
    return [
        {
            "question_id": question_id,
            "type": value["type"],
            "prompt": p if isinstance(p := value["prompt"], str) else json.dumps(p),
            "position": position,
            "response_model": model,
            "response": text,
        }
        for question_id, value in RELEASED.items()
        for position, (model, text) in enumerate(value["model_responses"].items())
    ]


def test_released_json(tmp_path):
    bbh, mtb, squad = load_schroeder2024(released(tmp_path / "prompt_responses.json"))
    assert [i.benchmark for i in (bbh, mtb, squad)] == ["bbh", "mt_bench", "squad"]
    assert [i.category for i in (bbh, mtb, squad)] == ["navigate", "coding", "all"]
    assert [(o.option_id, o.text) for o in bbh.options] == [("z/m2", "Yes"), ("a/m1", "")]
    assert (mtb.question, mtb.turns) == ("Write it.", ("Write it.", "Now in red."))
    assert (squad.context, squad.question) == ("It is five.", "What is it?")
    assert squad.gold is None


def test_table_in_any_row_order_is_the_json(tmp_path):
    expected = load_schroeder2024(released(tmp_path / "prompt_responses.json"))
    frame = pl.DataFrame(rows())
    frame.write_parquet(tmp_path / "p.parquet")
    assert load_schroeder2024(str(tmp_path / "p.parquet")) == expected
    frame.write_csv(tmp_path / "p.csv")
    assert load_schroeder2024(str(tmp_path / "p.csv")) == expected
    frame.reverse().write_parquet(tmp_path / "r.parquet")
    assert set(load_schroeder2024(str(tmp_path / "r.parquet"))) == set(expected)


def test_folder_adds_gold_where_the_question_is_the_same(tmp_path):
    released(tmp_path / "prompt_responses.json")
    (tmp_path / "bbh_sampled_q.json").write_text(
        json.dumps([{"category": "navigate", "input": "Do you return?", "target": "No"}])
    )
    (tmp_path / "squad_sampled_q.json").write_text(
        json.dumps(
            [
                {"id": "56e", "question": "What else?", "answers": [{"text": "six"}]},
                {"id": "570", "question": "Why?", "answers": []},
            ]
        )
    )
    bbh, mtb, squad = load_schroeder2024(str(tmp_path))
    assert (bbh.gold, mtb.gold, squad.gold) == ("No", None, None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gsm:1": RELEASED["bbh:navigate"]}, "must start with bbh:, squad: or mtb:"),
        ({"bbh:": RELEASED["bbh:navigate"]}, "must start with bbh:, squad: or mtb:"),
        ({"bbh:x": RELEASED["mtb:coding"]}, "type must be 'bbh'"),
        ({"bbh:x": {"type": "bbh", "prompt": "p"}}, "missing field model_responses"),
        ({"bbh:x": {"type": "bbh", "prompt": "p", "model_responses": []}}, "expected an object"),
        ({"bbh:x": {"type": "bbh", "prompt": "p", "model_responses": {"m": 1}}}, "m must be text"),
        (
            {"bbh:x": {"type": "bbh", "prompt": "p", "model_responses": {"": "a"}}},
            "empty option_id",
        ),
        ({"mtb:x": {**RELEASED["mtb:coding"], "prompt": []}}, "must list the user turns"),
        ({"mtb:x": {**RELEASED["mtb:coding"], "prompt": "Hm"}}, "prompt must be a list"),
        ({"squad:x": {**RELEASED["squad:56e"], "prompt": "Why?"}}, "each part once"),
        (
            {
                "squad:x": {
                    **RELEASED["squad:56e"],
                    "prompt": SQUAD.replace("five", "\n Question: "),
                }
            },
            "each part once",
        ),
    ],
)
def test_malformed_json(tmp_path, changes, said):
    with pytest.raises(SweepError) as caught:
        load_schroeder2024(released(tmp_path / "prompt_responses.json", **changes))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"position": 3}, "positions of bbh:navigate must run from 0: expected 1, got 3"),
        ({"position": 0}, "expected 1, got 0"),
        ({"prompt": "Else?"}, "prompt of bbh:navigate differs"),
        ({"response_model": "z/m2"}, "option_id 'z/m2' stands twice"),
    ],
)
def test_malformed_table(tmp_path, change, said):
    table = rows()
    table[1].update(change)
    pl.DataFrame(table).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(SweepError, match=r"p\.parquet.*row=") as caught:
        load_schroeder2024(str(tmp_path / "p.parquet"))
    assert said in str(caught.value)


def test_folder_without_prompts(tmp_path):
    with pytest.raises(SweepError, match="expected one prompt_responses"):
        load_schroeder2024(str(tmp_path))
    (tmp_path / "prompt_responses.json").write_text("[]")
    with pytest.raises(SweepError, match="expected an object of question ids"):
        load_schroeder2024(str(tmp_path))
