"""Ratings of one judge on several scales, laid side by side: what inter-scale numbers start from.

A unit is what was rated, as it was asked but for the scale: the item, the responder, and every
recorded facet that varies inside the group. Items are the questions that intervals draw.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import Scale, SweepError
from judgerel_ray.counting.columns import (
    FACETS,
    KINDS,
    TYPED,
    is_judge,
    outcome_column,
    typed_column,
)
from judgerel_ray.counting.files.source import quote_columns
from judgerel_ray.counting.groups.grouping import varying_facets
from judgerel_ray.counting.verdicts.policy import (
    SCALE,
    SCORED,
    known_scale,
    reading_order,
    scale_names,
)
from judgerel_ray.protocols.criteria import listed
from judgerel_ray.protocols.replies.scales import folded_label, scale_values
from judgerel_ray.stats.counts import Floats

RATED_GROUPS = ("judge", "benchmark", "criterion", "definition", "temperature")
"""Columns that make a group of ratings, those that hold any value."""
QUESTION, REPLICATION = "item_id", "replication"
_ROUNDING = 1e-9
_READ = (QUESTION, REPLICATION, "role", "block", "label", *FACETS, *KINDS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatedGroup:
    """Ratings of one group on every scale."""

    key: Mapping[str, object]
    # The scales rated on, from the coarsest to the finest, by name where they are as fine.
    scales: Mapping[str, Scale]
    # Shape (n_units, n_replications). Scores on each scale; NaN where a reply held none. Column 0
    # is the first replication.
    scores: Mapping[str, Floats]
    units: pl.DataFrame  # What was rated, one row a unit, sorted; then what all units share.
    # Shape (n_units,). The question of each unit.
    questions_N: NDArray[np.str_]  # noqa: N815  a shape, not a case


def scale_ends(scale: Scale) -> tuple[float, float]:
    """Give the lowest and the highest score of a scale.

    Examples
    --------
    >>> scale_ends(known_scale("likert5")), scale_ends(known_scale("points10"))
    ((0.0, 4.0), (1.0, 10.0))
    """
    if scale.labels:
        return 0.0, float(len(scale.labels) - 1)
    return float(scale.lowest), float(scale.highest)


def rated_rows(
    frame: pl.LazyFrame, *, by: Sequence[str] = (), scales: Mapping[str, Scale] | None = None
) -> tuple[pl.DataFrame, dict[str, Scale]]:
    """Read what ratings say: rows of judges that name a scale, with their scores as numbers.

    The rows, with a column ``score`` that is null where no rating was read, and their scales from
    the coarsest to the finest.

    Examples
    --------
    >>> rows, scales = rated_rows(pl.LazyFrame({
    ...     "item_id": ["q", "q"], "scale": ["points5", "likert5"], "verdict": ["4", "Agree"]}))
    >>> rows["score"].to_list(), list(scales)
    ([3.0, 4.0], ['likert5', 'points5'])
    """
    schema = frame.collect_schema()
    if SCALE not in schema or QUESTION not in schema:
        raise SweepError(
            f"ratings need columns item_id and scale, got columns {quote_columns(schema)}",
            hint='protocol = "rating", or a column scale with names of scales',
        )
    kept = [name for name in dict.fromkeys((*_READ, *by)) if name in schema]
    typed = [typed_column(name, schema[name]) if name in TYPED else pl.col(name) for name in kept]
    rows = frame.select(typed).with_columns(outcome_column(kept)).filter(
        is_judge(kept), pl.col(SCALE).is_not_null()
    )  # fmt: skip
    if "block" in kept:
        rows = rows.filter(pl.col("block").fill_null(0) == 0)
    found = rows.collect()
    if found.is_empty():
        raise SweepError("no rating to compare: no row of a judge names a scale")
    known = {name: _known_rated_scale(name, scales) for name in scale_names(found)}
    known = dict(sorted(known.items(), key=lambda one: (_rated_scale_fineness(one[1]), one[0])))
    parts = [
        _rated_rows_with_scores(found.filter(pl.col(SCALE) == name), one)
        for name, one in known.items()
    ]
    return pl.concat(parts), known


def rated_groups(
    rows: pl.DataFrame, scales: Mapping[str, Scale], *, by: Sequence[str] | None = None
) -> list[RatedGroup]:
    """Lay ratings out by group and scale.

    Examples
    --------
    >>> rows, scales = rated_rows(pl.LazyFrame({
    ...     "item_id": ["q", "q", "r"], "scale": ["points5", "points10", "points5"],
    ...     "replication": [0, 0, 1], "score": [4, 8, 5]}))
    >>> [group] = rated_groups(rows, scales)
    >>> group.scores["points5"].tolist(), group.questions_N.tolist()
    ([[4.0, nan], [nan, 5.0]], ['q', 'r'])
    """
    groups = group_names(rows, by)
    there = [name for name in FACETS if name in rows.columns and name not in (*groups, SCALE)]
    # Of a grid of millions, other columns and sorting whole rows are most of the memory.
    facets = varying_facets(rows, there)
    needed = dict.fromkeys((*groups, QUESTION, *facets, SCALE, REPLICATION, "score"))
    slim, alike = (
        rows.select(n for n in needed if n in rows.columns),
        _rated_group_shared_facets(rows, needed),
    )
    parts = slim.partition_by(groups, as_dict=True) if groups else {(): slim}
    keys = slim.select(groups).unique().sort(reading_order(groups)).rows() if groups else [()]
    return [_rated_group_of_part(parts.pop(key), groups, facets, scales, alike) for key in keys]


def group_names(rows: pl.DataFrame, by: Sequence[str] | None) -> tuple[str, ...]:
    """Name the columns that make a group.

    Examples
    --------
    >>> group_names(pl.DataFrame({"judge": ["x"], "criterion": [None]}), None)
    ('judge',)
    """
    if by is None:
        there = [name for name in RATED_GROUPS if name in rows.columns]
        return tuple(name for name in there if rows[name].null_count() < rows.height)
    for name in by:
        if name in (SCALE, QUESTION, REPLICATION, *KINDS):
            raise SweepError(
                f"cannot group by {name!r}: it is part of what is compared",
                where={"by": ",".join(by)},
            )
        if name not in rows.columns:
            raise SweepError(
                f"no column {name!r} to group by, got columns {', '.join(rows.columns)}",
                where={"by": ",".join(by)},
            )
    return tuple(dict.fromkeys(by))


def _rated_group_of_part(
    part: pl.DataFrame, groups: Sequence[str], facets: Sequence[str], scales: Mapping[str, Scale],
    alike: Mapping[str, pl.Expr],
) -> RatedGroup:  # fmt: skip
    """One group, and what all groups have alike."""
    unit = [QUESTION, *varying_facets(part, facets)]
    units = part.select(unit).unique().sort(unit).with_row_index("__unit")
    coded = part.join(units, on=unit, nulls_equal=True)
    scores = {}
    for name in scales:
        on_scale = coded.filter(pl.col(SCALE) == name)
        if on_scale.height:
            scores[name] = _rated_score_table(on_scale, units.height)
    names = [pl.col(name).cast(pl.String) for name in unit if name in (QUESTION, "benchmark")]
    questions = units.select(pl.concat_str(names, separator="\x1f"))
    return RatedGroup(
        key=dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {},
        scales={name: scales[name] for name in scores},
        scores=scores,
        units=units.drop("__unit").with_columns(
            **alike, **_rated_group_shared_facets(part, (*unit, *groups, SCALE))
        ),
        questions_N=questions.to_series().to_numpy().astype(np.str_),
    )


def _rated_group_shared_facets(part: pl.DataFrame, others: Container[str]) -> dict[str, pl.Expr]:
    """Facets that are the same in all rows: by a responder, too, a reference may tell units."""
    there = [name for name in FACETS if name in part.columns and name not in others]
    first = {name: part[name][0] for name in there}
    return {name: pl.lit(one, part.schema[name]) for name, one in first.items() if one is not None}


def _rated_score_table(on_scale: pl.DataFrame, n_units: int) -> Floats:
    """Scores on one scale, one row a unit and one column a replication."""
    number = pl.col(REPLICATION) if REPLICATION in on_scale.columns else pl.lit(0)
    placed = (
        on_scale.with_columns(__number=number)
        .sort("__unit", "__number", "score")
        # Two rows of one replication each keep a column of their own.
        .with_columns(__again=pl.int_range(pl.len()).over("__unit", "__number"))
        .with_columns(__place=pl.struct("__again", "__number").rank("dense") - 1)
    )
    table = np.full((n_units, int(placed["__place"].n_unique())), np.nan)
    place = placed["__unit"].to_numpy(), placed["__place"].to_numpy()
    table[place] = placed["score"].fill_null(float("nan")).to_numpy()
    return table


def _known_rated_scale(name: str, scales: Mapping[str, Scale] | None) -> Scale:
    """A scale by its name; SweepError where nobody declared it."""
    found = known_scale(name, scales)
    if found is None:
        raise SweepError(
            f"nothing tells the ends of scale {name!r}, so its ratings compare with no others",
            hint=f"--scale {name}.toml, a file with its level and lowest and highest, or labels",
        )
    return found


def _rated_scale_fineness(scale: Scale) -> float:
    """How many scores a scale has."""
    values = scale_values(scale)
    return float("inf") if values is None else len(values)


def _rated_rows_with_scores(rows: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Rows of one scale with their scores, from their verdicts where they have none."""
    read: pl.Expr | pl.Series = pl.lit(None, pl.Float64)
    if "verdict" in rows.columns:
        read = _rated_scores_of_verdicts(rows["verdict"].cast(pl.String), scale)
    numeric = pl.col("score") if "score" in rows.columns else pl.lit(None, pl.Float64)
    found = rows.with_columns(score=pl.when(SCORED).then(pl.coalesce(numeric, read)))
    values, (low, high) = scale_values(scale), scale_ends(scale)
    score = pl.col("score")
    whole = pl.lit(False) if values is None else (score - score.round()).abs() > _ROUNDING
    off = found.filter((score < low) | (score > high) | whole)
    if off.height:
        raise _off_rated_scale_error(f"score {off['score'][0]:g}", off, scale)
    unread = found.filter(SCORED & score.is_null())
    if unread.height:
        raise _off_rated_scale_error(f"verdict {unread['verdict'][0]!r}", unread, scale)
    return found


def _rated_scores_of_verdicts(verdicts: pl.Series, scale: Scale) -> pl.Series:
    """Scores of verdicts, words in any case and numbers however spelled; null of what is none."""
    values = scale_values(scale)
    if not scale.labels:
        return verdicts.cast(pl.Float64, strict=False)
    named = dict(zip(map(folded_label, scale.labels), values or (), strict=True))
    written = verdicts.drop_nulls().unique().to_list()
    meant = [named.get(folded_label(one)) for one in written]
    return verdicts.replace_strict(written, meant, default=None, return_dtype=pl.Float64)


def _off_rated_scale_error(what: str, rows: pl.DataFrame, scale: Scale) -> SweepError:
    """Say that something is not on a scale, and what is."""
    low, high = scale_ends(scale)
    kind = "numbers" if scale.decimals else "whole numbers"
    labels = listed(scale.labels) if scale.labels else f"{kind} from {low:g} to {high:g}"
    places = f" (places {low:g} to {high:g})" if scale.labels else ""
    return SweepError(
        f"{what} is not on scale {scale.name}, which has {labels}{places}",
        where={"item_id": rows[QUESTION][0]},
        hint="a scale of your own has a file and a name of its own; a reply without a rating has "
        "no verdict",
    )
