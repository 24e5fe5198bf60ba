"""All that confusion matrices say of a run's judgments, every table from the same scores.

Accuracy and share of low labels against the threshold, error against acceptance, and how often a
judge gives the label of a person, beside a person held out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgerel_ray.analyses.confusion.groups import (
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
from judgerel_ray.analyses.confusion.people import people_labels, people_table
from judgerel_ray.analyses.confusion.worth import group_schema, score_table, uncertainty_summary
from judgerel_ray.core.meanings import Columns, shared_meanings
from judgerel_ray.stats import acceptance_curve, label_accuracy
from judgerel_ray.stats.confusion.labels import DEFAULT_GRID, LabelAccuracy
from judgerel_ray.stats.intervals.shares import clustered_share
from judgerel_ray.stats.ratings.reference import PeopleMatch, people_match


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyTables:
    """How sure a judge is of single judgments, and what that is worth.

    Attributes
    ----------
    judgments : pl.DataFrame
        One row a confusion matrix: the option chosen, the right one where it is known, the label of
        low or high uncertainty, and every score.
    worth : pl.DataFrame
        One row a group and quantity: accuracy by label, how well the margin ranks right before
        wrong, what a threshold guarantees.
    scores : pl.DataFrame
        One row a group and score: its mean, and how well it tells right judgments from wrong ones.
    labels : pl.DataFrame
        One row a group, way of labelling and criterion: accuracy under each label, and the share of
        low uncertainty.
    transfer : pl.DataFrame
        One row a pair of benchmarks, judges or criteria: a threshold chosen on the one, used on the
        other.
    people : pl.DataFrame
        One row a benchmark and kind of people: how often two of them agree.
    against_people : pl.DataFrame
        One row a group, kind of people and label: how often the judge gives the label of a person,
        beside a person held out.
    curves : pl.DataFrame
        One row a group and threshold from .01 to .99: the columns of `labels`.
    acceptance : pl.DataFrame
        One row a group and margin: the share wrong among judgments that reach it.
    sparsity : pl.DataFrame
        One row a judge and number of options: how far probability follows what was argued.
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
        names = ("worth", "scores", "labels", "transfer", "people", "against_people")
        return {name: getattr(self, name) for name in names}


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
        people=people_table(rated, _about(right)),
        against_people=matched_table(groups, rated, options),
        curves=threshold_curves(groups),
        acceptance=acceptance_table(groups),
        sparsity=sparsity_table(matrices),
        picked=picked_matrices(matrices),
    )


def _about(right: pl.DataFrame) -> pl.DataFrame | None:
    """What items are about, where it is told."""
    return right if "text" in right.columns else None


STEPS = 50
_BY_LABEL: dict[str, pl.DataType] = {
    column: kind
    for name in ("all", "low", "high", "share")
    for column, kind in (
        (f"k_{name}", pl.Int64()),
        (f"n_{name}", pl.Int64()),
        (f"{name}", pl.Float64()),
        (f"{name}_from", pl.Float64()),
        (f"{name}_to", pl.Float64()),
    )
}

_ENDS = [f"{name}_{end}" for name in ("low", "high", "share") for end in ("from", "to")]


def threshold_curves(groups: Sequence[JudgedGroup]) -> pl.DataFrame:
    """Lay out what every threshold of a grid would give.

    One row a group and ``threshold`` (0.01 to 0.99): accuracy of ``low``, of ``high`` and of
    ``all``, and the ``share`` of low, each with ``k_``, ``n_`` and the exact 95 % interval
    ``_from`` and ``_to`` (null where there is nothing). Intervals hold at each threshold by itself:
    a threshold chosen for what it shows here is worth less.

    Examples
    --------
    >>> threshold_curves([]).height
    0
    """
    rows = [
        {
            **group.name,
            "threshold": threshold,
            **_columns(
                label_accuracy(group.edges.low(threshold), group.correct_N, clusters_N=group.text_N)
            ),
        }
        for group in groups
        if group.judged
        for threshold in DEFAULT_GRID
    ]
    schema = {**group_schema(), "threshold": pl.Float64(), **_BY_LABEL}
    return pl.DataFrame(rows, schema=schema)


