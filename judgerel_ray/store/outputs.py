"""Safe output files: inputs and run directories are never overwritten, and writes are atomic.

One rule for the command line and for Python: a target is refused by what it is, whatever it is
called (links, other spellings, URLs), before anything is read; its folder must be there; a file
that is there is replaced only by force. The same content may be written again.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from judgerel_ray.core import SweepError
from judgerel_ray.core.tables import flat_table
from judgerel_ray.store.places import bucket_of, local_path, object_path, run_above

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.store.files import Bucket, Disk

FileKind = Literal["table", "judgments", "items", "report", "sweep"]
MARK = "judgerel_ray"
"""Key of the metadata of our Parquet files; its value is their kind."""
_ENDINGS: dict[FileKind, tuple[str, ...]] = {
    "table": (".parquet", ".csv", ".json"),
    "judgments": (".parquet",),
    "items": (".parquet",),
    "report": (".html", ".htm"),
    "sweep": (".toml",),
}
# What pages of ours begin with, and columns of which each table of ours has one.
_PAGE = re.compile(rb'<meta name="generator" content="judgerel_ray')
_TABLE = re.compile(rb"\b(undefined|low|largest_shift|n_items)\b")
_HEAD = 65536
_ANOTHER = "give --out another name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file to be written; it may be, or there is none: see :func:`output_to`."""

    path: str  # Where, as the caller has it: a path, or an fsspec URL.
    kind: FileKind
    reads: tuple[str, ...] = ()  # Files, folders, patterns and URLs that are read for it.
    force: bool = False  # Whether it may replace a file that is there.
    raw_cells: bool = False  # Whether a CSV keeps texts that a spreadsheet would run as formulas.

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
        """Write a table as Parquet that says what wrote it, or as CSV. Effects: as `write`."""
        if self.ending != ".parquet":
            return self.write(csv_of(frame, raw_cells=self.raw_cells))
        data = BytesIO()
        frame.write_parquet(data, metadata={MARK: self.kind})
        return self.write(data.getvalue())

    def write(self, data: bytes) -> None:
        """Put the whole file in place of what was there, which stays where that fails.

        Effects: on a disk a file beside it, renamed; in a bucket one PUT. Retry: safe.
        """
        check_output(self)
        files, name = _output_file_store_place(self)
        size = files.sizes_of([name]).get(name)
        if size is None and not self.force and self.real is not None:
            # A file that another program puts there meanwhile stays; not every bucket can do that.
            has_judgment_columns = files.create(name, data) or files.read(name) == data
        else:
            is_same = size == len(data) and files.read(name) == data
            if has_judgment_columns := self.force or not size or is_same:
                files.write(name, data)
        if not has_judgment_columns:
            raise _output_file_stays(self, "a file with other content")


def output_to(
    path: str, kind: FileKind, *, reads: Sequence[str | None] = (), force: bool = False,
    raw_cells: bool = False,
) -> Output:  # fmt: skip
    """Name a file to be written, refused at once where it must not be.

    Examples
    --------
    >>> output_to("c.csv", "table", reads=["judgments.csv"]).ending
    '.csv'
    """
    named = tuple(one for one in reads if one is not None)
    output = Output(path=path, kind=kind, reads=named, force=force, raw_cells=raw_cells)
    check_output(output)
    return output


def check_output(output: Output) -> None:
    """Refuse a target that must not be written (SweepError)."""
    where = {"file": output.path}
    *most, last = _ENDINGS[output.kind]
    if output.ending not in (*most, last):
        known = f"{', '.join(most)} or {last}" if most else last
        raise SweepError(f"--out must end in {known}, got {output.path!r}", where=where)
    if "::" in output.path:
        raise SweepError("--out must be a path or a plain URL", where=where)
    spelled = local_path(output.path)
    if spelled is None:
        _ = bucket_of(output.path)[0].filesystem  # there is one of this name
    else:
        _check_output_file_place(spelled, where)
    is_page = output.kind == "report"
    if run := run_above(output.path, may_hold=is_page):
        problem = "--out lies in a run directory, whose files are its own"
        page = "a page of report may lie directly in it, any other file elsewhere"
        raise SweepError(problem, where={**where, "run": run}, hint=page if is_page else _ANOTHER)
    # Pages and items are read from no folder, but others' files of the same ending may be.
    may_share = is_page or (output.kind == "items" and _may_replace_output_file(output))
    for source in output.reads:
        if how := path_conflict(output.path, source, may_share=may_share):
            raise SweepError(how, where={**where, "read": source}, hint=_ANOTHER)
    # Whether the new content is the same is known once there is any; what is evidently somebody
    # else's is refused before anything is read.
    if not (output.force or _may_replace_output_file(output)):
        raise _output_file_stays(output, "a file that judgerel did not write as its kind of output")


