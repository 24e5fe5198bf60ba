"""In which order options are shown: drawn once an item, held across replications."""

from __future__ import annotations

from math import factorial

from judgerel_ray.core import Item, Option, SweepError, digest


def option_orders(item: Item, *, n_orders: int, seed: int) -> tuple[tuple[Option, ...], ...]:
    """Draw distinct orders of an item's options.

    The draw depends on the seed, the item's id and its option ids alone: not on the judge, the
    machine, or how often it is drawn.

    Parameters
    ----------
    item : Item
        With at least one option.
    n_orders : int
        How many orders; they all differ.
    seed : int
        The sweep's ``order_seed``.

    Returns
    -------
    tuple of tuple of Option
        ``n_orders`` permutations of the options; the first k are the same for every ``n_orders``.

    Raises
    ------
    SweepError
        If the item has no options, or fewer orders than asked for.

    Examples
    --------
    >>> options = (Option(option_id="x", text="1"), Option(option_id="y", text="2"))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", options=options)
    >>> len(set(option_orders(item, n_orders=2, seed=0)))
    2
    """
    if not item.options:
        raise SweepError(
            "an item without options cannot be judged by best_of",
            where={"benchmark": item.benchmark, "item": item.item_id},
            hint="name responders that write the options, or give the items options",
        )
    possible = factorial(min(len(item.options), 8))
    if n_orders > possible:
        raise SweepError(
            f"option_orders must be at most {possible} for {len(item.options)} options, "
            f"got {n_orders}",
            where={"benchmark": item.benchmark, "item": item.item_id},
        )
    drawn: list[tuple[Option, ...]] = []
    draw = 0
    while len(drawn) < n_orders:
        order = _shuffled(item, seed=seed, draw=draw)
        draw += 1
        if order not in drawn:
            drawn.append(order)
    return tuple(drawn)


def _shuffled(item: Item, *, seed: int, draw: int) -> tuple[Option, ...]:
    """Options sorted by a hash: a uniform draw without any generator's state."""

    def place(option: Option) -> str:
        return digest(
            {"order": seed, "draw": draw, "item": item.item_id, "option": option.option_id}
        )

    return tuple(sorted(item.options, key=place))
