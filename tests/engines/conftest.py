"""Conditions to ask, and a tiny random Llama with a tokenizer of its own to ask them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgerel_ray.core import Condition, Menu, Message, digest, seed_base
from judgerel_ray.engines import EngineSpec

MENU = Menu(labels=("A", "B", "C"), option_ids=("x", "y", "z"), form="best_response")
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n"
    "{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def build_condition(text: str = "Which is best?", **changes: Any) -> Condition:
    """A condition whose key and seed follow from what is asked, as in a sweep."""
    values: dict[str, Any] = {
        "judge": "j",
        "judge_fingerprint": "f",
        "benchmark": "b",
        "item_id": "q1",
        "protocol": "best_of",
        "stage": "judge",
        "role": "judge",
        "prompt": (Message(role="user", content=text),),
        "template": "default",
        "temperature": 1.0,
        "top_k": 50,
        "top_p": 1.0,
        "max_tokens": 40,
        "menu": MENU,
        **changes,
    }
    asked = {name: repr(value) for name, value in sorted(values.items())}
    return Condition(**{"condition_key": digest(asked), "seed_base": seed_base(asked), **values})


@pytest.fixture(scope="session")
def make_condition() -> Callable[..., Condition]:
    return build_condition


@pytest.fixture(scope="session")
def simulated() -> Callable[..., EngineSpec]:
    """A simulated judge's spec: its model, then its options."""

    def make(model: str = "uniform", **options: Any) -> EngineSpec:
        return EngineSpec(name="j", engine="simulated", model=model, engine_options=options)

    return make


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a byte-level tokenizer that adds its own beginning to plain text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = ["the best response is the one that answers the question"] * 4
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    folder = tmp_path_factory.mktemp("tiny") / "judge"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer: Path) -> Path:
    """The folder with the weights of a random Llama besides."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.2,
        tie_word_embeddings=False,
    )
    LlamaForCausalLM(config).save_pretrained(tiny_tokenizer)
    return tiny_tokenizer
