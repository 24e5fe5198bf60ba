"""Files that commands write: never what is read, nothing of a run directory, whole or not at all.

One rule for the command line and for Python: a target is refused by what it is, whatever it is
called (links, other spellings, URLs), before anything is read; its folder must be there; a file
that is no earlier output of the same kind, or was changed since, is replaced only by force.

A seal tells that not a byte was changed. Parquet and pages have a place for a SHA-256 of
themselves, taken with zeros in that place. CSV and JSON have none that other readers would pass
over: theirs is kept beside the content, as an extended attribute, where the file system has such.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import posixpath
import re
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from judgerel_ray.core import SweepError

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.store.files import Bucket


SEAL = "judgerel_ray.sha256"
"""Key of the seal: of Parquet's metadata, a page's ``<meta>``, and after ``user.`` of a file."""
UNSEALED = "0" * 64
"""What stands in the place of a seal before it is known."""
_PLACE = re.compile(rb'judgerel_ray\.sha256(?:\x18@|" content=")([0-9a-f]{64})')
_ATTRIBUTE = f"user.{SEAL}"


Kind = Literal["table", "judgments", "items", "report"]
MARK = "judgerel_ray"
"""Key of the metadata of our Parquet files; its value is their kind."""
_ENDINGS: dict[Kind, tuple[str, ...]] = {
    "table": (".parquet", ".csv", ".json"),
    "judgments": (".parquet",),
    "items": (".parquet",),
    "report": (".html", ".htm"),
}
_WORDS: dict[Kind, str] = {
    "table": "a table", "judgments": "judgments", "items": "items", "report": "a page"
}  # fmt: skip
_GENERATOR = b'<meta name="generator" content="judgerel_ray'
_LOCAL = ("file", "local")
_HEAD = 65536
_COMMON = frozenset({"undefined", "low", "largest_shift"})
"""Columns of which every table of ours has one, and logs of judgments have none."""
_ANOTHER = "give --out another name"
_CHANGED = "an output that was changed after judgerel wrote it"
_UNTOLD = "an output of which nothing tells whether it was changed after judgerel wrote it"
_IS = "--out is what is read, and would destroy it"
_AMONG = "--out lies where all files are read, and would be among them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file to be written; it may be, or there is none: see :func:`output_to`."""

    path: str  # Where, as the caller has it: a path, or an fsspec URL.
    kind: Kind
    reads: tuple[str, ...] = ()  # Files, folders, patterns and URLs that are read for it.
    force: bool = False  # Whether it may replace a file that is no earlier output.
    # Whether texts of a CSV stay as they are, those that a spreadsheet would run as formulas among
    # them.
    raw_cells: bool = False

    @property
    def ending(self) -> str:
        """Its suffix in lower case: ``.csv``."""
        return PurePosixPath(self.path).suffix.lower()

    @property
    def real(self) -> str | None:
        """The file on a disk that is written, wherever links lead; None of a URL."""
        local = local_path(self.path)
        return None if local is None else os.path.realpath(local)

    def write_frame(self, frame: pl.DataFrame) -> None:
        """Write a table as Parquet that says what wrote it, or as CSV, lists in it as JSON.

        In a CSV an apostrophe stands before texts that a spreadsheet would run, unless `raw_cells`.

        Effects: as :meth:`write`.
        """
        data = BytesIO()
        if self.ending == ".parquet":
            frame.write_parquet(data, metadata={MARK: self.kind, SEAL: UNSEALED})
        else:
            flat = _flat(frame)
            (flat if self.raw_cells else _without_formulas(flat)).write_csv(data)
        self.write(data.getvalue())

    def write(self, data: bytes) -> None:
        """Put the whole file in place of what was there, which stays where that fails.

        Effects: on a disk a file beside it, renamed; in a bucket one PUT. Retry: safe.
        """
        check_output(self)
        data = sealed(data)
        there = b"" if self.force or self.ending not in (".csv", ".json") else _content(self)
        if there and not _is_alike(_shape(there, self.ending), _shape(data, self.ending)):
            raise _not_ours(self, "a table of other columns")
        if there and _is_unchanged(there, self) is None and there != data:
            raise _not_ours(self, _UNTOLD)
        if self.real is None:
            bucket, name = _object(self.path)
            bucket.write(name, data)
            return
        from judgerel_ray.store.files import Disk

        folder, name = os.path.split(self.real)
        Disk(root=folder).write(name, data)
        if self.ending in (".csv", ".json"):
            keep_beside(self.real, data)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with lists and objects as JSON text, which a cell of CSV can hold."""
    import polars as pl

    def texts(name: str) -> list[str | None]:
        return [
            None if one is None else json.dumps(one, default=str) for one in frame[name].to_list()
        ]

    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(pl.Series(name, texts(name), pl.String) for name in nested)


# What a spreadsheet runs: a text that begins so, blanks and quotes before it passed over.
_FORMULA = r"""^[\s'"]*[=+\-@\t\r＝＋－＠]|^[\t\r\n]"""


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """A table whose texts no spreadsheet runs: an apostrophe stands before those that it would."""
    import polars as pl

    text = pl.col(pl.String)
    runs = text.str.contains(_FORMULA) & text.cast(pl.Float64, strict=False).is_null()
    guarded = frame.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())
    heads = pl.Series(frame.columns, dtype=pl.String)
    begins = heads.str.contains(_FORMULA).to_list()
    return guarded.rename(
        {name: f"'{name}" for name, runs_too in zip(heads, begins, strict=True) if runs_too}
    )


