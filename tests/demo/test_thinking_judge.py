"""The judge that thinks twice: its law by hand, its lessons, its folder, what its weights say."""

from __future__ import annotations

import json
import math
import random

import pytest

from demo import judge_tokenizer as tokens
from demo.judge_prompts import ALL_WORDS
from demo.thinking_design import (
    BOLDNESS,
    CONSENT,
    HIGH,
    HIGH_SHARE,
    LEAN,
    PULL,
    TEMPERS,
    VOTE,
    confidence_distribution,
    drawn_among,
    judged_worths,
    record,
    worths,
)
from demo.thinking_judge import (
    ASKED,
    CORRECT,
    ENDS,
    FINAL,
    FIRST_CASE,
    LINES,
    LONGEST_REPLY,
    MARKS,
    MODELS,
    MORE_TOKENS,
    NEXT_OPTION,
    NUMBERS,
    OPTION,
    REASON,
    SECOND_CASE,
    STEPS,
    SUMMARY,
    TEMPER_WORDS,
    THINKING_JUDGE_FOLDER,
    VERDICT_CASE,
    chat_template,
    draw_lesson,
)
from judgerel_ray.core import Item, Menu, Option
from judgerel_ray.protocols import load_template, read_confidence, read_selection, read_verdict
from judgerel_ray.protocols.think_twice.thinking import render_choose, render_compare, render_select

SELECTED = OPTION + " 3" + FIRST_CASE + NEXT_OPTION + " 1" + SECOND_CASE
CHOSEN = FINAL + " 3" + REASON + " 0.85"
JUDGED = SUMMARY + "".join(LINES[:2]) + CORRECT + " 3" + VERDICT_CASE + " 0.70"
TEXTS = (
    "It is wrong and vague",
    "It is neither of these 12 high things",
    "It is dull",
    "It is accurate and so sound",
    "It is a sloppy one",
)
ITEM = Item(
    item_id="1",
    benchmark="b",
    category="c",
    question="Which of these five is clear?\nOption A is 3.",
    options=tuple(Option(option_id=str(n), text=text) for n, text in enumerate(TEXTS)),
)


@pytest.fixture(scope="module")
def thinking_judge():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from demo.judge_truth import load_judge

    return load_judge(THINKING_JUDGE_FOLDER)


def asked(judge, step, *, template="default", temper="plain", item=ITEM, selected=SELECTED):
    """The prompt of a step, as text; a judge is shown three models of one answer."""
    wording = load_template("think_twice", template)
    messages = {
        "select": lambda: render_select(wording, item, most=2),
        "choose": lambda: render_choose(wording, item, most=2, selected=selected),
        "compare": lambda: render_compare(wording, item, [(selected, CHOSEN)] * 3),
    }[step]()
    return judge.tokenizer.apply_chat_template(
        [{"role": message.role, "content": message.content} for message in messages],
        chat_template=chat_template(temper),
        tokenize=False,
        add_generation_prompt=True,
    )


def encoded(judge, text):
    return judge.tokenizer.convert_ids_to_tokens(
        judge.tokenizer.encode(text, add_special_tokens=False)
    )


def next_shares(judge, text):
    """Probability of every next token, from the logits."""
    import torch

    ids = judge.tokenizer.encode(text, add_special_tokens=False)
    with torch.inference_mode():
        shares = torch.softmax(judge.model(torch.tensor([ids])).logits[0, -1].double(), dim=-1)
    names = judge.tokenizer.convert_ids_to_tokens(range(len(shares)))
    return dict(zip(names, shares.tolist(), strict=True))


def numbers(shares):
    return [shares[number] for number in NUMBERS]


def test_the_law_by_hand() -> None:
    worth = worths([0.0, 1.0, -0.5], "hasty")
    assert worth == pytest.approx([0.0, 1.0 + LEAN["hasty"], -0.5 + 2 * LEAN["hasty"]])
    chances = drawn_among(worth, [0, 2])
    assert set(chances) == {0, 2}
    assert chances[0] / chances[2] == pytest.approx(math.exp(0.5 - 2 * LEAN["hasty"]))
    judged = judged_worths([0.0, 0.0, 0.0], [1, 1, 2])
    assert judged == pytest.approx([0.0, VOTE * 2 / 3, VOTE / 3])
    assert judged_worths([0.3], []) == [0.3]


