"""What a verdict names where options were shown in several orders: an option, or its place.

Whether two verdicts of two orders are the same depends on it, so it is asked and never guessed. A
column ``label`` tells: then the verdict names the option and the label its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import FACETS, is_judge
from judgerel_ray.counting.groups.fast_count import little_read_ahead
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.nesting import KIND, PLACES, N
from judgerel_ray.counting.verdicts.places import (
    N_OPTIONS,
    NO_OPTION,
    ORDER,
    SHOWN,
    Places,
    by_place,
    names_models,
    place,
)
from judgerel_ray.counting.verdicts.policy import (
    REPEATABILITY,
    REPRODUCIBILITY,
    SCORED,
    Row,
    method_columns,
)
from judgerel_ray.stats.agreement.agreement import OF_GOLD
from judgerel_ray.stats.generalizability.order_effects import ORDER_EFFECTS

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
_ITEMS = 100  # questions that nearly always tell, wherever their rows are
_PAIR = 2
_LONG_NAME = 12  # characters from which a verdict is no letter or word for a place
_COUNTERPARTS = (("a", "b"), ("1", "2"), ("0", "1"), ("first", "second"), ("left", "right"))
_OF_OPTIONS = (*ORDER_EFFECTS, *OF_GOLD)
_NOT_CROSSED = ("orders_not_crossed", "facets_not_crossed")
_CHANCE = ("noise_floor", "noise_floor_sd", "p_noise", "noise")
_NUMBERS = ("value", "low", "high", *_CHANCE)
_UNIT = "__unit"
_ASK_COLUMNS = ("judge", "benchmark", "protocol", "template", "temperature", "definition")
REPEATS = (
    "it stays the same where the order of the options changes, or repeats the verdict, so it is no "
    "place and does not say what a verdict names"
)
RIGHT = (
    "column label stays the same while the verdict changes in one order: it says what is right, "
    "not which place was chosen, and is not read"
)
PARTIAL = "only a part of the verdicts has one, so what the others name is not known"
TAKEN = (
    "options are shown in several orders, each item in one, and nothing says whether a verdict "
    "names an option or a place: taken for options; --verdict-names place if it names the place"
)
_ITSELF = ("percent_agreement", "flip_rate", "brennan_prediger")
"""What agreement in the same prompt is without asking what other prompts got."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedVerdicts:
    """Judgments whose verdicts name options, or of which nobody said what they name."""

    rows: pl.LazyFrame
    known: bool  # Whether verdicts name options, in so far as that matters.
    changed: bool = False  # Whether these are other rows than those that were counted.
    # Why labels that are there do not tell, or what was asked changes nothing.
    notes: tuple[str, ...] = ()


