"""The items table, and the way between its rows and :class:`judgerel_ray.core.Item`."""

from __future__ import annotations

from collections.abc import Iterable

import dataframely as dy
import polars as pl

from judgerel_ray.core import HumanRating, Item, Option


class Items(dy.Schema):
    """One item a row, as loaders write it and sweeps read it."""

    item_id = dy.String(primary_key=True)
    """Name of the item, unique in its file."""
    benchmark = dy.String()
    """Where it comes from."""
    category = dy.String()
    """Stratum for sampling."""
    question = dy.String()
    """The question; the first turn of a dialogue."""
    context = dy.String(nullable=True)
    """Passage the question is about."""
    turns = dy.List(dy.String())
    """Every user turn of a dialogue in order; empty otherwise."""
    options = dy.List(dy.Struct({"option_id": dy.String(), "text": dy.String()}))
    """Candidate answers; empty where responders write them."""
    gold = dy.String(nullable=True)
    """Reference answer as text, or the right option's id."""
    ratings = dy.List(
        dy.Struct(
            {
                "rater": dy.String(),
                "criterion": dy.String(nullable=True),
                "score": dy.Float64(nullable=True),
                "label": dy.String(nullable=True),
                "responder": dy.String(nullable=True),
            }
        )
    )
    """Human ratings, of the option that ``responder`` names or of the item; empty where none."""


def items_to_frame(items: Iterable[Item]) -> dy.DataFrame[Items]:
    """Lay items out as rows of the items table.

    Examples
    --------
    >>> items_to_frame([Item(item_id="q1", benchmark="b", category="c", question="?")]).height
    1
    """
    rows = [
        {
            "item_id": item.item_id,
            "benchmark": item.benchmark,
            "category": item.category,
            "question": item.question,
            "context": item.context,
            "turns": list(item.turns),
            "options": [{"option_id": o.option_id, "text": o.text} for o in item.options],
            "gold": item.gold,
            "ratings": [
                {
                    "rater": r.rater,
                    "criterion": r.criterion,
                    "score": r.score,
                    "label": r.label,
                    "responder": r.responder,
                }
                for r in item.ratings
            ],
        }
        for item in items
    ]
    schema = Items.create_empty().schema
    return Items.validate(pl.DataFrame(rows, schema=schema), cast=True)


def frame_to_items(frame: pl.DataFrame) -> tuple[Item, ...]:
    """Read rows of the items table back as items, in the order of the rows.

    Examples
    --------
    >>> one = Item(item_id="q1", benchmark="b", category="c", question="?")
    >>> frame_to_items(items_to_frame([one])) == (one,)
    True
    """
    return tuple(
        Item(
            item_id=row["item_id"],
            benchmark=row["benchmark"],
            category=row["category"],
            question=row["question"],
            context=row["context"],
            turns=tuple(row["turns"]),
            options=tuple(Option(**option) for option in row["options"]),
            gold=row["gold"],
            ratings=tuple(HumanRating(**rating) for rating in row["ratings"]),
        )
        for row in frame.iter_rows(named=True)
    )
