"""What a sweep declares about a run's judgments: menus, ties, scales, and right options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from judgerel_ray.core import Scale

if TYPE_CHECKING:
    from judgerel_ray.config import Sweep
    from judgerel_ray.store import RunDirectory


def declared_scales(run: RunDirectory) -> dict[str, Scale]:
    """Scales of a run's own, as its manifest tells them; none where that is gone."""
    return scales_of(asks_of(run))


def scales_of(asks: Sequence[Mapping[str, Any]]) -> dict[str, Scale]:
    """Scales that asks declare."""
    by_ask = [ask.get("scales", {}) for ask in asks]
    return {
        name: Scale(**{**one, "labels": tuple(one["labels"])})
        for scales in by_ask
        if isinstance(scales, Mapping)
        for name, one in scales.items()
    }


def asks_of(run: RunDirectory) -> list[Mapping[str, Any]]:
    """What a run's manifest tells of its asks; nothing where that is gone."""
    from judgerel_ray.store import read_manifest

    sweep = read_manifest(run).get("sweep")
    asks = sweep.get("ask", []) if isinstance(sweep, Mapping) else []
    return [ask for ask in asks if isinstance(ask, Mapping)]


def menus_of(
    sweep: Sweep, items: pl.DataFrame, tied: Collection[tuple[str, str]]
) -> dict[str, dict[str, int]]:
    """Options on the menu by protocol and benchmark, where all items of it have as many.

    A tie is one of them where protocol and benchmark are among `tied`.
    """
    menus: dict[tuple[str, str], set[int]] = {}
    for index, ask in enumerate(sweep.ask):
        benchmarks = ask_benchmarks(sweep, index, items)
        tie = (ask.protocol, ask.benchmark) in tied
        asked = ask.kind
        if not asked.traits.judges:
            continue
        for benchmark in benchmarks:
            listed = items.filter(pl.col("benchmark") == benchmark)
            sizes = asked.menu_sizes(ask, listed["options"].list.len().to_list(), int(tie))
            menus.setdefault((ask.protocol, benchmark), set()).update(sizes)
    declared: dict[str, dict[str, int]] = {protocol: {} for protocol, _ in menus}
    for (protocol, benchmark), found in menus.items():
        if len(found) == 1:
            declared[protocol][benchmark] = found.pop()
    return declared


def tied_asks(asks: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Protocol and benchmark of the asks whose templates declare a tie."""
    return {
        (str(ask.get("protocol")), str(ask.get("benchmark")))
        for ask in asks
        for form in ask.get("forms", {}).values()
        if form["ties"]
    }


def right_verdicts(run: RunDirectory, items: pl.DataFrame) -> pl.DataFrame:
    """Items of a run whose gold is a verdict: an option of theirs, or a tie where one is declared.

    Gold that is none is a reference answer.
    """
    names = pl.col("options").list.eval(pl.element().struct.field("option_id"))
    is_right = names.list.contains(pl.col("gold"))
    tied = {benchmark for _, benchmark in tied_asks(asks_of(run))}  # a protocol that may have one
    if tied:
        # A loader of one's own file leaves the name of the benchmark to the file.
        others = tied - set(items["benchmark"])
        has_tie = pl.lit(True) if others else pl.col("benchmark").is_in(sorted(tied))
        is_right = is_right | (has_tie & (pl.col("gold") == "tie"))
    return items.filter(is_right)


def ask_benchmarks(sweep: Sweep, index: int, items: pl.DataFrame) -> list[str]:
    """Name the benchmarks of an ask's items: its own name, or all where a loader names several.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table, Judge, Sweep
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p")
    >>> sweep = Sweep(name="s", judge=(Judge(name="j", model="m"),), ask=(ask,))
    >>> ask_benchmarks(sweep, 0, pl.DataFrame({"benchmark": ["b", "c"]}))
    ['b']
    """
    names = items["benchmark"].unique(maintain_order=True).to_list()
    name = sweep.ask[index].benchmark
    return [name] if name in names else names
