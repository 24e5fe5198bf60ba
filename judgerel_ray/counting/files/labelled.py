"""Right verdicts from a table of labels, laid beside judgments as their column ``gold``."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.counting.files.names import roles_of
from judgerel_ray.counting.files.source import Source, names_told, read_source, readable

GOLD, ITEM = "gold", "item_id"
_LABEL = ("label", GOLD, "verdict")


def read_labels_table(path: str) -> pl.DataFrame:
    r"""A table of labels as ``item_id`` and ``gold``; refused where an item has two labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("question_id,label\nq1,pass\n")
    ...     file.flush()
    ...     read_labels_table(file.name).rows()
    [('q1', 'pass')]
    """
    source = read_source(path)
    with readable(source.where):
        table = source.rows.collect()
    item = next((name for name in table.columns if name == ITEM), None) or next(
        (name for name in table.columns if ITEM in roles_of(name)), None
    )
    label = next((name for name in _LABEL if name in table.columns), None)
    if item is None or label is None:
        raise SweepError(
            f"labels are a table of {ITEM} and label, got {names_told(table.columns)}",
            where={"labels": path},
        )
    texts = table.select(
        pl.col(item).cast(pl.String).str.strip_chars().alias(ITEM),
        pl.col(label).cast(pl.String).str.strip_chars().alias(GOLD),
    )
    found = texts.drop_nulls().filter(pl.col(GOLD) != "").unique(maintain_order=True)
    if twice := found.filter(pl.col(ITEM).is_duplicated())[ITEM].head(1).to_list():
        raise SweepError(
            f"item {twice[0]!r} has two labels", where={"labels": path},
            hint="one label an item; judgerel correct --labels takes several people's",
        )  # fmt: skip
    return found


def labelled(source: Source, path: str) -> Source:
    """The rows with their labels as gold, in place of what the file itself has."""
    labels = read_labels_table(path)
    schema = source.rows.collect_schema()
    rows = source.rows.drop(GOLD) if GOLD in schema else source.rows
    key = pl.col(ITEM).cast(pl.String).str.strip_chars()
    joined = rows.with_columns(key.alias("__item")).join(
        labels.lazy(), left_on="__item", right_on=ITEM, how="left", maintain_order="left"
    )
    items = rows.select(key.unique()).collect(engine="streaming").to_series()
    known = int(items.is_in(labels[ITEM].implode()).sum())
    if not known:
        raise SweepError(
            f"no label is of a judged item: labels are of {labels[ITEM].head(1).to_list()}, "
            f"judgments of {items.head(1).to_list()}",
            where={"labels": path},
        )
    note = f"labels of {known:,} of {count_of(len(items), 'item')} taken as right (column gold)"
    return replace(source, rows=joined.drop("__item"), notes=(*source.notes, note), indexed=False)
