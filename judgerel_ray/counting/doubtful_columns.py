"""Columns of input files that may mean something else: left out, or not read, and that is said.

Columns may bear names of ours and mean something else: ``role`` and ``block`` choose rows, so they
are ours only where they hold what ours hold, and are left out else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import get_args

import polars as pl

from judgerel_ray.core import Role, SweepError
from judgerel_ray.core.text import some_of
from judgerel_ray.counting.columns import (
    ALSO_CALLED,
    OFTEN_CALLED,
    OUT_OF,
    TYPED,
    is_nested,
    is_no_value,
)
from judgerel_ray.counting.files.source import Source
from judgerel_ray.counting.right_answers import GOLD

_ROLES = frozenset(get_args(Role))
_LONGEST = 4  # values told
_JUDGMENT_COLUMNS = {
    "role": f"roles are {', '.join(get_args(Role))}",
    "block": "blocks are whole numbers from 0 on, and 0 is one of them",
}


def usable_columns(
    source: Source, *, named: Collection[str], reads: Collection[str] | None = None
) -> Source:
    """Leave out columns that are not used, or that only by their name are ours.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"], "role": ["assistant"], "confidence": ["high"]})
    >>> found = usable_columns(Source(rows=rows), named=(), reads=())
    >>> found.rows.collect().columns, found.notes[0][:60]
    (['item_id'], "column role is not read: its values are 'assistant', and rol")
    """
    schema = source.rows.collect_schema()
    rows, notes = source.rows, list(source.notes)
    if reads is not None:
        unused = set(_SELDOM) - {*reads, *named}
        rows = rows.drop(
            name for name in schema if name in unused and (_SELDOM[name] or is_nested(schema[name]))
        )
    for name, columns in _CHECKS.items():
        if name not in schema:
            continue
        values = rows.select(name).unique().collect(engine="streaming")[name]
        spelled = columns(values)
        if spelled is None:
            rows = rows.drop(name)
            notes.append(_sheet_column_not_read(name, values, source, named))
        elif not spelled.equals(values):
            rows = rows.with_columns(pl.col(name).cast(pl.String).replace(values, spelled))
            pairs = zip(values, spelled, strict=True)
            words = sorted(f"{one!r} as {other}" for one, other in pairs if one != other)
            notes.append(f"column {name}: read {', '.join(words)}")
    return replace(source, rows=rows, notes=tuple(notes))


_SELDOM = {"confidence": True, "gold": False, "key": False, "finish_reason": False}
"""Columns that only some of what reads judgments looks at, and whether it says so in `reads`."""


def _sheet_column_as_roles(values: pl.Series) -> pl.Series | None:
    """Roles as ours are spelled; None where none of them is ours."""
    if values.dtype != pl.String:
        return values if values.dtype == pl.Null else None
    bare = values.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s-]+", "_")
    if values.drop_nulls().filter(bare.drop_nulls() != "").is_empty():
        return values
    columns = bare.is_in(list(_ROLES)).fill_null(False)
    return None if not columns.any() else bare.zip_with(columns, values)


def _sheet_column_as_blocks(values: pl.Series) -> pl.Series | None:
    """Blocks as they are; None where they are no blocks of ours."""
    if values.dtype.is_nested() or values.dtype.is_temporal() or values.dtype == pl.Boolean:
        return None
    text = values.cast(pl.String).str.strip_chars().alias("text")
    text = text.to_frame().filter(~is_no_value(pl.col("text")))["text"]
    number = text.cast(pl.Float64, strict=False)
    whole = (number >= 0) & (number == number.floor()) & number.is_finite()
    if not whole.fill_null(False).all():
        return None
    return values if len(text) < len(values) or (number == 0).any() else None


_CHECKS: dict[str, Callable[[pl.Series], pl.Series | None]] = {
    "role": _sheet_column_as_roles,
    "block": _sheet_column_as_blocks,
}
UNDOUBTED = TYPED - {*_SELDOM, *_CHECKS}
"""Columns that mean what their names say, and that all who read judgments look at."""


def _sheet_column_not_read(
    name: str, values: pl.Series, source: Source, named: Collection[str]
) -> str:
    """The line of a column that is left out; SweepError where a person named it."""
    nested = values.dtype.is_nested()
    seen = [] if nested else sorted(values.drop_nulls().to_list())
    some = some_of([*map(repr, seen)], _LONGEST)
    got = f"its values are {some}" if some else "its values are lists or objects"
    if name in named:
        raise SweepError(
            f"column {name} cannot be used: {got}, and {_JUDGMENT_COLUMNS[name]}",
            where=source.where,
            hint=f"rename the column; without a column {name} every row counts",
        )
    return f"column {name} is not read: {got}, and {_JUDGMENT_COLUMNS[name]}"


def unread_lines(
    source: Source,
    names: Collection[str],
    named: Collection[str] = (),
    reads: Collection[str] | None = None,
) -> Iterator[str]:
    """Say which columns are not read that by their name tell rows apart, or differ in case alone.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "rater": ["ann", "bo"], "verdict": ["A", "B"]})
    >>> print(*unread_lines(Source(rows=rows), ["item_id", "verdict"]))
    column rater is not read, and rows that count as repeats of each other differ in it: call it \
