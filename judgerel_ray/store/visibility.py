"""The token that proves a process sees the driver's run directory, not one of the same name."""

from __future__ import annotations

import secrets

from judgerel_ray.core import StoreError
from judgerel_ray.store.records import FOLDER
from judgerel_ray.store.rundir import RunDirectory

_TOKEN = f"{FOLDER}/token"


def leave_token(run: RunDirectory) -> str:
    """Leave a new token in the run directory and give it, to be compared by every actor.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-token")
    >>> leave_token(run) == read_token(run)
    True
    """
    token = secrets.token_hex(16)
    run.write_text(_TOKEN, token)
    return token


def read_token(run: RunDirectory) -> str:
    """Read the token where the caller runs.

    Raises
    ------
    StoreError
        If there is none: this process does not see the driver's directory.

    Examples
    --------
    >>> read_token(RunDirectory(url="memory://doctest-no-token"))
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: the run directory cannot be seen ...
    """
    if not run.exists(_TOKEN):
        raise StoreError(
            "the run directory cannot be seen from this process: expected the driver's token, "
            "got none",
            where={"run": run.url},
            hint="a folder shared by all nodes, or an object store",
        )
    return run.read_text(_TOKEN)
