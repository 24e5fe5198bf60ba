r"""Tables of text, CSV and its kin: what stands between the columns, their names, and their rows.

Every reader of such files has these rules, whatever it makes of the rows.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import NamedTuple

from judgerel_ray.core.errors import SweepError

_BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""What stands between columns by the ending of a file, unless its first line shows another."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Heading(NamedTuple):
    """Names of the columns, what stands between them, and what is said of that."""

    names: list[str]
    separator: str
    notes: tuple[str, ...] = ()


def one_kind_of_lines(text: str, separator: str) -> tuple[str, str]:
    r"""Take away the line ``sep=;`` that spreadsheets write, and the line ends of old Macs.

    Returns
    -------
    text : str
        The table alone.
    separator : str
        That of the line, or the one given.

    Examples
    --------
    >>> one_kind_of_lines("sep=;\r\na;b\r\n", ","), one_kind_of_lines("a,b\r1,2\r", ",")
    (('a;b\r\n', ';'), ('a,b\n1,2\n', ','))
    """
    if text[:4].lower() == "sep=":
        first, _, text = text.partition("\n")
        separator = first[4:5] if first[4:5] in _BETWEEN else separator
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return text, separator


def heading_of(
    text: str, where: Mapping[str, object], *, separator: str, known: Set[str]
) -> Heading:
    r"""Read the line of names: columns are separated by what gives most names that are known.

    Parameters
    ----------
    text : str
        A table, or its begin.
    where : mapping of str to object
        What it is called in errors.
    separator : str
        What stands between columns, unless the line of names shows another.
    known : set of str
        Names that columns of such tables have, in lower case.

    Raises
    ------
    SweepError
        If no column has a name, two have the same, something else stands between known names, or
        the line is of JSON.

    Examples
    --------
    >>> heading_of("item_id;verdict\n", {}, separator=",", known={"item_id"})[:2]
    (['item_id', 'verdict'], ';')
    """
    found = {sign: _first_line(text, sign) for sign in (separator, *_BETWEEN)}

    def worth(sign: str) -> tuple[int, int]:
        n_known = sum(name.lower() in known for name in found[sign])
        return n_known, len(found[sign]) if n_known == 0 else 0

    between = max(found, key=worth)  # the first of those that are worth as much
    names = found[between]
    if text.lstrip()[:1] in ("{", "[") and not worth(between)[0]:
        raise SweepError(
            "the file holds JSON, by its first line, and no names of columns",
            where=where,
            hint="give it the ending .jsonl, or .json where it is one document",
        )
    if sign := _other_sign(names, known):
        *most, last = _BETWEEN.values()
        raise SweepError(
            f"line 1 has {sign!r} between names, expected {', '.join(most)} or {last}",
            where={**where, "line": 1},
            hint="write commas between columns, in every line",
        )
    if not any(names):
        raise SweepError("the first line names no columns", where=where)
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        places = [str(place) for place, name in enumerate(names, start=1) if name == twice[0]]
        raise SweepError(
            f"columns {' and '.join(places)} are both called {twice[0]!r}",
            where=where,
            hint="give each column a name of its own in the first line",
        )
    named = [name or f"column {place}" for place, name in enumerate(names, start=1)]
    if between == separator:
        return Heading(named, between)
    note = f"read with {_BETWEEN[between]} between columns, as in its first line"
    return Heading(named, between, (note,))


def rows_below(
    text: str, heading: Heading, where: Mapping[str, object]
) -> Iterator[tuple[int, list[str]]]:
    r"""Give the rows below the line of names, empty lines left out, each with its line from 1 on.

    Raises
    ------
    SweepError
        If a line has more or fewer fields than there are columns, or a quotation mark is open.

    Yields
    ------
    tuple of int and list of str

    Examples
    --------
    >>> list(rows_below('a,b\n\n1,"2,3"\n', Heading(["a", "b"], ","), {}))
    [(3, ['1', '2,3'])]
    """
    n_columns = len(heading.names)
    # Strict: a quotation mark that is never closed would make one field of all that follows.
    rows = csv.reader(_lines(text), delimiter=heading.separator, strict=True)
    line, named = 1, False
    with _long_fields():
        try:
            for row in rows:
                if row and len(row) != n_columns and (len(row) > 1 or row[0].strip()):
                    raise _uneven(line, row, n_columns, where)
                if named and len(row) == n_columns and any(row):
                    yield line, row
                named = named or any(name.strip() for name in row)
                line = rows.line_num + 1
        except csv.Error as error:
            raise _broken(str(error), line, heading.separator, where) from error


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends, whatever these are; io.StringIO has four bytes for every character."""
    return (line[0] for line in _LINE.finditer(text))


def _other_sign(names: Sequence[str], known: Set[str]) -> str | None:
    """What else stands between names that are known, where the line is one name to this reader."""
    if len(names) != 1:
        return None
    signs = sorted({sign for sign in names[0] if not (sign.isalnum() or sign == "_")})
    split = {sign: [part.strip().lower() for part in names[0].split(sign)] for sign in signs}
    return next((sign for sign in signs if len(known & set(split[sign])) > 1), None)


def _broken(reason: str, line: int, separator: str, where: Mapping[str, object]) -> SweepError:
    """The refusal of a line, or of several that one field spans, with a quotation mark astray."""
    hint = "a quotation mark inside a field is written twice, and the field between two more"
    if "end of data" in reason:
        reason = "a quotation mark is open until the file ends, expected one that closes it"
    elif "expected after" in reason:
        reason = (
            "a field goes on behind the quotation mark that closes it, expected "
            f"{separator!r} or the end of the line"
        )
    else:
        reason, hint = f"cannot be read: {reason}", "write the file anew as UTF-8 text"
    return SweepError(f"line {line}: {reason}", where={**where, "line": line}, hint=hint)


def _first_line(text: str, sign: str) -> list[str]:
    """Names in the first line that is not empty, by what stands between them."""
    with _long_fields():
        try:
            rows = csv.reader(_lines(text), delimiter=sign)
            first = next((row for row in rows if any(name.strip() for name in row)), [])
        except csv.Error:
            first = text.partition("\n")[0].split(sign)
    return [name.strip() for name in first]


def _uneven(
    line: int, row: Sequence[str], n_columns: int, where: Mapping[str, object]
) -> SweepError:
    """The refusal of a line with another number of fields."""
    hint = "put a field that holds the separator in double quotes, and leave none out"
    if any("\n" in field for field in row):
        hint = "a quotation mark in it is not closed"
    elif n_columns == 1:
        hint = "take out what stands above the line of names, and put commas between them"
    return SweepError(
        f"line {line} has {len(row)} fields, the first line names {n_columns} columns",
        where={**where, "line": line},
        hint=hint,
    )


@contextmanager
def _long_fields() -> Iterator[None]:
    """Fields of any length, as prompts are; the limit is Python's for the whole process."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
