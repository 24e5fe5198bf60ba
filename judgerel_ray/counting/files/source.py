"""The reader of tables in files and frames, which all commands share."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from pathlib import Path
from urllib.parse import unquote

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.core.errors import Unreadable
from judgerel_ray.core.files import STANDARD_INPUT, check_regular, read_bytes, unpacked
from judgerel_ray.core.text import (
    NUMBERED,
    SEPARATORS,
)
from judgerel_ray.counting.columns import TYPED, check_width
from judgerel_ray.counting.files.delimited import (
    book_of,
    kind_of,
    read_delimited,
    rows_of_judgments,
)
from judgerel_ray.counting.files.documents import read_json
from judgerel_ray.counting.files.names import repeats_by_name
from judgerel_ray.counting.files.records import read_json_lines
from judgerel_ray.counting.files.workbook import WORKBOOKS, read_sheets, sheets_as_csv

TABLES = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_MARKDOWN = ".md"  # a table where it is named; a folder's are notes beside its tables
_CLOUD = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "http", "https", "hf")
_PARQUET = re.compile("^parquet: (File out of specification: )?")
_HEAD = 1 << 20  # bytes in which the line of names is looked for
_MOST_QUOTED = 5
_MOST_NAMES, _LONG = 10, 40  # columns told, characters of each
_ITEM = "item_id"
FILE = "file"
"""The column that names the file of each row, where it is stated to tell something."""
_FILES_APART = (
    "a folder each that says it, such as FOLDER/judge=NAME/FILE, and read FOLDER; or names that "
    "differ by a number alone, which are repeats"
)
_GLANCED = 20_000  # rows that are read whole at a glance
_MOST_FILES = 50_000  # of a folder that is read as one table
_NAME_LESS = "name a folder that holds tables alone, or a pattern such as FOLDER/*.parquet"
_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """Rows as they are there, and how they were read."""

    rows: pl.LazyFrame  # Text stays text: what a column means is not asked here.
    where: Mapping[str, object] = field(default_factory=dict)  # What they are called in errors.
    notes: tuple[str, ...] = ()  # What is said of how they were read, a line each.
    indexed: bool = False  # Whether the file knows the range of its columns.
    held: bool = False  # Whether rows are in memory, being few: a question of them reads no file.
    files: tuple[str, ...] = ()  # The files, where they are several.
    by_file: bool = False  # Whether rows have the name of theirs in a column that tables lack.
    item: str = "item_id"  # The place that items were read from.
    is_foreign: bool = False  # Whether columns were read by what they mean.
    piped: bytes = b""  # JSON that came without a name, which may be the log of a tool.

    @property
    def name(self) -> str:
        """What the rows are called in a command."""
        return str(self.where.get("file", "FILE"))


def files_apart(columns: Sequence[str]) -> str:
    """How to say what tells files apart that have these columns."""
    by_file = "--column judge=file, where each is of a judge; or "
    return _FILES_APART if FILE in columns else by_file + _FILES_APART


def read_source(
    read_from: str | Sequence[str] | pl.LazyFrame,
    *,
    by_row: bool = False,
    by_file: bool = False,
) -> Source:
    r"""Read rows of a file, a folder or pattern of files, or a frame.

    With `by_row` the k-th row, of each file, is of the item k; with `by_file` rows of several files
    have the name of theirs in a column ``file``, where no table has a column of that name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("item_id\tverdict\nq1\tA\n")
    ...     file.flush()
    ...     read_source(file.name).rows.collect().rows()
    [('q1', 'A')]
    """
    if isinstance(read_from, pl.LazyFrame):
        where = {"rows": "the frame given"}
        with readable(where):
            found = Source(rows=_sheet_columns_as_text(read_from, where), where=where)
            return _items_by_row(found) if by_row else found
    if not isinstance(read_from, str):
        files = list(read_from)
        where = {"file": files[0]}
        for one in files:
            if "://" in one or not Path(one).is_file():
                raise SweepError("several paths are files of one table each", where={"path": one},
                                 hint="name files of this machine, or one folder")  # fmt: skip
        with readable(where):
            root = os.path.commonpath([Path(one).parent for one in files])
            return _rows_of_several_sheets(files, where, root=root, by_row=by_row, by_file=by_file)
    if not read_from.strip():
        raise SweepError("expected the path of a file, got an empty text")
    where = {"file": read_from}
    with readable(where):
        if read_from == STANDARD_INPUT:
            found = _rows_of_piped_sheet(sys.stdin.buffer.read(), {"file": "standard input"})
            return _items_by_row(found) if by_row else found
        if "://" in read_from:
            found = _rows_of_one_sheet(read_from, where)
            return _items_by_row(found) if by_row else found
        if Path(read_from).is_dir():
            return _rows_of_several_sheets(
                _files_in(read_from), where, root=read_from, by_row=by_row, by_file=by_file
            )
        file = Path(book_of(read_from)[0])
        if file.exists():
            if not file.is_file():
                check_regular(str(file))
            old = _old_run([read_from], where) if _is_run_judgments_file(read_from) else ()
            found = _rows_of_one_sheet(read_from, where)
            found = _items_by_row(found) if by_row else found
            return replace(
                found, rows=_old_run_judgments_once(found.rows, old), notes=(*old, *found.notes)
            )
        if has_magic(read_from):
            _refuse_unbounded(read_from)
            files = sorted(one for one in glob(read_from, recursive=True) if Path(one).is_file())
            if files:
                return _rows_of_several_sheets(
                    files,
                    where,
                    root=_judgment_pattern_root(read_from),
                    by_row=by_row,
                    by_file=by_file,
                )
            raise SweepError("no file matches the pattern", where={"path": read_from})
    raise SweepError("no such file", where={"path": read_from})


@contextmanager
def readable(where: Mapping[str, object]) -> Iterator[None]:
    """Turn errors of reading into one line.

    Examples
    --------
    >>> with readable({"file": "x.csv"}):
    ...     print("read")
    read
    """
    try:
        yield
    except (PolarsError, OSError, ValueError, EOFError, zlib.error, ImportError) as error:
        raise Unreadable(_why_judgment_file_unread(error), where=where) from error


def quote_names(names: Sequence[str]) -> str:
    """List the names of columns: of many a few by name, and of long ones the begin.

    Examples
    --------
    >>> quote_names(["item_id", "x" * 100])
    'item_id, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'
    >>> quote_names([])
    'none'
    >>> quote_names("lkjihgfedcba")
    'a, b, c, d, e, f, g, h, i, j and 2 more'
    """
    left_out = len(names) - _MOST_NAMES
    shown = sorted(names)[:_MOST_NAMES] if left_out > 0 else names
    short = ", ".join(name if len(name) <= _LONG else f"{name[:_LONG]}..." for name in shown)
    return f"{short} and {left_out:,} more" if left_out > 0 else short or "none"


def quote_columns(names: Iterable[str]) -> str:
    """List the columns of rows that were read, but for the outcome: rows without are given one.

    Examples
    --------
    >>> quote_columns(["item_id", "score", "outcome"])
    'item_id, score'
    """
    return quote_names([name for name in names if name != "outcome"])


def unreadable(path: str, error: BaseException) -> SweepError:
    """Make the error for content that no reader understood.

    Examples
    --------
    >>> str(unreadable("a.csv", ValueError("bad")))
    'cannot be read: bad [file=a.csv]'
    """
    return Unreadable(_why_judgment_file_unread(error), where={"file": path})


def _why_judgment_file_unread(error: BaseException) -> str:
    """Why no reader understood some content."""
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return _PARQUET.sub("it is no whole Parquet file: ", reason)


def frame_of(read_from: object) -> pl.LazyFrame | None:
    """Make rows of a frame or table of any library that exports Arrow; None of anything else.

    Examples
    --------
    >>> frame_of(pl.DataFrame({"a": [1]})).collect().rows(), frame_of("a.csv")
    ([(1,)], None)
    """
    if isinstance(read_from, pl.LazyFrame):
        return read_from
    if isinstance(read_from, pl.DataFrame):
        return read_from.lazy()
    if isinstance(read_from, str | os.PathLike):
        return None
    looks_like = ("__arrow_c_stream__", "to_arrow", "to_pandas", "to_dict")
    if not any(hasattr(read_from, name) for name in looks_like):
        return None
    try:
        return _exported_judgment_frame(read_from).lazy()
    except (PolarsError, ValueError, TypeError, AttributeError, ImportError, OverflowError) as no:
        kind = type(read_from).__name__
        raise SweepError(
            f"cannot read the {kind}: {(str(no) or type(no).__name__).splitlines()[0]}",
            hint="give a polars.DataFrame of it",
        ) from no


def _exported_judgment_frame(read_from: object) -> pl.DataFrame:
    """A frame of another library, with what its index is called where that has a name."""
    columns = getattr(read_from, "columns", None)
    if columns is not None and hasattr(read_from, "reset_index"):  # pandas
        index = getattr(read_from, "index", None)
        if any(name is not None for name in getattr(index, "names", [None])):
            read_from = read_from.reset_index()
        names = [str(name) for name in getattr(read_from, "columns", ())]
        _refuse_sheet_columns_twice(names)
        taken = [read_from.iloc[:, place] for place in range(len(names))]  # type: ignore[attr-defined]
        parts = [
            _judgment_column_of_pandas(name, one) for name, one in zip(names, taken, strict=True)
        ]
        return pl.DataFrame(parts)
    if hasattr(read_from, "__arrow_c_stream__"):
        _refuse_sheet_columns_twice([str(name) for name in getattr(read_from, "column_names", ())])
        return pl.DataFrame(read_from)
    for method in ("to_arrow", "to_pandas"):
        if callable(turn := getattr(read_from, method, None)):
            found = turn()
            return pl.DataFrame(found) if method == "to_arrow" else _exported_judgment_frame(found)
    raise TypeError("it exports no Arrow")


def _judgment_column_of_pandas(name: str, column: object) -> pl.Series:
    """One column of pandas: value by value where kinds may be mixed, else as Polars takes it."""
    from judgerel_ray.counting.files.records import values_series

    values = column.tolist()  # type: ignore[attr-defined]
    kind = str(getattr(column, "dtype", ""))
    if kind in ("object", "str", "string", "category", "boolean", "bool"):
        missing = column.isna().tolist()  # type: ignore[attr-defined]
        return values_series(
            name, [None if gone is True else one for one, gone in zip(values, missing, strict=True)]
        )
    return pl.DataFrame({name: column}).to_series()


def _refuse_sheet_columns_twice(names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SweepError(f"two columns are called {twice[0]!r}", where={"rows": "the frame given"})


def one_column_a_name(source: Source) -> Source:
    """The source; refused where columns of one name were numbered, as repeats of a judge are.

    Examples
    --------
    >>> one_column_a_name(Source(rows=pl.LazyFrame({"label": ["a"]}))).notes
    ()
    """
    if any(NUMBERED in note for note in source.notes):
        raise SweepError("several columns have one name", where=source.where,
                         hint="give each column a name of its own in the first line")  # fmt: skip
    return source


def without_stray_rows(source: Source) -> Source:
    """Leave rows of a table of text out that are no judgments; larger tables are read as they are.

    Examples
    --------
    >>> rows = pl.LazyFrame({"id": ["a", "id", "b"], "run1": ["3", "run1", "4"]})
    >>> found = without_stray_rows(Source(rows=rows))
    >>> found.rows.collect()["id"].to_list(), found.notes
    (['a', 'b'], ('left out 1 row that names the columns again',))
    """
    schema = source.rows.collect_schema()
    if source.indexed or not schema:
        return source
    begin = source.rows.head(_GLANCED).collect(engine="streaming")
    if begin.height == _GLANCED:
        return source
    source = replace(source, rows=begin.lazy(), held=True)
    if begin.is_empty() or any(kind != pl.String for kind in schema.values()):
        return source
    kept, notes = rows_of_judgments(begin)
    if kept.height in (0, begin.height):
        return source
    return replace(source, rows=kept.lazy(), notes=(*source.notes, *notes))


def _items_by_row(found: Source) -> Source:
    """The rows with the number of each as its item."""
    if _ITEM in found.rows.collect_schema():
        hint = "leave --item-by-row out"
        raise SweepError("a column item_id says which item it is", where=found.where, hint=hint)
    rows = found.rows.with_row_index(_ITEM, offset=1).with_columns(pl.col(_ITEM).cast(pl.String))
    note = "the k-th row is of the k-th item"
    return replace(found, rows=rows, notes=(*found.notes, note), indexed=False)


def _rows_of_one_sheet(path: str, where: Mapping[str, object]) -> Source:
    """The rows of one file, by its ending."""
    book, sheet = book_of(path)
    kind, packed = kind_of(book)
    notes: tuple[str, ...] = ()
    if kind in WORKBOOKS:
        sheets = sheets_as_csv(unpacked(read_bytes(book), packed, where), where)
        rows, notes = read_sheets(sheets, sheet, where)
        return Source(rows=_sheet_columns_as_text(rows, where), where=where, notes=notes)
    if kind not in (*TABLES, _MARKDOWN):
        known = ", ".join(TABLES[:-1])
        raise SweepError(
            f"unknown kind of file, expected {known} or {TABLES[-1]}, got {kind or 'none'}",
            where={"path": path},
            hint=_judgment_file_kind_hint(path, kind),
        )
    cloud = path.partition("://")[0] in _CLOUD
    if kind == ".parquet" and not packed and ("://" not in path or cloud):
        rows = pl.scan_parquet(path, glob=False)
        return Source(rows=_sheet_columns_as_text(rows, where), where=where, indexed=True)
    held = "://" in path or packed != "" or kind in (".parquet", ".json")
    if not held and Path(path).stat().st_size == 0:
        raise SweepError("the file is empty", where=where)
    source: bytes | str = unpacked(read_bytes(path), packed, where) if held else path
    if kind == ".parquet":
        rows = pl.scan_parquet(io.BytesIO(source if isinstance(source, bytes) else b""))
    elif kind in SEPARATORS or kind == _MARKDOWN:
        rows, notes = read_delimited(source, where, separator=SEPARATORS.get(kind, ","))
    elif kind == ".json":
        rows, notes = read_json(source if isinstance(source, bytes) else b"", where)
    else:
        rows, notes = read_json_lines(source, where)
    return Source(
        rows=_sheet_columns_as_text(rows, where),
        where=where,
        notes=notes,
        indexed=kind == ".parquet",
    )


def _rows_of_piped_sheet(content: bytes, where: Mapping[str, object]) -> Source:
    """The rows of a file without a name, by what it begins with."""
    begin = content[:_HEAD].lstrip()
    notes: tuple[str, ...] = ()
    if not begin:
        raise SweepError("the file is empty", where=where)
    if content[:4] == b"PAR1":
        rows = pl.scan_parquet(io.BytesIO(content))
    elif begin[:1] == b"[" or (
        begin[:1] == b"{" and not _is_sheet_line_json(begin.partition(b"\n")[0])
    ):
        rows, notes = read_json(content, where)
    elif begin[:1] == b"{" or begin[:3] == b"```":
        rows, notes = read_json_lines(content, where)
    else:
        rows, notes = read_delimited(content, where)
    piped = content if begin[:1] in (b"[", b"{") else b""
    return Source(rows=_sheet_columns_as_text(rows, where), where=where, notes=notes, piped=piped)


def _is_sheet_line_json(line: bytes) -> bool:
    """Whether a line is a document by itself."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _judgment_pattern_root(pattern: str) -> str:
    """The folder above all that a pattern leaves open."""
    parts = Path(pattern).parts
    return str(Path(*parts[: next(n for n, part in enumerate(parts) if has_magic(part))]))


