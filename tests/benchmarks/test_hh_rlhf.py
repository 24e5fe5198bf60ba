import json

import pytest

from judgerel_ray.benchmarks import load_hh_rlhf
from judgerel_ray.core import SweepError

ASKED = "\n\nHuman: Hi.\n\nAssistant: Hello!\n\nHuman: How do I open it?"


def load(tmp_path, chosen, rejected, **more):
    file = tmp_path / "test.jsonl"
    file.write_text(json.dumps({"chosen": chosen, "rejected": rejected, **more}))
    (item,) = load_hh_rlhf(str(file))
    return item


def test_a_pair_is_two_responses_to_the_last_human_turn(tmp_path):
    item = load(
        tmp_path, f"{ASKED}\n\nAssistant: Ask the owner.", f"{ASKED}\n\nAssistant: Pick it."
    )
    assert (item.item_id, item.question) == ("hh_rlhf:0", "How do I open it?")
    assert item.context == "Human:\nHi.\n\nAssistant:\nHello!"
    assert [(o.option_id, o.text) for o in item.options] == [
        ("chosen", "Ask the owner."),
        ("rejected", "Pick it."),
    ]
    assert (item.gold, item.ratings[0].label) == ("chosen", "chosen")


def test_a_first_turn_has_no_context_and_a_response_may_be_empty(tmp_path):
    item = load(
        tmp_path, "\n\nHuman: Hi.\n\nAssistant: Yes?", "\n\nHuman: Hi.\n\nAssistant:", item=7
    )
    assert (item.item_id, item.context) == ("hh_rlhf:7", None)
    assert item.options[1].text == ""


def test_transcripts_that_part_earlier_keep_all_that_follows(tmp_path):
    longer = f"{ASKED}\n\nAssistant: No.\n\nHuman: Please.\n\nAssistant: Fine."
    item = load(tmp_path, longer, f"{ASKED}\n\nAssistant: Pick it.")
    assert item.question == "How do I open it?"
    assert item.options[0].text == "No.\n\nHuman: Please.\n\nAssistant: Fine."


def test_replies_alike_are_both_there(tmp_path):
    item = load(tmp_path, f"{ASKED}\n\nAssistant: No.", f"{ASKED}\n\nAssistant: No.")
    assert (item.question, item.options[0].text) == ("How do I open it?", item.options[1].text)


def test_an_assistant_that_spoke_twice_is_judged_from_its_first_word(tmp_path):
    twice = f"{ASKED}\n\nAssistant: Wait.\n\nAssistant:"
    item = load(tmp_path, f"{twice} A.", f"{twice} B.")
    assert [option.text for option in item.options] == [
        "Wait.\n\nAssistant: A.",
        "Wait.\n\nAssistant: B.",
    ]


@pytest.mark.parametrize(
    "rejected",
    ["\n\nHuman: Bye.\n\nAssistant: Bye.", "\n\nHuman: Hi.", "Hi.", "\n\nAssistant: Hello!"],
)
def test_nothing_shared_is_refused(tmp_path, rejected):
    with pytest.raises(SweepError, match="must share a human turn and go on after it"):
        load(tmp_path, "\n\nHuman: Hi.\n\nAssistant: Hello!", rejected)


def test_another_file_is_named(tmp_path):
    (tmp_path / "red_team.jsonl").write_text('{"transcript": "Human: Hi."}')
    with pytest.raises(SweepError, match=r"missing columns chosen, rejected.*harmless-base"):
        load_hh_rlhf(str(tmp_path / "red_team.jsonl"))
