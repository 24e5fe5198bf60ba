"""What a started vLLM says about itself, read from the configuration it resolved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from judgerel_ray.engines.engine import EngineFacts, EngineSpec
from judgerel_ray.engines.vllm_arguments import BATCH_INVARIANT


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How many tokens a model has, and after which of them nothing follows."""

    size: int
    end_tokens: frozenset[int]


def vocabulary(config: Any, tokenizer: Any) -> Vocabulary:
    """Read what ends a reply: the tokenizer's end and those of the model's generation settings.

    Parameters
    ----------
    config : vllm.config.VllmConfig
        The engine's configuration.
    tokenizer : transformers.PreTrainedTokenizerBase
        The one it uses.
    """
    model = config.model_config
    stated = (model.try_get_generation_config() or {}).get("eos_token_id")
    ends = stated if isinstance(stated, list) else [stated]
    found = {token for token in (*ends, tokenizer.eos_token_id) if isinstance(token, int)}
    return Vocabulary(int(model.get_vocab_size()), frozenset(found))


def resolved_facts(
    spec: EngineSpec,
    config: Any,
    *,
    version: str,
    device_name: str,
    chat_template_sha256: str | None,
    seconds: float,
) -> EngineFacts:
    """Read what the engine resolved.

    Parameters
    ----------
    spec : EngineSpec
        What was asked for.
    config : vllm.config.VllmConfig
        What became of it.
    version : str
        Of vLLM.
    device_name : str
        What the device calls itself.
    chat_template_sha256 : str or None
        Digest of the template in use.
    seconds : float
        How long the start took.

    Returns
    -------
    EngineFacts
        For the manifest.
    """
    cache, scheduler, model = config.cache_config, config.scheduler_config, config.model_config
    backend = getattr(getattr(config, "attention_config", None), "backend", None)
    return EngineFacts(
        engine="vllm",
        engine_version=version,
        model=spec.model,
        revision=getattr(model.hf_config, "_commit_hash", None),
        device=str(config.device_config.device_type),
        dtype=str(model.dtype).removeprefix("torch."),
        max_model_len=model.max_model_len,
        max_num_seqs=scheduler.max_num_seqs,
        max_num_batched_tokens=scheduler.max_num_batched_tokens,
        block_size=cache.block_size,
        kv_tokens=cache.num_gpu_blocks * cache.block_size if cache.num_gpu_blocks else None,
        attention_backend=None if backend is None else getattr(backend, "name", str(backend)),
        chunked_prefill=scheduler.enable_chunked_prefill,
        prefix_caching=cache.enable_prefix_caching,
        engine_seed=model.seed,
        chat_template_sha256=chat_template_sha256,
        start_seconds=round(seconds, 3),
        device_name=device_name,
        batch_invariant=os.environ.get(BATCH_INVARIANT) == "1",
    )
