"""Importers by name, the one way in, and what files of several paths are read as."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from judgerel_ray.core import JudgeRelError, SweepError
from judgerel_ray.core.files import STANDARD_INPUT
from judgerel_ray.core.papers import find_in_papers
from judgerel_ray.core.text import nearest_name
from judgerel_ray.counting.columns import FACETS
from judgerel_ray.importers.logs.collect import (
    AUTO,
    LOG_FORMATS,
    import_logs,
)
from judgerel_ray.importers.people import import_people, numbered_raters
from judgerel_ray.importers.table import TableMapping, import_table


def _log_importer(name: str) -> Callable[[str], pl.DataFrame]:
    """The reader of one log, by the name of its format."""
    return lambda path: import_logs(name, [path])


IMPORTERS: Mapping[str, Callable[[str], pl.DataFrame]] = {
    **{name: _log_importer(name) for name in (AUTO, *LOG_FORMATS)},
    "schroeder2024": find_in_papers("import_schroeder2024"),
    "table": import_table,
    "people": import_people,
    "bergman2025": find_in_papers("import_bergman2025"),
}
"""Readers of foreign judgments; each page says which files it reads."""


def read_foreign_judgments(
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
        Judgments that :func:`.Snapshot.open` accepts once they are written.

    Raises
    ------
    SweepError
        If the format is unknown, has no columns to be named or says itself whose answers it holds,
        or the importer cannot read the path.

    Examples
    --------
    >>> read_foreign_judgments("shroeder2024", "judgments.zip")
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: unknown format 'shroeder2024', expected one of auto, ...
    """
    if format_name not in IMPORTERS:
        raise SweepError(
            f"unknown format {format_name!r}, expected one of {', '.join(IMPORTERS)}",
            hint=nearest_name(format_name.lower(), IMPORTERS),
        )
    if format_name == AUTO and are_tables([path]):
        format_name = "table"
    is_log = format_name in (AUTO, *LOG_FORMATS)
    if is_log and mapping is None and role is None and not reread:
        return import_logs(format_name, [path], judge=judge)
    if judge is not None or role is not None or reread:
        if format_name != "bergman2025":
            raise SweepError(
                f"--judge, --role and --reread are of bergman2025, not of {format_name}",
                hint="--value judge=NAME" if format_name == "table" else None,
            )
        found: pl.DataFrame = find_in_papers("import_bergman2025")(
            path, judge=judge, role=role, reread=reread
        )
        return found
    if mapping is None:
        return IMPORTERS[format_name](path)
    if format_name != "table":
        raise SweepError(
            f"the columns of {format_name} are fixed, so they cannot be mapped",
            hint="leave out --column, --repeats, --value, --missing and --order",
        )
    return import_table(path, mapping)


def are_tables(paths: Sequence[str]) -> bool:
    """Whether files are tables, of which none is a log of a tool that is known."""
    from judgerel_ray.counting.files.delimited import book_of
    from judgerel_ray.importers.logs.asked import is_log

    if [*paths] == [STANDARD_INPUT]:
        return True
    try:
        files = [book_of(path)[0] for path in paths]
        return bool(files) and all(os.path.isfile(file) and not is_log(file) for file in files)
    except JudgeRelError:  # what is wrong with it is said where logs are read
        return False


def are_one_table(paths: Sequence[str], *, asks: bool) -> bool:
    """Whether files of the same columns are read as `reduce` reads them, as repeats by their names.

    Where a format was not named it `asks` what else tells files apart that no column tells.
    """
    from judgerel_ray.counting.files.names import repeats_by_name, roles_of
    from judgerel_ray.counting.files.source import read_source

    if len(paths) < 2 or not all(os.path.isfile(path) for path in paths):
        return False
    first, *others = (read_source(path).rows.collect_schema() for path in paths)
    if any({*other} != {*first} for other in others):
        return False
    tells = any(name in FACETS or {*FACETS} & {*roles_of(name)} for name in first)
    return bool(repeats_by_name(paths, first)) or (asks and not tells)


def each_once(judgments: pl.DataFrame, format_name: str) -> pl.DataFrame:
    """Judgments of several paths; refuse what is there twice."""
    if format_name == "people" and "rater" in judgments.columns:
        judgments = numbered_raters(judgments)  # each file numbered its own
    identifying = (*FACETS, "item_id", "role", "block", "replication")
    key = [name for name in dict.fromkeys(identifying) if name in judgments.columns]
    twice = judgments.filter(judgments.select(key).is_duplicated()).head(1)
    if not twice.is_empty():
        raise SweepError(
            "the paths hold a judgment more than once",
            where={k: v for k, v in twice.select(key).row(0, named=True).items() if v is not None},
            hint="leave out the rows or the file that repeat it"
            + ("; a column rater tells people apart" if format_name == "people" else ""),
        )
    return judgments
