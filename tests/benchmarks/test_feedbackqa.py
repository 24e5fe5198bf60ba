import json

import pytest

from judgerel_ray.benchmarks import load_feedbackqa
from judgerel_ray.core import SweepError


def row(**changes):
    reference = {
        "page_title": "Flu", "section_headers": ["Care", "At home"], "section_content": "Rest.",
    }  # fmt: skip
    passage = {"passage_id": 1, "source": "WHO", "reference": reference}
    return {
        "question": "What helps?", "passage": passage, "rating": ["Bad", "Excellent"],
        "feedback": ["no", "yes"], **changes,
    }  # fmt: skip


def test_a_passage_and_its_ratings(tmp_path):
    (tmp_path / "feedback_valid.json").write_text(json.dumps([row()]))
    (item,) = load_feedbackqa(str(tmp_path / "feedback_valid.json"))
    assert (item.item_id, item.category, item.gold) == ("feedbackqa:WHO:valid:0", "WHO", None)
    assert item.context == (
        "Question:\nWhat helps?\n\nPage:\nFlu\n\nSection:\nCare / At home\n\nPassage:\nRest."
    )
    assert [option.text for option in item.options] == [
        "Excellent", "Acceptable", "Could be Improved", "Bad",
    ]  # fmt: skip
    assert [(rating.rater, rating.label) for rating in item.ratings] == [
        ("1", "Bad"), ("2", "Excellent"),
    ]  # fmt: skip


def test_the_folder_of_all_domains(tmp_path):
    for domain in ("CDC", "WHO"):
        (tmp_path / domain).mkdir()
        one = row()
        one["passage"]["source"] = domain
        for name in ("feedback_valid.json", "feedback_test.json", "train.json"):
            (tmp_path / domain / name).write_text(json.dumps([one]))
    items = load_feedbackqa(str(tmp_path))
    assert {item.item_id for item in items} == {
        f"feedbackqa:{domain}:{split}:0" for domain in ("CDC", "WHO") for split in ("valid", "test")
    }
    assert len(load_feedbackqa(str(tmp_path / "CDC"))) == 2


def test_a_flat_table(tmp_path):
    flat = {"question": "q?", "answer": "a", "rating": ["Acceptable"], "domain": "UK"}
    (tmp_path / "train.jsonl").write_text(json.dumps(flat))
    (item,) = load_feedbackqa(str(tmp_path / "train.jsonl"))
    assert (item.item_id, item.ratings[0].label) == ("feedbackqa:UK:train:0", "Acceptable")


def test_other_layouts_are_named(tmp_path):
    (tmp_path / "feedback_valid.json").write_text(json.dumps([row(rating=["Poor"])]))
    with pytest.raises(SweepError, match="'Poor' is none of the options"):
        load_feedbackqa(str(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(SweepError, match="found none"):
        load_feedbackqa(str(tmp_path / "empty"))
    (tmp_path / "feedback_valid.json").write_text(json.dumps([row(passage={})]))
    with pytest.raises(SweepError, match="reference"):
        load_feedbackqa(str(tmp_path))