def output_to(
    path: str, kind: Kind, *, reads: Sequence[str | None] = (), force: bool = False,
    raw_cells: bool = False,
) -> Output:  # fmt: skip
    """Name a file to be written, refused at once where it must not be.

    Examples
    --------
    >>> output_to("c.csv", "table", reads=["judgments.csv"]).ending
    '.csv'
    >>> output_to("c.xlsx", "table")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: --out must end in .parquet, .csv or .json, got 'c.xlsx' ...
    """
    named = tuple(one for one in reads if one is not None)
    output = Output(path=path, kind=kind, reads=named, force=force, raw_cells=raw_cells)
    check_output(output)
    return output


def check_output(output: Output) -> None:
    """Refuse a target that must not be written (SweepError)."""
    where = {"file": output.path}
    endings = _ENDINGS[output.kind]
    if output.ending not in endings:
        *most, last = endings
        known = f"{', '.join(most)} or {last}" if most else last
        raise SweepError(f"--out must end in {known}, got {output.path!r}", where=where)
    if "::" in output.path:
        raise SweepError("--out must be a path or a plain URL", where=where)
    spelled = local_path(output.path)
    if spelled is None:
        _ = _object(output.path)[0].filesystem  # there is one of this name
    else:
        _check_place(spelled, where)
    _check_outside_runs(output, spelled)
    for source in output.reads:
        if how := _read_as(output, source):
            raise SweepError(how, where={**where, "read": source}, hint=_ANOTHER)
    if output.force or not (there := _content(output)):
        return
    if not _is_ours(there, output):
        raise _not_ours(output, f"a file that judgerel did not write as {_WORDS[output.kind]}")
    whole = _is_unchanged(there, output)
    # Of CSV and JSON of which nothing is kept the new content tells: the same may be written again.
    if whole is False or (whole is None and output.ending not in (".csv", ".json")):
        raise _not_ours(output, _CHANGED if whole is False else _UNTOLD)


def refuse_inside_run(path: str) -> None:
    """Refuse a run directory inside another one (SweepError).

    Examples
    --------
    >>> refuse_inside_run("memory://doctest-outside/run")
    """
    local = local_path(path)
    for folder in _folders(path) if local is None else _local_folders(os.path.expanduser(local)):
        if _is_run(folder):
            raise SweepError(
                "--out lies in a run directory, where nothing else is put",
                where={"run": path, "inside": folder},
                hint="give --out a directory elsewhere",
            )


