"""Rows against the plan: whether a run holds what it was begun to ask, and nothing else."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from judgerel_ray.core import StoreError
from judgerel_ray.store.digests import UNREADABLE
from judgerel_ray.store.failures import Finding, an_error
from judgerel_ray.store.manifest import SWEEP_KEY, read_manifest
from judgerel_ray.store.rundir import RunDirectory

_GROUP = ("judge", "judge_fingerprint", "role", "stage")
_ITEM = ("benchmark", "item_id")


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows of a run by who was asked what, and the items they are about; filled file by file."""

    groups: Counter[tuple[str, ...]] = field(default_factory=Counter)
    items: dict[tuple[str, ...], str] = field(default_factory=dict)

    def add(self, name: str, rows: pl.DataFrame, dropped: Collection[str]) -> None:
        """Count the rows of a file, but for those whose keys are dropped."""
        if not {"key", *_GROUP, *_ITEM}.issubset(rows.columns):
            return
        if dropped:
            rows = rows.filter(~pl.col("key").is_in(list(dropped)))
        for *group, n in rows.group_by(_GROUP).len().iter_rows():
            self.groups[tuple(str(one) for one in group)] += int(n)
        for item in rows.select(_ITEM).unique().iter_rows():
            self.items.setdefault(tuple(str(one) for one in item), name)


def unplanned(run: RunDirectory, counts: RowCounts) -> Iterator[Finding]:
    """Name the rows that the run's plan does not have.

    Yields
    ------
    Finding
        An error for every stage with more rows than the plan has requests, for rows of judges
        that are not the run's, and for items that are not; nothing of a run without a sweep.

    Examples
    --------
    >>> list(unplanned(RunDirectory.create("memory://doctest-unplanned"), RowCounts()))
    []
    """
    manifest = read_manifest(run)
    if SWEEP_KEY not in manifest:
        return
    prints = manifest.get("fingerprints")
    if isinstance(prints, Mapping):
        for (judge, fingerprint, *_), n in sorted(counts.groups.items()):
            if judge not in prints:
                yield an_error("unplanned_rows", "data", f"{n} rows of a judge {judge!r}, no such")
            elif prints[judge] != fingerprint:
                yield an_error(
                    "unplanned_rows",
                    "data",
                    f"{n} rows of another judge {judge!r}: expected fingerprint "
                    f"{prints[judge]}, got {fingerprint}",
                )
    yield from _too_many(_planned(run), counts)
    yield from _foreign_items(_items(run), counts)


def _too_many(planned: Mapping[tuple[str, ...], int], counts: RowCounts) -> Iterator[Finding]:
    """Stages with more rows than the plan has requests."""
    if not planned:
        return
    landed: Counter[tuple[str, ...]] = Counter()
    for (judge, _, role, stage), n in counts.groups.items():
        landed[judge, role, stage] += n
    for group, n in sorted(landed.items()):
        most = planned.get(group, 0)
        if n > most:
            judge, role, stage = group
            where = stage if stage == role else f"{role}, {stage}"
            yield an_error(
                "unplanned_rows",
                "data",
                f"{n} rows of {judge} ({where}), {n - most} more than the plan has; "
                "judgerel run drops those that no plan has",
            )


def _foreign_items(items: Collection[tuple[str, ...]], counts: RowCounts) -> Iterator[Finding]:
    """Items that are not the run's."""
    foreign: Sequence[tuple[str, ...]] = sorted(set(counts.items).difference(items))
    if items and foreign:
        benchmark, item = foreign[0]
        yield an_error(
            "unplanned_rows",
            counts.items[foreign[0]],
            f"rows about an item that is not the run's: {benchmark} {item}"
            + (f", and {len(foreign) - 1} more such items" if len(foreign) > 1 else ""),
        )


def _planned(run: RunDirectory) -> dict[tuple[str, ...], int]:
    """Requests by judge, role and stage; none where the plan cannot be read, which others tell."""
    planned: Counter[tuple[str, ...]] = Counter()
    try:
        for one in json.loads(run.read_text("plan.json"))["stages"]:
            most = one.get("requests_at_most", one["requests"])
            planned[one["judge"], one["role"], one["stage"]] += int(most)
    except (StoreError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return dict(planned)


def _items(run: RunDirectory) -> set[tuple[str, ...]]:
    """The run's items by benchmark and name; none where they cannot be read, which others tell."""
    data = run.files.read_many(["items.parquet"]).get("items.parquet")
    try:
        frame = pl.read_parquet(io.BytesIO(data or b""), columns=list(_ITEM))
    except UNREADABLE:
        return set()
    return {tuple(str(one) for one in row) for row in frame.select(_ITEM).iter_rows()}
