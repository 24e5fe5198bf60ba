"""Groups of judgments as designs: questions crossed with what should not matter.

Facets have those levels that were recorded, as many as declared, or infinitely many; orders of k
options are k!.

Facets play one of three parts. Some belong to what is judged (the responder whose answer it is, the
criterion): their variance is wanted. Some are chosen and stay (temperature, scale): what they do is
fixed, and no error. All others (judge, template, definition, order of the options) are drawn from
those that might have been used, infinitely many or a known number: what they do to a verdict is
error.

Units of one group as cells of a design, and the effects that they may show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import factorial
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.blocks.words import estimator_words
from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.counted import alike_groups
from judgerel_ray.counting.groups.grouping import (
    count_judgments,
    greedy_flags,
    sampled,
    varying_facets,
)
from judgerel_ray.counting.groups.matrix import UnitCounts, unit_counts
from judgerel_ray.counting.verdicts.places import COUNTED_OPTIONS, NO_OPTION, ORDER
from judgerel_ray.counting.verdicts.policy import (
    SCORED,
    Missing,
    flag_columns,
    level_of_scale,
    number_of_row,
    value_of,
)
from judgerel_ray.measuring.lead_codes import LeadCode, Replies, replies_in
from judgerel_ray.stats.generalizability.facet_cells import FacetCells, label_cells, score_cells
from judgerel_ray.stats.generalizability.variance_components import (
    VarianceComponents,
    variance_components,
)

FacetSize = int | Literal["fixed", "unlimited"]
"""A number of levels, those recorded (fixed), or infinitely many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Populations:
    """How many levels facets have."""

    # What is declared. Orders of k options are k! in any case, where k is known.
    sizes: Mapping[str, FacetSize] = field(default_factory=dict)
    # Options of each question that are declared, by benchmark.
    n_options: Mapping[str, int] = field(default_factory=dict)
    # Whether every question has drawn its orders by itself, as those of a run have.
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
            size = _advice_option_orders(part, seen, n_labels=n_labels, n_options=n_options)
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


def _advice_option_orders(
    part: pl.DataFrame, seen: int, *, n_labels: int | None, n_options: int | None
) -> int | None:
    """Orders of the options; None where nothing tells how many options there are."""
    if n_options is None:
        verdict = pl.col("verdict").cast(pl.String)
        read = part.filter(~verdict.str.to_lowercase().is_in(NO_OPTION))
        each = read.group_by("item_id").agg(verdict.n_unique())["verdict"].max()
        least = next((k for k in range(COUNTED_OPTIONS + 1) if factorial(k) >= seen), None)
        if not isinstance(each, int) or least is None:
            return None
        least = max(least, each)
        # Names of options may be each question's own: without labels shown they count only where
        # no question can have fewer than all questions together.
        if n_labels is None and read["verdict"].n_unique() > least:
            return None
        n_options = max(least, n_labels or 0)
    if n_options > COUNTED_OPTIONS or factorial(n_options) < seen:
        return None
    return factorial(n_options)


QUESTION = "item_id"
_MOST_VALUES = 40


def stepped_score(part: pl.DataFrame) -> pl.Expr:
    """Give the score of a row, rounded to forty steps where it takes more values.

    Examples
    --------
    >>> rows = {"score": [1.0, 2.0], "verdict": [None, None], "outcome": ["scored"] * 2}
    >>> part = pl.DataFrame(rows)
    >>> part.select(stepped_score(part)).to_series().to_list()
    [1.0, 2.0]
    """
    scores = part.filter(SCORED)["score"].drop_nulls()
    if scores.n_unique() <= _MOST_VALUES:
        return number_of_row()
    low, high = float(scores.to_numpy().min()), float(scores.to_numpy().max())
    step = (high - low) / (_MOST_VALUES - 1)
    stepped: pl.Expr = ((number_of_row() - low) / step).round() * step + low
    return stepped


def scored_cells(
    part: pl.DataFrame,
    unit: Sequence[str],
    levels: dict[str, NDArray[np.int64]],
) -> FacetCells:
    """Sum the scores of each unit, in the order of the units.

    Examples
    --------
    >>> part = pl.DataFrame({"item_id": ["q"], "score": [2.0], "n": [3], "outcome": ["scored"]})
    >>> scored_cells(part, ["item_id"], {"item_id": np.array([0])}).n_C.tolist()
    [3.0]
    """
    score, n = number_of_row(), pl.col("n").cast(pl.Float64)
    valid = pl.when(score.is_not_null()).then(n).otherwise(0.0)
    sums = part.sort([*unit, "score"]).group_by(unit, maintain_order=True).agg(
        n=valid.sum(), sums=(n * score).sum(), squares=(n * score**2).sum()
    )  # fmt: skip
    n_C, sums_C, squares_C = (sums[name].to_numpy() for name in ("n", "sums", "squares"))
    return score_cells(n_C, sums_C, squares_C, levels)


