"""A sweep that samples, as one that explores: what ``judgerel exact`` asks."""

from __future__ import annotations

import re

from judgerel_ray.config.reading import parse_sweep
from judgerel_ray.config.sweep import Sweep
from judgerel_ray.core import SweepError

SAMPLING_KEYS = ("replications", "repeat_greedy", "early_stop")
_SAMPLING_TABLES = tuple(f"ask.{key}" for key in SAMPLING_KEYS)  # replications may be one
_TABLE = re.compile(r"\s*\[\[?\s*([\w.\-]+)\s*\]\]?\s*(?:#.*)?$")


def as_exact(sweep: Sweep) -> Sweep:
    """Ask for verdict distributions wherever a sweep samples verdicts.

    Keys of sampling have no meaning there and are left out; an ask that names a mode keeps it.

    Raises
    ------
    SweepError
        If no ask has a distribution to find, or one cannot be explored as it is written.

    Examples
    --------
    >>> sweep = parse_sweep('''
    ... name = "s"
    ... [[judge]]
    ... name = "uniform"
    ... engine = "simulated"
    ... model = "uniform"
    ... gpus = 0
    ... [[ask]]
    ... protocol = "best_of"
    ... benchmark = "demo"
    ... path = "items.parquet"
    ... replications = 100
    ... ''')
    >>> as_exact(sweep).ask[0].mode
    'exact'
    """
    lines: list[str] = []
    asks = iter(sweep.ask)
    samples = is_head = is_dropped = False
    for line in sweep.text.splitlines():
        table = _TABLE.match(line)
        if table:
            is_head = table[1] == "ask"
            if is_head:
                ask = next(asks)
                samples = ask.mode == "sample" and ask.protocol != "respond"
            is_dropped = samples and table[1] in _SAMPLING_TABLES
        if is_dropped:
            continue
        key = line.partition("=")[0].strip()
        if samples and is_head and not table and key in (*SAMPLING_KEYS, "mode"):
            continue
        lines.append(line)
        if table and samples and is_head:
            lines.append('mode = "exact"')
    text = "\n".join(lines) + "\n"
    found = parse_sweep(
        text, source=f"{sweep.name}, as judgerel exact asks it", folder=sweep.folder
    )
    if not any(ask.mode == "exact" for ask in found.ask):
        raise SweepError(
            "no ask of the sweep has a distribution to find",
            where={"sweep": sweep.name},
            hint="protocols best_of, correctness and rating have one",
        )
    return found
