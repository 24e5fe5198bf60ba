import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Item, Message, Option, SweepError
from judgerel_ray.protocols import (
    as_plain,
    fill,
    labels_for,
    load_template,
    question_form,
    render_best_of,
    render_correctness,
    render_respond,
)

RESPOND = load_template("respond", "default")
BEST_OF = load_template("best_of", "default")
CORRECTNESS = load_template("correctness", "default")


def item(**fields) -> Item:
    given_fields = {"item_id": "q1", "benchmark": "b", "category": "c", "question": "Who?"}
    return Item(**{**given_fields, **fields})


QUESTION = item(gold="Ada")
CONTEXT = item(context="Ada wrote it.", gold="Ada")
DIALOGUE = item(question="Who?", turns=("Who?", "When?"), gold="1843")
OPTIONS = (Option(option_id="m1", text="Ada"), Option(option_id="m2", text="Bob\nor so"))

names = st.sampled_from(["a", "b", "first_name"])
wild_text = st.text(alphabet="{}ab _\n\\$1", max_size=30)


def content(prompt: tuple[Message, ...]) -> str:
    (message,) = prompt
    assert message.role == "user"
    return message.content


@given(st.dictionaries(names, wild_text, min_size=3, max_size=3), wild_text)
def test_values_stand_unchanged_whatever_braces_they_hold(values, between):
    between = between.replace("{", "(").replace("}", ")")
    text = between.join(["", "{a}", "{b}", "{first_name}", ""])
    expected = between.join(["", values["a"], values["b"], values["first_name"], ""])
    assert fill(text, values) == expected


@given(wild_text)
def test_a_filled_text_holds_its_value_once(value):
    assert fill("<{a}>", {"a": value, "b": "never"}) == f"<{value}>"


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{a}}", "{a}"),
        ('{"key": "{a}"}', '{"key": "VALUE"}'),
        ("{ a } {} {1}", "{ a } {} {1}"),
        ("{a}{a}", "VALUEVALUE"),
        ("", ""),
    ],
)
def test_braces_that_name_nothing_are_text(text, filled):
    assert fill(text, {"a": "VALUE"}) == filled


def test_a_placeholder_without_a_value_is_an_error():
    with pytest.raises(SweepError, match=r"unknown placeholder \{b\}, known here: \{a\}"):
        fill("{b}", {"a": ""})


@pytest.mark.parametrize(
    ("given_item", "form"),
    [(QUESTION, "question"), (CONTEXT, "context"), (DIALOGUE, "dialogue")],
)
def test_the_item_decides_the_question_form(given_item, form):
    assert question_form(given_item) == form


def test_a_dialogue_with_a_context_is_a_dialogue():
    assert question_form(item(turns=("a", "b"), context="c")) == "dialogue"


@given(st.integers(min_value=0, max_value=1500))
def test_labels_are_distinct_and_a_prefix_of_longer_ones(n):
    labels = labels_for(n)
    assert len(set(labels)) == n
    assert labels_for(n + 1)[:n] == labels


def test_labels_go_on_after_z():
    labels = labels_for(26 + 26 * 26 + 1)
    assert labels[:2] + labels[24:29] == ("A", "B", "Y", "Z", "AA", "AB", "AC")
    assert labels[51:53] == ("AZ", "BA")
    assert labels[-2:] == ("ZZ", "AAA")


def test_labels_of_fewer_than_none_are_an_error():
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        labels_for(-1)


def test_a_question_is_asked_to_a_responder():
    assert content(render_respond(RESPOND, QUESTION, turn=1)).splitlines()[1:] == ["Who?"]


def test_a_context_stands_before_its_question():
    assert content(render_respond(RESPOND, CONTEXT, turn=1)).splitlines()[1:] == [
        "Context: Ada wrote it.",
        "Question: Who?",
        "Answer:",
    ]


def test_the_first_turn_of_a_dialogue_is_a_question():
    assert render_respond(RESPOND, DIALOGUE, turn=1) == render_respond(RESPOND, QUESTION, turn=1)


def test_the_second_turn_of_a_dialogue_follows_the_first_response():
    prompt = render_respond(RESPOND, DIALOGUE, turn=2, first_response="Ada {question_2}")
    assert content(prompt).splitlines()[1:] == ["Who?", "Ada {question_2}", "When?"]


def test_an_empty_first_response_is_a_response():
    prompt = render_respond(RESPOND, DIALOGUE, turn=2, first_response="")
    assert content(prompt).splitlines()[1:] == ["Who?", "", "When?"]


