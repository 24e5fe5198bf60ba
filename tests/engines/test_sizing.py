"""What is known of a model without loading it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.core import Message, SweepError
from judgerel_ray.engines import EngineSpec, model_size, prompt_counter
from judgerel_ray.engines.sizing import thinking_remark
from judgerel_ray.engines.tokenization import PromptEncoder, chat_template_text

JUDGE = Path(judgerel_ray.__file__).parent / "demo" / "judge"


RICH = """{{ bos_token }}{%- for message in messages %}
    {% if message.role not in ["user", "assistant"] %}{{ raise_exception("no") }}{% endif %}
    {% generation %}{{ message | tojson }}{{ message.content | trim }}{% endgeneration %}
    {% if polite is defined and polite %}Please.{% endif %}
    {% if loop.last %}{% break %}{% endif %}
{% endfor %}
{% if strftime_now is defined %}{{ strftime_now("%Y")[:2] }}{% endif %}
{% if add_generation_prompt %}{{ eos_token }}<|assistant|>
{% endif %}"""


def said(text):
    return (Message(role="user", content=text),)


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
    # <|begin|><|user|>, then Best| Response:| [[|A|]], then <|end|><|assistant|>
    assert count(said("Best Response: [[A]]")) == 2 + 5 + 2
    assert count(said("Best Response: [[A]]" * 50)) == 2 + 5 * 50 + 2


def test_a_prompt_without_template_is_counted_as_it_is():
    count, how = prompt_counter(spec(JUDGE, chat_template=False))
    assert (count(said("Best Response: [[A]]")), how) == (1 + 5, "counted")


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"chat_template_kwargs": {"polite": True}}])
def test_a_plan_counts_what_the_engine_encodes(tiny_tokenizer, tmp_path, options):
    """The same ids as transformers gives, for a template with all that templates are made of."""
    from transformers import AutoTokenizer

    template = tmp_path / "rich.jinja"
    template.write_text(RICH, encoding="utf-8")
    for folder, chosen in ((JUDGE, True), (tiny_tokenizer, True), (tiny_tokenizer, str(template))):
        one = spec(folder, chat_template=chosen, engine_options=options)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        engine = PromptEncoder(
            tokenizer,
            chat_template_text(one, tokenizer),
            options.get("chat_template_kwargs", {}),
        )
        count, how = prompt_counter(one)
        assert how == "counted"
        for text in ("Which is best?", "Grün  & <b>\n\n[[A]]\n"):
            assert count(said(text)) == len(engine.encode(said(text))[1])


def test_a_template_that_cannot_be_written_is_told(tmp_path):
    for number, broken in enumerate(
        ["{% if %}", "{{ raise_exception('no') }}", "{{ messages.x.y }}"]
    ):
        file = tmp_path / f"{number}.jinja"
        file.write_text(broken)
        count, how = prompt_counter(spec(JUDGE, chat_template=str(file)))
        assert (count(said("Best Response: [[A]]")), how) == (6, "counted without chat template")


def test_a_model_without_a_template_is_refused_where_it_is_planned(tmp_path):
    (tmp_path / "tokenizer.json").write_text((JUDGE / "tokenizer.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(SweepError, match="chat_template must be false or a path, got true"):
        prompt_counter(spec(tmp_path))


def test_a_named_template_of_a_list_is_the_default(tmp_path):
    (tmp_path / "tokenizer.json").write_text((JUDGE / "tokenizer.json").read_text())
    named = [
        {"name": "tool", "template": "x"},
        {"name": "default", "template": "{{ bos_token }}Best Response: [[A]]"},
    ]
    settings = {"chat_template": named, "bos_token": {"content": "<|begin|>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    count, how = prompt_counter(spec(tmp_path))
    assert (count(said("Best Response:" * 9)), how) == (6, "counted")


@pytest.mark.slow
def test_counting_loads_neither_torch_nor_transformers():
    """A plan is made in a second or two; either of them would take several."""
    told = (
        "import sys; from judgerel_ray.core import Message;"
        "from judgerel_ray.engines import EngineSpec, prompt_counter;"
        f"prompt_counter(EngineSpec(name='j', engine='vllm', model={str(JUDGE)!r}));"
        "print({'torch', 'transformers', 'vllm'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


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
    assert prompt_counter(spec(tmp_path))[0](said("Best Response: [[A]]")) == 6


def test_a_file_that_is_no_tokenizer_is_named(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SweepError, match=r"is no tokenizer.*judge=j, file=.*tokenizer\.json"):
        prompt_counter(spec(tmp_path))


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
        assert (count(said("x" * 41)), count(said("")), how) == (10, 0, "estimated")


@pytest.mark.parametrize(
    ("end", "named"),
    [
        ("<think>\n", "opens a thought (<think>)"),
        ("{% if thinks %}<think>{% endif %}", "knows thoughts"),
        ("<think>\n\n</think>\n\n", None),
        ("", None),
    ],
)
def test_a_plan_says_where_a_chat_template_thinks(tmp_path, end, named):
    template = tmp_path / "chat.jinja"
    template.write_text("{% for m in messages %}{{ m.content }}{% endfor %}" + end)
    remark = thinking_remark(spec(JUDGE, chat_template=str(template)))
    assert remark is None if named is None else named in remark
