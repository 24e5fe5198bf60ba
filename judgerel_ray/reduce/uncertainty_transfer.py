"""Thresholds chosen in one place and used in another: benchmarks, judges, criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.uncertainty import UncertaintyOptions
from judgerel_ray.reduce.uncertainty_groups import FOLDS, GROUP, Bools, JudgedGroup
from judgerel_ray.stats import (
    LabelEdges,
    cross_fitted_labels,
    label_accuracy,
    threshold_transfer,
)
from judgerel_ray.stats.cross_fitting import Transfer

ACROSS = ("benchmark", "judge")
_SCHEMA = {
    "across": pl.String(),
    "within": pl.String(),
    "source": pl.String(),
    "target": pl.String(),
    "threshold": pl.Float64(),
    "cross_fitted": pl.Boolean(),
    "n": pl.Int64(),
    "n_low": pl.Int64(),
    "accuracy_low": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "share_low": pl.Float64(),
    "share_low_low": pl.Float64(),
    "share_low_high": pl.Float64(),
    "undefined": pl.String(),
}

_Data = dict[str, tuple[LabelEdges, Bools, NDArray[np.intp]]]


def transfer_table(
    groups: Sequence[JudgedGroup], options: UncertaintyOptions | None = None
) -> pl.DataFrame:
    """Carry thresholds across benchmarks, across judges, and across criteria.

    Parameters
    ----------
    groups : sequence of JudgedGroup
        From :func:`judgerel_ray.reduce.uncertainty_groups.judged_groups`.
    options : UncertaintyOptions, optional
        How matrices were read.

    Returns
    -------
    DataFrame
        One row a ``source`` (where the threshold was chosen) and ``target`` (where it is used):
        what they differ in (``across``) and what they share (``within``), the ``threshold`` (null
        where both are one, labelled by cross-fitting), ``n`` judgments of the target and ``n_low``
        of low uncertainty, ``accuracy_low`` and ``share_low`` with 95 % intervals (exact with one
        judgment a text, else by text). No row
        is optimistic: no judgment is labelled by a threshold that it helped to choose.

    Examples
    --------
    >>> transfer_table([]).height
    0

    Notes
    -----
    Thresholds maximise the share of low among right judgments less that among wrong ones.
    """
    options = options or UncertaintyOptions()
    rows = []
    for across, within, data in _comparisons(groups):
        carried = threshold_transfer(
            {name: (edges, correct_N) for name, (edges, correct_N, _) in data.items()},
            groups={name: text_N for name, (_, _, text_N) in data.items()},
            n_folds=FOLDS,
            seed=options.seed,
        )
        for found in carried:
            edges, correct_N, text_N = data[found.target]
            low_N = _low(found, edges, correct_N, text_N, options)
            shares = label_accuracy(low_N, correct_N, clusters_N=text_N)
            low, part = shares.low, shares.share_low
            rows.append(
                {
                    "across": across,
                    "within": within,
                    "source": found.source,
                    "target": found.target,
                    "threshold": found.threshold,
                    "cross_fitted": found.cross_fitted,
                    "n": found.n,
                    "n_low": found.n_low,
                    "accuracy_low": low.value,
                    "low": low.low,
                    "high": low.high,
                    "share_low": part.value,
                    "share_low_low": part.low,
                    "share_low_high": part.high,
                    "undefined": None if found.n_low else "no_judgments",
                }
            )
    return pl.DataFrame(rows, schema=_SCHEMA)


def _low(
    found: Transfer,
    edges: LabelEdges,
    correct_N: Bools,
    text_N: NDArray[np.intp],
    options: UncertaintyOptions,
) -> Bools:
    """The labels a row of the table stands for."""
    if found.cross_fitted:
        return cross_fitted_labels(
            edges, correct_N, groups_N=text_N, n_folds=FOLDS, seed=options.seed
        ).low_N
    if found.threshold is None:
        return np.zeros_like(correct_N)
    return edges.low(found.threshold)


def _comparisons(groups: Sequence[JudgedGroup]) -> Iterator[tuple[str, str, _Data]]:
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
                yield across, _label(members[0].name, shared, groups), data
    for group in ready:
        found: _Data = {}
        for name in group.criteria():
            rows = group.by_criterion(name)
            texts = group.text_N[rows]
            if np.unique(texts).size >= FOLDS:
                found[name] = (group.edges.take(rows), group.correct_N[rows], texts)
        if len(found) > 1:
            yield "criterion", _label(group.name, GROUP, groups), found


def _label(
    name: Mapping[str, object], columns: Sequence[str], groups: Sequence[JudgedGroup]
) -> str:
    """Name what is shared, as far as groups differ in it."""
    told = [
        column
        for column in columns
        if column in ACROSS or len({group.name[column] for group in groups}) > 1
    ]
    return ", ".join(
        f"temperature {name[column]:g}" if column == "temperature" else str(name[column])
        for column in told
    )
