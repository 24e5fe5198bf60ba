"""Places that options stood in: how many there are, and menus that differ from item to item.

Labels of a file say where the chosen option stood ("A", "B"); a tie stands nowhere, whatever its
label. Where items have options of their own (two of six systems each), what a verdict names in one
item is on no other's menu: verdicts are then taken by the place their option has in the first
order, or chance would be that of all options of the file. Orders of k options are k!; levels of
other facets are as many as declared, or unlimited.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import factorial
from typing import Literal

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.declared import of_protocols
from judgerel_ray.counting.nesting import N, UnitRows
from judgerel_ray.counting.verdicts.policy import SCORED

ORDER, SHOWN = "option_order", "label"
N_OPTIONS = "n_options"
"""Column of a file that declares how many options a question has; a tie is none."""
NO_OPTION = ("tie", "tied", "none", "neither", "both", "draw", "equal")
"""Labels that name no place."""
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

    Parameters
    ----------
    rows : pl.LazyFrame
        Judgments.
    where : mapping of str to object, optional
        What they are called in errors.

    Returns
    -------
    options : dict of str to int
        By benchmark, where all its questions have as many; "" is that of a file without any.
    notes : list of str
        Benchmarks whose questions have not.

    Raises
    ------
    SweepError
        If a number is none of 2, 3, ...

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
        number = None if text is None else _n_options(text)
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


def _n_options(text: str) -> int:
    """A number of options as it is written; 0 of what is none."""
    number = float(text) if text.strip().replace(".", "", 1).isdecimal() else 0.0
    return int(number) if number >= _PAIR and number == int(number) else 0


def options_of(part: pl.DataFrame, declared: Mapping[str, int]) -> int | None:
    """Give the most options declared for any benchmark of a group.

    Examples
    --------
    >>> options_of(pl.DataFrame({"benchmark": ["b", "c"]}), {"b": 2, "c": 4})
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
    """What labels say of the options of a file whose questions were asked in several orders.

    Attributes
    ----------
    labels : tuple of str
        The places, sorted.
    orders : tuple
        The orders recorded, sorted; not read of more than two places.
    own_menus : bool
        Whether items have two options of their own, in two orders.
    placed : tuple of str
        The verdicts that name a place.
    most : int, optional
        Places of one kind of prompt, at most, where kinds call them by names of their own.
    """

    labels: tuple[str, ...]
    orders: tuple[object, ...]
    own_menus: bool
    placed: tuple[str, ...] = ()
    most: int | None = None


