"""A real vLLM engine on CPU: the traps that only an engine shows.

One engine serves all but the last test; the tests share its event loop, as asks of an actor do.
"""

import asyncio
import gc
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import psutil
import pytest

from judgerel_ray.core import (
    CUT_IN_THOUGHT,
    Ask,
    EngineError,
    EngineLost,
    EngineStartError,
    RequestRefused,
    Scoring,
    SweepError,
    TokenCounts,
    request_key,
)
from judgerel_ray.engines import Engine, EngineSpec, Prepared, make_engine
from judgerel_ray.engines.engine import cut_after
from judgerel_ray.engines.vllm import engine as vllm_engine
from judgerel_ray.engines.vllm import reading as vllm_reading
from judgerel_ray.engines.vllm.sampling import chunks, read_output
from judgerel_ray.fleet.landing import without_thought
from judgerel_ray.protocols import split_thought

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

PATIENCE_S = 600.0  # only what hangs takes longer, on a machine however busy
MAX_MODEL_LEN = 2048
BLOCK = 32


def spec_of(folder, **changes) -> EngineSpec:
    return EngineSpec(
        **{
            "name": "j",
            "engine": "vllm",
            "model": str(folder),
            "max_model_len": MAX_MODEL_LEN,
            **changes,
        }
    )


class Served:
    """A started engine and the event loop it lives on."""

    def __init__(self, spec: EngineSpec) -> None:
        self.runner = asyncio.Runner()
        self.before = set(psutil.Process().children(recursive=True))
        self.engine: Engine = make_engine(spec)
        self.facts = self.runner.run(self.engine.start())

    def ask(self, condition, *, first=0, n=1):
        return self.runner.run(self.asking(condition, first=first, n=n))

    async def asking(self, condition, *, first=0, n=1):
        prepared = self.engine.prepare(condition)
        return await self.engine.complete(prepared, Ask(condition=condition, first=first, n=n))

    def counted(self, work: Callable[[], object]) -> TokenCounts:
        """Tokens of some work; the statistics follow the last reply by a step."""
        before = self.engine.counters()
        work()
        self.runner.run(asyncio.sleep(0.2))
        return self.engine.counters() - before

    def wait_idle(self) -> None:
        """Wait until nothing is left to do and its counters stand still."""

        async def wait() -> None:
            before = None
            while (
                self.engine._llm.get_num_unfinished_requests() or before != self.engine.counters()
            ):
                before = self.engine.counters()
                await asyncio.sleep(0.5)

        self.runner.run(asyncio.wait_for(wait(), PATIENCE_S))

    def processes(self) -> list[psutil.Process]:
        """Child processes this engine started that still run."""
        new = set(psutil.Process().children(recursive=True)) - self.before
        return [p for p in new if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]

    def cores(self) -> list[psutil.Process]:
        """Its engine core and workers; Python's own resource tracker is shared by all."""
        return [p for p in self.processes() if "VLLM" in p.name() or "EngineC" in p.name()]


@pytest.fixture(scope="module", autouse=True)
def swept():
    """Collect what engines leave, while its warnings are still vLLM's and not the session's."""
    yield
    gc.collect()  # vLLM never closes its ZeroMQ contexts


@pytest.fixture(scope="module")
def served(tiny_model):
    made = Served(spec_of(tiny_model))
    yield made
    made.runner.run(made.engine.stop())
    left = made.cores()
    made.runner.close()
    assert left == []  # nothing outlives a stopped engine


def texts(completions):
    return [completion.text for completion in completions]


def test_what_was_resolved_is_what_was_meant(served):
    facts = served.facts
    assert (facts.engine, facts.device, facts.dtype) == ("vllm", "cpu", "float32")
    assert facts.engine_version[0].isdigit()
    assert facts.max_model_len == MAX_MODEL_LEN
    assert (facts.max_num_seqs, facts.max_num_batched_tokens) == (256, 8192)
    assert facts.block_size == BLOCK
    assert facts.chunked_prefill is False
    assert facts.prefix_caching is True
    assert facts.kv_tokens > MAX_MODEL_LEN
    assert len(facts.chat_template_sha256) == 64
    assert (facts.device_name, facts.batch_invariant) == ("cpu", False)


