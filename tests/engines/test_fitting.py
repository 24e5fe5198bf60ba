"""Prompts past a judge's context, told without the judge."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.core import Condition, Message, Scoring
from judgerel_ray.engines import EngineSpec, prompt_fit
from judgerel_ray.engines.sizing import longest_context

JUDGE = Path(judgerel_ray.__file__).parent / "demo" / "judge"


def spec(model=JUDGE, **keys):
    return EngineSpec(name="j", engine="vllm", model=str(model), **{"gpus": 1, **keys})


def condition(text, **changes):
    made = Condition(
        condition_key="k", seed_base=1, judge="j", judge_fingerprint="f", benchmark="b",
        item_id="q", protocol="best_of", stage="judge", role="judge",
        prompt=(Message(role="user", content=text),), template="default", temperature=1.0,
        top_k=50, top_p=1.0, max_tokens=8,
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture
def folder(tmp_path):
    """A copy of the demo judge whose configuration a test may change."""

    def make(config, settings=None):
        place = tmp_path / "model"
        shutil.copytree(JUDGE, place)
        for name, changes in (("config.json", config), ("tokenizer_config.json", settings or {})):
            content = json.loads((place / name).read_text(encoding="utf-8")) | changes
            kept = {key: value for key, value in content.items() if value is not None}
            (place / name).write_text(json.dumps(kept), encoding="utf-8")
        return place

    return make


def test_the_edge_is_the_engines_own():
    # <|begin|><|user|>, then Best| Response:| [[|A|]], then <|end|><|assistant|>
    fit = prompt_fit(spec(max_model_len=2 + 5 * 9 + 2 + 8))
    assert fit.refusal(condition("Best Response: [[A]]" * 9)) is None
    refusal = fit.refusal(condition("Best Response: [[A]]" * 10))
    assert refusal.problem == "prompt_too_long: 54 prompt + 8 new tokens > 57"
    assert refusal.where == {"prompt_tokens": 54}


def test_short_prompts_are_not_even_encoded():
    fit = replace(prompt_fit(spec(max_model_len=200)), prepare=pytest.fail)
    assert fit.refusal(condition("Best Response: [[A]]")) is None


def test_what_else_is_refused_is_left_to_the_engine():
    fit = prompt_fit(spec(max_model_len=60))
    alike = Scoring(kind="continuations", continuations=("A", "A" * 60))
    assert fit.refusal(condition("Best Response: [[A]]", scoring=alike)) is None


@pytest.mark.parametrize(
    ("config", "settings", "longest"),
    [
        ({}, {}, 4096),
        ({"max_position_embeddings": 512}, {}, 512),
        ({"max_position_embeddings": 512, "n_positions": 256}, {}, 256),
        ({"max_position_embeddings": 512}, {"model_max_length": 300}, 300),
        ({"max_position_embeddings": 512}, {"model_max_length": 1e30}, 512),
        ({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, {}, 4096),
        # Only the engine knows what these come to.
        ({"rope_parameters": {"rope_type": "linear", "factor": 8.0}}, {}, None),
        ({"rope_parameters": None, "rope_scaling": {"type": "yarn", "factor": 2}}, {}, None),
        ({"rope_parameters": {"full_attention": {"rope_type": "default"}}}, {}, None),
        ({"max_position_embeddings": None}, {"model_max_length": 300}, None),
        ({"text_config": {"max_position_embeddings": 99}}, {}, None),
    ],
)
def test_a_context_is_that_of_the_configuration(folder, config, settings, longest):
    assert longest_context(spec(folder(config, settings))) == longest


@pytest.mark.parametrize(
    "keys",
    [
        {"model": "./nowhere", "max_model_len": 9},
        {"engine_options": {"hf_overrides": {"max_position_embeddings": 9}}},
    ],
)
def test_where_the_files_do_not_tell_the_engine_does(keys):
    assert prompt_fit(spec(**keys)) is None


def test_a_template_that_cannot_be_written_here_leaves_it_to_the_engine(tmp_path):
    template = tmp_path / "odd.jinja"
    template.write_text("{{ messages[3].content }}{{ 1 + 'x' }}", encoding="utf-8")
    assert prompt_fit(spec(max_model_len=9, chat_template=str(template))) is None


def test_a_hub_id_is_counted_where_the_cache_holds_its_files(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    place = tmp_path / "models--acme--judge-of-a-test"
    commit = "0" * 40
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit, encoding="utf-8")
    (place / "snapshots").mkdir()
    one = spec("acme/judge-of-a-test")
    assert prompt_fit(one) is None
    shutil.copytree(JUDGE, place / "snapshots" / commit)
    assert prompt_fit(one).longest == prompt_fit(replace(one, revision=commit)).longest == 4096
    (place / "snapshots" / commit / "chat_template.jinja").unlink()
    assert prompt_fit(one) is None
