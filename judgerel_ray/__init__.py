"""How far can an LLM judge be trusted? Ask it again, many times, and measure.

Importing this package loads none of ray, vllm, torch or polars: the three functions below load
what they need when called.

Examples
--------
>>> import judgerel_ray
>>> judgerel_ray.__version__
'0.1.0'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgerel_ray.config import Sweep

__version__ = "0.1.0"
__all__ = ["__version__", "load_sweep", "reduce", "run"]


def load_sweep(path: str) -> Sweep:
    """Read a sweep file; see :func:`judgerel_ray.config.load_sweep`."""
    from judgerel_ray.config import load_sweep as load

    return load(path)