def label_table(
    groups: Sequence[JudgedGroup], options: UncertaintyOptions | None = None
) -> pl.DataFrame:
    """Lay out accuracy by label and share of low, of all judgments and of each criterion.

    One row a group, way of labelling (``kind``, ``threshold``, ``how`` as a code, ``n_folds`` of
    folds) and ``criterion`` (null for all together; none of their own where there is one only),
    with the columns of :func:`threshold_curves`. Rows of kind "in-sample" are optimistic, and have
    no intervals.

    Examples
    --------
    >>> label_table([]).height
    0
    """
    options = options or UncertaintyOptions()
    rows: list[dict[str, object]] = []
    for group in groups:
        if not group.judged:
            continue
        for labelling in labellings(group, options):
            if labelling.undefined is None:
                rows += _labelled(group, labelling)
    schema = {
        **group_schema(),
        "kind": pl.String(),
        "threshold": pl.Float64(),
        "how": pl.String(),
        "n_folds": pl.Int64(),
        "criterion": pl.String(),
        **_BY_LABEL,
    }
    return pl.DataFrame(rows, schema=schema)


def _labelled(group: JudgedGroup, labelling: Labelling) -> Iterator[dict[str, object]]:
    """One way of labelling, of all and by criterion."""
    names = group.criteria()
    parts: list[tuple[str | None, Bools]] = [(None, np.ones_like(group.correct_N))]
    if len(names) > 1:
        parts += [(name, group.by_criterion(name)) for name in names]
    for name, kept in parts:
        # Intervals of what was chosen on the same judgments would be wrong.
        chosen_here = labelling.kind == "in-sample"
        unknown = dict.fromkeys(_ENDS) if chosen_here else {}
        yield {
            **group.name,
            "kind": labelling.kind,
            "threshold": labelling.threshold,
            "how": labelling.how.value,
            "n_folds": labelling.n_folds,
            "criterion": name,
            **_columns(
                label_accuracy(
                    labelling.low_N[kept], group.correct_N[kept], clusters_N=group.text_N[kept]
                )
            ),
            **unknown,
        }


def _columns(found: LabelAccuracy) -> dict[str, object]:
    """Shares as columns."""
    shares = {"all": found.all, "low": found.low, "high": found.high, "share": found.share_low}
    return {
        column: value
        for name, one in shares.items()
        for column, value in (
            (f"k_{name}", one.k),
            (f"n_{name}", one.n),
            (name, one.value),
            (f"{name}_from", one.low if one.n else None),
            (f"{name}_to", one.high if one.n else None),
        )
    }


