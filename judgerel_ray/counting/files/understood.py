"""Reads a table as judgments, by names or meanings of columns, or refuses it with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from shlex import quote
from tempfile import TemporaryDirectory

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import SweepError
from judgerel_ray.core.files import read_bytes, unpacked
from judgerel_ray.core.text import SEPARATORS
from judgerel_ray.counting.columns import FACETS, is_nested
from judgerel_ray.counting.files.cells import leaves, parted, refuse_inside, values_at
from judgerel_ray.counting.files.counted_rows import (
    BY_VERDICT,
    COUNT,
    marks_of_one,
    one_of_several,
    one_row_a_reply,
)
from judgerel_ray.counting.files.delimited import first_line, kind_of, read_delimited
from judgerel_ray.counting.files.documents import ENTRY
from judgerel_ray.counting.files.graded_cells import graded_cells
from judgerel_ray.counting.files.laid_out import (
    key_in,
    keyed,
    laid_out,
    lifted,
    splitting,
    telling,
    unkeyed,
)
from judgerel_ray.counting.files.layout import REPLICATION, SAMPLE, VALUES, Meaning
from judgerel_ray.counting.files.meaning import meaning_of
from judgerel_ray.counting.files.named_judges import names_nobody
from judgerel_ray.counting.files.names import (
    JUDGES,
    called_of,
    column_flag,
    counted_in,
    facet_of,
    facets_in,
    is_aggregate,
    is_answer,
    is_named_element,
    is_plain_model,
    is_question,
    is_side_column,
    names_by_pattern,
    roles_of,
)
from judgerel_ray.counting.files.records import values_series
from judgerel_ray.counting.files.source import (
    Source,
    files_apart,
    quote_names,
    readable,
    without_stray_rows,
)
from judgerel_ray.counting.files.workbook import SHEET, WORKBOOKS, repeats_by_sheet, sheets_as_csv

_MOST_QUOTED = 4
_SEVERAL = 2
_KEYS = ("judge", "criterion", REPLICATION)  # what keys may tell
_FEW = 100  # events of a type that are looked at
DOCTOR = "; judgerel doctor shows what each may be"
"""What ends the hint of a refusal that names no column."""
_SINGLE = (*VALUES, "gold", "label")
"""Columns whose text is no object or list either; an item may be called anything."""


class ColumnsMissing(SweepError):  # noqa: N818  what a table lacks, which doctor helps with
    """A table in which something that judgments need is not there, or may be several things."""

    meaning: Meaning

    def of(self, meaning: Meaning) -> ColumnsMissing:
        """The same with what is known of the table."""
        self.meaning = meaning
        return self


def understood(
    source: Source,
    stated: Mapping[str, str] | None = None,
    *,
    repeats: str | None = None,
    missing: Sequence[str] = (),
) -> Source:
    """The rows with the columns of judgments; ColumnsMissing where these cannot be told.

    `stated` says which place holds what, by its name or by the role that it is read as anyway;
    columns like the shell pattern `repeats` are repeats side by side, and texts in `missing` stand
    for no value there.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.LazyFrame({"prompt_id": ["p", "p"], "trial": [0, 1], "winner": ["x", "y"]})
    >>> understood(Source(rows=rows)).rows.collect().columns
    ['item_id', 'replication', 'verdict']
    """
    source = without_stray_rows(source)
    if any(name.startswith("[") for name in source.rows.collect_schema()):
        source = graded_cells(source)
    columns = source.rows.collect_schema().names()
    if set(columns) >= _EVENTS:
        source = _verdict_events(source)
    if not stated and repeats is None:
        if has_judgment_columns(columns) and not {f"{name}.1" for name in VALUES} & {*columns}:
            return source
        path = source.where.get("file")
        if isinstance(path, str) and not source.files[1:] and (log := log_refusal(path)):
            raise log
        if source.piped:
            _refuse_piped_log(source.piped)
    stated = stated or {}
    if COUNT not in stated and not {*VALUES} & {*stated} and (place := one_of_several(source)):
        stated = {**stated, COUNT: place}
    source, stated = one_row_a_reply(source, stated)
    _refuse_words_as_judges(source, stated)
    source, stated = _sheet_rows_without_keys(source, stated)
    if stated:
        begin = source.rows.head(SAMPLE).collect(engine="streaming")
        stated = _columns_stated_by_role(stated, source, begin.columns)
        for role, place in stated.items():
            _check_stated_column_place(place, role, source, begin)
    if repeats is not None:
        _check_repeats(repeats, source, {*columns, *(stated or {})})
    meaning = meaning_of(source.rows, stated, repeats=repeats, missing=missing)
    meaning = _with_marks(source, meaning)
    _refuse_counts(source, meaning)
    if not meaning.is_whole:
        if source.rows.head(1).collect().is_empty():
            raise SweepError("the file of judgments has no rows", where=source.where)
        raise _unreadable_sheet_refusal(source, meaning, columns)
    if meaning.is_numbered and not source.by_file and not _paths_name_files(source):
        raise ColumnsMissing(
            "the files are of one table each, and no column says what tells them apart",
            where=source.where,
            hint=files_apart(columns),
        ).of(meaning)
    found = laid_out(source, meaning)
    tells = telling if meaning.counts_rows else splitting
    if names := tells(found.rows, meaning.telling) or _document_keys_column(source, meaning):
        raise ColumnsMissing(
            f"rows of one item {'may ' * (names == [ENTRY])}differ in column"
            f"{'s' * (len(names) > 1)} {quote_names(names)}, not read: they may be no repeats",
            where=source.where,
            hint=_telling_hint(names, meaning, found.rows),
        ).of(meaning)
    inside = [name for name in meaning.telling if name not in columns]
    lines = [] if meaning.counts_rows else _answers_line(found, meaning)
    return replace(found, rows=found.rows.drop(inside), notes=(*found.notes, *lines))


def _refuse_words_as_judges(source: Source, stated: Mapping[str, str]) -> None:
    """Refuse a column of judges that holds verdicts: each would be one who agrees with itself."""
    if "judge" in stated:
        return
    has_value = bool({*VALUES} & {*stated})
    named = [one for one in source.rows.collect_schema() if "judge" in roles_of(one)
             and one not in stated.values() and (one == "judge" or not has_value)]  # fmt: skip
    if not named:
        return
    begin = source.rows.head(SAMPLE).collect(engine="streaming")
    for name in named:
        if is_nested(begin[name].dtype) or not names_nobody(
            begin, begin[name].cast(pl.String, strict=False).drop_nulls(), stated
        ):
            continue
        hint = f"{column_flag('verdict', name)}, where the judge said it"
        rest = meaning_of(source.rows, {"note": name})
        if rest.ways or "verdict or score" not in rest.lacking:
            others = [one for one in begin.columns if one != name and "judge" in roles_of(one)]
            also = ""
            answered = [*stated, *chain.from_iterable(map(roles_of, begin.columns))]
            if len(others) == 1 and "responder" not in answered:
                also = f" {column_flag('responder', others[0])}"  # which tells rows apart as well
            hint += f"; {column_flag('judge', name)}{also}, where it says who judged; "
            hint += f"{column_flag('note', name)}, where it is not to be read"
        problem = f"column {name} holds verdicts, and names nobody"
        raise SweepError(problem, where=source.where, hint=hint)


def _document_keys_column(source: Source, meaning: Meaning) -> list[str]:
    """The column of a document's keys, where several records have one and nothing reads it."""
    if ENTRY not in meaning.unused or not any(note.endswith(ENTRY) for note in source.notes):
        return []
    entries = source.rows.select(pl.col(ENTRY)).collect().to_series()
    return [ENTRY] if entries.n_unique() < entries.len() else []


