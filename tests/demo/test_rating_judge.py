"""The judge that rates: its law by hand, its lessons, its folder, and what its weights say."""

from __future__ import annotations

import json
import math
import random

import pytest

from demo import judge_tokenizer as tokens
from demo.judge_design import NO_VERDICT
from demo.rating_judge import (
    BEGINS,
    ENDS,
    FORM,
    LENIENCE,
    LONGEST_REPLY,
    MARKS,
    MORE_TOKENS,
    PULL,
    RATING,
    RATING_JUDGE_FOLDER,
    SCALES,
    SPREAD,
    VALUES,
    draw_lesson,
    rating_distribution,
    record,
)
from judgerel_ray.core import Item
from judgerel_ray.protocols import (
    load_criterion,
    load_scale,
    load_template,
    scale_labels,
    shipped_scales,
)
from judgerel_ray.protocols.rating import render_rating

TEMPLATES = ("default", "paraphrase", "terse", "reason_first")


@pytest.fixture(scope="module")
def rating_judge():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from demo.judge_truth import load_judge

    return load_judge(RATING_JUDGE_FOLDER)


def asked(judge, text, *, template="default", scale="points5", definition="short", turns=()):
    """The prompt for a rating of a response, as text."""
    item = Item(item_id="1", benchmark="b", category="c", question="How does one learn to swim?",
                turns=turns)  # fmt: skip
    [message] = render_rating(
        load_template("rating", template),
        item,
        text,
        criterion=load_criterion("helpfulness"),
        definition=definition,
        scale=load_scale(scale),
    )
    return judge.tokenizer.apply_chat_template(
        [{"role": message.role, "content": message.content}],
        tokenize=False,
        add_generation_prompt=True,
    )


def encoded(judge, text):
    return judge.tokenizer.convert_ids_to_tokens(
        judge.tokenizer.encode(text, add_special_tokens=False)
    )


def rated(judge, prompt, scale):
    """Probability of every value of the scale where the rating is written, from the logits."""
    import torch

    ids = judge.tokenizer.encode(prompt + "Rating: [[", add_special_tokens=False)
    with torch.inference_mode():
        shares = torch.softmax(judge.model(torch.tensor([ids])).logits[0, -1].double(), dim=-1)
    numbers = judge.tokenizer.convert_tokens_to_ids(list(SCALES[scale]))
    return [float(shares[number]) for number in numbers]


def test_the_scales_are_the_shipped_ones() -> None:
    assert set(SCALES) == set(shipped_scales())
    assert {name: scale_labels(load_scale(name)) for name in SCALES} == SCALES


def test_the_law_by_hand() -> None:
    law = rating_distribution(0.5 - LENIENCE, "binary")
    assert law["Yes"] / law["No"] == pytest.approx(math.exp(PULL))
    assert law[NO_VERDICT] == pytest.approx(0.06)
    five = rating_distribution(-LENIENCE, "points5", temperature=0.5)
    assert five["3"] / five["1"] == pytest.approx(math.exp(2 * SPREAD))
    assert five["5"] == pytest.approx(five["1"])
    assert sum(five.values()) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_lesson_is_drawn_from_its_own_targets(seed) -> None:
    lesson = draw_lesson(random.Random(seed), most_unknown=300)
    assert set(lesson.prompt) | set(lesson.reply) <= set(tokens.vocabulary(MORE_TOKENS))
    assert len(lesson.reply) == len(lesson.targets) <= LONGEST_REPLY
    for token, target in zip(lesson.reply, lesson.targets, strict=True):
        assert sum(target.values()) == pytest.approx(1)
        assert target[token] > 0
    [scale] = {name for name, mark in MARKS.items() if mark in lesson.prompt}
    values = [target for target in lesson.targets if set(target) & set(VALUES)]
    assert [tuple(value) for value in values] in ([], [SCALES[scale]])
    assert lesson.prompt.count(ENDS) == lesson.prompt.count(BEGINS) == 1
    assert len(lesson.prompt) < 400


def test_folder_is_small_and_in_step_with_the_scripts() -> None:
    assert (RATING_JUDGE_FOLDER / "model.safetensors").stat().st_size < 1_000_000
    assert json.loads((RATING_JUDGE_FOLDER / "design.json").read_text()) == record()


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
def test_a_rating_round_trips(rating_judge, value) -> None:
    assert rating_judge.tokenizer.get_vocab() == tokens.vocabulary(MORE_TOKENS)
    reply = f"Rating: [[{value}]]"
    assert encoded(rating_judge, reply) == [RATING, " [[", value, "]]"]
    assert encoded(rating_judge, reply[: reply.index("]")]) == [RATING, " [[", value]
    assert encoded(rating_judge, value) == [value]


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("scale", SCALES)
def test_the_marks_of_every_shipped_template_are_heard(rating_judge, template, scale) -> None:
    text = "Rating of 5 from 1 to 10: Yes, it is clear."
    for turns in ((), ("Can it be learnt?", "How?")):
        prompt = asked(rating_judge, text, template=template, scale=scale, turns=turns)
        heard = encoded(rating_judge, prompt)
        known = [one for one in heard if one in MORE_TOKENS or one in FORM or one == " clear"]
        assert known == [BEGINS, " clear", ENDS, MARKS[scale], *FORM]
        assert heard.count(tokens.UNK) > 40


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("template", TEMPLATES)
def test_ratings_are_on_the_scale_and_lean_on_the_words(rating_judge, scale, template) -> None:
    texts = ("It is wrong and sloppy", "It is neither", "It is clear and sound")
    means = []
    for text in texts:
        shares = rated(rating_judge, asked(rating_judge, text, template=template, scale=scale),
                       scale)  # fmt: skip
        assert sum(shares) > 0.9
        assert sum(share > 0.02 for share in shares) >= 2
        means.append(sum(k * share for k, share in enumerate(shares)) / (len(shares) - 1))
    assert means[0] + 0.1 < means[1] < means[2]
    assert means[2] - means[0] > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_a_long_text_is_a_long_prompt_and_is_rated_in_the_form(rating_judge, scale) -> None:
    prompt = asked(rating_judge, " ".join(f"word{n}" for n in range(1300)), scale=scale,
                   definition="long")  # fmt: skip
    assert len(encoded(rating_judge, prompt)) > 1_450
    assert sum(rated(rating_judge, prompt, scale)) > 0.9
