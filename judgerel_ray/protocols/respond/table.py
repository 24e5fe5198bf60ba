"""Keys of an ask of respond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from judgerel_ray.core.table import Number
from judgerel_ray.protocols.ask import AskTable, Often


class RespondAsk(AskTable):
    """An ``[[ask]]`` of respond: its judges answer, and nobody judges."""

    leaves_out: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("mode", "exact", "verdict_logprobs", "early_stop", "option_orders", "respond"), ""
        ),
        "responders": "its judges answer, name them in judges",
    }

    protocol: Literal["respond"]
    """Answers only."""
    temperatures: tuple[Number, ...] = (0.75,)
    """Sampling temperatures."""
    replications: Often = 1
    """How often each question is asked."""
