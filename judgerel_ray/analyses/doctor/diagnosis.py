"""The result of a look at a machine, or at a file of judgments; and how it is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from judgerel_ray.analyses.doctor.machine import BASE, Check


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenFor:
    """A column of a file, and what it is taken for; ``""`` where nothing reads it."""

    column: str
    taken_for: str
    n_values: int
    n_empty: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What a file supports: a verb's question, or what is in its way and what would help."""

    question: str
    verb: str
    is_supported: bool
    found: str
    unblock: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """A group of judgments; ``doubt`` says why it may be no judging at all."""

    group: str
    n_items: int
    n_judgments: int
    valid_rate: float | None
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a doctor found: of the machine without a path, else of the judgments there.

    Attributes
    ----------
    machine : tuple of Check
        What is there and what is missing.
    columns : tuple of TakenFor
        What each column is taken for.
    judges : tuple of Judging
        Groups of judgments.
    supports : tuple of Support
        What can be asked of them, and what cannot yet.
    notes : tuple of str
        How the file was read, where that is not as it is written.
    mapping : str
        Of a table whose columns have other names: a file for ``import table --map``, with ``?``
        where no column is probably meant. Nothing else was looked at then.
    """

    machine: tuple[Check, ...] = ()
    columns: tuple[TakenFor, ...] = ()
    judges: tuple[Judging, ...] = ()
    supports: tuple[Support, ...] = ()
    notes: tuple[str, ...] = ()
    mapping: str = ""

    @property
    def is_fit(self) -> bool:
        """Whether a file of judgments can be reduced: on this machine, and as it is."""
        return not self.mapping and all(one.is_there for one in self.machine if one.name == BASE)

    def as_json(self) -> str:
        """Write it as one JSON object, what was not looked at left out."""
        parts = {name: part for name, part in asdict(self).items() if part}
        return json.dumps(parts, indent=1, allow_nan=False)

    def text(self) -> str:
        """Write it for a terminal; needs no package but the standard library.

        Examples
        --------
        >>> check = Check(name="gpu", is_there=False, found="no NVIDIA driver")
        >>> print(Diagnosis(machine=(check,)).text())
        --  gpu  no NVIDIA driver
        """
        return "\n\n".join("\n".join(part) for part in self._parts() if part)

    def _parts(self) -> Iterator[list[str]]:
        """The parts of the text, a list of lines each."""
        yield self.mapping.splitlines()
        yield _grid([
            ("ok" if one.is_there else "--", one.name, one.found) for one in self.machine
        ], [one.hint for one in self.machine])  # fmt: skip
        read = [one for one in self.columns if one.taken_for]
        yield _grid([
            (one.column, one.taken_for, f"{one.n_values:,} values" + (f", {one.n_empty:,} empty"
             if one.n_empty else "")) for one in read
        ])  # fmt: skip
        unread = [one.column for one in self.columns if not one.taken_for]
        yield [f"Not read: {', '.join(unread)}"] if unread else []
        yield _grid([
            ("--" if one.doubt else "ok", one.group or "all", f"{one.n_items:,} items, "
             f"{one.n_judgments:,} judgments") for one in self.judges
        ], [one.doubt for one in self.judges])  # fmt: skip
        yield _grid([
            ("ok" if one.is_supported else "--", one.verb, f"{one.question}: {one.found}")
            for one in self.supports
        ], [one.unblock for one in self.supports])  # fmt: skip


def _grid(rows: Sequence[tuple[str, ...]], below: Sequence[str | None] = ()) -> list[str]:
    """Rows with columns as wide as they need; what stands below one is set off."""
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for place, row in enumerate(rows):
        *first, last = row
        padded = [cell.ljust(width) for cell, width in zip(first, widths, strict=False)]
        lines.append("  ".join([*padded, last]))
        if place < len(below) and below[place]:
            lines.append(f"      {below[place]}")
    return lines
