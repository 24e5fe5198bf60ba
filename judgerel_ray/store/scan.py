"""Frames of what landed: the files that commits name, and no others.

The folders are never searched: a torn, foreign or late file in them disturbs nobody.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import dataframely as dy
import polars as pl

from judgerel_ray.core import FileGone, StoreError, request_key
from judgerel_ray.store.digests import altered
from judgerel_ray.store.files import Bucket
from judgerel_ray.store.generations import READINGS, file_sizes, parse_generation
from judgerel_ray.store.ledger import CommitsLook, LandedRun, Ledger, build_ledger, look_at_commits
from judgerel_ray.store.losses import part_commits
from judgerel_ray.store.records import FOLDER, CommitFile, CommitRecord, parse_attempt
from judgerel_ray.store.rundir import RunDirectory
from judgerel_ray.store.sessions import live_session, unseen_session
from judgerel_ray.tables import Completions, Judgments

_TORN_TRIES = 5
_TORN_PAUSE_S = 0.1

CHEAP_COLUMNS = tuple(
    name for name in Judgments.column_names() if name not in ("key", "seed", "landed_at")
)
"""Columns of judgments but for those that take most of a file and few numbers need."""


def scan_judgments(
    run: RunDirectory,
    *,
    columns: Collection[str] | None = None,
    judges: Collection[str] | None = None,
    ledger: Ledger | None = None,
) -> pl.LazyFrame:
    """Scan the judgments that landed, each request once.

    Parameters
    ----------
    run : RunDirectory
        The run; it may be written to meanwhile.
    columns : collection of str, optional
        Only these columns, in the table's order; by default all. Their bytes are read and checked
        at once, so name them where keys and seeds, most of a file, are not needed.
    judges : collection of str, optional
        Only these judges' files are opened.
    ledger : Ledger, optional
        A look taken before, to read exactly what it counts; by default that of the run, if it is
        from :func:`as_landed`, else a new one.

    Returns
    -------
    LazyFrame
        Rows of the judgments table, in no order; none in an empty run.

    Raises
    ------
    StoreError
        If records are torn, altered or gone; or a file they name is gone or cut, or not the bytes
        that landed. The error names the first file and the command that asks its rows again.

    Examples
    --------
    >>> scan_judgments(RunDirectory.create("memory://doctest-scan")).collect().height
    0
    """
    return _scan_part_of_commits(run, Judgments, "data_file", columns, judges, ledger)


def scan_completions(
    run: RunDirectory,
    *,
    columns: Collection[str] | None = None,
    judges: Collection[str] | None = None,
    ledger: Ledger | None = None,
) -> pl.LazyFrame:
    """Scan the texts that landed, by key; parameters as for :func:`scan_judgments`.

    Examples
    --------
    >>> scan_completions(RunDirectory.create("memory://doctest-scan")).collect().columns
    ['key', 'text', 'thought', 'logprobs']
    """
    return _scan_part_of_commits(run, Completions, "texts_file", columns, judges, ledger)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Tell what is found wrong inside files while frames of a run are collected.

    Parameters
    ----------
    path : str
        The run, as its user named it.

    Raises
    ------
    StoreError
        In place of what the readers of files raise; other errors pass.

    Examples
    --------
    >>> with reading("runs/one"):
    ...     pl.scan_parquet("gone.parquet").collect()
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.StoreError: a file of the run cannot be read: No such file or ...
    """
    try:
        yield
    except file_errors() as error:
        # A pipe that nobody reads any more is no file of a run.
        if isinstance(error, BrokenPipeError):
            raise
        what = " ".join((str(error) or type(error).__name__).split())
        raise StoreError(
            f"a file of the run cannot be read: {what}",
            where={"run": path},
            hint=f"judgerel verify {path} names it; without it, judgerel run asks its rows again",
        ) from error


def file_errors() -> tuple[type[BaseException], ...]:
    """Classes of what the readers of files raise; those of pyarrow where it is in use.

    Examples
    --------
    >>> OSError in file_errors(), pl.exceptions.ColumnNotFoundError in file_errors()
    (True, False)
    """
    arrow = getattr(sys.modules.get("pyarrow"), "ArrowException", None)
    known = (OSError, pl.exceptions.ComputeError, pl.exceptions.PanicException)
    return (*known, arrow) if isinstance(arrow, type) else known


