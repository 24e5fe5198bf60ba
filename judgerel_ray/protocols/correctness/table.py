"""Keys of an ask of correctness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from judgerel_ray.protocols.ask import AskTable, Tokens


class CorrectnessAsk(AskTable):
    """An ``[[ask]]`` of correctness: judges say whether an answer agrees with the gold one."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("verdict_logprobs", "early_stop", "option_orders"), ""),
    }
    adapts: ClassVar[bool] = True

    protocol: Literal["correctness"]
    """Whether an answer is right."""
    mode: Literal["sample", "exact"] = "sample"
    """How verdicts are had: sampled replies, or the probabilities of all replies."""
    max_tokens: Tokens = 16
    """New tokens at most."""
