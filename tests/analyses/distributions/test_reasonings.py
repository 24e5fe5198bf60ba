"""Letters replaced by their distributions: the same mean, whatever else is probable there."""

import math

import numpy as np
import polars as pl
import pytest

from judgerel_ray.measuring.distributions import reasoning_table, verdict_shares

TOP_K = 50


def listed(shares):
    """Log-probabilities of next tokens, each a share and the option it spells."""
    return [{"logprob": math.log(share), "continuation": option} for option, share in shares]


def rows_of(replies, *, temperature=1.0):
    return pl.DataFrame(
        [
            {
                "judge": "j", "benchmark": "b", "item_id": "q", "template": "t", "option_order": 0,
                "temperature": temperature, "top_k": TOP_K, "place": place, "logprobs": logprobs,
            }
            for place, logprobs in replies
        ],
        schema_overrides={"option_order": pl.Int32, "place": pl.Int32},
    )  # fmt: skip


def test_tokens_are_tempered_before_those_of_one_option_are_summed():
    found = verdict_shares(
        listed([(0, 0.3), (0, 0.3), (1, 0.4)]), place=0, temperature=0.5, top_k=TOP_K, n=2
    )
    assert found == pytest.approx([0.18 / 0.34, 0.16 / 0.34, 0])


def test_a_reply_without_a_verdict_is_no_verdict_and_one_unread_is_its_letter():
    assert verdict_shares(None, place=None, temperature=1.0, top_k=0, n=2).tolist() == [0, 0, 1]
    assert verdict_shares([], place=1, temperature=1.0, top_k=0, n=2).tolist() == [0, 1, 0]
    beyond = listed([(0, 0.9)])
    assert verdict_shares(beyond, place=1, temperature=1.0, top_k=0, n=2).tolist() == [0, 1, 0]


def test_the_mean_is_that_of_the_letters_where_other_tokens_are_probable():
    """At the place .3 goes to no letter; drawn, it leaves a reply without any verdict.

    Counting it within replies that do have a verdict, too, would take it off the letters twice.
    """
    rng = np.random.default_rng(4)
    place = listed([(0, 0.49), (1, 0.21), (None, 0.3)])
    letters = rng.choice([0, 1, 2], p=[0.49, 0.21, 0.3], size=4000).tolist()
    rows = rows_of([(None, None) if x == 2 else (x, place) for x in letters])
    split = reasoning_table(rows).row(0, named=True)
    spoken = 1 - letters.count(2) / 4000
    # Whether there is a verdict is drawn; given that there is one, its letter has variance .42.
    assert split["verdict"] == pytest.approx(0.42 * spoken)
    assert split["agreement"] + split["reasoning"] + split["verdict"] == pytest.approx(1)
    # 3.3 standard errors of a share of 4,000; with the .3 counted twice it would be .147.
    assert split["largest_shift"] < 3.3 * math.sqrt(0.25 / 4000)
    assert split["agreement"] == pytest.approx(0.49**2 + 0.21**2 + 0.3**2, abs=0.02)
