"""Which runs need no Ray: small ones, of judges behind an API and simulated ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgerel_ray.engines import EngineSpec

MOST_REQUESTS = 20_000
"""Of a run in one process, at most. Ray takes its time to start, and then has more processes."""
LIGHT = ("openai", "simulated")


def needs_ray(specs: Iterable[EngineSpec], n_requests: int) -> str | None:
    """Why judges are asked on Ray; None where one process will do.

    `specs` are those of the judges that are asked, `n_requests` what they are asked at most.
    """
    for spec in specs:
        if spec.engine not in LIGHT or spec.gpus:
            return f"judge {spec.name} runs on hardware of its own"
        if spec.engine == "simulated" and _takes_its_process(spec):
            return f"judge {spec.name} is told to end its process"
    if n_requests > MOST_REQUESTS:
        return f"more than {MOST_REQUESTS:,} requests"
    return None


def _takes_its_process(spec: EngineSpec) -> bool:
    """Whether a simulated judge fails by leaving the process, as a crashed engine does."""
    options = spec.engine_options
    return options.get("dies", "exit") == "exit" and bool({"dies_on", "poison"} & options.keys())
