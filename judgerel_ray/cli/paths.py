"""Paths that callers give: one rule and one wording for all verbs, before any work is done."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from difflib import get_close_matches
from glob import has_magic
from typing import TYPE_CHECKING

from judgerel_ray.core import JudgeRelError, SweepError
from judgerel_ray.core.files import STANDARD_INPUT, check_regular

if TYPE_CHECKING:
    from judgerel_ray.cli.parsing import CommandLine

STDOUT = 1


def source_path(path: str) -> str:
    """A file or folder that must be there; URLs are left to who opens them.

    Examples
    --------
    >>> source_path("no-such.json")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file or folder [path=no-such.json]
    """
    if path == STANDARD_INPUT:
        return path
    if "://" in path or path_exists(path) or _is_typed_path_sheet(path):
        _check_stdout(path)
        check_regular(path)
        return path
    folder, name = os.path.split(path)
    try:
        # A link to nothing is there by its name, and is no help.
        there = (one for one in os.listdir(folder or ".") if one != name)
        near = get_close_matches(name, there, n=1)
    except (OSError, ValueError):
        near = []
    raise SweepError(
        "no such file or folder",
        where={"path": path},
        hint=os.path.join(folder, near[0]) if near else None,
    )


def judged_path(path: str) -> str:
    """A run directory, or a file, folder or pattern of files of judgments, which must be there.

    Examples
    --------
    >>> judged_path("no-such-run")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file or folder [path=no-such-run]
    """
    if has_magic(path) and not path_exists(path) and "://" not in path:
        return path  # a pattern of files, which is said to be of none where it is opened
    if os.path.isdir(source_path(path)):
        from judgerel_ray.counting.files.source import holds_tables
        from judgerel_ray.store import RunDirectory  # coefficients of a file need none

        if not (holds_tables(path) and not RunDirectory(url=path).is_run()):
            RunDirectory.open(path)
    return path


def _is_typed_path_sheet(path: str) -> bool:
    """Whether a path names a sheet of a workbook that is there: ``book.xlsx#Sheet2``."""
    from judgerel_ray.counting.files.delimited import book_of  # a path alone needs no Polars

    book, sheet = book_of(path) if "#" in path else (path, "")
    return bool(sheet) and path_exists(book)


def path_exists(path: str) -> bool:
    """Whether something is there; nothing is at a path that no file system could have."""
    try:
        return os.path.exists(path)
    except ValueError:
        return False


def named_log(error: JudgeRelError, typed: CommandLine | None) -> JudgeRelError:
    """Say of a file that cannot be measured that it is the log of a tool, where it is one."""
    source = None if typed is None or typed.verb.name in ("items", "import") else typed.source
    where = (error.where.get("file"), error.where.get("path"))
    if not source or source not in where or not os.path.isfile(source):
        return error
    from judgerel_ray.counting.files.understood import log_refusal

    return log_refusal(source) or error


def _check_stdout(path: str) -> None:
    """Refuse to print into the file that is read, as ``>> FILE`` would."""
    with suppress(OSError, ValueError):
        printed = os.fstat(STDOUT)
        if stat.S_ISREG(printed.st_mode) and os.path.samestat(printed, os.stat(path)):
            raise SweepError(
                "stdout is the file that is read", where={"path": path}, hint="give --out a file"
            )