def test_a_greedy_reply_in_float32_is_the_same_whatever_else_is_in_its_batch(
    served, make_condition
):
    """What reduce calls serving noise: none here, and a crowd of others makes no difference."""
    greedy = make_condition("which of them, then?", temperature=0.0, max_tokens=24)
    others = [make_condition(f"and number {i} of many?", max_tokens=24) for i in range(24)]
    alone = texts(served.ask(greedy, n=4))

    async def together():
        asks = [served.asking(greedy, n=8), *(served.asking(other, n=4) for other in others)]
        return (await asyncio.gather(*asks))[0]

    crowded = texts(served.runner.run(together()))
    assert set(crowded) == set(alone)
    assert len(set(alone)) == 1


def test_four_samples_are_four_requests_with_consecutive_seeds(served, make_condition):
    condition = make_condition("which of these two?")
    together = served.ask(condition, n=4)
    alone = [served.ask(condition, first=r)[0] for r in range(4)]
    assert texts(together) == texts(alone)
    assert [c.seed for c in together] == [c.seed for c in alone]
    assert [c.completion_tokens for c in together] == [c.completion_tokens for c in alone]
    assert len(set(texts(together))) == 4


def test_every_sample_arrives_once_in_order_though_lengths_differ(served, make_condition):
    condition = make_condition("lengths", stop=("e",), max_tokens=30)
    completions = served.ask(condition, first=5, n=100)
    assert [c.replication for c in completions] == list(range(5, 105))
    assert [c.key for c in completions] == [
        request_key(condition.condition_key, r) for r in range(5, 105)
    ]
    assert [c.seed for c in completions] == [condition.seed_base + r for r in range(5, 105)]
    assert len({c.completion_tokens for c in completions}) > 3
    assert {c.finish_reason for c in completions} <= {"stop", "length"}


def test_where_an_ask_is_cut_into_requests_changes_nothing(served, make_condition, monkeypatch):
    condition = make_condition("cuts")
    whole = served.ask(condition, n=10)
    monkeypatch.setattr(vllm_engine, "chunks", partial(chunks, most=3))
    parts = served.ask(condition, n=10)
    assert texts(parts) == texts(whole)
    assert [(c.key, c.seed) for c in parts] == [(c.key, c.seed) for c in whole]


def test_the_token_limit_asked_is_the_one_used(served, make_condition):
    completions = served.ask(make_condition("limit", max_tokens=33), n=8)
    longest = max(completions, key=lambda c: c.completion_tokens)
    assert longest.completion_tokens == 33  # 16 were vLLM's own
    assert longest.finish_reason == "length"


def test_greedy_is_asked_one_by_one_without_a_seed(served, make_condition):
    completions = served.ask(make_condition("greedy", temperature=0.0, max_tokens=12), n=3)
    assert len(set(texts(completions))) == 1
    assert {c.seed for c in completions} == {None}
    assert [c.replication for c in completions] == [0, 1, 2]
    assert None not in {c.cached_tokens for c in completions}


