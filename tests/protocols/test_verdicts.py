import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Menu, Outcome, SweepError
from judgerel_ray.protocols import (
    FORMS,
    READER_VERSION,
    Reading,
    labels_for,
    load_template,
    read_verdict,
    shipped_templates,
    stop_strings,
)

POLICIES = ("first", "last", "unanimous", "schroeder2024")
FORM = "Best Response: [[{}]]"


def letters(n: int = 5, reader: str = "first") -> Menu:
    return Menu(labels=labels_for(n), option_ids=labels_for(n), form="best_response", reader=reader)


def words(*labels: str, form: str = "best_response", reader: str = "first") -> Menu:
    return Menu(labels=labels, option_ids=labels, form=form, reader=reader)


def read(text: str, menu: Menu, finish_reason: str = "stop") -> Reading:
    return read_verdict(text, finish_reason=finish_reason, menu=menu)


fragments = st.sampled_from(
    [
        *("Best Response:", "best response", ":", " ", "\n", "[[", "]]", "[", "]", "(", ")", "**"),
        *("A", "B", "e", "AA", "F", "7", "letter", "none", "and", ",", "/", ".", "because", "-"),
        *("Explanation", "I cannot judge this.", "correct", "incorrect", "not", "the", "?", "x"),
        *(FORM.format(label) for label in "ABF"),
    ]
)
replies = st.lists(fragments, max_size=12).map("".join) | st.text(max_size=40)
finish_reasons = st.sampled_from(["stop", "length"])
menus = st.sampled_from(
    [letters(2), letters(5), letters(30), words("correct", "incorrect", form="correctness")]
).flatmap(
    lambda menu: st.sampled_from(POLICIES).map(
        lambda reader: words(*menu.labels, form=menu.form, reader=reader)
    )
)


@given(replies, finish_reasons, menus)
def test_a_label_that_is_read_was_written(text, finish_reason, menu):
    reading = read(text, menu, finish_reason)
    if reading.label is None:
        assert reading.outcome not in (Outcome.SCORED, Outcome.FAILED)
    else:
        assert reading.outcome is Outcome.SCORED
        assert reading.label in menu.labels
        assert reading.label.casefold() in text.casefold()


@given(replies, st.sampled_from("ABCDE"), replies, replies, finish_reasons)
def test_nothing_after_the_first_verdict_changes_it(before, label, one, other, finish_reason):
    start = before + FORM.format(label)
    assert read(start + one, letters(), finish_reason) == read(start + other, letters(), "stop")


@given(replies, st.sampled_from("ABCDE"), replies, st.sampled_from([2, 5, 30]), finish_reasons)
def test_stopping_at_a_stop_string_changes_no_reading(before, label, after, n, finish_reason):
    menu = letters(n)
    text = before + FORM.format(label) + after
    ends = [text.find(stop) + len(stop) for stop in stop_strings(menu) if stop in text]
    if ends:
        assert read(text[: min(ends)], menu, "stop") == read(text, menu, finish_reason)
    else:
        assert read(text, menu).label != label


@given(replies, finish_reasons, st.permutations("ABCDE"), st.sampled_from(POLICIES))
def test_the_order_of_the_menu_changes_no_reading(text, finish_reason, order, reader):
    shuffled = words(*order, reader=reader)
    assert read(text, shuffled, finish_reason) == read(text, letters(5, reader), finish_reason)


tails = st.tuples(
    st.sampled_from(["", " ", "\n", ".", ",", ":", ")", "]", " -", "]]", "'s", "**"]),
    st.sampled_from(["", " because", " is it", " short proof", "\nIt adds up", " The", ". Next"]),
).map("".join)


@given(st.sampled_from(["", "[", "[[", "(", "**", '"']), tails, finish_reasons)
def test_no_label_is_favoured(opening, tail, finish_reason):
    readings = {}
    for label in "ABCDE":
        reading = read(f"Best Response: {opening}{label}{tail}", letters(), finish_reason)
        readings[label] = (reading.label == label, reading.outcome)
    assert len(set(readings.values())) == 1


@given(replies, finish_reasons)
def test_a_unanimous_verdict_is_the_first_and_the_last(text, finish_reason):
    unanimous = read(text, letters(5, "unanimous"), finish_reason)
    if unanimous.label is not None:
        assert read(text, letters(5, "first"), finish_reason) == unanimous
        assert read(text, letters(5, "last"), finish_reason) == unanimous


@given(replies, finish_reasons)
def test_a_single_complete_verdict_is_read_by_every_policy(text, finish_reason):
    quiet = text.replace("esponse", "eply").replace("ESPONSE", "EPLY")
    # The statement may not go on with a second label: "[[C]] / [[A]]".
    quiet = f"It is so. {quiet}"
    reply = f"{quiet}\n{FORM.format('C')}\n{quiet}"
    for reader in POLICIES:
        # What was cut off may have named another: only the first verdict is sure then.
        unsure = finish_reason == "length" and reader in ("last", "unanimous")
        expected = "truncated" if unsure else "scored"
        assert read(reply, letters(5, reader), finish_reason).outcome == expected


@pytest.mark.parametrize("n", [2, 3, 26, 27, 60])
def test_every_label_of_a_long_menu_is_read(n):
    menu = letters(n)
    for label in menu.labels:
        assert read(FORM.format(label), menu).label == label
        assert read(f"Best Response: {label}.", menu).label == label
        assert read(f"Best Response: [{label}]", menu).label == label