def acceptance_table(groups: Sequence[JudgedGroup]) -> pl.DataFrame:
    """Lay out the share wrong among the surest judgments, at margins that occur.

    One row a group and margin, at most 50 at even steps of acceptance: ``margin``, ``accepted``
    (share of judgments that reach it), ``n_accepted``, ``n_errors``, ``error`` with its pointwise
    interval ``low``, ``high`` (exact with one judgment a text, else by text).

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
            rows.append(
                {
                    **group.name,
                    "margin": float(curve.thresholds_T[t]),
                    "accepted": float(curve.acceptance_T[t]),
                    "n_accepted": wrong.n,
                    "n_errors": wrong.k,
                    "error": wrong.value,
                    "low": wrong.low,
                    "high": wrong.high,
                }
            )
    kinds = {name: pl.Float64() for name in ("margin", "accepted", "error", "low", "high")}
    counts = {name: pl.Int64() for name in ("n_accepted", "n_errors")}
    order = ("margin", "accepted", "n_accepted", "n_errors", "error", "low", "high")
    schema = {**group_schema(), **{name: {**kinds, **counts}[name] for name in order}}
    return pl.DataFrame(rows, schema=schema)


_F, _I, _S = pl.Float64(), pl.Int64(), pl.String()
_COLUMNS: dict[str, pl.DataType] = {
    "raters": _S, "criterion": _S, "label": _S, "judge_share": _F, "judge_low": _F,
    "judge_high": _F, "person_share": _F, "person_low": _F, "person_high": _F, "difference": _F,
    "difference_low": _F, "difference_high": _F, "noise_floor": _F, "noise_floor_sd": _F,
    "p_noise": _F, "noise": pl.Boolean(), "person_floor": _F, "n_items": _I, "n_ratings": _I,
    "n_split": _I, "n_single": _I, "undefined": _S,
}  # fmt: skip
"""Columns after those of the group."""
_LEVEL = 0.05
_Labels = Mapping[tuple[str, str], Sequence[str]]


def matched_table(
    groups: Sequence[JudgedGroup], items: pl.DataFrame, options: UncertaintyOptions | None = None
) -> pl.DataFrame:
    """Compare judges with people by one measure: how often a label is that of another person.

    One row a group, kind of ``raters`` (null where they have none; kinds are never pooled) and
    ``label``: "all", then "low" and "high" uncertainty by the labels that lead; and one a
    ``criterion`` where there are several (null for all together). ``judge_share`` is the mean over
    items of the share of its people whose label the judge gave, ``person_share`` the same of each
    person against the item's other people, ``difference`` the one less the other, on the same
    items, with 95 % intervals over texts; the people are those who rated, and none is drawn anew.
    ``noise_floor``: the judge's share with its labels shuffled across items, with spread, p and
    ``noise``; ``person_floor``: that of people. ``n_items`` of two people or more take part,
    ``n_split`` of them without a single most frequent label; ``n_single`` items of one person do
    not, as nobody is there to hold out.

    Examples
    --------
    >>> from judgerel_ray.tables import items_to_frame
    >>> matched_table([], items_to_frame([])).height
    0

    Notes
    -----
    Items of low uncertainty may be easy for people, too: their bar is of the same items.
    """
    options = options or UncertaintyOptions()
    labels = people_labels(items)
    kinds: dict[object, dict[tuple[str, str], list[str]]] = {}
    for benchmark, item, kind, given in labels.iter_rows():
        kinds.setdefault(kind, {})[benchmark, item] = given
    rows = [
        {**group.name, "raters": kind, **row}
        for group in groups
        for kind, given in kinds.items()
        for row in _of_kind(group, given, options)
    ]
    return pl.DataFrame(rows, schema={**group_schema(), **_COLUMNS})


def _of_kind(
    group: JudgedGroup, given: _Labels, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """Rows of one group and kind of people."""
    matrices = (*group.judged, *group.unjudged)
    rated = np.array([_place(one) in given for one in matrices], dtype=bool)
    if not any(len(given[_place(one)]) > 1 for one in matrices if _place(one) in given):
        return
    yield _row(None, "all", _match(matrices, rated, given))
    if (low := _low(group, options)) is not None:
        for label, kept in (("low", low), ("high", ~low)):
            yield _row(None, label, _match(matrices, rated & kept, given))
    names = [one.row["criterion"] for one in matrices]
    several = [name for name in dict.fromkeys(names) if name is not None]
    for name in several if len(several) > 1 else ():
        of_criterion = np.array([one == name for one in names], dtype=bool)
        yield _row(name, "all", _match(matrices, rated & of_criterion, given))


def _low(group: JudgedGroup, options: UncertaintyOptions) -> Bools | None:
    """The labels that lead, of all judgments; None where there is no threshold."""
    if not group.judged and options.threshold is None:
        return None
    leading = next(labellings(group, options))
    others = labels_of_others(group, leading, options)
    return None if others is None else np.concatenate([leading.low_N, others])


def _place(one: ScoredMatrix) -> tuple[str, str]:
    """The item of a judgment."""
    return str(one.row["benchmark"]), str(one.row["item_id"])


def _match(matrices: Sequence[ScoredMatrix], kept: Bools, given: _Labels) -> PeopleMatch:
    """A judge and a person against people, on some of the judgments."""
    taken = [matrices[place] for place in np.flatnonzero(kept)]
    names = dict.fromkeys(label for one in taken for label in given[_place(one)])
    columns = {name: column for column, name in enumerate(names)}
    counts = np.zeros((len(taken), max(1, len(columns))), dtype=np.int64)
    for row, one in zip(counts, taken, strict=True):
        for label in given[_place(one)]:
            row[columns[label]] += 1
    chosen = [one.row["chosen"] for one in taken]  # none, and what nobody said, match nobody
    verdicts = np.array([columns.get(str(one), -1) if one is not None else -1 for one in chosen],
                        dtype=np.int64)  # fmt: skip
    texts = np.array([one.text for one in taken], dtype=np.str_)
    return people_match(counts, verdicts, clusters_U=texts)


def _row(criterion: object, label: str, found: PeopleMatch) -> dict[str, object]:
    """One comparison."""
    floor = found.floor
    return {
        "criterion": criterion, "label": label,
        "judge_share": found.judge.value, "judge_low": found.judge.low,
        "judge_high": found.judge.high, "person_share": found.person.value,
        "person_low": found.person.low, "person_high": found.person.high,
        "difference": found.difference.value, "difference_low": found.difference.low,
        "difference_high": found.difference.high, "noise_floor": floor.mean,
        "noise_floor_sd": floor.sd, "p_noise": floor.p,
        "noise": None if floor.p is None else floor.p > _LEVEL,
        "person_floor": found.person_floor, "n_items": found.n_items,
        "n_ratings": found.n_ratings, "n_split": found.n_split, "n_single": found.n_single,
        "undefined": found.judge.undefined,
    }  # fmt: skip


COLUMNS: Columns = {
    "uncertainty": {
        "worth": {
            "n_matrices": "Confusion matrices of the group.",
            "quantity": (
                "What is told: accuracy, accuracy_low and accuracy_high (by label), share_low, "
                "auroc, aurc, conformal_coverage, ..."
            ),
            "threshold": (
                "Threshold of the labels that it is about; null where each fold has its own, and "
                "of all else."
            ),
            "value": (
                "The number; a share is from 0 to 1, a deviation in steps of the scale; null "
                "where undefined says why."
            ),
            **shared_meanings("low", "high"),
            "k": "Successes, where it is a share; else null.",
            "n": (
                "Judgments that it rests on, of which k are successes where it is a share; null "
                "of a threshold."
            ),
            **shared_meanings("estimator", "undefined", "flags", "flag_numbers"),
        },
        "scores": {
            "score": (
                "The score of a judgment: margin, entropy, largest_u, ..., or a plain baseline: "
                "share_of_replications, entropy_of_replications, probability_of_verdict."
            ),
            "of_replications": (
                "Replications that a baseline is made of, each judgment's; null of other scores."
            ),
            "drawn_at": "Temperature of these replications; null of other scores.",
            "surer": "higher where a larger score is surer, lower where a smaller one is.",
            "mean": (
                "Mean of the score over the judgments (entropies and mutual information in nats; "
                "signed_margin and suggestibility from -1 to 1, all else from 0 to 1); null where "
                "no judgment has it."
            ),
            "mean_low": (
                "Lower end of the 95 % interval of the mean, at least what a score can be; null "
                "where all judgments are of one text."
            ),
            "mean_high": (
                "Upper end of the 95 % interval of the mean, at most what a score can be; null "
                "where all judgments are of one text."
            ),
            "auroc": (
                "How often a right judgment is surer than a wrong one, ties counting half (1 "
                "perfect, .5 says nothing); null where undefined says why."
            ),
            "auroc_low": "Lower end of the 95 % interval of auroc; null where there is none.",
            "auroc_high": "Upper end of the 95 % interval of auroc; null where there is none.",
            "aurc": (
                "Share wrong among the surest judgments, averaged over all shares accepted (0 to "
                "1, less is better); null where no judgment has the score."
            ),
            "aurc_low": (
                "Lower end of the 95 % interval of aurc; null where all are right, or all wrong."
            ),
            "aurc_high": (
                "Upper end of the 95 % interval of aurc; null where all are right, or all wrong."
            ),
            "few": (
                "few_wrong or few_right where fewer than ten texts have such a judgment; else null."
            ),
            "n": "Judgments that have the score.",
            "tokens": (
                "Mean number of tokens that the score takes for an item, computed and generated; "
                "null where that is not known."
            ),
            "undefined": (
                "Code that says why there is no auroc (no_variance; score_not_computed where no "
                "judgment has the score); null where there is one."
            ),
        },
        "labels": {
            "kind": (
                "How labels of low and high uncertainty were given: threshold (stated), "
                "cross-fitted (by thresholds of other folds) or in-sample (optimistic)."
            ),
            "threshold": "The threshold; null where each fold has its own.",
            "how": (
                "How the labels were chosen: threshold_given, cross_fitted (each by a threshold "
                "of the other folds) or best_in_sample (optimistic: by the threshold that looks "
                "best on the same judgments)."
            ),
            "n_folds": "Folds of a cross_fitted threshold; else null.",
            "criterion": "The criterion that the row is of; null for all together.",
            "k_all": "Right judgments.",
            "n_all": "Judgments.",
            "all": "Share right of all judgments (0 to 1).",
            "all_from": "Lower end of the 95 % interval of all; null where there is none.",
            "all_to": "Upper end of the 95 % interval of all; null where there is none.",
            "k_low": "Right judgments of low uncertainty.",
            "n_low": "Judgments of low uncertainty.",
            "low": (
                "Share right of the judgments of low uncertainty (0 to 1); null where there are "
                "none."
            ),
            "low_from": "Lower end of the 95 % interval of low; null in-sample.",
            "low_to": "Upper end of the 95 % interval of low; null in-sample.",
            "k_high": "Right judgments of high uncertainty.",
            "n_high": "Judgments of high uncertainty.",
            "high": (
                "Share right of the judgments of high uncertainty (0 to 1); null where there are "
                "none."
            ),
            "high_from": "Lower end of the 95 % interval of high; null in-sample.",
            "high_to": "Upper end of the 95 % interval of high; null in-sample.",
            "k_share": "Judgments of low uncertainty.",
            "n_share": "Judgments.",
            "share": "Share of the judgments that are of low uncertainty (0 to 1).",
            "share_from": "Lower end of the 95 % interval of share; null in-sample.",
            "share_to": "Upper end of the 95 % interval of share; null in-sample.",
        },
        "transfer": {
            "across": (
                "The column in which source and target differ: benchmark, judge or criterion."
            ),
            "within": "What source and target have in common.",
            "source": "Where the threshold was chosen.",
            "target": "Where it is used.",
            "threshold": (
                "The threshold; null where source and target are one, labelled by cross-fitting."
            ),
            "cross_fitted": "true where every judgment is labelled by a threshold of other folds.",
            "n": "Judgments of the target.",
            "n_low": "Those of low uncertainty.",
            "accuracy_low": "Share right of these (0 to 1); null where there are none.",
            "low": "Lower end of the 95 % interval of accuracy_low; null where there is none.",
            "high": "Upper end of the 95 % interval of accuracy_low; null where there is none.",
            "share_low": "Share of the target's judgments that are of low uncertainty (0 to 1).",
            "share_low_low": (
                "Lower end of the 95 % interval of share_low; null where there is none."
            ),
            "share_low_high": (
                "Upper end of the 95 % interval of share_low; null where there is none."
            ),
            **shared_meanings("undefined"),
        },
        "people": {
            "criterion": "The criterion that the row is of; null for all together.",
            "raters": "Kind of people, where raters are named kind:name; else null.",
            "value": (
                "How often two people who rate the same give the same rating: the mean over "
                "items of the share of pairs that agree (0 to 1)."
            ),
            **shared_meanings("low", "high"),
            "n_items": "Items with two ratings or more.",
            "n_ratings": "Ratings of these.",
            **shared_meanings("undefined"),
        },
        "against_people": {
            "raters": "Kind of people, where raters are named kind:name; else null.",
            "criterion": "The criterion that the row is of; null for all together.",
            "label": "all judgments, or those of low or of high uncertainty.",
            "judge_share": (
                "How often the judge gives the label of a person, the mean over items of the "
                "share of their people (0 to 1)."
            ),
            "judge_low": "Lower end of the 95 % interval of judge_share; null where there is none.",
            "judge_high": (
                "Upper end of the 95 % interval of judge_share; null where there is none."
            ),
            "person_share": "The same of each person against the item's other people.",
            "person_low": (
                "Lower end of the 95 % interval of person_share; null where there is none."
            ),
            "person_high": (
                "Upper end of the 95 % interval of person_share; null where there is none."
            ),
            "difference": (
                "judge_share less person_share, on the same items; above 0 the judge is nearer "
                "to people than they are to each other."
            ),
            "difference_low": (
                "Lower end of the 95 % interval of the difference; null where there is none."
            ),
            "difference_high": (
                "Upper end of the 95 % interval of the difference; null where there is none."
            ),
            "noise_floor": (
                "judge_share with the judge's labels shuffled across items; null where it has no "
                "floor."
            ),
            **shared_meanings("noise_floor_sd", "p_noise", "noise"),
            "person_floor": "person_share with people's labels shuffled across items.",
            "n_items": "Items of two people or more that take part.",
            "n_ratings": "Ratings of these.",
            "n_split": "Those of the items without a single most frequent label.",
            "n_single": "Items of one person, which take no part.",
            **shared_meanings("undefined"),
        },
    },
}
"""What each column means, and how to read it: of each verb, by table."""
