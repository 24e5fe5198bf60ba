import asyncio
import math
import re
import subprocess
import sys
from collections import Counter

import pytest

from judgerel_ray.core import (
    Ask,
    EngineError,
    EngineLost,
    EngineStartError,
    Menu,
    Outcome,
    RequestRefused,
    TokenCounts,
    request_key,
)
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.engines.simulated.engine import simulated_logprobs
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.replies import REFUSAL
from judgerel_ray.protocols import FORMS, read_verdict
from tests.truth import true_distribution


def ask_of(engine, condition, *, first=0, n=1):
    prepared = engine.prepare(condition)
    return asyncio.run(engine.complete(prepared, Ask(condition=condition, first=first, n=n)))


def verdicts(completions, menu):
    return [read_verdict(c.text, finish_reason=c.finish_reason, menu=menu) for c in completions]


def test_an_answer_follows_from_seed_condition_and_replication_alone(simulated, make_condition):
    condition = make_condition()
    whole = ask_of(make_engine(simulated("dirichlet")), condition, n=20)
    pieces = make_engine(simulated("dirichlet"))
    parts = [ask_of(pieces, condition, first=first, n=5) for first in (15, 0, 10, 5)]
    texts = {c.replication: c.text for part in parts for c in part}
    assert texts == {c.replication: c.text for c in whole}
    assert len(set(texts.values())) > 1


def test_completions_come_in_order_with_keys_and_seeds(simulated, make_condition):
    condition = make_condition()
    completions = ask_of(make_engine(simulated()), condition, first=3, n=4)
    assert [c.replication for c in completions] == [3, 4, 5, 6]
    assert [c.key for c in completions] == [
        request_key(condition.condition_key, r) for r in (3, 4, 5, 6)
    ]
    assert [c.seed for c in completions] == [condition.seed_base + r for r in (3, 4, 5, 6)]


def test_greedy_is_the_likeliest_verdict_each_time_without_a_seed(simulated, make_condition):
    spec, condition = simulated("dirichlet"), make_condition(temperature=0.0)
    completions = ask_of(make_engine(spec), condition, n=3)
    shares = true_distribution(spec, item_id="q1", menu=condition.menu, temperature=0.0)
    label = condition.menu.labels[shares.index(1.0)]
    assert [c.text for c in completions] == [f"Best Response: [[{label}]]"] * 3
    assert {c.seed for c in completions} == {None}


@pytest.mark.alike(3)
@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("model", ["uniform", "dirichlet", "position"])
def test_verdicts_have_the_true_shares(simulated, make_condition, form, model):
    from judgerel_ray.core import Scale

    thinks = form in ("final_answer", "correct_answer")
    rates = form in ("rating", "score")
    named = {
        "correctness": ("correct", "incorrect"),
        "rating": ("No", "Yes"),
        "score": ("No", "Yes"),
    }
    named |= dict.fromkeys(("final_answer", "correct_answer"), ("0", "1"))
    labels = named.get(form, ("A", "B"))
    scale = Scale(name="binary", level="nominal", labels=labels) if rates else None
    menu = Menu(labels=labels, option_ids=("x", "y"), form=form, scale=scale)
    spec = simulated(model, reason_words=15)
    protocol = "think_twice" if thinks else "best_of"
    condition = make_condition(menu=menu, temperature=0.7, protocol=protocol)
    completions = ask_of(make_engine(spec), condition, n=3000)
    found = Counter(reading.label for reading in verdicts(completions, menu))
    assert set(found) <= set(labels)  # the reason given is never read as another verdict
    shares = true_distribution(spec, item_id="q1", menu=menu, temperature=0.7)
    for label, share in zip(labels, shares, strict=True):
        assert found[label] / 3000 == pytest.approx(share, abs=0.04)


def test_a_greedy_selection_is_the_likeliest_options_however_often_asked(simulated, make_condition):
    labels = ("0", "1", "2", "3")
    menu = Menu(labels=labels, option_ids=labels, form="options", most=2)
    spec = simulated("dirichlet")
    condition = make_condition(menu=menu, temperature=0.0, protocol="think_twice", stage="select")
    (text,) = {one.text for one in ask_of(make_engine(spec), condition, n=20)}
    shares = true_distribution(spec, item_id="q1", menu=menu, temperature=1.0)
    likeliest = sorted(labels, key=lambda label: -shares[int(label)])[:2]
    assert re.findall(r"Option: (\d)", text) == likeliest


