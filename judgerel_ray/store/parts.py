"""Parts: an attempt's rows as Parquet files, and the record that makes them count."""

from __future__ import annotations

import io
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import dataframely as dy
import polars as pl

from judgerel_ray.core import StoreError, TableError, TokenCounts, request_key
from judgerel_ray.store.digests import sections_of, sha256
from judgerel_ray.store.files import Disk
from judgerel_ray.store.records import (
    FOLDER,
    CommitRecord,
    Range,
    attempt_name,
    commit_content,
    read_attempt,
    requests_in,
    seal,
    union,
    unseal,
)
from judgerel_ray.store.rundir import RunDirectory, judge_folder
from judgerel_ray.tables import (
    Completions,
    Judgments,
    count_answers,
    count_outcomes,
    count_thoughts,
)

_SORT = ("item_id", "temperature", "replication", "key")
_ZSTD_LEVEL = 3
_TORN_TRIES = 10
_TORN_PAUSE_S = 0.1


class _Part(NamedTuple):
    """A Parquet file in memory, under the name it will have, and where it is already, if it is."""

    name: str
    data: bytes
    there: str | None = None


def land(
    run: RunDirectory,
    *,
    session: int,
    lease: int,
    attempt: int,
    judge: str,
    judgments: pl.DataFrame,
    completions: pl.DataFrame | CommitRecord,
    conditions: Mapping[str, Sequence[Range]],
    tokens: TokenCounts,
    seconds: float,
    engine: Mapping[str, object] | None = None,
    parents: Iterable[str] = (),
) -> bool:
    """Land what an attempt of a lease brought, all of it or nothing.

    Parameters
    ----------
    run : RunDirectory
        The run.
    session, lease, attempt : int
        Which attempt this is; attempts count from 1.
    judge : str
        The judge asked, as in every row.
    judgments, completions : DataFrame
        Rows of the tables of those names, one of each for every request. In place of texts that are
        lost the commit whose they were: the record then names a file that is not there.
    conditions : mapping
        Condition key to the ranges (first, n) of replications landed; together the keys of the
        rows, no more and no fewer.
    tokens : TokenCounts
        What the engine's counters moved by.
    seconds : float
        Engine time taken.
    engine : mapping, optional
        Plain facts about the engine (version, device, ...), kept in the record.
    parents : iterable of str, optional
        Keys of the landed answers that the prompts hold. Where one of those is lost, these rows
        stand on a text that the run does not hold, and count no longer.

    Returns
    -------
    bool
        True if the rows landed. False if this attempt was already settled, landed or closed
        (:func:`close_lease` says which); nothing of this call stays then.

    Raises
    ------
    TableError
        If rows break their table's rules or do not match `conditions`.
    StoreError
        If the directory cannot be written. The attempt may or may not have landed:
        :func:`close_lease` says.

    Examples
    --------
    >>> from judgerel_ray.store import RunDirectory, begin_session
    >>> run = RunDirectory.create("memory://doctest-land")
    >>> land(run, session=begin_session(run).number, lease=1, attempt=1, judge="j",
    ...      judgments=Judgments.create_empty(), completions=Completions.create_empty(),
    ...      conditions={}, tokens=TokenCounts(), seconds=0.0)
    True

    Notes
    -----
    Effects: two Parquet files, then a record in commits/ by exclusive creation, which is the
    moment of landing. Retry: safe, lands once.
    """
    texts = None if isinstance(completions, CommitRecord) else completions
    rows, data = encode_rows(judgments, texts, judge, attempt, conditions)
    names = _new_part_names(judge, session, lease, attempt)
    parts = [_Part(*one) for one in zip(names, data, strict=False)]
    if isinstance(completions, CommitRecord):
        lost = completions
        vouched = lost.texts_sha256, lost.texts_bytes, lost.texts_sections
    else:
        vouched = sha256(data[1]), len(data[1]), sections_of(data[1])
    record = CommitRecord(
        session=session,
        lease=lease,
        attempt=attempt,
        judge=judge,
        data_file=names[0],
        texts_file=names[1],
        data_sha256=sha256(data[0]),
        texts_sha256=vouched[0],
        data_bytes=len(data[0]),
        rows=rows.height,
        conditions={key: union(ranges) for key, ranges in conditions.items()},
        outcomes=count_outcomes(rows),
        thoughts={} if texts is None else count_thoughts(rows, texts),
        tokens=tokens,
        seconds=seconds,
        engine=dict(engine or {}),
        written_at=datetime.now(UTC).isoformat(),
        texts_bytes=vouched[1],
        parents=tuple(sorted(set(parents))),
        n_answers=count_answers(rows),
        data_sections=sections_of(data[0]),
        texts_sections=vouched[2],
    )
    return _settle_part_commit(run, record, parts)