def missing_folder(path: str) -> str | None:
    """Topmost folder above a run directory that is still to be made; None where all are there.

    Examples
    --------
    >>> missing_folder("s3://bucket/runs/r"), missing_folder("/r")
    (None, None)
    """
    local = local_path(path)
    if local is None:
        return None
    above = [str(one) for one in Path(os.path.abspath(os.path.expanduser(local))).parents]
    return next((one for one in reversed(above) if not os.path.lexists(one)), None)


def local_path(path: str) -> str | None:
    """Path on this machine's disks; None of a URL of elsewhere.

    Examples
    --------
    >>> local_path("file:///tmp/a%20b.csv"), local_path("s3://bucket/a.csv")
    ('/tmp/a b.csv', None)
    """
    protocol, sign, rest = path.partition("://")
    if not sign:
        return path
    return unquote(rest) if protocol.lower() in _LOCAL else None


def _check_place(path: str, where: dict[str, str]) -> None:
    """Refuse a path where no file can be put."""
    none = SweepError("--out is no place for a file", where=where)
    if os.path.basename(path) in ("", ".", ".."):  # of which the real path keeps nothing
        raise none
    try:
        real = os.path.realpath(path)
        mode = _mode(real)
    except (OSError, ValueError):  # a null byte, a name too long, links in a circle
        raise none from None
    if mode is not None and not stat.S_ISREG(mode):
        raise none
    folder = os.path.dirname(real)
    if not os.path.isdir(folder):
        above = Path(folder)
        while not os.path.lexists(above):
            above = above.parent
        if not above.is_dir():
            raise none
        raise SweepError(
            "the folder of --out is not there", where=where, hint=f"mkdir -p {shlex.quote(folder)}"
        )
    # Of the folder too: the file is written beside and renamed, so that it is never half there.
    if not os.access(folder, os.W_OK) or (mode is not None and not os.access(real, os.W_OK)):
        raise SweepError("--out may not be written", where=where)


def _mode(path: str) -> int | None:
    """What kind of thing lies at a path; None where nothing does."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read_as(output: Output, source: str) -> str:
    """What is wrong where a target is a source, is in it, or names a file of it; else nothing."""
    parts = source.split("::")
    if len(parts) > 1:  # a chain of file systems reads what each of its links names
        return next((how for part in parts if (how := _read_as(output, part))), "")
    path, real = local_path(source), output.real
    if (path is None) is not (real is None):
        return ""
    if real is None:
        return _read_there(output, source)
    raw = source.partition("://")[2] or source  # what takes a URL's %20 as it stands
    spelled = {str(path), raw, os.path.expanduser(source)}
    return next((how for one in spelled if (how := _read_here(output, real, one))), "")


def _read_here(output: Output, target: str, source: str) -> str:
    """The same of a target on a disk."""
    try:
        if os.path.isdir(source):
            return _in_folder(output, target, source)
        if os.path.exists(source):
            return _IS if os.path.exists(target) and os.path.samefile(source, target) else ""
        return _matching(target, source)
    except (OSError, ValueError):
        return ""


def _in_folder(output: Output, target: str, folder: str) -> str:
    """The same of a folder that is read."""
    root, there = os.path.realpath(folder), os.path.exists(target)
    if os.path.commonpath([target, root]) == root:
        if output.kind == "items":  # no source of items, but what else is there may be
            return _IS if there and not _is_ours(_content(output), output) else ""
        return "" if output.kind == "report" else _IS if there else _AMONG
    if not there or os.stat(target).st_nlink == 1:
        return ""
    return _IS if any(os.path.samefile(target, one) for one in _files(root)) else ""


def _files(folder: str) -> Iterator[str]:
    """Every file below a folder."""
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            if os.path.exists(path):
                yield path


def _matching(target: str, pattern: str) -> str:
    """The same of a pattern: of a file that it names, or a new one that it would name."""
    if not glob.has_magic(pattern):
        return ""
    folder, name = os.path.split(pattern)
    if fnmatchcase(target, os.path.join(os.path.realpath(folder), name)):
        return _IS if os.path.exists(target) else _AMONG
    there = os.path.exists(target)
    named = glob.iglob(pattern, recursive=True)
    return _IS if there and any(os.path.samefile(target, one) for one in named) else ""


def _read_there(output: Output, source: str) -> str:
    """The same of a target in a bucket, where a prefix is a folder."""
    if type(_object(output.path)[0].filesystem) is not type(_object(source)[0].filesystem):
        return ""
    target, read = _canonical(output.path), _canonical(source)
    if target == read:
        return _IS
    below = target.startswith(f"{read}/") and output.kind in ("table", "judgments")
    return _AMONG if below or (glob.has_magic(read) and fnmatchcase(target, read)) else ""


def _canonical(url: str) -> str:
    """An object's path in the one spelling that all its spellings have in common."""
    path = url.partition("://")[2].partition("?")[0]
    return posixpath.normpath("/" + path.lstrip("/"))


