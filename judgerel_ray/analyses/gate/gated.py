"""What a gate found: its verdict, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from judgerel_ray.blocks.result import Writable

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.analyses.gate.looks import GateLook

EXIT_CODES = {"PASS": 0, "FAIL": 4, "INCONCLUSIVE": 5}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Gated(Writable):
    """What a gate found.

    Attributes
    ----------
    verdict : str
        "FAIL" where any requirement fails in any group, else "INCONCLUSIVE" where any is, else
        "PASS".
    requirements : pl.DataFrame
        As :class:`judgerel_ray.analyses.gate.tables.Requirements`, after the group's columns.
    look : Look
        Which look at these data it was, and the confidence of its intervals.
    notes : tuple of str
        Of every drop, how many questions one side alone has; of every judge some of whose requests
        failed, how many: they count in nothing.
    rests_on : tuple of str
        What numbers of a run rest on, such as how many of its judgments have landed.
    read : tuple of str
        How a file was read.
    """

    shown_by: ClassVar[str] = "judgerel_ray.analyses.gate.show:gate_result"

    verdict: str
    requirements: pl.DataFrame
    look: GateLook
    notes: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 of PASS, 4 of FAIL, 5 of INCONCLUSIVE."""
        return EXIT_CODES[self.verdict]

    def as_junit(self) -> str:
        """Write it as JUnit XML, a test case a requirement and group."""
        return self._result().as_junit()