def test_refusals_and_off_form_replies_have_their_shares(simulated, make_condition):
    engine = make_engine(simulated(refuse=0.2, unparsed=0.1))
    condition = make_condition()
    readings = verdicts(ask_of(engine, condition, n=3000), condition.menu)
    found = Counter(reading.outcome for reading in readings)
    assert found[Outcome.REFUSED] / 3000 == pytest.approx(0.2, abs=0.03)
    assert found[Outcome.UNPARSED] / 3000 == pytest.approx(0.1, abs=0.03)
    assert found[Outcome.SCORED] == 3000 - found[Outcome.REFUSED] - found[Outcome.UNPARSED]


def test_greedy_refuses_only_where_that_is_likeliest(simulated, make_condition):
    condition = make_condition(temperature=0.0)
    seldom = ask_of(make_engine(simulated(refuse=0.3)), condition)
    mostly = ask_of(make_engine(simulated(refuse=0.6)), condition)
    assert seldom[0].text == "Best Response: [[A]]"
    assert mostly[0].text == REFUSAL


def test_a_stop_string_cuts_the_reason_and_keeps_the_verdict(simulated, make_condition):
    spec = simulated(reason_words=10)
    free = make_condition()
    cut = make_condition(stop=("]]",), condition_key=free.condition_key)
    long = ask_of(make_engine(spec), free, n=50)
    short = ask_of(make_engine(spec), cut, n=50)
    assert all(c.text.endswith("]]") for c in short)
    assert all(
        a.text.startswith(b.text) and a.text != b.text for a, b in zip(long, short, strict=True)
    )
    assert verdicts(long, free.menu) == verdicts(short, cut.menu)


def test_a_reply_over_the_limit_is_cut_and_says_so(simulated, make_condition):
    condition = make_condition(max_tokens=3)
    (completion,) = ask_of(make_engine(simulated()), condition)
    assert completion.finish_reason == "length"
    assert completion.completion_tokens == 3
    assert completion.text == "Best Respons"


def test_without_a_menu_it_answers_with_text(simulated, make_condition):
    condition = make_condition(menu=None, role="responder")
    completions = ask_of(make_engine(simulated(reason_words=5)), condition, n=5)
    assert len({c.text for c in completions}) == 5
    assert all(c.text.startswith("Answer 0.") for c in completions)


def test_tokens_are_counted_as_with_a_prefix_cache(simulated, make_condition):
    condition = make_condition("x" * 4 * 100)  # 100 tokens: 6 blocks of 16 and a tail of 4
    engine = make_engine(simulated())
    prompt = engine.prepare(condition).prompt_tokens
    assert prompt == 100
    completions = ask_of(engine, condition, n=5)
    assert [c.cached_tokens for c in completions] == [0, 96, 96, 96, 96]
    generated = sum(c.completion_tokens for c in completions)
    assert engine.counters() == TokenCounts(prompt=500, cached=384, generated=generated)
    again = make_condition("x" * 4 * 100, temperature=0.5)
    assert [c.cached_tokens for c in ask_of(engine, again, n=2)] == [96, 96]
    (longer,) = ask_of(engine, make_condition("x" * 4 * 100 + "y" * 400))
    assert longer.cached_tokens == 96


def test_a_whole_block_is_computed_again_where_the_prompt_ends_with_it(simulated, make_condition):
    engine = make_engine(simulated())
    completions = ask_of(engine, make_condition("x" * 4 * 32), n=2)
    assert [c.cached_tokens for c in completions] == [0, 16]


def test_a_prompt_shorter_than_a_block_is_never_shared(simulated, make_condition):
    completions = ask_of(make_engine(simulated()), make_condition("short"), n=3)
    assert [c.cached_tokens for c in completions] == [0, 0, 0]


def test_a_prompt_that_cannot_fit_is_refused_before_any_work(make_condition):
    spec = EngineSpec(name="j", engine="simulated", model="uniform", max_model_len=100)
    engine = make_engine(spec)
    with pytest.raises(RequestRefused, match=r"^prompt_too_long: 61 prompt \+ 40 new tokens > 100"):
        engine.prepare(make_condition("x" * 244))
    assert engine.prepare(make_condition("x" * 240)).prompt_tokens == 60
    assert engine.counters() == TokenCounts()


def test_it_dies_with_the_request_told_and_stays_dead(simulated, make_condition):
    engine = make_engine(simulated(dies_on=5, dies="raise"))
    condition = make_condition()
    assert len(ask_of(engine, condition, n=4)) == 4
    with pytest.raises(EngineLost):
        ask_of(engine, condition, first=4)
    with pytest.raises(EngineLost):
        ask_of(engine, condition, first=5)


