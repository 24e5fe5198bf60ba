"""Right verdicts from a table of labels, laid beside judgments as their column ``gold``.

Of several people's labels the commonest is right, none where several are; what each of them said
lies beside it, as JSON, so that agreement is with people and not with a majority alone.
"""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.counting.files.names import key_of, roles_of
from judgerel_ray.counting.files.source import (
    Source,
    one_column_a_name,
    quote_names,
    read_source,
    readable,
)
from judgerel_ray.counting.verdicts.spelling import folded

GOLD, ITEM, RATER = "gold", "item_id", "rater"
PEOPLE = "people_labels"
"""The column of what every person said, as a JSON list."""
READ = (GOLD, PEOPLE)
"""Columns of what is right."""
_RATER = ("rater", "annotator", "labeller", "labeler", "person", "worker")
_LABEL = ("label", GOLD, "verdict")
_WHERE = ("benchmark", "criterion")
"""Columns of labels beside the item that tell questions apart, where judgments have them, too."""


def read_labels_table(path: str) -> pl.DataFrame:
    r"""A table of labels as ``item_id`` and ``gold``; refused where an item has two labels.

    Columns ``benchmark`` and ``criterion`` stay: items of one name may be in several.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("question_id,label\nq1,pass\n")
    ...     file.flush()
    ...     read_labels_table(file.name).rows()
    [('q1', 'pass')]
    """
    found = _labels_there(path)
    if twice := _labelled_twice(found):
        raise SweepError(
            f"item {twice[0]!r} has two labels{' of one rater' if RATER in found else ''}",
            where={"labels": path},
            hint="one label an item, or a column rater that says whose each is",
        )
    return _people_labels_by_item(found) if RATER in found else found


def _people_labels_by_item(labels: pl.DataFrame) -> pl.DataFrame:
    """One row an item: the commonest label, null where several are, and the label of each.

    Spellings of one word are one label, spelled as its item has it first.
    """
    key = [name for name in labels.columns if name not in (GOLD, RATER)]
    modes = pl.col("__word").mode()
    first = pl.col(GOLD).filter(pl.col("__word") == modes.first()).first()
    return labels.with_columns(folded(pl.col(GOLD)).alias("__word")).group_by(
        key, maintain_order=True
    ).agg(
        pl.when(modes.len() == 1).then(first).alias(GOLD),
        pl.col(GOLD).sort().alias(PEOPLE),
    ).with_columns(
        pl.col(PEOPLE).map_elements(lambda each: json.dumps(each.to_list()), pl.String)
    )  # fmt: skip


def people_of(texts: pl.Expr) -> pl.Expr:
    """What every person said, as a list.

    Examples
    --------
    >>> pl.DataFrame({"x": ['["a", "b"]']}).select(people_of(pl.col("x"))).item().to_list()
    ['a', 'b']
    """
    return texts.str.json_decode(pl.List(pl.String))


def has_one_label_each(path: str) -> bool:
    """Whether labels may be taken as right: several people's of one item may differ."""
    return not _labelled_twice(_labels_there(path))


def _labels_there(path: str) -> pl.DataFrame:
    """All labels of a table, an item and label once."""
    source = one_column_a_name(read_source(path))
    with readable(source.where):
        table = source.rows.collect()
    item = next((name for name in table.columns if name == ITEM), None) or next(
        (name for name in table.columns if ITEM in roles_of(name)), None
    )
    others = [name for name in table.columns if name != item]
    by_key = {key_of(name): name for name in others}
    label = next((by_key[one] for one in _LABEL if one in by_key), None)
    label = others[0] if label is None and len(others) == 1 else label
    rater = next((by_key[one] for one in _RATER if one in by_key), None)
    if item is None or label is None:
        raise SweepError(
            f"labels are a table of {ITEM} and label, got {quote_names(table.columns)}",
            where={"labels": path},
        )
    names = {ITEM: item, **{name: name for name in _WHERE if name in table.columns}, GOLD: label}
    if rater is not None and table[rater].n_unique() > 1:
        names[RATER] = rater
    texts = table.select(
        pl.col(column).cast(pl.String).str.strip_chars().alias(name)
        for name, column in names.items()
    ).with_columns(pl.col(name).fill_null("") for name in names if name == RATER)
    return texts.drop_nulls().filter(pl.col(GOLD) != "").unique(maintain_order=True)


def _labelled_twice(labels: pl.DataFrame) -> list[str]:
    """The first item with two labels, if any has."""
    key = [name for name in labels.columns if name != GOLD]
    return labels.filter(pl.struct(key).is_duplicated())[ITEM].head(1).to_list()


def with_labels(rows: pl.LazyFrame, labels: pl.DataFrame) -> pl.LazyFrame:
    """The rows with their labels as gold, in place of what they have."""
    schema = rows.collect_schema()
    keys = [name for name in labels.columns if name not in (GOLD, PEOPLE) and name in schema]
    made = {f"__{name}": pl.col(name).cast(pl.String).str.strip_chars() for name in keys}
    joined = (rows.drop(GOLD) if GOLD in schema else rows).with_columns(**made).join(
        labels.lazy(), left_on=[*made], right_on=keys, how="left", maintain_order="left"
    )  # fmt: skip
    return joined.drop(*made)


def labels_line(rows: pl.LazyFrame, labels: pl.DataFrame, path: str) -> str:
    """How many judged items have a label; SweepError where none has."""
    items = rows.select(pl.col(ITEM).cast(pl.String).str.strip_chars().unique())
    judged = items.collect(engine="streaming").to_series()
    known = int(judged.is_in(labels[ITEM].implode()).sum())
    if not known:
        raise SweepError(
            f"no label is of a judged item: labels are of {labels[ITEM].head(1).to_list()}, "
            f"judgments of {judged.head(1).to_list()}",
            where={"labels": path},
        )
    taken = "taken as right (column gold)"
    if PEOPLE in labels:
        taken = "of several people: the commonest is taken as right"
        none = labels.filter(pl.col(GOLD).is_null(), pl.col(ITEM).is_in(judged.implode()))
        if none.height:
            has = "has" if none.height == 1 else "have"
            taken = f"{taken}; {count_of(none.height, 'item')} {has} no commonest label"
    return f"labels of {known:,} of {count_of(len(judged), 'item')} {taken}"


def labelled(source: Source, path: str) -> Source:
    """The rows of a file with their labels as gold, and a line that says so."""
    labels = read_labels_table(path)
    note = labels_line(source.rows, labels, path)
    rows = with_labels(source.rows, labels)
    return replace(source, rows=rows, notes=(*source.notes, note), indexed=False)
