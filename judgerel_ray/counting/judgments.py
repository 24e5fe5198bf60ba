"""Judgments people hold, in files and frames: read as they are or refused in one line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import polars as pl
from polars.exceptions import PolarsError

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.counting.columns import (
    FACETS,
    KINDS,
    NO_VALUE,
    NUMBERS,
    OUT_OF,
    TYPED,
    WHOLE,
    are_judgments,
    faults,
    is_nested,
    is_no_value,
    may_be_nested,
    outcome_column,
    typed_column,
    typed_columns,
)
from judgerel_ray.counting.doubtful_columns import (
    UNDOUBTED,
    denominators_line,
    renamed_lines,
    unread_lines,
    usable_columns,
)
from judgerel_ray.counting.doubts import (
    LEADING,
    SUMS_UP,
    doubts,
    totals_line,
    unnamed_line,
    worded_lines,
)
from judgerel_ray.counting.files.cells import (
    inside_error,
    parsed,
    refuse_inside,
)
from judgerel_ray.counting.files.delimited import kind_of
from judgerel_ray.counting.files.labelled import PEOPLE, READ, labelled
from judgerel_ray.counting.files.laid_out import as_numbers, filled_down, once_each
from judgerel_ray.counting.files.names import column_flag, halves, roles_of
from judgerel_ray.counting.files.source import (
    FILE,
    Source,
    files_apart,
    read_source,
    readable,
    without_stray_rows,
)
from judgerel_ray.counting.files.understood import check_first_line, understood, with_its_sheet
from judgerel_ray.counting.files.workbook import WORKBOOKS
from judgerel_ray.counting.groups.grouping import lines_left_out
from judgerel_ray.counting.groups.tally import (
    Tally,
    identifying_columns,
    tally_judgments,
    tally_unchecked,
)
from judgerel_ray.counting.nesting import UnitRows
from judgerel_ray.counting.right_answers import stated_once
from judgerel_ray.counting.verdicts.places import SHOWN
from judgerel_ray.counting.verdicts.spelling import (
    Spellings,
    comma_line,
    folded,
    names_kept_apart,
    respelled,
    seen_verdicts,
    spellings_of,
)

_PROBED = 100  # rows in which names inside values are looked for
_MOST_MENUS = 10_000  # different lists of options that are looked at
_NUMBERED = "number the repeats of each question in a column replication: 0, 1, 2"
_HUNDRED = 100
_WITHOUT_COMMAS = "score:^([^,]+),?([^,]*),?([^,]*),?([^,]*)$"
_SHARES = ("confidence", "top_p")
_ADVICE = {
    "replication": _NUMBERED,
    "option_order": "number the orders in which options were shown: 0, 1, 2",
}
_WRITTEN_COLUMNS = frozenset({"key", "judge_fingerprint", "outcome"})
"""Columns of judgments that our own readers made: their verdicts are ids of options, and exact."""
_GOLD, _OPTIONS = "gold", "options"


def tally_file(
    path: str | Sequence[str] | pl.LazyFrame,
    *,
    extra: Sequence[str] = (),
    exact_values: bool = False,
    reads: Sequence[str] | None = None,
    stated: Mapping[str, str] | None = None,
    labels: str | None = None,
    leading_word: bool = False,
    by_row: bool = False,
) -> Tally:
    r"""Check and count a file of judgments, in one pass over its rows.

    Spellings of one word are one verdict: ``PASS``, ``pass`` and ``' PASS'``, ``1`` and ``1.0``.
    What most rows have is shown. Judgments of a run directory keep their verdicts as they are, and
    so does a file whose column ``options`` lists two spellings of one word.

    Its ``rows`` have their types set and an ``outcome``: where the file has none, a row without
    verdict and score is ``unparsed``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item_id,replication,verdict\nq1,0,A\nq1,1,a\n")
    ...     file.flush()
    ...     tally_file(file.name).nested.long(["item_id"]).rows()
    ...     tally_file(file.name, exact_values=True).nested.kinds["verdict"].to_list()
    [('q1', 'A', None, 'scored', 2)]
    ['A', 'a']
    """
    if stated:
        check_first_line(path, stated, by_row=by_row)
    if isinstance(path, str) and kind_of(path)[0] in WORKBOOKS:
        path = with_its_sheet(path, stated)
    source = read_source(path, by_row=by_row, by_file=FILE in (stated or {}).values())
    with readable(source.where):
        is_plain = not stated and are_judgments(source.rows.collect_schema().names())
        source = without_stray_rows(source) if is_plain else understood(source, stated)
        if leading_word and "verdict" in source.rows.collect_schema():
            word = pl.col("verdict").cast(pl.String).str.extract(LEADING, 1)
            source = replace(source, rows=source.rows.with_columns(verdict=word), indexed=False)
        source = source if labels is None else labelled(source, labels)
        kinds = source.rows.collect_schema()
        if reads is not None and set(reads) == {*READ}:  # what is read where it can be, unasked
            lists = {name for name in (_GOLD, PEOPLE) if is_nested(kinds.get(name, pl.String()))}
            reads = [name for name in reads if name not in lists]
        return _tally_rows(source, extra=extra, exact_values=exact_values, reads=reads)


def _tally_rows(
    source: Source,
    *,
    extra: Sequence[str],
    exact_values: bool,
    reads: Sequence[str] | None,
) -> Tally:
    """Check and count rows that have the columns of judgments."""
    with readable(source.where):
        is_written_by_us = set(source.rows.collect_schema()) >= _WRITTEN_COLUMNS
        if not is_written_by_us:
            if not UNDOUBTED.issuperset(source.rows.collect_schema()):
                source = usable_columns(source, named=extra, reads=reads)
            if reads is None or _GOLD in (*reads, *extra):
                source = _gold_of_questions(source)
        frame = source.rows
        schema = frame.collect_schema()
        columns = schema.names()
        right = [name for name in (_GOLD, PEOPLE) if name in (*(reads or ()), *extra)]
        extra = [*dict.fromkeys((*extra, *(name for name in right if name in columns)))]
        _refuse_kinds(source, [*(name for name in columns if name in TYPED), *extra, _GOLD])
        names = identifying_columns(columns, extra)
        try:
            nested, at_fault = tally_unchecked(
                frame, names, indexed=source.indexed, held=source.held
            )
        except PolarsError:
            numbers, lines = as_numbers(frame)
            if lines:
                again = replace(source, rows=numbers, notes=(*source.notes, *lines), indexed=False)
                return _tally_rows(again, extra=extra, exact_values=exact_values, reads=reads)
            # Which column has no number in it is said by name, as for any row at fault.
            refuse_text(source)
            _refuse_fault(frame.with_columns(typed_columns(schema)), source)
            raise
        if nested.units.is_empty():
            raise SweepError("the file of judgments has no rows", where=source.where)
        if "verdict" in columns and may_be_nested(nested.kinds["verdict"]):
            refuse_inside(nested.kinds["verdict"], name="verdict", where=source.where)
        exact = exact_values or is_written_by_us
        read = _merge_judgment_spellings(source, nested, extra, exact=exact)
        typed = frame.with_columns(typed_columns(schema)).with_columns(read.columns)
        if at_fault or any(_any_fault(part) for part in (read.nested.units, read.nested.kinds)):
            filled, line = filled_down(frame, columns)
            if line is not None:
                again = replace(source, rows=filled, notes=(*source.notes, line), indexed=False)
                return _tally_rows(again, extra=extra, exact_values=exact_values, reads=reads)
            _refuse_fault(typed, source)
        rows = typed.with_columns(outcome_column(columns))
        rows = rows.cast({name: pl.Int64 for name in WHOLE if name in columns})
        if at_fault:
            kept, lines = once_each(frame, columns)
            if lines:
                _refuse_files_alike(source)
            if lines and _first_held_twice(kept).is_empty():
                again = replace(source, rows=kept, notes=(*source.notes, *lines), indexed=False)
                return _tally_rows(again, extra=extra, exact_values=exact_values, reads=reads)
            refuse_twice(rows, source)
        nested = tally_judgments(rows, extra=extra).nested if read.recount else read.nested
        notes = [] if is_written_by_us else [*names_kept_apart(nested.units)]
        notes += filter(None, [totals_line(nested.units)])
        if not is_written_by_us:
            without = pl.col("verdict").is_null() & pl.col("score").is_null()
            notes += lines_left_out(nested.units)
            if not UNDOUBTED.issuperset(columns):
                notes += unread_lines(source, names, extra, reads)
                notes += renamed_lines(source, extra) if nested.n_rows(without) else ()
            apart = denominators_line(source) if OUT_OF in columns else None
            notes += filter(None, [unnamed_line(nested.units), apart])
            notes += () if exact_values else doubts(nested, tuple(columns))
            notes += worded_lines(seen_verdicts(nested)) if "verdict" in columns else ()
    return Tally(
        rows=rows,
        nested=nested,
        columns=tuple(columns),
        spellings=read.spellings,
        is_foreign=source.is_foreign,
        notes=(*source.notes, *read.notes, *notes),
    )


def _gold_of_questions(source: Source) -> Source:
    """Rows with the gold that another row of their question states."""
    schema = source.rows.collect_schema()
    if _GOLD not in schema or "item_id" not in schema or is_nested(schema[_GOLD]):
        return source
    rows, line = stated_once(source.rows)
    if line is None:
        return source
    return replace(source, rows=rows, notes=(*source.notes, line), indexed=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Spelled:
    """Counts with verdicts as they are shown, how rows get theirs, and what is said of it."""

    nested: UnitRows
    columns: tuple[pl.Expr, ...] = ()
    spellings: Spellings | None = None
    notes: tuple[str, ...] = ()
    recount: bool = False
    """Whether labels were counted that are merged now, or beside what is no verdict."""


def _gold_as_shown(units: pl.DataFrame, found: Spellings) -> pl.DataFrame:
    """Units with gold as verdicts are shown: each text is read once, however many have it."""
    text = pl.col(_GOLD).cast(pl.String)
    shown = units.select(text).unique().with_columns(found.compared(_GOLD).alias("__shown"))
    units = units.with_columns(text)
    both = units.join(shown, on=_GOLD, how="left", nulls_equal=True, maintain_order="left")
    return both.with_columns(pl.col("__shown").alias(_GOLD)).select(units.columns)


def _merge_judgment_spellings(
    source: Source, nested: UnitRows, extra: Sequence[str], *, exact: bool
) -> _Spelled:
    """Merge the spellings of each word, in counts and in rows."""
    schema = source.rows.collect_schema()
    if _GOLD in nested.units.columns:
        gold = nested.units[_GOLD].cast(pl.String)
        refuse_inside(gold, name=_GOLD, where=source.where)
    if exact:
        return _Spelled(nested=nested)
    notes = _scores_missing(source, nested)
    if "verdict" not in schema:
        return _Spelled(nested=nested, notes=notes)
    seen = seen_verdicts(nested)
    if comma := comma_line(seen):
        notes = (*notes, comma)
    found, lines = _verdicts_of_one_word(source, seen)
    if found is None:
        return _Spelled(nested=nested, notes=(*notes, *lines))
    nested = respelled(nested, found)
    columns = [found.verdict()] if found.changed().height else []
    if _GOLD in schema:
        columns.append(found.compared(_GOLD))
    if _GOLD in nested.units.columns:
        nested = replace(nested, units=_gold_as_shown(nested.units, found))
    recount = nested.places is not None and bool(found.known["shown"].null_count())
    labels = _judgment_label_spellings(source, nested, extra)
    if labels is not None and labels.changed().height:
        recount = True
        columns.append(labels.verdict(SHOWN))
        lines = (*lines, *(f"column {SHOWN}: {line}" for line in labels.lines()))
    return _Spelled(
        nested=nested,
        columns=tuple(columns),
        spellings=found,
        notes=(*notes, *lines),
        recount=recount,
    )


def _verdicts_of_one_word(
    source: Source, seen: pl.DataFrame
) -> tuple[Spellings | None, tuple[str, ...]]:
    """Which verdicts are one word, None where a file's own options say that they are not."""
    found = spellings_of(seen)
    lines = found.lines()
    if not lines:
        return found, ()
    menus = _menus_of_judgment_file(source)
    for menu in menus:
        words = pl.DataFrame({"text": menu}, schema={"text": pl.String}).unique()
        keys = words.select("text", key=folded(pl.col("text")))
        twice = keys.filter(pl.col("key").is_duplicated()).sort("text")["text"].to_list()
        if twice:
            return None, (
                f"kept apart: {' and '.join(map(repr, twice))}, which column {_OPTIONS} lists as "
                "different options; all verdicts are taken as they are written",
            )
    declared = {text.strip().lower() for menu in menus for text in menu}
    options = declared & set(NO_VALUE) | _words_scored(source, found)
    found = spellings_of(seen, options=options)
    return found, found.lines()