def scan_files(
    run: RunDirectory, names: Sequence[str], *, table: type[dy.Schema] | None = None
) -> pl.LazyFrame:
    """Scan Parquet files of one schema by name; at least one.

    With a `table` its types are given whatever the files': the judge is a category in parts.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-scan-files")
    >>> from judgerel_ray.store.parts import encode_parquet
    >>> run.write_bytes("x.parquet", encode_parquet(pl.DataFrame({"a": [1]})))
    >>> scan_files(run, ["x.parquet"]).collect()["a"].to_list()
    [1]
    """
    files = run.files
    if not isinstance(files, Bucket):
        paths = [files.address(name) for name in names]
        return pl.scan_parquet(
            paths,
            glob=False,
            hive_partitioning=False,
            schema=table.create_empty().schema if table else None,
            cast_options=pl.ScanCastOptions(categorical_to_string="allow"),
        )
    # Through pyarrow, because Polars opens remote files with credentials and URL rules of its
    # own: options made for fsspec and percent signs in names would both be read differently.
    from pyarrow import PythonFile, dataset, fs

    class Handler(fs.FSSpecHandler):  # type: ignore[misc]
        """Opens at once: ``isfile``, which its base asks first, calls what is refused missing."""

        def open_input_file(self, path: str) -> PythonFile:
            return PythonFile(self.fs.open(path, mode="rb"), mode="r")

    source = dataset.dataset(
        [files.path(name) for name in names],
        filesystem=fs.PyFileSystem(Handler(files.filesystem)),
        format="parquet",
        partitioning=None,
    )
    frame = pl.scan_pyarrow_dataset(source)
    return frame.cast(table.create_empty().schema) if table else frame


def _scan_part_of_commits(
    run: RunDirectory,
    table: type[dy.Schema],
    file: CommitFile,
    columns: Collection[str] | None,
    judges: Collection[str] | None,
    ledger: Ledger | None,
) -> pl.LazyFrame:
    """Scan one file of every commit that counts, without rows an earlier commit holds."""
    ledger = ledger or checked_ledger(run)
    duplicates = ledger.duplicates
    commits = [one for one in ledger.commits if judges is None or one.judge in judges]
    names = [name for name in table.column_names() if columns is None or name in columns]
    # The judge is told by the commits; keys tell which rows an earlier commit holds.
    needed = {*names, "key"} if duplicates else {*names}.difference(["judge"])
    _check_files(run, commits, file, needed)
    clean: dict[str, list[str]] = {}
    for one in commits:
        if one.name not in duplicates:
            clean.setdefault(one.judge if file == "data_file" else "", []).append(
                getattr(one, file)
            )
    frames = [
        _part_rows_of_judge(scan_files(run, files, table=table), judge)
        for judge, files in clean.items()
    ]
    for one in commits:
        if twice := duplicates.get(one.name):
            dropped = [request_key(key, replication) for key, replication in twice]
            frame = scan_files(run, [getattr(one, file)], table=table)
            frames.append(frame.filter(~pl.col("key").is_in(dropped)))
    if not frames:
        return table.create_empty().lazy().select(names)
    frame = pl.concat(frames) if len(frames) > 1 else frames[0]
    return frame if columns is None else frame.select(names)


def as_landed(run: RunDirectory) -> LandedRun:
    """The run as of one look at its records, for all that a command makes of it.

    Raises
    ------
    StoreError
        As :func:`checked_ledger`.

    Examples
    --------
    >>> as_landed(RunDirectory.create("memory://doctest-as-landed")).ledger.n_rows
    0
    """
    return LandedRun.of(run, checked_ledger(run))