def test_the_published_rule_knows_no_letter_after_e():
    assert read(FORM.format("G"), letters(8, "schroeder2024")).outcome is Outcome.UNPARSED
    assert read(FORM.format("G"), letters(8)).label == "G"


def test_the_published_rule_reads_letters_that_were_not_on_offer():
    assert read(FORM.format("E"), letters(3, "schroeder2024")).outcome is Outcome.OFF_MENU


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Best Response: [[Could be improved]]", "Could be Improved"),
        ("Best Response: Could be\n improved.", "Could be Improved"),
        ("Best Response: excellent", "Excellent"),
        ("Best Response: Good enough", "Good enough"),
        ("Best Response: Good", "Good"),
        ("**Best Response:** **Bad** because it is", "Bad"),
        ("Best Response: Goodness me", None),
        ("Best Response: [[Awful]]", None),
    ],
)
def test_labels_may_be_words(text, label):
    menu = words("Excellent", "Good", "Good enough", "Could be Improved", "Bad")
    assert read(text, menu).label == label


@pytest.mark.parametrize(("text", "outcome"), [("Awful", "off_menu"), ("letter", "unparsed")])
def test_a_word_off_the_menu_is_a_verdict_and_the_placeholder_none(text, outcome):
    assert read(FORM.format(text), words("Good", "Bad")).outcome == outcome


def test_a_word_cut_off_may_be_the_start_of_another():
    menu = words("Good", "Bad")
    assert read("Best Response: Good", menu, "length").outcome is Outcome.TRUNCATED
    assert read("Best Response: Good", menu, "stop").label == "Good"


def test_labels_that_differ_by_case_alone_are_told_apart():
    menu = words("A", "a")
    assert read(FORM.format("a"), menu).label == "a"
    assert read(FORM.format("A"), menu).label == "A"


def test_numbers_may_be_labels():
    menu = words("1", "2", "10")
    assert read(FORM.format("10"), menu).label == "10"
    assert read("Best Response: 1", menu).label == "1"
    assert read("Best Response: 1.5", menu).outcome is Outcome.UNPARSED


def test_correctness_reads_a_third_word_that_is_on_the_menu():
    menu = words("correct", "incorrect", "unsure", form="correctness")
    assert read("Unsure.", menu).label == "unsure"


def test_a_word_of_the_form_that_is_not_on_the_menu_is_off_menu():
    menu = words("correct", "unsure", form="correctness")
    assert read("incorrect", menu).outcome is Outcome.OFF_MENU


@pytest.mark.parametrize("reader", POLICIES)
def test_a_request_that_can_never_succeed_has_failed(reader):
    reading = read_verdict(None, finish_reason="refused: too long", menu=letters(5, reader))
    assert reading == Reading(None, Outcome.FAILED)


@pytest.mark.parametrize("reader", POLICIES)
def test_no_text_is_no_verdict(reader):
    reading = read_verdict(None, finish_reason="stop", menu=letters(5, reader))
    assert reading == Reading(None, Outcome.UNPARSED)


def test_an_unknown_form_is_the_callers_mistake():
    with pytest.raises(SweepError, match=r"best_response, .*correct_answer, got 'mark'"):
        read("x", words("A", "B", form="mark"))
    with pytest.raises(SweepError, match="got 'mark'"):
        stop_strings(words("A", "B", form="mark"))


def test_an_unknown_policy_is_the_callers_mistake():
    with pytest.raises(SweepError, match=r"expected first, last.* got 'best'"):
        read("x", letters(5, "best"))


def test_stop_strings_are_the_complete_form_in_the_menus_order():
    assert stop_strings(words("B", "AA")) == ("Best Response: [[B]]", "Best Response: [[AA]]")


@pytest.mark.parametrize("reader", ["last", "unanimous", "schroeder2024"])
def test_no_reply_is_stopped_early_under_another_policy(reader):
    assert stop_strings(letters(5, reader)) == ()


def test_a_word_has_no_stop_string():
    assert stop_strings(words("correct", "incorrect", form="correctness")) == ()


def test_every_template_declares_a_form_that_can_be_read():
    declared = {
        load_template(protocol, name).form
        for protocol in ("best_of", "correctness", "rating", "think_twice")
        for name in shipped_templates(protocol)
    }
    # What a model chose in its second step is a verdict too, and no template is of that step alone.
    assert declared | {"final_answer"} == set(FORMS)


def test_the_instruction_itself_holds_no_verdict():
    for name in ("default", "paraphrase", "reason_first"):
        for text in load_template("best_of", name).texts.values():
            assert read(text, letters()).outcome is Outcome.UNPARSED
    for text in load_template("correctness", "default").texts.values():
        reading = read(text.replace("{", "").replace("}", ""), words("correct", "incorrect"))
        assert reading.outcome is Outcome.UNPARSED


def test_the_reader_has_a_version():
    assert READER_VERSION == "5"


def test_long_runs_of_blanks_are_read_in_time():
    text = "Best Response:" + " " * 20_000 + "[A]" + " \n" * 20_000 + "I" * 20_000
    assert read(text, letters()).label == "A"
