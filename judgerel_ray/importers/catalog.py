"""Importers by name, and the one way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.importers.schroeder2024 import import_schroeder2024

IMPORTERS: Mapping[str, Callable[[str], pl.DataFrame]] = {
    "schroeder2024": import_schroeder2024,
}
"""Readers of foreign judgments; each page says which files it reads."""


def import_judgments(format_name: str, path: str) -> pl.DataFrame:
    """Read foreign judgments by the name of their format.

    Parameters
    ----------
    format_name : str
        A name in `IMPORTERS`.
    path : str
        What that importer reads.

    Returns
    -------
    pl.DataFrame
        Judgments that :func:`judgerel_ray.reduce.load_judgments` accepts once they are written.

    Raises
    ------
    SweepError
        If the format is unknown, or the importer cannot read the path.

    Examples
    --------
    >>> import_judgments("shroeder2024", "judgments.zip")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: unknown format 'shroeder2024', \
expected one of schroeder2024. Try: schroeder2024
    """
    if format_name not in IMPORTERS:
        near = get_close_matches(format_name.lower(), IMPORTERS, n=1)
        raise SweepError(
            f"unknown format {format_name!r}, expected one of {', '.join(IMPORTERS)}",
            hint=near[0] if near else None,
        )
    return IMPORTERS[format_name](path)