def _object(url: str) -> tuple[Bucket, str]:
    """What holds an object of a URL, and its name there."""
    from judgerel_ray.store.files import Bucket

    protocol, _, path = url.partition("://")
    folder, _, name = path.rpartition("/")
    return Bucket(url=f"{protocol.lower()}://{folder}"), name


def _check_outside_runs(output: Output, spelled: str | None) -> None:
    """Refuse a target in a run directory; a page may lie directly in one, beside its files."""
    if spelled is None:
        folders = list(_folders(output.path))
        direct = folders[:1]
    else:
        folders = list(_local_folders(spelled))
        ways = (os.path.abspath(spelled), os.path.realpath(spelled))
        direct = [os.path.dirname(way) for way in ways]
    for folder in folders:
        if _is_run(folder) and not (output.kind == "report" and folder in direct):
            page = "a page of report may lie directly in it, any other file elsewhere"
            raise SweepError(
                "--out lies in a run directory, whose files are its own",
                where={"file": output.path, "run": folder},
                hint=page if output.kind == "report" else _ANOTHER,
            )


def _local_folders(path: str) -> Iterator[str]:
    """Folders above a path, as it is spelled and as links lead."""
    spelled, real = Path(os.path.abspath(path)), Path(os.path.realpath(path))
    yield from dict.fromkeys(str(one) for one in (*spelled.parents, *real.parents))


def _folders(url: str) -> Iterator[str]:
    """Prefixes above a URL, nearest first."""
    protocol = url.partition("://")[0].lower()
    above = PurePosixPath(_canonical(url)).parents
    yield from (f"{protocol}:/{one}" for one in above if str(one) != "/")


def _is_run(folder: str) -> bool:
    """Whether a folder is a run directory, a damaged one included."""
    if "://" not in folder and not any(
        os.path.lexists(os.path.join(folder, name)) for name in ("manifest.json", "commits")
    ):
        return False  # the usual case loads no store
    from judgerel_ray.core import StoreError
    from judgerel_ray.store import RunDirectory

    run = RunDirectory(url=folder)
    # First, so that a store that cannot be reached says so.
    kept = run.exists("commits") and (run.exists("sweep.toml") or run.exists("data"))
    try:
        return kept or run.is_run()
    except StoreError:  # it is one, and its manifest is damaged
        return True


def _content(output: Output) -> bytes:
    """What lies at a target; nothing where nothing does."""
    real = output.real
    if real is None:
        bucket, name = _object(output.path)
        return bucket.read(name) if bucket.exists(name) else b""
    if not os.path.exists(real):
        return b""
    with open(real, "rb") as file:
        return file.read()


def _kind(data: bytes) -> str | None:
    """Kind of a Parquet file of ours; None of any other."""
    import polars as pl

    with suppress(pl.exceptions.PolarsError, OSError):
        return pl.read_parquet_metadata(BytesIO(data)).get(MARK)
    return None


