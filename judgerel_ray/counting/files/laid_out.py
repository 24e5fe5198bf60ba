"""Rows of a table laid out as judgments, by what its columns mean.

Plain columns are renamed without a pass over the rows; what stands inside cells or side by side is
unfolded, all of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.counting.columns import FACETS, is_no_value
from judgerel_ray.counting.files.cells import parted, values_at
from judgerel_ray.counting.files.layout import REPLICATION, SAMPLE, VALUES, Meaning, Siblings
from judgerel_ray.counting.files.names import (
    STATED,
    facet_of,
    facets_in,
    is_aggregate,
    is_metric,
    is_request,
    is_side_column,
    is_time,
    is_try,
    key_of,
    roles_of,
)
from judgerel_ray.counting.files.records import values_series
from judgerel_ray.counting.files.source import Source

_NUMBERED_TEXTS = (REPLICATION, "option_order")
_FIRST_ORDERS = ("ab", "original", "forward", "first", "normal", "false", "no", "default")
"""Words for the order in which options are listed."""
_MERGED = ("judge", "criterion")
_FEWEST_RUNS = 2
_THOUSANDS = r"^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$"
_BETWEEN_COMMAS = re.compile(r"\^\(\[\^,\]\+\)(,\?\(\[\^,\]\*\))+\$")  # ^([^,]+),?([^,]*)$
_SURELY_THOUSANDS = r",.*[,.]"  # of a comma alone nobody knows: 1,250 may be one and a quarter


def laid_out(source: Source, meaning: Meaning) -> Source:
    """The rows with the columns of judgments, and a line that says what was read as what.

    Examples
    --------
    >>> from judgerel_ray.counting.files.meaning import meaning_of
    >>> rows = pl.LazyFrame({"id": ["p", "q"], "run1": [3, 1], "run2": [4, 1]})
    >>> found = laid_out(Source(rows=rows), meaning_of(rows))
    >>> found.rows.collect().sort("item_id", "replication").rows()[:2]
    [('p', 3.0, 0), ('p', 4.0, 1)]
    >>> found.notes
    ('read id as item_id; run1, run2 as score, a replication each',)
    """
    notes = [*source.notes]
    rows = source.rows.drop({"outcome"} & {*meaning.unused})  # which holds something else
    copies: list[str] = []
    if meaning.is_numbered:
        rows, copies = _sheet_rows_without_copies(rows, meaning.columns)
        notes += copies
    rows, lines = _columns_unfolded_by_role(
        rows, {**meaning.columns, **_inside_cells(rows, meaning.telling)}
    )
    notes += lines
    if meaning.siblings is not None:
        rows = _sibling_columns_stacked(rows, meaning.siblings)
    names = rows.collect_schema().names()
    # As cells are merged from the begin on, what has none there is looked at no further.
    merged = [name for name in (*_MERGED, "item_id") if name in names]
    if any(rows.head(SAMPLE).select(_is_blank(name).any() for name in merged).collect().row(0)):
        if not meaning.is_numbered and meaning.siblings is None:
            rows, lines = _without_nothing(
                rows, {*meaning.columns} & {"item_id", REPLICATION, *VALUES}
            )
            notes += lines
        rows, lines = _facets_filled_down(rows, [name for name in merged if name != "item_id"])
        rows, line = filled_down(rows, names)
        notes += [*lines, *([] if line is None else [line])]
    if is_try(meaning.columns.get(REPLICATION, "")):
        rows, lines = _tries_left_out(rows, names)
        notes += lines
    if meaning.is_numbered:
        rows = rows.with_columns(pl.int_range(pl.len()).over(key_in(names)).alias(REPLICATION))
    of_line = meaning
    if source.held:
        held = rows.collect(engine="in-memory")
        rows = held.lazy()
        if meaning.is_numbered and not (held[REPLICATION] > 0).any():
            of_line = replace(meaning, is_numbered=False)  # nothing repeats
    notes += filter(None, [of_line.line()])
    # Columns that are renamed alone keep the ranges that their file knows.
    names = source.rows.collect_schema().names()
    is_renamed = all(place in names for place in meaning.columns.values())
    is_made = copies or meaning.is_numbered or meaning.siblings is not None or not is_renamed
    return replace(
        source, rows=rows, notes=tuple(notes), indexed=source.indexed and not is_made,
        is_foreign=True, item=meaning.columns.get("item_id", "item_id"),
    )  # fmt: skip


def keyed(begin: pl.DataFrame) -> dict[str, tuple[str | None, str, str]]:
    """Columns of objects whose keys tell one thing: which, if known; what stands below, and where.

    Examples
    --------
    >>> keyed(pl.DataFrame({"id": ["p"], "scores": ['{"gpt-4o": 1, "claude-3": 0}']}))
    {'scores': ('judge', 'score', '')}
    """
    found: dict[str, tuple[str | None, str, str]] = {}
    for column in begin.head(SAMPLE).iter_columns():
        single = key_of(column.name).removesuffix("s")
        roles = {*roles_of(single)}
        roles_here = {"judge", REPLICATION, "criterion"} & roles - {*roles_of(column.name)}
        if not (roles_here or {*VALUES} & roles or single == "feedback"):
            continue
        if column.dtype == pl.String:  # no other text holds an object
            column = column.filter(column.str.contains("{", literal=True))
        objects = [one for one, *_ in values_at(column, []) if isinstance(one, dict)]
        keys = list(dict.fromkeys(key for one in objects for key in one))
        inner = [value for one in objects for value in one.values() if value is not None]
        if not inner or any(roles_of(key) or is_side_column(key) for key in keys):
            continue
        facts = roles_here.pop() if roles_here else facet_of(_sheet_keys_not_aggregate(keys)) or (
            "criterion" if single == "feedback" else None
        )  # fmt: skip
        below = _judgment_place_below_key(inner[0])
        if below is None or (len(keys) < _FEWEST_RUNS and facts is None):
            continue
        deep = [one for cell in inner for one in _sheet_values_below_key(cell, below)]
        texts = pl.DataFrame({"text": [str(one) for one in deep]}).filter(
            ~is_no_value(pl.col("text"))
        )
        is_rated = texts.height > 0 and not texts["text"].cast(pl.Float64, strict=False).has_nulls()
        of_name = {*VALUES} & {*roles_of(below.rpartition(".")[2]), *roles}
        is_rated |= below != "" and "score" in of_name
        if below.endswith("{criterion}") and not all(
            map(is_metric, _sheet_keys_below_place(inner[0], below))
        ):
            facts = None  # who answered, say: which, only the user knows
        found[column.name] = (facts, "score" if is_rated else "verdict", below)
    return found


def _sheet_keys_not_aggregate(keys: Sequence[str]) -> list[str]:
    """Keys without those of what is computed of the others."""
    return [key for key in keys if not is_aggregate(key)] or [*keys]


def _judgment_place_below_key(value: object) -> str | None:
    """Where a judgment stands below a key; None where nothing tells."""
    if isinstance(value, dict):
        named = [key for key in value if {*VALUES} & {*roles_of(key)}]
        facts = facet_of(value)
        if named or facts:
            return f".{named[0]}" if named else f".{{{facts}}}"
        for key, one in value.items():
            single = key.removesuffix("s")
            if isinstance(one, dict) and one and {*VALUES, "criterion"} & {*roles_of(single)}:
                return f".{key}{_judgment_place_below_key(one) or '.{criterion}'}"
        return None
    return ".*" if isinstance(value, list) else ""


def _sheet_keys_below_place(value: object, below: str) -> list[str]:
    """The keys of the object in which the last part of a place below a key stands."""
    for part in below.split(".")[1:-1]:
        value = value.get(part) if isinstance(value, dict) else None
    return [*value] if isinstance(value, dict) else []


def _sheet_values_below_key(value: object, below: str) -> list[object]:
    """The values at a place below a key, of all keys where it has braces."""
    parts = [one for one in below.split(".") if one]
    if not parts or not isinstance(value, dict):
        return [value]
    each = value.values() if facets_in(parts[0]) else [value.get(parts[0])]
    return [deep for one in each for deep in _sheet_values_below_key(one, ".".join(parts[1:]))]


def lifted(source: Source, column: str, path: Sequence[str]) -> Source:
    """The rows with what stands at a path inside a column as a column of its own.

    Examples
    --------
    >>> rows = pl.LazyFrame({"by": ['{"scores": {"tone": 1}}']})
    >>> lifted(Source(rows=rows), "by", ["scores"]).rows.collect()["by.scores"].to_list()
    ['{"tone": 1}']
    """
    table = source.rows.collect(engine="streaming")
    name = ".".join([column, *path])
    cells = values_series(name, [next(iter(one), None) for one in values_at(table[column], path)])
    return replace(source, rows=table.with_columns(cells).lazy(), indexed=False)


def unkeyed(source: Source, column: str, facts: str) -> Source:
    """The rows, one for each key of the objects in a column, whose keys tell a facet.

    Examples
    --------
    >>> rows = pl.LazyFrame({"id": ["p"], "scores": ['{"gpt-4o": 1, "claude-3": 0}']})
    >>> unkeyed(Source(rows=rows), "scores", "judge").rows.collect().rows()
    [('p', 1, 'gpt-4o'), ('p', 0, 'claude-3')]
    """
    table = source.rows.collect(engine="streaming")
    cells = [one for one, *_ in values_at(table[column], [])]
    each = [(row, key, value) for row, cell in enumerate(cells) if isinstance(cell, dict)
            for key, value in cell.items()]  # fmt: skip
    every = list(dict.fromkeys(key for _, key, _ in each))
    kept = every if facts in ("criterion", "item_id") else _sheet_keys_not_aggregate(every)
    each = [one for one in each if one[1] in kept]
    values = values_series(column, (value for _, _, value in each))
    keys = pl.Series(facts, [key for _, key, _ in each], dtype=pl.String)
    rows = table[[row for row, _, _ in each]].with_columns(values, keys).lazy()
    notes = [f"read the keys of {column} as {facts}"]
    if left := [key for key in every if key not in kept]:
        notes.append(f"{column}: left out {', '.join(left)}, computed of the others")
    if empty := values.null_count():
        notes.append(f"{column}: {count_of(empty, 'key')} without a value: no verdict")
    if none := sum(not isinstance(cell, dict) for cell in cells):
        notes.append(f"{column}: {count_of(none, 'row')} without an object left out")
    return replace(source, rows=rows, notes=(*source.notes, *notes), indexed=False)


def key_in(names: Collection[str]) -> list[str]:
    """What judgments of one prompt have in common, as far as columns say."""
    return [name for name in ("item_id", *FACETS) if name in names]


def _sheet_rows_without_copies(
    rows: pl.LazyFrame, columns: Mapping[str, str]
) -> tuple[pl.LazyFrame, list[str]]:
    """Rows of one request once, with the line that says so; all where no column tells requests.

    An id of the request does, and so does a time of day, where no two rows that differ share it.
    """
    schema = rows.collect_schema()
    named = [name for name in schema if is_request(name) or is_time(name)]
    if not named:
        return rows, []
    once = rows.unique(maintain_order=True)
    n_rows, n_left = (
        one.select(pl.len()).collect(engine="streaming").item() for one in (rows, once)
    )
    key = [place for role, place in columns.items() if place in schema and role in key_in(columns)]
    if n_left == n_rows or not any(_is_of_request(once, name, key) for name in named):
        return rows, []
    left = count_of(n_rows - n_left, "row")
    return once, [f"{left} equal in every column to an earlier one, the time or the id of the "
                  "request among them, left out as copies"]  # fmt: skip


def _is_of_request(once: pl.LazyFrame, name: str, key: Sequence[str]) -> bool:
    """Whether a column tells requests apart, in rows of which no two are equal."""
    text = pl.col(name).cast(pl.String)
    # A day or the time of a batch is that of many requests.
    is_clock = text.str.contains(r"\d:\d\d|^\d{9,}")
    facts = once.select(
        again=pl.struct(*key, name).is_duplicated().any(), clock=is_clock.all(),
        n=pl.col(name).n_unique(), of=pl.struct(*key).n_unique() if key else pl.lit(1),
    ).collect(engine="streaming").row(0, named=True)  # fmt: skip
    if facts["again"]:
        return False
    return is_request(name) or bool(facts["clock"] and facts["n"] >= facts["of"])


def _without_nothing(rows: pl.LazyFrame, names: Collection[str]) -> tuple[pl.LazyFrame, list[str]]:
    """Rows without an item, a repeat and a verdict left out: they say something of the file."""
    nothing = pl.all_horizontal(is_no_value(pl.col(name).cast(pl.String)) for name in names)
    nothing = nothing.fill_null(True)
    n = rows.select(nothing.sum()).collect(engine="streaming").item()
    left = f"{count_of(n, 'row')} without an item, a repeat and a verdict, left out"
    return (rows.filter(~nothing), [left]) if n else (rows, [])


def _facets_filled_down(rows: pl.LazyFrame, names: Sequence[str]) -> tuple[pl.LazyFrame, list[str]]:
    """Judges and criteria of merged cells filled down, where each is named once, or in each item.

    Rows without a name go on with the item above them then, no name stands below itself, and filled
    in, no two rows hold the same replication.
    """
    lines = []
    item = _is_blank("item_id")
    goes_on = item | (pl.col("item_id") == pl.col("item_id").shift(1)).fill_null(False)
    for name in names:
        blank = _is_blank(name)
        facts = rows.select(
            blank.sum().alias("n"), blank.first().alias("first"), pl.len().alias("of"),
            pl.col(name).filter(~blank).is_duplicated().any().alias("again"),
            odd=pl.when(blank).then(~goes_on)
            .otherwise(goes_on & (pl.col(name) == pl.col(name).shift(1)).fill_null(False)).any(),
        )  # fmt: skip
        n, first, of, again, odd = facts.collect(engine="streaming").row(0)
        if not n or first:
            continue
        text = pl.when(~blank).then(pl.col(name).cast(pl.String)).forward_fill()
        filled = rows.with_columns(text.alias(name))
        is_merged = not again or (not odd and not _holds_one_twice(filled))
        if is_merged and (n >= of - n or _holds_one_twice(rows)):
            rows = filled
            cells = count_of(n, "empty cell")
            lines.append(f"{name}: {cells} filled from the row above, as merged cells")
    return rows, lines


def _holds_one_twice(rows: pl.LazyFrame) -> bool:
    """Whether two rows of named items hold the same numbered replication."""
    names = rows.collect_schema().names()
    if not {"item_id", REPLICATION} <= {*names}:
        return False
    has = ~_is_blank("item_id") & ~_is_blank(REPLICATION)
    key = pl.struct(*key_in(names), REPLICATION)
    return bool(rows.filter(has).select(key.is_duplicated().any()).collect().item())


def _is_blank(name: str) -> pl.Expr:
    """Whether a cell is empty, or holds blanks alone."""
    text = pl.col(name).cast(pl.String)
    return text.is_null() | (text.str.strip_chars() == "")


def _tries_left_out(rows: pl.LazyFrame, names: Sequence[str]) -> tuple[pl.LazyFrame, list[str]]:
    """Attempts without a verdict left out where another has one; none of which two have: repeats.

    Empty replies among repeats are the judge's, and count in its rate of valid ones.
    """
    has = pl.any_horizontal(
        ~is_no_value(pl.col(name).cast(pl.String)).fill_null(True)
        for name in VALUES if name in names
    )  # fmt: skip
    n_filled = has.sum().over(key_in(names))
    if rows.select((n_filled > 1).any()).collect(engine="streaming").item():
        return rows, []
    kept = rows.filter(has | (n_filled == 0))
    n_rows, n_kept = (one.select(pl.len()).collect(engine="streaming").item()
                      for one in (rows, kept))  # fmt: skip
    if n_kept == n_rows:
        return rows, []
    left = count_of(n_rows - n_kept, "row")
    return kept, [f"{left} without a verdict beside another attempt that has one, left out"]


def splitting(rows: pl.LazyFrame, places: Sequence[str]) -> list[str]:
    """Places by which the numbers of repeats are split: 1 and 2 of one value, 3 and 4 of another.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 4, "replication": [1, 2, 3, 4],
    ...                      "version": ["a", "a", "b", "b"], "seed": [5, 6, 7, 8]})
    >>> splitting(rows, ["version", "seed"])
    ['version']
    """
    names = rows.collect_schema().names()
    free = [name for name in places if name in names]
    if not free or REPLICATION not in names:
        return []
    cells = rows.select(*key_in(names), REPLICATION, *(pl.col(one).cast(pl.String) for one in free))
    inside, apart = (
        cells.group_by(key).agg(pl.col(free).n_unique()).select(pl.col(free).max())
        .collect(engine="streaming").row(0)
        for key in (key_in(names), [REPLICATION])
    )  # fmt: skip
    every = cells.select(pl.col(REPLICATION, *free).n_unique()).collect(engine="streaming").row(0)
    return [
        name for name, n, of_each, n_all in zip(free, inside, apart, every[1:], strict=True)
        if n and n > 1 and of_each == 1 and n_all < every[0]
    ]  # fmt: skip


def _inside_cells(rows: pl.LazyFrame, places: Sequence[str]) -> dict[str, str]:
    """Those places that are inside cells, as columns of their own."""
    there = rows.collect_schema().names()
    return {place: place for place in places if place not in there}


def telling(rows: pl.LazyFrame, places: Sequence[str]) -> list[str]:
    """Those of some places in which rows of one key differ; none where they are repeats.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "verdict": ["A", "A"], "version": [1, 2]})
    >>> telling(rows, ["version"])
    ['version']
    """
    names = rows.collect_schema().names()
    free = [name for name in places if name in names]
    if not free:
        return []
    cells = rows.select(*key_in(names), *(pl.col(name).cast(pl.String) for name in free))
    several = cells.group_by(key_in(names)).agg(pl.col(free).n_unique()).select(pl.col(free).max())
    varies = several.collect(engine="streaming").row(0)
    return [name for name, n in zip(free, varies, strict=True) if n and n > 1]


def _columns_unfolded_by_role(
    rows: pl.LazyFrame, columns: Mapping[str, str]
) -> tuple[pl.LazyFrame, list[str]]:
    """Columns by their roles, and what is to be said; elements of a list are a row each."""
    schema = rows.collect_schema()
    there = schema.names()
    plain = {
        role: _sheet_column_in_role(role, place, schema[place])
        if place in schema
        else _made_of(place)
        for role, place in columns.items()
        if place in there or _is_sheet_column_made(place, there)
    }
    inside = {role: parted(place, there) for role, place in columns.items() if role not in plain}
    gone = {place for role, place in columns.items() if place in there and role != place}
    gone |= {column for column, _ in inside.values()}
    rest = [name for name in there if name not in gone and name not in columns]
    cells = {f"__{role}": pl.col(column) for role, (column, _) in inside.items()}
    named = rows.select(*rest, *(one.alias(name) for name, one in {**plain, **cells}.items()))
    if not inside:
        return named, []
    table = named.collect(engine="streaming")
    found = {role: values_at(table[f"__{role}"], path) for role, (_, path) in inside.items()}
    notes = []
    for role, (column, path) in inside.items():
        if left := _n_cell_values_beside(table[f"__{role}"], path):
            every = ".".join([column, *("*" if one.isdecimal() else one for one in path)])
            notes.append(
                f"{columns[role]} leaves out {count_of(left, 'more value')} of the same lists; "
                f"--column {role}={every} reads all"
            )
    several = [role for role, (_, path) in inside.items() if "*" in path]
    counts = [max((len(found[role][row]) for role in several), default=1)
              for row in range(table.height)]  # fmt: skip
    if empty := counts.count(0):
        notes.append(f"{count_of(empty, 'row')} with an empty list: no judgment")
    for role in several:
        for row, n in enumerate(counts):
            values = found[role][row]
            if len(values) == 1 and values[0] is None:  # no list, of which others may be one
                found[role][row] = [None] * n
            elif len(values) != n:
                raise SweepError(
                    f"lists of one row differ in length: {columns[role]} has "
                    f"{count_of(len(values), 'value')}, another {n}",
                    where={"row": row + 1},
                )
    made = [
        values_series(role, (
            values[row][place if role in several else 0] if values[row] else None
            for row, n in enumerate(counts)
            for place in range(n)
        ))
        for role, values in found.items()
    ]  # fmt: skip
    places = pl.Series("__place", [place for n in counts for place in range(n)], dtype=pl.Int64)
    index = [row for row, n in enumerate(counts) for _ in range(n)]
    laid = table.drop(f"__{role}" for role in inside)[index].with_columns(*made, places)
    if several and REPLICATION in columns and REPLICATION not in inside:
        # A row is a repeat, and may have several judgments of one key.
        key = key_in(laid.columns)
        if laid.select(pl.struct(*key, REPLICATION).is_duplicated().any()).item():
            order = pl.struct(pl.col(REPLICATION), "__place").rank("dense").over(key)
            laid = laid.with_columns((order.cast(pl.Int64) - 1).alias(REPLICATION))
            notes.append(
                "each element of a list is a repeat, numbered in the order of rows and lists"
            )
    return laid.drop("__place").lazy(), notes


def _sheet_column_in_role(role: str, place: str, kind: pl.DataType) -> pl.Expr:
    """A column in its role; whether options were swapped is an order of them."""
    column = pl.col(place)
    return column.cast(pl.Int64) if role in _NUMBERED_TEXTS and kind == pl.Boolean else column


def _n_cell_values_beside(cells: pl.Series, path: Sequence[str]) -> int:
    """How many values a place leaves out that names one element of lists by its number."""
    if not any(one.isdecimal() for one in path):
        return 0
    every = ["*" if one.isdecimal() else one for one in path]
    taken, there = (
        sum(one is not None for row in values_at(cells, where) for one in row)
        for where in (path, every)
    )
    return max(there - taken, 0)


def _is_sheet_column_made(place: str, there: Sequence[str]) -> bool:
    """Whether a place is of several columns, or a part of one: ``set,item``, ``pair:^([^;]+)``."""
    names, sign, _ = place.partition(":")
    return all(name in there for name in names.split(",")) and bool(sign or "," in names)


def _made_of(place: str) -> pl.Expr:
    """Values of columns joined by colons, or what a regular expression takes out of a column.

    The first group of one is taken; of a pattern for parts between commas alone all, joined: commas
    between thousands.
    """
    names, sign, pattern = place.partition(":")
    texts = [pl.col(name).cast(pl.String) for name in names.split(",")]
    joined = texts[0] if len(texts) == 1 else pl.concat_str(texts, separator=":")
    if not sign:
        return joined
    first, *others = [joined.str.extract(pattern, n + 1) for n in range(pattern.count("("))]
    return first + pl.concat_str(others) if _BETWEEN_COMMAS.fullmatch(pattern) else first


def _sibling_columns_stacked(rows: pl.LazyFrame, siblings: Siblings) -> pl.LazyFrame:
    """Columns side by side, one below the other."""
    names = [*siblings.columns]
    rest = [name for name in rows.collect_schema().names() if name not in names]
    kinds = rows.collect_schema()
    is_rated = siblings.holds == "score" and all(kinds[name].is_numeric() for name in names)
    cell = pl.col(names).cast(pl.Float64) if is_rated else pl.col(names).cast(pl.String)
    cells = rows.with_columns(cell if is_rated else cell.str.strip_chars())
    long = cells.unpivot(names, index=rest, variable_name="__name", value_name="__value")
    long = long.rename({"__value": siblings.holds})
    for facet, facts in siblings.facets.items():
        is_number = facet in _NUMBERED_TEXTS and all(one.isdecimal() for one in facts)
        values = dict(zip(names, map(int, facts) if is_number else facts, strict=True))
        kind = pl.Int64() if is_number else pl.String()
        value = pl.col("__name").replace_strict(values, return_dtype=kind)
        long = long.with_columns(value.alias(facet))
    return long.drop("__name")


def as_numbers(rows: pl.LazyFrame) -> tuple[pl.LazyFrame, list[str]]:
    """Orders, repeats and scores that are written as text, as the numbers they are."""
    schema, notes = rows.collect_schema(), []
    for name in _NUMBERED_TEXTS:
        if schema.get(name) != pl.String:
            continue
        words = rows.select(pl.col(name).alias("t").unique(maintain_order=True))
        texts = words.filter(~is_no_value(pl.col("t"))).collect(engine="streaming").to_series()
        is_number = texts.cast(pl.Float64, strict=False).is_not_null()
        if len(texts) and not (is_number | texts.str.contains(_THOUSANDS)).any():
            listed = sorted(texts, key=lambda one: one.strip().lower() not in _FIRST_ORDERS)
            places = {text: place for place, text in enumerate(listed)}
            place = pl.col(name).replace_strict(places, default=None, return_dtype=pl.Int64)
            rows = rows.with_columns(place.alias(name))
            named = ", ".join(f"{text} as {place}" for text, place in [*places.items()][:4])
            notes.append(f"column {name}: read {named}{', ...' if len(places) > 4 else ''}")
    if schema.get("score") == pl.String:
        rows, lines = _stated_scores(rows)
        notes += lines
    return rows, notes


def _stated_scores(rows: pl.LazyFrame) -> tuple[pl.LazyFrame, list[str]]:
    """Scores that texts state as numbers: ``Score: 2/5``, ``1,5``; as they are where any does not.

    What is out of 5 stands beside no number above 5.
    """
    text = pl.col("score").str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    worded = ~is_no_value(text) & number.is_null()
    stated = text.str.extract(STATED, 2).str.replace(",", ".", literal=True)
    seen = rows.select(
        text.alias("t"), number.alias("bare"), worded.alias("worded"),
        stated.cast(pl.Float64, strict=False).alias("n"), text.str.extract(STATED, 3).alias("of"),
        text.str.extract(STATED, 1).str.to_lowercase().alias("word"),
        text.str.extract(STATED, 4).alias("percent"),
    ).collect(engine="streaming")  # fmt: skip
    bare, seen = seen["bare"].max(), seen.filter("worded")
    if seen["percent"].n_unique() > 1 or (bare is not None and not seen["percent"].is_null().all()):
        return rows, []  # of 80 % and .8 nobody knows what 1 is
    if not seen.height:
        return rows, []
    if seen["t"].str.contains(_THOUSANDS).all() and seen["t"].str.contains(_SURELY_THOUSANDS).any():
        note = f"score: read {seen['t'][0]!r} and others with commas between thousands"
        return rows.with_columns(text.str.replace_all(",", "", literal=True).alias("score")), [note]
    of = seen["of"].unique()
    several = len(of) > 1 or seen["word"].n_unique() > 1  # A: 3, B: 3
    if seen["n"].has_nulls() or several or seen["t"].str.contains(_THOUSANDS).any():
        return rows, []
    most = max(float(str(one)) for one in (bare, seen["n"].max(), -1) if one is not None)
    if of[0] is not None and most > float(of[0]):
        return rows, []
    out_of = f", all of them out of {of[0]}" if of[0] is not None else ""
    return rows.with_columns(pl.when(worded).then(stated).otherwise(text).alias("score")), [
        f"score: read the number of {seen['t'][0]!r} ({count_of(seen.height, 'text')}){out_of}"
    ]


def filled_down(rows: pl.LazyFrame, columns: Sequence[str]) -> tuple[pl.LazyFrame, str | None]:
    """Items of merged cells filled down, where each begins a run of rows without one.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q0", None, "q1", None], "replication": [0, 1, 0, 1],
    ...                      "verdict": list("abab")})
    >>> found, line = filled_down(rows, ["item_id", "replication", "verdict"])
    >>> found.collect()["item_id"].to_list(), line
    (['q0', 'q0', 'q1', 'q1'], 'item_id: 2 empty cells filled from the row above, as merged cells')
    """
    if "item_id" not in columns:
        return rows, None
    item, blank = pl.col("item_id").cast(pl.String), _is_blank("item_id")
    facts = rows.select(blank.sum().alias("n"), blank.first().alias("first"), pl.len().alias("of"))
    n, first, of = facts.collect(engine="streaming").row(0)
    # A merged cell names its item once; where one stands in two rows, a blank is a fault.
    again = ((item == item.shift(1)) & ~blank).any()
    # Of merged cells each has blanks below it, and there are two or more: one blank is a fault.
    is_alone = (~blank & ~blank.shift(-1, fill_value=False)).any()
    if not n or first or of - n < _FEWEST_RUNS or rows.select(again | is_alone).collect().item():
        return rows, None
    filled = rows.with_columns(pl.when(~blank).then(item).forward_fill().alias("item_id"))
    if _holds_one_twice(filled):
        return rows, None
    valued = [pl.col(name).is_not_null() for name in VALUES if name in columns]
    if not filled.filter(blank).select(pl.any_horizontal(valued).all()).collect().item():
        return rows, None
    return (
        filled,
        f"item_id: {count_of(n, 'empty cell')} filled from the row above, as merged cells",
    )


def once_each(rows: pl.LazyFrame, columns: Sequence[str]) -> tuple[pl.LazyFrame, list[str]]:
    """Copies and failed tries of one replication left out, each said; the rows where others differ.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "q"], "replication": [0, 0, 1],
    ...                      "verdict": [None, "pass", "fail"]})
    >>> found, lines = once_each(rows, ["item_id", "replication", "verdict"])
    >>> found.collect()["verdict"].to_list(), lines
    (['pass', 'fail'], ['1 row without a verdict beside one of the same replication that has it, \
left out: a try before it'])
    """
    lines = []
    before = rows.select(pl.len()).collect(engine="streaming").item()
    once = rows.unique(maintain_order=True)
    left = once.select(pl.len()).collect(engine="streaming").item()
    if left < before:
        lines.append(f"{count_of(before - left, 'row')} equal in every column to an earlier one, "
                     "left out as copies")  # fmt: skip
    key = [name for name in ("item_id", *FACETS, "block", REPLICATION) if name in columns]
    has = pl.any_horizontal(
        ~is_no_value(pl.col(name).cast(pl.String)).fill_null(True)
        for name in VALUES if name in columns
    )  # fmt: skip
    kept = once.filter(has | ~has.any().over(key))
    n = kept.select(pl.len()).collect(engine="streaming").item()
    if n < left:
        lines.append(f"{count_of(left - n, 'row')} without a verdict beside one of the same "
                     "replication that has it, left out: a try before it")  # fmt: skip
    return kept, lines