def naming_of_verdicts(name: str | None) -> VerdictNames | None:
    """Choose what verdicts name; None where it was not said.

    Examples
    --------
    >>> naming_of_verdicts("place"), naming_of_verdicts(None)
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

    Of verdicts that name places, two to choose from in two orders, ``label`` is the place, and the
    verdict the option by the place it has in the first order.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["A", "A"]})
    >>> named_verdicts(tally_judgments(rows), None, {}).known
    False
    >>> named_verdicts(tally_judgments(rows), "place", {}).rows.collect()["verdict"].to_list()
    ['A', 'B']
    """
    if right := _right_label(tally):
        rows = tally.rows.drop(SHOWN)
        columns = tuple(name for name in tally.columns if name != SHOWN)
        found = named_verdicts(replace(tally, rows=rows, columns=columns), asked, where)
        changed = found.changed or ORDER in tally.columns
        return replace(found, changed=changed, notes=(right, *found.notes))
    units = tally.nested.units
    orders = units[ORDER].unique() if ORDER in units.columns else pl.Series([0])
    names = _verdict_names_as_written(tally)
    if orders.len() < _PAIR or not names:
        notes = (_why_verdict_names_idle(asked, tally, where),) if asked else ()
        return NamedVerdicts(rows=tally.rows, known=True, notes=notes)
    reason = _label_fault(tally)
    if asked is None and not _any_unit_crosses_orders(units):
        # No two verdicts of an item are compared across orders; chance and what is right still are.
        return NamedVerdicts(rows=tally.rows, known=True, notes=() if reason == "" else (TAKEN,))
    labelled = reason is not None and reason != REPEATS
    if asked is None:
        notes = (f"label: {reason}",) if reason else ()
        return NamedVerdicts(rows=tally.rows, known=reason == "", notes=notes)
    if labelled and asked == "option":
        return NamedVerdicts(rows=tally.rows, known=True)
    if asked == "option":
        # A label that repeats the verdict is no place.
        return NamedVerdicts(
            rows=tally.rows.drop(SHOWN, strict=False), known=True, changed=SHOWN in tally.columns
        )
    if labelled:
        raise SweepError(
            "--verdict-names place: the column label holds other places than verdict",
            where=where,
            hint="leave --verdict-names out: verdict is the option, label its place; or drop label",
        )
    notes = ()
    if _has_marked_tie(tally, names) and orders.len() == _PAIR:
        tied = tally.rows.with_columns(pl.col("verdict").replace({_MARKED[-1]: NO_OPTION[0]}))
        tally, names, notes = replace(tally, rows=tied), [*_MARKED[:-1]], (_MARKED_TIE,)
    marks = _verdict_marks_of_places(names)
    if marks and orders.len() == _PAIR and not orders.null_count():
        return NamedVerdicts(
            rows=_rows_of_swapped_verdicts(tally.rows, marks, _two_verdict_orders(orders)),
            known=True,
            changed=True,
        )
    places = Places(
        labels=_two_places(names, orders, where),
        orders=_two_verdict_orders(orders),
        item_menus=True,
    )
    rows = by_place(tally.rows.with_columns(pl.col("verdict").alias(SHOWN)), places)
    return NamedVerdicts(rows=rows, known=True, changed=True, notes=notes)


def _has_marked_tie(tally: Tally, names: Sequence[str]) -> bool:
    """Whether all verdicts are marks as judges of two answers are told to write them."""
    if tuple(names) != _MARKED or tally.spellings is None or N_OPTIONS in tally.columns:
        return False
    return tally.spellings.is_marked


def ways_to_name(tally: Tally, where: Mapping[str, object]) -> tuple[str, str]:
    """What may be meant by verdicts that name nobody knows what, and the flags that say it."""
    option = "with --verdict-names option A is the same answer in every order"
    orders, names = tally.nested.units[ORDER].unique(), _verdict_names_as_written(tally)
    if _has_marked_tie(tally, names) and orders.len() == _PAIR and not orders.null_count():
        place = "with --verdict-names place A is the answer shown first and C a tie"
        return f"{place}, {option}", "--verdict-names place or --verdict-names option"
    try:
        if not _verdict_marks_of_places(names) or orders.len() != _PAIR or orders.null_count():
            _two_places(names, orders, where)
    except SweepError:
        more = ""
        if len(names) == _PAIR + 1 and len(names[-1]) < _LONG_NAME:  # of two places and a tie
            more = f"; if {names[-1]} is a tie, write tie for it, and place can be named, too"
        return option + more, "--verdict-names option"
    place = "with --verdict-names place A is the answer shown first"
    return f"{place}, {option}", "--verdict-names place or --verdict-names option"


def _why_verdict_names_idle(asked: VerdictNames, tally: Tally, where: Mapping[str, object]) -> str:
    """Say why it does not matter what the caller states that verdicts name."""
    why = "has no verdict that is a name"
    if _verdict_names_as_written(tally):
        why = "has one option_order" if ORDER in tally.columns else "has no column option_order"
    return f"--verdict-names {asked} changes nothing: {where.get('file', 'the frame given')} {why}"


