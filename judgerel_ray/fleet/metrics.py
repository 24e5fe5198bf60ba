"""What a run tells Ray's metrics, judge by judge: the numbers of its board, over time.

Ray exports them on every node, with ``ray_`` before each name and ``_total`` behind a counter's.
The driver counts what landed, so that no lease is counted twice; an actor says how full it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from judgerel_ray.config import Prices
from judgerel_ray.core import TokenCounts

COUNTERS: Mapping[str, str] = {
    "judgerel_judgments": "Judgments landed.",
    "judgerel_prompt_tokens": "Prompt tokens of what landed, those found in a cache included.",
    "judgerel_cached_tokens": "Prompt tokens found in a prefix cache.",
    "judgerel_generated_tokens": "Tokens generated for what landed.",
    "judgerel_failures": "Requests recorded in errors/.",
    "judgerel_gpu_seconds": "Seconds that engines worked, by the GPUs they hold.",
    "judgerel_cost": "Money for the tokens of what landed, of judges with prices.",
}
GAUGES: Mapping[str, str] = {
    "judgerel_queue_depth": "Requests of this wave that have neither landed nor failed.",
    "judgerel_engines": "Engines that are up.",
    "judgerel_leases_at_work": "Leases that an engine has before it.",
}


def record(name: str, judge: str, value: float) -> None:
    """Add to a counter of a judge, or set its gauge.

    Effects: Ray exports it, where this process is connected. Retry: not safe for a counter.

    Raises
    ------
    KeyError
        If nothing of this name is told.
    """
    if name in GAUGES:
        _instrument(name).set(value, tags={"judge": judge})
    elif value or name not in COUNTERS:  # Ray counts no zero
        _instrument(name).inc(value, tags={"judge": judge})


def counts_of(
    rows: int, tokens: TokenCounts, *, gpu_s: float, prices: Prices | None
) -> dict[str, float]:
    """What to count for a lease that landed.

    Examples
    --------
    >>> tokens = TokenCounts(prompt=100, cached=60, generated=5)
    >>> counts_of(3, tokens, gpu_s=0.5, prices=None)["judgerel_cached_tokens"]
    60
    """
    cost = None
    if prices is not None:
        cost = prices.cost(tokens.prompt, tokens.cached, tokens.generated)
    return {
        "judgerel_judgments": rows,
        "judgerel_prompt_tokens": tokens.prompt,
        "judgerel_cached_tokens": tokens.cached,
        "judgerel_generated_tokens": tokens.generated,
        "judgerel_gpu_seconds": gpu_s,
        "judgerel_cost": cost or 0.0,
    }


@cache
def _instrument(name: str) -> Any:
    """A metric of this process, made once."""
    from ray.util.metrics import Counter, Gauge

    if name in GAUGES:
        return Gauge(name, description=GAUGES[name], tag_keys=("judge",))
    return Counter(name, description=COUNTERS[name], tag_keys=("judge",))
