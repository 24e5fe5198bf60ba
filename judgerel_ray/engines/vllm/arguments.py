"""Start-up arguments of vLLM, as plain data.

Nothing is left to vLLM's defaults that changes an answer or loses one; each line that differs from
the obvious says which trap it avoids. Pure, so that the traps are tested without an engine.

Options are checked by name against those of one release, so that a slip of the pen costs no engine
start: importing vLLM takes seconds and a machine that has it, a plan is made in less, on any. A
name of another release is let through where a judge vouches for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from importlib.resources import files
from os.path import expanduser

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec, refuse_secrets
from judgerel_ray.engines.fingerprint import BATCH_INVARIANT

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

    Keyword arguments of ``AsyncEngineArgs``. On CPU without ``max_model_len``, the token budget is
    missing until the model's own length is known (see :func:`cpu_token_budget`).
    """
    options = {key: value for key, value in spec.engine_options.items() if key not in HOUSE_OPTIONS}
    _refuse_owned(spec, options)
    check_vllm_options(spec)
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
    hint = "set the environment variable (HF_TOKEN, ...) on the nodes"
    refuse_secrets(options, _SECRET_MARKS, spec.name, hint=hint)
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


def refuse_unknown_options(spec: EngineSpec, known: AbstractSet[str]) -> None:
    """Name the first option the installed vLLM does not have, vouched for or not."""
    for name in sorted(spec.engine_options):
        if name not in known and name not in HOUSE_OPTIONS:
            close = nearest_option(name, known)
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
    """Tokens a CPU engine may compute in one step: enough for the longest prompt."""
    option = spec.engine_options.get("max_num_batched_tokens")
    if option is None:
        return max(_CPU_TOKEN_BUDGET, max_model_len)
    if not isinstance(option, int) or option < max_model_len:
        raise SweepError(
            f"engine_options.max_num_batched_tokens must be at least max_model_len = "
            f"{max_model_len} on CPU, got {option!r}",
            where={"judge": spec.name},
            hint="a CPU engine must take every prompt in one step",
        )
    return option


def environment(spec: EngineSpec, current: Mapping[str, str]) -> dict[str, str]:
    """Variables vLLM reads when it is imported: usage reports off, a CPU's cache and threads."""
    unset = {} if spec.gpus else _UNLESS_SET_ON_CPU
    missing = {name: value for name, value in unset.items() if name not in current}
    return _ALWAYS | missing | engine_environment(spec)


def engine_environment(spec: EngineSpec) -> dict[str, str]:
    """Variables that a judge's own keys stand for; its actor is born with them."""
    return {BATCH_INVARIANT: "1"} if spec.batch_invariant else {}


def check_capability(spec: EngineSpec, capability: tuple[int, int] | None) -> None:
    """Refuse a GPU that lacks what a judge asks of it.

    `capability` is what NVIDIA calls compute capability, None where a device has none.
    """
    if spec.batch_invariant and capability is not None and tuple(capability) < _LEAST_CAPABILITY:
        raise SweepError(
            "batch_invariant needs a GPU of compute capability "
            f"{'.'.join(map(str, _LEAST_CAPABILITY))} or more, got "
            f"{'.'.join(map(str, capability))}",
            where={"judge": spec.name},
            hint="leave it out, or run this judge on newer GPUs",
        )


LISTED_VERSION = "0.32.0"
"""The vLLM whose names these are."""

HOUSE_OPTIONS = frozenset({"chat_template_kwargs", "unchecked"})
"""Options of the house in ``engine_options``, never passed on to vLLM.

``unchecked`` lists names to pass on unchecked, for a vLLM that has others than these, and may
hold ``dtype`` or ``quantization`` too.
"""

VLLM_DTYPES = ("auto", "half", "float16", "bfloat16", "float", "float32")

_NAMES = files("judgerel_ray.engines.vllm")
# The last two need a package or a file of their own and register themselves.
VLLM_QUANTIZATIONS = frozenset((_NAMES / "quantizations.txt").read_text().split())
VLLM_OPTIONS = frozenset((_NAMES / "options.txt").read_text().split())


def check_vllm_options(spec: EngineSpec) -> None:
    """Refuse what this vLLM does not know, before any engine is started.

    Parameters
    ----------
    spec : EngineSpec
        A judge that vLLM serves.

    Raises
    ------
    SweepError
        Naming the first unknown option, precision or quantisation, with the nearest known one.
    """
    trusted = unchecked_names(spec)
    where = {"judge": spec.name}
    if spec.dtype is not None and "dtype" not in trusted and spec.dtype not in VLLM_DTYPES:
        raise SweepError(
            f"dtype must be one of {', '.join(VLLM_DTYPES)}, got {spec.dtype!r}",
            where=where,
            hint=nearest_option(spec.dtype, VLLM_DTYPES),
        )
    scheme = spec.quantization
    if scheme is not None and "quantization" not in trusted and scheme not in VLLM_QUANTIZATIONS:
        raise SweepError(
            f"quantization must be a scheme of vLLM {LISTED_VERSION}, got {scheme!r}",
            where=where,
            hint=_vllm_option_hint("quantization", nearest_option(scheme, VLLM_QUANTIZATIONS)),
        )
    for name in sorted(spec.engine_options):
        if name not in HOUSE_OPTIONS and name not in trusted and name not in VLLM_OPTIONS:
            raise SweepError(
                f"engine_options must be engine arguments of vLLM {LISTED_VERSION}, got {name!r}",
                where=where,
                hint=_vllm_option_hint(name, nearest_option(name, VLLM_OPTIONS)),
            )


def unchecked_names(spec: EngineSpec) -> frozenset[str]:
    """Names a judge vouches for; SweepError if they are no list of names."""
    option = spec.engine_options.get("unchecked", [])
    if not isinstance(option, list | tuple) or not all(isinstance(name, str) for name in option):
        raise SweepError(
            f"engine_options.unchecked must be a list of names, got {option!r}",
            where={"judge": spec.name},
        )
    return frozenset(str(name) for name in option)


def nearest_option(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, quoted."""
    close = get_close_matches(name, sorted(known), n=1)
    return repr(close[0]) if close else None


def _vllm_option_hint(name: str, close: str | None) -> str:
    """What to try: the nearest name, or the way past the list."""
    past = f'engine_options.unchecked = ["{name}"] if your vLLM has it'
    return f"{close}, or {past}" if close else past
