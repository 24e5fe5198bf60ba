"""Labels that name no place: those of ties, and of a few rows that no option explains.

A label says where the chosen option stood. A tie stands nowhere, though a log may give it a letter
of its own (C beside A and B), or one of the two. Which labels are a tie's is read from the rows:
a tie's own letter occurs with the tie alone, and the tie with it alone, in every order, while an
option stands elsewhere in another order. Numbers of rows are no proof, for they may be equal by
chance; they tell which files need to be read again
(:func:`judgerel_ray.counting.verdicts.places.labels_need_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.counting.groups.fast_count import little_read_ahead
from judgerel_ray.counting.groups.tally import Tally, tally_judgments
from judgerel_ray.counting.nesting import PLACES, N, UnitRows
from judgerel_ray.counting.verdicts.places import (
    N_OPTIONS,
    NEGLIGIBLE,
    ORDER,
    PROMPTS,
    SHOWN,
    is_tie,
    names_models,
    place,
    places_of_prompts,
)

_PAIR = 2
_WRITTEN = "__written"
_VERDICT = pl.col("verdict").cast(pl.String)
_DECLARE = f"a column {N_OPTIONS} says how many options there are"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Judgments whose labels are places."""

    rows: pl.LazyFrame  # The judgments; a label that names no place is null.
    changed: bool = False
    notes: tuple[str, ...] = ()  # What was assumed, a line each.
    gone: tuple[str, ...] | None = None  # Where nothing but whole labels were left out, those.


def placed_tally(
    tally: Tally, *, extra: Sequence[str] = (), n_options: int | None = None
) -> tuple[Tally, tuple[str, ...]]:
    """Leave labels that name no place out of counted judgments whose labels need their rows.

    tally:

    notes: What was assumed, a line each.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 4, "option_order": [0, 1] * 2,
    ...                      "verdict": ["x", "x", "tie", "tie"], "label": ["A", "B", "C", "C"]})
    >>> placed_tally(tally_judgments(rows))[0].nested.places
    ('A', 'B')
    """
    found = placed(tally.rows, n_options=n_options)
    if not found.changed:
        return tally, found.notes
    if found.gone is None:
        nested = tally_judgments(found.rows, extra=extra).nested
    else:
        nested = _counts_without_places(tally.nested, found.gone)
    return replace(tally, rows=found.rows, nested=nested), found.notes


def _counts_without_places(nested: UnitRows, labels: Sequence[str]) -> UnitRows:
    """Counts without those of some places."""
    kept = [k for k, name in enumerate(nested.places or ()) if name not in labels]
    units = nested.units.with_columns(pl.col(PLACES).list.gather(kept))
    return replace(nested, units=units, places=tuple((nested.places or ())[k] for k in kept))