def _words_scored(source: Source, found: Spellings) -> set[str]:
    """Words that stand for no verdict elsewhere, in rows whose outcome says there is one."""
    none = found.known.filter(pl.col("shown").is_null())
    if none.is_empty() or "outcome" not in source.rows.collect_schema():
        return set()
    scored = pl.col("outcome").cast(pl.String) == Outcome.SCORED.value
    text = pl.col("verdict").cast(pl.String)
    rows = source.rows.filter(scored, text.is_in(none["text"].implode()))
    words = rows.select(folded(text).unique()).collect(engine="streaming")
    return set(words.to_series().to_list())


def _menus_of_judgment_file(source: Source) -> list[list[str]]:
    """Options that a file lists beside its rows, one list a menu."""
    schema = source.rows.collect_schema()
    if _OPTIONS not in schema:
        return []
    listed = source.rows.select(_OPTIONS)
    if not is_nested(schema[_OPTIONS]):
        listed = listed.cast(pl.String)
    cells = listed.head(_MOST_MENUS).collect(engine="streaming").to_series().drop_nulls()
    menus = []
    for value in cells.to_list():
        inside = parsed(value) if isinstance(value, str) else value
        menu = list(inside.values()) if isinstance(inside, dict) else inside
        if isinstance(menu, list):
            names = [
                next((one[key] for key in ("option_id", "id", "label", "text") if key in one), None)
                if isinstance(one, dict)
                else one
                for one in menu
            ]
            menus.append([str(name) for name in names if name is not None])
    return menus