def withheld(row: Row, nuisance: Sequence[str]) -> Row:
    """Leave the numbers out of a row that takes verdicts for options across orders.

    Those are agreement across orders, where options stood, and what is right. A row that has no
    value since no item was asked in two orders keeps that reason.

    Examples
    --------
    >>> row = {"coefficient": "swap_consistency", "value": 0.9, "low": 0.8, "high": 1.0,
    ...        "undefined": None, "conditions": None, "statistic": "share"}
    >>> withheld(row, ["option_order"])["undefined"]
    'verdict_names_unknown'
    >>> withheld({**row, "coefficient": "flip_rate"}, ["option_order"])["value"]
    0.9
    """
    reproduced = row["conditions"] == REPRODUCIBILITY and ORDER in nuisance
    if row["conditions"] == REPEATABILITY and ORDER in nuisance:
        # Chance is that of all verdicts of a judge, those in other orders among them.
        if row["coefficient"] in _ITSELF or row["value"] is None:
            return {**row, **dict.fromkeys(_CHANCE)}
    elif not (row["coefficient"] in _OF_OPTIONS or reproduced):
        return row
    if row["undefined"] in _NOT_CROSSED:
        return row
    what = method_columns(str(row["statistic"]))  # the rest is of the numbers
    return {**row, **dict.fromkeys(_NUMBERS), **what, "undefined": UNKNOWN}


