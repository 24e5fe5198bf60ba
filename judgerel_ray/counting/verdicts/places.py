"""Places and orders that options stood in: how many there are, and menus that differ by item.

Labels of a file say where the chosen option stood ("A", "B"); a tie stands nowhere, whatever its
label. Where items have options of their own (two of six systems each), what a verdict names in one
item is on no other's menu: verdicts are then taken by the place their option has in the first
order, or chance would be that of all options of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import factorial

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.counting.columns import of_protocols
from judgerel_ray.counting.nesting import N, UnitRows
from judgerel_ray.counting.verdicts.policy import SCORED

ORDER, SHOWN = "option_order", "label"
N_OPTIONS = "n_options"
"""Column of a file that declares how many options a question has; a tie is none."""
NO_OPTION = ("tie", "tied", "none", "neither", "both", "draw", "equal")
"""Labels that name no place."""
COUNTED_OPTIONS = 8
"""Most options whose orders are counted: 40,320 orders are as good as infinitely many."""
NEGLIGIBLE = 0.005
"""Share of verdicts below which a label beyond the options that verdicts show is no place."""
_PAIR = 2
_FIRST = ("a", "0", "1", "first", "left")
PROMPTS = ("benchmark", "protocol", "criterion", "definition", "template")
"""Columns of what is asked: each may call its places by names of its own."""


def place() -> pl.Expr:
    """Give the place of the chosen option, null where it names none.

    Examples
    --------
    >>> pl.DataFrame({"label": ["A", "Tie", ""]}).select(place()).to_series().to_list()
    ['A', None, None]
    """
    text = pl.col(SHOWN).cast(pl.String).str.strip_chars()
    tie = text.str.to_lowercase().is_in(NO_OPTION) | (text == "")
    return pl.when(~tie).then(text).alias(SHOWN)


def is_tie() -> pl.Expr:
    """Tell verdicts that are a tie by their name; null of none.

    Examples
    --------
    >>> pl.DataFrame({"verdict": ["A", " Tie"]}).select(is_tie()).to_series().to_list()
    [False, True]
    """
    return pl.col("verdict").cast(pl.String).str.strip_chars().str.to_lowercase().is_in(NO_OPTION)


def names_models(columns: Collection[str]) -> pl.Expr:
    """Tell rows about models, which are shown in an order and are each their own label.

    Examples
    --------
    >>> rows = pl.DataFrame({"protocol": ["think_twice", "best_of", None]})
    >>> rows.select(names_models(rows.columns)).to_series().to_list()
    [True, False, False]
    """
    if "protocol" not in columns:
        return pl.lit(False)
    return of_protocols(lambda one: one.models_answer).fill_null(False)


def declared_options(
    rows: pl.LazyFrame, where: Mapping[str, object] | None = None
) -> tuple[dict[str, int], list[str]]:
    """Read how many options a file declares its questions to have, in the column ``n_options``.

    options: By benchmark, where all its questions have as many; "" is that of a file without any.

    notes: Benchmarks whose questions have not.

    Examples
    --------
    >>> declared_options(pl.LazyFrame({"item_id": ["q"], "n_options": [2]}))
    ({'': 2}, [])
    """
    columns = rows.collect_schema().names()
    if N_OPTIONS not in columns:
        return {}, []
    name = pl.col("benchmark").cast(pl.String) if "benchmark" in columns else pl.lit("")
    sizes = rows.select(name.alias("benchmark"), pl.col(N_OPTIONS).cast(pl.String)).unique()
    numbers: dict[str, set[int | None]] = {}
    for benchmark, text in sizes.sort("benchmark", N_OPTIONS).collect().iter_rows():
        number = None if text is None else _number_of_verdict_options(text)
        if number == 0:
            is_text = pl.col(N_OPTIONS).cast(pl.String) == text
            first = rows.with_row_index("__row").filter(is_text).select("__row").head(1).collect()
            raise SweepError(
                f"{N_OPTIONS}: expected a whole number from 2 on, got {text!r}",
                where={**(where or {}), "row": first.item() + 1},
                hint="write how many options the question has, or rename the column",
            )
        numbers.setdefault(benchmark or "", set()).add(number)
    notes = [
        f"{N_OPTIONS} is not one number{' in ' * bool(one)}{one} ("
        f"{', '.join(sorted(map(str, some))).replace('None', 'none')}): "
        "options are counted by their labels"
        for one, some in numbers.items()
        if len(some) > 1
    ]
    return {
        one: next(iter(known))
        for one, some in numbers.items()
        if len(some) == 1 and (known := [number for number in some if number is not None])
    }, notes


def _number_of_verdict_options(text: str) -> int:
    """A number of options as it is written; 0 of what is none."""
    number = float(text) if text.strip().replace(".", "", 1).isdecimal() else 0.0
    return int(number) if number >= _PAIR and number == int(number) else 0


def most_declared_options(part: pl.DataFrame, declared: Mapping[str, int]) -> int | None:
    """Give the most options declared for any benchmark of a group.

    Examples
    --------
    >>> most_declared_options(pl.DataFrame({"benchmark": ["b", "c"]}), {"b": 2, "c": 4})
    4
    """
    names = part["benchmark"].unique().to_list() if "benchmark" in part.columns else [""]
    return max((declared[name] for name in names if name in declared), default=None)


def first_of(places: Sequence[str]) -> int | None:
    """Find the first place among those named; None where none of them is known to be it.

    Examples
    --------
    >>> first_of(["A", "B"]), first_of(["A"]), first_of(["B"]) is None
    (0, 0, True)
    >>> first_of(["10", "2", "1"])
    2
    """
    words = [place.lower() for place in places]
    for first in _FIRST:
        if first in words:
            return words.index(first)
    # Of several the first in their own order, unless it is one whose predecessor was never named.
    known = all(word.isdecimal() or len(word) == 1 for word in words)
    return None if known or len(places) < _PAIR else min(range(len(places)), key=places.__getitem__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What labels say of the options of a file whose questions were asked in several orders."""

    labels: tuple[str, ...]
    orders: tuple[object, ...]  # The orders recorded, sorted; not read of more than two places.
    item_menus: bool  # Whether items have two options of their own, in two orders.
    placed: tuple[str, ...] = ()  # The verdicts that name a place.
    # Places of one kind of prompt, at most, where kinds call them by names of their own.
    most: int | None = None


