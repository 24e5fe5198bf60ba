"""The judge that reasons first: its law by hand, its lessons, its folder and its truth."""

from __future__ import annotations

import json
import math
import random

import pytest

from demo import judge_tokenizer as tokens
from demo.judge_design import NO_VERDICT, design_distribution
from demo.reasoning_judge import (
    AHEAD,
    ASKED,
    BEGIN,
    LONGEST_REPLY,
    MORE_TOKENS,
    PULL,
    REASONING_JUDGE_FOLDER,
    TEMPLATE,
    among_unknown,
    draw_lesson,
    lean_distribution,
    record,
    verdict_after,
)
from demo.reasoning_truth import Reasoning, ReasoningTree, true_split
from judgerel_ray.protocols import load_template


@pytest.fixture(scope="module")
def reasoning_judge():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from demo.judge_truth import load_judge

    return load_judge(REASONING_JUDGE_FOLDER)


def encoded(judge, text):
    return judge.tokenizer.convert_ids_to_tokens(
        judge.tokenizer.encode(text, add_special_tokens=False)
    )


def test_who_is_named_is_a_flatter_verdict() -> None:
    law = {"A": 0.64, "B": 0.27, NO_VERDICT: 0.09}
    leans = lean_distribution(law)
    assert set(leans) == {"A", "B"}
    assert leans["A"] / leans["B"] == pytest.approx((64 / 27) ** (2 / 3))


@pytest.mark.parametrize(("strength", "pull"), PULL.items())
def test_being_named_adds_its_pull(strength, pull) -> None:
    plain = design_distribution([0.3, -0.2, 0.1])
    after = verdict_after([0.3, -0.2, 0.1], "B", strength)
    assert sum(after.values()) == pytest.approx(1)
    assert after["B"] / after["A"] == pytest.approx(plain["B"] / plain["A"] * math.exp(pull))
    assert after["C"] / after["A"] == pytest.approx(plain["C"] / plain["A"])


@pytest.mark.parametrize("seed", range(20))
def test_lesson_is_drawn_from_its_own_targets(seed) -> None:
    lesson = draw_lesson(random.Random(seed), most_unknown=50)
    assert set(lesson.prompt) | set(lesson.reply) <= set(tokens.vocabulary(MORE_TOKENS))
    assert len(lesson.reply) == len(lesson.targets) <= LONGEST_REPLY
    for token, target in zip(lesson.reply, lesson.targets, strict=True):
        assert sum(target.values()) == pytest.approx(1)
        assert target[token] > 0
    speaks = lesson.reply[0] != tokens.SILENT[0]
    assert (lesson.reply[0] == BEGIN) == (ASKED in lesson.prompt and speaks)


def test_unknown_words_stand_anywhere_but_in_the_form() -> None:
    prompt = (tokens.BOS, ASKED, tokens.BEST, tokens.RESPONSE, tokens.OPEN, tokens.MARKS["A"])
    spread = among_unknown(random.Random(2), prompt, 400)
    assert spread.count(tokens.UNK) == 400
    assert tuple(token for token in spread if token != tokens.UNK) == prompt
    place = spread.index(tokens.BEST)
    assert spread[place : place + 3] == (tokens.BEST, tokens.RESPONSE, tokens.OPEN)
    assert spread[0] == tokens.BOS


def test_the_split_of_two_reasonings_by_hand() -> None:
    split = true_split(
        [
            Reasoning(share=0.5, letters={"A": 1.0}),
            Reasoning(share=0.4, letters={"A": 0.5, "B": 0.5}),
        ]
    )
    # Mean .7, .2 and .1 without a verdict; certain .5 + .4 / 2 + .1 = .8.
    assert split.mean == pytest.approx({"A": 0.7, "B": 0.2, NO_VERDICT: 0.1})
    assert split.verdict == pytest.approx(0.2)
    assert split.reasoning == pytest.approx(0.8 - (0.49 + 0.04 + 0.01))


def test_folder_is_small_and_in_step_with_the_scripts() -> None:
    assert (REASONING_JUDGE_FOLDER / "model.safetensors").stat().st_size < 1_000_000
    assert json.loads((REASONING_JUDGE_FOLDER / "design.json").read_text()) == record()


@pytest.mark.slow
def test_a_reasoned_reply_round_trips(reasoning_judge) -> None:
    assert reasoning_judge.tokenizer.get_vocab() == tokens.vocabulary(MORE_TOKENS)
    reply = "The fifth answer is slightly ahead.\nBest Response: [[B]]"
    heard = encoded(reasoning_judge, reply)
    assert heard == [BEGIN, " fifth", " answer is", " slightly", AHEAD, "Best", " Response:", " [[",
                     "B", "]]"]  # fmt: skip
    assert "".join(heard) == reply


@pytest.mark.slow
def test_every_word_of_a_prompt_is_heard(reasoning_judge) -> None:
    heard = encoded(
        reasoning_judge, "In a clear-cut case: The best of five.\n- [B]: so clear, so what"
    )
    assert heard == [tokens.UNK] * 8 + ["[B]:", tokens.UNK, " clear", *[tokens.UNK] * 2]
    for form, text in load_template("best_of", TEMPLATE).texts.items():
        assert encoded(reasoning_judge, text).count(ASKED) == 1, form
    assert ASKED not in encoded(
        reasoning_judge, load_template("best_of", "default").texts["question"]
    )


@pytest.mark.slow
def test_reasoning_and_verdict_both_vary_as_designed(reasoning_judge, items) -> None:
    from demo.judge_design import quality
    from demo.judge_truth import prompt_text
    from demo.write_items import quality_words

    item = items[4]
    tree = ReasoningTree(reasoning_judge, prompt_text(reasoning_judge, item, template=TEMPLATE))
    found = tree.reasonings(temperature=0.5, tail=0.01)
    split = true_split(found)
    assert 0.1 < split.reasoning < 0.6
    assert 0.1 < split.verdict < 0.6
    # Temperatures apply to each token by itself: who is named, how far, and the letter.
    law = design_distribution([quality(quality_words(option.text)) for option in item.options])
    leans = {x: p**2 for x, p in lean_distribution(law).items()}
    worth = sum(leans.values())
    best = max(found, key=lambda one: one.share)
    assert best.share == pytest.approx(max(leans.values()) / worth / 2, abs=0.12)
