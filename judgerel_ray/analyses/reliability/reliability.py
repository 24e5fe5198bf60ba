"""Judgments to coefficients: value, interval, noise floor and basis of every group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TypeVar

import polars as pl

from judgerel_ray.analyses.reliability.consistency import (
    CONSISTENCY,
    check_items,
    consistency_rows,
    item_scores,
)
from judgerel_ray.analyses.reliability.continuous import Moments, continuous_rows, moments_of
from judgerel_ray.analyses.reliability.correctness import check_gold, correctness_rows
from judgerel_ray.analyses.reliability.estimates import Group, bound_rows, group_rows
from judgerel_ray.analyses.reliability.lead_codes import (
    LedGroup,
    Replies,
    led,
    other_answers,
    replies_of,
    steady_within_units,
)
from judgerel_ray.analyses.reliability.leading import (
    LEADING,
    class_rows,
    error_rows,
    leading_by_default,
)
from judgerel_ray.analyses.reliability.order_effects import (
    check_order,
    order_rows,
    orders_of,
    places_of,
)
from judgerel_ray.analyses.reliability.published import PUBLISHED, published_rows, read_labels
from judgerel_ray.analyses.reliability.reproducibility import (
    checked_nuisance,
    possible_orders,
    reproducible_rows,
)
from judgerel_ray.analyses.serving.noise import SERVING
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.counting.columns import FACETS
from judgerel_ray.counting.given import warn_of
from judgerel_ray.counting.groups.grouping import (
    TEMPERATURE,
    Block,
    CountedJudgments,
    count_judgments,
    parts_by,
    said_of_greedy,
    sampled,
    units_of,
    varying_facets,
)
from judgerel_ray.counting.groups.matrix import unit_table
from judgerel_ray.counting.groups.tally import Tally, tally_judgments
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.nesting import N, UnitRows
from judgerel_ray.counting.placeless import placed_tally
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdict_names import holds_names, withheld
from judgerel_ray.counting.verdicts.places import (
    SHOWN,
    Places,
    by_place,
    is_tie,
    options_of,
    options_shown,
    places_counted,
)
from judgerel_ray.counting.verdicts.policy import (
    COLUMNS,
    LABEL,
    MISSING,
    POLICIES,
    REPRODUCIBILITY,
    SCORED,
    Missing,
    Row,
    outcomes_without_verdict,
    own_level,
    with_flags,
)
from judgerel_ray.counting.verdicts.scales import SCALE, scale_names, scored_kinds, values_on
from judgerel_ray.stats import COEFFICIENTS, DEFAULT_COEFFICIENTS, LEVELS, Level
from judgerel_ray.stats.agreement.agreement import CORRECTNESS
from judgerel_ray.stats.generalizability.order_effects import ORDER_EFFECTS

_Name = TypeVar("_Name", bound=str)
# What says of replications that they are alike: at temperature 0 that is the server's doing.
_OF_REPEATS = {*COEFFICIENTS, "standard_error", "agreement_right", "agreement_wrong"} - {
    "valid_rate"
}
_MOST_LISTED = 12
_PUBLISHED = "schroeder2024_"  # of which one name is several rows


def reduce_judgments(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    measurement: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    coefficients: Sequence[str] | None = None,
    block: Block = 0,
    n_categories: Mapping[str, int] | None = None,
    items: str | None = None,
    nuisance: Sequence[str] | None = None,
    intervals: IntervalChoice = AUTO,
    scales: Mapping[str, Scale] | None = None,
    verdicts_known: bool = True,
    n_options: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Compute how far each judge agrees with itself.

    Where a facet that should not matter to a verdict varies in a group (the order of the options,
    the template, the definition, and what `nuisance` names), agreement is given twice.
    Reproducibility leads: two judgments of an item, the facets of each drawn at random among those
    recorded. Repeatability follows: the same prompt again.

    Parameters
    ----------
    source : pl.LazyFrame or Tally
        Judgments of a run directory or from :func:`.load_judgments`; or counts
        of them, from :func:`judgerel_ray.counting.judgments.tally_file`.
    by : sequence of str, optional
        Columns that make a group; by default those of judge, benchmark, protocol, criterion, scale
        and temperature that hold any value.
    measurement : sequence of {"nominal", "ordinal", "interval", "ratio"}, optional
        Levels of Krippendorff's alpha; by default that of the group's own scale. Nominal counts
        verdicts, the others scores.
    missing : sequence of {"category", "drop", "bounds"}
        What verdicts that are not there count as; more than one is shown only where they differ.
    coefficients : sequence of str, optional
        Names of ``judgerel_ray.stats.COEFFICIENTS``, of `CORRECTNESS` (with a column ``gold``), of
        `ORDER_EFFECTS` (with option_order), of `CONSISTENCY` and of `PUBLISHED`; by default the
        first seven, of pass and fail class_agreement, of ratings icc1 and standard_error, those of
        `CONSISTENCY` where `items` are given, and where a question was asked in several orders
        swap_consistency and, with a column ``label``, place_consistency, position_bias and
        first_place.
    block : int or "all"
        Only rows of this block; later blocks depend on the data of earlier ones.
    n_categories : mapping of str to int, optional
        Declared options of each benchmark; by default the distinct values of all rows, of those of
        its protocol where groups have one. Ratings have those of their scale.
    items : str, optional
        Column whose values are distinct items, for the coefficients of `CONSISTENCY`.
    nuisance : sequence of str, optional
        Facets that should not matter, besides option_order, template and definition.
    intervals : IntervalChoice
        How intervals are made; ``interval_method`` says which it was.
    scales : mapping of str to Scale, optional
        Scales by the names in the column ``scale``, besides the shipped ones.
    verdicts_known : bool
        Whether verdicts name options. Where they may name places, nothing that compares them across
        orders has a value in groups that hold any: ``undefined`` is "verdict_names_unknown".
    n_options : mapping of str to int, optional
        Options of each benchmark that are shown in orders, of which a tie is none; "" is of rows
        without a benchmark. By default `n_categories`.

    Returns
    -------
    pl.DataFrame
        One row a group, coefficient, level and missing policy: the group's columns, then `COLUMNS`.
        Never NaN: no number is null, and ``undefined`` or ``no_interval`` says why. ``lead`` is
        what a reader of the group should know first, in all its rows: see
        :func:`judgerel_ray.analyses.reliability.lead_codes.lead_code`.

    Raises
    ------
    SweepError
        If a column or name is unknown, or there is nothing to reduce.

    Notes
    -----
    One streaming pass makes counts; everything after is in proportion to questions times verdicts.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(rows), coefficients=["percent_agreement"])
    >>> found.select("coefficient", "value", "unit").rows()
    [('percent_agreement', 0.5, 'item_id')]
    """
    # Names of serving noise choose no coefficient: its rows are added where the texts are read.
    known = (
        *COEFFICIENTS, *LEADING, *CORRECTNESS, *ORDER_EFFECTS, *CONSISTENCY, *PUBLISHED, *SERVING
    )  # fmt: skip
    by_default = (*DEFAULT_COEFFICIENTS, *(CONSISTENCY if items else ()))
    chosen = _known(by_default if coefficients is None else coefficients, known, "coefficient")
    policies = _known(missing, POLICIES, "missing policy")
    levels = None if measurement is None else _known(measurement, LEVELS, "measurement")
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    check_items(items, chosen, columns)
    own = [name for name in dict.fromkeys(nuisance or ()) if name not in FACETS]
    extra = [*([items] if items else []), *check_gold(chosen, columns), *own]
    check_order(chosen, columns)
    checked_nuisance(nuisance, by or (), columns)
    if isinstance(source, pl.LazyFrame):
        source = tally_judgments(source, extra=[*(by or ()), *extra])
        if n_options is None:  # else labels were read where those were declared
            source, notes = placed_tally(source, extra=[*(by or ()), *extra])
            warn_of(notes)
    places = places_counted(source.nested, source.rows)
    if places and places.own_menus:
        source = tally_judgments(by_place(source.rows, places), extra=[*(by or ()), *extra])
    everything = count_judgments(source, by=by, block=block, extra=extra)
    everything = replace(everything, facets=(*everything.facets, *own))
    apart = checked_nuisance(nuisance, everything.groups, columns)
    counted = sampled(everything)
    unnamed = coefficients is None
    if items in counted.groups:
        raise SweepError(f"{items} cannot be both items and a group", where={"items": items})
    labels = _labels(source, counted, chosen, columns, block)
    if labels is not None and counted is not everything:
        unit = [*counted.groups, "item_id", *counted.facets]
        labels = labels.join(counted.nested.units, on=unit, how="semi", nulls_equal=True)
    answered = other_answers(source.rows, columns, counted.groups)
    found_in: list[LedGroup] = []
    for key, group, part, moments in _groups(
        counted, n_categories or {}, n_options, scales or {}, intervals, apart, places
    ):
        more = leading_by_default(group, part.units) if unnamed and not items else ()
        wanted = [*dict.fromkeys((*chosen, *more))]
        counting = [policy for policy in policies if policy != "bounds"]
        found = [*_agreement_rows(group, moments, wanted, policies, levels)]
        several = (*chosen, *(orders_of(group, part) if unnamed else ()))
        found += _of_more_than_counts(group, part, several, counting, continuous=bool(moments))
        if distinct := [name for name in chosen if name in CONSISTENCY]:
            found += _of_items(group, everything, key, str(items), distinct)
        if labels is not None:
            label_rows = labels.filter(
                pl.lit(True), *(pl.col(name).eq_missing(value) for name, value in key.items())
            )
            found += published_rows(
                group, label_rows, [name for name in chosen if name in PUBLISHED]
            )
        greedy = said_of_greedy(key, counted, everything)
        replies = replies_of(group, part, continuous=bool(moments))
        other = answered.get(tuple(key.values()))
        reported = [_reported_row(row, greedy, items, replies, other) for row in found]
        if not verdicts_known and holds_names(part.seen()):
            reported = [withheld(row, group.nuisance) for row in reported]
        steady = not moments and steady_within_units(group)
        found_in.append(LedGroup(key=key, rows=reported, replies=replies, steady=steady))
    rows = led(found_in, source.rows, labelled=SHOWN in columns and counted.nested.places is None)
    keys = {name: counted.nested.units.schema[name] for name in counted.groups}
    return pl.DataFrame(rows, schema={**keys, **COLUMNS}, orient="row")


