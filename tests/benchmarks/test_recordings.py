"""The loaders against recorded upstream files, where JUDGEREL_DATA names them."""

import os
from collections import Counter
from pathlib import Path

import pytest

from judgerel_ray.benchmarks import load_items, sample_items

RECORDINGS = Path(os.environ.get("JUDGEREL_DATA", "/nonexistent"))
pytestmark = pytest.mark.skipif(
    "JUDGEREL_DATA" not in os.environ, reason="JUDGEREL_DATA names no recordings"
)


def test_bbh_is_27_tasks_and_a_draw_of_27():
    items = load_items("bbh", str(RECORDINGS / "items/bbh.parquet"))
    assert len(items) == 6511
    drawn = sample_items(items, per="category", n=1, seed=1)
    assert len({item.category for item in drawn}) == len(drawn) == 27


def test_bbh_sampled_by_the_paper_is_in_bbh():
    whole = load_items("bbh", str(RECORDINGS / "items/bbh.parquet"))
    sampled = load_items("bbh", str(RECORDINGS / "seed000/bbh_sampled_q.json.gz"))
    known = {(item.category, item.question, item.gold) for item in whole}
    assert len(sampled) == 27
    assert all((item.category, item.question, item.gold) in known for item in sampled)


def test_mt_bench_questions_and_answers():
    questions = str(RECORDINGS / "items/mt_bench_questions.jsonl.gz")
    items = load_items("mt_bench", questions)
    assert len(items) == 80
    assert all(len(item.turns) == 2 and item.question == item.turns[0] for item in items)
    assert len(sample_items(items, per="category", n=1, seed=1)) == 8
    answers = str(RECORDINGS / "items/mt_bench_model_answers.parquet")
    answered = load_items("mt_bench", questions, answers=answers)
    assert {len(item.options) for item in answered} == {31}
    assert answered == load_items("mt_bench", str(RECORDINGS / "items"))


def test_squad_flat_files():
    items = load_items("squad", str(RECORDINGS / "items/squad_v1_sample.parquet"))
    assert len(items) == 1500
    assert all(item.gold and item.context and item.gold in item.context for item in items[:50])
    sampled = load_items("squad", str(RECORDINGS / "seed000/squad_sampled_q.json.gz"))
    assert len(sample_items(sampled, per=None, n=20, seed=1)) == 20


def test_the_55_items_of_the_paper():
    items = load_items("schroeder2024", str(RECORDINGS / "seed000/prompt_responses.parquet"))
    assert Counter(item.benchmark for item in items) == {"bbh": 27, "squad": 20, "mt_bench": 8}
    assert {len(item.options) for item in items} == {5}
    assert len({tuple(option.option_id for option in item.options) for item in items}) == 1
    sampled = {
        **{i.question: i for i in load_items("bbh", seed("bbh_sampled_q.json.gz"))},
        **{i.question: i for i in load_items("squad", seed("squad_sampled_q.json.gz"))},
        **{i.question: i for i in load_items("mt_bench", seed("mt_bench_sampled_q.json.gz"))},
    }
    for item in items:
        same = sampled[item.question]
        assert (item.context, item.turns) == (same.context, same.turns)


def test_the_folder_of_the_paper_adds_gold():
    with_gold = load_items("schroeder2024", str(RECORDINGS / "seed000"))
    assert Counter(i.benchmark for i in with_gold if i.gold) == {"bbh": 27, "squad": 20}


def test_head_to_tail_questions_and_responses():
    items = load_items("head_to_tail", seed("head_to_tail_questions.parquet"))
    assert Counter(item.category for item in items) == {
        f"{source}:{popularity}": count
        for source, count in (("mag", 700), ("dblp", 308))
        for popularity in ("head", "torso", "tail")
    }
    judged = load_items("head_to_tail", str(RECORDINGS / "seed000"))
    assert Counter(option.option_id for item in judged for option in item.options) == {
        "lmsys/vicuna-7b-v1.5": 1008,
        "tiiuae/falcon-7b": 1008,
    }
    assert {item.category for item in judged} == {"mag:head", "dblp:head"}


def seed(name):
    return str(RECORDINGS / "seed000" / name)


