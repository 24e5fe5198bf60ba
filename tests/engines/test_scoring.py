import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Menu, Scoring, TokenLogprob
from judgerel_ray.engines import Prepared
from judgerel_ray.engines.next_tokens import option_passes, path_logprobs
from judgerel_ray.engines.vllm.scoring import MOST_WANTED, OneKind, score

TOKENS = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple),
    min_size=1,
    max_size=6,
    unique=True,
)


def prefix_free(options):
    return [o for o in options if not any(p != o and o[: len(p)] == p for p in options)]


@given(TOKENS)
def test_passes_see_every_token_once_and_no_beginning_twice(options):
    options = prefix_free(options)
    passes = option_passes(options)
    befores = [one.before for one in passes]
    assert len(set(befores)) == len(befores)
    seen = {one.before: {t: -float(t) - 1 for t in one.wanted} for one in passes}
    for tokens, logprobs in zip(options, path_logprobs(options, seen), strict=True):
        assert logprobs == tuple(-float(token) - 1 for token in tokens)
    needed = {tokens[:k] for tokens in options for k in range(len(tokens))}
    assert set(befores) == needed


class _Logprob:
    def __init__(self, logprob):
        self.logprob, self.rank = logprob, None


class _Output:
    def __init__(self, found):
        self.outputs = [self]
        self.logprobs = [{token: _Logprob(value) for token, value in found.items()}]
        self.prompt_logprobs = None


def scored(continuations, send):
    prepared = Prepared(
        condition_key="c", text="?", token_ids=(9,), prompt_tokens=1, continuations=continuations
    )
    scoring = Scoring(kind="options", continuations=tuple(map(str, continuations)))
    return asyncio.run(
        score(scoring, prepared, send, OneKind(), lambda ids: [str(token) for token in ids])
    )


def test_more_options_than_one_pass_can_tell_take_several():
    asked = []

    async def send(ids, parameters):
        wanted = parameters["logprob_token_ids"]
        asked.append((ids, len(wanted)))
        return _Output({token: -token / 1000 for token in wanted})

    n = MOST_WANTED + 5
    found = scored(tuple((token,) for token in range(n)), send)
    assert asked == [((9,), MOST_WANTED), ((9,), 5)]
    assert found[-1] == TokenLogprob(token=str(n - 1), logprob=-(n - 1) / 1000, continuation=n - 1)


@pytest.mark.parametrize(
    ("continuations", "cached", "told"),
    [
        # 100 tokens, 96 of them known: a pass computes 4, and 5 behind the option's first token.
        (((1,), (2,)), 96, 96),
        (((1, 3), (2,)), 96, 91),
        (((1,), (2,)), 0, 0),
        (((1, 3), (2,)), 0, 0),
        (((1,), (2,)), None, None),
    ],
)
def test_a_reading_tells_what_its_passes_computed(make_condition, continuations, cached, told):
    from types import SimpleNamespace

    from judgerel_ray.core import Ask
    from judgerel_ray.engines.vllm.reading import EngineChannel, read_probabilities

    async def send(ids, parameters):
        output = _Output(dict.fromkeys(parameters["logprob_token_ids"], -1.0))
        output.num_cached_tokens = cached
        assert len(ids) in (100, 101)
        return output

    scoring = Scoring(kind="options", continuations=tuple(map(str, continuations)))
    condition = make_condition(scoring=scoring, stage="probabilities", role="scorer")
    prepared = Prepared(
        condition_key="c", text="?", token_ids=tuple(range(100)), prompt_tokens=100,
        continuations=continuations,
    )  # fmt: skip
    encoder = SimpleNamespace(token_texts=lambda ids: [str(token) for token in ids])
    channel = EngineChannel(send=send, kinds=OneKind(), encoder=encoder, vocabulary=None)
    ask = Ask(condition=condition, first=0, n=1)
    found = asyncio.run(read_probabilities(ask, prepared, channel))
    assert (found.prompt_tokens, found.cached_tokens) == (100, told)
    assert len(found.logprobs) == sum(map(len, continuations))


def test_a_token_left_out_leaves_the_request_pending():
    from judgerel_ray.core import EngineError

    async def send(ids, parameters):
        assert ids == (9,)
        return _Output(dict.fromkeys(parameters["logprob_token_ids"][:1], -1.0))

    with pytest.raises(EngineError, match="left out the log-probability of token 2"):
        scored(((1,), (2,)), send)


def test_kinds_take_turns():
    running, together = [], []

    async def one(kinds, kind):
        async with kinds.of(kind):
            running.append(kind)
            together.append(frozenset(running))
            await asyncio.sleep(0)
            running.remove(kind)

    async def all_of_them():
        kinds = OneKind()
        await asyncio.gather(*(one(kinds, "ab"[n % 2]) for n in range(20)))

    asyncio.run(all_of_them())
    assert len(together) == 20
    assert all(len(kinds) == 1 for kinds in together)


@pytest.mark.parametrize("suggestibility", [0.0, 2.0])
def test_a_simulated_judge_is_moved_by_what_was_argued(suggestibility):
    from judgerel_ray.core import Condition
    from judgerel_ray.engines.simulated.engine import scored_logprobs
    from judgerel_ray.engines.simulated.options import SimulatedOptions

    menu = Menu(labels=("1", "10"), option_ids=("x", "y"), form="best_response")
    condition = Condition(
        condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
        item_id="i", protocol="confusion", stage="probabilities", role="scorer", prompt=(),
        template="default", temperature=0.0, top_k=50, top_p=1.0, max_tokens=1, menu=menu,
        argued="y", scoring=Scoring(kind="options", continuations=("1]]", "10]]")),
    )  # fmt: skip
    told = SimulatedOptions(suggestibility=suggestibility, refuse=0.2)
    first, second = (math.exp(one.logprob) for one in scored_logprobs("uniform", told, condition))
    assert first + second == pytest.approx(0.8)
    assert second / first == pytest.approx(math.exp(suggestibility))
