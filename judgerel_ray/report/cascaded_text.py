"""What a cascade did, in lines and on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

import polars as pl

from judgerel_ray.report.markup import Column, paragraph, section, table
from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, cell, number

READ = (
    "Answered: from the threshold on, an answer counts and nobody else is asked. Accuracy is of "
    "the answers that counted; by chance: the same answers dealt to other questions. Spent: both "
    "steps, of a mean question put to the cascade."
)
HEADS = ("asked", "questions", "asks", "answered [95 %]", "accuracy [95 %]", "by chance", "spent")
_TEXT = ("asked",)
WIDTH = 100


def cascaded_text(rows: pl.DataFrame) -> str:
    """Write what cascades did, a table a group.

    Examples
    --------
    >>> from judgerel_ray.reduce.cascaded import SCHEMA
    >>> cascaded_text(pl.DataFrame(schema=SCHEMA))
    'no cascade was asked'
    """
    blocks = []
    for name, lines in _groups(rows):
        blocks.append(f"{name}\n{plain_table(HEADS, [cells(row) for row in lines])}")
    return "\n\n".join([*blocks, fill(READ, WIDTH)]) if blocks else "no cascade was asked"


def cascaded_sections(rows: pl.DataFrame | None) -> list[str]:
    """Write the section of the page; none where no cascade was asked.

    Examples
    --------
    >>> cascaded_sections(None)
    []
    """
    if rows is None or rows.is_empty():
        return []
    pieces = [paragraph(READ)]
    for name, lines in _groups(rows):
        written = [cells(row) for row in lines]
        columns = [
            Column(head=head, cells=[line[place] for line in written], is_number=head not in _TEXT)
            for place, head in enumerate(HEADS)
        ]
        pieces.append(table(name, columns, cards=True))
    return [section("What the cascade did", "".join(pieces))]


def cells(row: Row) -> list[str]:
    """Write one line.

    Examples
    --------
    >>> cells({"asked": "a", "n_questions": 2, "n_asked": 2, "n_answered": 1, "answered": 0.5,
    ...        "answered_low": None, "answered_high": None, "accuracy": None, "low": None,
    ...        "high": None, "noise_floor": None, "noise": None, "spent": 22.5, "unit": "tokens"})
    ['a', '2', '2', '1 (0.500)', '-', '-', '22.5 tokens']
    """
    chance = "-" if row["noise_floor"] is None else number(row["noise_floor"])
    said = ", not distinguishable from noise" if row["noise"] else ""
    spent = "-" if row["spent"] is None else f"{row['spent']:,.4g} {row['unit']}"
    answered = _share(row, "answered", "answered_low", "answered_high")
    return [
        str(row["asked"]),
        f"{row['n_questions']:,}",
        f"{row['n_asked']:,}",
        f"{row['n_answered']:,} ({answered})" if row["answered"] is not None else "-",
        _share(row, "accuracy", "low", "high"),
        f"{chance}{said}",
        spent,
    ]


def _share(row: Row, name: str, low: str, high: str) -> str:
    """A share with its interval, where there is one."""
    if row[low] is None:
        return number(row[name])
    return f"{number(row[name])} [{number(row[low])}, {number(row[high])}]"


def _groups(rows: pl.DataFrame) -> list[tuple[str, Sequence[Mapping[str, object]]]]:
    """The rows of every cascade, with its name."""
    keys = ("benchmark", "template", "temperature")
    return [
        (
            f"Cascade ({cell(key[0])}, {cell(key[1])}, temperature {cell(key[2])}, from confidence "
            f"{number(part['threshold'][0])} on)",
            part.to_dicts(),
        )
        for key, part in rows.group_by(keys, maintain_order=True)
    ]