def refuse_unknown(what: str, where: Mapping[str, object]) -> None:
    """Refuse what compares verdicts across orders, where it is not known what they name.

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


def _verdict_names_as_written(tally: Tally) -> list[str]:
    """Verdicts that are names, as they are written; ratings are numbers in any order."""
    return sorted(_kinds_with_verdict_names(tally.nested.kinds)["verdict"].unique().to_list())


def holds_names(kinds: pl.DataFrame) -> bool:
    """Whether some of these kinds of rows are verdicts that are names, and no ratings.

    Examples
    --------
    >>> kinds = {"verdict": ["A", None], "score": [None, 2.0], "outcome": ["scored", "scored"]}
    >>> holds_names(pl.DataFrame(kinds)), holds_names(pl.DataFrame(kinds).tail(1))
    (True, False)
    """
    return not _kinds_with_verdict_names(kinds).is_empty()


def _kinds_with_verdict_names(kinds: pl.DataFrame) -> pl.DataFrame:
    """Kinds of rows that are scored with a name."""
    named = SCORED.fill_null(False) & pl.col("score").is_null() & pl.col("verdict").is_not_null()
    return kinds.filter(named)


def _any_unit_crosses_orders(units: pl.DataFrame) -> bool:
    """Whether any item was asked in two orders; else no two verdicts are of different ones."""
    for some in (units.head(_HEAD), units):  # what a part shows holds of all
        asked = some.select("item_id", ORDER).unique()
        if asked.height > asked["item_id"].n_unique():
            return True
    return False


def _label_fault(tally: Tally) -> str | None:
    """Say why labels do not tell what verdicts name; empty where they do, None without any."""
    if SHOWN not in tally.columns:
        return None
    units = tally.nested.units
    if units.filter(~names_models(units.columns)).is_empty():
        return ""
    # Cut before anything is left out, the head is all that is read of the file.
    moved = _verdict_label_moves(_verdict_places_by_label(tally.rows.head(_HEAD), tally.columns))
    stood = _verdict_places_by_label(tally.rows, tally.columns)
    if moved is None:  # a file may hold one order after the other
        some = units["item_id"].cast(pl.String).unique().sort().head(_ITEMS).implode()
        moved = _verdict_label_moves(stood.filter(pl.col("item_id").cast(pl.String).is_in(some)))
    if moved is None:
        moved = _verdict_label_moves(stood)
    if moved is None:  # no verdict of an item has a label in two orders
        other = stood.select((pl.col(SHOWN) != pl.col("verdict")).any())
        moved = bool(other.collect(engine="streaming").item())
    if not moved:
        return REPEATS
    return PARTIAL if _verdicts_partly_labelled(tally) else ""


def _right_label(tally: Tally) -> str | None:
    """Say that labels are what is right; None where they may be places, or are none.

    Of one question in one order, another verdict is another option, which stood at another place.
    """
    if not {SHOWN, "verdict"} <= set(tally.columns) or tally.nested.units.is_empty():
        return None
    begin = tally.rows.head(_HEAD)
    seen = _verdict_places_by_label(begin, tally.columns).unique().collect(engine="streaming")
    asked = [name for name in seen.columns if name not in ("verdict", SHOWN)]
    several = seen.group_by(asked).agg(pl.col("verdict").n_unique(), pl.col(SHOWN).n_unique())
    several = several.filter(pl.col("verdict") > 1)
    if several.is_empty() or (several[SHOWN] > 1).any():
        return None
    # A column of another thing, such as what kind an item is of, is none of them.
    if ORDER in tally.columns or seen[SHOWN].is_in(seen["verdict"].implode()).all():
        is_verdict = seen[SHOWN].is_in(seen["verdict"].implode()).all()
        return f"{RIGHT}; --column gold=label compares with it" if is_verdict else RIGHT
    return None


def _verdict_places_by_label(rows: pl.LazyFrame, columns: tuple[str, ...]) -> pl.LazyFrame:
    """Verdicts with the place that labels give them, and the question they answer."""
    question = [name for name in ("item_id", *FACETS) if name in columns and name != ORDER]
    verdict = pl.col("verdict").cast(pl.String)
    order = [ORDER] if ORDER in columns else []
    named = rows.filter(~names_models(columns)).select(*question, *order, verdict, place())
    return named.drop_nulls([*order, "verdict", SHOWN])


def _verdict_label_moves(stood: pl.LazyFrame) -> bool | None:
    """Whether the label of an option changes with the order; None where no order tells.

    Of two options in two orders it always does, or one of the two says something else: that which
    is right, say, or the verdict in other words.
    """
    with little_read_ahead():
        seen = stood.unique().collect(engine="streaming")
    question = [name for name in seen.columns if name not in (ORDER, "verdict", SHOWN)]
    option, label = [*question, "verdict"], [*question, SHOWN]
    stayed = seen.group_by([*option, SHOWN]).agg(pl.col(ORDER).n_unique())[ORDER] > 1
    changed = (
        seen.group_by(option).agg(pl.col(SHOWN).n_unique())[SHOWN].gt(1).any()
        or seen.group_by(label).agg(pl.col("verdict").n_unique())["verdict"].gt(1).any()
    )
    pair = seen[SHOWN].n_unique() <= _PAIR and seen[ORDER].n_unique() <= _PAIR
    if stayed.any() and (pair or not changed):
        return False
    return True if changed else None


def _verdicts_partly_labelled(tally: Tally) -> bool:
    """Whether labels are there for a part of the verdicts alone; words for a tie have none."""
    nested = tally.nested
    word = pl.col("verdict").str.strip_chars().str.to_lowercase()
    names = SCORED.fill_null(False) & pl.col("score").is_null() & ~word.is_in(NO_OPTION)
    options = nested.kinds.with_row_index(KIND).filter(names).select(KIND)
    units = nested.units.filter(pl.col(ORDER).is_not_null(), is_judge(nested.units.columns))
    units = units.filter(~names_models(units.columns)).with_row_index(_UNIT)
    n_scored, n_options = (
        replace(nested, units=units).n_rows(kind) for kind in (SCORED.fill_null(False), names)
    )
    if n_scored == n_options == units[PLACES].explode().sum():
        return False
    placed = pl.col(PLACES).list.sum().cast(pl.Int64).alias("placed")
    rows = units.select(_UNIT, placed, KIND, pl.col(N).cast(pl.List(pl.Int64)))
    rows = rows.explode(KIND, N).filter(pl.col(N) > 0).join(options, on=KIND)
    lacking = (pl.col(N).sum().over(_UNIT) - pl.col("placed")).clip(0)
    rows = rows.with_columns(lacking=lacking)
    if not rows["lacking"].sum():
        return False
    # A word that never has a label is a tie, in so far as the same judge's other words have one.
    ties = rows.group_by(KIND).agg((pl.col(N) <= pl.col("lacking")).all().alias("tie"))
    rows = rows.join(ties, on=KIND)
    by_ties = pl.col(N).filter("tie").sum()
    if rows.group_by(_UNIT).agg(by_ties != pl.col("lacking").first())[N].any():
        return True
    alike = [name for name in _ASK_COLUMNS if name in units.columns]
    cells_asked = rows.select(_UNIT).unique().join(units.select(_UNIT, *alike, placed), on=_UNIT)
    cells = cells_asked.group_by(alike or pl.lit(0)).agg(pl.col("placed").sum())
    return bool((cells["placed"] == 0).any())


_MARKED = ("A", "B", "C")
_MARKED_TIE = "[[C]] is taken for a tie, as a judge of two answers writes it"
_MARK = re.compile(r"^\W*(\w+)\s*([<>=])\2*\s*(\w+)\W*$")
"""One place against the other: ``A>B``, ``[[B>>A]]``, ``A=B``."""


def _verdict_marks_of_places(names: Sequence[str]) -> dict[str, tuple[str, str, str | None]]:
    """Marks of one place against the other by what they say: first, swapped, and the place chosen.

    Empty where any verdict is no mark. As good as the other is a tie in both orders.

    Examples
    --------
    >>> _verdict_marks_of_places(["A>>B", "A=B", "tie"])
    {'A>>B': ('A>>B', 'B>>A', 'A'), 'A=B': ('tie', 'tie', None), 'tie': ('tie', 'tie', None)}
    >>> _verdict_marks_of_places(["A>B", "A"])
    {}
    """
    found: dict[str, tuple[str, str, str | None]] = {}
    for name in names:
        mark = _MARK.match(name)
        if name.strip().lower() in NO_OPTION or (mark and mark[2] == "="):
            found[name] = ("tie", "tie", None)
        elif mark:
            better, worse = (mark[1], mark[3]) if mark[2] == ">" else (mark[3], mark[1])
            by = ">" * name.count(mark[2])
            found[name] = (f"{better}{by}{worse}", f"{worse}{by}{better}", better)
        else:
            return {}
    places = {one for first, _, chosen in found.values() if chosen for one in first.split(">")}
    return found if len(places - {""}) == _PAIR else {}


def _rows_of_swapped_verdicts(
    rows: pl.LazyFrame, marks: Mapping[str, tuple[str, str, str | None]], orders: Sequence[object]
) -> pl.LazyFrame:
    """Rows whose marks are read as in the first order, with the place that was chosen."""
    verdict = pl.col("verdict")
    first, swapped, chosen = (
        verdict.replace_strict(
            {name: one[n] for name, one in marks.items()}, default=None, return_dtype=pl.String
        )
        for n in range(3)
    )
    is_first = pl.col(ORDER) == orders[0]
    return rows.with_columns(
        pl.when(is_first).then(first).otherwise(swapped).alias("verdict"), chosen.alias(SHOWN)
    )


def _two_verdict_orders(orders: pl.Series) -> tuple[object, ...]:
    """The orders, the first of them as options are listed."""
    return tuple(orders.sort().to_list())


def _two_places(
    names: list[str], orders: pl.Series, where: Mapping[str, object]
) -> tuple[str, str]:
    """The two places; refused where which option stood at one of them is not known."""
    places = [name.strip() for name in names if name.strip().lower() not in NO_OPTION]
    counted = "1 place" if len(places) == 1 else f"{len(places)} places"
    listed = f"{counted} ({', '.join(places[:5])}{', ...' * (len(places) > 5)})"
    hint = "give the option in verdict and its place in label"
    if orders.null_count():
        raise SweepError(
            "--verdict-names place needs option_order in every row, and some rows have none",
            where=where,
            hint="fill option_order in every row",
        )
    if len(places) == _PAIR + 1 and orders.len() == _PAIR:
        hint = f"write tie for the one that is a tie ({places[-1]}?); or {hint}"
    if len(places) > _PAIR or orders.len() > _PAIR:
        raise SweepError(
            f"--verdict-names place needs two places in two orders, got {listed} in "
            f"{orders.len()} orders",
            where=where,
            hint=hint,
        )
    if len(places) == _PAIR:
        return places[0], places[1]
    first_place = places[0] if places else ""
    pair = next((pair for pair in _COUNTERPARTS if first_place.lower() in pair), None)
    if pair is None:
        raise SweepError(
            f"--verdict-names place needs two places, got {listed}",
            where=where,
            hint=hint,
        )
    other = pair[1] if first_place.lower() == pair[0] else pair[0]
    for case in (str.title, str.upper):
        if first_place == case(first_place):
            other = case(other)
    return min(first_place, other), max(first_place, other)
