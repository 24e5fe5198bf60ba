import pytest

from judgerel_ray.benchmarks import LOADERS, load_items
from judgerel_ray.core import SweepError


def test_every_loader_has_its_name():
    assert set(LOADERS) == {
        "bbh", "squad", "mt_bench", "head_to_tail", "schroeder2024",
        "truthfulqa", "summeval", "feedbackqa", "feedback_collection", "criterion",
        "truthfulqa_pairs", "hh_rlhf", "lima", "summeval_summaries", "mix",
        "mmlu_pro", "multiple_choice", "bergman2025", "log",
    }  # fmt: skip
    named = {name: loader.__name__.removeprefix("load_") for name, loader in LOADERS.items()}
    assert {name for name, other in named.items() if other.removesuffix("_items") != name} == set()


def test_other_name_reads_a_plain_file_under_that_name(tmp_path):
    (tmp_path / "a.csv").write_text("item_id,question\n1,Why?\n")
    (item,) = load_items("my-bench", str(tmp_path / "a.csv"))
    assert item.benchmark == "my-bench"


def test_other_name_with_a_folder_is_refused(tmp_path):
    with pytest.raises(SweepError, match=r"benchmark=squat.*Try: squad"):
        load_items("squat", str(tmp_path))


def test_plain_table_wins_over_the_upstream_layout(tmp_path):
    (tmp_path / "a.csv").write_text("item_id,benchmark,question\n1,squad,Why?\n")
    (item,) = load_items("bbh", str(tmp_path / "a.csv"))
    assert (item.item_id, item.benchmark) == ("1", "squad")


def test_answers_only_where_they_are_options(tmp_path):
    (tmp_path / "a.csv").write_text("item_id,question\n1,Why?\n")
    with pytest.raises(SweepError, match="answers belong to mt_bench and head_to_tail only"):
        load_items("bbh", str(tmp_path / "a.csv"), answers="b.csv")


def test_answers_reach_the_loader(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"question_id": 1, "category": "c", "turns": ["a?", "b?"]}')
    (tmp_path / "r.csv").write_text("question_id,model,answer_turn2\n1,m,yes\n")
    (item,) = load_items("mt_bench", str(tmp_path / "q.jsonl"), answers=str(tmp_path / "r.csv"))
    assert [(o.option_id, o.text) for o in item.options] == [("m", "yes")]


@pytest.mark.parametrize("name", [*LOADERS, "mine"])
def test_missing_file_is_one_line(tmp_path, name):
    with pytest.raises(SweepError, match="no such file") as caught:
        load_items(name, str(tmp_path / "absent.json"))
    assert "\n" not in str(caught.value)
