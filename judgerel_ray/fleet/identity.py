"""Whether a judge is the same on a node as it was on the driver."""

from __future__ import annotations

from collections.abc import Mapping


def differing_parts(expected: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    """Name the parts of a judge's fingerprint that are not what the driver saw.

    Parameters
    ----------
    expected, found : mapping
        Parts of :class:`judgerel_ray.engines.Fingerprint`, of the driver and of the node. What the
        driver could not tell (None: it has no vLLM) is not compared, nor by what name a hub id's
        commit was asked for.

    Returns
    -------
    list of str
        ``name: expected ..., got ...``; empty where the judge is the same.

    Examples
    --------
    >>> differing_parts({"engine_version": "0.32.0"}, {"engine_version": "0.33.0"})
    ["engine_version: expected '0.32.0', got '0.33.0'"]
    >>> differing_parts({"engine_version": None}, {"engine_version": "0.33.0"})
    []
    """
    return [
        f"{name}: expected {expected[name]!r}, got {found.get(name)!r}"
        for name in sorted(expected)
        if expected[name] is not None and _compared(expected[name]) != _compared(found.get(name))
    ]


def _compared(part: object) -> object:
    """A part without what only says how it was asked for."""
    if isinstance(part, Mapping):
        return {name: value for name, value in part.items() if name != "revision"}
    return part
