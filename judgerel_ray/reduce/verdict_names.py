"""What a verdict names where options were shown in several orders: an option, or its place.

Whether two verdicts of two orders are the same depends on it, so it is asked and never guessed. A
column ``label`` tells: then the verdict names the option and the label its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.estimates import REPRODUCIBILITY, Row
from judgerel_ray.reduce.places import NO_OPTION, ORDER, SHOWN, Places, by_place
from judgerel_ray.reduce.policy import SCORED
from judgerel_ray.reduce.tally import Tally
from judgerel_ray.stats.correctness import CORRECTNESS
from judgerel_ray.stats.order_effects import ORDER_EFFECTS

VerdictNames = Literal["option", "place"]
CHOICES: tuple[VerdictNames, ...] = ("option", "place")
UNKNOWN = "verdict_names_unknown"
"""``undefined`` of what compares verdicts across orders, where it is not known what they name."""
ASK = (
    "--verdict-names option, or place where a verdict says where the chosen option stood; or a "
    "column label with that place beside a verdict that names the option"
)
"""What to do about it."""
_HEAD = 10_000  # rows that nearly always tell; only where they do not, all are read
_PAIR = 2
_COUNTERPARTS = (("a", "b"), ("1", "2"), ("0", "1"), ("first", "second"), ("left", "right"))
_OF_OPTIONS = (*ORDER_EFFECTS, *CORRECTNESS)
_NOT_CROSSED = ("orders_not_crossed", "facets_not_crossed")
_NUMBERS = ("value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise", "noise")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedVerdicts:
    """Judgments whose verdicts name options, or of which nobody said what they name.

    Attributes
    ----------
    rows : pl.LazyFrame
        The judgments.
    known : bool
        Whether verdicts name options, in so far as that matters.
    changed : bool
        Whether these are other rows than those that were counted.
    """

    rows: pl.LazyFrame
    known: bool
    changed: bool = False


def checked_names(name: str | None) -> VerdictNames | None:
    """Choose what verdicts name; None where it was not said.

    Examples
    --------
    >>> checked_names("place"), checked_names(None)
    ('place', None)
    """
    for one in CHOICES:
        if one == name:
            return one
    if name is None:
        return None
    raise SweepError(f"--verdict-names must be option or place, got {name!r}")


def named_verdicts(
    tally: Tally, asked: VerdictNames | None, where: Mapping[str, object]
) -> NamedVerdicts:
    """Have verdicts name options, as they are said to, or say that it is not known.

    Parameters
    ----------
    tally : Tally
        A file of judgments, counted.
    asked : {"option", "place"}, optional
        What its verdicts are said to name.
    where : mapping of str to object
        The file, for an error.

    Returns
    -------
    NamedVerdicts
        Of verdicts that name places, two to choose from in two orders, ``label`` is the place, and
        the verdict the option by the place it has in the first order.

    Raises
    ------
    SweepError
        If which option stood at a place cannot be told, or labels say other places.

    Examples
    --------
    >>> from judgerel_ray.reduce import tally_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["A", "A"]})
    >>> named_verdicts(tally_judgments(rows), None, {}).known
    False
    >>> named_verdicts(tally_judgments(rows), "place", {}).rows.collect()["verdict"].to_list()
    ['A', 'B']
    """
    units = tally.nested.units
    orders = units[ORDER].unique() if ORDER in units.columns else pl.Series([0])
    names = _names(tally)
    if orders.len() < _PAIR or not names or not (asked or _crossed(units)):
        return NamedVerdicts(rows=tally.rows, known=True)
    labelled = SHOWN in tally.columns and _tells_places(tally.rows, tally.columns)
    if asked is None or (labelled and asked == "option"):
        return NamedVerdicts(rows=tally.rows, known=labelled)
    if asked == "option":
        # A label that repeats the verdict is no place.
        return NamedVerdicts(
            rows=tally.rows.drop(SHOWN, strict=False), known=True, changed=SHOWN in tally.columns
        )
    if labelled:
        raise SweepError(
            "verdicts are said to name places, and the column label holds other ones",
            where=where,
            hint="leave --verdict-names out: verdict is the option, label its place; or drop label",
        )
    places = Places(labels=_two_places(names, orders, where), orders=_two(orders), own_menus=True)
    rows = by_place(tally.rows.with_columns(pl.col("verdict").alias(SHOWN)), places)
    return NamedVerdicts(rows=rows, known=True, changed=True)


def withheld(row: Row, nuisance: Sequence[str]) -> Row:
    """Leave the numbers out of a row that takes verdicts for options across orders.

    Those are agreement across orders, where options stood, and what is right. A row that has no
    value since no item was asked in two orders keeps that reason.

    Parameters
    ----------
    row : dict
        A coefficient.
    nuisance : sequence of str
        Facets that are drawn at random in its group's reproducibility.

    Examples
    --------
    >>> row = {"coefficient": "swap_consistency", "value": 0.9, "low": 0.8, "high": 1.0,
    ...        "undefined": None, "conditions": None, "estimator": "share"}
    >>> withheld(row, ["option_order"])["undefined"]
    'verdict_names_unknown'
    >>> withheld({**row, "coefficient": "flip_rate"}, ["option_order"])["value"]
    0.9
    """
    reproduced = row["conditions"] == REPRODUCIBILITY and ORDER in nuisance
    if not (row["coefficient"] in _OF_OPTIONS or reproduced):
        return row
    if row["undefined"] in _NOT_CROSSED:
        return row
    what = str(row["estimator"]).partition("; ")[0]  # the rest is of the numbers
    return {**row, **dict.fromkeys(_NUMBERS), "estimator": what, "undefined": UNKNOWN}


def refuse_unknown(what: str, where: Mapping[str, object]) -> None:
    """Refuse what compares verdicts across orders, where it is not known what they name.

    Raises
    ------
    SweepError
        Always.

    Examples
    --------
    >>> refuse_unknown("advise", {})
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: advise compares verdicts across orders of the options, ...
    """
    raise SweepError(
        f"{what} compares verdicts across orders of the options, and nothing says whether a "
        "verdict names an option or a place",
        where=where,
        hint=ASK,
    )


def _names(tally: Tally) -> list[str]:
    """Verdicts that are names, as they are written; ratings are numbers in any order."""
    kinds = tally.nested.kinds.filter(SCORED.fill_null(False), pl.col("score").is_null())
    return sorted(kinds["verdict"].drop_nulls().unique().to_list())


def _crossed(units: pl.DataFrame) -> bool:
    """Whether any item was asked in two orders; else no two verdicts are of different ones."""
    asked = units.select("item_id", ORDER).unique()
    return asked.height > asked["item_id"].n_unique()


def _tells_places(rows: pl.LazyFrame, columns: tuple[str, ...]) -> bool:
    """Whether any label is another word than its verdict."""
    told = pl.col(SHOWN).cast(pl.String) != pl.col("verdict").cast(pl.String)
    if "protocol" in columns:  # models are shown in an order, and each is its own label
        told = told | (pl.col("protocol").cast(pl.String) == "think_twice")

    def any_told(part: pl.LazyFrame) -> bool:
        found = part.select(told.fill_null(False).any()).collect(engine="streaming")
        return bool(found.item())

    return any_told(rows.head(_HEAD)) or any_told(rows)


def _two(orders: pl.Series) -> tuple[object, ...]:
    """The orders, the first of them as options are listed."""
    return tuple(orders.sort().to_list())


def _two_places(
    names: list[str], orders: pl.Series, where: Mapping[str, object]
) -> tuple[str, str]:
    """The two places; refused where which option stood at one of them is not known."""
    places = [name.strip() for name in names if name.strip().lower() not in NO_OPTION]
    told = f"{len(places)} places ({', '.join(places[:5])}{', ...' * (len(places) > 5)})"
    hint = "give the option in verdict and its place in label"
    if orders.null_count():
        raise SweepError(
            "verdicts are said to name places, and some rows say no option_order",
            where=where,
            hint="fill option_order in every row",
        )
    if len(places) > _PAIR or orders.len() > _PAIR:
        raise SweepError(
            "verdicts are said to name places: which option stood at one is known of two options "
            f"in two orders, got {told} in {orders.len()} orders",
            where=where,
            hint=hint,
        )
    if len(places) == _PAIR:
        return places[0], places[1]
    own = places[0] if places else ""
    pair = next((pair for pair in _COUNTERPARTS if own.lower() in pair), None)
    if pair is None:
        raise SweepError(
            f"verdicts are said to name places, of which there should be two, got {told}",
            where=where,
            hint=hint,
        )
    other = pair[1] if own.lower() == pair[0] else pair[0]
    other = other.upper() if own.isupper() else other.title() if own.istitle() else other
    return min(own, other), max(own, other)