def places_in(rows: pl.LazyFrame, columns: Sequence[str]) -> Places | None:
    """Read the places of a file; None without labels, or with one order.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "option_order": [0, 1] * 2,
    ...                      "label": ["A", "B"] * 2, "verdict": ["x", "x", "z", "z"]})
    >>> places_in(rows, ["label", "option_order", "verdict"])
    Places(labels=('A', 'B'), orders=(0, 1), own_menus=False, placed=(), most=None)
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
            labels=labels, orders=(), own_menus=False, most=places_of_prompts(kinds, prompts)
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
    own = kinds["verdict"].n_unique() > len(labels) == len(orders) == _PAIR
    return Places(labels=labels, orders=orders, own_menus=own)


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
    Places(labels=('A', 'B'), orders=(0, 1), own_menus=False, placed=('x',), most=None)
    """
    if not nested.places or nested.units[ORDER].n_unique() < _PAIR:
        return None
    stood = nested.by_place()
    n_labels, n_kinds = stood.totals(), nested.totals()
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
    own = verdicts.len() > len(labels) == len(orders) == _PAIR
    placed = labels if own else tuple(verdicts)
    prompts = [name for name in PROMPTS if name in nested.units.columns]
    most = None
    if prompts and len(labels) > _PAIR:
        most = places_of_prompts(stood.long(prompts), prompts)
    return Places(labels=labels, orders=orders, own_menus=own, placed=placed, most=most)


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
    >>> options_shown(Places(labels=("A", "B", "C"), orders=(0, 1), own_menus=False))
    3
    >>> options_shown(None) is None
    True
    """
    n = 0 if places is None else places.most or len(places.labels)
    return n if n > _PAIR else None


FacetSize = int | Literal["fixed", "unlimited"]
"""A number of levels, those recorded (fixed), or infinitely many."""
_QUESTION = "item_id"
_COUNTED_OPTIONS = 8  # 40,320 orders: as good as infinitely many


@dataclass(frozen=True, slots=True, kw_only=True)
class Populations:
    """How many levels facets have.

    Attributes
    ----------
    sizes : mapping of str to (int, "fixed" or "unlimited")
        What is declared. Orders of k options are k! in any case, where k is known.
    n_options : mapping of str to int
        Options of each question that are declared, by benchmark.
    own_orders : bool
        Whether every question has drawn its orders by itself, as those of a run have.
    """

    sizes: Mapping[str, FacetSize] = field(default_factory=dict)
    n_options: Mapping[str, int] = field(default_factory=dict)
    own_orders: bool = False

    def options(self, part: pl.DataFrame) -> int | None:
        """Give the options of each question of a group, where all have as many.

        Examples
        --------
        >>> rows = pl.DataFrame({"benchmark": ["b"]})
        >>> Populations(n_options={"b": 2}).options(rows), Populations().options(rows)
        (2, None)
        """
        names = part["benchmark"].unique() if "benchmark" in part.columns else [""]
        found = {self.n_options.get(name) for name in names}
        return found.pop() if len(found) == 1 else None


def checked_facet_sizes(
    sizes: Mapping[str, FacetSize], *, known: Collection[str], columns: Sequence[str]
) -> None:
    """Refuse sizes of facets that are not there, or whose levels are what is judged or chosen.

    Raises
    ------
    SweepError
        If one is.

    Examples
    --------
    >>> checked_facet_sizes({"template": 3}, known=["template"], columns=["template"])
    """
    there = [name for name in known if name in columns]
    for name, size in sizes.items():
        if name not in there:
            near = get_close_matches(name, there, n=1)
            raise SweepError(
                f"the size of {name!r} is of no facet here that should not matter and makes no "
                f"group, expected one of {', '.join(there) or 'none'}",
                hint=f"--facet-size {near[0]}={size}" if near else None,
            )
        if size not in ("fixed", "unlimited") and not (isinstance(size, int) and size >= 1):
            raise SweepError(
                f"the size of {name} must be a whole number from 1 on, fixed or unlimited, "
                f"got {size!r}"
            )


def group_sizes(
    part: pl.DataFrame,
    drawn: Sequence[str],
    sizes: Mapping[str, FacetSize],
    *,
    n_labels: int | None = None,
    n_options: int | None = None,
) -> dict[str, int]:
    """Tell the facets of one group that have a known number of levels, and how many.

    Parameters
    ----------
    part : pl.DataFrame
        Its counted judgments.
    drawn : sequence of str
        Facets that vary and should not matter.
    sizes : mapping of str to (int, "fixed" or "unlimited")
        What is declared; it goes before what is known of option_order.
    n_labels : int, optional
        Different labels shown that were chosen, where they are recorded.
    n_options : int, optional
        Options of each question, where they are declared.

    Raises
    ------
    SweepError
        If more levels are recorded than there are declared to be.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["x", "y"]})
    >>> group_sizes(rows, ["option_order"], {}), group_sizes(rows, ["option_order"],
    ...                                                      {"option_order": "unlimited"})
    ({'option_order': 2}, {})
    """
    found = {}
    for name in drawn:
        seen, size = part[name].n_unique(), sizes.get(name)
        if size is None and name == ORDER:
            size = _orders(part, seen, n_labels=n_labels, n_options=n_options)
        elif isinstance(size, int) and size < seen:
            raise SweepError(
                f"{name} has {seen} levels in these judgments, more than the {size} declared",
                hint=f"--facet-size {name}={seen}",
            )
        if size == "fixed":
            size = seen
        if isinstance(size, int):
            found[name] = size
    return found


def labels_chosen(frame: pl.LazyFrame, groups: Sequence[str]) -> dict[tuple[object, ...], int]:
    """Count the different labels that were chosen in each group; none where none is recorded.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "label": ["A", "B"]})
    >>> labels_chosen(rows, []), labels_chosen(rows.drop("label"), [])
    ({(): 2}, {})
    """
    columns = frame.collect_schema().names()
    if "label" not in columns:
        return {}
    label = pl.col("label").cast(pl.String)
    chosen = label.filter(~label.str.to_lowercase().is_in(NO_OPTION)).drop_nulls().n_unique()
    judged, counted = frame.filter(is_judge(columns)), chosen.alias("__labels")
    found = (judged.group_by(groups).agg(counted) if groups else judged.select(counted)).collect(
        engine="streaming"
    )
    return {
        tuple(row[name] for name in groups): row["__labels"]
        for row in found.iter_rows(named=True)
        if row["__labels"]
    }


def _orders(
    part: pl.DataFrame, seen: int, *, n_labels: int | None, n_options: int | None
) -> int | None:
    """Orders of the options; None where nothing tells how many options there are."""
    if n_options is None:
        verdict = pl.col("verdict").cast(pl.String)
        read = part.filter(~verdict.str.to_lowercase().is_in(NO_OPTION))
        each = read.group_by(_QUESTION).agg(verdict.n_unique())["verdict"].max()
        least = next((k for k in range(_COUNTED_OPTIONS + 1) if factorial(k) >= seen), None)
        if not isinstance(each, int) or least is None:
            return None
        least = max(least, each)
        # Names of options may be each question's own: without labels shown they count only where
        # no question can have fewer than all questions together.
        if n_labels is None and read["verdict"].n_unique() > least:
            return None
        n_options = max(least, n_labels or 0)
    if n_options > _COUNTED_OPTIONS or factorial(n_options) < seen:
        return None
    return factorial(n_options)
