"""How far people agree among themselves, where several rated the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import polars as pl

from judgerel_ray.analyses.confusion.tables import PeopleAgreement
from judgerel_ray.stats import inter_rater_accuracy


def people_labels(items: pl.DataFrame) -> pl.DataFrame:
    """Gather the labels that people gave each item as a whole, by kind of people.

    Who rates one of its options does not say which is right, what is none of its options is no
    label of it, and of several criteria an item is judged by the first that its ratings name.

    benchmark, item_id, ``raters`` (the kind; null where they have none) and ``labels`` (list), in
    the order of the items and of their ratings.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item, Option
    >>> from judgerel_ray.tables import items_to_frame
    >>> ratings = tuple(HumanRating(rater=r, label=l) for r, l in [("expert:0", "1"), ("x:0", "2")])
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", ratings=ratings,
    ...             options=tuple(Option(option_id=o, text=o) for o in "12"))
    >>> people_labels(items_to_frame([item])).rows()
    [('b', 'q', 'expert', ['1']), ('b', 'q', 'x', ['2'])]
    """
    names = pl.col("options").list.eval(pl.element().struct.field("option_id"))
    rated = _exploded(items.select("benchmark", "item_id", "ratings", names=names))
    judged_by = pl.col("criterion").drop_nulls().first().over("benchmark", "item_id")
    kept = rated.filter(
        pl.col("label").is_in(pl.col("names")).fill_null(False),
        pl.col("responder").is_null(),
        pl.col("criterion").is_null() | (pl.col("criterion") == judged_by),
    )
    return kept.group_by("benchmark", "item_id", "raters", maintain_order=True).agg(
        labels=pl.col("label")
    )


def people_table(items: pl.DataFrame, about: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compute how often two people who rate the same give the same rating.

    Of all criteria, and of each of several; intervals are over texts. Items are responses where
    ratings name them. Benchmarks that no two people rated are left out.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item
    >>> from judgerel_ray.tables import items_to_frame
    >>> def rated(name, *labels):
    ...     ratings = tuple(HumanRating(rater=str(n), label=x) for n, x in enumerate(labels))
    ...     return Item(item_id=name, benchmark="b", category="c", question="?", ratings=ratings)
    >>> people_table(items_to_frame([rated("q", "1", "1", "2"), rated("r", "2", "2")]))[
    ...     "value"].round(3).to_list()
    [0.667]
    """
    rated = _exploded(items.select("benchmark", "item_id", "ratings"))
    if about is None:
        about = items.select("benchmark", "item_id", text=pl.col("item_id"))
    rated = rated.join(
        about.select("benchmark", "item_id", "text"),
        on=["benchmark", "item_id"],
        how="left",
        maintain_order="left",
    )
    rated = rated.filter(pl.col("label").is_not_null())
    rows: list[dict[str, object]] = []
    for name, part in rated.group_by("benchmark", "raters", maintain_order=True):
        place = dict(zip(("benchmark", "raters"), name, strict=True))
        names = part["criterion"].drop_nulls().unique(maintain_order=True).to_list()
        rows += _agreement({**place, "criterion": None}, part)
        if len(names) > 1:
            for criterion in names:
                ratings = part.filter(pl.col("criterion") == criterion)
                rows += _agreement({**place, "criterion": criterion}, ratings)
    return PeopleAgreement.frame(rows)


def _exploded(items: pl.DataFrame) -> pl.DataFrame:
    """One row a rating, with the kind of its rater."""
    rated = items.explode("ratings").unnest("ratings")
    return rated.with_columns(
        pl.when(pl.col("rater").str.contains(":"))
        .then(pl.col("rater").str.extract(r"^([^:]*):"))
        .alias("raters")
    )


def _agreement(place: dict[str, object], part: pl.DataFrame) -> list[dict[str, object]]:
    """One row, or none where no item has two ratings."""
    units = part.group_by("item_id", "responder", "criterion", maintain_order=True).agg(
        "label", pl.col("text").first()
    )
    units = units.filter(pl.col("label").list.len() > 1)
    ratings: Sequence[Sequence[str]] = units["label"].to_list()
    if not ratings:
        return []
    most = max(map(len, ratings))
    table = [[*one, *[None] * (most - len(one))] for one in ratings]
    found = inter_rater_accuracy(table, clusters_U=units["text"].to_numpy())
    counts = {"n_items": len(ratings), "n_ratings": sum(map(len, ratings))}
    return [{**place, **asdict(found), **counts}]