def _refuse_unbounded(pattern: str) -> None:
    """Refuse a pattern that looks through more files than any table has."""
    if "**" not in Path(pattern).parts:
        return
    seen = 0
    for _, folders, names in os.walk(_judgment_pattern_root(pattern), followlinks=True):
        folders[:] = [name for name in folders if name[0] != "."]
        seen += len(folders) + len(names)
        if seen > _MOST_FILES:
            raise SweepError(
                f"expected a pattern of tables, got one that looks through more than "
                f"{_MOST_FILES:,} files",
                where={"path": pattern},
                hint=_NAME_LESS,
            )


def _rows_of_several_sheets(
    files: Sequence[str],
    where: Mapping[str, object],
    *,
    root: str,
    by_row: bool,
    by_file: bool,
) -> Source:
    """The rows of several files of one kind, one below the other."""
    kinds = {kind_of(file)[0] for file in files}
    if len(kinds) > 1:
        endings = ", ".join(kind or "without an ending" for kind in sorted(kinds))
        known = min((kind for kind in kinds if kind in TABLES), default=TABLES[0])
        raise SweepError(
            f"files of several kinds are there: {endings}",
            where=where,
            hint=f"name those of one kind: {Path(root) / f'*{known}'}",
        )
    old = _old_run(files, where)
    read = [_rows_of_one_sheet(file, {"file": file}) for file in files]
    read = [*map(_items_by_row, read)] if by_row else read
    frames = [
        _sheet_rows_by_path(one.rows, file, root) for one, file in zip(read, files, strict=True)
    ]
    by_file = by_file and not any(FILE in frame.collect_schema() for frame in frames)
    if by_file:
        named = [_name_below_root(file, root) for file in files]
        frames = [frame.with_columns(pl.lit(name).alias(FILE))
                  for frame, name in zip(frames, named, strict=True)]  # fmt: skip
    schemas = [frame.collect_schema() for frame in frames]
    for file, schema in zip(files, schemas, strict=True):
        if odd := sorted(set(schema) ^ set(schemas[0])):
            raise SweepError(
                f"files differ in their columns: {odd[0]} is in one of {files[0]} and {file}",
                where=where,
                hint="read files of different tables one at a time",
            )
    repeats = [] if by_file else repeats_by_name(files, schemas[0])
    if repeats:
        frames = [frame.with_columns(replication=pl.lit(place, pl.Int64))
                  for frame, place in zip(frames, repeats, strict=True)]  # fmt: skip
        schemas = [frame.collect_schema() for frame in frames]
    rows = (
        pl.concat(_sheets_of_alike_columns(frames, schemas), how="vertical")
        if len(frames) > 1
        else frames[0]
    )
    paths = ", ".join(os.path.relpath(file, root) for file in files[:_MOST_QUOTED])
    more = f", and {len(files) - _MOST_QUOTED} more" if len(files) > _MOST_QUOTED else ""
    note_of_files = (
        (f"read {len(files)} files as one table: {paths}{more}",) if len(files) > 1 else ()
    )
    if repeats:
        note_of_files = (
            *note_of_files,
            "each file is a repeat of its own, by the number in its name",
        )
    rows = _old_run_judgments_once(rows, old)
    notes = dict.fromkeys((*note_of_files, *old, *(note for one in read for note in one.notes)))
    indexed = all(one.indexed for one in read)
    return Source(
        rows=rows,
        where=where,
        notes=tuple(notes),
        indexed=indexed,
        files=tuple(files),
        by_file=by_file,
    )


