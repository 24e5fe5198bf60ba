from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.config import FleetTable
from judgerel_ray.core import Ask, EngineError, RequestRefused, request_key
from judgerel_ray.engines import Prepared
from judgerel_ray.engines.vllm.sampling import Chunk, chunks, read_output, sampling_arguments

PREPARED = Prepared(condition_key="c", text="?", token_ids=(1, 2, 3), prompt_tokens=3)


def output_of(*reasons, cached=0, indexes=None):
    places = range(len(reasons)) if indexes is None else indexes
    samples = [
        SimpleNamespace(index=i, text=f"t{i}", token_ids=[0] * (i + 1), finish_reason=reason)
        for i, reason in zip(places, reasons, strict=True)
    ]
    return SimpleNamespace(outputs=samples, num_cached_tokens=cached)


def test_every_parameter_that_moves_an_answer_is_written_out(make_condition):
    condition = make_condition(temperature=0.7, top_k=0, top_p=0.9, max_tokens=60)
    assert sampling_arguments(condition, n=3, seed=9) == {
        "n": 3,
        "temperature": 0.7,
        "top_k": 0,
        "top_p": 0.9,
        "min_p": 0.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "repetition_penalty": 1.0,
        "seed": 9,
        "max_tokens": 60,
        "min_tokens": 0,
        "ignore_eos": False,
        "skip_special_tokens": True,
        "detokenize": True,
    }


def test_a_stop_string_is_kept_in_the_text(make_condition):
    parameters = sampling_arguments(make_condition(stop=("]]",)), n=1, seed=9)
    assert parameters["stop"] == ["]]"]
    assert parameters["include_stop_str_in_output"] is True


def test_no_seed_at_a_warm_temperature_is_refused(make_condition):
    for seed in (None, -1):
        with pytest.raises(RequestRefused, match="fake agreement"):
            sampling_arguments(make_condition(), n=1, seed=seed)


@pytest.mark.parametrize("temperature", [1e-6, 0.005, 0.0099])
def test_a_temperature_that_would_be_raised_is_refused(make_condition, temperature):
    with pytest.raises(RequestRefused, match=r"^temperature_too_small"):
        sampling_arguments(make_condition(temperature=temperature), n=1, seed=1)
    ask = Ask(condition=make_condition(temperature=temperature), first=0, n=1)
    with pytest.raises(RequestRefused, match=r"^temperature_too_small"):
        chunks(ask)


def test_the_smallest_temperature_sampled_is_taken(make_condition):
    assert sampling_arguments(make_condition(temperature=0.01), n=1, seed=1)["temperature"] == 0.01


def test_greedy_takes_one_sample_and_no_seed(make_condition):
    cold = make_condition(temperature=0.0)
    assert sampling_arguments(cold, n=1, seed=None)["seed"] is None
    with pytest.raises(RequestRefused, match=r"^greedy"):
        sampling_arguments(cold, n=2, seed=None)
    with pytest.raises(RequestRefused, match=r"^greedy"):
        sampling_arguments(cold, n=1, seed=3)


def test_greedy_replications_are_single_requests(make_condition):
    parts = chunks(Ask(condition=make_condition(temperature=0.0), first=2, n=3))
    assert [(part.first, part.n, part.seed) for part in parts] == [
        (2, 1, None),
        (3, 1, None),
        (4, 1, None),
    ]


@given(first=st.integers(0, 500), n=st.integers(1, 300), size=st.integers(1, 100))
def test_chunks_cover_every_replication_once_with_its_own_seed(make_condition, first, n, size):
    condition = make_condition()
    parts = chunks(Ask(condition=condition, first=first, n=n), most=size)
    seeds = {}
    for part in parts:
        assert 1 <= part.n <= size
        assert part.parameters["n"] == part.n
        assert part.parameters["seed"] == part.seed
        for place in range(part.n):
            assert part.first + place not in seeds
            seeds[part.first + place] = part.seed + place
    assert seeds == {r: condition.seed_base + r for r in range(first, first + n)}


def test_what_a_fleet_sends_is_one_request(make_condition):
    """Its replications_per_request is the only place where the size of a request is said."""
    most = FleetTable.model_fields["replications_per_request"].metadata
    (largest,) = [one.le for one in most if hasattr(one, "le")]
    (part,) = chunks(Ask(condition=make_condition(), first=3, n=largest))
    assert (part.first, part.n) == (3, largest)


def test_samples_are_read_in_order_whatever_order_they_came_in():
    part = Chunk(first=10, n=3, seed=100, parameters={})
    found = read_output(
        output_of("stop", "length", "stop", indexes=[2, 0, 1], cached=2), PREPARED, part
    )
    assert [c.replication for c in found] == [10, 11, 12]
    assert [c.seed for c in found] == [100, 101, 102]
    assert [c.key for c in found] == [request_key("c", r) for r in (10, 11, 12)]
    assert [c.text for c in found] == ["t0", "t1", "t2"]
    assert [c.finish_reason for c in found] == ["length", "stop", "stop"]
    assert [c.completion_tokens for c in found] == [1, 2, 3]
    assert {c.cached_tokens for c in found} == {None}
    assert {c.prompt_tokens for c in found} == {3}


def test_cached_tokens_are_told_for_a_single_sample_only():
    part = Chunk(first=0, n=1, seed=None, parameters={})
    (found,) = read_output(output_of("stop", cached=2), PREPARED, part)
    assert (found.cached_tokens, found.seed) == (2, None)


@pytest.mark.parametrize("reason", ["abort", "error", None])
def test_what_did_not_finish_is_no_completion(reason):
    part = Chunk(first=0, n=2, seed=1, parameters={})
    with pytest.raises(EngineError, match="no whole reply"):
        read_output(output_of("stop", reason), PREPARED, part)


@pytest.mark.parametrize(
    "answered", [None, output_of("stop"), output_of("stop", "stop", indexes=[0, 2])]
)
def test_a_missing_sample_fails_the_request(answered):
    part = Chunk(first=0, n=2, seed=1, parameters={})
    with pytest.raises(EngineError, match="of 2 samples") as caught:
        read_output(answered, PREPARED, part)
    assert type(caught.value) is EngineError
