"""Paths that callers give: one rule and one wording for all verbs, before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from glob import has_magic
from pathlib import Path

from judgerel_ray.core import SweepError


def source_path(path: str) -> str:
    """A file or folder that must be there; URLs are left to who opens them.

    Raises
    ------
    SweepError
        If there is none, naming the one beside it that was likely meant.

    Examples
    --------
    >>> source_path("no-such.json")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file or folder [path=no-such.json]
    """
    if "://" in path or _exists(path):
        return path
    folder, name = os.path.split(path)
    try:
        near = get_close_matches(name, os.listdir(folder or "."), n=1)
    except (OSError, ValueError):
        near = []
    raise SweepError(
        "no such file or folder",
        where={"path": path},
        hint=os.path.join(folder, near[0]) if near else None,
    )


def judged_path(path: str) -> str:
    """A run directory, or a file, folder or pattern of files of judgments, which must be there.

    Raises
    ------
    SweepError
        If nothing is there.
    StoreError
        If a folder is there that is no run directory and holds no files of judgments.

    Examples
    --------
    >>> judged_path("no-such-run")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file or folder [path=no-such-run]
    """
    if has_magic(path) and not _exists(path) and "://" not in path:
        return path  # a pattern of files, which is said to be of none where it is opened
    if os.path.isdir(source_path(path)):
        from judgerel_ray.reduce.source import holds_tables
        from judgerel_ray.store import RunDirectory  # coefficients of a file need none

        if not (holds_tables(path) and not RunDirectory(url=path).is_run()):
            RunDirectory.open(path)
    return path


@contextmanager
def output_file(path: str, endings: Sequence[str]) -> Iterator[str]:
    """A file to be written in the block, by its ending; its folder is made where there is none.

    Effects: makes the folder; removes it again where the block fails.

    Raises
    ------
    SweepError
        Before the block, if the ending is another, or the place is none for a file.

    Examples
    --------
    >>> with output_file("c.xlsx", (".csv", ".json")):
    ...     print("written")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: --out must end in .csv or .json, got 'c.xlsx' [file=c.xlsx]
    """
    where = {"file": path}
    if Path(path).suffix.lower() not in endings:
        *most, last = endings
        known = f"{', '.join(most)} or {last}" if most else last
        raise SweepError(f"--out must end in {known}, got {path!r}", where=where)
    if "://" in path:
        yield path
        return
    folders = list(Path(path).absolute().parents)
    made = [folder for folder in folders if not _exists(str(folder))]
    there = folders[len(made)]
    if not there.is_dir() or os.path.isdir(path):
        raise SweepError("--out is no place for a file", where=where)
    if not os.access(path if _exists(path) else there, os.W_OK):
        raise SweepError("--out may not be written", where=where)
    try:
        folders[0].mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SweepError(f"--out may not be written: {error}", where=where) from error
    try:
        yield path
    finally:
        for folder in made if not _exists(path) else ():
            with suppress(OSError):  # something else is in it by now
                folder.rmdir()


def _exists(path: str) -> bool:
    """Whether something is there; nothing is at a path that no file system could have."""
    try:
        return os.path.exists(path)
    except ValueError:
        return False