def _with_marks(source: Source, meaning: Meaning) -> Meaning:
    """The meaning with the way to read columns of 0 and 1 of which each row has one 1.

    One of them alone is refused as the verdict: it would join all that the others tell apart.
    """
    read = next((role for role in VALUES if role in meaning.columns), None)
    if read in meaning.stated or meaning.siblings or COUNT in meaning.stated:
        return meaning
    place, marks = marks_of_one(source)
    if place is None or (read and meaning.columns[read] not in marks):
        return meaning
    if read is None:
        return replace(meaning, ways=((COUNT, place), *meaning.ways))
    raise ColumnsMissing(
        f"each row has one 1 in the columns {quote_names(marks)}, which may name its verdict",
        where=source.where,
        hint=f"{column_flag(COUNT, place)}, where they do; "
        f"{column_flag(read, meaning.columns[read])}, where it is of that column alone",
    ).of(replace(meaning, ways=((COUNT, place),), columns={
        role: one for role, one in meaning.columns.items() if role != read
    }))  # fmt: skip


def _refuse_counts(source: Source, meaning: Meaning) -> None:
    """Refuse rows that count replies: ``n_yes`` beside ``n_no``, or a verdict and how often."""
    free = {name: what for name in meaning.unused if (what := counted_in(name)) is not None}
    if not free:
        return
    begin = source.rows.head(SAMPLE).collect(engine="streaming")
    free = {name: what for name, what in free.items() if _are_counts(begin[name])}
    each = [name for name, what in free.items() if what and not is_aggregate(what)]
    verdict = meaning.columns.get("verdict", "")
    key = [place for role, place in meaning.columns.items() if role in key_in(meaning.columns)]
    if "verdict or score" in meaning.lacking and len(each) >= _SEVERAL:
        names, also = each, ""
        patterns = {name.replace(str(free[name]), BY_VERDICT) for name in each}
        ways = [column_flag(COUNT, one) for one in sorted(patterns)][: len(patterns) == 1]
    elif (
        verdict in begin.columns and "" in free.values() and {*key} <= {*begin.columns}
        and not begin.select(pl.struct(*key, verdict).is_duplicated().any()).item()
        and not {*meaning.columns.values()} & {*free}
    ):  # fmt: skip
        names = [name for name, what in free.items() if what == ""]
        ways = [column_flag(COUNT, names[0])]
        also = f"; {column_flag('note', names[0])}, where it counts something else"
    else:
        return
    how = f"{ways[0]} reads one row a reply" if ways else "a table of one row a reply"
    raise ColumnsMissing(
        f"the rows are aggregated: {quote_names(names)} may be numbers of replies",
        where=source.where, hint=f"{how}{also}",
    ).of(meaning)  # fmt: skip


