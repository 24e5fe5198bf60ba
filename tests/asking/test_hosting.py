"""What is said and refused of judges behind an API before anything is asked."""

from __future__ import annotations

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.engines.openai.requests import PROVIDERS

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
def items(tmp_path):
    """A file of ten questions."""
    rows = [f"q{i},Which of these is number {i}?,this,that" for i in range(10)]
    file = tmp_path / "items.csv"
    file.write_text("\n".join(["item_id,question,option_x,option_y", *rows]) + "\n")
    return file


@pytest.fixture
def planned(items):
    """The plan of a sweep of ten questions, as one text of its notes."""

    def plan(judge="", ask="top_k = 0", replications="replications = 100") -> str:
        text = JUDGE.format(judge=judge, ask=ask, path=items, replications=replications)
        return "\n".join(plan_resolved(resolve(parse_sweep(text))).notes)

    return plan


def test_tokens_that_are_kept_are_refused_where_the_server_is_not_declared_to(planned):
    with pytest.raises(SweepError, match=r"top_k = 50 .* Try: top_k = 0"):
        planned(ask="top_k = 50")
    assert planned("engine_options = { top_k = true }", ask="top_k = 50")
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
        resolve(parse_sweep(f"{text}\ntop_k = 50"))
    assert resolve(parse_sweep(f"{text}\ntop_k = 0"))
    assert resolve(parse_sweep(text)).frames[0].ask.top_k == 0
    claude = text.replace('engine = "openai"', 'provider = "anthropic"')
    with pytest.raises(SweepError, match=r"temperature must be at most 1 .* got 1\.5 .*judge=j"):
        resolve(parse_sweep(f"{claude}\ntemperatures = [1.5]"))


def resolved_asks(items, ask, *more):
    """The asks as they are asked, and digests that a run and its rows go by."""
    text = JUDGE.format(judge="", ask=ask, path=items, replications="replications = 3")
    resolved = resolve(parse_sweep(text + "".join(more)))
    return resolved, resolved.identity


def test_what_nobody_wrote_is_neither_refused_nor_another_run(planned, items):
    plain, identity = resolved_asks(items, "")
    assert plain.frames[0].ask.top_k == 0
    assert plain.sweep.ask[0].top_k == 50  # the sweep stays as it was written
    assert identity == resolved_asks(items, "top_k = 0")[1]
    assert "top_k is 0, which keeps all tokens: judge j" in planned(ask="")
    assert "which keeps all tokens" not in planned(ask="top_k = 0")
    # All who are asked sample alike, and where everybody takes it nothing changes.
    other = '[[judge]]\nname = "k"\nengine = "simulated"\nmodel = "uniform"\n'
    text = JUDGE.format(judge="", ask="", path=items, replications="")
    both = resolve(parse_sweep(f"{text}\n{other}"))
    assert both.frames[0].ask.top_k == 0
    alone = resolve(parse_sweep(f'{text}\njudges = ["k"]\n{other}'))
    assert alone.frames[0].ask.top_k == 50


def test_what_responders_were_not_told_is_not_refused_either(items):
    other = '[[judge]]\nname = "k"\nengine = "simulated"\nmodel = "uniform"\n'
    two = 'responders = ["j", "l"]\n'
    third = other.replace('"k"', '"l"')
    plain, identity = resolved_asks(items, two, other, third)
    ask = plain.frames[0].ask
    assert (ask.top_k, ask.respond.top_k) == (50, 0)
    written = f"{two}respond = {{ top_k = 0 }}\n"
    assert identity == resolved_asks(items, written, other, third)[1]
    with pytest.raises(SweepError, match=r"respond\.top_k = 40 keeps the 40"):
        resolved_asks(items, f"{two}respond = {{ top_k = 40 }}\n", other, third)


PROVIDED = """
name = "s"
judge = [{{ provider = "{provider}", model = "m" {more} }}]
[[ask]]
protocol = "best_of"
benchmark = "b"
path = "{path}"
"""


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_sweep_of_a_provider_is_accepted_at_the_first_try(items, provider):
    known = PROVIDERS[provider]
    more = f', base_url = "{known.example}"' if known.base_url is None else ""
    text = PROVIDED.format(provider=provider, more=more, path=items)
    resolved = resolve(parse_sweep(text))
    spec = resolved.specs["m"]
    assert (spec.base_url, spec.api_key_env) == (known.base_url or known.example, known.api_key_env)
    # The long form is the same judge, as far as its address says.
    url = f'engine = "openai", base_url = "{spec.base_url}"'
    by_url = text.replace(more or "\0", "").replace(f'provider = "{provider}"', url)
    assert resolve(parse_sweep(by_url)).fingerprints == resolved.fingerprints
    keyed = 'api_key_env = "KEY", base_url = "http://h/v1"'
    elsewhere = text.replace('model = "m"', f'model = "m", {keyed}')
    other = resolve(parse_sweep(elsewhere.replace(more or "\0", "")))
    assert (other.specs["m"].base_url, other.specs["m"].api_key_env) == ("http://h/v1", "KEY")


@pytest.mark.parametrize("url", ["http://proxy.example:8000/v1", "http://api.openai.com/v1"])
def test_a_providers_key_is_for_its_own_server_alone(items, url):
    text = PROVIDED.format(provider="openai", more=f', base_url = "{url}"', path=items)
    with pytest.raises(SweepError, match=r"OPENAI_API_KEY is for that server alone.*api_key_env ="):
        resolve(parse_sweep(text))
    unkeyed = text.replace('provider = "openai"', 'engine = "openai"')
    assert resolve(parse_sweep(unkeyed)).specs["m"].api_key_env is None
    here = resolve(parse_sweep(text.replace(url, "http://localhost:8000/v1")))
    assert here.specs["m"].api_key_env is None
    home = resolve(parse_sweep(text.replace(url, "https://API.openai.com/v1/")))
    assert home.specs["m"].api_key_env == "OPENAI_API_KEY"


def test_judges_of_one_provider_state_the_same_limits_however_they_name_it(items):
    url = 'base_url = "https://api.groq.com/openai/v1", api_key_env = "GROQ_API_KEY"'
    long = f'{{ engine = "openai", name = "l", model = "m", {url} }}'
    text = PROVIDED.format(
        provider="groq", more=f", limits = {{ concurrency = 2 }} }}, {long[:-2]}", path=items
    )
    with pytest.raises(SweepError, match=r"m and l share a provider .*concurrency is 2 and 32"):
        resolve(parse_sweep(text))
    assert len(resolve(parse_sweep(text.replace(" = 2 ", " = 32 "))).specs) == 2


def test_a_provider_whose_address_is_each_customers_says_how_it_looks(items):
    text = PROVIDED.format(provider="azure", more="", path=items)
    with pytest.raises(SweepError, match=r"azure needs base_url.*https://RESOURCE\.openai\.azure"):
        resolve(parse_sweep(text))


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
