"""Accuracy and share of low against the threshold, by criterion, and error against acceptance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from judgerel_ray.analyses.confusion.groups import Bools, JudgedGroup, Labelling, labellings
from judgerel_ray.analyses.confusion.uncertainty import UncertaintyOptions
from judgerel_ray.analyses.confusion.worth import group_schema
from judgerel_ray.stats import acceptance_curve, label_accuracy
from judgerel_ray.stats.confusion.labels import DEFAULT_GRID, LabelAccuracy
from judgerel_ray.stats.intervals.shares import clustered_share

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

    Parameters
    ----------
    groups : sequence of JudgedGroup
        From :func:`judgerel_ray.analyses.confusion.groups.judged_groups`.

    Returns
    -------
    DataFrame
        One row a group and ``threshold`` (0.01 to 0.99): accuracy of ``low``, of ``high`` and of
        ``all``, and the ``share`` of low, each with ``k_``, ``n_`` and the exact 95 % interval
        ``_from`` and ``_to`` (null where there is nothing). Intervals hold at each threshold by
        itself: a threshold chosen for what it shows here is worth less.

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

    Parameters
    ----------
    groups, options
        As of :func:`.transfer_table`.

    Returns
    -------
    DataFrame
        One row a group, way of labelling (``kind``, ``threshold``, ``how``) and ``criterion`` (null
        for all together; none of their own where there is one only), with the columns of
        :func:`threshold_curves`. Rows of kind "in-sample" are optimistic, and have no intervals.

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
            "how": labelling.method,
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

    Parameters
    ----------
    groups
        As of :func:`threshold_curves`.

    Returns
    -------
    DataFrame
        One row a group and margin, at most 50 at even steps of acceptance: ``margin``, ``accepted``
        (share of judgments that reach it), ``n_accepted``, ``n_errors``, ``error`` with its
        pointwise interval ``low``, ``high`` (exact with one judgment a text, else by text).

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
