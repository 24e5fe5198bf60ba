"""The truth of the shipped weights, and the formulas it is summed up by."""

from __future__ import annotations

import math

import pytest

from demo.judge_design import LETTERS, NO_VERDICT, kl_divergence
from demo.judge_truth import (
    VERDICT,
    ReplyTree,
    agreement_variance,
    design_of,
    judge_truth,
    limits_of,
    prompt_text,
)
from judgerel_ray.core import Item, Option
from judgerel_ray.protocols import load_template, render_best_of

TAIL = 1e-4

PLAIN_TEXTS = (
    "The river turned south after the flood, and the mill lost its water within a year.",
    "Nobody on the committee had read the report; they voted all the same.",
    "Take the second street on the left, then ask at the bakery (it opens at six).",
    "```python\nprint(sum(range(10)))\n```\nThat prints 45 because the end is left out.",
    "I am sorry, but I cannot help with that. As a model, I have no views of my own. " * 12,
)


def plain_item() -> Item:
    options = tuple(
        Option(option_id=f"m{place}", text=text) for place, text in enumerate(PLAIN_TEXTS)
    )
    return Item(
        item_id="plain",
        benchmark="none",
        category="question",
        question="Best of three: (A) why, (B) when or (C) how did the mill lose its water?",
        options=options,
    )


def test_limits_of_two_opposite_questions() -> None:
    # Each question is certain of itself, and the two differ: Pe = 1/4 + 1/4.
    limits = limits_of([{"A": 1.0}, {"B": 1.0}], n_categories=3)
    assert limits.agreement == 1
    assert limits.alpha == 1
    assert limits.valid_rate == 1


def test_limits_by_hand() -> None:
    truths = [{"A": 0.5, "B": 0.5}, {"A": 0.9, NO_VERDICT: 0.1}]
    # A = (0.5 + 0.82)/2 = 0.66; means .7 .25 .05; Pe = .49 + .0625 + .0025 = .555;
    # Gwet: (.7*.3 + .25*.75 + .05*.95)/2 = .2225
    limits = limits_of(truths, n_categories=3)
    assert limits.agreement == pytest.approx(0.66)
    assert limits.alpha == pytest.approx((0.66 - 0.555) / 0.445)
    assert limits.ac1 == pytest.approx((0.66 - 0.2225) / 0.7775)
    assert limits.brennan_prediger == pytest.approx((0.66 - 1 / 3) / (2 / 3))
    assert limits.valid_rate == pytest.approx(0.95)


def test_limits_without_any_variation_have_no_alpha() -> None:
    assert math.isnan(limits_of([{"A": 1.0}, {"A": 1.0}], n_categories=2).alpha)


def test_agreement_variance_of_one_pair_is_that_of_a_coin() -> None:
    # Two replications agree with chance s2 = .58: a Bernoulli variable.
    assert agreement_variance([{"A": 0.7, "B": 0.3}], 2) == pytest.approx(0.58 * 0.42)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0])
def test_truth_is_a_distribution(judge, items, temperature) -> None:
    truth = ReplyTree(judge, prompt_text(judge, items[0])).distribution(
        temperature=temperature, tail=TAIL
    )
    assert 1 - TAIL < sum(truth.values()) < 1 + 1e-12
    assert min(truth.values()) >= 0


@pytest.mark.slow
def test_shipped_judge_follows_its_design(judge, items) -> None:
    (record,) = judge_truth(judge, items, temperatures=[1.0], tail=1e-3)
    assert record["kl_to_design"] < 0.02
    for item in items:
        truth, design = record["items"][item.item_id], design_of(item, temperature=1.0)
        assert kl_divergence(design, truth) < 0.1
        assert truth[NO_VERDICT] == pytest.approx(design[NO_VERDICT], abs=0.02)


@pytest.mark.slow
def test_truth_is_what_sampling_gives(judge, items) -> None:
    """Sampling by transformers itself, token by token, from a fixed seed."""
    import torch

    prompt = prompt_text(judge, items[3])
    truth = ReplyTree(judge, prompt).distribution(temperature=0.75, tail=TAIL)
    torch.manual_seed(5)
    ids = judge.tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
    n = 2000
    replies = judge.model.generate(
        **ids, do_sample=True, temperature=0.75, top_k=50, max_new_tokens=16, num_return_sequences=n
    )
    texts = judge.tokenizer.batch_decode(
        replies[:, ids["input_ids"].shape[1] :], skip_special_tokens=True
    )
    found = [VERDICT.search(text) for text in texts]
    for outcome in (*LETTERS[:5], NO_VERDICT):
        share = sum((match[1] if match else NO_VERDICT) == outcome for match in found) / n
        p = truth[outcome]
        assert abs(share - p) < 3.3 * math.sqrt(p * (1 - p) / n) + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_form_is_followed_on_texts_outside_the_vocabulary(judge, temperature) -> None:
    truth = ReplyTree(judge, prompt_text(judge, plain_item())).distribution(
        temperature=temperature, tail=TAIL
    )
    assert sum(truth.get(letter, 0) for letter in LETTERS[:5]) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("template", ["default", "paraphrase"])
def test_form_is_followed_without_a_chat_template(judge, template) -> None:
    item = plain_item()
    messages = render_best_of(load_template("best_of", template), item, item.options)
    prompt = judge.tokenizer.bos_token + messages[0].content
    truth = ReplyTree(judge, prompt).distribution(temperature=1.0, tail=TAIL)
    assert sum(truth.get(letter, 0) for letter in LETTERS[:5]) > 0.8


@pytest.mark.slow
def test_position_bias_is_what_is_left_among_equals(judge) -> None:
    options = tuple(Option(option_id=x, text=f"It is {x}, so clear.") for x in "vwxyz")
    item = Item(
        item_id="even", benchmark="none", category="question", question="?", options=options
    )
    truth = ReplyTree(judge, prompt_text(judge, item)).distribution(temperature=1.0, tail=TAIL)
    assert kl_divergence(design_of(item, temperature=1.0), truth) < 0.05
    assert truth["A"] > truth["B"] > truth["E"]
