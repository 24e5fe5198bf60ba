"""Which engines there are: one dictionary; making one imports nothing heavy, starting it does."""

from __future__ import annotations

from collections.abc import Callable

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import Engine, EngineSpec


def _simulated_judge_engine(spec: EngineSpec) -> Engine:
    """Make a judge whose truth is known."""
    from judgerel_ray.engines.simulated.engine import SimulatedEngine

    return SimulatedEngine(spec)


def _vllm_engine(spec: EngineSpec) -> Engine:
    """Make a vLLM engine; vLLM itself is imported when it starts."""
    from judgerel_ray.engines.vllm.engine import VllmEngine

    return VllmEngine(spec)


def _openai_server_engine(spec: EngineSpec) -> Engine:
    """Make an engine that asks a server; its client library is imported when it starts."""
    from judgerel_ray.engines.openai.engine import OpenAIEngine

    return OpenAIEngine(spec)


ENGINES: dict[str, Callable[[EngineSpec], Engine]] = {
    "openai": _openai_server_engine,
    "simulated": _simulated_judge_engine,
    "vllm": _vllm_engine,
}


def make_engine(spec: EngineSpec) -> Engine:
    """Make the engine a judge names, not yet started.

    Parameters
    ----------
    spec : EngineSpec
        What the sweep says of the judge.

    Returns
    -------
    Engine
        Imports neither vLLM nor torch until started.

    Raises
    ------
    SweepError
        If no engine has that name, or its options make no sense.

    Examples
    --------
    >>> make_engine(EngineSpec(name="coin", engine="simulated", model="uniform"))
    SimulatedEngine('coin')
    >>> make_engine(EngineSpec(name="coin", engine="vlm", model="uniform"))
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: engine must be one of openai, simulated, vllm, got 'vlm' [judge=coin]
    """  # noqa: E501  the message is one line
    if spec.engine not in ENGINES:
        known = ", ".join(sorted(ENGINES))
        raise SweepError(
            f"engine must be one of {known}, got {spec.engine!r}", where={"judge": spec.name}
        )
    if spec.batch_invariant and spec.engine != "vllm":
        raise SweepError(
            "batch_invariant works with engine vllm only: judgerel does not control the batches of "
            f"engine {spec.engine}",
            where={"judge": spec.name},
            hint="leave it out",
        )
    return ENGINES[spec.engine](spec)


def gives_logprobs(spec: EngineSpec, *, of_prompts: bool = False) -> bool:
    """Tell whether an engine gives log-probabilities: some judges only answer.

    Servers list those beside the tokens of a reply, and not what may follow a prompt that is put
    together token by token (`of_prompts`): what exact distributions and confusion read.

    Examples
    --------
    >>> gives_logprobs(EngineSpec(name="j", engine="vllm", model="m"), of_prompts=True)
    True
    >>> gives_logprobs(EngineSpec(name="j", engine="simulated", model="uniform",
    ...                           engine_options={"logprobs": False}))
    False
    >>> served = EngineSpec(name="j", engine="openai", model="m", base_url="http://h/v1")
    >>> gives_logprobs(served), gives_logprobs(served, of_prompts=True)
    (True, False)
    """
    if spec.engine == "openai":
        from judgerel_ray.engines.openai.requests import openai_options

        return openai_options(spec).logprobs > 0 and not of_prompts
    if spec.engine != "simulated":
        return True
    from judgerel_ray.engines.simulated.options import simulated_options

    return simulated_options(spec).logprobs