def _is_ours(there: bytes, output: Output) -> bool:
    """Whether what lies at a target is an earlier output of its kind, or nothing."""
    if not there:
        return True
    if output.ending == ".parquet":
        return _kind(there) == output.kind
    if output.kind == "report":
        return _GENERATOR in there[:_HEAD]
    shape = _shape(there, output.ending)
    return shape == () or bool(_COMMON & _names(shape))


def _is_unchanged(there: bytes, output: Output) -> bool | None:
    """Whether an earlier output is as it was written; None where nothing tells."""
    if output.ending not in (".csv", ".json"):
        return is_whole(there)
    return None if output.real is None else is_as_kept(output.real, there)


def _shape(data: bytes, ending: str) -> object:
    """Columns of a table, or of each of several by its name; () of none, None of anything else."""
    try:
        if ending == ".csv":
            return tuple(data.partition(b"\n")[0].decode("utf-8-sig").strip().split(","))
        return _columns(json.loads(data))
    except (ValueError, RecursionError):
        return None


def _columns(content: object) -> object:
    """Columns of JSON's rows, or of each of several tables."""
    if isinstance(content, dict):
        return {name: _columns(rows) for name, rows in content.items()}
    if isinstance(content, list):
        return tuple(content[0]) if content and isinstance(content[0], dict) else ()
    return None


def _names(shape: object) -> frozenset[str]:
    """All columns of a shape."""
    if isinstance(shape, dict):
        return frozenset(name for one in shape.values() for name in _names(one))
    return frozenset(shape) if isinstance(shape, tuple) else frozenset()


def _is_alike(one: object, other: object) -> bool:
    """Whether two shapes are of the same table; one without rows shows no columns."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_alike(one[name], other[name]) for name in one)
    return () in (one, other) or one == other


def _not_ours(output: Output, what: str) -> SweepError:
    """Why a file that is there stays."""
    return SweepError(
        f"--out would replace {what}",
        where={"file": output.path},
        hint="another name, or --force (in Python force=True)",
    )


def sealed(data: bytes) -> bytes:
    """Give content its seal where it has a place for one.

    Examples
    --------
    >>> page = f'<meta name="{SEAL}" content="{UNSEALED}">'.encode()
    >>> is_whole(sealed(page)), is_whole(sealed(page) + b"more"), is_whole(page), is_whole(b"a")
    (True, False, False, None)
    """
    place = _place(data)
    return data if place is None else _with_seal(data, place, _digest(data, place))


def is_whole(data: bytes) -> bool | None:
    """Tell whether content is as it was sealed; None where it has no place for a seal."""
    place = _place(data)
    return None if place is None else data[slice(*place)] == _digest(data, place)


def keep_beside(path: str, data: bytes) -> None:
    """Keep the digest of what was just written to a file of this machine beside its content.

    Effects: an extended attribute; nothing where the file system or the system has none.
    """
    if hasattr(os, "setxattr"):
        with suppress(OSError):
            os.setxattr(path, _ATTRIBUTE, _sha256(data))


def is_as_kept(path: str, data: bytes) -> bool | None:
    """Tell whether a file holds what it was left with; None where nothing is kept of it.

    Examples
    --------
    >>> is_as_kept("no-such.csv", b"")
    """
    if hasattr(os, "getxattr"):
        with suppress(OSError):
            return os.getxattr(path, _ATTRIBUTE) == _sha256(data)
    return None


def _place(data: bytes) -> tuple[int, int] | None:
    """Where the seal is: the last such place, as Parquet tells its metadata behind all cells."""
    spans = [found.span(1) for found in _PLACE.finditer(data)]
    return spans[-1] if spans else None


def _with_seal(data: bytes, place: tuple[int, int], seal: bytes) -> bytes:
    start, end = place
    return data[:start] + seal + data[end:]


def _digest(data: bytes, place: tuple[int, int]) -> bytes:
    """SHA-256 of content without its seal."""
    return _sha256(_with_seal(data, place, UNSEALED.encode()))


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