def _are_counts(column: pl.Series) -> bool:
    """Whether all of a column are whole numbers from 0 on, some above 1."""
    number = column.cast(pl.String, strict=False).cast(pl.Float64, strict=False)
    is_whole = (number == number.floor()) & (number >= 0)
    return column.len() > 0 and bool(is_whole.fill_null(False).all() and (number > 1).any())


def _answers_line(found: Source, meaning: Meaning) -> list[str]:
    """Say that the text of an answer is another one in every repeat, where one is not read."""
    names = found.rows.collect_schema().names()
    texts = [one for one in meaning.unused if one in names and is_answer(one)]
    if not texts or not {"item_id", REPLICATION} <= {*names}:
        return []
    cells = found.rows.select(*key_in(names), *texts).head(SAMPLE).collect(engine="streaming")
    each = cells.group_by(key_in(names)).agg(pl.len().alias("__n"), pl.col(texts).n_unique())
    each = each.filter(pl.col("__n") > 1)
    differing = [one for one in texts if each.height and (each[one] == each["__n"]).all()]
    return [
        f"{one} is another one in every repeat: where it is the answer that was judged, numbers "
        "are of answers and judge together" for one in differing
    ]  # fmt: skip


def _sheet_rows_without_keys(
    source: Source, stated: Mapping[str, str] | None
) -> tuple[Source, Mapping[str, str] | None]:
    """Rows whose judgments are no longer below keys that tell them apart, and where they are."""
    columns = source.rows.collect_schema().names()
    for role, place in (stated or {}).items():
        column, rest = parted(place, columns)
        first = next((n for n, part in enumerate(rest) if facets_in(part)), None)
        if role not in VALUES or column not in columns or first is None:
            continue
        if first:
            return _sheet_rows_without_keys(lifted(source, column, rest[:first]), stated)
        if facets_in(rest[0]):
            [facts, *_] = facets_in(rest[0])
            source = unkeyed(source, column, facts)
            return _sheet_rows_without_keys(
                source, {**(stated or {}), role: ".".join([column, *rest[1:]])}
            )
    # A role may stand for the place that it is read from.
    meant = {role: place for role, place in (stated or {}).items() if role in VALUES}
    if any(place in columns or place not in VALUES for place in meant.values()):
        return source, stated
    objects = keyed(source.rows.head(SAMPLE).collect(engine="streaming"))
    known = [(column, facts, *rest) for column, (facts, *rest) in objects.items() if facts]
    if len(objects) != 1 or not known or {known[0][1], *VALUES} & {*columns} - {known[0][0]}:
        return source, stated
    [(column, facts, role, below)] = known
    role = next(iter(meant), role)
    if not meant and (beside := _values_beside(source, column, below)):
        other = column_flag(beside[0], f"{column}.{{{facts}}}.{beside[1]}")
        note = f"{column}: {below[1:]} is read, {beside[1]} beside it is not: {other} reads it"
        source = replace(source, notes=(*source.notes, note))
    return _sheet_rows_without_keys(
        source, {**(stated or {}), role: f"{column}.{{{facts}}}{below}"}
    )


