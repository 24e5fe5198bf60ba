"""The token tree against every reply of a language of twelve tokens, written out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import TokenTree, remainder_draws, with_draws

TEMPERATURES = (1.0, 0.75, 0.5, 0.25, 0.0)
N_TOKENS, MAX_TOKENS, END, OPEN = 12, 4, 11, 10
# Tokens 0-2 are verdicts once token 10 has opened the form; 3 spells the first verdict too.
SPELLS = {0: 0, 1: 1, 2: 2, 3: 0}


def first_verdict(prefix, ended):
    """Reading policy `first`: the token after the first opening decides, for good."""
    if OPEN not in prefix:
        return -1 if ended else None
    place = prefix.index(OPEN) + 1
    if place == len(prefix):
        return -1 if ended else None
    return SPELLS.get(prefix[place], -1)


def language(seed, scale=3.0):
    """Next-token log-probabilities of every prefix, fixed by the seed."""

    @cache
    def logprobs(prefix):
        rng = np.random.default_rng([seed, *prefix])
        logits = rng.normal(scale=scale, size=N_TOKENS)
        return logits - np.log(np.exp(logits).sum())

    return logprobs


def step(logprobs, temperature, top_k):
    if temperature == 0:
        first = logprobs == logprobs.max()
        return first / first.sum()
    kept = logprobs >= (np.sort(logprobs)[-top_k] if top_k else -np.inf)
    worth = np.where(kept, np.exp(logprobs / temperature), 0)
    return worth / worth.sum()


def enumerated(logprobs, temperature, top_k=0, decide=first_verdict):
    """Every reply to its end, none closed early."""
    total = np.zeros(4)

    def walk(prefix, mass):
        if mass == 0:
            return
        if len(prefix) == MAX_TOKENS or (prefix and prefix[-1] == END):
            verdict = decide(prefix, True)
            total[-1 if verdict is None else verdict] += mass
            return
        for token, share in enumerate(step(logprobs(prefix), temperature, top_k)):
            walk((*prefix, token), mass * share)

    walk((), 1.0)
    return total


def tree_of(**options):
    settings = {
        "temperatures": TEMPERATURES, "n_verdicts": 3, "decide": first_verdict,
        "max_tokens": MAX_TOKENS, "end_tokens": frozenset({END}), "n_vocabulary": N_TOKENS,
    }  # fmt: skip
    return TokenTree(**{**settings, **options})


def grow(tree, logprobs, *, n_listed=N_TOKENS, batch=500, rounds=10**6):
    for _ in range(rounds):
        asked = tree.pending(batch)
        if not asked:
            return
        for prefix in asked:
            known = logprobs(prefix)
            listed = np.argsort(-known, kind="stable")[:n_listed]
            tree.tell(prefix, listed.tolist(), known[listed])


@pytest.mark.alike(3)
@pytest.mark.parametrize("top_k", [0, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_whole_tree_is_the_enumeration(seed, top_k):
    logprobs = language(seed)
    tree = tree_of(top_k=top_k, tolerance=0.0)
    grow(tree, logprobs)
    found = tree.bounds()
    for t, temperature in enumerate(TEMPERATURES):
        truth = enumerated(logprobs, temperature, top_k)
        assert found.low_TV[t] == pytest.approx(truth, abs=1e-12)
        assert found.high_TV[t] == pytest.approx(truth, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 999), st.integers(3, 12), st.integers(1, 12), st.sampled_from([0, 4]))
def test_bounds_hold_the_truth_however_early_it_stops(seed, n_listed, rounds, top_k):
    logprobs = language(seed)
    tree = tree_of(top_k=top_k, temperatures=(1.0, 0.5, 0.0))
    grow(tree, logprobs, n_listed=n_listed, batch=3, rounds=rounds)
    found = tree.bounds()
    for t, temperature in enumerate(found.temperatures):
        truth = enumerated(logprobs, temperature, top_k)
        assert (found.low_TV[t] <= truth + 1e-9).all()
        assert (truth <= found.high_TV[t] + 1e-9).all()
        assert found.low_TV[t].sum() + found.undecided_T[t] == pytest.approx(1)


@pytest.mark.slow
def test_a_tolerance_saves_questions_and_keeps_its_word():
    logprobs = language(5)
    whole, near = tree_of(tolerance=0.0), tree_of(tolerance=0.01)
    grow(whole, logprobs)
    grow(near, logprobs, batch=1)
    assert near.undecided_T.max() <= 0.01
    assert near.n_asked < whole.n_asked / 3


def test_decided_branches_are_never_asked():
    logprobs = language(2)
    tree = tree_of(tolerance=0.0)
    seen = []
    while asked := tree.pending(20):
        seen += asked
        for prefix in asked:
            tree.tell(prefix, range(N_TOKENS), logprobs(prefix))
    assert len(set(seen)) == len(seen) == tree.n_asked
    assert all(first_verdict(prefix, False) is None for prefix in seen)
    assert all(END not in prefix for prefix in seen)


def test_the_most_probable_prefix_comes_first_and_asking_changes_nothing():
    tree = tree_of(temperatures=(1.0,))
    assert tree.pending(5) == [()]
    tree.tell((), [4, 5, 6], np.log([0.2, 0.5, 0.3]))
    assert tree.pending(2) == tree.pending(2) == [(5,), (6,)]


def test_what_may_all_stay_open_is_not_asked():
    tree = tree_of(temperatures=(1.0, 0.5), tolerance=0.1)
    tree.tell((), [4, 5, 6, 7], np.log([0.5, 0.3, 0.15, 0.05]))
    # Without the last .05 would stay open, and at the lower temperature less.
    assert tree.pending(9) == [(4,), (5,), (6,)]
    assert tree.pending(2) == [(4,), (5,)]


def test_greedy_decoding_is_one_path():
    logprobs = language(8)
    tree = tree_of(temperatures=(0.0,))
    grow(tree, logprobs)
    assert tree.n_asked <= MAX_TOKENS
    assert tree.bounds().low_TV[0] == pytest.approx(enumerated(logprobs, 0.0))


def test_ties_at_temperature_0_share_the_reply():
    tree = tree_of(temperatures=(0.0,), max_tokens=1, decide=lambda prefix, _: prefix[0] % 3)
    tree.tell((), [0, 1, 2], np.log([0.4, 0.4, 0.2]))
    assert tree.bounds().low_TV[0].tolist() == [0.5, 0.5, 0, 0]


def test_an_ended_reply_left_open_has_no_verdict():
    tree = tree_of(temperatures=(1.0,), decide=lambda _prefix, _ended: None, max_tokens=1)
    tree.tell((), range(N_TOKENS), np.full(N_TOKENS, -np.log(N_TOKENS)))
    assert tree.bounds().low_TV[0] == pytest.approx([0, 0, 0, 1])
    assert tree.pending(9) == []


@pytest.mark.slow
def test_draws_from_the_rest_are_unbiased():
    logprobs = language(3)
    tree = tree_of(temperatures=(1.0,))
    grow(tree, logprobs, batch=2, rounds=4)
    prefixes, masses = tree.remainder(0)
    bounds = tree.bounds()
    assert masses.sum() == pytest.approx(bounds.undecided_T[0])
    assert bounds.undecided_T[0] > 0.1
    truth = enumerated(logprobs, 1.0)
    rng = np.random.default_rng(1)

    def finish(prefix):
        while first_verdict(prefix, False) is None:
            prefix = (*prefix, int(rng.choice(N_TOKENS, p=np.exp(logprobs(prefix)))))
            if len(prefix) == MAX_TOKENS or prefix[-1] == END:
                return first_verdict(prefix, True)
        return first_verdict(prefix, False)

    found = [
        with_draws(bounds, 0, [finish(p) for p in remainder_draws(prefixes, masses, 20, seed=s)])
        for s in range(300)
    ]
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - truth) <= 4 * error + 1e-9).all()


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8), st.integers(1, 30), st.integers(0, 9))
def test_draws_are_spread_as_evenly_as_can_be(masses, n, seed):
    prefixes = [(i,) for i in range(len(masses))]
    drawn = remainder_draws(prefixes, masses, n, seed=seed)
    for prefix, mass in zip(prefixes, masses, strict=True):
        assert abs(drawn.count(prefix) - n * mass / sum(masses)) < 1 + 1e-6


def test_mistakes_are_named():
    tree = tree_of()
    with pytest.raises(ValueError, match="prefix must be open"):
        tree.tell((1,), [0], [-0.1])
    with pytest.raises(ValueError, match="distinct"):
        tree.tell((), [0, 0], np.log([0.5, 0.5]))
    with pytest.raises(ValueError, match="decide must give"):
        tree_of(decide=lambda _prefix, _ended: 7).tell((), [0], [-0.1])
    with pytest.raises(ValueError, match="max_tokens"):
        tree_of(max_tokens=0)
    short = tree_of(temperatures=(1.0,))
    short.tell((), [4], np.log([0.5]))
    with pytest.raises(ValueError, match="lists are whole"):
        short.remainder(0)
    with pytest.raises(ValueError, match="n must be"):
        remainder_draws([], [], 1, seed=0)
    with pytest.raises(ValueError, match="verdicts_N"):
        with_draws(tree.bounds(), 0, [])
