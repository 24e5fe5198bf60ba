"""What can be known of a model without loading it: prompt lengths and the size of its weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import EngineSpec

CHARACTERS_PER_TOKEN = 4
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """Parameters and bytes of weights, and where that is from."""

    parameters: float
    weight_bytes: float
    source: str


def prompt_counter(spec: EngineSpec) -> tuple[Callable[[str], int], str]:
    """A function that counts a text's tokens, and how good it is.

    Parameters
    ----------
    spec : EngineSpec
        The judge's engine.

    Returns
    -------
    tuple
        The counter, and ``counted`` where the model's own tokenizer lies in its folder (chat
        template not counted) or ``estimated`` for characters / 4.

    Raises
    ------
    SweepError
        If the folder's tokenizer.json is no JSON.

    Examples
    --------
    >>> count, how = prompt_counter(EngineSpec(name="j", engine="simulated", model="uniform"))
    >>> count("x" * 40), how
    (10, 'estimated')
    """
    file = Path(spec.model).expanduser() / "tokenizer.json"
    if spec.engine != "simulated" and file.is_file():
        try:
            from tokenizers import Tokenizer
        except ImportError:
            return _by_characters, "estimated"
        tokenizer = Tokenizer.from_str(_checked_json(spec, file))
        tokenizer.no_truncation()  # a limit set for training would hide how long a prompt is
        tokenizer.no_padding()
        return lambda text: len(tokenizer.encode(text).ids), "counted"
    return _by_characters, "estimated"


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
            metadata = json.loads(_checked_json(spec, index)).get("metadata") or {}
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


def _checked_json(spec: EngineSpec, file: Path) -> str:
    """Text of a model's file that must hold a JSON object."""
    try:
        text = file.read_text(encoding="utf-8")
        whole = isinstance(json.loads(text), dict)
    except (OSError, ValueError) as error:
        raise SweepError(
            f"cannot read the model's file: {error}", where={"judge": spec.name, "file": file}
        ) from error
    if not whole:
        raise SweepError(
            "the model's file is no JSON object", where={"judge": spec.name, "file": file}
        )
    return text


def _bytes_each(spec: EngineSpec) -> float:
    """Bytes of one weight."""
    scheme = (spec.quantization or "").lower()
    if "awq" in scheme or "gptq" in scheme or "int4" in scheme or "mxfp4" in scheme:
        return 0.5
    if "fp8" in scheme or "int8" in scheme:
        return 1.0
    return 4.0 if spec.dtype in {"float32", "float"} else 2.0


def _by_characters(text: str) -> int:
    """Characters / 4, the usual rule of thumb for English."""
    return len(text) // CHARACTERS_PER_TOKEN