def _name_below_root(file: str, root: str) -> str:
    """The name of one of several files, without its ending."""
    name = os.path.relpath(file, root)
    kind, packed = kind_of(file)
    return name[: len(name) - len(kind) - len(packed)]


def _sheets_of_alike_columns(
    frames: Sequence[pl.LazyFrame], schemas: Sequence[pl.Schema]
) -> list[pl.LazyFrame]:
    """Frames whose columns have one type each: as text where they differ, so that none is lost."""
    differing = {
        name for name in schemas[0] if len({schema[name] for schema in schemas}) > 1
    }  # nulls alone are of any kind
    whole = [name for name in differing if all(schema[name].is_numeric() for schema in schemas)]
    text = [name for name in differing if name not in whole]
    casts = [pl.col(whole).cast(pl.Float64), pl.col(text).cast(pl.String)]
    return [frame.with_columns(casts).select(schemas[0].names()) for frame in frames]


def _sheet_rows_by_path(rows: pl.LazyFrame, file: str, root: str) -> pl.LazyFrame:
    """Rows with the parts of their path that say ``key=value``."""
    parts_of_path: dict[str, str | None] = {}
    for part in Path(file).relative_to(root).parts[:-1]:
        name, sign, text = part.partition("=")
        if not sign:
            continue
        value = None if text == _DEFAULT_PARTITION else unquote(text)
        if parts_of_path.setdefault(name, value) != value:
            raise _contradicting_sheet_refusal(
                file, f"{name}={parts_of_path[name]}", f"{name}={value} as well"
            )
    there = rows.collect_schema()
    for name in parts_of_path.keys() & there.keys():
        found = rows.select(pl.col(name).cast(pl.String)).unique().collect(engine="streaming")
        for value in found.to_series().to_list():
            if value != parts_of_path[name] and (
                value is None
                or _judgment_number_by_value(value)
                != _judgment_number_by_value(parts_of_path[name])
            ):
                raise _contradicting_sheet_refusal(
                    file, f"{name}={parts_of_path[name]}", f"its column {name} has {value!r}"
                )
    return rows.with_columns(
        pl.lit(value, pl.String).alias(name)
        for name, value in parts_of_path.items()
        if name not in there
    )


