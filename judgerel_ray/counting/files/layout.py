"""What stands where in a table: a column of judgments a role, or several of them side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgerel_ray.counting.columns import FACETS

SAMPLE = 20_000  # rows by which values are judged
REPLICATION = "replication"
VALUES = ("verdict", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Siblings:
    """Columns of judgments side by side, and what tells them apart."""

    columns: tuple[str, ...]
    facets: Mapping[str, tuple[str, ...]]  # Of judgments: the value of each column, by facet.
    holds: str  # `verdict` or `score`.


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What stands where: a column of judgments a role, by the place of its values."""

    columns: Mapping[str, str] = field(default_factory=dict)
    siblings: Siblings | None = None
    is_numbered: bool = False  # Whether repeats are numbered in the order of rows and lists.
    unused: Mapping[str, str] = field(default_factory=dict)  # Columns not read, and why.
    # Roles that several columns fit equally well: nothing is read before one is chosen.
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()  # Roles that no column fits.
    counts_rows: bool = False  # Whether repeats are counted, and not numbered by a column.
    # Places not read by which repeats may prove to be none.
    telling: tuple[str, ...] = ()
    stated: frozenset[str] = frozenset()  # Roles that the caller stated, which need no line.
    # What would settle columns side by side: a role, and names with a facet in braces each.
    ways: tuple[tuple[str, str], ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether judgments can be read by it."""
        return not self.open and not self.lacking

    @property
    def has_lists(self) -> bool:
        """Whether judgments are elements of lists inside cells."""
        return any("*" in place for place in self.columns.values())

    def line(self) -> str:
        """Say in one line what was read as what; nothing where all of it was stated."""
        read = [
            f"{place} as {role}"
            for role, place in self.columns.items()
            if place != role and role not in self.stated
        ]
        several = self.siblings
        if several is not None and not {several.holds, *several.facets} & self.stated:
            names, facts = ", ".join(several.columns), " and ".join(several.facets)
            read.append(f"{names} as {several.holds}, a {facts} each")
        if self.is_numbered:
            what = "elements of one list" if self.has_lists else "rows alike"
            read.append(f"{what} as repeats, numbered in their order")
        by_reason: dict[str, list[str]] = {}
        for name, why in self.unused.items():
            by_reason.setdefault(why, []).append(name)
        rest = [f"{', '.join(names)} ({why})" for why, names in by_reason.items()]
        left = f"; not used: {', '.join(rest)}" if rest else ""
        return f"read {'; '.join(read)}{left}" if read else ""


def place_in_line(role: str) -> int:
    """Where a role stands in what is said: the item, who judged and of what, the repeat, the rest.

    Examples
    --------
    >>> sorted(["verdict", "judge", "item_id"], key=place_in_line)
    ['item_id', 'judge', 'verdict']
    """
    order = ("item_id", *FACETS, REPLICATION, *VALUES)
    return order.index(role) if role in order else len(order)


def siblings_of(
    named: Mapping[str, Mapping[str, str]], facets: Sequence[str], holds: str
) -> Siblings:
    """Columns side by side of what their names tell."""
    facts = {facet: tuple(one[facet] for one in named.values()) for facet in facets}
    if REPLICATION in facts:  # 1st, 2nd
        facts[REPLICATION] = tuple(
            re.sub(r"^(\d+)(st|nd|rd|th|\.)$", r"\1", one) for one in facts[REPLICATION]
        )
    return Siblings(columns=tuple(named), facets=facts, holds=holds)
