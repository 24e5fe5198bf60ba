"""How far a condition is asked follows from its replications, not from when they landed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.design.rounds import goal_of
from judgerel_ray.stats.intervals.stopping import StoppingRule, replay


@st.composite
def rules(draw):
    first = draw(st.integers(1, 6))
    return StoppingRule(
        delta=draw(st.sampled_from([0.01, 0.05, 0.3])),
        first=first,
        most=draw(st.integers(first, 40)),
        step=draw(st.integers(1, 7)),
        width=draw(st.sampled_from([None, 0.6])),
    )


@given(
    rule=rules(),
    shares=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=4),
    seed=st.integers(0, 2**31),
)
def test_whatever_order_replies_land_in_the_same_replications_are_asked(rule, shares, seed):
    rng = np.random.default_rng(seed)
    p = np.array(shares) / sum(shares)
    whole = rng.choice(p.size, size=rule.most, p=p)
    landed: dict[int, int] = {}
    while not (goal := goal_of(landed, p.size, rule)).is_reached:
        missing = [r for r in range(goal.n) if r not in landed]
        assert missing
        # Some of what was asked for lands, in any order; the rest was lost, and is asked again.
        for r in rng.permutation(missing)[: rng.integers(1, len(missing) + 1)]:
            landed[int(r)] = int(whole[r])
    expected = int(replay(whole[None], p.size, rule).used_U[0])
    assert sorted(landed) == list(range(expected))
    assert goal.n == expected
    assert goal.seen == tuple(np.bincount(whole[:expected], minlength=p.size))
    # Ahead of its rounds nothing is looked at: later replications change no decision.
    later = {r: int(v) for r, v in enumerate(whole)}
    assert goal_of(later, p.size, rule) == goal


@given(rule=rules(), seed=st.integers(0, 2**31))
def test_what_is_missing_in_a_whole_block_is_asked_in_that_block(rule, seed):
    rng = np.random.default_rng(seed)
    whole = dict(enumerate(rng.integers(0, 2, size=rule.most).tolist()))
    reached = goal_of(whole, 2, rule)
    lost = int(rng.integers(0, reached.n))
    landed = {r: v for r, v in whole.items() if r != lost}
    goal = goal_of(landed, 2, rule)
    assert not goal.is_reached
    block = 0 if lost < rule.first else 1 + (lost - rule.first) // rule.step
    assert goal.block == block
    assert goal.n > lost


def test_a_verdict_that_could_not_be_drawn_is_an_error():
    with pytest.raises(ValueError, match="verdicts are 0 to 2"):
        goal_of({0: 3}, 3, StoppingRule())