def _agreement_rows(
    group: Group,
    moments: Moments | None,
    wanted: Sequence[str],
    policies: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:
    """Agreement of one group: reproducibility first where it is known, then repeatability."""
    asked = [name for name in wanted if name in COEFFICIENTS]
    counting = [policy for policy in policies if policy != "bounds"]
    reproduced = [
        *reproducible_rows(
            group,
            coefficients=[name for name in wanted if name in (*COEFFICIENTS, *LEADING)],
            missing=counting,
            levels=levels,
            moments_U3=None if moments is None else moments.moments_U3,
        )
    ]
    # What no item was asked about leads nothing.
    crossed = any(row["undefined"] != "facets_not_crossed" for row in reproduced)
    yield from reproduced if crossed else ()
    if moments is not None:
        yield from continuous_rows(
            group, moments, coefficients=asked, missing=counting, levels=levels
        )
    counted = asked if moments is None else [name for name in asked if name == "valid_rate"]
    yield from group_rows(group, coefficients=counted, missing=counting, levels=levels)
    if "class_agreement" in wanted and moments is None:
        yield from class_rows(group)
    if "standard_error" in wanted:
        yield from error_rows(group, moments)
    yield from () if crossed else reproduced
    if "bounds" in policies:
        yield from bound_rows(group, asked, levels=levels, counted=moments is None)


def _reported_row(
    row: Row, greedy: Flag | None, items: str | None, replies: Replies, other: Noted | None
) -> Row:
    """A row with its flags: temperature 0, replies without a verdict, repeats of other answers."""
    name = str(row["coefficient"])
    if replies.flag and name != "valid_rate" and row["missing"] in MISSING:
        row = with_flags(row, [replies.flag])
    of_repeats = (
        name in _OF_REPEATS or name.startswith("class_agreement") or name.startswith(_PUBLISHED)
    )
    if other and of_repeats and row["value"] is not None:
        row = with_flags(row, [other])
    of_repeats = of_repeats and row["conditions"] != REPRODUCIBILITY
    all_of_it = items == TEMPERATURE and name in CONSISTENCY
    is_flagged = of_repeats if greedy == Flag.SERVING_NOISE else not all_of_it
    return with_flags(row, [(greedy, ())]) if greedy and is_flagged else row


def _of_items(
    group: Group,
    everything: CountedJudgments,
    key: Mapping[str, object],
    items: str,
    names: Sequence[str],
) -> Iterator[Row]:
    """Coefficients of distinct items; temperatures may be such, and 0 is then one of them."""
    units = units_of(everything if items == TEMPERATURE else sampled(everything), key)
    rows = UnitRows(units=units, kinds=everything.nested.kinds)
    n = {"n_judgments": int(units[N].list.sum().sum())} if items == TEMPERATURE else {}
    kept = [*dict.fromkeys((*group.unit, items))]
    scores = item_scores(rows.long(kept), items, facets=group.unit[1:])
    yield from consistency_rows(scores, names, {**group.basis, **n}, group.intervals)


def _of_more_than_counts(
    group: Group, part: UnitRows, chosen: Sequence[str], missing: Sequence[Missing],
    *, continuous: bool,
) -> Iterator[Row]:  # fmt: skip
    """Coefficients that need to know what is right, or where options stood."""
    if right := [name for name in chosen if name in CORRECTNESS]:
        rows = part.long([*dict.fromkeys((*group.unit, GOLD))])
        yield from correctness_rows(group, rows, right, missing)
    if order := [name for name in chosen if name in ORDER_EFFECTS]:
        yield from order_rows(group, part, order, missing, continuous=continuous)


def _labels(
    source: pl.LazyFrame | Tally,
    counted: CountedJudgments,
    chosen: Sequence[str],
    columns: Sequence[str],
    block: Block,
) -> pl.DataFrame | None:
    """Rows for the published estimator, where it is asked for."""
    if not set(chosen) & set(PUBLISHED):
        return None
    if "replication" not in columns:
        raise SweepError("the published estimator needs the column replication")
    rows = source.rows if isinstance(source, Tally) else source
    keys = dict.fromkeys((*counted.groups, "item_id", *counted.facets))
    return read_labels(rows, columns, keys=list(keys), block=block)


def _known(names: Sequence[str], known: Sequence[_Name], what: str) -> tuple[_Name, ...]:
    """The names in the order they are known in; each must be known, and there must be one."""
    if not names:
        raise SweepError(f"no {what} given, expected some of {_listed(known)}")
    for name in names:
        if name not in known:
            plain = name.lower()
            parts = [one for one in known if plain in one.split("_")]
            near = parts or get_close_matches(plain, known, n=3)
            raise SweepError(
                f"unknown {what} {name!r}, expected one of {_listed(known)}",
                hint=" or ".join(map(str, near)) or None,
            )
    return tuple(name for name in known if name in names)


def _listed(names: Sequence[str]) -> str:
    """The first of many names: a line is read to its end."""
    return ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")


def _groups(
    counted: CountedJudgments,
    declared: Mapping[str, int],
    n_options: Mapping[str, int] | None,
    scales: Mapping[str, Scale],
    intervals: IntervalChoice,
    nuisance: Sequence[str],
    shown: Places | None,
) -> Iterator[tuple[Row, Group, UnitRows, Moments | None]]:
    """Every group with its key, its rows and its moments, in the order of the keys."""
    units, kinds, groups = counted.nested.units, counted.nested.kinds, counted.groups
    placed = shown.placed if shown else ()
    menus = {
        name: (rows, rows.seen(), places_of(rows, placed))
        for name, rows in counted.by_protocol().items()
    }
    for values, part in parts_by(units, groups).items():
        facets = varying_facets(part, counted.facets)
        everything, seen, places = menus[part["protocol"][0] if "protocol" in groups else None]
        options = options_of(part, declared if n_options is None else n_options)
        n_categories, scores = _menu(part, everything, seen, declared, scales, options)
        unit = ("item_id", *facets)
        cluster = ("item_id", *(name for name in facets if name == "benchmark"))
        named_kinds = scored_kinds(kinds, scale_names(part), scales)
        rows = replace(counted.nested, units=part, kinds=named_kinds)
        moments = moments_of(rows, unit=unit)
        counting = moments.rows if moments else rows
        apart = tuple(name for name in unit if name in nuisance)
        table = unit_table(
            counting, unit=unit, cluster=cluster, distinct=counted.distinct, nuisance=apart,
            n_orders=possible_orders(options_shown(shown) if options is None else options),
        )  # fmt: skip
        group = Group(
            table=table,
            unit=unit,
            level="interval" if moments else own_level(_with_scales(table.kinds, part), scales),
            n_categories=n_categories,
            n_outcomes=outcomes_without_verdict(seen),
            scores=scores,
            intervals=intervals,
            nuisance=apart,
            n_places=places if options is None else options,
        )
        key = dict(zip(groups, values, strict=True))
        yield key, group, rows, moments


def _menu(
    part: pl.DataFrame,
    everything: UnitRows,
    seen: pl.DataFrame,
    declared: Mapping[str, int],
    scales: Mapping[str, Scale],
    n_options: int | None,
) -> tuple[int, tuple[float, ...]]:
    """How many verdicts a group had to choose from, and the scores of them that are known."""
    names = scale_names(part)
    if names:
        # What others rated on this scale could have been said here, too; what is on others, not.
        units = everything.units.filter(pl.col(SCALE).cast(pl.String).is_in(names))
        seen = UnitRows(units=units, kinds=everything.kinds).seen()
    scored = seen.filter(SCORED)
    distinct: int = scored.select(LABEL.n_unique()).item()
    scores = scored["score"].drop_nulls().unique().to_list()
    if names:
        n_on_scales, on_scales = values_on(names, scales) or (0, ())
        return max(n_on_scales, distinct), tuple(sorted({*scores, *on_scales}))
    options = options_of(part, declared)
    if options is None and n_options is not None:
        tied = scored.select(is_tie().any()).item()
        options = max(distinct, n_options + bool(tied))
    return distinct if options is None else options, tuple(sorted(scores))


def _with_scales(kinds: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """Kinds of a group, each with every scale there."""
    return kinds.join(part.select("scale").unique(), how="cross") if "scale" in part else kinds
