"""Slips in what vLLM is told are found where a sweep is planned."""

import subprocess
import sys

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec, judge_fingerprint, make_engine
from judgerel_ray.engines.tokenization.encoder import template_options
from judgerel_ray.engines.vllm.arguments import engine_arguments
from judgerel_ray.engines.vllm.options import (
    LISTED_VERSION,
    VLLM_DTYPES,
    VLLM_OPTIONS,
    VLLM_QUANTIZATIONS,
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
