"""From a run or a file of answers to what panels and cascades of its systems are worth.

From a run that asked a cascade to what the cascade did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.analyses.panels.cascades import (
    CascadeChoice,
    CascadeTables,
    cascade_tables,
    cascaded_table,
    orders_itself,
)
from judgerel_ray.analyses.panels.panels import panel_tables
from judgerel_ray.analyses.panels.show import Together, panel_sections
from judgerel_ray.analyses.panels.tables import CascadedShares
from judgerel_ray.analyses.panels.voters import Price, Voters, check_voters, read_voters
from judgerel_ray.analyses.selection.from_run import known_items, open_systems
from judgerel_ray.blocks.blocks import Block
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.core.errors import warn_of
from judgerel_ray.counting.columns import of_protocols
from judgerel_ray.counting.declared import ask_benchmarks
from judgerel_ray.counting.measured import SPENT, TOKENS, with_numbers
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.page_data import PageData

MOST_ON_PAGE = 300_000
"""Verdicts of which a page still tells panels."""
_LEAST = 2
_MEMBER = ("judge", "role")
_BY_REPLICATIONS = ("agreement", "support")


def cascade_of(
    judged: Snapshot,
    choice: CascadeChoice | None = None,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
    prices: Mapping[str, Price] | None = None,
    confidence: str = "stated",
) -> CascadeTables:
    """Cascades of the systems of judgments.

    Refuses (SweepError) those of which nothing says who is asked first or when to pass on.
    """
    if confidence in _BY_REPLICATIONS:
        raise SweepError(
            f"{confidence} rests on a question's other replications, which a cascade does not buy",
            hint="stated, margin or probability",
        )
    found = open_voters(judged, by=by, gold=gold, prices=prices, confidence=confidence)
    return cascade_tables(found, choice)


def open_voters(
    judged: Snapshot,
    *,
    by: Sequence[str] | None = None,
    gold: str | None = None,
    prices: Mapping[str, Price] | None = None,
    confidence: str = "stated",
) -> list[Voters]:
    """Lay the systems of judgments side by side; SweepError where there are no two.

    Of a run that asked a cascade, too: what all answered there is what was hard.
    """
    if _asks_cascade(judged):
        raise SweepError(
            "this run asked its models as a cascade, so all of them answered only the questions "
            "that the first ones passed on: what they are worth together cannot be told",
            hint="judgerel cascade tells what it did; for panels ask every model everything",
        )
    there = judged.frame.collect_schema().names()
    judged = with_numbers(judged, SPENT if prices is None else TOKENS)
    apart = None if by is None else [*by, *(name for name in _MEMBER if name in there)]
    systems = open_systems(judged, by=apart, items=known_items(judged, gold))
    with judged.naming():
        found = read_voters(systems, judged.frame, prices=prices, confidence=confidence)
        check_voters(found, systems)
    return found


def panels_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's sections on panels and cascades."""
    return panel_sections(together_of(measured.judged), cascaded_of(measured.judged))


def together_of(judged: Snapshot) -> Together | None:
    """What a page says of panels and cascades; None where nothing is right or judges are alone.

    Of more rows than a page should wait for there is none, either: ``judgerel panels`` tells them.
    """
    if not judged.verdicts_known or _asks_cascade(judged) or not _panel_can_be_measured(judged):
        return None
    try:
        judged = with_numbers(judged, SPENT)
        systems = open_systems(judged, items=known_items(judged, None))
    except SweepError as error:  # a page has more to say than this
        warn_of([f"{error.sentence}; panels are left out of the page"])
        return None
    found = read_voters(systems, judged.frame)
    if not found:
        return None
    passing = [one for one in found if orders_itself(one)]
    return Together(
        panels=panel_tables(found).tables(),
        cascade=cascade_tables(passing).tables() if passing else {},
    )


def _asks_cascade(judged: Snapshot) -> bool:
    """Whether later models were asked only what earlier ones were not sure of."""
    if judged.run is None:
        return False
    sweep = parse_sweep(judged.run.read_text("sweep.toml"), source=judged.run.address("sweep.toml"))
    return any(ask.kind.cascade(ask) is not None for ask in sweep.ask)


def _panel_can_be_measured(judged: Snapshot) -> bool:
    """Whether two judges gave verdicts, few enough, some of which may be right."""
    columns = judged.frame.collect_schema().names()
    if not {"judge", "verdict"} <= set(columns) or (judged.run is None and GOLD not in columns):
        return False
    with_verdict = judged.frame.filter(pl.col("verdict").is_not_null())
    counted = with_verdict.select(pl.len(), judges=pl.col("judge").n_unique()).collect().row(0)
    if counted[0] > MOST_ON_PAGE or counted[1] < _LEAST:
        return False
    items = known_items(judged, None)
    right = judged.frame.select(GOLD) if items is None else items.lazy().select(GOLD)
    names = right.drop_nulls().unique().collect()[GOLD].cast(pl.String)
    verdicts = with_verdict.select(pl.col("verdict").cast(pl.String).unique()).collect()["verdict"]
    return bool(verdicts.is_in(names.implode()).any())


_COLUMNS = (
    "benchmark", "template", "temperature", "item_id", "judge", "stage", "replication", "verdict",
    "confidence", "prompt_tokens", "completion_tokens", "cost",
)  # fmt: skip


def cascaded_of(judged: Snapshot) -> pl.DataFrame | None:
    """What the cascades of a run did; None of a file, or where the sweep asked none."""
    if judged.run is None:
        return None
    sweep = parse_sweep(judged.run.read_text("sweep.toml"), source=judged.run.url)
    asked = [
        (place, ask, threshold)
        for place, ask in enumerate(sweep.ask)
        if (threshold := ask.kind.cascade(ask)) is not None
    ]
    if not asked:
        return None
    items = pl.read_parquet(judged.run.read_bytes("items.parquet"))
    gold = items.select("benchmark", "item_id", "gold")
    models = of_protocols(lambda one: one.models_answer)
    answers = judged.frame.filter(models & (pl.col("role") == "responder"))
    casts = {name: pl.String for name in ("benchmark", "judge", "template", "stage", "verdict")}
    rows = answers.select(_COLUMNS).cast(casts).collect()  # type: ignore[arg-type]
    found = []
    for place, ask, threshold in asked:
        named = ask_benchmarks(sweep, place, items)
        here = rows.filter(pl.col("judge").is_in(ask.responders), pl.col("benchmark").is_in(named))
        if here.height:
            found.append(cascaded_table(here, gold, order=ask.responders, threshold=threshold))
    return pl.concat(found) if found else CascadedShares.frame()