def places_in(rows: pl.LazyFrame, columns: Sequence[str]) -> Places | None:
    """Read the places of a file; None without labels, or with one order.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "option_order": [0, 1] * 2,
    ...                      "label": ["A", "B"] * 2, "verdict": ["x", "x", "z", "z"]})
    >>> places_in(rows, ["label", "option_order", "verdict"])
    Places(labels=('A', 'B'), orders=(0, 1), item_menus=False, placed=(), most=None)
    """
    if not {SHOWN, ORDER, "verdict"} <= set(columns):
        return None
    named = rows.select(pl.col(SHOWN).cast(pl.String).unique()).collect(engine="streaming")
    seen = named.select(place()).to_series().drop_nulls().unique().sort()
    if seen.len() > _PAIR:  # of more than two, places alone are read: it takes a third of the time
        prompts = [name for name in PROMPTS if name in columns]
        kinds = rows.select(*prompts, place()).unique().collect(engine="streaming")
        labels = tuple(seen.to_list())
        return Places(
            labels=labels, orders=(), item_menus=False, most=places_of_prompts(kinds, prompts)
        )
    kinds = (
        rows.select(place(), pl.col(ORDER), pl.col("verdict").cast(pl.String))
        .filter(pl.col(SHOWN).is_not_null(), pl.col("verdict").is_not_null())
        .group_by(SHOWN, ORDER, "verdict")
        .len()
        .collect(engine="streaming")
    )
    orders = tuple(kinds[ORDER].drop_nulls().unique().sort().to_list())
    if len(orders) < _PAIR:
        return None
    labels = tuple(kinds[SHOWN].unique().sort().to_list())
    # What a verdict names beyond the labels is of no menu that all items share.
    many = kinds["verdict"].n_unique() > len(labels) == len(orders) == _PAIR
    return Places(labels=labels, orders=orders, item_menus=many)


def places_of_prompts(labels: pl.DataFrame, prompts: Sequence[str]) -> int | None:
    """Count the places of the kind of prompt that has the most; None where none tells them apart.

    Examples
    --------
    >>> labels = pl.DataFrame({"template": ["s", "s", "t", "t"], "label": ["A", "B", "1", "2"]})
    >>> places_of_prompts(labels, ["template"])
    2
    """
    if not prompts:
        return None
    of_each = labels.drop_nulls(SHOWN).group_by(prompts).agg(pl.col(SHOWN).n_unique())[SHOWN]
    return int(str(of_each.max())) if of_each.len() else None


