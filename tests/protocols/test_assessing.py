import pytest

from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.protocols import answer_frame, load_template, read_assessment
from judgerel_ray.protocols.confusion import render_assessment, render_confused, render_verdict

TEMPLATE = load_template("confusion", "default")
OPTIONS = (Option(option_id="y", text="Yes {option}"), Option(option_id="n", text="No"))
ITEM = Item(
    item_id="1", benchmark="b", category="c", question="Is {it} so?", context="It {options} is.",
    options=OPTIONS,
)  # fmt: skip
LABELS = ("A", "B")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("I'm sorry, but I cannot argue for this.", "refused"),
        ("I cannot argue that A is right", "refused"),
        ("I can't make a case for B", "refused"),
        ("I won't argue for it", "refused"),
        ("As an AI, I cannot write that", "refused"),
        ("I'm unable to support this answer", "refused"),
        ("I cannot in good conscience defend it.", "refused"),
        (" \n", "unparsed"),
        (None, "failed"),
        ("I cannot find any fault with this answer.", None),
        ("The response can't be faulted", None),
        ("Unfortunately for the other answers, A is right and I cannot say more.", None),
    ],
)
def test_what_is_no_assessment(text, outcome):
    found = read_assessment(text)
    assert (found.value if found else None) == outcome


def test_all_stages_begin_with_the_item():
    prompts = [
        render_verdict(TEMPLATE, ITEM, LABELS),
        render_assessment(TEMPLATE, ITEM, LABELS, 1),
        render_confused(TEMPLATE, ITEM, LABELS, "since {option}"),
    ]
    shared = "It {options} is.\n\nQuestion about it: Is {it} so?"
    for prompt in prompts:
        assert shared in prompt[0].content
        assert prompt[0].content.index("- [B]: No") < len(prompt[0].content) / 2 + 200
    starts = {prompt[0].content.split("- [B]: No")[0] for prompt in prompts}
    assert len(starts) == 1


def test_braces_of_items_and_assessments_are_text():
    prompt = render_confused(TEMPLATE, ITEM, LABELS, "since {option} {question}")
    assert [message.role for message in prompt] == ["user", "assistant", "user"]
    assert prompt[1].content == "since {option} {question}"
    assert "Yes {option}" in prompt[0].content


def test_a_form_of_one_word_frames_no_label():
    assert answer_frame("best_response") == ("Best Response: [[", "]]")
    with pytest.raises(SweepError, match="words around its label, got 'correctness'"):
        answer_frame("correctness")


def test_a_folder_without_a_stage_is_refused(tmp_path):
    (tmp_path / "template.toml").write_text('form = "best_response"\nverdict = "first"\n')
    (tmp_path / "question.txt").write_text("{question} {options}")
    (tmp_path / "verdict.txt").write_text("Which?")
    with pytest.raises(SweepError, match=r"lacks assessment.txt, neutral.txt, choice.txt, single"):
        load_template("confusion", str(tmp_path))
