"""JSON of other people's files, read alike wherever it stands: lines, documents and cells."""

from __future__ import annotations

import json


class RepeatedKeyError(ValueError):
    """A key that an object has twice: which of its values is meant nobody can tell."""


def parse_json(text: str, *, nan: bool = False) -> object:
    """Read one JSON value, no object of which has a key twice.

    Parameters
    ----------
    text : str
        The value, with white space around it.
    nan : bool
        Whether NaN and the infinities, which Python writes and JSON does not have, are read.

    Raises
    ------
    RepeatedKeyError
        If an object has a key twice.
    ValueError
        If it is not JSON (json.JSONDecodeError, which knows the place), has NaN, or is nested too
        deeply.

    Examples
    --------
    >>> parse_json('{"a": [1, NaN]}', nan=True)
    {'a': [1, nan]}
    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    judgerel_ray.core.json_text.RepeatedKeyError: an object has the key 'a' twice
    """
    refuse = None if nan else _refuse
    try:
        value: object = json.loads(text, object_pairs_hook=_once, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of the pairs."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"an object has the key {twice!r} twice")
    return found


def _refuse(constant: str) -> object:
    """NaN and the infinities are not JSON."""
    raise ValueError(f"{constant} is not a JSON number")