def _check_output_file_place(path: str, where: dict[str, str]) -> None:
    """Refuse a path where no file can be put."""
    none = SweepError("--out is no place for a file", where=where)
    if os.path.basename(path) in ("", ".", ".."):  # of which the real path keeps nothing
        raise none
    try:
        real = Path(os.path.realpath(path))
        is_there = _is_output_file_there(real)
    except (OSError, ValueError):  # a null byte, a name too long, links in a circle
        raise none from None
    if is_there and not real.is_file():
        raise none
    if not real.parent.is_dir():
        if not next(one for one in real.parents if os.path.lexists(one)).is_dir():
            raise none
        hint = f"mkdir -p {shlex.quote(str(real.parent))}"
        raise SweepError("the folder of --out is not there", where=where, hint=hint)
    # Of the folder too: the file is written beside and renamed, so that it is never half there.
    if not os.access(real.parent, os.W_OK) or (is_there and not os.access(real, os.W_OK)):
        raise SweepError("--out may not be written", where=where)


def _is_output_file_there(path: Path) -> bool:
    with suppress(FileNotFoundError, NotADirectoryError):
        path.stat()
        return True
    return False


def _output_file_store_place(output: Output) -> tuple[Disk | Bucket, str]:
    """What holds a target, and its name there."""
    from judgerel_ray.store.files import Disk

    if output.real is None:
        return bucket_of(output.path)
    folder, name = os.path.split(output.real)
    return Disk(root=folder), name


def _may_replace_output_file(output: Output) -> bool:
    """Whether nothing, or what may be an earlier output of the kind, lies at a target."""
    import polars as pl

    files, name = _output_file_store_place(output)
    if output.kind == "sweep" or not files.sizes_of([name]).get(name):
        return True  # of a sweep, people change what was written: only the same content is ours
    if output.ending == ".parquet":
        with suppress(pl.exceptions.PolarsError, OSError):
            there = BytesIO(files.read(name))
            return pl.read_parquet_metadata(there).get(MARK) == output.kind
        return False
    (head,) = files.read_ranges(name, [(0, _HEAD)])
    return bool((_PAGE if output.kind == "report" else _TABLE).search(head))


def _output_file_stays(output: Output, what: str) -> SweepError:
    """Why a file that is there stays."""
    return SweepError(
        f"--out would replace {what}",
        where={"file": output.path},
        hint="another name, or --force (in Python force=True)",
    )


_IS = "--out is what is read, and would destroy it"
_AMONG = "--out lies where all files are read, and would be among them"


def path_conflict(target: str, source: str, *, may_share: bool = False) -> str:
    """What is wrong where a target is a source, is in it, or names a file of it; else nothing.

    `may_share` says that it may lie in a folder that is read.

    >>> path_conflict("memory://x/a.csv", "memory:///x/b/../a.csv")
    '--out is what is read, and would destroy it'
    """
    parts = source.split("::")  # a chain of file systems reads what each of its links names
    return next(
        filter(None, (_output_overlaps_source_file(target, part, may_share) for part in parts)), ""
    )


def _output_overlaps_source_file(target: str, source: str, may_share: bool) -> str:
    there, path = local_path(target), local_path(source)
    if there is not None and path is not None:
        raw = source.partition("://")[2] or source  # what takes a URL's %20 as it stands
        spelled = {path, raw, os.path.expanduser(source)}
        for one in spelled:
            # What cannot be looked at is not what is written; another spelling may be.
            with suppress(OSError, ValueError):
                if how := _output_overlap_on_disk(os.path.realpath(there), one, may_share):
                    return how
    elif there is None and path is None:
        return _output_overlap_in_bucket(target, source, may_share)
    return ""


def _output_overlap_on_disk(target: str, source: str, may_share: bool) -> str:
    how = _IS if os.path.exists(target) else _AMONG
    named: Iterator[str] = iter(())
    if os.path.isdir(source):
        root = os.path.realpath(source)
        if os.path.commonpath([target, root]) == root:
            return "" if may_share else how
        if how == _IS and os.stat(target).st_nlink > 1:
            named = (str(path) for path in Path(root).rglob("*") if path.exists())
    elif os.path.exists(source):
        named = iter((source,))
    elif glob.has_magic(source):
        folder, name = os.path.split(source)
        if fnmatchcase(target, os.path.join(os.path.realpath(folder), name)):
            return how
        named = glob.iglob(source, recursive=True)
    return _IS if how == _IS and any(os.path.samefile(target, one) for one in named) else ""


def _output_overlap_in_bucket(target: str, source: str, may_share: bool) -> str:
    # A prefix is a folder.
    if type(bucket_of(target)[0].filesystem) is not type(bucket_of(source)[0].filesystem):
        return ""
    path, read = object_path(target), object_path(source)
    if path == read:
        return _IS
    below = path.startswith(f"{read}/") and not may_share
    return _AMONG if below or (glob.has_magic(read) and fnmatchcase(path, read)) else ""


# What a spreadsheet runs: a text that begins so, blanks and quotes before it passed over.
_FORMULA = r"""^[\s'"]*[=+\-@\t\r＝＋－＠]|^[\t\r\n]"""


def csv_of(frame: pl.DataFrame, *, raw_cells: bool = False) -> bytes:
    """A table as CSV; an apostrophe stands before each text that a spreadsheet would run."""
    flat, data = flat_table(frame), BytesIO()
    (flat if raw_cells else _without_formulas(flat)).write_csv(data)
    return data.getvalue()


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
