"""What vLLM is asked and what it answers, as plain data: requests, sampling parameters, outputs.

Every parameter is written out. Pure, so that the traps are tested without an engine.

What a started vLLM says about itself, read from the configuration it resolved.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from judgerel_ray.core import Ask, Completion, Condition, EngineError, RequestRefused, request_key
from judgerel_ray.engines.engine import (
    JSON,
    NEUTRAL,
    SMALLEST_TEMPERATURE,
    EngineFacts,
    EngineSpec,
    Prepared,
)
from judgerel_ray.engines.fingerprint import BATCH_INVARIANT
from judgerel_ray.engines.vllm.scoring import ScoredOutput

MOST_REPLICATIONS = 1024  # in one request; what a fleet may ask for, and well below vLLM's own cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One request to vLLM: ``n`` replications from ``first`` on, and their sampling parameters."""

    first: int
    n: int
    seed: int | None
    parameters: dict[str, JSON]


def chunks(
    ask: Ask, *, most: int = MOST_REPLICATIONS, stops: bool = True, special: bool = False
) -> tuple[Chunk, ...]:
    """Split an ask into requests vLLM can serve.

    vLLM gives the i-th of n samples the seed ``seed + i``, so where an ask is cut changes nothing.
    A greedy request may ask for one sample only.
    """
    condition = ask.condition if stops else replace(ask.condition, stop=())
    size = 1 if condition.temperature == 0 else most
    made = []
    for first in range(ask.first, ask.first + ask.n, size):
        n = min(size, ask.first + ask.n - first)
        seed = None if condition.temperature == 0 else condition.seed_base + first
        parameters = sampling_arguments(condition, n=n, seed=seed)
        parameters["skip_special_tokens"] = not special
        made.append(Chunk(first=first, n=n, seed=seed, parameters=parameters))
    return tuple(made)


def sampling_arguments(condition: Condition, *, n: int, seed: int | None) -> dict[str, JSON]:
    """Write full sampling parameters; none is left to a default."""
    _refuse_sampling(condition, n=n, seed=seed)
    parameters: dict[str, JSON] = {
        "n": n,
        "temperature": condition.temperature,
        "top_k": condition.top_k,
        "top_p": condition.top_p,
        **NEUTRAL,
        "seed": seed,
        "max_tokens": condition.max_tokens,  # 16 otherwise
        "ignore_eos": False,
        "skip_special_tokens": True,
        "detokenize": True,
    }
    if condition.stop:
        parameters |= {"stop": list(condition.stop), "include_stop_str_in_output": True}
    return parameters


def _refuse_sampling(condition: Condition, *, n: int, seed: int | None) -> None:
    """Refuse what vLLM would silently answer differently."""
    if 0 < condition.temperature < SMALLEST_TEMPERATURE:
        raise RequestRefused(
            f"temperature_too_small: expected 0 or at least {SMALLEST_TEMPERATURE}, got "
            f"{condition.temperature}; vLLM would sample at {SMALLEST_TEMPERATURE}",
            hint="temperature = 0",
        )
    if condition.temperature == 0:
        if n != 1 or seed is not None:
            raise RequestRefused(f"greedy: expected n = 1 and no seed, got n = {n}, seed = {seed}")
    elif seed is None or seed < 0:  # vLLM takes -1 for no seed
        raise RequestRefused(
            f"seed: expected 0 or more at temperature {condition.temperature}, got {seed}; "
            "engines without seeds replay one stream and fake agreement"
        )


def check_finished(finish_reason: str | None, *, key: str) -> str:
    """Return a whole reply's reason; an aborted or failed one is no completion."""
    if finish_reason not in ("stop", "length"):
        raise EngineError(
            f"engine gave no whole reply: finish reason {finish_reason!r}", where={"key": key}
        )
    return finish_reason


def read_output(
    output: ScoredOutput | None, prepared: Prepared, chunk: Chunk
) -> tuple[Completion, ...]:
    """Read one finished request as completions, one per replication, in order."""
    samples = {sample.index: sample for sample in (output.outputs if output else ())}
    if sorted(samples) != list(range(chunk.n)):
        raise EngineError(
            f"engine gave {len(samples)} of {chunk.n} samples",
            where={"condition": prepared.condition_key},
        )
    made = []
    for index in range(chunk.n):
        key = request_key(prepared.condition_key, chunk.first + index)
        made.append(
            Completion(
                key=key,
                replication=chunk.first + index,
                seed=None if chunk.seed is None else chunk.seed + index,
                text=prepared.opened + samples[index].text,
                finish_reason=check_finished(samples[index].finish_reason, key=key),
                prompt_tokens=prepared.prompt_tokens,
                cached_tokens=output.num_cached_tokens if output and chunk.n == 1 else None,
                completion_tokens=len(samples[index].token_ids),
            )
        )
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How many tokens a model has, and after which of them nothing follows."""

    size: int
    end_tokens: frozenset[int]


def vocabulary(config: Any, tokenizer: Any) -> Vocabulary:
    """Read what ends a reply: the tokenizer's end and those of the model's generation settings."""
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
    """Read what the engine resolved."""
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