def land_files(
    run: RunDirectory,
    source: RunDirectory,
    commit: CommitRecord,
    *,
    session: int,
    lease: int,
    engine: Mapping[str, object],
    has_texts: bool = True,
) -> bool:
    """Land in one run what a commit of another landed, with the files that are there.

    No byte is decoded. Between two folders of one file system the bytes are stored once, under two
    names: files of runs are put in place whole and never written into, so that what becomes of one
    name changes nothing under the other. What engines spent stays with the other run.

    Parameters
    ----------
    run : RunDirectory
        Where it is to land.
    source : RunDirectory
        Where it landed before.
    commit : CommitRecord
        What landed there, as its record or a later reading of its texts tells.
    session, lease : int
        Of the landing; the attempt is the commit's, as in its rows.
    engine : mapping
        As of :func:`land`.
    has_texts : bool
        False where its texts are lost: the record then names a file that is not there.

    Returns
    -------
    bool
        True if it landed. False if this attempt was already settled, or if a file is not as it
        landed. Nothing of this call stays then.

    Examples
    --------
    >>> from judgerel_ray.store import begin_session, read_ledger
    >>> one, other = (RunDirectory.create(f"memory://doctest-land-files-{n}") for n in "ab")
    >>> land(one, session=begin_session(one).number, lease=1, attempt=1, judge="j",
    ...      judgments=Judgments.create_empty(), completions=Completions.create_empty(),
    ...      conditions={}, tokens=TokenCounts(), seconds=0.0)
    True
    >>> (commit,) = read_ledger(one).commits
    >>> land_files(other, one, commit, session=begin_session(other).number, lease=1, engine={})
    True

    Notes
    -----
    Effects and Retry: as of :func:`land`.
    """
    n_files = 2 if has_texts else 1
    old = (commit.data_file, commit.texts_file)[:n_files]
    data = source.files.read_many(old)
    digests = [sha256(data[name]) if name in data else None for name in old]
    if digests != [commit.data_sha256, commit.texts_sha256][:n_files]:
        return False
    new = _new_part_names(commit.judge, session, lease, commit.attempt)
    record = replace(
        commit,
        session=session,
        lease=lease,
        data_file=new[0],
        texts_file=new[1],
        tokens=TokenCounts(),
        seconds=0.0,
        engine=dict(engine),
        written_at=datetime.now(UTC).isoformat(),
    )
    there = [source.address(name) if source.is_local else None for name in old]
    files = zip(new[:n_files], map(data.__getitem__, old), there, strict=True)
    parts = [_Part(*one) for one in files]
    return _settle_part_commit(run, record, parts)


def _new_part_names(judge: str, session: int, lease: int, attempt: int) -> tuple[str, str]:
    """New names for the files of an attempt: of judgments and of texts."""
    stem = f"part-s{session:04d}-l{lease:06d}-a{attempt}-{secrets.token_hex(4)}.parquet"
    return f"data/{judge_folder(judge)}/{stem}", f"texts/{judge_folder(judge)}/{stem}"


