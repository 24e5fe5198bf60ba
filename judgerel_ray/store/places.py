"""Where a path or a URL leads: on a disk or in a bucket, and whether into a run directory."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from judgerel_ray.core import StoreError, SweepError

if TYPE_CHECKING:
    from judgerel_ray.store.files import Bucket

_LOCAL = ("file", "local")


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


def bucket_of(url: str) -> tuple[Bucket, str]:
    """What holds an object of a URL, and its name there."""
    from judgerel_ray.store.files import Bucket

    protocol, _, path = url.partition("://")
    folder, _, name = path.rpartition("/")
    return Bucket(url=f"{protocol.lower()}://{folder}"), name


def object_path(url: str) -> str:
    """An object's path in the one spelling that all its spellings have in common.

    >>> object_path("s3://bucket//a/../b.csv?versionId=3")
    '/bucket/b.csv'
    """
    path = url.partition("://")[2].partition("?")[0]
    return posixpath.normpath("/" + path.lstrip("/"))


def folders_above(path: str) -> Iterator[str]:
    """Folders above a path, as spelled and as links lead; prefixes above a URL, nearest first.

    >>> list(folders_above("s3://bucket/runs/r/c.csv"))
    ['s3://bucket/runs/r', 's3://bucket/runs', 's3://bucket']
    """
    local = local_path(path)
    if local is None:
        protocol = path.partition("://")[0].lower()
        above = PurePosixPath(object_path(path)).parents
        yield from (f"{protocol}:/{one}" for one in above if str(one) != "/")
    else:
        spelled, real = Path(os.path.abspath(local)), Path(os.path.realpath(local))
        yield from dict.fromkeys(str(one) for one in (*spelled.parents, *real.parents))


def is_run(folder: str) -> bool:
    """Whether a folder is a run directory, a damaged one included."""
    if "://" not in folder and not any(
        os.path.lexists(os.path.join(folder, name)) for name in ("manifest.json", "commits")
    ):
        return False  # the usual case loads no store
    from judgerel_ray.store import RunDirectory

    run = RunDirectory(url=folder)
    # First, so that a store that cannot be reached says so.
    kept = run.exists("commits") and (run.exists("sweep.toml") or run.exists("data"))
    try:
        return kept or run.is_run()
    except StoreError:  # it is one, and its manifest is damaged
        return True


def run_above(path: str, *, may_hold: bool = False) -> str | None:
    """The run directory that a path lies in; of those that `may_hold` it, not directly."""
    local, folders = local_path(path), list(folders_above(path))
    direct = folders[:1]
    if local is not None:
        direct = [os.path.dirname(way(local)) for way in (os.path.abspath, os.path.realpath)]
    return next((one for one in folders if is_run(one) and not (may_hold and one in direct)), None)


def refuse_inside_run(path: str) -> None:
    """Refuse a run directory inside another one (SweepError).

    >>> refuse_inside_run("memory://doctest-outside/run")
    """
    local = local_path(path)
    if run := run_above(path if local is None else os.path.expanduser(local)):
        raise SweepError(
            "--out lies in a run directory, where nothing else is put",
            where={"run": path, "inside": run},
            hint="give --out a directory elsewhere",
        )


def refuse_memory(url: str) -> None:
    """Refuse the memory of this process as a place for what others must see, too (StoreError).

    >>> refuse_memory("s3://bucket/run")
    """
    if url.lower().startswith("memory://"):
        raise StoreError(
            "out must be a place that every process sees, got the memory of this one",
            where={"out": url},
            hint="a folder, or a bucket (s3://...)",
        )


def missing_folder(path: str) -> str | None:
    """Topmost folder above a run directory that is still to be made; None where all are there.

    >>> missing_folder("s3://bucket/runs/r"), missing_folder("/r")
    (None, None)
    """
    local = local_path(path)
    if local is None:
        return None
    above = [str(one) for one in Path(os.path.abspath(os.path.expanduser(local))).parents]
    return next((one for one in reversed(above) if not os.path.lexists(one)), None)