def _values_beside(source: Source, column: str, below: str) -> tuple[str, str] | None:
    """A verdict or score beside the one that is read below keys: its role and its name."""
    cells = source.rows.select(column).head(_FEW).collect(engine="streaming").to_series()
    keyed_objects = [one for row in values_at(cells, []) for one in row if isinstance(one, dict)]
    inside = [one for each in keyed_objects for one in each.values() if isinstance(one, dict)]
    for name in dict.fromkeys(key for one in inside for key in one):
        if f".{name}" != below and (roles := [one for one in VALUES if one in roles_of(name)]):
            return roles[0], name
    return None


def _columns_stated_by_role(
    stated: Mapping[str, str], source: Source, columns: Sequence[str]
) -> dict[str, str]:
    """What is stated, a role that is no column in place of the column that is read as it."""
    cut = {role: place.partition(":") for role, place in stated.items() if place not in columns}
    unknown = {one for one, *_ in cut.values() if one in VALUES and one not in columns}
    if not unknown:
        return {**stated}
    read = meaning_of(source.rows).columns
    named = {role: read.get(one, one) + "".join(rest) for role, (one, *rest) in cut.items()
             if one in unknown}  # fmt: skip
    return {**stated, **named}


def _paths_name_files(source: Source) -> bool:
    """Whether parts of their paths tell several files apart: ``judge=NAME``."""
    folders = [tuple(part for part in Path(file).parts[:-1] if "=" in part)
               for file in source.files]  # fmt: skip
    return len(folders) < 2 or len(set(folders)) == len(folders)


def _telling_hint(names: Sequence[str], meaning: Meaning, rows: pl.LazyFrame) -> str:
    """What columns may be in which rows of one item differ."""
    item, name = meaning.columns.get("item_id"), names[0]
    plain = [one for one in (item, *names) if one and "." not in one and ":" not in one]
    asked = []
    if item and len(plain) > len(names):  # all of them may stand in one column of the item
        what = "they are" if len(names) > 1 else "it is"
        asked.append(f"{column_flag('item_id', ','.join(plain))}, where {what} of the question")
    if is_answer(name.rpartition(".")[2]):
        asked.append(f"{column_flag('reply', name)}, where the judge wrote it in a repeat")
        return "; ".join(asked)
    if called_of(name) == "value":
        asked.append(f"{column_flag('verdict', name)}, where it is what the judge said")
    where = (("template", "names a prompt"), ("judge", "says who judged"),
             *([("responder", "says who answered")] if "judge" in roles_of(name) else []),
             (REPLICATION, "numbers repeats"), ("note", "tells nothing apart"))  # fmt: skip
    key = pl.struct(*key_in(rows.collect_schema().names()), name)
    twice = rows.select(key.is_duplicated().any()).collect(engine="streaming").item()
    taken = {*meaning.columns, *([REPLICATION] if twice else [])}
    taken |= {*meaning.siblings.facets} if meaning.siblings else set()
    if name.rpartition(".")[2] == "name" or is_named_element(name):
        asked.append(f"{column_flag('criterion', name)}, where it is what was judged by")
    if (answerer := _answerer(meaning)) and is_named_element(name):
        called = rows.select(pl.col(name).drop_nulls().unique()).collect(engine="streaming")
        place = 0 if facet_of(called.to_series()) == "judge" else len(asked)
        asked.insert(place, f"{column_flag('judge', name)} {answerer}, where it says who judged")
    asked += [
        f"{column_flag(role, name)}, where it {what}" for role, what in where if role not in taken
    ]
    return "; ".join(asked)


