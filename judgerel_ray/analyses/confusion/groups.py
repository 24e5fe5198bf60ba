"""Judgments of a judge on a benchmark whose right option is known, and how they got their labels.

Shape suffixes: N = judgments.

Thresholds chosen in one place and used in another: benchmarks, judges, criteria.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.confusion.matrices import ScoredMatrix, UncertaintyOptions
from judgerel_ray.analyses.confusion.tables import ThresholdTransfers
from judgerel_ray.blocks.words import group_label
from judgerel_ray.core.tables import GroupColumns, as_columns, value_columns
from judgerel_ray.stats import (
    LabelEdges,
    cross_fitted_labels,
    label_accuracy,
    label_edges,
    threshold_transfer,
    wagner2024_threshold,
)
from judgerel_ray.stats.confusion.labels import CrossFittedLabels

GROUP = ("judge", "benchmark", "template", "temperature", "mode")
GROUPED = {name: GroupColumns.dtypes[name] for name in GROUP}
"""Columns that name a group, with their types."""
FOLDS = 5
MAJORITY, NO_MAJORITY = "majority", "no_majority"
"""The basis of an item by the label that most of its people gave, and where two are as frequent."""

Bools = NDArray[np.bool_]


class How(StrEnum):
    """How labels were chosen.

    Attributes
    ----------
    STATED
        By a threshold that was given.
    CROSS_FITTED
        Each by a threshold chosen on the other folds.
    IN_SAMPLE
        By the one threshold that looks best on the very judgments it labels.

    Examples
    --------
    >>> How.STATED.words(threshold=0.5), How.IN_SAMPLE.words(n_low=1, n=2)
    ('threshold 0.5', 'optimistic: threshold chosen on the same 2 it is scored on, 1 of them low')
    """

    STATED = "threshold_given"
    CROSS_FITTED = "cross_fitted"
    IN_SAMPLE = "best_in_sample"

    def words(
        self,
        *,
        threshold: float | None = None,
        n_folds: int | None = None,
        n_low: int = 0,
        n: int = 0,
    ) -> str:
        """Say it, with the threshold, the number of folds, or the labels it was chosen on."""
        if self is How.CROSS_FITTED:
            return f"thresholds cross-fitted in {n_folds} folds"
        if self is How.STATED:
            return f"threshold {threshold:g}"
        return f"optimistic: threshold chosen on the same {n} it is scored on, {n_low} of them low"


_HOW = {"threshold": How.STATED, "cross-fitted": How.CROSS_FITTED, "in-sample": How.IN_SAMPLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Labels of a group's judgments, and how they were chosen.

    ``kind`` is "threshold" (given), "cross-fitted" (each by a threshold chosen on other folds) or
    "in-sample" (by the one threshold that looks best on the very judgments it labels, so its
    accuracy is optimistic). ``threshold`` is None where folds have their own: ``fitted`` holds
    them.
    """

    kind: str
    low_N: Bools  # noqa: N815  a shape, not a case
    threshold: float | None = None
    undefined: str | None = None
    fitted: CrossFittedLabels | None = None

    @property
    def how(self) -> How:
        """How the labels were chosen."""
        return _HOW[self.kind]

    @property
    def n_folds(self) -> int | None:
        """In how many folds thresholds were chosen; None of one threshold."""
        return FOLDS if self.how is How.CROSS_FITTED else None

    @property
    def method(self) -> str:
        """How the labels were chosen, in words."""
        if self.undefined is not None:
            return "no threshold"
        return self.how.words(
            threshold=self.threshold,
            n_folds=self.n_folds,
            n_low=int(self.low_N.sum()),
            n=self.low_N.size,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedGroup:
    """Matrices of one judge, benchmark, template, temperature and mode.

    ``judged`` are those whose right option is known, ``correct_N`` whether the judge's own verdict
    was right, ``margin_N`` how sure it was, ``text_N`` the text judged. A judgment without a
    verdict is wrong. ``unjudged`` are the others.
    """

    name: Mapping[str, object]
    n_matrices: int
    judged: tuple[ScoredMatrix, ...]
    correct_N: Bools  # noqa: N815
    margin_N: NDArray[np.float64]  # noqa: N815
    text_N: NDArray[np.intp]  # noqa: N815
    edges: LabelEdges
    unjudged: tuple[ScoredMatrix, ...] = ()

    @property
    def without_majority(self) -> int:
        """Number of judgments of items whose people have no most frequent label."""
        return sum(one.basis == NO_MAJORITY for one in self.unjudged)

    @property
    def has_folds(self) -> bool:
        """Whether there are texts enough to fit on some and label the others."""
        return np.unique(self.text_N).size >= FOLDS

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return str(self.name["benchmark"])

    def criteria(self) -> list[str]:
        """Criteria judged by, in the order they come; empty where there are none."""
        found = [one.row["criterion"] for one in self.judged]
        return [str(name) for name in dict.fromkeys(found) if name is not None]

    def by_criterion(self, name: str) -> Bools:
        """Mark the judgments of a criterion."""
        return np.array([one.row["criterion"] == name for one in self.judged], dtype=bool)


def judged_groups(
    matrices: Sequence[ScoredMatrix], options: UncertaintyOptions
) -> tuple[JudgedGroup, ...]:
    """Gather matrices by judge, benchmark, template, temperature and mode.

    Examples
    --------
    >>> judged_groups([], UncertaintyOptions())
    ()
    """
    found: dict[tuple[object, ...], list[ScoredMatrix]] = {}
    for one in matrices:
        found.setdefault(tuple(one.row[name] for name in GROUP), []).append(one)
    return tuple(
        _uncertainty_group(dict(zip(GROUP, name, strict=True)), members, options)
        for name, members in sorted(found.items(), key=lambda pair: str(pair[0]))
    )


def _uncertainty_group(
    name: Mapping[str, object], members: Sequence[ScoredMatrix], options: UncertaintyOptions
) -> JudgedGroup:
    """One group."""
    judged = tuple(one for one in members if one.row["correct"] is not None)
    scores = [one.scores for one in judged]
    margins = [np.nan if one.margin is None else one.margin for one in scores]
    return JudgedGroup(
        name=name,
        n_matrices=len(members),
        judged=judged,
        correct_N=np.array([bool(one.row["correct"]) for one in judged], dtype=bool),
        margin_N=np.array(margins, dtype=np.float64),
        text_N=_numbered_confusion_texts(judged),
        edges=label_edges(
            scores, own_choice_required=options.own_choice_required, strict=options.strict
        ),
        unjudged=tuple(one for one in members if one.row["correct"] is None),
    )


def labellings(group: JudgedGroup, options: UncertaintyOptions) -> Iterator[Labelling]:
    """Label a group's judgments in every way that is reported.

    Labelling: First the one that leads (the threshold given, else cross-fitted), then those of the
    thresholds stated for the benchmark, then the optimistic one.

    Examples
    --------
    >>> from judgerel_ray.stats import label_edges
    >>> group = JudgedGroup(name={"benchmark": "b"}, n_matrices=0, judged=(),
    ...                     correct_N=np.zeros(0, dtype=bool), margin_N=np.zeros(0),
    ...                     text_N=np.zeros(0, dtype=np.intp), edges=label_edges([]))
    >>> [one.undefined for one in labellings(group, UncertaintyOptions())]
    ['too_few_judgments', 'no_low']
    """
    if options.threshold is not None:
        yield _uncertainty_labels_at(group, options.threshold)
    elif group.has_folds:
        fitted = cross_fitted_labels(
            group.edges, group.correct_N, groups_N=group.text_N, n_folds=FOLDS, seed=options.seed
        )
        yield Labelling(kind="cross-fitted", low_N=fitted.low_N, fitted=fitted)
    else:
        none = np.zeros_like(group.correct_N)
        yield Labelling(kind="threshold", low_N=none, undefined="too_few_judgments")
    for threshold in options.thresholds.get(group.benchmark, ()):
        if threshold != options.threshold:
            yield _uncertainty_labels_at(group, threshold)
    in_sample = wagner2024_threshold(group.edges, group.correct_N)
    yield Labelling(
        kind="in-sample", low_N=_low_labels_of_row(group.edges, in_sample.threshold),
        threshold=in_sample.threshold, undefined=in_sample.undefined,
    )  # fmt: skip


def labels_of_others(
    group: JudgedGroup, labelling: Labelling, options: UncertaintyOptions
) -> Bools | None:
    """Label the judgments whose right option nobody knows, which chose no threshold.

    Examples
    --------
    See ``tests/analyses/confusion/test_matched_people.py``.
    """
    edges = label_edges(
        [one.scores for one in group.unjudged],
        own_choice_required=options.own_choice_required,
        strict=options.strict,
    )
    if labelling.undefined is not None:
        return None
    if labelling.threshold is not None:
        return edges.low(labelling.threshold)
    if labelling.fitted is None:
        return None
    folds = dict(zip((one.text for one in group.judged), labelling.fitted.fold_N, strict=True))
    for place, text in enumerate(dict.fromkeys(one.text for one in group.unjudged)):
        folds.setdefault(text, np.intp(place % FOLDS))
    low = np.zeros(len(group.unjudged), dtype=bool)
    fold_N = np.array([folds[one.text] for one in group.unjudged], dtype=np.intp)
    for fold, threshold in enumerate(labelling.fitted.thresholds):
        if threshold is not None:
            low |= (fold_N == fold) & edges.low(threshold)
    return low


def _uncertainty_labels_at(group: JudgedGroup, threshold: float) -> Labelling:
    """Labels by one threshold."""
    return Labelling(kind="threshold", low_N=group.edges.low(threshold), threshold=threshold)


def _numbered_confusion_texts(judged: Sequence[ScoredMatrix]) -> NDArray[np.intp]:
    """Number the texts judged."""
    place: dict[str, int] = {}
    return np.array([place.setdefault(one.text, len(place)) for one in judged], dtype=np.intp)


def scale_steps(names: Sequence[str], scale: Sequence[str] | None) -> dict[str, float]:
    """Place options on an ordered scale; nothing where they are none.

    Examples
    --------
    >>> scale_steps(["1", "2", "3"], None), scale_steps(["yes", "no"], None)
    ({'1': 1.0, '2': 2.0, '3': 3.0}, {})
    >>> scale_steps(["good", "bad"], ("bad", "good"))
    {'bad': 0.0, 'good': 1.0}
    """
    if scale is not None and set(names) <= set(scale):
        return {name: float(place) for place, name in enumerate(scale)}
    if len(names) > 2 and all(name.lstrip("-").isdecimal() for name in names):
        return {name: float(name) for name in names}
    return {}


ACROSS = ("benchmark", "judge")
_Data = dict[str, tuple[LabelEdges, Bools, NDArray[np.intp]]]


def transfer_table(groups: Sequence[JudgedGroup], options: UncertaintyOptions) -> pl.DataFrame:
    """Carry thresholds across benchmarks, across judges, and across criteria.

    Intervals are exact with one judgment a text, else by text. No row is optimistic: no judgment is
    labelled by a threshold that it helped to choose.

    Examples
    --------
    >>> transfer_table([], UncertaintyOptions()).height
    0

    Notes
    -----
    Thresholds maximise the share of low among right judgments less that among wrong ones.
    """
    rows = []
    for across, within, data in _uncertainty_contrasts(groups):
        carried = threshold_transfer(
            {name: (edges, correct_N) for name, (edges, correct_N, _) in data.items()},
            groups={name: text_N for name, (_, _, text_N) in data.items()},
            n_folds=FOLDS,
            seed=options.seed,
        )
        for found in carried:
            edges, correct_N, text_N = data[found.target]
            if found.cross_fitted:
                low_N = cross_fitted_labels(
                    edges, correct_N, groups_N=text_N, n_folds=FOLDS, seed=options.seed
                ).low_N
            else:
                low_N = _low_labels_of_row(edges, found.threshold)
            shares = label_accuracy(low_N, correct_N, clusters_N=text_N)
            rows.append({
                **asdict(found), "across": across, "within": within,
                **as_columns(shares.low, "low", "high", accuracy_low="value"),
                **value_columns("share_low", shares.share_low),
                "undefined": None if found.n_low else "no_judgments",
            })  # fmt: skip
    return ThresholdTransfers.frame(rows)


def _low_labels_of_row(edges: LabelEdges, threshold: float | None) -> Bools:
    """Labels by one threshold; none is low where there is none."""
    return np.zeros(edges.allowed_N.shape, bool) if threshold is None else edges.low(threshold)


def _uncertainty_contrasts(groups: Sequence[JudgedGroup]) -> Iterator[tuple[str, str, _Data]]:
    """What is compared: groups that differ in one thing, and criteria inside a group."""
    ready = [group for group in groups if group.has_folds]
    for across in ACROSS:
        shared = [name for name in GROUP if name != across]
        parts: dict[tuple[object, ...], list[JudgedGroup]] = {}
        for group in ready:
            parts.setdefault(tuple(group.name[name] for name in shared), []).append(group)
        for members in parts.values():
            if len(members) > 1:
                data: _Data = {
                    str(one.name[across]): (one.edges, one.correct_N, one.text_N) for one in members
                }
                yield across, _uncertainty_group_name(members[0].name, shared, groups), data
    for group in ready:
        found: _Data = {}
        for name in group.criteria():
            rows = group.by_criterion(name)
            texts = group.text_N[rows]
            if np.unique(texts).size >= FOLDS:
                found[name] = (group.edges.take(rows), group.correct_N[rows], texts)
        if len(found) > 1:
            yield "criterion", _uncertainty_group_name(group.name, GROUP, groups), found


def _uncertainty_group_name(
    name: Mapping[str, object], columns: Sequence[str], groups: Sequence[JudgedGroup]
) -> str:
    """Name what is shared, as far as groups differ in it."""
    varying = [
        column
        for column in columns
        if column in ACROSS or len({group.name[column] for group in groups}) > 1
    ]
    return group_label(name, varying)