def placed(rows: pl.LazyFrame, *, n_options: int | None = None) -> Placed:
    """Leave labels that name no place out of judgments.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"] * 3, "option_order": [0, 1, 1],
    ...                      "verdict": ["x", "x", "Tie"], "label": ["A", "B", "B"]})
    >>> found = placed(rows)
    >>> found.rows.collect()["label"].to_list()
    ['A', 'B', None]
    >>> found.notes
    ('verdict Tie has the label B: a tie stands at no place, so its label is left out',)
    """
    columns = rows.collect_schema().names()
    if not {"item_id", SHOWN, ORDER, "verdict"} <= set(columns):
        return Placed(rows=rows)
    labelled = rows.filter(pl.col(SHOWN).is_not_null(), _VERDICT.is_not_null())
    if "protocol" in columns:
        labelled = labelled.filter(~names_models(columns))
    prompts = [name for name in PROMPTS if name in columns]
    columns_read = [
        pl.col(*prompts, ORDER),
        pl.col(SHOWN).cast(pl.String),
        _VERDICT.alias("verdict"),
    ]
    with little_read_ahead():
        counted = labelled.group_by(columns_read).agg(pl.len().alias(N)).collect(engine="streaming")
    # Labels are cleaned of the few that there are, and not row by row.
    every = counted.with_columns(place(), pl.col(SHOWN).alias(_WRITTEN)).drop_nulls(SHOWN)
    if every[ORDER].drop_nulls().n_unique() < _PAIR:
        return Placed(rows=rows)
    ties, notes = _named_ties(every)
    tie_letters, more = _unplaced_labels(every.filter(~pl.col("verdict").is_in(ties)), n_options)
    ties += tie_letters
    pairs = every.filter(~pl.col("verdict").is_in(ties))
    strays, last = _stray_place_labels(pairs, labelled, ties, n_options)
    notes = [*notes, *more, *last]
    if not ties and not strays:
        return Placed(rows=rows, notes=tuple(notes))
    written = every.filter(pl.col(SHOWN).is_in(strays))[_WRITTEN].unique().to_list()
    kept = ~_VERDICT.is_in(ties).fill_null(False)
    if strays:
        kept &= ~pl.col(SHOWN).cast(pl.String).is_in(written).fill_null(False)
    if "protocol" in columns:
        kept |= names_models(columns)
    rows = rows.with_columns(pl.when(kept).then(pl.col(SHOWN)).alias(SHOWN))
    stay = set(pairs[SHOWN]) - set(strays)
    gone = set(every.filter(pl.col("verdict").is_in(ties))[SHOWN]) | set(strays)
    whole = None if gone & stay or "protocol" in columns else tuple(sorted(gone))
    return Placed(rows=rows, changed=True, notes=tuple(notes), gone=whole)


