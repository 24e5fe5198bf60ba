"""What is behind a judge's name, and how that differs between two refreshes, in words."""

from __future__ import annotations

from collections.abc import Mapping

Behind = Mapping[str, object]

WORDS = {
    "parts.weights": "weights",
    "parts.tokenizer": "tokenizer",
    "parts.chat template": "chat template",
    "parts.configuration": "model configuration",
    "model": "model",
    "model.identity": "model content",
    "model.name": "model",
    "model.revision": "revision asked for",
    "chat_template": "chat template",
    "engine_version": "engine version",
    "device": "device",
    "tensor_parallel_size": "tensor parallel size",
    "dtype": "precision",
    "quantization": "quantisation",
    "batch_invariant": "batch invariance",
    "attention_backend": "attention backend",
    "max_model_len": "longest context",
    "provider": "server",
    "served.backends": "what the server calls itself",
    "served.engine_version": "engine version that served",
    "served.device_name": "GPU",
    "served.attention_backend": "attention backend that served",
    "served.dtype": "precision that served",
    "served.model": "model that served",
    "served.chat_template_sha256": "chat template that served",
}
"""What each entry is called; others go by their own names."""
SERVED = tuple(name.removeprefix("served.") for name in WORDS if name.startswith("served."))
"""Facts of engines that are compared."""


def changes(before: Behind, now: Behind) -> list[str]:
    """Say what changed behind a judge's name, a phrase each.

    Examples
    --------
    >>> changes({"model": {"identity": "a"}, "engine": "vllm"},
    ...         {"model": {"identity": "b"}, "engine": "vllm"})
    ['model content: a, now b']
    >>> changes({"served": {"backends": ["fp_1"]}}, {"served": {"backends": ["fp_2"]}})
    ['what the server calls itself: fp_1, now fp_2']
    """
    old, new = _flat(before), _flat(now)
    return [
        f"{WORDS.get(name, name)}: {_shown(old.get(name))}, now {_shown(new.get(name))}"
        for name in sorted({*old, *new}, key=lambda one: (one not in WORDS, one))
        if old.get(name) != new.get(name)
    ]


def _flat(value: Behind, above: str = "") -> dict[str, object]:
    """Nested entries by their path."""
    found: dict[str, object] = {}
    for key, inner in value.items():
        name = f"{above}{key}"
        found |= _flat(inner, f"{name}.") if isinstance(inner, Mapping) else {name: inner}
    return found


def _shown(value: object) -> str:
    """A value as a line holds it."""
    if value is None or value == []:
        return "none"
    return " or ".join(str(one) for one in value) if isinstance(value, list) else str(value)