judge if it says who judged
    """
    there = source.rows.collect_schema()
    free = [name for name in there if name not in {*names, *named, *(reads or ()), *TYPED, GOLD}]
    unused = set() if reads is None else {*_SELDOM} - {*reads, GOLD}
    known = {name.lower(): name for name in (*TYPED, GOLD) if name not in unused}
    by_case = {name: known[name.strip().lower()] for name in free if name.strip().lower() in known}
    for name, other in by_case.items():
        beside = f"; {other} is read" if other in there else ""
        yield f"column {name!r} is not read{beside}: in lower case it would be {other}"
    meant = {
        name: _SAYS.get(name.rpartition(".")[2].lower(), _SAYS[columns])
        for columns, others in TELL_APART.items()
        if columns not in there
        for name in free
        if name not in by_case and name.rpartition(".")[2].lower() in others
    }
    if not meant:
        return
    unit = [name for name in names if name not in ("verdict", "score", "outcome")]
    often = [name for name in meant if name.rpartition(".")[2].lower() in _OFTEN_ELSE]
    if often:  # a running number, a place in a list
        n_values = source.rows.select(pl.col(often).approx_n_unique()).collect(engine="streaming")
        meant = {name: says for name, says in meant.items()
                 if name not in often or n_values[name].item() <= _MOST_ORDERS}  # fmt: skip
        if not meant:
            return
    # By hash: the texts of a group are not held together.
    hashed = {name: pl.col(name).drop_nulls().hash() for name in meant}
    differs = (
        source.rows.group_by(unit)
        .agg((one.min() != one.max()).alias(name) for name, one in hashed.items())
        .select(pl.col(name).any() for name in meant)
        .collect(engine="streaming")
    )
    for name, says in meant.items():
        if differs[name].item():
            yield (
                f"column {name} is not read, and rows that count as repeats of each other differ "
                f"in it: {says}"
            )


def denominators_line(source: Source) -> str | None:
    """Say that scores of one group are out of several numbers; None where they are not.

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["j", "j", "k"], "score": [4.0, 8.0, 4.0],
    ...                      "out_of": [5.0, 10.0, 5.0]})
    >>> print(denominators_line(Source(rows=rows)))
    scores of judge j are out of 5 (1) and 10 (1): each counts as written, 4/5 as a 4 and 8/10 as \