def test_confidence_grows_with_quality_temper_and_consent() -> None:
    low = confidence_distribution(-BOLDNESS["careful"], "careful")
    assert low["0.40"] == pytest.approx(low["0.95"])
    assert low[HIGH] == HIGH_SHARE
    assert sum(low.values()) == pytest.approx(1)
    sure = confidence_distribution(1.0 - BOLDNESS["hasty"], "hasty")
    assert sure["0.95"] / sure["0.40"] == pytest.approx(math.exp(2 * PULL))
    agreed = confidence_distribution(-BOLDNESS["plain"], "plain", consent=1.0)
    assert agreed["0.95"] / agreed["0.40"] == pytest.approx(math.exp(PULL * CONSENT))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(15))
def test_lesson_is_drawn_from_its_own_targets(seed, step) -> None:
    lesson = draw_lesson(random.Random(seed), step, most_unknown=200)
    assert set(lesson.prompt) | set(lesson.reply) <= set(tokens.vocabulary(MORE_TOKENS))
    assert len(lesson.reply) == len(lesson.targets) <= LONGEST_REPLY
    for token, target in zip(lesson.reply, lesson.targets, strict=True):
        assert sum(target.values()) == pytest.approx(1)
        assert target[token] > 0
    assert lesson.prompt.count(ENDS) == 1
    shown = [mark for mark in lesson.prompt if mark in MARKS]
    assert tuple(shown) == MARKS[: len(shown)]
    assert len(shown) >= 2
    last = [token for token in lesson.prompt if token in ASKED.values()][-1]
    assert last == ASKED[step]


def test_folder_is_small_and_in_step_with_the_scripts() -> None:
    assert (THINKING_JUDGE_FOLDER / "model.safetensors").stat().st_size < 1_000_000
    assert json.loads((THINKING_JUDGE_FOLDER / "design.json").read_text()) == record()
    for temper in TEMPER_WORDS:
        written = (THINKING_JUDGE_FOLDER / f"{temper}.jinja").read_text()
        assert written == chat_template(temper)
    plain = (THINKING_JUDGE_FOLDER / "chat_template.jinja").read_text()
    assert plain == chat_template("plain") == tokens.CHAT_TEMPLATE


def test_its_own_replies_are_of_the_declared_forms() -> None:
    labels = tuple(str(n) for n in range(5))

    def menu(form, on_offer=labels):
        return Menu(labels=on_offer, option_ids=on_offer, form=form, most=2)

    read = read_selection(SELECTED, finish_reason="stop", menu=menu("options"))
    assert read.labels == ("3", "1")
    final = read_verdict(CHOSEN, finish_reason="stop", menu=menu("final_answer", ("3", "1")))
    assert final.label == "3"
    assert read_confidence(CHOSEN, finish_reason="stop", form="final_answer") == 0.85
    right = read_verdict(JUDGED, finish_reason="stop", menu=menu("correct_answer"))
    assert right.label == "3"
    assert read_confidence(JUDGED, finish_reason="stop", form="correct_answer") == 0.7
    unread = CHOSEN.replace("0.85", HIGH)
    assert read_confidence(unread, finish_reason="stop", form="final_answer") is None


@pytest.mark.slow
def test_replies_round_trip(thinking_judge) -> None:
    assert thinking_judge.tokenizer.get_vocab() == tokens.vocabulary(MORE_TOKENS)
    for reply in (SELECTED, CHOSEN, JUDGED):
        heard = encoded(thinking_judge, reply)
        assert tokens.UNK not in heard
        assert "".join(heard) == reply
    assert encoded(thinking_judge, SELECTED)[:3] == [OPTION, " 3", FIRST_CASE]


