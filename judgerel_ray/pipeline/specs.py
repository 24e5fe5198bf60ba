"""From a judge of the sweep file to its engine, checked where the sweep is planned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgerel_ray.config import Judge, Sweep
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.engines.encoder import template_file


def engine_spec(sweep: Sweep, judge: Judge) -> EngineSpec:
    """A judge's engine with its paths made absolute.

    A model that exists as a folder is that folder; anything else is a hub id.

    Raises
    ------
    SweepError
        If the engine's own options make no sense.
    """
    model = judge.model
    if judge.engine == "vllm":
        found = sweep.find(model)
        if is_folder(found) or model.startswith(("/", "./", "../", "~")):
            model = found
    template = judge.chat_template
    spec = EngineSpec(
        name=judge.name,
        engine=judge.engine,
        model=model,
        revision=judge.revision,
        gpus=judge.gpus,
        dtype=judge.dtype,
        quantization=judge.quantization,
        max_model_len=judge.max_model_len,
        chat_template=sweep.find(template) if isinstance(template, str) else template,
        engine_options=dict(judge.engine_options),
        trust_remote_code=judge.trust_remote_code,
        batch_invariant=judge.batch_invariant,
        base_url=judge.base_url,
        api_key_env=judge.api_key_env,
        limits=judge.limits,
    )
    if isinstance(spec.chat_template, str):
        template_file(spec)
    # Makes nothing heavy, and refuses now what would otherwise stop an actor on its node.
    make_engine(replace(spec, executor="mp") if spec.gpus > 1 else spec)
    return spec


def is_folder(path: str) -> bool:
    """Whether a folder lies there.

    Examples
    --------
    >>> is_folder("/"), is_folder("s3://bucket")
    (True, False)
    """
    return "://" not in path and Path(path).is_dir()
