"""Whether a local path can be a model at all: told where a sweep is planned, not by its engine.

Only what no engine could do without is asked for, and only what costs no reading: names of files,
a configuration, and of weights the header, which says how long the file must be.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import EngineSpec
from judgerel_ray.engines.folder_tokenizer import checked_json

WEIGHTS = frozenset({".safetensors", ".bin", ".pt", ".pth", ".gguf"})
_TOKENIZERS = (
    "tokenizer.*", "tekken*.json", "vocab.*", "*.tiktoken", "*.model", "tokenization_*.py",
)  # fmt: skip
_OF_TRAINING = frozenset({"training_args", "optimizer", "scheduler", "scaler"})
_GGUF = b"GGUF"
_POINTER = b"version https://git-lfs"
_HEADER_SIZE = 8  # bytes at the start that say how long the header behind them is
_LONGEST_HEADER = 100_000_000  # as safetensors itself has it


def check_model(spec: EngineSpec, path: Path) -> None:
    """Refuse a path that no engine could load a model from.

    Parameters
    ----------
    spec : EngineSpec
        A judge of engine vllm; its options may name a tokenizer or a configuration elsewhere.
    path : Path
        Its model: a folder, or one GGUF file, which holds all that a model needs.

    Raises
    ------
    SweepError
        Saying what is missing: a configuration that names what the model is, a tokenizer, weights;
        or which file of weights is not whole.

    Examples
    --------
    >>> check_model(EngineSpec(name="j", engine="vllm", model="m"), Path("/dev/null"))
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: model must be a folder or a .gguf file, got the file ...
    """
    where = {"judge": spec.name, "model": spec.model}
    if not path.is_dir():
        if not _begins(path, _GGUF):
            raise SweepError(
                f"model must be a folder or a .gguf file, got the file {path.name}",
                where=where,
                hint="the folder that holds config.json, a tokenizer and weights",
            )
        return
    weights = _weights(spec, path)
    missing = [*_lacks(spec, path, has_weights=bool(weights))]
    if missing:
        raise SweepError(
            f"model folder cannot be a model, it has no {' and no '.join(missing)}",
            where=where,
            hint="the folder that holds config.json, a tokenizer and weights, all of one model",
        )
    for file in weights:
        _check_whole(spec, file)


def _lacks(spec: EngineSpec, folder: Path, *, has_weights: bool) -> Iterable[str]:
    """What a folder lacks of a model."""
    options = spec.engine_options
    if not options.get("hf_config_path") and not (folder / "params.json").is_file():
        file = folder / "config.json"
        config = json.loads(checked_json(spec, file)) if file.is_file() else None
        if config is None:
            yield "config.json"
        elif not (config.get("architectures") or config.get("model_type")):
            yield "architectures or model_type in its config.json"
    elsewhere = options.get("tokenizer") or options.get("skip_tokenizer_init")
    if not elsewhere and not any(file for one in _TOKENIZERS for file in folder.glob(one)):
        yield "tokenizer (tokenizer.json, tokenizer.model, ...)"
    if not has_weights and options.get("load_format", "auto") in ("auto", "safetensors", "pt"):
        yield f"weights ({', '.join(sorted(WEIGHTS))})"


def _weights(spec: EngineSpec, folder: Path) -> list[Path]:
    """The files of weights that an engine loads: safetensors where there are any, by their index.

    What lies beside them, such as the same weights for another library, may be as it likes.
    """
    found = sorted(file for file in folder.iterdir() if file.suffix in WEIGHTS and file.is_file())
    found = [file for file in found if file.stem not in _OF_TRAINING]
    safe = [file for file in found if file.suffix == ".safetensors"]
    index = folder / ("model.safetensors" if safe else "pytorch_model.bin")
    index = index.with_name(f"{index.name}.index.json")
    if not found or not index.is_file():
        return safe or found
    named = json.loads(checked_json(spec, index)).get("weight_map")
    names = sorted(set(map(str, named.values()))) if isinstance(named, dict) else []
    files = [folder / name for name in names]
    gone = [file.name for file in files if not file.is_file()]
    if gone:
        raise SweepError(
            f"model lacks {len(gone)} of the {len(files)} files of its weights: {gone[0]}"
            + (", ..." if len(gone) > 1 else ""),
            where={"judge": spec.name, "file": index},
            hint="copy or download them again",
        )
    return files or safe or found


def _check_whole(spec: EngineSpec, file: Path) -> None:
    """Refuse a file of weights that is shorter or longer than it says itself."""
    if _begins(file, _POINTER):
        problem = "is a Git LFS pointer, not the weights themselves"
    elif file.suffix == ".safetensors":
        problem = _safetensors_fault(file)
    elif _begins(file, b"PK") and not zipfile.is_zipfile(file):
        problem = "is cut off: the directory at its end is not there"
    else:
        return
    if problem:
        raise SweepError(
            f"the model's file of weights {problem}",
            where={"judge": spec.name, "file": file},
            hint="copy or download it again",
        )


def _safetensors_fault(file: Path) -> str:
    """What is wrong with the length of a safetensors file by its header; empty where nothing is."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(_HEADER_SIZE), "little")
        if size < _HEADER_SIZE or not 2 <= length <= min(_LONGEST_HEADER, size - _HEADER_SIZE):
            return f"is cut off or no safetensors: {size:,} bytes do not hold its header"
        try:
            header = json.loads(stream.read(length))
            ends = [one["data_offsets"][1] for n, one in header.items() if n != "__metadata__"]
            expected = _HEADER_SIZE + length + max(ends, default=0)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return "is no safetensors: its header cannot be read"
    if size == expected:
        return ""
    return f"is {'cut off' if size < expected else 'too long'}: {size:,} of {expected:,} bytes"


def _begins(file: Path, mark: bytes) -> bool:
    """Whether a file starts with some bytes."""
    with file.open("rb") as stream:
        return stream.read(len(mark)) == mark
