"""Text of other people's files: read as UTF-8, fit for a terminal and a page, JSON and tables.

Names of judges and groups are made shorter for narrow tables, and are still told apart. Every
reader of tables of text (CSV and its kin) has the rules at the end of this module, whatever it
makes of the rows: what stands between the columns, their names, and their rows.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from hashlib import blake2b
from shlex import quote
from typing import NamedTuple

from judgerel_ray.core.errors import SweepError

LONGEST_WORD = 320
"""Characters of a word that is shown in a line; paths and addresses have fewer."""
_BOM = b"\xef\xbb\xbf"
# UTF-32 first: its mark begins with that of UTF-16.
_OTHERS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

# What terminals take for orders, what turns or hides the text around it, and halves of characters:
# C0 and C1 controls, line and paragraph separators, directional marks and overrides, tags, lone
# surrogates. Joiners of emoji and of Arabic or Indic letters stay.
_ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def count_of(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things, in the singular where it is one.

    Examples
    --------
    >>> count_of(1, "row"), count_of(2000, "row"), count_of(0, "reply", "replies")
    ('1 row', '2,000 rows', '0 replies')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def decoded(
    content: bytes, *, where: Mapping[str, object] | None = None, lines: bool = False
) -> str:
    r"""Read UTF-8 text; a byte-order mark at its start is dropped.

    Parameters
    ----------
    content : bytes
        A whole file.
    where : mapping, optional
        What locates it in the error.
    lines : bool
        Whether the lines of every system end as ours do.

    Raises
    ------
    SweepError
        If it is in another encoding (UTF-16 is named), or a byte is not UTF-8 (its offset from 0
        is named).

    Examples
    --------
    >>> decoded(b"\xef\xbb\xbfname = 1")
    'name = 1'
    >>> decoded("name".encode("utf-16"))
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: not UTF-8 text, it is UTF-16. Try: save it as UTF-8
    """
    hint = "save it as UTF-8"
    mark = marked_encoding(content)
    # Without a mark, letters of a script of ours come with a zero byte each.
    if mark is None and content[:2].count(0) == 1 and content[:64].count(0) * 3 > len(content[:64]):
        mark = "UTF-16"
    if mark:
        raise SweepError(f"not UTF-8 text, it is {mark}", where=where, hint=hint)
    start = len(_BOM) if content.startswith(_BOM) else 0
    try:
        text = content[start:].decode()
    except UnicodeDecodeError as error:
        offset = error.start + start
        raise SweepError(
            f"not UTF-8 text: byte {content[offset]:#04x} at offset {offset}",
            where=where,
            hint=hint,
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if lines else text


def marked_encoding(content: bytes) -> str | None:
    r"""Name the encoding that the mark at the begin of a file tells, other than UTF-8."""
    return next((name for mark, name in _OTHERS if content.startswith(mark)), None)


def table_text(content: bytes, where: Mapping[str, object]) -> str:
    r"""Read the text of a table: UTF-8, or UTF-16 and UTF-32 by their mark, which is dropped."""
    encoding = marked_encoding(content) or "UTF-8"
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SweepError(
            f"line {line} is not {encoding}: byte {content[error.start]:#04x}",
            where={**where, "line": line},
            hint="save the file as UTF-8" + _recoding(content, where.get("file")),
        ) from error
    if "\x00" in text:  # as UTF-16 without its mark has
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise SweepError(
            f"the file is not text: it holds zero bytes, the first in line {line}",
            where={**where, "line": line},
            hint="save the file as UTF-8",
        )
    return text


def _recoding(content: bytes, file: object) -> str:
    """The command that writes a file of another encoding as UTF-8; letters of two bytes are GB."""
    if not isinstance(file, str) or not os.path.isfile(file):
        return ""
    runs = re.findall(rb"[\x80-\xff]+", content)
    encoding = "CP1252" if any(len(one) % 2 for one in runs) else "GB18030"
    try:
        _ = content.decode(encoding)
    except UnicodeDecodeError:
        return ""
    written = quote(f"utf8{os.path.splitext(file)[1]}")
    return f": iconv -f {encoding} -t UTF-8 {quote(file)} > {written}"


def printable(text: str, *, lines: bool = False) -> str:
    r"""Show characters that would act on a terminal or a page as escapes.

    Parameters
    ----------
    text : str
        Anything: an id, a verdict, the message of an error.
    lines : bool
        Whether line ends and tabs stay, as of a whole text; else they are shown, too.

    Returns
    -------
    str
        The same text where nothing acts; it is made once, however often it is asked for.

    Examples
    --------
    >>> print(printable("q\x1b[2J\n"), printable("naïve 日本 👩‍🚀"))
    q\x1b[2J\n naïve 日本 👩‍🚀
    """
    if text.isascii() and text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n")
    kept = "\n\t" if lines else ""
    return _ACTING.sub(lambda one: one[0] if one[0] in kept else ascii(one[0])[1:-1], text)


def either(*names: str) -> str:
    """Names with commas, and an "or" before the last."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def some_of(parts: Sequence[str], most: int, *, between: str = ", ", others: str = "...") -> str:
    """Write the first of many parts, and what stands for the others, who may be numbered {n}.

    Examples
    --------
    >>> some_of("abc", 2), some_of("abcd", 2, between="; ", others="and {n} more")
    ('a, b, ...', 'a; b; and 2 more')
    """
    more = [others.format(n=len(parts) - most)] if len(parts) > most else []
    return between.join([*parts[:most], *more])


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like one, as it is written; None where none is close."""
    return next(iter(get_close_matches(name, list(known), n=1)), None)


def closest(name: str, names: Collection[str]) -> str | None:
    """Most similar of some names, whatever their case; None where none is close."""
    by_lower = {known.lower(): known for known in names if known != name}
    found = get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def shortened(text: str, longest: int) -> str:
    r"""Take the middle out of words that are longer than any reader's line, for a terminal.

    What is left ends with a mark of the whole word, so that two of them that differ still do.

    Examples
    --------
    >>> shortened("q" * 40 + "1 and q2", 20), shortened("q" * 40 + "2", 20)
    ('qqqqqqqqqq...qqqq1~580946 and q2', 'qqqqqqqqqq...qqqq2~a7e4b2')
    """
    if len(text) <= longest:
        return text
    return re.sub(rf"\S{{{longest + 1},}}", lambda one: _cut_text_with_mark(one[0], longest), text)


def cut_text(text: str, longest: int) -> str:
    """As :func:`shortened`, of a text as a whole, blanks and all.

    Examples
    --------
    >>> cut_text("Which of them is it? " * 9, 20)
    'Which of t... it? ~f50576'
    """
    return text if len(text) <= longest else _cut_text_with_mark(text, longest)


def _cut_text_with_mark(text: str, longest: int) -> str:
    """The beginning and the end of a text, and a mark of the whole of it."""
    mark = blake2b(text.encode(errors="surrogatepass"), digest_size=3).hexdigest()
    return f"{text[: longest // 2]}...{text[-(longest // 4) :]}~{mark}"


LEAST_NAME = 12
"""Characters that a name always may have."""
_DIGEST = 10  # characters that the mark of a cut name takes
_LEAST_OF_DIGEST = 4  # of a name that is left beside it, half at its beginning
_SHARES = (0.5, 0.75, 1.0, 0.25, 0.0)
"""How much of a name that is cut may be its beginning, in the order tried."""


def fitted_names(names: Sequence[str], room: int) -> list[str]:
    """Shorten names that are longer than the room, as long as they still tell groups apart.

    First the words that all begin with go, then what stands before the last slash (whose model it
    is), then the middle.

    Examples
    --------
    >>> fitted_names(["openai/gpt-4o", "openai/gpt-4o-mini"], 12)
    ['gpt-4o', 'gpt-4o-mini']
    >>> fitted_names(["simulated-erratic", "simulated-steady"], 10)
    ['..erratic', '..steady']
    >>> fitted_names(["meta/Llama-3.1-8B-Instruct", "qwen/Qwen2.5-7B"], 16)
    ['Llama-3..nstruct', 'Qwen2.5-7B']
    """
    room = max(LEAST_NAME, room)
    ways: tuple[Callable[[str], str], ...] = (
        *(partial(_without_beginning, n=n) for n in _shared_beginnings(names)),
        lambda name: name.rpartition("/")[2],
    )
    kept = [*names]
    for way in ways:
        if max(map(len, kept), default=0) <= room:
            return kept
        shorter = [*map(way, names)]
        is_shorter = sum(map(len, shorter)) < sum(map(len, kept))
        if is_shorter and len({*shorter}) == len({*names}) and all(shorter):
            kept = shorter
    for share in _SHARES:
        cut = [name if len(name) <= room else _without_middle(name, room, share) for name in kept]
        if len({*cut}) == len({*names}):
            return cut
    # They differ in the middle alone: a digest tells them apart, and takes of the room.
    rest = max(_LEAST_OF_DIGEST, (room - _DIGEST) * 4 // 3)
    return [name if len(name) <= room else cut_text(name, rest) for name in kept]


def _without_beginning(name: str, n: int) -> str:
    """A name without the words that all begin with; what a vendor is called is no loss."""
    return f"{'' if name[n - 1] == '/' else '..'}{name[n:]}"


def _shared_beginnings(names: Sequence[str]) -> list[int]:
    """How long the beginnings are that all names share, word by word."""
    first, last = min(names, default=""), max(names, default="")
    shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    return [found.end() for found in re.finditer(r"[-/_: ]", first[:shared])]


def _without_middle(name: str, room: int, share: float) -> str:
    """A name without its middle, of which that share is its beginning."""
    n_first = round(share * (room - 2))
    return f"{name[:n_first]}..{name[len(name) - (room - 2 - n_first) :]}"


class RepeatedKeyError(ValueError):
    """A key that an object has twice: which of its values is meant nobody can tell."""


def parse_json(text: str, *, nan: bool = False) -> object:
    """Read one JSON value, no object of which has a key twice."""
    if text.startswith("\ufeff"):  # as json.loads says it, which makes a decoder for every call
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    try:
        value: object = (_WITH_NAN if nan else _STRICT).decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _unique_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of the pairs."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"an object has the key {twice!r} twice")
    return found


def _refuse_constant(constant: str) -> object:
    """NaN and the infinities are not JSON."""
    raise ValueError(f"{constant} is not a JSON number")


_STRICT = json.JSONDecoder(object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)
_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique_pairs)


_BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""What stands between columns by the ending of a file, unless its first line shows another."""
NUMBERED = "columns of a name that was there before are numbered"
"""What is said of columns of one name."""
_MOST_TITLES = 10  # lines above the names of columns
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Heading(NamedTuple):
    """Names of the columns, what stands between them, and what is said of that."""

    names: list[str]
    separator: str
    notes: tuple[str, ...] = ()
    titles: int = 0  # Lines above the names.


def one_kind_of_lines(text: str, separator: str) -> tuple[str, str]:
    r"""Take away the line ``sep=;`` that spreadsheets write, and the line ends of old Macs.

    text: The table alone.

    separator: That of the line, or the one given.
    """
    if text[:4].lower() == "sep=":
        first, _, text = text.partition("\n")
        separator = first[4:5] if first[4:5] in _BETWEEN else separator
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return text, separator


def heading_of(
    text: str,
    where: Mapping[str, object],
    *,
    separator: str,
    known: Set[str],
    again: Callable[[str, Sequence[str]], bool] | None = None,
) -> Heading:
    r"""Read the line of names: columns are separated by what gives most names that are known.

    A name for which `again` is true may come again, and is numbered then: ``x``, ``x.1``.
    """
    found: dict[str, list[str]] = {}
    for sign in (separator, *_BETWEEN):
        found[sign] = _first_text_line_names(text, sign)

    def worth(sign: str) -> tuple[int, int]:
        n_known = sum(name.lower() in known for name in found[sign])
        return n_known, len(found[sign]) if n_known == 0 else 0

    if not any(worth(sign)[0] for sign in found) and (lines := _title_lines(text, known)):
        below = heading_of(
            text.split("\n", lines)[lines], where, separator=separator, known=known, again=again
        )
        note = f"{lines} line{'s' * (lines > 1)} above the names of columns left out, as a title"
        return Heading(below.names, below.separator, (note, *below.notes), lines)
    between = max(found, key=worth)  # the first of those that are worth as much
    names = found[between]
    if text.lstrip()[:1] in ("{", "[") and not worth(between)[0]:
        raise SweepError(
            "the file holds JSON, by its first line, and no names of columns",
            where=where,
            hint="give it the ending .jsonl, or .json where it is one document",
        )
    if other := _other_text_separator(names, known):
        raise SweepError(
            f"line 1 has {other!r} between names, expected {either(*_BETWEEN.values())}",
            where={**where, "line": 1},
            hint="write commas between columns, in every line",
        )
    if not any(names):
        raise SweepError("the first line names no columns", where=where)
    names, numbered = _numbered_again(names, again)
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        places = [str(place) for place, name in enumerate(names, start=1) if name == twice[0]]
        several = "both" if len(places) == 2 else "all"
        raise SweepError(
            f"columns {' and '.join(places)} are {several} called {twice[0]!r}",
            where=where,
            hint="give each column a name of its own in the first line",
        )
    named = [name or f"column {place}" for place, name in enumerate(names, start=1)]
    if between == separator:
        return Heading(named, between, numbered)
    note = f"read with {_BETWEEN[between]} between columns, as in its first line"
    return Heading(named, between, (note, *numbered))


def _numbered_again(
    names: list[str], again: Callable[[str, Sequence[str]], bool] | None
) -> tuple[list[str], tuple[str, ...]]:
    """Names that may come again with a number each from the second on, and a line that says so."""
    found, numbered = [], []
    for place, name in enumerate(names):
        n = names[:place].count(name)
        is_again = bool(n and name and again and again(name, names) and f"{name}.{n}" not in names)
        found.append(f"{name}.{n}" if is_again else name)
        numbered += [found[-1]] if is_again else []
    line = f"{NUMBERED}: {', '.join(numbered)}"
    return found, (line,) if numbered else ()


def _title_lines(text: str, known: Set[str]) -> int:
    """Lines with one cell above the first that names two known columns, or fills their cells."""
    above: set[int] = set()
    for n, line in enumerate(text.split("\n", _MOST_TITLES + 1)[:_MOST_TITLES]):
        cells = [one.strip(' "\r').lower() for one in re.split(r"[,;\t|]", line)]
        if sum(cell in known for cell in cells) > 1:
            return n
        if line.lstrip(' "').startswith("#"):
            continue  # a comment
        if sum(map(bool, cells)) > 1:
            return n if all(cells) and above == {len(cells)} else 0
        above.add(len(cells))
    return 0


def rows_below(
    text: str, heading: Heading, where: Mapping[str, object], *, above: int = 0
) -> Iterator[tuple[int, list[str]]]:
    r"""Give the rows below the line of names, empty lines left out, each with its line number.

    Lines are numbered as in the file, in which `above` lines stand before the text.
    """
    if heading.titles:
        text, above = text.split("\n", heading.titles)[heading.titles], above + heading.titles
    n_columns = len(heading.names)
    # Strict: a quotation mark that is never closed would make one field of all that follows.
    rows = csv.reader(_text_lines_with_ends(text), delimiter=heading.separator, strict=True)
    line, named = above + 1, False
    with _long_fields():
        try:
            for row in rows:
                if row and len(row) != n_columns and (len(row) > 1 or row[0].strip()):
                    raise _uneven_line(line, row, n_columns, where, above)
                if named and len(row) == n_columns and any(row):
                    yield line, row
                named = named or any(name.strip() for name in row)
                line = above + rows.line_num + 1
        except csv.Error as error:
            raise _broken_line(str(error), line, heading.separator, where) from error


def _text_lines_with_ends(text: str) -> Iterator[str]:
    """Lines with their ends, whatever these are; io.StringIO has four bytes for every character."""
    return (line[0] for line in _LINE.finditer(text))


def _other_text_separator(names: Sequence[str], known: Set[str]) -> str | None:
    """What else stands between names that are known, where the line is one name to this reader."""
    if len(names) != 1:
        return None
    signs = sorted({sign for sign in names[0] if not (sign.isalnum() or sign == "_")})
    split = {sign: [part.strip().lower() for part in names[0].split(sign)] for sign in signs}
    return next((sign for sign in signs if len(known & set(split[sign])) > 1), None)


def _broken_line(reason: str, line: int, separator: str, where: Mapping[str, object]) -> SweepError:
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


def _first_text_line_names(text: str, sign: str) -> list[str]:
    """Names in the first line that is not empty, by what stands between them."""
    with _long_fields():
        try:
            rows = csv.reader(_text_lines_with_ends(text), delimiter=sign)
            first = next(filter(lambda row: any(map(str.strip, row)), rows), [])
        except csv.Error:
            first = text.partition("\n")[0].split(sign)
    return [name.strip() for name in first]


def _uneven_line(
    line: int, row: Sequence[str], n_columns: int, where: Mapping[str, object], above: int
) -> SweepError:
    """The refusal of a line with another number of fields."""
    hint = "put a field that holds the separator in double quotes, and leave none out"
    if any("\n" in field for field in row):
        hint = "a quotation mark in it is not closed"
    elif n_columns == 1:
        hint = "take out what stands above the line of names, and put commas between them"
    names = f"line {above + 1} names" if above else "the first line names"
    return SweepError(
        f"line {line} has {len(row)} fields, {names} {n_columns} columns",
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


def install_hint(extra: str = "") -> str:
    """Say how to install the package from its checkout, with an extra: no index is asked for it.

    An index gives a name to the first person who registers it: ours is never installed by name.
    """
    what = f"'.[{extra}]'" if extra else "."
    return f"pip install {what} in a checkout of judgerel_ray"
