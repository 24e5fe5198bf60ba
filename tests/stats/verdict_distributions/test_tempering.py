"""Tempered verdicts: against whole softmaxes, whatever the list left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.stats import tempered_step, verdict_bounds

TEMPERATURES = (2.0, 1.0, 0.75, 0.5, 0.25, 0.0)
logits = st.lists(st.floats(-8, 4), min_size=2, max_size=12)


def softmax(logits, temperature, top_k=0):
    """The whole truth."""
    logits = np.asarray(logits, dtype=float)
    if temperature == 0:
        first = logits == logits.max()
        return first / first.sum()
    kept = np.ones(logits.size, bool)
    if top_k:
        kept = logits >= np.sort(logits)[-min(top_k, logits.size)]
    worth = np.where(kept, np.exp((logits - logits.max()) / temperature), 0)
    return worth / worth.sum()


@given(logits, st.integers(1, 12), st.integers(0, 12), st.booleans())
def test_bounds_hold_the_truth_whatever_is_listed(values, n_listed, top_k, vocabulary):
    whole = softmax(values, 1.0)
    order = np.argsort(-whole)
    listed = order[:n_listed]
    known = vocabulary or 0 < top_k <= min(n_listed, len(values))
    temperatures = TEMPERATURES if known else TEMPERATURES[1:]
    found = tempered_step(
        np.log(whole[listed]), temperatures, top_k=top_k,
        n_vocabulary=len(values) if vocabulary else None,
    )  # fmt: skip
    logs = np.log(whole)[order]
    if top_k and n_listed < len(values) and logs[n_listed] == logs[n_listed - 1]:
        return  # a token tied with the k-th may stand beyond the list
    for t, temperature in enumerate(temperatures):
        truth = softmax(np.log(whole), temperature, top_k)
        assert (found.low_TK[t] <= truth[listed] + 1e-9).all()
        assert (truth[listed] <= found.high_TK[t] + 1e-9).all()
        assert 1 - truth[listed].sum() <= found.rest_T[t] + 1e-9


@given(logits, st.integers(1, 6))
def test_a_list_of_the_top_k_is_exact(values, top_k):
    whole = softmax(values, 1.0)
    found = tempered_step(np.log(whole), TEMPERATURES, top_k=top_k, n_vocabulary=len(values))
    for t, temperature in enumerate(TEMPERATURES):
        truth = softmax(np.log(whole), temperature, top_k)
        assert found.low_TK[t] == pytest.approx(truth, abs=1e-12)
        assert found.high_TK[t] == pytest.approx(truth, abs=1e-12)
    assert found.rest_T[1:].max() < 1e-9


@given(logits, st.data())
def test_verdicts_are_sums_of_tempered_tokens(values, data):
    verdict = data.draw(st.lists(st.integers(-1, 2), min_size=len(values), max_size=len(values)))
    whole = softmax(values, 1.0)
    found = verdict_bounds(
        np.log(whole), np.array(verdict), TEMPERATURES, n_verdicts=3, n_vocabulary=len(values)
    )
    for t, temperature in enumerate(TEMPERATURES):
        truth = softmax(np.log(whole), temperature)
        for v in (0, 1, 2, -1):
            expected = truth[np.array(verdict) == v].sum()
            assert found.low_TV[t, v] == pytest.approx(expected, abs=1e-9)
            assert found.high_TV[t, v] == pytest.approx(expected, abs=1e-9)
    assert found.probability_TV.sum(axis=1) == pytest.approx(1)


def test_fifty_of_two_hundred_tokens_share_everything():
    # Engines list a few more than the 50 that can be sampled: those have no share, at any T.
    logits = np.linspace(0.5, -0.5, 200)
    whole = softmax(logits, 1.0)
    found = tempered_step(np.log(whole[:58]), TEMPERATURES, top_k=50, n_vocabulary=200)
    assert (found.high_TK[:, 50:] == 0).all()
    assert found.low_TK.sum(axis=1) == pytest.approx(1)
    for t, temperature in enumerate(TEMPERATURES):
        kept = softmax(np.log(whole[:50]), temperature)
        assert found.low_TK[t, :50] == pytest.approx(kept, abs=1e-12)


def test_tempering_the_sum_instead_would_be_another_number():
    # A form given with .95, its verdict at another token than whether it is given at all: the
    # joint power of a sum is not the product of tempered steps.
    found = verdict_bounds(np.log([0.3, 0.3, 0.4]), [0, 0, 1], [0.5], n_verdicts=2, n_vocabulary=3)
    assert found.low_TV[0, 0] == pytest.approx(0.18 / 0.34)
    assert found.low_TV[0, 0] != pytest.approx(0.36 / 0.52)


def test_what_the_list_left_out_may_be_any_verdict():
    found = verdict_bounds(np.log([0.6, 0.3]), [0, 1], [1.0], n_verdicts=2, n_vocabulary=100)
    assert found.low_TV[0] == pytest.approx([0.6, 0.3, 0])
    assert found.high_TV[0] == pytest.approx([0.7, 0.4, 0.1])
    assert found.undecided_T == pytest.approx([0.1])
    assert found.probability_TV[0] == pytest.approx([2 / 3, 1 / 3, 0])


def test_the_tail_shrinks_as_temperature_falls():
    found = tempered_step(np.log([0.5, 0.3, 0.1]), (1.0, 0.75, 0.5, 0.25), n_vocabulary=32000)
    assert (np.diff(found.rest_T) < 0).all()
    assert found.rest_T[0] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("logprobs", "temperatures", "message"),
    [
        ([], [1.0], "list tokens"),
        ([0.0, 0.0], [1.0], "natural logs"),
        ([-np.inf], [1.0], "sampled"),
        ([-1.0], [-1.0], "temperatures"),
        ([-1.0], [2.0], "above 1"),
    ],
)
def test_mistakes_are_named(logprobs, temperatures, message):
    with pytest.raises(ValueError, match=message):
        tempered_step(logprobs, temperatures)


def test_verdicts_out_of_range_are_named():
    with pytest.raises(ValueError, match="verdict_K"):
        verdict_bounds([-1.0], [2], [1.0], n_verdicts=2)
    with pytest.raises(ValueError, match="verdict_K"):
        verdict_bounds([-1.0], [0, 1], [1.0], n_verdicts=2)
