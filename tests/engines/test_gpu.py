"""A real vLLM engine on a CUDA device, in the dtype it takes there by itself: the demo's judge.

Half precision is not the same for every batch, so texts are compared where the batch is the same.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgerel_ray.core import Ask, Completion, RequestRefused, TokenCounts
from judgerel_ray.engines import Engine, EngineFacts, EngineSpec, make_engine

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = 4
BLOCKS = 8192  # of a cache that would otherwise fill the device, for a judge of 0.2 M weights

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.vllm,
    pytest.mark.slow,
    # What vLLM, torch and the driver warn of differs from machine to machine.
    pytest.mark.filterwarnings("ignore"),
]


class Served:
    """A started engine and the event loop it lives on."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.engine: Engine = make_engine(
            EngineSpec(
                name="tiny-judge",
                engine="vllm",
                model=str(ROOT / "judgerel_ray/demo/judge"),
                gpus=1,
                max_model_len=1024,
                engine_options={"gpu_memory_utilization": 0.4, "num_gpu_blocks_override": BLOCKS},
            )
        )
        self.facts: EngineFacts = self.runner.run(self.engine.start())

    def ask(self, condition, *, first: int = 0, n: int = 1) -> tuple[Completion, ...]:
        async def asking() -> tuple[Completion, ...]:
            prepared = self.engine.prepare(condition)
            return await self.engine.complete(prepared, Ask(condition=condition, first=first, n=n))

        return self.runner.run(asking())

    def counters(self) -> TokenCounts:
        """Tokens so far; the statistics follow the last reply by a step."""
        self.runner.run(asyncio.sleep(0.5))
        return self.engine.counters()


@pytest.fixture(scope="module")
def served(cuda) -> Iterator[Served]:  # noqa: ARG001  skips first
    made = Served()
    yield made
    made.runner.run(made.engine.stop())
    made.runner.close()
    gc.collect()  # vLLM never closes its ZeroMQ contexts


@pytest.fixture(scope="module")
def conditions(make_condition) -> list:
    """The demo's questions as its protocol asks them."""
    import polars as pl

    from judgerel_ray.protocols import load_template, render_best_of
    from judgerel_ray.tables import frame_to_items

    items = frame_to_items(pl.read_parquet(ROOT / "judgerel_ray/demo/items.parquet"))
    template = load_template("best_of", "default")
    return [
        make_condition(
            prompt=tuple(render_best_of(template, item, item.options)),
            item_id=item.item_id,
            max_tokens=24,
        )
        for item in items[:QUESTIONS]
    ]


def texts(completions) -> list[str | None]:
    return [completion.text for completion in completions]


def test_it_runs_on_the_device_in_its_own_dtype(served):
    facts = served.facts
    assert (facts.engine, facts.device) == ("vllm", "cuda")
    assert facts.dtype in ("bfloat16", "float16")
    assert (facts.max_num_seqs, facts.max_num_batched_tokens) == (1024, 16384)
    assert facts.max_model_len == 1024
    assert facts.prefix_caching is True
    assert facts.kv_tokens
    assert facts.kv_tokens >= 1024


def test_seeded_replications_differ(served, conditions):
    for condition in conditions:
        completions = served.ask(condition, n=64)
        assert [c.replication for c in completions] == list(range(64))
        assert [c.seed for c in completions] == [condition.seed_base + r for r in range(64)]
        assert len(set(texts(completions))) > 8
        assert {c.finish_reason for c in completions} <= {"stop", "length"}


def test_equal_seeds_give_equal_texts(served, conditions):
    condition = conditions[0]
    served.ask(condition)  # its prompt is in the cache from here on
    once = [served.ask(condition, first=r)[0] for r in range(16)]
    again = [served.ask(condition, first=r)[0] for r in range(16)]
    assert texts(once) == texts(again)
    assert len(set(texts(once))) > 4


def test_replications_of_one_request_are_those_of_single_requests(served, conditions):
    """Rounding in another batch turns a word now and then; another seed turns nearly all."""
    condition = conditions[1]
    together = texts(served.ask(condition, n=64))
    alone = texts(served.ask(condition, first=r)[0] for r in range(64))
    same = sum(one == other for one, other in zip(together, alone, strict=True))
    shifted = sum(one == other for one, other in zip(together[1:], alone, strict=False))
    assert same >= 48
    assert same > shifted


def test_temperature_zero_is_one_text(served, conditions, make_condition):
    condition = conditions[0]
    greedy = make_condition(
        prompt=condition.prompt, item_id=condition.item_id, max_tokens=24, temperature=0.0
    )
    served.ask(greedy)
    answers = [served.ask(greedy)[0] for _ in range(3)]
    assert len(set(texts(answers))) == 1
    assert {answer.seed for answer in answers} == {None}


def test_replications_share_the_prompt(served, conditions):
    condition = conditions[2]
    served.ask(condition)
    before = served.counters()
    served.ask(condition, n=32)
    spent = served.counters() - before
    assert spent.prompt == 32 * served.engine.prepare(condition).prompt_tokens
    assert spent.cached > spent.prompt // 2
    assert spent.generated > 0


def test_a_prompt_too_long_never_reaches_the_device(served, make_condition):
    condition = make_condition("accurate vague " * 1000)
    with pytest.raises(RequestRefused, match="prompt_too_long"):
        served.engine.prepare(condition)
