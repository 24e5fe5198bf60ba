"""What a model is, by content: hashes of a folder's files, or the commit of a hub id.

A model is local if its name starts with ``/``, ``./``, ``../`` or ``~``, or if a file or folder of
that name exists; otherwise it is a hub id.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from judgerel_ray.core import EngineStartError, SweepError
from judgerel_ray.engines.engine import EngineSpec
from judgerel_ray.engines.model_check import WEIGHTS, check_model

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
    """Whether a model's name means a path.

    Examples
    --------
    >>> is_local("./judge"), is_local("meta-llama/Meta-Llama-3-8B-Instruct")
    (True, False)
    """
    return model.startswith(("/", "./", "../", "~")) or Path(model).exists()


def model_content(spec: EngineSpec, *, known: Mapping[str, object] | None = None) -> ModelContent:
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

    Examples
    --------
    >>> model_content(EngineSpec(name="j", engine="vllm", model="./nowhere"))
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: model must be a folder, a file or a hub id, got './nowhere', which does not exist [judge=j]
    """  # noqa: E501  the message is one line
    if not is_local(spec.model):
        return _known_content(spec, known) or _hub_content(spec)
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
    """Hash a whole file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = Path(folder, "x").write_bytes(b"judge")
    ...     file_sha256(Path(folder, "x"))[:8]
    '10e86c65'
    """
    total = sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            total.update(block)
    return total.hexdigest()


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
    return ModelContent(
        kind="hub",
        name=spec.model,
        identity=commit or revision,
        resolved=commit is not None,
        weights=None,
        revision=revision,
    )


def _known_content(spec: EngineSpec, known: Mapping[str, object] | None) -> ModelContent | None:
    """What was found before, where it was asked for by the same name and revision."""
    asked = {"kind": "hub", "name": spec.model, "revision": spec.revision or "main"}
    if known is None or any(known.get(name) != value for name, value in asked.items()):
        return None
    return ModelContent(
        kind="hub",
        name=spec.model,
        identity=str(known["identity"]),
        resolved=known.get("resolved") is True,
        weights=None,
        revision=spec.revision or "main",
    )


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