def test_truthfulqa_answers_and_labels_of_people():
    items = load_items("truthfulqa", str(RECORDINGS / "items/truthfulqa.parquet"))
    gold = Counter(item.gold for item in items)
    assert len({item.item_id.split(":")[1] for item in items}) == 300
    assert gold["yes"] > 800 < gold["no"]
    labels = load_items("truthfulqa", str(RECORDINGS / "items/truthfulqa_human_labels.parquet"))
    assert Counter(item.gold for item in labels) == {"no": 4667, "yes": 3553}


def test_feedbackqa_validation_part():
    items = load_items("feedbackqa", str(RECORDINGS / "items/feedbackqa.parquet"))
    assert Counter(item.category for item in items) == {
        "UK": 540, "CDC": 405, "Australia": 336, "WHO": 129,
    }  # fmt: skip
    assert {len(item.ratings) for item in items} == {2}
    same = sum(item.ratings[0].label == item.ratings[1].label for item in items)
    assert same == 689


@pytest.mark.slow
def test_summeval_texts_and_ratings():
    items = load_items("summeval", str(RECORDINGS / "items"))
    assert len(items) == 12 * 40 * 4
    assert {len(item.ratings) for item in items} == {8}
    drawn = sample_items(items, per="category", n=5, seed=1)
    assert set(Counter(item.category for item in drawn).values()) == {5}


def test_prompts_of_prometheus():
    path = RECORDINGS / "seed003/gpt4_3x_vicuna_prompts.parquet"
    items = load_items("feedback_collection", str(path))
    assert len(items) == 320
    assert all(len(item.options) == 5 and item.question.endswith("?") for item in items[:20])
    assert "Reference answer:" in items[0].context


def test_pairs_of_hh_rlhf_are_a_thousand_responses():
    items = load_items("hh_rlhf", str(RECORDINGS / "items/hh_rlhf_harmless.parquet"))
    assert len(items) == 500
    assert {tuple(o.option_id for o in item.options) for item in items} == {("chosen", "rejected")}
    assert sum(item.context is None for item in items) == 140
    assert all(item.question and not item.question.startswith("Human") for item in items)


def test_lima_has_thirteen_dialogues_of_several_turns():
    items = load_items("lima", str(RECORDINGS / "nc/lima.parquet"))
    assert len(items) == 250
    assert sum(item.context is not None for item in items) == 13
    assert all(item.options[0].text for item in items)


def test_truthfulqa_with_a_false_answer_drawn():
    items = load_items("truthfulqa_pairs", str(RECORDINGS / "items/truthfulqa.parquet"))
    single = load_items("truthfulqa", str(RECORDINGS / "items/truthfulqa.parquet"))
    answers = {(item.context, item.gold) for item in single}
    assert len(items) == 300
    for item in items:
        for option, gold in zip(item.options, ("yes", "no"), strict=True):
            assert (f"Question:\n{item.question}\n\nAnswer:\n{option.text}", gold) in answers


def test_a_thousand_responses_to_judge_by_their_conciseness(tmp_path):
    chosen, rejected, lima, truthful = (
        ("hh_rlhf", "items/hh_rlhf_harmless", 'name = "chosen"\noptions = ["chosen"]'),
        ("hh_rlhf", "items/hh_rlhf_harmless", 'name = "rejected"\noptions = ["rejected"]'),
        ("lima", "nc/lima", ""),
        ("truthfulqa_pairs", "items/truthfulqa", ""),
    )
    parts = (
        f'[[part]]\nbenchmark = "{name}"\npath = "{RECORDINGS}/{file}.parquet"\n{more}\n'
        for name, file, more in (chosen, rejected, lima, truthful)
    )
    (tmp_path / "conciseness.toml").write_text("n = 250\n" + "".join(parts))
    items = load_items("mix", str(tmp_path / "conciseness.toml"))
    assert Counter(item.category for item in items) == {
        "chosen": 250, "rejected": 250, "lima": 250, "truthfulqa_pairs": 250,
    }  # fmt: skip
    assert len({item.item_id.rpartition(":")[0] for item in items}) == 1000
    said = Counter(item.options[0].option_id for item in items[-250:])
    assert min(said["correct"], said["incorrect"]) > 100


def test_summeval_as_responses_with_all_ratings():
    items = load_items("summeval_summaries", str(RECORDINGS / "items"))
    assert len(items) == 12 * 40
    assert {len(item.ratings) for item in items} == {8 * 4}