def _answerer(meaning: Meaning) -> str:
    """The flag by which a column that is read as the judge, and called a model, says who answered.

    Nothing where another column says who answered, or where the judge is stated.
    """
    place = meaning.columns.get("judge", "")
    is_free = not {"responder", "judge"} & {*meaning.stated} and "responder" not in meaning.columns
    return column_flag("responder", place) if is_free and is_plain_model(place) else ""


_EVENTS = {"event_id", "sample_id", "type", "data"}
"""Columns of the events that OpenAI Evals records."""


def _verdict_events(source: Source) -> Source:
    """Those events that hold a verdict or a score; all where several types do, or none."""
    event = pl.col("type")
    counts = source.rows.group_by(event).len("n").sort("n", descending=True).collect()
    held = []
    for kind in counts["type"].drop_nulls():
        data = source.rows.filter(event == kind).select("data").head(_FEW).collect()["data"]
        for place in leaves(data):
            is_value = set(roles_of(place.rpartition(".")[2])) & set(VALUES)
            path = place.split(".")[1:]
            if is_value and any(one is not None for row in values_at(data, path) for one in row):
                held.append(kind)
                break
    if len(held) != 1:
        return source
    rest = counts.filter(event.is_null() | (event != held[0])).iter_rows()
    listed = ", ".join(f"{kind or 'without a type'} ({n:,})" for kind, n in rest)
    note = f"read events of type {held[0]}, which hold verdicts; left out: {listed}"
    rows = source.rows.filter(event == held[0])
    return replace(source, rows=rows, notes=(*source.notes, note), indexed=False)


def with_its_sheet(path: str, stated: Mapping[str, str] | None = None) -> str:
    """The path with the sheet of a workbook that holds judgments: ``book.xlsx#Judgments``.

    Several do where their names number repeats, or a column `sheet` is stated, which tells them
    apart. ColumnsMissing where several may hold them, and nothing says which.

    Examples
    --------
    >>> with_its_sheet("log.csv")
    'log.csv'
    """
    kind, packed = kind_of(path)
    if kind not in WORKBOOKS or not Path(path).is_file():
        return path
    where = {"file": path}
    with readable(where):
        sheets = sheets_as_csv(unpacked(read_bytes(path), packed, where), where)
    fitting = {name: found for name, one in sheets.items() if (found := _judgment_columns(one))}
    if len(sheets) < _SEVERAL or not fitting:
        return path
    # A sheet that goes by the same kind of name holds the same kind of thing, whatever it says.
    stems = {_stem_of(name) for name in fitting}
    alike = [name for name in sheets if name in fitting or _stem_of(name) in stems]
    columns = fitting[next(iter(fitting))]
    are_one = len(fitting) == len(alike) and all({*one} == {*columns} for one in fitting.values())
    if len(alike) == 1 or (are_one and (
        SHEET in (stated or {}).values() or repeats_by_sheet(alike, columns)
    )):  # fmt: skip
        return f"{path}#{','.join(alike)}"
    ones = " or ".join(quote(f"{path}#{name}") for name in alike[:_MOST_QUOTED])
    every = (
        f"{column_flag('judge', SHEET)}, where each is of a judge; "
        f"{column_flag(REPLICATION, SHEET)}, where each is a repeat; or one alone: "
    )
    raise SweepError(
        f"several sheets may hold the judgments: {', '.join(alike)}",
        where=where, hint=f"{every * are_one}{ones}",
    )  # fmt: skip


def _stem_of(sheet: str) -> str:
    """What a sheet's name has in common with others of its kind: all but numbers, or a model."""
    return "{judge}" if JUDGES.search(sheet) else re.sub(r"\d+", "#", sheet)


