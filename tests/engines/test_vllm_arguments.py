"""What vLLM is told: slips in it are found where a sweep is planned."""

import subprocess
import sys
from dataclasses import replace

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec, judge_fingerprint, make_engine
from judgerel_ray.engines.tokenization import template_options
from judgerel_ray.engines.vllm.arguments import (
    LISTED_VERSION,
    VLLM_DTYPES,
    VLLM_OPTIONS,
    VLLM_QUANTIZATIONS,
    check_capability,
    cpu_token_budget,
    engine_arguments,
    environment,
    unchecked_names,
)


def spec(*, dtype=None, quantization=None, **options):
    return EngineSpec(
        name="j",
        engine="vllm",
        model="m",
        gpus=1,
        dtype=dtype,
        quantization=quantization,
        engine_options=options,
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_num_seq": 8}, r"got 'max_num_seq' \[judge=j\]. Try: 'max_num_seqs', or "),
        ({"blok_size": 8}, r"'blok_size'.*Try: 'block_size', or engine_options.unchecked = "),
        ({"zzz": 1}, r'got \'zzz\'.*Try: engine_options.unchecked = \["zzz"\] if your vLLM has it'),
        ({"dtype": "float_16"}, r"dtype must be one of auto, half.*'float_16'.*Try: 'float16'"),
        ({"dtype": "int4"}, "dtype must be one of auto, half"),
        ({"quantization": "gptq_marlim"}, r"quantization must be a scheme.*Try: 'gptq_marlin', or"),
        ({"unchecked": "zzz"}, "unchecked must be a list of names, got 'zzz'"),
        ({"unchecked": [1]}, "unchecked must be a list of names"),
    ],
)
def test_a_slip_costs_no_engine_start(given, message):
    with pytest.raises(SweepError, match=message):
        make_engine(spec(**given))


def test_what_a_judge_vouches_for_is_passed_on():
    options = {"new_option": 3, "unchecked": ["new_option", "dtype", "quantization"]}
    arguments = engine_arguments(spec(dtype="float4", quantization="mine", **options))
    assert arguments["new_option"] == 3
    assert (arguments["dtype"], arguments["quantization"]) == ("float4", "mine")
    assert "unchecked" not in arguments


def test_vouching_for_a_name_does_not_open_what_the_house_sets():
    with pytest.raises(SweepError, match="must not set 'seed'"):
        make_engine(spec(seed=1, unchecked=["seed"]))


@pytest.mark.slow
def test_vouching_is_no_part_of_who_the_judge_is(tiny_model):
    one, two = (
        judge_fingerprint(
            EngineSpec(name="j", engine="vllm", model=str(tiny_model), engine_options=options)
        )
        for options in ({}, {"unchecked": ["max_num_seqs"]})
    )
    assert one.digest == two.digest


@pytest.mark.parametrize(
    "given",
    [
        {"dtype": "bfloat16", "quantization": "fp8", "attention_backend": "FLASH_ATTN"},
        {"quantization": "bitsandbytes"},
        {"dtype": "auto", "max_num_seqs": 8, "block_size": 32},
    ],
)
def test_known_names_are_passed_on_as_given(given):
    arguments = engine_arguments(spec(**given))
    assert {name: arguments[name] for name in given} == given


def test_what_the_chat_template_is_told_is_no_argument_of_the_engine():
    told = spec(chat_template_kwargs={"enable_thinking": False})
    assert template_options(told) == {"enable_thinking": False}
    assert "chat_template_kwargs" not in engine_arguments(told)


@pytest.mark.vllm
@pytest.mark.slow
def test_the_lists_are_those_of_the_installed_vllm():
    """In a process of its own: importing vLLM changes the one it is in."""
    found = subprocess.run(
        [sys.executable, "-c", LISTS], capture_output=True, text=True, check=True, timeout=240
    )
    version, options, schemes, dtypes = found.stdout.strip().splitlines()[-4:]
    if version.split("+")[0] != LISTED_VERSION:
        pytest.skip(f"the lists are those of vLLM {LISTED_VERSION}, here is {version}")
    secret = {"hf_token"}
    assert {one for one in options.split() if one[0] != "_"} - secret == VLLM_OPTIONS
    assert set(schemes.split()) == VLLM_QUANTIZATIONS - {"bitsandbytes", "gguf"}
    assert tuple(dtypes.split()) == VLLM_DTYPES