def test_a_cold_question_is_computed_once(served, make_condition):
    condition = make_condition("once " * 100, max_tokens=4)
    prompt = served.engine.prepare(condition).prompt_tokens
    counts = served.counted(lambda: served.ask(condition, n=50))
    tail = prompt - BLOCK * ((prompt - 1) // BLOCK)
    least = prompt + 49 * tail
    assert counts.prompt == 50 * prompt
    assert counts.prompt - counts.cached == pytest.approx(least, rel=0.05)
    again = served.counted(lambda: served.ask(make_condition("once " * 100, temperature=0.5), n=2))
    assert again.prompt - again.cached == pytest.approx(2 * tail, rel=0.05)


def test_single_replies_tell_their_cached_tokens_and_others_do_not(served, make_condition):
    condition = make_condition("cached " * 40, max_tokens=2)
    prompt = served.engine.prepare(condition).prompt_tokens
    cold, warm = served.ask(condition)[0], served.ask(condition)[0]
    assert cold.cached_tokens < BLOCK * 2  # the template's first words are known
    assert warm.cached_tokens == BLOCK * ((prompt - 1) // BLOCK)
    assert {c.cached_tokens for c in served.ask(condition, n=2)} == {None}


def test_a_prompt_shorter_than_a_block_works_and_is_never_shared(served, make_condition):
    condition = make_condition("?", max_tokens=2)
    prompt = served.engine.prepare(condition).prompt_tokens
    assert prompt < BLOCK
    counts = served.counted(lambda: served.ask(condition, n=6))
    assert (counts.prompt, counts.cached) == (6 * prompt, 0)


def test_long_seeded_prompts_side_by_side_do_not_kill_it(served, make_condition):
    conditions = [make_condition(f"{i} " + "long " * 165, max_tokens=8) for i in range(8)]
    lengths = [served.engine.prepare(condition).prompt_tokens for condition in conditions]
    assert min(lengths) >= 650

    async def all_at_once():
        return await asyncio.gather(*(served.asking(c, n=20) for c in conditions))

    answers = served.runner.run(all_at_once())
    assert [len(answer) for answer in answers] == [20] * 8
    assert texts(answers[3]) == texts(served.ask(conditions[3], n=20))


def test_a_prompt_begins_once(served, make_condition):
    prepared = served.engine.prepare(make_condition("begin"))
    assert prepared.text.startswith("<s>")
    assert prepared.token_ids[0] == 0
    assert prepared.token_ids.count(0) == 1
    assert prepared.prompt_tokens == len(prepared.token_ids)


def test_a_prompt_that_cannot_fit_is_refused_before_any_work(served, make_condition):
    def refused():
        with pytest.raises(RequestRefused, match=r"^prompt_too_long: \d+ prompt \+ 40 new .* 2048"):
            served.engine.prepare(make_condition("word " * 600))

    assert served.counted(refused) == TokenCounts()


def test_what_the_engine_will_not_sample_is_refused(served, make_condition):
    with pytest.raises(RequestRefused, match=r"sampling_parameters: .*temperature"):
        served.ask(make_condition("hot", temperature=2.5))
    with pytest.raises(RequestRefused, match="temperature_too_small"):
        served.ask(make_condition("cold", temperature=0.005))
    beyond = Prepared(condition_key="k", text="", token_ids=(1,) * 3000, prompt_tokens=3000)
    asking = served.engine.complete(beyond, Ask(condition=make_condition("x"), first=0, n=1))
    with pytest.raises(RequestRefused, match="request_refused: "):
        served.runner.run(asking)
    assert len(served.ask(make_condition("fine"))) == 1


def test_an_early_stop_gives_the_beginning_of_the_same_text(served, make_condition):
    free = make_condition("stop here")
    cut = make_condition("stop here", stop=("s",), seed_base=free.seed_base, condition_key="other")
    long, short = served.ask(free, n=30), served.ask(cut, n=30)
    assert texts(short) == [cut_after(text, ("s",)) for text in texts(long)]
    stopped = [c for c in short if c.text.endswith("s")]
    assert stopped
    assert {c.finish_reason for c in stopped} == {"stop"}
    assert sum(c.completion_tokens for c in short) < sum(c.completion_tokens for c in long)


@pytest.fixture
def opened(served, monkeypatch):
    """The engine behind a chat template that opens a thought at the end of every prompt."""
    encoder = served.engine._encoder
    monkeypatch.setattr(encoder, "_template", encoder._template + "<think>\n")
    monkeypatch.setattr(encoder, "_kept", OrderedDict())
    return served


def test_a_reply_that_begins_inside_a_thought_is_known_and_never_stopped_there(
    opened, make_condition
):
    condition = make_condition("which of them?", max_tokens=30, stop=("e",))
    completions = opened.ask(condition, n=30)
    assert all(text.startswith("<think>") for text in texts(completions))
    assert any("e" in text[:-1].removeprefix("<think>") for text in texts(completions))
    assert {split_thought(text).reply for text in texts(completions)} == {""}
    kept = [without_thought(one, condition) for one in completions]
    assert {(one.text, one.finish_reason) for one in kept} <= {("", CUT_IN_THOUGHT), ("", "stop")}
    assert {one.finish_reason for one in kept} >= {CUT_IN_THOUGHT}


def test_no_verdict_is_scored_inside_a_thought(opened, make_condition):
    with pytest.raises(RequestRefused, match="opens_thought"):
        opened.ask(scoring_condition(make_condition, "options"))


def test_a_thought_that_no_template_names_is_not_stopped_either(
    served, make_condition, monkeypatch
):
    """Its text is made to begin with a mark; the engine, its stop and the second ask are real."""
    condition = make_condition("which of them?", max_tokens=30, stop=("e",))
    stopped = served.ask(condition, n=12)
    assert any(text.endswith("e") for text in texts(stopped))
    whole = served.ask(replace(condition, stop=()), n=12)

    def marked(output, prepared, chunk):
        return tuple(
            replace(one, text="<think>" + one.text) for one in read_output(output, prepared, chunk)
        )

    monkeypatch.setattr(vllm_reading, "read_output", marked)
    monkeypatch.setattr(served.engine, "_thinks", False)
    for _ in range(2):
        found = served.ask(condition, n=12)
        assert texts(found) == ["<think>" + text for text in texts(whole)]
        assert [one.seed for one in found] == [one.seed for one in whole]


def test_asking_again_with_the_same_ask_gives_the_same(served, make_condition):
    condition = make_condition("again", stop=("q",))
    ask = Ask(condition=condition, first=0, n=3)
    prepared = served.engine.prepare(condition)
    first = served.runner.run(served.engine.complete(prepared, ask))
    assert served.runner.run(served.engine.complete(prepared, ask)) == first
    assert ask == Ask(condition=condition, first=0, n=3)


def test_an_aborted_reply_is_no_completion(served, make_condition):
    condition = make_condition("abort", max_tokens=1500)

    async def aborted():
        asking = asyncio.ensure_future(served.asking(condition, n=2))
        llm = served.engine._llm
        while not llm.output_processor.external_req_ids:  # a busy machine takes its time
            await asyncio.sleep(0.05)
        await llm.abort(list(llm.output_processor.external_req_ids))
        await asking

    with pytest.raises(EngineError, match="finish reason 'abort'") as caught:
        served.runner.run(aborted())
    assert type(caught.value) is EngineError


def test_a_dropped_ask_leaves_the_engine_idle(served, make_condition):
    condition = make_condition("drop", max_tokens=1500, temperature=2.0, top_k=0)

    async def dropped():
        asking = asyncio.ensure_future(served.asking(condition, n=100))
        while not served.engine._llm.output_processor.external_req_ids:
            await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    served.runner.run(dropped())
    served.wait_idle()
    assert served.counted(lambda: served.runner.run(asyncio.sleep(0.3))) == TokenCounts()
    assert served.engine._llm.get_num_unfinished_requests() == 0


def test_one_failed_request_fails_its_ask_and_drops_the_others(served, make_condition, monkeypatch):
    real = vllm_engine.answer_chunk

    async def failing(condition, prepared, chunk, channel):
        if chunk.first == 0:
            raise EngineError("told to")
        return await real(condition, prepared, chunk, channel)

    monkeypatch.setattr(vllm_engine, "answer_chunk", failing)
    # Greedy replications are requests of their own.
    cold = make_condition("one fails", max_tokens=1500, temperature=0.0)
    with pytest.raises(EngineError, match="told to"):
        served.ask(cold, n=4)
    served.wait_idle()
    assert served.engine._llm.get_num_unfinished_requests() == 0


def test_an_unknown_option_is_named_before_the_model_is_loaded(tiny_model):
    options = {"max_num_seqz": 4, "unchecked": ["max_num_seqz"]}
    engine = make_engine(spec_of(tiny_model, engine_options=options))
    with pytest.raises(SweepError, match=r"got 'max_num_seqz'.*did you mean 'max_num_seqs'"):
        asyncio.run(engine.start())


def test_a_model_that_is_not_there_never_starts(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EngineStartError, match="did not start"):
        asyncio.run(make_engine(spec_of(tmp_path)).start())


def test_a_killed_engine_core_is_a_lost_engine(tiny_model, make_condition, wait_until):
    served = Served(spec_of(tiny_model, max_model_len=None, chat_template=False))
    facts = served.facts
    assert (facts.max_model_len, facts.max_num_batched_tokens) == (MAX_MODEL_LEN, 8192)
    assert (facts.chunked_prefill, facts.chat_template_sha256) == (False, None)
    assert gc.get_freeze_count()  # or a full collection holds up all replies for half a second
    plain = served.engine.prepare(make_condition("plain"))
    assert (plain.text, plain.token_ids.count(0), plain.token_ids[0]) == ("plain", 1, 0)
    condition = make_condition("kill", max_tokens=1500, temperature=2.0, top_k=0)

    async def killed():
        asking = asyncio.ensure_future(served.asking(condition, n=200))
        while not served.engine._llm.output_processor.external_req_ids:
            await asyncio.sleep(0.05)
        assert served.engine.is_alive()
        (core,) = (p for p in served.cores() if "EngineC" in p.name())
        core.kill()
        with pytest.raises(EngineLost):
            await asyncio.wait_for(asking, timeout=PATIENCE_S)
        with pytest.raises(EngineLost):
            await asyncio.wait_for(served.asking(condition), timeout=PATIENCE_S)
        assert not served.engine.is_alive()

    served.runner.run(killed())
    served.runner.run(served.engine.stop())
    served.runner.run(served.engine.stop())  # twice is once
    assert not gc.get_freeze_count()
    wait_until(lambda: not served.cores(), "the end of a killed engine's processes")
    with pytest.raises(EngineLost):
        served.ask(condition)
    served.runner.close()


OPTIONS = ("A", "B", "that answers", "the question")


def scoring_condition(make_condition, kind, *, start="Best Response: [[", **changes):
    return make_condition(
        "which of these is the best response to the question? " * 12,
        stage="probabilities",
        role="scorer",
        menu=None,
        temperature=0.0,
        scoring=Scoring(kind=kind, start=start, **changes),
    )


@pytest.fixture(scope="module")
def reference(tiny_model):
    """Log-probabilities of the next token by transformers, in double precision."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(str(tiny_model)).double().eval()

    def next_logprobs(ids):
        with torch.no_grad():
            return torch.log_softmax(model(torch.tensor([list(ids)])).logits[0, -1], dim=-1)

    return next_logprobs


def test_whole_options_are_products_of_conditionals(served, make_condition, reference):
    condition = scoring_condition(make_condition, "options", continuations=OPTIONS)
    prepared = served.engine.prepare(condition)
    assert max(map(len, prepared.continuations)) > 1  # an option of several tokens is among them
    (completion,) = served.ask(condition)
    assert (completion.text, completion.completion_tokens) == ("", 0)
    for place, tokens in enumerate(prepared.continuations):
        found = [one for one in completion.logprobs if one.continuation == place]
        assert "".join(one.token for one in found) == OPTIONS[place]
        before = list(prepared.token_ids)
        for one, token in zip(found, tokens, strict=True):
            assert one.logprob == pytest.approx(float(reference(before)[token]), abs=1e-4)
            before.append(token)


def test_inserted_options_have_the_logprobs_of_columns(served, make_condition):
    columns = served.ask(scoring_condition(make_condition, "options", continuations=OPTIONS))[
        0
    ].logprobs
    for place, option in enumerate(OPTIONS):
        paper = scoring_condition(make_condition, "inserted", continuations=(option,))
        alone = served.ask(paper)[0].logprobs
        together = [one for one in columns if one.continuation == place]
        assert [one.token for one in alone] == [one.token for one in together]
        assert [one.logprob for one in alone] == pytest.approx(
            [one.logprob for one in together], abs=1e-5
        )


def test_kinds_of_scoring_side_by_side_do_not_mix(served, make_condition, reference):
    conditions = [
        scoring_condition(make_condition, "options", continuations=OPTIONS),
        scoring_condition(make_condition, "next", top=50),
        make_condition("which is best?"),
        scoring_condition(make_condition, "inserted", continuations=("A",)),
    ] * 4

    async def together():
        return await asyncio.gather(*(served.asking(each) for each in conditions))

    answers = served.runner.run(together())
    alone = [served.ask(each) for each in conditions[:4]]
    for one, other in zip(answers, alone * 4, strict=True):
        assert [(x.token, x.continuation) for x in one[0].logprobs] == [
            (x.token, x.continuation) for x in other[0].logprobs
        ]
        assert [x.logprob for x in one[0].logprobs] == pytest.approx(
            [x.logprob for x in other[0].logprobs], abs=1e-5
        )
    top = [one.logprob for one in answers[1][0].logprobs]
    ids = served.engine.prepare(conditions[1]).token_ids
    assert top == pytest.approx(sorted(map(float, reference(ids)), reverse=True)[:50], abs=1e-4)
    assert answers[2][0].text
    assert answers[2][0].logprobs == ()


def test_options_of_one_token_cost_one_pass(served, make_condition):
    condition = scoring_condition(make_condition, "options", continuations=("A", "B", "C"))
    served.ask(condition)
    n_prompt = len(served.engine.prepare(condition).token_ids)
    counts = served.counted(lambda: served.ask(condition))
    assert counts.prompt == n_prompt
    assert counts.prompt - counts.cached <= BLOCK + 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("",), "option_empty"),
        (("A", "A"), "options_alike"),
        (("that", "that answers"), "options_alike"),
    ],
)
def test_options_that_cannot_be_scored_are_refused(served, make_condition, options, problem):
    with pytest.raises(RequestRefused, match=problem):
        served.ask(scoring_condition(make_condition, "options", continuations=options))


def test_an_option_that_merges_with_the_prompt_is_refused(served, make_condition):
    condition = scoring_condition(
        make_condition, "options", start="best respon", continuations=("se",)
    )
    with pytest.raises(RequestRefused, match="option_merges"):
        served.ask(condition)
