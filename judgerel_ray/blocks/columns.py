"""Tables as wide as a terminal: cells are wrapped, groups stand in lines of their own.

Rows stand in natural order: numbers as numbers, wherever they stand in a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap

import polars as pl

from judgerel_ray.blocks.words import cell
from judgerel_ray.core import cut_text, printable, shortened
from judgerel_ray.core.text import LEAST_NAME, fitted_names

_CELL = 400  # characters at most; a word in it has at most a line's

WIDTH = 80
_GAP = "  "


def table_within(heads: Sequence[str], lines: Sequence[Sequence[str]], above: Sequence[str]) -> str:
    """Align columns; where that is too wide, say those named `above` once above their rows."""
    table = plain_table(heads, lines)
    if max(map(len, table.splitlines())) <= WIDTH:
        return table
    places = [heads.index(name) for name in dict.fromkeys(above) if name in heads]
    rest = [i for i in range(len(heads)) if i not in places]
    return fitted_table(
        [heads[i] for i in rest],
        [[line[i] for i in rest] for line in lines],
        labels=[
            ", ".join(f"{heads[i].replace('_', ' ')} {line[i]}" for i in places if line[i])
            for line in lines
        ]
        if places
        else (),
    )


def wrapped(text: str) -> str:
    """Wrap a text."""
    return "\n".join(wrap(shortened(text, WIDTH), WIDTH))


def fitted_table(
    heads: Sequence[str], lines: Sequence[Sequence[str]], *, labels: Sequence[str] = ()
) -> str:
    """Align columns with spaces, and wrap the widest until all fit in 80.

    Examples
    --------
    >>> print(fitted_table(["what", "value"], [["a" + " long" * 16, "0.1 [0.0, 0.2]"], ["b", "1"]],
    ...                    labels=["x", "y"]))
    what                                                              value
    x:
    a long long long long long long long long long long long long     0.1 [0.0, 0.2]
    long long long long
    y:
    b                                                                 1
    """
    rows = [
        [_table_cell_kept_together(fit_cell(cell)) for cell in line] for line in (heads, *lines)
    ]
    widths = _table_column_widths(rows)
    written = ["\n".join(_table_row_lines(row, widths)) for row in rows]
    text, last_label = written[:1], ""
    for label, line in zip_longest(labels, written[1:], fillvalue=""):
        if label != last_label:
            text += wrap(f"{fit_cell(label)}:", WIDTH, subsequent_indent=_GAP)
            last_label = label
        text.append(line)
    return "\n".join(text).replace("\u00a0", " ")


def _table_cell_kept_together(cell: str) -> str:
    """A cell whose numbers stay in one piece: intervals, and figures in brackets."""
    return re.sub(
        r"\[[^][]*\]|\([^()]* %\)|< (?=[0-9])|[0-9] (?=%)",
        lambda found: found[0].replace(" ", "\u00a0"),
        cell,
    )


def _table_column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """What each column may take: the widest gives way, down to its longest word."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    least = [
        max(len(one) for cell in column for one in _table_cell_pieces(cell, 1))
        for column in columns
    ]
    while sum(widths) + len(_GAP) * (len(widths) - 1) > WIDTH:
        loose = [i for i, width in enumerate(widths) if width > least[i]]
        if not loose:
            break
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _table_cell_pieces(cell: str, width: int) -> list[str]:
    return wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def _table_row_lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    pieces = [_table_cell_pieces(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return [
        _GAP.join(one.ljust(width) for one, width in zip(line, widths, strict=True)).rstrip()
        for line in zip_longest(*pieces, fillvalue="")
    ]


def plain_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Align columns with spaces; very long ids and verdicts lose their middle."""
    rows = [[*map(fit_cell, line)] for line in (heads, *lines)]
    widths = [max(len(text) for text in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def with_fitted_names(
    heads: Sequence[str], lines: Sequence[Sequence[str]], are_names: Sequence[bool]
) -> list[list[str]]:
    """Shorten the names of a table that is wider than a terminal, the longest first.

    Examples
    --------
    >>> with_fitted_names(["judge", "x"], [["m/" + "a" * 50, "0" * 40], ["n/b", "1"]],
    ...                   [True, False])[0][0]
    'aaaaaaaaaaaaaaaaaa..aaaaaaaaaaaaaaaaaa'
    """
    columns = [[*column] for column in zip(heads, *lines, strict=True)]
    for i, room in name_rooms(heads, lines, are_names).items():
        columns[i][1:] = fitted_names(columns[i][1:], room)
    return [[*line] for line in zip(*(column[1:] for column in columns), strict=True)]


def name_rooms(
    heads: Sequence[str], lines: Sequence[Sequence[str]], are_names: Sequence[bool]
) -> dict[int, int]:
    """Say how wide each column of names may be, by its place, for the table to fit a terminal.

    Examples
    --------
    >>> name_rooms(["judge", "x"], [["a" * 50, "0" * 40], ["b", "1"]], [True, False])
    {0: 38}
    """
    columns = [*zip(heads, *lines, strict=True)]
    whole = [max(map(len, column)) for column in columns]
    wrapped_ones = [
        width if is_name else max(len(column[0]), *map(_least, column[1:]))
        for width, column, is_name in zip(whole, columns, are_names, strict=True)
    ]
    # Cells are wrapped only where names would otherwise be too short to tell anything.
    taken = sum(
        LEAST_NAME if is_name else width for width, is_name in zip(whole, are_names, strict=True)
    )
    widths = whole if taken + len(_GAP) * (len(columns) - 1) <= WIDTH else wrapped_ones
    left = WIDTH - len(_GAP) * (len(columns) - 1)
    left -= sum(width for width, is_name in zip(widths, are_names, strict=True) if not is_name)
    names = sorted((i for i, is_name in enumerate(are_names) if is_name), key=widths.__getitem__)
    rooms = {}
    for n_done, i in enumerate(names):
        rooms[i] = max(left // (len(names) - n_done), len(heads[i]), LEAST_NAME)
        left -= min(rooms[i], widths[i])
    return rooms


def _least(cell: str) -> int:
    """How narrow a cell may be that keeps each number with its interval."""
    return max(
        map(
            len,
            _table_cell_pieces(
                re.sub(r"(?<=[0-9]) (?=\[)", "\u00a0", _table_cell_kept_together(cell)), 1
            ),
        )
    )


def fit_cell(text: str) -> str:
    """A text as a table's cell holds it: of a very long id or verdict the beginning and the end."""
    return cut_text(shortened(printable(text), WIDTH), _CELL)


def varying_groups(frame: pl.DataFrame, until: str) -> list[str]:
    """Name the columns of groups that tell rows apart."""
    names = frame.columns[: frame.columns.index(until)]
    return [name for name in names if frame[name].n_unique() > 1]


def shared(frame: pl.DataFrame, until: str) -> str:
    """Say in a line what all rows share; nothing where that is nothing."""
    names = frame.columns[: frame.columns.index(until)]
    first: Mapping[str, object] = frame.row(0, named=True)
    alike = [name for name in names if name != "scale" and frame[name].n_unique() == 1]
    sentence = ", ".join(f"{name} {cell(first[name])}" for name in alike if first[name] is not None)
    return f"{sentence}\n" if sentence else ""


_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)")
Key = tuple[tuple[tuple[int, float, str], ...], str]


def natural(value: object) -> Key:
    """Sort key of a value of a group's column: nothing first, and 2 before 10 inside names.

    Examples
    --------
    >>> sorted(["judge-10", "judge-2", "1-100", "1-5", None, "1-10", "b"], key=natural)
    [None, '1-5', '1-10', '1-100', 'b', 'judge-2', 'judge-10']
    >>> sorted([10.0, 0.5, 1.0], key=natural)
    [0.5, 1.0, 10.0]
    """
    if value is None:
        return (), ""
    if isinstance(value, int | float):
        return ((0, float(value), ""),), ""
    parts = _NUMBER.split(str(value))
    pieces = (
        (0, float(part), "") if place % 2 else (1, 0.0, part.casefold())
        for place, part in enumerate(parts)
        if part
    )
    # The text as it is decides between 1 and 01, which are one number.
    return tuple(pieces), str(value)


def in_order(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Rows by what the columns named hold, in natural order; rows alike there stay as they are."""
    known = [name for name in names if name in frame.columns]
    if not known or frame.is_empty():
        return frame
    places = [_table_cell_ranks(frame[name]) for name in known]
    return frame[sorted(range(frame.height), key=lambda row: [place[row] for place in places])]


def _table_cell_ranks(values: pl.Series) -> list[int]:
    """The place of every value among the values there are."""
    ranks = {value: rank for rank, value in enumerate(sorted(values.unique(), key=natural))}
    return [ranks[value] for value in values]