def _judgment_number_by_value(text: str | None) -> object:
    """A number by its value; text as it is, and nothing as what equals nothing."""
    try:
        return float(text or "nan")
    except ValueError:
        return text


def _contradicting_sheet_refusal(file: str, one: str, other: str) -> SweepError:
    """The refusal of a file of which two places say two things."""
    return SweepError(
        f"the path says {one}, and {other}",
        where={"file": file},
        hint="rename the folder, or name the file itself (its path is then ignored)",
    )


def holds_tables(folder: str) -> bool:
    """Tell whether files of tables lie in a folder that looks like no run directory.

    Examples
    --------
    >>> holds_tables("no-such-folder")
    False
    """
    if (Path(folder) / "commits").is_dir() or (Path(folder) / "manifest.json").exists():
        return False
    return any(kind_of(name)[0] in TABLES for _, name in _files_below_judgment_folder(folder))


def _files_below_judgment_folder(folder: str) -> Iterator[tuple[str, str]]:
    """Files below a folder, hidden ones left out: each one's folder and its name."""

    def refuse(error: OSError) -> None:
        if isinstance(error, FileNotFoundError):  # gone meanwhile
            return
        raise SweepError(
            f"a folder cannot be read: {error.strerror}",
            where={"path": folder, "folder": error.filename},
            hint=_NAME_LESS,
        ) from error

    seen = 0
    for here, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        seen += len(folders) + len(names)
        if seen > _MOST_FILES:
            raise SweepError(
                f"expected a folder of tables, got one with more than {_MOST_FILES:,} files",
                where={"path": folder},
                hint=_NAME_LESS,
            )
        yield from ((here, name) for name in names if name[0] not in "._")


