from dataclasses import replace

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec, judge_fingerprint
from judgerel_ray.engines.fingerprint import EXECUTION_OPTIONS

COMMIT = "0123456789abcdef0123456789abcdef01234567"
JUDGE = EngineSpec(name="j", engine="vllm", model="acme/judge", revision=COMMIT, gpus=1)


def digest_of(spec):
    return judge_fingerprint(spec).digest


def test_a_judges_name_and_executor_are_not_its_identity():
    assert digest_of(JUDGE) == digest_of(replace(JUDGE, name="other", executor="ray"))


@pytest.mark.parametrize(
    "change",
    [
        {"model": "acme/other"},
        {"revision": COMMIT[::-1]},
        {"quantization": "fp8"},
        {"dtype": "bfloat16"},
        {"max_model_len": 4096},
        {"chat_template": False},
        {"gpus": 2},
        {"gpus": 0},
        {"engine_options": {"attention_backend": "FLASH_ATTN"}},
        {"engine_options": {"kv_cache_dtype": "fp8"}},
        {"engine": "simulated", "model": "uniform"},
    ],
)
def test_what_can_change_an_answer_is(change):
    assert digest_of(replace(JUDGE, **change)) != digest_of(JUDGE)


def test_batch_invariance_is(monkeypatch):
    monkeypatch.delenv("VLLM_BATCH_INVARIANT", raising=False)
    before = digest_of(JUDGE)
    monkeypatch.setenv("VLLM_BATCH_INVARIANT", "1")
    assert judge_fingerprint(JUDGE).parts["batch_invariant"] is True
    assert digest_of(JUDGE) != before
    assert digest_of(JUDGE) == digest_of(replace(JUDGE, batch_invariant=True))
    monkeypatch.delenv("VLLM_BATCH_INVARIANT")
    asked = judge_fingerprint(replace(JUDGE, batch_invariant=True))
    assert asked.parts["batch_invariant"] is True
    assert digest_of(JUDGE) == before
    assert set(asked.parts) == set(judge_fingerprint(JUDGE).parts)


def test_a_judge_of_before_is_the_same_judge(monkeypatch):
    """Parts as runs have them that were begun before judges could ask for batch invariance."""
    monkeypatch.delenv("VLLM_BATCH_INVARIANT", raising=False)
    monkeypatch.delenv("VLLM_ATTENTION_BACKEND", raising=False)
    parts = dict(judge_fingerprint(JUDGE).parts)
    assert parts["batch_invariant"] is False
    assert sorted(parts) == [
        "attention_backend", "batch_invariant", "chat_template", "device", "dtype", "engine",
        "engine_options", "engine_version", "max_model_len", "model", "quantization",
        "tensor_parallel_size",
    ]  # fmt: skip


def test_stages_of_a_pipeline_make_another_judge():
    staged = judge_fingerprint(replace(JUDGE, gpus=4, pipeline_parallel_size=2))
    assert (staged.parts["tensor_parallel_size"], staged.parts["pipeline_parallel_size"]) == (2, 2)
    assert staged.digest != digest_of(replace(JUDGE, gpus=4))
    assert staged.digest != digest_of(replace(JUDGE, gpus=2))


def test_a_template_file_is_its_content(tmp_path):
    first, second = tmp_path / "one.jinja", tmp_path / "two.jinja"
    first.write_text("a")
    second.write_text("a")
    one = digest_of(replace(JUDGE, chat_template=str(first)))
    assert one == digest_of(replace(JUDGE, chat_template=str(second)))
    second.write_text("b")
    assert one != digest_of(replace(JUDGE, chat_template=str(second)))
    with pytest.raises(SweepError, match="must be a readable file"):
        digest_of(replace(JUDGE, chat_template=str(tmp_path / "none")))


@pytest.mark.parametrize("option", sorted(EXECUTION_OPTIONS))
def test_how_fast_or_when_to_fail_is_not(option):
    assert digest_of(replace(JUDGE, engine_options={option: 1})) == digest_of(JUDGE)


def test_a_simulated_judge_is_its_distribution(simulated):
    assert digest_of(simulated("uniform")) != digest_of(simulated("always"))
    assert digest_of(simulated("uniform", seed=1)) != digest_of(simulated("uniform", seed=2))
    assert digest_of(simulated(dies_on=7, latency_ms=3)) == digest_of(simulated())


def test_the_parts_say_what_it_is():
    parts = judge_fingerprint(JUDGE).parts
    assert parts["model"]["identity"] == COMMIT
    assert parts["model"]["resolved"] is True
    assert parts["chat_template"] is True
    assert parts["tensor_parallel_size"] == 1
    assert len(judge_fingerprint(JUDGE).digest) == 32
