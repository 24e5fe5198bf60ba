"""Facets that should not matter to a verdict, and how many orders options have."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag, Noted

NUISANCE = ("option_order", "template", "definition")
"""Facets that should not matter to a verdict, where they are recorded."""
_NO_FACETS = ("item_id", "replication", "verdict", "score", "outcome", "label")
COUNTED_OPTIONS = 8
"""Most options whose orders are counted: 40,320 orders are as good as infinitely many."""


def checked_nuisance(
    nuisance: Sequence[str] | None, groups: Sequence[str], columns: Sequence[str]
) -> tuple[str, ...]:
    """Name the facets that should not matter to a verdict; a chosen one must be recorded.

    Examples
    --------
    >>> checked_nuisance(None, ["template"], ["template", "option_order"])
    ('option_order', 'definition')
    >>> checked_nuisance(["criterion"], [], ["criterion", "option_order"])
    ('option_order', 'template', 'definition', 'criterion')
    """
    chosen = nuisance or ()
    for name in chosen:
        if name not in columns or name in _NO_FACETS:
            raise SweepError(
                f"no facet {name!r} to treat as a nuisance, got columns {', '.join(columns)}",
                where={"nuisance": ",".join(chosen)},
            )
        if name in groups:
            raise SweepError(
                f"{name} cannot be both a nuisance facet and a column that makes groups",
                where={"nuisance": ",".join(chosen)},
            )
    return tuple(name for name in dict.fromkeys((*NUISANCE, *chosen)) if name not in groups)


def possible_orders(n_options: int | None) -> float | None:
    """How many orders so many declared options have; None where their number is not known.

    Examples
    --------
    >>> possible_orders(5), possible_orders(None)
    (120.0, None)
    """
    return None if n_options is None else float(factorial(min(n_options, COUNTED_OPTIONS)))


def orders_recorded(n_recorded: int, n_orders: float | None) -> list[Noted]:
    """Flag how many of all possible orders a question was asked in, where they are not all.

    Examples
    --------
    >>> orders_recorded(2, 24.0), orders_recorded(2, 2.0)
    ([(<Flag.SOME_ORDERS: 'some_orders_recorded'>, (2, 24.0))], [])
    """
    if n_orders is None or n_recorded >= n_orders:
        return []
    many = n_orders >= factorial(COUNTED_OPTIONS)
    flag = Flag.SOME_ORDERS_OF_MANY if many else Flag.SOME_ORDERS
    return [(flag, (n_recorded, n_orders))]