@pytest.mark.parametrize(("turn", "first_response"), [(2, None), (1, "Ada"), (0, None), (3, "Ada")])
def test_turn_and_first_response_go_together(turn, first_response):
    with pytest.raises(ValueError, match="turn must be 1, or 2 together with a first_response"):
        render_respond(RESPOND, DIALOGUE, turn=turn, first_response=first_response)


def test_an_item_without_a_second_turn_has_none():
    with pytest.raises(SweepError, match="no second turn") as caught:
        render_respond(RESPOND, QUESTION, turn=2, first_response="Ada")
    assert caught.value.where == {"item": "q1"}


@pytest.mark.parametrize("turns", [("a",), ("a", "b", "c")])
def test_a_dialogue_of_other_than_two_turns_is_an_error(turns):
    with pytest.raises(SweepError, match=f"must have 2 turns, got {len(turns)}"):
        render_best_of(BEST_OF, item(turns=turns), OPTIONS)


def test_options_are_listed_in_the_order_shown():
    prompt = content(render_best_of(BEST_OF, QUESTION, OPTIONS))
    expected = "\n\nQuestion: Who?\n\nResponses:\n\n- [A]: Ada\n- [B]: Bob\nor so"
    assert prompt.endswith(expected)
    turned = content(render_best_of(BEST_OF, QUESTION, OPTIONS[::-1]))
    assert turned.endswith("Responses:\n\n- [A]: Bob\nor so\n- [B]: Ada")


def test_the_context_is_shown_to_a_judge():
    prompt = content(render_best_of(BEST_OF, CONTEXT, OPTIONS))
    assert "\n\nContext: Ada wrote it.\n\nQuestion: Who?\n\n" in prompt


def test_a_dialogue_is_judged_on_its_second_question():
    prompt = content(render_best_of(BEST_OF, DIALOGUE, OPTIONS))
    assert "\n\nQuestion 1: Who?\n\nQuestion 2: When?\n\nResponses:" in prompt


def test_judges_never_see_who_wrote_an_option():
    assert "m1" not in content(render_best_of(BEST_OF, QUESTION, OPTIONS))


def test_one_option_is_nothing_to_choose_from():
    with pytest.raises(SweepError, match="at least 2 options, got 1"):
        render_best_of(BEST_OF, QUESTION, OPTIONS[:1])


@pytest.mark.parametrize("name", ["paraphrase", "reason_first"])
def test_best_of_wordings_differ_in_their_instruction_only(name):
    other = load_template("best_of", name)
    for given_item in (QUESTION, CONTEXT, DIALOGUE):
        one = content(render_best_of(BEST_OF, given_item, OPTIONS)).split("\n\n", 1)
        two = content(render_best_of(other, given_item, OPTIONS)).split("\n\n", 1)
        assert one[0] != two[0]
        assert one[1] == two[1]


def test_a_prediction_is_shown_with_its_ground_truth():
    prompt = content(render_correctness(CORRECTNESS, QUESTION, "A. Lovelace"))
    assert prompt.splitlines()[-4:] == [
        "Question: Who?",
        "Ground truth: Ada",
        "Prediction: A. Lovelace",
        "Verdict:",
    ]


@pytest.mark.parametrize(("given_item", "shown"), [(CONTEXT, "Context: Ada"), (DIALOGUE, "When?")])
def test_correctness_shows_what_surrounds_a_question(given_item, shown):
    assert shown in content(render_correctness(CORRECTNESS, given_item, "x"))


def test_correctness_without_a_gold_answer_is_an_error():
    with pytest.raises(SweepError, match="needs a gold answer"):
        render_correctness(CORRECTNESS, item(), "x")


def test_a_template_of_another_protocol_is_an_error():
    with pytest.raises(SweepError, match="expected best_of, got correctness"):
        render_best_of(CORRECTNESS, QUESTION, OPTIONS)


@given(st.lists(st.text(max_size=10), min_size=1, max_size=3))
def test_a_plain_prompt_is_the_contents_in_order(contents):
    prompt = tuple(Message(role="user", content=text) for text in contents)
    assert as_plain(prompt) == "\n\n".join(contents)


def test_every_shipped_prompt_is_its_own_plain_form():
    prompt = render_best_of(BEST_OF, QUESTION, OPTIONS)
    assert as_plain(prompt) == prompt[0].content