def facet_levels(
    part: pl.DataFrame, unit: Sequence[str], facets: Sequence[str]
) -> dict[str, NDArray[np.int64]]:
    """Code every facet's level in each unit, null being one.

    Examples
    --------
    >>> part = pl.DataFrame({"item_id": ["q", "q"], "template": ["b", "a"]})
    >>> facet_levels(part, ["item_id", "template"], ["template"])["template"].tolist()
    [0, 1]
    """
    units = part.select(unit).unique().sort(unit)
    codes = units.select(pl.struct(name).rank("dense").cast(pl.Int64) - 1 for name in facets)
    return {name: codes[name].to_numpy() for name in facets}


def crossed_facet_terms(facets: Sequence[str], nested: Sequence[str]) -> list[tuple[str, ...]]:
    """List effects up to three facets, nested ones only together with the question.

    Examples
    --------
    >>> crossed_facet_terms(["responder"], ["responder"])
    [('item_id',), ('item_id', 'responder')]
    """
    names = (QUESTION, *facets)
    terms: list[tuple[str, ...]] = [(a,) for a in names]
    terms += [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    terms += [(QUESTION, b, c) for i, b in enumerate(names[1:], 2) for c in names[i:]]
    return [term for term in terms if QUESTION in term or not set(term) & set(nested)]


JUDGED = ("protocol", "stage", "responder", "criterion")
CHOSEN = ("temperature", "top_k", "top_p", "scale")
Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetGroup:
    """One group of judgments as a design."""

    key: Row
    found: VarianceComponents
    # Verdicts of each unit (the question by every facet); scores of more than 40 values are rounded
    # to 40 steps.
    units: UnitCounts
    kind: str  # Whether verdicts are names or numbers.
    judged: tuple[str, ...]  # Facets that vary, by the part they play.
    chosen: tuple[str, ...]
    drawn: tuple[str, ...]
    n_things: int  # Different things judged: questions by the facets in `judged`.
    # Levels of each drawn facet that a thing was judged at, in the mean, rounded down.
    levels: Mapping[str, int]
    greedy: Flag | None = None  # What temperature 0 has to do with its replications, if anything.
    replies: Replies = field(default_factory=Replies)  # How many replies hold a verdict.


def facet_groups(
    frame: pl.LazyFrame,
    *,
    by: Sequence[str] | None = None,
    nested: Sequence[str] = (),
    missing: Missing = "category",
    populations: Populations | None = None,
) -> Iterator[FacetGroup]:
    """Lay every group of judgments out as a design, and take its variance apart.

    Of many small groups those in which all counts are equal share one :attr:`FacetGroup.found`.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> [group.found.n_judgments for group in facet_groups(pl.LazyFrame(rows))]
    [4]
    """
    populations = populations or Populations()
    everything = count_judgments(frame, by=by)
    counted = sampled(everything)
    groups, rows = counted.groups, counted.frame
    for name in nested:
        if name not in counted.facets:
            raise SweepError(
                f"{name!r} is no facet here whose values could belong to one question each, "
                f"expected one of {', '.join(counted.facets) or 'none'}",
                hint="--nested responder, for the answers of a log judged again",
            )
    known = [name for name in counted.facets if name not in (*JUDGED, *CHOSEN, *nested)]
    checked_facet_sizes(populations.sizes, known=known, columns=rows.columns)
    labels = labels_chosen(frame, groups) if ORDER in known else {}
    split = rows.partition_by(groups, maintain_order=True) if groups else [rows]
    alike = alike_groups(counted)
    laid_out: dict[object, FacetGroup] = {}
    for part in under_way(split, of=len(split), what="groups", hint=fewer_groups(groups)):
        key = dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {}
        values = tuple(key.values())
        n_labels, greedy = labels.get(values), greedy_flags(key, counted, everything)
        same = (alike[values], n_labels, greedy) if values in alike else None
        if same in laid_out:
            yield replace(laid_out[same], key=key)
            continue
        facets = varying_facets(part, counted.facets)
        if "judge" in facets:
            facets = tuple(name for name in facets if name != "judge_fingerprint")
        found = _facet_group(key, part, facets, nested, missing, populations, n_labels)
        found = replace(found, greedy=greedy, replies=replies_in(part))
        if same is not None:
            laid_out[same] = found
        yield found


def component_rows(group: FacetGroup) -> Iterator[Row]:
    """Write the components of a group as rows of `Components`.

    Examples
    --------
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "A"]}
    >>> [row["undefined"] for row in component_rows(next(facet_groups(pl.LazyFrame(rows))))]
    ['no_variance']
    """
    found = group.found
    noted: list[Noted] = [(group.greedy, ())] if group.greedy else []
    flags = flag_columns([*noted, *([group.replies.flag] if group.replies.flag else [])])
    basis = {
        "n_items": found.n_questions,
        "n_judgments": found.n_judgments,
        **flags,
        "estimator": estimator_words({"statistic": found.estimator, **flags}),
    }
    if group.replies.are_few:
        yield {"undefined": LeadCode.FEW_VERDICTS.value, **basis}
        return
    for one in found.components:
        yield {
            "component": one.name, "part": _part(group, one.facets), "estimate": one.value,
            "share": one.share, "low": one.low, "high": one.high,
            "no_interval": "too_few_levels" if found.few_levels else None,
            "n_levels": one.n_levels, "levels_of": found.sizes.get(one.name),
            "negative": one.negative, **basis,
        }  # fmt: skip
    for name, other in found.confounded.items():
        yield {"component": name, "undefined": f"confounded with {other}", **basis}
    if found.undefined:
        yield {"undefined": found.undefined, **basis}


def key_schema(groups: Sequence[FacetGroup]) -> dict[str, pl.DataType]:
    """Tell the types of the groups' columns.

    Examples
    --------
    >>> key_schema([])
    {}
    """
    names = list(groups[0].key) if groups else []
    columns = pl.DataFrame([group.key for group in groups], infer_schema_length=None)
    return {name: columns.schema[name] for name in names}


def _facet_group(
    key: Row,
    part: pl.DataFrame,
    facets: tuple[str, ...],
    nested: Sequence[str],
    missing: Missing,
    populations: Populations,
    n_labels: int | None,
) -> FacetGroup:
    """One group's rows as a design."""
    kind = "labels" if level_of_scale(part) == "nominal" else "scores"
    cluster = (QUESTION, *(name for name in facets if name == "benchmark"))
    facets = tuple(name for name in facets if name != "benchmark")
    unit = (*cluster, *facets)
    value = value_of(missing) if kind == "labels" else stepped_score(part)
    units = unit_counts(part, value, unit=unit, cluster=cluster)
    levels = facet_levels(part, unit, facets) | {QUESTION: units.clusters_U}
    cells = scored_cells(part, unit, levels) if kind == "scores" else label_cells(
        units.counts_UV, levels
    )  # fmt: skip
    terms = crossed_facet_terms(facets, nested) if nested else None
    judged = tuple(name for name in facets if name in (*JUDGED, *nested))
    chosen = tuple(name for name in facets if name in CHOSEN)
    fixed = tuple(name for name in chosen if name not in nested)
    drawn = tuple(name for name in facets if name not in (*judged, *CHOSEN))
    sizes = group_sizes(
        part, drawn, populations.sizes,
        n_labels=n_labels, n_options=populations.options(part),
    )  # fmt: skip
    judge_facets = (*judged, *nested, *([ORDER] if populations.own_orders else []))
    things = part.group_by(*cluster, *judged).agg(pl.col(*drawn).n_unique()) if drawn else part
    return FacetGroup(
        key=key,
        found=variance_components(
            cells, object_=QUESTION, terms=terms, fixed=fixed, sizes=sizes, nested=judge_facets
        ),
        units=units,
        kind=kind,
        judged=judged,
        chosen=chosen,
        drawn=drawn,
        n_things=part.select(pl.struct(*cluster, *judged).n_unique()).item(),
        levels={name: int(things[name].sum() // things.height) for name in drawn},
    )


def _part(group: FacetGroup, facets: Sequence[str]) -> str:
    """What a component is to the one who asks."""
    if not facets or set(facets) & set(group.drawn):
        return "error"
    return "chosen" if set(facets) <= set(group.chosen) else "wanted"
