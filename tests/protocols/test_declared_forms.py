"""Forms that templates declare: what is written by their example is read back, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from judgerel_ray.core import FormSpec, Menu, Outcome, SweepError
from judgerel_ray.protocols import fill_example, load_scale, read_verdict, scale_labels
from judgerel_ray.protocols.registry import protocol_named
from judgerel_ray.protocols.replies.declared_forms import MOST_READ, declared_form
from judgerel_ray.protocols.replies.verdicts import read_rating

BRACKETS = {"pattern": r"\[\[(?P<verdict>[^\[\]]+)\]\]", "example": "Two is clearer. [[{verdict}]]"}
ANSWER = {"pattern": r"(?i)answer:\s*(?P<verdict>\w+)", "example": "Answer: {verdict}"}
WINNER = {"json": "winner", "example": '{"why": "it fits", "winner": "{verdict}"}'}


def menu_of(table, *, reader="first", n=2, protocol="best_of", **more):
    """The menu of n options that a declared form is read by."""
    own = declared_form({**table, **more}, kind=protocol_named(protocol), where={})
    labels = tuple("ABCDEFGHIJ"[:n])
    words = {
        "letters": tuple((label,) for label in labels),
        "numbers": tuple((str(place),) for place in range(1, n + 1)),
        "words": own.words,
    }[own.naming]
    if own.ties:
        labels, words = (*labels, "tie"), (*words, own.ties)
    ids = tuple(f"id-{label}" for label in labels)
    return Menu(labels=labels, option_ids=ids, form="own", reader=reader, declared=own, words=words)


def read(text, menu, finish_reason="stop"):
    reading = read_verdict(text, finish_reason=finish_reason, menu=menu)
    return reading.label or reading.outcome.value


@pytest.mark.parametrize(
    ("table", "text", "expected"),
    [
        (BRACKETS, "My final verdict is: [[A]]", "A"),
        (BRACKETS, "[[C]]", "tie"),
        (BRACKETS, "[[ b ]]", "B"),
        (BRACKETS, "[[**B**]].", "B"),
        (BRACKETS, "[[D]]", "off_menu"),
        (BRACKETS, "[[N/A]]", "refused"),
        (BRACKETS, "It is A.", "unparsed"),
        (BRACKETS, "", "unparsed"),
        (BRACKETS, "I cannot judge this.", "refused"),
        (ANSWER, "**Answer:** A", "unparsed"),
        (ANSWER, "answer: b\n\nThe second one is longer.", "B"),
        (ANSWER, "Answer: Alpha", "off_menu"),
        (WINNER, '{"winner": "A"}', "A"),
        (
            WINNER,
            '```json\n{\n  "winner": "B",\n  "why": "a {brace} and a\nline"\n}\n```\nDone.',
            "B",
        ),
        (WINNER, 'As asked: {"winner": "C"} is all I say.', "tie"),
        (WINNER, '{"winner": "A", "nested": {"winner": "B"}}', "A"),
        (WINNER, '{"other": 1} {"winner": "B"}', "B"),
        (WINNER, '{"nested": {"winner": "B"}}', "unparsed"),
        (WINNER, '{"winner": null}', "off_menu"),
        (WINNER, '{"winner": ["A", "B"]}', "off_menu"),
        (WINNER, '{"winner": ["A"]}', "A"),
        (WINNER, '{"winner": "A", "winner": "B"}', "off_menu"),
        (WINNER, '{"winner": "A", "winner": "A"}', "A"),
        (WINNER, '{"why": {"winner": "B"}, "winner": A}', "unparsed"),
        (WINNER, "{'winner': 'A'}", "unparsed"),
        (WINNER, '{"winner": "N/A"}', "refused"),
    ],
)
def test_replies_are_read_as_declared(table, text, expected):
    assert read(text, menu_of(table, tie="C", refusal="N/A")) == expected


@pytest.mark.parametrize(
    ("reader", "text", "expected"),
    [
        ("first", "[[A]] or rather [[B]]", "A"),
        ("last", "[[A]] or rather [[B]]", "B"),
        ("unanimous", "[[A]] or rather [[B]]", "conflicting"),
        ("unanimous", "[[A]], yes, [[A]]", "A"),
        ("unanimous", "[[A]], but [[N/A]]", "conflicting"),
        ("first", "[[Z]] no, [[A]]", "off_menu"),
        ("last", 'You asked for "[[A]]" or "[[B]]". Mine is [[B]]', "B"),
    ],
)
def test_the_policy_says_which_of_several_counts(reader, text, expected):
    assert read(text, menu_of(BRACKETS, reader=reader, refusal="N/A")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>[[A]] it seems</think>\n[[B]]", "B"),
        ("Maybe [[A]].</think> [[B]]", "B"),
        # A thought that quotes a reply which closes it: only what follows the last one counts.
        ('<think>It says "</think> [[A]]", so no.</think>[[B]]', "B"),
        ("<think>[[A]] and on and on", "unparsed"),
        ("<THINKING>[[A]]</THINKING>[[B]]", "B"),
        ("It leaks <think> into its answer. [[A]]", "A"),
    ],
)
def test_what_is_thought_is_not_read(text, expected):
    assert read(text, menu_of(BRACKETS)) == expected


@pytest.mark.parametrize(
    ("table", "reader", "text", "expected"),
    [
        (BRACKETS, "first", "[[A]]", "A"),
        (BRACKETS, "first", "[[A]] because it", "A"),
        (BRACKETS, "first", "[[A", "truncated"),
        (ANSWER, "first", "Answer: A", "truncated"),  # of "Alpha", for all that is known
        (ANSWER, "first", "Answer: A\n", "A"),
        (ANSWER, "first", "Answer: A. Answer: B", "A"),
        (BRACKETS, "last", "[[A]] no, wait", "truncated"),
        (BRACKETS, "unanimous", "[[A]] no, wait", "truncated"),
        (BRACKETS, "unanimous", "[[A]] no, [[B]] and", "conflicting"),
        (WINNER, "first", '{"winner": "A", "why": "it', "truncated"),
        (WINNER, "first", '{"winner": "A"} and then', "A"),
        (BRACKETS, "first", "<think>[[A]] it", "truncated"),
    ],
)
def test_a_reply_cut_off_counts_only_what_is_whole(table, reader, text, expected):
    assert read(text, menu_of(table, reader=reader), "length") == expected


def test_a_word_that_goes_on_is_not_whole_where_a_reply_is_cut():
    menu = menu_of(
        {"pattern": "Answer: (?P<verdict>AB|A)", "example": "Answer: {verdict}"},
        options=["A", "AB"],
    )
    assert read("Answer: A", menu) == "A"
    assert read("Answer: A", menu, "length") == "truncated"
    assert read("Answer: AB", menu, "length") == "B"


def test_options_go_by_numbers_lists_and_truth_values():
    numbers = {**WINNER, "options": "numbers", "tie": 0}
    assert read('{"winner": 2}', menu_of(numbers)) == "B"
    assert read('{"winner": 2.0}', menu_of(numbers)) == "B"
    assert read('{"winner": "2"}', menu_of(numbers)) == "B"
    assert read('{"winner": 0}', menu_of(numbers)) == "tie"
    assert read('{"winner": 3}', menu_of(numbers)) == "off_menu"
    words = {**BRACKETS, "options": [["first", "model 1"], ["second", "model 2"]]}
    assert read("[[Model  2]]", menu_of(words)) == "B"
    assert read("[[third]]", menu_of(words)) == "off_menu"
    right = {"json": "correct", "example": '{"correct": {verdict}}', "options": [True, False]}
    assert read('{"correct": false}', menu_of(right, protocol="correctness")) == "B"


def test_paths_lead_into_objects_and_arrays():
    nested = {"json": "$.result.scores[1].winner", "example": "{verdict}"}
    assert read('{"result": {"scores": [0, {"winner": "B"}]}}', menu_of(nested)) == "B"
    assert read('{"result": {"scores": [{"winner": "B"}]}}', menu_of(nested)) == "unparsed"
    quoted = {"json": '["the winner.is"]', "example": "{verdict}"}
    assert read('{"the winner.is": "A"}', menu_of(quoted)) == "A"
    top = {"json": "[0].winner", "example": "{verdict}"}
    assert read('See [1]: [{"winner": "A"}]', menu_of(top)) == "A"


def test_a_rating_stands_in_a_form_of_ones_own():
    scale = load_scale("points5")
    labels = scale_labels(scale)
    table = {"json": "score", "example": '{"score": {verdict}}', "refusal": "null"}
    own = declared_form(table, kind=protocol_named("rating"), where={})
    menu = Menu(labels=labels, option_ids=labels, form="own", scale=scale, declared=own)
    read_one = {
        text: read_rating(text, finish_reason="stop", menu=menu)
        for text in (
            '{"score": 4}', '{"score": "4/5"}', '{"score": 4.5}', '{"score": 9}', '{"score": null}',
            '{"score": "four"}', "Rating: [[4]]",
        )
    }  # fmt: skip
    assert [(one.score, one.outcome.value) for one in read_one.values()] == [
        (4.0, "scored"), (4.0, "scored"), (None, "off_menu"), (None, "off_menu"),
        (None, "refused"), (4.0, "scored"), (None, "unparsed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"example": "{verdict}"}, "got neither"),
        ({**BRACKETS, "json": "winner"}, "got both"),
        ({"pattern": r"\[\[(\w)\]\]", "example": "[[{verdict}]]"}, "a group named verdict"),
        ({"pattern": r"(?P<verdict>(", "example": "{verdict}"}, "unclosed group"),
        ({"pattern": r"(?<!x)(?P<verdict>A)", "example": "{verdict}"}, "look-around"),
        ({"pattern": r"(?P<verdict>(\w{1,999}){1,999})", "example": "{verdict}"}, "size limit"),
        ({"pattern": BRACKETS["pattern"], "example": "[[A]]"}, "where the word for the verdict"),
        ({"pattern": BRACKETS["pattern"]}, "example must be"),
        ({"pattern": "(?P<verdict>A)\n\x1b(", "example": "{verdict}"}, r"got '.*\\n\\x1b"),
        ({"json": "a..b", "example": "{verdict}"}, "path of keys and places"),
        ({"json": "$", "example": "{verdict}"}, "path of keys and places"),
        ({**BRACKETS, "tie": "A", "options": ["a", "b"]}, "'A' names option 1 and tie"),
        ({**BRACKETS, "tie": ""}, "tie must be words"),
        ({**BRACKETS, "tie": "a\nb"}, "tie must be words"),
        ({**BRACKETS, "options": "romans"}, "options must be letters, numbers, texts, or a list"),
        ({**BRACKETS, "options": ["A"]}, "options must be"),
        ({**BRACKETS, "verdict": "last"}, "stands above the table"),
        ({**BRACKETS, "choices": ["A"]}, "unknown key"),
        ({**BRACKETS, "example": 3}, "example must be a text"),
    ],
)
def test_what_is_declared_wrong_is_refused_in_one_line(table, said):
    with pytest.raises(SweepError, match=said) as caught:
        declared_form(table, kind=protocol_named("best_of"), where={"file": "t"})
    assert "\n" not in str(caught.value)


def test_other_protocols_have_no_ties_and_ratings_no_options():
    with pytest.raises(SweepError, match="tie needs protocol best_of"):
        declared_form({**BRACKETS, "tie": "C"}, kind=protocol_named("correctness"), where={})
    with pytest.raises(SweepError, match="may be rated is the scale's"):
        declared_form({**BRACKETS, "options": ["1", "2"]}, kind=protocol_named("rating"), where={})
    with pytest.raises(SweepError, match="a list of two"):
        declared_form(
            {**BRACKETS, "options": ["1", "2", "3"]}, kind=protocol_named("correctness"), where={}
        )


words = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp", "Zs")), min_size=1, max_size=8
) | st.text(st.sampled_from(list(".*+?()[]{}|^$\\/'\"`<>:-_#&~aA1 ")), min_size=1, max_size=6)
menus = st.lists(words.filter(str.strip), min_size=2, max_size=5, unique_by=str.casefold)


def declared(table, names):
    """A menu of these words, where they name options apart."""
    try:
        return menu_of({**table, "options": names}, n=len(names))
    except SweepError:
        return None


BEFORE = ["", "So be it: ", "```json\n", "{ not json, ", '"quoted" ']
AFTER = ["", "\n```\nThat is all.", " {", ' {"other": {"winner": 1}}']


@pytest.mark.slow
@settings(max_examples=300)
@given(menus, st.sampled_from(BEFORE), st.sampled_from(AFTER))
def test_json_of_any_words_is_read_back(names, before, after):
    menu = declared({"json": "out.winner", "example": '{"out": {"winner": "{verdict}"}}'}, names)
    assume(menu is not None)
    for label, (word,) in zip(menu.labels, menu.words, strict=True):
        assert read(before + fill_example(menu.declared, word) + after, menu) == label
        spelled = json.dumps({"why": [1, {"x": word}], "out": {"more": {}, "winner": word}})
        assert read(before + spelled + after, menu) == label


@pytest.mark.slow
@settings(max_examples=300)
@given(menus, st.sampled_from(["", "So be it: ", "(a+)+ [[", "\\d \x02\x03 "]))
def test_patterns_read_back_any_words_that_do_not_hold_their_own_marks(names, before):
    menu = declared(
        {"pattern": r"<v>(?P<verdict>.*?)</v>", "example": "It is <v>{verdict}</v>"}, names
    )
    assume(menu is not None)
    for label, (word,) in zip(menu.labels, menu.words, strict=True):
        if "</v>" not in word:
            assert read(before + fill_example(menu.declared, word) + " and more", menu) == label


# Pieces of the forms among other text: most texts of random characters hold no verdict at all.
PIECES = ["[[A]]", "[[B]]", "[[Z]]", "[[", "]]", "Answer: B", "Answer: Z", '{"winner": "A"}',
          '{"winner": 3}', '[[0, "A"]]', "I cannot judge this.", "<think>", "</think>"]  # fmt: skip
replies = st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=5).map(" ".join)


@pytest.mark.slow
@settings(max_examples=200)
@given(replies, st.sampled_from(["stop", "length"]))
def test_a_reply_gives_a_label_of_the_menu_or_none_with_the_reason(text, finish_reason):
    for table in (BRACKETS, ANSWER, WINNER, {"json": "[0][1]", "example": "{verdict}"}):
        for reader in ("first", "last", "unanimous"):
            menu = menu_of(table, reader=reader)
            reading = read_verdict(text, finish_reason=finish_reason, menu=menu)
            if reading.outcome is Outcome.SCORED:
                assert reading.label in menu.labels
            else:
                assert reading.label is None


HOSTILE = {
    "letters": "a" * 100_000 + "!",
    "braces": "{" * 100_000,
    "nested": '{"winner":' * 100_000,
    "quoted": '{"' * 20_000,
    "arrays": "[" * 100_000,
    "brackets": "[[A" * 10_000,
    "thoughts": "<think>" * 15_000 + "</think" * 15_000,
    "number": '{"winner": ' + "9" * 50_000 + "}",
    "long": "a" * (MOST_READ + 1),
}


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name, marks=pytest.mark.slow if name == "braces" else ())
        for name, text in HOSTILE.items()
    ],
)
@pytest.mark.parametrize(
    "table",
    [
        {"pattern": r"(?P<verdict>(a+)+)$", "example": "{verdict}"},
        {"pattern": r"(?P<verdict>(\w|\w\w)*)\]\]", "example": "{verdict}]]"},
        WINNER,
        {"json": "[0][0]", "example": "{verdict}"},
    ],
    ids=["nested", "alternation", "json", "arrays"],
)
def test_no_reply_takes_a_form_for_ever(table, text):
    menu = menu_of(table)
    # A backtracking engine needs 2 ** 100,000 steps for the first, and never returns.
    found = {read(text, menu), read(text, menu, "length")}
    assert not found & {"A", "B", "C"}


def test_the_declaration_is_hashable_and_small_as_menus_go_to_every_node():
    menu = menu_of(BRACKETS, tie=["C", "tie"])
    assert hash(menu) == hash(menu_of(BRACKETS, tie=["C", "tie"]))
    assert isinstance(menu.declared, FormSpec)