def _files_in(folder: str) -> list[str]:
    """Files of tables in a folder, hidden ones and documents beside tables left out."""
    named = (
        os.path.join(*one)
        for one in _files_below_judgment_folder(folder)
        if kind_of(one[1])[0] in TABLES
    )
    found = sorted(file for file in named if os.path.isfile(file))
    tables = [file for file in found if kind_of(file)[0] != ".json"]
    if not found:
        raise SweepError(
            "expected a table or a run directory, got a folder that holds neither",
            where={"path": folder},
        )
    return tables or found


def _old_run(files: Sequence[str], where: Mapping[str, object]) -> tuple[str, ...]:
    """Say that files are parts of a run of another format, whose commits are not read here."""
    notes = dict[Path, str]()
    for folder in sorted(
        {one for file in files for one in list(Path(file).absolute().parents)[:4]}
    ):
        if (folder / "commits").is_dir() and (folder / "data").is_dir():
            from judgerel_ray.store.rundir import MANIFEST, RunDirectory, other_format

            data = RunDirectory(url=str(folder)).files.find(MANIFEST)
            if stated := other_format(data):
                notes[folder] = (
                    f"read judgments of a run of another format, {stated}, as they landed, "
                    "without its commits and what a rejudge made of them"
                )
                continue
            raise SweepError(
                "these files are parts of a run directory, whose commits say which of them count",
                where=where,
                hint=str(folder),
            )
    if len(notes) > 1:
        first, second = list(notes)[:2]
        raise SweepError(
            f"expected the files of one run of another format, got those of {len(notes)} runs: "
            f"{first}, {second}{', ...' * (len(notes) > 2)}",
            where=where,
            hint=f"one at a time: {first / 'data'}",
        )
    return tuple(notes.values())


