"""What can be known of a model without loading it: prompt lengths and the size of its weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from judgerel_ray.core import Condition, Message, RequestRefused, SweepError
from judgerel_ray.engines.catalog import make_engine
from judgerel_ray.engines.engine import JSON, EngineSpec
from judgerel_ray.engines.model_files import is_local
from judgerel_ray.engines.tokenization import (
    FolderTokenizer,
    PromptEncoder,
    chat_template_text,
    checked_json,
    template_options,
)

CHARACTERS_PER_TOKEN = 4
PromptCounter = Callable[[tuple[Message, ...]], int]
_BILLIONS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """Parameters and bytes of weights, and where that is from."""

    parameters: float
    weight_bytes: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEncoder:
    """An encoder, and whether it writes prompts as the engine will, chat template included."""

    encoder: PromptEncoder
    is_whole: bool


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
    found = prompt_encoder(spec)
    if found is None:
        return _token_count_by_characters, "estimated"
    encoder = found.encoder
    how = "counted" if found.is_whole else "counted without chat template"
    return lambda prompt: len(encoder.encode(prompt)[1]), how


def prompt_encoder(spec: EngineSpec) -> FolderEncoder | None:
    """Make an encoder of the files in a model's folder; None where they are not there."""
    folder = tokenizer_folder(spec)
    if folder is None:
        return None
    try:
        tokenizer = FolderTokenizer(spec, folder)
    except ImportError:
        return None
    if spec.chat_template is True and not (folder / "tokenizer_config.json").is_file():
        template = None
    else:
        try:
            template = chat_template_text(spec, tokenizer)
        except SweepError:
            if is_local(spec.model):
                raise
            return None  # a cache may hold only some of a model's files
    encoder = PromptEncoder(tokenizer, template, template_options(spec))
    try:
        encoder.encode((Message(role="user", content="?"),))
    except (RequestRefused, TypeError, ValueError, LookupError, AttributeError):
        template, encoder = None, PromptEncoder(tokenizer, None)
    whole = template is not None or spec.chat_template is False
    return FolderEncoder(encoder=encoder, is_whole=whole)


def thinking_remark(spec: EngineSpec) -> str | None:
    """Say where a judge's chat template thinks; None where it does not, or is not known here."""
    found = prompt_encoder(spec)
    if found is None:
        return None
    text, _ = found.encoder.encode((Message(role="user", content="?"),))
    opened, thinks = found.encoder.thinking(text)
    if not thinks:
        return None
    where = (
        f"opens a thought ({opened}) in which every reply begins" if opened else "knows thoughts"
    )
    return (
        f"{spec.name}: its chat template {where}: only what follows a thought is read, max_tokens "
        "must hold both, and early_stop sends no stop strings. Many templates take "
        "engine_options = { chat_template_kwargs = { enable_thinking = false } }"
    )


def tokenizer_folder(spec: EngineSpec) -> Path | None:
    """Find the folder of a judge's tokenizer on this machine; None where there is none."""
    named = spec.engine_options.get("tokenizer")
    revision = spec.engine_options.get("tokenizer_revision") or spec.revision
    return model_folder(spec, "tokenizer.json", name=str(named or spec.model), revision=revision)


def model_folder(
    spec: EngineSpec, file: str, *, name: str | None = None, revision: JSON = None
) -> Path | None:
    """Find the folder with a model's file: its own, or that of a hub id in this machine's cache."""
    if spec.engine != "vllm":  # a name at a server is no folder and no hub id
        return None
    name = name or spec.model
    folder = Path(name).expanduser()
    if (folder / file).is_file():
        return folder
    if is_local(name):
        return None
    try:
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(
            name, file, revision=str(revision or spec.revision or "main")
        )
    except (ImportError, ValueError):  # ValueError: no name that a hub could have
        return None
    return Path(found).parent if isinstance(found, str) else None


