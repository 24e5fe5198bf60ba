"""Passes of a tree with an engine that is told: what is asked, and what is kept for later."""

import asyncio
import math
from types import SimpleNamespace

import pytest

from judgerel_ray.engines import Prepared
from judgerel_ray.engines.vllm.reading import explorer
from judgerel_ray.engines.vllm.scoring import OneKind

END = 0
PREPARED = Prepared(condition_key="k", text="", token_ids=(7, 8), prompt_tokens=2)


def logprobs_after(before):
    """Three next tokens, the most probable one greater by one than the last; then the end."""
    last = before[-1] if before else 1
    best = END if last >= 5 else last + 1
    return {best: 0.9, 20 + last: 0.06, 30 + last: 0.04}


class Told:
    """Answers greedy passes by that rule, and remembers them."""

    def __init__(self) -> None:
        self.asked = []

    async def __call__(self, ids, parameters):
        self.asked.append((ids[2:], parameters["max_tokens"]))
        path, steps = list(ids[2:]), []
        for _ in range(parameters["max_tokens"]):
            shares = logprobs_after(path)
            steps.append({t: SimpleNamespace(logprob=math.log(p)) for t, p in shares.items()})
            path.append(max(shares, key=shares.get))
            if path[-1] == END and not parameters["ignore_eos"]:
                break
        sample = SimpleNamespace(token_ids=path[len(ids) - 2 :], logprobs=steps)
        return SimpleNamespace(outputs=[sample])


def looks(prefixes, make_condition, *, ahead, max_tokens=12):
    told = Told()
    channel = SimpleNamespace(send=told, kinds=OneKind(), encoder=None)
    channel.vocabulary = SimpleNamespace(end_tokens=frozenset({END}), size=100)
    part = explorer(make_condition("?", max_tokens=max_tokens), PREPARED, channel, ahead=ahead)

    async def all_of_them():
        return [await part.look(prefix, 2) for prefix in prefixes]

    return asyncio.run(all_of_them()), told.asked


PREFIXES = [(), (2,), (21,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (21, 22)]


def test_a_pass_goes_on_for_the_looks_that_come_next(make_condition):
    found, asked = looks(PREFIXES, make_condition, ahead=3)
    alone, each = looks(PREFIXES, make_condition, ahead=1)
    assert found == alone
    assert [prefix for prefix, _ in each] == PREFIXES
    assert asked == [((), 3), ((21,), 3), ((2, 3, 4), 3), ((21, 22), 3)]
    assert found[0].tokens == (2, 21)
    assert found[0].logprobs == pytest.approx((math.log(0.9), math.log(0.06)))


def test_a_pass_goes_no_further_than_a_reply(make_condition):
    _, asked = looks([(2, 3, 4), (2, 3, 4, 5)], make_condition, ahead=9, max_tokens=5)
    assert asked == [((2, 3, 4), 2)]