LISTS = """
import dataclasses, typing, vllm
from vllm import AsyncEngineArgs
from vllm.config.model import ModelDType
from vllm.model_executor.layers.quantization import QUANTIZATION_METHODS
print(vllm.__version__)
print(*(field.name for field in dataclasses.fields(AsyncEngineArgs)))
print(*QUANTIZATION_METHODS)
print(*typing.get_args(ModelDType))
"""


def spec_with(*, gpus=0, max_model_len=None, executor="uni", dtype=None, **options):
    return EngineSpec(
        name="j",
        engine="vllm",
        model="m",
        gpus=gpus,
        max_model_len=max_model_len,
        executor=executor,
        dtype=dtype,
        engine_options=options,
    )


def test_a_gpu_engine_has_its_budgets_written_out():
    arguments = engine_arguments(spec_with(gpus=1))
    assert arguments["max_num_seqs"] == 1024
    assert arguments["max_num_batched_tokens"] == 16384
    assert arguments["max_logprobs"] == 64
    assert arguments["generation_config"] == "vllm"
    assert arguments["enable_prefix_caching"] is True
    assert arguments["disable_log_stats"] is False
    assert arguments["seed"] == 0
    assert arguments["tensor_parallel_size"] == 1
    assert "enable_chunked_prefill" not in arguments
    assert "block_size" not in arguments


def test_several_gpus_are_tensor_parallel_and_need_an_executor_for_them():
    arguments = engine_arguments(spec_with(gpus=4, executor="mp"))
    assert arguments["tensor_parallel_size"] == 4
    assert arguments["distributed_executor_backend"] == "mp"
    with pytest.raises(SweepError, match="executor must be mp or ray for gpus = 4"):
        engine_arguments(spec_with(gpus=4))


def test_stages_of_a_pipeline_are_tensor_parallel_over_their_share():
    staged = replace(spec_with(gpus=8, executor="ray"), pipeline_parallel_size=2)
    arguments = engine_arguments(staged)
    assert (arguments["tensor_parallel_size"], arguments["pipeline_parallel_size"]) == (4, 2)


def test_a_cpu_engine_takes_every_prompt_in_one_step():
    arguments = engine_arguments(spec_with(max_model_len=32768))
    assert arguments["enable_chunked_prefill"] is False
    assert arguments["max_num_batched_tokens"] == 32768
    assert engine_arguments(spec_with(max_model_len=512))["max_num_batched_tokens"] == 8192
    assert arguments["dtype"] == "float32"
    assert arguments["block_size"] == 32
    assert arguments["enforce_eager"] is True


def test_a_cpu_engine_without_a_length_gets_its_budget_when_that_is_known():
    spec = spec_with()
    assert "max_num_batched_tokens" not in engine_arguments(spec)
    assert cpu_token_budget(spec, 131072) == 131072


def test_options_that_would_kill_a_cpu_engine_are_refused():
    with pytest.raises(SweepError, match="enable_chunked_prefill must be false on CPU"):
        engine_arguments(spec_with(enable_chunked_prefill=True))
    with pytest.raises(SweepError, match="at least max_model_len = 4096 on CPU, got 2048"):
        engine_arguments(spec_with(max_model_len=4096, max_num_batched_tokens=2048))
    chunked = engine_arguments(spec_with(gpus=1, enable_chunked_prefill=True))
    assert chunked["enable_chunked_prefill"] is True


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("seed", "leave it out"),
        ("model", "set model of the judge"),
        ("tensor_parallel_size", "set gpus of the judge"),
        ("generation_config", "leave it out"),
        ("override_generation_config", "leave it out"),
        ("dtype", "set dtype of the judge"),
        ("max_model_len", "set max_model_len of the judge"),
        ("quantization", "set quantization of the judge"),
        ("trust_remote_code", "set trust_remote_code of the judge"),
        ("data_parallel_size", "set replicas of the judge"),
        ("distributed_executor_backend", "leave it out"),
        ("logprobs_mode", "leave it out"),
        ("disable_log_stats", "leave it out"),
        ("skip_tokenizer_init", "leave it out"),
        ("samples_per_request", r"set replications_per_request of \[fleet\]"),
    ],
)
def test_what_the_house_sets_no_option_may_set(option, hint):
    with pytest.raises(SweepError, match=f"must not set {option!r}.*Try: {hint}"):
        make_engine(EngineSpec(name="j", engine="vllm", model="m", engine_options={option: 1}))


