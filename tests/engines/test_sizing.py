"""What is known of a model without loading it."""

import json
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec, model_size, prompt_counter

JUDGE = Path(judgerel_ray.__file__).parent / "demo" / "judge"


def spec(model, **keys):
    return EngineSpec(name="j", engine="vllm", model=str(model), **{"gpus": 1, **keys})


@pytest.mark.parametrize(
    ("model", "billions"),
    [
        ("meta-llama/Meta-Llama-3-8B-Instruct", 8.0),
        ("google/gemma-1.1-7b-it", 7.0),
        ("Nexusflow/Starling-LM-7B-beta", 7.0),
        ("Qwen/Qwen2.5-0.5B", 0.5),
        ("Qwen/Qwen3-30B-A3B", 30.0),
        ("tiiuae/falcon-7b", 7.0),
        ("microsoft/phi-2", None),
        ("mistralai/Mixtral-8x7B-v0.1", None),
        ("7b/model", None),
        ("acme/v2b2-model", None),
    ],
)
def test_a_name_tells_the_size_or_nothing(model, billions):
    size = model_size(spec(model))
    assert (size and size.parameters) == (billions and billions * 1e9)
    assert size is None or size.source == "by the model's name"


@pytest.mark.parametrize(
    ("keys", "bytes_each"),
    [
        ({}, 2.0),
        ({"dtype": "float32"}, 4.0),
        ({"dtype": "bfloat16"}, 2.0),
        ({"quantization": "fp8"}, 1.0),
        ({"quantization": "AWQ"}, 0.5),
        ({"quantization": "gptq_marlin"}, 0.5),
    ],
)
def test_weights_are_as_large_as_their_numbers(keys, bytes_each):
    size = model_size(spec("acme/x-8B", **keys))
    assert size is not None
    assert size.weight_bytes == 8e9 * bytes_each


def test_files_tell_before_names_do(tmp_path):
    folder = tmp_path / "judge-70B"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"x" * 2000)
    size = model_size(spec(folder))
    assert size is not None
    assert (size.parameters, size.weight_bytes, size.source) == (1000.0, 2000.0, "by its files")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 5000}}))
    assert model_size(spec(folder)).weight_bytes == 5000.0
    index.write_text("{}")
    assert model_size(spec(folder)).weight_bytes == 2000.0


def test_a_folder_without_weights_goes_by_its_name(tmp_path):
    (tmp_path / "judge-1B").mkdir()
    (tmp_path / "judge").mkdir()
    assert model_size(spec(tmp_path / "judge-1B")).parameters == 1e9
    assert model_size(spec(tmp_path / "judge")) is None


def test_a_local_tokenizer_counts():
    count, how = prompt_counter(spec(JUDGE))
    assert how == "counted"
    # <|begin|>, then Best| Response:| [[|A|]]
    assert count("Best Response: [[A]]") == 6
    assert count("Best Response: [[A]]" * 50) == 1 + 5 * 50


def test_a_limit_in_the_tokenizer_does_not_cut_the_count(tmp_path):
    content = json.loads((JUDGE / "tokenizer.json").read_text())
    content["truncation"] = {
        "direction": "Right",
        "max_length": 4,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    content["padding"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    assert prompt_counter(spec(tmp_path))[0]("Best Response: [[A]]") == 6


@pytest.mark.parametrize("content", ["{", "[]"])
def test_files_that_are_no_json_are_named(tmp_path, content):
    (tmp_path / "tokenizer.json").write_text(content)
    (tmp_path / "model.safetensors.index.json").write_text(content)
    with pytest.raises(SweepError, match=r"judge=j, file=.*tokenizer\.json"):
        prompt_counter(spec(tmp_path))
    with pytest.raises(SweepError, match=r"judge=j, file=.*index\.json"):
        model_size(spec(tmp_path))


def test_without_a_tokenizer_characters_are_counted_by_four(tmp_path):
    for one in (spec("acme/x-8B"), spec(tmp_path)):
        count, how = prompt_counter(one)
        assert (count("x" * 41), count(""), how) == (10, 0, "estimated")
