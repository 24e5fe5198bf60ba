"""Whether an output file is one of the inputs, under any name."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from judgerel_ray.store.places import bucket_of, local_path, object_path

_IS = "--out is what is read, and would destroy it"
_AMONG = "--out lies where all files are read, and would be among them"


def path_conflict(target: str, source: str, *, may_share: bool = False) -> str:
    """What is wrong where a target is a source, is in it, or names a file of it; else nothing.

    `may_share` says that it may lie in a folder that is read.

    >>> path_conflict("memory://x/a.csv", "memory:///x/b/../a.csv")
    '--out is what is read, and would destroy it'
    """
    parts = source.split("::")  # a chain of file systems reads what each of its links names
    return next(filter(None, (_overlap(target, part, may_share) for part in parts)), "")


def _overlap(target: str, source: str, may_share: bool) -> str:
    there, path = local_path(target), local_path(source)
    if there is not None and path is not None:
        raw = source.partition("://")[2] or source  # what takes a URL's %20 as it stands
        spelled = {path, raw, os.path.expanduser(source)}
        for one in spelled:
            # What cannot be looked at is not what is written; another spelling may be.
            with suppress(OSError, ValueError):
                if how := _on_disk(os.path.realpath(there), one, may_share):
                    return how
    elif there is None and path is None:
        return _in_bucket(target, source, may_share)
    return ""


def _on_disk(target: str, source: str, may_share: bool) -> str:
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


def _in_bucket(target: str, source: str, may_share: bool) -> str:
    # A prefix is a folder.
    if type(bucket_of(target)[0].filesystem) is not type(bucket_of(source)[0].filesystem):
        return ""
    path, read = object_path(target), object_path(source)
    if path == read:
        return _IS
    below = path.startswith(f"{read}/") and not may_share
    return _AMONG if below or (glob.has_magic(read) and fnmatchcase(path, read)) else ""