def _judgment_columns(content: bytes) -> list[str]:
    """The columns of a sheet that may hold judgments; none of any other sheet."""
    try:
        rows = without_stray_rows(Source(rows=read_delimited(content, {})[0])).rows
        columns = rows.collect_schema().names()
        return columns if has_judgment_columns(columns) or not meaning_of(rows).lacking else []
    except SweepError:
        return []


_LOGS = "judgerel_ray.importers.logs.asked:log_name"
"""Who knows the logs of tools, a room above: asked by its name, of a table with foreign columns."""


def log_refusal(path: str) -> SweepError | None:
    """Make the refusal of a tool's log, which is imported: its columns mean what its tool says."""
    if kind_of(path)[0] in (*SEPARATORS, ".parquet"):  # no tool's, so that none need be loaded
        return None
    name = resolve_name(_LOGS)(path)
    return name and SweepError(
        f"a log of {name} is imported first",
        where={"file": path},
        hint=f"judgerel import auto {quote(path)} --out judgments.parquet",
    )


def _refuse_piped_log(content: bytes) -> None:
    """Refuse a tool's log that came without a name; its format is told by a file of it."""
    with TemporaryDirectory() as folder:
        for ending in (".json", ".jsonl"):
            path = Path(folder, f"log{ending}")
            path.write_bytes(content)
            if log_refusal(str(path)):
                raise SweepError(
                    f"a log of {resolve_name(_LOGS)(str(path))} is imported first",
                    where={"file": "standard input"},
                    hint=f"write it to log{ending} in place of the pipe, then judgerel import auto "
                    f"log{ending} --out judgments.parquet",
                )


def has_judgment_columns(columns: Sequence[str]) -> bool:
    """Whether the columns that judgments need have their own names."""
    return {"item_id", REPLICATION} <= set(columns) and bool(set(VALUES) & set(columns))


def _check_stated_column_place(place: str, role: str, source: Source, begin: pl.DataFrame) -> None:
    """Refuse a place that is stated and not there, or that holds objects or lists."""
    if place in begin.columns:
        if is_nested(begin[place].dtype) or role in _SINGLE:
            refuse_inside(begin[place], name=role, where=source.where)
        return
    if facts := facets_in(place):
        return _check_facts(place, facts, role, source, begin.columns)
    _check_columns(place, role, begin.columns, source.where)
    names, sign, pattern = place.partition(":")
    if sign:
        _check_pattern(pattern)
    for one in names.split(","):
        column, path = parted(one, begin.columns)
        if path and (sign or "," in names):
            raise SweepError(
                f"{place!r} joins or cuts columns, and {one!r} stands inside cells",
                where=source.where,
                hint="a table with that value in a column of its own",
            )
        if path:
            _check_path(one, role, source, begin[column], path)


def _check_facts(
    place: str, facts: Sequence[str], role: str, source: Source, columns: Sequence[str]
) -> None:
    """Refuse braces that tell nothing that judgments have, or beside what is told already."""
    there = [name for name in facts if name in columns]
    if role not in VALUES or there or not set(facts) <= {"item_id", REPLICATION, *FACETS}:
        raise SweepError(
            f"{place!r} tells {' and '.join(facts)} by names of columns or keys, for {role}"
            + (f", and a column {there[0]} is there" if there else ""),
            where=source.where,
            hint="verdict or score, with judge, criterion, replication, option_order, responder or "
            "item_id in braces: --column 'score={judge}_{criterion}'",
        )
    if not names_by_pattern(place, columns):
        raise SweepError(f"no column is like {place!r}, got {quote_names(columns)}",
                         where=source.where)  # fmt: skip


def _check_columns(
    place: str, role: str, columns: Sequence[str], where: Mapping[str, object]
) -> None:
    """Refuse columns that are stated and not there."""
    for one in place.partition(":")[0].split(","):
        if place not in columns and parted(one, columns)[0] not in columns:
            near = get_close_matches(one, columns, n=1)
            raise SweepError(
                f"no column {one!r} for {role}, got {quote_names(columns)}",
                where=where,
                hint=column_flag(role, near[0]) if near else None,
            )


def check_first_line(path: object, stated: Mapping[str, str], *, by_row: bool) -> None:
    """Refuse a column that is stated and that a file does not name, before its rows are read."""
    columns = first_line(path) if stated and isinstance(path, str) else None
    for role, place in stated.items():
        if (
            columns is not None and place.partition(":")[0] not in VALUES and not facets_in(place)
        ):  # which may stand for the column read as it
            _check_columns(place, role, [*columns, *["item_id"] * by_row], {"file": path})


