"""What a model is, by content: hashes of a folder's files, or the commit of a hub id.

A model is local if its name starts with ``/``, ``./``, ``../`` or ``~``, or if a file or folder of
that name exists; otherwise it is a hub id.

Whether a local path can be a model at all: told where a sweep is planned, not by its engine.

Only what no engine could do without is asked for, and only what costs no reading: names of files,
a configuration, and of weights the header, which says how long the file must be.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from judgerel_ray.core import EngineStartError, SweepError
from judgerel_ray.engines.engine import EngineSpec
from judgerel_ray.engines.tokenization import checked_json

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
    """Refuse a path that no engine could load a model from."""
    where = {"judge": spec.name, "model": spec.model}
    if not path.is_dir():
        if not _engine_model_file_begins(path, _GGUF):
            raise SweepError(
                f"model must be a folder or a .gguf file, got the file {path.name}",
                where=where,
                hint="the folder that holds config.json, a tokenizer and weights",
            )
        return
    weights = _engine_weight_files(spec, path)
    missing = [*_engine_model_folder_lacks(spec, path, has_weights=bool(weights))]
    if missing:
        raise SweepError(
            f"model folder cannot be a model, it has no {' and no '.join(missing)}",
            where=where,
            hint="the folder that holds config.json, a tokenizer and weights, all of one model",
        )
    for file in weights:
        _check_whole(spec, file)


def _engine_model_folder_lacks(
    spec: EngineSpec, folder: Path, *, has_weights: bool
) -> Iterable[str]:
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


def _engine_weight_files(spec: EngineSpec, folder: Path) -> list[Path]:
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
    if _engine_model_file_begins(file, _POINTER):
        problem = "is a Git LFS pointer, not the weights themselves"
    elif file.suffix == ".safetensors":
        problem = _safetensors_fault(file)
    elif _engine_model_file_begins(file, b"PK") and not zipfile.is_zipfile(file):
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


def _engine_model_file_begins(file: Path, mark: bytes) -> bool:
    """Whether a file starts with some bytes."""
    with file.open("rb") as stream:
        return stream.read(len(mark)) == mark


_TEXTS = frozenset({".json", ".jinja", ".model", ".txt", ".py", ".tiktoken", ".vocab", ".yaml"})
_FULLY_HASHED_BYTES = 2 * 1024**3  # all weights together; some seconds on any disk
_BLOCK_BYTES = 1024**2
_BLOCKS = 16
HUB_TIMEOUT_S = 5.0
# Roots of what the hub's clients raise that is no OSError; looked up only once they are loaded.
_CLIENT_ERRORS = {"httpx": ("HTTPError", "InvalidURL"), "httpx2": ("HTTPError", "InvalidURL")}
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelContent:
    """A model's identity.

    ``kind`` is ``folder`` or ``hub``. ``identity`` is a digest of the files, a commit, or the
    revision's name where ``resolved`` is False. ``revision`` is what was asked for of a hub id.
    ``weights`` says how a folder's weights were hashed: ``full`` or ``sampled`` (size and 16
    blocks of 1 MiB of each file).
    """

    kind: str
    name: str | None
    identity: str
    resolved: bool
    weights: str | None
    revision: str | None = None


def is_local(model: str) -> bool:
    """Whether a model's name means a path."""
    return model.startswith(("/", "./", "../", "~")) or Path(model).exists()


def model_content(spec: EngineSpec, *, known: object = None) -> ModelContent:
    """Identify a judge's model.

    Parameters
    ----------
    spec : EngineSpec
        ``model`` and ``revision``.
    known : mapping, optional
        What was found before (the fields of a :class:`ModelContent`). A hub id asked for by the
        same name and revision stays what it was then: a branch may move, and a cache may fill,
        between two sessions of one run.

    Returns
    -------
    ModelContent
        A folder's own name is not part of it: a moved folder is the same model.

    Raises
    ------
    SweepError
        If a local model is not there, cannot be read or is none (no configuration, tokenizer or
        weights, or weights that are cut off), or if the hub has no such model or revision.
    EngineStartError
        If the hub cannot be asked which commit a revision is, and the cache does not know.
    """
    if not is_local(spec.model):
        return known_content(spec, known) or _hub_content(spec)
    try:
        return _local_content(spec, Path(spec.model).expanduser())
    except (OSError, RuntimeError) as error:  # RuntimeError: a home folder nobody has
        raise SweepError(f"model cannot be read: {error}", where={"judge": spec.name}) from error


def _local_content(spec: EngineSpec, path: Path) -> ModelContent:
    """Hash a folder's files, or one file."""
    if not path.exists():
        raise SweepError(
            f"model must be a folder, a file or a hub id, got {spec.model!r}, which does not exist",
            where={"judge": spec.name},
        )
    check_model(spec, path)
    files = [path] if path.is_file() else _model_files(path)
    root = path.parent if path.is_file() else path
    weights = [file for file in files if file.suffix in WEIGHTS]
    full = sum(file.stat().st_size for file in weights) <= _FULLY_HASHED_BYTES
    total = sha256()
    for file in files:
        content = file_sha256(file) if full or file not in weights else _sampled_sha256(file)
        total.update(f"{file.relative_to(root).as_posix()}\0{content}\n".encode())
    return ModelContent(
        kind="folder",
        name=None,
        identity="sha256:" + total.hexdigest(),
        resolved=True,
        weights="full" if full else "sampled",
    )