def _judgment_label_spellings(
    source: Source, nested: UnitRows, extra: Sequence[str]
) -> Spellings | None:
    """How labels of places are spelled, in files whose options stood in several orders."""
    schema = source.rows.collect_schema()
    if nested.places is not None:
        words = pl.DataFrame({"text": nested.places}, schema={"text": pl.String})
        keys = words.select(folded(pl.col("text"))).to_series()
        if not keys.is_duplicated().any() and not keys.is_in(NO_VALUE).any():
            if may_be_nested(words["text"]):
                refuse_inside(words["text"].rename(SHOWN), name=SHOWN, where=source.where)
            return None
    elif SHOWN not in extra or SHOWN not in schema:
        return None
    label = typed_column(SHOWN, schema[SHOWN]).alias("text")
    counts = source.rows.select(label).group_by("text").agg(pl.len().alias("n"))
    seen = counts.collect(engine="streaming").drop_nulls("text")
    if may_be_nested(seen["text"]):
        refuse_inside(seen["text"].rename(SHOWN), name=SHOWN, where=source.where)
    return spellings_of(seen)


def _scores_missing(source: Source, nested: UnitRows) -> tuple[str, ...]:
    """Say which words of a column of scores were taken as none."""
    if source.rows.collect_schema().get("score") != pl.String:
        return ()
    if not nested.kinds["score"].null_count():
        return ()
    text = pl.col("score").str.strip_chars()
    words = source.rows.filter(is_no_value(text), text != "").group_by(text.alias("text"))
    counts = words.agg(pl.len().alias("n")).collect(engine="streaming")
    common = counts.sort("n", "text", descending=[True, False])
    listed = ", ".join(f"{word} ({n:,})" for word, n in common.iter_rows())
    return (f"taken as no score: {listed}",) if listed else ()


