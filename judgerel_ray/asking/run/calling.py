"""A run as a Python program calls it: no exit code and no closing line, but a warning."""

from __future__ import annotations

import warnings

import polars as pl

from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.config import Sweep
from judgerel_ray.core import SweepError, UnfinishedRunWarning
from judgerel_ray.store import RunDirectory, scan_judgments

CALLER = 4
"""Frames from the warning to the line that called ``judgerel_ray.run``, a verb made of options."""


def judgments_of(
    sweep: object, out: str, *, address: str | None = None, ask_lost: bool = False
) -> pl.DataFrame:
    """Run a sweep, or go on with it, and read all judgments that landed.

    Raises, Warns: as :func:`judgerel_ray.run`.
    """
    if not isinstance(sweep, Sweep):  # Python programs are not all type-checked
        got = type(sweep).__name__
        raise SweepError(f"sweep must be a path or what load_sweep gives, got {got}")
    if not out.strip():
        raise SweepError("out is empty", hint="name a new directory")
    summary = run_sweep(sweep, out=out, address=address, ask_lost=ask_lost)
    if summary.owed:
        warning = UnfinishedRunWarning(summary.run, owed=summary.owed, problems=summary.problems)
        warnings.warn(warning, stacklevel=CALLER)
    return scan_judgments(RunDirectory.open(out)).collect()
