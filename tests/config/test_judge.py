"""A judge behind an API: where it is, what it may be asked, and never its key."""

from __future__ import annotations

import pytest

from judgerel_ray.config import Limits, Prices, parse_sweep
from judgerel_ray.core import SweepError

JUDGE = """
[[judge]]
name = "{name}"
engine = "{engine}"
model = "m"
{more}
"""
ASK = """
[[ask]]
protocol = "best_of"
benchmark = "b"
path = "p"
"""
HERE = 'base_url = "http://127.0.0.1:8000/v1"'


def sweep_of(*more: str, engine: str = "openai") -> str:
    judges = [JUDGE.format(name=f"j{i}", engine=engine, more=lines) for i, lines in enumerate(more)]
    return 'name = "s"\n' + "".join(judges) + ASK


def test_a_judge_behind_an_api_needs_only_its_server():
    judge = parse_sweep(sweep_of(HERE + "\n")).judge[0]
    assert (judge.gpus, judge.base_url, judge.api_key_env) == (0, "http://127.0.0.1:8000/v1", None)


def test_a_slash_at_the_end_makes_no_other_server():
    assert parse_sweep(sweep_of(HERE[:-1] + '/"')).judge[0].base_url == "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("", "needs base_url, or its provider by name: anthropic, azure, groq, ollama, openai"),
        ('provider = "opnai"', "Try: openai"),
        ('provider = "openai"\ngpus = 1', "gpus must be 0"),
        ('base_url = "127.0.0.1:8000"', "must be a URL"),
        ('base_url = "http://h:port/v1"', "must be a URL"),
        ('base_url = "ftp://h/v1"', "must be a URL"),
        (f"{HERE}\ngpus = 1", "gpus must be 0"),
        (f'{HERE}\ndtype = "float32"', "dtype is the server's affair"),
        (f"{HERE}\nmax_model_len = 100", "max_model_len is the server's affair"),
        (f'{HERE}\nchat_template = "c.jinja"', "chat_template must be true"),
        (f"{HERE}\nlimits = {{ timeout = 700 }}", "deadline must be at least timeout = 700"),
        (f"{HERE}\nlimits = {{ requests_per_minut = 7 }}", "Try: requests_per_minute"),
        (f"{HERE}\nlimits = {{ concurrency = 0 }}", "at least 1"),
        (f"{HERE}\nprices = {{ cached = 1.0 }}", "Try: cached_prompt"),
    ],
)
def test_what_cannot_be_is_refused(more, words):
    with pytest.raises(SweepError) as caught:
        parse_sweep(sweep_of(more))
    assert words in str(caught.value)


@pytest.mark.parametrize(("gpus", "stages"), [(4, 3), (2, 4), (0, 2), (4, 0)])
def test_stages_of_a_pipeline_share_the_gpus_evenly(gpus, stages):
    more = f"gpus = {gpus}\npipeline_parallel_size = {stages}"
    with pytest.raises(SweepError, match="pipeline_parallel_size"):
        parse_sweep(sweep_of(more, engine="vllm"))


@pytest.mark.parametrize(
    "more",
    [
        'base_url = "https://me:sk-secret9@h/v1"',
        'base_url = "https://h/v1?key=sk-secret9"',
        'base_url = "https://h/v1#sk-secret9"',
        f'{HERE}\napi_key_env = "sk-secret9"',
        f'{HERE}\napi_key_env = "sksecret9"',
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(more):
    with pytest.raises(SweepError) as caught:
        parse_sweep(sweep_of(more))
    assert "secret9" not in str(caught.value)
    assert "environment variable" in str(caught.value)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("meta-llama/Llama-3.3-70B", "Llama-3.3-70B"),
        ("llama3.2:1b", "llama3.2:1b"),
        ("../my model", "my-model"),
    ],
)
def test_a_judge_of_a_provider_needs_its_model_alone(model, name):
    judge = parse_sweep(
        f'name = "s"\njudge = [{{ provider = "openai", model = "{model}" }}]\n{ASK}'
    ).judge[0]
    assert (judge.engine, judge.name, judge.gpus) == ("openai", name, 0)


def test_a_judge_of_no_provider_has_a_name():
    with pytest.raises(SweepError, match=r"judge\[0\].name is missing"):
        parse_sweep(f'name = "s"\njudge = [{{ model = "m" }}]\n{ASK}')


@pytest.mark.parametrize(
    "key", [HERE, 'provider = "vllm"', 'api_key_env = "KEY"', "limits = { retries = 1 }"]
)
def test_keys_of_servers_mean_nothing_to_other_engines(key):
    with pytest.raises(SweepError, match="is of judges of engine openai, not vllm"):
        parse_sweep(sweep_of(key, engine="vllm"))


def test_judges_of_one_provider_state_the_same_limits():
    ten = f"{HERE}\nlimits = {{ requests_per_minute = 10 }}"
    parse_sweep(sweep_of(ten, ten))
    # What one request may take is each judge's own.
    parse_sweep(sweep_of(HERE, f"{HERE}\nlimits = {{ retries = 1, timeout = 5 }}"))
    # Another key is another provider.
    parse_sweep(sweep_of(ten, f'{HERE}\napi_key_env = "KEY"'))
    with pytest.raises(SweepError, match=r"j0 and j1 share a provider .* 10\.0 and None"):
        parse_sweep(sweep_of(ten, HERE))
    named = 'provider = "groq"'
    with pytest.raises(SweepError, match="j0 and j1 share a provider"):
        parse_sweep(sweep_of(named, f"{named}\nlimits = {{ concurrency = 2 }}"))
    parse_sweep(sweep_of('provider = "openai"', f"{named}\nlimits = {{ concurrency = 2 }}"))


def test_cached_prompt_tokens_have_their_own_price_where_one_is_stated():
    stated = Prices(prompt=2.0, completion=8.0, cached_prompt=0.2)
    assert stated.cost(1_000_000, 500_000, 250_000) == pytest.approx(1.0 + 0.1 + 2.0)
    assert Prices(prompt=2.0, completion=8.0).cost(1_000_000, 500_000, 250_000) == pytest.approx(
        4.0
    )


def test_the_longest_time_of_a_lease_grows_with_each_limit():
    limits = Limits(
        concurrency=2, requests_per_minute=60, tokens_per_minute=6000, deadline=100, timeout=10
    )
    assert limits.lease_seconds(10, 600) == 5 * 100 + 10 + 6
