"""No verdict comes from a thought, whatever marks it and however the reply ends."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Completion, FormSpec, Menu, Scale, request_key
from judgerel_ray.engines.engine import cut_after, stopped_in_thought
from judgerel_ray.engines.next_tokens import verdict_place
from judgerel_ray.protocols import (
    may_think,
    opening_mark,
    read_assessment,
    read_confidence,
    read_selection,
    read_verdict,
    settled_reading,
    split_answer,
    split_thought,
    stop_strings,
)

# What stands around a thought, and whether the reply begins inside it.
AROUND = {
    "think": ("<think>{}</think>", True),
    "thinking": ("<thinking>\n{}\n</thinking>\n\n", True),
    "thought": ("<thought>{}</thought>", True),
    "prefixed": ("<seed:think>{}</seed:think>", True),
    "brackets": ("[THINK]{}[/THINK]", True),
    "begin of thought": ("<|begin_of_thought|>{}<|end_of_thought|>", True),
    "start thinking": ("<|START_THINKING|>{}<|END_THINKING|>", True),
    "triangles": ("◁think▷{}◁/think▷", True),
    "unused tokens": ("<unused94>thought\n{}<unused95>", True),
    "one pipe": ("<|channel>thought\n{}<channel|>", True),
    "closing mark alone": ("{}</think>", False),
    "closing bracket alone": ("{}[/THINK]", False),
    "twice": ("<think>{0}</think>\n<think>{0}</think>", True),
    "quoting marks": ("<think>It says <think>{0}</think>, and {0}</think>", True),
    "quoting a closing mark": ('<think>It says "</think> {0}", so {0}</think>', True),
    "quoting an opening mark": ("<think>It says <think> and\n{0}</think>", True),
    "channels": (
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>", True
    ),
    "channels with a preamble": (
        "<|channel|>analysis<|message|>{0}<|end|><|start|>assistant<|channel|>commentary<|message|>"
        "{0}<|end|><|start|>assistant<|channel|>final<|message|>", True,
    ),
    "bare channels": ("analysisWe compare. {}assistantfinal", True),
    "bare channels, opened before": ("{}assistantfinal", False),
}  # fmt: skip

POINTS = Scale(name="points5", level="interval", lowest=1, highest=5)
NUMBERS = ("1", "2", "3", "4", "5")


def menu_of(form, reader="first"):
    fields = {"labels": ("A", "B"), "option_ids": ("x", "y"), "form": form, "reader": reader}
    if form in ("rating", "score"):
        fields |= {"labels": NUMBERS, "option_ids": NUMBERS, "scale": POINTS}
    elif form == "correctness":
        fields |= dict.fromkeys(("labels", "option_ids"), ("correct", "incorrect"))
    elif form in ("final_answer", "correct_answer"):
        fields |= {"labels": ("1", "2")}
    elif form == "json":
        own = FormSpec(path=("verdict",), example='{"verdict": "{verdict}"}')
        fields |= {"form": "own", "declared": own, "words": (("A",), ("B",))}
    elif form == "own":
        own = FormSpec(pattern=r"\[\[(?P<verdict>\w+)\]\]", example="[[{verdict}]]")
        fields |= {"declared": own, "words": (("A",), ("B",))}
    return Menu(**fields)


# How each form states its two verdicts.
STATED = {
    "best_response": ("Best Response: [[A]]", "Best Response: [[B]]"),
    "correctness": ("It is correct.", "It is incorrect."),
    "rating": ("Rating: [[4]]", "Rating: [[2]]"),
    "score": ("Score: 4", "Score: 2"),
    "final_answer": ("Final Answer: 1", "Final Answer: 2"),
    "correct_answer": ("Correct Answer: 1", "Correct Answer: 2"),
    "own": ("[[A]]", "[[B]]"),
    "json": ('{"verdict": "A"}', '{"verdict": "B"}'),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", STATED)
@pytest.mark.parametrize("reader", ["first", "last", "unanimous"])
def test_the_reply_is_read_and_not_the_thought(around, form, reader):
    menu, (right, wrong) = menu_of(form, reader), STATED[form]
    mark, opens = AROUND[around]
    thought = mark.format(f"{wrong} No, wait.")
    assert (
        read_verdict(thought + right, finish_reason="stop", menu=menu).label
        == menu.labels[3 if form in ("rating", "score") else 0]
    )
    nothing_said = read_verdict(thought + "Hm.", finish_reason="stop", menu=menu)
    assert nothing_said.outcome == "unparsed"
    if opens:
        begun = mark.partition("{")[0].partition('"</think>')[0]
        cut = read_verdict(f"{begun}{wrong}\n{wrong}", finish_reason="length", menu=menu)
        assert cut.outcome == "truncated"
        assert settled_reading(f"{begun}{wrong}", finish_reason=None, menu=menu) is None


@pytest.mark.slow
def test_of_five_thousand_replies_none_is_read_by_its_thought():
    draw = random.Random(20261126)
    fillers = ["So", " the first", "\n", "is better", ". ", "**", "however,", " wait", "\n\n", "1."]
    n_read = 0
    for _ in range(5_000):
        form = draw.choice(list(STATED))
        mark, opens = AROUND[draw.choice(list(AROUND))]
        right, wrong = STATED[form]
        words = [wrong if draw.random() < 0.4 else draw.choice(fillers) for _ in range(8)]
        thought = mark.format(" ".join([*words, wrong, "."]))
        said = draw.random() < 0.5
        ended = draw.choice(["stop", "length"])
        text = thought + (right + "\n" if said else "")
        # Cut behind a closing mark that the thought quotes, it could be a reply.
        if opens and not said and "It says" not in mark and draw.random() < 0.5:
            text = text[: draw.randrange(len(mark.partition("{")[0]), len(thought) - 1)]
            ended = "length"
        menu = menu_of(form)
        label = read_verdict(text, finish_reason=ended, menu=menu).label
        expected = menu.labels[3 if form in ("rating", "score") else 0]
        assert label == (expected if said else None), text
        n_read += said
    assert n_read > 2_000


def test_only_the_published_rule_reads_thoughts():
    text = "<think>Best Response: [[B]]</think> none of them"
    menu = menu_of("best_response", "schroeder2024")
    assert read_verdict(text, finish_reason="stop", menu=menu).label == "B"


def test_selections_confidences_and_assessments_are_read_behind_thoughts_too():
    menu = Menu(labels=("0", "1"), option_ids=("a", "b"), form="options", most=2)
    text = "<think>Option: 0</think>Option: 1"
    assert read_selection(text, finish_reason="stop", menu=menu).labels == ("1",)
    confidence = "<think>Confidence: 0.2</think>Final Answer: 1\nConfidence: 0.9\n"
    assert read_confidence(confidence, finish_reason="stop", form="final_answer") == 0.9
    assert read_assessment("<think>I cannot argue for this.</think>It is short.") is None
    assert read_assessment("<think>It is short.</think>") == "unparsed"
    assert read_assessment("<think>It is short", finish_reason="length") == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "it wrote </think> twice", "verdict": "A"}',
        '<think>B?</think>\n```json\n{"reason": "it wrote </think>", "verdict": "A"}\n```',
        "It leaks <think> into its answer. Best Response: [[A]]",
        'It leaks "<|channel|>analysis" into it. Best Response: [[A]]',
        "analysis of both: the first is better. Best Response: [[A]]",
    ],
)
def test_marks_that_a_reply_quotes_are_no_thoughts(text):
    menu = menu_of("json" if "{" in text else "best_response")
    assert read_verdict(text, finish_reason="stop", menu=menu).label == "A"


PIECES = ("<think>", "</think>", "[[A]]", "a", "\n", " ", '{"a": "', '"}', "assistantfinal",
          "<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|end|>", "analysisWe",
          "<|channel>", "thought", "<channel|>", "<|start|>assistant")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("`</think>` is left in it. Best Response: [[A]]", None),
        ("Best Response: [[A]]\n\nB has a stray `</think>` token; else Best Response: [[B]]", None),
        ("Best Response: [[A]], B shows [THINK] ... [/THINK], else Best Response: [[B]]", None),
        ("It wraps thoughts in <think> and </think>. Best Response: [[A]]", None),
        ("<s><think>Best Response: [[B]]", ""),
        ("\ufeff<think>Best Response: [[B]]", ""),
        ("**<think>** Best Response: [[B]]", ""),
        ('<thinking mode="x">Best Response: [[B]]', ""),
        ("&lt;think&gt;B?&lt;/think&gt;A", "A"),
        ("<longcat_think>B?</longcat_think>A", "A"),
        ("Thinking...\nB?\n...done thinking.\n\nA", "A"),
        ("thinking...\nA", None),
        ("analysiswe need. Best Response: [[B]]", ""),
        ("analysis\nWe compare B\nassistant\nfinal\nA", "A"),
        ("Okay. <think>Best Response: [[B]]", "Okay. "),
    ],
)
def test_marks_as_models_and_servers_write_them(text, reply):
    found = split_thought(text, is_whole=reply not in ("", "Okay. "))
    assert found.reply == (text if reply is None else reply)
    assert found.is_open == (reply in ("", "Okay. "))


@pytest.mark.parametrize(
    "answer",
    [
        "Use this:\n```python\nre.sub(r'<think>.*?</think>', '', text)\n```\nIt removes thoughts.",
        "DeepSeek wraps thoughts in <think> and </think>. Parse them with a regex.",
        "Poem in tags:\n<thoughts>\nroses are red\n</thoughts>\nI hope you like it.",
        "Cut the text at </think>.",
    ],
)
def test_an_answer_about_marks_is_kept_whole(answer):
    assert split_answer(answer).reply == answer
    assert split_answer(f"<think>Hm.</think>\n{answer}").reply == answer


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_is_left_of_a_reply_holds_no_thought(text):
    split = split_thought(text)
    assert split_thought(split.reply).thought is None
    assert len(split.reply) + len(split.thought or "") <= len(text)
    assert split.thought is not None or split.reply == text


@pytest.mark.slow
def test_long_rows_of_marks_are_read_in_time():
    for text in ("<think>" * 40_000 + "</think" * 40_000, "</think>" * 40_000, "{" * 100_000):
        assert split_thought(text).reply in ("", text)


def test_prompts_that_end_inside_a_thought_are_known():
    assert opening_mark("<|im_start|>assistant\n<think>\n") == "<think>"
    assert opening_mark("<|start|>assistant<|channel|>analysis<|message|>").endswith("message|>")
    assert opening_mark("<think>\n\n</think>\n\n") == "" == opening_mark("Say <think> first.")
    assert may_think("?<|assistant|>", "{% if thinking %}<think>{% endif %}")
    assert not may_think("?<|assistant|><think>\n\n</think>\n\n", "{{ '<think>' }}")
    assert not may_think("?", None)


def test_a_stop_string_inside_a_thought_ends_nothing():
    stop = stop_strings(menu_of("best_response"))
    text = "<think>Best Response: [[B]]? No.</think> Best Response: [[A]] since"
    assert cut_after(text, stop) == text.removesuffix(" since")
    assert cut_after("<think>Best Response: [[B]]? No", stop).endswith("No")
    came = completion("<think>Best Response: [[B]]", "stop")
    assert stopped_in_thought(came, stop)
    assert not stopped_in_thought(completion(cut_after(text, stop), "stop"), stop)
    assert not stopped_in_thought(completion("<think>Best Response: [[B]] and", "length"), stop)


def test_the_place_of_a_verdict_is_behind_the_thought():
    words = ["Best Response: [[", "A", "]]?", "</think>", "Best Response: [[", "A", "]]"]
    place = verdict_place(
        range(len(words)), menu=menu_of("best_response"),
        text_of=lambda ids: "".join(words[i] for i in ids),
    )  # fmt: skip
    assert place == 5


def completion(text, finish_reason, thought=None, replication=0):
    return Completion(
        key=request_key("k" * 32, replication), replication=replication, seed=replication,
        text=text, finish_reason=finish_reason, prompt_tokens=9, cached_tokens=None,
        completion_tokens=9, thought=thought,
    )  # fmt: skip
