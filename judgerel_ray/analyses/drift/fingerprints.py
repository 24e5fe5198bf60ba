"""What is behind a judge's name, and what changed of it between two refreshes.

It is kept as nested entries: parts of the judge's fingerprint, settings of the asks (such as
``asks.0.template``), files of its model (``parts``), and what served it (``served``).
"""

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
    "reader_version": "reader version",
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
        f"{_called(name)}: {_shown(old.get(name))}, now {_shown(new.get(name))}"
        for name in sorted({*old, *new}, key=lambda one: (one not in WORDS, one))
        if old.get(name) != new.get(name)
    ]


_ANSWERS = frozenset({"benchmark", "items", "responders", "respond", "respond_template"})
"""Settings of an ask that say what is judged; all others say how."""


def what_changed(before: Behind, now: Behind) -> tuple[bool, list[str]]:
    """Whether what a judge judged changed, and the names of what changed of how it was asked.

    What served a judge is left out: it is found and not asked, and what it does shows on anchors.

    Examples
    --------
    >>> what_changed({"asks.0.items": "a", "model": "m"}, {"asks.0.items": "b", "model": "m"})
    (True, [])
    >>> what_changed({"asks.0.items": "a", "model": "m"}, {"asks.0.items": "a", "model": "n"})
    (False, ['model'])
    """
    old, new = _by_setting(before), _by_setting(now)
    differing = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    answers = {
        name for name in differing if name.startswith("asks.") and name.split(".")[1] in _ANSWERS
    }
    others = sorted(differing - answers)
    return bool(answers), [WORDS.get(name, name.removeprefix("asks.")) for name in others]


def fingerprint_of(behind: Behind) -> dict[str, object]:
    """Of what is behind a judge's name the judge alone: not how it was asked, served or read.

    Examples
    --------
    >>> fingerprint_of({"model": "m", "asks.0.items": "a", "served": {}})
    {'model': 'm'}
    """
    return {
        name: value
        for name, value in behind.items()
        if not name.startswith("asks.") and name not in {*_FOUND, "reader_version"}
    }


_FOUND = frozenset({"parts", "served"})
"""What is found out about a judge, on this machine or from its server."""


def _by_setting(behind: Behind) -> dict[str, list[str]]:
    """Values of each setting over all asks, whose order says nothing; what was found is left out.

    An ask's number goes by the order of digests, so any change may number all of them anew.
    """
    found: dict[str, list[str]] = {}
    for name, value in _flat({k: v for k, v in behind.items() if k not in _FOUND}).items():
        first, _, rest = name.partition(".")
        short = f"asks.{rest.partition('.')[2]}" if first == "asks" else name
        found.setdefault(short, []).append(str(value))
    return {name: sorted(values) for name, values in found.items()}


def _called(name: str) -> str:
    """An entry's name in words: of an ask's settings that of the sweep file, and which ask."""
    first, _, rest = name.partition(".")
    number, _, setting = rest.partition(".")
    return f"ask[{number}] {setting}" if first == "asks" else WORDS.get(name, name)


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