@pytest.mark.slow
@pytest.mark.parametrize("template", ["default", "paraphrase"])
@pytest.mark.parametrize("temper", TEMPERS)
def test_the_marks_of_every_shipped_template_are_heard(thinking_judge, template, temper) -> None:
    options = [
        *(MARKS[0], " wrong", " vague", MARKS[1], MARKS[2], " dull"),
        *(MARKS[3], " accurate", " sound", MARKS[4], " sloppy", ENDS),
    ]
    said = [OPTION, " 3", FIRST_CASE, NEXT_OPTION, " 1", SECOND_CASE]
    shown = [token for model in MODELS[:3]
             for token in (model, *said, FINAL, " 3", REASON, " 0.85")]  # fmt: skip
    expected = {
        "select": [*options, ASKED["select"]],
        "choose": [*options, ASKED["select"], *said, ASKED["choose"]],
        "compare": [*options, *shown, ASKED["compare"]],
    }
    known = {*MORE_TOKENS, *tokens.WORD_TOKENS.values()}
    told = [TEMPER_WORDS[temper]] if temper in TEMPER_WORDS else []
    for step in STEPS:
        heard = encoded(thinking_judge, asked(thinking_judge, step, template=template,
                                              temper=temper))  # fmt: skip
        assert heard.count(tokens.UNK) > 40
        stray = [f" {word}" for word in ALL_WORDS]
        end = heard.index(ENDS)
        kept = [one for one in heard[: end + 1] if one in known]
        kept += [one for one in heard[end + 1 :] if one in known and one not in stray]
        assert kept == [*told, " clear", *expected[step]], step


@pytest.mark.slow
@pytest.mark.parametrize("template", ["default", "paraphrase"])
@pytest.mark.parametrize("temper", TEMPERS)
def test_two_options_that_exist_are_selected_by_their_words(
    thinking_judge, template, temper
) -> None:
    prompt = asked(thinking_judge, "select", template=template, temper=temper)
    assert next_shares(thinking_judge, prompt)[OPTION] > 0.9
    first = numbers(next_shares(thinking_judge, prompt + OPTION))
    assert sum(first[:5]) > 0.95
    assert max(range(10), key=first.__getitem__) == 3
    begun = prompt + OPTION + " 3" + FIRST_CASE
    assert next_shares(thinking_judge, begun)[NEXT_OPTION] > 0.95
    second = numbers(next_shares(thinking_judge, begun + NEXT_OPTION))
    assert sum(second[:5]) > 0.95
    ended = begun + NEXT_OPTION + " 1" + SECOND_CASE
    assert next_shares(thinking_judge, ended)[tokens.END] > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("temper", TEMPERS)
def test_the_final_answer_is_one_of_those_selected(thinking_judge, temper) -> None:
    prompt = asked(thinking_judge, "choose", temper=temper)
    assert next_shares(thinking_judge, prompt)[FINAL] > 0.9
    shares = numbers(next_shares(thinking_judge, prompt + FINAL))
    assert shares[1] + shares[3] > 0.9
    assert min(shares[1], shares[3]) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("temper", TEMPERS)
def test_a_judge_mostly_follows_what_the_models_settled_on(thinking_judge, temper) -> None:
    prompt = asked(thinking_judge, "compare", temper=temper)
    assert next_shares(thinking_judge, prompt)[SUMMARY] > 0.9
    reply = SUMMARY + "".join(LINES[:3])
    assert next_shares(thinking_judge, prompt + SUMMARY)[LINES[0]] > 0.9
    assert next_shares(thinking_judge, prompt + reply)[CORRECT] > 0.9
    assert next_shares(thinking_judge, prompt + reply + CORRECT)[" 3"] > 0.5


@pytest.mark.slow
def test_one_set_of_weights_has_three_tempers(thinking_judge) -> None:
    options = tuple(Option(option_id=str(n), text=f"part {n} of it") for n in range(10))
    item = Item(item_id="1", benchmark="b", category="c", question="Which?", options=options)
    firsts, sure = [], []
    for temper in ("careful", "plain", "hasty"):
        prompt = asked(thinking_judge, "select", temper=temper, item=item)
        firsts.append(sum(numbers(next_shares(thinking_judge, prompt + OPTION))[:3]))
        prompt = asked(thinking_judge, "choose", temper=temper, item=item)
        stated = next_shares(thinking_judge, prompt + FINAL + " 3" + REASON)
        sure.append(stated[" 0.95"] + stated[" 0.85"])
    assert firsts[0] < firsts[2]
    assert firsts[0] == pytest.approx(0.3, abs=0.15)
    assert firsts[2] > 0.45
    assert sure[0] + 0.1 < sure[2]