def test_it_dies_once_among_several_engines(simulated, make_condition, tmp_path):
    spec = simulated(dies_on=1, dies="raise", dies_once=str(tmp_path / "died"))
    with pytest.raises(EngineLost):
        ask_of(make_engine(spec), make_condition())
    assert len(ask_of(make_engine(spec), make_condition())) == 1


@pytest.mark.slow
def test_it_takes_its_process_along():
    code = """
import asyncio, sys
from judgerel_ray.core import Ask, Condition, Message
from judgerel_ray.engines import EngineSpec, make_engine
condition = Condition(condition_key="k", seed_base=1, judge="j", judge_fingerprint="f",
    benchmark="b", item_id="q", protocol="best_of", stage="judge", role="judge",
    prompt=(Message(role="user", content="?"),), template="t", temperature=1.0, top_k=0,
    top_p=1.0, max_tokens=8)
engine = make_engine(EngineSpec(name="j", engine="simulated", model="uniform",
                                engine_options={"dies_on": 2}))
ask = Ask(condition=condition, first=0, n=2)
asyncio.run(engine.complete(engine.prepare(condition), ask))
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (70, "")


def test_a_poisoned_item_kills_it_and_others_do_not(simulated, make_condition):
    spec = simulated(poison="q13", dies="raise")
    assert len(ask_of(make_engine(spec), make_condition(item_id="q12"))) == 1
    with pytest.raises(EngineLost):
        ask_of(make_engine(spec), make_condition(item_id="q13-a"))


def test_a_failed_request_can_be_asked_again(simulated, make_condition):
    engine = make_engine(simulated(fails_on=[2]))
    condition = make_condition()
    assert len(ask_of(engine, condition)) == 1
    with pytest.raises(EngineError) as caught:
        ask_of(engine, condition, first=1)
    assert type(caught.value) is EngineError
    assert len(ask_of(engine, condition, first=1)) == 1


def test_a_hanging_request_never_ends_and_can_be_dropped(simulated, make_condition):
    engine = make_engine(simulated(hangs_on=1))
    condition = make_condition()
    ask = Ask(condition=condition, first=0, n=1)

    async def wait():
        await asyncio.wait_for(engine.complete(engine.prepare(condition), ask), timeout=0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(wait())


def test_it_can_be_kept_from_starting(simulated):
    with pytest.raises(EngineStartError):
        asyncio.run(make_engine(simulated(fails_start=True)).start())


def test_a_stopped_one_answers_no_more(simulated, make_condition):
    engine = make_engine(simulated())
    facts = asyncio.run(engine.start())
    assert (facts.engine, facts.block_size, facts.device) == ("simulated", 16, "none")
    assert engine.is_alive()
    asyncio.run(engine.stop())
    assert not engine.is_alive()
    with pytest.raises(EngineLost):
        ask_of(engine, make_condition())


def test_asks_share_its_speed(simulated, make_condition):
    # 5 tokens each ("Best Response: [[A]]" is 20 characters): 3 asks of 4 at 1,000 tokens/s.
    engine = make_engine(simulated(tokens_per_s=1000, latency_ms=10))
    conditions = [make_condition(f"{i}") for i in range(3)]

    async def together():
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(
            *(
                engine.complete(engine.prepare(c), Ask(condition=c, first=0, n=4))
                for c in conditions
            )
        )
        return loop.time() - began

    assert asyncio.run(together()) >= 0.069


def test_an_option_not_on_the_menu_is_refused_not_answered(simulated, make_condition):
    with pytest.raises(RequestRefused):
        ask_of(make_engine(simulated("always", label="Z")), make_condition())


@pytest.mark.parametrize("temperature", [2.0, 1.0, 0.5])
def test_probabilities_at_a_verdict_are_those_it_was_drawn_from(make_condition, temperature):
    menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    condition = make_condition(menu=menu, temperature=temperature)
    options = SimulatedOptions(concentration=3.0)
    found = simulated_logprobs("dirichlet", options, condition, 0)
    raised = {one.continuation: math.exp(one.logprob / temperature) for one in found}
    spec = EngineSpec(
        name="j", engine="simulated", model="dirichlet", engine_options={"concentration": 3.0}
    )
    shares = true_distribution(spec, item_id=condition.item_id, menu=menu, temperature=temperature)
    total = sum(raised.values())
    assert [raised[place] / total for place in (0, 1)] == pytest.approx(shares)
    assert [one.rank for one in found] == [1, 2]
