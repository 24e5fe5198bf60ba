"""In which order options are shown: drawn once an item, held across replications."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from judgerel_ray.core import Item, Option, SweepError, digest

_COUNTED_OPTIONS = 8  # 40,320 orders: more than a sweep may ask for


def most_orders(n_options: int) -> int:
    """How many orders so many options have, as far as anyone asks for them.

    Examples
    --------
    >>> most_orders(2), most_orders(5)
    (2, 120)
    """
    return factorial(min(n_options, _COUNTED_OPTIONS))


def option_orders(
    item: Item, *, n_orders: int, seed: int, options: Sequence[Option] | None = None
) -> tuple[tuple[Option, ...], ...]:
    """Draw distinct orders of the options an item is shown with.

    The draw depends on the seed, the item's name and its option ids alone: not on the judge, the
    machine, or how often it is drawn.

    Examples
    --------
    >>> options = (Option(option_id="x", text="1"), Option(option_id="y", text="2"))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> len(set(option_orders(item, n_orders=2, seed=0)))
    2
    """
    by_name = {
        option.option_id: option for option in (item.options if options is None else options)
    }
    orders = order_names(item, tuple(by_name), n_orders=n_orders, seed=seed)
    return tuple(tuple(by_name[name] for name in order) for order in orders)


def order_names(
    item: Item, names: Sequence[str], *, n_orders: int, seed: int
) -> tuple[tuple[str, ...], ...]:
    """Draw distinct orders of option ids, as :func:`option_orders` does.

    Examples
    --------
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> sorted(order_names(item, ("x", "y"), n_orders=2, seed=0))
    [('x', 'y'), ('y', 'x')]
    """
    where = {"benchmark": item.benchmark, "item": item.item_id}
    if not names:
        raise SweepError(
            "an item without options cannot be judged by best_of",
            where=where,
            hint="name responders that write the options, or give the items options",
        )
    possible = most_orders(len(names))
    if n_orders > possible:
        raise SweepError(
            f"option_orders must be at most {possible} for {len(names)} options, got {n_orders}",
            where=where,
        )
    drawn: dict[tuple[str, ...], None] = {}
    draw = 0
    while len(drawn) < n_orders:
        drawn.setdefault(_order_shuffled_by_hash(item, names, seed=seed, draw=draw))
        draw += 1
    return tuple(drawn)


def order_numbers(
    item: Item,
    names: Sequence[str],
    *,
    n_orders: int,
    seed: int,
    draws: Sequence[tuple[int, int]],
) -> tuple[int, ...]:
    """Number a seed's orders, each order by one number whatever seed drew it.

    Examples
    --------
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
    >>> order_numbers(item, "xyz", n_orders=2, seed=0, draws=())
    (0, 1)
    >>> order_numbers(item, "xyz", n_orders=2, seed=5, draws=((0, 1), (5, 2)))
    (1, 2)
    """
    if not draws:
        return tuple(range(n_orders))
    possible = most_orders(len(names))
    numbers: dict[tuple[str, ...], int] = {}
    for other, n in draws:
        for order in order_names(item, names, n_orders=min(n, possible), seed=other):
            numbers.setdefault(order, len(numbers))
    order_of_item = order_names(item, names, n_orders=n_orders, seed=seed)
    return tuple(numbers[order] for order in order_of_item)


def _order_shuffled_by_hash(
    item: Item, names: Sequence[str], *, seed: int, draw: int
) -> tuple[str, ...]:
    """Names sorted by a hash: a uniform draw without any generator's state."""

    def place(name: str) -> str:
        named = [item.benchmark, item.item_id]
        return digest({"order": seed, "draw": draw, "item": named, "option": name})

    return tuple(sorted(names, key=place))
