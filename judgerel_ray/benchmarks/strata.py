"""Drawing items by stratum, the same ones whatever the order they come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from judgerel_ray.core import Item, SweepError, digest

Per = Literal["category", "benchmark"]


def sample_items(
    items: Iterable[Item],
    *,
    per: Per | None,
    n: int,
    seed: int,
    categories: int | None = None,
) -> tuple[Item, ...]:
    """Draw `n` items of every stratum.

    Every item has a rank, the hash of seed, benchmark and item_id, and the first `n` of each
    stratum are drawn. So the draw does not depend on the order of the items, a larger `n` holds
    every smaller draw of the same seed, and another stratum's items change nothing.

    Parameters
    ----------
    items : iterable of Item
        Item ids must differ within a benchmark.
    per : {"category", "benchmark"} or None
        What a stratum is: a category of a benchmark, a benchmark, or everything.
    n : int
        Items drawn of each stratum, at least 1.
    seed : int
        The draw.
    categories : int, optional
        How many strata are drawn, by the same seed; default all. schroeder2024 asked one
        question per category: all 27 of BBH, all 8 of MT-Bench, and 20 of SQuAD's many titles
        (v1.1 dev has 48, v2.0 dev 35), which is ``per="category", n=1, categories=20``: 55 in all.

    Returns
    -------
    tuple of Item
        In the order of benchmark, category and item_id.

    Raises
    ------
    SweepError
        If a stratum has fewer than `n` items, or there are fewer than `categories` strata; both
        numbers are named. Also if there is no item or one stands twice, or `n` or `categories`
        is below 1.

    Examples
    --------
    >>> rows = [Item(item_id=f"{c}{i}", benchmark="b", category=c, question="?")
    ...         for c in "xy" for i in range(9)]
    >>> drawn = sample_items(rows, per="category", n=1, seed=1)
    >>> [item.category for item in drawn]
    ['x', 'y']
    >>> drawn == sample_items(rows[::-1], per="category", n=1, seed=1)
    True
    """
    _check_request(per, n, categories)
    strata: dict[tuple[str, ...], list[Item]] = {}
    listed = _distinct(items)
    for item in listed:
        strata.setdefault(_stratum(item, per), []).append(item)
    drawn: list[Item] = []
    for stratum in _drawn_strata(list(strata), categories, seed):
        inside = strata[stratum]
        if len(inside) < n:
            raise SweepError(
                f"asked for {n} items of each stratum, {_named(stratum)} has {len(inside)}",
                where={"per": per},
                hint=f"n = {len(inside)} or fewer",
            )
        drawn += sorted(inside, key=lambda item: draw_rank(seed, item.benchmark, item.item_id))[:n]
    return tuple(sorted(drawn, key=lambda item: (item.benchmark, item.category, item.item_id)))


def _check_request(per: str | None, n: int, categories: int | None) -> None:
    """Refuse a request that no items could meet."""
    if per not in ("category", "benchmark", None):
        raise SweepError(f"per must be category, benchmark or nothing, got {per!r}")
    if n < 1:
        raise SweepError(f"n must be at least 1, got {n}")
    if categories is not None and categories < 1:
        raise SweepError(f"categories must be at least 1, got {categories}")
    if categories is not None and per is None:
        raise SweepError("categories counts strata and needs per", hint='per = "category"')


def _distinct(items: Iterable[Item]) -> list[Item]:
    """The items, each there once, and at least one."""
    listed = list(items)
    if not listed:
        raise SweepError("there are no items to draw from")
    seen: set[tuple[str, str]] = set()
    for item in listed:
        name = (item.benchmark, item.item_id)
        if name in seen:
            raise SweepError(
                f"item_id {item.item_id!r} stands twice", where={"benchmark": item.benchmark}
            )
        seen.add(name)
    return listed


def _stratum(item: Item, per: Per | None) -> tuple[str, ...]:
    """What an item is counted with."""
    if per is None:
        return ()
    return (item.benchmark, item.category) if per == "category" else (item.benchmark,)


def _drawn_strata(
    strata: Sequence[tuple[str, ...]], categories: int | None, seed: int
) -> list[tuple[str, ...]]:
    """The strata that are drawn from, in an order of their own."""
    if categories is None:
        return sorted(strata)
    if len(strata) < categories:
        raise SweepError(
            f"asked for {categories} strata, there are {len(strata)}",
            hint=f"categories = {len(strata)} or fewer",
        )
    return sorted(strata, key=lambda stratum: draw_rank(seed, *stratum))[:categories]


def draw_rank(seed: int, *names: str) -> tuple[str, tuple[str, ...]]:
    """Give the place of what these names stand for in a draw; they break a tie of hashes.

    Examples
    --------
    >>> min("xyz", key=lambda name: draw_rank(1, name))
    'z'
    """
    return digest({"seed": seed, "names": list(names)}), names


def _named(stratum: tuple[str, ...]) -> str:
    """A stratum in words."""
    return " ".join(map(repr, stratum)) or "all of them together"