def _named_ties(pairs: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Verdicts that are a tie by name, and what is said of those whose label is a place's."""
    ties, notes = [], []
    for verdict in pairs.filter(is_tie())["verdict"].unique().sort():
        rows = pairs.filter(verdict=verdict)
        stood = rows.group_by(ORDER).agg(pl.col(SHOWN).unique())[SHOWN].to_list()
        labels = sorted({label for some in stood for label in some})
        shared = pairs.filter(pl.col(SHOWN).is_in(labels), ~is_tie())
        if len(labels) == len(stood) > 1 and all(len(some) == 1 for some in stood):
            notes.append(
                f"verdict {verdict} stands at another place in another order, as options do: it is "
                "taken for an option"
            )
            continue
        ties.append(verdict)
        if not shared.is_empty():
            several = len(labels) > 1
            notes.append(
                f"verdict {verdict} has the label{'s' * several} {', '.join(labels)}: a tie stands "
                f"at no place, so its label{'s are' if several else ' is'} left out"
            )
    return ties, notes


def _unplaced_labels(pairs: pl.DataFrame, declared: int | None) -> tuple[list[str], list[str]]:
    """Verdicts of other names that stand nowhere by their label, and what is said of them."""
    kinds = pairs.group_by("verdict").agg(
        pl.col(SHOWN).n_unique().alias("labels"), pl.col(SHOWN).first(), pl.col(ORDER).n_unique()
    )
    shown = pairs.group_by(SHOWN).agg(pl.col("verdict").n_unique().alias("verdicts"))
    fixed = kinds.filter(labels=1).join(shown.filter(verdicts=1), on=SHOWN).sort("verdict")
    moving = shown.filter(~pl.col(SHOWN).is_in(fixed[SHOWN].implode()))[SHOWN]
    if moving.len() < _PAIR:
        return [], []
    fits = declared is not None and shown.height <= declared
    # A tie's letter is after those of places; the middle one of three that are turned stays, too.
    fixed = fixed.filter(pl.col(SHOWN) > moving.max())
    ties, notes = [], []
    of_all, total = pairs[ORDER].n_unique(), int(pairs[N].sum())
    still = fixed.filter(pl.col(ORDER) == of_all)
    if still.height > 1 and not fits:  # one letter is a tie's, two are options left in their places
        labels = " and ".join(still[SHOWN].sort())
        notes.append(
            f"labels {labels} stay with their verdicts in all {of_all} orders: taken for options "
            f"that these orders do not move; {_DECLARE}"
        )
        fixed = fixed.filter(pl.col(ORDER) < of_all)
    for verdict, label, n_orders in fixed.select("verdict", SHOWN, ORDER).iter_rows():
        both = f"label {label} and verdict {verdict} occur with each other alone"
        n = int(pairs.filter(verdict=verdict)[N].sum())
        where = f"{both}, in {n_orders} of {of_all} orders ({count_of(n, 'row')})"
        if fits:
            if n_orders == of_all:
                notes.append(
                    f"{both}, in every order, and options move, as of a tie: taken for an option, "
                    f"as {N_OPTIONS} is {declared}, which counts no tie"
                )
            continue
        if n_orders == of_all:
            ties.append(verdict)
            note = (
                f"{both}, in every order, and options move: taken for a tie, which stands nowhere"
            )
        elif moving.len() == _PAIR and n < NEGLIGIBLE * total:
            ties.append(verdict)
            note = f"{where}: too few for a third option, so the label is left out; {_DECLARE}"
        else:
            note = f"{where}: taken for an option; {_DECLARE}"
        notes.append(note)
    return ties, notes


def _stray_place_labels(
    pairs: pl.DataFrame, labelled: pl.LazyFrame, ties: Sequence[str], declared: int | None
) -> tuple[list[str], list[str]]:
    """Labels of too few rows to be places beyond the options that verdicts show."""
    shown = pairs.group_by(SHOWN).agg(pl.col(N).sum()).sort(N, SHOWN)
    k, total = shown.height, int(shown[N].sum())
    prompts = [name for name in PROMPTS if name in pairs.columns]
    of_one = (
        places_of_prompts(pairs, prompts) or k
    )  # kinds of prompts may name places their own way
    if of_one <= _PAIR:
        return [], []
    n_verdicts = pairs["verdict"].n_unique()
    if n_verdicts > k and declared is None:  # each question has options of its own
        stood = labelled.filter(place().is_not_null(), ~_VERDICT.is_in(ties))
        options = stood.group_by("item_id")
        most = options.agg(_VERDICT.n_unique().alias(N)).select(pl.col(N).max())
        n_verdicts = int(most.collect(engine="streaming").item() or 0)
    known = max(_PAIR, min(n_verdicts, k) if declared is None else declared)
    if of_one <= known < k:
        return [], []
    rare = shown.filter(pl.col(N) < NEGLIGIBLE * total)
    places = ", ".join(shown[SHOWN].sort())
    what = f"{known} options that {'verdicts show' if declared is None else 'are declared'}"
    if k - rare.height <= known < k:
        rare = rare.head(k - known)
        labels = ", ".join(rare[SHOWN].sort())
        n = int(rare[N].sum())
        one = n == 1
        return rare[SHOWN].to_list(), [
            f"label {labels} of {n} of {total} rows names a place beyond the {what}: "
            f"{'its label is' if one else 'their labels are'} left out"
            + ("" if declared else f"; {_DECLARE}")
        ]
    if k <= known:
        if declared is None and rare.height:
            finding = f"label {', '.join(rare[SHOWN].sort())} is of {int(rare[N].sum())} of {total}"
            return [], [f"{finding} rows, and {k} options are assumed ({places}); {_DECLARE}"]
        return [], []
    if declared is not None:
        raise SweepError(
            f"labels name {k} places ({places}), more than the {declared} options declared",
            hint=f"{N_OPTIONS} is the number of options of a question; a tie is to be called tie",
        )
    finding = f"labels name {k} places ({places}), more than the {what}"
    return [], [f"{finding}: {k} options are assumed; {_DECLARE}"]
