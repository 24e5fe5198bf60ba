"""Importers by name, and the one way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.importers.bergman2025 import import_bergman2025
from judgerel_ray.importers.logs.collect import AUTO, LOG_FORMATS, import_logs
from judgerel_ray.importers.people import import_people
from judgerel_ray.importers.schroeder2024 import import_schroeder2024
from judgerel_ray.importers.table import TableMapping, import_table


def _log_importer(name: str) -> Callable[[str], pl.DataFrame]:
    """The reader of one log, by the name of its format."""
    return lambda path: import_logs(name, [path])


IMPORTERS: Mapping[str, Callable[[str], pl.DataFrame]] = {
    **{name: _log_importer(name) for name in (AUTO, *LOG_FORMATS)},
    "schroeder2024": import_schroeder2024,
    "table": import_table,
    "people": import_people,
    "bergman2025": import_bergman2025,
}
"""Readers of foreign judgments; each page says which files it reads."""


def import_judgments(
    format_name: str,
    path: str,
    mapping: TableMapping | None = None,
    *,
    judge: str | None = None,
    role: str | None = None,
    reread: bool = False,
) -> pl.DataFrame:
    """Read foreign judgments by the name of their format.

    Parameters
    ----------
    format_name : str
        A name in `IMPORTERS`.
    path : str
        What that importer reads.
    mapping : TableMapping, optional
        What the columns stand for; of a table only.
    judge, role : str, optional
        Whose answers the file holds, and what it was asked as; of bergman2025. The judge also of
        a log that names none.
    reread : bool
        Whether replies are read again; of bergman2025 only.

    Returns
    -------
    pl.DataFrame
        Judgments that :func:`.load_judgments` accepts once they are written.

    Raises
    ------
    SweepError
        If the format is unknown, has no columns to be named or says itself whose answers it holds,
        or the importer cannot read the path.

    Examples
    --------
    >>> import_judgments("shroeder2024", "judgments.zip")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: unknown format 'shroeder2024', expected one of auto, ...
    """
    if format_name not in IMPORTERS:
        near = get_close_matches(format_name.lower(), IMPORTERS, n=1)
        raise SweepError(
            f"unknown format {format_name!r}, expected one of {', '.join(IMPORTERS)}",
            hint=near[0] if near else None,
        )
    is_log = format_name == AUTO or format_name in LOG_FORMATS
    if is_log and mapping is None and role is None and not reread:
        return import_logs(format_name, [path], judge=judge)
    if judge is not None or role is not None or reread:
        if format_name != "bergman2025":
            raise SweepError(
                f"--judge, --role and --reread are of bergman2025, not of {format_name}",
                hint="--value judge=NAME" if format_name == "table" else None,
            )
        return import_bergman2025(path, judge=judge, role=role, reread=reread)
    if mapping is None:
        return IMPORTERS[format_name](path)
    if format_name != "table":
        raise SweepError(
            f"the columns of {format_name} are fixed, so they cannot be mapped",
            hint="leave out --column, --repeats, --value, --missing and --order",
        )
    return import_table(path, mapping)