def _settle_part_commit(run: RunDirectory, record: CommitRecord, parts: Sequence[_Part]) -> bool:
    """Write files and then their record, which counts if nobody settled the attempt before.

    Where a file cannot be written none of them stays. Where it is not known whether the record
    stands, they do.
    """
    place = f"{FOLDER}/{record.name}"
    # Before any file: what cannot be a record leaves none.
    sealed = seal(commit_content(record), place, run.identity)
    are_there = False
    try:
        for part in parts:
            if part.there is not None and isinstance(run.files, Disk):
                run.files.share(part.name, part.data, part.there)
            else:
                run.write_bytes(part.name, part.data)
        are_there = True
    finally:
        if not are_there:
            with suppress(StoreError):
                _remove_unnamed_parts(run, parts)
    standing = run.settle(place, sealed)
    if standing == sealed:
        return True
    # Only what a whole record of another shows to be needless may go.
    if unseal(standing, place, run.identity) is not None:
        _remove_unnamed_parts(run, parts)
    return False


def _remove_unnamed_parts(run: RunDirectory, parts: Sequence[_Part]) -> None:
    """Take files away again that no record names."""
    for part in parts:
        run.remove(part.name)


def close_lease(
    run: RunDirectory, *, session: int, lease: int, attempt: int
) -> CommitRecord | None:
    """Settle an attempt from outside: it has landed, or it never will.

    Parameters
    ----------
    run : RunDirectory
        The run.
    session, lease, attempt : int
        Which attempt.

    Returns
    -------
    CommitRecord or None
        What it landed; None if its tombstone stands, so that its rows may be asked again.

    Raises
    ------
    StoreError
        If the directory cannot be read or written; nothing is settled then.

    Examples
    --------
    >>> from judgerel_ray.store import RunDirectory, begin_session
    >>> run = RunDirectory.create("memory://doctest-close")
    >>> close_lease(run, session=begin_session(run).number, lease=7, attempt=1) is None
    True

    Notes
    -----
    Effects: at most one record in commits/. Retry: safe, gives the same answer.
    """
    name = attempt_name(session, lease, attempt)
    place = f"{FOLDER}/{name}"
    content = {"kind": "tombstone", "session": session, "lease": lease, "attempt": attempt}
    standing = run.settle(place, seal(content, place, run.identity))
    # Where links are missing a record may be under its writer's pen; one torn for good is none.
    for _ in range(_TORN_TRIES):
        if unseal(standing, place, run.identity) is not None:
            break
        time.sleep(_TORN_PAUSE_S)
        standing = run.read_bytes(place)
    record = read_attempt(name, standing, run.identity)
    return record if isinstance(record, CommitRecord) else None


def encode_rows(
    judgments: pl.DataFrame,
    completions: pl.DataFrame | None,
    judge: str,
    attempt: int,
    conditions: Mapping[str, Sequence[Range]],
) -> tuple[pl.DataFrame, list[bytes]]:
    """Check rows and lay them out as files: all that rows can fail at, and nothing is written.

    Parameters
    ----------
    judgments : DataFrame
        As of :func:`land`.
    completions : DataFrame or None
        As of :func:`land`; None where the texts are lost.
    judge, attempt, conditions
        As of :func:`land`.

    Returns
    -------
    tuple of DataFrame and list of bytes
        The judgments in their order, and the files: of judgments and, if there are any, of texts.

    Raises
    ------
    TableError
        As of :func:`land`.

    Examples
    --------
    >>> rows, files = encode_rows(
    ...     Judgments.create_empty(), Completions.create_empty(), "j", 1, {})
    >>> rows.height, [data[:4] for data in files]
    (0, [b'PAR1', b'PAR1'])
    """
    rows = _checked_part_judgments(judgments, judge, attempt, conditions)
    files = [encode_parquet(foldered(rows))]
    if completions is not None:
        files.append(encode_parquet(_part_texts_of_judgments(completions, rows, judge)))
    return rows, files


