"""What can be known of a model without loading it: prompt lengths and the size of its weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from judgerel_ray.core import Message, RequestRefused
from judgerel_ray.engines.encoder import PromptEncoder, chat_template_text
from judgerel_ray.engines.engine import EngineSpec
from judgerel_ray.engines.folder_tokenizer import FolderTokenizer, checked_json
from judgerel_ray.engines.vllm_arguments import template_options

CHARACTERS_PER_TOKEN = 4
PromptCounter = Callable[[tuple[Message, ...]], int]
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """Parameters and bytes of weights, and where that is from."""

    parameters: float
    weight_bytes: float
    source: str


def prompt_counter(spec: EngineSpec) -> tuple[PromptCounter, str]:
    """A function that counts a prompt's tokens, and how good it is.

    Parameters
    ----------
    spec : EngineSpec
        The judge's engine.

    Returns
    -------
    tuple
        The counter, and ``counted`` where the model's own tokenizer lies in its folder and the
        prompt is put in the words of the judge's chat template, as the engine will put it;
        ``counted without chat template`` where the template cannot be written here;
        ``estimated`` for characters / 4.

    Raises
    ------
    SweepError
        If a file of the folder cannot be read, or the judge is to speak through a chat template
        and has none.

    Examples
    --------
    >>> count, how = prompt_counter(EngineSpec(name="j", engine="simulated", model="uniform"))
    >>> count((Message(role="user", content="x" * 40),)), how
    (10, 'estimated')
    """
    folder = Path(str(spec.engine_options.get("tokenizer") or spec.model)).expanduser()
    if spec.engine == "simulated" or not (folder / "tokenizer.json").is_file():
        return _by_characters, "estimated"
    try:
        tokenizer = FolderTokenizer(spec, folder)
    except ImportError:
        return _by_characters, "estimated"
    if spec.chat_template is True and not (folder / "tokenizer_config.json").is_file():
        template = None
    else:
        template = chat_template_text(spec, tokenizer)
    encoder = PromptEncoder(tokenizer, template, template_options(spec))
    try:
        encoder.encode((Message(role="user", content="?"),))
    except (RequestRefused, TypeError, ValueError, LookupError, AttributeError):
        template, encoder = None, PromptEncoder(tokenizer, None)
    whole = template is not None or spec.chat_template is False
    how = "counted" if whole else "counted without chat template"
    return lambda prompt: len(encoder.encode(prompt)[1]), how


def model_size(spec: EngineSpec) -> ModelSize | None:
    """Size of a model's weights, from its files, or from its name where that tells.

    Returns
    -------
    ModelSize or None
        None where neither tells.

    Raises
    ------
    SweepError
        If the folder's index of weights is no JSON.

    Examples
    --------
    >>> size = model_size(EngineSpec(name="j", engine="vllm", model="acme/judge-8B-it", gpus=1))
    >>> size.parameters, size.source
    (8000000000.0, "by the model's name")
    """
    bytes_each = _bytes_each(spec)
    folder = Path(spec.model).expanduser()
    if folder.is_dir():
        index = folder / "model.safetensors.index.json"
        total = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        if index.is_file():
            metadata = json.loads(checked_json(spec, index)).get("metadata") or {}
            total = metadata.get("total_size") or total
        if total:
            return ModelSize(
                parameters=total / bytes_each, weight_bytes=float(total), source="by its files"
            )
    named = _BILLIONS.search(spec.model.rsplit("/", 1)[-1])
    if named is None:
        return None
    parameters = float(named.group(1)) * 1e9
    return ModelSize(
        parameters=parameters,
        weight_bytes=parameters * bytes_each,
        source="by the model's name",
    )


def _bytes_each(spec: EngineSpec) -> float:
    """Bytes of one weight."""
    scheme = (spec.quantization or "").lower()
    if "awq" in scheme or "gptq" in scheme or "int4" in scheme or "mxfp4" in scheme:
        return 0.5
    if "fp8" in scheme or "int8" in scheme:
        return 1.0
    return 4.0 if spec.dtype in {"float32", "float"} else 2.0


def _by_characters(prompt: tuple[Message, ...]) -> int:
    """Characters / 4, the usual rule of thumb for English."""
    return sum(len(message.content) for message in prompt) // CHARACTERS_PER_TOKEN