def test_other_options_are_passed_on_and_win_over_defaults():
    arguments = engine_arguments(
        spec_with(gpus=1, max_num_seqs=64, attention_backend="FLASH_ATTN", chat_template_kwargs={})
    )
    assert arguments["max_num_seqs"] == 64
    assert arguments["attention_backend"] == "FLASH_ATTN"
    assert "chat_template_kwargs" not in arguments


def test_precision_is_the_judges_own_or_the_devices():
    assert engine_arguments(spec_with(gpus=1))["dtype"] == "auto"
    assert engine_arguments(spec_with(gpus=1, dtype="bfloat16"))["dtype"] == "bfloat16"
    assert engine_arguments(spec_with(dtype="bfloat16"))["dtype"] == "bfloat16"


def test_template_options_are_a_table():
    options = {"enable_thinking": False}
    assert template_options(spec_with(chat_template_kwargs=options)) == options
    with pytest.raises(SweepError, match="must be a table"):
        template_options(spec_with(chat_template_kwargs="no"))


def test_reports_are_off_and_a_cpu_has_its_cache_unless_set():
    assert environment(spec_with(), {})["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert "VLLM_CPU_KVCACHE_SPACE" not in environment(spec_with(), {"VLLM_CPU_KVCACHE_SPACE": "8"})
    on_gpu = environment(spec_with(gpus=1), {})
    assert on_gpu == {"VLLM_NO_USAGE_STATS": "1", "VLLM_DO_NOT_TRACK": "1", "DO_NOT_TRACK": "1"}


@pytest.mark.parametrize(
    "options", [{"hf_token": "hf_x"}, {"model_loader_extra_config": {"s3_access_key": "x"}}]
)
def test_secrets_are_refused_because_the_sweep_file_is_kept(options):
    with pytest.raises(SweepError, match="must not hold secrets") as caught:
        engine_arguments(EngineSpec(name="j", engine="vllm", model="m", engine_options=options))
    assert "hf_x" not in str(caught.value)


def invariant(**changes):
    return replace(spec_with(gpus=1), batch_invariant=True, **changes)


def test_batch_invariance_is_a_variable_that_is_set_before_vllm_is_imported():
    assert environment(invariant(), {})["VLLM_BATCH_INVARIANT"] == "1"
    assert "VLLM_BATCH_INVARIANT" not in environment(spec_with(gpus=1), {})
    assert engine_arguments(invariant()) == engine_arguments(spec_with(gpus=1))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (invariant(gpus=0), "batch_invariant needs a GPU, got gpus = 0"),
        (
            invariant(engine="simulated", model="uniform", gpus=0),
            "batch_invariant works with engine vllm",
        ),
    ],
)
def test_batch_invariance_is_refused_where_there_is_none(spec, why):
    with pytest.raises(SweepError, match=why) as caught:
        make_engine(spec)
    assert "\n" not in str(caught.value)


def test_batch_invariance_is_refused_on_old_gpus():
    with pytest.raises(SweepError, match=r"compute capability 8\.0 or more, got 7\.5 \[judge=j\]"):
        check_capability(invariant(), (7, 5))
    for capability in ((8, 0), (9, 0), (10, 0), None):
        check_capability(invariant(), capability)
    check_capability(spec_with(gpus=1), (7, 0))


def test_a_judge_vouches_for_options_by_name():
    options = {"unchecked": ["new_option"], "new_option": 1}
    spec = EngineSpec(name="j", engine="vllm", model="m", engine_options=options)
    assert unchecked_names(spec) == frozenset({"new_option"})
