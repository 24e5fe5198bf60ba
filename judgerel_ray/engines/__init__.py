"""Engines: models that complete prompts, behind one protocol.

Imports config, protocols, stats and core. Only ``vllm/engine.py`` imports vllm and torch, and only
when an engine starts.

Examples
--------
>>> engine = make_engine(EngineSpec(name="coin", engine="simulated", model="uniform"))
>>> engine.counters()
TokenCounts(prompt=0, cached=0, generated=0)
"""

from judgerel_ray.engines.catalog import ENGINES, make_engine
from judgerel_ray.engines.engine import Engine, EngineFacts, EngineSpec, PartlyAnswered, Prepared
from judgerel_ray.engines.fingerprint import Fingerprint, judge_fingerprint
from judgerel_ray.engines.sizing import (
    ModelSize,
    PromptCounter,
    PromptFit,
    model_size,
    prompt_counter,
    prompt_fit,
)

__all__ = [
    "ENGINES",
    "Engine",
    "EngineFacts",
    "EngineSpec",
    "Fingerprint",
    "ModelSize",
    "PartlyAnswered",
    "Prepared",
    "PromptCounter",
    "PromptFit",
    "judge_fingerprint",
    "make_engine",
    "model_size",
    "prompt_counter",
    "prompt_fit",
]
