"""What is said and refused of judges behind an API before anything is asked."""

from __future__ import annotations

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import SweepError

JUDGE = """
name = "s"
[[judge]]
name = "j"
engine = "openai"
model = "m"
base_url = "http://127.0.0.1:1/v1"
{judge}
[[ask]]
protocol = "best_of"
benchmark = "b"
path = "{path}"
{replications}
max_tokens = 10
{ask}
"""


@pytest.fixture
def planned(tmp_path):
    """The plan of a sweep of ten questions, as one text of its notes."""
    rows = [f"q{i},Which of these is number {i}?,this,that" for i in range(10)]
    items = tmp_path / "items.csv"
    items.write_text("\n".join(["item_id,question,option_x,option_y", *rows]) + "\n")

    def plan(judge="", ask="top_k = 0", replications="replications = 100") -> str:
        text = JUDGE.format(judge=judge, ask=ask, path=items, replications=replications)
        return "\n".join(plan_resolved(resolve(parse_sweep(text))).notes)

    return plan


def test_tokens_that_are_kept_are_refused_where_the_server_is_not_declared_to(planned):
    with pytest.raises(SweepError, match=r"top_k = 50 .* Try: top_k = 0"):
        planned(ask="")
    assert planned("engine_options = { top_k = true }", ask="")
    assert planned('engine_options = { server = "vllm" }', ask="")


@pytest.mark.parametrize(
    "asked",
    ['responders = ["j", "k"]\ncascade = 0.5', 'responders = ["j", "k"]\njudges = ["k"]'],
)
def test_models_that_think_twice_are_looked_at_although_they_judge_nobody(tmp_path, asked):
    items = tmp_path / "items.csv"
    items.write_text("item_id,question,option_x,option_y\nq,Which?,this,that\n")
    other = '[[judge]]\nname = "k"\nengine = "simulated"\nmodel = "uniform"'
    text = JUDGE.format(judge=other, ask=asked, path=items, replications="")
    text = text.replace("best_of", "think_twice")
    with pytest.raises(SweepError, match=r"top_k = 50 .*judge=j"):
        resolve(parse_sweep(text))
    assert resolve(parse_sweep(f"{text}\ntop_k = 0"))


def test_what_a_server_cannot_list_is_refused(planned):
    with pytest.raises(SweepError, match="mode exact reads log-probabilities of prompts"):
        planned(ask='top_k = 0\nmode = "exact"', replications="")
    with pytest.raises(SweepError, match="verdict_logprobs reads log-probabilities, the judge's"):
        planned("engine_options = { logprobs = 0 }", "top_k = 0\nverdict_logprobs = true")
    assert planned(ask="top_k = 0\nverdict_logprobs = true")


def test_money_and_time_are_told_as_bounds(planned):
    notes = planned(
        "prices = { prompt = 1000.0, completion = 1_000_000.0 }\n"
        "limits = { requests_per_minute = 50, tokens_per_minute = 1e9 }"
    )
    # 1,000 requests of ten new tokens at one unit each, and prompts that cost next to nothing.
    assert "costs about 10,1" in notes
    assert "takes about 20 minutes at most by requests_per_minute = 50" in notes
    assert "tokens_per_minute" not in notes
    assert "no prices, so the cost column stays empty" in planned()


def test_what_nobody_can_promise_is_said(planned):
    plain = planned(ask="top_k = 0\nearly_stop = true")
    assert "the server may ignore it" in plain
    assert "early_stop saves no tokens here" in plain
    assert "can change behind its name" in plain
    assert "looks like agreement" in planned("engine_options = { seed = false }")
    served = planned('engine_options = { server = "vllm" }', ask="early_stop = true")
    assert "the server may ignore it" not in served
    assert "4 options or fewer" in served
