"""Which prompts a judge's context cannot hold, told where its tokenizer lies, before it is loaded.

A judge that is loaded for a minute only to refuse every prompt is a minute of a GPU wasted; where
the files to count with are not on this machine, the engine's own check stays the only one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from judgerel_ray.core import Condition, Message, RequestRefused
from judgerel_ray.engines.catalog import make_engine
from judgerel_ray.engines.engine import EngineSpec
from judgerel_ray.engines.sizing import model_folder, prompt_encoder, tokenizer_folder
from judgerel_ray.engines.tokenization.folder_tokenizer import checked_json

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
    """Find the longest context of a judge: the sweep's, or that of its model's configuration.

    Returns
    -------
    int or None
        Tokens of prompt and reply; None where only the engine can tell.

    Examples
    --------
    >>> longest_context(EngineSpec(name="j", engine="vllm", model="m", max_model_len=96))
    96
    """
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
