"""All that confusion matrices say of a run's judgments, every table from the same scores.

Accuracy and share of low labels against the threshold, error against acceptance, and how often a
judge gives the label of a person, beside a person held out, and people that of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest

import numpy as np
import polars as pl

from judgerel_ray.analyses.confusion.groups import (
    GROUPED,
    Bools,
    JudgedGroup,
    Labelling,
    judged_groups,
    labellings,
    labels_of_others,
    transfer_table,
)
from judgerel_ray.analyses.confusion.matrices import (
    Picked,
    ScoredMatrix,
    UncertaintyOptions,
    matrix_rows,
    picked_matrices,
    scored_matrices,
    sparsity_table,
)
from judgerel_ray.analyses.confusion.tables import (
    TABLES,
    LabelledShares,
    MarginAcceptance,
    PeopleAgreement,
    PeopleMatches,
    ThresholdCurve,
)
from judgerel_ray.analyses.confusion.worth import score_table, uncertainty_summary
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core.tables import as_columns, value_columns
from judgerel_ray.counting.verdicts.policy import floor_columns
from judgerel_ray.stats import acceptance_curve, inter_rater_accuracy, label_accuracy
from judgerel_ray.stats.confusion.labels import DEFAULT_GRID
from judgerel_ray.stats.intervals.shares import Share, clustered_share
from judgerel_ray.stats.ratings.reference import PeopleMatch, people_match


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UncertaintyTables(Shown):
    """How sure a judge is of single judgments, and what that is worth.

    Attributes
    ----------
    judgments, worth, scores, labels, transfer, people, against_people : pl.DataFrame
        As :mod:`judgerel_ray.analyses.confusion.tables` says.
    curves, acceptance, sparsity : pl.DataFrame
        Likewise, of figures.
    picked : tuple of Picked
        Matrices that show most: of each judge the most certain, the most torn, and the most
        confidently wrong one.
    """

    judgments: pl.DataFrame
    worth: pl.DataFrame
    scores: pl.DataFrame
    labels: pl.DataFrame
    transfer: pl.DataFrame
    people: pl.DataFrame
    against_people: pl.DataFrame
    curves: pl.DataFrame
    acceptance: pl.DataFrame
    sparsity: pl.DataFrame
    picked: tuple[Picked, ...]

    def printed(self) -> dict[str, pl.DataFrame]:
        """Tables that are printed, by name."""
        return {name: getattr(self, name) for name in TABLES["uncertainty"]}


def uncertainty_tables(
    confusions: pl.DataFrame,
    verdicts: pl.DataFrame,
    right: pl.DataFrame,
    items: pl.DataFrame,
    *,
    baselines: pl.DataFrame | None = None,
    tokens: pl.DataFrame | None = None,
    options: UncertaintyOptions | None = None,
) -> UncertaintyTables:
    """Compute all that confusion matrices say.

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.matrices import confusion_table
    >>> from judgerel_ray.tables import items_to_frame
    >>> found = uncertainty_tables(confusion_table([]), pl.DataFrame(), pl.DataFrame(),
    ...                            items_to_frame([]))
    >>> found.worth.height
    0
    """
    options = options or UncertaintyOptions()
    matrices: Sequence[ScoredMatrix] = tuple(scored_matrices(confusions, verdicts, right, options))
    groups = judged_groups(matrices, options)
    judged = {str(one.row["item_id"]) for one in matrices}
    rated = items.filter(pl.col("item_id").is_in(judged))
    return UncertaintyTables(
        judgments=matrix_rows(matrices),
        worth=uncertainty_summary(groups, options),
        scores=score_table(groups, baselines, tokens),
        labels=label_table(groups, options),
        transfer=transfer_table(groups, options),
        people=people_table(rated, right if "text" in right.columns else None),
        against_people=matched_table(groups, rated, options),
        curves=threshold_curves(groups),
        acceptance=acceptance_table(groups),
        sparsity=sparsity_table(matrices),
        picked=picked_matrices(matrices),
    )


STEPS = 50
_ENDS = [f"{name}_{end}" for name in ("low", "high", "share") for end in ("from", "to")]


def threshold_curves(groups: Sequence[JudgedGroup]) -> pl.DataFrame:
    """Lay out what every threshold of a grid would give.

    Intervals hold at each threshold by itself: one chosen for what it shows here is worth less.

    Examples
    --------
    >>> threshold_curves([]).height
    0
    """
    rows = [
        {
            **group.name,
            "threshold": threshold,
            **_uncertain_share_columns(group, group.edges.low(threshold)),
        }
        for group in groups
        if group.judged
        for threshold in DEFAULT_GRID
    ]
    return ThresholdCurve.frame(rows, GROUPED)


def label_table(groups: Sequence[JudgedGroup], options: UncertaintyOptions) -> pl.DataFrame:
    """Lay out accuracy by label and share of low, of all judgments and of each criterion.

    Each criterion has rows where there are several. Rows of kind "in-sample" are optimistic, and
    have no intervals.

    Examples
    --------
    >>> label_table([], UncertaintyOptions()).height
    0
    """
    rows = [
        row
        for group in groups
        if group.judged
        for labelling in labellings(group, options)
        if labelling.undefined is None
        for row in _uncertainty_label_shares(group, labelling)
    ]
    return LabelledShares.frame(rows, GROUPED)


def _uncertainty_label_shares(
    group: JudgedGroup, labelling: Labelling
) -> Iterator[dict[str, object]]:
    """One way of labelling, of all and by criterion."""
    names = group.criteria()
    parts: list[tuple[str | None, Bools]] = [(None, np.ones_like(group.correct_N))]
    if len(names) > 1:
        parts += [(name, group.by_criterion(name)) for name in names]
    # Intervals of what was chosen on the same judgments would be wrong.
    unknown = dict.fromkeys(_ENDS if labelling.kind == "in-sample" else ())
    for name, kept in parts:
        yield {
            **group.name,
            **as_columns(labelling, "kind", "threshold", "how", "n_folds"),
            "criterion": name,
            **_uncertain_share_columns(group, labelling.low_N, kept),
            **unknown,
        }


def _uncertain_share_columns(
    group: JudgedGroup, low_N: Bools, kept: Bools | slice = slice(None)
) -> dict[str, object]:
    """Shares of the judgments kept as columns."""
    found = label_accuracy(low_N[kept], group.correct_N[kept], clusters_N=group.text_N[kept])
    columns: dict[str, object] = {}
    for name, of in (("all", "all"), ("low", "low"), ("high", "high"), ("share", "share_low")):
        one: Share = getattr(found, of)
        columns |= as_columns(one, **{f"k_{name}": "k", f"n_{name}": "n", name: "value"})
        if one.n:
            columns |= as_columns(one, **{f"{name}_from": "low", f"{name}_to": "high"})
    return columns


def acceptance_table(groups: Sequence[JudgedGroup]) -> pl.DataFrame:
    """Lay out the share wrong among the surest judgments, at margins that occur.

    At most 50 margins at even steps of acceptance; intervals are exact with one judgment a text,
    else by text.

    Examples
    --------
    >>> acceptance_table([]).height
    0
    """
    rows = []
    for group in groups:
        curve = acceptance_curve(group.margin_N, group.correct_N)
        steps = np.searchsorted(curve.acceptance_T, np.arange(1, STEPS + 1) / STEPS - 1e-9)
        for t in np.unique(steps[steps < curve.thresholds_T.size]):
            taken = group.margin_N >= curve.thresholds_T[t]
            wrong = clustered_share(~group.correct_N[taken], clusters_N=group.text_N[taken])
            rows.append({
                **group.name,
                "margin": float(curve.thresholds_T[t]), "accepted": float(curve.acceptance_T[t]),
                **as_columns(wrong, "low", "high", n_accepted="n", n_errors="k", error="value"),
            })  # fmt: skip
    return MarginAcceptance.frame(rows, GROUPED)


_Labels = Mapping[tuple[str, str], Sequence[str]]


def matched_table(
    groups: Sequence[JudgedGroup], items: pl.DataFrame, options: UncertaintyOptions
) -> pl.DataFrame:
    """Compare judges with people by one measure: how often a label is that of another person.

    Kinds of people are never pooled. Labels are those that lead. Intervals are over texts; the
    people are those who rated, and none is drawn anew. Items of one person take no part, as nobody
    is there to hold out.

    Examples
    --------
    >>> from judgerel_ray.tables import items_to_frame
    >>> matched_table([], items_to_frame([]), UncertaintyOptions()).height
    0

    Notes
    -----
    Items of low uncertainty may be easy for people, too: their bar is of the same items.
    """
    kinds: dict[object, dict[tuple[str, str], list[str]]] = {}
    for benchmark, item, kind, labels_of in people_labels(items).iter_rows():
        kinds.setdefault(kind, {})[benchmark, item] = labels_of
    rows = [
        {**group.name, "raters": kind, **row}
        for group in groups
        for kind, labels_of in kinds.items()
        for row in _uncertainty_beside_people(group, labels_of, options)
    ]
    return PeopleMatches.frame(rows, GROUPED)


def _uncertainty_beside_people(
    group: JudgedGroup, labels_of: _Labels, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """Rows of one group and kind of people."""
    matrices = (*group.judged, *group.unjudged)
    rated = np.array([_confusion_item_key(one) in labels_of for one in matrices], dtype=bool)
    if not any(
        len(labels_of[_confusion_item_key(one)]) > 1
        for one in matrices
        if _confusion_item_key(one) in labels_of
    ):
        return
    yield _confusion_match_row(None, "all", _confusion_match_to_people(matrices, rated, labels_of))
    if (low := _low_uncertainty_labels(group, options)) is not None:
        for label, kept in (("low", low), ("high", ~low)):
            yield _confusion_match_row(
                None, label, _confusion_match_to_people(matrices, rated & kept, labels_of)
            )
    names = [one.row["criterion"] for one in matrices]
    several = [name for name in dict.fromkeys(names) if name is not None]
    for name in several if len(several) > 1 else ():
        of_criterion = np.array([one == name for one in names], dtype=bool)
        yield _confusion_match_row(
            name, "all", _confusion_match_to_people(matrices, rated & of_criterion, labels_of)
        )


def _low_uncertainty_labels(group: JudgedGroup, options: UncertaintyOptions) -> Bools | None:
    """The labels that lead, of all judgments; None where there is no threshold."""
    if not group.judged and options.threshold is None:
        return None
    leading = next(labellings(group, options))
    others = labels_of_others(group, leading, options)
    return None if others is None else np.concatenate([leading.low_N, others])


def _confusion_item_key(one: ScoredMatrix) -> tuple[str, str]:
    """The item of a judgment."""
    return str(one.row["benchmark"]), str(one.row["item_id"])


def _confusion_match_to_people(
    matrices: Sequence[ScoredMatrix], kept: Bools, labels_of: _Labels
) -> PeopleMatch:
    """A judge and a person against people, on some of the judgments."""
    taken = [matrices[place] for place in np.flatnonzero(kept)]
    names = dict.fromkeys(label for one in taken for label in labels_of[_confusion_item_key(one)])
    columns = {name: column for column, name in enumerate(names)}
    counts = np.zeros((len(taken), max(1, len(columns))), dtype=np.int64)
    for row, one in zip(counts, taken, strict=True):
        for label in labels_of[_confusion_item_key(one)]:
            row[columns[label]] += 1
    chosen = [one.row["chosen"] for one in taken]  # none, and what nobody said, match nobody
    verdicts = np.array([columns.get(str(one), -1) if one is not None else -1 for one in chosen],
                        dtype=np.int64)  # fmt: skip
    texts = np.array([one.text for one in taken], dtype=np.str_)
    return people_match(counts, verdicts, clusters_U=texts)


def _confusion_match_row(criterion: object, label: str, found: PeopleMatch) -> dict[str, object]:
    """One comparison."""
    return {
        "criterion": criterion, "label": label,
        **as_columns(found.judge, "undefined", judge_share="value", judge_low="low",
                     judge_high="high"),
        **as_columns(found.person, person_share="value", person_low="low", person_high="high"),
        **value_columns("difference", found.difference), **floor_columns(found.floor),
        **as_columns(found, "person_floor", "n_items", "n_ratings", "n_split", "n_single"),
    }  # fmt: skip


def people_labels(items: pl.DataFrame) -> pl.DataFrame:
    """Gather the labels that people gave each item as a whole, by kind of people.

    Who rates one of its options does not say which is right, what is none of its options is no
    label of it, and of several criteria an item is judged by the first that its ratings name.

    benchmark, item_id, ``raters`` (the kind; null where they have none) and ``labels`` (list), in
    the order of the items and of their ratings.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item, Option
    >>> from judgerel_ray.tables import items_to_frame
    >>> ratings = tuple(HumanRating(rater=r, label=l) for r, l in [("expert:0", "1"), ("x:0", "2")])
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", ratings=ratings,
    ...             options=tuple(Option(option_id=o, text=o) for o in "12"))
    >>> people_labels(items_to_frame([item])).rows()
    [('b', 'q', 'expert', ['1']), ('b', 'q', 'x', ['2'])]
    """
    names = pl.col("options").list.eval(pl.element().struct.field("option_id"))
    rated = _ratings_beside_confusion(items.select("benchmark", "item_id", "ratings", names=names))
    judged_by = pl.col("criterion").drop_nulls().first().over("benchmark", "item_id")
    kept = rated.filter(
        pl.col("label").is_in(pl.col("names")).fill_null(False),
        pl.col("responder").is_null(),
        pl.col("criterion").is_null() | (pl.col("criterion") == judged_by),
    )
    return kept.group_by("benchmark", "item_id", "raters", maintain_order=True).agg(
        labels=pl.col("label")
    )


def people_table(items: pl.DataFrame, about: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compute how often two people who rate the same give the same rating.

    Of all criteria, and of each of several; intervals are over texts. Items are responses where
    ratings name them. Benchmarks that no two people rated are left out.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item
    >>> from judgerel_ray.tables import items_to_frame
    >>> def rated(name, *labels):
    ...     ratings = tuple(HumanRating(rater=str(n), label=x) for n, x in enumerate(labels))
    ...     return Item(item_id=name, benchmark="b", category="c", question="?", ratings=ratings)
    >>> people_table(items_to_frame([rated("q", "1", "1", "2"), rated("r", "2", "2")]))[
    ...     "value"].round(3).to_list()
    [0.667]
    """
    rated = _ratings_beside_confusion(items.select("benchmark", "item_id", "ratings"))
    if about is None:
        about = items.select("benchmark", "item_id", text=pl.col("item_id"))
    place = ["benchmark", "item_id"]
    rated = rated.join(about.select(*place, "text"), on=place, how="left", maintain_order="left")
    rated = rated.filter(pl.col("label").is_not_null())
    rows: list[dict[str, object]] = []
    for (benchmark, raters), part in rated.group_by("benchmark", "raters", maintain_order=True):
        names = part["criterion"].drop_nulls().unique(maintain_order=True).to_list()
        for criterion in (None, *(names if len(names) > 1 else ())):
            of = part if criterion is None else part.filter(pl.col("criterion") == criterion)
            shared = {"benchmark": benchmark, "raters": raters, "criterion": criterion}
            rows += [shared | row for row in _people_beside_confusion(of)]
    return PeopleAgreement.frame(rows)


def _ratings_beside_confusion(items: pl.DataFrame) -> pl.DataFrame:
    """One row a rating, with the kind of its rater."""
    rated = items.explode("ratings").unnest("ratings")
    return rated.with_columns(
        pl.when(pl.col("rater").str.contains(":"))
        .then(pl.col("rater").str.extract(r"^([^:]*):"))
        .alias("raters")
    )


def _people_beside_confusion(part: pl.DataFrame) -> list[dict[str, object]]:
    """One row, or none where no item has two ratings."""
    units = part.group_by("item_id", "responder", "criterion", maintain_order=True).agg(
        "label", pl.col("text").first()
    )
    units = units.filter(pl.col("label").list.len() > 1)
    ratings: Sequence[Sequence[str]] = units["label"].to_list()
    if not ratings:
        return []
    table = [*zip(*zip_longest(*ratings), strict=True)]
    found = inter_rater_accuracy(table, clusters_U=units["text"].to_numpy())
    counts = {"n_items": len(ratings), "n_ratings": sum(map(len, ratings))}
    return [{**asdict(found), **counts}]