def model_size(spec: EngineSpec) -> ModelSize | None:
    """Size of a model's weights, from its files, or from its name where that tells.

    Returns
    -------
    ModelSize or None
        None where neither tells.

    Raises
    ------
    SweepError
        If the folder's index of weights is not JSON.

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


def _token_count_by_characters(prompt: tuple[Message, ...]) -> int:
    """Characters / 4, the usual rule of thumb for English."""
    return sum(len(message.content) for message in prompt) // CHARACTERS_PER_TOKEN


TOO_LONG = "prompt_too_long:"
SPARE_TOKENS = 16  # of a message: what marks its beginning and its end
_LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
    "max_target_positions", "max_sequence_length", "max_seq_length", "seq_len",
)  # fmt: skip
_UNSCALED = frozenset({None, "default", "llama3"})
# With any of these, the length that an engine takes is not the configuration's own.
_OVERRIDES = ("hf_overrides", "hf_config_path", "config_format", "disable_sliding_window")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFit:
    """The engine's own check of a prompt's length, and a quick one before it.

    ``prepare`` raises RequestRefused for what can never be answered; ``longest`` is the context;
    ``spare`` is what a message costs beside its words, at most.
    """

    prepare: Callable[[Condition], object]
    longest: int
    spare: int

    def refusal(self, condition: Condition) -> RequestRefused | None:
        """Tell why a condition cannot fit, as its engine would; None where it may."""
        if most_tokens(condition, self.spare) <= self.longest:
            return None  # so that of most prompts nothing is encoded here
        try:
            self.prepare(condition)
        except RequestRefused as refusal:
            # Whatever else is refused, the engine says it with its own tokenizer.
            return refusal if refusal.problem.startswith(TOO_LONG) else None
        return None


def prompt_fit(spec: EngineSpec) -> PromptFit | None:
    """Make the check for a judge; None where its tokenizer or its context is not known here.

    Effects: may read a tokenizer's file. Retry: safe.

    Raises
    ------
    SweepError
        If a file of the model's folder cannot be read.

    Examples
    --------
    >>> spec = EngineSpec(name="j", engine="simulated", model="uniform", max_model_len=8)
    >>> prompt_fit(spec).longest
    8
    >>> prompt_fit(EngineSpec(name="j", engine="simulated", model="uniform")) is None
    True
    """
    longest = longest_context(spec)
    if longest is None:
        return None
    if spec.engine == "simulated":
        return PromptFit(prepare=make_engine(spec).prepare, longest=longest, spare=SPARE_TOKENS)
    found = prompt_encoder(spec)
    if found is None or not found.is_whole:
        return None
    shortest = len(found.encoder.encode((Message(role="user", content="?"),))[1])
    return PromptFit(
        prepare=partial(found.encoder.prepare, longest=longest),
        longest=longest,
        spare=shortest + SPARE_TOKENS,
    )


def most_tokens(condition: Condition, spare: int) -> int:
    """Bound the tokens of a prompt and its reply: a tokenizer makes no more of a text than bytes.

    Rare letters that a tokenizer takes apart may be more; then the engine is the first to notice.
    """
    texts = [message.content for message in condition.prompt]
    if condition.scoring is not None:
        texts += [condition.scoring.start, *condition.scoring.continuations]
    n_bytes = sum(len(text.encode()) for text in texts)
    return n_bytes + spare * len(texts) + condition.max_tokens


def longest_context(spec: EngineSpec) -> int | None:
    """Find the longest context of a judge: the sweep's, or that of its model's configuration."""
    if spec.max_model_len is not None or spec.engine == "simulated":
        return spec.max_model_len
    folder = model_folder(spec, "config.json")
    if folder is None or any(name in spec.engine_options for name in _OVERRIDES):
        return None
    file = folder / "config.json"
    config = json.loads(checked_json(spec, file))
    if any(isinstance(config.get(name), dict) for name in ("text_config", "llm_config")):
        return None
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(rope, dict) or any(isinstance(part, dict) for part in rope.values()):
        return None
    if rope.get("rope_type", rope.get("type")) not in _UNSCALED:
        return None
    lengths = [config[name] for name in _LENGTHS if isinstance(config.get(name), int)]
    settings = (tokenizer_folder(spec) or folder) / "tokenizer_config.json"
    if settings.is_file():
        stated = json.loads(checked_json(spec, settings)).get("model_max_length")
        lengths += [int(stated)] if lengths and isinstance(stated, int | float) else []
    return min(lengths, default=None)