def model_parts(spec: EngineSpec) -> dict[str, str]:
    """Digests of a local model's weights, tokenizer, chat template and configuration, apart.

    Which of them changed between two times; a hub id has its commit alone, and no parts here.

    Examples
    --------
    >>> model_parts(EngineSpec(name="j", engine="vllm", model="an-org/a-model"))
    {}
    """
    folder = Path(spec.model).expanduser()
    if not is_local(spec.model) or not folder.is_dir():
        return {}
    found: dict[str, list[str]] = {}
    for file in _model_files(folder):
        name = file.relative_to(folder).as_posix()
        part, digest = _engine_model_file_kind(name), None
        if name == "tokenizer_config.json":  # most models keep their template in it
            content = json.loads(file.read_bytes())
            template = content.pop("chat_template", None)
            if template is not None:
                text = json.dumps(template, sort_keys=True)
                found.setdefault("chat template", []).append(sha256(text.encode()).hexdigest())
            digest = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        elif part == "weights" and file.stat().st_size > _FULLY_HASHED_BYTES:
            digest = _sampled_sha256(file)
        found.setdefault(part, []).append(f"{name}:{digest or file_sha256(file)}")
    return {
        part: "sha256:" + sha256("\n".join(lines).encode()).hexdigest()[:16]
        for part, lines in sorted(found.items())
    }


def _engine_model_file_kind(name: str) -> str:
    """What of a model a file is."""
    path = Path(name)
    if path.suffix in WEIGHTS:
        return "weights"
    if path.suffix == ".jinja":
        return "chat template"
    names = (*_TOKENIZERS, "merges.txt", "tokenizer_config.json", "special_tokens_map.json")
    is_tokenizer = any(path.match(pattern) for pattern in (*names, "added_tokens.json"))
    return "tokenizer" if is_tokenizer else "configuration"


def _model_files(folder: Path) -> list[Path]:
    """List the files an engine may read, in one order everywhere; not read-me files or images."""
    found = [*folder.iterdir(), *folder.glob("additional_chat_templates/*.jinja")]
    kept = [
        file
        for file in found
        if file.is_file() and not file.name.startswith(".") and file.suffix in WEIGHTS | _TEXTS
    ]
    return sorted(kept, key=lambda file: file.relative_to(folder).as_posix())


def file_sha256(path: Path) -> str:
    """Hash a whole file."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _sampled_sha256(path: Path) -> str:
    """Hash a file's size and evenly spaced blocks, first and last among them."""
    size = path.stat().st_size
    total = sha256(f"{size}:".encode())
    with path.open("rb") as stream:
        for block in range(_BLOCKS):
            stream.seek(max(size - _BLOCK_BYTES, 0) * block // (_BLOCKS - 1))
            total.update(stream.read(_BLOCK_BYTES))
    return total.hexdigest()


def _hub_content(spec: EngineSpec) -> ModelContent:
    """Resolve a hub id to the commit in the local cache, where there is one."""
    revision = spec.revision or "main"
    if _COMMIT.fullmatch(revision):
        commit: str | None = revision
    else:
        commit = _cached_commit(spec.model, revision) or _hub_commit(spec, revision)
    return hub_model(spec, commit or revision, resolved=commit is not None)


def hub_model(spec: EngineSpec, identity: str, *, resolved: bool) -> ModelContent:
    """A hub id as a commit, or as the revision's name where that is all that is known."""
    return ModelContent(
        kind="hub",
        name=spec.model,
        identity=identity,
        resolved=resolved,
        weights=None,
        revision=spec.revision or "main",
    )


def known_content(spec: EngineSpec, known: object) -> ModelContent | None:
    """What was found before, where it was asked for by the same name and revision."""
    asked = {"kind": "hub", "name": spec.model, "revision": spec.revision or "main"}
    if not isinstance(known, Mapping):
        return None
    if any(known.get(name) != value for name, value in asked.items()):
        return None
    return hub_model(spec, str(known["identity"]), resolved=known.get("resolved") is True)


def _hub_commit(spec: EngineSpec, revision: str) -> str | None:
    """Ask the hub which commit a revision is; None where it is not to be asked or does not say."""
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        return None
    # Who says "offline" means the nodes' own caches; another hub has other commits.
    if HF_HUB_OFFLINE or os.environ.get("VLLM_USE_MODELSCOPE", "").lower() in {"1", "true"}:
        return None
    where = {"judge": spec.name, "hub": ENDPOINT}
    try:
        return HfApi().model_info(spec.model, revision=revision, timeout=HUB_TIMEOUT_S).sha
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise SweepError(
            f"the hub has no model {spec.model!r} of revision {revision!r} for this account",
            where=where,
            hint="check its name, set HF_TOKEN for a private one, or name a local folder",
        ) from error
    except _client_errors() as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise EngineStartError(
            f"model {spec.model!r} is neither a local folder nor cached, and the hub cannot be "
            f"asked for it: {first}",
            where=where,
            hint="a local folder, the network, or HF_HUB_OFFLINE=1 where the nodes have it cached",
        ) from error


def _client_errors() -> tuple[type[Exception], ...]:
    """Classes of what the hub's client raises where it gets no answer."""
    # OSError holds those of requests and of the hub; ImportError a proxy that needs a package.
    found: list[type[Exception]] = [OSError, ValueError, ImportError]
    for module, names in _CLIENT_ERRORS.items():
        kinds = (getattr(sys.modules.get(module), name, None) for name in names)
        found += [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)]
    return tuple(found)


def _cached_commit(model: str, revision: str) -> str | None:
    """Ask the local hub cache which commit a revision is; never the network."""
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        return None
    try:
        found = try_to_load_from_cache(model, "config.json", revision=revision)
    except HFValidationError as error:
        raise SweepError(f"model must be a path or a hub id, got {model!r}: {error}") from error
    if not isinstance(found, str):
        return None
    commit = Path(found).parent.name
    return commit if _COMMIT.fullmatch(commit) else None
