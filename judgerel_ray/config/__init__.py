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

from judgerel_ray.config.asks import ask_table as ask_table
from judgerel_ray.config.reading import as_exact as as_exact
from judgerel_ray.config.reading import parse_sweep as parse_sweep
from judgerel_ray.config.reading import read_sweep as read_sweep
from judgerel_ray.config.sweep import FleetTable as FleetTable
from judgerel_ray.config.sweep import Judge as Judge
from judgerel_ray.config.sweep import Limits as Limits
from judgerel_ray.config.sweep import Prices as Prices
from judgerel_ray.config.sweep import Sweep as Sweep
from judgerel_ray.config.sweep import check_shared_limits as check_shared_limits
from judgerel_ray.core.rooms import offer
from judgerel_ray.protocols.ask import AskTable as AskTable
from judgerel_ray.protocols.ask import ExactSettings as ExactSettings
from judgerel_ray.protocols.ask import RespondSettings as RespondSettings
from judgerel_ray.protocols.ask import Sample as Sample
from judgerel_ray.protocols.ask import plain_temperature as plain_temperature

offer(__name__)
