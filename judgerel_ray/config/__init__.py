"""The sweep file: TOML to a frozen Sweep, its asks by the tables of their protocols.

The series file, which names sweeps that are refreshed, is read in `series`.

Examples
--------
>>> from judgerel_ray.config import parse_sweep
>>> try:
...     parse_sweep('name = "x"')
... except Exception as error:
...     print(error)
judge is missing (and 1 more problem) [file=sweep.toml]. Try: add [[judge]] there
"""

from judgerel_ray.config.asks import ask_table
from judgerel_ray.config.reading import as_exact, parse_sweep, read_sweep
from judgerel_ray.config.sweep import FleetTable, Judge, Limits, Prices, Sweep, check_shared_limits
from judgerel_ray.protocols.ask import (
    AskTable,
    ExactSettings,
    RespondSettings,
    Sample,
    plain_temperature,
)

__all__ = [
    "AskTable",
    "ExactSettings",
    "FleetTable",
    "Judge",
    "Limits",
    "Prices",
    "RespondSettings",
    "Sample",
    "Sweep",
    "as_exact",
    "ask_table",
    "check_shared_limits",
    "parse_sweep",
    "plain_temperature",
    "read_sweep",
]