def encode_parquet(frame: pl.DataFrame) -> bytes:
    """Lay a frame out as a Parquet file.

    Examples
    --------
    >>> encode_parquet(pl.DataFrame({"a": [1]}))[:4]
    b'PAR1'
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = frame.to_arrow()
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):  # Polars' own keys and values are of other widths
            as_read = table.column(place).cast(pa.string()).dictionary_encode()
            table = table.set_column(place, field.name, as_read)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=_ZSTD_LEVEL)
    return buffer.getvalue()


def load_writers() -> None:
    """Load what landing needs, before an engine is up: it would wait for the first part longer.

    Examples
    --------
    >>> load_writers()
    """
    for table in (Judgments, Completions):
        encode_parquet(valid_rows(table, table.create_empty()))


def foldered(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the judge as a category, the type that readers give to what a folder names.

    pandas and pyarrow read ``judge=...`` as a dictionary of strings, and refuse to merge it with a
    column of plain ones.

    Examples
    --------
    >>> foldered(pl.DataFrame({"judge": ["j"]}))["judge"].dtype
    Categorical
    """
    return rows.with_columns(pl.col("judge").cast(pl.Categorical))


def expected_keys(conditions: Mapping[str, Sequence[Range]]) -> list[str]:
    """Name the request keys of ranges of replications.

    Examples
    --------
    >>> len(expected_keys({"00": [(0, 3)], "01": [(5, 1)]}))
    4
    """
    return [request_key(*one) for one in requests_in(conditions)]


def _checked_part_judgments(
    judgments: pl.DataFrame,
    judge: str,
    attempt: int,
    conditions: Mapping[str, Sequence[Range]],
) -> pl.DataFrame:
    """Validate judgments against their table and the ranges claimed; sort them."""
    rows = valid_rows(Judgments, judgments).sort(_SORT)
    expected = expected_keys(conditions)
    keys = set(rows["key"])
    if len(expected) != rows.height or set(expected) != keys:
        raise TableError(
            f"judgments must be those of the ranges landed, expected {len(expected)} rows with "
            f"their keys, got {rows.height}, {len(keys.intersection(expected))} of them expected",
            where={"judge": judge},
        )
    for column, value in (("judge", judge), ("attempt", attempt)):
        if (rows[column] != value).any():
            raise TableError(
                f"{column} must be the attempt's in every row, expected {value!r}, "
                f"got {rows.filter(pl.col(column) != value)[column][0]!r}"
            )
    return rows


def _part_texts_of_judgments(
    completions: pl.DataFrame, rows: pl.DataFrame, judge: str
) -> pl.DataFrame:
    """Validate texts against their table and the judgments that they are of, in whose order."""
    texts = valid_rows(Completions, completions)
    if texts.height != rows.height or set(texts["key"]) != set(rows["key"]):
        raise TableError(
            "completions must match judgments one to one by key, got "
            f"{texts.height} for {rows.height}",
            where={"judge": judge},
        )
    return rows.select("key").join(texts, on="key", how="left", maintain_order="left")


def valid_rows(table: type[dy.Schema], frame: pl.DataFrame) -> pl.DataFrame:
    """Validate a frame against its table, columns in the table's order; TableError if it fails.

    Examples
    --------
    >>> valid_rows(Completions, pl.DataFrame({"key": ["00"]}))
    Traceback (most recent call last):
    judgerel_ray.core.errors.TableError: 3 missing columns ...
    """
    if table.is_valid(frame):  # in one pass; what it says of rows that are not takes a few
        return frame.select(table.column_names())
    try:
        return table.validate(frame)
    except (dy.exc.SchemaError, dy.exc.ValidationError) as error:
        first = str(error).split("\n\nResolved plan")[0]
        raise TableError(
            " ".join(first.split()), where={"table": table.__name__.lower()}
        ) from error
