"""Two judges of pairs: the pairs as shipped, the truth by hand, and what the weights say."""

from __future__ import annotations

import polars as pl
import pytest

from demo.judge_design import JUDGE_FOLDER, NO_VERDICT, quality
from demo.pair_judges import (
    JUDGES,
    LEAST_GAP,
    N_PAIRS,
    OPTIONS,
    PAIRS_FILE,
    POSITION_TEMPLATE,
    TEMPERATURES,
    TEMPLATE_FILE,
    TEMPLATES,
    WORDS_AN_ANSWER,
    asked_pairs,
    draw_pairs,
    known_truths,
    pair_distributions,
    pair_truth,
    position_judge,
    truths,
)
from demo.write_items import quality_words


def test_pairs_are_the_same_each_time_and_never_near_ties() -> None:
    pairs = draw_pairs()
    assert pairs == draw_pairs()
    assert len({pair.item_id for pair in pairs}) == len(pairs) == N_PAIRS
    ahead = []
    for pair in pairs:
        assert tuple(option.option_id for option in pair.options) == OPTIONS
        words = [quality_words(option.text) for option in pair.options]
        assert [len(each) for each in words] == [WORDS_AN_ANSWER] * 2
        first, second = map(quality, words)
        assert abs(first - second) >= LEAST_GAP
        ahead.append(first > second)
    assert 0.35 < sum(ahead) / N_PAIRS < 0.65


def test_the_package_ships_them_and_the_demo_asks_them() -> None:
    from judgerel_ray.config import read_sweep
    from judgerel_ray.tables import frame_to_items

    assert frame_to_items(pl.read_parquet(PAIRS_FILE)) == draw_pairs()
    assert TEMPLATE_FILE.read_text(encoding="utf-8") == POSITION_TEMPLATE
    file = JUDGE_FOLDER.parents[2] / "jobs" / "demo__tiny-judge__cpu.toml"
    sweep = read_sweep(file)
    assert tuple(judge.name for judge in sweep.judge) == JUDGES
    [ask] = sweep.ask
    assert ask.temperatures == TEMPERATURES
    assert ask.templates == TEMPLATES
    assert ask.option_orders == 2


def test_the_truth_of_pure_position_by_hand() -> None:
    # In one order "alder" .97, in the other .03: .9418 agree on a prompt, where chance is .5; an
    # item's two judgments, each in either order, agree as two coins do.
    one, other = {"alder": 0.97, "birch": 0.03}, {"alder": 0.03, "birch": 0.97}
    truth = pair_truth([[(one, other)], [(one, other)]])
    assert truth["repeatability"] == pytest.approx((0.9418 - 0.5) / 0.5)
    assert truth["reproducibility"] == pytest.approx(0)
    assert truth["swap consistency"] == pytest.approx(2 * 0.97 * 0.03)


def test_the_truth_of_pure_content_by_hand() -> None:
    one, other = {"alder": 0.9, "birch": 0.1}, {"alder": 0.1, "birch": 0.9}
    truth = pair_truth([[(one, one)], [(other, other)]])
    assert truth["repeatability"] == pytest.approx((0.82 - 0.5) / 0.5)
    assert truth["reproducibility"] == pytest.approx(truth["repeatability"])
    assert truth["swap consistency"] == pytest.approx(0.82)


def test_the_truth_of_two_templates_that_differ_by_hand() -> None:
    # Either template always gives its verdict: sure on a prompt and in another order, and of two
    # prompts of an item, drawn at random, half agree.
    one, other = {"alder": 1.0}, {"birch": 1.0}
    truth = pair_truth([[(one, one), (other, other)], [(one, one), (other, other)]])
    assert truth["repeatability"] == pytest.approx(1)
    assert truth["reproducibility"] == pytest.approx(0)
    assert truth["swap consistency"] == pytest.approx(1)


@pytest.mark.slow
def test_the_table_of_truths_is_that_of_the_weights() -> None:
    known, found = known_truths(), truths()
    assert known.keys() == found.keys()
    for group, truth in found.items():
        assert known[group] == pytest.approx(truth, abs=0.0015), group


@pytest.mark.slow
def test_the_judge_of_position_names_what_stands_first(judge) -> None:
    asked = asked_pairs(position_judge(judge), draw_pairs()[:2])
    for templates in pair_distributions(asked, 0.5):
        for as_given, swapped in templates:
            assert as_given["alder"] / (as_given["alder"] + as_given["birch"]) == pytest.approx(
                0.97, abs=0.005
            )
            assert swapped["birch"] == pytest.approx(as_given["alder"], abs=1e-9)
            assert as_given[NO_VERDICT] < 0.01


@pytest.mark.slow
def test_the_judge_of_position_hears_nothing_of_what_is_asked(judge) -> None:
    one = position_judge(judge)
    texts = {
        one.tokenizer.apply_chat_template(
            [{"role": "user", "content": asked}], add_generation_prompt=True, tokenize=False
        )
        for asked in ("[A]: wrong [B]: accurate", "")
    }
    assert len(texts) == 1
    assert judge.tokenizer.chat_template != one.tokenizer.chat_template