def places_counted(nested: UnitRows, rows: pl.LazyFrame) -> Places | None:
    """Read the places of a file from its counts; of the rows just which verdicts are ties.

    Examples
    --------
    >>> units = pl.DataFrame({"item_id": ["q", "q"], "option_order": [0, 1], "__kind": [[0], [0]],
    ...                       "n": [[2], [1]], "__places": [[2, 0], [0, 1]]})
    >>> kinds = pl.DataFrame({"verdict": ["x"], "score": [None], "outcome": ["scored"]})
    >>> places_counted(UnitRows(units=units, kinds=kinds, places=("A", "B")), pl.LazyFrame())
    Places(labels=('A', 'B'), orders=(0, 1), item_menus=False, placed=('x',), most=None)
    """
    if not nested.places or nested.units[ORDER].n_unique() < _PAIR:
        return None
    stood = nested.by_place()
    n_labels, n_kinds = stood.totals, nested.totals
    labels = tuple(stood.kinds.filter(pl.Series(n_labels > 0))[SHOWN])
    placed_U = stood.units[N].list.sum() > 0
    orders = tuple(nested.units.filter(placed_U)[ORDER].drop_nulls().unique().sort())
    scored = nested.kinds.select(SCORED.fill_null(False)).to_series().to_numpy()
    names = nested.kinds["verdict"].filter(pl.Series(scored & (n_kinds > 0)))
    verdicts = names.drop_nulls().unique().sort()
    if verdicts.is_empty() or (len(labels) <= _PAIR and len(orders) < _PAIR):
        return None
    all_placed = n_labels.sum() == n_kinds[scored].sum()
    if verdicts.len() > len(labels) and not all_placed:
        where = place().is_not_null() & pl.col("verdict").is_not_null()
        named = rows.filter(where).select(pl.col("verdict").cast(pl.String).unique())
        verdicts = named.collect(engine="streaming").to_series().sort()
    # What a verdict names beyond the labels is of no menu that all items share.
    many = verdicts.len() > len(labels) == len(orders) == _PAIR
    placed = labels if many else tuple(verdicts)
    prompts = [name for name in PROMPTS if name in nested.units.columns]
    most = None
    if prompts and len(labels) > _PAIR:
        most = places_of_prompts(stood.long(prompts), prompts)
    return Places(labels=labels, orders=orders, item_menus=many, placed=placed, most=most)


def labels_need_rows(nested: UnitRows) -> bool:
    """Whether counts leave it open which labels name a place, so that rows are to be read again.

    Examples
    --------
    >>> units = pl.DataFrame({"item_id": ["q", "q"], "option_order": [0, 1], "__kind": [[0], [0]],
    ...                       "n": [[2], [1]], "__places": [[2, 0], [0, 1]]})
    >>> kinds = pl.DataFrame({"verdict": ["x"], "score": [None], "outcome": ["scored"]})
    >>> labels_need_rows(UnitRows(units=units, kinds=kinds, places=("A", "B")))
    False
    """
    if not nested.places or ORDER not in nested.units or nested.units[ORDER].n_unique() < _PAIR:
        return False
    n_labels = [int(n) for n in nested.by_place().totals if n > 0]
    if not n_labels:
        return False
    named = (
        pl.Series(nested.totals > 0)
        & nested.kinds.select(SCORED.fill_null(False) & pl.col("verdict").is_not_null()).to_series()
    )
    verdicts = nested.kinds.filter(named)["verdict"]
    if verdicts.to_frame().select(is_tie().any()).item():
        return True
    if len(n_labels) <= _PAIR:
        return False
    alike = set(n_labels) & {int(n) for n in nested.totals[named.to_numpy()]}
    shown = verdicts.n_unique()
    if shown > len(n_labels):  # each question has options of its own
        options = nested.long(["item_id"]).group_by("item_id").agg(pl.col("verdict").n_unique())
        shown = int(str(options["verdict"].max() or 0))
    rare = min(n_labels) < NEGLIGIBLE * sum(n_labels)
    return bool(alike) or rare or shown < len(n_labels)


def by_place(rows: pl.LazyFrame, places: Places) -> pl.LazyFrame:
    """Name each verdict by the place its option has in the first order; ties stay as they are.

    Examples
    --------
    >>> rows = pl.LazyFrame({"option_order": [0, 1, 1], "label": ["A", "B", "A"],
    ...                      "verdict": ["x", "x", "z"]})
    >>> found = places_in(rows.with_columns(item_id=pl.lit("q")), rows.collect_schema().names())
    >>> by_place(rows, found).collect()["verdict"].to_list()
    ['A', 'A', 'B']
    """
    first, second = places.labels
    turned = pl.when(place() == first).then(pl.lit(second)).otherwise(pl.lit(first))
    stood = pl.when(pl.col(ORDER) == places.orders[0]).then(place()).otherwise(turned)
    known = place().is_not_null() & pl.col("verdict").is_not_null() & pl.col(ORDER).is_not_null()
    verdict = pl.when(known).then(stood).otherwise(pl.col("verdict").cast(pl.String))
    return rows.with_columns(verdict=verdict)


def options_shown(places: Places | None) -> int | None:
    """How many options each question has, as far as its places tell: at least three.

    Of two places nothing is lost by not knowing, and a third may be a tie.

    Examples
    --------
    >>> options_shown(Places(labels=("A", "B", "C"), orders=(0, 1), item_menus=False))
    3
    >>> options_shown(None) is None
    True
    """
    n = 0 if places is None else places.most or len(places.labels)
    return n if n > _PAIR else None


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
