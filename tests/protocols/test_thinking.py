"""Selections, final answers and comparisons: what is read, and what is shown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Item, Menu, Option, Outcome, SweepError
from judgerel_ray.protocols import load_template, read_selection, read_verdict, shipped_templates
from judgerel_ray.protocols.think_twice.thinking import render_choose, render_compare, render_select

NUMBERS = tuple(str(place) for place in range(10))


def menu(form, *, labels=NUMBERS, most=1, reader="first"):
    ids = tuple(f"id{label}" for label in labels)
    return Menu(labels=labels, option_ids=ids, form=form, most=most, reader=reader)


def item(*, options=("red", "green", "blue"), context=None):
    made = tuple(Option(option_id=str(n), text=text) for n, text in enumerate(options))
    return Item(
        item_id="q", benchmark="b", category="c", question="Which?", context=context, options=made
    )


@pytest.mark.parametrize(
    ("text", "labels", "outcome"),
    [
        ("Option: 0\nJustification: a.\n\nOption: 3\nJustification: b.", ("0", "3"), None),
        ("**Option:** 3\n**Justification:** it fits Option 5 less.", ("3",), None),
        ("Option: [[2]]", ("2",), None),
        ("Option: 2\nOption: 2", ("2",), None),
        ("Option: 2 and 4", ("2", "4"), None),
        ("option : 9.", ("9",), None),
        ("Option: 1\nOption: 2\nOption: 3", (), Outcome.CONFLICTING),
        ("Option: 12", (), Outcome.OFF_MENU),
        ("Option: C", (), Outcome.OFF_MENU),
        ("Option: 1\nOption: 42", (), Outcome.OFF_MENU),
        ("Option 1 is right.", (), Outcome.UNPARSED),
        ("1", (), Outcome.UNPARSED),
        ("Option: 1.5", (), Outcome.UNPARSED),
        ("", (), Outcome.UNPARSED),
        ("I cannot help with this.", (), Outcome.REFUSED),
        (None, (), Outcome.FAILED),
    ],
)
def test_selections(text, labels, outcome):
    read = read_selection(text, finish_reason="stop", menu=menu("options", most=2))
    assert (read.labels, read.outcome) == (labels, outcome)


def test_a_selection_cut_short_counts_as_far_as_it_goes():
    two = menu("options", most=2)
    cut = read_selection("Option: 1\nJustification: x\n\nOption:", finish_reason="length", menu=two)
    assert cut.labels == ("1",)
    assert read_selection("Option:", finish_reason="length", menu=two).outcome is Outcome.TRUNCATED
    # "1" may have been the start of "12".
    assert (
        read_selection("Option: 1", finish_reason="length", menu=two).outcome is Outcome.TRUNCATED
    )


@pytest.mark.parametrize(
    ("text", "label", "outcome"),
    [
        ("Final Answer: 2\nReason: Option 3 is weak.\nConfidence: 0.8", "2", "scored"),
        ("final answer: option 3.", "3", "scored"),
        ("**Final Answer**: [[4]]", "4", "scored"),
        ("Final Answer: Option #5\n", "5", "scored"),
        ("Final Answer: 12", None, "off_menu"),
        ("Final Answer: B", None, "off_menu"),
        ("Final Answer: 2 or 3", None, "off_menu"),
        ("Final Answer: none", None, "off_menu"),
        ("Final Answer: 2.5", None, "unparsed"),
        ("Final Answer: <number of the option>", None, "unparsed"),
        ("The answer is 2.", None, "unparsed"),
        ("Final Answer: 2\nFinal Answer: 3", "2", "scored"),
        ("I can't answer that.", None, "refused"),
    ],
)
def test_final_answers(text, label, outcome):
    read = read_verdict(text, finish_reason="stop", menu=menu("final_answer"))
    assert (read.label, read.outcome.value) == (label, outcome)


def test_an_answer_that_was_not_selected_is_off_the_menu():
    selected = menu("final_answer", labels=("1", "4"))
    read = read_verdict("Final Answer: 2", finish_reason="stop", menu=selected)
    assert read.outcome is Outcome.OFF_MENU


def test_a_judge_is_read_by_its_own_form():
    reply = (
        "Evaluation Summary:\nModel 0: Final Answer: 3 is wrong.\n\nCorrect Answer: 1\n"
        "Justification: Option 1 fits.\nJudge Confidence: 0.88"
    )
    read = read_verdict(reply, finish_reason="stop", menu=menu("correct_answer"))
    assert read.label == "1"
    other = read_verdict("Best Answer: 0", finish_reason="stop", menu=menu("correct_answer"))
    assert other.label == "0"
    last = menu("correct_answer", reader="unanimous")
    assert (
        read_verdict(reply + "\nCorrect Answer: 2", finish_reason="stop", menu=last).label is None
    )


@given(st.text(alphabet="FinalAswerCoctBOpti: 0123456789.,\n*[]()-", max_size=80))
def test_no_label_is_read_that_is_not_written(text):
    for form in ("final_answer", "correct_answer"):
        read = read_verdict(text, finish_reason="stop", menu=menu(form))
        assert read.label is None or read.label in text
    selected = read_selection(text, finish_reason="stop", menu=menu("options", most=2))
    assert all(label in text for label in selected.labels)


@pytest.mark.parametrize("name", shipped_templates("think_twice"))
@pytest.mark.parametrize("context", [None, "It is a flag."])
def test_the_item_comes_first_and_both_steps_are_one_conversation(name, context):
    template = load_template("think_twice", name)
    for asked in (item(context=context), item(options=(), context=context)):
        select = render_select(template, asked, most=2)
        choose = render_choose(template, asked, most=2, selected="Option: 1")
        compare = render_compare(template, asked, [("Option: 1", "Final Answer: 1")])
        assert choose[: len(select)] == select
        assert [message.role for message in choose] == ["user", "assistant", "user"]
        prefixes = [message[0].content.split("Which?")[0] for message in (select, compare)]
        assert prefixes[0] == prefixes[1]
        assert "Model 0:\nOption: 1\n\nFinal Answer: 1" in compare[0].content
        assert ("2. blue" in select[0].content) == bool(asked.options)


@pytest.mark.parametrize("name", shipped_templates("think_twice"))
def test_the_instructions_themselves_hold_no_answer(name):
    template = load_template("think_twice", name)
    for text in template.texts.values():
        for form in ("final_answer", "correct_answer"):
            assert read_verdict(text, finish_reason="stop", menu=menu(form)).label is None
        assert not read_selection(text, finish_reason="stop", menu=menu("options")).labels


def test_what_cannot_be_shown_is_refused():
    template = load_template("think_twice", "default")
    with pytest.raises(SweepError, match="no answers to compare"):
        render_compare(template, item(), [])
    dialogue = Item(item_id="d", benchmark="b", category="c", question="a", turns=("a", "b"))
    with pytest.raises(SweepError, match="dialogue"):
        render_select(template, dialogue, most=2)


@pytest.mark.parametrize(
    ("written", "label", "outcome"),
    [
        # A minus is no bullet, and what is a fraction, a ratio or a range is no option.
        ("-1", None, "off_menu"), ("- 1", "1", "scored"), ("−1", None, "off_menu"),
        ("1/20", None, "unparsed"), ("1 / 20", None, "unparsed"), ("1:4", None, "unparsed"),
        ("5–7", None, "unparsed"), ("1 / apple", "1", "scored"), ("1: 4 apples", "1", "scored"),
        # As the first step's form, and mathematics, write it.
        ("Option: 2", "2", "scored"), ("**Option: 2**", "2", "scored"),
        ("No. 2", "2", "scored"), ("number 2", "2", "scored"), ("choice 2", "2", "scored"),
        ("\\boxed{2}", "2", "scored"), ("$\\boxed{2}$", "2", "scored"), ("$2$", "2", "scored"),
        ("\\boxed{12}", None, "off_menu"), ("boxed 2", None, "unparsed"),
        # One line for all of it, and blanks behind it.
        ("2 Confidence: 0.8", "2", "scored"), ("2 confidence intervals", None, "unparsed"),
        ("2 ", "2", "scored"), ("2\u00a0", "2", "scored"),
        ("Model 2", None, "unparsed"),
    ],
)  # fmt: skip
def test_a_number_is_an_option_where_it_stands_alone(written, label, outcome):
    read = read_verdict(f"Final Answer: {written}", finish_reason="stop", menu=menu("final_answer"))
    assert (read.label, read.outcome.value) == (label, outcome)


@pytest.mark.parametrize("kind", ["Model", "model", "**Model", "Response", "[[Model"])
def test_a_models_number_is_not_read_for_an_options(kind):
    reply = f"Correct Answer: {kind} 2\nJudge Confidence: 0.9"
    closed = read_verdict(reply, finish_reason="stop", menu=menu("correct_answer"))
    assert closed.label is None
    # Where the answers themselves are compared, a model's number is what is asked for.
    best = read_verdict("Best Answer: Model 2", finish_reason="stop", menu=menu("correct_answer"))
    assert best.label == "2"


def test_braces_are_written_as_meant_in_every_step_and_as_they_are_in_what_is_filled_in():
    default = load_template("think_twice", "default")
    texts = {name: f"{text} {{{{x}}}}" for name, text in default.texts.items()}
    template = replace(default, texts=texts)
    asked = item(options=("{options}", "{{answers}}"))
    prompts = [
        render_select(template, asked, most=2),
        render_choose(template, asked, most=2, selected="{candidates}"),
        render_compare(template, asked, [("{answers}", "{{question}}")]),
    ]
    for prompt in prompts:
        assert prompt[-1].content.endswith(" {x}")
        assert "0. {options}\n1. {{answers}} {x}" in prompt[0].content
    assert prompts[1][1].content == "{candidates}"
    assert "Model 0:\n{answers}\n\n{{question}}" in prompts[2][0].content
