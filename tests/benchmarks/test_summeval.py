import json

import pytest

from judgerel_ray.benchmarks import load_summeval, load_summeval_summaries, sample_items
from judgerel_ray.core import SweepError

MARKS = {"coherence": 1, "consistency": 5, "fluency": 4, "relevance": 2}


def line(**changes):
    return {
        "id": "cnn-1", "model_id": "M0", "decoded": "It rained.", "text": "Rain fell.",
        "expert_annotations": [MARKS, MARKS], "turker_annotations": [MARKS],
        "references": ["Rain."], **changes,
    }  # fmt: skip


def load(tmp_path, *lines):
    file = tmp_path / "model_annotations.aligned.paired.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return load_summeval(str(file))


def test_every_criterion_is_one_judgment(tmp_path):
    items = load(tmp_path, line(), line(model_id="M1"))
    assert len(items) == 8
    assert items[0].item_id == "summeval:cnn-1:M0:coherence"
    assert items[0].context == "Article:\nRain fell.\n\nSummary:\nIt rained."
    assert [option.option_id for option in items[0].options] == ["1", "2", "3", "4", "5"]
    assert [(r.rater, r.criterion, r.score, r.label) for r in items[3].ratings] == [
        ("expert:0", "relevance", 2.0, "2"),
        ("expert:1", "relevance", 2.0, "2"),
        ("turker:0", "relevance", 2.0, "2"),
    ]


def test_a_draw_has_every_criterion_alike(tmp_path):
    items = load(tmp_path, *(line(id=f"cnn-{n}") for n in range(5)))
    drawn = sample_items(items, per="category", n=3, seed=1)
    assert sorted(item.category for item in drawn) == sorted([*MARKS] * 3)


def test_other_layouts_are_named(tmp_path):
    unpaired = line()
    del unpaired["text"]
    with pytest.raises(SweepError, match="pair the annotations with their articles"):
        load(tmp_path, unpaired)
    with pytest.raises(SweepError, match="'6' is none of the options"):
        load(tmp_path, line(expert_annotations=[{**MARKS, "fluency": 6}]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(SweepError, match="expected one table"):
        load_summeval(str(tmp_path / "empty"))


def test_tables_of_texts_and_ratings(tmp_path):
    (tmp_path / "my_texts.csv").write_text("system,doc_id,summary,article\nM0,d1,short,long\n")
    (tmp_path / "my_ratings.csv").write_text(
        "system,doc_id,rater_type,rater,dimension,score\nM0,d1,expert,0,fluency,4\n"
    )
    (item,) = load_summeval(str(tmp_path))
    assert (item.item_id, item.ratings[0].label) == ("summeval:d1:M0:fluency", "4")
    (tmp_path / "my_ratings.csv").write_text(
        "system,doc_id,rater_type,rater,dimension,score\nM0,d1,expert,0,style,4\n"
    )
    with pytest.raises(SweepError, match="dimension must be of"):
        load_summeval(str(tmp_path))


def test_a_summary_is_one_response_with_all_its_ratings(tmp_path):
    file = tmp_path / "aligned.paired.jsonl"
    file.write_text("\n".join(json.dumps(line(model_id=name)) for name in ("M0", "M1")))
    items = load_summeval_summaries(str(file))
    assert [item.item_id for item in items] == ["summeval:cnn-1:M0", "summeval:cnn-1:M1"]
    assert (items[0].context, items[0].options[0].text) == ("Rain fell.", "It rained.")
    assert items[0].options[0].option_id == "M0"
    rated = {(r.rater, r.criterion): r.score for r in items[0].ratings}
    assert len(rated) == 3 * len(MARKS)
    assert rated["turker:0", "relevance"] == MARKS["relevance"]
