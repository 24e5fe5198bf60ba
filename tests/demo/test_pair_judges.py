"""Two judges of pairs: the pairs, the truth by hand, the sweep, and what the weights say."""

from __future__ import annotations

import pytest

from demo.judge_design import NO_VERDICT, quality
from demo.pair_judges import (
    LEAST_GAP,
    N_PAIRS,
    OPTIONS,
    REPLICATIONS,
    WORDS_AN_ANSWER,
    draw_pairs,
    pair_distributions,
    pair_truth,
    position_judge,
    write_sweep,
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


def test_the_truth_of_pure_position_by_hand() -> None:
    # In one order "alder" .97, in the other .03: .9418 agree on a prompt, where chance is .5; an
    # item's two judgments, each in either order, agree as two coins do.
    one, other = {"alder": 0.97, "birch": 0.03}, {"alder": 0.03, "birch": 0.97}
    truth = pair_truth([(one, other), (one, other)])
    assert truth["repeatability"] == pytest.approx((0.9418 - 0.5) / 0.5)
    assert truth["reproducibility"] == pytest.approx(0)


def test_the_truth_of_pure_content_by_hand() -> None:
    one, other = {"alder": 0.9, "birch": 0.1}, {"alder": 0.1, "birch": 0.9}
    truth = pair_truth([(one, one), (other, other)])
    assert truth["repeatability"] == pytest.approx((0.82 - 0.5) / 0.5)
    assert truth["reproducibility"] == pytest.approx(truth["repeatability"])


def test_the_sweep_asks_both_judges_in_both_orders(tmp_path) -> None:
    from judgerel_ray.asking.plan.planning import plan_resolved
    from judgerel_ray.asking.plan.resolve import resolve
    from judgerel_ray.config import read_sweep

    sweep = read_sweep(write_sweep(tmp_path))
    assert [judge.name for judge in sweep.judge] == ["content", "position"]
    assert plan_resolved(resolve(sweep)).requests == 2 * N_PAIRS * 2 * REPLICATIONS


@pytest.mark.slow
def test_the_weights_give_both_judges_their_reliability(judge) -> None:
    pairs = draw_pairs()
    content = pair_truth(pair_distributions(judge, pairs))
    assert content["reproducibility"] == pytest.approx(0.73, abs=0.01)
    assert content["repeatability"] == pytest.approx(0.74, abs=0.01)
    by_position = pair_distributions(position_judge(judge), pairs)
    assert pair_truth(by_position)["reproducibility"] == pytest.approx(0, abs=1e-6)
    assert pair_truth(by_position)["repeatability"] > 0.85
    for as_given, swapped in by_position:
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