def checked_ledger(run: RunDirectory) -> Ledger:
    """The ledger that numbers are made of: the one handed on by :func:`as_landed`, else a new one.

    Raises
    ------
    StoreError
        If records are torn, altered or gone: nobody knows what they stood for.

    Examples
    --------
    >>> checked_ledger(RunDirectory.create("memory://doctest-checked")).n_rows
    0
    """
    if isinstance(run, LandedRun):
        return run.ledger
    look = look_at_commits(run)
    lacking = _unsettled_commit_records(look)
    # Where links are missing a record may be under its writer's pen.
    tries = _TORN_TRIES if lacking and (live_session(run) or unseen_session(run)) else 0
    while lacking and tries:
        time.sleep(_TORN_PAUSE_S)
        look, tries = look_at_commits(run), tries - 1
        lacking = _unsettled_commit_records(look)
    if lacking or (look.session is None and any(run.files.sizes("data"))):
        first = lacking[0] if lacking else ""
        raise StoreError(
            "a record of what landed is torn, altered or gone"
            + (f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""),
            where={"path": run.address(f"{FOLDER}/{first}".rstrip("/"))},
            hint=ask_again(
                run,
                look,
                "what it stood for",
                is_reading=bool(lacking) and all(parse_generation(one) for one in lacking),
            ),
        )
    number = look.session.number if look.session else 0
    return build_ledger(number, look.commits, broken=look.broken, run=run)


def _unsettled_commit_records(look: CommitsLook) -> list[str]:
    """Records that are torn, altered or gone, and that no later attempt of their lease settles."""
    attempts = [place for name in look.names if (place := parse_attempt(name))]
    latest = {one[:2]: one.attempt for one in sorted(attempts)}
    return [
        name
        for name in look.broken
        if (place := parse_attempt(name)) is None or latest.get(place[:2], 0) <= place.attempt
    ]


def _part_rows_of_judge(frame: pl.LazyFrame, judge: str) -> pl.LazyFrame:
    """Rows of one judge, whose name their commits tell: not a byte of that column is read."""
    return frame.with_columns(judge=pl.lit(judge)) if judge else frame


def _check_files(
    run: RunDirectory,
    commits: Sequence[CommitRecord],
    file: CommitFile,
    columns: Collection[str],
) -> None:
    """Refuse files that are gone, cut or altered: they would be numbers of another run."""
    if not commits:
        return
    # Listed after the commits were read, so that every file of theirs was there.
    sizes = file_sizes(run, commits, file)
    wrong = [one for one in commits if not one.is_whole(file, sizes.get(getattr(one, file)))]
    how = "altered: its bytes are not those that landed"
    if wrong:
        size = sizes.get(getattr(wrong[0], file))
        how = "gone" if size is None else f"cut, it has {size} bytes"
    else:
        bad = altered(run.files, (one.vouched(file, columns) for one in commits))
        wrong = [one for one in commits if getattr(one, file) in bad]
    if wrong:
        rows = f"its {sum(one.rows for one in wrong):,} rows"
        raise (FileGone if how == "gone" else StoreError)(
            f"a file that landed is {how}"
            + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""),
            where={"path": run.address(getattr(wrong[0], file)), "commit": wrong[0].name},
            hint=ask_again(
                run,
                look_at_commits(run),
                rows,
                texts=file == "texts_file" and not all(one.holds_answers for one in wrong),
                is_reading=all(getattr(one, file).startswith(f"{READINGS}/") for one in wrong),
            ),
        )


def ask_again(
    run: RunDirectory,
    look: CommitsLook,
    rows: str,
    *,
    texts: bool = False,
    is_reading: bool = False,
) -> str:
    """Name the command that asks again what is lost, with the flag that much of it takes.

    Where only a reading is lost, the texts are there to be read again, and nothing need be asked.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-ask-again")
    >>> ask_again(run, look_at_commits(run), "its 8 rows").partition(";")[0]
    'judgerel run SWEEP.toml --out memory://doctest-ask-again asks its 8 rows again'
    """
    if is_reading:
        return (
            f"judgerel rejudge {run.url} reads the texts again and asks nothing; "
            f"judgerel verify {run.url} lists what is wrong"
        )
    losses = part_commits(run, look, check=True)[1].counted(run)
    flag = " --ask-lost" if texts or losses.is_large or losses.lacks_folder else ""
    return (
        f"judgerel run SWEEP.toml --out {run.url}{flag} asks {rows} again; "
        f"judgerel verify {run.url} lists what is wrong"
    )