an 8; --by out_of keeps them apart
    """
    there = source.rows.collect_schema()
    if OUT_OF not in there or not there[OUT_OF].is_numeric():
        return None
    groups = [name for name in ("judge", "benchmark", "criterion", "scale") if name in there]
    counts = (
        source.rows.drop_nulls(OUT_OF)
        .group_by(*groups, OUT_OF)
        .len()
        .sort(*groups, OUT_OF)
        .collect(engine="streaming")
    )
    for of, each in counts.group_by(groups, maintain_order=True) if groups else [((), counts)]:
        if each.height > 1:
            shown = " and ".join(f"{out:g} ({n:,})" for out, n in each.select(OUT_OF, "len").rows())
            group = ", ".join(f"{name} {value}" for name, value in zip(groups, of, strict=True))
            return (
                f"scores{f' of {group}' if group else ''} are out of {shown}: each counts as "
                "written, 4/5 as a 4 and 8/10 as an 8; --by out_of keeps them apart"
            )
    return None


def renamed_lines(source: Source, named: Collection[str] = ()) -> Iterator[str]:
    """Say which column that is not read is filled just where a verdict or a score is missing.

    So it is where the program that wrote the rows gave the column another name halfway.

    Examples
    --------
    >>> rows = pl.LazyFrame({"verdict": ["A", None], "decision": [None, "B"]})
    >>> print(*renamed_lines(Source(rows=rows)))
    column decision is not read, and is filled in 1 of 1 rows without a verdict and in no other: \
if it holds the verdict there, move that into the column verdict
    """
    there = source.rows.collect_schema()
    columns = [name for name in ("verdict", "score") if name in there]
    others = {
        other: name for name in columns for other in ALSO_CALLED[name]
        if other in there and other not in {*named, *TYPED}
    }  # fmt: skip
    if not others:
        return
    filled = {name: pl.col(name).is_not_null() for name in (*columns, *others)}
    for name in filled:
        if there[name] == pl.String:
            filled[name] &= ~is_no_value(pl.col(name)).fill_null(False)
    has_any = pl.any_horizontal(filled[name] for name in columns)
    found = source.rows.select(
        (~has_any).sum().alias("lacking"),
        *((filled[name] & ~has_any).sum().alias(f"{name} alone") for name in others),
        *((filled[name] & has_any).any().alias(f"{name} beside") for name in others),
    ).collect(engine="streaming").row(0, named=True)  # fmt: skip
    for name, what in others.items():
        n, of = found[f"{name} alone"], found["lacking"]
        if n and not found[f"{name} beside"]:
            yield (
                f"column {name} is not read, and is filled in {n:,} of {of:,} rows without a "
                f"{what} and in no other: if it holds the {what} there, move that into the column "
                f"{what}"
            )


_SAYS = {
    "judge": "call it judge if it says who judged",
    "criterion": "call it criterion if it says what was judged by",
    "temperature": "call it temperature if that is what it is",
    "template": "they were not asked the same; number its values in a column template",
    "responder": "they judge other answers; call it responder if it says whose answer is judged, "
    "or number orders of the options in a column option_order",
    "option_order": "if it says in which order the options were shown, number its values in a "
    "column option_order",
}
"""What to do about a column that is probably this one."""
TELL_APART = {
    **{name: OFTEN_CALLED[name] for name in ("judge", "criterion", "temperature")},
    "template": ("prompt", "prompt_template", "prompt_name", "instruction", "system_prompt",
                 "judge_prompt", "question", "prompt_id"),
    "responder": ("answer_model", "response_model", "candidate", "system", "model_a", "model_b",
                  "answer_a", "answer_b", "response_a", "response_b", "option_a", "option_b"),
    "option_order": ("order", "position", "swapped", "is_swapped", "swap", "flipped", "is_flipped",
                     "reversed"),
}  # fmt: skip
"""Names of columns without which rows of several conditions are taken for repeats of one. Not
``response`` and ``answer``, which mostly hold a judge's own reply."""
_OFTEN_ELSE, _MOST_ORDERS = ("order", "position"), 24  # orders of four options