def _any_fault(part: pl.DataFrame) -> bool:
    """Whether any row says what no row may say."""
    rules = [rule.fill_null(False) for rule in faults(part.columns).values()]
    return bool(part.select(pl.any_horizontal(rules).any()).item())


def _refuse_kinds(source: Source, names: Collection[str]) -> None:
    """Refuse columns whose type cannot be what their name says."""
    for name, kind in source.rows.collect_schema().items():
        if name not in names:
            continue
        if is_nested(kind):
            begin = source.rows.select(name).filter(pl.col(name).is_not_null()).head(_PROBED)
            what = "an object" if isinstance(kind, pl.Struct) else "a list"
            values = begin.collect(engine="streaming").to_series()
            raise inside_error(what, values, name=name, where=source.where)
        if name in NUMBERS and (kind.is_temporal() or (kind == pl.Boolean and name != "score")):
            raise SweepError(
                f"{name}: expected a number, got a column of {str(kind).partition('(')[0]}",
                where=source.where,
                hint=_ADVICE.get(name, f"rename the column if it is no {name}"),
            )
        if kind == pl.Duration:
            raise SweepError(
                f"{name}: expected text or a number, got a column of time spans",
                where=source.where,
                hint=f"rename the column if it is no {name}, or write the spans as numbers",
            )


