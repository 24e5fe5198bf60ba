"""Turn ``demo/items.toml`` into the items table of the package: ``python -m demo.write_items``.

The right answer of an item is the option of the highest designed quality.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NotRequired, TypedDict

from demo.judge_design import ITEMS_FILE, WORDS, quality
from judgerel_ray.core import Item, Option
from judgerel_ray.tables import items_to_frame

SOURCE = Path(__file__).resolve().parent / "items.toml"
QUALITY_WORD = re.compile(rf"(?<= )(?:{'|'.join(WORDS)})(?![A-Za-z-])")


class Record(TypedDict):
    """One item as ``items.toml`` holds it."""

    item_id: str
    category: str
    options: list[dict[str, str]]
    question: NotRequired[str]
    context: NotRequired[str]
    turns: NotRequired[list[str]]


def quality_words(text: str) -> list[str]:
    """Find the quality words of an option's text, by the rule the judge's tokenizer follows."""
    return QUALITY_WORD.findall(f" {text}")


def read_items(source: Path = SOURCE) -> tuple[Item, ...]:
    """Read the hand-written items, each with the id of its best option as ``gold``."""
    records = tomllib.loads(source.read_text(encoding="utf-8"))["item"]
    return tuple(_item(record) for record in records)


def _item(record: Record) -> Item:
    """Make one item of its record; a dialogue's question is its first turn."""
    options = tuple(Option(**option) for option in record["options"])
    best = max(options, key=lambda option: quality(quality_words(option.text)))
    turns = tuple(record.get("turns", ()))
    return Item(
        item_id=record["item_id"],
        benchmark="demo",
        category=record["category"],
        question=turns[0] if turns else record["question"],
        context=record.get("context"),
        turns=turns,
        options=options,
        gold=best.option_id,
    )


def main() -> None:
    """Write the table and print each item's qualities."""
    items = read_items()
    for item in items:
        qualities = [quality(quality_words(option.text)) for option in item.options]
        print(f"{item.item_id:12} {'  '.join(f'{q:5.1f}' for q in qualities)}  {item.gold}")
    items_to_frame(items).write_parquet(ITEMS_FILE)


if __name__ == "__main__":
    main()
