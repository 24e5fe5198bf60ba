"""From a run or a file of answers to what panels and cascades of its systems are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgerel_ray.core import SweepError
from judgerel_ray.pipeline.reducing import Judged, open_judgments, reading_of
from judgerel_ray.pipeline.selecting import known_items, open_systems
from judgerel_ray.reduce.cascades import CascadeChoice, CascadeTables, cascade_tables
from judgerel_ray.reduce.panel_tables import PanelTables, panel_tables
from judgerel_ray.reduce.spending import Price
from judgerel_ray.reduce.voters import Voters, read_voters

_MEMBER = ("judge", "role")
_BY_REPLICATIONS = ("agreement", "support")


def run_panels(
    path: str,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
    prices: Mapping[str, Price] | None = None,
    confidence: str = "stated",
    seed: int = 0,
) -> PanelTables:
    """Panels of the systems of a run or a file.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    SweepError
        If a column, a name or a file is wrong, nobody knows what is right, or no two systems
        answered the same questions.
    StoreError
        If the path is a folder but no run directory.
    """
    with reading_of(path):
        judged = open_judgments(path, extra=by or ())
        found = open_voters(judged, by=by, gold=gold, prices=prices, confidence=confidence)
        return panel_tables(found, seed=seed)


def run_cascade(
    path: str,
    choice: CascadeChoice | None = None,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
    prices: Mapping[str, Price] | None = None,
    confidence: str = "stated",
) -> CascadeTables:
    """Cascades of the systems of a run or a file.

    Effects, Raises: as :func:`run_panels`; SweepError also where nothing says who is asked first
    or when to pass on.
    """
    if confidence in _BY_REPLICATIONS:
        raise SweepError(
            f"{confidence} rests on a question's other replications, which a cascade does not buy",
            hint="stated, margin or probability",
        )
    with reading_of(path):
        judged = open_judgments(path, extra=by or ())
        found = open_voters(judged, by=by, gold=gold, prices=prices, confidence=confidence)
        return cascade_tables(found, choice)


def open_voters(
    judged: Judged,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
    prices: Mapping[str, Price] | None = None,
    confidence: str = "stated",
) -> list[Voters]:
    """Lay the systems of judgments side by side."""
    there = judged.frame.collect_schema().names()
    apart = None if by is None else [*by, *(name for name in _MEMBER if name in there)]
    systems = open_systems(judged, by=apart, items=known_items(judged, gold))
    return read_voters(systems, judged.frame, prices=prices, confidence=confidence)