def refuse_text(source: Source) -> None:
    """Refuse text where numbers belong, naming the first of it.

    Examples
    --------
    >>> refuse_text(Source(rows=pl.LazyFrame({"score": ["1", "one"]})))
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: score: expected a number, got 'one' [row=2]. Try: leave ...
    """
    for name, kind in source.rows.collect_schema().items():
        if name not in NUMBERS or kind != pl.String:
            continue
        text = pl.col(name).str.strip_chars()
        wrong = ~is_no_value(text) & text.cast(pl.Float64, strict=False).is_null()
        texts = source.rows.select(text.alias("got"), wrong.alias("__wrong"))
        first = texts.with_row_index("__row").filter("__wrong").head(1).collect(engine="streaming")
        if not first.is_empty():
            expected = "a whole number" if name in WHOLE else "a number"
            got = first["got"].item()
            raise SweepError(
                f"{name}: expected {expected}, got {got!r}",
                where={**source.where, "row": first["__row"].item() + 1},
                hint=_judgment_number_as_written(name, got),
            )


def _judgment_number_as_written(name: str, got: str) -> str:
    """How to write a number that stands there as text, where that can be told.

    What is written so is accepted: a percentage of what lies between 0 and 1 is a share.
    """
    pointed, thousands = got.replace(",", "."), got.replace(",", "")
    a_point = got.count(",") == 1 and re.fullmatch(r"[+-]?\d*\.\d+", pointed) is not None
    a_point = a_point and _column_may_hold(name, pointed)
    if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", got) and _column_may_hold(name, thousands):
        hint = f"write {thousands}: digits without commas"
        if name == "score":
            hint = f"write {thousands}, as {column_flag(name, _WITHOUT_COMMAS)} reads it"
        return f"{hint}, or {pointed} where a point is meant" if a_point else hint
    if a_point:
        return f"write {pointed}: a point, no comma"
    number = re.fullmatch(r"([+-]?\d+(?:[.,]\d+)?) *%", got)
    if number is not None:
        bare = number[1].replace(",", ".")
        if name not in _SHARES and _column_may_hold(name, bare):
            return f"write {bare}: a number, no sign behind it"
        share = f"{float(bare) / _HUNDRED:g}"
        if name in _SHARES and _column_may_hold(name, share):
            return f"write {share}: a share of 1, not a percentage"
    if name in _ADVICE:
        return _ADVICE[name]
    out_of = re.fullmatch(r"(\d+(?:\.\d+)?) *(?:/|out of|of) *([1-9]\d*)", got)
    if out_of is not None and float(out_of[1]) <= float(out_of[2]):
        if name in _SHARES:
            return f"write {float(out_of[1]) / float(out_of[2]):.4g}: a share of 1"
        if _column_may_hold(name, out_of[1]):
            return f"write {out_of[1]}: the number alone, where all are out of {out_of[2]}"
    all_of = re.findall(r"(?<![\w.,])\d+(?:[.,]\d+)*", got)  # of a range or a date none is meant
    numbers = re.findall(r"(?<![\w.,/-])[+-]?\d+(?:\.\d+)?(?![\w.,/%-])", got)
    if len(all_of) == len(numbers) == 1 and _column_may_hold(name, numbers[0]):
        return f"write {numbers[0]}: the number alone"
    if name == "temperature":
        return "write the temperature that was used, or leave it empty where nobody knows it"
    return f"leave it empty where there is no {name}"


def _column_may_hold(name: str, number: str) -> bool:
    """Whether a column of that name may hold a number that is written so."""
    if name in WHOLE:
        return number.removeprefix("+").isdecimal()
    if name in _SHARES:
        return 0 <= float(number) <= 1
    return name != "temperature" or float(number) >= 0


def _refuse_fault(typed: pl.LazyFrame, source: Source) -> None:
    """Refuse rows that say something impossible, naming the first of them."""
    columns = typed.collect_schema().names()
    typed = typed.with_columns(outcome_column(columns))
    row = pl.col("__row")
    broken = typed.with_row_index("__row").select(
        row.filter(rule.fill_null(False)).min().alias(what)
        for what, rule in faults([*columns, "outcome"]).items()
    )
    for what, row_at_fault in broken.collect(engine="streaming").row(0, named=True).items():
        if row_at_fault is not None:
            seen = typed.slice(row_at_fault, 1).collect().row(0, named=True)
            written = source.rows.slice(row_at_fault, 1).collect().row(0, named=True)
            seen |= {name: value for name, value in written.items() if name in WHOLE}
            shown = {name: value for name, value in seen.items() if name in what.split()}
            item = pl.DataFrame({"item_id": [seen["item_id"]]})
            totals = f"take row {row_at_fault + 1} out: {seen['item_id']!r} seems to sum up others"
            raise SweepError(
                what,
                where={**source.where, "row": row_at_fault + 1, **shown},
                hint=totals if item.select(SUMS_UP).item() else _mended_row(what),
            )