def _is_run_judgments_file(file: str) -> bool:
    """Whether a file lies among the judgments of a run directory."""
    above = list(Path(file).absolute().parents)[:4]
    return any(one.name == "data" and (one.parent / "commits").is_dir() for one in above)


def _old_run_judgments_once(rows: pl.LazyFrame, old: Sequence[str]) -> pl.LazyFrame:
    """Judges' rows of a run of another format: of two that landed the first counts."""
    if not old or not {"key", "role"} <= set(rows.collect_schema()):
        return rows
    judges = rows.filter(pl.col("role") == "judge")
    return judges.unique("key", keep="first", maintain_order=True)


def _sheet_columns_as_text(rows: pl.LazyFrame, where: Mapping[str, object]) -> pl.LazyFrame:
    """Rows whose categories and bytes are the text they stand for."""
    schema = rows.collect_schema()
    check_width(len(schema), where)
    coded = [
        name
        for name, kind in schema.items()
        if name in TYPED and (isinstance(kind, pl.Categorical | pl.Enum) or kind == pl.Binary)
    ]
    for name in coded:
        if schema[name] == pl.Binary:
            _refuse_bytes(rows, name, where)
    return rows.with_columns(pl.col(coded).cast(pl.String)) if coded else rows


def _refuse_bytes(rows: pl.LazyFrame, name: str, where: Mapping[str, object]) -> None:
    """Refuse a column of bytes that are no text, naming the first row of them."""
    read_from = rows.select(name).collect(engine="streaming").to_series()
    try:
        read_from.cast(pl.String)
    except PolarsError:
        for row, value in enumerate(read_from.to_list(), start=1):
            if value is not None and not _are_sheet_bytes_text(value):
                raise SweepError(
                    f"column {name} holds bytes that are no UTF-8 text",
                    where={**where, "row": row},
                    hint="write text, or leave the column out",
                ) from None
        raise


def _are_sheet_bytes_text(value: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _judgment_file_kind_hint(path: str, kind: str) -> str | None:
    """What to do about a file of a known kind that is not read."""
    if kind == ".toml":
        sweep = shlex.quote(path)
        return f"judgerel plan {sweep}, then judgerel run {sweep} --out run; reduce reads the run"
    if kind not in (".txt", ".log", ".dat", ".tab", ""):
        return None
    return f"give it the ending of what it is, or pipe it: judgerel reduce - < {shlex.quote(path)}"
