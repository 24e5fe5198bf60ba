"""What vLLM is told when it starts, as plain data.

Nothing is left to vLLM's defaults that changes an answer or loses one; each line that differs from
the obvious says which trap it avoids. Pure, so that the traps are tested without an engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from os.path import expanduser

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec
from judgerel_ray.engines.fingerprint import BATCH_INVARIANT
from judgerel_ray.engines.vllm.options import HOUSE_OPTIONS, check_options, nearest

_OWNED = {
    "model": "model",
    "revision": "revision",
    "dtype": "dtype",
    "quantization": "quantization",
    "max_model_len": "max_model_len",
    "trust_remote_code": "trust_remote_code",
    "tensor_parallel_size": "gpus",
    "distributed_executor_backend": None,
    "pipeline_parallel_size": "pipeline_parallel_size",
    "data_parallel_size": "replicas",
    "seed": None,
    "generation_config": None,
    "override_generation_config": None,
    "logprobs_mode": None,
    "disable_log_stats": None,
    "skip_tokenizer_init": None,
    "runner": None,
    "convert": None,
}
_MOVED = {"samples_per_request": "replications_per_request of [fleet]"}
_SECRET_MARKS = ("hf_token", "api_key", "secret", "password", "credential", "access_key")
_CPU_DEFAULTS: dict[str, JSON] = {
    "enforce_eager": True,
    "block_size": 32,  # 128 is the CPU's default: shorter prompts would never share a prefix
    "max_num_seqs": 256,
}
_GPU_DEFAULTS: dict[str, JSON] = {
    # AsyncLLM's own are 128 and 2048 on every GPU, an eighth of what the offline entry point takes.
    "max_num_seqs": 1024,
    "max_num_batched_tokens": 16384,
}
_CPU_TOKEN_BUDGET = 8192
_ALWAYS = {"VLLM_NO_USAGE_STATS": "1", "VLLM_DO_NOT_TRACK": "1", "DO_NOT_TRACK": "1"}
_LEAST_CAPABILITY = (8, 0)  # of NVIDIA GPUs, as the pages of vLLM 0.32 say
_UNLESS_SET_ON_CPU = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    # Binding threads to cores needs rights a container seldom gives.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}


def engine_arguments(spec: EngineSpec) -> dict[str, JSON]:
    """Write the engine arguments of a judge.

    Parameters
    ----------
    spec : EngineSpec
        The judge's engine; its ``engine_options`` are passed on except the house's own.

    Returns
    -------
    dict
        Keyword arguments of ``AsyncEngineArgs``. On CPU without ``max_model_len``, the token
        budget is missing until the model's own length is known (see :func:`cpu_token_budget`).

    Raises
    ------
    SweepError
        If an option is one the house sets, is unknown, or would break the engine.

    Examples
    --------
    >>> spec = EngineSpec(name="j", engine="vllm", model="m", gpus=1)
    >>> engine_arguments(spec)["max_num_batched_tokens"]
    16384
    >>> engine_arguments(spec)["generation_config"]
    'vllm'
    """
    options = {key: value for key, value in spec.engine_options.items() if key not in HOUSE_OPTIONS}
    _refuse_owned(spec, options)
    check_options(spec)
    if spec.batch_invariant and not spec.gpus:
        raise SweepError(
            "batch_invariant needs a GPU, got gpus = 0: vLLM has no such mode on CPU",
            where={"judge": spec.name},
            hint="leave it out",
        )
    if spec.gpus > 1 and spec.executor == "uni":
        raise SweepError(
            f"executor must be mp or ray for gpus = {spec.gpus}, got 'uni'",
            where={"judge": spec.name},
        )
    arguments: dict[str, JSON] = {
        "model": expanduser(spec.model),
        "revision": spec.revision,
        "trust_remote_code": spec.trust_remote_code,
        "tensor_parallel_size": max(spec.stages, default=1),
        "pipeline_parallel_size": spec.pipeline_parallel_size,
        "distributed_executor_backend": spec.executor,
        "seed": 0,  # every request carries its own; this one moves nothing
        "generation_config": "vllm",  # or a model's file may cap or change what was asked
        "logprobs_mode": "raw_logprobs",
        "max_logprobs": 64,  # 20 would not cover top_k = 50
        "enable_prefix_caching": True,
        "disable_log_stats": False,  # the counters come from the statistics
    }
    if spec.quantization is not None:
        arguments["quantization"] = spec.quantization
    if spec.max_model_len is not None:
        arguments["max_model_len"] = spec.max_model_len
    if spec.gpus:
        arguments |= {"dtype": spec.dtype or "auto"} | _GPU_DEFAULTS | options
        return arguments
    arguments |= {"dtype": spec.dtype or "float32"} | _CPU_DEFAULTS | options
    return _without_split_prefill(spec, arguments)


def _refuse_owned(spec: EngineSpec, options: Mapping[str, JSON]) -> None:
    """Name the first option that the house sets itself."""
    for name in sorted(_all_keys(options)):
        if any(mark in name.lower() for mark in _SECRET_MARKS):
            raise SweepError(
                f"engine_options must not hold secrets, got {name!r}: the sweep file is kept with "
                "the run",
                where={"judge": spec.name},
                hint="set the environment variable (HF_TOKEN, ...) on the nodes",
            )
    for name in sorted(options):
        if name in _MOVED:
            raise SweepError(
                f"engine_options must not set {name!r}: the fleet sets it",
                where={"judge": spec.name},
                hint=f"set {_MOVED[name]}",
            )
        if name in _OWNED:
            instead = _OWNED[name]
            raise SweepError(
                f"engine_options must not set {name!r}: judgerel sets it itself",
                where={"judge": spec.name},
                hint=f"set {instead} of the judge" if instead else "leave it out",
            )


def _all_keys(options: Mapping[str, JSON]) -> Iterator[str]:
    """Every key, of the tables inside too."""
    for name, value in options.items():
        yield name
        if isinstance(value, Mapping):
            yield from _all_keys(value)


def refuse_unknown(spec: EngineSpec, known: AbstractSet[str]) -> None:
    """Name the first option the installed vLLM does not have, vouched for or not.

    Examples
    --------
    >>> refuse_unknown(EngineSpec(name="j", engine="vllm", model="m"), {"block_size"})
    """
    for name in sorted(spec.engine_options):
        if name not in known and name not in HOUSE_OPTIONS:
            close = nearest(name, known)
            raise SweepError(
                f"engine_options must be engine arguments of the installed vLLM, got {name!r}",
                where={"judge": spec.name},
                hint=f"did you mean {close}?" if close else None,
            )


def _without_split_prefill(spec: EngineSpec, arguments: dict[str, JSON]) -> dict[str, JSON]:
    """Keep every CPU prompt in one step.

    vLLM 0.32 rewinds the random generator of a seeded request whose prompt takes two steps; a CPU
    generator cannot be rewound, and the whole engine dies.
    """
    where = {"judge": spec.name}
    if arguments.get("enable_chunked_prefill"):
        raise SweepError(
            "engine_options.enable_chunked_prefill must be false on CPU, got true",
            where=where,
            hint="a seeded prompt split over two steps kills a CPU engine; leave it out",
        )
    arguments["enable_chunked_prefill"] = False
    if spec.max_model_len is not None:
        arguments["max_num_batched_tokens"] = cpu_token_budget(spec, spec.max_model_len)
    return arguments


def cpu_token_budget(spec: EngineSpec, max_model_len: int) -> int:
    """Tokens a CPU engine may compute in one step: enough for the longest prompt.

    Parameters
    ----------
    spec : EngineSpec
        May set ``max_num_batched_tokens`` in its options.
    max_model_len : int
        Longest prompt and reply in tokens.

    Returns
    -------
    int
        Tokens per step.

    Raises
    ------
    SweepError
        If the judge sets fewer than `max_model_len`.

    Examples
    --------
    >>> cpu_token_budget(EngineSpec(name="j", engine="vllm", model="m"), 2048)
    8192
    """
    given = spec.engine_options.get("max_num_batched_tokens")
    if given is None:
        return max(_CPU_TOKEN_BUDGET, max_model_len)
    if not isinstance(given, int) or given < max_model_len:
        raise SweepError(
            f"engine_options.max_num_batched_tokens must be at least max_model_len = "
            f"{max_model_len} on CPU, got {given!r}",
            where={"judge": spec.name},
            hint="a CPU engine must take every prompt in one step",
        )
    return given


def environment(spec: EngineSpec, current: Mapping[str, str]) -> dict[str, str]:
    """Variables vLLM reads when it is imported: usage reports off, a CPU's cache and threads.

    Examples
    --------
    >>> spec = EngineSpec(name="j", engine="vllm", model="m")
    >>> environment(spec, {"VLLM_CPU_KVCACHE_SPACE": "4"})["VLLM_CPU_OMP_THREADS_BIND"]
    'nobind'
    """
    unset = {} if spec.gpus else _UNLESS_SET_ON_CPU
    missing = {name: value for name, value in unset.items() if name not in current}
    return _ALWAYS | missing | asked_environment(spec)


def asked_environment(spec: EngineSpec) -> dict[str, str]:
    """Variables that a judge's own keys stand for; its actor is born with them.

    Examples
    --------
    >>> asked_environment(EngineSpec(name="j", engine="vllm", model="m", batch_invariant=True))
    {'VLLM_BATCH_INVARIANT': '1'}
    """
    return {BATCH_INVARIANT: "1"} if spec.batch_invariant else {}


def check_capability(spec: EngineSpec, capability: tuple[int, int] | None) -> None:
    """Refuse a GPU that lacks what a judge asks of it.

    `capability` is what NVIDIA calls compute capability, None where a device has none.

    Examples
    --------
    >>> asked = EngineSpec(name="j", engine="vllm", model="m", gpus=1, batch_invariant=True)
    >>> check_capability(asked, (9, 0))
    """
    if spec.batch_invariant and capability is not None and tuple(capability) < _LEAST_CAPABILITY:
        raise SweepError(
            "batch_invariant needs a GPU of compute capability "
            f"{'.'.join(map(str, _LEAST_CAPABILITY))} or more, got "
            f"{'.'.join(map(str, capability))}",
            where={"judge": spec.name},
            hint="leave it out, or run this judge on newer GPUs",
        )