def _mended_row(what: str) -> str:
    """What to try where a row says what no row may say."""
    name = what.partition(" ")[0]
    if name == "a":
        return "empty the verdict of replies that gave none, or rename the column outcome"
    none = "" if name in ("item_id", "replication") else f", or rename {name} if it is none of ours"
    return f"mend that row{none}"


def _first_held_twice(rows: pl.LazyFrame) -> pl.DataFrame:
    """The first replication of a unit that several rows hold, and how many do; empty without."""
    unit = [
        name for name in identifying_columns(rows.collect_schema().names()) if name not in KINDS
    ]
    unit.insert(1, "replication")
    counted = rows.group_by(unit).agg(pl.len().alias("__n"))
    return counted.filter(pl.col("__n") > 1).sort(unit).head(1).collect(engine="streaming")


def refuse_twice(rows: pl.LazyFrame, source: Source) -> None:
    """Refuse two rows for the same replication of the same unit, and name what tells them apart.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"], "replication": [0], "verdict": ["A"]})
    >>> refuse_twice(rows, Source(rows=rows))
    """
    twice = _first_held_twice(rows)
    if twice.is_empty():
        return
    first = twice.row(0, named=True)
    n = first.pop("__n")
    # As people write it: a temperature of 0, not of 0.0.
    shown = {name: f"{value:g}" if isinstance(value, float) else value
             for name, value in first.items() if value is not None}  # fmt: skip
    where = {**source.where, **shown}
    name = _unread_telling_column(rows, [*first])
    if name is None:
        raise SweepError(
            f"{n} rows hold the same replication of the same question",
            where=where,
            hint="add the column that tells them apart (judge, template, ...), or number the rows",
        )
    if name in (_GOLD, PEOPLE):
        raise SweepError(
            f"rows of one repeat differ in column {name}", where=where,
            hint="one row a judgment; labels of several people are a table of item_id, rater and "
            "label, which --labels FILE lays beside it",
        )  # fmt: skip
    roles = {role: f"is the {role}" for role in roles_of(name) if role in FACETS}
    if "criterion" in chain(*map(roles_of, chain(*halves(name)))):  # rubric_item
        roles["criterion"] = "is the criterion"
    if "judge" in first and "judge" in roles_of(name):
        roles["responder"] = "says who answered"
    if {"position", "order"} & {*re.split(r"[_\-. ]+", name.lower())}:
        roles["option_order"] = "says how the options stood"
    ways = {**roles, "template": "names a prompt", "judge": "says who judged"}
    ways = {role: what for role, what in ways.items() if role not in first}
    plain = not {".", ":", ","} & {*source.item, *name}
    joined = [f"{column_flag('item_id', f'{source.item},{name}')}, where it is of the question"]
    raise SweepError(
        f"rows of one repeat differ in column {name}, not read",
        where=where,
        hint="; ".join((joined if plain else []) + [
            f"{column_flag(role, name)}, where it {what}" for role, what in ways.items()
        ]),
    )  # fmt: skip


def _refuse_files_alike(source: Source) -> None:
    """Refuse several files that hold the same rows: judges, perhaps, and no copies."""
    if source.is_foreign and len(source.files) > 1:
        raise SweepError(
            "files hold the same replication of the same question, and no column says what tells "
            "them apart",
            where=source.where,
            hint=files_apart(source.rows.collect_schema().names()),
        )


def _unread_telling_column(rows: pl.LazyFrame, unit: Sequence[str]) -> str | None:
    """A column not read that tells rows of one replication apart, and is no time and no id."""
    free = [name for name, kind in rows.collect_schema().items()
            if name not in TYPED and name not in unit and not is_nested(kind)]  # fmt: skip
    if not free:
        return None
    facts = rows.select(pl.len().alias("__n"), pl.col(free).n_unique()).collect(engine="streaming")
    few = max(2, facts["__n"].item() // 2)  # more are an id of the row, or text
    again = pl.struct(*unit).is_duplicated()
    for name in free:
        apart = rows.filter(again).select(pl.struct(*unit, name).is_duplicated().any())
        if facts[name].item() <= few and not apart.collect(engine="streaming").item():
            return name
    return None