def _check_path(
    place: str, role: str, source: Source, cells: pl.Series, path: Sequence[str]
) -> None:
    """Refuse a place inside cells that is in none of them, or that holds objects or lists."""
    values = [one for row in values_at(cells, path) for one in row if one is not None]
    if not values:
        inside = leaves(cells)
        near = get_close_matches(place, inside, n=1)
        got = f"it holds {', '.join(inside)}" if inside else "it holds no objects"
        raise SweepError(
            f"no value of column {cells.name} has {'.'.join(path)!r}, {got}",
            where=source.where,
            hint=column_flag(role, near[0]) if near else None,
        )
    if any(isinstance(one, dict | list) for one in values):
        refuse_inside(values_series(place, values), name=role, where=source.where)


def _check_pattern(pattern: str) -> None:
    """Refuse a regular expression that Polars does not take, or without a group."""
    try:
        groups = re.compile(pattern).groups
        _ = pl.select(pl.lit("").str.extract(pattern, 1))
    except (re.error, PolarsError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise SweepError(f"no regular expression: {pattern!r}: {reason}") from error
    if groups < 1:
        raise SweepError(
            f"the regular expression {pattern!r} takes nothing out", hint=f"({pattern})"
        )


def _check_repeats(pattern: str, source: Source, taken: Collection[str]) -> None:
    """Refuse a pattern of repeats that no column is like, or beside what repeats give."""
    columns = source.rows.collect_schema().names()
    beside = [name for name in columns if fnmatchcase(name, pattern)]
    if not beside:
        raise SweepError(
            f"no column is like {pattern!r}, got {quote_names(columns)}", where=source.where
        )
    for name in beside:
        begin = source.rows.select(name).head(SAMPLE).collect(engine="streaming")
        refuse_inside(begin[name], name="verdict", where=source.where)
    if there := sorted({REPLICATION, *VALUES} & set(taken) - set(beside)):
        raise SweepError(
            f"repeats give {REPLICATION} and verdict or score, {' and '.join(there)} is there",
            where=source.where,
        )


def _keys_of(column: str, below: str) -> list[str]:
    """What keys of a column may tell, beside what those below them do."""
    named = {*_KEYS} & {*roles_of(column.removesuffix("s"))}
    return [one for one in _KEYS if one not in facets_in(below) and one in (named or _KEYS)]


def _list_ways(source: Source, meaning: Meaning) -> list[tuple[str, str]]:
    """Lists of single values that no name tells, all of whose elements may be judgments."""
    if "verdict or score" not in meaning.lacking:
        return []
    begin = source.rows.head(SAMPLE).collect(engine="streaming")
    found = []
    for name in begin.columns:
        if name not in meaning.columns and leaves(begin[name]) == [every := f"{name}.*"]:
            values = [one for row in values_at(begin[name], ["*"]) for one in row]
            is_number = all(isinstance(one, int | float) for one in values if one is not None)
            found.append(("score" if is_number else "verdict", every))
        elif name in meaning.unused and "*" not in "".join(places := leaves(begin[name])):
            # Of objects, single numbers; several of one are criteria.
            numbers = [one for one in places if _is_score(values_at(begin[name], _path(one, name)))]
            below = {f"{name}.{{criterion}}" if one.count(".") == name.count(".") + 1 else one
                     for one in numbers}  # fmt: skip
            found += [("score", one) for one in (sorted(below) if numbers[1:] else numbers)]
    return found


def _path(place: str, column: str) -> list[str]:
    """The path of a place inside a column's cells."""
    return place.removeprefix(f"{column}.").split(".")


def _is_score(rows: Sequence[Sequence[object]]) -> bool:
    """Whether single numbers stand in all cells, several of them."""
    values = [one for row in rows for one in row if one is not None]
    is_number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    return is_number and len({*map(str, values)}) > 1


def _places_of_items(source: Source, name: str) -> list[str]:
    """A column with a value in every row, and several; or such places inside its cells."""
    begin = source.rows.head(SAMPLE).collect()
    if name not in begin.columns:
        return []
    cells = begin[name]
    if not is_nested(cells.dtype):
        return [name] if cells.n_unique() > 1 and not cells.null_count() else []
    each = {
        one: [cell for row in values_at(cells, _path(one, name)) for cell in row]
        for one in leaves(cells) if "*" not in one
    }  # fmt: skip
    return [one for one, found in each.items() if len({*map(str, found)}) > 1 and None not in found]


def _unreadable_sheet_refusal(
    source: Source, meaning: Meaning, columns: Sequence[str]
) -> ColumnsMissing:
    """Why a table cannot be read as judgments, and the flags that would settle it."""
    values = [role for role in VALUES if role in meaning.open]
    objects = keyed(source.rows.head(SAMPLE).collect(engine="streaming"))
    inside = [one for one in _list_ways(source, meaning)
              if one[1].endswith("*") or parted(one[1], columns)[0] not in objects]  # fmt: skip
    facts = [*meaning.ways, *inside, *(
        (role, f"{column}.{{{one}}}{below}") for column, (known, role, below) in objects.items()
        for one in ([known] if known else _keys_of(column, below))
    )]  # fmt: skip
    facts += [(role, place.replace("{criterion}", "{responder}")) for role, place in facts
              if "}." in place and place.endswith("{criterion}")]  # fmt: skip
    ways = " or ".join(column_flag(role, place) for role, place in facts[:_MOST_QUOTED])
    if values:
        places = [(role, place) for role in values for place in meaning.open[role]]
        names = " and ".join(dict.fromkeys(place for _, place in places))
        problem = f"several columns may hold what the judge said: {names}"
        hint = ways or " or ".join(
            column_flag(role, place) for role, place in places[:_MOST_QUOTED]
        )
    elif meaning.open:
        part, found = next(iter(meaning.open.items()))
        problem = f"several columns may be {part}: {' and '.join(found)}"
        if "," in found[0]:
            problem = f"no column alone tells items apart, several do together: {found[0]}"
        may_join = part in ("item_id", REPLICATION)
        plain = may_join and not any({*".:,"} & {*one} for one in found)
        several = [*found, ",".join(found)] if plain else found
        if part == REPLICATION and "item_id" in meaning.lacking:
            part, several = "item_id", found  # one of them names items, as `sample` may
        hint = " or ".join(column_flag(part, place) for place in several[:_MOST_QUOTED])
    else:
        free = sorted(meaning.unused, key=lambda one: meaning.unused[one] != "no name of judgments")
        problem = f"column missing: {', '.join(meaning.lacking)}; got {quote_names(columns)}"
        wanted = [one.partition(" or ")[0] for one in meaning.lacking]
        some = quote_names(free) if free else "the table"
        flags = " ".join(f"--column {one}=COLUMN" for one in wanted)
        hint = f"{flags}, COLUMN one of {some}{DOCTOR}"
        if ways and ("item_id" not in wanted or "{item_id}" in ways):
            hint = ways
        elif "item_id" in wanted:
            taken = [place for _, place in facts]
            may = [
                place for one in free if facet_of([one]) is None and not is_aggregate(one)
                for place in _places_of_items(source, one)
            ]  # fmt: skip
            # Where all may be verdicts, the one with the most values names items.
            ids = [one for one in may if one not in taken] or [
                one for one in taken[:0:-1] if one in may
            ][:1]  # fmt: skip
            ids.sort(key=lambda one: (not is_question(one), is_side_column(one)))
            items = [column_flag("item_id", one) for one in ids]
            items = items[: _MOST_QUOTED - 1] or [f"{flags}, COLUMN one of {some};"]
            # The first item with each verdict, then what else may be the item.
            both = [f"{items[0]} {column_flag(role, place)}" for role, place in facts
                    if "{item_id}" not in place and place != ids[0]] if ids else []  # fmt: skip
            items += ["--item-by-row, where each row is an item"]
            hint = " or ".join([*both[:_MOST_QUOTED], *items[1:]] if both else items)
            hint += f"; {ways}" if ways and not both else ""
    return ColumnsMissing(problem, where=source.where, hint=hint).of(
        replace(meaning, ways=tuple(facts))
    )
